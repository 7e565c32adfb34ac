/* SPDX-License-Identifier: MIT */
/* row_cell.h - the values of a row as text, for formats that are text. */
#ifndef TT_RESULTS_ROW_CELL_H
#define TT_RESULTS_ROW_CELL_H

#include "results/recorder.h"

struct tt_row_cell {
    /* Writes the value to `at`, where there is room; returns the end. */
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
