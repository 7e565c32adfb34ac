/* SPDX-License-Identifier: MIT */
/* Ranks that share memory: threads, or with PROCESSES forks of the test. With TEAMS they are one of two teams that do the same (sim/ranks/team.h). */
#include "test.h"

#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/ranks/shared_fabric.h"
#include "sim/ranks/team.h"
#include "fabric_ranks.h"

#ifdef TEAMS
enum { TEAM_COUNT = 2 };
#else
enum { TEAM_COUNT = 1 };
#endif
enum { MOST_RANKS = 8, BITE = 100003 }; /* bytes that are read at once: no divisor of anything */

struct rank {
    struct tt_shared_fabric *area;
    void (*body)(struct tt_fabric *fabric);
    int rank;
};

const int most_ranks = MOST_RANKS;

#ifdef TEAMS
static pthread_barrier_t both_teams;

void wait_for_other_team(void)
{
    pthread_barrier_wait(&both_teams);
}
#endif

static void be_rank(const struct rank *self)
{
    struct tt_fabric *fabric = NULL;
    if (tt_shared_fabric_join(self->area, self->rank, &fabric)) {
        fprintf(stderr, "rank %d cannot join: %s\n", self->rank, tutti_err_message());
        _Exit(1);
    }
#ifdef TEAMS
    struct tt_team *team = NULL;
    expect(tt_team_join(&team, fabric) == TUTTI_OK);
    wait_for_other_team();
    self->body(tt_team_fabric(team));
    tt_team_leave(team);
#else
    self->body(fabric);
#endif
    fabric->kind->close(fabric);
}

#ifdef PROCESSES
const char *const fabric_name = "processes";
typedef pid_t worker;

static worker start(struct rank *rank)
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        be_rank(rank);
        _exit(0);
    }
    return child;
}

/* A rank that failed would leave the others waiting. */
static void watch(const worker *workers, int ranks)
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

static void join(worker child)
{
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}
#else
const char *const fabric_name = "threads";
typedef pthread_t worker;

static void *in_thread(void *rank)
{
    be_rank(rank);
    return NULL;
}

static worker start(struct rank *rank)
{
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, in_thread, rank), 0);
    return thread;
}

static void watch(const worker *workers, int ranks)
{
    (void)workers;
    (void)ranks; /* one that fails ends the test itself */
}

static void join(worker thread)
{
    assert_int_equal(pthread_join(thread, NULL), 0);
}
#endif

/* Takes a bite of what the rank reported; was there any? */
static bool read_some(struct tt_shared_fabric *area, int rank, struct reported *reports)
{
    size_t count;
    const char *bytes = tt_shared_fabric_peek_reports(area, rank, &count);
    count = count < BITE ? count : BITE;
    if (count > 0 && reports) {
        reports[rank].bytes = realloc(reports[rank].bytes, reports[rank].size + count);
        assert_non_null(reports[rank].bytes);
        memcpy(reports[rank].bytes + reports[rank].size, bytes, count);
        reports[rank].size += count;
    }
    tt_shared_fabric_consume_reports(area, rank, count);
    return count > 0;
}

void run_ranks(int ranks, void (*body)(struct tt_fabric *fabric), struct reported *reports)
{
    struct tt_shared_fabric *area = NULL;
    struct rank self[TEAM_COUNT * MOST_RANKS];
    worker workers[TEAM_COUNT * MOST_RANKS];
    int all = TEAM_COUNT * ranks;
    assert_in_range(ranks, 1, MOST_RANKS);
    assert_ok(tt_shared_fabric_new(&area, all, fabric_name));
#ifdef TEAMS
    assert_int_equal(pthread_barrier_init(&both_teams, NULL, (unsigned)all), 0);
#endif
    for (int r = 0; r < all; r++) {
        self[r] = (struct rank){area, body, r};
        workers[r] = start(&self[r]);
    }
    for (bool moving = true; moving;) {
        uint32_t seen = tt_shared_fabric_event_count(area);
        bool left = true;
        for (int r = 0; r < all; r++)
            left &= tt_shared_fabric_has_left(area, r); /* before the last look at its reports */
        moving = false;
        for (int r = 0; r < all; r++)
            moving |= read_some(area, r, r < ranks ? reports : NULL);
        if (!moving && !left) {
            watch(workers, all);
            tt_shared_fabric_wait(area, seen, 0.1);
            moving = true;
        }
    }
    for (int r = 0; r < all; r++)
        join(workers[r]);
#ifdef TEAMS
    pthread_barrier_destroy(&both_teams);
#endif
    tt_shared_fabric_free(area);
}
