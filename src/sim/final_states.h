/* SPDX-License-Identifier: MIT */
/* final_states.h - the states that units have at the end of a run (sim/job/state_files.h): to the conductor, which writes them once all ranks
 * have come to their end, or, on one rank, to their files. */
#ifndef TT_SIM_FINAL_STATES_H
#define TT_SIM_FINAL_STATES_H

#include "sim/rank.h"

/* Of own units, before they are terminated. Of a run that an FMU has ended before its stop time none is written, with a warning. */
TUTTI_CHECKED enum tutti_err tt_execution_report_final_states(struct tt_rank *rank);

#endif
