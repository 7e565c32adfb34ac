/* SPDX-License-Identifier: MIT */
/* formula.h - inputs as expressions in time: --signal UNIT.VAR=EXPRESSION. */
#ifndef TUTTI_JOB_FORMULA_H
#define TUTTI_JOB_FORMULA_H

#include "expression/expression.h"
#include "options/options.h"
#include "system/system.h"

struct tutti_formula {
    char *name;                          /* of the input, as it was given */
    struct tutti_expression *expression; /* of one value: the time */
};

struct tutti_formulas {
    struct tutti_formula *items;
    size_t count;
};

/* Those of the options, and those of the system's annotation. ARGUMENT, FORMAT, with what is wrong and where. tutti_formulas_fini follows in any
 * case; zeroed is fine for it. */
TUTTI_CHECKED enum tutti_err tutti_formulas_init(struct tutti_formulas *formulas,
                                                 const struct tutti_run_options *options,
                                                 const struct tutti_system *system);
void tutti_formulas_fini(struct tutti_formulas *formulas);

#endif
