/* SPDX-License-Identifier: MIT */
#include "sim/start/init_exchange.h"

#include <string.h>

enum tutti_err tt_init_exchange_init(struct tt_init_exchange *spread, struct tt_rank *rank, struct tt_arena *arena)
{
    *spread =
        (struct tt_init_exchange){.rank = rank,
                                  .news = tt_arena_array(arena, rank->job->structure.node_count, sizeof *spread->news),
                                  .told = tt_arena_array(arena, rank->job->structure.node_count, sizeof *spread->told)};
    return spread->news && spread->told ? TUTTI_OK : tt_fail_memory();
}

static int32_t exchange_rank_of(const struct tt_rank *rank, uint32_t node)
{
    return rank->place ? rank->place[rank->job->structure.nodes[node].component] : 0;
}

/* The rank whose units the nodes are, all of them; -1: of several. */
static int32_t single_rank_of(const struct tt_rank *rank, const uint32_t *nodes, uint32_t count)
{
    int32_t only = exchange_rank_of(rank, nodes[0]);
    for (uint32_t i = 1; i < count; i++)
        if (exchange_rank_of(rank, nodes[i]) != only)
            return -1;
    return only;
}

/* Does an input among the nodes come from what its rank has not heard yet? */
static bool reads_unexchanged(const struct tt_init_exchange *spread, const uint32_t *nodes, uint32_t count)
{
    const struct tt_rank *rank = spread->rank;
    for (uint32_t i = 0; i < count && rank->place; i++) {
        const struct tt_slot *slot = &rank->wires.slots[nodes[i]];
        if (rank->job->structure.nodes[nodes[i]].output)
            continue;
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++) {
            const struct tt_end *from = &rank->wires.wires[w].connection->from;
            uint32_t source = tt_structure_find(&rank->job->structure, from->component, from->variable, true);
            if (spread->news[source] && exchange_rank_of(rank, source) != exchange_rank_of(rank, nodes[i]))
                return true;
        }
    }
    return false;
}

void tt_init_exchange_mark_done(struct tt_init_exchange *spread)
{
    memset(spread->news, 0, spread->rank->job->structure.node_count * sizeof *spread->news);
}

enum tutti_err tt_init_exchange_run(struct tt_init_exchange *spread)
{
    tt_init_exchange_mark_done(spread);
    return tt_channels_exchange_start(&spread->rank->channels);
}

enum tutti_err tt_init_exchange_prepare(struct tt_init_exchange *spread, const uint32_t *nodes, uint32_t count,
                                        bool *here)
{
    struct tt_rank *rank = spread->rank;
    int32_t only = single_rank_of(rank, nodes, count);
    if (reads_unexchanged(spread, nodes, count))
        TRY(tt_init_exchange_run(spread));
    for (uint32_t i = 0; i < count && only >= 0; i++)
        spread->news[nodes[i]] = rank->job->structure.nodes[nodes[i]].output;
    *here = only < 0 || only == rank->fabric->rank;
    return TUTTI_OK;
}
