/* SPDX-License-Identifier: MIT */
/* Ranks that are forks of the test and speak TCP on the loopback interface; with KEYS encrypted. The test is the hub. */
#include "test.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/random.h"
#include "sim/ranks/tcp_hub.h"
#include "fabric_ranks.h"
#include "look.h"

enum { MOST_RANKS = 8, BITE = 100003 }; /* bytes that are read at once: no divisor of anything */

#ifdef KEYS
static const bool has_keys = true;
#else
static const bool has_keys = false;
#endif

const char *const fabric_name = "tcp";
const int most_ranks = MOST_RANKS;

/* Exchanges the ports and all keys between a child and the test. */
struct meeting {
    struct tt_tcp_run run;
    struct tt_tcp_peer peers[MOST_RANKS];
    _Atomic int ports; /* that are known */
};

static void die(int rank, const char *what)
{
    fprintf(stderr, "rank %d cannot %s: %s\n", rank, what, tutti_err_message());
    _exit(1);
}

/* Every second rank pretends to be on another machine, so that both kinds of reduction are there. */
static void be_rank(struct meeting *meeting, int rank, void (*body)(struct tt_fabric *fabric))
{
    struct tt_curve_keys keys = {0};
    struct tt_tcp_fabric *tcp = NULL;
    struct tt_fabric *fabric = NULL;
    struct tt_tcp_peer *own = &meeting->peers[rank];
    if (has_keys && tt_curve_auth_make_keys(&keys))
        die(rank, "make keys");
    if (tt_tcp_fabric_listen(&tcp, "127.0.0.1", NULL, has_keys ? &keys : NULL, 0, NULL))
        die(rank, "listen");
    snprintf(own->endpoint, sizeof own->endpoint, "tcp://localhost:%d", tt_tcp_fabric_port(tcp));
    snprintf(own->host, sizeof own->host, "machine %d", rank / 3);
    memcpy(own->public_key, keys.public_key, sizeof own->public_key);
    atomic_fetch_add(&meeting->ports, 1);
    while (atomic_load(&meeting->ports) <= meeting->run.ranks) /* the hub's is the last */
        look_again();
    if (tt_tcp_fabric_connect(&fabric, tcp, rank, &meeting->run, NULL))
        die(rank, "connect");
    body(fabric);
    fabric->kind->close(fabric);
}

/* A rank that failed would leave the others waiting. */
static void watch(const pid_t *workers, int ranks)
{
    for (int r = 0; r < ranks; r++) {
        siginfo_t info = {0};
        if (waitid(P_PID, (id_t)workers[r], &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
            (info.si_code != CLD_EXITED || info.si_status != 0)) {
            for (int i = 0; i < ranks; i++)
                kill(workers[i], SIGKILL);
            fail_msg("rank %d ended with %d", r, info.si_status);
        }
    }
}

/* Takes a bite of what the rank reported; was there any? */
static bool read_some(struct tt_tcp_hub *hub, int rank, struct reported *reports)
{
    size_t count;
    const char *bytes = tt_tcp_hub_pending_bytes(hub, rank, &count);
    count = count < BITE ? count : BITE;
    if (count > 0 && reports) {
        reports[rank].bytes = realloc(reports[rank].bytes, reports[rank].size + count);
        assert_non_null(reports[rank].bytes);
        memcpy(reports[rank].bytes + reports[rank].size, bytes, count);
        reports[rank].size += count;
    }
    tt_tcp_hub_consume(hub, rank, count);
    return count > 0;
}

static struct tt_tcp_hub *open_hub(struct meeting *meeting, int ranks, const pid_t *workers)
{
    struct tt_tcp_hub *hub = NULL;
    struct tt_curve_keys keys = {0};
    if (has_keys)
        assert_ok(tt_curve_auth_make_keys(&keys));
    memcpy(meeting->run.hub_key, keys.public_key, sizeof keys.public_key);
    while (atomic_load(&meeting->ports) < ranks) {
        watch(workers, ranks);
        look_again();
    }
    assert_ok(tt_tcp_hub_open(&hub, &meeting->run, has_keys ? &keys : NULL));
    atomic_fetch_add(&meeting->ports, 1);
    return hub;
}

void run_ranks(int ranks, void (*body)(struct tt_fabric *fabric), struct reported *reports)
{
    pid_t workers[MOST_RANKS];
    struct meeting *meeting = mmap(NULL, sizeof *meeting, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(meeting != MAP_FAILED);
    assert_in_range(ranks, 1, MOST_RANKS);
    meeting->run = (struct tt_tcp_run){.ranks = ranks, .peers = meeting->peers, .has_keys = has_keys};
    assert_ok(tt_random_bytes(meeting->run.id, sizeof meeting->run.id));
    for (int r = 0; r < ranks; r++) {
        workers[r] = fork();
        assert_true(workers[r] >= 0);
        if (workers[r] == 0) {
            be_rank(meeting, r, body);
            _exit(0);
        }
    }
    struct tt_tcp_hub *hub = open_hub(meeting, ranks, workers);
    for (bool moving = true; moving;) {
        bool left = true;
        for (int r = 0; r < ranks; r++)
            left &= tt_tcp_hub_has_left(hub, r);
        moving = false;
        for (int r = 0; r < ranks; r++)
            moving |= read_some(hub, r, reports);
        watch(workers, ranks);
        if (!moving && !left)
            assert_ok(tt_tcp_hub_wait(hub, 0.1));
        for (int r = 0; r < ranks; r++)
            assert_ok(tt_tcp_hub_state(hub, r));
        moving |= !left;
    }
    for (int r = 0; r < ranks; r++) {
        int status = -1;
        assert_int_equal(waitpid(workers[r], &status, 0), workers[r]);
        assert_int_equal(status, 0);
    }
    tt_tcp_hub_close(hub);
    munmap(meeting, sizeof *meeting);
}
