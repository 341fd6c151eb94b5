/* The distance of two words, by the table of Wagner and Fischer. */
#include "cli/options/spelling.h"

#include <string.h>

enum { LONGEST = 40 };

static unsigned min(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

/* cost[i][j] is the distance of the first i letters of a and the first j of b.
 */
unsigned spelling_distance(const char *a, const char *b)
{
    unsigned cost[LONGEST + 1][LONGEST + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > LONGEST || m > LONGEST)
        return SPELLING_FAR;
    for (size_t i = 0; i <= n; i++)
        cost[i][0] = (unsigned)i;
    for (size_t j = 0; j <= m; j++)
        cost[0][j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++)
        for (size_t j = 1; j <= m; j++) {
            char x = lower(a[i - 1]), y = lower(b[j - 1]);
            unsigned least = cost[i - 1][j - 1] + (x != y);
            least = min(least, cost[i - 1][j] + 1);
            least = min(least, cost[i][j - 1] + 1);
            if (i > 1 && j > 1 && x == lower(b[j - 2]) && lower(a[i - 2]) == y)
                least = min(least, cost[i - 2][j - 2] + 1);
            cost[i][j] = least;
        }
    return cost[n][m];
}

const char *spelling_nearest(const char *word, const char *const *words,
                             size_t nwords)
{
    unsigned least = (unsigned)(strlen(word) < 9 ? strlen(word) / 3 : 3) + 1;
    const char *nearest = NULL;
    for (size_t i = 0; i < nwords; i++) {
        unsigned distance = spelling_distance(word, words[i]);
        if (distance < least) {
            least = distance;
            nearest = words[i];
        }
    }
    return nearest;
}
