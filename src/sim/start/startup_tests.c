/* SPDX-License-Identifier: MIT */
#include "sim/start/startup_tests.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sim/job/integration.h"
#include "unit/output_check.h"

enum { STEPS = 2 };

/* How a unit went: from the start, step by step, as far as nothing came between. */
struct rollback_trace {
    struct tt_fmi_step steps[STEPS];
    struct tt_signals outputs[STEPS];
    int made, read;
};

struct rollback_test {
    struct tt_unit *unit;
    double times[STEPS + 1];
    int count; /* of steps: STEPS, or as many as the unit can roll back at once */
    struct tt_output_check sampling;
    struct rollback_trace first, again;
};

static enum tutti_err rollback_test_allocate(struct rollback_test *stage, double tolerance)
{
    TRY(tt_output_check_init(&stage->sampling, stage->unit, tolerance));
    for (int i = 0; i < STEPS; i++) {
        TRY(tt_output_check_lay_out(&stage->sampling, stage->unit, &stage->first.outputs[i]));
        TRY(tt_output_check_lay_out(&stage->sampling, stage->unit, &stage->again.outputs[i]));
    }
    return TUTTI_OK;
}

static bool is_same_step(const struct tt_fmi_step *a, const struct tt_fmi_step *b)
{
    return a->reached == b->reached && a->discarded == b->discarded && a->event == b->event &&
           a->terminate == b->terminate;
}

/* Returns true if both results agree. */
static bool rollback_test_agrees(const struct rollback_test *stage, char *why, size_t size)
{
    const struct rollback_trace *first = &stage->first, *again = &stage->again;
    for (int i = 0; i < first->made || i < again->made; i++) {
        if (i >= first->made || i >= again->made || !is_same_step(&first->steps[i], &again->steps[i])) {
            snprintf(why, size, "a step from t = %s goes another way when it is repeated", TIME(stage->times[i]));
            return false;
        }
        const char *output =
            i < first->read ? tt_output_check_find_difference(&stage->sampling, &first->outputs[i], &again->outputs[i])
                            : NULL;
        if (output) {
            snprintf(why, size, "'%s' at t = %s is another when the step to it is repeated", output,
                     TIME(stage->times[i + 1]));
            return false;
        }
    }
    return true;
}

/* ---- trying ---- */

/* Steps from the start on. With `prior` the unit is informed that it may be rolled back to the very start. */
static enum tutti_err rollback_test_run(struct rollback_test *stage, struct rollback_trace *performance, bool prior)
{
    struct tt_unit *unit = stage->unit;
    performance->made = performance->read = 0;
    unit->back_to = prior ? stage->times[0] : INFINITY;
    for (int i = 0; i < stage->count; i++) {
        struct tt_fmi_step *step = &performance->steps[i];
        double t = stage->times[i], end = stage->times[i + 1];
        TRY(unit->kind->step(unit, t, tt_time_step(t, end), step));
        performance->made = i + 1;
        if (step->discarded || step->event || step->terminate || step->reached != end)
            break; /* what a master does about it is not tried here */
        TRY(tt_unit_get(unit, &performance->outputs[i]));
        tt_output_check_update_scale(&stage->sampling, &performance->outputs[i]);
        performance->read = i + 1;
    }
    return TUTTI_OK;
}

static enum tutti_err rollback_test_run_all(struct tt_rank *rank, const struct tt_member *member,
                                            struct rollback_test *stage, struct tt_unit_saved **saved,
                                            struct tt_startup_test_result *rehearsal)
{
    struct tt_unit *unit = stage->unit;
    TRY(unit->kind->save(unit, saved));
    TRY(rollback_test_run(stage, &stage->first, false));
    TRY(unit->kind->restore(unit, *saved));
    TRY(rollback_test_run(stage, &stage->again, true));
    TRY(unit->kind->restore(unit, *saved));
    if (rollback_test_agrees(stage, rehearsal->why, sizeof rehearsal->why))
        return stage->count == STEPS && stage->first.read == STEPS
                   ? tt_startup_tests_find_undeclared(rank, member, *saved, stage->times[1] - stage->times[0],
                                                      &rehearsal->undeclared)
                   : TUTTI_OK;
    TRY(rollback_test_run(stage, &stage->again, false));
    TRY(unit->kind->restore(unit, *saved));
    rehearsal->unsteady = rollback_test_agrees(stage, rehearsal->why, sizeof rehearsal->why);
    rehearsal->forgets = !rehearsal->unsteady;
    return TUTTI_OK;
}

/* Chooses two steps, as the run would make them; none across the stop time or an announced event. False: no room. */
static bool rollback_test_set_times(const struct tt_rank *rank, const struct tt_member *member,
                                    struct rollback_test *stage)
{
    double limit = fmin(rank->times.stop, member->now.next_event), h = rank->times.step;
    if (rank->t + STEPS * h > limit)
        h = (limit - rank->t) / STEPS;
    for (int i = 0; i <= STEPS; i++)
        stage->times[i] = i == 0 ? rank->t : i == STEPS && rank->t + STEPS * h > limit ? limit : rank->t + i * h;
    return stage->times[1] > stage->times[0] && stage->times[STEPS] > stage->times[1];
}

enum tutti_err tt_startup_tests_run(struct tt_rank *rank, struct tt_member *member,
                                    struct tt_startup_test_result *rehearsal)
{
    struct tt_unit *unit = member->unit;
    struct rollback_test stage = {.unit = unit, .count = unit->rejects ? 1 : STEPS};
    struct tt_unit_saved *saved = NULL;
    struct tt_unit_counts counts = unit->counts;
    *rehearsal = (struct tt_startup_test_result){.undeclared = TUTTI_NONE};
    double tolerance = member->setup.tolerance > 0 ? member->setup.tolerance : TUTTI_DEFAULT_RTOL;
    bool once = unit->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_ONCE_PER_PROCESS;
    if (unit->kind->interface != TUTTI_CS || !(unit->can & TUTTI_CAN_STATE) ||
        !rollback_test_set_times(rank, member, &stage) ||
        (unit->rejects && once)) /* where nothing can be read at the start afterwards */
        return TUTTI_OK;
    tt_rank_publish_unit(rank, member->component);
    rehearsal->tried = true;
    enum tutti_err err = rollback_test_allocate(&stage, tolerance);
    if (!err)
        err = rollback_test_run_all(rank, member, &stage, &saved, rehearsal);
    if ((err == TUTTI_ERR_FMU || err == TUTTI_ERR_UNSUPPORTED) && !unit->rushes) {
        rehearsal->forgets = true;
        snprintf(rehearsal->why, sizeof rehearsal->why, "%s", tutti_err_message());
        err = TUTTI_OK;
    }
    unit->kind->discard(unit, saved);
    tt_output_check_fini(&stage.sampling);
    for (int i = 0; i < STEPS; i++) {
        tt_signals_fini(&stage.first.outputs[i]);
        tt_signals_fini(&stage.again.outputs[i]);
    }
    unit->counts = counts;
    unit->back_to = INFINITY;
    return err;
}

/* The sizes of the trial steps, relative to a usual step. An input's effect by a state is smaller in the second by
 * their ratio. */
static const double SHORT = 1.0 / 1024, SHORTER = 1.0 / 4096;
/* and a direct effect is unchanged, within this factor */
static const double SAME = 0.75;
/* An input moves by this part of its size. */
static const double MOVED_BY = 1e-3;
/* Less than this part of an output's size is rounding. */
static const double ROUNDING = 1e3 * DBL_EPSILON;

/* Driven inputs, and the outputs that follow none of them by the model structure; room for values. */
struct undeclared_test {
    struct tt_unit *unit;
    const struct tt_unit_saved *saved;
    double t;
    uint32_t *inputs, *outputs;
    double *values; /* of inputs, as they are */
    uint32_t input_count, output_count;
    struct tt_signals to_set, to_get;
    double *base, *moved; /* outputs */
};

/* Where a driven input has its value that is held in a step though it moves; NULL: it is not such a one. */
static const double *undeclared_held_value(struct tt_rank *rank, const struct tt_member *member, uint32_t variable)
{
    const struct tt_unit *unit = member->unit;
    const struct tt_var *var = &unit->fmu->desc->vars[variable];
    bool moves = (unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || unit->asks_for_inputs;
    if (var->causality != TUTTI_INPUT || var->type != TUTTI_TYPE_FLOAT64 || var->variability != TUTTI_CONTINUOUS)
        return NULL;
    if (member->inputs && tt_inputs_slot(member->inputs, variable, 0))
        return tt_inputs_are_held(member->inputs, unit->can) ? tt_inputs_slot(member->inputs, variable, 0) : NULL;
    uint32_t node = tt_structure_find(rank->wires.structure, member->component, variable, false);
    bool fed = node != TUTTI_NONE && rank->wires.slots[node].count == 1 && !rank->wires.slots[node].narrow;
    return fed && !moves && tt_wires_has_numbers(&rank->wires, node) ? rank->wires.slots[node].values : NULL;
}

static bool undeclared_is_among(const uint32_t *items, uint32_t count, uint32_t item)
{
    uint32_t i = 0;
    while (i < count && items[i] != item)
        i++;
    return i < count;
}

static bool undeclared_is_state(const struct tt_description *desc, uint32_t variable)
{
    for (uint32_t i = 0; i < desc->derivatives.count; i++)
        if (desc->vars[desc->derivatives.items[i].variable].derivative_of == variable)
            return true;
    return false;
}

/* Returns true if the model structure declares that this output depends on no input. */
static bool structure_denies_dependency(const struct undeclared_test *q, const struct tt_unknown *output)
{
    const struct tt_description *desc = q->unit->fmu->desc;
    const struct tt_var *var = &desc->vars[output->variable];
    for (uint32_t d = 0; d < output->dependency_count; d++)
        if (undeclared_is_among(q->inputs, q->input_count, output->dependencies[d]))
            return false;
    return output->has_dependencies && var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS &&
           !undeclared_is_state(desc, output->variable);
}

static enum tutti_err undeclared_lay_out(struct undeclared_test *q, struct tt_rank *rank,
                                         const struct tt_member *member)
{
    const struct tt_description *desc = q->unit->fmu->desc;
    q->inputs = calloc((size_t)desc->var_count + 1, sizeof *q->inputs);
    q->values = calloc((size_t)desc->var_count + 1, sizeof *q->values);
    q->outputs = calloc((size_t)desc->outputs.count + 1, sizeof *q->outputs);
    if (!q->inputs || !q->values || !q->outputs)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++) {
        const double *value = undeclared_held_value(rank, member, v);
        if (!value)
            continue;
        q->values[q->input_count] = *value;
        q->inputs[q->input_count++] = v;
    }
    for (uint32_t i = 0; i < desc->outputs.count && q->input_count > 0; i++)
        if (structure_denies_dependency(q, &desc->outputs.items[i]))
            q->outputs[q->output_count++] = desc->outputs.items[i].variable;
    if (q->output_count == 0)
        return TUTTI_OK;
    TRY(tt_unit_signals(q->unit, q->inputs, q->input_count, &q->to_set));
    TRY(tt_unit_signals(q->unit, q->outputs, q->output_count, &q->to_get));
    for (uint32_t i = 0; i < q->input_count; i++)
        if (q->to_set.extents[i] != 1) /* arrays are not tried */
            q->output_count = 0;
    q->base = calloc(2 * (size_t)q->output_count, sizeof *q->base);
    q->moved = q->base + q->output_count;
    return q->base ? TUTTI_OK : tt_fail_memory();
}

/* Returns the perturbation of an input, within its bounds. */
static double input_perturbation(const struct undeclared_test *q, uint32_t i)
{
    const struct tt_bounds *bounds = q->unit->fmu->desc->vars[q->inputs[i]].bounds;
    double nominal = bounds && bounds->has_nominal ? fabs(bounds->nominal) : 1;
    double size = MOVED_BY * fmax(fabs(q->values[i]), nominal);
    return bounds && q->values[i] + size > bounds->max ? -size : size;
}

/* A step, the outputs at its end, and back. *done: nothing came between. */
static enum tutti_err undeclared_step(struct undeclared_test *q, double h, bool moves, double *outputs, bool *done)
{
    struct tt_unit *unit = q->unit;
    struct tt_fmi_step made = {.reached = q->t};
    for (uint32_t i = 0; i < q->input_count; i++)
        *(double *)q->to_set.slots[i] = q->values[i] + (moves ? input_perturbation(q, i) : 0);
    TRY(tt_unit_set(unit, &q->to_set));
    TRY(unit->kind->step(unit, q->t, h, &made));
    *done = !made.discarded && !made.event && !made.terminate && made.reached >= q->t + h;
    if (*done)
        TRY(tt_unit_get(unit, &q->to_get));
    for (uint32_t i = 0; i < q->output_count && *done; i++)
        outputs[i] = *(const double *)q->to_get.slots[i];
    return unit->kind->restore(unit, q->saved);
}

/* How far each output comes by the move of the inputs, into q->moved; 0 for what is rounding. */
static enum tutti_err undeclared_try_step(struct undeclared_test *q, double h, bool *done)
{
    TRY(undeclared_step(q, h, false, q->base, done));
    if (*done)
        TRY(undeclared_step(q, h, true, q->moved, done));
    for (uint32_t i = 0; i < q->output_count && *done; i++) {
        double size = fmax(fabs(q->base[i]), fabs(q->moved[i])), difference = fabs(q->moved[i] - q->base[i]);
        q->moved[i] = difference > ROUNDING * size ? difference : 0;
    }
    return TUTTI_OK;
}

static bool any_output_moved(const struct undeclared_test *q)
{
    for (uint32_t i = 0; i < q->output_count; i++)
        if (q->moved[i] > 0)
            return true;
    return false;
}

static enum tutti_err undeclared_try_steps(struct undeclared_test *q, double h, uint32_t *output)
{
    bool done;
    TRY(undeclared_try_step(q, SHORT * h, &done));
    if (!done || !any_output_moved(q))
        return TUTTI_OK;
    double *first = calloc(q->output_count, sizeof *first);
    if (!first)
        return tt_fail_memory();
    memcpy(first, q->moved, q->output_count * sizeof *first);
    enum tutti_err err = undeclared_try_step(q, SHORTER * h, &done);
    for (uint32_t i = 0; i < q->output_count && !err && done && *output == TUTTI_NONE; i++)
        if (first[i] > 0 && isfinite(first[i]) && q->moved[i] >= SAME * first[i])
            *output = q->outputs[i];
    free(first);
    return err;
}

enum tutti_err tt_startup_tests_find_undeclared(struct tt_rank *rank, const struct tt_member *member,
                                                const struct tt_unit_saved *saved, double h, uint32_t *output)
{
    struct undeclared_test q = {.unit = member->unit, .saved = saved, .t = member->now.t};
    *output = TUTTI_NONE;
    enum tutti_err err = undeclared_lay_out(&q, rank, member);
    if (!err && q.output_count > 0)
        err = undeclared_try_steps(&q, h, output);
    tt_signals_fini(&q.to_set);
    tt_signals_fini(&q.to_get);
    free(q.inputs);
    free(q.values);
    free(q.outputs);
    free(q.base);
    return err;
}
