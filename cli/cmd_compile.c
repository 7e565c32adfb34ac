/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <sys/stat.h>

#include "commands.h"
#include "fmu/build/compile_fmu.h"
#include "console.h"
#include "output.h"
#include "run_options.h"

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static enum tutti_err compile(const char *file, const char *output, const struct tt_compile_fmu_options *options)
{
    struct tt_fmu *fmu = NULL;
    enum tutti_err err = tt_fmu_open(&fmu, file, NULL);
    if (!err)
        err = tt_compile_fmu(fmu, output, options);
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    tt_fmu_free(fmu);
    return tt_fail_restore(&failure);
}

int command_compile(const struct arguments *arguments)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = console_log};
    const char *file = arguments->operands[0], *given = arguments_value(arguments, "--output");
    bool quiet = arguments_value(arguments, "--quiet") != NULL, limited = false;
    struct tt_text words = {0};
    struct tt_compile_fmu_options options = {.compiler = arguments_value(arguments, "--compiler"),
                                             .platform = arguments_value(arguments, "--platform"),
                                             .sanitize = arguments_value(arguments, "--sanitize") != NULL,
                                             .words = &words,
                                             .log = quiet ? NULL : &log};
    if (!arguments_number(arguments, "--timeout", &limited, &options.seconds))
        return EXIT_USAGE;
    if (limited && !(options.seconds > 0 && options.seconds <= 1e6)) {
        fputs("tutti compile: --timeout takes a number of seconds greater than 0, at most 1e6\n", stderr);
        return EXIT_USAGE;
    }
    if (!given && is_folder(file)) {
        fputs("tutti compile: a folder stays as it is; name the FMU to write with -o OUT.fmu\n", stderr);
        return EXIT_USAGE;
    }
    const char *output = given ? given : file;
    if (!output_can_be_written(output)) /* before any work */
        return EXIT_FAILED;
    enum tutti_err err = compile(file, output, &options);
    if (err)
        console_error(tutti_err_message());
    if (words.length > 0 && !words.failed)
        fputs(words.text, stderr);
    tt_text_fini(&words);
    if (!err && options.sanitize && !quiet)
        fprintf(stderr,
                "%s needs the sanitizer's library before all others: LD_PRELOAD=$(%s -print-file-name=libasan.so) "
                "tutti run %s\n",
                output, options.compiler ? options.compiler : "cc", output);
    return run_exit_status(err);
}
