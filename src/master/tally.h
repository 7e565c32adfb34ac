/* SPDX-License-Identifier: MIT */
/* tally.h - what a rank counted, for its caller or as bytes for the conductor, which makes the statistics of the run of them. */
#ifndef TUTTI_MASTER_TALLY_H
#define TUTTI_MASTER_TALLY_H

#include <tutti/run.h>

#include "base/parcel.h"

struct run;

/* Completes run->stats when the run is over, however far it came. `units` is per component up to the last that this rank
 * had; those of other ranks have no name. Without memory for it: no texts, no unit. */
void tutti_tally_count(const struct run *run);

/* All of it, with its holes. */
void tutti_tally_pack(struct tutti_parcel *parcel, const struct tutti_run_stats *stats);
/* The same at the other end; tutti_run_stats_fini releases it, also after a failure. FORMAT, MEMORY. */
TUTTI_CHECKED enum tutti_err tutti_tally_unpack(struct tutti_unparcel *in, struct tutti_run_stats *stats);

#endif
