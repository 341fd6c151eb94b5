/* The values of several parameters, combined: so few combinations that each two
 * values of two parameters meet in one of them, as most faults need no more;
 * with WHOLE=1 in the environment, all combinations.
 *
 *     struct pairwise p = { .counts = { SIDES, SIDES, XFORM_COUNT } };
 *     while (pairwise_next(&p))
 *         check(side[p.at[0]], side[p.at[1]], (enum xform)p.at[2]); */
#ifndef TESTS_SUPPORT_PAIRWISE_H
#define TESTS_SUPPORT_PAIRWISE_H

#include <stdbool.h>
#include <stdint.h>

enum { PAIRWISE_PARAMETERS = 6 };

struct pairwise {
    unsigned counts[PAIRWISE_PARAMETERS]; /* of values; 0 ends them */
    unsigned at[PAIRWISE_PARAMETERS];     /* this combination */

    /* What pairwise_next() knows. */
    unsigned parameters;
    unsigned given;                       /* combinations so far */
    unsigned values;                      /* of all parameters */
    unsigned number[PAIRWISE_PARAMETERS]; /* of the first value of each */
    bool *met; /* which values have met, by their numbers */
};

/* Goes to the first combination, and then to the next one. Returns false, and
 * frees what it has allocated, when there is none. Ends the test without
 * memory. */
bool pairwise_next(struct pairwise *p);

/* Whether all combinations were asked for: WHOLE=1. */
bool tests_are_whole(void);

#endif
