/* A JPEG file with another orientation, and not another byte changed. */
#include "codecs/jpeg/jpeg.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/jpeg/orientation_tag.h"
#include "codecs/jpeg/parameters.h"
#include "codecs/metadata/exif.h"

/* What stands before the first scan. */
struct headers {
    struct meta *meta;
    size_t *at;        /* where each block begins in the file, at its marker */
    struct bytes *out; /* what each says now */
    struct bytes made; /* an EXIF segment, if there was none */
    size_t end;        /* where the first scan begins */
};

static void close_headers(struct headers *h)
{
    for (size_t i = 0; h->out && i < h->meta->nblocks; i++)
        bytes_free(&h->out[i]);
    free(h->out);
    free(h->at);
    bytes_free(&h->made);
    meta_free(h->meta);
}

/* Takes the segments that hold metadata. */
static int read_headers(struct headers *h, struct bytes file, struct err *err)
{
    enum { SOS = 0xda };
    size_t size, room = 0;
    for (h->end = 2; h->end + 2 <= file.size; h->end += size) {
        const uint8_t *p = file.data + h->end;
        size = parameters_segment_size(p, file.size - h->end);
        if (p[1] == SOS || size == 0)
            break;
        if (size < 4 || !parameters_is_app_or_com(p[1]))
            continue;
        if (h->meta->nblocks == room) {
            room = room ? 2 * room : 64;
            size_t *at = realloc(h->at, room * sizeof *at);
            if (!at)
                return fail_memory(err, "no memory for so many segments");
            h->at = at;
        }
        h->at[h->meta->nblocks] = h->end;
        if (segment_add(h->meta, p[1], p + 4, size - 4, err))
            return -1;
    }
    return 0;
}

static int copy_blocks(struct headers *h, struct err *err)
{
    h->out = calloc(h->meta->nblocks + 1, sizeof *h->out);
    if (!h->out)
        return fail_memory(err, "no memory for the segments");
    for (size_t i = 0; i < h->meta->nblocks; i++) {
        const struct metadata_block *block = &h->meta->block[i];
        if (!bytes_reserve(&h->out[i], block->size + 1) ||
            !bytes_append(&h->out[i], block->data, block->size))
            return fail_memory(err, "no memory for %s", block->name);
    }
    return 0;
}

/* Sets the tags that there are, and one of EXIF if it has to say more than
 * nothing. */
static int set_tags(struct headers *h, const struct image *img, enum xform op,
                    const struct save_opts *save, struct err *err)
{
    const struct lengths none = { 0 };
    size_t lead;
    segment_head(SEGMENT_EXIF, &lead);
    for (size_t i = 0; i < h->meta->nblocks; i++)
        if (segment_of(&h->meta->block[i]) == SEGMENT_EXIF)
            exif_retag(h->out[i].data + lead, h->out[i].size - lead,
                       save->orientation, op);
    if (segments_turn_xmp(h->out, h->meta, img, save, &none, err))
        return -1;
    if (save->orientation == 1)
        return 0;
    return segments_tag(h->out, &h->made, h->meta, save->orientation, err);
}

static bool put_segment(struct bytes *to, unsigned marker,
                        const struct bytes *body)
{
    uint8_t head[4] = { 0xff, (uint8_t)marker };
    write_be16(head + 2, (unsigned)body->size + 2);
    return bytes_append(to, head, sizeof head) &&
           bytes_append(to, body->data, body->size);
}

/* A segment that was not there comes behind those of JFIF. */
static bool write_file(struct bytes *to, const struct headers *h,
                       struct bytes file)
{
    enum { APP0 = 0xe0, APP1 = 0xe1 };
    bool kept = true, put = h->made.size == 0;
    size_t done = 0;
    for (size_t i = 0; i < h->meta->nblocks && kept; i++) {
        const struct metadata_block *block = &h->meta->block[i];
        bool first = !put && block->where != APP0;
        bool same = h->out[i].size == block->size &&
                    memcmp(h->out[i].data, block->data, block->size) == 0;
        if (!first && same)
            continue;
        kept = bytes_append(to, file.data + done, h->at[i] - done);
        done = h->at[i];
        if (kept && first)
            kept = put_segment(to, APP1, &h->made);
        put = put || first;
        if (!kept || same)
            continue;
        kept = put_segment(to, block->where, &h->out[i]);
        done = h->at[i] + 4 + block->size;
    }
    if (kept && !put) { /* there is nothing but JFIF, or not even that */
        size_t n = h->meta->nblocks;
        size_t behind = n ? h->at[n - 1] + 4 + h->meta->block[n - 1].size : 2;
        kept = bytes_append(to, file.data + done, behind - done) &&
               put_segment(to, APP1, &h->made);
        done = behind;
    }
    return kept && bytes_append(to, file.data + done, file.size - done);
}

int retag_jpeg(struct bytes *out, struct stream_info *info, struct bytes file,
               enum xform op, const struct load_opts *opts, struct err *err)
{
    struct headers h = { .meta = parameters_new_meta() };
    struct image img = { .meta = h.meta };
    struct reader reader = { 0 };
    struct save_opts save = { .warnings = opts->warnings };
    int status = -1;
    if (!h.meta)
        return fail_memory(err, "no memory for the decoder");
    if (codec_open(&reader, &codec_jpeg, file, opts, err) == 0 &&
        read_headers(&h, file, err) == 0 && copy_blocks(&h, err) == 0 &&
        segments_orientation(h.meta, err) == 0) {
        *info = reader.info;
        img.width = info->width;
        img.height = info->height;
        save.orientation = xform_retag(info->orientation.value, op);
        status = set_tags(&h, &img, op, &save, err);
    }
    if (status == 0 && !write_file(out, &h, file))
        status = fail_memory(err, "no memory for the file");
    if (status == 0)
        trailer_follow(out, file);
    codec_close(&reader);
    close_headers(&h);
    return status;
}
