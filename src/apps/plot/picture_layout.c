/* SPDX-License-Identifier: MIT */
#include "apps/plot/picture_layout.h"

#include <stdlib.h>
#include <string.h>

enum {
    LETTER = 9, /* width of a letter, on average */
    LEGEND_LETTER = 10,
    SAMPLE = 54,  /* of a curve, with its spaces */
    BETWEEN = 24, /* a panel's name and its legend */
    GAP = 10,     /* above a heading, and below */
    LOG_GAP = 6,
    LEAST = 40,      /* height of a panel */
    LEAST_LINES = 8, /* of a panel made of characters */
    WIDTH = 800,
    PHASE_WIDTH = 560,
    PHASE_HEIGHT = 380,
};

static bool starts_letter(char c)
{
    return ((unsigned char)c & 0xC0) != 0x80;
}

size_t tt_gnuplot_script_count_letters(const char *text)
{
    size_t count = 0;
    for (; *text; text++)
        count += starts_letter(*text);
    return count;
}

char *tt_gnuplot_script_shorten(const char *text, size_t most, const char *gap)
{
    size_t letters = tt_gnuplot_script_count_letters(text),
           room = most > tt_gnuplot_script_count_letters(gap) ? most - tt_gnuplot_script_count_letters(gap) : 0;
    if (letters <= most)
        return tt_text_copy(text);
    size_t first = (room + 1) / 2, rest = letters - room / 2, at = 0;
    struct tt_text short_text = {0};
    for (const char *c = text; *c; c++) {
        at += starts_letter(*c);
        if (at <= first || at > rest)
            tt_text_append_n(&short_text, c, 1);
        else if (starts_letter(*c) && at == first + 1)
            tt_text_append(&short_text, gap);
    }
    if (short_text.failed || !short_text.text)
        tt_text_fini(&short_text);
    return short_text.text;
}

/* The letters of DejaVu Sans are wider than those of most other fonts. */
int tt_gnuplot_script_text_width(const char *text)
{
    double width = 0;
    for (; *text; text++)
        if (strchr("fijlrtI.,:;!|'()[] ", *text))
            width += 5.5;
        else if (strchr("mwMW@%", *text))
            width += 13.8;
        else if (starts_letter(*text))
            width += *text >= 'A' && *text <= 'Z' ? 10.5 : 9;
    return (int)ceil(width);
}

size_t tt_gnuplot_script_letters_in_width(int width)
{
    return width > 4 * LETTER ? (size_t)width / LETTER : 4;
}

size_t tt_gnuplot_script_legend_entries(const struct tt_plot_panel *panel)
{
    size_t count = 0;
    for (size_t i = 0; panel->legend && i < panel->count; i++)
        count += panel->curves[i].label != NULL;
    return count < TUTTI_PLOT_MOST_IN_LEGEND ? count : TUTTI_PLOT_MOST_IN_LEGEND;
}

/* gnuplot takes all letters of the legend for equally wide, and all entries for as wide as the longest one. */
static int legend_entry_width(const struct tt_plot_panel *panel)
{
    size_t longest = tt_gnuplot_script_legend_entries(panel) == TUTTI_PLOT_MOST_IN_LEGEND
                         ? tt_gnuplot_script_count_letters("and 1234 more")
                         : 0;
    for (size_t i = 0; i < panel->count; i++) {
        size_t letters = panel->curves[i].label ? tt_gnuplot_script_count_letters(panel->curves[i].label) : 0;
        longest = letters > longest ? letters : longest;
    }
    return (int)longest * LEGEND_LETTER + SAMPLE;
}

struct tt_plot_heading tt_gnuplot_script_heading(const struct tt_plot_panel *panel, int width)
{
    int name = panel->y.label[0] ? tt_gnuplot_script_text_width(panel->y.label) + BETWEEN : 0;
    int entry = legend_entry_width(panel), entries = (int)tt_gnuplot_script_legend_entries(panel),
        most = (width - TUTTI_PLOT_LEFT - TUTTI_PLOT_RIGHT) / entry;
    struct tt_plot_heading heading = {.lines = 1, .legend_left = TUTTI_PLOT_EDGE};
    if (entries == 0)
        return heading;
    bool beside = entries <= most && name + entries * entry <= width - TUTTI_PLOT_EDGE - TUTTI_PLOT_RIGHT;
    int columns = most < 1 ? 1 : most < entries ? most : entries;
    heading.legend_columns = columns;
    heading.legend_left += beside ? name : 0;
    heading.lines = (entries + columns - 1) / columns + (!beside && name > 0);
    return heading;
}

bool tt_gnuplot_script_has_numbers(const struct tt_plot *plot, size_t panel)
{
    return plot->panels[panel].phase || panel + 1 == plot->panel_count || plot->panels[panel + 1].phase;
}

int tt_gnuplot_script_height_above(const struct tt_plot *plot, size_t panel, int width)
{
    /* Logarithmic axes have a number at their upper end. */
    return tt_gnuplot_script_heading(&plot->panels[panel], width).lines * TUTTI_PLOT_LINE + (panel > 0 ? 2 : 1) * GAP +
           (plot->panels[panel].y.log ? LOG_GAP : 0);
}

int tt_gnuplot_script_height_around(const struct tt_plot *plot, int width)
{
    int height = TUTTI_PLOT_TOP + (plot->options->title ? TUTTI_PLOT_TITLE : 0);
    for (size_t i = 0; i < plot->panel_count; i++)
        height += tt_gnuplot_script_height_above(plot, i, width) +
                  (tt_gnuplot_script_has_numbers(plot, i) ? TUTTI_PLOT_BOTTOM : 0);
    return height;
}

struct tt_plot_size tt_gnuplot_script_picture_size(const struct tt_plot *plot)
{
    struct tt_plot_size size = {.width = plot->options->width, .height = plot->options->height};
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
        size.height = tt_gnuplot_script_height_around(plot, size.width) + (int)phases * PHASE_HEIGHT +
                      (int)(panels - phases) * heights[panels < 5 ? panels : 4];
    return size;
}

bool tt_gnuplot_script_fits_size(const struct tt_plot *plot)
{
    struct tt_plot_size size = tt_gnuplot_script_picture_size(plot);
    if (plot->options->terminal)
        return true;
    return size.width >= TUTTI_PLOT_LEFT + TUTTI_PLOT_RIGHT + LEAST &&
           size.height >= tt_gnuplot_script_height_around(plot, size.width) + (int)plot->panel_count * LEAST;
}
