/* SPDX-License-Identifier: MIT */
#ifndef TT_MODEL_PLAN_PARTITION_SEARCH_H
#define TT_MODEL_PLAN_PARTITION_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/fail.h"

/* The problem of partitioner.h in integers: so that sums have no order, and all machines agree. */

struct tt_partition_problem {
    uint32_t count; /* units */
    int32_t ranks;  /* fewer than units */
    /* Units that exchange values with unit u, in either direction: others[first[u]] ... others[first[u + 1] - 1],
     * without u. */
    uint32_t *first, *others;
    int64_t *values;
    int64_t *weights;      /* per unit: >= 1 */
    const int32_t *fixed;  /* per unit: its rank; -1: free */
    const int32_t *family; /* per unit: no two of one family share a rank; -1: none */
    int64_t total;         /* of all weights */
    double price;          /* of a value between ranks, in weights */
};

/* How good a placement is. */
struct tt_partition_merit {
    int64_t load;   /* the greatest */
    int64_t cut;    /* values between units of different ranks */
    int64_t uneven; /* sum of the squares of loads */
};

/* Returns the cost: all ranks take as long as the rank with the greatest load. */
static inline double tt_partition_search_cost(const struct tt_partition_problem *parts,
                                              const struct tt_partition_merit *merit)
{
    return (double)parts->ranks * (double)merit->load + parts->price * (double)merit->cut;
}

/* Returns true if a is better than b. */
static inline bool tt_partition_search_is_better(const struct tt_partition_problem *parts,
                                                 const struct tt_partition_merit *a, const struct tt_partition_merit *b)
{
    double a_cost = tt_partition_search_cost(parts, a), b_cost = tt_partition_search_cost(parts, b);
    return a_cost != b_cost ? a_cost < b_cost : a->uneven < b->uneven;
}

/* METIS, halving by halving; `place` is good but for families and ranks without a unit. */
TUTTI_CHECKED enum tutti_err tt_partition_search_bisect(const struct tt_partition_problem *parts, int32_t *place);
/* The heaviest first, each to the rank with the least load where it may go. */
TUTTI_CHECKED enum tutti_err tt_partition_search_spread(const struct tt_partition_problem *parts, int32_t *place);
/* Makes a placement satisfy all constraints, then moves and swaps units as long as that reduces the load beyond
 * `target`, then the values between ranks, then the imbalance. */
TUTTI_CHECKED enum tutti_err tt_partition_search_improve(const struct tt_partition_problem *parts, int64_t target,
                                                         int32_t *place, struct tt_partition_merit *merit);
/* Finds the optimal placement. For few units: ten units have at most 115,975 placements (Bell's number). */
enum { TUTTI_PARTITION_FEW = 10 };
void tt_partition_search_exhaustive(const struct tt_partition_problem *parts, int32_t *place);

#endif
