/* SPDX-License-Identifier: MIT */
#include "master/count.h"

#include <stdlib.h>

#include "base/str.h"
#include "master/control/control.h"
#include "master/coupling/coupling.h"
#include "report/observer.h"

static double of_all_steps(const struct tutti_unit_counts *counts, double seconds)
{
    return counts->exchanges_timed > 0 ? seconds * ((double)counts->do_steps / (double)counts->exchanges_timed) : 0;
}

static bool count_member(const struct tutti_member *member, int rank, struct tutti_unit_stats *out)
{
    static const char *const versions[] = {"", "1.0", "2.0", "3.0"};
    const struct tutti_unit *unit = member->unit;
    const struct tutti_unit_counts *counts = &unit->counts;
    const struct tutti_solver_kind *solver = member->setup.integration.solver;
    static const struct tutti_solver_counts none = {0};
    struct tutti_solver_counts made = counts->solver;
    tutti_solver_counts_add(&made, &counts->beside, &none);
    *out = (struct tutti_unit_stats){
        .name = tutti_str_copy(unit->name),
        .fmu = tutti_str_copy(unit->fmu->path),
        .fmi = tutti_str_copy(versions[unit->fmu->desc->fmi]),
        .interface = tutti_str_copy(unit->kind->name),
        .rank = rank,
        .uses_events = unit->has_events,
        .do_steps = counts->do_steps,
        .accepted = counts->do_steps - counts->rejected - counts->auxiliary,
        .rejected = counts->rejected,
        .auxiliary = counts->auxiliary,
        .gets = counts->gets,
        .sets = counts->sets,
        .init_evaluations = counts->init_evaluations,
        .rollbacks = counts->rollbacks,
        .points = counts->points,
        .forked = unit->forked,
        .solver = solver ? tutti_str_copy(solver->name) : NULL,
        .solver_steps = made.steps,
        .rhs_evaluations = made.rhs,
        .jacobian_evaluations = made.jacobians,
        .directional_derivatives = made.directional,
        .solver_error_failures = made.error_failures,
        .solver_other_failures = made.other_failures,
        .solver_restarts = made.restarts,
        .seconds = tutti_unit_seconds(unit),
        .save_seconds = counts->save_seconds,
        .restore_seconds = counts->restore_seconds,
        .set_seconds = of_all_steps(counts, counts->set_seconds),
        .get_seconds = of_all_steps(counts, counts->get_seconds),
    };
    return out->name && out->fmu && out->fmi && out->interface && (out->solver || !solver);
}

/* Is it there (it may have come no further), and this rank's? */
static bool is_counted(const struct tutti_rank *rank, uint32_t m)
{
    return rank->members[m].unit && (!rank->fabric || tutti_rank_owns(rank, m));
}

static bool count_units(const struct tutti_rank *rank, struct tutti_run_stats *stats)
{
    int number = rank->fabric ? rank->fabric->rank : 0;
    stats->units = rank->member_count ? calloc(rank->member_count, sizeof *stats->units) : NULL;
    for (uint32_t m = 0; stats->units && m < rank->member_count; m++) {
        if (!is_counted(rank, m))
            continue;
        stats->uses_events = stats->uses_events || rank->members[m].unit->has_events;
        stats->unit_count = m + 1;
        if (!count_member(&rank->members[m], number, &stats->units[m]))
            return false;
    }
    return stats->units || rank->member_count == 0;
}

static bool give_reasons(const struct tutti_chosen *chosen, struct tutti_run_stats *stats)
{
    char **const reasons[] = {&stats->coupling_reason, &stats->control_reason, &stats->extrapolate_reason,
                              &stats->events_reason};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        *reasons[i] = chosen->reasons[i][0] ? tutti_str_copy(chosen->reasons[i]) : NULL;
        if (chosen->reasons[i][0] && !*reasons[i])
            return false;
    }
    return true;
}

/* The choices that the run was made with, as far as it came to them. */
static bool name_choices(const struct tutti_master *master, struct tutti_run_stats *stats)
{
    const struct tutti_rank *rank = master->rank;
    bool chosen = master->chosen.control && master->chosen.general; /* the last of the choices */
    bool coupled = chosen && tutti_system_is_coupled(rank->job->system);
    stats->coupling = tutti_str_copy(coupled ? master->chosen.coupling->name : "none");
    stats->control = tutti_str_copy(chosen ? master->chosen.control->name : "fixed");
    stats->events = tutti_str_copy(chosen ? master->chosen.detection->name : stats->uses_events ? "early" : "none");
    stats->fabric = tutti_str_copy(rank->fabric ? rank->fabric->kind->name : "local");
    stats->extrapolate = chosen ? (int)master->chosen.order : 0;
    stats->correct = chosen && master->chosen.corrects;
    stats->correct_how = stats->correct ? tutti_str_copy(master->chosen.solves ? "solve" : "linear") : NULL;
    stats->smooth = chosen && master->chosen.smooths;
    return (stats->correct_how || !stats->correct) && stats->coupling && stats->control && stats->events &&
           stats->fabric && (!chosen || give_reasons(&master->chosen, stats));
}

void tutti_count(struct tutti_master *master)
{
    const struct tutti_rank *rank = master->rank;
    struct tutti_run_stats *stats = rank->stats;
    tutti_lane_count(&master->lane);
    stats->start = rank->times.start;
    stats->stop = rank->t;
    /* What all ranks count alike, the first one tells; the sum over ranks is that of the run. */
    bool first = !rank->fabric || rank->fabric->rank == 0;
    stats->rejected = rank->own_rejected + (first ? stats->rejected : 0);
    stats->events_located = rank->own_events + (first ? stats->events_located : 0);
    stats->rows = master->observer ? master->observer->rows : 0;
    stats->terminated_by_fmu = rank->ended != NULL;
    stats->not_converged = master->not_converged;
    stats->forced = master->forced;
    stats->ranks = rank->fabric ? rank->fabric->ranks : 1;
    stats->exchanges = rank->fabric && rank->member_count > 1 ? rank->fabric->exchanges : 0;
    bool counted = count_units(rank, stats);
    if (!name_choices(master, stats) || !counted)
        tutti_run_stats_fini(stats);
}
