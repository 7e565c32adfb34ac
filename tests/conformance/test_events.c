/* SPDX-License-Identifier: MIT */
/* What every kind of event detection must do, with every coupling and control: announced times are hit to the bit; state
 * events of Model Exchange and early returns of FMI 3.0 end the step for all (`early`, `output`) or for their unit only
 * (`none`); changed discrete outputs of every type are located (`output`). KIND, its name, is the argument. */
#include "conformance.h"
#include "kinds.h"
#include "masters.h"

#include "sim/detector.h"

#define KIND conformance_arguments[1]

static bool is(const char *word)
{
    return strcmp(KIND, word) == 0;
}

static struct tutti_run_options plain_options(const char *coupling, const char *control)
{
    return (struct tutti_run_options){
        .coupling = coupling,
        .control = control,
        .extrapolate = "0",
        .events = KIND,
        .has_stop = true,
        .stop = 1,
        .has_step = true,
        .step = 0.1,
        .has_h_max = true,
        .h_max = 0.1,
        .has_rtol = true,
        .rtol = 1e-4,
        .error_per = "step", /* inputs are held: steps would be very many */
        .has_event_tolerance = true,
        .event_tolerance = 1e-7,
        .has_quantum = control_of(control)->takes_quantum,
        .quantum = 0.1,
        .has_output_step = true,
        .output_step = 0.25,
    };
}

/* The row from which on a column has another value than in the first one; rows of the same time are before and after. */
static size_t change_of(const struct tt_csv_table *table, const char *name)
{
    const char *first = text_at(table, 0, name);
    size_t r = 1;
    while (r < tt_csv_table_rows(table) && strcmp(text_at(table, r, name), first) == 0)
        r++;
    if (r == tt_csv_table_rows(table))
        fail_msg("%s is %s all the time", name, first);
    return r;
}

/* ---- announced times ---- */

static const struct component alarmed[] = {{"alarm", "Alarm", "3", "cs"},
                                           {"second", "Alarm", "2", "me"},
                                           {"a", "Follower", "2", "cs"},
                                           {"b", "Follower", "3", "me"},
                                           {"count", "Tally", "3", "cs"}};
static const char *const alarm_wires[] = {"a.x=b.u", "b.x=a.u", "b.x=count.u"};
/* Not a multiple of anything; twice; and both at one time. */
static const char *const alarm_values[] = {"alarm.at=0.33370000000000005", "alarm.again=1e-5", "second.at=0.7",
                                           "second.again=0.2", "a.x=1"};
static const struct model alarms = MODEL(alarmed, alarm_wires, alarm_values);

static void has_rows_at(const struct tt_csv_table *table, double t)
{
    for (size_t r = 1; r < tt_csv_table_rows(table); r++)
        if (tt_csv_table_times(table)[r] == t && tt_csv_table_times(table)[r - 1] == t)
            return;
    fail_msg("there is no row before and behind an event at %.17g", t);
}

static void announced_times_are_hit_to_the_bit(void **state)
{
    (void)state;
    for (size_t c = 0; couplings[c]; c++)
        for (size_t k = 0; control_at(k); k++) {
            struct outcome outcome;
            struct tutti_run_options options = plain_options(couplings[c], control_at(k));
            if (!fit_all(couplings[c], control_at(k), "0", KIND))
                continue;
            print_message("%s, %s\n", couplings[c], control_at(k));
            run_model(&outcome, &alarms, &options, true);
            double at = 0.33370000000000005;
            double all[] = {at, at + 1e-5, 0.7, 0.7 + 0.2};
            for (size_t i = 0; i < COUNT(all) && !has_own_paces(couplings[c], control_at(k)); i++)
                has_rows_at(outcome.table, all[i]);
            assert_same_double(last_value(&outcome, "alarm.last"), at + 1e-5);
            if (has_own_paces(couplings[c], control_at(k))) /* it is the end of a macro step, but for rounding */
                assert_near(last_value(&outcome, "second.last"), 0.9, 1e-15);
            else
                assert_same_double(last_value(&outcome, "second.last"), 0.7 + 0.2);
            assert_int_equal((int)last_value(&outcome, "alarm.rings"), 2);
            assert_int_equal(outcome.stats.events_located, 4);
            outcome_fini(&outcome);
        }
}

/* ---- state events and early returns ---- */

/* A switch at 0.437 makes its mark on a lag by way of a unit that follows it at once; the clock of another unit shows whether
 * all were there. */
static const double SWITCHED = 0.437;

/* FMI 1.0 has no saved states: after a unit crossed an event alone inside a step, it cannot be rolled back over it. */
static bool cannot_undo(const char *coupling, const char *control, const char *version)
{
    bool back = coupling_of(coupling)->iterates || control_of(control)->rejects;
    return is("none") && back && strcmp(version, "1me") == 0;
}

/* With moving inputs: they restart after the event; otherwise the jump would be treated as a slope. */
static void check_coming_back(const char *coupling, const char *control, const char *order, const char *version,
                              const char *interface)
{
    const struct component units[] = {{"switch", "EarlySwitches", version, interface},
                                      {"relay", "Relation", "3", "cs"},
                                      {"lag", "Follower", "2", "cs"},
                                      {"count", "Tally", "2", "cs"}};
    static const char *const connect[] = {"switch.flag=relay.up", "relay.y=lag.u", "lag.x=count.u"};
    static const char *const set[] = {"switch.flag_at=0.437", "relay.step=1"};
    const struct model model = MODEL(units, connect, set);
    struct tutti_run_options options = plain_options(coupling, control);
    struct outcome outcome;
    options.extrapolate = order;
    print_message("%s, %s, extrapolation %s, FMI %s %s\n", coupling, control, order, version, interface);
    if (cannot_undo(coupling, control, version)) {
        assert_fails(try_run(&outcome, &model, options, true), TUTTI_ERR_UNSUPPORTED, "'switch' (");
        assert_contains(tutti_err_message(), "use rollback fork, events early");
        outcome_fini(&outcome);
        return;
    }
    run_model(&outcome, &model, &options, true);
    double exact = 1 - exp(-(1 - SWITCHED) / 0.5), error = fabs(last_value(&outcome, "lag.x") - exact);
    size_t row = change_of(outcome.table, "switch.flag");
    const double *times = tt_csv_table_times(outcome.table);
    if (is("none")) { /* the lag hears of it at the end of the step at the earliest */
        assert_true(error > 1e-3 || times[row] != SWITCHED);
    } else {
        assert_near(times[row], SWITCHED, 1e-7);
        assert_same_double(times[row - 1], times[row]);
        assert_same_double(value_at(outcome.table, row, "relay.y"), 1);
        assert_near(value_at(outcome.table, row, "switch.x"), SWITCHED, 1e-7);
        assert_near(error, 0, 1e-5);
    }
    outcome_fini(&outcome);
}

static void units_that_come_back(void **state)
{
    (void)state;
    static const char *const sorts[][2] = {{"3", "cs"}, {"1me", "me"}, {"2", "me"}, {"3", "me"}};
    for (size_t c = 0; couplings[c]; c++)
        for (size_t k = 0; control_at(k); k++)
            for (size_t s = 0; s < COUNT(sorts); s++)
                for (int o = 0; o <= 2; o += 2)
                    if (fit_all(couplings[c], control_at(k), orders[o], KIND))
                        check_coming_back(couplings[c], control_at(k), orders[o], sorts[s][0], sorts[s][1]);
}

/* ---- discrete outputs ---- */

struct discrete {
    const char *output, *level, *input, *after;
};

static const struct discrete discretes[] = {
    {"flag", "flag_at", "boolean_in", "1"},
    {"count", "count_at", "int32_in", "1"},
    {"color", "color_at", "color_in", "2"},
    {"text", "text_at", "string_in", "high enough to need room"},
    {"level", "level_at", "float64_discrete_in", "1"},
};

static bool takes(const char *coupling, const struct discrete *d)
{
    return !coupling_of(coupling)->federates || strcmp(d->output, "text") != 0;
}

/* With one switch, or, for NULL, all of them at the same place. */
static void check_output(const char *coupling, const char *control, const char *version, const struct discrete *one)
{
    const struct component units[] = {{"switch", "Switches", version, "cs"},
                                      {"ready", "Feedthrough", "3", "cs"},
                                      {"late", "Feedthrough", "2", "cs"},
                                      {"lag", "Follower", "2", "me"}};
    char wires[2 * COUNT(discretes)][64], sets[COUNT(discretes)][32];
    const char *connect[2 * COUNT(discretes) + 2] = {"switch.x=lag.u", "lag.x=switch.u"}, *set[COUNT(discretes) + 1];
    size_t count = 0, connected = 2;
    set[count++] = "switch.rate=1.5";
    for (size_t i = 0; i < COUNT(discretes); i++) {
        const struct discrete *d = &discretes[i];
        if (!takes(coupling, d))
            continue;
        snprintf(wires[2 * i], sizeof wires[0], "switch.%s=ready.%s", d->output, d->input);
        snprintf(wires[2 * i + 1], sizeof wires[0], "switch.%s=late.%s", d->output, d->input);
        connect[connected++] = wires[2 * i];
        connect[connected++] = wires[2 * i + 1];
        snprintf(sets[i], sizeof sets[i], "switch.%s=0.437", d->level);
        if (!one || one == d)
            set[count++] = sets[i];
    }
    const struct model model = {units, connect, set, COUNT(units), connected, count};
    struct tutti_run_options options = plain_options(coupling, control);
    static const char *const recorded[] = {"*"};
    struct outcome outcome;
    options.records = recorded;
    options.record_count = 1;
    print_message("%s, %s, FMI %s, %s\n", coupling, control, version, one ? one->output : "all");
    run_model(&outcome, &model, &options, true);
    for (size_t i = 0; i < COUNT(discretes); i++) {
        const struct discrete *d = &discretes[i];
        char name[64];
        if ((one && one != d) || !takes(coupling, d))
            continue;
        snprintf(name, sizeof name, "switch.%s", d->output);
        assert_string_equal(text_at(outcome.table, tt_csv_table_rows(outcome.table) - 1, name), d->after);
        size_t row = change_of(outcome.table, name);
        double before = tt_csv_table_times(outcome.table)[row - 1], behind = tt_csv_table_times(outcome.table)[row];
        double when = last_value(&outcome, "switch.when");
        assert_true(before <= when && when <= behind);
        if (is("output"))
            assert_true(behind - before <= options.event_tolerance);
        else
            assert_true(behind - before > 1e-3);
        snprintf(name, sizeof name, "ready.%.*s_out", (int)(strlen(d->input) - 3), d->input);
        size_t seen = change_of(outcome.table, name);
        if (is("output")) /* event mode: at the same time */
            assert_same_double(tt_csv_table_times(outcome.table)[seen], behind);
        snprintf(name, sizeof name, "late.%.*s_out", (int)(strlen(d->input) - 3), d->input);
        change_of(outcome.table, name);
    }
    assert_true(!is("output") || outcome.stats.events_located >= 1);
    outcome_fini(&outcome);
}

static void discrete_outputs_of_every_type(void **state)
{
    (void)state;
    for (size_t c = 0; couplings[c]; c++)
        for (size_t k = 0; control_at(k); k++)
            if (fit_all(couplings[c], control_at(k), "0", KIND)) {
                check_output(couplings[c], control_at(k), "2", NULL);
                check_output(couplings[c], control_at(k), "3", NULL);
            }
    for (size_t d = 0; d < COUNT(discretes); d++) {
        check_output("jacobi", "fixed", "2", &discretes[d]);
        check_output("seidel", "embedded", "3", &discretes[d]);
        check_output("relax", "richardson", "2", &discretes[d]);
    }
}

static void it_is_found_by_its_name(void **state)
{
    (void)state;
    const struct tt_detection *detection = NULL;
    assert_ok(tt_detector_find_kind(KIND, &detection));
    assert_string_equal(detection->name, KIND);
    assert_fails(tt_detector_find_kind("none of them", &detection), TUTTI_ERR_ARGUMENT, KIND);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "EVENTS");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_found_by_its_name),
        cmocka_unit_test(announced_times_are_hit_to_the_bit),
        cmocka_unit_test(units_that_come_back),
        cmocka_unit_test(discrete_outputs_of_every_type),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
