/* SPDX-License-Identifier: MIT */
/* row_writer.h - rows as text on their way to a file, for formats whose rows are lines: however the process ends, the
 * file ends with a complete row.
 *
 * Invariants, for emergency() in a signal handler at any moment:
 *  B1  buffer[0..whole) are whole rows that are not in the file yet; `whole` is raised after the last byte of a row.
 *  B2  `buffer` is replaced only while `whole` is 0.
 *  B3  In a regular file they belong at `offset`, however often they are written. Data for a pipe is written once: during write(2) (`writing`) the number of bytes written is unknown. */
#ifndef TT_RESULTS_ROW_WRITER_H
#define TT_RESULTS_ROW_WRITER_H

#include <stdatomic.h>

#include "results/record_file.h"
#include "results/recorder.h"

struct tt_row_writer {
    char *buffer;
    size_t capacity;
    _Atomic size_t whole;
    _Atomic off_t offset; /* -1: not a regular file */
    _Atomic bool writing;
    struct tt_record_file file;
    int error; /* errno of a failed write, after which nothing is written any more */
    char *path;
    bool is_standard; /* standard output; `path` describes it */
    bool quotes;      /* a line end between "..." does not end a row (CSV) */
};

/* Takes memory for rows of `room` bytes; no file is touched. `lines` is zeroed, but for `quotes`. */
TUTTI_CHECKED enum tutti_err tt_row_writer_prepare(struct tt_row_writer *lines, const char *path, size_t room);
/* Opens the file ("-": standard output), and empties it. On failure nothing needs to be closed. */
TUTTI_CHECKED enum tutti_err tt_row_writer_open(struct tt_row_writer *lines);
/* *at becomes where the next row goes, with room for `need` bytes. */
TUTTI_CHECKED enum tutti_err tt_row_writer_start_row(struct tt_row_writer *lines, size_t need, char **at);
/* The row ends there, with its line end. */
static inline void tt_row_writer_end_row(struct tt_row_writer *lines, const char *end)
{
    atomic_store_explicit(&lines->whole, (size_t)(end - lines->buffer), memory_order_release);
}
/* Implement the slots of a format; see recorder.h. */
TUTTI_CHECKED enum tutti_err tt_row_writer_flush(struct tt_row_writer *lines);
void tt_row_writer_emergency(struct tt_row_writer *lines);
TUTTI_CHECKED enum tutti_err tt_row_writer_mark(struct tt_row_writer *lines, struct tt_byte_writer *mark);
TUTTI_CHECKED enum tutti_err tt_row_writer_sync(struct tt_row_writer *lines);
/* Opens the file of a mark, which begins with the `n` bytes of the buffer, and truncates it there, before any call of
 * tt_row_writer_end_row. On failure nothing needs to be closed. */
TUTTI_CHECKED enum tutti_err tt_row_writer_reopen(struct tt_row_writer *lines, size_t n, struct tt_byte_reader *mark);
/* Closes the file, if it is open; returns `err`, or an error of closing. */
TUTTI_CHECKED enum tutti_err tt_row_writer_close(struct tt_row_writer *lines, enum tutti_err err);
/* Releases memory. */
void tt_row_writer_fini(struct tt_row_writer *lines);

/* The values of a row as text, for formats that are text. */

struct tt_row_cell {
    /* Writes the value to `at`, which has enough room; returns the end. */
    char *(*put)(char *at, const struct tt_row_cell *cell);
    const void *value;
    size_t length; /* String and Binary: bytes of this row's value, measured once, so that the room stays enough */
};

/* Numbers, in TUTTI_NUMBER_MAX bytes at most, and a sign: their shortest digits that read back to the same bits. Boolean and Clock
 * are 0 and 1. `put` is NULL for a String or a Binary, which each format writes in its own way. */
struct tt_row_cell tt_row_writer_cell(const struct tt_column *column);
/* How long the value of a String or Binary is in this row, into `length`. */
void tt_row_writer_measure_cell(struct tt_row_cell *cell, enum tt_type type);
/* The bytes of a Binary, in hexadecimal: twice its length. */
char *tt_row_writer_put_binary(char *at, const struct tt_row_cell *cell);

#endif
