/* SPDX-License-Identifier: MIT */
#include "run/live/viewer.h"

#include <stdlib.h>
#include <string.h>

#include "run/live/sse.h"

enum { MOST_WAITING = 4 << 20 }; /* bytes of events that are no rows */

struct tt_viewer {
    struct tt_feed *feed;
    size_t *picked;
    size_t count;
    double *values; /* of a bar: least, greatest, final */
    struct tt_text out;
    size_t gone;         /* bytes of `out` that were read */
    struct tt_text last; /* the last event */
    bool sees;           /* it has got rows */
    bool over, lost;
};

enum tutti_err tt_live_server_viewer_new(struct tt_viewer **out, const size_t *picked, size_t count)
{
    struct tt_viewer *viewer = calloc(1, sizeof *viewer);
    if (!viewer)
        return tt_fail_memory();
    viewer->count = count;
    viewer->picked = calloc(count + 1, sizeof *picked);
    viewer->values = calloc(count + 1, 3 * sizeof *viewer->values);
    enum tutti_err err = viewer->picked && viewer->values
                             ? tt_feed_new(&viewer->feed, count, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE)
                             : tt_fail_memory();
    if (err) {
        tt_live_server_viewer_free(viewer);
        return err;
    }
    if (count > 0 && viewer->picked)
        memcpy(viewer->picked, picked, count * sizeof *picked);
    *out = viewer;
    return TUTTI_OK;
}

void tt_live_server_viewer_free(struct tt_viewer *viewer)
{
    if (!viewer)
        return;
    tt_feed_free(viewer->feed);
    tt_text_fini(&viewer->out);
    tt_text_fini(&viewer->last);
    free(viewer->picked);
    free(viewer->values);
    free(viewer);
}

static void viewer_copy_columns(const struct tt_viewer *viewer, const double *from, double *to)
{
    for (size_t i = 0; i < viewer->count; i++)
        to[i] = from[viewer->picked[i]];
}

static void viewer_write_rows(const struct tt_viewer *viewer, const struct tt_feed_block *block, struct tt_feed *to)
{
    double *least = viewer->values, *greatest = least + viewer->count, *final = greatest + viewer->count;
    for (size_t b = 0; b < block->count; b++) {
        struct tt_bar bar = block->bars[b];
        viewer_copy_columns(viewer, bar.least, least);
        viewer_copy_columns(viewer, bar.greatest, greatest);
        viewer_copy_columns(viewer, bar.final, final);
        bar.least = least;
        bar.greatest = greatest;
        bar.final = final;
        tt_feed_add_bar(to, &bar);
    }
}

void tt_live_server_viewer_add_rows(struct tt_viewer *viewer, const struct tt_feed_block *block)
{
    if (!viewer->sees)
        tt_feed_start_at(viewer->feed, block->first_row);
    viewer->sees = true;
    viewer_write_rows(viewer, block, viewer->feed);
}

void tt_live_server_viewer_add_past(struct tt_viewer *viewer, const struct tt_feed_block *block)
{
    struct tt_feed *picked = NULL;
    const size_t bars = block->count + block->count % 2;
    if (tt_feed_new(&picked, viewer->count, bars, bars) != TUTTI_OK) {
        viewer->lost = true;
        return;
    }
    viewer_write_rows(viewer, block, picked);
    tt_sse_add_rows(&viewer->out, tt_feed_peek_block(picked), viewer->count);
    tt_feed_free(picked);
}

/* What was read makes room. */
static void compact_viewer_text(struct tt_viewer *viewer)
{
    struct tt_text *out = &viewer->out;
    if (viewer->gone == 0)
        return;
    memmove(out->text, out->text + viewer->gone, out->length - viewer->gone);
    out->length -= viewer->gone;
    viewer->gone = 0;
}

void tt_live_server_viewer_add_event(struct tt_viewer *viewer, const char *text, size_t length)
{
    compact_viewer_text(viewer);
    viewer->lost = viewer->lost || viewer->out.length + length > MOST_WAITING;
    if (!viewer->lost)
        tt_text_append_n(&viewer->out, text, length);
}

void tt_live_server_viewer_end(struct tt_viewer *viewer, const char *text, size_t length)
{
    if (!viewer->over)
        tt_text_append_n(&viewer->last, text, length);
    viewer->over = true;
}

/* Rows come into the text when all before them has gone. */
static void viewer_refill(struct tt_viewer *viewer)
{
    const struct tt_feed_block *block = tt_feed_next_block(viewer->feed);
    viewer->gone = viewer->out.length = 0;
    if (block)
        tt_sse_add_rows(&viewer->out, block, viewer->count);
    else if (viewer->last.length > 0) {
        tt_text_append_n(&viewer->out, viewer->last.text, viewer->last.length);
        viewer->last.length = 0;
    }
}

ptrdiff_t tt_live_server_viewer_read(struct tt_viewer *viewer, char *bytes, size_t size)
{
    struct tt_text *out = &viewer->out;
    if (viewer->gone == out->length)
        viewer_refill(viewer);
    if (viewer->lost || out->failed)
        return -1;
    size_t left = out->length - viewer->gone, count = left < size ? left : size;
    if (count == 0)
        return viewer->over ? -1 : 0;
    memcpy(bytes, out->text + viewer->gone, count);
    viewer->gone += count;
    return (ptrdiff_t)count;
}
