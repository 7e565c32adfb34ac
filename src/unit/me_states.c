/* SPDX-License-Identifier: MIT */
/* The variables behind the state vector of a Model Exchange FMU. */
#include <stdio.h>
#include <stdlib.h>

#include "unit/me.h"

/* FMI 2.0 and 3.0: the order of the derivatives in the model structure is that of the states. */
static enum tutti_err from_structure(struct me *me)
{
    const struct tutti_desc *desc = me->unit.fmu->desc;
    struct me_axis axis = {0};
    enum tutti_err err = tutti_me_axis_init(&axis, desc->derivatives.count);
    for (uint32_t k = 0; k < desc->derivatives.count && !err; k++) {
        uint32_t state = desc->vars[desc->derivatives.items[k].variable].derivative_of;
        size_t extent = 0;
        if (state == TUTTI_NONE)
            break; /* `tutti check` says so; the vector still works, without names */
        err = tutti_unit_extent(&me->unit, state, &extent);
        if (!err)
            tutti_me_axis_add(&axis, desc->vars[state].reference, state, extent);
        me->derivatives[k] = desc->vars[desc->derivatives.items[k].variable].reference;
    }
    if (!err && axis.count == desc->derivatives.count && axis.size == me->states)
        me->variables = axis;
    else
        tutti_me_axis_fini(&axis);
    return err;
}

static uint32_t variable_with(const struct tutti_desc *desc, uint32_t reference)
{
    for (uint32_t i = 0; i < desc->var_count; i++)
        if (desc->vars[i].reference == reference && desc->vars[i].type == TUTTI_TYPE_FLOAT64 && !desc->vars[i].alias)
            return i;
    return TUTTI_NONE;
}

/* FMI 1.0: the FMU itself knows. */
static enum tutti_err from_fmu(struct me *me)
{
    uint32_t *references = calloc(me->states, sizeof *references);
    enum tutti_err err = references ? tutti_me_axis_init(&me->variables, me->states) : tutti_fail_memory();
    if (!err)
        err = tutti_instance_get_state_references(me->instance, references, me->states);
    for (size_t k = 0; k < me->states && !err; k++)
        tutti_me_axis_add(&me->variables, references[k], variable_with(me->unit.fmu->desc, references[k]), 1);
    free(references);
    if (err == TUTTI_ERR_UNSUPPORTED) { /* states without names, then */
        tutti_me_axis_fini(&me->variables);
        err = TUTTI_OK;
    }
    return err;
}

enum tutti_err tutti_me_states_init(struct me *me)
{
    if (me->states == 0)
        return TUTTI_OK;
    me->derivatives = calloc((size_t)me->unit.fmu->desc->derivatives.count + 1, sizeof *me->derivatives);
    if (!me->derivatives)
        return tutti_fail_memory();
    return me->unit.fmu->desc->fmi == 1 ? from_fmu(me) : from_structure(me);
}

void tutti_me_states_fini(struct me *me)
{
    tutti_me_axis_fini(&me->variables);
    free(me->derivatives);
}

const char *tutti_me_state_name(void *context, size_t i)
{
    struct me *me = context;
    if (i >= me->states)
        snprintf(me->name, sizeof me->name, "extra equation %zu", i - me->states + 1);
    else
        tutti_me_axis_name(&me->variables, &me->unit, i, "state", me->name, sizeof me->name);
    return me->name;
}

enum tutti_err tutti_me_states_pattern(struct me *me, const struct me_axis *columns, struct tutti_pattern *pattern,
                                       bool *known)
{
    const struct tutti_unknowns *derivatives = &me->unit.fmu->desc->derivatives;
    *known = false;
    for (uint32_t k = 0; k < derivatives->count && me->variables.count == derivatives->count; k++)
        *known = *known || derivatives->items[k].has_dependencies;
    if (!*known)
        return TUTTI_OK;
    const struct tutti_unknown **unknowns = calloc(derivatives->count, sizeof *unknowns);
    if (!unknowns)
        return tutti_fail_memory();
    for (uint32_t k = 0; k < derivatives->count; k++)
        unknowns[k] = &derivatives->items[k];
    enum tutti_err err = tutti_me_axis_pattern(&me->unit, &me->variables, unknowns, columns, pattern);
    free(unknowns);
    return err;
}
