/* NPZ as a codec: a ZIP archive of several arrays, each an NPY.
 *
 * Every array that can be turned is turned. Labels, and all else that is not a
 * picture, stay as they are, with a warning. An archive is not converted: its
 * members have names and an order, which no other format holds. */
#include <stdio.h>
#include <string.h>

#include "codecs/base/memory.h"
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
    struct load_opts member_opts; /* the same; nothing is reserved again */
    bool changed;                 /* some member has become another */
    bool turned;                  /* some array can be turned */
    bool large;                   /* it is more than memory is to hold */

    /* Of a large one. */
    const struct zip_member *member; /* that is being turned */
    bool begun;                      /* some of it is in the output */
    struct flush flush;              /* of what the member becomes */
};

static bool is_large(const struct archive *w, uint64_t member)
{
    return w->large && member > limit_bytes(&w->opts->limits, member) / 2;
}

/* The limit is for all members together, though only one of them is in memory
 * at a time: an archive of many large ones is as hostile as one of a huge one.
 */
static int check_sizes(struct archive *w, struct err *err)
{
    const struct limits *limits = &w->opts->limits;
    const struct zip *zip = &w->zip;
    uint64_t all = 0, largest = 0;
    bool counted = true;
    for (size_t i = 0; i < zip->count; i++) {
        uint64_t size = zip->member[i].size;
        counted = counted && !__builtin_add_overflow(all, size, &all) &&
                  all <= UINT64_MAX / 4;
        largest = size > largest ? size : largest;
    }
    struct limits told = *limits;
    told.bytes = limit_bytes(limits, all);
    w->large = !counted || all > told.bytes / 2;
    /* Nothing of it can go through files, but for what has to be kept to the
     * end, where nothing is turned. A sparse one does not unless the user asks
     * for little memory: by one thread, what a small file holds is inflated for
     * seconds. */
    const bool sparse = limits->sparse_from && all > limits->sparse_from;
    if (w->large &&
        (!counted || !limits->scratch || sparse || all > limits->stored ||
         (w->t == XFORM_NONE && w->opts->tolerant)))
        return limit_refuse_memory("the members of an NPZ need",
                                   counted ? 2 * all : UINT64_MAX, &told, err);
    uint64_t need = w->large ? limits->scratch->memory : all;
    if (!is_large(w, largest))
        need += 2 * largest;
    if (limits->reserve)
        limits->reserve(limits->context, need);
    return 0;
}

/* Takes what a large member becomes. */
static int put_piece(void *context, struct bytes *piece, struct err *err)
{
    struct archive *w = context;
    if (!w->begun && zip_begin(&w->writer, w->member, err))
        return -1;
    w->begun = true;
    if (zip_put(&w->writer, *piece, err))
        return -1;
    piece->size = 0;
    return 0;
}

/* Where nothing is turned, a large archive is only checked. */
static int keep_member(struct archive *w, const struct zip_member *m,
                       struct err *err)
{
    return w->large && w->t == XFORM_NONE
               ? 0
               : zip_copy(&w->writer, &w->zip, m, err);
}

/* Turns a member that is an array. */
static int turn_array(struct archive *w, const struct zip_member *m,
                      struct bytes content, struct err *err)
{
    struct bytes out = { 0 };
    struct image img = { 0 };
    struct err why;
    if (is_large(w, m->size) && w->zip.mapped)
        content.capacity = SIZE_MAX; /* borrowed, but its pages can be given
                                        back */
    w->member = m;
    w->begun = false;
    int status =
        codec_npy.turn(&out, &img, content, w->t, &w->member_opts, &why);
    if (status)
        fail_with(err, &why, "member '%.*s': %s", (int)m->name_size,
                  (const char *)m->name, why.text);
    else if (!w->turned)
        *w->img = img;
    w->turned = true;
    w->changed = w->changed || out.size || w->begun;
    if (status == 0)
        status = w->begun   ? zip_end(&w->writer, out, err)
                 : out.size ? zip_replace(&w->writer, m, out, err)
                            : keep_member(w, m, err);
    bytes_free(&out);
    return status;
}

/* Turns a member, or keeps it with a warning if it is not an array that can be
 * turned. */
static int turn_content(struct archive *w, const struct zip_member *m,
                        struct bytes content, struct err *err)
{
    struct npy_header header;
    struct err why = { .text = "not an array" };
    size_t cell;
    bool array = npy_is(content.data, content.size);
    if (array && npy_read_header(&header, content, &why))
        return zip_fail_member(err, m, why.text);
    if (array && npy_suits(&header, &cell, &why) == 0)
        return turn_array(w, m, content, err);
    warn(w->opts->warnings, "member '%.*s' is kept as it is: %s",
         (int)m->name_size, (const char *)m->name, why.text);
    return keep_member(w, m, err);
}

static int turn_members(struct archive *w, struct err *err)
{
    struct load_opts *opts = &w->member_opts;
    int status = 0;
    if (check_sizes(w, err))
        return -1;
    *opts = *w->opts;
    opts->limits.reserve = NULL;
    opts->flush = NULL;
    if (w->large) { /* large members in pieces */
        w->writer.flush = w->opts->flush;
        w->flush = (struct flush){ .take = put_piece, .context = w };
        opts->flush = &w->flush;
    }
    for (size_t i = 0; status == 0 && i < w->zip.count; i++) {
        const struct zip_member *m = &w->zip.member[i];
        struct bytes content;
        status = zip_extract(
            &content, &w->zip, m,
            is_large(w, m->size) ? w->opts->limits.scratch : NULL, err);
        if (status == 0)
            status = turn_content(w, m, content, err);
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
        .writer = { .file = out,
                    .pool = opts->pool,
                    .account = opts->limits.account },
        .img = img,
        .t = t,
        .opts = opts,
    };
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

/* A header is shorter than this, unless its type has very many fields. */
enum { HEAD = 16 << 10 };

static int note_arrays(struct meta *meta, const struct zip *zip,
                       enum layout layout, struct err *err)
{
    struct npy_header header;
    struct err unheard;
    uint8_t *head = memory_alloc(HEAD);
    int status = head ? 0 : fail(err, "no memory for the decoder");
    for (size_t i = 0; status == 0 && i < zip->count; i++) {
        const struct zip_member *m = &zip->member[i];
        struct bytes some = { head, zip_extract_head(head, HEAD, m), 0 };
        if (!npy_is(some.data, some.size) ||
            npy_read_header(&header, some, &unheard))
            continue;
        struct array_note *note = meta_note_array(meta);
        if (!note) {
            status = fail(err, "no memory for the decoder");
            break;
        }
        npy_note(note, &header, layout);
        snprintf(note->name, sizeof note->name, "%.*s", (int)m->name_size,
                 (const char *)m->name);
    }
    memory_free(head);
    return status;
}

/* Lists the arrays. An archive is not read in any other way. */
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
    .stores = true,
    .arrays = true,
    .probe = probe,
    .open = open,
    .decode = decode,
    .describe = describe,
    .turn = turn,
    .encode = encode,
    .check = check,
};
