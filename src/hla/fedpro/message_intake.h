/* SPDX-License-Identifier: MIT */
/* message_intake.h - bytes of a connection, as they come, to whole messages. */
#ifndef TT_HLA_FEDPRO_MESSAGE_INTAKE_H
#define TT_HLA_FEDPRO_MESSAGE_INTAKE_H

#include "base/fail.h"
#include "hla/fedpro/fedpro_message.h"

/* Zeroed is empty; `limit` is set by the caller, and may change at any time: a message that is larger is refused when its header
 * arrives. Room grows with what arrives, not with what a header promises. */
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
/* Room for at least some bytes, to be filled from *into and then told by _took. */
TUTTI_CHECKED enum tutti_err tt_fedpro_message_reserve_bytes(struct tt_fedpro_intake *intake, uint8_t **into,
                                                             size_t *room);
void tt_fedpro_message_commit_bytes(struct tt_fedpro_intake *intake, size_t count);
/* Copies bytes in. */
TUTTI_CHECKED enum tutti_err tt_fedpro_message_append_bytes(struct tt_fedpro_intake *intake, const void *bytes,
                                                            size_t count);
/* The next whole message; *whole is false if there is none yet. FORMAT: these bytes are no message; nothing that follows can be read. */
TUTTI_CHECKED enum tutti_err tt_fedpro_message_parse_next(struct tt_fedpro_intake *intake,
                                                          struct tt_fedpro_message *message, bool *whole);

#endif
