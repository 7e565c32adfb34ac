/* SPDX-License-Identifier: MIT */
#include <locale.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <tutti/tutti.h>

#include "base/text.h"
#include "commands.h"
#include "launcher.h"
#include "output.h"
#include "signals.h"

static bool is_help(const char *text)
{
    return strcmp(text, "--help") == 0 || strcmp(text, "-h") == 0;
}

static int run_command(const struct command *command, int argc, char **argv)
{
    struct arguments arguments;
    int status = EXIT_USAGE;
    for (int i = 0; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (is_help(argv[i])) {
            help_print(command);
            return EXIT_DONE;
        }
    if (launcher_is_follower())
        launcher_mute();
    if (arguments_parse(&arguments, command, argc, argv)) {
        pthread_cleanup_push(signals_on_thread_exit, NULL);
        status = command->run(&arguments);
        pthread_cleanup_pop(0);
    }
    arguments_free(&arguments);
    return status;
}

/* Names of commands in other tools. */
static const char *translate(const char *name)
{
    static const char *const words[][2] = {
        {"simulate", "run"}, {"sim", "run"},      {"start", "run"},   {"validate", "check"},
        {"verify", "check"}, {"inspect", "info"}, {"show", "info"},   {"list", "info"},
        {"dump", "info"},    {"diff", "compare"}, {"draw", "graph"},  {"create", "new"},
        {"init", "new"},     {"serve", "node"},   {"worker", "node"}, {"analyse", "analyze"},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(words[i][0], name) == 0)
            return words[i][1];
    return NULL;
}

static int unknown_command(const char *name)
{
    struct tt_text_nearest nearest = {.wanted = name, .best = translate(name)};
    bool translated = nearest.best != NULL;
    for (const struct command *command = commands; command->name && !translated; command++)
        tt_text_nearest_offer(&nearest, command->name);
    if (nearest.best)
        fprintf(stderr, "tutti: there is no command '%s'; did you mean '%s'?\n", name, nearest.best);
    else
        fprintf(stderr, "tutti: there is no command '%s'; 'tutti --help' lists all\n", name);
    return EXIT_USAGE;
}

int main(int argc, char **argv)
{
    if (!output_fill_standard())
        return EXIT_FAILED;

    /* An FMU may activate the locale of the environment for the whole process: this thread keeps the plain one, so that
     * numbers have a decimal point. */
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (plain)
        uselocale(plain);
    tutti_options_name_with_dashes(true);

    int status = EXIT_DONE;
    if (argc < 2 || is_help(argv[1])) {
        help_print_all();
        status = argc < 2 ? EXIT_USAGE : EXIT_DONE;
    } else if (strcmp(argv[1], "--version") == 0) {
        printf("tutti %s\n", tutti_version());
    } else {
        const struct command *command = commands;
        signals_install();
        while (command->name && strcmp(command->name, argv[1]) != 0)
            command++;
        if (!command->name)
            return unknown_command(argv[1]);
        status = run_command(command, argc - 2, argv + 2);
    }

    /* Standard output is a result, too: one that cannot be written is a failure. */
    if (output_finish())
        return status;
    fputs("tutti: error: standard output cannot be written\n", stderr);
    return status == EXIT_DONE ? EXIT_FAILED : status;
}
