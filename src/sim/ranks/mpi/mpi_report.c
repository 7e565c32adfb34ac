/* SPDX-License-Identifier: MIT */
/* Reports: ranks fill buffers, and send them to rank 0 when they are full or old. */
#include "sim/ranks/fabric.h"

#include <endian.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/wall_clock.h"
#include "sim/ranks/mpi/mpi_fabric.h"

#define OLD 0.2 /* seconds */

static char *report_buffer(struct mpi_reports *reports, int i)
{
    return reports->buffers + (size_t)i * TUTTI_MPI_CHUNK;
}

static int count_other_ranks(const struct mpi_fabric *self)
{
    return self->fabric.ranks - 1;
}

enum tutti_err tt_mpi_report_init(struct mpi_fabric *self, const struct tt_mpi_sink *sink)
{
    struct mpi_reports *reports = &self->reports;
    struct mpi_world *world = self->world;
    size_t count = self->fabric.rank == 0 ? (size_t)count_other_ranks(self) : TUTTI_MPI_CHUNKS;
    reports->sink = sink;
    reports->requests = malloc((count + 1) * sizeof *reports->requests);
    reports->buffers = malloc((count + 1) * TUTTI_MPI_CHUNK);
    reports->finished = calloc(count + 1, sizeof *reports->finished);
    reports->statuses = calloc(count + 1, sizeof *reports->statuses);
    reports->deaf = calloc(count + 1, sizeof *reports->deaf);
    for (size_t i = 0; reports->requests && i < count; i++)
        reports->requests[i] = MPI_REQUEST_NULL;
    if (!reports->requests || !reports->buffers || !reports->finished || !reports->statuses || !reports->deaf)
        return world->host->fail_memory();
    for (int i = 0; self->fabric.rank == 0 && i < (int)count; i++) {
        MPI_TRY(MPI_Recv_init(report_buffer(reports, i), TUTTI_MPI_CHUNK, MPI_BYTE, i + 1, TUTTI_MPI_TAG_REPORT,
                              world->control, &reports->requests[i]));
        MPI_TRY(MPI_Start(&reports->requests[i]));
    }
    return TUTTI_OK;
}

void tt_mpi_report_fini(struct mpi_fabric *self)
{
    struct mpi_reports *reports = &self->reports;
    bool first = self->fabric.rank == 0, gone = true;
    for (int i = 0; reports->requests && i < (first ? count_other_ranks(self) : TUTTI_MPI_CHUNKS); i++)
        gone &= tt_mpi_fabric_cancel(&reports->requests[i], first);
    if (gone)
        free(reports->buffers);
    free(reports->requests);
    free(reports->finished);
    free(reports->statuses);
    free(reports->deaf);
}

/* ---- rank 0 ---- */

static enum tutti_err repost_receive(struct mpi_reports *reports, int i)
{
    bool room = reports->sink->has_room(reports->sink->context, i + 1);
    reports->deaf_count += !room - reports->deaf[i];
    reports->deaf[i] = !room;
    return room ? tt_mpi_world_check(MPI_Start(&reports->requests[i])) : TUTTI_OK;
}

static enum tutti_err mpi_report_receive(struct mpi_fabric *self)
{
    struct mpi_reports *reports = &self->reports;
    int count = 0;
    for (int i = 0; reports->deaf_count > 0 && i < count_other_ranks(self); i++)
        if (reports->deaf[i])
            TRY(repost_receive(reports, i));
    MPI_TRY(MPI_Testsome(count_other_ranks(self), reports->requests, &count, reports->finished, reports->statuses));
    for (int n = 0; count != MPI_UNDEFINED && n < count; n++) {
        int i = reports->finished[n], size = 0;
        MPI_TRY(MPI_Get_count(&reports->statuses[n], MPI_BYTE, &size));
        TRY(reports->sink->take(reports->sink->context, i + 1, report_buffer(reports, i), (size_t)size));
        TRY(repost_receive(reports, i));
    }
    return TUTTI_OK;
}

static enum tutti_err report_locally(struct mpi_fabric *self, const char *bytes, size_t size)
{
    const struct tt_mpi_sink *sink = self->reports.sink;
    while (!sink->has_room(sink->context, 0)) {
        TRY(tt_mpi_fabric_poll(self));
        sched_yield();
    }
    return sink->take(sink->context, 0, bytes, size);
}

/* ---- other ranks ---- */

/* Sends the current buffer. Synchronous: where rank 0 does not hear, buffers run out here, and nothing piles up there. */
static enum tutti_err send_report_buffer(struct mpi_fabric *self)
{
    struct mpi_reports *reports = &self->reports;
    struct mpi_world *world = self->world;
    MPI_TRY(MPI_Issend(report_buffer(reports, reports->current), (int)reports->filled, MPI_BYTE, 0,
                       TUTTI_MPI_TAG_REPORT, world->control, &reports->requests[reports->current]));
    tt_mpi_world_ring(&world->bells, world->bell_of[0]);
    reports->current = (reports->current + 1) % TUTTI_MPI_CHUNKS;
    reports->filled = 0;
    return TUTTI_OK;
}

/* Waits until a request is complete, even after a stop: rank 0 receives all reports to the end. */
static enum tutti_err mpi_report_wait(struct mpi_fabric *self, MPI_Request *request)
{
    for (;;) {
        int done = 0;
        MPI_TRY(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            return TUTTI_OK;
        TRY(tt_mpi_fabric_poll(self));
        sched_yield();
    }
}

static enum tutti_err mpi_report_append(struct mpi_fabric *self, const char *bytes, size_t size)
{
    struct mpi_reports *reports = &self->reports;
    while (size > 0) {
        if (reports->filled == 0) {
            TRY(mpi_report_wait(self, &reports->requests[reports->current]));
            reports->since = tt_wall_clock_now();
        }
        size_t part = TUTTI_MPI_CHUNK - reports->filled;
        part = size < part ? size : part;
        memcpy(report_buffer(reports, reports->current) + reports->filled, bytes, part);
        reports->filled += part;
        bytes += part;
        size -= part;
        if (reports->filled == TUTTI_MPI_CHUNK)
            TRY(send_report_buffer(self));
    }
    return TUTTI_OK;
}

enum tutti_err tt_mpi_report_progress(struct mpi_fabric *self)
{
    if (self->fabric.rank == 0)
        return count_other_ranks(self) > 0 ? mpi_report_receive(self) : TUTTI_OK;
    const struct mpi_reports *reports = &self->reports;
    return reports->filled > 0 && tt_wall_clock_now() - reports->since > OLD ? send_report_buffer(self) : TUTTI_OK;
}

enum tutti_err tt_mpi_report_write(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    if (fabric->rank == 0)
        return report_locally(self, bytes, size);
    TRY(mpi_report_append(self, bytes, size));
    uint64_t kind = 0;
    memcpy(&kind, bytes, size < sizeof kind ? size : sizeof kind);
    bool last = le64toh(kind) == TUTTI_REPORT_END;
    return last && self->reports.filled > 0 ? send_report_buffer(self) : tt_mpi_report_progress(self);
}

enum tutti_err tt_mpi_report_flush(struct mpi_fabric *self)
{
    return self->fabric.rank != 0 && self->reports.filled > 0 ? send_report_buffer(self) : TUTTI_OK;
}

enum tutti_err tt_mpi_report_drain(struct mpi_fabric *self)
{
    if (self->fabric.rank == 0)
        return TUTTI_OK;
    TRY(tt_mpi_report_flush(self));
    for (int i = 0; i < TUTTI_MPI_CHUNKS; i++)
        TRY(mpi_report_wait(self, &self->reports.requests[i]));
    return TUTTI_OK;
}
