/* Whether files are still as a manifest says. */
#include "cli/manifest/facts.h"

#include "cli/files/files.h"
#include "cli/manifest/timestamp.h"

const char *const manifest_status_name[] = {
    [STATUS_PASSED_OVER] = "passed_over",
    [STATUS_SKIPPED] = "skipped",
    [STATUS_FAILED] = "failed",
    [STATUS_READY] = "ready",
    [STATUS_DONE] = "done",
};

bool facts_fit_input(const struct facts *facts, const struct stat *st)
{
    return (uint64_t)st->st_size == facts->size &&
           timestamp_compare(st->st_mtim, facts->mtime) == 0;
}

bool facts_fit_output(const struct facts *facts, const struct stat *st)
{
    return (uint64_t)st->st_size == facts->written &&
           (!facts->made.known ||
            timestamp_compare(st->st_mtim, facts->made_time) == 0);
}

bool facts_are_alike(const struct facts *facts)
{
    return facts->size == facts->written &&
           timestamp_compare(facts->mtime, facts->made_time) == 0;
}

bool facts_match_sum(const struct facts *facts, struct root *root,
                     const char *name)
{
    uint64_t size;
    uint32_t crc;
    return facts->summed && file_checksum(root, name, &size, &crc) &&
           size == facts->written && crc == facts->crc;
}

/* With --preserve the output may have the size and time of the input, and an
 * original that is restored may get the inode that became free. The device is
 * not compared, since its number may change each time that it is mounted. */
bool facts_match_output(const struct facts *facts, struct root *root,
                        const char *name, const struct stat *st)
{
    bool same_inode = facts->made.known && st->st_ino == facts->made.inode;
    bool same_time = facts->made.known && facts_fit_output(facts, st);
    if (!S_ISREG(st->st_mode) || (uint64_t)st->st_size != facts->written)
        return false;
    if (same_inode && same_time && !facts_are_alike(facts))
        return true;
    if (facts->summed)
        return facts_match_sum(facts, root, name);
    return !facts->made.known || same_inode || same_time;
}
