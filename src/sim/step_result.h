/* SPDX-License-Identifier: MIT */
/* step_result.h - the result of a step: of one coupling step, of a control's attempt at a macro step, or of the part that one rank made.
 *
 * Couplings and components set `end`, `component`, `at`, `iterations`, `converged` and `divergence`; the rest belongs to attempts. */
#ifndef TT_SIM_STEP_RESULT_H
#define TT_SIM_STEP_RESULT_H

#include <stdbool.h>
#include <stdint.h>

#include "fmu/description/description.h"

/* How a step ended. If several components ended it, the last of the first four in this list counts. */
enum tt_step_end {
    TUTTI_END_REACHED,        /* all components are at the end of the step */
    TUTTI_END_EVENT,          /* a component returned before it, with an event */
    TUTTI_END_OF_RUN,         /* a component ended the run */
    TUTTI_END_REFUSED,        /* a component discarded the step; the components after it were not stepped */
    TUTTI_END_OUTPUT_CHANGED, /* all components are there, but a discrete output differs from the start of the step */
};

struct tt_step_result {
    double from, target;
    enum tt_step_end end;
    /* The component that ended the step: the earliest to return, the last to end the run, the first to refuse; and the variable, if an
     * output changed. */
    uint32_t component, variable;
    double at;           /* the point that it reached; for a changed output: the end of a step that shows the change */
    bool in_second_half; /* the output changed after `at`, where a doubled step has its middle */
    bool unsolved;       /* refused because the outputs at the end of the step could not be solved for (correction.h) */

    unsigned iterations; /* of a coupling that iterates, over all coupling steps; 0: it does not iterate */
    bool converged;      /* every iteration converged; true if there was none */
    double divergence;   /* between first and last iteration (Awais 2015 eq. 5.22) */

    bool estimated;    /* `error` is known */
    double error;      /* of the step, weighted by the tolerances: at most 1 is good */
    double size;       /* the weighted error before it is scaled to the share of this step in the run */
    double seen;       /* the observed difference that the estimate is based on */
    unsigned order;    /* `error` is proportional to the power order + 1 of the step size */
    uint32_t driver;   /* the real output with the largest share in the error; TUTTI_NONE */
    double difference; /* its share, not weighted; only if discrete outputs are watched */
};

/* Before the first component steps. */
static inline struct tt_step_result tt_step_result_begin(double from, double target)
{
    return (struct tt_step_result){.from = from,
                                   .target = target,
                                   .end = TUTTI_END_REACHED,
                                   .component = TUTTI_NONE,
                                   .variable = TUTTI_NONE,
                                   .converged = true,
                                   .driver = TUTTI_NONE};
}

static inline void tt_step_result_set_event(struct tt_step_result *result, uint32_t component, double at)
{
    if (result->end > TUTTI_END_EVENT || (result->end == TUTTI_END_EVENT && result->at <= at))
        return;
    result->end = TUTTI_END_EVENT;
    result->component = component;
    result->at = at;
}

static inline void tt_step_result_set_ended(struct tt_step_result *result, uint32_t component, double at)
{
    if (result->end > TUTTI_END_OF_RUN)
        return;
    result->end = TUTTI_END_OF_RUN;
    result->component = component;
    result->at = at;
}

static inline void tt_step_result_set_refused(struct tt_step_result *result, uint32_t component, double at)
{
    if (result->end == TUTTI_END_REFUSED)
        return;
    result->end = TUTTI_END_REFUSED;
    result->component = component;
    result->at = at;
}

/* True if this component ended the run in the step. */
static inline bool tt_step_result_is_end_of(const struct tt_step_result *result, uint32_t component)
{
    return result->end == TUTTI_END_OF_RUN && result->component == component;
}

/* Adds the coupling step made last to an attempt, which may consist of several. */
static inline void tt_step_result_add(struct tt_step_result *attempt, const struct tt_step_result *step)
{
    attempt->end = step->end;
    attempt->component = step->component;
    attempt->variable = step->variable;
    attempt->at = step->at;
    attempt->unsolved = step->unsolved;
    attempt->divergence = step->divergence;
    attempt->iterations += step->iterations;
    attempt->converged = attempt->converged && step->converged;
}

#endif
