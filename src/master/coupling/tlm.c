/* SPDX-License-Identifier: MIT */
#include "master/coupling/tlm.h"

#include <math.h>
#include <stdlib.h>

#include "base/number.h"

enum {
    PER_DELAY = 512, /* points that are kept of a delay: those that lie closer than this to others are left out ... */
    ROOM = 1024,     /* ... of a line: events may bring as many again */
};

/* What left both ends at a time. Two points of the same time are a jump. */
struct point {
    double t, waves[2];
};

/* Plain data: it is remembered as it is. The newest point is at (first + count - 1) % ROOM. */
struct past {
    uint32_t first, count;
    struct point points[ROOM];
};

struct tutti_tlm {
    struct tutti_rank *rank;        /* borrowed */
    const double *(*velocities)[2]; /* per line: where those of its ends are among the signals */
    uint32_t count;
    struct past pasts[]; /* per line */
};

double tutti_tlm_shortest(const struct tutti_system *system)
{
    double shortest = INFINITY;
    for (uint32_t i = 0; i < system->line_count; i++)
        shortest = fmin(shortest, system->lines[i].delay);
    return shortest;
}

static const struct tutti_line *shortest_of(const struct tutti_system *system)
{
    const struct tutti_line *shortest = &system->lines[0];
    for (uint32_t i = 1; i < system->line_count; i++)
        if (system->lines[i].delay < shortest->delay)
            shortest = &system->lines[i];
    return shortest;
}

enum tutti_err tutti_tlm_check(const struct tutti_rank *rank, bool varies)
{
    const struct tutti_system *system = rank->job->system;
    const char *who = "";
    double step = varies ? 0 : rank->times.step;
    if (system->line_count == 0)
        return TUTTI_OK;
    const struct tutti_line *line = shortest_of(system);
    for (uint32_t m = 0; m < rank->member_count; m++)
        if (rank->members[m].has_grid && rank->members[m].now.grid.step > step) {
            step = rank->members[m].now.grid.step;
            who = rank->members[m].unit->name;
        }
    if (step <= line->delay || tutti_time_same(step, line->delay, rank->span))
        return TUTTI_OK;
    return tutti_fail(
        TUTTI_ERR_ARGUMENT,
        "--tlm '%s': its delay %s is less than the step %s%s%s: what arrives at an end in a step has to have "
        "left the other one before; use a --step of %s or less, or a longer delay",
        line->text, NUMBER(line->delay), NUMBER(step), *who ? " of " : "", who, NUMBER(line->delay));
}

/* ---- the past ---- */

static const struct point *point_at(const struct past *past, uint32_t number)
{
    return &past->points[(past->first + number) % ROOM];
}

/* What left an end at t: on the line between two points. Before the first one all was as it was there. Of a jump at t: what came
 * before it, or, `after`, what follows it. */
static double wave_at(const struct past *past, int end, double t, bool after)
{
    uint32_t low = 0, high = past->count; /* points before `low` are at or before t, those from `high` on are later */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        double time = point_at(past, middle)->t;
        if (after ? time <= t : time < t)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return point_at(past, 0)->waves[end];
    const struct point *before = point_at(past, low - 1);
    if (low == past->count || before->t == t)
        return before->waves[end];
    const struct point *next = point_at(past, low);
    double part = (t - before->t) / (next->t - before->t);
    return before->waves[end] + part * (next->waves[end] - before->waves[end]);
}

static void drop_oldest(struct past *past, double needed)
{
    while (past->count > 2 && point_at(past, 1)->t < needed) {
        past->first = (past->first + 1) % ROOM;
        past->count--;
    }
}

/* Is the newest point so near to the one before it that it can go when the next one comes? */
static bool is_dense(const struct past *past, double t, double delay)
{
    if (past->count < 2)
        return false;
    double newest = point_at(past, past->count - 1)->t, before = point_at(past, past->count - 2)->t;
    return newest < t && before < newest && t - before < delay / PER_DELAY;
}

static void push(struct past *past, const struct point *point, double delay)
{
    drop_oldest(past, point->t - delay);
    if (past->count == ROOM || is_dense(past, point->t, delay))
        past->count--;
    past->points[(past->first + past->count) % ROOM] = *point;
    past->count++;
}

/* ---- signals ---- */

/* Into the line. */
static double velocity_of(const struct tutti_tlm *tlm, uint32_t number, int end)
{
    const struct tutti_line *line = &tlm->rank->job->system->lines[number];
    double velocity = line->ends[end].velocity_factor * *tlm->velocities[number][end];
    return end == 0 ? velocity : -velocity;
}

void tutti_tlm_note(struct tutti_tlm *tlm)
{
    for (uint32_t i = 0; tlm && i < tlm->count; i++) {
        const struct tutti_rank *rank = tlm->rank;
        const struct tutti_line *line = &rank->job->system->lines[i];
        struct past *past = &tlm->pasts[i];
        struct point point = {.t = rank->t};
        for (int end = 0; end < 2; end++) {
            double velocity = velocity_of(tlm, i, end);
            /* Before the first point the line moved with its ends, and had no force in it: f = 0. */
            point.waves[end] = past->count == 0 ? line->impedance * velocity
                                                : wave_at(past, 1 - end, rank->t - line->delay, true) +
                                                      2 * line->impedance * velocity;
        }
        push(past, &point, line->delay);
    }
}

static void lay(const struct tutti_tlm *tlm, uint32_t number, int end, double target)
{
    struct tutti_rank *rank = tlm->rank;
    struct tutti_wires *wires = &rank->wires;
    const struct tutti_line *line = &rank->job->system->lines[number];
    uint32_t place = wires->fed[line->ends[end].force];
    double sign = (end == 0 ? -1 : 1) * line->ends[end].force_factor;
    double first = sign * wave_at(&tlm->pasts[number], 1 - end, rank->t - line->delay, true);
    double last = sign * wave_at(&tlm->pasts[number], 1 - end, target - line->delay, false);
    double *signal = (double *)(void *)wires->signals + place;
    *signal = wires->order > 0 ? first : (first + last) / 2;
    for (unsigned o = 0; o < wires->order; o++)
        wires->slopes[o][place] = o == 0 ? (last - first) / (target - rank->t) : 0;
}

void tutti_tlm_lay(const struct tutti_tlm *tlm, double target)
{
    for (uint32_t i = 0; tlm && i < tlm->count; i++)
        for (int end = 0; end < 2; end++)
            lay(tlm, i, end, target);
}

/* ---- opening ---- */

enum tutti_err tutti_tlm_open(struct tutti_tlm **tlm, struct tutti_rank *rank)
{
    uint32_t count = rank->job->system->line_count;
    *tlm = NULL;
    if (count == 0)
        return TUTTI_OK;
    struct tutti_tlm *made = calloc(1, sizeof *made + count * sizeof *made->pasts);
    if (!made)
        return tutti_fail_memory();
    *tlm = made;
    made->rank = rank;
    made->count = count;
    made->velocities = tutti_arena_array(&rank->arena, count, sizeof *made->velocities);
    if (!made->velocities)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++)
        for (int end = 0; end < 2; end++)
            made->velocities[i][end] = tutti_wires_read(&rank->wires, rank->job->system->lines[i].ends[end].velocity);
    tutti_tlm_note(made); /* how it was before ... */
    tutti_tlm_note(made); /* ... and from here on: a jump, if the ends do not move alike */
    return TUTTI_OK;
}

enum tutti_err tutti_tlm_remember(struct tutti_tlm *tlm, struct tutti_remembered *remembered)
{
    return tlm ? tutti_remember(remembered, tlm->pasts, tlm->count * sizeof *tlm->pasts) : TUTTI_OK;
}

void tutti_tlm_close(struct tutti_tlm *tlm)
{
    free(tlm);
}
