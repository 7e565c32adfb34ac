/* SPDX-License-Identifier: MIT */
/* apps/study/parameter_sweep.h - a sweep: its runs and what became of them. <tutti/study.h> is how programs see it. */
#ifndef TT_APPS_STUDY_PARAMETER_SWEEP_H
#define TT_APPS_STUDY_PARAMETER_SWEEP_H

#include <tutti/study.h>

#include "apps/study/design.h"
#include "apps/study/sweep_journal.h"
#include "apps/study/sweep_worker.h"

struct tutti_sweep {
    const struct tutti_run_options *options;
    struct tt_design design;
    struct tutti_run_options asking; /* the options, including FMUs that nodes offer */
    struct tt_nodes *nodes;          /* nodes that offer FMUs missing here; NULL: none */
    struct tt_sweep_worker work;
    size_t measure_count;
    char **labels;  /* of measures */
    double *values; /* of measures, run after run */
    uint8_t *statuses;
    bool *is_over;
    size_t *offsets;       /* of records in the journal */
    const char **messages; /* NULL: none */
    size_t over, good, found;
    size_t next;                      /* the first run that may not be over */
    struct tt_sweep_journal *journal; /* NULL: none */
    double began, told;               /* on the clock */
    struct tt_arena arena;
};

/* The table as CSV: to a file, which is replaced when the new one is whole, or to standard output ("-"). */
TUTTI_CHECKED enum tutti_err tt_parameter_sweep_write_table(const struct tutti_sweep *sweep, const char *path);
/* Writes the rows of all runs, from the journal, in the format that the path selects. */
TUTTI_CHECKED enum tutti_err tt_parameter_sweep_write_runs(struct tutti_sweep *sweep, const char *path);

#endif
