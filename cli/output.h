/* SPDX-License-Identifier: MIT */
/* output.h - files that commands write, and standard output. */
#ifndef TUTTI_CLI_OUTPUT_H
#define TUTTI_CLI_OUTPUT_H

#include <stdbool.h>
#include <stdio.h>

/* First of all: opens what is closed of standard input, output and error, so that no file of ours gets their numbers, and no
 * message is written into it. What is opened cannot be read or written, but for standard error. False: it cannot be done. */
bool output_fill_standard(void);

/* "tutti: error: 'PATH' cannot be written: ..."; `number` is an errno, or 0 if it is not known. */
void output_complain(const char *path, int number);
/* Can it be written? Says so, before any work, if not. A file that is there is left as it is, and none is made. */
bool output_can_be_written(const char *path);
/* Writes what is in `content`, from its place on. A file that is there is replaced when the new one is whole, where its folder
 * allows that. False after a message. */
bool output_replace(const char *path, FILE *content);

/* To be called before code of an FMU runs: from then on, standard output has two halves. What an FMU prints, by whatever
 * means and from whatever thread or process of its own, goes to standard error, where the log is; what we print goes to
 * where standard output led before, through output_standard(), and so do results on standard output. */
void output_keep_apart(void);
/* The stream for what the command itself prints; stdout, until they are kept apart. */
FILE *output_standard(void);
/* Writes out what is in both; false if that fails for ours. */
bool output_finish(void);

#endif
