/* SPDX-License-Identifier: MIT */
/* Connectors of systems that are to be recorded: what an FMU gives, as it passes them; or, where values come from outside, what
 * an FMU was given, and back along the connections. */
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "model/system/flat.h"

static enum tutti_err probes_add(struct tt_flat *flat, struct tt_vector *list, const struct tt_flat_node *node,
                                 const struct tt_indices *element, const struct tt_unit_def *unit,
                                 const struct tt_probe *given)
{
    struct tt_probe probe = *given;
    struct tt_text name = {0};

    /* "inner.x[1,2]" */
    tt_text_append(&name, tt_flat_path(flat, node->item, node->name));
    for (unsigned i = 0; element && i < element->count; i++)
        tt_text_printf(&name, "%c%llu", i ? ',' : '[', (unsigned long long)element->index[i]);
    if (element && element->count > 0)
        tt_text_append(&name, "]");

    bool failed = name.failed, wanted = false;
    for (size_t i = 0; i < flat->source->record_count && !failed && !wanted; i++)
        wanted = tt_text_glob(flat->source->record[i], name.text);
    probe.name = wanted ? tt_arena_copy_text(&flat->system->arena, name.text, name.length) : NULL;
    tt_text_fini(&name);
    if (failed || (wanted && !probe.name))
        return tt_fail_memory();
    if (!wanted)
        return TUTTI_OK;
    TRY(tt_wiring_copy_unit(flat, unit, &probe.unit));
    struct tt_probe *place = tt_vector_push(list, sizeof *place);
    if (!place)
        return tt_fail_memory();
    *place = probe;
    return tt_flat_check_size(flat);
}

/* ---- what comes from an FMU ---- */

/* ---- what goes to an FMU ---- */

/* Finds for each node the edge by which its values reach a variable of an FMU soonest; TUTTI_NONE if they do not. */
static enum tutti_err find_probe_paths(const struct tt_flat *flat, uint32_t **out)
{
    size_t count = flat->nodes.count, begin = 0, end = 0;
    uint32_t *ways = malloc((count + 1) * sizeof *ways), *queue = malloc((count + 1) * sizeof *queue);
    *out = ways;
    if (!ways || !queue) {
        free(queue);
        return tt_fail_memory();
    }
    memset(ways, 0xff, count * sizeof *ways);
    for (uint32_t i = 0; i < count; i++)
        if (tt_flat_node(flat, i)->component != TUTTI_NONE)
            queue[end++] = i;
    while (begin < end) {
        const struct tt_flat_node *node = tt_flat_node(flat, queue[begin++]);
        for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
            const struct tt_flat_edge *edge = tt_flat_edge(flat, i);
            bool wire = tt_flat_node(flat, edge->from.node)->component == TUTTI_NONE;
            if (edge->reported || edge->adds || !wire || edge->from.index_count || edge->to.index_count ||
                ways[edge->from.node] != TUTTI_NONE)
                continue;
            ways[edge->from.node] = i;
            queue[end++] = edge->from.node;
        }
    }
    free(queue);
    return TUTTI_OK;
}

static enum tutti_err probes_add_destination(struct tt_flat *flat, struct tt_vector *list, uint32_t index,
                                             const uint32_t *ways)
{
    const struct tt_flat_node *node = tt_flat_node(flat, index), *to = node;
    struct tt_flow flow = {.look = node->look, .lossy = flat->convert};
    while (to->component == TUTTI_NONE) {
        uint32_t way = ways[to - tt_flat_node(flat, 0)];
        if (way == TUTTI_NONE)
            return TUTTI_OK;
        const struct tt_flat_edge *edge = tt_flat_edge(flat, way);
        bool unknown = false;
        to = tt_flat_node(flat, edge->to.node);
        enum tutti_err err = tt_flow_apply(&flow, edge->from.look, edge->to.look ? edge->to.look : &to->look, &to->look,
                                           edge->suppress, edge->transformation, &flat->system->arena, &unknown);
        if (err)
            return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK; /* which is reported where feeds are made */
    }
    enum tt_type type = node->look.typed ? (enum tt_type)node->look.type : (enum tt_type)to->look.type;
    bool back = tt_conversion_is_possible(to->look.type, type) || tt_conversion_rounds(to->look.type, type);
    if (flow.maps || (flow.linear && flow.factor == 0) || flow.rounded || !back)
        return TUTTI_OK;
    struct tt_probe probe = {.from = {to->component, to->variable, {0}}};

    /* From the FMU's value back to the connector's. */
    struct tt_flow inverse = {0};
    if (flow.linear) {
        inverse.linear = true;
        inverse.factor = 1 / flow.factor;
        inverse.offset = -flow.offset / flow.factor;
    }
    TRY(tt_flow_make_conversion(&inverse, to->look.type, type, &flat->system->arena, &probe.conversion));
    return probes_add(flat, list, node, NULL, node->look.unit || flow.linear ? node->look.unit : to->look.unit, &probe);
}

/* ---- all of them ---- */

/* Returns true if the place is the sum of several connections. Then no variable of an FMU has its value. */
static bool is_sum_node(const struct tt_flat *flat, const struct tt_flat_node *node)
{
    for (size_t f = 0; f < node->feed_count; f++) {
        const struct tt_flat_feed *feed = (const struct tt_flat_feed *)flat->feeds.items + node->first_feed + f;
        if (tt_flat_edge(flat, feed->edge)->adds || (f > 0 && tt_setting_compare_indices(feed[-1].to, feed->to) == 0))
            return true;
    }
    return false;
}

static enum tutti_err probes_add_connector(struct tt_flat *flat, struct tt_vector *list, uint32_t index,
                                           const uint32_t *ways)
{
    const struct tt_flat_node *node = tt_flat_node(flat, index);
    bool fed = false;
    if (is_sum_node(flat, node))
        return TUTTI_OK;
    for (size_t f = 0; f < node->feed_count; f++) {
        const struct tt_flat_feed *feed = (const struct tt_flat_feed *)flat->feeds.items + node->first_feed + f;
        const struct tt_flat_node *from = tt_flat_node(flat, feed->node);
        if (from->component == TUTTI_NONE)
            continue;
        fed = true;
        struct tt_probe probe = {.from = {from->component, from->variable, {0}}};
        if (feed->from)
            probe.from.element = *feed->from;
        TRY(tt_flow_make_conversion(&feed->flow, from->look.type, feed->flow.look.type, &flat->system->arena,
                                    &probe.conversion));
        TRY(probes_add(flat, list, node, feed->to, feed->flow.look.unit, &probe));
    }
    return fed ? TUTTI_OK : probes_add_destination(flat, list, index, ways);
}

enum tutti_err tt_probes_build(struct tt_flat *flat)
{
    struct tt_vector list = {0};
    uint32_t *ways = NULL;
    if (flat->source->record_count == 0)
        return TUTTI_OK;
    enum tutti_err err = find_probe_paths(flat, &ways);
    for (uint32_t i = 0; i < flat->nodes.count && !err; i++) {
        const struct tt_flat_node *node = tt_flat_node(flat, i);
        bool root_output = node->item == 0 && node->edge_count > 0; /* is among system->outputs */
        if (node->component == TUTTI_NONE && !node->entry && !root_output)
            err = probes_add_connector(flat, &list, i, ways);
    }
    if (!err) {
        struct tt_system *system = flat->system;
        system->probes = tt_arena_array(&system->arena, list.count, sizeof *system->probes);
        system->probe_count = system->probes ? (uint32_t)list.count : 0;
        if (!system->probes)
            err = tt_fail_memory();
        else if (list.count > 0)
            memcpy(system->probes, list.items, list.count * sizeof *system->probes);
    }
    free(ways);
    tt_vector_fini(&list);
    return err;
}
