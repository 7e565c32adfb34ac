/* SPDX-License-Identifier: MIT */
/* One solver for all Model Exchange units (Awais 2015 section 5.4): their states are one vector, their inputs are
 * eliminated in every evaluation (joint_system.h), their events are located together, and all of them are at an event
 * when it is crossed. So there is no coupling error between them, and, without other units, results do not depend on
 * the communication step. Co-Simulation units step beside them as with jacobi.
 *
 * The solver runs ahead of the units, and these follow in its dense output, as in unit/me_solution.h. Every rank has an
 * equal solver. Invariants:
 *  O1  t <= front; while they differ, t lies in the solver's last step; events were looked for up to front.
 *  O2  All units are at (t, x) whenever `step` returns.
 *  O3  `now` is the data from which the solver can resume there, as plain bytes; `start` is that of the start of the
 *      macro step. The solver itself is at the point with the number `live`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/joint_loop.h"
#include "sim/coupling/joint_system.h"
#include "sim/events.h"
#include "sim/rank.h"
#include "solve/crossing.h"
#include "solve/solver.h"

/* A point at which the solver can resume, followed by x, ahead, signals of other units, loops, and the solver's memory. */
struct strong_point {
    uint64_t number; /* 0: none */
    double t, front, at, since;
    bool open;
};

struct strong {
    const struct tt_step_rules *rules; /* of the step that is being made */
    struct tt_sim *master;
    struct tt_joint_system system;
    struct tt_solver *solver; /* NULL: nothing to integrate */
    struct tt_solver_counts published;
    struct tt_crossing crossing;
    double t, front, at; /* `at`: the first event after t that is known; INFINITY: none */
    double *x, *ahead, *scratch, *excess;
    bool open;         /* the solver's last step is not completed */
    bool near_zero;    /* an event has left an indicator near zero, and the step after it was not looked at yet */
    double next_event; /* the earliest that a unit announced */
    double horizon;    /* so far the solver may look ahead */
    bool over;         /* the present step: a unit of any rank has ended the run */
    bool early;        /* or an event ends the step for all */
    bool *among;       /* per component: it is one of the units */
    struct strong_point *now, *start;
    size_t point_size;
    uint64_t live, numbers;
};

/* ---- points ---- */

static size_t strong_memory_size(const struct strong *strong)
{
    const struct tt_solver *solver = strong->solver;
    return solver && solver->kind->saved_size ? solver->kind->saved_size(solver) : 0;
}

static bool strong_can_roll_back(const struct strong *strong)
{
    return !strong->solver || strong->solver->kind->saved_size;
}

static size_t strong_align(size_t size)
{
    return (size + sizeof(double) - 1) / sizeof(double) * sizeof(double);
}

static size_t strong_point_size(const struct strong *strong)
{
    const struct tt_joint_system *system = &strong->system;
    size_t size = strong_align(sizeof(struct strong_point)) + 2 * system->pool.states * sizeof(double) +
                  strong_align(system->outside_count * sizeof *system->outside) +
                  strong_align(strong_memory_size(strong));
    for (uint32_t i = 0; i < system->loop_count; i++)
        size += tt_joint_loop_size(system->loops[i]);
    return size;
}

/* The solver is at this point. */
static void strong_save_point(struct strong *strong, struct strong_point *point)
{
    const struct tt_joint_system *system = &strong->system;
    size_t states = system->pool.states * sizeof(double);
    char *to = (char *)point + strong_align(sizeof *point);
    *point = (struct strong_point){.number = ++strong->numbers,
                                   .t = strong->t,
                                   .front = strong->front,
                                   .at = strong->at,
                                   .since = system->since,
                                   .open = strong->open};
    strong->live = point->number;
    memcpy(to, strong->x, states);
    memcpy(to + states, strong->ahead, states);
    to += 2 * states;
    memcpy(to, system->outside, system->outside_count * sizeof *system->outside);
    to += strong_align(system->outside_count * sizeof *system->outside);
    for (uint32_t i = 0; i < system->loop_count; i++) {
        tt_joint_loop_save(system->loops[i], to);
        to += tt_joint_loop_size(system->loops[i]);
    }
    if (strong_memory_size(strong) > 0 && strong->solver->started)
        strong->solver->kind->save(strong->solver, to);
}

static void strong_restore_point(struct strong *strong, const struct strong_point *point)
{
    struct tt_joint_system *system = &strong->system;
    size_t states = system->pool.states * sizeof(double);
    const char *from = (const char *)point + strong_align(sizeof *point);
    strong->front = point->front;
    strong->at = point->at;
    strong->open = point->open;
    system->since = point->since;
    memcpy(strong->ahead, from + states, states);
    from += 2 * states;
    memcpy(system->outside, from, system->outside_count * sizeof *system->outside);
    from += strong_align(system->outside_count * sizeof *system->outside);
    for (uint32_t i = 0; i < system->loop_count; i++) {
        tt_joint_loop_restore(system->loops[i], from);
        from += tt_joint_loop_size(system->loops[i]);
    }
    if (strong_memory_size(strong) > 0) {
        strong->solver->kind->restore(strong->solver, from);
        strong->solver->started = true;
    }
    strong->live = point->number;
    strong->numbers = strong->numbers > point->number ? strong->numbers : point->number;
}

static bool is_at_point(const struct strong *strong, const struct strong_point *point)
{
    const char *x = (const char *)point + strong_align(sizeof *point);
    return point->number > 0 && point->t == strong->t &&
           memcmp(x, strong->x, strong->system.pool.states * sizeof(double)) == 0;
}

/* ---- opening ---- */

/* One solver for all: that of the first, which all have to want. */
static enum tutti_err strong_make_solver(struct strong *strong)
{
    const struct tt_joint_units *pool = &strong->system.pool;
    const struct tt_integration *first = &pool->units[0].member->setup.integration;
    struct tt_solver_options options = {
        .h_fixed = first->h_fixed,
        .h_max = first->h_max,
        .h_first = first->h_first,
        .max_order = first->max_order,
        .predictor = first->predictor,
        .jacobian = first->jacobian,
        .linear = first->linear,
    };
    if (first->average)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--filter average is for units that are stepped one by one, not for --coupling strong");
    for (uint32_t u = 1; u < pool->unit_count; u++) {
        const struct tt_integration *other = &pool->units[u].member->setup.integration;
        if (other->solver != first->solver)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "--coupling strong has one solver for all units, and '%s' is to have %s, but '%s' %s: give "
                           "--solver for all of them",
                           pool->units[0].member->unit->name, first->solver->name, pool->units[u].member->unit->name,
                           other->solver->name);
        options.h_fixed = fmin(options.h_fixed, other->h_fixed);
        if (other->h_max > 0 && !(options.h_max > 0 && options.h_max < other->h_max))
            options.h_max = other->h_max;
    }
    strong->system.ode.origin =
        tt_ode_choose_origin(strong->master->rank->times.start, strong->master->rank->times.stop);
    return pool->states > 0 ? tt_solver_new(&strong->solver, first->solver, &strong->system.ode, &options) : TUTTI_OK;
}

static enum tutti_err strong_read_excess(void *context, double t, double *excess, size_t *bad);
static enum tutti_err strong_no_excess(void *context, double t, size_t bad);

static enum tutti_err strong_allocate(struct strong *strong)
{
    struct tt_rank *rank = strong->master->rank;
    const struct tt_joint_units *pool = &strong->system.pool;
    double **const rooms[] = {&strong->x, &strong->ahead, &strong->scratch};
    bool all = true;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = tt_arena_array(&rank->arena, pool->states, sizeof(double));
        all = all && *rooms[i];
    }
    strong->excess = tt_arena_array(&rank->arena, pool->marks, sizeof(double));
    strong->among = tt_arena_array(&rank->arena, rank->member_count, sizeof *strong->among);
    strong->point_size = strong_point_size(strong);
    strong->now = tt_arena_alloc(&rank->arena, strong->point_size);
    strong->start = tt_arena_alloc(&rank->arena, strong->point_size);
    if (!all || !strong->excess || !strong->among || !strong->now || !strong->start)
        return tt_fail_memory();
    strong->crossing.context = strong;
    strong->crossing.read = strong_read_excess;
    strong->crossing.no_value = strong_no_excess;
    strong->crossing.longest = 2e-3 * rank->span;
    strong->crossing.shortest = 1e-9 * rank->span;
    return tt_crossing_init(&strong->crossing, pool->marks);
}

/* Inputs that the master feeds depend on points of the run, which these units do not have inside a step. */
static enum tutti_err check_no_fed_inputs(const struct tt_joint_units *pool)
{
    const struct tt_system *system = pool->rank->job->system;
    for (uint32_t i = 0; i < system->fed_count; i++) {
        char name[256];
        if (pool->unit_of[system->fed[i].component])
            return tt_fail(TUTTI_ERR_UNSUPPORTED,
                           "--coupling strong has '%s' in its solver, and cannot feed it as --tlm does: use "
                           "--interface cs for this unit, or another --coupling",
                           tt_system_name(system, &system->fed[i], name, sizeof name));
    }
    return TUTTI_OK;
}

/* Returns true if the units' solver also solves algebraic equations. */
static bool solver_takes_unknowns(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_solver_kind *solver = rank->members[m].setup.integration.solver;
        if (rank->units[m]->kind->interface == TUTTI_ME)
            return solver && solver->algebraic;
    }
    return false;
}

static enum tutti_err open_strong(struct tt_sim *master, void *self)
{
    struct strong *strong = self;
    struct tt_joint_units *pool = &strong->system.pool;
    strong->master = master;
    TRY(tt_joint_system_init(&strong->system, master->rank, &master->running, solver_takes_unknowns(master->rank)));
    if (pool->unit_count == 0) {
        tt_log(master->rank->log, TUTTI_LOG_WARNING, NULL,
               "--coupling strong has the Model Exchange units in one solver, and there are none: all units step "
               "as with jacobi (--interface me, if the FMUs have that)");
        return TUTTI_OK;
    }
    TRY(check_no_fed_inputs(pool));
    TRY(strong_make_solver(strong));
    TRY(strong_allocate(strong));
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tt_unit *unit = pool->units[u].member->unit;
        strong->among[pool->units[u].member->component] = true;
        if (pool->units[u].own)
            unit->kind->equations->lead(unit, strong_can_roll_back(strong));
    }
    return tt_rollback_list_add(&master->remembered, strong->now, strong->point_size);
}

static void close_strong(struct tt_sim *master, void *self)
{
    struct strong *strong = self;
    (void)master;
    tt_solver_free(strong->solver);
    tt_crossing_fini(&strong->crossing);
    tt_joint_system_fini(&strong->system);
}

/* ---- where the units are ---- */

/* Collective: what happened to units since the last step, of all ranks. */
static enum tutti_err strong_check_units(struct strong *strong, enum tt_solver_task *task)
{
    struct tt_joint_units *pool = &strong->system.pool;
    size_t states = pool->states;
    double *x = pool->shared, *nominals = x + states, *facts = nominals + states;
    for (size_t i = 0; i < 2 * states + 3 * (size_t)pool->unit_count; i++)
        pool->shared[i] = -INFINITY;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        struct tt_unit *of = unit->member->unit;
        if (!unit->own)
            continue;
        struct tt_unit_joint_state lead = {.x = x + unit->first, .nominals = nominals + unit->first};
        of->kind->equations->look(of, &lead);
        TRY(of->kind->equations->size(of, lead.nominals));
        facts[3 * u] = lead.task;
        facts[3 * u + 1] = -lead.next_event;
        facts[3 * u + 2] = lead.near_zero;
    }
    TRY(tt_joint_system_share_values(pool, pool->shared, 2 * states + 3 * (size_t)pool->unit_count));
    memcpy(strong->x, x, states * sizeof *x);
    memcpy(pool->nominals, nominals, states * sizeof *nominals);
    *task = TUTTI_SOLVER_GO_ON;
    strong->next_event = INFINITY;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        enum tt_solver_task own = (enum tt_solver_task)(int)facts[3 * u];
        *task = own > *task ? own : *task;
        strong->next_event = fmin(strong->next_event, -facts[3 * u + 1]);
        strong->near_zero = strong->near_zero || facts[3 * u + 2] > 0;
    }
    return TUTTI_OK;
}

/* Says which state, or which loop, is in the way, and what to do. */
static enum tutti_err strong_explain(struct strong *strong, enum tutti_err err)
{
    struct tt_joint_units *pool = &strong->system.pool;
    const struct tt_joint_failure *miss = &pool->miss;
    if (err != TUTTI_ERR_SOLVER)
        return err;
    char before[1024], why[1024] = "";
    snprintf(before, sizeof before, "%s", tutti_err_message());
    if (!miss->missed) /* a solver with loops among its equations has no message about them */
        (void)!tt_joint_system_explain_loops(&strong->system, tt_solver_time(strong->solver), strong->ahead);
    if (miss->missed && miss->why[0])
        snprintf(why, sizeof why, "; at t = %s %s. Look at these connections (tutti analyze)", TIME(miss->t),
                 miss->why);
    else if (miss->missed && miss->state != SIZE_MAX)
        snprintf(why, sizeof why, "; the derivative of '%s' is not a finite number at t = %s",
                 tt_joint_system_state_name(pool, miss->state), TIME(miss->t));
    else if (miss->missed)
        snprintf(why, sizeof why, "; a unit has no values at t = %s", TIME(miss->t));
    return tt_fail(err,
                   "--coupling strong, with the states of %u units in one solver: %s%s. Check inputs and parameters "
                   "there, or use other tolerances (--rtol), another --solver, or --coupling relax",
                   (unsigned)pool->unit_count, before, why);
}

/* ---- the solution ---- */

/* All states at a time in the solver's last step. */
static enum tutti_err interpolate_solution(struct strong *strong, double t, double *x)
{
    size_t bytes = strong->system.pool.states * sizeof *x;
    if (!strong->solver)
        return TUTTI_OK;
    if (t == tt_solver_time(strong->solver) || t == strong->t)
        memmove(x, t == strong->t ? strong->x : strong->ahead, bytes);
    else
        TRY(strong_explain(strong, tt_solver_interpolate(strong->solver, t, x)));
    return TUTTI_OK;
}

static enum tutti_err strong_read_excess(void *context, double t, double *excess, size_t *bad)
{
    struct strong *strong = context;
    bool good;
    TRY(interpolate_solution(strong, t, strong->scratch));
    TRY(tt_joint_system_evaluate(&strong->system, t, strong->scratch, &good));
    *bad = 0;
    return good ? tt_joint_system_get_excess(&strong->system, excess, bad) : TUTTI_OK;
}

static enum tutti_err strong_no_excess(void *context, double t, size_t bad)
{
    struct strong *strong = context;
    const struct tt_joint_unit *unit = tt_joint_system_unit_of_indicator(&strong->system.pool, bad);
    struct tt_unit *of = unit->member->unit;
    return unit->own ? of->kind->equations->no_excess(of, t, bad - unit->z_first)
                     : tt_fail(TUTTI_ERR_FMU, "%s (%s): an event indicator has no value at t = %s", of->name,
                               of->fmu->path, TIME(t));
}

/* Moves all units to `stop` in the solver's last step; that point is called `t`. */
static enum tutti_err strong_move_units(struct strong *strong, double stop, double t)
{
    TRY(interpolate_solution(strong, stop, strong->x));
    strong->t = t;
    return tt_joint_system_move_to(&strong->system, t, strong->x);
}

/* ---- events ---- */

/* A unit has an event where it is. */
static enum tutti_err strong_begin_event(const struct tt_joint_unit *unit, size_t indicator, bool own)
{
    struct tt_unit *of = unit->member->unit;
    unit->member->now.event = true;
    return unit->own ? of->kind->equations->meet(of, indicator, own) : TUTTI_OK;
}

/* Collective: where indicators have left their domains, at the point where all units stand. */
static enum tutti_err detect_state_events(struct strong *strong, bool *event)
{
    struct tt_joint_units *pool = &strong->system.pool;
    size_t bad;
    if (pool->marks == 0)
        return TUTTI_OK;
    TRY(tt_joint_system_get_excess(&strong->system, strong->excess, &bad));
    if (bad < pool->marks)
        return strong_no_excess(strong, strong->t, bad);
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        size_t left = SIZE_MAX;
        for (size_t i = 0; i < unit->marks; i++)
            left = strong->excess[unit->z_first + i] > 0 ? i : left;
        if (left == SIZE_MAX)
            continue;
        *event = true;
        TRY(strong_begin_event(unit, left, false));
    }
    return TUTTI_OK;
}

/* Collective: the solver's step ends here, or is left here. */
static enum tutti_err strong_complete_step(struct strong *strong, bool *event, struct tt_step_result *result)
{
    struct tt_joint_units *pool = &strong->system.pool;
    bool any = false, ended = false;
    strong->open = false;
    if (!pool->completes)
        return TUTTI_OK;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        struct tt_unit *of = unit->member->unit;
        bool asks = false, ends = false;
        if (!unit->own)
            continue;
        TRY(of->kind->equations->complete(of, &asks, &ends));
        if (asks)
            TRY(strong_begin_event(unit, SIZE_MAX, true));
        if (ends)
            tt_step_result_set_ended(result, unit->member->component, strong->t);
        any = any || asks;
        ended = ended || ends;
    }
    TRY(tt_rank_agree_any(strong->master->rank, &any));
    TRY(tt_rank_agree_any(strong->master->rank, &ended));
    *event = *event || any;
    strong->over = strong->over || ended; /* which unit it is, tt_coupling_agree finds out */
    return TUTTI_OK;
}

static enum tutti_err detect_time_events(struct strong *strong, bool *event)
{
    struct tt_joint_units *pool = &strong->system.pool;
    const struct tt_rank *rank = strong->master->rank;
    if (!tt_time_reached(strong->t, strong->next_event, rank->span))
        return TUTTI_OK;
    *event = true;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        const struct tt_joint_unit *unit = &pool->units[u];
        if (unit->own && tt_time_reached(strong->t, unit->member->now.next_event, rank->span))
            TRY(strong_begin_event(unit, SIZE_MAX, true));
    }
    return TUTTI_OK;
}

/* The first own unit with an event, for the result. */
static void report_early_return(struct strong *strong, struct tt_step_result *result)
{
    const struct tt_rank *rank = strong->master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (strong->among[rank->own[m]->component] && rank->own[m]->now.event)
            tt_step_result_set_event(result, rank->own[m]->component, strong->t);
}

/* ---- one macro step ---- */

/* How far tables of own units are lines. */
static enum tutti_err find_table_horizon(struct strong *strong, double target)
{
    struct tt_joint_units *pool = &strong->system.pool;
    struct tt_rank *rank = strong->master->rank;
    strong->horizon = strong->system.outside_count > 0 ? target : rank->times.stop;
    if (!pool->driven)
        return TUTTI_OK;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tt_member *member = pool->units[u].member;
        if (!pool->units[u].own || !member->inputs)
            continue;
        TRY(tt_inputs_apply(member->inputs, member->unit, member->inputs->now.time, target));
        strong->horizon = fmin(strong->horizon, fmin(member->inputs->now.kink, member->inputs->now.event));
    }
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &strong->horizon, 1));
    strong->horizon = fmax(strong->horizon, target);
    return TUTTI_OK;
}

/* Restarts the solver at the units' point, regardless of the cause. */
static enum tutti_err strong_restart(struct strong *strong, enum tt_solver_task task, bool *event,
                                     struct tt_step_result *result)
{
    struct tt_joint_units *pool = &strong->system.pool;
    struct tt_solver *solver = strong->solver;
    for (uint32_t u = 0; u < pool->unit_count; u++)
        if (pool->units[u].own)
            pool->units[u].member->unit->kind->equations->take(pool->units[u].member->unit);
    if (task == TUTTI_SOLVER_GO_ON)
        return TUTTI_OK;
    if (strong->open && strong->front > strong->t)
        TRY(strong_complete_step(strong, event, result));
    pool->miss.missed = false;
    if (solver && (task == TUTTI_SOLVER_RESTART || !solver->started))
        TRY(strong_explain(strong, tt_solver_restart(solver, strong->t, strong->x)));
    else if (solver)
        TRY(strong_explain(strong, tt_solver_resume(solver, fmin(strong->t, tt_solver_time(solver)), strong->x)));
    memcpy(strong->ahead, strong->x, pool->states * sizeof *strong->x);
    strong->front = strong->t;
    strong->at = INFINITY;
    strong->open = false;

    /* Other units may have moved inputs of a unit over a threshold; or an event at the end of the last step is met. */
    if (pool->marks == 0 && !*event && !strong->over)
        return TUTTI_OK;
    TRY(tt_joint_system_move_to(&strong->system, strong->t, strong->x));
    return detect_state_events(strong, event);
}

/* Brings the solver to the point from which it continues at the units' point; it may have to restart. */
static enum tutti_err restore_solver_point(struct strong *strong, enum tt_solver_task *task)
{
    struct tt_sim *master = strong->master;
    const struct tt_rank *rank = master->rank;
    strong->t = rank->t;
    TRY(strong_check_units(strong, task));
    const struct strong_point *here = is_at_point(strong, strong->now)     ? strong->now
                                      : is_at_point(strong, strong->start) ? strong->start
                                                                           : NULL;
    if (here && strong->live != here->number && strong_can_roll_back(strong))
        strong_restore_point(strong, here);
    else if (!here || strong->live != here->number)
        *task = TUTTI_SOLVER_RESTART;
    if (here == strong->now && (master->chosen.is & TUTTI_METHOD_GOES_BACK) && master->start.t == rank->t)
        memcpy(strong->start, strong->now, strong->point_size);
    bool news = false;
    tt_joint_system_update_external(&strong->system, strong->t, &news);
    if (news && *task == TUTTI_SOLVER_GO_ON)
        *task = TUTTI_SOLVER_RESUME;
    return TUTTI_OK;
}

/* One step of the solver, at most to where inputs are known or an event was announced. */
static enum tutti_err strong_solver_step(struct strong *strong, double end)
{
    struct tt_joint_units *pool = &strong->system.pool;
    double limit = strong->solver ? fmax(strong->horizon, end) : end, left = strong->front;
    if (strong->next_event > strong->front)
        limit = fmin(limit, strong->next_event);
    strong->front = limit;
    if (strong->solver) {
        pool->miss.missed = false;
        TRY(strong_explain(strong, tt_solver_step(strong->solver, limit, strong->ahead)));
        left = tt_solver_last_begin(strong->solver);
        strong->front = tt_solver_time(strong->solver);
    }
    strong->open = true;
    bool near_zero = strong->near_zero;
    strong->near_zero = false;
    return tt_crossing_search(&strong->crossing, left, strong->front, near_zero, &strong->at);
}

/* Everything that happens at `stop`, which units pass, end the step at, or cross an event at. */
static enum tutti_err strong_pass_point(struct strong *strong, double stop, double end, bool *event,
                                        struct tt_step_result *result)
{
    const struct tt_rank *rank = strong->master->rank;
    bool at_end = tt_time_same(stop, end, rank->span), located = strong->at <= stop;
    double t = at_end ? end : stop;
    bool announced = tt_time_reached(t, strong->next_event, rank->span);
    if (!at_end && !located && !announced && !strong->system.pool.completes) {
        TRY(interpolate_solution(strong, stop, strong->x));
        strong->t = t;
        strong->open = false;
        return TUTTI_OK;
    }
    TRY(strong_move_units(strong, stop, t));
    TRY(strong_complete_step(strong, event, result));
    TRY(detect_time_events(strong, event));
    if (located)
        TRY(detect_state_events(strong, event));
    if (at_end && stop == strong->front) /* the solver's last step is passed, whatever its end is called */
        strong->front = t;
    return TUTTI_OK;
}

/* Units with an event cross it, all at this point; then the solver restarts. */
static enum tutti_err strong_handle_events(struct strong *strong, bool *event, struct tt_step_result *result)
{
    struct tt_rank *rank = strong->master->rank;
    enum tt_solver_task task;
    *event = false;
    if (rank->fabric->ranks > 1)
        TRY(tt_channels_exchange(&rank->channels));
    TRY(tt_events_handle_among(rank, strong->among));
    if (rank->ended) {
        tt_step_result_set_ended(result, rank->ended->component, strong->t);
        rank->ended = NULL;
        strong->over = true;
        return TUTTI_OK;
    }
    TRY(strong_check_units(strong, &task));
    return strong_restart(strong, task > TUTTI_SOLVER_RESUME ? task : TUTTI_SOLVER_RESUME, event, result);
}

/* Units to `end`, or to an event that ends the step for all. */
static enum tutti_err strong_run_to(struct strong *strong, double end, bool event, struct tt_step_result *result)
{
    const struct tt_rank *rank = strong->master->rank;
    int standstills = 0;
    while (!strong->over && !(event && strong->t >= end)) { /* at the end it is crossed by sim/events.c */
        if (event && strong->rules->stops_at_events) {
            strong->early = true;
            report_early_return(strong, result);
            return TUTTI_OK;
        }
        double before = strong->t, stop = fmin(strong->front, strong->at);
        if (event) {
            standstills++;
            TRY(strong_handle_events(strong, &event, result));
        } else if (strong->t >= end) {
            return TUTTI_OK;
        } else if (!(stop > strong->t || strong->at <= strong->t)) {
            TRY(strong_solver_step(strong, end));
        } else if (stop > end && !tt_time_same(stop, end, rank->span)) {
            return strong_move_units(strong, end, end);
        } else {
            TRY(strong_pass_point(strong, stop, end, &event, result));
        }
        standstills = strong->t > before ? 0 : standstills;
        if (standstills > TUTTI_MOST_STANDSTILLS)
            return tt_fail(TUTTI_ERR_FMU, "time stands still at t = %s: one event after another follows there",
                           TIME(strong->t));
    }
    return TUTTI_OK;
}

/* Counts of the solver since the last step apply to every unit, except evaluations, which units count themselves. */
static void strong_publish_counts(struct strong *strong)
{
    const struct tt_joint_units *pool = &strong->system.pool;
    if (!strong->solver)
        return;
    const struct tt_solver_counts now = strong->solver->counts, *before = &strong->published;
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        struct tt_solver_counts *counts = &pool->units[u].member->unit->counts.solver;
        counts->steps += now.steps - before->steps;
        counts->error_failures += now.error_failures - before->error_failures;
        counts->other_failures += now.other_failures - before->other_failures;
        counts->restarts += now.restarts - before->restarts;
        counts->jacobians += now.jacobians - before->jacobians;
        counts->factorisations += now.factorisations - before->factorisations;
        counts->iterations += now.iterations - before->iterations;
    }
    strong->published = now;
}

static enum tutti_err step_joint_system(struct strong *strong, double target, struct tt_step_result *result)
{
    const struct tt_joint_units *pool = &strong->system.pool;
    enum tt_solver_task task;
    bool event = false;
    strong->over = strong->early = false;
    TRY(find_table_horizon(strong, target));
    TRY(restore_solver_point(strong, &task));
    TRY(strong_restart(strong, task, &event, result));
    for (uint32_t u = 0; u < pool->unit_count; u++) {
        pool->units[u].member->unit->counts.do_steps += pool->units[u].own;
        pool->units[u].member->now.stepped = true;
    }
    if (strong->solver)
        tt_solver_begin_interval(strong->solver, strong->t);
    TRY(strong_run_to(strong, target, event, result));
    strong_save_point(strong, strong->now);
    strong_publish_counts(strong);
    return TUTTI_OK;
}

/* Other units receive the state at the beginning: held, or extrapolated. */
static enum tutti_err stage_other_units(struct tt_sim *master, const struct strong *strong, double target)
{
    struct tt_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        if ((strong->among && strong->among[rank->own[m]->component]) || !tt_rank_member_is_present(rank, rank->own[m]))
            continue;
        TRY(tt_wires_gather(&rank->wires, rank->wires.signals, rank->own[m]->wires));
        if (rank->wires.order > 0)
            tt_coupled_inputs_hold(&master->staging, rank->own[m], target);
    }
    return TUTTI_OK;
}

static enum tutti_err step_other_units(struct tt_sim *master, const struct strong *strong, double target,
                                       struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (!(strong->among && strong->among[rank->own[m]->component]) &&
            tt_rank_member_is_due(rank, rank->own[m], target))
            TRY(tt_component_step(rank, strong->rules, rank->own[m], target, result));
    return TUTTI_OK;
}

static enum tutti_err strong_step(struct tt_sim *master, void *self, double target, const struct tt_step_rules *rules,
                                  struct tt_step_result *result)
{
    struct strong *strong = self;
    strong->rules = rules;
    TRY(stage_other_units(master, strong, target));
    if (strong->system.pool.unit_count > 0)
        TRY(step_joint_system(strong, target, result));
    if (!(strong->early && (master->chosen.is & TUTTI_METHOD_GOES_BACK))) /* else all of them are taken back */
        TRY(step_other_units(master, strong, target, result));
    return tt_channels_exchange(&master->rank->channels);
}

/* With units of Co-Simulation beside them. */
static unsigned strong_order(unsigned extrapolation)
{
    return extrapolation + 1;
}

const struct tt_coupling tt_coupling_strong = {.name = "strong",
                                               .joins = true,
                                               .size = sizeof(struct strong),
                                               .open = open_strong,
                                               .close = close_strong,
                                               .step = strong_step,
                                               .order = strong_order};
