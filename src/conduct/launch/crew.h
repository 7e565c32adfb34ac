/* SPDX-License-Identifier: MIT */
/* crew.h - what threads.c and processes.c have in common: ranks that share memory with the conductor. The state of such a
 * launcher begins with a crew, so that these functions can stand in its struct. */
#ifndef TUTTI_CONDUCT_LAUNCH_CREW_H
#define TUTTI_CONDUCT_LAUNCH_CREW_H

#include "conduct/launch/launcher.h"
#include "fabric/shared.h"

struct tutti_crew {
    const struct tutti_job *job;
    int ranks;
    struct tutti_shared *area;
    uint32_t seen; /* the bell, before ranks were last looked at */
};

/* `name` is that of the fabric. */
TUTTI_CHECKED enum tutti_err tutti_crew_open(struct tutti_crew *crew, const struct tutti_job *job, int ranks,
                                             const char *name);
void tutti_crew_close(struct tutti_crew *crew);

enum tutti_err tutti_crew_poll(void *self, int milliseconds);
const char *tutti_crew_reports(void *self, int rank, size_t *count);
void tutti_crew_consume(void *self, int rank, size_t count);
void tutti_crew_interrupt(void *self);
bool tutti_crew_order(void *self, const struct tutti_run_order *order);
void tutti_crew_stop(void *self, uint64_t step);

#endif
