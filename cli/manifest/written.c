/* Whether a file is still what a manifest says was written to it. */
#include "cli/manifest/written.h"

#include "cli/files/checksum.h"
#include "cli/manifest/timestamp.h"

bool written_has_sum(const struct telling *held, struct root *root,
                     const char *name)
{
    uint64_t size;
    uint32_t crc;
    return held->summed && checksum_file(root, name, &size, &crc) &&
           size == held->written && crc == held->crc;
}

/* With --preserve, what was made may have the size and the time of what it was
 * made of; and an original that is restored may get the inode that has become
 * free. The device is not compared, since its number may be another one each
 * time that it is mounted. */
bool written_matches(const struct telling *held, struct root *root,
                     const char *name, const struct stat *st)
{
    bool same_inode = held->made.known && st->st_ino == held->made.inode;
    bool same_time = held->made.known &&
                     timestamp_compare(st->st_mtim, held->made_time) == 0;
    bool alike = held->size == held->written &&
                 timestamp_compare(held->mtime, held->made_time) == 0;
    if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size != held->written)
        return false;
    if (same_inode && same_time && !alike)
        return true;
    if (held->summed)
        return written_has_sum(held, root, name);
    return !held->made.known || same_inode || same_time;
}
