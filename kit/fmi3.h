/* SPDX-License-Identifier: MIT */
/* fmi3.h - what fmi3.c and fmi3_values.c share. */
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
    ENDED = KIT_MODE(KIT_TERMINATED) | KIT_MODE(KIT_IN_ERROR),
    COMPUTED = INITIALISATION | EVENT | CONTINUOUS | STEP | ENDED, /* there is more than start values */
    GET = COMPUTED | INSTANTIATED | INTERMEDIATE,
    SET = INSTANTIATED | INITIALISATION | EVENT | CONTINUOUS | STEP | INTERMEDIATE | KIT_MODE(KIT_CONFIGURATION) |
          KIT_MODE(KIT_RECONFIGURATION),
};

#endif
