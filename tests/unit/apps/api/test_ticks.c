/* SPDX-License-Identifier: MIT */
/* Partitions of Scheduled Execution that tick one after the other, with nothing recorded, are run many at once; stepped by a program they are
 * not. Both come to the same, to the bit. */
#include "stepped.h"

#include "sim/stats.h"

#define SYSTEM                                                                                                         \
    .files = LIST("a=" TUTTI_FMUS "/Clocks_fmi3.fmu", "b=" TUTTI_FMUS "/PI_fmi3.fmu"), .file_count = 2,                \
    .interface = "se", .connects = LIST("a.constant_time=b.y"), .connect_count = 1, .records = LIST("none"),           \
    .record_count = 1, .has_stop = true, .stop = 20, .has_step = true

static const char *const variables[] = {
    "a.constant_count",
    "a.constant_time",
    "a.decimal_count",
    "a.decimal_time",
    "a.told_count",
    "a.told_time",
    "a.computed_count",
    "a.computed_time",
    "a.tunable_count",
    "a.tunable_time",
    "a.order",
    "a.changing_count",
    "a.changing_time",
    "a.countdown_time",
    "a.countdown_count",
    "a.triggered_count",
    "b.u",
    "b.count",
};

struct outcome {
    double values[LENGTH(variables)];
    struct tutti_run_stats stats;
};

static void run(struct tutti_run_options *options, bool at_once, struct outcome *outcome)
{
    struct tutti_simulation *simulation = open_simulation(options);
    assert_ok(tutti_simulation_start(simulation));
    if (at_once)
        assert_ok(tutti_simulation_advance(simulation, tutti_simulation_stop(simulation)));
    while (!tutti_simulation_is_over(simulation))
        assert_ok(tutti_simulation_step(simulation));
    for (size_t i = 0; i < LENGTH(variables); i++)
        outcome->values[i] = value_of(simulation, variables[i]);
    assert_ok(tutti_simulation_finish(simulation, &outcome->stats));
    tutti_simulation_free(simulation);
}

static void compare(struct tutti_run_options options)
{
    struct outcome stepped, at_once;
    run(&options, false, &stepped);
    run(&options, true, &at_once);
    for (size_t i = 0; i < LENGTH(variables); i++)
        if (memcmp(&stepped.values[i], &at_once.values[i], sizeof(double)) != 0)
            fail_msg("%s: %.17g step by step, %.17g at once", variables[i], stepped.values[i], at_once.values[i]);
    assert_int_equal(stepped.values[LENGTH(variables) - 1], 2001); /* ticks of b */
    assert_int_equal(stepped.stats.steps, at_once.stats.steps);
    assert_int_equal(stepped.stats.events_located, at_once.stats.events_located);
    for (size_t u = 0; u < 2; u++) {
        assert_int_equal(stepped.stats.units[u].do_steps, at_once.stats.units[u].do_steps);
        assert_int_equal(stepped.stats.units[u].sets, at_once.stats.units[u].sets);
    }
    tt_stats_fini(&stepped.stats);
    tt_stats_fini(&at_once.stats);
}

static void test_at_once(void **state)
{
    (void)state;
    compare((struct tutti_run_options){SYSTEM, .step = 20});
    compare((struct tutti_run_options){SYSTEM, .step = 0.35}); /* points between ticks, and some with them */
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_at_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
