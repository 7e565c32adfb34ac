/* SPDX-License-Identifier: MIT */
/* launcher.h - a way to start ranks. Each is one file that exports one const struct and is listed in TUTTI_LAUNCHERS;
 * to add one: docs/extending.md ("A launcher").
 *
 * run.c takes a run through it:
 *
 *     prepare          before the job is made
 *     place            with the job: the number of ranks, and the rank of each unit
 *     open             everything that the ranks need
 *     start, ..., finish  supervision.c: starts them, and continues until the end of each is known
 *     close            always, last, after the job is freed
 *
 * Its functions are called by one thread, except `work`. Those of a rank get its number, from 0 on. */
#ifndef TT_RUN_LAUNCH_LAUNCHER_H
#define TT_RUN_LAUNCH_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/job/job.h"
#include "sim/ranks/command_ring.h"
#include "sim/ranks/fabric.h"
#include "sim/ranks/shared_fabric.h"

enum tt_rank_state {
    TUTTI_RANK_RUNS,
    TUTTI_RANK_LEFT, /* it has ended, and all its reports are available */
    TUTTI_RANK_LOST  /* it will not come to its end */
};

/* The launcher's state of a rank. */
struct tt_rank_status {
    enum tt_rank_state state;
    /* LOST: an error; LEFT: the rank's outcome if its reports do not have it. This thread's message has the details. */
    enum tutti_err err;
    uint64_t step; /* LOST: macro steps that it had made, as far as is known */
    /* LOST: describes the end of its process, "was ended by signal 11 ..."; NULL: it has not ended, or that is unknown */
    const char *how;
    bool is_dry; /* LOST: its earlier reports are available, and no more can follow */
    /* RUNS: what shows that it is alive, to be watched for --timeout; there must be a way to `end` it. NULL: it is watched
     * elsewhere, or not at all. */
    const struct tt_heartbeat *heartbeat;
};

struct tt_launcher {
    const char *name; /* "threads" */
    size_t size;      /* size of its state, `self`: zeroed before prepare; 0: none */
    double grace;     /* seconds that ranks have to end after one is lost */
    /* The launcher used instead if units need several processes (canBeInstantiatedOnlyOncePerProcess). NULL: none. */
    const struct tt_launcher *instead;

    bool (*is_asked_for)(const struct tutti_run_options *options);
    /* *prepared are the options that the job is made with: `options`, or a modified copy. A missing prerequisite is an
     * error that says what to do. NULL: nothing to prepare. */
    enum tutti_err (*prepare)(void *self, const struct tutti_run_options *options,
                              const struct tutti_run_options **prepared);
    /* Where several processes run this code, each with its launcher: agrees on an error. `err` is that of this process,
     * with its message set; a returned error ends the run in all processes. After an error all ranks have left. NULL:
     * there is only this process. */
    enum tutti_err (*agree)(void *self, enum tutti_err err);
    /* Sets place[c], the rank of component c, and *ranks; ARGUMENT if options contradict the units. */
    enum tutti_err (*place)(void *self, const struct tt_job *job, int32_t *place, int *ranks);
    /* Called with the units placed (job->place). The job is borrowed until close. NULL: nothing to open. */
    enum tutti_err (*open)(void *self, const struct tt_job *job, int ranks);
    void (*close)(void *self); /* also after a failed prepare or open; NULL: nothing to release */

    /* NULL: the calling thread is the conductor. Otherwise it is a rank and does only this; the conductor, if this
     * process has it, is a thread beside it. Without any conductor the rank writes its result and fills `stats`. */
    enum tutti_err (*work)(void *self, struct tutti_run_stats *stats);
    bool (*has_conductor)(const void *self); /* in this process; with `work` only. NULL: no */

    /* For the conductor. */

    /* Starts each rank once, in the order of their numbers. After an error none is started. NULL: they run already. */
    enum tutti_err (*start)(void *self, int rank);
    /* Waits at most `milliseconds` for news of any rank. An error is the launcher's, and ends the run. */
    enum tutti_err (*poll)(void *self, int milliseconds);
    /* Reports the state of a started rank since the last poll. *status is zeroed. A state other than RUNS is final. */
    void (*look)(void *self, int rank, struct tt_rank_status *status);
    /* Returns the next bytes that the rank reported (sim/ranks/fabric.h), borrowed until they are consumed or the next
     * poll; *count 0: none at the moment. Frames may be cut anywhere; more may follow once these are consumed. */
    const char *(*reports)(void *self, int rank, size_t *count);
    void (*consume)(void *self, int rank, size_t count);
    /* The run is interrupted: ranks are to see it in options.interrupt. NULL: they have seen it themselves. */
    void (*interrupt)(void *self);
    /* Hands an order on to the first rank, which takes it from options.orders; false: not now. NULL: it takes them itself where they are given. */
    bool (*order)(void *self, const struct tt_run_command *order);
    /* No rank is to go beyond `step` macro steps; 0: all end at once. Each time with a smaller number. */
    void (*stop)(void *self, uint64_t step);
    /* Ends a rank by force; its code does not run after that. NULL: impossible. */
    void (*end)(void *self, int rank);
    /* The end of every rank is known; waits for them to clean up. `cut`: they have had their time. */
    void (*finish)(void *self, bool cut);
};

/* All of them: tt_launcher_NAME, in NAME.c. The first that is asked for is taken; the last one always is. */
#define TUTTI_LAUNCHERS(X) X(nodes) X(mpi) X(threads) X(processes) X(local)
#define TUTTI_DECLARE_LAUNCHER(name) extern const struct tt_launcher tt_launcher_##name;
TUTTI_LAUNCHERS(TUTTI_DECLARE_LAUNCHER)
#undef TUTTI_DECLARE_LAUNCHER

/* The common part of launch_threads.c and launch_processes.c: ranks that share memory with the conductor. The state of
 * such a launcher begins with a crew, so that these functions can be its slots. */

struct tt_shared_launcher {
    const struct tt_job *job;
    int ranks;
    struct tt_shared_fabric *area;
    uint32_t seen; /* the bell, before ranks were last looked at */
};

/* `name` is that of the fabric. */
TUTTI_CHECKED enum tutti_err tt_launcher_shared_open(struct tt_shared_launcher *crew, const struct tt_job *job,
                                                     int ranks, const char *name);
void tt_launcher_shared_close(struct tt_shared_launcher *crew);

enum tutti_err tt_launcher_shared_poll(void *self, int milliseconds);
const char *tt_launcher_shared_reports(void *self, int rank, size_t *count);
void tt_launcher_shared_consume(void *self, int rank, size_t count);
void tt_launcher_shared_interrupt(void *self);
bool tt_launcher_shared_order(void *self, const struct tt_run_command *order);
void tt_launcher_shared_stop(void *self, uint64_t step);

#endif
