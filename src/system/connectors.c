/* SPDX-License-Identifier: MIT */
/* Connectors of items: nodes, and whether they are what the FMU, or the referenced system, has. */
#include <string.h>

#include "base/nearest.h"
#include "system/flat.h"

/* ---- what a connector says ---- */

struct look tutti_connectors_look(struct flat *flat, const struct tutti_ssp_scope *scope,
                                  const struct tutti_ssp_type *type, size_t dimensions)
{
    struct look look = {.typed = type->given,
                        .loose = type->loose,
                        .type = (uint8_t)type->type,
                        .dimensions = (uint8_t)(dimensions < 255 ? dimensions : 255)};
    if (!type->given)
        return look;
    if (type->unit && tutti_type_is_float(type->type)) {
        look.unit = tutti_ssp_unit(scope, type->unit);
        struct tutti_unit_def *undefined = look.unit ? NULL : tutti_arena_alloc(&flat->arena, sizeof *undefined);
        if (undefined) {
            *undefined = (struct tutti_unit_def){.name = type->unit, .factor = 1};
            look.unit = undefined;
        } else if (!look.unit && !flat->err) {
            flat->err = tutti_fail_memory();
        }
    }
    const struct tutti_ssp_enumeration *enumeration =
        type->enumeration ? tutti_ssp_enumeration(scope, type->enumeration) : NULL;
    if (enumeration) {
        look.items = enumeration->items;
        look.item_count = enumeration->item_count;
    }
    return look;
}

/* ---- of FMUs ---- */

static bool kind_fits(enum tutti_ssp_kind kind, const struct tutti_var *var, int fmi)
{
    enum tutti_ssp_kind own = tutti_flat_variable_kind(var);
    if (kind == own || kind == TUTTI_SSP_UNSPECIFIED)
        return true;
    /* By causality alone constants are outputs or locals, too. */
    if (kind == TUTTI_SSP_OUTPUT || kind == TUTTI_SSP_LOCAL)
        return var->causality == (kind == TUTTI_SSP_OUTPUT ? TUTTI_OUTPUT : TUTTI_LOCAL);
    /* FMI 1.0 does not tell parameters that can be set from those that are calculated. */
    return fmi == 1 && kind == TUTTI_SSP_PARAMETER && own == TUTTI_SSP_CALCULATED_PARAMETER;
}

static bool type_fits(const struct tutti_ssp_type *type, enum tutti_type own)
{
    if (!type->given || type->type == own)
        return true;
    if (type->loose && tutti_type_is_float(type->type))
        return tutti_type_is_float(own);
    return type->loose && (tutti_type_is_integer(own) || own == TUTTI_TYPE_ENUMERATION);
}

static bool same_unit(const struct tutti_unit_def *a, const struct tutti_unit_def *b)
{
    if (!a->has_base || !b->has_base)
        return strcmp(a->name, b->name) == 0;
    return memcmp(a->exponents, b->exponents, sizeof a->exponents) == 0 && a->factor == b->factor &&
           a->offset == b->offset;
}

static const char *shown_type(const struct tutti_ssp_type *type)
{
    if (type->loose)
        return tutti_type_is_float(type->type) ? "Real" : "Integer";
    return tutti_type_name(type->type);
}

/* Is the connector what the variable is? Says what is not. */
static bool check_connector(struct flat *flat, uint32_t index, const struct tutti_ssp_connector *connector,
                            const struct tutti_desc *desc, const struct tutti_var *var)
{
    const char *file = tutti_flat_item(flat, index)->file->shown;
    const char *name = tutti_flat_path(flat, index, connector->name);
    if (!kind_fits(connector->kind, var, desc->fmi)) {
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, file, connector->line,
                           "the connector '%s' is of kind %s, but the FMU's variable is of kind %s", name,
                           tutti_ssp_kind_name(connector->kind), tutti_ssp_kind_name(tutti_flat_variable_kind(var)));
        return false;
    }
    if (!type_fits(&connector->type, var->type)) {
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, file, connector->line,
                           "the connector '%s' is of type %s, but the FMU's variable is of type %s", name,
                           shown_type(&connector->type), tutti_type_name(var->type));
        return false;
    }
    if (connector->dimension_count > 0 && connector->dimension_count != var->dimension_count) {
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, file, connector->line,
                           "the connector '%s' has %zu dimension%s, but the FMU's variable has %u", name,
                           connector->dimension_count, connector->dimension_count == 1 ? "" : "s",
                           var->dimension_count);
        return false;
    }
    return true;
}

static enum tutti_err add_fmu_connector(struct flat *flat, uint32_t index, uint32_t c)
{
    const struct item *item = tutti_flat_item(flat, index);
    const struct tutti_ssp_connector *connector = &item->connectors[c];
    const struct tutti_desc *desc = tutti_flat_component(flat, item->component)->fmu->desc;
    uint32_t variable = tutti_desc_find(desc, connector->name);
    if (variable == TUTTI_NONE) {
        const char *nearest = tutti_flat_may_guess(flat) ? tutti_desc_nearest(desc, connector->name) : NULL;
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                           "the connector '%s' is no variable of its FMU%s",
                           tutti_flat_path(flat, index, connector->name), tutti_nearest_hint(nearest).text);
        return TUTTI_OK;
    }
    if (!check_connector(flat, index, connector, desc, &desc->vars[variable]))
        return TUTTI_OK;
    uint32_t added = tutti_flat_add_variable(flat, index, variable);
    if (added == TUTTI_NONE)
        return tutti_fail_memory();
    item->nodes[c] = added;
    struct node *node = tutti_flat_node(flat, added);
    struct look said = tutti_connectors_look(flat, &item->file->ssd->scope, &connector->type, 0);
    node->file = item->file->shown;
    node->line = connector->line;
    if (connector->kind != TUTTI_SSP_UNSPECIFIED)
        node->kind = (uint8_t)connector->kind;
    if (said.unit && node->look.unit && !same_unit(said.unit, node->look.unit))
        tutti_findings_add(flat->findings, TUTTI_FINDING_WARNING, item->file->shown, connector->line,
                           "the connector '%s' has the unit '%s', the FMU's variable '%s', which is not the same; the "
                           "connector's is used",
                           tutti_flat_path(flat, index, connector->name), said.unit->name, node->look.unit->name);
    if (said.unit)
        node->look.unit = said.unit;
    if (said.items && node->look.type == TUTTI_TYPE_ENUMERATION) {
        node->look.items = said.items;
        node->look.item_count = said.item_count;
    }
    return TUTTI_OK;
}

/* ---- of tables ---- */

static enum tutti_err add_table_connector(struct flat *flat, uint32_t index, uint32_t c)
{
    const struct item *item = tutti_flat_item(flat, index);
    const struct tutti_ssp_connector *connector = &item->connectors[c];
    const struct tutti_system_table *table = (const struct tutti_system_table *)flat->tables.items + item->table;
    size_t column = tutti_table_find(table->table, connector->name);
    const char *path = tutti_flat_path(flat, index, connector->name);
    if (connector->kind != TUTTI_SSP_OUTPUT && connector->kind != TUTTI_SSP_UNSPECIFIED) {
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                           "the connector '%s' is of kind %s, but columns of a table are outputs", path,
                           tutti_ssp_kind_name(connector->kind));
        return TUTTI_OK;
    }
    if (column == SIZE_MAX) {
        tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, connector->line,
                           "the connector '%s' is no column of %s", path, table->file);
        return TUTTI_OK;
    }
    struct node *node = tutti_vector_push(&flat->nodes, sizeof *node);
    if (!node)
        return tutti_fail_memory();
    *node = (struct node){
        .name = connector->name,
        .item = index,
        .component = TUTTI_NONE,
        .variable = TUTTI_NONE,
        .column = (uint32_t)column,
        .kind = TUTTI_SSP_OUTPUT,
        .look = tutti_connectors_look(flat, &item->file->ssd->scope, &connector->type, connector->dimension_count),
        .file = item->file->shown,
        .line = connector->line,
    };
    item->nodes[c] = (uint32_t)flat->nodes.count - 1;
    return TUTTI_OK;
}

/* ---- of systems ---- */

static enum tutti_err add_wire(struct flat *flat, uint32_t index, uint32_t c)
{
    const struct item *item = tutti_flat_item(flat, index);
    const struct tutti_ssp_connector *connector = &item->connectors[c];
    struct node *node = tutti_vector_push(&flat->nodes, sizeof *node);
    if (!node)
        return tutti_fail_memory();
    *node = (struct node){
        .name = connector->name,
        .item = index,
        .component = TUTTI_NONE,
        .variable = TUTTI_NONE,
        .column = TUTTI_NONE,
        .kind = (uint8_t)connector->kind,
        .look = tutti_connectors_look(flat, &item->body_file->ssd->scope, &connector->type, connector->dimension_count),
        .file = item->body_file->shown,
        .line = connector->line,
    };
    item->nodes[c] = (uint32_t)flat->nodes.count - 1;
    return TUTTI_OK;
}

/* A component says again what connectors the system has that it refers to. */
static void check_reference(struct flat *flat, uint32_t index)
{
    const struct item *item = tutti_flat_item(flat, index);
    for (size_t i = 0; item->element && item->element != item->body && i < item->element->connector_count; i++) {
        const struct tutti_ssp_connector *said = &item->element->connectors[i];
        uint32_t c = tutti_flat_connector(flat, index, said->name);
        if (c == TUTTI_NONE)
            tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, said->line,
                               "the connector '%s' is no connector of the system in %s",
                               tutti_flat_path(flat, index, said->name), item->body_file->shown);
        else if (said->kind != item->connectors[c].kind && said->kind != TUTTI_SSP_UNSPECIFIED &&
                 item->connectors[c].kind != TUTTI_SSP_UNSPECIFIED)
            tutti_findings_add(flat->findings, TUTTI_FINDING_ERROR, item->file->shown, said->line,
                               "the connector '%s' is of kind %s, but of kind %s at %s:%u",
                               tutti_flat_path(flat, index, said->name), tutti_ssp_kind_name(said->kind),
                               tutti_ssp_kind_name(item->connectors[c].kind), item->body_file->shown,
                               item->connectors[c].line);
    }
}

enum tutti_err tutti_connectors_make(struct flat *flat, uint32_t index)
{
    struct item *item = tutti_flat_item(flat, index);
    const struct tutti_ssp_element *element = item->body ? item->body : item->element;
    if (!element)
        return TUTTI_OK;
    item->connectors = element->connectors;
    item->connector_count = (uint32_t)element->connector_count;
    item->nodes = tutti_arena_array(&flat->arena, item->connector_count, sizeof *item->nodes);
    if (!item->nodes)
        return tutti_fail_memory();
    memset(item->nodes, 0xff, item->connector_count * sizeof *item->nodes);
    if (element->kind == TUTTI_SSP_DICTIONARY_REFERENCE)
        return tutti_dictionaries_refer(flat, index);
    for (uint32_t c = 0; c < item->connector_count; c++) {
        if (item->body)
            TRY(add_wire(flat, index, c));
        else if (item->component != TUTTI_NONE)
            TRY(add_fmu_connector(flat, index, c));
        else if (item->table != TUTTI_NONE)
            TRY(add_table_connector(flat, index, c));
    }
    if (item->body)
        check_reference(flat, index);
    return tutti_flat_check_size(flat);
}
