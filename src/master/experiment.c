/* SPDX-License-Identifier: MIT */
#include "master/experiment.h"

#include <math.h>

#include "base/number.h"
#include "base/time.h"

enum { DEFAULT_STEPS = 500 };

/* A time, from the option if it was given. */
static double choose(bool given, double option, bool proposed, double proposal, double otherwise)
{
    return given ? option : proposed ? proposal : otherwise;
}

static enum tutti_err check_finite(double value, const char *option)
{
    return isfinite(value) ? TUTTI_OK
                           : tutti_fail(TUTTI_ERR_ARGUMENT, "%s must be a finite number, not %g", option, value);
}

enum tutti_err tutti_times_check_step(const struct tutti_times *times, double step, const char *option)
{
    double span = times->stop - times->start, largest = fmax(fabs(times->start), fabs(times->stop));
    TRY(check_finite(step, option));
    if (!(step > 0))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s must be greater than 0, not %s", option, NUMBER(step));
    if (span / step > 1e15)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s %s would take %.3g steps; that cannot be meant", option, NUMBER(step),
                          span / step);
    /* Far from 0 doubles are coarse: a step below their spacing would not move. */
    if (!(step > 16 * (nextafter(largest, INFINITY) - largest)))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s %s is too small for times around %s: no double can tell them apart",
                          option, NUMBER(step), NUMBER(largest));
    return TUTTI_OK;
}

/* The proposed step, unless it is nonsense; a whole number of the FMU's internal steps if it has a fixed one. */
static double propose_step(const struct tutti_experiment *experiment, const struct tutti_interface *interface,
                           double span, const struct tutti_fmu *fmu, const struct tutti_log *log)
{
    double step = span / DEFAULT_STEPS;
    if (experiment->has_step && experiment->step > 0 && isfinite(experiment->step))
        step = experiment->step;
    else if (experiment->has_step)
        tutti_log_printf(log, TUTTI_LOG_WARNING, fmu->path, "the default step size %g of the FMU is ignored",
                         experiment->step);
    if (interface->fixed_step > 0)
        step = fmax(1, nearbyint(step / interface->fixed_step)) * interface->fixed_step;
    return step > span ? span : step;
}

static enum tutti_err check_uniform(struct tutti_times *times, const struct tutti_run_options *options,
                                    const struct tutti_fmu *fmu, const struct tutti_log *log)
{
    double span = times->stop - times->start;
    if (times->output_step > 0 && !tutti_grid_fits(0, times->step, times->output_step))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--output-step %s is not a multiple of the step %s, and %s cannot vary its step "
                          "(canHandleVariableCommunicationStepSize); use a multiple",
                          NUMBER(times->output_step), NUMBER(times->step), fmu->path);
    if (tutti_grid_fits(times->start, times->step, times->stop))
        return TUTTI_OK;
    double fitting = span / ceil(span / times->step);
    if (options->has_step)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "%s is not a multiple of the step %s, and %s cannot vary its step "
                          "(canHandleVariableCommunicationStepSize); use --step %s, or another --stop",
                          NUMBER(span), NUMBER(times->step), fmu->path, NUMBER(fitting));
    tutti_log_printf(log, TUTTI_LOG_WARNING, fmu->path,
                     "the FMU cannot vary its step; using %s instead of %s, so that the run ends at %s",
                     NUMBER(fitting), NUMBER(times->step), NUMBER(times->stop));
    times->step = fitting;
    return TUTTI_OK;
}

enum tutti_err tutti_times_resolve(struct tutti_times *times, const struct tutti_run_options *options,
                                   const struct tutti_fmu *fmu, enum tutti_interface_kind kind,
                                   const struct tutti_log *log)
{
    const struct tutti_experiment *experiment = &fmu->desc->experiment;
    const struct tutti_interface *interface = &fmu->desc->interfaces[kind];
    *times = (struct tutti_times){0};
    bool uniform = kind == TUTTI_CS && !(interface->flags & TUTTI_CAN_VARIABLE_STEP);
    times->start = choose(options->has_start, options->start, experiment->has_start && isfinite(experiment->start),
                          experiment->start, 0);
    times->stop = choose(options->has_stop, options->stop, experiment->has_stop && isfinite(experiment->stop),
                         experiment->stop, times->start < 1 ? 1 : times->start + 1);
    TRY(check_finite(times->start, "--start"));
    TRY(check_finite(times->stop, "--stop"));
    if (!(times->stop > times->start))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "the stop time %s%s must be after the start time %s", NUMBER(times->stop),
                          options->has_stop ? "" : " (the FMU's default; --stop gives another)", NUMBER(times->start));
    double span = times->stop - times->start;
    TRY(check_finite(span, "--stop minus --start"));
    times->step = options->has_step ? options->step : propose_step(experiment, interface, span, fmu, log);
    TRY(tutti_times_check_step(times, times->step, "--step"));
    if (options->has_output_step) {
        TRY(tutti_times_check_step(times, options->output_step, "--output-step"));
        times->output_step = options->output_step;
    }
    times->tolerance = choose(options->has_rtol, options->rtol, experiment->has_tolerance, experiment->tolerance, 0);
    if (options->has_rtol && !(options->rtol > 0 && isfinite(options->rtol)))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--rtol must be greater than 0 and finite, not %s",
                          NUMBER(options->rtol));
    return uniform ? check_uniform(times, options, fmu, log) : TUTTI_OK;
}
