/* SPDX-License-Identifier: MIT */
/* A Model Exchange unit goes back: with saved states of the FMU, and without. */
#include "test.h"

#include "exchange.h"

static struct tt_unit_saved *save(struct life *life)
{
    struct tt_unit_saved *saved = NULL;
    assert_ok(life->kind->save(life->unit, &saved));
    assert_non_null(saved);
    return saved;
}

static void restore(struct life *life, const struct tt_unit_saved *saved, double t)
{
    assert_ok(life->kind->restore(life->unit, saved));
    life->t = t;
}

/* Equal bits if the solver's memory is restored, otherwise within the tolerance. */
static void assert_repeated(const struct life *life, const char *solver, double value, double before, double tolerance)
{
    (void)life;
    const struct tt_solver_kind *kind = solver_named(solver);
    if ((kind ? kind : tt_solver_kinds[0])->saved_size)
        assert_same_double(value, before);
    else
        assert_near(value, before, tolerance);
}

/* Wherever it goes from there, whatever inputs it gets: back at the point all is as it was. */
static void go_back_and_forth(const char *model, const char *version, const char *solver, const char *output)
{
    struct life life;
    start(&life, model, version, integration_of(solver, 1e-6));
    life.unit->back_to = 0;
    set_real(&life, "u", 2);
    set_slope(&life, "u", 1, -0.5);
    for (int i = 1; i <= 7; i++)
        go(&life, i * 0.1);
    struct tt_unit_saved *saved = save(&life);
    double at = life.t, here = get_real(&life, output), u = get_real(&life, "u"), there[5] = {0};
    for (int i = 0; i < 5; i++)
        go(&life, at + (i + 1) * 0.1), there[i] = get_real(&life, output);
    for (int trial = 0; trial < 4; trial++) {
        restore(&life, saved, at);
        assert_same_double(get_real(&life, output), here);
        assert_same_double(get_real(&life, "u"), u);
        if (trial == 1 || trial == 2) { /* somewhere else */
            set_real(&life, "u", -7);
            set_slope(&life, "u", trial, 3);
            go(&life, at + (trial == 1 ? 0.017 : 0.6));
            continue;
        }
        for (int i = 0; i < 5; i++) {
            go(&life, at + (i + 1) * 0.1);
            assert_repeated(&life, solver, get_real(&life, output), there[i], 1e-5);
        }
    }
    assert_int_equal(life.unit->counts.rollbacks, 4);
    life.kind->discard(life.unit, saved);
    life.kind->discard(life.unit, NULL);
    unload(&life);
}

static void steps_can_be_repeated(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (size_t s = 0; tt_solver_kinds[s]; s++) {
            go_back_and_forth(KIT "Tracker", versions[v], tt_solver_kinds[s]->name, "y");
            go_back_and_forth(KIT "Lacking", versions[v], tt_solver_kinds[s]->name, "x");
            go_back_and_forth(OWN "PlainWave", versions[v], tt_solver_kinds[s]->name, "swing");
        }
}

/* A solver that is ahead of the unit is restored, too, without visible effects. */
static void steps_can_be_repeated_by_a_solver_that_was_ahead(void **state)
{
    (void)state;
    for (size_t s = 0; tt_solver_kinds[s]; s++) {
        struct life life;
        start(&life, KIT "Tracker", "2", integration_of(tt_solver_kinds[s]->name, 1e-8));
        life.unit->horizon = 100;
        set_real(&life, "u", 1);
        go(&life, 0.013);
        go(&life, 0.333);
        struct tt_unit_saved *saved = save(&life);
        double here = get_real(&life, "y");
        go(&life, 0.777);
        double there = get_real(&life, "y");
        restore(&life, saved, 0.333);
        assert_same_double(get_real(&life, "y"), here);
        go(&life, 0.777);
        bool first_order = strcmp(tt_solver_kinds[s]->name, "euler") == 0;
        assert_near(get_real(&life, "y"), there, first_order ? 1e-2 : 1e-5);
        life.kind->discard(life.unit, saved);
        unload(&life);
    }
}

/* ... and again, whatever was tried with other inputs; with those of before the same bits. A step of 0.1 is many of a solver. */
static void repeat_last_step(const char *model, const char *version, const char *solver, const char *output)
{
    struct life life;
    double t = 0, before;
    start(&life, model, version, integration_of(solver, 1e-6));
    assert_fails(life.kind->back_to_last(life.unit, &t), TUTTI_ERR_STATE, "no step of its solver was noted");
    set_real(&life, "u", 2);
    set_slope(&life, "u", 1, -0.5);
    go(&life, 0.5);
    life.unit->notes_last = true;
    go(&life, 0.6);
    life.unit->notes_last = false;
    before = get_real(&life, output);
    for (int trial = 0; trial < 3; trial++) {
        unsigned long evaluated = life.unit->counts.solver.rhs;
        assert_ok(life.kind->back_to_last(life.unit, &t));
        assert_true(t >= 0.5 && t < 0.6);
        assert_near(get_real(&life, "u"), 2 - 0.5 * t, 1e-12);
        life.t = t;
        if (trial == 1) {
            set_real(&life, "u", -70);
            go(&life, 0.6);
            assert_true(get_real(&life, output) != before);
            continue;
        }
        go(&life, 0.6);
        assert_same_double(get_real(&life, output), before);
        if (strcmp(solver, "rk4") == 0) {
            assert_near(t, 0.59, 1e-12);
            assert_int_equal(life.unit->counts.solver.rhs - evaluated, 4);
        }
    }
    assert_int_equal(life.unit->counts.rollbacks, 0);
    unload(&life);
}

static void the_last_step_of_a_solver_can_be_repeated(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (size_t s = 0; tt_solver_kinds[s]; s++) {
            if (!tt_solver_kinds[s]->saved_size)
                continue;
            repeat_last_step(KIT "Tracker", versions[v], tt_solver_kinds[s]->name, "y");
            repeat_last_step(KIT "Lacking", versions[v], tt_solver_kinds[s]->name, "x");
        }
}

/* One saved point is used again for another time. */
static void a_saved_point_is_reused(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        struct tt_unit_saved *saved = NULL, *same = NULL;
        start(&life, KIT "Tracker", versions[v], integration_of("radau5", 1e-6));
        set_real(&life, "u", 1);
        for (int i = 0; i < 10; i++) {
            double at = life.t;
            assert_ok(life.kind->save(life.unit, &saved));
            assert_true(same == NULL || same == saved);
            same = saved;
            go(&life, at + 0.1);
            double x = get_real(&life, "y");
            restore(&life, saved, at);
            go(&life, at + 0.1);
            assert_same_double(get_real(&life, "y"), x);
        }
        assert_near(get_real(&life, "y"), 1 - exp(-2), 1e-5);
        life.kind->discard(life.unit, saved);
        unload(&life);
    }
}

/* To after an event and back: counters, domains of the indicators, the state before the event, the next time event. */
static void events_are_undone_with_saved_states(void **state)
{
    (void)state;
    for (int v = 1; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Ramp", versions[v], integration_of("radau5", 1e-6));
        parameter(&life, "at=0.5");
        parameter(&life, "what=1"); /* x = back */
        parameter(&life, "back=-0.25");
        parameter(&life, "period=0.4");
        begin(&life, 0, 10);
        go_through(&life, 0.45);
        assert_int_equal(get_integer(&life, "ticks"), 1);
        assert_true(life.next_event == 0.8);
        struct tt_unit_saved *saved = save(&life);
        double at = life.t, first = 0;
        for (int trial = 0; trial < 3; trial++) {
            assert_near(get_real(&life, "x"), 0.45, 1e-12);
            assert_int_equal(get_integer(&life, "events"), 0);
            assert_int_equal(go_through(&life, 0.9), 2); /* x = 0.5 at t = 0.5, and a tick at 0.8 */
            assert_int_equal(get_integer(&life, "events"), 1);
            assert_int_equal(get_integer(&life, "ticks"), 2);
            assert_near(get_real(&life, "x"), -0.25 + 0.4, 1e-9);
            if (trial == 0)
                first = get_real(&life, "x");
            assert_same_double(get_real(&life, "x"), first);
            restore(&life, saved, at);
            life.next_event = 0.8;
        }
        assert_int_equal(go_through(&life, 0.51), 1);
        assert_int_equal(get_integer(&life, "events"), 1);
        life.kind->discard(life.unit, saved);
        unload(&life);
    }
}

/* Back before an event that gave the state another nominal value: errors are weighed as they were. */
static void nominal_values_come_back(void **state)
{
    (void)state;
    for (int v = 1; v < VERSION_COUNT; v++) {
        struct life life;
        start(&life, OWN "Scaled", versions[v], integration_of("radau5", 1e-4));
        go_through(&life, 2.25);
        struct tt_unit_saved *saved = save(&life);
        go(&life, 2.29);
        double x = get_real(&life, "y");
        go_through(&life, 8);
        assert_int_equal(get_integer(&life, "rescaled"), 3);
        double end = get_real(&life, "y");
        restore(&life, saved, 2.25);
        go(&life, 2.29);
        assert_same_double(get_real(&life, "y"), x);
        go_through(&life, 8);
        assert_same_double(get_real(&life, "y"), end);
        life.kind->discard(life.unit, saved);
        unload(&life);
    }
}

static void events_cannot_be_undone_without(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Clockwork", versions[v], integration_of(NULL, 1e-6));
        begin(&life, 0.25, 10);
        go(&life, 0.5);
        struct tt_unit_saved *saved = save(&life);
        go(&life, 0.75);
        restore(&life, saved, 0.5); /* nothing has happened */
        assert_near(get_real(&life, "y"), 0.25, 0);
        assert_int_equal(go_through(&life, 1.5), 1);
        assert_fails(life.kind->restore(life.unit, saved), TUTTI_ERR_UNSUPPORTED, "cannot go back to t = 0.5");
        assert_non_null(strstr(tutti_err_message(), "an event at t = 1"));
        assert_non_null(strstr(tutti_err_message(), "canGetAndSetFMU"));
        assert_non_null(strstr(tutti_err_message(), "Clockwork_fmi"));
        /* It stays where it was, and a new point is as good as ever. */
        assert_near(get_real(&life, "y"), 2.25, 0);
        assert_ok(life.kind->save(life.unit, &saved));
        go(&life, 1.75);
        restore(&life, saved, 1.5);
        assert_near(get_real(&life, "y"), 2.25, 0);
        life.kind->discard(life.unit, saved);
        unload(&life);
    }
}

/* An event at the very point that is saved is before it, or after. */
static void a_point_at_an_event_is_before_or_after_it(void **state)
{
    (void)state;
    for (int v = 1; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Ramp", versions[v], integration_of("radau5", 1e-6));
        parameter(&life, "at=0.5");
        parameter(&life, "what=1");
        begin(&life, 0, 10);
        struct tt_fmi_step step = go(&life, 1);
        assert_true(step.event);
        struct tt_unit_saved *before = save(&life), *after = NULL;
        double at = life.t;
        handle_event(&life);
        assert_same_double(get_real(&life, "x"), 0);
        after = save(&life);
        go(&life, 0.75);
        double x = get_real(&life, "x");
        restore(&life, after, at);
        assert_same_double(get_real(&life, "x"), 0);
        assert_int_equal(get_integer(&life, "events"), 1);
        go(&life, 0.75);
        assert_same_double(get_real(&life, "x"), x);
        restore(&life, before, at);
        assert_near(get_real(&life, "x"), 0.5, 1e-12);
        assert_int_equal(get_integer(&life, "events"), 0);
        handle_event(&life);
        go(&life, 0.75);
        assert_same_double(get_real(&life, "x"), x);
        life.kind->discard(life.unit, before);
        life.kind->discard(life.unit, after);
        unload(&life);
    }
}

/* Rolling back over one event a thousand times is not chattering. */
static void an_event_may_be_repeated_often(void **state)
{
    (void)state;
    struct life life;
    load(&life, OWN "Ramp", "2", integration_of("radau5", 1e-6));
    parameter(&life, "at=0.5");
    begin(&life, 0, 10);
    go(&life, 0.25);
    struct tt_unit_saved *saved = save(&life);
    for (int i = 0; i < 1000; i++) {
        assert_int_equal(go_through(&life, 0.75), 1);
        restore(&life, saved, 0.25);
    }
    life.kind->discard(life.unit, saved);
    unload(&life);
}

/* Of an FMU without saved states every input is set again, be it an array or a Float32. */
static void inputs_of_every_sort_come_back(void **state)
{
    (void)state;
    struct life life;
    start(&life, OWN "Mixed", "3", integration_of("radau5", 1e-9));
    uint32_t inputs[] = {variable(&life, "w"), variable(&life, "u"), variable(&life, "f")};
    struct tt_signals signals;
    assert_ok(tt_unit_signals(life.unit, inputs, 3, &signals));
    ((double *)signals.slots[0])[0] = 1;
    ((double *)signals.slots[0])[1] = 2;
    *(double *)signals.slots[1] = 3;
    *(float *)signals.slots[2] = 0.5F;
    assert_ok(tt_unit_set(life.unit, &signals));
    go(&life, 1);
    struct tt_unit_saved *saved = save(&life);
    go(&life, 2);
    double x = get_real(&life, "x");
    assert_near(x, 2 * 8.5, 1e-7);
    ((double *)signals.slots[0])[0] = 10;
    ((double *)signals.slots[0])[1] = 20;
    *(double *)signals.slots[1] = 30;
    *(float *)signals.slots[2] = 40;
    assert_ok(tt_unit_set(life.unit, &signals));
    go(&life, 3);
    restore(&life, saved, 1);
    assert_ok(tt_unit_get(life.unit, &signals));
    assert_same_double(((double *)signals.slots[0])[0], 1);
    assert_same_double(((double *)signals.slots[0])[1], 2);
    assert_same_double(*(double *)signals.slots[1], 3);
    assert_true(*(float *)signals.slots[2] == 0.5F);
    go(&life, 2);
    assert_same_double(get_real(&life, "x"), x);
    life.kind->discard(life.unit, saved);
    tt_signals_fini(&signals);
    unload(&life);
}

/* New inputs, and then the point: the step that follows it begins with these. */
static void inputs_set_before_the_point_belong_to_it(void **state)
{
    (void)state;
    static const char *const models[] = {KIT "Tracker", KIT "Lacking"};
    for (int m = 0; m < 2; m++)
        for (int v = 0; v < VERSION_COUNT; v++) {
            struct life life;
            const char *output = m ? "x" : "y";
            start(&life, models[m], versions[v], integration_of("radau5", 1e-6));
            set_real(&life, "u", 1);
            go(&life, 0.5);
            set_real(&life, "u", 5);
            set_slope(&life, "u", 1, 1);
            struct tt_unit_saved *saved = save(&life);
            go(&life, 1);
            double x = get_real(&life, output);
            set_real(&life, "u", -1);
            go(&life, 1.5);
            restore(&life, saved, 0.5);
            go(&life, 1);
            assert_same_double(get_real(&life, output), x);
            assert_same_double(get_real(&life, "u"), 5.5);
            life.kind->discard(life.unit, saved);
            unload(&life);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_can_be_repeated),
        cmocka_unit_test(steps_can_be_repeated_by_a_solver_that_was_ahead),
        cmocka_unit_test(a_saved_point_is_reused),
        cmocka_unit_test(the_last_step_of_a_solver_can_be_repeated),
        cmocka_unit_test(events_are_undone_with_saved_states),
        cmocka_unit_test(nominal_values_come_back),
        cmocka_unit_test(events_cannot_be_undone_without),
        cmocka_unit_test(a_point_at_an_event_is_before_or_after_it),
        cmocka_unit_test(an_event_may_be_repeated_often),
        cmocka_unit_test(inputs_of_every_sort_come_back),
        cmocka_unit_test(inputs_set_before_the_point_belong_to_it),
    };
    return cmocka_run_group_tests_name("unit: me, going back", tests, NULL, NULL);
}
