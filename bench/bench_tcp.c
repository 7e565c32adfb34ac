/* SPDX-License-Identifier: MIT */
/* The cost of an exchange over TCP: the round trip of a bare ZeroMQ ping-pong between two processes, over the loopback
 * interface, of as many bytes and with the same security, is 1.0.
 *
 *     bench_tcp
 *
 * Bare: two ROUTER sockets, as the fabric has them. Two ranks exchange 64 bytes each way; and send them there and back
 * again, one after the other, which is what the ping-pong does. Runs alternate, the best of each counts. Then rings of
 * ranks, each with a double for both neighbours: when ranks outnumber cores, an exchange should cost no more than in
 * proportion to their number. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zmq.h>

#include "base/wall_clock.h"
#include "sim/ranks/tcp_fabric.h"
#include "sim/ranks/tcp_hub.h"
#include "sim/ranks/curve_auth.h"

enum { ROUNDS = 5, TRIPS = 4000, RING_TRIPS = 500, MOST_RANKS = 16, DOUBLES = 8 };
#define BOUND 1.5
#define LINEAR 2.0 /* of proportional, for rings: the machine has other things to do as well */

static void die(const char *what)
{
    fprintf(stderr, "bench_tcp: %s\n", what);
    _exit(1);
}

/* What processes share: how they find each other, and what they measured. */
struct shared {
    struct tt_tcp_run run;
    struct tt_tcp_peer peers[MOST_RANKS];
    struct tt_curve_keys keys[MOST_RANKS + 1]; /* the last: the hub's */
    _Atomic int ready;
    double seconds; /* per trip */
};

typedef void program(struct shared *shared, int rank);

/* Runs a program in `count` processes; `conduct` (may be NULL) here, beside them. */
static double run(int count, bool has_keys, program *body, void (*conduct)(struct shared *shared))
{
    struct shared *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        die("no memory");
    shared->run = (struct tt_tcp_run){.ranks = count, .peers = shared->peers, .has_keys = has_keys};
    for (int i = 0; has_keys && i <= MOST_RANKS; i++)
        if (tt_curve_auth_make_keys(&shared->keys[i]))
            die(tutti_err_message());
    memcpy(shared->run.hub_key, shared->keys[MOST_RANKS].public_key, TUTTI_KEY_SIZE);
    for (int r = 0; r < count; r++) {
        pid_t child = fork();
        if (child < 0)
            die("cannot start a process");
        if (child == 0) {
            body(shared, r);
            _exit(0);
        }
    }
    if (conduct)
        conduct(shared);
    for (int r = 0; r < count; r++) {
        int status;
        if (wait(&status) < 0 || status != 0)
            die("a process failed");
    }
    double seconds = shared->seconds;
    munmap(shared, sizeof *shared);
    return seconds;
}

static void *bare_socket(const struct shared *shared, int rank, struct tt_zap **zap)
{
    void *context = zmq_ctx_new(), *socket = zmq_socket(context, ZMQ_ROUTER);
    bool has_keys = shared->run.has_keys;
    int mandatory = 1;
    if (!socket || zmq_setsockopt(socket, ZMQ_ROUTER_MANDATORY, &mandatory, sizeof mandatory))
        die("ZeroMQ cannot start");
    if (rank == 0 && has_keys) {
        if (tt_curve_auth_start(zap, context, NULL) || tt_curve_auth_allow_key(*zap, shared->keys[1].public_key, "1") ||
            tt_curve_auth_guard_socket(socket, &shared->keys[0]))
            die(tutti_err_message());
        tt_curve_auth_start_answering(*zap);
    }
    if (rank == 1 && has_keys && tt_curve_auth_identify_socket(socket, &shared->keys[1], shared->keys[0].public_key))
        die(tutti_err_message());
    return socket;
}

static void bare_send(void *socket, const char *name, int name_size, const void *bytes, size_t size)
{
    if (zmq_send(socket, name, (size_t)name_size, ZMQ_SNDMORE) < 0 || zmq_send(socket, bytes, size, 0) < 0)
        die("ZeroMQ cannot send");
}

static int bare_receive(void *socket, char *name, void *bytes, size_t size)
{
    int name_size = zmq_recv(socket, name, 16, 0);
    if (name_size < 0 || zmq_recv(socket, bytes, size, 0) != (int)size)
        die("ZeroMQ cannot receive");
    return name_size;
}

static void ping_pong(struct shared *shared, int rank)
{
    double values[DOUBLES] = {0}, begin = 0;
    char name[16] = "P";
    int name_size = 1;
    struct tt_zap *zap = NULL;
    struct tt_tcp_peer *first = &shared->peers[0];
    void *socket = bare_socket(shared, rank, &zap);
    size_t size = sizeof first->endpoint;
    if (rank == 0) {
        if (zmq_bind(socket, "tcp://127.0.0.1:*") || zmq_getsockopt(socket, ZMQ_LAST_ENDPOINT, first->endpoint, &size))
            die("ZeroMQ cannot listen");
        atomic_store(&shared->ready, 1);
    }
    while (!atomic_load(&shared->ready))
        usleep(100);
    if (rank == 1 && (zmq_setsockopt(socket, ZMQ_CONNECT_ROUTING_ID, name, 1) || zmq_connect(socket, first->endpoint)))
        die("ZeroMQ cannot connect");
    for (int i = -100; i < TRIPS; i++) { /* the first ones do not count */
        if (i == 0)
            begin = tt_wall_clock_now();
        if (rank == 1)
            bare_send(socket, name, name_size, values, sizeof values);
        name_size = bare_receive(socket, name, values, sizeof values);
        if (rank == 0)
            bare_send(socket, name, name_size, values, sizeof values);
    }
    if (rank == 1) {
        shared->seconds = (tt_wall_clock_now() - begin) / TRIPS;
        atomic_store(&shared->ready, 2);
    }
    while (atomic_load(&shared->ready) != 2) /* what was sent last has to arrive */
        usleep(100);
}

static struct tt_fabric *join(struct shared *shared, int rank)
{
    struct tt_tcp_fabric *tcp;
    struct tt_fabric *fabric;
    struct tt_tcp_peer *own = &shared->peers[rank];
    if (tt_tcp_fabric_listen(&tcp, "127.0.0.1", NULL, shared->run.has_keys ? &shared->keys[rank] : NULL, 0, NULL))
        die(tutti_err_message());
    snprintf(own->endpoint, sizeof own->endpoint, "tcp://127.0.0.1:%d", tt_tcp_fabric_port(tcp));
    memcpy(own->public_key, shared->keys[rank].public_key, TUTTI_KEY_SIZE);
    atomic_fetch_add(&shared->ready, 1);
    while (atomic_load(&shared->ready) <= shared->run.ranks)
        usleep(100);
    if (tt_tcp_fabric_connect(&fabric, tcp, rank, &shared->run, NULL))
        die(tutti_err_message());
    return fabric;
}

static void conduct(struct shared *shared)
{
    struct tt_tcp_hub *hub;
    while (atomic_load(&shared->ready) < shared->run.ranks)
        usleep(100);
    if (tt_tcp_hub_open(&hub, &shared->run, shared->run.has_keys ? &shared->keys[MOST_RANKS] : NULL))
        die(tutti_err_message());
    atomic_fetch_add(&shared->ready, 1);
    for (int left = 0; left < shared->run.ranks;) {
        if (tt_tcp_hub_wait(hub, 0.1))
            die(tutti_err_message());
        left = 0;
        for (int r = 0; r < shared->run.ranks; r++)
            left += tt_tcp_hub_has_left(hub, r);
    }
    tt_tcp_hub_close(hub);
}

/* All ranks have exchanged `trips` times by `channels` channels in turn; the slowest counts. */
static void measure(struct shared *shared, struct tt_fabric *fabric, uint32_t channels, int trips, double *values)
{
    double begin = 0;
    for (int i = -100; i < trips; i++) {
        if (i == 0)
            begin = tt_wall_clock_now();
        for (uint32_t c = 0; c < channels; c++)
            if (fabric->kind->exchange(fabric, c, (char *)values))
                die(tutti_err_message());
    }
    double seconds = (tt_wall_clock_now() - begin) / trips;
    if (fabric->kind->reduce(fabric, TUTTI_REDUCE_MAX, &seconds, 1))
        die(tutti_err_message());
    if (fabric->rank == 0)
        shared->seconds = seconds;
    fabric->kind->close(fabric);
}

static const struct tt_cargo_piece halves[2] = {{0, DOUBLES * sizeof(double)},
                                                {DOUBLES * sizeof(double), DOUBLES * sizeof(double)}};

static struct tt_cargo half(int rank)
{
    static struct tt_cargo_piece pieces[2];
    memcpy(pieces, halves, sizeof pieces);
    return (struct tt_cargo){&pieces[rank], 1, NULL, 0, pieces[rank].size};
}

static void both_ways(struct shared *shared, int rank)
{
    double values[2 * DOUBLES] = {0};
    struct tt_channel_link link = {.peer = 1 - rank, .out = half(rank), .in = half(1 - rank)};
    struct tt_channel channel = {&link, 1};
    struct tt_fabric *fabric = join(shared, rank);
    if (fabric->kind->open(fabric, &channel))
        die(tutti_err_message());
    measure(shared, fabric, 1, TRIPS, values);
}

static void there_and_back(struct shared *shared, int rank)
{
    double values[2 * DOUBLES] = {0};
    struct tt_channel_link out = {.peer = 1 - rank, .out = half(rank)}, in = {.peer = 1 - rank, .in = half(1 - rank)};
    struct tt_channel channels[2] = {{rank == 0 ? &out : &in, 1}, {rank == 0 ? &in : &out, 1}};
    struct tt_fabric *fabric = join(shared, rank);
    if (fabric->kind->open(fabric, &channels[0]) || fabric->kind->open(fabric, &channels[1]))
        die(tutti_err_message());
    measure(shared, fabric, 2, TRIPS, values);
}

static void ring(struct shared *shared, int rank)
{
    int n = shared->run.ranks, peers[2] = {(rank + n - 1) % n, (rank + 1) % n};
    double values[MOST_RANKS] = {0};
    struct tt_cargo_piece pieces[MOST_RANKS];
    struct tt_channel_link links[2];
    struct tt_channel channel = {.links = links};
    for (int r = 0; r < n; r++)
        pieces[r] = (struct tt_cargo_piece){.offset = (size_t)r * sizeof(double), .size = sizeof(double)};
    for (int r = 0; r < n; r++)
        if (r == peers[0] || r == peers[1])
            links[channel.link_count++] = (struct tt_channel_link){.peer = r,
                                                                   .out = {&pieces[rank], 1, NULL, 0, sizeof(double)},
                                                                   .in = {&pieces[r], 1, NULL, 0, sizeof(double)}};
    struct tt_fabric *fabric = join(shared, rank);
    if (fabric->kind->open(fabric, &channel))
        die(tutti_err_message());
    measure(shared, fabric, 1, RING_TRIPS, values);
}

static double lesser(double a, double b)
{
    return a < b ? a : b;
}

static bool two_ranks(const char *name, bool has_keys)
{
    double bare = 1e9, both = 1e9, back = 1e9;
    for (int i = 0; i < ROUNDS; i++) {
        bare = lesser(bare, run(2, has_keys, ping_pong, NULL));
        both = lesser(both, run(2, has_keys, both_ways, conduct));
        back = lesser(back, run(2, has_keys, there_and_back, conduct));
    }
    printf("tcp         %-9s exchange of 2 ranks       bare %7.1f us        tutti %7.1f us        ratio %5.2f   (at "
           "most %.1f)   there and back %.1f us, ratio %.2f (at most %.1f)\n",
           name, 1e6 * bare, 1e6 * both, both / bare, BOUND, 1e6 * back, back / bare, BOUND);
    fflush(stdout); /* before the next fork */
    return both / bare <= BOUND && back / bare <= BOUND;
}

/* From the first ring that has more ranks than cores on, no more than in proportion. */
static bool rings(void)
{
    static const int sizes[] = {2, 4, 8, 16};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    double first = 0, worst = 0;
    char text[200] = "";
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        double best = 1e9;
        for (int round = 0; round < 3; round++)
            best = lesser(best, run(sizes[i], false, ring, conduct));
        size_t length = strlen(text);
        snprintf(text + length, sizeof text - length, "  %d: %.1f", sizes[i], 1e6 * best);
        if (sizes[i] > cores && first == 0)
            first = best / sizes[i];
        if (first > 0 && best / sizes[i] / first > worst)
            worst = best / sizes[i] / first;
    }
    printf("tcp         rings, us per exchange:%s   of proportional %.2f (at most %.1f)\n", text, worst, LINEAR);
    return worst <= LINEAR;
}

int main(void)
{
    bool good = two_ranks("plain", false);
    good &= two_ranks("encrypted", true);
    good &= rings();
    return good ? 0 : 1;
}
