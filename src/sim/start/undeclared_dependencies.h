/* SPDX-License-Identifier: MIT */
/* undeclared_dependencies.h - do outputs follow inputs at once although the model structure says that they do not?
 *
 * Some FMUs name wrong dependencies, or none. An input that such a unit holds in a step is then held at its mean, which is right for states
 * only: outputs show the middle of each step, and their errors fall with its first power. Tried once per unit, with the rehearsal of
 * going back (startup_tests.h): steps so short that states hardly move, with inputs as they are and with inputs moved a little. */
#ifndef TT_SIM_START_UNDECLARED_DEPENDENCIES_H
#define TT_SIM_START_UNDECLARED_DEPENDENCIES_H

#include "sim/rank.h"

/* At the start of the run, of a unit that goes back to `saved`, where it is; `h` is a step that it can make. *output is the first variable
 * found, TUTTI_NONE: none is. Inputs that move in a step are not tried. The unit is restored; FMU: it failed on the way. */
TUTTI_CHECKED enum tutti_err tt_startup_tests_find_undeclared(struct tt_rank *rank, const struct tt_member *member,
                                                              const struct tt_unit_saved *saved, double h,
                                                              uint32_t *output);

#endif
