/* SPDX-License-Identifier: MIT */
/* call.h - what surrounds every call into an FMU, for the files that make them (instance.c, step.c, exchange.c,
 * saved.c): may it be made, whose is it, how did it end. */
#ifndef TUTTI_FMI_CALL_H
#define TUTTI_FMI_CALL_H

#include "base/floating.h"
#include "fmi/component.h"

/* Which instance this thread is calling; initial-exec because it is written at every FMI call. */
extern _Thread_local struct tutti_instance *tutti_call_current __attribute__((tls_model("initial-exec")));

/* This thread is reading a message of the FMU, whose format and arguments may lead anywhere. */
extern _Thread_local volatile bool tutti_call_takes_message __attribute__((tls_model("initial-exec")));

/* The messages of call.c: a call that the state machine forbids; one that failed (what: "returned Error"); a capability
 * that the FMU does not have (OK if it has). */
enum tutti_err tutti_call_forbidden(const struct tutti_instance *in, enum tutti_call call);
enum tutti_err tutti_call_fail(struct tutti_instance *in, enum tutti_err err, const char *what);
TUTTI_CHECKED enum tutti_err tutti_call_need(const struct tutti_instance *in, uint32_t can, const char *what);
/* A question that was answered by Error, or Discard, and that there is another way for: another point (exchange.c),
 * differences. Keeps what the FMU said, in case that this fails, too. The state is not that of an error. */
void tutti_call_refused(struct tutti_instance *in, const char *what);
/* A call that succeeded although the one before was refused, or the FMU told an error. */
void tutti_call_answered(struct tutti_instance *in);
/* Every status that is not OK. */
enum tutti_err tutti_call_unusual(struct tutti_instance *in, enum tutti_call call, enum tutti_status status);
/* Every end of a do-step from t to `end`; `step` as it was filled in (binding.h). */
enum tutti_err tutti_call_conclude_step(struct tutti_instance *in, double t, double end, enum tutti_status status,
                                        struct tutti_step *step);
/* I2: after Fatal no function of the FMU is called any more, for any instance, and the library stays loaded. */
void tutti_call_bury(struct tutti_instance *in);

/* Is the last call one that is not made where the instance is taken back by forking? Async-signal-safe. */
bool tutti_call_is_about_states(const struct tutti_instance *in);

/* The name of the FMI function that was called last, without the type's word; NULL: it has none. */
const char *tutti_call_function(const struct tutti_instance *in);

extern _Thread_local bool tutti_call_goes_on; /* tutti_instance_go_on */

static inline bool tutti_call_may(const struct tutti_instance *in, enum tutti_call call)
{
    return (!in->library->fatal || tutti_call_goes_on) && tutti_state_allows(in->allowed, call, in->state);
}

/* Before every call into the FMU: may it be made (I1 to I15), and which one is it. */
static inline enum tutti_err tutti_call_begin(struct tutti_instance *in, enum tutti_call call)
{
    if (__builtin_expect(!tutti_call_may(in, call), 0))
        return tutti_call_forbidden(in, call);
    in->call = call;
    in->calls++;
    return TUTTI_OK;
}

/* What a call into an FMU finds in its thread, and what is there again after it. */
struct tutti_frame {
    struct tutti_instance *outer; /* the instance that the thread was in; NULL: none */
    struct tutti_floating modes;  /* all code of FMUs runs in these: the same bits, whichever FMUs share a rank */
};

/* The call has left other modes: brings them back, and says so once. `in`: the instance that was called. */
void tutti_call_restore_modes(struct tutti_instance *in, const struct tutti_floating *modes);

static inline void tutti_call_check_modes(struct tutti_instance *in, const struct tutti_floating *modes)
{
    struct tutti_floating now = tutti_floating_now();
    if (__builtin_expect(!tutti_floating_same(&now, modes), 0))
        tutti_call_restore_modes(in, modes);
}

/* Around every call into the FMU: callbacks and crash reports learn whose call it is. */
static inline struct tutti_frame tutti_call_enter(struct tutti_instance *in)
{
    struct tutti_frame frame = {tutti_call_current, tutti_floating_now()};
    tutti_call_current = in;
    return frame;
}

static inline void tutti_call_leave(struct tutti_frame frame)
{
    tutti_call_check_modes(tutti_call_current, &frame.modes);
    tutti_call_current = frame.outer;
}

static inline enum tutti_err tutti_call_conclude(struct tutti_instance *in, enum tutti_call call,
                                                 enum tutti_status status)
{
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return tutti_call_unusual(in, call, status);
    if (__builtin_expect(in->deferred != 0 || in->refused, 0))
        tutti_call_answered(in);
    in->state = tutti_state_after(in->library->kind, call, in->state, in->event_mode);
    return TUTTI_OK;
}

/* Calls a slot of the binding, by the rules of the state machine. */
#define CALL(in, call, slot, ...)                                                                                      \
    do {                                                                                                               \
        TRY(tutti_call_begin(in, call));                                                                               \
        struct tutti_frame frame_ = tutti_call_enter(in);                                                              \
        enum tutti_status status_ = (in)->binding->slot(__VA_ARGS__);                                                  \
        tutti_call_leave(frame_);                                                                                      \
        TRY(tutti_call_conclude(in, call, status_));                                                                   \
    } while (0)

#endif
