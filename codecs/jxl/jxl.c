/* The boxes of a JPEG XL file: where the codestream lies in them, and how they
 * are written when its header has other bits. */
#include "codecs/jxl/jxl.h"

#include "codecs/base/byte_order.h"

static bool probe(const uint8_t *head, size_t size)
{
    return (size >= 2 && memcmp(head, "\xff\x0a", 2) == 0) ||
           (size >= 12 && !memcmp(head, "\0\0\0\x0cJXL \r\n\x87\n", 12));
}

/* ---- What a file says ---------------------------------------------------- */

/* The most pieces that the image header may lie in, and the most bytes. */
enum { PIECES = 16, HEAD = 1 << 20 };

struct jxl {
    struct bytes file;
    bool boxed;
    size_t end; /* of the boxes */
    struct jxl_piece {
        size_t at, size;
    } piece[PIECES];         /* the first pieces of the codestream */
    unsigned npieces, count; /* these, and all of them */
    bool whole;              /* the last one has been found */
    bool rebuilds; /* a box tells how to make the JPEG file again that the
                      picture was made from */
    bool is_signed;
    struct bytes head; /* of the codestream: borrowed if it is in one piece */
    struct jxl_header header;
    struct jxl_tags tags;
};

/* Goes on to the next box. Returns false if there is none. */
static bool next_box(const struct jxl *jxl, struct box *box)
{
    return jxl->boxed && box_read(box, jxl->file, box->end, jxl->end);
}

static bool is_piece(const struct box *box)
{
    return box_is(box, "jxlc") || box_is(box, "jxlp");
}

/* Pieces have numbers; the last one has a bit of its own. */
static int note_piece(struct jxl *jxl, const struct box *box, struct err *err)
{
    const uint32_t last = 0x80000000;
    const size_t lead = box_is(box, "jxlp") ? 4 : 0;
    uint32_t number = last;
    if (box->end - box->body < lead)
        return fail(err, "a part of its codestream is malformed");
    if (lead)
        number = read_be32(jxl->file.data + box->body);
    if (jxl->whole || (number & ~last) != jxl->count)
        return fail(err, "the parts of its codestream are out of order");
    jxl->whole = number & last;
    if (jxl->count++ < PIECES)
        jxl->piece[jxl->npieces++] =
            (struct jxl_piece){ box->body + lead, box->end - box->body - lead };
    return 0;
}

static int find_pieces(struct jxl *jxl, struct err *err)
{
    const uint8_t *p = jxl->file.data;
    struct box box = { .end = 12 };
    if (!next_box(jxl, &box) || !box_is(&box, "ftyp") ||
        box.end - box.body < 8 || memcmp(p + box.body, "jxl ", 4) != 0)
        return fail(err, "its second box is not that of a JPEG XL file");
    if (read_be32(p + box.body + 4) > 1)
        return fail(err, "version %u of the file format is not known",
                    read_be32(p + box.body + 4));
    size_t end = box.end;
    for (; next_box(jxl, &box); end = box.end) {
        if (is_piece(&box) && note_piece(jxl, &box, err))
            return -1;
        jxl->rebuilds = jxl->rebuilds || box_is(&box, "jbrd");
        jxl->is_signed =
            jxl->is_signed || jxl_box_holds(jxl->file, &box, "jumb");
    }
    if (jxl->end - end >= 8)
        return fail(err, "cut short: not all of its box %s is there", box.type);
    jxl->end = end;
    return jxl->whole ? 0 : fail(err, "cut short: it has no whole codestream");
}

/* Makes the head: the first piece, or a copy of several. */
static int read_head(struct jxl *jxl, struct err *err)
{
    const struct jxl_piece *piece = jxl->piece;
    if (jxl->npieces == 1)
        jxl->head = (struct bytes){ .data = jxl->file.data + piece->at,
                                    .size = piece->size };
    for (unsigned i = 0; jxl->npieces > 1 && i < jxl->npieces; i++) {
        const size_t room = HEAD - jxl->head.size, size = piece[i].size;
        if (!bytes_append(&jxl->head, jxl->file.data + piece[i].at,
                          size < room ? size : room))
            return fail_memory(err, "no memory for the image header");
    }
    return jxl_header_read(&jxl->header, jxl->head, err);
}

/* Takes note of the boxes beside the codestream, and lists them in `meta` if
 * that is not NULL. */
static int note_boxes(struct jxl *jxl, struct meta *meta, struct err *err)
{
    struct box box = { .end = 12 };
    next_box(jxl, &box); /* that of the type of the file */
    while (next_box(jxl, &box)) {
        const bool packed = box_is(&box, "brob") && box.end - box.body >= 4;
        const uint8_t *body = jxl->file.data + box.body;
        if ((jxl_box_holds(jxl->file, &box, "Exif") ||
             jxl_box_holds(jxl->file, &box, "xml ")) &&
            jxl_tags_note(&jxl->tags, jxl->file, &box, err))
            return -1;
        if (packed)
            memcpy(box.type, body, 4);
        if (meta && !is_piece(&box) && !meta_is_full(meta) &&
            !meta_add(meta, box.type, 0, body, box.end - box.body))
            return fail_memory(err, "no memory for so many boxes");
    }
    return 0;
}

/* On failure there is nothing to close. */
static int look(struct jxl *jxl, struct bytes file, struct meta *meta,
                const struct load_opts *opts, struct err *err)
{
    *jxl = (struct jxl){ .file = file,
                         .boxed = file.data[0] == 0,
                         .end = file.size,
                         .piece = { { 0, file.size } },
                         .npieces = file.data[0] != 0 };
    int status = jxl->boxed ? find_pieces(jxl, err) : 0;
    if (status == 0)
        status = read_head(jxl, err);
    if (status == 0 && jxl->npieces == 1 && !opts->tolerant)
        status = jxl_frames_check(jxl->head, &jxl->header, err);
    orientation_note(&jxl->tags.orientation, TAG_CODESTREAM,
                     jxl->header.orientation);
    if (status == 0)
        status = note_boxes(jxl, meta, err);
    if (status)
        bytes_free(&jxl->head);
    return status;
}

static int open(struct reader *reader, struct err *err)
{
    struct jxl jxl;
    struct image *img = &reader->img;
    if (look(&jxl, reader->file, img->meta, reader->opts, err))
        return -1;
    img->width = jxl.header.width;
    img->height = jxl.header.height;
    img->orientation = jxl.header.orientation;
    img->meta->orientation = jxl.tags.orientation;
    bytes_free(&jxl.head);
    return 0;
}

/* ---- Turning --------------------------------------------------------------*/

struct jxl_turn {
    struct jxl *jxl;
    enum xform op;
    unsigned piece;    /* that comes next */
    struct bytes made; /* the new beginning of the codestream */
    size_t was;        /* how many bytes of it, from `from` on, are replaced */
    size_t from;       /* how many of them earlier pieces have taken */
    struct warnings *warnings;
};

/* The bytes of the new header go where the old ones were, and what is more goes
 * where those end. */
static int patch_piece(struct jxl_patch *patch, struct jxl_turn *turn,
                       struct err *err)
{
    const unsigned i = turn->piece++;
    if (i >= turn->jxl->npieces || turn->from >= turn->was)
        return 0;
    const struct jxl_piece *piece = &turn->jxl->piece[i];
    const size_t left = turn->was - turn->from, from = turn->from;
    const bool last = left <= piece->size;
    patch->at = piece->at;
    patch->was = last ? left : piece->size;
    turn->from += patch->was;
    return bytes_append(&patch->made, turn->made.data + from,
                        last ? turn->made.size - from : patch->was)
               ? 0
               : fail_memory(err, "no memory for the image header");
}

/* Reads an integer of 7 bits a byte, the low ones first, and moves *at behind
 * it. */
static bool read_varint(const struct jxl *jxl, size_t *at, size_t end,
                        uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 63; shift += 7) {
        const uint8_t byte = jxl->file.data[(*at)++];
        *value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128)
            return true;
    }
    return false;
}

/* The index of frames has their number, the unit of time in 8 bytes, and where
 * the first one begins in the codestream; the others count from there. Some are
 * empty. */
static int patch_index(struct jxl_patch *patch, const struct box *box,
                       const struct jxl_turn *turn, struct err *err)
{
    uint64_t count, offset;
    size_t at = box->body;
    if (turn->made.size == turn->was || at == box->end)
        return 0;
    bool good = read_varint(turn->jxl, &at, box->end, &count);
    const size_t first = at += 8;
    if (!good || !read_varint(turn->jxl, &at, box->end, &offset)) {
        warn(turn->warnings, "its index of frames is malformed, and stays");
        return 0;
    }
    patch->at = first;
    patch->was = at - first;
    offset += turn->made.size - turn->was;
    do {
        const uint8_t byte = (offset & 127) | (offset > 127 ? 128 : 0);
        if (!bytes_append(&patch->made, &byte, 1))
            return fail_memory(err, "no memory for the index of frames");
    } while (offset >>= 7);
    return 0;
}

/* A gain map (ISO 21496-1) is a codestream of its own behind metadata, colors
 * and a profile, and turns with the picture. */
static int patch_gain_map(struct jxl_patch *patch, const struct box *box,
                          const struct jxl_turn *turn, struct err *err)
{
    const uint8_t *p = turn->jxl->file.data;
    struct bytes head = { 0 };
    struct jxl_header header;
    struct err why;
    uint64_t at = box->body + 3;
    if (at <= box->end)
        at += read_be16(p + at - 2) + 1u;
    if (at <= box->end)
        at += p[at - 1] + 4u;
    if (at <= box->end)
        at += read_be32(p + at - 4);
    if (at < box->end)
        head = (struct bytes){ .data = turn->jxl->file.data + at,
                               .size = box->end - (size_t)at };
    if (jxl_header_read(&header, head, &why)) {
        warn(turn->warnings, "its gain map stays as it is: %s", why.text);
        return 0;
    }
    patch->at = (size_t)at;
    return jxl_header_set(&patch->made, &patch->was, head, &header,
                          xform_retag(header.orientation, turn->op), err);
}

static int patch_box(struct jxl_patch *patch, const struct box *box,
                     struct jxl_turn *turn, struct err *err)
{
    const struct bytes file = turn->jxl->file;
    if (jxl_box_holds(file, box, "Exif") || jxl_box_holds(file, box, "xml "))
        return jxl_tags_set(patch, &turn->jxl->tags, file, box, turn->warnings,
                            err);
    if (turn->op == XFORM_NONE)
        return 0;
    return is_piece(box)         ? patch_piece(patch, turn, err)
           : box_is(box, "jxli") ? patch_index(patch, box, turn, err)
           : box_is(box, "jhgm") ? patch_gain_map(patch, box, turn, err)
                                 : 0;
}

static int write_box(struct bytes *out, const struct jxl *jxl,
                     const struct box *box, const struct jxl_patch *patch,
                     struct err *err)
{
    const uint8_t *p = jxl->file.data;
    const size_t begin = out->size, after = patch->at + patch->was;
    const bool is_long = box->body - box->begin == 16;
    if (!bytes_append(out, p + box->begin, patch->at - box->begin) ||
        !bytes_append(out, patch->made.data, patch->made.size) ||
        !bytes_append(out, p + after, box->end - after))
        return fail_memory(err, "no memory for the file");
    const size_t size = out->size - begin;
    if (is_long)
        write_be64(out->data + begin + 8, size);
    else if (size > UINT32_MAX && !box->open)
        return fail(err, "its box %s would be larger than 4 GiB", box->type);
    else if (!box->open)
        write_be32(out->data + begin, (uint32_t)size);
    return 0;
}

static int write_file(struct bytes *out, struct jxl_turn *turn, bool rebuilds,
                      struct err *err)
{
    const struct jxl *jxl = turn->jxl;
    struct box box = { .end = jxl->boxed ? 12 : turn->was };
    const struct bytes lead = jxl->boxed ? jxl->file : turn->made;
    int status = 0;
    if (!bytes_append(out, lead.data, jxl->boxed ? 12 : lead.size))
        return fail_memory(err, "no memory for the file");
    while (status == 0 && next_box(jxl, &box)) {
        struct jxl_patch patch = { .at = box.end };
        if (box_is(&box, "jbrd") && !rebuilds)
            continue;
        status = patch_box(&patch, &box, turn, err);
        if (status == 0)
            status = write_box(out, jxl, &box, &patch, err);
        bytes_free(&patch.made);
    }
    const size_t end = jxl->boxed ? jxl->end : turn->was;
    if (status == 0 &&
        !bytes_append(out, jxl->file.data + end, jxl->file.size - end))
        return fail_memory(err, "no memory for the file");
    return status;
}

static void warn_of_lost(const struct jxl_turn *turn, bool rebuilds)
{
    const struct jxl_header *header = &turn->jxl->header;
    if (turn->jxl->rebuilds && !rebuilds)
        warn(turn->warnings,
             "the JPEG file that it was made from has no orientation in EXIF "
             "that could be set: how to make it again is not kept");
    if (xform_transposes(turn->op) &&
        header->shown_width != header->shown_height)
        warn(turn->warnings, "it advises to scale it to %u x %u, which stays",
             header->shown_width, header->shown_height);
    if (turn->jxl->is_signed && turn->op != XFORM_NONE)
        warn(turn->warnings, "what JUMBF (C2PA) says of the pixels, such as a "
                             "signature, no longer holds");
}

/* Tags say 1, since readers that look at them and at the header would turn the
 * picture twice; but the same as the header where a JPEG file can be made
 * again, which has the tags alone. */
static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct jxl jxl;
    struct jxl_turn turn = { .jxl = &jxl,
                             .op = op,
                             .warnings = opts->warnings };
    if (look(&jxl, file, NULL, opts, err))
        return -1;
    const unsigned orientation = xform_retag(jxl.header.orientation, op);
    const bool rebuilds =
        jxl.rebuilds && (jxl.tags.can_set || orientation == 1);
    info->width = jxl.header.width;
    info->height = jxl.header.height;
    info->orientation = jxl.tags.orientation;
    jxl.tags.says = rebuilds ? orientation : 1;
    jxl.tags.op = op;
    jxl.tags.unpacked = 0;
    warn_of_lost(&turn, rebuilds || op == XFORM_NONE);
    int status = 0;
    if (op != XFORM_NONE)
        status = jxl_header_set(&turn.made, &turn.was, jxl.head, &jxl.header,
                                orientation, err);
    if (status == 0)
        status = write_file(out, &turn, rebuilds || op == XFORM_NONE, err);
    bytes_free(&turn.made);
    bytes_free(&jxl.head);
    return status;
}

const struct codec codec_jxl = {
    .name = "jxl",
    .title = "JPEG XL",
    .suffixes = (const char *const[]){ "jxl", NULL },
    .oriented = true,
    .probe = probe,
    .load = jxl_load_brotli,
    .retag = retag,
    .open = open,
};
