/* SPDX-License-Identifier: MIT */
#include "unit/stop_time.h"

#include <stdlib.h>

#include "base/number.h"

enum { POINTS = 3 /* the start, and the ends of two steps */ };

struct stop_time_trace {
    double values[POINTS][TUTTI_MOST_PROBES];
};

struct tt_stop_time {
    struct tt_unit *unit;
    const struct tt_fresh *fresh;
    struct tt_probes shown;
    bool open;
    int points; /* that have been reached */
    double times[POINTS];
    struct stop_time_trace path;
    uint32_t guilty; /* the variable that shows the fault; TUTTI_NONE */
};

/* The first variable that moved in the first step and kept its bits in the second; TUTTI_MOST_PROBES: none did, or a state has moved. */
static size_t find_unmoved_variable(const struct tt_stop_time *check, const struct stop_time_trace *path)
{
    size_t standing = TUTTI_MOST_PROBES;
    for (size_t i = check->shown.count; i-- > 0;) {
        bool moves = tt_fresh_probe_bits(path->values[1][i]) != tt_fresh_probe_bits(path->values[2][i]);
        if (moves && i < check->shown.states)
            return TUTTI_MOST_PROBES;
        if (!moves && tt_fresh_probe_bits(path->values[0][i]) != tt_fresh_probe_bits(path->values[1][i]))
            standing = i;
    }
    return standing;
}

/* ---- the same steps, beside the run ---- */

static bool step_can_continue(const struct tt_fmi_step *step)
{
    return !step->discarded && !step->terminate;
}

static enum tutti_err run_trace(struct tt_stop_time *check, struct tt_unit *unit, struct stop_time_trace *path)
{
    bool refused = false;
    TRY(tt_fresh_read_probes(&check->shown, unit, path->values[0], &refused));
    TRY(tt_fresh_settle(check->fresh, unit));
    for (int i = 1; i < POINTS && !refused; i++) {
        struct tt_fmi_step step;
        struct tt_unit_event event;
        TRY(unit->kind->step(unit, check->times[i - 1], check->times[i] - check->times[i - 1], &step));
        refused = !step_can_continue(&step) ||
                  tt_fresh_probe_bits(step.reached) != tt_fresh_probe_bits(check->times[i]);
        if (!refused)
            TRY(tt_fresh_read_probes(&check->shown, unit, path->values[i], &refused));
        if (!refused && step.event && unit->has_events && i + 1 < POINTS) {
            TRY(unit->kind->enter_event(unit));
            TRY(unit->kind->settle(unit, &event));
        }
    }
    return refused ? tt_fail(TUTTI_ERR_FMU, "%s: steps beside the run end otherwise", unit->name) : TUTTI_OK;
}

static enum tutti_err run_trace_beside(struct tt_stop_time *check, bool has_stop, struct stop_time_trace *path)
{
    struct tt_unit *unit = NULL;
    struct tt_fresh fresh = *check->fresh;
    fresh.setup.has_stop = has_stop;
    TRY(tt_fresh_begin(&fresh, &unit));
    enum tutti_err err = run_trace(check, unit, path);
    tt_unit_free(unit);
    return err;
}

/* Whether the stop time makes the difference, and where it is seen. An inconclusive comparison is not reported. */
static size_t compare_traces(void *context)
{
    struct tt_stop_time *check = context;
    struct stop_time_trace with = {0}, without = {0};
    if (run_trace_beside(check, true, &with) || run_trace_beside(check, false, &without))
        return TUTTI_MOST_PROBES;
    size_t standing = find_unmoved_variable(check, &with);
    return standing < check->shown.count &&
                   tt_fresh_probe_bits(without.values[1][standing]) != tt_fresh_probe_bits(without.values[2][standing])
               ? standing
               : TUTTI_MOST_PROBES;
}

/* ---- the run ---- */

enum tutti_err tt_stop_time_new(struct tt_stop_time **out, struct tt_unit *unit, const struct tt_fresh *fresh)
{
    *out = NULL;
    if (!fresh || !fresh->setup.has_stop)
        return TUTTI_OK;
    struct tt_stop_time *check = calloc(1, sizeof *check);
    if (!check)
        return tt_fail_memory();
    check->unit = unit;
    check->fresh = fresh;
    check->guilty = TUTTI_NONE;
    tt_fresh_list_probes(&check->shown, unit->fmu->desc);
    if (check->shown.count > 0)
        *out = check;
    else
        free(check);
    return TUTTI_OK;
}

void tt_stop_time_free(struct tt_stop_time *check)
{
    free(check);
}

enum tutti_err tt_stop_time_start(struct tt_stop_time *check)
{
    bool refused = false;
    if (!check)
        return TUTTI_OK;
    TRY(tt_fresh_read_probes(&check->shown, check->unit, check->path.values[0], &refused));
    check->open = !refused;
    check->points = 1;
    check->times[0] = check->fresh->setup.start;
    return TUTTI_OK;
}

bool tt_stop_time_is_open(const struct tt_stop_time *check)
{
    return check && check->open;
}

static enum tutti_err stop_time_report(const struct tt_stop_time *check, size_t i)
{
    const char *name = check->unit->name;
    return tt_fail(TUTTI_ERR_FMU,
                   "%s: the FMU integrates to the stop time in its first step: '%s' is %s at t = %s and constant after "
                   "that, but not without a stop time; use --no-stop-time=%s",
                   name, check->unit->fmu->desc->vars[check->shown.variables[i]].name, NUMBER(check->path.values[1][i]),
                   TIME(check->times[1]), name);
}

enum tutti_err tt_stop_time_check_step(struct tt_stop_time *check, double t, const struct tt_fmi_step *step)
{
    bool refused = false;
    if (!check || (!check->open && check->guilty == TUTTI_NONE))
        return TUTTI_OK;
    if (!check->open)
        return stop_time_report(check, check->guilty);
    if (tt_fresh_probe_bits(t) == tt_fresh_probe_bits(check->times[0])) /* it may have been taken back to the start */
        check->points = 1;
    check->open = tt_fresh_probe_bits(t) == tt_fresh_probe_bits(check->times[check->points - 1]) &&
                  step_can_continue(step) && step->reached > t;
    if (!check->open)
        return TUTTI_OK;
    TRY(tt_fresh_read_probes(&check->shown, check->unit, check->path.values[check->points], &refused));
    check->times[check->points++] = step->reached;
    check->open = check->points < POINTS && !refused;
    if (refused || check->points < POINTS || find_unmoved_variable(check, &check->path) == TUTTI_MOST_PROBES)
        return TUTTI_OK;
    size_t at = tt_fresh_test(check->fresh, compare_traces, check);
    if (at >= check->shown.count)
        return TUTTI_OK;
    check->guilty = (uint32_t)at;
    check->unit->rushes = true;
    return stop_time_report(check, at);
}
