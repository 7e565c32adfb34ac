/* SPDX-License-Identifier: MIT */
/* input_rows.h - the rows of input files and the steps of a run: every row that matters is to be seen.
 *
 * Values that are held change at their rows, and steps end there. Lines bend at rows; steps of Co-Simulation units end
 * there, too, unless steps of one size were asked for. A unit that cannot vary its step gets one that meets the rows, if no
 * other was given. What is missed nevertheless is counted, and told at the end. */
#ifndef TT_SIM_START_INPUT_ROWS_H
#define TT_SIM_START_INPUT_ROWS_H

#include "sim/rank.h"

/* Collective, after the setup of units and before their grids: a default step that fits the rows. */
TUTTI_CHECKED enum tutti_err tt_input_rows_fit_step(struct tt_rank *rank);
/* When the master is chosen: says to all inputs of own members whether steps end at their rows; they may if steps
 * vary; `by_means`: lines that units see at one time of a step have their mean there. */
void tt_input_rows_start(struct tt_rank *rank, bool varies, bool by_means);
/* At the end of the run: warnings for own members whose steps were too long for their rows. */
void tt_input_rows_warn(const struct tt_rank *rank);

#endif
