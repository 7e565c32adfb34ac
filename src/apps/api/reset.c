/* SPDX-License-Identifier: MIT */
#include "apps/api/reset.h"

#include <stdlib.h>
#include <string.h>

#include "fmu/instance.h"
#include "sim/execution_run.h"
#include "unit/program/program_module.h"

/* At the start, and after each of two macro steps. */
enum { MOMENTS = 3 };

struct reset_values {
    struct tt_library *library;
    uint32_t *variables; /* `count` of them */
    size_t count;
    struct tt_signals moments[MOMENTS];
    unsigned taken;
    bool refused;
};

/* ---- libraries ---- */

/* Iterates over the loaded libraries; NULL at the end. */
static struct tt_library *next_library(const struct tt_job *job, size_t *at)
{
    const struct tt_system *system = job->system;
    struct tt_library *library = NULL;
    while (!library && system && *at < (size_t)system->fmu_count * TUTTI_INTERFACE_COUNT) {
        library = system->fmus[*at / TUTTI_INTERFACE_COUNT]->libraries[*at % TUTTI_INTERFACE_COUNT];
        ++*at;
    }
    return library;
}

void tt_reset_enable(const struct tt_job *job, bool keeps)
{
    struct tt_library *library;
    for (size_t at = 0; (library = next_library(job, &at));)
        keeps = keeps && strcmp(library->interface->model_identifier, TUTTI_PROGRAM_IDENTIFIER) != 0;
    for (size_t at = 0; (library = next_library(job, &at));)
        library->keeps = keeps;
}

/* ---- a short run ---- */

/* Disables logs and results of the trial. */
static struct tt_job silence_instances(const struct tt_job *job)
{
    struct tt_job quiet = *job;
    quiet.result = NULL;
    quiet.options.output = quiet.options.step_log = NULL;
    quiet.options.watcher = NULL;
    quiet.options.log = NULL;
    quiet.options.progress = NULL;
    quiet.options.load = NULL;
    quiet.options.finished = NULL;
    quiet.options.has_realtime = false;
    return quiet;
}

/* Inputs keep the values that were set, and some FMUs do not return them. */
static enum tutti_err reset_list_variables(const struct tt_unit *unit, struct reset_values *look)
{
    const struct tt_description *desc = unit->fmu->desc;
    look->library = unit->fmu->libraries[unit->kind->interface];
    look->variables = calloc((size_t)desc->var_count + 1, sizeof *look->variables);
    if (!look->variables)
        return tt_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality != TUTTI_INPUT && desc->vars[v].causality != TUTTI_INDEPENDENT)
            look->variables[look->count++] = v;
    return TUTTI_OK;
}

static enum tutti_err reset_read_values(struct tt_unit *unit, struct reset_values *look)
{
    struct tt_signals *signals = &look->moments[look->taken];
    if (look->taken == 0)
        TRY(reset_list_variables(unit, look));
    TRY(tt_unit_signals(unit, look->variables, look->count, signals));
    look->taken++;
    for (size_t b = 0; b < signals->block_count && !look->refused; b++) {
        TRY(unit->kind->ask(unit, &signals->blocks[b], &look->refused));
        if (!look->refused)
            TRY(tt_signals_own(&signals->blocks[b]));
    }
    return TUTTI_OK;
}

static enum tutti_err reset_run_steps(struct tt_execution *execution, struct reset_values *looks)
{
    struct tt_rank *rank = &execution->rank;
    TRY(tt_execution_start(execution, true));
    for (int moment = 0; moment < MOMENTS; moment++) {
        if (moment > 0)
            TRY(tt_run_until_end(&execution->loop));
        for (uint32_t m = 0; m < rank->member_count; m++)
            TRY(reset_read_values(rank->members[m].unit, &looks[m]));
    }
    return TUTTI_OK;
}

static enum tutti_err run_briefly(const struct tt_job *job, struct reset_values *looks)
{
    struct tt_job quiet = silence_instances(job);
    struct tutti_run_stats stats = {0};
    struct tt_execution execution = {.rank = {.job = &quiet, .stats = &stats}};
    enum tutti_err err = tt_execution_close(&execution, reset_run_steps(&execution, looks));
    tt_stats_fini(&stats);
    return err;
}

/* ---- judging ---- */

static bool reset_is_same(const struct tt_var *var, const struct tt_signals *a, const struct tt_signals *b, size_t i)
{
    enum tt_type type = (enum tt_type)var->type;
    if (a->extents[i] != b->extents[i])
        return false;
    return tt_type_is_text(type) ? tt_signals_owned_equal(type, a->slots[i], b->slots[i], a->extents[i])
                                 : memcmp(a->slots[i], b->slots[i], a->extents[i] * a->sizes[i]) == 0;
}

/* The first variable of a unit that is not as in a new instance; TUTTI_NONE: all are. */
static uint32_t find_reset_difference(const struct tt_description *desc, const struct reset_values *fresh,
                                      const struct reset_values *again)
{
    for (unsigned moment = 0; moment < MOMENTS; moment++)
        for (size_t i = 0; i < fresh->count; i++)
            if (!reset_is_same(&desc->vars[fresh->variables[i]], &fresh->moments[moment], &again->moments[moment], i))
                return fresh->variables[i];
    return TUTTI_NONE;
}

static void reset_check_component(const struct tt_job *job, uint32_t c, const struct reset_values *fresh,
                                  const struct reset_values *again)
{
    const struct tt_component *component = &job->system->components[c];
    const struct tt_description *desc = component->fmu->desc;
    struct tt_library *library = fresh->library;
    if (!library->idle || library->resets == TUTTI_RESETS_BADLY)
        return;
    uint32_t other = fresh->refused || again->refused ? TUTTI_NONE : find_reset_difference(desc, fresh, again);
    bool well = !fresh->refused && !again->refused && other == TUTTI_NONE;
    library->resets = well ? TUTTI_RESETS_WELL : TUTTI_RESETS_BADLY;
    if (!well)
        tt_log(job->options.log, TUTTI_LOG_WARNING, component->name,
               "%s: after a reset the FMU is not as new (%s): it is instantiated anew for every run",
               component->fmu->path,
               other == TUTTI_NONE ? "it does not tell all its variables" : desc->vars[other].name);
}

/* A unit that fails on an instance that was reset, and not on a new one: it need not be its own fault. */
static void reset_fail(const struct tt_job *job, const char *message)
{
    struct tt_library *library;
    for (size_t at = 0; (library = next_library(job, &at));)
        if (library->idle && library->resets == TUTTI_RESETS_UNTRIED)
            library->resets = TUTTI_RESETS_BADLY;
    tt_log(job->options.log, TUTTI_LOG_WARNING, NULL,
           "after a reset of the FMUs a step fails that new ones make: they are instantiated anew for every run: %s",
           message);
}

static enum tutti_err compare_reset_with_new(const struct tt_job *job, struct reset_values *fresh,
                                             struct reset_values *again)
{
    tt_reset_enable(job, false);
    enum tutti_err err = run_briefly(job, fresh);
    if (err)
        return err == TUTTI_ERR_INTERRUPTED || err == TUTTI_ERR_MEMORY ? err : TUTTI_OK; /* the run will fail, too */
    tt_reset_enable(job, true);
    err = run_briefly(job, again);
    tt_reset_enable(job, false);
    if (err == TUTTI_ERR_INTERRUPTED || err == TUTTI_ERR_MEMORY)
        return err;
    if (err)
        reset_fail(job, tutti_err_message());
    for (uint32_t c = 0; !err && c < job->system->component_count; c++)
        reset_check_component(job, c, &fresh[c], &again[c]);
    return TUTTI_OK;
}

static void reset_free(struct reset_values *looks, uint32_t count)
{
    for (uint32_t c = 0; looks && c < count; c++) {
        for (unsigned moment = 0; moment < looks[c].taken; moment++)
            tt_signals_fini(&looks[c].moments[moment]);
        free(looks[c].variables);
    }
    free(looks);
}

enum tutti_err tt_reset_test(const struct tt_job *job)
{
    struct tt_library *library;
    uint32_t count = job->system->component_count;
    enum tutti_err err = TUTTI_OK;
    bool untried = false;
    for (size_t at = 0; (library = next_library(job, &at));)
        untried = untried || (library->idle && library->resets == TUTTI_RESETS_UNTRIED);
    if (untried) {
        struct reset_values *fresh = calloc(count, sizeof *fresh), *again = calloc(count, sizeof *again);
        err = fresh && again ? compare_reset_with_new(job, fresh, again) : tt_fail_memory();
        reset_free(fresh, count);
        reset_free(again, count);
    }
    for (size_t at = 0; (library = next_library(job, &at));)
        if (library->resets != TUTTI_RESETS_WELL)
            tt_instance_free_idle(library);
    return err;
}
