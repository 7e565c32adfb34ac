/* SPDX-License-Identifier: MIT */
/* input_rows.h - adapts the steps of a run to the rows of input files, so that no relevant row is missed.
 *
 * Held values change at their rows, and steps end there. Lines bend at rows; steps of Co-Simulation units end there,
 * too, unless a fixed step was requested. A unit with a fixed step gets one that meets the rows, unless the user gave
 * one. Missed rows are counted, and reported at the end. */
#ifndef TT_SIM_START_INPUT_ROWS_H
#define TT_SIM_START_INPUT_ROWS_H

#include "sim/rank.h"

/* Collective, after the setup of units and before their grids: a default step that fits the rows. */
TUTTI_CHECKED enum tutti_err tt_input_rows_fit_step(struct tt_rank *rank);
/* Called when the master is chosen: determines for all inputs of own members whether steps end at their rows, which
 * requires variable steps; `by_means`: lines of which units get one value per step use their mean. */
void tt_input_rows_start(struct tt_rank *rank, bool varies, bool by_means);
/* At the end of the run: warns about own members whose steps were too long for their rows. */
void tt_input_rows_warn(const struct tt_rank *rank);

#endif
