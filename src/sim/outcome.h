/* SPDX-License-Identifier: MIT */
/* outcome.h - how a step of a coupling went. */
#ifndef TT_SIM_OUTCOME_H
#define TT_SIM_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

/* Where several hold, the last of this list counts. */
enum tt_reach {
    TUTTI_REACHED, /* all units are at the end of the step */
    TUTTI_EARLY,   /* one came back before it, with an event */
    TUTTI_ENDED,   /* one ended the run */
    TUTTI_REFUSED, /* one discarded the step: those after it were not stepped */
};

struct tt_outcome {
    enum tt_reach why;
    uint32_t
        who; /* the component that did it; of several: the earliest to come back, the last to end, the first to refuse */
    double at;           /* the time it reached */
    unsigned iterations; /* of couplings that iterate */
    bool converged;      /* and they converged; true without iterations */
    double divergence;   /* between first and last iteration (Awais 2015 eq. 5.22) */
};

/* Before the first unit steps. */
static inline struct tt_outcome tt_outcome_begin(void)
{
    return (struct tt_outcome){.why = TUTTI_REACHED, .who = UINT32_MAX, .converged = true};
}

static inline void tt_outcome_set_early(struct tt_outcome *outcome, uint32_t component, double at)
{
    if (outcome->why > TUTTI_EARLY || (outcome->why == TUTTI_EARLY && outcome->at <= at))
        return;
    outcome->why = TUTTI_EARLY;
    outcome->who = component;
    outcome->at = at;
}

static inline void tt_outcome_set_ended(struct tt_outcome *outcome, uint32_t component, double at)
{
    if (outcome->why > TUTTI_ENDED)
        return;
    outcome->why = TUTTI_ENDED;
    outcome->who = component;
    outcome->at = at;
}

static inline void tt_outcome_set_rejected(struct tt_outcome *outcome, uint32_t component, double at)
{
    if (outcome->why == TUTTI_REFUSED)
        return;
    outcome->why = TUTTI_REFUSED;
    outcome->who = component;
    outcome->at = at;
}

/* Returns true if this unit ended the run in the step. */
static inline bool tt_outcome_is_end_of(const struct tt_outcome *outcome, uint32_t component)
{
    return outcome->why == TUTTI_ENDED && outcome->who == component;
}

#endif
