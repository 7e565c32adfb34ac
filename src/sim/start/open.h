/* SPDX-License-Identifier: MIT */
/* open.h - from components of the system to units that are configured and wired. */
#ifndef TT_SIM_START_OPEN_H
#define TT_SIM_START_OPEN_H

#include "sim/rank.h"

/* Creates the units, applies start values, lays out the signals. The result is in `rank`, also after an error. */
TUTTI_CHECKED enum tutti_err tt_open_components(struct tt_rank *rank);
/* Tells a new instance of a unit's FMU the experiment, then the parameters and start values of its component. */
TUTTI_CHECKED enum tutti_err tt_open_configure_component(struct tt_rank *rank, uint32_t component);
/* Another unit in the place of one that is not where it should be: configured, with its start values. */
TUTTI_CHECKED enum tutti_err tt_open_restart_component(struct tt_rank *rank, struct tt_member *member);
/* Returns true if the unit, whose saved states are unavailable, may be rolled back by forking instead: by default only
 * if the run cannot do without. */
bool tt_open_may_fork(const struct tt_rank *rank, const struct tt_member *member);

/* Inputs that an FMU of FMI 3.0 requests inside a step (intermediate update): those that a file drives, and connected
 * ones, which move as the wires define. */

/* Before the unit of a component is made: fills in options->moving*. *connected: some are connected inputs. */
TUTTI_CHECKED enum tutti_err tt_open_list_moving_inputs(struct tt_rank *rank, uint32_t component,
                                                        struct tt_unit_options *options, bool *connected);

#endif
