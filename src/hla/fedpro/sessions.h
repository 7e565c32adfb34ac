/* SPDX-License-Identifier: MIT */
/* sessions.h - the RTI's side of the Federate Protocol's sessions, without sockets: bytes of connections in, calls of
 * federates out, and the other way round. A session outlives its connection: after a break the federate reconnects, and
 * both sides repeat the messages that were not received.
 *
 * S1. A session has at most one connection, a connection at most one session. A federate that resumes replaces its
 *     connection; the old one is dropped.
 * S2. A connection begins with NEW_SESSION or RESUME.
 * S3. `ended` is called once for each session that began; it is the last callback for that session.
 * S4. Handlers may end any session and send to any, including the session they are called for. */
#ifndef TT_HLA_FEDPRO_SESSIONS_H
#define TT_HLA_FEDPRO_SESSIONS_H

#include "hla/fedpro/fedpro_message.h"
#include "hla/fedpro/session_link.h"

struct tt_fedpro_session;

/* The bytes in and out of one connection. Created by the owner of the socket; its address does not change. */
struct tt_fedpro_connection {
    struct tt_fedpro_sessions *sessions;
    struct tt_fedpro_session *session; /* NULL: none yet, or not any more */
    struct tt_fedpro_intake intake;
    uint8_t direct[TUTTI_FEDPRO_HEADER + 8]; /* a status, which is sent before everything else */
    size_t direct_size, direct_written;
    double heard; /* when something came */
    bool closing; /* to be closed as soon as nothing is left to be written */
    void *owner;  /* of the socket */
};

struct tt_fedpro_session {
    struct tt_session_link link;
    struct tt_fedpro_sessions *sessions;
    struct tt_fedpro_connection *connection; /* NULL: cut, and may be resumed */
    double cut_at;
    bool ended;
    void *owner; /* of the handler */
};

struct tt_fedpro_handler {
    void *context;
    /* A federate has a session; it is the handler's turn to set `owner`. */
    void (*began)(void *context, struct tt_fedpro_session *session);
    /* A call, to be answered by a CALL_RESPONSE with its number. `bytes` are gone after the call. */
    void (*call)(void *context, struct tt_fedpro_session *session, int32_t sequence, const uint8_t *bytes, size_t size);
    /* The federate has executed a callback. */
    void (*answer)(void *context, struct tt_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                   size_t size);
    /* The session is over. `why` is NULL if the federate ended it, otherwise a sentence without its full stop. */
    void (*ended)(void *context, struct tt_fedpro_session *session, const char *why);
    /* The connection was cut (`resumed` is false), or the federate is back. May be NULL. */
    void (*cut)(void *context, struct tt_fedpro_session *session, bool resumed);
    /* The connection has something to write, or is to be closed. */
    void (*ready)(void *context, struct tt_fedpro_connection *connection);
};

struct tt_sessions_rules {
    struct tt_session_link_limits limits; /* of each session */
    size_t most_sessions;
    uint32_t first_message; /* bytes of a message before the handler raises the intake's limit */
    double silence;         /* seconds without a message, after which a connection counts as cut */
    double grace;           /* seconds for which a cut session waits to be resumed */
};
extern const struct tt_sessions_rules tt_sessions_default_rules;

struct tt_fedpro_sessions {
    struct tt_fedpro_handler handler;
    struct tt_sessions_rules rules;
    struct tt_fedpro_session **items;
    size_t count, room;
};

void tt_sessions_init(struct tt_fedpro_sessions *sessions, const struct tt_fedpro_handler *handler,
                      const struct tt_sessions_rules *rules);
/* Ends all sessions for the reason `why`. No connection has a session any more. */
void tt_sessions_fini(struct tt_fedpro_sessions *sessions, const char *why);
/* Ends sessions that were cut for too long, and cuts connections that were silent for too long. *next is the time at which something is
 * due again, or infinity. */
void tt_sessions_tick(struct tt_fedpro_sessions *sessions, double now, double *next);

void tt_sessions_init_connection(struct tt_fedpro_connection *connection, struct tt_fedpro_sessions *sessions,
                                 double now);
/* The socket is gone: the session is cut, if it was not over. */
void tt_sessions_free_connection(struct tt_fedpro_connection *connection, double now);
/* Handles whole messages of the intake, at most `most`; *left is true if there may be more. Fails with the reason for which the connection
 * is to be closed at once; its session is over then. */
TUTTI_CHECKED enum tutti_err tt_sessions_handle_messages(struct tt_fedpro_connection *connection, double now, int most,
                                                         bool *left);
/* As those of the link. NULL and `closing`: close it. */
const uint8_t *tt_sessions_get_output(struct tt_fedpro_connection *connection, uint8_t *buffer, size_t room,
                                      size_t *size);
void tt_sessions_consume_output(struct tt_fedpro_connection *connection, size_t size);
/* Returns true if there is output to write. */
bool tt_sessions_has_output(const struct tt_fedpro_connection *connection);

/* Sends a CALL_RESPONSE (`head` is the call's number) or a CALLBACK. If the federate does not take in what it is sent, its session ends. */
void tt_sessions_send(struct tt_fedpro_session *session, enum tt_fedpro_type type, const int32_t *head,
                      const void *payload, size_t size, int32_t *sequence);
/* The session is over, and its connection is closed when everything is written. `why` as that of `ended`. */
void tt_sessions_end_session(struct tt_fedpro_session *session, const char *why);

#endif
