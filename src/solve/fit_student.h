/* SPDX-License-Identifier: MIT */
/* solve/fit_student.h - Student's distribution, for confidence intervals. */
#ifndef TT_SOLVE_FIT_STUDENT_H
#define TT_SOLVE_FIT_STUDENT_H

/* How many standard errors, on both sides, hold the share `confidence` (0.95), with so many degrees of freedom (> 0). */
double tt_fit_student_interval(double confidence, double freedom);

#endif
