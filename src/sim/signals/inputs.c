/* SPDX-License-Identifier: MIT */
#include "sim/signals/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"

enum tutti_err tt_inputs_choose(const struct tutti_run_options *options, struct tt_inputs_choice *choice)
{
    static const enum tt_trajectory_form forms[] = {[TUTTI_INTERPOLATE_LINEAR] = TUTTI_TRAJECTORY_LINEAR,
                                                    [TUTTI_INTERPOLATE_HOLD] = TUTTI_TRAJECTORY_HELD,
                                                    [TUTTI_INTERPOLATE_CUBIC] = TUTTI_TRAJECTORY_CUBIC};
    int how, at;
    TRY(tt_options_choose("interpolate", options->interpolate, &how));
    TRY(tt_options_choose("input-at", options->input_at, &at));
    *choice = (struct tt_inputs_choice){.form = forms[how], .at = (enum tt_input_at)at};
    return TUTTI_OK;
}

/* Returns true for columns that the unit can follow inside a step: by input derivatives, or (FMI 3.0 Co-Simulation) by
 * intermediateUpdate. The unit decides later whether its FMU really accepts them. */
static bool input_has_slope(const struct tt_description *desc, const struct tt_trajectory_input *input,
                            enum tt_interface_kind kind)
{
    const struct tt_var *var = &desc->vars[input->variable];
    if (kind == TUTTI_ME || !input->continuous)
        return input->continuous;
    return var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0 && (desc->fmi < 3 || var->intermediate);
}

static enum tutti_err inputs_allocate(struct tt_inputs *inputs, const struct tt_description *desc)
{
    size_t columns = tt_trajectory_count(inputs->trajectory) + 1, values = 1;
    for (size_t c = 0; c + 1 < columns; c++)
        values += tt_trajectory_input(inputs->trajectory, c)->width;
    inputs->moving.variables = calloc(columns, sizeof *inputs->moving.variables);
    inputs->held.variables = calloc(columns, sizeof *inputs->held.variables);
    inputs->slope_columns = calloc(values, sizeof *inputs->slope_columns);
    inputs->slope_references = calloc(values, sizeof *inputs->slope_references);
    inputs->slope_elements = calloc(values, sizeof *inputs->slope_elements);
    inputs->slopes = calloc(values, sizeof *inputs->slopes);
    inputs->curve_columns = calloc(values, sizeof *inputs->curve_columns);
    inputs->curve_references = calloc(values, sizeof *inputs->curve_references);
    inputs->curve_elements = calloc(values, sizeof *inputs->curve_elements);
    inputs->slope_orders = calloc(values, sizeof *inputs->slope_orders);
    inputs->column_slots = calloc(columns, sizeof *inputs->column_slots);
    inputs->followed = calloc(columns, sizeof *inputs->followed);
    inputs->signal_of = calloc(desc->var_count, sizeof *inputs->signal_of);
    inputs->column_of = calloc(desc->var_count, sizeof *inputs->column_of);
    bool all = inputs->moving.variables && inputs->held.variables && inputs->slope_columns &&
               inputs->slope_references && inputs->slope_elements && inputs->slopes && inputs->slope_orders &&
               inputs->curve_columns && inputs->curve_references && inputs->curve_elements && inputs->column_slots &&
               inputs->followed && inputs->signal_of && inputs->column_of;
    return all ? TUTTI_OK : tt_fail_memory();
}

static void inputs_collect(struct tt_inputs *inputs, const struct tt_description *desc, enum tt_interface_kind kind,
                           bool at_points)
{
    for (size_t c = 0; c < tt_trajectory_count(inputs->trajectory); c++) {
        const struct tt_trajectory_input *input = tt_trajectory_input(inputs->trajectory, c);
        struct tt_input_set *set = input->continuous ? &inputs->moving : &inputs->held;
        if (inputs->signal_of[input->variable] == 0) { /* columns of one array share a variable */
            set->variables[set->count++] = input->variable;
            inputs->signal_of[input->variable] = set->count;
            inputs->column_of[input->variable] = c + 1;
        }
        inputs->continuous += input->continuous ? input->width : 0;
        inputs->followed[c] = input_has_slope(desc, input, kind) && !at_points;
        for (size_t k = 0; k < input->width && input->curved && kind == TUTTI_ME; k++) {
            inputs->curve_columns[inputs->curve_count] = c;
            inputs->curve_elements[inputs->curve_count] = k;
            inputs->curve_references[inputs->curve_count++] = desc->vars[input->variable].reference;
        }
        if (input->curved && kind == TUTTI_ME)
            continue;
        for (size_t k = 0; k < input->width && inputs->followed[c]; k++) {
            inputs->slope_columns[inputs->slope_count] = c;
            inputs->slope_elements[inputs->slope_count] = k;
            inputs->slope_orders[inputs->slope_count] = 1;
            inputs->slope_references[inputs->slope_count++] = desc->vars[input->variable].reference;
        }
    }
}

enum tutti_err tt_inputs_open(struct tt_inputs *inputs, const struct tt_trajectory_file *files, size_t file_count,
                              const struct tt_description *desc, enum tt_interface_kind kind,
                              const struct tt_trajectory_input *columns, size_t count)
{
    bool by_update = desc->fmi == 3 && kind == TUTTI_CS;
    bool at_points = kind == TUTTI_CS && inputs->choice.at >= TUTTI_INPUT_BEGIN;
    *inputs = (struct tt_inputs){.choice = inputs->choice,
                                 .kind = kind,
                                 .at = inputs->choice.at,
                                 .now = {.straight_until = -INFINITY,
                                         .event = INFINITY,
                                         .kink = INFINITY,
                                         .row = INFINITY,
                                         .counted = -INFINITY,
                                         .told = -INFINITY}};
    TRY(tt_trajectory_new(&inputs->trajectory, files, file_count, desc, columns, count, inputs->choice.form));
    TRY(inputs_allocate(inputs, desc));
    inputs_collect(inputs, desc, kind, at_points);
    inputs->asked = by_update && inputs->slope_count == inputs->continuous &&
                    (desc->interfaces[TUTTI_CS].flags & TUTTI_CAN_INTERMEDIATE);
    return TUTTI_OK;
}

void tt_inputs_close(struct tt_inputs *inputs)
{
    tt_signals_fini(&inputs->moving.signals);
    tt_signals_fini(&inputs->held.signals);
    tt_trajectory_free(inputs->trajectory);
    free(inputs->moving.variables);
    free(inputs->held.variables);
    free(inputs->slope_columns);
    free(inputs->slope_references);
    free(inputs->slope_elements);
    free(inputs->slopes);
    free(inputs->curve_columns);
    free(inputs->curve_references);
    free(inputs->curve_elements);
    free(inputs->slope_orders);
    free(inputs->column_slots);
    free(inputs->followed);
    free(inputs->signal_of);
    free(inputs->column_of);
    *inputs = (struct tt_inputs){0};
}

/* The block of one variable among others of its type. */
static struct tt_block inputs_block_of(struct tt_signals *signals, size_t n, const struct tt_description *desc,
                                       uint32_t variable, uint32_t *reference)
{
    enum tt_type type = (enum tt_type)desc->vars[variable].type;
    struct tt_block block = {type, 1, signals->extents[n], reference, signals->slots[n], NULL};
    *reference = desc->vars[variable].reference;
    for (size_t b = 0; b < signals->block_count; b++)
        if (signals->blocks[b].type == type && signals->blocks[b].owned)
            block.owned = tt_signals_owned_at(signals->blocks[b].owned,
                                              (size_t)((char *)signals->slots[n] - (char *)signals->blocks[b].values) /
                                                  signals->sizes[n]);
    return block;
}

/* Elements that the file does not drive stay as the FMU has them; only 3.0 has arrays, and lets us read now. */
static enum tutti_err inputs_lay_out(struct tt_input_set *set, struct tt_unit *unit, const struct tt_setting *settings,
                                     size_t count)
{
    const struct tt_description *desc = unit->fmu->desc;
    TRY(tt_unit_signals(unit, set->variables, set->count, &set->signals));
    for (size_t i = 0; i < set->count; i++) {
        uint32_t reference;
        struct tt_block block = inputs_block_of(&set->signals, i, desc, set->variables[i], &reference);
        if (desc->vars[set->variables[i]].dimension_count > 0 && block.value_count > 0)
            TRY(tt_unit_get_start(unit, set->variables[i], settings, count, &block));
    }
    return TUTTI_OK;
}

static enum tutti_err inputs_find_slot(const struct tt_inputs *inputs, const struct tt_unit *unit, size_t column,
                                       void **slot)
{
    const struct tt_trajectory_input *input = tt_trajectory_input(inputs->trajectory, column);
    const struct tt_signals *signals = input->continuous ? &inputs->moving.signals : &inputs->held.signals;
    const char *file = tt_trajectory_file(inputs->trajectory, column);
    size_t signal = inputs->signal_of[input->variable] - 1, place = 0;
    if (input->element.count > 0)
        TRY(tt_fail_context(tt_unit_element(unit, input->variable, &input->element, &place), "%s", file));
    else if (signals->extents[signal] != input->width)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: %zu values for '%s', and the array has %zu", file, input->width,
                       unit->fmu->desc->vars[input->variable].name, signals->extents[signal]);
    *slot = (char *)signals->slots[signal] + place * signals->sizes[signal];
    return TUTTI_OK;
}

/* For set_input_curves of a unit. */
static double evaluate_input_curve(void *context, size_t curve, double t, int order)
{
    struct tt_inputs *inputs = context;
    size_t column = inputs->curve_columns[curve];
    bool after = t <= inputs->now.step_start;
    size_t place = tt_trajectory_input(inputs->trajectory, column)->width > 1 ? inputs->curve_elements[curve] : 0;
    return order == 0 ? tt_trajectory_value(inputs->trajectory, column, place, t, after)
                      : tt_trajectory_slope(inputs->trajectory, column, place, t, after);
}

enum tutti_err tt_inputs_attach_curves(struct tt_inputs *inputs, struct tt_unit *unit)
{
    for (size_t i = 0; i < inputs->curve_count; i++) {
        const struct tt_trajectory_input *input = tt_trajectory_input(inputs->trajectory, inputs->curve_columns[i]);
        if (input->element.count > 0)
            TRY(tt_unit_element(unit, input->variable, &input->element, &inputs->curve_elements[i]));
    }
    const struct tt_input_curves curves = {.count = inputs->curve_count,
                                           .references = inputs->curve_references,
                                           .elements = inputs->curve_elements,
                                           .at = evaluate_input_curve,
                                           .context = inputs};
    return inputs->curve_count > 0 ? unit->kind->set_input_curves(unit, &curves) : TUTTI_OK;
}

enum tutti_err tt_inputs_bind(struct tt_inputs *inputs, struct tt_unit *unit, const struct tt_setting *settings,
                              size_t count)
{
    TRY(inputs_lay_out(&inputs->moving, unit, settings, count));
    TRY(inputs_lay_out(&inputs->held, unit, settings, count));
    for (size_t c = 0; c < tt_trajectory_count(inputs->trajectory); c++) {
        void *slot = NULL;
        TRY(inputs_find_slot(inputs, unit, c, &slot));
        tt_trajectory_bind(inputs->trajectory, c, slot);
        inputs->column_slots[c] = slot;
    }
    for (size_t i = 0; i < inputs->slope_count; i++) {
        const struct tt_trajectory_input *input = tt_trajectory_input(inputs->trajectory, inputs->slope_columns[i]);
        if (input->element.count > 0)
            TRY(tt_unit_element(unit, input->variable, &input->element, &inputs->slope_elements[i]));
    }
    return tt_inputs_attach_curves(inputs, unit);
}

const void *tt_inputs_slot(const struct tt_inputs *inputs, uint32_t variable, size_t place)
{
    size_t first = inputs->column_of ? inputs->column_of[variable] : 0;
    if (first == 0)
        return NULL;
    const struct tt_trajectory_input *input = tt_trajectory_input(inputs->trajectory, first - 1);
    const struct tt_signals *signals = input->continuous ? &inputs->moving.signals : &inputs->held.signals;
    size_t signal = inputs->signal_of[variable] - 1;
    return (const char *)signals->slots[signal] + place * signals->sizes[signal];
}

void tt_inputs_pack(const struct tt_inputs *inputs, struct tt_byte_writer *parcel)
{
    tt_signals_pack(&inputs->moving.signals, parcel);
    tt_signals_pack(&inputs->held.signals, parcel);
}

enum tutti_err tt_inputs_unpack(struct tt_inputs *inputs, struct tt_byte_reader *in)
{
    TRY(tt_signals_unpack(&inputs->moving.signals, in));
    return tt_signals_unpack(&inputs->held.signals, in);
}

const char *tt_inputs_file_name(const struct tt_inputs *inputs, uint32_t variable)
{
    return tt_trajectory_file(inputs->trajectory, inputs->column_of[variable] - 1);
}

void tt_inputs_sample_moving(void *context, double t, double *values)
{
    struct tt_inputs *inputs = context;
    for (size_t i = 0; i < inputs->slope_count; i++)
        values[i] =
            tt_trajectory_value(inputs->trajectory, inputs->slope_columns[i], 0, t, t <= inputs->now.step_start);
}

void tt_inputs_sample(struct tt_inputs *inputs, double t, bool after)
{
    tt_trajectory_sample(inputs->trajectory, t, after);
}

static enum tutti_err try_input_set(const struct tt_input_set *set, struct tt_unit *unit, bool *refused)
{
    for (size_t b = 0; b < set->signals.block_count; b++)
        TRY(unit->kind->offer(unit, &set->signals.blocks[b], refused));
    return TUTTI_OK;
}

enum tutti_err tt_inputs_try_set(const struct tt_inputs *inputs, struct tt_unit *unit, bool *refused)
{
    TRY(try_input_set(&inputs->moving, unit, refused));
    return try_input_set(&inputs->held, unit, refused);
}

enum tutti_err tt_inputs_set_all(struct tt_inputs *inputs, struct tt_unit *unit)
{
    inputs->now.held_changed = false;
    inputs->now.straight_until = -INFINITY; /* what is set has no slope any more */
    TRY(tt_unit_set(unit, &inputs->moving.signals));
    return tt_unit_set(unit, &inputs->held.signals);
}

/* Returns true if a jump is at the unit's time t. */
static bool jump_is_reached(const struct tt_inputs *inputs, double t, double event, double span)
{
    return tt_time_reached(t + inputs->slack, event, span);
}

/* Jumps that the step to t has passed by: of those, the unit sees the last one at t. */
static void count_passed_jumps(struct tt_inputs *inputs, double t, double span)
{
    double event = inputs->now.event;
    if (t <= inputs->now.counted)
        return;
    inputs->now.counted = t;
    while (event + inputs->slack < t && !tt_time_same(event, t, span)) {
        double next = tt_trajectory_next_event(inputs->trajectory, event);
        bool seen = !jump_is_reached(inputs, t, next, span);
        inputs->now.late += seen;
        inputs->now.unseen += !seen;
        event = next;
    }
}

/* Returns true if the unit knows how this column moves inside a step. */
static bool column_is_followed(const struct tt_inputs *inputs, const struct tt_unit *unit, size_t column)
{
    return inputs->followed[column] && (inputs->asked || unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
}

bool tt_inputs_are_held(const struct tt_inputs *inputs, uint32_t can)
{
    bool takes = inputs->asked || (can & TUTTI_CAN_INPUT_DERIVATIVES);
    return inputs->kind == TUTTI_CS && inputs->continuous > 0 && !(takes && inputs->slope_count == inputs->continuous);
}

bool tt_inputs_depend_on_steps(const struct tt_inputs *inputs, uint32_t can)
{
    if (tt_inputs_are_held(inputs, can))
        return true;
    bool curved = false;
    for (size_t c = 0; c < tt_trajectory_count(inputs->trajectory); c++)
        curved = curved || tt_trajectory_input(inputs->trajectory, c)->curved;
    return inputs->kind == TUTTI_CS && curved && !inputs->asked;
}

/* Returns true if it is driven by a column that the unit does not follow. */
static bool input_is_held(const struct tt_inputs *inputs, const struct tt_unit *unit, uint32_t variable)
{
    size_t column = inputs->column_of[variable];
    return column > 0 && tt_trajectory_input(inputs->trajectory, column - 1)->continuous &&
           !column_is_followed(inputs, unit, column - 1);
}

bool tt_inputs_feed_through(const struct tt_inputs *inputs, const struct tt_unit *unit)
{
    const struct tt_unknowns *outputs = &unit->fmu->desc->outputs;
    for (uint32_t i = 0; i < outputs->count; i++) {
        const struct tt_unknown *output = &outputs->items[i];
        if (!output->has_dependencies || unit->undeclared)
            return true;
        for (uint32_t d = 0; d < output->dependency_count; d++)
            if (input_is_held(inputs, unit, output->dependencies[d]))
                return true;
    }
    return false;
}

void tt_inputs_update(struct tt_inputs *inputs, const struct tt_unit *unit, double t, double span)
{
    count_passed_jumps(inputs, t, span);
    inputs->now.jumped = jump_is_reached(inputs, t, inputs->now.event, span);
    inputs->now.time = t;
    double event = inputs->now.event;
    while (jump_is_reached(inputs, t, event, span)) {
        inputs->now.time = fmax(t, event);
        event = tt_trajectory_next_event(inputs->trajectory, event);
    }
    for (size_t c = 0; c < tt_trajectory_count(inputs->trajectory); c++)
        if (column_is_followed(inputs, unit, c))
            tt_trajectory_sample_column(inputs->trajectory, c, inputs->now.time, false);
    inputs->now.held_changed = inputs->now.held_changed || inputs->now.jumped;
}

enum tutti_err tt_inputs_apply_jump(struct tt_inputs *inputs, struct tt_unit *unit)
{
    if (!inputs->now.jumped)
        return TUTTI_OK;
    inputs->now.jumped = false;
    tt_inputs_sample(inputs, inputs->now.time, true);
    return tt_inputs_set_all(inputs, unit);
}

/* Units that keep slopes receive them once per straight stretch: setting an input again would look like a change. */
static bool unit_keeps_slopes(const struct tt_inputs *inputs, const struct tt_unit *unit)
{
    return unit->keeps_slopes && inputs->slope_count + inputs->curve_count == inputs->continuous;
}

void tt_inputs_find_next(struct tt_inputs *inputs, const struct tt_unit *unit)
{
    inputs->now.event = tt_trajectory_next_event(inputs->trajectory, inputs->now.time);
    inputs->now.kink = unit_keeps_slopes(inputs, unit) ? tt_trajectory_next_kink(inputs->trajectory, inputs->now.time)
                                                       : -INFINITY;
    inputs->now.row = inputs->ends_at_rows
                          ? tt_trajectory_next_kink(inputs->trajectory, inputs->now.time + inputs->splinter)
                          : INFINITY;
}

/* The value of an input that moves; a cell may hold all elements of an array. */
static double input_slope(const struct tt_inputs *inputs, size_t i, double t, bool after)
{
    size_t column = inputs->slope_columns[i];
    size_t place = tt_trajectory_input(inputs->trajectory, column)->width > 1 ? inputs->slope_elements[i] : 0;
    return tt_trajectory_value(inputs->trajectory, column, place, t, after);
}

static enum tutti_err apply_input_slopes(struct tt_inputs *inputs, struct tt_unit *unit, double t, double end)
{
    if (inputs->slope_count == 0)
        return TUTTI_OK;
    /* The chord: right at both ends, whatever kinks the file has between them. */
    for (size_t i = 0; i < inputs->slope_count; i++) {
        double now = input_slope(inputs, i, t, true);
        inputs->slopes[i] = end < INFINITY ? (input_slope(inputs, i, end, false) - now) / (end - t) : 0;
    }
    return unit->kind->set_input_derivatives(unit, inputs->slope_references, inputs->slope_elements,
                                             inputs->slope_count, inputs->slope_orders, inputs->slopes);
}

/* A row counts as missed if the line that spans the step is this part of the column's range away from it. */
static const double FAR = 0.01;

static bool row_is_far(struct tt_inputs *inputs, double row, double t, double target)
{
    struct tt_trajectory *trajectory = inputs->trajectory;
    for (size_t c = 0; c < tt_trajectory_count(trajectory); c++) {
        if (!tt_trajectory_input(trajectory, c)->continuous)
            continue; /* of an array, its first value stands for all */
        double begin = tt_trajectory_value(trajectory, c, 0, t, true);
        double end = tt_trajectory_value(trajectory, c, 0, target, false);
        double line = begin + (end - begin) * ((row - t) / (target - t));
        double value = tt_trajectory_value(trajectory, c, 0, row, true);
        if (fabs(value - line) > FAR * tt_trajectory_range(trajectory, c))
            return true;
    }
    return false;
}

static void count_bent_rows(struct tt_inputs *inputs, const struct tt_unit *unit, double t, double target)
{
    if (unit->kind->interface != TUTTI_CS || inputs->asked || inputs->continuous == 0)
        return;
    double row = tt_trajectory_next_kink(inputs->trajectory, t);
    while (row < target) {
        inputs->now.bent += row_is_far(inputs, row, t, target);
        row = tt_trajectory_next_kink(inputs->trajectory, row);
    }
}

/* Returns the time of the step whose value a unit gets that does not follow a line; at its end, the row for that. The
 * default is the end: outputs there then correspond to the inputs there. */
static double input_sample_time(struct tt_inputs *inputs, double t, double target)
{
    double next;
    switch (inputs->at) {
    case TUTTI_INPUT_SLOPE:
    case TUTTI_INPUT_BEGIN: return t;
    case TUTTI_INPUT_MIDDLE: return t + (target - t) / 2;
    case TUTTI_INPUT_AUTO:
    case TUTTI_INPUT_END: break;
    }
    next = tt_trajectory_next_event(inputs->trajectory, target);
    return next <= target + inputs->slack ? next : target;
}

/* Columns that the unit does not follow get their values of a later time than the step's beginning: those of before a jump
 * there. Held ones change at their rows, in units without event mode earlier if that is asked for: after the jump. */
static void sample_step_values(struct tt_inputs *inputs, const struct tt_unit *unit, double t, double point)
{
    bool held = inputs->choice.at != TUTTI_INPUT_AUTO && !unit->has_events;
    for (size_t c = 0; c < tt_trajectory_count(inputs->trajectory); c++) {
        bool continuous = tt_trajectory_input(inputs->trajectory, c)->continuous;
        if (continuous && !column_is_followed(inputs, unit, c))
            tt_trajectory_sample_column(inputs->trajectory, c, point, false);
        else if (!continuous && held)
            tt_trajectory_sample_column(inputs->trajectory, c, point, true);
    }
    if (!held)
        return;
    double from = fmax(t, inputs->now.told);
    inputs->now.held_changed = inputs->now.held_changed || tt_trajectory_next_event(inputs->trajectory, from) <= point;
    inputs->now.told = point;
}

enum tutti_err tt_inputs_apply(struct tt_inputs *inputs, struct tt_unit *unit, double t, double target)
{
    bool keeps = unit_keeps_slopes(inputs, unit);
    double point = unit->kind->interface == TUTTI_CS ? input_sample_time(inputs, t, target) : t;
    count_bent_rows(inputs, unit, t, target);
    TRY(tt_trajectory_check(inputs->trajectory, t));
    TRY(tt_trajectory_check(inputs->trajectory, target));
    tt_inputs_sample(inputs, t, true);
    if (point > t)
        sample_step_values(inputs, unit, t, point);
    inputs->now.step_start = t;
    if (!keeps || t >= inputs->now.straight_until)
        TRY(tt_unit_set(unit, &inputs->moving.signals));
    if (inputs->now.held_changed)
        TRY(tt_unit_set(unit, &inputs->held.signals));
    inputs->now.held_changed = false;
    if (!(unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || inputs->slope_count + inputs->curve_count == 0)
        return TUTTI_OK;
    if (!keeps) {
        TRY(apply_input_slopes(inputs, unit, t, target));
        if (unit->can & TUTTI_CAN_INPUT_DERIVATIVES || point <= t)
            return TUTTI_OK;
        sample_step_values(inputs, unit, t, point); /* they were refused */
        return tt_unit_set(unit, &inputs->moving.signals);
    }
    if (t < inputs->now.straight_until)
        return TUTTI_OK;
    inputs->now.straight_until = tt_trajectory_next_kink(inputs->trajectory, t);
    return apply_input_slopes(inputs, unit, t, inputs->now.straight_until);
}
