/* SPDX-License-Identifier: MIT */
/* correction.h - correction of the outputs after a step of explicit Jacobi, and smoothing of its inputs (Andersson 2016
 * Alg. 5, 6, 7; Alg. 4, where units can be read again: consistency.h).
 *
 * With feed-through, outputs at the end of a step still belong to inputs of its beginning, which makes explicit
 * coupling unstable where rho(DL) > 1. One step of Newton's method on y = g(x, c(y)) corrects that (eq. 6.54, 6.64):
 *     z = y - D u_est,  y' = z + D c(y')
 * with D = dg/du (feedthrough_matrix.h), c the connections, L = dc/dy, and u_est the inputs as they were at the end of
 * the step. The equation is solved in terms of differences, in which offsets of conversions cancel:
 *     (I - D L) (y' - y) = D (c(y) - u_est)
 * Smoothing makes inputs continuous instead of jumping (eq. 6.71).
 *
 * Invariants:
 *  C1  The state at an accepted point and that of a tried step are separate: a rejected step leaves no trace, to the
 *      bit. The second of two half steps continues from the state of the first.
 *  C2  I - D L is factorised only when D has changed.
 *  C3  D of a unit with directional derivatives (or Model Exchange) is that of the end of the step. If it has to be
 *      measured by short steps, it is kept as long as it changes little: see is_due. */
#ifndef TT_SIM_COUPLING_CORRECTION_H
#define TT_SIM_COUPLING_CORRECTION_H

#include "sim/control/norm.h"
#include "sim/coupled_inputs.h"
#include "sim/step_result.h"
#include "base/options/option_words.h"

struct tt_correction;

/* How outputs are corrected, as options say it. */
enum tt_correction_how {
#define TUTTI_LISTED(name, word, meaning) TUTTI_CORRECT_##name,
    TUTTI_CORRECTIONS(TUTTI_LISTED)
#undef TUTTI_LISTED
};

/* The cost so far. */
struct tt_correction_counts {
    unsigned long factorizations; /* of I - D L */
    unsigned long measured;       /* D of a unit, by short steps */
};

/* The requested functions: correction, smoothing, or both. */
struct tt_correction_choice {
    bool correct, smooth;
    bool solve;     /* outputs are solved for where units can be read again; otherwise corrected once */
    bool goes_back; /* a step without a solution for its outputs may be rejected */
};

/* Opens it with the units at the first point; `h` is the size of the first step. Smoothing needs extrapolation of order
 * 1 or 2, whose derivatives are corrected, too. ARGUMENT if units have separate steps; UNSUPPORTED, naming the unit, if
 * D cannot be determined or a unit cannot be read again. Close also after a failure, while units exist. Borrows its
 * arguments. */
TUTTI_CHECKED enum tutti_err tt_correction_open(struct tt_correction **out, struct tt_coupled_inputs *staging,
                                                struct tt_extrapolation *extrapolation, const struct tt_norm *norm,
                                                const struct tt_correction_choice *choice, double h);
void tt_correction_close(struct tt_correction *correction); /* NULL is fine */

/* Between staging and stepping, from the rank's time to `target`: smoothing moves the staged inputs. */
TUTTI_CHECKED enum tutti_err tt_correction_begin_step(struct tt_correction *correction, double target);
/* After stepping and exchange: outputs in the signals are corrected, if all units came to the end of the step. Where they cannot be
 * solved for, the step is refused, or SOLVER. */
TUTTI_CHECKED enum tutti_err tt_correction_end_step(struct tt_correction *correction, struct tt_step_result *result);
/* The error of a step whose result is `unsolved`. */
enum tutti_err tt_correction_explain(const struct tt_correction *correction);

/* Accepts the last step. NULL is allowed, here and below: no correction. */
void tt_correction_accept(struct tt_correction *correction);
/* Called when signals have jumped at the units' position: D is measured again, outputs are corrected, inputs jump. */
TUTTI_CHECKED enum tutti_err tt_correction_restart(struct tt_correction *correction);

/* Registers the state at an accepted point. */
TUTTI_CHECKED enum tutti_err tt_correction_register(struct tt_correction *correction,
                                                    struct tt_rollback_list *remembered);

struct tt_correction_counts tt_correction_get_counts(const struct tt_correction *correction);

#endif
