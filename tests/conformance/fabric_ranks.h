/* SPDX-License-Identifier: MIT */
/* fabric_ranks.h - starts the ranks of test_fabric.c. Each kind of fabric implements this in a separate file,
 * fabric_NAME.c. */
#ifndef TUTTI_TEST_FABRIC_RANKS_H
#define TUTTI_TEST_FABRIC_RANKS_H

#include <stdio.h>
#include <stdlib.h>
#include <tutti/err.h>

#include "sim/ranks/fabric.h"

/* All reports of a rank. */
struct reported {
    char *bytes; /* of malloc */
    size_t size;
};

extern const char *const fabric_name; /* as kind->name says */
extern const int most_ranks;          /* that the tests may start */

/* Starts ranks, calls body(fabric) in each, closes the fabrics, and comes back once all have; fails the test if a rank did not
 * come to its end. `reports` (one per rank, the caller's then; NULL: not wanted) gets what they reported, which is read slowly,
 * so that there is back-pressure. */
void run_ranks(int ranks, void (*body)(struct tt_fabric *fabric), struct reported *reports);

#ifdef TEAMS
/* In a rank: waits for the ranks of both teams, since a stop by one team is for the other as well, wherever that is. Called by all. */
void wait_for_other_team(void);
#else
static inline void wait_for_other_team(void)
{
}
#endif

/* In a rank: not cmocka's asserts, which only its own thread may use. */
#define expect(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: rank %d: expected %s (%s)\n", __FILE__, __LINE__, fabric->rank, #condition,        \
                    tutti_err_message());                                                                              \
            _Exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

#endif
