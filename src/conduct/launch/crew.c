/* SPDX-License-Identifier: MIT */
#include "conduct/launch/crew.h"

enum tutti_err tutti_crew_open(struct tutti_crew *crew, const struct tutti_job *job, int ranks, const char *name)
{
    crew->job = job;
    crew->ranks = ranks;
    TRY(tutti_shared_new(&crew->area, ranks, name));
    crew->seen = tutti_shared_bell(crew->area);
    return TUTTI_OK;
}

void tutti_crew_close(struct tutti_crew *crew)
{
    tutti_shared_free(crew->area);
}

enum tutti_err tutti_crew_poll(void *self, int milliseconds)
{
    struct tutti_crew *crew = self;
    tutti_shared_wait(crew->area, crew->seen, milliseconds / 1e3);
    crew->seen = tutti_shared_bell(crew->area);
    return TUTTI_OK;
}

const char *tutti_crew_reports(void *self, int rank, size_t *count)
{
    const struct tutti_crew *crew = self;
    return tutti_shared_reports(crew->area, rank, count);
}

void tutti_crew_consume(void *self, int rank, size_t count)
{
    const struct tutti_crew *crew = self;
    tutti_shared_consume(crew->area, rank, count);
}

void tutti_crew_interrupt(void *self)
{
    const struct tutti_crew *crew = self;
    *tutti_shared_interrupt(crew->area) = 1;
}

bool tutti_crew_order(void *self, const struct tutti_run_order *order)
{
    struct tutti_crew *crew = self;
    return tutti_orders_give(tutti_shared_orders(crew->area), order);
}

void tutti_crew_stop(void *self, uint64_t step)
{
    const struct tutti_crew *crew = self;
    tutti_shared_stop(crew->area, step);
}
