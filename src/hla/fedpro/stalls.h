/* SPDX-License-Identifier: MIT */
/* stalls.h - federations in which federates wait, and none is granted anything for some time: told once for each time, with who waits for whom. */
#ifndef TT_HLA_FEDPRO_STALLS_H
#define TT_HLA_FEDPRO_STALLS_H

#include "base/log.h"
#include "hla/rti/rti.h"

/* Zeroed, it knows of none. */
struct tt_fedpro_stalls {
    struct tt_stall_watch *items; /* one for each federation */
    size_t count;
};

void tt_fedpro_service_free_stalls(struct tt_fedpro_stalls *stalls);
/* From time to time. A federation that stands for `patience` seconds at `now` goes to the log as a warning; 0: none does. */
void tt_fedpro_service_report_stalls(struct tt_fedpro_stalls *stalls, const struct tt_rti *rti, double now,
                                     double patience, const struct tutti_log *log);

#endif
