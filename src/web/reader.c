/* SPDX-License-Identifier: MIT */
/* A question goes this way:
 *
 *     server's thread          reader             process of the question
 *     socket pair
 *     one end  ------------->  fork  ---------->  has the end
 *     question -------------------------------->  reads it, calls the handler
 *              <--------------------------------  answer, and the end of the stream
 *
 * The reader itself reads nothing but descriptors, so that no question can damage it. It ends with the server, whose end of `control` closes
 * then. */
#include "web/reader.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/parcel.h"
#include "base/tempdir.h"

enum { MOST_SECONDS = 300, LARGEST_ANSWER = 1 << 30, CRASHED = 0xffffffff };

struct tutti_web_reader {
    pid_t pid;
    int control;
};

/* Arguments of addresses that handlers look at. */
static const char *const argument_names[] = {"path"};
enum { ARGUMENTS = sizeof argument_names / sizeof *argument_names };

/* ---- bytes ---- */

/* All bytes until the other side closes; false: too many, or no memory. */
static bool receive_all(int fd, struct tutti_parcel *parcel)
{
    char bytes[65536];
    for (;;) {
        ssize_t count = read(fd, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return !parcel->failed;
        if (parcel->size + (size_t)count > LARGEST_ANSWER)
            return false;
        tutti_parcel_put_bytes(parcel, bytes, (size_t)count);
    }
}

/* The other side may have closed already: then errno is EPIPE, and no signal comes. */
static bool send_all(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t count = send(fd, bytes, size, MSG_NOSIGNAL);
        if (count < 0 && errno != EINTR)
            return false;
        bytes += count > 0 ? count : 0;
        size -= count > 0 ? (size_t)count : 0;
    }
    return true;
}

/* ---- the process of a question ---- */

static int answer_fd = -1; /* in that process, for its handler of fatal signals */

/* Tells the server which signal it was, instead of an answer, and removes temporary files. Async-signal-safe. */
static void on_fatal(int number)
{
    const unsigned char told[] = {0xff, 0xff, 0xff, 0xff, (unsigned char)number, 0, 0, 0};
    tutti_tempdir_remove_all(getpid());
    (void)!write(answer_fd, told, sizeof told);
    _exit(128 + number);
}

static void prepare_for_the_worst(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU};
    static _Alignas(16) char stack[65536]; /* the process' own may be at its end */
    struct rlimit limit = {MOST_SECONDS, MOST_SECONDS + 5};
    struct sigaction action = {.sa_handler = on_fatal, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
    (void)setrlimit(RLIMIT_CPU, &limit);
    signal(SIGCHLD, SIG_DFL); /* handlers wait for commands that they start */
}

struct question {
    struct tutti_http_request http; /* the first member: `find_argument` comes from it to the question */
    const char *arguments[ARGUMENTS];
};

static const char *find_argument(const struct tutti_http_request *request, const char *name)
{
    const struct question *question = (const struct question *)request;
    for (size_t i = 0; i < ARGUMENTS; i++)
        if (strcmp(argument_names[i], name) == 0)
            return question->arguments[i];
    return NULL;
}

static const char *find_no_header(const struct tutti_http_request *request, const char *name)
{
    (void)request, (void)name;
    return NULL;
}

/* Reads the question, answers it, and ends the process. */
static _Noreturn void answer_question(struct tutti_web_site *site, int fd)
{
    struct tutti_parcel in = {0}, out = {0};
    struct question question = {.http = {.argument = find_argument, .header = find_no_header}};
    struct tutti_web_request request = {.http = &question.http};
    struct tutti_http_answer answer = {0};
    tutti_web_handler *handler = NULL;
    answer_fd = fd;
    prepare_for_the_worst();
    if (!receive_all(fd, &in))
        _exit(1);
    struct tutti_unparcel parts = tutti_unparcel_begin(tutti_parcel_bytes(&in));
    bool whole = tutti_unparcel_into(&parts, &handler, sizeof handler) &&
                 tutti_unparcel_into(&parts, request.id, sizeof request.id);
    question.http.method = tutti_unparcel_text(&parts);
    question.http.path = tutti_unparcel_text(&parts);
    for (size_t i = 0; i < ARGUMENTS; i++)
        question.arguments[i] = tutti_unparcel_text(&parts);
    question.http.body = tutti_unparcel_block(&parts, &question.http.size);
    if (!whole || parts.bad) /* the server has ended meanwhile */
        _exit(1);

    tutti_web_handler_call(handler, site, &request, &answer);
    tutti_parcel_put_u32(&out, answer.status);
    tutti_parcel_put_block(&out, answer.body, answer.size);
    _exit(out.failed || !send_all(fd, out.bytes, out.size) ? 1 : 0);
}

/* ---- the reader ---- */

/* The descriptor that comes with the next message; -1: the server has ended. */
static int receive_descriptor(int control)
{
    char byte;
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } buffer;
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &buffer, .msg_controllen = sizeof buffer};
    ssize_t count;
    int fd = -1;
    while ((count = recvmsg(control, &message, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR)
        ;
    struct cmsghdr *head = count > 0 ? CMSG_FIRSTHDR(&message) : NULL;
    if (head && head->cmsg_type == SCM_RIGHTS)
        memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
}

static bool send_descriptor(int control, int fd)
{
    char byte = 0;
    union {
        struct cmsghdr head;
        char space[CMSG_SPACE(sizeof(int))];
    } buffer = {.head = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS}};
    struct iovec bytes = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &bytes, .msg_iovlen = 1, .msg_control = &buffer, .msg_controllen = sizeof buffer};
    ssize_t count;
    memcpy(CMSG_DATA(&buffer.head), &fd, sizeof fd);
    while ((count = sendmsg(control, &message, MSG_NOSIGNAL)) < 0 && errno == EINTR)
        ;
    return count == 1;
}

static _Noreturn void read_for(struct tutti_web_site *site, int control)
{
    static const int left_to_the_server[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    int fd;
    for (size_t i = 0; i < sizeof left_to_the_server / sizeof *left_to_the_server; i++)
        signal(left_to_the_server[i], SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* processes of questions leave no zombies */
    while ((fd = receive_descriptor(control)) >= 0) {
        pid_t pid = fork();
        if (pid == 0) {
            close(control);
            answer_question(site, fd);
        }
        close(fd); /* where no process could be made, the server sees the end of the stream at once */
    }
    _exit(0);
}

enum tutti_err tutti_web_reader_new(struct tutti_web_reader **out, struct tutti_web_site *site)
{
    int ends[2];
    struct tutti_web_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tutti_fail_memory();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) {
        free(reader);
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot create a socket pair: %s", strerror(errno));
    }
    reader->control = ends[0];
    reader->pid = fork();
    if (reader->pid == 0) {
        close(ends[0]);
        read_for(site, ends[1]);
    }
    int error = errno;
    close(ends[1]);
    if (reader->pid < 0) {
        close(ends[0]);
        free(reader);
        return tutti_fail(TUTTI_ERR_LIMIT, "cannot create a process: %s", strerror(error));
    }
    *out = reader;
    return TUTTI_OK;
}

void tutti_web_reader_free(struct tutti_web_reader *reader)
{
    if (!reader)
        return;
    close(reader->control);
    while (waitpid(reader->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    free(reader);
}

/* ---- the server's side ---- */

static enum tutti_err read_answer(const struct tutti_parcel *in, struct tutti_http_answer *answer)
{
    struct tutti_unparcel parts = tutti_unparcel_begin(tutti_parcel_bytes(in));
    size_t size;
    unsigned status = tutti_unparcel_u32(&parts);
    if (status == CRASHED && !parts.bad) {
        int number = (int)tutti_unparcel_u32(&parts);
        return number == SIGXCPU
                   ? tutti_fail(TUTTI_ERR_LOST, "reading this took more than %d s of processor time", MOST_SECONDS)
                   : tutti_fail(TUTTI_ERR_LOST,
                                "reading this crashed (signal %d, %s); please report the file as a defect of Tutti",
                                number, strsignal(number));
    }
    const void *body = tutti_unparcel_block(&parts, &size);
    if (parts.bad)
        return tutti_fail(TUTTI_ERR_LOST, "the process that read this was killed, or could not be started: is the "
                                          "machine out of memory or processes?");
    char *copy = malloc(size + 1);
    if (!copy)
        return tutti_fail_memory();
    memcpy(copy, body, size);
    tutti_web_answer_text(answer, "application/json", copy, size);
    answer->status = status;
    return TUTTI_OK;
}

enum tutti_err tutti_web_reader_ask(struct tutti_web_reader *reader, tutti_web_handler *handler,
                                    const struct tutti_web_request *request, struct tutti_http_answer *answer)
{
    const struct tutti_http_request *http = request->http;
    struct tutti_parcel out = {0}, in = {0};
    int ends[2];
    tutti_parcel_put_block(&out, &handler, sizeof handler); /* a pointer: the reader is a fork of this process */
    tutti_parcel_put_block(&out, request->id, sizeof request->id);
    tutti_parcel_put_text(&out, http->method);
    tutti_parcel_put_text(&out, http->path);
    for (size_t i = 0; i < ARGUMENTS; i++)
        tutti_parcel_put_text(&out, http->argument(http, argument_names[i]));
    tutti_parcel_put_block(&out, http->body, http->size);
    enum tutti_err err = out.failed ? tutti_fail_memory() : TUTTI_OK;
    if (!err && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        err = tutti_fail(TUTTI_ERR_LIMIT, "cannot create a socket pair: %s", strerror(errno));
    if (err) {
        tutti_parcel_fini(&out);
        return err;
    }

    bool sent = send_descriptor(reader->control, ends[1]);
    close(ends[1]);
    /* A process that has crashed while the question was on its way may have told why: so its words are read in any case. */
    if (sent)
        (void)(send_all(ends[0], out.bytes, out.size) && shutdown(ends[0], SHUT_WR) == 0);
    err = receive_all(ends[0], &in) ? read_answer(&in, answer) : tutti_fail_memory();
    close(ends[0]);
    tutti_parcel_fini(&out);
    tutti_parcel_fini(&in);
    return err;
}
