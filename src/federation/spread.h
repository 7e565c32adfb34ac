/* SPDX-License-Identifier: MIT */
/* spread.h - bytes that one rank has become those of all. */
#ifndef TUTTI_FEDERATION_SPREAD_H
#define TUTTI_FEDERATION_SPREAD_H

#include "base/parcel.h"
#include "rank/rank.h"

/* Room that is used again; zeroed is empty. */
struct tutti_spread {
    double *numbers;
    size_t room;
};

/* Collective. parcels[i] is known on the rank where mine[i] is true, which is one; afterwards on all. */
TUTTI_CHECKED enum tutti_err tutti_spread(struct tutti_spread *spread, struct tutti_rank *rank,
                                          struct tutti_parcel *parcels, const bool *mine, size_t count);
void tutti_spread_fini(struct tutti_spread *spread);

#endif
