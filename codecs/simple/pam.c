/* PAM: netpbm's pam(5). */
#include <stdio.h>
#include <string.h>

#include "codecs/simple/netpbm.h"

/* The tuple types that pam(5) defines. */
static const struct {
    const char *name;
    enum color color;
    bool alpha;
    unsigned depth;
    bool bits; /* maxval is 1 */
} types[] = {
    { "BLACKANDWHITE", COLOR_GRAY, false, 1, true },
    { "GRAYSCALE", COLOR_GRAY, false, 1, false },
    { "RGB", COLOR_RGB, false, 3, false },
    { "BLACKANDWHITE_ALPHA", COLOR_GRAY, true, 2, true },
    { "GRAYSCALE_ALPHA", COLOR_GRAY, true, 2, false },
    { "RGB_ALPHA", COLOR_RGB, true, 4, false },
};
enum { TYPES = sizeof types / sizeof *types };

static bool probe(const uint8_t *head, size_t size)
{
    return size >= 3 && memcmp(head, "P7\n", 3) == 0;
}

/* Finds what the depth and the type mean. An unknown type, or one that does not
 * fit the depth, means nothing here; its name is kept. */
static void shape_colors(struct image *img, const char *type)
{
    img->color = COLOR_OTHER;
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].depth == img->nplanes &&
            (*type == '\0' || strcmp(types[i].name, type) == 0)) {
            img->color = types[i].color;
            img->alpha = types[i].alpha;
        }
}

/* Skips blanks of a line. */
static void skip_line_blanks(struct netpbm_reader *r)
{
    while (r->at < r->end && *r->at != '\n' && netpbm_is_blank(*r->at))
        r->at++;
}

/* Reads the rest of a TUPLTYPE line. There may be several, which are joined by
 * a blank. */
static int read_type(struct netpbm_reader *r, char *type, size_t room,
                     struct err *err)
{
    size_t n = strlen(type);
    if (n > 0 && n + 1 < room)
        type[n++] = ' ';
    skip_line_blanks(r);
    while (r->at < r->end && *r->at != '\n') {
        if (n + 1 >= room || *r->at == '\0')
            return fail(err, "its tuple type is too long or not text");
        type[n++] = (char)*r->at++;
    }
    while (n > 0 && netpbm_is_blank((uint8_t)type[n - 1]))
        n--;
    type[n] = '\0';
    return 0;
}

static int read_header(struct image *img, struct netpbm_reader *r,
                       struct err *err)
{
    static const char *const keys[] = { "WIDTH", "HEIGHT", "DEPTH", "MAXVAL" };
    struct pam_state *state = img->meta->state;
    uint32_t value[4] = { 0 };
    char word[16];
    r->at += 3;
    for (;;) {
        size_t k = 0;
        if (!netpbm_read_word(r, word, sizeof word))
            return fail(err, "its header has no end");
        if (strcmp(word, "ENDHDR") == 0)
            break;
        if (strcmp(word, "TUPLTYPE") == 0) {
            if (read_type(r, state->type, sizeof state->type, err))
                return -1;
            continue;
        }
        while (k < 4 && strcmp(word, keys[k]) != 0)
            k++;
        if (k == 4 || value[k] || !netpbm_read_number(r, &value[k]))
            return fail(err, "its header has a wrong line: %s", word);
    }
    skip_line_blanks(r);
    if (r->at == r->end || *r->at++ != '\n')
        return fail(err, "its header has no end");
    img->width = value[0];
    img->height = value[1];
    img->nplanes = value[2];
    shape_colors(img, state->type);
    if (img->color == COLOR_OTHER && *state->type &&
        !meta_add(img->meta, "tuple type", 0, state->type, strlen(state->type)))
        return fail_memory(err, "no memory for the decoder");
    return netpbm_set_maxval(img, value[3], err);
}

static const struct netpbm_format pam = {
    .read_header = read_header,
    .read_samples = netpbm_read_samples,
};

/* Returns the type of a picture that comes from another format. */
static const char *type_of(const struct image *img)
{
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].color == img->color && types[i].alpha == img->alpha &&
            types[i].bits == (img->maxval == 1 && img->color == COLOR_GRAY))
            return types[i].name;
    return "";
}

/* Returns the type that the file had, unless it says bits and they have become
 * deeper. */
static const char *own_type_of(const struct image *img)
{
    const struct pam_state *state = img->meta->state;
    for (size_t i = 0; i < TYPES && img->maxval != 1; i++)
        if (types[i].bits && strcmp(types[i].name, state->type) == 0)
            return type_of(img);
    return state->type;
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool own = codec_is_own(&codec_pam, img);
    const char *type = own ? own_type_of(img) : type_of(img);
    char fields[256];
    sprintf(fields, "WIDTH %u\nHEIGHT %u\nDEPTH %u\nMAXVAL %u\n%s%s%sENDHDR\n",
            img->width, img->height, img->nplanes, img->maxval,
            *type ? "TUPLTYPE " : "", type, *type ? "\n" : "");
    if (netpbm_write_header(file, img, &codec_pam, opts, "P7", fields, err))
        return -1;
    return netpbm_write_samples(file, img, true, opts, err);
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    (void)opts;
    return netpbm_check(file, img, &codec_pam, err);
}

const struct codec codec_pam = {
    .name = "pam",
    .title = "PAM",
    .suffixes = (const char *const[]){ "pam", NULL },
    .capabilities = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_OTHER,
        .alpha = true,
        .any_maxval = true,
        .metadata = HOLDS_COMMENT,
    },
    .stores = true,
    .state_size = sizeof(struct pam_state),
    .probe = probe,
    .format = &pam,
    .open = netpbm_open,
    .decode = netpbm_decode,
    .encode = encode,
    .check = check,
};
