/* SPDX-License-Identifier: MIT */
#include "master/correct.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "master/agree.h"
#include "master/feedback.h"

enum { MOST_STEPS = 20 }; /* that a D found by trying is used for */

/* Of the D of a unit. */
struct age {
    unsigned steps; /* since it was measured */
    double drift;   /* its relative change per step, as far as is known */
    bool known;
};

/* What is known at a point. */
struct moment {
    double at;
    bool goes_on;   /* inputs go on from `ends` */
    double *ends;   /* per place in wires.gathered: where the input is */
    double *d;      /* per entry of D */
    double *inputs; /* per column of D: those that the outputs in the signals belong to */
    struct age *ages;
    double size;  /* of the last correction, in units of the tolerance */
    double *seen; /* per real: the largest output so far, as the unit gave it */
};

struct tutti_correction {
    bool corrects, smooths;
    struct tutti_sensitivity sensitivity;
    struct moment accepted, tried; /* C1 */
    struct tutti_feedback feedback;
    double h;               /* of the last step */
    double *d;              /* room for D */
    double *right;          /* per real */
    double *first, *second; /* likewise: derivatives */
    unsigned long measured; /* D of a unit, by short steps */
    bool warned, limited;
    struct tutti_arena arena;
};

/* ---- getting ready ---- */

static enum tutti_err make_moment(const struct tutti_correction *c, const struct run *run, struct tutti_arena *arena,
                                  struct moment *moment)
{
    const struct tutti_sensitivity *s = &c->sensitivity;
    moment->at = run->t;
    moment->ends = tutti_arena_array(arena, run->wires.gather_count, sizeof *moment->ends);
    moment->d = tutti_arena_array(arena, s->entry_count, sizeof *moment->d);
    moment->inputs = tutti_arena_array(arena, s->column_count, sizeof *moment->inputs);
    moment->ages = tutti_arena_array(arena, s->unit_count, sizeof *moment->ages);
    moment->seen = tutti_arena_array(arena, run->wires.real_count, sizeof *moment->seen);
    bool all = moment->ends && moment->d && moment->inputs && moment->ages && moment->seen;
    return all ? TUTTI_OK : tutti_fail_memory();
}

static void copy_moment(const struct tutti_correction *c, const struct run *run, struct moment *to,
                        const struct moment *from)
{
    const struct tutti_sensitivity *s = &c->sensitivity;
    memcpy(to->ends, from->ends, run->wires.gather_count * sizeof *to->ends);
    memcpy(to->d, from->d, s->entry_count * sizeof *to->d);
    memcpy(to->inputs, from->inputs, s->column_count * sizeof *to->inputs);
    memcpy(to->ages, from->ages, s->unit_count * sizeof *to->ages);
    memcpy(to->seen, from->seen, run->wires.real_count * sizeof *to->seen);
    to->at = from->at;
    to->goes_on = from->goes_on;
    to->size = from->size;
}

static enum tutti_err make_room(struct tutti_correction *c, const struct run *run)
{
    double **const rooms[] = {&c->right, &c->first, &c->second};
    c->d = tutti_arena_array(&c->arena, c->sensitivity.entry_count, sizeof *c->d);
    bool all = c->d != NULL;
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
        *rooms[i] = tutti_arena_array(&c->arena, run->master.outputs.count, sizeof(double));
        all = all && *rooms[i];
    }
    return all ? tutti_feedback_init(&c->feedback, &c->sensitivity, run->wires.real_count) : tutti_fail_memory();
}

static enum tutti_err check_members(const struct run *run, const char *option, bool correct)
{
    for (uint32_t m = 0; m < run->member_count; m++) {
        const struct tutti_member *member = &run->members[m];
        if (member->has_grid)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s needs units that step together, and '%s' (%s) %s", option,
                              member->unit->name, member->unit->fmu->path,
                              member->unit->uniform ? "cannot vary its step" : "has a step of its own");
        if (correct && member->unit->kind->interface == TUTTI_ME && member->integration.average)
            return tutti_fail(TUTTI_ERR_ARGUMENT,
                              "--correct is about outputs at the end of a step, and those of '%s' are averages over it",
                              member->unit->name);
    }
    return TUTTI_OK;
}

/* ---- D ---- */

/* How much two columns of D differ, relative to the larger one. Less than differences can tell is nothing. */
static double change_of(const double *d, const double *before, uint32_t first, uint32_t end)
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
static void keep(struct tutti_correction *c, uint32_t u)
{
    const struct tutti_sensitivity *s = &c->sensitivity;
    const struct tutti_sensitivity_unit *unit = &s->units[u];
    struct moment *now = &c->tried;
    struct age *age = &now->ages[u];
    double change = 0;
    for (uint32_t k = unit->column_first; k < unit->column_first + unit->column_count; k++)
        change = fmax(change, change_of(c->d, now->d, s->columns[k].first, s->columns[k + 1].first));
    uint32_t first = s->columns[unit->column_first].first;
    uint32_t end = s->columns[unit->column_first + unit->column_count].first;
    memcpy(now->d + first, c->d + first, (end - first) * sizeof *c->d);
    bool compares = age->known && age->steps > 0;
    *age = (struct age){.known = true, .drift = compares ? change / age->steps : 1};
}

/* Is it time to measure a D that has to be tried? It is expected to be wrong by drift * steps of itself, and makes
 * corrections of the tolerance's `size` wrong by as much: a hundredth of the tolerance is allowed, and of D itself, so that
 * the correction goes on doing its work. */
static bool is_due(const struct moment *moment, const struct age *age)
{
    return !age->known || age->steps >= MOST_STEPS || age->drift * age->steps * fmax(moment->size, 1) > 0.01;
}

static void warn(struct run *run, const struct tutti_unit *unit, double t)
{
    if (!run->master.correction->warned)
        tutti_log_printf(run->unit_log, TUTTI_LOG_WARNING, unit->name,
                         "--correct: how its outputs follow its inputs cannot be found at t = %s; until it can, they "
                         "are not corrected",
                         TIME(t));
    run->master.correction->warned = true;
}

static enum tutti_err measure_unit(struct run *run, uint32_t u)
{
    struct tutti_correction *c = run->master.correction;
    bool done;
    TRY(tutti_sensitivity_measure(&c->sensitivity, run, u, c->h, c->d, &done));
    const struct tutti_sensitivity_unit *unit = &c->sensitivity.units[u];
    if (done)
        keep(c, u);
    else if (!c->tried.ages[u].known && !unit->unknown)
        warn(run, unit->member->unit, unit->member->t);
    c->measured += done && !unit->directional;
    return TUTTI_OK;
}

/* Where units are; `all`: whatever their age. */
static enum tutti_err measure(struct run *run, bool all)
{
    struct tutti_correction *c = run->master.correction;
    const struct tutti_sensitivity *s = &c->sensitivity;
    for (uint32_t u = 0; u < s->unit_count; u++)
        if (s->units[u].member && (all || s->units[u].directional || is_due(&c->tried, &c->tried.ages[u])))
            TRY(measure_unit(run, u));
    if (run->fabric->ranks == 1)
        return TUTTI_OK;
    for (uint32_t k = 0; k < s->column_count; k++)
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first; e++)
            if (!s->units[s->columns[k].unit].member)
                c->tried.d[e] = -INFINITY;
    return tutti_reduce(run, TUTTI_REDUCE_MAX, c->tried.d, s->entry_count);
}

/* What the connections bring to an input from the present signals. */
static enum tutti_err brought(const struct run *run, const struct tutti_sensitivity_column *column, double *value)
{
    const struct tutti_wire *wire = column->wire;
    *value = run->wires.gathered[column->place];
    if (!wire)
        return TUTTI_OK;
    size_t size = tutti_type_size(wire->conversion->from);
    return tutti_convert(wire->conversion, run->wires.signals + wire->from + column->element * size, value, 1);
}

/* ---- solving ---- */

static enum tutti_err solve(struct run *run, const double *d, bool aside, double *right)
{
    bool singular, nothing = true;
    for (uint32_t i = 0; i < run->wires.real_count; i++)
        nothing = nothing && right[i] == 0;
    if (nothing)
        return TUTTI_OK;
    TRY(tutti_feedback_solve(&run->master.correction->feedback, d, aside, right, &singular));
    if (!singular)
        return TUTTI_OK;
    return tutti_fail(
        TUTTI_ERR_SOLVER,
        "--correct: the outputs in an algebraic loop do not determine each other in the step from t = %s: "
        "I - D L has no inverse; `tutti graph` shows the loop",
        TIME(run->t));
}

/* The right-hand side becomes that of all ranks; *finite: it is one. */
static enum tutti_err share(struct run *run, double *right, bool *finite)
{
    const struct tutti_wires *wires = &run->wires;
    if (run->fabric->ranks > 1) {
        for (uint32_t i = 0; i < wires->real_count; i++)
            if (!tutti_run_owns(run, wires->reals[i].component))
                right[i] = -INFINITY;
        TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, right, wires->real_count));
    }
    *finite = true;
    for (uint32_t i = 0; i < wires->real_count; i++)
        *finite = *finite && isfinite(right[i]);
    return TUTTI_OK;
}

/* Adds the correction to the signals; its size is the largest part of it, relative to the tolerance. */
static double add(struct run *run, const double *correction)
{
    const struct tutti_master *master = &run->master;
    double *signals = (double *)(void *)run->wires.signals, size = 0;
    for (uint32_t i = 0; i < run->wires.real_count; i++) {
        const struct tutti_real *real = &run->wires.reals[i];
        if (correction[i] == 0)
            continue;
        signals[real->place] += correction[i];
        double tolerance = master->rtol * fabs(signals[real->place]) + master->atol * real->nominal;
        size = fmax(size, fabs(correction[i]) / tolerance);
    }
    return size;
}

static void warn_of_limit(struct run *run, uint32_t real)
{
    const struct tutti_structure_node *node = &run->structure.nodes[run->wires.reals[real].node];
    struct tutti_end end = {.component = node->component, .variable = node->variable};
    char name[256];
    if (!run->master.correction->limited)
        tutti_log_printf(run->options->log, TUTTI_LOG_WARNING, NULL,
                         "--correct: t = %s: '%s' would be corrected by far more than it ever was; corrections are "
                         "limited there. A shorter --step, or --coupling relax, makes them smaller",
                         TIME(run->t), tutti_system_name(run->system, &end, name, sizeof name));
    run->master.correction->limited = true;
}

/* A linear correction of something that is not linear may lead anywhere. One that leads a hundred times as far as the output
 * ever was is shortened to that, all of it: the next steps go on from there. */
static void limit(struct run *run, double *correction)
{
    struct moment *now = &run->master.correction->tried;
    const double *signals = (const void *)run->wires.signals;
    double share = 1;
    uint32_t worst = 0;
    for (uint32_t i = 0; i < run->wires.real_count; i++) {
        const struct tutti_real *real = &run->wires.reals[i];
        now->seen[i] = fmax(now->seen[i], fabs(signals[real->place]));
        double most = 100 * fmax(now->seen[i], real->nominal);
        if (fabs(correction[i]) * share > most) {
            share = most / fabs(correction[i]);
            worst = i;
        }
    }
    if (share == 1)
        return;
    for (uint32_t i = 0; i < run->wires.real_count; i++)
        correction[i] *= share;
    warn_of_limit(run, worst);
}

/* From outputs that belong to moment.inputs to those that belong to what the connections bring. Values that are no numbers
 * stay as they are. */
static enum tutti_err correct(struct run *run)
{
    struct tutti_correction *c = run->master.correction;
    const struct tutti_sensitivity *s = &c->sensitivity;
    struct moment *now = &c->tried;
    memset(c->right, 0, run->wires.real_count * sizeof *c->right);
    for (uint32_t k = 0; k < s->column_count; k++) {
        double value;
        TRY(brought(run, &s->columns[k], &value));
        for (uint32_t e = s->columns[k].first; e < s->columns[k + 1].first && s->units[s->columns[k].unit].member; e++)
            c->right[s->rows[e]] += now->d[e] * (value - now->inputs[k]);
    }
    bool finite;
    TRY(share(run, c->right, &finite));
    if (!finite)
        return TUTTI_OK;
    TRY(solve(run, now->d, false, c->right));
    limit(run, c->right);
    now->size = add(run, c->right);
    for (uint32_t k = 0; k < s->column_count; k++)
        TRY(brought(run, &s->columns[k], &now->inputs[k]));
    return TUTTI_OK;
}

static bool has_nothing_to_correct(const struct run *run)
{
    const struct tutti_correction *c = run->master.correction;
    return !c->corrects || c->sensitivity.entry_count == 0 || run->ended;
}

/* ---- derivatives ---- */

/* Those that outputs without given ones will be extrapolated with. */
static void lay_rates(struct run *run, unsigned order, double *rates)
{
    struct tutti_correction *c = run->master.correction;
    const struct tutti_extrapolation *e = &run->master.extrapolation;
    unsigned most = e->order > 0 ? e->order : 1;
    unsigned degree = e->history.points > most ? most : e->history.points - 1;
    tutti_history_at(&e->history, degree, e->history.times[0], NULL, c->first, c->second);
    const double *laid = order == 1 ? c->first : c->second;
    for (uint32_t i = 0; i < run->wires.real_count; i++)
        rates[i] = isfinite(rates[i]) ? rates[i] : laid[i];
}

/* Where an output gives none, it is taken as it is: a row of D without entries. */
static void mask(const struct tutti_correction *c, const double *rates, double *d)
{
    for (uint32_t e = 0; e < c->sensitivity.entry_count; e++)
        d[e] = isfinite(rates[c->sensitivity.rows[e]]) ? c->tried.d[e] : 0;
}

enum tutti_err tutti_correction_rates(struct run *run, unsigned order, double *rates)
{
    struct tutti_correction *c = run->master.correction;
    const struct tutti_sensitivity *s = &c->sensitivity;
    double *full = run->master.extrapolation.values;
    bool finite;
    if (has_nothing_to_correct(run) || run->master.extrapolation.history.points == 0)
        return TUTTI_OK;
    mask(c, rates, c->d);
    memcpy(full, rates, run->wires.real_count * sizeof *full);
    lay_rates(run, order, full);
    memset(c->right, 0, run->wires.real_count * sizeof *c->right);
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct tutti_sensitivity_column *column = &s->columns[k];
        const struct tutti_member *member = s->units[column->unit].member;
        if (!member)
            continue;
        double rate = column->source == TUTTI_NONE ? 0 : tutti_feedback_factor(column) * full[column->source];
        rate -= tutti_sensitivity_input(s, run, member, column->place, order);
        for (uint32_t e = column->first; e < column[1].first; e++)
            c->right[s->rows[e]] += c->d[e] * rate;
    }
    TRY(share(run, c->right, &finite));
    if (!finite)
        return TUTTI_OK;
    TRY(solve(run, c->d, true, c->right));
    for (uint32_t i = 0; i < run->wires.real_count; i++)
        rates[i] += c->right[i];
    return TUTTI_OK;
}

/* ---- smoothing ---- */

/* Eq. 6.71d, e: from where the input is, along a line to where it would have gone. */
static void smooth_input(struct tutti_wires *wires, struct moment *now, uint32_t place, double h)
{
    if (now->goes_on) {
        double slope = (tutti_wires_moved(wires, place, h) - now->ends[place]) / h;
        wires->gathered[place] = now->ends[place];
        wires->gathered_slopes[0][place] = slope;
        if (wires->order > 1)
            wires->gathered_slopes[1][place] = 0;
    }
    now->ends[place] = tutti_wires_moved(wires, place, h);
}

/* ---- from step to step ---- */

/* What was tried is what is known at run->t if it ended there: it was accepted, or is the first of two half steps. */
static void begin_here(struct run *run)
{
    struct tutti_correction *c = run->master.correction;
    if (c->tried.at != run->t)
        copy_moment(c, run, &c->tried, &c->accepted);
}

enum tutti_err tutti_correction_before(struct run *run, double target)
{
    struct tutti_correction *c = run->master.correction;
    begin_here(run);
    c->tried.at = target;
    c->h = target - run->t;
    for (uint32_t i = 0; c->smooths && i < run->wires.gather_count; i++)
        if (c->sensitivity.moves[i])
            smooth_input(&run->wires, &c->tried, i, c->h);
    c->tried.goes_on = c->smooths;
    return TUTTI_OK;
}

enum tutti_err tutti_correction_after(struct run *run, double target)
{
    struct tutti_correction *c = run->master.correction;
    const struct tutti_sensitivity *s = &c->sensitivity;
    (void)target;
    if (has_nothing_to_correct(run) || run->master.early < INFINITY)
        return TUTTI_OK;
    for (uint32_t u = 0; u < s->unit_count; u++)
        c->tried.ages[u].steps++;
    TRY(measure(run, false));
    for (uint32_t k = 0; k < s->column_count; k++) {
        const struct tutti_member *member = s->units[s->columns[k].unit].member;
        if (member)
            c->tried.inputs[k] = tutti_sensitivity_input(s, run, member, s->columns[k].place, 0);
    }
    return correct(run);
}

void tutti_correction_accept(struct run *run)
{
    struct tutti_correction *c = run->master.correction;
    if (c)
        copy_moment(c, run, &c->accepted, &c->tried);
}

/* Units that crossed an event got their inputs there; to others belongs what was corrected last. */
enum tutti_err tutti_correction_restart(struct run *run)
{
    struct tutti_correction *c = run->master.correction;
    if (!c)
        return TUTTI_OK;
    begin_here(run);
    c->tried.goes_on = false;
    if (!has_nothing_to_correct(run)) {
        const struct tutti_sensitivity *s = &c->sensitivity;
        TRY(measure(run, true));
        for (uint32_t k = 0; k < s->column_count; k++) {
            const struct tutti_member *member = s->units[s->columns[k].unit].member;
            if (member && member->staged_at == run->t)
                c->tried.inputs[k] = run->wires.gathered[s->columns[k].place];
        }
        TRY(correct(run));
    }
    tutti_correction_accept(run);
    return TUTTI_OK;
}

/* ---- ways back ---- */

struct tutti_correction_kept {
    struct moment accepted;
    double h;
    struct tutti_arena arena;
};

enum tutti_err tutti_correction_keep(const struct run *run, struct tutti_correction_kept **kept)
{
    const struct tutti_correction *c = run->master.correction;
    if (!c)
        return TUTTI_OK;
    if (!*kept) {
        *kept = calloc(1, sizeof **kept);
        if (!*kept)
            return tutti_fail_memory();
        TRY(make_moment(c, run, &(*kept)->arena, &(*kept)->accepted));
    }
    /* Where steps are never taken back, nobody says that they are accepted. */
    copy_moment(c, run, &(*kept)->accepted, c->tried.at == run->t ? &c->tried : &c->accepted);
    (*kept)->h = c->h;
    return TUTTI_OK;
}

void tutti_correction_bring_back(struct run *run, const struct tutti_correction_kept *kept)
{
    struct tutti_correction *c = run->master.correction;
    if (!c)
        return;
    copy_moment(c, run, &c->accepted, &kept->accepted);
    c->tried.at = NAN; /* whatever it is, it is not of this point: C1 */
    c->h = kept->h;
}

void tutti_correction_kept_free(struct tutti_correction_kept *kept)
{
    if (!kept)
        return;
    tutti_arena_fini(&kept->arena);
    free(kept);
}

/* ---- beginning and end ---- */

/* Inputs that cannot move are held where that is best for states: outputs are corrected.
 *
 * At the first point all is consistent; D is found there, so that the first step has one whatever happens in it, and the
 * derivatives that units gave there are corrected, too. */
static enum tutti_err begin(struct run *run)
{
    struct tutti_correction *c = run->master.correction;
    const struct tutti_sensitivity *s = &c->sensitivity;
    if (has_nothing_to_correct(run))
        return TUTTI_OK;
    for (uint32_t k = 0; run->master.where && k < s->column_count; k++)
        run->master.where[s->columns[k].place] = 0.5;
    for (uint32_t m = 0; m < run->member_count; m++)
        run->members[m].staged_at = run->t;
    TRY(tutti_wires_gather_all(&run->wires));
    TRY(measure(run, true));
    for (uint32_t k = 0; k < s->column_count; k++)
        TRY(brought(run, &s->columns[k], &c->tried.inputs[k]));
    tutti_correction_accept(run);
    return tutti_extrapolation_accept(run);
}

enum tutti_err tutti_correction_open(struct run *run, bool correct_outputs, bool smooth_inputs)
{
    TRY(check_members(run, correct_outputs ? "--correct" : "--smooth", correct_outputs));
    struct tutti_correction *c = calloc(1, sizeof *c);
    if (!c)
        return tutti_fail_memory();
    run->master.correction = c;
    c->corrects = correct_outputs;
    c->smooths = smooth_inputs;
    c->h = run->master.stepper.first;
    TRY(tutti_sensitivity_init(&c->sensitivity, run, correct_outputs));
    if (c->sensitivity.entry_count > 0)
        TRY(make_room(c, run));
    TRY(make_moment(c, run, &c->arena, &c->accepted));
    TRY(make_moment(c, run, &c->arena, &c->tried));
    return begin(run);
}

void tutti_correction_close(struct run *run)
{
    struct tutti_correction *c = run->master.correction;
    if (!c)
        return;
    tutti_sensitivity_fini(&c->sensitivity);
    tutti_feedback_fini(&c->feedback);
    tutti_arena_fini(&c->arena);
    free(c);
    run->master.correction = NULL;
}

struct tutti_correction_counts tutti_correction_count(const struct run *run)
{
    const struct tutti_correction *c = run->master.correction;
    return (struct tutti_correction_counts){c ? c->feedback.factorizations : 0, c ? c->measured : 0};
}
