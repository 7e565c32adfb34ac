/* SPDX-License-Identifier: MIT */
/* partitioner.h - assigns units to ranks such that loads are balanced, and few values pass between ranks.
 *
 * The graph of units, with the values that pass between two of them as the weight of their edge, is halved again and
 * again by METIS (multilevel bisection: Karypis and Kumar, SIAM J. Sci. Comput. 20 (1998) 359-392), then improved unit
 * by unit under the constraints, which METIS does not support; for a few units all placements are tried. The best one
 * minimises the sum of the greatest load, relative to the mean, and a quarter of the share of values between ranks. The
 * result depends only on the system, the options and the version of METIS. */
#ifndef TT_MODEL_PLAN_PARTITIONER_H
#define TT_MODEL_PLAN_PARTITIONER_H

#include "model/system/system.h"

/* The task of placing units. All of it is borrowed. */
struct tt_partitioner_task {
    const struct tt_system *system;
    const double *costs;  /* per component, in any unit, finite, >= 0; NULL: all equal */
    const int32_t *fixed; /* per component: the rank that it is to have, -1: any; NULL: any for all */
    const bool *alone;    /* per component: no two of these that share an FMU share a rank; NULL: none */
    int ranks;            /* > 0 */
};

/* Sets place[c] to the rank of component c. Fixed components get their rank; every rank has a component if there are
 * enough; with as many ranks as components each gets its own, in order. ARGUMENT, naming the components, if `alone`
 * cannot be satisfied. */
TUTTI_CHECKED enum tutti_err tt_partitioner_place(const struct tt_partitioner_task *task, int32_t *place);
/* How many ranks `alone` (NULL: none) takes: 1 or more. */
int tt_partitioner_least_ranks(const struct tt_system *system, const bool *alone);

/* The values that one rank sends to a second rank at every exchange. */
struct tt_traffic {
    int32_t from, to;
    uint64_t values; /* an array counts by its elements; a value read by several units there is sent once */
};

/* Lists all traffic between ranks, sorted by `from`, then `to`. *list belongs to the caller (free). `place` NULL: every
 * component is a separate rank. */
TUTTI_CHECKED enum tutti_err tt_partitioner_list_traffic(struct tt_traffic **list, size_t *count,
                                                         const struct tt_system *system, const int32_t *place);

#endif
