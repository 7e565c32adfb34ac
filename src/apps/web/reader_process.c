/* SPDX-License-Identifier: MIT */
/* The path of a request to the reader:
 *
 *     server's thread          reader             process of the question
 *     socket pair
 *     one end  ------------->  fork  ---------->  has the end
 *     question -------------------------------->  reads it, calls the handler
 *              <--------------------------------  answer, and the end of the stream
 *
 * The reader itself reads only descriptors, so that no request can damage it. It ends when the server closes `control`. */
#include "apps/web/reader_process.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/child.h"
#include "base/fs.h"
#include "base/bytes.h"
#include "base/tempdir.h"

enum { MOST_SECONDS = 300, LARGEST_ANSWER = 1 << 30, CRASHED = 0xffffffff };

struct tt_reader_process {
    pid_t pid;
    int control;
};

/* Arguments of addresses that handlers look at. */
static const char *const argument_names[] = {"path"};
enum { ARGUMENTS = sizeof argument_names / sizeof *argument_names };

/* ---- bytes ---- */

/* Receives all bytes until the peer closes; false: too many, or out of memory. */
static bool reader_process_receive_all(int fd, struct tt_byte_writer *parcel)
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
        tt_bytes_put_bytes(parcel, bytes, (size_t)count);
    }
}

/* The other side may have closed already: then errno is EPIPE, and no signal comes. */
static bool reader_process_send_all(int fd, const char *bytes, size_t size)
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
static void on_reader_fatal(int number)
{
    const unsigned char told[] = {0xff, 0xff, 0xff, 0xff, (unsigned char)number, 0, 0, 0};
    tt_tempdir_remove_all(getpid());
    (void)!write(answer_fd, told, sizeof told);
    _exit(128 + number);
}

static void install_fatal_handlers(void)
{
    static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGSYS, SIGXCPU};
    static _Alignas(16) char stack[65536]; /* the process' own may be at its end */
    struct rlimit limit = {MOST_SECONDS, MOST_SECONDS + 5};
    struct sigaction action = {.sa_handler = on_reader_fatal, .sa_flags = SA_ONSTACK | (int)SA_RESETHAND};
    sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
    for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++)
        sigaction(fatal[i], &action, NULL);
    (void)setrlimit(RLIMIT_CPU, &limit);
    signal(SIGCHLD, SIG_DFL); /* handlers wait for commands that they start */
}

struct reader_question {
    struct tt_http_request http; /* the first member: `find_query_argument` comes from it to the question */
    const char *arguments[ARGUMENTS];
};

static const char *find_query_argument(const struct tt_http_request *request, const char *name)
{
    const struct reader_question *question = (const struct reader_question *)request;
    for (size_t i = 0; i < ARGUMENTS; i++)
        if (strcmp(argument_names[i], name) == 0)
            return question->arguments[i];
    return NULL;
}

static const char *no_header(const struct tt_http_request *request, const char *name)
{
    (void)request, (void)name;
    return NULL;
}

/* Reads the question, answers it, and ends the process. */
static _Noreturn void answer_reader_question(struct tt_web_site *site, int fd)
{
    struct tt_byte_writer in = {0}, out = {0};
    struct reader_question question = {.http = {.argument = find_query_argument, .header = no_header}};
    struct tt_web_request request = {.http = &question.http};
    struct tt_http_response answer = {0};
    tt_routes_handler *handler = NULL;
    answer_fd = fd;
    install_fatal_handlers();
    if (!reader_process_receive_all(fd, &in))
        _exit(1);
    struct tt_byte_reader parts = tt_bytes_get_begin(tt_bytes_written(&in));
    bool whole = tt_bytes_get_copy(&parts, &handler, sizeof handler) &&
                 tt_bytes_get_copy(&parts, request.id, sizeof request.id);
    question.http.method = tt_bytes_get_text(&parts);
    question.http.path = tt_bytes_get_text(&parts);
    for (size_t i = 0; i < ARGUMENTS; i++)
        question.arguments[i] = tt_bytes_get_text(&parts);
    question.http.body = tt_bytes_get_block(&parts, &question.http.size);
    if (!whole || parts.bad) /* the server has ended meanwhile */
        _exit(1);

    tt_routes_call(handler, site, &request, &answer);
    tt_bytes_put_u32(&out, answer.status);
    tt_bytes_put_block(&out, answer.body, answer.size);
    _exit(out.failed || !reader_process_send_all(fd, out.bytes, out.size) ? 1 : 0);
}

/* ---- the reader ---- */

/* One question, in a process of its own. */
struct reader_errand {
    struct tt_web_site *site;
    int control, fd;
};

static void reader_errand_main(void *context, int end, pid_t parent)
{
    const struct reader_errand *errand = context;
    (void)end, (void)parent;
    close(errand->control);
    answer_reader_question(errand->site, errand->fd);
}

static void serve_reader(void *context, int control, pid_t parent)
{
    static const int left_to_the_server[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};
    struct reader_errand errand = {.site = context, .control = control};
    (void)parent;
    for (size_t i = 0; i < sizeof left_to_the_server / sizeof *left_to_the_server; i++)
        signal(left_to_the_server[i], SIG_IGN);
    signal(SIGCHLD, SIG_IGN); /* processes of questions leave no zombies */
    for (;;) {
        pid_t pid;
        int unused;
        tt_child_receive_descriptors(control, &errand.fd, 1);
        if (errand.fd < 0)
            break; /* the server has ended */
        (void)!tt_child_fork(&pid, &unused, 0, reader_errand_main, &errand);
        close(errand.fd); /* where no process could be made, the server sees the end of the stream at once */
    }
    _exit(0);
}

enum tutti_err tt_reader_process_new(struct tt_reader_process **out, struct tt_web_site *site)
{
    struct tt_reader_process *reader = calloc(1, sizeof *reader);
    if (!reader)
        return tt_fail_memory();
    int error = tt_child_fork(&reader->pid, &reader->control, SOCK_SEQPACKET, serve_reader, site);
    if (error) {
        free(reader);
        return tt_fail(TUTTI_ERR_LIMIT, "cannot create a process: %s", strerror(error));
    }
    *out = reader;
    return TUTTI_OK;
}

void tt_reader_process_free(struct tt_reader_process *reader)
{
    if (!reader)
        return;
    close(reader->control);
    (void)tt_child_wait(reader->pid, INFINITY, NULL);
    free(reader);
}

/* ---- the server's side ---- */

static enum tutti_err parse_reader_answer(const struct tt_byte_writer *in, struct tt_http_response *answer)
{
    struct tt_byte_reader parts = tt_bytes_get_begin(tt_bytes_written(in));
    size_t size;
    unsigned status = tt_bytes_get_u32(&parts);
    if (status == CRASHED && !parts.bad) {
        int number = (int)tt_bytes_get_u32(&parts);
        return number == SIGXCPU
                   ? tt_fail(TUTTI_ERR_LOST, "reading this took more than %d s of processor time", MOST_SECONDS)
                   : tt_fail(TUTTI_ERR_LOST,
                             "reading this crashed (signal %d, %s); please report the file as a defect of Tutti",
                             number, strsignal(number));
    }
    const void *body = tt_bytes_get_block(&parts, &size);
    if (parts.bad)
        return tt_fail(TUTTI_ERR_LOST, "the process that read this was killed, or could not be started: is the "
                                       "machine out of memory or processes?");
    char *copy = malloc(size + 1);
    if (!copy)
        return tt_fail_memory();
    memcpy(copy, body, size);
    tt_response_text(answer, "application/json", copy, size);
    answer->status = status;
    return TUTTI_OK;
}

enum tutti_err tt_reader_process_query(struct tt_reader_process *reader, tt_routes_handler *handler,
                                       const struct tt_web_request *request, struct tt_http_response *answer)
{
    const struct tt_http_request *http = request->http;
    struct tt_byte_writer out = {0}, in = {0};
    int ends[2];
    tt_bytes_put_block(&out, &handler, sizeof handler); /* a pointer: the reader is a fork of this process */
    tt_bytes_put_block(&out, request->id, sizeof request->id);
    tt_bytes_put_text(&out, http->method);
    tt_bytes_put_text(&out, http->path);
    for (size_t i = 0; i < ARGUMENTS; i++)
        tt_bytes_put_text(&out, http->argument(http, argument_names[i]));
    tt_bytes_put_block(&out, http->body, http->size);
    enum tutti_err err = out.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        err = tt_fail(TUTTI_ERR_LIMIT, "cannot create a socket pair: %s", strerror(errno));
    if (err) {
        tt_bytes_fini(&out);
        return err;
    }

    bool sent = tt_child_send_descriptors(reader->control, &ends[1], 1);
    close(ends[1]);
    /* A process that has crashed meanwhile may have sent the reason: its answer is read in any case. */
    if (sent)
        (void)(reader_process_send_all(ends[0], out.bytes, out.size) && shutdown(ends[0], SHUT_WR) == 0);
    err = reader_process_receive_all(ends[0], &in) ? parse_reader_answer(&in, answer) : tt_fail_memory();
    close(ends[0]);
    tt_bytes_fini(&out);
    tt_bytes_fini(&in);
    return err;
}
