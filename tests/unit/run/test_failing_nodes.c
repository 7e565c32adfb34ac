/* SPDX-License-Identifier: MIT */
/* Runs on a node while each allocation, each call about files and each call of ZeroMQ fails once: those of the run, and those of a node that
 * begins. The node is a child of this program, which is its own workers, too. */
#include "failing_zmq.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/failing_run.h"
#include "run/node/node_daemon.h"
#include "run/node/worker_process.h"

static const char *const worker[] = {"/proc/self/exe", "--worker", NULL};

static struct tt_node_options node_options(const char *cache)
{
    return (struct tt_node_options){
        .listen = "127.0.0.1:0", .cache = cache, .cache_size = 1 << 30, .idle = 300, .worker = worker};
}

/* ---- a node that begins, and ends at once ---- */

static enum tutti_err serve(void *context)
{
    static const volatile sig_atomic_t over = 1;
    struct tt_node_options options = *(const struct tt_node_options *)context;
    options.interrupt = &over;
    return tt_node_daemon_serve(&options);
}

static void test_serve(void **state)
{
    (void)state;
    char cache[200];
    assert_int_equal(setenv("XDG_CACHE_HOME", scratch.path, 1),
                     0); /* where the user's key is; of the other test, too */
    copy_text(cache, sizeof cache, scratch_path(&scratch, "cache"));
    struct tt_node_options options = node_options(cache);
    assert_ok(serve(&options)); /* the user's key is made */
    fail_each_call(FAILING_MEMORY, ENOMEM, serve, &options);
    fail_each_call(FAILING_FILES, EIO, serve, &options);
}

/* ---- runs ---- */

static int port_told; /* the writing end of a pipe */

static void tell(void *context, const struct tt_node_event *event)
{
    (void)context;
    const char *at = strstr(event->text, "127.0.0.1:");
    if (strcmp(event->name, "listening") == 0 && at)
        (void)!write(port_told, at, strcspn(at, ",") + 1);
}

/* Returns where the node listens. */
static pid_t start_node(const char *cache, char *address, size_t room)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct tt_node_options options = node_options(cache);
        options.tell = tell;
        port_told = ends[1];
        _exit(tt_node_daemon_serve(&options) != TUTTI_OK);
    }
    close(ends[1]);
    ssize_t size = read(ends[0], address, room - 1);
    close(ends[0]);
    assert_true(size > 0);
    address[size] = '\0';
    *strchr(address, ',') = '\0';
    return child;
}

static void test_runs(void **state)
{
    (void)state;
    char output[200], cache[200], address[100];
    copy_text(output, sizeof output, scratch_path(&scratch, "result.csv"));
    copy_text(cache, sizeof cache, scratch_path(&scratch, "cache"));
    pid_t node = start_node(cache, address, sizeof address);
    struct attempt attempt = {chain(output), 7, 150};
    assert_ok(tutti_run(&attempt.options, NULL));
    wanted = slurp_file(output, NULL);
    attempt.options.nodes = address;
    fail_run(&attempt, FAILING_MEMORY, ENOMEM);
    fail_run(&attempt, FAILING_FILES, EIO);
    free(wanted);
    kill(node, SIGKILL);
    assert_int_equal(waitpid(node, NULL, 0), node);
}

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "--worker") == 0)
        return tt_worker_process_run(NULL);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_serve),
        cmocka_unit_test(test_runs),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
