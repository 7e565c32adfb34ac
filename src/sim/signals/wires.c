/* SPDX-License-Identifier: MIT */
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

static void gather_range(struct tt_wires *wires, const char *source, uint32_t first, uint32_t count)
{
    const double *restrict signals = (const void *)source;
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

/* Moves slopes of inputs through a conversion: those of doubles are multiplied by its factor, all others are 0. */
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

enum tutti_err tt_wires_gather(struct tt_wires *wires, const char *source, const struct tt_unit_wires *unit)
{
    gather_range(wires, source, unit->gather_first, unit->gather_count);
    if (wires->order > 0) {
        gather_slopes(wires, unit->gather_first, unit->gather_count);
        move_slopes(wires, unit);
    }
    return copy_wire_range(wires, source, unit->wire_first, unit->wire_count);
}

enum tutti_err tt_wires_gather_all(struct tt_wires *wires)
{
    for (uint32_t p = 0; p < wires->part_count; p++) {
        gather_range(wires, wires->signals, wires->parts[p].first, wires->parts[p].count);
        gather_slopes(wires, wires->parts[p].first, wires->parts[p].count);
    }
    for (uint32_t c = 0; !wires->plain && c < wires->structure->system->component_count; c++) {
        if (wires->others && wires->others[c])
            continue;
        move_slopes(wires, &wires->units[c]);
        TRY(copy_wire_range(wires, wires->signals, wires->units[c].wire_first, wires->units[c].wire_count));
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
static void add_sum_terms(const struct tt_wires *wires, const char *source, const struct tt_wire *wire, uint32_t i,
                          double *value)
{
    for (const struct tt_wire *term = wire + 1; term < wires->wires + wires->wire_count && term->adds; term++) {
        struct tt_wire one = *term;
        one.to = value;
        one.count = 1;
        wire_add_term((const double *)(const void *)(source + term->from) + i, &one);
    }
}

enum tutti_err tt_wires_value_differs(const struct tt_wires *wires, const char *source, const struct tt_wire *wire,
                                      bool *other)
{
    const char *from = source + wire->from;
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
        add_sum_terms(wires, source, wire, i, (double *)(void *)&value);
        *other = memcmp(&value, (const char *)wire->to + i * size, size) != 0;
    }
    return TUTTI_OK;
}

enum tutti_err tt_wires_gather_held(struct tt_wires *wires, const char *source, struct tt_unit_wires *unit)
{
    for (uint32_t w = unit->held_first; w < unit->held_first + unit->held_count; w++) {
        bool other = false;
        TRY(tt_wires_value_differs(wires, source, &wires->wires[w], &other));
        if (other)
            TRY(wire_copy(wires, source, &wires->wires[w]));
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

/* Inputs that move inside a step. */

static enum tutti_err wire_extent_of(const struct tt_unit *unit, uint32_t reference, size_t *extent)
{
    const struct tt_description *desc = unit->fmu->desc;
    *extent = 1;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        const struct tt_var *var = &desc->vars[i];
        if (var->reference == reference && tt_type_is_float((enum tt_type)var->type) && var->dimension_count > 0)
            return tt_unit_extent(unit, i, extent);
    }
    return TUTTI_OK;
}

/* Those of one order of a block, from number *at on. */
static enum tutti_err slopes_lay_out_block(const struct tt_slopes *slopes, const struct tt_block *block, unsigned order,
                                           const struct tt_unit *unit, size_t *at)
{
    for (size_t i = 0; i < block->count; i++) {
        size_t extent;
        TRY(wire_extent_of(unit, block->references[i], &extent));
        for (size_t e = 0; e < extent && *at < slopes->count; e++, ++*at) {
            slopes->references[*at] = block->references[i];
            slopes->elements[*at] = e;
            slopes->orders[*at] = (int32_t)order;
        }
    }
    return TUTTI_OK;
}

static enum tutti_err slopes_prepare(struct tt_wires *wires, struct tt_unit_wires *wired, const struct tt_unit *unit)
{
    /* A unit takes slopes of all its moving inputs or of none; of arrays only in Model Exchange. */
    bool taken = wired->moving_blocks > 0 && (unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
    for (unsigned b = 0; b < wired->moving_blocks; b++)
        taken = taken && (wired->moving[b].count == wired->moving[b].value_count || unit->kind->interface == TUTTI_ME);
    if (!unit->asks_for_inputs && !taken)
        return TUTTI_OK;
    struct tt_slopes *slopes = tt_arena_alloc(&wires->arena, sizeof *slopes);
    if (!slopes)
        return tt_fail_memory();
    wired->slopes = slopes;
    if (!taken)
        return TUTTI_OK;
    slopes->count = (size_t)wires->order * wired->gather_count;
    slopes->references = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->references);
    slopes->elements = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->elements);
    slopes->orders = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->orders);
    slopes->values = tt_arena_array(&wires->arena, slopes->count, sizeof *slopes->values);
    if (!slopes->references || !slopes->elements || !slopes->orders || !slopes->values)
        return tt_fail_memory();

    /* In the order of `gathered`: block after block. */
    size_t at = 0;
    for (unsigned o = 1; o <= wires->order; o++)
        for (unsigned b = 0; b < wired->moving_blocks; b++)
            TRY(slopes_lay_out_block(slopes, &wired->moving[b], o, unit, &at));
    return TUTTI_OK;
}

enum tutti_err tt_wires_enable_slopes(struct tt_wires *wires, unsigned order, struct tt_unit *const *units)
{
    wires->order = order;
    for (unsigned o = 0; o < order; o++) {
        wires->slopes[o] = tt_arena_alloc(&wires->arena, wires->signal_size);
        wires->gathered_slopes[o] = tt_arena_array(&wires->arena, wires->gather_count, sizeof(double));
        if (!wires->slopes[o] || !wires->gathered_slopes[o])
            return tt_fail_memory();
    }
    for (uint32_t c = 0; order > 0 && c < wires->structure->system->component_count; c++)
        if (units[c])
            TRY(slopes_prepare(wires, &wires->units[c], units[c]));
    return TUTTI_OK;
}

double tt_wires_extrapolate(const struct tt_wires *wires, size_t place, double elapsed)
{
    double value = wires->gathered[place];
    if (wires->order >= 1)
        value += elapsed * wires->gathered_slopes[0][place];
    if (wires->order >= 2)
        value += elapsed * elapsed / 2 * wires->gathered_slopes[1][place];
    if (wires->order >= 3)
        value += elapsed * elapsed * elapsed / 6 * wires->gathered_slopes[2][place];
    return value;
}

enum tutti_err tt_wires_set_slopes(const struct tt_wires *wires, const struct tt_unit_wires *wired,
                                   struct tt_unit *unit)
{
    const struct tt_slopes *slopes = wired->slopes;
    if (!slopes || slopes->count == 0)
        return TUTTI_OK;
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(slopes->values + o * wired->gather_count, wires->gathered_slopes[o] + wired->gather_first,
               wired->gather_count * sizeof(double));
    return unit->kind->set_input_derivatives(unit, slopes->references, slopes->elements, slopes->count, slopes->orders,
                                             slopes->values);
}

void tt_wires_get_reals(const struct tt_wires *wires, const char *signals, double *out)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        out[i] = ((const double *)(const void *)signals)[wires->reals[i].place];
}

enum tutti_err tt_wires_register_reals(const struct tt_wires *wires, struct tt_rollback_list *remembered,
                                       double *values)
{
    const uint32_t *first = wires->real_first;
    for (uint32_t c = 0; c < wires->structure->system->component_count; c++)
        TRY(tt_rollback_list_add_of(remembered, c, values + first[c], (first[c + 1] - first[c]) * sizeof *values));
    return TUTTI_OK;
}

/* Discrete signals are constant between events. */
void tt_wires_store_slopes(struct tt_wires *wires, unsigned order, const double *values)
{
    for (uint32_t i = 0; i < wires->real_count; i++)
        wires->slopes[order - 1][wires->reals[i].place] = wires->reals[i].smooth ? values[i] : 0;
}

struct tt_saved_texts {
    size_t count; /* of values, of all such wires in sequence */
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
