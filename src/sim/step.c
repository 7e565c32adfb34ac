/* SPDX-License-Identifier: MIT */
/* A macro step: attempts until one is accepted, as a state machine. */
#include "sim/step.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/correction.h"
#include "sim/events.h"
#include "sim/report/reporter.h"
#include "sim/report/step_log.h"

enum {
    MOST_ATTEMPTS = 1000,
    MOST_FORCED = 1000,
    MOST_FORCED_PER_TIME = 20,
    MOST_COMEBACKS = 3,
    MOST_AT_ONCE = 1000,
};

/* A component that rejects steps as short as this, relative to the run, rejects all steps. (Near 0 there are many shorter ones.) */
static const double LEAST_STEP = 1e-15;

/* ---- the log ---- */

static const char *step_output_name(const struct tt_sim *master, uint32_t output, char *name, size_t size)
{
    struct tt_end end = {0};
    snprintf(name, size, "a signal");
    if (output != TUTTI_NONE) {
        end = tt_outputs_owner(&master->outputs, output);
        tt_system_name(master->rank->job->system, &end, name, size);
    }
    return name;
}

/* Finds the signal that determined the error of the attempt; without one, the component that ended it. */
static void find_error_driver(const struct tt_sim *master, const struct tt_step_result *result,
                              struct tt_step_entry *entry)
{
    const struct tt_component *components = master->rank->job->system->components;
    if (result->driver != TUTTI_NONE) {
        struct tt_end end = tt_outputs_owner(&master->outputs, result->driver);
        entry->unit = components[end.component].name;
        entry->variable = components[end.component].fmu->desc->vars[end.variable].name;
    } else if (result->end == TUTTI_END_OUTPUT_CHANGED) {
        entry->unit = components[result->component].name;
        entry->variable = components[result->component].fmu->desc->vars[result->variable].name;
    } else if (result->end == TUTTI_END_REFUSED || result->end == TUTTI_END_EVENT)
        entry->unit = components[result->component].name;
}

static enum tutti_err log_attempt(struct tt_sim *master, const struct tt_step_result *result, const char *verdict)
{
    struct tt_step_entry entry = {.t = result->from,
                                  .h = result->target - result->from,
                                  .estimated = result->estimated,
                                  .error = result->error,
                                  .verdict = verdict,
                                  .iterations = result->iterations,
                                  .unit = "",
                                  .variable = ""};
    if (!master->log)
        return TUTTI_OK;
    find_error_driver(master, result, &entry);
    return tt_step_log_write(master->log, &entry);
}

/* Returns true if the event is known, and lies after t. */
static bool is_ahead(const struct tt_step_event *event, double t)
{
    return event->kind != TUTTI_EVENT_NONE && event->at > t;
}

/* ---- accepting and rejecting ---- */

static enum tutti_err step_accept(struct tt_sim *master, const struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    struct tt_step_history *memory = &master->memory;
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->counts.attributed = rank->own[m]->unit->counts.do_steps;
    TRY(tt_coupling_send_deferred(master));
    tt_reporter_add_step(master->made, result->target - result->from, result->estimated ? result->error : NAN);
    rank->t = result->target;
    if (result->end == TUTTI_END_OF_RUN)
        rank->ended = &rank->members[result->component];
    if (memory->pending.kind == TUTTI_EVENT_ON_THE_WAY && result->target == memory->pending.at) {
        rank->members[memory->pending.component].now.event = true;
        memory->passed = memory->pending;
    }
    if (master->tlm)
        tt_tlm_record(master->tlm);
    if (master->correction)
        tt_correction_accept(master->correction);
    return tt_extrapolation_accept(&master->extrapolation);
}

static enum tutti_err step_reject(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    rank->stats->rejected++;
    return tt_coupling_roll_back(master, true);
}

/* ---- the start of a step ---- */

enum tutti_err tt_step_begin(struct tt_sim *master)
{
    master->memory.event = false;
    TRY(tt_outputs_read(&master->outputs, master->norm.before));
    TRY(tt_norm_begin_step(&master->norm));
    if (master->chosen.is & TUTTI_METHOD_GOES_BACK) {
        /* From here on units may be rolled back to this point, though not beyond it. */
        struct tt_rank *rank = master->rank;
        for (uint32_t m = 0; m < rank->own_count; m++)
            rank->own[m]->unit->back_to = fmin(rank->t, rank->kept_from);
        TRY(tt_snapshot_take(&master->start, rank));
    }
    return master->detector.discretes ? tt_detector_save_start(&master->detector) : TUTTI_OK;
}

/* Counts that a component did not leave the start of a step although its event there was handled; `at_once`: not even in a shorter step. If
 * this happens repeatedly, no threshold in the step is the cause, but the inputs: with seidel, relax or inputs held in the middle they differ
 * in the step from those at its start. The component then enters event mode alone from now on. */
static void count_early_return(struct tt_sim *master, uint32_t component, bool at_once)
{
    struct tt_rank *rank = master->rank;
    struct tt_member_history *learned = &rank->members[component].learned;
    struct tt_step_history *memory = &master->memory;
    bool in_a_row = memory->steps == memory->comeback + 1;
    learned->comebacks = !at_once ? 0 : in_a_row ? learned->comebacks + 1 : 1;
    memory->comeback = memory->steps;
    if (learned->comebacks < MOST_COMEBACKS || learned->takes_news)
        return;
    learned->takes_news = true;
    tt_log(rank->log, TUTTI_LOG_INFO, rank->members[component].unit->name,
           "comes back at the start of every step, since its inputs change there: such events are crossed by the "
           "unit alone");
}

/* A step that is accepted although it is not accurate must at least have finite signals. */
static enum tutti_err step_check_finite(const struct tt_sim *master, const struct tt_step_result *result)
{
    if (tt_watch_is_finite(&master->finite, master->rank))
        return TUTTI_OK;
    return tt_watch_fail_not_finite(master->rank, result->target,
                                    result->converged ? "" : " after a step whose iteration diverges");
}

static bool is_tiny_step(const struct tt_sim *master, double h)
{
    const struct tt_rank *rank = master->rank;
    return h <= fmin(2 * master->event_tolerance, 1e-3 * rank->times.step);
}

/* Ends the run if events follow each other so closely that it makes no progress. */
static enum tutti_err count_dense_events(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    bool at_once = is_tiny_step(master, master->memory.located.at - rank->t);
    master->memory.at_once = at_once ? master->memory.at_once + 1 : 0;
    if (master->memory.at_once < MOST_AT_ONCE)
        return TUTTI_OK;
    return tt_fail(
        TUTTI_ERR_FMU,
        "t = %s: the run hardly moves: %d steps in a row ended at an event less than %.3g after their start; "
        "--step-log shows them; use --events none, or a larger --event-tolerance",
        TIME(rank->t), MOST_AT_ONCE, 2 * master->event_tolerance);
}

/* Warns, once, that an inaccurate step is accepted. */
static void step_warn_forced(const struct tt_sim *master, const struct tt_step_result *result, enum tt_verdict verdict)
{
    const struct tt_rank *rank = master->rank;
    char name[256];
    if (!result->converged && master->not_converged == 0)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "t = %s: the iteration of the step to %s has not converged after %u sweeps; going on with the "
               "last (use a smaller --step, --max-iterations, --accelerate anderson or --control converge)",
               TIME(result->from), TIME(result->target), master->most_iterations);
    else if (verdict == TUTTI_FORCE && master->forced == 0)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "t = %s: a step of %.3g errs by %.3g times the tolerance in '%s', and a shorter one would not "
               "be better, or is not allowed (--h-min); going on with it (--step gives fixed steps)",
               TIME(result->from), result->target - result->from, result->error,
               step_output_name(master, result->driver, name, sizeof name));
}

/* Ends the run after too many inaccurate steps. Accurate steps reduce the count, unless they are hardly longer than the shortest step: those lie
 * between inaccurate ones, which return as soon as the step grows. */
static enum tutti_err count_forced_steps(struct tt_sim *master, const struct tt_step_result *result, bool forced)
{
    struct tt_rank *rank = master->rank;
    char name[256];
    master->forced += forced;
    if (!forced) {
        bool counts = result->target - result->from > 10 * master->memory.stepper.h_min;
        master->memory.forced_balance -= counts && master->memory.forced_balance > 0;
        return TUTTI_OK;
    }
    master->memory.forced_balance += 2;
    /* A given --h-min is meant: Nicolai 2019 section 3.3 calls it the limit to fall back to steps without a test. */
    if (master->memory.forced_balance < 2 * MOST_FORCED || rank->job->options.has_h_min)
        return TUTTI_OK;
    if (!result->converged)
        return tt_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: the iteration of %d steps has not converged, however short they are, as in an algebraic "
            "loop; use --accelerate anderson, --max-iterations, or --coupling jacobi --correct",
            TIME(rank->t), MOST_FORCED);
    return tt_fail(
        TUTTI_ERR_SOLVER,
        "t = %s: %d steps are not good, the last one by %.3g times the tolerance in '%s': its error does not "
        "fall with the step; use larger tolerances, a finer solver in the unit, or --step for fixed steps",
        TIME(rank->t), MOST_FORCED, result->error, step_output_name(master, result->driver, name, sizeof name));
}

/* Errors that are proportional to the step do not decrease per unit of time, however short the step: the tolerance is then for each step. (A
 * kink has the same effect, but not for long.) */
static void stop_bounding_per_time(struct tt_sim *master, const struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    char name[256];
    if (!tt_step_size_is_minimum(&master->memory.stepper, result->target - result->from) ||
        rank->job->options.has_h_min || ++master->memory.learned.least < MOST_FORCED_PER_TIME)
        return;
    master->norm.per_time = false;
    tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
           "t = %s: errors of '%s' add up to more than the tolerance, however short steps are; from here on the "
           "tolerance is for each step (--error-per step)",
           TIME(result->from), step_output_name(master, result->driver, name, sizeof name));
}

static enum tutti_err accept_attempt(struct tt_sim *master, const struct tt_step_result *result,
                                     enum tt_verdict verdict)
{
    if (verdict == TUTTI_FORCE || !result->converged) {
        TRY(step_check_finite(master, result));
        step_warn_forced(master, result, verdict);
    }
    TRY(count_forced_steps(master, result, verdict == TUTTI_FORCE));
    if (master->norm.per_time && result->estimated)
        tt_norm_accept_scale(&master->norm.scale);
    if (master->norm.per_time && verdict == TUTTI_FORCE && result->converged)
        stop_bounding_per_time(master, result);
    if (!is_tiny_step(master, result->target - result->from))
        master->memory.at_once = 0;
    master->not_converged += !result->converged;
    master->memory.event = is_ahead(&master->memory.located, result->target);
    return step_accept(master, result);
}

static const char *verdict_word(const struct tt_step_result *result, enum tt_verdict verdict)
{
    if (verdict == TUTTI_REJECT)
        return result->converged ? "rejected" : "not converged";
    return verdict == TUTTI_FORCE ? "forced" : "accepted";
}

/* Warns if stability bounds the steps instead of their error. Errors of a method grow with the power order + 1 of the step, at most 4. If a step
 * slightly longer than one with a small error errs by far more, and a step of the old size is accurate again, the coupling amplifies
 * differences: a tighter tolerance would not shorten the steps, a looser one not lengthen them. (After a jump much shorter steps are needed.) */
static void check_stability_limit(struct tt_sim *master, const struct tt_step_result *result, enum tt_verdict verdict)
{
    enum { LEAST_COUNT = 40, WINDOW = 1000 };
    static const double SMALL_ERROR = 0.3, SHORTER = 0.6, LONGER = 1.1, FAR_LONGER = 3, LEAST_POWER = 6;
    struct tt_stiffness *seen = &master->stiffness;
    double h = result->target - result->from;
    char name[256];
    if (!result->estimated || !result->converged || verdict == TUTTI_FORCE)
        return;
    if (verdict == TUTTI_REJECT) {
        bool near = seen->error > 0 && seen->error < SMALL_ERROR && h > LONGER * seen->h && h < FAR_LONGER * seen->h;
        seen->blown = near && log(result->error / seen->error) > LEAST_POWER * log(h / seen->h);
        return;
    }
    seen->back += seen->blown && h > SHORTER * seen->h && result->error < SMALL_ERROR;
    seen->accepted++;
    seen->h = h;
    seen->error = result->error;
    seen->blown = false;
    if (seen->accepted > WINDOW) {
        seen->accepted /= 2;
        seen->back /= 2;
    }
    if (seen->told || seen->back < LEAST_COUNT)
        return;
    seen->told = true;
    tt_log(master->rank->log, TUTTI_LOG_WARNING, NULL,
           "t = %s: the stability of the coupling bounds the steps, not their error: %lu of the last %lu steps were "
           "followed by a longer one whose error was far more than its size explains, the last in '%s'; "
           "--interface me --coupling strong (one solver for all units) takes longer steps, perhaps --coupling newton "
           "or --extrapolate 1",
           TIME(result->from), seen->back, seen->accepted, step_output_name(master, result->driver, name, sizeof name));
}

/* ---- the state machine ---- */

/* A macro step on its way. */
struct macro_step {
    struct tt_sim *master;
    double target;
    enum tt_step_state state;
    struct tt_step_result result; /* of the attempt made last */
    enum tt_verdict verdict;      /* on it */
    bool restart;                 /* the signal histories are full of noise */
    struct tt_step_result before; /* the last attempt whose error was too large, and much longer than the next one */
    struct tt_step_result first;  /* the attempt since which the error has not become smaller */

    /* In TUTTI_STEP_LOCATE: the event lies in (low, high]. */
    double low, high;
    enum tt_step_case wanted;     /* why it is located */
    struct tt_step_result change; /* the last attempt in which an output changed */
};

/* -- the attempts of the states -- */

static enum tt_step_case classify_return(const struct macro_step *step)
{
    const struct tt_step_history *memory = &step->master->memory;
    const struct tt_step_result *result = &step->result;
    double t = step->master->rank->t;
    if (result->at <= t) {
        const struct tt_step_event *last = &memory->at_start;
        bool again = last->kind == TUTTI_EVENT_AT_START && last->at == t && last->component == result->component;
        return again ? TUTTI_CASE_EVENT_AGAIN : TUTTI_CASE_EVENT_AT_START;
    }
    bool passed = memory->passed.kind == TUTTI_EVENT_ON_THE_WAY && memory->passed.at == t &&
                  memory->passed.component == result->component;
    return passed && result->at - t <= step->master->event_tolerance ? TUTTI_CASE_EVENT_REPEATED : TUTTI_CASE_EVENT;
}

/* The case of an attempt that an event or a component ended; TUTTI_CASE_GOOD: its error decides. */
static enum tt_step_case classify_end(const struct macro_step *step)
{
    const struct tt_sim *master = step->master;
    const struct tt_step_result *result = &step->result;
    double t = master->rank->t;
    bool early = result->at < step->target, ended = result->end == TUTTI_END_OF_RUN;
    bool changed = result->end == TUTTI_END_OUTPUT_CHANGED;
    if (result->end == TUTTI_END_REACHED)
        return TUTTI_CASE_GOOD;
    if (!(master->chosen.is & TUTTI_METHOD_GOES_BACK)) {
        if (!(master->chosen.is & TUTTI_METHOD_TOGETHER) || changed || !early)
            return TUTTI_CASE_GOOD;
        return result->at > t || ended ? TUTTI_CASE_ALL_AT_EVENT : TUTTI_CASE_EVENT_AT_START;
    }
    if (result->end == TUTTI_END_REFUSED)
        return TUTTI_CASE_REFUSED;
    if (result->end == TUTTI_END_EVENT)
        return classify_return(step);
    if (changed)
        return result->in_second_half && step->target - t > master->event_tolerance ? TUTTI_CASE_CHANGED_LATE
                                                                                    : TUTTI_CASE_CHANGED;
    return !early ? TUTTI_CASE_GOOD : result->at > t ? TUTTI_CASE_END_OF_RUN : TUTTI_CASE_ENDED_AT_START;
}

static const char *end_word(enum tt_step_end end)
{
    return end == TUTTI_END_REFUSED  ? "discarded"
           : end == TUTTI_END_EVENT  ? "early"
           : end == TUTTI_END_OF_RUN ? "ended"
                                     : "changed";
}

/* TUTTI_STEP_TRY: an attempt of the control, and its judgement. */
static enum tutti_err step_try(struct macro_step *step, enum tt_step_case *found)
{
    struct tt_sim *master = step->master;
    const struct tt_control *control = master->chosen.control;
    step->result = tt_step_result_begin(master->rank->t, step->target);
    TRY(control->attempt(master, step->target, &step->result));
    *found = classify_end(step);
    if (*found != TUTTI_CASE_GOOD)
        return log_attempt(master, &step->result, end_word(step->result.end));
    step->restart = false;
    step->verdict = control->judge(master, &step->result);
    step->verdict = tt_control_check_noise(master, &step->result, &step->first, step->verdict, &step->restart);
    TRY(log_attempt(master, &step->result, verdict_word(&step->result, step->verdict)));
    check_stability_limit(master, &step->result, step->verdict);
    if (step->verdict == TUTTI_REJECT) {
        bool jump = master->chosen.detection->outputs && tt_control_is_jump(&step->before, &step->result);
        *found = jump ? TUTTI_CASE_JUMP : TUTTI_CASE_TOO_INEXACT;
    }
    return TUTTI_OK;
}

/* TUTTI_STEP_LOCATE: bisection; every attempt begins at the start of the macro step (Awais 2015 section 5.5; Galtier 2015). */
static enum tutti_err step_locate(struct macro_step *step, enum tt_step_case *found)
{
    struct tt_sim *master = step->master;
    double t = master->rank->t, middle = step->low + (step->high - step->low) / 2;
    if (!(step->high - step->low > master->event_tolerance) || middle <= step->low || middle >= step->high) {
        *found = step->low > t ? TUTTI_CASE_LOCATED : TUTTI_CASE_LOCATED_AT_START;
        return TUTTI_OK;
    }
    struct tt_step_result result = tt_step_result_begin(t, middle);
    TRY(step->wanted == TUTTI_CASE_JUMP ? master->chosen.control->attempt(master, middle, &result)
                                        : tt_control_attempt_step(master, middle, &result));
    bool event = tt_control_attempt_is_over(&result) || !(result.error <= 1);
    TRY(log_attempt(master, &result, event ? "behind the event" : "before the event"));
    TRY(step_reject(master));
    if (result.end == TUTTI_END_OUTPUT_CHANGED)
        step->change = result;
    *(event ? &step->high : &step->low) = middle;
    *found = TUTTI_CASE_NARROWED;
    return TUTTI_OK;
}

/* TUTTI_STEP_CROSS: the short step across a located event; whatever happens in it counts as one event at its end. */
static enum tutti_err step_cross(struct macro_step *step, enum tt_step_case *found)
{
    struct tt_sim *master = step->master;
    struct tt_rank *rank = master->rank;
    unsigned long own_events = rank->own_events;
    TRY(count_dense_events(master));
    step->target = master->memory.located.at;
    TRY(tt_coupling_step(master, step->target, &master->crossing_rules, &step->result));
    if (master->detector.discretes && step->result.end == TUTTI_END_REACHED)
        TRY(tt_detector_detect(&master->detector, step->target, &step->result));
    if (step->result.end == TUTTI_END_REFUSED) {
        *found = TUTTI_CASE_REFUSED;
        return log_attempt(master, &step->result, "discarded");
    }
    if (!step->result.converged) {
        TRY(step_check_finite(master, &step->result));
        step_warn_forced(master, &step->result, TUTTI_ACCEPT);
        master->not_converged++;
    }
    rank->own_events = own_events;
    *found = TUTTI_CASE_GOOD;
    return log_attempt(master, &step->result, "event");
}

/* -- the actions -- */

static enum tutti_err step_do_nothing(struct macro_step *step)
{
    (void)step;
    return TUTTI_OK;
}

static enum tutti_err step_finish(struct macro_step *step)
{
    TRY(accept_attempt(step->master, &step->result, step->verdict));
    return step->restart ? tt_extrapolation_restart(&step->master->extrapolation) : TUTTI_OK;
}

/* All components stand at an event, or where the run ended: the step ends there. */
static enum tutti_err step_finish_at_event(struct macro_step *step)
{
    step->result.target = step->result.at;
    step->target = fmax(step->result.at, step->master->rank->t);
    step->master->memory.event = true;
    step->master->memory.at_once = 0;
    return step_accept(step->master, &step->result);
}

static enum tutti_err step_finish_crossing(struct macro_step *step)
{
    struct tt_sim *master = step->master;
    struct tt_step_history *memory = &master->memory;
    memory->located.kind = TUTTI_EVENT_NONE;
    memory->event = true;
    memory->located_in = memory->steps;
    master->rank->stats->events_located++;
    TRY(step_accept(master, &step->result));
    tt_step_size_restart(&memory->stepper);
    TRY(tt_correction_restart(master->correction));
    return tt_extrapolation_restart(&master->extrapolation);
}

/* The error is too large: the control has proposed a shorter step. */
static enum tutti_err step_shorten(struct macro_step *step)
{
    struct tt_sim *master = step->master;
    const struct tt_step_result *result = &step->result;
    if (!(step->first.error > 1) || result->error < step->first.error / 2)
        step->first = *result;
    if (!(step->before.error > 1) || result->target - result->from <= (step->before.target - step->before.from) / 2)
        step->before = *result;
    TRY(step_reject(master));
    master->memory.located.kind = TUTTI_EVENT_NONE;
    step->target = master->rank->t + master->memory.stepper.h;
    return TUTTI_OK;
}

/* A component discarded the step, or outputs could not be solved for: as far as the component came, otherwise half of the step. */
static enum tutti_err step_halve(struct macro_step *step)
{
    struct tt_sim *master = step->master;
    const struct tt_rank *rank = master->rank;
    const struct tt_step_result *result = &step->result;
    const struct tt_unit *unit = rank->units[result->component];
    double half = rank->t + (step->target - rank->t) / 2;
    bool shortest = half <= rank->t || half >= step->target || half - rank->t < LEAST_STEP * rank->span;
    TRY(step_reject(master));
    if (shortest && result->unsolved)
        return tt_correction_explain(master->correction);
    if (shortest)
        return tt_fail(TUTTI_ERR_FMU,
                       "%s (%s): the FMU discards every step from t = %s on, however short; check its inputs and "
                       "parameters there",
                       unit->name, unit->fmu->path, TIME(rank->t));
    step->target = result->at > half && result->at < step->target ? result->at : half;
    tt_step_size_limit(&master->memory.stepper, step->target - rank->t);
    return TUTTI_OK;
}

/* A component returned on the way with an event: all go there, and handle it at the end of the step. */
static enum tutti_err step_go_to_event(struct macro_step *step)
{
    struct tt_sim *master = step->master;
    const struct tt_step_result *result = &step->result;
    TRY(step_reject(master));
    if (master->rank->members[result->component].unit->has_events)
        master->memory.pending = (struct tt_step_event){TUTTI_EVENT_ON_THE_WAY, result->component, result->at};
    master->memory.located.kind = TUTTI_EVENT_NONE; /* located from another start, or by longer steps */
    step->target = result->at;
    return TUTTI_OK;
}

/* A component does not leave the start of the step: its event is handled there, and the step begins again. */
static enum tutti_err step_handle_event_at_start(struct macro_step *step)
{
    struct tt_sim *master = step->master;
    struct tt_rank *rank = master->rank;
    uint32_t component = step->result.component;
    bool crossed;
    if (master->chosen.is & TUTTI_METHOD_GOES_BACK)
        TRY(step_reject(master));
    rank->members[component].now.event = true;
    TRY(tt_events_handle(master, &crossed));
    master->memory.at_start = (struct tt_step_event){TUTTI_EVENT_AT_START, component, rank->t};
    if (rank->ended) {
        step->target = rank->t;
        return TUTTI_OK;
    }
    tt_outputs_invalidate(&master->outputs);
    tt_detector_invalidate(&master->detector);
    tt_step_size_restart(&master->memory.stepper);
    tt_tlm_record(master->tlm);
    TRY(tt_extrapolation_restart(&master->extrapolation));
    return tt_step_begin(master);
}

/* An event that was handled at the start of the step returns after a rounding error: the component crosses it alone. */
static enum tutti_err step_cross_within_tolerance(struct macro_step *step)
{
    struct tt_sim *master = step->master;
    double t = master->rank->t;
    TRY(step_reject(master));
    master->memory.located = (struct tt_step_event){TUTTI_EVENT_LOCATED, step->result.component,
                                                    fmin(t + master->event_tolerance, step->target)};
    return TUTTI_OK;
}

/* Begins the location of a changed output, of an event that depends on inputs of a later time, or of a jump. */
static enum tutti_err step_begin_location(struct macro_step *step, enum tt_step_case wanted, double high)
{
    step->wanted = wanted;
    step->low = step->master->rank->t;
    step->high = high;
    step->change = step->result;
    return TUTTI_OK;
}

static enum tutti_err step_begin_locating_change(struct macro_step *step)
{
    const struct tt_step_result *result = &step->result;
    TRY(step_reject(step->master));
    return step_begin_location(step, TUTTI_CASE_CHANGED, result->in_second_half ? result->target : result->at);
}

/* The component returned twice from the start of the step: the event is not there, but in inputs of a later time. */
static enum tutti_err step_begin_locating_event(struct macro_step *step)
{
    TRY(step_reject(step->master));
    return step_begin_location(step, TUTTI_CASE_EVENT_AGAIN, step->target);
}

static enum tutti_err step_begin_locating_jump(struct macro_step *step)
{
    double high = step->target;
    TRY(step_shorten(step));
    return step_begin_location(step, TUTTI_CASE_JUMP, high);
}

static enum tutti_err step_end_location(struct macro_step *step)
{
    struct tt_sim *master = step->master;
    bool at_start = step->low <= master->rank->t;
    master->memory.located = (struct tt_step_event){TUTTI_EVENT_LOCATED, step->result.component, step->high};
    step->target = step->low;
    if (step->wanted == TUTTI_CASE_EVENT_AGAIN)
        count_early_return(master, step->result.component, at_start);
    if (step->wanted == TUTTI_CASE_CHANGED)
        tt_detector_count_change(&master->detector, &step->change, at_start);
    return TUTTI_OK;
}

/* An output changed in the second half of a doubled step: the first half is known to be without a change. */
static enum tutti_err step_go_to_middle(struct macro_step *step)
{
    TRY(step_reject(step->master));
    step->target = step->result.at;
    step->master->memory.located.kind = TUTTI_EVENT_NONE;
    return TUTTI_OK;
}

/* A component ended the run inside the step: all go there. */
static enum tutti_err step_go_to_end(struct macro_step *step)
{
    TRY(step_reject(step->master));
    step->target = step->result.at;
    return TUTTI_OK;
}

/* A component ended the run without moving. */
static enum tutti_err step_end_run(struct macro_step *step)
{
    struct tt_rank *rank = step->master->rank;
    TRY(step_reject(step->master));
    rank->ended = &rank->members[step->result.component];
    step->target = rank->t;
    return TUTTI_OK;
}

/* -- the table (docs/design/step.md shows it as a diagram) -- */

static const struct step_transition {
    enum tutti_err (*action)(struct macro_step *step); /* NULL: the state has no such case */
    enum tt_step_state next;
} TRANSITIONS[TUTTI_STEP_DONE][TUTTI_STEP_CASES] = {
    [TUTTI_STEP_TRY] = {[TUTTI_CASE_GOOD] = {step_finish, TUTTI_STEP_DONE},
                        [TUTTI_CASE_ALL_AT_EVENT] = {step_finish_at_event, TUTTI_STEP_DONE},
                        [TUTTI_CASE_TOO_INEXACT] = {step_shorten, TUTTI_STEP_TRY},
                        [TUTTI_CASE_JUMP] = {step_begin_locating_jump, TUTTI_STEP_LOCATE},
                        [TUTTI_CASE_REFUSED] = {step_halve, TUTTI_STEP_TRY},
                        [TUTTI_CASE_EVENT] = {step_go_to_event, TUTTI_STEP_TRY},
                        [TUTTI_CASE_EVENT_AT_START] = {step_handle_event_at_start, TUTTI_STEP_TRY},
                        [TUTTI_CASE_EVENT_AGAIN] = {step_begin_locating_event, TUTTI_STEP_LOCATE},
                        [TUTTI_CASE_EVENT_REPEATED] = {step_cross_within_tolerance, TUTTI_STEP_CROSS},
                        [TUTTI_CASE_CHANGED] = {step_begin_locating_change, TUTTI_STEP_LOCATE},
                        [TUTTI_CASE_CHANGED_LATE] = {step_go_to_middle, TUTTI_STEP_TRY},
                        [TUTTI_CASE_END_OF_RUN] = {step_go_to_end, TUTTI_STEP_TRY},
                        [TUTTI_CASE_ENDED_AT_START] = {step_end_run, TUTTI_STEP_DONE}},
    [TUTTI_STEP_LOCATE] = {[TUTTI_CASE_NARROWED] = {step_do_nothing, TUTTI_STEP_LOCATE},
                           [TUTTI_CASE_LOCATED] = {step_end_location, TUTTI_STEP_TRY},
                           [TUTTI_CASE_LOCATED_AT_START] = {step_end_location, TUTTI_STEP_CROSS}},
    [TUTTI_STEP_CROSS] = {[TUTTI_CASE_GOOD] = {step_finish_crossing, TUTTI_STEP_DONE},
                          [TUTTI_CASE_REFUSED] = {step_halve, TUTTI_STEP_TRY}},
};

bool tt_step_next(enum tt_step_state state, enum tt_step_case found, enum tt_step_state *next)
{
    *next = TRANSITIONS[state][found].next;
    return TRANSITIONS[state][found].action != NULL;
}

enum tutti_err tt_step_macro(struct tt_sim *master, double *target)
{
    static enum tutti_err (*const attempts[])(struct macro_step *, enum tt_step_case *) = {
        [TUTTI_STEP_TRY] = step_try, [TUTTI_STEP_LOCATE] = step_locate, [TUTTI_STEP_CROSS] = step_cross};
    const struct tt_rank *rank = master->rank;
    const struct tt_step_event *located = &master->memory.located;
    struct macro_step step = {.master = master, .target = *target};
    int tries = 0;
    master->memory.steps++;
    TRY(tt_step_begin(master));
    if (is_ahead(located, rank->t) && (step.target <= rank->t || step.target == located->at))
        step.state = TUTTI_STEP_CROSS;
    while (step.state != TUTTI_STEP_DONE) {
        enum tt_step_case found;
        if (step.state != TUTTI_STEP_LOCATE && tries++ == MOST_ATTEMPTS)
            return tt_fail(TUTTI_ERR_FMU, "t = %s: none of %d attempts at a step was good; --step-log shows them",
                           TIME(rank->t), MOST_ATTEMPTS);
        TRY(attempts[step.state](&step, &found));
        const struct step_transition *transition = &TRANSITIONS[step.state][found];
        TRY(transition->action(&step));
        step.state = rank->ended ? TUTTI_STEP_DONE : transition->next;
    }
    *target = step.target;
    return TUTTI_OK;
}
