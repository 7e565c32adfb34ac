/* SPDX-License-Identifier: MIT */
/* Pictures are Graphviz's: its program `dot` gets the text that graph_dot.c writes. */
#include "apps/describe/system_graph.h"

#include <stdlib.h>
#include <string.h>
#include <tutti/tell.h>
#include <tutti/tutti.h>

#include "apps/describe/describe.h"
#include "apps/describe/drawing.h"
#include "apps/describe/info.h"
#include "apps/describe/json.h"
#include "base/log.h"
#include "base/text.h"
#include "fmu/description/type.h"
#include "sim/job/job.h"

uint32_t tt_system_graph_find_loop(const struct tt_system_graph *graph, const struct tt_end *end, bool output)
{
    if (end->component == TUTTI_NONE)
        return 0;
    uint32_t node = tt_structure_find(&graph->structure, end->component, end->variable, output);
    return node == TUTTI_NONE ? 0 : graph->loop_of[graph->structure.scc.of[node]];
}

static enum tutti_err system_graph_analyse(struct tt_system_graph *graph)
{
    struct tt_eval_order single;
    TRY(tt_structure_init(&graph->structure, graph->system, graph->phase));
    TRY(tt_eval_order_init(&graph->order, &graph->structure, true));
    TRY(tt_eval_order_init(&single, &graph->structure, false));
    graph->single_evaluations = single.evaluations;
    tt_eval_order_fini(&single);
    const struct tt_components *scc = &graph->structure.scc;
    graph->loop_of = calloc((size_t)scc->count + 1, sizeof *graph->loop_of);
    if (!graph->loop_of)
        return tt_fail_memory();
    for (uint32_t block = 0, loops = 0; block < scc->count; block++)
        if (scc->first[block + 1] - scc->first[block] > 1)
            graph->loop_of[block] = ++loops;
    return TUTTI_OK;
}

/* ---- forms ---- */

static enum tutti_err system_graph_write_text(char **text, const struct tt_system_graph *graph,
                                              bool (*write)(FILE *out, const struct tt_system_graph *graph))
{
    struct tt_text_stream told;
    TRY(tt_describe_open_text(&told));
    return tt_describe_close_text(&told, write(told.out, graph) ? TUTTI_OK : tt_fail_memory(), text);
}

static enum tutti_err write_graph_json(char **text, const struct tt_system_graph *graph)
{
    return system_graph_write_text(text, graph, tt_system_graph_write_json);
}

static enum tutti_err write_graph_dot(char **text, const struct tt_system_graph *graph)
{
    return system_graph_write_text(text, graph, tt_graph_dot_write);
}

static enum tutti_err write_graph_svg(char **text, const struct tt_system_graph *graph)
{
    char *const command[] = {"dot", "-Tsvg", NULL};
    struct tt_drawing drawing;
    size_t size;
    enum tutti_err err = tt_drawing_init(&drawing);
    if (!err && !tt_graph_dot_write(drawing.script, graph))
        err = tt_fail_memory();
    if (!err)
        err = tt_drawing_run(&drawing, command, "graphviz; DOT text and JSON do without it", text, &size);
    tt_drawing_fini(&drawing);
    return err;
}

/* ---- all of it ---- */

/* Faults of the system are logged; the rest is drawn. */
static void system_graph_log_finding(void *context, enum tt_severity severity, const char *file, unsigned line,
                                     const char *text)
{
    char place[32] = "";
    if (file && line > 0)
        snprintf(place, sizeof place, ":%u", line);
    tt_log(context, severity == TUTTI_FINDING_ERROR ? TUTTI_LOG_ERROR : TUTTI_LOG_WARNING, NULL, "%s%s%s%s",
           file ? file : "", place, file ? ": " : "", text);
}

/* A unit with unreadable terminals is drawn without them. */
static enum tutti_err read_terminals(const struct tt_system *system, struct tt_findings *findings)
{
    const struct tt_terminals *terminals;
    for (uint32_t i = 0; i < system->fmu_count; i++) {
        enum tutti_err err = tt_fmu_terminals(system->fmus[i], findings, &terminals);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        if (err)
            tt_findings_add(findings, TUTTI_FINDING_WARNING, NULL, 0, "%s", tutti_err_message());
    }
    return TUTTI_OK;
}

enum tutti_err tutti_tell_graph(char **text, const struct tutti_run_options *options, const char *form,
                                const char *phase)
{
    static const struct {
        const char *name;
        enum tutti_err (*tell)(char **text, const struct tt_system_graph *graph);
    } forms[] = {{"json", write_graph_json}, {"dot", write_graph_dot}, {"svg", write_graph_svg}};
    struct tt_findings findings = {.report = system_graph_log_finding, .context = (void *)options->log};
    struct tt_system_source source = tt_job_system_source(options);
    struct tt_system *system = NULL;
    struct tt_system_graph graph = {0};
    size_t i = 0;
    graph.phase = strcmp(phase, "run") == 0 ? TUTTI_PHASE_RUN : TUTTI_PHASE_INITIAL;
    if (graph.phase != TUTTI_PHASE_RUN && strcmp(phase, "initial") != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--phase takes initial or run, not '%s'", tt_text_excerpt(phase).text);
    while (i < sizeof forms / sizeof *forms && strcmp(forms[i].name, form) != 0)
        i++;
    if (i == sizeof forms / sizeof *forms)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a graph is told as json, dot or svg, not '%s'", tt_text_excerpt(form).text);
    enum tutti_err err = tt_system_load(&system, &source, &findings);
    graph.system = system;
    if (!err)
        err = read_terminals(system, &findings);
    if (!err)
        err = system_graph_analyse(&graph);
    if (!err)
        err = forms[i].tell(text, &graph);
    free(graph.loop_of);
    tt_eval_order_fini(&graph.order);
    tt_structure_fini(&graph.structure);
    tt_system_free(system);
    return err;
}

/* Writes one value per line, so that people can read the file, too. */
struct graph_json_writer {
    FILE *out;
    bool memory, first; /* there was enough; nothing is written in this list yet */
};

/* Takes `value`. */
static void graph_json_add_value(struct graph_json_writer *writer, json_t *value)
{
    bool written = value && json_dumpf(value, writer->out, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY) == 0;
    writer->memory = writer->memory && written;
    json_decref(value);
}

static void graph_json_add(struct graph_json_writer *writer, const char *key, json_t *value)
{
    fprintf(writer->out, ",\n  \"%s\": ", key);
    graph_json_add_value(writer, value);
}

static void graph_json_open_list(struct graph_json_writer *writer, const char *key)
{
    fprintf(writer->out, ",\n  \"%s\": [", key);
    writer->first = true;
}

static void graph_json_add_item(struct graph_json_writer *writer, json_t *value)
{
    fputs(writer->first ? "\n    " : ",\n    ", writer->out);
    writer->first = false;
    graph_json_add_value(writer, value);
}

static void graph_json_close_list(struct graph_json_writer *writer)
{
    fputs(writer->first ? "]" : "\n  ]", writer->out);
}

static json_t *integers_json(const uint32_t *values, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        tt_json_append(&list, json_integer(values[i]));
    return list;
}

static const struct tt_description *graph_json_desc(const struct tt_system *system, uint32_t component)
{
    return system->components[component].fmu->desc;
}

static void graph_json_add_units(struct graph_json_writer *writer, const struct tt_system_graph *graph)
{
    graph_json_open_list(writer, "units");
    for (uint32_t c = 0; c < graph->system->component_count; c++) {
        const struct tt_component *component = &graph->system->components[c];
        const struct tt_description *desc = component->fmu->desc;
        json_t *unit = json_object();
        tt_json_set(&unit, "name", tt_json_text(component->name));
        tt_json_set(&unit, "fmu", tt_json_text(component->fmu->path ? component->fmu->path : ""));
        tt_json_set(&unit, "model", tt_json_text(desc->model_name ? desc->model_name : ""));
        tt_json_set(&unit, "fmi", tt_json_text(desc->fmi_version ? desc->fmi_version : ""));
        const struct tt_terminals *terminals = component->fmu->terminals;
        json_t *list = json_array();
        for (uint32_t i = 0; terminals && i < terminals->count; i++)
            tt_json_append(&list, tt_info_terminal_json(desc, terminals, i));
        tt_json_set(&unit, "terminals", list);
        tt_json_set(&unit, "assumed", json_boolean(tt_structure_is_assumed(&graph->structure, c)));
        graph_json_add_item(writer, unit);
    }
    graph_json_close_list(writer);
}

static void graph_json_add_ports(struct graph_json_writer *writer, const char *key, const struct tt_port *ports,
                                 uint32_t count)
{
    graph_json_open_list(writer, key);
    for (uint32_t i = 0; i < count; i++)
        graph_json_add_item(writer, tt_json_text(ports[i].name));
    graph_json_close_list(writer);
}

/* {"unit", "variable", "element"}; {"port"} for the system's own. */
static json_t *graph_json_end(const struct tt_system *system, const struct tt_end *end, bool source)
{
    json_t *json = json_object();
    if (end->component == TUTTI_NONE) {
        const struct tt_port *ports = source ? system->inputs : system->outputs;
        tt_json_set(&json, "port", tt_json_text(ports[end->variable].name));
    } else {
        tt_json_set(&json, "unit", tt_json_text(system->components[end->component].name));
        tt_json_set(&json, "variable", tt_json_text(graph_json_desc(system, end->component)->vars[end->variable].name));
    }
    if (end->element.count > 0) {
        json_t *indices = json_array();
        for (unsigned i = 0; i < end->element.count; i++)
            tt_json_append(&indices, json_integer((json_int_t)end->element.index[i]));
        tt_json_set(&json, "element", indices);
    }
    return json;
}

/* Of UInt64, what lies beyond JSON's integers here becomes a real number. */
static json_t *graph_json_integer(tt_wide value)
{
    return value <= INT64_MAX ? json_integer((json_int_t)value) : json_real((double)value);
}

static json_t *value_map_json(const struct tt_value_map *map)
{
    json_t *pairs = json_array();
    for (size_t i = 0; i < map->count; i++) {
        json_t *pair = json_array();
        tt_json_append(&pair, graph_json_integer(map->from[i]));
        tt_json_append(&pair, graph_json_integer(map->to[i]));
        tt_json_append(&pairs, pair);
    }
    return pairs;
}

static void graph_json_add_conversion(json_t **json, const struct tt_conversion *conversion)
{
    if (conversion->linear) {
        tt_json_set(json, "factor", tt_json_number(conversion->factor));
        tt_json_set(json, "offset", tt_json_number(conversion->offset));
    }
    if (conversion->map_count == 0)
        return;
    json_t *maps = json_array();
    for (size_t i = 0; i < conversion->map_count; i++)
        tt_json_append(&maps, value_map_json(&conversion->maps[i]));
    tt_json_set(json, "maps", maps);
}

static void graph_json_add_connections(struct graph_json_writer *writer, const struct tt_system *system)
{
    graph_json_open_list(writer, "connections");
    for (uint32_t i = 0; i < system->connection_count; i++) {
        const struct tt_connection *connection = &system->connections[i];
        json_t *json = json_object();
        tt_json_set(&json, "from", graph_json_end(system, &connection->from, true));
        tt_json_set(&json, "to", graph_json_end(system, &connection->to, false));
        tt_json_set(&json, "at_start_only", json_boolean(connection->at_start_only));
        if (connection->conversion)
            graph_json_add_conversion(&json, connection->conversion);
        graph_json_add_item(writer, json);
    }
    graph_json_close_list(writer);
}

static void graph_json_add_nodes(struct graph_json_writer *writer, const struct tt_system_graph *graph)
{
    const struct tt_structure *structure = &graph->structure;
    graph_json_open_list(writer, "nodes");
    for (uint32_t i = 0; i < structure->node_count; i++) {
        const struct tt_structure_node *node = &structure->nodes[i];
        uint32_t first = structure->graph.first[i], loop = graph->loop_of[structure->scc.of[i]];
        json_t *json = json_object();
        tt_json_set(&json, "unit", tt_json_text(graph->system->components[node->component].name));
        tt_json_set(&json, "variable",
                    tt_json_text(graph_json_desc(graph->system, node->component)->vars[node->variable].name));
        tt_json_set(&json, "kind", json_string(node->output ? "output" : "input"));
        tt_json_set(&json, "needs",
                    integers_json(structure->graph.needs + first, structure->graph.first[i + 1] - first));
        tt_json_set(&json, "loop", loop ? json_integer(loop - 1) : json_null());
        graph_json_add_item(writer, json);
    }
    graph_json_close_list(writer);
}

static void graph_json_add_loops(struct graph_json_writer *writer, const struct tt_system_graph *graph)
{
    const struct tt_components *scc = &graph->structure.scc;
    graph_json_open_list(writer, "loops");
    for (uint32_t block = 0; block < scc->count; block++)
        if (graph->loop_of[block])
            graph_json_add_item(
                writer, integers_json(scc->nodes + scc->first[block], scc->first[block + 1] - scc->first[block]));
    graph_json_close_list(writer);
}

static void graph_json_add_order(struct graph_json_writer *writer, const struct tt_system_graph *graph)
{
    static const char *const kinds[] = {
        [TUTTI_ACTION_SET] = "set", [TUTTI_ACTION_GET] = "get", [TUTTI_ACTION_SOLVE] = "solve"};
    graph_json_open_list(writer, "order");
    for (uint32_t i = 0; i < graph->order.action_count; i++) {
        const struct tt_eval_action *action = &graph->order.actions[i];
        json_t *json = json_object();
        tt_json_set(&json, "action", json_string(kinds[action->kind]));
        if (action->component != TUTTI_NONE)
            tt_json_set(&json, "unit", tt_json_text(graph->system->components[action->component].name));
        tt_json_set(&json, "nodes", integers_json(graph->order.nodes + action->first, action->count));
        graph_json_add_item(writer, json);
    }
    graph_json_close_list(writer);
}

bool tt_system_graph_write_json(FILE *out, const struct tt_system_graph *graph)
{
    struct graph_json_writer writer = {.out = out, .memory = true};
    fputs("{\n  \"version\": ", out);
    graph_json_add_value(&writer, json_string(tutti_version()));
    graph_json_add(&writer, "system", tt_json_text(graph->system->name ? graph->system->name : ""));
    graph_json_add(&writer, "phase", json_string(graph->phase == TUTTI_PHASE_INITIAL ? "initial" : "run"));
    graph_json_add_units(&writer, graph);
    graph_json_add_ports(&writer, "inputs", graph->system->inputs, graph->system->input_count);
    graph_json_add_ports(&writer, "outputs", graph->system->outputs, graph->system->output_count);
    graph_json_add_connections(&writer, graph->system);
    graph_json_add_nodes(&writer, graph);
    graph_json_add_loops(&writer, graph);
    graph_json_add_order(&writer, graph);
    graph_json_add(&writer, "evaluations", json_integer(graph->order.evaluations));
    graph_json_add(&writer, "evaluations_one_by_one", json_integer(graph->single_evaluations));
    graph_json_open_list(&writer, "assumed");
    for (uint32_t i = 0; i < graph->structure.assumed_count; i++)
        graph_json_add_item(&writer, tt_json_text(graph->system->components[graph->structure.assumed[i]].name));
    graph_json_close_list(&writer);
    fputs("\n}\n", out);
    return writer.memory;
}
