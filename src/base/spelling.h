/* SPDX-License-Identifier: MIT */
/* spelling.h - how messages name options. In the library's texts an option is `--step`, so that it is told from the word; a program
 * that is not the command knows it as `step`, and its messages lose the dashes here, in one place. */
#ifndef TUTTI_BASE_SPELLING_H
#define TUTTI_BASE_SPELLING_H

#include <stdbool.h>

/* For all threads; false at first. tutti_options_name_with_dashes is the same for programs. */
void tutti_spelling_set_dashes(bool dashes);
bool tutti_spelling_has_dashes(void);

/* Takes the dashes away, in place, unless they are wanted: of `--a...`, at the beginning of a word. */
void tutti_spelling_apply(char *text);

#endif
