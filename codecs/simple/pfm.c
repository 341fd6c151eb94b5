/* PFM: floats, from the bottom row up (P. Debevec; netpbm's pfm(5)). The sign
 * of the scale is the byte order: negative is little-endian. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/simple/netpbm.h"

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 3 && head[0] == 'P' && (head[1] == 'F' || head[1] == 'f') &&
           netpbm_is_blank(head[2]);
}

static int read_header(struct image *img, struct netpbm_reader *r,
                       struct err *err)
{
    struct pfm_state *state = img->meta->state;
    char *word = state->scale, *end;
    img->cell = CELL_F32;
    img->color = r->at[1] == 'F' ? COLOR_RGB : COLOR_GRAY;
    img->nplanes = r->at[1] == 'F' ? 3 : 1;
    r->at += 2;
    if (!netpbm_read_number(r, &img->width) ||
        !netpbm_read_number(r, &img->height) ||
        !netpbm_read_word(r, word, sizeof state->scale))
        return fail(err, "its header has no size");
    double scale = strtod(word, &end);
    if (*end || !isfinite(scale) || scale == 0)
        return fail(err, "its scale must be a number other than 0");
    state->big_endian = scale > 0;
    if (fabs(scale) != 1 && /* a unit, which other formats lack */
        !meta_add(img->meta, "scale", 0, word, strlen(word)))
        return fail_memory(err, "no memory for the decoder");
    if (!netpbm_end_header(r))
        return fail(err, "its header has no end");
    return 0;
}

static const struct netpbm_format pfm = {
    .read_header = read_header,
    .read_samples = netpbm_read_samples,
};

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    static const struct pfm_state other = { .scale = "-1.0" };
    const struct pfm_state *state =
        codec_is_own(&codec_pfm, img) ? img->meta->state : &other;
    const char *magic = img->color == COLOR_RGB ? "PF" : "Pf";
    char fields[96];
    sprintf(fields, "%u %u\n%s\n", img->width, img->height, state->scale);
    if (netpbm_write_header(file, img, &codec_pfm, opts, magic, fields, err))
        return -1;
    return netpbm_write_samples(file, img, state->big_endian, opts, err);
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    (void)opts;
    return netpbm_check(file, img, &codec_pfm, err);
}

const struct codec codec_pfm = {
    .name = "pfm",
    .title = "PFM",
    .suffixes = (const char *const[]){ "pfm", NULL },
    .capabilities = {
        .cells = 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB,
    },
    .stores = true,
    .state_size = sizeof(struct pfm_state),
    .probe = probe,
    .format = &pfm,
    .open = netpbm_open,
    .decode = netpbm_decode,
    .encode = encode,
    .check = check,
};
