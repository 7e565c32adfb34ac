/* SPDX-License-Identifier: MIT */
#include "run/live/feed.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum {
    FRESH = 16, /* rows that wait to be joined: few, so that they stay in the processor's first cache */
    FOUR = 4
};

/* Invariants:
 *  F1. Row n is in slot n % FRESH of `fresh` from when `put` is greater than n until `joined` is. The producer is
 *      the only thread that writes slots and `put`, and it writes no slot whose row is not joined. The slot of the
 *      next row is free between two calls.
 *  F2. All other data is changed with the mutex. The consumer joins fresh rows itself: no row waits for the next
 *      one. */
struct tt_feed {
    pthread_mutex_t mutex;
    double *fresh;         /* rows: a time and its values */
    struct tt_bar scratch; /* of several of them */
    _Atomic uint64_t put;  /* rows in all */
    uint64_t full;         /* no slot is known to be free when `put` is this; of the thread that puts rows in */
    uint64_t joined;       /* rows in all */
    struct tt_feed_block blocks[2];
    struct tt_feed_block *filled, *taken;
    size_t columns;
    size_t most, coarse;      /* bars of a block, at most: while each is a row; of several */
    uint64_t in_bar, per_bar; /* rows: of the last bar of `filled`; that fit into each */
    struct tt_bar *bars;      /* of both */
    double *values;           /* of all bars */
};

enum tutti_err tt_feed_new(struct tt_feed **out, size_t columns, size_t bars, size_t coarse)
{
    struct tt_feed *feed = calloc(1, sizeof *feed);
    double *values = calloc(columns + 1, (3 * (2 * bars + 1) + FRESH) * sizeof *values);
    struct tt_bar *all = calloc(2 * bars, sizeof *all);
    if (!feed || !values || !all) {
        free(feed);
        free(values);
        free(all);
        return tt_fail_memory();
    }
    *feed = (struct tt_feed){
        .columns = columns, .most = bars, .coarse = coarse, .bars = all, .values = values, .per_bar = 1};
    pthread_mutex_init(&feed->mutex, NULL);
    for (size_t b = 0; b < 2 * bars; b++, values += 3 * columns)
        all[b] = (struct tt_bar){.least = values, .greatest = values + columns, .final = values + 2 * columns};
    feed->scratch = (struct tt_bar){.least = values, .greatest = values + columns};
    feed->fresh = values + 2 * columns;
    feed->full = FRESH;
    feed->blocks[0].bars = all;
    feed->blocks[1].bars = all + bars;
    feed->filled = &feed->blocks[0];
    feed->taken = &feed->blocks[1];
    *out = feed;
    return TUTTI_OK;
}

void tt_feed_start_at(struct tt_feed *feed, uint64_t row)
{
    feed->filled->first_row = row;
}

void tt_feed_free(struct tt_feed *feed)
{
    if (!feed)
        return;
    pthread_mutex_destroy(&feed->mutex);
    free(feed->values);
    free(feed->bars);
    free(feed);
}

static void feed_copy_bar(struct tt_bar *to, const struct tt_bar *from, size_t columns)
{
    to->first = from->first;
    to->last = from->last;
    to->rows = from->rows;
    memcpy(to->least, from->least, columns * sizeof(double));
    memcpy(to->greatest, from->greatest, columns * sizeof(double));
    memcpy(to->final, from->final, columns * sizeof(double));
}

/* As fmin and fmax, which leave NaN out, but without a call or a jump. */
static inline double lesser(double a, double b)
{
    return ((b < a) | (a != a)) ? b : a;
}

static inline double greater(double a, double b)
{
    return ((b > a) | (a != a)) ? b : a;
}

/* `next` follows `bar`. */
static void feed_merge_bar(struct tt_bar *bar, const struct tt_bar *next, size_t columns)
{
    double *restrict least = bar->least, *restrict greatest = bar->greatest;
    const double *low = next->least, *high = next->greatest;
    bar->last = next->last;
    bar->rows += next->rows;
    for (size_t c = 0; c < columns; c++) {
        least[c] = lesser(least[c], low[c]);
        greatest[c] = greater(greatest[c], high[c]);
    }
    memcpy(bar->final, next->final, columns * sizeof(double));
}

/* So many bars of the size that they have fit into a block. */
static size_t feed_bar_limit(const struct tt_feed *feed)
{
    return feed->per_bar == 1 ? feed->most : feed->coarse;
}

/* Several bars become one, so that half of those that may be are left. */
static void halve_bars(struct tt_feed *feed)
{
    struct tt_bar *bars = feed->filled->bars;
    const size_t left = feed->coarse > 1 ? feed->coarse / 2 : 1, several = feed_bar_limit(feed) / left;
    for (size_t b = 0; b < left; b++) {
        if (b > 0)
            feed_copy_bar(&bars[b], &bars[several * b], feed->columns);
        for (size_t i = 1; i < several; i++)
            feed_merge_bar(&bars[b], &bars[several * b + i], feed->columns);
    }
    feed->filled->count = left;
    feed->per_bar *= several;
}

static void append_bar(struct tt_feed *feed, const struct tt_bar *bar)
{
    struct tt_feed_block *block = feed->filled;
    if (block->count == 0 || feed->in_bar + bar->rows > feed->per_bar) {
        if (block->count == feed_bar_limit(feed))
            halve_bars(feed);
        feed_copy_bar(&block->bars[block->count++], bar, feed->columns);
        feed->in_bar = bar->rows;
    } else {
        feed_merge_bar(&block->bars[block->count - 1], bar, feed->columns);
        feed->in_bar += bar->rows;
    }
    block->rows += bar->rows;
}

/* ---- rows ---- */

static double *row_slot(const struct tt_feed *feed, uint64_t row)
{
    return feed->fresh + (size_t)(row % FRESH) * (feed->columns + 1);
}

static inline double feed_least_of(double a, double b)
{
    return a < b ? a : b;
}

static inline double greatest_of(double a, double b)
{
    return a > b ? a : b;
}

/* The extremes of FOUR rows, `stride` apart, and of those that are there already. A comparison with NaN is false, and gives the second value: a NaN of
 * a row leaves things as they are. In this form compilers make two instructions (minpd, maxpd) of two values. */
static void widen_by_four(double *restrict least, double *restrict greatest, const double *rows, size_t stride,
                          size_t columns)
{
    const double *a = rows, *b = a + stride, *c = b + stride, *d = c + stride;
    for (size_t i = 0; i < columns; i++) {
        least[i] = feed_least_of(d[i], feed_least_of(c[i], feed_least_of(b[i], feed_least_of(a[i], least[i]))));
        greatest[i] = greatest_of(d[i], greatest_of(c[i], greatest_of(b[i], greatest_of(a[i], greatest[i]))));
    }
}

static void feed_widen(double *restrict least, double *restrict greatest, const double *row, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        least[i] = feed_least_of(row[i], least[i]);
        greatest[i] = greatest_of(row[i], greatest[i]);
    }
}

/* Marks columns that had only NaN. */
static void mark_empty_columns(double *restrict least, double *restrict greatest, size_t columns)
{
    for (size_t i = 0; i < columns; i++) {
        const bool none = least[i] > greatest[i];
        least[i] = none ? NAN : least[i];
        greatest[i] = none ? NAN : greatest[i];
    }
}

/* `count` rows that follow one another in `fresh`, as one bar. */
static void feed_add_rows(struct tt_feed *feed, const double *first, size_t count)
{
    const size_t columns = feed->columns, stride = columns + 1;
    const double *last = first + (count - 1) * stride;
    struct tt_bar *bar = &feed->scratch;
    for (size_t i = 0; i < columns; i++) {
        bar->least[i] = INFINITY;
        bar->greatest[i] = -INFINITY;
    }
    size_t row = 0;
    for (; row + FOUR <= count; row += FOUR)
        widen_by_four(bar->least, bar->greatest, first + row * stride + 1, stride, columns);
    for (; row < count; row++)
        feed_widen(bar->least, bar->greatest, first + row * stride + 1, columns);
    mark_empty_columns(bar->least, bar->greatest, columns);
    bar->first = first[0];
    bar->last = last[0];
    bar->rows = count;
    bar->final = (double *)last + 1; /* which is only read */
    append_bar(feed, bar);
}

/* All that is fresh goes into bars. */
static void feed_flush(struct tt_feed *feed)
{
    const uint64_t end = atomic_load_explicit(&feed->put, memory_order_acquire);
    while (feed->joined < end) {
        uint64_t count = end - feed->joined, straight = FRESH - feed->joined % FRESH;
        uint64_t room = feed->filled->count > 0 && feed->in_bar < feed->per_bar ? feed->per_bar - feed->in_bar
                                                                                : feed->per_bar;
        count = count < straight ? count : straight;
        count = count < room ? count : room;
        feed_add_rows(feed, row_slot(feed, feed->joined), (size_t)count);
        feed->joined += count;
    }
}

double *tt_feed_add(struct tt_feed *feed, double t, const double *values)
{
    const uint64_t row = atomic_load_explicit(&feed->put, memory_order_relaxed), next = row + 1;
    double *place = row_slot(feed, row);
    place[0] = t;
    if (values != place + 1)
        memcpy(place + 1, values, feed->columns * sizeof *values);
    atomic_store_explicit(&feed->put, next, memory_order_release);
    if (next == feed->full) {
        pthread_mutex_lock(&feed->mutex);
        feed_flush(feed);
        pthread_mutex_unlock(&feed->mutex);
        feed->full = next + FRESH;
    }
    return row_slot(feed, next) + 1;
}

double *tt_feed_first_row(struct tt_feed *feed)
{
    return row_slot(feed, atomic_load_explicit(&feed->put, memory_order_relaxed)) + 1;
}

void tt_feed_add_bar(struct tt_feed *feed, const struct tt_bar *bar)
{
    pthread_mutex_lock(&feed->mutex);
    feed_flush(feed);
    append_bar(feed, bar);
    pthread_mutex_unlock(&feed->mutex);
}

const struct tt_feed_block *tt_feed_next_block(struct tt_feed *feed)
{
    pthread_mutex_lock(&feed->mutex);
    feed_flush(feed);
    struct tt_feed_block *block = feed->filled, *next = feed->taken;
    bool any = block->rows > 0;
    if (any) {
        next->first_row = block->first_row + block->rows;
        next->rows = 0;
        next->count = 0;
        if (block->rows <= feed->most)
            feed->per_bar = 1;
        else if (feed->per_bar > 1 && block->count <= feed->coarse / 2)
            feed->per_bar /= 2;
        feed->filled = next;
        feed->taken = block;
    }
    pthread_mutex_unlock(&feed->mutex);
    return any ? block : NULL;
}

const struct tt_feed_block *tt_feed_peek_block(struct tt_feed *feed)
{
    pthread_mutex_lock(&feed->mutex);
    feed_flush(feed);
    pthread_mutex_unlock(&feed->mutex);
    return feed->filled->rows > 0 ? feed->filled : NULL;
}
