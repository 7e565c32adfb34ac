/* SPDX-License-Identifier: MIT */
/* The life cycle of a simulation that a program steps: a run (run.c) with its loop split into calls. */
#include "apps/api/simulation.h"

#include <math.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/api/recording.h"
#include "apps/api/reset.h"
#include "base/fs.h"
#include "base/number.h"
#include "base/wall_clock.h"
#include "run/run_identity.h"
#include "sim/checkpoint/checkpoint.h"
#include "sim/checkpoint/packed_state.h"
#include "sim/events.h"
#include "sim/execution.h"
#include "sim/pending_set.h"
#include "sim/rank_open.h"

/* ---- beginning ---- */

static enum tutti_err simulation_check_options(const struct tutti_run_options *options)
{
    if (options->threads > 1 || options->processes > 0 || options->nodes || options->mpi || options->twin)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "a simulation that is stepped runs in the thread that calls: threads, "
                                              "processes, nodes, mpi and twin are for tutti_run");
    if ((options->confine && strcmp(options->confine, "none") != 0) || options->has_timeout)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "%s for tutti_run: a simulation that is stepped runs in the process that calls, which cannot %s",
                       options->has_timeout ? "timeout is" : "confine, allow and limits are",
                       options->has_timeout ? "end itself" : "be confined");
    if (options->initial_state_count > 0 || options->final_state_count > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "initial-state and final-state are for tutti_run; a simulation that is "
                                              "stepped has tutti_simulation_save_file and restore_file");
    if (options->join)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "join is for tutti_run; a program that steps a simulation joins a "
                                              "federation by itself (<tutti/federate.h>)");
    if (options->checkpoint || options->resume || options->recover > 0)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "checkpoint, resume and recover are for tutti_run; a simulation that is "
                                              "stepped has tutti_simulation_save_file and restore_file");
    return TUTTI_OK;
}

enum tutti_err tutti_simulation_open(struct tutti_simulation **out, const struct tutti_run_options *options)
{
    TRY(simulation_check_options(options));
    struct tutti_simulation *simulation = calloc(1, sizeof *simulation);
    if (!simulation)
        return tt_fail_memory();
    simulation->given = options;
    simulation->options = *options;
    enum tutti_err err = tt_job_open(&simulation->job, &simulation->options, NULL);
    if (!err)
        err = simulation_check_options(&simulation->job.options); /* including the annotation's settings */
    if (!err)
        err = tt_simulation_values_number(simulation);
    if (err)
        tutti_simulation_free(simulation);
    else
        *out = simulation;
    return err;
}

/* Values given since are options like others, and count above them. */
static enum tutti_err add_sets(struct tutti_simulation *simulation)
{
    const struct tutti_run_options *given = simulation->given;
    size_t count = given->set_count + simulation->set_count;
    const char **all = tt_arena_array(&simulation->arena, count, sizeof *all);
    if (!all)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        all[i] = i < given->set_count ? given->sets[i] : simulation->set[i - given->set_count];
    simulation->options = *given;
    simulation->options.sets = all;
    simulation->options.set_count = count;
    return TUTTI_OK;
}

/* Loaded texts stay valid: the program holds some of them (tutti_simulation_describe). */
static enum tutti_err apply_sets(struct tutti_simulation *simulation)
{
    if (simulation->set_count == 0 && !simulation->job_has_sets)
        return TUTTI_OK;
    TRY(add_sets(simulation));
    if (!simulation->job_fits || !tt_job_apply_settings(&simulation->job, &simulation->options))
        TRY(tt_job_reopen(&simulation->job, &simulation->options));
    simulation->job_fits = true;
    simulation->job_has_sets = simulation->set_count > 0;
    return TUTTI_OK;
}

enum tutti_err tutti_simulation_start(struct tutti_simulation *simulation)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_OPEN, "start"));
    enum tutti_err err = apply_sets(simulation);
    if (!err)
        err = tt_reset_test(&simulation->job);
    if (!err) {
        simulation->execution.rank = (struct tt_rank){
            .job = &simulation->job, .stats = &simulation->stats, .pending_sets = &simulation->pending_sets};
        err = tt_execution_start(&simulation->execution, true);
    }
    simulation->stage = err ? TUTTI_STAGE_FAILED : TUTTI_STAGE_STARTED;
    return err;
}

/* ---- steps ---- */

double tutti_simulation_time(const struct tutti_simulation *simulation)
{
    switch (simulation->stage) {
    case TUTTI_STAGE_OPEN: return simulation->job.times.start;
    case TUTTI_STAGE_FINISHED: return simulation->t;
    case TUTTI_STAGE_STARTED:
    case TUTTI_STAGE_FAILED: break;
    }
    return simulation->execution.rank.t;
}

double tutti_simulation_stop(const struct tutti_simulation *simulation)
{
    const struct tt_rank *rank = &simulation->execution.rank;
    return rank->job ? rank->times.stop : simulation->job.times.stop;
}

bool tutti_simulation_is_over(const struct tutti_simulation *simulation)
{
    const struct tt_rank *rank = &simulation->execution.rank;
    return simulation->stage > TUTTI_STAGE_STARTED ||
           (simulation->stage == TUTTI_STAGE_STARTED && (rank->ended || rank->t >= rank->times.stop));
}

static enum tutti_err simulation_step(struct tt_execution *execution)
{
    TRY(tt_events_apply_pending(&execution->master));
    return tt_run_until_end(&execution->loop);
}

static enum tutti_err simulation_record_error(struct tutti_simulation *simulation, enum tutti_err err)
{
    if (err && err != TUTTI_ERR_INTERRUPTED)
        simulation->stage = TUTTI_STAGE_FAILED;
    return tt_fail_about(err, NULL, NULL, simulation->execution.rank.t);
}

enum tutti_err tutti_simulation_step(struct tutti_simulation *simulation)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "step"));
    return simulation_record_error(
        simulation, tutti_simulation_is_over(simulation) ? TUTTI_OK : simulation_step(&simulation->execution));
}

static enum tutti_err simulation_check_time(const struct tt_execution *execution, double t)
{
    const struct tt_rank *rank = &execution->rank;
    const struct tt_time_grid *grid = &execution->loop.communication;
    if (!tt_time_reached(t, rank->t, rank->span) || !tt_time_reached(rank->times.stop, t, rank->span))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "tutti_simulation_advance: t = %s is not ahead: the simulation is at %s and goes to %s",
                       NUMBER(t), NUMBER(rank->t), NUMBER(rank->times.stop));
    const struct tt_unit *unit = rank->members[0].unit;
    if (!rank->single_unit || !unit->uniform)
        return TUTTI_OK;
    double n = round((t - grid->start) / grid->step);
    if (!tt_time_same(grid->start + n * grid->step, t, rank->span))
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "tutti_simulation_advance: %s cannot vary its step of %s, and t = %s lies between two",
                       unit->name, NUMBER(grid->step), NUMBER(t));
    return TUTTI_OK;
}

/* Returns true if a value waits for a unit to begin its next separate step. */
static bool simulation_has_pending(const struct tt_rank *rank)
{
    bool has = false;
    for (uint32_t m = 0; m < rank->own_count; m++)
        has = has || rank->own[m]->now.has_pending;
    return has;
}

static enum tutti_err simulation_advance(struct tt_execution *execution, double t)
{
    struct tt_rank *rank = &execution->rank;
    enum tutti_err err = TUTTI_OK;
    if (tt_time_reached(t, rank->times.stop, rank->span)) {
        TRY(tt_events_apply_pending(&execution->master));
        if (!simulation_has_pending(rank)) { /* all steps that are left, as a run makes them */
            execution->loop.steered = false;
            err = tt_run_until_end(&execution->loop);
            execution->loop.steered = true;
            return err;
        }
    }
    execution->loop.halt_at = fmin(t, rank->times.stop);
    while (!err && !tt_time_reached(rank->t, t, rank->span) && !rank->ended) {
        bool ran = false;
        if (!simulation_has_pending(rank))
            err = tt_run_fast_until(&execution->loop, t, &ran);
        if (!err && !ran)
            err = simulation_step(execution);
    }
    execution->loop.halt_at = INFINITY;
    return err;
}

enum tutti_err tutti_simulation_advance(struct tutti_simulation *simulation, double t)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "advance"));
    TRY(simulation_check_time(&simulation->execution, t));
    return simulation_record_error(simulation, simulation_advance(&simulation->execution, t));
}

/* ---- ways back ---- */

static enum tutti_err check_point(const struct tutti_simulation *simulation, const struct tutti_point *point,
                                  const char *call)
{
    return tt_simulation_has_point(&simulation->points, point)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT,
                         "tutti_simulation_%s: the point does not belong to this simulation: it was saved by a "
                         "different simulation, or before a reset, or is freed; save a new one",
                         call);
}

enum tutti_err tutti_simulation_save(struct tutti_simulation *simulation, struct tutti_point **point)
{
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "save"));
    if (*point)
        TRY(check_point(simulation, *point, "save"));
    return tt_simulation_save_point(&simulation->points, point, &simulation->execution);
}

enum tutti_err tutti_simulation_restore(struct tutti_simulation *simulation, const struct tutti_point *point)
{
    struct tt_execution *execution = &simulation->execution;
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore"));
    if (execution->observer.sink.output.format || execution->master.log)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "tutti_simulation_restore: times in the %s would run backwards; use a watcher",
                       execution->master.log ? "step log" : "result file");
    TRY(check_point(simulation, point, "restore"));
    return simulation_record_error(simulation, tt_simulation_restore_point(&simulation->points, point, execution));
}

void tutti_point_free(struct tutti_simulation *simulation, struct tutti_point *point)
{
    tt_simulation_release_point(&simulation->points, point, &simulation->execution);
}

/* ---- the end ---- */

/* The end of a run; what was loaded stays. */
static enum tutti_err simulation_close(struct tutti_simulation *simulation)
{
    struct tt_failure failure;
    simulation->t = tutti_simulation_time(simulation);
    tt_simulation_free_points(&simulation->points, &simulation->execution);
    tt_reset_enable(&simulation->job, simulation->was_reset);
    tt_fail_save(&failure,
                 simulation->execution.rank.job ? tt_execution_close(&simulation->execution, TUTTI_OK) : TUTTI_OK);
    tt_reset_enable(&simulation->job, false);
    simulation->execution = (struct tt_execution){0};
    tt_pending_set_fini_all(&simulation->pending_sets);
    tt_simulation_values_free_handles(simulation);
    simulation->stage = TUTTI_STAGE_FINISHED;
    return tt_fail_restore(&failure);
}

enum tutti_err tutti_simulation_finish(struct tutti_simulation *simulation, struct tutti_run_stats *stats)
{
    struct tt_execution *execution = &simulation->execution;
    struct tt_failure failure;
    if (stats)
        *stats = (struct tutti_run_stats){0};
    if (simulation->stage == TUTTI_STAGE_FINISHED || simulation->stage == TUTTI_STAGE_OPEN)
        return tt_simulation_reject(simulation, "finish");
    bool began = execution->rank.job != NULL; /* else it could not be loaded again */
    tt_fail_save(&failure, simulation->stage == TUTTI_STAGE_STARTED ? tt_rank_terminate(&execution->rank) : TUTTI_OK);
    if (!failure.err && simulation->stage == TUTTI_STAGE_STARTED)
        tt_fail_save(&failure, tt_watch_report_growth(&execution->loop.growth, &execution->rank));
    double loop_start = execution->loop.watch.loop_start;
    simulation->stats.loop_seconds = loop_start > 0 ? tt_wall_clock_now() - loop_start : 0;
    if (began)
        tt_execution_log_end(execution, failure.err);
    if (stats && began) {
        tt_execution_count(&execution->master);
        *stats = simulation->stats;
        simulation->stats = (struct tutti_run_stats){0};
    }
    enum tutti_err closing = simulation_close(simulation);
    return failure.err ? tt_fail_restore(&failure) : closing;
}

enum tutti_err tutti_simulation_reset(struct tutti_simulation *simulation)
{
    simulation->was_reset = true;
    enum tutti_err err = simulation->stage == TUTTI_STAGE_FINISHED ? TUTTI_OK : simulation_close(simulation);
    tt_stats_fini(&simulation->stats);
    simulation->stats = (struct tutti_run_stats){0};
    simulation->set_count = 0;
    tt_arena_fini(&simulation->arena);
    simulation->arena = (struct tt_arena){0};
    simulation->stage = TUTTI_STAGE_OPEN;
    return err;
}

void tutti_simulation_free(struct tutti_simulation *simulation)
{
    if (!simulation)
        return;
    simulation->was_reset = false;
    if (simulation->stage != TUTTI_STAGE_FINISHED)
        (void)!simulation_close(simulation);
    tt_job_close(&simulation->job);
    tt_simulation_values_reset_handles(simulation);
    tt_stats_fini(&simulation->stats);
    free(simulation->first);
    free(simulation->handles);
    free(simulation->set);
    tt_arena_fini(&simulation->arena);
    free(simulation);
}

struct tt_simulation_point {
    struct tt_simulation_point *next;
    const struct tutti_point *handle; /* what the program has: a number that no other point of the process has had */
    struct tt_snapshot snapshot;
    size_t rows;      /* recorded until then */
    char *remembered; /* by the master and its loop */
    struct tt_byte_writer pending_sets;
};

static struct tt_simulation_point *point_find(const struct tt_simulation_points *points,
                                              const struct tutti_point *handle)
{
    struct tt_simulation_point *at = points->first;
    while (at && at->handle != handle)
        at = at->next;
    return at;
}

static enum tutti_err point_save(struct tt_simulation_point *point, struct tt_execution *execution)
{
    const struct tutti_recording *recording = tt_recording_find(&execution->rank.job->options);
    const struct tt_rollback_list *remembered = &execution->master.remembered;
    TRY(tt_snapshot_take(&point->snapshot, &execution->rank));
    tt_bytes_reset(&point->pending_sets);
    tt_pending_set_pack_all(execution->rank.pending_sets, &point->pending_sets);
    if (!point->remembered)
        point->remembered = malloc(remembered->size + 1);
    if (!point->remembered || point->pending_sets.failed)
        return tt_fail_memory();
    tt_rollback_list_save(remembered, point->remembered);
    point->rows = recording ? tutti_recording_rows(recording) : 0;
    return TUTTI_OK;
}

/* Informs units how far back they may be rolled back. */
static void report_earliest_point(const struct tt_simulation_points *points, struct tt_rank *rank)
{
    rank->kept_from = INFINITY;
    for (const struct tt_simulation_point *at = points->first; at; at = at->next)
        rank->kept_from = fmin(rank->kept_from, at->snapshot.t);
    for (uint32_t m = 0; m < rank->own_count; m++)
        rank->own[m]->unit->back_to = rank->kept_from;
}

static void point_release(struct tt_simulation_points *points, struct tt_simulation_point *point,
                          struct tt_execution *execution)
{
    struct tt_simulation_point **at = &points->first;
    while (*at != point)
        at = &(*at)->next;
    *at = point->next;
    tt_snapshot_fini(&point->snapshot, &execution->rank);
    free(point->remembered);
    tt_bytes_fini(&point->pending_sets);
    free(point);
    report_earliest_point(points, &execution->rank);
}

enum tutti_err tt_simulation_save_point(struct tt_simulation_points *points, struct tutti_point **point,
                                        struct tt_execution *execution)
{
    struct tt_simulation_point *kept = *point ? point_find(points, *point) : calloc(1, sizeof *kept);
    if (!kept)
        return tt_fail_memory();
    /* Programs keep handles of points that are gone: the address of one would soon be that of another point. */
    static _Atomic uintptr_t last;
    struct tutti_point *handle = *point;
    if (!handle) {
        kept->handle = handle = (struct tutti_point *)(atomic_fetch_add(&last, 1) + 1); /* NOLINT(*-int-to-ptr) */
        kept->next = points->first;
        points->first = kept;
    }
    enum tutti_err err = point_save(kept, execution);
    if (err && !*point)
        point_release(points, kept, execution);
    if (!err)
        *point = handle;
    report_earliest_point(points, &execution->rank);
    return err;
}

enum tutti_err tt_simulation_restore_point(const struct tt_simulation_points *points, const struct tutti_point *handle,
                                           struct tt_execution *execution)
{
    const struct tt_simulation_point *point = point_find(points, handle);
    struct tutti_recording *recording = tt_recording_find(&execution->rank.job->options);
    struct tt_rank *rank = &execution->rank;
    struct tt_sim *master = &execution->master;
    TRY(tt_snapshot_restore(&point->snapshot, rank, TUTTI_STATE_POINT));
    rank->target = rank->t;
    struct tt_byte_reader pending_sets = tt_bytes_get_begin(tt_bytes_written(&point->pending_sets));
    TRY(tt_pending_set_unpack_all(rank, &pending_sets));
    tt_rollback_list_restore(&master->remembered, point->remembered);
    tt_outputs_invalidate(&master->outputs); /* to be read again where the units are */
    tt_detector_invalidate(&master->detector);
    if (recording)
        tt_recording_cut(recording, point->rows);
    return TUTTI_OK;
}

bool tt_simulation_has_point(const struct tt_simulation_points *points, const struct tutti_point *point)
{
    return point_find(points, point) != NULL;
}

void tt_simulation_release_point(struct tt_simulation_points *points, const struct tutti_point *point,
                                 struct tt_execution *execution)
{
    struct tt_simulation_point *kept = point_find(points, point);
    if (kept)
        point_release(points, kept, execution);
}

void tt_simulation_free_points(struct tt_simulation_points *points, struct tt_execution *execution)
{
    while (points->first)
        point_release(points, points->first, execution);
}

/* Points of a simulation as files: checkpoints (sim/checkpoint/checkpoint.h), as a run writes them. */

struct checkpoint_content {
    struct tt_state_packer packer;
    struct tt_byte_writer identity, common;
    struct tt_byte_writer *units;
    struct tt_bytes *pieces;
};

static enum tutti_err simulation_files_pack(struct tutti_simulation *simulation, struct checkpoint_content *content)
{
    struct tt_execution *execution = &simulation->execution;
    uint32_t count = execution->rank.member_count;
    content->units = calloc((size_t)count + 1, sizeof *content->units);
    content->pieces = calloc((size_t)count + 1, sizeof *content->pieces);
    if (!content->units || !content->pieces)
        return tt_fail_memory();
    TRY(tt_packed_state_check_units(execution));
    TRY(tt_run_identity_check(&simulation->job, &content->identity));
    tt_packed_state_flush_counts(execution);
    TRY(tt_packed_state_pack_common(execution, &content->common));
    bool failed = content->common.failed;
    for (uint32_t i = 0; i < count; i++) {
        TRY(tt_packed_state_pack_unit(&content->packer, execution, i, &content->units[i]));
        content->pieces[i] = tt_bytes_written(&content->units[i]);
        failed = failed || content->units[i].failed;
    }
    return failed ? tt_fail_memory() : TUTTI_OK;
}

static void simulation_files_release(struct tutti_simulation *simulation, struct checkpoint_content *content)
{
    tt_packed_state_fini_packer(&content->packer, &simulation->execution);
    for (uint32_t i = 0; content->units && i < simulation->execution.rank.member_count; i++)
        tt_bytes_fini(&content->units[i]);
    free(content->units);
    free(content->pieces);
    tt_bytes_fini(&content->identity);
    tt_bytes_fini(&content->common);
    simulation->job.identity = (struct tt_bytes){0};
}

enum tutti_err tt_simulation_pack(struct tutti_simulation *simulation, struct tt_byte_writer *bytes)
{
    struct checkpoint_content content = {0};
    struct tt_failure failure;
    tt_fail_save(&failure, simulation_files_pack(simulation, &content));
    const struct tt_checkpoint checkpoint = {.t = simulation->execution.rank.t,
                                             .identity = tt_bytes_written(&content.identity),
                                             .common = tt_bytes_written(&content.common),
                                             .units = content.pieces,
                                             .unit_count = simulation->execution.rank.member_count};
    if (!failure.err)
        tt_checkpoint_encode_and_hash(bytes, &checkpoint);
    simulation_files_release(simulation, &content);
    if (!failure.err && bytes->failed)
        return tt_fail_memory();
    return tt_fail_restore(&failure);
}

enum tutti_err tutti_simulation_save_file(struct tutti_simulation *simulation, const char *path)
{
    struct tt_byte_writer bytes = {0};
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "save_file"));
    enum tutti_err err = tt_simulation_pack(simulation, &bytes);
    char *absolute = err ? NULL : tt_fs_absolute(path);
    if (!err)
        err = absolute ? tt_checkpoint_write(absolute, bytes.bytes, bytes.size) : tt_fail_memory();
    free(absolute);
    tt_bytes_fini(&bytes);
    return err;
}

/* Before anything is touched. */
static enum tutti_err simulation_files_check(struct tutti_simulation *simulation, struct tt_checkpoint *checkpoint)
{
    struct tt_byte_writer identity = {0};
    simulation->job.resume = checkpoint;
    enum tutti_err err = tt_run_identity_check(&simulation->job, &identity);
    simulation->job.resume = NULL;
    simulation->job.identity = (struct tt_bytes){0};
    tt_bytes_fini(&identity);
    return err;
}

static enum tutti_err simulation_files_unpack(struct tutti_simulation *simulation,
                                              const struct tt_checkpoint *checkpoint)
{
    enum tutti_err err = tt_packed_state_unpack(&simulation->execution, checkpoint);
    if (err)
        simulation->stage = TUTTI_STAGE_FAILED;
    return err;
}

/* The checkpoint goes; the error stays. */
static enum tutti_err simulation_files_close_checkpoint(struct tt_checkpoint *checkpoint, enum tutti_err err)
{
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    tt_checkpoint_free(checkpoint);
    return tt_fail_restore(&failure);
}

enum tutti_err tt_simulation_unpack(struct tutti_simulation *simulation, struct tt_bytes bytes)
{
    struct tt_checkpoint *checkpoint;
    TRY(tt_checkpoint_parse(&checkpoint, bytes.data, bytes.size, "the state"));
    return simulation_files_close_checkpoint(checkpoint, simulation_files_unpack(simulation, checkpoint));
}

enum tutti_err tutti_simulation_restore_file(struct tutti_simulation *simulation, const char *path)
{
    struct tt_execution *execution = &simulation->execution;
    struct tt_checkpoint *checkpoint;
    bool kept;
    TRY(tt_simulation_check(simulation, TUTTI_STAGE_STARTED, "restore_file"));
    if (execution->observer.sink.output.format || execution->master.log)
        return tt_fail(TUTTI_ERR_UNSUPPORTED,
                       "tutti_simulation_restore_file: the %s has begun, and would jump; use a watcher",
                       execution->master.log ? "step log" : "result file");
    TRY(tt_checkpoint_read(&checkpoint, path, &kept));
    enum tutti_err err = simulation_files_check(simulation, checkpoint);
    if (!err)
        err = simulation_files_unpack(simulation, checkpoint);
    struct tutti_recording *recording = tt_recording_find(&simulation->job.options);
    if (!err && recording)
        tt_recording_cut_after(recording, execution->rank.t);
    return simulation_files_close_checkpoint(checkpoint, err);
}
