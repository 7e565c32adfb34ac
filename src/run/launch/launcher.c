/* SPDX-License-Identifier: MIT */
#include "run/launch/launcher.h"

enum tutti_err tt_launcher_shared_open(struct tt_shared_launcher *crew, const struct tt_job *job, int ranks,
                                       const char *name)
{
    crew->job = job;
    crew->ranks = ranks;
    TRY(tt_shared_fabric_new(&crew->area, ranks, name));
    crew->seen = tt_shared_fabric_event_count(crew->area);
    return TUTTI_OK;
}

void tt_launcher_shared_close(struct tt_shared_launcher *crew)
{
    tt_shared_fabric_free(crew->area);
}

enum tutti_err tt_launcher_shared_poll(void *self, int milliseconds)
{
    struct tt_shared_launcher *crew = self;
    tt_shared_fabric_wait(crew->area, crew->seen, milliseconds / 1e3);
    crew->seen = tt_shared_fabric_event_count(crew->area);
    return TUTTI_OK;
}

const char *tt_launcher_shared_reports(void *self, int rank, size_t *count)
{
    const struct tt_shared_launcher *crew = self;
    return tt_shared_fabric_peek_reports(crew->area, rank, count);
}

void tt_launcher_shared_consume(void *self, int rank, size_t count)
{
    const struct tt_shared_launcher *crew = self;
    tt_shared_fabric_consume_reports(crew->area, rank, count);
}

void tt_launcher_shared_interrupt(void *self)
{
    const struct tt_shared_launcher *crew = self;
    *tt_shared_fabric_interrupt_flag(crew->area) = 1;
}

bool tt_launcher_shared_order(void *self, const struct tt_run_command *order)
{
    struct tt_shared_launcher *crew = self;
    return tt_command_ring_push(tt_shared_fabric_commands(crew->area), order);
}

void tt_launcher_shared_stop(void *self, uint64_t step)
{
    const struct tt_shared_launcher *crew = self;
    tt_shared_fabric_stop(crew->area, step);
}
