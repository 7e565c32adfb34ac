/* SPDX-License-Identifier: MIT */
/* The overhead of a tick of a clock in a run: equal FMI calls from a hand-written C loop are 1.0.
 *
 *     bench_ticks PI3 BEAT3 RESULT [TICKS]
 *
 * PI3 is PI, whose clock ticks every 1/100 s, in Scheduled Execution: a partition is activated, and its two outputs
 *     are read. Nothing is
 * recorded. Runs alternate, the best of each counts. Then, without a bound: the same with a row in RESULT at every
 * tick; and two of BEAT3, in event mode, the clock of the first triggers that of the second, with a value. */
#include <stdio.h>
#include <stdlib.h>
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

struct references {
    uint32_t tick, u, count;
};

static uint32_t reference_of(const struct tt_fmu *fmu, const char *name)
{
    uint32_t variable = tt_description_find(fmu->desc, name);
    if (variable == TUTTI_NONE)
        die("the FMU is not PI");
    return fmu->desc->vars[variable].reference;
}

static void no_update(fmi3InstanceEnvironment environment)
{
    (void)environment;
}

static void no_lock(void)
{
}

/* The loop that a programmer would write by hand; seconds. */
static double by_hand(const struct tt_fmu *fmu, const struct references *at, long ticks)
{
    const struct functions3 *f = (const struct functions3 *)fmu->libraries[TUTTI_SE]->functions;
    fmi3Instance c = f->fmi3InstantiateScheduledExecution("bench", fmu->desc->token, NULL, 0, 0, NULL, ignore3,
                                                          no_update, no_lock, no_lock);
    double u = 0;
    int32_t count = 0;
    if (!c || f->fmi3EnterInitializationMode(c, 0, 0, 0, 1, (double)ticks / 100) || f->fmi3ExitInitializationMode(c))
        die("the FMU cannot be initialised");
    double begin = now();
    for (long i = 0; i < ticks; i++) {
        if (f->fmi3ActivateModelPartition(c, at->tick, (double)i / 100) != fmi3OK)
            die("fmi3ActivateModelPartition failed");
        if (f->fmi3GetFloat64(c, &at->u, 1, &u, 1) != fmi3OK || f->fmi3GetInt32(c, &at->count, 1, &count, 1) != fmi3OK)
            die("the outputs cannot be read");
    }
    double seconds = now() - begin;
    f->fmi3Terminate(c);
    f->fmi3FreeInstance(c);
    if (count != ticks)
        die("wrong number of ticks by hand");
    return seconds;
}

/* CPU seconds of a run with these options. */
static double seconds_of(const struct tutti_run_options *options, struct tutti_run_stats *stats)
{
    double begin = now();
    if (tutti_run(options, stats) != TUTTI_OK)
        die(tutti_err_message());
    return now() - begin;
}

/* CPU seconds of a whole run of partitions; the caller subtracts set-up. `result`: file for rows; NULL: none. */
static double by_tutti(const char *file, const char *result, long ticks)
{
    const char *nothing = "none";
    struct tutti_run_options options = {
        .files = (const char *const[]){file},
        .file_count = 1,
        .interface = "se",
        .has_stop = true,
        .stop = ((double)ticks - 0.5) / 100,
        .has_step = true,
        .step = (double)ticks,
        .output = result,
        .records = &nothing,
        .record_count = result ? 0 : 1,
    };
    struct tutti_run_stats stats;
    double seconds = seconds_of(&options, &stats);
    if (!result && stats.units[0].gets != 2 * (unsigned long)ticks)
        die("wrong number of ticks");
    tt_stats_fini(&stats);
    return seconds;
}

/* Each tick of the first is one of the second. */
static double connected(const char *file, long ticks)
{
    const char *nothing = "none";
    char first[1024], second[1024];
    snprintf(first, sizeof first, "a=%s", file);
    snprintf(second, sizeof second, "b=%s", file);
    struct tutti_run_options options = {
        .files = (const char *const[]){first, second},
        .file_count = 2,
        .connects = (const char *const[]){"a.out=b.triggered", "a.v=b.a"},
        .connect_count = 2,
        .sets = (const char *const[]){"a.modulo=1", "a.resolution=100", "b.counter=1000000000", "b.resolution=1"},
        .set_count = 4,
        .interface = "cs",
        .coupling = "seidel",
        .has_stop = true,
        .stop = ((double)ticks - 0.5) / 100,
        .has_step = true,
        .step = (double)ticks,
        .records = &nothing,
        .record_count = 1,
    };
    struct tutti_run_stats stats;
    double seconds = seconds_of(&options, &stats);
    tt_stats_fini(&stats);
    return seconds;
}

static double best(double a, double b)
{
    return a < b ? a : b;
}

int main(int argc, char **argv)
{
    if (argc < 4)
        die("usage: bench_ticks PI3 BEAT3 RESULT [TICKS]");
    long ticks = argc > 4 ? atol(argv[4]) : 1000000, some = ticks / 10;
    struct tt_fmu *fmu;
    if (tt_fmu_open(&fmu, argv[1], NULL) != TUTTI_OK || tt_fmu_load(fmu, TUTTI_SE, NULL) != TUTTI_OK)
        die(tutti_err_message());
    const struct references at = {reference_of(fmu, "tick"), reference_of(fmu, "u"), reference_of(fmu, "count")};
    double hand = 1e9, ours = 1e9, set_up = 1e9, rows = 1e9, pairs = 1e9, pair = 1e9;
    for (int round = 0; round < ROUNDS; round++) {
        hand = best(hand, by_hand(fmu, &at, ticks));
        ours = best(ours, by_tutti(argv[1], NULL, ticks));
        set_up = best(set_up, by_tutti(argv[1], NULL, 1));
        rows = best(rows, by_tutti(argv[1], argv[3], some));
        pairs = best(pairs, connected(argv[2], some));
        pair = best(pair, connected(argv[2], 1));
    }
    tt_fmu_free(fmu);
    ours -= set_up;
    printf("ticks       FMI 3.0  a partition, SE        by hand %7.1f ns/tick   tutti %7.1f ns/tick   ratio %5.2f   "
           "(at most "
           "1.5)\n",
           1e9 * hand / (double)ticks, 1e9 * ours / (double)ticks, ours / hand);
    printf("ticks       FMI 3.0  a partition, recorded                            tutti %7.1f ns/tick\n",
           1e9 * (rows - set_up) / (double)some);
    printf("ticks       FMI 3.0  two clocks, connected, CS                         tutti %7.1f ns/pair\n",
           1e9 * (pairs - pair) / (double)some);
    return ours / hand <= 1.5 ? 0 : 1;
}
