/* SPDX-License-Identifier: MIT */
/* frames.h - ranks that are made up: what they report is gathered here, by the same code that real ranks report with. */
#ifndef TUTTI_TEST_FRAMES_H
#define TUTTI_TEST_FRAMES_H

#include "fabric/report.h"
#include "description/desc.h"
#include "report/sink.h"
#include "report/rank_reporter.h"
#include "test.h"

enum { MOST_COLUMNS = 8 };

/* A rank and everything that it has reported. */
struct reporting_rank {
    struct tutti_fabric fabric;
    _Atomic uint64_t stop_after;
    struct tutti_heartbeat where;
    struct tutti_parcel bytes;
    size_t taken;
    struct tutti_rank_reporter *reporter;
    struct tutti_sink sink;
    struct tutti_column columns[MOST_COLUMNS];
    struct tutti_column_place places[MOST_COLUMNS];
    size_t column_count;
};

static inline enum tutti_err gather_report(struct tutti_fabric *fabric, const void *bytes, size_t size)
{
    struct reporting_rank *rank = (struct reporting_rank *)fabric;
    tutti_parcel_put_bytes(&rank->bytes, bytes, size);
    return rank->bytes.failed ? tutti_fail_memory() : TUTTI_OK;
}

static inline void rank_init(struct reporting_rank *rank, int number, int ranks)
{
    static const struct tutti_fabric_kind kind = {.name = "made-up", .report = gather_report};
    memset(rank, 0, sizeof *rank);
    rank->fabric = (struct tutti_fabric){
        .kind = &kind, .rank = number, .ranks = ranks, .stop_after = &rank->stop_after, .where = &rank->where};
    assert_ok(tutti_rank_reporter_new(&rank->reporter, &rank->fabric, TUTTI_LOG_DEBUG));
}

static inline void rank_fini(struct reporting_rank *rank)
{
    tutti_rank_reporter_free(rank->reporter);
    assert_ok(tutti_sink_close(&rank->sink));
    tutti_parcel_fini(&rank->bytes);
}

static inline void rank_add(struct reporting_rank *rank, uint32_t component, uint32_t place, const char *name,
                            enum tutti_type type, const void *value)
{
    assert_true(rank->column_count < MOST_COLUMNS);
    rank->columns[rank->column_count] =
        (struct tutti_column){.name = name, .type = type, .source = rank->column_count, .value = value};
    rank->places[rank->column_count++] = (struct tutti_column_place){component, place, TUTTI_NONE, 0};
}

static inline void rank_tell_columns(struct reporting_rank *rank)
{
    assert_ok(tutti_sink_open_report(&rank->sink, &rank->fabric, "plant", rank->columns, rank->places,
                                     rank->column_count, true));
}

static inline void rank_row(struct reporting_rank *rank, double t)
{
    assert_ok(tutti_sink_row(&rank->sink, t));
}

static inline void rank_end_in(struct reporting_rank *rank, uint32_t component, enum tutti_err err, const char *message,
                               double t)
{
    (void)!tutti_fail(err, "%s", message);
    assert_ok(tutti_rank_reporter_tell_end(rank->reporter, err, component, t));
}

static inline void rank_end(struct reporting_rank *rank, enum tutti_err err, const char *message, double t)
{
    rank_end_in(rank, TUTTI_NONE, err, message, t);
}

#endif
