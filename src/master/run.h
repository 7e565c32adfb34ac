/* SPDX-License-Identifier: MIT */
/* master/run.h - a run with a visitor, for the commands that look at a unit in the middle of it. */
#ifndef TUTTI_MASTER_RUN_H
#define TUTTI_MASTER_RUN_H

#include <tutti/run.h>

#include "unit/unit.h"

/* Called once, at time `at`, after events there; the run then ends. */
struct tutti_visit {
    double at;
    enum tutti_err (*visit)(void *context, struct tutti_unit *unit, double t);
    void *context;
};

/* tutti_run; `visit` may be NULL. ARGUMENT if its time is not in the run. */
TUTTI_CHECKED enum tutti_err tutti_run_visited(const struct tutti_run_options *options, struct tutti_run_stats *stats,
                                               const struct tutti_visit *visit);

#endif
