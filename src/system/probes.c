/* SPDX-License-Identifier: MIT */
/* Connectors of systems that are to be recorded: what an FMU gives, as it passes them; or, where values come from outside, what
 * an FMU was given, and back along the connections. */
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "system/flat.h"

static bool is_wanted(const struct flat *flat, const char *name)
{
    for (size_t i = 0; i < flat->source->record_count; i++)
        if (tutti_str_glob(flat->source->record[i], name))
            return true;
    return false;
}

/* Outputs of the root are among system->outputs. */
static bool is_connector(const struct node *node)
{
    return node->component == TUTTI_NONE && !node->entry && !(node->item == 0 && node->edge_count > 0);
}

/* "inner.x[1,2]" */
static void append_name(struct tutti_text *name, struct flat *flat, const struct node *node,
                        const struct tutti_indices *element)
{
    tutti_text_append(name, tutti_flat_path(flat, node->item, node->name));
    for (unsigned i = 0; element && i < element->count; i++)
        tutti_text_printf(name, "%c%llu", i ? ',' : '[', (unsigned long long)element->index[i]);
    if (element && element->count > 0)
        tutti_text_append(name, "]");
}

static enum tutti_err add(struct flat *flat, struct tutti_vector *list, const struct node *node,
                          const struct tutti_indices *element, const struct tutti_unit_def *unit,
                          const struct tutti_probe *given)
{
    struct tutti_probe probe = *given;
    struct tutti_text name = {0};
    append_name(&name, flat, node, element);
    bool failed = name.failed, wanted = !failed && is_wanted(flat, name.text);
    probe.name = wanted ? tutti_arena_text(&flat->system->arena, name.text, name.length) : NULL;
    tutti_text_fini(&name);
    if (failed || (wanted && !probe.name))
        return tutti_fail_memory();
    if (!wanted)
        return TUTTI_OK;
    TRY(tutti_arrivals_keep_unit(flat, unit, &probe.unit));
    struct tutti_probe *place = tutti_vector_push(list, sizeof *place);
    if (!place)
        return tutti_fail_memory();
    *place = probe;
    return tutti_flat_check_size(flat);
}

/* ---- what comes from an FMU ---- */

static enum tutti_err show_feed(struct flat *flat, struct tutti_vector *list, const struct node *node,
                                const struct feed *feed)
{
    const struct node *from = tutti_flat_node(flat, feed->node);
    struct tutti_probe probe = {.from = {from->component, from->variable, {0}}};
    if (feed->from)
        probe.from.element = *feed->from;
    TRY(tutti_flow_conversion(&feed->flow, from->look.type, feed->flow.look.type, &flat->system->arena,
                              &probe.conversion));
    return add(flat, list, node, feed->to, feed->flow.look.unit, &probe);
}

/* ---- what goes to an FMU ---- */

/* Per node the edge by which its values come to a variable of an FMU, by the shortest way; TUTTI_NONE: there is none. */
static enum tutti_err find_ways(const struct flat *flat, uint32_t **out)
{
    size_t count = flat->nodes.count, begin = 0, end = 0;
    uint32_t *ways = malloc((count + 1) * sizeof *ways), *queue = malloc((count + 1) * sizeof *queue);
    *out = ways;
    if (!ways || !queue) {
        free(queue);
        return tutti_fail_memory();
    }
    memset(ways, 0xff, count * sizeof *ways);
    for (uint32_t i = 0; i < count; i++)
        if (tutti_flat_node(flat, i)->component != TUTTI_NONE)
            queue[end++] = i;
    while (begin < end) {
        const struct node *node = tutti_flat_node(flat, queue[begin++]);
        for (uint32_t i = node->first_edge; i < node->first_edge + node->edge_count; i++) {
            const struct edge *edge = tutti_flat_edge(flat, i);
            bool wire = tutti_flat_node(flat, edge->from.node)->component == TUTTI_NONE;
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

/* From the FMU's value back to the connector's. */
static enum tutti_err invert(struct flat *flat, const struct flow *flow, enum tutti_type from, enum tutti_type to,
                             const struct tutti_conversion **out)
{
    struct flow back = {0};
    if (flow->linear) {
        back.linear = true;
        back.factor = 1 / flow->factor;
        back.offset = -flow->offset / flow->factor;
    }
    return tutti_flow_conversion(&back, from, to, &flat->system->arena, out);
}

static enum tutti_err show_destination(struct flat *flat, struct tutti_vector *list, uint32_t index,
                                       const uint32_t *ways)
{
    const struct node *node = tutti_flat_node(flat, index), *to = node;
    struct flow flow = {.look = node->look, .lossy = flat->convert};
    while (to->component == TUTTI_NONE) {
        uint32_t way = ways[to - tutti_flat_node(flat, 0)];
        if (way == TUTTI_NONE)
            return TUTTI_OK;
        const struct edge *edge = tutti_flat_edge(flat, way);
        bool unknown = false;
        to = tutti_flat_node(flat, edge->to.node);
        enum tutti_err err = tutti_flow_pass(&flow, edge->from.look, edge->to.look ? edge->to.look : &to->look,
                                             &to->look, edge->suppress, edge->transformation, &flat->system->arena,
                                             &unknown);
        if (err)
            return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK; /* which is reported where feeds are made */
    }
    enum tutti_type type = node->look.typed ? (enum tutti_type)node->look.type : (enum tutti_type)to->look.type;
    bool back = tutti_conversion_possible(to->look.type, type) || tutti_conversion_rounds(to->look.type, type);
    if (flow.maps || (flow.linear && flow.factor == 0) || flow.rounded || !back)
        return TUTTI_OK;
    struct tutti_probe probe = {.from = {to->component, to->variable, {0}}};
    TRY(invert(flat, &flow, to->look.type, type, &probe.conversion));
    return add(flat, list, node, NULL, node->look.unit || flow.linear ? node->look.unit : to->look.unit, &probe);
}

/* ---- all of them ---- */

/* Is the place a sum of what several connections bring? Then no variable of an FMU shows its value. */
static bool is_sum(const struct flat *flat, const struct node *node)
{
    for (size_t f = 0; f < node->feed_count; f++) {
        const struct feed *feed = (const struct feed *)flat->feeds.items + node->first_feed + f;
        if (tutti_flat_edge(flat, feed->edge)->adds || (f > 0 && tutti_indices_compare(feed[-1].to, feed->to) == 0))
            return true;
    }
    return false;
}

static enum tutti_err show(struct flat *flat, struct tutti_vector *list, uint32_t index, const uint32_t *ways)
{
    const struct node *node = tutti_flat_node(flat, index);
    bool fed = false;
    if (is_sum(flat, node))
        return TUTTI_OK;
    for (size_t f = 0; f < node->feed_count; f++) {
        const struct feed *feed = (const struct feed *)flat->feeds.items + node->first_feed + f;
        if (tutti_flat_node(flat, feed->node)->component == TUTTI_NONE)
            continue;
        fed = true;
        TRY(show_feed(flat, list, node, feed));
    }
    return fed ? TUTTI_OK : show_destination(flat, list, index, ways);
}

static enum tutti_err keep(struct tutti_system *system, const struct tutti_vector *list)
{
    system->probes = tutti_arena_array(&system->arena, list->count, sizeof *system->probes);
    if (!system->probes)
        return tutti_fail_memory();
    if (list->count > 0)
        memcpy(system->probes, list->items, list->count * sizeof *system->probes);
    system->probe_count = (uint32_t)list->count;
    return TUTTI_OK;
}

enum tutti_err tutti_probes_make(struct flat *flat)
{
    struct tutti_vector list = {0};
    uint32_t *ways = NULL;
    if (flat->source->record_count == 0)
        return TUTTI_OK;
    enum tutti_err err = find_ways(flat, &ways);
    for (uint32_t i = 0; i < flat->nodes.count && !err; i++)
        if (is_connector(tutti_flat_node(flat, i)))
            err = show(flat, &list, i, ways);
    if (!err)
        err = keep(flat->system, &list);
    free(ways);
    tutti_vector_fini(&list);
    return err;
}
