/* SPDX-License-Identifier: MIT */
#include "apps/study/estimate.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>

#include "apps/api/simulation.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/options/option_words.h"
#include "model/ssp/edit.h"
#include "results/recorder.h"
#include "sim/job/integration.h"
#include "solve/fit.h"
#include "solve/matrix.h"
#include "unit/unit.h"

#define NAMED(name, word, text) METHOD_##name,
enum estimate_method { TUTTI_FIT_METHODS(NAMED) };

/* Runs used for differences must be more accurate than ordinary runs. */
static const double TOLERANCE = 1e-7;
enum { MOST_RUNS = 2000 };

/* ---- what is looked for ---- */

static enum tutti_err parse_fitted_parameter(struct tutti_estimation *e, const char *text, struct tt_fitted *fitted)
{
    const char *equals = strrchr(text, '='), *at = equals ? equals + 1 : NULL;
    double numbers[3];
    int count = 0;
    while (at && count < 3) {
        const char *end = strchr(at, ':');
        if (!tt_number_read_double(at, end ? (size_t)(end - at) : strlen(at), &numbers[count]) || isnan(numbers[count]))
            break;
        count++;
        at = end ? end + 1 : NULL;
    }
    if (!equals || equals == text || at || (count != 1 && count != 3) || !isfinite(numbers[0]))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--fit takes P=START or P=START:MIN:MAX with numbers, not '%s'",
                       tt_text_excerpt(text).text);
    fitted->name = tt_arena_copy_text(&e->arena, text, (size_t)(equals - text));
    fitted->start = fitted->value = numbers[0];
    fitted->low = count == 3 ? numbers[1] : NAN;
    fitted->high = count == 3 ? numbers[2] : NAN;
    return fitted->name ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err parse_fitted_parameters(struct tutti_estimation *e)
{
    e->count = e->options.fit_count;
    if (e->count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "nothing is to be found: say --fit P=START");
    if (!e->options.data)
        return tt_fail(TUTTI_ERR_ARGUMENT, "there is nothing to come close to: say --data FILE");
    e->fitted = tt_arena_array(&e->arena, e->count, sizeof *e->fitted);
    e->names = tt_arena_array(&e->arena, e->count, sizeof *e->names);
    e->values = tt_arena_array(&e->arena, e->count, sizeof *e->values);
    e->low = tt_arena_array(&e->arena, e->count, sizeof *e->low);
    e->high = tt_arena_array(&e->arena, e->count, sizeof *e->high);
    e->parameters = tt_arena_array(&e->arena, e->count, sizeof *e->parameters);
    if (!e->parameters || !e->fitted || !e->names || !e->values || !e->low || !e->high)
        return tt_fail_memory();
    for (size_t k = 0; k < e->count; k++) {
        TRY(parse_fitted_parameter(e, e->options.fits[k], &e->fitted[k]));
        e->names[k] = e->fitted[k].name;
        e->values[k] = e->fitted[k].start;
        for (size_t j = 0; j < k; j++)
            if (strcmp(e->names[j], e->names[k]) == 0)
                return tt_fail(TUTTI_ERR_ARGUMENT, "--fit: '%s' is there twice", e->names[k]);
    }
    return TUTTI_OK;
}

/* Bounds and sizes that were not given are those of the FMU. */
static enum tutti_err set_default_bounds(struct tutti_estimation *e)
{
    for (size_t k = 0; k < e->count; k++) {
        struct tt_fitted *fitted = &e->fitted[k];
        size_t number;
        struct tutti_variable shown;
        TRY(tutti_simulation_find(e->trial.simulation, fitted->name, &number));
        TRY(tutti_simulation_describe(e->trial.simulation, number, &shown));
        if (strcmp(shown.type, "Float64") != 0 && strcmp(shown.type, "Float32") != 0)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "--fit: '%s' is of type %s; only numbers that can move a little can be found", fitted->name,
                           shown.type);
        fitted->low = isnan(fitted->low) ? shown.minimum : fmax(fitted->low, shown.minimum);
        fitted->high = isnan(fitted->high) ? shown.maximum : fmin(fitted->high, shown.maximum);
        if (!(fitted->low < fitted->high))
            return tt_fail(TUTTI_ERR_ARGUMENT, "--fit: '%s' has no room between its bounds, %s and %s", fitted->name,
                           NUMBER(fitted->low), NUMBER(fitted->high));
        if (!(fitted->start >= fitted->low && fitted->start <= fitted->high))
            return tt_fail(TUTTI_ERR_ARGUMENT, "--fit: '%s' begins with %s, which is outside of its bounds, %s to %s",
                           fitted->name, NUMBER(fitted->start), NUMBER(fitted->low), NUMBER(fitted->high));
        e->parameters[k] = fitted->start;
        fitted->scale = shown.nominal != 1 ? fabs(shown.nominal) : fitted->start != 0 ? fabs(fitted->start) : 1;
        e->values[k] = fitted->start / fitted->scale;
        e->low[k] = fitted->low / fitted->scale;
        e->high[k] = fitted->high / fitted->scale;
    }
    return TUTTI_OK;
}

/* The values of the data in the unit of the variable that is compared with them. */
static enum tutti_err estimate_convert_data(struct tutti_estimation *e, size_t i)
{
    const struct tt_system *system = e->trial.simulation->job.system;
    struct tt_indices element;
    uint32_t component, variable;
    TRY(tt_system_find(system, e->data.names[i], "--data", &component, &variable, &element));
    const struct tt_description *desc = system->components[component].fmu->desc;
    return tt_dataset_convert(&e->data, i, desc, &desc->vars[variable], e->options.data);
}

static enum tutti_err set_default_weights(struct tutti_estimation *e)
{
    for (size_t i = 0; i < e->data.count; i++) {
        struct tutti_variable shown;
        size_t place;
        TRY(tt_fail_context(tt_rerun_request(&e->trial, e->data.names[i], &place), "%s", e->options.data));
        TRY(tutti_simulation_find(e->trial.simulation, e->data.names[i], &e->variables[i]));
        TRY(tutti_simulation_describe(e->trial.simulation, e->variables[i], &shown));
        e->weights[i] = 1 / fabs(shown.nominal);
        TRY(estimate_convert_data(e, i));
    }
    for (size_t w = 0; w < e->options.weight_count; w++) {
        const char *text = e->options.weights[w], *equals = strrchr(text, '=');
        size_t i = 0;
        double weight;
        while (equals && i < e->data.count &&
               (strncmp(e->data.names[i], text, (size_t)(equals - text)) != 0 || e->data.names[i][equals - text]))
            i++;
        if (!equals || !tt_number_read_double(equals + 1, strlen(equals + 1), &weight) ||
            !(weight >= 0 && isfinite(weight)))
            return tt_fail(TUTTI_ERR_ARGUMENT, "--weight takes VAR=W with a number that is not negative, not '%s'",
                           tt_text_excerpt(text).text);
        if (i == e->data.count)
            return tt_fail(TUTTI_ERR_ARGUMENT, "--weight %s: %s has no such column", tt_text_excerpt(text).text,
                           e->options.data);
        e->weights[i] = weight;
    }
    return TUTTI_OK;
}

/* ---- a run ---- */

/* The run comes to the times of the data, to the bit. */
static enum tutti_err estimate_run_model(struct tutti_estimation *e, const double *parameters)
{
    struct tutti_simulation *simulation = e->trial.simulation;
    TRY(tt_rerun_start(&e->trial, parameters, e->found.evaluations == 1 ? e->options.log : NULL));
    for (size_t r = 0; r < e->data.rows; r++) {
        if (e->data.times[r] > tutti_simulation_time(simulation))
            TRY(tutti_simulation_advance(simulation, e->data.times[r]));
        if (tutti_simulation_time(simulation) < e->data.times[r] && tutti_simulation_is_over(simulation))
            return tt_fail(TUTTI_ERR_FMU, "an FMU ended the run at t = %s, before the data end",
                           NUMBER(tutti_simulation_time(simulation)));
        TRY(tutti_simulation_get_many(simulation, e->variables, e->data.count, e->model + r * e->data.count));
    }
    return TUTTI_OK;
}

static enum tutti_err write_residuals(const struct tutti_estimation *e, double *r)
{
    size_t n = 0;
    for (size_t i = 0; i < e->data.rows * e->data.count; i++) {
        if (isnan(e->data.values[i]))
            continue;
        size_t v = i % e->data.count;
        if (!isfinite(e->model[i]))
            return tt_fail(TUTTI_ERR_FMU, "'%s' is %s at t = %s, so that the sum of squares is not a number",
                           e->data.names[v], NUMBER(e->model[i]), NUMBER(e->data.times[i / e->data.count]));
        r[n++] = e->weights[v] * (e->model[i] - e->data.values[i]);
    }
    return TUTTI_OK;
}

enum tutti_err tt_estimate_evaluate(void *context, const double *x, double *r, bool *good)
{
    struct tutti_estimation *e = context;
    double *parameters = e->parameters;
    e->found.evaluations++;
    for (size_t k = 0; k < e->count; k++)
        parameters[k] = x[k] * e->fitted[k].scale;
    if (e->options.interrupt && *e->options.interrupt)
        return tt_fail(TUTTI_ERR_INTERRUPTED, "interrupted after %zu runs", e->found.evaluations);
    enum tutti_err err = estimate_run_model(e, parameters);
    if (!err)
        err = write_residuals(e, r);
    *good = !err;
    if (err == TUTTI_ERR_INTERRUPTED || err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_FATAL)
        return err;
    if (err)
        tt_fail_save(&e->reason, err);
    return TUTTI_OK;
}

/* ---- its derivatives ---- */

static enum tutti_err run_with_sensitivities(struct tutti_estimation *e, const double *x, double *jacobian)
{
    size_t n = 0, m = e->data.present;
    for (size_t k = 0; k < e->count; k++)
        e->parameters[k] = x[k] * e->fitted[k].scale;
    TRY(tt_estimate_forward_run(&e->forward, e->parameters, e->data.times, e->data.rows, e->derivatives));
    for (size_t i = 0; i < e->data.rows * e->data.count; i++) {
        if (isnan(e->data.values[i]))
            continue;
        for (size_t k = 0; k < e->count; k++)
            jacobian[k * m + n] = e->weights[i % e->data.count] * e->derivatives[i * e->count + k] * e->fitted[k].scale;
        n++;
    }
    return TUTTI_OK;
}

/* By sensitivities; where a run with them fails, by differences, and from then on always. */
static enum tutti_err estimate_jacobian(void *context, const double *x, const double *r, double *jacobian,
                                        size_t *evaluations, bool *good)
{
    struct tutti_estimation *e = context;
    enum tutti_err err = TUTTI_ERR_UNSUPPORTED;
    if (e->has_forward) {
        ++*evaluations;
        e->found.evaluations++;
        err = run_with_sensitivities(e, x, jacobian);
    }
    if (err == TUTTI_ERR_INTERRUPTED || err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_FATAL)
        return err;
    if (err && e->has_forward) {
        e->has_forward = false;
        tt_log(e->options.log, TUTTI_LOG_INFO, NULL, "derivatives by differences: %s", tutti_err_message());
    }
    *good = true;
    return err ? tt_fit_differences(&e->problem, x, r, e->problem.difference, jacobian, evaluations, good) : TUTTI_OK;
}

/* If sensitivities fail for any reason, differences are used. */
static enum tutti_err open_sensitivities(struct tutti_estimation *e)
{
    enum tutti_err err = tt_estimate_forward_open(&e->forward, &e->options, e->names, e->count, e->parameters,
                                                  e->data.names, e->data.count);
    e->has_forward = !err;
    e->derivatives = err ? NULL : tt_arena_array(&e->arena, e->data.rows * e->data.count * e->count, sizeof(double));
    if (err == TUTTI_ERR_MEMORY || (!err && !e->derivatives))
        return tt_fail_memory();
    if (err)
        tt_log(e->options.log, TUTTI_LOG_DEBUG, NULL, "derivatives by differences: %s", tutti_err_message());
    return TUTTI_OK;
}

/* ---- the search ---- */

/* A failure of the first run is reported as that of the model, not of the values. */
static enum tutti_err check_first_run(struct tutti_estimation *e, const struct tt_fit_problem *problem)
{
    bool good = false;
    double *r = calloc(problem->residuals + 1, sizeof *r);
    enum tutti_err err = r ? problem->evaluate(e, e->values, r, &good) : tt_fail_memory();
    free(r);
    if (!err && !good)
        err = tt_fail_context(tt_fail_restore(&e->reason), "with the values that the search begins with");
    return err;
}

/* A search that ends beside a bound, where the bound is as good or better, ends at the bound. */
static enum tutti_err snap_to_bounds(struct tutti_estimation *e, const struct tt_fit_problem *problem,
                                     struct tt_fit_result *result)
{
    static const double BESIDE = 1e-4; /* of the bounds' distance */
    enum tutti_err err = TUTTI_OK;
    double *r = calloc(problem->residuals + 1, sizeof *r);
    if (!r)
        return tt_fail_memory();
    for (size_t k = 0; k < e->count && !err; k++) {
        double value = e->values[k], near = BESIDE * (e->high[k] - e->low[k]), cost = 0;
        double bound = value - e->low[k] < e->high[k] - value ? e->low[k] : e->high[k];
        if (!isfinite(bound) || !isfinite(near) || value == bound || fabs(value - bound) > near)
            continue;
        bool good = false;
        e->values[k] = bound;
        result->evaluations++;
        err = problem->evaluate(e, e->values, r, &good);
        for (size_t i = 0; i < problem->residuals; i++)
            cost += r[i] * r[i];
        if (err || !good || cost > result->cost * (1 + 1e-12))
            e->values[k] = value;
        else
            result->cost = cost;
    }
    free(r);
    return err;
}

static enum tutti_err estimate_minimise(struct tutti_estimation *e, const struct tt_fit_problem *problem,
                                        enum estimate_method method)
{
    static const enum tt_minimiser minimisers[] = {[METHOD_BOBYQA] = TUTTI_MINIMISE_BOBYQA,
                                                   [METHOD_NELDER_MEAD] = TUTTI_MINIMISE_NELDER_MEAD,
                                                   [METHOD_SUBPLEX] = TUTTI_MINIMISE_SUBPLEX,
                                                   [METHOD_GLOBAL] = TUTTI_MINIMISE_DIRECT};
    TRY(check_first_run(e, problem));
    struct tt_fit_result result = {0};
    if (method != METHOD_LM)
        TRY(tt_fit_minimise(problem, minimisers[method], e->values, &result));
    if (method == METHOD_LM || method == METHOD_GLOBAL) {
        struct tt_fit_problem last = *problem;
        last.most += result.evaluations; /* separately for the second search */
        TRY(tt_fit_least_squares(&last, e->values, &result));
    }
    TRY(snap_to_bounds(e, problem, &result));
    e->found.end = result.end;
    e->found.cost = result.cost;
    e->found.iterations = result.iterations;
    return TUTTI_OK;
}

static enum tutti_err estimate_search(struct tutti_estimation *e)
{
    int method;
    TRY(tt_options_choose("method", e->options.method, &method));
    if (method == METHOD_LM || method == METHOD_GLOBAL)
        TRY(open_sensitivities(e));
    e->problem = (struct tt_fit_problem){.unknowns = e->count,
                                         .residuals = e->data.present,
                                         .low = e->low,
                                         .high = e->high,
                                         .difference = cbrt(e->options.rtol),
                                         .most = e->options.most_runs > 0 ? e->options.most_runs : MOST_RUNS,
                                         .context = e,
                                         .evaluate = tt_estimate_evaluate,
                                         .jacobian = e->has_forward ? estimate_jacobian : NULL};
    TRY(estimate_minimise(e, &e->problem, (enum estimate_method)method));
    for (size_t k = 0; k < e->count; k++) {
        struct tt_fitted *fitted = &e->fitted[k];
        fitted->value = e->values[k] * fitted->scale;
        fitted->at_bound = fitted->value <= fitted->low || fitted->value >= fitted->high;
    }
    bool good = false;
    double *r = calloc(e->problem.residuals + 1, sizeof *r);
    enum tutti_err err = r ? e->problem.evaluate(e, e->values, r, &good) : tt_fail_memory();
    free(r);
    memcpy(e->best, e->model, e->data.rows * e->data.count * sizeof *e->best);
    return err ? err : tt_estimate_assess(e, &e->problem, e->values);
}

/* ---- files ---- */

static enum tutti_err estimate_write_rows(const struct tutti_estimation *e, const struct tt_record_format *format,
                                          struct tt_recorder *recorder, double *row)
{
    for (size_t r = 0; r < e->data.rows; r++) {
        memcpy(row, e->best + r * e->data.count, e->data.count * sizeof *row);
        TRY(format->row(recorder, e->data.times[r]));
    }
    return TUTTI_OK;
}

/* The values of the best run at the times of the data. */
static enum tutti_err write_fitted_rows(struct tutti_estimation *e, const char *path)
{
    const struct tt_record_format *format = &tt_csv_format;
    struct tt_recorder *recorder = NULL;
    double *row = tt_arena_array(&e->arena, e->data.count + 1, sizeof *row);
    struct tt_column *columns = tt_arena_array(&e->arena, e->data.count + 1, sizeof *columns);
    if (!row || !columns)
        return tt_fail_memory();
    for (size_t i = 0; i < e->data.count; i++)
        columns[i] =
            (struct tt_column){.name = e->data.names[i], .type = TUTTI_TYPE_FLOAT64, .source = i, .value = &row[i]};
    TRY(tt_recorder_find_format(&format, path));
    TRY(format->open(&recorder, path, columns, e->data.count));
    struct tt_failure failure;
    tt_fail_save(&failure, estimate_write_rows(e, format, recorder, row));
    enum tutti_err err = format->close(recorder);
    return failure.err ? tt_fail_restore(&failure) : err;
}

static enum tutti_err estimate_write_values(const struct tutti_estimation *e, const char *path)
{
    static const enum tt_tree_space spaces[] = {TUTTI_SPACE_SSV};
    struct tt_tree *tree = tt_edit_new_tree(path);
    struct tt_text text = {0};
    if (!tree)
        return tt_fail_memory();
    struct tt_editor maker = {.tree = tree};
    struct tt_tree_node *root = tt_edit_add_root(&maker, "ParameterSet", spaces, 1);
    tt_edit_set(&maker, root, "version", "1.0");
    tt_edit_set(&maker, root, "name", "estimate");
    struct tt_tree_node *list = tt_edit_add(&maker, root, TUTTI_SPACE_SSV, "Parameters");
    for (size_t k = 0; k < e->count; k++) {
        struct tt_tree_node *parameter = tt_edit_add(&maker, list, TUTTI_SPACE_SSV, "Parameter");
        tt_edit_set(&maker, parameter, "name", e->fitted[k].name);
        tt_edit_set_number(&maker, tt_edit_add(&maker, parameter, TUTTI_SPACE_SSV, "Real"), "value",
                           e->fitted[k].value);
    }
    if (!maker.failed)
        tt_tree_write(tree, &text);
    enum tutti_err err = maker.failed || text.failed ? tt_fail_memory() : TUTTI_OK;
    if (!err && !tt_fs_replace_result(path, text.text, text.length))
        err = tt_fail(TUTTI_ERR_IO, "'%s' cannot be written: %s", path, strerror(errno));
    tt_text_fini(&text);
    tt_tree_free(tree);
    return err;
}

static enum tutti_err estimate_check_files(const struct tutti_run_options *options)
{
    const char *const paths[] = {options->output, options->trajectories};
    const char *const names[] = {"-o", "--trajectories"};
    for (int i = 0; i < 2; i++) {
        const char *reads = paths[i] ? tt_job_path_is_read(options, paths[i]) : NULL;
        if (!reads && paths[i] && options->data && tt_fs_is_same_file(paths[i], options->data))
            reads = "--data";
        if (reads)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s '%s' is what %s reads; name another file", names[i], paths[i],
                           reads);
    }
    return TUTTI_OK;
}

/* ---- the whole ---- */

static enum tutti_err estimate_allocate(struct tutti_estimation *e)
{
    size_t n = e->count;
    e->variables = tt_arena_array(&e->arena, e->data.count, sizeof *e->variables);
    e->weights = tt_arena_array(&e->arena, e->data.count, sizeof *e->weights);
    e->model = tt_arena_array(&e->arena, e->data.rows * e->data.count + 1, sizeof *e->model);
    e->best = tt_arena_array(&e->arena, e->data.rows * e->data.count + 1, sizeof *e->best);
    e->covariance = tt_arena_array(&e->arena, n * n, sizeof *e->covariance);
    e->directions = tt_arena_array(&e->arena, n * n, sizeof *e->directions);
    return e->variables && e->weights && e->model && e->best && e->covariance && e->directions ? TUTTI_OK
                                                                                               : tt_fail_memory();
}

/* Unless --stop is given, the run ends with the data. */
static enum tutti_err set_stop_time(struct tutti_estimation *e)
{
    struct tutti_result *result;
    TRY(tutti_result_open(&result, e->options.data, NULL));
    size_t rows = tutti_result_rows(result);
    if (!e->options.has_stop && rows > 0) {
        e->options.has_stop = true;
        e->options.stop = tutti_result_times(result)[rows - 1];
    }
    tutti_result_free(result);
    if (!e->options.has_rtol) {
        e->options.has_rtol = true;
        e->options.rtol = TOLERANCE;
    }
    return TUTTI_OK;
}

static enum tutti_err estimate_parameters(struct tutti_estimation *e)
{
    if (e->options.mpi)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "a search makes its runs one after the other, in one process: start it without mpiexec");
    if (e->options.nodes || e->options.workers > 0 || e->options.has_timeout ||
        (e->options.confine && strcmp(e->options.confine, "none") != 0))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "a search makes its runs one after the other, in this process: nodes, workers, timeout and "
                       "confine are for sweeps");
    TRY(estimate_check_files(&e->options));
    TRY(parse_fitted_parameters(e));
    TRY(set_stop_time(e));
    TRY(tt_rerun_open(&e->trial, &e->options, e->names, e->count, e->values));
    const struct tt_times *times = &e->trial.simulation->job.times;
    TRY(tt_dataset_read(&e->data, e->options.data, times->start, times->stop, e->options.log));
    TRY(estimate_allocate(e));
    TRY(set_default_bounds(e));
    TRY(set_default_weights(e));
    TRY(tt_rerun_record_none(&e->trial));
    if (e->data.present < e->count)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s has %zu values, which cannot determine %zu parameters", e->options.data,
                       e->data.present, e->count);
    TRY(estimate_search(e));
    if (e->options.trajectories)
        TRY(write_fitted_rows(e, e->options.trajectories));
    return e->options.output ? estimate_write_values(e, e->options.output) : TUTTI_OK;
}

enum tutti_err tutti_estimate(struct tutti_estimation **out, const struct tutti_run_options *options)
{
    struct tt_failure failure;
    struct tutti_estimation *e = calloc(1, sizeof *e);
    if (!e)
        return tt_fail_memory();
    e->options = *options;
    tt_fail_save(&failure, estimate_parameters(e));
    tt_rerun_close(&e->trial);
    tt_estimate_forward_close(&e->forward);
    if (failure.err)
        tutti_estimation_free(e);
    else
        *out = e;
    return tt_fail_restore(&failure);
}

void tutti_estimation_free(struct tutti_estimation *estimation)
{
    if (!estimation)
        return;
    tt_dataset_fini(&estimation->data);
    tt_text_fini(&estimation->text);
    tt_arena_fini(&estimation->arena);
    free(estimation);
}

/* ---- looking ---- */

bool tutti_estimation_parameter(const struct tutti_estimation *estimation, size_t parameter,
                                struct tutti_estimated *out)
{
    if (parameter >= estimation->count)
        return false;
    const struct tt_fitted *fitted = &estimation->fitted[parameter];
    *out = (struct tutti_estimated){.name = fitted->name,
                                    .value = fitted->value,
                                    .start = fitted->start,
                                    .low = fitted->low,
                                    .high = fitted->high,
                                    .error = fitted->error,
                                    .from = fitted->value - fitted->half,
                                    .to = fitted->value + fitted->half,
                                    .determined = fitted->determined,
                                    .at_bound = fitted->at_bound};
    return true;
}

double tutti_estimation_covariance(const struct tutti_estimation *estimation, size_t i, size_t k)
{
    return i < estimation->count && k < estimation->count ? estimation->covariance[i * estimation->count + k] : NAN;
}

const char *tutti_estimation_undetermined(struct tutti_estimation *estimation, size_t number)
{
    struct tt_text *text = &estimation->text;
    const double *direction = estimation->directions + number * estimation->count;
    double largest = 0, first = 0;
    if (number >= estimation->direction_count)
        return NULL;
    for (size_t k = 0; k < estimation->count; k++)
        largest = fmax(largest, fabs(direction[k]));
    text->length = 0;
    for (size_t k = 0; k < estimation->count; k++)
        if (fabs(direction[k]) > 0.05 * largest) {
            first = first == 0 ? direction[k] : first;
            tt_text_printf(text, "%s%s",
                           text->length == 0          ? ""
                           : direction[k] * first < 0 ? " against "
                                                      : " with ",
                           estimation->fitted[k].name);
        }
    return text->failed || !text->text ? "" : text->text;
}

struct tutti_estimation_summary tutti_estimation_sum_up(const struct tutti_estimation *estimation)
{
    return (struct tutti_estimation_summary){.sum_of_squares = estimation->found.cost,
                                             .residuals = estimation->data.present,
                                             .runs = estimation->found.evaluations,
                                             .iterations = estimation->found.iterations,
                                             .parameters = estimation->count,
                                             .converged = estimation->found.end == TUTTI_FIT_CONVERGED,
                                             .sensitivities = estimation->has_forward};
}

/* ---- what is recorded ---- */

/* "d(NAME)/d(PARAMETER)": the result has a column for each, or none at all. */
static enum tutti_err forward_set_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct tt_sensitivity_run *forward = context;
    const struct tt_rerun *trial = &forward->trial;
    struct tt_text name = {0};
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < forward->name_count * trial->name_count && !err; i++) {
        size_t c = 0;
        name.length = 0;
        tt_text_printf(&name, "d(%s)/d(%s)", forward->names[i / trial->name_count],
                       trial->names[i % trial->name_count]);
        while (c < count && !name.failed && strcmp(shown[c].name, name.text) != 0)
            c++;
        if (name.failed || c == count)
            err = name.failed ? tt_fail_memory()
                              : tt_fail(TUTTI_ERR_UNSUPPORTED, "'%s' is not known of this FMU", name.text);
        forward->columns[i] = c;
    }
    tt_text_fini(&name);
    if (!err && !forward->row) {
        forward->row = calloc(count, sizeof *forward->row);
        err = forward->row ? TUTTI_OK : tt_fail_memory();
    }
    forward->column_count = count;
    return err;
}

static enum tutti_err forward_store_row(void *context, double t, const double *wanted, const double *all)
{
    struct tt_sensitivity_run *forward = context;
    (void)wanted;
    forward->t = t;
    memcpy(forward->row, all, forward->column_count * sizeof *all);
    return TUTTI_OK;
}

/* ---- from outside ---- */

/* Differences of runs by a different method would be wrong: the FMU must run by Model Exchange without a coupling. */
static enum tutti_err forward_check_interface(const struct tt_job *job, const struct tutti_run_options *options)
{
    const struct tt_unit_kind *kind;
    if (!tt_system_is_alone(job->system))
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "sensitivities are for one FMU");
    TRY(tt_integration_find_interface(options, job->system->fmus[0], true, &kind));
    return kind->interface == TUTTI_ME ? TUTTI_OK
                                       : tt_fail(TUTTI_ERR_UNSUPPORTED, "sensitivities are for Model Exchange");
}

enum tutti_err tt_estimate_forward_open(struct tt_sensitivity_run *forward, const struct tutti_run_options *options,
                                        const char **parameters, size_t parameter_count, const double *values,
                                        const char *const *names, size_t name_count)
{
    *forward = (struct tt_sensitivity_run){.options = *options, .names = names, .name_count = name_count};
    forward->columns = tt_arena_array(&forward->arena, name_count * parameter_count + 1, sizeof *forward->columns);
    if (!forward->columns)
        return tt_fail_memory();
    forward->options.sensitivitys = (const char *const *)parameters;
    forward->options.sensitivity_count = parameter_count;
    forward->options.has_output_step = false;
    forward->options.records = NULL;
    forward->options.record_count = 0;
    forward->options.log = NULL;
    TRY(tt_rerun_open(&forward->trial, &forward->options, parameters, parameter_count, values));
    forward->trial.sink =
        (struct tt_rerun_sink){.context = forward, .columns = forward_set_columns, .row = forward_store_row};
    return forward_check_interface(&forward->trial.simulation->job, options);
}

void tt_estimate_forward_close(struct tt_sensitivity_run *forward)
{
    tt_rerun_close(&forward->trial);
    tt_arena_fini(&forward->arena);
    free(forward->row);
    *forward = (struct tt_sensitivity_run){0};
}

enum tutti_err tt_estimate_forward_run(struct tt_sensitivity_run *forward, const double *values, const double *times,
                                       size_t count, double *derivatives)
{
    struct tutti_simulation *simulation = forward->trial.simulation;
    size_t width = forward->name_count * forward->trial.name_count;
    TRY(tt_rerun_start(&forward->trial, values, NULL));
    for (size_t r = 0; r < count; r++) {
        if (times[r] > tutti_simulation_time(simulation))
            TRY(tutti_simulation_advance(simulation, times[r]));
        if (forward->t != times[r])
            return tt_fail(TUTTI_ERR_UNSUPPORTED, "there is no row of the sensitivities at t = %s", NUMBER(times[r]));
        for (size_t i = 0; i < width; i++) {
            derivatives[r * width + i] = forward->row[forward->columns[i]];
            if (!isfinite(derivatives[r * width + i]))
                return tt_fail(TUTTI_ERR_SOLVER, "a sensitivity is no number at t = %s", NUMBER(times[r]));
        }
    }
    return TUTTI_OK;
}

/* How sure estimated parameters are. With J the Jacobian of the weighted residuals at the best place and s^2 = |r|^2 /
 * (m - rank J), their covariance is s^2 (J'J)^-1 (Seber, Wild: Nonlinear Regression, 1989, eq. 5.10), here by the
 * singular values of J: directions whose singular value is not larger than the error of J itself (Weyl: no singular
 * value moves further than |dJ|) are not determined by the data, and have no standard error. */

static const double CONFIDENCE = 0.95;

struct estimate_uncertainty {
    size_t n, m;
    double *r, *jacobian, *other, *singular, *right;
};

/* Computes J as accurately as possible, and by differences of a second size; their distance estimates its error. */
static enum tutti_err compare_two_jacobians(struct tutti_estimation *e, const struct tt_fit_problem *problem,
                                            const double *x, struct estimate_uncertainty *j, double *error)
{
    bool good;
    size_t unused = 0; /* e->found counts */
    TRY(problem->evaluate(e, x, j->r, &good));
    if (good)
        TRY(tt_fit_jacobian(problem, x, j->r, j->jacobian, &unused, &good));
    if (good)
        TRY(tt_fit_differences(problem, x, j->r, 2 * problem->difference, j->other, &unused, &good));
    if (!good)
        return tt_fail_context(tt_fail_restore(&e->reason), "around the best values, whose errors are looked at");
    double sum = 0, size = 0;
    for (size_t i = 0; i < j->n * j->m; i++) {
        double d = j->jacobian[i] - j->other[i];
        sum += d * d;
        size += j->jacobian[i] * j->jacobian[i];
    }
    *error = sqrt(sum) + 100 * DBL_EPSILON * sqrt(size);
    return TUTTI_OK;
}

static void compute_standard_errors(struct tutti_estimation *e, const struct estimate_uncertainty *j, size_t rank)
{
    e->freedom = (double)j->m - (double)rank;
    e->variance = e->freedom > 0 ? e->found.cost / e->freedom : NAN;
    double interval = e->freedom > 0 ? tt_fit_student_interval(CONFIDENCE, e->freedom) : NAN;
    for (size_t i = 0; i < j->n; i++) {
        double lost = 0;
        for (size_t d = rank; d < j->n; d++)
            lost += j->right[d * j->n + i] * j->right[d * j->n + i];
        e->fitted[i].determined = lost < 1e-4;
        for (size_t k = 0; k < j->n; k++) {
            double sum = 0;
            for (size_t d = 0; d < rank; d++)
                sum += j->right[d * j->n + i] * j->right[d * j->n + k] / (j->singular[d] * j->singular[d]);
            e->covariance[i * j->n + k] = e->variance * sum * e->fitted[i].scale * e->fitted[k].scale;
        }
    }
    for (size_t i = 0; i < j->n; i++) {
        bool known = e->fitted[i].determined;
        e->fitted[i].error = known ? sqrt(e->covariance[i * j->n + i]) : NAN;
        e->fitted[i].half = known ? interval * e->fitted[i].error : NAN;
        for (size_t k = 0; k < j->n; k++) /* reported separately, not as a number */
            if (!known || !e->fitted[k].determined)
                e->covariance[i * j->n + k] = NAN;
    }
}

static enum tutti_err compute_covariance(struct tutti_estimation *e, const struct tt_fit_problem *problem,
                                         const double *x, struct estimate_uncertainty *j)
{
    double error = 0;
    size_t rank = 0;
    TRY(compare_two_jacobians(e, problem, x, j, &error));
    TRY(tt_matrix_svd(j->jacobian, j->m, j->n, j->singular, j->right));
    while (rank < j->n && j->singular[rank] > error)
        rank++;
    e->direction_count = j->n - rank;
    for (size_t d = rank; d < j->n; d++)
        for (size_t k = 0; k < j->n; k++)
            e->directions[(d - rank) * j->n + k] = j->right[d * j->n + k];
    compute_standard_errors(e, j, rank);
    return TUTTI_OK;
}

enum tutti_err tt_estimate_assess(struct tutti_estimation *e, const struct tt_fit_problem *problem, const double *x)
{
    size_t n = problem->unknowns, m = problem->residuals;
    double *memory = calloc(m + 2 * n * m + n + n * n, sizeof *memory);
    if (!memory)
        return tt_fail_memory();
    struct estimate_uncertainty j = {.n = n, .m = m, .r = memory, .jacobian = memory + m};
    j.other = j.jacobian + n * m;
    j.singular = j.other + n * m;
    j.right = j.singular + n;
    enum tutti_err err = compute_covariance(e, problem, x, &j);
    free(memory);
    return err;
}
