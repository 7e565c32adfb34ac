/* SPDX-License-Identifier: MIT */
/* bytes.h - serialises numbers and texts for other processes. Received bytes are untrusted: reading beyond the end
 * gives zeros and marks the parcel as bad, which is checked once, at the end. Always little-endian. */
#ifndef TT_BASE_BYTES_H
#define TT_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"

/* Borrowed bytes. */
struct tt_bytes {
    size_t size;
    const uint8_t *data;
};

/* Being written; zeroed is empty. */
struct tt_byte_writer {
    char *bytes;
    size_t size, room;
    bool failed; /* for want of memory; all further puts are ignored */
};

void tt_bytes_fini(struct tt_byte_writer *parcel);
/* Empty again; keeps its memory. */
void tt_bytes_reset(struct tt_byte_writer *parcel);
void tt_bytes_put_bytes(struct tt_byte_writer *parcel, const void *bytes, size_t size);
/* Room for `size` bytes that the caller fills in at once; NULL if the parcel has failed. */
char *tt_bytes_extend(struct tt_byte_writer *parcel, size_t size);
void tt_bytes_put_u8(struct tt_byte_writer *parcel, uint8_t value);
void tt_bytes_put_u32(struct tt_byte_writer *parcel, uint32_t value);
void tt_bytes_put_u64(struct tt_byte_writer *parcel, uint64_t value);
void tt_bytes_put_double(struct tt_byte_writer *parcel, double value);
/* A text, or NULL, which stays one. */
void tt_bytes_put_text(struct tt_byte_writer *parcel, const char *text);
/* Bytes with their length in front. */
void tt_bytes_put_block(struct tt_byte_writer *parcel, const void *bytes, size_t size);
/* The same of all that is put between these two: the first returns where it begins, for the second. */
size_t tt_bytes_begin_block(struct tt_byte_writer *parcel);
void tt_bytes_end_block(struct tt_byte_writer *parcel, size_t begin);

/* Returns the bytes written so far; valid until the next put. */
static inline struct tt_bytes tt_bytes_written(const struct tt_byte_writer *parcel)
{
    return (struct tt_bytes){parcel->size, (const uint8_t *)parcel->bytes};
}

/* Being read. */
struct tt_byte_reader {
    const char *at, *end;
    bool bad;
};

static inline struct tt_byte_reader tt_bytes_get_begin(struct tt_bytes bytes)
{
    return (struct tt_byte_reader){.at = (const char *)bytes.data, .end = (const char *)bytes.data + bytes.size};
}

uint8_t tt_bytes_get_u8(struct tt_byte_reader *in);
uint32_t tt_bytes_get_u32(struct tt_byte_reader *in);
uint64_t tt_bytes_get_u64(struct tt_byte_reader *in);
double tt_bytes_get_double(struct tt_byte_reader *in);
/* Points into the bytes, with its zero byte there; NULL if it was NULL, or is bad. */
const char *tt_bytes_get_text(struct tt_byte_reader *in);
/* Points into the bytes. NULL and 0 if bad. */
const void *tt_bytes_get_block(struct tt_byte_reader *in, size_t *size);
const void *tt_bytes_get(struct tt_byte_reader *in, size_t size);
/* A block of exactly `size` bytes, copied to `to`; false, with `to` as it was, if it is none. */
bool tt_bytes_get_copy(struct tt_byte_reader *in, void *to, size_t size);

/* A stream of bytes by buffers: a ZIP entry, a file, a fuzzer's block. */

struct tt_byte_source {
    /* Fills at most `size` bytes; *got is 0 at the end only. */
    enum tutti_err (*read)(void *context, void *buffer, size_t size, size_t *got);
    void *context;
};

#endif
