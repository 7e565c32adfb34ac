/* SPDX-License-Identifier: MIT */
#include "tell/plot/plot.h"

#include <stdlib.h>

void tutti_plot_fini(struct tutti_plot *plot)
{
    tutti_plot_steps_free(plot->steps);
    for (size_t i = 0; i < TUTTI_PLOT_RESULTS; i++)
        tutti_result_free(plot->results[i]);
    while (plot->data) {
        struct tutti_plot_curve_data *next = plot->data->next;
        tutti_plot_line_fini(&plot->data->line);
        tutti_plot_line_fini(&plot->data->jumps);
        free(plot->data);
        plot->data = next;
    }
    for (size_t i = 0; i < plot->panel_count; i++)
        free(plot->panels[i].curves);
    free(plot->panels);
    tutti_arena_fini(&plot->arena);
}

struct tutti_plot_panel *tutti_plot_add_panel(struct tutti_plot *plot)
{
    if (plot->panel_count == plot->panel_capacity) {
        size_t capacity = plot->panel_capacity ? 2 * plot->panel_capacity : 8;
        struct tutti_plot_panel *panels = realloc(plot->panels, capacity * sizeof *panels);
        if (!panels)
            return NULL;
        plot->panels = panels;
        plot->panel_capacity = capacity;
    }
    struct tutti_plot_panel *panel = &plot->panels[plot->panel_count++];
    *panel = (struct tutti_plot_panel){0};
    return panel;
}

enum tutti_err tutti_plot_add_curve(struct tutti_plot_panel *panel, struct tutti_plot_curve curve)
{
    if (panel->count == panel->capacity) {
        size_t capacity = panel->capacity ? 2 * panel->capacity : 8;
        struct tutti_plot_curve *curves = realloc(panel->curves, capacity * sizeof *curves);
        if (!curves)
            return tutti_fail_memory();
        panel->curves = curves;
        panel->capacity = capacity;
    }
    panel->curves[panel->count++] = curve;
    return TUTTI_OK;
}

struct tutti_plot_curve_data *tutti_plot_new_data(struct tutti_plot *plot)
{
    struct tutti_plot_curve_data *data = calloc(1, sizeof *data);
    if (data) {
        data->next = plot->data;
        plot->data = data;
    }
    return data;
}
