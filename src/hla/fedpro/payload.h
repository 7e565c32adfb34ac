/* SPDX-License-Identifier: MIT */
/* payload.h - converts the RTI's handles, times and values to and from their forms in messages (shapes.proto).
 *
 * A handle is the number 4 followed by its own number, four bytes each, big-endian. This is an HLAhandle, as in values
 * of the management object model, so that programs can compare both; a handle without the leading number is accepted,
 * too. A time has eight bytes, and so has a retraction's handle. Results are allocated in the given memory; if that is
 * out, `memory->failed` is set and they must not be sent. */
#ifndef TT_HLA_FEDPRO_PAYLOAD_H
#define TT_HLA_FEDPRO_PAYLOAD_H

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "hla/fedpro/shapes.pb-c.h"
#include "hla/rti/logical_time.h"
#include "hla/rti/message.h"

/* CallRequest, CallResponse, CallbackRequest and CallbackResponse: each is a message with one field, whose number
 * identifies it. protobuf-c unpacks the content into memory of one arena. */

/* Finds the effective field, the last one; false if there is none, or the bytes are malformed. *content lies in
 * `bytes`. */
bool tt_payload_open_envelope(const uint8_t *bytes, size_t size, uint32_t *number, const uint8_t **content,
                              size_t *content_size);

/* Memory that is given back all at once, and used again. Zeroed is empty. */
struct tt_payload_memory {
    struct tt_payload_block *blocks; /* the one in use first */
    size_t used;                     /* of it */
    bool failed;                     /* memory was out since the last reset: results are incomplete */
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

/* Returns 0 if there is no handle, or it has a different form. */
uint32_t tt_payload_read_handle(const Fedpro__Handle *handle);
uint64_t tt_payload_read_retraction(const Fedpro__Handle *handle);
/* An array in the memory, NULL if it is empty. */
uint32_t *tt_payload_read_handles(struct tt_payload_memory *memory, const Fedpro__Handles *handles, size_t *count);
struct tt_hla_value *tt_payload_read_values(struct tt_payload_memory *memory, const Fedpro__Values *values,
                                            size_t *count);
static inline struct tt_octets tt_payload_read_bytes(ProtobufCBinaryData data)
{
    return (struct tt_octets){data.data, data.len};
}

/* protobuf-c's structures have no const; packing does not write to them. */
static inline void *tt_payload_borrow(const void *pointer)
{
    union {
        const void *from;
        void *to;
    } same = {pointer};
    return same.to;
}

Fedpro__Handle *tt_payload_make_handle(struct tt_payload_memory *memory, uint32_t handle);
/* Clients compare handles of transportation types with constants: {0, 0, 0, 1} is HLAreliable, {0, 0, 0, 2}
 * HLAbestEffort. */
Fedpro__Handle *tt_payload_make_transportation(struct tt_payload_memory *memory, uint32_t transportation);
Fedpro__Handle *tt_payload_make_retraction(struct tt_payload_memory *memory, uint64_t number);
Fedpro__Handle *tt_payload_make_time(struct tt_payload_memory *memory, enum tt_logical_time_kind kind, int64_t time);
Fedpro__Handles *tt_payload_make_handles(struct tt_payload_memory *memory, const uint32_t *handles, size_t count);
Fedpro__Values *tt_payload_make_values(struct tt_payload_memory *memory, const struct tt_hla_value *values,
                                       size_t count);
/* The text is borrowed; NULL is "". */
char *tt_payload_make_text(const char *text);

/* The credentials of a federate that connects: a password in the standard's form, or, for programs of IEEE 1516-2010,
 * which have no credentials, `tutti.key=KEY` among the settings. */

/* The key as UTF-8, in the memory; NULL: it shows none. */
const char *tt_payload_read_credentials(struct tt_payload_memory *memory, const Fedpro__Credentials *credentials);
const char *tt_payload_read_settings_key(struct tt_payload_memory *memory, const char *settings);
/* The other way round, for a federate: HLAplainTextPassword, in the memory. */
TUTTI_CHECKED enum tutti_err tt_payload_make_credentials(struct tt_payload_memory *memory, const char *key,
                                                         ProtobufCBinaryData *data);

#endif
