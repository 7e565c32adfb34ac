/* SPDX-License-Identifier: MIT */
/* The overhead of the loop of `tutti run`: equal FMI calls from a hand-written C loop are 1.0.
 *
 *     bench_loop FMU2 FMU3 OUT.csv [STEPS]
 *
 * FMU2 and FMU3 are Dahlquist as FMI 2.0 and 3.0. Per version two cases: nothing recorded; one variable recorded as
 * CSV at every step, against a hand-written loop that only reads it. Runs alternate, the best of each counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/tutti.h>

#include "by_hand.h"
#include "fmu/fmu.h"
#include "base/options/options.h"
#include "sim/stats.h"

enum { ROUNDS = 7 };

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* The loop that a programmer would write by hand for FMI 2.0; seconds. */
static double by_hand2(const struct tt_fmu *fmu, uint32_t reference, long steps, bool get)
{
    const struct functions2 *f = (const struct functions2 *)fmu->libraries[TUTTI_CS]->functions;
    fmi2CallbackFunctions callbacks = {ignore2, calloc, free, NULL, NULL};
    fmi2Component c = f->fmi2Instantiate("bench", fmi2CoSimulation, fmu->desc->token, "", &callbacks, 0, 0);
    double h = 1e-3, y = 0;
    if (!c || f->fmi2SetupExperiment(c, 0, 0, 0, 1, (double)steps * h) || f->fmi2EnterInitializationMode(c) ||
        f->fmi2ExitInitializationMode(c))
        die("the FMI 2.0 FMU cannot be initialised");
    double begin = now();
    for (long i = 0; i < steps; i++) {
        if (f->fmi2DoStep(c, (double)i * h, h, 1) != fmi2OK)
            die("fmi2DoStep failed");
        if (get && f->fmi2GetReal(c, &reference, 1, &y) != fmi2OK)
            die("fmi2GetReal failed");
    }
    double seconds = now() - begin;
    f->fmi2Terminate(c);
    f->fmi2FreeInstance(c);
    return seconds;
}

static double by_hand3(const struct tt_fmu *fmu, uint32_t reference, long steps, bool get)
{
    const struct functions3 *f = (const struct functions3 *)fmu->libraries[TUTTI_CS]->functions;
    fmi3Instance c =
        f->fmi3InstantiateCoSimulation("bench", fmu->desc->token, NULL, 0, 0, 0, 0, NULL, 0, NULL, ignore3, NULL);
    double h = 1e-3, y = 0, last;
    bool event, terminate, early;
    if (!c || f->fmi3EnterInitializationMode(c, 0, 0, 0, 1, (double)steps * h) || f->fmi3ExitInitializationMode(c))
        die("the FMI 3.0 FMU cannot be initialised");
    double begin = now();
    for (long i = 0; i < steps; i++) {
        if (f->fmi3DoStep(c, (double)i * h, h, 1, &event, &terminate, &early, &last) != fmi3OK)
            die("fmi3DoStep failed");
        if (get && f->fmi3GetFloat64(c, &reference, 1, &y, 1) != fmi3OK)
            die("fmi3GetFloat64 failed");
    }
    double seconds = now() - begin;
    f->fmi3Terminate(c);
    f->fmi3FreeInstance(c);
    return seconds;
}

/* CPU seconds of a whole run; set-up is taken off by the caller. */
static double by_tutti(const char *file, const char *variable, long steps, bool record, const char *output)
{
    const char *pattern = record ? variable : "none";
    struct tutti_run_options options = {
        .files = (const char *const[]){file},
        .file_count = 1,
        .has_stop = true,
        .stop = (double)steps * 1e-3,
        .has_step = true,
        .step = 1e-3,
        .records = &pattern,
        .record_count = 1,
        .output = output,
    };
    struct tutti_run_stats stats;
    double begin = now();
    if (tutti_run(&options, &stats) != TUTTI_OK)
        die(tutti_err_message());
    double seconds = now() - begin;
    if (stats.steps != (unsigned long)steps)
        die("wrong number of steps");
    tt_stats_fini(&stats);
    return seconds;
}

static double best(double a, double b)
{
    return a < b ? a : b;
}

/* True if both figures are within their bounds. */
static bool compare(const char *file, const char *label, long steps, const char *output)
{
    struct tt_fmu *fmu;
    if (tt_fmu_open(&fmu, file, NULL) != TUTTI_OK || tt_fmu_load(fmu, TUTTI_CS, NULL) != TUTTI_OK)
        die(tutti_err_message());
    uint32_t variable = tt_description_find(fmu->desc, "x");
    if (variable == TUTTI_NONE)
        die("the FMU has no variable x");
    uint32_t reference = fmu->desc->vars[variable].reference;
    double (*by_hand)(const struct tt_fmu *, uint32_t, long, bool) = fmu->desc->fmi == 3 ? by_hand3 : by_hand2;
    bool good = true;
    for (int record = 0; record < 2; record++) {
        double hand = 1e9, ours = 1e9, set_up = 1e9;
        for (int round = 0; round < ROUNDS; round++) {
            hand = best(hand, by_hand(fmu, reference, steps, record));
            ours = best(ours, by_tutti(file, "x", steps, record, output));
            set_up = best(set_up, by_tutti(file, "x", 1, record, output));
        }
        ours -= set_up;
        double bound = record ? 20 : 1.5;
        good = good && ours / hand <= bound;
        printf("loop        %-8s %-22s by hand %7.1f ns/step   tutti %7.1f ns/step   ratio %5.2f   (at most %g)\n",
               label, record ? "one variable as CSV" : "nothing recorded", 1e9 * hand / (double)steps,
               1e9 * ours / (double)steps, ours / hand, bound);
    }
    tt_fmu_free(fmu);
    return good;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        die("usage: bench_loop FMU2 FMU3 OUT.csv [STEPS]");
    long steps = argc > 4 ? atol(argv[4]) : 1000000;
    bool good = compare(argv[1], "FMI 2.0", steps, argv[3]);
    good = compare(argv[2], "FMI 3.0", steps, argv[3]) && good;
    return good ? 0 : 1;
}
