/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "plan/order_parts.h"

/* Lists a block, unless this search has met it. */
static void meet(struct tutti_order_search *search, uint32_t block)
{
    if (search->met_by[block] == search->number)
        return;
    search->met_by[block] = search->number;
    search->met[search->count++] = block;
}

/* Lists the outstanding outputs of a component and all that needs them, each block after what it needs. */
static void search_from(struct tutti_order_schedule *schedule, uint32_t component)
{
    const struct tutti_structure *structure = schedule->structure;
    const struct tutti_components *scc = &structure->scc;
    const struct tutti_digraph *needing = &schedule->needing;
    struct tutti_order_search *search = &schedule->search;
    search->number++;
    search->count = 0;
    for (uint32_t i = 0; i < schedule->output_waiting[component]; i++)
        meet(search, scc->of[schedule->waiting[schedule->output_first[component] + i]]);
    for (uint32_t node = schedule->output_first[component]; node < structure->component_first[component + 1]; node++)
        if (schedule->missing[scc->of[node]] > 0 && !tutti_order_is_loop(scc, scc->of[node]))
            meet(search, scc->of[node]);
    search->patience -= search->count < search->patience ? search->count : search->patience;
    for (uint32_t m = 0; m < search->count && search->patience > 0; m++)
        for (uint32_t k = scc->first[search->met[m]]; k < scc->first[search->met[m] + 1]; k++) {
            uint32_t from = needing->first[scc->nodes[k]], end = needing->first[scc->nodes[k] + 1];
            for (uint32_t i = from; i < end; i++)
                meet(search, scc->of[needing->needs[i]]);
            search->patience -= end - from < search->patience ? end - from : search->patience;
        }
    qsort(search->met, search->count, sizeof *search->met, tutti_order_compare);
}

static bool is_output_of(const struct tutti_structure *structure, uint32_t block, uint32_t component)
{
    const struct tutti_structure_node *node = &structure->nodes[structure->scc.nodes[structure->scc.first[block]]];
    return !tutti_order_is_loop(&structure->scc, block) && node->output && node->component == component;
}

/* The longest chain of outputs of the component, each needing the one before, that begins with or behind the block. */
static uint32_t longest_chain(const struct tutti_order_schedule *schedule, uint32_t block, uint32_t component)
{
    const struct tutti_components *scc = &schedule->structure->scc;
    const struct tutti_digraph *needing = &schedule->needing;
    const struct tutti_order_search *search = &schedule->search;
    uint32_t longest = 0;
    for (uint32_t k = scc->first[block]; k < scc->first[block + 1]; k++)
        for (uint32_t i = needing->first[scc->nodes[k]]; i < needing->first[scc->nodes[k] + 1]; i++) {
            uint32_t next = scc->of[needing->needs[i]];
            if (search->met_by[next] == search->number && search->chain[next] > longest)
                longest = search->chain[next];
        }
    return longest + is_output_of(schedule->structure, block, component);
}

/* Outputs of other components that wait for the ready ones of this component. Uses up search->chain. */
static uint32_t count_reached(struct tutti_order_schedule *schedule, uint32_t component)
{
    const struct tutti_structure *structure = schedule->structure;
    const struct tutti_components *scc = &structure->scc;
    const struct tutti_digraph *needing = &schedule->needing;
    struct tutti_order_search *search = &schedule->search;
    uint32_t reached = 0;
    for (uint32_t m = 0; m < search->count; m++)
        search->chain[search->met[m]] = schedule->missing[search->met[m]] == 0;
    for (uint32_t m = 0; m < search->count; m++) {
        uint32_t block = search->met[m];
        if (!search->chain[block])
            continue;
        reached += structure->nodes[scc->nodes[scc->first[block + 1] - 1]].output &&
                   !is_output_of(structure, block, component);
        for (uint32_t k = scc->first[block]; k < scc->first[block + 1]; k++)
            for (uint32_t i = needing->first[scc->nodes[k]]; i < needing->first[scc->nodes[k] + 1]; i++)
                search->chain[scc->of[needing->needs[i]]] = 1;
    }
    return reached;
}

struct tutti_order_candidate tutti_order_judge(struct tutti_order_schedule *schedule, uint32_t component)
{
    struct tutti_order_search *search = &schedule->search;
    struct tutti_order_candidate candidate = {.component = component};
    uint32_t longest = 0;
    if (search->patience == 0)
        return candidate;
    search_from(schedule, component);
    for (uint32_t m = search->count; m-- > 0;) {
        uint32_t block = search->met[m];
        search->chain[block] = longest_chain(schedule, block, component);
        if (schedule->missing[block] == 0 && search->chain[block] > longest)
            longest = search->chain[block];
    }
    for (uint32_t m = 0; m < search->count; m++)
        candidate.lost += schedule->missing[search->met[m]] > 0 && search->chain[search->met[m]] >= longest &&
                          is_output_of(schedule->structure, search->met[m], component);
    if (candidate.lost > 0) {
        candidate.reached = count_reached(schedule, component);
        if (candidate.reached == 0)
            candidate.lost = UINT32_MAX; /* nobody would get on by it */
    }
    return candidate;
}
