/* SPDX-License-Identifier: MIT */
/* fmi_state.h - the FMI state machines: which call is allowed when.
 *
 * One set of states serves all versions and interfaces, Co-Simulation (CS), Model Exchange (ME) and Scheduled Execution
 * (SE); states that one of them does not have (event mode in CS before 3.0, step mode in ME) are not reachable by its
 * calls.
 *
 * Invariants. fmi_state.c has one table per interface and version of the calls allowed in each state; it is consulted
 * before every call into an FMU. Rules that such a table cannot express are enforced in the files named in parentheses:
 *  I1  Nothing is called before instantiation succeeded, and nothing after the instance was freed.
 *  I2  After Fatal nothing is called at all, not even free, for no instance of the FMU (fmi_call.c); but see tt_instance_ignore_fatal.
 *  I3  After Error only reads for debugging, state functions, reset and free are called. Exceptions: Error of derivatives and indicators of Model Exchange may mean Discard (instance.c); directional derivatives can be replaced by differences (instance.c).
 *  I4  Structural parameters are set in (re)configuration mode only, and nothing else is set there (unit/cs.c).
 *  I5  Initialisation mode is entered once, from Instantiated; FMI 1.0 has no reads before it is initialised.
 *  I6  A do-step starts in step mode only, and (step.c) where the one before ended, at first at the start time.
 *  I7  In step mode nothing is read after something was set until a do-step or event mode comes between (2.0, 3.0).
 *  I8  In CS event mode is used only if the instance was made with event mode, and step mode returns only through
 *      enter-step-mode.
 *  I9  Inside an intermediate update only variables named at instantiation are read, then set; discrete inputs never
 *      (unit/cs.c: it names continuous inputs, and only sets).
 *  I10 After a discarded step FMI 1.0 and 2.0 allow no further do-step until a saved state is restored; FMI 3.0 stands
 *      unchanged at the start of the step.
 *  I11 Input derivatives come after their inputs (sim/signals/inputs.c) and before the do-step; output derivatives only after
 *      a step.
 *  I12 After terminate only reads, state functions, reset and free are called.
 *  I13 ME has event mode always: initialisation ends in it, discrete states are updated in it, and it is left only
 *      through enter-continuous-time-mode. FMI 1.0 has no modes; it uses the same machine without calls.
 *  I14 Time and continuous states are set, and integrator steps completed, in continuous-time mode only. Sets and reads
 *      may come there in any order.
 *  I15 ME is reconfigured from event mode, and returns to it (3.0). The numbers of states and indicators are asked for
 *      when instantiated and in event mode, the only states in which they can be new.
 *  I16 Clocks (3.0) are activated and read in event mode; in Scheduled Execution (SE) they are not activated, and read in the callback of a
 *      partition. Only input clocks are activated, periodic ones once in an event mode; they are deactivated only if they allow it (instance_clocks.c).
 *  I17 Clocked variables are set and read while one of their clocks ticks, or in initialisation mode (instance_clocks.c); in SE they are read after a
 *      partition of one of their clocks.
 *  I18 Intervals are asked for in initialisation mode, of changing clocks that ticked and of countdown and tunable ones in event mode; in SE of
 *      changing and tunable ones between partitions, and of countdown ones in the callback of a partition (instance_clocks.c). Shifts: in initialisation
 *      mode, of periodic clocks.
 *  I19 In SE, where clock activation mode stands for step mode, a partition of an input clock is activated at times that increase (instance_clocks.c).
 *      Nothing is read after something was set until a partition comes between. */
#ifndef TT_FMU_FMI_STATE_H
#define TT_FMU_FMI_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "fmu/description/description.h"

enum tt_fmi_state {
    TUTTI_STATE_NONE, /* not instantiated, or freed */
    TUTTI_STATE_INSTANTIATED,
    TUTTI_STATE_CONFIGURATION,
    TUTTI_STATE_INITIALIZATION,
    TUTTI_STATE_EVENT,
    TUTTI_STATE_CONTINUOUS, /* ME: continuous-time mode */
    TUTTI_STATE_STEP,       /* step mode, values of the last step can be read; SE: clock activation mode */
    TUTTI_STATE_STEP_SET,   /* step mode, something was set since */
    TUTTI_STATE_RECONFIGURATION,
    TUTTI_STATE_INTERMEDIATE, /* inside a do-step's callback; SE: clock update mode, inside a partition's */
    TUTTI_STATE_DISCARDED,    /* FMI 1.0, 2.0: the last step was not completed */
    TUTTI_STATE_TERMINATED,
    TUTTI_STATE_ERROR,
    TUTTI_STATE_FATAL,
    TUTTI_STATE_COUNT
};

/* X(call, word in messages) */
#define TUTTI_CALLS(X)                                                                                                 \
    X(INSTANTIATE, "instantiate")                                                                                      \
    X(FREE, "free")                                                                                                    \
    X(SET_DEBUG_LOGGING, "set debug logging")                                                                          \
    X(ENTER_CONFIGURATION, "enter configuration mode")                                                                 \
    X(EXIT_CONFIGURATION, "exit configuration mode")                                                                   \
    X(SETUP_EXPERIMENT, "set up the experiment")                                                                       \
    X(ENTER_INITIALIZATION, "enter initialisation mode")                                                               \
    X(EXIT_INITIALIZATION, "exit initialisation mode")                                                                 \
    X(ENTER_EVENT, "enter event mode")                                                                                 \
    X(UPDATE_DISCRETE, "update discrete states")                                                                       \
    X(ENTER_STEP, "enter step mode")                                                                                   \
    X(ENTER_CONTINUOUS, "enter continuous-time mode")                                                                  \
    X(SET, "set values")                                                                                               \
    X(GET, "get values")                                                                                               \
    X(SET_INPUT_DERIVATIVES, "set input derivatives")                                                                  \
    X(GET_OUTPUT_DERIVATIVES, "get output derivatives")                                                                \
    X(GET_DIRECTIONAL, "get directional derivatives")                                                                  \
    X(GET_ADJOINT, "get adjoint derivatives")                                                                          \
    X(DO_STEP, "do a step")                                                                                            \
    X(SET_CLOCKS, "activate clocks")                                                                                   \
    X(GET_CLOCKS, "get clocks")                                                                                        \
    X(SET_INTERVAL, "set the interval of a clock")                                                                     \
    X(GET_INTERVAL, "get the interval of a clock")                                                                     \
    X(GET_SHIFT, "get the shift of a clock")                                                                           \
    X(ACTIVATE, "activate a model partition")                                                                          \
    X(COUNT_STATES, "count the continuous states")                                                                     \
    X(SET_TIME, "set the time")                                                                                        \
    X(SET_STATES, "set the continuous states")                                                                         \
    X(GET_STATES, "get the continuous states")                                                                         \
    X(GET_DERIVATIVES, "get derivatives of the states")                                                                \
    X(GET_INDICATORS, "get event indicators")                                                                          \
    X(GET_NOMINALS, "get nominal values of the states")                                                                \
    X(GET_STATE_REFERENCES, "get value references of the states")                                                      \
    X(COMPLETED_STEP, "complete an integrator step")                                                                   \
    X(GET_STATE, "save the state")                                                                                     \
    X(SET_STATE, "restore the state")                                                                                  \
    X(FREE_STATE, "free a saved state")                                                                                \
    X(SERIALIZE, "serialise a saved state")                                                                            \
    X(DESERIALIZE, "read a serialised state")                                                                          \
    X(TERMINATE, "terminate")                                                                                          \
    X(RESET, "reset")

enum tt_fmi_call {
#define X(name, text) TUTTI_CALL_##name,
    TUTTI_CALLS(X)
#undef X
};
enum { TUTTI_CALL_COUNT = TUTTI_CALL_RESET + 1 };

/* Returns the state machine of an interface and a version: bit s of table[call] is set if `call` is allowed in state s. */
const uint16_t *tt_fmi_state_table(enum tt_interface_kind kind, int fmi);

static inline bool tt_fmi_state_allows(const uint16_t *table, enum tt_fmi_call call, enum tt_fmi_state state)
{
    return table[call] >> state & 1;
}

/* The state after `call` succeeded (OK or Warning) in `state`. Restoring a saved state also restores its state, which
 * this function does not have: it returns `state`. `event_mode`: the instance uses it; in ME it always does. Inline
 * because `call` is a constant wherever it matters, and most calls change nothing. */
static inline enum tt_fmi_state tt_fmi_state_after(enum tt_interface_kind kind, enum tt_fmi_call call,
                                                   enum tt_fmi_state state, bool event_mode)
{
    switch (call) {
    case TUTTI_CALL_INSTANTIATE:
    case TUTTI_CALL_RESET: return TUTTI_STATE_INSTANTIATED;
    case TUTTI_CALL_FREE: return TUTTI_STATE_NONE;
    case TUTTI_CALL_ENTER_CONFIGURATION:
        return state == TUTTI_STATE_INSTANTIATED ? TUTTI_STATE_CONFIGURATION : TUTTI_STATE_RECONFIGURATION;
    case TUTTI_CALL_EXIT_CONFIGURATION:
        if (state == TUTTI_STATE_CONFIGURATION)
            return TUTTI_STATE_INSTANTIATED;
        return kind == TUTTI_ME ? TUTTI_STATE_EVENT : TUTTI_STATE_STEP;
    case TUTTI_CALL_ENTER_INITIALIZATION: return TUTTI_STATE_INITIALIZATION;
    case TUTTI_CALL_EXIT_INITIALIZATION: return kind == TUTTI_ME || event_mode ? TUTTI_STATE_EVENT : TUTTI_STATE_STEP;
    case TUTTI_CALL_ENTER_EVENT: return TUTTI_STATE_EVENT;
    case TUTTI_CALL_ENTER_CONTINUOUS: return TUTTI_STATE_CONTINUOUS;
    case TUTTI_CALL_ENTER_STEP:
    case TUTTI_CALL_ACTIVATE:
    case TUTTI_CALL_DO_STEP: return TUTTI_STATE_STEP;
    case TUTTI_CALL_SET:
    case TUTTI_CALL_SET_INPUT_DERIVATIVES: return state == TUTTI_STATE_STEP ? TUTTI_STATE_STEP_SET : state;
    case TUTTI_CALL_TERMINATE: return TUTTI_STATE_TERMINATED;
    default: return state;
    }
}

/* Returns "Co-Simulation", "Model Exchange", ... Static. */
const char *tt_fmi_state_interface_name(enum tt_interface_kind kind);
const char *tt_fmi_state_name(enum tt_interface_kind kind, enum tt_fmi_state state);
const char *tt_fmi_state_call_name(enum tt_fmi_call call);

#endif
