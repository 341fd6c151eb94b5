/* The fixture of the tests of codecs; see fixture.h. */
#include "tests/support/fixture.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/codec_read.h"
#include "tests/support/encode.h"
#include "tests/support/oracle.h"

struct load_opts small_load(struct warnings *warnings)
{
    return (struct load_opts){ .limits = small_limits,
                               .mem = mem_plain,
                               .warnings = warnings };
}

struct save_opts plain_save(struct warnings *warnings)
{
    return (struct save_opts){ .suffix = "",
                               .turner = &turner_of_cells,
                               .warnings = warnings };
}

struct fixture *fixture_new(const struct codec *codec)
{
    struct fixture *f = calloc(1, sizeof *f);
    if (!f)
        abort();
    f->codec = codec;
    f->load = small_load(&f->warnings);
    f->save = plain_save(&f->warnings);
    return f;
}

int fixture_decode(struct fixture *f, struct bytes file)
{
    image_free(&f->img);
    f->err = (struct err){ .text = "" };
    return codec_decode_file(f->codec, &f->img, file, &f->load, &f->plan,
                             &f->err);
}

int fixture_encode(struct fixture *f)
{
    bytes_free(&f->made);
    f->err = (struct err){ .text = "" };
    return encode_as(f->codec, &f->made, &f->img, &f->save, &f->err);
}

void fixture_free(struct fixture *f)
{
    image_free(&f->img);
    bytes_free(&f->made);
    free(f);
}

struct image fixture_take_img(struct fixture *f)
{
    struct image img = f->img;
    f->img = (struct image){ 0 };
    fixture_free(f);
    return img;
}

struct bytes fixture_take_made(struct fixture *f)
{
    struct bytes made = f->made;
    f->made = (struct bytes){ 0 };
    fixture_free(f);
    return made;
}

bool is_warned(const struct warnings *warnings, const char *words)
{
    for (unsigned i = 0; i < warnings->count && i < WARNINGS_MAX; i++)
        if (strstr(warnings->list[i].text, words))
            return true;
    return false;
}

unsigned cell_at(const struct image *img, unsigned c, uint32_t x, uint32_t y)
{
    const uint8_t *row = plane_row(&img->plane[c], y);
    uint16_t wide;
    if (img->cell == CELL_U8)
        return row[x];
    memcpy(&wide, row + 2 * (size_t)x, 2);
    return wide;
}
