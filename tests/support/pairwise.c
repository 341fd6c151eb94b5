/* Combinations of values; see the header. Each is made from two values that
 * have not met; the other parameters get the values that meet most of the
 * others for the first time. */
#include "tests/support/pairwise.h"

#include <stdlib.h>
#include <string.h>

#include "tests/support/must.h"

bool tests_are_whole(void)
{
    const char *whole = getenv("WHOLE");
    return whole && strcmp(whole, "1") == 0;
}

static bool next_of_all(struct pairwise *p)
{
    unsigned i = p->parameters;
    if (p->given == 0)
        return true;
    while (i-- > 0) {
        if (++p->at[i] < p->counts[i])
            return true;
        p->at[i] = 0;
    }
    return false;
}

static bool *met(struct pairwise *p, unsigned i, unsigned a, unsigned k,
                 unsigned b)
{
    const unsigned x = p->number[i] + a, y = p->number[k] + b;
    return &p->met[x < y ? x * p->values + y : y * p->values + x];
}

/* Sets the first two values that have not met: parameters *i and *k. */
static bool begin(struct pairwise *p, unsigned *i, unsigned *k)
{
    for (*i = 0; *i < p->parameters; ++*i)
        for (*k = *i + 1; *k < p->parameters; ++*k)
            for (unsigned a = 0; a < p->counts[*i]; a++)
                for (unsigned b = 0; b < p->counts[*k]; b++)
                    if (!*met(p, *i, a, *k, b)) {
                        p->at[*i] = a;
                        p->at[*k] = b;
                        return true;
                    }
    return false;
}

/* Sets parameter n to the best value beside those that are `set`; among equals
 * it takes another one each time. */
static void choose(struct pairwise *p, unsigned n, const bool *set)
{
    unsigned best = 0, most = 0;
    for (unsigned i = 0; i < p->counts[n]; i++) {
        const unsigned value = (i + p->given) % p->counts[n];
        unsigned fresh = 1;
        for (unsigned k = 0; k < p->parameters; k++)
            fresh += set[k] && !*met(p, n, value, k, p->at[k]);
        if (fresh > most) {
            most = fresh;
            best = value;
        }
    }
    p->at[n] = best;
}

static bool next_of_pairs(struct pairwise *p)
{
    bool set[PAIRWISE_PARAMETERS] = { false };
    unsigned i, k;
    if (p->parameters == 1)
        return next_of_all(p);
    if (!begin(p, &i, &k))
        return false;
    set[i] = set[k] = true;
    for (unsigned n = 0; n < p->parameters; n++)
        if (!set[n]) {
            choose(p, n, set);
            set[n] = true;
        }
    for (i = 0; i < p->parameters; i++)
        for (k = i + 1; k < p->parameters; k++)
            *met(p, i, p->at[i], k, p->at[k]) = true;
    return true;
}

bool pairwise_next(struct pairwise *p)
{
    if (p->given == 0) {
        for (; p->parameters < PAIRWISE_PARAMETERS && p->counts[p->parameters];
             p->parameters++) {
            p->number[p->parameters] = p->values;
            p->values += p->counts[p->parameters];
        }
        p->met = calloc((size_t)p->values * p->values, sizeof *p->met);
        must(p->met != NULL);
    }
    bool found = tests_are_whole() ? next_of_all(p) : next_of_pairs(p);
    p->given++;
    if (!found)
        free(p->met);
    return found;
}
