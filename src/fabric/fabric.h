/* SPDX-License-Identifier: MIT */
/* fabric.h - where ranks run and how they hear of each other. Every rank runs the same master over its own units; only
 * two things cross ranks: boundary signals and reductions. One process is the case of one rank.
 *
 * To add a kind: copy local.c, declare it below, run `ctest -L fabric`. */
#ifndef TUTTI_FABRIC_FABRIC_H
#define TUTTI_FABRIC_FABRIC_H

#include <stddef.h>

#include "base/err.h"

struct tutti_fabric;

enum tutti_reduction { TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX };

struct tutti_fabric_kind {
    const char *name; /* "local" */
    enum tutti_err (*open)(struct tutti_fabric **out);
    void (*close)(struct tutti_fabric *fabric); /* NULL is fine */
    /* Collective. After it, the signals that this rank's units read are those that their owners wrote before it. */
    enum tutti_err (*exchange)(struct tutti_fabric *fabric);
    /* Collective; in place. The same bits on every rank, whatever their number: min and max have no order. */
    enum tutti_err (*reduce)(struct tutti_fabric *fabric, enum tutti_reduction reduction, double *values, size_t count);
};

struct tutti_fabric {
    const struct tutti_fabric_kind *kind;
    int rank, ranks;
    unsigned long exchanges; /* so far */
};

extern const struct tutti_fabric_kind tutti_fabric_local;

#endif
