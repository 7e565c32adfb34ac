/* SPDX-License-Identifier: MIT */
#include "master/setup.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "master/agree.h"
#include "master/choose.h"
#include "master/drive.h"
#include "master/integration.h"
#include "master/moving.h"
#include "master/rows.h"
#include "master/words.h"
#include "record/table.h"
#include "unit/shadow.h"

/* ---- the system ---- */

/* So many warnings about a system are shown. */
enum { MOST_WARNINGS = 20 };

/* The first error of a system, and the first warnings to the log. */
struct listener {
    const struct tutti_log *log;
    unsigned warnings;
    char first[2048];
};

static void listen(void *context, enum tutti_severity severity, const char *file, unsigned line, const char *text)
{
    struct listener *listener = context;
    char where[32] = "";
    if (line > 0)
        snprintf(where, sizeof where, ":%u", line);
    if (severity == TUTTI_FINDING_WARNING && listener->warnings++ < MOST_WARNINGS)
        tutti_log_printf(listener->log, TUTTI_LOG_WARNING, NULL, "%s%s: %s", file, where, text);
    else if (severity != TUTTI_FINDING_WARNING && !listener->first[0])
        snprintf(listener->first, sizeof listener->first, "%s%s: %s", file, where, text);
}

static enum tutti_err load(struct run *run)
{
    const struct tutti_run_options *options = run->options;
    struct listener listener = {.log = options->log};
    struct tutti_findings findings = {.report = listen, .context = &listener};
    struct tutti_system_source source = {
        .files = options->files,
        .file_count = options->file_count,
        .connect = options->connect,
        .connect_count = options->connect_count,
        .convert = options->convert,
        .set = options->set,
        .set_count = options->set_count,
        .record = options->record,
        .record_count = options->record_count,
        .aliases = options->aliases,
        .alias_count = options->alias_count,
        .log = options->log,
    };
    enum tutti_err err = tutti_system_load(&run->system, &source, &findings);
    if (findings.warnings > MOST_WARNINGS)
        tutti_log_printf(options->log, TUTTI_LOG_WARNING, NULL, "%u more warnings; `tutti check` lists them",
                         findings.warnings - MOST_WARNINGS);
    TRY(err);
    if (findings.errors == 1)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s", listener.first);
    if (findings.errors > 1)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s (and %u more error%s; `tutti check` lists them)", listener.first,
                          findings.errors - 1, findings.errors == 2 ? "" : "s");
    return run->system->component_count
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_FORMAT, "%s: there is nothing to simulate: the system has no FMU",
                            run->system->path);
}

static enum tutti_err check_visit_takes(const struct run *run)
{
    if (!run->visit)
        return TUTTI_OK;
    const struct tutti_component *component = &run->system->components[0];
    if (run->system->component_count > 1)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s takes one FMU, not a system", run->visit->purpose);
    if (!component->fmu->desc->interfaces[TUTTI_ME].present)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: %s needs Model Exchange, which this FMU does not have",
                          component->fmu->path, run->visit->purpose);
    return TUTTI_OK;
}

static enum tutti_err place_visit(struct run *run)
{
    if (!run->visit)
        return TUTTI_OK;
    run->visit_at = run->visit->has_at ? run->visit->at : run->times.start;
    if (run->visit_at >= run->times.start && run->visit_at <= run->times.stop)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "t = %s is not in the run, which goes from %s to %s; --start and --stop change that",
                      NUMBER(run->visit_at), NUMBER(run->times.start), NUMBER(run->times.stop));
}

/* The input file may lie elsewhere, too. */
static const char *where_is(const struct tutti_run_options *options, const char *name)
{
    for (size_t i = 0; i < options->alias_count; i++)
        if (!options->aliases[i].if_missing && strcmp(options->aliases[i].name, name) == 0)
            return options->aliases[i].path;
    return name;
}

static enum tutti_err read_tables(struct run *run)
{
    const struct tutti_run_options *options = run->options;
    const struct tutti_system *system = run->system;
    run->tables = calloc(options->input_count + system->table_count + 1, sizeof *run->tables);
    if (!run->tables)
        return tutti_fail_memory();
    for (size_t i = 0; i < options->input_count; i++) {
        TRY(tutti_table_read(&run->tables[i].table, where_is(options, options->inputs[i])));
        run->tables[i].name = options->inputs[i];
        run->table_count++;
    }
    for (uint32_t i = 0; i < system->table_count; i++)
        run->tables[run->table_count++] =
            (struct tutti_trajectory_file){system->tables[i].file, system->tables[i].table};
    return TUTTI_OK;
}

enum tutti_err tutti_setup_system(struct run *run)
{
    enum tutti_interface_choice choice;
    struct tutti_inputs_choice inputs;
    const struct tutti_unit_kind *kind = NULL;
    if (run->options->file_count == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "no file to run");
    TRY(tutti_interface_choose(run->options, &choice));
    TRY(tutti_inputs_choose(run->options, &inputs));
    TRY(load(run));
    run->merged = *run->options;
    run->options = &run->merged;
    TRY(tutti_words_of_system(&run->merged, run->system));
    TRY(tutti_master_check_words(run->options));
    TRY(check_visit_takes(run));
    if (run->system->single)
        TRY(tutti_unit_kind_for(run->system->fmus[0], choice, run->options->solver != NULL, &kind));
    TRY(tutti_times_resolve(&run->times, run->options, run->system, kind ? kind->interface : TUTTI_CS,
                            run->options->log));
    run->span = run->times.stop - run->times.start;
    TRY(place_visit(run));
    TRY(read_tables(run));
    return tutti_structure_init(&run->structure, run->system, TUTTI_PHASE_INITIAL);
}

/* ---- the members ---- */

/* Where the errors of steps are estimated, solvers inside of the units must not make noise of the same size: their part of
 * the tolerance. If that is for the whole run, their errors add up as well, over steps that go with its cube root. */
static const double PER_STEP = 0.1, LEAST = 1e-13; /* no solver is better */

static bool is_per_step(const struct tutti_run_options *options)
{
    return options->error_per && strcmp(options->error_per, "step") == 0;
}

static double share_of(const struct tutti_run_options *options, double tolerance)
{
    if (is_per_step(options))
        return PER_STEP;
    tolerance = tolerance > 0 ? tolerance : TUTTI_DEFAULT_RTOL;
    return fmin(fmax(PER_STEP * cbrt(tolerance), LEAST / tolerance), 1);
}

/* Multistep methods that cannot be taken back begin every step anew, with the order 1: what they do wrong then falls with the
 * step as slowly as that, and is no more than noise for much smaller tolerances only. */
static double share_of_solver(const struct run *run, const struct tutti_member *member)
{
    static const double ANEW = 1e-3;
    const struct tutti_solver_kind *solver = member->integration.solver;
    if (member->share <= 0)
        return 1;
    if (is_per_step(run->options) || !solver->multistep || solver->saved_size)
        return member->share;
    return fmin(fmax(ANEW * member->share, LEAST / member->integration.rtol), member->share);
}

/* "--step UNIT=H" for this unit; 0: none. Each that is used is marked. */
static enum tutti_err own_step(const struct run *run, const char *name, bool *used, double *step)
{
    const struct tutti_run_options *options = run->options;
    for (size_t i = 0; i < options->unit_step_count; i++) {
        const char *text = options->unit_steps[i], *equals = strrchr(text, '=');
        if (!equals || strlen(name) != (size_t)(equals - text) || strncmp(text, name, strlen(name)) != 0)
            continue;
        used[i] = true;
        if (!tutti_number_read_double(equals + 1, strlen(equals + 1), step))
            return tutti_fail(TUTTI_ERR_ARGUMENT, "--step takes UNIT=H with a number H, not '%s'", text);
        TRY(tutti_times_check_step(&run->times, *step, "--step UNIT=H"));
    }
    return TUTTI_OK;
}

/* `given`: the option as it was typed. */
static enum tutti_err no_unit(const struct run *run, const char *given, const char *name)
{
    struct tutti_nearest nearest = {.wanted = name};
    for (uint32_t c = 0; c < run->system->component_count; c++)
        tutti_nearest_offer(&nearest, run->system->components[c].name);
    return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is no unit '%s'%s%s%s", given, name,
                      nearest.best ? "; did you mean '" : "", nearest.best ? nearest.best : "",
                      nearest.best ? "'?" : "");
}

static enum tutti_err check_used(const struct run *run, const bool *used)
{
    for (size_t i = 0; i < run->options->unit_step_count; i++) {
        if (used[i])
            continue;
        struct tutti_text name = {0}, given = {0};
        const char *text = run->options->unit_steps[i], *equals = strrchr(text, '=');
        tutti_text_append_n(&name, text, equals ? (size_t)(equals - text) : strlen(text));
        tutti_text_printf(&given, "--step %s", text);
        enum tutti_err err = name.failed || given.failed ? tutti_fail_memory()
                                                         : no_unit(run, given.text, name.text ? name.text : "");
        tutti_text_fini(&given);
        tutti_text_fini(&name);
        return err;
    }
    return TUTTI_OK;
}

/* A feature that is not to be used: of all units, or of those named. */
static bool is_among(const char *name, bool all, const char *const *units, size_t count)
{
    for (size_t i = 0; i < count; i++)
        all = all || strcmp(units[i], name) == 0;
    return all;
}

static uint32_t unused_features(const struct tutti_run_options *options, const char *name)
{
    bool events =
        is_among(name, options->no_event_mode, options->no_event_mode_units, options->no_event_mode_unit_count);
    bool derivatives = is_among(name, options->no_directional_derivatives, options->no_directional_derivatives_units,
                                options->no_directional_derivatives_unit_count);
    return (events ? TUTTI_CAN_EVENT_MODE : 0) | (derivatives ? TUTTI_CAN_DIRECTIONAL : 0);
}

static enum tutti_err check_units(const struct run *run, const char *option, const char *const *units, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (uint32_t c = 0; c < run->system->component_count && !found; c++)
            found = strcmp(run->system->components[c].name, units[i]) == 0;
        if (!found)
            return no_unit(run, option, units[i]);
    }
    return TUTTI_OK;
}

static enum tutti_err check_features(const struct run *run)
{
    const struct tutti_run_options *options = run->options;
    TRY(check_units(run, "--no-event-mode", options->no_event_mode_units, options->no_event_mode_unit_count));
    return check_units(run, "--no-directional-derivatives", options->no_directional_derivatives_units,
                       options->no_directional_derivatives_unit_count);
}

/* A step that an annotation asks for is a fault of the file. */
static enum tutti_err check_multiple(const struct run *run, uint32_t m)
{
    const struct tutti_component *component = &run->system->components[m];
    const struct tutti_member *member = &run->members[m];
    enum tutti_err err = tutti_times_check_multiple(&run->times, member->own_step, component->name);
    return err && member->step_from_file
               ? tutti_fail_context(TUTTI_ERR_FORMAT, "%s:%u", component->file, component->line)
               : err;
}

/* Grids of their own for units that step less often than others, or cannot vary their step. */
static enum tutti_err give_grids(struct run *run)
{
    for (uint32_t m = 0; m < run->member_count; m++) {
        const struct tutti_member *member = &run->members[m];
        if (member->unit->uniform)
            TRY(tutti_times_make_uniform(&run->times, run->options, member->unit->fmu, member->own_step,
                                         run->options->log));
    }
    for (uint32_t m = 0; m < run->member_count; m++) {
        struct tutti_member *member = &run->members[m];
        double step = member->own_step > 0 ? member->own_step : run->times.step;
        if (member->own_step > 0)
            TRY(check_multiple(run, m));
        member->has_grid = member->unit->uniform || !tutti_time_same(step, run->times.step, 0);
        tutti_grid_init(&member->grid, run->times.start, step, run->times.stop);
    }
    return TUTTI_OK;
}

static bool has_wired_inputs(const struct run *run, uint32_t component)
{
    uint32_t first = run->structure.component_first[component];
    return first < run->structure.component_first[component + 1] && !run->structure.nodes[first].output;
}

/* One FMU by itself, which nothing comes back to. */
static bool is_alone(const struct run *run)
{
    return run->system->single && !tutti_system_is_coupled(run->system);
}

static enum tutti_err choose_kind(struct run *run, uint32_t c, const struct tutti_run_options *options,
                                  const struct tutti_unit_kind **kind)
{
    const struct tutti_component *component = &run->system->components[c];
    struct tutti_member *member = &run->members[c];
    enum tutti_interface_choice choice;
    TRY(tutti_interface_choose(options, &choice));
    bool solver = options->solver && (run->system->single || component->fmu->desc->interfaces[TUTTI_ME].present);
    TRY(tutti_unit_kind_for(component->fmu, choice, solver, kind));
    if ((*kind)->interface != TUTTI_ME)
        return is_alone(run) ? tutti_integration_refuse(options, false) : TUTTI_OK;
    bool disturbed = member->driven || has_wired_inputs(run, c) || tutti_master_may_control(run);
    TRY(tutti_integration_resolve(&member->integration, options, &run->times, member->tolerance, disturbed,
                                  tutti_system_is_coupled(run->system)));
    double share = share_of_solver(run, member);
    member->integration.rtol *= share;
    member->integration.atol *= share;
    return TUTTI_OK;
}

enum tutti_err tutti_setup_values(struct run *run, uint32_t c)
{
    const struct tutti_component *component = &run->system->components[c];
    const struct tutti_member *member = &run->members[c];
    struct tutti_experiment_setup setup = {
        .start = run->times.start,
        .stop = run->times.stop,
        .has_stop = true,
        .tolerance = member->tolerance * (member->share > 0 ? member->share : 1),
        .has_tolerance = member->tolerance > 0,
    };
    TRY(member->unit->kind->set_up(member->unit, &setup));
    return tutti_unit_apply(member->unit, component->settings, component->setting_count);
}

static enum tutti_err make_unit(struct run *run, uint32_t c, const struct tutti_run_options *own)
{
    const struct tutti_component *component = &run->system->components[c];
    const struct tutti_unit_kind *kind = NULL;
    struct tutti_member *member = &run->members[c];
    TRY(choose_kind(run, c, own, &kind));
    if (!tutti_run_owns(run, c)) {
        TRY(tutti_shadow_new(&member->unit, component->fmu, kind, component->name));
        run->units[c] = member->unit;
        return TUTTI_OK;
    }
    tutti_run_tell_unit(run, c);
    struct tutti_unit_options options = {
        .name = component->name,
        .log = run->unit_log,
        .logging_on = run->options->fmu_logging,
        .timing = run->options->timing,
        .cannot = unused_features(own, component->name),
        .interrupt = run->options->interrupt,
        .interface = kind->interface == TUTTI_ME ? TUTTI_INTERFACE_ME : TUTTI_INTERFACE_CS,
        .integration = member->integration,
    };
    bool moves = false;
    if (kind->interface == TUTTI_CS && (component->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_CAN_INTERMEDIATE))
        TRY(tutti_moving_list(run, c, &options, &moves));
    TRY(tutti_unit_new(&member->unit, component->fmu, &options));
    member->unit->asks_for_inputs = moves;
    run->units[c] = member->unit;
    TRY(tutti_setup_values(run, c));
    /* Elements of arrays that nobody drives or connects are read soon, and kept: they have to be those of the settings. */
    bool refused = false;
    return component->fmu->desc->fmi == 3
               ? tutti_unit_offer_inputs(member->unit, component->settings, component->setting_count, &refused)
               : TUTTI_OK;
}

/* Needs the interface, which decides how inputs can be followed; but is needed before the unit is made. */
static enum tutti_err open_inputs(struct run *run, uint32_t c, const struct tutti_drive *drive,
                                  const struct tutti_run_options *own)
{
    const struct tutti_component *component = &run->system->components[c];
    run->members[c].driven = drive->counts && drive->counts[c] > 0;
    if (!run->members[c].driven || !tutti_run_owns(run, c))
        return TUTTI_OK;
    struct tutti_inputs *inputs = tutti_arena_alloc(&run->arena, sizeof *inputs);
    if (!inputs)
        return tutti_fail_memory();
    run->members[c].inputs = inputs;
    const struct tutti_unit_kind *kind = NULL;
    TRY(choose_kind(run, c, own, &kind));
    TRY(tutti_inputs_choose(own, &inputs->choice));
    return tutti_inputs_open(inputs, run->tables, run->table_count, component->fmu->desc, kind->interface,
                             drive->inputs[c], drive->counts[c]);
}

/* What one unit is to have. */
static enum tutti_err choose_options(struct run *run, uint32_t c, struct tutti_run_options *own, bool *used)
{
    const struct tutti_component *component = &run->system->components[c];
    struct tutti_member *member = &run->members[c];
    *own = *run->asked;
    TRY(tutti_words_of_component(own, run->system, component, &member->own_step));
    double from_file = member->own_step;
    TRY(own_step(run, component->name, used, &member->own_step));
    if (member->own_step <= 0 && component->step_hint > 0)
        member->own_step = fmax(1, floor(component->step_hint / run->times.step * (1 + 1e-9))) * run->times.step;
    member->step_from_file = from_file > 0 && member->own_step == from_file;
    /* In a system a solver is for those that need one. */
    if (!run->system->single && own->interface && strcmp(own->interface, "cs") == 0)
        own->solver = NULL;
    return TUTTI_OK;
}

static enum tutti_err make_member(struct run *run, uint32_t c, const struct tutti_drive *drive, bool *used)
{
    const struct tutti_component *component = &run->system->components[c];
    struct tutti_member *member = &run->members[c];
    struct tutti_run_options own;
    TRY(choose_options(run, c, &own, used));
    const struct tutti_experiment *experiment = &component->fmu->desc->experiment;
    member->tolerance = own.has_rtol                ? own.rtol
                        : run->times.tolerance > 0  ? run->times.tolerance
                        : experiment->has_tolerance ? experiment->tolerance
                                                    : 0;
    bool not_its_own = own.has_rtol == run->options->has_rtol && own.rtol == run->options->rtol;
    if (tutti_master_may_control(run) && not_its_own)
        member->share = share_of(run->options, member->tolerance);
    TRY(open_inputs(run, c, drive, &own));
    uint32_t can = component->fmu->desc->interfaces[TUTTI_CS].flags;
    if (tutti_master_may_control_one(run) && member->inputs && tutti_inputs_are_held(member->inputs, can))
        member->share = share_of(run->options, member->tolerance);
    TRY(make_unit(run, c, &own));
    return member->inputs
               ? tutti_inputs_bind(member->inputs, member->unit, component->settings, component->setting_count)
               : TUTTI_OK;
}

/* Options that only Model Exchange has, and nobody to take them. */
static enum tutti_err check_options(const struct run *run)
{
    for (uint32_t m = 0; m < run->member_count; m++)
        if (run->members[m].integration.solver)
            return TUTTI_OK;
    return run->options->solver
               ? tutti_fail(TUTTI_ERR_ARGUMENT, "--solver %s is for Model Exchange, which no FMU of this system has",
                            run->options->solver)
               : tutti_integration_refuse(run->options, true);
}

/* Shadows become what their units are. */
static enum tutti_err spread(struct run *run, const double *traits)
{
    for (uint32_t c = 0; c < run->member_count; c++) {
        struct tutti_unit *unit = run->units[c];
        size_t sizes = tutti_unit_count_sizes(unit->fmu->desc);
        if (!tutti_run_owns(run, c)) {
            tutti_shadow_set_traits(unit, traits);
            if (sizes > 0)
                TRY(tutti_shadow_set_sizes(unit, traits + TUTTI_TRAITS));
        }
        traits += TUTTI_TRAITS + sizes;
    }
    return TUTTI_OK;
}

static enum tutti_err share_traits(struct run *run)
{
    size_t count = 0, at = 0;
    if (run->fabric->ranks == 1)
        return TUTTI_OK;
    for (uint32_t c = 0; c < run->member_count; c++)
        count += TUTTI_TRAITS + tutti_unit_count_sizes(run->units[c]->fmu->desc);
    double *traits = calloc(count + 1, sizeof *traits); /* 0 is the least of each */
    if (!traits)
        return tutti_fail_memory();
    for (uint32_t c = 0; c < run->member_count; c++) {
        size_t sizes = tutti_unit_count_sizes(run->units[c]->fmu->desc);
        if (tutti_run_owns(run, c)) {
            tutti_unit_get_traits(run->units[c], traits + at);
            if (sizes > 0)
                tutti_unit_get_sizes(run->units[c], traits + at + TUTTI_TRAITS);
        }
        at += TUTTI_TRAITS + sizes;
    }
    enum tutti_err err = tutti_reduce(run, TUTTI_REDUCE_MAX, traits, count);
    if (!err)
        err = spread(run, traits);
    free(traits);
    return err;
}

static enum tutti_err make_members(struct run *run)
{
    struct tutti_drive drive = {0};
    uint32_t count = run->system->component_count;
    run->members = tutti_arena_array(&run->arena, count, sizeof *run->members);
    run->own = tutti_arena_array(&run->arena, count, sizeof(struct tutti_member *));
    run->units = tutti_arena_array(&run->arena, count, sizeof(struct tutti_unit *));
    bool *used = tutti_arena_array(&run->arena, run->options->unit_step_count, sizeof *used);
    if (!run->members || !run->own || !run->units || !used)
        return tutti_fail_memory();
    run->member_count = count;
    if (run->table_count > 0)
        TRY(tutti_drive_assign(&drive, &run->arena, run->system, run->tables,
                               run->table_count - run->system->table_count));
    if (run->options->extra && count > 1)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations go with one FMU, not with a system");
    if (run->system->single && run->options->unit_step_count > 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--step %s: there is one FMU only; use --step H",
                          run->options->unit_steps[0]);
    TRY(check_features(run));
    for (uint32_t c = 0; c < count; c++) {
        run->members[c].component = c;
        if (tutti_run_owns(run, c))
            run->own[run->own_count++] = &run->members[c];
        TRY(make_member(run, c, &drive, used));
    }
    TRY(share_traits(run));
    TRY(check_used(run, used));
    TRY(tutti_rows_fit_step(run));
    TRY(give_grids(run));
    return is_alone(run) ? TUTTI_OK : check_options(run);
}

enum tutti_err tutti_setup_renew(struct run *run, struct tutti_member *member)
{
    struct tutti_run_options own;
    bool *used = tutti_arena_array(&run->arena, run->options->unit_step_count, sizeof *used);
    if (!used)
        return tutti_fail_memory();
    tutti_unit_free(member->unit);
    member->unit = run->units[member->component] = NULL;
    TRY(choose_options(run, member->component, &own, used));
    return make_unit(run, member->component, &own);
}

enum tutti_err tutti_setup_members(struct run *run)
{
    TRY(make_members(run));
    TRY(tutti_wires_init(&run->wires, &run->structure, run->units));
    for (uint32_t c = 0; c < run->member_count; c++)
        run->members[c].wires = &run->wires.units[c];
    if (run->place)
        TRY(tutti_wires_keep_own(&run->wires, run->place, run->fabric->rank));
    return tutti_channels_open_start(run);
}
