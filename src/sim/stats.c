/* SPDX-License-Identifier: MIT */
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct tt_stat tt_stats_of_run[] = {
#define RUN_STAT(kind_, field, name_, ranks_, help_)                                                                   \
    {.name = name_,                                                                                                    \
     .help = help_,                                                                                                    \
     .kind = TUTTI_STATISTIC_##kind_,                                                                                  \
     .ranks = TUTTI_STAT_##ranks_,                                                                                     \
     .offset = offsetof(struct tutti_run_stats, field)},
#define UNIT_STAT(kind_, field, name_, help_)
#include "sim/stats.def"
#undef RUN_STAT
#undef UNIT_STAT
    {.name = NULL},
};

const struct tt_stat tt_stats_of_unit[] = {
#define RUN_STAT(kind_, field, name_, ranks_, help_)
#define UNIT_STAT(kind_, field, name_, help_)                                                                          \
    {.name = name_, .help = help_, .kind = TUTTI_STATISTIC_##kind_, .offset = offsetof(struct tt_unit_stats, field)},
#include "sim/stats.def"
#undef RUN_STAT
#undef UNIT_STAT
    {.name = NULL},
};

/* ---- release ---- */

static void stats_release_texts(void *stats, const struct tt_stat *table)
{
    for (; table->name; table++)
        if (table->kind == TUTTI_STATISTIC_TEXT)
            free(*(char **)(void *)((char *)stats + table->offset));
}

void tt_stats_fini(struct tutti_run_stats *stats)
{
    for (size_t i = 0; stats->units && i < stats->unit_count; i++)
        stats_release_texts(&stats->units[i], tt_stats_of_unit);
    free(stats->units);
    stats_release_texts(stats, tt_stats_of_run);
    *stats = (struct tutti_run_stats){0};
}

void tt_stats_detach_texts(struct tutti_run_stats *stats)
{
    for (const struct tt_stat *stat = tt_stats_of_run; stat->name; stat++)
        if (stat->kind == TUTTI_STATISTIC_TEXT)
            *(char **)(void *)((char *)stats + stat->offset) = NULL;
}

/* ---- several ranks ---- */

void tt_stats_start_sum(struct tutti_run_stats *sum)
{
    for (const struct tt_stat *stat = tt_stats_of_run; stat->name; stat++)
        if (stat->ranks == TUTTI_STAT_SUM)
            *(unsigned long *)(void *)((char *)sum + stat->offset) = 0;
}

static void combine_numbers(double *sum, double of_rank, enum tt_stat_reduction how)
{
    *sum = how == TUTTI_STAT_LEAST ? fmin(*sum, of_rank) : fmax(*sum, of_rank);
}

static void combine_counts(unsigned long *sum, unsigned long of_rank, enum tt_stat_reduction how)
{
    bool takes = how == TUTTI_STAT_LEAST ? of_rank < *sum : of_rank > *sum;
    if (how == TUTTI_STAT_SUM)
        *sum += of_rank;
    else if (takes)
        *sum = of_rank;
}

void tt_stats_combine(struct tutti_run_stats *sum, const struct tutti_run_stats *of_rank)
{
    for (const struct tt_stat *stat = tt_stats_of_run; stat->name; stat++) {
        void *into = (char *)sum + stat->offset;
        const void *from = (const char *)of_rank + stat->offset;
        if (stat->ranks == TUTTI_STAT_SAME)
            continue;
        if (stat->kind == TUTTI_STATISTIC_NUMBER)
            combine_numbers(into, *(const double *)from, stat->ranks);
        else if (stat->kind == TUTTI_STATISTIC_COUNT)
            combine_counts(into, *(const unsigned long *)from, stat->ranks);
        else if (stat->kind == TUTTI_STATISTIC_FLAG)
            *(bool *)into = *(bool *)into || *(const bool *)from;
    }
}

/* ---- for programs ---- */

enum tutti_err tutti_stats_make(struct tutti_run_stats **out)
{
    struct tutti_run_stats *stats = calloc(1, sizeof *stats);
    if (!stats)
        return tt_fail_memory();
    *out = stats;
    return TUTTI_OK;
}

void tutti_stats_free(struct tutti_run_stats *stats)
{
    if (stats)
        tt_stats_fini(stats);
    free(stats);
}

static void stats_format(const void *stats, const struct tt_stat *stat, struct tutti_statistic *out)
{
    const void *value = (const char *)stats + stat->offset;
    *out = (struct tutti_statistic){.name = stat->name, .help = stat->help, .kind = stat->kind};
    switch (stat->kind) {
    case TUTTI_STATISTIC_NUMBER: out->number = *(const double *)value; break;
    case TUTTI_STATISTIC_COUNT: out->number = (double)*(const unsigned long *)value; break;
    case TUTTI_STATISTIC_INTEGER: out->number = *(const int *)value; break;
    case TUTTI_STATISTIC_FLAG: out->number = *(const bool *)value; break;
    case TUTTI_STATISTIC_TEXT:
        out->number = NAN;
        out->text = *(const char *const *)value;
        break;
    }
}

bool tutti_stats_get(const struct tutti_run_stats *stats, size_t number, struct tutti_statistic *out)
{
    if (number >= sizeof tt_stats_of_run / sizeof *tt_stats_of_run - 1)
        return false;
    stats_format(stats, &tt_stats_of_run[number], out);
    return true;
}

size_t tutti_stats_unit_count(const struct tutti_run_stats *stats)
{
    return stats->unit_count;
}

bool tutti_stats_get_of_unit(const struct tutti_run_stats *stats, size_t unit, size_t number,
                             struct tutti_statistic *out)
{
    if (unit >= stats->unit_count || number >= sizeof tt_stats_of_unit / sizeof *tt_stats_of_unit - 1)
        return false;
    stats_format(&stats->units[unit], &tt_stats_of_unit[number], out);
    return true;
}

/* Finds a statistic by name; all fields zero and NaN if it does not exist. */
static struct tutti_statistic stats_find(const void *stats, const struct tt_stat *table, const char *name)
{
    struct tutti_statistic found = {.number = NAN};
    for (; table->name; table++)
        if (strcmp(table->name, name) == 0)
            stats_format(stats, table, &found);
    return found;
}

double tutti_stats_number(const struct tutti_run_stats *stats, const char *name)
{
    return stats_find(stats, tt_stats_of_run, name).number;
}

const char *tutti_stats_text(const struct tutti_run_stats *stats, const char *name)
{
    return stats_find(stats, tt_stats_of_run, name).text;
}

double tutti_stats_number_of_unit(const struct tutti_run_stats *stats, size_t unit, const char *name)
{
    return unit < stats->unit_count ? stats_find(&stats->units[unit], tt_stats_of_unit, name).number : NAN;
}

const char *tutti_stats_text_of_unit(const struct tutti_run_stats *stats, size_t unit, const char *name)
{
    return unit < stats->unit_count ? stats_find(&stats->units[unit], tt_stats_of_unit, name).text : NULL;
}
