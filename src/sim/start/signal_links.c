/* SPDX-License-Identifier: MIT */
#include "sim/start/signal_links.h"

bool tt_linear_model_is_real(const struct tt_var *var)
{
    return var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS;
}

const struct tt_var *tt_linear_model_variable(const struct tt_structure *structure, uint32_t node)
{
    const struct tt_structure_node *n = &structure->nodes[node];
    return &structure->system->components[n->component].fmu->desc->vars[n->variable];
}

static void visit_wire_links(const struct tt_rank *rank, const struct tt_wire *wire, uint32_t node,
                             tt_linear_model_visit_link *visit, void *context)
{
    const struct tt_structure *structure = &rank->job->structure;
    const struct tt_wires *wires = &rank->wires;
    const struct tt_end *from = &wire->connection->from;
    uint32_t source = tt_structure_find(structure, from->component, from->variable, true);
    if (source == TUTTI_NONE || wire->connection->at_start_only ||
        !tt_linear_model_is_real(tt_linear_model_variable(structure, source)))
        return;
    const double *signals = (const double *)(const void *)wires->signals;
    size_t first = (size_t)((const double *)wires->slots[source].values - signals);
    visit(context, &(struct tt_signal_link){
                       .from = source,
                       .to = node,
                       .from_element = wire->from / sizeof(double) - first,
                       .to_element = (size_t)((const double *)wire->to - (const double *)wires->slots[node].values),
                       .count = wire->count,
                       .factor = wire->conversion->linear ? wire->conversion->factor : 1});
}

void tt_linear_model_each_link(const struct tt_rank *rank, tt_linear_model_visit_link *visit, void *context)
{
    const struct tt_structure *structure = &rank->job->structure;
    const struct tt_wires *wires = &rank->wires;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        const struct tt_slot *slot = &wires->slots[n];
        if (structure->nodes[n].output || !tt_linear_model_is_real(tt_linear_model_variable(structure, n)))
            continue;
        for (uint32_t w = slot->wire_first; w < slot->wire_first + slot->wire_count; w++)
            if (wires->wires[w].conversion->from == TUTTI_TYPE_FLOAT64)
                visit_wire_links(rank, &wires->wires[w], n, visit, context);
    }
}

enum tutti_err tt_linear_model_check_links(const struct tt_rank *rank)
{
    const struct tt_structure *structure = &rank->job->structure;
    for (uint32_t n = 0; n < structure->node_count; n++) {
        const struct tt_var *var = tt_linear_model_variable(structure, n);
        bool fits = var->causality == (structure->nodes[n].output ? TUTTI_OUTPUT : TUTTI_INPUT);
        if (tt_linear_model_is_real(var) && !fits && rank->wires.slots[n].wire_count + structure->nodes[n].output > 0)
            return tt_fail(TUTTI_ERR_UNSUPPORTED, "'%s.%s' is connected, and is no %s",
                           rank->units[structure->nodes[n].component]->name, var->name,
                           structure->nodes[n].output ? "output" : "input");
    }
    return TUTTI_OK;
}
