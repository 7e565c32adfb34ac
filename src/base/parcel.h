/* SPDX-License-Identifier: MIT */
/* parcel.h - numbers and texts as bytes for another process, and back. Bytes that come in are hostile: reading beyond the end
 * gives zeros and marks the parcel as bad, which is asked once, at the end. Little-endian on the way, whatever the machine. */
#ifndef TUTTI_BASE_PARCEL_H
#define TUTTI_BASE_PARCEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that someone else owns. */
struct tutti_bytes {
    size_t size;
    const uint8_t *data;
};

/* Being written; zeroed is empty. */
struct tutti_parcel {
    char *bytes;
    size_t size, room;
    bool failed; /* for want of memory; all further puts are ignored */
};

void tutti_parcel_fini(struct tutti_parcel *parcel);
/* Empty again; keeps its memory. */
void tutti_parcel_reset(struct tutti_parcel *parcel);
void tutti_parcel_put_bytes(struct tutti_parcel *parcel, const void *bytes, size_t size);
/* Room for `size` bytes that the caller fills in at once; NULL if the parcel has failed. */
char *tutti_parcel_extend(struct tutti_parcel *parcel, size_t size);
void tutti_parcel_put_u8(struct tutti_parcel *parcel, uint8_t value);
void tutti_parcel_put_u32(struct tutti_parcel *parcel, uint32_t value);
void tutti_parcel_put_u64(struct tutti_parcel *parcel, uint64_t value);
void tutti_parcel_put_double(struct tutti_parcel *parcel, double value);
/* A text, or NULL, which stays one. */
void tutti_parcel_put_text(struct tutti_parcel *parcel, const char *text);
/* Bytes with their length in front. */
void tutti_parcel_put_block(struct tutti_parcel *parcel, const void *bytes, size_t size);
/* The same of all that is put between these two: the first returns where it begins, for the second. */
size_t tutti_parcel_begin_block(struct tutti_parcel *parcel);
void tutti_parcel_end_block(struct tutti_parcel *parcel, size_t begin);

/* What is in it so far; good until the next put. */
static inline struct tutti_bytes tutti_parcel_bytes(const struct tutti_parcel *parcel)
{
    return (struct tutti_bytes){parcel->size, (const uint8_t *)parcel->bytes};
}

/* Being read. */
struct tutti_unparcel {
    const char *at, *end;
    bool bad;
};

static inline struct tutti_unparcel tutti_unparcel_begin(struct tutti_bytes bytes)
{
    return (struct tutti_unparcel){.at = (const char *)bytes.data, .end = (const char *)bytes.data + bytes.size};
}

uint8_t tutti_unparcel_u8(struct tutti_unparcel *in);
uint32_t tutti_unparcel_u32(struct tutti_unparcel *in);
uint64_t tutti_unparcel_u64(struct tutti_unparcel *in);
double tutti_unparcel_double(struct tutti_unparcel *in);
/* Points into the bytes, with its zero byte there; NULL if it was NULL, or is bad. */
const char *tutti_unparcel_text(struct tutti_unparcel *in);
/* Points into the bytes. NULL and 0 if bad. */
const void *tutti_unparcel_block(struct tutti_unparcel *in, size_t *size);
const void *tutti_unparcel_bytes(struct tutti_unparcel *in, size_t size);
/* A block of exactly `size` bytes, copied to `to`; false, with `to` as it was, if it is none. */
bool tutti_unparcel_into(struct tutti_unparcel *in, void *to, size_t size);

#endif
