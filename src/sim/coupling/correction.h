/* SPDX-License-Identifier: MIT */
/* correction.h - correction of the outputs after a step of explicit Jacobi, and smoothing of its inputs (Andersson 2016 Alg. 5, 6, 7;
 * Alg. 4, where units can be read again: consistency.h).
 *
 * With feed-through, outputs at the end of a step still belong to inputs of its beginning, which makes explicit coupling
 * unstable where rho(DL) > 1. One step of Newton's method on y = g(x, c(y)) mends that (eq. 6.54, 6.64):
 *     z = y - D u_est,  y' = z + D c(y')
 * with D = dg/du (feedthrough_matrix.h), c the connections, L = dc/dy, and u_est the inputs as they were at the end of the step.
 * What is solved is the same as a difference, which asks no offset of a conversion for its share:
 *     (I - D L) (y' - y) = D (c(y) - u_est)
 * Smoothing lets inputs go on from where they are instead of jumping (eq. 6.71).
 *
 * Invariants:
 *  C1  What is known at an accepted point, and what a step that is tried makes of it, are kept apart: a step that is taken
 *      back leaves no trace, not in a bit. A middle of two half steps goes on from what the first one made.
 *  C2  I - D L is factorised only when D has changed.
 *  C3  D of a unit with directional derivatives (or Model Exchange) is that of the end of the step. Where it has to be tried by
 *      short steps it is kept as long as it was found to change little: see is_due. */
#ifndef TT_SIM_COUPLING_CORRECTION_H
#define TT_SIM_COUPLING_CORRECTION_H

#include "sim/control/norm.h"
#include "sim/coupled_inputs.h"
#include "sim/outcome.h"
#include "base/options/option_words.h"

struct tt_correction;

/* How outputs are corrected, as options say it. */
enum tt_correction_how {
#define TUTTI_LISTED(name, word, meaning) TUTTI_CORRECT_##name,
    TUTTI_CORRECTIONS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

/* What it took so far. */
struct tt_correction_counts {
    unsigned long factorizations; /* of I - D L */
    unsigned long measured;       /* D of a unit, by short steps */
};

/* What it is to do: correct or smooth at least. */
struct tt_correction_choice {
    bool correct, smooth;
    bool solve;     /* outputs are solved for where units can be read again; else corrected once */
    bool goes_back; /* a step whose outputs cannot be solved for may be refused */
};

/* With the units at the first point; `h` is the size of the first step. Smoothing needs extrapolation of order 1 or 2, whose derivatives are corrected, too. ARGUMENT where units have steps of
 * their own; UNSUPPORTED where D cannot be had, or a unit not be read again, naming it. Close also after a failure, while the units are alive. What it
 * is given is borrowed. */
TUTTI_CHECKED enum tutti_err tt_correction_open(struct tt_correction **out, struct tt_coupled_inputs *staging,
                                                struct tt_extrapolation *extrapolation, const struct tt_norm *norm,
                                                const struct tt_correction_choice *choice, double h);
void tt_correction_close(struct tt_correction *correction); /* NULL is fine */

/* Between staging and stepping, from the rank's time to `target`: smoothing moves the staged inputs. */
TUTTI_CHECKED enum tutti_err tt_correction_begin_step(struct tt_correction *correction, double target);
/* After stepping and exchange: outputs in the signals are corrected, if all units came to the end of the step. Where they cannot be
 * solved for, the step is refused, or SOLVER. */
TUTTI_CHECKED enum tutti_err tt_correction_end_step(struct tt_correction *correction, struct tt_outcome *outcome);
/* Was the last step refused for that? */
bool tt_correction_has_rejected(const struct tt_correction *correction);
/* ... its error. */
enum tutti_err tt_correction_explain(const struct tt_correction *correction);

/* The step made last is accepted. NULL is fine, here and in what follows: there is no correction. */
void tt_correction_accept(struct tt_correction *correction);
/* Signals have jumped where all units are: D is found anew, outputs are corrected, inputs jump. */
TUTTI_CHECKED enum tutti_err tt_correction_restart(struct tt_correction *correction);

/* What is known at an accepted point. */
TUTTI_CHECKED enum tutti_err tt_correction_register(struct tt_correction *correction,
                                                    struct tt_rollback_list *remembered);

struct tt_correction_counts tt_correction_get_counts(const struct tt_correction *correction);

#endif
