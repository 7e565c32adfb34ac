/* SPDX-License-Identifier: MIT */
/* Systems as documents: read, saved, looked at. */
#include "apps/web/system/system_requests.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <tutti/tell.h>

#include "apps/describe/check.h"
#include "apps/describe/json.h"
#include "apps/web/command.h"
#include "apps/web/routes.h"
#include "apps/web/system/document_read.h"
#include "base/options/options.h"
#include "base/text.h"

/* ---- reading ---- */

static enum tutti_err read_system_document(struct tt_web_site *site, const char *name, json_t **json)
{
    struct tt_system_draft draft;
    char revision[64] = "";
    enum tutti_err err = tt_system_draft_init(&draft, &site->folder, name);
    if (!err)
        err = tt_document_read(&draft, json);
    if (!err && !draft.tempdir)
        err = tt_system_draft_revision(draft.file, revision);
    if (!err)
        tt_json_set(json, "revision", json_string(revision));
    tt_system_draft_fini(&draft);
    return err;
}

enum tutti_err tt_system_requests_get(struct tt_web_site *site, const struct tt_web_request *request,
                                      struct tt_http_response *answer)
{
    const char *name;
    json_t *json = NULL;
    TRY(tt_routes_require(request, "path", &name));
    TRY(read_system_document(site, name, &json));
    tt_response_json(answer, 200, json);
    return TUTTI_OK;
}

/* ---- saving ---- */

static enum tutti_err check_revision(const char *path, json_t *document, struct tt_http_response *answer)
{
    char revision[64];
    const char *given = json_string_value(json_object_get(document, "revision"));
    TRY(tt_system_draft_revision(path, revision));
    if (!revision[0] || (given && strcmp(given, revision) == 0))
        return TUTTI_OK;
    answer->status = 409;
    return tt_fail(TUTTI_ERR_STATE,
                   "%s has been changed since it was opened, or is another file; open it again, or save under "
                   "another name",
                   strrchr(path, '/') + 1);
}

static enum tutti_err system_requests_save(struct tt_web_site *site, const char *path, json_t *document)
{
    struct tt_system_draft draft;
    struct tt_text text = {0};
    enum tutti_err err = tt_document_write_open_draft(&site->folder, document, &draft, &text);
    if (!err)
        err = tt_system_draft_pack(&draft, &text, path);
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
    return err;
}

enum tutti_err tt_system_requests_save(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    const char *name;
    char *path;
    json_t *document = NULL, *json = NULL;
    TRY(tt_routes_require(request, "path", &name));
    size_t length = strlen(name);
    if (length < 5 || strcasecmp(name + length - 4, ".ssp") != 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a system is saved as NAME.ssp, not as '%s'", tt_text_excerpt(name).text);
    TRY(tt_served_folder_find(&site->folder, name, TUTTI_WEB_NEW_FILE, &path));
    enum tutti_err err = tt_routes_require_json(request, &document);
    if (!err)
        err = check_revision(path, document, answer);
    if (!err)
        err = system_requests_save(site, path, document);
    if (!err)
        err = read_system_document(site, name, &json);
    json_decref(document);
    free(path);
    TRY(err);
    tt_response_json(answer, 200, json);
    return TUTTI_OK;
}

/* ---- looking ---- */

/* Asks something about the system that a document is: of the file at `path`, in the folder `root`. */
typedef enum tutti_err question(const char *path, const char *root, json_t *body, json_t **json);

static enum tutti_err ask_about(struct tt_web_site *site, json_t *body, json_t *document, question *ask,
                                struct tt_http_response *answer)
{
    struct tt_system_draft draft;
    struct tt_text text = {0};
    json_t *json = NULL;
    char *path = NULL;
    enum tutti_err err = tt_document_write_open_draft(&site->folder, document, &draft, &text);
    if (!err)
        err = tt_system_draft_write(&draft, &text, &path);
    if (!err)
        err = ask(path, draft.root, body, &json);
    free(path);
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
    json_decref(body);
    TRY(err);
    tt_response_json(answer, 200, json);
    return TUTTI_OK;
}

static enum tutti_err ask_findings(const char *path, const char *root, json_t *body, json_t **json)
{
    (void)body;
    return tt_system_requests_inspect(path, root, json);
}

enum tutti_err tt_web_look_system(struct tt_web_site *site, const struct tt_web_request *request,
                                  struct tt_http_response *answer)
{
    json_t *document = NULL;
    TRY(tt_routes_require_json(request, &document));
    return ask_about(site, document, document, ask_findings, answer);
}

static enum tutti_err ask_joined(const char *path, const char *root, json_t *body, json_t **json)
{
    const char *from = json_string_value(json_object_get(body, "from")),
               *to = json_string_value(json_object_get(body, "to"));
    (void)root;
    if (!from || !to)
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"from\" and \"to\" have to name terminals");
    return tt_system_requests_join_terminals(path, from, to, json);
}

enum tutti_err tt_web_join_system(struct tt_web_site *site, const struct tt_web_request *request,
                                  struct tt_http_response *answer)
{
    json_t *body = NULL;
    TRY(tt_routes_require_json(request, &body));
    return ask_about(site, body, json_object_get(body, "document"), ask_joined, answer);
}

/* ---- analysing: runs code of FMUs, in a separate process ---- */

static enum tutti_err analyze(struct tt_web_site *site, const char *path, json_t *options, struct tt_text *out)
{
    struct tt_command command = {0};
    enum tutti_err err = TUTTI_OK;
    tt_command_add(&command, site->plan.program);
    tt_command_add(&command, "analyze");
    tt_command_add(&command, path);
    tt_command_add(&command, "--json");
    if (options)
        err = tt_command_add_options(&command, &site->folder, options, TUTTI_IN_ANALYZE);
    if (!err)
        err = tt_command_query(&command, out);
    tt_command_fini(&command);
    return err;
}

enum tutti_err tt_web_analyze_system(struct tt_web_site *site, const struct tt_web_request *request,
                                     struct tt_http_response *answer)
{
    struct tt_system_draft draft;
    struct tt_text text = {0}, out = {0};
    json_t *body = NULL;
    char *path = NULL;
    TRY(tt_routes_require_json(request, &body));
    json_t *document = json_object_get(body, "document"), *options = json_object_get(body, "options");
    enum tutti_err err = tt_document_write_open_draft(&site->folder, document, &draft, &text);
    if (!err)
        err = tt_system_draft_write(&draft, &text, &path);
    if (!err)
        err = analyze(site, path, options, &out);
    free(path);
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
    json_decref(body);
    if (err)
        tt_text_fini(&out);
    TRY(err);
    tt_response_text(answer, "application/json", out.text, out.length);
    return TUTTI_OK;
}

/* ---- findings ---- */

struct inspector {
    const char *path, *root;
    json_t *findings;
};

/* Removes the draft's folder from the text, which is of no interest to users. */
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

/* Assigns a finding without a subject to the first quoted name of a component. */
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

/* ---- the graph ---- */

/* "unit.variable" of each node. */
static json_t *node_names(json_t *nodes, json_t *indices)
{
    json_t *list = json_array(), *index;
    size_t i;
    json_array_foreach(indices, i, index)
    {
        json_t *node = json_array_get(nodes, (size_t)json_integer_value(index));
        tt_json_append(&list, json_sprintf("%s.%s", json_string_value(json_object_get(node, "unit")),
                                           json_string_value(json_object_get(node, "variable"))));
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

/* Lists connections that convert values. */
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
