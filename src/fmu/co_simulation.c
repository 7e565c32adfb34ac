/* SPDX-License-Identifier: MIT */
/* Steps of Co-Simulation, and the events between them. */
#include <math.h>

#include "base/number.h"
#include "base/time.h"
#include "fmu/fmi_call.h"
#include "fmu/instance_clocks_header.h"
#include "fmu/instance.h"

/* Clamps the time that the FMU reports to have reached to [t, end] within rounding; false if it is elsewhere. */
static bool clamp_reached(const struct tt_instance *in, double t, double end, double *reached)
{
    double span = in->setup.stop - in->setup.start;
    if (tt_time_same(*reached, t, span) || tt_time_same(*reached, end, span))
        *reached = fmin(fmax(*reached, t), end);
    return *reached >= t && *reached <= end;
}

/* Handles the results of a step beyond OK: it ended early, at an event, or requests the end of the run. Without these
 * the communication point is reached, however far the FMU's internal clock is from it (a fixed internal step may not
 * divide h). Unrequested events are accepted. */
static enum tutti_err co_simulation_check_step(struct tt_instance *in, double t, double end, struct tt_fmi_step *step)
{
    step->event = step->event && in->event_mode;
    if (!step->early && !step->event && !step->terminate)
        step->reached = end;
    double said = step->reached;
    if (clamp_reached(in, t, end, &step->reached))
        return TUTTI_OK;
    in->state = TUTTI_STATE_ERROR;
    tt_fail(TUTTI_ERR_FMU,
            "%s (%s): the FMU says that its step from t = %s to %s came to %s, which is not between; if it "
            "has steps of its own, use "
            "--step with a multiple of them",
            in->options.name, in->library->file, TIME(t), TIME(end), TIME(said));
    return tt_fail_about(TUTTI_ERR_FMU, in->options.name, NULL, t);
}

/* A do-step that did not return OK. A discarded one of FMI 3.0 stands where it stood; 1.0 and 2.0 need a saved state
 * (I10). */
static enum tutti_err co_simulation_conclude_unusual(struct tt_instance *in, double t, double end,
                                                     enum tt_fmi_status status, struct tt_fmi_step *step)
{
    if (in->binding->after_step) {
        struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
        status = in->binding->after_step(in, t, status, step);
        tt_fmi_call_leave(frame);
    }
    if (status != TUTTI_STATUS_DISCARD) {
        if (status > TUTTI_STATUS_WARNING)
            return tt_fmi_call_conclude(in, TUTTI_CALL_DO_STEP, status);
        TRY(co_simulation_check_step(in, t, end, step));
        in->time = step->reached;
        return tt_fmi_call_conclude(in, TUTTI_CALL_DO_STEP, status);
    }
    in->deferred = 0;
    if (in->binding->fmi == 3) {
        *step = (struct tt_fmi_step){.reached = t, .discarded = true, .can_retry = true};
        return TUTTI_OK;
    }
    step->discarded = true;
    if (!clamp_reached(in, t, end, &step->reached))
        step->reached = t; /* it gave up anyway */
    in->state = TUTTI_STATE_DISCARDED;
    in->time = step->reached;
    return TUTTI_OK;
}

enum tutti_err tt_co_simulation_conclude_step(struct tt_instance *in, double t, double end, enum tt_fmi_status status,
                                              struct tt_fmi_step *step)
{
    if (__builtin_expect(in->callback_error != TUTTI_OK, 0)) {
        in->state = in->state == TUTTI_STATE_FATAL ? in->state : TUTTI_STATE_ERROR;
        return in->callback_error;
    }
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return co_simulation_conclude_unusual(in, t, end, status, step);
    if (__builtin_expect(step->early || step->event || step->terminate, 0))
        TRY(co_simulation_check_step(in, t, end, step));
    else
        step->reached = end;
    if (__builtin_expect(in->deferred != 0, 0))
        tt_fmu_callbacks_log_deferred(in);
    in->state = TUTTI_STATE_STEP;
    in->time = step->reached;
    return TUTTI_OK;
}

/* I6: a step starts where the one before ended. */
static enum tutti_err fail_wrong_start(const struct tt_instance *in, double t)
{
    return tt_fail(TUTTI_ERR_STATE,
                   "%s: a step from t = %s, but the FMU is at %s; this is a fault in the program that "
                   "drives the FMU",
                   in->options.name, NUMBER(t), NUMBER(in->time));
}

static inline __attribute__((always_inline)) enum tutti_err co_simulation_begin_step(struct tt_instance *in, double t,
                                                                                     double h, bool no_going_back,
                                                                                     struct tt_fmi_step *step,
                                                                                     enum tt_fmi_status *status)
{
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_DO_STEP));
    if (__builtin_expect(t != in->time, 0) && !tt_time_same(t, in->time, in->setup.stop - in->setup.start))
        return fail_wrong_start(in, t);
    in->time = t;
    in->callback_error = TUTTI_OK;
    *step = (struct tt_fmi_step){.reached = t + h};
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    *status = in->binding->do_step(in, t, h, no_going_back, step);
    tt_fmi_call_leave(frame);
    return TUTTI_OK;
}

enum tutti_err tt_co_simulation_do_step(struct tt_instance *in, double t, double h, bool no_going_back,
                                        struct tt_fmi_step *step)
{
    enum tt_fmi_status status = TUTTI_STATUS_OK;
    TRY(co_simulation_begin_step(in, t, h, no_going_back, step, &status));
    return tt_co_simulation_conclude_step(in, t, t + h, status, step);
}

enum tutti_err tt_co_simulation_begin_step(struct tt_instance *in, double t, double h, bool no_going_back,
                                           struct tt_fmi_step *step, bool *pending)
{
    enum tt_fmi_status status = TUTTI_STATUS_OK;
    TRY(co_simulation_begin_step(in, t, h, no_going_back, step, &status));
    *pending = status == TUTTI_STATUS_PENDING;
    return *pending ? TUTTI_OK : tt_co_simulation_conclude_step(in, t, t + h, status, step);
}

enum tutti_err tt_co_simulation_end_step(struct tt_instance *in, double t, double h, struct tt_fmi_step *step)
{
    in->call = TUTTI_CALL_DO_STEP;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in); /* read by a watchdog */
    enum tutti_err err = tt_co_simulation_conclude_step(in, t, t + h, TUTTI_STATUS_PENDING, step);
    tt_fmi_call_leave(frame);
    return err;
}

void tt_co_simulation_intermediate(struct tt_instance *in, struct tt_intermediate_update *update)
{
    if (in->call != TUTTI_CALL_DO_STEP || in->callback_error != TUTTI_OK || !in->options.intermediate_update)
        return;
    enum tt_fmi_state state = in->state;
    double time = in->time;
    in->state = TUTTI_STATE_INTERMEDIATE;
    in->time = update->time;
    in->callback_error = in->options.intermediate_update(in->options.intermediate_context, in, update);
    if (in->state == TUTTI_STATE_INTERMEDIATE) /* not if a call failed in it */
        in->state = state;
    in->time = time;
    in->call = TUTTI_CALL_DO_STEP;
    update->return_early = update->return_early || in->callback_error != TUTTI_OK;
}

enum tutti_err tt_co_simulation_enter_event(struct tt_instance *in)
{
    if (!in->event_mode) /* I8 */
        return tt_fmi_call_fail_forbidden(in, TUTTI_CALL_ENTER_EVENT);
    CALL(in, TUTTI_CALL_ENTER_EVENT, enter_event, in);
    tt_instance_clocks_reset(in);
    in->has_next_event = false;
    return TUTTI_OK;
}

enum tutti_err tt_co_simulation_update_discrete(struct tt_instance *in, struct tt_discrete_update *discrete)
{
    *discrete = (struct tt_discrete_update){.has_next_event = in->has_next_event, .next_event = in->next_event};
    CALL(in, TUTTI_CALL_UPDATE_DISCRETE, update_discrete, in, discrete);
    if (discrete->has_next_event && isnan(discrete->next_event))
        return tt_fmi_call_fail(in, TUTTI_ERR_FMU, "announces the next event for a time that is not a number (NaN)");
    tt_instance_clocks_clear_ticks(in);
    in->has_next_event = discrete->has_next_event;
    in->next_event = discrete->next_event;
    return TUTTI_OK;
}

enum tutti_err tt_co_simulation_enter_step(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_ENTER_STEP, enter_step, in);
    return TUTTI_OK;
}
