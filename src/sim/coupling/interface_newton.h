/* SPDX-License-Identifier: MIT */
#ifndef TT_SIM_COUPLING_INTERFACE_NEWTON_H
#define TT_SIM_COUPLING_INTERFACE_NEWTON_H

#include "base/options/option_words.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/cycles.h"
#include "sim/coupling/step_jacobian.h"
#include "solve/kinsol.h"

/* The equations of a macro step that interface Newton solves (interface_newton.c), cycle by cycle: their unknowns, the sweep that
 * evaluates them (interface_newton.c), and their Jacobian (jacobian.c). */

enum tt_newton_kind {
#define TUTTI_LISTED(name, word, meaning) TUTTI_NEWTON_##name,
    TUTTI_NEWTONS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

struct tt_interface_newton;

/* A cycle, and its solution in the current step. */
struct tt_newton_cycle {
    struct tt_interface_newton *interface;
    const struct tt_cycle *cycle;
    uint32_t n;                          /* unknowns: values of the cycle, then derivatives where available */
    uint32_t *rates;                     /* per value: the unknown that is its derivative; TUTTI_NONE: it has none */
    uint32_t *values;                    /* per unknown: its value, or the value whose derivative it is */
    uint32_t column_first, column_count; /* of the Jacobian */
    struct tt_fixed_point problem;
    struct tt_pattern pattern; /* of dY/dx, if it is sparse */
    struct tt_kinsol *solver;
    double *x, *image, *residuals, *scale;
    double *guess, *guessed;     /* of the first sweep of a solution, and its result */
    double *first;               /* result of the first sweep of the step */
    double *matrix;              /* broyden: dY/dx, column by column */
    double *seen_x, *seen_image; /* where it was last updated */
    double *at;                  /* where the Jacobian is made */
    double *jacobian_h;          /* the step size of the Jacobian; 0: no Jacobian */
    double residual;             /* scaled, in the iteration before */
    bool made;                   /* in that one its Jacobian was made */
    unsigned asked;              /* iterations of this solution */
    unsigned sweeps;             /* of this step */
    bool away;                   /* units are not at the start of the step */
    bool begins;                 /* no sweep of this solution has been made */
};

/* N5 */
struct tt_newton_saved {
    double *values, *start; /* now, and at the start of the macro step */
    size_t count;
};

struct tt_interface_newton {
    const struct tt_step_rules *rules; /* of the step that is being made */
    struct tt_sim *master;
    enum tt_newton_kind kind;
    struct tt_cycles cycles;
    struct tt_newton_cycle *rings;
    struct tt_step_jacobian jacobian; /* columns of all cycles */
    struct tt_step_mapping meaning;
    uint32_t *unknowns;                       /* per column: of its cycle */
    uint32_t *row_unknowns;                   /* per row: likewise */
    double *tried;                            /* per real: derivatives at the end of a step that is tried */
    size_t *places;                           /* per entry: in the matrix of its cycle */
    double *base;                             /* of the Jacobian */
    double *jacobian_h;                       /* per cycle */
    bool last;                                /* sweeps repeat the last step of solvers */
    double *guessed_slopes[TUTTI_MOST_ORDER]; /* and these are the slopes of gathered inputs in the first sweep */
    struct tt_newton_saved *rooms;            /* all that Jacobians consist of */
    size_t room_count;
    unsigned long start_step;        /* the number of the macro step whose start they contain */
    double *begin;                   /* per real: at the start of the step */
    unsigned long *before;           /* per member: do-steps before its last step */
    struct tt_snapshot own;          /* where the step begins, if that is not the start of a macro step */
    const struct tt_snapshot *start; /* or at this point */
    double target;
    struct tt_step_result *result;
    unsigned long own_events;
    bool interrupted; /* the result has the reason */
};

static inline uint32_t tt_interface_newton_unit_at(const struct tt_interface_newton *self,
                                                   const struct tt_step_stage *stage, uint32_t i)
{
    return self->cycles.stages.components[stage->first + i];
}

/* ---- interface_newton.c ---- */

/* The do-steps that a unit made since its last step was begun are auxiliary ones. */
void tt_interface_newton_count_steps(struct tt_interface_newton *self, const struct tt_member *member);
/* A signal of the cycle moves from the start to the guess. */
void tt_interface_newton_set_slope(const struct tt_newton_cycle *ring, uint32_t value, const double *x);
/* Gathers the inputs of a unit for its step. Discrete inputs are gathered before the first sweep, and after a solution. */
TUTTI_CHECKED enum tutti_err tt_interface_newton_stage_unit(struct tt_interface_newton *self, struct tt_member *member,
                                                            bool discrete);
/* Collective: the units of a stage make their step, and publish their outputs. */
TUTTI_CHECKED enum tutti_err tt_interface_newton_step_stage(struct tt_interface_newton *self,
                                                            const struct tt_step_stage *stage, bool discrete,
                                                            struct tt_step_result *result);
/* Collective: derivatives of their outputs at the end, where the coupling needs them. */
TUTTI_CHECKED enum tutti_err tt_interface_newton_get_rates(struct tt_interface_newton *self,
                                                           const struct tt_step_stage *stage);
/* The step times the derivative of a value at its end; where the unit gives no number, that of the line stands for it. */
double tt_interface_newton_unknown_change(const struct tt_newton_cycle *ring, uint32_t value, double end,
                                          const double *rates);
/* For struct tt_fixed_point, of a ring. A guess that a unit refuses is outside, unless it is the first one: then the step is too long.
 * An event ends the solution. */
TUTTI_CHECKED enum tutti_err tt_interface_newton_sweep(void *context, const double *x, double *image, bool *outside);

/* ---- jacobian.c ---- */

/* Values that go back with a step that is taken back (N5). */
TUTTI_CHECKED enum tutti_err tt_newton_jacobian_add_saved(struct tt_interface_newton *self, double *values,
                                                          size_t count);
/* Columns and rows of all cycles in one Jacobian. */
TUTTI_CHECKED enum tutti_err tt_newton_jacobian_open(struct tt_interface_newton *self);
TUTTI_CHECKED enum tutti_err tt_newton_jacobian_open_pattern(struct tt_newton_cycle *ring);
/* At the start of a step (N5). */
void tt_newton_jacobian_begin(struct tt_interface_newton *self);
/* For struct tt_fixed_point, of a ring. */
TUTTI_CHECKED enum tutti_err tt_newton_jacobian_compute(void *context, const double *x, double *matrix);

#endif
