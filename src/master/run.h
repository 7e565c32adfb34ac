/* SPDX-License-Identifier: MIT */
/* master/run.h - a run with a visitor, for the commands that look at a unit in the middle of it. */
#ifndef TUTTI_MASTER_RUN_H
#define TUTTI_MASTER_RUN_H

#include <tutti/run.h>

#include "unit/unit.h"

/* Called once, on a Model Exchange unit, at time `at`, after events there; the run then ends. Not called if the FMU ended
 * it before, or there. */
struct tutti_visit {
    const char *purpose; /* "linearising": what needs Model Exchange, for a message */
    bool has_at;
    double at; /* default: the start time */
    enum tutti_err (*visit)(void *context, struct tutti_unit *unit, double t);
    void *context;
};

/* tutti_run; `visit` may be NULL. ARGUMENT if its time is not in the run. */
TUTTI_CHECKED enum tutti_err tutti_run_visited(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                               const struct tutti_visit *visit);

#endif
