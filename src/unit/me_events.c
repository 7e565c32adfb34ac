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
#define SHORTEST_LOOK 1e-9 /* relative to the run: distances to an event below this are rounding errors */
#define CHATTER_SPAN 1e-7  /* of the run */
#define LONGEST_BLIND                                                                                                  \
    2e-3 /* of the run: longer steps are looked at in between, which costs 500 looks in a whole run at most */
#define SMALL_MOVE 1e-5 /* of the states, to see where indicators go */
#define FLOOR 4         /* times HYSTERESIS */

/* FMI 3.0 has names for indicators; earlier versions number them. */
static const char *indicator_name(const struct tt_me_events *events, size_t i, char *out, size_t size)
{
    const struct tt_me_model *model = events->solution->model;
    const struct tt_unknowns *named = &model->unit->fmu->desc->event_indicators;
    if (named->count == events->count)
        snprintf(out, size, "'%s'", model->unit->fmu->desc->vars[named->items[i].variable].name);
    else
        snprintf(out, size, "%zu of %zu", i + 1, events->count);
    return out;
}

/* The indicators where the FMU stands; *bad is the first that has no value, or `count`. */
static enum tutti_err read_event_indicators(struct tt_me_events *events, size_t *bad)
{
    const struct tt_me_model *model = events->solution->model;
    bool discarded = false;
    TRY(tt_instance_get_indicators(model->instance, events->z, events->count, &discarded));
    *bad = 0;
    while (*bad < events->count && !discarded && isfinite(events->z[*bad]))
        ++*bad;
    for (size_t i = 0; i < *bad; i++)
        events->z_scale[i] = fmax(events->z_scale[i], fabs(events->z[i]));
    return TUTTI_OK;
}

enum tutti_err tt_me_events_fail_no_value(const struct tt_me_events *events, double t, size_t bad)
{
    const struct tt_me_model *model = events->solution->model;
    char name[256];
    bool refused = tt_instance_refused(model->instance);
    return tt_fail(TUTTI_ERR_FMU, "%s (%s): event indicator %s has no value at t = %s%s%s", model->unit->name,
                   model->unit->fmu->path, indicator_name(events, bad, name, sizeof name), TIME(t), refused ? "; " : "",
                   refused ? tt_instance_refusal(model->instance) : "");
}

enum tutti_err tt_me_events_excess(struct tt_me_events *events, double *excess, size_t *bad)
{
    if (events->count == 0) {
        *bad = 0;
        return TUTTI_OK;
    }
    TRY(read_event_indicators(events, bad));
    for (size_t i = 0; i < *bad; i++) {
        double z = events->z[i];
        excess[i] = events->positive[i] ? (z > 0 ? -z : fmax(-z, DBL_MIN))
                                        : fmax(z - HYSTERESIS * events->z_scale[i], events->floor[i] - z);
    }
    return TUTTI_OK;
}

static bool indicator_is_near_zero(const struct tt_me_events *events, size_t i)
{
    return fabs(events->z[i]) <= NEAR_ZERO * events->z_scale[i];
}

/* A step along the derivatives that moves no state by more than SMALL_MOVE, into solution->scratch; 0: nothing moves. */
static enum tutti_err find_small_move(struct tt_me_events *events, double *length)
{
    struct tt_me_solution *solution = events->solution;
    struct tt_me_model *model = solution->model;
    enum tt_eval eval = model->ode.rhs(model->ode.context, solution->t, solution->x, solution->dx);
    double fastest = 0;
    *length = 0;
    model->counts.rhs++;
    if (eval == TUTTI_EVAL_FAILED)
        return model->ode.err;
    for (size_t i = 0; i < model->states && eval == TUTTI_EVAL_OK; i++)
        fastest = fmax(fastest, fabs(solution->dx[i]) / (fabs(solution->x[i]) + model->nominals[i]));
    if (fastest > 0)
        *length = fmin(SMALL_MOVE / fastest, SMALL_MOVE * (model->setup.stop - model->setup.start));
    for (size_t i = 0; i < model->states; i++)
        solution->scratch[i] = solution->x[i] + *length * solution->dx[i];
    return TUTTI_OK;
}

/* Which of those that an event left at 0, or just below, rise: they are not to sink without another event. */
static enum tutti_err find_rising_indicators(struct tt_me_events *events)
{
    struct tt_me_solution *solution = events->solution;
    double length, *before = events->crossing.here;
    bool any = false;
    for (size_t i = 0; i < events->count; i++) {
        events->floor[i] = -INFINITY;
        any = any || (!events->positive[i] && events->z_scale[i] > 0 && indicator_is_near_zero(events, i));
    }
    /* A solver of several units computes the inputs: they may have moved an indicator since it was evaluated here. */
    if (!any || !solution->solver || solution->led)
        return TUTTI_OK;
    TRY(find_small_move(events, &length));
    if (length > 0) {
        bool discarded = false;
        memcpy(before, events->z, events->count * sizeof *before);
        TRY(tt_me_model_place(solution->model, solution->t + length, solution->scratch, &discarded));
        if (!discarded)
            TRY(tt_instance_get_indicators(solution->model->instance, events->z, events->count, &discarded));
        for (size_t i = 0; i < events->count && !discarded; i++) {
            double z = events->z[i];
            events->z[i] = before[i];
            if (!events->positive[i] && indicator_is_near_zero(events, i) && z > before[i])
                events->floor[i] = before[i] - FLOOR * HYSTERESIS * events->z_scale[i];
        }
    }
    return tt_me_solution_place_back(solution);
}

enum tutti_err tt_me_events_reset(struct tt_me_events *events)
{
    struct tt_me_solution *solution = events->solution;
    size_t bad;
    events->at = INFINITY;
    if (events->count == 0)
        return TUTTI_OK;
    TRY(read_event_indicators(events, &bad));
    if (bad < events->count)
        return tt_me_events_fail_no_value(events, solution->t, bad);
    events->near_zero = false;
    for (size_t i = 0; i < events->count; i++) {
        events->positive[i] = events->z[i] > 0;
        events->near_zero = events->near_zero || indicator_is_near_zero(events, i);
    }
    return find_rising_indicators(events);
}

enum tutti_err tt_me_events_check_here(struct tt_me_events *events, bool *event)
{
    struct tt_me_solution *solution = events->solution;
    struct tt_crossing *crossing = &events->crossing;
    size_t bad;
    TRY(tt_me_events_excess(events, crossing->here, &bad));
    if (bad < events->count)
        return tt_me_events_fail_no_value(events, solution->t, bad);
    *event = tt_crossing_any(crossing, crossing->here);
    if (*event)
        events->indicator = crossing->found;
    return TUTTI_OK;
}

/* For crossing.h; moves the FMU. */
static enum tutti_err read_excess_at(void *context, double t, double *excess, size_t *bad)
{
    struct tt_me_events *events = context;
    struct tt_me_solution *solution = events->solution;
    TRY(tt_me_solution_evaluate(solution, t, solution->scratch));
    TRY(tt_me_model_place(solution->model, t, solution->scratch, NULL));
    return tt_me_events_excess(events, excess, bad);
}

static enum tutti_err indicator_fail_no_value(void *context, double t, size_t bad)
{
    return tt_me_events_fail_no_value(context, t, bad);
}

enum tutti_err tt_me_events_init(struct tt_me_events *events, struct tt_me_solution *solution, size_t count)
{
    size_t n = events->count = count;
    events->solution = solution;
    events->z = calloc(n + 1, sizeof *events->z);
    events->z_scale = calloc(n + 1, sizeof *events->z_scale);
    events->positive = calloc(n + 1, sizeof *events->positive);
    events->floor = calloc(n + 1, sizeof *events->floor);
    events->recent = calloc(ME_CHATTER_EVENTS, sizeof *events->recent);
    events->at = INFINITY;
    if (!events->z || !events->z_scale || !events->positive || !events->floor || !events->recent)
        return tt_fail_memory();
    for (size_t i = 0; i < n; i++)
        events->floor[i] = -INFINITY;
    events->crossing.context = events;
    events->crossing.read = read_excess_at;
    events->crossing.no_value = indicator_fail_no_value;
    return tt_crossing_init(&events->crossing, n);
}

void tt_me_events_fini(struct tt_me_events *events)
{
    tt_crossing_fini(&events->crossing);
    free(events->z);
    free(events->z_scale);
    free(events->positive);
    free(events->floor);
    free(events->recent);
}

enum tutti_err tt_me_events_search(struct tt_me_events *events, double left, double right)
{
    const struct tt_me_model *model = events->solution->model;
    bool near_zero = events->near_zero;
    events->near_zero = false;
    events->crossing.longest = LONGEST_BLIND * (model->setup.stop - model->setup.start);
    events->crossing.shortest = SHORTEST_LOOK * (model->setup.stop - model->setup.start);
    TRY(tt_crossing_search(&events->crossing, left, right, near_zero, &events->at));
    if (events->at < INFINITY)
        events->indicator = events->crossing.found;
    return TUTTI_OK;
}

/* An indicator that sinks again without having been seen above 0 has made a hop that is too low to be seen. */
static enum tutti_err count_sunk_events(struct tt_me_events *events)
{
    size_t bad, i = events->indicator;
    if (i >= events->count || events->positive[i] || !(events->floor[i] > -INFINITY)) {
        events->sunk = 0;
        return TUTTI_OK;
    }
    TRY(read_event_indicators(events, &bad));
    events->sunk = bad == events->count && events->z[i] <= events->floor[i] ? events->sunk + 1 : 0;
    return TUTTI_OK;
}

enum tutti_err tt_me_events_record(struct tt_me_events *events, double t)
{
    const struct tt_me_model *model = events->solution->model;
    TRY(count_sunk_events(events));
    double *oldest = &events->recent[events->recent_count % ME_CHATTER_EVENTS];
    double first = *oldest;
    *oldest = t;
    bool full = events->recent_count++ >= ME_CHATTER_EVENTS;
    if (!full ||
        (events->sunk < ME_CHATTER_EVENTS && t - first > CHATTER_SPAN * (model->setup.stop - model->setup.start)))
        return TUTTI_OK;
    char name[256];
    return tt_fail(
        TUTTI_ERR_SOLVER,
        "%s (%s): chattering: %d state events between t = %s and %s, the last by event indicator %s. The "
        "model slides along a switch, or its events pile up; give the switch a hysteresis, or make it smooth",
        model->unit->name, model->unit->fmu->path, ME_CHATTER_EVENTS, TIME(first), TIME(t),
        indicator_name(events, events->indicator, name, sizeof name));
}

enum tutti_err tt_me_events_saved_init(struct tt_me_events_saved *saved, const struct tt_me_events *events)
{
    saved->positive = calloc(events->count + 1, sizeof *saved->positive);
    saved->floor = calloc(events->count + 1, sizeof *saved->floor);
    saved->z_scale = calloc(events->count + 1, sizeof *saved->z_scale);
    saved->recent = calloc(ME_CHATTER_EVENTS, sizeof *saved->recent);
    return saved->positive && saved->floor && saved->z_scale && saved->recent ? TUTTI_OK : tt_fail_memory();
}

void tt_me_events_saved_fini(struct tt_me_events_saved *saved)
{
    free(saved->positive);
    free(saved->floor);
    free(saved->z_scale);
    free(saved->recent);
}

void tt_me_events_save(const struct tt_me_events *events, struct tt_me_events_saved *saved)
{
    saved->at = events->at;
    saved->indicator = events->indicator;
    saved->near_zero = events->near_zero;
    saved->recent_count = events->recent_count;
    saved->sunk = events->sunk;
    memcpy(saved->floor, events->floor, events->count * sizeof *saved->floor);
    memcpy(saved->positive, events->positive, events->count * sizeof *saved->positive);
    memcpy(saved->z_scale, events->z_scale, events->count * sizeof *saved->z_scale);
    memcpy(saved->recent, events->recent, ME_CHATTER_EVENTS * sizeof *saved->recent);
}

void tt_me_events_restore(struct tt_me_events *events, const struct tt_me_events_saved *saved, bool is_ahead)
{
    events->at = is_ahead ? saved->at : INFINITY;
    events->indicator = is_ahead ? saved->indicator : events->indicator;
    events->near_zero = saved->near_zero;
    events->recent_count = saved->recent_count;
    events->sunk = saved->sunk;
    memcpy(events->floor, saved->floor, events->count * sizeof *events->floor);
    memcpy(events->positive, saved->positive, events->count * sizeof *events->positive);
    memcpy(events->z_scale, saved->z_scale, events->count * sizeof *events->z_scale);
    memcpy(events->recent, saved->recent, ME_CHATTER_EVENTS * sizeof *events->recent);
}

void tt_me_events_pack(const struct tt_me_events *events, const struct tt_me_events_saved *saved,
                       struct tt_byte_writer *parcel)
{
    tt_bytes_put_double(parcel, saved->at);
    tt_bytes_put_u64(parcel, saved->indicator);
    tt_bytes_put_u8(parcel, saved->near_zero);
    tt_bytes_put_u64(parcel, saved->recent_count);
    tt_bytes_put_u64(parcel, saved->sunk);
    tt_bytes_put_block(parcel, saved->floor, events->count * sizeof *saved->floor);
    tt_bytes_put_block(parcel, saved->positive, events->count * sizeof *saved->positive);
    tt_bytes_put_block(parcel, saved->z_scale, events->count * sizeof *saved->z_scale);
    tt_bytes_put_block(parcel, saved->recent, ME_CHATTER_EVENTS * sizeof *saved->recent);
}

void tt_me_events_unpack(const struct tt_me_events *events, struct tt_byte_reader *in, struct tt_me_events_saved *saved)
{
    saved->at = tt_bytes_get_double(in);
    saved->indicator = tt_bytes_get_u64(in);
    saved->near_zero = tt_bytes_get_u8(in) != 0;
    saved->recent_count = tt_bytes_get_u64(in);
    saved->sunk = tt_bytes_get_u64(in);
    (void)tt_bytes_get_copy(in, saved->floor, events->count * sizeof *saved->floor);
    in->bad = in->bad || (events->count > 0 && saved->indicator >= events->count);
    (void)tt_bytes_get_copy(in, saved->positive, events->count * sizeof *saved->positive);
    (void)tt_bytes_get_copy(in, saved->z_scale, events->count * sizeof *saved->z_scale);
    (void)tt_bytes_get_copy(in, saved->recent, ME_CHATTER_EVENTS * sizeof *saved->recent);
}
