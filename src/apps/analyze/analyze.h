/* SPDX-License-Identifier: MIT */
/* analyze.h - properties of a system before it runs: order of evaluation, loops, start values that no unit reads,
 * stable couplings, for small steps (Andersson 2016 section 6.1) and for a given step, and the choices of `auto`. */
#ifndef TT_APPS_ANALYZE_ANALYZE_H
#define TT_APPS_ANALYZE_ANALYZE_H

#include "base/options/options.h"
#include "model/plan/eval_order.h"
#include "model/plan/structure.h"
#include "model/system/system.h"
#include "sim/method.h"
#include "sim/start/stability.h"
#include "sim/start/step_operator.h"

/* Which couplings are stable with steps of a given size: units are linearised at the start, and the spectral radius
 * of a macro step is computed for each coupling (sim/start/step_operator.h). */

/* A coupling with extrapolation of some order. */
struct tt_step_cell {
    bool known; /* false: it was too large, or has no radius */
    bool stable;
    double radius;
    /* Steps from a hundredth of the given one to a hundred times it: */
    bool searched;  /* step sizes were searched; false: too many states and outputs */
    bool any_step;  /* all are stable */
    double largest; /* otherwise stable up to this size; NAN: not even for the shortest */
};

enum tt_step_row {
    TUTTI_ROW_JACOBI,
    TUTTI_ROW_SMOOTH,
    TUTTI_ROW_CORRECT,
    TUTTI_ROW_SEIDEL,
    TUTTI_ROW_IMPLICIT,
    TUTTI_ROW_KINEMATIC, /* of systems with constraints, which no other coupling keeps */
    TUTTI_STEP_ROWS
};

struct tt_step_analysis {
    bool asked; /* a step was given; otherwise all fields are 0 */
    bool known; /* units could be linearised; otherwise see `why_not` */
    char why_not[512];
    double h;
    bool constrained; /* growth by the coupled equations themselves in this time; NAN with constraints */
    double exact;     /* what the coupled equations themselves do in this time; NAN with constraints */
    bool by_twins;    /* units for Co-Simulation were linearised by their Model Exchange interface */
    struct tt_step_cell cells[TUTTI_STEP_ROWS][TUTTI_ORDERS]; /* IMPLICIT: the first for all orders */
    double sweeps[2];   /* the remaining error after a sweep of relax: seidel, jacobi; NAN: unknown */
    double least, most; /* steps that were looked at for the largest one */
};

static inline bool tt_analyze_step_row_applies(const struct tt_step_analysis *analysis, enum tt_step_row row)
{
    return analysis->constrained == (row == TUTTI_ROW_KINEMATIC);
}

/* For units that have left their initialisation, which are read but not changed. Only MEMORY is returned as an error;
 * all other failures go to `why_not`. */
TUTTI_CHECKED enum tutti_err tt_analyze_finite_step(struct tt_rank *rank, const struct tt_structure *running,
                                                    const struct tt_step_sequence *sequence, double h,
                                                    struct tt_step_analysis *analysis);

/* An algebraic loop of the running system. */
struct tt_loop_analysis {
    const uint32_t *nodes; /* of `running` */
    uint32_t count;
    struct tt_radii stability; /* at the start; not known, without a reason, where the system cannot be started */
};

/* One of the choices that make a master. */
struct tt_choice {
    const char *name;   /* "coupling", "control", "extrapolate", "events" */
    const char *value;  /* "seidel" */
    const char *reason; /* of `auto`; NULL: it was asked for */
};

/* A cell of the table of stability. */
struct tt_analysis_cell {
    bool possible; /* false: the combination does not exist */
    bool known, stable;
    double radius; /* NAN: it does not depend on one */
};

/* Extrapolation of an order. */
struct tt_stability_row {
    const char *name;               /* "constant", "linear", "quadratic" */
    struct tt_analysis_cell jacobi; /* with the derivatives that the units accept and provide */
    struct tt_analysis_cell given,
        history; /* if all units accepted derivatives, and all were provided or estimated from earlier points */
    struct tt_analysis_cell seidel, correct, smooth;
};

struct tt_analysis {
    const struct tt_system *system;
    const struct tt_structure *initial, *running;
    const struct tt_eval_order *order; /* of the initialisation */
    uint32_t ungrouped;                /* number of evaluations if every output were evaluated separately */
    /* Connected inputs outside loops that have a start value, which their source's value replaces (Galtier 2015). */
    const struct tt_end *pointless;
    size_t pointless_count;
    const struct tt_loop_analysis *loops;
    size_t loop_count;
    struct tt_radii stability; /* of all loops; 0 without loops: then DL is nilpotent (Andersson 2016 section 5.1) */
    struct tt_stability_row rows[TUTTI_ORDERS];
    struct tt_step_analysis step; /* with steps of the size that the options give */
    bool initialised;             /* the system can be started; otherwise `failure` has the reason */
    /* the system can be run, with the choices below; otherwise see `failure` */
    bool chosen;
    struct tt_choice choices[TUTTI_CHOICES]; /* zeroed if it is not */
    bool corrects, smooths;
    const char *failure;
};

/* Everything in `analysis` lives during the call only. */
typedef void tt_analyze_report(void *context, const struct tt_analysis *analysis);

/* Loads the system, initialises it as a run would, makes the choices of one, and reports. A system that cannot be
 * initialised, and options that do not go with it, are reported as well: an error comes back only if it cannot be loaded. */
TUTTI_CHECKED enum tutti_err tt_analyze(const struct tutti_run_options *options, tt_analyze_report *report,
                                        void *context);

#endif
