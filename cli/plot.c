/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <stdlib.h>

void plot_fini(struct plot *plot)
{
    for (size_t i = 0; i < PLOT_RESULTS; i++)
        tutti_result_free(plot->results[i]);
    while (plot->data) {
        struct plot_curve_data *next = plot->data->next;
        plot_line_fini(&plot->data->line);
        plot_line_fini(&plot->data->jumps);
        free(plot->data);
        plot->data = next;
    }
    for (size_t i = 0; i < plot->panel_count; i++)
        free(plot->panels[i].curves);
    free(plot->panels);
    tutti_arena_fini(&plot->arena);
}
