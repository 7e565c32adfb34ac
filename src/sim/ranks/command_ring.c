/* SPDX-License-Identifier: MIT */
#include "sim/ranks/command_ring.h"

bool tt_command_ring_push(struct tt_command_ring *orders, const struct tt_run_command *order)
{
    uint32_t given = atomic_load_explicit(&orders->given, memory_order_relaxed);
    if (given - atomic_load_explicit(&orders->taken, memory_order_acquire) == TUTTI_ORDERS_MOST)
        return false;
    orders->waiting[given % TUTTI_ORDERS_MOST] = *order;
    atomic_store_explicit(&orders->given, given + 1, memory_order_release);
    return true;
}

/* The peer is a different process: an impossible count is treated as 0. */
size_t tt_command_ring_pop(struct tt_command_ring *orders, struct tt_run_command *out, size_t most)
{
    uint32_t taken = atomic_load_explicit(&orders->taken, memory_order_relaxed);
    uint32_t count = atomic_load_explicit(&orders->given, memory_order_acquire) - taken;
    if (count > TUTTI_ORDERS_MOST)
        return 0;
    if (count > most)
        count = (uint32_t)most;
    for (uint32_t i = 0; i < count; i++)
        out[i] = orders->waiting[(taken + i) % TUTTI_ORDERS_MOST];
    atomic_store_explicit(&orders->taken, taken + count, memory_order_release);
    return count;
}
