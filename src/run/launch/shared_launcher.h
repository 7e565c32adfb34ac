/* SPDX-License-Identifier: MIT */
/* shared_launcher.h - what launch_threads.c and launch_processes.c have in common: ranks that share memory with the conductor. The state of such a
 * launcher begins with a crew, so that these functions can stand in its struct. */
#ifndef TT_RUN_LAUNCH_SHARED_LAUNCHER_H
#define TT_RUN_LAUNCH_SHARED_LAUNCHER_H

#include "run/launch/launcher.h"
#include "sim/ranks/shared_fabric.h"

struct tt_shared_launcher {
    const struct tt_job *job;
    int ranks;
    struct tt_shared_fabric *area;
    uint32_t seen; /* the bell, before ranks were last looked at */
};

/* `name` is that of the fabric. */
TUTTI_CHECKED enum tutti_err tt_launcher_shared_open(struct tt_shared_launcher *crew, const struct tt_job *job,
                                                     int ranks, const char *name);
void tt_launcher_shared_close(struct tt_shared_launcher *crew);

enum tutti_err tt_launcher_shared_poll(void *self, int milliseconds);
const char *tt_launcher_shared_reports(void *self, int rank, size_t *count);
void tt_launcher_shared_consume(void *self, int rank, size_t count);
void tt_launcher_shared_interrupt(void *self);
bool tt_launcher_shared_order(void *self, const struct tt_run_command *order);
void tt_launcher_shared_stop(void *self, uint64_t step);

#endif
