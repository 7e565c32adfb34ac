/* SPDX-License-Identifier: MIT */
/* What all kinds share. */
#include "fabric/fabric.h"

void tutti_fabric_lower_stop(_Atomic uint64_t *stop_after, uint64_t step)
{
    uint64_t now = atomic_load(stop_after);
    while (step < now && !atomic_compare_exchange_weak(stop_after, &now, step))
        ;
}

enum tutti_err tutti_fabric_stopped(void)
{
    return tutti_fail(TUTTI_ERR_STOPPED, "another rank ended the run");
}

void tutti_fabric_combine(enum tutti_reduction reduction, double *into, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool better = reduction == TUTTI_REDUCE_MIN ? from[i] < into[i] : from[i] > into[i];
        if (!isnan(into[i]) && (better || isnan(from[i])))
            into[i] = isnan(from[i]) ? NAN : from[i];
    }
}
