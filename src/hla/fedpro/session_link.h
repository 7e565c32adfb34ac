/* SPDX-License-Identifier: MIT */
/* session_link.h - one side of a session: messages that it sends, in order, and what it knows of those it received. Both sides, RTI and federate,
 * have one; it outlives connections.
 *
 * L1. Messages are numbered when they are pushed; those that count (calls, callbacks, responses) are kept until the other side says that
 *     it received them, or until there are more than `history` that were written: the oldest one goes then.
 * L2. Messages that do not count (heartbeats, terminations) are gone once they are written, or when the connection is lost.
 * L3. What counts is taken once: a number that is not after the last one was there before, and is dropped. */
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

/* A message to be sent: the payload is `head` as an int32 if `has_head`, then `size` bytes, which are copied. *sequence (may be NULL) is its
 * number. LIMIT: the other side does not take in what it is sent. */
TUTTI_CHECKED enum tutti_err tt_session_link_push(struct tt_session_link *link, enum tt_fedpro_type type,
                                                  const int32_t *head, const void *payload, size_t size,
                                                  int32_t *sequence);
/* What is to be written next: *size bytes, NULL if nothing waits; those of one message where they lie, or of as many as `buffer` has room
 * for. _wrote says how many of them were written. */
const uint8_t *tt_session_link_output(struct tt_session_link *link, uint8_t *buffer, size_t room, size_t *size);
void tt_session_link_consume(struct tt_session_link *link, size_t size);
size_t tt_session_link_pending(const struct tt_session_link *link);

/* A message of the other side came. True: it is new, and is to be handled. */
bool tt_session_link_receive(struct tt_session_link *link, const struct tt_fedpro_header *header);

/* The connection is gone: nothing is half written any more. */
void tt_session_link_disconnect(struct tt_session_link *link);
/* On a new connection: everything that counts and came after `last` is to be written again. False: it is not kept any more, or was never
 * sent. */
bool tt_session_link_rewind(struct tt_session_link *link, int32_t last);
/* The oldest message that counts and is kept, or TUTTI_FEDPRO_NO_SEQUENCE. */
int32_t tt_session_link_oldest(const struct tt_session_link *link);

#endif
