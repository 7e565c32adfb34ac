/* SPDX-License-Identifier: MIT */
/* frames.h - ranks that are made up: what they report is gathered here, by the same code that real ranks report with. */
#ifndef TUTTI_TEST_FRAMES_H
#define TUTTI_TEST_FRAMES_H

#include "sim/ranks/fabric.h"
#include "fmu/description/description.h"
#include "sim/report/record.h"
#include "sim/report/reporter.h"
#include "test.h"

enum { MOST_COLUMNS = 8 };

/* A rank and everything that it has reported. */
struct reporting_rank {
    struct tt_fabric fabric;
    _Atomic uint64_t stop_after;
    struct tt_heartbeat where;
    struct tt_byte_writer bytes;
    size_t taken;
    struct tt_reporter *reporter;
    struct tt_record_sink sink;
    struct tt_column columns[MOST_COLUMNS];
    struct tt_column_place places[MOST_COLUMNS];
    size_t column_count;
};

static inline enum tutti_err gather_report(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    struct reporting_rank *rank = (struct reporting_rank *)fabric;
    tt_bytes_put_bytes(&rank->bytes, bytes, size);
    return rank->bytes.failed ? tt_fail_memory() : TUTTI_OK;
}

static inline void rank_init(struct reporting_rank *rank, int number, int ranks)
{
    static const struct tt_fabric_kind kind = {.name = "made-up", .report = gather_report};
    memset(rank, 0, sizeof *rank);
    rank->fabric = (struct tt_fabric){
        .kind = &kind, .rank = number, .ranks = ranks, .stop_after = &rank->stop_after, .where = &rank->where};
    assert_ok(tt_reporter_new(&rank->reporter, &rank->fabric, TUTTI_LOG_DEBUG));
}

static inline void rank_fini(struct reporting_rank *rank)
{
    tt_reporter_free(rank->reporter);
    assert_ok(tt_record_close_sink(&rank->sink));
    tt_bytes_fini(&rank->bytes);
}

static inline void rank_add(struct reporting_rank *rank, uint32_t component, uint32_t place, const char *name,
                            enum tt_type type, const void *value)
{
    assert_true(rank->column_count < MOST_COLUMNS);
    rank->columns[rank->column_count] =
        (struct tt_column){.name = name, .type = type, .source = rank->column_count, .value = value};
    rank->places[rank->column_count++] = (struct tt_column_place){component, place, TUTTI_NONE, 0};
}

static inline void rank_tell_columns(struct reporting_rank *rank)
{
    assert_ok(tt_record_open_sink(&rank->sink, &rank->fabric, "plant", rank->columns, rank->places, rank->column_count,
                                  true));
}

static inline void rank_row(struct reporting_rank *rank, double t)
{
    assert_ok(tt_record_send_row(&rank->sink, t));
}

static inline void rank_end_in(struct reporting_rank *rank, uint32_t component, enum tutti_err err, const char *message,
                               double t)
{
    (void)!tt_fail(err, "%s", message);
    assert_ok(tt_reporter_send_end(rank->reporter, err, component, t));
}

static inline void rank_end(struct reporting_rank *rank, enum tutti_err err, const char *message, double t)
{
    rank_end_in(rank, TUTTI_NONE, err, message, t);
}

#endif
