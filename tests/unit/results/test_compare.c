/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdbool.h>

#include "results/compare.h"
#include "scratch.h"

static struct scratch scratch;
static struct tt_compare_options options;
static struct tutti_result *result, *reference;
static struct tt_comparison comparison;

/* Formats may rely on being asked in order. */
static enum tutti_err read_in_order(struct tutti_result *self, const size_t *which, size_t count, double *const *values)
{
    for (size_t i = 1; i < count; i++)
        assert_true(which[i] > which[i - 1]);
    return tt_csv_result_format.read(self, which, count, values);
}

static struct tt_result_format in_order;

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    options = (struct tt_compare_options){
        .rtol = 1e-3, .atol = NAN, .ttol = NAN, .start = NAN, .stop = NAN, .memory = 1 << 20};
    result = reference = NULL;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    tt_compare_fini(&comparison);
    tutti_result_free(result);
    tutti_result_free(reference);
    scratch_fini(&scratch);
    return 0;
}

static enum tutti_err try_compare(const char *text, const char *reference_text)
{
    tt_compare_fini(&comparison);
    tutti_result_free(result);
    tutti_result_free(reference);
    result = reference = NULL;
    assert_ok(tutti_result_open(&result, scratch_write(&scratch, "a.csv", text, strlen(text)), NULL));
    assert_ok(
        tutti_result_open(&reference, scratch_write(&scratch, "r.csv", reference_text, strlen(reference_text)), NULL));
    in_order = tt_csv_result_format;
    in_order.read = read_in_order;
    result->format = reference->format = &in_order;
    return tt_compare(&comparison, result, reference, &options);
}

static bool compare(const char *text, const char *reference_text)
{
    assert_ok(try_compare(text, reference_text));
    return comparison.agree;
}

static void test_worst_first(void **state)
{
    (void)state;
    assert_false(compare("time,a,b,c,d\n0,1,1,1,5\n1,2,2,2,5\n", "time,d,c,b,a\n0,5,1,1,1\n1,5,2,2.001,2.1\n"));
    assert_int_equal(comparison.count, 4);
    assert_int_equal(comparison.disagreements, 1);
    static const char *const names[] = {"a", "b", "c", "d"};
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(comparison.variables[i].name, names[i]);
        assert_int_equal(comparison.variables[i].agrees, i > 0);
    }
    const struct tt_distance *worst = &comparison.variables[0].worst;
    assert_near(worst->error, 0.1, 1e-15);
    assert_near(worst->allowed, 1.1e-3 + 2.1e-7, 1e-15);
    assert_near(worst->share, 0.1 / (1.1e-3 + 2.1e-7), 1e-9);
    assert_true(worst->time == 1 && worst->result == 2 && worst->reference == 2.1);
    assert_true(comparison.variables[3].held && !comparison.variables[1].held);
}

/* The tolerance is relative to the range of the reference; --atol is added. */
static void test_tolerances(void **state)
{
    (void)state;
    static const char a[] = "time,x\n0,0.05\n1,100\n2,0.05\n", r[] = "time,x\n0,0\n1,100\n2,0\n";
    assert_true(compare(a, r));
    assert_near(comparison.variables[0].worst.share, 0.05 / 0.10001, 1e-12);
    /* Not by its largest value. */
    static const char high[] = "time,x\n0,1000.5\n1,1001\n2,1000\n3,1000\n",
                      low[] = "time,x\n0,1000.5\n1,1000\n2,1001\n3,1000\n";
    assert_false(compare(high, low));
    assert_near(comparison.variables[0].worst.allowed, 1e-3 + 1.001e-4, 1e-12);
    options.rtol = 1e-4;
    options.atol = 0.03;
    assert_false(compare(a, r));
    options.atol = 0.04;
    assert_true(compare(a, r));
    options.atol = NAN;
    options.rtol = 1e-4;
    assert_false(compare(a, r));
    /* The range of what is compared, infinities aside. */
    options.rtol = 1e-3;
    options.stop = 0.5;
    assert_true(compare("time,x\n0,0\n0.5,1\n1,inf\n", "time,x\n0,0\n0.5,1.0009\n1,inf\n"));
    assert_false(compare("time,x\n0,0\n0.5,1\n1,100\n", "time,x\n0,0\n0.5,1.003\n1,100\n"));
    options.stop = NAN;
    assert_false(compare("time,x\n0,0\n0.5,1\n1,inf\n", "time,x\n0,0\n0.5,1.003\n1,inf\n"));
    /* Of what does not move, the rounding of single precision. */
    assert_true(compare("time,x\n0,300.25\n1,300.25\n", "time,x\n0,300.25001\n1,300.25001\n"));
    assert_false(compare("time,x\n0,300.25\n1,300.25\n", "time,x\n0,300.2504\n1,300.2504\n"));
    /* Nothing but rounding. */
    assert_true(compare("time,x\n0,1e-16\n1,-1e-15\n", "time,x\n0,0\n1,0\n"));
    assert_false(compare("time,x\n0,1e-12\n1,-1e-12\n", "time,x\n0,0\n1,0\n"));
}

/* Whole numbers that are held are counts, states, or identifiers: none of them is nearly another one. */
static void test_whole_numbers(void **state)
{
    (void)state;
    assert_false(compare("time,n\n0,0\n1,0\n2,9000\n3,9001\n", "time,n\n0,0\n1,0\n2,9000\n3,9000\n"));
    assert_true(comparison.variables[0].worst.error == 1 && comparison.variables[0].worst.allowed == 0);
    options.atol = 1;
    assert_true(compare("time,n\n0,0\n1,0\n2,9000\n3,9001\n", "time,n\n0,0\n1,0\n2,9000\n3,9000\n"));
    options.atol = NAN;
    /* Those that a double does not hold. */
    assert_false(compare("time,n\n0,9007199254740993\n1,9007199254740993\n",
                         "time,n\n0,9007199254740992\n1,9007199254740992\n"));
    assert_string_equal(comparison.variables[0].result_text, "9007199254740993");
    assert_string_equal(comparison.variables[0].reference_text, "9007199254740992");
    assert_true(compare("time,n\n0,9007199254740993\n1,9007199254740993\n",
                        "time,n\n0,+9007199254740993\n1,09007199254740993\n"));
    assert_false(compare("time,n\n0,18446744073709551615\n1,18446744073709551615\n",
                         "time,n\n0,18446744073709551614\n1,18446744073709551614\n"));
}

static void test_time_tolerance(void **state)
{
    (void)state;
    static const char a[] = "time,x\n0,0\n5.000005,0\n5.000005,1\n10,1\n", r[] = "time,x\n0,0\n5,0\n5,1\n10,1\n";
    assert_true(compare(a, r));
    assert_near(comparison.ttol, 1e-5, 1e-20);
    options.ttol = 1e-6;
    assert_false(compare(a, r));
    assert_true(comparison.ttol == 1e-6);
    options.ttol = 0;
    assert_true(compare(r, r));
}

static void test_range(void **state)
{
    (void)state;
    static const char r[] = "time,x\n0,0\n1,1\n2,2\n3,3\n";
    /* Longer is fine, shorter is not. */
    assert_true(compare("time,x\n-1,7\n0,0\n3,3\n4,9\n", r));
    assert_true(comparison.covered && comparison.start == 0 && comparison.stop == 3);
    assert_false(compare("time,x\n0,0\n2,2\n", r));
    assert_true(!comparison.covered && comparison.disagreements == 0 && comparison.count == 1);
    assert_false(compare("time,x\n0.5,0.5\n3,3\n", r));
    assert_false(comparison.covered);
    assert_true(compare("time,x\n0.000001,0\n2.999999,3\n", r)); /* rounding */
    /* No time in common. */
    assert_false(compare("time,x\n5,0\n6,2\n", r));
    assert_true(!comparison.covered && comparison.count == 0);
    /* A part. */
    options.stop = 2;
    assert_true(compare("time,x\n0,0\n2,2\n", r));
    options.start = 0.5;
    assert_true(compare("time,x\n0,8\n0.4,8\n0.5,0.5\n1.5,1.5\n1.7,1.7\n2.1,2.1\n", r));
    assert_true(comparison.start == 0.5 && comparison.stop == 2);
    options.start = options.stop = 1.5;
    assert_false(compare("time,x\n0,0.5\n3,3.5\n", r));
    assert_true(comparison.variables[0].worst.time == 1.5 && comparison.variables[0].worst.error == 0.5);
    options.start = 4;
    options.stop = NAN;
    assert_fails(try_compare(r, r), TUTTI_ERR_ARGUMENT, "r.csv goes from 0 to 3");
}

static void test_names(void **state)
{
    (void)state;
    static const char a[] = "time,car.x,car.y,extra\n0,1,2,3\n", r[] = "time,missing,car.y,car.x\n0,1,2,1\n";
    assert_true(compare(a, r));
    assert_int_equal(comparison.count, 2);
    assert_int_equal(comparison.only_result_count, 1);
    assert_string_equal(comparison.only_result[0], "extra");
    assert_int_equal(comparison.only_reference_count, 1);
    assert_string_equal(comparison.only_reference[0], "missing");
    options.strict = true;
    assert_false(compare(a, r));
    options.patterns = (const char *const[]){"car.*", "*.x"};
    options.pattern_count = 2;
    assert_true(compare(a, r));
    assert_int_equal(comparison.only_result_count + comparison.only_reference_count, 0);
    options.patterns = (const char *const[]){"car.*", "car.z"};
    assert_fails(try_compare(a, r), TUTTI_ERR_ARGUMENT,
                 "no variable of either file fits 'car.z'; did you mean 'car.x'?");
    options.patterns = (const char *const[]){"extra", "missing"};
    assert_fails(try_compare(a, r), TUTTI_ERR_FORMAT, "no variable in common");
    options.pattern_count = 0;
    assert_fails(try_compare("time,ball.h\n0,1\n", "time,q,balk.h\n0,1,1\n"), TUTTI_ERR_FORMAT,
                 "no variable in common: the reference has 'balk.h', the result 'ball.h'; are they meant");
    assert_fails(try_compare("time\n0\n", "time,q\n0,1\n"), TUTTI_ERR_FORMAT, "the reference has 'q'");
    assert_fails(try_compare("time\n0\n", "time\n0\n"), TUTTI_ERR_FORMAT, "no variable in common");
}

static void test_units_and_texts(void **state)
{
    (void)state;
    static const char a[] = "time,v [m/s],w,s\n0,1,2,a\n", r[] = "time,v [km/h],w [m],s\n0,1,2,b\n";
    assert_false(compare(a, r));
    assert_int_equal(comparison.unit_count, 1);
    assert_string_equal(comparison.units[0].name, "v");
    assert_string_equal(comparison.units[0].result, "m/s");
    assert_string_equal(comparison.units[0].reference, "km/h");
    assert_int_equal(comparison.text_count, 0);
    assert_int_equal(comparison.count, 3);
    assert_int_equal(comparison.disagreements, 1);
    assert_string_equal(comparison.variables[0].result_text, "a");
    assert_string_equal(comparison.variables[0].reference_text, "b");
    static const char same[] = "time,v [km/h],s\n0,1,\"a,\"\"b\"\"\"\n1,1,c\n",
                      once[] = "time,v,s\n0,1,\"a,\"\"b\"\"\"\n0.5,1,\"a,\"\"b\"\"\"\n1,1,c\n";
    assert_true(compare(same, once));
    assert_false(compare("time,s\n0,a\n1,a\n2,b\n", "time,s\n0,a\n1,b\n2,b\n"));
    assert_true(comparison.variables[0].worst.time >= 1);
    assert_false(compare("time,s\n0,1\n", "time,s\n0,a\n"));
    options.strict = true;
    assert_false(compare("time,v [m/s]\n0,1\n", "time,v [km/h]\n0,1\n"));
}

static void test_units_of_time(void **state)
{
    (void)state;
    assert_true(compare("time [s],x\n0,1\n1,2\n", "time,x\n0,1\n1,2\n"));
    assert_int_equal(comparison.unit_count, 0);
    assert_true(compare("time [ms],x\n0,1\n1,2\n", "time [s],x\n0,1\n1,2\n"));
    assert_int_equal(comparison.unit_count, 1);
    assert_string_equal(comparison.units[0].name, "time");
    assert_string_equal(comparison.units[0].result, "ms");
}

/* A number in the reference must not be a text. */
static void test_text_for_a_number(void **state)
{
    (void)state;
    assert_false(compare("time,x,y\n0,1,1\n1,2,ERR\n2,3,1\n", "time,x,y\n0,1,1\n1,2,1\n2,3,1\n"));
    assert_int_equal(comparison.disagreements, 1);
    assert_int_equal(comparison.text_count, 0);
    assert_string_equal(comparison.variables[0].name, "y");
    assert_true(comparison.variables[0].worst.time == 1);
    assert_true(comparison.variables[0].worst.reference == 1);
    assert_true(compare("time,x,y\n0,1,ERR\n", "time,x,y\n0,1,nan\n"));
}

static void test_empty(void **state)
{
    (void)state;
    assert_fails(try_compare("time,x\n", "time,x\n0,1\n"), TUTTI_ERR_FORMAT, "a.csv has no rows");
    assert_fails(try_compare("time,x\n0,1\n", "time,x\n"), TUTTI_ERR_FORMAT, "r.csv has no rows");
}

/* Rows between the first and the last of one time are steps of an event iteration. */
static void test_event_rows(void **state)
{
    (void)state;
    assert_true(
        compare("time,x,y\n0,0,1\n1,0,2\n1,7,9\n1,-7,9\n1,1,3\n2,1,4\n", "time,x,y\n0,0,1\n1,0,2\n1,1,3\n2,1,4\n"));
    assert_true(comparison.variables[0].worst.share == 0 && comparison.variables[1].worst.share == 0);
    assert_false(compare("time,x\n0,0\n1,0\n1,7\n2,1\n", "time,x\n0,0\n1,0\n1,1\n2,1\n"));
}

static void test_held(void **state)
{
    (void)state;
    /* One file has rows at the change only. */
    assert_true(compare("time,n\n0,0\n5,0\n10,1\n15,1\n", "time,n\n0,0\n10,1\n15,1\n"));
    assert_true(comparison.variables[0].held);
    /* Known to be whole in one file only: a line in both. */
    assert_true(compare("time,n\n0,0\n5,0\n10,0\n", "time,n\n0,0\n5,0.0005\n10,0.5\n") == false);
    assert_false(comparison.variables[0].held);
}

/* Many variables in small batches are what one batch gives; the reference has them in another order. */
static void test_batches(void **state)
{
    (void)state;
    enum { VARIABLES = 57, ROWS = 40 };
    static char a[VARIABLES * ROWS * 24], r[VARIABLES * ROWS * 24];
    char *p = a, *q = r;
    for (int row = -1; row < ROWS; row++) {
        p += sprintf(p, row < 0 ? "time" : "%d", row);
        q += sprintf(q, row < 0 ? "time" : "%d", row);
        for (int i = 0; i < VARIABLES; i++) {
            int k = (i * 10 + 3) % VARIABLES;
            p += row < 0 ? sprintf(p, ",x%d", i) : sprintf(p, ",%d.5", i + row);
            q += row < 0 ? sprintf(q, ",x%d", k) : sprintf(q, ",%d.5%02d", k + row, k);
        }
        p += sprintf(p, "\n");
        q += sprintf(q, "\n");
    }
    options.atol = 0.0305;
    options.rtol = 0;
    for (size_t memory = 0; memory < 100000; memory = 3 * memory + 700) {
        options.memory = memory;
        assert_false(compare(a, r));
        assert_int_equal(comparison.count, VARIABLES);
        assert_int_equal(comparison.disagreements, VARIABLES - 31);
        for (int i = 0; i < VARIABLES; i++) {
            char name[20];
            snprintf(name, sizeof name, "x%d", VARIABLES - 1 - i);
            assert_string_equal(comparison.variables[i].name, name);
            assert_near(comparison.variables[i].worst.error, (VARIABLES - 1 - i) * 1e-3, 1e-12);
        }
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_worst_first),   TEST(test_tolerances), TEST(test_whole_numbers),   TEST(test_time_tolerance),
        TEST(test_range),         TEST(test_names),      TEST(test_units_and_texts), TEST(test_text_for_a_number),
        TEST(test_units_of_time), TEST(test_empty),      TEST(test_event_rows),      TEST(test_held),
        TEST(test_batches),
    };
    return cmocka_run_group_tests_name("record/compare", tests, NULL, NULL);
}
