/* SPDX-License-Identifier: MIT */
#include "sim/signals/wire_texts.h"

struct tt_saved_texts {
    size_t count; /* of values, of all wires with some one after the other */
    struct tt_owned *owned;
    char *values; /* as wide as a Binary each */
};

enum { WIDTH = sizeof(struct tt_bytes) };

enum tutti_err tt_wires_texts_init(struct tt_saved_texts **out, const struct tt_wires *wires, struct tt_arena *arena)
{
    size_t count = 0;
    *out = NULL;
    for (uint32_t w = 0; w < wires->wire_count; w++)
        count += wires->wires[w].owned ? wires->wires[w].count : 0;
    if (count == 0)
        return TUTTI_OK;
    struct tt_saved_texts *texts = tt_arena_alloc(arena, sizeof *texts);
    if (!texts)
        return tt_fail_memory();
    *texts = (struct tt_saved_texts){
        .count = count, .owned = tt_signals_owned_array(arena, count), .values = tt_arena_array(arena, count, WIDTH)};
    if (!texts->owned || !texts->values)
        return tt_fail_memory();
    *out = texts;
    return TUTTI_OK;
}

void tt_wires_texts_fini(struct tt_saved_texts *texts)
{
    if (texts)
        tt_signals_owned_fini(texts->owned, texts->count);
}

enum tutti_err tt_wires_texts_save(struct tt_saved_texts *texts, const struct tt_wires *wires)
{
    size_t at = 0;
    for (uint32_t w = 0; texts && w < wires->wire_count; w++) {
        const struct tt_wire *wire = &wires->wires[w];
        if (!wire->owned)
            continue;
        TRY(tt_signals_owned_copy(tt_signals_owned_at(texts->owned, at), wire->conversion->to, wire->to,
                                  texts->values + at * WIDTH, wire->count));
        at += wire->count;
    }
    return TUTTI_OK;
}

enum tutti_err tt_wires_texts_restore(struct tt_saved_texts *texts, struct tt_wires *wires)
{
    size_t at = 0;
    for (uint32_t w = 0; texts && w < wires->wire_count; w++) {
        const struct tt_wire *wire = &wires->wires[w];
        if (!wire->owned)
            continue;
        TRY(tt_signals_owned_copy(wire->owned, wire->conversion->to, texts->values + at * WIDTH, wire->to,
                                  wire->count));
        at += wire->count;
    }
    return TUTTI_OK;
}
