/* SPDX-License-Identifier: MIT */
/* Sockets of ranks are opened, and two ranks and their hub speak with each other, while each call of ZeroMQ, each allocation and each call about
 * files of one of them fails once. */
#include "failing_zmq.h"

#include <pthread.h>
#include <stdlib.h>

#include "sim/ranks/tcp_hub.h"

static enum tutti_err listen_at(void *context)
{
    struct tt_curve_keys keys = {0};
    struct tt_tcp_fabric *tcp = NULL;
    const struct tt_port_range any = {0};
    bool has_keys = *(const bool *)context;
    if (has_keys)
        TRY(tt_curve_auth_make_keys(&keys));
    enum tutti_err err = tt_tcp_fabric_listen(&tcp, "127.0.0.1", &any, has_keys ? &keys : NULL, 10, NULL);
    assert_int_equal(err == TUTTI_OK, tcp != NULL);
    assert_true(err || tt_tcp_fabric_port(tcp) > 0);
    tt_tcp_fabric_free(tcp);
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
    struct tt_tcp_run run;
    struct tt_tcp_peer peers[RANKS];
    struct tt_curve_keys keys[RANKS + 1]; /* the last: the hub's */
    struct tt_tcp_fabric *listening[RANKS];
    size_t heard[RANKS]; /* bytes that the hub got of each */
    int failing;         /* whose calls do: a rank, or the hub */
};

struct member {
    struct company *company;
    int number;
    pthread_t thread;
    enum tutti_err err;
};

static enum tutti_err speak(struct tt_fabric *fabric)
{
    TRY(tt_tcp_fabric_await_all_links(fabric));
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
    struct tt_fabric *fabric;
    TRY(tt_tcp_fabric_connect(&fabric, company->listening[rank], rank, &company->run, NULL));
    struct tt_failure failure;
    tt_fail_save(&failure, speak(fabric));
    if (failure.err)
        fabric->kind->stop(fabric, 0);
    fabric->kind->close(fabric);
    return tt_fail_restore(&failure);
}

/* Until all have left, or are lost. */
static enum tutti_err hear_all(struct company *company, struct tt_tcp_hub *hub)
{
    struct tt_failure lost = {.err = TUTTI_OK};
    for (int gone = 0; gone < RANKS;) {
        TRY(tt_tcp_hub_wait(hub, 0.05));
        gone = 0;
        for (int r = 0; r < RANKS; r++) {
            size_t count;
            (void)tt_tcp_hub_pending_bytes(hub, r, &count);
            tt_tcp_hub_consume(hub, r, count);
            company->heard[r] += count;
            enum tutti_err err = tt_tcp_hub_state(hub, r);
            if (err && !lost.err)
                tt_fail_save(&lost, err);
            gone += err || tt_tcp_hub_has_left(hub, r);
        }
        if (lost.err)
            tt_tcp_hub_stop(hub, 0);
    }
    return tt_fail_restore(&lost);
}

static enum tutti_err be_hub(struct company *company)
{
    struct tt_tcp_hub *hub;
    struct tt_failure failure;
    enum failing_kind kind = failing_pause(); /* ranks wait long for one that does not come */
    TRY(tt_tcp_hub_open(&hub, &company->run, &company->keys[RANKS]));
    enum tutti_err err = TUTTI_OK;
    for (int r = 0; r < RANKS && kind != FAILING_NOTHING; r++)
        while (!err && !tt_tcp_hub_is_connected(hub, r) && !tt_tcp_hub_state(hub, r))
            err = tt_tcp_hub_wait(hub, 0.05);
    failing.kind = kind;
    tt_fail_save(&failure, err ? err : hear_all(company, hub));
    if (failure.err)
        tt_tcp_hub_stop(hub, 0);
    tt_tcp_hub_close(hub);
    return tt_fail_restore(&failure);
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
        struct tt_tcp_peer *peer = &company->peers[r];
        assert_ok(tt_tcp_fabric_listen(&company->listening[r], "127.0.0.1", NULL, &company->keys[r],
                                       company->run.lost_after, NULL));
        snprintf(peer->endpoint, sizeof peer->endpoint, "tcp://127.0.0.1:%d",
                 tt_tcp_fabric_port(company->listening[r]));
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
        assert_ok(tt_curve_auth_make_keys(&company.keys[m]));
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
