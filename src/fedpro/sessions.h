/* SPDX-License-Identifier: MIT */
/* sessions.h - the RTI's side of the Federate Protocol's sessions, without sockets: bytes of connections in, calls of federates out, and the
 * other way round. A session outlives its connection: a federate whose connection is cut comes back on another one, and both sides send
 * again what the other did not receive.
 *
 * S1. A session has at most one connection, a connection at most one session. A federate that resumes brings the new one; the old one is
 *     dropped.
 * S2. A connection begins with NEW_SESSION or RESUME, and nothing else.
 * S3. `ended` is told once for each session that began; nothing is told of it afterwards.
 * S4. Handlers may end any session and send to any, also the one they are told of. */
#ifndef TUTTI_FEDPRO_SESSIONS_H
#define TUTTI_FEDPRO_SESSIONS_H

#include "fedpro/intake.h"
#include "fedpro/link.h"

struct tutti_fedpro_session;

/* Bytes in and out of one connection. Made by whoever has the socket; its address does not change. */
struct tutti_fedpro_connection {
    struct tutti_fedpro_sessions *sessions;
    struct tutti_fedpro_session *session; /* NULL: none yet, or not any more */
    struct tutti_fedpro_intake intake;
    uint8_t direct[TUTTI_FEDPRO_HEADER + 8]; /* a status, which goes before everything else */
    size_t direct_size, direct_written;
    double heard; /* when something came */
    bool closing; /* to be closed as soon as nothing is left to be written */
    void *owner;  /* of whoever has the socket */
};

struct tutti_fedpro_session {
    struct tutti_fedpro_link link;
    struct tutti_fedpro_sessions *sessions;
    struct tutti_fedpro_connection *connection; /* NULL: cut, and may be resumed */
    double cut_at;
    bool ended;
    void *owner; /* of the handler */
};

struct tutti_fedpro_handler {
    void *context;
    /* A federate has a session; it is the handler's turn to set `owner`. */
    void (*began)(void *context, struct tutti_fedpro_session *session);
    /* A call, to be answered by a CALL_RESPONSE with its number. `bytes` are gone after the call. */
    void (*call)(void *context, struct tutti_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                 size_t size);
    /* The federate has carried a callback out. */
    void (*answer)(void *context, struct tutti_fedpro_session *session, int32_t sequence, const uint8_t *bytes,
                   size_t size);
    /* The session is over. `why` is NULL if the federate wanted it so, else a sentence without its full stop. */
    void (*ended)(void *context, struct tutti_fedpro_session *session, const char *why);
    /* The connection was cut (`resumed` is false), or the federate is back. May be NULL. */
    void (*cut)(void *context, struct tutti_fedpro_session *session, bool resumed);
    /* The connection has something to write, or is to be closed. */
    void (*ready)(void *context, struct tutti_fedpro_connection *connection);
};

struct tutti_fedpro_rules {
    struct tutti_fedpro_limits limits; /* of each session */
    size_t most_sessions;
    uint32_t first_message; /* bytes of a message before the handler raises the intake's limit */
    double silence;         /* seconds without a message, after which a connection counts as cut */
    double grace;           /* seconds for which a cut session waits to be resumed */
};
extern const struct tutti_fedpro_rules tutti_fedpro_rules_usual;

struct tutti_fedpro_sessions {
    struct tutti_fedpro_handler handler;
    struct tutti_fedpro_rules rules;
    struct tutti_fedpro_session **items;
    size_t count, room;
};

void tutti_fedpro_sessions_init(struct tutti_fedpro_sessions *sessions, const struct tutti_fedpro_handler *handler,
                                const struct tutti_fedpro_rules *rules);
/* Ends all sessions; tells why. No connection has one any more. */
void tutti_fedpro_sessions_fini(struct tutti_fedpro_sessions *sessions, const char *why);
/* Ends sessions that were cut for too long, and cuts connections that were silent for too long. *next is the time at which something is
 * due again, or infinity. */
void tutti_fedpro_sessions_tick(struct tutti_fedpro_sessions *sessions, double now, double *next);

void tutti_fedpro_connection_init(struct tutti_fedpro_connection *connection, struct tutti_fedpro_sessions *sessions,
                                  double now);
/* The socket is gone: the session is cut, if it was not over. */
void tutti_fedpro_connection_fini(struct tutti_fedpro_connection *connection, double now);
/* Handles whole messages of the intake, at most `most`; *left is true if there may be more. Fails with the reason for which the connection
 * is to be closed at once; its session is over then. */
TUTTI_CHECKED enum tutti_err tutti_fedpro_connection_take(struct tutti_fedpro_connection *connection, double now,
                                                          int most, bool *left);
/* As those of the link. NULL and `closing`: close it. */
const uint8_t *tutti_fedpro_connection_output(struct tutti_fedpro_connection *connection, uint8_t *buffer, size_t room,
                                              size_t *size);
void tutti_fedpro_connection_wrote(struct tutti_fedpro_connection *connection, size_t size);
/* Is there anything to be written? */
bool tutti_fedpro_connection_writes(const struct tutti_fedpro_connection *connection);

/* Sends a CALL_RESPONSE (`head` is the call's number) or a CALLBACK. If the federate does not take in what it is sent, its session ends. */
void tutti_fedpro_session_send(struct tutti_fedpro_session *session, enum tutti_fedpro_type type, const int32_t *head,
                               const void *payload, size_t size, int32_t *sequence);
/* The session is over, and its connection is closed when everything is written. `why` as that of `ended`. */
void tutti_fedpro_session_end(struct tutti_fedpro_session *session, const char *why);

#endif
