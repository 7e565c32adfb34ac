/* SPDX-License-Identifier: MIT */
/* Moving values along the wires. */
#include "sim/signals/wires.h"

#include <string.h>

void tt_wires_fini(struct tt_wires *wires)
{
    for (uint32_t n = 0; wires->slots && n < wires->structure->node_count; n++)
        if (wires->slots[n].owned)
            tt_signals_owned_fini(wires->slots[n].owned, wires->slots[n].count);
    tt_arena_fini(&wires->arena);
    *wires = (struct tt_wires){0};
}

static enum tutti_err format_wire_name(const struct tt_wires *wires, const struct tt_wire *wire, enum tutti_err err)
{
    char from[256], to[256];
    return err ? tt_fail_context(TUTTI_ERR_LIMIT, "from '%s' to '%s'",
                                 tt_system_name(wires->structure->system, &wire->connection->from, from, sizeof from),
                                 tt_system_name(wires->structure->system, &wire->connection->to, to, sizeof to))
               : TUTTI_OK;
}

/* A further term of a sum. */
static void wire_add_term(const double *from, const struct tt_wire *wire)
{
    const struct tt_conversion *conversion = wire->conversion;
    double factor = conversion->linear ? conversion->factor : 1, offset = conversion->linear ? conversion->offset : 0;
    double *to = wire->to;
    for (uint32_t i = 0; i < wire->count; i++)
        to[i] += factor * from[i] + offset;
}

/* Strings and Binaries are copied: the source's buffer changes with its next value. */
static enum tutti_err wire_copy(const struct tt_wires *wires, const char *source, const struct tt_wire *wire)
{
    const char *from = source + wire->from;
    if (wire->owned)
        return tt_signals_owned_copy(wire->owned, wire->conversion->to, from, wire->to, wire->count);
    if (wire->adds) {
        wire_add_term((const double *)(const void *)from, wire);
        return TUTTI_OK;
    }
    return format_wire_name(wires, wire, tt_conversion_apply(wire->conversion, from, wire->to, wire->count));
}

static enum tutti_err copy_wire_range(const struct tt_wires *wires, const char *source, uint32_t first, uint32_t count)
{
    for (uint32_t w = first; w < first + count; w++)
        TRY(wire_copy(wires, source, &wires->wires[w]));
    return TUTTI_OK;
}

static void gather_range(struct tt_wires *wires, uint32_t first, uint32_t count)
{
    const double *restrict signals = (const void *)wires->source;
    const uint32_t *restrict from = wires->gather + first;
    double *restrict to = wires->gathered + first;
    for (uint32_t i = 0; i < count; i++)
        to[i] = signals[from[i]];
}

static void gather_slopes(struct tt_wires *wires, uint32_t first, uint32_t count)
{
    for (unsigned o = 0; o < wires->order; o++)
        for (uint32_t i = first; i < first + count; i++)
            wires->gathered_slopes[o][i] = wires->slopes[o][wires->gather[i]];
}

/* Slopes of inputs after a conversion: those of doubles go through its factor, all others stand still. */
static void move_slopes(struct tt_wires *wires, const struct tt_unit_wires *unit)
{
    for (uint32_t w = unit->wire_first; wires->order > 0 && w < unit->wire_first + unit->wire_count; w++) {
        const struct tt_wire *wire = &wires->wires[w];
        const struct tt_conversion *conversion = wire->conversion;
        if (conversion->to != TUTTI_TYPE_FLOAT64 || conversion->from != TUTTI_TYPE_FLOAT64)
            continue;
        double factor = conversion->linear ? conversion->factor : 1;
        size_t to = (size_t)((const double *)wire->to - wires->gathered), from = wire->from / sizeof(double);
        for (unsigned o = 0; o < wires->order; o++)
            for (uint32_t i = 0; i < wire->count; i++)
                wires->gathered_slopes[o][to + i] = (wire->adds ? wires->gathered_slopes[o][to + i] : 0) +
                                                    factor * wires->slopes[o][from + i];
    }
}

enum tutti_err tt_wires_gather(struct tt_wires *wires, const struct tt_unit_wires *unit)
{
    gather_range(wires, unit->gather_first, unit->gather_count);
    if (wires->order > 0) {
        gather_slopes(wires, unit->gather_first, unit->gather_count);
        move_slopes(wires, unit);
    }
    return copy_wire_range(wires, wires->source, unit->wire_first, unit->wire_count);
}

enum tutti_err tt_wires_gather_all(struct tt_wires *wires)
{
    for (uint32_t p = 0; p < wires->part_count; p++) {
        gather_range(wires, wires->parts[p].first, wires->parts[p].count);
        gather_slopes(wires, wires->parts[p].first, wires->parts[p].count);
    }
    for (uint32_t c = 0; !wires->plain && c < wires->structure->system->component_count; c++) {
        if (wires->others && wires->others[c])
            continue;
        move_slopes(wires, &wires->units[c]);
        TRY(copy_wire_range(wires, wires->source, wires->units[c].wire_first, wires->units[c].wire_count));
    }
    return TUTTI_OK;
}

enum tutti_err tt_wires_select_own(struct tt_wires *wires, const int32_t *place, int rank)
{
    uint32_t count = wires->structure->system->component_count;
    bool *others = tt_arena_array(&wires->arena, count, sizeof *others);
    wires->parts = tt_arena_array(&wires->arena, count, sizeof *wires->parts);
    if (!others || !wires->parts)
        return tt_fail_memory();
    wires->others = others;
    wires->part_count = 0;
    for (uint32_t c = 0; c < count; c++) {
        const struct tt_unit_wires *unit = &wires->units[c];
        struct tt_gather_part *last = wires->part_count > 0 ? &wires->parts[wires->part_count - 1] : NULL;
        others[c] = place[c] != rank;
        if (others[c] || unit->gather_count == 0)
            continue;
        if (last && last->first + last->count == unit->gather_first)
            last->count += unit->gather_count;
        else
            wires->parts[wires->part_count++] = (struct tt_gather_part){unit->gather_first, unit->gather_count};
    }
    return TUTTI_OK;
}

/* Adds the further terms of the sum that begins with `wire` to `value`, which is number i of it. */
static void add_sum_terms(const struct tt_wires *wires, const struct tt_wire *wire, uint32_t i, double *value)
{
    for (const struct tt_wire *term = wire + 1; term < wires->wires + wires->wire_count && term->adds; term++) {
        struct tt_wire one = *term;
        one.to = value;
        one.count = 1;
        wire_add_term((const double *)(const void *)(wires->held_source + term->from) + i, &one);
    }
}

enum tutti_err tt_wires_value_differs(const struct tt_wires *wires, const struct tt_wire *wire, bool *other)
{
    const char *from = wires->held_source + wire->from;
    if (wire->adds) /* looked at with the first term */
        return TUTTI_OK;
    if (wire->owned) {
        *other = !tt_signals_owned_equal(wire->conversion->to, from, wire->to, wire->count);
        return TUTTI_OK;
    }
    size_t size = tt_type_size(wire->conversion->to), from_size = tt_type_size(wire->conversion->from);
    for (uint32_t i = 0; i < wire->count && !*other; i++) {
        uint64_t value = 0;
        TRY(format_wire_name(wires, wire, tt_conversion_apply(wire->conversion, from + i * from_size, &value, 1)));
        add_sum_terms(wires, wire, i, (double *)(void *)&value);
        *other = memcmp(&value, (const char *)wire->to + i * size, size) != 0;
    }
    return TUTTI_OK;
}

enum tutti_err tt_wires_gather_held(struct tt_wires *wires, struct tt_unit_wires *unit)
{
    for (uint32_t w = unit->held_first; w < unit->held_first + unit->held_count; w++) {
        bool other = false;
        TRY(tt_wires_value_differs(wires, &wires->wires[w], &other));
        if (other)
            TRY(wire_copy(wires, wires->held_source, &wires->wires[w]));
        unit->held_changed = unit->held_changed || other;
    }
    return TUTTI_OK;
}

bool tt_wires_has_numbers(const struct tt_wires *wires, uint32_t node)
{
    const struct tt_slot *slot = &wires->slots[node];
    const struct tt_structure_node *of = &wires->structure->nodes[node];
    const struct tt_unit_wires *unit = &wires->units[of->component];
    return !of->output && !slot->fed && slot->wire_count > 0 && !slot->owned &&
           slot->wire_first < unit->held_first + unit->held_count;
}

enum tutti_err tt_wires_get_incoming(const struct tt_wires *wires, uint32_t node, void *values)
{
    const struct tt_slot *slot = &wires->slots[node];
    memcpy(values, slot->values, slot->count * tt_type_size((enum tt_type)slot->type));
    for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
        struct tt_wire wire = wires->wires[w];
        wire.to = (char *)values + ((const char *)wire.to - (const char *)slot->values);
        TRY(wire_copy(wires, wires->signals, &wire));
    }
    return TUTTI_OK;
}

enum tutti_err tt_wires_gather_node(struct tt_wires *wires, uint32_t node)
{
    const struct tt_slot *slot = &wires->slots[node];
    if (!slot->fed)
        return copy_wire_range(wires, wires->signals, slot->wire_first, slot->wire_count);
    double *staged = slot->values;
    *staged = ((const double *)(const void *)wires->signals)[wires->gather[staged - wires->gathered]];
    return TUTTI_OK;
}

const double *tt_wires_read_output(const struct tt_wires *wires, uint32_t place)
{
    const struct tt_end *end = &wires->structure->system->read[place];
    return wires->slots[tt_structure_find(wires->structure, end->component, end->variable, true)].values;
}

enum tutti_err tt_wires_get_outputs(const struct tt_unit_wires *wires, struct tt_unit *unit)
{
    for (unsigned b = 0; b < wires->output_blocks; b++) {
        TRY(unit->kind->get(unit, &wires->outputs[b]));
        if (wires->outputs[b].owned)
            TRY(tt_signals_own(&wires->outputs[b]));
    }
    return TUTTI_OK;
}

bool tt_wires_has_narrow(const struct tt_wires *wires, uint32_t component)
{
    const uint32_t *first = wires->structure->component_first;
    for (uint32_t n = first[component]; n < first[component + 1]; n++)
        if (wires->slots[n].narrow)
            return true;
    return false;
}

uint32_t tt_wires_find_real(const struct tt_wires *wires, size_t place)
{
    uint32_t low = 0, high = wires->real_count;
    while (low < high) { /* they are sorted by it */
        uint32_t middle = low + (high - low) / 2;
        if (wires->reals[middle].place < place)
            low = middle + 1;
        else
            high = middle;
    }
    return low < wires->real_count && wires->reals[low].place == place ? low : TUTTI_NONE;
}

enum tutti_err tt_wires_reread_texts(struct tt_wires *wires, struct tt_unit *const *units)
{
    uint32_t count = wires->structure->system->component_count;
    for (uint32_t c = 0; c < count; c++)
        for (unsigned b = 0; b < wires->units[c].output_blocks; b++)
            if (wires->units[c].outputs[b].owned && !(wires->others && wires->others[c])) {
                TRY(units[c]->kind->get(units[c], &wires->units[c].outputs[b]));
                TRY(tt_signals_own(&wires->units[c].outputs[b]));
            }
    return TUTTI_OK;
}
