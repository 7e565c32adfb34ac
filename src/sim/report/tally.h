/* SPDX-License-Identifier: MIT */
/* tally.h - what a rank counted, as bytes for the conductor, which makes the statistics of the run of them. */
#ifndef TT_SIM_REPORT_TALLY_H
#define TT_SIM_REPORT_TALLY_H

#include "base/bytes.h"
#include "sim/stats.h"

/* All of it, with its holes. */
void tt_reporter_pack_tally(struct tt_byte_writer *parcel, const struct tutti_run_stats *stats);
/* The same at the other end; tt_stats_fini releases it, also after a failure. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tt_reporter_unpack_tally(struct tt_byte_reader *in, struct tutti_run_stats *stats);

#endif
