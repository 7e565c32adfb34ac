/* SPDX-License-Identifier: MIT */
#include "sim/report/tally.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/text.h"

static void pack_statistics(struct tt_byte_writer *parcel, const void *stats, const struct tt_stat *table)
{
    for (; table->name; table++) {
        const void *value = (const char *)stats + table->offset;
        switch (table->kind) {
        case TUTTI_STATISTIC_NUMBER: tt_bytes_put_double(parcel, *(const double *)value); break;
        case TUTTI_STATISTIC_COUNT: tt_bytes_put_u64(parcel, *(const unsigned long *)value); break;
        case TUTTI_STATISTIC_INTEGER: tt_bytes_put_u32(parcel, (uint32_t) * (const int *)value); break;
        case TUTTI_STATISTIC_FLAG: tt_bytes_put_u8(parcel, *(const bool *)value); break;
        case TUTTI_STATISTIC_TEXT: tt_bytes_put_text(parcel, *(const char *const *)value); break;
        }
    }
}

void tt_reporter_pack_tally(struct tt_byte_writer *parcel, const struct tutti_run_stats *stats)
{
    pack_statistics(parcel, stats, tt_stats_of_run);
    tt_bytes_put_u64(parcel, stats->unit_count);
    for (size_t i = 0; i < stats->unit_count; i++) {
        tt_bytes_put_u64(parcel, stats->units[i].name != NULL); /* else it is a hole */
        if (stats->units[i].name)
            pack_statistics(parcel, &stats->units[i], tt_stats_of_unit);
    }
}

/* A text on the heap; NULL if there was none, or for want of memory. */
static char *read_tally_text(struct tt_byte_reader *in, bool *failed)
{
    const char *text = tt_bytes_get_text(in);
    char *copy = text ? tt_text_copy(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static void unpack_statistics(struct tt_byte_reader *in, void *stats, const struct tt_stat *table, bool *failed)
{
    for (; table->name; table++) {
        void *value = (char *)stats + table->offset;
        switch (table->kind) {
        case TUTTI_STATISTIC_NUMBER: *(double *)value = tt_bytes_get_double(in); break;
        case TUTTI_STATISTIC_COUNT: *(unsigned long *)value = (unsigned long)tt_bytes_get_u64(in); break;
        case TUTTI_STATISTIC_INTEGER: *(int *)value = (int)tt_bytes_get_u32(in); break;
        case TUTTI_STATISTIC_FLAG: *(bool *)value = tt_bytes_get_u8(in) != 0; break;
        case TUTTI_STATISTIC_TEXT: *(char **)value = read_tally_text(in, failed); break;
        }
    }
}

static void unpack_unit_statistics(struct tt_byte_reader *in, struct tt_unit_stats *unit, bool *failed)
{
    if (tt_bytes_get_u64(in) == 0)
        return;
    unpack_statistics(in, unit, tt_stats_of_unit, failed);
    in->bad = in->bad || !unit->name || !unit->fmu || !unit->fmi || !unit->interface;
}

enum tutti_err tt_reporter_unpack_tally(struct tt_byte_reader *in, struct tutti_run_stats *stats)
{
    bool failed = false;
    *stats = (struct tutti_run_stats){0};
    unpack_statistics(in, stats, tt_stats_of_run, &failed);
    uint64_t count = tt_bytes_get_u64(in);
    /* Every unit takes its 8 bytes at least, so that a number out of the air costs no memory. */
    in->bad = in->bad || count > (uint64_t)(in->end - in->at) / 8;
    if (!in->bad && !failed && count > 0) {
        stats->units = calloc(count, sizeof *stats->units);
        failed = !stats->units;
        stats->unit_count = stats->units ? count : 0;
    }
    for (size_t i = 0; i < stats->unit_count && !in->bad && !failed; i++)
        unpack_unit_statistics(in, &stats->units[i], &failed);
    if (failed)
        return tt_fail_memory();
    return in->bad || in->at != in->end ? tt_fail(TUTTI_ERR_FORMAT, "what a rank counted is malformed") : TUTTI_OK;
}
