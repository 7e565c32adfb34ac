/* SPDX-License-Identifier: MIT */
#include "sim/coupling/correction.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sim/coupling/consistency.h"
#include "sim/rank.h"
#include "sim/coupling/feedthrough_matrix.h"

enum { MOST_STEPS = 20 }; /* that a D found by trying is used for */

struct matrix_age {
    unsigned steps; /* since it was measured */
    double drift;   /* its relative change per step, as far as is known */
    bool known;
};

struct correction_moment {
    double at;
    bool goes_on;   /* inputs continue from `ends` */
    double *ends;   /* per place in wires.gathered: where the input is */
    double *d;      /* per entry of D */
    double *inputs; /* per column of D: those that the outputs in the signals belong to */
    struct matrix_age *ages;
    double size;  /* of the last correction, in units of the tolerance */
    double *seen; /* per real: the largest output so far, as the unit gave it */
};

struct tt_correction {
    struct tt_rank *rank; /* these four are borrowed */
    struct tt_coupled_inputs *staging;
    struct tt_extrapolation *extrapolation;
    const struct tt_norm *norm;
    struct tt_correction_choice choice;
    struct tt_consistency *consistent; /* NULL: outputs are corrected linearly */
    struct tt_feedthrough_matrix sensitivity;
    struct correction_moment accepted, tried; /* C1 */
    struct tt_feedthrough_loop feedback;
    double h;               /* of the last step */
    double *d;              /* room for D */
    double *right;          /* per real */
    double *first, *second; /* likewise: derivatives */
    unsigned long measured; /* D of a unit, by short steps */
    bool warned, limited;
    struct tt_arena arena;
};

/* ---- getting ready ---- */

static enum tutti_err allocate_moment(const struct tt_correction *c, struct tt_arena *arena,
                                      struct correction_moment *moment)
{
    const struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    moment->at = rank->t;
    moment->ends = tt_arena_array(arena, rank->wires.gather_count, sizeof *moment->ends);
    moment->d = tt_arena_array(arena, s->entry_count, sizeof *moment->d);
    moment->inputs = tt_arena_array(arena, s->column_count, sizeof *moment->inputs);
    moment->ages = tt_arena_array(arena, s->unit_count, sizeof *moment->ages);
    moment->seen = tt_arena_array(arena, rank->wires.real_count, sizeof *moment->seen);
    bool all = moment->ends && moment->d && moment->inputs && moment->ages && moment->seen;
    return all ? TUTTI_OK : tt_fail_memory();
}

static void copy_moment(const struct tt_correction *c, struct correction_moment *to,
                        const struct correction_moment *from)
{
    const struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    memcpy(to->ends, from->ends, rank->wires.gather_count * sizeof *to->ends);
    memcpy(to->d, from->d, s->entry_count * sizeof *to->d);
    memcpy(to->inputs, from->inputs, s->column_count * sizeof *to->inputs);
    memcpy(to->ages, from->ages, s->unit_count * sizeof *to->ages);
    memcpy(to->seen, from->seen, rank->wires.real_count * sizeof *to->seen);
    to->at = from->at;
    to->goes_on = from->goes_on;
    to->size = from->size;
}

static enum tutti_err correction_allocate(struct tt_correction *c)
{
    const struct tt_rank *rank = c->rank;
    double **const rooms[] = {&c->right, &c->first, &c->second};
    c->d = tt_arena_array(&c->arena, c->sensitivity.entry_count, sizeof *c->d);
    bool all = c->d != NULL;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = tt_arena_array(&c->arena, c->norm->outputs->count, sizeof(double));
        all = all && *rooms[i];
    }
    return all ? tt_feedthrough_matrix_init_loop(&c->feedback, &c->sensitivity, rank->wires.real_count)
               : tt_fail_memory();
}

static enum tutti_err correction_check_members(const struct tt_rank *rank, const char *option, bool correct)
{
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_member *member = &rank->members[m];
        if (member->has_grid)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s needs units that step together, and '%s' (%s) %s", option,
                           member->unit->name, member->unit->fmu->path,
                           member->unit->uniform ? "cannot vary its step" : "has a step of its own");
        if (correct && member->unit->kind->interface == TUTTI_ME && member->setup.integration.average)
            return tt_fail(TUTTI_ERR_ARGUMENT,
                           "--correct is about outputs at the end of a step, and those of '%s' are averages over it",
                           member->unit->name);
    }
    return TUTTI_OK;
}

/* ---- D ---- */

/* Returns the difference of two columns of D, relative to the larger one. Differences below the accuracy of finite
 * differences count as 0. */
static double correction_column_change(const double *d, const double *before, uint32_t first, uint32_t end)
{
    const double noise = 1e-6;
    double size = 0, change = 0;
    for (uint32_t e = first; e < end; e++) {
        size = fmax(size, fmax(fabs(d[e]), fabs(before[e])));
        change = fmax(change, fabs(d[e] - before[e]));
    }
    return change > noise * size ? change / size : 0;
}

/* The unit's D is kept, with how fast it changes. */
static void correction_store_matrix(struct tt_correction *c, uint32_t u)
{
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    const struct tt_feedthrough_unit *unit = &s->units[u];
    struct correction_moment *now = &c->tried;
    struct matrix_age *age = &now->ages[u];
    double change = 0;
    for (uint32_t k = unit->column_first; k < unit->column_first + unit->column_count; k++)
        change = fmax(change, correction_column_change(c->d, now->d, s->columns[k].first, s->columns[k + 1].first));
    uint32_t first = s->columns[unit->column_first].first;
    uint32_t end = s->columns[unit->column_first + unit->column_count].first;
    memcpy(now->d + first, c->d + first, (end - first) * sizeof *c->d);
    bool compares = age->known && age->steps > 0;
    *age = (struct matrix_age){.known = true, .drift = compares ? change / age->steps : 1};
}

/* Returns true if D must be measured again by trial steps. Its expected relative error is drift * steps, and
 * corrections of `size` tolerances have that error: a hundredth of the tolerance is permitted, and of D itself, so that
 * the correction remains effective. */
static bool correction_is_due(const struct correction_moment *moment, const struct matrix_age *age)
{
    return !age->known || age->steps >= MOST_STEPS || age->drift * age->steps * fmax(moment->size, 1) > 0.01;
}

static void correction_warn_unit(struct tt_correction *c, const struct tt_unit *unit, double t)
{
    struct tt_rank *rank = c->rank;
    if (!c->warned)
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, unit->name,
               "--correct: how its outputs follow its inputs cannot be found at t = %s; until it can, they "
               "are not corrected",
               TIME(t));
    c->warned = true;
}

static enum tutti_err correction_measure_unit(struct tt_correction *c, uint32_t u)
{
    struct tt_rank *rank = c->rank;
    bool done;
    TRY(tt_feedthrough_matrix_measure(&c->sensitivity, rank, u, c->h, c->d, &done));
    const struct tt_feedthrough_unit *unit = &c->sensitivity.units[u];
    if (done)
        correction_store_matrix(c, u);
    else if (!c->tried.ages[u].known && !unit->unknown)
        correction_warn_unit(c, unit->member->unit, unit->member->now.t);
    c->measured += done && !unit->directional;
    return TUTTI_OK;
}

/* Where units are; `all`: whatever their age. */
static enum tutti_err correction_measure(struct tt_correction *c, bool all)
{
    struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    for (uint32_t u = 0; u < s->unit_count; u++)
        if (s->units[u].member && (all || s->units[u].directional || correction_is_due(&c->tried, &c->tried.ages[u])))
            TRY(correction_measure_unit(c, u));
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (!s->units[s->columns[k].unit].member)
                c->tried.d[e] = -INFINITY;
    return tt_rank_reduce(rank, TUTTI_REDUCE_MAX, c->tried.d, s->entry_count);
}

/* Returns the value that the connections give an input from the present signals. */
static enum tutti_err connected_input_value(const struct tt_rank *rank, const struct tt_feedthrough_column *column,
                                            double *value)
{
    const struct tt_wire *wire = column->wire;
    *value = rank->wires.gathered[column->place];
    if (!wire)
        return TUTTI_OK;
    size_t size = tt_type_size(wire->conversion->from);
    return tt_conversion_apply(wire->conversion, rank->wires.signals + wire->from + column->element * size, value, 1);
}

/* ---- solving ---- */

static enum tutti_err correction_solve(struct tt_correction *c, const double *d, bool aside, double *right)
{
    struct tt_rank *rank = c->rank;
    bool singular, nothing = true;
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        nothing = nothing && right[i] == 0;
    if (nothing)
        return TUTTI_OK;
    TRY(tt_feedthrough_matrix_solve_loop(&c->feedback, d, aside, right, &singular));
    if (!singular)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_SOLVER,
                   "--correct: the outputs in an algebraic loop do not determine each other in the step from t = %s: "
                   "I - D L has no inverse; `tutti graph` shows the loop",
                   TIME(rank->t));
}

/* The right-hand side becomes that of all ranks; *finite: it is one. */
static enum tutti_err correction_share_right(struct tt_correction *c, double *right, bool *finite)
{
    struct tt_rank *rank = c->rank;
    const struct tt_wires *wires = &rank->wires;
    if (rank->fabric->ranks > 1) {
        for (uint32_t i = 0; i < wires->real_count; i++)
            if (!tt_rank_owns(rank, wires->reals[i].component))
                right[i] = -INFINITY;
        TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, right, wires->real_count));
    }
    *finite = true;
    for (uint32_t i = 0; i < wires->real_count; i++)
        *finite = *finite && isfinite(right[i]);
    return TUTTI_OK;
}

/* Adds the correction to the signals; its size is the largest part of it, relative to the tolerance. */
static double correction_apply(struct tt_correction *c, const double *correction)
{
    struct tt_rank *rank = c->rank;
    double *signals = (double *)(void *)rank->wires.signals, size = 0;
    for (uint32_t i = 0; i < rank->wires.real_count; i++) {
        const struct tt_real_signal *real = &rank->wires.reals[i];
        if (correction[i] == 0)
            continue;
        signals[real->place] += correction[i];
        double value = fabs(signals[real->place]), known = fmax(value, c->tried.seen[i]);
        double tolerance = c->norm->rtol * value + tt_norm_absolute_tolerance(c->norm, i, known);
        size = fmax(size, fabs(correction[i]) / tolerance);
    }
    return size;
}

static void warn_correction_limit(struct tt_correction *c, uint32_t real)
{
    struct tt_rank *rank = c->rank;
    const struct tt_structure_node *node = &rank->job->structure.nodes[rank->wires.reals[real].node];
    struct tt_end end = {.component = node->component, .variable = node->variable};
    char name[256];
    if (!c->limited)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "--correct: t = %s: '%s' would be corrected by far more than it ever was; corrections are "
               "limited there. A shorter --step, or --coupling relax, makes them smaller",
               TIME(rank->t), tt_system_name(rank->job->system, &end, name, sizeof name));
    c->limited = true;
}

static void update_output_scale(struct tt_correction *c)
{
    const struct tt_wires *wires = &c->rank->wires;
    const double *signals = (const void *)wires->signals;
    for (uint32_t i = 0; i < wires->real_count; i++) {
        double size = fabs(signals[wires->reals[i].place]);
        if (isfinite(size))
            c->tried.seen[i] = fmax(c->tried.seen[i], size);
    }
}

/* A linear correction of a nonlinear system may be arbitrarily wrong. A correction a hundred times as large as the
 * output's range is shortened to that, as a whole: the next steps continue from there. */
static void correction_limit(struct tt_correction *c, double *correction)
{
    struct tt_rank *rank = c->rank;
    struct correction_moment *now = &c->tried;
    double share = 1;
    uint32_t worst = 0;
    update_output_scale(c);
    for (uint32_t i = 0; i < rank->wires.real_count; i++) {
        const struct tt_real_signal *real = &rank->wires.reals[i];
        double most = 100 * fmax(now->seen[i], real->nominal);
        if (fabs(correction[i]) * share > most) {
            share = most / fabs(correction[i]);
            worst = i;
        }
    }
    if (share == 1)
        return;
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        correction[i] *= share;
    warn_correction_limit(c, worst);
}

/* Computes consistent outputs for the connected inputs from the outputs for moment.inputs. NaN and infinity are kept. */
static enum tutti_err correction_correct_outputs(struct tt_correction *c)
{
    struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    struct correction_moment *now = &c->tried;
    memset(c->right, 0, rank->wires.real_count * sizeof *c->right);
    for (uint32_t k = 0; k < s->column_count; k++) {
        double value;
        TRY(connected_input_value(rank, &s->columns[k], &value));
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first && s->units[s->columns[k].unit].member; e++)
            c->right[s->rows[e]] += now->d[e] * (value - now->inputs[k]);
    }
    bool finite;
    TRY(correction_share_right(c, c->right, &finite));
    if (!finite)
        return TUTTI_OK;
    TRY(correction_solve(c, now->d, false, c->right));
    correction_limit(c, c->right);
    now->size = correction_apply(c, c->right);
    for (uint32_t k = 0; k < s->column_count; k++)
        TRY(connected_input_value(rank, &s->columns[k], &now->inputs[k]));
    return TUTTI_OK;
}

/* D is wanted for what is corrected linearly: all, or derivatives, and outputs where an event waits. */
static bool needs_d_matrix(const struct tt_correction *c)
{
    return !c->consistent || c->extrapolation->order > 0 || tt_consistency_enters_event_mode(c->consistent);
}

/* Alg. 4: the units are read again. */
static enum tutti_err solve_consistent_outputs(struct tt_correction *c, bool moves, struct tt_step_result *result)
{
    struct tt_rank *rank = c->rank;
    bool solved;
    update_output_scale(c);
    TRY(tt_consistency_solve(c->consistent, rank->t, c->tried.seen, moves, result, &solved));
    if (!solved) {
        result->unsolved = true;
        return c->choice.goes_back ? TUTTI_OK : tt_consistency_explain(c->consistent);
    }
    for (uint32_t k = 0; k < c->sensitivity.column_count; k++)
        TRY(connected_input_value(rank, &c->sensitivity.columns[k], &c->tried.inputs[k]));
    return needs_d_matrix(c) ? correction_measure(c, false) : TUTTI_OK;
}

static enum tutti_err correction_is_solvable(struct tt_correction *c, bool *can)
{
    *can = false;
    return c->consistent ? tt_consistency_is_possible(c->consistent, can) : TUTTI_OK;
}

enum tutti_err tt_correction_explain(const struct tt_correction *c)
{
    return tt_consistency_explain(c->consistent);
}

static bool correction_is_empty(const struct tt_correction *c)
{
    const struct tt_rank *rank = c->rank;
    return !c->choice.correct || c->sensitivity.entry_count == 0 || rank->ended;
}

/* ---- derivatives ---- */

/* Those that outputs without given ones will be extrapolated with. */
static void compute_polynomial_rates(struct tt_correction *c, unsigned order, double *rates)
{
    struct tt_rank *rank = c->rank;
    const struct tt_extrapolation *e = c->extrapolation;
    unsigned most = e->order > 0 ? e->order : 1;
    unsigned degree = e->history.points > most ? most : e->history.points - 1;
    tt_signal_history_evaluate(&e->history, degree, e->history.times[0], NULL, c->first, c->second);
    const double *laid = order == 1 ? c->first : c->second;
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        rates[i] = isfinite(rates[i]) ? rates[i] : laid[i];
}

/* Corrects derivatives (order 1, 2) of all reals at the point reached (Alg. 6 lines 14, 16); NAN where units provide
 * none, which are taken from the history. */
static enum tutti_err correction_correct_rates(void *context, unsigned order, double *rates)
{
    struct tt_correction *c = context;
    struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    double *full = c->extrapolation->values;
    bool finite;
    if (correction_is_empty(c) || c->extrapolation->history.points == 0)
        return TUTTI_OK;

    /* An output without a rate is taken as it is: its row of D has no entries. */
    for (uint32_t e = 0; e < s->entry_count; e++)
        c->d[e] = isfinite(rates[s->rows[e]]) ? c->tried.d[e] : 0;
    memcpy(full, rates, rank->wires.real_count * sizeof *full);
    compute_polynomial_rates(c, order, full);
    memset(c->right, 0, rank->wires.real_count * sizeof *c->right);
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct tt_feedthrough_column *column = &s->columns[k];
        const struct tt_member *member = s->units[column->unit].member;
        if (!member)
            continue;
        double rate = column->source == TUTTI_NONE ? 0 : tt_feedthrough_matrix_factor(column) * full[column->source];
        rate -= tt_feedthrough_matrix_input_value(s, rank, member, column->place, order);
        for (uint32_t e = column->first; e < column[1].first; e++)
            c->right[s->rows[e]] += c->d[e] * rate;
    }
    TRY(correction_share_right(c, c->right, &finite));
    if (!finite)
        return TUTTI_OK;
    TRY(correction_solve(c, c->d, true, c->right));
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        rates[i] += c->right[i];
    return TUTTI_OK;
}

/* ---- smoothing ---- */

/* Eq. 6.71d, e: from where the input is, along a line to where it would have gone. */
static void smooth_moved_input(struct tt_wires *wires, struct correction_moment *now, uint32_t place, double h)
{
    if (now->goes_on) {
        double slope = (tt_wires_extrapolate(wires, place, h) - now->ends[place]) / h;
        wires->gathered[place] = now->ends[place];
        wires->gathered_slopes[0][place] = slope;
        if (wires->order > 1)
            wires->gathered_slopes[1][place] = 0;
    }
    now->ends[place] = tt_wires_extrapolate(wires, place, h);
}

/* ---- from step to step ---- */

/* A tried step ends at rank->t: it was accepted, or is the first of two half steps. */
static void begin_moment_here(struct tt_correction *c)
{
    struct tt_rank *rank = c->rank;
    if (c->tried.at != rank->t)
        copy_moment(c, &c->tried, &c->accepted);
}

enum tutti_err tt_correction_begin_step(struct tt_correction *c, double target)
{
    struct tt_rank *rank = c->rank;
    begin_moment_here(c);
    c->tried.at = target;
    c->h = target - rank->t;
    for (uint32_t i = 0; c->choice.smooth && i < rank->wires.gather_count; i++)
        if (c->sensitivity.moves[i])
            smooth_moved_input(&rank->wires, &c->tried, i, c->h);
    c->tried.goes_on = c->choice.smooth;
    return TUTTI_OK;
}

enum tutti_err tt_correction_end_step(struct tt_correction *c, struct tt_step_result *result)
{
    struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    bool solve_them;
    if (correction_is_empty(c) || result->end != TUTTI_END_REACHED)
        return TUTTI_OK;
    for (uint32_t u = 0; u < s->unit_count; u++)
        c->tried.ages[u].steps++;
    TRY(correction_is_solvable(c, &solve_them));
    if (solve_them)
        return solve_consistent_outputs(c, c->extrapolation->order > 0, result);
    TRY(correction_measure(c, false));
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct tt_member *member = s->units[s->columns[k].unit].member;
        if (member)
            c->tried.inputs[k] = tt_feedthrough_matrix_input_value(s, rank, member, s->columns[k].place, 0);
    }
    return correction_correct_outputs(c);
}

void tt_correction_accept(struct tt_correction *c)
{
    if (c)
        copy_moment(c, &c->accepted, &c->tried);
}

/* Units that crossed an event got their inputs there; to others belongs what was corrected last. */
static enum tutti_err correct_at_point(struct tt_correction *c)
{
    const struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    TRY(correction_measure(c, true));
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct tt_member *member = s->units[s->columns[k].unit].member;
        if (member && member->now.staged_at == rank->t)
            c->tried.inputs[k] = rank->wires.gathered[s->columns[k].place];
    }
    return correction_correct_outputs(c);
}

static enum tutti_err solve_at_point(struct tt_correction *c)
{
    struct tt_rank *rank = c->rank;
    struct tt_step_result result = tt_step_result_begin(rank->t, rank->t);
    struct tt_point_events here = {0};
    for (uint32_t u = 0; u < c->sensitivity.unit_count; u++)
        c->tried.ages[u].known = false;
    TRY(solve_consistent_outputs(c, false, &result));
    if (result.unsolved)
        return tt_consistency_explain(c->consistent);
    if (result.end == TUTTI_END_OF_RUN)
        rank->ended = &rank->members[result.component];
    return tt_rank_agree_point(rank, &here);
}

enum tutti_err tt_correction_restart(struct tt_correction *c)
{
    bool solve_them;
    if (!c)
        return TUTTI_OK;
    begin_moment_here(c);
    c->tried.goes_on = false;
    if (!correction_is_empty(c)) {
        TRY(correction_is_solvable(c, &solve_them));
        TRY(solve_them ? solve_at_point(c) : correct_at_point(c));
    }
    tt_correction_accept(c);
    return TUTTI_OK;
}

/* ---- ways back ---- */

static enum tutti_err register_moment(const struct tt_correction *c, struct correction_moment *moment,
                                      struct tt_rollback_list *remembered)
{
    const struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    TRY(tt_rollback_list_add(remembered, &moment->at, sizeof moment->at));
    TRY(tt_rollback_list_add(remembered, &moment->goes_on, sizeof moment->goes_on));
    TRY(tt_rollback_list_add(remembered, &moment->size, sizeof moment->size));
    TRY(tt_wires_register_reals(&rank->wires, remembered, moment->seen));
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_unit_wires *unit = &rank->wires.units[m];
        TRY(tt_rollback_list_add_of(remembered, m, moment->ends + unit->gather_first,
                                    unit->gather_count * sizeof *moment->ends));
    }
    for (uint32_t u = 0; u < s->unit_count; u++) {
        const struct tt_feedthrough_unit *unit = &s->units[u];
        const struct tt_feedthrough_column *first = &s->columns[unit->column_first], *end = first + unit->column_count;
        TRY(tt_rollback_list_add_of(remembered, unit->component, moment->d + first->first,
                                    (end->first - first->first) * sizeof *moment->d));
        TRY(tt_rollback_list_add_of(remembered, unit->component, moment->inputs + unit->column_first,
                                    unit->column_count * sizeof *moment->inputs));
        TRY(tt_rollback_list_add_of(remembered, unit->component, &moment->ages[u], sizeof *moment->ages));
    }
    return TUTTI_OK;
}

/* Registers both moments: if steps are never rolled back, no call reports their acceptance. */
enum tutti_err tt_correction_register(struct tt_correction *c, struct tt_rollback_list *remembered)
{
    if (!c)
        return TUTTI_OK;
    TRY(register_moment(c, &c->accepted, remembered));
    TRY(register_moment(c, &c->tried, remembered));
    for (uint32_t u = 0; u < c->sensitivity.unit_count; u++)
        TRY(tt_rollback_list_add_of(remembered, c->sensitivity.units[u].component, &c->sensitivity.units[u].directional,
                                    sizeof(bool)));
    return tt_rollback_list_add(remembered, &c->h, sizeof c->h);
}

/* ---- beginning and end ---- */

/* Inputs that cannot move are held where that is best for states: outputs are corrected. In a step of two halves the
 * second one keeps the end of its inputs: outputs without connections (accelerations, forces) are not corrected, and
 * belong to the end of the step, too.
 *
 * At the first point all is consistent; D is found there, so that the first step has one whatever happens in it, and
 * the derivatives that units gave there are corrected, too. */
static enum tutti_err correction_begin(struct tt_correction *c)
{
    struct tt_rank *rank = c->rank;
    const struct tt_feedthrough_matrix *s = &c->sensitivity;
    if (correction_is_empty(c))
        return TUTTI_OK;
    for (uint32_t k = 0; c->staging->where && k < s->column_count; k++)
        if (!rank->wires.units[s->units[s->columns[k].unit].component].halves)
            c->staging->where[s->columns[k].place] = 0.5;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        rank->members[m].now.staged_at = rank->t;
        rank->members[m].now.slopes_at = -INFINITY;
    }
    TRY(tt_wires_gather_all(&rank->wires));
    if (needs_d_matrix(c))
        TRY(correction_measure(c, true));
    for (uint32_t k = 0; k < s->column_count; k++)
        TRY(connected_input_value(rank, &s->columns[k], &c->tried.inputs[k]));
    tt_correction_accept(c);
    return tt_extrapolation_accept(c->extrapolation);
}

enum tutti_err tt_correction_open(struct tt_correction **out, struct tt_coupled_inputs *staging,
                                  struct tt_extrapolation *extrapolation, const struct tt_norm *norm,
                                  const struct tt_correction_choice *choice, double h)
{
    struct tt_rank *rank = staging->rank;
    TRY(correction_check_members(rank, choice->correct ? "--correct" : "--smooth", choice->correct));
    struct tt_correction *c = *out = calloc(1, sizeof *c);
    if (!c)
        return tt_fail_memory();
    *c = (struct tt_correction){
        .rank = rank, .staging = staging, .extrapolation = extrapolation, .norm = norm, .choice = *choice, .h = h};
    struct tt_feedthrough_scope scope = {.entries = choice->correct, .may_miss = choice->solve};
    if (choice->solve)
        TRY(tt_consistency_open(&c->consistent, rank, staging->running));
    TRY(tt_feedthrough_matrix_init(&c->sensitivity, rank, staging->running, scope));
    if (c->sensitivity.entry_count > 0)
        TRY(correction_allocate(c));
    TRY(allocate_moment(c, &c->arena, &c->accepted));
    TRY(allocate_moment(c, &c->arena, &c->tried));
    extrapolation->correct = correction_correct_rates;
    extrapolation->context = c;
    return correction_begin(c);
}

void tt_correction_close(struct tt_correction *c)
{
    if (!c)
        return;
    tt_feedthrough_matrix_fini(&c->sensitivity);
    tt_feedthrough_matrix_fini_loop(&c->feedback);
    tt_consistency_close(c->consistent);
    tt_arena_fini(&c->arena);
    free(c);
}

struct tt_correction_counts tt_correction_get_counts(const struct tt_correction *c)
{
    return (struct tt_correction_counts){c ? c->feedback.factorizations : 0, c ? c->measured : 0};
}
