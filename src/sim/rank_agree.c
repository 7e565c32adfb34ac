/* SPDX-License-Identifier: MIT */
#include "sim/rank_agree.h"

enum tutti_err tt_rank_reduce(struct tt_rank *rank, enum tt_fabric_reduction reduction, double *values, size_t count)
{
    return rank->fabric->kind->reduce(rank->fabric, reduction, values, count);
}

enum tutti_err tt_rank_agree_any(struct tt_rank *rank, bool *any)
{
    double value = *any;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, &value, 1));
    *any = value > 0;
    return TUTTI_OK;
}

enum tutti_err tt_rank_agree_point(struct tt_rank *rank, struct tt_point_events *here)
{
    double most[] = {here->pending, here->jumped, rank->ended ? (double)rank->ended->component : -1, here->ticks};
    if (rank->fabric->ranks == 1)
        return TUTTI_OK;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, most, 4));
    here->pending = most[0] > 0;
    here->jumped = most[1] > 0;
    here->ticks = most[3] > 0;
    if (most[2] >= 0)
        rank->ended = &rank->members[(uint32_t)most[2]];
    return TUTTI_OK;
}
