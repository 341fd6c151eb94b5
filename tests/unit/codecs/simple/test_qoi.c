/* QOI files of every kind of chunk are read, are written as the reference
 * encoder does, and a cut file is never taken for a whole one. */
#include "codecs/simple/simple.h"

#include "tests/support/formats.h"

#define END "\0\0\0\0\0\0\0\1"

static struct bytes make_qoi(uint32_t width, uint32_t height, unsigned channels,
                             const char *chunks, size_t size)
{
    struct bytes file = { 0 };
    uint8_t head[14] = "qoif";
    write_be32(head + 4, width);
    write_be32(head + 8, height);
    head[12] = (uint8_t)channels;
    must(bytes_append(&file, head, sizeof head));
    must(bytes_append(&file, chunks, size));
    return file;
}

/* The file has these samples and, if the reference encoder would write it so,
 * stays the `same`. */
static void qoi_is(struct bytes file, const double *want, bool same)
{
    const uint8_t *p = file.data;
    check_file(&codec_qoi, p, file.size, read_be32(p + 4), read_be32(p + 8),
               p[12], want, NULL);
    check_cuts(&codec_qoi, p, file.size, 0);
    if (same)
        check_rewritten(&codec_qoi, p, file.size, "qoi", XFORM_NONE, p,
                        file.size);
    check_hostile(&codec_qoi, p, file.size, file.size);
    bytes_free(&file);
}

TEST(qoi_chunks)
{
    /* All differences wrap around. Of luma, red and blue count from green. */
    qoi_is(make_qoi(3, 2, 3,
                    TEXT("\x55\x7f\xfe\x0a\x14\x1e\xbf\xf0\xb2\x88\xc0" END)),
           SAMPLES(255, 255, 255, 0, 0, 0, 10, 20, 30, 48, 51, 53, 66, 69, 71,
                   66, 69, 71),
           true);
    /* Alpha, an entry of the table that nothing has filled, and one that has
     * been: 3 * 1 + 5 * 2 + 7 * 3 + 11 * 4 = 78, which is 14 of 64. */
    qoi_is(make_qoi(2, 2, 4, TEXT("\xff\1\2\3\4\x05\x0e\xc0" END)),
           SAMPLES(1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4), false);
    qoi_is(make_qoi(2, 2, 4, TEXT("\xff\1\2\3\4\x00\x0e\xc0" END)),
           SAMPLES(1, 2, 3, 4, 0, 0, 0, 0, 1, 2, 3, 4, 1, 2, 3, 4), true);
    /* A reader notes the color of a run that begins the picture, too: black is
     * 255 * 11, which is 53 of 64. */
    qoi_is(make_qoi(3, 1, 3, TEXT("\xc0\x7f\x35" END)),
           SAMPLES(0, 0, 0, 1, 1, 1, 0, 0, 0), false);
    /* A run goes on in the next row, and may be said to be too long. */
    qoi_is(make_qoi(1, 3, 3, TEXT("\x6a\xfd" END)),
           SAMPLES(0, 0, 0, 0, 0, 0, 0, 0, 0), false);
}

/* Runs end after 62 pixels, as the picture does. */
TEST(qoi_runs)
{
    double black[126 * 3] = { 0 };
    qoi_is(make_qoi(63, 2, 3, TEXT("\xfd\xfd\xc1" END)), black, true);
    qoi_is(make_qoi(62, 2, 3, TEXT("\xfd\xfd" END)), black, true);
}

TEST(qoi_ends)
{
    const double *two = SAMPLES(1, 1, 1, 1, 1, 1);
    owned_bytes file = make_qoi(2, 1, 3, TEXT("\x7f\xc0" END "more"));
    check_file(&codec_qoi, file.data, file.size, 2, 1, 3, two,
               "4 bytes after the picture are not kept");
    file.data[23] = 2;
    check_file(&codec_qoi, file.data, file.size, 2, 1, 3, two,
               "12 bytes after the picture are not kept");
    check_tolerated(&codec_qoi, file.data, 15, SAMPLES(1, 1, 1, 0, 0, 0), CUT);
    file.data[12] = 5;
    check_refused(&codec_qoi, file.data, file.size,
                  "it has 5 channels; a QOI has 3 or 4");
    file.data[12] = 3;
    file.data[13] = 2;
    check_refused(&codec_qoi, file.data, file.size,
                  "its color space is 2; a QOI has 0 or 1");
    file.data[13] = 1;
    file.data[23] = 1;
    check_file_read(&codec_qoi, PORTABLE, file.data, 24, 2, 1, 3, two,
                    "its samples are linear, which another format does not "
                    "say");
    check_rewritten(&codec_qoi, file.data, 24, "qoi", XFORM_NONE, file.data,
                    24);
}

TEST(qoi_round_trips)
{
    for (uint32_t width = 1; width < 140; width += width < 9 ? 1 : 43)
        for (unsigned n = 3; n <= 4; n++) {
            owned_image img =
                random_picture(CELL_U8, 255, COLOR_RGB, n, width, 7);
            check_round_trip(&codec_qoi, &img, "qoi");
            for (size_t i = 0; i < img.pixels.rows.size; i++)
                img.pixels.rows.cells[i] %= 1 + width % 40;
            check_round_trip(&codec_qoi, &img, "qoi");
        }
}
