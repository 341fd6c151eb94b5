/* Pictures on their way through a codec; see fixture.h. */
#include "tests/support/fixture.h"

#include "codecs/metadata/metadata.h"

/* ---- Memory ----*/

static void *garbage_alloc(void *context, size_t size)
{
    void *memory = mem_plain.alloc(context, size);
    return memory ? memset(memory, 0xa5, size) : NULL;
}

static void garbage_free(void *context, void *memory)
{
    mem_plain.free(context, memory);
}

const struct mem garbage_memory = { .alloc = garbage_alloc,
                                    .free = garbage_free };

static void *counted_alloc(void *context, size_t size)
{
    struct counted *counted = context;
    counted->calls++;
    counted->bytes += size;
    if (size > counted->most)
        counted->most = size;
    return garbage_alloc(NULL, size);
}

static void counted_free(void *context, void *memory)
{
    struct counted *counted = context;
    counted->freed += !!memory;
    mem_plain.free(NULL, memory);
}

struct mem counted_memory(struct counted *counted)
{
    return (struct mem){ counted_alloc, counted_free, counted };
}

/* ---- Comparing ----*/

static bool same_plane(const struct plane *a, const struct plane *b,
                       size_t cell)
{
    if (a->width != b->width || a->height != b->height)
        return false;
    for (uint32_t y = 0; y < a->height; y++)
        if (memcmp(plane_row(a, y), plane_row(b, y), a->width * cell))
            return false;
    return true;
}

bool same_cells(const struct image *a, const struct image *b)
{
    bool same = a->cell == b->cell && a->nplanes == b->nplanes &&
                a->width == b->width && a->height == b->height &&
                a->maxval == b->maxval;
    for (unsigned i = 0; same && i < a->nplanes; i++)
        same = same_plane(&a->plane[i], &b->plane[i], cell_size(a->cell));
    return same;
}

bool same_bytes(struct bytes a, struct bytes b)
{
    return a.size == b.size && (!a.size || !memcmp(a.data, b.data, a.size));
}

struct bytes copied(const void *data, size_t size)
{
    struct bytes copy = { malloc(size + !size), size, size + !size };
    must(copy.data);
    if (size)
        memcpy(copy.data, data, size);
    return copy;
}

struct bytes bytes_of(const char *text)
{
    return (struct bytes){ .data = (uint8_t *)(uintptr_t)text,
                           .size = strlen(text) };
}

/* ---- Encoding ----*/

static void copy_bytes(struct bytes *to)
{
    *to = copied(to->data, to->size);
}

/* The codec's state is lent. */
static struct meta *copy_meta(const struct meta *from)
{
    struct meta *to = meta_new(from->codec);
    must(to);
    *to = *from;
    to->block = NULL;
    to->array = NULL;
    to->nblocks = 0;
    for (size_t i = 0; i < from->nblocks; i++) {
        struct metadata_block was = from->block[i];
        struct metadata_block *block =
            meta_add(to, was.name, was.where, was.data, was.size);
        must(block);
        was.data = block->data;
        *block = was;
    }
    copy_bytes(&to->icc);
    copy_bytes(&to->exif);
    copy_bytes(&to->xmp);
    copy_bytes(&to->comment);
    return to;
}

int encode_as(const struct codec *codec, struct bytes *file,
              const struct image *img, const struct save_opts *save,
              struct err *err)
{
    struct image copy = *img;
    struct save_opts with_turner = *save;
    with_turner.turner = &turner_of_cells;
    save = &with_turner;
    if (img->meta)
        copy.meta = copy_meta(img->meta);
    int status = metadata_turn(&copy, codec, save, err);
    if (status == 0)
        status = codec->encode(file, &copy, save, err);
    if (copy.meta)
        copy.meta->state = NULL; /* it was lent */
    meta_free(copy.meta);
    return status;
}

/* ---- The fixture ----*/

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
    must(f);
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

void fixture_read(struct fixture *f, struct bytes file)
{
    REQUIRE(fixture_decode(f, file) == 0, "%s", f->err.text);
}

void fixture_write(struct fixture *f)
{
    REQUIRE(fixture_encode(f) == 0, "%s", f->err.text);
}

struct bytes fixture_turned(struct fixture *f, struct bytes file)
{
    fixture_read(f, file);
    if (f->img.turned != f->plan.turn)
        turn_image(&f->img, f->plan.turn);
    fixture_write(f);
    CHECK(f->warnings.count == 0, "%s", f->warnings.list[0].text);
    return fixture_take_made(f);
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

struct bytes turn_jpeg(struct bytes file, enum xform t,
                       struct warnings *warnings)
{
    struct fixture *f = fixture_new(&codec_jpeg);
    f->load.warnings = warnings;
    f->save.warnings = warnings;
    f->save.orientation = 1;
    must(!fixture_decode(f, file));
    turn_image(&f->img, t);
    must(!fixture_encode(f));
    return fixture_take_made(f);
}

bool jpeg_can_turn(struct bytes file, enum representation representation,
                   enum xform t)
{
    owned_fixture *f = fixture_new(&codec_jpeg);
    struct stream_info info;
    f->load.limits.pixels = UINT64_MAX;
    must(codec_look(&codec_jpeg, &info, file, &f->load, &f->err) == 0);
    return stream_info_can_turn(&info, representation, t);
}
