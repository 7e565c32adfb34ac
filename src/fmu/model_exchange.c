/* SPDX-License-Identifier: MIT */
/* Model Exchange: time, states and derivatives of an instance. Calls of a right-hand side are kept short. */
#include "base/number.h"
#include "fmu/fmi_call.h"
#include "fmu/instance.h"

static enum tutti_err model_exchange_conclude_unusual(struct tt_instance *in, enum tt_fmi_call call,
                                                      enum tt_fmi_status status, bool *discarded)
{
    /* After Error, FMI allows an FMU only to be read and freed (I3); Discard marks a point at which it cannot be
     * evaluated. Many FMUs return Error for such a point, too (the square root of a state that the solver tried below
     * 0), and work at the next point. Error from a call that only reads is therefore handled as Discard; if the FMU
     * has failed, its next call returns Error again. */
    bool reads = call == TUTTI_CALL_GET_DERIVATIVES || call == TUTTI_CALL_GET_INDICATORS;
    bool refused = status == TUTTI_STATUS_ERROR && reads;
    if (status != TUTTI_STATUS_DISCARD && !refused)
        return tt_fmi_call_handle_status(in, call, status);
    if (refused && !in->refusal)
        tt_log(in->options.log, TUTTI_LOG_WARNING, in->options.name,
               "%s returned Error at t = %s, a point that was tried; others are tried instead",
               in->binding->call_names[TUTTI_ME][call], TIME(in->time));
    if (refused)
        tt_fmi_call_set_refused(in, "returned Error");
    in->deferred = 0; /* an answer, not an error, whatever the FMU calls it */
    *discarded = true;
    return TUTTI_OK;
}

/* The end of a call that may be refused for the point where the FMU was put. The instance's state does not change. */
static inline enum tutti_err model_exchange_conclude(struct tt_instance *in, enum tt_fmi_call call,
                                                     enum tt_fmi_status status, bool *discarded)
{
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return model_exchange_conclude_unusual(in, call, status, discarded);
    if (__builtin_expect(in->deferred != 0 || in->refused, 0))
        tt_fmi_call_clear_refused(in);
    return TUTTI_OK;
}

/* As CALL of fmi_call.h, for vectors: an FMU whose vector is empty is not called. */
#define CALL_VECTOR(in, call, slot, values, count)                                                                     \
    do {                                                                                                               \
        if ((count) > 0)                                                                                               \
            CALL(in, call, slot, in, values, count);                                                                   \
        else                                                                                                           \
            TRY(tt_fmi_call_begin(in, call));                                                                          \
    } while (0)

/* As CALL_VECTOR, at a point that may be discarded. */
#define CALL_POINT(in, call, slot, values, count, discarded)                                                           \
    do {                                                                                                               \
        TRY(tt_fmi_call_begin(in, call));                                                                              \
        if (__builtin_expect((count) == 0, 0))                                                                         \
            return TUTTI_OK;                                                                                           \
        struct tt_fmi_call_frame frame_ = tt_fmi_call_enter(in);                                                       \
        enum tt_fmi_status status_ = (in)->binding->slot(in, values, count);                                           \
        tt_fmi_call_leave(frame_);                                                                                     \
        return model_exchange_conclude(in, call, status_, discarded);                                                  \
    } while (0)

enum tutti_err tt_model_exchange_count_states(struct tt_instance *in, size_t *states, size_t *indicators)
{
    *states = in->library->desc->state_count;
    *indicators = in->library->desc->event_indicator_count;
    if (in->binding->count_states)
        CALL(in, TUTTI_CALL_COUNT_STATES, count_states, in, states, indicators);
    else
        TRY(tt_fmi_call_begin(in, TUTTI_CALL_COUNT_STATES));
    return TUTTI_OK;
}

enum tutti_err tt_model_exchange_set_time(struct tt_instance *in, double t, bool *discarded)
{
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_SET_TIME));
    double before = in->time;
    in->time = t;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->set_time(in, t);
    tt_fmi_call_leave(frame);
    if (__builtin_expect(status == TUTTI_STATUS_DISCARD, 0))
        in->time = before;
    return model_exchange_conclude(in, TUTTI_CALL_SET_TIME, status, discarded);
}

enum tutti_err tt_model_exchange_set_states(struct tt_instance *in, const double *states, size_t count, bool *discarded)
{
    CALL_POINT(in, TUTTI_CALL_SET_STATES, set_states, states, count, discarded);
}

enum tutti_err tt_model_exchange_get_derivatives(struct tt_instance *in, double *derivatives, size_t count,
                                                 bool *discarded)
{
    CALL_POINT(in, TUTTI_CALL_GET_DERIVATIVES, get_derivatives, derivatives, count, discarded);
}

enum tutti_err tt_model_exchange_get_indicators(struct tt_instance *in, double *indicators, size_t count,
                                                bool *discarded)
{
    CALL_POINT(in, TUTTI_CALL_GET_INDICATORS, get_indicators, indicators, count, discarded);
}

enum tutti_err tt_model_exchange_get_states(struct tt_instance *in, double *states, size_t count)
{
    CALL_VECTOR(in, TUTTI_CALL_GET_STATES, get_states, states, count);
    return TUTTI_OK;
}

enum tutti_err tt_model_exchange_get_nominals(struct tt_instance *in, double *nominals, size_t count)
{
    CALL_VECTOR(in, TUTTI_CALL_GET_NOMINALS, get_nominals, nominals, count);
    return TUTTI_OK;
}

enum tutti_err tt_model_exchange_get_references(struct tt_instance *in, uint32_t *references, size_t count)
{
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_GET_STATE_REFERENCES));
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->get_state_references(in, references, count);
    tt_fmi_call_leave(frame);
    if (status <= TUTTI_STATUS_WARNING || status == TUTTI_STATUS_FATAL || status == TUTTI_STATUS_MEMORY)
        return tt_fmi_call_conclude(in, TUTTI_CALL_GET_STATE_REFERENCES, status);
    in->deferred = 0; /* it does no harm */
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): the FMU does not tell which variables its states are",
                   in->options.name, in->library->file);
}

enum tutti_err tt_model_exchange_completed_step(struct tt_instance *in, bool no_going_back, bool *event,
                                                bool *terminate)
{
    *event = *terminate = false;
    CALL(in, TUTTI_CALL_COMPLETED_STEP, completed_step, in, no_going_back, event, terminate);
    return TUTTI_OK;
}

enum tutti_err tt_model_exchange_enter_continuous(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_ENTER_CONTINUOUS, enter_continuous, in);
    return TUTTI_OK;
}
