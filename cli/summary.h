/* SPDX-License-Identifier: MIT */
/* summary.h - prints the summary of a run on stderr, after the run. */
#ifndef TUTTI_CLI_SUMMARY_H
#define TUTTI_CLI_SUMMARY_H

#include <tutti/tutti.h>

#include "sim/stats.h"
#include "display.h"

/* `files` are the run's files; `output` is the result file as it was named, NULL if there is none, and `output_path`
 * its location, even if an FMU has changed the working folder. */
struct summary {
    const struct tutti_run_stats *stats;
    const char *const *files;
    size_t file_count;
    const char *output, *output_path;
    bool rtol; /* --rtol is given */
};

void summary_print(const struct summary *summary);

/* Prints the table of units: those with the most time, if there are many, and the sums of the rest and of all. */
void summary_table(const struct display *display, const struct tutti_run_stats *stats);

#endif
