/* SPDX-License-Identifier: MIT */
/* launcher.h - a way to start ranks. Each is one file that exports one const struct and is listed in TUTTI_LAUNCHERS; to add one:
 * docs/extending.md ("A launcher").
 *
 * run.c takes a run through it:
 *
 *     prepare          before there is a job
 *     place            once there is one: how many ranks, and which unit is on which
 *     open             everything that the ranks need
 *     start, ..., finish  supervision.c: starts them, and goes on until it knows the end of each
 *     close            always, last, once there is no job any more
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
    TUTTI_RANK_LEFT, /* it has come to its end, and everything that it reported can be had */
    TUTTI_RANK_LOST  /* it will not come to its end */
};

/* What a launcher knows of a rank. */
struct tt_rank_status {
    enum tt_rank_state state;
    /* LOST: what that is, LEFT: what the rank came to if its reports do not tell; in this thread's message how. */
    enum tutti_err err;
    uint64_t step; /* LOST: macro steps that it had made, as far as is known */
    const char *
        how; /* LOST: the words about the end of its process, "was ended by signal 11 ..."; NULL: it has not ended, or is not known to have */
    bool is_dry; /* LOST: what it reported before can be had, nothing is on its way any more */
    /* RUNS: what shows that it is alive, to be watched for --timeout; there must be a way to `end` it. NULL: it is watched
     * elsewhere, or not at all. */
    const struct tt_heartbeat *heartbeat;
};

struct tt_launcher {
    const char *name; /* "threads" */
    size_t size;      /* of its own state, `self`: zeroed before prepare; 0: none */
    double grace;     /* seconds that ranks have to come to their end by themselves once one is lost */
    /* What takes its place if units need several processes (canBeInstantiatedOnlyOncePerProcess). NULL: nothing does. */
    const struct tt_launcher *instead;

    bool (*is_asked_for)(const struct tutti_run_options *options);
    /* *prepared are the options that the job is made with: `options`, or some of its own. Whatever it lacks is an error that says
     * what to do. NULL: there is nothing to prepare. */
    enum tutti_err (*prepare)(void *self, const struct tutti_run_options *options,
                              const struct tutti_run_options **prepared);
    /* Where several processes run this code, each with its launcher: are all well? `err` says how this one is, with its message
     * in place; what is returned, if it is not OK, ends the run in all of them. After an error all ranks have left. NULL: there is
     * this process only. */
    enum tutti_err (*agree)(void *self, enum tutti_err err);
    /* Fills place[c], the rank of component c, and *ranks; ARGUMENT where what people ask for does not fit. */
    enum tutti_err (*place)(void *self, const struct tt_job *job, int32_t *place, int *ranks);
    /* With the units placed (job->place). The job is borrowed until close. NULL: there is nothing to open. */
    enum tutti_err (*open)(void *self, const struct tt_job *job, int ranks);
    void (*close)(void *self); /* also after a failed prepare or open; NULL: there is nothing to release */

    /* NULL: the calling thread is the conductor. Else it is a rank, and this is all that it does; the conductor, if there is one
     * in this process, is a thread beside it. Where there is none at all, the rank writes its result and fills `stats`. */
    enum tutti_err (*work)(void *self, struct tutti_run_stats *stats);
    bool (*has_conductor)(const void *self); /* in this process; with `work` only. NULL: no */

    /* For the conductor. */

    /* Starts the rank; each once, in the order of their numbers. After an error no further one is started. NULL: they run
     * already. */
    enum tutti_err (*start)(void *self, int rank);
    /* Waits for news of any rank, so many milliseconds at most. An error is one of the launcher itself, and ends the run. */
    enum tutti_err (*poll)(void *self, int milliseconds);
    /* What is known of a rank that was started, since the last poll. *status is zeroed. A state that is not RUNS stays. */
    void (*look)(void *self, int rank, struct tt_rank_status *status);
    /* The next bytes that the rank reported (sim/ranks/fabric.h), borrowed until they are consumed or the next poll; *count 0: there
     * are none at the moment. Frames may be cut anywhere; more may come once these are consumed. */
    const char *(*reports)(void *self, int rank, size_t *count);
    void (*consume)(void *self, int rank, size_t count);
    /* The run is interrupted: ranks are to see it in options.interrupt. NULL: they have seen it themselves. */
    void (*interrupt)(void *self);
    /* Hands an order on to the first rank, which takes it from options.orders; false: not now. NULL: it takes them itself where they are given. */
    bool (*order)(void *self, const struct tt_run_command *order);
    /* No rank is to go beyond `step` macro steps; 0: all end at once. Each time with a smaller number. */
    void (*stop)(void *self, uint64_t step);
    /* Ends a rank by force; nothing of it runs after that. NULL: there is no way to. */
    void (*end)(void *self, int rank);
    /* The end of every rank is known; waits for them to clean up. `cut`: they have had their time. */
    void (*finish)(void *self, bool cut);
};

/* All of them: tt_launcher_NAME, in NAME.c. The first that is asked for is taken; the last one always is. */
#define TUTTI_LAUNCHERS(X) X(nodes) X(mpi) X(threads) X(processes) X(local)
#define TUTTI_DECLARE_LAUNCHER(name) extern const struct tt_launcher tt_launcher_##name;
TUTTI_LAUNCHERS(TUTTI_DECLARE_LAUNCHER)
#undef TUTTI_DECLARE_LAUNCHER

/* What launch_threads.c and launch_processes.c have in common: ranks that share memory with the conductor. The state of such a
 * launcher begins with a crew, so that these functions can stand in its struct. */

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
