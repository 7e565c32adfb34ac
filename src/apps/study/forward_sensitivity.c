/* SPDX-License-Identifier: MIT */
#include "apps/study/forward_sensitivity.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/api/simulation.h"
#include "base/number.h"
#include "sim/job/integration.h"
#include "unit/unit.h"

/* ---- what is recorded ---- */

/* "d(NAME)/d(PARAMETER)": each has its column, or there is none of them. */
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

/* Differences of another method's runs are not what is looked for: the FMU has to run by Model Exchange by itself. */
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
