/* SPDX-License-Identifier: MIT */
#include "master/choose.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "master/accelerate.h"
#include "master/agree.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/feedthrough.h"
#include "master/stability.h"

/* What the choices hang on. */
struct facts {
    bool coupled;                     /* there are connections, or several units */
    bool controlled;                  /* not so, but a control is to choose the steps of the one that a table drives */
    unsigned table_order;             /* tutti_master.table_order */
    const struct tutti_member *stuck; /* cannot go back; NULL: all can */
    const struct tutti_member *fragile;  /* cannot go back over an event; NULL: all can */
    const struct tutti_member *own_step; /* has steps of its own, or cannot vary them; NULL: none */
    const struct tutti_member *stairs;   /* has a fixed internal step: outputs stand still in between; NULL: none */
    const struct tutti_member *opaque;   /* in a loop, and D cannot be had; NULL: none */
    bool takes_slopes, has_events, has_outputs, has_signals;
    struct tutti_radii stability; /* of the loops that are some */
};

static bool is_auto(const char *word)
{
    return !word || strcmp(word, "auto") == 0;
}

static enum tutti_err check_number(bool given, double value, const char *option)
{
    return !given || (value > 0 && isfinite(value))
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "%s takes a number greater than 0, not %s", option, NUMBER(value));
}

static enum tutti_err check_numbers(const struct tutti_run_options *options)
{
    TRY(check_number(options->has_h_min, options->h_min, "--h-min"));
    TRY(check_number(options->has_event_tolerance, options->event_tolerance, "--event-tolerance"));
    TRY(check_number(options->has_quantum, options->quantum, "--quantum"));
    TRY(check_number(options->has_divergence, options->divergence, "--divergence"));
    TRY(check_number(options->has_realtime, options->realtime, "--realtime"));
    if (options->has_h_min && options->has_h_max && options->h_min > options->h_max)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--h-min %s is more than --h-max %s", NUMBER(options->h_min),
                          NUMBER(options->h_max));
    return TUTTI_OK;
}

enum tutti_err tutti_master_check_words(const struct tutti_run_options *options)
{
    const struct tutti_coupling *coupling;
    const struct tutti_control *control;
    const struct tutti_detection *detection;
    enum tutti_acceleration acceleration;
    unsigned order;
    if (!is_auto(options->coupling))
        TRY(tutti_coupling_find(options->coupling, &coupling));
    if (!is_auto(options->control))
        TRY(tutti_control_find(options->control, &control));
    if (!is_auto(options->extrapolate))
        TRY(tutti_extrapolation_find(options->extrapolate, &order));
    if (!is_auto(options->events))
        TRY(tutti_detection_find(options->events, &detection));
    if (options->accelerate)
        TRY(tutti_acceleration_find(options->accelerate, &acceleration));
    const char *sweeps = options->sweeps, *mode = options->mode, *per = options->error_per;
    if (per && strcmp(per, "time") != 0 && strcmp(per, "step") != 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--error-per takes time or step, not '%s'", per);
    if (mode && strcmp(mode, "prudent") != 0 && strcmp(mode, "optimistic") != 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--mode takes prudent or optimistic, not '%s'", mode);
    if (sweeps && strcmp(sweeps, "seidel") != 0 && strcmp(sweeps, "jacobi") != 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--sweeps takes seidel or jacobi, not '%s'", sweeps);
    return check_numbers(options);
}

static bool gives_tolerance(const struct tutti_run_options *options)
{
    return options->has_rtol || options->has_atol || options->has_h_min || options->has_h_max;
}

/* Of `auto`: whoever gives a step, or FMUs that propose one, is to have it, unless somebody asks for a tolerance. */
static bool wants_control(const struct run *run)
{
    return !run->options->has_step && (gives_tolerance(run->options) || !run->times.step_proposed);
}

/* Of one FMU: a tolerance is asked for, or a control that takes units back, or looks at how they move. */
static bool asks_for_control(const struct tutti_run_options *options)
{
    if (!is_auto(options->control))
        return strcmp(options->control, tutti_control_fixed.name) != 0;
    return !options->has_step && (options->has_rtol || options->has_atol);
}

bool tutti_master_may_control_one(const struct run *run)
{
    return !tutti_system_is_coupled(run->system) && asks_for_control(run->options);
}

bool tutti_master_may_control(const struct run *run)
{
    const struct tutti_control *control = NULL;
    if (!tutti_system_is_coupled(run->system))
        return false;
    if (is_auto(run->options->control))
        return wants_control(run);
    return tutti_control_find(run->options->control, &control) == TUTTI_OK && control->rejects;
}

/* ---- facts ---- */

/* Model Exchange goes back by its states; Co-Simulation needs an FMU that saves its own. */
static bool can_go_back(const struct tutti_unit *unit)
{
    return unit->kind->interface == TUTTI_ME || (unit->can & TUTTI_CAN_STATE);
}

/* May it come back from the middle of a step, at an event? What it announces, and what happens at the ends of steps, needs no
 * step to be taken back. */
static bool comes_back(const struct tutti_unit *unit)
{
    uint32_t flags = unit->fmu->desc->interfaces[unit->kind->interface].flags;
    if (!unit->has_events)
        return false;
    return unit->kind->interface == TUTTI_CS
               ? (flags & TUTTI_CAN_EARLY_RETURN) != 0 && !unit->uniform
               : unit->fmu->desc->event_indicator_count > 0 || (flags & TUTTI_NEEDS_COMPLETED_STEP) != 0;
}

static void look_at_member(struct facts *facts, const struct tutti_member *member)
{
    const struct tutti_unit *unit = member->unit;
    if (!can_go_back(unit) && !facts->stuck)
        facts->stuck = member;
    bool crosses = unit->has_events && unit->fmu->desc->event_indicator_count > 0; /* in the middle of a step */
    if (can_go_back(unit) && !(unit->can & TUTTI_CAN_STATE) && crosses && !facts->fragile)
        facts->fragile = member;
    if (member->has_grid && !facts->own_step)
        facts->own_step = member;
    if (unit->fmu->desc->interfaces[unit->kind->interface].fixed_step > 0 && !facts->stairs)
        facts->stairs = member;
    bool moves = (unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || unit->asks_for_inputs;
    facts->takes_slopes = facts->takes_slopes || (moves && member->wires->gather_count > 0);
    facts->has_events = facts->has_events || comes_back(unit);
}

/* What a loop needs depends on the units in it alone. */
static void look_at_loops(struct run *run, struct facts *facts)
{
    for (uint32_t m = 0; m < run->member_count && !facts->opaque; m++) {
        const struct tutti_unit *unit = run->members[m].unit;
        bool has_d = unit->kind->interface == TUTTI_ME || (unit->can & TUTTI_CAN_DIRECTIONAL) || can_go_back(unit);
        if (!has_d && tutti_structure_is_in_loop(&run->master.running, m))
            facts->opaque = &run->members[m];
    }
}

/* Own units whose directional derivatives will be relied on are asked here, before anything depends on these: their kind
 * compares them with differences (unit/cs.c). All ranks hear of those that lose them. */
static enum tutti_err test_derivatives(struct run *run)
{
    double *lost = tutti_arena_array(&run->arena, run->member_count, sizeof *lost);
    if (!lost)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < run->own_count; m++) {
        const struct tutti_member *member = run->own[m];
        bool loops = tutti_structure_is_in_loop(&run->master.running, member->component);
        if (member->unit->kind->interface == TUTTI_CS && (loops || run->options->correct))
            TRY(tutti_feedthrough_test(&run->wires, member->unit, member->component));
        lost[member->component] = !(member->unit->can & TUTTI_CAN_DIRECTIONAL);
    }
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, lost, run->member_count));
    for (uint32_t m = 0; m < run->member_count; m++)
        if (lost[m] > 0)
            run->units[m]->can &= ~(uint32_t)TUTTI_CAN_DIRECTIONAL;
    return TUTTI_OK;
}

/* How well units see the tables that drive them, if they do not follow these inside of a step. */
static enum tutti_err look_at_tables(struct run *run, struct facts *facts)
{
    double worst = -INFINITY;
    if (run->table_count == 0)
        return TUTTI_OK;
    for (uint32_t m = 0; m < run->own_count; m++) {
        const struct tutti_inputs *inputs = run->own[m]->inputs;
        if (!inputs || !tutti_inputs_are_held(inputs, run->own[m]->unit->can))
            continue;
        bool centred = inputs->choice.at == TUTTI_INPUT_AUTO || inputs->choice.at == TUTTI_INPUT_MIDDLE;
        worst = fmax(worst, centred ? -2 : -1);
    }
    TRY(tutti_reduce(run, TUTTI_REDUCE_MAX, &worst, 1));
    facts->table_order = isfinite(worst) ? (unsigned)-worst : 0;
    return TUTTI_OK;
}

/* One FMU: is there an output whose error can be estimated? */
static bool has_continuous_output(const struct tutti_desc *desc)
{
    for (uint32_t i = 0; i < desc->outputs.count; i++) {
        const struct tutti_var *var = &desc->vars[desc->outputs.items[i].variable];
        if (var->type == TUTTI_TYPE_FLOAT64 && var->variability == TUTTI_CONTINUOUS)
            return true;
    }
    return false;
}

/* One FMU: is it to be controlled? One that a tolerance cannot be kept for runs as it did, with a warning; a control that is
 * asked for by name is refused. */
static void look_at_one(const struct run *run, struct facts *facts)
{
    bool able = !facts->stuck && !facts->own_step && !facts->stairs;
    facts->has_signals = has_continuous_output(run->system->components[0].fmu->desc);
    facts->controlled = facts->table_order > 0 && asks_for_control(run->options) &&
                        (!is_auto(run->options->control) || (able && facts->has_signals));
}

static enum tutti_err find_facts(struct run *run, struct facts *facts)
{
    struct tutti_structure *running = &run->master.running;
    *facts = (struct facts){.coupled = tutti_system_is_coupled(run->system)};
    for (uint32_t m = 0; m < run->member_count; m++)
        look_at_member(facts, &run->members[m]);
    facts->has_outputs = tutti_detect_has_outputs(run);
    for (uint32_t i = 0; i < run->wires.real_count; i++)
        facts->has_signals = facts->has_signals || run->wires.reals[i].smooth;
    facts->stability.known = true;
    TRY(look_at_tables(run, facts));
    if (!facts->coupled) {
        look_at_one(run, facts);
        return TUTTI_OK;
    }
    if (run->master.stability) {
        facts->stability = *run->master.stability;
        look_at_loops(run, facts);
        return TUTTI_OK;
    }
    TRY(tutti_structure_init(running, run->system, TUTTI_PHASE_RUN));
    TRY(tutti_sequence_init(&run->master.sequence, running, run->options->order));
    TRY(test_derivatives(run));
    look_at_loops(run, facts);
    bool asks = is_auto(run->options->coupling) || is_auto(run->options->extrapolate);
    if (asks)
        TRY(tutti_stability_measure(run, running, &facts->stability));
    struct tutti_radii *kept = tutti_arena_alloc(&run->arena, sizeof *kept);
    if (!kept)
        return tutti_fail_memory();
    *kept = facts->stability;
    run->master.stability = kept;
    return TUTTI_OK;
}

/* ---- the choices ---- */

enum choice { COUPLING, CONTROL, EXTRAPOLATE, EVENTS };

__attribute__((format(printf, 3, 4))) static void because(struct run *run, enum choice choice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(run->master.reasons[choice], sizeof run->master.reasons[choice], format, arguments);
    va_end(arguments);
}

static const char *name_of(const struct tutti_member *member)
{
    return member->unit->name;
}

/* "rho(DL) = 0.5", for a reason. */
static const char *name_rho(const struct facts *facts, char *text, size_t size)
{
    bool has_rho = facts->stability.known && isfinite(facts->stability.rho);
    snprintf(text, size, has_rho ? "algebraic loop, rho(DL) = %.3g" : "algebraic loop, rho(DL) unknown",
             facts->stability.rho);
    return text;
}

/* A coupling that is known to be unstable is taken only if an option names it. */
static enum tutti_err refuse_unstable(const struct facts *facts, double radius)
{
    const struct tutti_member *blame = facts->own_step ? facts->own_step : facts->opaque ? facts->opaque : facts->stuck;
    return tutti_fail(
        TUTTI_ERR_UNSUPPORTED,
        "the units of an algebraic loop cannot be coupled in a stable way: an error grows %.3g times in "
        "every step, however short it is (rho(DL) = %.3g). --correct or --coupling relax would do, but "
        "'%s' (%s) %s; use --interface me, or an FMU %s. --coupling seidel or jacobi runs it all the same",
        radius, facts->stability.rho, name_of(blame), blame->unit->fmu->path,
        facts->own_step ? "has steps of its own" : "cannot go back to the beginning of a step",
        facts->own_step ? "without a step of its own" : "with canGetAndSetFMUState");
}

/* A step that is made once, from one point to the next, in a loop. */
static enum tutti_err choose_explicit(struct run *run, const struct facts *facts, const struct tutti_coupling *coupling,
                                      const char *why, const struct tutti_member *blame)
{
    char rho[64];
    double radius = coupling == &tutti_coupling_seidel ? facts->stability.seidel[0] : facts->stability.jacobi[0];
    bool known = facts->stability.known && !isnan(radius);
    if (known && !tutti_radius_is_stable(radius))
        return refuse_unstable(facts, radius);
    run->master.coupling = coupling;
    because(run, COUPLING, "'%s' %s; outputs depend on each other in a circle (%s)", name_of(blame), why,
            name_rho(facts, rho, sizeof rho));
    if (!known && facts->stability.loops > 0)
        tutti_log_printf(
            run->options->log, TUTTI_LOG_WARNING, NULL,
            "there is an algebraic loop, and it is not known whether --coupling %s is stable: '%s' %s; look "
            "at the result, or use --interface me",
            coupling->name, name_of(blame), why);
    return TUTTI_OK;
}

static enum tutti_err choose_for_loop(struct run *run, const struct facts *facts)
{
    struct tutti_master *master = &run->master;
    char rho[64];
    if (facts->own_step)
        return choose_explicit(run, facts, &tutti_coupling_jacobi, "has steps of its own", facts->own_step);
    if (!facts->opaque && facts->stability.known) {
        master->coupling = &tutti_coupling_jacobi;
        master->corrects = true;
        because(run, COUPLING, "with --correct: outputs depend on each other in a circle (%s)",
                name_rho(facts, rho, sizeof rho));
    } else if (!facts->stuck) {
        master->coupling = &tutti_coupling_relax;
        because(run, COUPLING, "outputs depend on each other in a circle (%s); steps can be repeated",
                name_rho(facts, rho, sizeof rho));
    } else
        return choose_explicit(run, facts, &tutti_coupling_seidel, "cannot repeat a step", facts->stuck);
    return TUTTI_OK;
}

static bool judges_iteration(const struct tutti_run_options *options)
{
    const struct tutti_control *control = NULL;
    return !is_auto(options->control) && tutti_control_find(options->control, &control) == TUTTI_OK &&
           control->for_iteration;
}

static enum tutti_err choose_coupling(struct run *run, const struct facts *facts)
{
    struct tutti_master *master = &run->master;
    const struct tutti_run_options *options = run->options;
    master->corrects = options->correct;
    master->smooths = options->smooth;
    if (!is_auto(options->coupling))
        return tutti_coupling_find(options->coupling, &master->coupling);
    master->coupling = &tutti_coupling_jacobi;
    if (!facts->coupled)
        because(run, COUPLING, "there is one unit");
    else if (options->correct || options->smooth)
        because(run, COUPLING, "--correct and --smooth need it");
    else if (judges_iteration(options)) {
        master->coupling = &tutti_coupling_relax;
        because(run, COUPLING, "--control %s needs steps that are repeated", options->control);
    } else if (facts->stability.loops > 0)
        return choose_for_loop(run, facts);
    else if (facts->own_step)
        because(run, COUPLING, "'%s' has steps of its own", name_of(facts->own_step));
    else {
        master->coupling = &tutti_coupling_seidel;
        because(run, COUPLING,
                facts->stability.empty > 0 ? "there is an algebraic loop, but its gain is 0 (rho(DL) = 0)"
                                           : "no outputs depend on each other in a circle (no algebraic loop)");
    }
    return TUTTI_OK;
}

static enum tutti_err choose_control(struct run *run, const struct facts *facts)
{
    struct tutti_master *master = &run->master;
    const struct tutti_run_options *options = run->options;
    if (!is_auto(options->control))
        return tutti_control_find(options->control, &master->control);
    master->control = &tutti_control_fixed;
    if (!master->general)
        because(run, CONTROL, "there is one unit");
    else if (options->has_step)
        because(run, CONTROL, "--step is given");
    else if (!wants_control(run) && run->system->foreign)
        because(run, CONTROL, "the file gives a step for %s, and no tolerance is given", run->system->foreign);
    else if (!wants_control(run))
        because(run, CONTROL, "FMUs propose a step, and no tolerance is given");
    else if (facts->stairs)
        because(run, CONTROL, "'%s' has a fixed internal step", name_of(facts->stairs));
    else if (facts->own_step)
        because(run, CONTROL, "'%s' has steps of its own", name_of(facts->own_step));
    else if (facts->stuck)
        because(run, CONTROL, "'%s' cannot repeat a step", name_of(facts->stuck));
    else if (!facts->has_signals)
        because(run, CONTROL, "no continuous signal to estimate an error by");
    else {
        master->control = &tutti_control_embedded;
        because(run, CONTROL, "%s, and %s", gives_tolerance(options) ? "a tolerance is given" : "no step is given",
                facts->coupled ? "all units can repeat a step"
                               : "the FMU, which holds its inputs in a step, can repeat it");
    }
    return TUTTI_OK;
}

static enum tutti_err choose_extrapolation(struct run *run, const struct facts *facts, unsigned *order)
{
    if (!is_auto(run->options->extrapolate))
        return tutti_extrapolation_find(run->options->extrapolate, order);
    *order = 0;
    if (!facts->coupled)
        because(run, EXTRAPOLATE, "there is one unit");
    else if (run->master.smooths) {
        *order = 1;
        because(run, EXTRAPOLATE, "--smooth needs it");
    } else if (run->master.coupling->iterates) {
        *order = 1;
        because(run, EXTRAPOLATE, "a good first guess for the iteration of each step");
    } else if (facts->stability.loops > 0 && !run->master.corrects)
        because(run, EXTRAPOLATE, "inputs are held: extrapolation could make the algebraic loop unstable");
    else if (!run->master.control->varies)
        because(run, EXTRAPOLATE, "steps are fixed, and inputs are held in each");
    else {
        *order = run->master.per_time ? 2 : 1;
        because(run, EXTRAPOLATE, "errors are controlled: %s",
                facts->takes_slopes
                    ? "inputs move along polynomials in a step"
                    : "no unit accepts slopes of inputs, which get their values of the middle of a step");
    }
    return TUTTI_OK;
}

static enum tutti_err choose_detection(struct run *run, const struct facts *facts)
{
    struct tutti_master *master = &run->master;
    if (!is_auto(run->options->events))
        return tutti_detection_find(run->options->events, &master->detection);
    master->detection = &tutti_detection_none;
    if (!master->general)
        because(run, EVENTS, "there is one unit, which crosses its own");
    else if (facts->own_step)
        because(run, EVENTS, "'%s' has steps of its own", name_of(facts->own_step));
    else if (facts->stuck && (facts->has_outputs || facts->has_events))
        because(run, EVENTS, "'%s' cannot repeat a step up to an event", name_of(facts->stuck));
    else if (facts->has_outputs) {
        master->detection = &tutti_detection_output;
        because(run, EVENTS, "there are discrete outputs, and all units can repeat a step");
    } else if (facts->has_events) {
        master->detection = &tutti_detection_early;
        because(run, EVENTS, "there are units with events, and all can repeat a step");
    } else
        because(run, EVENTS, "no unit has discrete outputs or events");
    return TUTTI_OK;
}

/* ---- what does not go together ---- */

static enum tutti_err refuse_stuck(const struct tutti_member *stuck, const char *option, const char *value,
                                   const char *instead)
{
    return tutti_fail(
        TUTTI_ERR_UNSUPPORTED,
        "%s %s takes units back, and '%s' (%s) cannot%s: %s; use %s, or an FMU with "
        "canGetAndSetFMUState%s",
        option, value, stuck->unit->name, stuck->unit->fmu->path, can_go_back(stuck->unit) ? " over an event" : "",
        stuck->unit->forgets ? "it does not come back to a state that it saved" : "it does not save its state", instead,
        stuck->unit->forgets ? " that keeps its word" : "");
}

static enum tutti_err check_going_back(const struct run *run, const struct facts *facts)
{
    const struct tutti_master *master = &run->master;
    if (!facts->stuck)
        return TUTTI_OK;
    if (master->coupling->iterates)
        return refuse_stuck(facts->stuck, "--coupling", master->coupling->name,
                            can_go_back(facts->stuck->unit) ? "--events early" : "--coupling seidel");
    if (master->control->rejects)
        return refuse_stuck(facts->stuck, "--control", master->control->name,
                            can_go_back(facts->stuck->unit) ? "--events early" : "--control fixed or quantum");
    if (master->detection->early)
        return refuse_stuck(facts->stuck, "--events", master->detection->name, "--events none");
    return TUTTI_OK;
}

static enum tutti_err check_own_steps(const struct run *run, const struct facts *facts)
{
    const struct tutti_master *master = &run->master;
    const char *option = master->coupling->iterates ? "--coupling"
                         : master->control->varies  ? "--control"
                         : master->detection->early ? "--events"
                                                    : NULL;
    const char *value = master->coupling->iterates ? master->coupling->name
                        : master->control->varies  ? master->control->name
                                                   : master->detection->name;
    if (!facts->own_step || !option)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "%s %s needs units that step together, and '%s' (%s) %s; use jacobi or seidel with --control "
                      "fixed and --events none",
                      option, value, facts->own_step->unit->name, facts->own_step->unit->fmu->path,
                      facts->own_step->unit->uniform ? "cannot vary its step" : "has a step of its own");
}

static enum tutti_err check_together(const struct run *run, const struct facts *facts, unsigned order)
{
    const struct tutti_master *master = &run->master;
    const struct tutti_run_options *options = run->options;
    if (options->has_atol && !(options->atol > 0 && isfinite(options->atol)))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--atol must be greater than 0 and finite, not %s",
                          NUMBER(options->atol));
    if (master->control->for_iteration && !master->coupling->iterates)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--control %s judges an iteration: use it with --coupling relax",
                          master->control->name);
    if ((master->corrects || master->smooths) && master->coupling != &tutti_coupling_jacobi)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s goes with --coupling jacobi, not with %s",
                          master->corrects ? "--correct" : "--smooth", master->coupling->name);
    if (master->smooths && order == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--smooth needs inputs that move: use --extrapolate 1 or 2");
    if (master->control == &tutti_control_quantum && !run->options->has_quantum)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--control quantum needs --quantum Q: how far an output may move in a step");
    TRY(check_number(run->options->has_h_max, run->options->h_max, "--h-max"));
    TRY(check_own_steps(run, facts));
    return check_going_back(run, facts);
}

/* The first of the options that are about units that are coupled; NULL: there is none. One unit makes fixed steps anyway, unless
 * these are `controlled`. */
static const char *coupling_option(const struct tutti_run_options *options, bool controlled)
{
    const struct {
        bool given;
        const char *option;
    } all[] = {
        {!is_auto(options->coupling), "--coupling"},
        {!controlled && !is_auto(options->control) && strcmp(options->control, tutti_control_fixed.name) != 0,
         "--control"},
        {!is_auto(options->extrapolate), "--extrapolate"},
        {!controlled && !is_auto(options->events), "--events"},
        {options->correct, "--correct"},
        {options->smooth, "--smooth"},
        {options->order != NULL, "--order"},
        {!controlled && options->step_log != NULL, "--step-log"},
        {options->max_iterations > 0, "--max-iterations"},
        {options->sweeps != NULL, "--sweeps"},
        {options->accelerate != NULL, "--accelerate"},
        {options->mode != NULL, "--mode"},
        {!controlled && options->has_quantum, "--quantum"},
        {options->has_divergence, "--divergence"},
        {!controlled && options->has_event_tolerance, "--event-tolerance"},
        {!controlled && options->has_h_min, "--h-min"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given)
            return all[i].option;
    return NULL;
}

/* One FMU has nobody to be coupled with. */
static enum tutti_err check_alone(const struct run *run)
{
    const char *option = coupling_option(run->options, run->master.general);
    if (option && run->members[0].driven && strcmp(option, "--control") == 0)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--control %s has nothing to control: there is one FMU, and it follows its inputs inside of a "
            "step, or they change at their rows only; leave it out",
            run->options->control);
    return option ? tutti_fail(TUTTI_ERR_ARGUMENT,
                               "%s is about units that are coupled, and there is only one; leave it out", option)
                  : TUTTI_OK;
}

/* Said, but not refused: an annotation may give an option for a choice that somebody replaced. */
static void warn_of_idle(const struct run *run)
{
    const struct tutti_master *master = &run->master;
    const struct tutti_run_options *options = run->options;
    bool iterates = master->coupling->iterates;
    const struct {
        bool idle;
        const char *option, *with;
    } all[] = {
        {options->sweeps && !iterates, "--sweeps", "--coupling relax"},
        {options->accelerate && !iterates, "--accelerate", "--coupling relax"},
        {options->max_iterations > 0 && !iterates, "--max-iterations", "--coupling relax"},
        {options->order && master->coupling == &tutti_coupling_jacobi, "--order", "--coupling seidel or relax"},
        {options->has_quantum && master->control != &tutti_control_quantum, "--quantum", "--control quantum"},
        {options->has_divergence && master->control != &tutti_control_diverge, "--divergence", "--control diverge"},
        {options->error_per && !master->control->bounds_run, "--error-per", "--control embedded or richardson"},
        {options->has_h_min && !master->control->varies, "--h-min", "a --control that varies the step"},
        {options->has_event_tolerance && !master->detection->outputs, "--event-tolerance", "--events output"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].idle)
            tutti_log_printf(options->log, TUTTI_LOG_WARNING, NULL, "%s has no effect here; it goes with %s",
                             all[i].option, all[i].with);
}

/* The unit because of which steps are fixed, and why; NULL: there is none. */
static void note_blame(struct tutti_master *master, const struct facts *facts)
{
    master->blame = facts->stairs ? facts->stairs : facts->own_step ? facts->own_step : facts->stuck;
    master->blame_for = facts->stairs     ? "has a fixed internal step"
                        : facts->own_step ? "has steps of its own"
                                          : "cannot go back to the beginning of a step";
}

/* A tolerance was given, and steps are fixed because of a unit. */
static void warn_of_tolerance(const struct run *run)
{
    bool coupled = tutti_system_is_coupled(run->system);
    const struct tutti_run_options *options = run->options;
    const struct tutti_member *blame = run->master.blame;
    bool asked = options->has_rtol || options->has_atol;
    if (!asked || !blame || options->has_step || !is_auto(options->control) || run->master.control->varies)
        return;
    bool me = blame->unit->kind->interface == TUTTI_CS && blame->unit->fmu->desc->interfaces[TUTTI_ME].present;
    tutti_log_insist(options->log, TUTTI_LOG_WARNING, NULL,
                     "%s does not control the error of %s here: '%s' %s, so all steps are of %s. Use %sa --step "
                     "that is short enough (half of it should give the same result)",
                     options->has_rtol ? "--rtol" : "--atol", coupled ? "the coupling" : "inputs that are held",
                     name_of(blame), run->master.blame_for, NUMBER(run->times.step),
                     me ? "--interface me, or " : "an FMU that can save its state, or ");
}

void tutti_master_tell(const struct run *run)
{
    const struct tutti_master *master = &run->master;
    unsigned order = master->order;
    warn_of_tolerance(run);
    if (!master->general)
        return;
    const char *const names[] = {"coupling", "control", "extrapolate", "events"};
    char orders[8];
    snprintf(orders, sizeof orders, "%u", order);
    const char *const values[] = {master->coupling->name, master->control->name, orders, master->detection->name};
    bool coupled = tutti_system_is_coupled(run->system);
    for (int i = 0; i < 4; i++)
        if (master->reasons[i][0] && (coupled || i == CONTROL || i == EVENTS))
            tutti_log_printf(run->options->log, TUTTI_LOG_INFO, NULL, "auto: %s %s: %s", names[i], values[i],
                             master->reasons[i]);
    warn_of_idle(run);
}

bool tutti_master_relies_on_going_back(const struct run *run)
{
    if (run->master.goes_back)
        return true;
    for (uint32_t m = 0; m < run->member_count && run->master.corrects; m++)
        if (run->units[m]->kind->interface == TUTTI_CS && !(run->units[m]->can & TUTTI_CAN_DIRECTIONAL))
            return true;
    return false;
}

enum tutti_err tutti_master_choose(struct run *run)
{
    struct facts facts;
    struct tutti_master *master = &run->master;
    TRY(find_facts(run, &facts));
    master->general = facts.coupled || facts.controlled;
    master->goes_back = false;
    master->table_order = facts.table_order;
    TRY(choose_detection(run, &facts));
    if (!facts.stuck && !master->detection->early) /* then units cross events in the middle of a step */
        facts.stuck = facts.fragile;
    TRY(choose_coupling(run, &facts));
    TRY(choose_control(run, &facts));
    const char *per = run->options->error_per;
    master->per_time = master->control->bounds_run && !master->smooths && !(per && strcmp(per, "step") == 0);
    master->by_means = master->per_time;
    TRY(choose_extrapolation(run, &facts, &master->order));
    if (!facts.coupled)
        TRY(check_alone(run));
    master->blame = NULL;
    if (facts.coupled || facts.table_order > 0)
        note_blame(master, &facts);
    if (!master->general)
        return TUTTI_OK;
    TRY(check_together(run, &facts, master->order));
    master->goes_back = master->coupling->iterates || master->control->rejects || master->detection->early;
    return TUTTI_OK;
}
