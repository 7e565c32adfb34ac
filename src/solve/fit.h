/* SPDX-License-Identifier: MIT */
/* solve/fit.h - Levenberg and Marquardt's method, in bounds.
 *
 * Marquardt, J. SIAM 11 (1963) 431: (J'J + mu D) d = -J'r, here with D = diag(J'J) (More, Lecture Notes in Mathematics 630 (1978) 105) and Nielsen's rule for
 * mu (IMM-REP-1999-05). Unknowns that are at a bound and would leave it are held in this iteration; steps are cut at bounds (Kanzow, Yamashita, Fukushima,
 * J. Comput. Appl. Math. 172 (2004) 375). */
#ifndef TT_SOLVE_FIT_H
#define TT_SOLVE_FIT_H

#include "solve/fit_problem.h"

/* From x, which must be a good place: ARGUMENT if not; to x. */
TUTTI_CHECKED enum tutti_err tt_fit_least_squares(const struct tt_fit_problem *problem, double *x,
                                                  struct tt_fit_result *result);

#endif
