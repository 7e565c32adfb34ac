/* SPDX-License-Identifier: MIT */
#include "master/loop.h"

#include <math.h>

#include "base/clock.h"
#include "base/number.h"

/* How often an FMU may come back without moving in time before it is called stuck. */
enum { MOST_STANDSTILLS = 1000 };

/* So many steps may go by without a look at the clock: little for a fast FMU, bearable if it becomes slow. */
enum { MOST_BLIND_STEPS = 4096 };

enum tutti_err tutti_loop_settle(struct run *run)
{
    struct tutti_unit_event event;
    TRY(run->unit->kind->settle(run->unit, &event));
    for (int round = 0; tutti_time_reached(run->t, event.next_event, run->span) && !event.terminate; round++) {
        if (round == MOST_STANDSTILLS)
            return tutti_fail(TUTTI_ERR_FMU,
                              "%s (%s): time stands still at t = %s: the FMU announces one event after another for it",
                              run->name, run->fmu->path, NUMBER(run->t));
        TRY(run->unit->kind->enter_event(run->unit));
        TRY(run->unit->kind->settle(run->unit, &event));
    }
    run->next_event = event.next_event;
    run->ended = event.terminate;
    return TUTTI_OK;
}

/* The earlier of a and b; b, to the bit, if both mean the same point. */
static double earlier(double a, double b, double span)
{
    return b < a || tutti_time_same(a, b, span) ? b : a;
}

/* R2; the exact times of later lines win over those of earlier ones. An FMU that cannot vary its step goes from
 * communication point to communication point (recorded points are among them), and events wait for the next one. */
static double next_target(struct run *run)
{
    double target = run->communication.next;
    if (run->plain)
        return target;
    if (run->inputs.trajectory) {
        run->input_event = tutti_trajectory_next_event(run->inputs.trajectory, run->input_time);
        run->kink = tutti_inputs_horizon(&run->inputs, run->unit, run->input_time);
    }
    if (run->unit->uniform)
        return target;
    if (run->times.output_step > 0)
        target = earlier(target, run->output.next, run->span);
    if (run->visit)
        target = earlier(target, run->visit_at, run->span);
    if (isfinite(run->kink))
        target = earlier(target, run->kink, run->span);
    if (run->input_event < INFINITY)
        target = earlier(target, run->input_event, run->span);
    if (run->next_event < INFINITY)
        target = earlier(target, run->next_event, run->span);
    return target;
}

/* FMI 1.0 and 2.0: a discarded step cannot be repeated without a saved state. */
static enum tutti_err discarded_for_good(struct run *run, double target, const struct tutti_step *step)
{
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU discarded the step from t = %s to %s; it came as far as %s. %s",
                      run->name, run->fmu->path, NUMBER(run->t), NUMBER(target), NUMBER(step->reached),
                      run->unit->uniform ? "It cannot vary its step: use another --step from the start"
                                         : "Use a smaller --step");
}

/* The size of the step to `goal`. FMUs that know one size only get that very number, unless they came off the grid. */
static double step_to(const struct run *run, double goal)
{
    if (run->unit->uniform && tutti_time_same(run->t + run->times.step, goal, run->span))
        return run->times.step;
    return tutti_time_step(run->t, goal);
}

/* Steps towards `target`. FMI 3.0 FMUs that discard a step stand where they stood: try half of it, and half again. */
static enum tutti_err advance(struct run *run, double target, struct tutti_step *step)
{
    double goal = target;
    for (;;) {
        if (run->inputs.trajectory)
            TRY(tutti_inputs_apply(&run->inputs, run->unit, run->input_time, goal));
        run->unit->horizon = fmin(run->times.stop, fmin(run->kink, run->input_event));
        double h = step_to(run, goal);
        TRY(run->unit->kind->step(run->unit, run->t, h, step));
        if (__builtin_expect(!step->discarded, 1))
            return TUTTI_OK;
        if (step->terminate)
            return TUTTI_OK; /* the way that FMI 2.0 has to say that this is the end */
        run->stats->rejected++;
        if (!step->can_retry)
            return discarded_for_good(run, goal, step);
        double half = run->t + (goal - run->t) / 2;
        if (run->unit->uniform || goal - run->t < 1e-9 * run->times.step || half <= run->t || half >= goal)
            return tutti_fail(TUTTI_ERR_FMU,
                              "%s (%s): the FMU discards every step from t = %s on, down to %.3g; check its "
                              "inputs and parameters there",
                              run->name, run->fmu->path, NUMBER(run->t), goal - run->t);
        goal = half;
    }
}

/* An FMU that comes back again and again without moving would keep the run here for ever. */
static enum tutti_err watch_standstill(struct run *run, double before)
{
    if (run->t > before) {
        run->standstills = 0;
        return TUTTI_OK;
    }
    if (++run->standstills < MOST_STANDSTILLS)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): time stands still at t = %s: the FMU came back %d times from there",
                      run->name, run->fmu->path, NUMBER(run->t), MOST_STANDSTILLS);
}

/* Where the FMU is after a step: the target to the bit unless it says something else. */
static void arrive(struct run *run, double target, const struct tutti_step *step)
{
    bool there = step->reached == target || tutti_time_same(step->reached, target, run->span);
    run->t = there ? target : step->reached;
    tutti_grid_pass(&run->communication, run->t);
}

/* Both sides of an event are recorded: values before, then, after the FMU settled, values at the same time. */
static enum tutti_err cross_event(struct run *run, bool input_event)
{
    TRY(tutti_observer_row(&run->observer, run->unit, run->t));
    TRY(run->unit->kind->enter_event(run->unit));
    if (input_event) {
        tutti_inputs_sample(&run->inputs, run->input_time, true);
        TRY(tutti_inputs_set_all(&run->inputs, run->unit));
    }
    TRY(tutti_loop_settle(run));
    run->stats->events_located++;
    return tutti_observer_row(&run->observer, run->unit, run->t);
}

/* At the point reached: events first, else a row if one is due. */
static enum tutti_err look_around(struct run *run, const struct tutti_step *step)
{
    bool input_event = tutti_time_reached(run->t, run->input_event, run->span);
    run->input_time = input_event ? fmax(run->t, run->input_event) : run->t;
    if (run->inputs.trajectory)
        tutti_inputs_sample(&run->inputs, run->input_time, false);
    if (input_event)
        tutti_inputs_note_event(&run->inputs);
    bool due = true;
    if (run->times.output_step > 0) {
        double next = run->output.next;
        due = tutti_time_reached(run->t, next, run->span);
        tutti_grid_pass(&run->output, run->t);
    }
    if (run->unit->has_events && !step->terminate &&
        (step->event || input_event || tutti_time_reached(run->t, run->next_event, run->span)))
        return cross_event(run, input_event);
    return due || step->terminate ? tutti_observer_row(&run->observer, run->unit, run->t) : TUTTI_OK;
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
    if (run->options->progress && time - run->last_progress >= 0.1) {
        run->last_progress = time;
        struct tutti_progress progress = {run->times.start,  run->times.stop,       run->t, h,
                                          run->stats->steps, time - run->loop_start};
        run->options->progress(run->options->progress_context, &progress);
    }
    return TUTTI_OK;
}

enum tutti_err tutti_loop(struct run *run)
{
    const volatile sig_atomic_t *interrupt = run->options->interrupt;
    if (run->visit && !run->ended && tutti_time_reached(run->t, run->visit_at, run->span))
        return run->visit->visit(run->visit->context, run->unit, run->t);
    while (run->t < run->times.stop && !run->ended) {
        if (__builtin_expect(interrupt && *interrupt, 0))
            return tutti_fail(TUTTI_ERR_INTERRUPTED, "interrupted at t = %s; everything up to there is kept",
                              NUMBER(run->t));
        double before = run->t, target = next_target(run);
        struct tutti_step step;
        TRY(advance(run, target, &step));
        run->stats->steps++;
        arrive(run, target, &step);
        if (!run->plain)
            TRY(look_around(run, &step));
        run->ended = run->ended || step.terminate;
        if (__builtin_expect(run->visit != NULL, 0) && !run->ended &&
            tutti_time_reached(run->t, run->visit_at, run->span))
            return run->visit->visit(run->visit->context, run->unit, run->t);
        if (__builtin_expect(run->t <= before, 0) || run->standstills)
            TRY(watch_standstill(run, before));
        if (__builtin_expect(--run->countdown == 0, 0))
            TRY(look_at_clock(run, run->t - before));
    }
    return TUTTI_OK;
}
