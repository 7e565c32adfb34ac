/* SPDX-License-Identifier: MIT */
/* step_log.h - a file with a line per attempt at a macro step, as CSV: from where, how far, with which error, what became of
 * it, and which signal drove it. */
#ifndef TUTTI_REPORT_STEP_LOG_H
#define TUTTI_REPORT_STEP_LOG_H

#include "base/parcel.h"
#include "description/type.h"
#include "rank/rank.h"

struct tutti_step_log;

/* A line. */
struct tutti_step_entry {
    double t, h;
    bool estimated; /* `error` is known */
    double error;
    const char *verdict;
    unsigned iterations;
    const char *unit, *variable; /* that drove it; "": none */
};

/* A file; or, where a conductor listens, what rank 0 tells it: *out stays NULL on the others. Memory is the rank's. `resume` is what
 * tutti_step_log_mark put, borrowed for the call: the file is cut there, and goes on; empty: a new file, and for a conductor, which
 * goes on with it by itself. IO, FORMAT. */
TUTTI_CHECKED enum tutti_err tutti_step_log_open(struct tutti_step_log **out, struct tutti_rank *rank, const char *path,
                                                 struct tutti_bytes resume);
TUTTI_CHECKED enum tutti_err tutti_step_log_write(struct tutti_step_log *log, const struct tutti_step_entry *entry);
/* Where the file is (record/file.h, tutti_record_file_mark_lines). Nothing for NULL, or if a conductor has it. */
TUTTI_CHECKED enum tutti_err tutti_step_log_mark(struct tutti_step_log *log, struct tutti_parcel *mark);
/* What was written is on the disk after this. Another thread may be writing. NULL is fine. */
TUTTI_CHECKED enum tutti_err tutti_step_log_sync(struct tutti_step_log *log);
/* IO if something could not be written. NULL is fine. */
TUTTI_CHECKED enum tutti_err tutti_step_log_close(struct tutti_step_log *log);

#endif
