/* SPDX-License-Identifier: MIT */
#include "start/rehearse.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "job/integration.h"
#include "start/undeclared.h"
#include "unit/sampling.h"

enum { STEPS = 2 };

/* How a unit went: from the start, step by step, as far as nothing came between. */
struct performance {
    struct tutti_step steps[STEPS];
    struct tutti_signals outputs[STEPS];
    int made, read;
};

struct stage {
    struct tutti_unit *unit;
    double times[STEPS + 1];
    int count; /* of steps: STEPS, or as many as the unit can take back at once */
    struct tutti_sampling sampling;
    struct performance first, again;
};

static enum tutti_err lay_out(struct stage *stage, double tolerance)
{
    TRY(tutti_sampling_init(&stage->sampling, stage->unit, tolerance));
    for (int i = 0; i < STEPS; i++) {
        TRY(tutti_sampling_lay_out(&stage->sampling, stage->unit, &stage->first.outputs[i]));
        TRY(tutti_sampling_lay_out(&stage->sampling, stage->unit, &stage->again.outputs[i]));
    }
    return TUTTI_OK;
}

static void release(struct stage *stage)
{
    tutti_sampling_fini(&stage->sampling);
    for (int i = 0; i < STEPS; i++) {
        tutti_signals_fini(&stage->first.outputs[i]);
        tutti_signals_fini(&stage->again.outputs[i]);
    }
}

static bool is_same_step(const struct tutti_step *a, const struct tutti_step *b)
{
    return a->reached == b->reached && a->discarded == b->discarded && a->event == b->event &&
           a->terminate == b->terminate;
}

/* Was it the same both times? */
static bool agrees(const struct stage *stage, char *why, size_t size)
{
    const struct performance *first = &stage->first, *again = &stage->again;
    for (int i = 0; i < first->made || i < again->made; i++) {
        if (i >= first->made || i >= again->made || !is_same_step(&first->steps[i], &again->steps[i])) {
            snprintf(why, size, "a step from t = %s goes another way when it is repeated", TIME(stage->times[i]));
            return false;
        }
        const char *output =
            i < first->read ? tutti_sampling_differ(&stage->sampling, &first->outputs[i], &again->outputs[i]) : NULL;
        if (output) {
            snprintf(why, size, "'%s' at t = %s is another when the step to it is repeated", output,
                     TIME(stage->times[i + 1]));
            return false;
        }
    }
    return true;
}

/* ---- trying ---- */

/* From the start on. With `prior` the unit is told that it may be taken back to the start of all, as it is. */
static enum tutti_err perform(struct stage *stage, struct performance *performance, bool prior)
{
    struct tutti_unit *unit = stage->unit;
    performance->made = performance->read = 0;
    unit->back_to = prior ? stage->times[0] : INFINITY;
    for (int i = 0; i < stage->count; i++) {
        struct tutti_step *step = &performance->steps[i];
        double t = stage->times[i], end = stage->times[i + 1];
        TRY(unit->kind->step(unit, t, tutti_time_step(t, end), step));
        performance->made = i + 1;
        if (step->discarded || step->event || step->terminate || step->reached != end)
            break; /* what a master does about it is not tried here */
        TRY(tutti_unit_get(unit, &performance->outputs[i]));
        tutti_sampling_see(&stage->sampling, &performance->outputs[i]);
        performance->read = i + 1;
    }
    return TUTTI_OK;
}

static enum tutti_err try_all(struct tutti_rank *rank, const struct tutti_member *member, struct stage *stage,
                              struct tutti_unit_saved **saved, struct tutti_rehearsal *rehearsal)
{
    struct tutti_unit *unit = stage->unit;
    TRY(unit->kind->save(unit, saved));
    TRY(perform(stage, &stage->first, false));
    TRY(unit->kind->restore(unit, *saved));
    TRY(perform(stage, &stage->again, true));
    TRY(unit->kind->restore(unit, *saved));
    if (agrees(stage, rehearsal->why, sizeof rehearsal->why))
        return stage->count == STEPS && stage->first.read == STEPS
                   ? tutti_undeclared_find(rank, member, *saved, stage->times[1] - stage->times[0],
                                           &rehearsal->undeclared)
                   : TUTTI_OK;
    TRY(perform(stage, &stage->again, false));
    TRY(unit->kind->restore(unit, *saved));
    rehearsal->unsteady = agrees(stage, rehearsal->why, sizeof rehearsal->why);
    rehearsal->forgets = !rehearsal->unsteady;
    return TUTTI_OK;
}

/* Two steps, as the run would make them; none across the stop time or what the unit has announced. False: there is no room. */
static bool set_times(const struct tutti_rank *rank, const struct tutti_member *member, struct stage *stage)
{
    double limit = fmin(rank->times.stop, member->now.next_event), h = rank->times.step;
    if (rank->t + STEPS * h > limit)
        h = (limit - rank->t) / STEPS;
    for (int i = 0; i <= STEPS; i++)
        stage->times[i] = i == 0 ? rank->t : i == STEPS && rank->t + STEPS * h > limit ? limit : rank->t + i * h;
    return stage->times[1] > stage->times[0] && stage->times[STEPS] > stage->times[1];
}

enum tutti_err tutti_rehearse(struct tutti_rank *rank, struct tutti_member *member, struct tutti_rehearsal *rehearsal)
{
    struct tutti_unit *unit = member->unit;
    struct stage stage = {.unit = unit, .count = unit->rejects ? 1 : STEPS};
    struct tutti_unit_saved *saved = NULL;
    struct tutti_unit_counts counts = unit->counts;
    *rehearsal = (struct tutti_rehearsal){.undeclared = TUTTI_NONE};
    double tolerance = member->setup.tolerance > 0 ? member->setup.tolerance : TUTTI_DEFAULT_RTOL;
    bool once = unit->fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_ONCE_PER_PROCESS;
    if (unit->kind->interface != TUTTI_CS || !(unit->can & TUTTI_CAN_STATE) || !set_times(rank, member, &stage) ||
        (unit->rejects && once)) /* where nothing can be read at the start afterwards */
        return TUTTI_OK;
    tutti_rank_tell_unit(rank, member->component);
    rehearsal->tried = true;
    enum tutti_err err = lay_out(&stage, tolerance);
    if (!err)
        err = try_all(rank, member, &stage, &saved, rehearsal);
    if ((err == TUTTI_ERR_FMU || err == TUTTI_ERR_UNSUPPORTED) && !unit->rushes) {
        rehearsal->forgets = true;
        snprintf(rehearsal->why, sizeof rehearsal->why, "%s", tutti_err_message());
        err = TUTTI_OK;
    }
    unit->kind->discard(unit, saved);
    release(&stage);
    unit->counts = counts;
    unit->back_to = INFINITY;
    return err;
}
