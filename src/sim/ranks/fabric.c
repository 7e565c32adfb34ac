/* SPDX-License-Identifier: MIT */
/* What all kinds share. */
#include "sim/ranks/fabric.h"

void tt_fabric_lower_stop(_Atomic uint64_t *stop_after, uint64_t step)
{
    uint64_t now = atomic_load(stop_after);
    while (step < now && !atomic_compare_exchange_weak(stop_after, &now, step))
        ;
}

enum tutti_err tt_fabric_fail_stopped(void)
{
    return tt_fail(TUTTI_ERR_STOPPED, "another rank ended the run");
}

/* -0 is less than 0: otherwise it would depend on the order which of them is left. */
static bool fabric_is_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

void tt_fabric_combine(enum tt_fabric_reduction reduction, double *into, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(into[i]) || isnan(from[i]))
            into[i] = NAN; /* of whichever rank, the same bits */
        else if (reduction == TUTTI_REDUCE_MIN ? fabric_is_less(from[i], into[i]) : fabric_is_less(into[i], from[i]))
            into[i] = from[i];
    }
}
