/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "console.h"
#include "output.h"
#include "run_options.h"
#include "told_options.h"

/* By the ending of the file; NULL: none. */
static const char *form_of(const char *output)
{
    static const char *const forms[][2] = {{".svg", "svg"}, {".dot", "dot"}, {".gv", "dot"}, {".json", "json"}};
    if (strcmp(output, "-") == 0)
        return "dot";
    size_t length = strlen(output);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        size_t ending = strlen(forms[i][0]);
        if (length > ending && strcmp(output + length - ending, forms[i][0]) == 0)
            return forms[i][1];
    }
    return NULL;
}

static bool write_file(const char *output, const char *text)
{
    bool standard = strcmp(output, "-") == 0;
    FILE *file = standard ? stdout : fopen(output, "we");
    errno = file ? 0 : errno;
    bool good = file && fputs(text, file) != EOF && fflush(file) == 0;
    int error = errno;
    if (file && !standard && fclose(file) != 0 && good) {
        good = false;
        error = errno;
    }
    if (!good)
        output_complain(output, error);
    return good;
}

/* The log: the valid part of a faulty system is drawn, but the command fails. `context` counts the errors. */
static void count_errors(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    unsigned *errors = context;
    *errors += level == TUTTI_LOG_ERROR;
    console_log(NULL, level, origin, text);
}

int command_graph(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "--output"), *phase = arguments_value(arguments, "--phase");
    const char *form = output ? form_of(output) : NULL;
    unsigned errors = 0;
    struct tutti_log log = {TUTTI_LOG_WARNING, count_errors, &errors};
    struct tutti_run_options *options = NULL;
    char *text = NULL;
    if (!form) {
        fputs("tutti graph: -o OUT.svg, OUT.dot or OUT.json is needed: the file to write\n", stderr);
        return EXIT_USAGE;
    }
    if (strcmp(output, "-") != 0 && !output_can_be_written(output))
        return EXIT_FAILED;
    enum tutti_err err = run_options_make(&options, arguments);
    if (!err) {
        tutti_options_set_log(options, &log);
        err = tutti_tell_graph(&text, options, form, phase ? phase : "initial");
    }
    int status = err                                       ? told_options_fail(arguments, err)
                 : !write_file(output, text) || errors > 0 ? EXIT_FAILED
                                                           : EXIT_DONE;
    tutti_tell_free(text);
    tutti_options_free(options);
    return status;
}
