/* SPDX-License-Identifier: MIT */
/* tally.h - what a rank counted, as bytes for the conductor, which makes the statistics of the run of them. */
#ifndef TUTTI_REPORT_TALLY_H
#define TUTTI_REPORT_TALLY_H

#include "base/parcel.h"
#include "rank/stats.h"

/* All of it, with its holes. */
void tutti_tally_pack(struct tutti_parcel *parcel, const struct tutti_run_stats *stats);
/* The same at the other end; tutti_run_stats_fini releases it, also after a failure. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_tally_unpack(struct tutti_unparcel *in, struct tutti_run_stats *stats);

#endif
