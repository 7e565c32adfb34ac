/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_PLOT_GNUPLOT_SCRIPT_H
#define TT_APPS_PLOT_GNUPLOT_SCRIPT_H

#include "apps/plot/plot.h"

/* Where things are in a picture. All sizes are in pixels, for letters of TUTTI_PLOT_FONT. */

enum {
    TUTTI_PLOT_LEFT = 74,
    TUTTI_PLOT_RIGHT = 22,
    TUTTI_PLOT_TOP = 4,
    TUTTI_PLOT_TITLE = 30,
    TUTTI_PLOT_BOTTOM = 48, /* numbers and name of an x axis */
    TUTTI_PLOT_EDGE = 14,   /* where texts above a panel begin */
    TUTTI_PLOT_LINE = 20,   /* of text */
    TUTTI_PLOT_MOST_IN_LEGEND = 24,
};

/* Returns true if the panel shows the numbers of its x axis. Panels over time share the axis of the last panel. */
bool tt_gnuplot_script_has_numbers(const struct tt_plot *plot, size_t panel);
size_t tt_gnuplot_script_count_letters(const char *text); /* its width in a terminal, nearly */
/* A copy of not more than `most` letters, from both ends, with `gap` where some are left out; free it. NULL: out of memory. */
char *tt_gnuplot_script_shorten(const char *text, size_t most, const char *gap);
/* How wide a text is, at most. */
int tt_gnuplot_script_text_width(const char *text);
/* How many letters have room in this width. */
size_t tt_gnuplot_script_letters_in_width(int width);
/* How many curves are named in the legend. */
size_t tt_gnuplot_script_legend_entries(const struct tt_plot_panel *panel);

/* The texts above a panel: its name, and after or below it the legend. */
struct tt_plot_heading {
    int lines;
    int legend_columns; /* 0: no legend */
    int legend_left;    /* where it begins */
};
struct tt_plot_heading tt_gnuplot_script_heading(const struct tt_plot_panel *panel, int width);
/* Space above a panel, and around all of them. */
int tt_gnuplot_script_height_above(const struct tt_plot *plot, size_t panel, int width);
int tt_gnuplot_script_height_around(const struct tt_plot *plot, int width);

#endif
