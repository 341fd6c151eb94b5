/* The tree finds what comparing with all positions finds: for each length the
 * nearest match, and none that is not there. */
#include "codecs/deflate/optimal.h"

#include "tests/support/test.h"

enum { N = 40000, ALL = N };

static unsigned length_at(const uint8_t *data, size_t i, unsigned distance)
{
    unsigned n = 0;
    while (n < MATCH_LONGEST && i + n < N &&
           data[i + n] == data[i + n - distance])
        n++;
    return n;
}

/* Checks what was found for position i against each distance that is within
 * reach. Matches of three bytes may be missed, and those of the last bytes. */
static void check_found(const char *name, const uint8_t *data, size_t i,
                        const struct length_distance *found, size_t n)
{
    unsigned longest = 3;
    size_t k = 0, reach = i < MATCH_FARTHEST ? i + 1 : MATCH_FARTHEST;
    if (k < n && found[k].length == 3) {
        CHECK(length_at(data, i, found[k].distance) >= 3,
              "%s, %zu: distance "
              "%u has no three bytes",
              name, i, found[k].distance);
        k++;
    }
    for (unsigned distance = 1; distance < reach && i + 4 <= N; distance++) {
        unsigned length = length_at(data, i, distance);
        if (length <= longest)
            continue;
        longest = length;
        CHECK(k < n && found[k].length == length &&
                  found[k].distance == distance,
              "%s, %zu: not %u bytes at a distance of %u", name, i, length,
              distance);
        k++;
    }
    CHECK(k == n, "%s, %zu: %zu matches, not %zu", name, i, n, k);
}

/* Bytes below `values`; with a period, each is mostly that of one before. */
static void check(const char *name, unsigned values, size_t period)
{
    owned_memory struct match_tree *tree = malloc(sizeof *tree);
    owned_memory uint8_t *data = malloc(N);
    uint64_t state = values;
    for (size_t i = 0; i < N; i++) {
        uint64_t r = test_random(&state) >> 32;
        data[i] = period && i >= period && r % 50 ? data[i - period]
                                                  : (uint8_t)(r % values);
    }
    match_tree_begin(tree, data, data + N);
    for (size_t i = 0; i < N; i++) {
        struct length_distance found[MATCH_TREE_MOST];
        if (i % 3 == 1) {
            match_tree_skip(tree, data + i, ALL);
            continue;
        }
        size_t n =
            (size_t)(match_tree_find(tree, data + i, ALL, found) - found);
        if (i % 101 == 0 || i > N - 20)
            check_found(name, data, i, found, n);
    }
}

TEST(noise)
{
    check("bits", 2, 0);
    check("few values", 5, 0);
    check("bytes", 256, 0);
}

TEST(repetition)
{
    check("a period", 256, 777);
    check("a period of few values", 3, 30000);
}

/* Where all is equal, what is cut off is only farther. */
TEST(one_value)
{
    owned_memory struct match_tree *tree = malloc(sizeof *tree);
    struct length_distance found[MATCH_TREE_MOST], *end;
    uint8_t data[1000] = { 0 };
    match_tree_begin(tree, data, data + sizeof data);
    CHECK(match_tree_find(tree, data, 1, found) == found, "the first byte");
    for (size_t i = 1; i < sizeof data; i++) {
        size_t left = sizeof data - i;
        end = match_tree_find(tree, data + i, 1, found);
        CHECK(left < 4 || end[-1].length ==
                              (left < MATCH_LONGEST ? left : MATCH_LONGEST),
              "position %zu", i);
    }
}
