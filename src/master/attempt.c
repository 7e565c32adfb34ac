/* SPDX-License-Identifier: MIT */
/* What controls have in common: trying a step, and estimating its error. */
#include <math.h>
#include <string.h>

#include "master/agree.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/macro.h"

/* What is not much more than noise is as good, and steps may become a little longer. */
static const double LIKE_NOISE = 5, OF_NOISE = 0.1;
/* The part of a run's tolerance that each of the first steps may take. */
static const double BEGINNING = 0.002;
/* ... and any step, so that nothing is asked for that is lost in rounding. */
static const double LEAST_PART = 1e-5;
/* ... and the part of it that an output which gathers no errors may be off by. */
static const double DIRECT = 0.1;
/* In the first steps, with inputs held, it follows them late; right at the start ranges are still small. */
static const double DIRECT_BEGINNING = 1, DIRECT_START = 10;

bool tutti_attempt_is_over(const struct run *run, const struct tutti_attempt *attempt)
{
    const struct tutti_master *master = &run->master;
    return attempt->changed || master->refused || master->early < INFINITY || run->ended;
}

struct norm {
    enum tutti_norm what;
    uint32_t driver;
    double worst;
    double rate; /* 1 / step */
    double part; /* of the tolerance that the step may take */
};

/* One step of the coupling, and what it says. */
static enum tutti_err step(struct run *run, double target, struct tutti_attempt *attempt)
{
    struct tutti_master *master = &run->master;
    TRY(tutti_macro_couple(run, target));
    attempt->iterations += master->iterations;
    attempt->converged = attempt->converged && master->converged;
    if (master->discretes && !master->refused && master->early == INFINITY && !run->ended)
        TRY(tutti_detect_look(run, &attempt->changed));
    attempt->changed_at = target;
    return TUTTI_OK;
}

/* Of inputs that are held only the mean is right. */
unsigned tutti_attempt_order(const struct run *run)
{
    const struct tutti_master *master = &run->master;
    unsigned order = tutti_system_is_coupled(run->system)
                         ? master->coupling->order(run, tutti_extrapolation_order(&master->extrapolation))
                         : master->table_order;
    unsigned most = master->table_order > 0 ? master->table_order : master->holds ? 2 : order;
    return order < most ? order : most;
}

enum tutti_err tutti_attempt_plain(struct run *run, double target, struct tutti_attempt *attempt)
{
    attempt->order = tutti_attempt_order(run);
    return step(run, target, attempt);
}

/* How much of the run's tolerance a step may take: as much as it is of the run. After the start and after events, where steps have to
 * be short because little is known, a fixed part; as long as the errors of these points are seen in predictions. */
static double part_of(const struct run *run, double h)
{
    return fmax(h / run->span, tutti_extrapolation_begins(&run->master.extrapolation) ? BEGINNING : LEAST_PART);
}

static double direct_part(const struct run *run)
{
    if (!tutti_extrapolation_begins(&run->master.extrapolation))
        return DIRECT;
    return tutti_scale_is_early(run) ? DIRECT_START : DIRECT_BEGINNING;
}

static double weigh(const struct run *run, uint32_t i, double nominal, const double *difference, const double *now,
                    struct norm *norm)
{
    const struct tutti_master *master = &run->master;
    double size = fmax(fabs(now[i]), fabs(master->before[i]));
    if (master->per_time)
        size = tutti_scale_of(run, i, now[i], norm->rate * (now[i] - master->before[i]));
    double e = difference[i] == 0 ? 0 : fabs(difference[i] / (master->rtol * size + master->atol * nominal));
    if (master->per_time && master->scale.direct[i])
        e *= fmin(norm->part / direct_part(run), 1);
    e = isnan(e) ? INFINITY : e;
    if (e > norm->worst) {
        norm->worst = e;
        norm->driver = i;
    }
    return e * e;
}

/* The sum over one unit's outputs. */
static double add_unit(const struct run *run, uint32_t component, const double *difference, const double *now,
                       struct norm *norm)
{
    const struct tutti_wires *wires = &run->wires;
    const struct tutti_outputs *outputs = &run->master.outputs;
    double sum = 0;
    for (uint32_t i = wires->real_first[component]; i < wires->real_first[component + 1]; i++)
        if (norm->what != TUTTI_NORM_SMOOTH || wires->reals[i].smooth)
            sum += weigh(run, i, wires->reals[i].nominal, difference, now, norm);
    if (norm->what == TUTTI_NORM_CONNECTED || !outputs->unread_first)
        return sum;
    for (uint32_t u = outputs->unread_first[component]; u < outputs->unread_first[component + 1]; u++)
        sum += weigh(run, wires->real_count + u, outputs->unread[u].nominal, difference, now, norm);
    return sum;
}

/* So many values are weighed, of all ranks. */
static uint32_t count_weighed(const struct run *run, enum tutti_norm what)
{
    const struct tutti_wires *wires = &run->wires;
    uint32_t count = what == TUTTI_NORM_CONNECTED ? 0 : run->master.outputs.count - wires->real_count;
    for (uint32_t i = 0; i < wires->real_count; i++)
        count += what != TUTTI_NORM_SMOOTH || wires->reals[i].smooth;
    return count;
}

/* The same bits wherever units are: a sum per unit, made by its rank, then the sum of these in the order of units. */
enum tutti_err tutti_attempt_norm(struct run *run, const double *difference, const double *now, double h,
                                  enum tutti_norm what, double *value, uint32_t *driver)
{
    uint32_t components = run->system->component_count, count = count_weighed(run, what);
    double *partial = run->master.partial, *worst = partial + components, *who = worst + components;
    double sum = 0, most = 0, part = part_of(run, h);
    for (uint32_t c = 0; c < components; c++) {
        struct norm norm = {.what = what, .driver = TUTTI_NONE, .rate = 1 / h, .part = part};
        partial[c] = tutti_run_owns(run, c) ? add_unit(run, c, difference, now, &norm) : 0;
        worst[c] = norm.worst;
        who[c] = norm.driver == TUTTI_NONE ? -1 : (double)norm.driver;
    }
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, partial, (size_t)3 * components));
    *driver = TUTTI_NONE;
    for (uint32_t c = 0; c < components; c++) {
        sum += partial[c];
        if (worst[c] > most) {
            most = worst[c];
            *driver = (uint32_t)who[c];
        }
    }
    /* Of many outputs each is to be right: a mean hides the one that is not. */
    *value = run->master.per_time ? most : count ? sqrt(sum / count) : 0;
    return TUTTI_OK;
}

void tutti_attempt_share(const struct run *run, struct tutti_attempt *attempt)
{
    const struct tutti_master *master = &run->master;
    attempt->error = attempt->size;
    if (!master->per_time)
        return;
    attempt->error /= part_of(run, attempt->target - attempt->from);
    if (attempt->seen <= LIKE_NOISE * master->learned.noise)
        attempt->error = fmin(attempt->error, OF_NOISE);
}

enum tutti_err tutti_attempt_estimate(struct run *run, struct tutti_attempt *attempt, const double *difference,
                                      const double *now, bool all)
{
    double norm, h = attempt->target - attempt->from;
    uint32_t driver;
    struct tutti_master *master = &run->master;
    TRY(tutti_attempt_norm(run, difference, now, h, all ? TUTTI_NORM_ALL : TUTTI_NORM_SMOOTH, &norm, &driver));
    if (master->per_time && !attempt->estimated)
        memcpy(master->scale.step, difference, master->outputs.count * sizeof *difference);
    attempt->estimated = true;
    if (norm > attempt->size || attempt->driver == TUTTI_NONE)
        attempt->driver = driver;
    attempt->size = attempt->seen = fmax(attempt->size, norm);
    tutti_attempt_share(run, attempt);
    return TUTTI_OK;
}

/* The power of the step that the error goes with, less 1. */
static unsigned power_of(const struct run *run, const struct tutti_attempt *attempt)
{
    return attempt->order - (run->master.per_time && attempt->order > 0);
}

enum tutti_verdict tutti_judge_error(struct run *run, const struct tutti_attempt *attempt)
{
    struct tutti_stepper *stepper = &run->master.stepper;
    double h = attempt->target - attempt->from;
    bool good = attempt->converged && (!attempt->estimated || attempt->error <= 1);
    if (!good && !tutti_stepper_is_least(stepper, h)) {
        tutti_stepper_reject(stepper, h, attempt->converged ? attempt->error : INFINITY, power_of(run, attempt));
        return TUTTI_REJECT;
    }
    tutti_stepper_accept(stepper, h, good ? attempt->error : 1, power_of(run, attempt));
    return good ? TUTTI_ACCEPT : TUTTI_FORCE;
}
