/* SPDX-License-Identifier: MIT */
#include "sim/start/open.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "results/csv_table.h"
#include "sim/job/annotation.h"
#include "sim/job/driven_inputs.h"
#include "sim/job/integration.h"
#include "sim/rank.h"
#include "sim/start/input_rows.h"
#include "unit/shadow.h"

/* If the errors of steps are estimated, solvers inside units must not add noise of that size: their part of the
 * tolerance. For the error of the whole run, the errors of steps, which depend on its cube root, also add up. */
static const double PER_STEP = 0.1, LEAST = 1e-13; /* no solver is better */

static bool is_per_step(const struct tutti_run_options *options)
{
    return options->error_per && strcmp(options->error_per, "step") == 0;
}

static double tolerance_share(const struct tutti_run_options *options, double tolerance)
{
    if (is_per_step(options))
        return PER_STEP;
    tolerance = tolerance > 0 ? tolerance : TUTTI_DEFAULT_RTOL;
    return fmin(fmax(PER_STEP * cbrt(tolerance), LEAST / tolerance), 1);
}

/* Multistep methods that cannot be rolled back restart every step with order 1: their error then decreases only
 * linearly with the step, and is at the level of noise only for much smaller tolerances. */
static double solver_tolerance_share(const struct tt_rank *rank, const struct tt_member *member)
{
    static const double ANEW = 1e-3;
    const struct tt_solver_kind *solver = member->setup.integration.solver;
    if (member->setup.share <= 0)
        return 1;
    if (is_per_step(&rank->job->options) || !solver->multistep || solver->saved_size)
        return member->setup.share;
    return fmin(fmax(ANEW * member->setup.share, LEAST / member->setup.integration.rtol), member->setup.share);
}

/* "--step UNIT=H" for this unit; 0: none. Each that is used is marked. */
static enum tutti_err find_unit_step(const struct tt_rank *rank, const char *name, bool *used, double *step)
{
    const struct tutti_run_options *options = &rank->job->options;
    for (size_t i = 0; i < options->unit_step_count; i++) {
        const char *text = options->unit_steps[i], *equals = strrchr(text, '=');
        if (!equals || strlen(name) != (size_t)(equals - text) || strncmp(text, name, strlen(name)) != 0)
            continue;
        used[i] = true;
        if (!tt_number_read_double(equals + 1, strlen(equals + 1), step))
            return tt_fail(TUTTI_ERR_ARGUMENT, "--step takes UNIT=H with a number H, not '%s'", text);
        TRY(tt_times_check_step(&rank->times, *step, "--step UNIT=H"));
    }
    return TUTTI_OK;
}

/* `given`: the option as it was typed. */
static enum tutti_err open_fail_no_unit(const struct tt_rank *rank, const char *given, const char *name)
{
    struct tt_text_nearest nearest = {.wanted = name};
    for (uint32_t c = 0; c < rank->job->system->component_count; c++)
        tt_text_nearest_offer(&nearest, rank->job->system->components[c].name);
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no unit '%s'%s%s%s", given, name,
                   nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "", nearest.best ? "'?" : "");
}

static enum tutti_err check_steps_used(const struct tt_rank *rank, const bool *used)
{
    for (size_t i = 0; i < rank->job->options.unit_step_count; i++) {
        if (used[i])
            continue;
        struct tt_text name = {0}, given = {0};
        const char *text = rank->job->options.unit_steps[i], *equals = strrchr(text, '=');
        tt_text_append_n(&name, text, equals ? (size_t)(equals - text) : strlen(text));
        tt_text_printf(&given, "--step %s", text);
        enum tutti_err err = name.failed || given.failed
                                 ? tt_fail_memory()
                                 : open_fail_no_unit(rank, given.text, name.text ? name.text : "");
        tt_text_fini(&given);
        tt_text_fini(&name);
        return err;
    }
    return TUTTI_OK;
}

/* A feature that is not to be used: of all units, or of those named. */
static bool is_unit_listed(const char *name, bool all, const char *const *units, size_t count)
{
    for (size_t i = 0; i < count; i++)
        all = all || strcmp(units[i], name) == 0;
    return all;
}

static uint32_t unused_features(const struct tutti_run_options *options, const char *name)
{
    bool events =
        is_unit_listed(name, options->no_event_mode, options->no_event_mode_units, options->no_event_mode_unit_count);
    bool derivatives = is_unit_listed(name, options->no_directional_derivatives,
                                      options->no_directional_derivatives_units,
                                      options->no_directional_derivatives_unit_count);
    return (events ? TUTTI_CAN_EVENT_MODE : 0) | (derivatives ? TUTTI_CAN_DIRECTIONAL : 0);
}

static enum tutti_err check_units_exist(const struct tt_rank *rank, const char *option, const char *const *units,
                                        size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t c = 0; c < rank->job->system->component_count && !found; c++)
            found = strcmp(rank->job->system->components[c].name, units[i]) == 0;
        if (!found)
            return open_fail_no_unit(rank, option, units[i]);
    }
    return TUTTI_OK;
}

/* Assigns separate grids to units that step less often, or have a fixed step. */
static enum tutti_err assign_step_grids(struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_member *member = &rank->members[m];
        if (member->unit->uniform)
            TRY(tt_times_make_uniform(&rank->times, &rank->job->options, member->unit->fmu, member->setup.own_step,
                                      rank->log));
    }
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tt_member *member = &rank->members[m];
        double step = member->setup.own_step > 0 ? member->setup.own_step : rank->times.step;
        if (member->setup.own_step > 0 && !(rank->expected.is & TUTTI_METHOD_FREE_STEPS)) {
            const struct tt_component *component = &rank->job->system->components[m];
            enum tutti_err err = tt_times_check_multiple(&rank->times, member->setup.own_step, component->name);
            if (err && member->setup.step_from_file) /* a fault of the file */
                return tt_fail_context(TUTTI_ERR_FORMAT, "%s:%u", component->file, component->line);
            TRY(err);
        }
        member->has_grid = member->unit->uniform || !tt_time_same(step, rank->times.step, 0);
        tt_time_grid_init(&member->now.grid, rank->times.start, step, rank->times.stop);
    }
    return TUTTI_OK;
}

static bool has_wired_inputs(const struct tt_rank *rank, uint32_t component)
{
    uint32_t first = rank->job->structure.component_first[component];
    return first < rank->job->structure.component_first[component + 1] && !rank->job->structure.nodes[first].output;
}

/* Reads "--atol UNIT.STATE=A" for this unit. Names are those of variables; the unit determines whether they are states. */
static enum tutti_err read_state_tolerances(struct tt_rank *rank, uint32_t c, const struct tutti_run_options *options,
                                            struct tt_integration *integration)
{
    struct tt_state_tolerance *all = NULL;
    if (options->unit_atol_count > 0)
        all = tt_arena_array(&rank->arena, options->unit_atol_count, sizeof *all);
    if (options->unit_atol_count > 0 && !all)
        return tt_fail_memory();
    for (size_t i = 0; i < options->unit_atol_count; i++) {
        const char *text = options->unit_atols[i], *equals = strrchr(text, '=');
        struct tt_indices element;
        uint32_t component, variable;
        double atol;
        if (!equals || !tt_number_read_double(equals + 1, strlen(equals + 1), &atol) || !(atol > 0) || !isfinite(atol))
            return tt_fail(TUTTI_ERR_ARGUMENT, "--atol takes UNIT.STATE=A with a number A greater than 0, not '%s'",
                           text);
        const char *name = tt_arena_copy_text(&rank->arena, text, (size_t)(equals - text));
        if (!name)
            return tt_fail_memory();
        TRY(tt_system_find(rank->job->system, name, "--atol", &component, &variable, &element));
        if (component != c)
            continue;
        if (element.count > 0)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "--atol %s: all elements of an array have one tolerance; leave the index out", text);
        all[integration->state_tolerance_count++] = (struct tt_state_tolerance){
            .reference = rank->job->system->components[c].fmu->desc->vars[variable].reference,
            .scale = atol / integration->atol,
            .given = text,
        };
    }
    integration->state_tolerances = all;
    return TUTTI_OK;
}

static enum tutti_err choose_kind(struct tt_rank *rank, uint32_t c, const struct tutti_run_options *options,
                                  const struct tt_unit_kind **kind)
{
    const struct tt_component *component = &rank->job->system->components[c];
    struct tt_member *member = &rank->members[c];
    TRY(tt_integration_find_interface(options, component->fmu, tt_system_is_alone(rank->job->system), kind));
    if ((*kind)->interface != TUTTI_ME)
        return tt_system_is_alone(rank->job->system) ? tt_integration_reject_options(options, false) : TUTTI_OK;
    bool disturbed = member->bent || has_wired_inputs(rank, c) || (rank->expected.is & TUTTI_METHOD_SHARES_TOLERANCE) ||
                     rank->job->is_fed;
    TRY(tt_integration_resolve(&member->setup.integration, options, &rank->times, member->setup.tolerance, disturbed,
                               tt_system_is_coupled(rank->job->system)));
    member->setup.integration.sensitivity = rank->job->sensitivity;
    TRY(read_state_tolerances(rank, c, options, &member->setup.integration));
    double share = solver_tolerance_share(rank, member);
    member->setup.integration.rtol *= share;
    member->setup.integration.atol *= share;
    return TUTTI_OK;
}

enum tutti_err tt_open_configure_component(struct tt_rank *rank, uint32_t c)
{
    const struct tt_component *component = &rank->job->system->components[c];
    const struct tt_member *member = &rank->members[c];
    struct tt_experiment_setup setup = {
        .start = rank->times.start,
        .stop = rank->times.stop,
        .has_stop =
            !rank->job->options.open_end && !member->setup.no_stop_time &&
            !tt_state_files_final(&rank->job->states, c), /* it is part of the state, from which a later run resumes */
        .tolerance = member->setup.tolerance * (member->setup.share > 0 ? member->setup.share : 1),
        .has_tolerance = member->setup.tolerance > 0,
    };
    TRY(member->unit->kind->set_up(member->unit, &setup));
    return tt_unit_apply(member->unit, component->settings, component->setting_count);
}

/* Model Exchange goes back by its states; it needs to have them saved across events only, at which steps can end. */
bool tt_open_may_fork(const struct tt_rank *rank, const struct tt_member *member)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    uint32_t can = component->fmu->desc->interfaces[TUTTI_CS].flags;
    bool coupled = tt_system_is_coupled(rank->job->system);
    return member->setup.rollback == TUTTI_ROLLBACK_AUTO && (rank->expected.is & TUTTI_METHOD_FORKS) &&
           !member->setup.integration.solver && (can & TUTTI_CAN_VARIABLE_STEP) &&
           (coupled || (member->inputs && tt_inputs_depend_on_steps(member->inputs, can)));
}

/* Determines how the unit is rolled back, as far as that is known before it is created. */
static enum tutti_err choose_rollback(struct tt_rank *rank, struct tt_member *member,
                                      const struct tutti_run_options *options)
{
    struct tt_fmu *fmu = rank->job->system->components[member->component].fmu;
    const struct tt_unit_kind *kind = NULL;
    int place;
    TRY(tt_options_choose("rollback", options->rollback, &place));
    member->setup.rollback = (enum tt_rollback)place;
    if (!tt_rank_owns(rank, member->component))
        return TUTTI_OK;
    TRY(choose_kind(rank, member->component, options, &kind));
    TRY(tt_fmu_load(fmu, kind->interface, rank->unit_log));
    bool saves = fmu->libraries[kind->interface]->can & TUTTI_CAN_STATE;
    member->setup.forked = member->setup.rollback == TUTTI_ROLLBACK_FORK || (!saves && tt_open_may_fork(rank, member));
    return TUTTI_OK;
}

/* A unit that cannot be taken back by forking runs as it did without, unless that was asked for. */
static enum tutti_err create_unit_or_unforked(struct tt_rank *rank, struct tt_member *member,
                                              struct tt_unit_options *options)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    options->forked = member->setup.forked;
    enum tutti_err err = tt_unit_new(&member->unit, component->fmu, options);
    bool unfit = options->forked && (err == TUTTI_ERR_UNSUPPORTED || err == TUTTI_ERR_LOAD || err == TUTTI_ERR_LIMIT);
    if (!unfit || member->setup.rollback == TUTTI_ROLLBACK_FORK)
        return err;
    tt_log(rank->unit_log, TUTTI_LOG_WARNING, NULL, "%s; it is treated as one that cannot go back",
           tutti_err_message());
    options->forked = member->setup.forked = false;
    return tt_unit_new(&member->unit, component->fmu, options);
}

static enum tutti_err create_unit(struct tt_rank *rank, uint32_t c, const struct tutti_run_options *own)
{
    const struct tt_component *component = &rank->job->system->components[c];
    const struct tt_unit_kind *kind = NULL;
    struct tt_member *member = &rank->members[c];
    TRY(choose_kind(rank, c, own, &kind));
    if (!tt_rank_owns(rank, c)) {
        TRY(tt_shadow_new(&member->unit, component->fmu, kind, component->name));
        rank->units[c] = member->unit;
        return TUTTI_OK;
    }
    tt_rank_publish_unit(rank, c);
    struct tt_unit_options options = {
        .name = component->name,
        .log = rank->unit_log,
        .logging_on = rank->job->options.fmu_logging,
        .timing = rank->job->options.stats_exact,
        .cannot = unused_features(own, component->name),
        .interrupt = rank->job->options.checkpoint ? NULL : rank->job->options.interrupt, /* between steps, then */
        .interface = tt_unit_interface_choice_of(kind->interface),
        .rejects = member->setup.rollback == TUTTI_ROLLBACK_REJECT,
        .integration = member->setup.integration,
    };
    bool moves = false;
    if (kind->interface == TUTTI_CS && (component->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_CAN_INTERMEDIATE))
        TRY(tt_open_list_moving_inputs(rank, c, &options, &moves));
    TRY(create_unit_or_unforked(rank, member, &options));
    member->unit->asks_for_inputs = moves;
    if (rank->job->options.untimed)
        member->unit->times.next = ULONG_MAX;
    rank->units[c] = member->unit;
    TRY(tt_open_configure_component(rank, c));
    /* Elements of arrays that are not driven or connected are read soon, and kept: they have to be those of the settings. */
    bool refused = false;
    return component->fmu->desc->fmi == 3
               ? tt_unit_try_inputs(member->unit, component->settings, component->setting_count, &refused)
               : TUTTI_OK;
}

/* Needs the interface, which decides how inputs can be followed; but is needed before the unit is made. */
static enum tutti_err open_unit_inputs(struct tt_rank *rank, uint32_t c, const struct tt_driven_inputs *drive,
                                       const struct tutti_run_options *own)
{
    const struct tt_component *component = &rank->job->system->components[c];
    rank->members[c].driven = drive->counts && drive->counts[c] > 0;
    bool cubic = own->interpolate && strcmp(own->interpolate, "cubic") == 0;
    for (size_t i = 0; rank->members[c].driven && i < drive->counts[c];
         i++) { /* if smooth, a solver need not restart */
        const struct tt_expression *expression = drive->inputs[c][i].expression;
        bool smooth = expression ? tt_expression_is_smooth(expression) : cubic;
        rank->members[c].bent = rank->members[c].bent || !smooth;
    }
    if (!rank->members[c].driven || !tt_rank_owns(rank, c))
        return TUTTI_OK;
    struct tt_inputs *inputs = tt_arena_alloc(&rank->arena, sizeof *inputs);
    if (!inputs)
        return tt_fail_memory();
    rank->members[c].inputs = inputs;
    const struct tt_unit_kind *kind = NULL;
    TRY(choose_kind(rank, c, own, &kind));
    TRY(tt_inputs_choose(own, &inputs->choice));
    TRY(tt_inputs_open(inputs, rank->job->tables, rank->job->table_count, component->fmu->desc, kind->interface,
                       drive->inputs[c], drive->counts[c]));
    tt_trajectory_set_range(inputs->trajectory, rank->times.start, rank->times.stop);
    return TUTTI_OK;
}

/* Determines the options of one unit. */
static enum tutti_err choose_unit_options(struct tt_rank *rank, uint32_t c, struct tutti_run_options *own, bool *used)
{
    const struct tt_component *component = &rank->job->system->components[c];
    struct tt_member *member = &rank->members[c];
    *own = *rank->job->asked;
    own->extra = rank->job->options.extra;
    TRY(tt_annotation_apply_component(own, rank->job->system, component, &member->setup.own_step));
    double from_file = member->setup.own_step;
    TRY(find_unit_step(rank, component->name, used, &member->setup.own_step));
    if (member->setup.own_step <= 0 && component->step_hint > 0)
        member->setup.own_step = fmax(1, floor(component->step_hint / rank->times.step * (1 + 1e-9))) *
                                 rank->times.step;
    member->setup.step_from_file = from_file > 0 && member->setup.own_step == from_file;
    if (rank->joins)
        own->interface = "me";
    /* In a system a solver is for those that need one. */
    if (!tt_system_is_alone(rank->job->system) && own->interface && strcmp(own->interface, "cs") == 0)
        own->solver = NULL;
    return TUTTI_OK;
}

static enum tutti_err create_component(struct tt_rank *rank, uint32_t c, const struct tt_driven_inputs *drive,
                                       bool *used)
{
    const struct tt_component *component = &rank->job->system->components[c];
    struct tt_member *member = &rank->members[c];
    struct tutti_run_options own;
    TRY(choose_unit_options(rank, c, &own, used));
    const struct tt_experiment *experiment = &component->fmu->desc->experiment;
    member->setup.tolerance = own.has_rtol                ? own.rtol
                              : rank->times.tolerance > 0 ? rank->times.tolerance
                              : experiment->has_tolerance ? experiment->tolerance
                                                          : 0;
    bool not_its_own = own.has_rtol == rank->job->options.has_rtol && own.rtol == rank->job->options.rtol;
    if ((rank->expected.is & TUTTI_METHOD_SHARES_TOLERANCE) && not_its_own)
        member->setup.share = tolerance_share(&rank->job->options, member->setup.tolerance);
    member->setup.no_stop_time =
        is_unit_listed(component->name, own.no_stop_time, own.no_stop_time_units, own.no_stop_time_unit_count);
    TRY(open_unit_inputs(rank, c, drive, &own));
    uint32_t can = component->fmu->desc->interfaces[TUTTI_CS].flags;
    bool controlled = (rank->expected.is & TUTTI_METHOD_GENERAL) && !tt_system_is_coupled(rank->job->system);
    if (controlled && member->inputs && tt_inputs_depend_on_steps(member->inputs, can))
        member->setup.share = tolerance_share(&rank->job->options, member->setup.tolerance);
    TRY(choose_rollback(rank, member, &own));
    TRY(create_unit(rank, c, &own));
    return member->inputs ? tt_inputs_bind(member->inputs, member->unit, component->settings, component->setting_count)
                          : TUTTI_OK;
}

/* Options that only Model Exchange has, and no unit takes them. */
static enum tutti_err open_check_options(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (rank->members[m].setup.integration.solver)
            return TUTTI_OK;
    return rank->job->options.solver
               ? tt_fail(TUTTI_ERR_ARGUMENT, "--solver %s is for Model Exchange, which no FMU of this system has",
                         rank->job->options.solver)
               : tt_integration_reject_options(&rank->job->options, true);
}

/* Shadows become what their units are. */
static enum tutti_err apply_shared_traits(struct tt_rank *rank, const double *traits)
{
    for (uint32_t c = 0; c < rank->member_count; c++) {
        struct tt_unit *unit = rank->units[c];
        size_t sizes = tt_shadow_count_sizes(unit->fmu->desc);
        if (!tt_rank_owns(rank, c)) {
            tt_shadow_set_traits(unit, traits);
            if (sizes > 0)
                TRY(tt_shadow_set_sizes(unit, traits + TUTTI_TRAITS));
        }
        traits += TUTTI_TRAITS + sizes;
    }
    return TUTTI_OK;
}

static enum tutti_err share_traits(struct tt_rank *rank)
{
    size_t count = 0, at = 0;
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    for (uint32_t c = 0; c < rank->member_count; c++)
        count += TUTTI_TRAITS + tt_shadow_count_sizes(rank->units[c]->fmu->desc);
    double *traits = calloc(count + 1, sizeof *traits); /* 0 is the least of each */
    if (!traits)
        return tt_fail_memory();
    for (uint32_t c = 0; c < rank->member_count; c++) {
        size_t sizes = tt_shadow_count_sizes(rank->units[c]->fmu->desc);
        if (tt_rank_owns(rank, c)) {
            tt_shadow_read_traits(rank->units[c], traits + at);
            if (sizes > 0)
                tt_shadow_read_sizes(rank->units[c], traits + at + TUTTI_TRAITS);
        }
        at += TUTTI_TRAITS + sizes;
    }
    enum tutti_err err = tt_rank_reduce(rank, TUTTI_REDUCE_MAX, traits, count);
    if (!err)
        err = apply_shared_traits(rank, traits);
    free(traits);
    return err;
}

/* All ranks know what units can. */
static enum tutti_err open_check_states(const struct tt_rank *rank)
{
    const struct tt_state_files *states = &rank->job->states;
    for (uint32_t c = 0; c < states->count; c++) {
        const char *option = tt_state_files_initial(states, c) ? "--initial-state"
                             : tt_state_files_final(states, c) ? "--final-state"
                                                               : NULL;
        if (option && !(rank->units[c]->can & TUTTI_CAN_SERIALIZE))
            return tt_fail(
                TUTTI_ERR_UNSUPPORTED,
                "%s: the FMU of '%s' (%s) cannot serialise its state, as it takes to read or write one: export it "
                "with canSerializeFMUstate, and run it without --rollback fork",
                option, rank->units[c]->name, rank->units[c]->fmu->path);
    }
    return TUTTI_OK;
}

/* Collective: units join in one solver only if the libraries of all FMUs have what Model Exchange needs. A system that runs by
 * Co-Simulation must not fail for a wish that was not expressed. */
static enum tutti_err open_check_joining(struct tt_rank *rank)
{
    bool unfit = false;
    rank->joins = rank->job->joins;
    for (uint32_t c = 0; c < rank->job->system->component_count && rank->joins; c++) {
        struct tt_fmu *fmu = rank->job->system->components[c].fmu;
        bool has_choice = fmu->desc->interfaces[TUTTI_CS].present;
        if (!tt_rank_owns(rank, c) || !has_choice || tt_fmu_load(fmu, TUTTI_ME, rank->unit_log) == TUTTI_OK)
            continue;
        unfit = true;
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, rank->job->system->components[c].name,
               "%s; units stay with Co-Simulation, where the tolerance bounds the error of the coupling",
               tutti_err_message());
    }
    if (rank->job->joins)
        TRY(tt_rank_agree_any(rank, &unfit));
    rank->joins = rank->joins && !unfit;
    return TUTTI_OK;
}

static enum tutti_err create_components(struct tt_rank *rank)
{
    struct tt_driven_inputs drive = {0};
    uint32_t count = rank->job->system->component_count;
    rank->members = tt_arena_array(&rank->arena, count, sizeof *rank->members);
    rank->own = tt_arena_array(&rank->arena, count, sizeof(struct tt_member *));
    rank->units = tt_arena_array(&rank->arena, count, sizeof(struct tt_unit *));
    bool *used = tt_arena_array(&rank->arena, rank->job->options.unit_step_count, sizeof *used);
    if (!rank->members || !rank->own || !rank->units || !used)
        return tt_fail_memory();
    rank->member_count = count;
    if (tt_job_drives_inputs(rank->job))
        TRY(tt_driven_inputs_assign(&drive, &rank->arena, rank->job->system, rank->job->tables,
                                    rank->job->table_count - rank->job->system->table_count, &rank->job->formulas));
    if (rank->job->options.extra && count > 1)
        return tt_fail(TUTTI_ERR_ARGUMENT, "extra equations go with one FMU, not with a system");
    if (rank->job->system->single && rank->job->options.unit_step_count > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--step %s: there is one FMU only; use --step H",
                       rank->job->options.unit_steps[0]);
    const struct tutti_run_options *options = &rank->job->options;
    TRY(check_units_exist(rank, "--no-event-mode", options->no_event_mode_units, options->no_event_mode_unit_count));
    TRY(check_units_exist(rank, "--no-stop-time", options->no_stop_time_units, options->no_stop_time_unit_count));
    TRY(check_units_exist(rank, "--no-directional-derivatives", options->no_directional_derivatives_units,
                          options->no_directional_derivatives_unit_count));
    TRY(open_check_joining(rank));
    for (uint32_t c = 0; c < count; c++) {
        rank->members[c].component = c;
        if (tt_rank_owns(rank, c))
            rank->own[rank->own_count++] = &rank->members[c];
        TRY(create_component(rank, c, &drive, used));
    }
    TRY(share_traits(rank));
    TRY(check_steps_used(rank, used));
    TRY(open_check_states(rank));
    TRY(tt_input_rows_fit_step(rank));
    TRY(assign_step_grids(rank));
    return tt_system_is_alone(rank->job->system) ? TUTTI_OK : open_check_options(rank);
}

enum tutti_err tt_open_restart_component(struct tt_rank *rank, struct tt_member *member)
{
    struct tutti_run_options own;
    bool *used = tt_arena_array(&rank->arena, rank->job->options.unit_step_count, sizeof *used);
    if (!used)
        return tt_fail_memory();
    tt_unit_free(member->unit);
    member->unit = rank->units[member->component] = NULL;
    TRY(choose_unit_options(rank, member->component, &own, used));
    TRY(create_unit(rank, member->component, &own));
    return member->inputs ? tt_inputs_attach_curves(member->inputs, member->unit) : TUTTI_OK;
}

enum tutti_err tt_open_components(struct tt_rank *rank)
{
    TRY(create_components(rank));
    TRY(tt_wire_layout_init(&rank->wires, &rank->job->structure, rank->units));
    for (uint32_t c = 0; c < rank->member_count; c++)
        rank->members[c].wires = &rank->wires.units[c];
    if (rank->place)
        TRY(tt_wires_select_own(&rank->wires, rank->place, rank->fabric->rank));
    rank->channels = (struct tt_channels){
        .wires = &rank->wires, .fabric = rank->fabric, .place = rank->place, .arena = &rank->arena};
    return tt_channels_open_start(&rank->channels);
}

struct moving_inputs {
    const struct tt_rank *rank;
    const struct tt_member *member;
    uint32_t *nodes; /* the connected ones */
    size_t from_file, count, doubles;
    uint32_t
        references[]; /* those from the file first, which are Float64, then connected ones, Float64 before Float32 */
};

/* For struct tt_unit_options.moving_extents. */
static void moving_inputs_extents(void *context, size_t *doubles, size_t *floats)
{
    const struct moving_inputs *moving = context;
    *doubles = moving->from_file;
    *floats = 0;
    for (size_t i = moving->from_file; i < moving->count; i++)
        *(i < moving->doubles ? doubles : floats) +=
            moving->rank->wires.slots[moving->nodes[i - moving->from_file]].count;
}

/* For struct tt_unit_options.moving_sample. */
static void moving_inputs_sample(void *context, double t, double *values)
{
    const struct moving_inputs *moving = context;
    const struct tt_wires *wires = &moving->rank->wires;
    if (moving->from_file > 0)
        tt_inputs_sample_moving(moving->member->inputs, t, values);
    values += moving->from_file;
    for (size_t i = 0; i < moving->count - moving->from_file; i++) {
        const struct tt_slot *slot = &wires->slots[moving->nodes[i]];
        size_t place = (size_t)((const double *)slot->values - wires->gathered);
        for (size_t e = 0; e < slot->count; e++)
            *values++ = tt_wires_extrapolate(wires, place + e, t - moving->member->now.staged_at);
    }
}

/* Connected inputs of one type that can move. Held inputs need not be asked for. */
static void moving_inputs_add(struct moving_inputs *moving, uint32_t component, enum tt_type type)
{
    const struct tt_structure *structure = &moving->rank->job->structure;
    const struct tt_description *desc = moving->rank->job->system->components[component].fmu->desc;
    for (uint32_t n = structure->component_first[component]; n < structure->component_first[component + 1]; n++) {
        const struct tt_var *var = &desc->vars[structure->nodes[n].variable];
        if (structure->nodes[n].output || var->type != type || !tt_description_var_moves(var))
            continue;
        moving->nodes[moving->count - moving->from_file] = n;
        moving->references[moving->count++] = var->reference;
    }
}

enum tutti_err tt_open_list_moving_inputs(struct tt_rank *rank, uint32_t component, struct tt_unit_options *options,
                                          bool *connected)
{
    const struct tt_structure *structure = &rank->job->structure;
    const struct tt_member *member = &rank->members[component];
    uint32_t first = structure->component_first[component], end = structure->component_first[component + 1];
    size_t from_file = member->inputs ? member->inputs->slope_count : 0;
    struct moving_inputs *moving =
        tt_arena_alloc(&rank->arena, sizeof *moving + (from_file + end - first) * sizeof *moving->references);
    uint32_t *nodes = tt_arena_array(&rank->arena, end - first, sizeof *nodes);
    if (!moving || !nodes)
        return tt_fail_memory();
    *moving = (struct moving_inputs){
        .rank = rank, .member = member, .nodes = nodes, .from_file = from_file, .count = from_file};
    for (size_t i = 0; i < from_file; i++)
        moving->references[i] = member->inputs->slope_references[i];
    if (rank->expected.is & TUTTI_METHOD_MOVES_INPUTS)
        moving_inputs_add(moving, component, TUTTI_TYPE_FLOAT64);
    moving->doubles = moving->count;
    if (rank->expected.is & TUTTI_METHOD_MOVES_INPUTS)
        moving_inputs_add(moving, component, TUTTI_TYPE_FLOAT32);
    *connected = moving->count > from_file;
    options->moving = moving->references;
    options->moving_count = moving->count;
    options->moving_doubles = moving->doubles;
    options->moving_extents = moving_inputs_extents;
    options->moving_sample = moving_inputs_sample;
    options->moving_context = moving;
    return TUTTI_OK;
}
