/* Huffman codes: optimal lengths, and the codes of given lengths. */
#include "codecs/deflate/huffman_code.h"

#include <assert.h>
#include <string.h>

/* Sorts the symbols that occur by their count, rarest first, by a byte of it
 * after the other. Returns how many symbols occur. */
static unsigned sort_symbols(uint16_t *symbol, const uint32_t *count,
                             unsigned n)
{
    uint16_t sorted[HUFFMAN_SYMBOLS];
    uint32_t bits = 0;
    unsigned used = 0;
    for (unsigned i = 0; i < n; i++) {
        bits |= count[i];
        symbol[used] = (uint16_t)i;
        used += count[i] != 0;
    }
    for (unsigned shift = 0; shift < 32 && bits >> shift; shift += 8) {
        unsigned at[257] = { 0 };
        for (unsigned i = 0; i < used; i++)
            at[(count[symbol[i]] >> shift & 255) + 1]++;
        for (unsigned i = 0; i < 256; i++)
            at[i + 1] += at[i];
        for (unsigned i = 0; i < used; i++)
            sorted[at[count[symbol[i]] >> shift & 255]++] = symbol[i];
        memcpy(symbol, sorted, used * sizeof *symbol);
    }
    return used;
}

/* Replaces counts in rising order by the depths of their leaves in a Huffman
 * tree. A. Moffat and J. Katajainen, "In-Place Calculation of
 * Minimum-Redundancy Codes", WADS 1995: the array holds weights at first, then
 * the parent of each node, then depths. */
static void tree_depths(uint32_t *a, unsigned n)
{
    unsigned root = 0, leaf = 0;
    for (unsigned next = 0; next < n - 1; next++) {
        uint32_t sum = 0;
        for (int i = 0; i < 2; i++)
            if (leaf >= n || (root < next && a[root] < a[leaf])) {
                sum += a[root];
                a[root++] = next;
            } else {
                sum += a[leaf++];
            }
        a[next] = sum;
    }
    a[n - 2] = 0;
    for (unsigned next = n - 2; next-- > 0;)
        a[next] = a[a[next]] + 1;

    /* At each depth, nodes that are not inner nodes are leaves. */
    unsigned free = 1, inner = 0, depth = 0, next = n;
    int node = (int)n - 2;
    while (free > 0) {
        while (node >= 0 && a[node] == depth) {
            inner++;
            node--;
        }
        for (; free > inner; free--)
            a[--next] = depth;
        free = 2 * inner;
        inner = 0;
        depth++;
    }
}

/* Moves leaves deeper than `limit` up to it, and others down, until they are a
 * complete code again: until the sum of 2^-length is 1. */
static void limit_depths(unsigned *leaves, unsigned deepest, unsigned limit)
{
    uint64_t sum = 0, whole = (uint64_t)1 << limit;
    for (unsigned d = limit + 1; d <= deepest; d++) {
        leaves[limit] += leaves[d];
        leaves[d] = 0;
    }
    for (unsigned d = 1; d <= limit; d++)
        sum += (uint64_t)leaves[d] << (limit - d);
    /* To move a leaf from depth d - 1 to d frees 2^(limit - d). */
    while (sum > whole) {
        unsigned d = limit;
        while (!leaves[--d])
            ;
        leaves[d]--;
        leaves[d + 1]++;
        sum -= (uint64_t)1 << (limit - d - 1);
    }
    /* Space that was freed in excess goes to the deepest leaves that it
     * suffices for. */
    for (unsigned d = limit; d > 1 && sum < whole; d--)
        while (leaves[d] && whole - sum >= (uint64_t)1 << (limit - d)) {
            leaves[d]--;
            leaves[d - 1]++;
            sum += (uint64_t)1 << (limit - d);
        }
}

void huffman_code_lengths(uint8_t *length, const uint32_t *count, unsigned n,
                          unsigned limit)
{
    uint16_t symbol[HUFFMAN_SYMBOLS + 1];
    uint32_t depth[HUFFMAN_SYMBOLS];
    unsigned leaves[HUFFMAN_SYMBOLS] = { 0 };
    unsigned used = sort_symbols(symbol, count, n);
    assert(n <= HUFFMAN_SYMBOLS && used >= 2);
    for (unsigned i = 0; i < used; i++)
        depth[i] = count[symbol[i]];
    tree_depths(depth, used);
    for (unsigned i = 0; i < used; i++)
        leaves[depth[i]]++;
    if (depth[0] > limit)
        limit_depths(leaves, depth[0], limit);
    memset(length, 0, n);
    for (unsigned d = HUFFMAN_SYMBOLS - 1, i = 0; d > 0; d--)
        for (unsigned k = leaves[d]; k > 0; k--)
            length[symbol[i++]] = (uint8_t)d;
}

/* Returns a code as huffman_code_assign() writes it. */
static uint32_t code_make(unsigned bits, unsigned length)
{
    uint32_t reversed = 0;
    for (unsigned i = 0; i < length; i++)
        reversed |= (bits >> i & 1) << (length - 1 - i);
    return reversed << 8 | length;
}

void huffman_code_assign(uint32_t *code, const uint8_t *length, unsigned n)
{
    unsigned next[17] = { 0 }, of_length[16] = { 0 };
    for (unsigned i = 0; i < n; i++)
        of_length[length[i]]++;
    of_length[0] = 0;
    for (unsigned d = 1; d < 16; d++)
        next[d + 1] = (next[d] + of_length[d]) << 1;
    for (unsigned i = 0; i < n; i++)
        code[i] = length[i] ? code_make(next[length[i]]++, length[i]) : 0;
}
