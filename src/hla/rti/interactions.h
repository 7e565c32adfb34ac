/* SPDX-License-Identifier: MIT */
/* interactions.h - the services of chapter 6 about interactions: to all who subscribe, or directed to an object. */
#ifndef TT_HLA_RTI_INTERACTIONS_H
#define TT_HLA_RTI_INTERACTIONS_H

#include "hla/rti/message_send.h"

/* *retraction (may be NULL) is 0 if the message cannot be taken back: it is not sent in time order. */
TUTTI_CHECKED enum tt_hla tt_objects_send_interaction(struct tt_ambassador *ambassador, uint32_t class,
                                                      const struct tt_hla_value *values, size_t count,
                                                      struct tt_message_stamp send, uint64_t *retraction);
TUTTI_CHECKED enum tt_hla tt_objects_send_directed(struct tt_ambassador *ambassador, uint32_t class, uint32_t object,
                                                   const struct tt_hla_value *values, size_t count,
                                                   struct tt_message_stamp send, uint64_t *retraction);

#endif
