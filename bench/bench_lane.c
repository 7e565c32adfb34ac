/* SPDX-License-Identifier: MIT */
/* What Tutti costs on top of FMUs that do next to nothing (bench/lag): the same FMI calls and the same exchange of values in a
 * hand-written C loop are 1.0.
 *
 *     bench_lane FMU2 FMU3 [ROUNDS]
 *
 * Per version: one FMU alone, which is only stepped, and chains, in which each FMU reads the one before it; Jacobi with a
 * fixed step, nothing recorded; one of them also by Gauss-Seidel. Runs alternate, the best of each counts. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/tutti.h>

#include "by_hand.h"
#include "fmu/fmu.h"
#include "base/options/options.h"
#include "sim/stats.h"

enum { UNIT_STEPS = 200000, LEAST_STEPS = 1000 };
#define STEP 1e-3

static const uint32_t u_reference = 0, y_reference = 1;

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- by hand: a loop as a person would write it; seconds ---- */

/* An FMU of the chain. All but the first read u, all but the last show y. */
struct link {
    void *c;
    double u, y;
};

static double by_hand2(const struct tt_fmu *fmu, struct link *links, size_t n, long steps, bool after)
{
    const struct functions2 *f = (const struct functions2 *)fmu->libraries[TUTTI_CS]->functions;
    fmi2CallbackFunctions callbacks = {ignore2, calloc, free, NULL, NULL};
    for (size_t i = 0; i < n; i++) {
        links[i] =
            (struct link){f->fmi2Instantiate("lag", fmi2CoSimulation, fmu->desc->token, "", &callbacks, 0, 0), 0, 0};
        if (!links[i].c || f->fmi2SetupExperiment(links[i].c, 0, 0, 0, 0, 0) ||
            f->fmi2EnterInitializationMode(links[i].c) || f->fmi2ExitInitializationMode(links[i].c) ||
            f->fmi2GetReal(links[i].c, &y_reference, 1, &links[i].y))
            die("the FMI 2.0 FMU cannot be initialised");
    }
    double begin = now();
    for (long k = 0; k < steps; k++) {
        double t = (double)k * STEP, h = (double)(k + 1) * STEP - t;
        for (size_t i = 1; !after && i < n; i++)
            links[i].u = links[i - 1].y;
        for (size_t i = 0; i < n; i++) {
            if (after && i > 0)
                links[i].u = links[i - 1].y;
            if (i > 0 && f->fmi2SetReal(links[i].c, &u_reference, 1, &links[i].u) != fmi2OK)
                die("fmi2SetReal failed");
            if (f->fmi2DoStep(links[i].c, t, h, 1) != fmi2OK)
                die("fmi2DoStep failed");
            if (i + 1 < n && f->fmi2GetReal(links[i].c, &y_reference, 1, &links[i].y) != fmi2OK)
                die("fmi2GetReal failed");
        }
    }
    double seconds = now() - begin;
    for (size_t i = 0; i < n; i++)
        f->fmi2FreeInstance(links[i].c);
    return seconds;
}

static double by_hand3(const struct tt_fmu *fmu, struct link *links, size_t n, long steps, bool after)
{
    const struct functions3 *f = (const struct functions3 *)fmu->libraries[TUTTI_CS]->functions;
    bool event, terminate, early;
    double last;
    for (size_t i = 0; i < n; i++) {
        links[i] = (struct link){
            f->fmi3InstantiateCoSimulation("lag", fmu->desc->token, NULL, 0, 0, 0, 0, NULL, 0, NULL, ignore3, NULL), 0,
            0};
        if (!links[i].c || f->fmi3EnterInitializationMode(links[i].c, 0, 0, 0, 0, 0) ||
            f->fmi3ExitInitializationMode(links[i].c) || f->fmi3GetFloat64(links[i].c, &y_reference, 1, &links[i].y, 1))
            die("the FMI 3.0 FMU cannot be initialised");
    }
    double begin = now();
    for (long k = 0; k < steps; k++) {
        double t = (double)k * STEP, h = (double)(k + 1) * STEP - t;
        for (size_t i = 1; !after && i < n; i++)
            links[i].u = links[i - 1].y;
        for (size_t i = 0; i < n; i++) {
            if (after && i > 0)
                links[i].u = links[i - 1].y;
            if (i > 0 && f->fmi3SetFloat64(links[i].c, &u_reference, 1, &links[i].u, 1) != fmi3OK)
                die("fmi3SetFloat64 failed");
            if (f->fmi3DoStep(links[i].c, t, h, 1, &event, &terminate, &early, &last) != fmi3OK || terminate || early)
                die("fmi3DoStep failed");
            if (i + 1 < n && f->fmi3GetFloat64(links[i].c, &y_reference, 1, &links[i].y, 1) != fmi3OK)
                die("fmi3GetFloat64 failed");
        }
    }
    double seconds = now() - begin;
    for (size_t i = 0; i < n; i++)
        f->fmi3FreeInstance(links[i].c);
    return seconds;
}

/* ---- by tutti ---- */

struct chain {
    char **files, **connect;
    size_t n;
};

#define TEXT(out, ...)                                                                                                 \
    do {                                                                                                               \
        if (asprintf(out, __VA_ARGS__) < 0)                                                                            \
            die("out of memory");                                                                                      \
    } while (0)

static void make_chain(struct chain *chain, const char *file, size_t n)
{
    *chain = (struct chain){.n = n, .files = calloc(n, sizeof(char *)), .connect = calloc(n, sizeof(char *))};
    if (!chain->files || !chain->connect)
        die("out of memory");
    for (size_t i = 0; i < n; i++)
        TEXT(&chain->files[i], "m%zu=%s", i, file);
    for (size_t i = 0; i + 1 < n; i++)
        TEXT(&chain->connect[i], "m%zu.y=m%zu.u", i, i + 1);
}

static void free_chain(struct chain *chain)
{
    for (size_t i = 0; i < chain->n; i++)
        free(chain->files[i]);
    for (size_t i = 0; i + 1 < chain->n; i++)
        free(chain->connect[i]);
    free(chain->files);
    free(chain->connect);
}

/* Seconds of the loop. */
static double by_tutti(const struct chain *chain, long steps, bool after)
{
    static const char *const none[] = {"none"};
    struct tutti_run_options options = {
        .files = (const char *const *)chain->files,
        .file_count = chain->n,
        .connects = (const char *const *)chain->connect,
        .connect_count = chain->n - 1,
        .has_stop = true,
        .stop = (double)steps * STEP,
        .has_step = true,
        .step = STEP,
        .coupling = chain->n == 1 ? NULL
                    : after       ? "seidel"
                                  : "jacobi",
        .control = chain->n == 1 ? NULL : "fixed",
        .extrapolate = chain->n == 1 ? NULL : "0",
        .records = none,
        .record_count = 1,
    };
    struct tutti_run_stats stats;
    if (tutti_run(&options, &stats))
        die(tutti_err_message());
    if (stats.steps != (unsigned long)steps || stats.unit_count != chain->n)
        die("wrong number of steps or units");
    double seconds = stats.loop_seconds;
    tt_stats_fini(&stats);
    return seconds;
}

/* ---- both ---- */

static double best(double a, double b)
{
    return a < b ? a : b;
}

/* True if the figure is within its bound. */
static bool compare(const struct tt_fmu *fmu, const char *path, size_t n, bool after, int rounds)
{
    const double bound = 1.5;
    double (*by_hand)(const struct tt_fmu *, struct link *, size_t, long, bool) = fmu->desc->fmi == 3 ? by_hand3
                                                                                                      : by_hand2;
    struct chain chain;
    make_chain(&chain, path, n);
    struct link *links = calloc(n, sizeof *links);
    if (!links)
        die("out of memory");
    long steps = UNIT_STEPS / (long)n > LEAST_STEPS ? UNIT_STEPS / (long)n : LEAST_STEPS;
    double hand = 1e9, ours = 1e9, each = 1e9 / (double)steps / (double)n;
    for (int round = 0; round < rounds; round++) {
        hand = best(hand, by_hand(fmu, links, n, steps, after));
        ours = best(ours, by_tutti(&chain, steps, after));
    }
    printf("lane        FMI %d.0  %5zu FMUs  %-7s by hand %6.1f ns/FMU-step   tutti %6.1f ns   ratio %5.2f   (at most "
           "%g)\n",
           fmu->desc->fmi, n,
           n == 1  ? "alone"
           : after ? "seidel"
                   : "jacobi",
           each * hand, each * ours, ours / hand, bound);
    fflush(stdout);
    free(links);
    free_chain(&chain);
    return ours / hand <= bound;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {1, 10, 100, 1000};
    if (argc < 3)
        die("usage: bench_lane FMU2 FMU3 [ROUNDS]");
    int rounds = argc > 3 ? atoi(argv[3]) : 40;
    bool good = true;
    for (int v = 1; v <= 2; v++) {
        struct tt_fmu *fmu;
        if (tt_fmu_open(&fmu, argv[v], NULL) || tt_fmu_load(fmu, TUTTI_CS, NULL))
            die(tutti_err_message());
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            good = compare(fmu, argv[v], sizes[i], false, rounds) && good;
        good = compare(fmu, argv[v], 100, true, rounds) && good;
        tt_fmu_free(fmu);
    }
    return good ? 0 : 1;
}
