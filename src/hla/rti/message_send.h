/* SPDX-License-Identifier: MIT */
/* message_send.h - messages as they leave a federate, and how they are taken back. */
#ifndef TT_HLA_RTI_MESSAGE_SEND_H
#define TT_HLA_RTI_MESSAGE_SEND_H

#include "hla/rti/federation.h"

/* A stamp and a tag, as the services take them; `time` NULL: without a stamp. */
struct tt_message_stamp {
    const int64_t *time;
    struct tt_octets tag;
};

/* InvalidLogicalTime: the federate has promised not to send at this time. */
TUTTI_CHECKED enum tt_hla tt_message_check_stamp(struct tt_federate *federate, const struct tt_message_stamp *send);
/* A new message of the federate, with the next number unless `part` is not 0; NULL when memory is out. `order` is what is preferred. */
struct tt_message *tt_message_create(struct tt_federate *federate, enum tt_message_kind kind,
                                     const struct tt_message_stamp *send, const struct tt_hla_value *values,
                                     size_t count, enum tt_message_order order, uint32_t part);
/* It has been delivered: keeps it for a retraction where that is possible, and lets go of it. Returns what it is retracted by, or 0. */
uint64_t tt_message_finish(struct tt_federate *federate, struct tt_message *message);

/* 8.22: retracts a message of the federate. Federates that have received it are notified; all others never see it. */
TUTTI_CHECKED enum tt_hla tt_message_retract(struct tt_ambassador *ambassador, uint64_t retraction);

#endif
