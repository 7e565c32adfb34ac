/* SPDX-License-Identifier: MIT */
#include "master/choose.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "job/annotation.h"
#include "job/integration.h"
#include "job/joining.h"
#include "master/control/control.h"
#include "master/control/quanta.h"
#include "master/coupling/accelerate.h"
#include "master/coupling/correct.h"
#include "master/coupling/coupling.h"
#include "plan/stages.h"
#include "rank/agree.h"
#include "rank/ticks.h"
#include "start/feedthrough.h"
#include "start/linear_system.h"
#include "start/stability.h"

/* What the choices depend on. */
struct facts {
    bool coupled;         /* there are connections, or several units */
    bool controlled;      /* not so, but a control is to choose the steps of the one that a table drives */
    unsigned table_order; /* tutti_master.table_order */
    const struct tutti_member *no_rollback; /* cannot go back; NULL: all can */
    const struct tutti_member *fragile;     /* cannot go back over an event; NULL: all can */
    const struct tutti_member *own_step;    /* has steps of its own, or cannot vary them; NULL: none */
    const struct tutti_member *stairs;      /* has a fixed internal step: outputs stand still in between; NULL: none */
    const struct tutti_member *first_me;    /* of Model Exchange; NULL: none */
    const struct tutti_member *other;       /* not of Model Exchange; NULL: none */
    const struct tutti_member *own_step_me; /* of Model Exchange, with steps of its own; NULL: none */
    const struct tutti_member *opaque;      /* in a loop, and D cannot be had; NULL: none */
    bool takes_slopes, has_events, has_outputs, has_signals;
    struct tutti_radii stability; /* of the loops that are some */
};

static bool is_auto(const char *word)
{
    return !word || strcmp(word, "auto") == 0;
}

/* Is every unit one of those that the coupling has in its solver? */
static bool joins_all(const struct tutti_master *master, const struct facts *facts)
{
    return master->chosen.coupling->joins && !facts->other;
}

static bool gives_tolerance(const struct tutti_run_options *options)
{
    return options->has_rtol || options->has_atol || options->has_h_min || options->has_h_max;
}

/* Of `auto`: a step that the options give, or that FMUs propose, is taken, unless a tolerance is asked for. */
static bool wants_control(const struct tutti_job *job)
{
    return !job->options.has_step && (gives_tolerance(&job->options) || !job->times.step_proposed);
}

/* Of one FMU: a tolerance is asked for, or a control that takes units back, or looks at how they move. */
static bool asks_for_control(const struct tutti_run_options *options)
{
    if (!is_auto(options->control))
        return strcmp(options->control, tutti_control_fixed.name) != 0;
    return !options->has_step && (options->has_rtol || options->has_atol);
}

bool tutti_master_may_control_one(const struct tutti_job *job)
{
    return !tutti_system_is_coupled(job->system) && asks_for_control(&job->options);
}

/* Does an option ask for units without a master, as far as that is known before they are there? */
bool tutti_master_federates(const struct tutti_job *job)
{
    const struct tutti_coupling *coupling = NULL;
    return tutti_system_is_coupled(job->system) && !is_auto(job->options.coupling) &&
           tutti_coupling_find(job->options.coupling, &coupling) == TUTTI_OK && coupling->federates;
}

/* Will an option put all units into one solver, as far as that is known before they are there? */
static bool joins_all_of(const struct tutti_job *job)
{
    const struct tutti_system *system = job->system;
    const struct tutti_coupling *coupling = NULL;
    if (is_auto(job->options.coupling) || tutti_coupling_find(job->options.coupling, &coupling) != TUTTI_OK ||
        !coupling->joins)
        return false;
    for (uint32_t c = 0; c < system->component_count; c++) {
        struct tutti_run_options own = job->options;
        const struct tutti_unit_kind *kind = NULL;
        double step;
        if (tutti_annotation_of_component(&own, system, &system->components[c], &step) != TUTTI_OK ||
            tutti_interface_find(&own, system->components[c].fmu, system->single, &kind) != TUTTI_OK ||
            kind->interface != TUTTI_ME)
            return false;
    }
    return true;
}

bool tutti_master_may_control(const struct tutti_job *job)
{
    const struct tutti_control *control = NULL;
    if (!tutti_system_is_coupled(job->system) || tutti_master_federates(job) ||
        (is_auto(job->options.control) && joins_all_of(job)))
        return false;
    if (is_auto(job->options.control))
        return wants_control(job);
    return tutti_control_find(job->options.control, &control) == TUTTI_OK && control->rejects;
}

bool tutti_master_asks_to_go_back(const struct tutti_job *job)
{
    const struct tutti_run_options *options = &job->options;
    const struct tutti_control *control = NULL;
    const struct tutti_coupling *coupling = NULL;
    const struct tutti_detection *detection = NULL;
    if (!tutti_system_is_coupled(job->system))
        return asks_for_control(options);
    if (tutti_master_federates(job))
        return false; /* what would is refused */
    if (is_auto(options->control) && !options->has_step && (options->has_rtol || options->has_atol))
        return true;
    if (!is_auto(options->control) && tutti_control_find(options->control, &control) == TUTTI_OK &&
        (control->rejects || control->for_iteration))
        return true;
    if (job->system->constraint_count > 0)
        return true;
    if (!is_auto(options->coupling) && tutti_coupling_find(options->coupling, &coupling) == TUTTI_OK &&
        coupling->iterates)
        return true;
    return !is_auto(options->events) && tutti_detection_find(options->events, &detection) == TUTTI_OK &&
           detection->early;
}

bool tutti_master_may_move_inputs(const struct tutti_job *job)
{
    const struct tutti_run_options *options = &job->options;
    const struct tutti_coupling *coupling = NULL;
    bool held = options->extrapolate && strcmp(options->extrapolate, "0") == 0;
    bool named = !is_auto(options->coupling) && tutti_coupling_find(options->coupling, &coupling) == TUTTI_OK;
    return !held || !named || coupling->iterates;
}

/* ---- words ---- */

/* "--coupling seidel or relax": kinds that an option goes with. */
struct words {
    char text[128];
};

static void add_word(struct words *words, const char *option, const char *name)
{
    size_t used = strlen(words->text);
    snprintf(words->text + used, sizeof words->text - used, "%s%s", used == 0 ? option : " or ", name);
}

static bool does_iterate(const struct tutti_coupling *coupling)
{
    return coupling->iterates;
}

static bool does_sweep(const struct tutti_coupling *coupling)
{
    return coupling->sweeps;
}

static bool does_wave(const struct tutti_coupling *coupling)
{
    return coupling->waves;
}

static bool does_take_correction(const struct tutti_coupling *coupling)
{
    return coupling->takes_correction;
}

static bool does_constrain(const struct tutti_coupling *coupling)
{
    return coupling->constrains;
}

static struct words couplings_that(bool (*do_it)(const struct tutti_coupling *))
{
    struct words words = {""};
    for (size_t i = 0; tutti_coupling_at(i); i++)
        if (do_it(tutti_coupling_at(i)))
            add_word(&words, "--coupling ", tutti_coupling_at(i)->name);
    return words;
}

static struct words controls_that_bound_the_run(void)
{
    struct words words = {""};
    for (size_t i = 0; tutti_control_at(i); i++)
        if (tutti_control_at(i)->bounds_run)
            add_word(&words, "--control ", tutti_control_at(i)->name);
    return words;
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

/* Does it follow inputs that move inside of a step? */
static bool follows(const struct tutti_unit *unit)
{
    return (unit->can & TUTTI_CAN_INPUT_DERIVATIVES) || unit->asks_for_inputs;
}

static void look_at_member(struct facts *facts, const struct tutti_member *member)
{
    const struct tutti_unit *unit = member->unit;
    const struct tutti_member **sort = unit->kind->interface == TUTTI_ME ? &facts->first_me : &facts->other;
    *sort = *sort ? *sort : member;
    if (member->has_grid && unit->kind->interface == TUTTI_ME && !facts->own_step_me)
        facts->own_step_me = member;
    if (!can_go_back(unit) && !facts->no_rollback)
        facts->no_rollback = member;
    bool crosses = unit->has_events && unit->fmu->desc->event_indicator_count > 0; /* in the middle of a step */
    if (can_go_back(unit) && !(unit->can & TUTTI_CAN_STATE) && crosses && !facts->fragile)
        facts->fragile = member;
    if (member->has_grid && !facts->own_step)
        facts->own_step = member;
    if (unit->fmu->desc->interfaces[unit->kind->interface].fixed_step > 0 && !facts->stairs)
        facts->stairs = member;
    facts->takes_slopes = facts->takes_slopes || (follows(unit) && member->wires->gather_count > 0);
    facts->has_events = facts->has_events || comes_back(unit);
}

/* What a loop needs depends on the units in it alone. */
static void look_at_loops(struct tutti_master *master, struct facts *facts)
{
    struct tutti_rank *rank = master->rank;
    for (uint32_t m = 0; m < rank->member_count && !facts->opaque; m++) {
        const struct tutti_unit *unit = rank->members[m].unit;
        bool has_d = unit->kind->interface == TUTTI_ME || (unit->can & TUTTI_CAN_DIRECTIONAL) || can_go_back(unit);
        if (!has_d && tutti_structure_is_in_loop(&master->running, m))
            facts->opaque = &rank->members[m];
    }
}

/* Own units whose directional derivatives will be relied on are asked here, before anything depends on these: their kind
 * compares them with differences (unit/cs.c). All ranks hear of those that lose them. */
static enum tutti_err test_derivatives(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    double *lost = tutti_arena_array(&rank->arena, rank->member_count, sizeof *lost);
    if (!lost)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tutti_member *member = rank->own[m];
        bool loops = tutti_structure_is_in_loop(&master->running, member->component);
        if (member->unit->kind->interface == TUTTI_CS && (loops || rank->job->options.correct))
            TRY(tutti_feedthrough_test(&rank->wires, member->unit, member->component));
        lost[member->component] = !(member->unit->can & TUTTI_CAN_DIRECTIONAL);
    }
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, lost, rank->member_count));
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (lost[m] > 0)
            rank->units[m]->can &= ~(uint32_t)TUTTI_CAN_DIRECTIONAL;
    return TUTTI_OK;
}

/* How well units see the tables that drive them, if they do not follow these inside of a step. */
static enum tutti_err look_at_tables(struct tutti_master *master, struct facts *facts)
{
    struct tutti_rank *rank = master->rank;
    double worst = -INFINITY;
    if (rank->job->table_count == 0)
        return TUTTI_OK;
    for (uint32_t m = 0; m < rank->own_count; m++) {
        const struct tutti_inputs *inputs = rank->own[m]->inputs;
        if (!inputs || !tutti_inputs_are_held(inputs, rank->own[m]->unit->can))
            continue;
        bool centred = inputs->choice.at == TUTTI_INPUT_AUTO || inputs->choice.at == TUTTI_INPUT_MIDDLE;
        worst = fmax(worst, centred ? -2 : -1);
    }
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, &worst, 1));
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
static void look_at_one(const struct tutti_master *master, struct facts *facts)
{
    const struct tutti_rank *rank = master->rank;
    bool able = !facts->no_rollback && !facts->own_step && !facts->stairs;
    facts->has_signals = has_continuous_output(rank->job->system->components[0].fmu->desc);
    facts->controlled = facts->table_order > 0 && asks_for_control(&rank->job->options) &&
                        (!is_auto(rank->job->options.control) || (able && facts->has_signals));
}

static enum tutti_err find_facts(struct tutti_master *master, struct facts *facts)
{
    struct tutti_rank *rank = master->rank;
    struct tutti_structure *running = &master->running;
    *facts = (struct facts){.coupled = tutti_system_is_coupled(rank->job->system)};
    for (uint32_t m = 0; m < rank->member_count; m++)
        look_at_member(facts, &rank->members[m]);
    facts->has_outputs = tutti_detector_finds_outputs(rank);
    for (uint32_t i = 0; i < rank->wires.real_count; i++)
        facts->has_signals = facts->has_signals || rank->wires.reals[i].smooth;
    facts->stability.known = true;
    TRY(look_at_tables(master, facts));
    if (!facts->coupled) {
        look_at_one(master, facts);
        return TUTTI_OK;
    }
    if (master->stability) {
        facts->stability = *master->stability;
        look_at_loops(master, facts);
        return TUTTI_OK;
    }
    TRY(tutti_structure_init(running, rank->job->system, TUTTI_PHASE_RUN));
    TRY(tutti_sequence_init(&master->sequence, running, rank->job->options.order));
    TRY(test_derivatives(master));
    look_at_loops(master, facts);
    bool asks = is_auto(rank->job->options.coupling) || is_auto(rank->job->options.extrapolate);
    if (asks)
        TRY(tutti_stability_measure(rank, running, &master->sequence, &facts->stability));
    struct tutti_radii *kept = tutti_arena_alloc(&rank->arena, sizeof *kept);
    if (!kept)
        return tutti_fail_memory();
    *kept = facts->stability;
    master->stability = kept;
    return TUTTI_OK;
}

/* ---- one solver for all ---- */

/* One solver for all units has their states; does nothing about them forbid that? */
static bool can_join(const struct tutti_master *master, const struct facts *facts)
{
    const struct tutti_rank *rank = master->rank;
    bool same = true;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tutti_integration *integration = &rank->members[m].setup.integration;
        same = same && !integration->average && integration->solver == rank->members[0].setup.integration.solver;
    }
    return same && facts->coupled && !facts->other && !facts->own_step && rank->job->system->fed_count == 0;
}

/* Of `auto`: a tolerance is asked for, and nothing that one solver would not do. */
static bool should_join(const struct tutti_master *master, const struct facts *facts)
{
    return tutti_joining_is_asked(&master->rank->job->options) && can_join(master, facts);
}

/* ---- the choices ---- */

__attribute__((format(printf, 3, 4))) static void because(struct tutti_master *master, enum tutti_choice_number choice,
                                                          const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(master->chosen.reasons[choice], sizeof master->chosen.reasons[choice], format, arguments);
    va_end(arguments);
    tutti_spelling_apply(master->chosen.reasons[choice]);
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
    const struct tutti_member *blame = facts->own_step ? facts->own_step
                                       : facts->opaque ? facts->opaque
                                                       : facts->no_rollback;
    return tutti_fail(
        TUTTI_ERR_UNSUPPORTED,
        "the units of an algebraic loop cannot be coupled in a stable way: an error grows %.3g times in "
        "every step, however short it is (rho(DL) = %.3g). --correct or --coupling relax would do, but "
        "'%s' (%s) %s; use --interface me, or an FMU %s. --coupling seidel or jacobi runs it all the same",
        radius, facts->stability.rho, name_of(blame), blame->unit->fmu->path,
        facts->own_step ? "has steps of its own" : "cannot go back to the beginning of a step",
        facts->own_step ? "without a step of its own" : "with canGetAndSetFMUState, or --rollback fork");
}

/* A step that is made once, from one point to the next, in a loop. */
static enum tutti_err choose_explicit(struct tutti_master *master, const struct facts *facts,
                                      const struct tutti_coupling *coupling, const char *why,
                                      const struct tutti_member *blame)
{
    struct tutti_rank *rank = master->rank;
    char rho[64];
    double radius = coupling->waves ? facts->stability.seidel[0] : facts->stability.jacobi[0];
    bool known = facts->stability.known && !isnan(radius);
    if (known && !tutti_radius_is_stable(radius))
        return refuse_unstable(facts, radius);
    master->chosen.coupling = coupling;
    because(master, TUTTI_CHOICE_COUPLING, "'%s' %s; outputs depend on each other (%s)", name_of(blame), why,
            name_rho(facts, rho, sizeof rho));
    if (!known && facts->stability.loops > 0)
        tutti_log_printf(
            rank->log, TUTTI_LOG_WARNING, NULL,
            "there is an algebraic loop, and it is not known whether --coupling %s is stable: '%s' %s; look "
            "at the result, or use --interface me%s",
            coupling->name, name_of(blame), why, facts->own_step ? "" : " or --rollback fork");
    return TUTTI_OK;
}

static enum tutti_err choose_for_loop(struct tutti_master *master, const struct facts *facts)
{
    char rho[64];
    if (facts->own_step)
        return choose_explicit(master, facts, &tutti_coupling_jacobi, "has steps of its own", facts->own_step);
    if (!facts->opaque && facts->stability.known) {
        master->chosen.coupling = &tutti_coupling_jacobi;
        master->chosen.corrects = true;
        because(master, TUTTI_CHOICE_COUPLING, "with --correct: outputs depend on each other (%s)",
                name_rho(facts, rho, sizeof rho));
    } else if (!facts->no_rollback) {
        master->chosen.coupling = &tutti_coupling_relax;
        because(master, TUTTI_CHOICE_COUPLING, "outputs depend on each other (%s); steps can be repeated",
                name_rho(facts, rho, sizeof rho));
    } else
        return choose_explicit(master, facts, &tutti_coupling_seidel, "cannot repeat a step", facts->no_rollback);
    return TUTTI_OK;
}

static bool judges_iteration(const struct tutti_run_options *options)
{
    const struct tutti_control *control = NULL;
    return !is_auto(options->control) && tutti_control_find(options->control, &control) == TUTTI_OK &&
           control->for_iteration;
}

static enum tutti_err choose_coupling(struct tutti_master *master, const struct facts *facts)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    int how;
    TRY(tutti_option_choose("correct", options->correct_how, &how));
    master->chosen.corrects = options->correct;
    master->chosen.solves = options->correct && how == TUTTI_CORRECT_SOLVE;
    master->chosen.smooths = options->smooth;
    if (!is_auto(options->coupling))
        return tutti_coupling_find(options->coupling, &master->chosen.coupling);
    master->chosen.coupling = &tutti_coupling_jacobi;
    if (!facts->coupled)
        because(master, TUTTI_CHOICE_COUPLING, "there is one unit");
    else if (rank->job->system->constraint_count > 0) {
        master->chosen.coupling = &tutti_coupling_kinematic;
        because(master, TUTTI_CHOICE_COUPLING, "--constrain needs it");
    } else if (options->correct || options->smooth)
        because(master, TUTTI_CHOICE_COUPLING, "--correct and --smooth need it");
    else if (judges_iteration(options)) {
        master->chosen.coupling = &tutti_coupling_relax;
        because(master, TUTTI_CHOICE_COUPLING, "--control %s needs steps that are repeated", options->control);
    } else if (should_join(master, facts)) {
        master->chosen.coupling = &tutti_coupling_strong;
        because(master, TUTTI_CHOICE_COUPLING,
                "a tolerance is given, and all units %s Model Exchange: in one solver there is no error of the "
                "coupling",
                rank->joins ? "offer" : "are of");
    } else if (master->unstable.coupling && !facts->no_rollback) {
        master->chosen.coupling = &tutti_coupling_newton;
        because(master, TUTTI_CHOICE_COUPLING, "with %s errors would grow %.4g times in each step of %s",
                master->unstable.coupling->name, master->unstable.factor, NUMBER(rank->times.step));
    } else if (facts->stability.loops > 0)
        return choose_for_loop(master, facts);
    else if (facts->own_step)
        because(master, TUTTI_CHOICE_COUPLING, "'%s' has steps of its own", name_of(facts->own_step));
    else {
        master->chosen.coupling = &tutti_coupling_seidel;
        because(master, TUTTI_CHOICE_COUPLING,
                facts->stability.empty > 0 ? "there is an algebraic loop, but its gain is 0 (rho(DL) = 0)"
                                           : "no outputs depend on each other in a circle (no algebraic loop)");
    }
    return TUTTI_OK;
}

static enum tutti_err choose_control(struct tutti_master *master, const struct facts *facts)
{
    struct tutti_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    if (!is_auto(options->control))
        return tutti_control_find(options->control, &master->chosen.control);
    master->chosen.control = &tutti_control_fixed;
    if (!master->chosen.general)
        because(master, TUTTI_CHOICE_CONTROL, "there is one unit");
    else if (master->chosen.coupling->federates && tutti_quanta_are_given(options)) {
        master->chosen.control = &tutti_control_quantum;
        because(master, TUTTI_CHOICE_CONTROL, "--quantum is given: units step where their outputs have moved by it");
    } else if (master->chosen.coupling->federates)
        because(master, TUTTI_CHOICE_CONTROL, "units without a master make steps of their own, which are not judged");
    else if (joins_all(master, facts))
        because(master, TUTTI_CHOICE_CONTROL, "all units are in one solver, which controls the error");
    else if (options->has_step)
        because(master, TUTTI_CHOICE_CONTROL, "--step is given");
    else if (!wants_control(rank->job) && rank->job->system->foreign)
        because(master, TUTTI_CHOICE_CONTROL, "the file gives a step for %s, and no tolerance is given",
                rank->job->system->foreign);
    else if (!wants_control(rank->job))
        because(master, TUTTI_CHOICE_CONTROL, "FMUs propose a step, and no tolerance is given");
    else if (facts->stairs)
        because(master, TUTTI_CHOICE_CONTROL, "'%s' has a fixed internal step", name_of(facts->stairs));
    else if (facts->own_step)
        because(master, TUTTI_CHOICE_CONTROL, "'%s' has steps of its own", name_of(facts->own_step));
    else if (facts->no_rollback)
        because(master, TUTTI_CHOICE_CONTROL, "'%s' cannot repeat a step", name_of(facts->no_rollback));
    else if (!facts->has_signals)
        because(master, TUTTI_CHOICE_CONTROL, "no continuous signal to estimate an error by");
    else {
        master->chosen.control = &tutti_control_embedded;
        because(master, TUTTI_CHOICE_CONTROL, "%s, and %s",
                gives_tolerance(options) ? "a tolerance is given" : "no step is given",
                facts->coupled ? "all units can repeat a step"
                               : "the FMU, which holds its inputs in a step, can repeat it");
    }
    return TUTTI_OK;
}

static enum tutti_err choose_extrapolation(struct tutti_master *master, const struct facts *facts, unsigned *order)
{
    struct tutti_rank *rank = master->rank;
    if (!is_auto(rank->job->options.extrapolate))
        return tutti_extrapolation_find(rank->job->options.extrapolate, order);
    *order = 0;
    if (!facts->coupled)
        because(master, TUTTI_CHOICE_EXTRAPOLATE, "there is one unit");
    else if (master->chosen.coupling->federates)
        because(master, TUTTI_CHOICE_EXTRAPOLATE, "inputs are held from message to message");
    else if (master->chosen.smooths) {
        *order = 1;
        because(master, TUTTI_CHOICE_EXTRAPOLATE, "--smooth needs it");
    } else if (master->chosen.coupling->iterates) {
        *order = 1;
        because(master, TUTTI_CHOICE_EXTRAPOLATE, "a good first guess for the iteration of each step");
    } else if (joins_all(master, facts))
        because(master, TUTTI_CHOICE_EXTRAPOLATE, "all units are in one solver");
    else if (facts->stability.loops > 0 && !master->chosen.corrects)
        because(master, TUTTI_CHOICE_EXTRAPOLATE,
                "inputs are held: extrapolation could make the algebraic loop unstable");
    else if (!master->chosen.control->varies)
        because(master, TUTTI_CHOICE_EXTRAPOLATE, "steps are fixed, and inputs are held in each");
    else {
        *order = master->chosen.per_time ? 2 : 1;
        because(master, TUTTI_CHOICE_EXTRAPOLATE, "%s: %s",
                master->chosen.control->takes_quantum ? "steps end where outputs have moved by a quantum"
                                                      : "errors are controlled",
                facts->takes_slopes
                    ? "inputs move along polynomials in a step"
                    : "no unit accepts slopes of inputs, which get their values of the middle of a step");
    }
    return TUTTI_OK;
}

/* Cubics need derivatives of outputs, and units that follow them. */
static void look_at_cubics(struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    struct tutti_chosen *chosen = &master->chosen;
    const struct tutti_wires *wires = &rank->wires;
    chosen->on_lines = chosen->holding = NULL;
    for (uint32_t i = 0; i < wires->real_count && chosen->order == TUTTI_CUBIC && !chosen->on_lines; i++)
        if (wires->reals[i].smooth && !tutti_extrapolation_gives(rank, i))
            chosen->on_lines = &rank->members[wires->reals[i].component];
    for (uint32_t m = 0; m < rank->member_count && chosen->order == TUTTI_CUBIC && !chosen->holding; m++)
        if (rank->members[m].wires->gather_count > 0 && !follows(rank->units[m]))
            chosen->holding = &rank->members[m];
}

/* Will the coupling have all units there are in its solver, named by an option or not? */
static bool will_join_all(const struct tutti_master *master, const struct facts *facts)
{
    const struct tutti_run_options *options = &master->rank->job->options;
    const struct tutti_coupling *coupling = NULL;
    if (is_auto(options->coupling))
        return should_join(master, facts);
    return tutti_coupling_find(options->coupling, &coupling) == TUTTI_OK && coupling->joins && !facts->other;
}

static enum tutti_err choose_detection(struct tutti_master *master, const struct facts *facts)
{
    struct tutti_rank *rank = master->rank;
    if (!is_auto(rank->job->options.events))
        return tutti_detection_find(rank->job->options.events, &master->chosen.detection);
    master->chosen.detection = &tutti_detection_none;
    if (!master->chosen.general)
        because(master, TUTTI_CHOICE_EVENTS, "there is one unit, which crosses its own");
    else if (tutti_master_federates(rank->job))
        because(master, TUTTI_CHOICE_EVENTS, "units without a master cross their own");
    else if (facts->has_events && will_join_all(master, facts)) {
        master->chosen.detection = &tutti_detection_early;
        because(master, TUTTI_CHOICE_EVENTS,
                "there are units with events, and all are in one solver, which locates them");
    } else if (facts->own_step)
        because(master, TUTTI_CHOICE_EVENTS, "'%s' has steps of its own", name_of(facts->own_step));
    else if (facts->no_rollback && (facts->has_outputs || facts->has_events))
        because(master, TUTTI_CHOICE_EVENTS, "'%s' cannot repeat a step up to an event", name_of(facts->no_rollback));
    else if (facts->has_outputs) {
        master->chosen.detection = &tutti_detection_output;
        because(master, TUTTI_CHOICE_EVENTS, "there are discrete outputs, and all units can repeat a step");
    } else if (facts->has_events) {
        master->chosen.detection = &tutti_detection_early;
        because(master, TUTTI_CHOICE_EVENTS, "there are units with events, and all can repeat a step");
    } else
        because(master, TUTTI_CHOICE_EVENTS, "no unit has discrete outputs or events");
    return TUTTI_OK;
}

/* ---- what does not go together ---- */

/* "--rollback auto, ": a way by which a unit could go back, to be named first; "": it has been tried, or would not do. */
static const char *other_rollback(const struct tutti_member *member)
{
    if (member->setup.rollback == TUTTI_ROLLBACK_FMU)
        return member->unit->kind->interface == TUTTI_CS ? "--rollback auto, " : "--rollback fork, ";
    return member->unit->kind->interface == TUTTI_ME ? "--rollback fork, " : "";
}

static enum tutti_err refuse_no_rollback(const struct tutti_member *no_rollback, const char *option, const char *value,
                                         const char *instead)
{
    return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                      "%s %s takes units back, and '%s' (%s) cannot%s: %s; use %s%s, or an FMU with "
                      "canGetAndSetFMUState%s",
                      option, value, no_rollback->unit->name, no_rollback->unit->fmu->path,
                      can_go_back(no_rollback->unit) ? " over an event" : "",
                      no_rollback->unit->forgets ? "it does not come back to a state that it saved"
                                                 : "it does not save its state",
                      other_rollback(no_rollback), instead, no_rollback->unit->forgets ? " that keeps its word" : "");
}

/* Does the coupling take units back inside a step? */
static bool goes_back_in_step(const struct tutti_master *master)
{
    const struct tutti_coupling *coupling = master->chosen.coupling;
    return coupling->iterates || (coupling->constrains && master->rank->job->system->constraint_count > 0);
}

static enum tutti_err check_going_back(const struct tutti_master *master, const struct facts *facts)
{
    if (!facts->no_rollback)
        return TUTTI_OK;
    if (goes_back_in_step(master))
        return refuse_no_rollback(facts->no_rollback, "--coupling", master->chosen.coupling->name,
                                  can_go_back(facts->no_rollback->unit) ? "--events early"
                                  : master->chosen.coupling->constrains ? "--tlm instead of --constrain"
                                                                        : "--coupling seidel");
    if (master->chosen.control->rejects)
        return refuse_no_rollback(facts->no_rollback, "--control", master->chosen.control->name,
                                  can_go_back(facts->no_rollback->unit) ? "--events early"
                                                                        : "--control fixed or quantum");
    if (master->chosen.detection->early && !master->chosen.together)
        return refuse_no_rollback(facts->no_rollback, "--events", master->chosen.detection->name, "--events none");
    return TUTTI_OK;
}

static enum tutti_err check_own_steps(const struct tutti_master *master, const struct facts *facts)
{
    bool coupling = goes_back_in_step(master) || (master->chosen.coupling->joins && facts->own_step_me);
    const char *option = coupling                          ? "--coupling"
                         : master->chosen.varies           ? "--control"
                         : master->chosen.detection->early ? "--events"
                                                           : NULL;
    const char *value = coupling                ? master->chosen.coupling->name
                        : master->chosen.varies ? master->chosen.control->name
                                                : master->chosen.detection->name;
    if (!facts->own_step || !option)
        return TUTTI_OK;
    return tutti_fail(TUTTI_ERR_ARGUMENT,
                      "%s %s needs units that step together, and '%s' (%s) %s; use jacobi or seidel with --control "
                      "fixed and --events none",
                      option, value, facts->own_step->unit->name, facts->own_step->unit->fmu->path,
                      facts->own_step->unit->uniform ? "cannot vary its step" : "has a step of its own");
}

/* The first unit with clocks; NULL: none has. */
static const struct tutti_member *first_clocked(const struct tutti_rank *rank)
{
    for (uint32_t m = 0; rank->ticks && m < rank->member_count; m++)
        if (rank->ticks->units[m].clock_count > 0)
            return &rank->members[m];
    return NULL;
}

/* Units without a master: no step is taken back, and inputs are held. */
static enum tutti_err check_federated(const struct tutti_master *master, unsigned order)
{
    const struct tutti_chosen *chosen = &master->chosen;
    const struct tutti_member *clocked = first_clocked(master->rank);
    const struct {
        bool unfit;
        const char *option, *value, *why, *instead;
    } all[] = {
        {chosen->control->varies && !chosen->control->takes_quantum, "--control", chosen->control->name,
         "judges steps of all units together", "--control fixed or quantum"},
        {order > 0, "--extrapolate", order == 1 ? "1" : "2", "lets inputs move, which are held from message to message",
         "--extrapolate 0"},
        {chosen->detection->early, "--events", chosen->detection->name, "ends a step for all units",
         "--events none: each crosses its own, and tells"},
        {master->rank->job->is_fed && chosen->control->takes_quantum, "--join", "",
         "sets and sends values at points that all units have reached", "--control fixed"},
        {clocked != NULL, "a clock of", clocked ? name_of(clocked) : "", "ticks at points that all units have reached",
         "--coupling seidel, or another"},
        {master->rank->job->system->fed_count > 0, "--tlm", "", "has a master that computes what goes from end to end",
         "--coupling jacobi"},
    };
    for (size_t i = 0; chosen->coupling->federates && i < sizeof all / sizeof *all; i++)
        if (all[i].unfit)
            return tutti_fail(TUTTI_ERR_ARGUMENT,
                              "%s%s%s %s, and with --coupling %s each has a time of its own; use %s", all[i].option,
                              *all[i].value ? " " : "", all[i].value, all[i].why, chosen->coupling->name,
                              all[i].instead);
    return TUTTI_OK;
}

static enum tutti_err check_together(const struct tutti_master *master, const struct facts *facts, unsigned order)
{
    const struct tutti_rank *rank = master->rank;
    if (rank->job->system->constraint_count > 0 && !master->chosen.coupling->constrains)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--constrain goes with %s, not with %s",
                          couplings_that(does_constrain).text, master->chosen.coupling->name);
    if (master->chosen.control->for_iteration && !master->chosen.coupling->iterates)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--control %s judges an iteration: use it with %s",
                          master->chosen.control->name, couplings_that(does_iterate).text);
    if ((master->chosen.corrects || master->chosen.smooths) && !master->chosen.coupling->takes_correction)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s goes with %s, not with %s",
                          master->chosen.corrects ? "--correct" : "--smooth", couplings_that(does_take_correction).text,
                          master->chosen.coupling->name);
    if (order == TUTTI_CUBIC && !master->chosen.coupling->iterates)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--extrapolate 3 is a cubic between both ends of a step, and the end is known only where steps are "
            "repeated: it goes with %s, not with %s; use --extrapolate 2",
            couplings_that(does_iterate).text, master->chosen.coupling->name);
    if (order == TUTTI_CUBIC && master->chosen.last_only)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--extrapolate 3 is about whole steps, and --reevaluate last repeats a part of them only; leave one "
            "of them out");
    if (master->chosen.smooths && order == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "--smooth needs inputs that move: use --extrapolate 1 or 2");
    if (master->chosen.control->takes_quantum && !tutti_quanta_are_given(&rank->job->options))
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--control quantum needs --quantum Q: how far an output may move in a step");
    TRY(check_federated(master, order));
    TRY(check_own_steps(master, facts));
    return check_going_back(master, facts);
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
        {options->newton != NULL, "--newton"},
        {options->reevaluate != NULL, "--reevaluate"},
        {options->mode != NULL, "--mode"},
        {!controlled && tutti_quanta_are_given(options), "--quantum"},
        {options->has_divergence, "--divergence"},
        {options->has_relax_time, "--relax-time"},
        {!controlled && options->has_event_tolerance, "--event-tolerance"},
        {!controlled && options->has_h_min, "--h-min"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given)
            return all[i].option;
    return NULL;
}

/* One FMU has no other unit to be coupled with. */
static enum tutti_err check_alone(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    const char *option = coupling_option(&rank->job->options, master->chosen.general);
    if (option && rank->members[0].driven && strcmp(option, "--control") == 0)
        return tutti_fail(
            TUTTI_ERR_ARGUMENT,
            "--control %s has nothing to control: there is one FMU, and it follows its inputs inside of a "
            "step, or they change at their rows only; leave it out",
            rank->job->options.control);
    return option ? tutti_fail(TUTTI_ERR_ARGUMENT,
                               "%s is about units that are coupled, and there is only one; leave it out", option)
                  : TUTTI_OK;
}

/* Said, but not refused: an annotation may give an option for a choice that another option replaced. */
static void warn_of_idle(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    bool iterates = master->chosen.coupling->iterates, sweeps = master->chosen.coupling->sweeps;
    const struct words iterating = couplings_that(does_iterate), sweeping = couplings_that(does_sweep),
                       waving = couplings_that(does_wave), bounding = controls_that_bound_the_run();
    const struct {
        bool idle;
        const char *option, *with;
    } all[] = {
        {options->sweeps && !sweeps, "--sweeps", sweeping.text},
        {options->accelerate && !sweeps, "--accelerate", sweeping.text},
        {options->newton && master->chosen.coupling != &tutti_coupling_newton, "--newton", "--coupling newton"},
        {options->reevaluate && master->chosen.coupling != &tutti_coupling_newton, "--reevaluate", "--coupling newton"},
        {options->max_iterations > 0 && !iterates, "--max-iterations", iterating.text},
        {options->order && !master->chosen.coupling->waves, "--order", waving.text},
        {tutti_quanta_are_given(options) && !master->chosen.control->takes_quantum, "--quantum", "--control quantum"},
        {options->has_relax_time && rank->job->system->constraint_count == 0, "--relax-time", "--constrain"},
        {options->has_divergence && !master->chosen.control->takes_divergence, "--divergence", "--control diverge"},
        {options->error_per && !master->chosen.control->bounds_run, "--error-per", bounding.text},
        {options->has_h_min && !master->chosen.control->varies, "--h-min", "a --control that varies the step"},
        {options->has_event_tolerance && !master->chosen.detection->outputs, "--event-tolerance", "--events output"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].idle)
            tutti_log_printf(rank->log, TUTTI_LOG_WARNING, NULL, "%s has no effect here; it goes with %s",
                             all[i].option, all[i].with);
}

/* What --extrapolate 3 cannot be here. */
static void warn_of_cubics(const struct tutti_master *master)
{
    const struct tutti_chosen *chosen = &master->chosen;
    const struct {
        const struct tutti_member *member;
        const char *what;
    } all[] = {
        {chosen->on_lines, "gives no derivatives of its outputs, which move on lines"},
        {chosen->holding, "does not follow inputs inside of a step, and holds them"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].member)
            tutti_log_printf(master->rank->log, TUTTI_LOG_WARNING, NULL,
                             "--extrapolate 3: '%s' %s, so that the order of the coupling is not 4, but 2 at most",
                             name_of(all[i].member), all[i].what);
}

/* The unit because of which steps are fixed, and why; NULL: there is none. */
static void note_blame(struct tutti_master *master, const struct facts *facts)
{
    master->chosen.blame = facts->stairs ? facts->stairs : facts->own_step ? facts->own_step : facts->no_rollback;
    master->chosen.blame_for = facts->stairs     ? "has a fixed internal step"
                               : facts->own_step ? "has steps of its own"
                                                 : "cannot go back to the beginning of a step";
}

/* A tolerance was given, and steps are fixed because of a unit. */
static void warn_of_tolerance(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    bool coupled = tutti_system_is_coupled(rank->job->system);
    const struct tutti_run_options *options = &rank->job->options;
    const struct tutti_member *blame = master->chosen.blame;
    bool asked = options->has_rtol || options->has_atol;
    if (!asked || !blame || options->has_step || !is_auto(options->control) || master->chosen.control->varies)
        return;
    bool me = blame->unit->kind->interface == TUTTI_CS && blame->unit->fmu->desc->interfaces[TUTTI_ME].present;
    const char *back = can_go_back(blame->unit) ? "" : other_rollback(blame);
    tutti_log_insist(rank->log, TUTTI_LOG_WARNING, NULL,
                     "%s does not control the error of %s here: '%s' %s, so all steps are of %s. Use %s%s%sa --step "
                     "that is short enough (half of it should give the same result)",
                     options->has_rtol ? "--rtol" : "--atol", coupled ? "the coupling" : "inputs that are held",
                     name_of(blame), master->chosen.blame_for, NUMBER(rank->times.step), back,
                     me ? "--interface me, " : "", me || *back ? "or " : "an FMU that can save its state, or ");
}

void tutti_master_tell(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    unsigned order = master->chosen.order;
    warn_of_tolerance(master);
    if (!master->chosen.general)
        return;
    const char *const names[] = {"coupling", "control", "extrapolate", "events"};
    char orders[8];
    snprintf(orders, sizeof orders, "%u", order);
    const char *const values[] = {master->chosen.coupling->name, master->chosen.control->name, orders,
                                  master->chosen.detection->name};
    bool coupled = tutti_system_is_coupled(rank->job->system);
    for (int i = 0; i < 4; i++)
        if (master->chosen.reasons[i][0] && (coupled || i == TUTTI_CHOICE_CONTROL || i == TUTTI_CHOICE_EVENTS))
            tutti_log_printf(rank->log, TUTTI_LOG_INFO, NULL, "auto: %s %s: %s", names[i], values[i],
                             master->chosen.reasons[i]);
    warn_of_idle(master);
    warn_of_cubics(master);
}

bool tutti_master_relies_on_going_back(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    if (master->chosen.goes_back)
        return true;
    for (uint32_t m = 0; m < rank->member_count && master->chosen.corrects; m++)
        if (rank->units[m]->kind->interface == TUTTI_CS && !(rank->units[m]->can & TUTTI_CAN_DIRECTIONAL))
            return true;
    return false;
}

enum tutti_err tutti_master_choose(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    struct facts facts;
    TRY(find_facts(master, &facts));
    master->chosen.general = facts.coupled || facts.controlled;
    master->chosen.goes_back = master->chosen.by_attempts = master->chosen.together = false;
    master->chosen.table_order = facts.table_order;
    TRY(choose_detection(master, &facts));
    if (!facts.no_rollback && !master->chosen.detection->early) /* then units cross events in the middle of a step */
        facts.no_rollback = facts.fragile;
    TRY(choose_coupling(master, &facts));
    const char *reevaluate = rank->job->options.reevaluate;
    master->chosen.last_only = master->chosen.coupling == &tutti_coupling_newton && reevaluate &&
                               strcmp(reevaluate, "last") == 0;
    TRY(choose_control(master, &facts));
    master->chosen.varies = master->chosen.control->varies && !master->chosen.coupling->federates;
    const char *per = rank->job->options.error_per;
    master->chosen.per_time = master->chosen.control->bounds_run && !master->chosen.smooths &&
                              !(per && strcmp(per, "step") == 0);
    TRY(choose_extrapolation(master, &facts, &master->chosen.order));
    look_at_cubics(master);
    if (!facts.coupled)
        TRY(check_alone(master));
    master->chosen.blame = NULL;
    if (facts.coupled || facts.table_order > 0)
        note_blame(master, &facts);
    if (!master->chosen.general)
        return TUTTI_OK;
    master->chosen.together = joins_all(master, &facts) && !master->chosen.control->rejects &&
                              !master->chosen.detection->outputs;
    TRY(check_together(master, &facts, master->chosen.order));
    master->chosen.goes_back = goes_back_in_step(master) || master->chosen.control->rejects ||
                               (master->chosen.detection->early && !master->chosen.together);
    master->chosen.by_attempts = master->chosen.goes_back || master->chosen.together || master->chosen.varies ||
                                 master->chosen.order > 0 || rank->job->options.step_log ||
                                 rank->job->system->fed_count > 0;
    return TUTTI_OK;
}

/* ---- steps that are not small ---- */

/* Beyond these an analysis takes longer than it is worth. */
enum { MOST_STATES = 100, MOST_SIGNALS = 100 };
/* In a whole run. What grows less is no reason to pay for more than one do-step per step. */
static const double MOST_GROWTH = 100;

/* Is there a way back from a unit to itself? Else errors of a coupling are handed on, and do not grow. */
static enum tutti_err has_cycle(const struct tutti_master *master, bool *cycle)
{
    struct tutti_stages stages;
    *cycle = false;
    TRY(tutti_stages_init(&stages, &master->running));
    for (uint32_t i = 0; i < stages.count; i++)
        *cycle = *cycle || stages.items[i].cyclic;
    tutti_stages_fini(&stages);
    return TUTTI_OK;
}

/* Small systems of Model Exchange units, where `auto` is free to take another coupling. */
static bool can_be_analysed(const struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    const struct tutti_chosen *chosen = &master->chosen;
    size_t states = 0;
    bool seen = true;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        states += rank->units[m]->fmu->desc->state_count;
        seen = seen && rank->units[m]->kind->interface == TUTTI_ME && !rank->members[m].has_grid &&
               !rank->members[m].setup.integration.average;
    }
    return chosen->general && tutti_system_is_coupled(rank->job->system) && is_auto(rank->job->options.coupling) &&
           chosen->coupling->by_lane && !chosen->control->varies && !rank->job->options.correct && !chosen->smooths &&
           rank->job->system->fed_count == 0 && seen && states <= MOST_STATES &&
           rank->wires.real_count <= MOST_SIGNALS && !rank->ended;
}

static enum tutti_err measure_growth(struct tutti_master *master, double *factor, bool *stable)
{
    struct tutti_rank *rank = master->rank;
    enum tutti_step_method method = master->chosen.corrects          ? TUTTI_STEP_CORRECT
                                    : master->chosen.coupling->waves ? TUTTI_STEP_SEIDEL
                                                                     : TUTTI_STEP_JACOBI;
    struct tutti_linear_model model = {0};
    enum tutti_err err = tutti_linear_model_init(&model, rank, &master->running, &master->sequence, false);
    if (!err)
        err = tutti_step_is_stable(&model.system, method, master->chosen.order, rank->times.step, factor, stable);
    tutti_linear_model_fini(&model);
    return err;
}

enum tutti_err tutti_master_reconsider(struct tutti_master *master)
{
    struct tutti_rank *rank = master->rank;
    bool cycle, stable = true;
    double factor = 1;
    if (!can_be_analysed(master))
        return TUTTI_OK;
    TRY(has_cycle(master, &cycle));
    enum tutti_err err = cycle ? measure_growth(master, &factor, &stable) : TUTTI_OK;
    if (err && err != TUTTI_ERR_UNSUPPORTED && err != TUTTI_ERR_SOLVER && err != TUTTI_ERR_LIMIT)
        return err;
    bool unstable = !err && !stable && log(factor) * rank->span / rank->times.step > log(MOST_GROWTH);
    TRY(tutti_agree_any(rank, &unstable));
    if (!unstable)
        return TUTTI_OK;
    master->unstable = (struct tutti_unstable){master->chosen.coupling, factor};
    return tutti_master_choose(master);
}
