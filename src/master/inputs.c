/* SPDX-License-Identifier: MIT */
#include "master/inputs.h"

#include <stdlib.h>

/* Which columns the FMU can follow inside a step: 1.0 and 2.0 by input derivatives, 3.0 where intermediateUpdate says
 * so. The unit decides later whether its FMU really takes them. */
static bool can_move(const struct tutti_desc *desc, const struct tutti_trajectory_input *input)
{
    const struct tutti_var *var = &desc->vars[input->variable];
    return input->continuous && var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0 &&
           (desc->fmi < 3 || var->intermediate);
}

static enum tutti_err collect(struct tutti_inputs *inputs, const struct tutti_desc *desc)
{
    size_t columns = tutti_trajectory_count(inputs->trajectory);
    inputs->variables = calloc(columns + 1, sizeof *inputs->variables);
    inputs->moving_columns = calloc(columns + 1, sizeof *inputs->moving_columns);
    inputs->moving_references = calloc(columns + 1, sizeof *inputs->moving_references);
    inputs->moving_slots = calloc(columns + 1, sizeof *inputs->moving_slots);
    inputs->slopes = calloc(columns + 1, sizeof *inputs->slopes);
    inputs->signal_of = calloc(desc->var_count, sizeof *inputs->signal_of);
    if (!inputs->variables || !inputs->moving_columns || !inputs->moving_references || !inputs->moving_slots ||
        !inputs->slopes || !inputs->signal_of)
        return tutti_fail_memory();
    for (size_t c = 0; c < columns; c++) {
        const struct tutti_trajectory_input *input = tutti_trajectory_input(inputs->trajectory, c);
        if (inputs->signal_of[input->variable] == 0) {
            inputs->variables[inputs->variable_count++] = input->variable;
            inputs->signal_of[input->variable] = inputs->variable_count;
        }
        if (can_move(desc, input)) {
            inputs->moving_columns[inputs->moving_count] = c;
            inputs->moving_references[inputs->moving_count++] = desc->vars[input->variable].reference;
        }
    }
    return TUTTI_OK;
}

enum tutti_err tutti_inputs_open(struct tutti_inputs *inputs, const char *file, struct tutti_desc *desc)
{
    *inputs = (struct tutti_inputs){0};
    TRY(tutti_table_read(&inputs->table, file));
    TRY(tutti_trajectory_new(&inputs->trajectory, file, inputs->table, desc));
    return collect(inputs, desc);
}

void tutti_inputs_close(struct tutti_inputs *inputs)
{
    tutti_signals_fini(&inputs->signals);
    tutti_trajectory_free(inputs->trajectory);
    tutti_table_free(inputs->table);
    free(inputs->variables);
    free(inputs->moving_columns);
    free(inputs->moving_references);
    free(inputs->moving_slots);
    free(inputs->slopes);
    free(inputs->signal_of);
    *inputs = (struct tutti_inputs){0};
}

enum tutti_err tutti_inputs_bind(struct tutti_inputs *inputs, struct tutti_unit *unit)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    TRY(tutti_unit_signals(unit, inputs->variables, inputs->variable_count, &inputs->signals));
    /* Elements that the file does not drive stay as the FMU has them; only 3.0 has arrays, and lets us read now. */
    if (desc->fmi == 3)
        TRY(tutti_unit_get(unit, &inputs->signals));
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++) {
        const struct tutti_trajectory_input *input = tutti_trajectory_input(inputs->trajectory, c);
        void *slot = (void *)tutti_inputs_slot(inputs, input->variable, input->element);
        if (!slot)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: --input drives element %u of '%s', which has fewer elements now",
                              unit->name, input->element + 1, desc->vars[input->variable].name);
        tutti_trajectory_bind(inputs->trajectory, c, slot);
    }
    for (size_t i = 0; i < inputs->moving_count; i++) {
        const struct tutti_trajectory_input *input =
            tutti_trajectory_input(inputs->trajectory, inputs->moving_columns[i]);
        inputs->moving_slots[i] = tutti_inputs_slot(inputs, input->variable, TUTTI_NONE);
    }
    return TUTTI_OK;
}

const void *tutti_inputs_slot(const struct tutti_inputs *inputs, uint32_t variable, uint32_t element)
{
    size_t signal = inputs->signal_of ? inputs->signal_of[variable] : 0;
    size_t at = element == TUTTI_NONE ? 0 : element;
    if (signal == 0 || at >= inputs->signals.extents[signal - 1])
        return NULL;
    return (const char *)inputs->signals.slots[signal - 1] + at * inputs->signals.sizes[signal - 1];
}

void tutti_inputs_sample_moving(void *context, double t, double *values)
{
    struct tutti_inputs *inputs = context;
    for (size_t i = 0; i < inputs->moving_count; i++)
        values[i] = tutti_trajectory_value(inputs->trajectory, inputs->moving_columns[i], t);
}

enum tutti_err tutti_inputs_apply(struct tutti_inputs *inputs, struct tutti_unit *unit, double t, double target)
{
    tutti_trajectory_sample(inputs->trajectory, t, true);
    TRY(tutti_unit_set(unit, &inputs->signals));
    if (!(unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || inputs->moving_count == 0)
        return TUTTI_OK;
    /* The chord over the step: right at both ends, whatever kinks the file has between them. */
    for (size_t i = 0; i < inputs->moving_count; i++) {
        size_t column = inputs->moving_columns[i];
        double then = tutti_trajectory_value(inputs->trajectory, column, target);
        inputs->slopes[i] = (then - *inputs->moving_slots[i]) / (target - t);
    }
    return unit->kind->set_slopes(unit, inputs->moving_references, inputs->moving_count, inputs->slopes);
}
