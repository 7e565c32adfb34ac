/* SPDX-License-Identifier: MIT */
#include "sim/requested.h"

#include <string.h>

#include "sim/job/annotation.h"
#include "sim/job/integration.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/detector.h"
#include "solve/solver.h"

bool tt_choose_is_auto(const char *word)
{
    return !word || strcmp(word, "auto") == 0;
}

bool tt_choose_requests_tolerance(const struct tutti_run_options *options)
{
    return options->has_rtol || options->has_atol || options->has_h_min || options->has_h_max;
}

bool tt_choose_requests_varying_steps(const struct tt_job *job)
{
    return !job->options.has_step &&
           (tt_choose_requests_tolerance(&job->options) || !job->times.step_proposed || !job->system->foreign);
}

bool tt_choose_requests_control(const struct tutti_run_options *options)
{
    if (!tt_choose_is_auto(options->control))
        return strcmp(options->control, tt_control_fixed.name) != 0;
    return !options->has_step && (options->has_rtol || options->has_atol);
}

bool tt_choose_may_control_single(const struct tt_job *job)
{
    return !tt_system_is_coupled(job->system) && tt_choose_requests_control(&job->options);
}

/* Returns true if options select units without a master, as far as that is known before units are created. */
bool tt_choose_requests_federation(const struct tt_job *job)
{
    const struct tt_coupling *coupling = NULL;
    return tt_system_is_coupled(job->system) && !tt_choose_is_auto(job->options.coupling) &&
           tt_coupling_find(job->options.coupling, &coupling) == TUTTI_OK && coupling->federates;
}

/* Returns true if an option will put all units into one solver, as far as that is known before units are created. */
static bool requests_joint_solver(const struct tt_job *job)
{
    const struct tt_system *system = job->system;
    const struct tt_coupling *coupling = NULL;
    if (tt_choose_is_auto(job->options.coupling) || tt_coupling_find(job->options.coupling, &coupling) != TUTTI_OK ||
        !coupling->joins)
        return false;
    for (uint32_t c = 0; c < system->component_count; c++) {
        struct tutti_run_options own = job->options;
        const struct tt_unit_kind *kind = NULL;
        double step;
        if (tt_annotation_apply_component(&own, system, &system->components[c], &step) != TUTTI_OK ||
            tt_integration_find_interface(&own, system->components[c].fmu, tt_system_is_alone(system), &kind) !=
                TUTTI_OK ||
            kind->interface != TUTTI_ME)
            return false;
    }
    return true;
}

/* A solver that cannot be rolled back would get a far smaller tolerance, for steps that restart; a solver that leads
 * all units makes no such steps. */
static bool choose_rolls_back(const struct tutti_run_options *options)
{
    const struct tt_solver_kind *kind = NULL;
    return !options->solver || tt_solver_find(options->solver, &kind) != TUTTI_OK || kind->saved_size ||
           !kind->multistep;
}

bool tt_choose_may_control(const struct tt_job *job)
{
    const struct tt_control *control = NULL;
    if (!tt_system_is_coupled(job->system) || tt_choose_requests_federation(job))
        return false;
    /* Errors of one solver add up over the run as those of steps do: it gets the part of the tolerance that it gets where `auto` chose it. */
    if (tt_choose_is_auto(job->options.control) && requests_joint_solver(job))
        return (job->options.has_rtol || job->options.has_atol) && choose_rolls_back(&job->options);
    if (tt_choose_is_auto(job->options.control))
        return tt_choose_requests_varying_steps(job);
    return tt_control_find(job->options.control, &control) == TUTTI_OK && control->rejects;
}

bool tt_choose_requests_rollback(const struct tt_job *job)
{
    const struct tutti_run_options *options = &job->options;
    const struct tt_control *control = NULL;
    const struct tt_coupling *coupling = NULL;
    const struct tt_detection *detection = NULL;
    if (!tt_system_is_coupled(job->system))
        return tt_choose_requests_control(options);
    if (tt_choose_requests_federation(job))
        return false; /* what would is refused */
    if (tt_choose_is_auto(options->control) && !options->has_step && (options->has_rtol || options->has_atol))
        return true;
    if (!tt_choose_is_auto(options->control) && tt_control_find(options->control, &control) == TUTTI_OK &&
        (control->rejects || control->for_iteration))
        return true;
    if (job->system->constraint_count > 0)
        return true;
    if (!tt_choose_is_auto(options->coupling) && tt_coupling_find(options->coupling, &coupling) == TUTTI_OK &&
        coupling->iterates)
        return true;
    return !tt_choose_is_auto(options->events) && tt_detector_find_kind(options->events, &detection) == TUTTI_OK &&
           detection->early;
}

bool tt_choose_may_extrapolate_inputs(const struct tt_job *job)
{
    const struct tutti_run_options *options = &job->options;
    const struct tt_coupling *coupling = NULL;
    bool held = options->extrapolate && strcmp(options->extrapolate, "0") == 0;
    bool named = !tt_choose_is_auto(options->coupling) && tt_coupling_find(options->coupling, &coupling) == TUTTI_OK;
    return !held || !named || coupling->iterates;
}
