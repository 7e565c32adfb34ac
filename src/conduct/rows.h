/* SPDX-License-Identifier: MIT */
/* rows.h - the columns and rows of all ranks become one result.
 *
 * Invariants:
 *  1. The file is opened once all ranks have told their columns, and never if one comes to its end before.
 *  2. Row k is written once all ranks that bring rows have brought theirs; until then no rank's row k + 1 is taken.
 *  3. Once a rank has come to its end, no row is written that it has not brought: the result ends with a row that all have. */
#ifndef TUTTI_CONDUCT_ROWS_H
#define TUTTI_CONDUCT_ROWS_H

#include "base/parcel.h"
#include "record/output.h"

struct tutti_rows;

/* `target` is copied, what it names is borrowed; its origin is what ranks tell. */
TUTTI_CHECKED enum tutti_err tutti_rows_new(struct tutti_rows **out, int ranks,
                                            const struct tutti_output_target *target);
/* The file goes on from a mark (tutti_rows_mark), borrowed until it is open. */
void tutti_rows_resume(struct tutti_rows *rows, struct tutti_bytes mark);
/* A frame COLUMNS. FORMAT; whatever opening the file fails with. */
TUTTI_CHECKED enum tutti_err tutti_rows_take_columns(struct tutti_rows *rows, int rank, struct tutti_unparcel *in);
/* Has a row of this rank to wait for others? */
bool tutti_rows_must_wait(const struct tutti_rows *rows, int rank);
/* A frame ROW of a rank that need not wait; *t is its time. FORMAT; IO. */
TUTTI_CHECKED enum tutti_err tutti_rows_take_row(struct tutti_rows *rows, int rank, struct tutti_unparcel *in,
                                                 double *t);
/* The rank brings no more. */
void tutti_rows_end(struct tutti_rows *rows, int rank);
/* Written so far. */
unsigned long tutti_rows_count(const struct tutti_rows *rows);
/* At the end of a run that went well, as tutti_output_conclude. */
TUTTI_CHECKED enum tutti_err tutti_rows_conclude(const struct tutti_rows *rows);
TUTTI_CHECKED enum tutti_err tutti_rows_flush(struct tutti_rows *rows);
/* As of record/output.h; nothing before the file is open. */
TUTTI_CHECKED enum tutti_err tutti_rows_mark(struct tutti_rows *rows, struct tutti_parcel *mark);
TUTTI_CHECKED enum tutti_err tutti_rows_sync(struct tutti_rows *rows);
/* Closes the file and releases everything; NULL is fine. */
TUTTI_CHECKED enum tutti_err tutti_rows_close(struct tutti_rows *rows);

#endif
