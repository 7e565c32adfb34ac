/* SPDX-License-Identifier: MIT */
#include "sim/rank_main.h"

#include <math.h>

#include "sim/ranks/team.h"
#include "fmu/instance.h"
#include "sim/execution.h"
#include "sim/execution_run.h"
#include "sim/report/reporter.h"

/* Where the rank is when all is over, for its last words. */
struct rank_failure_place {
    double t, target;
    uint32_t component; /* that was called last; TUTTI_NONE: none */
};

static void rank_main_run_execution(struct tt_execution *execution, struct tt_failure *failure,
                                    struct rank_failure_place *place)
{
    struct tt_rank *rank = &execution->rank;
    struct tt_fabric *fabric = rank->fabric;
    tt_instance_ignore_fatal(true);
    tt_fail_save(failure, rank->is_twin ? tt_execution_serve_twin(execution) : tt_execution_run(execution));
    tt_instance_ignore_fatal(false);
    uint32_t component = atomic_load(&fabric->where->component);
    if (failure->err && failure->err != TUTTI_ERR_STOPPED)
        fabric->kind->stop(fabric, fabric->step); /* other ranks continue to this rank's step, so that no row is lost */
    tt_execution_count(&execution->master);
    *place = (struct rank_failure_place){rank->t, rank->target, component};
    /* Units may have something to say at their end; so the rank's end comes after theirs. */
    enum tutti_err closing = tt_execution_close(execution, TUTTI_OK);
    if (!failure->err)
        tt_fail_save(failure, closing);
}

/* Messages that are equal on all ranks are logged by the first one; each rank logs those about its units, unless they
 * are second instances. Suppressed messages are reported, too, for the last messages of a lost rank. */
static enum tutti_err run_in_fabric(const struct tt_job *job, struct tt_fabric *fabric, struct tt_team *team)
{
    bool is_twin = team && tt_team_number(team) == 1;
    const struct tutti_log *asked = job->options.log;
    enum tutti_log_level level = asked && asked->level > TUTTI_LOG_INFO ? asked->level : TUTTI_LOG_INFO;
    struct tutti_run_stats stats = {0};
    struct tt_reporter *reporter;
    struct rank_failure_place place;
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
    rank_main_run_execution(&execution, &failure, &place);
    /* A failure to report is ignored; the conductor detects the cause. */
    if (!is_twin)
        (void)!tt_reporter_send_tally(reporter, &stats);
    enum tutti_err result = tt_fail_restore(&failure);
    bool failed = result && result != TUTTI_ERR_STOPPED; /* in the step to `target`, if in one */
    (void)!tt_reporter_send_end(reporter, result, place.component, failed ? fmax(place.t, place.target) : place.t);
    tt_reporter_free(reporter);
    tt_stats_fini(&stats);
    return result;
}

enum tutti_err tt_rank_main_run(const struct tt_job *job, struct tt_fabric *fabric)
{
    struct tt_team *team = NULL;
    if (!job->options.twin)
        return run_in_fabric(job, fabric, NULL);
    enum tutti_err err = tt_team_join(&team, fabric);
    if (err)
        tt_rank_main_fail(fabric, err);
    else
        err = run_in_fabric(job, tt_team_fabric(team), team);
    tt_team_leave(team);
    return err;
}

void tt_rank_main_fail(struct tt_fabric *fabric, enum tutti_err err)
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
