/* SPDX-License-Identifier: MIT */
/* picture.h - a plot of result files, by options that are given as text; and its picture. */
#ifndef TT_APPS_PLOT_PICTURE_H
#define TT_APPS_PLOT_PICTURE_H

#include "apps/describe/describe.h"
#include "apps/plot/plot.h"

/* Texts are borrowed from `given`. tt_plot_options_fini follows in any case. ARGUMENT. */
TUTTI_CHECKED enum tutti_err tt_plot_options_read(struct tt_plot_options *options,
                                                  const struct tt_display_options *given);
void tt_plot_options_fini(struct tt_plot_options *options);

/* Opens the results and makes the panels; `options` and `log` are borrowed. tt_plot_fini follows in any case. */
TUTTI_CHECKED enum tutti_err tt_plot_create(struct tt_plot *plot, const char *const *results, size_t count,
                                            const struct tt_plot_options *options, const struct tutti_log *log);

/* Returns true if the form of a picture is supported: "svg", "png", "pdf". */
bool tt_plot_can_draw(const char *form);

#endif
