/* SPDX-License-Identifier: MIT */
/* Connectors of items: nodes, and whether they are what the FMU, or the referenced system, has. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "model/system/flat.h"

/* ---- properties of a connector ---- */

struct tt_signal_spec tt_connectors_signal_spec(struct tt_flat *flat, const struct tt_ssp_scope *scope,
                                                const struct tt_ssp_type *type, size_t dimensions)
{
    struct tt_signal_spec look = {.typed = type->given,
                                  .loose = type->loose,
                                  .type = (uint8_t)type->type,
                                  .dimensions = (uint8_t)(dimensions < 255 ? dimensions : 255)};
    if (!type->given)
        return look;
    if (type->unit && tt_type_is_float(type->type)) {
        look.unit = tt_ssp_reader_find_unit(scope, type->unit);
        struct tt_unit_def *undefined = look.unit ? NULL : tt_arena_alloc(&flat->arena, sizeof *undefined);
        if (undefined) {
            *undefined = (struct tt_unit_def){.name = type->unit, .factor = 1};
            look.unit = undefined;
        } else if (!look.unit && !flat->err) {
            flat->err = tt_fail_memory();
        }
    }
    const struct tt_ssp_enumeration *enumeration = type->enumeration ? tt_ssp_reader_find_enum(scope, type->enumeration)
                                                                     : NULL;
    if (enumeration) {
        look.items = enumeration->items;
        look.item_count = enumeration->item_count;
    }
    return look;
}

/* ---- of FMUs ---- */

static bool connectors_kind_fits(enum tt_ssp_kind kind, const struct tt_var *var, int fmi)
{
    enum tt_ssp_kind own = tt_flat_variable_kind(var);
    if (kind == own || kind == TUTTI_SSP_UNSPECIFIED)
        return true;
    /* By causality alone constants are outputs or locals, too. */
    if (kind == TUTTI_SSP_OUTPUT || kind == TUTTI_SSP_LOCAL)
        return var->causality == (kind == TUTTI_SSP_OUTPUT ? TUTTI_OUTPUT : TUTTI_LOCAL);
    /* FMI 1.0 does not distinguish settable parameters from calculated ones. */
    return fmi == 1 && kind == TUTTI_SSP_PARAMETER && own == TUTTI_SSP_CALCULATED_PARAMETER;
}

static bool connectors_type_fits(const struct tt_ssp_type *type, enum tt_type own)
{
    if (!type->given || type->type == own)
        return true;
    if (type->loose && tt_type_is_float(type->type))
        return tt_type_is_float(own);
    return type->loose && (tt_type_is_integer(own) || own == TUTTI_TYPE_ENUMERATION);
}

static bool connectors_same_unit(const struct tt_unit_def *a, const struct tt_unit_def *b)
{
    if (!a->has_base || !b->has_base)
        return strcmp(a->name, b->name) == 0;
    return memcmp(a->exponents, b->exponents, sizeof a->exponents) == 0 && a->factor == b->factor &&
           a->offset == b->offset;
}

static const char *shown_type(const struct tt_ssp_type *type)
{
    if (type->loose)
        return tt_type_is_float(type->type) ? "Real" : "Integer";
    return tt_type_name(type->type);
}

/* Compares a connector with its variable and reports differences. */
static bool connectors_check(struct tt_flat *flat, uint32_t index, const struct tt_ssp_connector *connector,
                             const struct tt_description *desc, const struct tt_var *var)
{
    const char *file = tt_flat_item(flat, index)->file->shown;
    const char *name = tt_flat_path(flat, index, connector->name);
    if (!connectors_kind_fits(connector->kind, var, desc->fmi)) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, file, connector->line,
                        "the connector '%s' is of kind %s, but the FMU's variable is of kind %s", name,
                        tt_ssd_kind_name(connector->kind), tt_ssd_kind_name(tt_flat_variable_kind(var)));
        return false;
    }
    if (!connectors_type_fits(&connector->type, var->type)) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, file, connector->line,
                        "the connector '%s' is of type %s, but the FMU's variable is of type %s", name,
                        shown_type(&connector->type), tt_type_name(var->type));
        return false;
    }
    if (connector->dimension_count > 0 && connector->dimension_count != var->dimension_count) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, file, connector->line,
                        "the connector '%s' has %zu dimension%s, but the FMU's variable has %u", name,
                        connector->dimension_count, connector->dimension_count == 1 ? "" : "s", var->dimension_count);
        return false;
    }
    return true;
}

static enum tutti_err add_fmu_connector(struct tt_flat *flat, uint32_t index, uint32_t c)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_connector *connector = &item->connectors[c];
    const struct tt_description *desc = tt_flat_component(flat, item->component)->fmu->desc;
    uint32_t variable = tt_description_find(desc, connector->name);
    if (variable == TUTTI_NONE) {
        const char *nearest = tt_flat_may_suggest(flat) ? tt_description_nearest(desc, connector->name) : NULL;
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                        "the connector '%s' is no variable of its FMU%s", tt_flat_path(flat, index, connector->name),
                        tt_text_suggest(nearest).text);
        return TUTTI_OK;
    }
    if (!connectors_check(flat, index, connector, desc, &desc->vars[variable]))
        return TUTTI_OK;
    uint32_t added = tt_flat_add_variable(flat, index, variable);
    if (added == TUTTI_NONE)
        return tt_fail_memory();
    item->nodes[c] = added;
    struct tt_flat_node *node = tt_flat_node(flat, added);
    struct tt_signal_spec said = tt_connectors_signal_spec(flat, &item->file->ssd->scope, &connector->type, 0);
    node->file = item->file->shown;
    node->line = connector->line;
    if (connector->kind != TUTTI_SSP_UNSPECIFIED)
        node->kind = (uint8_t)connector->kind;
    if (said.unit && node->look.unit && !connectors_same_unit(said.unit, node->look.unit))
        tt_findings_add(flat->findings, TUTTI_FINDING_WARNING, item->file->shown, connector->line,
                        "the connector '%s' has the unit '%s', the FMU's variable '%s', which is not the same; the "
                        "connector's is used",
                        tt_flat_path(flat, index, connector->name), said.unit->name, node->look.unit->name);
    if (said.unit)
        node->look.unit = said.unit;
    if (said.items && node->look.type == TUTTI_TYPE_ENUMERATION) {
        node->look.items = said.items;
        node->look.item_count = said.item_count;
    }
    return TUTTI_OK;
}

/* ---- of tables ---- */

static enum tutti_err add_table_connector(struct tt_flat *flat, uint32_t index, uint32_t c)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_connector *connector = &item->connectors[c];
    const struct tt_system_table *table = (const struct tt_system_table *)flat->tables.items + item->table;
    size_t column = tt_csv_table_find(table->table, connector->name);
    const char *path = tt_flat_path(flat, index, connector->name);
    if (connector->kind != TUTTI_SSP_OUTPUT && connector->kind != TUTTI_SSP_UNSPECIFIED) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                        "the connector '%s' is of kind %s, but columns of a table are outputs", path,
                        tt_ssd_kind_name(connector->kind));
        return TUTTI_OK;
    }
    if (column == SIZE_MAX) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                        "the connector '%s' is no column of %s", path, table->file);
        return TUTTI_OK;
    }
    struct tt_flat_node *node = tt_vector_push(&flat->nodes, sizeof *node);
    if (!node)
        return tt_fail_memory();
    *node = (struct tt_flat_node){
        .name = connector->name,
        .item = index,
        .component = TUTTI_NONE,
        .variable = TUTTI_NONE,
        .column = (uint32_t)column,
        .kind = TUTTI_SSP_OUTPUT,
        .look = tt_connectors_signal_spec(flat, &item->file->ssd->scope, &connector->type, connector->dimension_count),
        .file = item->file->shown,
        .line = connector->line,
    };
    item->nodes[c] = (uint32_t)flat->nodes.count - 1;
    return TUTTI_OK;
}

/* ---- of systems ---- */

static enum tutti_err connectors_add_wire(struct tt_flat *flat, uint32_t index, uint32_t c)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_connector *connector = &item->connectors[c];
    struct tt_flat_node *node = tt_vector_push(&flat->nodes, sizeof *node);
    if (!node)
        return tt_fail_memory();
    *node = (struct tt_flat_node){
        .name = connector->name,
        .item = index,
        .component = TUTTI_NONE,
        .variable = TUTTI_NONE,
        .column = TUTTI_NONE,
        .kind = (uint8_t)connector->kind,
        .look =
            tt_connectors_signal_spec(flat, &item->body_file->ssd->scope, &connector->type, connector->dimension_count),
        .file = item->body_file->shown,
        .line = connector->line,
    };
    item->nodes[c] = (uint32_t)flat->nodes.count - 1;
    return TUTTI_OK;
}

/* A component repeats the connectors of the system that it refers to. */
static void connectors_check_reference(struct tt_flat *flat, uint32_t index)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    for (size_t i = 0; item->element && item->element != item->body && i < item->element->connector_count; i++) {
        const struct tt_ssp_connector *said = &item->element->connectors[i];
        uint32_t c = tt_flat_find_connector(flat, index, said->name);
        if (c == TUTTI_NONE)
            tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, said->line,
                            "the connector '%s' is no connector of the system in %s",
                            tt_flat_path(flat, index, said->name), item->body_file->shown);
        else if (said->kind != item->connectors[c].kind && said->kind != TUTTI_SSP_UNSPECIFIED &&
                 item->connectors[c].kind != TUTTI_SSP_UNSPECIFIED)
            tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, said->line,
                            "the connector '%s' is of kind %s, but of kind %s at %s:%u",
                            tt_flat_path(flat, index, said->name), tt_ssd_kind_name(said->kind),
                            tt_ssd_kind_name(item->connectors[c].kind), item->body_file->shown,
                            item->connectors[c].line);
    }
}

enum tutti_err tt_connectors_build(struct tt_flat *flat, uint32_t index)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_element *element = item->body ? item->body : item->element;
    if (!element)
        return TUTTI_OK;
    item->connectors = element->connectors;
    item->connector_count = (uint32_t)element->connector_count;
    item->nodes = tt_arena_array(&flat->arena, item->connector_count, sizeof *item->nodes);
    if (!item->nodes)
        return tt_fail_memory();
    memset(item->nodes, 0xff, item->connector_count * sizeof *item->nodes);
    if (element->kind == TUTTI_SSP_DICTIONARY_REFERENCE)
        return tt_connectors_bind_dictionary(flat, index);
    for (uint32_t c = 0; c < item->connector_count; c++) {
        if (item->body)
            TRY(connectors_add_wire(flat, index, c));
        else if (item->component != TUTTI_NONE)
            TRY(add_fmu_connector(flat, index, c));
        else if (item->table != TUTTI_NONE)
            TRY(add_table_connector(flat, index, c));
    }
    if (item->body)
        connectors_check_reference(flat, index);
    return tt_flat_check_size(flat);
}

/* Signal dictionaries: wires that any system below their own can reach. */

enum tutti_err tt_connectors_add_dictionaries(struct tt_flat *flat, uint32_t index)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    item->first_dictionary = (uint32_t)flat->dictionaries.count;
    for (size_t i = 0; i < item->body->dictionary_count; i++) {
        struct tt_flat_dictionary *dictionary = tt_vector_push(&flat->dictionaries, sizeof *dictionary);
        if (!dictionary)
            return tt_fail_memory();
        dictionary->item = index;
        dictionary->declaration = &item->body->dictionaries[i];
        TRY(tt_map_add(&item->dictionaries_by_name, dictionary->declaration->name, (int64_t)i, NULL));
    }
    return TUTTI_OK;
}

/* Finds the innermost dictionary of that name around an item; NULL if there is none. */
static struct tt_flat_dictionary *connectors_find_dictionary(struct tt_flat *flat, uint32_t index, const char *name)
{
    do {
        index = tt_flat_item(flat, index)->parent;
        const struct tt_flat_item *item = tt_flat_item(flat, index);
        int64_t found = tt_map_find(&item->dictionaries_by_name, name);
        if (found != TUTTI_MAP_NONE)
            return (struct tt_flat_dictionary *)flat->dictionaries.items + item->first_dictionary + found;
    } while (index != 0);
    return NULL;
}

static enum tutti_err connectors_add_entries(struct tt_flat *flat, struct tt_flat_dictionary *dictionary)
{
    const struct tt_ssb *ssb = dictionary->entries;
    const char *owner = dictionary->declaration->name;
    dictionary->first_node = (uint32_t)flat->nodes.count;
    for (size_t i = 0; i < ssb->count; i++) {
        const struct tt_ssp_entry *entry = &ssb->entries[i];
        struct tt_flat_node *node = tt_vector_push(&flat->nodes, sizeof *node);
        char *name = tt_arena_alloc(&flat->arena, strlen(owner) + strlen(entry->name) + 2);
        if (!node || !name)
            return tt_fail_memory();
        stpcpy(stpcpy(stpcpy(name, owner), "."), entry->name);
        *node = (struct tt_flat_node){
            .name = name,
            .item = dictionary->item,
            .component = TUTTI_NONE,
            .variable = TUTTI_NONE,
            .column = TUTTI_NONE,
            .entry = true,
            .kind = TUTTI_SSP_INOUT,
            .look = tt_connectors_signal_spec(flat, &ssb->scope, &entry->type, entry->dimension_count),
            .file = ssb->scope.file,
            .line = entry->line,
        };
        TRY(tt_map_add(&dictionary->names, entry->name, (int64_t)i, NULL));
    }
    return tt_flat_check_size(flat);
}

/* Reads it when something refers to it for the first time. */
static enum tutti_err open_dictionary(struct tt_flat *flat, struct tt_flat_dictionary *dictionary)
{
    const struct tt_ssp_dictionary *declaration = dictionary->declaration;
    struct tt_flat_file *base = tt_flat_item(flat, dictionary->item)->body_file, *file;
    if (dictionary->entries)
        return TUTTI_OK;
    if (declaration->type && strcmp(declaration->type, "application/x-ssp-signal-dictionary") != 0) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, base->shown, declaration->line,
                        "the signal dictionary '%s' has the type \"%s\", which is not supported; what is: "
                        "application/x-ssp-signal-dictionary",
                        declaration->name, tt_text_excerpt(declaration->type).text);
        return TUTTI_OK;
    }
    dictionary->entries = declaration->inline_entries;
    if (!dictionary->entries && declaration->source) {
        enum tutti_err err = tt_model_files_open_document(flat, base, declaration->source, DOCUMENT_SSB, &file);
        if (err)
            return tt_fail_context(err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err, "%s:%u: signal dictionary '%s'",
                                   base->shown, declaration->line, declaration->name);
        dictionary->entries = file->ssb;
    }
    return dictionary->entries ? connectors_add_entries(flat, dictionary) : TUTTI_OK;
}

static enum tutti_err bind_dictionary_entry(struct tt_flat *flat, uint32_t index, uint32_t c,
                                            struct tt_signal_spec *looks, const struct tt_flat_dictionary *dictionary)
{
    const struct tt_flat_item *item = tt_flat_item(flat, index);
    const struct tt_ssp_connector *connector = &item->connectors[c];
    int64_t entry = tt_map_find(&dictionary->names, connector->name);
    if (entry == TUTTI_MAP_NONE) {
        struct tt_text_nearest nearest = {.wanted = connector->name};
        bool guess = dictionary->entries && tt_flat_may_suggest(flat);
        for (size_t i = 0; guess && i < dictionary->entries->count; i++)
            tt_text_nearest_offer(&nearest, dictionary->entries->entries[i].name);
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                        "the connector '%s' is no entry of the signal dictionary '%s'%s",
                        tt_flat_path(flat, index, connector->name), dictionary->declaration->name,
                        tt_text_suggest(nearest.best).text);
        return TUTTI_OK;
    }
    item->nodes[c] = dictionary->first_node + (uint32_t)entry;
    const struct tt_flat_node *node = tt_flat_node(flat, item->nodes[c]);
    looks[c] = connector->type.given ? tt_connectors_signal_spec(flat, &item->file->ssd->scope, &connector->type,
                                                                 connector->dimension_count)
                                     : node->look;
    if (node->look.typed && !tt_conversion_is_possible(looks[c].type, node->look.type) &&
        !tt_conversion_is_possible(node->look.type, looks[c].type))
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                        "the connector '%s' is of type %s, but the entry of the signal dictionary is of type %s",
                        tt_flat_path(flat, index, connector->name), tt_type_name(looks[c].type),
                        tt_type_name(node->look.type));
    return TUTTI_OK;
}

enum tutti_err tt_connectors_bind_dictionary(struct tt_flat *flat, uint32_t index)
{
    struct tt_flat_item *item = tt_flat_item(flat, index);
    struct tt_flat_dictionary *dictionary = connectors_find_dictionary(flat, index, item->element->dictionary);
    if (!dictionary) {
        tt_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, item->element->line,
                        "'%s' refers to the signal dictionary '%s', which neither its system nor one around it has",
                        item->name, item->element->dictionary);
        return TUTTI_OK;
    }
    TRY(open_dictionary(flat, dictionary));
    struct tt_signal_spec *looks = tt_arena_array(&flat->arena, item->connector_count, sizeof *looks);
    if (!looks)
        return tt_fail_memory();
    item->looks = looks;
    for (uint32_t c = 0; c < item->connector_count; c++)
        TRY(bind_dictionary_entry(flat, index, c, looks, dictionary));
    return TUTTI_OK;
}

/* The connections of systems, from names to nodes. */

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

/* False: the end does not exist, which is reported. */
static bool connectors_find_end(struct tt_flat *flat, const struct written_connection *written,
                                struct tt_flat_edge_end *end)
{
    uint32_t owner = written->system;
    if (written->end->element)
        owner = tt_flat_find_child(flat, written->system, written->end->element);
    if (owner == TUTTI_NONE) {
        const struct tt_flat_item *system = tt_flat_item(flat, written->system);
        struct tt_text_nearest nearest = {.wanted = written->end->element};
        bool guess = tt_flat_may_suggest(flat);
        for (uint32_t i = 0; guess && i < system->child_count; i++)
            tt_text_nearest_offer(&nearest, tt_flat_item(flat, system->first_child + i)->own_name);
        connectors_report(flat, written, nearest.best,
                          "a connection names the element '%s', which the system '%s' does not have",
                          written->end->element, system->body->name);
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
