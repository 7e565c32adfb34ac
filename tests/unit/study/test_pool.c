/* SPDX-License-Identifier: MIT */
/* Workers of a sweep: every run is made once, whatever happens to the worker, and however late its records are read. */
#include "test.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "options/options.h"
#include "study/pool.h"
#include "study/record.h"

enum { RUNS = 24 };

struct made {
    size_t next;
    unsigned times[RUNS];
    enum tutti_run_status statuses[RUNS];
};

static bool next(void *context, size_t *run)
{
    struct made *made = context;
    *run = made->next++;
    return *run < RUNS;
}

static enum tutti_err done(void *context, struct tutti_bytes bytes)
{
    struct made *made = context;
    struct tutti_run_record record;
    assert_true(tutti_run_record_take(&record, bytes));
    assert_in_range(record.run, 0, RUNS - 1);
    made->times[record.run]++;
    made->statuses[record.run] = record.status;
    return TUTTI_OK;
}

static enum tutti_err idle(void *context)
{
    (void)context;
    return TUTTI_OK;
}

/* In place of those of the C library: so many microseconds after a record came it is read, and after a worker's last it ends. */
static useconds_t late;

int poll(struct pollfd *files, nfds_t count, int milliseconds)
{
    const struct timespec limit = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    int ready = ppoll(files, count, &limit, NULL);
    usleep(late);
    return ready;
}

void _exit(int status)
{
    usleep(2 * late);
    syscall(SYS_exit_group, status);
    abort();
}

/* What comes of each mood: well, an error, a fatal one (after which the worker leaves), a crash, an exit, no number. */
static const enum tutti_run_status statuses[] = {TUTTI_RUN_OK,      TUTTI_RUN_FAILED,  TUTTI_RUN_FAILED,
                                                 TUTTI_RUN_CRASHED, TUTTI_RUN_CRASHED, TUTTI_RUN_UNMEASURED};

static void check_runs(const char *const *vary, size_t count, unsigned workers)
{
    const char *file = TUTTI_TEST_FMUS "/Moody_fmi2.fmu", *record = "y";
    struct tutti_run_options options = {
        .files = &file, .file_count = 1, .varys = vary, .vary_count = count, .records = &record, .record_count = 1};
    struct tutti_design design;
    struct tutti_work work = {0};
    struct made made = {0};
    assert_ok(tutti_design_make(&design, &options));
    assert_int_equal(design.runs, RUNS);
    assert_ok(tutti_work_open(&work, &options, &design));
    const struct tutti_pool_order order = {
        .way = &tutti_way_forked, .workers = workers, .context = &made, .next = next, .done = done, .idle = idle};
    assert_ok(tutti_pool_run(&work, &order));
    for (size_t r = 0; r < RUNS; r++) {
        assert_int_equal(made.times[r], 1);
        size_t mood = (size_t)tutti_design_run(&design, r)[design.count - 1];
        assert_int_equal(made.statuses[r], statuses[mood]);
    }
    tutti_work_close(&work);
    tutti_design_fini(&design);
}

static void test_all_moods(void **state)
{
    (void)state;
    const char *const vary[] = {"k=1:5:4", "mood=0,1,2,3,4,5"};
    check_runs(vary, 2, 1);
    check_runs(vary, 2, 3);
}

/* A worker's last record is read together with all before it: there is nothing left that it was told of, but there is more to do. */
static void test_a_worker_leaves_with_nothing_ahead(void **state)
{
    (void)state;
    const char *const vary[] = {"k=1:5:6", "mood=0,0,0,2"};
    late = 100000;
    check_runs(vary, 2, 1);
    late = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_moods),
        cmocka_unit_test(test_a_worker_leaves_with_nothing_ahead),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
