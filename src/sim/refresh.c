/* SPDX-License-Identifier: MIT */
#include "sim/refresh.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Inputs that differ by less than this part of the tolerance are the same. */
static const double NEGLIGIBLE = 1e-3;
/* The short step, as a part of the run. */
static const double SHORT_STEP = 1e-10;

enum tutti_err tt_refresh_open(struct tt_refresh *renewal, struct tt_rank *rank, const struct tt_snapshot *start,
                               double rtol)
{
    *renewal =
        (struct tt_refresh){.rank = rank,
                            .start = start,
                            .rtol = rtol,
                            .held = tt_arena_array(&rank->arena, rank->wires.gather_count, sizeof *renewal->held),
                            .brought = tt_arena_array(&rank->arena, rank->wires.gather_count, sizeof *renewal->brought),
                            .saved = tt_arena_array(&rank->arena, rank->member_count, sizeof(struct tt_unit_saved *)),
                            .refused = tt_arena_array(&rank->arena, rank->member_count, sizeof *renewal->refused)};
    bool all = renewal->held && renewal->brought && renewal->saved && renewal->refused;
    return all ? TUTTI_OK : tt_fail_memory();
}

void tt_refresh_close(struct tt_refresh *renewal)
{
    for (uint32_t m = 0; renewal->saved && m < renewal->rank->member_count; m++)
        if (renewal->saved[m])
            renewal->rank->units[m]->kind->discard(renewal->rank->units[m], renewal->saved[m]);
    *renewal = (struct tt_refresh){0};
}

/* ---- inputs ---- */

/* The unit's inputs as they are, and as the signals bring them; *differ: that is more than a small part of the tolerance. */
static enum tutti_err update_unit_inputs(struct tt_refresh *renewal, const struct tt_member *member, bool *differ)
{
    const struct tt_wires *wires = &renewal->rank->wires;
    const struct tt_unit_wires *unit = member->wires;
    uint32_t first = unit->gather_first, end = first + unit->gather_count;
    double elapsed = member->now.t - member->now.staged_at;
    bool moves = wires->order > 0 && unit->slopes && elapsed > 0;
    for (uint32_t i = first; i < end; i++)
        renewal->held[i] = moves ? tt_wires_extrapolate(wires, i, elapsed) : wires->gathered[i];
    memcpy(renewal->brought + first, renewal->held + first, (end - first) * sizeof(double));
    const uint32_t *nodes = wires->structure->component_first + member->component;
    for (uint32_t n = nodes[0]; n < nodes[1]; n++) {
        const double *values = wires->slots[n].values;
        if (wires->slots[n].type == TUTTI_TYPE_FLOAT64 && tt_wires_has_numbers(wires, n) &&
            values >= wires->gathered + first && values < wires->gathered + end)
            TRY(tt_wires_get_incoming(wires, n, renewal->brought + (values - wires->gathered)));
    }
    *differ = false;
    for (uint32_t i = first; i < end; i++) {
        double difference = fabs(renewal->brought[i] - renewal->held[i]);
        *differ = *differ || difference > NEGLIGIBLE * renewal->rtol * fabs(renewal->brought[i]);
    }
    return TUTTI_OK;
}

/* Hands them over by the kind's `set`, or by another function like it. */
static enum tutti_err refresh_set_inputs(const struct tt_refresh *renewal, const struct tt_member *member,
                                         const double *values,
                                         enum tutti_err (*set)(struct tt_unit *, const struct tt_block *))
{
    const double *gathered = renewal->rank->wires.gathered;
    for (unsigned b = 0; b < member->wires->moving_blocks; b++) {
        struct tt_block block = member->wires->moving[b];
        if (block.type != TUTTI_TYPE_FLOAT64)
            continue;
        block.values = (double *)values + ((const double *)block.values - gathered);
        TRY(set(member->unit, &block));
    }
    return TUTTI_OK;
}

/* ---- Model Exchange ---- */

static enum tutti_err refresh_evaluate(const struct tt_refresh *renewal, const struct tt_member *member,
                                       struct tt_signals *signals)
{
    struct tt_unit *unit = member->unit;
    TRY(refresh_set_inputs(renewal, member, renewal->brought, unit->kind->equations->put));
    TRY(tt_unit_get(unit, signals));
    return refresh_set_inputs(renewal, member, renewal->held, unit->kind->equations->put);
}

/* ---- Co-Simulation ---- */

/* A short step from `t` with these inputs, and what is to be read after it. */
static enum tutti_err step_and_read_outputs(struct tt_refresh *renewal, const struct tt_member *member, double t,
                                            double h, const double *inputs, struct tt_signals *signals, bool *done)
{
    struct tt_unit *unit = member->unit;
    struct tt_fmi_step step = {.reached = t};
    TRY(refresh_set_inputs(renewal, member, inputs, unit->kind->set));
    TRY(unit->kind->step(unit, t, h, &step));
    unit->counts.auxiliary++;
    unit->counts.attributed++;
    *done = !step.discarded && !step.event && !step.terminate && step.reached >= t + h;
    return *done ? tt_unit_get(unit, signals) : TUTTI_OK;
}

/* Makes the short step and returns to a point. An FMU that fails there is not called again. */
static enum tutti_err refresh_trial_step(struct tt_refresh *renewal, const struct tt_member *member, double t, double h,
                                         const double *inputs, const struct tt_unit_saved *back,
                                         struct tt_signals *signals, bool *done)
{
    enum tutti_err err = step_and_read_outputs(renewal, member, t, h, inputs, signals, done);
    *done = *done && !err;
    if (err && err != TUTTI_ERR_DISCARD && err != TUTTI_ERR_FMU)
        return err;
    renewal->refused[member->component] = !*done;
    return member->unit->kind->restore(member->unit, back);
}

static void copy_signal_doubles(const struct tt_signals *signals, double *out)
{
    for (size_t b = 0; b < signals->block_count; b++)
        if (signals->blocks[b].type == TUTTI_TYPE_FLOAT64) {
            memcpy(out, signals->blocks[b].values, signals->blocks[b].value_count * sizeof *out);
            out += signals->blocks[b].value_count;
        }
}

/* Values are those at the end of the run plus the difference of the new ones and `base`. */
static void refresh_add_difference(const struct tt_signals *signals, const double *at_end, const double *base)
{
    for (size_t b = 0; b < signals->block_count; b++) {
        double *values = signals->blocks[b].values;
        for (size_t i = 0; signals->blocks[b].type == TUTTI_TYPE_FLOAT64 && i < signals->blocks[b].value_count; i++) {
            double moved = *at_end + (values[i] - *base++);
            values[i] = isfinite(moved) ? moved : *at_end;
            at_end++;
        }
    }
}

/* No step leads beyond the end of the run: what inputs make of outputs is measured at the start of the last one. */
static enum tutti_err refresh_read_at_end(struct tt_refresh *renewal, const struct tt_member *member, double h,
                                          struct tt_signals *signals)
{
    struct tt_unit *unit = member->unit;
    const struct tt_unit_saved *start = renewal->start->saved[member->component];
    double t = tt_snapshot_member(renewal->start, member->component)->t;
    size_t count = 0; /* the doubles of all blocks */
    for (size_t b = 0; b < signals->block_count; b++)
        count += signals->blocks[b].type == TUTTI_TYPE_FLOAT64 ? signals->blocks[b].value_count : 0;
    double *at_end = malloc((2 * count + 1) * sizeof *at_end);
    bool done = false;
    if (!at_end)
        return tt_fail_memory();
    double *base = at_end + count;
    copy_signal_doubles(signals, at_end);
    enum tutti_err err = unit->kind->restore(unit, start);
    if (!err)
        err = refresh_trial_step(renewal, member, t, h, renewal->held, start, signals, &done);
    if (!err && done) {
        copy_signal_doubles(signals, base);
        err = refresh_trial_step(renewal, member, t, h, renewal->brought, start, signals, &done);
    }
    if (!err)
        err = unit->kind->restore(unit, renewal->saved[member->component]);
    if (!err && done)
        refresh_add_difference(signals, at_end, base);
    else if (!err)
        err = tt_unit_get(unit, signals);
    free(at_end);
    return err;
}

static bool refresh_can_roll_back(const struct tt_refresh *renewal, const struct tt_member *member)
{
    const struct tt_unit *unit = member->unit;
    bool able = (unit->can & TUTTI_CAN_STATE) && !unit->uniform && !unit->forgets && !unit->rejects && !unit->replay;
    return able && !renewal->refused[member->component] && unit->kind->interface == TUTTI_CS;
}

static enum tutti_err read_by_trial_steps(struct tt_refresh *renewal, const struct tt_member *member,
                                          struct tt_signals *signals)
{
    const struct tt_rank *rank = renewal->rank;
    struct tt_unit *unit = member->unit;
    const struct tt_snapshot *start = renewal->start;
    uint32_t m = member->component;
    double t = member->now.t, h = SHORT_STEP * fmax(fabs(t), rank->span), end = t + h;
    bool room = end <= rank->times.stop && !(member->now.next_event <= end), done = false;
    const struct tt_member_state *before = start->made && start->saved[m] ? tt_snapshot_member(start, m) : NULL;
    bool began = before && before->t + h < t && !before->event && !(before->next_event <= before->t + h) &&
                 !unit->forked;
    TRY(tt_unit_get(unit, signals));
    if (!room && !began)
        return TUTTI_OK;
    TRY(unit->kind->save(unit, &renewal->saved[m]));
    if (!room)
        return refresh_read_at_end(renewal, member, h, signals);
    TRY(refresh_trial_step(renewal, member, t, h, renewal->brought, renewal->saved[m], signals, &done));
    return done ? TUTTI_OK : tt_unit_get(unit, signals);
}

enum tutti_err tt_refresh_read(void *context, uint32_t component, struct tt_signals *signals)
{
    struct tt_refresh *renewal = context;
    const struct tt_rank *rank = renewal->rank;
    const struct tt_member *member = &rank->members[component];
    struct tt_unit *unit = member->unit;
    bool equations = unit->kind->interface == TUTTI_ME, differ = false;
    bool possible = equations ? !member->setup.integration.average
                              : refresh_can_roll_back(renewal, member) && !member->now.event;
    if (possible && member->now.t == rank->t && !rank->ended && member->wires->gather_count > 0)
        TRY(update_unit_inputs(renewal, member, &differ));
    if (!differ)
        return tt_unit_get(unit, signals);
    return equations ? refresh_evaluate(renewal, member, signals) : read_by_trial_steps(renewal, member, signals);
}
