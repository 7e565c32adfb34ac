/* SPDX-License-Identifier: MIT */
/* compare_solvers.h - `tutti run --compare-solvers`: the same run with each solver that chooses its steps. */
#ifndef TUTTI_CLI_COMPARE_SOLVERS_H
#define TUTTI_CLI_COMPARE_SOLVERS_H

#include "run_options.h"

/* Prints a line per solver, as Andersson 2016 table 8.1 has them: steps, right-hand sides, Jacobians, seconds; and the largest error of any
 * output. Returns the exit status: that of the last failure if no solver came to the end. */
int compare_solvers(struct run_options *run, const struct arguments *arguments);

#endif
