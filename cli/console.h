/* SPDX-License-Identifier: MIT */
/* console.h - what a person sees on stderr: log lines and the progress line. */
#ifndef TUTTI_CLI_CONSOLE_H
#define TUTTI_CLI_CONSOLE_H

#include <stdbool.h>
#include <tutti/tutti.h>

/* Log sink: "tutti: warning: ball: text". Clears the progress line first. */
void console_log(void *context, enum tutti_log_level level, const char *origin, const char *text);
/* "tutti: error: MESSAGE" */
void console_error(const char *message);

/* Is there a person watching stderr? */
bool console_is_terminal(void);
/* May what is written to `fd` have colours? It is a terminal that has them, and NO_COLOR is not set. */
bool console_has_colours(int fd);
/* Columns of the terminal that `fd` is; 80 if it is none. */
int console_width(int fd);
/* Draws the progress line; a callback for struct tutti_run_options. */
void console_progress(void *context, const struct tutti_progress *progress);
void console_clear_progress(void);

#endif
