/* SPDX-License-Identifier: MIT */
/* display.h - text for people in columns of a terminal: how wide it is, where to break it, colours. */
#ifndef TUTTI_CLI_DISPLAY_H
#define TUTTI_CLI_DISPLAY_H

#include <stdbool.h>
#include <stdio.h>

enum display_tint { DISPLAY_PLAIN, DISPLAY_BOLD, DISPLAY_WARNING };

struct display {
    FILE *file;
    int width;   /* columns; INT_MAX if it is not a terminal: readers of a pipe expect whole lines */
    bool colour; /* a terminal, unless NO_COLOR or TERM=dumb forbids */
};

struct display display_of(FILE *file);

/* Columns that valid UTF-8 takes: 0 for accents that join a letter, 2 for wide letters of East Asia and pictures. */
int display_columns(const char *text);
/* Returns the length of the longest prefix that fits into `columns` columns. */
size_t display_fit(const char *text, int columns);

/* Text printed between the two calls has this tint. */
void display_start(const struct display *display, enum display_tint tint);
void display_end(const struct display *display, enum display_tint tint);
/* "label        text", broken at blanks where the terminal ends, the following lines indented to where the text began. */
void display_line(const struct display *display, const char *label, enum display_tint tint, const char *text);

#endif
