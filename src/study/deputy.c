/* SPDX-License-Identifier: MIT */
#include "study/deputy.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/kill.h"
#include "base/log.h"
#include "conduct/settle.h"
#include "study/pool.h"

/* ---- in the deputy ---- */

struct desk {
    int fd;
    bool closed; /* there are no more runs */
};

static bool next(void *context, size_t *run)
{
    struct desk *desk = context;
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

static enum tutti_err done(void *context, struct tutti_bytes record)
{
    const struct desk *desk = context;
    return tutti_way_send(desk->fd, record, false) ? TUTTI_OK : tutti_fail(TUTTI_ERR_LOST, "the sweep has ended");
}

static enum tutti_err idle(void *context)
{
    (void)context;
    return TUTTI_OK;
}

static bool waits(void *context, int *file)
{
    const struct desk *desk = context;
    *file = desk->closed ? -1 : desk->fd;
    return !desk->closed;
}

/* It never returns. */
static void be_deputy(struct tutti_work *work, int fd, pid_t parent)
{
    struct desk desk = {.fd = fd};
    const struct tutti_pool_order order = {.way = &tutti_way_forked,
                                           .workers = 1,
                                           .context = &desk,
                                           .next = next,
                                           .done = done,
                                           .idle = idle,
                                           .waits = waits};
    tutti_settle_in(parent);
    enum tutti_err err = tutti_pool_run(work, &order);
    if (err && err != TUTTI_ERR_LOST)
        tutti_log_printf(work->options->log, TUTTI_LOG_ERROR, NULL, "%s", tutti_err_message());
    fflush(NULL);
    _exit(err ? 1 : 0);
}

/* ---- from outside ---- */

enum tutti_err tutti_deputy_start(struct tutti_deputy *deputy, struct tutti_work *work)
{
    int pair[2];
    pid_t parent = getpid();
    *deputy = (struct tutti_deputy){.fd = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot start a worker: %s", strerror(errno));
    fflush(NULL); /* or the child would write it once more */
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        be_deputy(work, pair[1], parent);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot start a worker: %s", strerror(errno));
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    *deputy = (struct tutti_deputy){pid, pair[0]};
    return TUTTI_OK;
}

void tutti_deputy_end(struct tutti_deputy *deputy, bool by_force)
{
    if (deputy->pid <= 0)
        return;
    if (by_force)
        (void)tutti_kill_child(deputy->pid, SIGKILL); /* its worker ends with it */
    close(deputy->fd);
    while (waitpid(deputy->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    *deputy = (struct tutti_deputy){.fd = -1};
}
