/* SPDX-License-Identifier: MIT */
/* output.h - what becomes of the rows of a run: a result file, a watcher (<tutti/run.h>), or both. */
#ifndef TT_RESULTS_OUTPUT_H
#define TT_RESULTS_OUTPUT_H

#include <tutti/run.h>

#include "base/fail.h"
#include "base/log.h"
#include "results/recorder.h"

struct tt_output_flusher; /* output.h */

/* The rows that a watcher has received. */
struct tt_seen_rows {
    bool columns;
    uint64_t rows;
};

/* Where the watcher `of` wants the next row's values, so that it need not copy them. It changes whenever that watcher
 * is called; NULL: in memory of the output. Not used for other watchers, whose rows may have different columns. */
struct tt_row_room {
    const struct tutti_watcher *of;
    double *values;
};

/* 2^53: of integers from here on, a double holds only some. */
#define TUTTI_OUTPUT_LONG 9007199254740992.0

struct tt_output_target {
    const char *path;                    /* NULL: no file */
    const struct tutti_watcher *watcher; /* NULL: none */
    bool tells_digits;                   /* it gets the digits of integers of 2^53 and more as texts, too */
    const struct tt_row_room *room;      /* NULL: none */
    struct tt_seen_rows
        *watched; /* for a run that repeats parts: rows that it contains are not sent again; NULL: all rows are new */
    const struct tutti_log *log;
    const char *origin; /* names the system in the log */
    /* The mark of tt_output_mark: the run resumes there, with the file as it was then, and does not repeat messages.
     * Borrowed while it is opened. Empty: a new file. */
    struct tt_bytes resume;
    bool by_thread; /* rows are flushed by a thread, where the format allows it: the caller may be away for long */
};

/* Columns whose values are contiguous doubles, stored as they are shown; or, if `from` is NULL, one column. */
struct tt_output_run {
    const double *from;
    size_t first, count;
};

/* Zeroed: nothing becomes of them. */
struct tt_output {
    struct tt_output_target target;
    const struct tt_column *columns;
    size_t count;
    const struct tt_record_format *format; /* NULL: no file */
    struct tt_recorder *recorder;
    struct tt_output_flusher *flusher; /* NULL: none */
    int64_t flushed;                   /* tt_wall_clock_tick when rows were last flushed */
    bool has_long;  /* a column has 64-bit integers, which the format rounds from 2^53 on; false after the warning */
    double *fixed;  /* the first row's values, if the format stores fixed values once; otherwise NULL */
    bool begun;     /* the first row was recorded */
    uint64_t rows;  /* so far, those before a mark among them */
    double *values; /* values of the row as numbers */
    struct tt_output_run *runs; /* the sources of `values` */
    double *memory;             /* for the values, where the watcher has no room for them */
    size_t run_count;
    bool tells_texts; /* the watcher also receives texts, and there are some */
    struct tt_byte_writer hexadecimal;
    /* per column: the time since which it is NaN or infinite, NAN if it is finite; NULL: no column ever was non-finite */
    double *odd_since;
    struct tt_output_growth *rises; /* how columns have grown; NULL: not looked at, or not any more */
    double first_row, last_row;
};

/* `target` is copied, its pointers and `columns` are borrowed until close. A new file is created with the first row:
 * until then an earlier file is unchanged. The file is also written when the process crashes (base/crash.h): `output`
 * must not be moved. */
TUTTI_CHECKED enum tutti_err tt_output_open(struct tt_output *output, const struct tt_output_target *target,
                                            const struct tt_column *columns, size_t count);
/* The columns' values at t. */
TUTTI_CHECKED enum tutti_err tt_output_row(struct tt_output *output, double t);
/* At the end of a run that has reached t: SOLVER if a finite column became NaN or infinite before t and stayed so. */
TUTTI_CHECKED enum tutti_err tt_output_check_finite(const struct tt_output *output, double t);
/* Passes written rows to the operating system. */
TUTTI_CHECKED enum tutti_err tt_output_flush(struct tt_output *output);
/* Flushes, and puts into `mark` the data by which a later run resumes here. A pipe or a device cannot be truncated: a
 * resumed run starts it again, with a warning. */
TUTTI_CHECKED enum tutti_err tt_output_mark(struct tt_output *output, struct tt_byte_writer *mark);
/* Ensures that flushed rows survive a power failure. A second thread may be recording rows meanwhile. */
TUTTI_CHECKED enum tutti_err tt_output_sync(struct tt_output *output);
/* Also after a failed open, or on a zeroed one. */
TUTTI_CHECKED enum tutti_err tt_output_close(struct tt_output *output);

/* Writes rows to the file even while the run does not flush: an FMU may stay in one step for hours, or forever.
 *
 * A separate thread flushes new rows some times a second; a thread that uses the recorder locks it. */

struct tt_output_flusher;

/* Both are borrowed until free. NULL if no thread can be had: rows then reach the file with the next flush. */
struct tt_output_flusher *tt_output_flusher_new(const struct tt_record_format *format, struct tt_recorder *recorder);
/* Around every use of the recorder; NULL is fine. */
void tt_output_flusher_lock(struct tt_output_flusher *flusher);
void tt_output_flusher_unlock(struct tt_output_flusher *flusher);
/* For a handler of a fatal signal: stops the thread's writing and waits a moment for it. NULL is allowed. */
void tt_output_flusher_halt(struct tt_output_flusher *flusher);
/* Ends the thread. The recorder stays. NULL is fine. */
void tt_output_flusher_free(struct tt_output_flusher *flusher);

#endif
