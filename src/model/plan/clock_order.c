/* SPDX-License-Identifier: MIT */
#include "model/plan/clock_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"

static const struct tt_description *clock_order_desc(const struct tt_system *system, uint32_t component)
{
    return system->components[component].fmu->desc;
}

static bool has_clocks(const struct tt_description *desc)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK)
            return true;
    return false;
}

bool tt_clock_order_has_clocks(const struct tt_system *system)
{
    for (uint32_t c = 0; c < system->component_count; c++)
        if (has_clocks(clock_order_desc(system, c)))
            return true;
    return false;
}

static bool is_input_clock(const struct tt_var *var)
{
    return var->type == TUTTI_TYPE_CLOCK && var->causality == TUTTI_INPUT;
}

/* ---- the order ---- */

struct tick_edge {
    uint32_t from, to;
};

struct clock_ordering {
    const struct tt_system *system;
    const bool *scheduled;
    struct tt_tick_node *nodes;
    uint32_t count;
    uint32_t *first; /* per component, and one more: its nodes */
    struct tick_edge *edges;
    size_t edge_count, edge_room;
    bool failed; /* memory is out */
};

static uint32_t clock_order_priority(const struct clock_ordering *o, const struct tt_tick_node *node)
{
    const struct tt_var *var =
        node->clock == TUTTI_NONE ? NULL : &clock_order_desc(o->system, node->component)->vars[node->clock];
    return var ? var->more->clock->priority : 0;
}

static uint32_t count_nodes(const struct tt_system *system, const bool *scheduled, uint32_t component)
{
    const struct tt_description *desc = clock_order_desc(system, component);
    uint32_t count = 0;
    if (!scheduled[component])
        return has_clocks(desc);
    for (uint32_t v = 0; v < desc->var_count; v++)
        count += is_input_clock(&desc->vars[v]);
    return count;
}

static void clock_order_list_nodes(struct clock_ordering *o)
{
    for (uint32_t c = 0; c < o->system->component_count; c++) {
        const struct tt_description *desc = clock_order_desc(o->system, c);
        o->first[c] = o->count;
        if (!o->scheduled[c] && has_clocks(desc))
            o->nodes[o->count++] = (struct tt_tick_node){.component = c, .clock = TUTTI_NONE};
        for (uint32_t v = 0; o->scheduled[c] && v < desc->var_count; v++)
            if (is_input_clock(&desc->vars[v]))
                o->nodes[o->count++] = (struct tt_tick_node){.component = c, .clock = v};

        /* Partitions by priority, then as they are described. */
        struct tt_tick_node *nodes = o->nodes + o->first[c];
        for (uint32_t i = 1; i < o->count - o->first[c]; i++)
            for (uint32_t j = i; j > 0 && clock_order_priority(o, &nodes[j]) < clock_order_priority(o, &nodes[j - 1]);
                 j--) {
                struct tt_tick_node swapped = nodes[j];
                nodes[j] = nodes[j - 1];
                nodes[j - 1] = swapped;
            }
    }
    o->first[o->system->component_count] = o->count;
}

static void clock_order_add_edge(struct clock_ordering *o, uint32_t from, uint32_t to)
{
    if (!tt_vector_reserve(&o->edges, &o->edge_room, o->edge_count + 1, sizeof *o->edges)) {
        o->failed = true;
        return;
    }
    o->edges[o->edge_count++] = (struct tick_edge){from, to};
}

/* Returns true if the node computes or reads the variable. */
static bool clock_order_involves(const struct clock_ordering *o, const struct tt_tick_node *node, uint32_t variable)
{
    const struct tt_var *var = &clock_order_desc(o->system, node->component)->vars[variable];
    if (node->clock == TUTTI_NONE || node->clock == variable)
        return true;
    if (is_input_clock(var))
        return false;
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == node->clock)
            return true;
    return var->clock_count == 0;
}

static void clock_order_add_edges(struct clock_ordering *o)
{
    for (uint32_t i = 0; i < o->system->connection_count; i++) {
        const struct tt_end *from = &o->system->connections[i].from, *to = &o->system->connections[i].to;
        if (from->component == TUTTI_NONE || to->component == TUTTI_NONE || from->component == to->component ||
            o->system->connections[i].at_start_only)
            continue;
        for (uint32_t a = o->first[from->component]; a < o->first[from->component + 1]; a++)
            for (uint32_t b = o->first[to->component]; b < o->first[to->component + 1]; b++)
                if (clock_order_involves(o, &o->nodes[a], from->variable) &&
                    clock_order_involves(o, &o->nodes[b], to->variable))
                    clock_order_add_edge(o, a, b);
    }
    for (uint32_t c = 0; c < o->system->component_count; c++)
        for (uint32_t n = o->first[c]; n + 1 < o->first[c + 1]; n++)
            clock_order_add_edge(o, n, n + 1);
}

static int compare_tick_destinations(const void *a, const void *b)
{
    const struct tick_edge *x = a, *y = b;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : x->from < y->from ? -1 : x->from > y->from;
}

/* Every node after those that it comes after, where that can be; *waves: how many there are. `edges_of` has where the edges to each begin. */
static void number_waves(struct clock_ordering *o, const size_t *edges_of, bool *placed, uint32_t *waves)
{
    for (uint32_t done = 0; done < o->count; done++) {
        uint32_t next = TUTTI_NONE;
        for (uint32_t n = 0; n < o->count && next == TUTTI_NONE; n++) {
            bool ready = !placed[n];
            for (size_t e = edges_of[n]; ready && e < edges_of[n + 1]; e++)
                ready = placed[o->edges[e].from];
            if (ready)
                next = n;
        }
        for (uint32_t n = 0; n < o->count && next == TUTTI_NONE; n++)
            if (!placed[n])
                next = n; /* a circle: it is cut here */
        for (size_t e = edges_of[next]; e < edges_of[next + 1]; e++) {
            const struct tt_tick_node *before = &o->nodes[o->edges[e].from];
            if (placed[o->edges[e].from] && before->wave + 1 > o->nodes[next].wave)
                o->nodes[next].wave = before->wave + 1;
        }
        placed[next] = true;
        if (o->nodes[next].wave + 1 > *waves)
            *waves = o->nodes[next].wave + 1;
    }
}

static enum tutti_err clock_order_sort(struct clock_ordering *o, struct tt_clock_order *ticking)
{
    clock_order_list_nodes(o);
    clock_order_add_edges(o);
    size_t *edges_of = calloc((size_t)o->count + 2, sizeof *edges_of);
    bool *placed = calloc((size_t)o->count + 1, sizeof *placed);
    bool good = edges_of && placed && !o->failed;
    if (good) {
        if (o->edge_count > 0)
            qsort(o->edges, o->edge_count, sizeof *o->edges, compare_tick_destinations);
        for (size_t e = 0; e < o->edge_count; e++)
            edges_of[o->edges[e].to + 1]++;
        for (uint32_t n = 0; n < o->count; n++)
            edges_of[n + 1] += edges_of[n];
        number_waves(o, edges_of, placed, &ticking->waves);
        ticking->count = o->count;
        uint32_t at = 0;
        for (uint32_t w = 0; w < ticking->waves; w++)
            for (uint32_t n = 0; n < o->count; n++)
                if (o->nodes[n].wave == w)
                    ticking->nodes[at++] = o->nodes[n];
    }
    free(edges_of);
    free(placed);
    return good ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_clock_order_init(struct tt_clock_order *ticking, const struct tt_system *system,
                                   const bool *scheduled, struct tt_arena *arena)
{
    size_t count = 0;
    *ticking = (struct tt_clock_order){0};
    for (uint32_t c = 0; c < system->component_count; c++)
        count += count_nodes(system, scheduled, c);
    struct clock_ordering o = {.system = system, .scheduled = scheduled};
    ticking->nodes = tt_arena_array(arena, count, sizeof *ticking->nodes);
    o.nodes = calloc(count + 1, sizeof *o.nodes);
    o.first = calloc((size_t)system->component_count + 1, sizeof *o.first);
    enum tutti_err err = ticking->nodes && o.nodes && o.first ? clock_order_sort(&o, ticking) : tt_fail_memory();
    free(o.nodes);
    free(o.first);
    free(o.edges);
    return err;
}

/* ---- circles ---- */

/* Returns true if a tick of the input clock may trigger the output clock; without a declaration any tick may. */
static bool may_trigger_output(const struct tt_description *desc, uint32_t input, uint32_t output)
{
    const struct tt_var *var = &desc->vars[output];
    bool told = var->clock_count > 0;
    if (is_input_clock(var)) /* by time; others only hear of it */
        return false;
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == input)
            return true;
    for (uint32_t u = 0; u < desc->outputs.count; u++) {
        const struct tt_unknown *unknown = &desc->outputs.items[u];
        if (unknown->variable != output || !unknown->has_dependencies)
            continue;
        told = true;
        for (uint32_t d = 0; d < unknown->dependency_count; d++)
            if (unknown->dependencies[d] == input)
                return true;
    }
    return !told;
}

/* Connections of clocks are the steps of a walk; `state` per connection: 0 not seen, 1 on the way, 2 done. */
struct clock_cycle_search {
    const struct tt_system *system;
    uint8_t *state;
    uint32_t *path;
    uint32_t length;
    struct tt_text *text;
};

static bool connects_clocks(const struct tt_system *system, const struct tt_connection *connection)
{
    return connection->from.component != TUTTI_NONE && connection->to.component != TUTTI_NONE &&
           clock_order_desc(system, connection->from.component)->vars[connection->from.variable].type ==
               TUTTI_TYPE_CLOCK;
}

static void write_clock_cycle(const struct clock_cycle_search *walk, uint32_t first)
{
    char name[256];
    uint32_t begin = 0;
    while (walk->path[begin] != first)
        begin++;
    for (uint32_t i = begin; i < walk->length; i++) {
        const struct tt_connection *connection = &walk->system->connections[walk->path[i]];
        tt_text_printf(walk->text, "%s -> ", tt_system_name(walk->system, &connection->from, name, sizeof name));
        tt_text_printf(walk->text, "%s -> ", tt_system_name(walk->system, &connection->to, name, sizeof name));
    }
    tt_text_append(walk->text, tt_system_name(walk->system, &walk->system->connections[first].from, name, sizeof name));
}

static bool clock_order_visit(struct clock_cycle_search *walk, uint32_t c)
{
    const struct tt_end *to = &walk->system->connections[c].to;
    walk->state[c] = 1;
    walk->path[walk->length++] = c;
    for (uint32_t n = 0; n < walk->system->connection_count; n++) {
        const struct tt_connection *next = &walk->system->connections[n];
        if (!connects_clocks(walk->system, next) || next->from.component != to->component ||
            !may_trigger_output(clock_order_desc(walk->system, to->component), to->variable, next->from.variable))
            continue;
        if (walk->state[n] == 1)
            write_clock_cycle(walk, n);
        if (walk->state[n] == 1 || (walk->state[n] == 0 && clock_order_visit(walk, n)))
            return true;
    }
    walk->state[c] = 2;
    walk->length--;
    return false;
}

void tt_clock_order_find_cycle(const struct tt_system *system, struct tt_text *text)
{
    struct clock_cycle_search walk = {.system = system, .text = text};
    walk.state = calloc((size_t)system->connection_count + 1, sizeof *walk.state);
    walk.path = calloc((size_t)system->connection_count + 1, sizeof *walk.path);
    bool found = !walk.state || !walk.path;
    for (uint32_t c = 0; c < system->connection_count && !found; c++)
        found = connects_clocks(system, &system->connections[c]) && walk.state[c] == 0 && clock_order_visit(&walk, c);
    free(walk.state);
    free(walk.path);
}
