/* SPDX-License-Identifier: MIT */
#include "unit/stop_time.h"

#include <stdlib.h>

#include "base/number.h"

enum { POINTS = 3 /* the start, and the ends of two steps */ };

/* What an instance was at the points. */
struct path {
    double values[POINTS][TUTTI_MOST_PROBES];
};

struct tutti_stop_time {
    struct tutti_unit *unit;
    const struct tutti_fresh *fresh;
    struct tutti_probes shown;
    bool open;
    int points; /* that have been reached */
    double times[POINTS];
    struct path path;
    uint32_t guilty; /* the variable that shows the fault; TUTTI_NONE */
};

/* The first variable that moved in the first step and kept its bits in the second; TUTTI_MOST_PROBES: none did, or a state has moved. */
static size_t find_standing(const struct tutti_stop_time *check, const struct path *path)
{
    size_t standing = TUTTI_MOST_PROBES;
    for (size_t i = check->shown.count; i-- > 0;) {
        bool moves = tutti_probes_bits(path->values[1][i]) != tutti_probes_bits(path->values[2][i]);
        if (moves && i < check->shown.states)
            return TUTTI_MOST_PROBES;
        if (!moves && tutti_probes_bits(path->values[0][i]) != tutti_probes_bits(path->values[1][i]))
            standing = i;
    }
    return standing;
}

/* ---- the same steps, beside the run ---- */

static bool can_go_on(const struct tutti_step *step)
{
    return !step->discarded && !step->terminate;
}

static enum tutti_err walk(struct tutti_stop_time *check, struct tutti_unit *unit, struct path *path)
{
    bool refused = false;
    TRY(tutti_probes_read(&check->shown, unit, path->values[0], &refused));
    TRY(tutti_fresh_settle(check->fresh, unit));
    for (int i = 1; i < POINTS && !refused; i++) {
        struct tutti_step step;
        struct tutti_unit_event event;
        TRY(unit->kind->step(unit, check->times[i - 1], check->times[i] - check->times[i - 1], &step));
        refused = !can_go_on(&step) || tutti_probes_bits(step.reached) != tutti_probes_bits(check->times[i]);
        if (!refused)
            TRY(tutti_probes_read(&check->shown, unit, path->values[i], &refused));
        if (!refused && step.event && unit->has_events && i + 1 < POINTS) {
            TRY(unit->kind->enter_event(unit));
            TRY(unit->kind->settle(unit, &event));
        }
    }
    return refused ? tutti_fail(TUTTI_ERR_FMU, "%s: steps beside the run end otherwise", unit->name) : TUTTI_OK;
}

static enum tutti_err walk_beside(struct tutti_stop_time *check, bool has_stop, struct path *path)
{
    struct tutti_unit *unit = NULL;
    struct tutti_fresh fresh = *check->fresh;
    fresh.setup.has_stop = has_stop;
    TRY(tutti_fresh_begin(&fresh, &unit));
    enum tutti_err err = walk(check, unit, path);
    tutti_unit_free(unit);
    return err;
}

/* Whether the stop time makes the difference, and where it is seen. An inconclusive comparison is not reported. */
static size_t compare_paths(void *context)
{
    struct tutti_stop_time *check = context;
    struct path with = {0}, without = {0};
    if (walk_beside(check, true, &with) || walk_beside(check, false, &without))
        return TUTTI_MOST_PROBES;
    size_t standing = find_standing(check, &with);
    return standing < check->shown.count &&
                   tutti_probes_bits(without.values[1][standing]) != tutti_probes_bits(without.values[2][standing])
               ? standing
               : TUTTI_MOST_PROBES;
}

/* ---- the run ---- */

enum tutti_err tutti_stop_time_new(struct tutti_stop_time **out, struct tutti_unit *unit,
                                   const struct tutti_fresh *fresh)
{
    *out = NULL;
    if (!fresh || !fresh->setup.has_stop)
        return TUTTI_OK;
    struct tutti_stop_time *check = calloc(1, sizeof *check);
    if (!check)
        return tutti_fail_memory();
    check->unit = unit;
    check->fresh = fresh;
    check->guilty = TUTTI_NONE;
    tutti_probes_list(&check->shown, unit->fmu->desc);
    if (check->shown.count > 0)
        *out = check;
    else
        free(check);
    return TUTTI_OK;
}

void tutti_stop_time_free(struct tutti_stop_time *check)
{
    free(check);
}

enum tutti_err tutti_stop_time_begin(struct tutti_stop_time *check)
{
    bool refused = false;
    if (!check)
        return TUTTI_OK;
    TRY(tutti_probes_read(&check->shown, check->unit, check->path.values[0], &refused));
    check->open = !refused;
    check->points = 1;
    check->times[0] = check->fresh->setup.start;
    return TUTTI_OK;
}

bool tutti_stop_time_is_open(const struct tutti_stop_time *check)
{
    return check && check->open;
}

static enum tutti_err report(const struct tutti_stop_time *check, size_t i)
{
    const char *name = check->unit->name;
    return tutti_fail(
        TUTTI_ERR_FMU,
        "%s: the FMU integrates to the stop time in its first step: '%s' is %s at t = %s and constant after "
        "that, but not without a stop time; use --no-stop-time=%s",
        name, check->unit->fmu->desc->vars[check->shown.variables[i]].name, NUMBER(check->path.values[1][i]),
        TIME(check->times[1]), name);
}

enum tutti_err tutti_stop_time_step(struct tutti_stop_time *check, double t, const struct tutti_step *step)
{
    bool refused = false;
    if (!check || (!check->open && check->guilty == TUTTI_NONE))
        return TUTTI_OK;
    if (!check->open)
        return report(check, check->guilty);
    if (tutti_probes_bits(t) == tutti_probes_bits(check->times[0])) /* it may have been taken back to the start */
        check->points = 1;
    check->open = tutti_probes_bits(t) == tutti_probes_bits(check->times[check->points - 1]) && can_go_on(step) &&
                  step->reached > t;
    if (!check->open)
        return TUTTI_OK;
    TRY(tutti_probes_read(&check->shown, check->unit, check->path.values[check->points], &refused));
    check->times[check->points++] = step->reached;
    check->open = check->points < POINTS && !refused;
    if (refused || check->points < POINTS || find_standing(check, &check->path) == TUTTI_MOST_PROBES)
        return TUTTI_OK;
    size_t at = tutti_fresh_test(check->fresh, compare_paths, check);
    if (at >= check->shown.count)
        return TUTTI_OK;
    check->guilty = (uint32_t)at;
    check->unit->rushes = true;
    return report(check, at);
}
