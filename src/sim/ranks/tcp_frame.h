/* SPDX-License-Identifier: MIT */
/* tcp_frame.h - the messages, or frames, of the tcp fabric. No sockets here: input is untrusted, and is fuzzed
 * (fuzz_frame).
 *
 * A message is a head of 16 bytes and a body:
 *
 *  HELLO   the first of the end that connected, and the answer: who we are (struct tt_frame_hello)
 *  REFUSE  the answer to a hello that does not fit: u32 reason, text version
 *  DATA    an exchange: the cargo of `channel` (fabric.h), in the machines' byte order, which the hello has compared
 *  REDUCE  doubles, likewise
 *  ACK     nothing: only the head's `taken` counts
 *  PING    nothing: tests the connection
 *  STOP    u64: the number of macro steps that no rank may exceed
 *  BYE     nothing: no further message comes
 *  REPORT  to the hub: bytes of the stream of fabric.h
 *  GRANT   from the hub: u64: the total number of bytes of that stream that may be sent
 *
 * DATA and REDUCE of one link are numbered together; `taken` is the number that the sender has received on the link,
 * which bounds how far a rank runs ahead of a slower one. */
#ifndef TT_SIM_RANKS_TCP_FRAME_H
#define TT_SIM_RANKS_TCP_FRAME_H

#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/bytes.h"

enum tt_frame_kind {
    TUTTI_FRAME_HELLO = 1,
    TUTTI_FRAME_REFUSE,
    TUTTI_FRAME_DATA,
    TUTTI_FRAME_REDUCE,
    TUTTI_FRAME_ACK,
    TUTTI_FRAME_PING,
    TUTTI_FRAME_STOP,
    TUTTI_FRAME_BYE,
    TUTTI_FRAME_REPORT,
    TUTTI_FRAME_GRANT,
    TUTTI_FRAME_KINDS
};

enum { TUTTI_FRAME_HEAD = 16, TUTTI_FRAME_PROTOCOL = 1, TUTTI_FRAME_RUN_ID = 16, TUTTI_FRAME_VERSION = 32 };

/* The "rank" of the hub. */
#define TUTTI_FRAME_HUB UINT32_MAX

struct tt_frame_head {
    enum tt_frame_kind kind;
    uint32_t channel, number, taken;
};

void tt_tcp_frame_write_head(char *at, const struct tt_frame_head *head);
/* Of a message of `size` bytes. False if it cannot be one: too short, unknown kind, a body that its kind cannot have. */
bool tt_tcp_frame_read_head(const void *message, size_t size, struct tt_frame_head *head);

/* The body of STOP and GRANT. */
void tt_tcp_frame_write_u64(char *body, uint64_t value);
uint64_t tt_tcp_frame_read_u64(const void *message);

struct tt_frame_hello {
    uint32_t protocol;
    char version[TUTTI_FRAME_VERSION]; /* of Tutti */
    uint64_t layout[2];                /* a number and a double as they lie in memory: byte order and form */
    uint8_t run[TUTTI_FRAME_RUN_ID];
    uint32_t rank, ranks;
};

/* Fills in the hello of this program. */
void tt_tcp_frame_fill_hello(struct tt_frame_hello *hello, const uint8_t run[TUTTI_FRAME_RUN_ID], uint32_t rank,
                             uint32_t ranks);
/* Appends the whole message, head and all, to a parcel. */
void tt_tcp_frame_write_hello(struct tt_byte_writer *parcel, const struct tt_frame_hello *hello);
/* False if it is not a hello. For a different protocol only `protocol` and `version` are valid. */
bool tt_tcp_frame_read_hello(const void *message, size_t size, struct tt_frame_hello *hello);

enum tt_frame_reason {
    TUTTI_FRAME_FINE,
    TUTTI_FRAME_OTHER_VERSION,
    TUTTI_FRAME_OTHER_LAYOUT,
    TUTTI_FRAME_OTHER_RUN,
    TUTTI_FRAME_NOT_EXPECTED, /* no such rank, or it is already connected */
    TUTTI_FRAME_REASONS
};

/* Checks that both sides are compatible. Does not check ranks. */
enum tt_frame_reason tt_tcp_frame_compare_hello(const struct tt_frame_hello *theirs, const struct tt_frame_hello *ours);
/* FORMAT with a sentence: `who` ("rank 2 at host:port") with that version is incompatible, with the reason. */
enum tutti_err tt_tcp_frame_fail_mismatch(enum tt_frame_reason reason, const char *who, const char *version);

void tt_tcp_frame_write_refusal(struct tt_byte_writer *parcel, enum tt_frame_reason reason);
bool tt_tcp_frame_read_refusal(const void *message, size_t size, enum tt_frame_reason *reason,
                               char version[TUTTI_FRAME_VERSION]);

#endif
