/* Access control lists that are stripped or given to another group never permit
 * anyone more than the original list did. */
#include "cli/files/attributes.h"

#include <string.h>

#include "tests/support/test.h"

enum { OWNER = 1, USER = 2, OWNING = 4, GROUP = 8, MASK = 16, OTHERS = 32 };

/* Users 0 (the owner) to 3, groups 0 (the owning one) to 3. */
enum { SUBJECTS = 4 };

struct list {
    uint8_t bytes[256];
    size_t size;
};

static void add(struct list *list, unsigned tag, unsigned allowed, unsigned id)
{
    const uint8_t entry[8] = { (uint8_t)tag, 0, (uint8_t)allowed, 0,
                               (uint8_t)id };
    memcpy(list->bytes + list->size, entry, 8);
    list->size += 8;
}

/* As of users 1 and 2 and groups 1 and 2; in `with`, a bit each. */
static struct list make(unsigned with, uint64_t *state)
{
    struct list list = { { 2 }, 4 };
    unsigned r = (unsigned)(test_random(state) >> 32);
    add(&list, OWNER, r & 7, 255);
    for (unsigned i = 0; i < 2; i++)
        if (with >> i & 1)
            add(&list, USER, r >> (3 + 3 * i) & 7, i + 1);
    add(&list, OWNING, r >> 9 & 7, 255);
    for (unsigned i = 0; i < 2; i++)
        if (with >> (2 + i) & 1)
            add(&list, GROUP, r >> (12 + 3 * i) & 7, i + 1);
    if (with)
        add(&list, MASK, r >> 18 & 7, 255);
    add(&list, OTHERS, r >> 21 & 7, 255);
    return list;
}

/* Whether a user who is in these groups, a bit each, may do `wanted`, by
 * POSIX 1003.1e, draft 17, 23.1.5; the owning group has this number. */
static bool allows(const struct list *list, unsigned owning, unsigned user,
                   unsigned groups, unsigned wanted)
{
    unsigned mask = 7, others = 0;
    bool in_group = false, granted = false;
    for (size_t at = 4; at < list->size; at += 8)
        if (list->bytes[at] == MASK)
            mask = list->bytes[at + 2];
    for (size_t at = 4; at < list->size; at += 8) {
        unsigned tag = list->bytes[at], allowed = list->bytes[at + 2];
        unsigned id = tag == OWNING ? owning : list->bytes[at + 4];
        if (tag == OWNER && user == 0)
            return (allowed & wanted) == wanted;
        if (tag == USER && user == id)
            return (allowed & mask & wanted) == wanted;
        if ((tag == OWNING || tag == GROUP) && groups >> id & 1) {
            in_group = true;
            granted |= (allowed & mask & wanted) == wanted;
        }
        if (tag == OTHERS)
            others = allowed;
    }
    return in_group ? granted : (others & wanted) == wanted;
}

/* The list that nine bits are. */
static struct list of_mode(mode_t mode)
{
    struct list list = { { 2 }, 4 };
    add(&list, OWNER, mode >> 6 & 7, 255);
    add(&list, OWNING, mode >> 3 & 7, 255);
    add(&list, OTHERS, mode & 7, 255);
    return list;
}

/* Whether `now` permits nobody more than `before` does. */
static bool is_no_wider(const struct list *before, const struct list *now,
                        unsigned owning_now)
{
    for (unsigned user = 0; user < SUBJECTS; user++)
        for (unsigned groups = 0; groups < 1 << SUBJECTS; groups++)
            for (unsigned wanted = 1; wanted < 8; wanted++)
                if (allows(now, owning_now, user, groups, wanted) &&
                    !allows(before, 0, user, groups, wanted))
                    return false;
    return true;
}

TEST(random_lists_get_no_wider)
{
    uint64_t state = 7;
    for (int i = 0; i < 4000; i++) {
        struct list list = make((unsigned)i & 15, &state), left = list;
        struct list without = of_mode(acl_mode_without(list.bytes, list.size));
        CHECK(acl_is_valid(list.bytes, list.size), "%d", i);
        CHECK(is_no_wider(&list, &without, 0), "%d: without", i);
        acl_leave_group(left.bytes, left.size);
        CHECK(is_no_wider(&list, &left, 3), "%d: another group", i);
        without = of_mode(
            acl_mode_leave_group(acl_mode_without(list.bytes, list.size)));
        CHECK(is_no_wider(&list, &without, 3), "%d: both", i);
        if ((i & 15) == 0) {
            without = of_mode(acl_mode(list.bytes, list.size));
            CHECK(memcmp(&without, &list, sizeof list) == 0, "%d: a mode", i);
        }
    }
}

TEST(modes_leave_the_group)
{
    CHECK(acl_mode_leave_group(0644) == 0644, "644");
    CHECK(acl_mode_leave_group(0640) == 0600, "640");
    CHECK(acl_mode_leave_group(0604) == 0600, "604");
    CHECK(acl_mode_leave_group(04775) == 04755, "4775");
    struct list list = of_mode(0640);
    CHECK(acl_mode_without(list.bytes, list.size) == 0640, "kept");
}

TEST(damaged_lists)
{
    struct list list = of_mode(0640);
    for (size_t size = 0; size < list.size; size++)
        CHECK(!acl_is_valid(list.bytes, size), "cut to %zu", size);
    list.bytes[0] = 3;
    CHECK(!acl_is_valid(list.bytes, list.size), "another version");
}
