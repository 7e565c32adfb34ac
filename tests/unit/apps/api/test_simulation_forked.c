/* SPDX-License-Identifier: MIT */
/* Ways back in a simulation whose FMUs save no state: they are taken back by forking (option rollback). */
#include "stepped.h"

#include "base/module.h"
#include "sim/stats.h"

/* Two units that follow each other. */
static struct tutti_run_options ring(const char *version)
{
    static char a[512], b[512];
    static const char *const connect[] = {"a.x=b.u", "b.x=a.u"}, *const set[] = {"a.x=2"};
    static const char *const files[] = {a, b};
    snprintf(a, sizeof a, "a=%s/Lacking_fmi%s.fmu", TUTTI_FMUS, version);
    snprintf(b, sizeof b, "b=%s/Lacking_fmi%s.fmu", TUTTI_FMUS, version);
    return (struct tutti_run_options){.files = files,
                                      .file_count = 2,
                                      .connects = connect,
                                      .connect_count = 2,
                                      .sets = set,
                                      .set_count = 1,
                                      .has_step = true,
                                      .step = 0.05,
                                      .has_stop = true,
                                      .stop = 2,
                                      .coupling = "jacobi",
                                      .rollback = "fork"};
}

/* Points in any order, many at once, freed in any order. */
static void test_many_points(void **state)
{
    (void)state;
    enum { POINTS = 20 };
    static const char *const versions[] = {"1cs", "2", "3"};
    for (size_t v = 0; v < LENGTH(versions); v++) {
        struct tutti_run_options options = ring(versions[v]);
        struct tutti_simulation *simulation = start_simulation(&options);
        struct tutti_point *points[POINTS] = {0};
        double values[POINTS + 1];
        size_t x = number_of(simulation, "b.x");
        for (int n = 0; n <= POINTS; n++) {
            if (n < POINTS)
                assert_ok(tutti_simulation_save(simulation, &points[n]));
            assert_ok(tutti_simulation_get(simulation, x, &values[n], 1));
            assert_ok(tutti_simulation_step(simulation));
        }
        assert_true(values[POINTS] > values[1]);
        for (int k = 0; k < 2 * POINTS; k++) {
            int n = (k * 17 + 5) % POINTS;
            double value;
            assert_ok(tutti_simulation_restore(simulation, points[n]));
            assert_ok(tutti_simulation_get(simulation, x, &value, 1));
            assert_same_double(value, values[n]);
            assert_ok(tutti_simulation_step(simulation));
            assert_ok(tutti_simulation_get(simulation, x, &value, 1));
            assert_same_double(value, values[n + 1]);
        }
        for (int n = 0; n < POINTS; n += 2)
            tutti_point_free(simulation, points[n]);
        assert_ok(tutti_simulation_restore(simulation, points[7]));
        assert_ok(tutti_simulation_step(simulation));
        finish_and_free(simulation); /* with those that are left */
    }
}

/* A point that is saved again and again takes the place of what it was. */
static void test_point_is_used_again(void **state)
{
    (void)state;
    struct tutti_run_options options = ring("2");
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_point *point = NULL;
    size_t x = number_of(simulation, "b.x");
    for (int n = 0; n < 20; n++) {
        double before, after;
        assert_ok(tutti_simulation_save(simulation, &point));
        assert_ok(tutti_simulation_get(simulation, x, &before, 1));
        assert_ok(tutti_simulation_step(simulation));
        assert_ok(tutti_simulation_restore(simulation, point));
        assert_ok(tutti_simulation_get(simulation, x, &after, 1));
        assert_same_double(after, before);
        assert_ok(tutti_simulation_step(simulation));
    }
    finish_and_free(simulation);
}

/* An incomplete installation is reported. */
static void test_program_that_is_missing(void **state)
{
    (void)state;
    char *path;
    assert_fails(tt_module_find_program(&path, "tutti_nothing"), TUTTI_ERR_LOAD,
                 "tutti_nothing, which is a part of Tutti");
    assert_null(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_points),
        cmocka_unit_test(test_point_is_used_again),
        cmocka_unit_test(test_program_that_is_missing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
