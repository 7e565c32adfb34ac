/* SPDX-License-Identifier: MIT */
#include "sim/job/times.h"

#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/time.h"

enum { DEFAULT_STEPS = 500 };

/* A time, from the option if it was given. */
static double times_choose(bool given, double option, bool proposed, double proposal, double otherwise)
{
    return given ? option : proposed ? proposal : otherwise;
}

static enum tutti_err times_check_finite(double value, const char *option)
{
    return isfinite(value) ? TUTTI_OK
                           : tt_fail(TUTTI_ERR_ARGUMENT, "%s must be a finite number, not %g", option, value);
}

enum tutti_err tt_times_check_step(const struct tt_times *times, double step, const char *option)
{
    double span = times->stop - times->start, largest = fmax(fabs(times->start), fabs(times->stop));
    TRY(times_check_finite(step, option));
    if (!(step > 0))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s must be greater than 0, not %s", option, NUMBER(step));
    if (span / step > 1e15)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s %s would take %.3g steps; that cannot be meant", option, NUMBER(step),
                       span / step);
    /* Far from 0 doubles are coarse: a step below their spacing would not move. */
    if (!(step > 16 * (nextafter(largest, INFINITY) - largest)))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s %s is too small for times around %s: no double can tell them apart",
                       option, NUMBER(step), NUMBER(largest));
    return TUTTI_OK;
}

static bool is_valid_step(double step)
{
    return step > 0 && isfinite(step);
}

void tt_times_propose(const struct tt_system *system, struct tt_experiment *proposal)
{
    bool found = system->experiment.has_start || system->experiment.has_stop, alone = tt_system_is_alone(system);
    *proposal = system->experiment;
    if (system->single && !alone)
        proposal->has_step = proposal->has_tolerance =
            false; /* these are proposals for the FMU, not for what it is coupled to */
    for (uint32_t i = 0; i < system->fmu_count && !alone; i++) {
        const struct tt_experiment *own = &system->fmus[i]->desc->experiment;
        bool ssp = system->package_count > 0;
        if (!found && !ssp && (own->has_start || own->has_stop)) {
            proposal->has_start = own->has_start;
            proposal->has_stop = own->has_stop;
            proposal->start = own->start;
            proposal->stop = own->stop;
            found = true;
        }
        if (!system->foreign && own->has_step && is_valid_step(own->step) &&
            (!proposal->has_step || own->step < proposal->step)) {
            proposal->has_step = true;
            proposal->step = own->step;
        }
    }
}

/* The proposed step, unless it is nonsense; a whole number of the FMU's internal steps if it has a fixed one. */
static double propose_step(const struct tt_experiment *experiment, double fixed_step, double span, const char *path,
                           const struct tutti_log *log)
{
    double step = span / DEFAULT_STEPS;
    if (experiment->has_step && is_valid_step(experiment->step))
        step = experiment->step;
    else if (experiment->has_step)
        tt_log(log, TUTTI_LOG_WARNING, path, "the default step size %g of the FMU is ignored", experiment->step);
    if (fixed_step > 0)
        step = fmax(1, nearbyint(step / fixed_step)) * fixed_step;
    return step > span ? span : step;
}

enum tutti_err tt_times_make_uniform(struct tt_times *times, const struct tutti_run_options *options,
                                     const struct tt_fmu *fmu, double own, const struct tutti_log *log)
{
    double span = times->stop - times->start, step = own > 0 ? own : times->step;
    if (times->output_step > 0 && !tt_time_grid_fits(0, step, times->output_step))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--output-step %s is not a multiple of the step %s, and %s cannot vary its step "
                       "(canHandleVariableCommunicationStepSize); use a multiple",
                       NUMBER(times->output_step), NUMBER(step), fmu->path);
    if (tt_time_grid_fits(times->start, step, times->stop))
        return TUTTI_OK;
    double fitting = span / ceil(span / step);
    if (options->has_step || own > 0) {
        double whole = times->start + fmax(1, nearbyint(span / step)) * step;
        bool typable = strlen(NUMBER(fitting)) <= 8; /* more is too long to type */
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s is not a multiple of the step %s, and %s cannot vary its step "
                       "(canHandleVariableCommunicationStepSize); use %s %s, or another %s",
                       NUMBER(span), NUMBER(step), fmu->path, typable ? "--step" : "--stop",
                       typable ? NUMBER(fitting) : TIME(whole), typable ? "--stop" : "--step");
    }
    tt_log(log, TUTTI_LOG_WARNING, fmu->path,
           "the FMU cannot vary its step; using %s instead of %s, so that the run ends at %s", NUMBER(fitting),
           NUMBER(step), NUMBER(times->stop));
    times->step = fitting;
    return TUTTI_OK;
}

enum tutti_err tt_times_check_multiple(const struct tt_times *times, double own, const char *name)
{
    TRY(tt_times_check_step(times, own, "--step"));
    double count = nearbyint(own / times->step);
    if (count >= 1 && tt_time_grid_fits(0, times->step, own))
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "--step %s=%s is not a multiple of the communication step %s; use --step %s=%s, or another --step",
                   name, NUMBER(own), NUMBER(times->step), name, NUMBER(fmax(count, 1) * times->step));
}

enum tutti_err tt_times_resolve(struct tt_times *times, const struct tutti_run_options *options,
                                const struct tt_system *system, enum tt_interface_kind kind,
                                const struct tutti_log *log)
{
    struct tt_experiment experiment;
    tt_times_propose(system, &experiment);
    double fixed = tt_system_is_alone(system) ? system->fmus[0]->desc->interfaces[kind].fixed_step : 0;
    *times = (struct tt_times){0};
    times->start = times_choose(options->has_start, options->start, experiment.has_start && isfinite(experiment.start),
                                experiment.start, 0);
    times->stop = times_choose(options->has_stop, options->stop, experiment.has_stop && isfinite(experiment.stop),
                               experiment.stop, times->start < 1 ? 1 : times->start + 1);
    TRY(times_check_finite(times->start, "--start"));
    TRY(times_check_finite(times->stop, "--stop"));
    if (options->open_end && times->stop <= times->start)
        times->stop = times->start + fmax(fabs(times->stop - experiment.start), 1);

    /* Some tools write a default experiment that takes no time: it is ignored. */
    if (times->stop == times->start && !options->has_start && !options->has_stop) {
        double stop = times->start < 1 ? 1 : times->start + 1;
        tt_log(log, TUTTI_LOG_WARNING, system->path,
               "the default experiment ends at %s, where it starts; the run ends at %s, unless --stop gives another "
               "time",
               NUMBER(times->stop), NUMBER(stop));
        times->stop = stop;
    }
    if (!(times->stop > times->start))
        return tt_fail(options->has_start || options->has_stop ? TUTTI_ERR_ARGUMENT : TUTTI_ERR_FORMAT,
                       "%s: the stop time %s%s must be after the start time %s", system->path, NUMBER(times->stop),
                       options->has_stop ? "" : " (of the default experiment; --stop gives another)",
                       NUMBER(times->start));
    double span = times->stop - times->start;
    TRY(times_check_finite(span, "--stop minus --start"));
    times->step = options->has_step ? options->step : propose_step(&experiment, fixed, span, system->path, log);
    times->step_proposed = !options->has_step && experiment.has_step && is_valid_step(experiment.step);
    if (system->foreign && !options->has_step)
        tt_log(log, TUTTI_LOG_INFO, NULL, "%s:%u: the annotation for %s %s", system->foreign_file, system->foreign_line,
               system->foreign,
               experiment.has_step ? "gives the communication step" : "leaves the steps to the master");
    TRY(tt_times_check_step(times, times->step, "--step"));
    if (options->has_output_step) {
        TRY(tt_times_check_step(times, options->output_step, "--output-step"));
        times->output_step = options->output_step;
    }
    times->tolerance =
        times_choose(options->has_rtol, options->rtol, experiment.has_tolerance, experiment.tolerance, 0);
    return TUTTI_OK;
}
