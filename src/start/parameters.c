/* SPDX-License-Identifier: MIT */
#include "start/parameters.h"

#include <stdio.h>

#include "unit/described.h"

struct place {
    const struct tutti_rank *rank;
    const struct tutti_member *member;
};

static bool is_set(const struct tutti_component *component, uint32_t variable)
{
    for (size_t i = 0; i < component->setting_count; i++)
        if (component->settings[i].variable == variable)
            return true;
    return false;
}

/* A saved state has its own parameters; tunable ones that are set come later, or have come (tutti_start_apply_late). */
static bool comes_from_state(const struct place *place, uint32_t variable)
{
    const struct tutti_component *component = &place->rank->job->system->components[place->member->component];
    return component->has_state &&
           (!is_set(component, variable) || tutti_unit_takes_late(place->member->unit, variable));
}

/* A connection, an input file or a saved state has the say. */
static bool comes_from_elsewhere(const void *context, uint32_t variable)
{
    const struct place *place = context;
    const struct tutti_inputs *inputs = place->member->inputs;
    return (inputs && inputs->signal_of[variable] > 0) || comes_from_state(place, variable) ||
           tutti_structure_find(&place->rank->job->structure, place->member->component, variable, false) != TUTTI_NONE;
}

static enum tutti_err warn(const struct tutti_rank *rank, const struct tutti_member *member,
                           const struct tutti_departure *first, size_t count)
{
    const struct tutti_component *component = &rank->job->system->components[member->component];
    const struct tutti_desc *desc = component->fmu->desc;
    const struct tutti_var *var = &desc->vars[first->variable];
    const struct tutti_end end = {.component = member->component, .variable = first->variable};
    struct tutti_text expected = {0}, found = {0};
    char name[256], more[80] = "";
    tutti_setting_show(&expected, desc, var, first->expected);
    tutti_setting_show(&found, desc, var, first->found);
    bool told = !expected.failed && !found.failed;
    if (count > 1)
        snprintf(more, sizeof more, " (and %zu more parameters have other values, too)", count - 1);
    if (told && component->has_state)
        tutti_log_insist(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                         "the initial state has another parameter: '%s' was set to %s, and is %s in the state of "
                         "--initial-state%s; the run goes on with what the state has",
                         var->name, expected.text, found.text, more);
    else if (told && is_set(component, first->variable))
        tutti_log_insist(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                         "the FMU does not take a parameter: '%s' was set to %s, and is %s after the initialisation%s; "
                         "the run goes on with what the FMU has",
                         var->name, expected.text, found.text, more);
    else if (told)
        tutti_log_insist(rank->unit_log, TUTTI_LOG_WARNING, member->unit->name,
                         "the FMU ignores start values of its description: '%s' should be %s, and is %s after the "
                         "initialisation%s; the run goes on with what the FMU has; --set %s=%s sets it",
                         var->name, expected.text, found.text, more,
                         tutti_system_name(rank->job->system, &end, name, sizeof name),
                         var->dimension_count > 0 ? "..." : expected.text);
    tutti_text_fini(&expected);
    tutti_text_fini(&found);
    return told ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_parameters_compare(struct tutti_rank *rank, const struct tutti_member *member, bool *refused)
{
    const struct tutti_component *component = &rank->job->system->components[member->component];
    const struct place place = {rank, member};
    struct tutti_described described;
    struct tutti_departure first;
    *refused = false;
    TRY(tutti_described_init(&described, member->unit, component->settings, component->setting_count,
                             comes_from_elsewhere, &place));
    enum tutti_err err = TUTTI_OK;
    for (size_t b = 0; b < described.found.block_count && !err && !*refused; b++)
        err = member->unit->kind->ask(member->unit, &described.found.blocks[b], refused);
    size_t count = err || *refused ? 0 : tutti_described_compare(&described, &first);
    if (count > 0)
        err = warn(rank, member, &first, count);
    tutti_described_fini(&described);
    return err;
}
