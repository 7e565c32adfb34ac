/* SPDX-License-Identifier: MIT */
/* Two teams of ranks: bytes between them, and what a stop does. (What a team is as a fabric: tests/conformance/fabric_shared.c.) */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "fabric/shared.h"
#include "fabric/team.h"

struct rank {
    struct tutti_shared *area;
    void (*body)(struct tutti_team *team);
    int rank;
};

static void *be_rank(void *context)
{
    const struct rank *self = context;
    struct tutti_fabric *fabric = NULL;
    struct tutti_team *team = NULL;
    if (tutti_shared_join(self->area, self->rank, &fabric) || tutti_team_join(&team, fabric))
        _Exit(1);
    self->body(team);
    tutti_team_leave(team);
    fabric->kind->close(fabric);
    return NULL;
}

/* Two ranks in each team. */
static void run(void (*body)(struct tutti_team *team))
{
    enum { RANKS = 4 };
    struct tutti_shared *area = NULL;
    struct rank ranks[RANKS];
    pthread_t threads[RANKS];
    assert_ok(tutti_shared_new(&area, RANKS, "threads"));
    for (int r = 0; r < RANKS; r++) {
        ranks[r] = (struct rank){area, body, r};
        assert_int_equal(pthread_create(&threads[r], NULL, be_rank, &ranks[r]), 0);
    }
    for (int r = 0; r < RANKS; r++)
        assert_int_equal(pthread_join(threads[r], NULL), 0);
    tutti_shared_free(area);
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

static void send_all(struct tutti_team *team)
{
    int rank = tutti_team_fabric(team)->rank;
    for (int n = 0; n < SIZE_COUNT; n++) {
        uint8_t *bytes = malloc(SIZES[n] + 1);
        expect(bytes != NULL);
        for (size_t i = 0; i < SIZES[n]; i++)
            bytes[i] = byte_of(rank, n, i);
        expect(tutti_team_send(team, (struct tutti_bytes){SIZES[n], bytes}) == TUTTI_OK);
        free(bytes);
    }
}

static void receive_all(struct tutti_team *team)
{
    int rank = tutti_team_fabric(team)->rank;
    for (int n = 0; n < SIZE_COUNT; n++) {
        struct tutti_bytes bytes;
        expect(tutti_team_receive(team, n % 2 == 0, &bytes) == TUTTI_OK && bytes.size == SIZES[n]);
        for (size_t i = 0; i < bytes.size; i++)
            expect(bytes.data[i] == byte_of(rank, n, i));
    }
}

/* There and back, while each team reduces by itself, one of them more often. */
static void talk(struct tutti_team *team)
{
    struct tutti_fabric *fabric = tutti_team_fabric(team);
    int number = tutti_team_number(team);
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

static void leave_first(struct tutti_team *team)
{
    struct tutti_fabric *fabric = tutti_team_fabric(team);
    struct tutti_bytes bytes;
    fabric->step = 5;
    if (tutti_team_number(team) == 1) { /* which is at no step of its own: any stop ends its wait */
        expect(tutti_team_receive(team, true, &bytes) == TUTTI_ERR_STOPPED);
        expect(fabric->step == 5);
        return;
    }
    (void)nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    if (fabric->rank == 0)
        fabric->kind->stop(fabric, 7);
    else
        while (atomic_load(fabric->stop_after) == UINT64_MAX)
            ;
    expect(!tutti_fabric_is_stopped(fabric)); /* it may go on to step 7 ... */
    fabric->step = 7;
    expect(tutti_team_receive(team, false, &bytes) == TUTTI_ERR_STOPPED); /* ... but no further */
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
