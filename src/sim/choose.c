/* SPDX-License-Identifier: MIT */
#include "sim/choose.h"

#include <math.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "sim/control/control.h"
#include "sim/control/quantum.h"
#include "sim/coupling/correction.h"
#include "sim/coupling/coupling.h"
#include "sim/job/integration.h"
#include "solve/solver.h"

/* A choice while it is made. */
struct choice {
    const struct tutti_run_options *options;
    const struct tt_traits *traits;
    struct tt_method *method;
    bool coupled;
    enum tt_choice_number now; /* the choice that a reason is for */
    char loop[64];             /* "algebraic loop, rho(DL) = 0.5", for a reason */
    /* The first component of each kind; NULL: there is none. */
    const struct tt_component_traits *no_rollback; /* cannot go back, or not across an event that is not located */
    const struct tt_component_traits *own_step, *own_step_me, *stairs, *averages, *opaque, *other; /* other: not ME */
};

static const struct tt_component_traits *find_component(const struct tt_traits *traits, unsigned with, unsigned without)
{
    for (uint32_t c = 0; c < traits->count; c++)
        if ((traits->components[c].is & with) == with && !(traits->components[c].is & without))
            return &traits->components[c];
    return NULL;
}

static void set(const struct choice *choice, enum tt_method_trait trait, bool is)
{
    choice->method->is = (choice->method->is & ~(unsigned)trait) | (is ? trait : 0u);
}

/* ---- words ---- */

__attribute__((format(printf, 2, 3))) static void because(const struct choice *choice, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(choice->method->reasons[choice->now], sizeof choice->method->reasons[0], format, arguments);
    va_end(arguments);
}

__attribute__((format(printf, 3, 4))) static enum tutti_err refuse(const struct choice *choice, enum tutti_err err,
                                                                   const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(choice->method->refusal, sizeof choice->method->refusal, format, arguments);
    va_end(arguments);
    return err;
}

/* "--coupling seidel or relax": kinds that an option goes with. */
struct option_words {
    char text[128];
};

static void add_option_word(struct option_words *words, const char *option, const char *name)
{
    size_t used = strlen(words->text);
    snprintf(words->text + used, sizeof words->text - used, "%s%s", used == 0 ? option : " or ", name);
}

/* `flag`: where struct tt_coupling has it. */
static struct option_words list_couplings(size_t flag)
{
    struct option_words words = {""};
    for (size_t i = 0; tt_coupling_at(i); i++)
        if (*(const bool *)((const char *)tt_coupling_at(i) + flag))
            add_option_word(&words, "--coupling ", tt_coupling_at(i)->name);
    return words;
}
#define COUPLINGS(flag) list_couplings(offsetof(struct tt_coupling, flag))

/* ---- what options ask for ---- */

/* Returns true if an option bounds errors or steps. */
static bool requests_tolerance(const struct tutti_run_options *options)
{
    return options->has_rtol || options->has_atol || options->has_h_min || options->has_h_max;
}

/* A step that is given, or that the file of another tool proposes, is taken, unless a tolerance is given. */
static bool requests_varying_steps(const struct choice *choice)
{
    return !choice->options->has_step &&
           (requests_tolerance(choice->options) || !(choice->traits->is & TUTTI_SYSTEM_STEP_PROPOSED) ||
            !choice->traits->foreign);
}

/* Of one FMU: a tolerance, or a control that varies steps. */
static bool requests_control(const struct tutti_run_options *options)
{
    if (!tt_integration_is_auto(options->control))
        return strcmp(options->control, tt_control_fixed.name) != 0;
    return !options->has_step && (options->has_rtol || options->has_atol);
}

/* NULL: the choice is left to `auto`. */
static const struct tt_coupling *requested_coupling(const struct tutti_run_options *options)
{
    const struct tt_coupling *coupling = NULL;
    return !tt_integration_is_auto(options->coupling) && tt_coupling_find(options->coupling, &coupling) == TUTTI_OK
               ? coupling
               : NULL;
}

static const struct tt_control *requested_control(const struct tutti_run_options *options)
{
    const struct tt_control *control = NULL;
    return !tt_integration_is_auto(options->control) && tt_control_find(options->control, &control) == TUTTI_OK
               ? control
               : NULL;
}

static bool requests_federation(const struct choice *choice)
{
    const struct tt_coupling *coupling = requested_coupling(choice->options);
    return choice->coupled && coupling && coupling->federates;
}

/* Of `auto`: a tolerance is given, and one solver can have all components and would do all that is asked for. */
static bool should_join(const struct choice *choice)
{
    return tt_integration_may_join(choice->options) && (choice->traits->is & TUTTI_SYSTEM_SAME_SOLVER) &&
           choice->coupled && !choice->other && !choice->own_step && !(choice->traits->is & TUTTI_SYSTEM_FED);
}

/* Before the coupling is chosen: returns true if it will have all components in one solver. */
static bool will_join_all(const struct choice *choice)
{
    const struct tt_coupling *coupling = requested_coupling(choice->options);
    if (tt_integration_is_auto(choice->options->coupling))
        return should_join(choice);
    return coupling && coupling->joins && !choice->other;
}

/* Returns true if the chosen coupling has all components in one solver. */
static bool all_join(const struct choice *choice)
{
    return choice->method->coupling->joins && !choice->other;
}

/* Returns true if the coupling takes components back inside a step. */
static bool coupling_rolls_back(const struct choice *choice)
{
    const struct tt_coupling *coupling = choice->method->coupling;
    return coupling->iterates || (coupling->constrains && (choice->traits->is & TUTTI_SYSTEM_CONSTRAINED));
}

/* ---- events ---- */

static enum tutti_err choose_detection(const struct choice *choice)
{
    struct tt_method *method = choice->method;
    bool discrete = choice->traits->is & TUTTI_SYSTEM_DISCRETE;
    bool events = find_component(choice->traits, TUTTI_TRAIT_EVENTS, 0);
    if (!tt_integration_is_auto(choice->options->events))
        return tt_detector_find_kind(choice->options->events, &method->detection);
    method->detection = &tt_detection_none;
    if (!(method->is & TUTTI_METHOD_GENERAL))
        because(choice, "there is one unit, which crosses its own");
    else if (requests_federation(choice))
        because(choice, "units without a master cross their own");
    else if (events && will_join_all(choice)) {
        method->detection = &tt_detection_early;
        because(choice, "there are units with events, and all are in one solver, which locates them");
    } else if (choice->own_step)
        because(choice, "'%s' has steps of its own", choice->own_step->name);
    else if (choice->no_rollback && (discrete || events))
        because(choice, "'%s' cannot repeat a step up to an event", choice->no_rollback->name);
    else if (discrete) {
        method->detection = &tt_detection_output;
        because(choice, "there are discrete outputs, and all units can repeat a step");
    } else if (events) {
        method->detection = &tt_detection_early;
        because(choice, "there are units with events, and all can repeat a step");
    } else
        because(choice, "no unit has discrete outputs or events");
    return TUTTI_OK;
}

/* ---- the coupling ---- */

/* A coupling that is known to be unstable is taken only if an option names it. */
static enum tutti_err reject_unstable(const struct choice *choice, double radius)
{
    const struct tt_component_traits *blame = choice->own_step ? choice->own_step
                                              : choice->opaque ? choice->opaque
                                                               : choice->no_rollback;
    return refuse(choice, TUTTI_ERR_UNSUPPORTED,
                  "the units of an algebraic loop cannot be coupled in a stable way: an error grows %.3g times in "
                  "every step, however short it is (rho(DL) = %.3g). --correct or --coupling relax would do, but "
                  "'%s' (%s) %s; use --interface me, or an FMU %s. --coupling seidel or jacobi runs it all the same",
                  radius, choice->traits->radii.rho, blame->name, blame->path,
                  choice->own_step ? "has steps of its own" : "cannot go back to the beginning of a step",
                  choice->own_step ? "without a step of its own" : "with canGetAndSetFMUState, or --rollback fork");
}

/* A step that is made once, from one point to the next, in a loop. */
static enum tutti_err choose_explicit(const struct choice *choice, const struct tt_coupling *coupling, const char *why,
                                      const struct tt_component_traits *blame)
{
    const struct tt_radii *radii = &choice->traits->radii;
    double radius = coupling->waves ? radii->seidel[0] : radii->jacobi[0];
    bool known = radii->known && !isnan(radius);
    if (known && !tt_stability_is_stable_radius(radius))
        return reject_unstable(choice, radius);
    choice->method->coupling = coupling;
    because(choice, "'%s' %s; outputs depend on each other (%s)", blame->name, why, choice->loop);
    if (!known && radii->loops > 0)
        snprintf(choice->method->warning, sizeof choice->method->warning,
                 "there is an algebraic loop, and it is not known whether --coupling %s is stable: '%s' %s; look "
                 "at the result, or use --interface me%s",
                 coupling->name, blame->name, why, choice->own_step ? "" : " or --rollback fork");
    return TUTTI_OK;
}

static enum tutti_err choose_for_loop(const struct choice *choice)
{
    struct tt_method *method = choice->method;
    if (choice->own_step)
        return choose_explicit(choice, &tt_coupling_jacobi, "has steps of its own", choice->own_step);
    if (!choice->opaque && choice->traits->radii.known) {
        method->coupling = &tt_coupling_jacobi;
        set(choice, TUTTI_METHOD_CORRECTS, true);
        because(choice, "with --correct: outputs depend on each other (%s)", choice->loop);
    } else if (!choice->no_rollback) {
        method->coupling = &tt_coupling_relax;
        because(choice, "outputs depend on each other (%s); steps can be repeated", choice->loop);
    } else
        return choose_explicit(choice, &tt_coupling_seidel, "cannot repeat a step", choice->no_rollback);
    return TUTTI_OK;
}

static enum tutti_err choose_coupling(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const struct tt_traits *traits = choice->traits;
    const struct tt_control *control = requested_control(options);
    struct tt_method *method = choice->method;
    int how;
    TRY(tt_options_choose("correct", options->correct_how, &how));
    set(choice, TUTTI_METHOD_CORRECTS, options->correct);
    set(choice, TUTTI_METHOD_SOLVES, options->correct && how == TUTTI_CORRECT_SOLVE);
    set(choice, TUTTI_METHOD_SMOOTHS, options->smooth);
    if (!tt_integration_is_auto(options->coupling))
        return tt_coupling_find(options->coupling, &method->coupling);
    method->coupling = &tt_coupling_jacobi;
    if (!choice->coupled)
        because(choice, "there is one unit");
    else if (traits->is & TUTTI_SYSTEM_CONSTRAINED) {
        method->coupling = &tt_coupling_kinematic;
        because(choice, "--constrain needs it");
    } else if (options->correct || options->smooth)
        because(choice, "--correct and --smooth need it");
    else if (control && control->for_iteration) {
        method->coupling = &tt_coupling_relax;
        because(choice, "--control %s needs steps that are repeated", options->control);
    } else if (should_join(choice)) {
        method->coupling = &tt_coupling_strong;
        because(choice,
                "a tolerance is given, and all units %s Model Exchange: in one solver there is no error of the "
                "coupling",
                traits->is & TUTTI_SYSTEM_JOINED ? "offer" : "are of");
    } else if (traits->unstable.coupling && !choice->no_rollback) {
        method->coupling = &tt_coupling_newton;
        because(choice, "with %s errors would grow %.4g times in each step of %s", traits->unstable.coupling->name,
                traits->unstable.factor, NUMBER(traits->step));
    } else if (traits->radii.loops > 0)
        return choose_for_loop(choice);
    else if (choice->own_step)
        because(choice, "'%s' has steps of its own", choice->own_step->name);
    else {
        method->coupling = &tt_coupling_seidel;
        because(choice, traits->radii.empty > 0 ? "there is an algebraic loop, but its gain is 0 (rho(DL) = 0)"
                                                : "no outputs depend on each other in a circle (no algebraic loop)");
    }
    return TUTTI_OK;
}

/* An explicit coupling by name. Outputs in an algebraic loop belong to inputs of a step before: they are late by a part
 * of the step that no power of it makes smaller, and each change of the step makes them jump. So a tolerance of the run
 * needs steps of the size of the tolerance, and estimates take the jumps for noise. With correction neither happens. */
static void adapt_to_loops(const struct choice *choice)
{
    /* Sweeps over a loop whose gain is near 1 converge slowly: with 0.8, ten leave a tenth of an error, and no step is
     * short enough. */
    static const double SLOW = 0.8;
    struct tt_method *method = choice->method;
    const struct tt_coupling *coupling = method->coupling;
    const struct tt_radii *radii = &choice->traits->radii;
    bool loops = (method->is & TUTTI_METHOD_PER_TIME) && radii->loops > 0;
    bool late = loops && !(method->is & TUTTI_METHOD_CORRECTS) && !coupling->iterates && !all_join(choice);
    bool corrects = late && coupling->takes_correction && !choice->opaque && radii->known && !choice->averages;
    bool slow = coupling->sweeps && loops && !choice->options->accelerate && radii->known && radii->rho > SLOW;
    set(choice, TUTTI_METHOD_LATE, late && !corrects);
    set(choice, TUTTI_METHOD_ACCELERATES, slow);
    if (corrects) {
        set(choice, TUTTI_METHOD_CORRECTS, true);
        because(choice,
                "as asked for, with --correct, without which the tolerance cannot be kept: "
                "outputs depend on each other (%s)",
                choice->loop);
    }
    if (slow)
        because(choice, "with --accelerate anderson: sweeps converge slowly (%s)", choice->loop);
}

/* ---- control ---- */

static enum tutti_err choose_control(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const struct tt_traits *traits = choice->traits;
    struct tt_method *method = choice->method;
    if (!tt_integration_is_auto(options->control)) {
        TRY(tt_control_find(options->control, &method->control));
        if (method->control->takes_quantum) /* which judges no errors, as others that vary steps do */
            because(choice, "as asked for: steps end where the first output has moved by a quantum");
        return TUTTI_OK;
    }
    method->control = &tt_control_fixed;
    if (!(method->is & TUTTI_METHOD_GENERAL))
        because(choice, "there is one unit");
    else if (method->coupling->federates && tt_quantum_is_requested(options)) {
        method->control = &tt_control_quantum;
        because(choice, "--quantum is given: units step where their outputs have moved by it");
    } else if (method->coupling->federates)
        because(choice, "units without a master make steps of their own, which are not judged");
    else if (all_join(choice))
        because(choice, "all units are in one solver, which controls the error");
    else if (options->has_step)
        because(choice, "--step is given");
    else if (!requests_varying_steps(choice))
        because(choice, "the file gives a step for %s, and no tolerance is given", traits->foreign);
    else if (choice->stairs)
        because(choice, "'%s' has a fixed internal step", choice->stairs->name);
    else if (choice->averages)
        because(choice, "outputs of '%s' are averages over a step, which depend on its size", choice->averages->name);
    else if (choice->own_step)
        because(choice, "'%s' has steps of its own", choice->own_step->name);
    else if (choice->no_rollback)
        because(choice, "'%s' cannot repeat a step", choice->no_rollback->name);
    else if (!(traits->is & TUTTI_SYSTEM_CONTINUOUS))
        because(choice, "no continuous signal to estimate an error by");
    else {
        method->control = &tt_control_embedded;
        because(choice, "%s, and %s",
                requests_tolerance(options)               ? "a tolerance is given"
                : traits->is & TUTTI_SYSTEM_STEP_PROPOSED ? "FMUs only propose a step"
                                                          : "no step is given",
                choice->coupled ? "all units can repeat a step"
                                : "the FMU, whose inputs are approximated in a step, can repeat it");
    }
    return TUTTI_OK;
}

/* ---- extrapolation ---- */

static enum tutti_err choose_extrapolation(const struct choice *choice)
{
    const struct tt_traits *traits = choice->traits;
    struct tt_method *method = choice->method;
    if (!tt_integration_is_auto(choice->options->extrapolate))
        return tt_extrapolation_parse_order(choice->options->extrapolate, &method->order);
    method->order = 0;
    if (!choice->coupled)
        because(choice, "there is one unit");
    else if (method->coupling->federates)
        because(choice, "inputs are held from message to message");
    else if (method->is & TUTTI_METHOD_SMOOTHS) {
        method->order = 1;
        because(choice, "--smooth needs it");
    } else if (method->coupling->iterates) {
        method->order = 1;
        because(choice, "a good first guess for the iteration of each step");
    } else if (all_join(choice))
        because(choice, "all units are in one solver");
    else if (traits->radii.loops > 0 && !(method->is & TUTTI_METHOD_CORRECTS))
        because(choice, "inputs are held: extrapolation could make the algebraic loop unstable");
    else if (!method->control->varies && (traits->is & TUTTI_SYSTEM_DELAYED)) {
        method->order = 1;
        because(choice,
                "--tlm: the force at the end of a line follows its velocity, which would be of order 1 if held");
    } else if (!method->control->varies)
        because(choice, "steps are fixed, and inputs are held in each");
    else {
        method->order = (method->is & TUTTI_METHOD_PER_TIME) ? 2 : 1;
        because(choice, "%s: %s",
                method->control->takes_quantum ? "steps end where outputs have moved by a quantum"
                                               : "errors are controlled",
                find_component(traits, TUTTI_TRAIT_FOLLOWS, 0)
                    ? "inputs move along polynomials in a step"
                    : "no unit accepts slopes of inputs, which get their values of the middle of a step");
    }
    return TUTTI_OK;
}

/* ---- what does not go together ---- */

/* "--rollback auto, ": a way by which a component could go back, to be named first; "": it has been tried, or would not
 * do. */
static const char *suggest_rollback(const struct tt_component_traits *component)
{
    bool exchange = component->is & TUTTI_TRAIT_EXCHANGE;
    if (component->rollback == TUTTI_ROLLBACK_FMU || component->rollback == TUTTI_ROLLBACK_REJECT)
        return exchange ? "--rollback fork, " : "--rollback auto, ";
    return exchange ? "--rollback fork, " : "";
}

const char *tt_choose_suggest_rollback(const struct tt_component_traits *component)
{
    return component->is & TUTTI_TRAIT_ROLLBACK ? "" : suggest_rollback(component);
}

static enum tutti_err reject_no_rollback(const struct choice *choice, const char *option, const char *value,
                                         const char *instead)
{
    const struct tt_component_traits *blame = choice->no_rollback;
    bool forgets = blame->is & TUTTI_TRAIT_FORGETS;
    return refuse(choice, TUTTI_ERR_UNSUPPORTED,
                  "%s %s takes units back, and '%s' (%s) cannot%s: %s; use %s%s, or an FMU with "
                  "canGetAndSetFMUState%s",
                  option, value, blame->name, blame->path, blame->is & TUTTI_TRAIT_ROLLBACK ? " over an event" : "",
                  forgets ? "it does not come back to a state that it saved" : "it does not save its state",
                  suggest_rollback(blame), blame->is & TUTTI_TRAIT_ROLLBACK ? "--events early" : instead,
                  forgets ? " that keeps its word" : "");
}

static enum tutti_err check_rollback(const struct choice *choice)
{
    const struct tt_method *method = choice->method;
    if (!choice->no_rollback)
        return TUTTI_OK;
    if (coupling_rolls_back(choice))
        return reject_no_rollback(choice, "--coupling", method->coupling->name,
                                  method->coupling->constrains ? "--tlm instead of --constrain" : "--coupling seidel");
    if (method->control->rejects)
        return reject_no_rollback(choice, "--control", method->control->name, "--control fixed or quantum");
    if (method->detection->early && !(method->is & TUTTI_METHOD_TOGETHER))
        return reject_no_rollback(choice, "--events", method->detection->name, "--events none");
    return TUTTI_OK;
}

static enum tutti_err check_separate_steps(const struct choice *choice)
{
    const struct tt_method *method = choice->method;
    bool coupling = coupling_rolls_back(choice) || (method->coupling->joins && choice->own_step_me);
    const char *option = coupling                             ? "--coupling"
                         : (method->is & TUTTI_METHOD_VARIES) ? "--control"
                         : method->detection->early           ? "--events"
                                                              : NULL;
    const char *value = coupling                             ? method->coupling->name
                        : (method->is & TUTTI_METHOD_VARIES) ? method->control->name
                                                             : method->detection->name;
    if (!choice->own_step || !option)
        return TUTTI_OK;
    return refuse(choice, TUTTI_ERR_ARGUMENT,
                  "%s %s needs units that step together, and '%s' (%s) %s; use jacobi or seidel with --control "
                  "fixed and --events none",
                  option, value, choice->own_step->name, choice->own_step->path,
                  choice->own_step->is & TUTTI_TRAIT_UNIFORM ? "cannot vary its step" : "has a step of its own");
}

/* Components without a master: no step is taken back, and inputs are held. */
static enum tutti_err check_federated_options(const struct choice *choice)
{
    const struct tt_method *method = choice->method;
    const struct tt_component_traits *clocked = find_component(choice->traits, TUTTI_TRAIT_CLOCKS, 0);
    const struct {
        bool unfit;
        const char *option, *value, *why, *instead;
    } all[] = {
        {method->control->varies && !method->control->takes_quantum, "--control", method->control->name,
         "judges steps of all units together", "--control fixed or quantum"},
        {method->order > 0, "--extrapolate", method->order == 1 ? "1" : "2",
         "lets inputs move, which are held from message to message", "--extrapolate 0"},
        {method->detection->early, "--events", method->detection->name, "ends a step for all units",
         "--events none: each crosses its own, and tells"},
        {(choice->traits->is & TUTTI_SYSTEM_FEDERATE) && method->control->takes_quantum, "--join", "",
         "sets and sends values at points that all units have reached", "--control fixed"},
        {clocked != NULL, "a clock of", clocked ? clocked->name : "", "ticks at points that all units have reached",
         "--coupling seidel, or another"},
        {choice->traits->is & TUTTI_SYSTEM_FED, "--tlm", "", "has a master that computes what goes from end to end",
         "--coupling jacobi"},
    };
    for (size_t i = 0; method->coupling->federates && i < sizeof all / sizeof *all; i++)
        if (all[i].unfit)
            return refuse(choice, TUTTI_ERR_ARGUMENT,
                          "%s%s%s %s, and with --coupling %s each has a time of its own; use %s", all[i].option,
                          *all[i].value ? " " : "", all[i].value, all[i].why, method->coupling->name, all[i].instead);
    return TUTTI_OK;
}

static enum tutti_err check_combination(const struct choice *choice)
{
    const struct tt_method *method = choice->method;
    const struct tt_coupling *coupling = method->coupling;
    if ((choice->traits->is & TUTTI_SYSTEM_CONSTRAINED) && !coupling->constrains)
        return refuse(choice, TUTTI_ERR_ARGUMENT, "--constrain goes with %s, not with %s", COUPLINGS(constrains).text,
                      coupling->name);
    if (method->control->for_iteration && !coupling->iterates)
        return refuse(choice, TUTTI_ERR_ARGUMENT, "--control %s judges an iteration: use it with %s",
                      method->control->name, COUPLINGS(iterates).text);
    if ((method->is & TUTTI_METHOD_CORRECTS) && !coupling->takes_correction)
        return refuse(choice, TUTTI_ERR_ARGUMENT, "--correct goes with %s, not with %s",
                      COUPLINGS(takes_correction).text, coupling->name);
    if ((method->is & TUTTI_METHOD_SMOOTHS) && !coupling->takes_smoothing)
        return refuse(choice, TUTTI_ERR_ARGUMENT, "--smooth goes with %s, not with %s", COUPLINGS(takes_smoothing).text,
                      coupling->name);
    if (method->order == TUTTI_CUBIC && !coupling->iterates)
        return refuse(
            choice, TUTTI_ERR_ARGUMENT,
            "--extrapolate 3 is a cubic between both ends of a step, and the end is known only where steps are "
            "repeated: it goes with %s, not with %s; use --extrapolate 2",
            COUPLINGS(iterates).text, coupling->name);
    if (method->order == TUTTI_CUBIC && (method->is & TUTTI_METHOD_LAST_ONLY))
        return refuse(choice, TUTTI_ERR_ARGUMENT,
                      "--extrapolate 3 is about whole steps, and --reevaluate last repeats a part of them only; leave "
                      "one of them out");
    if ((method->is & TUTTI_METHOD_SMOOTHS) && method->order == 0)
        return refuse(choice, TUTTI_ERR_ARGUMENT, "--smooth needs inputs that move: use --extrapolate 1 or 2");
    if (method->control->takes_quantum && !tt_quantum_is_requested(choice->options))
        return refuse(choice, TUTTI_ERR_ARGUMENT,
                      "--control quantum needs --quantum Q: how far an output may move in a step");
    TRY(check_federated_options(choice));
    TRY(check_separate_steps(choice));
    return check_rollback(choice);
}

/* The first of the options that are about components that are coupled; NULL: there is none. One FMU makes fixed steps
 * anyway, unless these are controlled. Where a table drives the FMU, --control makes sense with other tables. */
static const char *first_coupling_option(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    bool controlled = (choice->method->is & TUTTI_METHOD_GENERAL), driven = choice->traits->is & TUTTI_SYSTEM_DRIVEN;
    const struct {
        bool given;
        const char *option;
    } all[] = {
        {!tt_integration_is_auto(options->coupling), "--coupling"},
        {!controlled && !driven && !tt_integration_is_auto(options->control) &&
             strcmp(options->control, tt_control_fixed.name) != 0,
         "--control"},
        {!tt_integration_is_auto(options->extrapolate), "--extrapolate"},
        {!controlled && !tt_integration_is_auto(options->events), "--events"},
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
        {!controlled && tt_quantum_is_requested(options), "--quantum"},
        {options->has_divergence, "--divergence"},
        {options->has_relax_time, "--relax-time"},
        {!controlled && options->has_event_tolerance, "--event-tolerance"},
        {!controlled && !driven && options->has_h_min, "--h-min"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].given)
            return all[i].option;
    return NULL;
}

/* One FMU has no other one to be coupled with. */
static enum tutti_err check_alone(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const char *option = first_coupling_option(choice);
    if (option)
        return refuse(choice, TUTTI_ERR_ARGUMENT,
                      "%s is about units that are coupled, and there is only one; leave it out", option);
    if (!(choice->method->is & TUTTI_METHOD_GENERAL) && (choice->traits->is & TUTTI_SYSTEM_DRIVEN) &&
        !tt_integration_is_auto(options->control) && strcmp(options->control, tt_control_fixed.name) != 0) {
        set(choice, TUTTI_METHOD_ALWAYS_WARNS, true);
        snprintf(choice->method->warning, sizeof choice->method->warning,
                 "--control %s has no effect: there is one FMU, and it follows its inputs inside a step, or they "
                 "change at their rows only",
                 options->control);
    }
    return TUTTI_OK;
}

/* ---- what the opening of components needs ---- */

/* Returns true if errors of macro steps use up a part of the tolerance. */
static bool shares_tolerance(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const struct tt_coupling *coupling = requested_coupling(options);
    const struct tt_control *control = requested_control(options);
    const struct tt_solver_kind *solver = NULL;
    if (!choice->coupled || requests_federation(choice))
        return false;
    if (!tt_integration_is_auto(options->control))
        return control && control->rejects;
    if (!coupling || !coupling->joins || choice->other)
        return requests_varying_steps(choice);
    /* Errors of one solver add up over the run as those of steps do: it gets the same part as where `auto` chose it. A
     * solver whose steps cannot be taken back would get a far smaller one, for steps that restart, but makes none. */
    bool goes_back = !options->solver || tt_solver_find(options->solver, &solver) != TUTTI_OK || solver->saved_size ||
                     !solver->multistep;
    return (options->has_rtol || options->has_atol) && goes_back;
}

/* Returns true if the options ask for a method that takes components back, which `auto` may only prefer. Components
 * that save no state are then forked. */
static bool requests_rollback(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const struct tt_coupling *coupling = requested_coupling(options);
    const struct tt_control *control = requested_control(options);
    const struct tt_detection *detection = NULL;
    if (!choice->coupled)
        return requests_control(options);
    if (requests_federation(choice))
        return false; /* what would is refused */
    if (tt_integration_is_auto(options->control) && !options->has_step && (options->has_rtol || options->has_atol))
        return true;
    if ((control && (control->rejects || control->for_iteration)) || (coupling && coupling->iterates) ||
        (choice->traits->is & TUTTI_SYSTEM_CONSTRAINED))
        return true;
    return !tt_integration_is_auto(options->events) && tt_detector_find_kind(options->events, &detection) == TUTTI_OK &&
           detection->early;
}

static void choose_opening(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const struct tt_coupling *coupling = requested_coupling(options);
    struct tt_method *method = choice->method;
    bool held = options->extrapolate && strcmp(options->extrapolate, "0") == 0;
    set(choice, TUTTI_METHOD_SHARES_TOLERANCE, shares_tolerance(choice));
    set(choice, TUTTI_METHOD_MOVES_INPUTS, !held || !coupling || coupling->iterates);
    set(choice, TUTTI_METHOD_FORKS, requests_rollback(choice));
    set(choice, TUTTI_METHOD_FREE_STEPS, requests_federation(choice));
    set(choice, TUTTI_METHOD_NEEDS_LOOPS,
        tt_integration_is_auto(options->coupling) || tt_integration_is_auto(options->extrapolate) ||
            (method->is & TUTTI_METHOD_SHARES_TOLERANCE)); /* loops of couplings by name are corrected, too */
}

/* ---- all of it ---- */

/* How ranks exchange what the chosen method needs. */
static void choose_exchange(const struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const struct tt_method *method = choice->method;
    const struct tt_coupling *coupling = method->coupling;
    bool corrects = method->is & TUTTI_METHOD_CORRECTS, smooths = method->is & TUTTI_METHOD_SMOOTHS;
    bool all_at_once = coupling->iterates && options->sweeps && strcmp(options->sweeps, "jacobi") == 0;
    set(choice, TUTTI_METHOD_IN_SEQUENCE, coupling->waves && !all_at_once);
    set(choice, TUTTI_METHOD_DEFERS_EXCHANGE,
        options->mode && strcmp(options->mode, "prudent") == 0 && coupling->may_defer_exchange &&
            (method->is & TUTTI_METHOD_GOES_BACK) && !corrects && !smooths);
    /* Iterations, corrections and what Tutti feeds are computed by every rank alike, from the same values: all of
     * them. */
    set(choice, TUTTI_METHOD_ALL_SIGNALS,
        coupling->iterates || coupling->joins || corrects || (choice->traits->is & TUTTI_SYSTEM_READ));
}

static enum tutti_err choose_all(struct choice *choice)
{
    const struct tutti_run_options *options = choice->options;
    const struct tt_traits *traits = choice->traits;
    struct tt_method *method = choice->method;
    set(choice, TUTTI_METHOD_COUPLED, choice->coupled);
    /* One FMU for which a tolerance cannot be kept makes fixed steps, with a warning; a control by name is refused. */
    bool able = !choice->no_rollback && !choice->own_step && !choice->stairs && (traits->is & TUTTI_SYSTEM_CONTINUOUS);
    bool controlled = traits->table_order > 0 && requests_control(options) &&
                      (able || !tt_integration_is_auto(options->control));
    set(choice, TUTTI_METHOD_GENERAL, choice->coupled || controlled);
    method->table_order = traits->table_order;
    choice->now = TUTTI_CHOICE_EVENTS;
    TRY(choose_detection(choice));
    if (!choice->no_rollback && !method->detection->early) /* then events are crossed in the middle of a step */
        choice->no_rollback = find_component(traits, TUTTI_TRAIT_FRAGILE, 0);
    choice->now = TUTTI_CHOICE_COUPLING;
    TRY(choose_coupling(choice));
    set(choice, TUTTI_METHOD_LAST_ONLY,
        method->coupling == &tt_coupling_newton && options->reevaluate && strcmp(options->reevaluate, "last") == 0);
    choice->now = TUTTI_CHOICE_CONTROL;
    TRY(choose_control(choice));
    set(choice, TUTTI_METHOD_VARIES, method->control->varies && !method->coupling->federates);
    set(choice, TUTTI_METHOD_PER_TIME,
        method->control->bounds_run && !(method->is & TUTTI_METHOD_SMOOTHS) &&
            !(options->error_per && strcmp(options->error_per, "step") == 0));
    choice->now = TUTTI_CHOICE_COUPLING;
    adapt_to_loops(choice);
    choice->now = TUTTI_CHOICE_EXTRAPOLATE;
    TRY(choose_extrapolation(choice));
    if (method->order == TUTTI_CUBIC) {
        method->on_lines = find_component(traits, TUTTI_TRAIT_NO_RATES, 0);
        method->holding = find_component(traits, TUTTI_TRAIT_HOLDS, 0);
    }
    set(choice, TUTTI_METHOD_ROWS_BY_STEP,
        (method->is & TUTTI_METHOD_VARIES) && tt_integration_is_auto(options->control) &&
            (traits->is & TUTTI_SYSTEM_STEP_PROPOSED) && !requests_tolerance(options) && !options->has_output_step);
    if (!choice->coupled)
        TRY(check_alone(choice));
    if (choice->coupled || traits->table_order > 0) {
        method->fixed_by = choice->stairs ? choice->stairs : choice->own_step ? choice->own_step : choice->no_rollback;
        method->fixed_because = choice->stairs     ? "has a fixed internal step"
                                : choice->own_step ? "has steps of its own"
                                                   : "cannot go back to the beginning of a step";
    }
    if (method->is & TUTTI_METHOD_GENERAL) {
        set(choice, TUTTI_METHOD_TOGETHER,
            all_join(choice) && !method->control->rejects && !method->detection->outputs);
        TRY(check_combination(choice));
        set(choice, TUTTI_METHOD_GOES_BACK,
            coupling_rolls_back(choice) || method->control->rejects ||
                (method->detection->early && !(method->is & TUTTI_METHOD_TOGETHER)));
        set(choice, TUTTI_METHOD_BY_ATTEMPTS,
            (method->is & TUTTI_METHOD_GOES_BACK) || (method->is & TUTTI_METHOD_TOGETHER) ||
                (method->is & TUTTI_METHOD_VARIES) || method->order > 0 || options->step_log ||
                (traits->is & TUTTI_SYSTEM_FED));
        choose_exchange(choice);
    }
    set(choice, TUTTI_METHOD_RELIES_ON_ROLLBACK,
        (method->is & TUTTI_METHOD_GOES_BACK) ||
            ((method->is & TUTTI_METHOD_CORRECTS) && find_component(traits, TUTTI_TRAIT_TRIALS, 0)));
    return TUTTI_OK;
}

void tt_choose_method(const struct tutti_run_options *options, const struct tt_traits *traits, struct tt_method *method)
{
    struct choice choice = {
        .options = options,
        .traits = traits,
        .method = method,
        .coupled = traits->is & TUTTI_SYSTEM_COUPLED,
        .no_rollback = find_component(traits, 0, TUTTI_TRAIT_ROLLBACK),
        .own_step = find_component(traits, TUTTI_TRAIT_OWN_STEP, 0),
        .own_step_me = find_component(traits, TUTTI_TRAIT_OWN_STEP | TUTTI_TRAIT_EXCHANGE, 0),
        .stairs = find_component(traits, TUTTI_TRAIT_STAIRS, 0),
        .averages = find_component(traits, TUTTI_TRAIT_AVERAGES, 0),
        .opaque = find_component(traits, TUTTI_TRAIT_OPAQUE, 0),
        .other = find_component(traits, 0, TUTTI_TRAIT_EXCHANGE),
    };
    bool known = traits->radii.known && isfinite(traits->radii.rho);
    snprintf(choice.loop, sizeof choice.loop,
             known ? "algebraic loop, rho(DL) = %.3g" : "algebraic loop, rho(DL) unknown", traits->radii.rho);
    *method = (struct tt_method){0};
    choose_opening(&choice);
    method->error = choose_all(&choice);
    if (method->error && !method->refusal[0]) /* a word that an option does not take */
        refuse(&choice, method->error, "%s", tutti_err_message());
}

const char *const tt_choose_names[TUTTI_CHOICES] = {"coupling", "control", "extrapolate", "events"};

const char *tt_choose_value(const struct tt_method *method, enum tt_choice_number number)
{
    static const char *const orders[] = {"0", "1", "2", "3"};
    switch (number) {
    case TUTTI_CHOICE_COUPLING: return method->is & TUTTI_METHOD_COUPLED ? method->coupling->name : "none";
    case TUTTI_CHOICE_CONTROL: return method->control->name;
    case TUTTI_CHOICE_EXTRAPOLATE: return orders[method->order];
    case TUTTI_CHOICE_EVENTS: return method->detection->name;
    case TUTTI_CHOICES: break;
    }
    return "";
}

/* ---- warnings ---- */

__attribute__((format(printf, 3, 4))) static void add_warning(struct tt_method_warnings *warnings, bool always,
                                                              const char *format, ...)
{
    va_list arguments;
    if (warnings->count == sizeof warnings->items / sizeof *warnings->items)
        return;
    va_start(arguments, format);
    vsnprintf(warnings->items[warnings->count].text, sizeof warnings->items[0].text, format, arguments);
    va_end(arguments);
    warnings->items[warnings->count++].always = always;
}

/* A tolerance was given, and steps are fixed because of a component. */
static void warn_unused_tolerance(const struct tutti_run_options *options, const struct tt_traits *traits,
                                  const struct tt_method *method, struct tt_method_warnings *warnings)
{
    const struct tt_component_traits *blame = method->fixed_by;
    bool given = options->has_rtol || options->has_atol;
    if (!given || !blame || options->has_step || !tt_integration_is_auto(options->control) || method->control->varies)
        return;
    bool me = blame->is & TUTTI_TRAIT_OFFERS_EXCHANGE;
    const char *back = tt_choose_suggest_rollback(blame);
    add_warning(warnings, true,
                "%s does not control the error of %s here: '%s' %s, so all steps are of %s. Use %s%s%sa --step "
                "that is short enough (half of it should give the same result)",
                options->has_rtol ? "--rtol" : "--atol",
                traits->is & TUTTI_SYSTEM_COUPLED ? "the coupling" : "inputs that are held", blame->name,
                method->fixed_because, NUMBER(traits->step), back, me ? "--interface me, " : "",
                me || *back ? "or " : "an FMU that can save its state, or ");
}

/* These are no errors: an annotation may give an option for a choice that another option replaced. */
static void warn_unused_options(const struct tutti_run_options *options, const struct tt_traits *traits,
                                const struct tt_method *method, struct tt_method_warnings *warnings)
{
    const struct tt_coupling *coupling = method->coupling;
    const struct option_words iterating = COUPLINGS(iterates), sweeping = COUPLINGS(sweeps), waving = COUPLINGS(waves);
    struct option_words bounding = {""};
    for (size_t i = 0; tt_control_at(i); i++)
        if (tt_control_at(i)->bounds_run)
            add_option_word(&bounding, "--control ", tt_control_at(i)->name);
    const struct {
        bool idle;
        const char *option, *with;
    } all[] = {
        {options->sweeps && !coupling->sweeps, "--sweeps", sweeping.text},
        {options->accelerate && !coupling->sweeps, "--accelerate", sweeping.text},
        {options->newton && coupling != &tt_coupling_newton, "--newton", "--coupling newton"},
        {options->reevaluate && coupling != &tt_coupling_newton, "--reevaluate", "--coupling newton"},
        {options->max_iterations > 0 && !coupling->iterates, "--max-iterations", iterating.text},
        {options->order && !coupling->waves, "--order", waving.text},
        {tt_quantum_is_requested(options) && !method->control->takes_quantum, "--quantum", "--control quantum"},
        {options->has_relax_time && !(traits->is & TUTTI_SYSTEM_CONSTRAINED), "--relax-time", "--constrain"},
        {options->has_divergence && !method->control->takes_divergence, "--divergence", "--control diverge"},
        {options->error_per && !method->control->bounds_run, "--error-per", bounding.text},
        {options->has_h_min && !method->control->varies, "--h-min", "a --control that varies the step"},
        {options->has_event_tolerance && !method->detection->outputs, "--event-tolerance", "--events output"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].idle)
            add_warning(warnings, false, "%s has no effect here; it goes with %s", all[i].option, all[i].with);
}

void tt_choose_list_warnings(const struct tutti_run_options *options, const struct tt_traits *traits,
                             const struct tt_method *method, struct tt_method_warnings *warnings)
{
    *warnings = (struct tt_method_warnings){.count = 0};
    warn_unused_tolerance(options, traits, method, warnings);
    if (!(method->is & TUTTI_METHOD_GENERAL))
        return;
    warn_unused_options(options, traits, method, warnings);
    const struct {
        const struct tt_component_traits *component;
        const char *what;
    } no_cubic[] = {
        {method->on_lines, "gives no derivatives of its outputs, which move on lines"},
        {method->holding, "does not follow inputs inside of a step, and holds them"},
    };
    for (size_t i = 0; i < sizeof no_cubic / sizeof *no_cubic; i++)
        if (no_cubic[i].component)
            add_warning(warnings, false,
                        "--extrapolate 3: '%s' %s, so that the order of the coupling is not 4, but 2 at most",
                        no_cubic[i].component->name, no_cubic[i].what);
}
