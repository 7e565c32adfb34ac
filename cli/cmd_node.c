/* SPDX-License-Identifier: MIT */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "base/crash.h"
#include "base/number.h"
#include "commands.h"
#include "run/key_files.h"
#include "run/node/node_daemon.h"
#include "run/node/worker_process.h"
#include "base/fs.h"
#include "console.h"
#include "node_start.h"
#include "apps/study/worker_nodes.h"
#include "apps/describe/json.h"

static volatile sig_atomic_t ended_by, drained;

/* The first signal ends the node and its workers, the second one at once. */
static void on_signal(int number)
{
    if (ended_by) {
        tt_crash_run();
        _exit(128 + number); /* workers end with us */
    }
    ended_by = number;
}

static void on_drain(int number)
{
    drained = number;
}

static int make_keys(const char *path)
{
    struct tt_curve_keys keys;
    char text[TUTTI_KEY_TEXT];
    if (tt_key_files_create(path, &keys)) {
        console_error(tutti_err_message());
        return EXIT_FAILED;
    }
    tt_curve_auth_format_key(keys.public_key, text);
    tt_curve_auth_wipe_keys(&keys);
    puts(text);
    return EXIT_DONE;
}

static bool read_size(const struct arguments *arguments, const char *name, uint64_t *size)
{
    const char *text = arguments_value(arguments, name);
    if (!text || tt_node_policy_parse_size(text, size))
        return true;
    fprintf(stderr, "tutti node: %s: '%s' is no size; write 500M, 10G\n", name, text);
    return false;
}

static bool read_seconds(const struct arguments *arguments, const char *name, double *seconds)
{
    const char *text = arguments_value(arguments, name);
    if (!text || (tt_number_read_double(text, strlen(text), seconds) && *seconds > 0))
        return true;
    fprintf(stderr, "tutti node: %s: '%s' is no number of seconds above 0\n", name, text);
    return false;
}

static bool read_count(const struct arguments *arguments, const char *name, uint32_t *count)
{
    uint64_t value = 0;
    const char *text = arguments_value(arguments, name);
    if (text && (!tt_number_read_uint(text, strlen(text), &value) || value == 0 || value > UINT32_MAX)) {
        fprintf(stderr, "tutti node: %s: '%s' is no number from 1 on\n", name, text);
        return false;
    }
    *count = (uint32_t)value;
    return true;
}

static bool read_confine(const struct arguments *arguments, enum tt_confine *how)
{
    const char *word = arguments_value(arguments, "--confine");
    int place = TUTTI_CONFINE_STRICT;
    if (word && tt_options_choose("confine", word, &place)) {
        fprintf(stderr, "tutti node: %s\n", tutti_err_message());
        return false;
    }
    *how = (enum tt_confine)place;
    return true;
}

/* False after a message about a wrong limit. */
static bool read_limits(const struct arguments *arguments, struct tt_node_options *options)
{
    return read_confine(arguments, &options->rules.how) && read_size(arguments, "--cache-size", &options->cache_size) &&
           read_seconds(arguments, "--idle", &options->idle) &&
           read_count(arguments, "--max-runs", &options->max_runs) &&
           read_count(arguments, "--max-ranks", &options->max_ranks) &&
           read_seconds(arguments, "--max-seconds", &options->max_seconds) &&
           read_size(arguments, "--max-memory", &options->max_memory);
}

struct telling {
    enum tutti_log_level level;
};

/* Prints an event of the node as a line. */
static void tell(void *context, const struct tt_node_event *event)
{
    const struct telling *telling = context;
    if (event->level > telling->level)
        return;
    if (!console_is_json()) {
        console_log(NULL, event->level, NULL, event->text);
        return;
    }
    char id[CONSOLE_RUN_TEXT];
    json_t *fields = json_pack("{s:s}", "event", event->name);
    if (event->id) {
        console_show_run(event->id, id);
        json_object_set_new(fields, "run", json_string(id));
        json_object_set_new(fields, "number", json_integer(event->run));
    }
    if (event->peer && event->peer[0])
        json_object_set_new(fields, "peer", tt_json_text(event->peer));
    if (event->user && event->user[0])
        json_object_set_new(fields, "user", tt_json_text(event->user));
    if (event->reason)
        json_object_set_new(fields, "reason", tt_json_text(event->reason));
    console_write_json(event->level, fields, event->text);
}

static void heed_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
}

/* Names of files, on the heap. */
struct names {
    char **items;
    size_t count;
};

/* False after a message. */
static bool add_name(struct names *names, const char *folder, const char *name)
{
    char **items = reallocarray(names->items, names->count + 1, sizeof *items);
    if (items)
        names->items = items;
    bool added = items && asprintf(&items[names->count], "%s%s%s", folder, *folder ? "/" : "", name) >= 0;
    names->count += added;
    if (!added)
        console_error("out of memory");
    return added;
}

static int is_public_key(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".pub") == 0;
}

/* All FILE.pub of a folder. False after a message. */
static bool add_keys_of(struct names *names, const char *folder)
{
    struct dirent **entries = NULL;
    int count = scandir(folder, &entries, is_public_key, alphasort);
    bool good = true;
    for (int i = 0; i < count; i++) {
        good = good && add_name(names, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (count <= 0)
        fprintf(stderr, "tutti node: --allow: there is no key (FILE.pub) in the folder %s\n", folder);
    return good && count > 0;
}

/* The files of --allow; `values` has room for what was given. False after a message. */
static bool list_keys(const struct arguments *arguments, const char **values, struct names *names)
{
    size_t count = arguments_values(arguments, "--allow", values);
    bool good = true;
    for (size_t i = 0; i < count && good; i++) {
        struct stat st;
        if (stat(values[i], &st) == 0 && S_ISDIR(st.st_mode))
            good = add_keys_of(names, values[i]);
        else
            good = add_name(names, "", values[i]);
    }
    return good;
}

static void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->items[i]);
    free(names->items);
}

static int serve(const struct arguments *arguments, struct tt_node_options *options)
{
    struct names keys = {0};
    heed_signals();
    sigaction(SIGUSR1, &(struct sigaction){.sa_handler = on_drain}, NULL);
    const char **values = calloc(5 * arguments->given_count + 1, sizeof *values);
    if (!values) {
        console_error("out of memory");
        return EXIT_FAILED;
    }
    if (!list_keys(arguments, values, &keys)) {
        names_fini(&keys);
        free(values);
        return EXIT_USAGE;
    }
    options->allow = (const char *const *)keys.items;
    options->allow_count = keys.count;
    const char **next = values;
    options->offers = next;
    options->offer_count = arguments_values(arguments, "--offer", next);
    next += options->offer_count;
    options->env = next;
    options->env_count = arguments_values(arguments, "--env", next);
    next += options->env_count;
    options->allow_fmu = next;
    options->allow_fmu_count = arguments_values(arguments, "--allow-fmu", next);
    next += options->allow_fmu_count;
    options->rules.permits = next;
    options->rules.permit_count = arguments_values(arguments, "--permit", next);
    options->rules.limits = arguments_value(arguments, "--limits");
    enum tutti_err err = tt_node_daemon_serve(options);
    names_fini(&keys);
    free(values);
    if (err)
        console_error(tutti_err_message());
    return err == TUTTI_ERR_ARGUMENT ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_DONE;
}

int command_node(const struct arguments *arguments)
{
    static const char *const worker[] = {"/proc/self/exe", "node", "--worker", NULL};
    if (arguments_value(arguments, "--worker"))
        return tt_worker_process_run(&tt_worker_nodes_role);
    if (arguments_value(arguments, "--keygen"))
        return make_keys(arguments_value(arguments, "--keygen"));
    if (arguments_value(arguments, "--start")) {
        heed_signals();
        return node_start(arguments, &ended_by);
    }
    struct telling telling = {arguments_value(arguments, "--quiet") ? TUTTI_LOG_WARNING : TUTTI_LOG_INFO};
    bool json;
    if (!console_wants_json(arguments, &json))
        return EXIT_USAGE;
    if (json)
        console_use_json(NULL);
    struct tt_node_options options = {
        .listen = arguments_value(arguments, "--listen"),
        .ports = arguments_value(arguments, "--ports"),
        .key = arguments_value(arguments, "--key"),
        .cache = arguments_value(arguments, "--cache"),
        .cache_size = 10000000000,
        .idle = 300,
        .worker = worker,
        .quota = arguments_value(arguments, "--quota"),
        .metrics = arguments_value(arguments, "--metrics"),
        .tell = tell,
        .tell_context = &telling,
        .interrupt = &ended_by,
        .drain = &drained,
    };
    char *cache = options.cache ? NULL : tt_fs_user_cache();
    int status = EXIT_USAGE;
    if (!options.listen)
        fputs("tutti node: --listen HOST:PORT is missing (or --keygen FILE, or --start FILE)\n", stderr);
    else if (!options.cache && !cache)
        fputs("tutti node: there is no home folder; say where files are to be kept: --cache DIR\n", stderr);
    else if (read_limits(arguments, &options)) {
        options.cache = options.cache ? options.cache : cache;
        status = serve(arguments, &options);
    }
    free(cache);
    return status;
}
