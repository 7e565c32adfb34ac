/* SPDX-License-Identifier: MIT */
#include "unit/trial.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "base/number.h"
#include "base/time.h"
#include "unit/parameter_check.h"
#include "unit/ramp.h"
#include "unit/output_check.h"

enum {
    MOST_POINTS = 501,
    DEFAULT_STEPS = 500,
    MOST_STANDSTILLS = 1000,
    MOST_ROUNDS = 1000,
    MOST_DERIVATIVES = 64,
    MOST_STARTS = 64,
    PAIR = 2,
    MOST_FORKS = 20,
    MOST_READS = 20,
    MOST_RISES = 10,
    MOST_INNER_STEPS = 10000 /* of a step */
};

/* Solvers may restart after a rollback. */
static const double CS_TOLERANCE = 1e-4, ME_TOLERANCE = 1e-3, ME_RTOL = 1e-6;
/* Co-Simulation and Model Exchange of one FMU may differ by so much of a range, on average over the points. */
static const double ALIKE = 0.01;
/* Inputs rise by this part of their size in a step that tests derivatives of inputs. */
static const double RISE = 0.01;
/* Seconds for the plain run: FMUs have been seen with steps of 1 ms inside and three years to go. */
static const double PATIENCE = 10;

struct fmu_trial {
    struct tt_fmu *fmu;
    enum tt_interface_kind interface;
    const char *name;
    const struct tt_setting *settings;
    size_t setting_count;
    struct tt_findings *findings;
    const struct tutti_log *notes;
    struct tt_experiment_setup setup;
    struct tt_time_grid grid;
    struct tt_output_check sampling;
    double times[MOST_POINTS];
    struct tt_signals points[MOST_POINTS]; /* what a plain run gives; the first is the start */
    int count;                             /* of these */
    uint32_t shown[MOST_DERIVATIVES];      /* continuous scalars, which both interfaces show */
    size_t shown_count;
    double curves[MOST_POINTS][MOST_DERIVATIVES]; /* their values at the points */
    bool ran;
};

struct trial_run {
    struct tt_unit *unit;
    double t, next_event;
    bool over; /* the FMU ended the simulation, or gave up a step */
};

static void trial_add_finding(const struct fmu_trial *trial, enum tt_severity severity, const char *what,
                              const char *why)
{
    tt_findings_add(trial->findings, severity, trial->fmu->path, 0, "%s: %s%s%s",
                    tt_fmi_state_interface_name(trial->interface), what, why[0] ? ": " : "", why);
}

/* Every failure is reported, except out of memory. */
static enum tutti_err trial_report_error(const struct fmu_trial *trial, enum tutti_err err, enum tt_severity severity,
                                         const char *what)
{
    if (err && err != TUTTI_ERR_MEMORY) {
        trial_add_finding(trial, severity, what, tutti_err_message());
        return TUTTI_OK;
    }
    return err;
}

/* ---- a life ---- */

static enum tutti_err trial_finish_events(struct trial_run *walk)
{
    struct tt_unit_event event;
    TRY(walk->unit->kind->settle(walk->unit, &event));
    walk->next_event = event.next_event;
    walk->over = event.terminate;
    return TUTTI_OK;
}

static struct tt_unit_options options_of(const struct fmu_trial *trial, bool forked)
{
    return (struct tt_unit_options){
        .name = trial->name,
        .interface = tt_unit_interface_choice_of(trial->interface),
        .integration = {.rtol = ME_RTOL, .atol = ME_RTOL / 100},
        .forked = forked,
    };
}

static enum tutti_err trial_start_run(const struct fmu_trial *trial, bool forked, struct trial_run *walk)
{
    struct tt_unit_options options = options_of(trial, forked);
    *walk = (struct trial_run){.t = trial->setup.start, .next_event = INFINITY};
    TRY(tt_unit_new(&walk->unit, trial->fmu, &options));
    TRY(walk->unit->kind->set_up(walk->unit, &trial->setup));
    TRY(tt_unit_apply(walk->unit, trial->settings, trial->setting_count));
    TRY(walk->unit->kind->enter_init(walk->unit));
    TRY(tt_unit_apply_inputs(walk->unit, trial->settings, trial->setting_count));
    TRY(walk->unit->kind->exit_init(walk->unit));
    walk->unit->horizon = trial->setup.stop;
    return walk->unit->has_events ? trial_finish_events(walk) : TUTTI_OK;
}

static void trial_end_run(struct trial_run *walk)
{
    tt_unit_free(walk->unit);
    walk->unit = NULL;
}

static enum tutti_err trial_handle_event(struct trial_run *walk)
{
    TRY(walk->unit->kind->enter_event(walk->unit));
    return trial_finish_events(walk);
}

/* To `target`, over the events on the way. */
static enum tutti_err trial_run_to(const struct fmu_trial *trial, struct trial_run *walk, double target)
{
    double span = trial->setup.stop - trial->setup.start;
    for (int still = 0; walk->t < target && !walk->over;) {
        struct tt_fmi_step step;
        double goal = fmin(target, fmax(walk->next_event, walk->t)), before = walk->t;
        if (tt_time_reached(walk->t, walk->next_event, span) && walk->unit->has_events) {
            TRY(trial_handle_event(walk));
        } else {
            /* FMUs with one allowed step size are given exactly that number. */
            double h = walk->unit->uniform ? trial->grid.step : tt_time_step(walk->t, goal);
            TRY(walk->unit->kind->step(walk->unit, walk->t, h, &step));
            walk->t = tt_time_same(step.reached, goal, span) ? goal : step.reached;
            walk->over = step.terminate || step.discarded;
            if (step.event && walk->unit->has_events && !walk->over)
                TRY(trial_handle_event(walk));
        }
        still = walk->t > before ? 0 : still + 1;
        if (still == MOST_STANDSTILLS)
            return tt_fail(TUTTI_ERR_FMU, "time stands still at t = %s", TIME(walk->t));
    }
    return TUTTI_OK;
}

/* ---- the plain run ---- */

/* Lists continuous outputs, or if there are none the other continuous variables. */
static size_t list_continuous(const struct tt_description *desc, uint32_t *variables)
{
    static const enum tt_causality causalities[] = {TUTTI_OUTPUT, TUTTI_LOCAL};
    size_t count = 0;
    for (size_t c = 0; c < sizeof causalities / sizeof *causalities && count == 0; c++)
        for (uint32_t v = 0; v < desc->var_count && count < MOST_DERIVATIVES; v++)
            if (desc->vars[v].causality == causalities[c] && desc->vars[v].type == TUTTI_TYPE_FLOAT64 &&
                desc->vars[v].variability == TUTTI_CONTINUOUS && !desc->vars[v].alias)
                variables[count++] = v;
    return count;
}

static enum tutti_err trial_record(struct fmu_trial *trial, struct trial_run *walk)
{
    struct tt_signals *point = &trial->points[trial->count];
    TRY(tt_output_check_lay_out(&trial->sampling, walk->unit, point));
    TRY(tt_unit_get(walk->unit, point));
    tt_output_check_update_scale(&trial->sampling, point);

    uint32_t references[MOST_DERIVATIVES];
    bool refused = false;
    for (size_t i = 0; i < trial->shown_count; i++)
        references[i] = trial->fmu->desc->vars[trial->shown[i]].reference;
    struct tt_block block = {TUTTI_TYPE_FLOAT64, trial->shown_count,          trial->shown_count,
                             references,         trial->curves[trial->count], NULL};
    if (trial->shown_count > 0)
        TRY(walk->unit->kind->ask(walk->unit, &block, &refused));
    trial->shown_count = refused ? 0 : trial->shown_count;
    trial->times[trial->count++] = walk->t;
    return TUTTI_OK;
}

/* Returns true if the unit can reach a further point. */
static bool has_next_point(const struct fmu_trial *trial, const struct trial_run *walk)
{
    double next = walk->t + trial->grid.step, stop = trial->setup.stop;
    bool fits = !walk->unit->uniform || tt_time_reached(stop, next, stop - trial->setup.start);
    return trial->count < MOST_POINTS && walk->t < stop && !walk->over && fits;
}

static enum tutti_err run_plain_trial(struct fmu_trial *trial, struct trial_run *walk)
{
    uint32_t variables[MOST_DERIVATIVES];
    size_t continuous = list_continuous(trial->fmu->desc, variables);
    for (size_t i = 0; i < continuous; i++)
        if (trial->fmu->desc->vars[variables[i]].dimension_count == 0)
            trial->shown[trial->shown_count++] = variables[i];
    TRY(trial_start_run(trial, false, walk));
    TRY(tt_output_check_init(&trial->sampling, walk->unit, trial->interface == TUTTI_ME ? ME_TOLERANCE : CS_TOLERANCE));
    TRY(trial_record(trial, walk));
    double limit = tt_wall_clock_now() + PATIENCE;
    while (has_next_point(trial, walk)) {
        if (tt_wall_clock_now() > limit && trial->count > PAIR) {
            tt_log(trial->notes, TUTTI_LOG_INFO, trial->fmu->path, "%s: it takes its time: tried until t = %s, not %s",
                   tt_fmi_state_interface_name(trial->interface), TIME(walk->t), TIME(trial->setup.stop));
            break;
        }
        TRY(trial_run_to(trial, walk, trial->grid.next));
        if (walk->over)
            break;
        tt_time_grid_pass(&trial->grid, walk->t);
        TRY(trial_record(trial, walk));
    }
    return walk->over ? TUTTI_OK : walk->unit->kind->terminate(walk->unit);
}

/* ---- reading ---- */

/* Reads them as they are where the unit stands, and after the FMU has computed its derivatives, as a run does. */
static enum tutti_err read_before_and_after(const struct fmu_trial *trial, struct trial_run *walk,
                                            struct tt_signals *before, struct tt_signals *after, size_t *lagging,
                                            double *at)
{
    for (int i = 1; i < trial->count && i <= MOST_READS && *lagging == SIZE_MAX; i++) {
        TRY(trial_run_to(trial, walk, trial->times[i]));
        if (walk->over)
            return TUTTI_OK;
        for (size_t b = 0; b < before->block_count; b++) {
            struct tt_block *block = &before->blocks[b];
            TRY(tt_instance_get(walk->unit->instance, block->type, block->references, block->count, block->values,
                                block->value_count));
        }
        TRY(tt_unit_get(walk->unit, after));
        *at = walk->t;
        for (size_t v = before->count; v-- > 0;)
            if (memcmp(before->slots[v], after->slots[v], before->extents[v] * before->sizes[v]) != 0)
                *lagging = v;
    }
    return TUTTI_OK;
}

/* Tests whether variables follow the time and the states when they are read, or only when derivatives are computed. */
static enum tutti_err test_reading(struct fmu_trial *trial)
{
    uint32_t variables[MOST_DERIVATIVES];
    size_t count = list_continuous(trial->fmu->desc, variables), lagging = SIZE_MAX;
    struct tt_signals before = {0}, after = {0};
    struct trial_run walk = {0};
    double at = 0;
    if (count == 0)
        return TUTTI_OK;
    enum tutti_err err = trial_start_run(trial, false, &walk);
    if (!err)
        err = tt_unit_signals(walk.unit, variables, count, &before);
    if (!err)
        err = tt_unit_signals(walk.unit, variables, count, &after);
    if (!err)
        err = read_before_and_after(trial, &walk, &before, &after, &lagging, &at);
    if (!err && lagging != SIZE_MAX)
        tt_findings_add(trial->findings, TUTTI_FINDING_WARNING, trial->fmu->path, 0,
                        "%s: '%s' at t = %s is %.9g when it is read, and %.9g once the FMU has computed its "
                        "derivatives; a run has them computed before it reads, other tools may not",
                        tt_fmi_state_interface_name(trial->interface), trial->fmu->desc->vars[variables[lagging]].name,
                        TIME(at), *(const double *)before.slots[lagging], *(const double *)after.slots[lagging]);
    tt_signals_fini(&before);
    tt_signals_fini(&after);
    trial_end_run(&walk);
    return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK; /* what cannot be read has been reported */
}

/* ---- going back ---- */

/* Two steps from point i on, with outputs into `now`; the name of an output that is another than expected, and where. */
static enum tutti_err repeat_two_steps(struct fmu_trial *trial, struct trial_run *walk, int i, struct tt_signals *now,
                                       const struct tt_signals *expected, const char **output, double *at)
{
    for (int s = 0; s < PAIR && i + s + 1 < trial->count && !*output; s++) {
        *at = trial->times[i + s + 1];
        TRY(trial_run_to(trial, walk, *at));
        if (walk->over) {
            *output = "the end of the simulation";
            return TUTTI_OK;
        }
        TRY(tt_unit_get(walk->unit, &now[s]));
        if (expected)
            *output = tt_output_check_find_difference(&trial->sampling, &now[s], &expected[s]);
    }
    return TUTTI_OK;
}

/* Where a step that was repeated went another way. */
struct trial_difference {
    const char *output; /* NULL: nowhere */
    double from, at;
    bool back; /* only after it went back, not because it might */
};

struct trial_repetition {
    struct trial_run walk;
    struct tt_unit_saved *saved;
    struct tt_signals first[PAIR], second[PAIR];
    int points; /* that it has gone back to */
    struct trial_difference difference;
};

/* Every two steps are made twice. For Co-Simulation both must equal the plain run. A solver of Tutti restarts, which
 * may move an event to the other side of a point, so for Model Exchange the second pair is compared with the first. */
static enum tutti_err test_restore(struct fmu_trial *trial, bool forked, int most, struct trial_repetition *it)
{
    struct trial_run *walk = &it->walk;
    struct trial_difference *difference = &it->difference;
    bool exact = trial->interface == TUTTI_CS;
    TRY(trial_start_run(trial, forked, walk));
    for (int s = 0; s < PAIR; s++) {
        TRY(tt_output_check_lay_out(&trial->sampling, walk->unit, &it->first[s]));
        TRY(tt_output_check_lay_out(&trial->sampling, walk->unit, &it->second[s]));
    }
    for (int i = 0; i + 1 < trial->count && it->points < most && !difference->output; i += PAIR) {
        struct trial_run here = *walk;
        const struct tt_signals *plain = &trial->points[i + 1];
        walk->unit->back_to = difference->from = walk->t;
        TRY(walk->unit->kind->save(walk->unit, &it->saved));
        TRY(repeat_two_steps(trial, walk, i, it->first, exact ? plain : NULL, &difference->output, &difference->at));
        difference->back = !difference->output;
        if (difference->output)
            break;
        *walk = here;
        TRY(walk->unit->kind->restore(walk->unit, it->saved));
        TRY(repeat_two_steps(trial, walk, i, it->second, exact ? plain : it->first, &difference->output,
                             &difference->at));
        it->points++;
    }
    return TUTTI_OK;
}

static void free_repetition(struct trial_repetition *it)
{
    if (it->walk.unit)
        it->walk.unit->kind->discard(it->walk.unit, it->saved);
    for (int s = 0; s < PAIR; s++) {
        tt_signals_fini(&it->first[s]);
        tt_signals_fini(&it->second[s]);
    }
    trial_end_run(&it->walk);
}

/* By its saved states; *good: it comes back as it was. */
static enum tutti_err test_saved_states(struct fmu_trial *trial, bool *good)
{
    struct trial_repetition it = {0};
    enum tutti_err err = test_restore(trial, false, MOST_POINTS, &it);
    *good = !err && !it.difference.output;
    if (it.difference.output)
        tt_findings_add(trial->findings, TUTTI_FINDING_WARNING, trial->fmu->path, 0,
                        "%s: the FMU says that it can go back (canGetAndSetFMUState), but '%s' at t = %s is another %s "
                        "t = %s; a run treats it as one that cannot, where it finds that out",
                        tt_fmi_state_interface_name(trial->interface), it.difference.output, TIME(it.difference.at),
                        it.difference.back ? "after it went back to" : "if it may be taken back to",
                        TIME(it.difference.from));
    if (*good)
        tt_log(trial->notes, TUTTI_LOG_INFO, trial->fmu->path,
               "%s: it goes back by its saved states: steps from %d points were the same when they were repeated",
               tt_fmi_state_interface_name(trial->interface), it.points);
    err = trial_report_error(trial, err, TUTTI_FINDING_WARNING,
                             "going back to saved states (canGetAndSetFMUState) fails");
    free_repetition(&it);
    return err;
}

/* By forking, which an FMU does not promise anything about: what comes of it is a note. */
static enum tutti_err test_forking(struct fmu_trial *trial)
{
    const char *interface = tt_fmi_state_interface_name(trial->interface);
    bool claims = trial->fmu->libraries[trial->interface]->can & TUTTI_CAN_STATE;
    struct trial_repetition it = {0};
    enum tutti_err err = test_restore(trial, true, MOST_FORKS, &it);
    if (err && err != TUTTI_ERR_MEMORY)
        tt_log(trial->notes, TUTTI_LOG_INFO, trial->fmu->path, "%s: it cannot go back: %s", interface,
               tutti_err_message());
    else if (it.difference.output)
        tt_log(trial->notes, TUTTI_LOG_INFO, trial->fmu->path,
               "%s: it cannot go back: even in a process that is forked, '%s' at t = %s is another after it went "
               "back to t = %s",
               interface, it.difference.output, TIME(it.difference.at), TIME(it.difference.from));
    else if (!err)
        tt_log(trial->notes, TUTTI_LOG_INFO, trial->fmu->path,
               "%s: %s, but it can be taken back by forking its process (--rollback): steps from %d points were "
               "the same when they were repeated",
               interface, claims ? "its saved states are incomplete" : "it saves no state", it.points);
    free_repetition(&it);
    return err == TUTTI_ERR_MEMORY ? err : TUTTI_OK;
}

/* Model Exchange has its continuous states to go back by. */
static enum tutti_err test_rollback(struct fmu_trial *trial)
{
    bool good = false;
    if (trial->fmu->libraries[trial->interface]->can & TUTTI_CAN_STATE)
        TRY(test_saved_states(trial, &good));
    return good || !trial->notes || trial->interface == TUTTI_ME ? TUTTI_OK : test_forking(trial);
}

/* ---- states as bytes ---- */

/* To the first point at which steps can be made. */
static enum tutti_err start_trial_instance(const struct fmu_trial *trial, struct tt_instance **instance)
{
    const struct tt_instance_options options = {.name = trial->name, .event_mode = true};
    struct tt_discrete_update discrete = {.again = true};
    TRY(tt_instance_new(instance, trial->fmu->libraries[trial->interface], &options));
    TRY(tt_instance_enter_initialization(*instance, &trial->setup));
    TRY(tt_instance_exit_initialization(*instance));
    for (int round = 0; tt_instance_uses_events(*instance) && discrete.again && round < MOST_ROUNDS; round++)
        TRY(tt_instance_update_discrete(*instance, &discrete));
    if (!tt_instance_uses_events(*instance) || discrete.terminate)
        return TUTTI_OK;
    return trial->interface == TUTTI_ME ? tt_instance_enter_continuous(*instance) : tt_instance_enter_step(*instance);
}

static enum tutti_err serialise_and_restore(struct tt_instance *instance, struct tt_saved_state *saved,
                                            struct tt_saved_state *copy)
{
    unsigned char *bytes = NULL;
    size_t size = 0;
    TRY(tt_saved_state_save(instance, saved));
    TRY(tt_saved_state_serialize(instance, saved, &bytes, &size));
    enum tutti_err err = tt_saved_state_deserialize(instance, bytes, size, copy);
    free(bytes);
    return err ? err : tt_saved_state_restore(instance, copy);
}

static enum tutti_err test_serialised_state(struct fmu_trial *trial)
{
    struct tt_instance *instance = NULL;
    struct tt_saved_state saved = {0}, copy = {0};
    if (!(trial->fmu->libraries[trial->interface]->can & TUTTI_CAN_SERIALIZE))
        return TUTTI_OK;
    enum tutti_err err = start_trial_instance(trial, &instance);
    if (!err)
        err = serialise_and_restore(instance, &saved, &copy);
    err = trial_report_error(trial, err, TUTTI_FINDING_WARNING, "saved states as bytes (canSerializeFMUState) fail");
    if (instance) {
        tt_saved_state_discard(instance, &saved);
        tt_saved_state_discard(instance, &copy);
    }
    tt_instance_free(instance);
    return err;
}

/* ---- derivatives ---- */

static bool is_real(const struct tt_var *var, enum tt_causality causality)
{
    return var->causality == causality && var->type == TUTTI_TYPE_FLOAT64 && var->dimension_count == 0 &&
           var->variability == TUTTI_CONTINUOUS;
}

static size_t trial_list_reals(const struct tt_description *desc, enum tt_causality causality, uint32_t *references)
{
    size_t count = 0;
    for (uint32_t v = 0; v < desc->var_count && count < MOST_DERIVATIVES; v++) {
        const struct tt_var *var = &desc->vars[v];
        if (is_real(var, causality))
            references[count++] = var->reference;
    }
    return count;
}

static enum tutti_err query_directional(struct trial_run *walk)
{
    uint32_t outputs[MOST_DERIVATIVES], inputs[MOST_DERIVATIVES];
    double seed[MOST_DERIVATIVES] = {0}, sensitivity[MOST_DERIVATIVES];
    size_t output_count = trial_list_reals(walk->unit->fmu->desc, TUTTI_OUTPUT, outputs);
    size_t input_count = trial_list_reals(walk->unit->fmu->desc, TUTTI_INPUT, inputs);
    for (size_t i = 0; i < input_count && output_count > 0; i++) {
        seed[i] = 1;
        TRY(walk->unit->kind->get_directional(walk->unit, outputs, output_count, inputs, input_count, seed,
                                              sensitivity));
        seed[i] = 0;
    }
    return TUTTI_OK;
}

static enum tutti_err query_output_rates(struct trial_run *walk)
{
    uint32_t outputs[MOST_DERIVATIVES];
    double rates[MOST_DERIVATIVES];
    size_t count = trial_list_reals(walk->unit->fmu->desc, TUTTI_OUTPUT, outputs);
    for (int order = 1; order <= walk->unit->output_order && count > 0; order++)
        TRY(walk->unit->kind->get_output_derivatives(walk->unit, outputs, count, order, rates));
    return TUTTI_OK;
}

static enum tutti_err test_derivatives(struct fmu_trial *trial, uint32_t claim, const char *what,
                                       enum tutti_err (*ask)(struct trial_run *))
{
    struct trial_run walk = {0};
    if (!(trial->fmu->libraries[trial->interface]->can & claim) || trial->count < 2)
        return TUTTI_OK;
    enum tutti_err err = trial_start_run(trial, false, &walk);
    if (!err)
        err = trial_run_to(trial, &walk, trial->times[1]);
    if (!err && !walk.over)
        err = ask(&walk);
    trial_end_run(&walk);
    return trial_report_error(trial, err, TUTTI_FINDING_WARNING, what);
}

/* Continuous inputs, at their values after the initialisation. */
static enum tutti_err note_inputs(const struct fmu_trial *trial, struct tt_fresh *fresh, double *slopes)
{
    struct trial_run walk = {0};
    uint32_t references[TUTTI_MOST_NOTED];
    double values[TUTTI_MOST_NOTED];
    struct tt_block block = {TUTTI_TYPE_FLOAT64, 0, 0, references, values, NULL};
    const struct tt_description *desc = trial->fmu->desc;
    bool refused = false;
    for (uint32_t v = 0; v < desc->var_count && block.count < TUTTI_MOST_NOTED; v++)
        if (is_real(&desc->vars[v], TUTTI_INPUT))
            references[block.count++] = desc->vars[v].reference;
    block.value_count = block.count;
    TRY(trial_start_run(trial, false, &walk));
    enum tutti_err err = walk.unit->kind->ask(walk.unit, &block, &refused);
    trial_end_run(&walk);
    if (err || refused)
        return err;
    tt_fresh_note(fresh, &block);
    for (uint32_t v = 0, i = 0; v < desc->var_count && i < block.count; v++) {
        const struct tt_bounds *bounds = desc->vars[v].bounds;
        if (!is_real(&desc->vars[v], TUTTI_INPUT))
            continue;
        double move = RISE * fmax(fabs(values[i]), bounds && bounds->has_nominal ? fabs(bounds->nominal) : 1);
        bool above = bounds && bounds->has_max && values[i] + MOST_RISES * move > bounds->max;
        slopes[i++] = (above ? -move : move) / trial->grid.step;
    }
    return TUTTI_OK;
}

/* All inputs rise along ramps; tests whether the FMU uses the derivatives. */
static enum tutti_err try_ramps(struct fmu_trial *trial)
{
    double slopes[TUTTI_MOST_NOTED];
    struct tt_unit_options options = options_of(trial, false);
    struct tt_fresh fresh = tt_fresh_make(trial->fmu, &options, &trial->setup);
    if (!(trial->fmu->libraries[trial->interface]->can & TUTTI_CAN_INPUT_DERIVATIVES) || trial->count < 2)
        return TUTTI_OK;
    fresh.settings = trial->settings;
    fresh.setting_count = trial->setting_count;
    enum tutti_err err = note_inputs(trial, &fresh, slopes);
    if (err)
        return trial_report_error(trial, err, TUTTI_FINDING_WARNING, "derivatives of inputs");
    struct tt_ramp ramp = {&fresh, fresh.noted, slopes, fresh.note_count, trial->grid.step};
    uint32_t variable = tt_ramp_find_ignored(&ramp);
    if (variable != TUTTI_NONE)
        tt_findings_add(trial->findings, TUTTI_FINDING_WARNING, trial->fmu->path, 0,
                        "%s: the FMU ignores derivatives of inputs, which it claims to take (canInterpolateInputs): "
                        "'%s' is the same with and without them; `tutti run` holds its inputs in each step",
                        tt_fmi_state_interface_name(trial->interface), trial->fmu->desc->vars[variable].name);
    return TUTTI_OK;
}

/* ---- start values ---- */

/* Start values that are given another value, and what they are in the description. */
struct trial_starts {
    struct tt_setting settings[MOST_STARTS];
    uint32_t references[MOST_STARTS];
    double described[MOST_STARTS], values[MOST_STARTS], read[MOST_STARTS];
    size_t count;
};

static bool trial_is_set(const struct fmu_trial *trial, uint32_t variable)
{
    for (size_t i = 0; i < trial->setting_count; i++)
        if (trial->settings[i].variable == variable)
            return true;
    return false;
}

/* A parameter, or a value that the initialisation leaves as it is set. */
static bool trial_keeps_start(const struct tt_var *var)
{
    if (var->type != TUTTI_TYPE_FLOAT64 || var->dimension_count > 0 || !var->start || var->start_count != 1)
        return false;
    if (var->causality == TUTTI_PARAMETER)
        return var->variability == TUTTI_FIXED || var->variability == TUTTI_TUNABLE;
    return var->initial == TUTTI_EXACT && var->variability == TUTTI_CONTINUOUS &&
           (var->causality == TUTTI_LOCAL || var->causality == TUTTI_OUTPUT);
}

/* Returns a value near the start value, inside the bounds; false if there is none. */
static bool shift_start_value(const struct tt_var *var, double *value)
{
    double start = *(const double *)var->start, distance = 0.01 * (start != 0 ? fabs(start) : 1);
    for (int side = 1; side >= -1; side -= 2) {
        *value = start + side * distance;
        bool below = var->bounds && var->bounds->has_min && *value < var->bounds->min;
        bool above = var->bounds && var->bounds->has_max && *value > var->bounds->max;
        if (!below && !above && isfinite(*value))
            return true;
    }
    return false;
}

static void choose_start_values(const struct fmu_trial *trial, struct trial_starts *starts)
{
    const struct tt_description *desc = trial->fmu->desc;
    for (uint32_t v = 0; v < desc->var_count && starts->count < MOST_STARTS; v++) {
        const struct tt_var *var = &desc->vars[v];
        size_t n = starts->count;
        bool alias = false;
        for (size_t i = 0; i < n; i++)
            alias = alias || starts->references[i] == var->reference;
        if (alias || !trial_keeps_start(var) || trial_is_set(trial, v) || !shift_start_value(var, &starts->values[n]))
            continue;
        starts->described[n] = *(const double *)var->start;
        starts->references[n] = var->reference;
        starts->settings[n] = (struct tt_setting){.variable = v, .count = 1, .values = &starts->values[n]};
        starts->count++;
    }
}

/* Those that are what they were in the description. */
static void report_ignored_starts(const struct fmu_trial *trial, const struct trial_starts *starts)
{
    size_t ignored = 0, first = 0;
    for (size_t i = starts->count; i-- > 0;)
        if (starts->read[i] == starts->described[i]) {
            ignored++;
            first = i;
        }
    if (ignored == 0)
        return;
    char why[512];
    int n = snprintf(why, sizeof why, "'%.200s' was set to %s, and is %s after the initialisation",
                     trial->fmu->desc->vars[starts->settings[first].variable].name, NUMBER(starts->values[first]),
                     NUMBER(starts->read[first]));
    if (ignored > 1)
        snprintf(why + n, sizeof why - (size_t)n, "; %zu more", ignored - 1);
    trial_add_finding(trial, TUTTI_FINDING_WARNING, "the FMU ignores start values", why);
}

/* A life with those values, after the settings of the trial. */
static enum tutti_err read_start_values(struct fmu_trial *trial, struct trial_starts *starts, struct tt_setting *all)
{
    struct fmu_trial other = {.fmu = trial->fmu,
                              .interface = trial->interface,
                              .name = trial->name,
                              .settings = all,
                              .setting_count = trial->setting_count + starts->count,
                              .setup = trial->setup,
                              .grid = trial->grid};
    struct tt_block block = {TUTTI_TYPE_FLOAT64, starts->count, starts->count, starts->references, starts->read, NULL};
    struct trial_run walk = {0};
    for (size_t i = 0; i < other.setting_count; i++)
        all[i] = i < trial->setting_count ? trial->settings[i] : starts->settings[i - trial->setting_count];
    enum tutti_err err = trial_start_run(&other, false, &walk);
    if (!err)
        err = walk.unit->kind->get(walk.unit, &block);
    trial_end_run(&walk);
    return err;
}

/* An FMU that fails to initialise with different values gives no evidence on whether it accepts them. */
static enum tutti_err test_start_values(struct fmu_trial *trial)
{
    struct trial_starts *starts = calloc(1, sizeof *starts);
    struct tt_setting *all = calloc(trial->setting_count + MOST_STARTS, sizeof *all);
    enum tutti_err err = starts && all ? TUTTI_OK : TUTTI_ERR_MEMORY;
    if (!err)
        choose_start_values(trial, starts);
    if (!err && starts->count > 0) {
        err = read_start_values(trial, starts, all);
        if (!err)
            report_ignored_starts(trial, starts);
    }
    free(starts);
    free(all);
    return err == TUTTI_ERR_MEMORY ? tt_fail_memory() : TUTTI_OK;
}

/* ---- parameters ---- */

static enum tutti_err trial_read_parameters(const struct fmu_trial *trial, struct trial_run *walk)
{
    struct tt_parameter_check described;
    struct tt_parameter_difference first;
    TRY(trial_start_run(trial, false, walk));
    TRY(tt_parameter_check_init(&described, walk->unit, trial->settings, trial->setting_count, NULL, NULL));
    enum tutti_err err = tt_unit_get(walk->unit, &described.found);
    size_t count = err ? 0 : tt_parameter_check_compare(&described, &first);
    if (count > 0) {
        const struct tt_var *var = &trial->fmu->desc->vars[first.variable];
        tt_findings_add(trial->findings, TUTTI_FINDING_WARNING, trial->fmu->path, 0,
                        "%s: the parameter '%s' (line %u of the description; one of %zu) has another value after the "
                        "initialisation than %s",
                        tt_fmi_state_interface_name(trial->interface), var->name, var->line, count,
                        trial_is_set(trial, first.variable)
                            ? "it was set to"
                            : "its start value; a run goes on with what the FMU has: use --set");
    }
    tt_parameter_check_fini(&described);
    return err;
}

static enum tutti_err test_parameters(const struct fmu_trial *trial)
{
    struct trial_run walk = {0};
    enum tutti_err err = trial_read_parameters(trial, &walk);
    trial_end_run(&walk);
    return trial_report_error(trial, err, TUTTI_FINDING_WARNING, "reading parameters fails");
}

/* ---- Scheduled Execution ---- */

static enum tutti_err test_partitions(struct fmu_trial *trial)
{
    struct trial_run walk = {0};
    const struct tt_description *desc = trial->fmu->desc;
    enum tutti_err err = trial_start_run(trial, false, &walk);

    /* Each partition once, at the start, in the order of the description. */
    for (uint32_t v = 0; v < desc->var_count && !err; v++)
        if (desc->vars[v].type == TUTTI_TYPE_CLOCK && desc->vars[v].causality == TUTTI_INPUT)
            err = tt_instance_clocks_activate(walk.unit->instance, desc->vars[v].reference, walk.t);
    if (!err)
        err = walk.unit->kind->terminate(walk.unit);
    trial_end_run(&walk);
    if (err)
        return trial_report_error(trial, err, TUTTI_FINDING_ERROR, "it does not run");
    TRY(test_parameters(trial));
    return test_start_values(trial);
}

/* ---- both interfaces ---- */

/* How far one variable is apart: on average, in shares of its range by Model Exchange; and where most. */
static double mean_distance(const struct fmu_trial *cs, const struct fmu_trial *me, size_t v, int count, int *most)
{
    double low = INFINITY, high = -INFINITY, sum = 0, largest = -1;
    for (int i = 0; i < count; i++) {
        double distance = fabs(cs->curves[i][v] - me->curves[i][v]);
        low = fmin(low, me->curves[i][v]);
        high = fmax(high, me->curves[i][v]);
        sum += distance;
        if (distance > largest) {
            largest = distance;
            *most = i;
        }
    }
    double range = fmax(high - low, ME_RTOL * fmax(fabs(low), fabs(high)));
    return sum == 0 ? 0 : sum / count / range;
}

/* Co-Simulation and Model Exchange of the same FMU are the same model. */
static void compare_interfaces(const struct fmu_trial *cs, const struct fmu_trial *me)
{
    int count = 0, most = 0, at = 0;
    size_t worst = 0;
    double largest = -1;
    double span = me->setup.stop - me->setup.start;
    while (count < cs->count && count < me->count && tt_time_same(cs->times[count], me->times[count], span))
        count++;
    if (!cs->ran || !me->ran || count < 2 || cs->shown_count == 0 || cs->shown_count != me->shown_count)
        return;
    for (size_t v = 0; v < me->shown_count; v++) {
        double distance = mean_distance(cs, me, v, count, &at);
        if (distance > largest) {
            largest = distance;
            worst = v;
            most = at;
        }
    }
    const char *name = me->fmu->desc->vars[me->shown[worst]].name;
    if (largest > ALIKE)
        tt_findings_add(cs->findings, TUTTI_FINDING_WARNING, cs->fmu->path, 0,
                        "Co-Simulation and Model Exchange differ: '%s' by %.3g of its range on average; at t = %s "
                        "it is %.9g, and %.9g by "
                        "Model Exchange (--interface me)",
                        name, largest, TIME(cs->times[most]), cs->curves[most][worst], me->curves[most][worst]);
    else
        tt_log(cs->notes, TUTTI_LOG_INFO, cs->fmu->path,
               "Co-Simulation and Model Exchange agree over %d points: '%s' is farthest apart, by %.3g of "
               "its range on average",
               count, name, largest);
}

/* ---- all of it ---- */

static void trial_set_times(struct fmu_trial *trial)
{
    const struct tt_experiment *experiment = &trial->fmu->desc->experiment;
    double start = experiment->has_start ? experiment->start : 0;
    double stop = experiment->has_stop && experiment->stop > start ? experiment->stop : start + 1;
    bool fits = experiment->has_step && experiment->step > 0 && experiment->step <= stop - start;
    double fixed = trial->fmu->desc->interfaces[trial->interface].fixed_step;
    double step = fits ? experiment->step : (stop - start) / DEFAULT_STEPS;
    if (fixed > 0 && fixed <= stop - start)
        step = fixed * fmin(fmax(1, round(step / fixed)), MOST_INNER_STEPS);
    trial->setup = (struct tt_experiment_setup){.start = start,
                                                .stop = stop,
                                                .has_stop = true,
                                                .tolerance = experiment->tolerance,
                                                .has_tolerance = experiment->has_tolerance};
    tt_time_grid_init(&trial->grid, start, step, stop);
}

static enum tutti_err test_interface(struct fmu_trial *trial)
{
    struct trial_run walk = {0};
    trial_set_times(trial);
    if (trial->interface == TUTTI_SE)
        return test_partitions(trial);
    enum tutti_err err = run_plain_trial(trial, &walk);
    trial_end_run(&walk);
    if (err)
        return trial_report_error(trial, err, TUTTI_FINDING_ERROR, "it does not run");
    trial->ran = true;
    TRY(test_parameters(trial));
    TRY(test_start_values(trial));
    if (trial->interface == TUTTI_ME)
        TRY(test_reading(trial));
    TRY(test_rollback(trial));
    TRY(test_serialised_state(trial));
    TRY(test_derivatives(trial, TUTTI_CAN_DIRECTIONAL, "directional derivatives fail", query_directional));
    if (trial->interface != TUTTI_CS)
        return TUTTI_OK;
    TRY(test_derivatives(trial, TUTTI_CAN_OUTPUT_DERIVATIVES, "derivatives of outputs fail", query_output_rates));
    return try_ramps(trial);
}

enum tutti_err tt_trial(struct tt_fmu *fmu, const char *name, const struct tt_setting *settings, size_t count,
                        struct tt_findings *findings, const struct tutti_log *notes)
{
    static const enum tt_interface_kind kinds[] = {TUTTI_CS, TUTTI_ME, TUTTI_SE};
    enum { KINDS = sizeof kinds / sizeof *kinds };
    struct fmu_trial *trials[KINDS] = {0};
    enum tutti_err err = TUTTI_OK;
    for (size_t k = 0; k < KINDS && !err; k++) {
        const struct tt_unit_kind *kind = NULL;
        if (!fmu->desc->interfaces[kinds[k]].present ||
            tt_unit_kind_for(fmu, tt_unit_interface_choice_of(kinds[k]), false, &kind))
            continue; /* `tutti check` reports it without a trial */
        struct fmu_trial *trial = trials[k] = calloc(1, sizeof *trial);
        if (!trial) {
            err = tt_fail_memory();
            break;
        }
        trial->fmu = fmu;
        trial->interface = kinds[k];
        trial->name = name;
        trial->settings = settings;
        trial->setting_count = count;
        trial->findings = findings;
        trial->notes = notes;
        err = test_interface(trial);
    }
    if (!err && trials[0] && trials[1])
        compare_interfaces(trials[0], trials[1]);
    for (size_t k = 0; k < KINDS; k++) {
        for (int p = 0; trials[k] && p < MOST_POINTS; p++)
            tt_signals_fini(&trials[k]->points[p]);
        if (trials[k])
            tt_output_check_fini(&trials[k]->sampling);
        free(trials[k]);
    }
    return err;
}
