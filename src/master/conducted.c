/* SPDX-License-Identifier: MIT */
#include "master/conducted.h"

#include <math.h>

#include "fabric/team.h"
#include "fmi/instance.h"
#include "master/count.h"
#include "master/run.h"
#include "report/rank_reporter.h"

/* Where the rank is when all is over, for its last words. */
struct place {
    double t, target;
    uint32_t component; /* that was called last; TUTTI_NONE: none */
};

/* From the first unit to what was counted. */
static void go(struct tutti_execution *execution, struct tutti_failure *failure, struct place *place)
{
    struct tutti_rank *rank = &execution->rank;
    struct tutti_fabric *fabric = rank->fabric;
    tutti_instance_go_on(true);
    tutti_failure_keep(failure, rank->is_twin ? tutti_execution_serve(execution) : tutti_execution_go(execution));
    tutti_instance_go_on(false);
    uint32_t component = atomic_load(&fabric->where->component);
    if (failure->err && failure->err != TUTTI_ERR_STOPPED)
        fabric->kind->stop(fabric, fabric->step); /* others come as far as this one, so that no row is lost */
    tutti_count(&execution->master);
    *place = (struct place){rank->t, rank->target, component};
    /* Units may have something to say at their end; so the rank's end comes after theirs. */
    enum tutti_err closing = tutti_execution_close(execution, TUTTI_OK);
    if (!failure->err)
        tutti_failure_keep(failure, closing);
}

/* What all ranks would say alike, the first one says; of its units each says everything, unless they are second instances. What was not
 * asked for is told, too: the conductor keeps it as last words of a rank that is lost. */
static enum tutti_err run_in(const struct tutti_job *job, struct tutti_fabric *fabric, struct tutti_team *team)
{
    bool is_twin = team && tutti_team_number(team) == 1;
    const struct tutti_log *asked = job->options.log;
    enum tutti_log_level level = asked && asked->level > TUTTI_LOG_INFO ? asked->level : TUTTI_LOG_INFO;
    struct tutti_run_stats stats = {0};
    struct tutti_rank_reporter *reporter;
    struct place place;
    struct tutti_failure failure;
    enum tutti_err silent = tutti_rank_reporter_new(&reporter, fabric, level);
    if (silent) {
        fabric->kind->stop(fabric, 0); /* its end is seen; that others wait for it is not */
        return silent;
    }
    const struct tutti_log *log = tutti_rank_reporter_log(reporter);
    struct tutti_execution execution = {.rank = {.job = job,
                                                 .stats = &stats,
                                                 .fabric = fabric,
                                                 .place = fabric->ranks > 1 ? job->place : NULL,
                                                 .reports = true,
                                                 .is_twin = is_twin,
                                                 .log = fabric->rank == 0 && !is_twin ? log : NULL,
                                                 .unit_log = is_twin ? NULL : log},
                                        .master = {.reporter = reporter},
                                        .team = team};
    go(&execution, &failure, &place);
    /* What cannot be told is lost; whatever is wrong there, the conductor will see. */
    if (!is_twin)
        (void)!tutti_rank_reporter_tell_tally(reporter, &stats);
    enum tutti_err result = tutti_failure_return(&failure);
    bool failed = result && result != TUTTI_ERR_STOPPED; /* in the step to `target`, if in one */
    (void)!tutti_rank_reporter_tell_end(reporter, result, place.component,
                                        failed ? fmax(place.t, place.target) : place.t);
    tutti_rank_reporter_free(reporter);
    tutti_run_stats_fini(&stats);
    return result;
}

enum tutti_err tutti_rank_run(const struct tutti_job *job, struct tutti_fabric *fabric)
{
    struct tutti_team *team = NULL;
    if (!job->options.twin)
        return run_in(job, fabric, NULL);
    enum tutti_err err = tutti_team_join(&team, fabric);
    if (err)
        tutti_rank_give_up(fabric, err);
    else
        err = run_in(job, tutti_team_fabric(team), team);
    tutti_team_leave(team);
    return err;
}

void tutti_rank_give_up(struct tutti_fabric *fabric, enum tutti_err err)
{
    struct tutti_rank_reporter *reporter;
    struct tutti_failure failure;
    tutti_failure_keep(&failure, err);
    fabric->kind->stop(fabric, 0);
    if (tutti_rank_reporter_new(&reporter, fabric, TUTTI_LOG_INFO)) /* without it, its end is seen all the same */
        return;
    (void)!tutti_rank_reporter_tell_end(reporter, tutti_failure_return(&failure), TUTTI_NONE, 0);
    tutti_rank_reporter_free(reporter);
}
