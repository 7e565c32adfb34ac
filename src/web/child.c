/* SPDX-License-Identifier: MIT */
#include "web/child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/kill.h"
#include "web/run_options.h"

enum { LARGEST_OUTPUT = 256 << 20, LONGEST_COMPLAINT = 4000 };
static const double LONGEST = 120; /* seconds that a question may take */

/* ---- words ---- */

void tutti_web_command_fini(struct tutti_web_command *command)
{
    for (size_t i = 0; i < command->count; i++)
        free(command->words[i]);
    free(command->words);
    *command = (struct tutti_web_command){0};
}

void tutti_web_command_add(struct tutti_web_command *command, const char *word)
{
    char *copy = command->failed ? NULL : tutti_str_copy(word);
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

static bool is_plain(const char *word)
{
    return *word &&
           strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=:,+%@") == strlen(word);
}

void tutti_web_command_show(const struct tutti_web_command *command, struct tutti_text *out)
{
    for (size_t i = 0; i < command->count; i++) {
        const char *word = command->words[i];
        tutti_text_append(out, i ? " " : "");
        if (is_plain(word)) {
            tutti_text_append(out, word);
            continue;
        }
        tutti_text_append(out, "'");
        for (; *word; word++)
            tutti_text_append_n(out, *word == '\'' ? "'\\''" : word, *word == '\'' ? 4 : 1);
        tutti_text_append(out, "'");
    }
}

/* ---- options ---- */

static enum tutti_err add_option(struct tutti_web_command *command, const struct tutti_web_folder *folder,
                                 const struct tutti_option *option, const char *text)
{
    struct tutti_text name = {0};
    char *path = NULL;
    tutti_text_printf(&name, "--%s", option->name);
    if (name.failed)
        return tutti_fail_memory();
    tutti_web_command_add(command, name.text);
    tutti_text_fini(&name);
    if (option->files)
        TRY(tutti_web_folder_find(folder, text, TUTTI_WEB_FILE, &path));
    tutti_web_command_add(command, path ? path : text);
    free(path);
    return TUTTI_OK;
}

static enum tutti_err add_value(struct tutti_web_command *command, const struct tutti_web_folder *folder,
                                const struct tutti_option *option, json_t *value)
{
    size_t i;
    json_t *item;
    if (json_is_array(value)) {
        json_array_foreach(value, i, item)
        {
            TRY(add_value(command, folder, option, item));
        }
        return TUTTI_OK;
    }
    bool flag = option->kind == TUTTI_OPTION_FLAG || option->kind == TUTTI_OPTION_UNITS ||
                option->kind == TUTTI_OPTION_CHOICE;
    if (json_is_false(value) || json_is_null(value))
        return TUTTI_OK;
    if (flag && (json_is_true(value) || (json_is_string(value) && strcmp(json_string_value(value), "true") == 0))) {
        struct tutti_text name = {0};
        tutti_text_printf(&name, "--%s", option->name);
        tutti_web_command_add(command, name.failed ? "" : name.text);
        tutti_text_fini(&name);
        return TUTTI_OK;
    }
    return json_is_string(value) ? add_option(command, folder, option, json_string_value(value))
                                 : tutti_fail(TUTTI_ERR_ARGUMENT, "the option '%s' takes a text", option->name);
}

enum tutti_err tutti_web_command_add_options(struct tutti_web_command *command, const struct tutti_web_folder *folder,
                                             json_t *options, unsigned takes)
{
    const char *name;
    json_t *value;
    if (!json_is_object(options))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "\"options\" has to be an object");
    json_object_foreach(options, name, value)
    {
        const struct tutti_option *option = tutti_option_find(name);
        if (!option || !tutti_web_option_offered(option))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "there is no option '%s' for the page", tutti_str_show(name).text);
        if (option->commands & takes)
            TRY(add_value(command, folder, option, value));
    }
    return command->failed ? tutti_fail_memory() : TUTTI_OK;
}

/* ---- processes ---- */

static enum tutti_err spawn(const struct tutti_web_command *command, const posix_spawn_file_actions_t *actions,
                            pid_t *pid)
{
    posix_spawnattr_t attributes;
    sigset_t none;
    sigemptyset(&none);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSID);
    posix_spawnattr_setsigmask(&attributes, &none);
    int error = posix_spawn(pid, command->words[0], actions, &attributes, command->words, environ);
    posix_spawnattr_destroy(&attributes);
    return error ? tutti_fail(TUTTI_ERR_LIMIT, "%s cannot be started: %s", command->words[0], strerror(error))
                 : TUTTI_OK;
}

/* What comes out of both, until both are closed; false: it takes too long, or is too much. */
static bool collect(const int fds[2], struct tutti_text *const texts[2])
{
    struct pollfd watched[] = {{.fd = fds[0], .events = POLLIN}, {.fd = fds[1], .events = POLLIN}};
    double end = tutti_clock_now() + LONGEST;
    char bytes[65536];
    while (watched[0].fd >= 0 || watched[1].fd >= 0) {
        double left = end - tutti_clock_now();
        if (left <= 0 || (poll(watched, 2, (int)(1e3 * left) + 1) < 0 && errno != EINTR))
            return false;
        for (size_t i = 0; i < 2; i++) {
            ssize_t count = watched[i].fd >= 0 && watched[i].revents ? read(watched[i].fd, bytes, sizeof bytes) : -1;
            if (count > 0)
                tutti_text_append_n(texts[i], bytes, (size_t)count);
            else if (count == 0)
                watched[i].fd = -1;
            if (texts[i]->length > LARGEST_OUTPUT)
                return false;
        }
    }
    return !texts[0]->failed && !texts[1]->failed;
}

/* What it complains of, without its own name before it. */
static enum tutti_err complain(const struct tutti_text *complaint)
{
    const char *text = complaint->text ? complaint->text : "", *error = strstr(text, "error: ");
    text = error ? error + strlen("error: ") : text;
    size_t length = strcspn(text, "\n");
    return tutti_fail(TUTTI_ERR_FORMAT, "%.*s", (int)(length < LONGEST_COMPLAINT ? length : LONGEST_COMPLAINT),
                      length ? text : "it has ended without a word");
}

enum tutti_err tutti_web_command_ask(const struct tutti_web_command *command, struct tutti_text *out)
{
    struct tutti_text complaint = {0};
    posix_spawn_file_actions_t actions;
    int output[2] = {-1, -1}, errors[2] = {-1, -1}, status = 0;
    pid_t pid;
    if (command->failed || pipe2(output, O_CLOEXEC) != 0)
        return tutti_fail_memory();
    if (pipe2(errors, O_CLOEXEC) != 0 || posix_spawn_file_actions_init(&actions) != 0) {
        close(output[0]);
        close(output[1]);
        return tutti_fail_memory();
    }
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);
    enum tutti_err err = spawn(command, &actions, &pid);
    posix_spawn_file_actions_destroy(&actions);
    close(output[1]);
    close(errors[1]);
    if (!err) {
        bool whole = collect((const int[]){output[0], errors[0]}, (struct tutti_text *const[]){out, &complaint});
        if (!whole)
            (void)tutti_kill_group(pid, SIGKILL);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        if (!whole)
            err = tutti_fail(TUTTI_ERR_LIMIT, "it takes longer than %g s", LONGEST);
        else if (status != 0)
            err = complain(&complaint);
    }
    close(output[0]);
    close(errors[0]);
    tutti_text_fini(&complaint);
    return err;
}

enum tutti_err tutti_web_command_start(const struct tutti_web_command *command, const char *where, const char *log,
                                       pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    if (command->failed || posix_spawn_file_actions_init(&actions) != 0)
        return tutti_fail_memory();
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addchdir_np(&actions, where);
    enum tutti_err err = spawn(command, &actions, pid);
    posix_spawn_file_actions_destroy(&actions);
    return err;
}
