/* SPDX-License-Identifier: MIT */
/* driven_inputs.h - assigns columns of input files to inputs of units. */
#ifndef TT_SIM_JOB_DRIVEN_INPUTS_H
#define TT_SIM_JOB_DRIVEN_INPUTS_H

#include "base/expr/expression.h"
#include "base/options/options.h"
#include "model/system/system.h"
#include "model/system/trajectory.h"
#include "results/csv_table.h"

/* Inputs as expressions in time: --signal UNIT.VAR=EXPRESSION. */

struct tt_formula {
    char *name;                       /* of the input, as it was given */
    struct tt_expression *expression; /* of one value: the time */
};

struct tt_formulas {
    struct tt_formula *items;
    size_t count;
};

/* Those of the options, and those of the system's annotation. ARGUMENT, FORMAT, with fault and position.
 * tt_driven_inputs_free_formulas follows in any case; zeroed is fine for it. */
TUTTI_CHECKED enum tutti_err tt_driven_inputs_parse_formulas(struct tt_formulas *formulas,
                                                             const struct tutti_run_options *options,
                                                             const struct tt_system *system);
void tt_driven_inputs_free_formulas(struct tt_formulas *formulas);

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
