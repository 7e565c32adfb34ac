/* SPDX-License-Identifier: MIT */
/* Workers of a sweep: every run is made once, whatever happens to the worker, and however late its records are read. */
#include "test.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/options/options.h"
#include "apps/study/worker_pool.h"
#include "apps/study/sweep_worker.h"

enum { RUNS = 24 };

struct made {
    size_t next;
    unsigned times[RUNS];
    enum tt_run_status statuses[RUNS];
};

static bool next(void *context, size_t *run)
{
    struct made *made = context;
    *run = made->next++;
    return *run < RUNS;
}

static enum tutti_err done(void *context, struct tt_bytes bytes)
{
    struct made *made = context;
    struct tt_run_record record;
    assert_true(tt_sweep_worker_read_record(&record, bytes));
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

/* Replace those of the C library: a delay in microseconds before a record is read, and before a worker ends after its
 * last record. */
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
static const enum tt_run_status statuses[] = {TUTTI_RUN_OK,      TUTTI_RUN_FAILED,  TUTTI_RUN_FAILED,
                                              TUTTI_RUN_CRASHED, TUTTI_RUN_CRASHED, TUTTI_RUN_UNMEASURED};

static void check_runs(const char *const *vary, size_t count, unsigned workers)
{
    const char *file = TUTTI_TEST_FMUS "/Moody_fmi2.fmu", *record = "y";
    struct tutti_run_options options = {
        .files = &file, .file_count = 1, .varys = vary, .vary_count = count, .records = &record, .record_count = 1};
    struct tt_design design;
    struct tt_sweep_worker work = {0};
    struct made made = {0};
    assert_ok(tt_design_create(&design, &options));
    assert_int_equal(design.runs, RUNS);
    assert_ok(tt_sweep_worker_open(&work, &options, &design));
    const struct tt_worker_pool_plan order = {
        .way = &tt_worker_forked, .workers = workers, .context = &made, .next = next, .done = done, .idle = idle};
    assert_ok(tt_worker_pool_run(&work, &order));
    for (size_t r = 0; r < RUNS; r++) {
        assert_int_equal(made.times[r], 1);
        size_t mood = (size_t)tt_design_run(&design, r)[design.count - 1];
        assert_int_equal(made.statuses[r], statuses[mood]);
    }
    tt_sweep_worker_close(&work);
    tt_design_fini(&design);
}

static void test_all_moods(void **state)
{
    (void)state;
    const char *const vary[] = {"k=1:5:4", "mood=0,1,2,3,4,5"};
    check_runs(vary, 2, 1);
    check_runs(vary, 2, 3);
}

/* A worker's last record is read together with all before it: it has no assigned runs left, but further runs exist. */
static void test_a_worker_leaves_with_nothing_ahead(void **state)
{
    (void)state;
    const char *const vary[] = {"k=1:5:6", "mood=0,0,0,2"};
    late = 100000;
    check_runs(vary, 2, 1);
    late = 0;
}

/* ---- workers that are lost, not through the end of a process ---- */

struct losing {
    size_t runs[RUNS], count;
};

enum { POISON = 5 };
static unsigned losses; /* of workers in the run POISON that are still to come */

static enum tutti_err losing_open(void *self, struct tt_sweep_worker *work, void *context, unsigned *workers)
{
    (void)self, (void)work, (void)context, (void)workers;
    return TUTTI_OK;
}

static void losing_close(void *self)
{
    (void)self;
}

static enum tutti_err losing_start(void *self, unsigned worker)
{
    (void)worker;
    ((struct losing *)self)->count = 0;
    return TUTTI_OK;
}

static size_t losing_tell(void *self, unsigned worker, const size_t *runs, size_t count)
{
    struct losing *losing = self;
    (void)worker;
    for (size_t i = 0; i < count; i++)
        losing->runs[losing->count++] = runs[i];
    return count;
}

/* All runs up to POISON, where the worker is lost. */
static enum tutti_err losing_hear(void *self, unsigned worker, struct tt_byte_writer *in, bool *open)
{
    struct losing *losing = self;
    (void)worker;
    for (size_t i = 0; i < losing->count; i++) {
        struct tt_byte_writer record = {0};
        if (losing->runs[i] == POISON && losses > 0) {
            losses--;
            *open = false;
            break;
        }
        tt_sweep_worker_write_record(&record, &(struct tt_run_record){.run = losing->runs[i], .status = TUTTI_RUN_OK});
        tt_worker_pool_write_record(in, tt_bytes_written(&record), false);
        tt_bytes_fini(&record);
    }
    losing->count = 0;
    return TUTTI_OK;
}

static void losing_end(void *self, unsigned worker, bool by_force, struct tt_worker_ending *ending)
{
    (void)self, (void)worker, (void)by_force, (void)ending;
}

static int losing_file(const void *self, unsigned worker)
{
    (void)self, (void)worker;
    return -1;
}

static const struct tt_worker_backend losing_way = {
    .name = "losing",
    .size = sizeof(struct losing),
    .open = losing_open,
    .close = losing_close,
    .start = losing_start,
    .tell = losing_tell,
    .hear = losing_hear,
    .end = losing_end,
    .file = losing_file,
};

/* Two losses of workers in the same run do not condemn it, a third does; no other run is affected. */
static void test_a_run_is_repeated_after_two_losses(void **state)
{
    (void)state;
    for (unsigned wanted = 0; wanted <= 4; wanted++) {
        struct tutti_run_options options = {0};
        struct tt_sweep_worker work = {.options = &options};
        struct made made = {0};
        losses = wanted;
        const struct tt_worker_pool_plan order = {
            .way = &losing_way, .workers = 1, .context = &made, .next = next, .done = done, .idle = idle};
        assert_ok(tt_worker_pool_run(&work, &order));
        for (size_t r = 0; r < RUNS; r++) {
            assert_int_equal(made.times[r], 1);
            assert_int_equal(made.statuses[r], r == POISON && wanted >= 3 ? TUTTI_RUN_CRASHED : TUTTI_RUN_OK);
        }
        assert_int_equal(losses, wanted > 3 ? wanted - 3 : 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_moods),
        cmocka_unit_test(test_a_worker_leaves_with_nothing_ahead),
        cmocka_unit_test(test_a_run_is_repeated_after_two_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
