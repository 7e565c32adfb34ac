/* SPDX-License-Identifier: MIT */
#include "apps/packed/packed_instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/time.h"
#include "sim/events.h"
#include "apps/packed/packed_equations.h"

/* ---- its making ---- */

static enum tutti_err read_packed_files(struct tt_packed *packed, const char *token, const char *resources)
{
    struct tt_text path = {0};
    tt_text_printf(&path, "%s/" TUTTI_PACKED_TABLE, resources);
    enum tutti_err err = path.failed ? tt_fail_memory() : tt_packed_table_read(&packed->table, path.text);
    path.length = 0;
    tt_text_printf(&path, "%s/" TUTTI_PACKED_SYSTEM, resources);
    packed->system = path.text;
    TRY(err);
    if (path.failed)
        return tt_fail_memory();
    if (!token || strcmp(token, packed->table.token) != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the instantiation token is '%s', not '%s': files of two FMUs are mixed",
                       packed->name, token ? token : "", packed->table.token);
    return TUTTI_OK;
}

enum tutti_err tt_packed_new(struct tt_packed **out, const char *name, const char *token, const char *resources,
                             const struct tutti_log *log)
{
    struct tt_failure failure;
    struct tt_packed *packed = calloc(1, sizeof *packed);
    if (!packed)
        return tt_fail_memory();
    packed->points = 1;
    packed->name = tt_text_copy(name ? name : "");
    enum tutti_err err = packed->name ? tutti_options_make(&packed->options) : tt_fail_memory();
    if (!err)
        err = read_packed_files(packed, token, resources);
    if (!err) {
        tutti_options_set_log(packed->options, log);
        packed->variables = calloc(packed->table.count + 1, sizeof *packed->variables);
        err = packed->variables ? tt_packed_values_allocate(packed) : tt_fail_memory();
    }
    tt_fail_save(&failure, err);
    if (err)
        tt_packed_free(packed);
    else
        *out = packed;
    return tt_fail_restore(&failure);
}

static void packed_close_simulation(struct tt_packed *packed)
{
    tt_packed_equations_close(packed);
    tt_packed_values_unbind(packed);
    tutti_simulation_free(packed->simulation);
    packed->simulation = NULL;
    packed->started = false;
}

void tt_packed_free(struct tt_packed *packed)
{
    if (!packed)
        return;
    packed_close_simulation(packed);
    tt_packed_values_release(packed);
    free(packed->variables);
    tt_packed_table_fini(&packed->table);
    tutti_options_free(packed->options);
    tt_bytes_fini(&packed->bytes);
    tt_arena_fini(&packed->arena);
    free(packed->system);
    free(packed->name);
    free(packed);
}

/* ---- its life ---- */

static enum tutti_err packed_set_times(struct tt_packed *packed)
{
    struct tutti_run_options *options = packed->options;
    TRY(packed->has_start ? tutti_options_set_number(options, "start", packed->start)
                          : tutti_options_set(options, "start", NULL));
    TRY(packed->has_stop ? tutti_options_set_number(options, "stop", packed->stop)
                         : tutti_options_set(options, "stop", NULL));
    return packed->has_tolerance ? tutti_options_set_number(options, "rtol", packed->tolerance)
                                 : tutti_options_set(options, "rtol", NULL);
}

static enum tutti_err packed_open_simulation(struct tt_packed *packed)
{
    TRY(tutti_options_set(packed->options, "file", NULL));
    TRY(tutti_options_set(packed->options, "file", packed->system));
    TRY(tutti_options_set(packed->options, "record", NULL));
    TRY(tutti_options_set(packed->options, "record", "none"));
    if (packed->exchange) /* which is what the importer's solver does */
        TRY(tutti_options_set(packed->options, "coupling", "strong"));
    TRY(packed_set_times(packed));
    packed->options->open_end = !packed->has_stop;
    TRY(tutti_simulation_open(&packed->simulation, packed->options));
    return tt_packed_values_bind(packed);
}

enum tutti_err tt_packed_initialise(struct tt_packed *packed)
{
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_MADE), "entering initialisation mode"));
    packed->stage = TUTTI_PACKED_INITIALISING;
    if (packed->simulation)
        packed_close_simulation(packed);
    return packed_open_simulation(packed);
}

/* Returns true if readable values depend on communication steps: averages over a step, or inputs that move along a line
 * in it. Then the importer's steps are used, unless the system has a separate step, or controls its error. */
static bool averages_over_step(const struct tt_execution *execution)
{
    const struct tt_rank *rank = &execution->rank;
    const struct tt_method *chosen = &execution->master.chosen;
    bool counts = chosen->is & TUTTI_METHOD_SMOOTHS;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tt_member *member = &rank->members[m];
        bool places = member->inputs && member->inputs->choice.at != TUTTI_INPUT_AUTO;
        counts = counts || member->setup.integration.average || places;
    }
    return counts && !rank->job->options.has_step && (rank->member_count == 1 || !(chosen->is & TUTTI_METHOD_VARIES));
}

enum tutti_err tt_packed_ensure_started(struct tt_packed *packed)
{
    if (packed->started)
        return TUTTI_OK;
    tt_packed_equations_close(packed);
    if (packed->simulation->stage != TUTTI_STAGE_OPEN)
        TRY(tutti_simulation_reset(packed->simulation));
    TRY(tt_packed_values_pass_start_values(packed));
    TRY(tutti_simulation_start(packed->simulation));
    if (packed->exchange)
        TRY(tt_packed_equations_open(packed));
    else if (averages_over_step(&packed->simulation->execution)) {
        packed->simulation->execution.loop.by_halts = true;
        tt_run_choose_path(&packed->simulation->execution.loop);
    }
    packed->started = true;
    tt_packed_invalidate(packed);
    return TUTTI_OK;
}

double tt_packed_time(const struct tt_packed *packed)
{
    return packed->equations ? tt_packed_equations_time(packed) : tutti_simulation_time(packed->simulation);
}

enum tutti_err tt_packed_start(struct tt_packed *packed)
{
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_INITIALISING), "leaving initialisation mode"));
    TRY(tt_packed_ensure_started(packed));
    packed->stage = TUTTI_PACKED_RUNNING;
    return TUTTI_OK;
}

/* ---- steps ---- */

static enum tutti_err packed_check_step(const struct tt_packed *packed, double t, double h)
{
    if (packed->exchange)
        return tt_fail(TUTTI_ERR_STATE, "%s: the instance is one for Model Exchange, and makes no steps", packed->name);
    const struct tt_rank *rank = &packed->simulation->execution.rank;
    if (t != rank->t && !tt_time_same(t, rank->t, rank->span))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: a step from t = %s is asked for, but the instance is at t = %s",
                       packed->name, NUMBER(t), NUMBER(rank->t));
    if (!(h > 0) || !isfinite(t + h))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: a step of %s is not possible", packed->name, NUMBER(h));
    if (packed->has_stop && !tt_time_reached(packed->stop, t + h, rank->span))
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: a step to t = %s leads past the stop time that was named, %s",
                       packed->name, NUMBER(t + h), NUMBER(packed->stop));
    if (h / rank->times.step > 0x1p53)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: a step of %s would be more than 2^53 of the system's steps of %s",
                       packed->name, NUMBER(h), NUMBER(rank->times.step));
    return TUTTI_OK;
}

static void extend_grid(struct tt_time_grid *grid, double stop, double t)
{
    tt_time_grid_init(grid, grid->start, grid->step, stop);
    tt_time_grid_pass_to(grid, t);
}

/* An importer that gave no stop time may continue past the system's stop, on the grid extended; this includes units
 * with separate steps, which may be ahead. */
static void extend_stop_time(struct tt_packed *packed, double t)
{
    struct tt_rank *rank = &packed->simulation->execution.rank;
    struct tt_time_grid *grid = &packed->simulation->execution.loop.communication;
    double ahead = grid->step;
    for (uint32_t m = 0; m < rank->own_count; m++)
        ahead = fmax(ahead, rank->own[m]->now.grid.step);
    if (packed->has_stop || t + ahead < grid->stop)
        return;
    double stop = grid->start + 2 * ceil((t + ahead - grid->start) / grid->step) * grid->step;
    rank->times.stop = fmax(rank->times.stop, stop);
    extend_grid(grid, stop, rank->t);
    for (uint32_t m = 0; m < rank->own_count; m++)
        extend_grid(&rank->own[m]->now.grid, stop, rank->own[m]->now.t);
}

/* One macro step after another: an event on the way ends it, and is the importer's to cross (PK5); so does one that was located in what units show, which
 * they have crossed in their steps. */
static enum tutti_err advance_to_event(struct tt_packed *packed, double t)
{
    struct tt_execution *execution = &packed->simulation->execution;
    struct tt_run *loop = &execution->loop;
    struct tt_rank *rank = &execution->rank;
    enum tutti_err err = loop->left_event ? tt_run_handle_events(loop) : TUTTI_OK; /* the importer did not */
    if (!err)
        err = tt_events_apply_pending(&execution->master);
    loop->halt_at = t;
    loop->leaves_events = true;
    for (bool event = false; !err && !event && !rank->ended && !tt_time_reached(rank->t, t, rank->span);) {
        err = tutti_simulation_step(packed->simulation);
        event = loop->left_event || execution->master.memory.event;
    }
    loop->halt_at = INFINITY;
    loop->leaves_events = false;
    return err;
}

/* The system's own name for a point: importers that compute t + h come to a communication point of its master up to rounding only, and
 * steps of other sizes would give other bits than the system itself. */
static double snap_to_master_point(const struct tt_packed *packed, double t)
{
    const struct tt_execution *execution = &packed->simulation->execution;
    const struct tt_time_grid *grid = &execution->loop.communication;
    if (t == grid->next || tt_time_same(t, grid->next, execution->rank.span))
        return grid->next;
    double n = round((t - grid->start) / grid->step);
    if (!(n >= 0 && n <= (double)grid->last))
        return t;
    double point = tt_time_grid_point(grid, (int64_t)n);
    return tt_time_same(t, point, execution->rank.span) ? point : t;
}

/* A step that the lane left to others is one of the loop, too: it needs less of a look around than a longer way does. */
static enum tutti_err packed_advance(struct tt_packed *packed, double t)
{
    struct tt_execution *execution = &packed->simulation->execution;
    struct tt_rank *rank = &execution->rank;
    if (!packed->sets && t == execution->loop.communication.next && t < rank->times.stop) {
        execution->loop.halt_at = t;
        enum tutti_err err = tutti_simulation_step(packed->simulation);
        execution->loop.halt_at = INFINITY;
        if (err || rank->t == t || rank->ended)
            return err;
    }
    TRY(tutti_simulation_advance(packed->simulation, t));

    /* Units with separate steps receive set values when they begin a step. */
    bool pending = false;
    for (uint32_t m = 0; packed->sets && m < rank->own_count; m++)
        pending = pending || rank->own[m]->now.has_pending;
    packed->sets = pending;
    return TUTTI_OK;
}

static enum tutti_err packed_step_general(struct tt_packed *packed, double t, double h, struct tt_packed_step *step)
{
    TRY(tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "a step"));
    TRY(packed_check_step(packed, t, h));
    struct tt_rank *rank = &packed->simulation->execution.rank;
    extend_stop_time(packed, t + h);
    double end = snap_to_master_point(packed, t + h);
    tt_packed_invalidate(packed);
    bool looks = packed->ends_at_events && rank->watches; /* otherwise there are no events */
    enum tutti_err err = looks ? advance_to_event(packed, end) : packed_advance(packed, end);
    if (err)
        packed->stage = TUTTI_PACKED_ENDED;
    step->t = rank->t == end ? t + h : rank->t;
    step->ended = rank->ended;
    step->event = packed->simulation->execution.loop.left_event;
    step->early = looks && !rank->ended && !tt_time_reached(rank->t, end, rank->span);
    return err;
}

/* Returns true for the common kind of step: to the system's next point, not the last one, without pending values. */
static bool packed_is_regular_step(const struct tt_packed *packed, double t, double end)
{
    if (packed->stage != TUTTI_PACKED_RUNNING || packed->exchange || packed->sets)
        return false;
    const struct tt_execution *execution = &packed->simulation->execution;
    return !execution->loop.by_halts && t == execution->rank.t && end == execution->loop.communication.next &&
           end < execution->loop.communication.stop;
}

enum tutti_err tt_packed_step(struct tt_packed *packed, double t, double h, struct tt_packed_step *step)
{
    *step = (struct tt_packed_step){.t = t + h};
    if (!packed_is_regular_step(packed, t, t + h) || !tt_run_step_fast(&packed->simulation->execution.loop))
        return packed_step_general(packed, t, h, step);
    tt_packed_invalidate(packed);
    return TUTTI_OK;
}

/* Continuous changes, and values for units without event mode, take effect when the next step begins; until then the
 * new values are readable. */
enum tutti_err tt_packed_handle_event(struct tt_packed *packed)
{
    struct tt_run *loop = &packed->simulation->execution.loop;
    struct tt_rank *rank = &packed->simulation->execution.rank;
    bool any = loop->left_event;
    tt_packed_invalidate(packed);
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tt_member *member = rank->own[m];
        if (!member->now.has_pending || !member->unit->has_events || !tt_rank_member_is_present(rank, member) ||
            !tt_pending_set_any_event(rank->pending_sets, member))
            continue;
        any = member->now.event = true;
    }
    return any ? tt_run_handle_events(loop) : TUTTI_OK;
}

enum tutti_err tt_packed_next_event(struct tt_packed *packed, double *event)
{
    TRY(tt_run_find_event(&packed->simulation->execution.loop, event));
    if (!(*event > packed->simulation->execution.rank.t))
        *event = INFINITY;
    return TUTTI_OK;
}

enum tutti_err tt_packed_terminate(struct tt_packed *packed)
{
    struct tt_execution *execution = packed->simulation ? &packed->simulation->execution : NULL;
    bool ran = packed->stage == TUTTI_PACKED_RUNNING && !packed->exchange;
    packed->stage = TUTTI_PACKED_ENDED;
    return ran ? tt_watch_report_growth(&execution->loop.growth, &execution->rank) : TUTTI_OK;
}

void tt_packed_reset(struct tt_packed *packed)
{
    packed_close_simulation(packed);
    for (size_t i = 0; packed->variables && i < packed->table.count; i++)
        packed->variables[i].given = false;
    packed->stage = TUTTI_PACKED_MADE;
    packed->in_event_mode = false;
    packed->has_start = packed->has_stop = packed->has_tolerance = false;
}

enum tutti_err tt_packed_instance_reject(const struct tt_packed *packed, const char *call)
{
    static const char *const names[] = {"only instantiated", "in initialisation mode", "between steps", "ended"};
    return tt_fail(TUTTI_ERR_STATE, "%s: %s is not allowed here: the instance is %s", packed->name, call,
                   names[packed->stage]);
}
