/* SPDX-License-Identifier: MIT */
#include "sim/execution.h"

#include <stdlib.h>

#include "base/number.h"
#include "base/text.h"
#include "sim/choose.h"
#include "sim/ranks/fabric.h"
#include "sim/report/record.h"

static bool count_member(const struct tt_member *member, int rank, struct tt_unit_stats *out)
{
    static const char *const versions[] = {"", "1.0", "2.0", "3.0"};
    const struct tt_unit *unit = member->unit;
    const struct tt_unit_counts *counts = &unit->counts;
    const struct tt_solver_kind *solver = member->setup.integration.solver;
    static const struct tt_solver_counts none = {0};
    struct tt_solver_counts made = counts->solver;
    tt_solver_counts_add(&made, &counts->beside, &none);
    *out = (struct tt_unit_stats){
        .name = tt_text_copy(unit->name),
        .fmu = tt_text_copy(unit->fmu->path),
        .fmi = tt_text_copy(versions[unit->fmu->desc->fmi]),
        .interface = tt_text_copy(unit->kind->name),
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
        .solver = solver ? tt_text_copy(solver->name) : NULL,
        .solver_steps = made.steps,
        .rhs_evaluations = made.rhs,
        .jacobian_evaluations = made.jacobians,
        .directional_derivatives = made.directional,
        .solver_error_failures = made.error_failures,
        .solver_other_failures = made.other_failures,
        .solver_restarts = made.restarts,
        .seconds = tt_unit_seconds(unit),
        .save_seconds = unit->times.save_seconds,
        .restore_seconds = unit->times.restore_seconds,
        .set_seconds = tt_unit_scale_seconds(unit, unit->times.set_seconds, unit->times.exchanges_timed),
        .get_seconds = tt_unit_scale_seconds(unit, unit->times.get_seconds, unit->times.exchanges_timed),
    };
    return out->name && out->fmu && out->fmi && out->interface && (out->solver || !solver);
}

static bool count_units(const struct tt_rank *rank, struct tutti_run_stats *stats)
{
    int number = rank->fabric ? rank->fabric->rank : 0;
    stats->units = rank->member_count ? calloc(rank->member_count, sizeof *stats->units) : NULL;
    for (uint32_t m = 0; stats->units && m < rank->member_count; m++) {
        /* Units of this rank only; a run that failed early has not opened all of them. */
        if (!rank->members[m].unit || (rank->fabric && !tt_rank_owns(rank, m)))
            continue;
        stats->uses_events = stats->uses_events || rank->members[m].unit->has_events;
        stats->unit_count = m + 1;
        if (!count_member(&rank->members[m], number, &stats->units[m]))
            return false;
    }
    return stats->units || rank->member_count == 0;
}

/* The choices that the run was made with, as far as it came to them. */
static bool copy_choice_names(const struct tt_sim *master, struct tutti_run_stats *stats)
{
    const struct tt_rank *rank = master->rank;
    bool chosen = master->chosen.control && (master->chosen.is & TUTTI_METHOD_GENERAL); /* the last of the choices */
    const struct tt_method *method = &master->chosen;
    stats->coupling = tt_text_copy(chosen ? tt_choose_value(method, TUTTI_CHOICE_COUPLING) : "none");
    stats->control = tt_text_copy(chosen ? tt_choose_value(method, TUTTI_CHOICE_CONTROL) : "fixed");
    stats->events = tt_text_copy(chosen               ? tt_choose_value(method, TUTTI_CHOICE_EVENTS)
                                 : stats->uses_events ? "early"
                                                      : "none");
    stats->fabric = tt_text_copy(rank->fabric ? rank->fabric->kind->name : "local");
    stats->extrapolate = chosen ? (int)method->order : 0;
    stats->correct = chosen && (method->is & TUTTI_METHOD_CORRECTS);
    stats->correct_how = stats->correct ? tt_text_copy(method->is & TUTTI_METHOD_SOLVES ? "solve" : "linear") : NULL;
    stats->smooth = chosen && (method->is & TUTTI_METHOD_SMOOTHS);
    char **const reasons[TUTTI_CHOICES] = {&stats->coupling_reason, &stats->control_reason, &stats->extrapolate_reason,
                                           &stats->events_reason};
    bool copied = (stats->correct_how || !stats->correct) && stats->coupling && stats->control && stats->events &&
                  stats->fabric;
    for (int i = 0; i < TUTTI_CHOICES && chosen; i++) {
        *reasons[i] = method->reasons[i][0] ? tt_text_copy(method->reasons[i]) : NULL;
        copied = copied && (*reasons[i] || !method->reasons[i][0]);
    }
    return copied;
}

enum { LIVE_COUNTS = 4 };

/* Where a statistic is counted during the run. */
struct live_count {
    unsigned long *statistic, *live;
};

/* NULL: it is not counted, and 0. */
static void list_live_counts(struct tt_sim *master, struct live_count counts[LIVE_COUNTS])
{
    struct tt_rank *rank = master->rank;
    struct tutti_run_stats *stats = rank->stats;
    bool exchanges = rank->fabric && rank->member_count > 1;
    counts[0] = (struct live_count){&stats->rows, master->observer ? &master->observer->rows : NULL};
    counts[1] = (struct live_count){&stats->not_converged, &master->not_converged};
    counts[2] = (struct live_count){&stats->forced, &master->forced};
    counts[3] = (struct live_count){&stats->exchanges, exchanges ? &rank->fabric->exchanges : NULL};
}

void tt_execution_gather_counts(struct tt_sim *master)
{
    struct live_count counts[LIVE_COUNTS];
    list_live_counts(master, counts);
    for (int i = 0; i < LIVE_COUNTS; i++)
        *counts[i].statistic = counts[i].live ? *counts[i].live : 0;
}

void tt_execution_scatter_counts(struct tt_sim *master)
{
    struct live_count counts[LIVE_COUNTS];
    list_live_counts(master, counts);
    for (int i = 0; i < LIVE_COUNTS; i++)
        if (counts[i].live)
            *counts[i].live = *counts[i].statistic;
}

void tt_execution_count(struct tt_sim *master)
{
    const struct tt_rank *rank = master->rank;
    struct tutti_run_stats *stats = rank->stats;
    tt_fast_flush_counts(&master->lane);
    tt_execution_gather_counts(master);
    stats->start = rank->times.start;
    stats->stop = rank->t;
    /* Counts that are equal on all ranks are reported by the first one; the sum over ranks is that of the run. */
    bool first = !rank->fabric || rank->fabric->rank == 0;
    stats->rejected = rank->own_rejected + (first ? stats->rejected : 0);
    stats->events_located = rank->own_events + (first ? stats->events_located : 0);
    stats->terminated_by_fmu = rank->ended != NULL;
    stats->ranks = rank->fabric ? rank->fabric->ranks : 1;
    bool counted = count_units(rank, stats);
    if (!copy_choice_names(master, stats) || !counted)
        tt_stats_fini(stats);
}

static enum tutti_err send_final_state(struct tt_rank *rank, uint32_t component, const unsigned char *bytes,
                                       size_t size)
{
    struct tt_byte_writer frame = {0};
    if (!rank->reports)
        return tt_state_files_write(&rank->job->states, component, bytes, size);
    tt_fabric_begin_report(&frame);
    tt_bytes_put_u32(&frame, component);
    tt_bytes_put_block(&frame, bytes, size);
    enum tutti_err err = tt_fabric_send_report(rank->fabric, TUTTI_REPORT_STATE, &frame);
    tt_bytes_fini(&frame);
    return err;
}

enum tutti_err tt_execution_report_final_states(struct tt_rank *rank)
{
    if (rank->job->options.final_state_count == 0)
        return TUTTI_OK;
    /* Ranks that no end was reported to stand before the stop time, too. */
    if (rank->ended || !tt_time_reached(rank->t, rank->times.stop, rank->span)) {
        tt_log(rank->log, TUTTI_LOG_WARNING, NULL,
               "--final-state: the run has ended at t = %s, before its stop time: no state is written", TIME(rank->t));
        return TUTTI_OK;
    }
    enum tutti_err err = TUTTI_OK;
    for (uint32_t m = 0; m < rank->own_count && !err; m++) {
        struct tt_unit *unit = rank->own[m]->unit;
        uint32_t component = rank->own[m]->component;
        unsigned char *bytes;
        size_t size;
        if (!tt_state_files_final(&rank->job->states, component))
            continue;
        tt_rank_publish_unit(rank, component);
        TRY(tt_fail_context(unit->kind->export_state(unit, &bytes, &size), "--final-state"));
        err = send_final_state(rank, component, bytes, size);
        free(bytes);
    }
    return err;
}
