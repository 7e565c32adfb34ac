/* SPDX-License-Identifier: MIT */
/* stats.h - what a run did, as the library counts it. stats.def lists it; programs see <tutti/stats.h>. */
#ifndef TT_SIM_STATS_H
#define TT_SIM_STATS_H

#include <tutti/stats.h>

#include "base/bytes.h"
#include "base/fail.h"

#define TUTTI_STAT_NUMBER(field) double field;
#define TUTTI_STAT_COUNT(field) unsigned long field;
#define TUTTI_STAT_INTEGER(field) int field;
#define TUTTI_STAT_FLAG(field) bool field;
#define TUTTI_STAT_TEXT(field) char *field;

struct tt_unit_stats {
#define RUN_STAT(kind, field, name, ranks, kept, help)
#define UNIT_STAT(kind, field, name, kept, help) TUTTI_STAT_##kind(field)
#include "sim/stats.def"
#undef RUN_STAT
#undef UNIT_STAT
};

struct tutti_run_stats {
#define RUN_STAT(kind, field, name, ranks, kept, help) TUTTI_STAT_##kind(field)
#define UNIT_STAT(kind, field, name, kept, help)
#include "sim/stats.def"
#undef RUN_STAT
#undef UNIT_STAT
    struct tt_unit_stats *units;
    size_t unit_count;
};

/* How the numbers of several ranks are combined. */
enum tt_stat_reduction { TUTTI_STAT_SAME, TUTTI_STAT_LEAST, TUTTI_STAT_MOST, TUTTI_STAT_SUM, TUTTI_STAT_ANY };

/* What a checkpoint does with a statistic (stats.def). */
enum tt_stat_kept { TUTTI_STAT_NO, TUTTI_STAT_AGAIN, TUTTI_STAT_SHARED, TUTTI_STAT_OWN };

struct tt_stat {
    const char *name, *help;
    enum tutti_statistic_kind kind;
    enum tt_stat_reduction ranks; /* of those of a run */
    enum tt_stat_kept kept;
    size_t offset; /* in its struct */
};

/* Ended by a NULL name. */
extern const struct tt_stat tt_stats_of_run[], tt_stats_of_unit[];

/* Releases the texts and units, and zeroes. */
void tt_stats_fini(struct tutti_run_stats *stats);

/* The texts of a run, not of its units, belong to a copy of it from now on. */
void tt_stats_detach_texts(struct tutti_run_stats *stats);

/* Initialises a sum: counts of individual ranks are 0; then each rank is combined with it. Texts are left unchanged. */
void tt_stats_start_sum(struct tutti_run_stats *sum);
void tt_stats_combine(struct tutti_run_stats *sum, const struct tutti_run_stats *of_rank);

/* As bytes: one statistic, in the struct that its table is of; and back, with a copy of a text in place of the one before.
 * *failed becomes true if there is no memory for it. */
void tt_stats_pack(const void *stats, const struct tt_stat *stat, struct tt_byte_writer *parcel);
void tt_stats_unpack(void *stats, const struct tt_stat *stat, struct tt_byte_reader *in, bool *failed);

/* What a checkpoint keeps of a run: the statistics that are the same on all ranks, or those that a rank counts for itself. */
void tt_stats_pack_kept(const struct tutti_run_stats *stats, enum tt_stat_kept kept, struct tt_byte_writer *parcel);
/* SHARED: in place of what is there. OWN: combined with what is there, which tt_stats_reset_own has made 0. */
TUTTI_CHECKED enum tutti_err tt_stats_unpack_kept(struct tutti_run_stats *stats, enum tt_stat_kept kept,
                                                  struct tt_byte_reader *in);
void tt_stats_reset_own(struct tutti_run_stats *stats);

#endif
