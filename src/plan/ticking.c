/* SPDX-License-Identifier: MIT */
#include "plan/ticking.h"

#include <stdlib.h>
#include <string.h>

static const struct tutti_desc *desc_of(const struct tutti_system *system, uint32_t component)
{
    return system->components[component].fmu->desc;
}

static bool has_clocks(const struct tutti_desc *desc)
{
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK)
            return true;
    return false;
}

bool tutti_system_has_clocks(const struct tutti_system *system)
{
    for (uint32_t c = 0; c < system->component_count; c++)
        if (has_clocks(desc_of(system, c)))
            return true;
    return false;
}

static bool is_input_clock(const struct tutti_var *var)
{
    return var->type == TUTTI_TYPE_CLOCK && var->causality == TUTTI_INPUT;
}

/* ---- the order ---- */

struct edge {
    uint32_t from, to;
};

struct ordering {
    const struct tutti_system *system;
    const bool *scheduled;
    struct tutti_tick_node *nodes;
    uint32_t count;
    uint32_t *first; /* per component, and one more: its nodes */
    struct edge *edges;
    size_t edge_count, edge_room;
    bool failed; /* memory is out */
};

static uint32_t priority_of(const struct ordering *o, const struct tutti_tick_node *node)
{
    const struct tutti_var *var = node->clock == TUTTI_NONE ? NULL
                                                            : &desc_of(o->system, node->component)->vars[node->clock];
    return var ? var->more->clock->priority : 0;
}

/* Partitions by priority, then as they are described. */
static void sort_partitions(const struct ordering *o, struct tutti_tick_node *nodes, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = i; j > 0 && priority_of(o, &nodes[j]) < priority_of(o, &nodes[j - 1]); j--) {
            struct tutti_tick_node swapped = nodes[j];
            nodes[j] = nodes[j - 1];
            nodes[j - 1] = swapped;
        }
}

static uint32_t count_nodes(const struct tutti_system *system, const bool *scheduled, uint32_t component)
{
    const struct tutti_desc *desc = desc_of(system, component);
    uint32_t count = 0;
    if (!scheduled[component])
        return has_clocks(desc);
    for (uint32_t v = 0; v < desc->var_count; v++)
        count += is_input_clock(&desc->vars[v]);
    return count;
}

static void list_nodes(struct ordering *o)
{
    for (uint32_t c = 0; c < o->system->component_count; c++) {
        const struct tutti_desc *desc = desc_of(o->system, c);
        o->first[c] = o->count;
        if (!o->scheduled[c] && has_clocks(desc))
            o->nodes[o->count++] = (struct tutti_tick_node){.component = c, .clock = TUTTI_NONE};
        for (uint32_t v = 0; o->scheduled[c] && v < desc->var_count; v++)
            if (is_input_clock(&desc->vars[v]))
                o->nodes[o->count++] = (struct tutti_tick_node){.component = c, .clock = v};
        sort_partitions(o, o->nodes + o->first[c], o->count - o->first[c]);
    }
    o->first[o->system->component_count] = o->count;
}

static void add_edge(struct ordering *o, uint32_t from, uint32_t to)
{
    if (o->edge_count == o->edge_room) {
        size_t room = o->edge_room ? 2 * o->edge_room : 64;
        struct edge *more = realloc(o->edges, room * sizeof *more);
        o->failed = o->failed || !more;
        if (!more)
            return;
        o->edges = more;
        o->edge_room = room;
    }
    o->edges[o->edge_count++] = (struct edge){from, to};
}

/* Is the variable computed, or used, where this node is? */
static bool belongs(const struct ordering *o, const struct tutti_tick_node *node, uint32_t variable)
{
    const struct tutti_var *var = &desc_of(o->system, node->component)->vars[variable];
    if (node->clock == TUTTI_NONE || node->clock == variable)
        return true;
    if (is_input_clock(var))
        return false;
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == node->clock)
            return true;
    return var->clock_count == 0;
}

static void add_edges(struct ordering *o)
{
    for (uint32_t i = 0; i < o->system->connection_count; i++) {
        const struct tutti_end *from = &o->system->connections[i].from, *to = &o->system->connections[i].to;
        if (from->component == TUTTI_NONE || to->component == TUTTI_NONE || from->component == to->component ||
            o->system->connections[i].at_start_only)
            continue;
        for (uint32_t a = o->first[from->component]; a < o->first[from->component + 1]; a++)
            for (uint32_t b = o->first[to->component]; b < o->first[to->component + 1]; b++)
                if (belongs(o, &o->nodes[a], from->variable) && belongs(o, &o->nodes[b], to->variable))
                    add_edge(o, a, b);
    }
    for (uint32_t c = 0; c < o->system->component_count; c++)
        for (uint32_t n = o->first[c]; n + 1 < o->first[c + 1]; n++)
            add_edge(o, n, n + 1);
}

static int by_destination(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;
    return x->to != y->to ? (x->to < y->to ? -1 : 1) : x->from < y->from ? -1 : x->from > y->from;
}

/* Every node after those that it comes after, where that can be; *waves: how many there are. `edges_of` has where the edges to each begin. */
static void make_waves(struct ordering *o, const size_t *edges_of, bool *placed, uint32_t *waves)
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
            const struct tutti_tick_node *before = &o->nodes[o->edges[e].from];
            if (placed[o->edges[e].from] && before->wave + 1 > o->nodes[next].wave)
                o->nodes[next].wave = before->wave + 1;
        }
        placed[next] = true;
        if (o->nodes[next].wave + 1 > *waves)
            *waves = o->nodes[next].wave + 1;
    }
}

static void sort_by_wave(const struct ordering *o, struct tutti_ticking *ticking)
{
    uint32_t at = 0;
    for (uint32_t w = 0; w < ticking->waves; w++)
        for (uint32_t n = 0; n < o->count; n++)
            if (o->nodes[n].wave == w)
                ticking->nodes[at++] = o->nodes[n];
}

static enum tutti_err order(struct ordering *o, struct tutti_ticking *ticking)
{
    list_nodes(o);
    add_edges(o);
    size_t *edges_of = calloc((size_t)o->count + 2, sizeof *edges_of);
    bool *placed = calloc((size_t)o->count + 1, sizeof *placed);
    bool good = edges_of && placed && !o->failed;
    if (good) {
        if (o->edge_count > 0)
            qsort(o->edges, o->edge_count, sizeof *o->edges, by_destination);
        for (size_t e = 0; e < o->edge_count; e++)
            edges_of[o->edges[e].to + 1]++;
        for (uint32_t n = 0; n < o->count; n++)
            edges_of[n + 1] += edges_of[n];
        make_waves(o, edges_of, placed, &ticking->waves);
        ticking->count = o->count;
        sort_by_wave(o, ticking);
    }
    free(edges_of);
    free(placed);
    return good ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_ticking_init(struct tutti_ticking *ticking, const struct tutti_system *system,
                                  const bool *scheduled, struct tutti_arena *arena)
{
    size_t count = 0;
    *ticking = (struct tutti_ticking){0};
    for (uint32_t c = 0; c < system->component_count; c++)
        count += count_nodes(system, scheduled, c);
    struct ordering o = {.system = system, .scheduled = scheduled};
    ticking->nodes = tutti_arena_array(arena, count, sizeof *ticking->nodes);
    o.nodes = calloc(count + 1, sizeof *o.nodes);
    o.first = calloc((size_t)system->component_count + 1, sizeof *o.first);
    enum tutti_err err = ticking->nodes && o.nodes && o.first ? order(&o, ticking) : tutti_fail_memory();
    free(o.nodes);
    free(o.first);
    free(o.edges);
    return err;
}

/* ---- circles ---- */

/* May a tick of the input clock make the output clock tick? Where the description does not say, any may. */
static bool may_trigger(const struct tutti_desc *desc, uint32_t input, uint32_t output)
{
    const struct tutti_var *var = &desc->vars[output];
    bool told = var->clock_count > 0;
    if (is_input_clock(var)) /* by time; others only hear of it */
        return false;
    for (uint32_t i = 0; i < var->clock_count; i++)
        if (var->more->clocks[i] == input)
            return true;
    for (uint32_t u = 0; u < desc->outputs.count; u++) {
        const struct tutti_unknown *unknown = &desc->outputs.items[u];
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
struct walk {
    const struct tutti_system *system;
    uint8_t *state;
    uint32_t *path;
    uint32_t length;
    struct tutti_text *text;
};

static bool is_of_clocks(const struct tutti_system *system, const struct tutti_connection *connection)
{
    return connection->from.component != TUTTI_NONE && connection->to.component != TUTTI_NONE &&
           desc_of(system, connection->from.component)->vars[connection->from.variable].type == TUTTI_TYPE_CLOCK;
}

static void write_circle(const struct walk *walk, uint32_t first)
{
    char name[256];
    uint32_t begin = 0;
    while (walk->path[begin] != first)
        begin++;
    for (uint32_t i = begin; i < walk->length; i++) {
        const struct tutti_connection *connection = &walk->system->connections[walk->path[i]];
        tutti_text_printf(walk->text, "%s -> ", tutti_system_name(walk->system, &connection->from, name, sizeof name));
        tutti_text_printf(walk->text, "%s -> ", tutti_system_name(walk->system, &connection->to, name, sizeof name));
    }
    tutti_text_append(walk->text,
                      tutti_system_name(walk->system, &walk->system->connections[first].from, name, sizeof name));
}

static bool visit(struct walk *walk, uint32_t c)
{
    const struct tutti_end *to = &walk->system->connections[c].to;
    walk->state[c] = 1;
    walk->path[walk->length++] = c;
    for (uint32_t n = 0; n < walk->system->connection_count; n++) {
        const struct tutti_connection *next = &walk->system->connections[n];
        if (!is_of_clocks(walk->system, next) || next->from.component != to->component ||
            !may_trigger(desc_of(walk->system, to->component), to->variable, next->from.variable))
            continue;
        if (walk->state[n] == 1)
            write_circle(walk, n);
        if (walk->state[n] == 1 || (walk->state[n] == 0 && visit(walk, n)))
            return true;
    }
    walk->state[c] = 2;
    walk->length--;
    return false;
}

void tutti_ticking_find_circle(const struct tutti_system *system, struct tutti_text *text)
{
    struct walk walk = {.system = system, .text = text};
    walk.state = calloc((size_t)system->connection_count + 1, sizeof *walk.state);
    walk.path = calloc((size_t)system->connection_count + 1, sizeof *walk.path);
    bool found = !walk.state || !walk.path;
    for (uint32_t c = 0; c < system->connection_count && !found; c++)
        found = is_of_clocks(system, &system->connections[c]) && walk.state[c] == 0 && visit(&walk, c);
    free(walk.state);
    free(walk.path);
}
