/* SPDX-License-Identifier: MIT */
/* layer.h - the common part of fmi1.c, fmi2.c and fmi3.c: the beginning and end of a call. */
#ifndef KIT_LAYER_H
#define KIT_LAYER_H

#include "core.h"
#include "fault.h"

/* Only the FMI functions leave the library. */
#define KIT_EXPORT __attribute__((visibility("default")))

/* First lines of a function on an instance `c`: declares `k`, and returns unless the mode is one of `modes`. */
#define KIT_ENTER(result, call, modes)                                                                                 \
    struct kit *k = c;                                                                                                 \
    if (!k)                                                                                                            \
        return (result)KIT_ERROR;                                                                                      \
    if (!(KIT_MODE(k->mode) & (modes)))                                                                                \
        return (result)kit_refuse(k, call);                                                                            \
    enum kit_status fault = KIT_FAULT_CALL(k, call);                                                                   \
    if (fault > KIT_WARNING)                                                                                           \
    return (result)fault

/* Last line. */
#define KIT_LEAVE(result, status) return (result)kit_worse(fault, status)

/* All modes but those of an instance that must not be touched any more. */
#define KIT_ANY_MODE (~(KIT_MODE(KIT_IN_FATAL) | KIT_MODE(KIT_INTERMEDIATE_UPDATE)))

#endif
