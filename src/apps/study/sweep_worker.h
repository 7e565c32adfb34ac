/* SPDX-License-Identifier: MIT */
/* apps/study/sweep_worker.h - the runs of a sweep as one process makes them: a trial, its measures, and what becomes of each run as a record. */
#ifndef TT_APPS_STUDY_SWEEP_WORKER_H
#define TT_APPS_STUDY_SWEEP_WORKER_H

#include "apps/study/design.h"
#include "apps/study/measures.h"
#include "apps/study/run_record.h"
#include "apps/study/rerun.h"

struct tt_sweep_worker {
    const struct tutti_run_options *options;
    const struct tt_design *design;
    struct tt_rerun trial;
    struct tt_measures *measures;
    const char **labels; /* of measures, as the table shows them */
    size_t count;
    double *results;
    bool keeps_rows;
    size_t *variables;          /* that are read at the end of a run, of which no rows are recorded; NULL: rows are */
    struct tt_byte_writer rows; /* of the run */
    struct tt_text columns;
    uint32_t column_count;
    size_t row_count;
};

/* Loads everything and checks it; no code of an FMU runs. Borrows both. tt_sweep_worker_close follows in any case. */
TUTTI_CHECKED enum tutti_err tt_sweep_worker_open(struct tt_sweep_worker *work, const struct tutti_run_options *options,
                                                  const struct tt_design *design);
void tt_sweep_worker_close(struct tt_sweep_worker *work);

/* Makes a run; its record is put into `parcel`, which is emptied before. Fails only if there is no memory: whatever else is wrong is in the record.
 * *fatal: no further run can be made in this process. */
TUTTI_CHECKED enum tutti_err tt_sweep_worker_run(struct tt_sweep_worker *work, size_t run,
                                                 struct tt_byte_writer *parcel, bool *fatal);

#endif
