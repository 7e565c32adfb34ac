/* SPDX-License-Identifier: MIT */
/* reference.h - how many evaluations a small structure takes: the least number, by trying everything, and what Andersson 2016 Alg. 2
 * comes to. For structures of at most 64 nodes. */
#ifndef TUTTI_TEST_REFERENCE_H
#define TUTTI_TEST_REFERENCE_H

#include <stdlib.h>

#include "model/plan/structure.h"
#include "test.h"

enum { MOST_OUTPUTS = 16, MOST_NODES = 64 };

static inline bool in_loop(const struct tt_structure *structure, uint32_t node)
{
    uint32_t block = structure->scc.of[node];
    return structure->scc.first[block + 1] - structure->scc.first[block] > 1;
}

/* All needs of a node outside its loop are known. */
static inline bool needs_met(const struct tt_structure *structure, uint64_t known, uint32_t node)
{
    for (uint32_t i = structure->graph.first[node]; i < structure->graph.first[node + 1]; i++) {
        uint32_t needed = structure->graph.needs[i];
        if (structure->scc.of[needed] != structure->scc.of[node] && !(known >> needed & 1))
            return false;
    }
    return true;
}

/* Adds what costs nothing: inputs, and loops. */
static inline uint64_t close_up(const struct tt_structure *structure, uint64_t known)
{
    for (uint32_t block = 0; block < structure->scc.count; block++) {
        uint32_t first = structure->scc.first[block], end = structure->scc.first[block + 1];
        bool met = end - first > 1 || !structure->nodes[structure->scc.nodes[first]].output;
        for (uint32_t i = first; i < end && met; i++)
            met = needs_met(structure, known, structure->scc.nodes[i]);
        for (uint32_t i = first; i < end && met; i++)
            known |= (uint64_t)1 << structure->scc.nodes[i];
    }
    return known;
}

/* Breadth-first search over sets of known outputs: a move evaluates one component for all possible outputs. */
static inline uint32_t least_evaluations(const struct tt_structure *structure)
{
    uint32_t outputs[MOST_OUTPUTS], count = 0, tail = 0, head = 0;
    for (uint32_t node = 0; node < structure->node_count; node++)
        if (structure->nodes[node].output && !in_loop(structure, node)) {
            assert_true(count < MOST_OUTPUTS);
            outputs[count++] = node;
        }
    assert_true(structure->node_count <= MOST_NODES);
    static uint8_t moves[1 << MOST_OUTPUTS];
    static uint32_t queue[1 << MOST_OUTPUTS];
    memset(moves, 0xff, (size_t)1 << count);
    moves[0] = 0;
    queue[tail++] = 0;
    while (moves[(1u << count) - 1] == 0xff) {
        uint32_t had = queue[head++];
        uint64_t known = 0;
        for (uint32_t i = 0; i < count; i++)
            known |= (uint64_t)(had >> i & 1) << outputs[i];
        known = close_up(structure, known);
        for (uint32_t c = 0; c < structure->system->component_count; c++) {
            uint32_t next = had;
            for (uint32_t i = 0; i < count; i++)
                if (structure->nodes[outputs[i]].component == c && needs_met(structure, known, outputs[i]))
                    next |= 1u << i;
            if (moves[next] == 0xff) {
                moves[next] = (uint8_t)(moves[had] + 1);
                queue[tail++] = next;
            }
        }
    }
    return moves[(1u << count) - 1];
}

/* Andersson 2016 Alg. 2: group[v] is the item that node v was joined to. */
struct published {
    const struct tt_structure *structure;
    uint32_t group[MOST_NODES];
};

/* Is there a path in the graph of groups by which `from` needs `to`? */
static inline bool group_needs(const struct published *published, uint32_t from, uint32_t to)
{
    const struct tt_structure *structure = published->structure;
    uint64_t reached = (uint64_t)1 << from, before = 0;
    while (reached != before) {
        before = reached;
        for (uint32_t node = 0; node < structure->node_count; node++) {
            if (!(reached >> published->group[node] & 1))
                continue;
            for (uint32_t i = structure->graph.first[node]; i < structure->graph.first[node + 1]; i++)
                reached |= (uint64_t)1 << published->group[structure->graph.needs[i]];
        }
        if (from != to && (reached >> to & 1))
            return true;
    }
    return false;
}

static inline void join(struct published *published, uint32_t from, uint32_t to)
{
    for (uint32_t node = 0; node < published->structure->node_count; node++)
        if (published->group[node] == from)
            published->group[node] = to;
}

static inline bool leads_to_feed_through(const struct tt_structure *structure, uint32_t output)
{
    for (uint32_t input = 0; input < structure->node_count; input++)
        for (uint32_t i = structure->graph.first[input]; i < structure->graph.first[input + 1]; i++)
            if (structure->graph.needs[i] == output)
                for (uint32_t k = 0; k < structure->graph.first[structure->node_count]; k++)
                    if (structure->graph.needs[k] == input)
                        return true;
    return false;
}

/* Lines 1 and 2: outputs of a model without feed-through; outputs that go only to inputs without. */
static inline void group_first(struct published *published)
{
    const struct tt_structure *structure = published->structure;
    for (uint32_t v = 0; v < structure->node_count; v++)
        for (uint32_t w = 0; w < v; w++) {
            const struct tt_structure_node *a = &structure->nodes[v], *b = &structure->nodes[w];
            if (!a->output || !b->output || a->component != b->component)
                continue;
            bool free_v = structure->graph.first[v] == structure->graph.first[v + 1];
            bool free_w = structure->graph.first[w] == structure->graph.first[w + 1];
            bool ends_v = !leads_to_feed_through(structure, v), ends_w = !leads_to_feed_through(structure, w);
            if ((free_v && free_w) || (!free_v && !free_w && ends_v && ends_w))
                join(published, published->group[v], published->group[w]);
        }
}

/* Lines 4 to 22, in Tarjan's order: an output joins the first earlier one of its model that it does not need. (The
 * earlier one cannot need the later, except through what was joined before: that is tested, too.) */
static inline uint32_t published_evaluations(const struct tt_structure *structure)
{
    struct published published = {.structure = structure};
    for (uint32_t node = 0; node < structure->node_count; node++)
        published.group[node] = structure->scc.nodes[structure->scc.first[structure->scc.of[node]]];
    group_first(&published);
    for (uint32_t i = 0; i < structure->node_count; i++) {
        uint32_t v = structure->scc.nodes[i];
        if (!structure->nodes[v].output || in_loop(structure, v))
            continue;
        for (uint32_t j = 0; j < i; j++) {
            uint32_t w = structure->scc.nodes[j], a = published.group[v], b = published.group[w];
            if (!structure->nodes[w].output || in_loop(structure, w) || a == b ||
                structure->nodes[w].component != structure->nodes[v].component)
                continue;
            if (!group_needs(&published, a, b) && !group_needs(&published, b, a))
                join(&published, a, b);
        }
    }
    uint64_t groups = 0;
    for (uint32_t node = 0; node < structure->node_count; node++)
        if (structure->nodes[node].output && !in_loop(structure, node))
            groups |= (uint64_t)1 << published.group[node];
    return (uint32_t)__builtin_popcountll(groups);
}

#endif
