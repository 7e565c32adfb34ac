/* SPDX-License-Identifier: MIT */
#include "master/inputs.h"

#include <math.h>
#include <stdlib.h>

#include "base/time.h"

/* Which columns the unit can follow inside a step: by input derivatives, or (FMI 3.0 Co-Simulation) where
 * intermediateUpdate says so. The unit decides later whether its FMU really takes them. */
static bool has_slope(const struct tutti_desc *desc, const struct tutti_trajectory_input *input, bool by_update)
{
    const struct tutti_var *var = &desc->vars[input->variable];
    return input->continuous && var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0 &&
           (!by_update || var->intermediate);
}

static enum tutti_err allocate(struct tutti_inputs *inputs, const struct tutti_desc *desc)
{
    size_t columns = tutti_trajectory_count(inputs->trajectory) + 1;
    inputs->moving.variables = calloc(columns, sizeof *inputs->moving.variables);
    inputs->held.variables = calloc(columns, sizeof *inputs->held.variables);
    inputs->slope_columns = calloc(columns, sizeof *inputs->slope_columns);
    inputs->slope_references = calloc(columns, sizeof *inputs->slope_references);
    inputs->slope_slots = calloc(columns, sizeof *inputs->slope_slots);
    inputs->slopes = calloc(columns, sizeof *inputs->slopes);
    inputs->slope_orders = calloc(columns, sizeof *inputs->slope_orders);
    inputs->column_slots = calloc(columns, sizeof *inputs->column_slots);
    inputs->signal_of = calloc(desc->var_count, sizeof *inputs->signal_of);
    inputs->column_of = calloc(desc->var_count, sizeof *inputs->column_of);
    bool all = inputs->moving.variables && inputs->held.variables && inputs->slope_columns &&
               inputs->slope_references && inputs->slope_slots && inputs->slopes && inputs->slope_orders &&
               inputs->column_slots && inputs->signal_of && inputs->column_of;
    return all ? TUTTI_OK : tutti_fail_memory();
}

static void collect(struct tutti_inputs *inputs, const struct tutti_desc *desc, bool by_update)
{
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++) {
        const struct tutti_trajectory_input *input = tutti_trajectory_input(inputs->trajectory, c);
        struct tutti_input_set *set = input->continuous ? &inputs->moving : &inputs->held;
        if (inputs->signal_of[input->variable] == 0) { /* columns of one array share a variable */
            set->variables[set->count++] = input->variable;
            inputs->signal_of[input->variable] = set->count;
            inputs->column_of[input->variable] = c + 1;
        }
        inputs->continuous += input->continuous;
        if (has_slope(desc, input, by_update)) {
            inputs->slope_columns[inputs->slope_count] = c;
            inputs->slope_orders[inputs->slope_count] = 1;
            inputs->slope_references[inputs->slope_count++] = desc->vars[input->variable].reference;
        }
    }
}

enum tutti_err tutti_inputs_open(struct tutti_inputs *inputs, const char *file, const struct tutti_table *table,
                                 const struct tutti_desc *desc, enum tutti_interface_kind kind,
                                 const struct tutti_trajectory_input *columns, size_t count)
{
    *inputs = (struct tutti_inputs){.file = file,
                                    .straight_until = -INFINITY,
                                    .event = INFINITY,
                                    .kink = INFINITY,
                                    .row = INFINITY,
                                    .counted = -INFINITY};
    TRY(tutti_trajectory_new(&inputs->trajectory, file, table, desc, columns, count));
    TRY(allocate(inputs, desc));
    bool by_update = desc->fmi == 3 && kind == TUTTI_CS;
    collect(inputs, desc, by_update);
    inputs->asked = by_update && inputs->slope_count == inputs->continuous &&
                    (desc->interfaces[TUTTI_CS].flags & TUTTI_CAN_INTERMEDIATE);
    return TUTTI_OK;
}

void tutti_inputs_close(struct tutti_inputs *inputs)
{
    tutti_signals_fini(&inputs->moving.signals);
    tutti_signals_fini(&inputs->held.signals);
    tutti_trajectory_free(inputs->trajectory);
    free(inputs->moving.variables);
    free(inputs->held.variables);
    free(inputs->slope_columns);
    free(inputs->slope_references);
    free(inputs->slope_slots);
    free(inputs->slopes);
    free(inputs->slope_orders);
    free(inputs->column_slots);
    free(inputs->signal_of);
    free(inputs->column_of);
    *inputs = (struct tutti_inputs){0};
}

static enum tutti_err lay_out(struct tutti_input_set *set, struct tutti_unit *unit)
{
    TRY(tutti_unit_signals(unit, set->variables, set->count, &set->signals));
    /* Elements that the file does not drive stay as the FMU has them; only 3.0 has arrays, and lets us read now. */
    return unit->fmu->desc->fmi == 3 ? tutti_unit_get(unit, &set->signals) : TUTTI_OK;
}

/* The slot of a column's input. */
static enum tutti_err find_slot(const struct tutti_inputs *inputs, const struct tutti_unit *unit,
                                const struct tutti_trajectory_input *input, void **slot)
{
    const struct tutti_signals *signals = input->continuous ? &inputs->moving.signals : &inputs->held.signals;
    size_t signal = inputs->signal_of[input->variable] - 1, place = 0;
    TRY(tutti_fail_context(tutti_unit_element(unit, input->variable, &input->element, &place), "%s", inputs->file));
    *slot = (char *)signals->slots[signal] + place * signals->sizes[signal];
    return TUTTI_OK;
}

enum tutti_err tutti_inputs_bind(struct tutti_inputs *inputs, struct tutti_unit *unit)
{
    TRY(lay_out(&inputs->moving, unit));
    TRY(lay_out(&inputs->held, unit));
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++) {
        void *slot;
        TRY(find_slot(inputs, unit, tutti_trajectory_input(inputs->trajectory, c), &slot));
        tutti_trajectory_bind(inputs->trajectory, c, slot);
        inputs->column_slots[c] = slot;
    }
    for (size_t i = 0; i < inputs->slope_count; i++)
        inputs->slope_slots[i] = inputs->column_slots[inputs->slope_columns[i]];
    return TUTTI_OK;
}

const void *tutti_inputs_slot(const struct tutti_inputs *inputs, uint32_t variable, size_t place)
{
    size_t first = inputs->column_of ? inputs->column_of[variable] : 0;
    if (first == 0)
        return NULL;
    const struct tutti_trajectory_input *input = tutti_trajectory_input(inputs->trajectory, first - 1);
    const struct tutti_signals *signals = input->continuous ? &inputs->moving.signals : &inputs->held.signals;
    size_t signal = inputs->signal_of[variable] - 1;
    return (const char *)signals->slots[signal] + place * signals->sizes[signal];
}

void tutti_inputs_sample_moving(void *context, double t, double *values)
{
    struct tutti_inputs *inputs = context;
    for (size_t i = 0; i < inputs->slope_count; i++)
        values[i] = tutti_trajectory_value(inputs->trajectory, inputs->slope_columns[i], t, t <= inputs->step_start);
}

void tutti_inputs_sample(struct tutti_inputs *inputs, double t, bool after)
{
    tutti_trajectory_sample(inputs->trajectory, t, after);
}

enum tutti_err tutti_inputs_set_all(struct tutti_inputs *inputs, struct tutti_unit *unit)
{
    inputs->held_changed = false;
    inputs->straight_until = -INFINITY; /* what is set has no slope any more */
    TRY(tutti_unit_set(unit, &inputs->moving.signals));
    return tutti_unit_set(unit, &inputs->held.signals);
}

/* Has a jump come where the unit is at t? */
static bool has_come(const struct tutti_inputs *inputs, double t, double event, double span)
{
    return tutti_time_reached(t + inputs->slack, event, span);
}

/* Jumps that the step to t has passed by: of those, the unit sees the last one at t. */
static void count_passed(struct tutti_inputs *inputs, double t, double span)
{
    double event = inputs->event;
    if (t <= inputs->counted)
        return;
    inputs->counted = t;
    while (event + inputs->slack < t && !tutti_time_same(event, t, span)) {
        double next = tutti_trajectory_next_event(inputs->trajectory, event);
        bool seen = !has_come(inputs, t, next, span);
        inputs->late += seen;
        inputs->unseen += !seen;
        event = next;
    }
}

void tutti_inputs_arrive(struct tutti_inputs *inputs, double t, double span)
{
    count_passed(inputs, t, span);
    inputs->jumped = has_come(inputs, t, inputs->event, span);
    inputs->time = t;
    for (double event = inputs->event; has_come(inputs, t, event, span);
         event = tutti_trajectory_next_event(inputs->trajectory, event))
        inputs->time = fmax(t, event);
    tutti_inputs_sample(inputs, inputs->time, false);
    inputs->held_changed = inputs->held_changed || inputs->jumped;
}

enum tutti_err tutti_inputs_cross(struct tutti_inputs *inputs, struct tutti_unit *unit)
{
    if (!inputs->jumped)
        return TUTTI_OK;
    inputs->jumped = false;
    tutti_inputs_sample(inputs, inputs->time, true);
    return tutti_inputs_set_all(inputs, unit);
}

/* Units that keep slopes are told them once per straight stretch: between these, an input that is set again would look
 * like news to a solver. */
static bool follows(const struct tutti_inputs *inputs, const struct tutti_unit *unit)
{
    return unit->keeps_slopes && inputs->slope_count == inputs->continuous;
}

void tutti_inputs_look_ahead(struct tutti_inputs *inputs, const struct tutti_unit *unit)
{
    inputs->event = tutti_trajectory_next_event(inputs->trajectory, inputs->time);
    inputs->kink = follows(inputs, unit) ? tutti_trajectory_next_kink(inputs->trajectory, inputs->time) : -INFINITY;
    inputs->row = inputs->ends_at_rows ? tutti_trajectory_next_kink(inputs->trajectory, inputs->time + inputs->splinter)
                                       : INFINITY;
}

static enum tutti_err apply_slopes(struct tutti_inputs *inputs, struct tutti_unit *unit, double t, double end)
{
    /* The chord: right at both ends, whatever kinks the file has between them. */
    for (size_t i = 0; i < inputs->slope_count; i++) {
        double then = end < INFINITY ? tutti_trajectory_value(inputs->trajectory, inputs->slope_columns[i], end, false)
                                     : *inputs->slope_slots[i];
        inputs->slopes[i] = end < INFINITY ? (then - *inputs->slope_slots[i]) / (end - t) : 0;
    }
    return unit->kind->set_input_derivatives(unit, inputs->slope_references, inputs->slope_count, inputs->slope_orders,
                                             inputs->slopes);
}

/* A row counts as missed if the line that spans the step is this part of the column's range away from it. */
static const double FAR = 0.01;

static bool is_far(struct tutti_inputs *inputs, double row, double t, double target)
{
    struct tutti_trajectory *trajectory = inputs->trajectory;
    for (size_t c = 0; c < tutti_trajectory_count(trajectory); c++) {
        if (!tutti_trajectory_input(trajectory, c)->continuous)
            continue;
        double begin = tutti_trajectory_value(trajectory, c, t, true);
        double end = tutti_trajectory_value(trajectory, c, target, false);
        double line = begin + (end - begin) * ((row - t) / (target - t));
        double value = tutti_trajectory_value(trajectory, c, row, true);
        if (fabs(value - line) > FAR * tutti_trajectory_range(trajectory, c))
            return true;
    }
    return false;
}

static void count_bent(struct tutti_inputs *inputs, const struct tutti_unit *unit, double t, double target)
{
    if (unit->kind->interface != TUTTI_CS || inputs->asked || inputs->continuous == 0)
        return;
    for (double row = tutti_trajectory_next_kink(inputs->trajectory, t); row < target;
         row = tutti_trajectory_next_kink(inputs->trajectory, row))
        inputs->bent += is_far(inputs, row, t, target);
}

enum tutti_err tutti_inputs_apply(struct tutti_inputs *inputs, struct tutti_unit *unit, double t, double target)
{
    bool keeps = follows(inputs, unit);
    count_bent(inputs, unit, t, target);
    tutti_inputs_sample(inputs, t, true);
    inputs->step_start = t;
    if (!keeps || t >= inputs->straight_until)
        TRY(tutti_unit_set(unit, &inputs->moving.signals));
    if (inputs->held_changed)
        TRY(tutti_unit_set(unit, &inputs->held.signals));
    inputs->held_changed = false;
    if (!(unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || inputs->slope_count == 0)
        return TUTTI_OK;
    if (!keeps)
        return apply_slopes(inputs, unit, t, target);
    if (t < inputs->straight_until)
        return TUTTI_OK;
    inputs->straight_until = tutti_trajectory_next_kink(inputs->trajectory, t);
    return apply_slopes(inputs, unit, t, inputs->straight_until);
}
