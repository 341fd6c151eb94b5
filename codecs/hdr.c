/* Radiance HDR through stb_image and stb_image_write: floats, never mapped to a
 * range. G. Ward, "The RADIANCE Picture File Format": lines of text, an empty
 * one, the size, and pixels of three mantissas and an exponent. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/stb.h"

static bool probe(const uint8_t *head, size_t size)
{
    return (size >= 11 && memcmp(head, "#?RADIANCE\n", 11) == 0) ||
           (size >= 7 && memcmp(head, "#?RGBE\n", 7) == 0);
}

/* The length of the line at `at`, with its newline; 0 if it has no end. */
static size_t line_at(struct bytes file, size_t at)
{
    const uint8_t *end = memchr(file.data + at, '\n', file.size - at);
    return end ? (size_t)(end - file.data) + 1 - at : 0;
}

/* Keeps the lines between the first one and the empty one. */
static int take_lines(struct meta *meta, struct bytes file, size_t *size_line,
                      struct err *err)
{
    size_t at = line_at(file, 0), n;
    while ((n = line_at(file, at)) > 1) {
        if (!meta_add(meta, "header line", 0, file.data + at, n))
            return fail(err, "no memory for so many header lines");
        at += n;
    }
    *size_line = at + n;
    return n == 1 ? 0 : fail(err, "its header has no end");
}

static int check_axes(struct bytes file, size_t at, struct err *err)
{
    char line[64];
    size_t n = line_at(file, at);
    if (n == 0 || n >= sizeof line)
        return fail(err, "its header has no size");
    memcpy(line, file.data + at, n);
    line[n - 1] = '\0';
    if (strncmp(line, "-Y ", 3) == 0 && strstr(line, " +X "))
        return 0;
    return fail(err, "its rows are not from the top left (%s)", line);
}

static int decode(struct image *img, struct bytes file,
                  const struct load_opts *opts, struct err *err)
{
    size_t at = 0;
    img->meta = meta_new(&codec_hdr);
    if (!img->meta)
        return fail(err, "no memory for the decoder");
    if (take_lines(img->meta, file, &at, err) || check_axes(file, at, err) ||
        stb_read(img, file, true, opts, err)) {
        image_free(img);
        return -1;
    }
    return 0;
}

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
    if (end == text + lead || !(aspect > 0))
        return bytes_append(file, part->data, n);
    n = (size_t)snprintf(text, sizeof text, "PIXASPECT=%.9g\n", 1 / aspect);
    return bytes_append(file, text, n);
}

static bool is_line(const struct part *part, const char *name)
{
    return part->size > strlen(name) &&
           memcmp(part->data, name, strlen(name)) == 0;
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
        if (strip != STRIP_NOTHING && !color)
            continue;
        if (turn ? !put_aspect(file, part)
                 : !bytes_append(file, part->data, part->size))
            return false;
    }
    return true;
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
    bool good = bytes_append(file, "#?RADIANCE\n", 11) &&
                put_lines(file, img, opts->strip) &&
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
    if (stb_write(file, img, STB_HDR, err))
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
