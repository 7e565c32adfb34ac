/* SPDX-License-Identifier: MIT */
/* What is recorded of a unit that has no outputs. */
#include <stdlib.h>

#include "sim/report/record.h"

static bool variable_is_numeric(const struct tt_var *var)
{
    return var->type != TUTTI_TYPE_STRING && var->type != TUTTI_TYPE_BINARY && var->type != TUTTI_TYPE_CLOCK;
}

static bool is_moving_local(const struct tt_var *var)
{
    return var->causality == TUTTI_LOCAL && variable_is_numeric(var) &&
           (var->variability == TUTTI_CONTINUOUS || var->variability == TUTTI_DISCRETE);
}

/* Marks the continuous states; false: the description names none. */
static bool flag_states(const struct tt_description *desc, bool *marks)
{
    bool any = false;
    for (uint32_t i = 0; i < desc->derivatives.count; i++) {
        uint32_t state = desc->vars[desc->derivatives.items[i].variable].derivative_of;
        if (state != TUTTI_NONE)
            any = marks[state] = true;
    }
    return any;
}

static void flag_moving_locals(const struct tt_description *desc, bool *marks)
{
    for (uint32_t i = 0; i < desc->var_count; i++)
        marks[i] = is_moving_local(&desc->vars[i]);
}

/* Another name of a variable that is chosen already? */
static bool is_alias_of_chosen(const struct tt_description *desc, const struct tt_substitute_choice *choice,
                               const struct tt_var *var)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct tt_var *chosen = &desc->vars[choice->variables[i]];
        if (chosen->reference == var->reference && chosen->type == var->type)
            return true;
    }
    return false;
}

enum tutti_err tt_record_find_moving(const struct tt_description *desc, struct tt_substitute_choice *out)
{
    *out = (struct tt_substitute_choice){0};
    bool *marks = calloc((size_t)desc->var_count + 1, sizeof *marks);
    if (!marks)
        return tt_fail_memory();
    out->states = flag_states(desc, marks);
    if (!out->states)
        flag_moving_locals(desc, marks);
    uint64_t columns = 0;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        if (!marks[i] || is_alias_of_chosen(desc, out, &desc->vars[i]))
            continue;
        out->found++;
        columns += tt_description_var_size(&desc->vars[i]);
        if (out->count + 1 == out->found && columns <= TUTTI_MOST_MOVING)
            out->variables[out->count++] = i;
    }
    free(marks);
    return TUTTI_OK;
}
