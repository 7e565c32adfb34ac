/* SPDX-License-Identifier: MIT */
/* Sockets of ranks are opened, and two ranks and their hub speak with each other, while each call of ZeroMQ, each allocation and each call about
 * files of one of them fails once. */
#include "failing_zmq.h"

#include <pthread.h>
#include <stdlib.h>

#include "fabric/tcp_hub.h"

static enum tutti_err listen_at(void *context)
{
    struct tutti_keys keys = {0};
    struct tutti_tcp *tcp = NULL;
    const struct tutti_ports any = {0};
    bool has_keys = *(const bool *)context;
    if (has_keys)
        TRY(tutti_keys_make(&keys));
    enum tutti_err err = tutti_tcp_listen(&tcp, "127.0.0.1", &any, has_keys ? &keys : NULL, 10, NULL);
    assert_int_equal(err == TUTTI_OK, tcp != NULL);
    assert_true(err || tutti_tcp_port(tcp) > 0);
    tutti_tcp_free(tcp);
    return err;
}

static void test_listen(void **state)
{
    (void)state;
    bool has_keys = false;
    fail_each_call(FAILING_FILES, EMFILE, listen_at, &has_keys);
    has_keys = true;
    fail_each_call(FAILING_MEMORY, ENOMEM, listen_at, &has_keys);
    fail_each_call(FAILING_FILES, EMFILE, listen_at, &has_keys);
}

/* ---- two ranks and their hub ---- */

enum { RANKS = 2, ROUNDS = 3 };

struct company {
    struct tutti_tcp_run run;
    struct tutti_tcp_peer peers[RANKS];
    struct tutti_keys keys[RANKS + 1]; /* the last: the hub's */
    struct tutti_tcp *listening[RANKS];
    size_t heard[RANKS]; /* bytes that the hub got of each */
    int failing;         /* whose calls do: a rank, or the hub */
};

struct member {
    struct company *company;
    int number;
    pthread_t thread;
    enum tutti_err err;
};

static enum tutti_err speak(struct tutti_fabric *fabric)
{
    TRY(tutti_tcp_meet_all(fabric));
    for (int i = 0; i < ROUNDS; i++) {
        double most[] = {fabric->rank == i % RANKS ? 10 + i : -1};
        TRY(fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, most, 1));
        if (most[0] != 10 + i) /* not by cmocka, whose asserts are for its own thread */
            abort();
        TRY(fabric->kind->report(fabric, most, sizeof most));
    }
    return TUTTI_OK;
}

static enum tutti_err be_rank(struct company *company, int rank)
{
    struct tutti_fabric *fabric;
    TRY(tutti_tcp_connect(&fabric, company->listening[rank], rank, &company->run, NULL));
    struct tutti_failure failure;
    tutti_failure_keep(&failure, speak(fabric));
    if (failure.err)
        fabric->kind->stop(fabric, 0);
    fabric->kind->close(fabric);
    return tutti_failure_return(&failure);
}

/* Until all have left, or are lost. */
static enum tutti_err hear_all(struct company *company, struct tutti_tcp_hub *hub)
{
    struct tutti_failure lost = {.err = TUTTI_OK};
    for (int gone = 0; gone < RANKS;) {
        TRY(tutti_tcp_hub_wait(hub, 0.05));
        gone = 0;
        for (int r = 0; r < RANKS; r++) {
            size_t count;
            (void)tutti_tcp_hub_bytes(hub, r, &count);
            tutti_tcp_hub_take(hub, r, count);
            company->heard[r] += count;
            enum tutti_err err = tutti_tcp_hub_state(hub, r);
            if (err && !lost.err)
                tutti_failure_keep(&lost, err);
            gone += err || tutti_tcp_hub_has_left(hub, r);
        }
        if (lost.err)
            tutti_tcp_hub_stop(hub, 0);
    }
    return tutti_failure_return(&lost);
}

static enum tutti_err be_hub(struct company *company)
{
    struct tutti_tcp_hub *hub;
    struct tutti_failure failure;
    enum failing_kind kind = failing_pause(); /* ranks wait long for one that does not come */
    TRY(tutti_tcp_hub_open(&hub, &company->run, &company->keys[RANKS]));
    enum tutti_err err = TUTTI_OK;
    for (int r = 0; r < RANKS && kind != FAILING_NOTHING; r++)
        while (!err && !tutti_tcp_hub_is_here(hub, r) && !tutti_tcp_hub_state(hub, r))
            err = tutti_tcp_hub_wait(hub, 0.05);
    failing.kind = kind;
    tutti_failure_keep(&failure, err ? err : hear_all(company, hub));
    if (failure.err)
        tutti_tcp_hub_stop(hub, 0);
    tutti_tcp_hub_close(hub);
    return tutti_failure_return(&failure);
}

static void *live(void *context)
{
    struct member *member = context;
    member->err = member->number == RANKS ? be_hub(member->company) : be_rank(member->company, member->number);
    return NULL;
}

/* Whatever one of them does, the others come to an end. */
static enum tutti_err meet_once(struct company *company)
{
    struct member members[RANKS + 1];
    enum failing_kind kind = failing_pause();
    memset(company->heard, 0, sizeof company->heard);
    for (int r = 0; r < RANKS; r++) {
        struct tutti_tcp_peer *peer = &company->peers[r];
        assert_ok(tutti_tcp_listen(&company->listening[r], "127.0.0.1", NULL, &company->keys[r],
                                   company->run.lost_after, NULL));
        snprintf(peer->endpoint, sizeof peer->endpoint, "tcp://127.0.0.1:%d", tutti_tcp_port(company->listening[r]));
    }
    for (int m = 0; m <= RANKS; m++) {
        members[m] = (struct member){.company = company, .number = m};
        if (m != company->failing)
            assert_int_equal(pthread_create(&members[m].thread, NULL, live, &members[m]), 0);
    }
    failing.kind = kind;
    (void)live(&members[company->failing]);
    kind = failing_pause();
    bool all_well = true; /* a goodbye that fails is a loss to the others only */
    for (int m = 0; m <= RANKS; m++) {
        if (m != company->failing)
            pthread_join(members[m].thread, NULL);
        all_well = all_well && !members[m].err;
    }
    for (int r = 0; r < RANKS && all_well; r++)
        assert_int_equal(company->heard[r], ROUNDS * sizeof(double));
    failing.kind = kind;
    return members[company->failing].err;
}

/* Where no call failed, and yet one was lost, the machine was too busy for so little patience. */
static enum tutti_err meet(void *context)
{
    struct company *company = context;
    enum tutti_err err;
    for (company->run.lost_after = 0.3;; company->run.lost_after *= 4) {
        failing.now = 0;
        err = meet_once(company);
        if (!err || failing.now >= failing.at || company->run.lost_after > 60)
            return err;
    }
}

static void test_company(void **state)
{
    (void)state;
    struct company company = {.run = {.id = {42}, .ranks = RANKS, .has_keys = true}};
    company.run.peers = company.peers;
    for (int m = 0; m <= RANKS; m++)
        assert_ok(tutti_keys_make(&company.keys[m]));
    for (int r = 0; r < RANKS; r++) {
        snprintf(company.peers[r].host, sizeof company.peers[r].host, "machine %d", r);
        memcpy(company.peers[r].public_key, company.keys[r].public_key, TUTTI_KEY_SIZE);
    }
    memcpy(company.run.hub_key, company.keys[RANKS].public_key, TUTTI_KEY_SIZE);
    for (company.failing = 0; company.failing <= RANKS; company.failing += RANKS) { /* a rank, the hub */
        fail_each_call(FAILING_MEMORY, ENOMEM, meet, &company);
        fail_each_call(FAILING_FILES, EIO, meet, &company);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_listen),
        cmocka_unit_test(test_company),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
