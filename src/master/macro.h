/* SPDX-License-Identifier: MIT */
/* macro.h - a macro step as attempts see it. */
#ifndef TUTTI_MASTER_MACRO_H
#define TUTTI_MASTER_MACRO_H

#include "master/loop.h"

/* One step of the coupling from run->t; run->master tells how it went, the same on all ranks. */
TUTTI_CHECKED enum tutti_err tutti_macro_couple(struct run *run, double target);
/* Back to the start of the macro step. What was done since is counted as rejected, or as auxiliary. */
TUTTI_CHECKED enum tutti_err tutti_macro_go_back(struct run *run, bool rejected);

/* Which outputs count: all continuous ones; these and discrete Float64 that are connected; connected Float64 only. */
enum tutti_norm { TUTTI_NORM_SMOOTH, TUTTI_NORM_ALL, TUTTI_NORM_CONNECTED };

/* The weighted norm of a difference of outputs (outputs.h) behind a step of size h, and the output with the largest part: its
 * RMS; or, where the tolerance is for the whole run, the largest one, on the scale of scale.h. */
TUTTI_CHECKED enum tutti_err tutti_attempt_norm(struct run *run, const double *difference, const double *now, double h,
                                                enum tutti_norm what, double *norm, uint32_t *driver);

#endif
