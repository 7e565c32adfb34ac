/* SPDX-License-Identifier: MIT */
#include "base/bytes.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

void tt_bytes_fini(struct tt_byte_writer *parcel)
{
    free(parcel->bytes);
    *parcel = (struct tt_byte_writer){0};
}

void tt_bytes_reset(struct tt_byte_writer *parcel)
{
    parcel->size = 0;
    parcel->failed = false;
}

static bool bytes_reserve(struct tt_byte_writer *parcel, size_t size)
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

void tt_bytes_put_bytes(struct tt_byte_writer *parcel, const void *bytes, size_t size)
{
    if (size == 0 || !bytes_reserve(parcel, size))
        return;
    memcpy(parcel->bytes + parcel->size, bytes, size);
    parcel->size += size;
}

char *tt_bytes_extend(struct tt_byte_writer *parcel, size_t size)
{
    if (!bytes_reserve(parcel, size))
        return NULL;
    char *at = parcel->bytes + parcel->size;
    parcel->size += size;
    return at;
}

void tt_bytes_put_u8(struct tt_byte_writer *parcel, uint8_t value)
{
    tt_bytes_put_bytes(parcel, &value, sizeof value);
}

void tt_bytes_put_u32(struct tt_byte_writer *parcel, uint32_t value)
{
    value = htole32(value);
    tt_bytes_put_bytes(parcel, &value, sizeof value);
}

void tt_bytes_put_u64(struct tt_byte_writer *parcel, uint64_t value)
{
    value = htole64(value);
    tt_bytes_put_bytes(parcel, &value, sizeof value);
}

void tt_bytes_put_double(struct tt_byte_writer *parcel, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    tt_bytes_put_u64(parcel, bits);
}

void tt_bytes_put_block(struct tt_byte_writer *parcel, const void *bytes, size_t size)
{
    tt_bytes_put_u64(parcel, size);
    tt_bytes_put_bytes(parcel, bytes, size);
}

size_t tt_bytes_begin_block(struct tt_byte_writer *parcel)
{
    tt_bytes_put_u64(parcel, 0);
    return parcel->size;
}

void tt_bytes_end_block(struct tt_byte_writer *parcel, size_t begin)
{
    uint64_t length = htole64(parcel->size - begin);
    if (!parcel->failed)
        memcpy(parcel->bytes + begin - sizeof length, &length, sizeof length);
}

/* Its length counts the zero byte, so that 0 is left for NULL. */
void tt_bytes_put_text(struct tt_byte_writer *parcel, const char *text)
{
    tt_bytes_put_block(parcel, text, text ? strlen(text) + 1 : 0);
}

const void *tt_bytes_get(struct tt_byte_reader *in, size_t size)
{
    const char *at = in->at;
    if (in->bad || size > (size_t)(in->end - in->at)) {
        in->bad = true;
        return NULL;
    }
    in->at += size;
    return at;
}

uint8_t tt_bytes_get_u8(struct tt_byte_reader *in)
{
    const uint8_t *at = tt_bytes_get(in, 1);
    return at ? *at : 0;
}

uint32_t tt_bytes_get_u32(struct tt_byte_reader *in)
{
    uint32_t value = 0;
    const void *at = tt_bytes_get(in, sizeof value);
    if (at)
        memcpy(&value, at, sizeof value);
    return le32toh(value);
}

uint64_t tt_bytes_get_u64(struct tt_byte_reader *in)
{
    uint64_t value = 0;
    const void *at = tt_bytes_get(in, sizeof value);
    if (at)
        memcpy(&value, at, sizeof value);
    return le64toh(value);
}

double tt_bytes_get_double(struct tt_byte_reader *in)
{
    uint64_t bits = tt_bytes_get_u64(in);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

const void *tt_bytes_get_block(struct tt_byte_reader *in, size_t *size)
{
    uint64_t length = tt_bytes_get_u64(in);
    const void *at = length <= SIZE_MAX ? tt_bytes_get(in, length) : NULL;
    *size = at ? length : 0;
    return at;
}

const char *tt_bytes_get_text(struct tt_byte_reader *in)
{
    size_t size;
    const char *text = tt_bytes_get_block(in, &size);
    if (size > 0 && text[size - 1] != '\0') {
        in->bad = true;
        return NULL;
    }
    return size > 0 ? text : NULL;
}

bool tt_bytes_get_copy(struct tt_byte_reader *in, void *to, size_t size)
{
    size_t found;
    const void *bytes = tt_bytes_get_block(in, &found);
    in->bad = in->bad || found != size;
    if (!in->bad && size > 0)
        memcpy(to, bytes, size);
    return !in->bad;
}
