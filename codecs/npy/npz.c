/* NPZ as a codec: a ZIP archive of several arrays, each an NPY.
 *
 * Every array that can be turned is turned. Labels, and all else that is not a
 * picture, stay as they are, with a warning. An archive is not converted: its
 * members have names and an order, which no other format holds. */
#include <stdio.h>
#include <string.h>

#include "codecs/image/limit.h"
#include "codecs/npy/header.h"
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
    bool changed; /* some member has become another */
    bool turned;  /* some array can be turned */
};

/* Turns a member, or keeps it with a warning if it is not an array that can be
 * turned. */
static int turn_member(struct archive *w, const struct zip_member *m,
                       struct bytes content, struct err *err)
{
    struct load_opts opts = *w->opts;
    struct npy_header header;
    struct bytes out = { 0 };
    struct image img = { 0 };
    struct err why = { .text = "not an array" };
    size_t cell;
    const bool array = npy_is(content.data, content.size);
    if (array && npy_read_header(&header, content, &why))
        return zip_fail_member(err, m, why.text);
    if (!array || npy_suits(&header, &cell, &why)) {
        warn(w->opts->warnings, "member '%.*s' is kept as it is: %s",
             (int)m->name_size, (const char *)m->name, why.text);
        return zip_put(&w->writer, m, NULL, err);
    }
    opts.limits.reserve = NULL; /* that has been done for all */
    int status = codec_npy.turn(&out, &img, content, w->t, &opts, &why);
    if (status)
        fail_with(err, &why, "member '%.*s': %s", (int)m->name_size,
                  (const char *)m->name, why.text);
    else if (!w->turned)
        *w->img = img;
    w->turned = true;
    w->changed = w->changed || out.size;
    if (status == 0)
        status = zip_put(&w->writer, m, out.size ? &out : NULL, err);
    bytes_free(&out);
    return status;
}

static int turn(struct bytes *out, struct image *img, struct bytes file,
                enum xform t, const struct load_opts *opts, struct err *err)
{
    struct archive w = {
        .writer = { .file = out,
                    .pool = opts->pool,
                    .account = opts->limits.account },
        .img = img,
        .t = t,
        .opts = opts,
    };
    int status = zip_open(&w.zip, file, err);
    /* The limit is for all members together, though only one of them is in
     * memory at a time: an archive of many large ones is as hostile as one of a
     * huge one. */
    struct limits limits = opts->limits;
    uint64_t all = 0, largest = 0;
    bool counted = true;
    for (size_t i = 0; status == 0 && i < w.zip.count; i++) {
        const uint64_t size = w.zip.member[i].size;
        counted = counted && !__builtin_add_overflow(all, size, &all) &&
                  all <= UINT64_MAX / 4;
        largest = size > largest ? size : largest;
    }
    limits.bytes = limit_bytes(&limits, all);
    if (status == 0 && (!counted || all > limits.bytes / 2))
        status =
            limit_refuse_memory("the members of an NPZ need",
                                counted ? 2 * all : UINT64_MAX, &limits, err);
    if (status == 0 && limits.reserve)
        limits.reserve(limits.context, all + 2 * largest);
    for (size_t i = 0; status == 0 && i < w.zip.count; i++) {
        const struct zip_member *m = &w.zip.member[i];
        struct bytes content;
        status = zip_extract(&content, m, SIZE_MAX, err);
        if (status == 0)
            status = turn_member(&w, m, content, err);
        bytes_free(&content);
    }
    if (status == 0 && !w.turned)
        status = fail(err, "none of its members is an array of pictures");
    if (status == 0 && w.changed)
        status = zip_finish(&w.writer, w.zip.comment, err);
    if (!w.changed)
        bytes_free(out);
    bytes_free(&w.writer.directory);
    zip_close(&w.zip);
    return status;
}

/* A header is shorter than this, unless its type has very many fields. */
enum { HEAD = 16 << 10 };

/* Lists the arrays. An archive is not read in any other way. */
static int describe(struct reader *reader, struct err *err)
{
    struct npy_header header;
    struct err unheard;
    struct zip zip;
    reader->img.color = COLOR_OTHER;
    int status = zip_open(&zip, reader->file, err);
    for (size_t i = 0; status == 0 && i < zip.count; i++) {
        const struct zip_member *m = &zip.member[i];
        struct bytes head;
        const bool array = zip_extract(&head, m, HEAD, &unheard) == 0 &&
                           npy_is(head.data, head.size) &&
                           npy_read_header(&header, head, &unheard) == 0;
        struct array_note *note =
            array ? meta_note_array(reader->img.meta) : NULL;
        bytes_free(&head);
        if (array && !note)
            status = fail_memory(err, "no memory for the decoder");
        if (!note)
            continue;
        npy_note(note, &header, reader->opts->layout);
        snprintf(note->name, sizeof note->name, "%.*s", (int)m->name_size,
                 (const char *)m->name);
    }
    zip_close(&zip);
    return status;
}

static int open(struct reader *reader, struct err *err)
{
    (void)reader, (void)err;
    return 0;
}

static int decode(struct reader *reader, struct err *err)
{
    (void)reader;
    return fail(err, "the arrays of an NPZ are turned as NPZ, and not "
                     "converted; save the array to convert as NPY");
}

static int encode(struct bytes *file, const struct image *img,
                  const struct save_opts *opts, struct err *err)
{
    (void)file, (void)img, (void)opts;
    return fail(err, "only an NPZ can become an NPZ; write an NPY");
}

/* Reads the directory: members are where it says, and do not overlap. */
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

const struct codec codec_npz = {
    .name = "npz",
    .title = "NPZ",
    .suffixes = (const char *const[]){ "npz", NULL },
    .capabilities = {
        .cells = 1 << CELL_U8 | 1 << CELL_U16 | 1 << CELL_F32,
        .colors = 1 << COLOR_GRAY | 1 << COLOR_RGB | 1 << COLOR_OTHER,
        .alpha = true,
    },
    .arrays = true,
    .probe = probe,
    .open = open,
    .decode = decode,
    .describe = describe,
    .turn = turn,
    .encode = encode,
    .check = check,
};
