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

struct jxl {
    struct bytes file;
    bool boxed;
    size_t end;          /* of the boxes */
    unsigned count;      /* pieces of the codestream */
    struct bytes stream; /* the first one, which has the image header */
    bool whole;          /* the last one has been found */
    bool rebuilds;       /* a box tells how to make the JPEG file again that the
                            picture was made from */
    bool is_signed;
    struct jxl_header header;
    struct jxl_tags tags;
};

/* Goes on to the next box. A bare codestream is one that has no head. Returns
 * false if there is none. */
static bool next_box(const struct jxl *jxl, struct box *box)
{
    const size_t at = box->end;
    if (jxl->boxed)
        return box_read(box, jxl->file, at, jxl->end);
    *box = (struct box){ .end = jxl->end, .type = "jxlc", .open = true };
    return at == 0;
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
    if (jxl->count++ == 0)
        jxl->stream = (struct bytes){ .data = jxl->file.data + box->body + lead,
                                      .size = box->end - box->body - lead };
    return 0;
}

static int check_type(const struct jxl *jxl, const struct box *box,
                      struct err *err)
{
    const uint8_t *p = jxl->file.data + box->body;
    if (!box_is(box, "ftyp") || box->end - box->body < 8 ||
        memcmp(p, "jxl ", 4) != 0)
        return fail(err, "its second box is not that of a JPEG XL file");
    return read_be32(p + 4) <= 1
               ? 0
               : fail(err, "version %u of the file format is not known",
                      read_be32(p + 4));
}

/* Lists a box, by what it holds if that is compressed, in `meta`, if that is
 * not NULL. */
static int list_box(struct meta *meta, const struct jxl *jxl,
                    const struct box *box, struct err *err)
{
    const uint8_t *body = jxl->file.data + box->body;
    const size_t size = box->end - box->body;
    char name[5] = "";
    memcpy(name,
           box_is(box, "brob") && size >= 4 ? (const char *)body : box->type,
           4);
    return !meta || meta_is_full(meta) || meta_add(meta, name, 0, body, size)
               ? 0
               : fail_memory(err, "no memory for so many boxes");
}

static int look(struct jxl *jxl, struct bytes file, struct meta *meta,
                const struct load_opts *opts, struct err *err)
{
    struct box box = { .end = 0 };
    size_t count = 0, end = 0;
    struct err why;
    *jxl = (struct jxl){ .file = file,
                         .boxed = file.data[0] == 0,
                         .end = file.size };
    for (; next_box(jxl, &box); end = box.end, count++) {
        if (count == 1 && check_type(jxl, &box, err))
            return -1;
        if (is_piece(&box) ? note_piece(jxl, &box, err)
                           : count > 1 && list_box(meta, jxl, &box, err))
            return -1;
        jxl->rebuilds = jxl->rebuilds || box_is(&box, "jbrd");
        jxl->is_signed = jxl->is_signed || jxl_box_holds(file, &box, "jumb");
    }
    if (jxl->boxed && count < 2)
        return fail(err, "its second box is not that of a JPEG XL file");
    if (jxl->end - end >= 8)
        return fail(err, "cut short: not all of its box %s is there", box.type);
    jxl->end = end;
    if (jxl->boxed && !jxl->whole)
        return fail(err, "cut short: it has no whole codestream");
    if (jxl_header_read(&jxl->header, jxl->stream,
                        jxl->count == 1 && !opts->tolerant, &why))
        return fail(err, "%s%s", why.text,
                    jxl->count > 1 ? " in the first part of its codestream, "
                                     "where all of it is expected"
                                   : "");
    orientation_note(&jxl->tags.orientation, TAG_CODESTREAM,
                     jxl->header.orientation);
    for (box.end = 0; next_box(jxl, &box);)
        if (jxl_tags_note(&jxl->tags, file, &box, err))
            return -1;
    return 0;
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
    return 0;
}

/* ---- Turning --------------------------------------------------------------*/

struct jxl_turn {
    struct jxl *jxl;
    enum xform op;
    bool rebuilds; /* the JPEG file can be made again afterwards, too */
    struct warnings *warnings;
};

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
    const unsigned growth = jxl_header_growth(&turn->jxl->header);
    if (!growth || at == box->end)
        return 0;
    bool good = read_varint(turn->jxl, &at, box->end, &count);
    const size_t first = at += 8;
    if (!good || !read_varint(turn->jxl, &at, box->end, &offset)) {
        warn(turn->warnings, "its index of frames is malformed, and stays");
        return 0;
    }
    patch->at = first;
    patch->was = at - first;
    offset += growth;
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
    if (jxl_header_read(&header, head, false, &why)) {
        warn(turn->warnings, "its gain map stays as it is: %s", why.text);
        return 0;
    }
    patch->at = (size_t)at;
    return jxl_header_set(patch, head, &header,
                          xform_retag(header.orientation, turn->op), err);
}

static int patch_box(struct jxl_patch *patch, const struct box *box,
                     struct jxl_turn *turn, struct err *err)
{
    struct jxl *jxl = turn->jxl;
    const size_t stream = (size_t)(jxl->stream.data - jxl->file.data);
    if (turn->op != XFORM_NONE && is_piece(box) && box->body <= stream &&
        stream <= box->end) {
        patch->at = stream;
        return jxl_header_set(patch, jxl->stream, &jxl->header,
                              xform_retag(jxl->header.orientation, turn->op),
                              err);
    }
    if (turn->op != XFORM_NONE && box_is(box, "jxli"))
        return patch_index(patch, box, turn, err);
    if (turn->op != XFORM_NONE && box_is(box, "jhgm"))
        return patch_gain_map(patch, box, turn, err);
    return jxl_tags_set(patch, &jxl->tags, jxl->file, box, turn->warnings, err);
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

static int write_file(struct bytes *out, struct jxl_turn *turn, struct err *err)
{
    const struct jxl *jxl = turn->jxl;
    const size_t tail = jxl->file.size - jxl->end;
    struct box box = { .end = 0 };
    if (!bytes_reserve(out, jxl->file.size + jxl_header_growth(&jxl->header)))
        return fail_memory(err, "no memory for the file");
    while (next_box(jxl, &box)) {
        struct jxl_patch patch = { .at = box.end };
        if (box_is(&box, "jbrd") && !turn->rebuilds)
            continue;
        const int status = patch_box(&patch, &box, turn, err) ||
                           write_box(out, jxl, &box, &patch, err);
        bytes_free(&patch.made);
        if (status)
            return -1;
    }
    return bytes_append(out, jxl->file.data + jxl->end, tail)
               ? 0
               : fail_memory(err, "no memory for the file");
}

static void warn_of_lost(const struct jxl_turn *turn)
{
    const struct jxl_header *header = &turn->jxl->header;
    if (turn->jxl->rebuilds && !turn->rebuilds)
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
    turn.rebuilds = rebuilds || op == XFORM_NONE;
    warn_of_lost(&turn);
    return write_file(out, &turn, err);
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
