/* SPDX-License-Identifier: MIT */
/* Whole runs, on one rank and on several, while each allocation and each call of the conductor fails once (those of forked workers, too): the
 * result is as it would have been, or there is a message; and nothing is left that a later run would stumble over. */
#include "failing_processes.h"

#include "run/failing_run.h"

static void fail_runs(struct tutti_run_options options, unsigned long stride)
{
    struct attempt attempt = {options, stride, 0};
    fail_run(&attempt, FAILING_MEMORY, ENOMEM);
    fail_run(&attempt, FAILING_FILES, EIO);
}

static void test_runs(void **state)
{
    (void)state;
    char output[200], point[200];
    copy_text(output, sizeof output, scratch_path(&scratch, "result.csv"));
    copy_text(point, sizeof point, scratch_path(&scratch, "point"));
    struct tutti_run_options plain = chain(output);
    assert_ok(tutti_run(&plain, NULL));
    wanted = slurp_file(output, NULL);

    struct tutti_run_options threads = plain, kept = plain, confined = plain;
    threads.threads = 2;
    fail_runs(threads, 1);
    kept.processes = 2;
    kept.checkpoint = point;
    kept.has_every = true;
    kept.every = 0.2;
    kept.recover = 1;
    fail_runs(kept, 2);
    confined.processes = 2;
    confined.confine = "auto";
    fail_runs(confined, 3);
    free(wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_runs, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
