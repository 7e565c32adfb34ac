/* SPDX-License-Identifier: MIT */
/* macro.h - a macro step as attempts see it. */
#ifndef TUTTI_MASTER_MACRO_H
#define TUTTI_MASTER_MACRO_H

#include "master/loop.h"

/* One step of the coupling from run->t; run->master tells how it went, the same on all ranks. */
TUTTI_CHECKED enum tutti_err tutti_macro_couple(struct run *run, double target);
/* Back to the start of the macro step. What was done since is counted as rejected, or as auxiliary. */
TUTTI_CHECKED enum tutti_err tutti_macro_go_back(struct run *run, bool rejected);

/* The weighted RMS norm of a difference of reals, of the continuous ones or of all, and the real with the largest part. */
TUTTI_CHECKED enum tutti_err tutti_attempt_norm(struct run *run, const double *difference, const double *now, bool all,
                                                double *norm, uint32_t *driver);

#endif
