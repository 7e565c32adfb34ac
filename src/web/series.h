/* SPDX-License-Identifier: MIT */
/* series.h - curves of results for pictures: the least and the greatest value of pieces, so that no peak is lost however many rows there are.
 *
 * What was read stays, with the least and the greatest values of blocks of rows: a piece of a million rows is told by a few thousand numbers. What was not
 * asked for longest goes first. All threads may ask. */
#ifndef TUTTI_WEB_SERIES_H
#define TUTTI_WEB_SERIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

struct tutti_web_series;

TUTTI_CHECKED enum tutti_err tutti_web_series_new(struct tutti_web_series **out);
void tutti_web_series_free(struct tutti_web_series *series); /* NULL is fine */

struct tutti_web_series_query {
    const char *file;    /* a result */
    const char *columns; /* patterns with ';' between; NULL: all, as far as they are not too many */
    double from, to;     /* NaN: all */
    size_t points;       /* pieces, at most */
};

/* Appends {"columns": ..., "from", "to", "rows", "times", "least", "greatest", "values"}. Errors as of tutti_result_open. */
TUTTI_CHECKED enum tutti_err tutti_web_series_tell(struct tutti_web_series *series,
                                                   const struct tutti_web_series_query *query, struct tutti_text *out);

/* Does a name fit one of the patterns, with ';' between? All fit NULL. */
bool tutti_web_series_fits(const char *patterns, const char *name);

#endif
