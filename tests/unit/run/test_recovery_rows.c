/* SPDX-License-Identifier: MIT */
/* A program that watches a run gets every row once, also if a worker is lost on the way. */
#include "test.h"

#include <signal.h>
#include <tutti/run.h>
#include <unistd.h>

#include "base/options/options.h"
#include "sim/stats.h"
#include "scratch.h"

enum { MOST_ROWS = 1000, ROWS = 201, LOSS = 90 };

struct seen {
    unsigned columns, rows;
    double times[MOST_ROWS], values[MOST_ROWS];
    bool kills; /* a worker, once */
};

static enum tutti_err columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct seen *seen = context;
    (void)shown;
    assert_true(count > 0);
    seen->columns++;
    return TUTTI_OK;
}

/* The last process that this one has started. */
static pid_t last_child(void)
{
    char path[80], text[200] = "";
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    (void)!fgets(text, sizeof text, file);
    fclose(file);
    pid_t last = 0;
    for (char *at = text, *end = text; (last = (pid_t)strtol(at, &end, 10)) > 0 && *end == ' ' && end[1]; at = end)
        continue;
    return last;
}

static enum tutti_err row(void *context, double t, const double *values)
{
    struct seen *seen = context;
    assert_true(seen->rows < MOST_ROWS);
    seen->times[seen->rows] = t;
    seen->values[seen->rows++] = values[0];
    if (seen->kills && seen->rows == LOSS) {
        seen->kills = false;
        assert_int_equal(kill(last_child(), SIGKILL), 0);
    }
    return TUTTI_OK;
}

static void run(struct seen *seen, struct scratch *scratch, unsigned recover)
{
    const char *const files[] = {"a=" TUTTI_FMUS "/ChainMass_fmi2.fmu", "b=" TUTTI_FMUS "/ChainMass_fmi3.fmu"};
    const char *const connects[] = {"a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"};
    const char *const sets[] = {"a.x_left=0.1"};
    const struct tutti_watcher watcher = {.context = seen, .columns = columns, .row = row};
    struct tutti_run_stats stats = {0};
    const struct tutti_run_options options = {.files = files,
                                              .file_count = 2,
                                              .connects = connects,
                                              .connect_count = 3,
                                              .sets = sets,
                                              .set_count = 1,
                                              .has_step = true,
                                              .step = 0.01,
                                              .has_stop = true,
                                              .stop = 2,
                                              .has_realtime = true,
                                              .realtime = 4,
                                              .has_every = recover > 0,
                                              .every = 0.3,
                                              .processes = 2,
                                              .recover = recover,
                                              .output = scratch_path(scratch, "result.csv"),
                                              .watcher = &watcher};
    assert_ok(tutti_run(&options, &stats));
    assert_int_equal(stats.recoveries, recover > 0);
    tt_stats_fini(&stats);
}

static void test_each_row_once(void **state)
{
    (void)state;
    static struct seen plain, disturbed;
    struct scratch scratch;
    scratch_init(&scratch);
    disturbed.kills = true;
    run(&plain, &scratch, 0);
    run(&disturbed, &scratch, 1);
    assert_false(disturbed.kills);
    assert_int_equal(plain.rows, ROWS);
    assert_int_equal(disturbed.rows, ROWS);
    assert_int_equal(disturbed.columns, 1);
    assert_memory_equal(disturbed.times, plain.times, ROWS * sizeof *plain.times);
    assert_memory_equal(disturbed.values, plain.values, ROWS * sizeof *plain.values);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_row_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
