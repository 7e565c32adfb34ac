/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

#include "base/fail.h"
#include "base/fs.h"
#include "base/tempdir.h"
#include "commands.h"
#include "console.h"
#include "output.h"
#include "run_options.h"
#include "signals.h"

/* ---- for people ---- */

static void print_parameters(FILE *out, const struct tutti_estimation *estimation)
{
    struct tutti_estimated shown;
    size_t width = strlen("parameter");
    for (size_t k = 0; tutti_estimation_parameter(estimation, k, &shown); k++)
        width = strlen(shown.name) > width ? strlen(shown.name) : width;
    fprintf(out, "%-*s  %14s  %12s  %31s\n", (int)width, "parameter", "value", "error", "with 95 % confidence");
    for (size_t k = 0; tutti_estimation_parameter(estimation, k, &shown); k++) {
        fprintf(out, "%-*s  %14.8g  ", (int)width, shown.name, shown.value);
        if (!shown.determined)
            fprintf(out, "the data do not determine it");
        else if (isnan(shown.error))
            fprintf(out, "no more values than parameters: its error is not known");
        else
            fprintf(out, "%12.3g  %14.8g to %13.8g", shown.error, shown.from, shown.to);
        fprintf(out, "%s\n", shown.at_bound ? "  (at its bound)" : "");
    }
}

static void print_covariance(FILE *out, const struct tutti_estimation *estimation, size_t count)
{
    enum { MOST = 8 };
    struct tutti_estimated shown;
    if (count < 2 || count > MOST)
        return;
    fprintf(out, "\ncovariance\n");
    for (size_t i = 0; tutti_estimation_parameter(estimation, i, &shown); i++) {
        fprintf(out, "%-12s", shown.name);
        for (size_t k = 0; k < count; k++) {
            double value = tutti_estimation_covariance(estimation, i, k);
            if (isnan(value))
                fprintf(out, "%13s", "-");
            else
                fprintf(out, "%13.4g", value);
        }
        fprintf(out, "\n");
    }
}

static void print(FILE *out, struct tutti_estimation *estimation)
{
    struct tutti_estimation_summary summary = tutti_estimation_sum_up(estimation);
    const char *direction;
    print_parameters(out, estimation);
    print_covariance(out, estimation, summary.parameters);
    fprintf(out, "\n%-10s %.8g, of %zu values\n", "squares", summary.sum_of_squares, summary.residuals);
    for (size_t d = 0; (direction = tutti_estimation_undetermined(estimation, d)); d++)
        fprintf(out, "%-10s %s\n", "open", direction);
    fprintf(out, "%-10s %zu%s%s\n", "runs", summary.runs, summary.sensitivities ? ", with forward sensitivities" : "",
            summary.converged ? "" : "; not converged");
}

/* ---- for programs ---- */

/* NaN and infinite numbers are null. */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static void print_json(FILE *out, struct tutti_estimation *estimation)
{
    struct tutti_estimation_summary summary = tutti_estimation_sum_up(estimation);
    json_t *parameters = json_array(), *covariance = json_array(), *open = json_array();
    struct tutti_estimated shown;
    const char *direction;
    for (size_t i = 0; tutti_estimation_parameter(estimation, i, &shown); i++) {
        json_array_append_new(parameters,
                              json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "name", shown.name, "value",
                                        number(shown.value), "start", number(shown.start), "error", number(shown.error),
                                        "from", number(shown.from), "to", number(shown.to), "determined",
                                        shown.determined, "at_bound", shown.at_bound));
        json_t *row = json_array();
        for (size_t k = 0; k < summary.parameters; k++)
            json_array_append_new(row, number(tutti_estimation_covariance(estimation, i, k)));
        json_array_append_new(covariance, row);
    }
    for (size_t d = 0; (direction = tutti_estimation_undetermined(estimation, d)); d++)
        json_array_append_new(open, json_string(direction));
    json_t *all = json_pack("{s:o, s:o, s:o, s:o, s:I, s:I, s:b, s:b}", "parameters", parameters, "covariance",
                            covariance, "undetermined", open, "sum_of_squares", number(summary.sum_of_squares),
                            "values", (json_int_t)summary.residuals, "runs", (json_int_t)summary.runs, "converged",
                            summary.converged, "sensitivities", summary.sensitivities);
    json_dumpf(all, out, JSON_INDENT(2));
    fputc('\n', out);
    json_decref(all);
}

/* ---- the picture ---- */

static enum tutti_err draw(const char *fit, const char *data, const char *path)
{
    const char *const results[] = {fit, data}, *dot = strrchr(path, '.');
    char *picture = NULL;
    size_t size = 0;
    enum tutti_err err = tutti_tell_plot(&picture, &size, dot ? dot + 1 : "svg", results, 2, NULL, 0, NULL);
    bool written = !err && tt_fs_replace_result(path, picture, size);
    tutti_tell_free(picture);
    if (!err && !written)
        output_complain(path, 0);
    return err || written ? err : TUTTI_ERR_IO;
}

static int report(struct tutti_estimation *estimation, const struct run_options *run, bool json, const char *picture)
{
    struct tutti_estimation_summary summary = tutti_estimation_sum_up(estimation);
    if (json)
        print_json(output_standard(), estimation);
    else
        print(output_standard(), estimation);
    if (!summary.converged)
        console_error("the search has not converged: what it came to is no minimum; begin elsewhere, or allow more "
                      "runs (--most-runs)");
    enum tutti_err err = picture ? draw(run->options->trajectories, run->options->data, picture) : TUTTI_OK;
    if (err && err != TUTTI_ERR_IO)
        console_error(tutti_err_message());
    if (run->options->output && !run->quiet)
        fprintf(stderr, "%-10s %s\n", "result", run->options->output);
    return summary.converged && !err ? EXIT_DONE : EXIT_FAILED;
}

/* Files for the picture, made in the process that continues (signals_in_run), which removes the folder. */
static enum tutti_err make_place_for_fit(struct tutti_run_options *options, struct tt_tempdir **folder)
{
    char path[4096];
    TRY(tt_tempdir_new(folder));
    snprintf(path, sizeof path, "%s/fit.csv", tt_tempdir_path(*folder));
    return tutti_options_set(options, "trajectories", path);
}

static int estimate(const struct run_options *run, bool json, const char *picture)
{
    struct tutti_estimation *estimation = NULL;
    struct tt_tempdir *folder = NULL;
    signals_in_run(true);
    output_keep_apart();
    enum tutti_err err = picture && !run->options->trajectories ? make_place_for_fit(run->options, &folder) : TUTTI_OK;
    if (!err)
        err = tutti_estimate(&estimation, run->options);
    signals_in_run(false);
    if (err)
        console_error(tutti_err_message());
    int status = err ? run_exit_status(err) : report(estimation, run, json, picture);
    tutti_estimation_free(estimation);
    tt_tempdir_free(folder);
    return output_finish() || err ? status : EXIT_FAILED;
}

int command_estimate(const struct arguments *arguments)
{
    struct run_options run;
    const char *output = arguments_value(arguments, "--output"), *picture = arguments_value(arguments, "--picture");
    int status = run_options_read(&run, arguments);
    if (status == EXIT_DONE && output)
        status = run_exit_status(tutti_options_set(run.options, "output", output));
    if (status == EXIT_DONE &&
        ((output && !output_can_be_written(output)) || (picture && !output_can_be_written(picture))))
        status = EXIT_FAILED;
    if (status == EXIT_DONE)
        status = estimate(&run, arguments_value(arguments, "--json") != NULL, picture);
    run_options_fini(&run);
    return status;
}
