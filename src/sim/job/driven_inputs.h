/* SPDX-License-Identifier: MIT */
/* driven_inputs.h - which column of which input file drives which input of which unit. */
#ifndef TT_SIM_JOB_DRIVEN_INPUTS_H
#define TT_SIM_JOB_DRIVEN_INPUTS_H

#include "sim/job/formula.h"
#include "results/csv_table.h"
#include "model/system/system.h"
#include "model/system/trajectory.h"

struct tt_driven_inputs {
    struct tt_trajectory_input **inputs; /* per component: its columns; NULL: none */
    size_t *counts;
};

/* A column is "unit.input" (or a tunable parameter), or the name of an input of the system itself, which may lead to
 * several. ARGUMENT for a name that is none (with the nearest), and for an input that is connected. `files` are `count`
 * input files, after them the tables of the system; formulas drive inputs as columns do. Memory is the arena's. */
TUTTI_CHECKED enum tutti_err tt_driven_inputs_assign(struct tt_driven_inputs *drive, struct tt_arena *arena,
                                                     const struct tt_system *system,
                                                     const struct tt_trajectory_file *files, size_t count,
                                                     const struct tt_formulas *formulas);

#endif
