/* SPDX-License-Identifier: MIT */
/* Orders from thread to thread: all of them, in their order. */
#include "test.h"

#include <pthread.h>
#include <sched.h>

#include "sim/ranks/command_ring.h"

enum { MANY = 20000 };

static void test_limits(void **state)
{
    (void)state;
    static struct tt_command_ring orders;
    struct tt_run_command out[TUTTI_ORDERS_MOST + 1];
    assert_int_equal(tt_command_ring_pop(&orders, out, 1), 0);
    for (uint32_t i = 0; i < TUTTI_ORDERS_MOST; i++)
        assert_true(tt_command_ring_push(&orders, &(struct tt_run_command){.variable = i}));
    assert_false(tt_command_ring_push(&orders, &out[0]));
    assert_int_equal(tt_command_ring_pop(&orders, out, 3), 3);
    assert_int_equal(out[2].variable, 2);
    assert_true(tt_command_ring_push(&orders, &(struct tt_run_command){.variable = 1000}));
    assert_int_equal(tt_command_ring_pop(&orders, out, TUTTI_ORDERS_MOST + 1), TUTTI_ORDERS_MOST - 2);
    assert_int_equal(out[TUTTI_ORDERS_MOST - 3].variable, 1000);
    atomic_store(&orders.given, 12345678); /* by a process that does what it likes */
    assert_int_equal(tt_command_ring_pop(&orders, out, TUTTI_ORDERS_MOST + 1), 0);
}

static void *give_many(void *context)
{
    for (uint32_t i = 0; i < MANY; i++)
        while (!tt_command_ring_push(context, &(struct tt_run_command){TUTTI_ORDER_SET, i, 2 * i, 0.5 * i}))
            sched_yield();
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    static struct tt_command_ring orders;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, give_many, &orders), 0);
    for (uint32_t next = 0; next < MANY;) {
        struct tt_run_command out[7];
        size_t count = tt_command_ring_pop(&orders, out, 7);
        if (count == 0)
            sched_yield();
        for (size_t i = 0; i < count; i++, next++) {
            assert_int_equal(out[i].component, next);
            assert_int_equal(out[i].variable, 2 * next);
            assert_true(out[i].value == 0.5 * next);
        }
    }
    pthread_join(thread, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_limits), cmocka_unit_test(test_threads)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
