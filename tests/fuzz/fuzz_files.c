/* Any bytes as a file that is turned without being decoded as a picture first,
 * or that gets a tag: GIF, WebP, TIFF, arrays, HEIF, JPEG XL and cameras' raw
 * files. It is described, decoded, turned by all turns, tagged and encoded,
 * without access to what is outside of it. What is made can be read, and is
 * shown turned; what loses nothing changes no more after four quarter turns. */
#include <stdlib.h>
#include <string.h>

#include "codecs/ifd/retag.h"
#include "tests/fuzz/fuzz.h"
#include "tests/support/fixture.h"

enum { PIXELS = 1 << 13, TOLERANT = 1, NO_TURNER = 2, AS_STORED = 4, WAYS = 8 };

static struct warnings warnings;
static bool anew;
static const struct turner turner = { .turn = turn_cells, .tile = 4096 };
static const struct save_opts saves[2] = {
    { .orientation = 1,
      .suffix = "",
      .encoded_anew = &anew,
      .turner = &turner,
      .warnings = &warnings },
    { .drop = DROP_GPS,
      .suffix = "",
      .encoded_anew = &anew,
      .turner = &turner,
      .warnings = &warnings },
};

static const struct codec *codec; /* of the file */
static bool is_tiff;

static struct load_opts load_opts(int how)
{
    warnings.count = 0;
    return (struct load_opts){
        .limits = { .pixels = PIXELS, .bytes = 16 << 20 },
        .mem = mem_plain,
        .tolerant = how & TOLERANT,
        .portable = !is_tiff || !(how & TOLERANT),
        .save = how & NO_TURNER ? NULL : &saves[how & AS_STORED ? 1 : 0],
        .warnings = &warnings,
    };
}

/* ---- Turned whole ---------------------------------------------------------
 */

/* Returns whether it can be turned; else `made` is empty. What nothing changes
 * in is copied. */
static bool turn(struct bytes *made, struct bytes file, enum xform t,
                 struct load_opts load)
{
    owned_image img = { 0 };
    struct err err = { .text = "" };
    *made = (struct bytes){ 0 };
    if (codec->turn(made, &img, file, t, &load, &err)) {
        must(*err.text && !img.pixels.kind && !img.meta);
        bytes_free(made);
        return false;
    }
    must(!made->size || !codec->check || (load.tolerant && !is_tiff) ||
         codec->check(*made, NULL, NULL, &err) == 0);
    must(made->size || bytes_append(made, file.data, file.size));
    return true;
}

/* Whether a WebP is turned exactly, or not at all if it is too large. Small
 * frames turn where they lie on a canvas of any size; those that are composed
 * on one beyond the limit do not. */
static unsigned webp_turns(struct bytes once, const struct load_opts *load)
{
    struct stream_info info;
    struct err err;
    if (codec_look(codec, &info, once, load, &err) ||
        (uint64_t)info.width * info.height > PIXELS)
        return 0;
    return info.lossy ? 2 : 9;
}

/* The cells that a turned WebP has. */
static void check_cells(struct bytes from, struct bytes to, bool lossless)
{
    const struct load_opts load = load_opts(0);
    owned_image was = { 0 }, is = { 0 };
    struct err err;
    must(codec_read(codec, &was, from, &load, &err) == 0);
    must(codec_read(codec, &is, to, &load, &err) == 0);
    turn_image(&was, XFORM_ROTATE_90);
    must(was.width == is.width && was.height == is.height);
    must(!lossless || is.meta->animation.frames || same_cells(&was, &is));
}

/* Only its shape implies the layout of an array, and the turned shape may imply
 * another; and what is left of a TIFF may be refused. */
static void turn_around(struct bytes file, struct load_opts load)
{
    struct bytes made[9] = { { 0 } };
    if (!turn(&made[0], file, XFORM_ROTATE_90, load))
        return;
    const bool tolerant = load.tolerant, webp = codec == codec_by_name("webp");
    load.tolerant = false;
    unsigned turns = webp ? webp_turns(made[0], &load)
                     : is_tiff || (codec->arrays && load.layout == LAYOUT_AUTO)
                         ? 0
                         : 9;
    for (unsigned i = 1; i < turns; i++)
        must(turn(&made[i], made[i - 1], XFORM_ROTATE_90, load));
    must(turns < 9 || same_bytes(made[4], made[8]));
    if (webp && turns)
        check_cells(made[0], made[1], turns == 9);
    if (is_tiff && load.save && !tolerant)
        (void)turn(&made[1], made[0], XFORM_ROTATE_270, load);
    for (unsigned i = 0; i < 9; i++)
        bytes_free(&made[i]);
}

static void turn_whole(struct bytes file)
{
    static const enum xform others[] = { XFORM_NONE, XFORM_MIRROR_X,
                                         XFORM_TRANSVERSE };
    for (int how = 0; how < WAYS; how++) {
        struct load_opts load = load_opts(how);
        const int layouts = codec->arrays ? LAYOUT_HW : LAYOUT_AUTO + 1;
        struct bytes made;
        for (int k = LAYOUT_AUTO; load.save && k < layouts; k++) {
            load.layout = (enum layout)k;
            turn_around(file, load);
        }
        load.layout = LAYOUT_AUTO;
        /* Without a turner it is said what a turn would be. */
        const unsigned n = load.save || is_tiff             ? COUNT(others)
                           : codec == codec_by_name("webp") ? 1
                                                            : 0;
        for (unsigned i = 0; i < n; i++)
            if (turn(&made, file, others[i], load))
                bytes_free(&made);
    }
}

/* ---- Decoded ---------------------------------------------------------------
 */

static void convert(struct bytes file, int how)
{
    const struct load_opts load = load_opts(how);
    struct reader reader = { 0 };
    owned_image shape = { 0 }, img = { 0 }, again = { 0 };
    owned_bytes made = { 0 };
    struct err err = { .text = "" };
    if (codec_open(&reader, codec, file, &load, &err) == 0)
        (void)codec_describe(&reader, &shape, &err);
    codec_close(&reader);
    err = (struct err){ .text = "" };
    if (codec_read(codec, &img, file, &load, &err)) {
        must(*err.text);
    } else if (!is_tiff && !codec->arrays &&
               encode_as(codec, &made, &img, saves, &err) == 0) {
        must(codec->check(made, &img, saves, &err) == 0);
        must(codec_read(codec, &again, made, &load, &err) == 0);
        must(codec == &codec_gif || same_cells(&img, &again));
    }
}

/* ---- Tagged ----------------------------------------------------------------
 */

typedef int retagger(struct bytes *out, struct stream_info *info,
                     struct bytes file, enum xform op,
                     const struct load_opts *opts, struct err *err);

/* What JPEG XL is turned by does not depend on its size. */
static struct load_opts tag_opts(int how)
{
    struct load_opts load = small_load(&warnings);
    warnings.count = 0;
    load.tolerant = how & TOLERANT;
    if (codec == &codec_jxl)
        load.limits = (struct limits){ 0 };
    return load;
}

/* What says the orientation of a picture says what is wanted. */
static void check_tag(struct bytes made, const struct stream_info *was,
                      unsigned wanted, int how)
{
    const struct load_opts load = tag_opts(how);
    struct stream_info is;
    struct err err = { .text = "" };
    if (codec_look(codec, &is, made, &load, &err)) {
        must(*err.text && codec == codec_by_name("webp")); /* too large */
        return;
    }
    must((is.orientation.value ? is.orientation.value : 1) == wanted);
    must(is.width == was->width && is.height == was->height);
}

/* Tags `from` as `to`, which is empty. Returns the orientation that it is to
 * have; 0 if it is refused. */
static unsigned tag(retagger *retag, struct bytes *to, struct bytes from,
                    enum xform t, int how)
{
    /* The bytes of the largest IFD, and one more entry. */
    static const size_t ifd = 2 + 65535 * 20 + 20 + 8;
    const struct load_opts load = tag_opts(how);
    struct stream_info info = { 0 };
    struct err err = { .text = "" };
    if (retag(to, &info, from, t, &load, &err)) {
        must(*err.text);
        bytes_free(to);
        return 0;
    }
    const unsigned wanted = xform_retag(info.orientation.value, t);
    must(info.orientation.value <= 8);
    if (codec == &codec_raw || retag == retag_tiff) {
        const uint64_t pages = retag == retag_tiff ? 1 << 20 : 1;
        must(to->size >= from.size && to->size - from.size <= pages * ifd);
        must(t != XFORM_NONE || same_bytes(*to, from));
    } else {
        check_tag(*to, &info, wanted, how);
    }
    return wanted;
}

static void tag_all(retagger *retag, struct bytes file)
{
    const bool jxl = retag == codec_jxl.retag;
    const bool heif = retag == codec_heic.retag;
    const struct load_opts load = tag_opts(0);
    struct bytes made[9] = { { 0 } };
    struct stream_info info;
    struct err err;
    for (int how = 0; how <= TOLERANT; how++)
        for (EACH_TURN(t)) {
            owned_bytes one = { 0 };
            const unsigned value = tag(retag, &one, file, t, how);
            if (!jxl || t != XFORM_NONE || how)
                continue;
            /* It is turned if it can be read. */
            const int status = codec_look(codec, &info, file, &load, &err);
            must((status == 0) == (value != 0));
            must(status || info.orientation.value == value);
        }
    must(bytes_append(&made[0], file.data, file.size));
    for (int i = 1; (jxl || heif) && i <= 8; i++)
        if (!tag(retag, &made[i], made[i - 1], XFORM_ROTATE_90, 0)) {
            must(!jxl || i == 1); /* what can be turned once can be again */
            break;
        }
    must(!made[8].size || same_bytes(made[4], made[8]));
    for (int i = 0; i < 9; i++)
        bytes_free(&made[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    owned_bytes file = { 0 };
    if (!size || !bytes_append(&file, data, size))
        return 0;
    codec = codec_jxl.probe(data, size) ? &codec_jxl : codec_probe(file);
    is_tiff = codec && codec == codec_by_name("tiff");
    if (codec && codec->turn) {
        turn_whole(file);
        for (int tolerant = 0; tolerant < 2; tolerant++)
            convert(file, tolerant);
    }
    if (codec == &codec_raw || codec == &codec_jxl ||
        (codec && codec == codec_by_name("webp")))
        tag_all(codec->retag, file);
    if (codec != &codec_jxl) {
        codec = &codec_heic; /* whatever its first bytes are */
        tag_all(codec->retag, file);
    }
    tag_all(retag_tiff, file);
    return 0;
}
