/* SPDX-License-Identifier: MIT */
#include "live/viewer.h"

#include <stdlib.h>
#include <string.h>

#include "live/news.h"

enum { MOST_WAITING = 4 << 20 }; /* bytes of events that are no rows */

struct tutti_viewer {
    struct tutti_feed *feed;
    size_t *picked;
    size_t count;
    double *values; /* of a bar: least, greatest, final */
    struct tutti_text out;
    size_t gone;            /* bytes of `out` that were read */
    struct tutti_text last; /* the last event */
    bool sees;              /* it has got rows */
    bool over, lost;
};

enum tutti_err tutti_viewer_new(struct tutti_viewer **out, const size_t *picked, size_t count)
{
    struct tutti_viewer *viewer = calloc(1, sizeof *viewer);
    if (!viewer)
        return tutti_fail_memory();
    viewer->count = count;
    viewer->picked = calloc(count + 1, sizeof *picked);
    viewer->values = calloc(count + 1, 3 * sizeof *viewer->values);
    enum tutti_err err = viewer->picked && viewer->values
                             ? tutti_feed_new(&viewer->feed, count, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE)
                             : tutti_fail_memory();
    if (err) {
        tutti_viewer_free(viewer);
        return err;
    }
    if (count > 0 && viewer->picked)
        memcpy(viewer->picked, picked, count * sizeof *picked);
    *out = viewer;
    return TUTTI_OK;
}

void tutti_viewer_free(struct tutti_viewer *viewer)
{
    if (!viewer)
        return;
    tutti_feed_free(viewer->feed);
    tutti_text_fini(&viewer->out);
    tutti_text_fini(&viewer->last);
    free(viewer->picked);
    free(viewer->values);
    free(viewer);
}

static void pick(const struct tutti_viewer *viewer, const double *from, double *to)
{
    for (size_t i = 0; i < viewer->count; i++)
        to[i] = from[viewer->picked[i]];
}

static void put(const struct tutti_viewer *viewer, const struct tutti_feed_block *block, struct tutti_feed *to)
{
    double *least = viewer->values, *greatest = least + viewer->count, *final = greatest + viewer->count;
    for (size_t b = 0; b < block->count; b++) {
        struct tutti_bar bar = block->bars[b];
        pick(viewer, bar.least, least);
        pick(viewer, bar.greatest, greatest);
        pick(viewer, bar.final, final);
        bar.least = least;
        bar.greatest = greatest;
        bar.final = final;
        tutti_feed_put_bar(to, &bar);
    }
}

void tutti_viewer_show(struct tutti_viewer *viewer, const struct tutti_feed_block *block)
{
    if (!viewer->sees)
        tutti_feed_begin_at(viewer->feed, block->first_row);
    viewer->sees = true;
    put(viewer, block, viewer->feed);
}

void tutti_viewer_show_past(struct tutti_viewer *viewer, const struct tutti_feed_block *block)
{
    struct tutti_feed *picked = NULL;
    const size_t bars = block->count + block->count % 2;
    if (tutti_feed_new(&picked, viewer->count, bars, bars) != TUTTI_OK) {
        viewer->lost = true;
        return;
    }
    put(viewer, block, picked);
    tutti_news_add_rows(&viewer->out, tutti_feed_look(picked), viewer->count);
    tutti_feed_free(picked);
}

/* What was read makes room. */
static void tidy(struct tutti_viewer *viewer)
{
    struct tutti_text *out = &viewer->out;
    if (viewer->gone == 0)
        return;
    memmove(out->text, out->text + viewer->gone, out->length - viewer->gone);
    out->length -= viewer->gone;
    viewer->gone = 0;
}

void tutti_viewer_tell(struct tutti_viewer *viewer, const char *text, size_t length)
{
    tidy(viewer);
    viewer->lost = viewer->lost || viewer->out.length + length > MOST_WAITING;
    if (!viewer->lost)
        tutti_text_append_n(&viewer->out, text, length);
}

void tutti_viewer_end(struct tutti_viewer *viewer, const char *text, size_t length)
{
    if (!viewer->over)
        tutti_text_append_n(&viewer->last, text, length);
    viewer->over = true;
}

/* Rows come into the text when all before them has gone. */
static void refill(struct tutti_viewer *viewer)
{
    const struct tutti_feed_block *block = tutti_feed_take(viewer->feed);
    viewer->gone = viewer->out.length = 0;
    if (block)
        tutti_news_add_rows(&viewer->out, block, viewer->count);
    else if (viewer->last.length > 0) {
        tutti_text_append_n(&viewer->out, viewer->last.text, viewer->last.length);
        viewer->last.length = 0;
    }
}

ptrdiff_t tutti_viewer_read(struct tutti_viewer *viewer, char *bytes, size_t size)
{
    struct tutti_text *out = &viewer->out;
    if (viewer->gone == out->length)
        refill(viewer);
    if (viewer->lost || out->failed)
        return -1;
    size_t left = out->length - viewer->gone, count = left < size ? left : size;
    if (count == 0)
        return viewer->over ? -1 : 0;
    memcpy(bytes, out->text + viewer->gone, count);
    viewer->gone += count;
    return (ptrdiff_t)count;
}
