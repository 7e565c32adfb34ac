/* SPDX-License-Identifier: MIT */
/* Workers as processes forked from this process. A run that crashes or ends its worker affects no other run. */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "base/fs.h"
#include "base/child.h"
#include "base/log.h"
#include "apps/api/simulation.h"
#include "run/confined.h"
#include "run/supervision.h"
#include "run/fmu_process.h"
#include "fmu/process/exit_message.h"
#include "apps/study/worker_pool.h"

struct forked_child {
    pid_t pid; /* 0: none */
    int fd;
    size_t seen; /* the run it was in when last seen */
    double since;
    bool hangs; /* it has been in that run for too long */
};

/* The progress of a child, in shared memory. */
struct forked_run_state {
    _Atomic size_t run; /* that it began last; SIZE_MAX: it waits for one */
    _Atomic uint32_t component;
};

struct forked_workers {
    struct tt_sweep_worker *work;
    struct forked_child *children;
    struct forked_run_state *signs; /* per child */
    struct tt_confined confined;
    unsigned count;
};

/* Sending a record costs more than a short run. So records are sent after this number of seconds or bytes. A worker
 * that ends before that loses them, and their runs are repeated. */
static const double SECONDS_PER_SEND = 2e-3;
enum { BYTES_PER_SEND = 1 << 15 };

/* ---- in the child ---- */

struct assigned_runs {
    size_t runs[64];
    size_t size, used; /* bytes */
};

/* Receives the next run; false at the end. Several are read at once. */
static bool receive_run_number(int fd, struct assigned_runs *told, size_t *run)
{
    while (told->size - told->used < sizeof *run) { /* empty, or with an incomplete number */
        ssize_t got = read(fd, (char *)told->runs + told->size, sizeof told->runs - told->size);
        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        told->size += got > 0 ? (size_t)got : 0;
    }
    *run = told->runs[told->used / sizeof *run];
    told->used += sizeof *run;
    if (told->used == told->size)
        told->used = told->size = 0;
    return true;
}

/* Makes runs until one is Fatal, or all are made. */
static void worker_forked_run_all(struct tt_sweep_worker *work, int fd, struct forked_run_state *sign)
{
    struct tt_byte_writer record = {0}, pending = {0};
    struct assigned_runs told = {.size = 0};
    double sent_at = tt_wall_clock_now();
    bool fatal = false, works = true;
    size_t run;
    while (!fatal && works && receive_run_number(fd, &told, &run)) {
        sign->run = run;
        works = !tt_sweep_worker_run(work, run, &record, &fatal);
        if (works)
            tt_worker_pool_write_record(&pending, tt_bytes_written(&record), fatal);
        double now = tt_wall_clock_now();
        bool last = fatal || !works || told.size == 0;
        if (!last && pending.size < BYTES_PER_SEND && now - sent_at < SECONDS_PER_SEND)
            continue;
        works = !pending.failed && tt_fs_write(fd, pending.bytes, pending.size, -1) == pending.size && works;
        tt_bytes_reset(&pending);
        sent_at = now;
        if (told.size == 0)
            sign->run = SIZE_MAX;
    }
}

/* Which worker a copy of this process is to be. */
struct forked_errand {
    const struct forked_workers *family;
    unsigned worker;
};

/* It never returns. */
static void run_forked_worker(void *context, int fd, pid_t parent)
{
    const struct forked_errand *errand = context;
    const struct forked_workers *family = errand->family;
    unsigned worker = errand->worker;
    for (unsigned w = 0; w < family->count; w++)
        if (family->children[w].pid > 0)
            close(family->children[w].fd);
    struct tt_sandbox confinement;
    struct forked_run_state *sign = &family->signs[worker];
    const struct tutti_log *log = family->work->options->log;
    tt_fmu_process_install_signals(parent);
    enum tutti_err err = tt_confined_enter(&family->confined, &family->work->trial.simulation->job, (int)worker,
                                           &sign->component, fd, &confinement);
    if (err)
        tt_log(log, TUTTI_LOG_ERROR, NULL, "%s", tutti_err_message());
    else
        worker_forked_run_all(family->work, fd, sign);
    fflush(NULL); /* what an FMU printed */
    tt_sandbox_end(&confinement);
    _exit(err ? 1 : 0);
}

/* ---- from outside ---- */

static enum tutti_err open_forked_workers(void *self, struct tt_sweep_worker *work, void *context, unsigned *workers)
{
    struct forked_workers *family = self;
    (void)context;
    family->work = work;
    family->count = *workers;
    family->children = calloc(*workers, sizeof *family->children);
    void *shared =
        mmap(NULL, *workers * sizeof *family->signs, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    family->signs = shared == MAP_FAILED ? NULL : shared;
    if (!family->children || !family->signs)
        return tt_fail_memory();
    return tt_confined_open(&family->confined, &work->trial.simulation->job, (int)*workers);
}

static void close_forked_workers(void *self)
{
    struct forked_workers *family = self;
    tt_confined_close(&family->confined);
    free(family->children);
    if (family->signs)
        munmap(family->signs, family->count * sizeof *family->signs);
}

static enum tutti_err worker_forked_start(void *self, unsigned worker)
{
    struct forked_workers *family = self;
    struct forked_errand errand = {family, worker};
    pid_t pid;
    int fd;
    family->signs[worker].run = SIZE_MAX;
    int error = tt_child_fork(&pid, &fd, SOCK_STREAM, run_forked_worker, &errand);
    if (error)
        return tt_fail(TUTTI_ERR_LIMIT, "cannot start %u workers: %s; use fewer (--workers)", family->count,
                       strerror(error));
    fcntl(fd, F_SETFL, O_NONBLOCK);
    family->children[worker] = (struct forked_child){.pid = pid, .fd = fd, .seen = SIZE_MAX};
    return TUTTI_OK;
}

/* A worker that cannot be reached has ended, which is detected later. */
static size_t worker_forked_assign_runs(void *self, unsigned worker, const size_t *runs, size_t count)
{
    const struct forked_workers *family = self;
    (void)!send(family->children[worker].fd, runs, count * sizeof *runs, MSG_NOSIGNAL);
    return count;
}

static enum tutti_err worker_forked_receive(void *self, unsigned worker, struct tt_byte_writer *in, bool *open)
{
    struct forked_workers *family = self;
    tt_confined_log_new_denials(&family->confined, &family->work->trial.simulation->job, (int)worker);
    return tt_worker_pool_receive(family->children[worker].fd, in, open);
}

/* A run that takes longer than it may ends with its process. */
static void worker_forked_check_timeout(void *self, unsigned worker)
{
    const struct forked_workers *family = self;
    const struct tutti_run_options *options = family->work->options;
    struct forked_child *child = &family->children[worker];
    if (!options->has_timeout)
        return;
    size_t run = family->signs[worker].run;
    double now = tt_wall_clock_now();
    if (run != child->seen) {
        child->seen = run;
        child->since = now;
    } else if (run != SIZE_MAX && now - child->since > options->timeout && !child->hangs) {
        child->hangs = true;
        (void)tt_child_kill(child->pid, SIGKILL);
    }
}

static void worker_forked_stop(void *self, unsigned worker, bool by_force, struct tt_worker_ending *ending)
{
    struct forked_workers *family = self;
    struct forked_child *child = &family->children[worker];
    int status = 0;
    if (by_force)
        (void)tt_child_kill(child->pid, SIGKILL);
    close(child->fd);
    (void)tt_child_wait(child->pid, INFINITY, &status);
    child->pid = 0;
    tt_confined_log_new_denials(&family->confined, &family->work->trial.simulation->job, (int)worker);
    ending->run = family->signs[worker].run;
    if (child->hangs)
        tt_supervision_describe_silence(family->work->options->timeout, ending->how, sizeof ending->how);
    else if (WIFSIGNALED(status))
        tt_exit_message_signal(WTERMSIG(status), ending->how, sizeof ending->how);
    else
        tt_exit_message_status(WEXITSTATUS(status), ending->how, sizeof ending->how);
}

static int worker_forked_poll_file(const void *self, unsigned worker)
{
    const struct forked_workers *family = self;
    return family->children[worker].fd;
}

const struct tt_worker_backend tt_worker_forked = {.name = "forked",
                                                   .size = sizeof(struct forked_workers),
                                                   .open = open_forked_workers,
                                                   .close = close_forked_workers,
                                                   .start = worker_forked_start,
                                                   .tell = worker_forked_assign_runs,
                                                   .hear = worker_forked_receive,
                                                   .watch = worker_forked_check_timeout,
                                                   .end = worker_forked_stop,
                                                   .file = worker_forked_poll_file};
