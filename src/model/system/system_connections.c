/* SPDX-License-Identifier: MIT */
/* The connections of systems, from names to nodes. */
#include <stdarg.h>
#include <stdio.h>

#include "base/suggestion.h"
#include "base/text.h"
#include "model/system/flat.h"

struct written_connection {
    uint32_t system; /* item */
    const struct tt_ssp_connection *connection;
    const struct tt_ssp_end *end;
};

static void connectors_report(struct tt_flat *flat, const struct written_connection *written, const char *nearest,
                              const char *format, ...) TUTTI_PRINTF(4, 5);

static void connectors_report(struct tt_flat *flat, const struct written_connection *written, const char *nearest,
                              const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, tt_flat_item(flat, written->system)->body_file->shown,
                    written->connection->line, "%s%s", text, tt_text_suggest(nearest).text);
}

static void connectors_report_element(struct tt_flat *flat, const struct written_connection *written)
{
    const struct tt_flat_item *system = tt_flat_item(flat, written->system);
    struct tt_text_nearest nearest = {.wanted = written->end->element};
    bool guess = tt_flat_may_suggest(flat);
    for (uint32_t i = 0; guess && i < system->child_count; i++)
        tt_text_nearest_offer(&nearest, tt_flat_item(flat, system->first_child + i)->own_name);
    connectors_report(flat, written, nearest.best,
                      "a connection names the element '%s', which the system '%s' does not have", written->end->element,
                      system->body->name);
}

static void connectors_report_connector(struct tt_flat *flat, const struct written_connection *written, uint32_t owner)
{
    const struct tt_flat_item *item = tt_flat_item(flat, owner);
    const char *name = tt_flat_path(flat, owner, written->end->connector);
    struct tt_text_nearest nearest = {.wanted = written->end->connector};
    bool guess = tt_flat_may_suggest(flat);
    for (uint32_t i = 0; guess && i < item->connector_count; i++)
        tt_text_nearest_offer(&nearest, item->connectors[i].name);
    const struct tt_description *desc =
        item->component == TUTTI_NONE ? NULL : tt_flat_component(flat, item->component)->fmu->desc;
    uint32_t variable = desc ? tt_description_find(desc, written->end->connector) : TUTTI_NONE;
    if (variable != TUTTI_NONE)
        connectors_report(
            flat, written, NULL,
            "a connection names '%s', which is a variable of the FMU, but no connector; add a Connector of kind "
            "\"%s\" to the component",
            name, tt_ssd_kind_name(tt_flat_variable_kind(&desc->vars[variable])));
    else
        connectors_report(flat, written, nearest.best, "a connection names the connector '%s', which is not declared",
                          name);
}

/* The component has no implementation, which is reported already. */
static bool connectors_is_empty(const struct tt_flat_item *item)
{
    return item->element && item->element->kind == TUTTI_SSP_COMPONENT && item->component == TUTTI_NONE &&
           item->table == TUTTI_NONE && !item->body;
}

/* False: there is no such end, which is reported. */
static bool connectors_find_end(struct tt_flat *flat, const struct written_connection *written,
                                struct tt_flat_edge_end *end)
{
    uint32_t owner = written->system;
    if (written->end->element)
        owner = tt_flat_find_child(flat, written->system, written->end->element);
    if (owner == TUTTI_NONE) {
        connectors_report_element(flat, written);
        return false;
    }
    const struct tt_flat_item *item = tt_flat_item(flat, owner);
    uint32_t connector = tt_flat_find_connector(flat, owner, written->end->connector);
    if (connector == TUTTI_NONE && !connectors_is_empty(item))
        connectors_report_connector(flat, written, owner);
    if (connector == TUTTI_NONE || item->nodes[connector] == TUTTI_NONE)
        return false;
    const struct tt_flat_node *node = tt_flat_node(flat, item->nodes[connector]);
    *end = (struct tt_flat_edge_end){
        .node = item->nodes[connector],
        .indices = written->end->indices,
        .index_count = (uint32_t)written->end->index_count,
        .inner = owner == written->system,
        .kind = item->looks ? (uint8_t)item->connectors[connector].kind : node->kind,
        .look = item->looks ? &item->looks[connector] : NULL,
    };
    if (tt_flat_has_element(flat, node, written->end->indices, written->end->index_count))
        return true;
    connectors_report(flat, written, NULL, "a connection gives indices for '%s' that are of no element of it",
                      tt_flat_path(flat, owner, written->end->connector));
    return false;
}

static enum tutti_err connectors_connect(struct tt_flat *flat, uint32_t index,
                                         const struct tt_ssp_connection *connection)
{
    struct written_connection start = {index, connection, &connection->start},
                              end = {index, connection, &connection->end};
    struct tt_flat_edge edge = {
        .transformation = &connection->transformation,
        .suppress = connection->suppress_unit_conversion,
        .file = tt_flat_item(flat, index)->body_file->shown,
        .line = connection->line,
    };
    bool first = connectors_find_end(flat, &start, &edge.from), second = connectors_find_end(flat, &end, &edge.to);
    return first && second ? tt_edges_add(flat, &edge) : TUTTI_OK;
}

enum tutti_err tt_connectors_add_connections(struct tt_flat *flat)
{
    for (uint32_t i = 0; i < flat->items.count; i++) {
        const struct tt_ssp_element *body = tt_flat_item(flat, i)->body;
        for (size_t c = 0; body && c < body->connection_count; c++)
            TRY(connectors_connect(flat, i, &body->connections[c]));
    }
    return TUTTI_OK;
}
