/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <tutti/save.h>

#include "commands.h"
#include "console.h"
#include "run_options.h"

int command_new(const struct arguments *arguments)
{
    struct arguments files = *arguments; /* without the one that is written */
    struct run_options run;
    const char *fom = arguments_value(arguments, "--fom");
    if (!fom && arguments->operand_count < 2) {
        fputs("tutti new: OUT.ssp FILE... is missing; usage: tutti new OUT.ssp FILE... [options]\n", stderr);
        return EXIT_USAGE;
    }
    files.operands += !fom;
    files.operand_count -= !fom;
    int status = run_options_read(&run, &files);
    if (status == EXIT_DONE) {
        enum tutti_err err = fom ? tutti_save_fom(fom, run.options) : tutti_save(arguments->operands[0], run.options);
        if (err)
            console_error(tutti_err_message());
        status = run_exit_status(err);
    }
    run_options_fini(&run);
    return status;
}
