/* SPDX-License-Identifier: MIT */
#include "fmi/state.h"

#define IN(s) (uint16_t)(1u << TUTTI_STATE_##s)

/* States in which an instance exists and lives (I1, I2). */
#define ALIVE                                                                                                          \
    (IN(INSTANTIATED) | IN(CONFIGURATION) | IN(INITIALIZATION) | IN(EVENT) | IN(STEP) | IN(STEP_SET) |                 \
     IN(RECONFIGURATION) | IN(DISCARDED) | IN(TERMINATED) | IN(ERROR))
/* ... and its state can be saved and restored. */
#define SAVABLE (ALIVE & ~(IN(CONFIGURATION) | IN(RECONFIGURATION)))
/* Reads: I3, I7, I12. */
#define READABLE (IN(INITIALIZATION) | IN(EVENT) | IN(STEP) | IN(DISCARDED) | IN(TERMINATED) | IN(ERROR))

/* FMI 1.0 and 2.0 Co-Simulation by their calling-sequence tables; what a version lacks is 0. FMI 1.0 is initialised by
 * one call, which stands for exit-initialisation here: in between, nothing can be read (I5). */
const uint16_t tutti_state_allowed[3][TUTTI_CALL_COUNT] = {
    {
        [TUTTI_CALL_INSTANTIATE] = IN(NONE),
        [TUTTI_CALL_FREE] = ALIVE,
        [TUTTI_CALL_SET_DEBUG_LOGGING] = ALIVE,
        [TUTTI_CALL_ENTER_INITIALIZATION] = IN(INSTANTIATED),
        [TUTTI_CALL_EXIT_INITIALIZATION] = IN(INITIALIZATION),
        [TUTTI_CALL_SET] = IN(INSTANTIATED) | IN(INITIALIZATION) | IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_GET] = READABLE & ~IN(INITIALIZATION),
        [TUTTI_CALL_SET_INPUT_DERIVATIVES] = IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_GET_OUTPUT_DERIVATIVES] = IN(STEP) | IN(DISCARDED) | IN(TERMINATED),
        [TUTTI_CALL_DO_STEP] = IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_TERMINATE] = IN(STEP) | IN(STEP_SET) | IN(DISCARDED),
        [TUTTI_CALL_RESET] = IN(STEP) | IN(STEP_SET) | IN(DISCARDED) | IN(TERMINATED) | IN(ERROR),
    },
    {
        [TUTTI_CALL_INSTANTIATE] = IN(NONE),
        [TUTTI_CALL_FREE] = ALIVE,
        [TUTTI_CALL_SET_DEBUG_LOGGING] = ALIVE,
        [TUTTI_CALL_SETUP_EXPERIMENT] = IN(INSTANTIATED),
        [TUTTI_CALL_ENTER_INITIALIZATION] = IN(INSTANTIATED),
        [TUTTI_CALL_EXIT_INITIALIZATION] = IN(INITIALIZATION),
        [TUTTI_CALL_SET] = IN(INSTANTIATED) | IN(INITIALIZATION) | IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_GET] = READABLE,
        [TUTTI_CALL_SET_INPUT_DERIVATIVES] = IN(INSTANTIATED) | IN(INITIALIZATION) | IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_GET_OUTPUT_DERIVATIVES] = IN(STEP) | IN(DISCARDED) | IN(TERMINATED) | IN(ERROR),
        [TUTTI_CALL_GET_DIRECTIONAL] = IN(INITIALIZATION) | IN(STEP) | IN(STEP_SET) | IN(DISCARDED) | IN(TERMINATED) |
                                       IN(ERROR),
        [TUTTI_CALL_DO_STEP] = IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_GET_STATE] = SAVABLE,
        [TUTTI_CALL_SET_STATE] = SAVABLE,
        [TUTTI_CALL_FREE_STATE] = SAVABLE,
        [TUTTI_CALL_SERIALIZE] = SAVABLE,
        [TUTTI_CALL_TERMINATE] = IN(STEP) | IN(STEP_SET) | IN(DISCARDED),
        [TUTTI_CALL_RESET] = ALIVE,
    },
    {
        [TUTTI_CALL_INSTANTIATE] = IN(NONE),
        [TUTTI_CALL_FREE] = ALIVE,
        [TUTTI_CALL_SET_DEBUG_LOGGING] = ALIVE,
        [TUTTI_CALL_ENTER_CONFIGURATION] = IN(INSTANTIATED) | IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_EXIT_CONFIGURATION] = IN(CONFIGURATION) | IN(RECONFIGURATION),
        [TUTTI_CALL_ENTER_INITIALIZATION] = IN(INSTANTIATED),
        [TUTTI_CALL_EXIT_INITIALIZATION] = IN(INITIALIZATION),
        [TUTTI_CALL_ENTER_EVENT] = IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_UPDATE_DISCRETE] = IN(EVENT),
        [TUTTI_CALL_ENTER_STEP] = IN(EVENT),
        [TUTTI_CALL_SET] = IN(INSTANTIATED) | IN(CONFIGURATION) | IN(INITIALIZATION) | IN(EVENT) | IN(STEP) |
                           IN(STEP_SET) | IN(RECONFIGURATION) | IN(INTERMEDIATE),
        [TUTTI_CALL_GET] = READABLE | IN(INSTANTIATED) | IN(INTERMEDIATE),
        [TUTTI_CALL_GET_OUTPUT_DERIVATIVES] = IN(STEP) | IN(INTERMEDIATE) | IN(TERMINATED) | IN(ERROR),
        [TUTTI_CALL_GET_DIRECTIONAL] = IN(INITIALIZATION) | IN(EVENT) | IN(STEP) | IN(STEP_SET) | IN(TERMINATED) |
                                       IN(ERROR),
        [TUTTI_CALL_DO_STEP] = IN(STEP) | IN(STEP_SET),
        [TUTTI_CALL_GET_STATE] = SAVABLE,
        [TUTTI_CALL_SET_STATE] = SAVABLE,
        [TUTTI_CALL_FREE_STATE] = SAVABLE,
        [TUTTI_CALL_SERIALIZE] = SAVABLE,
        [TUTTI_CALL_TERMINATE] = IN(STEP) | IN(STEP_SET) | IN(EVENT),
        [TUTTI_CALL_RESET] = ALIVE,
    },
};

enum tutti_state tutti_state_after(enum tutti_call call, enum tutti_state state, bool event_mode)
{
    switch (call) {
    case TUTTI_CALL_INSTANTIATE:
    case TUTTI_CALL_RESET: return TUTTI_STATE_INSTANTIATED;
    case TUTTI_CALL_FREE: return TUTTI_STATE_NONE;
    case TUTTI_CALL_ENTER_CONFIGURATION:
        return state == TUTTI_STATE_INSTANTIATED ? TUTTI_STATE_CONFIGURATION : TUTTI_STATE_RECONFIGURATION;
    case TUTTI_CALL_EXIT_CONFIGURATION:
        return state == TUTTI_STATE_CONFIGURATION ? TUTTI_STATE_INSTANTIATED : TUTTI_STATE_STEP;
    case TUTTI_CALL_ENTER_INITIALIZATION: return TUTTI_STATE_INITIALIZATION;
    case TUTTI_CALL_EXIT_INITIALIZATION: return event_mode ? TUTTI_STATE_EVENT : TUTTI_STATE_STEP;
    case TUTTI_CALL_ENTER_EVENT: return TUTTI_STATE_EVENT;
    case TUTTI_CALL_ENTER_STEP:
    case TUTTI_CALL_DO_STEP: return TUTTI_STATE_STEP;
    case TUTTI_CALL_SET:
    case TUTTI_CALL_SET_INPUT_DERIVATIVES: return state == TUTTI_STATE_STEP ? TUTTI_STATE_STEP_SET : state;
    case TUTTI_CALL_TERMINATE: return TUTTI_STATE_TERMINATED;
    default: return state;
    }
}

const char *tutti_state_name(enum tutti_state state)
{
    static const char *const names[TUTTI_STATE_COUNT] = {
        [TUTTI_STATE_NONE] = "not instantiated",
        [TUTTI_STATE_INSTANTIATED] = "instantiated",
        [TUTTI_STATE_CONFIGURATION] = "configuration mode",
        [TUTTI_STATE_INITIALIZATION] = "initialisation mode",
        [TUTTI_STATE_EVENT] = "event mode",
        [TUTTI_STATE_STEP] = "step mode",
        [TUTTI_STATE_STEP_SET] = "step mode with new inputs",
        [TUTTI_STATE_RECONFIGURATION] = "reconfiguration mode",
        [TUTTI_STATE_INTERMEDIATE] = "intermediate update mode",
        [TUTTI_STATE_DISCARDED] = "step discarded",
        [TUTTI_STATE_TERMINATED] = "terminated",
        [TUTTI_STATE_ERROR] = "error",
        [TUTTI_STATE_FATAL] = "fatal error",
    };
    return names[state];
}

const char *tutti_call_word(enum tutti_call call)
{
    static const char *const words[] = {
#define X(name, text) text,
        TUTTI_CALLS(X)
#undef X
    };
    return words[call];
}
