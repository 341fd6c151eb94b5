/* All that a file says beside its pixels. */
#include "codecs/image/meta.h"

#include <stdio.h>
#include <string.h>

#include "codecs/base/memory.h"

/* A hostile file can be all blocks. 2^16 of them are more than any program
 * writes, and some MiB of bookkeeping. */
enum { BLOCKS_MAX = 1 << 16 };

struct meta *meta_new(const struct codec *codec)
{
    struct meta *meta = memory_alloc_zeroed(1, sizeof *meta);
    if (meta)
        meta->codec = codec;
    return meta;
}

void meta_free(struct meta *meta)
{
    if (!meta)
        return;
    for (size_t i = 0; i < meta->nblocks; i++)
        memory_free(meta->block[i].data);
    memory_free(meta->block);
    memory_free(meta->array);
    bytes_free(&meta->icc);
    bytes_free(&meta->exif);
    bytes_free(&meta->xmp);
    bytes_free(&meta->comment);
    if (meta->state)
        meta->free_state(meta->state);
    memory_free(meta);
}

void animation_add(struct animation *animation, double seconds, bool first)
{
    animation->seconds += seconds;
    if (first || seconds < animation->shortest)
        animation->shortest = seconds;
    if (first || seconds > animation->longest)
        animation->longest = seconds;
}

struct array_note *meta_note_array(struct meta *meta)
{
    struct array_note *array =
        memory_extend(meta->array, meta->narrays, sizeof *array);
    if (!array)
        return NULL;
    meta->array = array;
    array += meta->narrays++;
    *array = (struct array_note){ 0 };
    return array;
}

bool meta_is_full(const struct meta *meta)
{
    return meta->nblocks == BLOCKS_MAX;
}

struct metadata_block *meta_insert(struct meta *meta, size_t index,
                                   const char *name, unsigned where,
                                   const void *data, size_t size)
{
    struct metadata_block made = { .where = where, .size = size },
                          *block = NULL;
    if (!meta_is_full(meta))
        block = memory_extend(meta->block, meta->nblocks, sizeof *block);
    if (!block)
        return NULL;
    meta->block = block;
    snprintf(made.name, sizeof made.name, "%s", name);
    made.data = memory_alloc(size ? size : 1);
    if (!made.data)
        return NULL;
    if (size)
        memcpy(made.data, data, size);
    block += index;
    memmove(block + 1, block, (meta->nblocks - index) * sizeof *block);
    meta->nblocks++;
    *block = made;
    return block;
}

struct metadata_block *meta_add(struct meta *meta, const char *name,
                                unsigned where, const void *data, size_t size)
{
    return meta_insert(meta, meta->nblocks, name, where, data, size);
}

bool metadata_block_set(struct metadata_block *block, const void *lead,
                        size_t lead_size, const void *data, size_t size)
{
    uint8_t *made = NULL;
    if (size <= SIZE_MAX - lead_size - 1)
        made = memory_alloc(lead_size + size + 1);
    if (!made)
        return false;
    if (lead_size)
        memcpy(made, lead, lead_size);
    if (size)
        memcpy(made + lead_size, data, size);
    memory_free(block->data);
    block->data = made;
    block->size = lead_size + size;
    return true;
}

void meta_swap_blocks(struct meta *a, struct meta *b)
{
    struct meta was = *a;
    a->block = b->block;
    a->nblocks = b->nblocks;
    b->block = was.block;
    b->nblocks = was.nblocks;
}

void meta_remove_dropped(struct meta *meta)
{
    size_t kept = 0;
    for (size_t i = 0; i < meta->nblocks; i++)
        if (meta->block[i].dropped)
            memory_free(meta->block[i].data);
        else
            meta->block[kept++] = meta->block[i];
    meta->nblocks = kept;
}

/* Adds a name to a list "a, b, c" of bounded length, once. That of a chunk of
 * WebP may be empty, which would be found without end. */
static void list_add(char *list, size_t room, const char *name)
{
    if (!*name)
        name = "a chunk without a name";
    size_t at = strlen(list), length = strlen(name);
    for (const char *p = list; (p = strstr(p, name)); p += length) {
        bool begins = p == list || p[-1] == ' ';
        if (begins && (p[length] == ',' || p[length] == '\0'))
            return;
    }
    snprintf(list + at, room - at, "%s%s", at ? ", " : "", name);
}

void meta_warn_lost(const struct meta *meta, unsigned holds, const char *name,
                    struct warnings *warnings)
{
    char list[160] = "";
    if (!meta)
        return;
    if (meta->icc.size && !(holds & HOLDS_ICC))
        list_add(list, sizeof list, "ICC profile");
    if (meta->exif.size && !(holds & HOLDS_EXIF))
        list_add(list, sizeof list, "EXIF");
    if (meta->xmp.size && !(holds & HOLDS_XMP))
        list_add(list, sizeof list, "XMP");
    if (meta->comment.size && !(holds & HOLDS_COMMENT))
        list_add(list, sizeof list, "comment");
    if (meta->density.unit != DENSITY_NONE && !(holds & HOLDS_DENSITY))
        list_add(list, sizeof list, "density");
    for (size_t i = 0; i < meta->nblocks; i++)
        if (!meta->block[i].portable)
            list_add(list, sizeof list, meta->block[i].name);
    if (*list)
        warn(warnings, "%s cannot hold, so it is not kept: %s", name, list);
}

int meta_comment_utf8(struct meta *meta, struct err *err)
{
    struct bytes text = { 0 };
    if (!utf8_append(&text, meta->comment.data, meta->comment.size)) {
        bytes_free(&text);
        return fail_memory(err, "no memory for a comment");
    }
    bytes_free(&meta->comment);
    meta->comment = text;
    return 0;
}

/* ---- Orientation tags ---- */

const char *const orientation_place[] = {
    [TAG_TRANSFORMS] = "irot and imir",
    [TAG_CODESTREAM] = "the image header",
    [TAG_IFD] = "the first IFD",
    [TAG_EXIF] = "EXIF",
    [TAG_XMP] = "XMP",
    [TAG_ORNT] = "orNT",
    [TAG_HEADER] = "header",
    [TAG_MORE_EXIF] = "a second EXIF block",
};

void orientation_note(struct orientation *o, enum tag_place place,
                      unsigned value)
{
    if (!value)
        return;
    if (place != TAG_MORE_EXIF && (!o->value || place < o->place)) {
        unsigned was = o->value;
        enum tag_place was_place = o->place;
        o->value = value;
        o->place = place;
        value = was;
        place = was_place;
    }
    /* One that never counts differs from 1, where no other one is there. */
    unsigned counts = o->value ? o->value : 1;
    if (o->other == counts)
        o->other = 0;
    if (value && value != counts && !o->other) {
        o->other = value;
        o->other_place = place;
    }
}
