/* Directories of TIFF (TIFF 6.0, section 2) and BigTIFF, read and written. */
#include "codecs/ifd/directory.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/memory.h"
#include "codecs/metadata/tiff.h"

/* EXIF leads to Interoperability; a picture in SubIFDs may have EXIF. */
enum { DEPTH = 6, DIRECTORIES = 1 << 18 };

enum {
    TAG_GLOBAL = 400,
    TAG_MAKER_NOTE = 37500,
    TAG_INTEROPERABILITY = 40965,
    TAG_PRIVATE_DATA = 50740,
};

/* ---- Fields ------------------------------------------------------------- */

struct field *directory_find(const struct directory *dir, unsigned tag)
{
    for (size_t i = 0; i < dir->nfields; i++)
        if (dir->field[i].tag == tag)
            return &dir->field[i];
    return NULL;
}

bool field_has_integers(const struct field *field)
{
    const uint32_t integers = 1u << FIELD_BYTE | 1u << FIELD_SHORT |
                              1u << FIELD_LONG | 1u << FIELD_IFD |
                              1u << FIELD_LONG8 | 1u << FIELD_IFD8;
    return field && field->count && field->type < 32 &&
           integers >> field->type & 1;
}

uint64_t directory_number(const struct directory *dir, unsigned tag, uint64_t i,
                          uint64_t otherwise)
{
    const struct field *field = directory_find(dir, tag);
    if (!field_has_integers(field) || i >= field->count)
        return otherwise;
    const unsigned bytes = tiff_size_of(field->type);
    return tiff_read(dir->form, field->data + i * bytes, bytes);
}

bool directory_is_picture(const struct directory *dir)
{
    return directory_find(dir, TAG_WIDTH) && directory_find(dir, TAG_HEIGHT) &&
           (directory_find(dir, TAG_STRIP_OFFSETS) || directory_is_tiled(dir));
}

bool directory_is_tiled(const struct directory *dir)
{
    return directory_find(dir, TAG_TILE_OFFSETS) != NULL;
}

unsigned directory_orientation(const struct directory *dir)
{
    const uint64_t tag = directory_number(dir, TAG_ORIENTATION, 0, 0);
    if (!directory_find(dir, TAG_ORIENTATION))
        return 0;
    return tag >= 1 && tag <= 8 ? (unsigned)tag : 1;
}

static void free_field(struct field *field)
{
    if (field->owned)
        memory_free(field->data);
}

void directory_remove(struct directory *dir, unsigned tag)
{
    size_t kept = 0;
    for (size_t i = 0; i < dir->nfields; i++) {
        if (dir->field[i].tag == tag)
            free_field(&dir->field[i]);
        else
            dir->field[kept++] = dir->field[i];
    }
    dir->nfields = kept;
}

uint8_t *directory_make(struct directory *dir, unsigned tag, unsigned type,
                        uint64_t count)
{
    const size_t size = (size_t)count * tiff_size_of(type);
    uint8_t *data = memory_alloc_zeroed(1, size + 1);
    struct field *all =
        memory_realloc(dir->field, (dir->nfields + 1) * sizeof *all);
    dir->field = all ? all : dir->field;
    if (!data || !all) {
        memory_free(data);
        dir->failed = true;
        return NULL;
    }
    directory_remove(dir, tag);
    dir->field[dir->nfields++] = (struct field){ .tag = (uint16_t)tag,
                                                 .type = (uint16_t)type,
                                                 .owned = true,
                                                 .count = count,
                                                 .data = data,
                                                 .size = size };
    return data;
}

void directory_set(struct directory *dir, unsigned tag, unsigned type,
                   const void *data, uint64_t count)
{
    uint8_t *to = directory_make(dir, tag, type, count);
    if (to && count)
        memcpy(to, data, (size_t)count * tiff_size_of(type));
}

void directory_set_numbers(struct directory *dir, unsigned tag, unsigned type,
                           const uint64_t *numbers, uint64_t count)
{
    const unsigned bytes = tiff_size_of(type);
    uint8_t *to = directory_make(dir, tag, type, count);
    for (uint64_t i = 0; to && i < count; i++)
        tiff_write(dir->form, to + i * bytes, bytes, numbers[i]);
}

void directory_copy(struct directory *dir, const struct field *field)
{
    directory_set(dir, field->tag, field->child ? FIELD_LONG : field->type,
                  field->data, field->child ? 0 : field->count);
    if (!dir->failed)
        directory_find(dir, field->tag)->child = field->child;
}

void directory_set_number(struct directory *dir, unsigned tag, uint64_t number)
{
    const struct field *was = directory_find(dir, tag);
    unsigned type = number > UINT16_MAX ? FIELD_LONG : FIELD_SHORT;
    if (was && (was->type == FIELD_LONG || was->type == FIELD_LONG8 ||
                (was->type == FIELD_BYTE && number <= UINT8_MAX)))
        type = was->type;
    directory_set_numbers(dir, tag, type, &number, 1);
}

uint8_t *directory_own(struct directory *dir, unsigned tag)
{
    const struct field *field = directory_find(dir, tag);
    if (field && !field->owned)
        directory_set(dir, tag, field->type, field->data, field->count);
    field = directory_find(dir, tag);
    return field && field->owned ? field->data : NULL;
}

void directory_exchange(struct directory *dir, unsigned a, unsigned b)
{
    for (size_t i = 0; i < dir->nfields; i++) {
        uint16_t *tag = &dir->field[i].tag;
        *tag = (uint16_t)(*tag == a ? b : *tag == b ? a : *tag);
    }
}

/* ---- Reading ------------------------------------------------------------ */

bool directories_probe(struct tiff_form *form, struct bytes head, bool camera)
{
    static const struct {
        const char *bytes;
        unsigned size;
        struct tiff_form form;
        bool camera;
    } magics[] = {
        { "II*\0", 4, { false, false }, false },
        { "MM\0*", 4, { true, false }, false },
        { "II+\0\x08\0\0\0", 8, { false, true }, false },
        { "MM\0+\0\x08\0\0", 8, { true, true }, false },
        { "IIRO", 4, { false, false }, true },
        { "IIRS", 4, { false, false }, true },
        { "MMOR", 4, { true, false }, true },
        { "IIU\0", 4, { false, false }, true },
    };
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++)
        if (head.size >= 8 && (camera || !magics[i].camera) &&
            memcmp(head.data, magics[i].bytes, magics[i].size) == 0) {
            *form = magics[i].form;
            return true;
        }
    return false;
}

static bool contains(const struct directories *all, uint64_t at, uint64_t size)
{
    return at <= all->file.size && size <= all->file.size - at;
}

static unsigned entry_size(struct tiff_form form)
{
    return form.big ? 20 : 12;
}

/* Reads an entry. Returns false if there are no such values. */
static bool read_field(struct directories *all, struct field *field,
                       uint8_t *entry)
{
    /* Blocks of metadata or previews, of which cameras do not write places that
     * mean something else. */
    static const uint16_t large[] = { TAG_PANASONIC_JPEG, TAG_PACKET,
                                      TAG_IPTC,           TAG_ICC,
                                      TAG_MAKER_NOTE,     TAG_PRIVATE_DATA };
    const struct tiff_form form = all->form;
    const unsigned room = tiff_offset_size(form);
    uint64_t size, at = (uint64_t)(entry + 4 + room - all->file.data);
    const uint64_t count = tiff_read(form, entry + 4, room);
    *field = (struct field){ .tag = (uint16_t)tiff_read(form, entry, 2),
                             .type = (uint16_t)tiff_read(form, entry + 2, 2) };
    const unsigned bytes = tiff_size_of(field->type);
    const bool counted = !__builtin_mul_overflow(count, bytes, &size);
    if (size > room)
        at = tiff_read(form, entry + 4 + room, room);
    if (!bytes || !counted || !contains(all, at, size)) {
        for (size_t i = 0; i < sizeof large / sizeof *large; i++)
            all->cut |= bytes && field->tag == large[i];
        return false;
    }
    field->count = count;
    field->data = all->file.data + at;
    field->size = (size_t)size;
    return true;
}

void directory_clear(struct directory *dir)
{
    for (size_t i = 0; i < dir->nfields; i++)
        free_field(&dir->field[i]);
    memory_free(dir->field);
    dir->field = NULL;
    dir->nfields = 0;
}

/* Frees those of the list from here on. */
static void cut_list(struct directories *all, struct directory **from)
{
    for (struct directory *dir = *from, *then; dir; dir = then) {
        then = dir->then;
        directory_clear(dir);
        memory_free(dir);
    }
    *from = NULL;
    all->end = from;
}

static int fail_at(struct err *err, uint64_t at)
{
    return fail(err, "its directory (IFD) at byte %llu is missing or damaged",
                (unsigned long long)at);
}

/* Reads the directory at `at` and adds it to the list. */
static struct directory *read_one(struct directories *all,
                                  const struct directory *lead, unsigned tag,
                                  uint64_t at, struct err *err)
{
    const struct tiff_form form = all->form;
    const unsigned head = tiff_count_size(form), entry = entry_size(form);
    const uint64_t n = at >= 8 && contains(all, at, head)
                           ? tiff_read(form, all->file.data + at, head)
                           : 0;
    if (n == 0 || n > UINT16_MAX + 1 || !contains(all, at + head, n * entry)) {
        fail_at(err, at);
        return NULL;
    }
    all->spent += head + n * entry;
    if (all->spent > all->file.size || ++all->count > DIRECTORIES) {
        fail(err, all->count > DIRECTORIES
                      ? "it has more than 262,144 directories"
                      : "its directories lead back to each other");
        return NULL;
    }
    struct directory *dir = memory_alloc_zeroed(1, sizeof *dir);
    if (dir)
        dir->field = memory_alloc_zeroed((size_t)n, sizeof *dir->field);
    if (!dir || !dir->field) {
        memory_free(dir);
        fail_memory(err, "no memory for a directory");
        return NULL;
    }
    *dir = (struct directory){ .form = form,
                               .tag = tag,
                               .lead = lead,
                               .at = at,
                               .link = at + head + n * entry,
                               .field = dir->field };
    uint8_t *p = all->file.data + at + head;
    bool plausible = true;
    for (uint64_t i = 0; i < n; i++, p += entry) {
        struct field *field = &dir->field[dir->nfields];
        const bool read = read_field(all, field, p);
        field->order = (uint32_t)i;
        plausible = plausible && tiff_size_of(field->type);
        dir->nfields += read || all->tags_only;
        all->bad += !read;
    }
    /* Cameras have links to something else, which leads to other numbers. */
    if (all->tags_only && (tag || all->camera) && !plausible) {
        directory_clear(dir);
        memory_free(dir);
        fail_at(err, at);
        return NULL;
    }
    *all->end = dir;
    all->end = &dir->then;
    return dir;
}

static bool leads_on(const struct directories *all, const struct field *field)
{
    const unsigned tag = field->tag, type = field->type;
    const bool place = type == FIELD_IFD || type == FIELD_IFD8;
    const bool number = type == FIELD_LONG || type == FIELD_LONG8;
    const bool picture = tag == TAG_SUB_IFDS || tag == TAG_EXIF_IFD;
    const bool other =
        tag == TAG_GLOBAL || tag == TAG_GPS_IFD || tag == TAG_INTEROPERABILITY;
    return all->tags_only ? picture && (place || number)
                          : place || (number && (picture || other));
}

static bool has_too_many(const struct directories *all)
{
    return all->spent > all->file.size || all->count > DIRECTORIES;
}

static uint64_t link_of(const struct directories *all,
                        const struct directory *dir)
{
    const unsigned size = tiff_offset_size(all->form);
    return contains(all, dir->link, size)
               ? tiff_read(all->form, all->file.data + dir->link, size)
               : 0;
}

/* Reads a directory, and what its fields lead to. What is no picture there may
 * be damaged, and is then left out; and so is what follows it. */
static int read_tree(struct directories *all, struct directory **to,
                     const struct directory *lead, unsigned tag, uint64_t at,
                     struct err *err)
{
    size_t kept = 0;
    struct directory *dir = *to = read_one(all, lead, tag, at, err);
    for (size_t i = 0; dir && i < dir->nfields; i++) {
        struct field *field = &dir->field[i];
        const unsigned bytes = tiff_size_of(field->type);
        const bool leads = leads_on(all, field),
                   pictures = field->tag == TAG_SUB_IFDS;
        struct directory **child = &field->child;
        for (uint64_t k = 0; leads && k < field->count; k++) {
            struct err why = { .text = "" };
            struct directory **end = all->end;
            at = tiff_read(all->form, field->data + k * bytes, bytes);
            if (at && all->depth == DEPTH && all->tags_only)
                break;
            if (at && all->depth == DEPTH)
                return fail(err, "its directories lead back to each other");
            all->cut |= at >= all->file.size;
            all->depth++;
            const bool bad =
                at && read_tree(all, child, dir, field->tag, at, &why);
            all->depth--;
            if (bad) {
                if (why.memory ||
                    (all->tags_only ? has_too_many(all) : pictures))
                    return fail_with(err, &why, "%s", why.text);
                cut_list(all, end);
                *child = NULL;
                all->bad++;
            }
            if (*child && pictures && !all->tags_only && link_of(all, *child))
                warn(all->opts->warnings, "pictures that one of SubIFDs links "
                                          "to as the next are not kept");
            if (*child)
                child = &(*child)->sibling;
        }
        if (!leads || field->child)
            dir->field[kept++] = *field;
    }
    if (dir)
        dir->nfields = kept;
    return dir && (kept || all->tags_only) ? 0
           : dir                           ? fail_at(err, dir->at)
                                           : -1;
}

/* A chain of pages that is cut off is kept as far as it goes, where damage is
 * tolerated. */
int directories_read(struct directories *all, struct err *err)
{
    const struct bytes file = all->file;
    const bool tolerant = all->opts && all->opts->tolerant;
    const struct directory *lead = NULL;
    struct directory **to = &all->first;
    unsigned pages = all->most;
    all->first = NULL;
    all->end = &all->first;
    if (!directories_probe(&all->form, file, all->camera))
        return fail(err, "its header is malformed");
    const unsigned size = tiff_offset_size(all->form);
    if (!contains(all, size, size))
        return fail(err, "its header is cut off");
    uint64_t at = tiff_read(all->form, file.data + size, size);
    for (; at; to = &(*to)->next) {
        const bool damaged = read_tree(all, to, lead, 0, at, err);
        if (damaged && (*to || !lead || !(all->camera || tolerant) ||
                        err->memory || has_too_many(all)))
            return -1;
        if (damaged && !all->tags_only)
            warn(all->opts->warnings, "%s: what follows is lost", err->text);
        if (damaged)
            break;
        lead = *to;
        at = all->tags_only && --pages == 0 ? 0 : link_of(all, *to);
    }
    if (!all->first)
        return fail(err, "it has no picture");
    if (all->bad && !all->tags_only)
        warn(all->opts->warnings, "%u tag%s cannot be read: not kept", all->bad,
             all->bad > 1 ? "s" : "");
    return 0;
}

void directories_free(struct directories *all)
{
    if (all->first)
        cut_list(all, &all->first);
}

struct directory *directories_picture(const struct directories *all)
{
    struct directory *dir = all->first;
    while (dir && !directory_is_picture(dir))
        dir = dir->next;
    return dir;
}

/* ---- Strips and tiles --------------------------------------------------- */

struct directory_parts directory_parts_of(const struct directory *dir,
                                          unsigned places, unsigned sizes)
{
    const struct field *at = directory_find(dir, places),
                       *size = directory_find(dir, sizes);
    if (!field_has_integers(at) || !field_has_integers(size))
        return (struct directory_parts){ .count = 0 };
    return (struct directory_parts){
        .form = dir->form,
        .value = { at->data, size->data },
        .bytes = { tiff_size_of(at->type), tiff_size_of(size->type) },
        .count = at->count < size->count ? at->count : size->count,
    };
}

int directory_parts_find(struct directory_parts *parts,
                         const struct directories *all,
                         const struct directory *dir, struct err *err)
{
    const unsigned places =
        directory_is_tiled(dir) ? TAG_TILE_OFFSETS : TAG_STRIP_OFFSETS;
    const struct field *at = directory_find(dir, places);
    *parts = directory_parts_of(
        dir, places,
        directory_find(dir, TAG_TILE_SIZES) ? TAG_TILE_SIZES : TAG_STRIP_SIZES);
    bool fits = !at || parts->count == at->count;
    for (uint64_t i = 0; i < parts->count && fits; i++)
        fits = contains(all, directory_part(parts, PART_AT, i),
                        directory_part(parts, PART_SIZE, i));
    return fits ? 0 : fail(err, "a strip or tile is not in the file");
}

int directory_parts_make(struct directory_parts *parts, struct directory *dir,
                         bool tiled, uint64_t count, struct err *err)
{
    static const uint16_t tags[2][2] = {
        { TAG_STRIP_OFFSETS, TAG_STRIP_SIZES },
        { TAG_TILE_OFFSETS, TAG_TILE_SIZES },
    };
    const unsigned type = dir->form.big ? FIELD_LONG8 : FIELD_LONG;
    for (unsigned k = 0; k < 2; k++) {
        /* Those of the other kind libtiff has not read. */
        directory_remove(dir, tags[!tiled][k]);
        if (!directory_make(dir, tags[tiled][k], type, count))
            return fail_memory(err, "no memory for strips or tiles");
    }
    *parts = directory_parts_of(dir, tags[tiled][0], tags[tiled][1]);
    return 0;
}

/* ---- Writing ------------------------------------------------------------ */

void tiff_writer_append(struct tiff_writer *w, const void *data, size_t size)
{
    static const uint8_t zero = 0;
    if (w->failed)
        return;
    /* All parts of the file begin at even places. */
    const bool fits = bytes_append(w->out, data, size) &&
                      (w->out->size % 2 == 0 || bytes_append(w->out, &zero, 1));
    const size_t was = w->out->size;
    if (!fits)
        w->failed = fail_memory(w->err, "no memory for the file");
    else if (!w->form.big && tiff_writer_at(w) > UINT32_MAX)
        w->failed = fail(w->err, "what was made needs more than 4 GiB, which "
                                 "only a BigTIFF can have");
    else
        w->failed = flush_file(w->flush, w->out, w->err);
    w->flushed += was - w->out->size;
}

void tiff_writer_begin(struct tiff_writer *w)
{
    uint8_t head[16] = { 0 };
    memset(head, w->form.big_endian ? 'M' : 'I', 2);
    tiff_write(w->form, head + 2, 2, w->form.big ? 43 : 42);
    tiff_write(w->form, head + 4, 2, w->form.big ? 8 : 0);
    w->link = tiff_offset_size(w->form);
    tiff_writer_append(w, head, 2 * w->link);
}

/* Of those with one tag the first is the one that counts. */
static int by_tag(const void *a, const void *b)
{
    const struct field *x = a, *y = b;
    return x->tag != y->tag ? (x->tag < y->tag ? -1 : 1)
                            : (x->order > y->order) - (x->order < y->order);
}

/* Appends the directories that a field leads to, and makes it do so. */
static void write_children(struct tiff_writer *w, struct field *field)
{
    const unsigned bytes = tiff_size_of(field->type);
    const uint64_t link = w->link;
    uint64_t count = 0;
    for (struct directory *dir = field->child; dir; dir = dir->sibling)
        count++;
    uint8_t *data = memory_alloc((size_t)count * bytes), *p = data;
    if (!data) {
        w->failed = fail_memory(w->err, "no memory for a tag");
        return;
    }
    for (struct directory *dir = field->child; dir; dir = dir->sibling) {
        w->link = 0;
        tiff_writer_directory(w, dir);
        tiff_write(w->form, p, bytes, dir->at);
        p += bytes;
    }
    w->link = link;
    free_field(field);
    field->owned = true;
    field->count = count;
    field->data = data;
    field->size = (size_t)count * bytes;
}

void tiff_writer_directory(struct tiff_writer *w, struct directory *dir)
{
    const struct tiff_form form = w->form;
    const unsigned room = tiff_offset_size(form), head = tiff_count_size(form),
                   entry = entry_size(form);
    const size_t size = head + dir->nfields * entry + room;
    uint8_t *made = memory_alloc_zeroed(1, size);
    if (!made || dir->failed)
        w->failed = fail_memory(w->err, "no memory for a tag");
    if (dir->nfields)
        qsort(dir->field, dir->nfields, sizeof *dir->field, by_tag);
    for (size_t i = 0; i < dir->nfields && !w->failed; i++) {
        struct field *field = &dir->field[i];
        uint8_t *p = made + head + i * entry;
        if (field->child)
            write_children(w, field);
        tiff_write(form, p, 2, field->tag);
        tiff_write(form, p + 2, 2, field->type);
        tiff_write(form, p + 4, room, field->count);
        if (field->size > room) {
            tiff_write(form, p + 4 + room, room, tiff_writer_at(w));
            tiff_writer_append(w, field->data, field->size);
        } else {
            memcpy(p + 4 + room, field->data, field->size);
        }
    }
    dir->at = tiff_writer_at(w);
    if (w->link && !w->failed) {
        uint8_t data[8];
        tiff_write(form, data, room, dir->at);
        if (w->link < w->flushed)
            w->failed = w->flush->replace(w->flush->context, w->link, data,
                                          room, w->err);
        else
            memcpy(w->out->data + (w->link - w->flushed), data, room);
    }
    w->link = dir->at + size - room;
    if (!w->failed)
        tiff_write(form, made, head, dir->nfields);
    tiff_writer_append(w, made, size);
    memory_free(made);
}
