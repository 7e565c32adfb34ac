/* SPDX-License-Identifier: MIT */
/* compatibility.h - rejects incompatible choices and options with an alternative, or logs that an option has no effect. */
#ifndef TT_SIM_COMPATIBILITY_H
#define TT_SIM_COMPATIBILITY_H

#include "sim/traits.h"

/* ARGUMENT, UNSUPPORTED: what has been chosen does not go together, or a unit is in the way. */
TUTTI_CHECKED enum tutti_err tt_compatibility_check(const struct tt_sim *master, const struct tt_traits *facts,
                                                    unsigned order);
/* One FMU has no other unit to be coupled with. ARGUMENT: an option is about that. */
TUTTI_CHECKED enum tutti_err tt_compatibility_check_alone(const struct tt_sim *master);
/* Returns true if the coupling rolls units back inside a step. */
bool tt_compatibility_rolls_back(const struct tt_sim *master);

/* Returns "--rollback fork, ", an option by which a unit could be rolled back; "" if there is none, or it can be
 * already. */
const char *tt_compatibility_suggest_rollback(const struct tt_member *member);

/* Tells the log what `auto` has chosen, and which options have no effect. */
void tt_compatibility_log_method(const struct tt_sim *master);

#endif
