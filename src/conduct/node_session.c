/* SPDX-License-Identifier: MIT */
/* One connection to a node: what its messages do, and what becomes of its workers. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tutti/run.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fs.h"
#include "base/str.h"
#include "conduct/node_parts.h"

static const uint64_t LARGEST_FILE = (uint64_t)1 << 36;
static const double LAST_WORDS = 0.5; /* seconds */

static void answer(struct tutti_node *node, struct tutti_session *session)
{
    if (!tutti_node_send(node->router, session->id, session->id_size, &node->parcel))
        session->over = true; /* it is gone, or takes nothing any more */
}

static enum tutti_err fail_message(void)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "the node does not understand what this program asks for");
}

/* ---- messages ---- */

static enum tutti_err take_hello(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    TRY(tutti_node_read_hello(in));
    session->greeted = true;
    tutti_node_begin(&node->parcel, TUTTI_NODE_WELCOME);
    tutti_parcel_put_text(&node->parcel, tutti_version());
    tutti_parcel_put_u32(&node->parcel, (uint32_t)node->offer_count);
    for (size_t i = 0; i < node->offer_count; i++) {
        tutti_parcel_put_text(&node->parcel, node->offers[i].name);
        tutti_node_put_content(&node->parcel, &node->offers[i].content);
    }
    answer(node, session);
    return TUTTI_OK;
}

static enum tutti_err take_fetch(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    uint32_t index = tutti_unparcel_u32(in);
    uint64_t offset = tutti_unparcel_u64(in);
    if (in->bad || index >= node->offer_count || offset > node->offers[index].content.size)
        return fail_message();
    char *bytes = malloc(TUTTI_NODE_PIECE);
    int fd = bytes ? open(node->offers[index].stand, O_RDONLY | O_CLOEXEC) : -1;
    ssize_t n = fd < 0 ? -1 : pread(fd, bytes, TUTTI_NODE_PIECE, (off_t)offset);
    enum tutti_err err = n < 0 ? tutti_fail(TUTTI_ERR_IO, "the node cannot read what it offers: %s", strerror(errno))
                               : TUTTI_OK;
    if (fd >= 0)
        close(fd);
    if (!err) {
        tutti_node_begin(&node->parcel, TUTTI_NODE_PIECE_OF);
        tutti_parcel_put_u32(&node->parcel, index);
        tutti_parcel_put_u64(&node->parcel, offset);
        tutti_parcel_put_block(&node->parcel, bytes, (size_t)n);
        answer(node, session);
    }
    free(bytes);
    return err;
}

static enum tutti_err take_ask(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    uint32_t count = tutti_unparcel_u32(in), lacking = 0;
    if (in->bad || count > TUTTI_NODE_MOST_FILES)
        return fail_message();
    uint32_t *lacks = calloc((size_t)count + 1, sizeof *lacks); /* looked at once: another node may share the cache */
    if (!lacks)
        return tutti_fail_memory();
    bool sound = true;
    for (uint32_t i = 0; i < count && sound; i++) {
        struct tutti_content content;
        tutti_node_take_content(in, &content);
        sound = !in->bad && content.size <= LARGEST_FILE;
        if (sound && !tutti_cache_has(node->cache, &content))
            lacks[lacking++] = i;
    }
    tutti_node_begin(&node->parcel, TUTTI_NODE_LACK);
    tutti_parcel_put_u32(&node->parcel, lacking);
    for (uint32_t i = 0; i < lacking; i++)
        tutti_parcel_put_u32(&node->parcel, lacks[i]);
    free(lacks);
    if (!sound)
        return fail_message();
    answer(node, session);
    return TUTTI_OK;
}

static enum tutti_err take_put(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    size_t size;
    struct tutti_content content;
    tutti_node_take_content(in, &content);
    uint64_t offset = tutti_unparcel_u64(in);
    const void *bytes = tutti_unparcel_block(in, &size);
    if (in->bad || content.size > LARGEST_FILE)
        return fail_message();
    if (!session->arrival)
        TRY(tutti_arrival_new(&session->arrival, node->cache, &content));
    if (!tutti_content_same(tutti_arrival_content(session->arrival), &content) ||
        tutti_arrival_size(session->arrival) != offset)
        return fail_message();
    TRY(tutti_arrival_put(session->arrival, bytes, size));
    if (offset + size == content.size) {
        struct tutti_arrival *whole = session->arrival;
        session->arrival = NULL;
        TRY(tutti_arrival_finish(whole));
    }
    tutti_node_begin(&node->parcel, TUTTI_NODE_GOT);
    tutti_node_put_content(&node->parcel, &content);
    tutti_parcel_put_u64(&node->parcel, offset + size);
    answer(node, session);
    return TUTTI_OK;
}

static enum tutti_err take_start(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    enum tutti_err err = tutti_session_start(node, session, in);
    if (!err)
        tutti_log_printf(node->options->log, TUTTI_LOG_INFO, NULL, "run %u: %u of %d rank%s, for %s at %s",
                         session->run, session->worker_count, session->ranks, session->ranks == 1 ? "" : "s",
                         session->user[0] ? session->user : "a user", session->peer);
    return err;
}

static void interrupt(struct tutti_session *session)
{
    for (uint32_t i = 0; i < session->worker_count; i++)
        session->workers[i].page->interrupt = 1;
}

static enum tutti_err take(struct tutti_node *node, struct tutti_session *session, struct tutti_unparcel *in)
{
    uint32_t kind = tutti_unparcel_u32(in);
    if (in->bad || (!session->greeted && kind != TUTTI_NODE_HELLO))
        return fail_message();
    switch (kind) {
    case TUTTI_NODE_HELLO: return take_hello(node, session, in);
    case TUTTI_NODE_FETCH: return take_fetch(node, session, in);
    case TUTTI_NODE_ASK: return take_ask(node, session, in);
    case TUTTI_NODE_PUT: return take_put(node, session, in);
    case TUTTI_NODE_START: return take_start(node, session, in);
    case TUTTI_NODE_PEERS: return tutti_session_go(session, in);
    case TUTTI_NODE_INTERRUPT:
    case TUTTI_NODE_END:
        if (in->at != in->end)
            return fail_message();
        session->over = kind == TUTTI_NODE_END;
        interrupt(session);
        return TUTTI_OK;
    default: return fail_message();
    }
}

void tutti_session_take(struct tutti_node *node, struct tutti_session *session, const void *bytes, size_t size)
{
    struct tutti_unparcel in = {.at = bytes, .end = (const char *)bytes + size};
    enum tutti_err err = take(node, session, &in);
    if (!err)
        return;
    tutti_log_printf(node->options->log, TUTTI_LOG_WARNING, NULL, "%s at %s was refused: %s",
                     session->user[0] ? session->user : "a user", session->peer, tutti_err_message());
    tutti_node_begin(&node->parcel, TUTTI_NODE_REFUSED);
    tutti_parcel_put_u32(&node->parcel, err);
    tutti_parcel_put_text(&node->parcel, tutti_err_message());
    answer(node, session);
    session->over = true;
}

/* ---- workers ---- */

static void tell_ready(struct tutti_node *node, struct tutti_session *session, const struct tutti_watched *worker,
                       struct tutti_unparcel *in)
{
    uint32_t port = tutti_unparcel_u32(in);
    const void *key = tutti_unparcel_bytes(in, TUTTI_KEY_SIZE);
    if (in->bad)
        return;
    tutti_node_begin(&node->parcel, TUTTI_NODE_READY);
    tutti_parcel_put_u32(&node->parcel, (uint32_t)worker->rank);
    tutti_parcel_put_u32(&node->parcel, port);
    tutti_parcel_put_bytes(&node->parcel, key, TUTTI_KEY_SIZE);
    answer(node, session);
}

static void tell_lost(struct tutti_node *node, struct tutti_session *session, struct tutti_watched *worker,
                      enum tutti_node_loss loss, uint32_t detail, enum tutti_err err, const char *message)
{
    if (worker->told)
        return;
    worker->told = true;
    tutti_node_begin(&node->parcel, TUTTI_NODE_LOST);
    tutti_parcel_put_u32(&node->parcel, (uint32_t)worker->rank);
    tutti_parcel_put_u8(&node->parcel, (uint8_t)loss);
    tutti_parcel_put_u32(&node->parcel, detail);
    tutti_parcel_put_u32(&node->parcel, atomic_load(&worker->page->where.component));
    tutti_parcel_put_double(&node->parcel, atomic_load(&worker->page->where.t));
    tutti_parcel_put_u64(&node->parcel, atomic_load(&worker->page->where.step));
    tutti_parcel_put_u32(&node->parcel, err);
    tutti_parcel_put_text(&node->parcel, message);
    answer(node, session);
    static const char *const words[] = {
        [TUTTI_LOSS_SIGNAL] = "was ended by signal",
        [TUTTI_LOSS_EXIT] = "ended by itself, with status",
        [TUTTI_LOSS_HANG] = "gave no sign of life and was killed, after seconds:",
        [TUTTI_LOSS_ERROR] = "could not begin; error",
    };
    tutti_log_printf(node->options->log, TUTTI_LOG_WARNING, NULL, "run %u: the worker of rank %d %s %u%s%s",
                     session->run, worker->rank, words[loss], detail, message && *message ? ": " : "",
                     message ? message : "");
}

/* What the worker says. */
static void listen_to(struct tutti_node *node, struct tutti_session *session, struct tutti_watched *worker)
{
    char bytes[8192]; /* messages are cut at some 4 kB */
    ssize_t n = recv(worker->socket, bytes, sizeof bytes, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n <= 0) {
        close(worker->socket);
        worker->socket = -1;
        return;
    }
    struct tutti_unparcel in = {.at = bytes, .end = bytes + n};
    uint32_t kind = tutti_unparcel_u32(&in);
    if (kind == TUTTI_WORKER_READY) {
        tell_ready(node, session, worker, &in);
    } else if (kind == TUTTI_WORKER_DONE) {
        worker->done = true;
    } else if (kind == TUTTI_WORKER_FAILED) {
        uint32_t err = tutti_unparcel_u32(&in);
        const char *message = tutti_unparcel_text(&in);
        worker->done = true;
        tell_lost(node, session, worker, TUTTI_LOSS_ERROR, err, (enum tutti_err)err, message ? message : "");
    }
}

/* Its process has ended. */
static void bury(struct tutti_node *node, struct tutti_session *session, struct tutti_watched *worker, int status)
{
    worker->pid = 0;
    if (worker->done && !worker->told) {
        worker->told = true;
        tutti_node_begin(&node->parcel, TUTTI_NODE_GONE);
        tutti_parcel_put_u32(&node->parcel, (uint32_t)worker->rank);
        answer(node, session);
    } else if (worker->hangs_since > 0) {
        tell_lost(node, session, worker, TUTTI_LOSS_HANG, (uint32_t)fmin(session->timeout, 1e9), TUTTI_ERR_LOST, "");
    } else if (WIFSIGNALED(status)) {
        tell_lost(node, session, worker, TUTTI_LOSS_SIGNAL, (uint32_t)WTERMSIG(status), TUTTI_ERR_LOST, "");
    } else {
        tell_lost(node, session, worker, TUTTI_LOSS_EXIT, (uint32_t)WEXITSTATUS(status), TUTTI_ERR_LOST, "");
    }
}

/* A worker that computes, or waits, moves its beat. One that does not is given the time to send what it has reported. */
static void check_beat(const struct tutti_session *session, struct tutti_watched *worker)
{
    double now = tutti_clock_now();
    uint64_t beat = tutti_whereabouts_sign(&worker->page->where);
    if (beat != worker->beat) {
        worker->beat = beat;
        worker->beat_time = now;
    } else if (now - worker->beat_time > session->timeout) {
        if (worker->hangs_since == 0)
            kill(worker->pid, SIGQUIT);
        else if (now - worker->hangs_since > LAST_WORDS)
            kill(worker->pid, SIGKILL);
        worker->hangs_since = worker->hangs_since == 0 ? now : worker->hangs_since;
    }
}

void tutti_session_watch(struct tutti_node *node, struct tutti_session *session)
{
    for (uint32_t i = 0; i < session->worker_count; i++) {
        struct tutti_watched *worker = &session->workers[i];
        int status;
        if (worker->socket >= 0)
            listen_to(node, session, worker);
        if (worker->pid > 0 && waitpid(worker->pid, &status, WNOHANG) == worker->pid) {
            while (worker->socket >= 0) /* what it said before it ended */
                listen_to(node, session, worker);
            bury(node, session, worker, status);
        }
        if (worker->pid > 0 && worker->running && !worker->done && session->timeout > 0)
            check_beat(session, worker);
    }
}

static void worker_fini(struct tutti_watched *worker)
{
    if (worker->pid > 0) {
        kill(-worker->pid, SIGKILL); /* its group: with what an FMU started */
        kill(worker->pid, SIGKILL);
        while (waitpid(worker->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (worker->socket >= 0)
        close(worker->socket);
    if (worker->peers >= 0)
        close(worker->peers);
    if (worker->page)
        munmap(worker->page, sizeof *worker->page);
}

void tutti_session_free(struct tutti_node *node, struct tutti_session *session)
{
    for (uint32_t i = 0; i < session->worker_count; i++)
        worker_fini(&session->workers[i]);
    if (session->worker_count > 0)
        tutti_log_printf(node->options->log, TUTTI_LOG_INFO, NULL, "run %u: over after %.1f s", session->run,
                         tutti_clock_now() - session->began);
    if (session->folder)
        (void)tutti_fs_remove_tree(session->folder); /* what is left goes with the node's folder */
    tutti_arrival_free(session->arrival);
    free(session->folder);
    free(session->workers);
    free(session);
}
