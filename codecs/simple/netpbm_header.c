/* The headers of PNM, PAM and PFM: netpbm's pbm(5), pgm(5), ppm(5), pam(5) and
 * pfm(5). */
#include "codecs/simple/simple.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char comment[] = "comment";

/* ---- Words ----------------------------------------------------------------*/

bool netpbm_is_blank(uint8_t c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool read_comment(struct netpbm_reader *r)
{
    const uint8_t *begin = ++r->at;
    while (r->at < r->end && *r->at != '\n' && *r->at != '\r')
        r->at++;
    if (!r->meta ||
        meta_add(r->meta, comment, 0, begin, (size_t)(r->at - begin)))
        return true;
    r->starved = !meta_is_full(r->meta);
    return false;
}

bool netpbm_skip_blanks(struct netpbm_reader *r)
{
    while (r->at < r->end && (*r->at == '#' || netpbm_is_blank(*r->at)))
        if (*r->at != '#')
            r->at++;
        else if (!read_comment(r))
            return false;
    return true;
}

bool netpbm_read_number(struct netpbm_reader *r, uint32_t *number)
{
    uint64_t n = 0;
    if (!netpbm_skip_blanks(r))
        return false;
    const uint8_t *begin = r->at;
    while (r->at < r->end && *r->at >= '0' && *r->at <= '9') {
        n = 10 * n + *r->at++ - '0';
        if (n > INT32_MAX)
            return false;
    }
    *number = (uint32_t)n;
    return r->at > begin;
}

/* Reads a word shorter than `room` bytes, after blanks. Returns false if there
 * is none. */
static bool read_word(struct netpbm_reader *r, char *word, size_t room)
{
    size_t n = 0;
    if (!netpbm_skip_blanks(r))
        return false;
    while (r->at < r->end && !netpbm_is_blank(*r->at)) {
        if (n + 1 == room || *r->at == '\0')
            return false;
        word[n++] = (char)*r->at++;
    }
    word[n] = '\0';
    return n > 0;
}

/* Skips the one blank that ends a header; a comment before it ends with it. */
static int end_header(struct netpbm_reader *r, struct err *err)
{
    bool read = r->at == r->end || *r->at != '#' || read_comment(r);
    return read && r->at < r->end && netpbm_is_blank(*r->at++)
               ? 0
               : fail(err, "its header has no end");
}

/* Sets maxval, and with it the size of cells: a byte up to 255, else two. */
static int set_maxval(struct image *img, uint32_t maxval, struct err *err)
{
    if (maxval == 0 || maxval > 65535)
        return fail(err, "maxval %u is out of range; expected 1 to 65535",
                    maxval);
    img->maxval = maxval;
    img->cell = maxval > 255 ? CELL_U16 : CELL_U8;
    return 0;
}

/* ---- The three formats ----------------------------------------------------*/

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

static void skip_line_blanks(struct netpbm_reader *r)
{
    while (r->at < r->end && *r->at != '\n' && netpbm_is_blank(*r->at))
        r->at++;
}

/* An unknown type, or one that does not fit the depth, means nothing here; its
 * name is kept. */
static int read_pam(struct image *img, struct netpbm_reader *r,
                    struct netpbm_state *state, struct err *err)
{
    static const char *const keys[] = { "WIDTH", "HEIGHT", "DEPTH", "MAXVAL" };
    char *type = state->type, word[16];
    uint32_t value[4] = { 0 };
    for (;;) {
        size_t k = 0;
        if (!read_word(r, word, sizeof word))
            return fail(err, "its header has no end");
        if (strcmp(word, "ENDHDR") == 0)
            break;
        if (strcmp(word, "TUPLTYPE") == 0) {
            /* There may be several such lines, which are joined by a blank. */
            const size_t room = sizeof state->type;
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
    img->color = COLOR_OTHER;
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].depth == img->nplanes &&
            (!*type || strcmp(types[i].name, type) == 0)) {
            img->color = types[i].color;
            img->alpha = types[i].alpha;
        }
    if (img->color == COLOR_OTHER && *type &&
        !meta_add(img->meta, "tuple type", 0, type, strlen(type)))
        return fail_memory(err, "no memory for the decoder");
    return set_maxval(img, value[3], err);
}

/* P. Debevec's PFM stands from the bottom row up. The sign of its scale is the
 * byte order: negative is little-endian. */
int netpbm_read_header(struct image *img, struct netpbm_reader *r,
                       struct err *err)
{
    struct netpbm_state *state = img->meta->state;
    const uint8_t which = r->at[1];
    const bool floats = which == 'F' || which == 'f';
    char *word = state->scale, *end;
    uint32_t maxval = 1;
    r->at += 2;
    state->big_endian = true;
    if (which == '7')
        return read_pam(img, r, state, err);
    if (!floats)
        state->digit = which - '0';
    const int kind = netpbm_kind(state);
    const bool color = floats ? which == 'F' : kind == PNM_COLORS;
    img->color = color ? COLOR_RGB : COLOR_GRAY;
    img->nplanes = color ? 3 : 1;
    if (!netpbm_read_number(r, &img->width) ||
        !netpbm_read_number(r, &img->height) ||
        (floats ? !read_word(r, word, sizeof state->scale)
                : kind != PNM_BITS && !netpbm_read_number(r, &maxval)))
        return fail(err, "its header has no size");
    if (!floats)
        return set_maxval(img, maxval, err) ? -1 : end_header(r, err);
    const double scale = strtod(word, &end);
    if (*end || !isfinite(scale) || scale == 0)
        return fail(err, "its scale must be a number other than 0");
    img->cell = CELL_F32;
    state->big_endian = scale > 0;
    if (fabs(scale) != 1 && /* a unit, which other formats lack */
        !meta_add(img->meta, "scale", 0, word, strlen(word)))
        return fail_memory(err, "no memory for the decoder");
    return end_header(r, err);
}

const char *netpbm_tuple_type(const struct image *img, bool own)
{
    const struct netpbm_state *state = own ? img->meta->state : NULL;
    bool known = !own;
    for (size_t i = 0; own && i < TYPES && img->maxval != 1; i++)
        known =
            known || (types[i].bits && strcmp(types[i].name, state->type) == 0);
    if (!known)
        return state->type;
    for (size_t i = 0; i < TYPES; i++)
        if (types[i].color == img->color && types[i].alpha == img->alpha &&
            types[i].bits == (img->maxval == 1 && img->color == COLOR_GRAY))
            return types[i].name;
    return "";
}

/* ---- Comments -------------------------------------------------------------*/

static bool is_comment(const struct metadata_block *block)
{
    return strcmp(block->name, comment) == 0;
}

static bool write_comment(struct bytes *file, const char *lead,
                          const uint8_t *data, size_t size)
{
    return bytes_append(file, lead, strlen(lead)) &&
           bytes_append(file, data, size) && bytes_append(file, "\n", 1);
}

static bool write_comments(struct bytes *file, const struct image *img,
                           const struct codec *codec,
                           const struct save_opts *opts)
{
    const struct meta *meta = img->meta;
    const bool own = codec_is_own(codec, img);
    if (!meta || opts->strip != STRIP_NOTHING)
        return true;
    for (size_t i = 0; own && i < meta->nblocks; i++)
        if (is_comment(&meta->block[i]) &&
            !write_comment(file, "#", meta->block[i].data, meta->block[i].size))
            return false;
    if (own || !(codec->capabilities.metadata & HOLDS_COMMENT))
        return true;
    /* A comment ends at a newline or a carriage return, so each line of a text
     * is one. */
    const struct bytes text = meta->comment;
    for (size_t at = 0, n; at < text.size; at += n + 1) {
        const uint8_t *line = text.data + at;
        for (n = 0; at + n < text.size && line[n] != '\n'; n++)
            if (line[n] == '\r')
                break;
        if (n > 0 && !write_comment(file, "# ", line, n))
            return false;
    }
    return true;
}

int netpbm_write_header(struct bytes *file, const struct image *img,
                        const struct codec *codec, const struct save_opts *opts,
                        const char *header, struct err *err)
{
    const char *fields = strchr(header, '\n') + 1;
    return bytes_append(file, header, (size_t)(fields - header)) &&
                   write_comments(file, img, codec, opts) &&
                   bytes_append(file, fields, strlen(fields))
               ? 0
               : fail_memory(err, "no memory for the file");
}

int netpbm_make_portable(struct meta *meta, struct err *err)
{
    bool first = true;
    for (size_t i = 0; i < meta->nblocks; i++) {
        struct metadata_block *block = &meta->block[i];
        size_t skip = block->size > 0 && block->data[0] == ' ';
        if (!is_comment(block))
            continue;
        block->portable = true;
        if ((!first && !bytes_append(&meta->comment, "\n", 1)) ||
            !bytes_append(&meta->comment, block->data + skip,
                          block->size - skip))
            return fail_memory(err, "no memory for the comments");
        first = false;
    }
    return meta_comment_utf8(meta, err);
}
