/* SPDX-License-Identifier: MIT */
/* What comes out of a feed against all that was put in. */
#include "test.h"

#include <math.h>
#include <pthread.h>

#include "run/live/feed.h"

static void put(struct tt_feed *feed, uint64_t row)
{
    double t = 0.5 * (double)row;
    tt_feed_add(feed, t, (double[]){sin(t), (double)row});
}

/* Every bar has the least, greatest and last of its rows, and the rows follow those of the block before. */
static uint64_t check(const struct tt_feed_block *block, uint64_t next)
{
    assert_int_equal(block->first_row, next);
    assert_in_range(block->count, 1, block->bars[0].rows > 1 ? TUTTI_FEED_COARSE : TUTTI_FEED_ROWS);
    for (size_t b = 0; b < block->count; b++) {
        const struct tt_bar *bar = &block->bars[b];
        double least = INFINITY, greatest = -INFINITY;
        uint64_t end = next + bar->rows;
        for (uint64_t row = next; row < end; row++) {
            least = fmin(least, sin(0.5 * (double)row));
            greatest = fmax(greatest, sin(0.5 * (double)row));
        }
        assert_true(bar->first == 0.5 * (double)next && bar->last == 0.5 * (double)(end - 1));
        assert_true(bar->least[0] == least && bar->greatest[0] == greatest);
        assert_true(bar->least[1] == (double)next && bar->greatest[1] == (double)(end - 1));
        assert_true(bar->final[0] == sin(bar->last) && bar->final[1] == (double)(end - 1));
        next = end;
    }
    return next;
}

static void test_thins(void **state)
{
    (void)state;
    enum { MOST = TUTTI_FEED_ROWS };
    static const unsigned portions[] = {1, MOST - 1, MOST, MOST + 1,   2 * MOST - 1,  2 * MOST + 1,
                                        3, 100000,   1,    256 * MOST, 256 * MOST + 1};
    bool was_thinned = false;
    struct tt_feed *feed = NULL;
    uint64_t row = 0, next = 0;
    assert_int_equal(tt_feed_new(&feed, 2, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    assert_null(tt_feed_next_block(feed));
    for (size_t i = 0; i < sizeof portions / sizeof *portions; i++) {
        for (unsigned k = 0; k < portions[i]; k++)
            put(feed, row++);
        const struct tt_feed_block *block = tt_feed_next_block(feed);
        assert_non_null(block);
        assert_int_equal(block->rows, portions[i]);
        bool thinned = block->bars[0].rows > 1;
        assert_true(thinned || portions[i] <= MOST);
        assert_true(!thinned || was_thinned || portions[i] > MOST);
        was_thinned = thinned;
        next = check(block, next);
        assert_null(tt_feed_next_block(feed));
    }
    tt_feed_free(feed);
}

/* After a fast spell bars are as fine as they can be again, a few blocks later; and a block is never coarser than it was. */
static void test_recovers(void **state)
{
    (void)state;
    struct tt_feed *feed = NULL;
    uint64_t row = 0, next = 0, before = UINT64_MAX;
    assert_int_equal(tt_feed_new(&feed, 2, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    while (row < 1000 * TUTTI_FEED_ROWS)
        put(feed, row++);
    next = check(tt_feed_next_block(feed), next);
    for (int i = 0; i < 16; i++) {
        for (int k = 0; k < (i == 15 ? 1 : 2) * TUTTI_FEED_ROWS; k++)
            put(feed, row++);
        const struct tt_feed_block *block = tt_feed_next_block(feed);
        next = check(block, next);
        assert_true(block->bars[0].rows <= before);
        before = block->bars[0].rows;
        assert_true(i < 13 || before == 8);
    }
    put(feed, row++);
    put(feed, row++);
    assert_int_equal(tt_feed_next_block(feed)->count, 2);
    tt_feed_free(feed);
}

/* Values that are written where the feed says are the same as those that it copies. */
static void test_in_place(void **state)
{
    (void)state;
    struct tt_feed *feed = NULL;
    uint64_t row = 0, next = 0;
    assert_int_equal(tt_feed_new(&feed, 2, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    double *room = tt_feed_first_row(feed);
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < 1 + 300 * i; k++, row++) {
            double t = 0.5 * (double)row;
            room[0] = sin(t);
            room[1] = (double)row;
            room = tt_feed_add(feed, t, row % 5 ? room : (const double[]){sin(t), (double)row});
        }
        next = check(tt_feed_next_block(feed), next);
    }
    assert_int_equal(next, row);
    tt_feed_free(feed);
}

static void test_no_numbers(void **state)
{
    (void)state;
    struct tt_feed *feed = NULL;
    assert_int_equal(tt_feed_new(&feed, 2, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    for (int i = 0; i < 2 * TUTTI_FEED_ROWS; i++) /* eight rows a bar: every other is NaN */
        tt_feed_add(feed, i, (double[]){i % 2 ? (double)i : NAN, NAN});
    const struct tt_feed_block *block = tt_feed_next_block(feed);
    for (size_t b = 0; b < block->count; b++) {
        const struct tt_bar *bar = &block->bars[b];
        assert_true(bar->least[0] == (double)(8 * b + 1) && bar->greatest[0] == (double)(8 * b + 7));
        assert_true(isnan(bar->least[1]) && isnan(bar->greatest[1]));
    }
    tt_feed_free(feed);
}

static void test_no_columns(void **state)
{
    (void)state;
    struct tt_feed *feed = NULL;
    assert_int_equal(tt_feed_new(&feed, 0, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    for (int i = 0; i < 1000; i++)
        tt_feed_add(feed, i, (double[]){0});
    assert_int_equal(tt_feed_next_block(feed)->rows, 1000);
    tt_feed_free(feed);
    tt_feed_free(NULL);
}

/* ---- from thread to thread ---- */

enum { MANY = 300000 };

static void *put_many(void *context)
{
    for (uint64_t row = 0; row < MANY; row++)
        put(context, row);
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    struct tt_feed *feed = NULL;
    pthread_t thread;
    uint64_t next = 0;
    assert_int_equal(tt_feed_new(&feed, 2, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    assert_int_equal(pthread_create(&thread, NULL, put_many, feed), 0);
    while (next < MANY) {
        const struct tt_feed_block *block = tt_feed_next_block(feed);
        if (block)
            next = check(block, next);
    }
    pthread_join(thread, NULL);
    assert_null(tt_feed_next_block(feed));
    tt_feed_free(feed);
}

/* What one feed gives goes into the next, which is emptied rarely: nothing is lost on the way. */
static void test_one_after_the_other(void **state)
{
    (void)state;
    struct tt_feed *fast = NULL, *slow = NULL;
    uint64_t row = 0;
    assert_int_equal(tt_feed_new(&fast, 2, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    assert_int_equal(tt_feed_new(&slow, 2, TUTTI_FEED_ROWS, TUTTI_FEED_COARSE), TUTTI_OK);
    for (unsigned round = 0; round < 40; round++) {
        for (unsigned k = 0; k < 100 * (round % 7 + 1); k++)
            put(fast, row++);
        const struct tt_feed_block *block = tt_feed_next_block(fast);
        for (size_t b = 0; b < block->count; b++)
            tt_feed_add_bar(slow, &block->bars[b]);
    }
    assert_int_equal(check(tt_feed_next_block(slow), 0), row);
    tt_feed_free(fast);
    tt_feed_free(slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thins),
        cmocka_unit_test(test_recovers),
        cmocka_unit_test(test_in_place),
        cmocka_unit_test(test_no_numbers),
        cmocka_unit_test(test_no_columns),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_one_after_the_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
