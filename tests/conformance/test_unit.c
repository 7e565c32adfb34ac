/* SPDX-License-Identifier: MIT */
/* What unit.h promises of every kind of unit. KIND, its name, and VERSION, that of the kit's FMUs, are the
 * arguments. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "unit/unit.h"
#include "conformance.h"

#define KIND conformance_arguments[1]
#define VERSION conformance_arguments[2]

struct life {
    struct tt_fmu *fmu;
    struct tt_unit *unit;
    const struct tt_unit_kind *kind;
    struct tt_arena arena;
};

static struct tt_unit_options options_for(const char *name)
{
    return (struct tt_unit_options){
        .name = name,
        .interface = strcmp(KIND, "me") == 0 ? TUTTI_INTERFACE_ME : TUTTI_INTERFACE_CS,
        .integration = {.rtol = 1e-8, .atol = 1e-10},
        .forked = conformance_forked,
    };
}

static enum tutti_err open_unit(struct life *life, const char *model)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s_fmi%s", TUTTI_FOLDERS, model, VERSION);
    memset(life, 0, sizeof *life);
    assert_ok(tt_fmu_open(&life->fmu, path, NULL));
    struct tt_unit_options options = options_for("it");
    assert_ok(tt_unit_kind_for(life->fmu, options.interface, false, &life->kind));
    return tt_unit_new(&life->unit, life->fmu, &options);
}

static void close_unit(struct life *life)
{
    tt_unit_free(life->unit);
    tt_fmu_free(life->fmu);
    tt_arena_fini(&life->arena);
}

static void apply(struct life *life, const char *text)
{
    struct tt_setting setting;
    assert_ok(tt_setting_read(&setting, &life->arena, life->fmu->desc, NULL, text));
    assert_ok(tt_unit_apply(life->unit, &setting, 1));
}

/* From new to the first step; the time of the first announced event. */
static double initialise(struct life *life)
{
    struct tt_unit_event event = {.next_event = INFINITY};
    assert_ok(life->kind->set_up(life->unit, &(struct tt_experiment_setup){.stop = 100, .has_stop = true}));
    assert_ok(life->kind->enter_init(life->unit));
    assert_ok(life->kind->exit_init(life->unit));
    if (life->unit->has_events)
        assert_ok(life->kind->settle(life->unit, &event));
    return event.next_event;
}

static void start(struct life *life, const char *model)
{
    assert_ok(open_unit(life, model));
    assert_ok(tt_unit_apply(life->unit, NULL, 0));
    initialise(life);
}

static void signals_of(struct life *life, const char *name, struct tt_signals *signals)
{
    uint32_t variable = tt_description_find(life->fmu->desc, name);
    assert_int_not_equal(variable, TUTTI_NONE);
    assert_ok(tt_unit_signals(life->unit, &variable, 1, signals));
}

static double get_real(struct life *life, const char *name)
{
    struct tt_signals signals;
    signals_of(life, name, &signals);
    assert_ok(tt_unit_get(life->unit, &signals));
    double value = *(const double *)signals.slots[0];
    tt_signals_fini(&signals);
    return value;
}

static void set_real(struct life *life, const char *name, double value)
{
    struct tt_signals signals;
    signals_of(life, name, &signals);
    *(double *)signals.slots[0] = value;
    assert_ok(tt_unit_set(life->unit, &signals));
    tt_signals_fini(&signals);
}

static void it_is_the_kind_for_the_fmu(void **state)
{
    (void)state;
    struct life life;
    assert_ok(open_unit(&life, "Dahlquist"));
    assert_string_equal(life.kind->name, KIND);
    assert_ptr_equal(life.unit->kind, life.kind);
    assert_string_equal(life.unit->name, "it");
    close_unit(&life); /* also if nothing was done with it */
    tt_unit_free(NULL);
}

static void it_steps_to_where_it_was_asked_to(void **state)
{
    (void)state;
    struct life life;
    struct tt_fmi_step step;
    assert_ok(open_unit(&life, "Dahlquist"));
    apply(&life, "k=2");
    initialise(&life);
    for (int i = 0; i < 100; i++) {
        assert_ok(life.kind->step(life.unit, i * 0.01, 0.01, &step));
        assert_same_double(step.reached, i * 0.01 + 0.01);
        assert_false(step.discarded || step.early || step.event || step.terminate);
    }
    assert_near(get_real(&life, "x"), exp(-2), 1e-6);
    assert_ok(life.kind->terminate(life.unit));
    close_unit(&life);
}

/* x' = (u - x) / 0.5 with an input that changes between two steps. */
static void inputs_count_from_the_next_step_on(void **state)
{
    (void)state;
    struct life life;
    struct tt_fmi_step step;
    start(&life, "Tracker");
    double x = 0;
    for (int i = 0; i < 4; i++) {
        double u = i % 2 ? -1 : 3;
        set_real(&life, "u", u);
        assert_ok(life.kind->step(life.unit, i * 0.25, 0.25, &step));
        x = u + (x - u) * exp(-0.5);
        assert_near(get_real(&life, "y"), x, 1e-5);
    }
    close_unit(&life);
}

static void units_do_not_disturb_each_other(void **state)
{
    (void)state;
    struct life a;
    struct tt_unit *b = NULL;
    struct tt_fmi_step step;
    start(&a, "Dahlquist");
    struct tt_unit_options options = options_for("other");
    assert_ok(tt_unit_new(&b, a.fmu, &options));
    assert_ok(a.kind->step(a.unit, 0, 0.5, &step));
    double x = get_real(&a, "x");
    assert_ok(a.kind->set_up(b, &(struct tt_experiment_setup){.start = 3}));
    assert_ok(a.kind->enter_init(b));
    assert_ok(a.kind->exit_init(b));
    struct tt_unit_event event;
    if (b->has_events)
        assert_ok(a.kind->settle(b, &event));
    assert_ok(a.kind->step(b, 3, 1, &step));
    tt_unit_free(b);
    assert_same_double(get_real(&a, "x"), x);
    close_unit(&a);
}

/* Where a unit has events, they are announced, hit and handled; where not, they are its own affair. */
static void events_are_where_they_belong(void **state)
{
    (void)state;
    struct life life;
    struct tt_fmi_step step = {0};
    assert_ok(open_unit(&life, "Stair"));
    assert_ok(tt_unit_apply(life.unit, NULL, 0));
    double next = initialise(&life);
    for (int i = 1; i <= 3; i++) {
        assert_true(life.unit->has_events ? next == i : next == INFINITY);
        assert_ok(life.kind->step(life.unit, i - 1, 1, &step));
        assert_same_double(step.reached, i);
        if (life.unit->has_events) {
            struct tt_unit_event event;
            assert_ok(life.kind->enter_event(life.unit));
            assert_ok(life.kind->settle(life.unit, &event));
            assert_false(event.terminate);
            next = event.next_event;
        }
    }
    close_unit(&life);
}

static void a_failed_start_says_why_and_leaves_nothing(void **state)
{
    (void)state;
    struct life life;
    setenv("KIT_FAULT", "null Instantiate", 1);
    assert_fails(open_unit(&life, "Faulty"), TUTTI_ERR_FMU, "NULL");
    assert_null(life.unit);
    unsetenv("KIT_FAULT");
    close_unit(&life);
}

static void a_failed_call_says_where(void **state)
{
    (void)state;
    struct life life;
    struct tt_fmi_step step;
    setenv("KIT_FAULT",
           strcmp(KIND, "me") == 0 ? "error GetDerivatives|GetContinuousStateDerivatives 0.3" : "error DoStep 0.25", 1);
    start(&life, "Faulty");
    assert_ok(life.kind->step(life.unit, 0, 0.25, &step));
    assert_fails(life.kind->step(life.unit, 0.25, 0.25, &step), TUTTI_ERR_FMU, "at t = 0.");
    unsetenv("KIT_FAULT");
    close_unit(&life);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 2, "KIND VERSION");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_the_kind_for_the_fmu),
        cmocka_unit_test(it_steps_to_where_it_was_asked_to),
        cmocka_unit_test(inputs_count_from_the_next_step_on),
        cmocka_unit_test(units_do_not_disturb_each_other),
        cmocka_unit_test(events_are_where_they_belong),
        cmocka_unit_test(a_failed_start_says_why_and_leaves_nothing),
        cmocka_unit_test(a_failed_call_says_where),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
