/* SPDX-License-Identifier: MIT */
/* fedpro_callback.h - callbacks from the RTI to a federate, as CallbackRequest. */
#ifndef TT_HLA_FEDPRO_FEDPRO_CALLBACK_H
#define TT_HLA_FEDPRO_FEDPRO_CALLBACK_H

#include "hla/fedpro/payload.h"
#include "hla/rti/callback.h"

/* The bytes of the message, in the memory; NULL when that is out. `kind` is that of the federation's time. */
uint8_t *tt_fedpro_callback_encode(struct tt_payload_memory *memory, const struct tt_callback *callback,
                                   enum tt_logical_time_kind kind, size_t *size);

#endif
