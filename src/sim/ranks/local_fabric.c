/* SPDX-License-Identifier: MIT */
/* One rank: everything that its units read, it has written itself. */
#include <stdlib.h>

#include "sim/ranks/fabric.h"

struct local_fabric {
    struct tt_fabric fabric;
    _Atomic uint64_t stop_after;
    struct tt_heartbeat where;
};

static enum tutti_err local_fabric_open_channel(struct tt_fabric *fabric, const struct tt_channel *channel)
{
    (void)fabric;
    (void)channel;
    return TUTTI_OK;
}

static enum tutti_err local_fabric_exchange(struct tt_fabric *fabric, uint32_t channel, char *base)
{
    (void)channel;
    (void)base;
    fabric->exchanges++;
    return TUTTI_OK;
}

static enum tutti_err local_fabric_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                                          size_t count)
{
    (void)fabric;
    (void)reduction;
    (void)values;
    (void)count;
    return TUTTI_OK;
}

static enum tutti_err local_fabric_report(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    (void)fabric;
    (void)bytes;
    (void)size;
    return TUTTI_OK; /* there is no other rank */
}

static void local_fabric_stop(struct tt_fabric *fabric, uint64_t step)
{
    tt_fabric_lower_stop(fabric->stop_after, step);
}

static void local_fabric_close(struct tt_fabric *fabric)
{
    free(fabric);
}

static const struct tt_fabric_kind kind = {
    .name = "local",
    .open = local_fabric_open_channel,
    .exchange = local_fabric_exchange,
    .reduce = local_fabric_reduce,
    .report = local_fabric_report,
    .stop = local_fabric_stop,
    .close = local_fabric_close,
};

enum tutti_err tt_fabric_new_local(struct tt_fabric **out)
{
    struct local_fabric *local = aligned_alloc(_Alignof(struct local_fabric), sizeof *local);
    *out = NULL;
    if (!local)
        return tt_fail_memory();
    *local = (struct local_fabric){
        .fabric = {.kind = &kind, .ranks = 1, .stop_after = &local->stop_after, .where = &local->where}};
    atomic_store(&local->stop_after, UINT64_MAX);
    *out = &local->fabric;
    return TUTTI_OK;
}
