/* SPDX-License-Identifier: MIT */
#include "unit/me_events.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"

#define HYSTERESIS 1e-14
#define NEAR_ZERO 1e-6
#define SHORTEST_LOOK 1e-9 /* of the run: nearer to an event there is nothing but rounding */
#define CHATTER_SPAN 1e-7  /* of the run */
enum { MOST_BISECTIONS = 200 };

enum tutti_err tutti_me_events_init(struct me_events *events, struct me_solution *solution, size_t count)
{
    size_t n = events->count = count;
    events->solution = solution;
    events->z_left = calloc(n + 1, sizeof *events->z_left);
    events->z_right = calloc(n + 1, sizeof *events->z_right);
    events->z = calloc(n + 1, sizeof *events->z);
    events->z_scale = calloc(n + 1, sizeof *events->z_scale);
    events->positive = calloc(n + 1, sizeof *events->positive);
    events->recent = calloc(ME_CHATTER_EVENTS, sizeof *events->recent);
    events->at = INFINITY;
    bool all = events->z_left && events->z_right && events->z && events->z_scale && events->positive && events->recent;
    return all ? TUTTI_OK : tutti_fail_memory();
}

void tutti_me_events_fini(struct me_events *events)
{
    free(events->z_left);
    free(events->z_right);
    free(events->z);
    free(events->z_scale);
    free(events->positive);
    free(events->recent);
}

/* FMI 3.0 names its indicators; the others count them. */
static const char *indicator_name(const struct me_events *events, size_t i, char *out, size_t size)
{
    const struct me_model *model = events->solution->model;
    const struct tutti_unknowns *named = &model->unit->fmu->desc->event_indicators;
    if (named->count == events->count)
        snprintf(out, size, "'%s'", model->unit->fmu->desc->vars[named->items[i].variable].name);
    else
        snprintf(out, size, "%zu of %zu", i + 1, events->count);
    return out;
}

/* The indicators where the FMU stands; *bad is the first that has no value, or `indicators`. */
static enum tutti_err try_here(struct me_events *events, double *z, size_t *bad)
{
    const struct me_model *model = events->solution->model;
    bool discarded = false;
    TRY(tutti_instance_get_indicators(model->instance, z, events->count, &discarded));
    *bad = 0;
    while (*bad < events->count && !discarded && isfinite(z[*bad]))
        ++*bad;
    for (size_t i = 0; i < *bad; i++)
        events->z_scale[i] = fmax(events->z_scale[i], fabs(z[i]));
    return TUTTI_OK;
}

static enum tutti_err no_value(const struct me_events *events, double t, size_t bad)
{
    const struct me_model *model = events->solution->model;
    char name[256];
    bool refused = tutti_instance_refused(model->instance);
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): event indicator %s has no value at t = %s%s%s", model->unit->name,
                      model->unit->fmu->path, indicator_name(events, bad, name, sizeof name), TIME(t),
                      refused ? "; " : "", refused ? tutti_instance_refusal(model->instance) : "");
}

static enum tutti_err read_here(struct me_events *events, double t, double *z)
{
    size_t bad;
    TRY(try_here(events, z, &bad));
    return bad < events->count ? no_value(events, t, bad) : TUTTI_OK;
}

/* How far indicator i is on the way out of its domain: it has left it if this is > 0. */
static double excess(const struct me_events *events, const double *z, size_t i)
{
    return events->positive[i] ? (z[i] > 0 ? -z[i] : fmax(-z[i], DBL_MIN)) : z[i] - HYSTERESIS * events->z_scale[i];
}

static bool any_left(const struct me_events *events, const double *z)
{
    for (size_t i = 0; i < events->count; i++)
        if (excess(events, z, i) > 0)
            return true;
    return false;
}

enum tutti_err tutti_me_events_reset(struct me_events *events)
{
    struct me_solution *solution = events->solution;
    events->at = INFINITY;
    if (events->count == 0)
        return TUTTI_OK;
    TRY(read_here(events, solution->t, events->z));
    events->near_zero = false;
    for (size_t i = 0; i < events->count; i++) {
        events->positive[i] = events->z[i] > 0;
        events->near_zero = events->near_zero || fabs(events->z[i]) <= NEAR_ZERO * events->z_scale[i];
    }
    return TUTTI_OK;
}

enum tutti_err tutti_me_events_check_here(struct me_events *events, bool *event)
{
    struct me_solution *solution = events->solution;
    *event = false;
    if (events->count == 0)
        return TUTTI_OK;
    TRY(read_here(events, solution->t, events->z));
    *event = any_left(events, events->z);
    for (size_t i = 0; i < events->count; i++)
        if (excess(events, events->z, i) > 0)
            events->indicator = i;
    return TUTTI_OK;
}

static enum tutti_err try_at(struct me_events *events, double t, double *z, size_t *bad)
{
    struct me_solution *solution = events->solution;
    TRY(tutti_me_solution_at(solution, t, solution->scratch));
    TRY(tutti_me_model_place(solution->model, t, solution->scratch, NULL));
    return try_here(events, z, bad);
}

static enum tutti_err read_at(struct me_events *events, double t, double *z)
{
    size_t bad;
    TRY(try_at(events, t, z, &bad));
    return bad < events->count ? no_value(events, t, bad) : TUTTI_OK;
}

/* Two times that nothing lies between, but for the rounding of the dense output. */
static bool neighbours(double left, double right)
{
    return right - left <= 4 * DBL_EPSILON * fmax(fabs(left), fabs(right)) || right - left <= DBL_MIN;
}

/* The indicators at the end of the solver's step; where they have no value there, at an earlier point at which one has
 * left its domain: an event may keep the solution from where there is none. */
static enum tutti_err read_right(struct me_events *events, double left, double *right)
{
    size_t bad, at_end;
    double good = left, lost = *right;
    TRY(try_at(events, lost, events->z_right, &at_end));
    if (at_end == events->count)
        return TUTTI_OK;
    for (int round = 0; round < MOST_BISECTIONS && !neighbours(good, lost); round++) {
        double middle = good + (lost - good) / 2;
        TRY(try_at(events, middle, events->z_right, &bad));
        if (bad == events->count && any_left(events, events->z_right)) {
            *right = middle;
            return TUTTI_OK;
        }
        *(bad == events->count ? &good : &lost) = middle;
    }
    TRY(try_at(events, *right, events->z_right, &bad)); /* for the FMU's words */
    return no_value(events, *right, at_end);
}

/* Where the first indicator to go would cross zero, if it went straight from the left end to the right; weights are those
 * of the Illinois method, which keep one end from standing still. */
static double guess(const struct me_events *events, double left, double right, double left_weight, double right_weight)
{
    double first = right;
    for (size_t i = 0; i < events->count; i++) {
        double a = excess(events, events->z_left, i) * left_weight,
               b = excess(events, events->z_right, i) * right_weight;
        if (b > 0 && a <= 0 && b > a)
            first = fmin(first, left + (right - left) * (-a / (b - a)));
    }
    return first;
}

/* Narrows (left, right], at whose right end some indicator has left its domain and at whose left end none has. */
static enum tutti_err locate(struct me_events *events, double left, double right)
{
    double left_weight = 1, right_weight = 1, *swap;
    for (int round = 0; round < MOST_BISECTIONS && !neighbours(left, right); round++) {
        double middle = left + (right - left) / 2, t = middle;
        if (round % 4 != 3) /* so that the bracket shrinks whatever the indicators do */
            t = guess(events, left, right, left_weight, right_weight);
        double margin = fmax(2 * DBL_EPSILON * fmax(fabs(left), fabs(right)), 1e-4 * (right - left) * (round < 3));
        t = fmin(fmax(t, left + margin), right - margin);
        if (!(t > left && t < right))
            t = middle;
        if (!(t > left && t < right))
            break;
        TRY(read_at(events, t, events->z));
        if (any_left(events, events->z)) {
            right = t;
            swap = events->z_right, events->z_right = events->z, events->z = swap;
            right_weight = 1;
            left_weight /= 2;
        } else {
            left = t;
            swap = events->z_left, events->z_left = events->z, events->z = swap;
            left_weight = 1;
            right_weight /= 2;
        }
    }
    events->at = right;
    for (size_t i = 0; i < events->count; i++)
        if (excess(events, events->z_right, i) > 0)
            events->indicator = i;
    return TUTTI_OK;
}

/* An indicator that an event left near zero may go and come back within the first step after it, as that of a ball does
 * which bounces off the floor in ever shorter hops. So that step is looked at near its beginning, too. */
static enum tutti_err look_behind_event(struct me_events *events, double left, double *right)
{
    const struct me_model *model = events->solution->model;
    enum { LOOKS = 4 };
    double t = *right;
    for (int look = 0; look < LOOKS && !any_left(events, events->z_right); look++) {
        t = left + (t - left) / 8;
        if (t - left < SHORTEST_LOOK * (model->setup.stop - model->setup.start))
            break;
        TRY(read_at(events, t, events->z_right));
        *right = t;
    }
    return TUTTI_OK;
}

enum tutti_err tutti_me_events_search(struct me_events *events, double left, double right)
{
    bool near_zero = events->near_zero;
    events->at = INFINITY;
    events->near_zero = false;
    if (events->count == 0)
        return TUTTI_OK;
    TRY(read_right(events, left, &right));
    if (near_zero)
        TRY(look_behind_event(events, left, &right));
    if (!any_left(events, events->z_right))
        return TUTTI_OK;
    TRY(read_at(events, left, events->z_left));
    if (any_left(events,
                 events->z_left)) { /* as at an event that changed nothing for it: the very beginning is the time */
        events->at = left;
        memcpy(events->z_right, events->z_left, events->count * sizeof *events->z_left);
        return TUTTI_OK;
    }
    return locate(events, left, right);
}

enum tutti_err tutti_me_events_note(struct me_events *events, double t)
{
    const struct me_model *model = events->solution->model;
    double *oldest = &events->recent[events->recent_count % ME_CHATTER_EVENTS];
    double first = *oldest;
    *oldest = t;
    if (events->recent_count++ < ME_CHATTER_EVENTS ||
        t - first > CHATTER_SPAN * (model->setup.stop - model->setup.start))
        return TUTTI_OK;
    char name[256];
    return tutti_fail(
        TUTTI_ERR_SOLVER,
        "%s (%s): chattering: %d state events between t = %s and %s, the last by event indicator %s. The "
        "model slides along a switch, or its events pile up; give the switch a hysteresis, or make it smooth",
        model->unit->name, model->unit->fmu->path, ME_CHATTER_EVENTS, TIME(first), TIME(t),
        indicator_name(events, events->indicator, name, sizeof name));
}

enum tutti_err tutti_me_events_saved_init(struct me_events_saved *saved, const struct me_events *events)
{
    saved->positive = calloc(events->count + 1, sizeof *saved->positive);
    saved->z_scale = calloc(events->count + 1, sizeof *saved->z_scale);
    saved->recent = calloc(ME_CHATTER_EVENTS, sizeof *saved->recent);
    return saved->positive && saved->z_scale && saved->recent ? TUTTI_OK : tutti_fail_memory();
}

void tutti_me_events_saved_fini(struct me_events_saved *saved)
{
    free(saved->positive);
    free(saved->z_scale);
    free(saved->recent);
}

void tutti_me_events_save(const struct me_events *events, struct me_events_saved *saved)
{
    saved->at = events->at;
    saved->indicator = events->indicator;
    saved->near_zero = events->near_zero;
    saved->recent_count = events->recent_count;
    memcpy(saved->positive, events->positive, events->count * sizeof *saved->positive);
    memcpy(saved->z_scale, events->z_scale, events->count * sizeof *saved->z_scale);
    memcpy(saved->recent, events->recent, ME_CHATTER_EVENTS * sizeof *saved->recent);
}

void tutti_me_events_restore(struct me_events *events, const struct me_events_saved *saved, bool is_ahead)
{
    events->at = is_ahead ? saved->at : INFINITY;
    events->indicator = is_ahead ? saved->indicator : events->indicator;
    events->near_zero = saved->near_zero;
    events->recent_count = saved->recent_count;
    memcpy(events->positive, saved->positive, events->count * sizeof *events->positive);
    memcpy(events->z_scale, saved->z_scale, events->count * sizeof *events->z_scale);
    memcpy(events->recent, saved->recent, ME_CHATTER_EVENTS * sizeof *events->recent);
}

void tutti_me_events_pack(const struct me_events *events, const struct me_events_saved *saved,
                          struct tutti_parcel *parcel)
{
    tutti_parcel_put_double(parcel, saved->at);
    tutti_parcel_put_u64(parcel, saved->indicator);
    tutti_parcel_put_u8(parcel, saved->near_zero);
    tutti_parcel_put_u64(parcel, saved->recent_count);
    tutti_parcel_put_block(parcel, saved->positive, events->count * sizeof *saved->positive);
    tutti_parcel_put_block(parcel, saved->z_scale, events->count * sizeof *saved->z_scale);
    tutti_parcel_put_block(parcel, saved->recent, ME_CHATTER_EVENTS * sizeof *saved->recent);
}

void tutti_me_events_unpack(const struct me_events *events, struct tutti_unparcel *in, struct me_events_saved *saved)
{
    saved->at = tutti_unparcel_double(in);
    saved->indicator = tutti_unparcel_u64(in);
    saved->near_zero = tutti_unparcel_u8(in) != 0;
    saved->recent_count = tutti_unparcel_u64(in);
    in->bad = in->bad || (events->count > 0 && saved->indicator >= events->count);
    (void)tutti_unparcel_into(in, saved->positive, events->count * sizeof *saved->positive);
    (void)tutti_unparcel_into(in, saved->z_scale, events->count * sizeof *saved->z_scale);
    (void)tutti_unparcel_into(in, saved->recent, ME_CHATTER_EVENTS * sizeof *saved->recent);
}
