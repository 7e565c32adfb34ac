/* SPDX-License-Identifier: MIT */
/* apps/study/design.h - which runs a sweep makes: the parameters that vary, and their values in each run. */
#ifndef TT_APPS_STUDY_DESIGN_H
#define TT_APPS_STUDY_DESIGN_H

#include "base/arena.h"
#include "base/options/options.h"

struct tt_design {
    const char **names; /* of parameters */
    size_t count;
    double *values; /* run after run, `count` each */
    size_t runs;
    struct tt_arena arena; /* holds the names */
};

enum { TUTTI_DESIGN_MOST_RUNS = 100000000 };

/* From --vary and --sample, or --csv. ARGUMENT, FORMAT, LIMIT, IO; after a failure there is nothing to release. */
TUTTI_CHECKED enum tutti_err tt_design_create(struct tt_design *design, const struct tutti_run_options *options);
void tt_design_fini(struct tt_design *design);

/* The values of one run. */
static inline const double *tt_design_run(const struct tt_design *design, size_t run)
{
    return design->values + run * design->count;
}

#endif
