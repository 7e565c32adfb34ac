/* SPDX-License-Identifier: MIT */
/* by_hand.h - what loops that are written by hand need to call FMUs of FMI 2.0 and 3.0. */
#ifndef BENCH_BY_HAND_H
#define BENCH_BY_HAND_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "fmu/api2.h"
#include "fmu/api3.h"

#define X(name, ret, params, group) ret(*name) params;
struct functions2 {
    FMI2_FUNCTIONS(X)
};
struct functions3 {
    FMI3_FUNCTIONS(X)
};
#undef X

static inline void die(const char *what)
{
    fprintf(stderr, "%s: %s\n", program_invocation_short_name, what);
    exit(1);
}

static inline void ignore2(fmi2ComponentEnvironment e, fmi2String n, fmi2Status s, fmi2String c, fmi2String m, ...)
{
    (void)e, (void)n, (void)s, (void)c, (void)m;
}

static inline void ignore3(fmi3InstanceEnvironment e, fmi3Status s, fmi3String c, fmi3String m)
{
    (void)e, (void)s, (void)c, (void)m;
}

#endif
