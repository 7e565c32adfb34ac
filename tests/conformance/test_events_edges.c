/* SPDX-License-Identifier: MIT */
/* Events at awkward places and of awkward units, with masters that take steps back: pulses, events at points of all sorts,
 * steps that are refused or left early without any event, units that end the run, input files. */
#include "masters.h"
#include "sim/stats.h"

static const char *const couplings[] = {"jacobi", "seidel", "relax"};

static struct tutti_run_options plain_options(const char *coupling, const char *control, const char *events)
{
    return (struct tutti_run_options){
        .coupling = coupling,
        .control = control,
        .extrapolate = "0",
        .events = events,
        .has_stop = true,
        .stop = 1,
        .has_step = true,
        .step = 0.125,
        .has_h_max = true,
        .h_max = 0.125,
        .has_rtol = true,
        .rtol = 1e-4,
        .error_per = "step", /* inputs are held: steps would be very many */
        .has_event_tolerance = true,
        .event_tolerance = 1e-7,
    };
}

static void check_count(const struct outcome *outcome)
{
    const struct tutti_run_stats *stats = &outcome->stats;
    assert_int_equal((unsigned long)last_value(outcome, "count.calls"),
                     unit_of(outcome, "count")->do_steps + tried_steps(stats->coupling, stats->control, stats->events));
    assert_int_equal((unsigned long)last_value(outcome, "count.steps"), unit_of(outcome, "count")->accepted);
}

static const char *const everything[] = {"*"};

static void run_recorded(struct outcome *outcome, const struct model *model, struct tutti_run_options options)
{
    options.records = everything;
    options.record_count = 1;
    run_model(outcome, model, &options, true);
    check_count(outcome);
}

/* ---- pulses ---- */

/* How often a column changes, and where it does so first. */
static unsigned changes_of(const struct tt_csv_table *table, const char *name, double *first)
{
    unsigned changes = 0;
    for (size_t r = 1; r < tt_csv_table_rows(table); r++)
        if (strcmp(text_at(table, r, name), text_at(table, r - 1, name)) != 0 && changes++ == 0)
            *first = tt_csv_table_times(table)[r];
    return changes;
}

/* x runs like the time, so nothing but the flag asks for shorter steps than 0.125. A doubled step looks at its middle as well:
 * a pulse is seen if it is there then, or at the end. (PITFALLS: an event in the second half leaves full and half steps
 * alike.) */
static void check_pulse(const char *coupling, const char *control, double at, double width)
{
    static const struct component units[] = {{"switch", "Switches", "2", "cs"},
                                             {"relay", "Relation", "3", "cs"},
                                             {"lag", "Follower", "3", "cs"},
                                             {"count", "Tally", "2", "cs"}};
    static const char *const connect[] = {"switch.flag=relay.up", "relay.y=lag.u", "lag.x=count.u"};
    char rise[40], fall[40];
    const char *const set[] = {rise, fall, "relay.step=1"};
    const struct model model = MODEL(units, connect, set);
    struct tutti_run_options options = plain_options(coupling, control, "output");
    struct outcome outcome;
    double first = NAN;
    snprintf(rise, sizeof rise, "switch.flag_at=%.17g", at);
    snprintf(fall, sizeof fall, "switch.width=%.17g", width);
    options.atol = options.rtol = 1; /* the lag may err */
    options.has_atol = true;
    print_message("%s, %s, from %g on for %g\n", coupling, control, at, width);
    run_recorded(&outcome, &model, options);
    assert_int_equal(changes_of(outcome.table, "switch.flag", &first), 2);
    assert_near(first, at, 2e-7);
    assert_int_equal(changes_of(outcome.table, "relay.y", &first), 2);
    assert_near(first, at, 2e-7);
    assert_int_equal(outcome.stats.events_located >= 2, true);
    /* The lag has felt it all, and nothing else. */
    double area = exp((at + width) / 0.5) - exp(at / 0.5);
    assert_near(last_value(&outcome, "lag.x"), area * exp(-1 / 0.5), 1e-5);
    outcome_fini(&outcome);
}

static void pulses_in_either_half(void **state)
{
    (void)state;
    static const char *const doubling[] = {"richardson", "slope"};
    for (size_t c = 0; c < COUNT(couplings); c++)
        for (size_t k = 0; k < COUNT(doubling); k++) {
            check_pulse(couplings[c], doubling[k], 0.27, 0.1);    /* up in the first half, there at the end */
            check_pulse(couplings[c], doubling[k], 0.34, 0.1);    /* up in the second half */
            check_pulse(couplings[c], doubling[k], 0.30, 0.03);   /* up in the first half, down in the second */
            check_pulse(couplings[c], doubling[k], 0.312, 0.001); /* there in the middle only */
        }
}

/* ---- events where something else is ---- */

/* At the start of everything, at communication points, recorded points, the end; and two of them at once. */
static void check_place(const char *coupling, const char *events, double at)
{
    static const struct component units[] = {{"early", "EarlySwitches", "3", "cs"}, {"me", "EarlySwitches", "2", "me"},
                                             {"alarm", "Alarm", "3", "cs"},         {"plain", "Switches", "2", "cs"},
                                             {"lag", "Follower", "3", "cs"},        {"count", "Tally", "3", "cs"}};
    static const char *const connect[] = {"plain.x=lag.u", "lag.x=count.u"};
    char texts[4][40];
    const char *const set[] = {texts[0], texts[1], texts[2], texts[3]};
    const struct model model = MODEL(units, connect, set);
    struct tutti_run_options options = plain_options(coupling, "fixed", events);
    static const char *const flags[] = {"early.flag", "me.flag", "alarm.rings", "plain.flag"};
    struct outcome outcome;
    snprintf(texts[0], sizeof texts[0], "early.flag_at=%.17g", at);
    snprintf(texts[1], sizeof texts[1], "me.flag_at=%.17g", at);
    snprintf(texts[2], sizeof texts[2], "alarm.at=%.17g", at);
    snprintf(texts[3], sizeof texts[3], "plain.flag_at=%.17g", at);
    print_message("%s, %s, at %.17g\n", coupling, events, at);
    run_recorded(&outcome, &model, options);
    for (size_t i = 0; i < COUNT(flags); i++) {
        double first = NAN;
        if (at == 1 && last_value(&outcome, flags[i]) == 0)
            continue; /* a state may come there a rounding error late */
        assert_int_equal(changes_of(outcome.table, flags[i], &first), 1);
        if (strcmp(events, "none") != 0 || i == 2)
            assert_near(first, at, strcmp(events, "output") == 0 || i != 3 ? 2e-7 : 0.125);
    }
    assert_same_double(last_value(&outcome, "alarm.last"), at);
    outcome_fini(&outcome);
}

static void events_at_points_of_all_sorts(void **state)
{
    (void)state;
    static const char *const detections[] = {"none", "early", "output"};
    static const double places[] = {1e-9, 0.125, 0.5, 0.3, 1 - 1e-9, 1};
    for (size_t c = 0; c < COUNT(couplings); c++)
        for (size_t e = 0; e < COUNT(detections); e++)
            for (size_t p = 0; p < COUNT(places); p++)
                check_place(couplings[c], detections[e], places[p]);
}

/* ---- events that depend on others ---- */

static const char *const controls[] = {"fixed", "richardson", "slope", "embedded"};

/* A room whose surroundings are a second room: its thermostat ends a step early, all others step there, and with their
 * values its time has not yet come. That must not repeat forever. */
static void an_event_that_flees(void **state)
{
    (void)state;
    static const struct component units[] = {{"outer", "Heater", "2", "cs"}, {"inner", "Heater", "3", "cs"}};
    static const char *const connect[] = {"outer.T=inner.T_outside"}, *const set[] = {"outer.T_set=294"};
    const struct model model = MODEL(units, connect, set);
    for (size_t c = 0; c < COUNT(couplings); c++)
        for (size_t k = 0; k < COUNT(controls); k++) {
            struct outcome outcome;
            struct tutti_run_options options = plain_options(couplings[c], controls[k], "output");
            print_message("%s, %s\n", couplings[c], controls[k]);
            options.stop = 3600;
            options.step = 10;
            options.has_h_max = false;
            options.has_event_tolerance = false;
            run_model(&outcome, &model, &options, true);
            assert_true(outcome.stats.steps < 1000);
            assert_true(outcome.stats.events_located > 2 && outcome.stats.events_located < 100);
            for (size_t r = 0; r < tt_csv_table_rows(outcome.table); r++) /* the band is 1 K wide */
                assert_near(value_at(outcome.table, r, "inner.T"), 293.65, 1.01);
            outcome_fini(&outcome);
        }
}

/* Bounces come at any place of a step, also at the very middle of a doubled one. */
static void a_ball_that_bounces(void **state)
{
    (void)state;
    static const struct component units[] = {
        {"ball", "BouncingBall", "3", "cs"}, {"lag", "Follower", "3", "cs"}, {"count", "Tally", "2", "cs"}};
    static const char *const connect[] = {"ball.h=lag.u", "lag.x=count.u"}, *const set[] = {"lag.T=0.5"};
    static const char *const detections[] = {"none", "early", "output"};
    const struct model model = MODEL(units, connect, set);
    for (size_t c = 0; c < COUNT(couplings); c++)
        for (size_t k = 0; k < COUNT(controls); k++)
            for (size_t e = 0; e < COUNT(detections); e++) {
                struct outcome outcome;
                struct tutti_run_options options = plain_options(couplings[c], controls[k], detections[e]);
                print_message("%s, %s, %s\n", couplings[c], controls[k], detections[e]);
                options.extrapolate = "1";
                options.stop = 3;
                options.has_h_max = false;
                run_recorded(&outcome, &model, options);
                for (size_t r = 0; r < tt_csv_table_rows(outcome.table); r++)
                    assert_true(value_at(outcome.table, r, "ball.h") > -1e-9);
                double end = last_value(&outcome, "ball.h");
                assert_true(end >= 0 && end < 0.1);
                outcome_fini(&outcome);
            }
}

/* ---- steps that are refused or left early ---- */

static const char *const faulty_wires[] = {"a.y=count.u", "count.y=b.u", "b.x=a.u"};
static const char *const faulty_values[] = {"b.x=1"};

static void run_faulty(struct outcome *outcome, const char *version, const char *fault, const char *coupling,
                       const char *events)
{
    const struct component units[] = {
        {"a", "Faulty", version, "cs"}, {"b", "Follower", "2", "cs"}, {"count", "Tally", "3", "cs"}};
    const struct model model = MODEL(units, faulty_wires, faulty_values);
    struct tutti_run_options options = plain_options(coupling, "fixed", events);
    assert_int_equal(setenv("KIT_FAULT", fault, 1), 0);
    print_message("%s, %s, FMI %s, %s\n", coupling, events, version, fault);
    run_recorded(outcome, &model, options);
    assert_int_equal(unsetenv("KIT_FAULT"), 0);
}

static bool has_time(const struct outcome *outcome, double t)
{
    for (size_t r = 0; r < tt_csv_table_rows(outcome->table); r++)
        if (tt_csv_table_times(outcome->table)[r] == t)
            return true;
    return false;
}

/* All go back, and make a shorter step: as far as FMI 2.0 says that the unit came, or half of it. Nothing is lost: there are
 * two steps instead of one. */
static void a_discarded_step_is_made_shorter_by_all(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(couplings); c++) {
        struct outcome outcome;
        run_faulty(&outcome, "2", "discard DoStep 0.6", couplings[c], "early");
        assert_true(has_time(&outcome, 0.6)); /* of (0.5, 0.625] */
        assert_int_equal(outcome.stats.steps, 9);
        assert_int_equal(outcome.stats.rejected, 1);
        outcome_fini(&outcome);
        run_faulty(&outcome, "3", "discard DoStep 0.6", couplings[c], "early");
        assert_true(has_time(&outcome, 0.5625));
        assert_int_equal(outcome.stats.steps, 9);
        assert_int_equal(outcome.stats.rejected, 1);
        outcome_fini(&outcome);
    }
}

/* A unit that returns early without an event: with `none` it continues alone, otherwise all others step to its time. */
static void an_early_return_without_event(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(couplings); c++) {
        struct outcome outcome;
        if (strcmp(couplings[c], "relax") != 0) {
            run_faulty(&outcome, "3", "early DoStep 0.6", couplings[c], "none");
            assert_false(has_time(&outcome, 0.6));
            assert_int_equal(outcome.stats.steps, 8);
            assert_int_equal(unit_of(&outcome, "a")->do_steps, 9);
            assert_int_equal(unit_of(&outcome, "b")->do_steps, 8);
            outcome_fini(&outcome);
        }
        run_faulty(&outcome, "3", "early DoStep 0.6", couplings[c], "early");
        assert_true(has_time(&outcome, 0.6));
        assert_int_equal(outcome.stats.steps, 9);
        assert_int_equal(outcome.stats.rejected, 1);
        assert_int_equal(unit_of(&outcome, "b")->accepted, 9);
        outcome_fini(&outcome);
    }
}

/* A unit that refuses for ever is named. */
static void a_unit_that_refuses_for_ever(void **state)
{
    (void)state;
    for (size_t c = 0; c < COUNT(couplings); c++) {
        const struct component units[] = {
            {"a", "Faulty", "2", "cs"}, {"b", "Follower", "2", "cs"}, {"count", "Tally", "3", "cs"}};
        static const char *const set[] = {"count.most=-1"};
        const struct model model = MODEL(units, faulty_wires, set);
        struct tutti_run_options options = plain_options(couplings[c], "fixed", "early");
        struct outcome outcome;
        assert_fails(try_run(&outcome, &model, options, false), TUTTI_ERR_FMU, "count (");
        outcome_fini(&outcome);
    }
}

/* ---- the end ---- */

/* A unit that ends the run in the middle of a step: with `early` all others end there, too. */
static void a_unit_that_ends_the_run(void **state)
{
    (void)state;
    static const struct component units[] = {
        {"ramp", "Ramp", "2", "me"}, {"lag", "Follower", "3", "cs"}, {"count", "Tally", "2", "cs"}};
    static const char *const connect[] = {"ramp.x=lag.u", "lag.x=count.u"}, *const set[] = {"ramp.what=3",
                                                                                            "ramp.at=0.43"};
    const struct model model = MODEL(units, connect, set);
    for (size_t c = 0; c < COUNT(couplings); c++)
        for (size_t k = 0; k < COUNT(controls); k++) {
            struct outcome outcome;
            struct tutti_run_options options = plain_options(couplings[c], controls[k], "early");
            print_message("%s, %s\n", couplings[c], controls[k]);
            assert_ok(try_run(&outcome, &model, options, true));
            assert_true(outcome.stats.terminated_by_fmu);
            assert_near(outcome.stats.stop, 0.43, 1e-6);
            size_t last = tt_csv_table_rows(outcome.table) - 1;
            assert_same_double(tt_csv_table_times(outcome.table)[last], outcome.stats.stop);
            assert_near(last_value(&outcome, "ramp.x"), 0.43, 1e-6);
            outcome_fini(&outcome);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pulses_in_either_half),
        cmocka_unit_test(events_at_points_of_all_sorts),
        cmocka_unit_test(an_event_that_flees),
        cmocka_unit_test(a_ball_that_bounces),
        cmocka_unit_test(a_discarded_step_is_made_shorter_by_all),
        cmocka_unit_test(an_early_return_without_event),
        cmocka_unit_test(a_unit_that_refuses_for_ever),
        cmocka_unit_test(a_unit_that_ends_the_run),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
