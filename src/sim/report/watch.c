/* SPDX-License-Identifier: MIT */
#include "sim/report/watch.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"
#include "sim/rank.h"

enum { FIRST_LOOK = 1024, LOOK = 128, PAUSE = 1920 }; /* steps */
enum { MOST_STEPS = 4 };                              /* of a swing that counts */
static const double EXPLODED = 1000;
static const double SUSPICIOUS = 2;
static const double SMALL = 1e-3; /* times nominal: movements within it are noise */

/* A growth counts as `most` at most, so that a jump is none, and only the part of it that `allowance` leaves. */
struct growth_limits {
    double most, allowance;
};
static const struct growth_limits MOVES = {1.5, 0.85}, SWINGS = {2, 0.965};

/* ---- one signal ---- */

static void reset_trend(struct tt_trend *trend, double t, double largest)
{
    trend->growth = 1;
    trend->since = t;
    trend->calm = largest;
}

/* The next one is so large. */
static bool update_trend(struct tt_trend *trend, const struct tt_oscillation *signal, double size, double t,
                         const struct growth_limits *limits)
{
    double last = trend->last;
    trend->last = size;
    if (__builtin_expect(trend->growth <= 1 && size * limits->allowance <= last, 1)) { /* nearly always */
        reset_trend(trend, t, signal->largest);
        return false;
    }
    trend->growth *= fmin(last > 0 ? size / last : 1, limits->most) * limits->allowance;
    if (!(trend->growth > 1))
        reset_trend(trend, t, signal->largest);
    return trend->growth > EXPLODED && size > trend->calm;
}

void tt_watch_begin_oscillation(struct tt_oscillation *swings, double t, double value)
{
    *swings =
        (struct tt_oscillation){.last = value, .largest = fmax(swings->largest, fabs(value)), .real = swings->real};
    reset_trend(&swings->moves, t, swings->largest);
    reset_trend(&swings->swings, t, swings->largest);
}

const struct tt_trend *tt_watch_update_oscillation(struct tt_oscillation *swings, double t, double value,
                                                   double nominal)
{
    double move = value - swings->last;
    const struct tt_trend *exploded = NULL;
    if (move == 0) /* held: of a unit with longer steps, say */
        return NULL;
    if (update_trend(&swings->moves, swings, fabs(move), t, &MOVES))
        exploded = &swings->moves;
    if ((move > 0) != (swings->way > 0)) {
        if (update_trend(&swings->swings, swings, fabs(swings->way), t, &SWINGS))
            exploded = &swings->swings;
        swings->way = move;
        swings->steps = 1;
    } else {
        swings->way += move;
        if (++swings->steps > MOST_STEPS)
            reset_trend(&swings->swings, t, swings->largest);
    }
    swings->last = value;
    swings->largest = fmax(swings->largest, fabs(value));
    return exploded && exploded->last > SMALL * nominal ? exploded : NULL;
}

/* ---- all of them ---- */

/* Per component: true if it is in a cycle of connections. To be freed. */
static enum tutti_err find_cycle_components(const struct tt_structure *structure, bool **out)
{
    uint32_t units = structure->system->component_count;
    uint32_t(*pairs)[2] = calloc((size_t)structure->graph.first[structure->node_count] + 1, sizeof *pairs);
    bool *cyclic = calloc((size_t)units + 1, sizeof *cyclic);
    struct tt_digraph graph = {0};
    struct tt_components groups = {0};
    size_t count = 0;
    enum tutti_err err = pairs && cyclic ? TUTTI_OK : tt_fail_memory();
    const struct tt_digraph *feeders = &structure->graph;
    for (uint32_t n = 0; !err && n < structure->node_count; n++)
        for (uint32_t k = feeders->first[n]; !structure->nodes[n].output && k < feeders->first[n + 1]; k++) {
            pairs[count][0] = structure->nodes[n].component;
            pairs[count++][1] = structure->nodes[feeders->needs[k]].component;
        }
    if (!err)
        err = tt_digraph_init(&graph, units, (const uint32_t(*)[2])pairs, count);
    if (!err)
        err = tt_digraph_components_init(&groups, &graph);
    for (size_t i = 0; !err && i < count; i++)
        if (groups.of[pairs[i][0]] == groups.of[pairs[i][1]])
            cyclic[pairs[i][0]] = cyclic[pairs[i][1]] = true;
    tt_digraph_components_fini(&groups);
    tt_digraph_fini(&graph);
    free(pairs);
    if (err)
        free(cyclic);
    else
        *out = cyclic;
    return err;
}

static double growth_signal_value(const struct tt_rank *rank, const struct tt_real_signal *real)
{
    return ((const double *)(const void *)rank->wires.signals)[real->place];
}

enum tutti_err tt_watch_open_growth(struct tt_growth *growth, struct tt_rank *rank)
{
    bool *cyclic;
    if (rank->wires.real_count == 0)
        return TUTTI_OK;
    growth->items = tt_arena_array(&rank->arena, rank->wires.real_count, sizeof *growth->items);
    if (!growth->items)
        return tt_fail_memory();
    TRY(find_cycle_components(&rank->job->structure, &cyclic));
    for (uint32_t i = 0; i < rank->wires.real_count; i++) {
        const struct tt_real_signal *real = &rank->wires.reals[i];
        growth->watches = growth->watches || cyclic[real->component];
        if (!cyclic[real->component] || !tt_rank_owns(rank, real->component))
            continue;
        growth->items[growth->item_count++].real = i;
    }
    free(cyclic);
    tt_watch_restart_growth(growth, rank);
    return TUTTI_OK;
}

void tt_watch_restart_growth(struct tt_growth *growth, const struct tt_rank *rank)
{
    for (uint32_t i = 0; i < growth->item_count; i++) {
        struct tt_oscillation *swings = &growth->items[i];
        *swings = (struct tt_oscillation){.real = swings->real};
        tt_watch_begin_oscillation(swings, rank->t, growth_signal_value(rank, &rank->wires.reals[swings->real]));
    }
    growth->now = (struct tt_growth_state){.count = growth->item_count, .left = FIRST_LOOK};
}

enum tutti_err tt_watch_register_growth(struct tt_growth *growth, struct tt_rollback_list *remembered)
{
    TRY(tt_rollback_list_add_of(remembered, TUTTI_OF_RANK, &growth->now, sizeof growth->now));
    return tt_rollback_list_add_of(remembered, TUTTI_OF_RANK, growth->items,
                                   growth->item_count * sizeof *growth->items);
}

void tt_watch_check_growth(struct tt_growth *growth, const struct tt_rank *rank)
{
    struct tt_growth_state *now = &growth->now;
    bool anew = now->paused;
    now->paused = false;
    for (uint32_t i = 0; i < now->count; i++) {
        struct tt_oscillation *item = &growth->items[i];
        const struct tt_real_signal *real = &rank->wires.reals[item->real];
        if (__builtin_expect(anew, 0))
            tt_watch_begin_oscillation(item, rank->t, growth_signal_value(rank, real));
        const struct tt_trend *trend =
            tt_watch_update_oscillation(item, rank->t, growth_signal_value(rank, real), real->nominal);
        if (__builtin_expect(!trend, 1))
            continue;
        now->exploded = true;
        now->by_swings = trend == &item->swings;
        now->found = i;
        now->found_at = rank->t;
        now->count = 0;
    }
    if (--now->left > 0)
        return;

    /* A look ends where nothing seems to grow. */
    bool grows = false;
    for (uint32_t i = 0; i < now->count; i++)
        grows = grows || fmax(growth->items[i].moves.growth, growth->items[i].swings.growth) > SUSPICIOUS;
    now->left = LOOK;
    now->pause = grows ? 0 : PAUSE;
    now->paused = !grows;
}

static const struct tt_real_signal *growing_signal(const struct tt_growth *growth, const struct tt_rank *rank)
{
    return &rank->wires.reals[growth->items[growth->now.found].real];
}

static void warn_growth(const struct tt_growth *growth, const struct tt_rank *rank)
{
    const struct tt_oscillation *found = &growth->items[growth->now.found];
    const struct tt_trend *trend = growth->now.by_swings ? &found->swings : &found->moves;
    const struct tt_structure_node *node = &rank->job->structure.nodes[growing_signal(growth, rank)->node];
    struct tt_end end = {.component = node->component, .variable = node->variable};
    char name[256];
    tt_log_unfiltered(rank->unit_log, TUTTI_LOG_WARNING, rank->members[node->component].unit->name,
                      "'%s' changes more and more from step to step, since t = %s, and by %.3g at t = %s: the coupling "
                      "is not stable with these steps, and the result cannot be trusted; use a smaller --step, another "
                      "--coupling, --correct or error control (--rtol); tutti analyze says what is stable",
                      tt_system_name(rank->job->system, &end, name, sizeof name), TIME(trend->since), trend->last,
                      TIME(growth->now.found_at));
}

static enum tutti_err report_growth(const struct tt_growth *growth, struct tt_rank *rank)
{
    double first = growth->now.exploded ? growth->now.found_at : INFINITY, component = INFINITY;
    if (!growth->watches)
        return TUTTI_OK;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &first, 1));
    if (!(first < INFINITY))
        return TUTTI_OK;
    uint32_t own = growth->now.exploded ? growing_signal(growth, rank)->component : TUTTI_NONE;
    if (growth->now.exploded && growth->now.found_at == first)
        component = own;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MIN, &component, 1));
    if (component == own)
        warn_growth(growth, rank);
    return TUTTI_OK;
}

enum tutti_err tt_watch_report_growth(const struct tt_growth *growth, struct tt_rank *rank)
{
    if (rank->fabric->ranks > 1 && rank->t < rank->times.stop) /* ended, which not all ranks may know yet */
        return TUTTI_OK;
    enum tutti_err err = report_growth(growth, rank);
    return err == TUTTI_ERR_STOPPED ? TUTTI_OK : err;
}

enum tutti_err tt_watch_open_finite(struct tt_finite *finite, struct tt_rank *rank)
{
    const struct tt_wires *wires = &rank->wires;
    finite->parts = tt_arena_array(&rank->arena, wires->real_count, sizeof *finite->parts);
    if (!finite->parts)
        return tt_fail_memory();
    for (uint32_t i = 0; i < wires->real_count; i++) {
        const struct tt_real_signal *real = &wires->reals[i];
        struct tt_gather_part *last = finite->part_count > 0 ? &finite->parts[finite->part_count - 1] : NULL;
        if (!real->smooth || !tt_rank_owns(rank, real->component))
            continue;
        if (last && last->first + last->count == real->place)
            last->count++;
        else
            finite->parts[finite->part_count++] = (struct tt_gather_part){real->place, 1};
    }
    return TUTTI_OK;
}

static double finite_value_at(const struct tt_rank *rank, size_t place)
{
    return ((const double *)(const void *)rank->wires.signals)[place];
}

/* Returns true if the unit had an input that was not finite in its last step. */
static bool had_nonfinite_input(const struct tt_rank *rank, uint32_t component)
{
    const struct tt_unit_wires *unit = &rank->wires.units[component];
    for (uint32_t k = unit->gather_first; k < unit->gather_first + unit->gather_count; k++)
        if (!isfinite(rank->wires.gathered[k]))
            return true;
    return false;
}

/* Returns a continuous signal that the unit reads and that is not finite now; TUTTI_NONE if there is none. */
static uint32_t nonfinite_source(const struct tt_rank *rank, uint32_t component)
{
    const struct tt_wires *wires = &rank->wires;
    const struct tt_unit_wires *unit = &wires->units[component];
    for (uint32_t k = unit->gather_first; k < unit->gather_first + unit->gather_count; k++) {
        uint32_t real = tt_wires_find_real(wires, wires->gather[k]);
        if (real != TUTTI_NONE && !isfinite(finite_value_at(rank, wires->gather[k])))
            return real;
    }
    for (uint32_t w = unit->wire_first; w < unit->wire_first + unit->wire_count; w++) {
        uint32_t real = tt_wires_find_real(wires, wires->wires[w].from / sizeof(double));
        if (real != TUTTI_NONE && !isfinite(finite_value_at(rank, wires->reals[real].place)))
            return real;
    }
    return TUTTI_NONE;
}

/* Finds the signal of origin: of a unit whose inputs were finite in the step. If that gives none, or several, sources
 * are followed from the first one on, once around a loop at most. */
static uint32_t find_nonfinite_origin(const struct tt_rank *rank)
{
    const struct tt_wires *wires = &rank->wires;
    uint32_t first = TUTTI_NONE, found = TUTTI_NONE;
    for (uint32_t i = 0; i < wires->real_count; i++) {
        if (!wires->reals[i].smooth || isfinite(finite_value_at(rank, wires->reals[i].place)))
            continue;
        first = first == TUTTI_NONE ? i : first;
        if (found == TUTTI_NONE && !had_nonfinite_input(rank, wires->reals[i].component))
            found = i;
    }
    found = found == TUTTI_NONE ? first : found;
    for (uint32_t steps = 0; steps < rank->member_count; steps++) {
        uint32_t source = nonfinite_source(rank, wires->reals[found].component);
        if (source == TUTTI_NONE)
            return found;
        if (had_nonfinite_input(rank, wires->reals[source].component) &&
            !had_nonfinite_input(rank, wires->reals[found].component))
            return found;
        found = source;
    }
    return found;
}

enum tutti_err tt_watch_fail_not_finite(const struct tt_rank *rank, double t, const char *why)
{
    const struct tt_real_signal *real = &rank->wires.reals[find_nonfinite_origin(rank)];
    const struct tt_structure_node *node = &rank->job->structure.nodes[real->node];
    const struct tt_component *component = &rank->job->system->components[node->component];
    struct tt_end end = {.component = node->component, .variable = node->variable};
    char name[256];

    /* An input of the unit that a file or an expression drives, and that is not finite. */
    const struct tt_inputs *inputs = rank->members[node->component].inputs;
    const struct tt_description *desc = component->fmu->desc;
    uint32_t driven = TUTTI_NONE;
    for (uint32_t v = 0; inputs && v < desc->var_count && driven == TUTTI_NONE; v++) {
        const void *slot = desc->vars[v].type == TUTTI_TYPE_FLOAT64 ? tt_inputs_slot(inputs, v, 0) : NULL;
        driven = slot && !isfinite(*(const double *)slot) ? v : TUTTI_NONE;
    }
    tt_system_name(rank->job->system, &end, name, sizeof name);
    if (driven != TUTTI_NONE)
        tt_fail(TUTTI_ERR_SOLVER,
                "t = %s: '%s' is not finite (%s), and inputs follow it: the input '%s' of '%s' is not finite, which %s "
                "drives",
                TIME(t), name, isnan(finite_value_at(rank, real->place)) ? "NaN" : "infinite", desc->vars[driven].name,
                component->name, tt_inputs_file_name(inputs, driven));
    else
        tt_fail(TUTTI_ERR_SOLVER,
                "t = %s: '%s' is not finite (%s)%s, and inputs follow it; if its FMU does not do that by itself, the "
                "coupling is not stable: try another --coupling, --correct or a smaller step (tutti analyze)",
                TIME(t), name, isnan(finite_value_at(rank, real->place)) ? "NaN" : "infinite", why);
    return tt_fail_about(TUTTI_ERR_SOLVER, component->name, component->fmu->desc->vars[node->variable].name, t);
}
