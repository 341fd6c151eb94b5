/* Radiance HDR (G. Ward, "The RADIANCE Picture File Format"): lines of text, an
 * empty line, the size, and rows of pixels of three mantissas and one exponent.
 *
 * A file that is turned keeps these as they are, in four planes of bytes: that
 * is exact and takes a third of the memory. For other formats they become
 * floats, which are not mapped to any range. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/simple/simple.h"

static bool probe(const uint8_t *head, size_t size)
{
    return (size >= 11 && memcmp(head, "#?RADIANCE\n", 11) == 0) ||
           (size >= 7 && memcmp(head, "#?RGBE\n", 7) == 0);
}

/* ---- Rows of pixels ------------------------------------------------------
 *
 * Where the format leaves something open, this does what color.c of Radiance
 * does. */

/* Bytes: three mantissas, and the exponent that they share. */
enum { PIXEL = 4 };

struct rgbe_row {
    uint8_t *channel[PIXEL]; /* red, green, blue, exponent */
    uint32_t width;
};

/* How many samples were changed, since no pixel of an HDR holds them. */
struct rgbe_lost {
    uint64_t clipped, rounded;
};

/* Rows of these widths are coded channel by channel. */
enum { CODED_FROM = 8, CODED_TO = 32767 };

/* A byte up to 128 counts the bytes that follow as they are; a larger one is
 * 128 plus how often the next byte is repeated. */
enum { RUN = 128, RUN_MOST = 127, LITERAL_MOST = 128 };

/* ---- A row, read -------------------------------------------------------- */

static enum runs_end read_channel(uint8_t *to, uint32_t width,
                                  const uint8_t **at, const uint8_t *end)
{
    const uint8_t *p = *at;
    for (uint32_t x = 0; x < width;) {
        if (end - p < 2)
            return RUNS_CUT;
        bool run = *p > RUN;
        uint32_t n = run ? *p - RUN : *p;
        p++;
        if (n == 0 || n > width - x)
            return RUNS_WRONG;
        if (!run && (size_t)(end - p) < n)
            return RUNS_CUT;
        if (run)
            memset(to + x, *p, n);
        else
            memcpy(to + x, p, n);
        p += run ? 1 : n;
        x += n;
    }
    *at = p;
    return RUNS_WHOLE;
}

/* Reads whole pixels. One with mantissas of 1, 1, 1 repeats the pixel before as
 * often as its fourth byte says; right behind another such run, 256 times as
 * often. */
static enum runs_end read_pixels(struct rgbe_row row, const uint8_t **at,
                                 const uint8_t *end)
{
    const uint8_t *p = *at;
    unsigned shift = 0;
    for (uint32_t x = 0; x < row.width; p += PIXEL) {
        if (end - p < PIXEL)
            return RUNS_CUT;
        if (p[0] != 1 || p[1] != 1 || p[2] != 1) {
            for (unsigned c = 0; c < PIXEL; c++)
                row.channel[c][x] = p[c];
            shift = 0;
            x++;
            continue;
        }
        uint64_t n = (uint64_t)p[3] << shift;
        if (x == 0 || shift > 24 || n > row.width - x)
            return RUNS_WRONG;
        for (unsigned c = 0; c < PIXEL; c++)
            memset(row.channel[c] + x, row.channel[c][x - 1], n);
        shift += 8;
        x += (uint32_t)n;
    }
    *at = p;
    return RUNS_WHOLE;
}

static bool is_coded_width(uint32_t width)
{
    return width >= CODED_FROM && width <= CODED_TO;
}

/* Reads a row at *at of `file`, however it is coded, and moves *at behind it.
 */
static enum runs_end rgbe_read(struct rgbe_row row, struct bytes file,
                               size_t *at)
{
    const uint8_t *p = file.data + *at, *end = file.data + file.size;
    enum runs_end status = RUNS_WHOLE;
    if (end - p < PIXEL)
        return RUNS_CUT;
    if (is_coded_width(row.width) && p[0] == 2 && p[1] == 2 && p[2] < 128) {
        if (read_be16(p + 2) != row.width)
            return RUNS_WRONG;
        p += PIXEL;
        for (unsigned c = 0; c < PIXEL && status == RUNS_WHOLE; c++)
            status = read_channel(row.channel[c], row.width, &p, end);
    } else {
        status = read_pixels(row, &p, end);
    }
    *at = (size_t)(p - file.data);
    return status;
}

/* ---- A row, written ----------------------------------------------------- */

/* Runs of fewer bytes save nothing between literals. */
static uint8_t *write_channel(uint8_t *to, const uint8_t *row, uint32_t n)
{
    for (uint32_t x = 0, run; x < n;) {
        for (run = x; run + 4 <= n;) /* where the next four equal bytes begin */
            if (row[run + 2] != row[run + 3])
                run += 3;
            else if (row[run + 1] != row[run + 2])
                run += 2;
            else if (row[run] != row[run + 1])
                run++;
            else
                break;
        run = run + 4 <= n ? run : n;
        while (x < run) {
            uint32_t count = run - x < LITERAL_MOST ? run - x : LITERAL_MOST;
            *to++ = (uint8_t)count;
            memcpy(to, row + x, count);
            to += count;
            x += count;
        }
        if (x < n) {
            uint32_t most = n - x < RUN_MOST ? n - x : RUN_MOST, count = 4;
            while (count < most && row[x + count] == row[x])
                count++;
            *to++ = (uint8_t)(RUN + count);
            *to++ = row[x];
            x += count;
        }
    }
    return to;
}

/* Writes a row to `to`, which has room for it, and returns its size.
 * Pixels of one that is too narrow or too wide to be coded stand as they are.
 * Mantissas of 1, 1, 1 would be taken for a run there: they become 2, 2, 2 with
 * the exponent below, unless it is the smallest. */
static size_t rgbe_write(uint8_t *to, struct rgbe_row row,
                         struct rgbe_lost *lost)
{
    uint8_t *p = to;
    const bool coded = is_coded_width(row.width);
    for (uint32_t x = 0; x < row.width && !coded; x++, p += PIXEL) {
        for (unsigned c = 0; c < PIXEL; c++)
            p[c] = row.channel[c][x];
        if (p[0] != 1 || p[1] != 1 || p[2] != 1)
            continue;
        lost->clipped += 3 * (p[3] == 1);
        memset(p, p[3] > 1 ? 2 : 0, 3);
        p[3] = p[3] > 1 ? p[3] - 1 : 0;
    }
    if (!coded)
        return (size_t)(p - to);
    memcpy(p, "\2\2", 2);
    write_be16(p + 2, row.width);
    p += PIXEL;
    for (unsigned c = 0; c < PIXEL; c++)
        p = write_channel(p, row.channel[c], row.width);
    return (size_t)(p - to);
}

/* ---- A row of floats ----------------------------------------------------- */

/* A sample is m * 2^(e - 136); a pixel whose e is 0 is black. */
enum { BIAS = 128, MANTISSA = 8 };

/* Makes a row of these floats: the pixels that are nearest to them. The
 * exponent of a pixel is that of its largest sample, but not below the smallest
 * that there is. */
static void rgbe_from_floats(struct rgbe_row row, const struct image *img,
                             uint32_t y, struct rgbe_lost *lost)
{
    static const float largest = 255 * 0x1p119f;
    const float *floats[3];
    for (unsigned c = 0; c < 3; c++)
        floats[c] = plane_row(&img->plane[c], y);
    for (uint32_t x = 0; x < row.width; x++) {
        float pixel[3], most = 0;
        int exponent;
        for (unsigned c = 0; c < 3; c++) {
            pixel[c] = floats[c][x];
            if (!(pixel[c] >= 0 && pixel[c] <= largest)) {
                lost->clipped++;
                pixel[c] = pixel[c] > 0 ? largest : 0; /* NaN is black */
            }
            most = fmaxf(most, pixel[c]);
        }
        frexpf(most, &exponent);
        if (exponent < 1 - BIAS)
            exponent = 1 - BIAS;
        const double scale = ldexp(1, MANTISSA - exponent);
        for (unsigned c = 0; c < 3; c++) {
            const double mantissa = pixel[c] * scale;
            unsigned whole = (unsigned)(mantissa + 0.5);
            whole = whole > 255 ? 255 : whole;
            lost->rounded += mantissa != whole;
            row.channel[c][x] = (uint8_t)whole;
        }
        row.channel[3][x] = most > 0 ? (uint8_t)(exponent + BIAS) : 0;
    }
}

/* ---- The header --------------------------------------------------------- */

/* Returns the length of the line at `at`, with its newline; 0 if it has none.
 */
static size_t line_at(struct bytes file, size_t at)
{
    const uint8_t *end = memchr(file.data + at, '\n', file.size - at);
    return end ? (size_t)(end - file.data) + 1 - at : 0;
}

static bool is_line(const struct metadata_block *block, const char *name)
{
    return block->size > strlen(name) &&
           memcmp(block->data, name, strlen(name)) == 0;
}

/* Keeps the lines up to the empty one as blocks, which are called by the name
 * of what they set, and moves *at behind that. */
static int read_lines(struct meta *meta, struct bytes file, size_t *at,
                      struct err *err)
{
    static const char rgbe[] = "FORMAT=32-bit_rle_rgbe\n";
    bool format = false;
    size_t size;
    for (*at = 0; (size = line_at(file, *at)) > 1; *at += size) {
        char name[32] = "header line";
        const uint8_t *line = file.data + *at,
                      *equals = memchr(line, '=', size);
        const size_t n = equals ? (size_t)(equals - line) : 0;
        if (*line != '#' && n > 0 && n < sizeof name)
            snprintf(name, sizeof name, "%.*s", (int)n, (const char *)line);
        struct metadata_block *block = meta_add(meta, name, 0, line, size);
        if (!block)
            return fail_memory(err, "no memory for so many header lines");
        if (memchr(line, '\0', size))
            return fail(err, "its header is malformed");
        /* What every HDR says is not lost in another format, and neither is
         * what stb_image_write says in all of its files. */
        block->portable = is_line(block, "FORMAT=") || is_line(block, "#?") ||
                          is_line(block, "# Written by stb_image_write.h") ||
                          is_line(block, "EXPOSURE=          1.0000000000000");
        if (!is_line(block, "FORMAT="))
            continue;
        format = true;
        if (size != sizeof rgbe - 1 || memcmp(line, rgbe, size) != 0)
            return fail(
                err, "its pixels are '%.*s'; only 32-bit_rle_rgbe can be read",
                (int)(size - 8 < 64 ? size - 8 : 64), (const char *)line + 7);
    }
    *at += size;
    if (size == 0)
        return fail(err, "its header has no end");
    return format ? 0 : fail(err, "its header has no FORMAT");
}

/* The axis from row to row, and the one along a row, for each orientation. +Y
 * is up, +X is to the right. */
static const char *const axes[9][2] = {
    [1] = { "-Y", "+X" }, [2] = { "-Y", "-X" }, [3] = { "+Y", "-X" },
    [4] = { "+Y", "+X" }, [5] = { "+X", "-Y" }, [6] = { "-X", "-Y" },
    [7] = { "-X", "+Y" }, [8] = { "+X", "+Y" },
};

/* Reads the line of the size, and moves *at to the pixels. */
static int read_size(struct image *img, struct bytes file, size_t *at,
                     struct err *err)
{
    char line[64], rows[3], columns[3];
    int used = 0;
    size_t n = line_at(file, *at);
    if (n == 0 || n >= sizeof line)
        return fail(err, "its header has no size");
    memcpy(line, file.data + *at, n);
    line[n - 1] = '\0';
    if (sscanf(line, "%2s %9u %2s %9u%n", rows, &img->height, columns,
               &img->width, &used) == 4 &&
        (size_t)used == n - 1)
        for (unsigned i = 1; i <= 8; i++)
            if (!strcmp(rows, axes[i][0]) && !strcmp(columns, axes[i][1]))
                img->orientation = i;
    if (!img->orientation)
        return fail(err, "its size is malformed (%s)", line);
    orientation_note(&img->meta->orientation, TAG_HEADER, img->orientation);
    *at += n;
    return 0;
}

/* ---- The pixels --------------------------------------------------------- */

/* Returns a row in memory that free(row.channel[0]) frees; without memory that
 * is NULL. */
static struct rgbe_row spare_row(const struct image *img, struct err *err)
{
    struct rgbe_row row = { .width = img->width };
    uint8_t *memory = memory_alloc((size_t)4 * img->width);
    if (!memory)
        fail_memory(err, "no memory for a row");
    for (unsigned c = 0; memory && c < 4; c++)
        row.channel[c] = memory + c * (size_t)img->width;
    return row;
}

/* Row y of img; the spare one if img has floats. */
static struct rgbe_row row_of(const struct image *img, uint32_t y,
                              struct rgbe_row spare)
{
    struct rgbe_row row = spare;
    for (unsigned c = 0; c < 4 && img->color == COLOR_RGBE; c++)
        row.channel[c] = plane_row(&img->plane[c], y);
    return row;
}

static int read_rows(struct reader *reader, struct row_sink *rows,
                     struct rgbe_row spare, struct err *err)
{
    const struct load_opts *opts = reader->opts;
    enum runs_end status = RUNS_WHOLE;
    float scale[256] = { 0 }; /* by exponent: floats are made without loss */
    for (int e = 1; e < 256; e++)
        scale[e] = ldexpf(1, e - BIAS - MANTISSA);
    for (uint32_t y = 0, i; y < rows->height; y++) {
        const struct image *to = row_sink_at(rows, y, &i);
        struct rgbe_row row = row_of(to, i, spare);
        if (status == RUNS_WHOLE) {
            status = rgbe_read(row, reader->file, &reader->at);
            if (simple_check_runs(status, y, opts, err))
                return -1;
        }
        if (status != RUNS_WHOLE) /* black from here on */
            for (unsigned c = 0; c < 4; c++)
                memset(row.channel[c], 0, row.width);
        for (unsigned c = 0; c < 3 && to->color != COLOR_RGBE; c++) {
            float *floats = plane_row(&to->plane[c], i);
            for (uint32_t x = 0; x < row.width; x++)
                floats[x] = row.channel[c][x] * scale[row.channel[3][x]];
        }
        if (row_sink_done(rows, y, err))
            return -1;
    }
    if (status == RUNS_WHOLE && reader->at < reader->file.size)
        warn(opts->warnings, "%zu bytes after the picture are not kept",
             reader->file.size - reader->at);
    return 0;
}

static int open(struct reader *reader, struct err *err)
{
    struct image *img = &reader->img;
    img->orientation = 0;
    if (read_lines(img->meta, reader->file, &reader->at, err) ||
        read_size(img, reader->file, &reader->at, err))
        return -1;
    const bool floats = reader->opts->portable;
    img->cell = floats ? CELL_F32 : CELL_U8;
    img->color = floats ? COLOR_RGB : COLOR_RGBE;
    img->nplanes = floats ? 3 : 4;
    img->maxval = floats ? 0 : 255;
    return image_check(img->width, img->height, img->nplanes, img->cell,
                       &reader->opts->limits, err);
}

static int decode(struct reader *reader, struct err *err)
{
    const struct row_sink_opts opts = { .t = reader->plan->turn,
                                        .turner = reader->plan->turner,
                                        .mem = reader->opts->mem };
    struct rgbe_row spare = spare_row(&reader->img, err);
    struct row_sink rows = { 0 };
    int status = -1;
    if (spare.channel[0] && row_sink_open(&rows, &reader->img, &opts, err) == 0)
        status = read_rows(reader, &rows, spare, err);
    row_sink_close(&rows);
    memory_free(spare.channel[0]);
    return status;
}

/* ---- Writing ------------------------------------------------------------ */

/* PIXASPECT, the height of a pixel divided by its width, is inverted where the
 * axes of the picture as shown are exchanged. Its planes are turned by the
 * order of its pixels as well, unless that order is left as it is. */
static bool put_lines(struct bytes *file, const struct image *img,
                      const struct save_opts *opts)
{
    static const char lead[] = "PIXASPECT=";
    const struct meta *meta = img->meta;
    const bool by_order = opts->orientation &&
                          xform_transposes(xform_from_exif(img->orientation));
    const bool turn = xform_transposes(img->turned) != by_order;
    for (size_t i = 0; i < meta->nblocks; i++) {
        const struct metadata_block *block = &meta->block[i];
        bool color = is_line(block, "FORMAT=") || is_line(block, "EXPOSURE=") ||
                     is_line(block, "COLORCORR=") ||
                     is_line(block, "PRIMARIES=");
        char text[64] = "";
        double aspect = 0;
        if (opts->strip && !color && i > 0) /* 0: the magic one */
            continue;
        if (turn && is_line(block, lead) && block->size < sizeof text) {
            memcpy(text, block->data, block->size - 1);
            aspect = strtod(text + strlen(lead), NULL);
        }
        const bool inverts = aspect > 0 && isfinite(aspect);
        const int n =
            inverts ? snprintf(text, sizeof text, "%s%.9g\n", lead, 1 / aspect)
                    : 0;
        if (!bytes_append(file, inverts ? (uint8_t *)text : block->data,
                          inverts ? (size_t)n : block->size))
            return false;
    }
    return bytes_append(file, "\n", 1);
}

/* A file that is turned keeps the lines that it had. */
static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    static const char other[] = "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n";
    const bool own = codec_is_own(&codec_hdr, img);
    const unsigned order = opts->orientation || !own ? 1 : img->orientation;
    const size_t leads = (img->width + LITERAL_MOST - 1) / LITERAL_MOST;
    struct rgbe_lost lost = { 0 };
    char text[64];
    int n = sprintf(text, "%s %u %s %u\n", axes[order][0], img->height,
                    axes[order][1], img->width);
    if (!(own ? put_lines(file, img, opts)
              : bytes_append(file, other, sizeof other - 1)) ||
        !bytes_append(file, text, (size_t)n) ||
        !bytes_reserve(file,
                       (PIXEL + PIXEL * (img->width + leads)) * img->height))
        return fail_memory(err, "no memory for the file");
    struct rgbe_row spare = spare_row(img, err);
    if (!spare.channel[0])
        return -1;
    for (uint32_t y = 0; y < img->height; y++) {
        struct rgbe_row row = row_of(img, y, spare);
        if (img->color != COLOR_RGBE)
            rgbe_from_floats(row, img, y, &lost);
        file->size += rgbe_write(file->data + file->size, row, &lost);
    }
    memory_free(spare.channel[0]);
    if (lost.clipped)
        warn(opts->warnings,
             "%llu samples are below or above what HDR can hold and "
             "are clipped",
             (unsigned long long)lost.clipped);
    if (lost.rounded)
        warn(opts->warnings,
             "%llu samples have more than the 8 bits that HDR can "
             "hold and are rounded",
             (unsigned long long)lost.rounded);
    return 0;
}

static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    struct meta meta = { 0 };
    struct image is = { .meta = &meta };
    size_t at = 0, n;
    (void)opts;
    while ((n = line_at(file, at)) > 1)
        at += n;
    at += n;
    if (!n || !probe(file.data, file.size) || read_size(&is, file, &at, err) ||
        is.width != img->width || is.height != img->height)
        return fail(err, "its header is of another picture");
    struct rgbe_row row = spare_row(img, err);
    int status = row.channel[0] ? 0 : -1;
    for (uint32_t y = 0; status == 0 && y < img->height; y++)
        if (rgbe_read(row, file, &at) != RUNS_WHOLE)
            status = fail(err, "row %u is not whole", y);
    if (status == 0 && at != file.size)
        status = fail(err, "it has %zu bytes", file.size);
    memory_free(row.channel[0]);
    return status;
}

const struct codec codec_hdr = {
    .name = "hdr",
    .title = "HDR",
    .rounds = true,
    .suffixes = (const char *const[]){ "hdr", "rgbe", "pic", NULL },
    .capabilities = {
        .cells = 1 << CELL_F32,
        .colors = 1 << COLOR_RGB,
    },
    .probe = probe,
    .open = open,
    .decode = decode,
    .encode = encode,
    .check = check,
};
