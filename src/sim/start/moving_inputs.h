/* SPDX-License-Identifier: MIT */
/* moving_inputs.h - inputs that an FMU of FMI 3.0 asks for inside of a step (intermediate update): those that a file drives, and
 * connected ones, which move as the wires say. */
#ifndef TT_SIM_START_MOVING_INPUTS_H
#define TT_SIM_START_MOVING_INPUTS_H

#include "sim/rank.h"

/* Before the unit of a component is made: fills in options->moving*. *connected: some are connected inputs. */
TUTTI_CHECKED enum tutti_err tt_open_list_moving_inputs(struct tt_rank *rank, uint32_t component,
                                                        struct tt_unit_options *options, bool *connected);

#endif
