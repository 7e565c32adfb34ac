/* SPDX-License-Identifier: MIT */
/* Pictures are gnuplot's: plot.h says how a result becomes its script. */
#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/number.h"
#include "base/str.h"
#include "commands.h"
#include "console.h"
#include "display.h"
#include "gnuplot.h"
#include "output.h"
#include "plot_layout.h"
#include "run_options.h"

/* ---- options */

/* What gnuplot draws a file with: by its ending; NULL: nothing. */
static const char *terminal_for(const char *path)
{
    static const char *const endings[][2] = {{".svg", "svg"}, {".png", "pngcairo"}, {".pdf", "pdfcairo"}};
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (length > 4 && strcmp(path + length - 4, endings[i][0]) == 0)
            return endings[i][1];
    return NULL;
}

static bool read_size(struct plot_options *options, const char *text)
{
    const char *cross = text ? strchr(text, 'x') : NULL;
    int64_t width, height;
    if (!text)
        return true;
    if (!cross || !tutti_number_read_int(text, (size_t)(cross - text), &width) ||
        !tutti_number_read_int(cross + 1, strlen(cross + 1), &height) || width < 20 || height < 10 || width > 20000 ||
        height > 20000) {
        fprintf(stderr, "tutti plot: --size takes WIDTHxHEIGHT, like 800x600, from 20x10 to 20000x20000, not '%s'\n",
                text);
        return false;
    }
    options->width = (int)width;
    options->height = (int)height;
    return true;
}

static bool read_window(struct plot_options *options, const struct arguments *arguments)
{
    bool given;
    options->start = -INFINITY;
    options->stop = INFINITY;
    if (!arguments_number(arguments, "--start", &given, &options->start) ||
        !arguments_number(arguments, "--stop", &given, &options->stop))
        return false;
    if (options->start < options->stop)
        return true;
    fputs("tutti plot: --start has to be before --stop\n", stderr);
    return false;
}

/* The window's size, or that of a usual one. */
static void fit_terminal(struct plot_options *options)
{
    struct winsize window;
    bool known = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 && window.ws_row > 0;
    options->width = options->width ? options->width : known ? window.ws_col : 80;
    options->height = options->height ? options->height : known ? window.ws_row - 1 : 24;
    options->colour = display_of(stdout).colour;
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    options->unicode = locale != (locale_t)0 && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    if (locale != (locale_t)0)
        freelocale(locale);
}

static bool read_options(struct plot_options *options, const struct arguments *arguments)
{
    options->variables = calloc(arguments->given_count + 1, sizeof *options->variables);
    options->phases = calloc(arguments->given_count + 1, sizeof *options->phases);
    if (!options->variables || !options->phases) {
        console_error("out of memory");
        return false;
    }
    options->variable_count = arguments_values(arguments, "--variable", options->variables);
    options->phase_count = arguments_values(arguments, "--xy", options->phases);
    options->steps = arguments_value(arguments, "--steps");
    options->title = arguments_value(arguments, "--title");
    options->difference = arguments_value(arguments, "--difference") != NULL;
    options->y_log = arguments_value(arguments, "--y-log") != NULL;
    options->terminal = !arguments_value(arguments, "--output") || arguments_value(arguments, "--terminal");
    options->unicode = true;
    if (!read_size(options, arguments_value(arguments, "--size")) || !read_window(options, arguments))
        return false;
    if (options->terminal)
        fit_terminal(options);
    if (arguments->operand_count == 0 && !options->steps) {
        fputs("tutti plot: RESULT is missing; usage: tutti plot RESULT [RESULT2] [-o OUT.svg] [options]\n", stderr);
        return false;
    }
    if (arguments->operand_count == 0 && options->variable_count + options->phase_count > 0) {
        fputs("tutti plot: -v and --xy need a RESULT; a step log has no variables\n", stderr);
        return false;
    }
    if (options->difference && arguments->operand_count < 2) {
        fputs("tutti plot: --difference needs two results\n", stderr);
        return false;
    }
    return true;
}

/* ---- the picture */

/* The file's name without folders and ending, or all of it where that does not tell them apart. */
static enum tutti_err name_results(struct plot *plot)
{
    for (size_t i = 0; i < plot->result_count; i++) {
        const char *path = plot->results[i]->path, *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        const char *dot = strrchr(base, '.');
        plot->names[i] = tutti_arena_text(&plot->arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));
        if (!plot->names[i])
            return tutti_fail_memory();
    }
    if (plot->result_count > 1 && strcmp(plot->names[0], plot->names[1]) == 0)
        for (size_t i = 0; i < plot->result_count; i++)
            plot->names[i] = plot->results[i]->path;
    return TUTTI_OK;
}

static enum tutti_err open_results(struct plot *plot, const struct arguments *arguments)
{
    for (size_t i = 0; i < arguments->operand_count; i++) {
        TRY(tutti_result_open(&plot->results[i], arguments->operands[i], plot->log));
        plot->result_count++;
        if (plot->results[i]->rows == 0)
            return tutti_fail(TUTTI_ERR_FORMAT, "%s: there are no rows in it, so there is nothing to draw",
                              plot->results[i]->path);
    }
    return name_results(plot);
}

/* The time that all panels show: what there is, and of that what is wanted. */
static enum tutti_err find_window(struct plot *plot, const struct plot_steps *steps)
{
    double start = INFINITY, stop = -INFINITY;
    for (size_t i = 0; i < plot->result_count; i++) {
        start = fmin(start, plot->results[i]->times[0]);
        stop = fmax(stop, plot->results[i]->times[plot->results[i]->rows - 1]);
    }
    if (steps)
        plot_steps_span(steps, &start, &stop);
    if (plot->options->start > stop || plot->options->stop < start)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--start, --stop: the result goes from %s to %s: nothing of it is there",
                          NUMBER(start), NUMBER(stop));
    plot->start = fmax(start, plot->options->start);
    plot->stop = fmin(stop, plot->options->stop);
    return TUTTI_OK;
}

/* A day of 86,400 seconds is one of 24 hours. */
static double scale_of_seconds(double span, const char **unit)
{
    if (span < 3.0 * PLOT_HOUR)
        return 1;
    bool days = span > 4.0 * PLOT_DAY;
    *unit = days ? "d" : "h";
    return days ? PLOT_DAY : PLOT_HOUR;
}

/* All panels over time have the same x axis. */
static enum tutti_err fit_time(struct plot *plot)
{
    const char *unit = plot->result_count > 0 ? plot->results[0]->time_unit : NULL, *shown = unit ? unit : "s";
    struct plot_axis axis = {.scale = 1};
    if (strcmp(shown, "s") == 0)
        axis.scale = scale_of_seconds(plot->stop - plot->start, &shown);
    plot_axis_fit(&axis, plot->start, plot->stop);
    axis.label = plot_axis_label(plot, &axis, "time", shown);
    for (size_t i = 0; i < plot->panel_count; i++)
        if (!plot->panels[i].phase)
            plot->panels[i].x = axis;
    return axis.label ? TUTTI_OK : tutti_fail_memory();
}

static enum tutti_err check_content(const struct plot *plot)
{
    size_t points = 0;
    for (size_t p = 0; p < plot->panel_count; p++)
        for (size_t i = 0; i < plot->panels[p].count; i++) {
            const struct plot_curve *curve = &plot->panels[p].curves[i];
            points += curve->data->line.count;
            if (curve->data->line.count == 0 && curve->style == PLOT_CURVE && curve->label)
                tutti_log_printf(plot->log, TUTTI_LOG_WARNING, NULL, "'%s' has no value that can be drawn",
                                 curve->label);
        }
    return points > 0 ? TUTTI_OK : tutti_fail(TUTTI_ERR_FORMAT, "there is no finite number to draw");
}

static enum tutti_err make_plot(struct plot *plot, const struct arguments *arguments, const struct plot_steps *steps)
{
    TRY(open_results(plot, arguments));
    TRY(find_window(plot, steps));
    TRY(plot_list_traces(plot));
    size_t columns = (size_t)plot_size(plot).width * (plot->options->terminal ? 2 : 1); /* dots in a column */
    if (plot->result_count > 0)
        TRY(plot_make_panels(plot, columns));
    plot_warn_of_units(plot);
    if (steps)
        TRY(plot_steps_add_panels(plot, steps, columns));
    TRY(fit_time(plot));
    TRY(check_content(plot));
    struct plot_size size = plot_size(plot);
    return plot_fits_size(plot)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "--size: %dx%d is too small for %zu panel%s", size.width, size.height,
                            plot->panel_count, plot->panel_count == 1 ? "" : "s");
}

static int print_characters(const struct plot *plot)
{
    enum tutti_err err = plot_print_characters(stdout, plot);
    if (err == TUTTI_OK)
        return EXIT_DONE;
    console_error(tutti_err_message());
    return EXIT_FAILED;
}

static int draw(const struct plot *plot, const char *output)
{
    FILE *script = tmpfile(), *picture = tmpfile();
    bool good = script && picture;
    if (good) {
        plot_write_script(script, plot, terminal_for(output));
        good = fflush(script) == 0 && !ferror(script);
    }
    if (!good)
        console_error("a temporary file cannot be written; /tmp may be full");
    else if ((good = gnuplot_run(script, picture))) {
        rewind(picture);
        good = output_replace(output, picture);
    }
    if (script)
        fclose(script);
    if (picture)
        fclose(picture);
    return good ? EXIT_DONE : EXIT_FAILED;
}

static int plot_results(const struct plot_options *options, const struct arguments *arguments)
{
    const struct tutti_log log = {.level = TUTTI_LOG_INFO, .write = console_log};
    struct plot plot = {.options = options, .log = &log};
    struct plot_steps *steps = NULL;
    enum tutti_err err = options->steps ? plot_steps_read(&steps, options->steps) : TUTTI_OK;
    if (err == TUTTI_OK)
        err = make_plot(&plot, arguments, steps);
    int status = run_exit_status(err);
    if (err == TUTTI_ERR_ARGUMENT)
        fprintf(stderr, "tutti plot: %s\n", tutti_err_message());
    else if (err != TUTTI_OK)
        console_error(tutti_err_message());
    else
        status = options->terminal ? print_characters(&plot) : draw(&plot, arguments_value(arguments, "--output"));
    plot_steps_free(steps);
    plot_fini(&plot);
    return status;
}

int command_plot(const struct arguments *arguments)
{
    const char *output = arguments_value(arguments, "--output");
    struct plot_options options = {0};
    int status = EXIT_USAGE;
    if (read_options(&options, arguments)) {
        if (output && !terminal_for(output))
            fputs(
                "tutti plot: -o takes OUT.svg, OUT.png or OUT.pdf, the picture to write; without it the terminal shows "
                "it\n",
                stderr);
        else if (options.terminal && output)
            fputs("tutti plot: --terminal and -o exclude each other\n", stderr);
        else if (output && !output_can_be_written(output))
            status = EXIT_FAILED; /* before any work */
        else
            status = plot_results(&options, arguments);
    }
    free(options.variables);
    free(options.phases);
    return status;
}
