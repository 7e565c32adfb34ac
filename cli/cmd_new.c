/* SPDX-License-Identifier: MIT */
#include <tutti/save.h>

#include "commands.h"
#include "console.h"
#include "run_options.h"

int command_new(const struct arguments *arguments)
{
    struct arguments files = *arguments; /* without the one that is written */
    struct run_options run;
    files.operands++;
    files.operand_count--;
    int status = run_options_read(&run, &files);
    if (status == EXIT_DONE) {
        enum tutti_err err = tutti_save(arguments->operands[0], run.options);
        if (err)
            console_error(tutti_err_message());
        status = run_exit_status(err);
    }
    run_options_fini(&run);
    return status;
}
