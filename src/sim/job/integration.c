/* SPDX-License-Identifier: MIT */
#include "sim/job/integration.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "base/options/option_words.h"
#include "base/text.h"
#include "model/plan/structure.h"
#include "sim/job/annotation.h"

/* So that no event is leapt over in one long step of a solver that has nothing to do. */
enum { LEAST_STEPS = 50 };

enum tutti_err tt_integration_choose_interface(const struct tutti_run_options *options,
                                               enum tt_interface_choice *choice)
{
    int place;
    TRY(tt_options_choose("interface", options->interface, &place));
    *choice = (enum tt_interface_choice)place;
    if (*choice == TUTTI_INTERFACE_CS && options->solver)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--solver %s is for Model Exchange; with --interface cs the FMU uses its own solver",
                       options->solver);
    return TUTTI_OK;
}

static bool uses_joint_solver(const struct tutti_run_options *options)
{
    return options->coupling && strcmp(options->coupling, "strong") == 0;
}

enum tutti_err tt_integration_find_interface(const struct tutti_run_options *options, const struct tt_fmu *fmu,
                                             bool alone, const struct tt_unit_kind **kind)
{
    enum tt_interface_choice choice;
    TRY(tt_integration_choose_interface(options, &choice));
    bool has = fmu->desc->interfaces[TUTTI_ME].present;
    bool prefers = ((options->solver || options->sensitivity_count > 0) && (alone || has)) ||
                   (uses_joint_solver(options) && has && !alone) || (options->prefers_exchange && has);
    return tt_unit_kind_for(fmu, choice, prefers, kind);
}

static enum tutti_err fail_only_model_exchange(bool given, const char *option)
{
    return given ? tt_fail(TUTTI_ERR_ARGUMENT,
                           "%s is for Model Exchange; this run uses Co-Simulation, where the FMU has its own solver "
                           "(--interface me, if the FMU has that)",
                           option)
                 : TUTTI_OK;
}

enum tutti_err tt_integration_reject_options(const struct tutti_run_options *options, bool coupled)
{
    TRY(fail_only_model_exchange((options->has_atol && !coupled) || options->unit_atol_count > 0, "--atol"));
    TRY(fail_only_model_exchange(options->has_h_first, "--h-first"));
    TRY(fail_only_model_exchange(options->max_order > 0, "--max-order"));
    TRY(fail_only_model_exchange(options->linear_solver != NULL, "--linear-solver"));
    TRY(fail_only_model_exchange(options->has_solver_step, "--solver-step"));
    TRY(fail_only_model_exchange(options->has_h_max && !coupled, "--h-max"));
    TRY(fail_only_model_exchange(options->predictor != NULL, "--predictor"));
    TRY(fail_only_model_exchange(options->jacobian != NULL, "--jacobian"));
    TRY(fail_only_model_exchange(options->filter != NULL, "--filter"));
    TRY(fail_only_model_exchange(options->sensitivity_count > 0, "--sensitivity"));
    return options->extra ? tt_fail(TUTTI_ERR_ARGUMENT, "extra equations need Model Exchange") : TUTTI_OK;
}

enum solver_filter {
#define LISTED(name, word, meaning) FILTER_##name,
    TUTTI_FILTERS(LISTED)
};

static enum tutti_err integration_read_words(struct tt_integration *integration,
                                             const struct tutti_run_options *options, bool disturbed)
{
    int place;
    /* If inputs change inside a run, the method that corrects its predictor needs a fraction of the steps
     * (docs/solvers.md has the table). After a rollback it continues unchanged, where others restart: a restart shows
     * in outputs, and error control would treat it as an error of the coupling. It would also show after a checkpoint. */
    bool goes_on = options->checkpoint || options->resume || options->recover > 0;
    bool continues = disturbed || uses_joint_solver(options);
    integration->solver = continues || goes_on ? &tt_solver_bdf : tt_solver_kinds[0];
    if (options->solver)
        TRY(tt_solver_find(options->solver, &integration->solver));
    else if (goes_on && !continues)
        integration->replaced = tt_solver_kinds[0];
    TRY(tt_options_choose("predictor", options->predictor, &place));
    integration->predictor = (enum tt_predictor)place;
    TRY(tt_options_choose("jacobian", options->jacobian, &place));
    integration->jacobian = (enum tt_jacobian_mode)place;
    TRY(tt_options_choose("linear-solver", options->linear_solver, &place));
    integration->linear = (enum tt_linear_solver)place;
    integration->max_order = (int)options->max_order;
    TRY(tt_options_choose("filter", options->filter, &place));
    integration->average = place == FILTER_AVERAGE;
    return TUTTI_OK;
}

static enum tutti_err resolve_tolerances(struct tt_integration *integration, const struct tutti_run_options *options,
                                         double tolerance)
{
    integration->rtol = tolerance > 0 && isfinite(tolerance) ? tolerance : TUTTI_DEFAULT_RTOL;
    integration->atol = options->has_atol ? options->atol : integration->rtol / 100;
    integration->by_size = !options->has_atol;
    if (!integration->solver->fixed && integration->rtol < DBL_EPSILON)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "a relative tolerance of %s asks for more digits than a number has; use a larger --rtol "
                       "(1e-12 is very precise)",
                       NUMBER(integration->rtol));
    return TUTTI_OK;
}

static enum tutti_err resolve_solver_steps(struct tt_integration *integration, const struct tutti_run_options *options,
                                           const struct tt_times *times, bool coupled)
{
    if (options->has_solver_step && !integration->solver->fixed)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--solver-step is for fixed-step solvers; %s chooses its own steps (--h-max bounds them)",
                       integration->solver->name);
    if (options->has_h_max && integration->solver->fixed && !coupled)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--h-max is for solvers that choose their steps; %s has a fixed one (--solver-step)",
                       integration->solver->name);
    integration->h_fixed = options->has_solver_step ? options->solver_step : times->step;
    integration->h_max = options->has_h_max ? options->h_max : (times->stop - times->start) / LEAST_STEPS;
    integration->h_first = options->has_h_first ? options->h_first : 0;
    TRY(tt_times_check_step(times, integration->h_fixed, "--solver-step"));
    return tt_times_check_step(times, integration->h_max, "--h-max");
}

/* Additional equations of a program: checks that are possible before anything runs. */
static enum tutti_err check_extra_equations(const struct tutti_extra *extra, const struct tutti_run_options *options,
                                            const struct tt_solver_kind *solver)
{
    if (!extra)
        return TUTTI_OK;
    /* Their `jacobian` leaves out how they follow the FMU's states, which costs Newton's method an iteration at most. */
    if (solver->exact && extra->count > 0 && extra->jacobian)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "--solver %s needs the whole Jacobian of its equations, and that of %s has second derivatives "
                       "of the FMU, which FMUs do not offer; without them its steps would be of order 1. Use --solver "
                       "radau5, bdf or cvode",
                       solver->name, options->sensitivity_count > 0 ? "--sensitivity" : "extra equations");
    if (extra->count > INT32_MAX / 2)
        return tt_fail(TUTTI_ERR_LIMIT, "%zu extra equations; the limit is %d", extra->count, INT32_MAX / 2);
    if (extra->count > 0 && !extra->rhs)
        return tt_fail(TUTTI_ERR_ARGUMENT, "extra equations without a right-hand side");
    if (!extra->structure != !extra->jacobian)
        return tt_fail(TUTTI_ERR_ARGUMENT, "extra equations: `structure` and `jacobian` go together");
    if (extra->output_count > 0 && (!extra->output || !extra->output_names))
        return tt_fail(TUTTI_ERR_ARGUMENT, "extra equations: %zu outputs without names or without a function",
                       extra->output_count);
    for (size_t i = 0; i < extra->output_count; i++)
        if (!extra->output_names[i])
            return tt_fail(TUTTI_ERR_ARGUMENT, "extra equations: output %zu has no name", i + 1);
    return TUTTI_OK;
}

enum tutti_err tt_integration_resolve(struct tt_integration *integration, const struct tutti_run_options *options,
                                      const struct tt_times *times, double tolerance, bool disturbed, bool coupled)
{
    *integration = (struct tt_integration){0};
    TRY(integration_read_words(integration, options, disturbed));
    TRY(check_extra_equations(options->extra, options, integration->solver));
    integration->extra = options->extra;
    TRY(resolve_tolerances(integration, options, tolerance));
    return resolve_solver_steps(integration, options, times, coupled);
}

bool tt_integration_is_auto(const char *word)
{
    return !word || strcmp(word, "auto") == 0;
}

bool tt_integration_may_join(const struct tutti_run_options *options)
{
    bool tolerance = (options->has_rtol || options->has_atol) && !options->has_step;
    return tolerance && tt_integration_is_auto(options->coupling) && tt_integration_is_auto(options->control) &&
           tt_integration_is_auto(options->extrapolate) && !options->error_per && !options->correct &&
           !options->smooth && !options->order;
}

/* ---- options ---- */

/* Returns true if options specify neither how units are stepped nor features of Co-Simulation. */
static bool is_joining_allowed(const struct tutti_run_options *options)
{
    bool says = options->no_event_mode || options->no_event_mode_unit_count > 0 || options->input_at ||
                options->no_stop_time || options->no_stop_time_unit_count > 0;
    for (const struct tt_option *option = tt_options; option->name && !says; option++) {
        const char *const *word = (const char *const *)(const void *)((const char *)options + option->value);
        says = option->group == TUTTI_GROUP_COUPLING && tt_options_is_given(options, option) &&
               !(option->kind == TUTTI_OPTION_TEXT && tt_integration_is_auto(*word));
    }
    return !says;
}

static bool same_option_word(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- FMUs ---- */

static bool model_exchange_suffices(const struct tt_description *desc)
{
    static const uint32_t STATES = TUTTI_CAN_STATE | TUTTI_CAN_SERIALIZE;
    const struct tt_interface *me = &desc->interfaces[TUTTI_ME], *cs = &desc->interfaces[TUTTI_CS];
    if (!me->present || !cs->present)
        return me->present;
    uint32_t lost = cs->flags & STATES & ~me->flags, other = cs->flags ^ me->flags;
    return !lost && !(me->flags & ~cs->flags & TUTTI_NEEDS_TOOL) && !(other & TUTTI_ONCE_PER_PROCESS);
}

/* `changes`: otherwise it would run by Co-Simulation. */
static enum tutti_err check_component_joins(const struct tt_joining *job, uint32_t c, bool *joins, bool *changes)
{
    const struct tt_component *component = &job->system->components[c];
    struct tutti_run_options own = *job->asked;
    double step;
    TRY(tt_annotation_apply_component(&own, job->system, component, &step));
    bool me = tt_integration_is_auto(own.interface) || strcmp(own.interface, "me") == 0;
    *joins = me && model_exchange_suffices(component->fmu->desc) && is_joining_allowed(&own) && step <= 0 &&
             component->step_hint <= 0 && !own.filter && same_option_word(own.solver, job->options->solver) &&
             !tt_state_files_initial(job->states, c) && !tt_state_files_final(job->states, c);
    *changes = *changes || (tt_integration_is_auto(own.interface) && !own.solver &&
                            component->fmu->desc->interfaces[TUTTI_CS].present);
    return TUTTI_OK;
}

enum tutti_err tt_integration_find_joining(const struct tt_joining *job, bool *joins)
{
    const struct tt_system *system = job->system;
    struct tt_structure running;
    size_t states = 0;
    bool changes = false;
    *joins = !tt_system_is_alone(system) && !system->foreign && system->connection_count > 0 &&
             system->fed_count == 0 && system->constraint_count == 0 && tt_integration_may_join(job->options) &&
             is_joining_allowed(job->options) && job->options->unit_step_count == 0;
    for (uint32_t c = 0; c < system->component_count && *joins; c++) {
        TRY(check_component_joins(job, c, joins, &changes));
        states += system->components[c].fmu->desc->state_count;
    }
    *joins = *joins && changes && states > 0;
    if (!*joins)
        return TUTTI_OK;
    TRY(tt_structure_init(&running, system, TUTTI_PHASE_RUN));
    for (uint32_t c = 0; c < system->component_count && *joins; c++)
        *joins = !tt_structure_is_in_loop(&running, c);
    tt_structure_fini(&running);
    return TUTTI_OK;
}
