/* SPDX-License-Identifier: MIT */
/* conducted.h - a conductor, and made-up ranks that report to it. */
#ifndef TUTTI_TEST_CONDUCTED_H
#define TUTTI_TEST_CONDUCTED_H

#include "run/conductor.h"
#include "run/frames.h"
#include "scratch.h"

enum { RANKS = 3 };

struct fixture {
    struct scratch scratch;
    char result[4200], step_log[4200];
    struct tutti_run_options options;
    struct tutti_log log;
    char said[4096]; /* lines of the log */
    int progress_calls;
    struct tutti_progress progress;
    struct reporting_rank ranks[RANKS];
    int count;
    struct tt_conductor *conductor;
};

static inline void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct fixture *f = context;
    size_t used = strlen(f->said);
    snprintf(f->said + used, sizeof f->said - used, "%d %s: %s\n", (int)level, origin ? origin : "-", text);
}

static inline void show(void *context, const struct tutti_progress *progress)
{
    struct fixture *f = context;
    f->progress_calls++;
    f->progress = *progress;
}

/* `ranks` of them, with a conductor that writes `result`. */
static inline void begin(struct fixture *f, int ranks)
{
    memset(f, 0, sizeof *f);
    scratch_init(&f->scratch);
    copy_text(f->result, sizeof f->result, scratch_path(&f->scratch, "out.csv"));
    copy_text(f->step_log, sizeof f->step_log, scratch_path(&f->scratch, "steps.csv"));
    f->log = (struct tutti_log){.level = TUTTI_LOG_INFO, .write = note, .context = f};
    f->options = (struct tutti_run_options){.log = &f->log, .progress = show, .progress_context = f};
    f->count = ranks;
    for (int r = 0; r < ranks; r++)
        rank_init(&f->ranks[r], r, ranks);
}

static inline void conduct(struct fixture *f)
{
    assert_ok(tt_conductor_new(&f->conductor, &f->options, f->result, f->count));
}

/* Offers what a rank has reported and the conductor has not taken yet. */
static inline enum tutti_err offer(struct fixture *f, int r)
{
    struct reporting_rank *rank = &f->ranks[r];
    size_t taken = 0;
    enum tutti_err err =
        tt_conductor_receive(f->conductor, r, rank->bytes.bytes + rank->taken, rank->bytes.size - rank->taken, &taken);
    rank->taken += taken;
    assert_true(rank->taken <= rank->bytes.size);
    return err;
}

/* Until nothing moves. */
static inline enum tutti_err offer_all(struct fixture *f)
{
    for (bool moved = true; moved;) {
        moved = false;
        for (int r = 0; r < f->count; r++) {
            size_t before = f->ranks[r].taken;
            TRY(offer(f, r));
            moved = moved || f->ranks[r].taken > before;
        }
    }
    return TUTTI_OK;
}

static inline void end(struct fixture *f)
{
    for (int r = 0; r < f->count; r++)
        rank_fini(&f->ranks[r]);
    scratch_fini(&f->scratch);
}

static inline void assert_file(const char *path, const char *content)
{
    char *bytes = slurp_file(path, NULL);
    assert_string_equal(bytes, content);
    free(bytes);
}

/* Two ranks with a column each, which bring rows 1 ... n. */
static inline void tell_two(struct fixture *f, double *x, int rows0, int rows1)
{
    const int rows[] = {rows0, rows1};
    for (int r = 0; r < 2; r++) {
        rank_add(&f->ranks[r], (uint32_t)r, 0, r ? "y" : "x", TUTTI_TYPE_FLOAT64, x);
        rank_tell_columns(&f->ranks[r]);
        for (int k = 1; k <= rows[r]; k++) {
            *x = 10 * k + r;
            rank_row(&f->ranks[r], k);
        }
    }
}

#endif
