/* SPDX-License-Identifier: MIT */
/* fmi_call.h - the frame of every call into an FMU, for the files that make calls (instance.c, step.c, exchange.c,
 * saved_state.c): checks that it is allowed, records it, and handles its outcome. */
#ifndef TT_FMU_FMI_CALL_H
#define TT_FMU_FMI_CALL_H

#include "base/float_mode.h"
#include "fmu/fmi_call_instance.h"

/* Which instance this thread is calling; initial-exec because it is written at every FMI call. */
extern _Thread_local struct tt_instance *tt_fmi_call_current __attribute__((tls_model("initial-exec")));

/* This thread is reading a message of the FMU, whose format and arguments may be invalid pointers. */
extern _Thread_local volatile bool tt_fmi_call_takes_message __attribute__((tls_model("initial-exec")));

/* The messages of fmi_call.c: a call that the state machine forbids; one that failed (what: "returned Error"); a capability
 * that the FMU does not have. */
enum tutti_err tt_fmi_call_fail_forbidden(const struct tt_instance *in, enum tt_fmi_call call);
enum tutti_err tt_fmi_call_fail(struct tt_instance *in, enum tutti_err err, const char *what);
enum tutti_err tt_fmi_call_fail_unsupported(const struct tt_instance *in, const char *what);
/* A call was answered by Error or Discard, but there is an alternative: a different point (exchange.c), or differences.
 * Keeps the FMU's messages for the case that the alternative fails, too. The instance does not enter the error state. */
void tt_fmi_call_set_refused(struct tt_instance *in, const char *what);
/* A call succeeded after the previous call was refused or the FMU had reported an error. */
void tt_fmi_call_clear_refused(struct tt_instance *in);
/* Every status that is not OK. */
enum tutti_err tt_fmi_call_handle_status(struct tt_instance *in, enum tt_fmi_call call, enum tt_fmi_status status);
/* Every end of a do-step from t to `end`; `step` as it was filled in (binding.h). */
enum tutti_err tt_instance_conclude_step(struct tt_instance *in, double t, double end, enum tt_fmi_status status,
                                         struct tt_fmi_step *step);
/* I2: after Fatal no function of the FMU is called any more, for any instance, and the library stays loaded. */
void tt_fmi_call_mark_fatal(struct tt_instance *in);

/* Returns true if the last call is not made for an instance that is rolled back by forking. Async-signal-safe. */
bool tt_fmi_call_is_about_states(const struct tt_instance *in);

/* The name of the FMI function that was called last, without the type's word; NULL: it has none. */
const char *tt_fmi_call_function_name(const struct tt_instance *in);

extern _Thread_local bool tt_fmi_call_ignores_fatal; /* tt_instance_ignore_fatal */

static inline bool tt_fmi_call_may(const struct tt_instance *in, enum tt_fmi_call call)
{
    return (!in->library->fatal || tt_fmi_call_ignores_fatal) && tt_fmi_state_allows(in->allowed, call, in->state);
}

/* Before a call that takes a capability (TUTTI_CAN_*). */
static inline enum tutti_err tt_fmi_call_require(const struct tt_instance *in, uint32_t can, const char *what)
{
    return __builtin_expect((in->can & can) != 0, 1) ? TUTTI_OK : tt_fmi_call_fail_unsupported(in, what);
}

/* Before every call into the FMU: may it be made (I1 to I15), and which one is it. */
static inline enum tutti_err tt_fmi_call_begin(struct tt_instance *in, enum tt_fmi_call call)
{
    if (__builtin_expect(!tt_fmi_call_may(in, call), 0))
        return tt_fmi_call_fail_forbidden(in, call);
    in->call = call;
    in->calls++;
    return TUTTI_OK;
}

/* The state of the thread before a call into an FMU, which is restored after the call. */
struct tt_fmi_call_frame {
    struct tt_instance *outer; /* the instance that the thread was in; NULL: none */
    /* the modes for all code of FMUs, so that results do not depend on the placement of FMUs */
    struct tt_float_mode modes;
};

/* The call has changed the floating-point modes: restores them and reports it once. `in`: the instance that was called. */
void tt_fmi_call_restore_modes(struct tt_instance *in, const struct tt_float_mode *modes);

static inline void tt_fmi_call_check_modes(struct tt_instance *in, const struct tt_float_mode *modes)
{
    struct tt_float_mode now = tt_float_mode_get();
    if (__builtin_expect(!tt_float_mode_is_same(&now, modes), 0))
        tt_fmi_call_restore_modes(in, modes);
}

/* Around every call into the FMU: tells callbacks and crash reports which instance is called. */
static inline struct tt_fmi_call_frame tt_fmi_call_enter(struct tt_instance *in)
{
    struct tt_fmi_call_frame frame = {tt_fmi_call_current, tt_float_mode_get()};
    tt_fmi_call_current = in;
    return frame;
}

static inline void tt_fmi_call_leave(struct tt_fmi_call_frame frame)
{
    tt_fmi_call_check_modes(tt_fmi_call_current, &frame.modes);
    tt_fmi_call_current = frame.outer;
}

static inline enum tutti_err tt_fmi_call_conclude(struct tt_instance *in, enum tt_fmi_call call,
                                                  enum tt_fmi_status status)
{
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return tt_fmi_call_handle_status(in, call, status);
    if (__builtin_expect(in->deferred != 0 || in->refused, 0))
        tt_fmi_call_clear_refused(in);
    in->state = tt_fmi_state_after(in->library->kind, call, in->state, in->event_mode);
    return TUTTI_OK;
}

/* Calls a slot of the binding, by the rules of the state machine. */
#define CALL(in, call, slot, ...)                                                                                      \
    do {                                                                                                               \
        TRY(tt_fmi_call_begin(in, call));                                                                              \
        struct tt_fmi_call_frame frame_ = tt_fmi_call_enter(in);                                                       \
        enum tt_fmi_status status_ = (in)->binding->slot(__VA_ARGS__);                                                 \
        tt_fmi_call_leave(frame_);                                                                                     \
        TRY(tt_fmi_call_conclude(in, call, status_));                                                                  \
    } while (0)

/* The floating-point modes that calls into FMUs must leave as they are (fmi_call.h), where calls are so short that
 * reading the modes before and after each would cost more than the calls.
 *
 * A watch spans a pass of many calls. In the first passes, and after an FMU has changed the modes, it reads the modes
 * after every call. Otherwise a computation after the calls of one instance detects changes of the modes that affect
 * results. */

/* Zeroed before the first pass. */
struct tt_fmi_call_modes_watch {
    struct tt_float_mode modes;
    unsigned probe;     /* base/float_mode.h */
    bool is_suspicious; /* an FMU has left other modes */
    bool looks_closely; /* the modes are read after every call; otherwise after the calls of one instance */
    uint8_t passes;     /* the first ones */
    uint8_t unread;     /* passes since modes were read */
};

/* So many passes begin with a close look: an FMU that changes modes mostly does so from the first call on. */
enum { TUTTI_FIRST_PASSES = 8 };

static inline struct tt_fmi_call_frame tt_fmi_call_enter_pass(struct tt_fmi_call_modes_watch *watch)
{
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(NULL);
    watch->modes = frame.modes;
    watch->unread = 0;
    watch->probe = tt_float_mode_probe();
    watch->looks_closely = watch->is_suspicious || watch->passes < TUTTI_FIRST_PASSES;
    if (watch->passes < TUTTI_FIRST_PASSES)
        watch->passes++;
    return frame;
}

/* In passes of one step, which are frequent, this number of passes uses the computation alone; changes of modes that do
 * not affect results are detected only afterwards. */
enum { TUTTI_UNREAD_PASSES = 100 };

/* Returns true if this pass uses the computation alone. Then it has no frame, and tt_fmi_call_leave_unread follows. */
static inline bool tt_fmi_call_enter_unread(struct tt_fmi_call_modes_watch *watch)
{
    if (watch->is_suspicious || watch->passes < TUTTI_FIRST_PASSES || watch->unread >= TUTTI_UNREAD_PASSES ||
        tt_float_mode_probe() != watch->probe)
        return false;
    watch->unread++;
    watch->looks_closely = false;
    return true;
}

static inline void tt_fmi_call_leave_unread(struct tt_instance *outer)
{
    tt_fmi_call_current = outer;
}

/* Changes of modes that do not affect results (traps) are detected here, when the responsible call is unknown; the next
 * pass identifies it. The modes are read once, since a pass may be one short step. */
static inline void tt_fmi_call_leave_pass(struct tt_fmi_call_modes_watch *watch, struct tt_fmi_call_frame frame)
{
    struct tt_float_mode now = tt_float_mode_get();
    if (__builtin_expect(!tt_float_mode_is_same(&now, &frame.modes), 0)) {
        watch->is_suspicious = true;
        tt_fmi_call_restore_modes(NULL, &frame.modes);
    }
    tt_fmi_call_current = frame.outer;
}

/* The close look. Not inlined: it would make a frame of every caller. */
static __attribute__((noinline, unused)) void tt_fmi_call_inspect_modes(struct tt_instance *in,
                                                                        const struct tt_fmi_call_modes_watch *watch)
{
    tt_fmi_call_check_modes(in, &watch->modes);
}

/* After every call, as tt_fmi_call_leave, while a close look is taken. */
static inline __attribute__((always_inline)) void tt_fmi_call_check_each(struct tt_instance *in,
                                                                         const struct tt_fmi_call_modes_watch *watch)
{
    if (__builtin_expect(watch->looks_closely, 0))
        tt_fmi_call_inspect_modes(in, watch);
}

/* After the last call of a group, before other code computes. A change of modes is attributed to a call the next time. */
static inline __attribute__((always_inline)) void tt_fmi_call_check_group(struct tt_instance *in,
                                                                          struct tt_fmi_call_modes_watch *watch)
{
    if (__builtin_expect(watch->looks_closely, 0)) {
        tt_fmi_call_inspect_modes(in, watch);
    } else if (__builtin_expect(tt_float_mode_probe() != watch->probe, 0)) {
        tt_float_mode_set(&watch->modes);
        watch->is_suspicious = watch->looks_closely = true;
    }
}

#endif
