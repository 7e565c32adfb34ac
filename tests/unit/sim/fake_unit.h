/* SPDX-License-Identifier: MIT */
/* fake_unit.h - for tests of the step machine: units without an FMU, which do what a script says, on a rank with a master that
 * the usual code has chosen and opened.
 *
 * A fake unit integrates x' = rate + gain u exactly; y = x. It has an Int32 and a String in and out besides, and says the time of
 * its last event. Its life up to now is there to look at. */
#ifndef TUTTI_TEST_FAKE_UNIT_H
#define TUTTI_TEST_FAKE_UNIT_H

#include "sim/stats.h"
#include "test.h"

#include <pthread.h>
#include <stdlib.h>

#include "sim/ranks/shared_fabric.h"
#include "sim/choose.h"
#include "sim/decide.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/method_open.h"
#include "sim/execution_run.h"
#include "sim/rank_open.h"
#include "unit/shadow.h"

enum { FAKE_MOST_UNITS = 4, FAKE_MOST_LINKS = 8, FAKE_MOST_STEPS = 64 };

/* ---- the unit ---- */

enum fake_variable { FAKE_U, FAKE_K, FAKE_HEARD, FAKE_Y, FAKE_N, FAKE_SAID, FAKE_VARIABLES };

/* What a unit does; 0 stands for never, or not. */
struct fake_script {
    double rate, gain, x; /* x: at the start */
    double longest;       /* longer steps are discarded */
    bool retries;         /* ... and it stands as it stood (FMI 3.0); else it cannot go on */
    bool moves;           /* ... having come half of the way, which it tells */
    double event_at;      /* comes back there with an event, once */
    bool silent_at_end;   /* ... but not where a step ends just there */
    bool rounds;          /* tells times that are off by a rounding error */
    double stands_at;     /* steps that begin there lead nowhere */
    bool waits;           /* with an event, nor do those whose u is another than at the last event */
    double ends_at;       /* ends the run */
    bool ends_by_discard; /* ... the way that FMI 2.0 has */
    bool ends_in_event;
    bool jumps;            /* at an event, x becomes u */
    double changes_at;     /* from there on n is 1 more */
    bool flickers;         /* n is another in each step */
    double announces;      /* the next event, from the last one on: multiples of this */
    int32_t counts_up_to;  /* in event mode: n = k + 1 as long as that is not more */
    bool has_events;       /* event mode is used */
    bool cannot_go_back;   /* it does not save its state */
    bool cannot_vary_step; /* steps of one size only */
};

/* All that it remembers. */
struct fake_state {
    double t, x, u, u_at_event;
    int32_t k, n;
    bool crossed, in_event;
    char heard[16], said[16];
};

struct fake_call {
    double t, h, x; /* x: before the step */
};

struct fake_unit {
    struct tt_unit unit;
    struct fake_script script;
    struct fake_state state;
    struct fake_call steps[FAKE_MOST_STEPS]; /* the first ones */
    unsigned step_count, events, restores;
};

static inline struct fake_unit *fake_of(struct tt_unit *unit)
{
    return (struct fake_unit *)unit;
}

static inline void fake_finish(struct tt_unit *unit)
{
    (void)unit;
}

static inline enum tutti_err fake_terminate(struct tt_unit *unit)
{
    (void)unit;
    return TUTTI_OK;
}

static inline enum tutti_err fake_set(struct tt_unit *unit, const struct tt_block *block)
{
    struct fake_state *state = &fake_of(unit)->state;
    unit->counts.sets++;
    for (size_t i = 0; i < block->count; i++)
        switch (block->references[i]) {
        case FAKE_U: state->u = ((const double *)block->values)[i]; break;
        case FAKE_K: state->k = ((const int32_t *)block->values)[i]; break;
        case FAKE_HEARD:
            snprintf(state->heard, sizeof state->heard, "%s", ((const char *const *)block->values)[i]);
            break;
        default: fail_msg("%s: variable %u is set", unit->name, block->references[i]);
        }
    return TUTTI_OK;
}

static inline int32_t fake_n(const struct fake_unit *fake)
{
    const struct fake_script *script = &fake->script;
    int32_t changed = script->changes_at > 0 && fake->state.t >= script->changes_at;
    return fake->state.n + changed + (script->flickers ? (int32_t)fake->step_count : 0);
}

static inline enum tutti_err fake_get(struct tt_unit *unit, struct tt_block *block)
{
    struct fake_unit *fake = fake_of(unit);
    unit->counts.gets++;
    for (size_t i = 0; i < block->count; i++)
        switch (block->references[i]) {
        case FAKE_Y: ((double *)block->values)[i] = fake->state.x; break;
        case FAKE_N: ((int32_t *)block->values)[i] = fake_n(fake); break;
        case FAKE_SAID: ((const char **)block->values)[i] = fake->state.said; break;
        default: fail_msg("%s: variable %u is read", unit->name, block->references[i]);
        }
    return TUTTI_OK;
}

/* Where a step ends that is not discarded, and why. */
static inline void fake_find_end(const struct fake_unit *fake, double end, struct tt_fmi_step *step)
{
    const struct fake_script *script = &fake->script;
    double t = fake->state.t;
    step->reached = end;
    if (script->event_at > 0 && !fake->state.crossed && script->event_at >= t && script->event_at <= step->reached) {
        step->event = script->event_at < end || !script->silent_at_end;
        step->reached = script->event_at;
    }
    if (script->ends_at > 0 && script->ends_at >= t && script->ends_at <= step->reached) {
        step->reached = script->ends_at;
        step->event = false;
        step->terminate = true;
        step->discarded = script->ends_by_discard;
    }
    if (script->stands_at > 0 && script->stands_at == t)
        step->reached = t;
    if (script->waits && fake->state.u != fake->state.u_at_event) {
        step->reached = t;
        step->event = true;
    }
    step->early = step->reached < end;
}

static inline enum tutti_err fake_step(struct tt_unit *unit, double t, double h, struct tt_fmi_step *step)
{
    struct fake_unit *fake = fake_of(unit);
    const struct fake_script *script = &fake->script;
    assert_same_double(t, fake->state.t);
    assert_true(h > 0 && !fake->state.in_event);
    if (fake->step_count < FAKE_MOST_STEPS)
        fake->steps[fake->step_count] = (struct fake_call){t, h, fake->state.x};
    fake->step_count++;
    unit->counts.do_steps++;
    *step = (struct tt_fmi_step){0};
    if (script->longest > 0 && h > script->longest) {
        *step = (struct tt_fmi_step){
            .reached = script->moves ? t + h / 2 : t, .discarded = true, .can_retry = script->retries};
        return TUTTI_OK;
    }
    fake_find_end(fake, t + h, step);
    fake->state.x += (step->reached - t) * (script->rate + script->gain * fake->state.u);
    fake->state.t = step->reached;
    if (script->rounds)
        step->reached = nextafter(step->reached, INFINITY);
    return TUTTI_OK;
}

static inline enum tutti_err fake_enter_event(struct tt_unit *unit)
{
    struct fake_unit *fake = fake_of(unit);
    assert_true(unit->has_events && !fake->state.in_event);
    fake->state.in_event = true;
    fake->events++;
    return TUTTI_OK;
}

static inline enum tutti_err fake_settle(struct tt_unit *unit, struct tt_unit_event *event)
{
    struct fake_unit *fake = fake_of(unit);
    struct fake_state *state = &fake->state;
    const struct fake_script *script = &fake->script;
    assert_true(state->in_event);
    state->in_event = false;
    state->u_at_event = state->u;
    state->crossed = script->event_at > 0 && state->t >= script->event_at;
    if (script->jumps)
        state->x = state->u;
    if (script->counts_up_to > 0 && state->k < script->counts_up_to)
        state->n = state->k + 1;
    snprintf(state->said, sizeof state->said, "%s%.6g", unit->name, state->t);
    double next = script->announces > 0 ? script->announces * (floor(state->t / script->announces * (1 + 1e-12)) + 1)
                                        : INFINITY;
    *event = (struct tt_unit_event){.terminate = script->ends_in_event, .next_event = next};
    return TUTTI_OK;
}

static inline enum tutti_err fake_save(struct tt_unit *unit, struct tt_unit_saved **saved)
{
    struct fake_unit *fake = fake_of(unit);
    assert_false(fake->script.cannot_go_back);
    if (!*saved)
        *saved = malloc(sizeof fake->state);
    assert_non_null(*saved);
    memcpy(*saved, &fake->state, sizeof fake->state);
    return TUTTI_OK;
}

static inline enum tutti_err fake_restore(struct tt_unit *unit, const struct tt_unit_saved *saved)
{
    struct fake_unit *fake = fake_of(unit);
    memcpy(&fake->state, saved, sizeof fake->state);
    fake->restores++;
    return TUTTI_OK;
}

static inline void fake_discard(struct tt_unit *unit, struct tt_unit_saved *saved)
{
    (void)unit;
    free(saved);
}

static const struct tt_unit_kind fake_kind = {.name = "fake",
                                              .interface = TUTTI_CS,
                                              .size = sizeof(struct fake_unit),
                                              .finish = fake_finish,
                                              .set = fake_set,
                                              .get = fake_get,
                                              .step = fake_step,
                                              .enter_event = fake_enter_event,
                                              .settle = fake_settle,
                                              .save = fake_save,
                                              .restore = fake_restore,
                                              .discard = fake_discard,
                                              .terminate = fake_terminate};

/* What its modelDescription.xml would say: no output follows an input at once. */
#define FAKE_VARIABLE(NAME, TYPE, CAUSALITY, VARIABILITY)                                                              \
    {                                                                                                                  \
        .name = #NAME, .reference = FAKE_##NAME, .type = TUTTI_TYPE_##TYPE, .causality = (CAUSALITY),                  \
        .variability = (VARIABILITY), .initial = TUTTI_CALCULATED, .type_def = TUTTI_NONE, .unit = TUTTI_NONE,         \
        .display_unit = TUTTI_NONE, .derivative_of = TUTTI_NONE, .previous = TUTTI_NONE                                \
    }
static const struct tt_var fake_vars[FAKE_VARIABLES] = {FAKE_VARIABLE(U, FLOAT64, TUTTI_INPUT, TUTTI_CONTINUOUS),
                                                        FAKE_VARIABLE(K, INT32, TUTTI_INPUT, TUTTI_DISCRETE),
                                                        FAKE_VARIABLE(HEARD, STRING, TUTTI_INPUT, TUTTI_DISCRETE),
                                                        FAKE_VARIABLE(Y, FLOAT64, TUTTI_OUTPUT, TUTTI_CONTINUOUS),
                                                        FAKE_VARIABLE(N, INT32, TUTTI_OUTPUT, TUTTI_DISCRETE),
                                                        FAKE_VARIABLE(SAID, STRING, TUTTI_OUTPUT, TUTTI_DISCRETE)};
static const struct tt_unknown fake_outputs[] = {{.variable = FAKE_Y, .has_dependencies = true},
                                                 {.variable = FAKE_N, .has_dependencies = true},
                                                 {.variable = FAKE_SAID, .has_dependencies = true}};

/* ---- the system, its job, a rank of it ---- */

/* From a variable of a component to one of another. */
struct fake_link {
    uint32_t from, from_variable, to, to_variable;
};

struct fake_world {
    /* To be filled in before fake_open. */
    uint32_t count;
    struct fake_script scripts[FAKE_MOST_UNITS];
    struct fake_link links[FAKE_MOST_LINKS]; /* sorted by `to`, then its variable */
    uint32_t link_count;
    struct tutti_run_options options; /* coupling and extrapolate, at least */
    struct tt_times times;
    struct tt_fabric *fabric; /* NULL: of one rank */
    const int32_t *place;
    bool smooth;                        /* units have no discrete outputs */
    const struct tt_coupling *coupling; /* instead of what the options name; NULL: as they say */
    const struct tt_control *control;
    /* Made by it. */
    struct tt_description desc;
    struct tt_fmu fmu;
    struct tt_component components[FAKE_MOST_UNITS];
    struct tt_connection connections[FAKE_MOST_LINKS];
    struct tt_system system;
    struct tt_job job;
    struct tutti_run_stats stats;
    struct tt_execution execution;
};

/* Units a, b, c, d with jacobi, fixed steps of 0.1 up to 1, inputs that are held, no events looked for. */
static inline struct fake_world *fake_new(uint32_t count)
{
    struct fake_world *world = calloc(1, sizeof *world);
    assert_non_null(world);
    assert_true(count <= FAKE_MOST_UNITS);
    world->count = count;
    world->times = (struct tt_times){.stop = 1, .step = 0.1};
    world->options =
        (struct tutti_run_options){.coupling = "jacobi", .control = "fixed", .extrapolate = "0", .events = "none"};
    return world;
}

static inline void fake_connect(struct fake_world *world, uint32_t from, enum fake_variable from_variable, uint32_t to,
                                enum fake_variable to_variable)
{
    assert_true(world->link_count < FAKE_MOST_LINKS);
    world->links[world->link_count++] = (struct fake_link){from, from_variable, to, to_variable};
}

static inline struct tt_member *fake_member(struct fake_world *world, uint32_t c)
{
    return &world->execution.rank.members[c];
}

static inline struct fake_unit *fake_at(struct fake_world *world, uint32_t c)
{
    return fake_of(fake_member(world, c)->unit);
}

static inline void fake_make_job(struct fake_world *world)
{
    static const char *const names[FAKE_MOST_UNITS] = {"a", "b", "c", "d"};
    static char path[] = "fake.fmu";
    world->desc = (struct tt_description){.fmi = 3, .vars = fake_vars, .var_count = FAKE_VARIABLES};
    world->desc.outputs = (struct tt_unknowns){.items = fake_outputs, .count = 3, .given = true};
    if (world->smooth) {
        world->desc.var_count = FAKE_N;
        world->desc.outputs.count = 1;
    }
    world->desc.interfaces[TUTTI_CS].present = true;
    world->desc.interfaces[TUTTI_CS].flags = TUTTI_CAN_EVENT_MODE | TUTTI_CAN_EARLY_RETURN;
    world->fmu = (struct tt_fmu){.path = path, .desc = &world->desc};
    for (uint32_t c = 0; c < world->count; c++)
        world->components[c] = (struct tt_component){.name = names[c], .fmu = &world->fmu};
    for (uint32_t i = 0; i < world->link_count; i++) {
        const struct fake_link *link = &world->links[i];
        world->connections[i] = (struct tt_connection){
            .from = {link->from, link->from_variable, {0}}, .to = {link->to, link->to_variable, {0}}, .factor = 1};
    }
    world->system = (struct tt_system){.name = "fakes",
                                       .path = "fakes",
                                       .components = world->components,
                                       .component_count = world->count,
                                       .connections = world->connections,
                                       .connection_count = world->link_count};
    world->job = (struct tt_job){
        .asked = &world->options, .options = world->options, .system = &world->system, .times = world->times};
    assert_ok(tt_structure_init(&world->job.structure, &world->system, TUTTI_PHASE_INITIAL));
}

static inline struct tt_unit *fake_make_unit(struct fake_world *world, uint32_t c, bool own)
{
    const struct fake_script *script = &world->scripts[c];
    struct tt_unit *unit = NULL;
    if (own) {
        struct fake_unit *fake = calloc(1, sizeof *fake);
        assert_non_null(fake);
        fake->script = *script;
        fake->state.t = world->times.start;
        fake->state.x = script->x;
        unit = &fake->unit;
        *unit = (struct tt_unit){.kind = &fake_kind, .name = world->components[c].name, .fmu = &world->fmu};
    } else
        assert_ok(tt_shadow_new(&unit, &world->fmu, &tt_unit_cs, world->components[c].name));
    unit->can = script->cannot_go_back ? 0 : TUTTI_CAN_STATE;
    unit->has_events = script->has_events;
    unit->uniform = script->cannot_vary_step;
    unit->back_to = INFINITY;
    return unit;
}

/* A rank with its units at the first point, as start/ makes it of FMUs. */
static inline void fake_make_rank(struct fake_world *world)
{
    struct tt_rank *rank = &world->execution.rank;
    *rank = (struct tt_rank){.job = &world->job,
                             .stats = &world->stats,
                             .fabric = world->fabric,
                             .place = world->place,
                             .times = world->times,
                             .span = world->times.stop - world->times.start,
                             .kept_from = INFINITY,
                             .t = world->times.start,
                             .target = world->times.start,
                             .member_count = world->count};
    if (!rank->fabric) {
        assert_ok(tt_fabric_new_local(&rank->fabric));
        rank->owns_fabric = true;
    }
    rank->heartbeat = rank->fabric->where;
    struct tt_traits described;
    assert_ok(tt_traits_describe(&described, rank->job, &rank->arena));
    tt_choose_method(&rank->job->options, &described, &rank->expected);
    rank->units = tt_arena_array(&rank->arena, world->count, sizeof *rank->units);
    rank->members = tt_arena_array(&rank->arena, world->count, sizeof *rank->members);
    rank->own = tt_arena_array(&rank->arena, world->count, sizeof *rank->own);
    rank->watched = tt_arena_array(&rank->arena, world->count, sizeof *rank->watched);
    assert_true(rank->units && rank->members && rank->own && rank->watched);
    for (uint32_t c = 0; c < world->count; c++)
        rank->units[c] = fake_make_unit(world, c, tt_rank_owns(rank, c));
    assert_ok(tt_wire_layout_init(&rank->wires, &world->job.structure, rank->units));
    if (rank->place)
        assert_ok(tt_wires_select_own(&rank->wires, rank->place, rank->fabric->rank));
    for (uint32_t c = 0; c < world->count; c++) {
        struct tt_member *member = &rank->members[c];
        *member = (struct tt_member){.unit = rank->units[c],
                                     .wires = &rank->wires.units[c],
                                     .component = c,
                                     .now = {.t = rank->t, .next_event = INFINITY},
                                     .ready = true,
                                     .has_grid = rank->units[c]->uniform};
        tt_time_grid_init(&member->now.grid, world->times.start, world->times.step, world->times.stop);
        bool watched = member->unit->has_events || member->wires->held_count > 0;
        rank->watches = rank->watches || watched;
        rank->has_grids = rank->has_grids || member->has_grid;
        if (!tt_rank_owns(rank, c))
            continue;
        rank->own[rank->own_count++] = member;
        if (watched)
            rank->watched[rank->watched_count++] = member;
    }
    rank->channels = (struct tt_channels){
        .wires = &rank->wires, .fabric = rank->fabric, .place = rank->place, .arena = &rank->arena};
    assert_ok(tt_channels_open_start(&rank->channels));
}

/* Up to where the master is chosen. */
static inline void fake_prepare(struct fake_world *world)
{
    fake_make_job(world);
    fake_make_rank(world);
    world->execution.master.rank = &world->execution.rank;
    world->execution.master.observer = &world->execution.observer;
}

/* To the first point, by the code that runs of FMUs go through; the loop is steered: one step at a time. */
static inline void fake_open(struct fake_world *world)
{
    struct tt_rank *rank = &world->execution.rank;
    struct tt_sim *master = &world->execution.master;
    fake_prepare(world);
    assert_ok(tt_decide_method(master));
    if (world->coupling) {
        master->chosen.coupling = world->coupling;
        master->chosen.is |= (world->coupling->waves ? TUTTI_METHOD_IN_SEQUENCE : 0u) |
                             (world->coupling->iterates || world->coupling->joins ? TUTTI_METHOD_ALL_SIGNALS : 0u);
    }
    if (world->control)
        master->chosen.control = world->control;
    if (master->chosen.control->varies)
        master->chosen.is |= TUTTI_METHOD_VARIES | TUTTI_METHOD_BY_ATTEMPTS;
    assert_ok(tt_sim_connect(master));
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_member *member = rank->own[m];
        member->now.next_event =
            world->scripts[member->component].announces > 0 ? world->scripts[member->component].announces : INFINITY;
        assert_ok(tt_wires_get_outputs(member->wires, member->unit));
    }
    assert_ok(tt_channels_exchange(&rank->channels));
    for (uint32_t w = 0; w < rank->watched_count; w++) /* what was computed at the start is no news */
        assert_ok(tt_wires_gather_held(&rank->wires, rank->wires.signals, rank->watched[w]->wires));
    assert_ok(tt_sim_open(master));
    assert_ok(tt_run_open(&world->execution.loop, master, true));
    tt_run_start_clock(&world->execution.loop);
}

static inline void fake_close(struct fake_world *world)
{
    assert_ok(tt_sim_close(&world->execution.master));
    tt_rank_close(&world->execution.rank);
    tt_structure_fini(&world->job.structure);
    tt_stats_fini(&world->stats);
    free(world);
}

/* ---- ranks that are threads ---- */

/* On each rank: makes a world of its own, opens it, does what is to be tested, closes it. An assertion that fails ends the
 * program. */
typedef void fake_part(struct tt_fabric *fabric, const int32_t *place);

struct fake_thread {
    fake_part *part;
    struct tt_fabric *fabric;
    const int32_t *place;
};

static inline void *fake_take_part(void *context)
{
    struct fake_thread *self = context;
    self->part(self->fabric, self->place);
    return NULL;
}

static inline void fake_run_ranks(int ranks, const int32_t *place, fake_part *part)
{
    struct tt_shared_fabric *area;
    struct fake_thread parts[FAKE_MOST_UNITS];
    pthread_t threads[FAKE_MOST_UNITS];
    assert_ok(tt_shared_fabric_new(&area, ranks, "threads"));
    for (int r = 0; r < ranks; r++) {
        parts[r] = (struct fake_thread){.part = part, .place = place};
        assert_ok(tt_shared_fabric_join(area, r, &parts[r].fabric));
    }
    for (int r = 0; r < ranks; r++)
        assert_int_equal(pthread_create(&threads[r], NULL, fake_take_part, &parts[r]), 0);
    for (int r = 0; r < ranks; r++)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    for (int r = 0; r < ranks; r++)
        parts[r].fabric->kind->close(parts[r].fabric);
    tt_shared_fabric_free(area);
}

/* A step of member c to `target`, with these rules, whatever the master has. */
static inline struct tt_step_result fake_step_member(struct fake_world *world, uint32_t c,
                                                     const struct tt_step_rules *rules, double target)
{
    struct tt_step_result result = tt_step_result_begin(0, 0);
    assert_ok(tt_component_step(&world->execution.rank, rules, fake_member(world, c), target, &result));
    return result;
}

#endif
