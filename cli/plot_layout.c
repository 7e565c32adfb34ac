/* SPDX-License-Identifier: MIT */
#include "plot_layout.h"

enum {
    LEAST_LINES = 10, /* of a panel made of characters */
    LETTER = 10,      /* width of a letter in the legend, at most */
    SAMPLE = 54,      /* of a curve, with its spaces */
    LEGEND_LINE = 22, /* height */
    GAP = 14,         /* above a panel */
    LEAST = 40,       /* height of a panel */
    WIDTH = 800,
    PHASE_WIDTH = 560,
    PHASE_HEIGHT = 380,
};

size_t plot_letters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += ((unsigned char)*text & 0xC0) != 0x80;
    return count;
}

size_t plot_legend_room(int width, bool terminal)
{
    int room = terminal ? width - 14 : (width - PLOT_LEFT - PLOT_RIGHT - SAMPLE) / LETTER - 2;
    return room < 4 ? 4 : (size_t)room;
}

size_t plot_legend_entries(const struct plot_panel *panel, size_t room, size_t *longest)
{
    size_t count = 0;
    *longest = 1;
    for (size_t i = 0; panel->legend && i < panel->count; i++)
        if (panel->curves[i].label && ++count <= PLOT_MOST_IN_LEGEND) {
            size_t length = plot_letters(panel->curves[i].label);
            *longest = length > *longest ? length : *longest;
        }
    *longest = *longest > room ? room + 2 : *longest; /* ".." */
    if (count <= PLOT_MOST_IN_LEGEND)
        return count;
    enum { AND_MORE = 13 }; /* letters of "and 1234 more" */
    *longest = *longest < AND_MORE ? AND_MORE : *longest;
    return PLOT_MOST_IN_LEGEND;
}

size_t plot_legend_columns(const struct plot_panel *panel, int width, size_t *lines)
{
    size_t longest, entries = plot_legend_entries(panel, plot_legend_room(width, false), &longest);
    size_t columns = (size_t)(width - PLOT_LEFT - PLOT_RIGHT) / (longest * LETTER + SAMPLE);
    columns = columns < 1 ? 1 : columns > entries ? entries : columns;
    *lines = entries > 0 ? (entries + columns - 1) / columns : 0;
    return columns;
}

bool plot_has_numbers(const struct plot *plot, size_t panel)
{
    return plot->panels[panel].phase || panel + 1 == plot->panel_count || plot->panels[panel + 1].phase;
}

int plot_height_above(const struct plot *plot, size_t panel, int width)
{
    size_t lines;
    plot_legend_columns(&plot->panels[panel], width, &lines);
    if (lines > 0 || panel == 0)
        return (int)lines * LEGEND_LINE + (panel > 0 ? GAP - 4 : 8);
    /* Logarithmic axes have numbers at both ends. */
    return plot->panels[panel - 1].y.log && plot->panels[panel].y.log ? GAP + 8 : GAP;
}

int plot_height_around(const struct plot *plot, int width)
{
    int height = PLOT_TOP + (plot->options->title ? PLOT_TITLE : 0);
    for (size_t i = 0; i < plot->panel_count; i++)
        height += plot_height_above(plot, i, width) + (plot_has_numbers(plot, i) ? PLOT_BOTTOM : 0);
    return height;
}

struct plot_size plot_size(const struct plot *plot)
{
    struct plot_size size = {.width = plot->options->width, .height = plot->options->height};
    static const int heights[] = {300, 300, 215, 170, 140};
    size_t panels = plot->panel_count, phases = 0;
    for (size_t i = 0; i < panels; i++)
        phases += plot->panels[i].phase;
    if (plot->options->terminal) { /* of one panel */
        size.height = size.height / (int)(panels > 0 ? panels : 1);
        size.height = size.height < LEAST_LINES ? LEAST_LINES : size.height;
        return size;
    }
    if (size.width == 0)
        size.width = phases > 0 && phases == panels ? PHASE_WIDTH : WIDTH;
    if (size.height == 0)
        size.height = plot_height_around(plot, size.width) + (int)phases * PHASE_HEIGHT +
                      (int)(panels - phases) * heights[panels < 5 ? panels : 4];
    return size;
}

bool plot_fits_size(const struct plot *plot)
{
    struct plot_size size = plot_size(plot);
    if (plot->options->terminal)
        return true;
    return size.width >= PLOT_LEFT + PLOT_RIGHT + LEAST &&
           size.height >= plot_height_around(plot, size.width) + (int)plot->panel_count * LEAST;
}
