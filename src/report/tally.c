/* SPDX-License-Identifier: MIT */
#include "report/tally.h"

#include <stdlib.h>

#include "base/err.h"
#include "base/str.h"

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
