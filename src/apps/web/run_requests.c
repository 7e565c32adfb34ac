/* SPDX-License-Identifier: MIT */
/* Runs: begun, listed, watched, steered, compared, forgotten. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <tutti/tell.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/random.h"
#include "run/live/sse.h"
#include "base/options/options.h"
#include "apps/describe/json.h"
#include "apps/web/command.h"
#include "apps/web/system/document_read.h"
#include "apps/web/reader_process.h"
#include "apps/web/web_run.h"
#include "apps/web/upstream.h"

enum { MOST_GOING = 16, MOST_LISTED = 1000 };

/* ---- the list ---- */

static int compare_newest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

static int run_requests_is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* Lists all runs, the newest first, and counts those still running. */
static json_t *scan_runs(const struct tt_web_site *site, unsigned *going)
{
    json_t *list = json_array();
    struct tt_text path = {0};
    struct dirent **entries = NULL;
    struct tt_web_run run;
    tt_text_printf(&path, "%s/.tutti/runs", site->folder.path);
    int count = path.failed ? 0 : scandir(path.text, &entries, run_requests_is_shown, compare_newest_first);
    *going = 0;
    for (int i = 0; i < count; i++) {
        if (i < MOST_LISTED && tt_web_run_init(&run, site, entries[i]->d_name) == TUTTI_OK) {
            tt_json_append(&list, tt_web_run_json(&run));
            *going += run.going;
        }
        if (i < MOST_LISTED)
            tt_web_run_fini(&run);
        free(entries[i]);
    }
    free(entries);
    tt_text_fini(&path);
    return list;
}

enum tutti_err tt_run_requests_list(struct tt_web_site *site, const struct tt_web_request *request,
                                    struct tt_http_response *answer)
{
    unsigned going;
    struct tt_web_run run;
    json_t *list = site->folder.path ? scan_runs(site, &going) : json_array();
    (void)request;
    if (site->plan.attach && tt_web_run_init(&run, site, TUTTI_WEB_ATTACHED) == TUTTI_OK) {
        tt_json_append(&list, tt_web_run_json(&run));
        tt_web_run_fini(&run);
    }
    tt_response_json(answer, 200, list);
    return TUTTI_OK;
}

enum tutti_err tt_run_requests_get(struct tt_web_site *site, const struct tt_web_request *request,
                                   struct tt_http_response *answer)
{
    struct tt_web_run run;
    enum tutti_err err = tt_web_run_init(&run, site, request->id);
    if (!err)
        tt_response_json(answer, 200, tt_web_run_json_all(&run));
    tt_web_run_fini(&run);
    return err;
}

enum tutti_err tt_run_requests_delete(struct tt_web_site *site, const struct tt_web_request *request,
                                      struct tt_http_response *answer)
{
    struct tt_web_run run;
    enum tutti_err err = tt_web_run_init(&run, site, request->id);
    if (!err && run.going)
        err = tt_fail(TUTTI_ERR_STATE, "this run goes on; stop it first");
    else if (!err && tt_fs_remove_tree(run.folder) != 0)
        err = tt_fail(TUTTI_ERR_STATE, "not all files of the run could be removed: %s", strerror(errno));
    tt_web_run_fini(&run);
    TRY(err);
    tt_response_json(answer, 200, json_object());
    return TUTTI_OK;
}

/* ---- beginning ---- */

struct run_start {
    struct tt_web_site *site;
    struct tt_web_run run;
    char *file;                /* what is simulated, as the command line has it, in the folder that is served */
    struct tt_command command; /* as it is started */
    struct tt_command shown;   /* as people type it */
};

/* Letters and digits that sort by time. */
static enum tutti_err create_run_id(char id[64])
{
    char token[7];
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    size_t length = strftime(id, 40, "%Y%m%d-%H%M%S-", &utc);
    TRY(tt_random_token(token, sizeof token));
    snprintf(id + length, 64 - length, "%s", token);
    return TUTTI_OK;
}

static enum tutti_err run_requests_create_folder(struct run_start *beginning)
{
    struct tt_text path = {0};
    TRY(create_run_id(beginning->run.id));
    tt_text_printf(&path, "%s/.tutti/runs/%s", beginning->site->folder.path, beginning->run.id);
    beginning->run.folder = path.text;
    if (path.failed)
        return tt_fail_memory();
    return tt_fs_make_folder(path.text) ? TUTTI_OK
                                        : tt_fail(TUTTI_ERR_STATE, "%s cannot be made: %s", path.text, strerror(errno));
}

/* In the reader: saves the document of the request for the run of its id, whose folder exists. */
static enum tutti_err save_run_document(struct tt_web_site *site, const struct tt_web_request *request,
                                        struct tt_http_response *answer)
{
    struct tt_system_draft draft;
    struct tt_text text = {0}, path = {0}, copy = {0};
    json_t *body;
    TRY(tt_routes_require_json(request, &body));
    json_t *document = json_object_get(body, "document");
    tt_text_printf(&path, "%s/.tutti/runs/%s/system.ssp", site->folder.path, request->id);
    tt_text_printf(&copy, "%s/.tutti/runs/%s/document.json", site->folder.path, request->id);
    enum tutti_err err = tt_document_write_open_draft(&site->folder, document, &draft, &text);
    if (!err && (path.failed || copy.failed))
        err = tt_fail_memory();
    if (!err)
        err = tt_system_draft_pack(&draft, &text, path.text);
    if (!err && json_dump_file(document, copy.text, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
        err = tt_fail(TUTTI_ERR_STATE, "%s cannot be written", copy.text);
    tt_text_fini(&text);
    tt_system_draft_fini(&draft);
    json_decref(body);
    tt_text_fini(&path);
    tt_text_fini(&copy);
    TRY(err);
    tt_response_json(answer, 200, json_object());
    return TUTTI_OK;
}

static enum tutti_err write_run_document(struct run_start *beginning, const struct tt_web_request *request)
{
    struct tt_http_response answer = {0};
    struct tt_web_request asked = *request;
    struct tt_text file = {0};
    tt_text_printf(&file, ".tutti/runs/%s/system.ssp", beginning->run.id);
    beginning->file = file.text;
    memcpy(asked.id, beginning->run.id, sizeof asked.id);
    TRY(file.failed ? tt_fail_memory() : TUTTI_OK);
    TRY(tt_reader_process_query(beginning->site->reader, save_run_document, &asked, &answer));
    enum tutti_err err = tt_response_to_err(&answer);
    tt_response_fini(&answer);
    return err;
}

static enum tutti_err write_run_system(struct run_start *beginning, const struct tt_web_request *request, json_t *body)
{
    json_t *document = json_object_get(body, "document");
    const char *path = json_string_value(json_object_get(body, "path"));
    char *found;
    if (json_is_object(document))
        return write_run_document(beginning, request);
    if (!path)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a run needs a \"path\" or a \"document\"");
    beginning->file = tt_text_copy(path);
    char *plain = strndup(path, strcspn(path, "#"));
    enum tutti_err err = beginning->file && plain
                             ? tt_served_folder_find(&beginning->site->folder, plain, TUTTI_WEB_FILE, &found)
                             : tt_fail_memory();
    free(plain);
    TRY(err);
    free(found);
    return TUTTI_OK;
}

static void run_requests_add_file(struct tt_command *command, const struct run_start *beginning, const char *option,
                                  const char *name)
{
    struct tt_text text = {0};
    tt_text_printf(&text, ".tutti/runs/%s/%s", beginning->run.id, name);
    tt_command_add(command, option);
    tt_command_add(command, text.failed ? "" : text.text);
    command->failed |= text.failed;
    tt_text_fini(&text);
}

static enum tutti_err build_run_command(struct run_start *beginning, json_t *body)
{
    static const char *const more[] = {"--live",      "127.0.0.1:0", "--log",      "json",
                                       "--log-level", "info",        "--progress", "none"};
    struct tt_command *both[] = {&beginning->command, &beginning->shown};
    json_t *options = json_object_get(body, "options");
    for (size_t i = 0; i < 2; i++) {
        tt_command_add(both[i], i ? "tutti" : beginning->site->plan.program);
        tt_command_add(both[i], "run");
        tt_command_add(both[i], beginning->file);
        if (options)
            TRY(tt_command_add_options(both[i], &beginning->site->folder, options, TUTTI_IN_RUN));
        run_requests_add_file(both[i], beginning, "-o", "result.h5");
        if (json_is_true(json_object_get(body, "steps")))
            run_requests_add_file(both[i], beginning, "--step-log", "steps.csv");
    }
    run_requests_add_file(&beginning->command, beginning, "--stats", "stats.json");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        tt_command_add(&beginning->command, more[i]);
    return beginning->command.failed || beginning->shown.failed ? tt_fail_memory() : TUTTI_OK;
}

/* `pid` 0: not running yet. */
static enum tutti_err run_requests_save_state(const struct run_start *beginning, json_t *body, pid_t pid)
{
    struct tt_text command = {0};
    json_t *json = json_object(), *options = json_object_get(body, "options");
    json_t *document = json_object_get(body, "document"), *path = json_object_get(document, "path");
    char birth[32] = "", *file = tt_web_run_file(&beginning->run, "run.json");
    if (pid)
        tt_command_process_start(pid, birth);
    tt_command_show(&beginning->shown, &command);
    tt_json_set(&json, "file",
                json_is_string(path) ? json_incref(path)
                : document           ? json_incref(json_object_get(document, "name"))
                                     : tt_json_text(beginning->file));
    tt_json_set(&json, "options", options ? json_incref(options) : json_object());
    tt_json_set(&json, "command", command.failed ? NULL : tt_json_text(command.text));
    tt_json_set(&json, "begun", json_integer(time(NULL)));
    tt_json_set(&json, "pid", json_integer(pid));
    tt_json_set(&json, "birth", json_string(birth));
    char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    enum tutti_err err = TUTTI_OK;
    if (!text || !file)
        err = tt_fail_memory();
    else if (!tt_fs_replace(file, text, strlen(text)))
        err = tt_fail(TUTTI_ERR_STATE, "%s cannot be written: %s", file, strerror(errno));
    free(text);
    free(file);
    json_decref(json);
    tt_text_fini(&command);
    return err;
}

static enum tutti_err run_requests_launch(struct run_start *beginning, const struct tt_web_request *request,
                                          json_t *body)
{
    pid_t pid;
    TRY(run_requests_create_folder(beginning));
    TRY(write_run_system(beginning, request, body));
    TRY(build_run_command(beginning, body));
    TRY(run_requests_save_state(beginning, body, 0));
    char *log = tt_web_run_file(&beginning->run, "log.jsonl");
    enum tutti_err err = log ? tt_command_start(&beginning->command, beginning->site->folder.path, log, &pid)
                             : tt_fail_memory();
    free(log);
    return err ? err : run_requests_save_state(beginning, body, pid);
}

enum tutti_err tt_run_requests_start(struct tt_web_site *site, const struct tt_web_request *request,
                                     struct tt_http_response *answer)
{
    struct run_start beginning = {.site = site};
    json_t *body;
    unsigned going;
    TRY(tt_routes_require_json(request, &body));
    json_decref(scan_runs(site, &going));
    enum tutti_err err = going < MOST_GOING ? run_requests_launch(&beginning, request, body)
                                            : tt_fail(TUTTI_ERR_STATE, "%u runs go on already; stop one first", going);
    if (err && beginning.run.folder)
        (void)tt_fs_remove_tree(beginning.run.folder);
    else if (!err)
        tt_response_json(answer, 201, json_pack("{s:s}", "id", beginning.run.id));
    json_decref(body);
    tt_command_fini(&beginning.command);
    tt_command_fini(&beginning.shown);
    free(beginning.file);
    free(beginning.run.folder);
    return err;
}

/* ---- while it runs ---- */

static enum tutti_err fail_run_has_ended(const struct tt_web_run *run)
{
    return run->going ? tt_fail(TUTTI_ERR_STATE, "this run is about to begin; try again")
                      : tt_fail(TUTTI_ERR_STATE, "this run is over");
}

enum tutti_err tt_run_requests_control(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    struct tt_web_run run;
    struct tt_text out = {0};
    unsigned status = 0;
    enum tutti_err err = tt_web_run_init(&run, site, request->id);
    if (!err && (!run.going || !run.address[0]))
        err = fail_run_has_ended(&run);
    if (!err)
        err = tt_upstream_request(run.address, run.token, "POST", "/orders", request->http->body, request->http->size,
                                  &status, &out);
    tt_web_run_fini(&run);
    if (err)
        tt_text_fini(&out);
    TRY(err);
    tt_response_text(answer, "application/json", out.text, out.length);
    answer->status = status;
    return TUTTI_OK;
}

/* Of a run that is over: what it was, and how it ended. */
static enum tutti_err run_requests_send_end(const struct tt_web_run *run, struct tt_http_response *answer)
{
    struct tt_text text = {0};
    json_t *json = tt_web_run_json(run);
    const char *const members[] = {"state", json_string_value(json_object_get(json, "state")), "message",
                                   json_string_value(json_object_get(json, "message")), NULL};
    char *all = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    tt_text_printf(&text, "event: run\ndata: %s\n\n", all ? all : "{}");
    tt_sse_add_texts(&text, "end", members);
    free(all);
    json_decref(json);
    if (text.failed) {
        tt_text_fini(&text);
        return tt_fail_memory();
    }
    tt_response_text(answer, "text/event-stream", text.text, text.length);
    return TUTTI_OK;
}

/* Appends the query of the viewer to the run's address. */
static void append_stream_target(struct tt_text *target, const struct tt_web_request *request)
{
    static const char *const names[] = {"columns", "past"};
    char separator = '?';
    tt_text_append(target, "/events");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = request->http->argument(request->http, names[i]);
        if (!value)
            continue;
        tt_text_printf(target, "%c%s=", separator, names[i]);
        tt_upstream_escape(target, value);
        separator = '&';
    }
}

static enum tutti_err relay_run_events(struct tt_web_site *site, const struct tt_web_run *run,
                                       const struct tt_web_request *request, struct tt_http_response *answer)
{
    struct tt_text target = {0};
    int fd = -1;
    append_stream_target(&target, request);
    enum tutti_err err = target.failed ? tt_fail_memory()
                                       : tt_upstream_open(run->address, run->token, "GET", target.text, "", 0, &fd);
    tt_text_fini(&target);
    TRY(err);
    *answer =
        (struct tt_http_response){.status = 200, .type = "text/event-stream", .headers = {{"X-Accel-Buffering", "no"}}};
    return tt_upstream_relay_open(&site->relays, fd, &answer->stream) ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_run_requests_watch(struct tt_web_site *site, const struct tt_web_request *request,
                                     struct tt_http_response *answer)
{
    struct tt_web_run run;
    enum tutti_err err = tt_web_run_init(&run, site, request->id);
    if (!err && run.going && !run.address[0])
        err = fail_run_has_ended(&run);
    else if (!err && run.going)
        err = relay_run_events(site, &run, request, answer);
    else if (!err)
        err = run_requests_send_end(&run, answer);
    tt_web_run_fini(&run);
    return err;
}

/* ---- results ---- */

static enum tutti_err run_requests_result(struct tt_web_site *site, const struct tt_web_request *request,
                                          const char *name, char **path)
{
    const char *id;
    TRY(tt_routes_require(request, name, &id));
    return tt_web_run_result(path, NULL, site, id);
}

enum tutti_err tt_run_requests_compare(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    char *a = NULL, *b = NULL, *json = NULL;
    const char *rtol = request->http->argument(request->http, "rtol");
    struct tutti_tell_option option = {"rtol", rtol};
    enum tutti_err err = run_requests_result(site, request, "a", &a);
    if (!err)
        err = run_requests_result(site, request, "b", &b);
    if (!err)
        err = tutti_tell_comparison(&json, a, b, &option, rtol ? 1 : 0, NULL);
    free(a);
    free(b);
    TRY(err);
    tt_response_text(answer, "application/json", json, strlen(json));
    return TUTTI_OK;
}

/* ---- for Prometheus ---- */

enum tutti_err tt_run_requests_metrics(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    struct tt_text text = {0};
    unsigned going = 0;
    json_t *list = site->folder.path ? scan_runs(site, &going) : NULL;
    const struct {
        const char *name, *type, *help;
        unsigned long value;
    } rows[] = {{"requests_total", "counter", "Requests so far.", atomic_load(&site->requests)},
                {"refused_total", "counter", "Requests without a token, or for another host or of another origin.",
                 atomic_load(&site->refused)},
                {"runs", "gauge", "Runs that are kept.", json_array_size(list)},
                {"runs_going", "gauge", "Runs that go on.", going}};
    (void)request;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        tt_text_printf(&text, "# HELP tutti_web_%s %s\n# TYPE tutti_web_%s %s\ntutti_web_%s %lu\n", rows[i].name,
                       rows[i].help, rows[i].name, rows[i].type, rows[i].name, rows[i].value);
    json_decref(list);
    if (text.failed) {
        tt_text_fini(&text);
        return tt_fail_memory();
    }
    tt_response_text(answer, "text/plain; version=0.0.4; charset=utf-8", text.text, text.length);
    return TUTTI_OK;
}
