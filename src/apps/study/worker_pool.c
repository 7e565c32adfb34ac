/* SPDX-License-Identifier: MIT */
#include "apps/study/worker_pool.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/log.h"
#include "base/wall_clock.h"

enum {
    MOST_LOSSES = 3,  /* losses of workers in the same run, after which it is not repeated */
    FEW_AHEAD = 4,    /* number of runs assigned to a worker in advance */
    MOST_AHEAD = 256, /* the same, where runs are short */
    WAIT_MS = 100,    /* how long we wait for news */
};
/* With short runs each wake-up for a record costs more than a run. The pool sleeps for this time, and then handles
 * many. */
static const double NAP = 2e-3;

struct pool_worker {
    bool here;               /* it has been started */
    bool is_given_up;        /* it cannot be had any more */
    bool leaves;             /* it makes no further run */
    size_t runs[MOST_AHEAD]; /* that are its own, the oldest first */
    unsigned count, told;    /* number of runs assigned to it */
    unsigned ahead;          /* at most */
    unsigned long heard;     /* records since it was started */
    double heard_at;
    struct tt_byte_writer in;
};

struct worker_pool {
    struct tt_sweep_worker *work;
    const struct tt_worker_pool_plan *order;
    const struct tt_worker_backend *way;
    void *self; /* the way's */
    struct pool_worker *workers;
    unsigned count, given_up;
    struct pollfd *polled;     /* of each worker, and that of the order */
    struct tt_vector again;    /* of size_t: runs that were assigned to a lost worker and not started */
    struct tt_vector suspects; /* of size_t: a run for each time that a worker was lost in it */
};

unsigned tt_worker_pool_count_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

/* ---- handing out ---- */

static bool worker_pool_next_run(struct worker_pool *pool, size_t *run)
{
    if (pool->again.count == 0)
        return pool->order->next(pool->order->context, run);
    *run = ((size_t *)pool->again.items)[--pool->again.count];
    return true;
}

static enum tutti_err requeue_run(struct tt_vector *runs, size_t run)
{
    size_t *slot = tt_vector_push(runs, sizeof *slot);
    if (!slot)
        return tt_fail_memory();
    *slot = run;
    return TUTTI_OK;
}

/* The pool does without it, if it can. */
static enum tutti_err worker_pool_drop_worker(struct worker_pool *pool, unsigned w, enum tutti_err err)
{
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    if (!pool->way->does_without || err == TUTTI_ERR_INTERRUPTED || err == TUTTI_ERR_MEMORY ||
        err == TUTTI_ERR_ARGUMENT || ++pool->given_up == pool->count)
        return tt_fail_restore(&failure);
    pool->workers[w].is_given_up = true;
    tt_log(pool->work->options->log, TUTTI_LOG_WARNING, NULL, "%s; the sweep does without it", failure.message);
    return TUTTI_OK;
}

static enum tutti_err worker_pool_start_worker(struct worker_pool *pool, unsigned w)
{
    struct pool_worker *worker = &pool->workers[w];
    enum tutti_err err = pool->way->start(pool->self, w);
    if (err)
        return worker_pool_drop_worker(pool, w, err);
    worker->here = true;
    worker->leaves = false;
    worker->count = worker->told = 0;
    worker->ahead = FEW_AHEAD;
    worker->heard = 0;
    worker->heard_at = tt_wall_clock_now();
    tt_bytes_reset(&worker->in);
    return TUTTI_OK;
}

/* ---- what they say ---- */

static enum tutti_err read_worker_records(struct worker_pool *pool, struct pool_worker *worker)
{
    size_t at = 0;
    unsigned records = 0;
    struct tt_worker_record_head head;
    while (worker->in.size - at >= sizeof head) {
        memcpy(&head, worker->in.bytes + at, sizeof head);
        if (head.size > worker->in.size - at - sizeof head)
            break;
        const struct tt_bytes record = {head.size, (const uint8_t *)worker->in.bytes + at + sizeof head};
        at += sizeof head + head.size;
        worker->leaves = head.leaves != 0;
        if (worker->count > 0) { /* its oldest run is done */
            worker->count--;
            worker->told -= worker->told > 0;
            memmove(worker->runs, worker->runs + 1, worker->count * sizeof *worker->runs);
        }
        records++;
        TRY(pool->order->done(pool->order->context, record));
    }
    if (records == 0)
        return TUTTI_OK;
    memmove(worker->in.bytes, worker->in.bytes + at, worker->in.size - at);
    worker->in.size -= at;
    worker->heard += records;

    /* the worker is to have enough ahead for two naps */
    double now = tt_wall_clock_now(), each = (now - worker->heard_at) / fmax(records, 1), wanted = 2 * NAP / each;
    worker->ahead = wanted > MOST_AHEAD ? MOST_AHEAD : wanted > FEW_AHEAD ? (unsigned)wanted : FEW_AHEAD;
    worker->heard_at = now;
    return TUTTI_OK;
}

/* The run has no other end than this. */
static enum tutti_err fail_worker_run(struct worker_pool *pool, size_t run, const char *how)
{
    struct tt_byte_writer parcel = {0};
    struct tt_text message = {0};
    tt_text_printf(&message, "the process of this run %s", how);
    tt_sweep_worker_write_record(
        &parcel, &(struct tt_run_record){.run = run, .status = TUTTI_RUN_CRASHED, .message = message.text});
    enum tutti_err err = parcel.failed || message.failed
                             ? tt_fail_memory()
                             : pool->order->done(pool->order->context, tt_bytes_written(&parcel));
    tt_bytes_fini(&parcel);
    tt_text_fini(&message);
    return err;
}

/* Finds the run in which the worker ended; worker->count: none. */
static unsigned find_crashed_run(const struct pool_worker *worker, const struct tt_worker_ending *ending)
{
    unsigned i = 0;
    if (worker->told == 0 || worker->leaves)
        return worker->count;
    while (ending->run != SIZE_MAX && i < worker->count && worker->runs[i] != ending->run)
        i++;
    return i == worker->count && worker->heard == 0
               ? 0
               : i; /* the run that it reported is invalid: the worker must not continue */
}

/* The worker is gone. A run whose process ended is over. A run in which the worker was lost otherwise is repeated, up to MOST_LOSSES losses: a node that
 * fails is rarely the fault of a run, and two nodes may fail one after the other. The worker's later runs are repeated in any case. */
static enum tutti_err requeue_lost_runs(struct worker_pool *pool, struct pool_worker *worker,
                                        const struct tt_worker_ending *ending)
{
    unsigned culprit = find_crashed_run(worker, ending);
    bool known = culprit < worker->count;
    size_t run = known ? worker->runs[culprit] : SIZE_MAX;
    if (known && !*ending->how) {
        TRY(requeue_run(&pool->suspects, run));
        unsigned losses = 0;
        for (size_t i = 0; i < pool->suspects.count; i++)
            losses += ((const size_t *)pool->suspects.items)[i] == run;
        known = losses == MOST_LOSSES;
    }
    if (known)
        TRY(fail_worker_run(pool, run,
                            *ending->how ? ending->how : "was lost three times, and the run is not repeated again"));
    while (worker->count-- > 0) /* taken again from the end: the oldest first */
        if (!known || worker->count != culprit)
            TRY(requeue_run(&pool->again, worker->runs[worker->count]));
    worker->count = worker->told = 0;
    return TUTTI_OK;
}

/* `err`: how the worker was lost, unless its process ended. A worker lost before its first record is not replaced. */
static enum tutti_err worker_pool_handle_loss(struct worker_pool *pool, unsigned w, enum tutti_err err)
{
    struct pool_worker *worker = &pool->workers[w];
    struct tt_failure failure;
    struct tt_worker_ending ending = {.run = SIZE_MAX};
    tt_fail_save(&failure, err);
    pool->way->end(pool->self, w, false, &ending);
    worker->here = false;
    TRY(requeue_lost_runs(pool, worker, &ending));
    return failure.err && worker->heard == 0 ? worker_pool_drop_worker(pool, w, tt_fail_restore(&failure)) : TUTTI_OK;
}

/* ---- all ---- */

static enum tutti_err worker_pool_receive(struct worker_pool *pool, unsigned w)
{
    struct pool_worker *worker = &pool->workers[w];
    bool open = true;
    enum tutti_err err = pool->way->hear(pool->self, w, &worker->in, &open);
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    if (worker->in.failed)
        return tt_fail_memory();
    TRY(read_worker_records(pool, worker));
    return open && !failure.err ? TUTTI_OK : worker_pool_handle_loss(pool, w, tt_fail_restore(&failure));
}

/* Waits for news of those that can be waited for. False: some cannot, and are to be looked at. */
static enum tutti_err poll_workers(struct worker_pool *pool, bool *all)
{
    int file = -1;
    *all = true;
    for (unsigned w = 0; w < pool->count; w++) {
        bool here = pool->workers[w].here;
        pool->polled[w] = (struct pollfd){.fd = here ? pool->way->file(pool->self, w) : -1, .events = POLLIN};
        *all = *all && (!here || pool->polled[w].fd >= 0);
    }
    if (pool->order->waits)
        (void)pool->order->waits(pool->order->context, &file);
    pool->polled[pool->count] = (struct pollfd){.fd = file, .events = POLLIN};
    if (poll(pool->polled, pool->count + 1, *all ? WAIT_MS : (int)(NAP * 1e3)) < 0 && errno != EINTR)
        return tt_fail(TUTTI_ERR_IO, "cannot wait for workers: %s", strerror(errno));
    return TUTTI_OK;
}

static enum tutti_err receive_from_workers(struct worker_pool *pool)
{
    bool all;
    TRY(poll_workers(pool, &all));
    for (unsigned w = 0; w < pool->count; w++) {
        if (pool->workers[w].here && (pool->polled[w].fd < 0 || pool->polled[w].revents))
            TRY(worker_pool_receive(pool, w));
        if (pool->workers[w].here && pool->way->watch)
            pool->way->watch(pool->self, w);
    }
    return TUTTI_OK;
}

/* Starts workers while there are runs for them. False: all runs are made. */
static enum tutti_err fill_queues(struct worker_pool *pool, bool *busy)
{
    *busy = false;
    for (unsigned ahead = 1; ahead <= MOST_AHEAD; ahead++) /* first one for each, so that few runs are shared by all */
        for (unsigned w = 0; w < pool->count; w++) {
            struct pool_worker *worker = &pool->workers[w];
            size_t run;
            if (!worker->here && !worker->is_given_up && ahead == 1 && worker_pool_next_run(pool, &run)) {
                TRY(requeue_run(&pool->again, run));
                TRY(worker_pool_start_worker(pool, w));
            }
            bool takes = worker->here && !worker->leaves;
            while (takes && worker->count < ahead && worker->count < worker->ahead && worker_pool_next_run(pool, &run))
                worker->runs[worker->count++] = run;
            *busy = *busy || worker->count > 0 || (worker->here && worker->leaves); /* another takes its place */
        }
    for (unsigned w = 0; w < pool->count; w++) {
        struct pool_worker *worker = &pool->workers[w];
        if (worker->here && worker->count > worker->told)
            worker->told +=
                (unsigned)pool->way->tell(pool->self, w, worker->runs + worker->told, worker->count - worker->told);
    }
    return TUTTI_OK;
}

static bool worker_pool_is_waiting(const struct worker_pool *pool)
{
    int file;
    return pool->order->waits && pool->order->waits(pool->order->context, &file);
}

static enum tutti_err worker_pool_run_loop(struct worker_pool *pool)
{
    const volatile sig_atomic_t *interrupt = pool->work->options->interrupt;
    for (;;) {
        bool busy;
        TRY(fill_queues(pool, &busy));
        if (!busy && pool->again.count == 0 && !worker_pool_is_waiting(pool))
            return TUTTI_OK;

        bool nap = busy; /* if all that work have enough to do meanwhile */
        for (unsigned w = 0; w < pool->count; w++)
            nap = nap && (!pool->workers[w].here || pool->workers[w].ahead > FEW_AHEAD);
        if (nap)
            nanosleep(&(struct timespec){.tv_nsec = (long)(NAP * 1e9)}, NULL);

        TRY(receive_from_workers(pool));
        TRY(pool->order->idle(pool->order->context));
        if (interrupt && *interrupt)
            return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted");
    }
}

static enum tutti_err worker_pool_open_and_run(struct worker_pool *pool)
{
    pool->self = calloc(1, pool->way->size);
    if (!pool->self)
        return tt_fail_memory();
    TRY(pool->way->open(pool->self, pool->work, pool->order->way_context, &pool->count));
    pool->workers = calloc(pool->count, sizeof *pool->workers);
    pool->polled = calloc(pool->count + 1, sizeof *pool->polled);
    return pool->workers && pool->polled ? worker_pool_run_loop(pool) : tt_fail_memory();
}

enum tutti_err tt_worker_pool_run(struct tt_sweep_worker *work, const struct tt_worker_pool_plan *order)
{
    struct worker_pool pool = {.work = work, .order = order, .way = order->way, .count = order->workers};
    struct tt_failure failure;
    struct tt_worker_ending ending;
    tt_fail_save(&failure, worker_pool_open_and_run(&pool));
    for (unsigned w = 0; pool.workers && w < pool.count; w++) {
        if (pool.workers[w].here)
            pool.way->end(pool.self, w, failure.err != TUTTI_OK, &ending);
        tt_bytes_fini(&pool.workers[w].in);
    }
    if (pool.self)
        pool.way->close(pool.self);
    free(pool.self);
    free(pool.workers);
    free(pool.polled);
    tt_vector_fini(&pool.again);
    tt_vector_fini(&pool.suspects);
    return tt_fail_restore(&failure);
}

enum { PIECE = 1 << 16 }; /* bytes that are read at once */

/* In one call, mostly: each wakes the pool. */
bool tt_worker_pool_send_record(int fd, struct tt_bytes record, bool leaves)
{
    struct tt_worker_record_head head = {record.size, leaves};
    struct iovec parts[] = {{&head, sizeof head}, {(void *)record.data, record.size}};
    ssize_t sent = writev(fd, parts, 2);
    size_t left = sent < (ssize_t)sizeof head ? 0 : sizeof head + record.size - (size_t)sent;
    return sent >= (ssize_t)sizeof head && tt_fs_write(fd, record.data + record.size - left, left, -1) == left;
}

void tt_worker_pool_write_record(struct tt_byte_writer *parcel, struct tt_bytes record, bool leaves)
{
    const struct tt_worker_record_head head = {record.size, leaves};
    tt_bytes_put_bytes(parcel, &head, sizeof head);
    tt_bytes_put_bytes(parcel, record.data, record.size);
}

enum tutti_err tt_worker_pool_receive(int fd, struct tt_byte_writer *in, bool *open)
{
    for (;;) {
        char *room = tt_bytes_extend(in, PIECE);
        if (!room)
            return tt_fail_memory();
        ssize_t got = read(fd, room, PIECE);
        in->size -= PIECE - (got > 0 ? (size_t)got : 0);
        *open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
        if (got <= 0)
            return TUTTI_OK;
    }
}
