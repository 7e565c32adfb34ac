/* SPDX-License-Identifier: MIT */
/* watch_screen.h - a running simulation, drawn in a terminal: its progress, and the last values with a line of their
 * changes. */
#ifndef TUTTI_CLI_WATCH_SCREEN_H
#define TUTTI_CLI_WATCH_SCREEN_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum { WATCH_PAST = 48 }; /* values that a line shows */

struct watch_column {
    char *name, *unit;
    double past[WATCH_PAST]; /* a ring */
    size_t count;            /* that came so far */
};

/* Zeroed: nothing is known yet. */
struct watch_screen {
    char *file, *state, *message;
    double start, stop, time, elapsed;
    unsigned long steps;
    struct watch_column *columns;
    size_t column_count;
    int lines; /* that were drawn, and are drawn over */
    bool over;
};

/* Stores the data of an event. */
void watch_screen_take(struct watch_screen *screen, const char *kind, const json_t *data);
/* Over what was drawn before. */
void watch_screen_draw(struct watch_screen *screen);
void watch_screen_fini(struct watch_screen *screen);

#endif
