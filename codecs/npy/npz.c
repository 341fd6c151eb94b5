/* NPZ: several arrays of numpy, each a file NPY in a ZIP archive.
 *
 * Every array that can be turned is; labels and what else is no picture stay as
 * they are, with a warning, for a file of pictures is seldom without them. An
 * archive stays one: what is in it has names and an order, and no other format
 * holds that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codecs/image/limit.h"
#include "codecs/npy/npy.h"
#include "codecs/npy/zip.h"

static bool probe(const uint8_t *head, size_t size)
{
    return zip_is(head, size, ".npy");
}

/* What is being turned. */
struct archive {
    struct zip zip;
    struct zip_writer writer;
    struct image *img;
    enum xform t;
    const struct load_opts *opts;
    struct load_opts member_opts; /* the same; nothing is reserved again */
    bool changed;                 /* something is to be written */
    bool turned;                  /* some array was found that can be */
};

static int fail_member(struct err *err, const struct zip_member *m,
                       const struct err *why)
{
    return fail(err, "member '%.*s': %s", (int)m->name_size,
                (const char *)m->name, why->text);
}

/* All members are held to the limit together, though there is never more than
 * one of them in memory: an archive of many that hold much is as hostile. */
static int check_sizes(const struct zip *zip, const struct limits *limits,
                       struct err *err)
{
    uint64_t all = 0, largest = 0;
    bool counted = true;
    for (size_t i = 0; i < zip->count; i++) {
        uint64_t size = zip->member[i].size;
        counted = counted && !__builtin_add_overflow(all, size, &all) &&
                  all <= UINT64_MAX / 4;
        largest = size > largest ? size : largest;
    }
    if (!counted || all > limits->bytes / 2)
        return limit_refuse_bytes("its members need",
                                  counted ? 2 * all : UINT64_MAX,
                                  limits->bytes, err);
    if (limits->reserve)
        limits->reserve(limits->context, 2 * largest + all);
    return 0;
}

/* Whether what a member holds is an array that can be turned; else a warning
 * says why not. */
static bool suits(const struct zip_member *m, struct bytes content,
                  struct warnings *warnings, struct err *err, int *status)
{
    struct npy_header header;
    struct err why = { .text = "it is no array" };
    size_t cell;
    *status = 0;
    if (npy_is(content.data, content.size)) {
        if (npy_read_header(&header, content, &why)) {
            *status = fail_member(err, m, &why);
            return false;
        }
        if (npy_suits(&header, &cell, &why) == 0)
            return true;
    }
    warn(warnings, "member '%.*s' is kept as it is: %s", (int)m->name_size,
         (const char *)m->name, why.text);
    return false;
}

static int turn_content(struct archive *w, const struct zip_member *m,
                        struct bytes content, struct err *err)
{
    struct bytes out = { 0 };
    struct image img = { 0 };
    struct err why;
    int status = 0;
    if (!suits(m, content, w->opts->warnings, err, &status))
        return status ? -1 : zip_copy(&w->writer, m, err);
    if (codec_npy.turn(&out, &img, content, w->t, &w->member_opts, &why))
        status = fail_member(err, m, &why);
    else if (!w->turned)
        *w->img = img;
    w->turned = true;
    w->changed = w->changed || out.size;
    if (status == 0)
        status = out.size ? zip_replace(&w->writer, m, out, err)
                          : zip_copy(&w->writer, m, err);
    bytes_free(&out);
    return status;
}

static int turn_members(struct archive *w, struct err *err)
{
    int status = check_sizes(&w->zip, &w->opts->limits, err);
    for (size_t i = 0; status == 0 && i < w->zip.count; i++) {
        struct bytes content;
        status = zip_extract(&content, &w->zip.member[i], err);
        if (status == 0)
            status = turn_content(w, &w->zip.member[i], content, err);
        bytes_free(&content);
    }
    if (status == 0 && !w->turned)
        return fail(err, "none of its members is an array of pictures");
    return status;
}

static int turn(struct bytes *out, struct image *img, struct bytes file,
                enum xform t, const struct load_opts *opts, struct err *err)
{
    struct archive w = {
        .writer = { .file = out, .pool = opts->pool },
        .img = img,
        .t = t,
        .opts = opts,
        .member_opts = *opts,
    };
    w.member_opts.limits.reserve = NULL;
    int status = zip_open(&w.zip, file, err);
    if (status == 0)
        status = turn_members(&w, err);
    if (status == 0 && w.changed)
        status = zip_finish(&w.writer, w.zip.comment, err);
    if (!w.changed)
        bytes_free(out);
    zip_abandon(&w.writer);
    zip_close(&w.zip);
    return status;
}

/* The header of numpy is shorter than this, unless a type has very many
 * fields. */
enum { HEAD = 16 << 10 };

static int note_arrays(struct meta *meta, const struct zip *zip,
                       enum layout layout, struct err *err)
{
    static const char memory[] = "no memory for the decoder";
    struct npy_header header;
    struct err unheard;
    uint8_t *head = malloc(HEAD);
    int status = head ? 0 : fail(err, "%s", memory);
    for (size_t i = 0; status == 0 && i < zip->count; i++) {
        const struct zip_member *m = &zip->member[i];
        struct bytes some = { .data = head };
        some.size = zip_extract_head(head, HEAD, m);
        if (!npy_is(some.data, some.size) ||
            npy_read_header(&header, some, &unheard))
            continue;
        struct array_note *note = meta_note_array(meta);
        if (!note)
            status = fail(err, "%s", memory);
        else {
            npy_note(note, &header, layout);
            snprintf(note->name, sizeof note->name, "%.*s", (int)m->name_size,
                     (const char *)m->name);
        }
    }
    free(head);
    return status;
}

/* What is in an archive is named; there is no other way to read it. */
static int describe(struct reader *reader, struct err *err)
{
    struct zip zip;
    reader->img.color = COLOR_OTHER;
    int status = zip_open(&zip, reader->file, err);
    if (status == 0)
        status = note_arrays(reader->img.meta, &zip, reader->opts->layout, err);
    zip_close(&zip);
    return status;
}

static int open(struct reader *reader, struct err *err)
{
    (void)reader, (void)err;
    return 0;
}

static int decode(struct reader *reader, const struct decode_plan *plan,
                  struct err *err)
{
    (void)reader, (void)plan;
    return fail(err, "the arrays of an NPZ are turned as NPZ, and not "
                     "converted; save the one that shall be as NPY");
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    (void)file, (void)img, (void)opts;
    return fail(err, "an NPZ is made of an NPZ only; write an NPY");
}

/* Members are where the directory says, and none overlaps another. */
static int check(struct bytes file, const struct image *img,
                 const struct save_opts *opts, struct err *err)
{
    struct zip zip;
    (void)img, (void)opts;
    int status = zip_open(&zip, file, err);
    if (status == 0 && zip.count == 0)
        status = fail(err, "it has no members");
    zip_close(&zip);
    return status;
}

static const char *const suffixes[] = { "npz", NULL };

const struct codec codec_npz = {
    .name = "npz",
    .title = "NPZ",
    .suffixes = suffixes,
    .holds = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16 | 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_OTHER,
        .alpha = true,
    },
    .probe = probe,
    .open = open,
    .decode = decode,
    .describe = describe,
    .turn = turn,
    .encode = encode,
    .check = check,
};
