/* SPDX-License-Identifier: MIT */
#include "base/parcel.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

void tutti_parcel_fini(struct tutti_parcel *parcel)
{
    free(parcel->bytes);
    *parcel = (struct tutti_parcel){0};
}

void tutti_parcel_reset(struct tutti_parcel *parcel)
{
    parcel->size = 0;
    parcel->failed = false;
}

static bool make_room(struct tutti_parcel *parcel, size_t size)
{
    if (parcel->failed)
        return false;
    if (size <= parcel->room - parcel->size)
        return true;
    size_t room = 2 * parcel->room + size + 64;
    char *larger = room > size ? realloc(parcel->bytes, room) : NULL;
    parcel->failed = !larger;
    if (larger) {
        parcel->bytes = larger;
        parcel->room = room;
    }
    return larger != NULL;
}

void tutti_parcel_put_bytes(struct tutti_parcel *parcel, const void *bytes, size_t size)
{
    if (size == 0 || !make_room(parcel, size))
        return;
    memcpy(parcel->bytes + parcel->size, bytes, size);
    parcel->size += size;
}

char *tutti_parcel_extend(struct tutti_parcel *parcel, size_t size)
{
    if (!make_room(parcel, size))
        return NULL;
    char *at = parcel->bytes + parcel->size;
    parcel->size += size;
    return at;
}

void tutti_parcel_put_u8(struct tutti_parcel *parcel, uint8_t value)
{
    tutti_parcel_put_bytes(parcel, &value, sizeof value);
}

void tutti_parcel_put_u32(struct tutti_parcel *parcel, uint32_t value)
{
    value = htole32(value);
    tutti_parcel_put_bytes(parcel, &value, sizeof value);
}

void tutti_parcel_put_u64(struct tutti_parcel *parcel, uint64_t value)
{
    value = htole64(value);
    tutti_parcel_put_bytes(parcel, &value, sizeof value);
}

void tutti_parcel_put_double(struct tutti_parcel *parcel, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    tutti_parcel_put_u64(parcel, bits);
}

void tutti_parcel_put_block(struct tutti_parcel *parcel, const void *bytes, size_t size)
{
    tutti_parcel_put_u64(parcel, size);
    tutti_parcel_put_bytes(parcel, bytes, size);
}

size_t tutti_parcel_begin_block(struct tutti_parcel *parcel)
{
    tutti_parcel_put_u64(parcel, 0);
    return parcel->size;
}

void tutti_parcel_end_block(struct tutti_parcel *parcel, size_t begin)
{
    uint64_t length = htole64(parcel->size - begin);
    if (!parcel->failed)
        memcpy(parcel->bytes + begin - sizeof length, &length, sizeof length);
}

/* Its length counts the zero byte, so that 0 is left for NULL. */
void tutti_parcel_put_text(struct tutti_parcel *parcel, const char *text)
{
    tutti_parcel_put_block(parcel, text, text ? strlen(text) + 1 : 0);
}

const void *tutti_unparcel_bytes(struct tutti_unparcel *in, size_t size)
{
    const char *at = in->at;
    if (in->bad || size > (size_t)(in->end - in->at)) {
        in->bad = true;
        return NULL;
    }
    in->at += size;
    return at;
}

uint8_t tutti_unparcel_u8(struct tutti_unparcel *in)
{
    const uint8_t *at = tutti_unparcel_bytes(in, 1);
    return at ? *at : 0;
}

uint32_t tutti_unparcel_u32(struct tutti_unparcel *in)
{
    uint32_t value = 0;
    const void *at = tutti_unparcel_bytes(in, sizeof value);
    if (at)
        memcpy(&value, at, sizeof value);
    return le32toh(value);
}

uint64_t tutti_unparcel_u64(struct tutti_unparcel *in)
{
    uint64_t value = 0;
    const void *at = tutti_unparcel_bytes(in, sizeof value);
    if (at)
        memcpy(&value, at, sizeof value);
    return le64toh(value);
}

double tutti_unparcel_double(struct tutti_unparcel *in)
{
    uint64_t bits = tutti_unparcel_u64(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

const void *tutti_unparcel_block(struct tutti_unparcel *in, size_t *size)
{
    uint64_t length = tutti_unparcel_u64(in);
    const void *at = length <= SIZE_MAX ? tutti_unparcel_bytes(in, length) : NULL;
    *size = at ? length : 0;
    return at;
}

const char *tutti_unparcel_text(struct tutti_unparcel *in)
{
    size_t size;
    const char *text = tutti_unparcel_block(in, &size);
    if (size > 0 && text[size - 1] != '\0') {
        in->bad = true;
        return NULL;
    }
    return size > 0 ? text : NULL;
}

bool tutti_unparcel_into(struct tutti_unparcel *in, void *to, size_t size)
{
    size_t found;
    const void *bytes = tutti_unparcel_block(in, &found);
    in->bad = in->bad || found != size;
    if (!in->bad && size > 0)
        memcpy(to, bytes, size);
    return !in->bad;
}
