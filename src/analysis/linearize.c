/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/linearize.h>

#include "base/log.h"
#include "base/number.h"
#include "base/str.h"
#include "master/run.h"
#include "solve/eigen.h"
#include "unit/linear.h"

struct visitor {
    const struct tutti_log *log;
    struct tutti_linearization *out;
    bool came;
};

static double *copy_numbers(const double *numbers, size_t count)
{
    double *copy = malloc((count + 1) * sizeof *copy);
    if (copy)
        memcpy(copy, numbers, count * sizeof *copy);
    return copy;
}

static char **copy_names(char **names, size_t count)
{
    char **copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++) {
        copy[i] = tutti_str_copy(names[i]);
        if (!copy[i]) {
            while (i > 0)
                free(copy[--i]);
            free(copy);
            return NULL;
        }
    }
    return copy;
}

static bool copy_matrix(struct tutti_matrix *out, const struct tutti_linear *linear, int which)
{
    const struct tutti_pattern *pattern = &linear->patterns[which];
    size_t columns = (size_t)pattern->column_count, entries = tutti_pattern_entries(pattern);
    int *starts = malloc((columns + 1) * sizeof *starts), *rows = malloc((entries + 1) * sizeof *rows);
    double *values = copy_numbers(linear->values[which], entries);
    *out = (struct tutti_matrix){(size_t)pattern->row_count, columns, starts, rows, values};
    if (!starts || !rows || !values)
        return false;
    memcpy(starts, pattern->starts, (columns + 1) * sizeof *starts);
    memcpy(rows, pattern->rows, entries * sizeof *rows);
    return true;
}

static enum tutti_err copy(struct tutti_linearization *out, const struct tutti_linear *linear)
{
    out->state_count = linear->state_count;
    out->input_count = linear->input_count;
    out->output_count = linear->output_count;
    out->exact = linear->exact;
    out->structure_known = linear->by_model;
    struct tutti_matrix *matrices[] = {&out->a, &out->b, &out->c, &out->d};
    bool enough = true;
    for (int which = 0; which < TUTTI_LINEAR_COUNT; which++)
        enough = copy_matrix(matrices[which], linear, which) && enough;
    out->state_names = copy_names(linear->state_names, out->state_count);
    out->input_names = copy_names(linear->input_names, out->input_count);
    out->output_names = copy_names(linear->output_names, out->output_count);
    out->states = copy_numbers(linear->states, out->state_count);
    out->derivatives = copy_numbers(linear->derivatives, out->state_count);
    out->inputs = copy_numbers(linear->inputs, out->input_count);
    out->outputs = copy_numbers(linear->outputs, out->output_count);
    return enough && out->state_names && out->input_names && out->output_names && out->states && out->derivatives &&
                   out->inputs && out->outputs
               ? TUTTI_OK
               : tutti_fail_memory();
}

static void free_names(char **names, size_t count)
{
    for (size_t i = 0; names && i < count; i++)
        free(names[i]);
    free(names);
}

static void free_matrix(struct tutti_matrix *matrix)
{
    free((void *)matrix->starts);
    free((void *)matrix->rows);
    free((void *)matrix->values);
}

void tutti_linearization_fini(struct tutti_linearization *linearization)
{
    free_matrix(&linearization->a);
    free_matrix(&linearization->b);
    free_matrix(&linearization->c);
    free_matrix(&linearization->d);
    free_names(linearization->state_names, linearization->state_count);
    free_names(linearization->input_names, linearization->input_count);
    free_names(linearization->output_names, linearization->output_count);
    free(linearization->states);
    free(linearization->derivatives);
    free(linearization->inputs);
    free(linearization->outputs);
    free(linearization->eigenvalues_re);
    free(linearization->eigenvalues_im);
    *linearization = (struct tutti_linearization){0};
}

static enum tutti_err check_finite(const struct tutti_unit *unit, double t, const struct tutti_matrix *matrix,
                                   const char *letter, const char *prime, char **row_names, char **column_names)
{
    for (size_t c = 0; c < matrix->column_count; c++)
        for (int k = matrix->starts[c]; k < matrix->starts[c + 1]; k++)
            if (!isfinite(matrix->values[k]))
                return tutti_fail(TUTTI_ERR_FMU,
                                  "%s (%s): it cannot be linearised at t = %s: in %s, the derivative of '%s'%s by '%s' "
                                  "is %s",
                                  unit->name, unit->fmu->path, TIME(t), letter, row_names[matrix->rows[k]], prime,
                                  column_names[c], NUMBER(matrix->values[k]));
    return TUTTI_OK;
}

static enum tutti_err check_all_finite(const struct tutti_unit *unit, const struct tutti_linearization *out)
{
    TRY(check_finite(unit, out->time, &out->a, "A", "'", out->state_names, out->state_names));
    TRY(check_finite(unit, out->time, &out->b, "B", "'", out->state_names, out->input_names));
    TRY(check_finite(unit, out->time, &out->c, "C", "", out->output_names, out->state_names));
    return check_finite(unit, out->time, &out->d, "D", "", out->output_names, out->input_names);
}

/* Computed eigenvalues are those of A + E. Golub, Van Loan, Matrix Computations (4th ed.), section 7.5.6: the QR
 * iteration has |E| of about the rounding times |A|, here of the balanced A, and grows with n at most. Differences of
 * second order have errors of their own, of the rounding to the power of 2/3 (Nocedal, Wright, Numerical Optimization,
 * section 8.1); ten times that leaves room for functions that are not as smooth as one wishes. */
static double margin_of(const struct tutti_linearization *out, double norm)
{
    double relative = (double)out->state_count * DBL_EPSILON;
    return norm * (out->exact ? relative : fmax(relative, 10 * pow(DBL_EPSILON, 2.0 / 3)));
}

static enum tutti_err look_at_eigenvalues(struct visitor *visitor, const struct tutti_unit *unit)
{
    struct tutti_linearization *out = visitor->out;
    size_t n = out->state_count;
    double norm = 0, *re = calloc(n + 1, sizeof *re), *im = calloc(n + 1, sizeof *im);
    if (!re || !im) {
        free(re);
        free(im);
        return tutti_fail_memory();
    }
    enum tutti_err err = tutti_eigenvalues(&out->a, re, im, &norm);
    if (err) {
        free(re);
        free(im);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        tutti_log_printf(visitor->log, TUTTI_LOG_WARNING, unit->name, "there will be no eigenvalues: %s",
                         tutti_err_message());
        return TUTTI_OK;
    }
    out->eigenvalues_re = re;
    out->eigenvalues_im = im;
    out->eigenvalue_count = n;
    out->margin = margin_of(out, norm);
    if (n > 0)
        out->stability = re[0] > out->margin ? TUTTI_UNSTABLE : re[0] < -out->margin ? TUTTI_STABLE : TUTTI_MARGINAL;
    return TUTTI_OK;
}

static enum tutti_err visit(void *context, struct tutti_unit *unit, double t)
{
    static const char *const versions[] = {"", "1.0", "2.0", "3.0"};
    struct visitor *visitor = context;
    struct tutti_linear *linear = NULL;
    unsigned all = TUTTI_WANT_A | TUTTI_WANT_B | TUTTI_WANT_C | TUTTI_WANT_D | TUTTI_WANT_VALUES;
    TRY(unit->kind->linearize(unit, all, &linear));
    visitor->came = true;
    visitor->out->time = t;
    visitor->out->fmi = versions[unit->fmu->desc->fmi];
    TRY(copy(visitor->out, linear));
    TRY(check_all_finite(unit, visitor->out));
    return look_at_eigenvalues(visitor, unit);
}

static enum tutti_err run_to_point(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                   struct tutti_linearization *out)
{
    struct tutti_run_options run = *options;
    if (run.interface && strcmp(run.interface, "cs") == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "linearising needs Model Exchange, not --interface cs");
    if (!run.interface || strcmp(run.interface, "auto") == 0)
        run.interface = "me";
    run.output = NULL;
    struct visitor visitor = {.log = run.log, .out = out};
    struct tutti_visit plan = {
        .purpose = "linearising",
        .has_at = options->has_at,
        .at = options->at,
        .visit = visit,
        .context = &visitor,
    };
    TRY(tutti_run_visited(&run, stats, &plan));
    return visitor.came
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_FMU, "%s: the FMU ended the simulation at t = %s, and so cannot be linearised %s",
                            run.files[0], TIME(stats->stop),
                            options->has_at && options->at > stats->stop ? "later" : "there");
}

enum tutti_err tutti_linearize(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                               struct tutti_linearization *out)
{
    struct tutti_run_stats unused = {0};
    *out = (struct tutti_linearization){0};
    if (stats)
        *stats = (struct tutti_run_stats){0};
    enum tutti_err err = run_to_point(options, stats ? stats : &unused, out);
    tutti_run_stats_fini(&unused);
    if (err)
        tutti_linearization_fini(out);
    return err;
}

const char *tutti_stability_name(enum tutti_stability stability)
{
    switch (stability) {
    case TUTTI_STABLE: return "asymptotically stable";
    case TUTTI_MARGINAL: return "on the margin of stability";
    case TUTTI_UNSTABLE: return "unstable";
    case TUTTI_STABILITY_UNKNOWN: break;
    }
    return "unknown";
}
