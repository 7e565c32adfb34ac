/* SPDX-License-Identifier: MIT */
#include "conduct/drain.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/str.h"

static const double IDLE_EVERY = 0.05;

enum tutti_err tutti_drain_init(struct tutti_drain *drain, struct tutti_shared *area, struct tutti_conductor *conductor,
                                const volatile sig_atomic_t *interrupt, int ranks)
{
    *drain = (struct tutti_drain){.area = area,
                                  .conductor = conductor,
                                  .interrupt = interrupt,
                                  .ranks = ranks,
                                  .held = calloc((size_t)ranks, sizeof *drain->held),
                                  .closed = calloc((size_t)ranks, sizeof *drain->closed)};
    return drain->held && drain->closed ? TUTTI_OK : tutti_fail_memory();
}

void tutti_drain_fini(struct tutti_drain *drain)
{
    for (int r = 0; r < drain->ranks && drain->held; r++)
        tutti_parcel_fini(&drain->held[r]);
    free(drain->held);
    free(drain->closed);
    free(drain->message);
}

void tutti_drain_fail(struct tutti_drain *drain, enum tutti_err err)
{
    if (drain->err == TUTTI_OK) {
        drain->err = err;
        drain->message = tutti_str_copy(tutti_err_message());
    }
    tutti_shared_stop(drain->area, 0);
}

/* Offers bytes; how many are not needed any more? */
static size_t offer(struct tutti_drain *drain, int rank, const char *bytes, size_t count)
{
    size_t taken = 0;
    enum tutti_err err = tutti_conductor_take(drain->conductor, rank, bytes, count, &taken);
    if (err == TUTTI_OK)
        return taken;
    if (taken == 0) { /* and would fail so for ever */
        drain->closed[rank] = true;
        tutti_conductor_lose(drain->conductor, rank, err);
    }
    tutti_drain_fail(drain, err);
    return taken;
}

/* How many bytes belong to the frame that these are the beginning of? At least the header. */
static size_t frame_size(struct tutti_drain *drain, int rank, const char *bytes, size_t count)
{
    enum tutti_report_kind kind;
    size_t size = 0;
    bool whole = false;
    if (count < TUTTI_REPORT_HEADER)
        return TUTTI_REPORT_HEADER;
    enum tutti_err err = tutti_report_find(bytes, count, &kind, &size, &whole);
    if (err != TUTTI_OK) {
        drain->closed[rank] = true;
        tutti_conductor_lose(drain->conductor, rank, err);
        tutti_drain_fail(drain, err);
    }
    return TUTTI_REPORT_HEADER + size;
}

/* Adds what the ring has of the frame that is held, and offers it once it is whole. Did anything move? */
static bool go_on_with_held(struct tutti_drain *drain, int rank)
{
    struct tutti_parcel *held = &drain->held[rank];
    size_t size = frame_size(drain, rank, held->bytes, held->size), count;
    const char *bytes = tutti_shared_reports(drain->area, rank, &count);
    if (held->size < size) {
        size_t part = size - held->size < count ? size - held->size : count;
        tutti_parcel_put_bytes(held, bytes, part);
        tutti_shared_consume(drain->area, rank, part);
        if (held->failed)
            tutti_drain_fail(drain, tutti_fail_memory());
        return part > 0;
    }
    if (offer(drain, rank, held->bytes, held->size) == 0)
        return false;
    tutti_parcel_reset(held);
    return true;
}

/* What the ring shows first. */
static bool go_on_with_ring(struct tutti_drain *drain, int rank)
{
    size_t count;
    const char *bytes = tutti_shared_reports(drain->area, rank, &count);
    if (count == 0)
        return false;
    size_t taken = offer(drain, rank, bytes, count);
    tutti_shared_consume(drain->area, rank, taken);
    if (taken > 0 || drain->closed[rank])
        return taken > 0;
    if (frame_size(drain, rank, bytes, count) <= count)
        return false; /* a row that has to wait */
    tutti_parcel_reset(&drain->held[rank]);
    tutti_parcel_put_bytes(&drain->held[rank], bytes, count);
    tutti_shared_consume(drain->area, rank, count);
    return true;
}

bool tutti_drain_rank(struct tutti_drain *drain, int rank)
{
    if (drain->closed[rank] || drain->held[rank].failed) {
        size_t count;
        tutti_shared_reports(drain->area, rank, &count);
        tutti_shared_consume(drain->area, rank, count);
        return count > 0;
    }
    return drain->held[rank].size > 0 ? go_on_with_held(drain, rank) : go_on_with_ring(drain, rank);
}

void tutti_drain_all(struct tutti_drain *drain)
{
    for (bool moving = true; moving;) {
        moving = false;
        for (int r = 0; r < drain->ranks; r++)
            moving |= tutti_drain_rank(drain, r);
        double now = tutti_clock_now();
        if (now - drain->last_idle >= IDLE_EVERY) {
            drain->last_idle = now;
            enum tutti_err err = tutti_conductor_idle(drain->conductor);
            if (err != TUTTI_OK)
                tutti_drain_fail(drain, err);
        }
        if (drain->interrupt && *drain->interrupt && !drain->interrupted) {
            drain->interrupted = true;
            *tutti_shared_interrupt(drain->area) = 1;
            tutti_shared_stop(drain->area, 0);
        }
    }
}

enum tutti_err tutti_drain_finish(struct tutti_drain *drain)
{
    tutti_drain_all(drain);
    for (int r = 0; r < drain->ranks; r++)
        if (!tutti_conductor_has_ended(drain->conductor, r))
            tutti_conductor_lose(drain->conductor, r, tutti_fabric_stopped());
    tutti_drain_all(drain); /* rows that waited for them */
    if (drain->err != TUTTI_OK)
        return tutti_fail(drain->err, "%s", drain->message ? drain->message : tutti_err_name(drain->err));
    return TUTTI_OK;
}
