/* SPDX-License-Identifier: MIT */
/* output.h - files that commands write, and standard output. */
#ifndef TUTTI_CLI_OUTPUT_H
#define TUTTI_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* Called first: opens closed standard streams, so that no other file gets their numbers and receives messages. The
 * opened streams cannot be read or written, except for standard error. False: impossible. */
bool output_fill_standard(void);

/* Prints "tutti: error: 'PATH' cannot be written: ..."; `number` is an errno, or 0 if unknown. */
void output_complain(const char *path, int number);
/* Checks before any work that the file can be written, and reports it if not. It neither changes nor creates the file. */
bool output_can_be_written(const char *path);
/* Writes `content` from its position. An existing file is replaced once the new one is complete, if its folder permits
 * that. False after a message. */
bool output_replace(const char *path, FILE *content);

/* Called before code of an FMU runs: splits standard output. Output of FMUs, from any thread or process, goes to
 * standard error, where the log is; the command's output, through output_standard(), and results on standard output go
 * to the original standard output. */
void output_keep_apart(void);
/* Returns the stream for the command's own output: stdout, until FMUs are kept apart. */
FILE *output_standard(void);
/* Flushes both halves; false if that fails for ours. */
bool output_finish(void);

#endif
