/* What it takes to read the scans of a file. */
#include "codecs/jpeg/scan_work.h"

#include "codecs/jpeg/entropy/marker.h"

/* To visit a block takes some nanoseconds, as long as it takes to look at so
 * many bytes. */
enum { WORK_OF_BLOCK = 16 };

static uint64_t blocks_of(const jpeg_component_info *info)
{
    return (uint64_t)info->width_in_blocks * info->height_in_blocks;
}

uint64_t scan_work_of(const struct jpeg_decompress_struct *d)
{
    uint64_t blocks = 0;
    for (int i = 0; i < d->comps_in_scan; i++)
        blocks += blocks_of(d->cur_comp_info[i]);
    return WORK_OF_BLOCK * blocks;
}

/* A header with the number of components, then two bytes for each, of which the
 * first is what the component is called (T.81, B.2.3). */
static uint64_t work_of_header(const struct jpeg_decompress_struct *d,
                               const struct marker *m)
{
    uint64_t blocks = 0;
    for (size_t at = 1; at < m->size && at < 1 + 2 * (size_t)m->data[0];
         at += 2)
        for (int i = 0; i < d->num_components; i++)
            if (d->comp_info[i].component_id == m->data[at])
                blocks += blocks_of(&d->comp_info[i]);
    return WORK_OF_BLOCK * blocks;
}

uint64_t scan_work_of_all(const struct jpeg_decompress_struct *d,
                          struct bytes file)
{
    const uint8_t *p = marker_first(file), *end = file.data + file.size;
    uint64_t work = 0;
    struct marker m;
    while (p && marker_read(&m, p, end)) {
        if (m.code == MARKER_SOS)
            work += work_of_header(d, &m);
        p = m.code == MARKER_SOS ? marker_find(m.behind, end) : m.behind;
    }
    return work;
}

uint64_t scan_work_memory(const struct jpeg_decompress_struct *d)
{
    uint64_t blocks = 0;
    for (int i = 0; i < d->num_components; i++)
        blocks += blocks_of(&d->comp_info[i]);
    return blocks * sizeof(JBLOCK);
}
