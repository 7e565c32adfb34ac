/* SPDX-License-Identifier: MIT */
/* formula.h - inputs as expressions in time: --signal UNIT.VAR=EXPRESSION. */
#ifndef TT_SIM_JOB_FORMULA_H
#define TT_SIM_JOB_FORMULA_H

#include "base/expr/expression.h"
#include "base/options/options.h"
#include "model/system/system.h"

struct tt_formula {
    char *name;                       /* of the input, as it was given */
    struct tt_expression *expression; /* of one value: the time */
};

struct tt_formulas {
    struct tt_formula *items;
    size_t count;
};

/* Those of the options, and those of the system's annotation. ARGUMENT, FORMAT, with what is wrong and where. tt_driven_inputs_free_formulas follows in any
 * case; zeroed is fine for it. */
TUTTI_CHECKED enum tutti_err tt_driven_inputs_parse_formulas(struct tt_formulas *formulas,
                                                             const struct tutti_run_options *options,
                                                             const struct tt_system *system);
void tt_driven_inputs_free_formulas(struct tt_formulas *formulas);

#endif
