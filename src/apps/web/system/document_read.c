/* SPDX-License-Identifier: MIT */
#include "apps/web/system/document_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/describe/info.h"
#include "apps/describe/json.h"
#include "apps/web/system/parameter_changes.h"
#include "base/number.h"
#include "fmu/fmu.h"
#include "model/system/system.h"

struct document_reader {
    const struct tt_system_draft *draft;
    struct tt_system *system;         /* for values; NULL: it cannot be loaded */
    struct tt_parameter_changes fmus; /* that were opened */
};

/* ---- small parts ---- */

bool tt_document_read_node_number(const struct tt_tree_node *node, const char *name, double *value)
{
    const char *text = node ? tt_tree_find_attribute(node, name) : NULL;
    return text && tt_number_read_double(text, strlen(text), value);
}

static void document_read_set_text(json_t **json, const char *key, const char *text)
{
    if (text)
        tt_json_set(json, key, tt_json_text(text));
}

static void set_node_number(json_t **json, const char *key, const struct tt_tree_node *node)
{
    double value;
    if (tt_document_read_node_number(node, key, &value))
        tt_json_set(json, key, tt_json_number(value));
}

static void set_box(json_t **json, const struct tt_tree_node *node)
{
    const struct tt_tree_node *geometry = tt_tree_find_child(node, TUTTI_SPACE_SSD, "ElementGeometry");
    set_node_number(json, "x1", geometry);
    set_node_number(json, "y1", geometry);
    set_node_number(json, "x2", geometry);
    set_node_number(json, "y2", geometry);
}

/* The words of an annotation. */
static json_t *settings_json(const struct tt_tree_node *settings)
{
    json_t *json = json_object();
    for (unsigned i = 0; settings && i < settings->attribute_count; i++)
        if (strncmp(settings->attributes[i].name, "xmlns", 5) != 0)
            document_read_set_text(&json, settings->attributes[i].name, settings->attributes[i].value);
    return json;
}

/* ---- FMUs ---- */

static char *write_value_text(const struct tt_description *desc, const struct tt_var *var, const void *values,
                              size_t count)
{
    struct tt_text text = {0};
    size_t size = tt_type_size(var->type);
    for (size_t i = 0; i < count; i++) {
        tt_text_append(&text, i ? " " : "");
        tt_setting_write(&text, desc, var, (const char *)values + i * size);
    }
    if (text.failed || count == 0)
        tt_text_fini(&text);
    return text.text;
}

static void document_read_set_value(json_t **json, const char *key, const struct tt_description *desc,
                                    const struct tt_var *var, const void *values, size_t count)
{
    char *text = write_value_text(desc, var, values, count);
    document_read_set_text(json, key, text);
    free(text);
}

/* Returns true for variables that users connect or set. */
static bool document_read_is_shown(const struct tt_var *var)
{
    return var->causality == TUTTI_INPUT || var->causality == TUTTI_OUTPUT || var->causality == TUTTI_PARAMETER ||
           var->causality == TUTTI_STRUCTURAL_PARAMETER || var->causality == TUTTI_CALCULATED_PARAMETER ||
           (var->causality == TUTTI_LOCAL && var->start && tt_setting_check_settable(var) == TUTTI_OK);
}

/* The size of each dimension, null if unknown or variable. */
static json_t *shape_of_variable(const struct tt_var *var)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < var->dimension_count; i++)
        tt_json_append(&list, var->dimensions[i].variable == TUTTI_NONE
                                  ? json_integer((json_int_t)var->dimensions[i].start)
                                  : json_null());
    return list;
}

static json_t *shape_of_connector(const struct tt_ssp_connector *connector)
{
    json_t *list = json_array();
    for (size_t i = 0; i < connector->dimension_count; i++)
        tt_json_append(&list, connector->dimensions[i].has_size
                                  ? json_integer((json_int_t)connector->dimensions[i].size)
                                  : json_null());
    return list;
}

static json_t *document_read_variable_json(const struct tt_description *desc, const struct tt_var *var)
{
    json_t *json = json_object();
    document_read_set_text(&json, "name", var->name);
    document_read_set_text(&json, "kind", tt_description_causality_name(var->causality));
    document_read_set_text(&json, "type", tt_type_name(var->type));
    document_read_set_text(&json, "variability", tt_description_variability_name(var->variability));
    document_read_set_text(&json, "unit", var->unit == TUTTI_NONE ? NULL : desc->units[var->unit].name);
    document_read_set_text(&json, "description", var->description);
    if (var->dimension_count > 0)
        tt_json_set(&json, "dimensions", shape_of_variable(var));
    if (var->start && var->start_count > 0)
        document_read_set_value(&json, "start", desc, var, var->start, var->start_count);
    if (var->bounds && var->bounds->has_min)
        tt_json_set(&json, "min", tt_json_number(var->bounds->min));
    if (var->bounds && var->bounds->has_max)
        tt_json_set(&json, "max", tt_json_number(var->bounds->max));
    tt_json_set(&json, "settable", json_boolean(tt_setting_check_settable(var) == TUTTI_OK));
    return json;
}

/* ---- connectors ---- */

static const struct tt_tree_node *connector_node(const struct tt_tree_node *element, const char *name)
{
    const struct tt_tree_node *list = tt_tree_find_child(element, TUTTI_SPACE_SSD, "Connectors");
    for (const struct tt_tree_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *given = node->text ? NULL : tt_tree_find_attribute(node, "name");
        if (given && strcmp(given, name) == 0)
            return node;
    }
    return NULL;
}

static void set_place(json_t **json, const struct tt_tree_node *element, const char *name)
{
    const struct tt_tree_node *node = connector_node(element, name);
    const struct tt_tree_node *geometry = node ? tt_tree_find_child(node, TUTTI_SPACE_SSD, "ConnectorGeometry") : NULL;
    set_node_number(json, "x", geometry);
    set_node_number(json, "y", geometry);
}

static json_t *document_read_connector_json(const struct tt_ssp_element *element,
                                            const struct tt_ssp_connector *connector)
{
    json_t *json = json_object();
    document_read_set_text(&json, "name", connector->name);
    document_read_set_text(&json, "kind", tt_ssd_kind_name(connector->kind));
    document_read_set_text(&json, "type", connector->type.given ? tt_type_name(connector->type.type) : NULL);
    document_read_set_text(&json, "unit", connector->type.unit);
    if (connector->dimension_count > 0)
        tt_json_set(&json, "dimensions", shape_of_connector(connector));
    set_place(&json, element->node, connector->name);
    return json;
}

static json_t *connectors_json(const struct tt_ssp_element *element, const struct tt_fmu *fmu)
{
    json_t *list = json_array();
    for (uint32_t i = 0; fmu && i < fmu->desc->var_count; i++)
        if (document_read_is_shown(&fmu->desc->vars[i])) {
            json_t *json = document_read_variable_json(fmu->desc, &fmu->desc->vars[i]);
            set_place(&json, element->node, fmu->desc->vars[i].name);
            tt_json_append(&list, json);
        }
    for (size_t i = 0; i < element->connector_count; i++)
        if (!fmu || tt_map_find(&fmu->desc->names, element->connectors[i].name) == TUTTI_MAP_NONE)
            tt_json_append(&list, document_read_connector_json(element, &element->connectors[i]));
    return list;
}

/* ---- values ---- */

static json_t *parameters_json(const struct document_reader *reader, const char *id)
{
    json_t *json = json_object();
    int64_t index = reader->system ? tt_map_find(&reader->system->names, id) : TUTTI_MAP_NONE;
    if (index == TUTTI_MAP_NONE)
        return json;
    const struct tt_component *component = &reader->system->components[index];
    const struct tt_description *desc = component->fmu->desc;
    for (size_t i = 0; i < component->setting_count; i++) {
        const struct tt_setting *setting = &component->settings[i];
        if (setting->element.count == 0)
            document_read_set_value(&json, desc->vars[setting->variable].name, desc, &desc->vars[setting->variable],
                                    setting->values, setting->count);
    }
    return json;
}

/* Of connectors of a system: what the document itself gives them, which is above all else. */
static json_t *own_parameters_json(const struct document_reader *reader, const struct tt_ssp_element *system,
                                   const char *id)
{
    json_t *json = json_object();
    for (size_t i = 0; i < system->connector_count; i++)
        document_read_set_text(&json, system->connectors[i].name,
                               tt_parameter_changes_is_given(reader->draft->ssd->tree, id, system->connectors[i].name));
    return json;
}

/* ---- connections ---- */

static json_t *document_read_end_json(const struct tt_ssp_end *end)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "%s.%s", end->element ? end->element : "", end->connector);
    for (size_t i = 0; i < end->index_count; i++)
        tt_text_printf(&text, "%s%llu%s", i ? "," : "[", (unsigned long long)end->indices[i],
                       i + 1 == end->index_count ? "]" : "");
    json_t *json = text.failed ? NULL : tt_json_text(text.text);
    tt_text_fini(&text);
    return json;
}

static const char *next_number(const char *text, double *value)
{
    text += strspn(text, " \t\r\n");
    size_t n = strcspn(text, " \t\r\n");
    return n > 0 && tt_number_read_double(text, n, value) ? text + n : NULL;
}

/* [[x, y], ...] */
static json_t *points_json(const struct tt_tree_node *connection)
{
    const struct tt_tree_node *geometry = tt_tree_find_child(connection, TUTTI_SPACE_SSD, "ConnectionGeometry");
    const char *x = geometry ? tt_tree_find_attribute(geometry, "pointsX") : NULL;
    const char *y = geometry ? tt_tree_find_attribute(geometry, "pointsY") : NULL;
    json_t *list = json_array();
    double a, b;
    while (x && y && (x = next_number(x, &a)) && (y = next_number(y, &b)))
        tt_json_append(&list, json_pack("[o, o]", tt_json_number(a), tt_json_number(b)));
    return list;
}

static bool document_read_is_source(const struct tt_ssp_element *system, const struct tt_ssp_end *end)
{
    const struct tt_ssp_element *owner = system;
    for (size_t i = 0; end->element && i < system->element_count; i++)
        if (strcmp(system->elements[i].name, end->element) == 0)
            owner = &system->elements[i];
    for (size_t i = 0; i < owner->connector_count; i++)
        if (strcmp(owner->connectors[i].name, end->connector) == 0) {
            enum tt_ssp_kind kind = owner->connectors[i].kind;
            bool gives = kind == TUTTI_SSP_OUTPUT || kind == TUTTI_SSP_CALCULATED_PARAMETER;
            return end->element ? gives : !gives;
        }
    return true;
}

static json_t *document_read_connection_json(const struct tt_ssp_element *system,
                                             const struct tt_ssp_connection *connection,
                                             const struct tt_tree_node *node)
{
    bool forward = document_read_is_source(system, &connection->start) ||
                   !document_read_is_source(system, &connection->end);
    json_t *json = json_object();
    tt_json_set(&json, "from", document_read_end_json(forward ? &connection->start : &connection->end));
    tt_json_set(&json, "to", document_read_end_json(forward ? &connection->end : &connection->start));
    if (connection->transformation.kind == TUTTI_SSP_LINEAR) {
        tt_json_set(&json, "factor", tt_json_number(connection->transformation.factor));
        tt_json_set(&json, "offset", tt_json_number(connection->transformation.offset));
    } else if (connection->transformation.kind != TUTTI_SSP_IDENTITY)
        tt_json_set(&json, "mapped", json_true());
    if (connection->suppress_unit_conversion)
        tt_json_set(&json, "suppressUnitConversion", json_true());
    tt_json_set(&json, "points", points_json(node));
    return json;
}

static json_t *connections_json(const struct tt_ssp_element *system)
{
    json_t *list = json_array();
    const struct tt_tree_node *all = tt_tree_find_child(system->node, TUTTI_SPACE_SSD, "Connections");
    const struct tt_tree_node *node = all ? tt_tree_find_child(all, TUTTI_SPACE_SSD, "Connection") : NULL;
    for (size_t i = 0; i < system->connection_count && node; i++) {
        tt_json_append(&list, document_read_connection_json(system, &system->connections[i], node));
        node = tt_tree_find_next(node, TUTTI_SPACE_SSD, "Connection");
    }
    return list;
}

/* ---- elements ---- */

/* An FMU with unreadable terminals has none here; findings give the reason. */
static json_t *terminals_json(struct tt_fmu *fmu)
{
    json_t *list = json_array();
    const struct tt_terminals *terminals = NULL;
    if (tt_fmu_terminals(fmu, NULL, &terminals) == TUTTI_OK)
        for (uint32_t i = 0; terminals && i < terminals->count; i++)
            tt_json_append(&list, tt_info_terminal_json(fmu->desc, terminals, i));
    return list;
}

static json_t *elements_json(struct document_reader *reader, const struct tt_ssp_element *system, const char *path);

/* `json` becomes what a system, or the document, has besides its name. */
static void set_inside(struct document_reader *reader, json_t **json, const struct tt_ssp_element *system,
                       const char *path)
{
    tt_json_set(json, "elements", elements_json(reader, system, path));
    tt_json_set(json, "connections", connections_json(system));
}

static json_t *element_json(struct document_reader *reader, const struct tt_ssp_element *element, const char *id)
{
    static const char *const kinds[] = {
        [TUTTI_SSP_COMPONENT] = "fmu", [TUTTI_SSP_SYSTEM] = "system", [TUTTI_SSP_DICTIONARY_REFERENCE] = "dictionary"};
    struct tt_fmu *fmu =
        element->source ? tt_parameter_changes_describe_fmu(&reader->fmus, reader->draft, element->source) : NULL;
    bool other = element->kind == TUTTI_SSP_COMPONENT && !fmu; /* another system, a table, or what cannot be read */
    json_t *json = json_object();
    document_read_set_text(&json, "name", element->name);
    document_read_set_text(&json, "origin", element->name);
    document_read_set_text(&json, "kind", other ? "other" : kinds[element->kind]);
    document_read_set_text(&json, "source", element->source);
    set_box(&json, element->node);
    tt_json_set(&json, "settings", settings_json(element->settings));
    document_read_set_text(&json, "rank", element->settings ? tt_tree_find_attribute(element->settings, "rank") : NULL);
    tt_json_set(&json, "connectors", connectors_json(element, fmu));
    if (fmu)
        tt_json_set(&json, "terminals", terminals_json(fmu));
    tt_json_set(&json, "parameters",
                element->kind == TUTTI_SSP_SYSTEM ? own_parameters_json(reader, element, id)
                                                  : parameters_json(reader, id));
    if (element->kind == TUTTI_SSP_SYSTEM)
        set_inside(reader, &json, element, id);
    return json;
}

static json_t *elements_json(struct document_reader *reader, const struct tt_ssp_element *system, const char *path)
{
    json_t *list = json_array();
    for (size_t i = 0; i < system->element_count; i++) {
        struct tt_text id = {0};
        tt_text_printf(&id, "%s%s%s", path, *path ? "." : "", system->elements[i].name);
        tt_json_append(&list, id.failed ? NULL : element_json(reader, &system->elements[i], id.text));
        tt_text_fini(&id);
    }
    return list;
}

/* Values count as they are in a run, wherever they are from. A system that cannot be loaded has none. */
static void load_values(struct document_reader *reader)
{
    struct tt_text file = {0};
    const struct tt_system_draft *draft = reader->draft;
    tt_text_printf(&file, "%s/%s", draft->root, draft->ssd_name);
    const char *name = file.text;
    struct tt_findings findings = {0};
    struct tt_system_source source = {.files = &name, .file_count = 1};
    if (file.failed || tt_system_load(&reader->system, &source, &findings) != TUTTI_OK)
        reader->system = NULL;
    tt_text_fini(&file);
}

enum tutti_err tt_document_read(const struct tt_system_draft *draft, json_t **out)
{
    struct document_reader reader = {.draft = draft};
    const struct tt_ssd *ssd = draft->ssd;
    json_t *json = json_object();
    load_values(&reader);
    document_read_set_text(&json, "name", ssd->system.name ? ssd->system.name : ssd->name);
    tt_json_set(&json, "path", tt_json_text(draft->name));
    tt_json_set(&json, "variant", draft->variant ? tt_json_text(draft->variant) : json_null());
    tt_json_set(&json, "start", ssd->has_start ? tt_json_number(ssd->start) : json_null());
    tt_json_set(&json, "stop", ssd->has_stop ? tt_json_number(ssd->stop) : json_null());
    tt_json_set(&json, "settings", settings_json(ssd->settings));
    tt_json_set(&json, "connectors", connectors_json(&ssd->system, NULL));
    tt_json_set(&json, "parameters", own_parameters_json(&reader, &ssd->system, ""));
    set_inside(&reader, &json, &ssd->system, "");
    tt_system_free(reader.system);
    tt_parameter_changes_fini(&reader.fmus);
    *out = json;
    return json ? TUTTI_OK : tt_fail_memory();
}
