/* SPDX-License-Identifier: MIT */
#include "sim/coupling/cycles.h"

#include <stdlib.h>

/* A value that a wire passes between units of a cycle: an unknown, if `real` is set, otherwise a piece. */
struct cycle_link {
    uint32_t cycle, component, real;
    struct tt_cycle_piece piece;
};

struct cycles_builder {
    struct tt_cycles *cycles;
    const struct tt_wires *wires;
    uint32_t *of_stage; /* per stage: its cycle; TUTTI_NONE: it is none */
    struct cycle_link *links;
    size_t count, room;
};

static enum tutti_err cycles_add_link(struct cycles_builder *builder, const struct cycle_link *link)
{
    if (builder->count == builder->room) {
        size_t room = 2 * builder->room + 64;
        struct cycle_link *more = realloc(builder->links, room * sizeof *more);
        if (!more)
            return tt_fail_memory();
        builder->links = more;
        builder->room = room;
    }
    builder->links[builder->count++] = *link;
    return TUTTI_OK;
}

/* Discrete inputs have separate rules: coupled_inputs.h. */
static bool cycles_is_held(const struct tt_wires *wires, const struct tt_wire *wire)
{
    const struct tt_unit_wires *unit = &wires->units[wire->connection->to.component];
    const struct tt_wire *held = wires->wires + unit->held_first;
    return wire >= held && wire < held + unit->held_count;
}

static enum tutti_err cycles_add_wire(struct cycles_builder *builder, const struct tt_wire *wire)
{
    const struct tt_wires *wires = builder->wires;
    const uint32_t *of = builder->cycles->stages.of;
    const struct tt_connection *connection = wire->connection;
    enum tt_type from = wire->conversion->from;
    uint32_t cycle = builder->of_stage[of[connection->to.component]];
    if (of[connection->from.component] != of[connection->to.component] || cycle == TUTTI_NONE ||
        connection->at_start_only || wire->owned || cycles_is_held(wires, wire))
        return TUTTI_OK;
    size_t size = tt_type_size(from);
    for (uint32_t e = 0; e < wire->count; e++) {
        struct cycle_link link = {.cycle = cycle,
                                  .component = connection->to.component,
                                  .real = TUTTI_NONE,
                                  .piece = {wire->from + e * size, size}};
        if (from == TUTTI_TYPE_FLOAT64)
            link.real = tt_wires_find_real(wires, wire->from / sizeof(double) + e);
        if (link.real != TUTTI_NONE && !wires->reals[link.real].smooth)
            link.real = TUTTI_NONE;
        TRY(cycles_add_link(builder, &link));
    }
    return TUTTI_OK;
}

/* Unknowns first, each with its readers; then pieces. */
static int compare_by_source(const void *a, const void *b)
{
    const struct cycle_link *left = a, *right = b;
    if (left->cycle != right->cycle)
        return left->cycle < right->cycle ? -1 : 1;
    if (left->real != right->real)
        return left->real < right->real ? -1 : 1;
    if (left->real == TUTTI_NONE)
        return left->piece.offset < right->piece.offset ? -1 : left->piece.offset > right->piece.offset;
    return left->component < right->component ? -1 : left->component > right->component;
}

static int compare_by_component(const void *a, const void *b)
{
    const struct tt_cycle_column *left = a, *right = b;
    if (left->component != right->component)
        return left->component < right->component ? -1 : 1;
    return left->unknown < right->unknown ? -1 : left->unknown > right->unknown;
}

static enum tutti_err cycles_fill_cycle(struct tt_cycle *cycle, const struct cycle_link *links, size_t count,
                                        struct tt_arena *arena)
{
    cycle->reals = tt_arena_array(arena, count, sizeof *cycle->reals);
    cycle->columns = tt_arena_array(arena, count, sizeof *cycle->columns);
    cycle->pieces = tt_arena_array(arena, count, sizeof *cycle->pieces);
    if (!cycle->reals || !cycle->columns || !cycle->pieces)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++) {
        const struct cycle_link *link = &links[i];
        if (i > 0 && compare_by_source(link, link - 1) == 0)
            continue;
        if (link->real == TUTTI_NONE) {
            cycle->pieces[cycle->piece_count++] = link->piece;
            continue;
        }
        if (cycle->n == 0 || cycle->reals[cycle->n - 1] != link->real)
            cycle->reals[cycle->n++] = link->real;
        cycle->columns[cycle->column_count++] = (struct tt_cycle_column){link->component, cycle->n - 1};
    }
    if (cycle->column_count > 0)
        qsort(cycle->columns, cycle->column_count, sizeof *cycle->columns, compare_by_component);
    return TUTTI_OK;
}

static enum tutti_err cycles_build(struct cycles_builder *builder)
{
    struct tt_cycles *cycles = builder->cycles;
    size_t at = 0;
    builder->of_stage = calloc((size_t)cycles->stages.count + 1, sizeof *builder->of_stage);
    cycles->items = tt_arena_array(&cycles->arena, cycles->stages.count, sizeof *cycles->items);
    if (!builder->of_stage || !cycles->items)
        return tt_fail_memory();
    for (uint32_t s = 0; s < cycles->stages.count; s++) {
        builder->of_stage[s] = cycles->stages.items[s].cyclic ? cycles->count : TUTTI_NONE;
        if (cycles->stages.items[s].cyclic)
            cycles->items[cycles->count++].stage = &cycles->stages.items[s];
    }
    for (uint32_t w = 0; w < builder->wires->wire_count; w++)
        TRY(cycles_add_wire(builder, &builder->wires->wires[w]));
    if (builder->count > 0)
        qsort(builder->links, builder->count, sizeof *builder->links, compare_by_source);
    for (uint32_t c = 0; c < cycles->count; c++) {
        size_t first = at;
        while (at < builder->count && builder->links[at].cycle == c)
            at++;
        TRY(cycles_fill_cycle(&cycles->items[c], builder->links + first, at - first, &cycles->arena));
    }
    return TUTTI_OK;
}

enum tutti_err tt_cycles_init(struct tt_cycles *cycles, const struct tt_rank *rank, const struct tt_structure *running)
{
    *cycles = (struct tt_cycles){0};
    TRY(tt_step_order_init_stages(&cycles->stages, running));
    struct cycles_builder builder = {.cycles = cycles, .wires = &rank->wires};
    enum tutti_err err = cycles_build(&builder);
    free(builder.of_stage);
    free(builder.links);
    return err;
}

/* ---- what columns and rows are ---- */

static int cycles_compare_numbers(const void *a, const void *b)
{
    uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
    return left < right ? -1 : left > right;
}

/* The column of a cycle with which a real comes to a unit; TUTTI_NONE: it is none. */
static uint32_t cycles_find_column(const struct tt_cycle *cycle, uint32_t component, uint32_t real)
{
    const uint32_t *unknown = cycle->n > 0 ? bsearch(&real, cycle->reals, cycle->n, sizeof real, cycles_compare_numbers)
                                           : NULL;
    if (!unknown)
        return TUTTI_NONE;
    struct tt_cycle_column wanted = {component, (uint32_t)(unknown - cycle->reals)};
    const struct tt_cycle_column *found =
        bsearch(&wanted, cycle->columns, cycle->column_count, sizeof wanted, compare_by_component);
    return found ? (uint32_t)(found - cycle->columns) : TUTTI_NONE;
}

struct cycle_meaning {
    const struct tt_cycles *cycles;
    const struct tt_wires *wires;
    uint32_t *of_stage, *column_first; /* per stage: its cycle; per cycle */
    struct tt_step_part *parts;        /* NULL: they are counted only */
    size_t *next;                      /* per column */
};

static void add_mean_parts(struct cycle_meaning *m, const struct tt_wire *wire)
{
    const struct tt_connection *connection = wire->connection;
    uint32_t cycle = m->of_stage[m->cycles->stages.of[connection->to.component]];
    if (cycle == TUTTI_NONE || wire->conversion->from != TUTTI_TYPE_FLOAT64 || connection->at_start_only ||
        cycles_is_held(m->wires, wire))
        return;
    for (uint32_t e = 0; e < wire->count; e++) {
        uint32_t real = tt_wires_find_real(m->wires, wire->from / sizeof(double) + e);
        uint32_t column = cycles_find_column(&m->cycles->items[cycle], connection->to.component, real);
        if (column == TUTTI_NONE)
            continue;
        column += m->column_first[cycle];
        size_t place = m->next[column]++;
        if (m->parts)
            m->parts[place] = (struct tt_step_part){column, connection->to.variable,
                                                    wire->conversion->linear ? wire->conversion->factor : 1};
    }
}

static enum tutti_err list_mean_parts(struct cycle_meaning *m, struct tt_arena *arena, uint32_t columns,
                                      struct tt_step_mapping *out)
{
    size_t *first = tt_arena_array(arena, (size_t)columns + 1, sizeof *first), total = 0;
    if (!first)
        return tt_fail_memory();
    for (uint32_t w = 0; w < m->wires->wire_count; w++)
        add_mean_parts(m, &m->wires->wires[w]);
    for (uint32_t c = 0; c < columns; c++) {
        first[c] = total;
        total += m->next[c];
        m->next[c] = first[c];
    }
    first[columns] = total;
    m->parts = tt_arena_array(arena, total, sizeof *m->parts);
    if (!m->parts)
        return tt_fail_memory();
    for (uint32_t w = 0; w < m->wires->wire_count; w++)
        add_mean_parts(m, &m->wires->wires[w]);
    out->parts = m->parts;
    out->part_first = first;
    return TUTTI_OK;
}

static enum tutti_err cycles_list_rows(const struct tt_cycles *cycles, const struct tt_rank *rank,
                                       const uint32_t *row_first, struct tt_arena *arena, struct tt_step_mapping *out)
{
    uint32_t components = rank->job->system->component_count;
    uint32_t *variables = tt_arena_array(arena, row_first[components], sizeof *variables);
    if (!variables)
        return tt_fail_memory();
    for (uint32_t c = 0; c < cycles->count; c++)
        for (uint32_t k = 0, row = 0; k < cycles->items[c].n; k++) {
            const struct tt_real_signal *real = &rank->wires.reals[cycles->items[c].reals[k]];
            const struct tt_structure_node *node = &rank->job->structure.nodes[real->node];
            const struct tt_description *desc = rank->job->system->components[node->component].fmu->desc;
            bool same = k > 0 && rank->wires.reals[cycles->items[c].reals[k - 1]].component == real->component;
            row = same ? row + 1 : 0;
            variables[row_first[real->component] + row] =
                desc->vars[node->variable].dimension_count > 0 ? TUTTI_NONE : node->variable;
        }
    out->row_variables = variables;
    return TUTTI_OK;
}

enum tutti_err tt_cycles_describe_columns(struct tt_cycles *cycles, const struct tt_rank *rank,
                                          const uint32_t *row_first, struct tt_step_mapping *out)
{
    struct cycle_meaning m = {.cycles = cycles, .wires = &rank->wires};
    struct tt_arena *arena = &cycles->arena;
    uint32_t columns = 0;
    *out = (struct tt_step_mapping){.line = true};
    m.of_stage = tt_arena_array(arena, cycles->stages.count, sizeof *m.of_stage);
    m.column_first = tt_arena_array(arena, cycles->count, sizeof *m.column_first);
    if (!m.of_stage || !m.column_first)
        return tt_fail_memory();
    for (uint32_t s = 0; s < cycles->stages.count; s++)
        m.of_stage[s] = TUTTI_NONE;
    for (uint32_t c = 0; c < cycles->count; c++) {
        m.of_stage[cycles->items[c].stage - cycles->stages.items] = c;
        m.column_first[c] = columns;
        columns += cycles->items[c].column_count;
    }
    m.next = tt_arena_array(arena, columns, sizeof *m.next);
    if (!m.next)
        return tt_fail_memory();
    TRY(list_mean_parts(&m, arena, columns, out));
    return cycles_list_rows(cycles, rank, row_first, arena, out);
}

void tt_cycles_fini(struct tt_cycles *cycles)
{
    tt_step_order_fini_stages(&cycles->stages);
    tt_arena_fini(&cycles->arena);
    *cycles = (struct tt_cycles){0};
}
