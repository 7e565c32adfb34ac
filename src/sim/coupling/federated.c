/* SPDX-License-Identifier: MIT */
/* Units without a master (Awais 2015 section 4.2): every unit is a federate of an RTI, with a separate time. A macro
 * step is a window: the RTI grants time inside it, in the order of times; a unit steps when it is granted its next
 * point, and sends messages.
 *
 * Fixed steps (Awais 2015 Fig. 4.9): a unit requests the end of its step (TARA), steps, sends its outputs, requests all
 * messages of that time (TAR), and sets them as its inputs. Discrete events (Awais 2015 section 4.2.2, control
 * quantum): it requests the point where it will have moved by a quantum at its last rate, or that it announced, or the
 * next message (NMRA); it steps there with its present inputs, sets the new values (after NMR, or, with event mode, at
 * once and as an event), and sends its outputs if they have moved by a quantum.
 *
 * Invariants:
 *  UF1 All ranks make equal calls of the RTI in one order: a decision of a unit is made by its rank, and shared with
 *      all.
 *  UF2 `told` has the values that units have sent, at the time of the last grant. Inputs come from there. Between
 *      steps of the coupling, the signals are the units' outputs; values due at the end of a window are sent at the
 *      beginning of the next one, after its events.
 *  UF3 No request is beyond the window, so that at its end all federates have been granted that time, and nothing is
 *      pending.
 *  UF4 The federation can be recreated between two windows: its relevant state is in `told` and `plans`. */
#include "sim/coupling/federated.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "hla/rti/declarations.h"
#include "hla/rti/objects.h"
#include "hla/rti/rti.h"
#include "hla/rti/time_management.h"
#include "sim/coupling/coupling.h"
#include "sim/events.h"
#include "sim/pending_set.h"
#include "sim/rank.h"

enum { MOST_ROUNDS = 1000 };

/* A unit sends once it has moved by this part of a quantum: a prediction that falls slightly short costs no further
 * step. */
static const double ENOUGH = 0.9;

/* Where a unit is, and goes. The same on all ranks. Plain data. */
struct federated_plan {
    double t;    /* its last step ended there */
    double next; /* its next one ends there, unless a message wakes it before */
    struct tt_time_grid grid;
};

/* One own unit's share of the signals. */
struct federated_share {
    size_t first, size; /* bytes */
};

struct federated {
    const struct tt_step_rules *rules; /* of the step that is being made */
    struct tt_federates *federates;
    double at;                      /* end of the last window; NAN: none */
    double target;                  /* end of this window */
    bool shared;                    /* every rank has all of `told` */
    char *told, *before, *scratch;  /* laid out as the signals are */
    struct federated_share *shares; /* per component */
    struct federated_plan *plans;   /* per component */
    double *length;                 /* per component: of the step that was proposed last; known to its own rank */
    double *rates;                  /* per real: quanta per time in the last step */
    bool *discrete;                 /* per component: it asks for the next message, too */
    bool *by_quantum;   /* per component: it sends changes by a quantum; otherwise everything, after each step */
    bool *completes;    /* per component: its pending request is for everything at a time, TAR or NMR */
    bool *tells, *acts; /* per component, of one round */
    bool *over;         /* per component: its FMU has ended the run */
    double *votes;      /* two per component */
    struct tt_federate_grant *grants;
    double last_told; /* time of a unit's last message */
    int rounds;       /* at the same time */
};

/* ---- getting ready ---- */

static struct federated_share federated_unit_share(const struct tt_wires *wires, uint32_t component)
{
    struct federated_share share = {0};
    const struct tt_unit_wires *unit = &wires->units[component];
    for (unsigned b = 0; b < unit->output_blocks; b++) {
        const struct tt_block *block = &unit->outputs[b];
        size_t first = (size_t)((const char *)block->values - wires->signals);
        size_t end = first + block->value_count * tt_type_size(block->type);
        size_t old_end = share.size ? share.first + share.size : 0;
        share.first = share.size && share.first < first ? share.first : first;
        share.size = (end > old_end ? end : old_end) - share.first;
    }
    return share;
}

static enum tutti_err federated_check_texts(const struct tt_rank *rank)
{
    for (uint32_t m = 0; m < rank->member_count; m++)
        for (unsigned b = 0; b < rank->wires.units[m].output_blocks; b++)
            if (rank->wires.units[m].outputs[b].owned)
                return tt_fail(TUTTI_ERR_UNSUPPORTED,
                               "--coupling federated: other units read a String or a Binary of '%s', which it does not "
                               "keep from one time to another; use --coupling jacobi",
                               rank->units[m]->name);
    return TUTTI_OK;
}

static enum tutti_err federated_allocate(struct federated *f, struct tt_rank *rank)
{
    size_t n = rank->member_count, size = rank->wires.signal_size;
    struct {
        void **room;
        size_t count, size;
    } rooms[] = {
        {(void **)&f->told, size, 1},
        {(void **)&f->before, size, 1},
        {(void **)&f->scratch, size, 1},
        {(void **)&f->shares, n, sizeof *f->shares},
        {(void **)&f->plans, n, sizeof *f->plans},
        {(void **)&f->length, n, sizeof *f->length},
        {(void **)&f->rates, rank->wires.real_count, sizeof *f->rates},
        {(void **)&f->discrete, n, sizeof *f->discrete},
        {(void **)&f->by_quantum, n, sizeof *f->by_quantum},
        {(void **)&f->completes, n, sizeof *f->completes},
        {(void **)&f->tells, n, sizeof *f->tells},
        {(void **)&f->acts, n, sizeof *f->acts},
        {(void **)&f->over, n, sizeof *f->over},
        {(void **)&f->votes, 2 * n, sizeof *f->votes},
        {(void **)&f->grants, n, sizeof *f->grants},
    };
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (!(*rooms[i].room = tt_arena_array(&rank->arena, rooms[i].count, rooms[i].size)))
            return tt_fail_memory();
    return TUTTI_OK;
}

/* Units with separate steps by an option, or with fixed steps, keep these; all others follow the changes. */
static void choose_unit_steps(struct federated *f, struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        struct tt_member *member = &rank->members[m];
        f->by_quantum[m] = master->quanta != NULL;
        f->discrete[m] = f->by_quantum[m] && !member->has_grid;
        f->plans[m].t = rank->t;
        f->plans[m].grid = member->now.grid;
        f->length[m] = master->memory.stepper.first / TUTTI_STEPPER_GROW;
        if (f->discrete[m]) /* it is not at the end of every window, and reaches its events alone */
            member->has_grid = rank->has_grids = true;
    }
}

static enum tutti_err open_federation(struct tt_sim *master, void *self)
{
    struct federated *f = self;
    struct tt_rank *rank = master->rank;
    struct tt_rollback_list *remembered = &master->remembered;
    TRY(federated_check_texts(rank));
    TRY(federated_allocate(f, rank));
    TRY(tt_rollback_list_add(remembered, f->plans, rank->member_count * sizeof *f->plans));
    TRY(tt_rollback_list_add(remembered, &f->shared, sizeof f->shared));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        f->shares[m] = federated_unit_share(&rank->wires, m);
        TRY(tt_rollback_list_add_of(remembered, m, f->told + f->shares[m].first, f->shares[m].size));
        TRY(tt_rollback_list_add_of(remembered, m, &f->length[m], sizeof f->length[m]));
    }
    memcpy(f->told, rank->wires.signals, rank->wires.signal_size);
    f->at = NAN;
    choose_unit_steps(f, master);
    return tt_wires_register_reals(&rank->wires, remembered, f->rates);
}

static void close_federation(struct tt_sim *master, void *self)
{
    struct federated *f = self;
    (void)master;
    tt_federated_free_federates(f->federates);
}

/* Unit i receives from unit j if a connection leads from j to i. */
static enum tutti_err create_federation(struct federated *f, struct tt_rank *rank)
{
    const struct tt_system *system = rank->job->system;
    uint32_t n = rank->member_count;
    bool *reads = calloc((size_t)n * n, sizeof *reads);
    const char **names = calloc(n, sizeof *names);
    for (uint32_t i = 0; names && i < n; i++)
        names[i] = rank->units[i]->name;
    for (uint32_t c = 0; reads && c < system->connection_count; c++) {
        const struct tt_connection *connection = &system->connections[c];
        uint32_t from = connection->from.component, to = connection->to.component;
        if (from != TUTTI_NONE && to != TUTTI_NONE && !connection->at_start_only)
            reads[(size_t)to * n + from] = true;
    }
    tt_federated_free_federates(f->federates);
    f->federates = NULL;
    enum tutti_err err = reads && names
                             ? tt_federated_new_federates(&f->federates, n, names, reads, rank->times.start, rank->t)
                             : tt_fail_memory();
    free(reads);
    free(names);
    return err;
}

/* ---- messages of own units, and their next times ---- */

static double output_has_moved(const struct federated *f, const struct tt_sim *master, uint32_t real)
{
    const struct tt_wires *wires = &master->rank->wires;
    uint32_t place = wires->reals[real].place;
    return fabs(((const double *)(const void *)wires->signals)[place] -
                ((const double *)(const void *)f->told)[place]) /
           master->quanta[real];
}

/* Returns true if an output has moved by a quantum since it was sent, or a discrete one has changed. */
static bool unit_has_changes(const struct federated *f, const struct tt_sim *master, uint32_t unit)
{
    const struct tt_wires *wires = &master->rank->wires;
    const struct federated_share *share = &f->shares[unit];
    memcpy(f->scratch + share->first, f->told + share->first, share->size);
    for (uint32_t i = wires->real_first[unit]; i < wires->real_first[unit + 1]; i++) {
        uint32_t place = wires->reals[i].place;
        if (!wires->reals[i].smooth)
            continue;
        if (!(output_has_moved(f, master, i) < ENOUGH))
            return true;
        ((double *)(void *)f->scratch)[place] = ((const double *)(const void *)wires->signals)[place];
    }
    return memcmp(f->scratch + share->first, wires->signals + share->first, share->size) != 0;
}

/* How fast outputs moved in a step of length h, in quanta. */
static void federated_measure_rates(struct federated *f, const struct tt_sim *master, uint32_t unit, double h)
{
    const struct tt_wires *wires = &master->rank->wires;
    const double *now = (const void *)wires->signals, *before = (const void *)f->before;
    for (uint32_t i = wires->real_first[unit]; i < wires->real_first[unit + 1]; i++) {
        uint32_t place = wires->reals[i].place;
        f->rates[i] = wires->reals[i].smooth ? fabs(now[place] - before[place]) / (master->quanta[i] * h) : 0;
    }
}

/* Returns when the first output will have moved by a quantum since it was sent (Awais 2015 eq. 4.5). A unit that no
 * other reads steps at the communication step. */
static double federated_predict_next(struct federated *f, const struct tt_sim *master, uint32_t unit, double t)
{
    const struct tt_rank *rank = master->rank;
    const struct tt_wires *wires = &rank->wires;
    const struct tt_step_size *stepper = &master->memory.stepper;
    double h = f->length[unit] * TUTTI_STEPPER_GROW, event = rank->members[unit].now.next_event;
    for (uint32_t i = wires->real_first[unit]; i < wires->real_first[unit + 1]; i++)
        if (f->rates[i] > 0)
            h = fmin(h, (f->tells[unit] ? 1 : 1 - output_has_moved(f, master, i)) / f->rates[i]);
    h = fmin(fmax(h, stepper->h_min), f->shares[unit].size > 0 ? stepper->h_max : rank->times.step);
    f->length[unit] = h;
    return fmin(event > t ? fmin(t + h, event) : t + h, rank->times.stop);
}

/* ---- deciding together ---- */

/* The ranks have decided what active units send and where they go next; this shares it with all ranks. */
static enum tutti_err federated_exchange_requests(struct federated *f, struct tt_sim *master, double t)
{
    struct tt_rank *rank = master->rank;
    uint32_t n = rank->member_count;
    if (!master->quanta) /* all units send, on their grids */
        return TUTTI_OK;
    for (uint32_t i = 0; i < n; i++) {
        bool own = f->acts[i] && tt_rank_owns(rank, i);
        f->tells[i] = own && unit_has_changes(f, master, i);
        f->votes[2 * i] = own && f->discrete[i] ? federated_predict_next(f, master, i, t) : INFINITY;
        f->votes[2 * i + 1] = f->tells[i] ? -1 : 0;
    }
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, f->votes, 2 * (size_t)n));
    for (uint32_t i = 0; i < n; i++) {
        f->tells[i] = f->votes[2 * i + 1] < 0;
        if (f->acts[i] && f->discrete[i])
            f->plans[i].next = f->votes[2 * i];
    }
    return TUTTI_OK;
}

/* Publishes the messages of active units. */
static enum tutti_err federated_publish(struct federated *f, struct tt_sim *master, double t)
{
    struct tt_rank *rank = master->rank;
    bool any = false;
    for (uint32_t i = 0; i < rank->member_count; i++) {
        if (!f->acts[i] || !f->tells[i])
            continue;
        memcpy(f->told + f->shares[i].first, rank->wires.signals + f->shares[i].first, f->shares[i].size);
        TRY(tt_federated_send_update(f->federates, i, t));
        rank->stats->updates++;
        any = true;
    }
    rank->stats->instants += any && t != f->last_told;
    f->last_told = any ? t : f->last_told;
    return TUTTI_OK;
}

/* ---- requests ---- */

/* Points that differ by rounding are one, unless a unit insists on one that is hardly after `now`. */
static double is_same_point(const struct federated *f, const struct tt_rank *rank, double next, double now)
{
    if (tt_time_reached(next, f->target, rank->span))
        return f->target; /* UF3 */
    for (uint32_t i = 0; i < rank->member_count; i++)
        if (tt_time_same(next, f->plans[i].next, rank->span) && f->plans[i].next > now)
            return f->plans[i].next;
    return next;
}

static enum tutti_err request_next_point(struct federated *f, const struct tt_rank *rank, uint32_t unit, double now)
{
    enum tt_time_advance how = f->discrete[unit] ? TUTTI_ADVANCE_NMRA : TUTTI_ADVANCE_TARA;
    f->completes[unit] = false;
    return tt_federated_request_advance(f->federates, unit, how, is_same_point(f, rank, f->plans[unit].next, now));
}

/* Requests all messages at t. A unit with event mode, which may answer at that time, handles each as it arrives. */
static enum tutti_err request_zero_advance(struct federated *f, const struct tt_rank *rank, uint32_t unit, double t)
{
    if (f->discrete[unit] && rank->units[unit]->has_events)
        return request_next_point(f, rank, unit, t);
    f->completes[unit] = true;
    return tt_federated_request_advance(f->federates, unit, f->discrete[unit] ? TUTTI_ADVANCE_NMR : TUTTI_ADVANCE_TAR,
                                        t);
}

/* ---- units that were granted a time (own units) ---- */

static enum tutti_err federated_step_unit(struct federated *f, struct tt_sim *master, uint32_t unit, double t,
                                          struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    struct tt_member *member = &rank->members[unit];
    const struct federated_share *share = &f->shares[unit];
    if (t <= f->plans[unit].t || f->over[unit])
        return TUTTI_OK;
    memcpy(f->before + share->first, rank->wires.signals + share->first, share->size);
    TRY(tt_component_step(rank, f->rules, member, t, result));
    f->over[unit] = tt_step_result_is_end_of(result, unit);
    if (f->by_quantum[unit])
        federated_measure_rates(f, master, unit, t - f->plans[unit].t);
    if (t < f->target && !f->over[unit])
        tt_component_check_events(rank, member); /* at the end of the window, all look around */
    return TUTTI_OK;
}

/* Sets received values as inputs: as an event, if discrete inputs require it. */
static enum tutti_err apply_received_inputs(struct federated *f, struct tt_sim *master, uint32_t unit)
{
    struct tt_rank *rank = master->rank;
    struct tt_member *member = &rank->members[unit];
    if (f->over[unit])
        return TUTTI_OK;
    TRY(tt_wires_gather(&rank->wires, f->told, member->wires));
    if (member->wires->held_count > 0)
        TRY(tt_wires_gather_held(&rank->wires, f->told, member->wires));
    bool events = member->unit->has_events;
    if (events && (member->wires->held_changed || member->now.has_pending))
        member->now.event = true;
    if (events && member->now.event) {
        TRY(tt_events_handle_locally(rank, member));
        f->over[unit] = rank->ended == member;
        f->length[unit] = fmin(f->length[unit], master->memory.stepper.first / TUTTI_STEPPER_GROW);
    } else if (member->now.has_pending)
        TRY(tt_pending_set_apply_all(rank->pending_sets, member));
    if (member->inputs)
        tt_inputs_find_next(member->inputs, member->unit);
    return TUTTI_OK;
}

/* ---- one time ---- */

/* Units that are granted their next point step there; `completes` is that of the request that was granted. */
static enum tutti_err federated_step_units(struct federated *f, struct tt_sim *master, uint32_t count, double t,
                                           struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    memset(f->acts, 0, rank->member_count * sizeof *f->acts);
    for (uint32_t g = 0; g < count; g++) {
        uint32_t unit = f->grants[g].unit;
        struct federated_plan *plan = &f->plans[unit];
        bool due = tt_time_reached(t, plan->next, rank->span) || (f->discrete[unit] && f->grants[g].news);
        if (f->completes[unit] || !due)
            continue;
        f->acts[unit] = f->tells[unit] = true;
        if (tt_rank_owns(rank, unit))
            TRY(federated_step_unit(f, master, unit, t, result));
        plan->t = t;
        if (!f->discrete[unit]) {
            tt_time_grid_pass(&plan->grid, t);
            plan->next = rank->members[unit].has_grid ? plan->grid.next : f->target;
        }
    }
    return TUTTI_OK;
}

/* Before the end of the window. */
static enum tutti_err federated_advance(struct federated *f, struct tt_sim *master, uint32_t count, double t)
{
    struct tt_rank *rank = master->rank;
    bool any = false;
    for (uint32_t g = 0; g < count; g++) {
        uint32_t unit = f->grants[g].unit;
        bool takes = f->completes[unit] || (f->discrete[unit] && rank->units[unit]->has_events);
        if (takes && tt_rank_owns(rank, unit))
            TRY(apply_received_inputs(f, master, unit));
    }
    TRY(federated_exchange_requests(f, master, t));
    for (uint32_t i = 0; i < rank->member_count; i++)
        any = any || (f->acts[i] && f->tells[i]);
    if (any)
        TRY(tt_channels_exchange(&rank->channels));
    TRY(federated_publish(f, master, t));
    for (uint32_t g = 0; g < count; g++) {
        uint32_t unit = f->grants[g].unit;
        TRY(f->acts[unit] ? request_zero_advance(f, rank, unit, t) : request_next_point(f, rank, unit, t));
    }
    return TUTTI_OK;
}

/* ---- the window ---- */

/* Resets inputs to the values last sent, which units with event mode keep until they receive a message. */
static enum tutti_err federated_reset_inputs(struct federated *f, struct tt_rank *rank)
{
    f->last_told = NAN;
    TRY(create_federation(f, rank));
    if (!f->shared)
        TRY(tt_channels_exchange_at(&rank->channels, f->told));
    f->shared = true;
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (rank->own[m]->now.t == rank->t)
            TRY(tt_wires_gather(&rank->wires, f->told, rank->own[m]->wires));
    return TUTTI_OK;
}

/* A program has set values of units that are not there: they go there first, and take them. (Such a run has one rank.) */
static enum tutti_err federated_advance_early_units(struct federated *f, struct tt_sim *master,
                                                    struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count && rank->fabric->ranks == 1; m++) {
        uint32_t unit = rank->own[m]->component;
        if (!rank->own[m]->now.has_pending || !f->discrete[unit] || f->plans[unit].t >= rank->t)
            continue;
        TRY(federated_step_unit(f, master, unit, rank->t, result));
        f->plans[unit].t = rank->t;
        TRY(apply_received_inputs(f, master, unit));
    }
    return TUTTI_OK;
}

/* Publishes messages of units at the window's start, and makes all requests. */
static enum tutti_err federated_begin_window(struct federated *f, struct tt_sim *master, double target,
                                             struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    double t = rank->t;
    f->target = target;
    f->rounds = 0;
    if (f->at != t) /* the first window, or the run has gone to another point */
        TRY(federated_reset_inputs(f, rank));
    TRY(federated_advance_early_units(f, master, result));
    for (uint32_t i = 0; i < rank->member_count; i++) {
        f->acts[i] = f->tells[i] = f->plans[i].t == t;
        if (!f->discrete[i])
            f->plans[i].next = rank->members[i].has_grid ? f->plans[i].grid.next : target;
    }
    TRY(federated_exchange_requests(f, master, t));
    TRY(federated_publish(f, master, t));
    for (uint32_t i = 0; i < rank->member_count; i++) {
        TRY(f->acts[i] ? request_zero_advance(f, rank, i, t) : request_next_point(f, rank, i, t));
    }
    return TUTTI_OK;
}

static enum tutti_err federated_step(struct tt_sim *master, void *self, double target,
                                     const struct tt_step_rules *rules, struct tt_step_result *result)
{
    struct federated *f = self;
    struct tt_rank *rank = master->rank;
    f->rules = rules;
    TRY(federated_begin_window(f, master, target, result));
    for (double t = rank->t; t < target;) {
        uint32_t count;
        TRY(tt_federated_get_grants(f->federates, f->grants, &count));
        if (count == 0)
            return tt_federated_fail_deadlock(f->federates);
        f->rounds = f->grants[0].t == t ? f->rounds + 1 : 0;
        t = f->grants[0].t;
        if (f->rounds == MOST_ROUNDS)
            return tt_fail(TUTTI_ERR_FMU,
                           "%s: the discrete signals between units do not come to rest at t = %s: each round of events "
                           "causes the next",
                           rank->units[f->grants[0].unit]->name, TIME(t));
        rank->stats->grants += count;
        TRY(federated_step_units(f, master, count, t, result));
        if (t < target)
            TRY(federated_advance(f, master, count, t));
    }
    f->at = target;
    return tt_channels_exchange(&rank->channels);
}

/* Inputs are held between messages, whatever is extrapolated. */
static unsigned federated_order(unsigned extrapolation)
{
    (void)extrapolation;
    return 1;
}

const struct tt_coupling tt_coupling_federated = {.name = "federated",
                                                  .federates = true,
                                                  .size = sizeof(struct federated),
                                                  .open = open_federation,
                                                  .close = close_federation,
                                                  .step = federated_step,
                                                  .order = federated_order};

static const char FEDERATION[] = "units";

struct federate {
    struct tt_ambassador *ambassador;
    uint32_t class, attribute, object;
    double asked; /* the time of the pending request */
    bool news;
};

struct tt_federates {
    struct tt_rti *rti;
    double start, now; /* of the run; of the last grants */
    uint32_t count;
    struct federate items[];
};

/* No service fails here but for want of memory. */
static enum tutti_err check_hla(enum tt_hla hla)
{
    return hla ? tt_fail_context(TUTTI_ERR_STATE, "federated: %s", tt_exception_name(hla)) : TUTTI_OK;
}

/* Logical times begin at 0. */
static int64_t logical_time(const struct tt_federates *federates, double t)
{
    int64_t time = 0;
    (void)tt_logical_time_from_double(TUTTI_TIME_FLOAT64, t - federates->start, &time);
    return time;
}

/* A class for each unit, so that others subscribe to what they read. */
static enum tutti_err create_object_model(uint32_t count, struct tt_fom_module **module)
{
    struct tt_text text = {0};
    tt_text_append(&text, "<objectModel xmlns=\"http://standards.ieee.org/IEEE1516-2025\"><objects>"
                          "<objectClass><name>HLAobjectRoot</name>");
    for (uint32_t i = 0; i < count; i++)
        tt_text_printf(&text,
                       "<objectClass><name>Unit%u</name><attribute><name>outputs</name><order>TimeStamp</order>"
                       "</attribute></objectClass>",
                       i);
    tt_text_append(&text, "</objectClass></objects></objectModel>");
    enum tutti_err err = text.failed ? tt_fail_memory()
                                     : tt_fom_module_read_bytes(module, "units", text.text, text.length);
    tt_text_fini(&text);
    return err;
}

static enum tutti_err join_federate(struct tt_federates *federates, uint32_t i, const char *name)
{
    struct federate *item = &federates->items[i];
    const struct tt_fom *fom = tt_rti_find_federation(federates->rti, FEDERATION)->fom;
    struct tt_rti_join join = {.federation = FEDERATION, .type = "unit", .name = name};
    uint32_t handle;
    enum tt_logical_time_kind kind;
    char class[24];
    snprintf(class, sizeof class, "Unit%u", i);
    item->class = tt_fom_find_class(&fom->objects, class);
    item->attribute = tt_fom_find_member(&fom->objects, item->class, "outputs");
    TRY(check_hla(tt_rti_join(item->ambassador, &join, &handle, &kind)));
    TRY(check_hla(
        tt_declarations_publish_attributes(item->ambassador, (struct tt_class_set){item->class, &item->attribute, 1})));
    TRY(check_hla(tt_time_management_enable_regulation(item->ambassador, 0)));
    return check_hla(tt_time_management_enable_constrained(item->ambassador));
}

static enum tutti_err subscribe_federate(struct tt_federates *federates, const bool *reads)
{
    uint32_t count = federates->count;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < count; j++) {
            const struct federate *read = &federates->items[j];
            if (!reads[(size_t)i * count + j] || i == j)
                continue;
            TRY(check_hla(tt_declarations_subscribe_attributes(
                federates->items[i].ambassador, (struct tt_class_set){read->class, &read->attribute, 1}, true, "")));
        }
    for (uint32_t i = 0; i < count; i++)
        TRY(check_hla(tt_objects_register(federates->items[i].ambassador, federates->items[i].class, NULL,
                                          &federates->items[i].object)));
    return TUTTI_OK;
}

static enum tutti_err connect_federates(struct tt_federates *federates, const char *const *names, const bool *reads)
{
    federates->rti = tt_rti_new((struct tt_rti_limits){0});
    if (!federates->rti)
        return tt_fail_memory();
    struct tt_fom_module *module;
    for (uint32_t i = 0; i < federates->count; i++)
        TRY(check_hla(tt_rti_connect(federates->rti, &federates->items[i].ambassador)));
    TRY(create_object_model(federates->count, &module));
    TRY(check_hla(tt_rti_create(federates->items[0].ambassador, FEDERATION, &module, 1, "HLAfloat64Time", NULL)));
    for (uint32_t i = 0; i < federates->count; i++)
        TRY(join_federate(federates, i, names[i]));
    TRY(subscribe_federate(federates, reads));
    for (uint32_t i = 0; i < federates->count; i++) /* what was found out about each other */
        while (tt_rti_next_callback(federates->items[i].ambassador)) {
        }
    return TUTTI_OK;
}

enum tutti_err tt_federated_new_federates(struct tt_federates **out, uint32_t count, const char *const *names,
                                          const bool *reads, double start, double now)
{
    *out = calloc(1, sizeof **out + count * sizeof(*out)->items[0]);
    if (!*out)
        return tt_fail_memory();
    (*out)->count = count;
    (*out)->start = start;
    (*out)->now = now;
    enum tutti_err err = connect_federates(*out, names, reads);
    if (!err)
        return TUTTI_OK;
    tt_federated_free_federates(*out);
    *out = NULL;
    return err;
}

void tt_federated_free_federates(struct tt_federates *federates)
{
    if (!federates)
        return;
    tt_rti_free(federates->rti);
    free(federates);
}

enum tutti_err tt_federated_request_advance(struct tt_federates *federates, uint32_t unit, enum tt_time_advance how,
                                            double t)
{
    struct federate *item = &federates->items[unit];
    item->asked = t;
    return check_hla(tt_time_management_advance(item->ambassador, how, logical_time(federates, t)));
}

enum tutti_err tt_federated_send_update(struct tt_federates *federates, uint32_t unit, double t)
{
    const struct federate *item = &federates->items[unit];
    int64_t time = logical_time(federates, t);
    struct tt_hla_value value = {.handle = item->attribute};
    return check_hla(
        tt_objects_update(item->ambassador, item->object, &value, 1, (struct tt_message_stamp){.time = &time}, NULL));
}

static bool check_federate_grant(struct tt_federates *federates, struct federate *item, struct tt_federate_grant *grant)
{
    const struct tt_callback *callback;
    bool granted = false;
    while ((callback = tt_rti_next_callback(item->ambassador))) {
        if (callback->kind == TUTTI_CALLBACK_ReflectAttributeValues)
            item->news = true;
        if (callback->kind != TUTTI_CALLBACK_TimeAdvanceGrant)
            continue;
        /* A grant is for the time that was asked for, or for that of messages, which are sent at an earlier grant. */
        double t = callback->time == logical_time(federates, item->asked) ? item->asked : federates->now;
        *grant = (struct tt_federate_grant){.t = t, .news = item->news};
        item->news = false;
        granted = true;
    }
    return granted;
}

enum tutti_err tt_federated_get_grants(struct tt_federates *federates, struct tt_federate_grant *grants,
                                       uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < federates->count; i++) {
        if (tt_rti_has_overflowed(federates->items[i].ambassador))
            return tt_fail_memory();
        if (!check_federate_grant(federates, &federates->items[i], &grants[*count]))
            continue;
        grants[(*count)++].unit = i;
    }
    if (*count > 0)
        federates->now = grants[0].t;
    return TUTTI_OK;
}

enum tutti_err tt_federated_fail_deadlock(struct tt_federates *federates)
{
    struct tt_text text = {0};
    tt_time_management_explain(tt_rti_find_federation(federates->rti, FEDERATION), &text);
    enum tutti_err err = tt_fail(TUTTI_ERR_STATE, "federated: no unit may go on: %s", text.text ? text.text : "");
    tt_text_fini(&text);
    return err;
}
