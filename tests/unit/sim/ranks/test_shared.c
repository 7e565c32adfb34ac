/* SPDX-License-Identifier: MIT */
/* What only ranks that share memory have: limits of the area, and a conductor that looks at them from outside, also when they
 * are dead. What all fabrics have is in conformance/test_fabric.c. */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/arena.h"
#include "sim/ranks/shared_fabric.h"
#include "look.h"

/* A String to and from the other one of two ranks. */
struct pair {
    const char *values[2];
    struct tt_arena arena;
    struct tt_cargo_text texts[2];
    struct tt_channel_link link;
    struct tt_channel channel;
};

static void make_pair(struct pair *pair, int rank)
{
    *pair = (struct pair){.channel = {&pair->link, 1}};
    for (int r = 0; r < 2; r++)
        pair->texts[r] = (struct tt_cargo_text){(size_t)r * sizeof(char *), TUTTI_TYPE_STRING, 1,
                                                tt_signals_owned_array(&pair->arena, 1)};
    pair->link = (struct tt_channel_link){
        .peer = 1 - rank, .out = {NULL, 0, &pair->texts[rank], 1, 0}, .in = {NULL, 0, &pair->texts[1 - rank], 1, 0}};
}

static void drop_pair(struct pair *pair)
{
    for (int r = 0; r < 2; r++)
        tt_signals_owned_fini(pair->texts[r].owned, 1);
    tt_arena_fini(&pair->arena);
}

enum { MOST_PAIRS = 2000 };

/* Opens channels until the area is full; returns their number. 0: a different failure. */
static void *open_many(void *context)
{
    struct tt_fabric *fabric = context;
    static struct pair pairs[2][MOST_PAIRS];
    enum tutti_err err = TUTTI_OK;
    int count = 0;
    while (err == TUTTI_OK && count < MOST_PAIRS) {
        make_pair(&pairs[fabric->rank][count], fabric->rank);
        err = fabric->kind->open(fabric, &pairs[fabric->rank][count++].channel);
    }
    for (int i = 0; i < count; i++)
        drop_pair(&pairs[fabric->rank][i]);
    static int counts[2];
    counts[fabric->rank] = err == TUTTI_ERR_LIMIT && strstr(tutti_err_message(), "place") ? count : 0;
    return &counts[fabric->rank];
}

static void start_two(struct tt_shared_fabric **area, struct tt_fabric *fabrics[2])
{
    assert_ok(tt_shared_fabric_new(area, 2, "threads"));
    for (int r = 0; r < 2; r++)
        assert_ok(tt_shared_fabric_join(*area, r, &fabrics[r]));
}

static void end_two(struct tt_shared_fabric *area, struct tt_fabric *fabrics[2])
{
    for (int r = 0; r < 2; r++)
        fabrics[r]->kind->close(fabrics[r]);
    tt_shared_fabric_free(area);
}

/* Runs `body` for rank 1 in a thread and for rank 0 here. */
static void run_two(struct tt_fabric *fabrics[2], void *(*body)(void *fabric), void *results[2])
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, body, fabrics[1]), 0);
    results[0] = body(fabrics[0]);
    assert_int_equal(pthread_join(thread, &results[1]), 0);
}

static void the_room_of_a_rank_has_an_end(void **state)
{
    (void)state;
    struct tt_shared_fabric *area;
    struct tt_fabric *fabrics[2];
    void *results[2];
    start_two(&area, fabrics);
    run_two(fabrics, open_many, results);
    /* at most 32 GiB, and two messages of 16 MiB for a channel with texts */
    assert_in_range(*(int *)results[0], 1, 1025);
    assert_in_range(*(int *)results[1], 1, 1025);
    end_two(area, fabrics);
}

/* 17 MiB do not fit; 15 do. */
static void *exchange_long(void *context)
{
    struct tt_fabric *fabric = context;
    struct pair pair;
    const char *failed = NULL;
    char *text = malloc((17 << 20) + 1);
    make_pair(&pair, fabric->rank);
    if (!text || fabric->kind->open(fabric, &pair.channel))
        return "cannot open";
    memset(text, 'x', 17 << 20);
    text[15 << 20] = '\0';
    pair.values[fabric->rank] = text;
    if (fabric->kind->exchange(fabric, 0, (char *)pair.values) || strlen(pair.values[1 - fabric->rank]) != 15 << 20)
        failed = "15 MiB do not come through";
    text[15 << 20] = 'x';
    text[17 << 20] = '\0';
    pair.values[fabric->rank] = text;
    if (fabric->kind->exchange(fabric, 0, (char *)pair.values) != TUTTI_ERR_LIMIT ||
        !strstr(tutti_err_message(), "17825800 bytes"))
        failed = "17 MiB are no limit";
    free(text);
    drop_pair(&pair);
    return (void *)failed;
}

static void a_message_has_a_greatest_size(void **state)
{
    (void)state;
    struct tt_shared_fabric *area;
    struct tt_fabric *fabrics[2];
    void *results[2];
    start_two(&area, fabrics);
    run_two(fabrics, exchange_long, results);
    for (int r = 0; r < 2; r++)
        if (results[r])
            fail_msg("rank %d: %s", r, (const char *)results[r]);
    end_two(area, fabrics);
}

static void *reduce_one(void *context)
{
    struct tt_fabric *fabric = context;
    double value = 1;
    static enum tutti_err err;
    err = fabric->kind->reduce(fabric, TUTTI_REDUCE_MIN, &value, 1);
    return &err;
}

static void the_conductor_sees_a_rank_wait_and_stops_it(void **state)
{
    (void)state;
    struct tt_shared_fabric *area;
    struct tt_fabric *fabrics[2];
    pthread_t thread;
    void *err;
    start_two(&area, fabrics);
    const struct tt_heartbeat *where = tt_shared_fabric_heartbeat(area, 1);
    assert_ptr_equal(where, fabrics[1]->where);
    assert_int_equal(atomic_load(&where->component), UINT32_MAX);
    uint64_t before = atomic_load(&where->beat);
    assert_int_equal(pthread_create(&thread, NULL, reduce_one, fabrics[1]), 0);
    while (atomic_load(&where->beat) < before + 3) /* it waits, but it lives; if not, the test never ends */
        look_again();
    tt_shared_fabric_stop(area, 0);
    pthread_join(thread, &err);
    assert_int_equal(*(enum tutti_err *)err, TUTTI_ERR_STOPPED);
    end_two(area, fabrics);
}

/* As an FMU does that writes where it has no business. */
static void overwrite(const struct tt_heartbeat *where, uint32_t value)
{
    uint32_t *words = (uint32_t *)(uintptr_t)where;
    for (size_t i = 0; i < 2 * sizeof *where / sizeof *words; i++)
        __atomic_store_n(&words[i], value, __ATOMIC_SEQ_CST);
}

static void overwritten_memory_ends_the_wait(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 1, UINT32_MAX, 0x9e3779b9};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        struct tt_shared_fabric *area;
        struct tt_fabric *fabrics[2];
        pthread_t thread;
        void *err;
        start_two(&area, fabrics);
        uint64_t before = atomic_load(&fabrics[1]->where->beat);
        assert_int_equal(pthread_create(&thread, NULL, reduce_one, fabrics[1]), 0);
        while (atomic_load(&fabrics[1]->where->beat) < before + 1)
            look_again();
        overwrite(fabrics[0]->where, values[i]);
        pthread_join(thread, &err); /* if it waits on, the test never ends */
        assert_int_equal(*(enum tutti_err *)err, TUTTI_ERR_LOST);
        end_two(area, fabrics);
    }
}

static void *leave(void *fabric)
{
    look_again();
    ((struct tt_fabric *)fabric)->kind->close(fabric);
    return NULL;
}

static void who_leaves_wakes_the_conductor(void **state)
{
    (void)state;
    for (int i = 0; i < 100; i++) {
        struct tt_shared_fabric *area;
        struct tt_fabric *fabric;
        pthread_t thread;
        assert_ok(tt_shared_fabric_new(&area, 1, "threads"));
        assert_ok(tt_shared_fabric_join(area, 0, &fabric));
        uint32_t seen = tt_shared_fabric_event_count(area);
        assert_false(tt_shared_fabric_has_left(area, 0));
        assert_int_equal(pthread_create(&thread, NULL, leave, fabric), 0);
        while (!tt_shared_fabric_has_left(area, 0))
            tt_shared_fabric_wait(area, seen, 3600); /* a bell that is missed would be waited for */
        pthread_join(thread, NULL);
        tt_shared_fabric_free(area);
    }
}

/* A process that is killed in the middle: what it had reported is there. */
static void reports_outlive_their_rank(void **state)
{
    (void)state;
    struct tt_shared_fabric *area;
    int status;
    size_t count;
    assert_ok(tt_shared_fabric_new(&area, 1, "processes"));
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct tt_fabric *fabric;
        if (tt_shared_fabric_join(area, 0, &fabric) || fabric->kind->report(fabric, "last words", 10))
            _exit(1);
        atomic_store(&fabric->where->component, 7);
        *tt_shared_fabric_interrupt_flag(area) = 5;
        kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    const char *bytes = tt_shared_fabric_peek_reports(area, 0, &count);
    assert_int_equal(count, 10);
    assert_memory_equal(bytes, "last words", 10);
    tt_shared_fabric_consume_reports(area, 0, 10);
    tt_shared_fabric_peek_reports(area, 0, &count);
    assert_int_equal(count, 0);
    assert_false(tt_shared_fabric_has_left(area, 0));
    assert_int_equal(atomic_load(&tt_shared_fabric_heartbeat(area, 0)->component), 7);
    assert_int_equal(*tt_shared_fabric_interrupt_flag(area), 5);
    tt_shared_fabric_free(area);
}

#ifndef __SANITIZE_ADDRESS__
#ifndef __SANITIZE_THREAD__
/* Where addresses are few (ulimit -v), the area is smaller; where there are next to none, an error says so. */
static int with_limit(rlim_t bytes)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct tt_shared_fabric *area;
        struct rlimit limit = {bytes, bytes};
        if (setrlimit(RLIMIT_AS, &limit))
            _exit(9);
        enum tutti_err err = tt_shared_fabric_new(&area, 8, "threads");
        tt_shared_fabric_free(area);
        _exit(err == TUTTI_ERR_MEMORY && !strstr(tutti_err_message(), "fewer ranks") ? 8 : (int)err);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void few_addresses_are_enough(void **state)
{
    (void)state;
    assert_int_equal(with_limit((rlim_t)1 << 30), TUTTI_OK);
    assert_int_equal(with_limit((rlim_t)1 << 24), TUTTI_ERR_MEMORY);
}
#define WITH_LIMITS cmocka_unit_test(few_addresses_are_enough),
#endif
#endif
#ifndef WITH_LIMITS
#define WITH_LIMITS /* sanitizers need more than all of it */
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_room_of_a_rank_has_an_end),
                                       cmocka_unit_test(a_message_has_a_greatest_size),
                                       cmocka_unit_test(the_conductor_sees_a_rank_wait_and_stops_it),
                                       cmocka_unit_test(overwritten_memory_ends_the_wait),
                                       cmocka_unit_test(who_leaves_wakes_the_conductor),
                                       cmocka_unit_test(reports_outlive_their_rank),
                                       WITH_LIMITS};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
