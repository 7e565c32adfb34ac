/* SPDX-License-Identifier: MIT */
/* Events of a Model Exchange unit: state, time and step events, and what an FMU does in them. */
#include "test.h"

#include "exchange.h"

#define PI 3.14159265358979323846

/* x = cos(t) is 0 at pi/2, 3 pi/2, ...: each is found once, with both indicators that change there, and no other. */
static void crossings_are_found_both_ways(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++)
            for (int ahead = 0; ahead < 2; ahead++) {
                struct life life;
                start(&life, OWN "Crossings", versions[v], integration_of(solvers[s], 1e-8));
                life.unit->horizon = ahead ? 100 : 0;
                for (int i = 0; i < 20; i++) {
                    double expected = (i + 0.5) * PI;
                    while (!go(&life, fmin(life.t + 0.7, 99)).event)
                        assert_true(life.t < expected + 1);
                    assert_near(life.t, expected, 1e-5);
                    double x = get_real(&life, "x"); /* it has just crossed */
                    assert_true(i % 2 ? x > 0 : x <= 0);
                    assert_near(x, 0, 1e-13);
                    handle_event(&life);
                    assert_int_equal(get_integer(&life, "downs"), i / 2 + 1);
                    assert_int_equal(get_integer(&life, "ups"), (i + 1) / 2);
                    assert_int_equal(get_integer(&life, "triples"), i + 1);
                    assert_int_equal(get_integer(&life, "events"), i + 1);
                    assert_same_double(get_real(&life, "last"), life.t);
                }
                unload(&life);
            }
}

/* E2: every step of the solver is completed once, in order, also those that an event or new inputs cut. */
static void steps_are_completed_once(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++)
            for (int ahead = 0; ahead < 2; ahead++) {
                struct life life;
                start(&life, OWN "Crossings", versions[v], integration_of(solvers[s], 1e-6));
                life.unit->horizon = ahead ? 100 : 0;
                for (int i = 1; i <= 100; i++) {
                    go_through(&life, i * 0.1);
                    if (i == 50) /* an event without a reason */
                        handle_event(&life);
                }
                unsigned long completed = (unsigned long)get_integer(&life, "completed");
                unsigned long steps = life.unit->counts.solver.steps;
                assert_true(completed == steps || completed + 1 == steps); /* the last may be under way */
                assert_int_equal(get_integer(&life, "repeated"), 0);
                unload(&life);
            }
}

/* A ball that an event puts just above the floor is there, to the bit, and meets it once per bounce. */
static void a_bounce_is_one_event(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++)
            for (int digits = 4; digits <= 10; digits++) {
                struct life life;
                start(&life, KIT "BouncingBall", versions[v], integration_of(solvers[s], pow(10, -digits)));
                life.unit->horizon = 100;
                assert_int_equal(go_through(&life, 2), 4);
                assert_int_equal(get_integer(&life, "bounces"), 4);
                unload(&life);
            }
}

/* x only touches level 1, at 2 pi, 4 pi, ...: whatever the effect of rounding, nothing is lost, and the run continues. */
static void grazing_does_no_harm(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            load(&life, OWN "Crossings", versions[v], integration_of(solvers[s], 1e-8));
            parameter(&life, "level=1");
            begin(&life, 0, 100);
            go_through(&life, 20 * PI + 1);
            assert_int_equal(get_integer(&life, "downs"), 10);
            assert_int_equal(get_integer(&life, "ups"), 10);
            assert_true(get_integer(&life, "tops") <= 2 * 10);
            unload(&life);
        }
}

/* Above the level for 0.028 at each maximum: found if steps are short enough, in pairs always. */
static void short_excursions(void **state)
{
    (void)state;
    for (int s = 0; s < SOLVER_COUNT; s++)
        for (int shorter = 0; shorter < 2; shorter++) {
            struct life life;
            struct tt_integration integration = integration_of(solvers[s], 1e-8);
            integration.h_max = shorter ? 0.01 : 0.3;
            load(&life, OWN "Crossings", "3", integration);
            parameter(&life, "level=0.9999");
            begin(&life, 1, 100);
            go_through(&life, 20 * PI + 1);
            int tops = get_integer(&life, "tops");
            assert_true(tops % 2 == 0 && (!shorter || tops == 20));
            assert_int_equal(get_integer(&life, "downs"), 10);
            unload(&life);
        }
}

/* 20,000 crossings, each one an event. */
static void thousands_of_events(void **state)
{
    (void)state;
    struct life life;
    load(&life, OWN "Crossings", "3", integration_of("radau5", 1e-6));
    parameter(&life, "w=6283.185307179586"); /* 1,000 turns a second */
    begin(&life, 0, 11);
    life.unit->horizon = 11;
    int events = 0;
    for (int i = 1; i <= 100; i++)
        events += go_through(&life, i * 0.1);
    assert_int_equal(events, 20000);
    assert_int_equal(get_integer(&life, "ups"), 10000);
    assert_int_equal(get_integer(&life, "downs"), 10000);
    unload(&life);
}

/* x = 6e-17 and falling: the first event is at the start. */
static void an_event_at_the_start(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            load(&life, OWN "Crossings", versions[v], integration_of(solvers[s], 1e-8));
            parameter(&life, "phase=1.5707963267948966");
            begin(&life, 0, 10);
            struct tt_fmi_step step = go(&life, 1);
            assert_true(step.event);
            assert_near(life.t, 0, 1e-12);
            handle_event(&life);
            assert_int_equal(go_through(&life, 3), 0);
            assert_int_equal(get_integer(&life, "downs"), 1);
            assert_near(get_real(&life, "x"), -sin(3), 1e-6);
            unload(&life);
        }
}

/* x = t reaches 0.5 at the end of a step: an event of this step or of the next one, and only one. */
static void an_event_at_the_end_of_a_step(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            load(&life, OWN "Ramp", versions[v], integration_of(solvers[s], 1e-8));
            parameter(&life, "at=0.5");
            begin(&life, 0, 1);
            int events = 0;
            for (int i = 1; i <= 8; i++)
                events += go_through(&life, i * 0.125);
            assert_int_equal(events, 1);
            assert_int_equal(get_integer(&life, "events"), 1);
            assert_near(get_real(&life, "last"), 0.5, 1e-13);
            unload(&life);
        }
}

/* The whole of a run, to an event at its end. */
static void an_event_at_the_stop_time(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Ramp", versions[v], integration_of(NULL, 1e-8));
        parameter(&life, "period=0.25");
        begin(&life, 0, 1);
        life.unit->horizon = 1;
        assert_int_equal(go_through(&life, 1), 4);
        assert_int_equal(get_integer(&life, "ticks"), 4);
        assert_same_double(get_real(&life, "last"), 1);
        unload(&life);
    }
}

/* n * 0.1 to the bit, whether one steps to them or over them. */
static void time_events_are_hit_to_the_bit(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++)
            for (int over = 0; over < 2; over++) {
                struct life life;
                load(&life, OWN "Ramp", versions[v], integration_of(solvers[s], 1e-6));
                parameter(&life, "period=0.1");
                begin(&life, 0, 10);
                life.unit->horizon = 10;
                for (int i = 1; i <= 50; i++) {
                    assert_same_double(life.next_event, i * 0.1);
                    struct tt_fmi_step step = go(&life, over ? 10 : i * 0.1);
                    assert_same_double(step.reached, i * 0.1);
                    assert_true(step.event);
                    handle_event(&life);
                    assert_int_equal(get_integer(&life, "ticks"), i);
                    assert_same_double(get_real(&life, "last"), i * 0.1);
                    assert_near(get_real(&life, "x"), i * 0.1, 1e-12);
                }
                unload(&life);
            }
}

/* The same for an FMU that has nothing else. */
static void time_events_without_states(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, KIT "Stair", versions[v], integration_of(NULL, 1e-6));
        begin(&life, 0.3, 12);
        for (int i = 1; i <= 9; i++) {
            assert_same_double(life.next_event, i);
            struct tt_fmi_step step = go(&life, 12);
            assert_true(step.event);
            assert_same_double(step.reached, i);
            handle_event(&life);
            assert_int_equal(get_integer(&life, "counter"), i);
        }
        go(&life, 12);
        handle_event(&life);
        assert_true(life.event.terminate);
        unload(&life);
    }
}

/* x' = x: a step event after each power of ten, with a second iteration and another nominal value. */
static void step_events(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            start(&life, OWN "Scaled", versions[v], integration_of(solvers[s], 1e-8));
            life.unit->horizon = 10;
            int events = 0;
            for (int i = 1; i <= 100; i++)
                events += go_through(&life, i * 0.1);
            assert_int_equal(events, 4); /* e^10 = 2.2e4 */
            assert_int_equal(get_integer(&life, "rescaled"), 4);
            assert_near(get_real(&life, "y"), exp(10), 1e-3 * exp(10));
            unload(&life);
        }
}

static void ramp(struct life *life, const char *version, const char *what)
{
    load(life, OWN "Ramp", version, integration_of(NULL, 1e-8));
    parameter(life, "at=0.5");
    parameter(life, "back=-1");
    parameter(life, what);
    begin(life, 0, 10);
}

static void states_may_change(void **state)
{
    (void)state;
    static const char *const how[] = {"what=1", "what=2"}; /* and say so, or not */
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int h = 0; h < 2; h++) {
            struct life life;
            ramp(&life, versions[v], how[h]);
            assert_int_equal(go_through(&life, 1), 1);
            assert_near(get_real(&life, "x"), -0.5, 1e-9);
            assert_int_equal(go_through(&life, 2.25), 1); /* 1.5 later once more */
            assert_near(get_real(&life, "x"), -0.75, 1e-9);
            assert_int_equal(get_integer(&life, "events"), 2);
            unload(&life);
        }
}

static void an_fmu_may_end_in_an_event(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        ramp(&life, versions[v], "what=3");
        assert_true(go(&life, 1).event);
        handle_event(&life);
        assert_true(life.event.terminate);
        assert_near(get_real(&life, "x"), 0.5, 1e-9);
        assert_ok(life.kind->terminate(life.unit));
        unload(&life);
    }
}

static void events_iterate(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        ramp(&life, versions[v], "what=4");
        assert_int_equal(go_through(&life, 1), 1);
        assert_int_equal(get_integer(&life, "rounds"), 3);
        assert_int_equal(get_integer(&life, "events"), 1);
        unload(&life);

        ramp(&life, versions[v], "what=5");
        assert_true(go(&life, 1).event);
        assert_ok(life.kind->enter_event(life.unit));
        /* FMI 1.0 iterates inside the FMU. */
        assert_fails(life.kind->settle(life.unit, &life.event), TUTTI_ERR_FMU, v ? "do not settle" : "called again");
        assert_non_null(strstr(tutti_err_message(), "t = 0.5"));
        unload(&life);
    }
}

static void nominals_may_change(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        ramp(&life, versions[v], "what=6");
        assert_int_equal(go_through(&life, 1), 1);
        assert_near(get_real(&life, "x"), 1, 1e-9);
        unload(&life);
    }
}

static void a_state_that_is_no_number_is_named(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        ramp(&life, versions[v], "what=7");
        assert_true(go(&life, 1).event);
        assert_ok(life.kind->enter_event(life.unit));
        assert_fails(life.kind->settle(life.unit, &life.event), TUTTI_ERR_FMU,
                     "state 'x' is not a finite number after the event at t = 0.5");
        unload(&life);
    }
}

static void an_indicator_that_is_no_number_is_named(void **state)
{
    (void)state;
    static const char *const how[] = {"what=8", "what=9"}; /* NaN, infinite */
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int h = 0; h < 2; h++) {
            struct life life;
            struct tt_fmi_step step;
            ramp(&life, versions[v], how[h]);
            assert_fails(life.kind->step(life.unit, 0, 1, &step), TUTTI_ERR_FMU, "event indicator");
            assert_non_null(strstr(tutti_err_message(), v == 2 ? "'to_go' has no value" : "1 of 1 has no value"));
            unload(&life);
        }
}

/* Within a bounded number of events, and with a message about who and when. */
static void check_chatter(const char *version, const char *solver)
{
    struct life life;
    struct tt_fmi_step step = {0};
    start(&life, OWN "Sliding", version, integration_of(solver, 1e-6));
    life.unit->horizon = 100;
    enum tutti_err err = TUTTI_OK;
    int steps = 0;
    while (!err && steps++ < 1000) {
        err = life.kind->step(life.unit, life.t, 0.125, &step);
        life.t = err ? life.t : step.reached;
        if (!err && step.event)
            handle_event(&life);
    }
    assert_fails(err, TUTTI_ERR_SOLVER, "chattering: 200 state events between t = ");
    assert_non_null(strstr(tutti_err_message(), strcmp(version, "3") == 0 ? "'side'" : "1 of 1"));
    assert_non_null(strstr(tutti_err_message(), "it ("));
    assert_null(strstr(strstr(tutti_err_message(), "it (") + 1, "it (")); /* named once */
    assert_near(life.t, 1, 1e-9);
    unload(&life);
}

static void chattering_is_named(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++)
            check_chatter(versions[v], solvers[s]);
}

/* A ball whose hops halve: finally it leaves the floor and is back within a step of the solver. (Sooner or later
 * rounding lets the ball fall through the floor.) */
static void hops_shorter_than_a_step_are_seen(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int s = 0; s < SOLVER_COUNT; s++) {
            struct life life;
            double bounce = sqrt(0.2), speed = sqrt(20);
            load(&life, OWN "Sliding", versions[v], integration_of(solvers[s], 1e-9));
            parameter(&life, "bounce=true");
            begin(&life, 0, 2);
            life.unit->horizon = 2;
            for (int i = 0; i < 12; i++) {
                while (!go(&life, 2).event || get_real(&life, "x") > 0)
                    handle_event(&life); /* at leaving the floor */
                assert_near(life.t, bounce, 1e-6);
                handle_event(&life);
                speed /= 2;
                bounce += speed / 5;
            }
            unload(&life);
        }
}

/* sin(pi t) changes its sign at every second, without a state that would make a solver look. */
static void indicators_without_states(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++)
        for (int longer = 0; longer < 2; longer++) {
            struct life life;
            struct tt_integration integration = integration_of(NULL, 1e-6);
            integration.h_max = 0.3;
            load(&life, OWN "Clockwork", versions[v], integration);
            begin(&life, 0.5, 20);
            for (int i = 1; i <= 10; i++) {
                double before = life.t;
                while (!go(&life, longer ? 20 : life.t + 0.3).event)
                    assert_true(life.t > before);
                assert_near(life.t, i, 1e-13);
                handle_event(&life);
                assert_int_equal(get_integer(&life, "turns"), i);
                assert_same_double(get_real(&life, "last"), life.t);
                assert_near(get_real(&life, "y"), life.t * life.t, 0);
            }
            unload(&life);
        }
}

/* An indicator of an input: it jumps between two steps, or moves inside one. */
static void inputs_cause_events(void **state)
{
    (void)state;
    for (int v = 0; v < VERSION_COUNT; v++) {
        struct life life;
        load(&life, OWN "Clockwork", versions[v], integration_of(NULL, 1e-6));
        parameter(&life, "period=100");
        begin(&life, 1, 20);
        set_real(&life, "u", 2);
        struct tt_fmi_step step = go(&life, 2);
        assert_true(step.event);
        assert_same_double(step.reached, 1);
        handle_event(&life);
        assert_int_equal(get_integer(&life, "crossings"), 1);
        assert_int_equal(go_through(&life, 2), 0);
        set_slope(&life, "u", 1, -2);
        step = go(&life, 3);
        assert_true(step.event);
        assert_near(step.reached, 2.5, 1e-13);
        assert_near(get_real(&life, "u"), 1, 1e-13);
        handle_event(&life);
        assert_int_equal(get_integer(&life, "crossings"), 2);
        assert_int_equal(go_through(&life, 3), 0);
        assert_near(get_real(&life, "y"), 9, 1e-13);
        unload(&life);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crossings_are_found_both_ways),
        cmocka_unit_test(steps_are_completed_once),
        cmocka_unit_test(a_bounce_is_one_event),
        cmocka_unit_test(grazing_does_no_harm),
        cmocka_unit_test(short_excursions),
        cmocka_unit_test(thousands_of_events),
        cmocka_unit_test(an_event_at_the_start),
        cmocka_unit_test(an_event_at_the_end_of_a_step),
        cmocka_unit_test(an_event_at_the_stop_time),
        cmocka_unit_test(time_events_are_hit_to_the_bit),
        cmocka_unit_test(time_events_without_states),
        cmocka_unit_test(step_events),
        cmocka_unit_test(states_may_change),
        cmocka_unit_test(an_fmu_may_end_in_an_event),
        cmocka_unit_test(events_iterate),
        cmocka_unit_test(nominals_may_change),
        cmocka_unit_test(a_state_that_is_no_number_is_named),
        cmocka_unit_test(an_indicator_that_is_no_number_is_named),
        cmocka_unit_test(chattering_is_named),
        cmocka_unit_test(hops_shorter_than_a_step_are_seen),
        cmocka_unit_test(indicators_without_states),
        cmocka_unit_test(inputs_cause_events),
    };
    return cmocka_run_group_tests_name("unit: me, events", tests, NULL, NULL);
}
