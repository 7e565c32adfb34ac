/* SPDX-License-Identifier: MIT */
#include "master/experiment.h"

#include <math.h>

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

static enum tutti_err check_step(double value, double span, const char *option)
{
    TRY(check_finite(value, option));
    if (!(value > 0))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s must be greater than 0, not %.17g", option, value);
    if (span / value > 1e15)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s %.17g would take %.3g steps; that cannot be meant", option, value,
                          span / value);
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
                          "--output-step %.17g is not a multiple of the step %.17g, and %s cannot vary its step "
                          "(canHandleVariableCommunicationStepSize); use a multiple",
                          times->output_step, times->step, fmu->path);
    if (tutti_grid_fits(times->start, times->step, times->stop))
        return TUTTI_OK;
    double fitting = span / ceil(span / times->step);
    if (options->has_step)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "%g is not a multiple of the step %.17g, and %s cannot vary its step "
                          "(canHandleVariableCommunicationStepSize); use --step %.17g, or another --stop",
                          span, times->step, fmu->path, fitting);
    tutti_log_printf(log, TUTTI_LOG_WARNING, fmu->path,
                     "the FMU cannot vary its step; using %.17g instead of %.17g, so that the run ends at %.17g",
                     fitting, times->step, times->stop);
    times->step = fitting;
    return TUTTI_OK;
}

enum tutti_err tutti_times_resolve(struct tutti_times *times, const struct tutti_run_options *options,
                                   const struct tutti_fmu *fmu, const struct tutti_log *log)
{
    const struct tutti_experiment *experiment = &fmu->desc->experiment;
    const struct tutti_interface *interface = &fmu->desc->interfaces[TUTTI_CS];
    *times = (struct tutti_times){.uniform = !(interface->flags & TUTTI_CAN_VARIABLE_STEP)};
    times->start = choose(options->has_start, options->start, experiment->has_start && isfinite(experiment->start),
                          experiment->start, 0);
    bool proposed = experiment->has_stop && isfinite(experiment->stop) && experiment->stop > times->start;
    times->stop =
        choose(options->has_stop, options->stop, proposed, experiment->stop, times->start < 1 ? 1 : times->start + 1);
    TRY(check_finite(times->start, "--start"));
    TRY(check_finite(times->stop, "--stop"));
    if (!(times->stop > times->start))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "the stop time %.17g must be after the start time %.17g", times->stop,
                          times->start);
    double span = times->stop - times->start;
    TRY(check_finite(span, "--stop minus --start"));
    times->step = options->has_step ? options->step : propose_step(experiment, interface, span, fmu, log);
    TRY(check_step(times->step, span, "--step"));
    if (options->has_output_step) {
        TRY(check_step(options->output_step, span, "--output-step"));
        times->output_step = options->output_step;
    }
    times->tolerance = choose(options->has_rtol, options->rtol, experiment->has_tolerance, experiment->tolerance, 0);
    if (options->has_rtol && !(options->rtol > 0 && isfinite(options->rtol)))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--rtol must be greater than 0, not %.17g", options->rtol);
    return times->uniform ? check_uniform(times, options, fmu, log) : TUTTI_OK;
}
