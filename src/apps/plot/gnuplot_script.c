/* SPDX-License-Identifier: MIT */
/* The script for gnuplot. Texts come from files: they go between single quotes, where gnuplot expands nothing, and data go
 * inline as numbers. */
#include "apps/plot/gnuplot_script.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

static const char OUT_OF_MEMORY[] = "exit error 'line 0: out of memory'\n";
enum { FINE = 4000 }; /* a smaller part of a panel cannot be seen */

/* Okabe and Ito: colours that stay apart for colour-blind readers. */
static const unsigned colours[] = {0x0072b2, 0xd55e00, 0x009e73, 0xcc79a7, 0xe69f00, 0x56b4e9, 0x000000};
/* gnuplot's numbers of points that look different on a line, one more than colours: together they repeat late. */
static const int marks[] = {7, 5, 9, 13, 6, 4, 8, 12};
static const char *const dashes[TUTTI_PLOT_RESULTS] = {"solid", "(7,4)"};

/* Not more than `most` letters of it. */
static void print_quoted(FILE *out, const char *text, size_t most)
{
    char *copy = tt_gnuplot_script_shorten(text, most, "…");
    if (copy)
        tt_text_make_printable(copy);
    fputc('\'', out);
    for (const char *c = copy ? copy : ""; *c; c++) {
        if (*c == '\'')
            fputc('\'', out);
        fputc(*c, out);
    }
    fputc('\'', out);
    free(copy);
}

/* A darker shade for the second result, so that its dashes are seen on the line of the first. */
static unsigned curve_colour(const struct tt_plot_curve *curve)
{
    unsigned colour = curve->colour == TUTTI_PLOT_GREY ? 0x444444
                                                       : colours[curve->colour % (sizeof colours / sizeof *colours)];
    if (curve->result == 0 || curve->style == TUTTI_PLOT_KEY)
        return colour;
    if (colour == 0)
        return 0x888888;
    unsigned red = colour >> 16, green = colour >> 8 & 0xff, blue = colour & 0xff;
    return (red * 5 / 8) << 16 | (green * 5 / 8) << 8 | (blue * 5 / 8);
}

static int curve_mark(const struct tt_plot_curve *curve)
{
    return marks[curve->colour % (sizeof marks / sizeof *marks)];
}

/* ---- data */

/* Converts points to the numbers of the panel's ticks: these are neither too large nor too small for differences and
 * slopes, and offsets keep their digits. */
static struct tt_plot_line line_on_axes(const struct tt_plot_panel *panel, const struct tt_plot_line *line)
{
    struct tt_plot_line shown = {0};
    for (size_t i = 0; i < line->count; i++)
        tt_plot_line_add(&shown, tt_plot_axis_shown(&panel->x, line->x[i]), tt_plot_axis_shown(&panel->y, line->y[i]));
    return shown;
}

static double span_of(const struct tt_plot_axis *axis)
{
    return tt_plot_axis_shown(axis, axis->high) - tt_plot_axis_shown(axis, axis->low);
}

static void gnuplot_script_print_point(FILE *out, double x, double y)
{
    fprintf(out, "%.10g %.10g\n", x, y);
}

static void gnuplot_script_write_line(FILE *out, size_t number, const struct tt_plot_line *line, const bool *left_out)
{
    fprintf(out, "$line%zu << END\n", number);
    for (size_t i = 0; i < line->count; i++) {
        if (left_out && left_out[i])
            continue;
        if (isnan(line->x[i]))
            fputc('\n', out);
        else
            gnuplot_script_print_point(out, line->x[i], line->y[i]);
    }
    fputs("END\n", out);
}

/* A curve over time, without the points that make no visible difference. */
static void write_curve(FILE *out, const struct tt_plot_panel *panel, size_t number, const struct tt_plot_line *line)
{
    bool *left_out = panel->phase ? NULL : calloc(line->count + 1, sizeof *left_out);
    double height = panel->y.log ? log10(panel->y.high) - log10(panel->y.low) : span_of(&panel->y);
    if (left_out)
        tt_plot_line_straighten(line, panel->y.log, span_of(&panel->x) / FINE, height / FINE, left_out);
    gnuplot_script_write_line(out, number, line, left_out);
    free(left_out);
}

/* Returns how many jumps can be seen: states that an event leaves as they are change by rounding errors. */
static size_t write_jumps(FILE *out, const struct tt_plot_panel *panel, size_t number, const struct tt_plot_line *jumps)
{
    size_t count = 0;
    double x_fine = panel->phase ? span_of(&panel->x) / FINE : INFINITY,
           y_fine = panel->y.log ? 0 : span_of(&panel->y) / FINE;
    for (size_t i = 0; i + 1 < jumps->count; i += 3) {
        if (fabs(jumps->y[i + 1] - jumps->y[i]) <= y_fine && fabs(jumps->x[i + 1] - jumps->x[i]) <= x_fine)
            continue;
        if (count++ == 0)
            fprintf(out, "$jumps%zu << END\n", number);
        gnuplot_script_print_point(out, jumps->x[i], jumps->y[i]);
        gnuplot_script_print_point(out, jumps->x[i + 1], jumps->y[i + 1]);
        fputc('\n', out);
    }
    if (count > 0)
        fputs("END\n", out);
    return count;
}

/* Points with a gap on either side do not form a line: they are drawn as dots. Returns the number of dots. */
static size_t write_dots(FILE *out, size_t number, const struct tt_plot_line *line)
{
    size_t count = 0;
    for (size_t i = 0; i < line->count; i++) {
        bool gap_before = i == 0 || isnan(line->x[i - 1]);
        bool gap_after = i + 1 == line->count || isnan(line->x[i + 1]);
        if (isnan(line->x[i]) || !gap_before || !gap_after)
            continue;
        if (count++ == 0)
            fprintf(out, "$dots%zu << END\n", number);
        gnuplot_script_print_point(out, line->x[i], line->y[i]);
    }
    if (count > 0)
        fputs("END\n", out);
    return count;
}

/* Draws a few marks on a curve over time, at times different from those of all other curves. Returns their number. */
static size_t write_marks(FILE *out, const struct tt_plot_panel *panel, size_t number,
                          const struct tt_plot_curve *curve, const struct tt_plot_line *line)
{
    size_t count = 0, variables = 0;
    for (size_t i = 0; i < panel->count; i++)
        variables = panel->curves[i].style == TUTTI_PLOT_CURVE && panel->curves[i].colour >= variables
                        ? panel->curves[i].colour + 1
                        : variables;
    size_t each = variables < 8 ? 6 : variables < 16 ? 4 : 2;
    for (size_t i = 0; i < each; i++) {
        double share = ((double)i + (curve->colour + 0.5 + 0.5 * curve->result) / (double)(variables + 1)) /
                       (double)each;
        double x = tt_plot_axis_shown(&panel->x, panel->x.low) + share * span_of(&panel->x);
        double y = tt_plot_line_at(line, x);
        if (isnan(y))
            continue;
        if (count++ == 0)
            fprintf(out, "$marks%zu << END\n", number);
        gnuplot_script_print_point(out, x, y);
    }
    if (count > 0)
        fputs("END\n", out);
    return count;
}

/* ---- axes */

static void write_ticks(FILE *out, const struct tt_plot_axis *axis, char name, double low, double high, double most)
{
    most = most < 2 ? 2 : most;
    if (axis->log) {
        double step = ceil((log10(high) - log10(low)) / most), first = step * ceil(log10(low) / step - 1e-9);
        fprintf(out, "set logscale %c\nset %ctics %.10g,%.10g\n", name, name, pow(10, first), pow(10, step));
    } else {
        fprintf(out, "unset logscale %c\nset %ctics autofreq %.10g\n", name, name,
                tt_plot_axis_tick_step(axis, high - low, most));
    }
}

static void gnuplot_script_write_range(FILE *out, const struct tt_plot_axis *axis, char name, double margin,
                                       double most)
{
    double low = axis->log ? axis->low : tt_plot_axis_shown(axis, axis->low),
           high = axis->log ? axis->high : tt_plot_axis_shown(axis, axis->high), span = high - low;
    write_ticks(out, axis, name, low, high, most);
    if (!axis->log) {
        low -= margin * span;
        high += margin * span;
    }
    fprintf(out, "set %crange [%.15g:%.15g]\n", name, low, high);
}

/* ---- curves */

static void gnuplot_script_write_style(FILE *out, const struct tt_plot_curve *curve, size_t number)
{
    unsigned colour = curve_colour(curve);
    switch (curve->style) {
    case TUTTI_PLOT_CURVE:
    case TUTTI_PLOT_KEY:
        if (curve->data->line.count > 0)
            fprintf(out, "$line%zu using 1:2", number);
        else
            fputs("NaN", out);
        fprintf(out, " with lines lw 1.7 lc rgb '#%06x' dt %s", colour, dashes[curve->result]);
        break;
    case TUTTI_PLOT_TAKEN_BACK:
        fprintf(out, "$line%zu using 1:2 with points pt 2 ps 0.6 lw 1.2 lc rgb '#%06x'", number, colour);
        break;
    case TUTTI_PLOT_EVENTS:
        fprintf(out, "$line%zu using 1:2 with points pt 9 ps 0.8 lc rgb '#%06x'", number, colour);
        break;
    case TUTTI_PLOT_START:
        fprintf(out, "$line%zu using 1:2 with points pt 7 ps 0.9 lc rgb '#%06x'", number, colour);
        break;
    }
}

struct curve_extras {
    size_t jumps, dots, marks;
};

static void write_extras(FILE *out, const struct tt_plot_curve *curve, size_t number, const struct curve_extras *extras)
{
    unsigned colour = curve_colour(curve);
    if (extras->jumps > 0)
        fprintf(out, ", $jumps%zu using 1:2 with lines lw 1 lc rgb '#%06x' dt (2,3) notitle", number, colour);
    if (extras->dots > 0)
        fprintf(out, ", $dots%zu using 1:2 with points pt 7 ps 0.45 lc rgb '#%06x' notitle", number, colour);
    if (extras->marks > 0)
        fprintf(out, ", $marks%zu using 1:2 with points pt %d ps 1 lc rgb '#%06x' notitle", number, curve_mark(curve),
                colour);
}

static void write_curves(FILE *out, const struct tt_plot *plot, const struct tt_plot_panel *panel, size_t first,
                         const struct curve_extras *extras)
{
    size_t room = tt_gnuplot_script_letters_in_width(tt_gnuplot_script_picture_size(plot).width - 2 * TUTTI_PLOT_LEFT),
           named = 0, entries = 0;
    for (size_t i = 0; i < panel->count; i++)
        entries += panel->legend && panel->curves[i].label;
    fputs("plot ", out);
    for (size_t i = 0; i < panel->count; i++) {
        const struct tt_plot_curve *curve = &panel->curves[i];
        fputs(i > 0 ? ", " : "", out);
        gnuplot_script_write_style(out, curve, first + i);
        if (!panel->legend || !curve->label || named >= TUTTI_PLOT_MOST_IN_LEGEND) {
            fputs(" notitle", out);
        } else {
            char more[64];
            named++;
            snprintf(more, sizeof more, "and %zu more", entries - named + 1);
            if (curve->marked) /* its sample is marked, too */
                fprintf(out, " notitle, NaN with linespoints lw 1.7 lc rgb '#%06x' dt %s pt %d ps 1",
                        curve_colour(curve), dashes[curve->result], curve_mark(curve));
            fputs(" title ", out);
            print_quoted(out, named == TUTTI_PLOT_MOST_IN_LEGEND && entries > named ? more : curve->label, room);
        }
        write_extras(out, curve, first + i, &extras[i]);
    }
    fputc('\n', out);
}

static void write_panel(FILE *out, const struct tt_plot *plot, const struct tt_plot_panel *panel, size_t first)
{
    struct curve_extras *extras = calloc(panel->count + 1, sizeof *extras);
    if (!extras) {
        fputs(OUT_OF_MEMORY, out);
        return;
    }
    for (size_t i = 0; i < panel->count; i++) {
        const struct tt_plot_curve *curve = &panel->curves[i];
        struct tt_plot_line line = line_on_axes(panel, &curve->data->line);
        struct tt_plot_line jumps = line_on_axes(panel, &curve->data->jumps);
        if (line.failed || jumps.failed)
            fputs(OUT_OF_MEMORY, out);
        if (line.count > 0 && curve->style != TUTTI_PLOT_CURVE)
            gnuplot_script_write_line(out, first + i, &line, NULL);
        else if (line.count > 0)
            write_curve(out, panel, first + i, &line);
        extras[i].jumps = write_jumps(out, panel, first + i, &jumps);
        if (curve->style == TUTTI_PLOT_CURVE)
            extras[i].dots = write_dots(out, first + i, &line);
        if (curve->marked)
            extras[i].marks = write_marks(out, panel, first + i, curve, &line);
        tt_plot_line_fini(&line);
        tt_plot_line_fini(&jumps);
    }
    fputs(panel->limit ? "set arrow 1 from graph 0,first 1 to graph 1,first 1 nohead lw 1 dt (6,4) lc rgb '#666666'\n"
                       : "unset arrow 1\n",
          out);
    write_curves(out, plot, panel, first, extras);
    free(extras);
}

/* ---- pictures */

/* Everything of a panel but its curves; `top` and `height` are in pixels. */
static void write_frame(FILE *out, const struct tt_plot *plot, size_t i, int top, int height)
{
    const struct tt_plot_panel *panel = &plot->panels[i];
    struct tt_plot_size size = tt_gnuplot_script_picture_size(plot);
    bool numbers = tt_gnuplot_script_has_numbers(plot, i);
    struct tt_plot_heading heading = tt_gnuplot_script_heading(panel, size.width);
    fprintf(out,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\nset tmargin at screen %.6f\nset bmargin at screen "
            "%.6f\n",
            (double)TUTTI_PLOT_LEFT / size.width, 1 - (double)TUTTI_PLOT_RIGHT / size.width,
            1 - (double)top / size.height, 1 - (double)(top + height) / size.height);
    fprintf(out,
            "set key at screen %.6f,%.6f left bottom horizontal Left reverse noenhanced samplen 2.2 spacing 1.05 "
            "maxcols %d\n",
            (heading.legend_left - 12.0) / size.width, 1 - (top - 8.0) / size.height,
            heading.legend_columns > 0 ? heading.legend_columns : 1);
    fputs("set label 1 ", out);
    print_quoted(out, panel->y.label,
                 tt_gnuplot_script_letters_in_width(size.width - TUTTI_PLOT_EDGE - TUTTI_PLOT_RIGHT));
    fprintf(out, " at screen %.6f,%.6f left noenhanced\nunset label 3\n", (double)TUTTI_PLOT_EDGE / size.width,
            1 - (top - 7.0 - (heading.lines - 0.5) * TUTTI_PLOT_LINE) / size.height);
    if (numbers) {
        fputs("set label 3 ", out);
        print_quoted(out, panel->x.label, tt_gnuplot_script_letters_in_width(size.width - TUTTI_PLOT_LEFT));
        fprintf(out, " at graph 0.5,screen %.6f center noenhanced\n", 1 - (top + height + 38.0) / size.height);
    }
    gnuplot_script_write_range(out, &panel->x, 'x', panel->phase ? 0.04 : 0,
                               (size.width - TUTTI_PLOT_LEFT - TUTTI_PLOT_RIGHT) / 80.0);
    gnuplot_script_write_range(out, &panel->y, 'y', panel->y.whole ? 0.1 : 0.05, 3 + height / 60.0);
    fprintf(out, "set format y %s\nset format x %s\n", panel->y.log ? "'10^{%T}'" : "'%g'", numbers ? "'%g'" : "''");
}

static void write_picture(FILE *out, const struct tt_plot *plot)
{
    struct tt_plot_size size = tt_gnuplot_script_picture_size(plot);
    /* A phase plot is twice as high as a panel over time. */
    int shares = 0, room = size.height - tt_gnuplot_script_height_around(plot, size.width), top = TUTTI_PLOT_TOP;
    for (size_t i = 0; i < plot->panel_count; i++)
        shares += plot->panels[i].phase ? 2 : 1;
    fputs("set border 3 lw 0.8 lc rgb '#333333'\nset tics nomirror out scale 0.6,0.35\nset xtics offset 0,0.3\n"
          "set minussign\nset grid lt 1 dt solid lc rgb '#e2e2e2' lw 0.7\nset multiplot\n",
          out);
    if (plot->options->title) {
        fputs("set label 2 ", out);
        print_quoted(out, plot->options->title, SIZE_MAX);
        fprintf(out, " at screen %.6f,%.6f center noenhanced font ',%d'\n",
                (TUTTI_PLOT_LEFT + (size.width - TUTTI_PLOT_LEFT - TUTTI_PLOT_RIGHT) / 2.0) / size.width,
                1 - (TUTTI_PLOT_TOP + 10.0) / size.height, TUTTI_PLOT_FONT + 2);
        top += TUTTI_PLOT_TITLE;
    }
    size_t first = 0;
    for (size_t i = 0; i < plot->panel_count; i++) {
        int height = room * (plot->panels[i].phase ? 2 : 1) / shares;
        top += tt_gnuplot_script_height_above(plot, i, size.width);
        write_frame(out, plot, i, top, height);
        write_panel(out, plot, &plot->panels[i], first);
        fputs("unset label 2\n", out);
        first += plot->panels[i].count;
        top += height + (tt_gnuplot_script_has_numbers(plot, i) ? TUTTI_PLOT_BOTTOM : 0);
    }
    fputs("unset multiplot\n", out);
}

void tt_gnuplot_script_write(FILE *out, const struct tt_plot *plot, const char *terminal)
{
    struct tt_plot_size size = tt_gnuplot_script_picture_size(plot);
    fputs("set encoding utf8\n", out);
    /* gnuplot measures PDF in inches and the cairo terminals' fonts in points: 96 pixels, 72 points. */
    if (strcmp(terminal, "pdfcairo") == 0)
        fprintf(out, "set terminal pdfcairo size %.5fin,%.5fin enhanced font 'sans,%g' background '#ffffff'\n",
                size.width / 96.0, size.height / 96.0, TUTTI_PLOT_FONT * 0.75);
    else if (strcmp(terminal, "pngcairo") == 0)
        fprintf(out, "set terminal pngcairo size %d,%d enhanced font 'sans,%g' background '#ffffff'\n", size.width,
                size.height, TUTTI_PLOT_FONT * 0.75);
    else
        fprintf(out, "set terminal svg size %d,%d enhanced font 'sans-serif,%d' background '#ffffff'\n", size.width,
                size.height, TUTTI_PLOT_FONT);
    write_picture(out, plot);
    fputs("set output\n", out);
}

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
