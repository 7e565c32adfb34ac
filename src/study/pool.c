/* SPDX-License-Identifier: MIT */
#include "study/pool.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "conduct/settle.h"
#include "fmi/ended.h"

enum {
    FEW_AHEAD = 4,    /* runs that a worker is told of before it comes to them */
    MOST_AHEAD = 256, /* the same, where runs are short */
    WAIT_MS = 100,    /* how long we wait for news */
    PIECE = 1 << 16,  /* bytes that are read at once */
};
/* Short runs: each record that wakes us costs more than a run. We sleep so many seconds, and find many records then. */
static const double NAP = 1e-3;

/* What is in front of a record, on its way from a worker. */
struct frame {
    uint64_t size;
    uint64_t leaves; /* the worker makes no further run, though it was told of some */
};

struct worker {
    pid_t pid; /* 0: none */
    int fd;
    size_t runs[MOST_AHEAD]; /* that are its own, the oldest first */
    unsigned count, told;    /* so many of them it knows of */
    unsigned ahead;          /* at most */
    double heard_at;
    bool leaves;
    struct tutti_parcel in;
};

struct pool {
    struct tutti_work *work;
    const struct tutti_pool_order *order;
    struct worker *workers;
    unsigned count;
    struct pollfd *polled;
    struct tutti_vector again; /* of size_t: runs that a worker was told of and did not come to */
};

unsigned tutti_pool_cores(void)
{
    cpu_set_t set;
    int count = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
    return count > 0 ? (unsigned)count : 1;
}

/* ---- in a worker ---- */

static bool read_all(int fd, void *bytes, size_t size)
{
    for (size_t n = 0; n < size;) {
        ssize_t got = read(fd, (char *)bytes + n, size - n);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        n += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* In one call, mostly: each wakes the conductor. */
static bool send_record(int fd, const struct tutti_parcel *parcel, bool leaves)
{
    struct frame frame = {parcel->size, leaves};
    struct iovec parts[] = {{&frame, sizeof frame}, {parcel->bytes, parcel->size}};
    ssize_t sent = writev(fd, parts, 2);
    size_t left = sent < (ssize_t)sizeof frame ? 0 : sizeof frame + parcel->size - (size_t)sent;
    return sent >= (ssize_t)sizeof frame && tutti_fs_write(fd, parcel->bytes + parcel->size - left, left, -1) == left;
}

/* The child of a fork: it never returns. */
static void be_worker(struct tutti_work *work, int fd, pid_t parent)
{
    struct tutti_parcel parcel = {0};
    size_t run;
    bool fatal = false;
    tutti_settle_in(parent);
    while (!fatal && read_all(fd, &run, sizeof run)) {
        if (tutti_work_run(work, run, &parcel, &fatal))
            break;
        if (!send_record(fd, &parcel, fatal))
            break;
    }
    fflush(NULL); /* what an FMU printed */
    _exit(0);
}

/* ---- workers, from outside ---- */

static enum tutti_err start_worker(struct pool *pool, struct worker *worker)
{
    int pair[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot start %u workers: %s; use fewer (--workers)", pool->count,
                          strerror(errno));
    fflush(NULL); /* or the worker would write it once more */
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        for (unsigned w = 0; w < pool->count; w++)
            if (pool->workers[w].pid > 0)
                close(pool->workers[w].fd);
        be_worker(pool->work, pair[1], parent);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot start %u workers: %s; use fewer (--workers)", pool->count,
                          strerror(errno));
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    worker->pid = pid;
    worker->fd = pair[0];
    worker->count = worker->told = 0;
    worker->ahead = FEW_AHEAD;
    worker->heard_at = tutti_clock_now();
    worker->leaves = false;
    tutti_parcel_reset(&worker->in);
    return TUTTI_OK;
}

/* The status that it ended with, as of waitpid. */
static int end_worker(struct worker *worker, bool by_force)
{
    int status = 0;
    if (by_force)
        kill(worker->pid, SIGKILL);
    close(worker->fd);
    while (waitpid(worker->pid, &status, 0) < 0 && errno == EINTR)
        ;
    worker->pid = 0;
    return status;
}

static bool take_next(struct pool *pool, size_t *run)
{
    if (pool->again.count == 0)
        return pool->order->next(pool->order->context, run);
    *run = ((size_t *)pool->again.items)[--pool->again.count];
    return true;
}

static void feed(struct pool *pool, struct worker *worker, unsigned ahead)
{
    size_t run;
    while (worker->count < ahead && worker->count < worker->ahead && take_next(pool, &run))
        worker->runs[worker->count++] = run;
}

/* One that cannot be told has ended, which is seen later: the runs are in its list. */
static void tell(struct worker *worker)
{
    size_t news = (worker->count - worker->told) * sizeof *worker->runs;
    if (news > 0)
        (void)!send(worker->fd, worker->runs + worker->told, news, MSG_NOSIGNAL);
    worker->told = worker->count;
}

/* ---- what they say ---- */

static void forget_oldest(struct worker *worker)
{
    worker->count--;
    worker->told--;
    memmove(worker->runs, worker->runs + 1, worker->count * sizeof *worker->runs);
}

/* It is to have enough ahead for two naps. */
static void look_ahead(struct worker *worker, unsigned records)
{
    double now = tutti_clock_now(), each = (now - worker->heard_at) / fmax(records, 1), wanted = 2 * NAP / each;
    worker->ahead = wanted > MOST_AHEAD ? MOST_AHEAD : wanted > FEW_AHEAD ? (unsigned)wanted : FEW_AHEAD;
    worker->heard_at = now;
}

/* All records that are whole. */
static enum tutti_err take_records(struct pool *pool, struct worker *worker)
{
    size_t at = 0;
    unsigned records = 0;
    struct frame frame;
    while (worker->in.size - at >= sizeof frame) {
        memcpy(&frame, worker->in.bytes + at, sizeof frame);
        if (frame.size > worker->in.size - at - sizeof frame)
            break;
        const struct tutti_bytes record = {frame.size, (const uint8_t *)worker->in.bytes + at + sizeof frame};
        at += sizeof frame + frame.size;
        worker->leaves = frame.leaves != 0;
        if (worker->count > 0)
            forget_oldest(worker);
        records++;
        TRY(pool->order->done(pool->order->context, record));
    }
    memmove(worker->in.bytes, worker->in.bytes + at, worker->in.size - at);
    worker->in.size -= at;
    if (records > 0)
        look_ahead(worker, records);
    return TUTTI_OK;
}

/* *open: there may be more later. */
static enum tutti_err hear(struct pool *pool, struct worker *worker, bool *open)
{
    for (;;) {
        char *room = tutti_parcel_extend(&worker->in, PIECE);
        if (!room)
            return tutti_fail_memory();
        ssize_t got = read(worker->fd, room, PIECE);
        worker->in.size -= PIECE - (got > 0 ? (size_t)got : 0);
        *open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
        if (got > 0)
            continue;
        return worker->in.size > 0 ? take_records(pool, worker) : TUTTI_OK;
    }
}

/* It ended in the oldest run that it was told of, and never came to the others. */
static enum tutti_err bury(struct pool *pool, struct worker *worker)
{
    char how[256];
    int status = end_worker(worker, false);
    if (worker->count > 0 && !worker->leaves) {
        struct tutti_parcel parcel = {0};
        if (WIFSIGNALED(status))
            tutti_ended_by_signal(WTERMSIG(status), how, sizeof how);
        else
            tutti_ended_by_exit(WEXITSTATUS(status), how, sizeof how);
        struct tutti_text message = {0};
        tutti_text_printf(&message, "the process of this run %s", how);
        tutti_run_record_put(
            &parcel,
            &(struct tutti_run_record){.run = worker->runs[0], .status = TUTTI_RUN_CRASHED, .message = message.text});
        enum tutti_err err = parcel.failed || message.failed
                                 ? tutti_fail_memory()
                                 : pool->order->done(pool->order->context, tutti_parcel_bytes(&parcel));
        tutti_parcel_fini(&parcel);
        tutti_text_fini(&message);
        TRY(err);
        forget_oldest(worker);
    }
    while (worker->count > 0) { /* taken again from the end: the oldest first */
        size_t *run = tutti_vector_push(&pool->again, sizeof *run);
        if (!run)
            return tutti_fail_memory();
        *run = worker->runs[--worker->count];
    }
    return TUTTI_OK;
}

/* ---- all ---- */

static enum tutti_err listen_to_all(struct pool *pool)
{
    for (unsigned w = 0; w < pool->count; w++)
        pool->polled[w] = (struct pollfd){.fd = pool->workers[w].pid ? pool->workers[w].fd : -1, .events = POLLIN};
    if (poll(pool->polled, pool->count, WAIT_MS) < 0 && errno != EINTR)
        return tutti_fail(TUTTI_ERR_IO, "cannot wait for workers: %s", strerror(errno));
    for (unsigned w = 0; w < pool->count; w++) {
        struct worker *worker = &pool->workers[w];
        bool open = true;
        if (worker->pid && pool->polled[w].revents)
            TRY(hear(pool, worker, &open));
        if (!open)
            TRY(bury(pool, worker));
    }
    return TUTTI_OK;
}

/* Workers are started while there are runs for them. False: all runs are made. */
static enum tutti_err feed_all(struct pool *pool, bool *busy)
{
    *busy = false;
    for (unsigned ahead = 1; ahead <= MOST_AHEAD; ahead++) /* first one for each, so that few runs are shared by all */
        for (unsigned w = 0; w < pool->count; w++) {
            struct worker *worker = &pool->workers[w];
            size_t run;
            if (!worker->pid && ahead == 1 && take_next(pool, &run)) {
                size_t *back = tutti_vector_push(&pool->again, sizeof *back);
                if (!back)
                    return tutti_fail_memory();
                *back = run;
                TRY(start_worker(pool, worker));
            }
            if (worker->pid && !worker->leaves)
                feed(pool, worker, ahead);
            *busy = *busy || worker->count > 0 || (worker->pid && worker->leaves); /* another takes its place */
        }
    for (unsigned w = 0; w < pool->count; w++)
        if (pool->workers[w].pid)
            tell(&pool->workers[w]);
    return TUTTI_OK;
}

/* If all that work have enough to do meanwhile. */
static void nap(const struct pool *pool)
{
    bool short_runs = true;
    for (unsigned w = 0; w < pool->count; w++)
        short_runs = short_runs && (!pool->workers[w].pid || pool->workers[w].ahead > FEW_AHEAD);
    if (short_runs)
        nanosleep(&(struct timespec){.tv_nsec = (long)(NAP * 1e9)}, NULL);
}

static enum tutti_err go(struct pool *pool)
{
    const volatile sig_atomic_t *interrupt = pool->work->options->interrupt;
    for (;;) {
        bool busy;
        TRY(feed_all(pool, &busy));
        if (!busy && pool->again.count == 0)
            return TUTTI_OK;
        nap(pool);
        TRY(listen_to_all(pool));
        pool->order->idle(pool->order->context);
        if (interrupt && *interrupt)
            return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted");
    }
}

enum tutti_err tutti_pool_run(struct tutti_work *work, const struct tutti_pool_order *order)
{
    struct pool pool = {.work = work, .order = order, .count = order->workers};
    pool.workers = calloc(pool.count, sizeof *pool.workers);
    pool.polled = calloc(pool.count, sizeof *pool.polled);
    enum tutti_err err = pool.workers && pool.polled ? go(&pool) : tutti_fail_memory();
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    for (unsigned w = 0; pool.workers && w < pool.count; w++) {
        if (pool.workers[w].pid)
            end_worker(&pool.workers[w], err != TUTTI_OK);
        tutti_parcel_fini(&pool.workers[w].in);
    }
    free(pool.workers);
    free(pool.polled);
    tutti_vector_fini(&pool.again);
    return tutti_failure_return(&failure);
}
