/* SPDX-License-Identifier: MIT */
#include "master/tally.h"

#include <stdlib.h>

#include "base/str.h"
#include "master/control.h"
#include "master/coupling.h"
#include "master/detect.h"
#include "master/loop.h"

static void release_unit(struct tutti_unit_stats *unit)
{
    free(unit->name);
    free(unit->fmu);
    free(unit->fmi);
    free(unit->interface);
    free(unit->solver);
}

void tutti_run_stats_fini(struct tutti_run_stats *stats)
{
    for (size_t i = 0; stats->units && i < stats->unit_count; i++)
        release_unit(&stats->units[i]);
    free(stats->units);
    free(stats->coupling);
    free(stats->control);
    free(stats->events);
    free(stats->fabric);
    free(stats->coupling_reason);
    free(stats->control_reason);
    free(stats->extrapolate_reason);
    free(stats->events_reason);
    free(stats->estimated_in);
    stats->estimated_in = NULL;
    stats->coupling = stats->control = stats->events = stats->fabric = NULL;
    stats->coupling_reason = stats->control_reason = stats->extrapolate_reason = stats->events_reason = NULL;
    stats->units = NULL;
    stats->unit_count = 0;
}

/* --- counting */

static double of_all_steps(const struct tutti_unit_counts *counts, double seconds)
{
    return counts->exchanges_timed > 0 ? seconds * ((double)counts->do_steps / (double)counts->exchanges_timed) : 0;
}

static bool count_member(const struct tutti_member *member, int rank, struct tutti_unit_stats *out)
{
    static const char *const versions[] = {"", "1.0", "2.0", "3.0"};
    const struct tutti_unit *unit = member->unit;
    const struct tutti_unit_counts *counts = &unit->counts;
    const struct tutti_solver_kind *solver = member->integration.solver;
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
        .solver = solver ? tutti_str_copy(solver->name) : NULL,
        .solver_steps = counts->solver.steps,
        .rhs_evaluations = counts->solver.rhs,
        .jacobian_evaluations = counts->solver.jacobians,
        .directional_derivatives = counts->solver.directional,
        .solver_error_failures = counts->solver.error_failures,
        .solver_other_failures = counts->solver.other_failures,
        .solver_restarts = counts->solver.restarts,
        .seconds = tutti_unit_seconds(unit),
        .save_seconds = counts->save_seconds,
        .restore_seconds = counts->restore_seconds,
        .set_seconds = of_all_steps(counts, counts->set_seconds),
        .get_seconds = of_all_steps(counts, counts->get_seconds),
    };
    return out->name && out->fmu && out->fmi && out->interface && (out->solver || !solver);
}

/* Is it there (it may have come no further), and this rank's? */
static bool is_counted(const struct run *run, uint32_t m)
{
    return run->members[m].unit && (!run->fabric || tutti_run_owns(run, m));
}

static bool count_units(const struct run *run, struct tutti_run_stats *stats)
{
    int rank = run->fabric ? run->fabric->rank : 0;
    stats->units = run->member_count ? calloc(run->member_count, sizeof *stats->units) : NULL;
    for (uint32_t m = 0; stats->units && m < run->member_count; m++) {
        if (!is_counted(run, m))
            continue;
        stats->uses_events = stats->uses_events || run->members[m].unit->has_events;
        stats->unit_count = m + 1;
        if (!count_member(&run->members[m], rank, &stats->units[m]))
            return false;
    }
    return stats->units || run->member_count == 0;
}

static bool give_reasons(const struct tutti_master *master, struct tutti_run_stats *stats)
{
    char **const reasons[] = {&stats->coupling_reason, &stats->control_reason, &stats->extrapolate_reason,
                              &stats->events_reason};
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        *reasons[i] = master->reasons[i][0] ? tutti_str_copy(master->reasons[i]) : NULL;
        if (master->reasons[i][0] && !*reasons[i])
            return false;
    }
    return true;
}

/* The choices that the run was made with, as far as it came to them. */
static bool name_choices(const struct run *run, struct tutti_run_stats *stats)
{
    const struct tutti_master *master = &run->master;
    bool chosen = master->control && master->general; /* the last of the choices */
    stats->coupling = tutti_str_copy(chosen && tutti_system_is_coupled(run->system) ? master->coupling->name : "none");
    stats->control = tutti_str_copy(chosen ? master->control->name : "fixed");
    stats->events = tutti_str_copy(chosen ? master->detection->name : stats->uses_events ? "early" : "none");
    stats->fabric = tutti_str_copy(run->fabric ? run->fabric->kind->name : "local");
    stats->extrapolate = chosen ? master->order : 0;
    stats->correct = chosen && master->corrects;
    stats->smooth = chosen && master->smooths;
    return stats->coupling && stats->control && stats->events && stats->fabric &&
           (!chosen || give_reasons(master, stats));
}

void tutti_tally_count(const struct run *run)
{
    struct tutti_run_stats *stats = run->stats;
    stats->start = run->times.start;
    stats->stop = run->t;
    /* What all ranks count alike, the first one tells; the sum over ranks is that of the run. */
    bool first = !run->fabric || run->fabric->rank == 0;
    stats->rejected = run->own_rejected + (first ? stats->rejected : 0);
    stats->events_located = run->own_events + (first ? stats->events_located : 0);
    stats->rows = run->observer.rows;
    stats->terminated_by_fmu = run->ended != NULL;
    stats->not_converged = run->master.not_converged;
    stats->forced = run->master.forced;
    stats->ranks = run->fabric ? run->fabric->ranks : 1;
    stats->exchanges = run->fabric && run->member_count > 1 ? run->fabric->exchanges : 0;
    bool counted = count_units(run, stats);
    if (!name_choices(run, stats) || !counted)
        tutti_run_stats_fini(stats);
}

/* --- as bytes: the fields of <tutti/run.h>, listed once for both ways */

#define UNIT_COUNTS(X)                                                                                                 \
    X(do_steps)                                                                                                        \
    X(accepted)                                                                                                        \
    X(rejected)                                                                                                        \
    X(auxiliary)                                                                                                       \
    X(rollbacks)                                                                                                       \
    X(gets)                                                                                                            \
    X(sets)                                                                                                            \
    X(init_evaluations)                                                                                                \
    X(solver_steps)                                                                                                    \
    X(rhs_evaluations)                                                                                                 \
    X(jacobian_evaluations)                                                                                            \
    X(directional_derivatives)                                                                                         \
    X(solver_error_failures)                                                                                           \
    X(solver_other_failures)                                                                                           \
    X(solver_restarts)

#define UNIT_SECONDS(X)                                                                                                \
    X(seconds)                                                                                                         \
    X(save_seconds)                                                                                                    \
    X(restore_seconds)                                                                                                 \
    X(set_seconds)                                                                                                     \
    X(get_seconds)

#define RUN_DOUBLES(X)                                                                                                 \
    X(start)                                                                                                           \
    X(stop)                                                                                                            \
    X(setup_seconds)                                                                                                   \
    X(loop_seconds)                                                                                                    \
    X(most_late)                                                                                                       \
    X(estimated_error)                                                                                                 \
    X(estimated_size)

#define RUN_COUNTS(X)                                                                                                  \
    X(steps)                                                                                                           \
    X(rejected)                                                                                                        \
    X(iterations)                                                                                                      \
    X(events_located)                                                                                                  \
    X(exchanges)                                                                                                       \
    X(rows)                                                                                                            \
    X(init_loops)                                                                                                      \
    X(init_iterations)                                                                                                 \
    X(not_converged)                                                                                                   \
    X(forced)                                                                                                          \
    X(overruns)

#define RUN_FLAGS(X)                                                                                                   \
    X(correct)                                                                                                         \
    X(smooth)                                                                                                          \
    X(terminated_by_fmu)                                                                                               \
    X(uses_events)

#define RUN_TEXTS(X)                                                                                                   \
    X(coupling)                                                                                                        \
    X(control)                                                                                                         \
    X(events)                                                                                                          \
    X(fabric)                                                                                                          \
    X(coupling_reason)                                                                                                 \
    X(control_reason)                                                                                                  \
    X(extrapolate_reason)                                                                                              \
    X(events_reason)                                                                                                   \
    X(estimated_in)

static void pack_unit(struct tutti_parcel *parcel, const struct tutti_unit_stats *unit)
{
    tutti_parcel_put_text(parcel, unit->name); /* which tells a unit from a hole */
    if (!unit->name)
        return;
    tutti_parcel_put_text(parcel, unit->fmu);
    tutti_parcel_put_text(parcel, unit->fmi);
    tutti_parcel_put_text(parcel, unit->interface);
    tutti_parcel_put_text(parcel, unit->solver);
    tutti_parcel_put_u32(parcel, (uint32_t)unit->rank);
    tutti_parcel_put_u8(parcel, unit->uses_events);
#define X(field) tutti_parcel_put_u64(parcel, unit->field);
    UNIT_COUNTS(X)
#undef X
#define X(field) tutti_parcel_put_double(parcel, unit->field);
    UNIT_SECONDS(X)
#undef X
}

void tutti_tally_pack(struct tutti_parcel *parcel, const struct tutti_run_stats *stats)
{
#define X(field) tutti_parcel_put_double(parcel, stats->field);
    RUN_DOUBLES(X)
#undef X
#define X(field) tutti_parcel_put_u64(parcel, stats->field);
    RUN_COUNTS(X)
#undef X
#define X(field) tutti_parcel_put_u8(parcel, stats->field);
    RUN_FLAGS(X)
#undef X
#define X(field) tutti_parcel_put_text(parcel, stats->field);
    RUN_TEXTS(X)
#undef X
    tutti_parcel_put_u32(parcel, stats->extrapolate);
    tutti_parcel_put_u32(parcel, (uint32_t)stats->ranks);
    tutti_parcel_put_u64(parcel, stats->unit_count);
    for (size_t i = 0; i < stats->unit_count; i++)
        pack_unit(parcel, &stats->units[i]);
}

/* A text on the heap; NULL if there was none, or for want of memory. */
static char *take_text(struct tutti_unparcel *in, bool *failed)
{
    const char *text = tutti_unparcel_text(in);
    char *copy = text ? tutti_str_copy(text) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static void unpack_unit(struct tutti_unparcel *in, struct tutti_unit_stats *unit, bool *failed)
{
    unit->name = take_text(in, failed);
    if (!unit->name)
        return;
    unit->fmu = take_text(in, failed);
    unit->fmi = take_text(in, failed);
    unit->interface = take_text(in, failed);
    unit->solver = take_text(in, failed);
    unit->rank = (int)tutti_unparcel_u32(in);
    unit->uses_events = tutti_unparcel_u8(in) != 0;
#define X(field) unit->field = (unsigned long)tutti_unparcel_u64(in);
    UNIT_COUNTS(X)
#undef X
#define X(field) unit->field = tutti_unparcel_double(in);
    UNIT_SECONDS(X)
#undef X
    in->bad = in->bad || !unit->fmu || !unit->fmi || !unit->interface;
}

static void unpack_run(struct tutti_unparcel *in, struct tutti_run_stats *stats, bool *failed)
{
#define X(field) stats->field = tutti_unparcel_double(in);
    RUN_DOUBLES(X)
#undef X
#define X(field) stats->field = (unsigned long)tutti_unparcel_u64(in);
    RUN_COUNTS(X)
#undef X
#define X(field) stats->field = tutti_unparcel_u8(in) != 0;
    RUN_FLAGS(X)
#undef X
#define X(field) stats->field = take_text(in, failed);
    RUN_TEXTS(X)
#undef X
    stats->extrapolate = tutti_unparcel_u32(in);
    stats->ranks = (int)tutti_unparcel_u32(in);
}

enum tutti_err tutti_tally_unpack(struct tutti_unparcel *in, struct tutti_run_stats *stats)
{
    bool failed = false;
    *stats = (struct tutti_run_stats){0};
    unpack_run(in, stats, &failed);
    uint64_t count = tutti_unparcel_u64(in);
    /* Every unit takes its 8 bytes at least, so that a number out of the air costs no memory. */
    in->bad = in->bad || count > (uint64_t)(in->end - in->at) / 8;
    if (!in->bad && !failed && count > 0) {
        stats->units = calloc(count, sizeof *stats->units);
        failed = !stats->units;
        stats->unit_count = stats->units ? count : 0;
    }
    for (size_t i = 0; i < stats->unit_count && !in->bad && !failed; i++)
        unpack_unit(in, &stats->units[i], &failed);
    if (failed)
        return tutti_fail_memory();
    return in->bad || in->at != in->end ? tutti_fail(TUTTI_ERR_FORMAT, "what a rank counted is malformed") : TUTTI_OK;
}
