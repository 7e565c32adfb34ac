/* SPDX-License-Identifier: MIT */
#include "unit/signals.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct tutti_owned {
    char *buffer;
    size_t capacity;
};

/* Counts per type, so that each block can be made in one piece. */
static void count_types(struct tutti_signals *signals, const struct tutti_desc *desc, const uint32_t *variables,
                        const size_t *extents, size_t count, struct tutti_block *by_type[TUTTI_TYPE_COUNT])
{
    for (size_t i = 0; i < count; i++) {
        enum tutti_type type = desc->vars[variables[i]].type;
        if (!by_type[type]) {
            by_type[type] = &signals->blocks[signals->block_count++];
            by_type[type]->type = type;
        }
        by_type[type]->count++;
        by_type[type]->value_count += extents[i];
    }
}

static enum tutti_err allocate(struct tutti_signals *signals, size_t count)
{
    struct tutti_arena *arena = &signals->arena;
    signals->slots = tutti_arena_array(arena, count, sizeof *signals->slots);
    signals->extents = tutti_arena_array(arena, count, sizeof *signals->extents);
    signals->sizes = tutti_arena_array(arena, count, sizeof *signals->sizes);
    if (!signals->slots || !signals->extents || !signals->sizes)
        return tutti_fail_memory();
    for (size_t b = 0; b < signals->block_count; b++) {
        struct tutti_block *block = &signals->blocks[b];
        block->references = tutti_arena_array(arena, block->count, sizeof *block->references);
        block->values = tutti_arena_array(arena, block->value_count, tutti_type_size(block->type));
        bool pointers = tutti_type_is_text(block->type);
        block->owned = pointers ? tutti_arena_array(arena, block->value_count, sizeof *block->owned) : NULL;
        if (!block->references || !block->values || (pointers && !block->owned))
            return tutti_fail_memory();
        for (size_t i = 0; block->type == TUTTI_TYPE_STRING && i < block->value_count; i++)
            ((const char **)block->values)[i] = "";
    }
    return TUTTI_OK;
}

enum tutti_err tutti_signals_init(struct tutti_signals *signals, const struct tutti_desc *desc,
                                  const uint32_t *variables, const size_t *extents, size_t count)
{
    *signals = (struct tutti_signals){.count = count};
    struct tutti_block *by_type[TUTTI_TYPE_COUNT] = {0};
    count_types(signals, desc, variables, extents, count, by_type);
    enum tutti_err err = allocate(signals, count);
    if (err) {
        tutti_signals_fini(signals);
        return err;
    }
    size_t references[TUTTI_TYPE_COUNT] = {0}, values[TUTTI_TYPE_COUNT] = {0};
    for (size_t i = 0; i < count; i++) {
        const struct tutti_var *var = &desc->vars[variables[i]];
        struct tutti_block *block = by_type[var->type];
        block->references[references[var->type]++] = var->reference;
        signals->slots[i] = (char *)block->values + values[var->type] * tutti_type_size(var->type);
        signals->extents[i] = extents[i];
        signals->sizes[i] = tutti_type_size(var->type);
        values[var->type] += extents[i];
    }
    return TUTTI_OK;
}

void tutti_signals_fini(struct tutti_signals *signals)
{
    for (size_t b = 0; b < signals->block_count; b++)
        if (signals->blocks[b].owned)
            tutti_owned_fini(signals->blocks[b].owned, signals->blocks[b].value_count);
    tutti_arena_fini(&signals->arena);
    *signals = (struct tutti_signals){0};
}

static enum tutti_err own(struct tutti_owned *owned, const void *data, size_t size)
{
    if (size + 1 > owned->capacity) {
        char *larger = realloc(owned->buffer, size + 1);
        if (!larger)
            return tutti_fail_memory();
        owned->buffer = larger;
        owned->capacity = size + 1;
    }
    if (size > 0 && data != owned->buffer)
        memcpy(owned->buffer, data, size);
    owned->buffer[size] = '\0';
    return TUTTI_OK;
}

enum tutti_err tutti_owned_put(struct tutti_owned *owned, enum tutti_type type, const void *bytes, size_t size,
                               void *to)
{
    TRY(own(owned, bytes, size));
    if (type == TUTTI_TYPE_STRING)
        *(const char **)to = owned->buffer;
    else
        *(struct tutti_bytes *)to = (struct tutti_bytes){size, (const uint8_t *)owned->buffer};
    return TUTTI_OK;
}

enum tutti_err tutti_owned_copy(struct tutti_owned *owned, enum tutti_type type, const void *from, void *to,
                                size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == TUTTI_TYPE_STRING) {
            const char *text = ((const char *const *)from)[i];
            TRY(tutti_owned_put(&owned[i], type, text, text ? strlen(text) : 0, (const char **)to + i));
        } else {
            const struct tutti_bytes *bytes = &((const struct tutti_bytes *)from)[i];
            size_t size = bytes->data && bytes->size < SIZE_MAX / 2 ? bytes->size : 0;
            TRY(tutti_owned_put(&owned[i], type, bytes->data, size, (struct tutti_bytes *)to + i));
        }
    }
    return TUTTI_OK;
}

enum tutti_err tutti_signals_own(struct tutti_block *block)
{
    return block->owned ? tutti_owned_copy(block->owned, block->type, block->values, block->values, block->value_count)
                        : TUTTI_OK;
}

struct tutti_owned *tutti_owned_array(struct tutti_arena *arena, size_t count)
{
    return tutti_arena_array(arena, count, sizeof(struct tutti_owned));
}

struct tutti_owned *tutti_owned_at(struct tutti_owned *owned, size_t n)
{
    return owned + n;
}

void tutti_owned_fini(struct tutti_owned *owned, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(owned[i].buffer);
}

bool tutti_owned_equal(enum tutti_type type, const void *a, const void *b, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (type == TUTTI_TYPE_STRING) {
            if (strcmp(((const char *const *)a)[i], ((const char *const *)b)[i]) != 0)
                return false;
        } else {
            const struct tutti_bytes *x = &((const struct tutti_bytes *)a)[i], *y = &((const struct tutti_bytes *)b)[i];
            if (x->size != y->size || (x->size > 0 && memcmp(x->data, y->data, x->size) != 0))
                return false;
        }
    }
    return true;
}

/* ---- for another process ---- */

static void pack_text(enum tutti_type type, const void *value, struct tutti_parcel *parcel)
{
    const struct tutti_bytes *bytes = value;
    const char *text = type == TUTTI_TYPE_STRING ? *(const char *const *)value : NULL;
    if (type == TUTTI_TYPE_STRING)
        tutti_parcel_put_block(parcel, text, text ? strlen(text) : 0);
    else
        tutti_parcel_put_block(parcel, bytes->data, bytes->data ? bytes->size : 0);
}

void tutti_block_pack(const struct tutti_block *block, struct tutti_parcel *parcel)
{
    size_t size = tutti_type_size(block->type);
    if (!tutti_type_is_text(block->type))
        tutti_parcel_put_block(parcel, block->values, block->value_count * size);
    for (size_t i = 0; tutti_type_is_text(block->type) && i < block->value_count; i++)
        pack_text(block->type, (const char *)block->values + i * size, parcel);
}

enum tutti_err tutti_block_unpack(struct tutti_block *block, struct tutti_unparcel *in)
{
    size_t size = tutti_type_size(block->type), found;
    if (!tutti_type_is_text(block->type))
        (void)tutti_unparcel_into(in, block->values, block->value_count * size);
    for (size_t i = 0; tutti_type_is_text(block->type) && i < block->value_count && !in->bad; i++) {
        const void *bytes = tutti_unparcel_block(in, &found);
        if (!in->bad)
            TRY(tutti_owned_put(tutti_owned_at(block->owned, i), block->type, bytes, found,
                                (char *)block->values + i * size));
    }
    return in->bad ? tutti_fail(TUTTI_ERR_FORMAT, "values are not as they should be") : TUTTI_OK;
}

void tutti_signals_pack(const struct tutti_signals *signals, struct tutti_parcel *parcel)
{
    for (size_t b = 0; b < signals->block_count; b++)
        tutti_block_pack(&signals->blocks[b], parcel);
}

enum tutti_err tutti_signals_unpack(struct tutti_signals *signals, struct tutti_unparcel *in)
{
    for (size_t b = 0; b < signals->block_count; b++)
        TRY(tutti_block_unpack(&signals->blocks[b], in));
    return TUTTI_OK;
}
