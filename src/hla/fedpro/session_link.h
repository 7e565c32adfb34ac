/* SPDX-License-Identifier: MIT */
/* session_link.h - one side of a session: the messages that it sends, in order, and the state of those it received. RTI
 * and federate have one each; it outlives connections.
 *
 * L1. Messages are numbered when they are pushed; sequenced ones (calls, callbacks, responses) are kept until the
 *     peer confirms them, or until more than `history` were written: then the oldest is dropped.
 * L2. Other messages (heartbeats, terminations) are dropped once they are written, or when the connection is lost.
 * L3. A sequenced message is accepted once: a number that is not after the last one is a repetition, which is
 *     dropped. */
#ifndef TT_HLA_FEDPRO_SESSION_LINK_H
#define TT_HLA_FEDPRO_SESSION_LINK_H

#include "base/fail.h"
#include "hla/fedpro/fedpro_message.h"

struct tt_session_link_limits {
    size_t history; /* messages that are kept after they were written */
    size_t waiting; /* messages that wait to be written; one more is LIMIT */
    size_t bytes;   /* of all that are kept or wait */
};
extern const struct tt_session_link_limits tt_session_link_default_limits;

struct tt_session_link {
    uint64_t session;
    struct tt_session_link_limits limits;
    int32_t next_sequence;
    int32_t last_received;                   /* that counts, or TUTTI_FEDPRO_NO_SEQUENCE */
    struct tt_session_link_message *parcels; /* a ring of `room`, a power of two */
    size_t room, begin, count;
    size_t written;  /* of `count`; the first that is not, is being written */
    size_t progress; /* bytes of that one */
    size_t bytes;
    int32_t forgotten; /* the newest one that counts and is not kept any more, or TUTTI_FEDPRO_NO_SEQUENCE */
};

/* `session` is 0 until it is known. The first message will have the number `first`. */
void tt_session_link_init(struct tt_session_link *link, uint64_t session, int32_t first,
                          const struct tt_session_link_limits *limits);
void tt_session_link_fini(struct tt_session_link *link);

/* Adds a message: the payload is `head` as an int32 if `has_head`, then `size` bytes, which are copied. *sequence (may
 * be NULL) is its number. LIMIT: the peer does not accept what it is sent. */
TUTTI_CHECKED enum tutti_err tt_session_link_push(struct tt_session_link *link, enum tt_fedpro_type type,
                                                  const int32_t *head, const void *payload, size_t size,
                                                  int32_t *sequence);
/* Returns the bytes to be written next: *size bytes, NULL if nothing is pending; those of one message in place, or
 * several messages copied to `buffer`. _wrote commits the number of bytes written. */
const uint8_t *tt_session_link_output(struct tt_session_link *link, uint8_t *buffer, size_t room, size_t *size);
void tt_session_link_consume(struct tt_session_link *link, size_t size);
size_t tt_session_link_pending(const struct tt_session_link *link);

/* Handles the number of a received message. True: it is new and must be processed. */
bool tt_session_link_receive(struct tt_session_link *link, const struct tt_fedpro_header *header);

/* The connection is gone: nothing is half written any more. */
void tt_session_link_disconnect(struct tt_session_link *link);
/* On a new connection: everything that counts and came after `last` is to be written again. False: it is not kept any more, or was never
 * sent. */
bool tt_session_link_rewind(struct tt_session_link *link, int32_t last);
/* The oldest message that counts and is kept, or TUTTI_FEDPRO_NO_SEQUENCE. */
int32_t tt_session_link_oldest(const struct tt_session_link *link);

#endif
