/* SPDX-License-Identifier: MIT */
/* Saved points in files: a second simulation resumes there, to the bit. */
#include "scratch.h"
#include "stepped.h"

static void step_on(struct tutti_simulation *simulation, int steps)
{
    for (int n = 0; n < steps && !tutti_simulation_is_over(simulation); n++)
        assert_ok(tutti_simulation_step(simulation));
}

/* One simulation that saves and continues, and one that resumes from the file. */
static void go_on(const struct sort *sort, const char *path, int before)
{
    struct rows first = {0}, second = {0};
    struct tutti_watcher one = WATCHER(&first), other = WATCHER(&second);
    struct tutti_run_options options = sort->options;
    options.watcher = &one;
    struct tutti_simulation *simulation = start_simulation(&options);
    step_on(simulation, before);
    enum tutti_err err = tutti_simulation_save_file(simulation, path);
    if (err == TUTTI_ERR_UNSUPPORTED) { /* the FMU cannot serialise */
        assert_non_null(strstr(tutti_err_message(), "canSerializeFMUstate"));
        tutti_simulation_free(simulation);
        rows_fini(&first);
        return;
    }
    if (err)
        fail_msg("%s: %s", sort->name, tutti_err_message());
    double t = tutti_simulation_time(simulation);
    size_t saved = first.count;
    step_on(simulation, 20);
    finish_and_free(simulation);

    options.watcher = &other;
    simulation = start_simulation(&options);
    step_on(simulation, 1);
    if (tutti_simulation_restore_file(simulation, path))
        fail_msg("%s: %s", sort->name, tutti_err_message());
    assert_same_double(tutti_simulation_time(simulation), t);
    size_t begun = second.count;
    step_on(simulation, 20);
    assert_int_equal(second.count - begun, first.count - saved);
    assert_same_rows(sort->name, &first, saved, &second, begun, first.count - saved);
    finish_and_free(simulation);
    rows_fini(&first);
    rows_fini(&second);
}

static void test_same_to_the_bit(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    const char *path = scratch_path(&scratch, "point");
    for (size_t i = 0; i < LENGTH(sorts); i++)
        for (int before = 0; before < 9; before += 4)
            go_on(&sorts[i], path, before);
    scratch_fini(&scratch);
}

/* Values that a program has put, and that are still pending. */
static void test_what_was_put(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    const char *path = scratch_path(&scratch, "point");
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/Tracker_fmi3.fmu"), TIMES(0.1, 1)};
    struct tutti_simulation *a = start_simulation(&options), *b = start_simulation(&options);
    step_on(a, 3);
    assert_ok(put_value(a, "u", 2.5));
    assert_ok(tutti_simulation_save_file(a, path));
    assert_ok(put_value(b, "u", -7)); /* which is forgotten */
    assert_ok(tutti_simulation_restore_file(b, path));
    step_on(a, 2);
    step_on(b, 2);
    assert_same_double(value_of(b, "u"), 2.5);
    assert_same_double(value_of(b, "y"), value_of(a, "y"));
    finish_and_free(a);
    finish_and_free(b);
    scratch_fini(&scratch);
}

static void test_refusals(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/VanDerPol_fmi2.fmu"), TIMES(0.1, 1)}, others = options;
    others.step = 0.05;
    struct tutti_simulation *a = start_simulation(&options), *b = start_simulation(&others),
                            *c = open_simulation(&options);
    assert_int_equal(tutti_simulation_save_file(a, scratch_path(&scratch, "nowhere/point")), TUTTI_ERR_IO);
    const char *path = scratch_path(&scratch, "point");
    assert_int_equal(tutti_simulation_save_file(c, path), TUTTI_ERR_STATE);
    assert_int_equal(tutti_simulation_restore_file(a, path), TUTTI_ERR_IO);
    assert_ok(tutti_simulation_save_file(a, path));
    assert_int_equal(tutti_simulation_restore_file(b, path), TUTTI_ERR_ARGUMENT);
    assert_non_null(strstr(tutti_err_message(), "step"));
    step_on(b, 2); /* it continues at its point */
    assert_same_double(tutti_simulation_time(b), 0.1);
    const char *damaged = scratch_write(&scratch, "damaged", "Tutti checkpoint\n", 17);
    assert_int_equal(tutti_simulation_restore_file(a, damaged), TUTTI_ERR_FORMAT);
    others.checkpoint = "point";
    struct tutti_simulation *none = NULL;
    assert_int_equal(tutti_simulation_open(&none, &others), TUTTI_ERR_UNSUPPORTED);
    others.checkpoint = NULL;
    others.join = "localhost/fed";
    assert_int_equal(tutti_simulation_open(&none, &others), TUTTI_ERR_UNSUPPORTED);
    finish_and_free(a);
    finish_and_free(b);
    tutti_simulation_free(c);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_to_the_bit),
        cmocka_unit_test(test_what_was_put),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
