/* SPDX-License-Identifier: MIT */
#include "compare_solvers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "commands.h"
#include "console.h"
#include "output.h"
#include "sim/stats.h"
#include "signals.h"
#include "solve/solver.h"

/* The run that errors are measured against: a one-step method, which events do not throw back, so much tighter. */
static const char reference_solver[] = "radau5";
static const double reference_rtol = 1e-10, reference_share = 1e-3, least_rtol = 1e-13;

/* Options that would ask for one run, or for the result of one. */
static const char *const refused[] = {"--solver",     "--output", "--stats", "--step-log", "--final-state",
                                      "--checkpoint", "--resume", "--live",  "--join"};

static bool is_refused(const struct arguments *arguments)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        if (!arguments_value(arguments, refused[i]))
            continue;
        fprintf(
            stderr,
            "tutti run: %s is for one run, and --compare-solvers makes one with each solver; leave one of them out\n",
            refused[i]);
        return true;
    }
    return false;
}

/* One run into memory. */
static enum tutti_err run_once(struct run_options *run, const char *solver, struct tutti_recording **recording,
                               struct tutti_run_stats *stats)
{
    *stats = (struct tutti_run_stats){0};
    *recording = NULL;
    enum tutti_err err = tutti_options_set(run->options, "solver", solver);
    if (!err)
        err = tutti_recording_make(recording);
    if (err)
        return err;
    tutti_options_set_recording(run->options, *recording);
    signals_begin_run(run->options);
    err = tutti_run(run->options, stats);
    signals_in_run(false);
    return err;
}

/* As run_once, with tolerances that leave next to no error; *recording is NULL if that was not to be had. */
static enum tutti_err run_reference(struct run_options *run, struct tutti_recording **recording)
{
    struct tutti_run_options *options = run->options;
    bool has_rtol = options->has_rtol, has_atol = options->has_atol;
    double rtol = options->rtol, atol = options->atol;
    struct tutti_run_stats stats;
    options->rtol = fmax(fmin(reference_rtol, has_rtol ? reference_share * rtol : reference_rtol), least_rtol);
    options->has_rtol = true;
    options->has_atol = false;
    enum tutti_err err = run_once(run, reference_solver, recording, &stats);
    tt_stats_fini(&stats);
    options->has_rtol = has_rtol;
    options->rtol = rtol;
    options->has_atol = has_atol;
    options->atol = atol;
    if (err && *recording) {
        tutti_recording_free(*recording);
        *recording = NULL;
    }
    return err;
}

/* Column 0 is the time; those that are recorded follow. */
static double value_at(const struct tutti_recording *recording, size_t row, size_t column)
{
    return tutti_recording_values(recording)[row * (tutti_recording_column_count(recording) + 1) + column];
}

static double time_of(const struct tutti_recording *recording, size_t row)
{
    return value_at(recording, row, 0);
}

/* Of rows with one time the last: after the event. */
static size_t last_of(const struct tutti_recording *recording, size_t row)
{
    while (row + 1 < tutti_recording_rows(recording) && time_of(recording, row + 1) == time_of(recording, row))
        row++;
    return row;
}

static double range_of(const struct tutti_recording *recording, size_t column)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < tutti_recording_rows(recording); row++) {
        double value = value_at(recording, row, column);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return most > least ? most - least : fmax(fabs(most), 1e-300);
}

/* Returns the largest difference at common points, relative to the range of each variable; NaN: nothing to compare. */
static double error_of(const struct tutti_recording *recording, const struct tutti_recording *reference)
{
    size_t columns = tutti_recording_column_count(recording);
    double worst = NAN;
    if (!reference || tutti_recording_column_count(reference) != columns)
        return NAN;
    for (size_t column = 1; column <= columns; column++) {
        double range = range_of(reference, column);
        size_t row = 0, other = 0;
        while (row < tutti_recording_rows(recording) && other < tutti_recording_rows(reference)) {
            row = last_of(recording, row);
            other = last_of(reference, other);
            double t = time_of(recording, row), s = time_of(reference, other);
            double e = fabs(value_at(recording, row, column) - value_at(reference, other, column)) / range;
            if (t == s && isfinite(e))
                worst = fmax(isnan(worst) ? 0 : worst, e);
            row += t <= s;
            other += s <= t;
        }
    }
    return worst;
}

/* All units together. */
static void print_line(const char *solver, const struct tutti_run_stats *stats, double error)
{
    unsigned long steps = 0, rhs = 0, jacobians = 0;
    char shown[32] = "-", counted[32] = "-";
    for (size_t i = 0; i < stats->unit_count; i++) {
        steps += stats->units[i].solver_steps;
        rhs += stats->units[i].rhs_evaluations;
        jacobians += stats->units[i].jacobian_evaluations;
    }
    if (jacobians > 0)
        snprintf(counted, sizeof counted, "%lu", jacobians);
    if (isfinite(error))
        snprintf(shown, sizeof shown, "%.1e", error);
    fprintf(output_standard(), "%-10s %10lu %10lu %10s %12.3g s %10s\n", solver, steps, rhs, counted,
            stats->loop_seconds, shown);
}

static int compare(struct run_options *run)
{
    struct tutti_recording *reference = NULL;
    output_keep_apart();
    enum tutti_err last = run_reference(run, &reference), err = last;
    bool any = false;
    if (err == TUTTI_ERR_INTERRUPTED)
        return run_exit_status(err);
    fprintf(output_standard(), "%-10s %10s %10s %10s %14s %10s\n", "solver", "steps", "f-evals", "J-evals", "elapsed",
            "error");
    for (const struct tt_solver_kind *const *kind = tt_solver_kinds; *kind; kind++) {
        struct tutti_recording *recording = NULL;
        struct tutti_run_stats stats;
        if ((*kind)->fixed)
            continue; /* they look at no tolerance */
        err = run_once(run, (*kind)->name, &recording, &stats);
        console_clear_progress();
        if (!err)
            print_line((*kind)->name, &stats, error_of(recording, reference));
        else if (err != TUTTI_ERR_INTERRUPTED)
            fprintf(output_standard(), "%-10s %s\n", (*kind)->name, tutti_err_message());
        any = any || !err;
        last = err ? err : last;
        tutti_options_set_recording(run->options, NULL);
        tutti_recording_free(recording);
        tt_stats_fini(&stats);
        if (err == TUTTI_ERR_INTERRUPTED)
            break;
    }
    if (err == TUTTI_ERR_INTERRUPTED || !any)
        console_error(tutti_err_message());
    else if (!reference)
        console_error("errors are not known: the run that they are measured against (radau5, --rtol 1e-10) did not "
                      "come to its end");
    tutti_recording_free(reference);
    bool written = output_finish();
    return err == TUTTI_ERR_INTERRUPTED || !any ? run_exit_status(last) : written ? EXIT_DONE : EXIT_FAILED;
}

int compare_solvers(struct run_options *run, const struct arguments *arguments)
{
    return is_refused(arguments) ? EXIT_USAGE : compare(run);
}
