/* SPDX-License-Identifier: MIT */
#include "apps/plot/plot.h"

#include <stdlib.h>

#include "base/vector.h"

void tt_plot_fini(struct tt_plot *plot)
{
    tt_plot_steps_free(plot->steps);
    for (size_t i = 0; i < TUTTI_PLOT_RESULTS; i++)
        tutti_result_free(plot->results[i]);
    while (plot->data) {
        struct tt_plot_curve_data *next = plot->data->next;
        tt_plot_line_fini(&plot->data->line);
        tt_plot_line_fini(&plot->data->jumps);
        free(plot->data);
        plot->data = next;
    }
    for (size_t i = 0; i < plot->panel_count; i++)
        free(plot->panels[i].curves);
    free(plot->panels);
    tt_arena_fini(&plot->arena);
}

struct tt_plot_panel *tt_plot_add_panel(struct tt_plot *plot)
{
    if (!tt_vector_reserve(&plot->panels, &plot->panel_capacity, plot->panel_count + 1, sizeof *plot->panels))
        return NULL;
    struct tt_plot_panel *panel = &plot->panels[plot->panel_count++];
    *panel = (struct tt_plot_panel){0};
    return panel;
}

enum tutti_err tt_plot_add_curve(struct tt_plot_panel *panel, struct tt_plot_curve curve)
{
    if (!tt_vector_reserve(&panel->curves, &panel->capacity, panel->count + 1, sizeof *panel->curves))
        return tt_fail_memory();
    panel->curves[panel->count++] = curve;
    return TUTTI_OK;
}

struct tt_plot_curve_data *tt_plot_new_data(struct tt_plot *plot)
{
    struct tt_plot_curve_data *data = calloc(1, sizeof *data);
    if (data) {
        data->next = plot->data;
        plot->data = data;
    }
    return data;
}
