/* SPDX-License-Identifier: MIT */
#include "sim/compatibility.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "sim/requested.h"
#include "sim/control/control.h"
#include "sim/control/quantum.h"
#include "sim/coupling/coupling.h"
#include "sim/ticks.h"

/* ---- words ---- */

/* "--coupling seidel or relax": kinds that an option goes with. */
struct option_words {
    char text[128];
};

static void add_option_word(struct option_words *words, const char *option, const char *name)
{
    size_t used = strlen(words->text);
    snprintf(words->text + used, sizeof words->text - used, "%s%s", used == 0 ? option : " or ", name);
}

static bool coupling_iterates(const struct tt_coupling *coupling)
{
    return coupling->iterates;
}

static bool coupling_sweeps(const struct tt_coupling *coupling)
{
    return coupling->sweeps;
}

static bool coupling_is_sequential(const struct tt_coupling *coupling)
{
    return coupling->waves;
}

static bool coupling_takes_correction(const struct tt_coupling *coupling)
{
    return coupling->takes_correction;
}

static bool does_take_smoothing(const struct tt_coupling *coupling)
{
    return coupling->takes_smoothing;
}

static bool coupling_constrains(const struct tt_coupling *coupling)
{
    return coupling->constrains;
}

static struct option_words list_couplings(bool (*do_it)(const struct tt_coupling *))
{
    struct option_words words = {""};
    for (size_t i = 0; tt_coupling_at(i); i++)
        if (do_it(tt_coupling_at(i)))
            add_option_word(&words, "--coupling ", tt_coupling_at(i)->name);
    return words;
}

static struct option_words list_run_bounding_controls(void)
{
    struct option_words words = {""};
    for (size_t i = 0; tt_control_at(i); i++)
        if (tt_control_at(i)->bounds_run)
            add_option_word(&words, "--control ", tt_control_at(i)->name);
    return words;
}

/* ---- what is refused ---- */

/* "--rollback auto, ": a way by which a unit could go back, to be named first; "": it has been tried, or would not do. */
static const char *suggest_rollback(const struct tt_member *member)
{
    if (member->setup.rollback == TUTTI_ROLLBACK_FMU || member->setup.rollback == TUTTI_ROLLBACK_REJECT)
        return member->unit->kind->interface == TUTTI_CS ? "--rollback auto, " : "--rollback fork, ";
    return member->unit->kind->interface == TUTTI_ME ? "--rollback fork, " : "";
}

static enum tutti_err reject_no_rollback(const struct tt_member *no_rollback, const char *option, const char *value,
                                         const char *instead)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "%s %s takes units back, and '%s' (%s) cannot%s: %s; use %s%s, or an FMU with "
                   "canGetAndSetFMUState%s",
                   option, value, no_rollback->unit->name, no_rollback->unit->fmu->path,
                   tt_traits_can_roll_back(no_rollback->unit) ? " over an event" : "",
                   no_rollback->unit->forgets ? "it does not come back to a state that it saved"
                                              : "it does not save its state",
                   suggest_rollback(no_rollback), instead, no_rollback->unit->forgets ? " that keeps its word" : "");
}

bool tt_compatibility_rolls_back(const struct tt_sim *master)
{
    const struct tt_coupling *coupling = master->chosen.coupling;
    return coupling->iterates || (coupling->constrains && master->rank->job->system->constraint_count > 0);
}

static enum tutti_err compatibility_check_rollback(const struct tt_sim *master, const struct tt_traits *facts)
{
    if (!facts->no_rollback)
        return TUTTI_OK;
    if (tt_compatibility_rolls_back(master))
        return reject_no_rollback(facts->no_rollback, "--coupling", master->chosen.coupling->name,
                                  tt_traits_can_roll_back(facts->no_rollback->unit) ? "--events early"
                                  : master->chosen.coupling->constrains             ? "--tlm instead of --constrain"
                                                                                    : "--coupling seidel");
    if (master->chosen.control->rejects)
        return reject_no_rollback(facts->no_rollback, "--control", master->chosen.control->name,
                                  tt_traits_can_roll_back(facts->no_rollback->unit) ? "--events early"
                                                                                    : "--control fixed or quantum");
    if (master->chosen.detection->early && !master->chosen.together)
        return reject_no_rollback(facts->no_rollback, "--events", master->chosen.detection->name, "--events none");
    return TUTTI_OK;
}

static enum tutti_err check_separate_steps(const struct tt_sim *master, const struct tt_traits *facts)
{
    bool coupling = tt_compatibility_rolls_back(master) || (master->chosen.coupling->joins && facts->own_step_me);
    const char *option = coupling                          ? "--coupling"
                         : master->chosen.varies           ? "--control"
                         : master->chosen.detection->early ? "--events"
                                                           : NULL;
    const char *value = coupling                ? master->chosen.coupling->name
                        : master->chosen.varies ? master->chosen.control->name
                                                : master->chosen.detection->name;
    if (!facts->own_step || !option)
        return TUTTI_OK;
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "%s %s needs units that step together, and '%s' (%s) %s; use jacobi or seidel with --control "
                   "fixed and --events none",
                   option, value, facts->own_step->unit->name, facts->own_step->unit->fmu->path,
                   facts->own_step->unit->uniform ? "cannot vary its step" : "has a step of its own");
}

/* Units without a master: no step is taken back, and inputs are held. */
static enum tutti_err check_federated_options(const struct tt_sim *master, unsigned order)
{
    const struct tt_method *chosen = &master->chosen;
    const struct tt_rank *rank = master->rank;
    const struct tt_member *clocked = NULL; /* the first unit with clocks */
    for (uint32_t m = 0; rank->ticks && !clocked && m < rank->member_count; m++)
        if (rank->ticks->units[m].clock_count > 0)
            clocked = &rank->members[m];
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
        {clocked != NULL, "a clock of", clocked ? tt_traits_member_name(clocked) : "",
         "ticks at points that all units have reached", "--coupling seidel, or another"},
        {master->rank->job->system->fed_count > 0, "--tlm", "", "has a master that computes what goes from end to end",
         "--coupling jacobi"},
    };
    for (size_t i = 0; chosen->coupling->federates && i < sizeof all / sizeof *all; i++)
        if (all[i].unfit)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s%s%s %s, and with --coupling %s each has a time of its own; use %s",
                           all[i].option, *all[i].value ? " " : "", all[i].value, all[i].why, chosen->coupling->name,
                           all[i].instead);
    return TUTTI_OK;
}

enum tutti_err tt_compatibility_check(const struct tt_sim *master, const struct tt_traits *facts, unsigned order)
{
    const struct tt_rank *rank = master->rank;
    if (rank->job->system->constraint_count > 0 && !master->chosen.coupling->constrains)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--constrain goes with %s, not with %s",
                       list_couplings(coupling_constrains).text, master->chosen.coupling->name);
    if (master->chosen.control->for_iteration && !master->chosen.coupling->iterates)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--control %s judges an iteration: use it with %s",
                       master->chosen.control->name, list_couplings(coupling_iterates).text);
    if (master->chosen.corrects && !master->chosen.coupling->takes_correction)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--correct goes with %s, not with %s",
                       list_couplings(coupling_takes_correction).text, master->chosen.coupling->name);
    if (master->chosen.smooths && !master->chosen.coupling->takes_smoothing)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--smooth goes with %s, not with %s",
                       list_couplings(does_take_smoothing).text, master->chosen.coupling->name);
    if (order == TUTTI_CUBIC && !master->chosen.coupling->iterates)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--extrapolate 3 is a cubic between both ends of a step, and the end is known only where steps are "
            "repeated: it goes with %s, not with %s; use --extrapolate 2",
            list_couplings(coupling_iterates).text, master->chosen.coupling->name);
    if (order == TUTTI_CUBIC && master->chosen.last_only)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--extrapolate 3 is about whole steps, and --reevaluate last repeats a part of them only; leave one "
            "of them out");
    if (master->chosen.smooths && order == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "--smooth needs inputs that move: use --extrapolate 1 or 2");
    if (master->chosen.control->takes_quantum && !tt_quantum_is_requested(&rank->job->options))
        return tt_fail(TUTTI_ERR_ARGUMENT, "--control quantum needs --quantum Q: how far an output may move in a step");
    TRY(check_federated_options(master, order));
    TRY(check_separate_steps(master, facts));
    return compatibility_check_rollback(master, facts);
}

/* Returns the first option that concerns coupled units; NULL if there is none. A single unit makes fixed steps in any
 * case, unless these are `controlled`. If a table drives the unit, --control is useful with different tables. */
static const char *first_coupling_option(const struct tutti_run_options *options, bool controlled, bool driven)
{
    const struct {
        bool given;
        const char *option;
    } all[] = {
        {!tt_choose_is_auto(options->coupling), "--coupling"},
        {!controlled && !driven && !tt_choose_is_auto(options->control) &&
             strcmp(options->control, tt_control_fixed.name) != 0,
         "--control"},
        {!tt_choose_is_auto(options->extrapolate), "--extrapolate"},
        {!controlled && !tt_choose_is_auto(options->events), "--events"},
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

enum tutti_err tt_compatibility_check_alone(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    bool controlled = master->chosen.general, driven = rank->members[0].driven;
    const char *option = first_coupling_option(options, controlled, driven);
    if (option)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s is about units that are coupled, and there is only one; leave it out",
                       option);
    if (!controlled && driven && !tt_choose_is_auto(options->control) &&
        strcmp(options->control, tt_control_fixed.name) != 0)
        tt_log_unfiltered(
            rank->log, TUTTI_LOG_WARNING, NULL,
            "--control %s has no effect: there is one FMU, and it follows its inputs inside a step, or they "
            "change at their rows only",
            options->control);
    return TUTTI_OK;
}

/* ---- advice and warnings ---- */

const char *tt_compatibility_suggest_rollback(const struct tt_member *member)
{
    return tt_traits_can_roll_back(member->unit) ? "" : suggest_rollback(member);
}

/* Said, but not refused: an annotation may give an option for a choice that another option replaced. */
static void warn_unused_options(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    const struct tutti_run_options *options = &rank->job->options;
    bool iterates = master->chosen.coupling->iterates, sweeps = master->chosen.coupling->sweeps;
    const struct option_words iterating = list_couplings(coupling_iterates), sweeping = list_couplings(coupling_sweeps),
                              waving = list_couplings(coupling_is_sequential), bounding = list_run_bounding_controls();
    const struct {
        bool idle;
        const char *option, *with;
    } all[] = {
        {options->sweeps && !sweeps, "--sweeps", sweeping.text},
        {options->accelerate && !sweeps, "--accelerate", sweeping.text},
        {options->newton && master->chosen.coupling != &tt_coupling_newton, "--newton", "--coupling newton"},
        {options->reevaluate && master->chosen.coupling != &tt_coupling_newton, "--reevaluate", "--coupling newton"},
        {options->max_iterations > 0 && !iterates, "--max-iterations", iterating.text},
        {options->order && !master->chosen.coupling->waves, "--order", waving.text},
        {tt_quantum_is_requested(options) && !master->chosen.control->takes_quantum, "--quantum", "--control quantum"},
        {options->has_relax_time && rank->job->system->constraint_count == 0, "--relax-time", "--constrain"},
        {options->has_divergence && !master->chosen.control->takes_divergence, "--divergence", "--control diverge"},
        {options->error_per && !master->chosen.control->bounds_run, "--error-per", bounding.text},
        {options->has_h_min && !master->chosen.control->varies, "--h-min", "a --control that varies the step"},
        {options->has_event_tolerance && !master->chosen.detection->outputs, "--event-tolerance", "--events output"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].idle)
            tt_log(rank->log, TUTTI_LOG_WARNING, NULL, "%s has no effect here; it goes with %s", all[i].option,
                   all[i].with);
}

/* Warns that --extrapolate 3 is impossible here. */
static void warn_no_cubic(const struct tt_sim *master)
{
    const struct tt_method *chosen = &master->chosen;
    const struct {
        const struct tt_member *member;
        const char *what;
    } all[] = {
        {chosen->on_lines, "gives no derivatives of its outputs, which move on lines"},
        {chosen->holding, "does not follow inputs inside of a step, and holds them"},
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].member)
            tt_log(master->rank->log, TUTTI_LOG_WARNING, NULL,
                   "--extrapolate 3: '%s' %s, so that the order of the coupling is not 4, but 2 at most",
                   tt_traits_member_name(all[i].member), all[i].what);
}

/* A tolerance was given, and steps are fixed because of a unit. */
static void warn_unused_tolerance(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    bool coupled = tt_system_is_coupled(rank->job->system);
    const struct tutti_run_options *options = &rank->job->options;
    const struct tt_member *blame = master->chosen.blame;
    bool asked = options->has_rtol || options->has_atol;
    if (!asked || !blame || options->has_step || !tt_choose_is_auto(options->control) || master->chosen.control->varies)
        return;
    bool me = blame->unit->kind->interface == TUTTI_CS && blame->unit->fmu->desc->interfaces[TUTTI_ME].present;
    const char *back = tt_compatibility_suggest_rollback(blame);
    tt_log_unfiltered(rank->log, TUTTI_LOG_WARNING, NULL,
                      "%s does not control the error of %s here: '%s' %s, so all steps are of %s. Use %s%s%sa --step "
                      "that is short enough (half of it should give the same result)",
                      options->has_rtol ? "--rtol" : "--atol", coupled ? "the coupling" : "inputs that are held",
                      tt_traits_member_name(blame), master->chosen.blame_for, NUMBER(rank->times.step), back,
                      me ? "--interface me, " : "", me || *back ? "or " : "an FMU that can save its state, or ");
}

void tt_compatibility_log_method(const struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    unsigned order = master->chosen.order;
    warn_unused_tolerance(master);
    if (!master->chosen.general)
        return;
    const char *const names[] = {"coupling", "control", "extrapolate", "events"};
    char orders[8];
    snprintf(orders, sizeof orders, "%u", order);
    const char *const values[] = {master->chosen.coupling->name, master->chosen.control->name, orders,
                                  master->chosen.detection->name};
    bool coupled = tt_system_is_coupled(rank->job->system), asked = !tt_choose_is_auto(rank->job->options.control);
    for (int i = 0; i < 4; i++)
        if (master->chosen.reasons[i][0] && !(asked && i == TUTTI_CHOICE_CONTROL) &&
            (coupled || i == TUTTI_CHOICE_CONTROL || i == TUTTI_CHOICE_EVENTS))
            tt_log(rank->log, TUTTI_LOG_INFO, NULL, "auto: %s %s: %s", names[i], values[i], master->chosen.reasons[i]);
    warn_unused_options(master);
    warn_no_cubic(master);
}
