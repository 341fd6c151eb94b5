/* POSIX access control lists, as Linux stores them.
 *
 * A header of 4 bytes, the version; then entries of 8: tag and permissions, 16
 * bits each, and the number of a user or group, all little-endian. */
#include "cli/files/acl.h"

#include "codecs/base/byte_order.h"

enum { HEADER = 4, ENTRY = 8, VERSION = 2 };

enum tag {
    TAG_OWNER = 0x01,
    TAG_USER = 0x02,
    TAG_OWNING_GROUP = 0x04,
    TAG_GROUP = 0x08,
    TAG_MASK = 0x10,
    TAG_OTHERS = 0x20,
};

static unsigned allowed_by(const uint8_t *entry)
{
    return entry[2] & 7u;
}

/* Returns the entry with a tag that stands once at most, or NULL. */
static uint8_t *find(const uint8_t *acl, size_t size, enum tag tag)
{
    for (size_t at = HEADER; at + ENTRY <= size; at += ENTRY)
        if (read_le16(acl + at) == tag)
            return (uint8_t *)acl + at;
    return NULL;
}

bool acl_is_valid(const uint8_t *acl, size_t size)
{
    return size >= HEADER && (size - HEADER) % ENTRY == 0 &&
           acl[0] == VERSION && !acl[1] && !acl[2] && !acl[3] &&
           find(acl, size, TAG_OWNER) && find(acl, size, TAG_OWNING_GROUP) &&
           find(acl, size, TAG_OTHERS);
}

static mode_t mode_of(unsigned owner, unsigned group, unsigned others)
{
    return (mode_t)(owner << 6 | group << 3 | others);
}

mode_t acl_mode(const uint8_t *acl, size_t size)
{
    const uint8_t *mask = find(acl, size, TAG_MASK);
    if (!mask)
        mask = find(acl, size, TAG_OWNING_GROUP);
    return mode_of(allowed_by(find(acl, size, TAG_OWNER)), allowed_by(mask),
                   allowed_by(find(acl, size, TAG_OTHERS)));
}

/* A user who has an entry may be in the owning group, and is one of the others
 * without it; so is a member of a group that has one. */
mode_t acl_mode_without(const uint8_t *acl, size_t size)
{
    const uint8_t *mask = find(acl, size, TAG_MASK);
    unsigned most = mask ? allowed_by(mask) : 7;
    unsigned group = allowed_by(find(acl, size, TAG_OWNING_GROUP)) & most;
    unsigned others = allowed_by(find(acl, size, TAG_OTHERS));
    for (size_t at = HEADER; at + ENTRY <= size; at += ENTRY) {
        unsigned tag = read_le16(acl + at),
                 allowed = allowed_by(acl + at) & most;
        if (tag == TAG_USER)
            group &= allowed;
        if (tag == TAG_USER || tag == TAG_GROUP)
            others &= allowed;
    }
    return mode_of(allowed_by(find(acl, size, TAG_OWNER)), group, others);
}

/* A member of the new owning group may be in one that has an entry, and was
 * allowed what that says, and no more. */
void acl_leave_group(uint8_t *acl, size_t size)
{
    const uint8_t *mask = find(acl, size, TAG_MASK);
    uint8_t *group = find(acl, size, TAG_OWNING_GROUP);
    uint8_t *others = find(acl, size, TAG_OTHERS);
    unsigned most = mask ? allowed_by(mask) : 7;
    unsigned both = allowed_by(group) & most & allowed_by(others);
    group[2] = others[2] = (uint8_t)both;
    for (size_t at = HEADER; at + ENTRY <= size; at += ENTRY)
        if (read_le16(acl + at) == TAG_GROUP)
            group[2] &= allowed_by(acl + at) & most;
}

mode_t acl_mode_leave_group(mode_t mode)
{
    mode_t both = mode >> 3 & mode & 7;
    return (mode & ~(mode_t)077) | both << 3 | both;
}
