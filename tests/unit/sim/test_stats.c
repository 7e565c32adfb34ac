/* SPDX-License-Identifier: MIT */
/* Statistics by name, and those of several ranks as one. */
#include "counted.h"

static void test_by_name(void **state)
{
    (void)state;
    struct tt_unit_stats units[1] = {make_unit(1000)};
    struct tutti_run_stats stats = make_stats(units, 1);
    struct tutti_statistic statistic;
    size_t count = 0;
    for (; tutti_stats_get(&stats, count, &statistic); count++) {
        assert_true(*statistic.help);
        if (statistic.kind == TUTTI_STATISTIC_TEXT)
            assert_string_equal(tutti_stats_text(&stats, statistic.name), statistic.text);
        else
            assert_same_double(tutti_stats_number(&stats, statistic.name), statistic.number);
    }
    assert_true(count > 30);
    assert_int_equal(tutti_stats_unit_count(&stats), 1);
    assert_same_double(tutti_stats_number(&stats, "steps"), (double)stats.steps);
    assert_same_double(tutti_stats_number_of_unit(&stats, 0, "do_steps"), (double)units[0].do_steps);
    assert_string_equal(tutti_stats_text_of_unit(&stats, 0, "name"), units[0].name);
    assert_string_equal(tutti_stats_text(&stats, "reasons.coupling"), stats.coupling_reason);
    assert_true(isnan(tutti_stats_number(&stats, "nothing")) && isnan(tutti_stats_number(&stats, "coupling")));
    assert_null(tutti_stats_text(&stats, "nothing"));
    assert_null(tutti_stats_text(&stats, "steps"));
    assert_true(isnan(tutti_stats_number_of_unit(&stats, 1, "do_steps")));
    assert_null(tutti_stats_text_of_unit(&stats, 1, "name"));
    assert_false(tutti_stats_get_of_unit(&stats, 1, 0, &statistic));
    struct tutti_run_stats *made;
    assert_ok(tutti_stats_make(&made));
    assert_same_double(tutti_stats_number(made, "steps"), 0);
    tutti_stats_free(made);
    tutti_stats_free(NULL);
}

static void test_ranks(void **state)
{
    (void)state;
    struct tutti_run_stats a = {.steps = 10, .stop = 1, .rejected = 3, .exchanges = 7, .most_late = 0.5, .forced = 2},
                           b = {.steps = 9, .stop = 0.9, .rejected = 4, .exchanges = 5, .most_late = 0.6, .forced = 2},
                           sum = a;
    b.terminated_by_fmu = true;
    tt_stats_start_sum(&sum);
    tt_stats_combine(&sum, &a);
    tt_stats_combine(&sum, &b);
    assert_int_equal(sum.steps, 9); /* as far as all came */
    assert_same_double(sum.stop, 0.9);
    assert_int_equal(sum.rejected, 7); /* each counts its own */
    assert_int_equal(sum.exchanges, 7);
    assert_same_double(sum.most_late, 0.6);
    assert_int_equal(sum.forced, 2); /* all count the same */
    assert_true(sum.terminated_by_fmu);
    assert_false(sum.uses_events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_name),
        cmocka_unit_test(test_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
