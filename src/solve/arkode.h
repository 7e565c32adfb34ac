/* SPDX-License-Identifier: MIT */
/* arkode.h - the interface between the integration of steps and the dense output, both in arkode.c. */
#ifndef TT_SOLVE_ARKODE_H
#define TT_SOLVE_ARKODE_H

#include "solve/sundials.h"

struct tt_arkode;

/* Dense output: the states inside a step from the data that ARKODE exposes. */
struct tt_arkode_dense {
    size_t kept;  /* number of recent evaluations of f, or stages, that arkode.c keeps */
    size_t extra; /* vectors that the dense output has for itself */
    /* Called once; `factors` are zero before. NULL: nothing to do. */
    enum tutti_err (*start)(struct tt_arkode *ark);
    /* After an accepted step of size h: stores f at its end, as far as the step has computed it, into `last`. NULL: the
     * step has not computed it. */
    void (*end)(struct tt_arkode *ark, double h);
    /* Computes the states at base.before + s h, 0 < s < 1, in the last step, whose size is h. */
    enum tutti_err (*evaluate)(struct tt_arkode *ark, double h, double s, double *x);
};

enum { TUTTI_ARK_FACTORS = 32 };

/* The method of dirk, for arkode.c to run and for its dense output. */
#define TUTTI_ARK_DIRK ARKODE_ESDIRK43I6L2SA_6_3_4

struct tt_arkode {
    struct tt_sundials sundials;
    const struct tt_arkode_method *method;
    void *memory;
    double h;             /* the size that steps have when no limit cuts them short; 0: not known */
    double reached;       /* the time at which the states were last known */
    double *vectors;      /* memory of all that follow */
    double *first, *last; /* f at both ends of the last step; during a step, `first` is f where it begins */
    bool first_known, last_known;
    double *scratch; /* two vectors */
    bool anew;       /* the last step was the first after a restart */
    bool stuck;      /* the last evaluation of f was where the step begins */
    double *kept;    /* a ring of dense->kept vectors */
    size_t next;     /* place in the ring */
    double *extra;
    bool built;   /* `extra` are those of the last step */
    size_t terms; /* the number of terms in use */
    double factors[TUTTI_ARK_FACTORS];
};

/* The i-th of the vectors kept, the oldest is 0. */
static inline double *tt_arkode_kept(const struct tt_arkode *ark, size_t kept, size_t i)
{
    return ark->kept + (ark->next + i) % kept * ark->sundials.base.ode->count;
}

/* RK8(7)13M of Prince, Dormand, High order embedded Runge-Kutta formulae, Journal of Computational and Applied Mathematics 7
 * (1981): order 8, 13 stages. To be freed by ARKodeButcherTable_Free; NULL: out of memory. */
struct ARKodeButcherTableMem *tt_arkode_table_dopri8(void);

/* Of dopri5: keeps the evaluations of f. */
extern const struct tt_arkode_dense tt_arkode_dense_dopri5;
/* Of any method that is not stiff: evaluates f itself. */
extern const struct tt_arkode_dense tt_arkode_dense_hermite;
/* Of dirk: keeps the stages. */
extern const struct tt_arkode_dense tt_arkode_dense_stages;

#endif
