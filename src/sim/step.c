/* SPDX-License-Identifier: MIT */
/* Tries, judges and rolls back attempts of a macro step. */
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

/* A unit that rejects steps as short as this, relative to the run, rejects all. (Near 0 there are many shorter ones.) */
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

/* Finds the signal that determined the attempt's error; without one, the unit that caused a change, rejection or event. */
static void find_error_driver(const struct tt_sim *master, const struct tt_attempt *attempt,
                              struct tt_step_entry *entry)
{
    const struct tt_component *components = master->rank->job->system->components;
    const struct tt_detector *detector = &master->detector;
    if (attempt->driver != TUTTI_NONE) {
        struct tt_end end = tt_outputs_owner(&master->outputs, attempt->driver);
        entry->unit = components[end.component].name;
        entry->variable = components[end.component].fmu->desc->vars[end.variable].name;
    } else if (attempt->changed) {
        entry->unit = components[detector->changed_member].name;
        entry->variable = components[detector->changed_member].fmu->desc->vars[detector->changed_variable].name;
    } else if (attempt->outcome.why == TUTTI_REFUSED || attempt->outcome.why == TUTTI_EARLY)
        entry->unit = components[attempt->outcome.who].name;
}

static enum tutti_err log_attempt(struct tt_sim *master, const struct tt_attempt *attempt, const char *verdict)
{
    struct tt_step_entry entry = {.t = attempt->from,
                                  .h = attempt->target - attempt->from,
                                  .estimated = attempt->estimated,
                                  .error = attempt->error,
                                  .verdict = verdict,
                                  .iterations = attempt->iterations,
                                  .unit = "",
                                  .variable = ""};
    if (!master->log)
        return TUTTI_OK;
    find_error_driver(master, attempt, &entry);
    return tt_step_log_write(master->log, &entry);
}

/* ---- accepting and rejecting ---- */

static enum tutti_err step_accept(struct tt_sim *master, const struct tt_attempt *attempt)
{
    struct tt_rank *rank = master->rank;
    struct tt_step_history *memory = &master->memory;
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->counts.attributed = rank->own[m]->unit->counts.do_steps;
    TRY(tt_coupling_send_deferred(master));
    tt_reporter_add_step(master->made, attempt->target - attempt->from, attempt->estimated ? attempt->error : NAN);
    rank->t = attempt->target;
    if (attempt->outcome.why == TUTTI_ENDED)
        rank->ended = &rank->members[attempt->outcome.who];
    if (attempt->target == memory->pending_event_at) {
        rank->members[memory->pending_event_of].now.event = true;
        memory->passed_event_at = attempt->target;
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

/* ---- events ---- */

/* One probe of a location: *event is true if it lies at or before `target`. */
static enum tutti_err step_probe(struct tt_sim *master, double target, bool by_error, bool *event)
{
    struct tt_attempt attempt = tt_control_begin_attempt(master->rank, target);
    TRY(by_error ? master->chosen.control->attempt(master, target, &attempt)
                 : tt_control_attempt_step(master, target, &attempt));
    *event = tt_control_attempt_is_over(&attempt) || !(attempt.error <= 1);
    TRY(log_attempt(master, &attempt, *event ? "behind the event" : "before the event"));
    return TUTTI_OK;
}

/* A discrete output changes in (rank->t, high], or, by_error, the error of steps that end there comes from a jump or a
 * kink: bisection, each try from the start of the step (Awais 2015 section 5.5; Galtier 2015). Then the run is at its
 * start; *low is the last point before the event, cross_at the first after it. */
static enum tutti_err step_locate_event(struct tt_sim *master, double high, bool by_error, double *low)
{
    struct tt_rank *rank = master->rank;
    *low = rank->t;
    while (high - *low > master->event_tolerance) {
        double middle = *low + (high - *low) / 2;
        bool event;
        if (middle <= *low || middle >= high)
            break;
        TRY(step_probe(master, middle, by_error, &event));
        TRY(step_reject(master));
        *(event ? &high : low) = middle;
    }
    master->memory.cross_at = high;
    return TUTTI_OK;
}

/* ---- the macro step ---- */

/* The target after a unit rejected a step: the time it reached, otherwise half; likewise without a solution for
 * outputs. */
static enum tutti_err halved_target(const struct tt_sim *master, const struct tt_outcome *outcome, double *target)
{
    const struct tt_rank *rank = master->rank;
    const struct tt_unit *unit = rank->units[outcome->who];
    double half = rank->t + (*target - rank->t) / 2;
    bool shortest = half <= rank->t || half >= *target || half - rank->t < LEAST_STEP * rank->span;
    if (shortest && tt_correction_has_rejected(master->correction))
        return tt_correction_explain(master->correction);
    if (shortest)
        return tt_fail(TUTTI_ERR_FMU,
                       "%s (%s): the FMU discards every step from t = %s on, however short; check its inputs and "
                       "parameters there",
                       unit->name, unit->fmu->path, TIME(rank->t));
    *target = outcome->at > half && outcome->at < *target ? outcome->at : half;
    return TUTTI_OK;
}

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

/* A unit does not leave the start of the step before its event there is crossed. */
static enum tutti_err handle_event_at_start(struct tt_sim *master, uint32_t component)
{
    struct tt_rank *rank = master->rank;
    bool crossed;
    rank->members[component].now.event = true;
    TRY(tt_events_handle(master, &crossed));
    master->memory.crossed_here = rank->t;
    master->memory.crossed_member = component;
    if (rank->ended)
        return TUTTI_OK;
    tt_outputs_invalidate(&master->outputs);
    tt_detector_invalidate(&master->detector);
    tt_step_size_restart(&master->memory.stepper);
    tt_tlm_record(master->tlm);
    TRY(tt_extrapolation_restart(&master->extrapolation));
    return tt_step_begin(master);
}

/* A unit did not leave the start of a step although its event there was crossed, and, with `at_once`, not even in a
 * shorter step. So the event is not caused by a threshold that its inputs reach later, but by the inputs, which differ
 * in a step from those at its start, as with seidel, relax or inputs held in the middle. Such a unit enters event mode
 * alone from now on. */
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

/* A unit came back on the way, with an event: all are to go there, and cross it. */
static enum tutti_err restart_to_event(struct tt_sim *master, const struct tt_outcome *outcome, double *target)
{
    struct tt_rank *rank = master->rank;
    struct tt_step_history *memory = &master->memory;
    if (outcome->at <= rank->t) {
        bool again = memory->crossed_here == rank->t && memory->crossed_member == outcome->who;
        if (!again)
            return handle_event_at_start(master, outcome->who);
        /* Twice from there: the event is not there, but in inputs that belong to a later time. */
        TRY(step_locate_event(master, *target, false, target));
        count_early_return(master, outcome->who, *target <= rank->t);
        return TUTTI_OK;
    }
    if (memory->passed_event_at == rank->t && memory->pending_event_of == outcome->who &&
        outcome->at - rank->t <= master->event_tolerance) {
        /* It was crossed there, and is reported a rounding error later: the unit crosses it alone. */
        memory->cross_at = fmin(rank->t + master->event_tolerance, *target);
        *target = rank->t;
        return TUTTI_OK;
    }
    if (rank->members[outcome->who].unit->has_events) {
        memory->pending_event_at = outcome->at;
        memory->pending_event_of = outcome->who;
    }
    *target = outcome->at;
    memory->cross_at = -INFINITY; /* located from another start, or by longer steps: void */
    return TUTTI_OK;
}

/* Locates the change of a discrete output. */
static enum tutti_err restart_to_change(struct tt_sim *master, const struct tt_attempt *attempt, double *target)
{
    const struct tt_rank *rank = master->rank;
    if (!attempt->in_second_half || *target - rank->t <= master->event_tolerance) {
        TRY(step_locate_event(master, attempt->in_second_half ? attempt->target : attempt->changed_at, false, target));
        tt_detector_count_change(&master->detector, *target == rank->t);
        return TUTTI_OK;
    }
    *target = attempt->changed_at;
    master->memory.cross_at = -INFINITY;
    return TUTTI_OK;
}

/* Handles an attempt that an event or a unit ended: sets the next target, and restarts. */
static enum tutti_err retry_or_locate(struct tt_sim *master, const struct tt_attempt *attempt, double *target)
{
    const struct tt_outcome *outcome = &attempt->outcome;
    bool refused = outcome->why == TUTTI_REFUSED, early = outcome->why == TUTTI_EARLY;
    TRY(log_attempt(master, attempt, refused ? "discarded" : early ? "early" : "changed"));
    TRY(step_reject(master));
    if (refused) {
        TRY(halved_target(master, outcome, target));
        tt_step_size_limit(&master->memory.stepper, *target - master->rank->t);
        return TUTTI_OK;
    }
    return early ? restart_to_event(master, outcome, target) : restart_to_change(master, attempt, target);
}

/* Nothing good can come of signals that are not finite. */
static enum tutti_err step_check_finite(const struct tt_sim *master, const struct tt_attempt *attempt)
{
    if (tt_watch_is_finite(&master->finite, master->rank))
        return TUTTI_OK;
    return tt_watch_fail_not_finite(master->rank, attempt->target,
                                    attempt->converged ? "" : " after a step whose iteration diverges");
}

static bool is_tiny_step(const struct tt_sim *master, double h)
{
    const struct tt_rank *rank = master->rank;
    return h <= fmin(2 * master->event_tolerance, 1e-3 * rank->times.step);
}

/* Events that follow each other so closely that the run hardly moves. */
static enum tutti_err count_dense_events(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    bool at_once = is_tiny_step(master, master->memory.cross_at - rank->t);
    master->memory.at_once = at_once ? master->memory.at_once + 1 : 0;
    if (master->memory.at_once < MOST_AT_ONCE)
        return TUTTI_OK;
    return tt_fail(
        TUTTI_ERR_FMU,
        "t = %s: the run hardly moves: %d steps in a row ended at an event less than %.3g after their start; "
        "--step-log shows them; use --events none, or a larger --event-tolerance",
        TIME(rank->t), MOST_AT_ONCE, 2 * master->event_tolerance);
}

/* At the first occurrence: warns of an inaccurate step that is accepted. */
static void step_warn_forced(const struct tt_sim *master, const struct tt_attempt *attempt, enum tt_verdict verdict)
{
    const struct tt_rank *rank = master->rank;
    char name[256];
    if (!attempt->converged && master->not_converged == 0)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "t = %s: the iteration of the step to %s has not converged after %u sweeps; going on with the "
               "last (use a smaller --step, --max-iterations, --accelerate anderson or --control converge)",
               TIME(attempt->from), TIME(attempt->target), master->most_iterations);
    else if (verdict == TUTTI_FORCE && master->forced == 0)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "t = %s: a step of %.3g errs by %.3g times the tolerance in '%s', and a shorter one would not "
               "be better, or is not allowed (--h-min); going on with it (--step gives fixed steps)",
               TIME(attempt->from), attempt->target - attempt->from, attempt->error,
               step_output_name(master, attempt->driver, name, sizeof name));
}

/* The short step over a located event: whatever happens in it, happens at its end. */
static enum tutti_err step_across_event(struct tt_sim *master, double *target)
{
    struct tt_rank *rank = master->rank;
    TRY(count_dense_events(master));
    struct tt_attempt attempt = tt_control_begin_attempt(rank, master->memory.cross_at);
    bool stops = master->rules.stops_at_events;
    unsigned long own_events = rank->own_events;
    master->rules.stops_at_events = false; /* units cross their events alone */
    enum tutti_err err = tt_control_attempt_step(master, master->memory.cross_at, &attempt);
    master->rules.stops_at_events = stops;
    TRY(err);
    if (attempt.outcome.why == TUTTI_REFUSED)
        return retry_or_locate(master, &attempt, target);
    if (!attempt.converged) {
        TRY(step_check_finite(master, &attempt));
        step_warn_forced(master, &attempt, TUTTI_ACCEPT);
        master->not_converged++;
    }
    TRY(log_attempt(master, &attempt, "event"));
    *target = master->memory.cross_at;
    master->memory.cross_at = -INFINITY;
    master->memory.event = true;
    master->memory.located_in = master->memory.steps;
    rank->own_events = own_events; /* all that happens in this step is one event */
    rank->stats->events_located++;
    TRY(step_accept(master, &attempt));
    tt_step_size_restart(&master->memory.stepper);
    TRY(tt_correction_restart(master->correction));
    return tt_extrapolation_restart(&master->extrapolation);
}

/* Ends the run after too many inaccurate steps: they do not recover. Accurate steps reduce the count, unless they are
 * hardly longer than the shortest: such steps occur between inaccurate ones, which follow as soon as the step grows. */
static enum tutti_err count_forced_steps(struct tt_sim *master, const struct tt_attempt *attempt, bool forced)
{
    struct tt_rank *rank = master->rank;
    char name[256];
    master->forced += forced;
    if (!forced) {
        bool counts = attempt->target - attempt->from > 10 * master->memory.stepper.h_min;
        master->memory.forced_balance -= counts && master->memory.forced_balance > 0;
        return TUTTI_OK;
    }
    master->memory.forced_balance += 2;
    /* A given --h-min is meant: Nicolai 2019 section 3.3 calls it the limit to fall back to steps without a test. */
    if (master->memory.forced_balance < 2 * MOST_FORCED || rank->job->options.has_h_min)
        return TUTTI_OK;
    if (!attempt->converged)
        return tt_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: the iteration of %d steps has not converged, however short they are, as in an algebraic "
            "loop; use --accelerate anderson, --max-iterations, or --coupling jacobi --correct",
            TIME(rank->t), MOST_FORCED);
    return tt_fail(
        TUTTI_ERR_SOLVER,
        "t = %s: %d steps are not good, the last one by %.3g times the tolerance in '%s': its error does not "
        "fall with the step; use larger tolerances, a finer solver in the unit, or --step for fixed steps",
        TIME(rank->t), MOST_FORCED, attempt->error, step_output_name(master, attempt->driver, name, sizeof name));
}

/* Errors that only fall with the step stay what they are per unit of time. (A kink does that, but not for long.) */
static void stop_bounding_per_time(struct tt_sim *master, const struct tt_attempt *attempt)
{
    struct tt_rank *rank = master->rank;
    char name[256];
    if (!tt_step_size_is_minimum(&master->memory.stepper, attempt->target - attempt->from) ||
        rank->job->options.has_h_min || ++master->memory.learned.least < MOST_FORCED_PER_TIME)
        return;
    master->norm.per_time = false;
    tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
           "t = %s: errors of '%s' add up to more than the tolerance, however short steps are; from here on the "
           "tolerance is for each step (--error-per step)",
           TIME(attempt->from), step_output_name(master, attempt->driver, name, sizeof name));
}

static enum tutti_err accept_attempt(struct tt_sim *master, const struct tt_attempt *attempt, enum tt_verdict verdict)
{
    if (verdict == TUTTI_FORCE || !attempt->converged) {
        TRY(step_check_finite(master, attempt));
        step_warn_forced(master, attempt, verdict);
    }
    TRY(count_forced_steps(master, attempt, verdict == TUTTI_FORCE));
    if (master->norm.per_time && attempt->estimated)
        tt_norm_accept_scale(&master->norm.scale);
    if (master->norm.per_time && verdict == TUTTI_FORCE && attempt->converged)
        stop_bounding_per_time(master, attempt);
    if (!is_tiny_step(master, attempt->target - attempt->from))
        master->memory.at_once = 0;
    master->not_converged += !attempt->converged;
    master->memory.event = master->memory.cross_at > attempt->target;
    return step_accept(master, attempt);
}

/* An FMU ended the simulation inside the step: all units step to that point, unless it has not moved. */
static enum tutti_err retry_to_end(struct tt_sim *master, const struct tt_attempt *attempt, double *target)
{
    struct tt_rank *rank = master->rank;
    const struct tt_outcome *outcome = &attempt->outcome;
    TRY(log_attempt(master, attempt, "ended"));
    TRY(step_reject(master));
    if (outcome->at <= rank->t)
        rank->ended = &rank->members[outcome->who];
    *target = fmax(outcome->at, rank->t);
    return TUTTI_OK;
}

static const char *verdict_word(const struct tt_attempt *attempt, enum tt_verdict verdict)
{
    if (verdict == TUTTI_REJECT)
        return attempt->converged ? "rejected" : "not converged";
    return verdict == TUTTI_FORCE ? "forced" : "accepted";
}

/* The attempt was not good: what to try next. */
static enum tutti_err retry_shorter(struct tt_sim *master, const struct tt_attempt *attempt,
                                    const struct tt_attempt *before, double *target)
{
    struct tt_rank *rank = master->rank;
    TRY(step_reject(master));
    master->memory.cross_at = -INFINITY;
    if (master->chosen.detection->outputs && tt_control_is_jump(before, attempt))
        return step_locate_event(master, *target, true, target);
    *target = rank->t + master->memory.stepper.h;
    return TUTTI_OK;
}

/* Errors of a method grow with the power order + 1 of the step, 4 at most. Where a step a little longer than one with a small error errs by
 * far more, and one of the old size is good again, the coupling amplifies differences in it: a smaller tolerance would not make steps
 * shorter, nor a larger one longer. (A jump asks for much shorter steps.) */
static void check_stability_limit(struct tt_sim *master, const struct tt_attempt *attempt, enum tt_verdict verdict)
{
    enum { LEAST_COUNT = 40, WINDOW = 1000 };
    static const double SMALL_ERROR = 0.3, SHORTER = 0.6, LONGER = 1.1, FAR_LONGER = 3, LEAST_POWER = 6;
    struct tt_stiffness *seen = &master->stiffness;
    double h = attempt->target - attempt->from;
    char name[256];
    if (!attempt->estimated || !attempt->converged || verdict == TUTTI_FORCE)
        return;
    if (verdict == TUTTI_REJECT) {
        bool near = seen->error > 0 && seen->error < SMALL_ERROR && h > LONGER * seen->h && h < FAR_LONGER * seen->h;
        seen->blown = near && log(attempt->error / seen->error) > LEAST_POWER * log(h / seen->h);
        return;
    }
    seen->back += seen->blown && h > SHORTER * seen->h && attempt->error < SMALL_ERROR;
    seen->accepted++;
    seen->h = h;
    seen->error = attempt->error;
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
           TIME(attempt->from), seen->back, seen->accepted,
           step_output_name(master, attempt->driver, name, sizeof name));
}

enum tutti_err tt_step_macro(struct tt_sim *master, double *target)
{
    struct tt_rank *rank = master->rank;
    struct tt_attempt before = {0}, first = {0};
    master->memory.steps++;
    TRY(tt_step_begin(master));
    for (int tries = 0; tries < MOST_ATTEMPTS; tries++) {
        if (master->memory.cross_at > rank->t && *target <= rank->t)
            *target = master->memory.cross_at;
        if (*target == master->memory.cross_at) {
            TRY(step_across_event(master, target));
            if (master->memory.event || rank->ended)
                return TUTTI_OK;
            continue;
        }
        struct tt_attempt attempt = tt_control_begin_attempt(rank, *target);
        TRY(master->chosen.control->attempt(master, *target, &attempt));
        bool ended = attempt.outcome.why == TUTTI_ENDED;
        if ((master->chosen.is & TUTTI_METHOD_GOES_BACK) && !ended && tt_control_attempt_is_over(&attempt)) {
            TRY(retry_or_locate(master, &attempt, target));
            if (rank->ended) { /* in an event at the start of the step */
                *target = rank->t;
                return TUTTI_OK;
            }
            continue;
        }
        if ((master->chosen.is & TUTTI_METHOD_GOES_BACK) && ended && attempt.outcome.at < *target) {
            TRY(retry_to_end(master, &attempt, target));
            if (rank->ended)
                return TUTTI_OK;
            continue;
        }
        if ((master->chosen.is & TUTTI_METHOD_TOGETHER) && attempt.outcome.why != TUTTI_REACHED &&
            attempt.outcome.at < *target) {
            bool left = attempt.outcome.at > rank->t || ended;
            TRY(log_attempt(master, &attempt, ended ? "ended" : "early"));
            if (!left)
                TRY(handle_event_at_start(master, attempt.outcome.who));
            if (left || rank->ended) {
                *target = fmax(attempt.outcome.at, rank->t);
                if (!left)
                    return TUTTI_OK;
                /* All units stand where an event, or the end of the run, was met. */
                attempt.target = attempt.outcome.at;
                master->memory.event = true;
                master->memory.at_once = 0;
                return step_accept(master, &attempt);
            }
            continue;
        }
        bool restart = false;
        enum tt_verdict verdict = master->chosen.control->judge(master, &attempt);
        verdict = tt_control_check_noise(master, &attempt, &first, verdict, &restart);
        TRY(log_attempt(master, &attempt, verdict_word(&attempt, verdict)));
        check_stability_limit(master, &attempt, verdict);
        if (verdict != TUTTI_REJECT) {
            TRY(accept_attempt(master, &attempt, verdict));
            return restart ? tt_extrapolation_restart(&master->extrapolation) : TUTTI_OK;
        }
        if (!(first.error > 1) || attempt.error < first.error / 2)
            first = attempt; /* since then the error has not become less */
        TRY(retry_shorter(master, &attempt, &before, target));
        if (!(before.error > 1) || attempt.target - attempt.from <= (before.target - before.from) / 2)
            before = attempt;
    }
    return tt_fail(TUTTI_ERR_FMU, "t = %s: none of %d attempts at a step was good; --step-log shows them",
                   TIME(rank->t), MOST_ATTEMPTS);
}
