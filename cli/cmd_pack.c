/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <tutti/pack.h>

#include "commands.h"
#include "console.h"
#include "run_options.h"

static int pack(const struct arguments *arguments, const struct run_options *run)
{
    const char *version = arguments_value(arguments, "--fmi");
    const char **expose = calloc(arguments->given_count + 1, sizeof *expose);
    if (!expose) {
        console_error("out of memory");
        return EXIT_FAILED;
    }
    size_t count = arguments_values(arguments, "--expose", expose);
    enum tutti_err err = tutti_pack(arguments_value(arguments, "--output"), run->options,
                                    version ? (unsigned)strtoul(version, NULL, 10) : 2, expose, count);
    free(expose);
    if (err)
        console_error(tutti_err_message());
    return run_exit_status(err);
}

static int command(const struct arguments *arguments, bool wraps)
{
    struct run_options run;
    if (!arguments_value(arguments, "--output")) {
        fprintf(stderr, "tutti %s: -o OUT.fmu is missing\n", arguments->command->name);
        return EXIT_USAGE;
    }
    int status = run_options_read(&run, arguments);
    if (status == EXIT_DONE && wraps && !arguments_value(arguments, "--interface"))
        status = run_exit_status(tutti_options_set(run.options, "interface", "me"));
    if (status == EXIT_DONE)
        status = pack(arguments, &run);
    run_options_fini(&run);
    return status;
}

int command_pack(const struct arguments *arguments)
{
    return command(arguments, false);
}

/* A system of one FMU, which Tutti's solvers integrate. */
int command_wrap(const struct arguments *arguments)
{
    return command(arguments, true);
}
