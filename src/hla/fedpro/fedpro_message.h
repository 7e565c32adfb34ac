/* SPDX-License-Identifier: MIT */
/* message.h - messages of the HLA 4 Federate Protocol as bytes (IEEE 1516.1-2025, clause 12): a header of 24 bytes, then a payload that
 * depends on the type. All numbers are big-endian. */
#ifndef TT_HLA_FEDPRO_FEDPRO_MESSAGE_H
#define TT_HLA_FEDPRO_FEDPRO_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

enum { TUTTI_FEDPRO_HEADER = 24, TUTTI_FEDPRO_VERSION = 1, TUTTI_FEDPRO_PORT = 15164, TUTTI_FEDPRO_PORT_TLS = 15165 };

enum tt_fedpro_type {
    TUTTI_FEDPRO_NEW_SESSION = 1,        /* federate: int32 version */
    TUTTI_FEDPRO_NEW_SESSION_STATUS = 2, /* RTI: int32 reason */
    TUTTI_FEDPRO_HEARTBEAT = 3,          /* federate: empty */
    TUTTI_FEDPRO_HEARTBEAT_RESPONSE = 4, /* RTI: int32 sequence number of the heartbeat */
    TUTTI_FEDPRO_TERMINATE = 5,          /* federate: empty */
    TUTTI_FEDPRO_TERMINATED = 6,         /* RTI: empty */
    TUTTI_FEDPRO_RESUME = 10,            /* federate: int32 last received, int32 oldest that it can send again */
    TUTTI_FEDPRO_RESUME_STATUS = 11,     /* RTI: int32 status, int32 last received */
    TUTTI_FEDPRO_CALL = 20,              /* federate: CallRequest */
    TUTTI_FEDPRO_CALL_RESPONSE = 21,     /* RTI: int32 sequence number of the call, CallResponse */
    TUTTI_FEDPRO_CALLBACK = 22,          /* RTI: CallbackRequest */
    TUTTI_FEDPRO_CALLBACK_RESPONSE = 23, /* federate: int32 sequence number of the callback, CallbackResponse */
};

enum tt_fedpro_reason { /* of a new session's status */
                        TUTTI_FEDPRO_WELCOME = 0,
                        TUTTI_FEDPRO_UNSUPPORTED_VERSION = 1,
                        TUTTI_FEDPRO_OUT_OF_RESOURCES = 2,
                        TUTTI_FEDPRO_REFUSED = 99,
};

enum tt_fedpro_status { /* of a resumed session */
                        TUTTI_FEDPRO_RESUMED = 0,
                        TUTTI_FEDPRO_NO_SUCH_SESSION = 1,
                        TUTTI_FEDPRO_NOT_ENOUGH_MESSAGES = 2,
};

#define TUTTI_FEDPRO_NO_SEQUENCE INT32_MIN

struct tt_fedpro_header {
    uint32_t size;    /* of the message, with its header */
    int32_t sequence; /* counts messages of one side from 0, and begins at 0 again after INT32_MAX */
    uint64_t session; /* 0 before it has a number */
    int32_t
        last_received; /* the peer's newest call, response or callback that has arrived; or TUTTI_FEDPRO_NO_SEQUENCE */
    uint32_t type;
};

void tt_fedpro_message_put_u32(uint8_t *bytes, uint32_t value);
uint32_t tt_fedpro_message_get_u32(const uint8_t *bytes);

/* `bytes` has room for, or contains, TUTTI_FEDPRO_HEADER bytes. */
void tt_fedpro_message_put_header(uint8_t *bytes, const struct tt_fedpro_header *header);
struct tt_fedpro_header tt_fedpro_message_get_header(const uint8_t *bytes);

/* Checks that the type is one of the above and the size fits it. */
bool tt_fedpro_message_check_header(const struct tt_fedpro_header *header);
/* Returns true for calls, callbacks and their responses: messages that are repeated when a session is resumed. */
bool tt_fedpro_message_is_sequenced(uint32_t type);
/* Returns "CALL"; "type 42" for an unknown type. Static, or in `buffer`. */
const char *tt_fedpro_message_type_name(uint32_t type, char buffer[static 24]);

int32_t tt_fedpro_message_next_sequence(int32_t sequence);
/* Returns true if `a` was numbered after `b`. Numbers are less than 2^30 apart. */
bool tt_fedpro_message_is_later(int32_t a, int32_t b);

/* Bytes of a connection, as they come, to whole messages. */

/* Zeroed is empty; `limit` is set by the caller, and may change at any time: a message that is larger is refused when
 * its header arrives. Memory grows with received data, not with the size in a header. */
struct tt_fedpro_intake {
    uint8_t *bytes;
    size_t begin, end, room;
    uint32_t limit;
};

struct tt_fedpro_message {
    struct tt_fedpro_header header;
    const uint8_t *payload; /* in the intake, until it is called again */
    size_t size;            /* of the payload */
};

void tt_fedpro_message_free_intake(struct tt_fedpro_intake *intake);
/* Reserves at least `size` bytes, to be filled at *into and then committed by _took. */
TUTTI_CHECKED enum tutti_err tt_fedpro_message_reserve_bytes(struct tt_fedpro_intake *intake, uint8_t **into,
                                                             size_t *room);
void tt_fedpro_message_commit_bytes(struct tt_fedpro_intake *intake, size_t count);
/* Copies bytes in. */
TUTTI_CHECKED enum tutti_err tt_fedpro_message_append_bytes(struct tt_fedpro_intake *intake, const void *bytes,
                                                            size_t count);
/* Parses the next complete message; *whole is false if it is incomplete. FORMAT: these bytes are not a message; no
 * later message can be read. */
TUTTI_CHECKED enum tutti_err tt_fedpro_message_parse_next(struct tt_fedpro_intake *intake,
                                                          struct tt_fedpro_message *message, bool *whole);

#endif
