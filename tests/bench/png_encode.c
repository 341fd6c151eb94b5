/* How large a PNG becomes and what that costs, on one thread, without reading
 * or writing files.
 *
 *     png_encode FILE ROUNDS LEVEL...
 *
 * Prints for each level its number, the bytes of the file, the least seconds of
 * CPU of all rounds, and the millions of bytes of samples each second. */
#include <stdio.h>
#include <stdlib.h>

#include "codecs/base/clock.h"
#include "tests/support/fixture.h"

static void stop(const char *why)
{
    fprintf(stderr, "png_encode: %s\n", why);
    exit(1);
}

static void read_whole(struct bytes *file, const char *name)
{
    uint8_t part[1 << 16];
    size_t n;
    FILE *f = fopen(name, "rb");
    if (!f)
        stop("the file cannot be opened");
    while ((n = fread(part, 1, sizeof part, f)) > 0)
        if (!bytes_append(file, part, n))
            stop("no memory");
    fclose(f);
}

static void decode(struct image *img, const char *name)
{
    struct warnings warnings = { 0 };
    struct load_opts load = { .limits = { .pixels = 1u << 30,
                                          .bytes = SIZE_MAX },
                              .mem = mem_plain,
                              .warnings = &warnings };
    struct bytes file = { 0 };
    struct err err;
    read_whole(&file, name);
    if (codec_read(&codec_png, img, file, &load, &err))
        stop(err.text);
    bytes_free(&file);
}

static void measure(const struct image *img, int level, int rounds)
{
    struct warnings warnings = { 0 };
    struct save_opts save = { .suffix = "png",
                              .effort = 1 + level,
                              .warnings = &warnings };
    double least = 1e9;
    struct bytes file = { 0 };
    while (rounds-- > 0) {
        struct err err;
        file.size = 0; /* its memory serves again, as where it is flushed */
        double begin = clock_seconds(CLOCK_PROCESS_CPUTIME_ID);
        if (codec_png.encode(&file, img, &save, &err))
            stop(err.text);
        double took = clock_seconds(CLOCK_PROCESS_CPUTIME_ID) - begin;
        least = took < least ? took : least;
    }
    double samples = (double)img->width * img->height * img->nplanes *
                     (double)cell_size(img->cell);
    printf("%d %zu %.4f %.1f\n", level, file.size, least,
           samples / least / 1e6);
    fflush(stdout);
    bytes_free(&file);
}

int main(int argc, char **argv)
{
    struct image img;
    if (argc < 4)
        stop("png_encode FILE ROUNDS LEVEL...");
    decode(&img, argv[1]);
    for (int i = 3; i < argc; i++)
        measure(&img, atoi(argv[i]), atoi(argv[2]));
    image_free(&img);
    return 0;
}
