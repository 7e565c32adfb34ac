/* SPDX-License-Identifier: MIT */
#include "live/feed.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tutti_feed {
    pthread_mutex_t mutex;
    struct tutti_feed_block blocks[2];
    struct tutti_feed_block *filled, *taken;
    size_t columns, most;     /* bars of a block */
    uint64_t in_bar, per_bar; /* rows: of the last bar of `filled`; that fit into each */
    struct tutti_bar *bars;   /* of both */
    double *values;           /* of all bars */
};

enum tutti_err tutti_feed_new(struct tutti_feed **out, size_t columns, size_t bars)
{
    struct tutti_feed *feed = calloc(1, sizeof *feed);
    double *values = calloc(columns + 1, 2 * 3 * bars * sizeof *values);
    struct tutti_bar *all = calloc(2 * bars, sizeof *all);
    if (!feed || !values || !all) {
        free(feed);
        free(values);
        free(all);
        return tutti_fail_memory();
    }
    *feed = (struct tutti_feed){.columns = columns, .most = bars, .bars = all, .values = values, .per_bar = 1};
    pthread_mutex_init(&feed->mutex, NULL);
    for (size_t b = 0; b < 2 * bars; b++, values += 3 * columns)
        all[b] = (struct tutti_bar){.least = values, .greatest = values + columns, .final = values + 2 * columns};
    feed->blocks[0].bars = all;
    feed->blocks[1].bars = all + bars;
    feed->filled = &feed->blocks[0];
    feed->taken = &feed->blocks[1];
    *out = feed;
    return TUTTI_OK;
}

void tutti_feed_begin_at(struct tutti_feed *feed, uint64_t row)
{
    feed->filled->first_row = row;
}

void tutti_feed_free(struct tutti_feed *feed)
{
    if (!feed)
        return;
    pthread_mutex_destroy(&feed->mutex);
    free(feed->values);
    free(feed->bars);
    free(feed);
}

static void copy(struct tutti_bar *to, const struct tutti_bar *from, size_t columns)
{
    to->first = from->first;
    to->last = from->last;
    to->rows = from->rows;
    memcpy(to->least, from->least, columns * sizeof(double));
    memcpy(to->greatest, from->greatest, columns * sizeof(double));
    memcpy(to->final, from->final, columns * sizeof(double));
}

/* As fmin and fmax, which leave NaN out, but without a call: these are made for every value of every row. */
static double lesser(double a, double b)
{
    return b < a || isnan(a) ? b : a;
}

static double greater(double a, double b)
{
    return b > a || isnan(a) ? b : a;
}

/* `next` follows `bar`. */
static void join(struct tutti_bar *bar, const struct tutti_bar *next, size_t columns)
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

/* Two bars become one. */
static void halve(struct tutti_feed *feed)
{
    struct tutti_bar *bars = feed->filled->bars;
    for (size_t b = 0; b < feed->most / 2; b++) {
        if (b > 0)
            copy(&bars[b], &bars[2 * b], feed->columns);
        join(&bars[b], &bars[2 * b + 1], feed->columns);
    }
    feed->filled->count = feed->most / 2;
    feed->per_bar *= 2;
}

void tutti_feed_put_bar(struct tutti_feed *feed, const struct tutti_bar *bar)
{
    pthread_mutex_lock(&feed->mutex);
    struct tutti_feed_block *block = feed->filled;
    if (block->count == 0 || feed->in_bar + bar->rows > feed->per_bar) {
        if (block->count == feed->most)
            halve(feed);
        copy(&block->bars[block->count++], bar, feed->columns);
        feed->in_bar = bar->rows;
    } else {
        join(&block->bars[block->count - 1], bar, feed->columns);
        feed->in_bar += bar->rows;
    }
    block->rows += bar->rows;
    pthread_mutex_unlock(&feed->mutex);
}

void tutti_feed_put(struct tutti_feed *feed, double t, const double *values)
{
    double *same = (double *)values; /* which is only read */
    tutti_feed_put_bar(feed, &(struct tutti_bar){t, t, 1, same, same, same});
}

const struct tutti_feed_block *tutti_feed_take(struct tutti_feed *feed)
{
    pthread_mutex_lock(&feed->mutex);
    struct tutti_feed_block *block = feed->filled, *next = feed->taken;
    bool any = block->rows > 0;
    if (any) {
        next->first_row = block->first_row + block->rows;
        next->rows = 0;
        next->count = 0;
        feed->per_bar = 1;
        feed->filled = next;
        feed->taken = block;
    }
    pthread_mutex_unlock(&feed->mutex);
    return any ? block : NULL;
}

const struct tutti_feed_block *tutti_feed_look(const struct tutti_feed *feed)
{
    return feed->filled->rows > 0 ? feed->filled : NULL;
}
