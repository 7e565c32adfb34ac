/* SPDX-License-Identifier: MIT */
/* plot_groups.h - which variables share a panel if no option says it, and what stands above the panel. */
#ifndef TUTTI_CLI_PLOT_GROUPS_H
#define TUTTI_CLI_PLOT_GROUPS_H

#include "plot.h"

enum { PLOT_MOST_PANELS = 8 };

struct plot_group {
    size_t *members; /* traces */
    size_t count;
};

/* Marks traces that plot_groups_find wants to look at. */
void plot_groups_want(struct plot *plot);
/* Panels by the unit (of a system) that variables are of and by their physical unit; where that is not known, by their
 * size. Where that would be too many panels: those of one name, of all units, together; else all of one physical unit. What
 * moves comes first. Tells the log what is left out. */
TUTTI_CHECKED enum tutti_err plot_groups_find(struct plot *plot, struct plot_group groups[PLOT_MOST_PANELS],
                                              size_t *count);

/* The texts of a panel (plot_words.c). */
struct plot_words {
    const char *name, *unit;   /* above the panel; NULL: none */
    const char *const *labels; /* of each member, for the legend */
    bool legend;               /* it is needed to tell what the curves are */
};
TUTTI_CHECKED enum tutti_err plot_words_find(struct plot *plot, struct plot_words *words, const size_t *members,
                                             size_t count);

#endif
