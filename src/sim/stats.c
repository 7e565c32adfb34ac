/* SPDX-License-Identifier: MIT */
#include "sim/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

const struct tt_stat tt_stats_of_run[] = {
#define RUN_STAT(kind_, field, name_, ranks_, kept_, help_)                                                            \
    {.name = name_,                                                                                                    \
     .help = help_,                                                                                                    \
     .kind = TUTTI_STATISTIC_##kind_,                                                                                  \
     .ranks = TUTTI_STAT_##ranks_,                                                                                     \
     .kept = TUTTI_STAT_##kept_,                                                                                       \
     .offset = offsetof(struct tutti_run_stats, field)},
#define UNIT_STAT(kind_, field, name_, kept_, help_)
#include "sim/stats.def"
#undef RUN_STAT
#undef UNIT_STAT
    {.name = NULL},
};

const struct tt_stat tt_stats_of_unit[] = {
#define RUN_STAT(kind_, field, name_, ranks_, kept_, help_)
#define UNIT_STAT(kind_, field, name_, kept_, help_)                                                                   \
    {.name = name_,                                                                                                    \
     .help = help_,                                                                                                    \
     .kind = TUTTI_STATISTIC_##kind_,                                                                                  \
     .kept = TUTTI_STAT_##kept_,                                                                                       \
     .offset = offsetof(struct tt_unit_stats, field)},
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

static void stats_combine_one(struct tutti_run_stats *all, const struct tutti_run_stats *of_rank,
                              const struct tt_stat *stat)
{
    void *into = (char *)all + stat->offset;
    const void *from = (const char *)of_rank + stat->offset;
    if (stat->ranks == TUTTI_STAT_SAME)
        return;
    if (stat->kind == TUTTI_STATISTIC_NUMBER) {
        double *sum = into, one = *(const double *)from;
        *sum = stat->ranks == TUTTI_STAT_LEAST ? fmin(*sum, one) : fmax(*sum, one);
    } else if (stat->kind == TUTTI_STATISTIC_COUNT) {
        unsigned long *sum = into, one = *(const unsigned long *)from;
        bool takes = stat->ranks == TUTTI_STAT_LEAST ? one < *sum : one > *sum;
        *sum = stat->ranks == TUTTI_STAT_SUM ? *sum + one : takes ? one : *sum;
    } else if (stat->kind == TUTTI_STATISTIC_FLAG)
        *(bool *)into = *(bool *)into || *(const bool *)from;
}

void tt_stats_combine(struct tutti_run_stats *sum, const struct tutti_run_stats *of_rank)
{
    for (const struct tt_stat *stat = tt_stats_of_run; stat->name; stat++)
        stats_combine_one(sum, of_rank, stat);
}

/* ---- as bytes ---- */

void tt_stats_pack(const void *stats, const struct tt_stat *stat, struct tt_byte_writer *parcel)
{
    const void *value = (const char *)stats + stat->offset;
    switch (stat->kind) {
    case TUTTI_STATISTIC_NUMBER: tt_bytes_put_double(parcel, *(const double *)value); break;
    case TUTTI_STATISTIC_COUNT: tt_bytes_put_u64(parcel, *(const unsigned long *)value); break;
    case TUTTI_STATISTIC_INTEGER: tt_bytes_put_u32(parcel, (uint32_t) * (const int *)value); break;
    case TUTTI_STATISTIC_FLAG: tt_bytes_put_u8(parcel, *(const bool *)value); break;
    case TUTTI_STATISTIC_TEXT: tt_bytes_put_text(parcel, *(const char *const *)value); break;
    }
}

void tt_stats_unpack(void *stats, const struct tt_stat *stat, struct tt_byte_reader *in, bool *failed)
{
    void *value = (char *)stats + stat->offset;
    switch (stat->kind) {
    case TUTTI_STATISTIC_NUMBER: *(double *)value = tt_bytes_get_double(in); break;
    case TUTTI_STATISTIC_COUNT: *(unsigned long *)value = (unsigned long)tt_bytes_get_u64(in); break;
    case TUTTI_STATISTIC_INTEGER: *(int *)value = (int)tt_bytes_get_u32(in); break;
    case TUTTI_STATISTIC_FLAG: *(bool *)value = tt_bytes_get_u8(in) != 0; break;
    case TUTTI_STATISTIC_TEXT: {
        const char *text = tt_bytes_get_text(in);
        free(*(char **)value);
        *(char **)value = text ? tt_text_copy(text) : NULL;
        *failed = *failed || (text && !*(char **)value);
        break;
    }
    }
}

/* ---- checkpoints ---- */

void tt_stats_pack_kept(const struct tutti_run_stats *stats, enum tt_stat_kept kept, struct tt_byte_writer *parcel)
{
    for (const struct tt_stat *stat = tt_stats_of_run; stat->name; stat++)
        if (stat->kept == kept)
            tt_stats_pack(stats, stat, parcel);
}

enum tutti_err tt_stats_unpack_kept(struct tutti_run_stats *stats, enum tt_stat_kept kept, struct tt_byte_reader *in)
{
    bool failed = false;
    for (const struct tt_stat *stat = tt_stats_of_run; stat->name; stat++) {
        if (stat->kept != kept)
            continue;
        if (kept == TUTTI_STAT_OWN) {
            struct tutti_run_stats of_rank;
            tt_stats_unpack(&of_rank, stat, in, &failed);
            stats_combine_one(stats, &of_rank, stat);
        } else {
            tt_stats_unpack(stats, stat, in, &failed);
        }
    }
    return failed ? tt_fail_memory() : TUTTI_OK;
}

void tt_stats_reset_own(struct tutti_run_stats *stats)
{
    for (const struct tt_stat *stat = tt_stats_of_run; stat->name; stat++)
        if (stat->kept == TUTTI_STAT_OWN)
            *(unsigned long *)(void *)((char *)stats + stat->offset) = 0;
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
