/* SPDX-License-Identifier: MIT */
/* The tcp fabric with peers that are strangers, malicious, of a different version, or gone.
 * tests/conformance/test_fabric.c tests correct peers. Ranks are forks; the test plays some of them, with a bare
 * socket. */
#include "test.h"

#include <arpa/inet.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <tutti/run.h>
#include <unistd.h>
#include <zmq.h>

#include "sim/ranks/tcp_hub.h"
#include "sim/ranks/tcp_frame.h"
#include "look.h"

enum { RANKS = 2, WIDTH = 3 };

/* Shared with the forks. */
struct world {
    struct tt_tcp_run run;
    struct tt_tcp_peer peers[RANKS];
    struct tt_curve_keys keys[RANKS + 1]; /* the last: the hub's */
    bool is_misled;                       /* rank 0, about the key of rank 1 */
    _Atomic int ports, go, met;           /* that are known; all are known; ranks that are where the test wants them */
};

static struct world *world;
static struct tt_tcp_hub *hub;
static pid_t children[RANKS];
static void *context, *fake; /* a bare socket of the test */

static int set_up(void **state)
{
    (void)state;
    world = mmap(NULL, sizeof *world, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (world == MAP_FAILED)
        return 1;
    world->run = (struct tt_tcp_run){.id = {42}, .ranks = RANKS, .peers = world->peers, .lost_after = 1};
    memset(children, 0, sizeof children);
    context = zmq_ctx_new();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    for (int r = 0; r < RANKS; r++)
        if (children[r] > 0) {
            kill(children[r], SIGKILL);
            waitpid(children[r], NULL, 0);
        }
    tt_tcp_hub_close(hub);
    hub = NULL;
    if (fake)
        zmq_close(fake);
    fake = NULL;
    zmq_ctx_term(context);
    munmap(world, sizeof *world);
    return 0;
}

/* In a rank: cmocka is the parent's. */
#define expect(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: expected %s (%s)\n", __FILE__, __LINE__, #condition, tutti_err_message());         \
            _exit(1);                                                                                                  \
        }                                                                                                              \
    } while (0)

static void expect_failure(enum tutti_err err, enum tutti_err kind, const char *words)
{
    if (err != kind || !strstr(tutti_err_message(), words)) {
        fprintf(stderr, "\"%s: %s\" has no \"%s\"\n", tutti_err_name(err), tutti_err_message(), words);
        _exit(1);
    }
}

typedef void role(struct tt_fabric *fabric);

static void be_rank(int rank, role *act)
{
    struct tt_tcp_fabric *tcp;
    struct tt_fabric *fabric;
    struct tt_tcp_peer *own = &world->peers[rank];
    expect(tt_tcp_fabric_listen(&tcp, "127.0.0.1", NULL, world->run.has_keys ? &world->keys[rank] : NULL, 1, NULL) ==
           TUTTI_OK);
    snprintf(own->endpoint, sizeof own->endpoint, "tcp://127.0.0.1:%d", tt_tcp_fabric_port(tcp));
    memcpy(own->public_key, world->keys[rank].public_key, TUTTI_KEY_SIZE);
    atomic_fetch_add(&world->ports, 1);
    while (!atomic_load(&world->go))
        look_again();
    struct tt_tcp_peer peers[RANKS];
    struct tt_tcp_run run = world->run;
    memcpy(peers, world->peers, sizeof peers);
    peers[1].public_key[7] ^= rank == 0 && world->is_misled;
    run.peers = peers;
    expect(tt_tcp_fabric_connect(&fabric, tcp, rank, &run, NULL) == TUTTI_OK);
    act(fabric);
    fabric->kind->close(fabric);
    _exit(0);
}

static void start_rank(int rank, role *act)
{
    children[rank] = fork();
    assert_true(children[rank] >= 0);
    if (children[rank] == 0)
        be_rank(rank, act);
    while (atomic_load(&world->ports) == 0)
        look_again();
    atomic_store(&world->ports, 0);
}

static void open_hub(void)
{
    assert_ok(tt_tcp_hub_open(&hub, &world->run, world->run.has_keys ? &world->keys[RANKS] : NULL));
    atomic_store(&world->go, 1);
}

/* Serves as hub until the rank's process has ended; well? */
static void wait_for(int rank)
{
    int status = -1;
    while (waitpid(children[rank], &status, WNOHANG) == 0)
        assert_ok(tt_tcp_hub_wait(hub, 0.02));
    children[rank] = 0;
    assert_int_equal(status, 0);
}

/* One channel: each has WIDTH doubles and reads the other's. */
static struct tt_cargo_piece pieces[RANKS] = {{0, WIDTH * sizeof(double)},
                                              {WIDTH * sizeof(double), WIDTH * sizeof(double)}};
static struct tt_channel_link link_of[RANKS] = {
    {1, {&pieces[0], 1, NULL, 0, WIDTH * sizeof(double)}, {&pieces[1], 1, NULL, 0, WIDTH * sizeof(double)}},
    {0, {&pieces[1], 1, NULL, 0, WIDTH * sizeof(double)}, {&pieces[0], 1, NULL, 0, WIDTH * sizeof(double)}},
};
static struct tt_channel channels[RANKS] = {{&link_of[0], 1}, {&link_of[1], 1}};
static double values[RANKS * WIDTH];

static enum tutti_err exchange(struct tt_fabric *fabric)
{
    return fabric->kind->exchange(fabric, 0, (char *)values);
}

static enum tutti_err open_channel(struct tt_fabric *fabric)
{
    return fabric->kind->open(fabric, &channels[fabric->rank]);
}

/* Without keys ------------------------------------------------------------------------------------------------------------- */

static void nothing_leaves_the_machine_without_keys(void **state)
{
    (void)state;
    struct tt_tcp_fabric *tcp;
    struct tt_fabric *fabric;
    assert_fails(tt_tcp_fabric_listen(&tcp, "0.0.0.0", NULL, NULL, 0, NULL), TUTTI_ERR_ARGUMENT, "without keys");
    assert_fails(tt_tcp_fabric_listen(&tcp, "::", NULL, NULL, 0, NULL), TUTTI_ERR_ARGUMENT, "without keys");
    snprintf(world->peers[0].endpoint, TUTTI_ADDRESS_SIZE, "tcp://127.0.0.1:1");
    snprintf(world->peers[1].endpoint, TUTTI_ADDRESS_SIZE, "tcp://192.0.2.1:1");
    assert_fails(tt_tcp_hub_open(&hub, &world->run, NULL), TUTTI_ERR_ARGUMENT, "without keys");
    assert_ok(tt_tcp_fabric_listen(&tcp, "127.0.0.1", NULL, NULL, 0, NULL));
    assert_true(tt_tcp_fabric_port(tcp) > 0);
    assert_fails(tt_tcp_fabric_connect(&fabric, tcp, 0, &world->run, NULL), TUTTI_ERR_ARGUMENT, "without keys");
    world->run.has_keys = true;
    assert_ok(tt_tcp_fabric_listen(&tcp, "127.0.0.1", NULL, NULL, 0, NULL));
    assert_fails(tt_tcp_fabric_connect(&fabric, tcp, 0, &world->run, NULL), TUTTI_ERR_ARGUMENT, "or none");
    assert_fails(tt_tcp_hub_open(&hub, &world->run, NULL), TUTTI_ERR_ARGUMENT, "or none");
    assert_fails(tt_tcp_fabric_listen(&tcp, "no.such.host.invalid", NULL, NULL, 0, NULL), TUTTI_ERR_LOST,
                 "cannot be looked up");
    tt_tcp_fabric_free(NULL);
}

/* Strangers and liars ------------------------------------------------------------------------------------------------------ */

/* Both exchange until rank 0 has seen that the test is done. */
static void exchange_on(struct tt_fabric *fabric)
{
    expect(open_channel(fabric) == TUTTI_OK);
    atomic_fetch_add(&world->met, 1);
    for (int n = 0; values[1] == 0; n++) {
        values[fabric->rank * WIDTH] = n;
        if (fabric->rank == 0)
            values[1] = atomic_load(&world->met) > RANKS;
        expect(exchange(fabric) == TUTTI_OK);
        expect(values[(1 - fabric->rank) * WIDTH] == n);
    }
}

/* The socket of a stranger, connected to a rank. */
static void connect_fake(int rank)
{
    int wait = 60000, linger = 0;
    fake = zmq_socket(context, ZMQ_DEALER);
    zmq_setsockopt(fake, ZMQ_RCVTIMEO, &wait, sizeof wait);
    zmq_setsockopt(fake, ZMQ_LINGER, &linger, sizeof linger);
    assert_int_equal(zmq_connect(fake, world->peers[rank].endpoint), 0);
}

static void send_fake_hello(const char *version, uint8_t run, uint32_t rank)
{
    struct tt_frame_hello hello;
    struct tt_byte_writer parcel = {0};
    uint8_t id[TUTTI_FRAME_RUN_ID] = {run};
    tt_tcp_frame_fill_hello(&hello, id, rank, RANKS);
    if (version)
        snprintf(hello.version, sizeof hello.version, "%s", version);
    tt_tcp_frame_write_hello(&parcel, &hello);
    assert_true(zmq_send(fake, parcel.bytes, parcel.size, 0) > 0);
    tt_bytes_fini(&parcel);
}

static void send_garbage_to(int rank)
{
    char bytes[1000];
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    address.sin_port = htons((uint16_t)atoi(strrchr(world->peers[rank].endpoint, ':') + 1));
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7919 % 256);
    int socket_fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(socket_fd >= 0);
    assert_int_equal(connect(socket_fd, (struct sockaddr *)&address, sizeof address), 0);
    assert_true(send(socket_fd, bytes, sizeof bytes, MSG_NOSIGNAL) > 0);
    close(socket_fd);
}

static void expect_refused(enum tt_frame_reason expected)
{
    char bytes[1000], version[TUTTI_FRAME_VERSION];
    enum tt_frame_reason reason;
    int size;
    do { /* those who do not know us serve as hub now and then */
        assert_ok(tt_tcp_hub_wait(hub, 0.01));
        size = zmq_recv(fake, bytes, sizeof bytes, ZMQ_DONTWAIT);
    } while (size < 0);
    assert_true(tt_tcp_frame_read_refusal(bytes, (size_t)size, &reason, version));
    assert_int_equal(reason, expected);
    assert_string_equal(version, tutti_version());
}

static void strangers_do_not_disturb_a_run(void **state)
{
    (void)state;
    start_rank(0, exchange_on);
    start_rank(1, exchange_on);
    send_garbage_to(0);
    connect_fake(0);
    assert_true(zmq_send(fake, "garbage", 7, 0) > 0);
    assert_true(zmq_send(fake, "", 0, 0) >= 0);
    assert_true(zmq_send(fake, "several", 7, ZMQ_SNDMORE) >= 0);
    assert_true(zmq_send(fake, "parts", 5, 0) >= 0);
    open_hub();
    send_garbage_to(1);
    while (atomic_load(&world->met) < RANKS)
        assert_ok(tt_tcp_hub_wait(hub, 0.01));
    send_fake_hello("9.9.9", 42, 1);
    expect_refused(TUTTI_FRAME_OTHER_VERSION);
    send_fake_hello(NULL, 43, 1);
    expect_refused(TUTTI_FRAME_OTHER_RUN);
    send_fake_hello(NULL, 42, 1); /* it is there */
    expect_refused(TUTTI_FRAME_NOT_EXPECTED);
    send_fake_hello(NULL, 42, TUTTI_FRAME_HUB); /* so is this */
    expect_refused(TUTTI_FRAME_NOT_EXPECTED);
    send_fake_hello(NULL, 42, 77);
    expect_refused(TUTTI_FRAME_NOT_EXPECTED);
    atomic_fetch_add(&world->met, 1);
    wait_for(0);
    wait_for(1);
    for (int r = 0; r < RANKS; r++) {
        assert_ok(tt_tcp_hub_state(hub, r));
        assert_true(tt_tcp_hub_is_connected(hub, r) && tt_tcp_hub_has_left(hub, r));
    }
}

/* Rank 1 is played by the test: it says a proper hello, and then what it should not. */
static void hear_protocol_error(struct tt_fabric *fabric)
{
    enum tutti_err err = open_channel(fabric); /* what comes early shows early */
    expect_failure(err ? err : exchange(fabric), TUTTI_ERR_FORMAT, "rank 1 at 127.0.0.1:1");
    fabric->kind->stop(fabric, 0);
}

static void send_head(struct tt_frame_head head, size_t body)
{
    char bytes[1000] = {0};
    tt_tcp_frame_write_head(bytes, &head);
    assert_true(zmq_send(fake, bytes, TUTTI_FRAME_HEAD + body, 0) >= 0);
}

static void lie(struct tt_frame_head head, size_t body)
{
    void *nothing = NULL;
    assert_int_equal(set_up(&nothing), 0);
    snprintf(world->peers[1].endpoint, TUTTI_ADDRESS_SIZE, "tcp://127.0.0.1:1"); /* no rank calls a higher one */
    start_rank(0, hear_protocol_error);
    open_hub();
    while (!tt_tcp_hub_is_connected(hub, 0) || tt_tcp_hub_state(hub, 1) == TUTTI_OK)
        assert_ok(tt_tcp_hub_wait(hub, 0.1));
    connect_fake(0);
    send_fake_hello(NULL, 42, 1);
    send_head(head, body);
    wait_for(0);
    assert_fails(tt_tcp_hub_state(hub, 1), TUTTI_ERR_LOST, "rank 1 at 127.0.0.1:1 is lost: no program listens there");
    tear_down(&nothing);
}

static void a_peer_that_talks_nonsense_is_named(void **state)
{
    (void)state;
    lie((struct tt_frame_head){TUTTI_FRAME_DATA, 0, 0, 0}, 8);                      /* too short */
    lie((struct tt_frame_head){TUTTI_FRAME_DATA, 0, 0, 0}, 100);                    /* too long */
    lie((struct tt_frame_head){TUTTI_FRAME_DATA, 1, 0, 0}, WIDTH * sizeof(double)); /* another channel */
    lie((struct tt_frame_head){TUTTI_FRAME_DATA, 0, 5, 0}, WIDTH * sizeof(double)); /* another number */
    lie((struct tt_frame_head){TUTTI_FRAME_DATA, 0, 0, 9}, WIDTH * sizeof(double)); /* took what was not sent */
    lie((struct tt_frame_head){TUTTI_FRAME_REDUCE, 0, 0, 0}, 8);
    lie((struct tt_frame_head){TUTTI_FRAME_REPORT, 0, 0, 0}, 8);
    lie((struct tt_frame_head){TUTTI_FRAME_GRANT, 0, 0, 0}, 8);
    lie((struct tt_frame_head){TUTTI_FRAME_HELLO, 0, 0, 0}, 8);
    lie((struct tt_frame_head){(enum tt_frame_kind)99, 0, 0, 0}, 0);
}

/* Rank 0 is played by the test: it is of another version. */
static void meet_another_version(struct tt_fabric *fabric)
{
    expect_failure(open_channel(fabric), TUTTI_ERR_FORMAT, "speaks version 9.9.9 of Tutti, we " /* ... */);
}

static void another_version_is_named(void **state)
{
    (void)state;
    char name[64], bytes[1000];
    struct tt_frame_hello hello;
    struct tt_byte_writer parcel = {0};
    size_t size = TUTTI_ADDRESS_SIZE;
    start_rank(1, meet_another_version); /* before there are threads of ZeroMQ */
    fake = zmq_socket(context, ZMQ_ROUTER);
    assert_int_equal(zmq_bind(fake, "tcp://127.0.0.1:*"), 0);
    assert_int_equal(zmq_getsockopt(fake, ZMQ_LAST_ENDPOINT, world->peers[0].endpoint, &size), 0);
    open_hub();
    tt_tcp_frame_fill_hello(&hello, world->run.id, 0, RANKS);
    snprintf(hello.version, sizeof hello.version, "9.9.9");
    tt_tcp_frame_write_hello(&parcel, &hello);
    for (int i = 0; i < 2; i++) { /* the hub and rank 1 call */
        int name_size = zmq_recv(fake, name, sizeof name, 0);
        assert_true(name_size > 0 && zmq_recv(fake, bytes, sizeof bytes, 0) > 0);
        zmq_send(fake, name, (size_t)name_size, ZMQ_SNDMORE);
        zmq_send(fake, parcel.bytes, parcel.size, 0);
    }
    wait_for(1);
    assert_fails(tt_tcp_hub_state(hub, 0), TUTTI_ERR_FORMAT, "speaks version 9.9.9");
    assert_ok(tt_tcp_hub_state(hub, 1));
    tt_bytes_fini(&parcel);
}

/* Losses ------------------------------------------------------------------------------------------------------------------- */

static void wait_for_ever(struct tt_fabric *fabric)
{
    expect(open_channel(fabric) == TUTTI_OK);
    expect(exchange(fabric) == TUTTI_OK);
    atomic_fetch_add(&world->met, 1);
    for (;;)
        pause();
}

static void lose_a_peer(struct tt_fabric *fabric)
{
    char words[100];
    snprintf(words, sizeof words, "rank %d at 127.0.0.1:", 1 - fabric->rank);
    expect(open_channel(fabric) == TUTTI_OK);
    expect(exchange(fabric) == TUTTI_OK);
    atomic_fetch_add(&world->met, 1);
    expect_failure(exchange(fabric), TUTTI_ERR_LOST, words);
    expect(strstr(tutti_err_message(), "is lost"));
    expect(atomic_load(&fabric->where->beat) > 0);
}

/* Whichever of the two has connected; killed, or stopped as with a cut cable. */
static void lose(int which, int signal)
{
    void *nothing = NULL;
    assert_int_equal(set_up(&nothing), 0);
    start_rank(which, wait_for_ever);
    start_rank(1 - which, lose_a_peer);
    open_hub();
    while (atomic_load(&world->met) < RANKS)
        assert_ok(tt_tcp_hub_wait(hub, 0.01));
    kill(children[which], signal);
    wait_for(1 - which);
    while (tt_tcp_hub_state(hub, which) == TUTTI_OK)
        assert_ok(tt_tcp_hub_wait(hub, 0.1));
    assert_fails(tt_tcp_hub_state(hub, which), TUTTI_ERR_LOST, "is lost: its connection has ended");
    assert_ok(tt_tcp_hub_state(hub, 1 - which));
    tear_down(&nothing);
}

static void who_is_killed_is_lost(void **state)
{
    (void)state;
    lose(0, SIGKILL);
    lose(1, SIGKILL);
}

static void who_stands_still_is_lost(void **state)
{
    (void)state;
    lose(0, SIGSTOP);
    lose(1, SIGSTOP);
}

static void lose_the_hub(struct tt_fabric *fabric)
{
    enum tutti_err err = TUTTI_OK;
    char bytes[1000] = {0};
    atomic_fetch_add(&world->met, 1);
    if (fabric->rank == 0)
        err = open_channel(fabric); /* rank 1 never comes there */
    while (!err)
        err = fabric->kind->report(fabric, bytes, sizeof bytes);
    expect_failure(err, TUTTI_ERR_LOST, "the conductor is lost");
}

static void ranks_end_without_their_conductor(void **state)
{
    (void)state;
    start_rank(0, lose_the_hub);
    start_rank(1, lose_the_hub);
    open_hub();
    while (atomic_load(&world->met) < RANKS)
        assert_ok(tt_tcp_hub_wait(hub, 0.01));
    tt_tcp_hub_close(hub);
    hub = NULL;
    for (int r = 0; r < RANKS; r++) {
        int status = -1;
        assert_int_equal(waitpid(children[r], &status, 0), children[r]);
        children[r] = 0;
        assert_int_equal(status, 0);
    }
}

static void find_nobody(struct tt_fabric *fabric)
{
    expect_failure(open_channel(fabric), TUTTI_ERR_LOST, "rank 0 at 127.0.0.1:1 is lost: no program listens there");
}

static void who_does_not_listen_is_lost(void **state)
{
    (void)state;
    snprintf(world->peers[0].endpoint, TUTTI_ADDRESS_SIZE, "tcp://127.0.0.1:1");
    start_rank(1, find_nobody);
    open_hub();
    wait_for(1);
}

/* Keys --------------------------------------------------------------------------------------------------------------------- */

static void be_refused(struct tt_fabric *fabric)
{
    expect_failure(open_channel(fabric), TUTTI_ERR_LOST, "it has another key, or refuses ours");
}

static void wait_to_be_stopped(struct tt_fabric *fabric)
{
    expect_failure(open_channel(fabric), TUTTI_ERR_STOPPED, "ended the run");
}

static void make_keys(void)
{
    for (int i = 0; i <= RANKS; i++)
        assert_ok(tt_curve_auth_make_keys(&world->keys[i]));
    world->run.has_keys = true;
    memcpy(world->run.hub_key, world->keys[RANKS].public_key, TUTTI_KEY_SIZE);
}

/* Rank 0 received a key of rank 1 that differs from the others'. */
static void a_key_that_is_not_known_is_refused(void **state)
{
    (void)state;
    make_keys();
    world->is_misled = true;
    start_rank(0, wait_to_be_stopped);
    start_rank(1, be_refused);
    open_hub();
    wait_for(1);
    assert_ok(tt_tcp_hub_state(hub, 0));
    assert_ok(tt_tcp_hub_state(hub, 1));
    tt_tcp_hub_stop(hub, 0);
    wait_for(0);
}

/* The hub expects another key than the rank has: it says nothing to it. */
static void whoever_has_another_key_is_not_talked_to(void **state)
{
    (void)state;
    make_keys();
    start_rank(0, wait_to_be_stopped);
    start_rank(1, be_refused);
    world->peers[1].public_key[5] ^= 1;
    open_hub();
    while (tt_tcp_hub_state(hub, 1) == TUTTI_OK)
        assert_ok(tt_tcp_hub_wait(hub, 0.1));
    assert_fails(tt_tcp_hub_state(hub, 1), TUTTI_ERR_LOST, "is lost: ");
    assert_false(tt_tcp_hub_is_connected(hub, 1));
    tt_tcp_hub_stop(hub, 0);
    wait_for(0);
}

#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_WORLD(nothing_leaves_the_machine_without_keys),
        IN_A_WORLD(strangers_do_not_disturb_a_run),
        cmocka_unit_test(a_peer_that_talks_nonsense_is_named),
        IN_A_WORLD(another_version_is_named),
        cmocka_unit_test(who_is_killed_is_lost),
        cmocka_unit_test(who_stands_still_is_lost),
        IN_A_WORLD(ranks_end_without_their_conductor),
        IN_A_WORLD(who_does_not_listen_is_lost),
        IN_A_WORLD(a_key_that_is_not_known_is_refused),
        IN_A_WORLD(whoever_has_another_key_is_not_talked_to),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
