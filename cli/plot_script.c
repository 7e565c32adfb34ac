/* SPDX-License-Identifier: MIT */
/* The script for gnuplot. Texts come from files: they go between single quotes, where gnuplot expands nothing, and data go
 * inline as numbers. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "plot_layout.h"

enum {
    FINE = 4000, /* nobody sees a smaller part of a panel */
    NARROW = 7,  /* pixels of a letter, nearly */
};

/* Okabe and Ito: colours that stay apart for colour-blind readers. The dashes keep curves apart without colours. */
static const char *const colours[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000"};
static const char *const dashes[] = {"solid", "(9,4)", "(3,3)", "(9,3,2,3)", "(14,4)", "(9,3,2,3,2,3)"};

/* Not more than `most` letters of it: the last ones, which tell more. */
static void print_quoted(FILE *out, const char *text, size_t most)
{
    char *copy = tutti_str_copy(text);
    if (copy)
        tutti_str_make_printable(copy);
    const char *c = copy ? copy : "";
    size_t length = plot_letters(c);
    fputs(length > most ? "'.." : "'", out);
    for (; length > most; c++)
        length -= ((unsigned char)c[1] & 0xC0) != 0x80;
    for (; *c; c++) {
        if (*c == '\'')
            fputc('\'', out);
        fputc(*c, out);
    }
    fputc('\'', out);
    free(copy);
}

static const char *colour_of(const struct plot_curve *curve, bool terminal)
{
    size_t number = curve->colour % (sizeof colours / sizeof *colours);
    return terminal && number + 1 == sizeof colours / sizeof *colours ? "#909090" /* on black as on white */
                                                                      : colours[number];
}

/* ---- data */

static void print_point(FILE *out, const struct plot_panel *panel, double x, double y)
{
    fprintf(out, "%.10g %.10g\n", plot_axis_shown(&panel->x, x), plot_axis_shown(&panel->y, y));
}

/* Points with a gap on either side are no line: they are drawn as dots. */
static bool is_alone(const struct plot_line *line, size_t i)
{
    return !isnan(line->x[i]) && (i == 0 || isnan(line->x[i - 1])) && (i + 1 == line->count || isnan(line->x[i + 1]));
}

static void write_line(FILE *out, const struct plot_panel *panel, size_t number, const struct plot_line *line,
                       const bool *left_out)
{
    fprintf(out, "$line%zu << END\n", number);
    for (size_t i = 0; i < line->count; i++) {
        if (left_out && left_out[i])
            continue;
        if (isnan(line->x[i]))
            fputc('\n', out);
        else
            print_point(out, panel, line->x[i], line->y[i]);
    }
    fputs("END\n", out);
}

/* A curve over time, without the points that nobody would miss. */
static void write_curve(FILE *out, const struct plot_panel *panel, size_t number, const struct plot_line *line)
{
    bool *left_out = panel->phase ? NULL : calloc(line->count + 1, sizeof *left_out);
    if (left_out) {
        const struct plot_axis *y = &panel->y;
        /* Half of each, as their difference may be too large for a number. */
        double height = y->log ? (log10(y->high) - log10(y->low)) / 2 : y->high / 2 - y->low / 2;
        plot_line_straighten(line, y->log, (panel->x.high - panel->x.low) / FINE, height / FINE * 2, left_out);
    }
    write_line(out, panel, number, line, left_out);
    free(left_out);
}

/* Returns how many jumps can be seen: states that an event leaves as they are change by rounding errors. */
static size_t write_jumps(FILE *out, const struct plot_panel *panel, size_t number, const struct plot_line *jumps)
{
    size_t count = 0;
    double x_fine = panel->phase ? panel->x.high / FINE - panel->x.low / FINE : INFINITY,
           y_fine = panel->y.log ? 0 : panel->y.high / FINE - panel->y.low / FINE;
    for (size_t i = 0; i + 1 < jumps->count; i += 3) {
        if (fabs(jumps->y[i + 1] - jumps->y[i]) <= y_fine && fabs(jumps->x[i + 1] - jumps->x[i]) <= x_fine)
            continue;
        if (count++ == 0)
            fprintf(out, "$jumps%zu << END\n", number);
        print_point(out, panel, jumps->x[i], jumps->y[i]);
        print_point(out, panel, jumps->x[i + 1], jumps->y[i + 1]);
        fputc('\n', out);
    }
    if (count > 0)
        fputs("END\n", out);
    return count;
}

/* Returns how many dots there are. */
static size_t write_dots(FILE *out, const struct plot_panel *panel, size_t number, const struct plot_line *line)
{
    size_t count = 0;
    for (size_t i = 0; i < line->count; i++)
        if (is_alone(line, i)) {
            if (count++ == 0)
                fprintf(out, "$dots%zu << END\n", number);
            print_point(out, panel, line->x[i], line->y[i]);
        }
    if (count > 0)
        fputs("END\n", out);
    return count;
}

/* ---- axes */

/* Ticks at 1, 2, 2.5 or 5 times a power of ten, not more than `most`. */
static double tick_step(double span, double most, bool whole)
{
    static const double steps[] = {1, 2, 2.5, 5, 10};
    double least = span / most, power = pow(10, floor(log10(least)));
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (least <= steps[i] * power && (!whole || steps[i] * power == floor(steps[i] * power)))
            return steps[i] * power;
    return whole ? 1 : 10 * power;
}

static void write_ticks(FILE *out, const struct plot_axis *axis, char name, double low, double high, double most)
{
    most = most < 2 ? 2 : most;
    if (axis->log) {
        double step = ceil((log10(high) - log10(low)) / most), first = step * ceil(log10(low) / step - 1e-9);
        fprintf(out, "set logscale %c\nset %ctics %.10g,%.10g\n", name, name, pow(10, first), pow(10, step));
    } else {
        fprintf(out, "unset logscale %c\nset %ctics autofreq %.10g\n", name, name,
                tick_step(high - low, most, axis->whole));
    }
}

static void write_range(FILE *out, const struct plot_axis *axis, char name, double margin, double most)
{
    double low = axis->log ? axis->low : plot_axis_shown(axis, axis->low),
           high = axis->log ? axis->high : plot_axis_shown(axis, axis->high), span = high - low;
    write_ticks(out, axis, name, low, high, most);
    if (!axis->log) {
        low -= margin * span;
        high += margin * span;
    }
    fprintf(out, "set %crange [%.15g:%.15g]\n", name, low, high);
}

/* ---- curves */

static void write_style(FILE *out, const struct plot_curve *curve, size_t number, bool terminal)
{
    const char *colour = colour_of(curve, terminal);
    switch (curve->style) {
    case PLOT_CURVE:
        fprintf(out, "$line%zu using 1:2 with lines lt %u lw 1.7 lc rgb '%s' dt %s", number, curve->colour % 7 + 1,
                colour, dashes[curve->dash % (sizeof dashes / sizeof *dashes)]);
        break;
    case PLOT_TAKEN_BACK:
        fprintf(out, "$line%zu using 1:2 with points pt %d ps 0.6 lw 1.2 lc rgb '%s'", number, terminal ? 24 : 2,
                colour);
        break;
    case PLOT_EVENTS:
        fprintf(out, "$line%zu using 1:2 with points pt %d ps 0.8 lc rgb '%s'", number, terminal ? 5 : 9, colour);
        break;
    case PLOT_START: fprintf(out, "$line%zu using 1:2 with points pt 7 ps 0.9 lc rgb '%s'", number, colour); break;
    }
}

/* What a curve has beside its line. */
struct extras {
    size_t jumps, dots;
};

static void write_curves(FILE *out, const struct plot *plot, const struct plot_panel *panel, size_t first,
                         const struct extras *extras)
{
    bool terminal = plot->options->terminal;
    size_t room = plot_legend_room(plot_size(plot).width, terminal);
    size_t named = 0, entries = 0;
    for (size_t i = 0; i < panel->count; i++)
        entries += panel->legend && panel->curves[i].label;
    /* gnuplot draws an arrow of characters a line too high. */
    fputs(panel->limit && terminal ? "set samples 1000\nplot 1 with dots notitle, " : "plot ", out);
    for (size_t i = 0; i < panel->count; i++) {
        const struct plot_curve *curve = &panel->curves[i];
        const char *colour = colour_of(curve, terminal);
        fputs(i > 0 ? ", " : "", out);
        if (curve->data->line.count > 0)
            write_style(out, curve, first + i, terminal);
        else
            fprintf(out, "NaN with lines lw 1.7 lc rgb '%s' dt %s", colour,
                    dashes[curve->dash % (sizeof dashes / sizeof *dashes)]);
        if (!panel->legend || !curve->label || named >= PLOT_MOST_IN_LEGEND) {
            fputs(" notitle", out);
        } else {
            char more[64];
            named++;
            snprintf(more, sizeof more, "and %zu more", entries - named + 1);
            fputs(" title ", out);
            print_quoted(out, named == PLOT_MOST_IN_LEGEND && entries > named ? more : curve->label, room);
        }
        if (extras[i].jumps > 0)
            fprintf(out, ", $jumps%zu using 1:2 with lines lt %u lw 1 lc rgb '%s' dt (2,3) notitle", first + i,
                    curve->colour % 7 + 1, colour);
        if (extras[i].dots > 0)
            fprintf(out, ", $dots%zu using 1:2 with points pt 7 ps 0.45 lc rgb '%s' notitle", first + i, colour);
    }
    fputc('\n', out);
}

static void write_panel(FILE *out, const struct plot *plot, const struct plot_panel *panel, size_t first)
{
    struct extras *extras = calloc(panel->count + 1, sizeof *extras);
    if (!extras) {
        fputs("exit error 'line 0: out of memory'\n", out);
        return;
    }
    for (size_t i = 0; i < panel->count; i++) {
        const struct plot_curve *curve = &panel->curves[i];
        if (curve->data->line.count > 0 && curve->style != PLOT_CURVE)
            write_line(out, panel, first + i, &curve->data->line, NULL);
        else if (curve->data->line.count > 0)
            write_curve(out, panel, first + i, &curve->data->line);
        extras[i].jumps = write_jumps(out, panel, first + i, &curve->data->jumps);
        if (curve->style == PLOT_CURVE)
            extras[i].dots = write_dots(out, panel, first + i, &curve->data->line);
    }
    fputs(panel->limit && !plot->options->terminal
              ? "set arrow 1 from graph 0,first 1 to graph 1,first 1 nohead lw 1 dt (6,4) lc rgb '#666666'\n"
              : "unset arrow 1\n",
          out);
    write_curves(out, plot, panel, first, extras);
    free(extras);
}

/* ---- pictures */

/* Names that stand in the legend, too, are left out where there is no room: "a, b in m" is "in m". */
static const char *y_label(const struct plot_panel *panel, size_t most)
{
    const char *label = panel->y.label, *comma = strstr(label, ", ");
    if (!panel->legend || !comma || plot_letters(label) <= most)
        return label;
    const char *unit = strstr(comma, " in ");
    return unit ? unit + 1 : label;
}

/* Everything of a panel but its curves; `top` and `height` are in pixels. */
static void write_frame(FILE *out, const struct plot *plot, size_t i, int top, int height)
{
    const struct plot_panel *panel = &plot->panels[i];
    struct plot_size size = plot_size(plot);
    bool numbers = plot_has_numbers(plot, i);
    size_t lines, columns = plot_legend_columns(panel, size.width, &lines);
    fprintf(out,
            "set lmargin at screen %.6f\nset rmargin at screen %.6f\nset tmargin at screen %.6f\nset bmargin at screen "
            "%.6f\n",
            (double)PLOT_LEFT / size.width, 1 - (double)PLOT_RIGHT / size.width, 1 - (double)top / size.height,
            1 - (double)(top + height) / size.height);
    fprintf(
        out,
        "set key at screen %.6f,%.6f left bottom horizontal Left reverse noenhanced samplen 2.2 spacing 1.05 maxcols "
        "%zu\n",
        (PLOT_LEFT - 12.0) / size.width, 1 - (top - 2.0) / size.height, columns);
    fputs("set label 1 ", out);
    size_t room = (size_t)height / NARROW;
    print_quoted(out, y_label(panel, room), room);
    fprintf(out, " at screen %.6f,graph 0.5 center rotate noenhanced\nunset label 3\n", 15.0 / size.width);
    if (numbers) {
        fputs("set label 3 ", out);
        print_quoted(out, panel->x.label, (size_t)(size.width - PLOT_LEFT) / NARROW);
        fprintf(out, " at graph 0.5,screen %.6f center noenhanced\n", 1 - (top + height + 38.0) / size.height);
    }
    write_range(out, &panel->x, 'x', panel->phase ? 0.04 : 0, (size.width - PLOT_LEFT - PLOT_RIGHT) / 80.0);
    write_range(out, &panel->y, 'y', panel->y.whole ? 0.1 : 0.05, 3 + height / 60.0);
    fprintf(out, "set format y %s\nset format x %s\n", panel->y.log ? "'10^{%T}'" : "'%g'", numbers ? "'%g'" : "''");
}

static void write_title(FILE *out, const char *title, struct plot_size size)
{
    fputs("set label 2 ", out);
    print_quoted(out, title, SIZE_MAX);
    fprintf(out, " at screen %.6f,%.6f center noenhanced font ',%d'\n",
            (PLOT_LEFT + (size.width - PLOT_LEFT - PLOT_RIGHT) / 2.0) / size.width, 1 - (PLOT_TOP + 10.0) / size.height,
            PLOT_FONT + 2);
}

static void write_picture(FILE *out, const struct plot *plot)
{
    struct plot_size size = plot_size(plot);
    /* A phase plot is twice as high as a panel over time. */
    int shares = 0, room = size.height - plot_height_around(plot, size.width), top = PLOT_TOP;
    for (size_t i = 0; i < plot->panel_count; i++)
        shares += plot->panels[i].phase ? 2 : 1;
    fputs("set border 3 lw 0.8 lc rgb '#333333'\nset tics nomirror out scale 0.6,0.35\nset xtics offset 0,0.3\n"
          "set minussign\nset grid lt 1 dt solid lc rgb '#e2e2e2' lw 0.7\nset multiplot\n",
          out);
    if (plot->options->title) {
        write_title(out, plot->options->title, size);
        top += PLOT_TITLE;
    }
    size_t first = 0;
    for (size_t i = 0; i < plot->panel_count; i++) {
        int height = room * (plot->panels[i].phase ? 2 : 1) / shares;
        top += plot_height_above(plot, i, size.width);
        write_frame(out, plot, i, top, height);
        write_panel(out, plot, &plot->panels[i], first);
        fputs("unset label 2\n", out);
        first += plot->panels[i].count;
        top += height + (plot_has_numbers(plot, i) ? PLOT_BOTTOM : 0);
    }
    fputs("unset multiplot\n", out);
}

/* Of a panel made of characters: the legend stands above the name of its axis, or beside it if there is room. */
static int lines_above(const struct plot_panel *panel, int width, size_t *columns)
{
    size_t longest, entries = plot_legend_entries(panel, plot_legend_room(width, true), &longest), entry = longest + 8;
    *columns = (size_t)width / entry < 1 ? 1 : (size_t)width / entry;
    size_t lines = (entries + *columns - 1) / *columns;
    bool beside = lines == 1 && plot_letters(panel->y.label) + 8 + entries * entry < (size_t)width;
    return (int)lines + !beside;
}

/* One picture per panel, one below the other. */
static void write_characters(FILE *out, const struct plot *plot)
{
    struct plot_size size = plot_size(plot);
    fputs("set border 3\nset tics nomirror out scale 0.5\nset format '%g'\nset lmargin 9\nset rmargin 3\n", out);
    size_t first = 0, columns;
    for (size_t i = 0; i < plot->panel_count; i++) {
        const struct plot_panel *panel = &plot->panels[i];
        bool named = panel->phase || i + 1 == plot->panel_count;
        fprintf(out, "set tmargin %d\nset bmargin %d\n", 1 + lines_above(panel, size.width, &columns), named ? 2 : 1);
        fprintf(out, "set key at screen 1,1 right top horizontal Left reverse noenhanced samplen 2 maxcols %zu\n",
                columns);
        fputs("set label 1 ", out);
        print_quoted(out, panel->y.label, (size_t)size.width - 12);
        fputs(" at graph 0,1 left offset -3,1 noenhanced\n", out);
        write_range(out, &panel->x, 'x', panel->phase ? 0.04 : 0, size.width / 12.0);
        write_range(out, &panel->y, 'y', 0.1, size.height / 3.0);
        fputs("set xlabel ", out);
        print_quoted(out, named ? panel->x.label : "", (size_t)size.width - 12);
        fputs(" noenhanced\n", out);
        write_panel(out, plot, panel, first);
        first += panel->count;
    }
}

void plot_write_script(FILE *out, const struct plot *plot, const char *terminal)
{
    struct plot_size size = plot_size(plot);
    fputs("set encoding utf8\n", out);
    if (plot->options->terminal) {
        fprintf(out, "set terminal dumb size %d,%d noenhanced %s\n", size.width, size.height,
                plot->options->colour ? "ansi256" : "mono");
        write_characters(out, plot);
    } else {
        /* gnuplot measures PDF in inches and the cairo terminals' fonts in points: 96 pixels, 72 points. */
        if (strcmp(terminal, "pdfcairo") == 0)
            fprintf(out, "set terminal pdfcairo size %.5fin,%.5fin enhanced font 'sans,%g' background '#ffffff'\n",
                    size.width / 96.0, size.height / 96.0, PLOT_FONT * 0.75);
        else if (strcmp(terminal, "pngcairo") == 0)
            fprintf(out, "set terminal pngcairo size %d,%d enhanced font 'sans,%g' background '#ffffff'\n", size.width,
                    size.height, PLOT_FONT * 0.75);
        else
            fprintf(out, "set terminal svg size %d,%d enhanced font 'sans-serif,%d' background '#ffffff'\n", size.width,
                    size.height, PLOT_FONT);
        write_picture(out, plot);
    }
    fputs("set output\n", out);
}
