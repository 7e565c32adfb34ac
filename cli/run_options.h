/* SPDX-License-Identifier: MIT */
/* run_options.h - what the commands that simulate have in common: options, messages, progress, exit status. */
#ifndef TUTTI_CLI_RUN_OPTIONS_H
#define TUTTI_CLI_RUN_OPTIONS_H

#include <tutti/tutti.h>

#include "options.h"

/* The options of a run, and further data for the command. */
struct run_options {
    struct tutti_run_options *options;
    bool quiet;
    double worth_lines; /* seconds that a run takes at least to get lines of progress */
};

/* Collects the files of the operands, and every given option of a run. *options belongs to the caller
 * (tutti_options_free) unless it is NULL, also on failure. */
TUTTI_CHECKED enum tutti_err run_options_make(struct tutti_run_options **options, const struct arguments *arguments);

/* Reads every option of a run that the command takes; its operands are the files. The progress line and Ctrl-C are set up, too.
 * EXIT_DONE, or the exit status after a message. run_options_fini follows in any case. */
int run_options_read(struct run_options *run, const struct arguments *arguments);
void run_options_fini(struct run_options *run);

/* The exit status that an error of a run means. */
int run_exit_status(enum tutti_err err);

#endif
