/* SPDX-License-Identifier: MIT */
/* ticks_inside.h - what the files of ticks.h share: ticks_open.c makes what ticks.c lets tick. */
#ifndef TUTTI_RANK_TICKS_INSIDE_H
#define TUTTI_RANK_TICKS_INSIDE_H

#include "rank/ticks.h"

static inline const struct tutti_desc *tutti_ticking_desc(const struct tutti_ticking_unit *unit)
{
    return unit->member->unit->fmu->desc;
}

static inline bool tutti_ticking_is_scheduled(const struct tutti_ticking_unit *unit)
{
    return unit->member->unit->kind->interface == TUTTI_SE;
}

static inline const char *tutti_ticking_name(const struct tutti_ticking_unit *unit, uint32_t clock)
{
    return tutti_ticking_desc(unit)->vars[unit->clocks[clock].variable].name;
}

/* Its FMU calls what is done at ticks. */
void tutti_ticks_listen(struct tutti_ticking_unit *unit);

#endif
