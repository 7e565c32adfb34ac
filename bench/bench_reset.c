/* SPDX-License-Identifier: MIT */
/* What many runs of one FMU cost that is loaded once: tutti_simulation_reset, a parameter, start, all steps, a value at the end; and a sweep
 * (<tutti/study.h>) of the same runs in one worker process, against the same loop by hand, which makes and frees an instance for each. Then the
 * same sweep by one worker and by two: how much sooner it is over, and what it takes of processors.
 *
 *     bench_reset FMU2 [RUNS]
 *
 * FMU2 is VanDerPol as FMI 2.0. Runs alternate in blocks, the best of each counts; both must come to the same bits. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <tutti/tutti.h>

#include "by_hand.h"
#include "fmu/fmu.h"
#include "base/options/options.h"

enum { ROUNDS = 7 };
static const double h = 0.01; /* of all steps */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double parameter_of(int run)
{
    return 1 + 0.001 * run;
}

/* One run as a programmer would write it; the value at its end. */
static double run_by_hand(const struct tt_fmu *fmu, uint32_t mu, uint32_t x, double value, long steps)
{
    const struct functions2 *f = (const struct functions2 *)fmu->libraries[TUTTI_CS]->functions;
    fmi2CallbackFunctions callbacks = {ignore2, calloc, free, NULL, NULL};
    fmi2Component c = f->fmi2Instantiate("bench", fmi2CoSimulation, fmu->desc->token, "", &callbacks, 0, 0);
    double end = 0;
    if (!c || f->fmi2SetupExperiment(c, 0, 0, 0, 1, (double)steps * h) || f->fmi2SetReal(c, &mu, 1, &value) ||
        f->fmi2EnterInitializationMode(c) || f->fmi2ExitInitializationMode(c))
        die("the FMU cannot be initialised");
    for (long i = 0; i < steps; i++) {
        double t = (double)i * h, next = (double)(i + 1) * h;
        if (f->fmi2DoStep(c, t, next - t, 1) != fmi2OK)
            die("fmi2DoStep failed");
    }
    if (f->fmi2GetReal(c, &x, 1, &end) != fmi2OK)
        die("fmi2GetReal failed");
    f->fmi2Terminate(c);
    f->fmi2FreeInstance(c);
    return end;
}

static double run_by_tutti(struct tutti_simulation *simulation, size_t x, double value, double stop)
{
    char text[64];
    double end = 0;
    snprintf(text, sizeof text, "mu=%.17g", value);
    if (tutti_simulation_reset(simulation) || tutti_simulation_set(simulation, text) ||
        tutti_simulation_start(simulation) || tutti_simulation_advance(simulation, stop) ||
        tutti_simulation_get(simulation, x, &end, 1))
        die(tutti_err_message());
    return end;
}

/* Seconds of processors, of this process and its workers. */
static double now_with_workers(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return now() + (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* The same runs as a sweep; all of it counts: loading, the workers, what is measured. */
static double sweep(const struct tutti_run_options *given, int runs, unsigned workers, double *sum)
{
    char vary[64];
    const char *const varied[] = {vary}, *const measure[] = {"final(x0)"};
    struct tutti_run_options options = *given;
    struct tutti_sweep *made;
    snprintf(vary, sizeof vary, "mu=%.17g:%.17g:%d", parameter_of(0), parameter_of(runs - 1), runs);
    options.varys = varied;
    options.measures = measure;
    options.vary_count = options.measure_count = 1;
    options.workers = workers;
    double begin = now_with_workers();
    if (tutti_sweep_make(&made, &options))
        die(tutti_err_message());
    double seconds = now_with_workers() - begin;
    *sum = 0;
    for (int run = 0; run < runs; run++)
        *sum += tutti_sweep_value(made, (size_t)run, 1);
    tutti_sweep_free(made);
    return seconds;
}

static uint32_t reference_of(const struct tt_fmu *fmu, const char *name)
{
    uint32_t variable = tt_description_find(fmu->desc, name);
    if (variable == TUTTI_NONE)
        die("the FMU lacks mu or x0");
    return fmu->desc->vars[variable].reference;
}

static struct tutti_run_options options_of(const char *const *file, long steps)
{
    static const char *const none[] = {"none"};
    return (struct tutti_run_options){.files = file,
                                      .file_count = 1,
                                      .has_stop = true,
                                      .stop = (double)steps * h,
                                      .has_step = true,
                                      .step = h,
                                      .records = none,
                                      .record_count = 1};
}

static double now_by_the_clock(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* In turns, the best of each; sums must be the same to the bit. */
static bool compare_workers(const char *file, long steps, int runs)
{
    struct tutti_run_options options = options_of(&file, steps);
    double wall[2] = {1e9, 1e9}, processors[2] = {1e9, 1e9}, sums[2];
    for (int round = 0; round < ROUNDS; round++)
        for (unsigned w = 0; w < 2; w++) {
            double begin = now_by_the_clock(), seconds = sweep(&options, runs, w + 1, &sums[w]);
            wall[w] = fmin(wall[w], now_by_the_clock() - begin);
            processors[w] = fmin(processors[w], seconds);
            if (sums[w] != sums[0])
                die("two workers compute something else than one");
        }
    printf(
        "sweep       %d runs of %-5ld steps   1 worker %7.1f ms   2 workers %7.1f ms   speed-up %5.2f (at least 1.8)   "
        "processor time %4.2f times that of one (at most 1.1)\n",
        runs, steps, 1e3 * wall[0], 1e3 * wall[1], wall[0] / wall[1], processors[1] / processors[0]);
    return wall[0] / wall[1] >= 1.8 && processors[1] / processors[0] <= 1.1;
}

static bool compare(const struct tt_fmu *fmu, const char *file, long steps, int runs, double bound)
{
    struct tutti_run_options options = options_of(&file, steps);
    struct tutti_simulation *simulation;
    size_t x = 0;
    if (tutti_simulation_open(&simulation, &options) || tutti_simulation_find(simulation, "x0", &x) ||
        tutti_simulation_start(simulation))
        die(tutti_err_message());
    run_by_tutti(simulation, x, 1, options.stop); /* the reset is tried */
    uint32_t mu = reference_of(fmu, "mu"), x0 = reference_of(fmu, "x0");
    double hand = 1e9, ours = 1e9, swept = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        double begin = now(), sum = 0;
        for (int run = 0; run < runs; run++)
            sum += run_by_hand(fmu, mu, x0, parameter_of(run), steps);
        double middle = now(), other = 0;
        for (int run = 0; run < runs; run++)
            other += run_by_tutti(simulation, x, parameter_of(run), options.stop);
        double end = now();
        hand = middle - begin < hand ? middle - begin : hand;
        ours = end - middle < ours ? end - middle : ours;
        if (sum != other)
            die("the results differ");
        double third, seconds = sweep(&options, runs, 1, &third);
        swept = seconds < swept ? seconds : swept;
        if (fabs(third / sum - 1) > 1e-9) /* its values of the parameter differ by rounding */
            die("the results of the sweep differ");
    }
    tutti_simulation_free(simulation);
    printf(
        "reset       %d runs of %-5ld steps   by hand %7.1f us/run   tutti %7.1f us/run   ratio %5.2f   (at most %g)\n",
        runs, steps, 1e6 * hand / runs, 1e6 * ours / runs, ours / hand, bound);
    printf(
        "sweep       %d runs of %-5ld steps   by hand %7.1f us/run   tutti %7.1f us/run   ratio %5.2f   (at most %g)\n",
        runs, steps, 1e6 * hand / runs, 1e6 * swept / runs, swept / hand, bound);
    return ours / hand <= bound && swept / hand <= bound;
}

int main(int argc, char **argv)
{
    struct tt_fmu *fmu;
    if (argc < 2)
        die("usage: bench_reset FMU2 [RUNS]");
    if (tt_fmu_open(&fmu, argv[1], NULL) != TUTTI_OK || tt_fmu_load(fmu, TUTTI_CS, NULL) != TUTTI_OK)
        die(tutti_err_message());
    int runs = argc > 2 ? atoi(argv[2]) : 1000;
    bool good = compare(fmu, argv[1], 2000, runs, 1.3);
    good = compare(fmu, argv[1], 200, runs, 3) && good;
    good = compare_workers(argv[1], 10000, runs) && good;
    tt_fmu_free(fmu);
    return good ? 0 : 1;
}
