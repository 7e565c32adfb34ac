/* SPDX-License-Identifier: MIT */
/* message_filter.h - a log for a run that is made more than once (recovery.h): what an attempt before has said is not said again. Of a message that
 * comes again and again, as often as it was told before. */
#ifndef TT_RUN_MESSAGE_FILTER_H
#define TT_RUN_MESSAGE_FILTER_H

#include <pthread.h>

#include "base/log.h"
#include "base/map.h"
#include "base/vector.h"

struct tt_message_filter {
    struct tutti_log log;       /* to be used in place of `to` */
    const struct tutti_log *to; /* borrowed */
    pthread_mutex_t lock;       /* of what follows */
    struct tt_map by_text;
    struct tt_vector messages;
};

/* `to` has a function to write. `told` must stay where it is. */
void tt_recovery_filter_init(struct tt_message_filter *told, const struct tutti_log *to);
void tt_recovery_filter_fini(struct tt_message_filter *told);
/* Another attempt begins. */
void tt_recovery_filter_restart(struct tt_message_filter *told);

#endif
