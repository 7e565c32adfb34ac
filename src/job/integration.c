/* SPDX-License-Identifier: MIT */
#include "job/integration.h"

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "options/words.h"

/* So that no event is leapt over in one long step of a solver that has nothing to do. */
enum { LEAST_STEPS = 50 };

enum tutti_err tutti_interface_choose(const struct tutti_run_options *options, enum tutti_interface_choice *choice)
{
    int place;
    TRY(tutti_option_choose("interface", options->interface, &place));
    *choice = (enum tutti_interface_choice)place;
    if (*choice == TUTTI_INTERFACE_CS && options->solver)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--solver %s is for Model Exchange; with --interface cs the FMU uses its own solver",
                          options->solver);
    return TUTTI_OK;
}

/* One solver has the states of all units. */
static bool joins_units(const struct tutti_run_options *options)
{
    return options->coupling && strcmp(options->coupling, "strong") == 0;
}

enum tutti_err tutti_interface_find(const struct tutti_run_options *options, const struct tutti_fmu *fmu, bool alone,
                                    const struct tutti_unit_kind **kind)
{
    enum tutti_interface_choice choice;
    TRY(tutti_interface_choose(options, &choice));
    bool has = fmu->desc->interfaces[TUTTI_ME].present;
    bool prefers = ((options->solver || options->sensitivity_count > 0) && (alone || has)) ||
                   (joins_units(options) && has && !alone) || (options->prefers_exchange && has);
    return tutti_unit_kind_for(fmu, choice, prefers, kind);
}

static enum tutti_err only_me(bool given, const char *option)
{
    return given ? tutti_fail(TUTTI_ERR_ARGUMENT,
                              "%s is for Model Exchange; this run uses Co-Simulation, where the FMU has its own solver "
                              "(--interface me, if the FMU has that)",
                              option)
                 : TUTTI_OK;
}

enum tutti_err tutti_integration_refuse(const struct tutti_run_options *options, bool coupled)
{
    TRY(only_me((options->has_atol && !coupled) || options->unit_atol_count > 0, "--atol"));
    TRY(only_me(options->has_h_first, "--h-first"));
    TRY(only_me(options->max_order > 0, "--max-order"));
    TRY(only_me(options->linear_solver != NULL, "--linear-solver"));
    TRY(only_me(options->has_solver_step, "--solver-step"));
    TRY(only_me(options->has_h_max && !coupled, "--h-max"));
    TRY(only_me(options->predictor != NULL, "--predictor"));
    TRY(only_me(options->jacobian != NULL, "--jacobian"));
    TRY(only_me(options->filter != NULL, "--filter"));
    TRY(only_me(options->sensitivity_count > 0, "--sensitivity"));
    return options->extra ? tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations need Model Exchange") : TUTTI_OK;
}

enum filter {
#define LISTED(name, word, meaning) FILTER_##name,
    TUTTI_FILTERS(LISTED)
};

static enum tutti_err read_words(struct tutti_integration *integration, const struct tutti_run_options *options,
                                 bool disturbed)
{
    int place;
    /* Where inputs change on the way, the method that corrects its predictor takes a fraction of the steps (docs/solvers.md
     * has the table). Taken back, it goes on as it was, where others begin anew: that shows in outputs, and error control
     * would take it for an error of the coupling. So would a run show that goes on from a checkpoint. */
    bool goes_on = options->checkpoint || options->resume || options->recover > 0;
    bool continues = disturbed || joins_units(options);
    integration->solver = continues || goes_on ? &tutti_solver_bdf : tutti_solver_kinds[0];
    if (options->solver)
        TRY(tutti_solver_find(options->solver, &integration->solver));
    else if (goes_on && !continues)
        integration->replaced = tutti_solver_kinds[0];
    TRY(tutti_option_choose("predictor", options->predictor, &place));
    integration->predictor = (enum tutti_predictor)place;
    TRY(tutti_option_choose("jacobian", options->jacobian, &place));
    integration->jacobian = (enum tutti_jacobian_mode)place;
    TRY(tutti_option_choose("linear-solver", options->linear_solver, &place));
    integration->linear = (enum tutti_linear_solver)place;
    integration->max_order = (int)options->max_order;
    TRY(tutti_option_choose("filter", options->filter, &place));
    integration->average = place == FILTER_AVERAGE;
    return TUTTI_OK;
}

static enum tutti_err resolve_tolerances(struct tutti_integration *integration, const struct tutti_run_options *options,
                                         double tolerance)
{
    integration->rtol = tolerance > 0 && isfinite(tolerance) ? tolerance : TUTTI_DEFAULT_RTOL;
    integration->atol = options->has_atol ? options->atol : integration->rtol / 100;
    integration->by_size = !options->has_atol;
    if (!integration->solver->fixed && integration->rtol < DBL_EPSILON)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "a relative tolerance of %s asks for more digits than a number has; use a larger --rtol "
                          "(1e-12 is very precise)",
                          NUMBER(integration->rtol));
    return TUTTI_OK;
}

static enum tutti_err resolve_steps(struct tutti_integration *integration, const struct tutti_run_options *options,
                                    const struct tutti_times *times, bool coupled)
{
    if (options->has_solver_step && !integration->solver->fixed)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--solver-step is for fixed-step solvers; %s chooses its own steps (--h-max bounds them)",
                          integration->solver->name);
    if (options->has_h_max && integration->solver->fixed && !coupled)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "--h-max is for solvers that choose their steps; %s has a fixed one (--solver-step)",
                          integration->solver->name);
    integration->h_fixed = options->has_solver_step ? options->solver_step : times->step;
    integration->h_max = options->has_h_max ? options->h_max : (times->stop - times->start) / LEAST_STEPS;
    integration->h_first = options->has_h_first ? options->h_first : 0;
    TRY(tutti_times_check_step(times, integration->h_fixed, "--solver-step"));
    return tutti_times_check_step(times, integration->h_max, "--h-max");
}

/* A program's own equations: what can be told before anything runs. */
static enum tutti_err check_extra(const struct tutti_extra *extra, const struct tutti_run_options *options,
                                  const struct tutti_solver_kind *solver)
{
    if (!extra)
        return TUTTI_OK;
    /* Their `jacobian` leaves out how they follow the FMU's states, which costs Newton's method an iteration at most. */
    if (solver->exact && extra->count > 0 && extra->jacobian)
        return tutti_fail(
            TUTTI_ERR_UNSUPPORTED,
            "--solver %s needs the whole Jacobian of its equations, and that of %s has second derivatives "
            "of the FMU, which FMUs do not offer; without them its steps would be of order 1. Use --solver "
            "radau5, bdf or cvode",
            solver->name, options->sensitivity_count > 0 ? "--sensitivity" : "extra equations");
    if (extra->count > INT32_MAX / 2)
        return tutti_fail(TUTTI_ERR_LIMIT, "%zu extra equations; the limit is %d", extra->count, INT32_MAX / 2);
    if (extra->count > 0 && !extra->rhs)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations without a right-hand side");
    if (!extra->structure != !extra->jacobian)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations: `structure` and `jacobian` go together");
    if (extra->output_count > 0 && (!extra->output || !extra->output_names))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations: %zu outputs without names or without a function",
                          extra->output_count);
    for (size_t i = 0; i < extra->output_count; i++)
        if (!extra->output_names[i])
            return tutti_fail(TUTTI_ERR_ARGUMENT, "extra equations: output %zu has no name", i + 1);
    return TUTTI_OK;
}

enum tutti_err tutti_integration_resolve(struct tutti_integration *integration, const struct tutti_run_options *options,
                                         const struct tutti_times *times, double tolerance, bool disturbed,
                                         bool coupled)
{
    *integration = (struct tutti_integration){0};
    TRY(read_words(integration, options, disturbed));
    TRY(check_extra(options->extra, options, integration->solver));
    integration->extra = options->extra;
    TRY(resolve_tolerances(integration, options, tolerance));
    return resolve_steps(integration, options, times, coupled);
}
