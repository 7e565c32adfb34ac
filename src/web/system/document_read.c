/* SPDX-License-Identifier: MIT */
/* From the tree of an SSP to JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "fmi/fmu.h"
#include "system/system.h"
#include "tell/info.h"
#include "tell/json.h"
#include "web/system/document.h"
#include "web/system/document_sets.h"

struct reader {
    const struct tutti_web_draft *draft;
    struct tutti_system *system; /* for values; NULL: it cannot be loaded */
    struct tutti_web_sets fmus;  /* that were opened */
};

/* ---- small parts ---- */

bool tutti_web_node_number(const struct tutti_node *node, const char *name, double *value)
{
    const char *text = node ? tutti_node_attribute(node, name) : NULL;
    return text && tutti_number_read_double(text, strlen(text), value);
}

static void set_text(json_t **json, const char *key, const char *text)
{
    if (text)
        tutti_json_set(json, key, tutti_text_json(text));
}

static void set_number_of(json_t **json, const char *key, const struct tutti_node *node)
{
    double value;
    if (tutti_web_node_number(node, key, &value))
        tutti_json_set(json, key, tutti_number_json(value));
}

static void set_box(json_t **json, const struct tutti_node *node)
{
    const struct tutti_node *geometry = tutti_node_child(node, TUTTI_SPACE_SSD, "ElementGeometry");
    set_number_of(json, "x1", geometry);
    set_number_of(json, "y1", geometry);
    set_number_of(json, "x2", geometry);
    set_number_of(json, "y2", geometry);
}

/* The words of an annotation. */
static json_t *settings_json(const struct tutti_node *settings)
{
    json_t *json = json_object();
    for (unsigned i = 0; settings && i < settings->attribute_count; i++)
        if (strncmp(settings->attributes[i].name, "xmlns", 5) != 0)
            set_text(&json, settings->attributes[i].name, settings->attributes[i].value);
    return json;
}

/* ---- FMUs ---- */

static char *show_value(const struct tutti_desc *desc, const struct tutti_var *var, const void *values, size_t count)
{
    struct tutti_text text = {0};
    size_t size = tutti_type_size(var->type);
    for (size_t i = 0; i < count; i++) {
        tutti_text_append(&text, i ? " " : "");
        tutti_setting_show(&text, desc, var, (const char *)values + i * size);
    }
    if (text.failed || count == 0)
        tutti_text_fini(&text);
    return text.text;
}

static void set_value(json_t **json, const char *key, const struct tutti_desc *desc, const struct tutti_var *var,
                      const void *values, size_t count)
{
    char *text = show_value(desc, var, values, count);
    set_text(json, key, text);
    free(text);
}

/* What people connect or set. */
static bool is_shown(const struct tutti_var *var)
{
    return var->causality == TUTTI_INPUT || var->causality == TUTTI_OUTPUT || var->causality == TUTTI_PARAMETER ||
           var->causality == TUTTI_STRUCTURAL_PARAMETER || var->causality == TUTTI_CALCULATED_PARAMETER ||
           (var->causality == TUTTI_LOCAL && var->start && tutti_setting_check_settable(var) == TUTTI_OK);
}

/* The size of each dimension, null where it is not said or may change. */
static json_t *shape_of_variable(const struct tutti_var *var)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < var->dimension_count; i++)
        tutti_json_append(&list, var->dimensions[i].variable == TUTTI_NONE
                                     ? json_integer((json_int_t)var->dimensions[i].start)
                                     : json_null());
    return list;
}

static json_t *shape_of_connector(const struct tutti_ssp_connector *connector)
{
    json_t *list = json_array();
    for (size_t i = 0; i < connector->dimension_count; i++)
        tutti_json_append(&list, connector->dimensions[i].has_size
                                     ? json_integer((json_int_t)connector->dimensions[i].size)
                                     : json_null());
    return list;
}

static json_t *variable_json(const struct tutti_desc *desc, const struct tutti_var *var)
{
    json_t *json = json_object();
    set_text(&json, "name", var->name);
    set_text(&json, "kind", tutti_causality_name(var->causality));
    set_text(&json, "type", tutti_type_name(var->type));
    set_text(&json, "variability", tutti_variability_name(var->variability));
    set_text(&json, "unit", var->unit == TUTTI_NONE ? NULL : desc->units[var->unit].name);
    set_text(&json, "description", var->description);
    if (var->dimension_count > 0)
        tutti_json_set(&json, "dimensions", shape_of_variable(var));
    if (var->start && var->start_count > 0)
        set_value(&json, "start", desc, var, var->start, var->start_count);
    if (var->bounds && var->bounds->has_min)
        tutti_json_set(&json, "min", tutti_number_json(var->bounds->min));
    if (var->bounds && var->bounds->has_max)
        tutti_json_set(&json, "max", tutti_number_json(var->bounds->max));
    tutti_json_set(&json, "settable", json_boolean(tutti_setting_check_settable(var) == TUTTI_OK));
    return json;
}

/* ---- connectors ---- */

static const struct tutti_node *connector_node(const struct tutti_node *element, const char *name)
{
    const struct tutti_node *list = tutti_node_child(element, TUTTI_SPACE_SSD, "Connectors");
    for (const struct tutti_node *node = list ? list->first : NULL; node; node = node->next) {
        const char *given = node->text ? NULL : tutti_node_attribute(node, "name");
        if (given && strcmp(given, name) == 0)
            return node;
    }
    return NULL;
}

static void set_place(json_t **json, const struct tutti_node *element, const char *name)
{
    const struct tutti_node *node = connector_node(element, name);
    const struct tutti_node *geometry = node ? tutti_node_child(node, TUTTI_SPACE_SSD, "ConnectorGeometry") : NULL;
    set_number_of(json, "x", geometry);
    set_number_of(json, "y", geometry);
}

static json_t *connector_json(const struct tutti_ssp_element *element, const struct tutti_ssp_connector *connector)
{
    json_t *json = json_object();
    set_text(&json, "name", connector->name);
    set_text(&json, "kind", tutti_ssp_kind_name(connector->kind));
    set_text(&json, "type", connector->type.given ? tutti_type_name(connector->type.type) : NULL);
    set_text(&json, "unit", connector->type.unit);
    if (connector->dimension_count > 0)
        tutti_json_set(&json, "dimensions", shape_of_connector(connector));
    set_place(&json, element->node, connector->name);
    return json;
}

static bool has_variable(const struct tutti_fmu *fmu, const char *name)
{
    return fmu && tutti_map_find(&fmu->desc->names, name) != TUTTI_MAP_NONE;
}

static json_t *connectors_json(const struct tutti_ssp_element *element, const struct tutti_fmu *fmu)
{
    json_t *list = json_array();
    for (uint32_t i = 0; fmu && i < fmu->desc->var_count; i++)
        if (is_shown(&fmu->desc->vars[i])) {
            json_t *json = variable_json(fmu->desc, &fmu->desc->vars[i]);
            set_place(&json, element->node, fmu->desc->vars[i].name);
            tutti_json_append(&list, json);
        }
    for (size_t i = 0; i < element->connector_count; i++)
        if (!has_variable(fmu, element->connectors[i].name))
            tutti_json_append(&list, connector_json(element, &element->connectors[i]));
    return list;
}

/* ---- values ---- */

static json_t *parameters_json(const struct reader *reader, const char *id)
{
    json_t *json = json_object();
    int64_t index = reader->system ? tutti_map_find(&reader->system->names, id) : TUTTI_MAP_NONE;
    if (index == TUTTI_MAP_NONE)
        return json;
    const struct tutti_component *component = &reader->system->components[index];
    const struct tutti_desc *desc = component->fmu->desc;
    for (size_t i = 0; i < component->setting_count; i++) {
        const struct tutti_setting *setting = &component->settings[i];
        if (setting->element.count == 0)
            set_value(&json, desc->vars[setting->variable].name, desc, &desc->vars[setting->variable], setting->values,
                      setting->count);
    }
    return json;
}

/* Of connectors of a system: what the document itself gives them, which is above all else. */
static json_t *own_parameters_json(const struct reader *reader, const struct tutti_ssp_element *system, const char *id)
{
    json_t *json = json_object();
    for (size_t i = 0; i < system->connector_count; i++)
        set_text(&json, system->connectors[i].name,
                 tutti_web_sets_given(reader->draft->ssd->tree, id, system->connectors[i].name));
    return json;
}

/* ---- connections ---- */

static json_t *end_json(const struct tutti_ssp_end *end)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, "%s.%s", end->element ? end->element : "", end->connector);
    for (size_t i = 0; i < end->index_count; i++)
        tutti_text_printf(&text, "%s%llu%s", i ? "," : "[", (unsigned long long)end->indices[i],
                          i + 1 == end->index_count ? "]" : "");
    json_t *json = text.failed ? NULL : tutti_text_json(text.text);
    tutti_text_fini(&text);
    return json;
}

static const char *next_number(const char *text, double *value)
{
    text += strspn(text, " \t\r\n");
    size_t n = strcspn(text, " \t\r\n");
    return n > 0 && tutti_number_read_double(text, n, value) ? text + n : NULL;
}

/* [[x, y], ...] */
static json_t *points_json(const struct tutti_node *connection)
{
    const struct tutti_node *geometry = tutti_node_child(connection, TUTTI_SPACE_SSD, "ConnectionGeometry");
    const char *x = geometry ? tutti_node_attribute(geometry, "pointsX") : NULL;
    const char *y = geometry ? tutti_node_attribute(geometry, "pointsY") : NULL;
    json_t *list = json_array();
    double a, b;
    while (x && y && (x = next_number(x, &a)) && (y = next_number(y, &b)))
        tutti_json_append(&list, json_pack("[o, o]", tutti_number_json(a), tutti_number_json(b)));
    return list;
}

static bool is_source(const struct tutti_ssp_element *system, const struct tutti_ssp_end *end)
{
    const struct tutti_ssp_element *owner = system;
    for (size_t i = 0; end->element && i < system->element_count; i++)
        if (strcmp(system->elements[i].name, end->element) == 0)
            owner = &system->elements[i];
    for (size_t i = 0; i < owner->connector_count; i++)
        if (strcmp(owner->connectors[i].name, end->connector) == 0) {
            enum tutti_ssp_kind kind = owner->connectors[i].kind;
            bool gives = kind == TUTTI_SSP_OUTPUT || kind == TUTTI_SSP_CALCULATED_PARAMETER;
            return end->element ? gives : !gives;
        }
    return true;
}

static json_t *connection_json(const struct tutti_ssp_element *system, const struct tutti_ssp_connection *connection,
                               const struct tutti_node *node)
{
    bool forward = is_source(system, &connection->start) || !is_source(system, &connection->end);
    json_t *json = json_object();
    tutti_json_set(&json, "from", end_json(forward ? &connection->start : &connection->end));
    tutti_json_set(&json, "to", end_json(forward ? &connection->end : &connection->start));
    if (connection->transformation.kind == TUTTI_SSP_LINEAR) {
        tutti_json_set(&json, "factor", tutti_number_json(connection->transformation.factor));
        tutti_json_set(&json, "offset", tutti_number_json(connection->transformation.offset));
    } else if (connection->transformation.kind != TUTTI_SSP_IDENTITY)
        tutti_json_set(&json, "mapped", json_true());
    if (connection->suppress_unit_conversion)
        tutti_json_set(&json, "suppressUnitConversion", json_true());
    tutti_json_set(&json, "points", points_json(node));
    return json;
}

static json_t *connections_json(const struct tutti_ssp_element *system)
{
    json_t *list = json_array();
    const struct tutti_node *all = tutti_node_child(system->node, TUTTI_SPACE_SSD, "Connections");
    const struct tutti_node *node = all ? tutti_node_child(all, TUTTI_SPACE_SSD, "Connection") : NULL;
    for (size_t i = 0; i < system->connection_count && node; i++) {
        tutti_json_append(&list, connection_json(system, &system->connections[i], node));
        node = tutti_node_next(node, TUTTI_SPACE_SSD, "Connection");
    }
    return list;
}

/* ---- elements ---- */

/* Of an FMU whose terminals cannot be read there are none; findings say why. */
static json_t *terminals_json(struct tutti_fmu *fmu)
{
    json_t *list = json_array();
    const struct tutti_terminals *terminals = NULL;
    if (tutti_fmu_terminals(fmu, NULL, &terminals) == TUTTI_OK)
        for (uint32_t i = 0; terminals && i < terminals->count; i++)
            tutti_json_append(&list, tutti_info_terminal(fmu->desc, terminals, i));
    return list;
}

static json_t *elements_json(struct reader *reader, const struct tutti_ssp_element *system, const char *path);

/* `json` becomes what a system, or the document, has besides its name. */
static void set_inside(struct reader *reader, json_t **json, const struct tutti_ssp_element *system, const char *path)
{
    tutti_json_set(json, "elements", elements_json(reader, system, path));
    tutti_json_set(json, "connections", connections_json(system));
}

static json_t *element_json(struct reader *reader, const struct tutti_ssp_element *element, const char *id)
{
    static const char *const kinds[] = {
        [TUTTI_SSP_COMPONENT] = "fmu", [TUTTI_SSP_SYSTEM] = "system", [TUTTI_SSP_DICTIONARY_REFERENCE] = "dictionary"};
    struct tutti_fmu *fmu = element->source ? tutti_web_sets_fmu(&reader->fmus, reader->draft, element->source) : NULL;
    bool other = element->kind == TUTTI_SSP_COMPONENT && !fmu; /* another system, a table, or what cannot be read */
    json_t *json = json_object();
    set_text(&json, "name", element->name);
    set_text(&json, "origin", element->name);
    set_text(&json, "kind", other ? "other" : kinds[element->kind]);
    set_text(&json, "source", element->source);
    set_box(&json, element->node);
    tutti_json_set(&json, "settings", settings_json(element->settings));
    set_text(&json, "rank", element->settings ? tutti_node_attribute(element->settings, "rank") : NULL);
    tutti_json_set(&json, "connectors", connectors_json(element, fmu));
    if (fmu)
        tutti_json_set(&json, "terminals", terminals_json(fmu));
    tutti_json_set(&json, "parameters",
                   element->kind == TUTTI_SSP_SYSTEM ? own_parameters_json(reader, element, id)
                                                     : parameters_json(reader, id));
    if (element->kind == TUTTI_SSP_SYSTEM)
        set_inside(reader, &json, element, id);
    return json;
}

static json_t *elements_json(struct reader *reader, const struct tutti_ssp_element *system, const char *path)
{
    json_t *list = json_array();
    for (size_t i = 0; i < system->element_count; i++) {
        struct tutti_text id = {0};
        tutti_text_printf(&id, "%s%s%s", path, *path ? "." : "", system->elements[i].name);
        tutti_json_append(&list, id.failed ? NULL : element_json(reader, &system->elements[i], id.text));
        tutti_text_fini(&id);
    }
    return list;
}

/* Values count as they are in a run, wherever they are from. A system that cannot be loaded has none. */
static void load_values(struct reader *reader)
{
    struct tutti_text file = {0};
    const struct tutti_web_draft *draft = reader->draft;
    tutti_text_printf(&file, "%s/%s", draft->root, draft->ssd_name);
    const char *name = file.text;
    struct tutti_findings findings = {0};
    struct tutti_system_source source = {.files = &name, .file_count = 1};
    if (file.failed || tutti_system_load(&reader->system, &source, &findings) != TUTTI_OK)
        reader->system = NULL;
    tutti_text_fini(&file);
}

enum tutti_err tutti_web_document_read(const struct tutti_web_draft *draft, json_t **out)
{
    struct reader reader = {.draft = draft};
    const struct tutti_ssd *ssd = draft->ssd;
    json_t *json = json_object();
    load_values(&reader);
    set_text(&json, "name", ssd->system.name ? ssd->system.name : ssd->name);
    tutti_json_set(&json, "path", tutti_text_json(draft->name));
    tutti_json_set(&json, "variant", draft->variant ? tutti_text_json(draft->variant) : json_null());
    tutti_json_set(&json, "start", ssd->has_start ? tutti_number_json(ssd->start) : json_null());
    tutti_json_set(&json, "stop", ssd->has_stop ? tutti_number_json(ssd->stop) : json_null());
    tutti_json_set(&json, "settings", settings_json(ssd->settings));
    tutti_json_set(&json, "connectors", connectors_json(&ssd->system, NULL));
    tutti_json_set(&json, "parameters", own_parameters_json(&reader, &ssd->system, ""));
    set_inside(&reader, &json, &ssd->system, "");
    tutti_system_free(reader.system);
    tutti_web_sets_fini(&reader.fmus);
    *out = json;
    return json ? TUTTI_OK : tutti_fail_memory();
}
