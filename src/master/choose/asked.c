/* SPDX-License-Identifier: MIT */
#include "master/choose/asked.h"

#include <string.h>

#include "job/annotation.h"
#include "job/integration.h"
#include "master/control/control.h"
#include "master/coupling/coupling.h"
#include "master/detect.h"
#include "solve/solver.h"

bool tutti_asked_auto(const char *word)
{
    return !word || strcmp(word, "auto") == 0;
}

bool tutti_asked_tolerance(const struct tutti_run_options *options)
{
    return options->has_rtol || options->has_atol || options->has_h_min || options->has_h_max;
}

bool tutti_asked_to_vary(const struct tutti_job *job)
{
    return !job->options.has_step &&
           (tutti_asked_tolerance(&job->options) || !job->times.step_proposed || !job->system->foreign);
}

bool tutti_asked_to_control(const struct tutti_run_options *options)
{
    if (!tutti_asked_auto(options->control))
        return strcmp(options->control, tutti_control_fixed.name) != 0;
    return !options->has_step && (options->has_rtol || options->has_atol);
}

bool tutti_master_may_control_one(const struct tutti_job *job)
{
    return !tutti_system_is_coupled(job->system) && tutti_asked_to_control(&job->options);
}

/* Does an option ask for units without a master, as far as that is known before they are there? */
bool tutti_master_federates(const struct tutti_job *job)
{
    const struct tutti_coupling *coupling = NULL;
    return tutti_system_is_coupled(job->system) && !tutti_asked_auto(job->options.coupling) &&
           tutti_coupling_find(job->options.coupling, &coupling) == TUTTI_OK && coupling->federates;
}

/* Will an option put all units into one solver, as far as that is known before they are there? */
static bool joins_all_of(const struct tutti_job *job)
{
    const struct tutti_system *system = job->system;
    const struct tutti_coupling *coupling = NULL;
    if (tutti_asked_auto(job->options.coupling) || tutti_coupling_find(job->options.coupling, &coupling) != TUTTI_OK ||
        !coupling->joins)
        return false;
    for (uint32_t c = 0; c < system->component_count; c++) {
        struct tutti_run_options own = job->options;
        const struct tutti_unit_kind *kind = NULL;
        double step;
        if (tutti_annotation_of_component(&own, system, &system->components[c], &step) != TUTTI_OK ||
            tutti_interface_find(&own, system->components[c].fmu, tutti_system_is_alone(system), &kind) != TUTTI_OK ||
            kind->interface != TUTTI_ME)
            return false;
    }
    return true;
}

/* A solver whose steps cannot be taken back would get a far smaller part, for steps that restart: one that leads all units makes none. */
static bool goes_back(const struct tutti_run_options *options)
{
    const struct tutti_solver_kind *kind = NULL;
    return !options->solver || tutti_solver_find(options->solver, &kind) != TUTTI_OK || kind->saved_size ||
           !kind->multistep;
}

bool tutti_master_may_control(const struct tutti_job *job)
{
    const struct tutti_control *control = NULL;
    if (!tutti_system_is_coupled(job->system) || tutti_master_federates(job))
        return false;
    /* Errors of one solver add up over the run as those of steps do: it gets the part of the tolerance that it gets where `auto` chose it. */
    if (tutti_asked_auto(job->options.control) && joins_all_of(job))
        return (job->options.has_rtol || job->options.has_atol) && goes_back(&job->options);
    if (tutti_asked_auto(job->options.control))
        return tutti_asked_to_vary(job);
    return tutti_control_find(job->options.control, &control) == TUTTI_OK && control->rejects;
}

bool tutti_master_asks_to_go_back(const struct tutti_job *job)
{
    const struct tutti_run_options *options = &job->options;
    const struct tutti_control *control = NULL;
    const struct tutti_coupling *coupling = NULL;
    const struct tutti_detection *detection = NULL;
    if (!tutti_system_is_coupled(job->system))
        return tutti_asked_to_control(options);
    if (tutti_master_federates(job))
        return false; /* what would is refused */
    if (tutti_asked_auto(options->control) && !options->has_step && (options->has_rtol || options->has_atol))
        return true;
    if (!tutti_asked_auto(options->control) && tutti_control_find(options->control, &control) == TUTTI_OK &&
        (control->rejects || control->for_iteration))
        return true;
    if (job->system->constraint_count > 0)
        return true;
    if (!tutti_asked_auto(options->coupling) && tutti_coupling_find(options->coupling, &coupling) == TUTTI_OK &&
        coupling->iterates)
        return true;
    return !tutti_asked_auto(options->events) && tutti_detection_find(options->events, &detection) == TUTTI_OK &&
           detection->early;
}

bool tutti_master_may_move_inputs(const struct tutti_job *job)
{
    const struct tutti_run_options *options = &job->options;
    const struct tutti_coupling *coupling = NULL;
    bool held = options->extrapolate && strcmp(options->extrapolate, "0") == 0;
    bool named = !tutti_asked_auto(options->coupling) && tutti_coupling_find(options->coupling, &coupling) == TUTTI_OK;
    return !held || !named || coupling->iterates;
}
