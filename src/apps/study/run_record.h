/* SPDX-License-Identifier: MIT */
/* apps/study/run_record.h - what became of one run of a sweep, as bytes: from a worker to the conductor, and in the journal. */
#ifndef TT_APPS_STUDY_RUN_RECORD_H
#define TT_APPS_STUDY_RUN_RECORD_H

#include "base/bytes.h"

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
    const char *message;  /* NULL: there is nothing to say */
    const double *values; /* of measures; unaligned bytes may be copied from it only */
    uint32_t value_count;
    /* Trajectories, if they are wanted: names with a newline after each, rows of time and values. */
    const char *columns;
    uint32_t column_count;
    const void *rows;
    size_t row_count;
};

void tt_sweep_worker_write_record(struct tt_byte_writer *parcel, const struct tt_run_record *record);
/* Points into the bytes. False: they are no record. */
bool tt_sweep_worker_read_record(struct tt_run_record *record, struct tt_bytes bytes);

#endif
