/* SPDX-License-Identifier: MIT */
#include "sim/ranks/channel.h"

#include <string.h>

/* The n-th text of a piece: where its bytes are, and how many. */
static const void *cargo_text_at(const struct tt_cargo_text *piece, const char *base, uint32_t n, uint64_t *length)
{
    if (piece->type == TUTTI_TYPE_STRING) {
        const char *text = ((const char *const *)(const void *)(base + piece->offset))[n];
        *length = text ? strlen(text) : 0;
        return text;
    }
    const struct tt_bytes *bytes = (const struct tt_bytes *)(const void *)(base + piece->offset) + n;
    *length = bytes->size;
    return bytes->data;
}

size_t tt_fabric_cargo_size(const struct tt_cargo *cargo, const char *base)
{
    size_t size = cargo->size;
    for (uint32_t i = 0; i < cargo->text_count; i++)
        for (uint32_t n = 0; n < cargo->texts[i].count; n++) {
            uint64_t length;
            cargo_text_at(&cargo->texts[i], base, n, &length);
            size += sizeof length + length;
        }
    return size;
}

static char *pack_cargo_texts(const struct tt_cargo_text *piece, const char *base, char *at)
{
    for (uint32_t n = 0; n < piece->count; n++) {
        uint64_t length;
        const void *text = cargo_text_at(piece, base, n, &length);
        memcpy(at, &length, sizeof length);
        at += sizeof length;
        if (length > 0)
            memcpy(at, text, length);
        at += length;
    }
    return at;
}

void tt_fabric_cargo_pack(const struct tt_cargo *cargo, const char *base, char *message)
{
    for (uint32_t i = 0; i < cargo->piece_count; i++) {
        memcpy(message, base + cargo->pieces[i].offset, cargo->pieces[i].size);
        message += cargo->pieces[i].size;
    }
    for (uint32_t i = 0; i < cargo->text_count; i++)
        message = pack_cargo_texts(&cargo->texts[i], base, message);
}

static enum tutti_err fail_cargo_truncated(void)
{
    return tt_fail(TUTTI_ERR_FORMAT, "a message between ranks has not the length that it must have");
}

static enum tutti_err unpack_cargo_texts(const struct tt_cargo_text *piece, char *base, const char **message,
                                         size_t *left)
{
    for (uint32_t n = 0; n < piece->count; n++) {
        uint64_t length;
        if (*left < sizeof length)
            return fail_cargo_truncated();
        memcpy(&length, *message, sizeof length);
        *message += sizeof length;
        *left -= sizeof length;
        if (length > *left)
            return fail_cargo_truncated();
        TRY(tt_signals_owned_put(tt_signals_owned_at(piece->owned, n), piece->type, *message, length,
                                 base + piece->offset + n * tt_type_size(piece->type)));
        *message += length;
        *left -= length;
    }
    return TUTTI_OK;
}

enum tutti_err tt_fabric_cargo_unpack(const struct tt_cargo *cargo, char *base, const char *message, size_t size)
{
    if (size < cargo->size || (cargo->text_count == 0 && size != cargo->size))
        return fail_cargo_truncated();
    for (uint32_t i = 0; i < cargo->piece_count; i++) {
        memcpy(base + cargo->pieces[i].offset, message, cargo->pieces[i].size);
        message += cargo->pieces[i].size;
    }
    size_t left = size - cargo->size;
    for (uint32_t i = 0; i < cargo->text_count; i++)
        TRY(unpack_cargo_texts(&cargo->texts[i], base, &message, &left));
    return left == 0 ? TUTTI_OK : fail_cargo_truncated();
}
