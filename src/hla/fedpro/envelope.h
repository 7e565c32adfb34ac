/* SPDX-License-Identifier: MIT */
/* envelope.h - CallRequest, CallResponse, CallbackRequest and CallbackResponse: each a message with one field, whose number says what it
 * is. Unpacking the rest is protobuf-c's, into memory of one arena. */
#ifndef TT_HLA_FEDPRO_ENVELOPE_H
#define TT_HLA_FEDPRO_ENVELOPE_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The field that counts, the last one; false if there is none, or the bytes are no message. `*content` lies in `bytes`. */
bool tt_payload_open_envelope(const uint8_t *bytes, size_t size, uint32_t *number, const uint8_t **content,
                              size_t *content_size);

/* Memory that is given back all at once, and used again. Zeroed is empty. */
struct tt_payload_memory {
    struct tt_payload_block *blocks; /* the one in use first */
    size_t used;                     /* of it */
    bool failed;                     /* memory was out since the last reset: what was made is not whole */
    ProtobufCAllocator allocator;
};
void tt_payload_memory_init(struct tt_payload_memory *memory);
void tt_payload_memory_fini(struct tt_payload_memory *memory);
/* Everything that was taken is free again. */
void tt_payload_memory_reset(struct tt_payload_memory *memory);
/* Zeroed; NULL when memory is out. */
void *tt_payload_memory_allocate(struct tt_payload_memory *memory, size_t size);

/* An envelope around a message, in that memory; NULL when memory is out. */
uint8_t *tt_payload_close_envelope(struct tt_payload_memory *memory, uint32_t number, const ProtobufCMessage *content,
                                   size_t *size);

#endif
