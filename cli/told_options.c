/* SPDX-License-Identifier: MIT */
#include "told_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "run_options.h"

static bool is_own(const char *name, const char *const *own)
{
    while (*own && strcmp(*own, name) != 0)
        own++;
    return *own != NULL;
}

enum tutti_err told_options_read(struct tt_display_options *given, const struct arguments *arguments,
                                 const char *const *own)
{
    struct tutti_tell_option *options = calloc(arguments->given_count + 1, sizeof *options);
    *given = (struct tt_display_options){.options = options};
    if (!options)
        return tt_fail_memory();
    for (size_t i = 0; i < arguments->given_count; i++) {
        const struct option *option = arguments->given[i].option;
        if (!is_own(option->name, own))
            options[given->count++] = (struct tutti_tell_option){option->name + strlen("--"),
                                                                 option->argument ? arguments->given[i].value : "true"};
    }
    return TUTTI_OK;
}

int told_options_fail(const struct arguments *arguments, enum tutti_err err)
{
    if (err == TUTTI_ERR_ARGUMENT)
        fprintf(stderr, "tutti %s: %s\n", arguments->command->name, tutti_err_message());
    else
        console_error(tutti_err_message());
    return run_exit_status(err);
}
