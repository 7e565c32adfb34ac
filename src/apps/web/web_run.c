/* SPDX-License-Identifier: MIT */
#include "apps/web/web_run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fs.h"
#include "base/number.h"
#include "results/result.h"
#include "apps/describe/json.h"
#include "apps/web/command.h"
#include "apps/web/upstream.h"

enum { MOST_MESSAGES = 200 };

/* ---- its folder ---- */

char *tt_web_run_file(const struct tt_web_run *run, const char *name)
{
    struct tt_text text = {0};
    tt_text_printf(&text, "%s/%s", run->folder, name);
    if (text.failed)
        tt_text_fini(&text);
    return text.text;
}

/* NULL: it is not there, or is none. */
static json_t *web_run_load(const struct tt_web_run *run, const char *name)
{
    char *path = tt_web_run_file(run, name);
    json_t *json = path ? json_load_file(path, 0, NULL) : NULL;
    free(path);
    return json;
}

/* Returns all output of the run, which belongs to the caller; NULL: none. */
static char *read_run_log(const struct tt_web_run *run)
{
    size_t size;
    char *path = tt_web_run_file(run, "log.jsonl"), *text = path ? tt_fs_read_whole(path, &size) : NULL;
    free(path);
    return text;
}

/* "live at http://127.0.0.1:4711/?token=..." */
static void web_run_find_address(struct tt_web_run *run)
{
    static const char LIVE[] = "live at http://", TOKEN[] = "/?token=";
    char *log = read_run_log(run), *live = log ? strstr(log, LIVE) : NULL, *token = live ? strstr(live, TOKEN) : NULL;
    if (token && token - live < 200) {
        live += sizeof LIVE - 1;
        snprintf(run->address, sizeof run->address, "%.*s", (int)(token - live), live);
        token += sizeof TOKEN - 1;
        snprintf(run->token, sizeof run->token, "%.*s", (int)strspn(token, "0123456789abcdef"), token);
    }
    free(log);
}

/* Checks whether it is running; the first call after its end records how it ended. */
static void web_run_update(struct tt_web_run *run)
{
    int status;
    pid_t pid = (pid_t)json_integer_value(json_object_get(run->about, "pid"));
    const char *birth = json_string_value(json_object_get(run->about, "birth"));
    char *exit_file = tt_web_run_file(run, "exit");
    if (!exit_file || access(exit_file, F_OK) == 0 || pid <= 0) {
        free(exit_file);
        return;
    }
    if (waitpid(pid, &status, WNOHANG) == pid) {
        char text[64];
        int length = WIFSIGNALED(status) ? snprintf(text, sizeof text, "signal %d", WTERMSIG(status))
                                         : snprintf(text, sizeof text, "status %d", WEXITSTATUS(status));
        (void)tt_fs_replace(exit_file, text, (size_t)length);
    } else
        run->going = tt_command_is_running(pid, birth);
    free(exit_file);
}

enum tutti_err tt_web_run_init(struct tt_web_run *run, const struct tt_web_site *site, const char *id)
{
    struct tt_text folder = {0};
    *run = (struct tt_web_run){0};
    snprintf(run->id, sizeof run->id, "%s", id);
    if (site->plan.attach && strcmp(id, TUTTI_WEB_ATTACHED) == 0) {
        run->going = true;
        snprintf(run->address, sizeof run->address, "%s", site->plan.attach);
        snprintf(run->token, sizeof run->token, "%s", site->plan.attach_token);
        return TUTTI_OK;
    }
    if (site->folder.path)
        tt_text_printf(&folder, "%s/.tutti/runs/%s", site->folder.path, id);
    run->folder = folder.text;
    if (folder.failed)
        return tt_fail_memory();
    run->about = run->folder ? web_run_load(run, "run.json") : NULL;
    if (!json_is_object(run->about))
        return tt_fail(TUTTI_ERR_IO, "there is no run '%s'", tt_text_excerpt(id).text);
    web_run_update(run);
    if (run->going)
        web_run_find_address(run);
    return TUTTI_OK;
}

void tt_web_run_fini(struct tt_web_run *run)
{
    free(run->folder);
    json_decref(run->about);
}

enum tutti_err tt_web_run_result(char **path, bool *going, const struct tt_web_site *site, const char *id)
{
    struct tt_web_run run;
    *path = NULL;
    if (strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(id))
        return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is not a run", tt_text_excerpt(id).text);
    enum tutti_err err = tt_web_run_init(&run, site, id);
    *path = !err && run.folder ? tt_web_run_file(&run, "result.h5") : NULL;
    if (going)
        *going = run.going;
    tt_web_run_fini(&run);
    return err || *path ? err : tt_fail(TUTTI_ERR_IO, "this run has no result here");
}

/* ---- what is known of it ---- */

static json_t *find_metric(const char *metrics, const char *name)
{
    struct tt_text key = {0};
    double value;
    json_t *json = NULL;
    tt_text_printf(&key, "\ntutti_run_%s ", name);
    const char *found = metrics && !key.failed ? strstr(metrics, key.text) : NULL;
    if (found) {
        found += key.length;
        if (tt_number_read_double(found, strcspn(found, "\n"), &value))
            json = tt_json_number(value);
    }
    tt_text_fini(&key);
    return json ? json : json_null();
}

/* Adds the progress that a running run reports. */
static void add_progress(const struct tt_web_run *run, json_t **json)
{
    struct tt_text metrics = {0};
    bool answered = run->address[0] && tt_upstream_request(run->address, run->token, "GET", "/metrics", "", 0,
                                                           &(unsigned){0}, &metrics) == TUTTI_OK;
    const char *text = answered ? metrics.text : NULL;
    json_t *paused = find_metric(text, "paused");
    tt_json_set(json, "state",
                json_string(!answered                       ? "starting"
                            : json_number_value(paused) > 0 ? "paused"
                                                            : "running"));
    json_decref(paused);
    tt_json_set(json, "time", find_metric(text, "time_seconds"));
    tt_json_set(json, "start", find_metric(text, "start_seconds"));
    tt_json_set(json, "stop", find_metric(text, "stop_seconds"));
    tt_json_set(json, "seconds", find_metric(text, "elapsed_seconds"));
    tt_text_fini(&metrics);
}

static json_t *last_run_error(const struct tt_web_run *run)
{
    json_t *found = NULL;
    char *log = read_run_log(run), *rest = NULL;
    for (char *line = log ? strtok_r(log, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        json_t *json = json_loads(line, 0, NULL);
        const char *level = json_string_value(json_object_get(json, "level"));
        if (!json || (level && strcmp(level, "error") == 0)) {
            json_decref(found);
            found = json ? json_incref(json_object_get(json, "message")) : tt_json_text(line);
        }
        json_decref(json);
    }
    free(log);
    return found;
}

static const char *run_state_name(const char *status)
{
    if (status && strcmp(status, "completed") == 0)
        return "done";
    return status && (strcmp(status, "interrupted") == 0 || strcmp(status, "terminated") == 0) ? "interrupted"
                                                                                               : "failed";
}

static json_t *describe_run_end(const struct tt_web_run *run, json_t *statistics)
{
    json_t *error = json_object_get(statistics, "error");
    if (json_is_string(error))
        return json_incref(error);
    if (json_is_object(error) && json_object_get(error, "message"))
        return json_incref(json_object_get(error, "message"));
    if (statistics)
        return json_null();
    json_t *message = last_run_error(run);
    if (message)
        return message;
    size_t size;
    char *path = tt_web_run_file(run, "exit"), *ended = path ? tt_fs_read_whole(path, &size) : NULL;
    message = ended ? json_sprintf("its process has ended with %s", ended)
                    : json_string("its process is gone, and has left no word");
    free(ended);
    free(path);
    return message;
}

static void web_run_add_end(const struct tt_web_run *run, json_t **json, json_t *statistics)
{
    json_t *start = json_object_get(statistics, "start"), *stop = json_object_get(statistics, "stop");
    json_t *end = json_object_get(statistics, "end"), *reached = json_is_number(end) ? end : stop;
    double seconds = json_number_value(json_object_get(statistics, "setup_seconds")) +
                     json_number_value(json_object_get(statistics, "loop_seconds"));
    tt_json_set(json, "state", json_string(run_state_name(json_string_value(json_object_get(statistics, "status")))));
    tt_json_set(json, "time", json_is_number(reached) ? json_incref(reached) : json_null());
    tt_json_set(json, "start", start ? json_incref(start) : json_null());
    tt_json_set(json, "stop", stop ? json_incref(stop) : json_null());
    tt_json_set(json, "seconds", statistics ? tt_json_number(seconds) : json_null());
    tt_json_set(json, "message", describe_run_end(run, statistics));
}

static void web_run_copy_member(json_t **json, const char *key, json_t *from)
{
    json_t *value = json_object_get(from, key);
    tt_json_set(json, key, value ? json_incref(value) : json_null());
}

static json_t *web_run_describe(const struct tt_web_run *run, json_t *statistics)
{
    json_t *json = json_object();
    tt_json_set(&json, "id", json_string(run->id));
    web_run_copy_member(&json, "file", run->about);
    web_run_copy_member(&json, "options", run->about);
    web_run_copy_member(&json, "command", run->about);
    web_run_copy_member(&json, "begun", run->about);
    tt_json_set(&json, "message", json_null());
    if (run->going)
        add_progress(run, &json);
    else
        web_run_add_end(run, &json, statistics);
    return json;
}

json_t *tt_web_run_json(const struct tt_web_run *run)
{
    json_t *statistics = run->going ? NULL : web_run_load(run, "stats.json");
    json_t *json = web_run_describe(run, statistics);
    json_decref(statistics);
    return json;
}

/* ---- all of it ---- */

static json_t *columns_json(const struct tt_web_run *run)
{
    json_t *list = json_array();
    struct tutti_result *result = NULL;
    struct tutti_result_variable variable;
    char *path = run->folder ? tt_web_run_file(run, "result.h5") : NULL;
    if (path && access(path, F_OK) == 0 && tt_result_open_names(&result, path) == TUTTI_OK)
        for (size_t i = 0; tutti_result_describe(result, i, &variable); i++)
            tt_json_append(&list, json_pack("{s:o, s:s*, s:o, s:o, s:b}", "name", tt_json_text(variable.name), "type",
                                            result->types ? result->types[i] : NULL, "unit",
                                            variable.unit ? tt_json_text(variable.unit) : json_null(), "description",
                                            variable.description ? tt_json_text(variable.description) : json_null(),
                                            "held", variable.held));
    tutti_result_free(result);
    free(path);
    return list;
}

static json_t *messages_json(const struct tt_web_run *run)
{
    json_t *list = json_array();
    char *log = run->folder ? read_run_log(run) : NULL, *rest = NULL;
    for (char *line = log ? strtok_r(log, "\n", &rest) : NULL; line; line = strtok_r(NULL, "\n", &rest)) {
        json_t *json = json_loads(line, 0, NULL), *unit = json_object_get(json, "unit");
        const char *level = json_string_value(json_object_get(json, "level")),
                   *text = json_string_value(json_object_get(json, "message"));
        if (!text || strncmp(text, "live at ", 8) != 0) /* which has its token */
            tt_json_append(&list,
                           json_pack("{s:s, s:o, s:o}", "level", level ? level : "info", "origin",
                                     unit ? json_incref(unit) : json_null(), "text", tt_json_text(text ? text : line)));
        if (json_array_size(list) > MOST_MESSAGES)
            json_array_remove(list, 0);
        json_decref(json);
    }
    free(log);
    return list;
}

json_t *tt_web_run_json_all(const struct tt_web_run *run)
{
    json_t *statistics = run->going ? NULL : web_run_load(run, "stats.json"), *json = web_run_describe(run, statistics);
    json_t *document = run->folder ? web_run_load(run, "document.json") : NULL;
    tt_json_set(&json, "columns", columns_json(run));
    tt_json_set(&json, "messages", messages_json(run));
    tt_json_set(&json, "statistics", statistics ? statistics : json_null());
    tt_json_set(&json, "document", document ? document : json_null());
    return json;
}
