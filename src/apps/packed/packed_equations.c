/* SPDX-License-Identifier: MIT */
#include "apps/packed/packed_equations.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sim/coupling/joint_system.h"
#include "sim/events.h"

struct tt_packed_equations {
    struct tt_joint_system system;
    double t, *x; /* the importer's point */
    double *nominals;
    double *found, *found_nominals; /* of the units, after an event */
    double *z, *excess;
    bool evaluated; /* units are placed at the point (EQ1) */
    bool arrived;   /* and their step is completed */
    bool has_z;     /* and their indicators are read */
};

static struct tt_rank *packed_equations_rank(const struct tt_packed *packed)
{
    return &packed->simulation->execution.rank;
}

/* ---- open, close ---- */

static void packed_equations_read_states(const struct tt_packed_equations *equations, double *x, double *nominals)
{
    const struct tt_joint_units *pool = &equations->system.pool;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_unit *unit = pool->units[u].member->unit;
        struct tt_unit_joint_state lead = {.x = x + pool->units[u].first, .nominals = nominals + pool->units[u].first};
        unit->kind->equations->look(unit, &lead);
    }
}

static enum tutti_err packed_equations_check_units(const struct tt_packed *packed, const struct tt_joint_units *pool)
{
    const struct tt_packed_table *table = &packed->table;
    if (pool->unit_count != packed_equations_rank(packed)->member_count)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s: not all units of the system are for Model Exchange; run it by Co-Simulation", packed->name);
    if (pool->states == table->states && pool->marks == table->indicators)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_FORMAT,
                   "%s: the units have %zu continuous states and %zu event indicators, and had %zu and %zu when the "
                   "system was packed",
                   packed->name, pool->states, pool->marks, table->states, table->indicators);
}

static enum tutti_err packed_equations_allocate(struct tt_packed_equations *equations)
{
    const struct tt_joint_units *pool = &equations->system.pool;
    double **const rooms[] = {&equations->x, &equations->nominals, &equations->found, &equations->found_nominals,
                              &equations->z, &equations->excess};
    bool all = true;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = calloc(pool->states + pool->marks + 1, sizeof(double));
        all = all && *rooms[i];
    }
    return all ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_packed_equations_open(struct tt_packed *packed)
{
    struct tt_packed_equations *equations = packed->equations = calloc(1, sizeof *equations);
    if (!equations)
        return tt_fail_memory();
    TRY(tt_joint_system_init(&equations->system, packed_equations_rank(packed),
                             &packed->simulation->execution.master.running, false));
    TRY(packed_equations_check_units(packed, &equations->system.pool));
    TRY(packed_equations_allocate(equations));
    tt_packed_equations_adopt_units(packed);
    packed_equations_read_states(equations, equations->x, equations->nominals);
    return TUTTI_OK;
}

void tt_packed_equations_close(struct tt_packed *packed)
{
    struct tt_packed_equations *equations = packed->equations;
    packed->equations = NULL;
    if (!equations)
        return;
    tt_joint_system_fini(&equations->system);
    free(equations->x);
    free(equations->nominals);
    free(equations->found);
    free(equations->found_nominals);
    free(equations->z);
    free(equations->excess);
    free(equations);
}

/* ---- the point ---- */

double tt_packed_equations_time(const struct tt_packed *packed)
{
    return packed->equations->t;
}

void tt_packed_equations_invalidate(struct tt_packed *packed)
{
    struct tt_packed_equations *equations = packed->equations;
    equations->evaluated = equations->arrived = equations->has_z = false;
    tt_packed_invalidate(packed);
}

static enum tutti_err packed_equations_check_count(const struct tt_packed *packed, size_t count, size_t own,
                                                   const char *what)
{
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), what));
    return count == own ? TUTTI_OK
                        : tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s: there are %zu, not %zu", packed->name, what, own, count);
}

enum tutti_err tt_packed_equations_set_time(struct tt_packed *packed, double t)
{
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "setting the time"));
    tt_packed_equations_invalidate(packed);
    packed->equations->t = t;
    return TUTTI_OK;
}

enum tutti_err tt_packed_equations_set_states(struct tt_packed *packed, const double *x, size_t count)
{
    TRY(packed_equations_check_count(packed, count, packed->table.states, "setting continuous states"));
    tt_packed_equations_invalidate(packed);
    memcpy(packed->equations->x, x, count * sizeof *x);
    return TUTTI_OK;
}

/* Reports why the point has no value. */
static enum tutti_err packed_equations_fail_discard(const struct tt_packed *packed)
{
    struct tt_joint_units *pool = &packed->equations->system.pool;
    const struct tt_joint_failure *miss = &pool->miss;
    const char *state = miss->missed && miss->state != SIZE_MAX ? tt_joint_system_state_name(pool, miss->state) : NULL;
    return tt_fail(TUTTI_ERR_DISCARD, "%s: the units have no values at t = %s%s%s%s%s", packed->name,
                   TIME(packed->equations->t), miss->missed && miss->why[0] ? ": " : "", miss->missed ? miss->why : "",
                   state ? ": not finite is the derivative of " : "", state ? state : "");
}

enum tutti_err tt_packed_equations_evaluate(struct tt_packed *packed)
{
    struct tt_packed_equations *equations = packed->equations;
    bool good;
    if (equations->evaluated)
        return TUTTI_OK;
    equations->system.pool.miss.missed = false;
    TRY(tt_joint_system_evaluate(&equations->system, equations->t, equations->x, &good));
    equations->evaluated = good;
    return good ? TUTTI_OK : packed_equations_fail_discard(packed);
}

enum tutti_err tt_packed_equations_derivatives(struct tt_packed *packed, double *dx, size_t count)
{
    struct tt_packed_equations *equations = packed->equations;
    bool good = true;
    TRY(packed_equations_check_count(packed, count, packed->table.states, "reading derivatives"));
    TRY(tt_packed_equations_evaluate(packed));
    TRY(tt_joint_system_get_derivatives(&equations->system, equations->t, dx, &good));
    return good ? TUTTI_OK : packed_equations_fail_discard(packed);
}

static enum tutti_err read_indicators(struct tt_packed *packed)
{
    struct tt_packed_equations *equations = packed->equations;
    const struct tt_joint_units *pool = &equations->system.pool;
    bool discarded = false;
    TRY(tt_packed_equations_evaluate(packed));
    for (uint32_t u = 0; u < pool->unit_count && !discarded; u++)
        if (pool->units[u].marks > 0)
            TRY(tt_instance_get_indicators(pool->units[u].member->unit->instance, equations->z + pool->units[u].z_first,
                                           pool->units[u].marks, &discarded));
    equations->has_z = !discarded;
    return discarded ? packed_equations_fail_discard(packed) : TUTTI_OK;
}

enum tutti_err tt_packed_equations_indicators(struct tt_packed *packed, double *z, size_t first, size_t count)
{
    if (!packed->exchange)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: event indicators are for Model Exchange", packed->name);
    if (first + count > packed->table.indicators)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there are %zu event indicators, not %zu", packed->name,
                       packed->table.indicators, first + count);
    if (!packed->equations->has_z)
        TRY(read_indicators(packed));
    memcpy(z, packed->equations->z + first, count * sizeof *z);
    return TUTTI_OK;
}

enum tutti_err tt_packed_equations_states(struct tt_packed *packed, double *x, size_t count)
{
    TRY(packed_equations_check_count(packed, count, packed->table.states, "reading continuous states"));
    memcpy(x, packed->equations->x, count * sizeof *x);
    return TUTTI_OK;
}

enum tutti_err tt_packed_equations_nominals(struct tt_packed *packed, double *nominals, size_t count)
{
    TRY(packed_equations_check_count(packed, count, packed->table.states,
                                     "reading nominal values of continuous states"));
    memcpy(nominals, packed->equations->nominals, count * sizeof *nominals);
    return TUTTI_OK;
}

/* ---- steps and events ---- */

enum tutti_err tt_packed_equations_move_units(struct tt_packed *packed)
{
    struct tt_packed_equations *equations = packed->equations;
    struct tt_rank *rank = packed_equations_rank(packed);
    if (equations->arrived)
        return TUTTI_OK;
    equations->has_z = false;
    TRY(tt_joint_system_move_to(&equations->system, equations->t, equations->x));
    rank->t = rank->target = equations->t;
    equations->evaluated = equations->arrived = true;
    return TUTTI_OK;
}

void tt_packed_equations_adopt_units(struct tt_packed *packed)
{
    struct tt_packed_equations *equations = packed->equations;
    tt_packed_equations_invalidate(packed);
    equations->t = packed_equations_rank(packed)->t;
    packed_equations_read_states(equations, equations->x, equations->nominals);
}

enum tutti_err tt_packed_equations_complete_step(struct tt_packed *packed, bool *event, bool *terminate)
{
    const struct tt_joint_units *pool = &packed->equations->system.pool;
    *event = *terminate = false;
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "completing a step"));
    if (!pool->completes)
        return TUTTI_OK;
    TRY(tt_packed_equations_move_units(packed));
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tt_unit *unit = pool->units[u].member->unit;
        bool asks = false, ends = false;
        TRY(unit->kind->equations->complete(unit, &asks, &ends));
        *event = *event || asks;
        *terminate = *terminate || ends;
    }
    return TUTTI_OK;
}

enum tutti_err tt_packed_equations_enter_event(struct tt_packed *packed)
{
    const struct tt_joint_units *pool = &packed->equations->system.pool;
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "entering event mode"));
    TRY(tt_packed_equations_move_units(packed));
    for (uint32_t u = 0; u < pool->unit_count; u++) /* EQ3 */
        pool->units[u].member->now.event = true;
    return TUTTI_OK;
}

/* Units with an event, be it that they have values to take. */
static bool find_unit_events(const struct tt_joint_units *pool)
{
    bool any = false;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tt_member *member = pool->units[u].member;
        member->now.event = member->now.event || member->now.has_pending;
        any = any || member->now.event;
    }
    return any;
}

static bool packed_equations_copy_changed(double *own, const double *found, size_t count)
{
    bool changed = memcmp(own, found, count * sizeof *own) != 0;
    memcpy(own, found, count * sizeof *own);
    return changed;
}

/* The event of one unit may change inputs of a second unit, which may be an event for that. */
static enum tutti_err propagate_unit_events(struct tt_packed *packed, bool *any)
{
    struct tt_packed_equations *equations = packed->equations;
    struct tt_joint_units *pool = &equations->system.pool;
    size_t bad;
    if (pool->marks == 0)
        return TUTTI_OK;
    TRY(tt_joint_system_get_excess(&equations->system, equations->excess, &bad));
    if (bad < pool->marks)
        return packed_equations_fail_discard(packed);
    for (uint32_t u = 0; u < pool->unit_count; u++)
        for (size_t i = 0; i < pool->units[u].marks; i++)
            if (equations->excess[pool->units[u].z_first + i] > 0)
                *any = pool->units[u].member->now.event = true;
    return TUTTI_OK;
}

enum tutti_err tt_packed_equations_update(struct tt_packed *packed, struct tt_equations_update *update)
{
    struct tt_packed_equations *equations = packed->equations;
    struct tt_rank *rank = packed_equations_rank(packed);
    size_t states = equations->system.pool.states;
    *update = (struct tt_equations_update){0};
    TRY(tt_packed_equations_move_units(packed));
    if (find_unit_events(&equations->system.pool) && !rank->ended) {
        TRY(tt_events_handle_among(rank, NULL));
        packed_equations_read_states(equations, equations->found, equations->found_nominals);
        update->states_changed = packed_equations_copy_changed(equations->x, equations->found, states);
        update->nominals_changed =
            packed_equations_copy_changed(equations->nominals, equations->found_nominals, states);
        tt_packed_equations_invalidate(packed);
        if (!rank->ended) {
            TRY(tt_packed_equations_move_units(packed));
            TRY(propagate_unit_events(packed, &update->again));
        }
    }
    update->terminate = rank->ended;
    update->next_event = INFINITY;
    for (uint32_t u = 0; u < equations->system.pool.unit_count; u++)
        update->next_event = fmin(update->next_event, equations->system.pool.units[u].member->now.next_event);
    return TUTTI_OK;
}
