/* SPDX-License-Identifier: MIT */
/* plot_layout.h - where things are in a picture. All sizes are in pixels, for letters of PLOT_FONT. */
#ifndef TUTTI_CLI_PLOT_LAYOUT_H
#define TUTTI_CLI_PLOT_LAYOUT_H

#include "plot.h"

/* What stands around the panels. */
enum {
    PLOT_LEFT = 94,
    PLOT_RIGHT = 22,
    PLOT_TOP = 4,
    PLOT_TITLE = 30,
    PLOT_BOTTOM = 48, /* numbers and name of an x axis */
    PLOT_MOST_IN_LEGEND = 24,
};

/* Does the panel show the numbers of its x axis? Panels over time share those of the last one. */
bool plot_has_numbers(const struct plot *plot, size_t panel);
size_t plot_letters(const char *text); /* its width in a terminal, nearly */
/* How many letters of a label have room in the legend. */
size_t plot_legend_room(int width, bool terminal);
/* How many curves are named there, and with how many letters at most. */
size_t plot_legend_entries(const struct plot_panel *panel, size_t room, size_t *longest);
/* Columns and lines of a legend in a picture of this width. */
size_t plot_legend_columns(const struct plot_panel *panel, int width, size_t *lines);
/* What a panel needs above itself, and all of them around themselves. */
int plot_height_above(const struct plot *plot, size_t panel, int width);
int plot_height_around(const struct plot *plot, int width);

#endif
