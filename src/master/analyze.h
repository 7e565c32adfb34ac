/* SPDX-License-Identifier: MIT */
/* analyze.h - what can be told about a system before it runs: order of evaluation, loops, start values that nobody reads,
 * the spectral radius of DL, on which the stability of a coupling hangs (001 section 6.1). */
#ifndef TUTTI_MASTER_ANALYZE_H
#define TUTTI_MASTER_ANALYZE_H

#include <tutti/run.h>

#include "plan/order.h"
#include "plan/structure.h"
#include "system/system.h"

/* An algebraic loop of the running system. */
struct tutti_loop_analysis {
    const uint32_t *nodes; /* of `running` */
    uint32_t count;
    bool has_rho;
    double rho;          /* largest magnitude of an eigenvalue of DL in the loop, at the start */
    bool exact;          /* D by directional derivatives; else by differences */
    const char *why_not; /* no rho: the reason */
};

struct tutti_analysis {
    const struct tutti_system *system;
    const struct tutti_structure *initial, *running;
    const struct tutti_order *order; /* of the initialisation */
    uint32_t ungrouped;              /* evaluations that it would take with every output by itself */
    /* Connected inputs, outside of loops, that are given a start value: their source's value takes its place (003). */
    const struct tutti_end *pointless;
    size_t pointless_count;
    const struct tutti_loop_analysis *loops;
    size_t loop_count;
    bool has_rho; /* of all loops; 0 where there is none, because DL is nilpotent then (001 section 5.1) */
    double rho;
    bool initialised; /* the system could be started; else `failure` says why not */
    const char *failure;
};

/* Everything in `analysis` lives during the call only. */
typedef void tutti_analysis_report(void *context, const struct tutti_analysis *analysis);

/* Loads the system, initialises it as a run would, and reports. A system that cannot be initialised is reported as well: an
 * error comes back only if it cannot be loaded. */
TUTTI_CHECKED enum tutti_err tutti_analyze(const struct tutti_run_options *options, tutti_analysis_report *report,
                                           void *context);

#endif
