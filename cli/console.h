/* SPDX-License-Identifier: MIT */
/* console.h - what a person sees on stderr: log lines and the progress line. */
#ifndef TUTTI_CLI_CONSOLE_H
#define TUTTI_CLI_CONSOLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <tutti/tutti.h>

struct arguments;

/* What --log asks for; false after a message if that is no way to log. */
bool console_wants_json(const struct arguments *arguments, bool *json);
/* A run in logs: the first digits of its id, enough to tell it from others. */
enum { CONSOLE_RUN_TEXT = 17 };
void console_show_run(const uint8_t id[TUTTI_RUN_ID_SIZE], char text[CONSOLE_RUN_TEXT]);

/* Lines are JSON objects from now on (--log json), each with `run` (a text; NULL: without). Before there are threads. */
void console_use_json(const char *run);
bool console_is_json(void);
/* A line as JSON: time, level, run, the fields (taken; NULL: none) and the message. */
void console_write_json(enum tutti_log_level level, json_t *fields, const char *message);
/* Log sink: "tutti: warning: ball: text", or the same as JSON. Clears the progress line first. */
void console_log(void *context, enum tutti_log_level level, const char *origin, const char *text);
/* "tutti: error: MESSAGE", or the same as JSON. */
void console_error(const char *message);

/* Is there a person watching stderr? */
bool console_is_terminal(void);
/* May what is written to `fd` have colours? It is a terminal that has them, and NO_COLOR is not set. */
bool console_has_colours(int fd);
/* Columns of the terminal that `fd` is; 80 if it is none. */
int console_width(int fd);
/* Draws the progress line; a callback for struct tutti_run_options. */
void console_progress(void *context, const struct tutti_progress *progress);
/* The same for a log: a line for every tenth of the run. `context` is a double: how many seconds a run takes at least to be worth
 * lines. */
void console_progress_lines(void *context, const struct tutti_progress *progress);
void console_clear_progress(void);

#endif
