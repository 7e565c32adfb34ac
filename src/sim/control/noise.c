/* SPDX-License-Identifier: MIT */
#include "sim/control/noise.h"

#include <math.h>

/* An error that is larger than so many tolerances is none of noise. */
static const double MOST_NOISE = 100;
/* The same where the tolerance is for the whole run. */
static const double MOST_NOISE_PER_TIME = 0.1;
/* The error of smooth signals falls with the step, if only with its first power where it depends on points from before. One that
 * hardly falls comes from a jump, or from a kink that both attempts have passed. Of one signal the error itself is meant: as a part of
 * how far the signal came in the step, that of one which begins at 0 is the same for all steps. */
bool tt_control_is_jump(const struct tt_attempt *before, const struct tt_attempt *now)
{
    double h1 = before->target - before->from, h2 = now->target - now->from;
    if (!before->converged || !now->converged || !(before->size > MOST_NOISE) || !(now->size > MOST_NOISE) ||
        h2 > h1 / 2)
        return false;
    bool same = before->driver == now->driver;
    double fall = same ? before->difference / now->difference : before->size / now->size;
    return log(fall) < 0.5 * log(h1 / h2);
}

/* A small error that stays as it is while the step becomes a fraction of what it was: the solvers inside of the units are no
 * better than that, and shorter steps do not help. */
static bool error_is_noise(const struct tt_attempt *first, const struct tt_attempt *now)
{
    double h1 = first->target - first->from, h2 = now->target - now->from;
    return now->converged && first->error > 1 && now->error < MOST_NOISE && h2 <= h1 / 8 &&
           now->error > first->error / 2;
}

/* Do predictions from here look back over a point where signals may have bent? */
static bool is_after_kink(const struct tt_sim *master)
{
    const struct tt_signal_history *history = &master->extrapolation.history;
    return history->points > 0 && history->times[history->points - 1] < master->memory.learned.bent_at;
}

/* Per unit of time, noise of any size is too much for short steps; and what is seen of it, brought to the order of the method,
 * falls for once if a step is much shorter than those before it. What is seen at first does not. Errors of smooth signals fall
 * with the step at least, from one macro step to the next, too; or else the step would not have to become shorter. (After a
 * bend of a table they do not at once.) */
static bool error_is_noise_per_time(struct tt_sim *master, const struct tt_attempt *now)
{
    struct tt_error_model *learned = &master->memory.learned;
    double h = now->target - now->from, before = learned->noise_h;
    if (!now->converged || !(now->seen < MOST_NOISE_PER_TIME) || tt_extrapolation_begins(&master->extrapolation) ||
        master->chosen.late) /* then outputs jump where the step changes, by as much as the step was before */
        return false;
    if (is_after_kink(master)) {
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
static void discard_noise_estimates(struct tt_sim *master, double h)
{
    master->memory.learned.noise *= 0.9;
    master->memory.learned.gauge_due -= master->memory.learned.gauge_due > 0;
    if (h > 10 * master->memory.stepper.h_min)
        master->memory.learned.least -= master->memory.learned.least > 0;
    if (h >= master->memory.learned.noise_h)
        master->memory.learned.noise_h = 0;
}

enum tt_verdict tt_control_check_noise(struct tt_sim *master, const struct tt_attempt *attempt,
                                       const struct tt_attempt *first, enum tt_verdict verdict, bool *restart)
{
    struct tt_step_history *memory = &master->memory;
    if (verdict == TUTTI_ACCEPT)
        discard_noise_estimates(master, attempt->target - attempt->from);
    if (verdict != TUTTI_REJECT)
        return verdict;
    if (master->norm.per_time && error_is_noise_per_time(master, attempt)) {
        tt_step_size_multiply(&memory->stepper, memory->learned.noise_h, 1); /* where noise was no more than here */
        memory->learned.noise_h = 0;
        *restart = true;
        return TUTTI_FORCE;
    }
    if (!master->norm.per_time && error_is_noise(first, attempt)) {
        memory->stepper.h = first->target - first->from;
        return TUTTI_FORCE;
    }
    return verdict;
}
