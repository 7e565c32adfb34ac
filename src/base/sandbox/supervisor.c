/* SPDX-License-Identifier: MIT */
#include "base/sandbox/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wall_clock.h"

enum { LOOK_MS = 100 }; /* between looks at the scratch folder */

/* ---- in the supervisor ---- */

enum { LISTENER, PORT, HANDED }; /* descriptors that come with a byte */

/* Room for them in a message. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(HANDED * sizeof(int))];
};

/* -1: there is none. */
static void supervisor_receive(int socket, int handed[HANDED])
{
    char byte;
    union control control;
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control.room};
    ssize_t got;
    do
        got = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    const struct cmsghdr *head = got == 1 ? CMSG_FIRSTHDR(&message) : NULL;
    handed[LISTENER] = handed[PORT] = -1;
    if (head && head->cmsg_type == SCM_RIGHTS && head->cmsg_len <= CMSG_LEN(HANDED * sizeof(int)))
        memcpy(handed, CMSG_DATA(head), head->cmsg_len - CMSG_LEN(0));
}

/* One call: false if the worker is gone. */
static bool supervisor_answer(struct tt_supervision *judge, int listener, struct seccomp_notif *call, size_t size)
{
    memset(call, 0, size);
    if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, call) != 0)
        return errno == EINTR || errno == ENOENT;
    int error = tt_supervisor_judge_call(judge, call);
    struct seccomp_notif_resp answer = {
        .id = call->id, .error = -error, .flags = error ? 0 : (uint32_t)SECCOMP_USER_NOTIF_FLAG_CONTINUE};
    (void)ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer); /* fails where the caller was killed meanwhile */
    return true;
}

static void supervisor_serve(struct tt_supervision *judge, int listener, int socket)
{
    struct seccomp_notif_sizes sizes;
    if (syscall(SYS_seccomp, SECCOMP_GET_NOTIF_SIZES, 0, &sizes) != 0)
        return;
    size_t size = sizes.seccomp_notif > sizeof(struct seccomp_notif) ? sizes.seccomp_notif
                                                                     : sizeof(struct seccomp_notif);
    struct seccomp_notif *call = malloc(size);
    struct pollfd waits[] = {{.fd = listener, .events = POLLIN}, {.fd = socket, .events = POLLIN}};
    double looked = tt_wall_clock_now();
    while (call) {
        int ready = poll(waits, 2, judge->uses_scratch && !judge->scratch_is_full ? LOOK_MS : -1);
        if (ready < 0 && errno != EINTR)
            break;
        if (waits[0].revents & POLLIN && !supervisor_answer(judge, listener, call, size))
            break;
        if (waits[0].revents & (POLLHUP | POLLERR))
            break;
        if (waits[1].revents) { /* a byte: the end. Else the worker's end is closed */
            char byte;
            if (recv(socket, &byte, 1, MSG_DONTWAIT) == 1)
                break;
            waits[1].fd = -1;
        }
        if (tt_wall_clock_now() - looked >= LOOK_MS / 1e3) {
            tt_supervisor_check_scratch(judge);
            looked = tt_wall_clock_now();
        }
    }
    free(call);
}

static _Noreturn void supervisor_main(const struct tt_supervised *supervised, pid_t worker, int socket)
{
    static const int ignored[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE};
    struct tt_supervision judge = {.of = *supervised, .worker = worker};
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        signal(ignored[i], SIG_IGN);
    prctl(PR_SET_NAME, "tutti-confine");
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == worker) { /* or it has died before that */
        int mine = fcntl(socket, F_DUPFD_CLOEXEC, 3);
        if (mine > 3)
            (void)close_range(3, (unsigned)mine - 1, 0);
        (void)close_range((unsigned)mine + 1, ~0U, 0);
        int handed[HANDED];
        supervisor_receive(mine, handed);
        judge.port = handed[PORT];
        if (handed[LISTENER] >= 0)
            supervisor_serve(&judge, handed[LISTENER], mine);
    }
    _exit(0);
}

/* ---- in the worker ---- */

enum tutti_err tt_supervisor_start(struct tt_supervisor *supervisor, const struct tt_supervised *supervised)
{
    int pair[2];
    pid_t worker = getpid();
    *supervisor = (struct tt_supervisor){.socket = -1};
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return tt_fail(TUTTI_ERR_IO, "a worker cannot be confined: %s", strerror(errno));
    pid_t pid = fork();
    if (pid == 0)
        supervisor_main(supervised, worker, pair[1]);
    close(pair[1]);
    if (pid < 0) {
        close(pair[0]);
        return tt_fail(TUTTI_ERR_LIMIT, "a worker cannot be confined: no process for its supervisor: %s",
                       strerror(errno));
    }
    *supervisor = (struct tt_supervisor){.pid = pid, .socket = pair[0]};
    (void)prctl(PR_SET_PTRACER, (unsigned long)pid); /* where that is restricted (Yama): it reads paths in our memory */
    return TUTTI_OK;
}

enum tutti_err tt_supervisor_hand_over(const struct tt_supervisor *supervisor, int listener, int port)
{
    char byte = 0;
    const int handed[HANDED] = {[LISTENER] = listener, [PORT] = port};
    size_t size = (port < 0 ? 1 : HANDED) * sizeof *handed;
    union control control = {.head = {.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS, .cmsg_len = CMSG_LEN(size)}};
    struct iovec part = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = CMSG_SPACE(size)};
    memcpy(CMSG_DATA(&control.head), handed, size);
    ssize_t sent = sendmsg(supervisor->socket, &message, MSG_NOSIGNAL);
    close(listener);
    return sent == 1
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_IO, "a worker cannot be confined: its supervisor is gone: %s", strerror(errno));
}

void tt_supervisor_end(struct tt_supervisor *supervisor)
{
    if (supervisor->pid == 0)
        return;
    bool is_told = send(supervisor->socket, "", 1, MSG_NOSIGNAL) == 1; /* an FMU may have closed it */
    close(supervisor->socket);
    while (is_told && waitpid(supervisor->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    *supervisor = (struct tt_supervisor){.socket = -1};
}
