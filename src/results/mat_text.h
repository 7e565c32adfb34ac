/* SPDX-License-Identifier: MIT */
/* mat_text.h - names and descriptions as Modelica tools write them into results. */
#ifndef TT_RESULTS_MAT_TEXT_H
#define TT_RESULTS_MAT_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/arena.h"

/* A line of `width` bytes without the blanks or NULs that fill it up, printable; what is not UTF-8 is taken for Latin-1. NULL
 * when memory is out. */
char *tt_mat_reader_text(struct tt_arena *arena, const char *line, size_t width);

/* Cuts "what it is [unit|unit to show]" in two; both are in `text`, or NULL. Dymola puts types there, too: what is
 * "[:#(type=Boolean)]", or of another type than Real, is discrete. */
void tt_mat_reader_split_unit(char *text, const char **unit, const char **description, bool *discrete);

#endif
