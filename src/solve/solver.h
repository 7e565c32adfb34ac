/* SPDX-License-Identifier: MIT */
/* solver.h - advances an initial value problem, one step of the method after another.
 *
 * A kind is one const struct, in a file named after it; to add one: copy rk.c, list it in TUTTI_SOLVERS
 * (base/options/option_words.h), run `ctest -L solver` (the conformance suite measures its order and drives it as
 * unit/me.c does). A solver does not handle events: the caller locates them in the dense output and restarts the solver
 * after them.
 *
 * Life of a solver: new, restart, [step, interpolate ..., resume or restart ...], free. */
#ifndef TT_SOLVE_SOLVER_H
#define TT_SOLVE_SOLVER_H

#include <stdbool.h>

#include "base/log.h"
#include "base/options/option_words.h"
#include "solve/ode.h"

struct tt_solver;

/* How a multistep method continues after a change of the right-hand side with continuous states (inputs changed at a
 * communication point): Andersson 2016 chapter 7. CORRECT_1 corrects the first derivative, eq. 7.12; CORRECT_2 also the
 * second, eq. 7.14; CORRECT_ALL all derivatives that the method keeps. AUTO: the solver's best choice. */
enum tt_predictor {
#define TUTTI_LISTED(name, word, meaning) TUTTI_PREDICTOR_##name,
    TUTTI_PREDICTORS(TUTTI_LISTED)
#undef TUTTI_LISTED
        TUTTI_PREDICTOR_COUNT
};

/* How the Jacobian of an implicit method is evaluated and factorised: SPARSE by coloured columns and KLU, DENSE by
 * coloured columns and LAPACK, PLAIN column by column and LAPACK, as a reference for measurements. AUTO: sparse if the
 * pattern makes it worthwhile, otherwise dense. */
enum tt_jacobian_mode {
#define TUTTI_LISTED(name, word, meaning) TUTTI_JACOBIAN_##name,
    TUTTI_JACOBIANS(TUTTI_LISTED)
#undef TUTTI_LISTED
        TUTTI_JACOBIAN_COUNT
};

/* How the linear equations of Newton's method are solved: by a factorisation of the matrix, or by GMRES with products of the Jacobian and
 * vectors, which takes no matrix at all. */
enum tt_linear_solver {
#define TUTTI_LISTED(name, word, meaning) TUTTI_LINEAR_##name,
    TUTTI_LINEAR_SOLVERS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

struct tt_solver_options {
    double h_fixed; /* step of fixed-step methods; > 0 for them */
    double h_max;   /* bound on all other steps; 0: no bound */
    double h_first; /* size of the first step after a restart; 0: it is estimated */
    int max_order;  /* of multistep methods; 0: the kind's own */
    enum tt_predictor predictor;
    enum tt_jacobian_mode jacobian;
    enum tt_linear_solver linear;
};

struct tt_solver_counts {
    unsigned long steps;          /* accepted */
    unsigned long error_failures; /* attempts given up because of the error test */
    unsigned long other_failures; /* no convergence, or a point without a value */
    unsigned long restarts;       /* all but the first */
    unsigned long rhs;            /* evaluations of f, those of finite differences among them */
    unsigned long jacobians;
    unsigned long directional; /* directional derivatives of the problem asked for */
    unsigned long factorisations;
    unsigned long iterations; /* of Newton's method */
};

/* Adds the counts made between `from` and `to`. */
void tt_solver_counts_add(struct tt_solver_counts *sum, const struct tt_solver_counts *to,
                          const struct tt_solver_counts *from);

/* Preparations that the next step requires because the problem has changed; of several, the last enumerator applies. */
enum tt_solver_task {
    TUTTI_SOLVER_GO_ON,
    TUTTI_SOLVER_RESUME, /* the right-hand side has changed, the states have not */
    TUTTI_SOLVER_RESTART,
};

struct tt_solver_kind {
    const char *name; /* the word of --solver */
    const char
        *title;     /* a line for people: "backward differentiation formulas of SUNDIALS CVODE, for stiff problems" */
    int order;      /* the highest that it has */
    bool stiff;     /* its steps are not bounded by stability: it solves implicit equations with a Jacobian */
    bool fixed;     /* steps of options.h_fixed, without a look at the error */
    bool multistep; /* options.predictor has a meaning */
    bool algebraic; /* it solves the DAE form of the problem, if the problem has one: ode->dae */
    bool krylov;    /* options.linear may be KRYLOV */
    bool exact;     /* its order depends on the Jacobian: one that leaves entries out makes it a method of order 1 */
    size_t size;    /* bytes of the kind's struct, which starts with a struct tt_solver */

    /* Allocates memory for the problem's size. Called once, on a zeroed struct with the common part filled in. */
    enum tutti_err (*start)(struct tt_solver *solver);
    /* Releases whatever start made, also after a failed start. */
    void (*finish)(struct tt_solver *solver);

    /* Begins at t with states x, and forgets all that was before. */
    enum tutti_err (*restart)(struct tt_solver *solver, double t, const double *x);
    /* Announces that the right-hand side changes at t, which lies in the last step; the states there are those of the
     * dense output. NULL: the common part restarts. Only called after a step. */
    enum tutti_err (*resume)(struct tt_solver *solver, double t);
    /* Makes one accepted step, at most to `limit` (> solver->t, finite); a step that would end within rounding of the
     * limit ends exactly at it. Sets solver->before and solver->t, and x to the states there. f is not evaluated beyond
     * `limit`. An error from tt_solver_fail if no step can be made. */
    enum tutti_err (*step)(struct tt_solver *solver, double limit, double *x);
    /* Dense output at `t` in [solver->before, solver->t], of the order of the method or one less. x at solver->t is
     * exactly what step() gave. Inside the step it may evaluate f, which must still be that of the step (dopri8 does). */
    enum tutti_err (*interpolate)(struct tt_solver *solver, double t, double *x);

    /* The method's memory as plain bytes, so that a step can be rolled back; restore also restores solver->t and
     * solver->before, and equal calls then give equal bits. saved_size NULL: the caller restarts instead. */
    size_t (*saved_size)(const struct tt_solver *solver);
    void (*save)(const struct tt_solver *solver, void *memory);
    void (*restore)(struct tt_solver *solver, const void *memory);
};

struct tt_solver {
    const struct tt_solver_kind *kind;
    const char *name;   /* for messages: kind->name, unless it is a part of a different solver */
    struct tt_ode *ode; /* borrowed */
    struct tt_solver_options options;
    struct tt_solver_counts counts;
    double before, t; /* beginning and end of the last step, from ode->origin on; equal after a restart */
    bool started;     /* restart was called; false again: the next one begins as the first did */
    /* Steps since tt_solver_begin_interval, and the time there; steps in intervals before, and how many of these there were. */
    unsigned long made, made_before, intervals;
    double interval_start;
};

#define TUTTI_LISTED(name, word, meaning) extern const struct tt_solver_kind tt_solver_##name;
TUTTI_SOLVERS(TUTTI_LISTED)
#undef TUTTI_LISTED

/* All kinds, ended by NULL; the first is the default. */
extern const struct tt_solver_kind *const tt_solver_kinds[];
/* By its name; ARGUMENT, naming all there are. */
TUTTI_CHECKED enum tutti_err tt_solver_find(const char *name, const struct tt_solver_kind **kind);

/* `ode` is borrowed for the solver's life. ARGUMENT for options that make no sense, with a sentence. */
TUTTI_CHECKED enum tutti_err tt_solver_new(struct tt_solver **out, const struct tt_solver_kind *kind,
                                           struct tt_ode *ode, const struct tt_solver_options *options);
void tt_solver_free(struct tt_solver *solver);

TUTTI_CHECKED enum tutti_err tt_solver_restart(struct tt_solver *solver, double t, const double *x);
/* Times in these functions are those of the problem, not of the kind. `x` are the states at t, in the last step. */
TUTTI_CHECKED enum tutti_err tt_solver_resume(struct tt_solver *solver, double t, const double *x);

/* The caller's next communication step begins at t. Solvers with an error control may take 1e7 steps in the first one, and in later ones 100
 * times what earlier ones took on average (1e6 to 1e7): one that takes more has no end, as where a coupling is not stable. */
void tt_solver_begin_interval(struct tt_solver *solver, double t);
/* As step and interpolate of the kind. States that are not finite are a failure, and so are too many
 * steps in one communication step. */
TUTTI_CHECKED enum tutti_err tt_solver_step(struct tt_solver *solver, double limit, double *x);
TUTTI_CHECKED enum tutti_err tt_solver_interpolate(struct tt_solver *solver, double t, double *x);

/* Beginning and end of the last step, as times of the problem. */
static inline double tt_solver_last_begin(const struct tt_solver *solver)
{
    return solver->ode->origin + solver->before;
}
static inline double tt_solver_time(const struct tt_solver *solver)
{
    return solver->ode->origin + solver->t;
}

/* For kinds, and parts of them: tt_solver_restart at a time from ode->origin on. */
TUTTI_CHECKED enum tutti_err tt_solver_begin(struct tt_solver *solver, double t, const double *x);

/* Returns the version of SUNDIALS; "" if it does not report one. */
void tt_sundials_version(char *out, size_t size);

/* For kinds: reports that a step failed permanently. With `eval` FAILED the problem's error is passed on; otherwise
 * "SOLVER: why at t = T, step H; worst state NAME". `worst` is the state that caused the failure, or SIZE_MAX. */
enum tutti_err tt_solver_fail(const struct tt_solver *solver, enum tt_eval eval, double h, size_t worst,
                              const char *why);
/* For kinds: f at a point, counted. */
static inline enum tt_eval tt_solver_rhs(struct tt_solver *solver, double t, const double *x, double *dx)
{
    solver->counts.rhs++;
    return tt_ode_rhs(solver->ode, t, x, dx);
}
/* For kinds: the weighted root mean square of `error` about the states `x`; *worst (may be NULL) is its largest part. */
double tt_solver_norm(const struct tt_solver *solver, const double *error, const double *x, size_t *worst);
/* For kinds: names the state that causes x to have no value, on the way from `from`: the first whose derivative is not
 * a number, otherwise the state that moved most. */
size_t tt_solver_blame(const struct tt_solver *solver, const double *from, const double *x, const double *dx);
/* For kinds: a first step size, by Hairer, Norsett, Wanner, Solving ODEs I, II.4 (algorithm on p. 169): one more
 * evaluation of f; `dx` is f at (solver->t, x); not beyond `limit`. `scratch` has room for two vectors. */
TUTTI_CHECKED enum tutti_err tt_solver_first_step(struct tt_solver *solver, const double *x, const double *dx,
                                                  int order, double limit, double *scratch, double *h);
/* For kinds: returns true if a step from `t` of size h that is to end at `limit` ends within rounding of it. */
bool tt_solver_at_limit(double t, double h, double limit);
/* For kinds with a fixed step: steps end at origin + n h, computed by multiplication instead of summation, so that
 * errors do not accumulate. A step that would pass the limit ends there, and a new grid begins: no step is shorter than
 * h for a different reason. A limit on the grid up to rounding does not change the grid. */
struct tt_solver_grid {
    double origin;
    uint64_t steps; /* the last one ended at origin + steps h */
};
/* Where the next step ends, and the grid after it. */
TUTTI_CHECKED enum tutti_err tt_solver_grid_next(const struct tt_solver *solver, const struct tt_solver_grid *now,
                                                 double limit, double *end, struct tt_solver_grid *grid);
/* For kinds: bounds an estimated step size. It is larger than the rounding of solver->t (a limit within that distance
 * is not evidence for the next step) and at most options.h_max. */
double tt_solver_bound_step(const struct tt_solver *solver, double h);
/* For kinds: where an attempt of about size h ends, and its size: at the limit, if that is a hundredth of h farther at most. */
void tt_solver_aim(const struct tt_solver *solver, double h, double limit, double *size, double *end);
/* For kinds: returns true if a step of size h is too small. It is lost in the rounding of t; or, after longer steps
 * have failed (`rejected`), in the rounding of the states x, with derivatives dx. Without the second test, steps at the
 * boundary of f's domain would never end. */
bool tt_solver_step_is_too_small(const struct tt_solver *solver, double h, double limit, bool rejected, const double *x,
                                 const double *dx);

#endif
