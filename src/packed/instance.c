/* SPDX-License-Identifier: MIT */
#include "packed/instance.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/time.h"
#include "master/events.h"
#include "packed/equations.h"

/* ---- its making ---- */

static enum tutti_err read_files(struct tutti_packed *packed, const char *token, const char *resources)
{
    struct tutti_text path = {0};
    tutti_text_printf(&path, "%s/" TUTTI_PACKED_TABLE, resources);
    enum tutti_err err = path.failed ? tutti_fail_memory() : tutti_packed_table_read(&packed->table, path.text);
    path.length = 0;
    tutti_text_printf(&path, "%s/" TUTTI_PACKED_SYSTEM, resources);
    packed->system = path.text;
    TRY(err);
    if (path.failed)
        return tutti_fail_memory();
    if (!token || strcmp(token, packed->table.token) != 0)
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "%s: the instantiation token is '%s', not '%s': files of two FMUs are mixed", packed->name,
                          token ? token : "", packed->table.token);
    return TUTTI_OK;
}

enum tutti_err tutti_packed_make(struct tutti_packed **out, const char *name, const char *token, const char *resources,
                                 const struct tutti_log *log)
{
    struct tutti_failure failure;
    struct tutti_packed *packed = calloc(1, sizeof *packed);
    if (!packed)
        return tutti_fail_memory();
    packed->points = 1;
    packed->name = tutti_str_copy(name ? name : "");
    enum tutti_err err = packed->name ? tutti_options_make(&packed->options) : tutti_fail_memory();
    if (!err)
        err = read_files(packed, token, resources);
    if (!err) {
        tutti_options_set_log(packed->options, log);
        packed->variables = calloc(packed->table.count + 1, sizeof *packed->variables);
        err = packed->variables ? tutti_packed_make_room(packed) : tutti_fail_memory();
    }
    tutti_failure_keep(&failure, err);
    if (err)
        tutti_packed_free(packed);
    else
        *out = packed;
    return tutti_failure_return(&failure);
}

static void close_simulation(struct tutti_packed *packed)
{
    tutti_equations_close(packed);
    tutti_packed_unbind(packed);
    tutti_simulation_free(packed->simulation);
    packed->simulation = NULL;
    packed->started = false;
}

static void forget_given(struct tutti_packed *packed)
{
    for (size_t i = 0; packed->variables && i < packed->table.count; i++)
        packed->variables[i].given = false;
}

void tutti_packed_free(struct tutti_packed *packed)
{
    if (!packed)
        return;
    close_simulation(packed);
    tutti_packed_release_room(packed);
    free(packed->variables);
    tutti_packed_table_fini(&packed->table);
    tutti_options_free(packed->options);
    tutti_parcel_fini(&packed->bytes);
    tutti_arena_fini(&packed->arena);
    free(packed->system);
    free(packed->name);
    free(packed);
}

/* ---- its life ---- */

static enum tutti_err set_times(struct tutti_packed *packed)
{
    struct tutti_run_options *options = packed->options;
    TRY(packed->has_start ? tutti_options_set_number(options, "start", packed->start)
                          : tutti_options_set(options, "start", NULL));
    TRY(packed->has_stop ? tutti_options_set_number(options, "stop", packed->stop)
                         : tutti_options_set(options, "stop", NULL));
    return packed->has_tolerance ? tutti_options_set_number(options, "rtol", packed->tolerance)
                                 : tutti_options_set(options, "rtol", NULL);
}

static enum tutti_err open_simulation(struct tutti_packed *packed)
{
    TRY(tutti_options_set(packed->options, "file", NULL));
    TRY(tutti_options_set(packed->options, "file", packed->system));
    TRY(tutti_options_set(packed->options, "record", NULL));
    TRY(tutti_options_set(packed->options, "record", "none"));
    if (packed->exchange) /* which is what the importer's solver does */
        TRY(tutti_options_set(packed->options, "coupling", "strong"));
    TRY(set_times(packed));
    packed->options->open_end = !packed->has_stop;
    TRY(tutti_simulation_open(&packed->simulation, packed->options));
    return tutti_packed_bind(packed);
}

enum tutti_err tutti_packed_initialise(struct tutti_packed *packed)
{
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_MADE), "entering initialisation mode"));
    packed->stage = TUTTI_PACKED_INITIALISING;
    if (packed->simulation)
        close_simulation(packed);
    return open_simulation(packed);
}

/* Does what the importer reads depend on communication steps, as an average over one does, or an input that moves along a line in it? Then these
 * are the importer's steps, unless the system has been given a separate step, or controls its error by steps of varying size. */
static bool counts_by_step(const struct tutti_execution *execution)
{
    const struct tutti_rank *rank = &execution->rank;
    const struct tutti_chosen *chosen = &execution->master.chosen;
    bool counts = chosen->smooths;
    for (uint32_t m = 0; m < rank->member_count; m++) {
        const struct tutti_member *member = &rank->members[m];
        bool places = member->inputs && member->inputs->choice.at != TUTTI_INPUT_AUTO;
        counts = counts || member->setup.integration.average || places;
    }
    return counts && !rank->job->options.has_step && (rank->member_count == 1 || !chosen->varies);
}

enum tutti_err tutti_packed_need(struct tutti_packed *packed)
{
    if (packed->started)
        return TUTTI_OK;
    tutti_equations_close(packed);
    if (packed->simulation->stage != TUTTI_STAGE_OPEN)
        TRY(tutti_simulation_reset(packed->simulation));
    TRY(tutti_packed_hand_over(packed));
    TRY(tutti_simulation_start(packed->simulation));
    if (packed->exchange)
        TRY(tutti_equations_open(packed));
    else if (counts_by_step(&packed->simulation->execution)) {
        packed->simulation->execution.loop.by_halts = true;
        tutti_loop_choose_path(&packed->simulation->execution.loop);
    }
    packed->started = true;
    tutti_packed_forget(packed);
    return TUTTI_OK;
}

double tutti_packed_time(const struct tutti_packed *packed)
{
    return packed->equations ? tutti_equations_time(packed) : tutti_simulation_time(packed->simulation);
}

enum tutti_err tutti_packed_begin(struct tutti_packed *packed)
{
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_INITIALISING), "leaving initialisation mode"));
    TRY(tutti_packed_need(packed));
    packed->stage = TUTTI_PACKED_RUNNING;
    return TUTTI_OK;
}

/* ---- steps ---- */

static enum tutti_err check_step(const struct tutti_packed *packed, double t, double h)
{
    if (packed->exchange)
        return tutti_fail(TUTTI_ERR_STATE, "%s: the instance is one for Model Exchange, and makes no steps",
                          packed->name);
    const struct tutti_rank *rank = &packed->simulation->execution.rank;
    if (t != rank->t && !tutti_time_same(t, rank->t, rank->span))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: a step from t = %s is asked for, but the instance is at t = %s",
                          packed->name, NUMBER(t), NUMBER(rank->t));
    if (!(h > 0) || !isfinite(t + h))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: a step of %s is not possible", packed->name, NUMBER(h));
    if (packed->has_stop && !tutti_time_reached(packed->stop, t + h, rank->span))
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: a step to t = %s leads past the stop time that was named, %s",
                          packed->name, NUMBER(t + h), NUMBER(packed->stop));
    if (h / rank->times.step > 0x1p53)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: a step of %s would be more than 2^53 of the system's steps of %s",
                          packed->name, NUMBER(h), NUMBER(rank->times.step));
    return TUTTI_OK;
}

static void lengthen_grid(struct tutti_grid *grid, double stop, double t)
{
    tutti_grid_init(grid, grid->start, grid->step, stop);
    tutti_grid_pass_to(grid, t);
}

/* An importer that named no end may go on past the one that the system has, along points as if that were later; also units with steps of their own, which
 * may be ahead. */
static void lengthen(struct tutti_packed *packed, double t)
{
    struct tutti_rank *rank = &packed->simulation->execution.rank;
    struct tutti_grid *grid = &packed->simulation->execution.loop.communication;
    double ahead = grid->step;
    for (uint32_t m = 0; m < rank->own_count; m++)
        ahead = fmax(ahead, rank->own[m]->now.grid.step);
    if (packed->has_stop || t + ahead < grid->stop)
        return;
    double stop = grid->start + 2 * ceil((t + ahead - grid->start) / grid->step) * grid->step;
    rank->times.stop = fmax(rank->times.stop, stop);
    lengthen_grid(grid, stop, rank->t);
    for (uint32_t m = 0; m < rank->own_count; m++)
        lengthen_grid(&rank->own[m]->now.grid, stop, rank->own[m]->now.t);
}

/* One macro step after another: an event on the way ends it, and is the importer's to cross (PK5); so does one that was located in what units show, which
 * they have crossed in their steps. */
static enum tutti_err advance_to_event(struct tutti_packed *packed, double t)
{
    struct tutti_execution *execution = &packed->simulation->execution;
    struct tutti_loop *loop = &execution->loop;
    struct tutti_rank *rank = &execution->rank;
    enum tutti_err err = loop->left_event ? tutti_loop_cross(loop) : TUTTI_OK; /* the importer did not */
    if (!err)
        err = tutti_events_take_pending(&execution->master);
    loop->halt_at = t;
    loop->leaves_events = true;
    for (bool event = false; !err && !event && !rank->ended && !tutti_time_reached(rank->t, t, rank->span);) {
        err = tutti_simulation_step(packed->simulation);
        event = loop->left_event || execution->master.memory.event;
    }
    loop->halt_at = INFINITY;
    loop->leaves_events = false;
    return err;
}

/* The system's own name for a point: importers that compute t + h come to a communication point of its master up to rounding only, and
 * steps of other sizes would give other bits than the system itself. */
static double own_point(const struct tutti_packed *packed, double t)
{
    const struct tutti_execution *execution = &packed->simulation->execution;
    const struct tutti_grid *grid = &execution->loop.communication;
    if (t == grid->next || tutti_time_same(t, grid->next, execution->rank.span))
        return grid->next;
    double n = round((t - grid->start) / grid->step);
    if (!(n >= 0 && n <= (double)grid->last))
        return t;
    double point = tutti_grid_point(grid, (int64_t)n);
    return tutti_time_same(t, point, execution->rank.span) ? point : t;
}

/* Units with steps of their own take what was set when they begin one. */
static bool has_pending(const struct tutti_rank *rank)
{
    bool has = false;
    for (uint32_t m = 0; m < rank->own_count; m++)
        has = has || rank->own[m]->now.has_pending;
    return has;
}

/* A step that the lane left to others is one of the loop, too: it needs less of a look around than a longer way does. */
static enum tutti_err advance(struct tutti_packed *packed, double t)
{
    struct tutti_execution *execution = &packed->simulation->execution;
    struct tutti_rank *rank = &execution->rank;
    if (!packed->sets && t == execution->loop.communication.next && t < rank->times.stop) {
        execution->loop.halt_at = t;
        enum tutti_err err = tutti_simulation_step(packed->simulation);
        execution->loop.halt_at = INFINITY;
        if (err || rank->t == t || rank->ended)
            return err;
    }
    TRY(tutti_simulation_advance(packed->simulation, t));
    packed->sets = packed->sets && has_pending(rank);
    return TUTTI_OK;
}

static enum tutti_err step_anyhow(struct tutti_packed *packed, double t, double h, struct tutti_packed_step *step)
{
    TRY(tutti_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_RUNNING), "a step"));
    TRY(check_step(packed, t, h));
    struct tutti_rank *rank = &packed->simulation->execution.rank;
    lengthen(packed, t + h);
    double end = own_point(packed, t + h);
    tutti_packed_forget(packed);
    bool looks = packed->ends_at_events && rank->watches; /* else there are none */
    enum tutti_err err = looks ? advance_to_event(packed, end) : advance(packed, end);
    if (err)
        packed->stage = TUTTI_PACKED_ENDED;
    step->t = rank->t == end ? t + h : rank->t;
    step->ended = rank->ended;
    step->event = packed->simulation->execution.loop.left_event;
    step->early = looks && !rank->ended && !tutti_time_reached(rank->t, end, rank->span);
    return err;
}

/* Is it what most steps are: to the next of the system's own points, and not the last one, with nothing to be taken before? */
static bool is_usual(const struct tutti_packed *packed, double t, double end)
{
    if (packed->stage != TUTTI_PACKED_RUNNING || packed->exchange || packed->sets)
        return false;
    const struct tutti_execution *execution = &packed->simulation->execution;
    return !execution->loop.by_halts && t == execution->rank.t && end == execution->loop.communication.next &&
           end < execution->loop.communication.stop;
}

enum tutti_err tutti_packed_step(struct tutti_packed *packed, double t, double h, struct tutti_packed_step *step)
{
    *step = (struct tutti_packed_step){.t = t + h};
    if (!is_usual(packed, t, t + h) || !tutti_loop_hop(&packed->simulation->execution.loop))
        return step_anyhow(packed, t, h, step);
    tutti_packed_forget(packed);
    return TUTTI_OK;
}

/* What changes continuously, and what units without event mode get, they take when the next step begins: until then they can be read. */
enum tutti_err tutti_packed_cross(struct tutti_packed *packed)
{
    struct tutti_loop *loop = &packed->simulation->execution.loop;
    struct tutti_rank *rank = &packed->simulation->execution.rank;
    bool any = loop->left_event;
    tutti_packed_forget(packed);
    for (uint32_t m = 0; m < rank->own_count; m++) {
        struct tutti_member *member = rank->own[m];
        if (!member->now.has_pending || !member->unit->has_events || !tutti_member_present(rank, member) ||
            !tutti_pending_sets_are_news(rank->pending_sets, member))
            continue;
        any = member->now.event = true;
    }
    return any ? tutti_loop_cross(loop) : TUTTI_OK;
}

enum tutti_err tutti_packed_next_event(struct tutti_packed *packed, double *event)
{
    TRY(tutti_loop_find_event(&packed->simulation->execution.loop, event));
    if (!(*event > packed->simulation->execution.rank.t))
        *event = INFINITY;
    return TUTTI_OK;
}

enum tutti_err tutti_packed_end(struct tutti_packed *packed)
{
    struct tutti_execution *execution = packed->simulation ? &packed->simulation->execution : NULL;
    bool ran = packed->stage == TUTTI_PACKED_RUNNING && !packed->exchange;
    packed->stage = TUTTI_PACKED_ENDED;
    return ran ? tutti_growth_tell(&execution->loop.growth, &execution->rank) : TUTTI_OK;
}

void tutti_packed_reset(struct tutti_packed *packed)
{
    close_simulation(packed);
    forget_given(packed);
    packed->stage = TUTTI_PACKED_MADE;
    packed->in_event_mode = false;
    packed->has_start = packed->has_stop = packed->has_tolerance = false;
}
