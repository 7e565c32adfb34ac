/* SPDX-License-Identifier: MIT */
/* apps/study/sweep_worker.h - the runs of a sweep as one process makes them: a trial, its measures, and what becomes of each run as a record. */
#ifndef TT_APPS_STUDY_SWEEP_WORKER_H
#define TT_APPS_STUDY_SWEEP_WORKER_H

#include "apps/study/design.h"
#include "apps/study/measures.h"
#include "apps/study/rerun.h"
#include "base/bytes.h"

/* The outcome of one run of a sweep, as bytes: from a worker to the conductor, and in the journal. */

/* In the table these are words. */
#define TUTTI_RUN_STATUSES(X)                                                                                          \
    X(OK, "ok")                                                                                                        \
    X(FAILED, "failed")         /* it could not be run to its end */                                                   \
    X(UNMEASURED, "unmeasured") /* it could; but a measure has no value */                                             \
    X(CRASHED, "crashed")       /* the process that it ran in came to an end */
enum tt_run_status {
#define X(name, word) TUTTI_RUN_##name,
    TUTTI_RUN_STATUSES(X)
#undef X
};
const char *tt_sweep_worker_status_name(enum tt_run_status status);

struct tt_run_record {
    uint64_t run;
    enum tt_run_status status;
    const char *message;  /* NULL: no message */
    const double *values; /* of measures; unaligned bytes may be copied from it only */
    uint32_t value_count;
    /* Trajectories, if they are wanted: names with a newline after each, rows of time and values. */
    const char *columns;
    uint32_t column_count;
    const void *rows;
    size_t row_count;
};

void tt_sweep_worker_write_record(struct tt_byte_writer *parcel, const struct tt_run_record *record);
/* Points into the bytes. False if they are not a record. */
bool tt_sweep_worker_read_record(struct tt_run_record *record, struct tt_bytes bytes);

struct tt_sweep_worker {
    const struct tutti_run_options *options;
    const struct tt_design *design;
    struct tt_rerun trial;
    struct tt_measures *measures;
    const char **labels; /* of measures, as the table shows them */
    size_t count;
    double *results;
    bool keeps_rows;
    size_t *variables;          /* read at the end of a run of which no rows are recorded; NULL: rows are recorded */
    struct tt_byte_writer rows; /* of the run */
    struct tt_text columns;
    uint32_t column_count;
    size_t row_count;
};

/* Loads everything and checks it; no code of an FMU runs. Borrows both. tt_sweep_worker_close follows in any case. */
TUTTI_CHECKED enum tutti_err tt_sweep_worker_open(struct tt_sweep_worker *work, const struct tutti_run_options *options,
                                                  const struct tt_design *design);
void tt_sweep_worker_close(struct tt_sweep_worker *work);

/* Makes a run and puts its record into `parcel`, which is emptied first. Fails only if memory is out: all other
 * failures are part of the record. *fatal: no further run can be made in this process. */
TUTTI_CHECKED enum tutti_err tt_sweep_worker_run(struct tt_sweep_worker *work, size_t run,
                                                 struct tt_byte_writer *parcel, bool *fatal);

#endif
