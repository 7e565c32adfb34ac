/* SPDX-License-Identifier: MIT */
#include "master/loop.h"

#include <math.h>

#include "base/clock.h"
#include "base/number.h"
#include "master/agree.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/pace.h"
#include "master/tell.h"

/* So many steps may go by without a look at the clock: little for a fast FMU, bearable if it becomes slow. */
enum { MOST_BLIND_STEPS = 4096 };

/* The earlier of a and b; b, to the bit, if both mean the same point. */
static double earlier(double a, double b, double span)
{
    return b < a || (b < INFINITY && tutti_time_same(a, b, span)) ? b : a;
}

/* The same among what is announced; of the same point the last name, at which it has come for everybody. */
static double earlier_event(double a, double b, double span)
{
    return b < INFINITY && tutti_time_same(a, b, span) ? fmax(a, b) : fmin(a, b);
}

/* What a unit and its inputs announce. A unit with steps of its own hits that by itself (member.c). */
static double announced_by(struct run *run, struct tutti_member *member)
{
    struct tutti_inputs *inputs = member->inputs;
    double event = INFINITY;
    if (inputs)
        tutti_inputs_look_ahead(inputs, member->unit);
    if (member->has_grid)
        return event;
    if (inputs && isfinite(inputs->kink))
        event = earlier_event(event, inputs->kink, run->span);
    if (inputs)
        event = earlier_event(event, fmin(inputs->row, inputs->event), run->span);
    return earlier_event(event, member->next_event, run->span);
}

/* The earliest of all units, of whatever rank: all of them in their order, since times that mean the same point are not
 * compared to the bit. */
static enum tutti_err find_event(struct run *run, double *event)
{
    *event = INFINITY;
    for (uint32_t a = 0; a < run->announcer_count; a++) {
        struct tutti_member *member = run->announcers[a];
        run->announced[a] = tutti_run_owns(run, member->component) ? announced_by(run, member) : INFINITY;
    }
    if (run->announcer_count > 0)
        TRY(tutti_reduce(run, TUTTI_REDUCE_MIN, run->announced, run->announcer_count));
    for (uint32_t a = 0; a < run->announcer_count; a++)
        *event = earlier_event(*event, run->announced[a], run->span);
    return TUTTI_OK;
}

/* Hard ends are not approached in a step that leaves a splinter of one behind it. */
static double stretch(const struct run *run, double end)
{
    double h = run->master.stepper.h, left = end - run->t;
    if (left <= h * (1 + 1e-9))
        return end;
    return left < 2 * h ? run->t + left / 2 : run->t + h;
}

/* R2; the exact times of later lines win over those of earlier ones. */
static enum tutti_err find_target(struct run *run, double *next)
{
    double target = run->communication.next, event;
    *next = target;
    if (run->plain)
        return TUTTI_OK;
    bool varies = run->master.control->varies;
    *next = run->master.cross_at;
    if (run->master.cross_at > run->t)
        return TUTTI_OK;
    if (varies)
        target = run->times.stop;
    if (run->times.output_step > 0)
        target = earlier(target, run->output.next, run->span);
    if (run->visit)
        target = earlier(target, run->visit_at, run->span);
    if (run->steered)
        target = earlier(target, run->halt_at, run->span);
    TRY(find_event(run, &event));
    struct tutti_learned *learned = &run->master.learned;
    if (tutti_time_same(learned->announced, run->t, run->span))
        learned->bent_at = run->t;
    learned->announced = event;
    target = earlier(target, event, run->span);
    if (run->master.owed_at > run->t)
        target = fmin(target, run->master.owed_at);
    if (varies)
        target = stretch(run, target);
    *next = tutti_time_same(target, run->times.stop, run->span) ? run->times.stop : target; /* which is never passed */
    return TUTTI_OK;
}

/* An FMU that comes back again and again without moving would keep the run here for ever. */
static enum tutti_err watch_standstill(struct run *run, double before)
{
    const struct tutti_unit *unit = run->members[0].unit;
    if (run->t > before) {
        run->standstills = 0;
        return TUTTI_OK;
    }
    if (++run->standstills < TUTTI_MOST_STANDSTILLS)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): time stands still at t = %s: the FMU came back %d times from there",
                      unit->name, unit->fmu->path, TIME(run->t), TUTTI_MOST_STANDSTILLS);
}

enum tutti_err tutti_loop_begin_anew(struct run *run)
{
    if (!run->master.by_attempts)
        return TUTTI_OK;
    tutti_outputs_forget(run);
    tutti_detect_forget(run);
    tutti_stepper_restart(&run->master.stepper);
    return tutti_extrapolation_restart(run);
}

/* What is no number spreads from unit to unit, and nobody can make anything of the rest. At the start it may still become one.
 * Steps that are attempts have their own look at it (macro.c); others only where a row is due, and at the end. */
static enum tutti_err check_signals(const struct run *run)
{
    const double *signals = (const void *)run->wires.signals;
    for (uint32_t i = 0; i < run->wires.real_count && run->t > run->times.start; i++) {
        const struct tutti_real *real = &run->wires.reals[i];
        if (__builtin_expect(isfinite(signals[real->place]), 1) || !real->smooth ||
            !tutti_run_owns(run, real->component))
            continue;
        const struct tutti_structure_node *node = &run->structure.nodes[real->node];
        struct tutti_end end = {.component = node->component, .variable = node->variable};
        char name[256];
        return tutti_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: '%s' is not finite, and inputs follow it; if its FMU does not do that by itself, the "
            "coupling is not stable: try another --coupling, --correct or a smaller step (tutti analyze)",
            TIME(run->t), tutti_system_name(run->system, &end, name, sizeof name));
    }
    return TUTTI_OK;
}

/* At the point reached: events first, else a row if one is due. */
static enum tutti_err look_around(struct run *run)
{
    bool due = true, pending = false, jumped = false;
    for (uint32_t w = 0; w < run->watched_count; w++)
        if (tutti_member_present(run, run->watched[w])) {
            tutti_member_look(run, run->watched[w]);
            jumped = jumped || (run->watched[w]->inputs && run->watched[w]->inputs->jumped);
        }
    if (run->times.output_step > 0) {
        double next = run->output.next;
        due = tutti_time_reached(run->t, next, run->span);
        tutti_grid_pass(&run->output, run->t);
    }
    due = due || run->master.event;
    if (!due && !run->watches && !run->master.by_attempts) /* the end of the run brings a row: all have to know of it */
        TRY(tutti_agree_point(run, &pending, &jumped));
    TRY(tutti_events_look(run, &jumped, &pending));
    bool crossed = pending && !run->ended;
    if (crossed)
        TRY(tutti_events_cross_found(run));
    if (crossed || jumped)
        TRY(tutti_loop_begin_anew(run));
    if (!crossed && (due || run->ended))
        TRY(tutti_observer_row(&run->observer, run->t));
    return due && !run->master.by_attempts ? check_signals(run) : TUTTI_OK;
}

/* Now and then: progress for people, rows to the disk. The number of steps between two looks at the clock follows the
 * speed, so that fast FMUs are not slowed down and slow ones are not out of sight. */
static enum tutti_err look_at_clock(struct run *run, double h)
{
    double time = tutti_clock_now(), since = time - run->last_look;
    if (since < 0.02 && run->interval < MOST_BLIND_STEPS)
        run->interval *= 2;
    else if (since > 0.1 && run->interval > 1)
        run->interval /= 2;
    run->countdown = run->interval;
    run->last_look = time;
    if (time - run->last_flush > 1) {
        run->last_flush = time;
        TRY(tutti_observer_flush(&run->observer));
    }
    if (time - run->last_progress < 0.1)
        return TUTTI_OK;
    run->last_progress = time;
    struct tutti_progress progress = {run->times.start,  run->times.stop,       run->t, h,
                                      run->stats->steps, time - run->loop_start};
    if (run->reports)
        return tutti_tell_progress(run->teller, &progress);
    if (run->options->progress)
        run->options->progress(run->options->progress_context, &progress);
    return TUTTI_OK;
}

/* Where a step has led, for other ranks and those who watch this one. A unit that is alone may come back on the way: the run is
 * where it is, on all ranks; shadows stay at the start. */
static enum tutti_err tell_point(struct run *run)
{
    run->fabric->step = run->stats->steps;
    if (run->alone)
        TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &run->t, 1));
    run->target = run->t;
    tutti_run_tell_time(run, run->t);
    return TUTTI_OK;
}

static bool may_visit(const struct run *run)
{
    return run->visit && !run->ended && tutti_time_reached(run->t, run->visit_at, run->span);
}

static bool goes_on(const struct run *run)
{
    return run->t < run->times.stop && !run->ended && !(run->reports && tutti_fabric_is_stopped(run->fabric));
}

static enum tutti_err visit(const struct run *run)
{
    return run->visit->visit(run->visit->context, run->members[0].unit, run->t);
}

enum tutti_err tutti_loop(struct run *run)
{
    const volatile sig_atomic_t *interrupt = run->options->interrupt;
    const bool paced = run->options->has_realtime, shared = run->reports;
    if (may_visit(run))
        return visit(run);
    while (goes_on(run)) {
        if (__builtin_expect(interrupt && *interrupt, 0))
            return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept",
                              TIME(run->t));
        double before = run->t, target;
        TRY(find_target(run, &target));
        run->target = target;
        TRY(run->master.by_attempts ? tutti_macro_step(run, &target) : run->master.coupling->step(run, target));
        if (__builtin_expect(run->ended && run->master.by_attempts && target <= before, 0))
            break; /* at the start of the step, with its rows written */
        run->stats->steps++;
        run->t = run->target = run->alone ? run->members[0].t : target;
        if (__builtin_expect(shared, 0))
            TRY(tell_point(run));
        tutti_grid_pass(&run->communication, run->t);
        if (!run->plain)
            TRY(look_around(run));
        if (tutti_growth_is_due(&run->growth))
            tutti_growth_look(run);
        if (__builtin_expect(may_visit(run), 0))
            return visit(run);
        if (__builtin_expect(run->t <= before, 0) || run->standstills)
            TRY(watch_standstill(run, before));
        if (__builtin_expect(paced, 0))
            tutti_pace_wait(run);
        if (__builtin_expect(--run->countdown == 0, 0))
            TRY(look_at_clock(run, run->t - before));
        if (__builtin_expect(run->steered, 0))
            break;
    }
    return run->t >= run->times.stop ? check_signals(run) : TUTTI_OK;
}
