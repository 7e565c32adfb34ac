/* SPDX-License-Identifier: MIT */
/* fake_launcher.h - for tests of the conductor's loop: a launcher of fake ranks (conducted.h), which report and end by
 * a script. Records the calls it received. */
#ifndef TUTTI_TEST_FAKE_LAUNCHER_H
#define TUTTI_TEST_FAKE_LAUNCHER_H

#include "run/conducted.h"

#include "run/supervision.h"
#include "look.h"
#include "sim/stats.h"

/* The action of a rank after its last report. */
enum fake_end {
    FAKE_LEAVES,
    FAKE_LIVES, /* for ever */
    FAKE_DIES,
    FAKE_IS_CUT_OFF, /* said to be lost, but what it reports may still come */
    FAKE_HANGS
};

/* 0 stands for never, or not. */
struct fake_rank {
    int from;        /* the poll before which it reports nothing */
    size_t at_first; /* bytes that it reports at first; 0: all */
    enum fake_end then;
    uint64_t step;   /* that it has come to */
    bool heeds_stop; /* reports its end after a stop request: `stopped_as` */
    enum tutti_err stopped_as;
};

struct fake {
    struct fixture *f;
    struct fake_rank script[RANKS];
    bool beside;      /* the conductor is in a thread */
    size_t bite;      /* bytes that can be had at once; 0: all */
    int fails_start;  /* of this rank, which is not 0 */
    int fails_poll;   /* the number of the poll */
    int interrupt_at; /* so do people */
    sig_atomic_t interrupted;
    /* What happened. */
    struct tt_heartbeat heartbeats[RANKS];
    int polls, started, interrupts, stop_count, finished;
    bool ended[RANKS], cut;
    uint64_t stops[8];
    size_t most_waiting; /* bytes of rank 0 that were taken before rank 1 had anything to say */
};

static inline enum tutti_err fake_start(void *self, int rank)
{
    struct fake *fake = self;
    assert_int_equal(rank, fake->started);
    if (fake->fails_start && rank == fake->fails_start)
        return tt_fail(TUTTI_ERR_LIMIT, "rank %d cannot be started", rank);
    fake->started++;
    return TUTTI_OK;
}

static inline enum tutti_err fake_poll(void *self, int milliseconds)
{
    struct fake *fake = self;
    (void)milliseconds;
    look_again();
    fake->polls++;
    if (fake->polls <= fake->script[1].from)
        fake->most_waiting = fake->f->ranks[0].taken;
    if (fake->polls == fake->interrupt_at)
        fake->interrupted = SIGINT;
    return fake->polls == fake->fails_poll ? tt_fail(TUTTI_ERR_IO, "the wire broke") : TUTTI_OK;
}

/* Bytes that the rank has reported up to now. */
static inline size_t fake_reported(const struct fake *fake, int rank)
{
    const struct fake_rank *script = &fake->script[rank];
    if (fake->polls < script->from)
        return 0;
    return script->at_first ? script->at_first : fake->f->ranks[rank].bytes.size;
}

static inline const char *fake_reports(void *self, int rank, size_t *count)
{
    const struct fake *fake = self;
    const struct reporting_rank *reporting = &fake->f->ranks[rank];
    size_t reported = fake_reported(fake, rank);
    *count = reported > reporting->taken ? reported - reporting->taken : 0;
    if (fake->bite && *count > fake->bite)
        *count = fake->bite;
    return reporting->bytes.bytes + reporting->taken;
}

static inline void fake_consume(void *self, int rank, size_t count)
{
    const struct fake *fake = self;
    assert_true(fake->f->ranks[rank].taken + count <= fake_reported(fake, rank));
    fake->f->ranks[rank].taken += count;
}

static inline void fake_look(void *self, int rank, struct tt_rank_status *status)
{
    struct fake *fake = self;
    const struct fake_rank *script = &fake->script[rank];
    assert_true(rank < fake->started);
    assert_int_equal(status->state, TUTTI_RANK_RUNS);
    if (fake->polls < script->from || script->then == FAKE_LIVES || script->then == FAKE_HANGS) {
        status->heartbeat = &fake->heartbeats[rank];
        fake->heartbeats[rank].beat += script->then != FAKE_HANGS;
    } else if (script->then == FAKE_LEAVES)
        *status = (struct tt_rank_status){.state = TUTTI_RANK_LEFT, .err = tt_fabric_fail_stopped()};
    else
        *status = (struct tt_rank_status){.state = TUTTI_RANK_LOST,
                                          .err = tt_fail(TUTTI_ERR_LOST, "rank %d is gone", rank),
                                          .step = script->step,
                                          .is_dry = script->then == FAKE_DIES};
}

static inline void fake_interrupt(void *self)
{
    struct fake *fake = self;
    fake->interrupts++;
}

static inline void fake_stop(void *self, uint64_t step)
{
    struct fake *fake = self;
    assert_true(fake->stop_count < (int)(sizeof fake->stops / sizeof *fake->stops));
    fake->stops[fake->stop_count++] = step;
    for (int r = 0; r < fake->f->count; r++) {
        struct fake_rank *script = &fake->script[r];
        if (!script->heeds_stop)
            continue;
        script->heeds_stop = false;
        script->at_first = 0;
        rank_end(&fake->f->ranks[r], script->stopped_as, script->stopped_as ? "stopped" : "", (double)step);
    }
}

static inline void fake_end_rank(void *self, int rank)
{
    struct fake *fake = self;
    assert_false(fake->ended[rank]);
    fake->ended[rank] = true;
}

static inline void fake_finish(void *self, bool cut)
{
    struct fake *fake = self;
    fake->finished++;
    fake->cut = cut;
}

/* The ranks of the fixture, by the script, to the end of the run. */
static inline enum tutti_err fake_run(struct fake *fake, double timeout, double stop)
{
    static const struct tt_launcher launcher = {.name = "fake",
                                                .size = sizeof(struct fake),
                                                .grace = 0.4,
                                                .start = fake_start,
                                                .poll = fake_poll,
                                                .look = fake_look,
                                                .reports = fake_reports,
                                                .consume = fake_consume,
                                                .interrupt = fake_interrupt,
                                                .stop = fake_stop,
                                                .end = fake_end_rank,
                                                .finish = fake_finish};
    struct fixture *f = fake->f;
    struct tt_system system = {0};
    struct tutti_run_stats stats = {0};
    struct tt_job job = {.options = f->options, .system = &system, .times = {.stop = stop}, .result = f->result};
    job.options.interrupt = &fake->interrupted;
    job.options.has_timeout = timeout > 0;
    job.options.timeout = timeout;
    for (int r = 0; r < RANKS; r++)
        fake->heartbeats[r].component = TUTTI_NONE;
    conduct(f);
    const struct tt_launch launch = {&launcher, fake, &job, f->count};
    struct tt_supervision_thread *thread = NULL;
    if (fake->beside)
        assert_ok(tt_supervision_start(&thread, &launch, f->conductor));
    enum tutti_err err = fake->beside ? tt_supervision_join(thread, &stats)
                                      : tt_supervision_run(&launch, f->conductor, &stats);
    assert_int_equal(stats.ranks, f->count);
    tt_stats_fini(&stats);
    assert_int_equal(fake->finished, 1);
    return err;
}

#endif
