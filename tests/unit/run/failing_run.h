/* SPDX-License-Identifier: MIT */
/* failing_run.h - a whole run in which one call after the other fails: the result is as it would have been, or there is a message. */
#ifndef TUTTI_TEST_FAILING_RUN_H
#define TUTTI_TEST_FAILING_RUN_H

#include <stdlib.h>
#include <tutti/run.h>

#include "failing.h"
#include "sim/job/job.h"
#include "base/options/options.h"
#include "own_scratch.h"

/* Reading the system is tested separately. */
enum tutti_err __real_tt_job_open(struct tt_job *job, const struct tutti_run_options *options,
                                  const struct tt_visit *visit);
enum tutti_err __wrap_tt_job_open(struct tt_job *job, const struct tutti_run_options *options,
                                  const struct tt_visit *visit);
enum tutti_err __wrap_tt_job_open(struct tt_job *job, const struct tutti_run_options *options,
                                  const struct tt_visit *visit)
{
    enum failing_kind kind = failing_pause();
    enum tutti_err err = __real_tt_job_open(job, options, visit);
    failing.kind = kind;
    return err;
}

static inline struct tutti_run_options chain(const char *output)
{
    static const char *const connect[] = {"a.x=b.x_left", "a.v=b.v_left", "b.F=a.F_right"};
    static const char *const files[] = {"a=" TUTTI_FOLDERS "/ChainMass_fmi2", "b=" TUTTI_FOLDERS "/ChainMass_fmi2"};
    static const char *const set[] = {"a.x_left=0.1"};
    return (struct tutti_run_options){.files = files,
                                      .file_count = 2,
                                      .connects = connect,
                                      .connect_count = 3,
                                      .sets = set,
                                      .set_count = 1,
                                      .has_step = true,
                                      .step = 0.1,
                                      .has_stop = true,
                                      .stop = 0.5,
                                      .coupling = "jacobi",
                                      .output = output};
}

static char *wanted; /* the rows of a run that nothing happened to */

struct attempt {
    struct tutti_run_options options;
    unsigned long stride, most; /* between calls that fail; the last of them, 0: as many as there are */
};

static inline enum tutti_err run(struct attempt *attempt)
{
    (void)remove(attempt->options.output);
    enum tutti_err err = tutti_run(&attempt->options, NULL);
    (void)failing_pause();
    if (err)
        return err;
    char *rows = slurp_file(attempt->options.output, NULL);
    assert_string_equal(rows, wanted);
    free(rows);
    return TUTTI_OK;
}

static inline void fail_run(struct attempt *attempt, enum failing_kind kind, int error)
{
    unsigned failures = 0;
    unsigned long made;
    for (unsigned long at = 1; attempt->most == 0 || at <= attempt->most; at += attempt->stride) {
        failing.at = at;
        failing.now = 0;
        failing.error = error;
        failing.kind = kind;
        enum tutti_err err = run(attempt);
        made = failing.now;
        failures += err != TUTTI_OK;
        if (err && !*tutti_err_message())
            fail_msg("call %lu of kind %d, error %d: no message", at, (int)kind, error);
        if (made < at && !err) /* workers make more */
            break;
        assert_true(at < 100000);
    }
    assert_true(failures > 0);
    failing.at = 0;
    assert_ok(run(attempt)); /* nothing is in the way */
}

#endif
