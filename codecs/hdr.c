/* Radiance HDR through stb_image and stb_image_write: floats, never mapped to a
 * range. G. Ward, "The RADIANCE Picture File Format": lines of text, an empty
 * one, the size, and pixels of three mantissas and an exponent. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/stb.h"

enum { PIXEL = 4 }; /* bytes */

static bool probe(const uint8_t *head, size_t size)
{
    return (size >= 11 && memcmp(head, "#?RADIANCE\n", 11) == 0) ||
           (size >= 7 && memcmp(head, "#?RGBE\n", 7) == 0);
}

/* ---- The header --------------------------------------------------------- */

/* The length of the line at `at`, with its newline; 0 if it has no end. */
static size_t line_at(struct bytes file, size_t at)
{
    const uint8_t *end = memchr(file.data + at, '\n', file.size - at);
    return end ? (size_t)(end - file.data) + 1 - at : 0;
}

static bool is_line(const struct part *part, const char *name)
{
    return part->size > strlen(name) &&
           memcmp(part->data, name, strlen(name)) == 0;
}

/* Keeps a line, by the name of what it sets. */
static int take_line(struct meta *meta, const uint8_t *line, size_t size,
                     bool *format, struct err *err)
{
    static const char rgbe[] = "FORMAT=32-bit_rle_rgbe\n";
    char name[32] = "header line";
    const uint8_t *equals = memchr(line, '=', size);
    size_t n = equals ? (size_t)(equals - line) : 0;
    if (*line != '#' && n > 0 && n < sizeof name)
        snprintf(name, sizeof name, "%.*s", (int)n, (const char *)line);
    struct part *part = meta_add(meta, name, 0, line, size);
    if (!part)
        return fail(err, "no memory for so many header lines");
    if (memchr(line, '\0', size))
        return fail(err, "its header is malformed");
    /* What every HDR says is not lost in another format. */
    part->neutral = is_line(part, "FORMAT=") || is_line(part, "#?");
    if (!is_line(part, "FORMAT="))
        return 0;
    *format = true;
    if (size == sizeof rgbe - 1 && memcmp(line, rgbe, size) == 0)
        return 0;
    return fail(err, "its pixels are '%.*s'; only 32-bit_rle_rgbe can be read",
                (int)(size - 8 < 64 ? size - 8 : 64), (const char *)line + 7);
}

/* Keeps the lines up to the empty one, and gives where the one behind is. */
static int take_lines(struct meta *meta, struct bytes file, size_t *at,
                      struct err *err)
{
    bool format = false;
    size_t n;
    *at = 0;
    while ((n = line_at(file, *at)) > 1) {
        if (take_line(meta, file.data + *at, n, &format, err))
            return -1;
        *at += n;
    }
    *at += n;
    if (n == 0)
        return fail(err, "its header has no end");
    return format ? 0 : fail(err, "its header has no FORMAT");
}

/* Reads the line of the size, and gives where the pixels begin. */
static int take_size(struct image *img, struct bytes file, size_t *at,
                     const struct load_opts *opts, struct err *err)
{
    char line[64];
    unsigned width, height;
    int used = 0;
    size_t n = line_at(file, *at);
    if (n == 0 || n >= sizeof line)
        return fail(err, "its header has no size");
    memcpy(line, file.data + *at, n);
    line[n - 1] = '\0';
    if (sscanf(line, "-Y %9u +X %9u%n", &height, &width, &used) != 2 ||
        (size_t)used != n - 1)
        return fail(err, "its rows are not from the top left (%s)", line);
    *at += n;
    return stb_shape(img, width, height, 3, CELL_F32, opts, err);
}

/* ---- The pixels --------------------------------------------------------- */

enum row { ROW_WHOLE, ROW_CUT, ROW_WRONG };

/* Passes a run-length coded row: its width, and each of the four components as
 * runs and literals. */
static enum row pass_coded_row(struct bytes file, size_t *at, uint32_t width)
{
    const uint8_t *p = file.data + *at, *end = file.data + file.size;
    if (end - p < 4)
        return ROW_CUT;
    if (p[0] != 2 || p[1] != 2 || (uint32_t)(p[2] << 8 | p[3]) != width)
        return ROW_WRONG;
    p += 4;
    for (uint32_t x = 0; x < 4 * width;) {
        if (p == end)
            return ROW_CUT;
        uint32_t left = width - x % width;
        bool run = *p > 128;
        uint32_t n = run ? *p - 128 : *p;
        size_t size = run ? 1 : n;
        if (n == 0 || n > left)
            return ROW_WRONG;
        if ((size_t)(end - ++p) < size)
            return ROW_CUT;
        p += size;
        x += n;
    }
    *at = (size_t)(p - file.data);
    return ROW_WHOLE;
}

/* Passes a row of plain pixels. Mantissas of 1, 1, 1 are a run in the way of
 * before 1991, which stb_image takes for a pixel. */
static enum row pass_plain_row(struct bytes file, size_t *at, uint32_t width)
{
    const uint8_t *p = file.data + *at;
    if (file.size - *at < (size_t)width * PIXEL)
        return ROW_CUT;
    for (uint32_t x = 0; x < width; x++, p += PIXEL)
        if (p[0] == 1 && p[1] == 1 && p[2] == 1)
            return ROW_WRONG;
    *at += (size_t)width * PIXEL;
    return ROW_WHOLE;
}

/* As stb_image decides it, for all rows by the first one. */
static bool is_coded(struct bytes file, size_t at, uint32_t width)
{
    const uint8_t *p = file.data + at;
    return width >= 8 && width < 32768 && file.size - at >= 3 && p[0] == 2 &&
           p[1] == 2 && p[2] < 128;
}

/* A black row of the same kind. */
static bool put_black_row(struct bytes *file, uint32_t width, bool coded)
{
    static const uint8_t pixel[PIXEL];
    bool good = true;
    for (uint32_t x = 0; x < width && !coded && good; x++)
        good = bytes_append(file, pixel, PIXEL);
    if (!coded)
        return good;
    uint8_t lead[] = { 2, 2, (uint8_t)(width >> 8), width & 255 };
    good = bytes_append(file, lead, sizeof lead);
    for (uint32_t x = 0; x < 4 * width && good;) {
        uint32_t left = width - x % width, n = left < 127 ? left : 127;
        uint8_t run[] = { (uint8_t)(128 + n), 0 };
        good = bytes_append(file, run, sizeof run);
        x += n;
    }
    return good;
}

/* The file up to the last whole row, at `at`, and black from there on. */
static int complete(struct bytes *whole, struct bytes file, size_t at,
                    uint32_t rows, uint32_t width, bool coded, struct err *err)
{
    bool good = bytes_append(whole, file.data, at);
    while (rows-- > 0 && good)
        good = put_black_row(whole, width, coded);
    return good ? 0 : fail(err, "no memory for the pixels");
}

static int read_pixels(struct image *img, struct bytes file, size_t at,
                       const struct load_opts *opts, struct err *err)
{
    bool coded = is_coded(file, at, img->width);
    struct bytes whole = { 0 };
    enum row row = ROW_WHOLE;
    uint32_t y = 0;
    while (y < img->height) {
        row = coded ? pass_coded_row(file, &at, img->width)
                    : pass_plain_row(file, &at, img->width);
        if (row != ROW_WHOLE)
            break;
        y++;
    }
    if (row != ROW_WHOLE && !opts->tolerant)
        return fail(err, row == ROW_CUT ? "cut short in row %u"
                                        : "row %u is coded in a wrong or in an "
                                          "old way",
                    y);
    if (row == ROW_WHOLE) {
        if (at < file.size)
            warn(opts->warnings, "%zu bytes after the picture are not kept",
                 file.size - at);
        return stb_read(img, file, opts, err);
    }
    stb_warn_cut(opts);
    int status = complete(&whole, file, at, img->height - y, img->width, coded,
                          err);
    if (status == 0)
        status = stb_read(img, whole, opts, err);
    bytes_free(&whole);
    return status;
}

static int decode(struct image *img, struct bytes file,
                  const struct load_opts *opts, struct err *err)
{
    size_t at = 0;
    img->meta = meta_new(&codec_hdr);
    if (!img->meta)
        return fail(err, "no memory for the decoder");
    if (take_lines(img->meta, file, &at, err) ||
        take_size(img, file, &at, opts, err) ||
        read_pixels(img, file, at, opts, err)) {
        image_free(img);
        return -1;
    }
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

/* A pixel's height by its width: turned, it is one by that. */
static bool put_aspect(struct bytes *file, const struct part *part)
{
    char text[64], *end;
    size_t lead = strlen("PIXASPECT="), n = part->size;
    if (n >= sizeof text)
        return bytes_append(file, part->data, n);
    memcpy(text, part->data, n);
    text[n - 1] = '\0';
    double aspect = strtod(text + lead, &end);
    if (end == text + lead || !(aspect > 0) || !isfinite(aspect))
        return bytes_append(file, part->data, n);
    n = (size_t)snprintf(text, sizeof text, "PIXASPECT=%.9g\n", 1 / aspect);
    return bytes_append(file, text, n);
}

static bool put_lines(struct bytes *file, const struct image *img,
                      enum strip strip)
{
    const struct meta *meta = img->meta;
    for (size_t i = 0; i < meta->nparts; i++) {
        const struct part *part = &meta->part[i];
        bool color = is_line(part, "FORMAT=") || is_line(part, "EXPOSURE=") ||
                     is_line(part, "COLORCORR=") || is_line(part, "PRIMARIES=");
        bool turn = is_line(part, "PIXASPECT=") && xform_transposes(img->turned);
        if (strip != STRIP_NOTHING && !color && i > 0) /* 0: the magic one */
            continue;
        if (turn ? !put_aspect(file, part)
                 : !bytes_append(file, part->data, part->size))
            return false;
    }
    return bytes_append(file, "\n", 1);
}

/* stb_image_write's own lines, up to the empty one, give way to the file's. */
static int with_lines(struct bytes *file, const struct image *img,
                      const struct save_opts *opts, struct err *err)
{
    struct bytes made = *file;
    size_t at = 0, n;
    *file = (struct bytes){ 0 };
    while ((n = line_at(made, at)) > 1)
        at += n;
    at += n;
    bool good = put_lines(file, img, opts->strip) &&
                bytes_append(file, made.data + at, made.size - at);
    bytes_free(&made);
    return good ? 0 : fail(err, "no memory for the file");
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    bool own = codec_is_own(&codec_hdr, img);
    if (!own && opts->strip == STRIP_NOTHING)
        meta_warn_lost(img->meta, codec_hdr.holds.metadata, "HDR",
                       opts->warnings);
    if (stb_write(file, img, STB_HDR, opts, err))
        return -1;
    return own ? with_lines(file, img, opts, err) : 0;
}

static const char *const suffixes[] = { "hdr", "rgbe", "pic", NULL };

const struct codec codec_hdr = {
    .name = "hdr",
    .title = "HDR",
    .suffixes = suffixes,
    .holds = {
        .cells = 1 << CELL_F32,
        .colors = 1 << COLOR_RGB,
    },
    .probe = probe,
    .decode = decode,
    .encode = encode,
};
