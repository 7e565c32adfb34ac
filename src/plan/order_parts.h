/* SPDX-License-Identifier: MIT */
/* order_parts.h - what order.c and order_choice.c share: the schedule in the making. A "block" is a strongly connected
 * component: a node, or a loop. */
#ifndef TUTTI_PLAN_ORDER_PARTS_H
#define TUTTI_PLAN_ORDER_PARTS_H

#include "plan/order.h"

struct tutti_order_queue {
    uint64_t *keys; /* a binary heap, smallest first */
    size_t count, room;
};

/* What lies behind the outputs of a component. */
struct tutti_order_search {
    uint32_t *met, count;     /* blocks */
    uint32_t *met_by, number; /* per block: the last search that met it; this search */
    uint32_t *chain;          /* per block */
    uint64_t patience;        /* edges that may still be followed */
};

struct tutti_order_schedule {
    const struct tutti_structure *structure;
    struct tutti_order *order;
    uint32_t node_total;          /* nodes in actions so far */
    struct tutti_digraph needing; /* the graph turned round: who needs node v */
    uint32_t *missing;            /* per block: needs that are not known */
    uint32_t *waiting;            /* per component, in the range of its nodes: inputs to be set; then ready outputs */
    uint32_t *input_waiting, *output_waiting; /* how many of these */
    uint32_t *output_first;                   /* per component: its first output */
    uint32_t *outstanding;                    /* outputs in no action yet, those of loops left out */
    uint64_t *urgency;                        /* per component: its valid key in `evaluate` */
    uint32_t *unknown_inputs;                 /* per component */
    uint32_t *fresh;                          /* a stack: known nodes whose dependents have not heard of it */
    uint32_t fresh_count;
    /* Components with ready outputs, by outputs that would be left over; keys that are no longer valid are passed over. */
    struct tutti_order_queue evaluate;
    struct tutti_order_queue solve; /* blocks */
    struct tutti_order_search search;
};

/* A component that might be evaluated for a part of its outputs; see tutti_order_judge. */
struct tutti_order_candidate {
    uint32_t component, lost, reached;
};

static inline bool tutti_order_is_loop(const struct tutti_components *scc, uint32_t block)
{
    return scc->first[block + 1] - scc->first[block] > 1;
}

/* For qsort: numbers, the smallest first. */
static inline int tutti_order_compare(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return (left > right) - (left < right);
}

/* A component has to be evaluated at least as often as its longest chain of outputs is long, in which each needs the one
 * before. If all longest chains begin with outputs that are ready, an evaluation now is one of these, and nothing is lost;
 * else what is lost is the outputs that begin a chain as long and could have come along later. When the search has run
 * out of patience, nothing is said to be lost. */
struct tutti_order_candidate tutti_order_judge(struct tutti_order_schedule *schedule, uint32_t component);

#endif
