/* A frame of an animated PNG as a file of its own. */
#include "codecs/png/frame_file.h"

#include <string.h>

#include "codecs/png/animation.h"
#include "codecs/png/chunk.h"
#include "codecs/png/png.h"

bool is_frame_block(const struct metadata_block *block, const char *name)
{
    return block->kind == BLOCK_FRAME && !block->dropped &&
           strcmp(block->name, name) == 0;
}

bool frame_find(struct frame_blocks *frame, const struct meta *meta, size_t *at)
{
    size_t i = *at, end;
    while (i < meta->nblocks && !is_frame_block(&meta->block[i], "fcTL"))
        i++;
    if (i == meta->nblocks)
        return false;
    for (end = i + 1; end < meta->nblocks; end++)
        if (is_frame_block(&meta->block[end], "fcTL"))
            break;
    *frame = (struct frame_blocks){ i, end };
    *at = end;
    return true;
}

bool frame_is_default(const struct meta *meta, struct frame_blocks frame)
{
    return meta->block[frame.begin].where != PNG_PLACE_AFTER_IDAT;
}

static bool add_chunk(struct bytes *file, const char *name, const void *data,
                      size_t size)
{
    struct metadata_block block = { .data = (uint8_t *)(uintptr_t)data,
                                    .size = size };
    memcpy(block.name, name, 5);
    return chunks_frame(file, &block);
}

static bool add_head(struct bytes *file, const struct image *img,
                     struct frame_place place)
{
    const struct meta *meta = img->meta;
    uint8_t ihdr[13] = { [8] = (uint8_t)image_bits(img),
                         [9] = ihdr_color_type(img),
                         [12] = meta->interlaced };
    uint8_t colors[256 * 3];
    write_be32(ihdr, place.width);
    write_be32(ihdr + 4, place.height);
    for (unsigned i = 0; i < meta->ncolors; i++)
        memcpy(colors + 3 * i, meta->palette[i], 3);
    return bytes_append(file, "\x89PNG\r\n\x1a\n", PNG_SIGNATURE) &&
           add_chunk(file, "IHDR", ihdr, sizeof ihdr) &&
           (meta->ncolors == 0 ||
            add_chunk(file, "PLTE", colors, 3 * meta->ncolors));
}

/* Appends a tRNS of what the meta says: to look for that of the picture, among
 * many blocks, for each of many frames would take long. */
static bool add_transparency(struct bytes *file, const struct image *img)
{
    const struct meta *meta = img->meta;
    uint8_t alphas[256], key[3 * 2];
    for (unsigned i = 0; i < meta->nalphas; i++)
        alphas[i] = meta->palette[i][3];
    for (unsigned i = 0; meta->keyed && i < img->nplanes; i++)
        write_be16(key + 2 * i, meta->key[i]);
    return (meta->nalphas == 0 ||
            add_chunk(file, "tRNS", alphas, meta->nalphas)) &&
           (!meta->keyed || add_chunk(file, "tRNS", key, 2 * img->nplanes));
}

bool frame_make_file(struct bytes *file, const struct image *img,
                     struct frame_blocks frame)
{
    const struct metadata_block *block = img->meta->block;
    bool made =
        add_head(file, img, frame_place_read(block[frame.begin].data)) &&
        add_transparency(file, img);
    for (size_t i = frame.begin; i < frame.end && made; i++)
        if (is_frame_block(&block[i], "fdAT"))
            made = add_chunk(file, "IDAT", block[i].data + SEQUENCE,
                             block[i].size - SEQUENCE);
    return made && add_chunk(file, "IEND", NULL, 0);
}

int frame_decode(struct image *frame, const struct image *img,
                 struct frame_blocks blocks, const struct load_opts *opts,
                 struct err *err)
{
    /* For fewer pixels threads are not worth their start. */
    enum { WORTH_THREADS = 1 << 16 };
    const struct frame_place place =
        frame_place_read(img->meta->block[blocks.begin].data);
    const bool large = (uint64_t)place.width * place.height >= WORTH_THREADS;
    const struct load_opts load = {
        .limits = { .pixels = UINT64_MAX, .bytes = opts->limits.bytes },
        .mem = mem_plain,
        .tolerant = opts->tolerant,
        .libraries = opts->libraries,
        .pool = large ? opts->pool : NULL,
        .warnings = opts->warnings,
    };
    const struct decode_plan plan = { .turner = NULL };
    struct bytes file = { 0 };
    int status =
        frame_make_file(&file, img, blocks)
            ? codec_decode_file(&codec_png, frame, file, &load, &plan, err)
            : fail_memory(err, "no memory for a frame");
    bytes_free(&file);
    return status;
}
