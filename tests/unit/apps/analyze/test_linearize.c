/* SPDX-License-Identifier: MIT */
#include "base/options/options.h"
#include "sim/stats.h"
#include "test.h"

#include <tutti/tutti.h>

static char warning[200];

static void note_warning(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context;
    (void)origin;
    if (level <= TUTTI_LOG_WARNING)
        snprintf(warning, sizeof warning, "%s", text);
}

static const struct tutti_log listener = {.level = TUTTI_LOG_WARNING, .write = note_warning};

/* x0' = x1, x1' = mu (1 - x0^2) x1 - x0. */
static void test_values(void **state)
{
    (void)state;
    struct tutti_run_options options = {.files = (const char *const[]){TUTTI_FMUS "/VanDerPol_fmi3.fmu"},
                                        .file_count = 1,
                                        .log = &listener,
                                        .has_at = true,
                                        .at = 2};
    struct tutti_linearization linear;
    struct tutti_run_stats stats;
    warning[0] = '\0';
    assert_ok(tutti_linearize(&options, &stats, &linear));
    assert_string_equal(warning, "");
    assert_same_double(linear.time, 2);
    assert_same_double(stats.stop, 2); /* the run ended there */
    assert_int_equal(stats.unit_count, 1);
    assert_string_equal(stats.units[0].interface, "me");
    assert_string_equal(linear.fmi, "3.0");
    assert_int_equal(linear.state_count, 2);
    assert_int_equal(linear.input_count, 0);
    assert_string_equal(linear.state_names[1], "x1");
    assert_string_equal(linear.output_names[0], "x0");
    const double *x = linear.states;
    const int rows[] = {1, 0, 1};
    const double values[] = {-2 * x[0] * x[1] - 1, 1, 1 - x[0] * x[0]};
    assert_int_equal(linear.a.starts[2], 3);
    for (int k = 0; k < 3; k++) {
        assert_int_equal(linear.a.rows[k], rows[k]);
        assert_near(linear.a.values[k], values[k], 1e-14);
    }
    assert_same_double(linear.derivatives[0], x[1]);
    assert_int_equal(linear.b.column_count, 0);
    assert_int_equal(linear.d.row_count, 2);
    assert_int_equal(linear.eigenvalue_count, 2);
    assert_near(linear.eigenvalues_re[0] + linear.eigenvalues_re[1], values[2], 1e-14);
    assert_true(linear.exact && linear.structure_known);
    tutti_linearization_fini(&linear);
    tt_stats_fini(&stats);
    assert_null(linear.states);
    tutti_linearization_fini(&linear); /* nothing left */
}

static void test_refused(void **state)
{
    (void)state;
    struct tutti_run_options options = {
        .files = (const char *const[]){TUTTI_FMUS "/VanDerPol_fmi3.fmu"}, .file_count = 1, .interface = "me"};
    struct tutti_linearization linear;
    memset(&linear, 0xff, sizeof linear);
    options.has_at = true;
    options.at = 21;
    assert_fails(tutti_linearize(&options, NULL, &linear), TUTTI_ERR_ARGUMENT, "21 is not in the run");
    assert_null(linear.states);
    options.files = (const char *const[]){TUTTI_FMUS "/VanDerPol_fmi1cs.fmu"};
    assert_fails(tutti_linearize(&options, NULL, &linear), TUTTI_ERR_UNSUPPORTED, "no Model Exchange");
    options.file_count = 0;
    assert_fails(tutti_linearize(&options, NULL, &linear), TUTTI_ERR_ARGUMENT, "no file");
    assert_int_equal(linear.state_count, 0);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(tutti_stability_name(TUTTI_STABLE), "asymptotically stable");
    assert_string_equal(tutti_stability_name(TUTTI_MARGINAL), "on the margin of stability");
    assert_string_equal(tutti_stability_name(TUTTI_UNSTABLE), "unstable");
    assert_string_equal(tutti_stability_name(TUTTI_STABILITY_UNKNOWN), "unknown");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
