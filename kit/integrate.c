/* SPDX-License-Identifier: MIT */
/* integrate.c - the do-step of Co-Simulation: fixed micro steps of the classical Runge-Kutta method, with event
 * location.
 *
 * A communication step from t to t + h is cut at t + k * micro_step; its last part ends at t + h to the bit. Each part
 * is one step of RK4 (local error of order 5, global of order 4), cut further only by events:
 * - a time event is a point where a part ends, to the bit;
 * - a state event is found where an indicator changes between > 0 and <= 0 across a part. The crossing is then
 *   enclosed by secants and bisections, each point computed by one RK4 step from the part's start, until the
 *   bracket is a few units in the last place of the time wide. The part ends at the far end of the bracket: the
 *   indicator has changed there. Two crossings of one indicator inside one part cancel out and are not seen: choose
 *   micro_step accordingly. */
#include "core.h"

#include "fault.h"

#include <float.h>
#include <math.h>

/* As fmin() and fmax() for numbers, but inline. */
static inline double least(double a, double b)
{
    return a < b ? a : b;
}

static inline double most(double a, double b)
{
    return a > b ? a : b;
}

static bool positive(double z)
{
    return z > 0;
}

static void set_inputs(struct kit *k, double t)
{
    double now = k->time;
    k->time = t;
    for (size_t i = 0; i < k->polynomial_count; i++)
        *k->polynomials[i].field = kit_input_derivative(k, k->polynomials[i].field, 0);
    k->time = now;
}

/* Lets the importer set inputs, and look at outputs where the step is finished. */
static void update(struct kit *k, double t, bool finished, bool may_return, struct kit_intermediate *answer)
{
    *answer = (struct kit_intermediate){.time = t,
                                        .set_requested = true,
                                        .get_allowed = finished,
                                        .step_finished = finished,
                                        .can_return_early = may_return,
                                        .return_time = t};
    k->mode = KIT_INTERMEDIATE_UPDATE;
    k->get_closed = false;
    k->update = answer;
    k->intermediate(k, answer);
    k->update = NULL;
    if (k->mode == KIT_INTERMEDIATE_UPDATE)
        k->mode = KIT_STEP;
}

/* The derivatives at a stage of RK4. */
static enum kit_status stage(struct kit *k, double t)
{
    if (k->polynomials_active)
        set_inputs(k, t);
    if (k->intermediate_inputs) {
        struct kit_intermediate answer;
        update(k, t, false, false, &answer);
        if (k->mode != KIT_STEP)
            return KIT_ERROR;
    }
    return k->model->derivatives(k, k->self, t);
}

/* One step of RK4 from x0 with first slope k1, to t0 + h. */
static enum kit_status rk4(struct kit *k, double t0, double h)
{
    size_t n = k->nx;
    double **x = k->x, **dx = k->dx, *x0 = k->x0, *sum = k->sum;
    enum kit_status status = KIT_OK, worst = KIT_OK;
    if (n == 0)
        return KIT_OK;
    for (size_t i = 0; i < n; i++) {
        sum[i] = k->k1[i];
        *x[i] = x0[i] + h / 2 * k->k1[i];
    }
    for (int part = 2; part <= 4; part++) {
        status = stage(k, part == 4 ? t0 + h : t0 + h / 2);
        if (status > worst && (worst = status) > KIT_WARNING)
            return worst;
        if (part == 4)
            break;
        double next = part == 2 ? h / 2 : h;
        for (size_t i = 0; i < n; i++) {
            double slope = *dx[i];
            sum[i] += 2 * slope;
            *x[i] = x0[i] + next * slope;
        }
    }
    for (size_t i = 0; i < n; i++)
        *x[i] = x0[i] + h / 6 * (sum[i] + *dx[i]);
    return worst;
}

/* Goes from the start of the part to t, and computes the indicators there. */
static enum kit_status point(struct kit *k, double t0, double t)
{
    enum kit_status status = rk4(k, t0, t - t0);
    if (k->nx == 0 && k->polynomials_active)
        set_inputs(k, t);
    k->time = t;
    k->stale |= KIT_STALE_POINT;
    if (status > KIT_WARNING || k->nz == 0)
        return status;
    enum kit_status looked = kit_refresh(k, KIT_STALE_INDICATORS);
    return looked > status ? looked : status;
}

static void copy_indicators(const struct kit *k, double z[])
{
    for (size_t i = 0; i < k->nz; i++)
        z[i] = *k->z[i];
}

/* Whether an indicator differs from the start of the part. */
static bool crossed(const struct kit *k)
{
    for (size_t i = 0; i < k->nz; i++)
        if (positive(k->z0[i]) != positive(*k->z[i]))
            return true;
    return false;
}

/* Where, as a fraction of the bracket, the first of the straight lines through its ends crosses zero. */
static double secant(const struct kit *k, const double low[], const double high[])
{
    double first = 1;
    for (size_t i = 0; i < k->nz; i++)
        if (positive(low[i]) != positive(high[i]))
            first = least(first, low[i] / (low[i] - high[i]));
    return first;
}

/* The indicators differ between t0 (z0) and `high`: ends the part right after the first crossing. Secants with the
 * Illinois rule (an end that stays put counts half), and a bisection whenever they shrink the bracket too slowly. */
static enum kit_status locate(struct kit *k, double t0, double high)
{
    double low = t0, checkpoint = high - t0;
    double *z_low = k->z1, *z_high = k->z2;
    int last = 0; /* which end moved last: -1 low, 1 high */
    for (size_t i = 0; i < k->nz; i++)
        z_low[i] = k->z0[i];
    copy_indicators(k, z_high);
    for (int i = 1; i <= 300; i++) {
        double width = high - low, tiny = 2 * DBL_EPSILON * most(fabs(high), width);
        bool bisect = i % 4 == 0 && width > checkpoint / 16;
        if (i % 4 == 0)
            checkpoint = width;
        double at = low + width * (bisect ? 0.5 : secant(k, z_low, z_high));
        at = least(most(at, low + tiny / 2), high - tiny / 2);
        if (width <= tiny || at <= low || at >= high)
            break;
        enum kit_status status = point(k, t0, at);
        if (status > KIT_WARNING)
            return status;
        int moved = crossed(k) ? 1 : -1;
        copy_indicators(k, moved > 0 ? z_high : z_low);
        *(moved > 0 ? &high : &low) = at;
        for (size_t j = 0; moved == last && j < k->nz; j++)
            *(moved > 0 ? &z_low[j] : &z_high[j]) /= 2;
        last = moved;
    }
    return point(k, t0, high);
}

/* One part of a communication step, at most to `to`. *event: it ended at a state or step event. */
static enum kit_status advance(struct kit *k, double to, bool *event)
{
    double t0 = k->time;
    enum kit_status status = kit_refresh(k, KIT_STALE_DERIVATIVES | (k->nz > 0 ? KIT_STALE_INDICATORS : 0));
    if (status > KIT_WARNING)
        return status;
    for (size_t i = 0; i < k->nx; i++) {
        k->x0[i] = *k->x[i];
        k->k1[i] = *k->dx[i];
    }
    copy_indicators(k, k->z0);
    enum kit_status worst = status;
    if ((status = point(k, t0, to)) > worst)
        worst = status;
    if (worst <= KIT_WARNING && crossed(k)) {
        *event = true;
        if ((status = locate(k, t0, to)) > worst)
            worst = status;
    }
    if (worst > KIT_WARNING) { /* back to where the part began */
        for (size_t i = 0; i < k->nx; i++)
            *k->x[i] = k->x0[i];
        if (k->polynomials_active)
            set_inputs(k, t0);
        k->time = t0;
        k->stale |= KIT_STALE_POINT;
        return worst;
    }
    if (k->model->completed_step) {
        bool step_event = false;
        if ((status = k->model->completed_step(k, k->self, k->time, &step_event)) > worst)
            worst = status;
        *event = *event || step_event;
    }
    return worst;
}

/* FMI 3.0 promises that a discarded step leaves no trace: before a step changes more than states, all is kept. */
static enum kit_status keep_for_undo(struct kit *k)
{
    if (k->version < 3 || k->undo_valid)
        return KIT_OK;
    k->undo_valid = true;
    return kit_state_get(k, &k->undo);
}

static enum kit_status handle_event(struct kit *k)
{
    enum kit_status status = keep_for_undo(k);
    return status == KIT_OK ? kit_event_all(k) : status;
}

static void start_polynomials(struct kit *k, double t)
{
    k->polynomials_active = false;
    for (size_t i = 0; i < k->polynomial_count; i++) {
        struct kit_polynomial *p = &k->polynomials[i];
        p->start = t;
        for (unsigned j = 1; j <= KIT_MAX_INPUT_ORDER && !p->fresh; j++)
            p->derivative[j] = 0;
        p->derivative[0] = *p->field;
        k->polynomials_active = k->polynomials_active || p->fresh;
        p->fresh = false;
    }
}

enum kit_status kit_note_indicators(struct kit *k)
{
    if (k->nz == 0)
        return KIT_OK;
    enum kit_status status = kit_refresh(k, KIT_STALE_INDICATORS);
    copy_indicators(k, k->z_end);
    return status;
}

/* Events at the start of a step: discrete inputs or tunable parameters were set, or an input's jump changed the sign
 * of an indicator. *stop: the importer has to handle it. */
static enum kit_status start_events(struct kit *k, bool inputs_set, bool *stop)
{
    enum kit_status status = KIT_OK;
    if (inputs_set && k->nz > 0) {
        status = kit_refresh(k, KIT_STALE_INDICATORS);
        for (size_t i = 0; i < k->nz; i++)
            k->input_event = k->input_event || positive(k->z_end[i]) != positive(*k->z[i]);
    }
    if (!k->input_event || status > KIT_WARNING)
        return status;
    *stop = k->event_mode && k->early_return;
    return *stop ? status : handle_event(k);
}

/* Tells the importer of a finished part of the step from t. It may want to go no further than a new *end. */
static enum kit_status report(struct kit *k, double t, double *end, struct kit_outcome *outcome)
{
    struct kit_intermediate answer;
    bool may_return = k->early_return && k->time < *end;
    update(k, k->time, true, may_return, &answer);
    if (k->mode != KIT_STEP)
        return KIT_ERROR;
    if (!answer.return_requested)
        return KIT_OK;
    if (!may_return || !(answer.return_time >= t && answer.return_time <= *end))
        return kit_fail(k, KIT_ERROR, "intermediate update: early return at t = %.17g is not possible",
                        answer.return_time);
    outcome->early = outcome->early || answer.return_time < *end;
    *end = most(k->time, answer.return_time);
    return KIT_OK;
}

/* All parts up to t + h. */
static enum kit_status run(struct kit *k, double t, double h, double end, struct kit_outcome *outcome)
{
    double micro = k->model->micro_step;
    uint64_t parts = micro > 0 && micro < h ? (uint64_t)ceil(h / micro - 1e-9) : 1;
    bool stop_at_events = k->event_mode;
    enum kit_status status = KIT_OK, worst = KIT_OK;
    for (uint64_t i = 1; k->time < end; i++) {
        double target = i >= parts ? end : least(t + (double)i * micro, end);
        while (k->time < target) {
            bool event = false;
            status = advance(k, most(k->time, least(target, k->next_event)), &event);
            if (status > worst && (worst = status) > KIT_WARNING)
                return worst;
            if (event || k->time >= k->next_event) {
                if (stop_at_events && (k->early_return || k->time >= end)) {
                    outcome->event = k->event_pending = true;
                    outcome->early = outcome->early || k->time < end;
                    return worst;
                }
                if ((status = handle_event(k)) > worst && (worst = status) > KIT_WARNING)
                    return worst;
                if (k->terminated)
                    return worst;
            }
            if (k->intermediate && (status = report(k, t, &end, outcome)) > KIT_WARNING)
                return status;
            target = least(target, end);
        }
    }
    return worst;
}

static enum kit_status run_custom(struct kit *k, double t, double h, double end)
{
    double to = least(t + h, end);
    enum kit_status status = k->model->advance(k, k->self, t, to - t);
    if (status > KIT_WARNING)
        return status;
    k->time = to;
    k->stale |= KIT_STALE_POINT;
    return k->time >= k->next_event ? kit_event_all(k) : status;
}

/* t0 + n h and the sum of n steps differ in the last digits; but not by as much as a step. */
double kit_time_tolerance(double t, double h)
{
    return most(8 * DBL_EPSILON * fabs(t), least(1e-9 * most(fabs(t), h), 1e-3 * h));
}

enum kit_status kit_check_step(struct kit *k, double t, double h)
{
    double tolerance = kit_time_tolerance(t, h);
    if (!(h > 0) || !isfinite(h))
        return kit_fail(k, KIT_ERROR, "DoStep: the step size %.17g is not positive", h);
    if (!(fabs(t - k->time) <= tolerance))
        return kit_fail(k, KIT_ERROR, "DoStep: the communication point is %.17g but the FMU is at %.17g", t, k->time);
    if (t + h > k->stop + tolerance)
        return kit_fail(k, KIT_ERROR, "DoStep: the step to %.17g passes the stop time %.17g", t + h, k->stop);
    if (k->model->features & KIT_FIXED_STEP) {
        if (k->fixed_step > 0 && fabs(h - k->fixed_step) > tolerance)
            return kit_fail(k, KIT_ERROR, "DoStep: the step size must stay %.17g, it is %.17g", k->fixed_step, h);
        k->fixed_step = h;
    }
    return KIT_OK;
}

/* The habit of an FMU whose first step goes to the stop time, and whose later ones change nothing but the time. */
static enum kit_status rush(struct kit *k, double t, double h, struct kit_outcome *outcome)
{
    enum kit_status status = KIT_OK;
    *outcome = (struct kit_outcome){.early = false};
    if (!k->rushed)
        status = k->model->advance ? run_custom(k, t, k->stop - t, k->stop) : run(k, t, k->stop - t, k->stop, outcome);
    k->rushed = true;
    k->time = k->last_time = t + h;
    k->set_in_step = false;
    k->stale |= KIT_STALE_POINT;
    return status;
}

enum kit_status kit_do_step(struct kit *k, double t, double h, double limit, struct kit_outcome *outcome)
{
    double end = least(t + h, limit);
    bool inputs_set = k->set_in_step, stop = false;
    if (k->stop < INFINITY && KIT_FAULT_HABIT(k, "rush", "DoStep"))
        return rush(k, t, h, outcome);
    *outcome = (struct kit_outcome){.early = limit < t + h};
    k->time = t;
    k->set_in_step = false;
    k->undo_valid = false;
    if (k->polynomial_count > 0)
        start_polynomials(k, t);
    double *start = k->start;
    for (size_t i = 0; i < k->nx; i++)
        start[i] = *k->x[i];
    if ((k->model->completed_step || k->model->advance || k->intermediate_inputs) && keep_for_undo(k) != KIT_OK)
        return KIT_ERROR;
    enum kit_status worst = start_events(k, inputs_set, &stop);
    if (stop) {
        outcome->event = outcome->early = k->event_pending = true;
    } else if (worst <= KIT_WARNING && !k->terminated) {
        enum kit_status status = k->model->advance ? run_custom(k, t, h, end) : run(k, t, h, end, outcome);
        worst = status > worst ? status : worst;
    }
    if (worst == KIT_DISCARD && k->version == 3) {
        if (k->undo_valid && kit_state_set(k, k->undo, false) != KIT_OK)
            return KIT_ERROR;
        for (size_t i = 0; i < k->nx; i++)
            *k->x[i] = start[i];
        k->time = t;
        k->stale |= KIT_STALE_POINT;
    }
    if (worst > KIT_DISCARD && k->mode == KIT_STEP) /* the model gave the reason */
        kit_fail(k, worst, "the step from t = %.17g failed at t = %.17g", t, k->time);
    if (worst <= KIT_DISCARD)
        kit_note_indicators(k);
    k->last_time = k->time;
    outcome->terminate = k->terminated;
    outcome->early = outcome->early || (k->terminated && k->time < t + h);
    return worst;
}

enum kit_status kit_do_step_or_discard(struct kit *k, double t, double h)
{
    double limit = INFINITY;
    enum kit_status planned = KIT_OK, fault = KIT_FAULT_STEP(k, t, h, &limit, &planned);
    if (fault > KIT_WARNING)
        return fault;
    struct kit_outcome outcome;
    enum kit_status status = kit_do_step(k, t, h, planned == KIT_DISCARD ? limit : INFINITY, &outcome);
    if (status <= KIT_WARNING && (outcome.terminate || planned == KIT_DISCARD)) {
        kit_log(k, KIT_DISCARD, "DoStep: %s at t = %.17g", outcome.terminate ? "the model ends" : "discarded", k->time);
        status = KIT_DISCARD;
    }
    if (status == KIT_DISCARD)
        k->mode = KIT_STEP_FAILED;
    return kit_worse(status, fault);
}
