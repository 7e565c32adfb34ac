/* SPDX-License-Identifier: MIT */
#include "model/plan/digraph.h"

#include <stdlib.h>

enum { UNSEEN = 0 };

/* Drops what a row names twice and closes the gaps. `row_of` holds, per node, 1 + the last row that named it. */
static void drop_duplicates(struct tt_digraph *graph, uint32_t *row_of)
{
    uint32_t kept = 0, from = 0;
    for (uint32_t row = 0; row < graph->node_count; row++) {
        uint32_t end = graph->first[row + 1];
        for (; from < end; from++) {
            uint32_t needed = graph->needs[from];
            if (row_of[needed] == row + 1)
                continue;
            row_of[needed] = row + 1;
            graph->needs[kept++] = needed;
        }
        graph->first[row + 1] = kept;
    }
}

enum tutti_err tt_digraph_init(struct tt_digraph *graph, uint32_t node_count, const uint32_t (*pairs)[2], size_t count)
{
    *graph = (struct tt_digraph){.node_count = node_count};
    enum tutti_err err = TUTTI_OK;
    if (node_count == UINT32_MAX || count >= UINT32_MAX)
        err = tt_fail(TUTTI_ERR_LIMIT, "a graph of %u nodes and %zu edges; the limit is %u of each", node_count, count,
                      UINT32_MAX - 1);
    for (size_t i = 0; i < count && !err; i++)
        if (pairs[i][0] >= node_count || pairs[i][1] >= node_count)
            err = tt_fail(TUTTI_ERR_ARGUMENT, "an edge from node %u to node %u in a graph of %u nodes", pairs[i][0],
                          pairs[i][1], node_count);
    if (err != TUTTI_OK) {
        graph->node_count = 0;
        return err;
    }
    /* One more than the rows: counted two places too far, filling moves each start to where it belongs. */
    graph->first = calloc((size_t)node_count + 2, sizeof *graph->first);
    graph->needs = malloc((count + 1) * sizeof *graph->needs);
    uint32_t *row_of = calloc((size_t)node_count + 1, sizeof *row_of);
    if (!graph->first || !graph->needs || !row_of) {
        free(row_of);
        tt_digraph_fini(graph);
        return tt_fail_memory();
    }
    uint32_t *next = graph->first + 1;
    for (size_t i = 0; i < count; i++)
        next[pairs[i][0] + 1]++;
    for (uint32_t row = 0; row < node_count; row++)
        next[row + 1] += next[row];
    for (size_t i = 0; i < count; i++)
        graph->needs[next[pairs[i][0]]++] = pairs[i][1];
    drop_duplicates(graph, row_of);
    free(row_of);
    return TUTTI_OK;
}

void tt_digraph_fini(struct tt_digraph *graph)
{
    free(graph->first);
    free(graph->needs);
    *graph = (struct tt_digraph){0};
}

/* Tarjan's depth-first search. The data of a recursive function's frames is kept here, per node. */
struct tarjan_search {
    const struct tt_digraph *graph;
    struct tt_components *components;
    uint32_t *number, *low; /* from 1; UNSEEN before */
    uint32_t *edge;         /* the next one to follow */
    uint32_t *caller;       /* from where the node was reached */
    uint32_t *stack;        /* nodes that are in no component yet */
    uint32_t depth, numbered;
};

static void digraph_push_node(struct tarjan_search *search, uint32_t node, uint32_t caller)
{
    search->number[node] = search->low[node] = ++search->numbered;
    search->edge[node] = search->graph->first[node];
    search->caller[node] = caller;
    search->stack[search->depth++] = node;
}

/* Andersson 2016 Alg. 1, STRONGCONNECT. A node that has a number and no component is on the stack. */
static void digraph_search_from(struct tarjan_search *search, uint32_t root)
{
    const struct tt_digraph *graph = search->graph;
    uint32_t node = root;
    digraph_push_node(search, root, UINT32_MAX);
    while (node != UINT32_MAX) {
        if (search->edge[node] < graph->first[node + 1]) {
            uint32_t needed = graph->needs[search->edge[node]++];
            if (search->number[needed] == UNSEEN) {
                digraph_push_node(search, needed, node);
                node = needed;
            } else if (search->components->of[needed] == UINT32_MAX && search->number[needed] < search->low[node]) {
                search->low[node] = search->number[needed];
            }
            continue;
        }
        if (search->low[node] == search->number[node]) {
            /* The component that begins at `node` is complete: it is what lies above `node` on the stack. */
            uint32_t component = search->components->count++, taken;
            do {
                taken = search->stack[--search->depth];
                search->components->of[taken] = component;
                search->components->first[component + 1]++;
            } while (taken != node);
        }
        uint32_t caller = search->caller[node];
        if (caller != UINT32_MAX && search->low[node] < search->low[caller])
            search->low[caller] = search->low[node];
        node = caller;
    }
}

enum tutti_err tt_digraph_components_init(struct tt_components *components, const struct tt_digraph *graph)
{
    size_t n = graph->node_count;
    uint32_t *scratch = calloc(5 * n + 1, sizeof *scratch);
    *components = (struct tt_components){.first = calloc(n + 1, sizeof *components->first),
                                         .nodes = malloc((n + 1) * sizeof *components->nodes),
                                         .of = malloc((n + 1) * sizeof *components->of)};
    if (!scratch || !components->first || !components->nodes || !components->of) {
        free(scratch);
        tt_digraph_components_fini(components);
        return tt_fail_memory();
    }
    struct tarjan_search search = {.graph = graph,
                                   .components = components,
                                   .number = scratch,
                                   .low = scratch + n,
                                   .edge = scratch + 2 * n,
                                   .caller = scratch + 3 * n,
                                   .stack = scratch + 4 * n};
    for (uint32_t node = 0; node < n; node++)
        components->of[node] = UINT32_MAX;
    for (uint32_t node = 0; node < n; node++)
        if (search.number[node] == UNSEEN)
            digraph_search_from(&search, node);

    /* Counts become places, and each component gets its nodes in ascending order. */
    uint32_t *next = search.edge;
    for (uint32_t c = 0; c < components->count; c++) {
        next[c] = components->first[c];
        components->first[c + 1] += components->first[c];
    }
    for (uint32_t node = 0; node < n; node++)
        components->nodes[next[components->of[node]]++] = node;
    free(scratch);
    return TUTTI_OK;
}

void tt_digraph_components_fini(struct tt_components *components)
{
    free(components->first);
    free(components->nodes);
    free(components->of);
    *components = (struct tt_components){0};
}
