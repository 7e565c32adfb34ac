/* SPDX-License-Identifier: MIT */
#include "sim/choose.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/text.h"
#include "model/plan/step_order.h"
#include "sim/compatibility.h"
#include "sim/control/control.h"
#include "sim/control/quantum.h"
#include "sim/coupling/correction.h"
#include "sim/coupling/coupling.h"
#include "sim/coupling/tlm.h"
#include "sim/rank.h"
#include "sim/requested.h"
#include "sim/start/linear_model.h"

__attribute__((format(printf, 3, 4))) static void set_reason(struct tt_sim *master, enum tt_choice_number choice,
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(master->chosen.reasons[choice], sizeof master->chosen.reasons[choice], format, arguments);
    va_end(arguments);
    tt_text_spell_options(master->chosen.reasons[choice]);
}

/* "rho(DL) = 0.5", for a reason. */
static const char *format_rho(const struct tt_traits *facts, char *text, size_t size)
{
    bool has_rho = facts->stability.known && isfinite(facts->stability.rho);
    snprintf(text, size, has_rho ? "algebraic loop, rho(DL) = %.3g" : "algebraic loop, rho(DL) unknown",
             facts->stability.rho);
    return text;
}

/* A coupling that is known to be unstable is taken only if an option names it. */
static enum tutti_err reject_unstable(const struct tt_traits *facts, double radius)
{
    const struct tt_member *blame = facts->own_step ? facts->own_step
                                    : facts->opaque ? facts->opaque
                                                    : facts->no_rollback;
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "the units of an algebraic loop cannot be coupled in a stable way: an error grows %.3g times in "
                   "every step, however short it is (rho(DL) = %.3g). --correct or --coupling relax would do, but "
                   "'%s' (%s) %s; use --interface me, or an FMU %s. --coupling seidel or jacobi runs it all the same",
                   radius, facts->stability.rho, tt_traits_member_name(blame), blame->unit->fmu->path,
                   facts->own_step ? "has steps of its own" : "cannot go back to the beginning of a step",
                   facts->own_step ? "without a step of its own" : "with canGetAndSetFMUState, or --rollback fork");
}

/* A step that is made once, from one point to the next, in a loop. */
static enum tutti_err choose_explicit(struct tt_sim *master, const struct tt_traits *facts,
                                      const struct tt_coupling *coupling, const char *why,
                                      const struct tt_member *blame)
{
    struct tt_rank *rank = master->rank;
    char rho[64];
    double radius = coupling->waves ? facts->stability.seidel[0] : facts->stability.jacobi[0];
    bool known = facts->stability.known && !isnan(radius);
    if (known && !tt_stability_is_stable_radius(radius))
        return reject_unstable(facts, radius);
    master->chosen.coupling = coupling;
    set_reason(master, TUTTI_CHOICE_COUPLING, "'%s' %s; outputs depend on each other (%s)",
               tt_traits_member_name(blame), why, format_rho(facts, rho, sizeof rho));
    if (!known && facts->stability.loops > 0)
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "there is an algebraic loop, and it is not known whether --coupling %s is stable: '%s' %s; look "
               "at the result, or use --interface me%s",
               coupling->name, tt_traits_member_name(blame), why, facts->own_step ? "" : " or --rollback fork");
    return TUTTI_OK;
}

static enum tutti_err choose_for_loop(struct tt_sim *master, const struct tt_traits *facts)
{
    char rho[64];
    if (facts->own_step)
        return choose_explicit(master, facts, &tt_coupling_jacobi, "has steps of its own", facts->own_step);
    if (!facts->opaque && facts->stability.known) {
        master->chosen.coupling = &tt_coupling_jacobi;
        master->chosen.corrects = true;
        set_reason(master, TUTTI_CHOICE_COUPLING, "with --correct: outputs depend on each other (%s)",
                   format_rho(facts, rho, sizeof rho));
    } else if (!facts->no_rollback) {
        master->chosen.coupling = &tt_coupling_relax;
        set_reason(master, TUTTI_CHOICE_COUPLING, "outputs depend on each other (%s); steps can be repeated",
                   format_rho(facts, rho, sizeof rho));
    } else
        return choose_explicit(master, facts, &tt_coupling_seidel, "cannot repeat a step", facts->no_rollback);
    return TUTTI_OK;
}

static bool control_judges_iteration(const struct tutti_run_options *options)
{
    const struct tt_control *control = NULL;
    return !tt_choose_is_auto(options->control) && tt_control_find(options->control, &control) == TUTTI_OK &&
           control->for_iteration;
}

static enum tutti_err choose_coupling(struct tt_sim *master, const struct tt_traits *facts)
{
    struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    int how;
    TRY(tt_options_choose("correct", options->correct_how, &how));
    master->chosen.corrects = options->correct;
    master->chosen.solves = options->correct && how == TUTTI_CORRECT_SOLVE;
    master->chosen.smooths = options->smooth;
    if (!tt_choose_is_auto(options->coupling))
        return tt_coupling_find(options->coupling, &master->chosen.coupling);
    master->chosen.coupling = &tt_coupling_jacobi;
    if (!facts->coupled)
        set_reason(master, TUTTI_CHOICE_COUPLING, "there is one unit");
    else if (rank->job->system->constraint_count > 0) {
        master->chosen.coupling = &tt_coupling_kinematic;
        set_reason(master, TUTTI_CHOICE_COUPLING, "--constrain needs it");
    } else if (options->correct || options->smooth)
        set_reason(master, TUTTI_CHOICE_COUPLING, "--correct and --smooth need it");
    else if (control_judges_iteration(options)) {
        master->chosen.coupling = &tt_coupling_relax;
        set_reason(master, TUTTI_CHOICE_COUPLING, "--control %s needs steps that are repeated", options->control);
    } else if (tt_traits_should_join(master, facts)) {
        master->chosen.coupling = &tt_coupling_strong;
        set_reason(master, TUTTI_CHOICE_COUPLING,
                   "a tolerance is given, and all units %s Model Exchange: in one solver there is no error of the "
                   "coupling",
                   rank->joins ? "offer" : "are of");
    } else if (master->unstable.coupling && !facts->no_rollback) {
        master->chosen.coupling = &tt_coupling_newton;
        set_reason(master, TUTTI_CHOICE_COUPLING, "with %s errors would grow %.4g times in each step of %s",
                   master->unstable.coupling->name, master->unstable.factor, NUMBER(rank->times.step));
    } else if (facts->stability.loops > 0)
        return choose_for_loop(master, facts);
    else if (facts->own_step)
        set_reason(master, TUTTI_CHOICE_COUPLING, "'%s' has steps of its own", tt_traits_member_name(facts->own_step));
    else {
        master->chosen.coupling = &tt_coupling_seidel;
        set_reason(master, TUTTI_CHOICE_COUPLING,
                   facts->stability.empty > 0 ? "there is an algebraic loop, but its gain is 0 (rho(DL) = 0)"
                                              : "no outputs depend on each other in a circle (no algebraic loop)");
    }
    return TUTTI_OK;
}

static enum tutti_err choose_control(struct tt_sim *master, const struct tt_traits *facts)
{
    struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    if (!tt_choose_is_auto(options->control)) {
        TRY(tt_control_find(options->control, &master->chosen.control));
        if (master->chosen.control->takes_quantum) /* which judges no errors, as others that vary steps do */
            set_reason(master, TUTTI_CHOICE_CONTROL,
                       "as asked for: steps end where the first output has moved by a quantum");
        return TUTTI_OK;
    }
    master->chosen.control = &tt_control_fixed;
    if (!master->chosen.general)
        set_reason(master, TUTTI_CHOICE_CONTROL, "there is one unit");
    else if (master->chosen.coupling->federates && tt_quantum_is_requested(options)) {
        master->chosen.control = &tt_control_quantum;
        set_reason(master, TUTTI_CHOICE_CONTROL, "--quantum is given: units step where their outputs have moved by it");
    } else if (master->chosen.coupling->federates)
        set_reason(master, TUTTI_CHOICE_CONTROL,
                   "units without a master make steps of their own, which are not judged");
    else if (tt_traits_all_join(master, facts))
        set_reason(master, TUTTI_CHOICE_CONTROL, "all units are in one solver, which controls the error");
    else if (options->has_step)
        set_reason(master, TUTTI_CHOICE_CONTROL, "--step is given");
    else if (!tt_choose_requests_varying_steps(rank->job))
        set_reason(master, TUTTI_CHOICE_CONTROL, "the file gives a step for %s, and no tolerance is given",
                   rank->job->system->foreign);
    else if (facts->stairs)
        set_reason(master, TUTTI_CHOICE_CONTROL, "'%s' has a fixed internal step",
                   tt_traits_member_name(facts->stairs));
    else if (facts->averages)
        set_reason(master, TUTTI_CHOICE_CONTROL, "outputs of '%s' are averages over a step, which depend on its size",
                   tt_traits_member_name(facts->averages));
    else if (facts->own_step)
        set_reason(master, TUTTI_CHOICE_CONTROL, "'%s' has steps of its own", tt_traits_member_name(facts->own_step));
    else if (facts->no_rollback)
        set_reason(master, TUTTI_CHOICE_CONTROL, "'%s' cannot repeat a step",
                   tt_traits_member_name(facts->no_rollback));
    else if (!facts->has_signals)
        set_reason(master, TUTTI_CHOICE_CONTROL, "no continuous signal to estimate an error by");
    else {
        master->chosen.control = &tt_control_embedded;
        set_reason(master, TUTTI_CHOICE_CONTROL, "%s, and %s",
                   tt_choose_requests_tolerance(options) ? "a tolerance is given"
                   : rank->job->times.step_proposed      ? "FMUs only propose a step"
                                                         : "no step is given",
                   facts->coupled ? "all units can repeat a step"
                                  : "the FMU, whose inputs are approximated in a step, can repeat it");
    }
    return TUTTI_OK;
}

/* An explicit coupling by name. Outputs in an algebraic loop belong to inputs of a step before: they are late by a part of the step that no
 * power of it makes smaller, and each change of the step makes them jump. So a tolerance of the run needs steps of the size of the tolerance,
 * and estimates take the jumps for noise. With correction neither happens. */
static void correct_loops(struct tt_sim *master, const struct tt_traits *facts)
{
    const struct tt_rank *rank = master->rank;
    struct tt_method *chosen = &master->chosen;
    bool average = false;
    char rho[64];
    for (uint32_t m = 0; m < rank->member_count; m++)
        average = average || rank->members[m].setup.integration.average;
    chosen->late = chosen->per_time && facts->stability.loops > 0 && !chosen->corrects && !chosen->coupling->iterates &&
                   !tt_traits_all_join(master, facts);
    if (!chosen->late || !chosen->coupling->takes_correction || facts->opaque || !facts->stability.known || average)
        return;
    chosen->corrects = true;
    chosen->late = false;
    set_reason(master, TUTTI_CHOICE_COUPLING,
               "as asked for, with --correct, without which the tolerance cannot be kept: "
               "outputs depend on each other (%s)",
               format_rho(facts, rho, sizeof rho));
}

/* Sweeps over a loop whose gain is near 1 converge slowly: with a gain of 0.8, ten leave a tenth of an error. */
static void accelerate_sweeps(struct tt_sim *master, const struct tt_traits *facts)
{
    static const double SLOW = 0.8;
    struct tt_method *chosen = &master->chosen;
    const struct tt_radii *stability = &facts->stability;
    chosen->accelerates = chosen->coupling->sweeps && chosen->per_time && !master->rank->job->options.accelerate &&
                          stability->loops > 0 && stability->known && stability->rho > SLOW;
    if (chosen->accelerates)
        set_reason(master, TUTTI_CHOICE_COUPLING,
                   "with --accelerate anderson: sweeps converge slowly (algebraic loop, rho(DL) = %.3g)",
                   stability->rho);
}

static enum tutti_err choose_extrapolation(struct tt_sim *master, const struct tt_traits *facts, unsigned *order)
{
    struct tt_rank *rank = master->rank;
    if (!tt_choose_is_auto(rank->job->options.extrapolate))
        return tt_extrapolation_parse_order(rank->job->options.extrapolate, order);
    *order = 0;
    if (!facts->coupled)
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE, "there is one unit");
    else if (master->chosen.coupling->federates)
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE, "inputs are held from message to message");
    else if (master->chosen.smooths) {
        *order = 1;
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE, "--smooth needs it");
    } else if (master->chosen.coupling->iterates) {
        *order = 1;
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE, "a good first guess for the iteration of each step");
    } else if (tt_traits_all_join(master, facts))
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE, "all units are in one solver");
    else if (facts->stability.loops > 0 && !master->chosen.corrects)
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE,
                   "inputs are held: extrapolation could make the algebraic loop unstable");
    else if (!master->chosen.control->varies && isfinite(tt_tlm_shortest_delay(rank->job->system))) {
        *order = 1;
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE,
                   "--tlm: the force at the end of a line follows its velocity, which would be of order 1 if held");
    } else if (!master->chosen.control->varies)
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE, "steps are fixed, and inputs are held in each");
    else {
        *order = master->chosen.per_time ? 2 : 1;
        set_reason(master, TUTTI_CHOICE_EXTRAPOLATE, "%s: %s",
                   master->chosen.control->takes_quantum ? "steps end where outputs have moved by a quantum"
                                                         : "errors are controlled",
                   facts->takes_slopes
                       ? "inputs move along polynomials in a step"
                       : "no unit accepts slopes of inputs, which get their values of the middle of a step");
    }
    return TUTTI_OK;
}

static enum tutti_err choose_detection(struct tt_sim *master, const struct tt_traits *facts)
{
    struct tt_rank *rank = master->rank;
    if (!tt_choose_is_auto(rank->job->options.events))
        return tt_detector_find_kind(rank->job->options.events, &master->chosen.detection);
    master->chosen.detection = &tt_detection_none;
    if (!master->chosen.general)
        set_reason(master, TUTTI_CHOICE_EVENTS, "there is one unit, which crosses its own");
    else if (tt_choose_requests_federation(rank->job))
        set_reason(master, TUTTI_CHOICE_EVENTS, "units without a master cross their own");
    else if (facts->has_events && tt_traits_will_join_all(master, facts)) {
        master->chosen.detection = &tt_detection_early;
        set_reason(master, TUTTI_CHOICE_EVENTS,
                   "there are units with events, and all are in one solver, which locates them");
    } else if (facts->own_step)
        set_reason(master, TUTTI_CHOICE_EVENTS, "'%s' has steps of its own", tt_traits_member_name(facts->own_step));
    else if (facts->no_rollback && (facts->has_outputs || facts->has_events))
        set_reason(master, TUTTI_CHOICE_EVENTS, "'%s' cannot repeat a step up to an event",
                   tt_traits_member_name(facts->no_rollback));
    else if (facts->has_outputs) {
        master->chosen.detection = &tt_detection_output;
        set_reason(master, TUTTI_CHOICE_EVENTS, "there are discrete outputs, and all units can repeat a step");
    } else if (facts->has_events) {
        master->chosen.detection = &tt_detection_early;
        set_reason(master, TUTTI_CHOICE_EVENTS, "there are units with events, and all can repeat a step");
    } else
        set_reason(master, TUTTI_CHOICE_EVENTS, "no unit has discrete outputs or events");
    return TUTTI_OK;
}

bool tt_choose_relies_on_rollback(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    if (master->chosen.goes_back)
        return true;
    for (uint32_t m = 0; m < rank->member_count && master->chosen.corrects; m++)
        if (rank->units[m]->kind->interface == TUTTI_CS && !(rank->units[m]->can & TUTTI_CAN_DIRECTIONAL))
            return true;
    return false;
}

/* If steps vary and --step is not given, the step that FMUs propose is the first step and the distance of rows. */
static void use_proposed_step(const struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    if (master->chosen.varies && tt_choose_is_auto(options->control) && rank->job->times.step_proposed &&
        !tt_choose_requests_tolerance(options) && !options->has_output_step)
        rank->times.output_step = rank->times.step;
}

enum tutti_err tt_choose_method(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct tt_traits facts;
    TRY(tt_traits_collect(master, &facts));
    master->chosen.general = facts.coupled || facts.controlled;
    master->chosen.goes_back = master->chosen.by_attempts = master->chosen.together = false;
    master->chosen.table_order = facts.table_order;
    TRY(choose_detection(master, &facts));
    if (!facts.no_rollback && !master->chosen.detection->early) /* then units cross events in the middle of a step */
        facts.no_rollback = facts.fragile;
    TRY(choose_coupling(master, &facts));
    const char *reevaluate = rank->job->options.reevaluate;
    master->chosen.last_only = master->chosen.coupling == &tt_coupling_newton && reevaluate &&
                               strcmp(reevaluate, "last") == 0;
    TRY(choose_control(master, &facts));
    master->chosen.varies = master->chosen.control->varies && !master->chosen.coupling->federates;
    const char *per = rank->job->options.error_per;
    master->chosen.per_time = master->chosen.control->bounds_run && !master->chosen.smooths &&
                              !(per && strcmp(per, "step") == 0);
    correct_loops(master, &facts);
    accelerate_sweeps(master, &facts);
    TRY(choose_extrapolation(master, &facts, &master->chosen.order));
    tt_traits_detect_cubic(master);
    use_proposed_step(master);
    if (!facts.coupled)
        TRY(tt_compatibility_check_alone(master));
    master->chosen.blame = NULL;
    if (facts.coupled || facts.table_order > 0) {
        /* The unit that requires fixed steps, and the reason; NULL: none. */
        master->chosen.blame = facts.stairs ? facts.stairs : facts.own_step ? facts.own_step : facts.no_rollback;
        master->chosen.blame_for = facts.stairs     ? "has a fixed internal step"
                                   : facts.own_step ? "has steps of its own"
                                                    : "cannot go back to the beginning of a step";
    }
    if (!master->chosen.general)
        return TUTTI_OK;
    master->chosen.together = tt_traits_all_join(master, &facts) && !master->chosen.control->rejects &&
                              !master->chosen.detection->outputs;
    TRY(tt_compatibility_check(master, &facts, master->chosen.order));
    master->chosen.goes_back = tt_compatibility_rolls_back(master) || master->chosen.control->rejects ||
                               (master->chosen.detection->early && !master->chosen.together);
    master->chosen.by_attempts = master->chosen.goes_back || master->chosen.together || master->chosen.varies ||
                                 master->chosen.order > 0 || rank->job->options.step_log ||
                                 rank->job->system->fed_count > 0;
    return TUTTI_OK;
}

/* Beyond these an analysis takes longer than it is worth. */
enum { MOST_STATES = 100, MOST_SIGNALS = 100 };
/* Over a whole run. A smaller growth does not justify the cost of more than one do-step per step. */
static const double MOST_GROWTH = 100;

/* Returns true if there is a feedback path from a unit to itself. Otherwise errors of a coupling do not grow. */
static enum tutti_err coupling_has_cycle(const struct tt_sim *master, bool *cycle)
{
    struct tt_step_stages stages;
    *cycle = false;
    TRY(tt_step_order_init_stages(&stages, &master->running));
    for (uint32_t i = 0; i < stages.count; i++)
        *cycle = *cycle || stages.items[i].cyclic;
    tt_step_order_fini_stages(&stages);
    return TUTTI_OK;
}

/* Returns true for a small system with fixed steps. `twins`: also for units of Co-Simulation, whose states only a
 * second instance of their FMU shows. */
static bool can_analyze_stability(const struct tt_sim *master, bool twins)
{
    const struct tt_rank *rank = master->rank;
    const struct tt_method *chosen = &master->chosen;
    size_t states = 0;
    bool seen = true;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_unit *unit = rank->units[m];
        const struct tt_interface *me = &unit->fmu->desc->interfaces[TUTTI_ME];
        bool has_twin = twins && me->present && !(me->flags & (TUTTI_ONCE_PER_PROCESS | TUTTI_NEEDS_TOOL));
        states += unit->fmu->desc->state_count;
        seen = seen && (unit->kind->interface == TUTTI_ME || has_twin) && !rank->members[m].has_grid &&
               !rank->members[m].setup.integration.average;
    }
    bool known = !(chosen->corrects && chosen->coupling->waves);
    return chosen->general && tt_system_is_coupled(rank->job->system) && !chosen->control->varies && seen && known &&
           states <= MOST_STATES && rank->wires.real_count <= MOST_SIGNALS && !rank->ended;
}

/* Returns true if `auto` may select a different coupling. */
static bool may_change_coupling(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    return can_analyze_stability(master, false) && tt_choose_is_auto(rank->job->options.coupling) &&
           master->chosen.coupling->by_lane && !rank->job->options.correct && !master->chosen.smooths &&
           rank->job->system->fed_count == 0;
}

/* The growth of an error per step, and its growth beyond that of the equations themselves plus a tenth. */
struct error_growth {
    bool known, stable;
    double factor, excess;
};

static enum tutti_err measure_step_growth(const struct tt_sim *master, const struct tt_linear_system *system,
                                          struct error_growth *growth)
{
    const struct tt_method *chosen = &master->chosen;
    enum tt_step_method method = chosen->coupling->constrains && system->constraints.rows > 0 ? TUTTI_STEP_KINEMATIC
                                 : chosen->coupling->iterates                                 ? TUTTI_STEP_IMPLICIT
                                 : chosen->corrects                                           ? TUTTI_STEP_CORRECT
                                 : chosen->smooths                                            ? TUTTI_STEP_SMOOTH
                                 : chosen->coupling->waves                                    ? TUTTI_STEP_SEIDEL
                                                                                              : TUTTI_STEP_JACOBI;
    double h = master->rank->times.step, exact = 1;
    unsigned order = method == TUTTI_STEP_IMPLICIT ? 0 : chosen->order;
    if (method != TUTTI_STEP_KINEMATIC)
        TRY(tt_step_operator_exact_radius(system, h, &exact));
    TRY(tt_step_operator_is_stable(system, method, order, h, &growth->factor, &growth->stable));
    growth->excess = growth->factor / pow(fmax(exact, 1), 1.1);
    return TUTTI_OK;
}

/* Collective. Not known: a unit cannot be linearised, or its numbers say nothing. */
static enum tutti_err measure_growth(struct tt_sim *master, enum tt_linear_twins twins, struct error_growth *growth)
{
    struct tt_rank *rank = master->rank;
    struct tt_linear_model model = {0};
    *growth = (struct error_growth){.stable = true, .factor = 1, .excess = 1};
    enum tutti_err err = tt_linear_model_init(&model, rank, &master->running, &master->sequence, twins);
    if (!err)
        err = measure_step_growth(master, &model.system, growth);
    tt_linear_model_fini(&model);
    growth->known = err == TUTTI_OK;
    return err == TUTTI_ERR_MEMORY || err == TUTTI_ERR_STOPPED ? err : TUTTI_OK;
}

/* ---- another coupling ---- */

static enum tutti_err reconsider_coupling(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    struct error_growth growth;
    TRY(measure_growth(master, TUTTI_TWINS_NONE, &growth));
    bool unstable = growth.known && !growth.stable &&
                    log(growth.factor) * rank->span / rank->times.step > log(MOST_GROWTH);
    TRY(tt_rank_agree_any(rank, &unstable));
    if (!unstable)
        return TUTTI_OK;
    master->unstable = (struct tt_unstable_coupling){master->chosen.coupling, growth.factor};
    return tt_choose_method(master);
}

/* ---- a warning ---- */

static bool makes_equal_steps(const struct tt_sim *master)
{
    const struct tt_coupling *coupling = master->chosen.coupling;
    return !coupling->federates && !coupling->joins &&
           (master->rank->job->system->fed_count == 0 || coupling->constrains) &&
           !isfinite(tt_tlm_shortest_delay(master->rank->job->system));
}

static enum tutti_err warn_unstable_coupling(struct tt_sim *master)
{
    struct tt_rank *rank = master->rank;
    double steps = rank->span / rank->times.step;
    struct error_growth growth;
    char option[64];
    TRY(measure_growth(master, TUTTI_TWINS_BESIDE, &growth));
    if (!growth.known || growth.stable || !(log(growth.excess) * steps > log(MOST_GROWTH)) || rank->fabric->rank > 0)
        return TUTTI_OK;
    snprintf(option, sizeof option, "--coupling %s%s%s", master->chosen.coupling->name,
             master->chosen.corrects ? " --correct" : "", master->chosen.smooths ? " --smooth" : "");
    tt_log_unfiltered(
        rank->unit_log, TUTTI_LOG_WARNING, NULL,
        "%s is not stable with steps of %s: where the run starts, an error grows %.4g times in each of its %.0f steps, "
        "and "
        "the result cannot be trusted; use a smaller --step, another --coupling, --correct or error control "
        "(--rtol); tutti analyze --step says what is stable",
        option, NUMBER(rank->times.step), growth.factor, ceil(steps));
    return TUTTI_OK;
}

enum tutti_err tt_choose_reconsider_coupling(struct tt_sim *master)
{
    bool cycle = false;
    if (may_change_coupling(master)) {
        TRY(coupling_has_cycle(master, &cycle));
        TRY(cycle ? reconsider_coupling(master) : TUTTI_OK);
    }
    if (!can_analyze_stability(master, true) || !makes_equal_steps(master))
        return TUTTI_OK;
    TRY(coupling_has_cycle(master, &cycle));
    return cycle ? warn_unstable_coupling(master) : TUTTI_OK;
}
