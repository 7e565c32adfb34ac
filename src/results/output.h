/* SPDX-License-Identifier: MIT */
/* output.h - what becomes of the rows of a run: a result file, a watcher (<tutti/run.h>), or both. */
#ifndef TT_RESULTS_OUTPUT_H
#define TT_RESULTS_OUTPUT_H

#include <tutti/run.h>

#include "base/fail.h"
#include "base/log.h"
#include "results/recorder.h"

struct tt_output_flusher; /* output.h */

/* What a watcher has got so far. */
struct tt_seen_rows {
    bool columns;
    uint64_t rows;
};

/* Where the watcher `of` wants the values of the next row to be written, so that it need not copy them. It changes whenever that watcher is called;
 * NULL: in memory of the output. For no other watcher, whose rows may have other columns. */
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
        *watched; /* of a run parts of which are made once more: what is in it is not told again; NULL: all is new */
    const struct tutti_log *log;
    const char *origin; /* names the system in the log */
    /* What tt_output_mark put: the run goes on from there, with the file as it was then, and says nothing that it has said before.
     * Borrowed while it is opened. Empty: a new file. */
    struct tt_bytes resume;
    bool by_thread; /* rows are flushed by a thread, where the format allows it: the caller may be away for long */
};

/* Columns whose values lie one after the other, and are doubles as they are to be shown; or, if `from` is NULL, one column. */
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
    bool
        has_long; /* there are integers of 64 bits, which the format rounds from 2^53 on; false once a warning said so */
    double *fixed;              /* the first row's values, where the format keeps what is fixed but once; else NULL */
    bool begun;                 /* there is a first row */
    uint64_t rows;              /* so far, those before a mark among them */
    double *values;             /* of the row, as numbers ... */
    struct tt_output_run *runs; /* ... and where they are from */
    double *memory;             /* for the values, where the watcher has no room for them */
    size_t run_count;
    bool tells_texts; /* the watcher also wants texts, of which there are some */
    struct tt_byte_writer hexadecimal;
    double *odd_since; /* per column: the row since which it is NaN or infinite, else NAN; NULL: none ever was */
    struct tt_output_growth *rises; /* how columns have grown; NULL: not looked at, or not any more */
    double first_row, last_row;
};

/* `target` is copied, what it names and `columns` are borrowed until close. A new file is made with the first row: until then an
 * earlier one stays as it is. The file is written also when the process dies (base/crash.h): `output` must stay where it is. */
TUTTI_CHECKED enum tutti_err tt_output_open(struct tt_output *output, const struct tt_output_target *target,
                                            const struct tt_column *columns, size_t count);
/* The columns' values at t. */
TUTTI_CHECKED enum tutti_err tt_output_row(struct tt_output *output, double t);
/* At the end of a run that has come to t: SOLVER if a column that was finite is NaN or infinite from some row before t to the
 * last one. */
TUTTI_CHECKED enum tutti_err tt_output_check_finite(const struct tt_output *output, double t);
/* Hands what was written so far to the operating system. */
TUTTI_CHECKED enum tutti_err tt_output_flush(struct tt_output *output);
/* Flushes, and puts into `mark` what another run needs to go on from here as this one does. A pipe or a device cannot be taken
 * back: what goes on begins anew there, with a warning. */
TUTTI_CHECKED enum tutti_err tt_output_mark(struct tt_output *output, struct tt_byte_writer *mark);
/* What was flushed is on the disk after this, also if the power fails. Another thread may be recording rows. */
TUTTI_CHECKED enum tutti_err tt_output_sync(struct tt_output *output);
/* Also after a failed open, or on a zeroed one. */
TUTTI_CHECKED enum tutti_err tt_output_close(struct tt_output *output);

/* Rows reach the file also while the run does not flush: an FMU may stay in one step for hours, or for ever.
 *
 * A thread of its own flushes a recorder some times a second if rows have come; a thread that uses the recorder holds it. */

struct tt_output_flusher;

/* Both are borrowed until free. NULL if no thread can be had: rows then reach the file with the next flush. */
struct tt_output_flusher *tt_output_flusher_new(const struct tt_record_format *format, struct tt_recorder *recorder);
/* Around every use of the recorder; NULL is fine. */
void tt_output_flusher_lock(struct tt_output_flusher *flusher);
void tt_output_flusher_unlock(struct tt_output_flusher *flusher);
/* For a handler of a fatal signal: the thread writes no more; waits a moment for it. NULL is fine. */
void tt_output_flusher_halt(struct tt_output_flusher *flusher);
/* Ends the thread. The recorder stays. NULL is fine. */
void tt_output_flusher_free(struct tt_output_flusher *flusher);

#endif
