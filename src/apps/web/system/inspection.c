/* SPDX-License-Identifier: MIT */
#include "apps/web/system/inspection.h"

#include <math.h>
#include <string.h>
#include <tutti/tell.h>

#include "base/text.h"
#include "base/options/options.h"
#include "apps/describe/check.h"
#include "apps/describe/json.h"

/* ---- findings ---- */

struct inspector {
    const char *path, *root;
    json_t *findings;
};

/* The text without the names of the folder that the draft is in, which is nobody's business. */
static json_t *strip_draft_folder(const struct inspector *looker, const char *text)
{
    struct tt_text out = {0};
    size_t n = strlen(looker->root);
    while (*text) {
        const char *found = strstr(text, looker->root);
        size_t length = found ? (size_t)(found - text) : strlen(text);
        tt_text_append_n(&out, text, length);
        text += length;
        if (found)
            text += n + (text[n] == '/');
    }
    json_t *json = out.failed ? NULL : tt_json_text(out.text ? out.text : "");
    tt_text_fini(&out);
    return json;
}

static void add_finding(void *context, const struct tt_check_finding *finding)
{
    struct inspector *looker = context;
    json_t *units = json_array(), *json = json_object();
    for (size_t i = 0; i < finding->unit_count; i++)
        tt_json_append(&units, tt_json_text(finding->units[i]));
    tt_json_set(&json, "level", json_string(finding->severity == TUTTI_FINDING_ERROR ? "error" : "warning"));
    tt_json_set(&json, "element", finding->unit_count > 0 ? tt_json_text(finding->units[0]) : json_string(""));
    tt_json_set(&json, "units", units);
    tt_json_set(&json, "text", strip_draft_folder(looker, finding->text));
    tt_json_append(&looker->findings, json);
}

/* The unit of the system that a quoted name, `length` bytes, belongs to; NULL: none. */
static const char *inspection_find_unit(json_t *units, const char *name, size_t length)
{
    const char *best = NULL;
    size_t i, longest = 0;
    json_t *unit;
    json_array_foreach(units, i, unit)
    {
        const char *given = json_string_value(json_object_get(unit, "name"));
        size_t n = given ? strlen(given) : 0;
        if (n > longest && n <= length && strncmp(name, given, n) == 0 && (n == length || name[n] == '.')) {
            best = given;
            longest = n;
        }
    }
    return best;
}

/* What a finding is about, if it does not say so: the first quoted name that belongs to a unit. */
static void assign_finding(json_t *finding, json_t *units)
{
    const char *text = json_string_value(json_object_get(finding, "text"));
    const char *open = text ? strchr(text, '\'') : NULL;
    if (json_array_size(json_object_get(finding, "units")) > 0)
        return;
    while (open) {
        const char *end = strchr(open + 1, '\'');
        size_t length = end ? (size_t)(end - open - 1) : 0;
        const char *unit = end ? inspection_find_unit(units, open + 1, length) : NULL;
        if (unit) {
            size_t n = strlen(unit);
            json_object_set_new(finding, "element", json_string(unit));
            json_array_append_new(json_object_get(finding, "units"), json_string(unit));
            if (n < length)
                json_object_set_new(finding, "connector", json_stringn(open + 2 + n, length - n - 1));
            return;
        }
        open = end ? strchr(end + 1, '\'') : NULL;
    }
}

/* ---- what the graph says ---- */

/* "unit.variable" of a node. */
static json_t *node_name(json_t *nodes, json_t *index)
{
    json_t *node = json_array_get(nodes, (size_t)json_integer_value(index));
    return json_sprintf("%s.%s", json_string_value(json_object_get(node, "unit")),
                        json_string_value(json_object_get(node, "variable")));
}

static json_t *node_names(json_t *nodes, json_t *indices)
{
    json_t *list = json_array(), *index;
    size_t i;
    json_array_foreach(indices, i, index)
    {
        tt_json_append(&list, node_name(nodes, index));
    }
    return list;
}

static json_t *inspection_loops_json(json_t *graph)
{
    json_t *list = json_array(), *loop;
    size_t i;
    json_array_foreach(json_object_get(graph, "loops"), i, loop)
    {
        tt_json_append(&list, node_names(json_object_get(graph, "nodes"), loop));
    }
    return list;
}

/* Units in the order in which they are evaluated first. */
static json_t *inspection_order_json(json_t *graph)
{
    json_t *list = json_array(), *action;
    size_t i;
    json_array_foreach(json_object_get(graph, "order"), i, action)
    {
        json_t *unit = json_object_get(action, "unit");
        tt_json_append(&list, json_pack("{s:O, s:O*, s:o}", "action", json_object_get(action, "action"), "unit", unit,
                                        "variables",
                                        node_names(json_object_get(graph, "nodes"), json_object_get(action, "nodes"))));
    }
    return list;
}

static json_t *end_name(json_t *end)
{
    const char *port = json_string_value(json_object_get(end, "port"));
    return port ? json_sprintf(".%s", port)
                : json_sprintf("%s.%s", json_string_value(json_object_get(end, "unit")),
                               json_string_value(json_object_get(end, "variable")));
}

/* Connections whose values do not arrive as they were sent. */
static json_t *conversions_json(json_t *graph)
{
    json_t *list = json_array(), *connection;
    size_t i;
    json_array_foreach(json_object_get(graph, "connections"), i, connection)
    {
        json_t *factor = json_object_get(connection, "factor"), *maps = json_object_get(connection, "maps");
        char text[100] = "values are mapped";
        if (!factor && !maps)
            continue;
        if (factor)
            snprintf(text, sizeof text, "times %.6g, plus %.6g", json_number_value(factor),
                     json_number_value(json_object_get(connection, "offset")));
        json_t *ends = json_pack("{s:o, s:o}", "from", end_name(json_object_get(connection, "from")), "to",
                                 end_name(json_object_get(connection, "to")));
        tt_json_append(&list, json_pack("{s:o, s:s, s:s}", "connection", ends, "element", "", "text", text));
    }
    return list;
}

static enum tutti_err add_graph(const struct tutti_run_options *options, json_t **json)
{
    char *text = NULL;
    json_t *graph = NULL;
    if (tutti_tell_graph(&text, options, "json", "run") == TUTTI_OK) /* else findings say why */
        graph = json_loads(text, 0, NULL);
    tutti_tell_free(text);
    size_t i;
    json_t *finding;
    json_array_foreach(json_object_get(*json, "findings"), i, finding)
    {
        assign_finding(finding, json_object_get(graph, "units"));
    }
    tt_json_set(json, "conversions", conversions_json(graph));
    tt_json_set(json, "loops", inspection_loops_json(graph));
    tt_json_set(json, "order", inspection_order_json(graph));
    tt_json_set(json, "graph", graph ? graph : json_null());
    return *json ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_system_requests_inspect(const char *path, const char *root, json_t **out)
{
    struct inspector looker = {path, root, json_array()};
    struct tutti_run_options options = {.files = &path, .file_count = 1};
    struct tt_check_counts counts;
    json_t *json = json_object();
    enum tutti_err err = tt_check_run(&options, 0, add_finding, &looker, &counts);
    tt_json_set(&json, "findings", looker.findings);
    if (!err)
        err = add_graph(&options, &json);
    if (err)
        json_decref(json);
    else
        *out = json;
    return err;
}

/* ---- terminals ---- */

static enum tutti_err inspection_read_connections(const struct tutti_run_options *options, json_t **out)
{
    char *text = NULL;
    TRY(tutti_tell_graph(&text, options, "json", "run"));
    json_t *graph = json_loads(text, 0, NULL);
    tutti_tell_free(text);
    *out = json_incref(json_object_get(graph, "connections"));
    json_decref(graph);
    return *out ? TUTTI_OK : tt_fail_memory();
}

static bool inspection_has_connection(json_t *connections, json_t *wanted)
{
    size_t i;
    json_t *connection;
    json_array_foreach(connections, i, connection)
    {
        if (json_equal(connection, wanted))
            return true;
    }
    return false;
}

/* Factors of conversions are positive: a negative one is that of a flow. */
static json_t *joined_json(json_t *connection)
{
    json_t *json = json_pack("{s:o, s:o}", "from", end_name(json_object_get(connection, "from")), "to",
                             end_name(json_object_get(connection, "to")));
    if (json_number_value(json_object_get(connection, "factor")) < 0)
        tt_json_set(&json, "factor", json_integer(-1));
    return json;
}

enum tutti_err tt_system_requests_join_terminals(const char *path, const char *from, const char *to, json_t **out)
{
    struct tt_text text = {0};
    json_t *before = NULL, *after = NULL, *list = json_array(), *connection;
    size_t i;
    tt_text_printf(&text, "%s=%s", from, to);
    const char *joint = text.text;
    struct tutti_run_options options = {.files = &path, .file_count = 1};
    enum tutti_err err = text.failed ? tt_fail_memory() : inspection_read_connections(&options, &before);
    options.connects = &joint;
    options.connect_count = 1;
    if (!err)
        err = inspection_read_connections(&options, &after);
    json_array_foreach(after, i, connection)
    {
        if (!inspection_has_connection(before, connection))
            tt_json_append(&list, joined_json(connection));
    }
    tt_text_fini(&text);
    json_decref(before);
    json_decref(after);
    if (err)
        json_decref(list);
    else
        *out = list;
    return err || list ? err : tt_fail_memory();
}
