/* The pixels of a Radiance HDR (G. Ward, "The RADIANCE Picture File Format").
 * Where that leaves something open, this does what color.c of Radiance does. */
#include "codecs/simple/simple.h"

#include <math.h>
#include <string.h>

enum { PIXEL = 4 }; /* bytes */

/* Rows of these widths are coded channel by channel. */
enum { CODED_FROM = 8, CODED_TO = 32767 };

/* A byte up to 128 counts the bytes that follow as they are; a larger one is
 * 128 plus how often the next byte is repeated. */
enum { RUN = 128, RUN_MOST = 127, LITERAL_MOST = 128 };

/* ---- Reading ------------------------------------------------------------- */

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

enum runs_end rgbe_read(struct rgbe_row row, struct bytes file, size_t *at)
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

/* ---- Writing ------------------------------------------------------------- */

enum { RUN_LEAST = 4 }; /* shorter ones save nothing between literals */

/* Returns where the next RUN_LEAST equal bytes begin, from x on; n if nowhere.
 */
static uint32_t find_run(const uint8_t *row, uint32_t x, uint32_t n)
{
    for (; x + 8 + RUN_LEAST <= n; x += 8) {
        uint64_t a = read_le64(row + x);
        uint64_t differ = (a ^ read_le64(row + x + 1)) |
                          (a ^ read_le64(row + x + 2)) |
                          (a ^ read_le64(row + x + 3));
        /* The high bit of the first byte that is 0 (A. Mycroft); bits above it
         * mean nothing. */
        uint64_t found =
            (differ - 0x0101010101010101) & ~differ & 0x8080808080808080;
        if (found)
            return x + (uint32_t)__builtin_ctzll(found) / 8;
    }
    for (; x + RUN_LEAST <= n; x++)
        if (row[x] == row[x + 1] && row[x] == row[x + 2] &&
            row[x] == row[x + 3])
            return x;
    return n;
}

/* Counts the equal bytes from x on, up to what a run holds. */
static uint32_t measure_run(const uint8_t *row, uint32_t x, uint32_t n)
{
    uint32_t most = n - x < RUN_MOST ? n - x : RUN_MOST, count = 1;
    uint64_t all = row[x] * 0x0101010101010101u;
    while (count + 8 <= most && read_le64(row + x + count) == all)
        count += 8;
    while (count < most && row[x + count] == row[x])
        count++;
    return count;
}

static uint8_t *write_channel(uint8_t *to, const uint8_t *row, uint32_t n)
{
    for (uint32_t x = 0; x < n;) {
        uint32_t run = find_run(row, x, n);
        while (x < run) {
            uint32_t count = run - x < LITERAL_MOST ? run - x : LITERAL_MOST;
            *to++ = (uint8_t)count;
            memcpy(to, row + x, count);
            to += count;
            x += count;
        }
        if (x < n) {
            uint32_t count = measure_run(row, x, n);
            *to++ = (uint8_t)(RUN + count);
            *to++ = row[x];
            x += count;
        }
    }
    return to;
}

/* Writes a pixel of a row that is too narrow or too wide to be coded. Mantissas
 * of 1, 1, 1 would be taken for a run: they become 2, 2, 2 with the exponent
 * below, unless it is the smallest. */
static void write_pixel(uint8_t *to, struct rgbe_row row, uint32_t x,
                        struct rgbe_lost *lost)
{
    for (unsigned c = 0; c < PIXEL; c++)
        to[c] = row.channel[c][x];
    if (to[0] != 1 || to[1] != 1 || to[2] != 1)
        return;
    bool fits = to[3] > 1;
    lost->clipped += 3 * (to[3] == 1);
    memset(to, fits ? 2 : 0, 3);
    to[3] = fits ? to[3] - 1 : 0;
}

size_t rgbe_most(uint32_t width)
{
    size_t leads = (width + LITERAL_MOST - 1) / LITERAL_MOST;
    return PIXEL + PIXEL * (width + leads);
}

size_t rgbe_write(uint8_t *to, struct rgbe_row row, struct rgbe_lost *lost)
{
    uint8_t *p = to;
    if (!is_coded_width(row.width)) {
        for (uint32_t x = 0; x < row.width; x++)
            write_pixel(to + PIXEL * (size_t)x, row, x, lost);
        return PIXEL * (size_t)row.width;
    }
    *p++ = 2;
    *p++ = 2;
    write_be16(p, row.width);
    p += 2;
    for (unsigned c = 0; c < PIXEL; c++)
        p = write_channel(p, row.channel[c], row.width);
    return (size_t)(p - to);
}

/* ---- Floats -------------------------------------------------------------- */

/* A sample is m * 2^(e - 136); a pixel whose e is 0 is black. */
enum { BIAS = 128, MANTISSA = 8 };

void rgbe_to_floats(struct rgbe_row row, const struct image *img, uint32_t y)
{
    float scale[256] = { 0 };
    for (int e = 1; e < 256; e++)
        scale[e] = ldexpf(1, e - BIAS - MANTISSA);
    for (unsigned c = 0; c < 3; c++) {
        float *floats = plane_row(&img->plane[c], y);
        for (uint32_t x = 0; x < row.width; x++)
            floats[x] = row.channel[c][x] * scale[row.channel[3][x]];
    }
}

static float clip(float v, struct rgbe_lost *lost)
{
    static const float largest = 255 * 0x1p119f;
    if (v >= 0 && v <= largest)
        return v;
    lost->clipped++;
    return v > 0 ? largest : 0; /* NaN is black */
}

/* Makes the pixel nearest to three samples, which have been clipped. Its
 * exponent is that of the largest one, but not below the smallest that there
 * is. */
static void round_pixel(uint8_t rgbe[PIXEL], const float pixel[3],
                        struct rgbe_lost *lost)
{
    float most = fmaxf(fmaxf(pixel[0], pixel[1]), pixel[2]);
    int exponent;
    frexpf(most, &exponent);
    if (exponent < 1 - BIAS)
        exponent = 1 - BIAS;
    double scale = ldexp(1, MANTISSA - exponent);
    for (unsigned c = 0; c < 3; c++) {
        double mantissa = pixel[c] * scale;
        unsigned whole = (unsigned)(mantissa + 0.5);
        if (whole > 255)
            whole = 255;
        lost->rounded += mantissa != whole;
        rgbe[c] = (uint8_t)whole;
    }
    rgbe[3] = most > 0 ? (uint8_t)(exponent + BIAS) : 0;
}

void rgbe_from_floats(struct rgbe_row row, const struct image *img, uint32_t y,
                      struct rgbe_lost *lost)
{
    const float *floats[3];
    for (unsigned c = 0; c < 3; c++)
        floats[c] = plane_row(&img->plane[c], y);
    for (uint32_t x = 0; x < row.width; x++) {
        float pixel[3];
        uint8_t rgbe[PIXEL];
        for (unsigned c = 0; c < 3; c++)
            pixel[c] = clip(floats[c][x], lost);
        round_pixel(rgbe, pixel, lost);
        for (unsigned c = 0; c < PIXEL; c++)
            row.channel[c][x] = rgbe[c];
    }
}
