/* SPDX-License-Identifier: MIT */
#ifndef TT_APPS_PLOT_PANELS_H
#define TT_APPS_PLOT_PANELS_H

#include "apps/plot/plot.h"

/* Which variables share a panel if no option says it, and what stands above the panel. */

enum { TUTTI_PLOT_MOST_PANELS = 8 };

struct tt_plot_group {
    size_t *members; /* traces */
    size_t count;
};

/* Marks traces that tt_plot_panels_find_groups wants to look at. */
void tt_plot_panels_mark_wanted(struct tt_plot *plot);
/* Panels by the unit (of a system) that variables are of and by their physical unit; where that is not known, by their
 * size. Where that would be too many panels: those of one name, of all units, together; else all of one physical unit. What
 * moves comes first. Tells the log what is left out. */
TUTTI_CHECKED enum tutti_err tt_plot_panels_find_groups(struct tt_plot *plot,
                                                        struct tt_plot_group groups[TUTTI_PLOT_MOST_PANELS],
                                                        size_t *count);

/* The texts of a panel (panels.c). */
struct tt_plot_labels {
    const char *name, *unit;   /* above the panel; NULL: none */
    const char *const *labels; /* of each member, for the legend */
    bool legend;               /* it is needed to tell what the curves are */
};
TUTTI_CHECKED enum tutti_err tt_plot_panels_find_labels(struct tt_plot *plot, struct tt_plot_labels *words,
                                                        const size_t *members, size_t count);

#endif
