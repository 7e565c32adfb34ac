/* SPDX-License-Identifier: MIT */
/* Reductions: every rank writes its vector, then, once all have, combines all of them. The last to arrive tells the others, so
 * that each parks at most once, however many there are.
 *
 * Two vectors per rank are enough: who writes its vector for reduction n has seen all arrive at n - 1, so all have finished
 * reading those of n - 2. */
#include <string.h>

#include "fabric/shared_parts.h"

static enum tutti_err arrive(struct shared_rank *self)
{
    struct tutti_shared *area = self->area;
    uint32_t before = self->reductions++, all = self->reductions * (uint32_t)area->ranks;
    if (atomic_fetch_add(&area->arrived, 1) + 1 == all) {
        tutti_shared_publish(&area->reductions, self->reductions, &area->reductions_waiting);
        return TUTTI_OK;
    }
    if (atomic_load_explicit(&area->reductions, memory_order_acquire) != before)
        return TUTTI_OK;
    return tutti_shared_wait(self, &area->reductions, before, &area->reductions_waiting, false);
}

static enum tutti_err reduce_part(struct shared_rank *self, enum tutti_reduction reduction, double *values,
                                  size_t count)
{
    struct tutti_shared *area = self->area;
    unsigned turn = self->reductions % 2;
    memcpy(area->seats[self->fabric.rank].vectors[turn], values, count * sizeof *values);
    TRY(arrive(self));
    memcpy(values, area->seats[0].vectors[turn], count * sizeof *values);
    for (int r = 1; r < area->ranks; r++)
        tutti_fabric_combine(reduction, values, area->seats[r].vectors[turn], count);
    return TUTTI_OK;
}

enum tutti_err tutti_shared_reduce(struct tutti_fabric *fabric, enum tutti_reduction reduction, double *values,
                                   size_t count)
{
    struct shared_rank *self = (struct shared_rank *)fabric;
    for (size_t part; count > 0; values += part, count -= part) {
        part = count < SHARED_VECTOR ? count : SHARED_VECTOR;
        TRY(reduce_part(self, reduction, values, part));
    }
    return TUTTI_OK;
}
