/* SPDX-License-Identifier: MIT */
#include "apps/study/worker_mpi.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps/study/worker_pool.h"
#include "base/child.h"
#include "base/log.h"
#include "run/fmu_process.h"
#include "sim/ranks/fabric.h"

enum {
    NAP_MS = 1,
    MOST_WAITING = 4, /* messages of a rank that are not on their way: its deputy waits */
};

/* ---- a rank ---- */

enum tutti_err tt_worker_mpi_enter(struct tt_sweep_rank *rank, struct tt_sweep_worker *work, enum tutti_err err)
{
    struct tt_failure failure;
    *rank = (struct tt_sweep_rank){.deputy = {.fd = -1}};
    tt_fail_save(&failure, err ? err : tt_worker_mpi_start_proxy(&rank->deputy, work));
    TRY(tt_launch_mpi_start(&rank->world, NULL));
    return rank->world.module->agree(tt_fail_restore(&failure));
}

void tt_worker_mpi_leave(struct tt_sweep_rank *rank)
{
    const struct tt_mpi_world *world = &rank->world;
    for (int r = 1; world->module && world->rank == 0 && r < world->ranks; r++)
        (void)!world->module->post(r, NULL, 0);
    tt_worker_mpi_stop_proxy(&rank->deputy, true);
    if (world->module)
        world->module->finish();
}

/* Forwards records of the deputy to rank 0; reports the end of a deputy once. */
static enum tutti_err worker_mpi_forward_records(struct tt_sweep_rank *rank, struct tt_byte_writer *in, bool *open)
{
    tt_bytes_reset(in);
    TRY(tt_worker_pool_receive(rank->deputy.fd, in, open));
    if (in->size > 0)
        TRY(rank->world.module->post(0, in->bytes, in->size));
    return *open ? TUTTI_OK : rank->world.module->post(0, NULL, 0);
}

/* *over: rank 0 has ended the work. */
static enum tutti_err worker_mpi_handle_order(struct tt_sweep_rank *rank, bool *over)
{
    for (int from = 0; from >= 0 && !*over;) {
        char *bytes = NULL;
        size_t size = 0;
        TRY(rank->world.module->take(&from, &bytes, &size));
        if (from >= 0 && size > 0) /* little at a time: it fits into the socket's room */
            (void)!send(rank->deputy.fd, bytes, size, MSG_NOSIGNAL);
        *over = from >= 0 && size == 0;
        free(bytes);
    }
    return TUTTI_OK;
}

static enum tutti_err worker_mpi_serve_orders(struct tt_sweep_rank *rank, struct tt_byte_writer *in)
{
    bool over = false, open = true;
    while (!over) {
        bool room = open && rank->world.module->posted() < MOST_WAITING;
        struct pollfd news = {.fd = room ? rank->deputy.fd : -1, .events = POLLIN};
        (void)poll(&news, 1, NAP_MS);
        if (room && news.revents)
            TRY(worker_mpi_forward_records(rank, in, &open));
        TRY(worker_mpi_handle_order(rank, &over));
    }
    return tt_fabric_fail_stopped();
}

enum tutti_err tt_worker_mpi_serve(struct tt_sweep_rank *rank)
{
    struct tt_byte_writer in = {0};
    enum tutti_err err = worker_mpi_serve_orders(rank, &in);
    tt_bytes_fini(&in);
    return err;
}

/* ---- the workers, as rank 0 sees them: worker r is that of rank r ---- */

struct mpi_inbox {
    struct tt_byte_writer came;
    bool closed; /* its deputy has ended */
};

struct mpi_workers {
    struct tt_sweep_rank *rank;
    struct mpi_inbox *inboxes;
    unsigned count;
};

static enum tutti_err open_mpi_workers(void *self, struct tt_sweep_worker *work, void *context, unsigned *workers)
{
    struct mpi_workers *fleet = self;
    (void)work;
    fleet->rank = context;
    fleet->count = *workers = (unsigned)fleet->rank->world.ranks;
    fleet->inboxes = calloc(fleet->count, sizeof *fleet->inboxes);
    return fleet->inboxes ? TUTTI_OK : tt_fail_memory();
}

static void close_mpi_workers(void *self)
{
    struct mpi_workers *fleet = self;
    for (unsigned w = 0; fleet->inboxes && w < fleet->count; w++)
        tt_bytes_fini(&fleet->inboxes[w].came);
    free(fleet->inboxes);
}

static enum tutti_err worker_mpi_start(void *self, unsigned worker)
{
    const struct mpi_workers *fleet = self;
    return fleet->inboxes[worker].closed
               ? tt_fail(TUTTI_ERR_LOST, "the worker of rank %u has ended, and cannot be replaced", worker)
               : TUTTI_OK;
}

static size_t worker_mpi_assign_runs(void *self, unsigned worker, const size_t *runs, size_t count)
{
    const struct mpi_workers *fleet = self;
    if (worker == 0)
        (void)!send(fleet->rank->deputy.fd, runs, count * sizeof *runs, MSG_NOSIGNAL);
    else if (fleet->rank->world.module->post((int)worker, runs, count * sizeof *runs))
        return 0;
    return count;
}

/* Messages of all ranks, each into its inbox. */
static enum tutti_err distribute_messages(const struct mpi_workers *fleet)
{
    for (int from = 0; from >= 0;) {
        char *bytes = NULL;
        size_t size = 0;
        TRY(fleet->rank->world.module->take(&from, &bytes, &size));
        if (from > 0 && from < (int)fleet->count) {
            tt_bytes_put_bytes(&fleet->inboxes[from].came, bytes, size);
            fleet->inboxes[from].closed = fleet->inboxes[from].closed || size == 0;
        }
        free(bytes);
    }
    return TUTTI_OK;
}

static enum tutti_err worker_mpi_receive(void *self, unsigned worker, struct tt_byte_writer *in, bool *open)
{
    const struct mpi_workers *fleet = self;
    struct mpi_inbox *inbox = &fleet->inboxes[worker];
    if (worker == 0) {
        TRY(tt_worker_pool_receive(fleet->rank->deputy.fd, in, open));
        inbox->closed = !*open;
    } else {
        TRY(distribute_messages(fleet));
        if (inbox->came.size > 0)
            tt_bytes_put_bytes(in, inbox->came.bytes, inbox->came.size);
        tt_bytes_reset(&inbox->came);
        *open = !inbox->closed;
    }
    return inbox->came.failed ? tt_fail_memory() : TUTTI_OK;
}

/* A deputy reports the end of its worker. */
static void worker_mpi_stop(void *self, unsigned worker, bool by_force, struct tt_worker_ending *ending)
{
    const struct mpi_workers *fleet = self;
    (void)ending;
    if (worker == 0) /* others end with the work (tt_worker_mpi_leave) */
        tt_worker_mpi_stop_proxy(&fleet->rank->deputy, by_force);
}

static int worker_mpi_poll_file(const void *self, unsigned worker)
{
    const struct mpi_workers *fleet = self;
    return worker == 0 ? fleet->rank->deputy.fd : -1;
}

const struct tt_worker_backend tt_worker_mpi = {.name = "mpi",
                                                .size = sizeof(struct mpi_workers),
                                                .does_without = true,
                                                .open = open_mpi_workers,
                                                .close = close_mpi_workers,
                                                .start = worker_mpi_start,
                                                .tell = worker_mpi_assign_runs,
                                                .hear = worker_mpi_receive,
                                                .end = worker_mpi_stop,
                                                .file = worker_mpi_poll_file};

/* ---- in the deputy ---- */

struct proxy_socket {
    int fd;
    bool closed; /* no further runs follow */
};

static bool fork_proxy_next_run(void *context, size_t *run)
{
    struct proxy_socket *desk = context;
    ssize_t got = 0;
    if (desk->closed)
        return false;
    do
        got = recv(desk->fd, run, sizeof *run, MSG_DONTWAIT);
    while (got < 0 && errno == EINTR);
    desk->closed = got == 0 || (got < 0 && errno != EAGAIN);
    /* reads the rest of the number */
    for (size_t had = got > 0 ? (size_t)got : 0; had > 0 && had < sizeof *run; had += (size_t)got)
        if ((got = recv(desk->fd, (char *)run + had, sizeof *run - had, MSG_WAITALL)) <= 0) {
            desk->closed = true;
            return false;
        }
    return got > 0;
}

static enum tutti_err fork_proxy_send_record(void *context, struct tt_bytes record)
{
    const struct proxy_socket *desk = context;
    return tt_worker_pool_send_record(desk->fd, record, false) ? TUTTI_OK
                                                               : tt_fail(TUTTI_ERR_LOST, "the sweep has ended");
}

static enum tutti_err fork_proxy_on_idle(void *context)
{
    (void)context;
    return TUTTI_OK;
}

static bool fork_proxy_poll_file(void *context, int *file)
{
    const struct proxy_socket *desk = context;
    *file = desk->closed ? -1 : desk->fd;
    return !desk->closed;
}

/* It never returns. */
static void run_fork_proxy(void *context, int fd, pid_t parent)
{
    struct tt_sweep_worker *work = context;
    struct proxy_socket desk = {.fd = fd};
    const struct tt_worker_pool_plan order = {.way = &tt_worker_forked,
                                              .workers = 1,
                                              .context = &desk,
                                              .next = fork_proxy_next_run,
                                              .done = fork_proxy_send_record,
                                              .idle = fork_proxy_on_idle,
                                              .waits = fork_proxy_poll_file};
    tt_fmu_process_install_signals(parent);
    enum tutti_err err = tt_worker_pool_run(work, &order);
    if (err && err != TUTTI_ERR_LOST)
        tt_log(work->options->log, TUTTI_LOG_ERROR, NULL, "%s", tutti_err_message());
    fflush(NULL);
    _exit(err ? 1 : 0);
}

/* ---- from outside ---- */

enum tutti_err tt_worker_mpi_start_proxy(struct tt_fork_proxy *deputy, struct tt_sweep_worker *work)
{
    int error = tt_child_fork(&deputy->pid, &deputy->fd, SOCK_STREAM, run_fork_proxy, work);
    if (error)
        return tt_fail(TUTTI_ERR_LIMIT, "cannot start a worker: %s", strerror(error));
    fcntl(deputy->fd, F_SETFL, O_NONBLOCK);
    return TUTTI_OK;
}

void tt_worker_mpi_stop_proxy(struct tt_fork_proxy *deputy, bool by_force)
{
    if (deputy->pid <= 0)
        return;
    if (by_force)
        (void)tt_child_kill(deputy->pid, SIGKILL); /* its worker ends with it */
    close(deputy->fd);
    (void)tt_child_wait(deputy->pid, INFINITY, NULL);
    *deputy = (struct tt_fork_proxy){.fd = -1};
}
