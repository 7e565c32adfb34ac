/* SPDX-License-Identifier: MIT */
/* step_log.h - a file with a line per attempt at a macro step, as CSV: from where, how far, with which error, what became of
 * it, and which signal drove it. */
#ifndef TT_SIM_REPORT_STEP_LOG_H
#define TT_SIM_REPORT_STEP_LOG_H

#include "base/bytes.h"
#include "fmu/description/type.h"
#include "sim/rank.h"

struct tt_step_log;

struct tt_step_entry {
    double t, h;
    bool estimated; /* `error` is known */
    double error;
    const char *verdict;
    unsigned iterations;
    const char *unit, *variable; /* that drove it; "": none */
};

/* Opens a file; or, with a conductor, the reports of rank 0: *out stays NULL on other ranks. The rank owns the memory.
 * `resume` is the output of tt_step_log_pack_position, borrowed for the call: the file is truncated there, and resumed;
 * empty: a new file, or with a conductor, which resumes it itself. IO, FORMAT. */
TUTTI_CHECKED enum tutti_err tt_step_log_open(struct tt_step_log **out, struct tt_rank *rank, const char *path,
                                              struct tt_bytes resume);
TUTTI_CHECKED enum tutti_err tt_step_log_write(struct tt_step_log *log, const struct tt_step_entry *entry);
/* Where the file is (results/record_file.h, tt_record_file_mark_lines). Nothing for NULL, or if a conductor has it. */
TUTTI_CHECKED enum tutti_err tt_step_log_pack_position(struct tt_step_log *log, struct tt_byte_writer *mark);
/* Ensures that written lines survive a power failure. A second thread may be writing. NULL is allowed. */
TUTTI_CHECKED enum tutti_err tt_step_log_sync(struct tt_step_log *log);
/* IO if something could not be written. NULL is fine. */
TUTTI_CHECKED enum tutti_err tt_step_log_close(struct tt_step_log *log);

#endif
