/* SPDX-License-Identifier: MIT */
/* recorder.h - where results go. A format is one file that exports one const struct; to add one: copy jsonl.c, list it in
 * recorder.c, run `ctest -L record`. */
#ifndef TT_RESULTS_RECORDER_H
#define TT_RESULTS_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/bytes.h"
#include "fmu/description/type.h"

/* One recorded number, text or block of bytes. `value` points to the run's variable (laid out as in type.h). */
struct tt_column {
    const char *name;        /* "unit.var", or "var" for a single FMU, with [i,j] for an element of an array */
    const char *unit;        /* NULL: none */
    const char *description; /* NULL: none */
    enum tt_type type;
    bool negated; /* show minus the value (FMI 1.0 negated aliases; numbers only) */
    bool fixed;   /* a constant or a parameter: it has one value from the first row on */
    /* a number that is constant between rows, according to its description; values of other types than reals always are */
    bool held;
    /* The first column with the same value in every row, apart from its sign: of aliases. Its own place, if it is that one. */
    size_t source;
    const void *value;
};

struct tt_recorder; /* every format's own */

struct tt_record_format {
    const char *name;      /* "csv" */
    const char *extension; /* ".csv" */
    bool holds_texts;      /* false: it skips columns of type String and Binary */
    bool any_thread;       /* flush() may be called by a thread other than that of row(), which waits meanwhile */
    /* Writes files with this extension that have texts and are not results: open, row, flush and close. NULL:
     * unsupported. */
    const struct tt_record_format *sheet;
    bool fixed_once; /* of a column that is fixed it keeps the first row's value and no other */

    /* Opens `path` ("-": standard output) and writes the header; without a header, the first row is written at once, so
     * that a full disk is detected then. `columns` is borrowed until close. On failure nothing is left open, and an
     * earlier file is unchanged unless writing failed. */
    enum tutti_err (*open)(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n);
    /* Adds a row at `time`. Called in order of time; equal times are an event's both sides. After a failed write (full
     * disk) the file ends with a whole row, and every further call fails with the same message. */
    enum tutti_err (*row)(struct tt_recorder *recorder, double time);
    /* Passes all data to the operating system, so that a later crash loses none of it. */
    enum tutti_err (*flush)(struct tt_recorder *recorder);
    /* Flushes and closes; always releases the recorder, also when it returns an error. */
    enum tutti_err (*close)(struct tt_recorder *recorder);
    /* Async-signal-safe flush for a dying process; must tolerate being called in the middle of row(): whole rows only. */
    void (*emergency)(struct tt_recorder *recorder);

    /* For a run that is interrupted and resumed with its file, which becomes identical to that of an uninterrupted run.
     * Only for regular files; all others start again.
     *
     * Flushes, and puts into `mark` the data that reopen() needs to resume here, tt_recorder_put_columns() first. Later
     * writes, and any end of the process, leave everything before the mark unchanged. */
    enum tutti_err (*mark)(struct tt_recorder *recorder, struct tt_byte_writer *mark);
    /* open() of a file that mark() was called for: removes all later data, complete or not, and resumes; if the process
     * ends immediately, the file can be reopened again. The mark comes from a file and is untrusted; the function
     * copies the parts it needs. IO if the file does not exist; FORMAT if it does not match the mark or has different
     * columns: then it is unchanged. */
    enum tutti_err (*reopen)(struct tt_recorder **out, const char *path, const struct tt_column *columns, size_t n,
                             struct tt_byte_reader *mark);
    /* Ensures that flushed rows survive a power failure. A second thread may be in row() or flush(). */
    enum tutti_err (*sync)(struct tt_recorder *recorder);
};

extern const struct tt_record_format tt_csv_format, tt_csv_units_format, tt_mat_format, tt_hdf5_format, tt_jsonl_format;
extern const struct tt_record_format tt_hdf5_table_format;

/* The format for a path by the longest extension that fits ("-", and pipes and devices without one, are CSV), or an error that lists the formats. */
TUTTI_CHECKED enum tutti_err tt_recorder_find_format(const struct tt_record_format **format, const char *path);

/* Returns true for standard output, a pipe or a device, where written data cannot be removed. */
bool tt_recorder_is_stream(const char *path);

/* For marks: the format and the description of columns before a run. FORMAT, with the remedy, if they differ. */
void tt_recorder_put_columns(struct tt_byte_writer *mark, const struct tt_record_format *format,
                             const struct tt_column *columns, size_t n);
TUTTI_CHECKED enum tutti_err tt_recorder_check_columns(struct tt_byte_reader *mark,
                                                       const struct tt_record_format *format, const char *path,
                                                       const struct tt_column *columns, size_t n);

/* FNV-1a of 64 bits of these bytes, after others; the first time `sum` is TUTTI_RECORD_DIGEST. */
#define TUTTI_RECORD_DIGEST 14695981039346656037u
uint64_t tt_recorder_digest(uint64_t sum, const void *bytes, size_t n);

/* The value of a column, with its sign, as a double; NaN for a text. (Integers beyond 2^53 are rounded.) */
double tt_recorder_column_number(const struct tt_column *column);

#endif
