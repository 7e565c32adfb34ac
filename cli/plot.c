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

struct plot_panel *plot_add_panel(struct plot *plot)
{
    if (plot->panel_count == plot->panel_capacity) {
        size_t capacity = plot->panel_capacity ? 2 * plot->panel_capacity : 8;
        struct plot_panel *panels = realloc(plot->panels, capacity * sizeof *panels);
        if (!panels)
            return NULL;
        plot->panels = panels;
        plot->panel_capacity = capacity;
    }
    struct plot_panel *panel = &plot->panels[plot->panel_count++];
    *panel = (struct plot_panel){0};
    return panel;
}

enum tutti_err plot_add_curve(struct plot_panel *panel, struct plot_curve curve)
{
    if (panel->count == panel->capacity) {
        size_t capacity = panel->capacity ? 2 * panel->capacity : 8;
        struct plot_curve *curves = realloc(panel->curves, capacity * sizeof *curves);
        if (!curves)
            return tutti_fail_memory();
        panel->curves = curves;
        panel->capacity = capacity;
    }
    panel->curves[panel->count++] = curve;
    return TUTTI_OK;
}

struct plot_curve_data *plot_new_data(struct plot *plot)
{
    struct plot_curve_data *data = calloc(1, sizeof *data);
    if (data) {
        data->next = plot->data;
        plot->data = data;
    }
    return data;
}
