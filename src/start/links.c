/* SPDX-License-Identifier: MIT */
#include "start/links.h"

bool tutti_signal_is_real(const struct tutti_var *var)
{
    return var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS;
}

const struct tutti_var *tutti_signal_var(const struct tutti_structure *structure, uint32_t node)
{
    const struct tutti_structure_node *n = &structure->nodes[node];
    return &structure->system->components[n->component].fmu->desc->vars[n->variable];
}

static void visit_wire(const struct tutti_rank *rank, const struct tutti_wire *wire, uint32_t node,
                       tutti_signal_link_visit *visit, void *context)
{
    const struct tutti_structure *structure = &rank->job->structure;
    const struct tutti_wires *wires = &rank->wires;
    const struct tutti_end *from = &wire->connection->from;
    uint32_t source = tutti_structure_find(structure, from->component, from->variable, true);
    if (source == TUTTI_NONE || wire->connection->at_start_only ||
        !tutti_signal_is_real(tutti_signal_var(structure, source)))
        return;
    const double *signals = (const double *)(const void *)wires->signals;
    size_t first = (size_t)((const double *)wires->slots[source].values - signals);
    visit(context, &(struct tutti_signal_link){
                       .from = source,
                       .to = node,
                       .from_element = wire->from / sizeof(double) - first,
                       .to_element = (size_t)((const double *)wire->to - (const double *)wires->slots[node].values),
                       .count = wire->count,
                       .factor = wire->conversion->linear ? wire->conversion->factor : 1});
}

void tutti_links_each(const struct tutti_rank *rank, tutti_signal_link_visit *visit, void *context)
{
    const struct tutti_structure *structure = &rank->job->structure;
    const struct tutti_wires *wires = &rank->wires;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        const struct tutti_slot *slot = &wires->slots[n];
        if (structure->nodes[n].output || !tutti_signal_is_real(tutti_signal_var(structure, n)))
            continue;
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++)
            if (wires->wires[w].conversion->from == TUTTI_TYPE_FLOAT64)
                visit_wire(rank, &wires->wires[w], n, visit, context);
    }
}

enum tutti_err tutti_links_check(const struct tutti_rank *rank)
{
    const struct tutti_structure *structure = &rank->job->structure;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        const struct tutti_var *var = tutti_signal_var(structure, n);
        bool fits = var->causality == (structure->nodes[n].output ? TUTTI_OUTPUT : TUTTI_INPUT);
        if (tutti_signal_is_real(var) && !fits && rank->wires.slots[n].wire_count + structure->nodes[n].output > 0)
            return tutti_fail(TUTTI_ERR_UNSUPPORTED, "'%s.%s' is connected, and is no %s",
                              rank->units[structure->nodes[n].component]->name, var->name,
                              structure->nodes[n].output ? "output" : "input");
    }
    return TUTTI_OK;
}
