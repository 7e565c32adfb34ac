/* SPDX-License-Identifier: MIT */
/* A macro step whose size may have to be found: tried, judged, taken back, tried again; events in it are located.
 *
 * Invariants:
 *  M1  Every attempt begins at the start of the macro step, with everything as it was there.
 *  M2  In an accepted step no discrete output has changed where anybody looked, except in the short one across an event.
 *  M3  Every do-step is counted once: accepted, rejected or auxiliary. */
#include "master/macro.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "master/agree.h"
#include "master/control.h"
#include "master/correct.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/step_log.h"

enum {
    MOST_ATTEMPTS = 1000,
    MOST_FORCED = 1000,
    MOST_FORCED_PER_TIME = 20,
    MOST_COMEBACKS = 3,
    MOST_AT_ONCE = 1000,
};

/* An error that is larger than so many tolerances is none of noise. */
static const double MOST_NOISE = 100;
/* The same where the tolerance is for the whole run. */
static const double MOST_NOISE_PER_TIME = 0.1;
/* A unit that refuses steps as short as this, as a part of the run, refuses them all. (Near 0 there are many shorter ones.) */
static const double LEAST_STEP = 1e-15;

/* ---- pieces of an attempt ---- */

enum tutti_err tutti_macro_couple(struct run *run, double target)
{
    struct tutti_master *master = &run->master;
    master->early = INFINITY;
    master->refused = NULL;
    master->iterations = 0;
    master->converged = true;
    tutti_extrapolation_lay(run);
    tutti_outputs_forget(run);
    TRY(tutti_coupling_pay(run));
    TRY(master->coupling->step(run, target));
    run->stats->iterations += master->iterations;
    return tutti_agree_step(run);
}

static void attribute(struct run *run, bool rejected)
{
    for (uint32_t m = 0; m < run->own_count; m++) {
        struct tutti_unit_counts *counts = &run->own[m]->unit->counts;
        *(rejected ? &counts->rejected : &counts->auxiliary) += counts->do_steps - counts->attributed;
        counts->attributed = counts->do_steps;
    }
}

enum tutti_err tutti_macro_go_back(struct run *run, bool rejected)
{
    attribute(run, rejected);
    run->master.owes_exchange = false;
    tutti_outputs_forget(run);
    return tutti_snapshot_restore(&run->master.start, run);
}

/* ---- accepting and rejecting ---- */

static enum tutti_err accept(struct run *run, double target)
{
    for (uint32_t m = 0; m < run->own_count; m++)
        run->own[m]->unit->counts.attributed = run->own[m]->unit->counts.do_steps;
    TRY(tutti_coupling_pay(run));
    run->t = target;
    if (target == run->master.owed_at) {
        run->members[run->master.owed_by].event = true;
        run->master.paid_at = target;
    }
    tutti_correction_accept(run);
    return tutti_extrapolation_accept(run);
}

static enum tutti_err reject(struct run *run)
{
    run->stats->rejected++;
    return tutti_macro_go_back(run, true);
}

static struct tutti_attempt begin(const struct run *run, double target)
{
    return (struct tutti_attempt){.from = run->t, .target = target, .driver = TUTTI_NONE, .converged = true};
}

/* ---- events ---- */

/* One try of a location: *event says whether it lies at or before `target`. */
static enum tutti_err probe(struct run *run, double target, bool by_error, bool *event)
{
    struct tutti_attempt attempt = begin(run, target);
    TRY(by_error ? run->master.control->attempt(run, target, &attempt) : tutti_attempt_plain(run, target, &attempt));
    *event = tutti_attempt_is_over(run, &attempt) || !(attempt.error <= 1);
    TRY(tutti_step_log_write(run, &attempt, *event ? "behind the event" : "before the event"));
    return TUTTI_OK;
}

/* A discrete output changes in (run->t, high], or, by_error, the error of steps that end there comes from a jump or a kink:
 * bisection, each try from the start of the step (000 section 5.5; 003). Then the run is at its start; *low is the last
 * point before the event, cross_at the first behind it. */
static enum tutti_err locate(struct run *run, double high, bool by_error, double *low)
{
    struct tutti_master *master = &run->master;
    *low = run->t;
    while (high - *low > master->event_tolerance) {
        double middle = *low + (high - *low) / 2;
        bool event;
        if (middle <= *low || middle >= high)
            break;
        TRY(probe(run, middle, by_error, &event));
        TRY(reject(run));
        *(event ? &high : low) = middle;
    }
    master->cross_at = high;
    return TUTTI_OK;
}

/* ---- the macro step ---- */

/* After a step that a unit refused: as far as it came, else half of it. */
static enum tutti_err try_half(const struct run *run, const struct tutti_member *refused, double *target)
{
    double at = run->master.refused_at, half = run->t + (*target - run->t) / 2;
    if (half <= run->t || half >= *target || half - run->t < LEAST_STEP * run->span)
        return tutti_fail(TUTTI_ERR_FMU,
                          "%s (%s): the FMU discards every step from t = %s on, however short; check its inputs and "
                          "parameters there",
                          refused->unit->name, refused->unit->fmu->path, TIME(run->t));
    *target = at > half && at < *target ? at : half;
    return TUTTI_OK;
}

/* From here on units may be taken back to this point, though not beyond it. */
static enum tutti_err take_start(struct run *run)
{
    for (uint32_t m = 0; m < run->own_count; m++)
        run->own[m]->unit->back_to = fmin(run->t, run->kept_from);
    return tutti_snapshot_take(&run->master.start, run);
}

static enum tutti_err begin_step(struct run *run)
{
    struct tutti_master *master = &run->master;
    master->event = false;
    TRY(tutti_outputs_take(run, master->before));
    if (master->per_time)
        tutti_scale_see(run, master->before);
    if (master->goes_back)
        TRY(take_start(run));
    return master->discretes ? tutti_detect_mark(run) : TUTTI_OK;
}

/* A unit does not leave the start of the step before its event there is crossed. */
static enum tutti_err cross_here(struct run *run)
{
    struct tutti_master *master = &run->master;
    bool crossed;
    run->members[master->early_member].event = true;
    TRY(tutti_events_cross(run, &crossed));
    master->crossed_here = run->t;
    master->crossed_member = master->early_member;
    if (run->ended)
        return TUTTI_OK;
    tutti_outputs_forget(run);
    tutti_detect_forget(run);
    tutti_stepper_restart(&master->stepper);
    TRY(tutti_extrapolation_restart(run));
    return begin_step(run);
}

/* A unit did not leave the start of a step though its event there was crossed, and, `at_once`, of no shorter step either. So
 * the event is none of a threshold that its inputs reach later: it is the inputs, which are others in a step than at its
 * start, as with seidel, relax or inputs held in the middle. Such a unit enters event mode by itself from now on. */
static void count_comeback(struct run *run, bool at_once)
{
    struct tutti_master *master = &run->master;
    struct tutti_unit *unit = run->members[master->early_member].unit;
    unsigned long step = run->stats->steps + 1;
    unit->comebacks = !at_once ? 0 : step == master->comeback + 1 ? unit->comebacks + 1 : 1;
    master->comeback = step;
    if (unit->comebacks < MOST_COMEBACKS || unit->takes_news)
        return;
    unit->takes_news = true;
    tutti_log_printf(
        run->options->log, TUTTI_LOG_INFO, unit->name,
        "comes back at the start of every step, since its inputs change there: such events are crossed by the "
        "unit alone");
}

/* What to do about an attempt that an event or a unit ended: the next target, from the start again. */
static enum tutti_err turn_back(struct run *run, const struct tutti_attempt *attempt, double *target)
{
    struct tutti_master *master = &run->master;
    const struct tutti_member *refused = master->refused;
    bool early = !refused && master->early < *target;
    TRY(tutti_step_log_write(run, attempt, refused ? "discarded" : early ? "early" : "changed"));
    TRY(reject(run));
    if (refused) {
        TRY(try_half(run, refused, target));
        tutti_stepper_refuse(&master->stepper, *target - run->t);
        return TUTTI_OK;
    }
    if (early && master->early <= run->t) {
        bool again = master->crossed_here == run->t && master->crossed_member == master->early_member;
        if (!again)
            return cross_here(run);
        /* Twice from there: the event is not there, but in inputs that belong to a later time. */
        uint32_t member = master->early_member;
        TRY(locate(run, *target, false, target));
        master->early_member = member;
        count_comeback(run, *target <= run->t);
        return TUTTI_OK;
    }
    if (early && master->paid_at == run->t && master->owed_by == master->early_member &&
        master->early - run->t <= master->event_tolerance) {
        /* It was crossed there, and comes a rounding error later: the unit crosses it by itself, within the tolerance. */
        master->cross_at = fmin(run->t + master->event_tolerance, *target);
        *target = run->t;
        return TUTTI_OK;
    }
    if (early && run->members[master->early_member].unit->has_events) {
        master->owed_at = master->early;
        master->owed_by = master->early_member;
    }
    if (!early && (!attempt->in_second_half || *target - run->t <= master->event_tolerance)) {
        TRY(locate(run, attempt->in_second_half ? attempt->target : attempt->changed_at, false, target));
        tutti_detect_count(run, *target == run->t);
        return TUTTI_OK;
    }
    *target = early ? master->early : attempt->changed_at;
    master->cross_at = -INFINITY; /* located from another start, or by longer steps: void */
    return TUTTI_OK;
}

static const char *name_of(const struct run *run, uint32_t output, char *name, size_t size)
{
    struct tutti_end end = {0};
    snprintf(name, size, "a signal");
    if (output != TUTTI_NONE) {
        end = tutti_outputs_end(run, output);
        tutti_system_name(run->system, &end, name, size);
    }
    return name;
}

/* Nothing good can come of signals that are not finite. */
static enum tutti_err check_finite(struct run *run, const struct tutti_attempt *attempt)
{
    const struct tutti_wires *wires = &run->wires;
    for (uint32_t i = 0; i < wires->real_count; i++) {
        char name[256];
        if (isfinite(((const double *)(void *)wires->signals)[wires->reals[i].place]))
            continue;
        return tutti_fail(TUTTI_ERR_SOLVER,
                          "t = %s: '%s' is not finite after the step to %s%s; if its FMU does not do that by itself, "
                          "the coupling is not stable: try another --coupling, --correct or a smaller step (tutti "
                          "analyze)",
                          TIME(attempt->from), name_of(run, i, name, sizeof name), TIME(attempt->target),
                          attempt->converged ? "" : ", whose iteration diverges");
    }
    return TUTTI_OK;
}

static bool is_splinter(const struct run *run, double h)
{
    return h <= fmin(2 * run->master.event_tolerance, 1e-3 * run->times.step);
}

/* Events that follow each other so closely that the run hardly moves. */
static enum tutti_err count_at_once(struct run *run)
{
    struct tutti_master *master = &run->master;
    bool at_once = is_splinter(run, master->cross_at - run->t);
    master->at_once = at_once ? master->at_once + 1 : 0;
    if (master->at_once < MOST_AT_ONCE)
        return TUTTI_OK;
    return tutti_fail(
        TUTTI_ERR_FMU,
        "t = %s: the run hardly moves: %d steps in a row ended at an event less than %.3g after their start; "
        "--step-log shows them; use --events none, or a larger --event-tolerance",
        TIME(run->t), MOST_AT_ONCE, 2 * master->event_tolerance);
}

/* The short step over a located event: whatever happens in it, happens at its end. */
static enum tutti_err cross_over(struct run *run, double *target)
{
    struct tutti_master *master = &run->master;
    TRY(count_at_once(run));
    struct tutti_attempt attempt = begin(run, master->cross_at);
    master->crosses = true;
    enum tutti_err err = tutti_attempt_plain(run, master->cross_at, &attempt);
    master->crosses = false;
    TRY(err);
    if (tutti_attempt_is_over(run, &attempt) && !attempt.changed && !run->ended)
        return turn_back(run, &attempt, target);
    if (!attempt.converged) {
        TRY(check_finite(run, &attempt));
        master->not_converged++;
    }
    TRY(tutti_step_log_write(run, &attempt, "event"));
    *target = master->cross_at;
    master->cross_at = -INFINITY;
    master->event = true;
    run->stats->events_located++;
    TRY(accept(run, *target));
    tutti_stepper_restart(&master->stepper);
    TRY(tutti_correction_restart(run));
    return tutti_extrapolation_restart(run);
}

/* The first time that it happens: a step that is not good, and goes on nevertheless. */
static void warn(const struct run *run, const struct tutti_attempt *attempt, enum tutti_verdict verdict)
{
    const struct tutti_master *master = &run->master;
    char name[256];
    if (!attempt->converged && master->not_converged == 0)
        tutti_log_printf(run->options->log, TUTTI_LOG_WARNING, NULL,
                         "t = %s: the iteration of the step to %s has not converged after %u sweeps; going on with the "
                         "last (use a smaller --step, --max-iterations, --accelerate anderson or --control converge)",
                         TIME(attempt->from), TIME(attempt->target), master->most_iterations);
    else if (verdict == TUTTI_FORCE && master->forced == 0)
        tutti_log_printf(run->options->log, TUTTI_LOG_WARNING, NULL,
                         "t = %s: a step of %.3g errs by %.3g times the tolerance in '%s', and a shorter one would not "
                         "be better, or is not allowed (--h-min); going on with it (--step gives fixed steps)",
                         TIME(attempt->from), attempt->target - attempt->from, attempt->error,
                         name_of(run, attempt->driver, name, sizeof name));
}

/* Bad steps in large numbers: nothing becomes better of itself. Good ones count against them, unless they are hardly longer
 * than the shortest: such ones lie between bad ones, which follow as soon as the step grows. */
static enum tutti_err count_forced(struct run *run, const struct tutti_attempt *attempt, bool forced)
{
    struct tutti_master *master = &run->master;
    char name[256];
    master->forced += forced;
    if (!forced) {
        bool counts = attempt->target - attempt->from > 10 * master->stepper.h_min;
        master->forced_balance -= counts && master->forced_balance > 0;
        return TUTTI_OK;
    }
    master->forced_balance += 2;
    /* Whoever gives --h-min means it: 002 section 3.3 calls it the limit to fall back to steps without a test. */
    if (master->forced_balance < 2 * MOST_FORCED || run->options->has_h_min)
        return TUTTI_OK;
    if (!attempt->converged)
        return tutti_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: the iteration of %d steps has not converged, however short they are, as in an algebraic "
            "loop; use --accelerate anderson, --max-iterations, or --coupling jacobi --correct",
            TIME(run->t), MOST_FORCED);
    return tutti_fail(
        TUTTI_ERR_SOLVER,
        "t = %s: %d steps are not good, the last one by %.3g times the tolerance in '%s': its error does not "
        "fall with the step; use larger tolerances, a finer solver in the unit, or --step for fixed steps",
        TIME(run->t), MOST_FORCED, attempt->error, name_of(run, attempt->driver, name, sizeof name));
}

/* Errors that only fall with the step stay what they are per unit of time. (A kink does that, but not for long.) */
static void give_up_time(struct run *run, const struct tutti_attempt *attempt)
{
    struct tutti_master *master = &run->master;
    char name[256];
    if (!tutti_stepper_is_least(&master->stepper, attempt->target - attempt->from) || run->options->has_h_min ||
        ++master->learned.least < MOST_FORCED_PER_TIME)
        return;
    master->per_time = false;
    tutti_log_printf(
        run->options->log, TUTTI_LOG_WARNING, NULL,
        "t = %s: errors of '%s' add up to more than the tolerance, however short steps are; from here on the "
        "tolerance is for each step (--error-per step)",
        TIME(attempt->from), name_of(run, attempt->driver, name, sizeof name));
}

static enum tutti_err go_on(struct run *run, const struct tutti_attempt *attempt, enum tutti_verdict verdict)
{
    struct tutti_master *master = &run->master;
    if (verdict == TUTTI_FORCE || !attempt->converged) {
        TRY(check_finite(run, attempt));
        warn(run, attempt, verdict);
    }
    TRY(count_forced(run, attempt, verdict == TUTTI_FORCE));
    if (master->per_time && attempt->estimated)
        tutti_scale_add(run);
    if (master->per_time && verdict == TUTTI_FORCE && attempt->converged)
        give_up_time(run, attempt);
    if (!is_splinter(run, attempt->target - attempt->from))
        master->at_once = 0;
    master->not_converged += !attempt->converged;
    master->event = master->cross_at > attempt->target;
    return accept(run, attempt->target);
}

/* An FMU ended the simulation inside of the step: that is where all are to go. If it does so without moving, they are there. */
static enum tutti_err end_there(struct run *run, const struct tutti_attempt *attempt, double *target)
{
    const struct tutti_member *by = run->ended;
    double at = run->ended_at;
    TRY(tutti_step_log_write(run, attempt, "ended"));
    TRY(reject(run));
    run->ended = at > run->t ? NULL : by;
    *target = at > run->t ? at : run->t;
    return TUTTI_OK;
}

static const char *verdict_word(const struct tutti_attempt *attempt, enum tutti_verdict verdict)
{
    if (verdict == TUTTI_REJECT)
        return attempt->converged ? "rejected" : "not converged";
    return verdict == TUTTI_FORCE ? "forced" : "accepted";
}

/* The error of smooth signals falls with the step, if only with its first power where it hangs on points from before. One that
 * hardly falls comes from a jump, or from a kink that both attempts have passed. */
static bool is_flagged(const struct tutti_attempt *before, const struct tutti_attempt *now)
{
    double h1 = before->target - before->from, h2 = now->target - now->from;
    if (!before->converged || !now->converged || !(before->size > MOST_NOISE) || !(now->size > MOST_NOISE) ||
        h2 > h1 / 2)
        return false;
    return log(before->size / now->size) < 0.5 * log(h1 / h2);
}

/* A small error that stays as it is while the step becomes a fraction of what it was: the solvers inside of the units are no
 * better than that, and shorter steps do not help. */
static bool is_noise(const struct tutti_attempt *first, const struct tutti_attempt *now)
{
    double h1 = first->target - first->from, h2 = now->target - now->from;
    return now->converged && first->error > 1 && now->error < MOST_NOISE && h2 <= h1 / 8 &&
           now->error > first->error / 2;
}

/* Do predictions from here look back over a point where signals may have bent? */
static bool is_behind_bend(const struct tutti_master *master)
{
    const struct tutti_history *history = &master->extrapolation.history;
    return history->points > 0 && history->times[history->points - 1] < master->learned.bent_at;
}

/* Per unit of time, noise of any size is too much for short steps; and what is seen of it, brought to the order of the method,
 * falls for once if a step is much shorter than those before it. What is seen at first does not. Errors of smooth signals fall
 * with the step at least, from one macro step to the next, too; or else the step would not have to become shorter. (Behind a
 * bend of a table they do not at once.) */
static bool is_noise_per_time(struct run *run, const struct tutti_attempt *now)
{
    struct tutti_learned *learned = &run->master.learned;
    double h = now->target - now->from, before = learned->noise_h;
    if (!now->converged || !(now->seen < MOST_NOISE_PER_TIME) || tutti_extrapolation_begins(&run->master.extrapolation))
        return false;
    if (is_behind_bend(&run->master)) {
        learned->noise_h = 0;
        return false;
    }
    if (before > 0 && h <= before / 8 && now->seen > learned->noise_seen * pow(h / before, 0.6)) {
        learned->noise = fmax(learned->noise, now->seen);
        return true;
    }
    if (!(before > 0) || h <= before / 8 || h > before) {
        learned->noise_h = h;
        learned->noise_seen = now->seen;
    }
    return false;
}

/* A step of this size was good: what was seen before it is of no use any more, unless that was longer. */
static void forget_noise(struct run *run, double h)
{
    struct tutti_master *master = &run->master;
    master->learned.noise *= 0.9;
    master->learned.gauge_due -= master->learned.gauge_due > 0;
    if (h > 10 * master->stepper.h_min)
        master->learned.least -= master->learned.least > 0;
    if (h >= master->learned.noise_h)
        master->learned.noise_h = 0;
}

/* The attempt was not good: what to try next. */
static enum tutti_err try_shorter(struct run *run, const struct tutti_attempt *attempt,
                                  const struct tutti_attempt *before, double *target)
{
    struct tutti_master *master = &run->master;
    TRY(reject(run));
    master->cross_at = -INFINITY;
    if (master->detection->outputs && is_flagged(before, attempt))
        return locate(run, *target, true, target);
    *target = run->t + master->stepper.h;
    return TUTTI_OK;
}

enum tutti_err tutti_macro_step(struct run *run, double *target)
{
    struct tutti_master *master = &run->master;
    struct tutti_attempt before = {0}, first = {0};
    TRY(begin_step(run));
    for (int tries = 0; tries < MOST_ATTEMPTS; tries++) {
        if (master->cross_at > run->t && *target <= run->t)
            *target = master->cross_at;
        if (*target == master->cross_at) {
            TRY(cross_over(run, target));
            if (master->event || run->ended)
                return TUTTI_OK;
            continue;
        }
        struct tutti_attempt attempt = begin(run, *target);
        TRY(master->control->attempt(run, *target, &attempt));
        if (master->goes_back && !run->ended && tutti_attempt_is_over(run, &attempt)) {
            TRY(turn_back(run, &attempt, target));
            if (run->ended) { /* in an event at the start of the step */
                *target = run->t;
                return TUTTI_OK;
            }
            continue;
        }
        if (master->goes_back && run->ended && run->ended_at < *target) {
            TRY(end_there(run, &attempt, target));
            if (run->ended)
                return TUTTI_OK;
            continue;
        }
        enum tutti_verdict verdict = master->control->judge(run, &attempt);
        bool noisy = false;
        if (verdict == TUTTI_REJECT && master->per_time && is_noise_per_time(run, &attempt)) {
            verdict = TUTTI_FORCE;
            noisy = true;
            tutti_stepper_scale(&master->stepper, master->learned.noise_h, 1); /* where noise was no more than here */
            master->learned.noise_h = 0;
        } else if (verdict == TUTTI_REJECT && !master->per_time && is_noise(&first, &attempt)) {
            verdict = TUTTI_FORCE;
            master->stepper.h = first.target - first.from;
        } else if (verdict == TUTTI_ACCEPT)
            forget_noise(run, attempt.target - attempt.from);
        TRY(tutti_step_log_write(run, &attempt, verdict_word(&attempt, verdict)));
        if (verdict != TUTTI_REJECT) {
            TRY(go_on(run, &attempt, verdict));
            return noisy ? tutti_extrapolation_restart(run) : TUTTI_OK;
        }
        if (!(first.error > 1) || attempt.error < first.error / 2)
            first = attempt; /* since then the error has not become less */
        TRY(try_shorter(run, &attempt, &before, target));
        if (!(before.error > 1) || attempt.target - attempt.from <= (before.target - before.from) / 2)
            before = attempt;
    }
    return tutti_fail(TUTTI_ERR_FMU, "t = %s: none of %d attempts at a step was good; --step-log shows them",
                      TIME(run->t), MOST_ATTEMPTS);
}
