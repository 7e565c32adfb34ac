/* SPDX-License-Identifier: MIT */
/* Connectors of items: nodes, and whether they are what the FMU, or the referenced system, has. */
#include <string.h>

#include "base/suggestion.h"
#include "model/system/flat.h"

/* ---- what a connector says ---- */

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
    /* FMI 1.0 does not tell parameters that can be set from those that are calculated. */
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

/* Is the connector what the variable is? Says what is not. */
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

/* A component says again what connectors the system has that it refers to. */
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
