/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>

#include "base/str.h"
#include "commands.h"
#include "console.h"
#include "fmi/fmu.h"

static void print_finding(void *context, enum tutti_severity severity, const char *file, unsigned line,
                          const char *text)
{
    (void)context;
    const char *word = severity == TUTTI_FINDING_ERROR ? "error" : "warning";
    if (line > 0)
        printf("%s: %s:%u: %s\n", word, file, line, text);
    else
        printf("%s: %s: %s\n", word, file, text);
}

static void print_count(const char *file, const struct tutti_findings *findings)
{
    char *name = tutti_str_copy(file);
    if (name)
        tutti_str_make_printable(name);
    fprintf(stderr, "%s: %u error%s, %u warning%s\n", name ? name : "", findings->errors,
            findings->errors == 1 ? "" : "s", findings->warnings, findings->warnings == 1 ? "" : "s");
    free(name);
}

int command_check(const struct arguments *arguments)
{
    struct tutti_findings findings = {.report = print_finding};
    struct tutti_fmu *fmu;
    enum tutti_err err = tutti_fmu_open(&fmu, arguments->operands[0], &findings);
    if (!err)
        err = tutti_fmu_check(fmu, &findings);
    tutti_fmu_free(fmu);
    if (err) {
        /* What makes the file unusable is a finding as well; its message names file and line. */
        printf("error: %s\n", tutti_err_message());
        findings.errors++;
    }
    fflush(stdout); /* findings before the count, also where both go to one file */
    if (!arguments_value(arguments, "--quiet"))
        print_count(arguments->operands[0], &findings);
    return findings.errors ? EXIT_FAILED : EXIT_DONE;
}
