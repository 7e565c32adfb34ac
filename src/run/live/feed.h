/* SPDX-License-Identifier: MIT */
/* feed.h - the rows of a run on their way to viewers.
 *
 * One thread puts rows in, a second one takes them out in blocks, some ten times a second. A block has bars: each
 * stands for one row, or for several consecutive rows, of which it has the least, the greatest and the last value of
 * every column. A block that is full before it is taken continues with fewer bars, each of several rows, and the next
 * block begins with such bars unless it could have had all rows. So the cost per row and the total memory are
 * independent of the speed of a run and of its viewers, and no peak is lost. Bars can be put in as well, so that feeds
 * can be chained: from the run to its server, from there to each viewer. A feed that is never read contains the whole
 * past of a run.
 *
 * Invariants:
 *  1. All rows put in since the last block are in the next one, in their order.
 *  2. NaN is neither least nor greatest, unless all values are NaN. */
#ifndef TT_RUN_LIVE_FEED_H
#define TT_RUN_LIVE_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* The maximum of bars in a viewer's block: while each is a row; and with more rows. The latter are some 2,000 a second,
 * as many as a screen has pixels, and so few that both blocks stay in the processor's second cache beside what the run
 * works with. */
enum { TUTTI_FEED_ROWS = 256, TUTTI_FEED_COARSE = 64 };

/* Values of all columns. */
struct tt_bar {
    double first, last; /* times of its first and its last row */
    uint64_t rows;
    double *least, *greatest, *final;
};

struct tt_feed_block {
    uint64_t first_row; /* the number of its first row, from 0 on */
    uint64_t rows;
    size_t count;
    struct tt_bar *bars;
};

struct tt_feed;

/* With blocks of at most `bars`, and of at most `coarse` if they are of several rows: an even number, and `bars` is a multiple of it. MEMORY. */
TUTTI_CHECKED enum tutti_err tt_feed_new(struct tt_feed **out, size_t columns, size_t bars, size_t coarse);
/* The next row that is put in has this number; nothing waits to be taken. */
void tt_feed_start_at(struct tt_feed *feed, uint64_t row);
void tt_feed_free(struct tt_feed *feed); /* NULL is fine */

/* Any thread, one at a time. A row is seen by the next block from then on; rows are joined some at a time, by either thread. Returns where the
 * values of the next row may be written by then: they are copied from anywhere else. */
double *tt_feed_add(struct tt_feed *feed, double t, const double *values);
/* The same, of the first row. */
double *tt_feed_first_row(struct tt_feed *feed);
void tt_feed_add_bar(struct tt_feed *feed, const struct tt_bar *bar);
/* Returns all data since the last block; NULL if there is none. Valid until the next call. One consumer at a time. */
const struct tt_feed_block *tt_feed_next_block(struct tt_feed *feed);
/* As above, without taking it. Valid until something is put in. */
const struct tt_feed_block *tt_feed_peek_block(struct tt_feed *feed);

#endif
