/* SPDX-License-Identifier: MIT */
/* Workers as processes that are forked from this one. A run that crashes its worker, or ends it, costs that run alone. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conduct/settle.h"
#include "fmi/ended.h"
#include "study/way.h"

struct child {
    pid_t pid; /* 0: none */
    int fd;
};

struct family {
    struct tutti_work *work;
    struct child *children;
    unsigned count;
};

/* ---- in the child ---- */

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

/* It never returns. */
static void be_worker(struct tutti_work *work, int fd, pid_t parent)
{
    struct tutti_parcel parcel = {0};
    size_t run;
    bool fatal = false;
    tutti_settle_in(parent);
    while (!fatal && read_all(fd, &run, sizeof run)) {
        if (tutti_work_run(work, run, &parcel, &fatal))
            break;
        if (!tutti_way_send(fd, tutti_parcel_bytes(&parcel), fatal))
            break;
    }
    fflush(NULL); /* what an FMU printed */
    _exit(0);
}

/* ---- from outside ---- */

static enum tutti_err open_family(void *self, struct tutti_work *work, void *context, unsigned *workers)
{
    struct family *family = self;
    (void)context;
    family->work = work;
    family->count = *workers;
    family->children = calloc(*workers, sizeof *family->children);
    return family->children ? TUTTI_OK : tutti_fail_memory();
}

static void close_family(void *self)
{
    free(((struct family *)self)->children);
}

static enum tutti_err fail_start(const struct family *family)
{
    return tutti_fail(TUTTI_ERR_LIMIT, "cannot start %u workers: %s; use fewer (--workers)", family->count,
                      strerror(errno));
}

static enum tutti_err start(void *self, unsigned worker)
{
    struct family *family = self;
    int pair[2];
    pid_t parent = getpid();
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return fail_start(family);
    fflush(NULL); /* or the child would write it once more */
    pid_t pid = fork();
    if (pid == 0) {
        close(pair[0]);
        for (unsigned w = 0; w < family->count; w++)
            if (family->children[w].pid > 0)
                close(family->children[w].fd);
        be_worker(family->work, pair[1], parent);
    }
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return fail_start(family);
    }
    fcntl(pair[0], F_SETFL, O_NONBLOCK);
    family->children[worker] = (struct child){pid, pair[0]};
    return TUTTI_OK;
}

/* One that cannot be told has ended, which is seen later. */
static size_t tell(void *self, unsigned worker, const size_t *runs, size_t count)
{
    const struct family *family = self;
    (void)!send(family->children[worker].fd, runs, count * sizeof *runs, MSG_NOSIGNAL);
    return count;
}

static enum tutti_err hear(void *self, unsigned worker, struct tutti_parcel *in, bool *open)
{
    const struct family *family = self;
    return tutti_way_read(family->children[worker].fd, in, open);
}

static void end(void *self, unsigned worker, bool by_force, struct tutti_way_ending *ending)
{
    struct family *family = self;
    struct child *child = &family->children[worker];
    int status = 0;
    if (by_force)
        kill(child->pid, SIGKILL);
    close(child->fd);
    while (waitpid(child->pid, &status, 0) < 0 && errno == EINTR)
        ;
    child->pid = 0;
    if (WIFSIGNALED(status))
        tutti_ended_by_signal(WTERMSIG(status), ending->how, sizeof ending->how);
    else
        tutti_ended_by_exit(WEXITSTATUS(status), ending->how, sizeof ending->how);
}

static int file(const void *self, unsigned worker)
{
    const struct family *family = self;
    return family->children[worker].fd;
}

const struct tutti_way tutti_way_forked = {.name = "forked",
                                           .size = sizeof(struct family),
                                           .open = open_family,
                                           .close = close_family,
                                           .start = start,
                                           .tell = tell,
                                           .hear = hear,
                                           .end = end,
                                           .file = file};
