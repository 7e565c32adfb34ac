/* SPDX-License-Identifier: MIT */
/* batched_call.h - steps of Co-Simulation instances that do nothing unusual, one instance after the other: set,
 * do-step, get.
 *
 * Data that is constant from step to step (functions, references, addresses of the values) is stored in flat call
 * triples. A pass makes one step of a list of triples, in one tight loop per version of FMI. Any unusual outcome (a
 * status other than OK, error messages, an early return, the end of the run) stops the pass at that call. The caller
 * then calls tt_batched_call_conclude, which handles the outcome as for a single call, finishes the step of that
 * instance, and continues with the next instance.
 *
 * Invariants:
 *  P1  Only instances in step mode are stepped, without event mode and intermediate updates.
 *  P2  Before every call the instance records the call and its time: messages, crash reports and time-outs name both. */
#ifndef TT_FMU_BATCHED_CALL_H
#define TT_FMU_BATCHED_CALL_H

#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/time.h"
#include "fmu/binding.h"
#include "fmu/fmi_call.h"

/* Float64 variables of one call: none if count is 0. Borrowed. */
struct tt_batched_call_values {
    const uint32_t *references;
    double *values;
    uint32_t count, value_count; /* number of references; number of values, which is larger with arrays */
};

struct tt_batched_call {
    struct tt_instance *instance;
    void (*set)(void), (*step)(void), (*get)(void); /* of the FMU, by version */
    struct tt_batched_call_values inputs, outputs;
    /* Filled in by the caller. One by one: before inputs are set, staged[i] becomes pass->source[from[i]]. */
    const uint32_t *from;
    double *staged;
    uint32_t gather_count;
    double *arrived;    /* receives the end of a step */
    uint32_t heartbeat; /* counter that is published before the first call */
    uint32_t quiet;     /* the pass stops before step number `quiet` from now, which needs separate handling */
    uint8_t fmi;        /* 0: all are */
};

/* The call that a pass stopped at. */
enum tt_batched_call_stop {
    TUTTI_TRIPLE_NOWHERE,
    TUTTI_TRIPLE_BEFORE,
    TUTTI_TRIPLE_SET,
    TUTTI_TRIPLE_STEP,
    TUTTI_TRIPLE_GET
};

/* A step from t to t + h = `end`, and its exact variant for FMUs that require it (`arrived`). */
struct tt_batched_call_aim {
    double t, h, end, arrival;
};

struct tt_batched_call_pass {
    struct tt_batched_call_aim aim;
    _Atomic uint32_t *heartbeat;
    const double *source; /* values from which inputs are taken */
    /* Answers. */
    enum tt_batched_call_stop at;
    enum tt_fmi_status status;
    struct tt_fmi_step step;              /* after TUTTI_TRIPLE_STEP; zeroed before the first pass */
    struct tt_fmi_call_modes_watch watch; /* the pass's own; zeroed before the first one */
};

/* The part of a triple that belongs to the instance. False, with triple->fmi 0, for an instance that is not that simple.
 * `instance` is borrowed. */
bool tt_batched_call_make(struct tt_batched_call *triple, struct tt_instance *instance,
                          const struct tt_batched_call_values *inputs, const struct tt_batched_call_values *outputs);

/* `one_by_one`: each triple gathers its inputs from pass->source before its step; otherwise all inputs are staged before the first step. */

/* Makes one step of triples first ... end - 1. Returns `end`, or the index of the triple at which it stopped: pass->at
 * has the position. triple->quiet of that triple was decremented for this step. */
uint32_t tt_batched_call_step(struct tt_batched_call *triples, uint32_t first, uint32_t end,
                              struct tt_batched_call_pass *pass, bool one_by_one);

/* The next step: from t to `target`. False if that cannot be reached, up to rounding. */
static inline bool tt_batched_call_aim(struct tt_batched_call_pass *pass, double t, double target, double span)
{
    double h = tt_time_step(t, target);
    pass->aim = (struct tt_batched_call_aim){t, h, t + h, target};
    return __builtin_expect(pass->aim.end == target, 1) || tt_time_same(pass->aim.end, target, span);
}

/* Consecutive steps along a grid. */
/* A contiguous range of doubles. */
struct tt_batched_call_piece {
    const double *first;
    uint32_t count;
};

struct tt_batched_call_many {
    struct tt_time_grid *grid;
    double t, span;                         /* where it is; the scale for comparing times */
    unsigned long most;                     /* steps */
    const volatile sig_atomic_t *interrupt; /* no step begins where it is not 0; NULL: none */
    const uint32_t *from;                   /* not one by one: inputs of all triples, staged before each step */
    double *staged;
    uint32_t gather_count;
    const struct tt_batched_call_piece *pieces; /* no step begins where one of these values is not finite */
    uint32_t piece_count;
    unsigned long made; /* answer: whole steps; t and grid stand at their end */
};

/* Makes up to `most` steps of all triples; there must be at least one. Returns `count`, or the triple at which it
 * stopped within a step, like tt_batched_call_step. */
uint32_t tt_batched_call_run(struct tt_batched_call *triples, uint32_t count, struct tt_batched_call_pass *pass,
                             bool one_by_one, struct tt_batched_call_many *many);

/* Makes one step of all triples, as tt_batched_call_step does; there must be at least one. The fastest variant for
 * callers that return after each step. */
uint32_t tt_batched_call_step_once(struct tt_batched_call *triples, uint32_t count, struct tt_batched_call_pass *pass,
                                   bool one_by_one);

/* Concludes the call that a pass stopped at, as instance.h would have; after a do-step pass->step is its result. */
TUTTI_CHECKED enum tutti_err tt_batched_call_conclude(const struct tt_batched_call *triple,
                                                      struct tt_batched_call_pass *pass);

#endif
