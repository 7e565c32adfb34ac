/* SPDX-License-Identifier: MIT */
/* Tried, judged, taken back, tried again. */
#include "master/macro.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "master/control/attempt.h"
#include "master/couple.h"
#include "master/coupling/correct.h"
#include "master/events.h"
#include "master/noise.h"
#include "report/load.h"
#include "report/step_log.h"

enum {
    MOST_ATTEMPTS = 1000,
    MOST_FORCED = 1000,
    MOST_FORCED_PER_TIME = 20,
    MOST_COMEBACKS = 3,
    MOST_AT_ONCE = 1000,
};

/* A unit that refuses steps as short as this, as a part of the run, refuses them all. (Near 0 there are many shorter ones.) */
static const double LEAST_STEP = 1e-15;

/* ---- the log ---- */

static const char *name_of(const struct tutti_master *master, uint32_t output, char *name, size_t size)
{
    struct tutti_end end = {0};
    snprintf(name, size, "a signal");
    if (output != TUTTI_NONE) {
        end = tutti_outputs_end(&master->outputs, output);
        tutti_system_name(master->rank->job->system, &end, name, size);
    }
    return name;
}

/* Which signal drove the attempt; where it was none, whose change, refusal or event did. */
static void find_driver(const struct tutti_master *master, const struct tutti_attempt *attempt,
                        struct tutti_step_entry *entry)
{
    const struct tutti_component *components = master->rank->job->system->components;
    const struct tutti_detector *detector = &master->detector;
    if (attempt->driver != TUTTI_NONE) {
        struct tutti_end end = tutti_outputs_end(&master->outputs, attempt->driver);
        entry->unit = components[end.component].name;
        entry->variable = components[end.component].fmu->desc->vars[end.variable].name;
    } else if (attempt->changed) {
        entry->unit = components[detector->changed_member].name;
        entry->variable = components[detector->changed_member].fmu->desc->vars[detector->changed_variable].name;
    } else if (attempt->outcome.why == TUTTI_REFUSED || attempt->outcome.why == TUTTI_EARLY)
        entry->unit = components[attempt->outcome.who].name;
}

static enum tutti_err log_attempt(struct tutti_master *master, const struct tutti_attempt *attempt, const char *verdict)
{
    struct tutti_step_entry entry = {.t = attempt->from,
                                     .h = attempt->target - attempt->from,
                                     .estimated = attempt->estimated,
                                     .error = attempt->error,
                                     .verdict = verdict,
                                     .iterations = attempt->iterations,
                                     .unit = "",
                                     .variable = ""};
    if (!master->log)
        return TUTTI_OK;
    find_driver(master, attempt, &entry);
    return tutti_step_log_write(master->log, &entry);
}

/* ---- accepting and rejecting ---- */

static enum tutti_err accept(struct tutti_master *master, const struct tutti_attempt *attempt)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_memory *memory = &master->memory;
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->counts.attributed = rank->own[m]->unit->counts.do_steps;
    TRY(tutti_couple_send(master));
    tutti_steps_made_add(master->made, attempt->target - attempt->from, attempt->estimated ? attempt->error : NAN);
    rank->t = attempt->target;
    if (attempt->outcome.why == TUTTI_ENDED)
        rank->ended = &rank->members[attempt->outcome.who];
    if (attempt->target == memory->pending_event_at) {
        rank->members[memory->pending_event_of].now.event = true;
        memory->passed_event_at = attempt->target;
    }
    tutti_tlm_note(master->tlm);
    tutti_correction_accept(master->correction);
    return tutti_extrapolation_accept(&master->extrapolation);
}

static enum tutti_err reject(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    rank->stats->rejected++;
    return tutti_couple_go_back(master, true);
}

/* ---- events ---- */

/* One try of a location: *event says whether it lies at or before `target`. */
static enum tutti_err probe(struct tutti_master *master, double target, bool by_error, bool *event)
{
    struct tutti_attempt attempt = tutti_attempt_begin(master->rank, target);
    TRY(by_error ? master->chosen.control->attempt(master, target, &attempt)
                 : tutti_attempt_plain(master, target, &attempt));
    *event = tutti_attempt_is_over(&attempt) || !(attempt.error <= 1);
    TRY(log_attempt(master, &attempt, *event ? "behind the event" : "before the event"));
    return TUTTI_OK;
}

/* A discrete output changes in (rank->t, high], or, by_error, the error of steps that end there comes from a jump or a
 * kink: bisection, each try from the start of the step (Awais 2015 section 5.5; Galtier 2015). Then the run is at its
 * start; *low is the last point before the event, cross_at the first after it. */
static enum tutti_err locate(struct tutti_master *master, double high, bool by_error, double *low)
{
    struct tutti_rank *rank = master->rank;
    *low = rank->t;
    while (high - *low > master->event_tolerance) {
        double middle = *low + (high - *low) / 2;
        bool event;
        if (middle <= *low || middle >= high)
            break;
        TRY(probe(master, middle, by_error, &event));
        TRY(reject(master));
        *(event ? &high : low) = middle;
    }
    master->memory.cross_at = high;
    return TUTTI_OK;
}

/* ---- the macro step ---- */

/* After a step that a unit refused: as far as it came, else half of it; likewise if outputs could not be solved for. */
static enum tutti_err try_half(const struct tutti_master *master, const struct tutti_outcome *outcome, double *target)
{
    const struct tutti_rank *rank = master->rank;
    const struct tutti_unit *unit = rank->units[outcome->who];
    double half = rank->t + (*target - rank->t) / 2;
    bool shortest = half <= rank->t || half >= *target || half - rank->t < LEAST_STEP * rank->span;
    if (shortest && tutti_correction_has_refused(master->correction))
        return tutti_correction_explain(master->correction);
    if (shortest)
        return tutti_fail(TUTTI_ERR_FMU,
                          "%s (%s): the FMU discards every step from t = %s on, however short; check its inputs and "
                          "parameters there",
                          unit->name, unit->fmu->path, TIME(rank->t));
    *target = outcome->at > half && outcome->at < *target ? outcome->at : half;
    return TUTTI_OK;
}

/* From here on units may be taken back to this point, though not beyond it. */
static enum tutti_err take_start(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->back_to = fmin(rank->t, rank->kept_from);
    return tutti_snapshot_take(&master->start, rank);
}

enum tutti_err tutti_macro_begin(struct tutti_master *master)
{
    master->memory.event = false;
    TRY(tutti_outputs_take(&master->outputs, master->norm.before));
    TRY(tutti_norm_begin(&master->norm));
    if (master->chosen.goes_back)
        TRY(take_start(master));
    return master->detector.discretes ? tutti_detector_mark(&master->detector) : TUTTI_OK;
}

/* A unit does not leave the start of the step before its event there is crossed. */
static enum tutti_err cross_here(struct tutti_master *master, uint32_t component)
{
    struct tutti_rank *rank = master->rank;
    bool crossed;
    rank->members[component].now.event = true;
    TRY(tutti_events_cross(master, &crossed));
    master->memory.crossed_here = rank->t;
    master->memory.crossed_member = component;
    if (rank->ended)
        return TUTTI_OK;
    tutti_outputs_forget(&master->outputs);
    tutti_detector_forget(&master->detector);
    tutti_stepper_restart(&master->memory.stepper);
    tutti_tlm_note(master->tlm);
    TRY(tutti_extrapolation_restart(&master->extrapolation));
    return tutti_macro_begin(master);
}

/* A unit did not leave the start of a step though its event there was crossed, and, `at_once`, of no shorter step either. So
 * the event is none of a threshold that its inputs reach later: it is the inputs, which are others in a step than at its
 * start, as with seidel, relax or inputs held in the middle. Such a unit enters event mode by itself from now on. */
static void count_comeback(struct tutti_master *master, uint32_t component, bool at_once)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_member_learned *learned = &rank->members[component].learned;
    struct tutti_memory *memory = &master->memory;
    bool in_a_row = memory->steps == memory->comeback + 1;
    learned->comebacks = !at_once ? 0 : in_a_row ? learned->comebacks + 1 : 1;
    memory->comeback = memory->steps;
    if (learned->comebacks < MOST_COMEBACKS || learned->takes_news)
        return;
    learned->takes_news = true;
    tutti_log_printf(
        rank->log, TUTTI_LOG_INFO, rank->members[component].unit->name,
        "comes back at the start of every step, since its inputs change there: such events are crossed by the "
        "unit alone");
}

/* A unit came back on the way, with an event: all are to go there, and cross it. */
static enum tutti_err turn_to_event(struct tutti_master *master, const struct tutti_outcome *outcome, double *target)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_memory *memory = &master->memory;
    if (outcome->at <= rank->t) {
        bool again = memory->crossed_here == rank->t && memory->crossed_member == outcome->who;
        if (!again)
            return cross_here(master, outcome->who);
        /* Twice from there: the event is not there, but in inputs that belong to a later time. */
        TRY(locate(master, *target, false, target));
        count_comeback(master, outcome->who, *target <= rank->t);
        return TUTTI_OK;
    }
    if (memory->passed_event_at == rank->t && memory->pending_event_of == outcome->who &&
        outcome->at - rank->t <= master->event_tolerance) {
        /* It was crossed there, and comes a rounding error later: the unit crosses it by itself, within the tolerance. */
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

/* A discrete output changed: where? */
static enum tutti_err turn_to_change(struct tutti_master *master, const struct tutti_attempt *attempt, double *target)
{
    const struct tutti_rank *rank = master->rank;
    if (!attempt->in_second_half || *target - rank->t <= master->event_tolerance) {
        TRY(locate(master, attempt->in_second_half ? attempt->target : attempt->changed_at, false, target));
        tutti_detector_count(&master->detector, *target == rank->t);
        return TUTTI_OK;
    }
    *target = attempt->changed_at;
    master->memory.cross_at = -INFINITY;
    return TUTTI_OK;
}

/* What to do about an attempt that an event or a unit ended: the next target, from the start again. */
static enum tutti_err turn_back(struct tutti_master *master, const struct tutti_attempt *attempt, double *target)
{
    const struct tutti_outcome *outcome = &attempt->outcome;
    bool refused = outcome->why == TUTTI_REFUSED, early = outcome->why == TUTTI_EARLY;
    TRY(log_attempt(master, attempt, refused ? "discarded" : early ? "early" : "changed"));
    TRY(reject(master));
    if (refused) {
        TRY(try_half(master, outcome, target));
        tutti_stepper_refuse(&master->memory.stepper, *target - master->rank->t);
        return TUTTI_OK;
    }
    return early ? turn_to_event(master, outcome, target) : turn_to_change(master, attempt, target);
}

/* Nothing good can come of signals that are not finite. */
static enum tutti_err check_finite(const struct tutti_master *master, const struct tutti_attempt *attempt)
{
    if (tutti_finite_holds(&master->finite, master->rank))
        return TUTTI_OK;
    return tutti_finite_fail(master->rank, attempt->target,
                             attempt->converged ? "" : " after a step whose iteration diverges");
}

static bool is_splinter(const struct tutti_master *master, double h)
{
    const struct tutti_rank *rank = master->rank;
    return h <= fmin(2 * master->event_tolerance, 1e-3 * rank->times.step);
}

/* Events that follow each other so closely that the run hardly moves. */
static enum tutti_err count_at_once(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    bool at_once = is_splinter(master, master->memory.cross_at - rank->t);
    master->memory.at_once = at_once ? master->memory.at_once + 1 : 0;
    if (master->memory.at_once < MOST_AT_ONCE)
        return TUTTI_OK;
    return tutti_fail(
        TUTTI_ERR_FMU,
        "t = %s: the run hardly moves: %d steps in a row ended at an event less than %.3g after their start; "
        "--step-log shows them; use --events none, or a larger --event-tolerance",
        TIME(rank->t), MOST_AT_ONCE, 2 * master->event_tolerance);
}

/* The first time that it happens: a step that is not good, and goes on nevertheless. */
static void warn(const struct tutti_master *master, const struct tutti_attempt *attempt, enum tutti_verdict verdict)
{
    const struct tutti_rank *rank = master->rank;
    char name[256];
    if (!attempt->converged && master->not_converged == 0)
        tutti_log_printf(rank->log, TUTTI_LOG_WARNING, NULL,
                         "t = %s: the iteration of the step to %s has not converged after %u sweeps; going on with the "
                         "last (use a smaller --step, --max-iterations, --accelerate anderson or --control converge)",
                         TIME(attempt->from), TIME(attempt->target), master->most_iterations);
    else if (verdict == TUTTI_FORCE && master->forced == 0)
        tutti_log_printf(rank->log, TUTTI_LOG_WARNING, NULL,
                         "t = %s: a step of %.3g errs by %.3g times the tolerance in '%s', and a shorter one would not "
                         "be better, or is not allowed (--h-min); going on with it (--step gives fixed steps)",
                         TIME(attempt->from), attempt->target - attempt->from, attempt->error,
                         name_of(master, attempt->driver, name, sizeof name));
}

/* The short step over a located event: whatever happens in it, happens at its end. */
static enum tutti_err cross_over(struct tutti_master *master, double *target)
{
    struct tutti_rank *rank = master->rank;
    TRY(count_at_once(master));
    struct tutti_attempt attempt = tutti_attempt_begin(rank, master->memory.cross_at);
    bool stops = master->rules.stops_at_events;
    unsigned long own_events = rank->own_events;
    master->rules.stops_at_events = false; /* units cross theirs by themselves */
    enum tutti_err err = tutti_attempt_plain(master, master->memory.cross_at, &attempt);
    master->rules.stops_at_events = stops;
    TRY(err);
    if (attempt.outcome.why == TUTTI_REFUSED)
        return turn_back(master, &attempt, target);
    if (!attempt.converged) {
        TRY(check_finite(master, &attempt));
        warn(master, &attempt, TUTTI_ACCEPT);
        master->not_converged++;
    }
    TRY(log_attempt(master, &attempt, "event"));
    *target = master->memory.cross_at;
    master->memory.cross_at = -INFINITY;
    master->memory.event = true;
    master->memory.located_in = master->memory.steps;
    rank->own_events = own_events; /* all that happens in this step is one event */
    rank->stats->events_located++;
    TRY(accept(master, &attempt));
    tutti_stepper_restart(&master->memory.stepper);
    TRY(tutti_correction_restart(master->correction));
    return tutti_extrapolation_restart(&master->extrapolation);
}

/* Bad steps in large numbers: nothing becomes better of itself. Good ones count against them, unless they are hardly longer
 * than the shortest: such ones lie between bad ones, which follow as soon as the step grows. */
static enum tutti_err count_forced(struct tutti_master *master, const struct tutti_attempt *attempt, bool forced)
{
    struct tutti_rank *rank = master->rank;
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
        return tutti_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: the iteration of %d steps has not converged, however short they are, as in an algebraic "
            "loop; use --accelerate anderson, --max-iterations, or --coupling jacobi --correct",
            TIME(rank->t), MOST_FORCED);
    return tutti_fail(
        TUTTI_ERR_SOLVER,
        "t = %s: %d steps are not good, the last one by %.3g times the tolerance in '%s': its error does not "
        "fall with the step; use larger tolerances, a finer solver in the unit, or --step for fixed steps",
        TIME(rank->t), MOST_FORCED, attempt->error, name_of(master, attempt->driver, name, sizeof name));
}

/* Errors that only fall with the step stay what they are per unit of time. (A kink does that, but not for long.) */
static void give_up_time(struct tutti_master *master, const struct tutti_attempt *attempt)
{
    struct tutti_rank *rank = master->rank;
    char name[256];
    if (!tutti_stepper_is_least(&master->memory.stepper, attempt->target - attempt->from) ||
        rank->job->options.has_h_min || ++master->memory.learned.least < MOST_FORCED_PER_TIME)
        return;
    master->norm.per_time = false;
    tutti_log_printf(
        rank->log, TUTTI_LOG_WARNING, NULL,
        "t = %s: errors of '%s' add up to more than the tolerance, however short steps are; from here on the "
        "tolerance is for each step (--error-per step)",
        TIME(attempt->from), name_of(master, attempt->driver, name, sizeof name));
}

static enum tutti_err go_on(struct tutti_master *master, const struct tutti_attempt *attempt,
                            enum tutti_verdict verdict)
{
    if (verdict == TUTTI_FORCE || !attempt->converged) {
        TRY(check_finite(master, attempt));
        warn(master, attempt, verdict);
    }
    TRY(count_forced(master, attempt, verdict == TUTTI_FORCE));
    if (master->norm.per_time && attempt->estimated)
        tutti_scale_add(&master->norm.scale);
    if (master->norm.per_time && verdict == TUTTI_FORCE && attempt->converged)
        give_up_time(master, attempt);
    if (!is_splinter(master, attempt->target - attempt->from))
        master->memory.at_once = 0;
    master->not_converged += !attempt->converged;
    master->memory.event = master->memory.cross_at > attempt->target;
    return accept(master, attempt);
}

/* An FMU ended the simulation inside of the step: that is where all are to go. If it does so without moving, they are there. */
static enum tutti_err end_there(struct tutti_master *master, const struct tutti_attempt *attempt, double *target)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_outcome *outcome = &attempt->outcome;
    TRY(log_attempt(master, attempt, "ended"));
    TRY(reject(master));
    if (outcome->at <= rank->t)
        rank->ended = &rank->members[outcome->who];
    *target = fmax(outcome->at, rank->t);
    return TUTTI_OK;
}

/* All units stand where an event, or the end of the run, was met. */
static enum tutti_err stop_there(struct tutti_master *master, struct tutti_attempt *attempt)
{
    attempt->target = attempt->outcome.at;
    master->memory.event = true;
    master->memory.at_once = 0;
    return accept(master, attempt);
}

static const char *verdict_word(const struct tutti_attempt *attempt, enum tutti_verdict verdict)
{
    if (verdict == TUTTI_REJECT)
        return attempt->converged ? "rejected" : "not converged";
    return verdict == TUTTI_FORCE ? "forced" : "accepted";
}

/* The attempt was not good: what to try next. */
static enum tutti_err try_shorter(struct tutti_master *master, const struct tutti_attempt *attempt,
                                  const struct tutti_attempt *before, double *target)
{
    struct tutti_rank *rank = master->rank;
    TRY(reject(master));
    master->memory.cross_at = -INFINITY;
    if (master->chosen.detection->outputs && tutti_noise_is_jump(before, attempt))
        return locate(master, *target, true, target);
    *target = rank->t + master->memory.stepper.h;
    return TUTTI_OK;
}

/* Errors of a method grow with the power order + 1 of the step, 4 at most. Where a step a little longer than one with a small error errs by
 * far more, and one of the old size is good again, the coupling amplifies differences in it: a smaller tolerance would not make steps
 * shorter, nor a larger one longer. (A jump asks for much shorter steps.) */
static void watch_stability(struct tutti_master *master, const struct tutti_attempt *attempt,
                            enum tutti_verdict verdict)
{
    enum { LEAST_COUNT = 40, WINDOW = 1000 };
    static const double SMALL_ERROR = 0.3, SHORTER = 0.6, LONGER = 1.1, FAR_LONGER = 3, LEAST_POWER = 6;
    struct tutti_stiffness *seen = &master->stiffness;
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
    tutti_log_printf(
        master->rank->log, TUTTI_LOG_WARNING, NULL,
        "t = %s: the stability of the coupling bounds the steps, not their error: %lu of the last %lu steps were "
        "followed by a longer one whose error was far more than its size explains, the last in '%s'; "
        "--interface me --coupling strong (one solver for all units) takes longer steps, perhaps --coupling newton "
        "or --extrapolate 1",
        TIME(attempt->from), seen->back, seen->accepted, name_of(master, attempt->driver, name, sizeof name));
}

enum tutti_err tutti_macro_step(struct tutti_master *master, double *target)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_attempt before = {0}, first = {0};
    master->memory.steps++;
    TRY(tutti_macro_begin(master));
    for (int tries = 0; tries < MOST_ATTEMPTS; tries++) {
        if (master->memory.cross_at > rank->t && *target <= rank->t)
            *target = master->memory.cross_at;
        if (*target == master->memory.cross_at) {
            TRY(cross_over(master, target));
            if (master->memory.event || rank->ended)
                return TUTTI_OK;
            continue;
        }
        struct tutti_attempt attempt = tutti_attempt_begin(rank, *target);
        TRY(master->chosen.control->attempt(master, *target, &attempt));
        bool ended = attempt.outcome.why == TUTTI_ENDED;
        if (master->chosen.goes_back && !ended && tutti_attempt_is_over(&attempt)) {
            TRY(turn_back(master, &attempt, target));
            if (rank->ended) { /* in an event at the start of the step */
                *target = rank->t;
                return TUTTI_OK;
            }
            continue;
        }
        if (master->chosen.goes_back && ended && attempt.outcome.at < *target) {
            TRY(end_there(master, &attempt, target));
            if (rank->ended)
                return TUTTI_OK;
            continue;
        }
        if (master->chosen.together && attempt.outcome.why != TUTTI_REACHED && attempt.outcome.at < *target) {
            bool left = attempt.outcome.at > rank->t || ended;
            TRY(log_attempt(master, &attempt, ended ? "ended" : "early"));
            if (!left)
                TRY(cross_here(master, attempt.outcome.who));
            if (left || rank->ended) {
                *target = fmax(attempt.outcome.at, rank->t);
                return left ? stop_there(master, &attempt) : TUTTI_OK;
            }
            continue;
        }
        bool restart = false;
        enum tutti_verdict verdict = master->chosen.control->judge(master, &attempt);
        verdict = tutti_noise_judge(master, &attempt, &first, verdict, &restart);
        TRY(log_attempt(master, &attempt, verdict_word(&attempt, verdict)));
        watch_stability(master, &attempt, verdict);
        if (verdict != TUTTI_REJECT) {
            TRY(go_on(master, &attempt, verdict));
            return restart ? tutti_extrapolation_restart(&master->extrapolation) : TUTTI_OK;
        }
        if (!(first.error > 1) || attempt.error < first.error / 2)
            first = attempt; /* since then the error has not become less */
        TRY(try_shorter(master, &attempt, &before, target));
        if (!(before.error > 1) || attempt.target - attempt.from <= (before.target - before.from) / 2)
            before = attempt;
    }
    return tutti_fail(TUTTI_ERR_FMU, "t = %s: none of %d attempts at a step was good; --step-log shows them",
                      TIME(rank->t), MOST_ATTEMPTS);
}
