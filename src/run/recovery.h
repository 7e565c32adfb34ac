/* SPDX-License-Identifier: MIT */
/* recovery.h - a run that has lost a worker and resumes with a new one (--recover): all ranks are started again, from
 * the last checkpoint, or from the beginning without one. */
#ifndef TT_RUN_RECOVERY_H
#define TT_RUN_RECOVERY_H

#include <pthread.h>

#include "base/log.h"
#include "base/map.h"
#include "base/options/options.h"
#include "base/tempdir.h"
#include "base/vector.h"
#include "results/output.h"
#include "run/live/live.h"
#include "sim/checkpoint/collector.h"

/* A log for repeated attempts of a run (recovery.h): messages of an earlier attempt are not repeated. A message that
 * occurs several times is suppressed as often as it was logged before. */

struct tt_message_filter {
    struct tutti_log log;       /* to be used in place of `to` */
    const struct tutti_log *to; /* borrowed */
    pthread_mutex_t lock;       /* of what follows */
    struct tt_map by_text;
    struct tt_vector messages;
};

/* `to` has a function to write. `told` must not be moved. */
void tt_recovery_filter_init(struct tt_message_filter *told, const struct tutti_log *to);
void tt_recovery_filter_fini(struct tt_message_filter *told);
/* Another attempt begins. */
void tt_recovery_filter_restart(struct tt_message_filter *told);

struct tt_recovery {
    const struct tutti_run_options *asked; /* borrowed */
    struct tutti_run_options options;      /* options of the next attempt */
    bool started;                          /* ranks ran in the last one */
    unsigned used;                         /* recoveries */
    char *why;                             /* the reason of the previous loss: an identical loss is not accidental */
    struct tt_seen_rows watched;           /* rows that attempts before have shown */
    struct tt_message_filter told;         /* messages already logged; its log is that of `options` */
    struct tt_tempdir *folder;
    char *path; /* of the checkpoint to resume at, in that folder */
    double t;
    struct tt_live *live; /* the server for viewers of all attempts; NULL: none */
};

/* `recovery` must stay where it is. */
void tt_recovery_init(struct tt_recovery *recovery, const struct tutti_run_options *options);
void tt_recovery_fini(struct tt_recovery *recovery);

/* At the end of an attempt: stores the last collected checkpoint; NULL: none was requested. IO, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_recovery_store(struct tt_recovery *recovery, struct tt_collector *collector);
/* Returns true if a further attempt follows this error. Logs it; or adds the reason against it to the message. */
bool tt_recovery_retry(struct tt_recovery *recovery, struct tt_failure *failure);

#endif
