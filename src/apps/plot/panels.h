/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_PLOT_PANELS_H
#define TT_APPS_PLOT_PANELS_H

#include "apps/plot/plot.h"

/* Groups variables into panels if no option does, and makes the panels' titles. */

enum { TUTTI_PLOT_MOST_PANELS = 8 };

struct tt_plot_group {
    size_t *members; /* traces */
    size_t count;
};

/* Marks the traces that tt_plot_panels_find_groups considers. */
void tt_plot_panels_mark_wanted(struct tt_plot *plot);
/* Groups variables by component and unit of measure; if that is unknown, by size. If that gives too many panels: by
 * variable name across components, then by unit of measure. Changing variables come first. Logs omitted variables. */
TUTTI_CHECKED enum tutti_err tt_plot_panels_find_groups(struct tt_plot *plot,
                                                        struct tt_plot_group groups[TUTTI_PLOT_MOST_PANELS],
                                                        size_t *count);

/* The texts of a panel (panels.c). */
struct tt_plot_labels {
    const char *name, *unit;   /* above the panel; NULL: none */
    const char *const *labels; /* of each member, for the legend */
    bool legend;               /* needed to identify the curves */
};
TUTTI_CHECKED enum tutti_err tt_plot_panels_find_labels(struct tt_plot *plot, struct tt_plot_labels *words,
                                                        const size_t *members, size_t count);

#endif
