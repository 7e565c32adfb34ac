/* SPDX-License-Identifier: MIT */
#include "signals/texts.h"

struct tutti_texts {
    size_t count; /* of values, of all wires with some one after the other */
    struct tutti_owned *owned;
    char *values; /* as wide as a Binary each */
};

enum { WIDTH = sizeof(struct tutti_bytes) };

enum tutti_err tutti_texts_init(struct tutti_texts **out, const struct tutti_wires *wires, struct tutti_arena *arena)
{
    size_t count = 0;
    *out = NULL;
    for (uint32_t w = 0; w < wires->wire_count; w++)
        count += wires->wires[w].owned ? wires->wires[w].count : 0;
    if (count == 0)
        return TUTTI_OK;
    struct tutti_texts *texts = tutti_arena_alloc(arena, sizeof *texts);
    if (!texts)
        return tutti_fail_memory();
    *texts = (struct tutti_texts){
        .count = count, .owned = tutti_owned_array(arena, count), .values = tutti_arena_array(arena, count, WIDTH)};
    if (!texts->owned || !texts->values)
        return tutti_fail_memory();
    *out = texts;
    return TUTTI_OK;
}

void tutti_texts_fini(struct tutti_texts *texts)
{
    if (texts)
        tutti_owned_fini(texts->owned, texts->count);
}

enum tutti_err tutti_texts_keep(struct tutti_texts *texts, const struct tutti_wires *wires)
{
    size_t at = 0;
    for (uint32_t w = 0; texts && w < wires->wire_count; w++) {
        const struct tutti_wire *wire = &wires->wires[w];
        if (!wire->owned)
            continue;
        TRY(tutti_owned_copy(tutti_owned_at(texts->owned, at), wire->conversion->to, wire->to,
                             texts->values + at * WIDTH, wire->count));
        at += wire->count;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_texts_bring_back(struct tutti_texts *texts, struct tutti_wires *wires)
{
    size_t at = 0;
    for (uint32_t w = 0; texts && w < wires->wire_count; w++) {
        const struct tutti_wire *wire = &wires->wires[w];
        if (!wire->owned)
            continue;
        TRY(tutti_owned_copy(wire->owned, wire->conversion->to, texts->values + at * WIDTH, wire->to, wire->count));
        at += wire->count;
    }
    return TUTTI_OK;
}
