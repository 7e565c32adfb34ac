/* SPDX-License-Identifier: MIT */
#include "apps/plot/plot.h"

#include <stdlib.h>

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
    if (plot->panel_count == plot->panel_capacity) {
        size_t capacity = plot->panel_capacity ? 2 * plot->panel_capacity : 8;
        struct tt_plot_panel *panels = realloc(plot->panels, capacity * sizeof *panels);
        if (!panels)
            return NULL;
        plot->panels = panels;
        plot->panel_capacity = capacity;
    }
    struct tt_plot_panel *panel = &plot->panels[plot->panel_count++];
    *panel = (struct tt_plot_panel){0};
    return panel;
}

enum tutti_err tt_plot_add_curve(struct tt_plot_panel *panel, struct tt_plot_curve curve)
{
    if (panel->count == panel->capacity) {
        size_t capacity = panel->capacity ? 2 * panel->capacity : 8;
        struct tt_plot_curve *curves = realloc(panel->curves, capacity * sizeof *curves);
        if (!curves)
            return tt_fail_memory();
        panel->curves = curves;
        panel->capacity = capacity;
    }
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
