/* SPDX-License-Identifier: MIT */
#include "master/agree.h"

#include <math.h>

#include "master/coupling.h"

enum tutti_err tutti_reduce(struct run *run, enum tutti_reduction reduction, double *values, size_t count)
{
    return run->fabric->kind->reduce(run->fabric, reduction, values, count);
}

enum tutti_err tutti_agree_any(struct run *run, bool *any)
{
    double value = *any;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &value, 1));
    *any = value > 0;
    return TUTTI_OK;
}

uint32_t tutti_agree_position(const struct run *run, uint32_t component)
{
    return run->master.positions ? run->master.positions[component] : component;
}

static uint32_t component_at(const struct run *run, double position)
{
    uint32_t at = (uint32_t)position;
    return run->master.positions ? run->master.sequence.components[at] : at;
}

static double position_of(const struct run *run, const struct tutti_member *member)
{
    return tutti_agree_position(run, member->component);
}

/* Everybody knows by now that somebody ended the run: who, and where? Of several the last: in the order of `steps`, or at a
 * point in that of units. */
static enum tutti_err find_end(struct run *run, bool steps)
{
    double last = -1;
    if (run->ended)
        last = steps ? position_of(run, run->ended) : run->ended->component;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &last, 1));
    const struct tutti_member *ended = &run->members[steps ? component_at(run, last) : (uint32_t)last];
    double at = run->ended && ended == run->ended ? run->ended->t : -INFINITY;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &at, 1));
    run->ended = ended;
    run->ended_at = at;
    return TUTTI_OK;
}

/* The first of those that came back first. */
static enum tutti_err find_early(struct run *run, double early)
{
    struct tutti_master *master = &run->master;
    double first = master->early == early ? (double)tutti_agree_position(run, master->early_member) : INFINITY;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MIN, &first, 1));
    master->early = early;
    master->early_member = component_at(run, first);
    return TUTTI_OK;
}

/* The first that refused; those behind it would not have been stepped. The step is taken back: whoever ended the run in it
 * will do so again. */
static enum tutti_err find_refused(struct run *run, double first)
{
    struct tutti_master *master = &run->master;
    run->ended = NULL;
    const struct tutti_member *refused = &run->members[component_at(run, first)];
    double at = master->refused == refused ? master->refused_at : -INFINITY;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &at, 1));
    master->refused = refused;
    master->refused_at = at;
    return TUTTI_OK;
}

enum tutti_err tutti_agree_step(struct run *run)
{
    struct tutti_master *master = &run->master;
    if (run->fabric->ranks == 1) {
        if (master->refused)
            run->ended = NULL;
        run->ended_at = run->ended ? run->ended->t : 0;
        return TUTTI_OK;
    }
    double least[] = {master->early, master->refused ? position_of(run, master->refused) : INFINITY,
                      run->ended ? 0 : INFINITY};
    TRY(tutti_reduce(run, TUTTI_REDUCE_MIN, least, 3));
    if (least[0] < INFINITY)
        TRY(find_early(run, least[0]));
    if (least[1] < INFINITY)
        return find_refused(run, least[1]);
    return least[2] < INFINITY ? find_end(run, true) : TUTTI_OK;
}

enum tutti_err tutti_agree_point(struct run *run, bool *pending, bool *jumped)
{
    double most[] = {*pending, *jumped, run->ended != NULL};
    if (run->fabric->ranks == 1)
        return TUTTI_OK;
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, most, 3));
    *pending = most[0] > 0;
    *jumped = most[1] > 0;
    return most[2] > 0 ? find_end(run, false) : TUTTI_OK;
}
