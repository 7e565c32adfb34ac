/* SPDX-License-Identifier: MIT */
/* me_sensitivity.h - sensitivities of the solution of a Model Exchange FMU to its parameters: S = dx/dp, integrated
 * with the states,
 *
 *     S' = df/dx S + df/dp,    S(t0) = dx0/dp,
 *
 * as extra equations (me_extra.h): one system, the same steps and error test for both (the simultaneous corrector of
 * Maly, Petzold, Appl. Numer. Math. 20, 1996; the Jacobian is block diagonal). df/dx S is a directional derivative of
 * the FMU, or a difference. df/dp is a difference between the FMU and a twin: another instance of it whose parameter is
 * p + d, set while it is initialised, since most parameters cannot be set later.
 *
 * At an event that takes place at time s(p) the states become x+ = g(x-, p). Twins pass it, too: from the point (s + e,
 * x- + d S + e f-), where e is what moves the twin to its own crossing of the indicator, to x+ there. With J and j for
 * what the event adds to the states of the twin and of the FMU,
 *
 *     S+ = S- + (f- - f+) e / d + (J - j) / d,
 *
 * which is the saltation matrix's formula (Rozenvasser 1967; Hiskens, Pai, IEEE Trans. Circuits Syst. I 47, 2000), by
 * differences. */
#ifndef TT_UNIT_ME_SENSITIVITY_H
#define TT_UNIT_ME_SENSITIVITY_H

#include <tutti/extra.h>

#include "fmu/fmu.h"
#include "unit/unit.h"

struct tt_me_sensitivity;
struct tt_me_model;
struct tt_me_events;

/* Made once per run, for one FMU; `texts` are lists of parameters, "m,k". Borrows the FMU. ARGUMENT, UNSUPPORTED, with what is wrong. */
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_new(struct tt_me_sensitivity **out, const struct tt_fmu *fmu,
                                                   const char *const *texts, size_t count);
void tt_me_sensitivity_free(struct tt_me_sensitivity *own);
/* The equations, and their columns in the result: "d(x)/d(p)" of states and of continuous outputs. */
const struct tutti_extra *tt_me_sensitivity_extra(const struct tt_me_sensitivity *own);

/* ---- for me.c: twins do what the FMU does. All of these are fine with NULL, and do nothing then. ---- */

/* They are made, and freed. The unit borrows the sensitivity until then. */
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_start(struct tt_me_sensitivity *own, struct tt_me_model *model,
                                                     struct tt_me_events *events,
                                                     const struct tt_instance_options *options);
void tt_me_sensitivity_finish(struct tt_me_sensitivity *own);
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_configure(struct tt_me_sensitivity *sensitivity,
                                                         const struct tt_setting *settings, size_t count);
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_set_up(struct tt_me_sensitivity *sensitivity,
                                                      const struct tt_experiment_setup *setup);
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_set(struct tt_me_sensitivity *sensitivity, const struct tt_block *block);
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_try_set(struct tt_me_sensitivity *sensitivity,
                                                       const struct tt_block *block, bool *refused);
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_reset(struct tt_me_sensitivity *sensitivity);
/* After the FMU has entered its initialisation mode: each twin gets its parameter. */
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_enter_init(struct tt_me_sensitivity *sensitivity);
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_exit_init(struct tt_me_sensitivity *sensitivity);
/* The FMU completes a step at (t, x): all states, then all of S. */
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_complete(struct tt_me_sensitivity *sensitivity, double t,
                                                        const double *x);
/* Called before the FMU enters an event at (t, x); `indicator` has left its domain, SIZE_MAX: not a state event. */
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_enter_event(struct tt_me_sensitivity *sensitivity, double t,
                                                           const double *x, size_t indicator);
/* After the FMU has left it, with new states: computes S+ into x; *changed becomes true if it differs from S-. `first`:
 * the event after the initialisation, which S does not include. */
TUTTI_CHECKED enum tutti_err tt_me_sensitivity_leave_event(struct tt_me_sensitivity *sensitivity, double t, double *x,
                                                           bool first, bool *changed);

#endif
