/* SPDX-License-Identifier: MIT */
/* exchange.h - Model Exchange units for tests: one FMU, from its file to its first step. Include test.h first. */
#ifndef TUTTI_TEST_UNIT_EXCHANGE_H
#define TUTTI_TEST_UNIT_EXCHANGE_H

#include <stdlib.h>

#include "unit/unit.h"

/* FMUs of the kit, and those of tests/unit/kit: where they are, unpacked. */
#define KIT TUTTI_FOLDERS "/"
#define OWN TEST_FOLDERS "/"

static const char *const versions[] = {"1me", "2", "3"};
enum { VERSION_COUNT = 3 };

/* All that have an order worth the name; heun and euler differ from rk4 by numbers only. */
static const char *const solvers[] = {"cvode", "adams", "dopri5", "dopri8", "dirk", "radau5", "bdf", "rk4"};
enum { SOLVER_COUNT = sizeof solvers / sizeof *solvers };

struct life {
    struct tt_fmu *fmu;
    struct tt_unit *unit;
    const struct tt_unit_kind *kind;
    struct tt_arena arena;
    double t, next_event;
    struct tt_unit_event event; /* the last one settled */
};

/* The solver of this name; NULL: the default. */
static inline const struct tt_solver_kind *solver_named(const char *name)
{
    const struct tt_solver_kind *solver = NULL;
    if (name)
        assert_ok(tt_solver_find(name, &solver));
    return solver;
}

static inline struct tt_integration integration_of(const char *solver, double rtol)
{
    return (struct tt_integration){.solver = solver_named(solver), .rtol = rtol, .atol = rtol / 100, .h_fixed = 0.01};
}

/* An instance of FOLDER/MODEL_fmiVERSION. `model` has its folder in front: KIT "Tracker". */
static inline void load_as(struct life *life, enum tt_interface_choice interface, const char *model,
                           const char *version, struct tt_integration integration)
{
    char path[1024];
    snprintf(path, sizeof path, "%s_fmi%s", model, version);
    *life = (struct life){.next_event = INFINITY};
    assert_ok(tt_fmu_open(&life->fmu, path, NULL));
    struct tt_unit_options options = {.name = "it", .interface = interface, .integration = integration};
    assert_ok(tt_unit_new(&life->unit, life->fmu, &options));
    life->kind = life->unit->kind;
}

static inline void load(struct life *life, const char *model, const char *version, struct tt_integration integration)
{
    load_as(life, TUTTI_INTERFACE_ME, model, version, integration);
}

static inline void unload(struct life *life)
{
    tt_unit_free(life->unit);
    tt_fmu_free(life->fmu);
    tt_arena_fini(&life->arena);
}

/* "VAR=VALUE" of a parameter, before begin(). */
static inline void parameter(struct life *life, const char *text)
{
    struct tt_setting setting;
    assert_ok(tt_setting_read(&setting, &life->arena, life->fmu->desc, NULL, text));
    assert_ok(tt_unit_apply(life->unit, &setting, 1));
}

static inline void settle(struct life *life)
{
    assert_ok(life->kind->settle(life->unit, &life->event));
    life->next_event = life->event.next_event;
}

/* The initialisation, up to where steps can be taken. */
static inline void begin(struct life *life, double start, double stop)
{
    struct tt_experiment_setup setup = {.start = start, .stop = stop, .has_stop = true};
    life->t = start;
    assert_ok(life->kind->configure(life->unit, NULL, 0));
    assert_ok(life->kind->set_up(life->unit, &setup));
    assert_ok(life->kind->enter_init(life->unit));
    assert_ok(life->kind->exit_init(life->unit));
    settle(life);
}

/* load and begin, from 0 to 100. */
static inline void start(struct life *life, const char *model, const char *version, struct tt_integration integration)
{
    load(life, model, version, integration);
    begin(life, 0, 100);
}

/* One step to `end`, which may come short of it. */
static inline struct tt_fmi_step go(struct life *life, double end)
{
    struct tt_fmi_step step;
    assert_ok(life->kind->step(life->unit, life->t, end - life->t, &step));
    life->t = step.reached;
    return step;
}

static inline void handle_event(struct life *life)
{
    assert_ok(life->kind->enter_event(life->unit));
    settle(life);
}

/* As far as `end`, through all events; their number. */
static inline int go_through(struct life *life, double end)
{
    int events = 0;
    while (life->t < end && !life->event.terminate) {
        struct tt_fmi_step step = go(life, fmin(end, life->next_event));
        if (step.event || life->t >= life->next_event) {
            handle_event(life);
            events++;
        }
    }
    return events;
}

static inline uint32_t variable(const struct life *life, const char *name)
{
    uint32_t found = tt_description_find(life->fmu->desc, name);
    if (found == TUTTI_NONE)
        fail_msg("no variable '%s'", name);
    return found;
}

static inline uint32_t reference(const struct life *life, const char *name)
{
    return life->fmu->desc->vars[variable(life, name)].reference;
}

static inline double get_real(struct life *life, const char *name)
{
    uint32_t vr = reference(life, name);
    double value = 0;
    struct tt_block block = {
        .type = TUTTI_TYPE_FLOAT64, .references = &vr, .count = 1, .values = &value, .value_count = 1};
    assert_ok(life->kind->get(life->unit, &block));
    return value;
}

static inline int get_integer(struct life *life, const char *name)
{
    uint32_t vr = reference(life, name);
    int32_t value = 0;
    struct tt_block block = {
        .type = TUTTI_TYPE_INT32, .references = &vr, .count = 1, .values = &value, .value_count = 1};
    assert_ok(life->kind->get(life->unit, &block));
    return value;
}

static inline void set_real(struct life *life, const char *name, double value)
{
    uint32_t vr = reference(life, name);
    struct tt_block block = {
        .type = TUTTI_TYPE_FLOAT64, .references = &vr, .count = 1, .values = &value, .value_count = 1};
    assert_ok(life->kind->set(life->unit, &block));
}

/* The derivative of an input, of some order, from now on. */
static inline void set_slope(struct life *life, const char *name, int order, double value)
{
    uint32_t vr = reference(life, name);
    int32_t orders[1] = {order};
    assert_ok(life->kind->set_input_derivatives(life->unit, &vr, NULL, 1, orders, &value));
}

/* The derivative of an output, of order 1 or 2, where the unit is. */
static inline double get_slope(struct life *life, const char *name, int order)
{
    uint32_t vr = reference(life, name);
    double value = 0;
    assert_ok(life->kind->get_output_derivatives(life->unit, &vr, 1, order, &value));
    return value;
}

#endif
