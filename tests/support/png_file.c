/* PNG files as the tests make and read them; see png_file.h. */
#include "tests/support/png_file.h"

#include <zlib.h>

#include "tests/support/fixture.h"
#include "tests/support/metadata.h"

unsigned shape_channels(const struct shape *s)
{
    static const uint8_t channels[] = { 1, 0, 3, 1, 2, 0, 4 };
    return channels[s->type];
}

unsigned shape_sample(const struct shape *s, unsigned c, uint32_t x, uint32_t y)
{
    uint32_t hash = (x + 1) * 2654435761u ^ (y + 1) * 2246822519u;
    hash ^= (c + 1) * 3266489917u;
    hash = (hash ^ hash >> 15) * 2246822519u;
    return (hash ^ hash >> 13) & ((1u << s->depth) - 1);
}

unsigned shape_passes(const struct shape *s, struct pass pass[7])
{
    static const uint8_t adam7[7][4] = {
        { 0, 0, 8, 8 }, { 4, 0, 8, 8 }, { 0, 4, 4, 8 }, { 2, 0, 4, 4 },
        { 0, 2, 2, 4 }, { 1, 0, 2, 2 }, { 0, 1, 1, 2 },
    };
    unsigned count = 0;
    if (!s->adam7) {
        pass[0] = (struct pass){ 0, 0, 1, 1, s->width, s->height };
        return 1;
    }
    for (unsigned i = 0; i < 7; i++) {
        struct pass p = { adam7[i][0], adam7[i][1], adam7[i][2],
                          adam7[i][3], 0,           0 };
        p.width = (s->width + p.dx - 1 - p.x) / p.dx;
        p.height = (s->height + p.dy - 1 - p.y) / p.dy;
        if (p.x < s->width && p.y < s->height)
            pass[count++] = p;
    }
    return count;
}

size_t pass_row_bytes(const struct shape *s, const struct pass *p)
{
    return ((size_t)p->width * shape_channels(s) * s->depth + 7) / 8;
}

unsigned plain_paeth(unsigned a, unsigned b, unsigned c)
{
    int p = (int)a + (int)b - (int)c;
    int pa = abs(p - (int)a), pb = abs(p - (int)b), pc = abs(p - (int)c);
    return pa <= pb && pa <= pc ? a : pb <= pc ? b : c;
}

void plain_filter(unsigned filter, bool undo, const uint8_t *row,
                  const uint8_t *above, size_t size, size_t pixel, uint8_t *out)
{
    const uint8_t *plain = undo ? out : row;
    for (size_t i = 0; i < size; i++) {
        unsigned a = i < pixel ? 0 : plain[i - pixel], b = above[i];
        unsigned c = i < pixel ? 0 : above[i - pixel];
        const unsigned guess[] = { 0, a, b, (a + b) / 2, plain_paeth(a, b, c) };
        out[i] =
            (uint8_t)(undo ? row[i] + guess[filter] : row[i] - guess[filter]);
    }
}

/* ---- Making ---------------------------------------------------------------*/

void add_chunk(struct bytes *file, const char *name, const void *data,
               size_t size)
{
    add_big(file, (uint32_t)size, 4);
    size_t begin = file->size;
    must(bytes_append(file, name, 4) && bytes_append(file, data, size));
    uLong crc = crc32(0, file->data + begin, (uInt)(4 + size));
    add_big(file, (uint32_t)crc, 4);
}

void add_head(struct bytes *file, const struct shape *s)
{
    owned_bytes head = { 0 };
    uint8_t rest[5] = { (uint8_t)s->depth, (uint8_t)s->type, 0, 0, s->adam7 };
    must(bytes_append(file, "\x89PNG\r\n\x1a\n", 8));
    add_big(&head, s->width, 4);
    add_big(&head, s->height, 4);
    must(bytes_append(&head, rest, sizeof rest));
    add_chunk(file, "IHDR", head.data, head.size);
}

static void pack_row(const struct shape *s, const struct pass *p, uint32_t row,
                     uint8_t *out)
{
    size_t at = 0; /* in bits */
    uint32_t y = p->y + row * p->dy;
    for (uint32_t i = 0; i < p->width; i++)
        for (unsigned c = 0; c < shape_channels(s); c++) {
            unsigned v = shape_sample(s, c, p->x + i * p->dx, y);
            for (unsigned bit = s->depth; bit-- > 0; at++)
                out[at / 8] |= (v >> bit & 1) << (7 - at % 8);
        }
}

void add_rows(struct bytes *raw, const struct shape *s, unsigned filter)
{
    struct pass pass[7];
    unsigned count = shape_passes(s, pass), rows = 0;
    size_t step = (shape_channels(s) * s->depth + 7) / 8;
    for (unsigned i = 0; i < count; i++) {
        size_t size = pass_row_bytes(s, &pass[i]);
        uint8_t *row = calloc(3, size), *above = row + size;
        must(row);
        for (uint32_t y = 0; y < pass[i].height; y++, rows++) {
            uint8_t *out = above + size;
            uint8_t f = (uint8_t)(filter == FILTER_ALL ? rows % 5 : filter);
            memset(row, 0, size);
            pack_row(s, &pass[i], y, row);
            plain_filter(f, false, row, above, size, step, out);
            must(bytes_append(raw, &f, 1) && bytes_append(raw, out, size));
            memcpy(above, row, size);
        }
        free(row);
    }
}

void add_deflated(struct bytes *to, const void *data, size_t size)
{
    uLongf made = compressBound(size);
    must(bytes_reserve(to, made) &&
         compress2(to->data + to->size, &made, data, size, 6) == Z_OK);
    to->size += made;
}

void add_words(struct bytes *to, const char *keyword, size_t lead,
               bool deflated, struct bytes text)
{
    static const uint8_t zeros[8];
    must(lead <= sizeof zeros && bytes_append(to, keyword, strlen(keyword)) &&
         bytes_append(to, zeros, 1) && bytes_append(to, zeros, lead));
    if (deflated)
        add_deflated(to, text.data, text.size);
    else
        must(bytes_append(to, text.data, text.size));
}

void add_pixels(struct bytes *file, const struct shape *s, unsigned filter,
                size_t piece)
{
    owned_bytes raw = { 0 }, z = { 0 };
    add_rows(&raw, s, filter);
    add_deflated(&z, raw.data, raw.size);
    for (size_t at = 0; at < z.size; at += piece)
        add_chunk(file, "IDAT", z.data + at,
                  z.size - at < piece ? z.size - at : piece);
}

void add_palette(struct bytes *file, unsigned colors)
{
    uint8_t palette[256][3];
    for (unsigned i = 0; i < colors; i++)
        for (unsigned c = 0; c < 3; c++)
            palette[i][c] = (uint8_t)((i + 1) * (37 + 34 * c));
    add_chunk(file, "PLTE", palette, (size_t)3 * colors);
}

void add_end(struct bytes *file)
{
    add_chunk(file, "IEND", NULL, 0);
}

struct bytes make_png(const struct shape *s, unsigned filter, size_t piece)
{
    struct bytes file = { 0 };
    add_head(&file, s);
    if (s->type == PALETTE)
        add_palette(&file, 1u << s->depth);
    add_pixels(&file, s, filter, piece);
    add_end(&file);
    return file;
}

/* ---- Reading --------------------------------------------------------------*/

struct chunks read_chunks(struct bytes file)
{
    struct chunks list = { .count = 0 };
    size_t at = 8;
    REQUIRE(file.size >= 8 && !memcmp(file.data, "\x89PNG\r\n\x1a\n", 8),
            "no PNG");
    while (file.size - at >= 12 && list.count < CHUNKS_MAX) {
        const uint8_t *p = file.data + at;
        struct chunk *c = &list.chunk[list.count++];
        *c = (struct chunk){ .data = p + 8, .size = read_be32(p) };
        memcpy(c->name, p + 4, 4);
        REQUIRE(c->size <= file.size - at - 12 &&
                    crc32(0, p + 4, (uInt)(4 + c->size)) ==
                        read_be32(p + 8 + c->size),
                "no %s", c->name);
        at += 12 + c->size;
        if (strcmp(c->name, "IEND") == 0) {
            REQUIRE(c->size == 0 && at == file.size, "more than the end");
            return list;
        }
    }
    REQUIRE(false, "no end");
    return list;
}

const struct chunk *find_chunk(const struct chunks *list, const char *name)
{
    for (size_t i = 0; i < list->count; i++)
        if (strcmp(list->chunk[i].name, name) == 0)
            return &list->chunk[i];
    return NULL;
}

bool chunk_is(const struct chunk *chunk, struct bytes data)
{
    return chunk && chunk->size == data.size &&
           (!data.size || !memcmp(chunk->data, data.data, data.size));
}

/* ---- As the codec has them ------------------------------------------------*/

struct image shape_image(const struct shape *s)
{
    struct err err;
    struct image img = {
        .cell = s->depth == 16 ? CELL_U16 : CELL_U8,
        .width = s->width,
        .height = s->height,
        .nplanes = shape_channels(s),
    };
    must(image_alloc(&img, mem_plain, &err) == 0);
    img.maxval = (1u << s->depth) - 1;
    img.color = s->type == PALETTE ? COLOR_INDEXED
                : s->type & 2      ? COLOR_RGB
                                   : COLOR_GRAY;
    img.alpha = s->type & 4;
    memset(img.pixels.rows.cells, 0xa5, img.pixels.rows.size);
    return img;
}

void image_set_sample(struct image *img, unsigned c, uint32_t x, uint32_t y,
                      unsigned value)
{
    uint8_t *row = plane_row(&img->plane[c], y);
    if (img->cell == CELL_U16)
        ((uint16_t *)row)[x] = (uint16_t)value;
    else
        row[x] = (uint8_t)value;
}

bool image_holds(const struct image *img, const uint16_t *cells)
{
    for (uint32_t y = 0; y < img->height; y++)
        for (uint32_t x = 0; x < img->width; x++)
            for (unsigned c = 0; c < img->nplanes; c++)
                if (*cells++ != cell_at(img, c, x, y))
                    return false;
    return true;
}
