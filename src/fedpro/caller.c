/* SPDX-License-Identifier: MIT */
#include "fedpro/caller.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "fedpro/shapes.pb-c.h"

enum { HEARTBEAT_SECONDS = 30, LONGEST = 64 << 20, STATUS = 8, FAILURE = 1 };

struct tutti_fedpro_waiting {
    struct tutti_fedpro_waiting *next;
    size_t size;
    uint8_t bytes[];
};

static enum tutti_err lost(const struct tutti_fedpro_caller *caller, const char *why)
{
    return tutti_fail(TUTTI_ERR_LOST, "the RTI at %s is lost: %s", caller->address.text, why);
}

/* ---- connections ---- */

/* The connection is over: the RTI ended it, or the transport has said what is wrong with it. */
static enum tutti_err broken(const struct tutti_fedpro_caller *caller, enum tutti_fedpro_io io)
{
    if (io == TUTTI_FEDPRO_IO_ENDED)
        return lost(caller, "it ended the connection");
    return tutti_fail_context(TUTTI_ERR_LOST, "%s", caller->address.text);
}

static void hang_up(struct tutti_fedpro_caller *caller)
{
    if (caller->transport)
        caller->transport->kind->free(caller->transport);
    caller->transport = NULL;
    if (caller->socket >= 0)
        close(caller->socket);
    caller->socket = -1;
    tutti_fedpro_intake_fini(&caller->intake);
    tutti_fedpro_link_cut(&caller->link);
}

static void wait_for(const struct tutti_fedpro_caller *caller, bool writes, int milliseconds)
{
    struct pollfd watched = {.fd = caller->socket, .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
    (void)poll(&watched, 1, milliseconds);
}

static enum tutti_err dial(struct tutti_fedpro_caller *caller)
{
    int one = 1;
    caller->socket = socket(caller->address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (caller->socket < 0 ||
        connect(caller->socket, (struct sockaddr *)&caller->address.storage, caller->address.size) != 0)
        return tutti_fail(TUTTI_ERR_LOST, "no RTI answers at %s: %s", caller->address.text, strerror(errno));
    setsockopt(caller->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (caller->options.tls)
        fcntl(caller->socket, F_SETFL, fcntl(caller->socket, F_GETFL) | O_NONBLOCK);
    caller->transport = caller->options.tls
                            ? tutti_fedpro_tls_new(caller->options.tls, caller->socket, caller->address.host)
                            : tutti_fedpro_tcp_new(caller->socket);
    return caller->transport ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err write_all(struct tutti_fedpro_caller *caller, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t count = 0;
        enum tutti_fedpro_io io = caller->transport->kind->write(caller->transport, bytes, size, &count);
        if (io == TUTTI_FEDPRO_IO_WAIT)
            wait_for(caller, true, 1000);
        else if (io != TUTTI_FEDPRO_IO_DONE)
            return broken(caller, io);
        bytes += count;
        size -= count;
    }
    return TUTTI_OK;
}

/* Bytes, into the intake: those that are there already, or come in so many milliseconds. *some says whether there were any. LOST at the end. */
static enum tutti_err read_some(struct tutti_fedpro_caller *caller, int milliseconds, bool *some)
{
    const struct tutti_fedpro_transport_kind *kind = caller->transport->kind;
    uint8_t *into = NULL;
    size_t room = 0, count = 0;
    *some = false;
    TRY(tutti_fedpro_intake_offer(&caller->intake, &into, &room));
    enum tutti_fedpro_io io = milliseconds > 0 ? kind->await(caller->transport, into, room, &count, milliseconds)
                                               : kind->read(caller->transport, into, room, &count);
    if (io == TUTTI_FEDPRO_IO_ENDED || io == TUTTI_FEDPRO_IO_FAILED)
        return broken(caller, io);
    *some = io == TUTTI_FEDPRO_IO_DONE;
    tutti_fedpro_intake_took(&caller->intake, count);
    return TUTTI_OK;
}

/* The status with which the RTI answers the first message of a connection. */
static enum tutti_err read_status(struct tutti_fedpro_caller *caller, enum tutti_fedpro_type type,
                                  struct tutti_fedpro_header *header, int32_t status[2])
{
    struct tutti_fedpro_message message;
    bool whole = false, some = false;
    double until = tutti_clock_now() + caller->options.patience + 5;
    while (!whole) {
        TRY(read_some(caller, 0, &some));
        TRY(tutti_fedpro_intake_next(&caller->intake, &message, &whole));
        if (!whole && tutti_clock_now() > until)
            return lost(caller, "it does not answer");
        if (!whole && !some)
            wait_for(caller, false, 1000);
    }
    if (message.header.type != type)
        return tutti_fail(TUTTI_ERR_FORMAT, "what answers at %s is no RTI of the Federate Protocol",
                          caller->address.text);
    *header = message.header;
    status[0] = (int32_t)tutti_fedpro_get_u32(message.payload);
    status[1] = message.size >= STATUS ? (int32_t)tutti_fedpro_get_u32(message.payload + 4) : 0;
    return TUTTI_OK;
}

static enum tutti_err begin_session(struct tutti_fedpro_caller *caller)
{
    uint8_t bytes[TUTTI_FEDPRO_HEADER + 4];
    struct tutti_fedpro_header header = {sizeof bytes, 0, 0, TUTTI_FEDPRO_NO_SEQUENCE, TUTTI_FEDPRO_NEW_SESSION};
    int32_t status[2] = {0};
    tutti_fedpro_put_header(bytes, &header);
    tutti_fedpro_put_u32(bytes + TUTTI_FEDPRO_HEADER, TUTTI_FEDPRO_VERSION);
    TRY(dial(caller));
    TRY(write_all(caller, bytes, sizeof bytes));
    TRY(read_status(caller, TUTTI_FEDPRO_NEW_SESSION_STATUS, &header, status));
    if (status[0] != TUTTI_FEDPRO_WELCOME)
        return tutti_fail(TUTTI_ERR_LOST, "the RTI at %s takes no session: reason %d", caller->address.text,
                          (int)status[0]);
    caller->link.session = header.session;
    return TUTTI_OK;
}

static enum tutti_err resume_once(struct tutti_fedpro_caller *caller)
{
    uint8_t bytes[TUTTI_FEDPRO_HEADER + STATUS];
    struct tutti_fedpro_header header = {sizeof bytes, TUTTI_FEDPRO_NO_SEQUENCE, caller->link.session,
                                         caller->link.last_received, TUTTI_FEDPRO_RESUME};
    int32_t status[2] = {0};
    tutti_fedpro_put_header(bytes, &header);
    tutti_fedpro_put_u32(bytes + TUTTI_FEDPRO_HEADER, (uint32_t)caller->link.last_received);
    tutti_fedpro_put_u32(bytes + TUTTI_FEDPRO_HEADER + 4, (uint32_t)tutti_fedpro_link_oldest(&caller->link));
    TRY(dial(caller));
    TRY(write_all(caller, bytes, sizeof bytes));
    TRY(read_status(caller, TUTTI_FEDPRO_RESUME_STATUS, &header, status));
    if (status[0] == TUTTI_FEDPRO_RESUMED && tutti_fedpro_link_rewind(&caller->link, status[1]))
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_STATE, "the RTI at %s does not know this session any more", caller->address.text);
}

/* The connection broke for the reason of this thread's message. */
static enum tutti_err resume(struct tutti_fedpro_caller *caller, enum tutti_err err)
{
    struct tutti_failure failure;
    double until = tutti_clock_now() + caller->options.patience;
    tutti_failure_keep(&failure, err);
    if (err != TUTTI_ERR_LOST || caller->link.session == 0 || caller->dead)
        return tutti_failure_return(&failure);
    do {
        hang_up(caller);
        err = resume_once(caller);
        if (!err || err == TUTTI_ERR_STATE)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    } while (tutti_clock_now() < until);
    caller->dead = err != TUTTI_OK;
    return err ? tutti_failure_return(&failure) : TUTTI_OK;
}

/* ---- messages ---- */

static enum tutti_err keep_callback(struct tutti_fedpro_caller *caller, const struct tutti_fedpro_message *message)
{
    static const uint8_t succeeded[] = {1 << 3 | 2, 0}; /* CallbackResponse with an empty CallbackSucceeded */
    struct tutti_fedpro_waiting *waiting = malloc(sizeof *waiting + message->size);
    if (!waiting)
        return tutti_fail_memory();
    waiting->next = NULL;
    waiting->size = message->size;
    memcpy(waiting->bytes, message->payload, message->size);
    if (caller->last)
        caller->last->next = waiting;
    else
        caller->first = waiting;
    caller->last = waiting;
    return tutti_fedpro_link_push(&caller->link, TUTTI_FEDPRO_CALLBACK_RESPONSE, &message->header.sequence, succeeded,
                                  sizeof succeeded, NULL);
}

static enum tutti_err keep_response(struct tutti_fedpro_caller *caller, const struct tutti_fedpro_message *message)
{
    if ((int32_t)tutti_fedpro_get_u32(message->payload) != caller->expected)
        return TUTTI_OK;
    free(caller->response);
    caller->response_size = message->size - 4;
    caller->response = malloc(message->size);
    if (!caller->response)
        return tutti_fail_memory();
    memcpy(caller->response, message->payload + 4, caller->response_size);
    caller->has_response = true;
    return TUTTI_OK;
}

static enum tutti_err handle(struct tutti_fedpro_caller *caller, const struct tutti_fedpro_message *message)
{
    if (message->header.session != caller->link.session)
        return tutti_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent a message of another session", caller->address.text);
    if (!tutti_fedpro_link_receive(&caller->link, &message->header))
        return TUTTI_OK;
    switch (message->header.type) {
    case TUTTI_FEDPRO_CALL_RESPONSE: return keep_response(caller, message);
    case TUTTI_FEDPRO_CALLBACK: return keep_callback(caller, message);
    case TUTTI_FEDPRO_TERMINATED: caller->terminated = true; return TUTTI_OK;
    default: return TUTTI_OK;
    }
}

/* As much as can be written at once. */
static enum tutti_err flush(struct tutti_fedpro_caller *caller)
{
    size_t size = 0, count = 0;
    const uint8_t *bytes = NULL;
    while ((bytes = tutti_fedpro_link_output(&caller->link, caller->buffer, sizeof caller->buffer, &size)) != NULL) {
        enum tutti_fedpro_io io = caller->transport->kind->write(caller->transport, bytes, size, &count);
        if (io == TUTTI_FEDPRO_IO_WAIT)
            return TUTTI_OK;
        if (io != TUTTI_FEDPRO_IO_DONE)
            return broken(caller, io);
        tutti_fedpro_link_wrote(&caller->link, count);
        caller->sent = tutti_clock_now();
    }
    return TUTTI_OK;
}

/* Handles the messages that came. Callbacks are answered with the next bytes that are written. */
static enum tutti_err take_in(struct tutti_fedpro_caller *caller)
{
    struct tutti_fedpro_message message;
    bool whole = true;
    while (whole) {
        TRY(tutti_fedpro_intake_next(&caller->intake, &message, &whole));
        if (whole)
            TRY(handle(caller, &message));
    }
    return TUTTI_OK;
}

/* `err` is how it went with the connection, which is resumed if need be; messages may have come with the answer to that. Unlocks. */
static enum tutti_err settle(struct tutti_fedpro_caller *caller, enum tutti_err err)
{
    if (err)
        err = resume(caller, err);
    if (!err)
        err = take_in(caller);
    pthread_mutex_unlock(&caller->mutex);
    return err;
}

/* One turn: writes what waits, sleeps until something comes, for at most so many seconds or one, and takes it in. The thread of heartbeats
 * touches neither the intake nor what is read meanwhile. */
static enum tutti_err turn(struct tutti_fedpro_caller *caller, double seconds)
{
    bool some = false;
    int milliseconds = seconds < 1 ? (int)ceil(seconds * 1000) : 1000; /* mostly the same number: the socket keeps it */
    pthread_mutex_lock(&caller->mutex);
    enum tutti_err err = caller->transport ? flush(caller) : lost(caller, "it ended the connection");
    if (err)
        return settle(caller, err);
    bool writes = tutti_fedpro_link_waiting(&caller->link) > 0, awaits = !writes && caller->transport->kind->await;
    pthread_mutex_unlock(&caller->mutex);
    if (!awaits)
        wait_for(caller, writes, milliseconds);
    err = awaits ? read_some(caller, milliseconds, &some) : TUTTI_OK;
    pthread_mutex_lock(&caller->mutex);
    return settle(caller, awaits ? err : read_some(caller, 0, &some));
}

/* The thread that lives while the program computes. */
static void *beat(void *context)
{
    struct tutti_fedpro_caller *caller = context;
    pthread_mutex_lock(&caller->mutex);
    while (!caller->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += HEARTBEAT_SECONDS;
        pthread_cond_timedwait(&caller->ending, &caller->mutex, &until);
        if (caller->over || !caller->transport || tutti_clock_now() - caller->sent < HEARTBEAT_SECONDS)
            continue;
        if (!tutti_fedpro_link_push(&caller->link, TUTTI_FEDPRO_HEARTBEAT, NULL, NULL, 0, NULL))
            (void)flush(caller); /* who calls next notices if it failed */
    }
    pthread_mutex_unlock(&caller->mutex);
    return NULL;
}

enum tutti_err tutti_fedpro_caller_open(struct tutti_fedpro_caller **out,
                                        const struct tutti_fedpro_caller_options *options)
{
    struct tutti_fedpro_caller *caller = calloc(1, sizeof *caller);
    if (!caller)
        return tutti_fail_memory();
    caller->options = *options;
    caller->socket = -1;
    caller->intake.limit = LONGEST;
    pthread_mutex_init(&caller->mutex, NULL);
    pthread_cond_init(&caller->ending, NULL);
    tutti_fedpro_link_init(&caller->link, 0, 1, &tutti_fedpro_limits_usual);
    enum tutti_err err = tutti_fedpro_address_find(&caller->address, options->address,
                                                   options->tls ? TUTTI_FEDPRO_PORT_TLS : TUTTI_FEDPRO_PORT);
    err = err ? err : begin_session(caller);
    if (!err && pthread_create(&caller->heart, NULL, beat, caller) != 0)
        err = tutti_fail(TUTTI_ERR_IO, "no thread can be started");
    caller->has_heart = !err;
    if (err) {
        tutti_fedpro_caller_free(caller);
        return err;
    }
    *out = caller;
    return TUTTI_OK;
}

/* A last word, and a moment for its answer. */
static void terminate(struct tutti_fedpro_caller *caller)
{
    enum { MOMENT = 2 };
    bool some = false;
    double until = tutti_clock_now() + MOMENT;
    if (!caller->transport || tutti_fedpro_link_push(&caller->link, TUTTI_FEDPRO_TERMINATE, NULL, NULL, 0, NULL))
        return;
    while (!caller->terminated && tutti_clock_now() < until && !flush(caller) && !read_some(caller, 0, &some) &&
           !take_in(caller))
        if (!some)
            wait_for(caller, tutti_fedpro_link_waiting(&caller->link) > 0, 100);
}

void tutti_fedpro_caller_free(struct tutti_fedpro_caller *caller)
{
    if (!caller)
        return;
    if (caller->has_heart) {
        pthread_mutex_lock(&caller->mutex);
        caller->over = true;
        pthread_cond_signal(&caller->ending);
        pthread_mutex_unlock(&caller->mutex);
        pthread_join(caller->heart, NULL);
        terminate(caller);
    }
    hang_up(caller);
    tutti_fedpro_link_fini(&caller->link);
    while (caller->first) {
        struct tutti_fedpro_waiting *next = caller->first->next;
        free(caller->first);
        caller->first = next;
    }
    free(caller->response);
    pthread_mutex_destroy(&caller->mutex);
    pthread_cond_destroy(&caller->ending);
    free(caller);
}

static enum tutti_err push_call(struct tutti_fedpro_caller *caller, const uint8_t *bytes, size_t size)
{
    pthread_mutex_lock(&caller->mutex);
    caller->has_response = false;
    enum tutti_err err = tutti_fedpro_link_push(&caller->link, TUTTI_FEDPRO_CALL, NULL, bytes, size, &caller->expected);
    pthread_mutex_unlock(&caller->mutex);
    return err;
}

static enum tutti_err open_response(struct tutti_fedpro_caller *caller, struct tutti_fedpro_memory *memory,
                                    uint32_t number, const ProtobufCMessageDescriptor *form,
                                    ProtobufCMessage **response)
{
    uint32_t field = 0;
    const uint8_t *content = NULL;
    size_t size = 0;
    caller->has_response = false;
    if (!tutti_fedpro_envelope_open(caller->response, caller->response_size, &field, &content, &size))
        return tutti_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent no response, but something else", caller->address.text);
    if (field == FAILURE) {
        const Fedpro__Failure *failure = fedpro__failure__unpack(&memory->allocator, size, content);
        if (failure)
            return tutti_fail(TUTTI_ERR_STATE, "%s: %s", failure->exception, failure->details);
    }
    *response = field == number + 1 ? protobuf_c_message_unpack(form, &memory->allocator, size, content) : NULL;
    if (!*response)
        return tutti_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent another response than that of call %u",
                          caller->address.text, (unsigned)number);
    return TUTTI_OK;
}

enum tutti_err tutti_fedpro_caller_call(struct tutti_fedpro_caller *caller, struct tutti_fedpro_memory *memory,
                                        uint32_t number, const ProtobufCMessage *request,
                                        const ProtobufCMessageDescriptor *form, ProtobufCMessage **response)
{
    size_t size = 0;
    const uint8_t *bytes = tutti_fedpro_envelope_close(memory, number, request, &size);
    if (!bytes)
        return tutti_fail_memory();
    TRY(push_call(caller, bytes, size));
    while (!caller->has_response)
        TRY(turn(caller, 1));
    return open_response(caller, memory, number, form, response);
}

/* The oldest callback, out of the list. */
static struct tutti_fedpro_waiting *take(struct tutti_fedpro_caller *caller)
{
    pthread_mutex_lock(&caller->mutex);
    struct tutti_fedpro_waiting *waiting = caller->first;
    if (waiting)
        caller->first = waiting->next;
    if (!caller->first)
        caller->last = NULL;
    pthread_mutex_unlock(&caller->mutex);
    return waiting;
}

enum tutti_err tutti_fedpro_caller_next(struct tutti_fedpro_caller *caller, double timeout, uint32_t *number,
                                        uint8_t **content, size_t *size)
{
    double until = timeout < 0 ? INFINITY : tutti_clock_now() + timeout;
    struct tutti_fedpro_waiting *waiting = NULL;
    *number = 0;
    *content = NULL;
    *size = 0;
    while ((waiting = take(caller)) == NULL) {
        double left = until - tutti_clock_now();
        TRY(turn(caller, left > 0 ? left : 0));
        if (left <= 0 && !caller->first)
            return TUTTI_OK;
    }
    const uint8_t *inner = NULL;
    bool good = tutti_fedpro_envelope_open(waiting->bytes, waiting->size, number, &inner, size);
    *content = good ? malloc(*size + 1) : NULL;
    if (*content)
        memcpy(*content, inner, *size);
    free(waiting);
    if (!good)
        return tutti_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent no callback, but something else", caller->address.text);
    return *content ? TUTTI_OK : tutti_fail_memory();
}
