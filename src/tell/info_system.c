/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tell/info.h"
#include "tell/json.h"

static json_t *words_json(const struct tutti_word *words, size_t count)
{
    json_t *json = json_object();
    for (size_t i = 0; i < count; i++)
        tutti_info_add_text(&json, words[i].name, words[i].value);
    return json;
}

static json_t *connector_json(const struct tutti_ssp_connector *connector)
{
    json_t *json = json_object();
    tutti_info_add_text(&json, "name", connector->name);
    tutti_info_add_text(&json, "kind", tutti_ssp_kind_name(connector->kind));
    if (connector->type.given)
        tutti_info_add_text(&json, "type", tutti_type_name(connector->type.type));
    tutti_info_add_text(&json, "unit", connector->type.unit);
    tutti_info_add_text(&json, "enumeration", connector->type.enumeration);
    return json;
}

static json_t *setting_json(const struct tutti_desc *desc, const struct tutti_setting *setting)
{
    const struct tutti_var *var = &desc->vars[setting->variable];
    json_t *json = json_object();
    tutti_info_add_text(&json, "variable", var->name);
    if (setting->element.count > 0) {
        json_t *indices = json_array();
        for (unsigned i = 0; i < setting->element.count; i++)
            tutti_json_append(&indices, json_integer((json_int_t)setting->element.index[i]));
        tutti_json_set(&json, "element", indices);
    }
    json_t *value;
    if (var->dimension_count == 0 || setting->element.count > 0) {
        value = tutti_info_value(var->type, setting->values, 0);
    } else {
        value = json_array();
        for (size_t i = 0; i < setting->count; i++)
            tutti_json_append(&value, tutti_info_value(var->type, setting->values, i));
    }
    tutti_json_set(&json, "value", value);
    return json;
}

static json_t *component_json(const struct tutti_component *component)
{
    static const char *const keys[] = {"coSimulation", "modelExchange", "scheduledExecution"};
    const struct tutti_desc *desc = component->fmu->desc;
    json_t *json = json_object(), *interfaces = json_array(), *values = json_array();
    tutti_info_add_text(&json, "name", component->name);
    tutti_info_add_text(&json, "fmu", component->fmu->path);
    tutti_info_add_text(&json, "fmiVersion", desc->fmi_version);
    tutti_info_add_text(&json, "modelName", desc->model_name);
    for (int kind = 0; kind < TUTTI_INTERFACE_COUNT; kind++)
        if (desc->interfaces[kind].present)
            tutti_json_append(&interfaces, json_string(keys[kind]));
    tutti_json_set(&json, "interfaces", interfaces);
    tutti_info_add_text(&json, "implementation", component->implementation);
    tutti_json_set(&json, "settings", words_json(component->words, component->word_count));
    for (size_t i = 0; i < component->setting_count; i++)
        tutti_json_append(&values, setting_json(desc, &component->settings[i]));
    tutti_json_set(&json, "values", values);
    return json;
}

static json_t *connection_json(const struct tutti_system *system, const struct tutti_connection *connection)
{
    char name[4096];
    json_t *json = json_object();
    tutti_info_add_text(&json, "from", tutti_system_name(system, &connection->from, name, sizeof name));
    tutti_info_add_text(&json, "to", tutti_system_name(system, &connection->to, name, sizeof name));
    if (connection->conversion && connection->conversion->linear) {
        tutti_json_set(&json, "factor", tutti_number_json(connection->conversion->factor));
        tutti_json_set(&json, "offset", tutti_number_json(connection->conversion->offset));
    }
    return json;
}

static json_t *head_json(const struct tutti_named_system *file)
{
    static const char *const keys[] = {"description", "author",         "fileversion",          "copyright",
                                       "license",     "generationTool", "generationDateAndTime"};
    const struct tutti_ssp_element *root = &file->ssd->system;
    json_t *json = json_object(), *variants = json_array(), *connectors = json_array();
    tutti_info_add_text(&json, "file", file->path);
    tutti_info_add_text(&json, "variant",
                        strrchr(file->ssd->tree->file, '/') ? strrchr(file->ssd->tree->file, '/') + 1
                                                            : file->ssd->tree->file);
    tutti_info_add_text(&json, "sspVersion", file->ssd->version);
    tutti_info_add_text(&json, "name", file->ssd->name);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        tutti_info_add_text(&json, keys[i], tutti_node_attribute(file->ssd->tree->root, keys[i]));
    for (size_t i = 0; i < tutti_package_variant_count(file->package); i++)
        tutti_json_append(&variants, tutti_text_json(tutti_package_variant(file->package, i)));
    tutti_json_set(&json, "variants", variants);
    tutti_json_set(&json, "defaultExperiment", tutti_info_experiment(&file->system->experiment));
    tutti_json_set(&json, "settings", words_json(file->system->words, file->system->word_count));
    for (size_t i = 0; i < root->connector_count; i++)
        tutti_json_append(&connectors, connector_json(&root->connectors[i]));
    tutti_json_set(&json, "connectors", connectors);
    tutti_json_set(&json, "errors", json_integer(file->errors));
    return json;
}

/* Lists are written item by item, a line each, as they can be long. */
bool tutti_info_write_system(FILE *out, const struct tutti_named_system *file)
{
    const struct tutti_system *system = file->system;
    fputc('{', out);
    bool done = tutti_info_dump(out, head_json(file), JSON_INDENT(2) | JSON_EMBED);
    fputs(",\n  \"components\": [", out);
    for (uint32_t i = 0; i < system->component_count && done; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        done = tutti_info_dump(out, component_json(&system->components[i]), 0);
    }
    fputs("],\n  \"connections\": [", out);
    for (uint32_t i = 0; i < system->connection_count && done; i++) {
        fputs(i ? ",\n    " : "\n    ", out);
        done = tutti_info_dump(out, connection_json(system, &system->connections[i]), 0);
    }
    fputs("]\n}\n", out);
    return done;
}
