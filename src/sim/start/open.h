/* SPDX-License-Identifier: MIT */
/* open.h - from components of the system to units that are configured and wired. */
#ifndef TT_SIM_START_OPEN_H
#define TT_SIM_START_OPEN_H

#include "sim/rank.h"

/* Makes the units, applies start values, lays out the signals. What it made is in `rank`, also after an error. */
TUTTI_CHECKED enum tutti_err tt_open_components(struct tt_rank *rank);
/* Tells a new instance of a unit's FMU the experiment, then the parameters and start values of its component. */
TUTTI_CHECKED enum tutti_err tt_open_configure_component(struct tt_rank *rank, uint32_t component);
/* Another unit in the place of one that is not where it should be: configured, with its start values. */
TUTTI_CHECKED enum tutti_err tt_open_restart_component(struct tt_rank *rank, struct tt_member *member);
/* May the unit, whose own saved states are not to be had, be taken back by forking instead? If nothing else is asked for, where
 * the run would not do what it is asked for without. */
bool tt_open_may_fork(const struct tt_rank *rank, const struct tt_member *member);

/* Inputs that an FMU of FMI 3.0 asks for inside of a step (intermediate update): those that a file drives, and
 * connected ones, which move as the wires say. */

/* Before the unit of a component is made: fills in options->moving*. *connected: some are connected inputs. */
TUTTI_CHECKED enum tutti_err tt_open_list_moving_inputs(struct tt_rank *rank, uint32_t component,
                                                        struct tt_unit_options *options, bool *connected);

#endif
