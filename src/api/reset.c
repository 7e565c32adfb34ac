/* SPDX-License-Identifier: MIT */
#include "api/reset.h"

#include <stdlib.h>
#include <string.h>

#include "fmi/instance.h"
#include "master/run.h"
#include "program/program.h"

/* At the start, and after each of two macro steps. */
enum { MOMENTS = 3 };

/* What was read of a unit. */
struct look {
    struct tutti_library *library;
    uint32_t *variables; /* `count` of them */
    size_t count;
    struct tutti_signals moments[MOMENTS];
    unsigned taken;
    bool refused;
};

/* ---- libraries ---- */

/* Those that are loaded, one after the other; NULL: that was the last. */
static struct tutti_library *next_library(const struct tutti_job *job, size_t *at)
{
    const struct tutti_system *system = job->system;
    struct tutti_library *library = NULL;
    while (!library && system && *at < (size_t)system->fmu_count * TUTTI_INTERFACE_COUNT) {
        library = system->fmus[*at / TUTTI_INTERFACE_COUNT]->libraries[*at % TUTTI_INTERFACE_COUNT];
        ++*at;
    }
    return library;
}

static bool has_program(const struct tutti_job *job)
{
    struct tutti_library *library;
    bool has = false;
    for (size_t at = 0; (library = next_library(job, &at));)
        has = has || strcmp(library->interface->model_identifier, TUTTI_PROGRAM_IDENTIFIER) == 0;
    return has;
}

void tutti_reset_keep(const struct tutti_job *job, bool keeps)
{
    struct tutti_library *library;
    keeps = keeps && !has_program(job);
    for (size_t at = 0; (library = next_library(job, &at));)
        library->keeps = keeps;
}

/* ---- a short run ---- */

/* Without traces outside of it. */
static struct tutti_job make_quiet(const struct tutti_job *job)
{
    struct tutti_job quiet = *job;
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

/* Inputs are what they were set to, and some FMUs do not tell them. */
static enum tutti_err list_variables(const struct tutti_unit *unit, struct look *look)
{
    const struct tutti_desc *desc = unit->fmu->desc;
    look->library = unit->fmu->libraries[unit->kind->interface];
    look->variables = calloc((size_t)desc->var_count + 1, sizeof *look->variables);
    if (!look->variables)
        return tutti_fail_memory();
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality != TUTTI_INPUT && desc->vars[v].causality != TUTTI_INDEPENDENT)
            look->variables[look->count++] = v;
    return TUTTI_OK;
}

static enum tutti_err look_at(struct tutti_unit *unit, struct look *look)
{
    struct tutti_signals *signals = &look->moments[look->taken];
    if (look->taken == 0)
        TRY(list_variables(unit, look));
    TRY(tutti_unit_signals(unit, look->variables, look->count, signals));
    look->taken++;
    for (size_t b = 0; b < signals->block_count && !look->refused; b++) {
        TRY(unit->kind->ask(unit, &signals->blocks[b], &look->refused));
        if (!look->refused)
            TRY(tutti_signals_own(&signals->blocks[b]));
    }
    return TUTTI_OK;
}

static enum tutti_err go(struct tutti_execution *execution, struct look *looks)
{
    struct tutti_rank *rank = &execution->rank;
    TRY(tutti_execution_start(execution, true));
    for (int moment = 0; moment < MOMENTS; moment++) {
        if (moment > 0)
            TRY(tutti_loop_run(&execution->loop));
        for (uint32_t m = 0; m < rank->member_count; m++)
            TRY(look_at(rank->members[m].unit, &looks[m]));
    }
    return TUTTI_OK;
}

static enum tutti_err run_briefly(const struct tutti_job *job, struct look *looks)
{
    struct tutti_job quiet = make_quiet(job);
    struct tutti_run_stats stats = {0};
    struct tutti_execution execution = {.rank = {.job = &quiet, .stats = &stats}};
    enum tutti_err err = tutti_execution_close(&execution, go(&execution, looks));
    tutti_run_stats_fini(&stats);
    return err;
}

/* ---- judging ---- */

static bool is_same(const struct tutti_var *var, const struct tutti_signals *a, const struct tutti_signals *b, size_t i)
{
    enum tutti_type type = (enum tutti_type)var->type;
    if (a->extents[i] != b->extents[i])
        return false;
    return tutti_type_is_text(type) ? tutti_owned_equal(type, a->slots[i], b->slots[i], a->extents[i])
                                    : memcmp(a->slots[i], b->slots[i], a->extents[i] * a->sizes[i]) == 0;
}

/* The first variable of a unit that is not as in a new instance; TUTTI_NONE: all are. */
static uint32_t find_other(const struct tutti_desc *desc, const struct look *fresh, const struct look *again)
{
    for (unsigned moment = 0; moment < MOMENTS; moment++)
        for (size_t i = 0; i < fresh->count; i++)
            if (!is_same(&desc->vars[fresh->variables[i]], &fresh->moments[moment], &again->moments[moment], i))
                return fresh->variables[i];
    return TUTTI_NONE;
}

static void tell(const struct tutti_job *job, const struct tutti_component *component, const char *what)
{
    tutti_log_printf(job->options.log, TUTTI_LOG_WARNING, component->name,
                     "%s: after a reset the FMU is not as new (%s): it is instantiated anew for every run",
                     component->fmu->path, what);
}

static void judge(const struct tutti_job *job, uint32_t c, const struct look *fresh, const struct look *again)
{
    const struct tutti_component *component = &job->system->components[c];
    const struct tutti_desc *desc = component->fmu->desc;
    struct tutti_library *library = fresh->library;
    if (!library->idle || library->resets == TUTTI_RESETS_BADLY)
        return;
    uint32_t other = fresh->refused || again->refused ? TUTTI_NONE : find_other(desc, fresh, again);
    bool well = !fresh->refused && !again->refused && other == TUTTI_NONE;
    library->resets = well ? TUTTI_RESETS_WELL : TUTTI_RESETS_BADLY;
    if (!well)
        tell(job, component, other == TUTTI_NONE ? "it does not tell all its variables" : desc->vars[other].name);
}

/* A unit that fails on an instance that was reset, and not on a new one: it need not be its own fault. */
static void give_up(const struct tutti_job *job, const char *message)
{
    struct tutti_library *library;
    for (size_t at = 0; (library = next_library(job, &at));)
        if (library->idle && library->resets == TUTTI_RESETS_UNTRIED)
            library->resets = TUTTI_RESETS_BADLY;
    tutti_log_printf(
        job->options.log, TUTTI_LOG_WARNING, NULL,
        "after a reset of the FMUs a step fails that new ones make: they are instantiated anew for every run: %s",
        message);
}

static enum tutti_err try_both(const struct tutti_job *job, struct look *fresh, struct look *again)
{
    tutti_reset_keep(job, false);
    enum tutti_err err = run_briefly(job, fresh);
    if (err)
        return err == TUTTI_ERR_INTERRUPTED || err == TUTTI_ERR_MEMORY ? err : TUTTI_OK; /* the run will fail, too */
    tutti_reset_keep(job, true);
    err = run_briefly(job, again);
    tutti_reset_keep(job, false);
    if (err == TUTTI_ERR_INTERRUPTED || err == TUTTI_ERR_MEMORY)
        return err;
    if (err)
        give_up(job, tutti_err_message());
    for (uint32_t c = 0; !err && c < job->system->component_count; c++)
        judge(job, c, &fresh[c], &again[c]);
    return TUTTI_OK;
}

static void forget(struct look *looks, uint32_t count)
{
    for (uint32_t c = 0; looks && c < count; c++) {
        for (unsigned moment = 0; moment < looks[c].taken; moment++)
            tutti_signals_fini(&looks[c].moments[moment]);
        free(looks[c].variables);
    }
    free(looks);
}

static bool is_to_be_tried(const struct tutti_job *job)
{
    struct tutti_library *library;
    bool is = false;
    for (size_t at = 0; (library = next_library(job, &at));)
        is = is || (library->idle && library->resets == TUTTI_RESETS_UNTRIED);
    return is;
}

enum tutti_err tutti_reset_try(const struct tutti_job *job)
{
    struct tutti_library *library;
    uint32_t count = job->system->component_count;
    enum tutti_err err = TUTTI_OK;
    if (is_to_be_tried(job)) {
        struct look *fresh = calloc(count, sizeof *fresh), *again = calloc(count, sizeof *again);
        err = fresh && again ? try_both(job, fresh, again) : tutti_fail_memory();
        forget(fresh, count);
        forget(again, count);
    }
    for (size_t at = 0; (library = next_library(job, &at));)
        if (library->resets != TUTTI_RESETS_WELL)
            tutti_instance_free_idle(library);
    return err;
}
