/* SPDX-License-Identifier: MIT */
/* feedback.h - the matrix I - D L of a running system (Andersson 2016 eq. 6.53), factorised: D is how outputs follow inputs
 * (sensitivity.h), L how inputs follow outputs along the connections. */
#ifndef TUTTI_MASTER_COUPLING_FEEDBACK_H
#define TUTTI_MASTER_COUPLING_FEEDBACK_H

#include "master/coupling/sensitivity.h"
#include "solve/linear.h"

struct tutti_feedback_factors {
    struct tutti_lu *lu;
    double *values; /* of D L that it was made of */
    bool made;
};

struct tutti_feedback {
    const struct tutti_sensitivity *sensitivity; /* borrowed */
    size_t *product_at; /* per entry of D: where its product with L is added; SIZE_MAX: nowhere */
    size_t product_count;
    double *values; /* of D L */
    struct tutti_feedback_factors main, aside;
    unsigned long factorizations; /* so far */
    struct tutti_arena arena;
};

/* `reals` is the number of rows. A zeroed one is fine for fini. */
TUTTI_CHECKED enum tutti_err tutti_feedback_init(struct tutti_feedback *feedback,
                                                 const struct tutti_sensitivity *sensitivity, uint32_t reals);
void tutti_feedback_fini(struct tutti_feedback *feedback);

/* Solves (I - D L) x = right in place, with these values of D. A factorisation that fits, to the bit, is used again; where there
 * is none, `aside` says that one is made without giving up the other, which will be wanted again. *singular: there is no
 * solution, and `right` stays. What comes out depends on D and `right` only, not on what was factorised before. */
TUTTI_CHECKED enum tutti_err tutti_feedback_solve(struct tutti_feedback *feedback, const double *d, bool aside,
                                                  double *right, bool *singular);

/* How much an input moves with the real that is its source. */
double tutti_feedback_factor(const struct tutti_sensitivity_column *column);

#endif
