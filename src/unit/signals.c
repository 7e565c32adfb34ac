/* SPDX-License-Identifier: MIT */
#include "unit/signals.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tt_owned {
    char *buffer;
    size_t capacity;
};

/* Counts per type, so that each block can be made in one piece. */
static void count_types(struct tt_signals *signals, const struct tt_description *desc, const uint32_t *variables,
                        const size_t *extents, size_t count, struct tt_block *by_type[TUTTI_TYPE_COUNT])
{
    for (size_t i = 0; i < count; i++) {
        enum tt_type type = desc->vars[variables[i]].type;
        if (!by_type[type]) {
            by_type[type] = &signals->blocks[signals->block_count++];
            by_type[type]->type = type;
        }
        by_type[type]->count++;
        by_type[type]->value_count += extents[i];
    }
}

static enum tutti_err signals_allocate(struct tt_signals *signals, size_t count)
{
    struct tt_arena *arena = &signals->arena;
    signals->slots = tt_arena_array(arena, count, sizeof *signals->slots);
    signals->extents = tt_arena_array(arena, count, sizeof *signals->extents);
    signals->sizes = tt_arena_array(arena, count, sizeof *signals->sizes);
    if (!signals->slots || !signals->extents || !signals->sizes)
        return tt_fail_memory();
    for (size_t b = 0; b < signals->block_count; b++) {
        struct tt_block *block = &signals->blocks[b];
        block->references = tt_arena_array(arena, block->count, sizeof *block->references);
        block->values = tt_arena_array(arena, block->value_count, tt_type_size(block->type));
        bool pointers = tt_type_is_text(block->type);
        block->owned = pointers ? tt_arena_array(arena, block->value_count, sizeof *block->owned) : NULL;
        if (!block->references || !block->values || (pointers && !block->owned))
            return tt_fail_memory();
        for (size_t i = 0; block->type == TUTTI_TYPE_STRING && i < block->value_count; i++)
            ((const char **)block->values)[i] = "";
    }
    return TUTTI_OK;
}

enum tutti_err tt_signals_init(struct tt_signals *signals, const struct tt_description *desc, const uint32_t *variables,
                               const size_t *extents, size_t count)
{
    *signals = (struct tt_signals){.count = count};
    struct tt_block *by_type[TUTTI_TYPE_COUNT] = {0};
    count_types(signals, desc, variables, extents, count, by_type);
    enum tutti_err err = signals_allocate(signals, count);
    if (err) {
        tt_signals_fini(signals);
        return err;
    }
    size_t references[TUTTI_TYPE_COUNT] = {0}, values[TUTTI_TYPE_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct tt_var *var = &desc->vars[variables[i]];
        struct tt_block *block = by_type[var->type];
        block->references[references[var->type]++] = var->reference;
        signals->slots[i] = (char *)block->values + values[var->type] * tt_type_size(var->type);
        signals->extents[i] = extents[i];
        signals->sizes[i] = tt_type_size(var->type);
        values[var->type] += extents[i];
    }
    return TUTTI_OK;
}

void tt_signals_fini(struct tt_signals *signals)
{
    for (size_t b = 0; b < signals->block_count; b++)
        if (signals->blocks[b].owned)
            tt_signals_owned_fini(signals->blocks[b].owned, signals->blocks[b].value_count);
    tt_arena_fini(&signals->arena);
    *signals = (struct tt_signals){0};
}

static enum tutti_err own_value(struct tt_owned *owned, const void *data, size_t size)
{
    if (size + 1 > owned->capacity) {
        char *larger = realloc(owned->buffer, size + 1);
        if (!larger)
            return tt_fail_memory();
        owned->buffer = larger;
        owned->capacity = size + 1;
    }
    if (size > 0 && data != owned->buffer)
        memcpy(owned->buffer, data, size);
    owned->buffer[size] = '\0';
    return TUTTI_OK;
}

enum tutti_err tt_signals_owned_put(struct tt_owned *owned, enum tt_type type, const void *bytes, size_t size, void *to)
{
    TRY(own_value(owned, bytes, size));
    if (type == TUTTI_TYPE_STRING)
        *(const char **)to = owned->buffer;
    else
        *(struct tt_bytes *)to = (struct tt_bytes){size, (const uint8_t *)owned->buffer};
    return TUTTI_OK;
}

enum tutti_err tt_signals_owned_copy(struct tt_owned *owned, enum tt_type type, const void *from, void *to,
                                     size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == TUTTI_TYPE_STRING) {
            const char *text = ((const char *const *)from)[i];
            TRY(tt_signals_owned_put(&owned[i], type, text, text ? strlen(text) : 0, (const char **)to + i));
        } else {
            const struct tt_bytes *bytes = &((const struct tt_bytes *)from)[i];
            size_t size = bytes->data && bytes->size < SIZE_MAX / 2 ? bytes->size : 0;
            TRY(tt_signals_owned_put(&owned[i], type, bytes->data, size, (struct tt_bytes *)to + i));
        }
    }
    return TUTTI_OK;
}

enum tutti_err tt_signals_own(struct tt_block *block)
{
    return block->owned
               ? tt_signals_owned_copy(block->owned, block->type, block->values, block->values, block->value_count)
               : TUTTI_OK;
}

struct tt_owned *tt_signals_owned_array(struct tt_arena *arena, size_t count)
{
    return tt_arena_array(arena, count, sizeof(struct tt_owned));
}

struct tt_owned *tt_signals_owned_at(struct tt_owned *owned, size_t n)
{
    return owned + n;
}

void tt_signals_owned_fini(struct tt_owned *owned, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(owned[i].buffer);
}

bool tt_signals_owned_equal(enum tt_type type, const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == TUTTI_TYPE_STRING) {
            if (strcmp(((const char *const *)a)[i], ((const char *const *)b)[i]) != 0)
                return false;
        } else {
            const struct tt_bytes *x = &((const struct tt_bytes *)a)[i], *y = &((const struct tt_bytes *)b)[i];
            if (x->size != y->size || (x->size > 0 && memcmp(x->data, y->data, x->size) != 0))
                return false;
        }
    }
    return true;
}

/* ---- for another process ---- */

void tt_signals_block_pack(const struct tt_block *block, struct tt_byte_writer *parcel)
{
    size_t size = tt_type_size(block->type);
    if (!tt_type_is_text(block->type))
        tt_bytes_put_block(parcel, block->values, block->value_count * size);
    for (size_t i = 0; tt_type_is_text(block->type) && i < block->value_count; i++) {
        const void *value = (const char *)block->values + i * size;
        const struct tt_bytes *bytes = value;
        const char *text = block->type == TUTTI_TYPE_STRING ? *(const char *const *)value : NULL;
        if (block->type == TUTTI_TYPE_STRING)
            tt_bytes_put_block(parcel, text, text ? strlen(text) : 0);
        else
            tt_bytes_put_block(parcel, bytes->data, bytes->data ? bytes->size : 0);
    }
}

enum tutti_err tt_signals_block_unpack(struct tt_block *block, struct tt_byte_reader *in)
{
    size_t size = tt_type_size(block->type), found;
    if (!tt_type_is_text(block->type))
        (void)tt_bytes_get_copy(in, block->values, block->value_count * size);
    for (size_t i = 0; tt_type_is_text(block->type) && i < block->value_count && !in->bad; i++) {
        const void *bytes = tt_bytes_get_block(in, &found);
        if (!in->bad)
            TRY(tt_signals_owned_put(tt_signals_owned_at(block->owned, i), block->type, bytes, found,
                                     (char *)block->values + i * size));
    }
    return in->bad ? tt_fail(TUTTI_ERR_FORMAT, "values are not as they should be") : TUTTI_OK;
}

void tt_signals_pack(const struct tt_signals *signals, struct tt_byte_writer *parcel)
{
    for (size_t b = 0; b < signals->block_count; b++)
        tt_signals_block_pack(&signals->blocks[b], parcel);
}

enum tutti_err tt_signals_unpack(struct tt_signals *signals, struct tt_byte_reader *in)
{
    for (size_t b = 0; b < signals->block_count; b++)
        TRY(tt_signals_block_unpack(&signals->blocks[b], in));
    return TUTTI_OK;
}
