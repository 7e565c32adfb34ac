/* SPDX-License-Identifier: MIT */
#include "sim/start/startup_tests.h"

#include <math.h>
#include <stdio.h>

#include "base/number.h"
#include "sim/job/integration.h"
#include "sim/start/undeclared_dependencies.h"
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
    int count; /* of steps: STEPS, or as many as the unit can take back at once */
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

static void rollback_test_release(struct rollback_test *stage)
{
    tt_output_check_fini(&stage->sampling);
    for (int i = 0; i < STEPS; i++) {
        tt_signals_fini(&stage->first.outputs[i]);
        tt_signals_fini(&stage->again.outputs[i]);
    }
}

static bool is_same_step(const struct tt_fmi_step *a, const struct tt_fmi_step *b)
{
    return a->reached == b->reached && a->discarded == b->discarded && a->event == b->event &&
           a->terminate == b->terminate;
}

/* Was it the same both times? */
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

/* From the start on. With `prior` the unit is told that it may be taken back to the start of all, as it is. */
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

/* Two steps, as the run would make them; none across the stop time or what the unit has announced. False: there is no room. */
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
    rollback_test_release(&stage);
    unit->counts = counts;
    unit->back_to = INFINITY;
    return err;
}
