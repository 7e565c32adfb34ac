/* SPDX-License-Identifier: MIT */
/* Runs: begun, listed, watched, steered, compared, forgotten. */
#include <dirent.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <tutti/tell.h>
#include <unistd.h>

#include "base/fs.h"
#include "live/news.h"
#include "options/options.h"
#include "tell/json.h"
#include "web/child.h"
#include "web/system/document.h"
#include "web/process.h"
#include "web/reader.h"
#include "web/run.h"
#include "web/upstream.h"

enum { MOST_GOING = 16, MOST_LISTED = 1000 };

/* ---- the list ---- */

static int newest_first(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*b)->d_name, (*a)->d_name);
}

static int is_shown(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

/* All of them, the newest first; those that go on are counted. */
static json_t *list_runs(const struct tutti_web_site *site, unsigned *going)
{
    json_t *list = json_array();
    struct tutti_text path = {0};
    struct dirent **entries = NULL;
    struct tutti_web_run run;
    tutti_text_printf(&path, "%s/.tutti/runs", site->folder.path);
    int count = path.failed ? 0 : scandir(path.text, &entries, is_shown, newest_first);
    *going = 0;
    for (int i = 0; i < count; i++) {
        if (i < MOST_LISTED && tutti_web_run_init(&run, site, entries[i]->d_name) == TUTTI_OK) {
            tutti_json_append(&list, tutti_web_run_json(&run));
            *going += run.going;
        }
        if (i < MOST_LISTED)
            tutti_web_run_fini(&run);
        free(entries[i]);
    }
    free(entries);
    tutti_text_fini(&path);
    return list;
}

enum tutti_err tutti_web_list_runs(struct tutti_web_site *site, const struct tutti_web_request *request,
                                   struct tutti_http_answer *answer)
{
    unsigned going;
    struct tutti_web_run run;
    json_t *list = site->folder.path ? list_runs(site, &going) : json_array();
    (void)request;
    if (site->plan.attach && tutti_web_run_init(&run, site, TUTTI_WEB_ATTACHED) == TUTTI_OK) {
        tutti_json_append(&list, tutti_web_run_json(&run));
        tutti_web_run_fini(&run);
    }
    tutti_web_answer_json(answer, 200, list);
    return TUTTI_OK;
}

enum tutti_err tutti_web_tell_run(struct tutti_web_site *site, const struct tutti_web_request *request,
                                  struct tutti_http_answer *answer)
{
    struct tutti_web_run run;
    enum tutti_err err = tutti_web_run_init(&run, site, request->id);
    if (!err)
        tutti_web_answer_json(answer, 200, tutti_web_run_json_all(&run));
    tutti_web_run_fini(&run);
    return err;
}

enum tutti_err tutti_web_forget_run(struct tutti_web_site *site, const struct tutti_web_request *request,
                                    struct tutti_http_answer *answer)
{
    struct tutti_web_run run;
    enum tutti_err err = tutti_web_run_init(&run, site, request->id);
    if (!err && run.going)
        err = tutti_fail(TUTTI_ERR_STATE, "this run goes on; stop it first");
    else if (!err && tutti_fs_remove_tree(run.folder) != 0)
        err = tutti_fail(TUTTI_ERR_STATE, "not all files of the run could be removed: %s", strerror(errno));
    tutti_web_run_fini(&run);
    TRY(err);
    tutti_web_answer_json(answer, 200, json_object());
    return TUTTI_OK;
}

/* ---- beginning ---- */

/* What a run is made of. */
struct beginning {
    struct tutti_web_site *site;
    struct tutti_web_run run;
    char *file;                       /* what is simulated, as the command line has it, in the folder that is served */
    struct tutti_web_command command; /* as it is started */
    struct tutti_web_command shown;   /* as people type it */
};

/* Letters and digits that sort by time. */
static void make_id(char id[64])
{
    time_t now = time(NULL);
    struct tm utc;
    gmtime_r(&now, &utc);
    size_t length = strftime(id, 40, "%Y%m%d-%H%M%S-", &utc);
    snprintf(id + length, 64 - length, "%06x", (unsigned)(randombytes_random() & 0xffffff));
}

static enum tutti_err make_folder(struct beginning *beginning)
{
    struct tutti_text path = {0};
    make_id(beginning->run.id);
    tutti_text_printf(&path, "%s/.tutti/runs/%s", beginning->site->folder.path, beginning->run.id);
    beginning->run.folder = path.text;
    if (path.failed)
        return tutti_fail_memory();
    return tutti_fs_make_folder(path.text)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_STATE, "%s cannot be made: %s", path.text, strerror(errno));
}

/* In the reader: saves the document of the request as it was drawn, for the run of its id, whose folder is there. */
static enum tutti_err save_document(struct tutti_web_site *site, const struct tutti_web_request *request,
                                    struct tutti_http_answer *answer)
{
    struct tutti_web_draft draft;
    struct tutti_text text = {0}, path = {0}, copy = {0};
    json_t *body;
    TRY(tutti_web_need_json(request, &body));
    json_t *document = json_object_get(body, "document");
    tutti_text_printf(&path, "%s/.tutti/runs/%s/system.ssp", site->folder.path, request->id);
    tutti_text_printf(&copy, "%s/.tutti/runs/%s/document.json", site->folder.path, request->id);
    enum tutti_err err = tutti_web_document_take(&site->folder, document, &draft, &text);
    if (!err && (path.failed || copy.failed))
        err = tutti_fail_memory();
    if (!err)
        err = tutti_web_draft_pack(&draft, &text, path.text);
    if (!err && json_dump_file(document, copy.text, JSON_COMPACT | JSON_REAL_PRECISION(17)) != 0)
        err = tutti_fail(TUTTI_ERR_STATE, "%s cannot be written", copy.text);
    tutti_text_fini(&text);
    tutti_web_draft_fini(&draft);
    json_decref(body);
    tutti_text_fini(&path);
    tutti_text_fini(&copy);
    TRY(err);
    tutti_web_answer_json(answer, 200, json_object());
    return TUTTI_OK;
}

static enum tutti_err put_document(struct beginning *beginning, const struct tutti_web_request *request)
{
    struct tutti_http_answer answer = {0};
    struct tutti_web_request asked = *request;
    struct tutti_text file = {0};
    tutti_text_printf(&file, ".tutti/runs/%s/system.ssp", beginning->run.id);
    beginning->file = file.text;
    memcpy(asked.id, beginning->run.id, sizeof asked.id);
    TRY(file.failed ? tutti_fail_memory() : TUTTI_OK);
    TRY(tutti_web_reader_ask(beginning->site->reader, save_document, &asked, &answer));
    enum tutti_err err = tutti_web_answer_fail(&answer);
    tutti_web_answer_fini(&answer);
    return err;
}

static enum tutti_err put_system(struct beginning *beginning, const struct tutti_web_request *request, json_t *body)
{
    json_t *document = json_object_get(body, "document");
    const char *path = json_string_value(json_object_get(body, "path"));
    char *found;
    if (json_is_object(document))
        return put_document(beginning, request);
    if (!path)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "a run needs a \"path\" or a \"document\"");
    beginning->file = tutti_str_copy(path);
    char *plain = strndup(path, strcspn(path, "#"));
    enum tutti_err err = beginning->file && plain
                             ? tutti_web_folder_find(&beginning->site->folder, plain, TUTTI_WEB_FILE, &found)
                             : tutti_fail_memory();
    free(plain);
    TRY(err);
    free(found);
    return TUTTI_OK;
}

static void add_file(struct tutti_web_command *command, const struct beginning *beginning, const char *option,
                     const char *name)
{
    struct tutti_text text = {0};
    tutti_text_printf(&text, ".tutti/runs/%s/%s", beginning->run.id, name);
    tutti_web_command_add(command, option);
    tutti_web_command_add(command, text.failed ? "" : text.text);
    command->failed |= text.failed;
    tutti_text_fini(&text);
}

static enum tutti_err make_command(struct beginning *beginning, json_t *body)
{
    static const char *const more[] = {"--live",      "127.0.0.1:0", "--log",      "json",
                                       "--log-level", "info",        "--progress", "none"};
    struct tutti_web_command *both[] = {&beginning->command, &beginning->shown};
    json_t *options = json_object_get(body, "options");
    for (size_t i = 0; i < 2; i++) {
        tutti_web_command_add(both[i], i ? "tutti" : beginning->site->plan.program);
        tutti_web_command_add(both[i], "run");
        tutti_web_command_add(both[i], beginning->file);
        if (options)
            TRY(tutti_web_command_add_options(both[i], &beginning->site->folder, options, TUTTI_IN_RUN));
        add_file(both[i], beginning, "-o", "result.h5");
        if (json_is_true(json_object_get(body, "steps")))
            add_file(both[i], beginning, "--step-log", "steps.csv");
    }
    add_file(&beginning->command, beginning, "--stats", "stats.json");
    for (size_t i = 0; i < sizeof more / sizeof *more; i++)
        tutti_web_command_add(&beginning->command, more[i]);
    return beginning->command.failed || beginning->shown.failed ? tutti_fail_memory() : TUTTI_OK;
}

/* `pid` 0: it does not go on yet. */
static enum tutti_err note(const struct beginning *beginning, json_t *body, pid_t pid)
{
    struct tutti_text command = {0};
    json_t *json = json_object(), *options = json_object_get(body, "options");
    json_t *document = json_object_get(body, "document"), *path = json_object_get(document, "path");
    char birth[32] = "", *file = tutti_web_run_file(&beginning->run, "run.json");
    if (pid)
        tutti_web_process_birth(pid, birth);
    tutti_web_command_show(&beginning->shown, &command);
    tutti_json_set(&json, "file",
                   json_is_string(path) ? json_incref(path)
                   : document           ? json_incref(json_object_get(document, "name"))
                                        : tutti_text_json(beginning->file));
    tutti_json_set(&json, "options", options ? json_incref(options) : json_object());
    tutti_json_set(&json, "command", command.failed ? NULL : tutti_text_json(command.text));
    tutti_json_set(&json, "begun", json_integer(time(NULL)));
    tutti_json_set(&json, "pid", json_integer(pid));
    tutti_json_set(&json, "birth", json_string(birth));
    char *text = json ? json_dumps(json, JSON_INDENT(1)) : NULL;
    enum tutti_err err = TUTTI_OK;
    if (!text || !file)
        err = tutti_fail_memory();
    else if (!tutti_fs_replace(file, text, strlen(text)))
        err = tutti_fail(TUTTI_ERR_STATE, "%s cannot be written: %s", file, strerror(errno));
    free(text);
    free(file);
    json_decref(json);
    tutti_text_fini(&command);
    return err;
}

static enum tutti_err begin(struct beginning *beginning, const struct tutti_web_request *request, json_t *body)
{
    pid_t pid;
    TRY(make_folder(beginning));
    TRY(put_system(beginning, request, body));
    TRY(make_command(beginning, body));
    TRY(note(beginning, body, 0));
    char *log = tutti_web_run_file(&beginning->run, "log.jsonl");
    enum tutti_err err = log ? tutti_web_command_start(&beginning->command, beginning->site->folder.path, log, &pid)
                             : tutti_fail_memory();
    free(log);
    return err ? err : note(beginning, body, pid);
}

enum tutti_err tutti_web_start_run(struct tutti_web_site *site, const struct tutti_web_request *request,
                                   struct tutti_http_answer *answer)
{
    struct beginning beginning = {.site = site};
    json_t *body;
    unsigned going;
    TRY(tutti_web_need_json(request, &body));
    json_decref(list_runs(site, &going));
    enum tutti_err err = going < MOST_GOING
                             ? begin(&beginning, request, body)
                             : tutti_fail(TUTTI_ERR_STATE, "%u runs go on already; stop one first", going);
    if (err && beginning.run.folder)
        (void)tutti_fs_remove_tree(beginning.run.folder);
    else if (!err)
        tutti_web_answer_json(answer, 201, json_pack("{s:s}", "id", beginning.run.id));
    json_decref(body);
    tutti_web_command_fini(&beginning.command);
    tutti_web_command_fini(&beginning.shown);
    free(beginning.file);
    free(beginning.run.folder);
    return err;
}

/* ---- while it goes on ---- */

static enum tutti_err fail_over(const struct tutti_web_run *run)
{
    return run->going ? tutti_fail(TUTTI_ERR_STATE, "this run is about to begin; try again")
                      : tutti_fail(TUTTI_ERR_STATE, "this run is over");
}

enum tutti_err tutti_web_order_run(struct tutti_web_site *site, const struct tutti_web_request *request,
                                   struct tutti_http_answer *answer)
{
    struct tutti_web_run run;
    struct tutti_text out = {0};
    unsigned status = 0;
    enum tutti_err err = tutti_web_run_init(&run, site, request->id);
    if (!err && (!run.going || !run.address[0]))
        err = fail_over(&run);
    if (!err)
        err = tutti_web_upstream_ask(run.address, run.token, "POST", "/orders", request->http->body,
                                     request->http->size, &status, &out);
    tutti_web_run_fini(&run);
    if (err)
        tutti_text_fini(&out);
    TRY(err);
    tutti_web_answer_text(answer, "application/json", out.text, out.length);
    answer->status = status;
    return TUTTI_OK;
}

/* Of a run that is over: what it was, and how it ended. */
static enum tutti_err tell_end(const struct tutti_web_run *run, struct tutti_http_answer *answer)
{
    struct tutti_text text = {0};
    json_t *json = tutti_web_run_json(run);
    const char *const members[] = {"state", json_string_value(json_object_get(json, "state")), "message",
                                   json_string_value(json_object_get(json, "message")), NULL};
    char *all = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    tutti_text_printf(&text, "event: run\ndata: %s\n\n", all ? all : "{}");
    tutti_news_add_texts(&text, "end", members);
    free(all);
    json_decref(json);
    if (text.failed) {
        tutti_text_fini(&text);
        return tutti_fail_memory();
    }
    tutti_web_answer_text(answer, "text/event-stream", text.text, text.length);
    return TUTTI_OK;
}

/* What those who watch have asked for goes on to the run. */
static void put_target(struct tutti_text *target, const struct tutti_web_request *request)
{
    static const char *const names[] = {"columns", "past"};
    char separator = '?';
    tutti_text_append(target, "/events");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = request->http->argument(request->http, names[i]);
        if (!value)
            continue;
        tutti_text_printf(target, "%c%s=", separator, names[i]);
        tutti_web_upstream_escape(target, value);
        separator = '&';
    }
}

static enum tutti_err relay(struct tutti_web_site *site, const struct tutti_web_run *run,
                            const struct tutti_web_request *request, struct tutti_http_answer *answer)
{
    struct tutti_text target = {0};
    int fd = -1;
    put_target(&target, request);
    enum tutti_err err = target.failed
                             ? tutti_fail_memory()
                             : tutti_web_upstream_open(run->address, run->token, "GET", target.text, "", 0, &fd);
    tutti_text_fini(&target);
    TRY(err);
    *answer = (struct tutti_http_answer){
        .status = 200, .type = "text/event-stream", .headers = {{"X-Accel-Buffering", "no"}}};
    return tutti_web_relay_open(&site->relays, fd, &answer->stream) ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_web_watch_run(struct tutti_web_site *site, const struct tutti_web_request *request,
                                   struct tutti_http_answer *answer)
{
    struct tutti_web_run run;
    enum tutti_err err = tutti_web_run_init(&run, site, request->id);
    if (!err && run.going && !run.address[0])
        err = fail_over(&run);
    else if (!err && run.going)
        err = relay(site, &run, request, answer);
    else if (!err)
        err = tell_end(&run, answer);
    tutti_web_run_fini(&run);
    return err;
}

/* ---- results ---- */

static enum tutti_err result_of(struct tutti_web_site *site, const struct tutti_web_request *request, const char *name,
                                char **path)
{
    const char *id;
    TRY(tutti_web_need(request, name, &id));
    return tutti_web_run_result(path, NULL, site, id);
}

enum tutti_err tutti_web_compare_runs(struct tutti_web_site *site, const struct tutti_web_request *request,
                                      struct tutti_http_answer *answer)
{
    char *a = NULL, *b = NULL, *json = NULL;
    const char *rtol = request->http->argument(request->http, "rtol");
    struct tutti_tell_option option = {"rtol", rtol};
    enum tutti_err err = result_of(site, request, "a", &a);
    if (!err)
        err = result_of(site, request, "b", &b);
    if (!err)
        err = tutti_tell_comparison(&json, a, b, &option, rtol ? 1 : 0, NULL);
    free(a);
    free(b);
    TRY(err);
    tutti_web_answer_text(answer, "application/json", json, strlen(json));
    return TUTTI_OK;
}

/* ---- for Prometheus ---- */

enum tutti_err tutti_web_measure(struct tutti_web_site *site, const struct tutti_web_request *request,
                                 struct tutti_http_answer *answer)
{
    struct tutti_text text = {0};
    unsigned going = 0;
    json_t *list = site->folder.path ? list_runs(site, &going) : NULL;
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
        tutti_text_printf(&text, "# HELP tutti_web_%s %s\n# TYPE tutti_web_%s %s\ntutti_web_%s %lu\n", rows[i].name,
                          rows[i].help, rows[i].name, rows[i].type, rows[i].name, rows[i].value);
    json_decref(list);
    if (text.failed) {
        tutti_text_fini(&text);
        return tutti_fail_memory();
    }
    tutti_web_answer_text(answer, "text/plain; version=0.0.4; charset=utf-8", text.text, text.length);
    return TUTTI_OK;
}
