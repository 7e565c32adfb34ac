/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/fedpro_caller.h"

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

#include "base/wall_clock.h"
#include "hla/fedpro/shapes.pb-c.h"

enum { HEARTBEAT_SECONDS = 30, LONGEST = 64 << 20, STATUS = 8, FAILURE = 1 };

struct tt_caller_queued {
    struct tt_caller_queued *next;
    size_t size;
    uint8_t bytes[];
};

static enum tutti_err fedpro_caller_fail_lost(const struct tt_fedpro_caller *caller, const char *why)
{
    return tt_fail(TUTTI_ERR_LOST, "the RTI at %s is lost: %s", caller->address.text, why);
}

/* ---- connections ---- */

/* Describes the end of the connection: the RTI ended it, or the transport failed. */
static enum tutti_err describe_broken_connection(const struct tt_fedpro_caller *caller, enum tt_transport_io io)
{
    if (io == TUTTI_FEDPRO_IO_ENDED)
        return fedpro_caller_fail_lost(caller, "it ended the connection");
    return tt_fail_context(TUTTI_ERR_LOST, "%s", caller->address.text);
}

static void close_connection_to_rti(struct tt_fedpro_caller *caller)
{
    if (caller->transport)
        caller->transport->kind->free(caller->transport);
    caller->transport = NULL;
    if (caller->socket >= 0)
        close(caller->socket);
    caller->socket = -1;
    tt_fedpro_message_free_intake(&caller->intake);
    tt_session_link_disconnect(&caller->link);
}

static void fedpro_caller_poll(const struct tt_fedpro_caller *caller, bool writes, int milliseconds)
{
    struct pollfd watched = {.fd = caller->socket, .events = (short)(POLLIN | (writes ? POLLOUT : 0))};
    (void)poll(&watched, 1, milliseconds);
}

static enum tutti_err connect_to_rti(struct tt_fedpro_caller *caller)
{
    int one = 1;
    caller->socket = socket(caller->address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (caller->socket < 0 ||
        connect(caller->socket, (struct sockaddr *)&caller->address.storage, caller->address.size) != 0)
        return tt_fail(TUTTI_ERR_LOST, "no RTI answers at %s: %s", caller->address.text, strerror(errno));
    setsockopt(caller->socket, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    if (caller->options.tls)
        fcntl(caller->socket, F_SETFL, fcntl(caller->socket, F_GETFL) | O_NONBLOCK);
    caller->transport = caller->options.tls ? tt_tls_new_transport(caller->options.tls, caller->socket, caller->host)
                                            : tt_transport_new_tcp(caller->socket);
    return caller->transport ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err fedpro_caller_write_all(struct tt_fedpro_caller *caller, const uint8_t *bytes, size_t size)
{
    while (size > 0) {
        size_t count = 0;
        enum tt_transport_io io = caller->transport->kind->write(caller->transport, bytes, size, &count);
        if (io == TUTTI_FEDPRO_IO_WAIT)
            fedpro_caller_poll(caller, true, 1000);
        else if (io != TUTTI_FEDPRO_IO_DONE)
            return describe_broken_connection(caller, io);
        bytes += count;
        size -= count;
    }
    return TUTTI_OK;
}

/* Reads bytes that arrive within `milliseconds` into the intake. *some: bytes were read. LOST at the end. */
static enum tutti_err fedpro_caller_read(struct tt_fedpro_caller *caller, int milliseconds, bool *some)
{
    const struct tt_transport_kind *kind = caller->transport->kind;
    uint8_t *into = NULL;
    size_t room = 0, count = 0;
    *some = false;
    TRY(tt_fedpro_message_reserve_bytes(&caller->intake, &into, &room));
    enum tt_transport_io io = milliseconds > 0 ? kind->await(caller->transport, into, room, &count, milliseconds)
                                               : kind->read(caller->transport, into, room, &count);
    if (io == TUTTI_FEDPRO_IO_ENDED || io == TUTTI_FEDPRO_IO_FAILED)
        return describe_broken_connection(caller, io);
    *some = io == TUTTI_FEDPRO_IO_DONE;
    tt_fedpro_message_commit_bytes(&caller->intake, count);
    return TUTTI_OK;
}

/* The status with which the RTI answers the first message of a connection. */
static enum tutti_err read_status(struct tt_fedpro_caller *caller, enum tt_fedpro_type type,
                                  struct tt_fedpro_header *header, int32_t status[2])
{
    struct tt_fedpro_message message;
    bool whole = false, some = false;
    double until = tt_wall_clock_now() + caller->options.patience + 5;
    while (!whole) {
        TRY(fedpro_caller_read(caller, 0, &some));
        TRY(tt_fedpro_message_parse_next(&caller->intake, &message, &whole));
        if (!whole && tt_wall_clock_now() > until)
            return fedpro_caller_fail_lost(caller, "it does not answer");
        if (!whole && !some)
            fedpro_caller_poll(caller, false, 1000);
    }
    if (message.header.type != type)
        return tt_fail(TUTTI_ERR_FORMAT, "what answers at %s is no RTI of the Federate Protocol", caller->address.text);
    *header = message.header;
    status[0] = (int32_t)tt_fedpro_message_get_u32(message.payload);
    status[1] = message.size >= STATUS ? (int32_t)tt_fedpro_message_get_u32(message.payload + 4) : 0;
    return TUTTI_OK;
}

static enum tutti_err fedpro_caller_open_session(struct tt_fedpro_caller *caller)
{
    uint8_t bytes[TUTTI_FEDPRO_HEADER + 4];
    struct tt_fedpro_header header = {sizeof bytes, 0, 0, TUTTI_FEDPRO_NO_SEQUENCE, TUTTI_FEDPRO_NEW_SESSION};
    int32_t status[2] = {0};
    tt_fedpro_message_put_header(bytes, &header);
    tt_fedpro_message_put_u32(bytes + TUTTI_FEDPRO_HEADER, TUTTI_FEDPRO_VERSION);
    TRY(connect_to_rti(caller));
    TRY(fedpro_caller_write_all(caller, bytes, sizeof bytes));
    TRY(read_status(caller, TUTTI_FEDPRO_NEW_SESSION_STATUS, &header, status));
    if (status[0] != TUTTI_FEDPRO_WELCOME)
        return tt_fail(TUTTI_ERR_LOST, "the RTI at %s takes no session: reason %d", caller->address.text,
                       (int)status[0]);
    caller->link.session = header.session;
    return TUTTI_OK;
}

static enum tutti_err resume_once(struct tt_fedpro_caller *caller)
{
    uint8_t bytes[TUTTI_FEDPRO_HEADER + STATUS];
    struct tt_fedpro_header header = {sizeof bytes, TUTTI_FEDPRO_NO_SEQUENCE, caller->link.session,
                                      caller->link.last_received, TUTTI_FEDPRO_RESUME};
    int32_t status[2] = {0};
    tt_fedpro_message_put_header(bytes, &header);
    tt_fedpro_message_put_u32(bytes + TUTTI_FEDPRO_HEADER, (uint32_t)caller->link.last_received);
    tt_fedpro_message_put_u32(bytes + TUTTI_FEDPRO_HEADER + 4, (uint32_t)tt_session_link_oldest(&caller->link));
    TRY(connect_to_rti(caller));
    TRY(fedpro_caller_write_all(caller, bytes, sizeof bytes));
    TRY(read_status(caller, TUTTI_FEDPRO_RESUME_STATUS, &header, status));
    if (status[0] == TUTTI_FEDPRO_RESUMED && tt_session_link_rewind(&caller->link, status[1]))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_STATE, "the RTI at %s does not know this session any more", caller->address.text);
}

/* The connection broke for the reason of this thread's message. */
static enum tutti_err fedpro_caller_resume(struct tt_fedpro_caller *caller, enum tutti_err err)
{
    struct tt_failure failure;
    double until = tt_wall_clock_now() + caller->options.patience;
    tt_fail_save(&failure, err);
    if (err != TUTTI_ERR_LOST || caller->link.session == 0 || caller->dead)
        return tt_fail_restore(&failure);
    do {
        close_connection_to_rti(caller);
        err = resume_once(caller);
        if (!err || err == TUTTI_ERR_STATE)
            break;
        nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    } while (tt_wall_clock_now() < until);
    caller->dead = err != TUTTI_OK;
    return err ? tt_fail_restore(&failure) : TUTTI_OK;
}

/* ---- messages ---- */

static enum tutti_err queue_callback(struct tt_fedpro_caller *caller, const struct tt_fedpro_message *message)
{
    static const uint8_t succeeded[] = {1 << 3 | 2, 0}; /* CallbackResponse with an empty CallbackSucceeded */
    struct tt_caller_queued *waiting = malloc(sizeof *waiting + message->size);
    if (!waiting)
        return tt_fail_memory();
    waiting->next = NULL;
    waiting->size = message->size;
    memcpy(waiting->bytes, message->payload, message->size);
    if (caller->last)
        caller->last->next = waiting;
    else
        caller->first = waiting;
    caller->last = waiting;
    return tt_session_link_push(&caller->link, TUTTI_FEDPRO_CALLBACK_RESPONSE, &message->header.sequence, succeeded,
                                sizeof succeeded, NULL);
}

static enum tutti_err store_response(struct tt_fedpro_caller *caller, const struct tt_fedpro_message *message)
{
    if ((int32_t)tt_fedpro_message_get_u32(message->payload) != caller->expected)
        return TUTTI_OK;
    free(caller->response);
    caller->response_size = message->size - 4;
    caller->response = malloc(message->size);
    if (!caller->response)
        return tt_fail_memory();
    memcpy(caller->response, message->payload + 4, caller->response_size);
    caller->has_response = true;
    return TUTTI_OK;
}

static enum tutti_err fedpro_caller_handle_message(struct tt_fedpro_caller *caller,
                                                   const struct tt_fedpro_message *message)
{
    if (message->header.session != caller->link.session)
        return tt_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent a message of another session", caller->address.text);
    if (!tt_session_link_receive(&caller->link, &message->header))
        return TUTTI_OK;
    switch (message->header.type) {
    case TUTTI_FEDPRO_CALL_RESPONSE: return store_response(caller, message);
    case TUTTI_FEDPRO_CALLBACK: return queue_callback(caller, message);
    case TUTTI_FEDPRO_TERMINATED: caller->terminated = true; return TUTTI_OK;
    default: return TUTTI_OK;
    }
}

/* As much as can be written at once. */
static enum tutti_err fedpro_caller_flush(struct tt_fedpro_caller *caller)
{
    size_t size = 0, count = 0;
    const uint8_t *bytes = NULL;
    while ((bytes = tt_session_link_output(&caller->link, caller->buffer, sizeof caller->buffer, &size)) != NULL) {
        enum tt_transport_io io = caller->transport->kind->write(caller->transport, bytes, size, &count);
        if (io == TUTTI_FEDPRO_IO_WAIT)
            return TUTTI_OK;
        if (io != TUTTI_FEDPRO_IO_DONE)
            return describe_broken_connection(caller, io);
        tt_session_link_consume(&caller->link, count);
        caller->sent = tt_wall_clock_now();
    }
    return TUTTI_OK;
}

/* Handles the messages that came. Callbacks are answered with the next bytes that are written. */
static enum tutti_err handle_incoming_messages(struct tt_fedpro_caller *caller)
{
    struct tt_fedpro_message message;
    bool whole = true;
    while (whole) {
        TRY(tt_fedpro_message_parse_next(&caller->intake, &message, &whole));
        if (whole)
            TRY(fedpro_caller_handle_message(caller, &message));
    }
    return TUTTI_OK;
}

/* `err` is the outcome on the connection, which is resumed if necessary; the answer to that may be followed by
 * messages. Unlocks. */
static enum tutti_err fedpro_caller_recover(struct tt_fedpro_caller *caller, enum tutti_err err)
{
    if (err)
        err = fedpro_caller_resume(caller, err);
    if (!err)
        err = handle_incoming_messages(caller);
    pthread_mutex_unlock(&caller->mutex);
    return err;
}

/* One turn: writes pending messages, sleeps until input arrives, at most `seconds` or one second, and reads it. The
 * heartbeat thread uses neither the intake nor the data read meanwhile. */
static enum tutti_err exchange_messages_once(struct tt_fedpro_caller *caller, double seconds)
{
    bool some = false;
    int milliseconds = seconds < 1 ? (int)ceil(seconds * 1000) : 1000; /* mostly the same number: the socket keeps it */
    pthread_mutex_lock(&caller->mutex);
    enum tutti_err err = caller->transport ? fedpro_caller_flush(caller)
                                           : fedpro_caller_fail_lost(caller, "it ended the connection");
    if (err)
        return fedpro_caller_recover(caller, err);
    bool writes = tt_session_link_pending(&caller->link) > 0, awaits = !writes && caller->transport->kind->await;
    pthread_mutex_unlock(&caller->mutex);
    if (!awaits)
        fedpro_caller_poll(caller, writes, milliseconds);
    err = awaits ? fedpro_caller_read(caller, milliseconds, &some) : TUTTI_OK;
    pthread_mutex_lock(&caller->mutex);
    return fedpro_caller_recover(caller, awaits ? err : fedpro_caller_read(caller, 0, &some));
}

/* The thread that lives while the program computes. */
static void *fedpro_caller_heartbeat(void *context)
{
    struct tt_fedpro_caller *caller = context;
    pthread_mutex_lock(&caller->mutex);
    while (!caller->over) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_sec += HEARTBEAT_SECONDS;
        pthread_cond_timedwait(&caller->ending, &caller->mutex, &until);
        if (caller->over || !caller->transport || tt_wall_clock_now() - caller->sent < HEARTBEAT_SECONDS)
            continue;
        if (!tt_session_link_push(&caller->link, TUTTI_FEDPRO_HEARTBEAT, NULL, NULL, 0, NULL))
            (void)fedpro_caller_flush(caller); /* who calls next notices if it failed */
    }
    pthread_mutex_unlock(&caller->mutex);
    return NULL;
}

enum tutti_err tt_fedpro_caller_open(struct tt_fedpro_caller **out, const struct tt_fedpro_caller_options *options)
{
    struct tt_fedpro_caller *caller = calloc(1, sizeof *caller);
    if (!caller)
        return tt_fail_memory();
    caller->options = *options;
    caller->socket = -1;
    caller->intake.limit = LONGEST;
    pthread_mutex_init(&caller->mutex, NULL);
    pthread_cond_init(&caller->ending, NULL);
    tt_session_link_init(&caller->link, 0, 1, &tt_session_link_default_limits);
    struct tt_address address;
    enum tutti_err err =
        tt_address_read(&address, options->address,
                        &(struct tt_address_rule){.option = "the address of the RTI",
                                                  .host = "localhost",
                                                  .port = options->tls ? TUTTI_FEDPRO_PORT_TLS : TUTTI_FEDPRO_PORT});
    err = err ? err : tt_address_look_up(&caller->address, &address, TUTTI_ERR_LOST);
    if (!err)
        memcpy(caller->host, address.host, sizeof caller->host);
    err = err ? err : fedpro_caller_open_session(caller);
    if (!err && pthread_create(&caller->heart, NULL, fedpro_caller_heartbeat, caller) != 0)
        err = tt_fail(TUTTI_ERR_IO, "no thread can be started");
    caller->has_heart = !err;
    if (err) {
        tt_fedpro_caller_free(caller);
        return err;
    }
    *out = caller;
    return TUTTI_OK;
}

/* A last word, and a moment for its answer. */
static void fedpro_caller_terminate(struct tt_fedpro_caller *caller)
{
    enum { MOMENT = 2 };
    bool some = false;
    double until = tt_wall_clock_now() + MOMENT;
    if (!caller->transport || tt_session_link_push(&caller->link, TUTTI_FEDPRO_TERMINATE, NULL, NULL, 0, NULL))
        return;
    while (!caller->terminated && tt_wall_clock_now() < until && !fedpro_caller_flush(caller) &&
           !fedpro_caller_read(caller, 0, &some) && !handle_incoming_messages(caller))
        if (!some)
            fedpro_caller_poll(caller, tt_session_link_pending(&caller->link) > 0, 100);
}

void tt_fedpro_caller_free(struct tt_fedpro_caller *caller)
{
    if (!caller)
        return;
    if (caller->has_heart) {
        pthread_mutex_lock(&caller->mutex);
        caller->over = true;
        pthread_cond_signal(&caller->ending);
        pthread_mutex_unlock(&caller->mutex);
        pthread_join(caller->heart, NULL);
        fedpro_caller_terminate(caller);
    }
    close_connection_to_rti(caller);
    tt_session_link_fini(&caller->link);
    while (caller->first) {
        struct tt_caller_queued *next = caller->first->next;
        free(caller->first);
        caller->first = next;
    }
    free(caller->response);
    pthread_mutex_destroy(&caller->mutex);
    pthread_cond_destroy(&caller->ending);
    free(caller);
}

static enum tutti_err open_response(struct tt_fedpro_caller *caller, struct tt_payload_memory *memory, uint32_t number,
                                    const ProtobufCMessageDescriptor *form, ProtobufCMessage **response)
{
    uint32_t field = 0;
    const uint8_t *content = NULL;
    size_t size = 0;
    caller->has_response = false;
    if (!tt_payload_open_envelope(caller->response, caller->response_size, &field, &content, &size))
        return tt_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent no response, but something else", caller->address.text);
    if (field == FAILURE) {
        const Fedpro__Failure *failure = fedpro__failure__unpack(&memory->allocator, size, content);
        if (failure)
            return tt_fail(TUTTI_ERR_STATE, "%s: %s", failure->exception, failure->details);
    }
    *response = field == number + 1 ? protobuf_c_message_unpack(form, &memory->allocator, size, content) : NULL;
    if (!*response)
        return tt_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent another response than that of call %u",
                       caller->address.text, (unsigned)number);
    return TUTTI_OK;
}

enum tutti_err tt_fedpro_caller_call(struct tt_fedpro_caller *caller, struct tt_payload_memory *memory, uint32_t number,
                                     const ProtobufCMessage *request, const ProtobufCMessageDescriptor *form,
                                     ProtobufCMessage **response)
{
    size_t size = 0;
    const uint8_t *bytes = tt_payload_close_envelope(memory, number, request, &size);
    if (!bytes)
        return tt_fail_memory();
    pthread_mutex_lock(&caller->mutex);
    caller->has_response = false;
    enum tutti_err err = tt_session_link_push(&caller->link, TUTTI_FEDPRO_CALL, NULL, bytes, size, &caller->expected);
    pthread_mutex_unlock(&caller->mutex);
    TRY(err);
    while (!caller->has_response)
        TRY(exchange_messages_once(caller, 1));
    return open_response(caller, memory, number, form, response);
}

/* The oldest callback, out of the list. */
static struct tt_caller_queued *fedpro_caller_pop_callback(struct tt_fedpro_caller *caller)
{
    pthread_mutex_lock(&caller->mutex);
    struct tt_caller_queued *waiting = caller->first;
    if (waiting)
        caller->first = waiting->next;
    if (!caller->first)
        caller->last = NULL;
    pthread_mutex_unlock(&caller->mutex);
    return waiting;
}

enum tutti_err tt_fedpro_caller_next(struct tt_fedpro_caller *caller, double timeout, uint32_t *number,
                                     uint8_t **content, size_t *size)
{
    double until = timeout < 0 ? INFINITY : tt_wall_clock_now() + timeout;
    struct tt_caller_queued *waiting = NULL;
    *number = 0;
    *content = NULL;
    *size = 0;
    while ((waiting = fedpro_caller_pop_callback(caller)) == NULL) {
        double left = until - tt_wall_clock_now();
        TRY(exchange_messages_once(caller, left > 0 ? left : 0));
        if (left <= 0 && !caller->first)
            return TUTTI_OK;
    }
    const uint8_t *inner = NULL;
    bool good = tt_payload_open_envelope(waiting->bytes, waiting->size, number, &inner, size);
    *content = good ? malloc(*size + 1) : NULL;
    if (*content)
        memcpy(*content, inner, *size);
    free(waiting);
    if (!good)
        return tt_fail(TUTTI_ERR_FORMAT, "the RTI at %s sent no callback, but something else", caller->address.text);
    return *content ? TUTTI_OK : tt_fail_memory();
}
