/* SPDX-License-Identifier: MIT */
#include "master/coupling/cycles.h"

#include <stdlib.h>

/* What a wire brings from one unit of a cycle to another: an unknown, if `real` is one, else a piece. */
struct link {
    uint32_t cycle, component, real;
    struct tutti_cycle_piece piece;
};

struct builder {
    struct tutti_cycles *cycles;
    const struct tutti_wires *wires;
    uint32_t *of_stage; /* per stage: its cycle; TUTTI_NONE: it is none */
    struct link *links;
    size_t count, room;
};

static enum tutti_err add_link(struct builder *builder, const struct link *link)
{
    if (builder->count == builder->room) {
        size_t room = 2 * builder->room + 64;
        struct link *more = realloc(builder->links, room * sizeof *more);
        if (!more)
            return tutti_fail_memory();
        builder->links = more;
        builder->room = room;
    }
    builder->links[builder->count++] = *link;
    return TUTTI_OK;
}

/* Discrete inputs are set by their own rules: staging.h. */
static bool is_held(const struct tutti_wires *wires, const struct tutti_wire *wire)
{
    const struct tutti_unit_wires *unit = &wires->units[wire->connection->to.component];
    const struct tutti_wire *held = wires->wires + unit->held_first;
    return wire >= held && wire < held + unit->held_count;
}

static enum tutti_err add_wire(struct builder *builder, const struct tutti_wire *wire)
{
    const struct tutti_wires *wires = builder->wires;
    const uint32_t *of = builder->cycles->stages.of;
    const struct tutti_connection *connection = wire->connection;
    enum tutti_type from = wire->conversion->from;
    uint32_t cycle = builder->of_stage[of[connection->to.component]];
    if (of[connection->from.component] != of[connection->to.component] || cycle == TUTTI_NONE ||
        connection->at_start_only || wire->owned || is_held(wires, wire))
        return TUTTI_OK;
    size_t size = tutti_type_size(from);
    for (uint32_t e = 0; e < wire->count; e++) {
        struct link link = {.cycle = cycle,
                            .component = connection->to.component,
                            .real = TUTTI_NONE,
                            .piece = {wire->from + e * size, size}};
        if (from == TUTTI_TYPE_FLOAT64)
            link.real = tutti_wires_real_at(wires, wire->from / sizeof(double) + e);
        if (link.real != TUTTI_NONE && !wires->reals[link.real].smooth)
            link.real = TUTTI_NONE;
        TRY(add_link(builder, &link));
    }
    return TUTTI_OK;
}

/* Unknowns first, each with its readers; then pieces. */
static int by_source(const void *a, const void *b)
{
    const struct link *left = a, *right = b;
    if (left->cycle != right->cycle)
        return left->cycle < right->cycle ? -1 : 1;
    if (left->real != right->real)
        return left->real < right->real ? -1 : 1;
    if (left->real == TUTTI_NONE)
        return left->piece.offset < right->piece.offset ? -1 : left->piece.offset > right->piece.offset;
    return left->component < right->component ? -1 : left->component > right->component;
}

static int by_component(const void *a, const void *b)
{
    const struct tutti_cycle_column *left = a, *right = b;
    if (left->component != right->component)
        return left->component < right->component ? -1 : 1;
    return left->unknown < right->unknown ? -1 : left->unknown > right->unknown;
}

/* From links of one cycle, sorted. */
static enum tutti_err fill(struct tutti_cycle *cycle, const struct link *links, size_t count, struct tutti_arena *arena)
{
    cycle->reals = tutti_arena_array(arena, count, sizeof *cycle->reals);
    cycle->columns = tutti_arena_array(arena, count, sizeof *cycle->columns);
    cycle->pieces = tutti_arena_array(arena, count, sizeof *cycle->pieces);
    if (!cycle->reals || !cycle->columns || !cycle->pieces)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++) {
        const struct link *link = &links[i];
        if (i > 0 && by_source(link, link - 1) == 0)
            continue;
        if (link->real == TUTTI_NONE) {
            cycle->pieces[cycle->piece_count++] = link->piece;
            continue;
        }
        if (cycle->n == 0 || cycle->reals[cycle->n - 1] != link->real)
            cycle->reals[cycle->n++] = link->real;
        cycle->columns[cycle->column_count++] = (struct tutti_cycle_column){link->component, cycle->n - 1};
    }
    if (cycle->column_count > 0)
        qsort(cycle->columns, cycle->column_count, sizeof *cycle->columns, by_component);
    return TUTTI_OK;
}

static enum tutti_err build(struct builder *builder)
{
    struct tutti_cycles *cycles = builder->cycles;
    size_t at = 0;
    builder->of_stage = calloc((size_t)cycles->stages.count + 1, sizeof *builder->of_stage);
    cycles->items = tutti_arena_array(&cycles->arena, cycles->stages.count, sizeof *cycles->items);
    if (!builder->of_stage || !cycles->items)
        return tutti_fail_memory();
    for (uint32_t s = 0; s < cycles->stages.count; s++) {
        builder->of_stage[s] = cycles->stages.items[s].cyclic ? cycles->count : TUTTI_NONE;
        if (cycles->stages.items[s].cyclic)
            cycles->items[cycles->count++].stage = &cycles->stages.items[s];
    }
    for (uint32_t w = 0; w < builder->wires->wire_count; w++)
        TRY(add_wire(builder, &builder->wires->wires[w]));
    if (builder->count > 0)
        qsort(builder->links, builder->count, sizeof *builder->links, by_source);
    for (uint32_t c = 0; c < cycles->count; c++) {
        size_t first = at;
        while (at < builder->count && builder->links[at].cycle == c)
            at++;
        TRY(fill(&cycles->items[c], builder->links + first, at - first, &cycles->arena));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_cycles_init(struct tutti_cycles *cycles, const struct tutti_rank *rank,
                                 const struct tutti_structure *running)
{
    *cycles = (struct tutti_cycles){0};
    TRY(tutti_stages_init(&cycles->stages, running));
    struct builder builder = {.cycles = cycles, .wires = &rank->wires};
    enum tutti_err err = build(&builder);
    free(builder.of_stage);
    free(builder.links);
    return err;
}

void tutti_cycles_fini(struct tutti_cycles *cycles)
{
    tutti_stages_fini(&cycles->stages);
    tutti_arena_fini(&cycles->arena);
    *cycles = (struct tutti_cycles){0};
}
