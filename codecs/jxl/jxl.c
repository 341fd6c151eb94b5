/* The boxes of a JPEG XL file: where the codestream lies in them, EXIF and XMP
 * beside it, and how they are written when its header has other bits. */
#include "codecs/jxl/jxl.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/shared_library.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

struct jxl {
    struct bytes file;
    size_t end;          /* of the boxes */
    struct bytes stream; /* the first piece of the codestream, which has the
                            image header */
    unsigned pieces;     /* of the codestream */
    bool whole;          /* the last one has been found */
    bool rebuilds;       /* a box tells how to make the JPEG file again that the
                            picture was made from */
    bool is_signed;
    struct jxl_header header;
    struct orientation tags; /* what they say, but for 1 */
    bool has_exif;
    unsigned exif;   /* the tag of the first EXIF; 0: it has none to be set */
    size_t unpacked; /* bytes of compressed boxes, so far */
};

static bool probe(const uint8_t *head, size_t size)
{
    return (size >= 2 && memcmp(head, "\xff\x0a", 2) == 0) ||
           (size >= 12 && !memcmp(head, "\0\0\0\x0cJXL \r\n\x87\n", 12));
}

/* ---- Brotli -------------------------------------------------------------- */

/* The most bytes that a compressed box may hold, and all of a file, of which
 * each counts as so many at least. */
enum {
    UNPACKED_MOST = 4 << 20,
    UNPACKED_ALL = 8 << 20,
    UNPACKED_LEAST = 256 << 10,
};

/* BrotliDecoderDecompress() and BrotliEncoderCompress(); they return 1 if all
 * is well. */
static int (*unpack_into)(size_t size, const uint8_t *packed, size_t *room,
                          uint8_t *to);
static int (*pack_into)(int quality, int window, int mode, size_t size,
                        const uint8_t *plain, size_t *room, uint8_t *to);

#define LIBRARY(name, file, symbol, pointer)                                   \
    static struct shared_library name = {                                      \
        .soname = file,                                                        \
        .package = "libbrotli1",                                               \
        .function =                                                            \
            (const struct shared_function[]){ { symbol, (void *)&pointer } },  \
        .nfunctions = 1,                                                       \
    }
LIBRARY(unpacker, BROTLIDEC_SONAME, "BrotliDecoderDecompress", unpack_into);
LIBRARY(packer, BROTLIENC_SONAME, "BrotliEncoderCompress", pack_into);

static int load_brotli(struct err *err)
{
    if (!*unpacker.soname || !*packer.soname)
        return fail_unread(err, "this gimgxf is built without Brotli; install "
                                "libbrotli-dev and build it again");
    return shared_library_load(&unpacker, err) ||
                   shared_library_load(&packer, err)
               ? -1
               : 0;
}

static int unpack(struct bytes *to, struct bytes packed, struct err *err)
{
    for (size_t room = 64 << 10; room <= UNPACKED_MOST; room *= 8) {
        if (!bytes_reserve(to, room))
            return fail_memory(err, "no memory to unpack metadata");
        to->size = to->capacity;
        if (unpack_into(packed.size, packed.data, &to->size, to->data) == 1)
            return 0;
        to->size = 0;
    }
    return fail(err, "it is malformed, or larger than 4 MiB");
}

/* ---- EXIF and XMP --------------------------------------------------------
 *
 * Their boxes may be compressed (brob): a type, and what a box of that type
 * holds as Brotli (RFC 7932). */

static bool is_packed(const struct box *box)
{
    return box_is(box, "brob") && box->end - box->body >= 4;
}

/* Returns the four letters that say what a box holds. */
static const char *held(const struct jxl *jxl, const struct box *box)
{
    return is_packed(box) ? (const char *)jxl->file.data + box->body
                          : box->type;
}

static bool holds(const struct jxl *jxl, const struct box *box,
                  const char *type)
{
    return memcmp(held(jxl, box), type, 4) == 0;
}

struct content {
    bool exif;           /* else XMP; or, without `plain`, something else */
    struct bytes stored; /* as it is in the file; borrowed */
    struct bytes plain;  /* unpacked: borrowed, or owned */
    uint8_t *data;       /* EXIF or XMP in it */
    size_t size;
};

static int content_open(struct content *c, struct jxl *jxl,
                        const struct box *box, struct err *err)
{
    const size_t type = is_packed(box) ? 4 : 0;
    const struct bytes stored = { .data = jxl->file.data + box->body + type,
                                  .size = box->end - box->body - type };
    *c = (struct content){ .exif = holds(jxl, box, "Exif"), .stored = stored };
    if (!c->exif && !holds(jxl, box, "xml "))
        return 0;
    if (!type)
        c->plain = stored;
    else if (jxl->unpacked > UNPACKED_ALL)
        return fail(err, "there is too much of it");
    else if (load_brotli(err) || unpack(&c->plain, stored, err)) {
        jxl->unpacked += UNPACKED_MOST;
        bytes_free(&c->plain);
        return -1;
    }
    jxl->unpacked += type ? UNPACKED_LEAST + c->plain.size : 0;
    const size_t at =
        c->exif ? exif_item_begin(c->plain.data, c->plain.size) : 0;
    c->data = c->plain.data + at;
    c->size = c->plain.size - at;
    return 0;
}

/* Takes note of the tags in a box. What cannot be unpacked says nothing. A 1
 * beside the image header is as it should be. */
static int note_tags(struct jxl *jxl, const struct box *box, struct err *err)
{
    const bool first = !jxl->has_exif && holds(jxl, box, "Exif");
    struct content c;
    jxl->has_exif = jxl->has_exif || first;
    if (content_open(&c, jxl, box, err))
        return err->memory ? -1 : 0;
    if (!c.plain.data)
        return 0;
    const unsigned value =
        c.exif ? exif_tag(c.data, c.size) : xmp_orientation(c.data, c.size);
    if (value > 1)
        orientation_note(&jxl->tags, c.exif ? TAG_EXIF : TAG_XMP, value);
    jxl->exif = first ? value : jxl->exif;
    bytes_free(&c.plain);
    return 0;
}

struct jxl_turn {
    struct jxl *jxl;
    enum xform op;
    unsigned tags; /* what they are to say */
    bool rebuilds; /* the JPEG file can be made again afterwards, too */
    struct warnings *warnings;
};

/* Sets the tags in a box. */
static int patch_tags(struct jxl_patch *patch, const struct box *box,
                      const struct jxl_turn *turn, struct err *err)
{
    struct content c;
    struct bytes made = { 0 };
    int status = 0;
    if (content_open(&c, turn->jxl, box, err)) {
        warn(turn->warnings,
             "%s stays as it is, since it cannot be unpacked: %s",
             c.exif ? "EXIF" : "XMP", err->text);
        return err->memory ? -1 : 0;
    }
    if (!c.plain.data)
        return 0;
    if (!bytes_append(&made, c.plain.data, c.plain.size))
        status = fail_memory(err, "no memory for metadata");
    else if (c.exif)
        exif_retag(made.data + (c.data - c.plain.data), c.size, turn->tags,
                   turn->op);
    else
        xmp_turn(made.data, made.size, XFORM_NONE, turn->tags);
    if (status == 0 && memcmp(made.data, c.plain.data, made.size) != 0) {
        patch->at = (size_t)(c.stored.data - turn->jxl->file.data);
        patch->was = c.stored.size;
        if (is_packed(box)) {
            /* The way that libjxl compresses in, if that costs little. */
            enum { WINDOW = 22, GENERIC = 0, LARGE = 64 << 10 };
            struct bytes *to = &patch->made;
            if (!bytes_reserve(to, made.size + made.size / 8 + 1024))
                status = fail_memory(err, "no memory to compress metadata");
            to->size = to->capacity;
            if (status == 0 &&
                pack_into(made.size > LARGE ? 4 : 9, WINDOW, GENERIC, made.size,
                          made.data, &to->size, to->data) != 1)
                status = fail(err, "metadata cannot be compressed");
        } else {
            patch->made = made;
            made = (struct bytes){ 0 };
        }
    }
    bytes_free(&made);
    bytes_free(&c.plain);
    return status;
}

/* ---- What a file says ---------------------------------------------------- */

/* Goes on to the next box. A bare codestream is one that has no head. Returns
 * false if there is none. */
static bool next_box(const struct jxl *jxl, struct box *box)
{
    const size_t at = box->end;
    if (jxl->file.data[0] == 0)
        return box_read(box, jxl->file, at, jxl->end);
    *box = (struct box){ .end = jxl->end, .type = "jxlc", .open = true };
    return at == 0;
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
    if (jxl->whole || (number & ~last) != jxl->pieces)
        return fail(err, "the parts of its codestream are out of order");
    jxl->whole = number & last;
    if (jxl->pieces++ == 0)
        jxl->stream = (struct bytes){ .data = jxl->file.data + box->body + lead,
                                      .size = box->end - box->body - lead };
    return 0;
}

/* ---- Whole or not -------------------------------------------------------- */

/* libjxl, whose decoder is asked for nothing but frames, and to skip as many as
 * a file may have: it goes from one to the next by their tables of contents. */
static struct {
    void *(*create)(const void *memory);
    void (*destroy)(void *decoder);
    int (*subscribe)(void *decoder, int events);
    int (*separate)(void *decoder, int coalescing);
    void (*skip)(void *decoder, size_t frames);
    int (*give)(void *decoder, const uint8_t *data, size_t size);
    int (*go_on)(void *decoder);
    size_t (*take_back)(void *decoder);
    int silence; /* a file that takes what it prints */
} libjxl;

/* What it says of a codestream; and, a bit, what it is asked for. */
enum {
    JXL_NO_MEMORY = -1,
    JXL_SUCCESS,
    JXL_ERROR,
    JXL_NEED_MORE_INPUT,
    JXL_FRAME = 0x400,
};

/* It takes 3 microseconds for each, and file and output are looked at. */
enum { FRAMES_MOST = 1 << 16 };

static int load_libjxl(struct err *err)
{
    static const struct shared_function functions[] = {
        { "JxlDecoderCreate", &libjxl.create },
        { "JxlDecoderDestroy", &libjxl.destroy },
        { "JxlDecoderSubscribeEvents", &libjxl.subscribe },
        { "JxlDecoderSetCoalescing", &libjxl.separate },
        { "JxlDecoderSkipFrames", &libjxl.skip },
        { "JxlDecoderSetInput", &libjxl.give },
        { "JxlDecoderProcessInput", &libjxl.go_on },
        { "JxlDecoderReleaseInput", &libjxl.take_back },
    };
    static struct shared_library library = {
        .soname = JXL_SONAME,
        .package = "libjxl0.7",
        .function = functions,
        .nfunctions = sizeof functions / sizeof *functions,
    };
    if (!*library.soname)
        return fail_unread(err, "this gimgxf is built without libjxl");
    if (shared_library_load(&library, err))
        return -1;
    if (libjxl.silence <= 0)
        libjxl.silence = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return 0;
}

/* Boxes have sizes, but a codestream that is cut short looks whole. Without
 * libjxl it counts as that.
 *
 * Debian's prints where in its sources it has found damage, so standard error
 * is silent until then. Other threads wait with what they print. */
static int check_frames(const struct jxl *jxl, const struct load_opts *opts,
                        struct err *err)
{
    enum { PROFILE_MOST = 4 << 20 }; /* libjxl unpacks it before any frame */
    struct box box = { .end = 0 };
    struct bytes all = { 0 };
    struct err why;
    if (load_libjxl(&why)) {
        warn(opts->warnings, "whether it is cut short cannot be told: %s",
             why.text);
        return 0;
    }
    if (jxl->header.profile > PROFILE_MOST)
        return fail(err, "its color profile is larger than any real one");
    bool room = bytes_reserve(&all, jxl->file.size + 1);
    while (room && next_box(jxl, &box)) {
        const size_t lead = box_is(&box, "jxlp") ? 4 : 0;
        if (lead || box_is(&box, "jxlc"))
            room = bytes_append(&all, jxl->file.data + box.body + lead,
                                box.end - box.body - lead);
    }
    room = room && bytes_append(&all, "", 1);
    size_t left = 0;
    int status = JXL_NO_MEMORY;
    void *decoder = room ? libjxl.create(NULL) : NULL;
    if (decoder) {
        flockfile(stderr);
        const int was = dup(STDERR_FILENO);
        if (was >= 0)
            dup2(libjxl.silence, STDERR_FILENO);
        libjxl.subscribe(decoder, JXL_FRAME);
        libjxl.separate(decoder, false); /* layers count as well */
        libjxl.skip(decoder, FRAMES_MOST);
        status = libjxl.give(decoder, all.data, all.size);
        if (status == JXL_SUCCESS)
            status = libjxl.go_on(decoder);
        left = libjxl.take_back(decoder);
        libjxl.destroy(decoder);
        if (was >= 0) {
            dup2(was, STDERR_FILENO);
            close(was);
        }
        funlockfile(stderr);
    }
    bytes_free(&all);
    if (status == JXL_SUCCESS && left > 0) /* the byte that was put behind it */
        return 0;
    if (status == JXL_SUCCESS || status == JXL_NEED_MORE_INPUT)
        return fail(err, "cut short: it ends within a frame");
    if (status == JXL_NO_MEMORY)
        return fail_memory(err, "no memory for its codestream");
    return status == JXL_FRAME
               ? fail(err, "it has more than %d frames", FRAMES_MOST)
               : fail(err, "its codestream is damaged");
}

/* Reads a file. Lists its boxes in `meta`, if that is not NULL, by what they
 * hold. */
static int look(struct jxl *jxl, struct bytes file, struct meta *meta,
                const struct load_opts *opts, struct err *err)
{
    struct box box = { .end = 0 };
    const bool boxed = file.data[0] == 0;
    size_t count = 0, end = 0;
    struct err why;
    *jxl = (struct jxl){ .file = file, .end = file.size };
    if (boxed) {
        if (!box_read(&box, file, 12, file.size) || !box_is(&box, "ftyp") ||
            box.end - box.body < 8 ||
            memcmp(file.data + box.body, "jxl ", 4) != 0)
            return fail(err, "its second box is not that of a JPEG XL file");
        const uint32_t version = read_be32(file.data + box.body + 4);
        if (version > 1)
            return fail(err, "version %u of the file format is not known",
                        version);
        box.end = 0;
    }
    for (; next_box(jxl, &box); end = box.end, count++) {
        char name[5] = "";
        memcpy(name, held(jxl, &box), 4);
        if (box_is(&box, "jxlc") || box_is(&box, "jxlp")) {
            if (note_piece(jxl, &box, err))
                return -1;
        } else if (count > 1 && meta && !meta_is_full(meta) &&
                   !meta_add(meta, name, 0, file.data + box.body,
                             box.end - box.body)) {
            return fail_memory(err, "no memory for so many boxes");
        }
        jxl->rebuilds = jxl->rebuilds || box_is(&box, "jbrd");
        jxl->is_signed = jxl->is_signed || holds(jxl, &box, "jumb");
    }
    if (jxl->end - end >= 8)
        return fail(err, "cut short: not all of its box %s is there", box.type);
    jxl->end = end;
    if (boxed && !jxl->whole)
        return fail(err, "cut short: it has no whole codestream");
    if (jxl_header_read(&jxl->header, jxl->stream, &why))
        return fail(err, "%s%s", why.text,
                    jxl->pieces > 1 ? " in the first part of its codestream, "
                                      "where all of it is expected"
                                    : "");
    if (!opts->tolerant && check_frames(jxl, opts, err))
        return -1;
    orientation_note(&jxl->tags, TAG_CODESTREAM, jxl->header.orientation);
    for (box.end = 0; next_box(jxl, &box);)
        if (note_tags(jxl, &box, err))
            return -1;
    return 0;
}

static int open_file(struct reader *reader, struct err *err)
{
    struct jxl jxl;
    struct image *img = &reader->img;
    if (look(&jxl, reader->file, img->meta, reader->opts, err))
        return -1;
    img->width = jxl.header.stored.width;
    img->height = jxl.header.stored.height;
    img->orientation = jxl.header.orientation;
    img->meta->orientation = jxl.tags;
    return 0;
}

/* ---- Turning --------------------------------------------------------------*/

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
    const unsigned grows = turn->jxl->header.grows;
    if (!grows || at == box->end)
        return 0;
    bool good = read_varint(turn->jxl, &at, box->end, &count);
    const size_t first = at += 8;
    if (!good || !read_varint(turn->jxl, &at, box->end, &offset)) {
        warn(turn->warnings, "its index of frames is malformed, and stays");
        return 0;
    }
    patch->at = first;
    patch->was = at - first;
    offset += grows;
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
    return jxl_header_set(patch, head, &header,
                          xform_retag(header.orientation, turn->op), err);
}

/* Appends a box as it is afterwards. */
static int write_box(struct bytes *out, const struct box *box,
                     const struct jxl_turn *turn, struct err *err)
{
    const struct jxl *jxl = turn->jxl;
    const uint8_t *p = jxl->file.data;
    const size_t begin = out->size, stream = (size_t)(jxl->stream.data - p);
    struct jxl_patch patch = { .at = box->end };
    int status;
    if (box_is(box, "jbrd") && !turn->rebuilds)
        return 0;
    if (turn->op != XFORM_NONE && box_is(box, "jxli")) {
        status = patch_index(&patch, box, turn, err);
    } else if (turn->op != XFORM_NONE && box_is(box, "jhgm")) {
        status = patch_gain_map(&patch, box, turn, err);
    } else if (turn->op != XFORM_NONE && stream >= box->body &&
               stream <= box->end) {
        patch.at = stream;
        status =
            jxl_header_set(&patch, jxl->stream, &jxl->header,
                           xform_retag(jxl->header.orientation, turn->op), err);
    } else {
        status = patch_tags(&patch, box, turn, err);
    }
    const size_t after = patch.at + patch.was;
    if (status == 0 &&
        (!bytes_append(out, p + box->begin, patch.at - box->begin) ||
         !bytes_append(out, patch.made.data, patch.made.size) ||
         !bytes_append(out, p + after, box->end - after)))
        status = fail_memory(err, "no memory for the file");
    else if (status == 0)
        status = box_resize(out->data + begin, box, out->size - begin, err);
    bytes_free(&patch.made);
    return status;
}

/* Tags say 1, since readers that look at them and at the header would turn the
 * picture twice; but the same as the header where a JPEG file can be made
 * again, which has the tags alone. */
static int retag(struct bytes *out, struct stream_info *info, struct bytes file,
                 enum xform op, const struct load_opts *opts, struct err *err)
{
    struct jxl jxl;
    struct box box = { .end = 0 };
    if (look(&jxl, file, NULL, opts, err))
        return -1;
    const struct jxl_size shown = jxl.header.shown;
    const unsigned orientation = xform_retag(jxl.header.orientation, op);
    const bool rebuilds = jxl.rebuilds && (jxl.exif || orientation == 1);
    const struct jxl_turn turn = { .jxl = &jxl,
                                   .op = op,
                                   .tags = rebuilds ? orientation : 1,
                                   .rebuilds = rebuilds || op == XFORM_NONE,
                                   .warnings = opts->warnings };
    info->width = jxl.header.stored.width;
    info->height = jxl.header.stored.height;
    info->orientation = jxl.tags;
    jxl.unpacked = 0;
    if (jxl.rebuilds && !turn.rebuilds)
        warn(opts->warnings,
             "the JPEG file that it was made from has no orientation in EXIF "
             "that could be set: how to make it again is not kept");
    if (xform_transposes(op) && shown.width != shown.height)
        warn(opts->warnings, "it advises to scale it to %u x %u, which stays",
             shown.width, shown.height);
    if (jxl.is_signed && op != XFORM_NONE)
        warn(opts->warnings, "what JUMBF (C2PA) says of the pixels, such as a "
                             "signature, no longer holds");
    if (!bytes_reserve(out, file.size + jxl.header.grows))
        return fail_memory(err, "no memory for the file");
    while (next_box(&jxl, &box))
        if (write_box(out, &box, &turn, err))
            return -1;
    return bytes_append(out, file.data + jxl.end, file.size - jxl.end)
               ? 0
               : fail_memory(err, "no memory for the file");
}

const struct codec codec_jxl = {
    .name = "jxl",
    .title = "JPEG XL",
    .suffixes = (const char *const[]){ "jxl", NULL },
    .oriented = true,
    .probe = probe,
    .load = load_brotli,
    .load_slow = load_libjxl,
    .retag = retag,
    .open = open_file,
};
