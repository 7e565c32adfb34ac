/* SPDX-License-Identifier: MIT */
/* recovery.h - a run that has lost a worker, and goes on with a new one (--recover): all ranks are started again, from the last
 * checkpoint, or from the beginning if there was none. */
#ifndef TUTTI_CONDUCT_RECOVERY_H
#define TUTTI_CONDUCT_RECOVERY_H

#include "base/tempdir.h"
#include "checkpoint/collector.h"
#include "conduct/live.h"
#include "conduct/told.h"
#include "options/options.h"
#include "record/output.h"

struct tutti_recovery {
    const struct tutti_run_options *asked; /* borrowed */
    struct tutti_run_options options;      /* what the next attempt is made with */
    bool started;                          /* ranks ran in the last one */
    unsigned used;                         /* recoveries */
    char *why;                             /* the loss before: one that comes again the same is none of chance */
    struct tutti_seen_rows watched;        /* rows that attempts before have shown */
    struct tutti_told told;                /* messages that they have told; its log is that of `options` */
    struct tutti_tempdir *folder;
    char *path; /* of the checkpoint that is gone on from, in that folder */
    double t;
    struct tutti_live *live; /* that attempts are watched by, all of them; NULL: nobody may */
};

/* `recovery` must stay where it is. */
void tutti_recovery_init(struct tutti_recovery *recovery, const struct tutti_run_options *options);
void tutti_recovery_fini(struct tutti_recovery *recovery);

/* At the end of an attempt: keeps the last checkpoint that was collected; NULL: none was asked for. IO, MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_recovery_keep(struct tutti_recovery *recovery, struct tutti_collector *collector);
/* Is there another attempt, after one that came to this? Tells people that there is; or adds to the message why there is none. */
bool tutti_recovery_goes_on(struct tutti_recovery *recovery, struct tutti_failure *failure);

#endif
