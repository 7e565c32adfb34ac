/* SPDX-License-Identifier: MIT */
/* csv_table.h - a CSV file, read whole and kept as text: input trajectories for runs. (Results are read by result.h.)
 *
 * RFC 4180: quotes, doubled quotes, CRLF or LF, a byte order mark is skipped. Columns are separated by commas, semicolons or
 * tabs, whichever comes first in the header; with one of the latter two, numbers may have decimal commas. The first column
 * must be `time` or `t` (any case), in seconds or in a unit that follows, "Time [h]"; times must not decrease. Every cell
 * is kept as text; numbers are read on demand. Bounded: 1e6 columns, 2 GiB. */
#ifndef TT_RESULTS_CSV_TABLE_H
#define TT_RESULTS_CSV_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

struct tt_csv_table;

/* Errors name file and line (FORMAT: ragged row, unclosed quote, time missing, not a finite number, or running
 * backwards, two columns of one name; LIMIT: too large). Blank lines are skipped; a header without rows is a table
 * of 0 rows. */
TUTTI_CHECKED enum tutti_err tt_csv_table_read(struct tt_csv_table **out, const char *path);
/* As above; messages call the file `name`. */
TUTTI_CHECKED enum tutti_err tt_csv_table_read_named(struct tt_csv_table **out, const char *path, const char *name);
/* As above from memory; `name` is for messages. */
TUTTI_CHECKED enum tutti_err tt_csv_table_parse(struct tt_csv_table **out, const char *name, const char *text,
                                                size_t n);
void tt_csv_table_free(struct tt_csv_table *table);

size_t tt_csv_table_rows(const struct tt_csv_table *table);    /* without the header */
size_t tt_csv_table_columns(const struct tt_csv_table *table); /* without `time` */
const char *tt_csv_table_name(const struct tt_csv_table *table, size_t column);
/* Finds a column by its name; SIZE_MAX if it does not exist. */
size_t tt_csv_table_find(const struct tt_csv_table *table, const char *name);
/* Returns true if ',' can be the decimal point in numbers, because it is not the separator. */
bool tt_csv_table_has_decimal_commas(const struct tt_csv_table *table);
/* Replaces the decimal commas of every number in `text`, between blanks, by decimal points, in place. Words that are
 * not numbers or have several commas stay. */
void tt_csv_table_decimal_point(char *text);
const double *tt_csv_table_times(const struct tt_csv_table *table);
/* NUL-terminated text of a cell; borrowed. */
const char *tt_csv_table_cell(const struct tt_csv_table *table, size_t row, size_t column);
unsigned tt_csv_table_line(const struct tt_csv_table *table, size_t row); /* line in the file, for messages */

#endif
