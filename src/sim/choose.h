/* SPDX-License-Identifier: MIT */
/* choose.h - from options and traits to the method of a run: coupling, control, extrapolation and events, each with its
 * reason. Pure: no access to a rank, no log, no files. */
#ifndef TT_SIM_CHOOSE_H
#define TT_SIM_CHOOSE_H

#include "base/options/options.h"
#include "sim/method.h"
#include "sim/traits.h"

/* The one place that decides. Called on descriptions before components are opened, on the opened components, and again
 * where these turn out to be different. method->error is ARGUMENT or UNSUPPORTED for a combination that makes no sense,
 * or that a component cannot do; method->refusal names the component and what to use instead. The method borrows from
 * the traits. */
void tt_choose_method(const struct tutti_run_options *options, const struct tt_traits *traits,
                      struct tt_method *method);

/* "coupling", "control", "extrapolate", "events"; and what a method has for it: "seidel", "fixed", "0", "none". The
 * coupling of a single component is "none". */
extern const char *const tt_choose_names[TUTTI_CHOICES];
const char *tt_choose_value(const struct tt_method *method, enum tt_choice_number number);

/* "--rollback fork, ": a way to make rollback of a component possible; "": there is none, or it is possible. */
const char *tt_choose_suggest_rollback(const struct tt_component_traits *component);

/* Options without effect, and a tolerance that a component does not let the run keep. */
struct tt_method_warnings {
    struct {
        bool always; /* the log's level does not suppress it */
        char text[768];
    } items[16];
    unsigned count;
};
void tt_choose_list_warnings(const struct tutti_run_options *options, const struct tt_traits *traits,
                             const struct tt_method *method, struct tt_method_warnings *warnings);

#endif
