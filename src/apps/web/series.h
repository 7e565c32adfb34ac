/* SPDX-License-Identifier: MIT */
/* series.h - curves of results for pictures, and their values at a time.
 *
 * A curve becomes a line that draws the same pixels as all of its rows (apps/plot/line.h). Rows stay in memory until
 * the space is needed; the least recently used go first. Thread-safe. */
#ifndef TT_APPS_WEB_SERIES_H
#define TT_APPS_WEB_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/fail.h"
#include "base/text.h"

struct tt_series;

TUTTI_CHECKED enum tutti_err tt_series_new(struct tt_series **out);
void tt_series_free(struct tt_series *series); /* NULL is fine */

struct tt_series_query {
    const char *file;    /* a result */
    const char *minus;   /* a result that is subtracted from it, row by row, before anything is left out; NULL: none */
    bool grows;          /* the run of `file` is active: rows that were read a moment ago are recent enough */
    bool minus_grows;    /* so does that of `minus` */
    const char *columns; /* patterns with ';' between; NULL: all, as far as they are not too many */
    const char *over;    /* the variable of the x axis; NULL: time */
    double from, to;     /* NaN: all */
    size_t points;       /* columns of pixels */
    bool log;            /* values that are not positive are gaps */
};

/* Appends {"columns": ..., "from", "to", "rows", "last", "lines"}: the start and end times, the final values as lists
 * of one, and a line for each column, {"x": [...], "y": [...]}, with null where it is interrupted. Errors as of
 * tutti_result_open. */
TUTTI_CHECKED enum tutti_err tt_series_write(struct tt_series *series, const struct tt_series_query *query,
                                             struct tt_text *out);

/* Appends {"columns": ..., "values"}: a list for each column, of the values at these times: of the last row up to the
 * time if the value is held, otherwise interpolated between two rows, of rows at equal times the last; null outside the
 * range. Uses `file`, `minus` and `columns` of the query. */
TUTTI_CHECKED enum tutti_err tt_series_values(struct tt_series *series, const struct tt_series_query *query,
                                              const double *times, size_t count, struct tt_text *out);

/* Returns true if a name matches one of the patterns, separated by ';'. NULL matches all. */
bool tt_series_fits(const char *patterns, const char *name);

#endif
