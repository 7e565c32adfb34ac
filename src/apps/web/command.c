/* SPDX-License-Identifier: MIT */
#include "apps/web/command.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/describe/json.h"
#include "apps/web/routes.h"
#include "base/child.h"
#include "base/wall_clock.h"

enum { LARGEST_OUTPUT = 256 << 20, LONGEST_COMPLAINT = 4000 };
static const double LONGEST = 120; /* seconds that a question may take */

/* ---- words ---- */

void tt_command_fini(struct tt_command *command)
{
    for (size_t i = 0; i < command->count; i++)
        free(command->words[i]);
    free(command->words);
    *command = (struct tt_command){0};
}

void tt_command_add(struct tt_command *command, const char *word)
{
    char *copy = command->failed ? NULL : tt_text_copy(word);
    char **more = copy ? reallocarray(command->words, command->count + 2, sizeof *more) : NULL;
    if (!more) {
        free(copy);
        command->failed = true;
        return;
    }
    command->words = more;
    more[command->count++] = copy;
    more[command->count] = NULL;
}

void tt_command_show(const struct tt_command *command, struct tt_text *out)
{
    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->words[i];
        size_t plain = strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+%@");
        tt_text_append(out, i ? " " : "");
        if (*word && !word[plain]) {
            tt_text_append(out, word);
            continue;
        }
        tt_text_append(out, "'");
        for (; *word; word++)
            tt_text_append_n(out, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
        tt_text_append(out, "'");
    }
}

/* ---- options ---- */

static enum tutti_err add_run_option(struct tt_command *command, const struct tt_served_folder *folder,
                                     const struct tt_option *option, const char *text)
{
    struct tt_text name = {0};
    char *path = NULL;
    tt_text_printf(&name, "--%s", option->name);
    if (name.failed)
        return tt_fail_memory();
    tt_command_add(command, name.text);
    tt_text_fini(&name);
    if (option->files)
        TRY(tt_served_folder_find(folder, text, TUTTI_WEB_FILE, &path));
    tt_command_add(command, path ? path : text);
    free(path);
    return TUTTI_OK;
}

static enum tutti_err add_option_value(struct tt_command *command, const struct tt_served_folder *folder,
                                       const struct tt_option *option, json_t *value)
{
    size_t i;
    json_t *item;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            TRY(add_option_value(command, folder, option, item));
        }
        return TUTTI_OK;
    }
    bool flag = option->kind == TUTTI_OPTION_FLAG || option->kind == TUTTI_OPTION_UNITS ||
                option->kind == TUTTI_OPTION_CHOICE;
    if (json_is_false(value) || json_is_null(value))
        return TUTTI_OK;
    if (flag && (json_is_true(value) || (json_is_string(value) && strcmp(json_string_value(value), "true") == 0))) {
        struct tt_text name = {0};
        tt_text_printf(&name, "--%s", option->name);
        tt_command_add(command, name.failed ? "" : name.text);
        tt_text_fini(&name);
        return TUTTI_OK;
    }
    return json_is_string(value) ? add_run_option(command, folder, option, json_string_value(value))
                                 : tt_fail(TUTTI_ERR_ARGUMENT, "the option '%s' takes a text", option->name);
}

enum tutti_err tt_command_add_options(struct tt_command *command, const struct tt_served_folder *folder,
                                      json_t *options, unsigned takes)
{
    const char *name;
    json_t *value;
    if (!json_is_object(options))
        return tt_fail(TUTTI_ERR_ARGUMENT, "\"options\" has to be an object");
    json_object_foreach(options, name, value)
    {
        const struct tt_option *option = tt_options_find(name);
        if (!option || !tt_command_offers_option(option))
            return tt_fail(TUTTI_ERR_ARGUMENT, "there is no option '%s' for the page", tt_text_excerpt(name).text);
        if (option->commands & takes)
            TRY(add_option_value(command, folder, option, value));
    }
    return command->failed ? tt_fail_memory() : TUTTI_OK;
}

/* ---- processes ---- */

static enum tutti_err command_spawn(const struct tt_command *command, const char *where, const int streams[3],
                                    pid_t *pid)
{
    int error = tt_child_start(pid, &(struct tt_child_plan){.words = (const char *const *)command->words,
                                                            .folder = where,
                                                            .streams = {streams[0], streams[1], streams[2]},
                                                            .flags = TUTTI_CHILD_SESSION | TUTTI_CHILD_CLEAR_SIGNALS});
    return error ? tt_fail(TUTTI_ERR_LIMIT, "%s cannot be started: %s", command->words[0], strerror(error)) : TUTTI_OK;
}

/* Reads the output of both streams until they are closed; false: it takes too long, or is too much. */
static bool command_collect(const int fds[2], struct tt_text *const texts[2])
{
    struct pollfd watched[] = {{.fd = fds[0], .events = POLLIN}, {.fd = fds[1], .events = POLLIN}};
    double end = tt_wall_clock_now() + LONGEST;
    char bytes[65536];
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        double left = end - tt_wall_clock_now();
        if (left <= 0 || (poll(watched, 2, (int)(1e3 * left) + 1) < 0 && errno != EINTR))
            return false;
        for (size_t i = 0; i < 2; i++) {
            ssize_t count = watched[i].fd >= 0 && watched[i].revents ? read(watched[i].fd, bytes, sizeof bytes) : -1;
            if (count > 0)
                tt_text_append_n(texts[i], bytes, (size_t)count);
            else if (count == 0)
                watched[i].fd = -1;
            if (texts[i]->length > LARGEST_OUTPUT)
                return false;
        }
    }
    return !texts[0]->failed && !texts[1]->failed;
}

/* Reports the command's error message without its program name. */
static enum tutti_err command_report_stderr(const struct tt_text *complaint)
{
    const char *text = complaint->text ? complaint->text : "", *error = strstr(text, "error: ");
    text = error ? error + strlen("error: ") : text;
    size_t length = strcspn(text, "\n");
    return tt_fail(TUTTI_ERR_FORMAT, "%.*s", (int)(length < LONGEST_COMPLAINT ? length : LONGEST_COMPLAINT),
                   length ? text : "it has ended without a word");
}

enum tutti_err tt_command_query(const struct tt_command *command, struct tt_text *out)
{
    struct tt_text complaint = {0};
    int output[2] = {-1, -1}, errors[2] = {-1, -1}, status = 0;
    pid_t pid;
    if (command->failed || pipe2(output, O_CLOEXEC) != 0)
        return tt_fail_memory();
    if (pipe2(errors, O_CLOEXEC) != 0) {
        close(output[0]);
        close(output[1]);
        return tt_fail_memory();
    }
    enum tutti_err err = command_spawn(command, NULL, (const int[]){TUTTI_CHILD_NOWHERE, output[1], errors[1]}, &pid);
    close(output[1]);
    close(errors[1]);
    if (!err) {
        bool whole = command_collect((const int[]){output[0], errors[0]}, (struct tt_text *const[]){out, &complaint});
        if (!whole)
            (void)tt_child_kill_group(pid, SIGKILL);
        (void)tt_child_wait(pid, INFINITY, &status);
        if (!whole)
            err = tt_fail(TUTTI_ERR_LIMIT, "it takes longer than %g s", LONGEST);
        else if (status != 0)
            err = command_report_stderr(&complaint);
    }
    close(output[0]);
    close(errors[0]);
    tt_text_fini(&complaint);
    return err;
}

enum tutti_err tt_command_start(const struct tt_command *command, const char *where, const char *log, pid_t *pid)
{
    if (command->failed)
        return tt_fail_memory();
    int fd = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return tt_fail(TUTTI_ERR_LIMIT, "%s cannot be started: %s: %s", command->words[0], log, strerror(errno));
    enum tutti_err err = command_spawn(command, where, (const int[]){TUTTI_CHILD_NOWHERE, fd, fd}, pid);
    close(fd);
    return err;
}

/* proc(5): "PID (NAME) STATE ...", whose 22nd field is the start time; a name may contain blanks and brackets. */
void tt_command_process_start(pid_t pid, char out[32])
{
    enum { STATE = 3, BIRTH = 22 };
    char path[64];
    FILE *file;
    out[0] = '\0';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    file = fopen(path, "re");
    char text[1024] = "";
    size_t size = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[size] = '\0';
    char *rest = strrchr(text, ')'), *field = rest ? strtok_r(rest + 1, " ", &rest) : NULL;
    bool ended = field && (*field == 'Z' || *field == 'X');
    for (int number = STATE; field && number < BIRTH; number++)
        field = strtok_r(NULL, " ", &rest);
    if (field && !ended)
        snprintf(out, 32, "%.31s", field);
}

bool tt_command_is_running(pid_t pid, const char *birth)
{
    char now[32];
    tt_command_process_start(pid, now);
    return now[0] && birth && strcmp(now, birth) == 0;
}

/* Returns true for the options of a run that the page offers: those that define what is computed and where on this
 * machine. Options that name files outside the folder, other machines, or permissions of FMUs are for the command line
 * only. */

bool tt_command_offers_option(const struct tt_option *option)
{
    static const char *const EXCLUDED[] = {"nodes",  "mpi",    "key",  "confine", "allow",
                                           "limits", "output", "live", "file"};
    if (!(option->commands & TUTTI_IN_RUN) || option->group == TUTTI_GROUP_NONE ||
        option->group == TUTTI_GROUP_FEDERATION || option->group == TUTTI_GROUP_GOING_ON)
        return false;
    if (option->files && strcmp(option->name, "input") != 0)
        return false;
    for (size_t i = 0; i < sizeof EXCLUDED / sizeof *EXCLUDED; i++)
        if (strcmp(option->name, EXCLUDED[i]) == 0)
            return false;
    return true;
}

static json_t *option_json(const struct tt_option *option)
{
    static const char *const kinds[] = {
        [TUTTI_OPTION_FLAG] = "flag", [TUTTI_OPTION_COUNT] = "count", [TUTTI_OPTION_NUMBER] = "number",
        [TUTTI_OPTION_TIME] = "time", [TUTTI_OPTION_TEXT] = "text",   [TUTTI_OPTION_TEXTS] = "texts",
        [TUTTI_OPTION_STEP] = "step", [TUTTI_OPTION_UNITS] = "units", [TUTTI_OPTION_CHOICE] = "choice"};
    static const char *const groups[] = {[TUTTI_GROUP_NONE] = "",
                                         [TUTTI_GROUP_MODEL] = "model",
                                         [TUTTI_GROUP_TIMES] = "times",
                                         [TUTTI_GROUP_ACCURACY] = "accuracy",
                                         [TUTTI_GROUP_COUPLING] = "coupling",
                                         [TUTTI_GROUP_WHERE] = "where",
                                         [TUTTI_GROUP_GOING_ON] = "",
                                         [TUTTI_GROUP_FEDERATION] = "",
                                         [TUTTI_GROUP_RESULTS] = "results"};
    json_t *json = json_object();
    tt_json_set(&json, "name", json_string(option->name));
    tt_json_set(&json, "kind", json_string(kinds[option->kind]));
    tt_json_set(&json, "group", json_string(groups[option->group]));
    tt_json_set(&json, "argument", option->argument ? json_string(option->argument) : json_null());
    tt_json_set(&json, "default",
                option->words       ? json_string(option->words[0].name)
                : option->otherwise ? json_string(option->otherwise)
                                    : json_null());
    json_t *words = json_array();
    for (const struct tutti_option_word *word = option->words; word && word->name; word++)
        tt_json_append(&words, json_pack("{s:s, s:s*}", "word", word->name, "help", word->text));
    tt_json_set(&json, "words", words);
    tt_json_set(&json, "help", json_string(option->help ? option->help : ""));
    tt_json_set(&json, "annotation",
                option->annotation == TUTTI_OF_UNIT     ? json_string("unit")
                : option->annotation == TUTTI_OF_SYSTEM ? json_string("system")
                                                        : json_null());
    tt_json_set(&json, "repeatable",
                json_boolean(option->kind == TUTTI_OPTION_TEXTS || option->kind == TUTTI_OPTION_STEP ||
                             option->kind == TUTTI_OPTION_UNITS));
    return json;
}

enum tutti_err tt_command_list_options(struct tt_web_site *site, const struct tt_web_request *request,
                                       struct tt_http_response *answer)
{
    json_t *list = json_array();
    (void)site;
    (void)request;
    for (const struct tt_option *option = tt_options; option->name; option++)
        if (tt_command_offers_option(option))
            tt_json_append(&list, option_json(option));
    tt_response_json(answer, 200, list);
    return TUTTI_OK;
}
