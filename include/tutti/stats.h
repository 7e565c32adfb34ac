/* SPDX-License-Identifier: MIT */
/* stats.h - what a run did: numbers and texts, by their names, as in the file that `tutti run --stats` writes. */
#ifndef TUTTI_STATS_H
#define TUTTI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/err.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_run_stats;

/* Room for what one run will tell. *out is set on success only. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_stats_make(struct tutti_run_stats **out);
/* NULL is fine. */
TUTTI_API void tutti_stats_free(struct tutti_run_stats *stats);

/* ---- by name: "steps", "coupling", "reasons.coupling"; of a unit: "do_steps", "name" ---- */

/* NaN if it is no number, or there is none of this name. */
TUTTI_API double tutti_stats_number(const struct tutti_run_stats *stats, const char *name);
/* NULL if it is no text, is not known, or there is none of this name. The statistics' own. */
TUTTI_API const char *tutti_stats_text(const struct tutti_run_stats *stats, const char *name);

TUTTI_API size_t tutti_stats_unit_count(const struct tutti_run_stats *stats);
/* The same of a unit, from 0 on. */
TUTTI_API double tutti_stats_number_of_unit(const struct tutti_run_stats *stats, size_t unit, const char *name);
TUTTI_API const char *tutti_stats_text_of_unit(const struct tutti_run_stats *stats, size_t unit, const char *name);

/* ---- all of them ---- */

enum tutti_statistic_kind {
    TUTTI_STATISTIC_NUMBER,
    TUTTI_STATISTIC_COUNT,   /* a whole number from 0 on */
    TUTTI_STATISTIC_INTEGER, /* a whole number */
    TUTTI_STATISTIC_FLAG,    /* 0 or 1 */
    TUTTI_STATISTIC_TEXT,
};

struct tutti_statistic {
    const char *name; /* a dot in it: one of a group, "reasons.coupling" */
    const char *help; /* what it is */
    enum tutti_statistic_kind kind;
    double number;
    const char *text; /* of a text; NULL: not known */
};

/* The one with this number, from 0 on; false: there are fewer. Texts live as long as the statistics. */
TUTTI_API bool tutti_stats_get(const struct tutti_run_stats *stats, size_t number, struct tutti_statistic *out);
TUTTI_API bool tutti_stats_get_of_unit(const struct tutti_run_stats *stats, size_t unit, size_t number,
                                       struct tutti_statistic *out);

#ifdef __cplusplus
}
#endif
#endif
