/* SPDX-License-Identifier: MIT */
/* picture.h - a plot of result files, by options that are given as text; and its picture. */
#ifndef TUTTI_TELL_PLOT_PICTURE_H
#define TUTTI_TELL_PLOT_PICTURE_H

#include "tell/given.h"
#include "tell/plot/plot.h"

/* Texts are borrowed from `given`. tutti_plot_options_fini follows in any case. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tutti_plot_options_read(struct tutti_plot_options *options,
                                                     const struct tutti_given *given);
void tutti_plot_options_fini(struct tutti_plot_options *options);

/* Opens the results and makes the panels; `options` and `log` are borrowed. tutti_plot_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tutti_plot_make(struct tutti_plot *plot, const char *const *results, size_t count,
                                             const struct tutti_plot_options *options, const struct tutti_log *log);

/* Is there such a form of a picture: "svg", "png", "pdf"? */
bool tutti_plot_can_draw(const char *form);

#endif
