/* SPDX-License-Identifier: MIT */
/* plot_characters.h - the picture of a terminal. */
#ifndef TUTTI_CLI_PLOT_CHARACTERS_H
#define TUTTI_CLI_PLOT_CHARACTERS_H

#include "apps/plot/plot.h"

TUTTI_CHECKED enum tutti_err plot_print_characters(FILE *out, const struct tt_plot *plot);

#endif
