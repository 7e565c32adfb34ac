/* SPDX-License-Identifier: MIT */
/* One connection to a node, message by message: workers that cannot be started, that end in any way, hang or take too much. The workers are
 * shells, which have the descriptors that a worker has (run/node/worker_process.h). */
#include "failing_processes.h"

#include <stdlib.h>
#include <zmq.h>

#include "base/wall_clock.h"
#include "run/node/node_session.h"
#include "look.h"
#include "own_scratch.h"

static const char fmu[] = "the bytes of an FMU", stand[] = "its stand-in";

/* A node without sockets; what it answers is heard at the other end of `router`. */
struct bench {
    const char *worker[4];
    struct tt_node_options options;
    struct tt_node_offer offer;
    struct tt_node_daemon node;
    void *answers;
    struct tt_node_session *session;
};

static char told[4096];

static void tell(void *context, const struct tt_node_event *event)
{
    (void)context;
    snprintf(told + strlen(told), sizeof told - strlen(told), "%s\n", event->text);
}

/* The workers run a script. */
static struct bench *new_bench(const char *script)
{
    static char path[200];
    struct stat st;
    struct bench *bench = calloc(1, sizeof *bench);
    told[0] = '\0';
    copy_text(path, sizeof path, scratch_write(&scratch, "stand", stand, sizeof stand));
    assert_int_equal(stat(path, &st), 0);
    *bench = (struct bench){
        .worker = {"/bin/sh", "-c", script, NULL},
        .options = {.worker = bench->worker, .cache_size = 1 << 20, .idle = 300, .tell = tell},
        .offer = {.name = (char *)"engine.fmu", .path = path, .stand = path, .size = st.st_size, .changed = st.st_mtim},
        .node = {.options = &bench->options,
                 .address = {.host = "127.0.0.1", .port = 1},
                 .loopback = true,
                 .permitted = {.all = true},
                 .offers = &bench->offer,
                 .offer_count = 1}};
    tt_content_of_bytes(&bench->offer.content, stand, sizeof stand);
    bench->node.context = zmq_ctx_new();
    bench->node.router = zmq_socket(bench->node.context, ZMQ_PAIR);
    bench->answers = zmq_socket(bench->node.context, ZMQ_PAIR);
    assert_int_equal(zmq_bind(bench->answers, "inproc://answers"), 0);
    assert_int_equal(zmq_connect(bench->node.router, "inproc://answers"), 0);
    assert_ok(tt_content_cache_open(&bench->node.cache, scratch_path(&scratch, "cache")));
    return bench;
}

static void begin_session(struct bench *bench)
{
    bench->session = calloc(1, sizeof *bench->session);
    bench->session->id_size = 1;
    bench->session->greeted = true;
    copy_text(bench->session->peer, sizeof bench->session->peer, "10.0.0.7");
    bench->node.sessions[0] = bench->session;
    bench->node.session_count = 1;
}

static void end_session(struct bench *bench)
{
    bench->node.session_count = 0;
    tt_node_session_free(&bench->node, bench->session);
}

static void free_bench(struct bench *bench)
{
    tt_content_cache_free(bench->node.cache);
    tt_bytes_fini(&bench->node.parcel);
    zmq_close(bench->node.router);
    zmq_close(bench->answers);
    zmq_ctx_term(bench->node.context);
    free(bench);
}

/* Returns the kind of the next answer, and its content; 0 if there is none. */
static uint32_t hear(struct bench *bench, char *bytes, size_t room, struct tt_byte_reader *in)
{
    char id[8];
    if (zmq_recv(bench->answers, id, sizeof id, ZMQ_DONTWAIT) < 0)
        return 0;
    int size = zmq_recv(bench->answers, bytes, room, 0);
    assert_true(size >= 4 && (size_t)size <= room);
    *in = (struct tt_byte_reader){.at = bytes, .end = bytes + size};
    return tt_bytes_get_u32(in);
}

static void drain(struct bench *bench)
{
    char bytes[8192];
    struct tt_byte_reader in;
    while (hear(bench, bytes, sizeof bytes, &in))
        continue;
}

/* Looks after the workers until the node says something of this kind. */
static void await(struct bench *bench, uint32_t kind, char *bytes, size_t room, struct tt_byte_reader *in)
{
    double deadline = tt_wall_clock_now() + 300;
    for (;;) {
        uint32_t heard = hear(bench, bytes, room, in);
        if (heard == kind)
            return;
        if (heard)
            fail_msg("the node says %u, not %u", heard, kind);
        assert_true(tt_wall_clock_now() < deadline);
        tt_node_session_check_workers(&bench->node, bench->session);
        look_again();
    }
}

static void take(struct bench *bench, const struct tt_byte_writer *message)
{
    assert_false(message->failed);
    tt_node_session_receive(&bench->node, bench->session, message->bytes, message->size);
}

/* The whole file in one piece. */
static void bring(struct bench *bench)
{
    struct tt_byte_writer put = {0};
    struct tt_content content;
    tt_content_of_bytes(&content, fmu, sizeof fmu);
    tt_node_protocol_start_message(&put, TUTTI_NODE_PUT);
    tt_node_protocol_write_content(&put, &content);
    tt_bytes_put_u64(&put, 0);
    tt_bytes_put_block(&put, fmu, sizeof fmu);
    take(bench, &put);
    tt_bytes_fini(&put);
    assert_false(bench->session->over);
}

/* A run of two ranks, both here, of a file that was brought and one that is offered. */
static struct tt_byte_writer start_message(double timeout)
{
    struct tt_byte_writer start = {0};
    struct tt_content content;
    const char id[TUTTI_TCP_RUN_ID] = "a run";
    tt_content_of_bytes(&content, fmu, sizeof fmu);
    tt_node_protocol_start_message(&start, TUTTI_NODE_START);
    tt_bytes_put_bytes(&start, id, sizeof id);
    tt_bytes_put_u8(&start, 1);
    tt_bytes_put_double(&start, timeout);
    tt_bytes_put_u32(&start, 2);
    tt_bytes_put_u32(&start, 2);
    tt_bytes_put_u32(&start, 1);
    tt_bytes_put_u32(&start, 0);
    tt_bytes_put_u32(&start, 2);
    tt_bytes_put_u8(&start, 0);
    tt_node_protocol_write_content(&start, &content);
    tt_bytes_put_u8(&start, 1);
    tt_bytes_put_u32(&start, 0);
    tt_bytes_put_block(&start, "job", 3);
    return start;
}

static void start_run(struct bench *bench, double timeout)
{
    struct tt_byte_writer start = start_message(timeout);
    begin_session(bench);
    bring(bench);
    take(bench, &start);
    tt_bytes_fini(&start);
    if (bench->session->over)
        fail_msg("%s", tutti_err_message());
    drain(bench);
}

static void send_peers(struct bench *bench)
{
    struct tt_byte_writer peers = {0};
    tt_node_protocol_start_message(&peers, TUTTI_NODE_PEERS);
    tt_bytes_put_u8(&peers, 0);
    take(bench, &peers);
    tt_bytes_fini(&peers);
}

/* ---- calls that fail ---- */

/* From the file to connected workers: everything arrives, or the runner gets the reason. */
static enum tutti_err run(void *context)
{
    struct bench *bench = context;
    enum failing_kind kind = failing_pause();
    struct tt_byte_writer start = start_message(0), peers = {0};
    tt_node_protocol_start_message(&peers, TUTTI_NODE_PEERS);
    begin_session(bench);
    bring(bench);
    failing.kind = kind;
    take(bench, &start);
    if (!bench->session->over)
        take(bench, &peers);
    if (!bench->session->over)
        tt_node_session_check_workers(&bench->node, bench->session);
    kind = failing_pause();
    bool over = bench->session->over;
    for (uint32_t i = 0; i < bench->session->worker_count && !over; i++)
        assert_true(bench->session->workers[i].pid > 0 && bench->session->workers[i].running);
    drain(bench);
    end_session(bench);
    tt_bytes_fini(&start);
    tt_bytes_fini(&peers);
    failing.kind = kind;
    return !over ? TUTTI_OK : kind == FAILING_MEMORY ? TUTTI_ERR_MEMORY : TUTTI_ERR_IO;
}

static void test_calls(void **state)
{
    (void)state;
    struct bench *bench = new_bench("exec sleep 1000");
    fail_each_call(FAILING_MEMORY, ENOMEM, run, bench);
    fail_each_call(FAILING_FILES, EMFILE, run, bench);
    fail_each_call(FAILING_FILES, EINTR, run, bench);
    free_bench(bench);
}

/* ---- how workers end ---- */

static void test_ends(void **state)
{
    (void)state;
    static const struct {
        const char *script;
        uint8_t how;
        uint32_t detail;
        const char *words;
    } ends[] = {
        {"exit 3", TUTTI_LOSS_EXIT, 3, "ended by itself, with status 3"},
        {"kill -9 $$", TUTTI_LOSS_SIGNAL, 9, "was ended by signal 9"},
        /* FAILED, an error, a text of one character and its zero byte */
        {"printf '\\2\\0\\0\\0\\5\\0\\0\\0\\2\\0\\0\\0\\0\\0\\0\\0x\\0' >&4", TUTTI_LOSS_ERROR, 5,
         "could not begin; error 5: x"},
        {"printf '\\2\\0\\0\\0' >&4", TUTTI_LOSS_ERROR, 0, "could not begin; error 0"},
        {"printf '\\77\\0\\0\\0' >&4; exit 4", TUTTI_LOSS_EXIT, 4, "status 4"}, /* no word of ours */
    };
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        char bytes[8192];
        struct tt_byte_reader in;
        struct bench *bench = new_bench(ends[i].script);
        start_run(bench, 0);
        for (int rank = 1; rank >= 0; rank--) {
            await(bench, TUTTI_NODE_LOST, bytes, sizeof bytes, &in);
            assert_true(tt_bytes_get_u32(&in) < 2);
            assert_int_equal(tt_bytes_get_u8(&in), ends[i].how);
            assert_int_equal(tt_bytes_get_u32(&in), ends[i].detail);
        }
        assert_contains(told, ends[i].words);
        assert_int_equal(bench->node.counts.workers_lost, 2);
        end_session(bench);
        assert_int_equal(bench->node.counts.runs_failed, 1);
        assert_contains(told, "failed");
        free_bench(bench);
    }
}

/* READY with all that belongs to it is handed on, one that is cut is not; a worker that has said DONE is gone, and not lost. */
static void test_words(void **state)
{
    (void)state;
    char bytes[8192];
    struct tt_byte_reader in;
    struct tt_node_ready ready;
    struct bench *bench = new_bench("printf '\\1\\0\\0\\0\\7' >&4; "
                                    "printf '\\1\\0\\0\\0\\7\\0\\0\\0abcdefghijklmnopqrstuvwxyzabcdef\\1' >&4; "
                                    "dd bs=1 count=1 <&4 >/dev/null 2>&1; printf '\\3\\0\\0\\0' >&4");
    start_run(bench, 0);
    for (int i = 0; i < 2; i++) {
        await(bench, TUTTI_NODE_READY, bytes, sizeof bytes, &in);
        assert_true(tt_node_protocol_read_ready(&in, 2, &ready));
        assert_int_equal(ready.port, 7);
        assert_true(ready.is_confined);
    }
    send_peers(bench);
    assert_true(tt_node_session_is_running(bench->session));
    for (int i = 0; i < 2; i++)
        await(bench, TUTTI_NODE_GONE, bytes, sizeof bytes, &in);
    send_peers(bench); /* once is enough */
    assert_true(bench->session->over);
    drain(bench);
    end_session(bench);
    assert_int_equal(bench->node.counts.runs_completed, 1);
    assert_int_equal(bench->node.counts.refused_FORMAT, 1);
    free_bench(bench);
}

/* One that gives no sign of life is asked to end, and killed if it does not. */
static void test_hang(void **state)
{
    (void)state;
    static const char *const scripts[] = {"exec sleep 1000", "trap '' QUIT; sleep 1000"};
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++) {
        char bytes[8192];
        struct tt_byte_reader in;
        struct bench *bench = new_bench(scripts[i]);
        start_run(bench, 0.01);
        send_peers(bench);
        await(bench, TUTTI_NODE_LOST, bytes, sizeof bytes, &in);
        (void)tt_bytes_get_u32(&in);
        assert_int_equal(tt_bytes_get_u8(&in), TUTTI_LOSS_HANG);
        assert_contains(told, "gave no sign of life");
        end_session(bench);
        free_bench(bench);
    }
}

/* ---- limits of a run ---- */

static void stop_by(struct bench *bench, const char *words)
{
    char bytes[8192];
    struct tt_byte_reader in;
    start_run(bench, 0);
    send_peers(bench);
    await(bench, TUTTI_NODE_REFUSED, bytes, sizeof bytes, &in);
    assert_int_equal(tt_bytes_get_u32(&in), TUTTI_ERR_LIMIT);
    assert_contains(tt_bytes_get_text(&in), words);
    double deadline = tt_wall_clock_now() + 300;
    while (!bench->session->over) { /* workers have a moment for their last words */
        assert_true(tt_wall_clock_now() < deadline);
        tt_node_session_check_workers(&bench->node, bench->session);
    }
    drain(bench);
    end_session(bench);
    assert_int_equal(bench->node.counts.runs_aborted, 1);
    assert_contains(told, "ended by a limit");
    free_bench(bench);
}

static void test_limits(void **state)
{
    (void)state;
    struct bench *bench = new_bench("exec sleep 1000");
    bench->options.max_seconds = 0.01;
    stop_by(bench, "max-seconds");
    bench = new_bench("exec sleep 1000");
    bench->options.max_memory = 1000;
    stop_by(bench, "max-memory");
}

/* An END, or an INTERRUPT, is for all workers; an order for the first rank. */
static void test_orders(void **state)
{
    (void)state;
    struct bench *bench = new_bench("exec sleep 1000");
    struct tt_byte_writer message = {0};
    start_run(bench, 0);
    send_peers(bench);
    for (uint32_t kind = 0; kind <= TUTTI_ORDER_KINDS; kind++) {
        tt_node_protocol_start_message(&message, TUTTI_NODE_ORDER);
        tt_bytes_put_u32(&message, kind);
        tt_bytes_put_u32(&message, 0);
        tt_bytes_put_u32(&message, 1);
        tt_bytes_put_double(&message, 2);
        take(bench, &message);
        assert_int_equal(bench->session->over, kind == TUTTI_ORDER_KINDS);
    }
    bench->session->over = false;
    tt_node_protocol_start_message(&message, TUTTI_NODE_INTERRUPT);
    take(bench, &message);
    assert_false(bench->session->over);
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(bench->session->workers[i].page->interrupt, 1);
    tt_node_protocol_start_message(&message, TUTTI_NODE_END);
    take(bench, &message);
    assert_true(bench->session->over);
    drain(bench);
    end_session(bench);
    assert_contains(told, "ended from outside");
    tt_bytes_fini(&message);
    free_bench(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_calls, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_ends, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_words, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_hang, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_limits, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_orders, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
