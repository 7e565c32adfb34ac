/* SPDX-License-Identifier: MIT */
/* Reports: ranks fill buffers, and send them to rank 0 when they are full or old. */
#include "fabric/report.h"

#include <endian.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "mpi/parts.h"

#define OLD 0.2 /* seconds */

static char *buffer_of(struct mpi_reports *reports, int i)
{
    return reports->buffers + (size_t)i * TUTTI_MPI_CHUNK;
}

static int others(const struct mpi_fabric *self)
{
    return self->fabric.ranks - 1;
}

enum tutti_err tutti_mpi_reports_init(struct mpi_fabric *self, const struct tutti_mpi_sink *sink)
{
    struct mpi_reports *reports = &self->reports;
    struct world *world = self->world;
    size_t count = self->fabric.rank == 0 ? (size_t)others(self) : TUTTI_MPI_CHUNKS;
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
        MPI_TRY(MPI_Recv_init(buffer_of(reports, i), TUTTI_MPI_CHUNK, MPI_BYTE, i + 1, TUTTI_MPI_TAG_REPORT,
                              world->control, &reports->requests[i]));
        MPI_TRY(MPI_Start(&reports->requests[i]));
    }
    return TUTTI_OK;
}

void tutti_mpi_reports_fini(struct mpi_fabric *self)
{
    struct mpi_reports *reports = &self->reports;
    bool first = self->fabric.rank == 0, gone = true;
    for (int i = 0; reports->requests && i < (first ? others(self) : TUTTI_MPI_CHUNKS); i++)
        gone &= tutti_mpi_drop(&reports->requests[i], first);
    if (gone)
        free(reports->buffers);
    free(reports->requests);
    free(reports->finished);
    free(reports->statuses);
    free(reports->deaf);
}

/* ---- rank 0 ---- */

static enum tutti_err listen_again(struct mpi_reports *reports, int i)
{
    bool room = reports->sink->has_room(reports->sink->context, i + 1);
    reports->deaf_count += !room - reports->deaf[i];
    reports->deaf[i] = !room;
    return room ? tutti_mpi_check(MPI_Start(&reports->requests[i])) : TUTTI_OK;
}

static enum tutti_err hear(struct mpi_fabric *self)
{
    struct mpi_reports *reports = &self->reports;
    int count = 0;
    for (int i = 0; reports->deaf_count > 0 && i < others(self); i++)
        if (reports->deaf[i])
            TRY(listen_again(reports, i));
    MPI_TRY(MPI_Testsome(others(self), reports->requests, &count, reports->finished, reports->statuses));
    for (int n = 0; count != MPI_UNDEFINED && n < count; n++) {
        int i = reports->finished[n], size = 0;
        MPI_TRY(MPI_Get_count(&reports->statuses[n], MPI_BYTE, &size));
        TRY(reports->sink->take(reports->sink->context, i + 1, buffer_of(reports, i), (size_t)size));
        TRY(listen_again(reports, i));
    }
    return TUTTI_OK;
}

static enum tutti_err report_here(struct mpi_fabric *self, const char *bytes, size_t size)
{
    const struct tutti_mpi_sink *sink = self->reports.sink;
    while (!sink->has_room(sink->context, 0)) {
        TRY(tutti_mpi_look(self));
        sched_yield();
    }
    return sink->take(sink->context, 0, bytes, size);
}

/* ---- other ranks ---- */

/* Sends the current buffer. Synchronous: where rank 0 does not hear, buffers run out here, and nothing piles up there. */
static enum tutti_err post(struct mpi_fabric *self)
{
    struct mpi_reports *reports = &self->reports;
    struct world *world = self->world;
    MPI_TRY(MPI_Issend(buffer_of(reports, reports->current), (int)reports->filled, MPI_BYTE, 0, TUTTI_MPI_TAG_REPORT,
                       world->control, &reports->requests[reports->current]));
    tutti_bells_ring(&world->bells, world->bell_of[0]);
    reports->current = (reports->current + 1) % TUTTI_MPI_CHUNKS;
    reports->filled = 0;
    return TUTTI_OK;
}

/* Until a request is done, whichever rank stops: rank 0 hears all to the end. */
static enum tutti_err wait_for(struct mpi_fabric *self, MPI_Request *request)
{
    for (;;) {
        int done = 0;
        MPI_TRY(MPI_Test(request, &done, MPI_STATUS_IGNORE));
        if (done)
            return TUTTI_OK;
        TRY(tutti_mpi_look(self));
        sched_yield();
    }
}

static enum tutti_err append(struct mpi_fabric *self, const char *bytes, size_t size)
{
    struct mpi_reports *reports = &self->reports;
    while (size > 0) {
        if (reports->filled == 0) {
            TRY(wait_for(self, &reports->requests[reports->current]));
            reports->since = tutti_clock_now();
        }
        size_t part = TUTTI_MPI_CHUNK - reports->filled;
        part = size < part ? size : part;
        memcpy(buffer_of(reports, reports->current) + reports->filled, bytes, part);
        reports->filled += part;
        bytes += part;
        size -= part;
        if (reports->filled == TUTTI_MPI_CHUNK)
            TRY(post(self));
    }
    return TUTTI_OK;
}

enum tutti_err tutti_mpi_reports_move(struct mpi_fabric *self)
{
    if (self->fabric.rank == 0)
        return others(self) > 0 ? hear(self) : TUTTI_OK;
    const struct mpi_reports *reports = &self->reports;
    return reports->filled > 0 && tutti_clock_now() - reports->since > OLD ? post(self) : TUTTI_OK;
}

enum tutti_err tutti_mpi_report(struct tutti_fabric *fabric, const void *bytes, size_t size)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    if (fabric->rank == 0)
        return report_here(self, bytes, size);
    TRY(append(self, bytes, size));
    uint64_t kind = 0;
    memcpy(&kind, bytes, size < sizeof kind ? size : sizeof kind);
    bool last = le64toh(kind) == TUTTI_REPORT_END;
    return last && self->reports.filled > 0 ? post(self) : tutti_mpi_reports_move(self);
}

enum tutti_err tutti_mpi_reports_flush(struct mpi_fabric *self)
{
    return self->fabric.rank != 0 && self->reports.filled > 0 ? post(self) : TUTTI_OK;
}

enum tutti_err tutti_mpi_reports_settle(struct mpi_fabric *self)
{
    if (self->fabric.rank == 0)
        return TUTTI_OK;
    TRY(tutti_mpi_reports_flush(self));
    for (int i = 0; i < TUTTI_MPI_CHUNKS; i++)
        TRY(wait_for(self, &self->reports.requests[i]));
    return TUTTI_OK;
}
