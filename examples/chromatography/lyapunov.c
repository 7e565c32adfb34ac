/* SPDX-License-Identifier: MIT */
/* lyapunov - integrates P' = A P + P A^T + B B^T, P(0) = B B^T, together with an FMU (Andersson's thesis, eq. 9.14):
 * how far disturbances of its inputs move its states. An example of <tutti/extra.h>.
 *
 *     lyapunov FMU INPUT.csv RESULT.csv [sparse|dense|plain] [STOP]
 *
 * The result has the FMU's outputs, and P[i,j] for all states i and j, at 10 times. How much work it was goes to
 * standard output, as JSON. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/tutti.h>

/* P is stored by columns: P[i][j] is p[i + n j]. */
struct lyapunov {
    size_t n;
    int *starts, *rows; /* of the Jacobian */
    char (*texts)[48];  /* names of the columns of the result */
    const char **names;
};

/* p += B B^T */
static void add_b_bt(const struct tutti_matrix *b, double *p)
{
    for (size_t c = 0; c < b->column_count; c++)
        for (int k = b->starts[c]; k < b->starts[c + 1]; k++)
            for (int l = b->starts[c]; l < b->starts[c + 1]; l++)
                p[(size_t)b->rows[k] + b->row_count * (size_t)b->rows[l]] += b->values[k] * b->values[l];
}

static enum tutti_err start(void *context, struct tutti_model *model, double t, double *p)
{
    (void)t;
    const struct lyapunov *l = context;
    struct tutti_state_space space;
    enum tutti_err err = tutti_model_linearize(model, TUTTI_WANT_B, &space);
    if (err)
        return err;
    memset(p, 0, l->n * l->n * sizeof *p);
    add_b_bt(&space.b, p);
    return TUTTI_OK;
}

static enum tutti_err rhs(void *context, struct tutti_model *model, double t, const double *p, double *dp)
{
    (void)t;
    const struct lyapunov *l = context;
    size_t n = l->n;
    struct tutti_state_space space;
    enum tutti_err err = tutti_model_linearize(model, TUTTI_WANT_A | TUTTI_WANT_B, &space);
    if (err)
        return err;
    memset(dp, 0, n * n * sizeof *dp);
    add_b_bt(&space.b, dp);
    const struct tutti_matrix *a = &space.a;
    for (size_t j = 0; j < n; j++) /* A P, column by column */
        for (size_t c = 0; c < n; c++)
            for (int k = a->starts[c]; k < a->starts[c + 1]; k++)
                dp[(size_t)a->rows[k] + n * j] += a->values[k] * p[c + n * j];
    for (size_t c = 0; c < n; c++) /* P A^T */
        for (int k = a->starts[c]; k < a->starts[c + 1]; k++)
            for (size_t i = 0; i < n; i++)
                dp[i + n * (size_t)a->rows[k]] += a->values[k] * p[i + n * c];
    return TUTTI_OK;
}

/* Walks through the entries of I x A + A x I (eq. 9.17), column by column. */
struct cursor {
    const struct tutti_matrix *a;
    int *rows;      /* where they go; NULL: not wanted */
    double *values; /* likewise */
    int count;
    size_t last; /* row of the last entry of this column */
};

static void entry(struct cursor *at, size_t row, int k)
{
    if (at->last != row) {
        if (at->rows)
            at->rows[at->count] = (int)row;
        if (at->values)
            at->values[at->count] = 0;
        at->count++;
        at->last = row;
    }
    if (at->values)
        at->values[at->count - 1] += at->a->values[k];
}

/* What P[c][d] contributes: to P[r][d] with the factor A[r][c], and to P[c][r] with the factor A[r][d]; both may be the
 * same. Rows have to ascend. */
static void column(struct cursor *at, size_t c, size_t d)
{
    const struct tutti_matrix *a = at->a;
    size_t n = a->row_count;
    int left = a->starts[c], right = a->starts[d]; /* next entries of the two kinds */
    at->last = SIZE_MAX;
    while (left < a->starts[c + 1] || right < a->starts[d + 1]) {
        size_t row_left = left < a->starts[c + 1] ? (size_t)a->rows[left] + n * d : SIZE_MAX;
        size_t row_right = right < a->starts[d + 1] ? c + n * (size_t)a->rows[right] : SIZE_MAX;
        if (row_left <= row_right)
            entry(at, row_left, left++);
        else
            entry(at, row_right, right++);
    }
}

static enum tutti_err structure(void *context, struct tutti_model *model, const int **starts, const int **rows)
{
    struct lyapunov *l = context;
    struct tutti_state_space space;
    enum tutti_err err = tutti_model_linearize(model, 0, &space);
    if (err)
        return err;
    size_t n = l->n, most = 2 * n * (size_t)space.a.starts[n];
    l->starts = calloc(n * n + 1, sizeof *l->starts);
    l->rows = calloc(most + 1, sizeof *l->rows);
    if (!l->starts || !l->rows)
        return tutti_extra_fail(TUTTI_ERR_MEMORY, "no memory for a Jacobian with %zu entries", most);
    struct cursor at = {.a = &space.a, .rows = l->rows};
    for (size_t i = 0; i < n * n; i++) {
        column(&at, i % n, i / n);
        l->starts[i + 1] = at.count;
    }
    *starts = l->starts;
    *rows = l->rows;
    return TUTTI_OK;
}

static enum tutti_err jacobian(void *context, struct tutti_model *model, double t, const double *p, double *values)
{
    (void)t, (void)p;
    const struct lyapunov *l = context;
    struct tutti_state_space space;
    enum tutti_err err = tutti_model_linearize(model, TUTTI_WANT_A, &space);
    if (err)
        return err;
    struct cursor at = {.a = &space.a, .values = values};
    for (size_t i = 0; i < l->n * l->n; i++)
        column(&at, i % l->n, i / l->n);
    return TUTTI_OK;
}

static enum tutti_err output(void *context, struct tutti_model *model, double t, const double *p, double *values)
{
    (void)model, (void)t;
    const struct lyapunov *l = context;
    memcpy(values, p, l->n * l->n * sizeof *p);
    return TUTTI_OK;
}

static int fail(const char *message)
{
    fprintf(stderr, "lyapunov: %s\n", message);
    return 1;
}

static enum tutti_err set_times(struct tutti_run_options *options, double stop)
{
    enum tutti_err err = tutti_options_set_number(options, "stop", stop);
    if (!err)
        err = tutti_options_set_number(options, "step", stop);
    if (!err)
        err = tutti_options_set_number(options, "output-step", stop / 10);
    if (!err)
        err = tutti_options_set(options, "rtol", "1e-8");
    return err ? err : tutti_options_set(options, "atol", "1e-8");
}

static int simulate(struct lyapunov *l, struct tutti_run_options *options, const char *result, double stop)
{
    struct tutti_extra extra = {
        .count = l->n * l->n,
        .context = l,
        .start = start,
        .rhs = rhs,
        .structure = structure,
        .jacobian = jacobian,
        .output_count = l->n * l->n,
        .output_names = l->names,
        .output = output,
    };
    struct tutti_run_stats *stats = NULL;
    tutti_options_set_extra(options, &extra);
    int status = set_times(options, stop) || tutti_options_set(options, "output", result) || tutti_stats_make(&stats) ||
                         tutti_run(options, stats)
                     ? fail(tutti_err_message())
                     : 0;
    if (status == 0)
        printf("{\"states\": %zu, \"solver_steps\": %.0f, \"rhs_evaluations\": %.0f, \"jacobian_evaluations\": %.0f, "
               "\"directional_derivatives\": %.0f, \"loop_seconds\": %.6g}\n",
               l->n, tutti_stats_number_of_unit(stats, 0, "solver_steps"),
               tutti_stats_number_of_unit(stats, 0, "rhs_evaluations"),
               tutti_stats_number_of_unit(stats, 0, "jacobian_evaluations"),
               tutti_stats_number_of_unit(stats, 0, "directional_derivatives"),
               tutti_stats_number(stats, "loop_seconds"));
    tutti_stats_free(stats);
    return status;
}

static bool name_columns(struct lyapunov *l)
{
    size_t n = l->n;
    l->texts = calloc(n * n + 1, sizeof *l->texts);
    l->names = calloc(n * n + 1, sizeof *l->names);
    if (!l->texts || !l->names)
        return false;
    for (size_t i = 0; i < n * n; i++) {
        snprintf(l->texts[i], sizeof l->texts[i], "P[%zu,%zu]", i % n + 1, i / n + 1);
        l->names[i] = l->texts[i];
    }
    return true;
}

/* The number of states, from a linearisation at the start. */
static enum tutti_err count_states(const struct tutti_run_options *options, size_t *n)
{
    struct tutti_linearization linearization;
    enum tutti_err err = tutti_linearize(options, NULL, &linearization);
    if (err)
        return err;
    *n = linearization.state_count;
    tutti_linearization_fini(&linearization);
    return TUTTI_OK;
}

static enum tutti_err make_options(struct tutti_run_options **options, const char *fmu, const char *input,
                                   const char *matrices)
{
    enum tutti_err err = tutti_options_make(options);
    if (!err)
        err = tutti_options_set(*options, "file", fmu);
    if (!err)
        err = tutti_options_set(*options, "input", input);
    if (!err)
        err = tutti_options_set(*options, "interface", "me");
    if (!err)
        err = tutti_options_set(*options, "solver", "cvode");
    return err ? err : tutti_options_set(*options, "jacobian", matrices);
}

int main(int count, char *argument[])
{
    double stop = count > 5 ? strtod(argument[5], NULL) : 5;
    if (count < 4 || count > 6 || !(stop > 0)) {
        fputs("usage: lyapunov FMU INPUT.csv RESULT.csv [sparse|dense|plain] [STOP]\n", stderr);
        return 2;
    }
    struct tutti_run_options *options = NULL;
    struct lyapunov l = {0};
    int status;
    if (make_options(&options, argument[1], argument[2], count > 4 ? argument[4] : "sparse") ||
        count_states(options, &l.n))
        status = fail(tutti_err_message());
    else
        status = name_columns(&l) ? simulate(&l, options, argument[3], stop) : fail("out of memory");
    tutti_options_free(options);
    free(l.texts);
    free(l.names);
    free(l.starts);
    free(l.rows);
    return status;
}
