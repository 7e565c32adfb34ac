/* SPDX-License-Identifier: MIT */
#include "master/run.h"

#include <stdlib.h>
#include <tutti/run.h>

#include "base/clock.h"
#include "base/number.h"
#include "fabric/team.h"
#include "master/checkpoints.h"
#include "master/choose/asked.h"
#include "master/choose/choose.h"
#include "master/choose/together.h"
#include "master/control/control.h"
#include "master/count.h"
#include "master/events.h"
#include "master/open.h"
#include "master/pace.h"
#include "rank/ticks.h"
#include "master/pack.h"
#include "master/control/twin.h"
#include "options/options.h"
#include "rank/agree.h"
#include "report/final_states.h"
#include "start/initialise.h"
#include "start/open.h"
#include "start/rows.h"

static enum tutti_err open_observer(struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    const struct tutti_checkpoint *from = rank->job->resume;
    struct tutti_bytes resume = from ? from->result : (struct tutti_bytes){0};
    if (rank->is_twin) /* no columns, no rows */
        return tutti_sink_open_report(&execution->observer.sink, rank->fabric, rank->job->system->name, NULL, NULL, 0,
                                      false);
    struct tutti_observed *observed = calloc(rank->member_count, sizeof *observed);
    if (!observed)
        return tutti_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++)
        observed[m] = (struct tutti_observed){rank->members[m].unit, rank->members[m].inputs,
                                              .own = tutti_rank_owns(rank, m),
                                              .has_pending = rank->pending_sets != NULL, .log = rank->unit_log};
    enum tutti_err err = tutti_observer_open(&execution->observer, &rank->job->options, rank->job->result, &rank->wires,
                                             observed, rank->log, rank->reports ? rank->fabric : NULL, resume);
    free(observed);
    return err;
}

/* Where the choices take units back, these are tried first. `auto` chooses again where it relied on a unit that cannot go back; a
 * choice of the user's is refused. */
static enum tutti_err check_going_back(struct tutti_master *master)
{
    bool forgets;
    if (master->rank->ended || !tutti_master_relies_on_going_back(master))
        return TUTTI_OK;
    TRY(tutti_start_rehearse(master->rank, &forgets));
    return forgets ? tutti_master_choose(master) : TUTTI_OK;
}

/* From a job to units at a consistent start, with a master chosen for them. */
static enum tutti_err initialise(struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_master *master = &execution->master;
    master->rank = rank;
    master->observer = &execution->observer;
    rank->estimates_errors = tutti_master_may_control(rank->job);
    rank->moves_inputs = tutti_master_may_move_inputs(rank->job);
    rank->asks_to_go_back = tutti_master_asks_to_go_back(rank->job);
    rank->free_steps = tutti_master_federates(rank->job);
    rank->controls_one = tutti_master_may_control_one(rank->job);
    TRY(tutti_rank_open(rank));
    TRY(tutti_start_compute(rank));
    TRY(tutti_master_choose(master));
    TRY(tutti_start_leave(rank));
    TRY(tutti_master_reconsider(master));
    TRY(check_going_back(master));
    tutti_master_tell(master);
    return tutti_master_connect(master);
}

static enum tutti_err open_companions(struct tutti_execution *execution)
{
    for (int i = 0; i < TUTTI_COMPANIONS && execution->rank.job->companions[i]; i++) {
        const struct tutti_companion *companion = execution->rank.job->companions[i];
        TRY(companion->open(companion->context, execution, &execution->companions[i]));
    }
    return TUTTI_OK;
}

static enum tutti_err finish_companions(struct tutti_execution *execution)
{
    for (int i = 0; i < TUTTI_COMPANIONS && execution->companions[i]; i++) {
        const struct tutti_companion *companion = execution->rank.job->companions[i];
        TRY(companion->finish ? companion->finish(execution->companions[i]) : TUTTI_OK);
    }
    return TUTTI_OK;
}

static void close_companions(struct tutti_execution *execution)
{
    for (int i = 0; i < TUTTI_COMPANIONS && execution->companions[i]; i++)
        execution->rank.job->companions[i]->close(execution->companions[i]);
    tutti_pending_sets_fini(&execution->pending_sets);
}

void tutti_execution_watch(struct tutti_execution *execution, bool wanted)
{
    execution->observer.asleep = !wanted;
    tutti_loop_choose_path(&execution->loop);
}

/* Collective, after ranks have told what the result begins with: a rank that fails further on stops those that wait (F3), and what one of
 * them has not told by then is missing in the result of all. */
static enum tutti_err wait_for_others(struct tutti_execution *execution)
{
    bool unused = false;
    return execution->team ? tutti_team_meet(execution->team) : tutti_agree_any(&execution->rank, &unused);
}

static enum tutti_err set_up(struct tutti_execution *execution, bool steered)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_master *master = &execution->master;
    bool crossed = false;
    if (rank->job->companions[0])
        rank->pending_sets = &execution->pending_sets;
    TRY(initialise(execution));
    if (execution->team)
        TRY(tutti_twin_open(execution, execution->team));
    TRY(tutti_pack_attach(execution));
    TRY(open_observer(execution)); /* not before: what is refused must not cost an earlier result */
    TRY(wait_for_others(execution));
    execution->observer.muted = rank->job->resume != NULL;
    if (!rank->ended)
        TRY(tutti_events_cross(master, &crossed));
    TRY(tutti_master_open(master)); /* only now it is known how units are stepped */
    TRY(tutti_loop_open(&execution->loop, master, steered));
    TRY(tutti_remember(&master->remembered, &execution->observer.last_row, sizeof execution->observer.last_row));
    tutti_rows_begin(rank, master->chosen.varies, master->chosen.per_time);
    tutti_pack_record(execution);
    if (rank->job->resume)
        TRY(tutti_unpack(execution, rank->job->resume));
    else if (!crossed)
        TRY(tutti_observer_row(master->observer, rank->t));
    TRY(wait_for_others(execution));
    if (!rank->job->resume)
        TRY(tutti_start_apply_late(rank));
    execution->observer.muted = false;
    if (rank->is_twin)
        return TUTTI_OK;
    TRY(tutti_checkpoints_open(execution));
    return open_companions(execution);
}

enum tutti_err tutti_execution_start(struct tutti_execution *execution, bool steered)
{
    double begin = tutti_clock_now();
    enum tutti_err err = tutti_fail_about(set_up(execution, steered), NULL, NULL, execution->rank.t);
    tutti_loop_start_watch(&execution->loop);
    if (!err)
        err = tutti_ticks_start_clock(&execution->rank, execution->loop.watch.loop_start,
                                      !steered && !execution->master.chosen.by_attempts);
    execution->rank.stats->setup_seconds = execution->loop.watch.loop_start - begin;
    return err;
}

/* An FMU ended the run. Where macro steps are attempts all ranks know, and go on to the end together; else not all do, and
 * none is to go further than this one. */
static enum tutti_err spread_end(struct tutti_execution *execution, enum tutti_err err)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_fabric *fabric = rank->fabric;
    bool early = fabric->step >= atomic_load(fabric->stop_after) && atomic_load(fabric->stop_after) > 0;
    if (!err && rank->ended && !execution->master.chosen.by_attempts)
        fabric->kind->stop(fabric, fabric->step);
    if (err == TUTTI_ERR_STOPPED)
        rank->ended = NULL;                                    /* in a step that not all have made */
    return err == TUTTI_ERR_STOPPED && early ? TUTTI_OK : err; /* it ended where it should */
}

/* What failed by Model Exchange, which nobody named, may do by Co-Simulation. */
static enum tutti_err tell_way_out(const struct tutti_rank *rank, enum tutti_err err)
{
    bool may_differ = err == TUTTI_ERR_FMU || err == TUTTI_ERR_SOLVER;
    return rank->joins && may_differ
               ? tutti_fail_context(err,
                                    "all units are of Model Exchange, because a tolerance is given (--interface cs: "
                                    "Co-Simulation)")
               : err;
}

/* Whatever has happened, no partition computes after this. */
static enum tutti_err stop_clock(struct tutti_rank *rank, enum tutti_err err)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    enum tutti_err stopping = tutti_ticks_stop_clock(rank);
    return failure.err ? tutti_failure_return(&failure) : stopping;
}

enum tutti_err tutti_execution_go(struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    enum tutti_err err = tutti_execution_start(execution, false);
    if (!err)
        err = spread_end(execution, tutti_fail_about(tutti_loop_run(&execution->loop), NULL, NULL, rank->t));
    err = stop_clock(rank, err);
    tutti_twin_dismiss(execution->twin);
    if (!err)
        err = finish_companions(execution);
    if (!err)
        err = tutti_norm_estimate_run(&execution->master.norm);
    if (!err)
        err = tutti_foretold_tell(&execution->loop.foretold, &execution->master, execution->loop.growth.now.exploded);
    if (!err)
        err = tutti_growth_tell(&execution->loop.growth, rank);
    if (!err)
        err = tutti_observer_conclude(&execution->observer);
    if (!err)
        err = tutti_final_states_tell(rank);
    if (!err)
        err = tutti_rank_terminate(rank);
    err = tell_way_out(rank, err);
    rank->stats->loop_seconds = tutti_clock_now() - execution->loop.watch.loop_start;
    tutti_execution_tell_end(execution, err);
    return err;
}

enum tutti_err tutti_execution_serve(struct tutti_execution *execution)
{
    struct tutti_rank *rank = &execution->rank;
    TRY(tutti_execution_start(execution, false));
    TRY(tutti_fail_about(tutti_twin_serve(execution), NULL, NULL, rank->t));
    return tutti_rank_terminate(rank);
}

void tutti_execution_tell_end(const struct tutti_execution *execution, enum tutti_err err)
{
    const struct tutti_rank *rank = &execution->rank;
    tutti_pace_tell(rank);
    if (!err)
        tutti_rows_tell(rank);
    if (rank->ended && !err && tutti_rank_owns(rank, rank->ended->component))
        tutti_log_printf(rank->unit_log, TUTTI_LOG_WARNING, rank->ended->unit->name,
                         "the FMU ended the simulation at t = %s", TIME(rank->ended->now.t));
}

/* To a program that wants to know before code of an FMU runs for the last time. */
static void tell_finished(const struct tutti_rank *rank, const struct tutti_failure *failure)
{
    const struct tutti_run_options *options = &rank->job->options;
    if (!options->finished || !rank->stats || rank->reports)
        return;
    (void)tutti_failure_return(failure);
    options->finished(options->finished_context, failure->err, rank->stats);
}

/* A failure of the run is told before one of closing the file. */
enum tutti_err tutti_execution_close(struct tutti_execution *execution, enum tutti_err err)
{
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    close_companions(execution);
    tutti_checkpoints_close(execution);
    tutti_twin_close(execution);
    enum tutti_err closing = tutti_observer_close(&execution->observer);
    if (!failure.err)
        tutti_failure_keep(&failure, closing);
    enum tutti_err logged = tutti_master_close(&execution->master);
    if (!failure.err)
        tutti_failure_keep(&failure, logged);
    tell_finished(&execution->rank, &failure);
    tutti_rank_close(&execution->rank);
    return tutti_failure_return(&failure);
}

enum tutti_err tutti_run_job(const struct tutti_job *job, struct tutti_run_stats *stats)
{
    struct tutti_run_stats unused = {0}, *counted = stats ? stats : &unused;
    *counted = (struct tutti_run_stats){0};
    struct tutti_execution execution = {.rank = {.job = job, .stats = counted}};
    enum tutti_err err = tutti_execution_go(&execution);
    tutti_count(&execution.master);
    err = tutti_execution_close(&execution, err);
    tutti_run_stats_fini(&unused);
    return err;
}

enum tutti_err tutti_run_visited(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                 const struct tutti_visit *visit)
{
    struct tutti_job job;
    struct tutti_failure failure;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    TRY(tutti_job_open(&job, options, visit));
    tutti_failure_keep(&failure, tutti_run_job(&job, stats));
    tutti_job_close(&job);
    return tutti_failure_return(&failure);
}
