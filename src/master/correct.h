/* SPDX-License-Identifier: MIT */
/* correct.h - linear correction of the outputs after a step of explicit Jacobi, and smoothing of its inputs (001 Alg. 5, 6, 7).
 *
 * With feed-through, outputs at the end of a step still belong to inputs of its beginning, which makes explicit coupling
 * unstable where rho(DL) > 1. One step of Newton's method on y = g(x, L y) mends that:
 *     z = y - D u_est,  (I - D L) y' = z
 * with D = dg/du by directional derivatives or differences, L from the connections, and u_est the inputs as they were at the
 * end of the step (eq. 6.54, 6.64). Smoothing lets inputs go on from where they are instead of jumping (eq. 6.71). */
#ifndef TUTTI_MASTER_CORRECT_H
#define TUTTI_MASTER_CORRECT_H

#include "master/loop.h"

struct tutti_correction;

/* Into run->master.correction, with the units initialised; `correct` and `smooth` say which of both (one at least). Smoothing
 * needs extrapolation of order 1 or 2. */
TUTTI_CHECKED enum tutti_err tutti_correction_open(struct run *run, bool correct, bool smooth);
void tutti_correction_close(struct run *run);
/* Between staging and stepping, from run->t to `target`: smoothing moves the staged inputs. */
TUTTI_CHECKED enum tutti_err tutti_correction_before(struct run *run, double target);
/* After stepping and exchange: outputs in the signals are corrected. */
TUTTI_CHECKED enum tutti_err tutti_correction_after(struct run *run, double target);
/* A macro step is taken back (accepted false) or accepted; or signals jumped at an event (restart). */
void tutti_correction_settle(struct run *run, bool accepted);
void tutti_correction_restart(struct run *run);

#endif
