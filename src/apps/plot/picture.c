/* SPDX-License-Identifier: MIT */
/* gnuplot draws the pictures: plot.h describes how a result becomes its script. */
#include "apps/plot/picture.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/number.h"
#include "apps/describe/drawing.h"
#include "apps/plot/gnuplot_script.h"

/* ---- options ---- */

static enum tutti_err plot_read_size(struct tt_plot_options *options, const char *text)
{
    const char *cross = text ? strchr(text, 'x') : NULL;
    int64_t width, height;
    if (!text)
        return TUTTI_OK;
    if (!cross || !tt_number_read_int(text, (size_t)(cross - text), &width) ||
        !tt_number_read_int(cross + 1, strlen(cross + 1), &height) || width < 20 || height < 10 || width > 20000 ||
        height > 20000)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--size takes WIDTHxHEIGHT, like 800x600, from 20x10 to 20000x20000, not '%s'",
                       tt_text_excerpt(text).text);
    options->width = (int)width;
    options->height = (int)height;
    return TUTTI_OK;
}

enum tutti_err tt_plot_options_read(struct tt_plot_options *options, const struct tt_display_options *given)
{
    static const char *const names[] = {"variable", "xy",   "steps", "title", "difference",
                                        "y-log",    "size", "start", "stop",  NULL};
    *options = (struct tt_plot_options){.unicode = true};
    TRY(tt_describe_check_options(given, names));
    options->variables = calloc(given->count + 1, sizeof *options->variables);
    options->phases = calloc(given->count + 1, sizeof *options->phases);
    if (!options->variables || !options->phases)
        return tt_fail_memory();
    options->variable_count = tt_describe_option_values(given, "variable", options->variables);
    options->phase_count = tt_describe_option_values(given, "xy", options->phases);
    options->steps = tt_describe_option_value(given, "steps");
    options->title = tt_describe_option_value(given, "title");
    TRY(tt_describe_option_flag(given, "difference", &options->difference));
    TRY(tt_describe_option_flag(given, "y-log", &options->y_log));
    TRY(plot_read_size(options, tt_describe_option_value(given, "size")));

    options->start = -INFINITY;
    options->stop = INFINITY;
    TRY(tt_describe_option_number(given, "start", &options->start));
    TRY(tt_describe_option_number(given, "stop", &options->stop));
    return options->start < options->stop ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "--start has to be before --stop");
}

void tt_plot_options_fini(struct tt_plot_options *options)
{
    free((void *)options->variables);
    free((void *)options->phases);
}

static enum tutti_err plot_check_count(const struct tt_plot_options *options, size_t count)
{
    if (count == 0 && !options->steps)
        return tt_fail(TUTTI_ERR_ARGUMENT, "there is no result to draw");
    if (count > TUTTI_PLOT_RESULTS)
        return tt_fail(TUTTI_ERR_ARGUMENT, "one or two results are drawn, not %zu", count);
    if (count == 0 && options->variable_count + options->phase_count > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--variable and --xy need a result; a step log has no variables");
    if (count < 2 && options->difference)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--difference needs two results");
    return TUTTI_OK;
}

/* ---- the plot ---- */

/* Uses the file's name without folders and extension, or the whole path if that is ambiguous. */
static enum tutti_err name_results(struct tt_plot *plot)
{
    for (size_t i = 0; i < plot->result_count; i++) {
        const char *path = plot->results[i]->path, *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        const char *dot = strrchr(base, '.');
        plot->names[i] =
            tt_arena_copy_text(&plot->arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
        if (!plot->names[i])
            return tt_fail_memory();
    }
    if (plot->result_count > 1 && strcmp(plot->names[0], plot->names[1]) == 0)
        for (size_t i = 0; i < plot->result_count; i++)
            plot->names[i] = plot->results[i]->path;
    return TUTTI_OK;
}

static enum tutti_err open_results(struct tt_plot *plot, const char *const *results, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        TRY(tutti_result_open(&plot->results[i], results[i], plot->log));
        plot->result_count++;
        if (plot->results[i]->rows == 0)
            return tt_fail(TUTTI_ERR_FORMAT, "%s: there are no rows in it, so there is nothing to draw",
                           plot->results[i]->path);
    }
    return name_results(plot);
}

/* The time that all panels show: what there is, and of that what is wanted. */
static enum tutti_err find_window(struct tt_plot *plot, const struct tt_plot_steps *steps)
{
    double start = INFINITY, stop = -INFINITY;
    for (size_t i = 0; i < plot->result_count; i++) {
        start = fmin(start, plot->results[i]->times[0]);
        stop = fmax(stop, plot->results[i]->times[plot->results[i]->rows - 1]);
    }
    if (steps)
        tt_plot_steps_span(steps, &start, &stop);
    if (plot->options->start > stop || plot->options->stop < start)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--start, --stop: the result goes from %s to %s: nothing of it is there",
                       NUMBER(start), NUMBER(stop));
    plot->start = fmax(start, plot->options->start);
    plot->stop = fmin(stop, plot->options->stop);
    return TUTTI_OK;
}

/* A day of 86,400 seconds is one of 24 hours. */
static double choose_time_unit(double span, const char **unit)
{
    if (span < 3.0 * TUTTI_PLOT_HOUR)
        return 1;
    bool days = span > 4.0 * TUTTI_PLOT_DAY;
    *unit = days ? "d" : "h";
    return days ? TUTTI_PLOT_DAY : TUTTI_PLOT_HOUR;
}

static enum tutti_err plot_fit_time_axes(struct tt_plot *plot)
{
    const char *unit = plot->result_count > 0 ? plot->results[0]->time_unit : NULL, *shown = unit ? unit : "s";
    struct tt_plot_axis axis = {.scale = 1};
    if (strcmp(shown, "s") == 0)
        axis.scale = choose_time_unit(plot->stop - plot->start, &shown);
    tt_plot_axis_fit(&axis, plot->start, plot->stop);
    axis.label = tt_plot_axis_label(plot, &axis, "time", shown);
    for (size_t i = 0; i < plot->panel_count; i++)
        if (!plot->panels[i].phase)
            plot->panels[i].x = axis;
    return axis.label ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err plot_check_content(const struct tt_plot *plot)
{
    size_t points = 0;
    for (size_t p = 0; p < plot->panel_count; p++)
        for (size_t i = 0; i < plot->panels[p].count; i++) {
            const struct tt_plot_curve *curve = &plot->panels[p].curves[i];
            points += curve->data->line.count;
            if (curve->data->line.count == 0 && curve->style == TUTTI_PLOT_CURVE && curve->label)
                tt_log(plot->log, TUTTI_LOG_WARNING, NULL, "'%s' has no value that can be drawn", curve->label);
        }
    return points > 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_FORMAT, "there is no finite number to draw");
}

static enum tutti_err plot_create_panels(struct tt_plot *plot)
{
    size_t columns = (size_t)tt_gnuplot_script_picture_size(plot).width *
                     (plot->options->terminal ? 2 : 1); /* dots in a column */
    if (plot->result_count > 0)
        TRY(tt_plot_panels_create(plot, columns));
    tt_plot_traces_warn_of_units(plot);
    if (plot->steps)
        TRY(tt_plot_steps_add_panels(plot, plot->steps, columns));
    TRY(plot_fit_time_axes(plot));
    return plot_check_content(plot);
}

enum tutti_err tt_plot_create(struct tt_plot *plot, const char *const *results, size_t count,
                              const struct tt_plot_options *options, const struct tutti_log *log)
{
    *plot = (struct tt_plot){.options = options, .log = log};
    TRY(plot_check_count(options, count));
    if (options->steps)
        TRY(tt_plot_steps_read(&plot->steps, options->steps));
    TRY(open_results(plot, results, count));
    TRY(find_window(plot, plot->steps));
    TRY(tt_plot_traces_list(plot));
    TRY(plot_create_panels(plot));
    struct tt_plot_size size = tt_gnuplot_script_picture_size(plot);
    return tt_gnuplot_script_fits_size(plot)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "--size: %dx%d is too small for %zu panel%s", size.width, size.height,
                         plot->panel_count, plot->panel_count == 1 ? "" : "s");
}

/* ---- the picture ---- */

/* Returns gnuplot's terminal for the form; NULL if unsupported. */
static const char *gnuplot_terminal(const char *form)
{
    static const char *const forms[][2] = {{"svg", "svg"}, {"png", "pngcairo"}, {"pdf", "pdfcairo"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(form, forms[i][0]) == 0)
            return forms[i][1];
    return NULL;
}

bool tt_plot_can_draw(const char *form)
{
    return gnuplot_terminal(form) != NULL;
}

static enum tutti_err plot_draw(const struct tt_plot *plot, const char *form, char **picture, size_t *size)
{
    char *const command[] = {"gnuplot", "-d", NULL}; /* -d: what the user has set up does not matter */
    struct tt_drawing drawing;
    enum tutti_err err = tt_drawing_init(&drawing);
    if (!err) {
        tt_gnuplot_script_write(drawing.script, plot, gnuplot_terminal(form));
        err = tt_drawing_run(&drawing, command, "gnuplot-nox", picture, size);
    }
    tt_drawing_fini(&drawing);
    if (err && strstr(tutti_err_message(), "terminal type"))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "this gnuplot cannot draw this kind of picture; the Debian package "
                                              "gnuplot-nox can, and any gnuplot can draw .svg");
    return err;
}

enum tutti_err tutti_tell_plot(char **picture, size_t *size, const char *form, const char *const *results,
                               size_t result_count, const struct tutti_tell_option *options, size_t option_count,
                               const struct tutti_log *log)
{
    struct tt_plot_options chosen;
    struct tt_plot plot = {0};
    if (!tt_plot_can_draw(form))
        return tt_fail(TUTTI_ERR_ARGUMENT, "a picture is svg, png or pdf, not '%s'", tt_text_excerpt(form).text);
    enum tutti_err err = tt_plot_options_read(&chosen, &(struct tt_display_options){options, option_count});
    if (!err)
        err = tt_plot_create(&plot, results, result_count, &chosen, log);
    if (!err)
        err = plot_draw(&plot, form, picture, size);
    tt_plot_fini(&plot);
    tt_plot_options_fini(&chosen);
    return err;
}
