/* The check of a file that was just encoded: whole files pass. Files that are
 * cut, too long, of another picture or damaged under a checksum fail, and do
 * not replace their output. */
#include <unistd.h>
#include <zlib.h>

#include "cli/job/job.h"
#include "cli/options/options.h"
#include "codecs/base/byte_order.h"
#include "codecs/jpeg/parameters.h"
#include "cuda/backend.h"
#include "tests/support/formats.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/metadata.h"
#include "tests/support/png_file.h"

static struct warnings unheard;

static struct bytes encoded(const struct codec *codec, const struct image *img,
                            const struct save_opts *opts)
{
    struct bytes file = { 0 };
    struct err err = { .text = "" };
    CHECK(encode_as(codec, &file, img, opts, &err) == 0, "%s: %s", codec->name,
          err.text);
    return file;
}

static bool passes(const struct codec *codec, struct bytes file,
                   const struct image *img, const struct save_opts *opts)
{
    struct err err = { .text = "" };
    bool passed = codec->check(file, img, opts, &err) == 0;
    CHECK(passed == !*err.text, "%s: '%s'", codec->name, err.text);
    return passed;
}

static void check_codec(const struct codec *codec, enum cell cell,
                        uint32_t maxval, unsigned nplanes, uint32_t width,
                        uint32_t height)
{
    uint32_t adler = 0;
    enum color color = nplanes == 3 ? COLOR_RGB : COLOR_GRAY;
    owned_image img =
        random_picture(cell, maxval, color, nplanes, width, height);
    struct save_opts opts = { .suffix = codec->name,
                              .adler = &adler,
                              .warnings = &unheard };
    owned_bytes file = encoded(codec, &img, &opts);
    CHECK(passes(codec, file, &img, &opts), "%s, whole", codec->name);
    /* Each in memory that ends where it does, for the sanitizer to see. */
    struct image other = img;
    for (size_t size = 0; size < file.size; size++) {
        owned_bytes cut = copied(file.data, size);
        CHECK(!passes(codec, cut, &img, &opts), "%s cut to %zu of %zu",
              codec->name, size, file.size);
    }
    owned_memory uint8_t *more = calloc(1, file.size + 1);
    memcpy(more, file.data, file.size);
    CHECK(!passes(codec, (struct bytes){ more, file.size + 1, 0 }, &img, &opts),
          "%s with a byte more", codec->name);
    other.width++;
    CHECK(!passes(codec, file, &other, &opts), "%s, another width",
          codec->name);
    other = img;
    other.height--;
    CHECK(!passes(codec, file, &other, &opts), "%s, another height",
          codec->name);
}

/* The chunks IDAT, put together and inflated, sum up to what is said. */
static uint32_t adler_of(struct bytes file, size_t raw)
{
    owned_memory uint8_t *all = malloc(file.size), *out = malloc(raw);
    size_t n = 0;
    uLongf size = raw;
    for (size_t at = 8; at < file.size; at += 12 + read_be32(file.data + at)) {
        if (memcmp(file.data + at + 4, "IDAT", 4) != 0)
            continue;
        memcpy(all + n, file.data + at + 8, read_be32(file.data + at));
        n += read_be32(file.data + at);
    }
    CHECK(uncompress(out, &size, all, n) == Z_OK && size == raw, "%zu",
          (size_t)size);
    uint32_t adler = (uint32_t)adler32(1, out, (uInt)raw);
    return adler;
}

TEST(png_bytes)
{
    uint32_t adler = 0;
    owned_image img = random_picture(CELL_U8, 255, COLOR_RGB, 3, 700, 600);
    struct save_opts opts = { .suffix = "png",
                              .adler = &adler,
                              .warnings = &unheard };
    owned_bytes file = encoded(&codec_png, &img, &opts);
    CHECK(adler == adler_of(file, (3 * 700 + 1) * 600), "%08x", adler);
    for (size_t at = 0; at < file.size; at += at < 64 ? 1 : 997) {
        file.data[at] ^= 16;
        CHECK(!passes(&codec_png, file, &img, &opts), "byte %zu changed", at);
        file.data[at] ^= 16;
    }
    adler++;
    CHECK(!passes(&codec_png, file, &img, &opts), "other samples");
}

static void add_fctl(struct bytes *file, uint8_t number, uint8_t width)
{
    const uint8_t fctl[26] = { [3] = number, [7] = width, [11] = 5 };
    add_chunk(file, "fcTL", fctl, sizeof fctl);
}

/* An animation of three frames of 7 x 5 pixels, the first of which is the
 * picture. */
static struct bytes animation(void)
{
    const struct shape shape = { 7, 5, 8, RGB, false };
    struct bytes file = { 0 }, raw = { 0 };
    add_head(&file, &shape);
    add_chunk(&file, "acTL", "\0\0\0\3\0\0\0\0", 8);
    add_fctl(&file, 0, 7);
    add_pixels(&file, &shape, 1, SIZE_MAX);
    add_rows(&raw, &shape, 2);
    for (uint8_t i = 0; i < 2; i++) {
        owned_bytes fdat = { 0 };
        add_big(&fdat, 2u * i + 2, 4);
        add_deflated(&fdat, raw.data, raw.size);
        add_fctl(&file, (uint8_t)(2 * i + 1), 7);
        add_chunk(&file, "fdAT", fdat.data, fdat.size);
    }
    add_end(&file);
    bytes_free(&raw);
    return file;
}

/* Changes a byte of a chunk, and its CRC accordingly. */
static void change_soundly(uint8_t *chunk, size_t byte)
{
    size_t size = read_be32(chunk);
    chunk[8 + byte] ^= 16;
    write_be32(chunk + 8 + size, (uint32_t)crc32(0, chunk + 4, (uInt)size + 4));
}

/* An animation in which a chunk is missing, or a number of one is wrong. */
TEST(png_frames)
{
    static const size_t numbers[] = { 3, 7, 15 }; /* sequence, width, x */
    owned_image img;
    struct err err;
    const struct load_opts load = small_load(&unheard);
    struct save_opts opts = plain_save(&unheard);
    owned_bytes input = animation();
    must(codec_read(&codec_png, &img, input, &load, &err) == 0);
    owned_bytes file = encoded(&codec_png, &img, &opts);
    CHECK(passes(&codec_png, file, &img, &opts), "whole");
    img.meta->animation.frames--;
    CHECK(!passes(&codec_png, file, &img, &opts), "more frames than before");
    img.meta->animation.frames++;
    for (size_t at = 8; at < file.size; at += 12 + read_be32(file.data + at)) {
        uint8_t *chunk = file.data + at;
        size_t size = 12 + read_be32(chunk);
        owned_bytes less = { 0 };
        must(bytes_append(&less, file.data, at) &&
             bytes_append(&less, chunk + size, file.size - at - size));
        CHECK(!passes(&codec_png, less, &img, &opts), "without %.4s",
              (char *)chunk + 4);
        bool control = memcmp(chunk + 4, "fcTL", 4) == 0;
        bool data = memcmp(chunk + 4, "fdAT", 4) == 0;
        for (size_t i = 0; i < (control ? 3 : data); i++) {
            change_soundly(chunk, numbers[i]);
            CHECK(!passes(&codec_png, file, &img, &opts), "%.4s, byte %zu",
                  (char *)chunk + 4, numbers[i]);
            change_soundly(chunk, numbers[i]);
        }
    }
}

/* A file whose image data is missing, with all else as it should be: what was
 * written where memory ran out. */
TEST(png_without_samples)
{
    owned_image img = random_picture(CELL_U8, 255, COLOR_RGB, 3, 20, 10);
    struct save_opts opts = { .suffix = "png", .warnings = &unheard };
    owned_bytes file = encoded(&codec_png, &img, &opts);
    size_t at = 8;
    while (memcmp(file.data + at + 4, "IDAT", 4) != 0)
        at += 12 + read_be32(file.data + at);
    remove_bytes(&file, at, 12 + read_be32(file.data + at));
    CHECK(!passes(&codec_png, file, &img, &opts), "no IDAT");
}

/* A frame that says something else, and a scan that lacks a restart marker. */
TEST(jpeg_bytes)
{
    static uint8_t data[1 << 16];
    struct fixture *f = fixture_new(&codec_jpeg);
    FILE *in = fopen("samples/f.jpg", "rb");
    struct bytes was = { data, in ? fread(data, 1, sizeof data, in) : 0, 0 };
    if (in)
        fclose(in);
    f->plan.representation = REPRESENTATION_COEFFICIENTS;
    fixture_read(f, was);
    owned_image img = fixture_take_img(f);
    struct save_opts opts = { .suffix = "jpg", .warnings = &unheard };
    parameters_forget_coded(parameters_of(img.meta));
    parameters_of(img.meta)->restart = 2;
    owned_bytes file = encoded(&codec_jpeg, &img, &opts);
    CHECK(passes(&codec_jpeg, file, &img, &opts), "whole");
    const size_t frame = find_marker(file, 2, 0xc0, 0xc0);
    for (size_t i = 4; i < 10; i++) {
        file.data[frame + i] ^= 1;
        CHECK(!passes(&codec_jpeg, file, &img, &opts), "frame, byte %zu", i);
        file.data[frame + i] ^= 1;
    }
    const size_t marker = find_marker(file, frame, 0xd1, 0xd1);
    REQUIRE(marker < file.size, "there is a restart marker");
    file.data[marker] = 0;
    CHECK(!passes(&codec_jpeg, file, &img, &opts), "a marker is missing");
}

/* ---- Nothing is replaced by less ------------------------------------------
 */

static int encode_half(struct bytes *file, const struct image *img,
                       const struct save_opts *opts, struct err *err)
{
    int status = encode_as(&codec_png, file, img, opts, err);
    file->size /= 2;
    return status;
}

TEST(job)
{
    char input[] = "samples/f-rgb.png", output[] = "/tmp/gimgxf-test-XXXXXX",
         now[8] = "";
    struct codec half = codec_png;
    struct options opts;
    struct result result;
    struct err err = { .text = "" };
    half.encode = encode_half;
    int fd = mkstemp(output);
    CHECK(fd >= 0 && write(fd, "before", 6) == 6, "%s", output);
    char program[] = "gimgxf", op[] = "rotate90", as[] = "--format=png";
    char *words[] = { program, op, as, input, output, NULL };
    CHECK(command_line_parse(&opts, 5, words, &err) == 0, "%s", err.text);
    struct job job = { .input = input,
                       .output = output,
                       .opts = &opts,
                       .format = &half,
                       .format_name = "png",
                       .tools.backend = &backend_cpu };
    struct lane_opts one = { 0 };
    CHECK(backend_cpu.open(&job.tools.lane, &one, &err) == 0, "%s", err.text);
    CHECK(job_run(&job, &result, &err) != 0, "half a file");
    CHECK(strstr(err.text, "not whole") && strstr(err.text, "report"), "%s",
          err.text);
    CHECK(result.last == STAGE_ENCODE, "stage %d", (int)result.last);
    CHECK(pread(fd, now, sizeof now, 0) == 6 && strcmp(now, "before") == 0,
          "'%s'", now);
    backend_cpu.close(job.tools.lane);
    close(fd);
    unlink(output);
}

TEST(codecs)
{
    check_codec(&codec_png, CELL_U8, 255, 3, 19, 11);
    check_codec(&codec_png, CELL_U16, 65535, 1, 19, 11);
    check_codec(&codec_jpeg, CELL_U8, 255, 3, 19, 21);
    check_codec(&codec_jpeg, CELL_U8, 255, 1, 19, 21);
    check_codec(&codec_bmp, CELL_U8, 255, 3, 19, 11);
    check_codec(&codec_tga, CELL_U8, 255, 3, 19, 11);
    check_codec(&codec_hdr, CELL_F32, 0, 3, 19, 11);
    check_codec(&codec_hdr, CELL_F32, 0, 3, 5, 11);
    check_codec(&codec_pnm, CELL_U8, 255, 3, 19, 11);
    check_codec(&codec_pnm, CELL_U8, 1, 1, 19, 11);
    check_codec(&codec_pnm, CELL_U16, 1000, 1, 19, 11);
    check_codec(&codec_pam, CELL_U16, 65535, 3, 19, 11);
    check_codec(&codec_pfm, CELL_F32, 0, 3, 19, 11);
    check_codec(&codec_npy, CELL_F32, 0, 3, 19, 11);
}
