/* SPDX-License-Identifier: MIT */
/* stats.h - statistics of a run: numbers and texts by name, as in the file that `tutti run --stats` writes. */
#ifndef TUTTI_STATS_H
#define TUTTI_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/err.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_run_stats;

/* Creates room for the statistics of one run. *out is set on success only. MEMORY. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_stats_make(struct tutti_run_stats **out);
/* NULL is allowed. */
TUTTI_API void tutti_stats_free(struct tutti_run_stats *stats);

/* ---- by name: "steps", "coupling", "reasons.coupling"; of a component: "do_steps", "name" ---- */

/* Returns a number; NaN if the statistic is not a number or does not exist. */
TUTTI_API double tutti_stats_number(const struct tutti_run_stats *stats, const char *name);
/* Returns a text; NULL if the statistic is not a text, is unknown, or does not exist. The text belongs to the
 * statistics. */
TUTTI_API const char *tutti_stats_text(const struct tutti_run_stats *stats, const char *name);

TUTTI_API size_t tutti_stats_unit_count(const struct tutti_run_stats *stats);
/* These two return a statistic of the component `unit`, counted from 0. */
TUTTI_API double tutti_stats_number_of_unit(const struct tutti_run_stats *stats, size_t unit, const char *name);
TUTTI_API const char *tutti_stats_text_of_unit(const struct tutti_run_stats *stats, size_t unit, const char *name);

/* ---- all of them ---- */

enum tutti_statistic_kind {
    TUTTI_STATISTIC_NUMBER,
    TUTTI_STATISTIC_COUNT,   /* an integer of at least 0 */
    TUTTI_STATISTIC_INTEGER, /* an integer */
    TUTTI_STATISTIC_FLAG,    /* 0 or 1 */
    TUTTI_STATISTIC_TEXT,
};

struct tutti_statistic {
    const char *name; /* with a dot for a member of a group, "reasons.coupling" */
    const char *help; /* description */
    enum tutti_statistic_kind kind;
    double number;
    const char *text; /* value of a text; NULL: unknown */
};

/* Returns the statistic `number`, counted from 0; false if there are fewer. Texts are valid as long as the statistics. */
TUTTI_API bool tutti_stats_get(const struct tutti_run_stats *stats, size_t number, struct tutti_statistic *out);
TUTTI_API bool tutti_stats_get_of_unit(const struct tutti_run_stats *stats, size_t unit, size_t number,
                                       struct tutti_statistic *out);

#ifdef __cplusplus
}
#endif
#endif
