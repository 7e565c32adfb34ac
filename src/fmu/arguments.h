/* SPDX-License-Identifier: MIT */
/* arguments.h - what functions of an instance are given, and what they answer (instance.h, binding.h). */
#ifndef TT_FMU_ARGUMENTS_H
#define TT_FMU_ARGUMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/log.h"
#include "fmu/fmi_state.h"

struct tt_instance;

/* What an FMI 3.0 FMU tells and asks inside a do-step. */
struct tt_intermediate_update {
    double time;
    bool set_requested, get_allowed, step_finished, can_return_early;
    bool return_early; /* answer: end the step ... */
    double return_at;  /* ... at this time */
};

/* The next interval of a clock, or its shift, as the FMU tells it, and as it is told. */
struct tt_clock_timing {
    bool fraction; /* the clock has fractions, and they are used */
    double decimal;
    uint64_t counter, resolution;
    enum { TUTTI_TIMING_NOT_YET_KNOWN, TUTTI_TIMING_UNCHANGED, TUTTI_TIMING_CHANGED } qualifier;
};

struct tt_instance_options {
    const char *name;            /* copied */
    const struct tutti_log *log; /* borrowed for the instance's life; NULL: silent */
    bool logging_on;             /* ask the FMU for its debug messages */
    bool event_mode;             /* use event mode if the FMU has it (3.0 CS); Model Exchange always does */
    bool early_return;           /* allow it to return early (3.0) */
    bool forked;                 /* in a process of its own, whose forks are its saved states (fmu/process/forked.h) */
    bool
        rejects; /* FMI 1.0: goes back by rejecting its last step, if it can (canRejectSteps); saved states are marks */
    /* Variables of an intermediate update, and who is called (3.0); both borrowed for the instance's life. */
    const uint32_t *intermediate;
    size_t intermediate_count;
    enum tutti_err (*intermediate_update)(void *context, struct tt_instance *instance,
                                          struct tt_intermediate_update *update);
    void *intermediate_context;
    /* Scheduled Execution: the FMU is in clock update mode, inside of a partition. What fails there fails the partition. */
    enum tutti_err (*clock_update)(void *context, struct tt_instance *instance);
    void *clock_context;
};

struct tt_experiment_setup {
    double start, stop, tolerance;
    bool has_stop, has_tolerance;
};

/* How a do-step ended; a short step is a result, not an error. */
struct tt_fmi_step {
    double reached; /* the FMU's time now: t if it was discarded (3.0), the last successful time (1.0, 2.0) */
    bool discarded; /* the FMU refused or gave up the step ... */
    bool can_retry; /* ... and stands unchanged at t, ready for a shorter one */
    bool early;     /* it came back before the end on its own account (3.0) */
    bool event;     /* event mode must be entered at `reached` (3.0) */
    bool terminate; /* the FMU asks for the end of the simulation */
};

/* What came out of one update of the discrete states. */
struct tt_discrete_update {
    bool again, terminate, nominals_changed, states_changed, has_next_event;
    double next_event;
};

/* Those that processes of different kinds give each other (fmu/process/shared_area.h). */
_Static_assert(offsetof(struct tt_intermediate_update, return_at) == 16 &&
                   offsetof(struct tt_discrete_update, next_event) == 8 &&
                   offsetof(struct tt_experiment_setup, has_stop) == 24 && offsetof(struct tt_fmi_step, discarded) == 8,
               "the same for 32 and 64 bits");

/* A saved FMU state, with where the instance stood. Zeroed is none. */
struct tt_saved_state {
    void *handle;
    unsigned long steps; /* that were made by then, of an instance that rejects steps */
    enum tt_fmi_state state;
    double time;
};

#endif
