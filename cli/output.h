/* SPDX-License-Identifier: MIT */
/* output.h - files that commands write. */
#ifndef TUTTI_CLI_OUTPUT_H
#define TUTTI_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* "tutti: error: 'PATH' cannot be written: ..."; `number` is an errno, or 0 if nobody knows. */
void output_complain(const char *path, int number);
/* Can it be written? Says so, before any work, if not. A file that is there is left as it is, and none is made. */
bool output_can_be_written(const char *path);
/* Writes what is in `content`, from its place on. A file that is there is replaced when the new one is whole, where its folder
 * allows that. False after a message. */
bool output_replace(const char *path, FILE *content);

#endif
