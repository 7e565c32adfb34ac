/* SPDX-License-Identifier: MIT */
#include "signals/inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/time.h"

enum tutti_err tutti_inputs_choose(const struct tutti_run_options *options, struct tutti_inputs_choice *choice)
{
    static const enum tutti_trajectory_form forms[] = {[TUTTI_INTERPOLATE_LINEAR] = TUTTI_TRAJECTORY_LINEAR,
                                                       [TUTTI_INTERPOLATE_HOLD] = TUTTI_TRAJECTORY_HELD,
                                                       [TUTTI_INTERPOLATE_CUBIC] = TUTTI_TRAJECTORY_CUBIC};
    int how, at;
    TRY(tutti_option_choose("interpolate", options->interpolate, &how));
    TRY(tutti_option_choose("input-at", options->input_at, &at));
    *choice = (struct tutti_inputs_choice){.form = forms[how], .at = (enum tutti_input_at)at};
    return TUTTI_OK;
}

/* Which columns the unit can follow inside a step: by input derivatives, or (FMI 3.0 Co-Simulation) where
 * intermediateUpdate says so. The unit decides later whether its FMU really takes them. */
static bool has_slope(const struct tutti_desc *desc, const struct tutti_trajectory_input *input,
                      enum tutti_interface_kind kind)
{
    const struct tutti_var *var = &desc->vars[input->variable];
    if (kind == TUTTI_ME || !input->continuous)
        return input->continuous;
    return var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0 && (desc->fmi < 3 || var->intermediate);
}

static enum tutti_err allocate(struct tutti_inputs *inputs, const struct tutti_desc *desc)
{
    size_t columns = tutti_trajectory_count(inputs->trajectory) + 1, values = 1;
    for (size_t c = 0; c + 1 < columns; c++)
        values += tutti_trajectory_input(inputs->trajectory, c)->width;
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
    return all ? TUTTI_OK : tutti_fail_memory();
}

static void collect(struct tutti_inputs *inputs, const struct tutti_desc *desc, enum tutti_interface_kind kind,
                    bool at_points)
{
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++) {
        const struct tutti_trajectory_input *input = tutti_trajectory_input(inputs->trajectory, c);
        struct tutti_input_set *set = input->continuous ? &inputs->moving : &inputs->held;
        if (inputs->signal_of[input->variable] == 0) { /* columns of one array share a variable */
            set->variables[set->count++] = input->variable;
            inputs->signal_of[input->variable] = set->count;
            inputs->column_of[input->variable] = c + 1;
        }
        inputs->continuous += input->continuous ? input->width : 0;
        inputs->followed[c] = has_slope(desc, input, kind) && !at_points;
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

enum tutti_err tutti_inputs_open(struct tutti_inputs *inputs, const struct tutti_trajectory_file *files,
                                 size_t file_count, const struct tutti_desc *desc, enum tutti_interface_kind kind,
                                 const struct tutti_trajectory_input *columns, size_t count)
{
    bool by_update = desc->fmi == 3 && kind == TUTTI_CS;
    bool at_points = kind == TUTTI_CS && inputs->choice.at >= TUTTI_INPUT_BEGIN;
    *inputs = (struct tutti_inputs){.choice = inputs->choice,
                                    .kind = kind,
                                    .at = inputs->choice.at,
                                    .now = {.straight_until = -INFINITY,
                                            .event = INFINITY,
                                            .kink = INFINITY,
                                            .row = INFINITY,
                                            .counted = -INFINITY,
                                            .told = -INFINITY}};
    TRY(tutti_trajectory_new(&inputs->trajectory, files, file_count, desc, columns, count, inputs->choice.form));
    TRY(allocate(inputs, desc));
    collect(inputs, desc, kind, at_points);
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
    *inputs = (struct tutti_inputs){0};
}

/* The block of one variable among others of its type. */
static struct tutti_block block_of(struct tutti_signals *signals, size_t n, const struct tutti_desc *desc,
                                   uint32_t variable, uint32_t *reference)
{
    enum tutti_type type = (enum tutti_type)desc->vars[variable].type;
    struct tutti_block block = {type, 1, signals->extents[n], reference, signals->slots[n], NULL};
    *reference = desc->vars[variable].reference;
    for (size_t b = 0; b < signals->block_count; b++)
        if (signals->blocks[b].type == type && signals->blocks[b].owned)
            block.owned = tutti_owned_at(signals->blocks[b].owned,
                                         (size_t)((char *)signals->slots[n] - (char *)signals->blocks[b].values) /
                                             signals->sizes[n]);
    return block;
}

/* Elements that the file does not drive stay as the FMU has them; only 3.0 has arrays, and lets us read now. */
static enum tutti_err lay_out(struct tutti_input_set *set, struct tutti_unit *unit,
                              const struct tutti_setting *settings, size_t count)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    TRY(tutti_unit_signals(unit, set->variables, set->count, &set->signals));
    for (size_t i = 0; i < set->count; i++) {
        uint32_t reference;
        struct tutti_block block = block_of(&set->signals, i, desc, set->variables[i], &reference);
        if (desc->vars[set->variables[i]].dimension_count > 0 && block.value_count > 0)
            TRY(tutti_unit_get_start(unit, set->variables[i], settings, count, &block));
    }
    return TUTTI_OK;
}

/* The slot of a column's input. */
static enum tutti_err find_slot(const struct tutti_inputs *inputs, const struct tutti_unit *unit, size_t column,
                                void **slot)
{
    const struct tutti_trajectory_input *input = tutti_trajectory_input(inputs->trajectory, column);
    const struct tutti_signals *signals = input->continuous ? &inputs->moving.signals : &inputs->held.signals;
    const char *file = tutti_trajectory_file(inputs->trajectory, column);
    size_t signal = inputs->signal_of[input->variable] - 1, place = 0;
    if (input->element.count > 0)
        TRY(tutti_fail_context(tutti_unit_element(unit, input->variable, &input->element, &place), "%s", file));
    else if (signals->extents[signal] != input->width)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: %zu values for '%s', and the array has %zu", file, input->width,
                          unit->fmu->desc->vars[input->variable].name, signals->extents[signal]);
    *slot = (char *)signals->slots[signal] + place * signals->sizes[signal];
    return TUTTI_OK;
}

/* For set_input_curves of a unit. */
static double curve_at(void *context, size_t curve, double t, int order)
{
    struct tutti_inputs *inputs = context;
    size_t column = inputs->curve_columns[curve];
    bool after = t <= inputs->now.step_start;
    size_t place = tutti_trajectory_input(inputs->trajectory, column)->width > 1 ? inputs->curve_elements[curve] : 0;
    return order == 0 ? tutti_trajectory_value(inputs->trajectory, column, place, t, after)
                      : tutti_trajectory_slope(inputs->trajectory, column, place, t, after);
}

enum tutti_err tutti_inputs_follow(struct tutti_inputs *inputs, struct tutti_unit *unit)
{
    for (size_t i = 0; i < inputs->curve_count; i++) {
        const struct tutti_trajectory_input *input =
            tutti_trajectory_input(inputs->trajectory, inputs->curve_columns[i]);
        if (input->element.count > 0)
            TRY(tutti_unit_element(unit, input->variable, &input->element, &inputs->curve_elements[i]));
    }
    const struct tutti_input_curves curves = {.count = inputs->curve_count,
                                              .references = inputs->curve_references,
                                              .elements = inputs->curve_elements,
                                              .at = curve_at,
                                              .context = inputs};
    return inputs->curve_count > 0 ? unit->kind->set_input_curves(unit, &curves) : TUTTI_OK;
}

enum tutti_err tutti_inputs_bind(struct tutti_inputs *inputs, struct tutti_unit *unit,
                                 const struct tutti_setting *settings, size_t count)
{
    TRY(lay_out(&inputs->moving, unit, settings, count));
    TRY(lay_out(&inputs->held, unit, settings, count));
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++) {
        void *slot = NULL;
        TRY(find_slot(inputs, unit, c, &slot));
        tutti_trajectory_bind(inputs->trajectory, c, slot);
        inputs->column_slots[c] = slot;
    }
    for (size_t i = 0; i < inputs->slope_count; i++) {
        const struct tutti_trajectory_input *input =
            tutti_trajectory_input(inputs->trajectory, inputs->slope_columns[i]);
        if (input->element.count > 0)
            TRY(tutti_unit_element(unit, input->variable, &input->element, &inputs->slope_elements[i]));
    }
    return tutti_inputs_follow(inputs, unit);
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

void tutti_inputs_pack(const struct tutti_inputs *inputs, struct tutti_parcel *parcel)
{
    tutti_parcel_put_block(parcel, &inputs->now, sizeof inputs->now);
    tutti_signals_pack(&inputs->moving.signals, parcel);
    tutti_signals_pack(&inputs->held.signals, parcel);
}

enum tutti_err tutti_inputs_unpack(struct tutti_inputs *inputs, struct tutti_unparcel *in)
{
    if (!tutti_unparcel_into(in, &inputs->now, sizeof inputs->now))
        return tutti_fail(TUTTI_ERR_FORMAT, "a unit's inputs are not as they should be");
    TRY(tutti_signals_unpack(&inputs->moving.signals, in));
    return tutti_signals_unpack(&inputs->held.signals, in);
}

const char *tutti_inputs_file(const struct tutti_inputs *inputs, uint32_t variable)
{
    return tutti_trajectory_file(inputs->trajectory, inputs->column_of[variable] - 1);
}

void tutti_inputs_sample_moving(void *context, double t, double *values)
{
    struct tutti_inputs *inputs = context;
    for (size_t i = 0; i < inputs->slope_count; i++)
        values[i] =
            tutti_trajectory_value(inputs->trajectory, inputs->slope_columns[i], 0, t, t <= inputs->now.step_start);
}

void tutti_inputs_sample(struct tutti_inputs *inputs, double t, bool after)
{
    tutti_trajectory_sample(inputs->trajectory, t, after);
}

static enum tutti_err offer_set(const struct tutti_input_set *set, struct tutti_unit *unit, bool *refused)
{
    for (size_t b = 0; b < set->signals.block_count; b++)
        TRY(unit->kind->offer(unit, &set->signals.blocks[b], refused));
    return TUTTI_OK;
}

enum tutti_err tutti_inputs_offer(const struct tutti_inputs *inputs, struct tutti_unit *unit, bool *refused)
{
    TRY(offer_set(&inputs->moving, unit, refused));
    return offer_set(&inputs->held, unit, refused);
}

enum tutti_err tutti_inputs_set_all(struct tutti_inputs *inputs, struct tutti_unit *unit)
{
    inputs->now.held_changed = false;
    inputs->now.straight_until = -INFINITY; /* what is set has no slope any more */
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
    double event = inputs->now.event;
    if (t <= inputs->now.counted)
        return;
    inputs->now.counted = t;
    while (event + inputs->slack < t && !tutti_time_same(event, t, span)) {
        double next = tutti_trajectory_next_event(inputs->trajectory, event);
        bool seen = !has_come(inputs, t, next, span);
        inputs->now.late += seen;
        inputs->now.unseen += !seen;
        event = next;
    }
}

/* Does the unit know how this column moves inside of a step? */
static bool is_followed(const struct tutti_inputs *inputs, const struct tutti_unit *unit, size_t column)
{
    return inputs->followed[column] && (inputs->asked || unit->can & TUTTI_CAN_INPUT_DERIVATIVES);
}

bool tutti_inputs_are_held(const struct tutti_inputs *inputs, uint32_t can)
{
    bool takes = inputs->asked || (can & TUTTI_CAN_INPUT_DERIVATIVES);
    return inputs->kind == TUTTI_CS && inputs->continuous > 0 && !(takes && inputs->slope_count == inputs->continuous);
}

bool tutti_inputs_err_with_steps(const struct tutti_inputs *inputs, uint32_t can)
{
    if (tutti_inputs_are_held(inputs, can))
        return true;
    bool curved = false;
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++)
        curved = curved || tutti_trajectory_input(inputs->trajectory, c)->curved;
    return inputs->kind == TUTTI_CS && curved && !inputs->asked;
}

/* Is it driven by a column that the unit does not follow? */
static bool is_held(const struct tutti_inputs *inputs, const struct tutti_unit *unit, uint32_t variable)
{
    size_t column = inputs->column_of[variable];
    return column > 0 && tutti_trajectory_input(inputs->trajectory, column - 1)->continuous &&
           !is_followed(inputs, unit, column - 1);
}

bool tutti_inputs_show_at_once(const struct tutti_inputs *inputs, const struct tutti_unit *unit)
{
    const struct tutti_unknowns *outputs = &unit->fmu->desc->outputs;
    for (uint32_t i = 0; i < outputs->count; i++) {
        const struct tutti_unknown *output = &outputs->items[i];
        if (!output->has_dependencies || unit->undeclared)
            return true;
        for (uint32_t d = 0; d < output->dependency_count; d++)
            if (is_held(inputs, unit, output->dependencies[d]))
                return true;
    }
    return false;
}

void tutti_inputs_arrive(struct tutti_inputs *inputs, const struct tutti_unit *unit, double t, double span)
{
    count_passed(inputs, t, span);
    inputs->now.jumped = has_come(inputs, t, inputs->now.event, span);
    inputs->now.time = t;
    double event = inputs->now.event;
    while (has_come(inputs, t, event, span)) {
        inputs->now.time = fmax(t, event);
        event = tutti_trajectory_next_event(inputs->trajectory, event);
    }
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++)
        if (is_followed(inputs, unit, c))
            tutti_trajectory_sample_column(inputs->trajectory, c, inputs->now.time, false);
    inputs->now.held_changed = inputs->now.held_changed || inputs->now.jumped;
}

enum tutti_err tutti_inputs_cross(struct tutti_inputs *inputs, struct tutti_unit *unit)
{
    if (!inputs->now.jumped)
        return TUTTI_OK;
    inputs->now.jumped = false;
    tutti_inputs_sample(inputs, inputs->now.time, true);
    return tutti_inputs_set_all(inputs, unit);
}

/* Units that keep slopes are told them once per straight stretch: between these, an input that is set again would look
 * like news to a solver. */
static bool follows(const struct tutti_inputs *inputs, const struct tutti_unit *unit)
{
    return unit->keeps_slopes && inputs->slope_count + inputs->curve_count == inputs->continuous;
}

void tutti_inputs_look_ahead(struct tutti_inputs *inputs, const struct tutti_unit *unit)
{
    inputs->now.event = tutti_trajectory_next_event(inputs->trajectory, inputs->now.time);
    inputs->now.kink = follows(inputs, unit) ? tutti_trajectory_next_kink(inputs->trajectory, inputs->now.time)
                                             : -INFINITY;
    inputs->now.row = inputs->ends_at_rows
                          ? tutti_trajectory_next_kink(inputs->trajectory, inputs->now.time + inputs->splinter)
                          : INFINITY;
}

/* The value of an input that moves; a cell may hold all elements of an array. */
static double slope_value(const struct tutti_inputs *inputs, size_t i, double t, bool after)
{
    size_t column = inputs->slope_columns[i];
    size_t place = tutti_trajectory_input(inputs->trajectory, column)->width > 1 ? inputs->slope_elements[i] : 0;
    return tutti_trajectory_value(inputs->trajectory, column, place, t, after);
}

static enum tutti_err apply_slopes(struct tutti_inputs *inputs, struct tutti_unit *unit, double t, double end)
{
    if (inputs->slope_count == 0)
        return TUTTI_OK;
    /* The chord: right at both ends, whatever kinks the file has between them. */
    for (size_t i = 0; i < inputs->slope_count; i++) {
        double now = slope_value(inputs, i, t, true);
        inputs->slopes[i] = end < INFINITY ? (slope_value(inputs, i, end, false) - now) / (end - t) : 0;
    }
    return unit->kind->set_input_derivatives(unit, inputs->slope_references, inputs->slope_elements,
                                             inputs->slope_count, inputs->slope_orders, inputs->slopes);
}

/* A row counts as missed if the line that spans the step is this part of the column's range away from it. */
static const double FAR = 0.01;

static bool is_far(struct tutti_inputs *inputs, double row, double t, double target)
{
    struct tutti_trajectory *trajectory = inputs->trajectory;
    for (size_t c = 0; c < tutti_trajectory_count(trajectory); c++) {
        if (!tutti_trajectory_input(trajectory, c)->continuous)
            continue; /* of an array, its first value stands for all */
        double begin = tutti_trajectory_value(trajectory, c, 0, t, true);
        double end = tutti_trajectory_value(trajectory, c, 0, target, false);
        double line = begin + (end - begin) * ((row - t) / (target - t));
        double value = tutti_trajectory_value(trajectory, c, 0, row, true);
        if (fabs(value - line) > FAR * tutti_trajectory_range(trajectory, c))
            return true;
    }
    return false;
}

static void count_bent(struct tutti_inputs *inputs, const struct tutti_unit *unit, double t, double target)
{
    if (unit->kind->interface != TUTTI_CS || inputs->asked || inputs->continuous == 0)
        return;
    double row = tutti_trajectory_next_kink(inputs->trajectory, t);
    while (row < target) {
        inputs->now.bent += is_far(inputs, row, t, target);
        row = tutti_trajectory_next_kink(inputs->trajectory, row);
    }
}

/* The time of the step whose value a unit gets that does not follow a line; at its end, the row that means it. By itself that is
 * the end: outputs there then belong to the inputs there. */
static double point_of(struct tutti_inputs *inputs, double t, double target)
{
    double next;
    switch (inputs->at) {
    case TUTTI_INPUT_SLOPE:
    case TUTTI_INPUT_BEGIN: return t;
    case TUTTI_INPUT_MIDDLE: return t + (target - t) / 2;
    case TUTTI_INPUT_AUTO:
    case TUTTI_INPUT_END: break;
    }
    next = tutti_trajectory_next_event(inputs->trajectory, target);
    return next <= target + inputs->slack ? next : target;
}

/* Columns that the unit does not follow get their values of a later time than the step's beginning: those of before a jump
 * there. Held ones change at their rows, in units without event mode earlier if that is asked for: after the jump. */
static void sample_ahead(struct tutti_inputs *inputs, const struct tutti_unit *unit, double t, double point)
{
    bool held = inputs->choice.at != TUTTI_INPUT_AUTO && !unit->has_events;
    for (size_t c = 0; c < tutti_trajectory_count(inputs->trajectory); c++) {
        bool continuous = tutti_trajectory_input(inputs->trajectory, c)->continuous;
        if (continuous && !is_followed(inputs, unit, c))
            tutti_trajectory_sample_column(inputs->trajectory, c, point, false);
        else if (!continuous && held)
            tutti_trajectory_sample_column(inputs->trajectory, c, point, true);
    }
    if (!held)
        return;
    double from = fmax(t, inputs->now.told);
    inputs->now.held_changed = inputs->now.held_changed ||
                               tutti_trajectory_next_event(inputs->trajectory, from) <= point;
    inputs->now.told = point;
}

enum tutti_err tutti_inputs_apply(struct tutti_inputs *inputs, struct tutti_unit *unit, double t, double target)
{
    bool keeps = follows(inputs, unit);
    double point = unit->kind->interface == TUTTI_CS ? point_of(inputs, t, target) : t;
    count_bent(inputs, unit, t, target);
    TRY(tutti_trajectory_check(inputs->trajectory, t));
    TRY(tutti_trajectory_check(inputs->trajectory, target));
    tutti_inputs_sample(inputs, t, true);
    if (point > t)
        sample_ahead(inputs, unit, t, point);
    inputs->now.step_start = t;
    if (!keeps || t >= inputs->now.straight_until)
        TRY(tutti_unit_set(unit, &inputs->moving.signals));
    if (inputs->now.held_changed)
        TRY(tutti_unit_set(unit, &inputs->held.signals));
    inputs->now.held_changed = false;
    if (!(unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || inputs->slope_count + inputs->curve_count == 0)
        return TUTTI_OK;
    if (!keeps) {
        TRY(apply_slopes(inputs, unit, t, target));
        if (unit->can & TUTTI_CAN_INPUT_DERIVATIVES || point <= t)
            return TUTTI_OK;
        sample_ahead(inputs, unit, t, point); /* they were refused */
        return tutti_unit_set(unit, &inputs->moving.signals);
    }
    if (t < inputs->now.straight_until)
        return TUTTI_OK;
    inputs->now.straight_until = tutti_trajectory_next_kink(inputs->trajectory, t);
    return apply_slopes(inputs, unit, t, inputs->now.straight_until);
}
