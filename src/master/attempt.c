/* SPDX-License-Identifier: MIT */
/* What controls have in common: trying a step, and estimating its error. */
#include <math.h>

#include "master/agree.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/macro.h"

bool tutti_attempt_is_over(const struct run *run, const struct tutti_attempt *attempt)
{
    const struct tutti_master *master = &run->master;
    return attempt->changed || master->refused || master->early < INFINITY || run->ended;
}

struct norm {
    enum tutti_norm what;
    uint32_t driver;
    double worst;
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

enum tutti_err tutti_attempt_plain(struct run *run, double target, struct tutti_attempt *attempt)
{
    attempt->order = run->master.coupling->order(run, tutti_extrapolation_order(&run->master.extrapolation));
    return step(run, target, attempt);
}

static double weigh(const struct run *run, uint32_t i, double nominal, const double *difference, const double *now,
                    struct norm *norm)
{
    const struct tutti_master *master = &run->master;
    double size = fmax(fabs(now[i]), fabs(master->before[i]));
    double e = difference[i] == 0 ? 0 : fabs(difference[i] / (master->rtol * size + master->atol * nominal));
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
enum tutti_err tutti_attempt_norm(struct run *run, const double *difference, const double *now, enum tutti_norm what,
                                  double *value, uint32_t *driver)
{
    uint32_t components = run->system->component_count, count = count_weighed(run, what);
    double *partial = run->master.partial, *worst = partial + components, *who = worst + components;
    double sum = 0, most = 0;
    for (uint32_t c = 0; c < components; c++) {
        struct norm norm = {.what = what, .driver = TUTTI_NONE};
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
    *value = count ? sqrt(sum / count) : 0;
    return TUTTI_OK;
}

enum tutti_err tutti_attempt_estimate(struct run *run, struct tutti_attempt *attempt, const double *difference,
                                      const double *now, bool all)
{
    double norm;
    uint32_t driver;
    TRY(tutti_attempt_norm(run, difference, now, all ? TUTTI_NORM_ALL : TUTTI_NORM_SMOOTH, &norm, &driver));
    attempt->estimated = true;
    if (norm > attempt->error || attempt->driver == TUTTI_NONE)
        attempt->driver = driver;
    attempt->error = fmax(attempt->error, norm);
    return TUTTI_OK;
}

enum tutti_verdict tutti_judge_error(struct run *run, const struct tutti_attempt *attempt)
{
    struct tutti_stepper *stepper = &run->master.stepper;
    double h = attempt->target - attempt->from;
    bool good = attempt->converged && (!attempt->estimated || attempt->error <= 1);
    if (!good && !tutti_stepper_is_least(stepper, h)) {
        tutti_stepper_reject(stepper, h, attempt->converged ? attempt->error : INFINITY, attempt->order);
        return TUTTI_REJECT;
    }
    tutti_stepper_accept(stepper, h, good ? attempt->error : 1, attempt->order);
    return good ? TUTTI_ACCEPT : TUTTI_FORCE;
}
