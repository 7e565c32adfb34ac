/* SPDX-License-Identifier: MIT */
#include "report/tally.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/str.h"

static void pack(struct tutti_parcel *parcel, const void *stats, const struct tutti_stat *table)
{
    for (; table->name; table++) {
        const void *value = (const char *)stats + table->offset;
        switch (table->kind) {
        case TUTTI_STATISTIC_NUMBER: tutti_parcel_put_double(parcel, *(const double *)value); break;
        case TUTTI_STATISTIC_COUNT: tutti_parcel_put_u64(parcel, *(const unsigned long *)value); break;
        case TUTTI_STATISTIC_INTEGER: tutti_parcel_put_u32(parcel, (uint32_t) * (const int *)value); break;
        case TUTTI_STATISTIC_FLAG: tutti_parcel_put_u8(parcel, *(const bool *)value); break;
        case TUTTI_STATISTIC_TEXT: tutti_parcel_put_text(parcel, *(const char *const *)value); break;
        }
    }
}

void tutti_tally_pack(struct tutti_parcel *parcel, const struct tutti_run_stats *stats)
{
    pack(parcel, stats, tutti_stats_of_run);
    tutti_parcel_put_u64(parcel, stats->unit_count);
    for (size_t i = 0; i < stats->unit_count; i++) {
        tutti_parcel_put_u64(parcel, stats->units[i].name != NULL); /* else it is a hole */
        if (stats->units[i].name)
            pack(parcel, &stats->units[i], tutti_stats_of_unit);
    }
}

/* A text on the heap; NULL if there was none, or for want of memory. */
static char *take_text(struct tutti_unparcel *in, bool *failed)
{
    const char *text = tutti_unparcel_text(in);
    char *copy = text ? tutti_str_copy(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static void unpack(struct tutti_unparcel *in, void *stats, const struct tutti_stat *table, bool *failed)
{
    for (; table->name; table++) {
        void *value = (char *)stats + table->offset;
        switch (table->kind) {
        case TUTTI_STATISTIC_NUMBER: *(double *)value = tutti_unparcel_double(in); break;
        case TUTTI_STATISTIC_COUNT: *(unsigned long *)value = (unsigned long)tutti_unparcel_u64(in); break;
        case TUTTI_STATISTIC_INTEGER: *(int *)value = (int)tutti_unparcel_u32(in); break;
        case TUTTI_STATISTIC_FLAG: *(bool *)value = tutti_unparcel_u8(in) != 0; break;
        case TUTTI_STATISTIC_TEXT: *(char **)value = take_text(in, failed); break;
        }
    }
}

static void unpack_unit(struct tutti_unparcel *in, struct tutti_unit_stats *unit, bool *failed)
{
    if (tutti_unparcel_u64(in) == 0)
        return;
    unpack(in, unit, tutti_stats_of_unit, failed);
    in->bad = in->bad || !unit->name || !unit->fmu || !unit->fmi || !unit->interface;
}

enum tutti_err tutti_tally_unpack(struct tutti_unparcel *in, struct tutti_run_stats *stats)
{
    bool failed = false;
    *stats = (struct tutti_run_stats){0};
    unpack(in, stats, tutti_stats_of_run, &failed);
    uint64_t count = tutti_unparcel_u64(in);
    /* Every unit takes its 8 bytes at least, so that a number out of the air costs no memory. */
    in->bad = in->bad || count > (uint64_t)(in->end - in->at) / 8;
    if (!in->bad && !failed && count > 0) {
        stats->units = calloc(count, sizeof *stats->units);
        failed = !stats->units;
        stats->unit_count = stats->units ? count : 0;
    }
    for (size_t i = 0; i < stats->unit_count && !in->bad && !failed; i++)
        unpack_unit(in, &stats->units[i], &failed);
    if (failed)
        return tutti_fail_memory();
    return in->bad || in->at != in->end ? tutti_fail(TUTTI_ERR_FORMAT, "what a rank counted is malformed") : TUTTI_OK;
}
