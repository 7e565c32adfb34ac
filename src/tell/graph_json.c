/* SPDX-License-Identifier: MIT */
#include <tutti/tutti.h>

#include "tell/graph.h"
#include "description/wide.h"
#include "tell/info.h"
#include "tell/json.h"

/* One value after another, each on a line of its own: people look at it, too. */
struct writer {
    FILE *out;
    bool memory, first; /* there was enough; nothing is written in this list yet */
};

/* Takes `value`. */
static void put_value(struct writer *writer, json_t *value)
{
    bool written = value && json_dumpf(value, writer->out, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY) == 0;
    writer->memory = writer->memory && written;
    json_decref(value);
}

static void put(struct writer *writer, const char *key, json_t *value)
{
    fprintf(writer->out, ",\n  \"%s\": ", key);
    put_value(writer, value);
}

static void open_list(struct writer *writer, const char *key)
{
    fprintf(writer->out, ",\n  \"%s\": [", key);
    writer->first = true;
}

static void put_item(struct writer *writer, json_t *value)
{
    fputs(writer->first ? "\n    " : ",\n    ", writer->out);
    writer->first = false;
    put_value(writer, value);
}

static void close_list(struct writer *writer)
{
    fputs(writer->first ? "]" : "\n  ]", writer->out);
}

static json_t *integers(const uint32_t *values, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        tutti_json_append(&list, json_integer(values[i]));
    return list;
}

static const struct tutti_desc *desc_of(const struct tutti_system *system, uint32_t component)
{
    return system->components[component].fmu->desc;
}

static json_t *terminals_of(const struct tutti_fmu *fmu)
{
    json_t *list = json_array();
    for (uint32_t i = 0; fmu->terminals && i < fmu->terminals->count; i++)
        tutti_json_append(&list, tutti_info_terminal(fmu->desc, fmu->terminals, i));
    return list;
}

static void put_units(struct writer *writer, const struct tutti_graph *graph)
{
    open_list(writer, "units");
    for (uint32_t c = 0; c < graph->system->component_count; c++) {
        const struct tutti_component *component = &graph->system->components[c];
        const struct tutti_desc *desc = component->fmu->desc;
        json_t *unit = json_object();
        tutti_json_set(&unit, "name", tutti_text_json(component->name));
        tutti_json_set(&unit, "fmu", tutti_text_json(component->fmu->path ? component->fmu->path : ""));
        tutti_json_set(&unit, "model", tutti_text_json(desc->model_name ? desc->model_name : ""));
        tutti_json_set(&unit, "fmi", tutti_text_json(desc->fmi_version ? desc->fmi_version : ""));
        tutti_json_set(&unit, "terminals", terminals_of(component->fmu));
        tutti_json_set(&unit, "assumed", json_boolean(tutti_structure_is_assumed(&graph->structure, c)));
        put_item(writer, unit);
    }
    close_list(writer);
}

static void put_ports(struct writer *writer, const char *key, const struct tutti_port *ports, uint32_t count)
{
    open_list(writer, key);
    for (uint32_t i = 0; i < count; i++)
        put_item(writer, tutti_text_json(ports[i].name));
    close_list(writer);
}

/* {"unit", "variable", "element"}; {"port"} for the system's own. */
static json_t *end_of(const struct tutti_system *system, const struct tutti_end *end, bool source)
{
    json_t *json = json_object();
    if (end->component == TUTTI_NONE) {
        const struct tutti_port *ports = source ? system->inputs : system->outputs;
        tutti_json_set(&json, "port", tutti_text_json(ports[end->variable].name));
    } else {
        tutti_json_set(&json, "unit", tutti_text_json(system->components[end->component].name));
        tutti_json_set(&json, "variable", tutti_text_json(desc_of(system, end->component)->vars[end->variable].name));
    }
    if (end->element.count > 0) {
        json_t *indices = json_array();
        for (unsigned i = 0; i < end->element.count; i++)
            tutti_json_append(&indices, json_integer((json_int_t)end->element.index[i]));
        tutti_json_set(&json, "element", indices);
    }
    return json;
}

/* Of UInt64, what lies beyond JSON's integers here becomes a real number. */
static json_t *whole(tutti_wide value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static json_t *map_of(const struct tutti_value_map *map)
{
    json_t *pairs = json_array();
    for (size_t i = 0; i < map->count; i++) {
        json_t *pair = json_array();
        tutti_json_append(&pair, whole(map->from[i]));
        tutti_json_append(&pair, whole(map->to[i]));
        tutti_json_append(&pairs, pair);
    }
    return pairs;
}

static void set_conversion(json_t **json, const struct tutti_conversion *conversion)
{
    if (conversion->linear) {
        tutti_json_set(json, "factor", tutti_number_json(conversion->factor));
        tutti_json_set(json, "offset", tutti_number_json(conversion->offset));
    }
    if (conversion->map_count == 0)
        return;
    json_t *maps = json_array();
    for (size_t i = 0; i < conversion->map_count; i++)
        tutti_json_append(&maps, map_of(&conversion->maps[i]));
    tutti_json_set(json, "maps", maps);
}

static void put_connections(struct writer *writer, const struct tutti_system *system)
{
    open_list(writer, "connections");
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tutti_connection *connection = &system->connections[i];
        json_t *json = json_object();
        tutti_json_set(&json, "from", end_of(system, &connection->from, true));
        tutti_json_set(&json, "to", end_of(system, &connection->to, false));
        tutti_json_set(&json, "at_start_only", json_boolean(connection->at_start_only));
        if (connection->conversion)
            set_conversion(&json, connection->conversion);
        put_item(writer, json);
    }
    close_list(writer);
}

static void put_nodes(struct writer *writer, const struct tutti_graph *graph)
{
    const struct tutti_structure *structure = &graph->structure;
    open_list(writer, "nodes");
    for (uint32_t i = 0; i < structure->node_count; i++) {
        const struct tutti_structure_node *node = &structure->nodes[i];
        uint32_t first = structure->graph.first[i], loop = graph->loop_of[structure->scc.of[i]];
        json_t *json = json_object();
        tutti_json_set(&json, "unit", tutti_text_json(graph->system->components[node->component].name));
        tutti_json_set(&json, "variable",
                       tutti_text_json(desc_of(graph->system, node->component)->vars[node->variable].name));
        tutti_json_set(&json, "kind", json_string(node->output ? "output" : "input"));
        tutti_json_set(&json, "needs", integers(structure->graph.needs + first, structure->graph.first[i + 1] - first));
        tutti_json_set(&json, "loop", loop ? json_integer(loop - 1) : json_null());
        put_item(writer, json);
    }
    close_list(writer);
}

static void put_loops(struct writer *writer, const struct tutti_graph *graph)
{
    const struct tutti_components *scc = &graph->structure.scc;
    open_list(writer, "loops");
    for (uint32_t block = 0; block < scc->count; block++)
        if (graph->loop_of[block])
            put_item(writer, integers(scc->nodes + scc->first[block], scc->first[block + 1] - scc->first[block]));
    close_list(writer);
}

static void put_order(struct writer *writer, const struct tutti_graph *graph)
{
    static const char *const kinds[] = {
        [TUTTI_ACTION_SET] = "set", [TUTTI_ACTION_GET] = "get", [TUTTI_ACTION_SOLVE] = "solve"};
    open_list(writer, "order");
    for (uint32_t i = 0; i < graph->order.action_count; i++) {
        const struct tutti_action *action = &graph->order.actions[i];
        json_t *json = json_object();
        tutti_json_set(&json, "action", json_string(kinds[action->kind]));
        if (action->component != TUTTI_NONE)
            tutti_json_set(&json, "unit", tutti_text_json(graph->system->components[action->component].name));
        tutti_json_set(&json, "nodes", integers(graph->order.nodes + action->first, action->count));
        put_item(writer, json);
    }
    close_list(writer);
}

static void put_assumed(struct writer *writer, const struct tutti_graph *graph)
{
    open_list(writer, "assumed");
    for (uint32_t i = 0; i < graph->structure.assumed_count; i++)
        put_item(writer, tutti_text_json(graph->system->components[graph->structure.assumed[i]].name));
    close_list(writer);
}

bool tutti_graph_write_json(FILE *out, const struct tutti_graph *graph)
{
    struct writer writer = {.out = out, .memory = true};
    fputs("{\n  \"version\": ", out);
    put_value(&writer, json_string(tutti_version()));
    put(&writer, "system", tutti_text_json(graph->system->name ? graph->system->name : ""));
    put(&writer, "phase", json_string(graph->phase == TUTTI_PHASE_INITIAL ? "initial" : "run"));
    put_units(&writer, graph);
    put_ports(&writer, "inputs", graph->system->inputs, graph->system->input_count);
    put_ports(&writer, "outputs", graph->system->outputs, graph->system->output_count);
    put_connections(&writer, graph->system);
    put_nodes(&writer, graph);
    put_loops(&writer, graph);
    put_order(&writer, graph);
    put(&writer, "evaluations", json_integer(graph->order.evaluations));
    put(&writer, "evaluations_one_by_one", json_integer(graph->single_evaluations));
    put_assumed(&writer, graph);
    fputs("\n}\n", out);
    return writer.memory;
}
