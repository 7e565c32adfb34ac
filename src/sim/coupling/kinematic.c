/* SPDX-License-Identifier: MIT */
/* Kinematic coupling (Lacoursiere 2017 section 6): constraints between velocities, and positions, of units (model/system/joint.h), kept by
 * forces that are held over a step. Connections go as with Jacobi.
 *
 * A step is tried with the forces of the last one, which leads to velocities v~. How velocities at the end of a step follow forces, the
 * mobilities, is known by differences, or by derivatives of Model Exchange units (step_jacobian.h), so that new forces follow from a
 * linear system. Units are taken back, and
 * make the step with these. With multipliers l, forces G^T l, M the mobilities, g the positions that should be 0 and G v how
 * these move, gamma = 1 / (1 + 4 tau / h),
 *     (G M G^T + 4 gamma eps / h) dl = -4 gamma / h g(n) + gamma G v(n) - G v~ - 4 gamma eps / h l
 * (Lacoursiere 2017 eq. 12 to 14, with tau G v and eps l in the first of them). Of constraints on velocities alone:
 *     (G M G^T + eps / h) dl = -G v~ - eps / h l
 *
 * Mobilities are kept from step to step: as long as steps have the same size, and velocities come out as foretold to a tenth of what the
 * new forces moved them by. If they do not, and mobilities were those of derivatives, the next ones are found by differences.
 *
 * Every rank computes all of it, from the same values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/step_jacobian.h"
#include "base/options/options.h"
#include "sim/rank.h"
#include "solve/lu.h"

/* A constrained end of a unit. Places are numbers of doubles among the signals. */
struct constraint_end {
    uint32_t component;
    uint32_t force, velocity, position; /* indices; position: TUTTI_NONE if missing */
    uint32_t input, output;             /* force and velocity as variables of the unit */
    uint32_t column, row; /* of the mobilities: the column of its force, the row of its velocity in its unit */
};

struct constraint_row {
    const struct tt_constraint *of;
    const double *ratios; /* per end */
    double offset;
    uint32_t first_end;
    int32_t diagonal; /* place among the entries of the matrix */
};

/* A term of an entry of G M G^T. */
struct mobility_term {
    int32_t entry;
    size_t mobility; /* of the entries of the mobilities */
    double factor;
};

/* The estimates of the mobilities: plain data. */
struct known_mobility {
    double h;       /* of the step that they were measured for; 0: they were not */
    bool stale;     /* the last step did not match them */
    bool derived;   /* derivatives took part in them */
    bool checked;   /* that no constraint follows from others */
    uint32_t worst; /* the row with the largest drift so far */
    double t;       /* where the last step began */
    double longest; /* of the steps so far: a short one among them need not close a gap that a long one left */
};

struct kinematic {
    const struct tt_step_rules *rules; /* of the step that is being made */
    struct constraint_end *ends;
    struct constraint_row *rows;
    struct mobility_term *terms;
    uint32_t end_count, row_count;
    size_t term_count;
    bool *joined;         /* per component: it has an end */
    uint32_t *forces;     /* places, per column of the mobilities */
    uint32_t *velocities; /* places, unit by unit: the rows of the mobilities */
    struct known_mobility known;
    double *multipliers, *correction; /* per row: l, dl */
    double *speed, *foretold;         /* G v at the end of the trial, and its target at the end of the step */
    double *moved;                    /* its change by the correction */
    double *base;                     /* velocities after the trial */
    double *sizes;                    /* per column: of forces, as far as that is known */
    double *values;                   /* of minus the matrix */
    double relax_time;                /* tau, as a part of the longest step */
    struct tt_step_jacobian mobilities;
    struct tt_step_mapping meaning; /* of its columns and rows */
    struct tt_pattern pattern;
    struct tt_lu *lu;
    struct tt_snapshot own; /* where the step begins, if that is not the start of a macro step */
    unsigned long *before;  /* per own member: do-steps before the trial */
};

/* tau as a part of the longest step so far. With forces held over a step, g(n+1) = g + h / 2 (G v(n) + G v(n+1)), so that what is wrong goes as
 * the powers of a matrix with determinant 3 gamma: it vanishes if tau > h / 2, and the sooner, the larger tau; the error that
 * each step makes grows with it. */
static const double LEAST_RELAX_TIME = 0.5;
/* Of the diagonal: what is left of a row that follows from others is less. */
static const double LEAST_PIVOT = 1e-6;
/* Steps of one size differ by rounding, as a part of it. */
static const double SAME_STEP = 1e-9;
enum { MOST_CHECKED = 500, MOST_ROUNDS = 4, MOST_ROWS = 40000 };

/* ---- opening ---- */

static uint32_t kinematic_input_place(const struct tt_wires *wires, uint32_t read)
{
    return (uint32_t)(tt_wires_read_output(wires, read) - (const double *)(const void *)wires->signals);
}

static void list_joint_ends(struct kinematic *kinematic, const struct tt_rank *rank)
{
    const struct tt_system *system = rank->job->system;
    uint32_t e = 0, r = 0;
    for (uint32_t c = 0; c < system->constraint_count; c++) {
        const struct tt_constraint *constraint = &system->constraints[c];
        for (uint32_t i = 0; i < constraint->row_count; i++)
            kinematic->rows[r++] =
                (struct constraint_row){.of = constraint,
                                        .ratios = constraint->ratios + (size_t)i * constraint->end_count,
                                        .offset = constraint->offsets[i],
                                        .first_end = e};
        for (uint32_t i = 0; i < constraint->end_count; i++, e++) {
            struct constraint_end *end = &kinematic->ends[e];
            end->component = system->fed[constraint->forces[i]].component;
            end->input = system->fed[constraint->forces[i]].variable;
            end->output = system->read[constraint->velocities[i]].variable;
            end->force = rank->wires.fed[constraint->forces[i]];
            end->velocity = kinematic_input_place(&rank->wires, constraint->velocities[i]);
            end->position = constraint->positions ? kinematic_input_place(&rank->wires, constraint->positions[i])
                                                  : TUTTI_NONE;
            kinematic->joined[end->component] = true;
        }
    }
}

/* Columns and rows of the mobilities, unit by unit. */
static enum tutti_err open_mobilities(struct kinematic *kinematic, struct tt_rank *rank)
{
    uint32_t components = rank->job->system->component_count, column = 0;
    uint32_t *row_count = tt_arena_array(&rank->arena, components, sizeof *row_count);
    struct tt_step_column *columns = tt_arena_array(&rank->arena, kinematic->end_count, sizeof *columns);
    uint32_t *velocities = kinematic->velocities;
    if (!row_count || !columns)
        return tt_fail_memory();
    for (uint32_t c = 0; c < components; c++) {
        for (uint32_t e = 0; kinematic->joined[c] && e < kinematic->end_count; e++) {
            struct constraint_end *end = &kinematic->ends[e];
            if (end->component != c)
                continue;
            end->row = 0;
            while (end->row < row_count[c] && velocities[end->row] != end->velocity)
                end->row++;
            if (end->row == row_count[c])
                velocities[row_count[c]++] = end->velocity;
            columns[column] = (struct tt_step_column){.component = c, .size = kinematic->sizes[column]};
            kinematic->forces[column] = end->force;
            end->column = column++;
        }
        velocities += row_count[c];
    }
    return tt_step_jacobian_init(&kinematic->mobilities, rank, columns, column, row_count);
}

/* Describes them for derivatives: forces are held; velocities that are array elements have unknown derivatives. */
static enum tutti_err describe_mobilities(struct kinematic *kinematic, struct tt_rank *rank)
{
    const struct tt_system *system = rank->job->system;
    uint32_t columns = kinematic->end_count;
    struct tt_step_part *parts = tt_arena_array(&rank->arena, columns, sizeof *parts);
    size_t *first = tt_arena_array(&rank->arena, (size_t)columns + 1, sizeof *first);
    uint32_t *rows = tt_arena_array(&rank->arena, columns, sizeof *rows);
    if (!parts || !first || !rows)
        return tt_fail_memory();
    for (uint32_t e = 0; e < columns; e++) {
        const struct constraint_end *end = &kinematic->ends[e];
        const struct tt_var *vars = system->components[end->component].fmu->desc->vars;
        parts[end->column] = (struct tt_step_part){end->column, end->input, 1};
        first[e + 1] = e + 1;
        rows[kinematic->mobilities.row_first[end->component] + end->row] =
            vars[end->output].dimension_count > 0 ? TUTTI_NONE : end->output;
    }
    kinematic->meaning = (struct tt_step_mapping){.parts = parts, .part_first = first, .row_variables = rows};
    return TUTTI_OK;
}

/* Calls `take` for every pair of ends of the same unit, of any two rows. */
static void for_each_end_pair(const struct kinematic *kinematic,
                              void (*take)(struct kinematic *, uint32_t, uint32_t, const struct constraint_end *,
                                           const struct constraint_end *, double factor),
                              struct kinematic *to)
{
    for (uint32_t r = 0; r < kinematic->row_count; r++)
        for (uint32_t s = 0; s < kinematic->row_count; s++) {
            const struct constraint_row *row = &kinematic->rows[r], *column = &kinematic->rows[s];
            for (uint32_t i = 0; i < row->of->end_count; i++)
                for (uint32_t j = 0; j < column->of->end_count; j++) {
                    const struct constraint_end *velocity = &kinematic->ends[row->first_end + i];
                    const struct constraint_end *force = &kinematic->ends[column->first_end + j];
                    double factor = row->ratios[i] * column->ratios[j];
                    if (velocity->component == force->component && factor != 0)
                        take(to, r, s, velocity, force, factor);
                }
        }
}

static void count_mobility_term(struct kinematic *kinematic, uint32_t r, uint32_t s,
                                const struct constraint_end *velocity, const struct constraint_end *force,
                                double factor)
{
    (void)r, (void)s, (void)velocity, (void)force, (void)factor;
    kinematic->term_count++;
}

/* The entry is its row and column, until the pattern exists. */
static void kinematic_add_term(struct kinematic *kinematic, uint32_t r, uint32_t s,
                               const struct constraint_end *velocity, const struct constraint_end *force, double factor)
{
    const struct tt_step_jacobian *mobilities = &kinematic->mobilities;
    kinematic->terms[kinematic->term_count++] =
        (struct mobility_term){.entry = (int32_t)(s * kinematic->row_count + r),
                               .mobility = mobilities->columns[force->column].first + velocity->row,
                               .factor = factor};
}

static int32_t matrix_entry_at(const struct tt_pattern *pattern, int32_t row, int32_t column)
{
    int32_t entry = pattern->starts[column];
    while (pattern->rows[entry] != row)
        entry++;
    return entry;
}

static enum tutti_err open_constraint_matrix(struct kinematic *kinematic, struct tt_rank *rank)
{
    int32_t n = (int32_t)kinematic->row_count;
    for_each_end_pair(kinematic, count_mobility_term, kinematic);
    size_t count = kinematic->term_count;
    kinematic->terms = tt_arena_array(&rank->arena, count, sizeof *kinematic->terms);
    struct tt_pattern_place *places = tt_arena_array(&rank->arena, count + kinematic->row_count, sizeof *places);
    if (!kinematic->terms || !places)
        return tt_fail_memory();
    kinematic->term_count = 0;
    for_each_end_pair(kinematic, kinematic_add_term, kinematic);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct tt_pattern_place){kinematic->terms[i].entry % n, kinematic->terms[i].entry / n};
    for (int32_t r = 0; r < n; r++)
        places[count + (size_t)r] = (struct tt_pattern_place){r, r};
    TRY(tt_pattern_init(&kinematic->pattern, n, n, places, count + kinematic->row_count));
    for (size_t i = 0; i < count; i++)
        kinematic->terms[i].entry = matrix_entry_at(&kinematic->pattern, places[i].row, places[i].column);
    for (int32_t r = 0; r < n; r++)
        kinematic->rows[r].diagonal = matrix_entry_at(&kinematic->pattern, r, r);
    kinematic->values = tt_arena_array(&rank->arena, tt_pattern_entries(&kinematic->pattern), sizeof(double));
    return kinematic->values ? tt_lu_new(&kinematic->lu, (size_t)n, &kinematic->pattern, false) : tt_fail_memory();
}

static enum tutti_err kinematic_allocate(struct kinematic *kinematic, struct tt_rank *rank)
{
    uint32_t ends = kinematic->end_count, rows = kinematic->row_count;
    struct tt_arena *arena = &rank->arena;
    kinematic->ends = tt_arena_array(arena, ends, sizeof *kinematic->ends);
    kinematic->rows = tt_arena_array(arena, rows, sizeof *kinematic->rows);
    kinematic->joined = tt_arena_array(arena, rank->job->system->component_count, sizeof *kinematic->joined);
    kinematic->velocities = tt_arena_array(arena, ends, sizeof *kinematic->velocities);
    kinematic->forces = tt_arena_array(arena, ends, sizeof *kinematic->forces);
    kinematic->before = tt_arena_array(arena, rank->own_count, sizeof *kinematic->before);
    bool all = kinematic->ends && kinematic->rows && kinematic->joined && kinematic->velocities && kinematic->forces &&
               kinematic->before;
    double **const by_row[] = {&kinematic->multipliers, &kinematic->correction, &kinematic->speed, &kinematic->foretold,
                               &kinematic->moved};
    for (size_t i = 0; i < sizeof by_row / sizeof *by_row; i++) {
        *by_row[i] = tt_arena_array(arena, rows, sizeof(double));
        all = all && *by_row[i];
    }
    kinematic->base = tt_arena_array(arena, ends, sizeof(double));
    kinematic->sizes = tt_arena_array(arena, ends, sizeof(double));
    return all && kinematic->base && kinematic->sizes ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err open_kinematic(struct tt_sim *master, void *self)
{
    struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    struct kinematic *kinematic = self;
    kinematic->end_count = kinematic->row_count = 0;
    for (uint32_t c = 0; c < rank->job->system->constraint_count; c++) {
        kinematic->end_count += rank->job->system->constraints[c].end_count;
        kinematic->row_count += rank->job->system->constraints[c].row_count;
    }
    kinematic->relax_time = options->has_relax_time ? options->relax_time : TUTTI_DEFAULT_RELAX_TIME;
    if (kinematic->row_count == 0)
        return TUTTI_OK;
    if (kinematic->row_count > MOST_ROWS)
        return tt_fail(TUTTI_ERR_LIMIT, "%u constraints; the limit is %d", kinematic->row_count, MOST_ROWS);
    if (kinematic->relax_time < LEAST_RELAX_TIME)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "--relax-time %s is not stable: positions that are apart swing, and more so in each step; use %s or "
               "more",
               NUMBER(kinematic->relax_time), NUMBER(LEAST_RELAX_TIME));
    TRY(kinematic_allocate(kinematic, rank));
    for (uint32_t e = 0; e < kinematic->end_count; e++)
        kinematic->sizes[e] = 1;
    list_joint_ends(kinematic, rank);
    TRY(open_mobilities(kinematic, rank));
    TRY(describe_mobilities(kinematic, rank));
    TRY(open_constraint_matrix(kinematic, rank));

    struct tt_rollback_list *remembered = &master->remembered;
    struct tutti_run_stats *stats = rank->stats;
    TRY(tt_rollback_list_add(remembered, &kinematic->known, sizeof kinematic->known));
    TRY(tt_rollback_list_add(remembered, kinematic->multipliers, kinematic->row_count * sizeof(double)));
    TRY(tt_rollback_list_add(remembered, kinematic->sizes, kinematic->end_count * sizeof(double)));
    TRY(tt_rollback_list_add(remembered, kinematic->mobilities.entries,
                             kinematic->mobilities.entry_count * sizeof(double)));
    TRY(tt_rollback_list_add(remembered, &stats->drift, sizeof stats->drift));
    return tt_rollback_list_add(remembered, &stats->mobilities, sizeof stats->mobilities);
}

static void close_kinematic(struct tt_sim *master, void *self)
{
    struct kinematic *kinematic = self;
    tt_step_jacobian_fini(&kinematic->mobilities);
    tt_pattern_fini(&kinematic->pattern);
    tt_lu_free(kinematic->lu);
    tt_snapshot_fini(&kinematic->own, master->rank);
}

/* ---- constraints ---- */

/* G v. */
static double constraint_velocity(const struct kinematic *kinematic, uint32_t r, const char *signals)
{
    const struct constraint_row *row = &kinematic->rows[r];
    double speed = 0;
    for (uint32_t i = 0; i < row->of->end_count; i++)
        speed += row->ratios[i] * ((const double *)(const void *)signals)[kinematic->ends[row->first_end + i].velocity];
    return speed;
}

/* g; 0 if velocities are constrained only. */
static double constraint_gap(const struct kinematic *kinematic, uint32_t r, const char *signals)
{
    const struct constraint_row *row = &kinematic->rows[r];
    double gap = row->offset;
    for (uint32_t i = 0; row->of->positions && i < row->of->end_count; i++)
        gap += row->ratios[i] * ((const double *)(const void *)signals)[kinematic->ends[row->first_end + i].position];
    return gap;
}

/* G^T l, to the signals and to what units are staged from. */
static void kinematic_apply_forces(struct tt_sim *master, const struct kinematic *kinematic)
{
    double *const signals[] = {(double *)(void *)master->rank->wires.signals, (double *)(void *)master->staging.begin};
    for (uint32_t e = 0; e < kinematic->end_count; e++)
        signals[0][kinematic->ends[e].force] = 0;
    for (uint32_t r = 0; r < kinematic->row_count; r++)
        for (uint32_t i = 0; i < kinematic->rows[r].of->end_count; i++)
            signals[0][kinematic->ends[kinematic->rows[r].first_end + i].force] += kinematic->rows[r].ratios[i] *
                                                                                   kinematic->multipliers[r];
    for (uint32_t e = 0; e < kinematic->end_count; e++)
        signals[1][kinematic->ends[e].force] = signals[0][kinematic->ends[e].force];
}

/* Records the violation of constraints at an accepted point: of positions, or of velocities if only these are
 * constrained. */
static enum tutti_err record_constraint_drift(struct tt_rank *rank, struct kinematic *kinematic)
{
    struct tutti_run_stats *stats = rank->stats;
    uint32_t before = kinematic->known.worst;
    if (rank->t <= rank->times.start)
        return TUTTI_OK;
    for (uint32_t r = 0; r < kinematic->row_count; r++) {
        double drift = fabs(kinematic->rows[r].of->positions ? constraint_gap(kinematic, r, rank->wires.signals)
                                                             : constraint_velocity(kinematic, r, rank->wires.signals));
        if (!(drift > stats->drift))
            continue;
        stats->drift = drift;
        kinematic->known.worst = r;
    }
    if (stats->drift_in && kinematic->known.worst == before)
        return TUTTI_OK;
    free(stats->drift_in);
    stats->drift_in = tt_text_copy(kinematic->rows[kinematic->known.worst].of->text);
    return stats->drift_in ? TUTTI_OK : tt_fail_memory();
}

/* ---- steps of units ---- */

static bool member_is_constrained(const struct kinematic *kinematic, const struct tt_member *member, bool trial)
{
    return !trial || kinematic->joined[member->component];
}

static enum tutti_err kinematic_gather_inputs(struct tt_sim *master, const struct kinematic *kinematic, double target,
                                              bool trial)
{
    struct tt_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (member_is_constrained(kinematic, rank->own[m], trial) && tt_rank_member_is_present(rank, rank->own[m]))
            TRY(tt_coupled_inputs_gather(&master->staging, master->staging.begin, rank->own[m], target));
    return TUTTI_OK;
}

/* All units to `target`; in a trial those that have constraints, which is all that it is for. */
static enum tutti_err kinematic_step_all(struct tt_sim *master, const struct kinematic *kinematic, double target,
                                         bool trial, struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    TRY(kinematic_gather_inputs(master, kinematic, target, trial));
    for (uint32_t m = 0; m < rank->own_count; m++)
        if (member_is_constrained(kinematic, rank->own[m], trial) && tt_rank_member_is_due(rank, rank->own[m], target))
            TRY(tt_component_step(rank, kinematic->rules, rank->own[m], target, result));
    return tt_channels_exchange(&rank->channels);
}

/* ---- mobilities ---- */

struct mobility_probe {
    struct tt_sim *master;
    const struct kinematic *kinematic;
    double target;
};

/* tt_step_probe.stage */
static enum tutti_err stage_with_moved_force(void *context, struct tt_member *member, uint32_t column, double distance)
{
    const struct mobility_probe *probing = context;
    const struct kinematic *kinematic = probing->kinematic;
    double *force = (double *)(void *)probing->master->staging.begin + kinematic->forces[column], kept = *force;
    *force += distance;
    struct tt_coupled_inputs *staging = &probing->master->staging;
    enum tutti_err err = tt_coupled_inputs_gather(staging, staging->begin, member, probing->target);
    *force = kept;
    return err;
}

/* tt_step_probe.read */
static enum tutti_err read_joint_velocities(void *context, struct tt_member *member, double *rows)
{
    const struct mobility_probe *probing = context;
    const uint32_t *first = probing->kinematic->mobilities.row_first;
    const double *signals = (const void *)probing->master->rank->wires.signals;
    uint32_t begin = first[member->component], end = first[member->component + 1];
    for (uint32_t i = begin; i < end; i++)
        rows[i - begin] = signals[probing->kinematic->velocities[i]];
    return TUTTI_OK;
}

/* The scale of a force moves its velocity by the velocity's size. Returns true if it differs much from the assumed
 * scale. */
static bool scale_force_moves(struct kinematic *kinematic)
{
    const struct tt_step_jacobian *mobilities = &kinematic->mobilities;
    bool again = false;
    for (uint32_t k = 0; k < mobilities->column_count; k++) {
        const struct tt_step_column *column = &mobilities->columns[k];
        uint32_t first = mobilities->row_first[column->component];
        uint32_t rows = mobilities->row_first[column->component + 1] - first;
        double most = 0, scale = 1;
        for (uint32_t i = 0; i < rows; i++) {
            most = fmax(most, fabs(mobilities->entries[column->first + i]));
            scale = fmax(scale, fabs(kinematic->base[first + i]));
        }
        double size = most > 0 ? scale / most : 1e6 * kinematic->sizes[k];
        if ((size < 0.1 * kinematic->sizes[k] || size > 10 * kinematic->sizes[k]) && isfinite(size)) {
            kinematic->sizes[k] = size;
            again = true;
        }
    }
    return again;
}

static enum tutti_err fail_no_mobility(const struct kinematic *kinematic, const struct tt_rank *rank, double target)
{
    const struct tt_step_jacobian *mobilities = &kinematic->mobilities;
    for (uint32_t r = 0; r < kinematic->row_count; r++)
        for (uint32_t i = 0; i < kinematic->rows[r].of->end_count; i++) {
            const struct constraint_end *end = &kinematic->ends[kinematic->rows[r].first_end + i];
            if (isnan(mobilities->entries[mobilities->columns[end->column].first + end->row]))
                return tt_fail(TUTTI_ERR_SOLVER,
                               "t = %s: --constrain '%s': how '%s' moves with its force cannot be measured in the step "
                               "to %s: it discards every such step, or jumps; use a smaller --step",
                               TIME(rank->t), kinematic->rows[r].of->text, rank->units[end->component]->name,
                               TIME(target));
        }
    return tt_fail(TUTTI_ERR_SOLVER, "t = %s: mobilities cannot be measured; use a smaller --step", TIME(rank->t));
}

/* Measures around the trial, whose velocities are the base. Joined units are at the start of the step then. */
static enum tutti_err kinematic_measure_mobilities(struct tt_sim *master, struct kinematic *kinematic,
                                                   const struct tt_snapshot *start, double target)
{
    struct tt_rank *rank = master->rank;
    struct tt_step_jacobian *mobilities = &kinematic->mobilities;
    struct mobility_probe probing = {master, kinematic, target};
    struct tt_step_probe probe = {&probing, stage_with_moved_force, read_joint_velocities};
    const double *signals = (const void *)rank->wires.signals, *begin = (const void *)master->staging.begin;
    bool complete = true, again = true;
    mobilities->meaning = kinematic->known.stale && kinematic->known.derived ? NULL : &kinematic->meaning;
    for (uint32_t i = 0; i < mobilities->row_first[rank->job->system->component_count]; i++)
        kinematic->base[i] = signals[kinematic->velocities[i]];
    for (int round = 0; again && complete && round < MOST_ROUNDS; round++) {
        for (uint32_t e = 0; e < kinematic->end_count; e++) {
            struct tt_step_column *column = &mobilities->columns[kinematic->ends[e].column];
            column->value = begin[kinematic->ends[e].force];
            column->size = kinematic->sizes[kinematic->ends[e].column];
        }
        unsigned long tried = mobilities->tried;
        TRY(tt_step_jacobian_measure(mobilities, &probe, kinematic->rules, start, target, kinematic->base, 0,
                                     mobilities->column_count, &complete));
        again = mobilities->tried > tried; /* sizes are of those */
        TRY(tt_rank_agree_any(rank, &again));
        again = again && complete && scale_force_moves(kinematic);
    }
    kinematic->known.derived = mobilities->meaning != NULL;
    rank->stats->mobilities++;
    kinematic->known.h = target - start->t;
    kinematic->known.stale = false;
    return complete ? TUTTI_OK : fail_no_mobility(kinematic, rank, target);
}

/* ---- the linear system ---- */

static double constraint_gamma(const struct kinematic *kinematic, double h)
{
    return 1 / (1 + 4 * kinematic->relax_time * fmax(kinematic->known.longest, h) / h);
}

/* Returns the compliance on the diagonal. */
static double constraint_compliance(const struct kinematic *kinematic, uint32_t r, double h)
{
    const struct tt_constraint *constraint = kinematic->rows[r].of;
    return (constraint->positions ? 4 * constraint_gamma(kinematic, h) : 1) * constraint->compliance / h;
}

static void assemble_constraint_matrix(struct kinematic *kinematic, double h)
{
    memset(kinematic->values, 0, tt_pattern_entries(&kinematic->pattern) * sizeof(double));
    for (size_t i = 0; i < kinematic->term_count; i++)
        kinematic->values[kinematic->terms[i].entry] -= kinematic->terms[i].factor *
                                                        kinematic->mobilities.entries[kinematic->terms[i].mobility];
    for (uint32_t r = 0; r < kinematic->row_count; r++)
        kinematic->values[kinematic->rows[r].diagonal] -= constraint_compliance(kinematic, r, h);
}

static enum tutti_err fail_singular_constraint(const struct kinematic *kinematic, const struct tt_rank *rank,
                                               uint32_t r, double left)
{
    const char *why = left == 0 ? "its forces do not move its velocities"
                                : "it follows from other constraints, as far as units can move";
    return tt_fail(TUTTI_ERR_SOLVER,
                   "t = %s: --constrain '%s': there are no forces that keep it: %s (%.1g of its mobility is left "
                   "beside them); leave "
                   "it out, or let it give way a little: compliance=E",
                   TIME(rank->t), kinematic->rows[r].of->text, why, left);
}

/* Elimination on a copy, every diagonal brought to 1: what is left of a row that follows from those before it is nothing. */
static enum tutti_err kinematic_eliminate(const struct kinematic *kinematic, const struct tt_rank *rank, double *matrix)
{
    size_t n = kinematic->row_count;
    for (size_t c = 0; c < n; c++)
        for (int32_t i = kinematic->pattern.starts[c]; i < kinematic->pattern.starts[c + 1]; i++) {
            size_t r = (size_t)kinematic->pattern.rows[i];
            double scale = sqrt(fabs(kinematic->values[kinematic->rows[r].diagonal])) *
                           sqrt(fabs(kinematic->values[kinematic->rows[c].diagonal]));
            if (!(scale > 0))
                return fail_singular_constraint(
                    kinematic, rank, (uint32_t)(kinematic->values[kinematic->rows[r].diagonal] == 0 ? r : c), 0);
            matrix[r * n + c] = -kinematic->values[i] / scale;
        }
    for (size_t k = 0; k < n; k++) {
        if (!(fabs(matrix[k * n + k]) > LEAST_PIVOT))
            return fail_singular_constraint(kinematic, rank, (uint32_t)k, fmax(fabs(matrix[k * n + k]), 1e-300));
        for (size_t r = k + 1; r < n; r++) {
            double factor = matrix[r * n + k] / matrix[k * n + k];
            for (size_t c = k; factor != 0 && c < n; c++)
                matrix[r * n + c] -= factor * matrix[k * n + c];
        }
    }
    return TUTTI_OK;
}

/* Once: checks that constraints are independent of each other, at the units' present state. */
static enum tutti_err kinematic_check_independent(struct kinematic *kinematic, const struct tt_rank *rank)
{
    size_t n = kinematic->row_count;
    if (kinematic->known.checked || n > MOST_CHECKED)
        return TUTTI_OK;
    kinematic->known.checked = true;
    double *matrix = calloc(n * n, sizeof *matrix);
    if (!matrix)
        return tt_fail_memory();
    enum tutti_err err = kinematic_eliminate(kinematic, rank, matrix);
    free(matrix);
    return err;
}

/* Makes it by one solution of the linear system; `begin` has the signals at the start of the step. */
static enum tutti_err kinematic_correct_forces(struct tt_sim *master, struct kinematic *kinematic, double h)
{
    struct tt_rank *rank = master->rank;
    const char *begin = master->staging.begin;
    double gamma = constraint_gamma(kinematic, h);
    bool is_singular;
    assemble_constraint_matrix(kinematic, h);
    TRY(kinematic_check_independent(kinematic, rank));
    tt_lu_forget(kinematic->lu); /* so that a run resumed from a checkpoint uses the same order */
    TRY(tt_lu_factor(kinematic->lu, kinematic->values, 0, 0, &is_singular));
    if (is_singular)
        return tt_fail(TUTTI_ERR_SOLVER, "t = %s: there are no forces that keep all constraints; give one compliance=E",
                       TIME(rank->t));
    for (uint32_t r = 0; r < kinematic->row_count; r++) {
        double wanted = kinematic->rows[r].of->positions ? gamma * (constraint_velocity(kinematic, r, begin) -
                                                                    4 / h * constraint_gap(kinematic, r, begin))
                                                         : 0;
        kinematic->correction[r] = wanted - kinematic->speed[r] -
                                   constraint_compliance(kinematic, r, h) * kinematic->multipliers[r];
        kinematic->moved[r] = kinematic->correction[r];
    }
    tt_lu_solve(kinematic->lu, kinematic->correction, NULL);
    for (uint32_t r = 0; r < kinematic->row_count; r++) {
        kinematic->moved[r] -= constraint_compliance(kinematic, r, h) * kinematic->correction[r];
        kinematic->foretold[r] = kinematic->speed[r] + kinematic->moved[r];
        kinematic->multipliers[r] += kinematic->correction[r];
        if (!isfinite(kinematic->multipliers[r]))
            return tt_fail(TUTTI_ERR_SOLVER,
                           "t = %s: the force of --constrain '%s' is not finite; use a smaller --step, or another "
                           "--relax-time",
                           TIME(rank->t), kinematic->rows[r].of->text);
    }
    return TUTTI_OK;
}

/* Returns true if velocities match the prediction. */
static bool velocities_match(const struct kinematic *kinematic, const char *signals)
{
    for (uint32_t r = 0; r < kinematic->row_count; r++) {
        const struct constraint_row *row = &kinematic->rows[r];
        double scale = 0;
        for (uint32_t i = 0; i < row->of->end_count; i++)
            scale += fabs(row->ratios[i] *
                          ((const double *)(const void *)signals)[kinematic->ends[row->first_end + i].velocity]);
        double missed = fabs(constraint_velocity(kinematic, r, signals) - kinematic->foretold[r]);
        if (missed > 0.1 * fabs(kinematic->moved[r]) + 1e-6 * scale)
            return false;
    }
    return true;
}

/* ---- the step ---- */

/* With the forces of the last step; then the new ones are known, and units are at the start again. */
static enum tutti_err kinematic_trial_step(struct tt_sim *master, struct kinematic *kinematic,
                                           const struct tt_snapshot *start, double target,
                                           struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    double h = target - rank->t;
    for (uint32_t m = 0; m < rank->own_count; m++)
        kinematic->before[m] = rank->own[m]->unit->counts.do_steps;
    kinematic_apply_forces(master, kinematic);
    TRY(kinematic_step_all(master, kinematic, target, true, result));
    TRY(tt_coupling_agree(master, result));
    if (result->end != TUTTI_END_REACHED)
        return TUTTI_OK;

    /* Do-steps of the trial are not those of the step. */
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_unit_counts *counts = &rank->own[m]->unit->counts;
        unsigned long made = counts->do_steps - kinematic->before[m];
        counts->auxiliary += made;
        counts->attributed += made;
    }

    for (uint32_t r = 0; r < kinematic->row_count; r++)
        kinematic->speed[r] = constraint_velocity(kinematic, r, rank->wires.signals);
    if (kinematic->known.stale || !(fabs(kinematic->known.h - h) <= SAME_STEP * h))
        TRY(kinematic_measure_mobilities(master, kinematic, start, target));
    TRY(kinematic_correct_forces(master, kinematic, h));
    return tt_snapshot_restore(start, rank, TUTTI_STATE_ROLLBACK);
}

static enum tutti_err kinematic_step(struct tt_sim *master, void *self, double target,
                                     const struct tt_step_rules *rules, struct tt_step_result *result)
{
    struct tt_rank *rank = master->rank;
    struct kinematic *kinematic = self;
    const struct tt_snapshot *start = &master->start;
    kinematic->rules = rules;
    if (kinematic->row_count > 0 && start->t != rank->t) {
        TRY(tt_snapshot_take(&kinematic->own, rank));
        start = &kinematic->own;
    }
    memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    if (kinematic->row_count == 0)
        return kinematic_step_all(master, kinematic, target, false, result);
    if (kinematic->known.h > 0) /* it is not the first step */
        kinematic->known.longest = fmax(kinematic->known.longest, rank->t - kinematic->known.t);
    kinematic->known.t = rank->t;
    TRY(record_constraint_drift(rank, kinematic));
    TRY(kinematic_trial_step(master, kinematic, start, target, result));
    if (result->end != TUTTI_END_REACHED)
        return TUTTI_OK;
    kinematic_apply_forces(master, kinematic);
    TRY(kinematic_step_all(master, kinematic, target, false, result));
    TRY(tt_coupling_agree(master, result));
    kinematic->known.stale = result->end == TUTTI_END_REACHED && !velocities_match(kinematic, rank->wires.signals);
    return TUTTI_OK;
}

/* Forces that are held have the right mean over the step. */
static unsigned kinematic_order(unsigned extrapolation)
{
    return extrapolation > 0 ? 2 : 1;
}

const struct tt_coupling tt_coupling_kinematic = {.name = "kinematic",
                                                  .constrains = true,
                                                  .size = sizeof(struct kinematic),
                                                  .open = open_kinematic,
                                                  .close = close_kinematic,
                                                  .step = kinematic_step,
                                                  .order = kinematic_order};
