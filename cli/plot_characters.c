/* SPDX-License-Identifier: MIT */
/* Panels made of characters, one below the other: Braille dots if the terminal's colours can distinguish the curves,
 * otherwise a symbol for each curve. */
#include "plot_characters.h"

#include <stdlib.h>
#include <string.h>

#include "display.h"
#include "plot_canvas.h"
#include "apps/plot/gnuplot_script.h"

enum {
    MOST_TICKS = 64,
    TICK_LENGTH = 24, /* bytes of a number at an axis */
    LEAST_COLUMNS = 10,
    LEAST_ROWS = 3,
    GREY = 245,
};

/* Of a terminal's 256, nearest to those of the pictures, and seen on black as on white. */
static const unsigned char colours[] = {32, 202, 36, 175, 178, 75, 140};
static const char *const symbols[] = {"*", "#", "+", "o", "%", "@", "x", "="};
static const char *const second_symbols[] = {"'", "~", ":", ",", "^", "&", "-", "\""};
enum { COLOURS = sizeof colours / sizeof *colours, SYMBOLS = sizeof symbols / sizeof *symbols };

struct tick {
    double share; /* of the axis */
    char text[TICK_LENGTH];
};

struct ticks {
    struct tick at[MOST_TICKS];
    int count, widest;
};

/* A panel on its way to the terminal. */
struct drawing {
    const struct tt_plot *plot;
    const struct tt_plot_panel *panel;
    FILE *out;
    bool braille, unicode, colour;
    double margin[2]; /* of x and y: a part of the span, on both sides */
    struct plot_canvas canvas;
};

/* ---- axes */

static double to_share(const struct tt_plot_axis *axis, double margin, double value)
{
    double low = axis->low, high = axis->high;
    if (axis->log)
        return (log10(value) - log10(low)) / (log10(high) - log10(low));
    double shown_low = tt_plot_axis_shown(axis, low), span = tt_plot_axis_shown(axis, high) - shown_low;
    return ((tt_plot_axis_shown(axis, value) - shown_low) / span + margin) / (1 + 2 * margin);
}

static void add_tick(struct ticks *ticks, double share, const char *text)
{
    if (ticks->count == MOST_TICKS || share < -1e-9 || share > 1 + 1e-9)
        return;
    struct tick *tick = &ticks->at[ticks->count++];
    tick->share = share;
    snprintf(tick->text, sizeof tick->text, "%s", text);
    int width = (int)tt_gnuplot_script_count_letters(tick->text);
    ticks->widest = width > ticks->widest ? width : ticks->widest;
}

static void find_log_ticks(struct ticks *ticks, const struct tt_plot_axis *axis, double most, bool unicode)
{
    double from = log10(axis->low), to = log10(axis->high), step = fmax(1, ceil((to - from) / most));
    double first = ceil(from / step - 1e-9);
    for (int i = 0; i < MOST_TICKS; i++) {
        double power = (first + i) * step;
        if (power > to + 1e-9)
            break;
        struct tt_text text = {0};
        if (unicode || fabs(power) > 3.5)
            tt_plot_axis_append_power(&text, (int)lround(power), unicode);
        else
            tt_text_printf(&text, "%g", pow(10, round(power)));
        add_tick(ticks, (power - from) / (to - from), text.text ? text.text : "");
        tt_text_fini(&text);
    }
}

static void find_ticks(struct ticks *ticks, const struct tt_plot_axis *axis, double margin, double most, bool unicode)
{
    *ticks = (struct ticks){0};
    most = most < 2 ? 2 : most;
    if (axis->log) {
        find_log_ticks(ticks, axis, most, unicode);
        return;
    }
    double low = tt_plot_axis_shown(axis, axis->low), high = tt_plot_axis_shown(axis, axis->high), span = high - low;
    double step = tt_plot_axis_tick_step(axis, span, most);
    double first = ceil((low - margin * span) / step - 1e-9);
    for (int i = 0; i < MOST_TICKS; i++) {
        char text[TICK_LENGTH];
        double n = first + i;
        snprintf(text, sizeof text, "%.6g", n == 0 ? 0 : n * step);
        add_tick(ticks, ((n * step - low) / span + margin) / (1 + 2 * margin), text); /* unless it is beyond the end */
    }
}

/* ---- curves */

static struct plot_pen pen_of(const struct drawing *drawing, const struct tt_plot_curve *curve)
{
    unsigned symbol = curve->colour % SYMBOLS;
    bool second = curve->result > 0;
    return (struct plot_pen){.colour = !drawing->colour                   ? 0
                                       : curve->colour == TUTTI_PLOT_GREY ? GREY
                                                                          : colours[curve->colour % COLOURS],
                             .sign = second ? second_symbols[symbol] : symbols[symbol],
                             .on = 5,
                             .off = second && drawing->braille ? 4 : 0};
}

static void to_place(const struct drawing *drawing, double x, double y, double place[2])
{
    place[0] = to_share(&drawing->panel->x, drawing->margin[0], x);
    place[1] = to_share(&drawing->panel->y, drawing->margin[1], y);
}

static void draw_line(struct drawing *drawing, const struct plot_pen *pen, const struct tt_plot_line *line)
{
    int step = 0;
    for (size_t i = 0; i < line->count; i++) {
        double from[2], to[2];
        if (isnan(line->x[i]))
            continue;
        bool goes_on = i + 1 < line->count && !isnan(line->x[i + 1]);
        if (!goes_on && i > 0 && !isnan(line->x[i - 1]))
            continue; /* its last point */
        to_place(drawing, line->x[i], line->y[i], from);
        to_place(drawing, line->x[i + goes_on], line->y[i + goes_on], to);
        plot_canvas_line(&drawing->canvas, pen, from, to, &step);
    }
}

static const char *sign_of(const struct drawing *drawing, enum tt_plot_style style)
{
    if (style == TUTTI_PLOT_EVENTS)
        return drawing->unicode ? "▲" : "A";
    if (style == TUTTI_PLOT_START)
        return drawing->unicode ? "●" : "O";
    return drawing->unicode ? "×" : "x";
}

static bool is_marks(const struct tt_plot_curve *curve)
{
    return curve->style == TUTTI_PLOT_TAKEN_BACK || curve->style == TUTTI_PLOT_EVENTS ||
           curve->style == TUTTI_PLOT_START;
}

static void draw_curve(struct drawing *drawing, const struct tt_plot_curve *curve)
{
    struct plot_pen pen = pen_of(drawing, curve), thin = pen;
    const struct tt_plot_line *line = &curve->data->line;
    for (size_t i = 0; is_marks(curve) && i < line->count; i++) {
        double at[2];
        to_place(drawing, line->x[i], line->y[i], at);
        plot_canvas_sign(&drawing->canvas, at, sign_of(drawing, curve->style), pen.colour);
    }
    if (is_marks(curve))
        return;
    thin.sign = drawing->unicode ? "┊" : ":";
    thin.on = thin.off = 1;
    draw_line(drawing, &thin, &curve->data->jumps);
    draw_line(drawing, &pen, line);
}

static void draw_limit(struct drawing *drawing)
{
    struct plot_pen pen = {.colour = drawing->colour ? GREY : 0, .sign = ".", .on = 1, .off = drawing->braille ? 3 : 0};
    double y = to_share(&drawing->panel->y, drawing->margin[1], 1), from[2] = {0, y}, to[2] = {1, y};
    int step = 0;
    plot_canvas_line(&drawing->canvas, &pen, from, to, &step);
}

/* ---- texts */

/* Prints a text that comes from a file, on `room` columns at most; returns how many it took. */
static int print_text(const struct drawing *drawing, const char *text, int room)
{
    char *copy = tt_gnuplot_script_shorten(text, room > 0 ? (size_t)room : 0, drawing->unicode ? "…" : "..");
    if (!copy)
        return 0;
    tt_text_make_printable(copy);
    fputs(copy, drawing->out);
    int columns = display_columns(copy);
    free(copy);
    return columns;
}

static void print_sample(const struct drawing *drawing, const struct tt_plot_curve *curve)
{
    struct plot_pen pen = pen_of(drawing, curve);
    if (pen.colour)
        plot_print_colour(drawing->out, pen.colour);
    if (is_marks(curve))
        fprintf(drawing->out, " %s", sign_of(drawing, curve->style));
    else if (drawing->braille)
        fputs(curve->result > 0 ? "╌╌" : "━━", drawing->out);
    else if (curve->style != TUTTI_PLOT_KEY)
        fprintf(drawing->out, "%s%s", pen.sign, pen.sign);
    else
        fputs(curve->result > 0 ? "'~" : "*#", drawing->out);
    if (pen.colour)
        plot_print_colour(drawing->out, 0);
}

/* Prints name and legend, on the lines they need; with `dry` it only counts these. */
static int print_heading(const struct drawing *drawing, bool dry)
{
    const struct tt_plot_panel *panel = drawing->panel;
    int width = drawing->plot->options->width, lines = 1, column = 0;
    size_t named = 0, entries = tt_gnuplot_script_legend_entries(panel);
    if (dry)
        column = (int)tt_gnuplot_script_count_letters(panel->y.label) > width
                     ? width
                     : (int)tt_gnuplot_script_count_letters(panel->y.label);
    else
        column = print_text(drawing, panel->y.label, width);
    for (size_t i = 0; i < panel->count && named < entries; i++) {
        const char *label = panel->curves[i].label;
        if (!label)
            continue;
        int letters = (int)tt_gnuplot_script_count_letters(label);
        letters = letters > width - 3 ? width - 3 : letters;
        bool begins = column == 0, next = !begins && column + 3 + 3 + letters > width;
        named++;
        if (next) {
            lines++;
            column = 0;
        }
        if (!dry) {
            fputs(next ? "\n" : begins ? "" : "   ", drawing->out);
            print_sample(drawing, &panel->curves[i]);
            fputc(' ', drawing->out);
            print_text(drawing, label, letters);
        }
        column += (next || begins ? 0 : 3) + 3 + letters;
    }
    if (!dry)
        fputc('\n', drawing->out);
    return lines;
}

/* ---- a panel */

static int row_of(const struct drawing *drawing, double share)
{
    int row = (int)floor((1 - share) * drawing->canvas.rows);
    return row < 0 ? 0 : row >= drawing->canvas.rows ? drawing->canvas.rows - 1 : row;
}

static void print_rows(const struct drawing *drawing, const struct ticks *ticks, int left)
{
    const char *tick_mark = drawing->unicode ? "┤" : "+", *line = drawing->unicode ? "│" : "|";
    for (int row = 0; row < drawing->canvas.rows; row++) {
        const char *text = NULL;
        for (int i = 0; i < ticks->count; i++)
            if (row_of(drawing, ticks->at[i].share) == row)
                text = ticks->at[i].text;
        int width = text ? (int)tt_gnuplot_script_count_letters(text) : 0;
        fprintf(drawing->out, "%*s%s %s", left - width, "", text ? text : "", text ? tick_mark : line);
        plot_canvas_print(&drawing->canvas, row, drawing->out);
        fputc('\n', drawing->out);
    }
}

static int column_of(const struct drawing *drawing, double share)
{
    int column = (int)floor(share * drawing->canvas.columns);
    return column >= drawing->canvas.columns ? drawing->canvas.columns - 1 : column;
}

static void print_x_axis(const struct drawing *drawing, const struct ticks *ticks, int left)
{
    fprintf(drawing->out, "%*s %s", left, "", drawing->unicode ? "└" : "+");
    for (int column = 0, i = 0; column < drawing->canvas.columns; column++) {
        bool here = i < ticks->count && column_of(drawing, ticks->at[i].share) == column;
        i += here;
        fputs(drawing->unicode ? here ? "┬" : "─" : here ? "+" : "-", drawing->out);
    }
    fputc('\n', drawing->out);
}

/* Below their ticks, and the axis' name below them. */
static void print_x_numbers(const struct drawing *drawing, const struct ticks *ticks, int left)
{
    int column = 0, width = drawing->plot->options->width;
    for (int i = 0; i < ticks->count; i++) {
        int letters = (int)tt_gnuplot_script_count_letters(ticks->at[i].text),
            begin = left + 2 + column_of(drawing, ticks->at[i].share) - letters / 2;
        begin = begin + letters > width ? width - letters : begin;
        if (begin < column + (column > 0))
            continue;
        fprintf(drawing->out, "%*s%s", begin - column, "", ticks->at[i].text);
        column = begin + letters;
    }
    int letters = (int)tt_gnuplot_script_count_letters(drawing->panel->x.label),
        before = left + 2 + (drawing->canvas.columns - letters) / 2;
    fprintf(drawing->out, "\n%*s", before > 0 ? before : 0, "");
    print_text(drawing, drawing->panel->x.label, width);
    fputc('\n', drawing->out);
}

static enum tutti_err print_panel(struct drawing *drawing, bool numbers)
{
    const struct tt_plot_panel *panel = drawing->panel;
    struct tt_plot_size size = tt_gnuplot_script_picture_size(drawing->plot);
    int rows = size.height - print_heading(drawing, true) - (numbers ? 3 : 1);
    struct ticks x_ticks, y_ticks;
    rows = rows < LEAST_ROWS ? LEAST_ROWS : rows;
    find_ticks(&y_ticks, &panel->y, drawing->margin[1], rows / 2.5, drawing->unicode);
    int left = y_ticks.widest < 4 ? 4 : y_ticks.widest, columns = size.width - left - 3;
    columns = columns < LEAST_COLUMNS ? LEAST_COLUMNS : columns;
    find_ticks(&x_ticks, &panel->x, drawing->margin[0], columns / 10.0, drawing->unicode);
    TRY(plot_canvas_init(&drawing->canvas, columns, rows, drawing->braille));
    if (panel->limit)
        draw_limit(drawing);
    for (size_t i = 0; i < panel->count; i++)
        draw_curve(drawing, &panel->curves[i]);
    print_heading(drawing, false);
    print_rows(drawing, &y_ticks, left);
    print_x_axis(drawing, &x_ticks, left);
    if (numbers)
        print_x_numbers(drawing, &x_ticks, left);
    plot_canvas_fini(&drawing->canvas);
    return TUTTI_OK;
}

static size_t line_count(const struct tt_plot_panel *panel)
{
    size_t count = 0;
    for (size_t i = 0; i < panel->count; i++)
        count += panel->curves[i].style == TUTTI_PLOT_CURVE;
    return count;
}

enum tutti_err plot_print_characters(FILE *out, const struct tt_plot *plot)
{
    const struct tt_plot_options *options = plot->options;
    if (options->title) {
        size_t length = tt_gnuplot_script_count_letters(options->title), width = (size_t)options->width;
        fprintf(out, "%*s%s\n", (int)(length < width ? (width - length) / 2 : 0), "", options->title);
    }
    for (size_t i = 0; i < plot->panel_count; i++) {
        const struct tt_plot_panel *panel = &plot->panels[i];
        struct drawing drawing = {.plot = plot,
                                  .panel = panel,
                                  .out = out,
                                  .braille = options->unicode && (options->colour || line_count(panel) < 2),
                                  .unicode = options->unicode,
                                  .colour = options->colour,
                                  .margin = {panel->phase ? 0.04 : 0, 0.05}};
        TRY(print_panel(&drawing, tt_gnuplot_script_has_numbers(plot, i)));
    }
    return TUTTI_OK;
}
