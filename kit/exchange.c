/* SPDX-License-Identifier: MIT */
/* exchange.c - Model Exchange: the importer's solver owns time and states. */
#include "fault.h"

#include <math.h>

static enum kit_status check_count(struct kit *k, const char *what, size_t count, size_t n)
{
    return count == n ? KIT_OK : kit_fail(k, KIT_ERROR, "there are %zu %s, not %zu", count, what, n);
}

/* Copies n values out of scattered fields. */
static void gather(double *const from[], double to[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = *from[i];
}

enum kit_status kit_set_time(struct kit *k, double t)
{
    if (!isfinite(t))
        return kit_fail(k, KIT_ERROR, "SetTime: the time %g is not finite", t);
    if (t < k->last_event)
        return kit_fail(k, KIT_ERROR, "SetTime: %.17g is before the last event, at %.17g", t, k->last_event);
    if (t > k->stop + kit_time_tolerance(k->stop, 0))
        return kit_fail(k, KIT_ERROR, "SetTime: %.17g is after the stop time %.17g", t, k->stop);
    k->time = t;
    k->stale |= KIT_STALE_POINT;
    return KIT_OK;
}

enum kit_status kit_set_states(struct kit *k, const double x[], size_t n)
{
    if (check_count(k, "states", k->nx, n) != KIT_OK)
        return KIT_ERROR;
    for (size_t i = 0; i < n; i++)
        *k->x[i] = x[i];
    k->stale |= KIT_STALE_POINT;
    return KIT_OK;
}

enum kit_status kit_get_states(struct kit *k, double x[], size_t n)
{
    enum kit_status status = check_count(k, "states", k->nx, n);
    if (status != KIT_OK || (status = kit_refresh(k, KIT_STALE_START)) > KIT_WARNING)
        return status;
    gather(k->x, x, n);
    return status;
}

/* Outputs of an FMU with this habit are computed with derivatives and indicators only, not when they are read. */
static bool computes_outputs(const struct kit *k)
{
    return KIT_FAULT_HABIT(k, "lag", "GetReal") || KIT_FAULT_HABIT(k, "lag", "GetFloat64");
}

enum kit_status kit_get_derivatives(struct kit *k, double derivatives[], size_t n)
{
    enum kit_status status = check_count(k, "states", k->nx, n);
    if (status != KIT_OK || (status = kit_refresh(k, KIT_STALE_DERIVATIVES)) > KIT_WARNING)
        return status;
    if (computes_outputs(k) && (status = kit_refresh(k, KIT_STALE_OUTPUTS)) > KIT_WARNING)
        return status;
    gather(k->dx, derivatives, n);
    return status;
}

enum kit_status kit_get_indicators(struct kit *k, double indicators[], size_t n)
{
    enum kit_status status = check_count(k, "event indicators", k->nz, n);
    if (status != KIT_OK || (status = kit_refresh(k, KIT_STALE_INDICATORS)) > KIT_WARNING)
        return status;
    if (computes_outputs(k) && (status = kit_refresh(k, KIT_STALE_OUTPUTS)) > KIT_WARNING)
        return status;
    gather(k->z, indicators, n);
    return status;
}

enum kit_status kit_get_nominals(struct kit *k, double nominals[], size_t n)
{
    if (check_count(k, "states", k->nx, n) != KIT_OK)
        return KIT_ERROR;
    for (size_t i = 0; i < n; i++)
        nominals[i] = k->nominal[i];
    return KIT_OK;
}

enum kit_status kit_set_nominal(struct kit *kit, const double *state, double nominal)
{
    for (size_t i = 0; i < kit->nx && isfinite(nominal) && nominal > 0; i++)
        if (kit->x[i] == state) {
            kit->nominal[i] = nominal;
            return KIT_OK;
        }
    return kit_fail(kit, KIT_ERROR, "kit_set_nominal: %g for something that is no state, or is not positive", nominal);
}

enum kit_status kit_completed_step(struct kit *k, bool *step_event)
{
    *step_event = false;
    if (!k->model->completed_step)
        return KIT_OK;
    enum kit_status status = k->model->completed_step(k, k->self, k->time, step_event);
    return status > KIT_DISCARD ? kit_fail(k, status, "completed_step() of the model failed") : status;
}
