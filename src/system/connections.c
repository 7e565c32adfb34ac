/* SPDX-License-Identifier: MIT */
/* The connections of systems, from names to nodes. */
#include <stdarg.h>
#include <stdio.h>

#include "base/nearest.h"
#include "base/str.h"
#include "system/flat.h"

struct written {
    uint32_t system; /* item */
    const struct tutti_ssp_connection *connection;
    const struct tutti_ssp_end *end;
};

static void report(struct flat *flat, const struct written *written, const char *nearest, const char *format, ...)
    TUTTI_PRINTF(4, 5);

static void report(struct flat *flat, const struct written *written, const char *nearest, const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, tutti_flat_item(flat, written->system)->body_file->shown,
                       written->connection->line, "%s%s", text, tutti_nearest_hint(nearest).text);
}

static void report_element(struct flat *flat, const struct written *written)
{
    const struct item *system = tutti_flat_item(flat, written->system);
    struct tutti_nearest nearest = {.wanted = written->end->element};
    bool guess = tutti_flat_may_guess(flat);
    for (uint32_t i = 0; guess && i < system->child_count; i++)
        tutti_nearest_offer(&nearest, tutti_flat_item(flat, system->first_child + i)->own_name);
    report(flat, written, nearest.best, "a connection names the element '%s', which the system '%s' does not have",
           written->end->element, system->body->name);
}

static void report_connector(struct flat *flat, const struct written *written, uint32_t owner)
{
    const struct item *item = tutti_flat_item(flat, owner);
    const char *name = tutti_flat_path(flat, owner, written->end->connector);
    struct tutti_nearest nearest = {.wanted = written->end->connector};
    bool guess = tutti_flat_may_guess(flat);
    for (uint32_t i = 0; guess && i < item->connector_count; i++)
        tutti_nearest_offer(&nearest, item->connectors[i].name);
    const struct tutti_desc *desc =
        item->component == TUTTI_NONE ? NULL : tutti_flat_component(flat, item->component)->fmu->desc;
    uint32_t variable = desc ? tutti_desc_find(desc, written->end->connector) : TUTTI_NONE;
    if (variable != TUTTI_NONE)
        report(flat, written, NULL,
               "a connection names '%s', which is a variable of the FMU, but no connector; add a Connector of kind "
               "\"%s\" to the component",
               name, tutti_ssp_kind_name(tutti_flat_variable_kind(&desc->vars[variable])));
    else
        report(flat, written, nearest.best, "a connection names the connector '%s', which is not declared", name);
}

/* The component has no implementation, which is reported already. */
static bool is_empty(const struct item *item)
{
    return item->element && item->element->kind == TUTTI_SSP_COMPONENT && item->component == TUTTI_NONE &&
           item->table == TUTTI_NONE && !item->body;
}

/* False: there is no such end, which is reported. */
static bool find_end(struct flat *flat, const struct written *written, struct edge_end *end)
{
    uint32_t owner = written->system;
    if (written->end->element)
        owner = tutti_flat_child(flat, written->system, written->end->element);
    if (owner == TUTTI_NONE) {
        report_element(flat, written);
        return false;
    }
    const struct item *item = tutti_flat_item(flat, owner);
    uint32_t connector = tutti_flat_connector(flat, owner, written->end->connector);
    if (connector == TUTTI_NONE && !is_empty(item))
        report_connector(flat, written, owner);
    if (connector == TUTTI_NONE || item->nodes[connector] == TUTTI_NONE)
        return false;
    const struct node *node = tutti_flat_node(flat, item->nodes[connector]);
    *end = (struct edge_end){
        .node = item->nodes[connector],
        .indices = written->end->indices,
        .index_count = (uint32_t)written->end->index_count,
        .inner = owner == written->system,
        .kind = item->looks ? (uint8_t)item->connectors[connector].kind : node->kind,
        .look = item->looks ? &item->looks[connector] : NULL,
    };
    if (tutti_flat_has_element(flat, node, written->end->indices, written->end->index_count))
        return true;
    report(flat, written, NULL, "a connection gives indices for '%s' that are of no element of it",
           tutti_flat_path(flat, owner, written->end->connector));
    return false;
}

static enum tutti_err connect(struct flat *flat, uint32_t index, const struct tutti_ssp_connection *connection)
{
    struct written start = {index, connection, &connection->start}, end = {index, connection, &connection->end};
    struct edge edge = {
        .transformation = &connection->transformation,
        .suppress = connection->suppress_unit_conversion,
        .file = tutti_flat_item(flat, index)->body_file->shown,
        .line = connection->line,
    };
    bool first = find_end(flat, &start, &edge.from), second = find_end(flat, &end, &edge.to);
    return first && second ? tutti_edge_add(flat, &edge) : TUTTI_OK;
}

enum tutti_err tutti_connections_add(struct flat *flat)
{
    for (uint32_t i = 0; i < flat->items.count; i++) {
        const struct tutti_ssp_element *body = tutti_flat_item(flat, i)->body;
        for (size_t c = 0; body && c < body->connection_count; c++)
            TRY(connect(flat, i, &body->connections[c]));
    }
    return TUTTI_OK;
}
