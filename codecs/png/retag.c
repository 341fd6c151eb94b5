/* A PNG file with another orientation, and not another byte changed. */
#include "codecs/png/png.h"

#include <string.h>
#include <zlib.h>

#include "codecs/metadata/exif.h"

enum { SIGNATURE = 8, LEAD = 8, AROUND = 12 }; /* of a chunk */

struct png_piece {
    const uint8_t *type, *data;
    size_t size;
};

/* The chunk at `at`; false: there is none that is whole. */
static bool piece_at(struct bytes file, size_t at, struct png_piece *piece)
{
    if (file.size - at < AROUND ||
        read_be32(file.data + at) > file.size - at - AROUND)
        return false;
    *piece = (struct png_piece){ file.data + at + 4, file.data + at + LEAD,
                                 read_be32(file.data + at) };
    return true;
}

static bool is_type(const struct png_piece *piece, const char *type)
{
    return memcmp(piece->type, type, 4) == 0;
}

static uint32_t crc_of(const uint8_t *type, const uint8_t *data, size_t size)
{
    uLong crc = crc32(crc32(0, NULL, 0), type, 4);
    return (uint32_t)(size ? crc32_z(crc, data, size) : crc);
}

static bool put_chunk(struct bytes *to, const char *type,
                      const struct bytes *data)
{
    uint8_t head[LEAD], tail[4];
    write_be32(head, (uint32_t)data->size);
    memcpy(head + 4, type, 4);
    write_be32(tail, crc_of(head + 4, data->data, data->size));
    return bytes_append(to, head, sizeof head) &&
           bytes_append(to, data->data, data->size) &&
           bytes_append(to, tail, sizeof tail);
}

/* Takes the chunks that may tell an orientation, in order, and looks whether all
 * are sound. */
static int read_chunks(struct image *img, struct bytes file, struct err *err)
{
    struct png_piece piece = { 0 };
    char name[5] = "";
    bool first = true, ended = false;
    for (size_t at = SIGNATURE; !ended; at += piece.size + AROUND) {
        if (!piece_at(file, at, &piece))
            return fail(err, "the file is cut short");
        if (read_be32(piece.data + piece.size) !=
            crc_of(piece.type, piece.data, piece.size))
            return fail(err, "chunk %.4s is damaged", (const char *)piece.type);
        if (first && (!is_type(&piece, "IHDR") || piece.size != 13))
            return fail(err, "its header is malformed");
        if (first) {
            img->width = read_be32(piece.data);
            img->height = read_be32(piece.data + 4);
        }
        first = false;
        ended = is_type(&piece, "IEND");
        memcpy(name, piece.type, 4);
        if (chunk_may_orient(piece.type, piece.data, piece.size) &&
            !meta_add(img->meta, name, PNG_PLACE_AFTER_IDAT, piece.data,
                      piece.size))
            return fail_memory(err, "no memory for so many chunks");
    }
    return 0;
}

/* What a chunk says now. The first EXIF gets a tag, whatever it had. */
static int set_tag(struct bytes *data, const struct metadata_block *block,
                   const struct image *img, enum xform op, bool *tagged,
                   const struct save_opts *save, struct err *err)
{
    bool keep;
    if (strcmp(block->name, "eXIf") != 0)
        return chunk_turned(block, img, save, data, &keep, err);
    if (!bytes_append(data, block->data, block->size))
        return fail_memory(err, "no memory for EXIF");
    exif_retag(data->data, data->size, save->orientation, op);
    bool add = !*tagged && exif_orientation(data->data, data->size) !=
                               save->orientation;
    *tagged = true;
    if (add && exif_add_orientation(data, save->orientation))
        return fail(err, "eXIf is damaged, so that it cannot hold an "
                         "orientation");
    return 0;
}

static int write_chunks(struct bytes *out, struct bytes file,
                        const struct image *img, enum xform op,
                        const struct save_opts *save, struct err *err)
{
    struct png_piece piece;
    struct bytes data = { 0 };
    bool put = save->orientation == 1, tagged = false, kept = true;
    size_t done = 0, next = 0, at;
    for (size_t i = 0; i < img->meta->nblocks; i++)
        put = put || strcmp(img->meta->block[i].name, "eXIf") == 0;
    for (at = SIGNATURE; kept && piece_at(file, at, &piece);
         at += piece.size + AROUND) {
        bytes_free(&data);
        if (is_type(&piece, "IDAT") && !put) {
            kept = exif_add_orientation(&data, save->orientation) == 0 &&
                   bytes_append(out, file.data + done, at - done) &&
                   put_chunk(out, "eXIf", &data);
            put = true;
            done = at;
        }
        bytes_free(&data);
        if (!chunk_may_orient(piece.type, piece.data, piece.size))
            continue;
        const struct metadata_block *block = &img->meta->block[next++];
        if (set_tag(&data, block, img, op, &tagged, save, err)) {
            bytes_free(&data);
            return -1;
        }
        if (!data.data || (data.size == block->size &&
                           memcmp(data.data, block->data, block->size) == 0))
            continue;
        kept = kept && bytes_append(out, file.data + done, at - done) &&
               put_chunk(out, block->name, &data);
        done = at + piece.size + AROUND;
        if (next == img->meta->nblocks && put)
            break;
    }
    bytes_free(&data);
    if (!kept || !bytes_append(out, file.data + done, file.size - done))
        return fail_memory(err, "no memory for the file");
    return 0;
}

int retag_png(struct bytes *out, struct stream_info *info, struct bytes file,
              enum xform op, const struct load_opts *opts, struct err *err)
{
    struct image img = { .meta = meta_new(&codec_png) };
    struct save_opts save = { .warnings = opts->warnings };
    int status = -1;
    if (!img.meta)
        return fail_memory(err, "no memory for the decoder");
    if (read_chunks(&img, file, err) == 0 &&
        chunks_orientation(&img, err) == 0) {
        info->width = img.width;
        info->height = img.height;
        info->orientation = img.meta->orientation;
        save.orientation = xform_retag(info->orientation.value, op);
        status = write_chunks(out, file, &img, op, &save, err);
    }
    meta_free(img.meta);
    return status;
}
