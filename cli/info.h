/* SPDX-License-Identifier: MIT */
/* info.h - the texts of `tutti info` about FMUs and systems. */
#ifndef TUTTI_CLI_INFO_H
#define TUTTI_CLI_INFO_H

#include <stdbool.h>

#include "base/text.h"
#include "fmu/description/description.h"
#include "fmu/fmu.h"

/* The words of a system; its exit status. */
int info_print_system(const char *path, bool variables);

/* Prints text of a file: nothing in it may steer the terminal. */
void info_put(const char *text);
/* Prints "WORD         TEXT"; nothing if there is no text. */
void info_line(const char *word, const char *text);
/* Frees a text that was printed; if memory was not enough for it, the command fails in the end. */
void info_release(struct tt_text *text);
void info_print_experiment(const struct tt_experiment *experiment);
/* Prints terminals, with their content if `members`, and layered standards. Nothing if there are none. */
void info_print_terminals(struct tt_fmu *fmu, bool members);
void info_print_layers(struct tt_fmu *fmu);

#endif
