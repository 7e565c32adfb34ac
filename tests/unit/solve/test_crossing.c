/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "solve/crossing.h"

/* sin and a line, which has no value beyond `wall`. */
struct curves {
    double line_at, wall;
    int reads;
};

static enum tutti_err read_curves(void *context, double t, double *excess, size_t *bad)
{
    struct curves *curves = context;
    curves->reads++;
    excess[0] = -sin(t);
    excess[1] = t - curves->line_at;
    *bad = t > curves->wall ? 1 : 2;
    return TUTTI_OK;
}

static enum tutti_err no_value(void *context, double t, size_t bad)
{
    (void)context;
    (void)t;
    return tt_fail(TUTTI_ERR_FMU, "curve %zu has no value", bad);
}

static double search(struct curves *curves, double left, double right, bool near_zero, size_t *found)
{
    struct tt_crossing crossing = {.context = curves, .read = read_curves, .no_value = no_value, .shortest = 1e-9};
    double at;
    assert_ok(tt_crossing_init(&crossing, 2));
    assert_ok(tt_crossing_search(&crossing, left, right, near_zero, &at));
    *found = crossing.found;
    tt_crossing_fini(&crossing);
    return at;
}

static void the_first_of_several_is_found(void **state)
{
    (void)state;
    struct curves curves = {.line_at = 3.5, .wall = 100};
    const double pi = 3.14159265358979323846;
    size_t found;
    assert_true(isinf(search(&curves, 0.5, 3, false, &found)));
    double at = search(&curves, 0.5, 4, false, &found);
    assert_near(at, pi, 1e-14);
    assert_true(sin(at) < 0); /* the right side of it */
    assert_int_equal(found, 0);
    curves.line_at = 1;
    assert_near(search(&curves, 0.5, 4, false, &found), 1, 1e-15);
    assert_int_equal(found, 1);
    assert_same_double(search(&curves, 2, 4, false, &found), 2); /* outside from the beginning */
}

/* It crosses and returns: at the end nothing is visible. */
static void the_beginning_is_looked_at_after_an_event(void **state)
{
    (void)state;
    struct curves curves = {.line_at = 100, .wall = 200};
    const double pi = 3.14159265358979323846;
    size_t found;
    assert_true(isinf(search(&curves, 3, 9, false, &found)));
    assert_near(search(&curves, 3, 9, true, &found), pi, 1e-14);
}

static void a_long_step_is_looked_at_in_between(void **state)
{
    (void)state;
    struct curves curves = {.line_at = 100, .wall = 200};
    const double pi = 3.14159265358979323846;
    struct tt_crossing crossing = {.context = &curves, .read = read_curves, .no_value = no_value, .longest = 2.5};
    double at;
    assert_ok(tt_crossing_init(&crossing, 2));
    assert_ok(tt_crossing_search(&crossing, 0.5, 9, false, &at));
    assert_near(at, pi, 1e-14); /* it is outside from pi to 2 pi */
    curves.reads = 0;
    assert_ok(tt_crossing_search(&crossing, 0.5, 2.9, false, &at));
    assert_true(isinf(at) && curves.reads == 1);
    tt_crossing_fini(&crossing);
}

static void a_wall_after_an_event_is_none(void **state)
{
    (void)state;
    struct curves curves = {.line_at = 1, .wall = 1.5};
    size_t found;
    assert_near(search(&curves, 0.5, 3, false, &found), 1, 1e-15);
    struct tt_crossing crossing = {.context = &curves, .read = read_curves, .no_value = no_value};
    double at;
    curves.line_at = 2;
    assert_ok(tt_crossing_init(&crossing, 2));
    assert_fails(tt_crossing_search(&crossing, 0.5, 3, false, &at), TUTTI_ERR_FMU, "curve 1 has no value");
    tt_crossing_fini(&crossing);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_of_several_is_found),
        cmocka_unit_test(the_beginning_is_looked_at_after_an_event),
        cmocka_unit_test(a_long_step_is_looked_at_in_between),
        cmocka_unit_test(a_wall_after_an_event_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
