/* SPDX-License-Identifier: MIT */
/* sending.h - messages as they leave a federate, and how they are taken back. */
#ifndef TUTTI_RTI_SENDING_H
#define TUTTI_RTI_SENDING_H

#include "rti/federation.h"

/* A stamp and a tag, as the services take them; `time` NULL: without a stamp. */
struct tutti_send {
    const int64_t *time;
    struct tutti_octets tag;
};

/* InvalidLogicalTime: the federate has promised not to send at this time. */
TUTTI_CHECKED enum tutti_hla tutti_send_check(struct tutti_federate *federate, const struct tutti_send *send);
/* A new message of the federate, with the next number unless `part` is not 0; NULL when memory is out. `order` is what is preferred. */
struct tutti_message *tutti_send_message(struct tutti_federate *federate, enum tutti_message_kind kind,
                                         const struct tutti_send *send, const struct tutti_value *values, size_t count,
                                         enum tutti_order order, uint32_t part);
/* It has been delivered: keeps it for a retraction where that is possible, and lets go of it. Returns what it is retracted by, or 0. */
uint64_t tutti_send_done(struct tutti_federate *federate, struct tutti_message *message);

/* 8.22: takes a message back that the federate sent. Those that have it are told, the others never see it. */
TUTTI_CHECKED enum tutti_hla tutti_rti_retract(struct tutti_ambassador *ambassador, uint64_t retraction);

#endif
