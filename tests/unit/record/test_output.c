/* SPDX-License-Identifier: MIT */
/* What a run's log is told of what a file cannot show. */
#include "record/output.h"

#include "scratch.h"
#include "test.h"

static struct scratch scratch;
static char said[1000];

static int set_up(void **state)
{
    (void)state;
    said[0] = 0;
    scratch_init(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)origin;
    assert_int_equal(level, TUTTI_LOG_WARNING);
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* Two rows, between which g goes from 9.81 to `g` and h from 1 to 2. */
static void record(const char *name, double g)
{
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = note};
    double values[] = {1, 9.81};
    const struct tutti_column columns[] = {
        {.name = "h", .type = TUTTI_TYPE_FLOAT64, .value = &values[0], .source = 0},
        {.name = "g", .type = TUTTI_TYPE_FLOAT64, .value = &values[1], .source = 1, .fixed = true},
    };
    struct tutti_output output;
    const struct tutti_output_target target = {.path = scratch_path(&scratch, name), .log = &log, .origin = "ball"};
    assert_ok(tutti_output_open(&output, &target, columns, 2));
    assert_ok(tutti_output_row(&output, 0));
    values[0] = 2;
    values[1] = g;
    assert_ok(tutti_output_row(&output, 1));
    assert_ok(tutti_output_close(&output));
}

static void fixed_parameters_that_change(void **state)
{
    (void)state;
    record("ball.mat", 9.81);
    record("ball.csv", 0);
    assert_string_equal(said, "");
    record("ball.mat", 0);
    assert_non_null(strstr(said, "'g' is a fixed parameter, but the FMU has changed it from 9.81 to 0: a .mat file"));
}

/* Nothing was recorded: there is nothing to tell. */
static void no_rows(void **state)
{
    (void)state;
    const struct tutti_log log = {.level = TUTTI_LOG_WARNING, .write = note};
    const double g = 9.81;
    const struct tutti_column column = {.name = "g", .type = TUTTI_TYPE_FLOAT64, .value = &g, .fixed = true};
    struct tutti_output output;
    const struct tutti_output_target target = {.path = scratch_path(&scratch, "none.mat"), .log = &log};
    assert_ok(tutti_output_open(&output, &target, &column, 1));
    assert_ok(tutti_output_close(&output));
    assert_string_equal(said, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fixed_parameters_that_change, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_rows, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
