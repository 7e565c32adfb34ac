/* SPDX-License-Identifier: MIT */
#include "sim/execution_run.h"

#include <math.h>
#include <stdlib.h>
#include <tutti/run.h>

#include "base/number.h"
#include "base/options/options.h"
#include "base/wall_clock.h"
#include "fmu/instance.h"
#include "sim/checkpoint/checkpoint_schedule.h"
#include "sim/checkpoint/packed_state.h"
#include "sim/control/control.h"
#include "sim/control/twin.h"
#include "sim/decide.h"
#include "sim/events.h"
#include "sim/execution.h"
#include "sim/method_open.h"
#include "sim/rank.h"
#include "sim/rank_open.h"
#include "sim/ranks/team.h"
#include "sim/report/reporter.h"
#include "sim/run.h"
#include "sim/start/init.h"
#include "sim/start/input_rows.h"
#include "sim/ticks.h"

/* ---- to the first row ---- */

static enum tutti_err open_record(struct tt_execution *execution)
{
    struct tt_rank *rank = &execution->rank;
    const struct tt_checkpoint *from = rank->job->resume;
    struct tt_bytes resume = from ? from->result : (struct tt_bytes){0};
    if (rank->is_twin) /* no columns, no rows */
        return tt_record_open_sink(&execution->observer.sink, rank->fabric, rank->job->system->name, NULL, NULL, 0,
                                   false);
    struct tt_recorded_unit *observed = calloc(rank->member_count, sizeof *observed);
    if (!observed)
        return tt_fail_memory();
    for (uint32_t m = 0; m < rank->member_count; m++)
        observed[m] = (struct tt_recorded_unit){rank->members[m].unit, rank->members[m].inputs,
                                                .own = tt_rank_owns(rank, m), .has_pending = rank->pending_sets != NULL,
                                                .log = rank->unit_log};
    enum tutti_err err = tt_record_open(&execution->observer, &rank->job->options, rank->job->result, &rank->wires,
                                        observed, rank->log, rank->reports ? rank->fabric : NULL, resume);
    free(observed);
    return err;
}

/* From a job to units at a consistent start, with a master chosen for them. */
static enum tutti_err execution_initialize(struct tt_execution *execution)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_sim *master = &execution->master;
    master->rank = rank;
    master->observer = &execution->observer;
    TRY(tt_rank_open(rank));
    TRY(tt_init_compute(rank));
    TRY(tt_decide_method(master));
    TRY(tt_init_exit(rank));
    TRY(tt_decide_reconsider_coupling(master));
    TRY(tt_decide_test_rollback(master));
    tt_decide_log_method(master);
    return tt_sim_connect(master);
}

void tt_execution_enable_rows(struct tt_execution *execution, bool wanted)
{
    execution->observer.asleep = !wanted;
    tt_run_choose_path(&execution->loop);
}

/* Collective, after ranks have reported the columns of the result: a rank that fails later stops those that wait (F3),
 * and data that one of them has not reported by then is missing in the result of all. */
static enum tutti_err await_other_ranks(struct tt_execution *execution)
{
    bool unused = false;
    return execution->team ? tt_team_synchronize(execution->team) : tt_rank_agree_any(&execution->rank, &unused);
}

static enum tutti_err execution_open(struct tt_execution *execution, bool steered)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_sim *master = &execution->master;
    bool crossed = false;
    if (rank->job->companions[0])
        rank->pending_sets = &execution->pending_sets;
    TRY(execution_initialize(execution));
    if (execution->team)
        TRY(tt_twin_open(execution, execution->team));
    TRY(tt_packed_state_attach_replay(execution));
    TRY(open_record(execution)); /* not before: what is refused must not cost an earlier result */
    TRY(await_other_ranks(execution));
    execution->observer.muted = rank->job->resume != NULL;
    if (!rank->ended)
        TRY(tt_events_handle(master, &crossed));
    TRY(tt_sim_open(master)); /* only now it is known how units are stepped */
    TRY(tt_run_open(&execution->loop, master, steered));
    TRY(tt_rollback_list_add(&master->remembered, &execution->observer.last_row, sizeof execution->observer.last_row));
    tt_input_rows_start(rank, (master->chosen.is & TUTTI_METHOD_VARIES), (master->chosen.is & TUTTI_METHOD_PER_TIME));
    tt_packed_state_record_replay(execution);
    if (rank->job->resume)
        TRY(tt_packed_state_unpack(execution, rank->job->resume));
    else if (!crossed)
        TRY(tt_record_write_row(master->observer, rank->t));
    TRY(await_other_ranks(execution));
    if (!rank->job->resume)
        TRY(tt_init_apply_late(rank));
    execution->observer.muted = false;
    if (rank->is_twin)
        return TUTTI_OK;
    TRY(tt_checkpoint_schedule_open(execution));
    for (int i = 0; i < TUTTI_COMPANIONS && rank->job->companions[i]; i++) {
        const struct tt_run_extension *companion = rank->job->companions[i];
        TRY(companion->open(companion->context, execution, &execution->companions[i]));
    }
    return TUTTI_OK;
}

enum tutti_err tt_execution_start(struct tt_execution *execution, bool steered)
{
    double begin = tt_wall_clock_now();
    enum tutti_err err = tt_fail_about(execution_open(execution, steered), NULL, NULL, execution->rank.t);
    tt_run_start_clock(&execution->loop);
    if (!err)
        err = tt_tick_pace_start(&execution->rank, execution->loop.watch.loop_start,
                                 !steered && !(execution->master.chosen.is & TUTTI_METHOD_BY_ATTEMPTS));
    execution->rank.stats->setup_seconds = execution->loop.watch.loop_start - begin;
    return err;
}

/* An FMU ended the run. If macro steps are attempts, all ranks are notified, and continue to the end together;
 * otherwise not all are, and none may go further than this one. */
static enum tutti_err share_run_end(struct tt_execution *execution, enum tutti_err err)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_fabric *fabric = rank->fabric;
    bool early = fabric->step >= atomic_load(fabric->stop_after) && atomic_load(fabric->stop_after) > 0;
    if (!err && rank->ended && !(execution->master.chosen.is & TUTTI_METHOD_BY_ATTEMPTS))
        fabric->kind->stop(fabric, fabric->step);
    if (err == TUTTI_ERR_STOPPED)
        rank->ended = NULL;                                    /* in a step that not all have made */
    return err == TUTTI_ERR_STOPPED && early ? TUTTI_OK : err; /* it ended where it should */
}

enum tutti_err tt_execution_run(struct tt_execution *execution)
{
    struct tt_rank *rank = &execution->rank;
    enum tutti_err err = tt_execution_start(execution, false);
    if (!err)
        err = share_run_end(execution, tt_fail_about(tt_run_until_end(&execution->loop), NULL, NULL, rank->t));

    /* Whatever has happened, no partition computes after this. */
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    err = tt_tick_pace_stop(rank);
    if (failure.err)
        err = tt_fail_restore(&failure);
    tt_twin_stop(execution->twin);
    for (int i = 0; !err && i < TUTTI_COMPANIONS && execution->companions[i]; i++)
        if (rank->job->companions[i]->finish)
            err = rank->job->companions[i]->finish(execution->companions[i]);
    if (!err)
        err = tt_norm_estimate_run(&execution->master.norm);
    if (!err)
        err = tt_error_estimate_report(&execution->loop.foretold, &execution->master,
                                       execution->loop.growth.now.exploded);
    if (!err)
        err = tt_watch_report_growth(&execution->loop.growth, rank);
    if (!err)
        err = tt_record_report_columns(&execution->observer);
    if (!err)
        err = tt_execution_report_final_states(rank);
    if (!err)
        err = tt_rank_terminate(rank);

    /* Model Exchange was chosen by default: Co-Simulation may do better. */
    if (rank->joins && (err == TUTTI_ERR_FMU || err == TUTTI_ERR_SOLVER))
        err = tt_fail_context(err, "all units are of Model Exchange, because a tolerance is given (--interface cs: "
                                   "Co-Simulation)");
    rank->stats->loop_seconds = tt_wall_clock_now() - execution->loop.watch.loop_start;
    tt_execution_log_end(execution, err);
    return err;
}

enum tutti_err tt_execution_serve_twin(struct tt_execution *execution)
{
    struct tt_rank *rank = &execution->rank;
    TRY(tt_execution_start(execution, false));
    TRY(tt_fail_about(tt_twin_serve(execution), NULL, NULL, rank->t));
    return tt_rank_terminate(rank);
}

void tt_execution_log_end(const struct tt_execution *execution, enum tutti_err err)
{
    const struct tt_rank *rank = &execution->rank;
    tt_run_report_lag(rank);
    if (!err)
        tt_input_rows_warn(rank);
    if (rank->ended && !err && tt_rank_owns(rank, rank->ended->component))
        tt_log(rank->unit_log, TUTTI_LOG_WARNING, rank->ended->unit->name, "the FMU ended the simulation at t = %s",
               TIME(rank->ended->now.t));
}

/* A failure of the run takes precedence over one of closing the file. */
enum tutti_err tt_execution_close(struct tt_execution *execution, enum tutti_err err)
{
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    for (int i = 0; i < TUTTI_COMPANIONS && execution->companions[i]; i++)
        execution->rank.job->companions[i]->close(execution->companions[i]);
    tt_pending_set_fini_all(&execution->pending_sets);
    tt_checkpoint_schedule_close(execution);
    tt_twin_close(execution);
    enum tutti_err closing = tt_record_close(&execution->observer);
    if (!failure.err)
        tt_fail_save(&failure, closing);
    enum tutti_err logged = tt_sim_close(&execution->master);
    if (!failure.err)
        tt_fail_save(&failure, logged);

    /* A program that wants to know hears of it before code of an FMU runs for the last time. */
    const struct tt_rank *rank = &execution->rank;
    const struct tutti_run_options *options = &rank->job->options;
    if (options->finished && rank->stats && !rank->reports) {
        (void)tt_fail_restore(&failure);
        options->finished(options->finished_context, failure.err, rank->stats);
    }
    tt_rank_close(&execution->rank);
    return tt_fail_restore(&failure);
}

enum tutti_err tt_execution_run_job(const struct tt_job *job, struct tutti_run_stats *stats)
{
    struct tutti_run_stats unused = {0}, *counted = stats ? stats : &unused;
    *counted = (struct tutti_run_stats){0};
    struct tt_execution execution = {.rank = {.job = job, .stats = counted}};
    enum tutti_err err = tt_execution_run(&execution);
    tt_execution_count(&execution.master);
    err = tt_execution_close(&execution, err);
    tt_stats_fini(&unused);
    return err;
}

enum tutti_err tt_execution_run_files(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                      const struct tt_visit *visit)
{
    struct tt_job job;
    struct tt_failure failure;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    TRY(tt_job_open(&job, options, visit));
    tt_fail_save(&failure, tt_execution_run_job(&job, stats));
    tt_job_close(&job);
    return tt_fail_restore(&failure);
}

/* ---- under a conductor ---- */

/* Messages that are equal on all ranks are logged by the first one; each rank logs those about its units, unless they
 * are second instances. Suppressed messages are reported, too, for the last messages of a lost rank. */
static enum tutti_err execution_run_in_fabric(const struct tt_job *job, struct tt_fabric *fabric, struct tt_team *team)
{
    bool is_twin = team && tt_team_number(team) == 1;
    const struct tutti_log *asked = job->options.log;
    enum tutti_log_level level = asked && asked->level > TUTTI_LOG_INFO ? asked->level : TUTTI_LOG_INFO;
    struct tutti_run_stats stats = {0};
    struct tt_reporter *reporter;
    struct tt_failure failure;
    enum tutti_err silent = tt_reporter_new(&reporter, fabric, level);
    if (silent) {
        fabric->kind->stop(fabric, 0); /* its end is seen; that others wait for it is not */
        return silent;
    }
    const struct tutti_log *log = tt_reporter_get_log(reporter);
    struct tt_execution execution = {.rank = {.job = job,
                                              .stats = &stats,
                                              .fabric = fabric,
                                              .place = fabric->ranks > 1 ? job->place : NULL,
                                              .reports = true,
                                              .is_twin = is_twin,
                                              .log = fabric->rank == 0 && !is_twin ? log : NULL,
                                              .unit_log = is_twin ? NULL : log},
                                     .master = {.reporter = reporter},
                                     .team = team};
    tt_instance_ignore_fatal(true);
    tt_fail_save(&failure, is_twin ? tt_execution_serve_twin(&execution) : tt_execution_run(&execution));
    tt_instance_ignore_fatal(false);
    uint32_t component = atomic_load(&fabric->where->component); /* that was called last; TUTTI_NONE: none */
    if (failure.err && failure.err != TUTTI_ERR_STOPPED)
        fabric->kind->stop(fabric, fabric->step); /* other ranks continue to this rank's step, so that no row is lost */
    tt_execution_count(&execution.master);
    double t = execution.rank.t, target = execution.rank.target;
    /* FMUs may log messages when they are freed; so the rank's end is reported after that. */
    enum tutti_err closing = tt_execution_close(&execution, TUTTI_OK);
    if (!failure.err)
        tt_fail_save(&failure, closing);

    /* A failure to report is ignored; the conductor detects the cause. */
    if (!is_twin)
        (void)!tt_reporter_send_tally(reporter, &stats);
    enum tutti_err result = tt_fail_restore(&failure);
    bool failed = result && result != TUTTI_ERR_STOPPED; /* in the step to `target`, if in one */
    (void)!tt_reporter_send_end(reporter, result, component, failed ? fmax(t, target) : t);
    tt_reporter_free(reporter);
    tt_stats_fini(&stats);
    return result;
}

enum tutti_err tt_execution_run_rank(const struct tt_job *job, struct tt_fabric *fabric)
{
    struct tt_team *team = NULL;
    if (!job->options.twin)
        return execution_run_in_fabric(job, fabric, NULL);
    enum tutti_err err = tt_team_join(&team, fabric);
    if (err)
        tt_execution_fail_rank(fabric, err);
    else
        err = execution_run_in_fabric(job, tt_team_fabric(team), team);
    tt_team_leave(team);
    return err;
}

void tt_execution_fail_rank(struct tt_fabric *fabric, enum tutti_err err)
{
    struct tt_reporter *reporter;
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    fabric->kind->stop(fabric, 0);
    if (tt_reporter_new(&reporter, fabric, TUTTI_LOG_INFO)) /* without it, its end is seen all the same */
        return;
    (void)!tt_reporter_send_end(reporter, tt_fail_restore(&failure), TUTTI_NONE, 0);
    tt_reporter_free(reporter);
}
