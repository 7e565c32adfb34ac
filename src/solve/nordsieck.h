/* SPDX-License-Identifier: MIT */
/* nordsieck.h - the memory of a backward differentiation formula: one polynomial, kept by its scaled derivatives.
 *
 * The fixed-leading-coefficient form of Jackson and Sacks-Davis (ACM TOMS 6, 1980, 295-318), as VODE uses it (Brown,
 * Byrne, Hindmarsh, SIAM J. Sci. Stat. Comput. 10, 1989, 1038-1051; Byrne, Hindmarsh, ACM TOMS 1, 1975, 71-96). The
 * polynomial p of degree q goes through the last q values of the solution and has the slope f at the newest. With
 * s = (t - t_n) / h a step predicts p(t_n) and then adds e l(s), where e is the difference of the solution from its
 * prediction and
 *
 *     l(s) = (1 + s / xi_1) ... (1 + s / xi_(q-1)) (1 + s / xi*),    xi_i = (t_n - t_(n-i)) / h,
 *
 * leaves the values before t_n as they are. xi* makes l'(0) = 1 + 1/2 + ... + 1/q, which is then the same for all
 * sequences of steps: the leading coefficient. */
#ifndef TT_SOLVE_NORDSIECK_H
#define TT_SOLVE_NORDSIECK_H

#include <stddef.h>

enum { TUTTI_NORDSIECK_ORDER = 5, TUTTI_NORDSIECK_ROWS = TUTTI_NORDSIECK_ORDER + 1 };

struct tt_nordsieck {
    size_t count;                       /* states */
    int order;                          /* q */
    double h;                           /* the unit of time of the rows */
    double steps[TUTTI_NORDSIECK_ROWS]; /* sizes of the steps that led here, the newest first */
    double *z;                          /* rows one after the other: row k is h^k / k! p^(k) */
};

static inline double *tt_nordsieck_row(const struct tt_nordsieck *array, int k)
{
    return array->z + (size_t)k * array->count;
}

/* The coefficients that a step of size array->h needs. A local error is the norm of e times the coefficient of its
 * order; nordsieck.c derives the formulas. */
struct tt_nordsieck_step {
    double l[TUTTI_NORDSIECK_ROWS]; /* coefficients of l */
    double error;                   /* times e: the local error */
    double error_down;              /* times the last row: the local error of a step of order q - 1; 0 for q = 1 */
    double error_up;                /* times e - growth * (e of the step before): that of order q + 1 */
    double scale;                   /* e / scale is h^(q+1) / (q+1)! times the derivative of order q + 1 */
};

void tt_nordsieck_prepare(const struct tt_nordsieck *array, struct tt_nordsieck_step *step);
/* p at the time `s` units from its centre. */
void tt_nordsieck_value(const struct tt_nordsieck *array, double s, double *x);
/* h p' there. */
void tt_nordsieck_slope(const struct tt_nordsieck *array, double s, double *slope);
/* Moves the centre of the polynomial in `rows` (laid out as array->z) by `s` units, with the bits of
 * tt_nordsieck_value. */
void tt_nordsieck_shift(const struct tt_nordsieck *array, double *rows, double s);
/* Rescales the polynomial to a different unit of time. */
void tt_nordsieck_rescale(struct tt_nordsieck *array, double h);
/* z = predicted + e l, and the step is the newest of all. */
void tt_nordsieck_accept(struct tt_nordsieck *array, const double *predicted, const double *e,
                         const struct tt_nordsieck_step *step);
/* Order q - 1: the value and slope in the centre and the values in all points but the oldest remain. */
void tt_nordsieck_lower(struct tt_nordsieck *array);
/* Order q + 1: goes through one more of the points; `e` is that of the step that led here, of size steps[0]. */
void tt_nordsieck_raise(struct tt_nordsieck *array, const double *e);

#endif
