/* SPDX-License-Identifier: MIT */
/* fmi_call_modes.h - the floating-point modes that calls into FMUs must leave as they are (fmi_call.h), where calls follow each other so closely that
 * reading the modes twice around each of them would cost more than the calls.
 *
 * A watch spans a pass of many calls. In the first passes, and after an FMU has left other modes, it looks after every call; else a
 * computation tells after a group of calls of one instance whether modes that change results are as before. */
#ifndef TT_FMU_FMI_CALL_MODES_H
#define TT_FMU_FMI_CALL_MODES_H

#include "fmu/fmi_call.h"

/* Zeroed before the first pass. */
struct tt_fmi_call_modes_watch {
    struct tt_float_mode modes;
    unsigned probe;     /* base/float_mode.h */
    bool is_suspicious; /* an FMU has left other modes */
    bool looks_closely; /* ... or may do so: they are looked at after every call; else after those of a group */
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

/* A pass of one step, of which there are many: so many of them go by the computation alone, and modes that change no results show only after them. */
enum { TUTTI_UNREAD_PASSES = 100 };

/* Is this to be one of them? Then there is no frame, and tt_fmi_call_leave_unread follows. */
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

/* Modes that change no results (traps) show here, when it is not known any more who changed them; the next pass will tell. They are read once: a pass may
 * be one short step. */
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

/* After the last call of a group, before code of others computes anything. Which of its calls has changed modes will show next
 * time. */
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
