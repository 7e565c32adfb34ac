/* SPDX-License-Identifier: MIT */
#include "sim/job/joining.h"

#include <string.h>

#include "sim/job/annotation.h"
#include "model/plan/structure.h"

static bool is_auto_word(const char *word)
{
    return !word || strcmp(word, "auto") == 0;
}

bool tt_integration_may_join(const struct tutti_run_options *options)
{
    bool tolerance = (options->has_rtol || options->has_atol) && !options->has_step;
    return tolerance && is_auto_word(options->coupling) && is_auto_word(options->control) &&
           is_auto_word(options->extrapolate) && !options->error_per && !options->correct && !options->smooth &&
           !options->order;
}

/* ---- options ---- */

/* "auto" says no more than nothing does. */
static bool option_restricts_joining(const struct tutti_run_options *options, const struct tt_option *option)
{
    const char *const *word = (const char *const *)(const void *)((const char *)options + option->value);
    return tt_options_is_given(options, option) && !(option->kind == TUTTI_OPTION_TEXT && is_auto_word(*word));
}

/* Nothing is said about how units are stepped, nor about what only Co-Simulation has. */
static bool is_joining_allowed(const struct tutti_run_options *options)
{
    bool says = options->no_event_mode || options->no_event_mode_unit_count > 0 || options->input_at ||
                options->no_stop_time || options->no_stop_time_unit_count > 0;
    for (const struct tt_option *option = tt_options; option->name && !says; option++)
        says = option->group == TUTTI_GROUP_COUPLING && option_restricts_joining(options, option);
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

/* `changes`: would it be of Co-Simulation else? */
static enum tutti_err check_component_joins(const struct tt_joining *job, uint32_t c, bool *joins, bool *changes)
{
    const struct tt_component *component = &job->system->components[c];
    struct tutti_run_options own = *job->asked;
    double step;
    TRY(tt_annotation_apply_component(&own, job->system, component, &step));
    bool me = is_auto_word(own.interface) || strcmp(own.interface, "me") == 0;
    *joins = me && model_exchange_suffices(component->fmu->desc) && is_joining_allowed(&own) && step <= 0 &&
             component->step_hint <= 0 && !own.filter && same_option_word(own.solver, job->options->solver) &&
             !tt_state_files_initial(job->states, c) && !tt_state_files_final(job->states, c);
    *changes = *changes ||
               (is_auto_word(own.interface) && !own.solver && component->fmu->desc->interfaces[TUTTI_CS].present);
    return TUTTI_OK;
}

static enum tutti_err has_algebraic_loop(const struct tt_system *system, bool *loop)
{
    struct tt_structure running;
    *loop = false;
    TRY(tt_structure_init(&running, system, TUTTI_PHASE_RUN));
    for (uint32_t c = 0; c < system->component_count && !*loop; c++)
        *loop = tt_structure_is_in_loop(&running, c);
    tt_structure_fini(&running);
    return TUTTI_OK;
}

enum tutti_err tt_integration_find_joining(const struct tt_joining *job, bool *joins)
{
    const struct tt_system *system = job->system;
    size_t states = 0;
    bool changes = false, loop = false;
    *joins = !tt_system_is_alone(system) && !system->foreign && system->connection_count > 0 &&
             system->fed_count == 0 && system->constraint_count == 0 && tt_integration_may_join(job->options) &&
             is_joining_allowed(job->options) && job->options->unit_step_count == 0;
    for (uint32_t c = 0; c < system->component_count && *joins; c++) {
        TRY(check_component_joins(job, c, joins, &changes));
        states += system->components[c].fmu->desc->state_count;
    }
    *joins = *joins && changes && states > 0;
    if (*joins)
        TRY(has_algebraic_loop(system, &loop));
    *joins = *joins && !loop;
    return TUTTI_OK;
}
