/* SPDX-License-Identifier: MIT */
/* The cost of an exchange between ranks that share memory: the round trip of a bare ping-pong between two cores is 1.0.
 *
 *     bench_fabric
 *
 * Bare: two lines of memory, each with a number that its writer counts up and a value beside it. Two ranks exchange one
 * double each way. Runs alternate, the best of each counts. Then rings of ranks, each with a double for both
 * neighbours: when ranks outnumber cores, an exchange should cost no more than in proportion to their number. */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/wall_clock.h"
#include "sim/ranks/shared_fabric.h"

enum { ROUNDS = 25, TRIPS = 20000, MOST_RANKS = 16 };
#define BOUND 2.0
#define LINEAR 2.0 /* of proportional, for rings: the machine has other things to do as well */

static void die(const char *what)
{
    fprintf(stderr, "bench_fabric: %s\n", what);
    exit(1);
}

static void *map(size_t size)
{
    void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        die("no memory");
    return memory;
}

/* Two that are compared run on two cores, whatever else the machine has to do. */
static void pin(int rank)
{
    cpu_set_t cores, one;
    int skip = rank;
    if (sched_getaffinity(0, sizeof cores, &cores) || CPU_COUNT(&cores) < 2)
        return;
    CPU_ZERO(&one);
    for (size_t core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &cores) && skip-- == 0)
            CPU_SET(core, &one);
    (void)sched_setaffinity(0, sizeof one, &one); /* else where the system wants it */
}

/* Runs body(context, 0) ... body(context, count - 1) at once, each in a thread or in a process. */
struct task {
    void (*body)(void *context, int rank);
    void *context;
    int rank;
};

static void *run_task(void *task)
{
    struct task *t = task;
    t->body(t->context, t->rank);
    return NULL;
}

static void in_threads(int count, void (*body)(void *context, int rank), void *context)
{
    pthread_t threads[MOST_RANKS];
    struct task tasks[MOST_RANKS];
    for (int r = 0; r < count; r++) {
        tasks[r] = (struct task){body, context, r};
        if (pthread_create(&threads[r], NULL, run_task, &tasks[r]))
            die("cannot start a thread");
    }
    for (int r = 0; r < count; r++)
        pthread_join(threads[r], NULL);
}

static void in_processes(int count, void (*body)(void *context, int rank), void *context)
{
    pid_t workers[MOST_RANKS];
    for (int r = 0; r < count; r++) {
        workers[r] = fork();
        if (workers[r] < 0)
            die("cannot start a process");
        if (workers[r] == 0) {
            body(context, r);
            _exit(0);
        }
    }
    for (int r = 0; r < count; r++) {
        int status;
        if (waitpid(workers[r], &status, 0) != workers[r] || status != 0)
            die("a process failed");
    }
}

typedef void runner(int count, void (*body)(void *context, int rank), void *context);

struct bare {
    struct {
        _Alignas(64) _Atomic uint32_t number;
        double value;
    } lines[2];
    double seconds;
};

static void ping_pong(void *context, int rank)
{
    struct bare *bare = context;
    pin(rank);
    double begin = tt_wall_clock_now();
    for (uint32_t n = 1; n <= TRIPS; n++) {
        if (rank == 0) {
            bare->lines[0].value = n;
            atomic_store_explicit(&bare->lines[0].number, n, memory_order_release);
        }
        for (int i = 0; atomic_load_explicit(&bare->lines[1 - rank].number, memory_order_acquire) != n; i++)
            if (i > 10000) /* the other one has no core at all */
                sched_yield();
        if (bare->lines[1 - rank].value != n)
            die("the ping-pong is wrong");
        if (rank == 1) {
            bare->lines[1].value = n;
            atomic_store_explicit(&bare->lines[1].number, n, memory_order_release);
        }
    }
    if (rank == 0)
        bare->seconds = tt_wall_clock_now() - begin;
}

static double bare_seconds(runner *run)
{
    struct bare *bare = map(sizeof *bare);
    run(2, ping_pong, bare);
    double seconds = bare->seconds / TRIPS;
    munmap(bare, sizeof *bare);
    return seconds;
}

struct ring {
    struct tt_shared_fabric *area;
    int ranks, trips;
    double seconds;
};

/* The array has a double per rank, written by it and read by its neighbours. */
static void exchange(void *context, int rank)
{
    struct ring *ring = context;
    int n = ring->ranks, peers[2] = {(rank + n - 1) % n, (rank + 1) % n};
    struct tt_cargo_piece pieces[MOST_RANKS];
    struct tt_channel_link links[2];
    struct tt_channel channel = {.links = links};
    for (int r = 0; r < n; r++)
        pieces[r] = (struct tt_cargo_piece){.offset = (size_t)r * sizeof(double), .size = sizeof(double)};
    for (int r = 0; r < n; r++)
        if (r != rank && (r == peers[0] || r == peers[1]))
            links[channel.link_count++] = (struct tt_channel_link){.peer = r,
                                                                   .out = {&pieces[rank], 1, NULL, 0, sizeof(double)},
                                                                   .in = {&pieces[r], 1, NULL, 0, sizeof(double)}};
    struct tt_fabric *fabric;
    double values[MOST_RANKS] = {0};
    if (n == 2)
        pin(rank);
    if (tt_shared_fabric_join(ring->area, rank, &fabric) || fabric->kind->open(fabric, &channel) ||
        fabric->kind->reduce(fabric, TUTTI_REDUCE_MIN, values, 1))
        die(tutti_err_message());
    double begin = tt_wall_clock_now();
    for (int i = 0; i < ring->trips; i++) {
        values[rank] = i;
        if (fabric->kind->exchange(fabric, 0, (char *)values))
            die(tutti_err_message());
        if (values[peers[0]] != i || values[peers[1]] != i)
            die("an exchange is wrong");
    }
    double seconds = tt_wall_clock_now() - begin;
    if (fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, &seconds, 1))
        die(tutti_err_message());
    if (rank == 0)
        ring->seconds = seconds;
    fabric->kind->close(fabric);
}

static double exchange_seconds(runner *run, int ranks, int trips)
{
    struct ring *ring = map(sizeof *ring);
    ring->ranks = ranks;
    ring->trips = trips;
    if (tt_shared_fabric_new(&ring->area, ranks, "bench"))
        die(tutti_err_message());
    run(ranks, exchange, ring);
    double seconds = ring->seconds / trips;
    tt_shared_fabric_free(ring->area);
    munmap(ring, sizeof *ring);
    return seconds;
}

static bool two_ranks(const char *name, runner *run)
{
    double bare = 1e9, tutti = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        bare = fmin(bare, bare_seconds(run));
        tutti = fmin(tutti, exchange_seconds(run, 2, TRIPS));
    }
    printf(
        "fabric      %-9s exchange of 2 ranks       bare %7.1f ns        tutti %7.1f ns        ratio %5.2f   (at most "
        "%.1f)\n",
        name, 1e9 * bare, 1e9 * tutti, tutti / bare, BOUND);
    return tutti / bare <= BOUND;
}

/* From the first ring that has more ranks than cores on, no more than in proportion. */
static bool rings(const char *name, runner *run)
{
    static const int sizes[] = {1, 2, 4, 8, 16};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double first = 0, worst = 0;
    int first_size = 0;
    printf("fabric      %-9s rings, us per exchange:", name);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double best = 1e9;
        for (int round = 0; round < 5; round++)
            best = fmin(best, exchange_seconds(run, sizes[i], sizes[i] > cores ? 1000 : TRIPS));
        printf("  %d: %.2f", sizes[i], 1e6 * best);
        if (sizes[i] > cores && first_size == 0)
            first = best, first_size = sizes[i];
        if (first_size)
            worst = fmax(worst, best / first * first_size / sizes[i]);
    }
    printf("   of proportional %.2f (at most %.1f)\n", worst, LINEAR);
    return worst <= LINEAR;
}

int main(void)
{
    bool good = two_ranks("threads", in_threads);
    good &= two_ranks("processes", in_processes);
    good &= rings("threads", in_threads);
    good &= rings("processes", in_processes);
    return good ? 0 : 1;
}
