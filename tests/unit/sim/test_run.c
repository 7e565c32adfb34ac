/* SPDX-License-Identifier: MIT */
/* The run loop through its public interface. (tests/system has what people see of it.) */
#include "base/options/options.h"
#include "sim/stats.h"
#include "test.h"

#include <stdlib.h>
#include <tutti/tutti.h>

#include "count_allocations.h"
#include "solve/solver.h"

static unsigned long allocations_with(const char *fmu, const char *solver, double stop, const char *output)
{
    const char *all = "*";
    struct tutti_run_options options = {
        .files = (const char *const[]){fmu},
        .file_count = 1,
        .solver = solver,
        .has_stop = true,
        .stop = stop,
        .has_step = true,
        .step = 0.001,
        .output = output,
        .records = &all,
        .record_count = 1,
    };
    struct tutti_run_stats stats;
    unsigned long before = allocations;
    assert_ok(tutti_run(&options, &stats));
    assert_true(stats.steps >= (unsigned long)(stop * 999));
    tt_stats_fini(&stats);
    return allocations - before;
}

static unsigned long allocations_of(const char *fmu, double stop, const char *output)
{
    return allocations_with(fmu, NULL, stop, output);
}

/* Twenty times the steps, and not one allocation more. */
static void test_no_allocation_per_step(void **state)
{
    (void)state;
    static const char *const fmus[] = {TUTTI_FMUS "/VanDerPol_fmi1cs.fmu", TUTTI_FMUS "/VanDerPol_fmi2.fmu",
                                       TUTTI_FMUS "/VanDerPol_fmi3.fmu", TUTTI_FMUS "/Feedthrough_fmi3.fmu"};
    for (size_t i = 0; i < sizeof fmus / sizeof *fmus; i++) {
        unsigned long few = allocations_of(fmus[i], 0.1, "/dev/null");
        assert_true(few > 0); /* the counter works */
        assert_int_equal(allocations_of(fmus[i], 2, "/dev/null"), few);
        assert_int_equal(allocations_of(fmus[i], 2, NULL), allocations_of(fmus[i], 0.1, NULL));
    }
}

/* The same of our own solvers, and of what is around any of them. */
static void test_no_allocation_per_step_of_a_solver(void **state)
{
    (void)state;
    static const char *const fmus[] = {TUTTI_FMUS "/VanDerPol_fmi1me.fmu", TUTTI_FMUS "/VanDerPol_fmi2.fmu",
                                       TUTTI_FMUS "/VanDerPol_fmi3.fmu", TEST_FMUS "/Clockwork_fmi3.fmu"};
    for (size_t i = 0; i < sizeof fmus / sizeof *fmus; i++)
        for (size_t s = 0; tt_solver_kinds[s]; s++) {
            const char *solver = tt_solver_kinds[s]->name;
            unsigned long few = allocations_with(fmus[i], solver, 0.1, "/dev/null");
            assert_int_equal(allocations_with(fmus[i], solver, 2, "/dev/null"), few);
        }
}

static volatile sig_atomic_t interrupted;

static void interrupt_soon(void *context, const struct tutti_progress *progress)
{
    (void)context;
    assert_true(progress->time >= progress->start && progress->time <= progress->stop);
    interrupted = progress->steps > 1000;
}

static void test_interrupt(void **state)
{
    (void)state;
    interrupted = 0;
    struct tutti_run_options options = {
        .files = (const char *const[]){TUTTI_FMUS "/Dahlquist_fmi2.fmu"},
        .file_count = 1,
        .has_stop = true,
        .stop = 1e6,
        .has_step = true,
        .step = 1e-3,
        .interrupt = &interrupted,
        .progress = interrupt_soon,
    };
    struct tutti_run_stats stats;
    assert_fails(tutti_run(&options, &stats), TUTTI_ERR_INTERRUPTED, "interrupted at t = ");
    assert_true(stats.steps > 1000 && stats.stop > 0.9 && stats.stop < 1e6);
    tt_stats_fini(&stats);
}

struct calls {
    unsigned long count;
    double elapsed;
};

static void count_call(void *context, const struct tutti_progress *progress)
{
    struct calls *calls = context;
    assert_true(progress->elapsed >= calls->elapsed);
    calls->count++;
    calls->elapsed = progress->elapsed;
    interrupted = progress->elapsed > 0.7;
}

/* However fast the steps are: about ten times per second, no more. */
static void test_progress(void **state)
{
    (void)state;
    struct calls calls = {0};
    struct tutti_run_options options = {
        .files = (const char *const[]){TUTTI_FMUS "/Dahlquist_fmi2.fmu"},
        .file_count = 1,
        .has_stop = true,
        .stop = 1e6,
        .has_step = true,
        .step = 1e-3,
        .interrupt = &interrupted,
        .progress = count_call,
        .progress_context = &calls,
    };
    interrupted = 0;
    assert_fails(tutti_run(&options, NULL), TUTTI_ERR_INTERRUPTED, "interrupted at t = ");
    assert_true(calls.count > 0 && (double)calls.count <= 10 * calls.elapsed + 2);
}

static void test_stats(void **state)
{
    (void)state;
    struct tutti_run_options options = {.files = (const char *const[]){TUTTI_FMUS "/Dahlquist_fmi2.fmu"},
                                        .file_count = 1,
                                        .has_stop = true,
                                        .stop = 1,
                                        .has_step = true,
                                        .step = 0.3,
                                        .stats_exact = true,
                                        .output = "/dev/null"};
    struct tutti_run_stats stats;
    assert_ok(tutti_run(&options, &stats));
    assert_int_equal(stats.steps, 4); /* 0.3, 0.6, 0.9, 1 */
    assert_int_equal(stats.units[0].do_steps, 4);
    assert_int_equal(stats.rows, 5);
    assert_int_equal(stats.units[0].gets, 5);
    assert_same_double(stats.stop, 1);
    assert_string_equal(stats.units[0].name, "Dahlquist_fmi2");
    assert_string_equal(stats.units[0].fmi, "2.0");
    assert_true(stats.units[0].seconds >= 0);
    tt_stats_fini(&stats);
    assert_ok(tutti_run(&options, NULL));
}

static void test_no_file(void **state)
{
    (void)state;
    struct tutti_run_options options = {0};
    assert_fails(tutti_run(&options, NULL), TUTTI_ERR_ARGUMENT, "no file");
}

static void test_bad_times(void **state)
{
    (void)state;
    static const struct {
        double start, stop, step;
        const char *words;
    } cases[] = {
        {1, 1, 0.1, "must be after"},
        {2, 1, 0.1, "must be after"},
        {NAN, 1, 0.1, "start"},
        {0, INFINITY, 0.1, "stop"},
        {0, 1, 0, "step"},
        {0, 1, -1, "greater than 0"},
        {0, 1, NAN, "step"},
        {0, 1, 1e-18, "steps"},
        {-1e308, 1e308, 1, "stop minus start"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct tutti_run_options options = {
            .files = (const char *const[]){TUTTI_FMUS "/Dahlquist_fmi2.fmu"},
            .file_count = 1,
            .has_start = true,
            .start = cases[i].start,
            .has_stop = true,
            .stop = cases[i].stop,
            .has_step = true,
            .step = cases[i].step,
        };
        assert_fails(tutti_run(&options, NULL), TUTTI_ERR_ARGUMENT, cases[i].words);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_no_allocation_per_step),
        cmocka_unit_test(test_no_allocation_per_step_of_a_solver),
        cmocka_unit_test(test_interrupt),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_stats),
        cmocka_unit_test(test_no_file),
        cmocka_unit_test(test_bad_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
