/* SPDX-License-Identifier: MIT */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>
#include <unistd.h>

#include "base/crash.h"
#include "commands.h"
#include "conduct/key_files.h"
#include "conduct/node/node.h"
#include "conduct/node/worker.h"
#include "conduct/userdir.h"
#include "console.h"

static volatile sig_atomic_t ended_by;

/* The first signal ends the node and its workers, the second one at once. */
static void on_signal(int number)
{
    if (ended_by) {
        tutti_crash_run();
        _exit(128 + number); /* workers end with us */
    }
    ended_by = number;
}

static int make_keys(const char *path)
{
    struct tutti_keys keys;
    char text[TUTTI_KEY_TEXT];
    if (tutti_key_files_make(path, &keys)) {
        console_error(tutti_err_message());
        return EXIT_FAILED;
    }
    tutti_key_show(keys.public_key, text);
    tutti_keys_wipe(&keys);
    puts(text);
    return EXIT_DONE;
}

static int serve(const struct arguments *arguments, struct tutti_node_options *options)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGHUP, &action, NULL);
    const char **values = calloc(2 * arguments->given_count + 1, sizeof *values);
    if (!values) {
        console_error("out of memory");
        return EXIT_FAILED;
    }
    options->allow = values;
    options->allow_count = arguments_values(arguments, "--allow", values);
    options->offers = values + options->allow_count;
    options->offer_count = arguments_values(arguments, "--offer", values + options->allow_count);
    enum tutti_err err = tutti_node_serve(options);
    free(values);
    if (err)
        console_error(tutti_err_message());
    return err == TUTTI_ERR_ARGUMENT ? EXIT_USAGE : err ? EXIT_FAILED : EXIT_DONE;
}

int command_node(const struct arguments *arguments)
{
    static const char *const worker[] = {"/proc/self/exe", "node", "--worker", NULL};
    if (arguments_value(arguments, "--worker"))
        return tutti_node_worker();
    if (arguments_value(arguments, "--keygen"))
        return make_keys(arguments_value(arguments, "--keygen"));
    struct tutti_log log = {.level = arguments_value(arguments, "--quiet") ? TUTTI_LOG_WARNING : TUTTI_LOG_INFO,
                            .write = console_log};
    struct tutti_node_options options = {
        .listen = arguments_value(arguments, "--listen"),
        .key = arguments_value(arguments, "--key"),
        .cache = arguments_value(arguments, "--cache"),
        .worker = worker,
        .log = &log,
        .interrupt = &ended_by,
    };
    char *cache = options.cache ? NULL : tutti_userdir_cache();
    int status = EXIT_USAGE;
    if (!options.listen)
        fputs("tutti node: --listen HOST:PORT is missing (or --keygen FILE)\n", stderr);
    else if (!options.cache && !cache)
        fputs("tutti node: there is no home folder; say where files are to be kept: --cache DIR\n", stderr);
    else {
        options.cache = options.cache ? options.cache : cache;
        status = serve(arguments, &options);
    }
    free(cache);
    return status;
}
