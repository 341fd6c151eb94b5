/* The orientation in EXIF and XMP beside a JPEG XL picture. Their boxes may be
 * compressed (brob): a type, and what a box of that type holds as Brotli (RFC
 * 7932). */
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/shared_library.h"
#include "codecs/jxl/jxl.h"
#include "codecs/metadata/exif.h"
#include "codecs/metadata/xmp.h"

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

int jxl_load_brotli(struct err *err)
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

/* The way that libjxl compresses in, if that costs little. */
static int pack(struct bytes *to, struct bytes plain, struct err *err)
{
    enum { WINDOW = 22, GENERIC = 0, LARGE = 64 << 10 };
    if (!bytes_reserve(to, plain.size + plain.size / 8 + 1024))
        return fail_memory(err, "no memory to compress metadata");
    to->size = to->capacity;
    return pack_into(plain.size > LARGE ? 4 : 9, WINDOW, GENERIC, plain.size,
                     plain.data, &to->size, to->data) == 1
               ? 0
               : fail(err, "metadata cannot be compressed");
}

/* ---- What a box holds ---------------------------------------------------- */

static bool is_packed(const struct box *box)
{
    return box_is(box, "brob") && box->end - box->body >= 4;
}

bool jxl_box_holds(struct bytes file, const struct box *box, const char *type)
{
    return box_is(box, type) ||
           (is_packed(box) && memcmp(file.data + box->body, type, 4) == 0);
}

struct content {
    bool exif;           /* else XMP */
    bool packed;         /* in the file */
    struct bytes stored; /* as it is there; borrowed */
    struct bytes plain;  /* unpacked: borrowed, or owned */
    size_t at, size;     /* of EXIF or XMP in it */
};

static bool is_tagged(struct bytes file, const struct box *box)
{
    return jxl_box_holds(file, box, "Exif") || jxl_box_holds(file, box, "xml ");
}

static int content_open(struct content *content, struct jxl_tags *tags,
                        struct bytes file, const struct box *box,
                        struct err *err)
{
    const size_t type = is_packed(box) ? 4 : 0;
    struct content c = {
        .exif = jxl_box_holds(file, box, "Exif"),
        .packed = type,
        .stored = { .data = file.data + box->body + type,
                    .size = box->end - box->body - type },
    };
    if (!type)
        c.plain = c.stored;
    else if (tags->unpacked > UNPACKED_ALL)
        return fail(err, "there is too much of it");
    else if (jxl_load_brotli(err) || unpack(&c.plain, c.stored, err)) {
        tags->unpacked += UNPACKED_MOST;
        bytes_free(&c.plain);
        return -1;
    }
    tags->unpacked += type ? UNPACKED_LEAST + c.plain.size : 0;
    c.at = c.exif ? exif_item_begin(c.plain.data, c.plain.size) : 0;
    c.size = c.plain.size - c.at;
    *content = c;
    return 0;
}

/* What cannot be unpacked says nothing. A 1 beside the image header is as it
 * should be. */
int jxl_tags_note(struct jxl_tags *tags, struct bytes file,
                  const struct box *box, struct err *err)
{
    const bool first = !tags->has_exif && jxl_box_holds(file, box, "Exif");
    struct content c;
    tags->has_exif = tags->has_exif || first;
    if (!is_tagged(file, box))
        return 0;
    if (content_open(&c, tags, file, box, err))
        return err->memory ? -1 : 0;
    const uint8_t *data = c.plain.data + c.at;
    const unsigned value =
        c.exif ? exif_tag(data, c.size) : xmp_orientation(data, c.size);
    if (value > 1)
        orientation_note(&tags->orientation, c.exif ? TAG_EXIF : TAG_XMP,
                         value);
    tags->can_set = first ? value : tags->can_set;
    bytes_free(&c.plain);
    return 0;
}

int jxl_tags_set(struct jxl_patch *patch, struct jxl_tags *tags,
                 struct bytes file, const struct box *box,
                 struct warnings *warnings, struct err *err)
{
    struct content c;
    struct bytes made = { 0 };
    int status = 0;
    if (!is_tagged(file, box))
        return 0;
    if (content_open(&c, tags, file, box, err)) {
        warn(warnings, "%s stays as it is, since it cannot be unpacked: %s",
             jxl_box_holds(file, box, "Exif") ? "EXIF" : "XMP", err->text);
        return err->memory ? -1 : 0;
    }
    if (!bytes_append(&made, c.plain.data, c.plain.size))
        status = fail_memory(err, "no memory for metadata");
    else if (c.exif)
        exif_retag(made.data + c.at, c.size, tags->says, tags->op);
    else
        xmp_turn(made.data, c.size, XFORM_NONE, tags->says);
    if (status == 0 && memcmp(made.data, c.plain.data, c.plain.size) != 0) {
        patch->at = (size_t)(c.stored.data - file.data);
        patch->was = c.stored.size;
        if (c.packed) {
            status = pack(&patch->made, made, err);
        } else {
            patch->made = made;
            made = (struct bytes){ 0 };
        }
    }
    bytes_free(&made);
    bytes_free(&c.plain);
    return status;
}
