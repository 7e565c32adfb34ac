/* SPDX-License-Identifier: MIT */
/* wire.h - the messages of the tcp fabric. No sockets here: what comes in is hostile, and is tested as such (fuzz_wire).
 *
 * A message is a head of 16 bytes and a body:
 *
 *  HELLO   the first of whoever connected, and the answer: who we are (struct tutti_wire_hello)
 *  REFUSE  the answer to a hello that does not fit: u32 reason, text version
 *  DATA    an exchange: the cargo of `channel` (channel.h), in the machines' byte order, which the hello has compared
 *  REDUCE  doubles, likewise
 *  ACK     nothing: only the head's `taken` counts
 *  PING    nothing: is the connection there?
 *  STOP    u64: nobody is to go beyond so many macro steps
 *  BYE     nothing: no further message comes
 *  REPORT  to the hub: bytes of the stream of report.h
 *  GRANT   from the hub: u64: how many bytes of that stream may be sent, all together
 *
 * DATA and REDUCE of one link are numbered together; `taken` says how many the sender has taken off the link, so that nobody
 * runs ahead of a slower one without bounds. */
#ifndef TUTTI_FABRIC_WIRE_H
#define TUTTI_FABRIC_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/parcel.h"

enum tutti_wire_kind {
    TUTTI_WIRE_HELLO = 1,
    TUTTI_WIRE_REFUSE,
    TUTTI_WIRE_DATA,
    TUTTI_WIRE_REDUCE,
    TUTTI_WIRE_ACK,
    TUTTI_WIRE_PING,
    TUTTI_WIRE_STOP,
    TUTTI_WIRE_BYE,
    TUTTI_WIRE_REPORT,
    TUTTI_WIRE_GRANT,
    TUTTI_WIRE_KINDS
};

enum { TUTTI_WIRE_HEAD = 16, TUTTI_WIRE_PROTOCOL = 1, TUTTI_WIRE_RUN_ID = 16, TUTTI_WIRE_VERSION = 32 };

/* The "rank" of the hub. */
#define TUTTI_WIRE_HUB UINT32_MAX

struct tutti_wire_head {
    enum tutti_wire_kind kind;
    uint32_t channel, number, taken;
};

void tutti_wire_put_head(char *at, const struct tutti_wire_head *head);
/* Of a message of `size` bytes. False if it cannot be one: too short, unknown kind, a body that its kind cannot have. */
bool tutti_wire_get_head(const void *message, size_t size, struct tutti_wire_head *head);

/* The body of STOP and GRANT. */
void tutti_wire_put_u64(char *body, uint64_t value);
uint64_t tutti_wire_get_u64(const void *message);

struct tutti_wire_hello {
    uint32_t protocol;
    char version[TUTTI_WIRE_VERSION]; /* of Tutti */
    uint64_t layout[2];               /* a number and a double as they lie in memory: byte order and form */
    uint8_t run[TUTTI_WIRE_RUN_ID];
    uint32_t rank, ranks;
};

/* What this program has to say. */
void tutti_wire_introduce(struct tutti_wire_hello *hello, const uint8_t run[TUTTI_WIRE_RUN_ID], uint32_t rank,
                          uint32_t ranks);
/* Appends the whole message, head and all, to a parcel. */
void tutti_wire_put_hello(struct tutti_parcel *parcel, const struct tutti_wire_hello *hello);
/* False if it is none. Of a hello of another protocol only `protocol` and `version` count. */
bool tutti_wire_get_hello(const void *message, size_t size, struct tutti_wire_hello *hello);

enum tutti_wire_reason {
    TUTTI_WIRE_FINE,
    TUTTI_WIRE_OTHER_VERSION,
    TUTTI_WIRE_OTHER_LAYOUT,
    TUTTI_WIRE_OTHER_RUN,
    TUTTI_WIRE_NOT_EXPECTED, /* no such rank, or it is there already */
    TUTTI_WIRE_REASONS
};

/* Can we work together? Does not look at ranks. */
enum tutti_wire_reason tutti_wire_compare(const struct tutti_wire_hello *theirs, const struct tutti_wire_hello *ours);
/* FORMAT with a sentence: `who` ("rank 2 at host:port") with that version does not fit, because ... */
enum tutti_err tutti_wire_disagree(enum tutti_wire_reason reason, const char *who, const char *version);

void tutti_wire_put_refusal(struct tutti_parcel *parcel, enum tutti_wire_reason reason);
bool tutti_wire_get_refusal(const void *message, size_t size, enum tutti_wire_reason *reason,
                            char version[TUTTI_WIRE_VERSION]);

#endif
