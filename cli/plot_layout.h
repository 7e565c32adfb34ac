/* SPDX-License-Identifier: MIT */
/* plot_layout.h - where things are in a picture. All sizes are in pixels, for letters of PLOT_FONT. */
#ifndef TUTTI_CLI_PLOT_LAYOUT_H
#define TUTTI_CLI_PLOT_LAYOUT_H

#include "plot.h"

/* What stands around the panels. */
enum {
    PLOT_LEFT = 74,
    PLOT_RIGHT = 22,
    PLOT_TOP = 4,
    PLOT_TITLE = 30,
    PLOT_BOTTOM = 48, /* numbers and name of an x axis */
    PLOT_EDGE = 14,   /* where texts above a panel begin */
    PLOT_LINE = 20,   /* of text */
    PLOT_MOST_IN_LEGEND = 24,
};

/* Does the panel show the numbers of its x axis? Panels over time share those of the last one. */
bool plot_has_numbers(const struct plot *plot, size_t panel);
size_t plot_letters(const char *text); /* its width in a terminal, nearly */
/* A copy of not more than `most` letters, from both ends, with `gap` where some are left out; free it. NULL: out of memory. */
char *plot_shorten(const char *text, size_t most, const char *gap);
/* How wide a text is, at most. */
int plot_text_width(const char *text);
/* How many letters have room in this width. */
size_t plot_letters_in(int width);
/* How many curves are named in the legend. */
size_t plot_legend_entries(const struct plot_panel *panel);

/* The texts above a panel: its name, and after or below it the legend. */
struct plot_heading {
    int lines;
    int legend_columns; /* 0: there is none */
    int legend_left;    /* where it begins */
};
struct plot_heading plot_heading(const struct plot_panel *panel, int width);
/* What a panel needs above itself, and all of them around themselves. */
int plot_height_above(const struct plot *plot, size_t panel, int width);
int plot_height_around(const struct plot *plot, int width);

#endif
