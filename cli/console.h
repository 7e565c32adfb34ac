/* SPDX-License-Identifier: MIT */
/* console.h - output on stderr: log lines and the progress line. */
#ifndef TUTTI_CLI_CONSOLE_H
#define TUTTI_CLI_CONSOLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <tutti/tutti.h>

struct arguments;

/* Reads --log; false after a message if its value is invalid. */
bool console_wants_json(const struct arguments *arguments, bool *json);
/* Identifies a run in logs: the first digits of its id, enough to distinguish it. */
enum { CONSOLE_RUN_TEXT = 17 };
void console_show_run(const uint8_t id[TUTTI_RUN_ID_SIZE], char text[CONSOLE_RUN_TEXT]);

/* Switches lines to JSON objects (--log json), each with `run` (a text; NULL: without). Before there are threads. */
void console_use_json(const char *run);
bool console_is_json(void);
/* A line as JSON: time, level, run, the fields (taken; NULL: none) and the message. */
void console_write_json(enum tutti_log_level level, json_t *fields, const char *message);
/* Log sink: "tutti: warning: ball: text", or the same as JSON. Clears the progress line first. */
void console_log(void *context, enum tutti_log_level level, const char *origin, const char *text);
/* Prints "tutti: error: MESSAGE", or the message as JSON. */
void console_error(const char *message);

/* Returns true if stderr is a terminal. */
bool console_is_terminal(void);
/* Returns true if output to `fd` may have colours: it is a terminal with colours, and NO_COLOR is not set. */
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
