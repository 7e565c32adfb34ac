/* SPDX-License-Identifier: MIT */
#include "start/spread.h"

#include <string.h>

enum tutti_err tutti_spread_init(struct tutti_spread *spread, struct tutti_rank *rank, struct tutti_arena *arena)
{
    *spread =
        (struct tutti_spread){.rank = rank,
                              .news = tutti_arena_array(arena, rank->job->structure.node_count, sizeof *spread->news),
                              .told = tutti_arena_array(arena, rank->job->structure.node_count, sizeof *spread->told)};
    return spread->news && spread->told ? TUTTI_OK : tutti_fail_memory();
}

static int32_t rank_of(const struct tutti_rank *rank, uint32_t node)
{
    return rank->place ? rank->place[rank->job->structure.nodes[node].component] : 0;
}

/* The rank whose units the nodes are, all of them; -1: of several. */
static int32_t only_rank(const struct tutti_rank *rank, const uint32_t *nodes, uint32_t count)
{
    int32_t only = rank_of(rank, nodes[0]);
    for (uint32_t i = 1; i < count; i++)
        if (rank_of(rank, nodes[i]) != only)
            return -1;
    return only;
}

/* Does an input among the nodes come from what its rank has not heard yet? */
static bool reads_news(const struct tutti_spread *spread, const uint32_t *nodes, uint32_t count)
{
    const struct tutti_rank *rank = spread->rank;
    for (uint32_t i = 0; i < count && rank->place; i++) {
        const struct tutti_slot *slot = &rank->wires.slots[nodes[i]];
        if (rank->job->structure.nodes[nodes[i]].output)
            continue;
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
            const struct tutti_end *from = &rank->wires.wires[w].connection->from;
            uint32_t source = tutti_structure_find(&rank->job->structure, from->component, from->variable, true);
            if (spread->news[source] && rank_of(rank, source) != rank_of(rank, nodes[i]))
                return true;
        }
    }
    return false;
}

void tutti_spread_heard(struct tutti_spread *spread)
{
    memset(spread->news, 0, spread->rank->job->structure.node_count * sizeof *spread->news);
}

enum tutti_err tutti_spread_hear(struct tutti_spread *spread)
{
    tutti_spread_heard(spread);
    return tutti_channels_exchange_start(&spread->rank->channels);
}

enum tutti_err tutti_spread_begin(struct tutti_spread *spread, const uint32_t *nodes, uint32_t count, bool *here)
{
    struct tutti_rank *rank = spread->rank;
    int32_t only = only_rank(rank, nodes, count);
    if (reads_news(spread, nodes, count))
        TRY(tutti_spread_hear(spread));
    for (uint32_t i = 0; i < count && only >= 0; i++)
        spread->news[nodes[i]] = rank->job->structure.nodes[nodes[i]].output;
    *here = only < 0 || only == rank->fabric->rank;
    return TUTTI_OK;
}
