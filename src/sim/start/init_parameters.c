/* SPDX-License-Identifier: MIT */
#include "sim/start/init_parameters.h"

#include <stdio.h>

#include "unit/parameter_check.h"

struct parameter_context {
    const struct tt_rank *rank;
    const struct tt_member *member;
};

static bool parameter_is_set(const struct tt_component *component, uint32_t variable)
{
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable)
            return true;
    return false;
}

/* A saved state has its own parameters; tunable ones that are set come later, or have come (tt_init_apply_late). */
static bool parameter_from_state(const struct parameter_context *place, uint32_t variable)
{
    const struct tt_component *component = &place->rank->job->system->components[place->member->component];
    return component->has_state &&
           (!parameter_is_set(component, variable) || tt_unit_is_settable_late(place->member->unit, variable));
}

/* A connection, an input file or a saved state has the say. */
static bool parameter_has_other_source(const void *context, uint32_t variable)
{
    const struct parameter_context *place = context;
    const struct tt_inputs *inputs = place->member->inputs;
    return (inputs && inputs->signal_of[variable] > 0) || parameter_from_state(place, variable) ||
           tt_structure_find(&place->rank->job->structure, place->member->component, variable, false) != TUTTI_NONE;
}

static enum tutti_err warn_parameter_differs(const struct tt_rank *rank, const struct tt_member *member,
                                             const struct tt_parameter_difference *first, size_t count)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    const struct tt_description *desc = component->fmu->desc;
    const struct tt_var *var = &desc->vars[first->variable];
    const struct tt_end end = {.component = member->component, .variable = first->variable};
    struct tt_text expected = {0}, found = {0};
    char name[256], more[80] = "";
    tt_setting_write(&expected, desc, var, first->expected);
    tt_setting_write(&found, desc, var, first->found);
    bool told = !expected.failed && !found.failed;
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more parameters have other values, too)", count - 1);
    if (told && component->has_state)
        tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                          "the initial state has another parameter: '%s' was set to %s, and is %s in the state of "
                          "--initial-state%s; the run goes on with what the state has",
                          var->name, expected.text, found.text, more);
    else if (told && parameter_is_set(component, first->variable))
        tt_log_unfiltered(
            rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
            "the FMU does not take a parameter: '%s' was set to %s, and is %s after the initialisation%s; "
            "the run goes on with what the FMU has",
            var->name, expected.text, found.text, more);
    else if (told)
        tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                          "the FMU ignores start values of its description: '%s' should be %s, and is %s after the "
                          "initialisation%s; the run goes on with what the FMU has; --set %s=%s sets it",
                          var->name, expected.text, found.text, more,
                          tt_system_name(rank->job->system, &end, name, sizeof name),
                          var->dimension_count > 0 ? "..." : expected.text);
    tt_text_fini(&expected);
    tt_text_fini(&found);
    return told ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_init_compare_parameters(struct tt_rank *rank, const struct tt_member *member, bool *refused)
{
    const struct tt_component *component = &rank->job->system->components[member->component];
    const struct parameter_context place = {rank, member};
    struct tt_parameter_check described;
    struct tt_parameter_difference first;
    *refused = false;
    TRY(tt_parameter_check_init(&described, member->unit, component->settings, component->setting_count,
                                parameter_has_other_source, &place));
    enum tutti_err err = TUTTI_OK;
    for (size_t b = 0; b < described.found.block_count && !err && !*refused; b++)
        err = member->unit->kind->ask(member->unit, &described.found.blocks[b], refused);
    size_t count = err || *refused ? 0 : tt_parameter_check_compare(&described, &first);
    if (count > 0)
        err = warn_parameter_differs(rank, member, &first, count);
    tt_parameter_check_fini(&described);
    return err;
}
