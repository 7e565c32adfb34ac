/* SPDX-License-Identifier: MIT */
/* A step log: one line per attempt at a step, t,h,error,verdict,... (src/sim/report/step_log.c). */
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "apps/plot/plot.h"
#include "results/csv_parser.h"

struct logged_attempt {
    double t, h, error; /* NaN: not known */
    bool taken;         /* the step was accepted */
    bool event;         /* it went over an event */
};

struct tt_plot_steps {
    struct logged_attempt *attempts;
    size_t count, capacity;
};

void tt_plot_steps_free(struct tt_plot_steps *steps)
{
    if (steps)
        free(steps->attempts);
    free(steps);
}

static bool plot_steps_is_text(const struct tt_csv_cell *cell, const char *text)
{
    return cell->n == strlen(text) && memcmp(cell->text, text, cell->n) == 0;
}

static double plot_steps_number(const struct tt_csv_cell *cell)
{
    double value;
    return tt_number_read_double(cell->text, cell->n, &value) && isfinite(value) ? value : NAN;
}

enum { COLUMNS = 4 };

static enum tutti_err plot_steps_read_header(struct tt_csv_parser *rows)
{
    static const char *const names[COLUMNS] = {"t", "h", "error", "verdict"};
    TRY(tt_csv_parser_next(rows));
    bool good = rows->count >= COLUMNS;
    for (size_t i = 0; good && i < COLUMNS; i++)
        good = plot_steps_is_text(&rows->cells[i], names[i]);
    return good ? TUTTI_OK
                : tt_fail(TUTTI_ERR_FORMAT,
                          "%s: not a step log: its first line has to be 't,h,error,verdict,...'; 'tutti run "
                          "--step-log' writes one",
                          rows->name);
}

static enum tutti_err add_attempt(struct tt_plot_steps *steps, const struct tt_csv_parser *rows)
{
    struct logged_attempt attempt = {.t = plot_steps_number(&rows->cells[0]),
                                     .h = plot_steps_number(&rows->cells[1]),
                                     .error = plot_steps_number(&rows->cells[2])};
    const struct tt_csv_cell *verdict = &rows->cells[3];
    if (isnan(attempt.t) || isnan(attempt.h))
        return tt_fail(TUTTI_ERR_FORMAT, "%s, line %zu: t and h have to be numbers", rows->name, rows->line);
    attempt.event = plot_steps_is_text(verdict, "event");
    attempt.taken = attempt.event || plot_steps_is_text(verdict, "accepted") || plot_steps_is_text(verdict, "forced");
    if (!tt_vector_reserve(&steps->attempts, &steps->capacity, steps->count + 1, sizeof *steps->attempts))
        return tt_fail_memory();
    /* The search for an event ends with an accepted attempt: the next attempt continues at its end. */
    if (steps->count > 0 && attempt.t > steps->attempts[steps->count - 1].t)
        steps->attempts[steps->count - 1].taken = true;
    steps->attempts[steps->count++] = attempt;
    return TUTTI_OK;
}

static enum tutti_err read_attempts(struct tt_plot_steps *steps, struct tt_csv_parser *rows)
{
    TRY(plot_steps_read_header(rows));
    for (;;) {
        enum tutti_err err = tt_csv_parser_next(rows);
        /* The run was killed, or is unfinished: its complete lines are used. */
        if (err == TUTTI_ERR_FORMAT && rows->cut)
            return TUTTI_OK;
        TRY(err);
        if (rows->count == 0 || (!rows->ended && (rows->count < COLUMNS || rows->grows)))
            return TUTTI_OK;
        if (rows->count < COLUMNS)
            return tt_fail(TUTTI_ERR_FORMAT, "%s, line %zu: %zu values where there have to be at least %d", rows->name,
                           rows->line, rows->count, COLUMNS);
        TRY(add_attempt(steps, rows));
    }
}

enum tutti_err tt_plot_steps_read(struct tt_plot_steps **out, const char *path)
{
    struct tt_csv_parser rows = {0};
    struct tt_plot_steps *steps = calloc(1, sizeof *steps);
    if (!steps)
        return tt_fail_memory();
    enum tutti_err err = tt_csv_parser_open(&rows, path);
    if (err == TUTTI_OK) {
        err = read_attempts(steps, &rows);
        tt_csv_parser_fini(&rows);
    }
    if (err == TUTTI_OK && steps->count == 0)
        err = tt_fail(TUTTI_ERR_FORMAT, "%s: there is no step in it", path);
    if (err != TUTTI_OK)
        tt_plot_steps_free(steps);
    else
        *out = steps;
    return err;
}

void tt_plot_steps_span(const struct tt_plot_steps *steps, double *start, double *stop)
{
    for (size_t i = 0; i < steps->count; i++) {
        *start = fmin(*start, steps->attempts[i].t);
        if (steps->attempts[i].taken)
            *stop = fmax(*stop, steps->attempts[i].t + steps->attempts[i].h);
    }
}

static double attempt_quantity(const struct logged_attempt *attempt, bool of_error)
{
    double value = of_error ? attempt->error : attempt->h;
    return value > 0 ? value : NAN;
}

static enum tutti_err add_step_stairs(struct tt_plot *plot, struct tt_plot_panel *panel,
                                      const struct tt_plot_steps *steps, bool of_error, size_t columns)
{
    struct tt_plot_curve_data *data = tt_plot_new_data(plot);
    struct tt_plot_line rows = {0};
    double end = NAN, last = NAN;
    for (size_t i = 0; i < steps->count; i++) {
        const struct logged_attempt *attempt = &steps->attempts[i];
        if (!attempt->taken || attempt->t < end - 1e-9 * fabs(end))
            continue;
        last = attempt_quantity(attempt, of_error);
        tt_plot_line_add(&rows, fmax(attempt->t, isnan(end) ? attempt->t : end), last);
        end = attempt->t + attempt->h;
    }
    tt_plot_line_add(&rows, end, last);
    struct tt_plot_values values = {.t = rows.x, .v = rows.y, .count = rows.count, .held = true};
    if (data && !rows.failed)
        tt_plot_line_thin(data, &values, plot->start, plot->stop, columns);
    bool failed = !data || rows.failed || tt_plot_line_curve_failed(data);
    tt_plot_line_fini(&rows);
    return failed ? tt_fail_memory()
                  : tt_plot_add_curve(panel, (struct tt_plot_curve){.label = "steps taken", .data = data});
}

static enum tutti_err add_attempt_marks(struct tt_plot *plot, struct tt_plot_panel *panel,
                                        const struct tt_plot_steps *steps, bool of_error, enum tt_plot_style style)
{
    struct tt_plot_curve_data *data = tt_plot_new_data(plot);
    struct tt_plot_sieve *sieve = calloc(1, sizeof *sieve);
    if (!data || !sieve) {
        free(sieve);
        return tt_fail_memory();
    }
    const struct tt_plot_axis *y = &panel->y;
    for (size_t i = 0; i < steps->count; i++) {
        const struct logged_attempt *attempt = &steps->attempts[i];
        double value = attempt_quantity(attempt, of_error), t = attempt->t;
        if (style == TUTTI_PLOT_EVENTS ? !attempt->event : attempt->taken || attempt->event)
            continue;
        t += style == TUTTI_PLOT_EVENTS ? attempt->h : 0;
        if (tt_plot_line_sieve_keeps(sieve, (t - plot->start) / (plot->stop - plot->start),
                                     (log(value) - log(y->low)) / (log(y->high) - log(y->low))))
            tt_plot_line_add(&data->line, t, value);
    }
    free(sieve);
    if (data->line.failed)
        return tt_fail_memory();
    struct tt_plot_curve curve = {.label = style == TUTTI_PLOT_EVENTS ? "events" : "taken back",
                                  .style = style,
                                  .colour = style == TUTTI_PLOT_EVENTS ? 2 : 1,
                                  .data = data};
    return data->line.count > 0 ? tt_plot_add_curve(panel, curve) : TUTTI_OK;
}

static enum tutti_err add_step_panel(struct tt_plot *plot, const struct tt_plot_steps *steps, bool of_error,
                                     size_t columns)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < steps->count; i++)
        if (steps->attempts[i].t + steps->attempts[i].h >= plot->start && steps->attempts[i].t <= plot->stop) {
            low = fmin(low, attempt_quantity(&steps->attempts[i], of_error));
            high = fmax(high, attempt_quantity(&steps->attempts[i], of_error));
        }
    if (of_error && !(low <= high))
        return TUTTI_OK;
    struct tt_plot_panel *panel = tt_plot_add_panel(plot);
    if (!panel)
        return tt_fail_memory();
    panel->legend = !of_error; /* that of the panel above will do */
    panel->limit = of_error;
    panel->y.log = true;
    low = fmax(low, 1e-12 * high); /* an error near 0 would hide all others */
    tt_plot_axis_fit(&panel->y, of_error ? fmin(low, 1) : low, of_error ? fmax(high, 1) : high);
    panel->y.label = of_error ? "error / tolerance" : "step size in s";
    TRY(add_step_stairs(plot, panel, steps, of_error, columns));
    TRY(add_attempt_marks(plot, panel, steps, of_error, TUTTI_PLOT_TAKEN_BACK));
    return of_error ? TUTTI_OK : add_attempt_marks(plot, panel, steps, of_error, TUTTI_PLOT_EVENTS);
}

enum tutti_err tt_plot_steps_add_panels(struct tt_plot *plot, const struct tt_plot_steps *steps, size_t columns)
{
    TRY(add_step_panel(plot, steps, false, columns));
    return add_step_panel(plot, steps, true, columns);
}
