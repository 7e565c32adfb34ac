/* SPDX-License-Identifier: MIT */
/* What coupling costs on top of the FMUs: the same FMI calls and the same exchange of values in a hand-written C loop are
 * 1.0.
 *
 *     bench_chain FMU2 OUT.csv
 *
 * FMU2 is ChainMass as FMI 2.0. A chain of N instances, 3 connections each (the ends have fewer), Jacobi with a fixed
 * step: for several N with nothing recorded, and for one N with all outputs recorded as CSV at every step. Runs alternate,
 * the best of each counts. Both must end at the same numbers, to the bit. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <tutti/tutti.h>

#include "by_hand.h"
#include "fmu/fmu.h"
#include "base/options/options.h"
#include "sim/stats.h"

enum { ROUNDS = 40, UNIT_STEPS = 100000 };
#define STEP 1e-3
#define WALL 0.1 /* position of the wall that holds the first mass; not an equilibrium */

/* References of the FMU's variables. */
struct references {
    uint32_t inputs[3];  /* x_left, v_left, F_right */
    uint32_t outputs[3]; /* x, v, F */
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint32_t reference(const struct tt_fmu *fmu, const char *name)
{
    uint32_t variable = tt_description_find(fmu->desc, name);
    if (variable == TUTTI_NONE)
        die("the FMU is not ChainMass");
    return fmu->desc->vars[variable].reference;
}

static struct references find_references(const struct tt_fmu *fmu)
{
    return (struct references){
        {reference(fmu, "x_left"), reference(fmu, "v_left"), reference(fmu, "F_right")},
        {reference(fmu, "x"), reference(fmu, "v"), reference(fmu, "F")},
    };
}

/* ---- by hand ---- */

/* A link reads and writes what is connected: in the middle of the chain all three. */
struct link {
    fmi2Component c;
    const uint32_t *inputs, *outputs;
    size_t input_count, output_count;
    double u[3], y[3];
    double *u_first, *y_first; /* in these, what the first reference is for */
};

static void exchange(struct link *links, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        links[i + 1].u[0] = links[i].y[0];
        links[i + 1].u[1] = links[i].y[1];
        links[i].u[2] = links[i + 1].y[2];
    }
}

static void set_inputs(const struct functions2 *f, struct link *link)
{
    if (f->fmi2SetReal(link->c, link->inputs, link->input_count, link->u_first) != fmi2OK)
        die("fmi2SetReal failed");
}

static void get_outputs(const struct functions2 *f, struct link *link)
{
    if (f->fmi2GetReal(link->c, link->outputs, link->output_count, link->y_first) != fmi2OK)
        die("fmi2GetReal failed");
}

static void start_link(const struct functions2 *f, const struct tt_fmu *fmu, const struct references *refs,
                       struct link *link, bool first, bool last, const fmi2CallbackFunctions *callbacks)
{
    const double wall = WALL;
    *link = (struct link){.inputs = refs->inputs + (first ? 2 : 0),
                          .outputs = refs->outputs + (last ? 2 : 0),
                          .input_count = (size_t)3 - 2 * first - last,
                          .output_count = (size_t)3 - 2 * last - first};
    link->u_first = link->u + (first ? 2 : 0);
    link->y_first = link->y + (last ? 2 : 0);
    link->c = f->fmi2Instantiate("link", fmi2CoSimulation, fmu->desc->token, "", callbacks, 0, 0);
    if (!link->c || f->fmi2SetupExperiment(link->c, 0, 0, 0, 0, 0) ||
        (first && f->fmi2SetReal(link->c, refs->inputs, 1, &wall)) || f->fmi2EnterInitializationMode(link->c))
        die("the FMU cannot be initialised");
    get_outputs(f, link);
}

/* Positions and velocities are known by now; forces follow from them. */
static void initialise_links(const struct functions2 *f, struct link *links, size_t n)
{
    exchange(links, n);
    for (size_t i = 0; i < n; i++) {
        set_inputs(f, &links[i]);
        get_outputs(f, &links[i]);
    }
    exchange(links, n);
    for (size_t i = 0; i < n; i++)
        if (f->fmi2ExitInitializationMode(links[i].c))
            die("fmi2ExitInitializationMode failed");
}

/* The loop that a programmer would write by hand; seconds. `last` (3 n) gets all outputs at the end. */
static double by_hand(const struct tt_fmu *fmu, size_t n, long steps, double *last)
{
    const struct functions2 *f = (const struct functions2 *)fmu->libraries[TUTTI_CS]->functions;
    fmi2CallbackFunctions callbacks = {ignore2, calloc, free, NULL, NULL};
    struct references refs = find_references(fmu);
    struct link *links = malloc(n * sizeof *links);
    if (!links)
        die("out of memory");
    for (size_t i = 0; i < n; i++)
        start_link(f, fmu, &refs, &links[i], i == 0, i == n - 1, &callbacks);
    initialise_links(f, links, n);
    double begin = now();
    for (long k = 0; k < steps; k++) {
        double t = (double)k * STEP, h = (double)(k + 1) * STEP - t;
        for (size_t i = 0; i < n; i++) {
            set_inputs(f, &links[i]);
            if (f->fmi2DoStep(links[i].c, t, h, 1) != fmi2OK)
                die("fmi2DoStep failed");
            get_outputs(f, &links[i]);
        }
        exchange(links, n);
    }
    double seconds = now() - begin;
    for (size_t i = 0; i < n; i++) {
        if (f->fmi2GetReal(links[i].c, refs.outputs, 3, last + 3 * i))
            die("fmi2GetReal failed");
        f->fmi2Terminate(links[i].c);
        f->fmi2FreeInstance(links[i].c);
    }
    free(links);
    return seconds;
}

/* ---- by tutti ---- */

struct chain {
    char **files, **connect;
    size_t n, connect_count;
};

#define TEXT(out, ...)                                                                                                 \
    do {                                                                                                               \
        if (asprintf(out, __VA_ARGS__) < 0)                                                                            \
            die("out of memory");                                                                                      \
    } while (0)

static void make_chain(struct chain *chain, const char *file, size_t n)
{
    *chain = (struct chain){.n = n, .files = calloc(n, sizeof(char *)), .connect = calloc(3 * n, sizeof(char *))};
    if (!chain->files || !chain->connect)
        die("out of memory");
    for (size_t i = 0; i < n; i++)
        TEXT(&chain->files[i], "m%zu=%s", i, file);
    for (size_t i = 0; i + 1 < n; i++) {
        TEXT(&chain->connect[chain->connect_count++], "m%zu.x=m%zu.x_left", i, i + 1);
        TEXT(&chain->connect[chain->connect_count++], "m%zu.v=m%zu.v_left", i, i + 1);
        TEXT(&chain->connect[chain->connect_count++], "m%zu.F=m%zu.F_right", i + 1, i);
    }
}

static void free_chain(struct chain *chain)
{
    for (size_t i = 0; i < chain->n; i++)
        free(chain->files[i]);
    for (size_t i = 0; i < chain->connect_count; i++)
        free(chain->connect[i]);
    free(chain->files);
    free(chain->connect);
}

/* Seconds of the loop. */
static double by_tutti(const struct chain *chain, long steps, const char *output)
{
    static const char *const set[] = {"m0.x_left=0.1"};
    static const char *const none[] = {"none"};
    struct tutti_run_options options = {
        .files = (const char *const *)chain->files,
        .file_count = chain->n,
        .connects = (const char *const *)chain->connect,
        .connect_count = chain->connect_count,
        .has_stop = true,
        .stop = (double)steps * STEP,
        .has_step = true,
        .step = STEP,
        .coupling = "jacobi",
        .control = "fixed",
        .extrapolate = "0",
        .events = "none",
        .sets = set,
        .set_count = 1,
        .records = none,
        .record_count = output ? 0 : 1,
        .output = output,
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

/* The last row of the result has the same numbers: m0.x, m0.v, m0.F, m1.x, ... after the time. */
static void check_result(const char *path, const double *expected, size_t count)
{
    FILE *file = fopen(path, "r");
    char *line = NULL, *row = NULL;
    size_t size = 0;
    if (!file)
        die("there is no result");
    if (getline(&line, &size, file) < 0 || strncmp(line, "time,m0.x,m0.v,m0.F,", 20) != 0)
        die("the result has other columns");
    while (getline(&line, &size, file) > 0) {
        free(row);
        row = strdup(line);
    }
    fclose(file);
    char *at = row ? strchr(row, ',') : NULL;
    for (size_t i = 0; i < count; i++) {
        if (!at || *at != ',' || strtod(at + 1, &at) != expected[i])
            die("the two loops end at different numbers");
    }
    free(line);
    free(row);
}

/* True if the figure is within its bound. */
static bool compare(const struct tt_fmu *fmu, const char *path, size_t n, const char *output)
{
    struct chain chain;
    make_chain(&chain, path, n);
    long steps = UNIT_STEPS / (long)n;
    double hand = 1e9, ours = 1e9, *last = calloc(3 * n, sizeof *last);
    if (!last)
        die("out of memory");
    for (int round = 0; round < ROUNDS; round++) {
        hand = best(hand, by_hand(fmu, n, steps, last));
        ours = best(ours, by_tutti(&chain, steps, output));
    }
    if (output)
        check_result(output, last, 3 * n);
    double bound = output ? 30 : 1.5, each = 1e9 / (double)steps / (double)n;
    printf("chain       %5zu FMUs  %-22s by hand %7.1f ns/FMU-step   tutti %7.1f ns   ratio %5.2f   (at most %g)\n", n,
           output ? "all outputs as CSV" : "nothing recorded", each * hand, each * ours, ours / hand, bound);
    free(last);
    free_chain(&chain);
    return ours / hand <= bound;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {10, 100, 1000};
    if (argc != 3)
        die("usage: bench_chain FMU2 OUT.csv");
    struct tt_fmu *fmu;
    if (tt_fmu_open(&fmu, argv[1], NULL) || tt_fmu_load(fmu, TUTTI_CS, NULL))
        die(tutti_err_message());
    bool good = true;
    for (size_t i = 0; i < 3; i++)
        good = compare(fmu, argv[1], sizes[i], NULL) && good;
    good = compare(fmu, argv[1], 100, argv[2]) && good;
    tt_fmu_free(fmu);
    return good ? 0 : 1;
}
