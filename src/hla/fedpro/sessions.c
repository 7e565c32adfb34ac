/* SPDX-License-Identifier: MIT */
#include "hla/fedpro/sessions.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "base/vector.h"

const struct tt_sessions_rules tt_sessions_default_rules = {
    .limits = {.history = 2000, .waiting = 100000, .bytes = (size_t)256 << 20},
    .most_sessions = 10000,
    .first_message = 65536,
    .silence = 180,
    .grace = 10,
};

void tt_sessions_init(struct tt_fedpro_sessions *sessions, const struct tt_fedpro_handler *handler,
                      const struct tt_sessions_rules *rules)
{
    *sessions = (struct tt_fedpro_sessions){.handler = *handler, .rules = *rules};
}

static void notify_connection_ready(struct tt_fedpro_connection *connection)
{
    connection->sessions->handler.ready(connection->sessions->handler.context, connection);
}

/* Tells that it is over, once. */
static void sessions_notify_end(struct tt_fedpro_session *session, const char *why)
{
    if (session->ended)
        return;
    session->ended = true;
    session->sessions->handler.ended(session->sessions->handler.context, session, why);
}

/* Out of the table. It has no connection. */
static void session_free(struct tt_fedpro_session *session)
{
    struct tt_fedpro_sessions *sessions = session->sessions;
    for (size_t i = 0; i < sessions->count; i++)
        if (sessions->items[i] == session) {
            sessions->items[i] = sessions->items[--sessions->count];
            break;
        }
    tt_session_link_fini(&session->link);
    free(session);
}

void tt_sessions_end_session(struct tt_fedpro_session *session, const char *why)
{
    sessions_notify_end(session, why);
    if (session->connection) {
        session->connection->closing = true;
        notify_connection_ready(session->connection);
    }
}

void tt_sessions_fini(struct tt_fedpro_sessions *sessions, const char *why)
{
    while (sessions->count > 0) {
        struct tt_fedpro_session *session = sessions->items[sessions->count - 1];
        sessions_notify_end(session, why);
        session_free(session);
    }
    free(sessions->items);
    sessions->items = NULL;
    sessions->room = 0;
}

void tt_sessions_send(struct tt_fedpro_session *session, enum tt_fedpro_type type, const int32_t *head,
                      const void *payload, size_t size, int32_t *sequence)
{
    if (session->ended)
        return;
    if (tt_session_link_push(&session->link, type, head, payload, size, sequence)) {
        char why[200];
        snprintf(why, sizeof why, "the federate is too slow: %.150s", tutti_err_message());
        tt_sessions_end_session(session, why);
        return;
    }
    if (session->connection)
        notify_connection_ready(session->connection);
}

/* Ends a session without a connection if its time is over. */
static void check_disconnected_session(struct tt_fedpro_session *session, double now, double *next)
{
    double due = session->cut_at + session->sessions->rules.grace;
    if (!session->ended && now < due) {
        *next = due < *next ? due : *next;
        return;
    }
    char why[100];
    snprintf(why, sizeof why, "the connection is lost, and was not resumed within %g s",
             session->sessions->rules.grace);
    sessions_notify_end(session, why);
    session_free(session);
}

void tt_sessions_tick(struct tt_fedpro_sessions *sessions, double now, double *next)
{
    *next = INFINITY;
    for (size_t i = sessions->count; i-- > 0;) {
        if (i >= sessions->count) /* a handler ended others */
            continue;
        struct tt_fedpro_session *session = sessions->items[i];
        struct tt_fedpro_connection *connection = session->connection;
        if (!connection) {
            check_disconnected_session(session, now, next);
            continue;
        }
        double due = connection->heard + sessions->rules.silence;
        if (now < due) {
            *next = due < *next ? due : *next;
            continue;
        }
        /* the owner of the socket checks `closing`, and nothing is left to write */
        tt_sessions_free_connection(connection, now);
        connection->closing = true;
        notify_connection_ready(connection);
    }
}

void tt_sessions_init_connection(struct tt_fedpro_connection *connection, struct tt_fedpro_sessions *sessions,
                                 double now)
{
    *connection = (struct tt_fedpro_connection){
        .sessions = sessions, .intake = {.limit = sessions->rules.first_message}, .heard = now};
}

static void notify_disconnected(struct tt_fedpro_session *session, bool resumed)
{
    const struct tt_fedpro_handler *handler = &session->sessions->handler;
    if (handler->cut)
        handler->cut(handler->context, session, resumed);
}

/* Takes connection and session apart. */
static void sessions_disconnect(struct tt_fedpro_session *session, double now)
{
    session->connection->session = NULL;
    session->connection = NULL;
    session->cut_at = now;
    tt_session_link_disconnect(&session->link);
}

void tt_sessions_free_connection(struct tt_fedpro_connection *connection, double now)
{
    struct tt_fedpro_session *session = connection->session;
    tt_fedpro_message_free_intake(&connection->intake);
    if (!session)
        return;
    sessions_disconnect(session, now);
    if (session->ended)
        session_free(session);
    else
        notify_disconnected(session, false);
}

/* A status, written before everything else. */
static void put_direct_status(struct tt_fedpro_connection *connection, enum tt_fedpro_type type, uint64_t session,
                              int32_t first, const int32_t *second)
{
    size_t size = TUTTI_FEDPRO_HEADER + sizeof first + (second ? sizeof *second : 0);
    struct tt_fedpro_header header = {.size = (uint32_t)size,
                                      .session = session,
                                      .last_received = second ? *second : TUTTI_FEDPRO_NO_SEQUENCE,
                                      .type = type};
    tt_fedpro_message_put_header(connection->direct, &header);
    tt_fedpro_message_put_u32(connection->direct + TUTTI_FEDPRO_HEADER, (uint32_t)first);
    if (second)
        tt_fedpro_message_put_u32(connection->direct + TUTTI_FEDPRO_HEADER + sizeof first, (uint32_t)*second);
    connection->direct_size = size;
    connection->direct_written = 0;
    notify_connection_ready(connection);
}

static void reject_session(struct tt_fedpro_connection *connection, enum tt_fedpro_reason reason)
{
    connection->closing = true;
    put_direct_status(connection, TUTTI_FEDPRO_NEW_SESSION_STATUS, 0, (int32_t)reason, NULL);
}

static enum tutti_err sessions_start_session(struct tt_fedpro_connection *connection,
                                             const struct tt_fedpro_message *message)
{
    struct tt_fedpro_sessions *sessions = connection->sessions;
    if (tt_fedpro_message_get_u32(message->payload) != TUTTI_FEDPRO_VERSION) {
        reject_session(connection, TUTTI_FEDPRO_UNSUPPORTED_VERSION);
        return TUTTI_OK;
    }
    if (sessions->count >= sessions->rules.most_sessions) {
        reject_session(connection, TUTTI_FEDPRO_OUT_OF_RESOURCES);
        return TUTTI_OK;
    }
    struct tt_fedpro_session *session = calloc(1, sizeof *session);
    uint64_t number = 0; /* it cannot be guessed: a connection that presents it may resume the session */
    while (session && number == 0)
        if (tt_random_bytes(&number, sizeof number))
            break;
    if (!session || number == 0 ||
        !tt_vector_reserve(&sessions->items, &sessions->room, sessions->count + 1, sizeof(void *))) {
        free(session);
        reject_session(connection, TUTTI_FEDPRO_OUT_OF_RESOURCES);
        return TUTTI_OK;
    }
    sessions->items[sessions->count++] = session;

    tt_session_link_init(&session->link, number, 1, &sessions->rules.limits); /* the status is message 0 */
    session->sessions = sessions;
    session->connection = connection;
    connection->session = session;
    put_direct_status(connection, TUTTI_FEDPRO_NEW_SESSION_STATUS, session->link.session, TUTTI_FEDPRO_WELCOME, NULL);
    sessions->handler.began(sessions->handler.context, session);
    return TUTTI_OK;
}

static struct tt_fedpro_session *sessions_find(const struct tt_fedpro_sessions *sessions, uint64_t number)
{
    for (size_t i = 0; i < sessions->count; i++)
        if (sessions->items[i]->link.session == number && !sessions->items[i]->ended)
            return sessions->items[i];
    return NULL;
}

/* Returns true if the federate still has the messages that were not received. */
static bool can_replay_from(const struct tt_session_link *link, int32_t oldest)
{
    if (oldest < 0)
        return true; /* it keeps nothing: all arrived */
    if (link->last_received < 0)
        return true; /* it has all messages since its first one */
    return !tt_fedpro_message_is_later(oldest, tt_fedpro_message_next_sequence(link->last_received));
}

static enum tutti_err resume_session(struct tt_fedpro_connection *connection, const struct tt_fedpro_message *message,
                                     double now)
{
    struct tt_fedpro_session *session = sessions_find(connection->sessions, message->header.session);
    int32_t last = (int32_t)tt_fedpro_message_get_u32(message->payload);
    int32_t oldest = (int32_t)tt_fedpro_message_get_u32(message->payload + 4);
    int32_t none = TUTTI_FEDPRO_NO_SEQUENCE;
    if (!session) {
        connection->closing = true;
        put_direct_status(connection, TUTTI_FEDPRO_RESUME_STATUS, message->header.session, TUTTI_FEDPRO_NO_SUCH_SESSION,
                          &none);
        return TUTTI_OK;
    }
    if (session->connection) {
        struct tt_fedpro_connection *old = session->connection;
        sessions_disconnect(session, now);
        old->closing = true;
        notify_connection_ready(old);
    }
    if (!can_replay_from(&session->link, oldest) || !tt_session_link_rewind(&session->link, last)) {
        connection->closing = true;
        put_direct_status(connection, TUTTI_FEDPRO_RESUME_STATUS, session->link.session,
                          TUTTI_FEDPRO_NOT_ENOUGH_MESSAGES, &none);
        sessions_notify_end(session, "it could not be resumed: messages that were lost are not kept any more");
        session_free(session);
        return TUTTI_OK;
    }
    session->connection = connection;
    connection->session = session;
    put_direct_status(connection, TUTTI_FEDPRO_RESUME_STATUS, session->link.session, TUTTI_FEDPRO_RESUMED,
                      &session->link.last_received);
    notify_disconnected(session, true);
    return TUTTI_OK;
}

static enum tutti_err sessions_accept_connection(struct tt_fedpro_connection *connection,
                                                 const struct tt_fedpro_message *message, double now)
{
    char name[24];
    if (message->header.type == TUTTI_FEDPRO_NEW_SESSION)
        return sessions_start_session(connection, message);
    if (message->header.type == TUTTI_FEDPRO_RESUME)
        return resume_session(connection, message, now);
    return tt_fail(TUTTI_ERR_FORMAT, "a connection began with %s; it begins with NEW_SESSION or RESUME_REQUEST",
                   tt_fedpro_message_type_name(message->header.type, name));
}

static enum tutti_err sessions_handle_message(struct tt_fedpro_connection *connection,
                                              const struct tt_fedpro_message *message)
{
    struct tt_fedpro_session *session = connection->session;
    const struct tt_fedpro_handler *handler = &connection->sessions->handler;
    const struct tt_fedpro_header *header = &message->header;
    char name[24];
    if (header->session != session->link.session)
        return tt_fail(TUTTI_ERR_FORMAT, "%s of another session came", tt_fedpro_message_type_name(header->type, name));
    if (!tt_session_link_receive(&session->link, header))
        return TUTTI_OK; /* it was here before the connection was cut */
    switch (header->type) {
    case TUTTI_FEDPRO_HEARTBEAT:
        tt_sessions_send(session, TUTTI_FEDPRO_HEARTBEAT_RESPONSE, &header->sequence, NULL, 0, NULL);
        return TUTTI_OK;
    case TUTTI_FEDPRO_TERMINATE:
        tt_sessions_send(session, TUTTI_FEDPRO_TERMINATED, NULL, NULL, 0, NULL);
        tt_sessions_end_session(session, NULL);
        return TUTTI_OK;
    case TUTTI_FEDPRO_CALL:
        handler->call(handler->context, session, header->sequence, message->payload, message->size);
        return TUTTI_OK;
    case TUTTI_FEDPRO_CALLBACK_RESPONSE:
        handler->answer(handler->context, session, (int32_t)tt_fedpro_message_get_u32(message->payload),
                        message->payload + 4, message->size - 4);
        return TUTTI_OK;
    default:
        return tt_fail(TUTTI_ERR_FORMAT, "%s came, which federates do not send in a session",
                       tt_fedpro_message_type_name(header->type, name));
    }
}

static enum tutti_err handle_next_message(struct tt_fedpro_connection *connection, double now, bool *left)
{
    struct tt_fedpro_message message;
    TRY(tt_fedpro_message_parse_next(&connection->intake, &message, left));
    if (!*left)
        return TUTTI_OK;
    connection->heard = now;
    return connection->session ? sessions_handle_message(connection, &message)
                               : sessions_accept_connection(connection, &message, now);
}

enum tutti_err tt_sessions_handle_messages(struct tt_fedpro_connection *connection, double now, int most, bool *left)
{
    *left = true;
    for (int i = 0; i < most && *left; i++) {
        if (connection->closing) {
            *left = false;
            return TUTTI_OK;
        }
        enum tutti_err err = handle_next_message(connection, now, left);
        if (err && connection->session) {
            struct tt_failure failure;
            tt_fail_save(&failure, err);
            sessions_notify_end(connection->session, failure.message);
            return tt_fail_restore(&failure);
        }
        TRY(err);
    }
    return TUTTI_OK;
}

const uint8_t *tt_sessions_get_output(struct tt_fedpro_connection *connection, uint8_t *buffer, size_t room,
                                      size_t *size)
{
    *size = connection->direct_size - connection->direct_written;
    if (*size > 0)
        return connection->direct + connection->direct_written;
    return connection->session ? tt_session_link_output(&connection->session->link, buffer, room, size) : NULL;
}

bool tt_sessions_has_output(const struct tt_fedpro_connection *connection)
{
    return connection->direct_written < connection->direct_size ||
           (connection->session && tt_session_link_pending(&connection->session->link) > 0);
}

void tt_sessions_consume_output(struct tt_fedpro_connection *connection, size_t size)
{
    if (connection->direct_written < connection->direct_size)
        connection->direct_written += size;
    else if (connection->session)
        tt_session_link_consume(&connection->session->link, size);
}
