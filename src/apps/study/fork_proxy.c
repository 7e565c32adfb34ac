/* SPDX-License-Identifier: MIT */
#include "apps/study/fork_proxy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/child_signals.h"
#include "base/log.h"
#include "run/fmu_process.h"
#include "apps/study/worker_pool.h"

/* ---- in the deputy ---- */

struct proxy_socket {
    int fd;
    bool closed; /* there are no more runs */
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
    for (size_t had = got > 0 ? (size_t)got : 0; had > 0 && had < sizeof *run; had += (size_t)got) /* the rest of it */
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
static void run_fork_proxy(struct tt_sweep_worker *work, int fd, pid_t parent)
{
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
    int pair[2];
    pid_t parent = getpid();
    *deputy = (struct tt_fork_proxy){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return tt_fail(TUTTI_ERR_LIMIT, "cannot start a worker: %s", strerror(errno));
    fflush(NULL); /* or the child would write it once more */
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        run_fork_proxy(work, pair[1], parent);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return tt_fail(TUTTI_ERR_LIMIT, "cannot start a worker: %s", strerror(errno));
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *deputy = (struct tt_fork_proxy){pid, pair[0]};
    return TUTTI_OK;
}

void tt_worker_mpi_stop_proxy(struct tt_fork_proxy *deputy, bool by_force)
{
    if (deputy->pid <= 0)
        return;
    if (by_force)
        (void)tt_child_kill(deputy->pid, SIGKILL); /* its worker ends with it */
    close(deputy->fd);
    while (waitpid(deputy->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *deputy = (struct tt_fork_proxy){.fd = -1};
}
