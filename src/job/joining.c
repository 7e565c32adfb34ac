/* SPDX-License-Identifier: MIT */
#include "job/joining.h"

#include <string.h>

#include "job/annotation.h"
#include "plan/structure.h"

static bool is_auto(const char *word)
{
    return !word || strcmp(word, "auto") == 0;
}

bool tutti_joining_is_asked(const struct tutti_run_options *options)
{
    bool tolerance = (options->has_rtol || options->has_atol) && !options->has_step;
    return tolerance && is_auto(options->coupling) && is_auto(options->control) && is_auto(options->extrapolate) &&
           !options->error_per && !options->correct && !options->smooth && !options->order;
}

/* ---- options ---- */

/* "auto" says no more than nothing does. */
static bool says_something(const struct tutti_run_options *options, const struct tutti_option *option)
{
    const char *const *word = (const char *const *)(const void *)((const char *)options + option->value);
    return tutti_option_is_given(options, option) && !(option->kind == TUTTI_OPTION_TEXT && is_auto(*word));
}

/* Nothing is said about how units are stepped, nor about what only Co-Simulation has. */
static bool is_free(const struct tutti_run_options *options)
{
    bool says = options->no_event_mode || options->no_event_mode_unit_count > 0 || options->input_at ||
                options->no_stop_time || options->no_stop_time_unit_count > 0;
    for (const struct tutti_option *option = tutti_options; option->name && !says; option++)
        says = option->group == TUTTI_GROUP_COUPLING && says_something(options, option);
    return !says;
}

static bool is_same_word(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

/* ---- FMUs ---- */

static bool offers_as_much(const struct tutti_desc *desc)
{
    static const uint32_t STATES = TUTTI_CAN_STATE | TUTTI_CAN_SERIALIZE;
    const struct tutti_interface *me = &desc->interfaces[TUTTI_ME], *cs = &desc->interfaces[TUTTI_CS];
    if (!me->present || !cs->present)
        return me->present;
    uint32_t lost = cs->flags & STATES & ~me->flags, other = cs->flags ^ me->flags;
    return !lost && !(me->flags & ~cs->flags & TUTTI_NEEDS_TOOL) && !(other & TUTTI_ONCE_PER_PROCESS);
}

/* `changes`: would it be of Co-Simulation else? */
static enum tutti_err look_at_component(const struct tutti_joining *job, uint32_t c, bool *joins, bool *changes)
{
    const struct tutti_component *component = &job->system->components[c];
    struct tutti_run_options own = *job->asked;
    double step;
    TRY(tutti_annotation_of_component(&own, job->system, component, &step));
    bool me = is_auto(own.interface) || strcmp(own.interface, "me") == 0;
    *joins = me && offers_as_much(component->fmu->desc) && is_free(&own) && step <= 0 && component->step_hint <= 0 &&
             !own.filter && is_same_word(own.solver, job->options->solver) && !tutti_states_initial(job->states, c) &&
             !tutti_states_final(job->states, c);
    *changes = *changes ||
               (is_auto(own.interface) && !own.solver && component->fmu->desc->interfaces[TUTTI_CS].present);
    return TUTTI_OK;
}

static enum tutti_err has_loop(const struct tutti_system *system, bool *loop)
{
    struct tutti_structure running;
    *loop = false;
    TRY(tutti_structure_init(&running, system, TUTTI_PHASE_RUN));
    for (uint32_t c = 0; c < system->component_count && !*loop; c++)
        *loop = tutti_structure_is_in_loop(&running, c);
    tutti_structure_fini(&running);
    return TUTTI_OK;
}

enum tutti_err tutti_joining_find(const struct tutti_joining *job, bool *joins)
{
    const struct tutti_system *system = job->system;
    size_t states = 0;
    bool changes = false, loop = false;
    *joins = !tutti_system_is_alone(system) && !system->foreign && system->connection_count > 0 &&
             system->fed_count == 0 && system->constraint_count == 0 && tutti_joining_is_asked(job->options) &&
             is_free(job->options) && job->options->unit_step_count == 0;
    for (uint32_t c = 0; c < system->component_count && *joins; c++) {
        TRY(look_at_component(job, c, joins, &changes));
        states += system->components[c].fmu->desc->state_count;
    }
    *joins = *joins && changes && states > 0;
    if (*joins)
        TRY(has_loop(system, &loop));
    *joins = *joins && !loop;
    return TUTTI_OK;
}
