/* SPDX-License-Identifier: MIT */
/* ranks.h - for tests: a job on ranks that are threads, and what each of them reported. */
#ifndef TUTTI_TEST_RANKS_H
#define TUTTI_TEST_RANKS_H

#include "test.h"

#include <pthread.h>

#include "sim/ranks/fabric.h"
#include "sim/ranks/shared_fabric.h"
#include "sim/execution_run.h"
#include "sim/report/reporter.h"

enum { MOST_RANKS = 4, MOST_COLUMNS = 8, MOST_ROWS = 64 };

/* ---- what a rank reported ---- */

struct told {
    enum tutti_err returned; /* by tt_execution_run_rank */
    struct tt_byte_writer bytes;
    enum tutti_err end;
    char message[512];
    double t;
    char names[MOST_COLUMNS][32];
    uint32_t columns;
    double times[MOST_ROWS], values[MOST_ROWS][MOST_COLUMNS];
    uint32_t rows, logs;
    char last_log[512];
    struct tutti_run_stats tally;
    bool has_columns, has_tally, has_end;
};

static inline void read_columns(struct told *told, struct tt_byte_reader *in)
{
    assert_false(told->has_columns);
    told->has_columns = true;
    (void)tt_bytes_get_text(in);
    told->columns = tt_bytes_get_u32(in);
    assert_true(told->columns <= MOST_COLUMNS);
    for (uint32_t c = 0; c < told->columns; c++) {
        (void)tt_bytes_get_u32(in);
        (void)tt_bytes_get_u32(in);
        snprintf(told->names[c], sizeof told->names[c], "%s", tt_bytes_get_text(in));
        (void)tt_bytes_get_text(in);
        (void)tt_bytes_get_text(in);
        assert_int_equal(tt_bytes_get_u8(in), TUTTI_TYPE_FLOAT64);
        assert_int_equal(tt_bytes_get_u8(in), 0);  /* negated */
        assert_int_equal(tt_bytes_get_u8(in), 0);  /* fixed */
        assert_int_equal(tt_bytes_get_u8(in), 0);  /* held */
        assert_int_equal(tt_bytes_get_u32(in), c); /* no alias */
    }
}

static inline void read_row(struct told *told, struct tt_byte_reader *in)
{
    assert_true(told->has_columns && told->rows < MOST_ROWS);
    told->times[told->rows] = tt_bytes_get_double(in);
    for (uint32_t c = 0; c < told->columns; c++)
        told->values[told->rows][c] = tt_bytes_get_double(in);
    told->rows++;
}

static inline void read_end(struct told *told, struct tt_byte_reader *in)
{
    told->has_end = true;
    told->end = (enum tutti_err)tt_bytes_get_u32(in);
    snprintf(told->message, sizeof told->message, "%s", tt_bytes_get_text(in));
    (void)tt_bytes_get_text(in); /* what it is about: unit, variable, time */
    (void)tt_bytes_get_text(in);
    (void)tt_bytes_get_double(in);
    (void)tt_bytes_get_u32(in); /* the component that was called last */
    told->t = tt_bytes_get_double(in);
}

static inline void read_frame(struct told *told, enum tt_report_kind kind, struct tt_byte_reader *in)
{
    assert_false(told->has_end); /* nothing comes after it */
    switch (kind) {
    case TUTTI_REPORT_COLUMNS: read_columns(told, in); break;
    case TUTTI_REPORT_ROW: read_row(told, in); break;
    case TUTTI_REPORT_LOG:
        (void)tt_bytes_get_u8(in);
        (void)tt_bytes_get_text(in);
        snprintf(told->last_log, sizeof told->last_log, "%s", tt_bytes_get_text(in));
        told->logs++;
        break;
    case TUTTI_REPORT_TALLY:
        assert_false(told->has_tally);
        told->has_tally = true;
        assert_ok(tt_reporter_unpack_tally(in, &told->tally));
        break;
    case TUTTI_REPORT_END: read_end(told, in); break;
    default: in->at = in->end; break; /* progress, which depends on the clock */
    }
    assert_false(in->bad);
    assert_ptr_equal(in->at, in->end);
}

/* Whole frames, END last. */
static inline void read_all(struct told *told)
{
    const char *at = told->bytes.bytes, *end = at + told->bytes.size;
    while (at < end) {
        enum tt_report_kind kind;
        size_t size;
        bool whole;
        assert_ok(tt_fabric_find_report(at, (size_t)(end - at), &kind, &size, &whole));
        assert_true(whole);
        at += TUTTI_REPORT_HEADER;
        read_frame(told, kind, &(struct tt_byte_reader){.at = at, .end = at + size});
        at += size;
    }
    assert_true(told->has_end);
    assert_int_equal(told->end, told->returned);
}

/* ---- ranks ---- */

struct outcome {
    struct told told[MOST_RANKS];
    int ranks;
};

struct worker {
    const struct tt_job *job;
    struct tt_fabric *fabric;
    enum tutti_err err;
    char message[512];
};

static inline void *work(void *context)
{
    struct worker *worker = context;
    worker->err = tt_execution_run_rank(worker->job, worker->fabric);
    snprintf(worker->message, sizeof worker->message, "%s", worker->err ? tutti_err_message() : "");
    worker->fabric->kind->close(worker->fabric);
    return NULL;
}

static inline bool drain(struct tt_shared_fabric *area, struct outcome *outcome)
{
    bool left = true;
    for (int r = 0; r < outcome->ranks; r++) {
        size_t count;
        left = tt_shared_fabric_has_left(area, r) && left; /* before the last look */
        for (const char *bytes; bytes = tt_shared_fabric_peek_reports(area, r, &count), count > 0;) {
            tt_bytes_put_bytes(&outcome->told[r].bytes, bytes, count);
            tt_shared_fabric_consume_reports(area, r, count);
        }
    }
    return left;
}

static inline void run_ranks(struct outcome *outcome, const struct tutti_run_options *options, int ranks,
                             const int32_t *place)
{
    struct tt_job job;
    struct tt_shared_fabric *area;
    struct worker workers[MOST_RANKS];
    pthread_t threads[MOST_RANKS];
    *outcome = (struct outcome){.ranks = ranks};
    assert_ok(tt_job_open(&job, options, NULL));
    job.place = place;
    assert_ok(tt_job_unpack(&job));
    assert_ok(tt_shared_fabric_new(&area, ranks, "threads"));
    for (int r = 0; r < ranks; r++) {
        workers[r] = (struct worker){.job = &job};
        assert_ok(tt_shared_fabric_join(area, r, &workers[r].fabric));
    }
    for (int r = 0; r < ranks; r++)
        assert_int_equal(pthread_create(&threads[r], NULL, work, &workers[r]), 0);
    for (bool left = false; !left;) {
        uint32_t seen = tt_shared_fabric_event_count(area);
        left = drain(area, outcome);
        if (!left)
            tt_shared_fabric_wait(area, seen, 0.01);
    }
    for (int r = 0; r < ranks; r++) {
        assert_int_equal(pthread_join(threads[r], NULL), 0);
        outcome->told[r].returned = workers[r].err;
        read_all(&outcome->told[r]);
        assert_string_equal(outcome->told[r].message, workers[r].message);
    }
    tt_shared_fabric_free(area);
    tt_job_close(&job);
}

static inline void forget(struct outcome *outcome)
{
    for (int r = 0; r < outcome->ranks; r++) {
        tt_bytes_fini(&outcome->told[r].bytes);
        tt_stats_fini(&outcome->told[r].tally);
    }
}

static inline void assert_came_through(const struct told *told)
{
    if (told->returned)
        fail_msg("%s: %s", tutti_err_name(told->returned), told->message);
}

/* The column of this name: the rank that reported it, and its index there. */
static inline const struct told *find_column(const struct outcome *outcome, const char *name, uint32_t *column)
{
    for (int r = 0; r < outcome->ranks; r++)
        for (*column = 0; *column < outcome->told[r].columns; ++*column)
            if (strcmp(outcome->told[r].names[*column], name) == 0)
                return &outcome->told[r];
    fail_msg("nobody told of %s", name);
    return NULL;
}

/* All rows of `one`, which is one rank's, to the bit; each column once. */
static inline void assert_same_rows(const struct outcome *one, const struct outcome *other)
{
    const struct told *whole = &one->told[0];
    uint32_t columns = 0;
    for (int r = 0; r < other->ranks; r++)
        columns += other->told[r].columns;
    assert_int_equal(columns, whole->columns);
    for (uint32_t c = 0; c < whole->columns; c++) {
        uint32_t column = 0;
        const struct told *told = find_column(other, whole->names[c], &column);
        assert_int_equal(told->rows, whole->rows);
        for (uint32_t row = 0; row < whole->rows; row++) {
            assert_same_double(told->times[row], whole->times[row]);
            assert_same_double(told->values[row][column], whole->values[row][c]);
        }
    }
}

#endif
