/* SPDX-License-Identifier: MIT */
/* Linear correction and smoothing from step to step: what is done once, steps that are taken back, events, refusals. */
#include "mixers.h"

#include "sim/decide.h"
#include "sim/control/control.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/correction.h"
#include "sim/events.h"
#include "sim/method_open.h"
#include "sim/execution_run.h"
#include "sim/stats.h"
#include "solve/allocations.h"
#include "sim/start/init.h"
#include "sim/rank_open.h"

/* ---- runs, step by step ---- */

/* A run in pieces. */
struct pieces {
    struct tt_job job;
    struct tutti_run_stats stats;
    struct tt_execution execution;
};

static void load(struct pieces *run, const struct tutti_run_options *options)
{
    *run = (struct pieces){0};
    assert_ok(tt_job_open(&run->job, options, NULL));
    run->execution.rank = (struct tt_rank){.job = &run->job, .stats = &run->stats};
}

/* Up to the first point. */
static void start(struct pieces *run, const struct tutti_run_options *options)
{
    load(run, options);
    assert_ok(tt_execution_start(&run->execution, false));
}

/* Up to where the master is opened, of what nothing is recorded. */
static void start_units(struct pieces *run, const struct tutti_run_options *options)
{
    struct tt_rank *rank = &run->execution.rank;
    struct tt_sim *master = &run->execution.master;
    bool crossed = false;
    load(run, options);
    master->rank = rank;
    master->observer = &run->execution.observer;
    assert_ok(tt_rank_open(rank));
    assert_ok(tt_init_compute(rank));
    assert_ok(tt_decide_method(master));
    assert_ok(tt_init_exit(rank));
    assert_ok(tt_sim_connect(master));
    assert_ok(tt_events_handle(master, &crossed));
}

static void finish(struct pieces *run, enum tutti_err err)
{
    assert_int_equal(tt_execution_close(&run->execution, err), err);
    tt_stats_fini(&run->stats);
    tt_job_close(&run->job);
}

/* The cost of a run. */
static struct tt_correction_counts count_work(const struct tutti_run_options *options)
{
    struct pieces run;
    start(&run, options);
    assert_ok(tt_run_until_end(&run.execution.loop));
    struct tt_correction_counts counts = tt_correction_get_counts(run.execution.master.correction);
    finish(&run, TUTTI_OK);
    return counts;
}

/* One D, one factorisation; a D that has to be tried is found at the start and after the first step, which shows that it
 * stays, and then each time that it has become old, after 20 steps: six times in a hundred. */
static void work_is_done_once(void **state)
{
    (void)state;
    struct experiment e;
    struct outcome outcome;
    prepare(&e, "Mixer_fmi2", "cs", "0", 0.01, NULL, 0);
    struct tt_correction_counts counts = count_work(&e.options);
    assert_int_equal(counts.factorizations, 1);
    assert_int_equal(counts.measured, 0);
    prepare(&e, "PlainMixer_fmi2", "cs", "0", 0.01, NULL, 0);
    e.options.rtol = 1e-4;
    counts = count_work(&e.options);
    assert_int_equal(counts.measured, 2 * 6); /* of a and b: no unit reads c's outputs */
    assert_in_range(counts.factorizations, 1, 6);
    e.options.record_count = STATES_ONLY;
    simulate(&outcome, &e.options);
    assert_in_range(outcome.auxiliary, 3 * counts.measured, 4 * counts.measured); /* two inputs, and none; some twice */
    tt_csv_table_free(outcome.table);
}

/* ---- going back ---- */

static void accept(struct tt_sim *master, double target)
{
    master->rank->t = target;
    tt_correction_accept(master->correction);
    assert_ok(tt_extrapolation_accept(&master->extrapolation));
}

/* Some steps, doubled or plain; with detours: before each, longer and shorter ones that are taken back. Returns the signals. */
static void step_by_step(const struct tutti_run_options *options, bool detours, double *signals, size_t *count)
{
    struct pieces run;
    struct tt_rank *rank = &run.execution.rank;
    struct tt_sim *master = &run.execution.master;
    start(&run, options);
    for (int n = 0; n < 30; n++) {
        double h = n % 3 ? 0.01 : 0.02, target = rank->t + h;
        struct tt_step_result attempt = {0};
        assert_ok(tt_snapshot_take(&master->start, rank));
        if (detours) {
            assert_ok(tt_doubling_attempt(master, rank->t + 1.7 * h, &attempt));
            assert_ok(tt_coupling_roll_back(master, true));
            assert_ok(tt_control_attempt_step(master, rank->t + 0.4 * h, &attempt));
            assert_ok(tt_coupling_roll_back(master, true));
        }
        assert_ok(n % 2 ? tt_doubling_attempt(master, target, &attempt)
                        : tt_control_attempt_step(master, target, &attempt));
        accept(master, target);
    }
    *count = rank->wires.signal_size / sizeof *signals;
    memcpy(signals, rank->wires.signals, rank->wires.signal_size);
    finish(&run, TUTTI_OK);
}

static void steps_taken_back_leave_no_trace(void **state)
{
    (void)state;
    static const char *const bend[] = {"a.bend=0.02", "b.bend=-0.01"};
    static const char *const fmus[][3] = {{"Mixer_fmi2", "cs"},          {"MixerRates_fmi2", "cs"},
                                          {"PlainMixer_fmi2", "cs"},     {"PlainMixer_fmi3", "cs"},
                                          {"Mixer_fmi3", "me"},          {"PlainMixer_fmi2", "me"},
                                          {"Mixer_fmi2", "me", "solve"}, {"PlainMixer_fmi3", "cs", "solve"}};
    for (size_t f = 0; f < LENGTH(fmus); f++)
        for (int order = 0; order <= 2; order++)
            for (int smooth = 0; smooth <= (order > 0); smooth++) {
                static const char *const orders[] = {"0", "1", "2"};
                double plain[64], other[64];
                size_t count, same;
                struct experiment e;
                prepare(&e, fmus[f][0], fmus[f][1], orders[order], 0.01, bend, LENGTH(bend));
                e.options.control = "richardson";
                e.options.correct_how = fmus[f][2];
                e.options.smooth = smooth;
                e.options.output = NULL;
                e.options.rtol = e.options.atol = 0.01; /* so that a D that is tried is used for some steps */
                step_by_step(&e.options, false, plain, &count);
                step_by_step(&e.options, true, other, &same);
                assert_int_equal(count, same);
                assert_memory_equal(plain, other, count * sizeof *plain);
            }
}

/* A control with frequent rollback, with all features: the errors stay within the tolerance. */
static void controlled_steps_keep_the_tolerance(void **state)
{
    (void)state;
    static const char *const controls[] = {"richardson", "embedded"};
    double exact[UNITS] = {1, 1, 1};
    solve_exactly(exact, 1);
    for (size_t k = 0; k < LENGTH(controls); k++)
        for (int smooth = 0; smooth < 2; smooth++) {
            struct experiment e;
            struct outcome outcome;
            prepare(&e, "PlainMixer_fmi2", "cs", "1", 0.1, NULL, 0);
            e.options.control = controls[k];
            e.options.smooth = smooth;
            e.options.rtol = 1e-6;
            e.options.atol = 1e-7;
            simulate(&outcome, &e.options);
            assert_true(outcome.rejected > 0);
            assert_true(error_of(outcome.table, exact) < 1e-4);
            tt_csv_table_free(outcome.table);
        }
}

/* ---- events ---- */

/* D is another one from t = 0.5 on: the outputs there, with the new D, are consistent again, and inputs jump. */
static void an_event_changes_everything(void **state)
{
    (void)state;
    static const char *const switches[] = {"a.switch_at=0.5", "b.switch_at=0.5", "c.switch_at=0.5"};
    static const struct sort cases[] = {
        {"Mixer_fmi3", "cs", false, false, false, false, 1e-11},
        {"PlainMixer_fmi3", "cs", false, false, true, false, 1e-7},
        {"Mixer_fmi2", "me", true, true, false, true, 1e-9},
        {"PlainMixer_fmi3", "me", true, true, false, true, 1e-8},
    };
    for (size_t k = 0; k < LENGTH(cases); k++)
        for (int order = 0; order <= cases[k].takes_slopes; order++)
            for (int smooth = 0; smooth <= order; smooth++) {
                struct experiment e;
                struct outcome outcome;
                struct reference r;
                prepare(&e, cases[k].fmu, cases[k].interface, order ? "1" : "0", 0.01, switches, LENGTH(switches));
                e.options.smooth = smooth;
                simulate(&outcome, &e.options);
                assert_int_equal(tt_csv_table_rows(outcome.table), 102); /* one before the event, one after */
                begin(&r, true);
                for (size_t row = 0; row < 102; row++) {
                    compare(outcome.table, row, &r, cases[k].tolerance);
                    if (row == 50) {
                        double u[INPUTS];
                        through_links(r.y, true, u); /* what the units get at the event */
                        r.scale = 0.5;
                        r.has_ends = false;
                        settle(&r, u);
                    } else {
                        advance(&r, 0.01, order ? FROM_RATES : HELD, smooth);
                    }
                }
                tt_csv_table_free(outcome.table);
            }
}

/* ---- refusals ---- */

static enum tutti_err try(const struct tutti_run_options *options)
{
    struct tutti_run_stats stats = {0};
    enum tutti_err err = tutti_run(options, &stats);
    tt_stats_fini(&stats);
    return err;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const own[] = {"b=0.02"};
    struct experiment e;
    prepare(&e, "StuckMixer_fmi2", "cs", "0", 0.01, NULL, 0);
    assert_fails(try(&e.options), TUTTI_ERR_UNSUPPORTED, "how the outputs of 'a'");
    assert_non_null(strstr(tutti_err_message(), "StuckMixer_fmi2"));
    assert_non_null(strstr(tutti_err_message(), "use coupling seidel"));
    prepare(&e, "StuckMixer_fmi2", "me", "0", 0.01, NULL, 0);
    assert_ok(try(&e.options));
    prepare(&e, "Mixer_fmi2", "cs", "0", 0.01, NULL, 0);
    e.options.unit_steps = own;
    e.options.unit_step_count = 1;
    assert_fails(try(&e.options), TUTTI_ERR_ARGUMENT, "correct needs units that step together, and 'b'");
    prepare(&e, "Mixer_fmi2", "me", "0", 0.01, NULL, 0);
    e.options.filter = "average";
    assert_fails(try(&e.options), TUTTI_ERR_ARGUMENT, "averages");
}

/* From t = 0.5 on, y2 = x + u2 on both sides: such outputs do not exist. */
static void a_loop_without_a_solution_is_an_error(void **state)
{
    (void)state;
    static const char *const loop[] = {"a.y2=b.u2", "b.y2=a.u2"};
    static const char *const more[] = {"a.d22=2", "b.d22=2", "a.switch_at=0.5", "b.switch_at=0.5"};
    struct experiment e;
    prepare(&e, "Mixer_fmi3", "cs", "0", 0.01, more, LENGTH(more));
    e.options.file_count = 2;
    e.options.set_count -= UNITS * PARAMETERS;
    e.options.sets += UNITS * PARAMETERS;
    e.options.connects = loop;
    e.options.connect_count = LENGTH(loop);
    assert_fails(try(&e.options), TUTTI_ERR_SOLVER, "I - D L has no inverse");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const fmus[][3] = {
        {"Mixer_fmi2", "cs"}, {"PlainMixer_fmi2", "cs"}, {"PlainMixer_fmi3", "cs", "solve"}};
    for (size_t f = 0; f < LENGTH(fmus); f++) {
        struct experiment e;
        enum tutti_err err = TUTTI_ERR_MEMORY;
        prepare(&e, fmus[f][0], fmus[f][1], "1", 0.01, NULL, 0);
        e.options.correct_how = fmus[f][2];
        e.options.smooth = true;
        e.options.output = NULL;
        for (unsigned long failing = 1; err; failing++) {
            struct pieces run;
            start_units(&run, &e.options);
            allocations = 0;
            failing_allocation = failing;
            err = tt_sim_open(&run.execution.master);
            failing_allocation = 0;
            /* FMUs of FMI 2.0 take their memory from us. */
            assert_true(err == TUTTI_OK || err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_FMU);
            assert_int_equal(err != TUTTI_OK, allocations >= failing);
            finish(&run, err);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(work_is_done_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_taken_back_leave_no_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(controlled_steps_keep_the_tolerance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_changes_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_without_a_solution_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
