/* SPDX-License-Identifier: MIT */
/* me_extra.h - equations that a program adds to those of a Model Exchange FMU (<tutti/extra.h>). The vector of the solver
 * is then (x, p), and its Jacobian ((A, 0), (0, dr/dp)) as in Andersson 2016 eq. 9.17. */
#ifndef TT_UNIT_ME_EXTRA_H
#define TT_UNIT_ME_EXTRA_H

#include <tutti/extra.h>

#include "solve/jacobian.h"
#include "unit/me_linear.h"
#include "unit/me_model.h"

/* Jacobian of the whole: that of the FMU, then that of the equations; columns follow each other, so values do, too. */
struct tt_me_extra {
    const struct tutti_extra *extra; /* NULL: none */
    struct tt_me_linear *linear;     /* their access to the FMU; borrowed */
    struct tt_me_model *model;       /* the FMU alone; borrowed */
    struct tt_ode ode;               /* the whole; its context is this struct */
    struct tt_jacobian fmu_jacobian;
    struct tt_pattern pattern;
    size_t fmu_entries;
    double *dx; /* scratch: f of the FMU */
};

/* Puts the equations after those of linear->model into own->ode, unless extra->count is 0. */
TUTTI_CHECKED enum tutti_err tt_me_extra_init(struct tt_me_extra *own, const struct tutti_extra *extra,
                                              struct tt_me_linear *linear);
/* Zeroed is fine, too. */
void tt_me_extra_fini(struct tt_me_extra *own);
/* Start values into x, after the FMU's states; the FMU is initialised. */
TUTTI_CHECKED enum tutti_err tt_me_extra_start(struct tt_me_extra *own, double t, double *x);
/* Values for the result at a point of the solution, where the FMU stands afterwards. */
TUTTI_CHECKED enum tutti_err tt_me_extra_outputs(struct tt_me_extra *own, double t, const double *x, double *values);

#endif
