/* SPDX-License-Identifier: MIT */
/* State events: where event indicators leave their domain.
 *
 * FMI: an indicator is in one of two domains, z > 0 or z <= 0, and an event happens where it changes to the other. The FMU
 * keeps the domain of its last event; so do we (`positive`), and look at the end of every step of the solver whether an
 * indicator is in the other one. If so, the first such time in the step is bracketed in the dense output until its ends
 * are neighbours, and the event takes place at the right end, where the FMU sees the change, too.
 *
 * Against chatter by rounding, a domain of z <= 0 is left only at z > HYSTERESIS times the largest |z| seen. What still
 * chatters is the model's own: after so many state events in so short a time the run ends, naming the indicator. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "unit/me.h"

#define HYSTERESIS 1e-14
#define NEAR_ZERO 1e-6
#define SHORTEST_LOOK 1e-9 /* of the run: nearer to an event there is nothing but rounding */
#define CHATTER_SPAN 1e-7  /* of the run */
enum { MOST_BISECTIONS = 200 };

enum tutti_err tutti_me_events_init(struct me *me)
{
    size_t n = me->indicators;
    me->z_left = calloc(n + 1, sizeof *me->z_left);
    me->z_right = calloc(n + 1, sizeof *me->z_right);
    me->z = calloc(n + 1, sizeof *me->z);
    me->z_scale = calloc(n + 1, sizeof *me->z_scale);
    me->positive = calloc(n + 1, sizeof *me->positive);
    me->recent = calloc(ME_CHATTER_EVENTS, sizeof *me->recent);
    me->event_at = INFINITY;
    bool all = me->z_left && me->z_right && me->z && me->z_scale && me->positive && me->recent;
    return all ? TUTTI_OK : tutti_fail_memory();
}

void tutti_me_events_fini(struct me *me)
{
    free(me->z_left);
    free(me->z_right);
    free(me->z);
    free(me->z_scale);
    free(me->positive);
    free(me->recent);
}

/* FMI 3.0 names its indicators; the others count them. */
static const char *indicator_name(const struct me *me, size_t i, char *out, size_t size)
{
    const struct tutti_unknowns *named = &me->unit.fmu->desc->event_indicators;
    if (named->count == me->indicators)
        snprintf(out, size, "'%s'", me->unit.fmu->desc->vars[named->items[i].variable].name);
    else
        snprintf(out, size, "%zu of %zu", i + 1, me->indicators);
    return out;
}

/* The indicators where the FMU stands; *bad is the first that has no value, or `indicators`. */
static enum tutti_err try_here(struct me *me, double *z, size_t *bad)
{
    bool discarded = false;
    TRY(tutti_instance_get_indicators(me->instance, z, me->indicators, &discarded));
    *bad = 0;
    while (*bad < me->indicators && !discarded && isfinite(z[*bad]))
        ++*bad;
    for (size_t i = 0; i < *bad; i++)
        me->z_scale[i] = fmax(me->z_scale[i], fabs(z[i]));
    return TUTTI_OK;
}

static enum tutti_err no_value(const struct me *me, double t, size_t bad)
{
    char name[256];
    bool refused = tutti_instance_refused(me->instance);
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): event indicator %s has no value at t = %s%s%s", me->unit.name,
                      me->unit.fmu->path, indicator_name(me, bad, name, sizeof name), TIME(t), refused ? "; " : "",
                      refused ? tutti_instance_refusal(me->instance) : "");
}

static enum tutti_err read_here(struct me *me, double t, double *z)
{
    size_t bad;
    TRY(try_here(me, z, &bad));
    return bad < me->indicators ? no_value(me, t, bad) : TUTTI_OK;
}

/* How far indicator i is on the way out of its domain: it has left it if this is > 0. */
static double excess(const struct me *me, const double *z, size_t i)
{
    return me->positive[i] ? (z[i] > 0 ? -z[i] : fmax(-z[i], DBL_MIN)) : z[i] - HYSTERESIS * me->z_scale[i];
}

static bool any_left(const struct me *me, const double *z)
{
    for (size_t i = 0; i < me->indicators; i++)
        if (excess(me, z, i) > 0)
            return true;
    return false;
}

enum tutti_err tutti_me_events_reset(struct me *me)
{
    me->event_at = INFINITY;
    if (me->indicators == 0)
        return TUTTI_OK;
    TRY(read_here(me, me->t, me->z));
    me->near_zero = false;
    for (size_t i = 0; i < me->indicators; i++) {
        me->positive[i] = me->z[i] > 0;
        me->near_zero = me->near_zero || fabs(me->z[i]) <= NEAR_ZERO * me->z_scale[i];
    }
    return TUTTI_OK;
}

enum tutti_err tutti_me_events_check_here(struct me *me, bool *event)
{
    *event = false;
    if (me->indicators == 0)
        return TUTTI_OK;
    TRY(read_here(me, me->t, me->z));
    *event = any_left(me, me->z);
    for (size_t i = 0; i < me->indicators; i++)
        if (excess(me, me->z, i) > 0)
            me->event_indicator = i;
    return TUTTI_OK;
}

static enum tutti_err try_at(struct me *me, double t, double *z, size_t *bad)
{
    TRY(tutti_me_states_at(me, t, me->scratch));
    TRY(tutti_me_place(me, t, me->scratch, NULL));
    return try_here(me, z, bad);
}

static enum tutti_err read_at(struct me *me, double t, double *z)
{
    size_t bad;
    TRY(try_at(me, t, z, &bad));
    return bad < me->indicators ? no_value(me, t, bad) : TUTTI_OK;
}

/* Two times that nothing lies between, but for the rounding of the dense output. */
static bool neighbours(double left, double right)
{
    return right - left <= 4 * DBL_EPSILON * fmax(fabs(left), fabs(right)) || right - left <= DBL_MIN;
}

/* The indicators at the end of the solver's step; where they have no value there, at an earlier point at which one has
 * left its domain: an event may keep the solution from where there is none. */
static enum tutti_err read_right(struct me *me, double left, double *right)
{
    size_t bad, at_end;
    double good = left, lost = *right;
    TRY(try_at(me, lost, me->z_right, &at_end));
    if (at_end == me->indicators)
        return TUTTI_OK;
    for (int round = 0; round < MOST_BISECTIONS && !neighbours(good, lost); round++) {
        double middle = good + (lost - good) / 2;
        TRY(try_at(me, middle, me->z_right, &bad));
        if (bad == me->indicators && any_left(me, me->z_right)) {
            *right = middle;
            return TUTTI_OK;
        }
        *(bad == me->indicators ? &good : &lost) = middle;
    }
    TRY(try_at(me, *right, me->z_right, &bad)); /* for the FMU's words */
    return no_value(me, *right, at_end);
}

/* Where the first indicator to go would cross zero, if it went straight from the left end to the right; weights are those
 * of the Illinois method, which keep one end from standing still. */
static double guess(const struct me *me, double left, double right, double left_weight, double right_weight)
{
    double first = right;
    for (size_t i = 0; i < me->indicators; i++) {
        double a = excess(me, me->z_left, i) * left_weight, b = excess(me, me->z_right, i) * right_weight;
        if (b > 0 && a <= 0 && b > a)
            first = fmin(first, left + (right - left) * (-a / (b - a)));
    }
    return first;
}

/* Narrows (left, right], at whose right end some indicator has left its domain and at whose left end none has. */
static enum tutti_err locate(struct me *me, double left, double right)
{
    double left_weight = 1, right_weight = 1, *swap;
    for (int round = 0; round < MOST_BISECTIONS && !neighbours(left, right); round++) {
        double middle = left + (right - left) / 2, t = middle;
        if (round % 4 != 3) /* so that the bracket shrinks whatever the indicators do */
            t = guess(me, left, right, left_weight, right_weight);
        double margin = fmax(2 * DBL_EPSILON * fmax(fabs(left), fabs(right)), 1e-4 * (right - left) * (round < 3));
        t = fmin(fmax(t, left + margin), right - margin);
        if (!(t > left && t < right))
            t = middle;
        if (!(t > left && t < right))
            break;
        TRY(read_at(me, t, me->z));
        if (any_left(me, me->z)) {
            right = t;
            swap = me->z_right, me->z_right = me->z, me->z = swap;
            right_weight = 1;
            left_weight /= 2;
        } else {
            left = t;
            swap = me->z_left, me->z_left = me->z, me->z = swap;
            left_weight = 1;
            right_weight /= 2;
        }
    }
    me->event_at = right;
    for (size_t i = 0; i < me->indicators; i++)
        if (excess(me, me->z_right, i) > 0)
            me->event_indicator = i;
    return TUTTI_OK;
}

/* An indicator that an event left near zero may go and come back within the first step behind it, as that of a ball does
 * which bounces off the floor in ever shorter hops. So that step is looked at near its beginning, too. */
static enum tutti_err look_behind_event(struct me *me, double left, double *right)
{
    enum { LOOKS = 4 };
    double t = *right;
    for (int look = 0; look < LOOKS && !any_left(me, me->z_right); look++) {
        t = left + (t - left) / 8;
        if (t - left < SHORTEST_LOOK * (me->setup.stop - me->setup.start))
            break;
        TRY(read_at(me, t, me->z_right));
        *right = t;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_me_events_search(struct me *me, double left, double right)
{
    bool near_zero = me->near_zero;
    me->event_at = INFINITY;
    me->near_zero = false;
    if (me->indicators == 0)
        return TUTTI_OK;
    TRY(read_right(me, left, &right));
    if (near_zero)
        TRY(look_behind_event(me, left, &right));
    if (!any_left(me, me->z_right))
        return TUTTI_OK;
    TRY(read_at(me, left, me->z_left));
    if (any_left(me, me->z_left)) { /* as at an event that changed nothing for it: the very beginning is the time */
        me->event_at = left;
        memcpy(me->z_right, me->z_left, me->indicators * sizeof *me->z_left);
        return TUTTI_OK;
    }
    return locate(me, left, right);
}

enum tutti_err tutti_me_events_note(struct me *me, double t)
{
    double *oldest = &me->recent[me->recent_count % ME_CHATTER_EVENTS];
    double first = *oldest;
    *oldest = t;
    if (me->recent_count++ < ME_CHATTER_EVENTS || t - first > CHATTER_SPAN * (me->setup.stop - me->setup.start))
        return TUTTI_OK;
    char name[256];
    return tutti_fail(
        TUTTI_ERR_SOLVER,
        "%s (%s): chattering: %d state events between t = %s and %s, the last by event indicator %s. The "
        "model slides along a switch, or its events pile up; give the switch a hysteresis, or make it smooth",
        me->unit.name, me->unit.fmu->path, ME_CHATTER_EVENTS, TIME(first), TIME(t),
        indicator_name(me, me->event_indicator, name, sizeof name));
}
