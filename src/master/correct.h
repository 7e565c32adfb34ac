/* SPDX-License-Identifier: MIT */
/* correct.h - linear correction of the outputs after a step of explicit Jacobi, and smoothing of its inputs (001 Alg. 5, 6, 7).
 *
 * With feed-through, outputs at the end of a step still belong to inputs of its beginning, which makes explicit coupling
 * unstable where rho(DL) > 1. One step of Newton's method on y = g(x, c(y)) mends that (eq. 6.54, 6.64):
 *     z = y - D u_est,  y' = z + D c(y')
 * with D = dg/du (sensitivity.h), c the connections, L = dc/dy, and u_est the inputs as they were at the end of the step. What
 * is solved is the same as a difference, which asks no offset of a conversion for its share:
 *     (I - D L) (y' - y) = D (c(y) - u_est)
 * Smoothing lets inputs go on from where they are instead of jumping (eq. 6.71).
 *
 * Invariants:
 *  C1  What is known at an accepted point, and what a step that is tried makes of it, are kept apart: a step that is taken
 *      back leaves no trace, not in a bit. A middle of two half steps goes on from what the first one made.
 *  C2  I - D L is factorised only when D has changed.
 *  C3  D of a unit with directional derivatives (or Model Exchange) is that of the end of the step. Where it has to be tried by
 *      short steps it is kept as long as it was found to change little: see is_due. */
#ifndef TUTTI_MASTER_CORRECT_H
#define TUTTI_MASTER_CORRECT_H

#include "master/loop.h"

struct tutti_correction;

/* What it took so far. */
struct tutti_correction_counts {
    unsigned long factorizations; /* of I - D L */
    unsigned long measured;       /* D of a unit, by short steps */
};

/* Into run->master.correction, with the units at the first point; `correct` and `smooth` say which of both (one at least).
 * Smoothing needs extrapolation of order 1 or 2. ARGUMENT where units have steps of their own; UNSUPPORTED where D cannot be
 * had, naming the unit. Close also after a failure, while the units are alive. */
TUTTI_CHECKED enum tutti_err tutti_correction_open(struct run *run, bool correct, bool smooth);
void tutti_correction_close(struct run *run);

/* Between staging and stepping, from run->t to `target`: smoothing moves the staged inputs. */
TUTTI_CHECKED enum tutti_err tutti_correction_before(struct run *run, double target);
/* After stepping and exchange: outputs in the signals are corrected. */
TUTTI_CHECKED enum tutti_err tutti_correction_after(struct run *run, double target);
/* Derivatives (order 1, 2) of all reals that units give at the point reached, NAN where they do not: corrected likewise (Alg. 6
 * lines 14, 16), with those that the extrapolation's history has for the others. */
TUTTI_CHECKED enum tutti_err tutti_correction_rates(struct run *run, unsigned order, double *rates);

/* The step made last is accepted. Does nothing where there is no correction. */
void tutti_correction_accept(struct run *run);
/* Signals have jumped at run->t, where all units are: D is found anew, outputs are corrected, inputs jump. Likewise. */
TUTTI_CHECKED enum tutti_err tutti_correction_restart(struct run *run);

/* What is known at an accepted point, kept to go back there: into *kept, which is made if it is NULL. NULL where there is no
 * correction. */
struct tutti_correction_kept;
TUTTI_CHECKED enum tutti_err tutti_correction_keep(const struct run *run, struct tutti_correction_kept **kept);
void tutti_correction_bring_back(struct run *run, const struct tutti_correction_kept *kept);
void tutti_correction_kept_free(struct tutti_correction_kept *kept);

struct tutti_correction_counts tutti_correction_count(const struct run *run);

#endif
