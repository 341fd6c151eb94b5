/* Directories of TIFF (TIFF 6.0, section 2) and BigTIFF, read and written. */
#include "codecs/tiff/directory.h"

#include <stdlib.h>
#include <string.h>

#include "codecs/base/byte_order.h"
#include "codecs/base/memory.h"
#include "codecs/metadata/tiff.h"

/* EXIF leads to Interoperability; a picture in SubIFDs may have EXIF. */
enum { DEPTH = 6, DIRECTORIES = 1 << 18 };

enum { TAG_GLOBAL = 400, TAG_INTEROPERABILITY = 40965 };

/* ---- Numbers ------------------------------------------------------------ */

uint64_t tiff_read(struct tiff_form form, const uint8_t *p, unsigned bytes)
{
    return read_uint(p, bytes, form.big_endian);
}

void tiff_write(struct tiff_form form, uint8_t *p, unsigned bytes,
                uint64_t value)
{
    write_uint(p, bytes, form.big_endian, value);
}

double tiff_read_double(struct tiff_form form, const uint8_t *p)
{
    const uint64_t bits = tiff_read(form, p, 8);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

void tiff_write_double(struct tiff_form form, uint8_t *p, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    tiff_write(form, p, 8, bits);
}

/* ---- Fields ------------------------------------------------------------- */

struct field *directory_find(const struct directory *dir, unsigned tag)
{
    for (size_t i = 0; i < dir->nfields; i++)
        if (dir->field[i].tag == tag)
            return &dir->field[i];
    return NULL;
}

uint64_t directory_number(struct tiff_form form, const struct directory *dir,
                          unsigned tag, uint64_t i, uint64_t otherwise)
{
    const struct field *field = directory_find(dir, tag);
    if (!field || i >= field->count)
        return otherwise;
    const unsigned bytes = tiff_size_of(field->type);
    switch (field->type) {
    case FIELD_BYTE:
    case FIELD_SHORT:
    case FIELD_LONG:
    case FIELD_IFD:
    case FIELD_LONG8:
    case FIELD_IFD8:
        return tiff_read(form, field->data + i * bytes, bytes);
    default:
        return otherwise;
    }
}

bool directory_is_picture(const struct directory *dir)
{
    return directory_find(dir, TAG_WIDTH) && directory_find(dir, TAG_HEIGHT) &&
           (directory_find(dir, TAG_STRIP_OFFSETS) ||
            directory_find(dir, TAG_TILE_OFFSETS));
}

static void free_field(struct field *field)
{
    for (struct directory *dir = field->child, *next; dir; dir = next) {
        next = dir->sibling;
        directory_free(dir);
    }
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

int directory_set(struct directory *dir, unsigned tag, unsigned type,
                  const void *data, uint64_t count, struct err *err)
{
    const size_t size = (size_t)count * tiff_size_of(type);
    uint8_t *copy = memory_alloc(size + !size);
    struct field *all =
        memory_realloc(dir->field, (dir->nfields + 1) * sizeof *all);
    if (all)
        dir->field = all;
    if (!copy || !all) {
        memory_free(copy);
        return fail_memory(err, "no memory for a tag");
    }
    if (size)
        memcpy(copy, data, size);
    directory_remove(dir, tag);
    dir->field[dir->nfields++] = (struct field){ .tag = (uint16_t)tag,
                                                 .type = (uint16_t)type,
                                                 .owned = true,
                                                 .count = count,
                                                 .data = copy,
                                                 .size = size };
    return 0;
}

int directory_set_numbers(struct tiff_form form, struct directory *dir,
                          const struct field *field, const uint64_t *numbers,
                          struct err *err)
{
    const unsigned bytes = tiff_size_of(field->type);
    uint8_t *data = memory_alloc(field->count * bytes + 1);
    if (!data)
        return fail_memory(err, "no memory for a tag");
    for (uint64_t i = 0; i < field->count; i++)
        tiff_write(form, data + i * bytes, bytes, numbers[i]);
    int status =
        directory_set(dir, field->tag, field->type, data, field->count, err);
    memory_free(data);
    return status;
}

/* A tag that is there keeps its type, if the number fits. */
int directory_set_number(struct tiff_form form, struct directory *dir,
                         unsigned tag, uint64_t number, struct err *err)
{
    const struct field *was = directory_find(dir, tag);
    struct field field = { .tag = (uint16_t)tag,
                           .type = FIELD_SHORT,
                           .count = 1 };
    if (was && (was->type == FIELD_LONG || was->type == FIELD_LONG8 ||
                (was->type == FIELD_BYTE && number <= UINT8_MAX)))
        field.type = was->type;
    else if (number > UINT16_MAX)
        field.type = FIELD_LONG;
    return directory_set_numbers(form, dir, &field, &number, err);
}

void directory_exchange(struct directory *dir, unsigned a, unsigned b)
{
    for (size_t i = 0; i < dir->nfields; i++) {
        uint16_t *tag = &dir->field[i].tag;
        *tag = (uint16_t)(*tag == a ? b : *tag == b ? a : *tag);
    }
}

/* ---- Reading ------------------------------------------------------------ */

bool directories_probe(const uint8_t *head, size_t size)
{
    return size >= 8 &&
           (memcmp(head, "II*\0", 4) == 0 || memcmp(head, "MM\0*", 4) == 0 ||
            memcmp(head, "II+\0\x08\0\0\0", 8) == 0 ||
            memcmp(head, "MM\0+\0\x08\0\0", 8) == 0);
}

static bool contains(const struct directories *all, uint64_t at, uint64_t size)
{
    return at <= all->file.size && size <= all->file.size - at;
}

static unsigned offset_size(struct tiff_form form)
{
    return form.big ? 8 : 4;
}

static size_t entry_size(struct tiff_form form)
{
    return form.big ? 20 : 12;
}

/* Reads an entry. Returns false if there are no such values. */
static bool read_field(struct directories *all, struct field *field,
                       uint8_t *entry)
{
    const unsigned room = offset_size(all->form);
    uint64_t size, at = (uint64_t)(entry + 4 + room - all->file.data);
    field->tag = (uint16_t)tiff_read(all->form, entry, 2);
    field->type = (uint16_t)tiff_read(all->form, entry + 2, 2);
    field->count = tiff_read(all->form, entry + 4, room);
    if (!tiff_size_of(field->type) ||
        __builtin_mul_overflow(field->count, tiff_size_of(field->type), &size))
        return false;
    if (size > room)
        at = tiff_read(all->form, entry + 4 + room, room);
    if (!contains(all, at, size))
        return false;
    field->data = all->file.data + at;
    field->size = (size_t)size;
    return true;
}

static int by_tag(const void *a, const void *b)
{
    const struct field *x = a, *y = b;
    return x->tag != y->tag ? (x->tag < y->tag ? -1 : 1)
                            : (x->data < y->data ? -1 : x->data > y->data);
}

/* Reads the directory at `at`, and where the next one is. */
static struct directory *read_one(struct directories *all, uint64_t at,
                                  uint64_t *next, struct err *err)
{
    const unsigned head = all->form.big ? 8 : 2;
    const size_t entry = entry_size(all->form), link = offset_size(all->form);
    uint64_t n = contains(all, at, head)
                     ? tiff_read(all->form, all->file.data + at, head)
                     : 0;
    if (n == 0 || n > UINT16_MAX + 1 || !contains(all, at + head, n * entry)) {
        fail(err, "its directory (IFD) at byte %llu is missing or damaged",
             (unsigned long long)at);
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
    uint8_t *p = all->file.data + at + head;
    for (uint64_t i = 0; i < n; i++, p += entry) {
        if (read_field(all, &dir->field[dir->nfields], p))
            dir->nfields++;
        else
            all->bad++;
    }
    *next = contains(all, (uint64_t)(p - all->file.data), link)
                ? tiff_read(all->form, p, (unsigned)link)
                : 0;
    dir->at = at;
    return dir;
}

static bool leads_on(const struct field *field)
{
    switch (field->tag) {
    case TAG_SUB_IFDS:
    case TAG_GLOBAL:
    case TAG_EXIF_IFD:
    case TAG_GPS_IFD:
    case TAG_INTEROPERABILITY:
        return field->type == FIELD_LONG || field->type == FIELD_LONG8 ||
               field->type == FIELD_IFD || field->type == FIELD_IFD8;
    default:
        return field->type == FIELD_IFD || field->type == FIELD_IFD8;
    }
}

static int read_chain(struct directories *all, struct directory **first,
                      uint64_t at, unsigned depth, struct err *err);

/* Reads what the values of a field lead to. What is no picture may be damaged,
 * and is then left out. */
static int read_children(struct directories *all, struct field *field,
                         unsigned depth, struct err *err)
{
    struct directory **to = &field->child;
    for (uint64_t i = 0; i < field->count; i++) {
        const unsigned bytes = tiff_size_of(field->type);
        const uint64_t at =
            tiff_read(all->form, field->data + i * bytes, bytes);
        struct err why = { .text = "" };
        if (at && depth == DEPTH)
            return fail(err, "its directories lead back to each other");
        if (at && read_chain(all, to, at, depth + 1, &why)) {
            if (why.memory || field->tag == TAG_SUB_IFDS)
                return fail_with(err, &why, "%s", why.text);
            directory_free(*to);
            *to = NULL;
            all->bad++;
        }
        if (*to)
            to = &(*to)->sibling;
    }
    return 0;
}

/* A chain that is cut off is kept as far as it goes, where damage is
 * tolerated. */
static int read_chain(struct directories *all, struct directory **first,
                      uint64_t at, unsigned depth, struct err *err)
{
    for (struct directory **to = first; at; to = &(*to)->next) {
        struct directory *dir = *to = read_one(all, at, &at, err);
        if (!dir && all->opts->tolerant && to != first && !err->memory) {
            warn(all->opts->warnings, "%s: what follows is lost", err->text);
            return 0;
        }
        if (!dir)
            return -1;
        for (size_t i = 0; i < dir->nfields; i++)
            if (leads_on(&dir->field[i]) &&
                read_children(all, &dir->field[i], depth, err))
                return -1;
        size_t kept = 0;
        for (size_t i = 0; i < dir->nfields; i++)
            if (!leads_on(&dir->field[i]) || dir->field[i].child)
                dir->field[kept++] = dir->field[i];
        dir->nfields = kept;
        if (kept == 0)
            return fail(err,
                        "the directory at %llu has no tag that can be "
                        "read",
                        (unsigned long long)dir->at);
    }
    return 0;
}

int directories_read(struct directories *all, struct bytes file,
                     const struct load_opts *opts, struct err *err)
{
    *all = (struct directories){ .file = file, .opts = opts };
    if (!directories_probe(file.data, file.size))
        return fail(err, "its header is malformed");
    all->form.big_endian = file.data[0] == 'M';
    all->form.big = file.data[all->form.big_endian ? 3 : 2] == '+';
    const unsigned at = all->form.big ? 8 : 4;
    if (!contains(all, at, at))
        return fail(err, "its header is cut off");
    if (read_chain(all, &all->first, tiff_read(all->form, file.data + at, at),
                   0, err))
        return -1;
    if (!all->first)
        return fail(err, "it has no picture");
    if (all->bad)
        warn(opts->warnings, "%u tag%s cannot be read: not kept", all->bad,
             all->bad > 1 ? "s" : "");
    return 0;
}

void directory_free(struct directory *dir)
{
    for (struct directory *next; dir; dir = next) {
        next = dir->next;
        for (size_t i = 0; i < dir->nfields; i++)
            free_field(&dir->field[i]);
        memory_free(dir->field);
        memory_free(dir);
    }
}

void directories_free(struct directories *all)
{
    directory_free(all->first);
    all->first = NULL;
}

/* ---- Writing ------------------------------------------------------------ */

int tiff_writer_append(struct tiff_writer *w, const void *data, size_t size,
                       struct err *err)
{
    static const uint8_t zero = 0;
    /* All parts of the file begin at even places. */
    if (!bytes_append(w->out, data, size) ||
        (w->out->size % 2 && !bytes_append(w->out, &zero, 1)))
        return fail_memory(err, "no memory for the file");
    if (!w->form.big && tiff_writer_at(w) > UINT32_MAX)
        return fail(err, "what was made needs more than 4 GiB, which only a "
                         "BigTIFF can have");
    const size_t was = w->out->size;
    if (flush_file(w->flush, w->out, err))
        return -1;
    w->flushed += was - w->out->size;
    return 0;
}

int tiff_writer_begin(struct tiff_writer *w, struct err *err)
{
    uint8_t head[16] = { 0 };
    memset(head, w->form.big_endian ? 'M' : 'I', 2);
    tiff_write(w->form, head + 2, 2, w->form.big ? 43 : 42);
    tiff_write(w->form, head + 4, 2, w->form.big ? 8 : 0);
    w->link = w->form.big ? 8 : 4;
    return tiff_writer_append(w, head, 2 * w->link, err);
}

/* Sets the link that leads to the next directory. */
static int set_link(struct tiff_writer *w, uint64_t at, struct err *err)
{
    const unsigned size = offset_size(w->form);
    uint8_t data[8];
    tiff_write(w->form, data, size, at);
    if (w->link < w->flushed)
        return w->flush->replace(w->flush->context, w->link, data, size, err);
    memcpy(w->out->data + (w->link - w->flushed), data, size);
    return 0;
}

/* Appends the directories that a field leads to, and makes it do so. */
static int write_children(struct tiff_writer *w, struct field *field,
                          struct err *err)
{
    struct field made = *field;
    const uint64_t link = w->link;
    made.count = 0;
    for (struct directory *dir = field->child; dir; dir = dir->sibling)
        made.count++;
    made.size = (size_t)made.count * tiff_size_of(made.type);
    made.owned = true;
    made.data = memory_alloc(made.size);
    if (!made.data)
        return fail_memory(err, "no memory for a tag");
    uint8_t *p = made.data;
    for (struct directory *dir = field->child; dir; dir = dir->sibling) {
        uint64_t first = w->link = 0;
        for (struct directory *one = dir; one; one = one->next) {
            if (tiff_writer_directory(w, one, err)) {
                memory_free(made.data);
                return -1;
            }
            first = first ? first : one->at;
        }
        tiff_write(w->form, p, tiff_size_of(made.type), first);
        p += tiff_size_of(made.type);
    }
    w->link = link;
    if (field->owned)
        memory_free(field->data);
    *field = made;
    return 0;
}

int tiff_writer_directory(struct tiff_writer *w, struct directory *dir,
                          struct err *err)
{
    const unsigned room = offset_size(w->form), head = w->form.big ? 8 : 2;
    struct bytes made = { 0 };
    uint8_t entry[20] = { 0 };
    int status = 0;
    qsort(dir->field, dir->nfields, sizeof *dir->field, by_tag);
    tiff_write(w->form, entry, head, dir->nfields);
    if (!bytes_append(&made, entry, head))
        return fail_memory(err, "no memory for a directory");
    for (size_t i = 0; i < dir->nfields && status == 0; i++) {
        struct field *field = &dir->field[i];
        memset(entry, 0, sizeof entry);
        if (field->child)
            status = write_children(w, field, err);
        tiff_write(w->form, entry, 2, field->tag);
        tiff_write(w->form, entry + 2, 2, field->type);
        tiff_write(w->form, entry + 4, room, field->count);
        if (field->size <= room && field->size)
            memcpy(entry + 4 + room, field->data, field->size);
        else if (field->size)
            tiff_write(w->form, entry + 4 + room, room, tiff_writer_at(w));
        if (status == 0 && field->size > room)
            status = tiff_writer_append(w, field->data, field->size, err);
        if (!bytes_append(&made, entry, entry_size(w->form)))
            status = fail_memory(err, "no memory for a directory");
    }
    memset(entry, 0, sizeof entry);
    if (status == 0 && !bytes_append(&made, entry, room))
        status = fail_memory(err, "no memory for a directory");
    dir->at = tiff_writer_at(w);
    if (status == 0 && w->link)
        status = set_link(w, dir->at, err);
    w->link = dir->at + made.size - room;
    if (status == 0)
        status = tiff_writer_append(w, made.data, made.size, err);
    bytes_free(&made);
    return status;
}
