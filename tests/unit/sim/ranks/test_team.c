/* SPDX-License-Identifier: MIT */
/* Two teams of ranks: bytes between them, and what a stop does. (What a team is as a fabric: tests/conformance/fabric_shared.c.) */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "sim/ranks/shared_fabric.h"
#include "sim/ranks/team.h"

struct rank {
    struct tt_shared_fabric *area;
    void (*body)(struct tt_team *team);
    int rank;
};

static void *be_rank(void *context)
{
    const struct rank *self = context;
    struct tt_fabric *fabric = NULL;
    struct tt_team *team = NULL;
    if (tt_shared_fabric_join(self->area, self->rank, &fabric) || tt_team_join(&team, fabric))
        _Exit(1);
    self->body(team);
    tt_team_leave(team);
    fabric->kind->close(fabric);
    return NULL;
}

/* Two ranks in each team. */
static void run(void (*body)(struct tt_team *team))
{
    enum { RANKS = 4 };
    struct tt_shared_fabric *area = NULL;
    struct rank ranks[RANKS];
    pthread_t threads[RANKS];
    assert_ok(tt_shared_fabric_new(&area, RANKS, "threads"));
    for (int r = 0; r < RANKS; r++) {
        ranks[r] = (struct rank){area, body, r};
        assert_int_equal(pthread_create(&threads[r], NULL, be_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    tt_shared_fabric_free(area);
}

/* Not cmocka's asserts, which only its own thread may use. */
static void expect(bool good)
{
    if (!good) {
        fprintf(stderr, "a rank of a team: %s\n", tutti_err_message());
        _Exit(1);
    }
}

static const size_t SIZES[] = {0, 1, 7, (size_t)4 << 20, ((size_t)9 << 20) + 5, 3, 0};
enum { SIZE_COUNT = sizeof SIZES / sizeof *SIZES };

static uint8_t byte_of(int rank, int message, size_t i)
{
    return (uint8_t)((size_t)(17 * rank + 5 * message) + i * 2654435761u / 1024);
}

static void send_all(struct tt_team *team)
{
    int rank = tt_team_fabric(team)->rank;
    for (int n = 0; n < SIZE_COUNT; n++) {
        uint8_t *bytes = malloc(SIZES[n] + 1);
        expect(bytes != NULL);
        for (size_t i = 0; i < SIZES[n]; i++)
            bytes[i] = byte_of(rank, n, i);
        expect(tt_team_send(team, (struct tt_bytes){SIZES[n], bytes}) == TUTTI_OK);
        free(bytes);
    }
}

static void receive_all(struct tt_team *team)
{
    int rank = tt_team_fabric(team)->rank;
    for (int n = 0; n < SIZE_COUNT; n++) {
        struct tt_bytes bytes;
        expect(tt_team_receive(team, n % 2 == 0, &bytes) == TUTTI_OK && bytes.size == SIZES[n]);
        for (size_t i = 0; i < bytes.size; i++)
            expect(bytes.data[i] == byte_of(rank, n, i));
    }
}

/* There and back, while each team reduces separately, one of them more often. */
static void talk(struct tt_team *team)
{
    struct tt_fabric *fabric = tt_team_fabric(team);
    int number = tt_team_number(team);
    for (int n = 0; n < 100 * (1 + number); n++) {
        double values[600];
        for (int i = 0; i < 600; i++)
            values[i] = 1000 * number + 10 * fabric->rank + i;
        expect(fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, values, 1 + (size_t)n % 600) == TUTTI_OK);
        expect(values[n % 600] == 1000 * number + 10 + n % 600 && values[599] >= 1000 * number + 599);
    }
    if (number == 0)
        send_all(team);
    receive_all(team);
    if (number == 1)
        send_all(team);
}

static void bytes_go_from_team_to_team(void **state)
{
    (void)state;
    run(talk);
}

static void leave_first(struct tt_team *team)
{
    struct tt_fabric *fabric = tt_team_fabric(team);
    struct tt_bytes bytes;
    fabric->step = 5;
    if (tt_team_number(team) == 1) { /* which makes no steps itself: any stop ends its wait */
        expect(tt_team_receive(team, true, &bytes) == TUTTI_ERR_STOPPED);
        expect(fabric->step == 5);
        return;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    if (fabric->rank == 0)
        fabric->kind->stop(fabric, 7);
    else
        while (atomic_load(fabric->stop_after) == UINT64_MAX)
            ;
    expect(!tt_fabric_is_stopped(fabric)); /* it may continue to step 7 */
    fabric->step = 7;
    expect(tt_team_receive(team, false, &bytes) == TUTTI_ERR_STOPPED); /* ... but no further */
}

static void a_stop_ends_waits(void **state)
{
    (void)state;
    run(leave_first);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_from_team_to_team),
        cmocka_unit_test(a_stop_ends_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
