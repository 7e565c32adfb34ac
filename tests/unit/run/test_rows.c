/* SPDX-License-Identifier: MIT */
/* Columns and rows of made-up ranks become one result. */
#include <string.h>

#include "run/conducted.h"
#include "sim/stats.h"

static void test_order(void **state)
{
    (void)state;
    struct fixture f;
    double a = 1, b = 2, c = 3, p = 4, q = 5;
    begin(&f, 3);
    conduct(&f);
    rank_add(&f.ranks[0], 2, 0, "c.y", TUTTI_TYPE_FLOAT64, &c);
    rank_add(&f.ranks[0], TUTTI_NONE, 7, "q", TUTTI_TYPE_FLOAT64, &q);
    rank_add(&f.ranks[2], 0, 0, "a.z", TUTTI_TYPE_FLOAT64, &a);
    rank_add(&f.ranks[2], 0, 1, "a.y", TUTTI_TYPE_FLOAT64, &a);
    rank_add(&f.ranks[2], 3, 2, "d.y", TUTTI_TYPE_FLOAT64, &b);
    rank_add(&f.ranks[2], TUTTI_NONE, 6, "p[1]", TUTTI_TYPE_FLOAT64, &p);
    rank_add(&f.ranks[2], TUTTI_NONE, 6, "p[2]", TUTTI_TYPE_FLOAT64, &q);
    f.ranks[2].columns[2].negated = true;
    for (int r = 0; r < 3; r++) {
        rank_tell_columns(&f.ranks[r]);
        rank_row(&f.ranks[r], 0.5); /* rank 1 has no columns: it sends nothing */
        rank_end(&f.ranks[r], TUTTI_OK, "", 0.5);
    }
    assert_ok(offer_all(&f));
    assert_true(tt_conductor_is_done(f.conductor));
    assert_ok(tt_conductor_finish(f.conductor, NULL));
    assert_file(f.result, "time,a.z,a.y,c.y,d.y,p[1],p[2],q\n0.5,1,1,3,-2,4,5,5\n");
    end(&f);
}

/* A rank that is ahead waits; memory of the conductor does not grow. */
static void test_waits_for_slower(void **state)
{
    (void)state;
    struct fixture f;
    double x = 1, y = 10;
    begin(&f, 2);
    conduct(&f);
    rank_add(&f.ranks[0], 0, 0, "x", TUTTI_TYPE_FLOAT64, &x);
    rank_add(&f.ranks[1], 1, 0, "y", TUTTI_TYPE_FLOAT64, &y);
    rank_tell_columns(&f.ranks[0]);
    size_t columns = f.ranks[0].bytes.size;
    for (int k = 1; k < 4; k++) {
        x = k;
        rank_row(&f.ranks[0], k);
    }
    size_t row = (f.ranks[0].bytes.size - columns) / 3;
    assert_ok(offer_all(&f));
    assert_int_equal(f.ranks[0].taken, columns); /* rank 1 has not reported its columns yet */
    assert_false(exists(f.result));
    rank_tell_columns(&f.ranks[1]);
    assert_ok(offer_all(&f));
    assert_int_equal(f.ranks[0].taken, columns + row);
    rank_row(&f.ranks[1], 1);
    assert_ok(offer_all(&f));
    assert_int_equal(f.ranks[0].taken, columns + 2 * row);
    assert_near(tt_conductor_time(f.conductor), 1, 0);
    y = 20;
    rank_row(&f.ranks[1], 2);
    y = 30;
    rank_row(&f.ranks[1], 3);
    assert_ok(offer_all(&f));
    assert_int_equal(f.ranks[0].taken, f.ranks[0].bytes.size);
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_OK, "", 3);
    assert_ok(offer_all(&f));
    struct tutti_run_stats stats;
    assert_ok(tt_conductor_finish(f.conductor, &stats));
    assert_int_equal(stats.rows, 3);
    tt_stats_fini(&stats);
    assert_file(f.result, "time,x,y\n1,1,10\n2,2,20\n3,3,30\n");
    end(&f);
}

/* Both sides of an event. */
static void test_two_rows_at_one_time(void **state)
{
    (void)state;
    struct fixture f;
    double x = 1, y = 10;
    begin(&f, 2);
    conduct(&f);
    rank_add(&f.ranks[0], 0, 0, "x", TUTTI_TYPE_FLOAT64, &x);
    rank_add(&f.ranks[1], 1, 0, "y", TUTTI_TYPE_FLOAT64, &y);
    for (int r = 0; r < 2; r++) {
        x = 1, y = 10;
        rank_tell_columns(&f.ranks[r]);
        rank_row(&f.ranks[r], 1);
        x = 2, y = 20;
        rank_row(&f.ranks[r], 1);
        rank_end(&f.ranks[r], TUTTI_OK, "", 1);
    }
    assert_ok(offer_all(&f));
    assert_ok(tt_conductor_finish(f.conductor, NULL));
    assert_file(f.result, "time,x,y\n1,1,10\n1,2,20\n");
    end(&f);
}

static void test_types(void **state)
{
    (void)state;
    struct fixture f;
    const char *text = "a";
    uint8_t bytes[] = {0, 255, 16};
    struct tt_bytes binary = {.size = 1, .data = bytes};
    bool flag = true;
    int8_t small = -7;
    float single = 0.25F;
    uint64_t large = UINT64_MAX;
    double pair[2] = {1.5, 2.5};
    begin(&f, 2);
    conduct(&f);
    rank_add(&f.ranks[0], 0, 0, "text", TUTTI_TYPE_STRING, &text);
    rank_add(&f.ranks[0], 0, 1, "flag", TUTTI_TYPE_BOOLEAN, &flag);
    rank_add(&f.ranks[0], 0, 2, "binary", TUTTI_TYPE_BINARY, &binary);
    rank_add(&f.ranks[0], 0, 3, "small", TUTTI_TYPE_INT8, &small);
    rank_add(&f.ranks[1], 1, 0, "p[1]", TUTTI_TYPE_FLOAT64, &pair[0]); /* one piece */
    rank_add(&f.ranks[1], 1, 1, "p[2]", TUTTI_TYPE_FLOAT64, &pair[1]);
    rank_add(&f.ranks[1], 1, 2, "single", TUTTI_TYPE_FLOAT32, &single);
    rank_add(&f.ranks[1], 1, 3, "large", TUTTI_TYPE_UINT64, &large);
    for (int r = 0; r < 2; r++)
        rank_tell_columns(&f.ranks[r]);
    char long_text[301];
    memset(long_text, 'x', 300);
    long_text[300] = '\0';
    for (int k = 0; k < 3; k++) {
        text = k == 0 ? "a" : k == 1 ? long_text : ""; /* it grows, and shrinks */
        binary.size = (size_t)k + 1;
        flag = k == 1;
        pair[1] = k;
        for (int r = 0; r < 2; r++)
            rank_row(&f.ranks[r], k);
    }
    for (int r = 0; r < 2; r++)
        rank_end(&f.ranks[r], TUTTI_OK, "", 2);
    assert_ok(offer_all(&f));
    assert_ok(tt_conductor_finish(f.conductor, NULL));
    char expected[1000];
    snprintf(expected, sizeof expected,
             "time,text,flag,binary,small,p[1],p[2],single,large\n"
             "0,a,0,00,-7,1.5,0,0.25,18446744073709551615\n"
             "1,%s,1,00ff,-7,1.5,1,0.25,18446744073709551615\n"
             "2,,0,00ff10,-7,1.5,2,0.25,18446744073709551615\n",
             long_text);
    assert_file(f.result, expected);
    end(&f);
}

/* Rank 0 always reports the time. */
static void test_no_columns(void **state)
{
    (void)state;
    struct fixture f;
    begin(&f, 2);
    conduct(&f);
    for (int r = 0; r < 2; r++) {
        rank_tell_columns(&f.ranks[r]);
        rank_row(&f.ranks[r], 1);
        rank_row(&f.ranks[r], 2);
        rank_end(&f.ranks[r], TUTTI_OK, "", 2);
    }
    assert_ok(offer_all(&f));
    assert_ok(tt_conductor_finish(f.conductor, NULL));
    assert_file(f.result, "time\n1\n2\n");
    end(&f);
}

static void test_nothing_recorded(void **state)
{
    (void)state;
    for (int how = 0; how < 2; how++) {
        struct fixture f;
        const char *none = "none";
        begin(&f, 2);
        f.options.records = &none;
        f.options.record_count = how == 0;
        assert_ok(tt_conductor_new(&f.conductor, &f.options, how == 0 ? f.result : NULL, 2));
        for (int r = 0; r < 2; r++) {
            assert_ok(tt_record_open_sink(&f.ranks[r].sink, &f.ranks[r].fabric, "plant", NULL, NULL, 0, false));
            rank_row(&f.ranks[r], 1); /* it is not sent */
            rank_end(&f.ranks[r], TUTTI_OK, "", 1);
        }
        assert_ok(offer_all(&f));
        assert_true(tt_conductor_is_done(f.conductor));
        assert_ok(tt_conductor_finish(f.conductor, NULL));
        assert_false(exists(f.result));
        end(&f);
    }
}

/* The one warning that a run in one process gives. */
static void test_nan(void **state)
{
    (void)state;
    struct fixture f;
    double x = NAN, y = NAN;
    begin(&f, 2);
    conduct(&f);
    rank_add(&f.ranks[0], 1, 0, "x", TUTTI_TYPE_FLOAT64, &x);
    rank_add(&f.ranks[1], 0, 0, "y", TUTTI_TYPE_FLOAT64, &y);
    for (int r = 0; r < 2; r++) {
        rank_tell_columns(&f.ranks[r]);
        rank_row(&f.ranks[r], 1);
        rank_row(&f.ranks[r], 2);
        rank_end(&f.ranks[r], TUTTI_OK, "", 1);
    }
    assert_ok(offer_all(&f));
    assert_ok(tt_conductor_finish(f.conductor, NULL));
    assert_string_equal(f.said, "1 plant: 'y' is not a number (NaN) at t = 1; going on\n");
    end(&f);
}

/* The result ends with the last row that all have. */
static void test_lost_rank(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    begin(&f, 2);
    conduct(&f);
    tell_two(&f, &x, 5, 2);
    assert_ok(offer_all(&f));
    assert_int_equal(tt_conductor_has_failed(f.conductor), false);
    (void)!tt_fail(TUTTI_ERR_LOST, "worker 1 died");
    tt_conductor_mark_lost(f.conductor, 1, TUTTI_ERR_LOST);
    tt_conductor_mark_lost(f.conductor, 1, TUTTI_ERR_IO); /* it cannot be lost twice */
    assert_true(tt_conductor_has_ended(f.conductor, 1));
    assert_false(tt_conductor_has_ended(f.conductor, 0));
    assert_true(tt_conductor_has_failed(f.conductor));
    rank_end(&f.ranks[0], TUTTI_ERR_STOPPED, "another rank ended the run", 5);
    assert_ok(offer_all(&f));
    assert_int_equal(f.ranks[0].taken, f.ranks[0].bytes.size);
    assert_true(tt_conductor_is_done(f.conductor));
    struct tutti_run_stats stats;
    assert_fails(tt_conductor_finish(f.conductor, &stats), TUTTI_ERR_LOST, "worker 1 died");
    assert_int_equal(stats.rows, 2);
    assert_int_equal(stats.ranks, 2);
    assert_int_equal(stats.unit_count, 0);
    assert_non_null(stats.coupling);
    tt_stats_fini(&stats);
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

/* The rank that is ahead ends; what it brought is written when the other has it, too, and no more. */
static void test_failed_ahead(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    begin(&f, 2);
    conduct(&f);
    tell_two(&f, &x, 2, 1);
    rank_end(&f.ranks[0], TUTTI_ERR_FMU, "x: the FMU said no", 2);
    assert_ok(offer_all(&f)); /* row 2 is here, and its rank has ended */
    assert_true(tt_conductor_has_ended(f.conductor, 0));
    for (int k = 2; k <= 4; k++) {
        x = 10 * k + 1;
        rank_row(&f.ranks[1], k);
    }
    rank_end(&f.ranks[1], TUTTI_OK, "", 4);
    assert_ok(offer_all(&f));
    assert_true(tt_conductor_is_done(f.conductor));
    assert_fails(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_FMU, "x: the FMU said no");
    assert_file(f.result, "time,x,y\n1,10,11\n2,20,21\n");
    end(&f);
}

/* A rejected run must not destroy an earlier result. */
static void test_refused(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    begin(&f, 3);
    conduct(&f);
    scratch_write(&f.scratch, "out.csv", "earlier\n", 8);
    tell_two(&f, &x, 2, 2);
    rank_end(&f.ranks[0], TUTTI_OK, "", 2);
    rank_end(&f.ranks[1], TUTTI_OK, "", 2);
    rank_end(&f.ranks[2], TUTTI_ERR_ARGUMENT, "record: no variable fits", 0);
    assert_ok(offer_all(&f));
    assert_true(tt_conductor_is_done(f.conductor));
    assert_fails(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_ARGUMENT, "no variable fits");
    assert_file(f.result, "earlier\n");
    end(&f);
}

static void test_disagreement(void **state)
{
    (void)state;
    struct fixture f;
    double x;
    begin(&f, 2);
    conduct(&f);
    tell_two(&f, &x, 1, 1);
    rank_row(&f.ranks[0], 2);
    rank_row(&f.ranks[1], 2.5);
    assert_fails(offer_all(&f), TUTTI_ERR_FORMAT, "ranks disagree about the time of row 1: 2, but 2.5 on rank 1");
    assert_null(strstr(tutti_err_message(), "fault in Tutti")); /* an FMU may have caused it */
    assert_non_null(strstr(tutti_err_message(), "code of an FMU"));
    rank_end(&f.ranks[0], TUTTI_ERR_STOPPED, "stopped", 2);
    rank_end(&f.ranks[1], TUTTI_ERR_STOPPED, "stopped", 2);
    assert_ok(offer_all(&f));
    assert_fails(tt_conductor_finish(f.conductor, NULL), TUTTI_ERR_FORMAT, "ranks disagree");
    assert_file(f.result, "time,x,y\n1,10,11\n");
    end(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_waits_for_slower),
        cmocka_unit_test(test_two_rows_at_one_time),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_no_columns),
        cmocka_unit_test(test_nothing_recorded),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_lost_rank),
        cmocka_unit_test(test_failed_ahead),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_disagreement),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
