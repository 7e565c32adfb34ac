/* SPDX-License-Identifier: MIT */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/linearize.h>

#include "apps/analyze/coupled_linear.h"
#include "base/log.h"
#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "sim/coupling/consistency.h"
#include "sim/execution_run.h"
#include "solve/matrix.h"
#include "sim/start/linear_model.h"

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
        copy[i] = tt_text_copy(names[i]);
        if (!copy[i]) {
            while (i > 0)
                free(copy[--i]);
            free(copy);
            return NULL;
        }
    }
    return copy;
}

static bool copy_matrix(struct tutti_matrix *out, const struct tt_linear *linear, int which)
{
    const struct tt_pattern *pattern = &linear->patterns[which];
    size_t columns = (size_t)pattern->column_count, entries = tt_pattern_entries(pattern);
    int *starts = malloc((columns + 1) * sizeof *starts), *rows = malloc((entries + 1) * sizeof *rows);
    double *values = copy_numbers(linear->values[which], entries);
    *out = (struct tutti_matrix){(size_t)pattern->row_count, columns, starts, rows, values};
    if (!starts || !rows || !values)
        return false;
    memcpy(starts, pattern->starts, (columns + 1) * sizeof *starts);
    memcpy(rows, pattern->rows, entries * sizeof *rows);
    return true;
}

static enum tutti_err linearize_copy_result(struct tutti_linearization *out, const struct tt_linear *linear)
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
               : tt_fail_memory();
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
    free_names(linearization->hidden_names, linearization->hidden_count);
    *linearization = (struct tutti_linearization){0};
}

/* `who`: "unit (file)", or the file of a system. */
static enum tutti_err linearize_check_finite(const char *who, double t, const struct tutti_matrix *matrix,
                                             const char *letter, const char *prime, char **row_names,
                                             char **column_names)
{
    for (size_t c = 0; c < matrix->column_count; c++)
        for (int k = matrix->starts[c]; k < matrix->starts[c + 1]; k++)
            if (!isfinite(matrix->values[k]))
                return tt_fail(TUTTI_ERR_FMU,
                               "%s: it cannot be linearised at t = %s: in %s, the derivative of '%s'%s by '%s' "
                               "is %s",
                               who, TIME(t), letter, row_names[matrix->rows[k]], prime, column_names[c],
                               NUMBER(matrix->values[k]));
    return TUTTI_OK;
}

static enum tutti_err analyse_eigenvalues(struct visitor *visitor)
{
    struct tutti_linearization *out = visitor->out;
    size_t n = out->state_count;
    double norm = 0, *re = calloc(n + 1, sizeof *re), *im = calloc(n + 1, sizeof *im);
    if (!re || !im) {
        free(re);
        free(im);
        return tt_fail_memory();
    }
    enum tutti_err err = tt_matrix_eigenvalues(&out->a, re, im, &norm);
    if (err) {
        free(re);
        free(im);
        if (err == TUTTI_ERR_MEMORY)
            return err;
        tt_log(visitor->log, TUTTI_LOG_WARNING, NULL, "there will be no eigenvalues: %s", tutti_err_message());
        return TUTTI_OK;
    }
    out->eigenvalues_re = re;
    out->eigenvalues_im = im;
    out->eigenvalue_count = n;

    /* Computed eigenvalues are those of A + E. Golub, Van Loan, Matrix Computations (4th ed.), section 7.5.6: the QR
     * iteration has |E| of about the rounding times |A|, here of the balanced A, and grows with n at most. Differences
     * of second order have errors of the rounding to the power of 2/3 (Nocedal, Wright, Numerical Optimization, section
     * 8.1); ten times that leaves room for functions that are less smooth. */
    double relative = (double)n * DBL_EPSILON;
    out->margin = norm * (out->exact ? relative : fmax(relative, 10 * pow(DBL_EPSILON, 2.0 / 3)));
    if (n > 0)
        out->stability = re[0] > out->margin ? TUTTI_UNSTABLE : re[0] < -out->margin ? TUTTI_STABLE : TUTTI_MARGINAL;
    return TUTTI_OK;
}

/* ---- a point that fits together ---- */

static enum tutti_err solve_consistent(struct tt_rank *rank, struct tt_consistency *consistent)
{
    struct tt_step_result result = tt_step_result_begin(rank->t, rank->t);
    const double *signals = (const double *)(const void *)rank->wires.signals;
    double *sizes = calloc(rank->wires.real_count + 1, sizeof *sizes);
    bool solved = true, possible = true;
    if (!sizes)
        return tt_fail_memory();
    for (uint32_t r = 0; r < rank->wires.real_count; r++)
        sizes[r] = fmax(fabs(signals[rank->wires.reals[r].place]), rank->wires.reals[r].nominal);
    enum tutti_err err = tt_consistency_is_possible(consistent, &possible);
    if (!err && possible)
        err = tt_consistency_solve(consistent, rank->t, sizes, false, &result, &solved);
    free(sizes);
    TRY(err);
    return solved ? TUTTI_OK : tt_consistency_explain(consistent);
}

/* In a step units see inputs that others had before it: now all get what belongs to this point (Andersson 2016 eq. 6.17, 6.18). Units that cannot
 * be read after their inputs are set keep theirs. */
static enum tutti_err linearize_make_consistent(struct visitor *visitor, struct tt_rank *rank)
{
    struct tt_structure running = {0};
    struct tt_consistency *consistent = NULL;
    TRY(tt_structure_init(&running, rank->job->system, TUTTI_PHASE_RUN));
    struct tt_failure failure;
    enum tutti_err err = tt_consistency_open(&consistent, rank, &running);
    if (err == TUTTI_ERR_UNSUPPORTED) {
        tt_log(
            visitor->log, TUTTI_LOG_WARNING, NULL,
            "units in an algebraic loop are for Co-Simulation, and cannot be read after their inputs are set: they are "
            "linearised with the inputs of their last steps");
        err = TUTTI_OK;
    } else if (!err)
        err = solve_consistent(rank, consistent);
    tt_fail_save(&failure, err);
    tt_consistency_close(consistent);
    tt_structure_fini(&running);
    return tt_fail_restore(&failure);
}

/* ---- all of it ---- */

static enum tutti_err report_hidden_states(struct visitor *visitor, const struct tt_unit *unit)
{
    struct tutti_linearization *out = visitor->out;
    out->hidden_names[out->hidden_count] = tt_text_copy(unit->name);
    if (!out->hidden_names[out->hidden_count++])
        return tt_fail_memory();
    tt_log(visitor->log, TUTTI_LOG_WARNING, unit->name,
           "it is for Co-Simulation: its states cannot be seen, and count as constant; only D is found");
    return TUTTI_OK;
}

static enum tutti_err linearize_collect(struct visitor *visitor, struct tt_linear_collection *c)
{
    uint32_t count = c->rank->member_count;
    visitor->out->hidden_names = calloc((size_t)count + 1, sizeof *visitor->out->hidden_names);
    if (!visitor->out->hidden_names)
        return tt_fail_memory();
    TRY(tt_coupled_linear_collect(c));
    for (uint32_t m = 0; m < count; m++)
        if (c->rank->units[m]->kind->interface == TUTTI_CS)
            TRY(report_hidden_states(visitor, c->rank->units[m]));
    return TUTTI_OK;
}

/* The version of all units, if it is one. */
static const char *common_version(const struct tt_rank *rank)
{
    static const char *const versions[] = {"", "1.0", "2.0", "3.0"};
    for (uint32_t m = 1; m < rank->member_count; m++)
        if (rank->units[m]->fmu->desc->fmi != rank->units[0]->fmu->desc->fmi)
            return "several";
    return versions[rank->units[0]->fmu->desc->fmi];
}

static enum tutti_err linearize_assemble(struct visitor *visitor, struct tt_linear_collection *c)
{
    const struct tt_unit *unit = c->rank->units[0];
    struct tutti_linearization *out = visitor->out;
    char who[512];
    TRY(linearize_collect(visitor, c));
    if (c->rank->job->system->single) {
        snprintf(who, sizeof who, "%s (%s)", unit->name, unit->fmu->path);
        TRY(linearize_copy_result(out, c->parts[0].linear));
    } else {
        snprintf(who, sizeof who, "%s", c->rank->job->system->path);
        TRY(tt_coupled_linear_assemble(out, c->parts, c->rank->member_count, c->links, c->link_count));
    }
    TRY(linearize_check_finite(who, out->time, &out->a, "A", "'", out->state_names, out->state_names));
    TRY(linearize_check_finite(who, out->time, &out->b, "B", "'", out->state_names, out->input_names));
    TRY(linearize_check_finite(who, out->time, &out->c, "C", "", out->output_names, out->state_names));
    TRY(linearize_check_finite(who, out->time, &out->d, "D", "", out->output_names, out->input_names));
    return analyse_eigenvalues(visitor);
}

static enum tutti_err linearize_visit(void *context, struct tt_rank *rank)
{
    struct visitor *visitor = context;
    struct tt_linear_collection c = {.rank = rank};
    visitor->came = true;
    visitor->out->time = rank->t;
    visitor->out->fmi = common_version(rank);
    if (rank->job->system->fed_count > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s: a system with lines (--tlm) or constraints (--constrain) cannot be linearised",
                       rank->job->system->path);
    TRY(tt_linear_model_check_links(rank));
    if (!rank->job->system->single)
        TRY(linearize_make_consistent(visitor, rank));
    struct tt_failure failure;
    tt_fail_save(&failure, linearize_assemble(visitor, &c));
    tt_coupled_linear_free_collection(&c);
    return tt_fail_restore(&failure);
}

static enum tutti_err run_to_point(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                   struct tutti_linearization *out)
{
    struct tutti_run_options run = *options;
    run.prefers_exchange = true;
    run.output = NULL;
    struct visitor visitor = {.log = run.log, .out = out};
    struct tt_visit plan = {
        .has_at = options->has_at,
        .at = options->at,
        .visit = linearize_visit,
        .context = &visitor,
    };
    TRY(tt_execution_run_files(&run, stats, &plan));
    return visitor.came
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_FMU, "%s: the FMU ended the simulation at t = %s, and so cannot be linearised %s",
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
    tt_stats_fini(&unused);
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
