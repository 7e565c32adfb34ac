/* SPDX-License-Identifier: MIT */
/* Linear correction and smoothing (001 Alg. 5, 6, 7) against the same methods, written down here with matrices: three units that
 * follow their inputs at once, by factors that no two pairs share, and with units of measurement on the way. Explicit coupling
 * of them is unstable: rho(DL) = 1.93. */
#include "test.h"

#include <stdlib.h>

#include "master/choose.h"
#include "master/control.h"
#include "master/correct.h"
#include "master/macro.h"
#include "master/setup.h"
#include "record/table.h"
#include "scratch.h"
#include "solve/allocations.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))

enum { UNITS = 3, INPUTS = 6, OUTPUTS = 9, MOST_ROWS = 600 };

static struct scratch scratch;

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

/* ---- the system ---- */

static const double pole[UNITS] = {1, 2, 1.5};
static const double b[UNITS][2] = {{0.01, 0.5}, {-0.02, 0.3}, {0.01, 0.1}};
static const double c[UNITS][3] = {{1, 2, -1}, {0.5, -1, 1.5}, {1, 1, 1}};
static const double d[UNITS][3][2] = {
    {{0.013, 0.4}, {0.02, -0.7}, {0.005, 0}},
    {{-0.004, 0.3}, {-0.011, 0.9}, {-0.03, 0}},
    {{0.01, 0.2}, {0.02, 0.1}, {0.03, 0}},
};
/* From output to input: m to cm, K to degC. */
static const struct link {
    int input, output;
    double factor, offset;
} links[] = {{2, 0, 100, 0},     {3, 1, 1, -273.15}, {0, 5, 100, 0},
             {1, 4, 1, -273.15}, {4, 2, 100, 0},     {5, 4, 1, -273.15}};
static const char *const connect[] = {"a.y1=b.u1", "a.y2=b.u2", "b.y3=a.u1", "b.y2=a.u2", "a.y3=c.u1", "b.y2=c.u2"};

enum { PARAMETERS = 11 };

/* "a.d11=0.013" and so on, for all units; with `more` behind them. */
static size_t list_settings(char texts[][32], const char **set, const char *const *more, size_t more_count)
{
    static const char *const names[PARAMETERS] = {"a", "b1", "b2", "c1", "c2", "c3", "d11", "d12", "d21", "d22", "d31"};
    size_t count = 0;
    for (int u = 0; u < UNITS; u++) {
        const double values[PARAMETERS] = {pole[u],    b[u][0],    b[u][1],    c[u][0],    c[u][1],   c[u][2],
                                           d[u][0][0], d[u][0][1], d[u][1][0], d[u][1][1], d[u][2][0]};
        for (int p = 0; p < PARAMETERS; p++, count++) {
            snprintf(texts[count], sizeof texts[count], "%c.%s=%.17g", 'a' + u, names[p], values[p]);
            set[count] = texts[count];
        }
    }
    for (size_t i = 0; i < more_count; i++)
        set[count++] = more[i];
    return count;
}

/* ---- the methods, with matrices ---- */

struct reference {
    double x[UNITS], y[OUTPUTS], rates[OUTPUTS], before[OUTPUTS], ends[INPUTS];
    bool has_before, has_rates, has_ends;
    double scale; /* of D */
};

/* From outputs to inputs; derivatives have no offset. */
static void through_links(const double *y, bool offset, double *u)
{
    for (size_t i = 0; i < LENGTH(links); i++)
        u[links[i].input] = links[i].factor * y[links[i].output] + (offset ? links[i].offset : 0);
}

/* y = C x + base + D u */
static void outputs_of(const struct reference *r, const double *x, double base, const double *u, double *y)
{
    for (int k = 0; k < UNITS; k++)
        for (int i = 0; i < 3; i++)
            y[3 * k + i] = c[k][i] * x[k] + (i == 1 ? base : 0) +
                           r->scale * (d[k][i][0] * u[2 * k] + d[k][i][1] * u[2 * k + 1]);
}

/* Solves y = C x + base + D (L y + offset) by Gauss's elimination with pivots. */
static void consistent(const struct reference *r, const double *x, double base, bool offset, double *y)
{
    double matrix[OUTPUTS][OUTPUTS + 1] = {{0}}, u[INPUTS], column[OUTPUTS], zero[OUTPUTS] = {0}, none[UNITS] = {0};
    through_links(zero, offset, u);
    outputs_of(r, x, base, u, column);
    for (int i = 0; i < OUTPUTS; i++)
        matrix[i][OUTPUTS] = column[i];
    for (int j = 0; j < OUTPUTS; j++) {
        double unit[OUTPUTS] = {0};
        unit[j] = 1;
        through_links(unit, false, u);
        outputs_of(r, none, 0, u, column);
        for (int i = 0; i < OUTPUTS; i++)
            matrix[i][j] = (i == j) - column[i];
    }
    for (int p = 0; p < OUTPUTS; p++) {
        int best = p;
        for (int i = p; i < OUTPUTS; i++)
            best = fabs(matrix[i][p]) > fabs(matrix[best][p]) ? i : best;
        for (int j = 0; j <= OUTPUTS; j++) {
            double swap = matrix[p][j];
            matrix[p][j] = matrix[best][j];
            matrix[best][j] = swap;
        }
        for (int i = 0; i < OUTPUTS; i++) {
            double factor = i == p ? 0 : matrix[i][p] / matrix[p][p];
            for (int j = p; j <= OUTPUTS; j++)
                matrix[i][j] -= factor * matrix[p][j];
        }
    }
    for (int i = 0; i < OUTPUTS; i++)
        y[i] = matrix[i][OUTPUTS] / matrix[i][i];
}

enum slopes { HELD, FROM_POINTS, FROM_RATES };

/* x' where the inputs are u. */
static void derivatives_of(const double *x, const double *u, double *der)
{
    for (int k = 0; k < UNITS; k++)
        der[k] = -pole[k] * x[k] + b[k][0] * u[2 * k] + b[k][1] * u[2 * k + 1];
}

/* Eq. 6.64f, g at the end of a step, or at its beginning. */
static void settle(struct reference *r, const double *u)
{
    double der[UNITS];
    derivatives_of(r->x, u, der);
    consistent(r, r->x, 273.15, true, r->y);
    consistent(r, der, 0, false, r->rates);
}

static void begin(struct reference *r, bool has_rates)
{
    double u[INPUTS];
    *r = (struct reference){.x = {1, 1, 1}, .scale = 1, .has_rates = has_rates};
    consistent(r, r->x, 273.15, true, r->y);
    through_links(r->y, true, u);
    settle(r, u);
}

/* One step of Alg. 5 (held), 6 or 7 (smooth), each unit solved exactly. */
static void advance(struct reference *r, double h, enum slopes slopes, bool smooth)
{
    double u[INPUTS], slope[INPUTS] = {0}, rate[OUTPUTS] = {0};
    for (int i = 0; i < OUTPUTS; i++) {
        if (slopes == FROM_POINTS && r->has_before)
            rate[i] = (r->y[i] - r->before[i]) / h;
        if (slopes == FROM_RATES && r->has_rates)
            rate[i] = r->rates[i];
        r->before[i] = r->y[i];
    }
    through_links(r->y, true, u);
    through_links(rate, false, slope);
    for (int j = 0; j < INPUTS && smooth && r->has_ends; j++) { /* eq. 6.71d, e */
        slope[j] = (u[j] + h * slope[j] - r->ends[j]) / h;
        u[j] = r->ends[j];
    }
    for (int k = 0; k < UNITS; k++) {
        double decay = exp(-pole[k] * h), first = (1 - decay) / pole[k], second = (h - first) / pole[k];
        r->x[k] = decay * r->x[k];
        for (int j = 0; j < 2; j++)
            r->x[k] += b[k][j] * (first * u[2 * k + j] + second * slope[2 * k + j]);
    }
    for (int j = 0; j < INPUTS; j++)
        r->ends[j] = u[j] + h * slope[j];
    r->has_before = r->has_rates = r->has_ends = true;
    settle(r, r->ends);
}

/* ---- runs ---- */

struct outcome {
    struct tutti_table *table;
    unsigned long accepted, rejected, auxiliary; /* do-steps of all units */
};

static void simulate(struct outcome *outcome, const struct tutti_run_options *options)
{
    struct tutti_run_stats stats = {0};
    *outcome = (struct outcome){0};
    assert_ok(tutti_run(options, &stats));
    for (size_t i = 0; i < stats.unit_count; i++) {
        outcome->accepted += stats.units[i].accepted;
        outcome->rejected += stats.units[i].rejected;
        outcome->auxiliary += stats.units[i].auxiliary;
    }
    tutti_run_stats_fini(&stats);
    assert_ok(tutti_table_read(&outcome->table, options->output));
}

/* A run, in pieces, of which nothing is recorded: up to where masters begin ... */
static void start_units(struct run *run)
{
    bool crossed = false;
    assert_ok(tutti_setup_system(run));
    assert_ok(tutti_run_start(run));
    assert_ok(tutti_events_cross(run, &crossed));
}

/* ... and up to the first point. */
static void start(struct run *run)
{
    start_units(run);
    assert_ok(tutti_master_open(run));
}

/* What a run takes. */
static struct tutti_correction_counts count_work(const struct tutti_run_options *options)
{
    struct tutti_run_stats stats = {0};
    struct run run = {.asked = options, .options = options, .stats = &stats, .countdown = 1, .interval = 1};
    start(&run);
    assert_ok(tutti_loop(&run));
    struct tutti_correction_counts counts = tutti_correction_count(&run);
    assert_ok(tutti_run_tear_down(&run, TUTTI_OK));
    tutti_run_stats_fini(&stats);
    return counts;
}

/* An FMU as three units a, b, c, and options that all cases share. */
struct experiment {
    struct tutti_run_options options;
    char fmus[UNITS][512], texts[UNITS * PARAMETERS][32];
    const char *files[UNITS], *set[UNITS * PARAMETERS + 8];
    char output[512];
};

static const char *const record[] = {"*.x", "*.y*"};

static void prepare(struct experiment *e, const char *fmu, const char *interface, const char *order, double step,
                    const char *const *more, size_t more_count)
{
    *e = (struct experiment){0};
    for (int u = 0; u < UNITS; u++) {
        snprintf(e->fmus[u], sizeof e->fmus[u], "%c=%s/%s.fmu", 'a' + u, TEST_FMUS, fmu);
        e->files[u] = e->fmus[u];
    }
    snprintf(e->output, sizeof e->output, "%s/result.csv", scratch.path);
    e->options = (struct tutti_run_options){.files = e->files,
                                            .file_count = UNITS,
                                            .connect = connect,
                                            .connect_count = LENGTH(connect),
                                            .set = e->set,
                                            .set_count = list_settings(e->texts, e->set, more, more_count),
                                            .record = record,
                                            .record_count = LENGTH(record),
                                            .output = e->output,
                                            .interface = interface,
                                            .coupling = "jacobi",
                                            .control = "fixed",
                                            .extrapolate = order,
                                            .events = "none",
                                            .correct = true,
                                            .has_step = true,
                                            .step = step,
                                            .has_stop = true,
                                            .stop = 1,
                                            .has_rtol = true,
                                            .rtol = 1e-11,
                                            .has_atol = true,
                                            .atol = 1e-12};
}

static double cell(const struct tutti_table *table, const char *name, size_t row)
{
    for (size_t k = 0; k < tutti_table_columns(table); k++)
        if (strcmp(tutti_table_name(table, k), name) == 0)
            return strtod(tutti_table_cell(table, row, k), NULL);
    fail_msg("there is no column %s", name);
    return NAN;
}

static void compare(const struct tutti_table *table, size_t row, const struct reference *r, double tolerance)
{
    char name[16];
    for (int k = 0; k < UNITS; k++) {
        snprintf(name, sizeof name, "%c.x", 'a' + k);
        assert_near(cell(table, name, row), r->x[k], tolerance * (1 + fabs(r->x[k])));
        for (int i = k; i < 3 && k < 2; i++) { /* b.y1 and c's outputs go nowhere: nobody corrects them */
            snprintf(name, sizeof name, "%c.y%d", 'a' + k, i + 1);
            assert_near(cell(table, name, row), r->y[3 * k + i], tolerance * (1 + fabs(r->y[3 * k + i])));
        }
    }
}

/* ---- tests ---- */

static const struct sort {
    const char *fmu, *interface;
    bool has_rates, has_rates_at_start;
    bool tries;        /* D by short steps */
    bool takes_slopes; /* exactly */
    double tolerance;
} sorts[] = {
    {"Mixer_fmi2", "cs", false, false, false, true, 1e-11},
    {"MixerRates_fmi2", "cs", true, false, false, true, 1e-11},
    {"Mixer_fmi3", "cs", false, false, false, false, 1e-11},
    {"PlainMixer_fmi2", "cs", false, false, true, true, 1e-7},
    {"PlainMixer_fmi3", "cs", false, false, true, false, 1e-7},
    {"Mixer_fmi2", "me", true, true, false, true, 1e-9},
    {"Mixer_fmi3", "me", true, true, false, true, 1e-9},
    {"PlainMixer_fmi2", "me", true, true, false, true, 1e-8},
};

static void run_and_compare(const struct sort *sort, const char *order, bool smooth, struct outcome *outcome)
{
    const double step = 0.01;
    struct experiment e;
    struct reference r;
    prepare(&e, sort->fmu, sort->interface, order, step, NULL, 0);
    e.options.smooth = smooth;
    if (sort->tries) /* how often hangs on what counts */
        e.options.rtol = 1e-4;
    simulate(outcome, &e.options);
    size_t rows = tutti_table_rows(outcome->table);
    assert_int_equal(rows, 101);
    begin(&r, sort->has_rates_at_start);
    enum slopes slopes = order[0] == '0' ? HELD : sort->has_rates ? FROM_RATES : FROM_POINTS;
    for (size_t row = 0; row < rows; row++) {
        compare(outcome->table, row, &r, sort->tolerance);
        advance(&r, step, slopes, smooth);
    }
    assert_int_equal(outcome->accepted, UNITS * 100);
    assert_int_equal(outcome->rejected, 0);
    assert_int_equal(outcome->auxiliary > 0, sort->tries);
}

/* Eq. 6.17 with inputs held (Alg. 5), and with slopes (Alg. 6), whatever way D comes. */
static void outputs_are_consistent(void **state)
{
    (void)state;
    for (size_t s = 0; s < LENGTH(sorts); s++)
        for (int order = 0; order <= sorts[s].takes_slopes; order++) {
            struct outcome outcome;
            run_and_compare(&sorts[s], order ? "1" : "0", false, &outcome);
            tutti_table_free(outcome.table);
        }
}

/* Alg. 7. */
static void inputs_go_on_where_they_are(void **state)
{
    (void)state;
    for (size_t s = 0; s < LENGTH(sorts); s++)
        if (sorts[s].takes_slopes) {
            struct outcome outcome;
            run_and_compare(&sorts[s], "1", true, &outcome);
            tutti_table_free(outcome.table);
        }
}

/* The states at a row, and the outputs there that belong to them. */
static void compare_with_states(const struct tutti_table *table, size_t row, double tolerance)
{
    struct reference r = {.scale = 1};
    for (int k = 0; k < UNITS; k++)
        r.x[k] = cell(table, (const char *const[]){"a.x", "b.x", "c.x"}[k], row);
    consistent(&r, r.x, 273.15, true, r.y);
    compare(table, row, &r, tolerance);
}

/* However inputs move inside the steps (some of PlainMixer_fmi3 by intermediate update, others not), however long these are,
 * and however often they are taken back: where they end, outputs belong to the states there. */
static void outputs_belong_to_states(void **state)
{
    (void)state;
    static const char *const controls[] = {"fixed", "richardson", "embedded"}, *const orders[] = {"0", "1", "2"};
    for (size_t s = 0; s < LENGTH(sorts); s++)
        for (size_t i = 0; i < LENGTH(controls) * 4; i++) {
            struct experiment e;
            struct outcome outcome;
            prepare(&e, sorts[s].fmu, sorts[s].interface, orders[i % 4 % 3], 0.05, NULL, 0);
            e.options.control = controls[i / 4];
            e.options.smooth = i % 4 == 2;
            e.options.rtol = 1e-4;
            e.options.atol = 1e-6;
            simulate(&outcome, &e.options);
            for (size_t row = 0; row < tutti_table_rows(outcome.table); row++)
                compare_with_states(outcome.table, row, 1e-6);
            tutti_table_free(outcome.table);
        }
}

/* Elements of arrays: two state spaces, y = C x + D u, each with the other's outputs. */
static void arrays_are_corrected_too(void **state)
{
    (void)state;
    static const char *const files[] = {"a=" TUTTI_FMUS "/StateSpace_fmi3.fmu", "b=" TUTTI_FMUS "/StateSpace_fmi3.fmu"};
    static const char *const joined[] = {"a.y=b.u", "b.y=a.u"};
    static const char *const set[] = {"a.D[1,1]=0",  "a.D[1,2]=2",   "a.D[2,1]=0.5", "a.D[2,2]=0.3",
                                      "b.D[1,1]=-1", "b.D[1,2]=0.4", "b.D[2,1]=1.5", "b.D[2,2]=0"};
    static const double D[2][2][2] = {{{0, 2}, {0.5, 0.3}}, {{-1, 0.4}, {1.5, 0}}};
    static const char *const all[] = {"*.x*", "*.y*"}, *const interfaces[] = {"cs", "me"};
    char output[512];
    snprintf(output, sizeof output, "%s/result.csv", scratch.path);
    for (size_t i = 0; i < LENGTH(interfaces); i++) {
        struct tutti_run_options options = {.files = files,
                                            .file_count = 2,
                                            .connect = joined,
                                            .connect_count = 2,
                                            .set = set,
                                            .set_count = 8,
                                            .record = all,
                                            .record_count = 2,
                                            .output = output,
                                            .interface = interfaces[i],
                                            .coupling = "jacobi",
                                            .correct = true,
                                            .extrapolate = "1",
                                            .has_step = true,
                                            .step = 0.01,
                                            .has_stop = true,
                                            .stop = 1,
                                            .events = "none"};
        struct outcome outcome;
        simulate(&outcome, &options);
        assert_int_equal(tutti_table_rows(outcome.table), 101);
        for (size_t row = 0; row < 101; row++) {
            double x[2][3], y[2][2];
            char name[16];
            for (int k = 0; k < 2; k++)
                for (int e = 0; e < 3; e++) {
                    snprintf(name, sizeof name, "%c.x[%d]", 'a' + k, e + 1);
                    x[k][e] = cell(outcome.table, name, row);
                    snprintf(name, sizeof name, "%c.y[%d]", 'a' + k, e + 1);
                    if (e < 2)
                        y[k][e] = cell(outcome.table, name, row);
                }
            for (int k = 0; k < 2; k++) {
                assert_near(y[k][0], x[k][0] + D[k][0][0] * y[!k][0] + D[k][0][1] * y[!k][1], 1e-6);
                assert_near(y[k][1], x[k][1] + x[k][2] + D[k][1][0] * y[!k][0] + D[k][1][1] * y[!k][1], 1e-6);
            }
        }
        tutti_table_free(outcome.table);
    }
}

static void uncorrected_outputs_grow(void **state)
{
    (void)state;
    struct experiment e;
    struct outcome outcome;
    prepare(&e, "Mixer_fmi2", "cs", "0", 0.01, NULL, 0);
    e.options.correct = false;
    simulate(&outcome, &e.options);
    assert_true(fabs(cell(outcome.table, "a.y1", tutti_table_rows(outcome.table) - 1)) > 1e20);
    tutti_table_free(outcome.table);
}

/* One D, one factorisation; a D that has to be tried is found at the start and after the first step, which shows that it
 * stays, and then each time that it has become old, after 20 steps: six times in a hundred. */
static void work_is_done_once(void **state)
{
    (void)state;
    struct experiment e;
    struct outcome outcome;
    prepare(&e, "Mixer_fmi2", "cs", "0", 0.01, NULL, 0);
    struct tutti_correction_counts counts = count_work(&e.options);
    assert_int_equal(counts.factorizations, 1);
    assert_int_equal(counts.measured, 0);
    prepare(&e, "PlainMixer_fmi2", "cs", "0", 0.01, NULL, 0);
    e.options.rtol = 1e-4;
    counts = count_work(&e.options);
    assert_int_equal(counts.measured, 2 * 6); /* of a and b: nobody looks at c's outputs */
    assert_in_range(counts.factorizations, 1, 6);
    simulate(&outcome, &e.options);
    assert_int_equal(outcome.auxiliary, 3 * counts.measured); /* two inputs, and none */
    tutti_table_free(outcome.table);
}

/* With a D that changes with the state, the three ways to it lead to the same. */
static void all_ways_lead_to_the_same(void **state)
{
    (void)state;
    static const char *const bend[] = {"a.bend=0.02", "b.bend=-0.01"};
    static const char *const ways[][2] = {{"Mixer_fmi2", "cs"}, {"PlainMixer_fmi2", "cs"}, {"PlainMixer_fmi2", "me"}};
    struct outcome first, outcome;
    struct experiment e;
    prepare(&e, ways[0][0], ways[0][1], "0", 0.01, bend, LENGTH(bend));
    simulate(&first, &e.options);
    for (size_t w = 1; w < LENGTH(ways); w++) {
        prepare(&e, ways[w][0], ways[w][1], "0", 0.01, bend, LENGTH(bend));
        simulate(&outcome, &e.options);
        for (size_t row = 0; row < 100; row++) /* the last point has no room for a short step behind it */
            for (int k = 0; k < 2; k++) {
                const char *const names[] = {"a.y1", "b.y3"};
                double exact = cell(first.table, names[k], row);
                assert_near(cell(outcome.table, names[k], row), exact, 1e-5 * (1 + fabs(exact)));
            }
        tutti_table_free(outcome.table);
    }
    tutti_table_free(first.table);
}

/* Against the coupled equations (eq. 6.5), solved with small steps of the classical Runge-Kutta method. */
static void solve_exactly(double *x, double t)
{
    enum { STEPS = 2000 };
    struct reference r = {.scale = 1};
    double h = t / STEPS;
    for (int n = 0; n < STEPS; n++) {
        static const double at[4] = {0, 0.5, 0.5, 1}, weights[4] = {1, 2, 2, 1};
        double slope[UNITS] = {0}, sum[UNITS] = {0};
        for (int s = 0; s < 4; s++) {
            double here[UNITS], y[OUTPUTS], u[INPUTS];
            for (int k = 0; k < UNITS; k++)
                here[k] = x[k] + at[s] * h * slope[k];
            consistent(&r, here, 273.15, true, y);
            through_links(y, true, u);
            derivatives_of(here, u, slope);
            for (int k = 0; k < UNITS; k++)
                sum[k] += weights[s] * slope[k];
        }
        for (int k = 0; k < UNITS; k++)
            x[k] += h / 6 * sum[k];
    }
}

/* Of the states at the end, the largest. */
static double error_of(const struct tutti_table *table, const double *exact)
{
    size_t last = tutti_table_rows(table) - 1;
    return fmax(fmax(fabs(cell(table, "a.x", last) - exact[0]), fabs(cell(table, "b.x", last) - exact[1])),
                fabs(cell(table, "c.x", last) - exact[2]));
}

/* The order is that of the extrapolation, plus one. Units that take no slopes hold the middle, which is as good. */
static void errors_fall_with_the_order(void **state)
{
    (void)state;
    static const struct {
        const char *fmu, *interface, *order;
        bool smooth;
        double rate;
    } cases[] = {{"Mixer_fmi2", "cs", "0", false, 1},      {"PlainMixer_fmi2", "cs", "0", false, 1},
                 {"Mixer_fmi2", "cs", "1", false, 2},      {"Mixer_fmi2", "cs", "1", true, 2},
                 {"MixerRates_fmi2", "cs", "1", false, 2}, {"MixerRates_fmi2", "cs", "1", true, 2},
                 {"Mixer_fmi3", "cs", "1", false, 2},      {"Mixer_fmi2", "me", "1", false, 2},
                 {"Mixer_fmi2", "me", "1", true, 2},       {"Mixer_fmi2", "me", "2", false, 3}};
    double exact[UNITS] = {1, 1, 1};
    solve_exactly(exact, 1);
    for (size_t i = 0; i < LENGTH(cases); i++) {
        double errors[2];
        for (int k = 0; k < 2; k++) {
            struct experiment e;
            struct outcome outcome;
            prepare(&e, cases[i].fmu, cases[i].interface, cases[i].order, k ? 0.0125 : 0.025, NULL, 0);
            e.options.smooth = cases[i].smooth;
            simulate(&outcome, &e.options);
            errors[k] = error_of(outcome.table, exact);
            tutti_table_free(outcome.table);
        }
        double rate = log2(errors[0] / errors[1]);
        if (!(fabs(rate - cases[i].rate) < 0.25))
            fail_msg("%s %s, order %s%s: errors %g and %g, rate %g", cases[i].fmu, cases[i].interface, cases[i].order,
                     cases[i].smooth ? ", smooth" : "", errors[0], errors[1], rate);
    }
}

/* ---- going back ---- */

static void accept(struct run *run, double target)
{
    run->t = target;
    tutti_correction_accept(run);
    assert_ok(tutti_extrapolation_accept(run));
}

/* Some steps, doubled; with detours: before each, longer and shorter ones that are taken back. Returns the signals. */
static void step_by_step(const struct tutti_run_options *options, bool detours, double *signals, size_t *count)
{
    struct tutti_run_stats stats = {0};
    struct run run = {.asked = options, .options = options, .stats = &stats, .countdown = 1, .interval = 1};
    start(&run);
    for (int n = 0; n < 30; n++) {
        double h = n % 3 ? 0.01 : 0.02, target = run.t + h;
        struct tutti_attempt attempt = {0};
        assert_ok(tutti_snapshot_take(&run.master.start, &run));
        if (detours) {
            assert_ok(tutti_attempt_doubled(&run, run.t + 1.7 * h, &attempt));
            assert_ok(tutti_macro_go_back(&run, true));
            assert_ok(tutti_attempt_plain(&run, run.t + 0.4 * h, &attempt));
            assert_ok(tutti_macro_go_back(&run, true));
        }
        assert_ok(tutti_attempt_doubled(&run, target, &attempt));
        accept(&run, target);
    }
    *count = run.wires.signal_size / sizeof *signals;
    memcpy(signals, run.wires.signals, run.wires.signal_size);
    assert_ok(tutti_run_tear_down(&run, TUTTI_OK));
    tutti_run_stats_fini(&stats);
}

static void steps_taken_back_leave_no_trace(void **state)
{
    (void)state;
    static const char *const bend[] = {"a.bend=0.02", "b.bend=-0.01"};
    static const char *const fmus[] = {"Mixer_fmi2", "MixerRates_fmi2", "PlainMixer_fmi2", "PlainMixer_fmi3"};
    for (size_t f = 0; f < LENGTH(fmus); f++)
        for (int order = 0; order <= 2; order++)
            for (int smooth = 0; smooth <= (order > 0); smooth++) {
                static const char *const orders[] = {"0", "1", "2"};
                double plain[64], other[64];
                size_t count, same;
                struct experiment e;
                prepare(&e, fmus[f], "cs", orders[order], 0.01, bend, LENGTH(bend));
                e.options.control = "richardson";
                e.options.smooth = smooth;
                e.options.output = NULL;
                step_by_step(&e.options, false, plain, &count);
                step_by_step(&e.options, true, other, &same);
                assert_int_equal(count, same);
                assert_memory_equal(plain, other, count * sizeof *plain);
            }
}

/* A control that goes back all the time, with everything: the errors stay what it was told. */
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
            tutti_table_free(outcome.table);
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
                assert_int_equal(tutti_table_rows(outcome.table), 102); /* one before the event, one behind */
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
                tutti_table_free(outcome.table);
            }
}

/* ---- refusals ---- */

static enum tutti_err try(const struct tutti_run_options *options)
{
    struct tutti_run_stats stats = {0};
    enum tutti_err err = tutti_run(options, &stats);
    tutti_run_stats_fini(&stats);
    return err;
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    static const char *const own[] = {"b=0.02"};
    struct experiment e;
    prepare(&e, "StuckMixer_fmi2", "cs", "0", 0.01, NULL, 0);
    assert_fails(try(&e.options), TUTTI_ERR_UNSUPPORTED, "how the outputs of 'a'");
    assert_non_null(strstr(tutti_err_message(), "StuckMixer_fmi2.fmu"));
    assert_non_null(strstr(tutti_err_message(), "use --coupling seidel"));
    prepare(&e, "StuckMixer_fmi2", "me", "0", 0.01, NULL, 0);
    assert_ok(try(&e.options));
    prepare(&e, "Mixer_fmi2", "cs", "0", 0.01, NULL, 0);
    e.options.unit_steps = own;
    e.options.unit_step_count = 1;
    assert_fails(try(&e.options), TUTTI_ERR_ARGUMENT, "--correct needs units that step together, and 'b'");
    prepare(&e, "Mixer_fmi2", "me", "0", 0.01, NULL, 0);
    e.options.filter = "average";
    assert_fails(try(&e.options), TUTTI_ERR_ARGUMENT, "averages");
}

/* From t = 0.5 on, y2 = x + u2 on both sides: there are no such outputs. */
static void a_loop_without_a_solution_is_an_error(void **state)
{
    (void)state;
    static const char *const loop[] = {"a.y2=b.u2", "b.y2=a.u2"};
    static const char *const more[] = {"a.d22=2", "b.d22=2", "a.switch_at=0.5", "b.switch_at=0.5"};
    struct experiment e;
    prepare(&e, "Mixer_fmi3", "cs", "0", 0.01, more, LENGTH(more));
    e.options.file_count = 2;
    e.options.set_count -= UNITS * PARAMETERS;
    e.options.set += UNITS * PARAMETERS;
    e.options.connect = loop;
    e.options.connect_count = LENGTH(loop);
    assert_fails(try(&e.options), TUTTI_ERR_SOLVER, "I - D L has no inverse");
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const fmus[] = {"Mixer_fmi2", "PlainMixer_fmi2"};
    for (size_t f = 0; f < LENGTH(fmus); f++) {
        struct experiment e;
        enum tutti_err err = TUTTI_ERR_MEMORY;
        prepare(&e, fmus[f], "cs", "1", 0.01, NULL, 0);
        e.options.smooth = true;
        e.options.output = NULL;
        for (unsigned long failing = 1; err; failing++) {
            struct tutti_run_stats stats = {0};
            struct run run = {
                .asked = &e.options, .options = &e.options, .stats = &stats, .countdown = 1, .interval = 1};
            start_units(&run);
            allocations = 0;
            failing_allocation = failing;
            err = tutti_master_open(&run);
            failing_allocation = 0;
            /* FMUs of FMI 2.0 take their memory from us. */
            assert_true(err == TUTTI_OK || err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_FMU);
            assert_int_equal(err != TUTTI_OK, allocations >= failing);
            assert_int_equal(tutti_run_tear_down(&run, err), err);
            tutti_run_stats_fini(&stats);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(outputs_are_consistent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(inputs_go_on_where_they_are, set_up, tear_down),
        cmocka_unit_test_setup_teardown(outputs_belong_to_states, set_up, tear_down),
        cmocka_unit_test_setup_teardown(arrays_are_corrected_too, set_up, tear_down),
        cmocka_unit_test_setup_teardown(uncorrected_outputs_grow, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_is_done_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(all_ways_lead_to_the_same, set_up, tear_down),
        cmocka_unit_test_setup_teardown(errors_fall_with_the_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(steps_taken_back_leave_no_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(controlled_steps_keep_the_tolerance, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_event_changes_everything, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_cannot_be_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_loop_without_a_solution_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_allocation_may_fail, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
