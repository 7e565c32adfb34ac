/* SPDX-License-Identifier: MIT */
/* mixers.h - for tests of linear correction and smoothing (Andersson 2016 Alg. 5, 6, 7): three units that follow their inputs at once, by
 * factors that no two pairs share and with units of measurement on the way, as FMUs and as the same methods written down with
 * matrices. Explicit coupling of them is unstable: rho(DL) = 1.93. */
#ifndef TUTTI_TEST_MIXERS_H
#define TUTTI_TEST_MIXERS_H

#include "base/options/options.h"
#include "sim/stats.h"
#include "test.h"

#include <stdlib.h>
#include <tutti/run.h>

#include "results/csv_table.h"
#include "scratch.h"

#define LENGTH(list) (sizeof(list) / sizeof *(list))

enum { UNITS = 3, INPUTS = 6, OUTPUTS = 9 };

static struct scratch scratch;

static inline int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

/* ---- the system ---- */

static const double pole[UNITS] = {1, 2, 1.5};
static const double matrix_b[UNITS][2] = {{0.01, 0.5}, {-0.02, 0.3}, {0.01, 0.1}};
static const double matrix_c[UNITS][3] = {{1, 2, -1}, {0.5, -1, 1.5}, {1, 1, 1}};
static const double matrix_d[UNITS][3][2] = {
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

/* "a.d11=0.013" and so on, for all units; with `more` after them. */
static inline size_t list_settings(char texts[][32], const char **set, const char *const *more, size_t more_count)
{
    static const char *const names[PARAMETERS] = {"a", "b1", "b2", "c1", "c2", "c3", "d11", "d12", "d21", "d22", "d31"};
    size_t count = 0;
    for (int u = 0; u < UNITS; u++) {
        const double values[PARAMETERS] = {pole[u],           matrix_b[u][0],    matrix_b[u][1],    matrix_c[u][0],
                                           matrix_c[u][1],    matrix_c[u][2],    matrix_d[u][0][0], matrix_d[u][0][1],
                                           matrix_d[u][1][0], matrix_d[u][1][1], matrix_d[u][2][0]};
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
static inline void through_links(const double *y, bool offset, double *u)
{
    for (size_t i = 0; i < LENGTH(links); i++)
        u[links[i].input] = links[i].factor * y[links[i].output] + (offset ? links[i].offset : 0);
}

/* y = C x + base + D u */
static inline void outputs_of(const struct reference *r, const double *x, double base, const double *u, double *y)
{
    for (int k = 0; k < UNITS; k++)
        for (int i = 0; i < 3; i++)
            y[3 * k + i] = matrix_c[k][i] * x[k] + (i == 1 ? base : 0) +
                           r->scale * (matrix_d[k][i][0] * u[2 * k] + matrix_d[k][i][1] * u[2 * k + 1]);
}

/* Solves y = C x + base + D (L y + offset) by Gauss's elimination with pivots. */
static inline void consistent(const struct reference *r, const double *x, double base, bool offset, double *y)
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
static inline void derivatives_of(const double *x, const double *u, double *der)
{
    for (int k = 0; k < UNITS; k++)
        der[k] = -pole[k] * x[k] + matrix_b[k][0] * u[2 * k] + matrix_b[k][1] * u[2 * k + 1];
}

/* Eq. 6.64f, g at the end of a step, or at its beginning. */
static inline void settle(struct reference *r, const double *u)
{
    double der[UNITS];
    derivatives_of(r->x, u, der);
    consistent(r, r->x, 273.15, true, r->y);
    consistent(r, der, 0, false, r->rates);
}

static inline void begin(struct reference *r, bool has_rates)
{
    double u[INPUTS];
    *r = (struct reference){.x = {1, 1, 1}, .scale = 1, .has_rates = has_rates};
    consistent(r, r->x, 273.15, true, r->y);
    through_links(r->y, true, u);
    settle(r, u);
}

/* One step of Alg. 5 (held), 6 or 7 (smooth), each unit solved exactly. */
static inline void advance(struct reference *r, double h, enum slopes slopes, bool smooth)
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
            r->x[k] += matrix_b[k][j] * (first * u[2 * k + j] + second * slope[2 * k + j]);
    }
    for (int j = 0; j < INPUTS; j++)
        r->ends[j] = u[j] + h * slope[j];
    r->has_before = r->has_rates = r->has_ends = true;
    settle(r, r->ends);
}

/* ---- runs ---- */

struct outcome {
    struct tt_csv_table *table;
    unsigned long accepted, rejected, auxiliary; /* do-steps of all units */
};

static inline void simulate(struct outcome *outcome, const struct tutti_run_options *options)
{
    struct tutti_run_stats stats = {0};
    *outcome = (struct outcome){0};
    assert_ok(tutti_run(options, &stats));
    for (size_t i = 0; i < stats.unit_count; i++) {
        outcome->accepted += stats.units[i].accepted;
        outcome->rejected += stats.units[i].rejected;
        outcome->auxiliary += stats.units[i].auxiliary;
    }
    tt_stats_fini(&stats);
    assert_ok(tt_csv_table_read(&outcome->table, options->output));
}

/* An FMU as three units a, b, c, and options that all cases share. */
struct experiment {
    struct tutti_run_options options;
    char fmus[UNITS][512], texts[UNITS * PARAMETERS][32];
    const char *files[UNITS], *set[UNITS * PARAMETERS + 8];
    char output[512];
};

static const char *const record[] = {"*.x", "*.y*"};
enum { STATES_ONLY = 1 }; /* of these: outputs that no unit reads take short steps to be right in rows */

static inline void prepare(struct experiment *e, const char *fmu, const char *interface, const char *order, double step,
                           const char *const *more, size_t more_count)
{
    *e = (struct experiment){0};
    for (int u = 0; u < UNITS; u++) {
        snprintf(e->fmus[u], sizeof e->fmus[u], "%c=%s/%s", 'a' + u, TEST_FOLDERS, fmu);
        e->files[u] = e->fmus[u];
    }
    snprintf(e->output, sizeof e->output, "%s/result.csv", scratch.path);
    e->options = (struct tutti_run_options){.files = e->files,
                                            .file_count = UNITS,
                                            .connects = connect,
                                            .connect_count = LENGTH(connect),
                                            .sets = e->set,
                                            .set_count = list_settings(e->texts, e->set, more, more_count),
                                            .records = record,
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

static inline double cell(const struct tt_csv_table *table, const char *name, size_t row)
{
    for (size_t k = 0; k < tt_csv_table_columns(table); k++)
        if (strcmp(tt_csv_table_name(table, k), name) == 0)
            return strtod(tt_csv_table_cell(table, row, k), NULL);
    fail_msg("there is no column %s", name);
    return NAN;
}

static inline void compare(const struct tt_csv_table *table, size_t row, const struct reference *r, double tolerance)
{
    char name[16];
    for (int k = 0; k < UNITS; k++) {
        snprintf(name, sizeof name, "%c.x", 'a' + k);
        assert_near(cell(table, name, row), r->x[k], tolerance * (1 + fabs(r->x[k])));
        for (int i = k; i < 3 && k < 2; i++) { /* b.y1 and c's outputs go nowhere: they are not corrected */
            snprintf(name, sizeof name, "%c.y%d", 'a' + k, i + 1);
            assert_near(cell(table, name, row), r->y[3 * k + i], tolerance * (1 + fabs(r->y[3 * k + i])));
        }
    }
}

/* ---- exact solutions ---- */

/* Against the coupled equations (eq. 6.5), solved with small steps of the classical Runge-Kutta method. */
static inline void solve_exactly(double *x, double t)
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
static inline double error_of(const struct tt_csv_table *table, const double *exact)
{
    size_t last = tt_csv_table_rows(table) - 1;
    return fmax(fmax(fabs(cell(table, "a.x", last) - exact[0]), fabs(cell(table, "b.x", last) - exact[1])),
                fabs(cell(table, "c.x", last) - exact[2]));
}

/* ---- sorts of FMUs ---- */

struct sort {
    const char *fmu, *interface;
    bool has_rates, has_rates_at_start;
    bool tries;        /* D by short steps */
    bool takes_slopes; /* exactly */
    double tolerance;
};

#endif
