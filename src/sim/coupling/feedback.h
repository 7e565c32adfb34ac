/* SPDX-License-Identifier: MIT */
/* feedback.h - the matrix I - D L of a running system (Andersson 2016 eq. 6.53), factorised: D is how outputs follow inputs
 * (feedthrough_matrix.h), L how inputs follow outputs along the connections. */
#ifndef TT_SIM_COUPLING_FEEDBACK_H
#define TT_SIM_COUPLING_FEEDBACK_H

#include "sim/coupling/feedthrough_matrix.h"
#include "solve/lu.h"

struct tt_feedthrough_factors {
    struct tt_lu *lu;
    double *values; /* of D L that it was made of */
    bool made;
};

struct tt_feedthrough_loop {
    const struct tt_feedthrough_matrix *sensitivity; /* borrowed */
    size_t *product_at; /* per entry of D: where its product with L is added; SIZE_MAX: nowhere */
    size_t product_count;
    double *values; /* of D L */
    struct tt_feedthrough_factors main, aside;
    unsigned long factorizations; /* so far */
    struct tt_arena arena;
};

/* `reals` is the number of rows. A zeroed one is fine for fini. */
TUTTI_CHECKED enum tutti_err tt_feedthrough_matrix_init_loop(struct tt_feedthrough_loop *feedback,
                                                             const struct tt_feedthrough_matrix *sensitivity,
                                                             uint32_t reals);
void tt_feedthrough_matrix_fini_loop(struct tt_feedthrough_loop *feedback);

/* Solves (I - D L) x = right in place, with these values of D. A factorisation that fits, to the bit, is used again; where there
 * is none, `aside` says that one is made without giving up the other, which will be wanted again. *singular: there is no
 * solution, and `right` stays. What comes out depends on D and `right` only, not on what was factorised before. */
TUTTI_CHECKED enum tutti_err tt_feedthrough_matrix_solve_loop(struct tt_feedthrough_loop *feedback, const double *d,
                                                              bool aside, double *right, bool *singular);

/* How much an input moves with the real that is its source. */
double tt_feedthrough_matrix_factor(const struct tt_feedthrough_column *column);

#endif
