/* SPDX-License-Identifier: MIT */
/* merged_rows.h - merges the columns and rows of all ranks into one result.
 *
 * Invariants:
 *  1. The file is opened once all ranks have reported their columns, and never if one ends before.
 *  2. Row k is written once all ranks with rows have reported it; until then no rank's row k + 1 is taken.
 *  3. Once a rank has ended, no row is written that it has not reported: the result ends with a row that all have. */
#ifndef TT_RUN_MERGED_ROWS_H
#define TT_RUN_MERGED_ROWS_H

#include "base/bytes.h"
#include "results/output.h"

struct tt_merged_rows;

/* `target` is copied, its pointers are borrowed; ranks report its origin. */
TUTTI_CHECKED enum tutti_err tt_merged_rows_new(struct tt_merged_rows **out, int ranks,
                                                const struct tt_output_target *target);
/* Resumes the file at a mark (tt_merged_rows_mark), borrowed until it is open. */
void tt_merged_rows_resume(struct tt_merged_rows *rows, struct tt_bytes mark);
/* A frame COLUMNS. FORMAT; whatever opening the file fails with. */
TUTTI_CHECKED enum tutti_err tt_merged_rows_receive_columns(struct tt_merged_rows *rows, int rank,
                                                            struct tt_byte_reader *in);
/* Returns true if a row of this rank must wait for other ranks. */
bool tt_merged_rows_must_wait(const struct tt_merged_rows *rows, int rank);
/* A frame ROW of a rank that need not wait; *t is its time. FORMAT; IO. */
TUTTI_CHECKED enum tutti_err tt_merged_rows_receive_row(struct tt_merged_rows *rows, int rank,
                                                        struct tt_byte_reader *in, double *t);
/* Declares that the rank provides no more rows. */
void tt_merged_rows_end_rank(struct tt_merged_rows *rows, int rank);
/* Written so far. */
unsigned long tt_merged_rows_count(const struct tt_merged_rows *rows);
/* At the end of a run that went well, as tt_output_check_finite. */
TUTTI_CHECKED enum tutti_err tt_merged_rows_finish(const struct tt_merged_rows *rows);
TUTTI_CHECKED enum tutti_err tt_merged_rows_flush(struct tt_merged_rows *rows);
/* As of results/output.h; nothing before the file is open. */
TUTTI_CHECKED enum tutti_err tt_merged_rows_mark(struct tt_merged_rows *rows, struct tt_byte_writer *mark);
TUTTI_CHECKED enum tutti_err tt_merged_rows_sync(struct tt_merged_rows *rows);
/* Closes the file and releases everything; NULL is fine. */
TUTTI_CHECKED enum tutti_err tt_merged_rows_close(struct tt_merged_rows *rows);

#endif
