/* SPDX-License-Identifier: MIT */
/* solve/fit_minimise.h - searches without derivatives, by NLopt. */
#ifndef TT_SOLVE_FIT_MINIMISE_H
#define TT_SOLVE_FIT_MINIMISE_H

#include "solve/fit_problem.h"

/* BOBYQA: Powell, DAMTP 2009/NA06. NELDER_MEAD: Computer Journal 7 (1965) 308. SUBPLEX: Rowan 1990. DIRECT: Gablonsky, Kelley, J. Global Optimization 21
 * (2001) 27, in finite bounds; it does not look at x. */
enum tt_minimiser { TUTTI_MINIMISE_BOBYQA, TUTTI_MINIMISE_NELDER_MEAD, TUTTI_MINIMISE_SUBPLEX, TUTTI_MINIMISE_DIRECT };

/* From x to x. ARGUMENT if the method takes no such problem; SOLVER with NLopt's reason; errors of evaluate. */
TUTTI_CHECKED enum tutti_err tt_fit_minimise(const struct tt_fit_problem *problem, enum tt_minimiser method, double *x,
                                             struct tt_fit_result *result);

#endif
