/* SPDX-License-Identifier: MIT */
/* accelerator.h - the next guess of a fixed-point iteration z = G(z), from those before it. */
#ifndef TT_SIM_COUPLING_ACCELERATOR_H
#define TT_SIM_COUPLING_ACCELERATOR_H

#include <stddef.h>

#include "base/fail.h"
#include "base/options/option_words.h"

enum { TUTTI_ANDERSON_DEPTH = 3 };

enum tt_acceleration {
#define TUTTI_LISTED(name, word, meaning) TUTTI_ACCELERATE_##name,
    TUTTI_ACCELERATIONS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

struct tt_accelerator {
    enum tt_acceleration kind;
    size_t count;
    unsigned iteration;
    double factor;                           /* Aitken's, of the last guess */
    double *guess[TUTTI_ANDERSON_DEPTH + 1]; /* and the residuals G(z) - z there, the newest first */
    double *residual[TUTTI_ANDERSON_DEPTH + 1];
    double *matrix, *right; /* of Anderson's least squares */
};

TUTTI_CHECKED enum tutti_err tt_accelerator_init(struct tt_accelerator *accelerator, enum tt_acceleration kind,
                                                 size_t count);
void tt_accelerator_fini(struct tt_accelerator *accelerator); /* a zeroed one is fine */
/* A new iteration begins. */
void tt_accelerator_restart(struct tt_accelerator *accelerator);
/* `guess` gave `image`: puts the next guess into `guess`. `weights`: how large each component counts (1 / weight is its
 * size in norms). */
void tt_accelerator_next(struct tt_accelerator *accelerator, double *guess, const double *image, const double *weights);

#endif
