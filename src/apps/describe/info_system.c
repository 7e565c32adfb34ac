/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "apps/describe/info.h"
#include "apps/describe/json.h"

static json_t *info_system_words_json(const struct tt_run_setting *words, size_t count)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        tt_info_add_text(&json, words[i].name, words[i].value);
    return json;
}

static json_t *info_system_connector_json(const struct tt_ssp_connector *connector)
{
    json_t *json = json_object();
    tt_info_add_text(&json, "name", connector->name);
    tt_info_add_text(&json, "kind", tt_ssd_kind_name(connector->kind));
    if (connector->type.given)
        tt_info_add_text(&json, "type", tt_type_name(connector->type.type));
    tt_info_add_text(&json, "unit", connector->type.unit);
    tt_info_add_text(&json, "enumeration", connector->type.enumeration);
    return json;
}

static json_t *setting_json(const struct tt_description *desc, const struct tt_setting *setting)
{
    const struct tt_var *var = &desc->vars[setting->variable];
    json_t *json = json_object();
    tt_info_add_text(&json, "variable", var->name);
    if (setting->element.count > 0) {
        json_t *indices = json_array();
        for (unsigned i = 0; i < setting->element.count; i++)
            tt_json_append(&indices, json_integer((json_int_t)setting->element.index[i]));
        tt_json_set(&json, "element", indices);
    }
    json_t *value;
    if (var->dimension_count == 0 || setting->element.count > 0) {
        value = tt_info_value(var->type, setting->values, 0);
    } else {
        value = json_array();
        for (size_t i = 0; i < setting->count; i++)
            tt_json_append(&value, tt_info_value(var->type, setting->values, i));
    }
    tt_json_set(&json, "value", value);
    return json;
}

static json_t *component_json(const struct tt_component *component)
{
    static const char *const keys[] = {"coSimulation", "modelExchange", "scheduledExecution"};
    const struct tt_description *desc = component->fmu->desc;
    json_t *json = json_object(), *interfaces = json_array(), *values = json_array();
    tt_info_add_text(&json, "name", component->name);
    tt_info_add_text(&json, "fmu", component->fmu->path);
    tt_info_add_text(&json, "fmiVersion", desc->fmi_version);
    tt_info_add_text(&json, "modelName", desc->model_name);
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++)
        if (desc->interfaces[kind].present)
            tt_json_append(&interfaces, json_string(keys[kind]));
    tt_json_set(&json, "interfaces", interfaces);
    tt_info_add_text(&json, "implementation", component->implementation);
    tt_json_set(&json, "settings", info_system_words_json(component->words, component->word_count));
    for (size_t i = 0; i < component->setting_count; i++)
        tt_json_append(&values, setting_json(desc, &component->settings[i]));
    tt_json_set(&json, "values", values);
    return json;
}

static json_t *info_system_connection_json(const struct tt_system *system, const struct tt_connection *connection)
{
    char name[4096];
    json_t *json = json_object();
    tt_info_add_text(&json, "from", tt_system_name(system, &connection->from, name, sizeof name));
    tt_info_add_text(&json, "to", tt_system_name(system, &connection->to, name, sizeof name));
    if (connection->conversion && connection->conversion->linear) {
        tt_json_set(&json, "factor", tt_json_number(connection->conversion->factor));
        tt_json_set(&json, "offset", tt_json_number(connection->conversion->offset));
    }
    return json;
}

static json_t *info_system_head_json(const struct tt_named_system *file)
{
    static const char *const keys[] = {"description", "author",         "fileversion",          "copyright",
                                       "license",     "generationTool", "generationDateAndTime"};
    const struct tt_ssp_element *root = &file->ssd->system;
    json_t *json = json_object(), *variants = json_array(), *connectors = json_array();
    tt_info_add_text(&json, "file", file->path);
    tt_info_add_text(&json, "variant",
                     strrchr(file->ssd->tree->file, '/') ? strrchr(file->ssd->tree->file, '/') + 1
                                                         : file->ssd->tree->file);
    tt_info_add_text(&json, "sspVersion", file->ssd->version);
    tt_info_add_text(&json, "name", file->ssd->name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        tt_info_add_text(&json, keys[i], tt_tree_find_attribute(file->ssd->tree->root, keys[i]));
    for (size_t i = 0; i < tt_package_variant_count(file->package); i++)
        tt_json_append(&variants, tt_json_text(tt_package_variant(file->package, i)));
    tt_json_set(&json, "variants", variants);
    tt_json_set(&json, "defaultExperiment", tt_info_experiment(&file->system->experiment));
    tt_json_set(&json, "settings", info_system_words_json(file->system->words, file->system->word_count));
    for (size_t i = 0; i < root->connector_count; i++)
        tt_json_append(&connectors, info_system_connector_json(&root->connectors[i]));
    tt_json_set(&json, "connectors", connectors);
    tt_json_set(&json, "errors", json_integer(file->errors));
    return json;
}

/* Lists are written item by item, a line each, as they can be long. */
bool tt_info_write_system(FILE *out, const struct tt_named_system *file)
{
    const struct tt_system *system = file->system;
    fputc('{', out);
    bool done = tt_info_dump(out, info_system_head_json(file), JSON_INDENT(2) | JSON_EMBED);
    fputs(",\n  \"components\": [", out);
    for (uint32_t i = 0; i < system->component_count && done; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        done = tt_info_dump(out, component_json(&system->components[i]), 0);
    }
    fputs("],\n  \"connections\": [", out);
    for (uint32_t i = 0; i < system->connection_count && done; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        done = tt_info_dump(out, info_system_connection_json(system, &system->connections[i]), 0);
    }
    fputs("]\n}\n", out);
    return done;
}
