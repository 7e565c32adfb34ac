/* SPDX-License-Identifier: MIT */
/* The cost of the fabric mpi: equal messages by MPICH alone are 1.0.
 *
 *     mpiexec.mpich -n RANKS bench_mpi MODULE
 *
 * Two ranks: 64 bytes each way, by persistent requests that are tested; and, to compare with what is published, the
 * round trip of a ping-pong. Runs alternate, the best of each counts. Any number of ranks: a step with an exchange
 * between neighbours in a ring and a reduction of 4 numbers; the last line is its time in microseconds, for bench/run. */
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "run/launch/launch_mpi.h"
#include "sim/ranks/mpi_interface.h"

enum { ROUNDS = 15, TRIPS = 2000, WIDTH = 8, MOST_RANKS = 64 };
#define BOUND 1.5

static struct tt_fabric *fabric;

static void die(const char *what)
{
    fprintf(stderr, "bench_mpi: %s\n", what);
    exit(1);
}

/* ---- MPICH alone ---- */

static void await(int count, MPI_Request *requests)
{
    for (int polls = 0, done = 0; !done; polls++) {
        MPI_Testall(count, requests, &done, MPI_STATUSES_IGNORE);
        if (!done && polls > 2000)
            sched_yield();
    }
}

/* Seconds of a round trip, or of an exchange both ways. */
static double bare(bool both_ways)
{
    double out[WIDTH] = {0}, in[WIDTH] = {0};
    int peer = 1 - fabric->rank;
    MPI_Request requests[2];
    MPI_Recv_init(in, sizeof in, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Send_init(out, sizeof out, MPI_BYTE, peer, 0, MPI_COMM_WORLD, &requests[1]);
    double begin = tt_wall_clock_now();
    for (int n = 0; n < TRIPS; n++) {
        if (both_ways) {
            out[0] = n;
            MPI_Startall(2, requests);
            await(2, requests);
        } else {
            for (int turn = 0; turn < 2; turn++) {
                int which = turn == fabric->rank; /* the first one sends first */
                out[0] = n;
                MPI_Start(&requests[!which]);
                await(1, &requests[!which]);
            }
        }
        if (in[0] != n)
            die("a message is wrong");
    }
    double seconds = (tt_wall_clock_now() - begin) / TRIPS;
    MPI_Request_free(&requests[0]);
    MPI_Request_free(&requests[1]);
    return seconds;
}

/* ---- the fabric ---- */

/* A channel between neighbours in a ring; WIDTH doubles of every rank. */
static void open_ring(void)
{
    static struct tt_cargo_piece pieces[MOST_RANKS];
    static struct tt_channel_link links[2];
    static struct tt_channel channel = {.links = links};
    int n = fabric->ranks, left = (fabric->rank + n - 1) % n, right = (fabric->rank + 1) % n;
    for (int r = 0; r < n; r++)
        pieces[r] =
            (struct tt_cargo_piece){.offset = (size_t)r * WIDTH * sizeof(double), .size = WIDTH * sizeof(double)};
    for (int r = 0; r < n; r++)
        if (r != fabric->rank && (r == left || r == right))
            links[channel.link_count++] =
                (struct tt_channel_link){.peer = r,
                                         .out = {&pieces[fabric->rank], 1, NULL, 0, WIDTH * sizeof(double)},
                                         .in = {&pieces[r], 1, NULL, 0, WIDTH * sizeof(double)}};
    if (fabric->kind->open(fabric, &channel))
        die(tutti_err_message());
}

static double exchanges(int trips, bool reduces)
{
    static double values[MOST_RANKS * WIDTH];
    int left = (fabric->rank + fabric->ranks - 1) % fabric->ranks;
    double begin = tt_wall_clock_now();
    for (int n = 0; n < trips; n++) {
        double decision[4] = {n, n, n, n};
        values[fabric->rank * WIDTH] = n;
        if (fabric->kind->exchange(fabric, 0, (char *)values) ||
            (reduces && fabric->kind->reduce(fabric, TUTTI_REDUCE_MIN, decision, 4)))
            die(tutti_err_message());
        if (values[left * WIDTH] != n || decision[0] != n)
            die("an exchange is wrong");
    }
    return (tt_wall_clock_now() - begin) / trips;
}

/* ---- figures ---- */

static bool two_ranks(void)
{
    double trip = 1e9, mpich = 1e9, tutti = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        trip = fmin(trip, bare(false));
        mpich = fmin(mpich, bare(true));
        tutti = fmin(tutti, exchanges(TRIPS, false));
    }
    if (fabric->rank == 0)
        printf(
            "mpi         64 bytes each way, 2 ranks         MPICH %6.1f ns        tutti %7.1f ns        ratio %5.2f   "
            "(at most %.1f)   round trip of MPICH %.1f ns\n",
            1e9 * mpich, 1e9 * tutti, tutti / mpich, BOUND, 1e9 * trip);
    return tutti / mpich <= BOUND;
}

static bool is_done(void *context)
{
    return context == NULL;
}

static bool has_room(void *context, int rank)
{
    return context == NULL && rank >= 0;
}

static enum tutti_err take(void *context, int rank, const char *bytes, size_t size)
{
    (void)context, (void)rank, (void)bytes, (void)size;
    return TUTTI_OK;
}

int main(int argc, char **argv)
{
    const struct tt_mpi_sink sink = {NULL, has_room, take};
    struct tt_mpi_world world;
    if (argc != 2)
        die("usage: bench_mpi MODULE");
    if (tt_launch_mpi_start(&world, argv[1]) || world.module->open(&fabric, &sink))
        die(tutti_err_message());
    if (world.ranks < 2 || world.ranks > MOST_RANKS)
        die("2 to 64 ranks");
    open_ring();
    bool good = world.ranks != 2 || two_ranks();
    double best = 1e9;
    for (int i = 0; i < ROUNDS; i++)
        best = fmin(best, exchanges(world.ranks > 2 ? 200 : TRIPS, true));
    if (world.rank == 0)
        printf("%.3f\n", 1e6 * best);
    if (world.module->settle(fabric, is_done, NULL))
        die(tutti_err_message());
    fabric->kind->close(fabric);
    world.module->finish();
    return world.rank == 0 && !good;
}
