/* SPDX-License-Identifier: MIT */
#include "packed/equations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "master/coupling/pool_system.h"
#include "master/events.h"

struct tutti_equations {
    struct tutti_pool_system system;
    double t, *x; /* the importer's point */
    double *nominals;
    double *found, *found_nominals; /* of the units, after an event */
    double *z, *excess;
    bool evaluated; /* units are placed there (EQ1) ... */
    bool arrived;   /* ... for good */
    bool has_z;     /* ... and their indicators are read */
};

static struct tutti_rank *rank_of(const struct tutti_packed *packed)
{
    return &packed->simulation->execution.rank;
}

/* ---- open, close ---- */

/* What the units say of themselves. */
static void look(const struct tutti_equations *equations, double *x, double *nominals)
{
    const struct tutti_pool *pool = &equations->system.pool;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tutti_unit *unit = pool->units[u].member->unit;
        struct tutti_unit_lead lead = {.x = x + pool->units[u].first, .nominals = nominals + pool->units[u].first};
        unit->kind->equations->look(unit, &lead);
    }
}

static enum tutti_err check_units(const struct tutti_packed *packed, const struct tutti_pool *pool)
{
    const struct tutti_packed_table *table = &packed->table;
    if (pool->unit_count != rank_of(packed)->member_count)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                          "%s: not all units of the system are for Model Exchange; run it by Co-Simulation",
                          packed->name);
    if (pool->states == table->states && pool->marks == table->indicators)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_FORMAT,
                      "%s: the units have %zu continuous states and %zu event indicators, and had %zu and %zu when the "
                      "system was packed",
                      packed->name, pool->states, pool->marks, table->states, table->indicators);
}

static enum tutti_err make_room(struct tutti_equations *equations)
{
    const struct tutti_pool *pool = &equations->system.pool;
    double **const rooms[] = {&equations->x, &equations->nominals, &equations->found, &equations->found_nominals,
                              &equations->z, &equations->excess};
    bool all = true;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = calloc(pool->states + pool->marks + 1, sizeof(double));
        all = all && *rooms[i];
    }
    return all ? TUTTI_OK : tutti_fail_memory();
}

enum tutti_err tutti_equations_open(struct tutti_packed *packed)
{
    struct tutti_equations *equations = packed->equations = calloc(1, sizeof *equations);
    if (!equations)
        return tutti_fail_memory();
    TRY(tutti_pool_system_init(&equations->system, rank_of(packed), &packed->simulation->execution.master.running,
                               false));
    TRY(check_units(packed, &equations->system.pool));
    TRY(make_room(equations));
    tutti_equations_return(packed);
    look(equations, equations->x, equations->nominals);
    return TUTTI_OK;
}

void tutti_equations_close(struct tutti_packed *packed)
{
    struct tutti_equations *equations = packed->equations;
    packed->equations = NULL;
    if (!equations)
        return;
    tutti_pool_system_fini(&equations->system);
    free(equations->x);
    free(equations->nominals);
    free(equations->found);
    free(equations->found_nominals);
    free(equations->z);
    free(equations->excess);
    free(equations);
}

/* ---- the point ---- */

double tutti_equations_time(const struct tutti_packed *packed)
{
    return packed->equations->t;
}

void tutti_equations_move(struct tutti_packed *packed)
{
    struct tutti_equations *equations = packed->equations;
    equations->evaluated = equations->arrived = equations->has_z = false;
    tutti_packed_forget(packed);
}

static enum tutti_err check_count(const struct tutti_packed *packed, size_t count, size_t own, const char *what)
{
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), what));
    return count == own
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "%s: %s: there are %zu, not %zu", packed->name, what, own, count);
}

enum tutti_err tutti_equations_set_time(struct tutti_packed *packed, double t)
{
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "setting the time"));
    tutti_equations_move(packed);
    packed->equations->t = t;
    return TUTTI_OK;
}

enum tutti_err tutti_equations_set_states(struct tutti_packed *packed, const double *x, size_t count)
{
    TRY(check_count(packed, count, packed->table.states, "setting continuous states"));
    tutti_equations_move(packed);
    memcpy(packed->equations->x, x, count * sizeof *x);
    return TUTTI_OK;
}

/* Why there is no value. */
static enum tutti_err discard(const struct tutti_packed *packed)
{
    struct tutti_pool *pool = &packed->equations->system.pool;
    const struct tutti_pool_miss *miss = &pool->miss;
    const char *state = miss->missed && miss->state != SIZE_MAX ? tutti_pool_state_name(pool, miss->state) : NULL;
    return tutti_fail(TUTTI_ERR_DISCARD, "%s: the units have no values at t = %s%s%s%s%s", packed->name,
                      TIME(packed->equations->t), miss->missed && miss->why[0] ? ": " : "",
                      miss->missed ? miss->why : "", state ? ": not finite is the derivative of " : "",
                      state ? state : "");
}

enum tutti_err tutti_equations_evaluate(struct tutti_packed *packed)
{
    struct tutti_equations *equations = packed->equations;
    bool good;
    if (equations->evaluated)
        return TUTTI_OK;
    equations->system.pool.miss.missed = false;
    TRY(tutti_pool_evaluate(&equations->system, equations->t, equations->x, &good));
    equations->evaluated = good;
    return good ? TUTTI_OK : discard(packed);
}

enum tutti_err tutti_equations_derivatives(struct tutti_packed *packed, double *dx, size_t count)
{
    struct tutti_equations *equations = packed->equations;
    bool good = true;
    TRY(check_count(packed, count, packed->table.states, "reading derivatives"));
    TRY(tutti_equations_evaluate(packed));
    TRY(tutti_pool_get_derivatives(&equations->system, equations->t, dx, &good));
    return good ? TUTTI_OK : discard(packed);
}

static enum tutti_err read_indicators(struct tutti_packed *packed)
{
    struct tutti_equations *equations = packed->equations;
    const struct tutti_pool *pool = &equations->system.pool;
    bool discarded = false;
    TRY(tutti_equations_evaluate(packed));
    for (uint32_t u = 0; u < pool->unit_count && !discarded; u++)
        if (pool->units[u].marks > 0)
            TRY(tutti_instance_get_indicators(pool->units[u].member->unit->instance,
                                              equations->z + pool->units[u].z_first, pool->units[u].marks, &discarded));
    equations->has_z = !discarded;
    return discarded ? discard(packed) : TUTTI_OK;
}

enum tutti_err tutti_equations_indicators(struct tutti_packed *packed, double *z, size_t first, size_t count)
{
    if (!packed->exchange)
        return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: event indicators are for Model Exchange", packed->name);
    if (first + count > packed->table.indicators)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there are %zu event indicators, not %zu", packed->name,
                          packed->table.indicators, first + count);
    if (!packed->equations->has_z)
        TRY(read_indicators(packed));
    memcpy(z, packed->equations->z + first, count * sizeof *z);
    return TUTTI_OK;
}

enum tutti_err tutti_equations_states(struct tutti_packed *packed, double *x, size_t count)
{
    TRY(check_count(packed, count, packed->table.states, "reading continuous states"));
    memcpy(x, packed->equations->x, count * sizeof *x);
    return TUTTI_OK;
}

enum tutti_err tutti_equations_nominals(struct tutti_packed *packed, double *nominals, size_t count)
{
    TRY(check_count(packed, count, packed->table.states, "reading nominal values of continuous states"));
    memcpy(nominals, packed->equations->nominals, count * sizeof *nominals);
    return TUTTI_OK;
}

/* ---- steps and events ---- */

enum tutti_err tutti_equations_settle(struct tutti_packed *packed)
{
    struct tutti_equations *equations = packed->equations;
    struct tutti_rank *rank = rank_of(packed);
    if (equations->arrived)
        return TUTTI_OK;
    equations->has_z = false;
    TRY(tutti_pool_arrive(&equations->system, equations->t, equations->x));
    rank->t = rank->target = equations->t;
    equations->evaluated = equations->arrived = true;
    return TUTTI_OK;
}

void tutti_equations_return(struct tutti_packed *packed)
{
    struct tutti_equations *equations = packed->equations;
    tutti_equations_move(packed);
    equations->t = rank_of(packed)->t;
    look(equations, equations->x, equations->nominals);
}

enum tutti_err tutti_equations_complete(struct tutti_packed *packed, bool *event, bool *terminate)
{
    const struct tutti_pool *pool = &packed->equations->system.pool;
    *event = *terminate = false;
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "completing a step"));
    if (!pool->completes)
        return TUTTI_OK;
    TRY(tutti_equations_settle(packed));
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tutti_unit *unit = pool->units[u].member->unit;
        bool asks = false, ends = false;
        TRY(unit->kind->equations->complete(unit, &asks, &ends));
        *event = *event || asks;
        *terminate = *terminate || ends;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_equations_enter_event(struct tutti_packed *packed)
{
    const struct tutti_pool *pool = &packed->equations->system.pool;
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "entering event mode"));
    TRY(tutti_equations_settle(packed));
    for (uint32_t u = 0; u < pool->unit_count; u++) /* EQ3 */
        pool->units[u].member->now.event = true;
    return TUTTI_OK;
}

/* Units with an event, be it that they have values to take. */
static bool find_events(const struct tutti_pool *pool)
{
    bool any = false;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tutti_member *member = pool->units[u].member;
        member->now.event = member->now.event || member->now.has_pending;
        any = any || member->now.event;
    }
    return any;
}

static bool take(double *own, const double *found, size_t count)
{
    bool changed = memcmp(own, found, count * sizeof *own) != 0;
    memcpy(own, found, count * sizeof *own);
    return changed;
}

/* What one unit's event does to the inputs of another may be one for that. */
static enum tutti_err meet_others(struct tutti_packed *packed, bool *any)
{
    struct tutti_equations *equations = packed->equations;
    struct tutti_pool *pool = &equations->system.pool;
    size_t bad;
    if (pool->marks == 0)
        return TUTTI_OK;
    TRY(tutti_pool_get_excess(&equations->system, equations->excess, &bad));
    if (bad < pool->marks)
        return discard(packed);
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (size_t i = 0; i < pool->units[u].marks; i++)
            if (equations->excess[pool->units[u].z_first + i] > 0)
                *any = pool->units[u].member->now.event = true;
    return TUTTI_OK;
}

static double next_event(const struct tutti_equations *equations)
{
    const struct tutti_pool *pool = &equations->system.pool;
    double next = INFINITY;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        next = fmin(next, pool->units[u].member->now.next_event);
    return next;
}

enum tutti_err tutti_equations_update(struct tutti_packed *packed, struct tutti_equations_update *update)
{
    struct tutti_equations *equations = packed->equations;
    struct tutti_rank *rank = rank_of(packed);
    size_t states = equations->system.pool.states;
    *update = (struct tutti_equations_update){0};
    TRY(tutti_equations_settle(packed));
    if (find_events(&equations->system.pool) && !rank->ended) {
        TRY(tutti_events_cross_among(rank, NULL));
        look(equations, equations->found, equations->found_nominals);
        update->states_changed = take(equations->x, equations->found, states);
        update->nominals_changed = take(equations->nominals, equations->found_nominals, states);
        tutti_equations_move(packed);
        if (!rank->ended) {
            TRY(tutti_equations_settle(packed));
            TRY(meet_others(packed, &update->again));
        }
    }
    update->terminate = rank->ended;
    update->next_event = next_event(equations);
    return TUTTI_OK;
}
