/* SPDX-License-Identifier: MIT */
/* fmi3.h - the common part of fmi3.c, fmi3_values.c and fmi3_clocks.c. */
#ifndef KIT_FMI3_H
#define KIT_FMI3_H

#include "layer.h"

#include "api3.h"

#define DECLARE(name, result, parameters, group) KIT_EXPORT result name parameters;
FMI3_FUNCTIONS(DECLARE)

#define ENTER(call, modes) KIT_ENTER(fmi3Status, call, modes)
#define LEAVE(status) KIT_LEAVE(fmi3Status, status)

enum {
    INSTANTIATED = KIT_MODE(KIT_INSTANTIATED),
    INITIALISATION = KIT_MODE(KIT_INITIALISATION),
    EVENT = KIT_MODE(KIT_IN_EVENT),
    CONTINUOUS = KIT_MODE(KIT_CONTINUOUS_TIME),
    STEP = KIT_MODE(KIT_STEP),
    INTERMEDIATE = KIT_MODE(KIT_INTERMEDIATE_UPDATE),
    ACTIVATION = KIT_MODE(KIT_CLOCK_ACTIVATION),
    CLOCK_UPDATE = KIT_MODE(KIT_CLOCK_UPDATE),
    ENDED = KIT_MODE(KIT_TERMINATED) | KIT_MODE(KIT_IN_ERROR),
    /* includes modes with computed values */
    COMPUTED = INITIALISATION | EVENT | CONTINUOUS | STEP | ACTIVATION | ENDED,
    GET = COMPUTED | INSTANTIATED | INTERMEDIATE,
    SET = INSTANTIATED | INITIALISATION | EVENT | CONTINUOUS | STEP | INTERMEDIATE | ACTIVATION |
          KIT_MODE(KIT_CONFIGURATION) | KIT_MODE(KIT_RECONFIGURATION),
};

#endif
