/* SPDX-License-Identifier: MIT */
#include "unit/ramp.h"

#include <math.h>
#include <string.h>

enum { MOST_STEPS = 8 };

/* A difference that counts: where inputs that are held make one in a step, those that move make a sizeable part of it. */
static const double MATTERS = 1e-9;

/* In a step inputs move at least by this part of their value, and by this value: a smaller effect may be lost in rounding. */
static const double LEAST_PART = 1e-3, LEAST_VALUE = 1e-6;

enum way { HELD, MOVING, HELD_AT_END, WAYS };

struct drive {
    const struct tt_ramp *ramp;
    struct tt_probes shown;
    uint32_t references[TUTTI_MOST_NOTED];
    size_t elements[TUTTI_MOST_NOTED]; /* scalars */
    int32_t orders[TUTTI_MOST_NOTED];
    double begin[TUTTI_MOST_NOTED], slopes[TUTTI_MOST_NOTED];
    size_t count;
    double values[WAYS][MOST_STEPS][TUTTI_MOST_PROBES];
};

static void choose_inputs(struct drive *drive)
{
    const struct tt_ramp *ramp = drive->ramp;
    for (size_t i = 0; i < ramp->count && drive->count < TUTTI_MOST_NOTED; i++) {
        size_t to = drive->count;
        drive->begin[to] = tt_fresh_recall(ramp->fresh, ramp->references[i]);
        if (isnan(drive->begin[to]))
            continue;
        drive->references[to] = ramp->references[i];
        drive->orders[to] = 1;
        double least = LEAST_PART * fabs(drive->begin[to]) + LEAST_VALUE;
        drive->slopes[to] =
            ramp->slopes[i] == 0 ? 0 : copysign(fmax(fabs(ramp->slopes[i]), least / ramp->h), ramp->slopes[i]);
        drive->count++;
    }
}

static enum tutti_err lead_inputs(struct drive *drive, struct tt_unit *unit, enum way way, int step)
{
    double values[TUTTI_MOST_NOTED], slopes[TUTTI_MOST_NOTED] = {0};
    struct tt_block block = {TUTTI_TYPE_FLOAT64, drive->count, drive->count, drive->references, values, NULL};
    double from = (step + (way == HELD_AT_END)) * drive->ramp->h;
    for (size_t i = 0; i < drive->count; i++) {
        values[i] = drive->begin[i] + from * drive->slopes[i];
        slopes[i] = way == MOVING ? drive->slopes[i] : 0;
    }
    TRY(unit->kind->set(unit, &block));
    TRY(unit->kind->set_input_derivatives(unit, drive->references, drive->elements, drive->count, drive->orders,
                                          slopes));
    return unit->can & TUTTI_CAN_INPUT_DERIVATIVES
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: derivatives of inputs are refused", unit->name);
}

static enum tutti_err make_steps(struct drive *drive, struct tt_unit *unit, enum way way, int steps)
{
    double start = drive->ramp->fresh->setup.start, h = drive->ramp->h;
    bool refused = false;
    TRY(tt_fresh_settle(drive->ramp->fresh, unit));
    for (int i = 0; i < steps; i++) {
        struct tt_fmi_step step;
        double t = start + i * h;
        TRY(lead_inputs(drive, unit, way, i));
        TRY(unit->kind->step(unit, t, h, &step));
        bool whole = !step.discarded && !step.terminate && fabs(step.reached - (t + h)) <= 1e-6 * h;
        if (whole)
            TRY(tt_fresh_read_probes(&drive->shown, unit, drive->values[way][i], &refused));
        if (!whole || refused)
            return tt_fail(TUTTI_ERR_FMU, "%s: a step of a further instance is not complete", unit->name);
    }
    return TUTTI_OK;
}

static bool walk(struct drive *drive, enum way way, int steps)
{
    struct tt_unit *unit = NULL;
    enum tutti_err err = tt_fresh_begin(drive->ramp->fresh, &unit);
    if (!err)
        err = make_steps(drive, unit, way, steps);
    tt_unit_free(unit);
    return err == TUTTI_OK;
}

static bool is_same(const struct drive *drive, int steps)
{
    for (int s = 0; s < steps; s++)
        for (size_t i = 0; i < drive->shown.count; i++)
            if (tt_fresh_probe_bits(drive->values[HELD][s][i]) != tt_fresh_probe_bits(drive->values[MOVING][s][i]))
                return false;
    return true;
}

static size_t test(void *context)
{
    struct drive *drive = context;
    const struct tt_experiment_setup *setup = &drive->ramp->fresh->setup;
    double room = setup->has_stop ? floor((setup->stop - setup->start) / drive->ramp->h * (1 + 1e-9)) : MOST_STEPS;
    int steps = (int)fmin(room, MOST_STEPS);
    if (!(room >= 1) || !walk(drive, HELD, 1) || !walk(drive, MOVING, 1) || !is_same(drive, 1))
        return TUTTI_MOST_PROBES;
    if (!walk(drive, HELD, steps) || !walk(drive, MOVING, steps) || !is_same(drive, steps) ||
        !walk(drive, HELD_AT_END, steps))
        return TUTTI_MOST_PROBES;
    /* A variable that moves only after some of the FMU's internal steps may need twice as many steps with a moving
     * input. */
    for (int s = 0; s < (steps + 1) / 2; s++)
        for (size_t i = 0; i < drive->shown.count; i++) {
            double held = drive->values[HELD][s][i], end = drive->values[HELD_AT_END][s][i];
            if (fabs(end - held) > MATTERS * fmax(fabs(end), fabs(held)))
                return i;
        }
    return TUTTI_MOST_PROBES;
}

uint32_t tt_ramp_find_ignored(const struct tt_ramp *ramp)
{
    struct drive drive = {.ramp = ramp};
    tt_fresh_list_probes(&drive.shown, ramp->fresh->fmu->desc);
    choose_inputs(&drive);
    size_t shown = drive.count > 0 ? tt_fresh_test(ramp->fresh, test, &drive) : TUTTI_MOST_PROBES;
    return shown < drive.shown.count ? drive.shown.variables[shown] : TUTTI_NONE;
}
