/* SPDX-License-Identifier: MIT */
#include "sim/coupling/tlm.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"

enum {
    PER_DELAY = 512, /* points kept per delay: those closer than this to others are dropped */
    ROOM = 1024,     /* points kept per line: events may add as many again */
};

/* The waves that left both ends at a time. Two points with equal times are a jump. */
struct line_point {
    double t, waves[2];
};

/* Plain data: it is remembered as it is. The newest point is at (first + count - 1) % ROOM. */
struct line_history {
    uint32_t first, count;
    struct line_point points[ROOM];
};

struct tt_tlm {
    struct tt_rank *rank;           /* borrowed */
    const double *(*velocities)[2]; /* per line: where those of its ends are among the signals */
    uint32_t count;
    struct line_history pasts[]; /* per line */
};

double tt_tlm_shortest_delay(const struct tt_system *system)
{
    double shortest = INFINITY;
    for (uint32_t i = 0; i < system->line_count; i++)
        shortest = fmin(shortest, system->lines[i].delay);
    return shortest;
}

enum tutti_err tt_tlm_check(const struct tt_rank *rank, bool varies)
{
    const struct tt_system *system = rank->job->system;
    const char *who = "";
    double step = varies ? 0 : rank->times.step;
    if (system->line_count == 0)
        return TUTTI_OK;
    const struct tt_tlm_line *line = &system->lines[0]; /* the one with the shortest delay */
    for (uint32_t i = 1; i < system->line_count; i++)
        if (system->lines[i].delay < line->delay)
            line = &system->lines[i];
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (rank->members[m].has_grid && rank->members[m].now.grid.step > step) {
            step = rank->members[m].now.grid.step;
            who = rank->members[m].unit->name;
        }
    if (step <= line->delay || tt_time_same(step, line->delay, rank->span))
        return TUTTI_OK;
    return tt_fail(
        TUTTI_ERR_ARGUMENT,
        "--tlm '%s': its delay %s is less than the step %s%s%s: what arrives at an end in a step has to have "
        "left the other one before; use a --step of %s or less, or a longer delay",
        line->text, NUMBER(line->delay), NUMBER(step), *who ? " of " : "", who, NUMBER(line->delay));
}

/* ---- the past ---- */

static const struct line_point *line_point_at(const struct line_history *past, uint32_t number)
{
    return &past->points[(past->first + number) % ROOM];
}

/* Returns the wave that left an end at t: linear between two points, constant before the first point. At a jump at t:
 * the value before it, or, `after`, the value after it. */
static double wave_at_time(const struct line_history *past, int end, double t, bool after)
{
    uint32_t low = 0, high = past->count; /* points before `low` are at or before t, those from `high` on are later */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        double time = line_point_at(past, middle)->t;
        if (after ? time <= t : time < t)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return line_point_at(past, 0)->waves[end];
    const struct line_point *before = line_point_at(past, low - 1);
    if (low == past->count || before->t == t)
        return before->waves[end];
    const struct line_point *next = line_point_at(past, low);
    double part = (t - before->t) / (next->t - before->t);
    return before->waves[end] + part * (next->waves[end] - before->waves[end]);
}

/* Returns true if the newest point is so close to its predecessor that the next one can replace it. */
static bool line_point_is_redundant(const struct line_history *past, double t, double delay)
{
    if (past->count < 2)
        return false;
    double newest = line_point_at(past, past->count - 1)->t, before = line_point_at(past, past->count - 2)->t;
    return newest < t && before < newest && t - before < delay / PER_DELAY;
}

static void tlm_push_point(struct line_history *past, const struct line_point *point, double delay)
{
    while (past->count > 2 && line_point_at(past, 1)->t < point->t - delay) {
        past->first = (past->first + 1) % ROOM;
        past->count--;
    }
    if (past->count == ROOM || line_point_is_redundant(past, point->t, delay))
        past->count--;
    past->points[(past->first + past->count) % ROOM] = *point;
    past->count++;
}

/* ---- signals ---- */

void tt_tlm_record(struct tt_tlm *tlm)
{
    for (uint32_t i = 0; tlm && i < tlm->count; i++) {
        const struct tt_rank *rank = tlm->rank;
        const struct tt_tlm_line *line = &rank->job->system->lines[i];
        struct line_history *past = &tlm->pasts[i];
        struct line_point point = {.t = rank->t};
        for (int end = 0; end < 2; end++) {
            double outward = line->ends[end].velocity_factor * *tlm->velocities[i][end];
            double velocity = end == 0 ? outward : -outward; /* into the line */
            /* Before the first point the line moved with its ends, and had no force in it: f = 0. */
            point.waves[end] = past->count == 0 ? line->impedance * velocity
                                                : wave_at_time(past, 1 - end, rank->t - line->delay, true) +
                                                      2 * line->impedance * velocity;
        }
        tlm_push_point(past, &point, line->delay);
    }
}

static void compute_line_input(const struct tt_tlm *tlm, uint32_t number, int end, double target)
{
    struct tt_rank *rank = tlm->rank;
    struct tt_wires *wires = &rank->wires;
    const struct tt_tlm_line *line = &rank->job->system->lines[number];
    uint32_t place = wires->fed[line->ends[end].force];
    double sign = (end == 0 ? -1 : 1) * line->ends[end].force_factor;
    double first = sign * wave_at_time(&tlm->pasts[number], 1 - end, rank->t - line->delay, true);
    double last = sign * wave_at_time(&tlm->pasts[number], 1 - end, target - line->delay, false);
    double *signal = (double *)(void *)wires->signals + place;
    *signal = wires->order > 0 ? first : (first + last) / 2;
    for (unsigned o = 0; o < wires->order; o++)
        wires->slopes[o][place] = o == 0 ? (last - first) / (target - rank->t) : 0;
}

void tt_tlm_compute_inputs(const struct tt_tlm *tlm, double target)
{
    for (uint32_t i = 0; tlm && i < tlm->count; i++)
        for (int end = 0; end < 2; end++)
            compute_line_input(tlm, i, end, target);
}

/* ---- opening ---- */

enum tutti_err tt_tlm_open(struct tt_tlm **tlm, struct tt_rank *rank)
{
    uint32_t count = rank->job->system->line_count;
    *tlm = NULL;
    if (count == 0)
        return TUTTI_OK;
    struct tt_tlm *made = calloc(1, sizeof *made + count * sizeof *made->pasts);
    if (!made)
        return tt_fail_memory();
    *tlm = made;
    made->rank = rank;
    made->count = count;
    made->velocities = tt_arena_array(&rank->arena, count, sizeof *made->velocities);
    if (!made->velocities)
        return tt_fail_memory();
    for (uint32_t i = 0; i < count; i++)
        for (int end = 0; end < 2; end++)
            made->velocities[i][end] =
                tt_wires_read_output(&rank->wires, rank->job->system->lines[i].ends[end].velocity);
    tt_tlm_record(made); /* the value before */
    tt_tlm_record(made); /* and the value from here on: a jump, if the ends do not move alike */
    return TUTTI_OK;
}

enum tutti_err tt_tlm_register(struct tt_tlm *tlm, struct tt_rollback_list *remembered)
{
    return tlm ? tt_rollback_list_add(remembered, tlm->pasts, tlm->count * sizeof *tlm->pasts) : TUTTI_OK;
}

void tt_tlm_close(struct tt_tlm *tlm)
{
    free(tlm);
}
