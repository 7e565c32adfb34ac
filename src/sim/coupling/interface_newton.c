/* SPDX-License-Identifier: MIT */
/* Interface Newton (Awais 2015 section 5.3; Nicolai 2019 section 3.2): the macro step is iterated until the inputs of
 * units at its end equal the connected outputs there, x = Y(x), by Newton's method (KINSOL). Inputs move on a line
 * between both ends of the step, as with relax, so that the method is of order 2; or on a cubic (coupled_inputs.h),
 * which makes it one of order 4.
 *
 * Cycle by cycle (cycles.h): units outside cycles of connections step once. The unknowns of a cycle are the continuous
 * Float64 outputs that its units read of each other, and for cubics their derivatives there, times the step; the
 * Jacobian is I - (dY/du) L of the step (step_jacobian.h). All ranks solve, with equal numbers. Everything else that
 * units of a cycle read of each other (Booleans, integers, discrete Reals, texts) is held while Newton's method runs,
 * at its value after the last solution, which is repeated until these values converge; or, if events are located by
 * changes of discrete outputs, at its value at the start of the step.
 *
 * With --reevaluate last (Awais 2015 section 5.3, semi-implicit) the first sweep makes the whole step, with the guess;
 * later sweeps and trials repeat the last step of each unit's solver, in which inputs move on a line from the guess to
 * the unknowns. */
#include "sim/coupling/interface_newton.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/options/options.h"
#include "base/text.h"
#include "sim/rank.h"

enum { MOST_NAMED = 3 };

/* Of differences for GMRES: beyond what solvers of units leave of errors. */
static const double DISTANCE = 1e-5, DISTANCE_OF_FLOATS = 1e-3;
/* A solution that is further from the guess than this many times the residual there indicates a singular system:
 * derivatives are not that accurate, and a residual of the tolerance would be meaningless. */
static const double SINGULAR = 1e5;
/* A step that fails is tried again by halves, down to this part of a usual one. */
static const double LEAST_STEP = 1e-3;
/* Awais 2015 section 5.5.2 weighs the largest component with "a small positive value". */
static const double LARGEST_WEIGHT = 0.01;

/* ---- opening ---- */

/* Returns true if an unknown is a Float32. */
static bool cycle_has_float32(const struct tt_newton_cycle *ring)
{
    const struct tt_real_signal *reals = ring->interface->master->rank->wires.reals;
    for (uint32_t k = 0; k < ring->n; k++)
        if (reals[ring->cycle->reals[ring->values[k]]].narrow)
            return true;
    return false;
}

/* The size below which a signal is small: of that size its absolute tolerance is the relative one. Residuals of signals of one system are
 * compared, so that it is not less than a hundredth of the largest one. */
static double newton_signal_size(const struct tt_sim *master, uint32_t real)
{
    const struct tt_norm *norm = &master->norm;
    double size = fmax(norm->seen[real], norm->largest / 100);
    return fmax(tt_norm_absolute_tolerance(norm, real, size) / norm->rtol, 1e-100);
}

static enum tutti_err open_newton_cycle(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    size_t n = ring->n;
    bool broyden = self->kind == TUTTI_NEWTON_BROYDEN;
    double **const vectors[] = {&ring->x,       &ring->image, &ring->residuals, &ring->scale,      &ring->first,
                                &ring->guessed, &ring->guess, &ring->seen_x,    &ring->seen_image, &ring->at};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) {
        *vectors[i] = tt_arena_array(&rank->arena, n, sizeof(double));
        if (!*vectors[i])
            return tt_fail_memory();
    }
    if (n == 0)
        return TUTTI_OK;
    for (uint32_t k = 0; k < n; k++)
        ring->scale[k] = newton_signal_size(self->master, ring->cycle->reals[ring->values[k]]);
    ring->problem = (struct tt_fixed_point){.n = n,
                                            .context = ring,
                                            .evaluate = tt_interface_newton_sweep,
                                            .scale = ring->scale,
                                            .krylov = self->kind == TUTTI_NEWTON_KRYLOV,
                                            .distance = cycle_has_float32(ring) ? DISTANCE_OF_FLOATS : DISTANCE};
    if (self->kind != TUTTI_NEWTON_KRYLOV) {
        ring->problem.jacobian = tt_newton_jacobian_compute;
        TRY(tt_newton_jacobian_open_pattern(ring));
    }
    ring->matrix = broyden ? tt_arena_array(&rank->arena, n * n, sizeof(double)) : NULL;
    if (broyden && !ring->matrix)
        return tt_fail_memory();
    if (broyden)
        TRY(tt_newton_jacobian_add_saved(self, ring->matrix, n * n));
    return tt_kinsol_new(&ring->solver, &ring->problem);
}

/* Values, and which of them have derivatives. */
static enum tutti_err open_newton_unknowns(struct tt_newton_cycle *ring)
{
    const struct tt_sim *master = ring->interface->master;
    const struct tt_cycle *cycle = ring->cycle;
    ring->n = cycle->n;
    ring->rates = tt_arena_array(&master->rank->arena, cycle->n, sizeof *ring->rates);
    ring->values = tt_arena_array(&master->rank->arena, 2 * (size_t)cycle->n, sizeof *ring->values);
    if (!ring->rates || !ring->values)
        return tt_fail_memory();
    for (uint32_t k = 0; k < cycle->n; k++) {
        bool known = master->staging.cubic && tt_extrapolation_provides_rates(master->rank, cycle->reals[k]);
        ring->rates[k] = known ? ring->n++ : TUTTI_NONE;
        ring->values[k] = k;
        if (known)
            ring->values[ring->rates[k]] = k;
    }
    return TUTTI_OK;
}

/* ---- the last own step of solvers ---- */

static enum tutti_err newton_check_last(const struct tt_member *member)
{
    const struct tt_unit *unit = member->unit;
    const struct tt_solver_kind *kind = member->setup.integration.solver;
    kind = kind ? kind : tt_solver_kinds[0];
    if (unit->kind->interface != TUTTI_ME)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--reevaluate last repeats the last step of a unit's solver, and '%s' (%s) is of Co-Simulation, "
                       "whose solver is its own; use --interface me, or --reevaluate full",
                       unit->name, unit->fmu->path);
    if (!kind->saved_size && unit->fmu->desc->state_count > 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--reevaluate last repeats the last step of a unit's solver, and %s of '%s' cannot go back to "
                       "where that began; use --solver bdf, radau5 or one with fixed steps, or --reevaluate full",
                       kind->name, unit->name);
    if (member->setup.integration.average)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--reevaluate last goes without --filter average: '%s' has averages over whole steps",
                       unit->name);
    return TUTTI_OK;
}

static enum tutti_err open_last_step(struct tt_interface_newton *self)
{
    struct tt_rank *rank = self->master->rank;
    self->last = self->master->chosen.is & TUTTI_METHOD_LAST_ONLY;
    for (uint32_t r = 0; r < self->cycles.count && self->last; r++)
        for (uint32_t i = 0; i < self->cycles.items[r].stage->count; i++)
            TRY(newton_check_last(&rank->members[tt_interface_newton_unit_at(self, self->cycles.items[r].stage, i)]));
    for (unsigned o = 0; o < rank->wires.order && self->last; o++) {
        self->guessed_slopes[o] = tt_arena_array(&rank->arena, rank->wires.gather_count, sizeof(double));
        if (!self->guessed_slopes[o])
            return tt_fail_memory();
    }
    return TUTTI_OK;
}

static enum tutti_err open_newton(struct tt_sim *master, void *coupling)
{
    struct tt_interface_newton *self = coupling;
    struct tt_rank *rank = master->rank;
    int kind;
    self->master = master;
    TRY(tt_options_choose("newton", rank->job->options.newton, &kind));
    self->kind = (enum tt_newton_kind)kind;
    TRY(tt_cycles_init(&self->cycles, rank, &master->running));
    TRY(open_last_step(self));
    self->rings = tt_arena_array(&rank->arena, self->cycles.count, sizeof *self->rings);
    self->rooms = tt_arena_array(&rank->arena, (size_t)self->cycles.count + 2, sizeof *self->rooms);
    self->jacobian_h = tt_arena_array(&rank->arena, self->cycles.count, sizeof *self->jacobian_h);
    self->begin = tt_arena_array(&rank->arena, rank->wires.real_count, sizeof *self->begin);
    self->before = tt_arena_array(&rank->arena, rank->member_count, sizeof *self->before);
    if (!self->rings || !self->rooms || !self->jacobian_h || !self->begin || !self->before)
        return tt_fail_memory();
    TRY(tt_rollback_list_add(&master->remembered, &self->start_step, sizeof self->start_step));
    TRY(tt_newton_jacobian_add_saved(self, self->jacobian_h, self->cycles.count));
    for (uint32_t r = 0; r < self->cycles.count; r++) {
        self->rings[r].interface = self;
        self->rings[r].cycle = &self->cycles.items[r];
        self->rings[r].jacobian_h = &self->jacobian_h[r];
        TRY(open_newton_unknowns(&self->rings[r]));
    }
    TRY(tt_newton_jacobian_open(self));
    for (uint32_t r = 0; r < self->cycles.count; r++)
        TRY(open_newton_cycle(&self->rings[r]));
    return TUTTI_OK;
}

static void close_newton(struct tt_sim *master, void *coupling)
{
    struct tt_interface_newton *self = coupling;
    for (uint32_t r = 0; self->rings && r < self->cycles.count; r++) {
        tt_kinsol_free(self->rings[r].solver);
        tt_pattern_fini(&self->rings[r].pattern);
    }
    tt_step_jacobian_fini(&self->jacobian);
    tt_cycles_fini(&self->cycles);
    tt_snapshot_fini(&self->own, master->rank);
}

/* ---- around a solution ---- */

/* The first guess is where the signals go by extrapolation. */
static void newton_predict(struct tt_newton_cycle *ring)
{
    const struct tt_interface_newton *self = ring->interface;
    const struct tt_wires *wires = &self->master->rank->wires;
    double h = self->target - self->master->rank->t;
    for (uint32_t k = 0; k < ring->cycle->n; k++) {
        double begin = self->begin[ring->cycle->reals[k]], move = 0, rate = 0, power = 1;
        ring->scale[k] = newton_signal_size(self->master, ring->cycle->reals[k]);
        for (unsigned o = 0; o < wires->order && self->master->extrapolation.order > 0; o++) {
            double slope = wires->slopes[o][wires->reals[ring->cycle->reals[k]].place];
            rate += power * slope;
            power *= h / (o + 1);
            move += power * slope;
        }
        ring->x[k] = begin + move;
        if (ring->rates[k] == TUTTI_NONE)
            continue;
        ring->x[ring->rates[k]] = h * rate; /* which counts as much as the value does */
        ring->scale[ring->rates[k]] = fmax(ring->scale[k], fabs(begin));
    }
}

/* Where the error of a step may be a part of the tolerance only, a tenth of that; but no less than rounding. */
static double newton_tolerance(const struct tt_newton_cycle *ring)
{
    const struct tt_interface_newton *self = ring->interface;
    const struct tt_sim *master = self->master;
    const struct tt_norm *norm = &master->norm;
    double part = (self->target - master->rank->t) / master->rank->span;
    double tolerance = norm->rtol * (norm->per_time ? fmax(0.1 * part, 1e-13 / norm->rtol) : 1);
    return cycle_has_float32(ring) ? fmax(tolerance, 2 * (double)FLT_EPSILON) : tolerance;
}

/* Transfers discrete values to their readers in the cycle; *other: a value differs from that of the last solution. */
static enum tutti_err transfer_discrete(struct tt_newton_cycle *ring, bool *other)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    const struct tt_cycle *cycle = ring->cycle;
    *other = false;
    for (uint32_t i = 0; i < cycle->piece_count; i++) {
        const struct tt_cycle_piece *piece = &cycle->pieces[i];
        char *begin = self->master->staging.begin + piece->offset;
        const char *now = rank->wires.signals + piece->offset;
        *other = *other || memcmp(begin, now, piece->size) != 0;
        memcpy(begin, now, piece->size);
    }
    for (uint32_t i = 0; i < cycle->stage->count; i++) {
        struct tt_member *member = &rank->members[tt_interface_newton_unit_at(self, cycle->stage, i)];
        if (!tt_rank_owns(rank, member->component) || member->unit->has_events)
            continue;
        bool before = member->wires->held_changed;
        member->wires->held_changed = false;
        TRY(tt_wires_gather_held(&rank->wires, rank->wires.signals, member->wires));
        *other = *other || member->wires->held_changed;
        member->wires->held_changed = member->wires->held_changed || before;
    }
    return tt_rank_agree_any(rank, other);
}

/* ---- failure ---- */

/* Returns the unknown with the largest residual that is not yet listed; ring->n if there is none. */
static uint32_t newton_find_worst(const struct tt_newton_cycle *ring, const bool *named)
{
    uint32_t worst = ring->n;
    double largest = -1;
    for (uint32_t k = 0; k < ring->n; k++) {
        double residual = fabs(ring->residuals[k]) / fmax(ring->scale[k], fabs(ring->x[k]));
        residual = isnan(residual) ? INFINITY : residual;
        if (!named[k] && residual > largest) {
            largest = residual;
            worst = k;
        }
    }
    return worst;
}

static const struct tt_structure_node *newton_unknown_node(const struct tt_newton_cycle *ring, uint32_t unknown)
{
    const struct tt_rank *rank = ring->interface->master->rank;
    return &rank->job->structure.nodes[rank->wires.reals[ring->cycle->reals[ring->values[unknown]]].node];
}

static uint32_t find_unknown_reader(const struct tt_newton_cycle *ring, uint32_t unknown)
{
    uint32_t c = 0;
    while (ring->cycle->columns[c].unknown != ring->values[unknown])
        c++;
    return ring->cycle->columns[c].component;
}

/* Formats "'a.y' goes to 'b' as 1.5 and comes back as 1.25, ..." */
static void format_residuals(const struct tt_newton_cycle *ring, struct tt_text *text)
{
    const struct tt_system *system = ring->interface->master->rank->job->system;
    bool *named = calloc((size_t)ring->n + 1, sizeof *named);
    for (unsigned i = 0; named && i < MOST_NAMED; i++) {
        uint32_t k = newton_find_worst(ring, named);
        if (k == ring->n)
            break;
        char name[256];
        struct tt_end end = {.component = newton_unknown_node(ring, k)->component,
                             .variable = newton_unknown_node(ring, k)->variable};
        bool rate = ring->values[k] != k;
        double unit = rate ? ring->interface->target - ring->interface->master->rank->t : 1;
        tt_text_printf(text, "%s%s'%s' goes to '%s' as %.9g and comes back as %.9g", i ? ", " : "",
                       rate ? "the derivative of " : "", tt_system_name(system, &end, name, sizeof name),
                       system->components[find_unknown_reader(ring, k)].name, ring->x[k] / unit,
                       (ring->x[k] - ring->residuals[k]) / unit);
        named[k] = true;
    }
    free(named);
}

/* However short the step is. The message is the reason. */
static enum tutti_err newton_fail_final(const struct tt_newton_cycle *ring, double distance)
{
    const struct tt_interface_newton *self = ring->interface;
    struct tt_text text = {0};
    char reason[400];
    snprintf(reason, sizeof reason, "%s", tutti_err_message());
    format_residuals(ring, &text);
    if (distance > 0)
        tt_text_printf(&text, "; the condition number is about %.0e", 1 / distance);
    enum tutti_err err = tt_fail(
        TUTTI_ERR_SOLVER,
        "t = %s: the step to %s, and all longer ones, have no solution: %s (%s). Look at these connections (tutti "
        "analyze); use another --step, --max-iterations, --newton full, --coupling relax --accelerate anderson, or "
        "--coupling seidel",
        TIME(self->master->rank->t), TIME(self->target), reason, text.text ? text.text : "");
    tt_text_fini(&text);
    return err;
}

/* A shorter step has a Jacobian that is closer to I, unless there is an algebraic loop: so halves are tried first. */
static enum tutti_err newton_fail_solution(struct tt_newton_cycle *ring, const struct tt_newton_counts *counts)
{
    struct tt_interface_newton *self = ring->interface;
    const struct tt_rank *rank = self->master->rank;
    double h = self->target - rank->t;
    *ring->jacobian_h = 0;
    if (h < LEAST_STEP * self->master->memory.stepper.first)
        return newton_fail_final(ring, counts->distance);
    bool *none = calloc((size_t)ring->n + 1, sizeof *none);
    if (!none)
        return tt_fail_memory();
    uint32_t worst = newton_find_worst(ring, none);
    free(none);
    tt_step_result_set_refused(self->result, newton_unknown_node(ring, worst)->component, rank->t);
    self->interrupted = true;
    return TUTTI_OK;
}

/* ---- a step ---- */

/* How far the solution is from its first guess, as a multiple of the residual there, both relative to the sizes of the signals. */
static double find_amplification(const struct tt_newton_cycle *ring)
{
    double far = 0, residual = 0;
    for (uint32_t k = 0; k < ring->n; k++) {
        double size = fmax(ring->scale[k], fmax(fabs(ring->guess[k]), fabs(ring->x[k])));
        far = fmax(far, fabs(ring->x[k] - ring->guess[k]) / size);
        residual = fmax(residual, fabs(ring->guessed[k] - ring->guess[k]) / size);
    }
    return far > 0 ? far / residual : 0;
}

/* Verifies the solution that KINSOL has found. */
static enum tutti_err verify_solution(struct tt_newton_cycle *ring, struct tt_newton_counts *counts)
{
    double amplification = find_amplification(ring);
    if (!(amplification > SINGULAR))
        return TUTTI_OK;
    counts->distance = 1 / amplification;
    return tt_fail(TUTTI_ERR_SOLVER, "the Jacobian is singular, up to a relative change of %.0e", 1 / amplification);
}

/* With what is discrete as it is. */
static enum tutti_err newton_solve_reals(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    struct tt_newton_counts counts = {0};
    struct tt_kinsol_options options = {.tolerance = newton_tolerance(ring),
                                        .iterations = self->master->most_iterations};
    bool outside = false;
    enum tutti_err err;
    ring->asked = 0;
    ring->made = false;
    ring->begins = true;
    memcpy(ring->guess, ring->x, ring->n * sizeof *ring->guess);
    if (ring->n == 0)
        err = tt_interface_newton_sweep(ring, ring->x, ring->image, &outside);
    else
        err = tt_kinsol_solve(ring->solver, &options, ring->x, ring->residuals, &counts);
    rank->stats->newton_iterations += counts.iterations;
    if (self->interrupted)
        return TUTTI_OK;
    if (!err && counts.iterations > 0)
        err = verify_solution(ring, &counts);
    if (outside) { /* nothing to solve, but repeated for what is discrete */
        tt_step_result_set_refused(self->result, tt_interface_newton_unit_at(self, ring->cycle->stage, 0), rank->t);
        self->interrupted = true;
    }
    return err == TUTTI_ERR_SOLVER ? newton_fail_solution(ring, &counts) : err;
}

/* Restores discrete values to those at the start of the step. */
static enum tutti_err restore_discrete(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    const struct tt_step_stage *stage = ring->cycle->stage;
    const uint32_t *components = self->cycles.stages.components + stage->first;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(rank, components[i]))
            tt_interface_newton_count_steps(self, &rank->members[components[i]]);
    TRY(tt_snapshot_restore_members(self->start, rank, components, stage->count));
    rank->own_events = self->own_events;
    ring->away = false;
    for (uint32_t i = 0; i < ring->cycle->piece_count; i++) {
        const struct tt_cycle_piece *piece = &ring->cycle->pieces[i];
        memcpy(self->master->staging.begin + piece->offset, self->start->signals + piece->offset, piece->size);
    }
    for (uint32_t i = 0; i < stage->count; i++) {
        struct tt_member *member = &rank->members[components[i]];
        if (tt_rank_owns(rank, components[i]) && !member->unit->has_events)
            TRY(tt_wires_gather_held(&rank->wires, rank->wires.signals, member->wires));
    }
    return TUTTI_OK;
}

/* If changes of discrete outputs are located, they do not change inside a step: such a step is cut there. A value that
 * oscillates (a relay that switches itself off) is kept at its start. */
static enum tutti_err newton_iterate_discrete(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    bool other = !self->master->chosen.detection->outputs;
    for (unsigned round = 1; other && round < self->master->most_iterations; round++) {
        TRY(transfer_discrete(ring, &other));
        if (other)
            TRY(newton_solve_reals(ring));
        if (self->interrupted)
            return TUTTI_OK;
    }
    if (!other)
        return TUTTI_OK;
    self->result->converged = false;
    TRY(restore_discrete(ring));
    return newton_solve_reals(ring);
}

static enum tutti_err newton_solve_cycle(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    ring->sweeps = 0;
    ring->away = false;
    self->own_events = self->master->rank->own_events;
    newton_predict(ring);
    TRY(newton_solve_reals(ring));
    if (!self->interrupted)
        TRY(newton_iterate_discrete(ring));
    if (self->result->iterations < ring->sweeps)
        self->result->iterations = ring->sweeps;
    return TUTTI_OK;
}

/* Units that lie in no cycle: once. */
static enum tutti_err newton_step_once(struct tt_interface_newton *self, const struct tt_step_stage *stage)
{
    struct tt_step_result result = tt_step_result_begin(self->result->from, self->target);
    TRY(tt_interface_newton_step_stage(self, stage, true, &result));
    if (result.end == TUTTI_END_REACHED)
        return tt_interface_newton_get_rates(self, stage);
    *self->result = result;
    self->interrupted = true;
    return TUTTI_OK;
}

/* Awais 2015 eq. 5.22: what the iteration changed of its first result. */
static double newton_measure_divergence(const struct tt_interface_newton *self)
{
    double square = 0, largest = 0;
    for (uint32_t r = 0; r < self->cycles.count; r++)
        for (uint32_t k = 0; k < self->rings[r].cycle->n; k++) {
            double change = fabs(self->rings[r].image[k] - self->rings[r].first[k]);
            square += change * change;
            largest = fmax(largest, change);
        }
    return sqrt(square) + LARGEST_WEIGHT * largest;
}

static enum tutti_err step_all_stages(struct tt_interface_newton *self)
{
    struct tt_sim *master = self->master;
    const struct tt_step_stages *stages = &self->cycles.stages;
    uint32_t ring = 0;
    for (uint32_t s = 0; s < stages->count; s++) {
        TRY(stages->items[s].cyclic ? newton_solve_cycle(&self->rings[ring++])
                                    : newton_step_once(self, &stages->items[s]));
        if (self->interrupted)
            return TUTTI_OK;
        for (uint32_t i = 0; i < stages->items[s].count; i++)
            tt_coupled_inputs_interpolate(&master->staging, tt_interface_newton_unit_at(self, &stages->items[s], i),
                                          self->target - master->rank->t);
    }
    self->result->divergence = newton_measure_divergence(self);
    return TUTTI_OK;
}

static enum tutti_err newton_step(struct tt_sim *master, void *coupling, double target,
                                  const struct tt_step_rules *rules, struct tt_step_result *result)
{
    struct tt_interface_newton *self = coupling;
    struct tt_rank *rank = master->rank;
    self->start = &master->start;
    if (self->start->t != rank->t) {
        TRY(tt_snapshot_take(&self->own, rank));
        self->start = &self->own;
    }
    self->target = target;
    self->rules = rules;
    self->result = result;
    self->interrupted = false;
    result->iterations = 1;
    tt_newton_jacobian_begin(self);
    memcpy(master->staging.begin, rank->wires.signals, rank->wires.signal_size);
    tt_wires_get_reals(&rank->wires, rank->wires.signals, self->begin);
    return step_all_stages(self);
}

/* Linear interpolation between both ends, or that of Hermite. */
static unsigned newton_order(unsigned extrapolation)
{
    return extrapolation == TUTTI_CUBIC ? 4 : 2;
}

const struct tt_coupling tt_coupling_newton = {.name = "newton",
                                               .iterates = true,
                                               .size = sizeof(struct tt_interface_newton),
                                               .open = open_newton,
                                               .close = close_newton,
                                               .step = newton_step,
                                               .order = newton_order};

void tt_interface_newton_count_steps(struct tt_interface_newton *self, const struct tt_member *member)
{
    struct tt_unit_counts *counts = &member->unit->counts;
    unsigned long made = counts->do_steps - self->before[member->component];
    counts->auxiliary += made;
    counts->attributed += made;
    self->before[member->component] = counts->do_steps;
}

static enum tutti_err newton_roll_back(struct tt_newton_cycle *ring)
{
    struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    const struct tt_step_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++) {
        struct tt_member *member = &rank->members[tt_interface_newton_unit_at(self, stage, i)];
        if (!tt_rank_owns(rank, member->component))
            continue;
        tt_interface_newton_count_steps(self, member);
        TRY(tt_snapshot_restore_member(self->start, rank, member));
    }
    rank->own_events = self->own_events;
    ring->away = false;
    return TUTTI_OK;
}

void tt_interface_newton_set_slope(const struct tt_newton_cycle *ring, uint32_t value, const double *x)
{
    const struct tt_interface_newton *self = ring->interface;
    uint32_t real = ring->cycle->reals[value], rate = ring->rates[value];
    double h = self->target - self->master->rank->t;
    tt_coupled_inputs_set_hermite(&self->master->staging, real, self->begin[real], x[value],
                                  rate == TUTTI_NONE ? NAN : x[rate] / h, h);
}

/* --reevaluate last: converts the inputs gathered for the whole step to those of its rest. An unchanged input continues;
 * others turn to their end values. */
static void restage_for_last_step(const struct tt_interface_newton *self, const struct tt_member *member)
{
    struct tt_wires *wires = &self->master->rank->wires;
    double elapsed = member->now.t - self->master->rank->t, h = self->target - self->master->rank->t;
    uint32_t first = member->wires->gather_first;
    for (uint32_t i = first; i < first + member->wires->gather_count && elapsed > 0; i++) {
        double end = tt_wires_extrapolate(wires, i, h), rate = 0;
        bool same = true;
        for (unsigned o = 0; o < wires->order; o++) {
            same = same && wires->gathered_slopes[o][i] == self->guessed_slopes[o][i];
            wires->gathered_slopes[o][i] = self->guessed_slopes[o][i];
        }
        wires->gathered[i] = tt_wires_extrapolate(wires, i, elapsed);
        for (unsigned o = wires->order; o-- > 1;)
            rate = (rate + wires->gathered_slopes[o][i]) * elapsed / o;
        wires->gathered_slopes[0][i] = same ? wires->gathered_slopes[0][i] + rate
                                            : (end - wires->gathered[i]) / (h - elapsed);
        for (unsigned o = 1; o < wires->order && !same; o++)
            wires->gathered_slopes[o][i] = 0;
    }
}

static void hold_at_guess(const struct tt_interface_newton *self, const struct tt_member *member)
{
    const struct tt_wires *wires = &self->master->rank->wires;
    uint32_t first = member->wires->gather_first;
    for (unsigned o = 0; o < wires->order; o++)
        memcpy(self->guessed_slopes[o] + first, wires->gathered_slopes[o] + first,
               member->wires->gather_count * sizeof(double));
}

enum tutti_err tt_interface_newton_stage_unit(struct tt_interface_newton *self, struct tt_member *member, bool discrete)
{
    struct tt_sim *master = self->master;
    struct tt_coupled_inputs *staging = &master->staging;
    if (discrete)
        TRY(tt_coupled_inputs_gather(staging, staging->begin, member, self->target));
    else {
        TRY(tt_wires_gather(&master->rank->wires, staging->begin, member->wires));
        tt_coupled_inputs_hold(staging, member, self->target);
    }
    if (self->last && discrete)
        hold_at_guess(self, member);
    else if (self->last)
        restage_for_last_step(self, member);
    return TUTTI_OK;
}

/* Values that cannot be computed are a step that is refused. */
static enum tutti_err newton_step_unit(struct tt_interface_newton *self, struct tt_member *member, bool whole,
                                       struct tt_step_result *result)
{
    struct tt_rank *rank = self->master->rank;
    self->before[member->component] = member->unit->counts.do_steps;
    member->unit->notes_last = self->last && whole;
    enum tutti_err err = tt_component_step(rank, self->rules, member, self->target, result);
    member->unit->notes_last = false;
    if (err == TUTTI_ERR_DISCARD) {
        tt_step_result_set_refused(result, member->component, rank->t);
        return TUTTI_OK;
    }
    return err;
}

enum tutti_err tt_interface_newton_step_stage(struct tt_interface_newton *self, const struct tt_step_stage *stage,
                                              bool discrete, struct tt_step_result *result)
{
    struct tt_rank *rank = self->master->rank;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(tt_interface_newton_stage_unit(self, &rank->members[tt_interface_newton_unit_at(self, stage, i)],
                                               discrete));
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(newton_step_unit(self, &rank->members[tt_interface_newton_unit_at(self, stage, i)],
                                 discrete && stage->cyclic, result));
    TRY(tt_channels_exchange(&rank->channels));
    return tt_coupling_agree(self->master, result);
}

double tt_interface_newton_unknown_change(const struct tt_newton_cycle *ring, uint32_t value, double end,
                                          const double *rates)
{
    const struct tt_interface_newton *self = ring->interface;
    uint32_t real = ring->cycle->reals[value];
    return isfinite(rates[real]) ? (self->target - self->master->rank->t) * rates[real] : end - self->begin[real];
}

static void newton_read_image(const struct tt_newton_cycle *ring, double *image)
{
    const struct tt_wires *wires = &ring->interface->master->rank->wires;
    const double *signals = (const double *)(const void *)wires->signals;
    for (uint32_t k = 0; k < ring->cycle->n; k++) {
        uint32_t real = ring->cycle->reals[k];
        image[k] = signals[wires->reals[real].place];
        if (ring->rates[k] != TUTTI_NONE)
            image[ring->rates[k]] =
                tt_interface_newton_unknown_change(ring, k, image[k], ring->interface->master->staging.ends);
    }
}

enum tutti_err tt_interface_newton_get_rates(struct tt_interface_newton *self, const struct tt_step_stage *stage)
{
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(self->master->rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(tt_coupled_inputs_get_rates(&self->master->staging, tt_interface_newton_unit_at(self, stage, i)));
    return tt_coupled_inputs_exchange_rates(&self->master->staging);
}

static enum tutti_err roll_back_to_last_step(const struct tt_newton_cycle *ring)
{
    const struct tt_interface_newton *self = ring->interface;
    struct tt_rank *rank = self->master->rank;
    const struct tt_step_stage *stage = ring->cycle->stage;
    for (uint32_t i = 0; i < stage->count; i++)
        if (tt_rank_owns(rank, tt_interface_newton_unit_at(self, stage, i)))
            TRY(tt_component_restore_last_step(rank, &rank->members[tt_interface_newton_unit_at(self, stage, i)]));
    return TUTTI_OK;
}

enum tutti_err tt_interface_newton_sweep(void *context, const double *x, double *image, bool *outside)
{
    struct tt_newton_cycle *ring = context;
    struct tt_interface_newton *self = ring->interface;
    struct tt_step_result result = tt_step_result_begin(self->result->from, self->target);
    if (ring->away)
        TRY(newton_roll_back(ring));
    if (self->last && ring->sweeps > 0)
        TRY(roll_back_to_last_step(ring));
    for (uint32_t k = 0; k < ring->cycle->n; k++)
        tt_interface_newton_set_slope(ring, k, x);
    ring->away = true;
    TRY(tt_interface_newton_step_stage(self, ring->cycle->stage, ring->sweeps == 0, &result));
    ring->sweeps++;
    if (result.end == TUTTI_END_REFUSED && ring->sweeps > 1) {
        *outside = true;
        return TUTTI_OK;
    }
    if (result.end != TUTTI_END_REACHED) {
        result.iterations = self->result->iterations;
        *self->result = result;
        self->interrupted = true;
        return TUTTI_ERR_DISCARD;
    }
    TRY(tt_interface_newton_get_rates(self, ring->cycle->stage));
    newton_read_image(ring, ring->image);
    if (ring->sweeps == 1) {
        memcpy(ring->first, ring->image, ring->n * sizeof *ring->first);
        if (self->last) /* events lie before what is repeated */
            self->own_events = self->master->rank->own_events;
    }
    if (ring->begins)
        memcpy(ring->guessed, ring->image, ring->n * sizeof *ring->guessed);
    ring->begins = false;
    memcpy(image, ring->image, ring->n * sizeof *image);
    return TUTTI_OK;
}
