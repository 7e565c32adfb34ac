/* SPDX-License-Identifier: MIT */
/* callbacks.h - what the RTI tells a federate, as CallbackRequest. */
#ifndef TUTTI_FEDPRO_CALLBACKS_H
#define TUTTI_FEDPRO_CALLBACKS_H

#include "fedpro/forms.h"
#include "rti/callback.h"

/* The bytes of the message, in the memory; NULL when that is out. `kind` is that of the federation's time. */
uint8_t *tt_fedpro_callback_encode(struct tt_payload_memory *memory, const struct tt_callback *callback,
                                   enum tt_logical_time_kind kind, size_t *size);

#endif
