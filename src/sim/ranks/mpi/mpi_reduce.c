/* SPDX-License-Identifier: MIT */
/* Decisions. Ranks of a host first, then one of each host, then the hosts again.
 *
 * Where every rank has a core, rounds with partners at distances 1, 2, 4, ... (dissemination: Hensgen, Finkel, Manber, Two
 * algorithms for barrier synchronization, 1988): all ranks work in every round. It fits because the least of a number and itself
 * is the number: it does no harm to count one twice. Where ranks share cores, work counts and not rounds: all send to
 * the first one and it answers, 2 (n - 1) messages instead of n log2 n. */
#include <stdlib.h>
#include <string.h>

#include "sim/ranks/mpi/mpi_parts.h"

static enum tutti_err init_reduce_stage(struct mpi_stage *stage, const struct mpi_world *world, int to_count,
                                        int from_count, size_t room)
{
    size_t to = (size_t)to_count, from = (size_t)from_count;
    *stage = (struct mpi_stage){.local = true};
    stage->to = calloc(to + 1, sizeof *stage->to);
    stage->sends = calloc(to + 1, sizeof *stage->sends);
    stage->receives = calloc(from + 1, sizeof *stage->receives);
    stage->out = calloc(room, sizeof *stage->out);
    stage->in = calloc(from * room + 1, sizeof *stage->in);
    return stage->to && stage->sends && stage->receives && stage->out && stage->in ? TUTTI_OK
                                                                                   : world->host->fail_memory();
}

static enum tutti_err plan_send(struct mpi_plan *plan, struct mpi_stage *stage, const struct mpi_world *world, int peer,
                                int tag)
{
    int i = stage->to_count;
    MPI_TRY(MPI_Send_init(stage->out, (int)plan->room, MPI_DOUBLE, peer, tag, world->data, &stage->sends[i]));
    stage->to[i] = peer;
    stage->to_count++;
    return TUTTI_OK;
}

static enum tutti_err plan_receive(struct mpi_plan *plan, struct mpi_stage *stage, const struct mpi_world *world,
                                   int peer, int tag)
{
    int i = stage->from_count;
    MPI_TRY(MPI_Recv_init(stage->in + (size_t)i * plan->room, (int)plan->room, MPI_DOUBLE, peer, tag, world->data,
                          &stage->receives[i]));
    stage->from_count++;
    stage->local &= world->bell_of[peer] >= 0;
    return TUTTI_OK;
}

/* Adds rounds among `count` ranks, of which this one is the n-th. */
static enum tutti_err add_reduce_rounds(struct mpi_plan *plan, const struct mpi_world *world, const int *ranks,
                                        int count, int n, int tag)
{
    for (int distance = 1; distance < count; distance *= 2, tag++) {
        struct mpi_stage *stage = &plan->stages[plan->stage_count++];
        TRY(init_reduce_stage(stage, world, 1, 1, plan->room));
        TRY(plan_send(plan, stage, world, ranks[(n + distance) % count], tag));
        TRY(plan_receive(plan, stage, world, ranks[(n + count - distance) % count], tag));
    }
    return TUTTI_OK;
}

/* Adds a round in which the first rank of the host hears all others of it (up), or speaks to them. */
static enum tutti_err add_host_round(struct mpi_plan *plan, const struct mpi_world *world, bool up, int tag)
{
    int others = world->here_count - 1;
    bool first = world->here[0] == world->rank, sends = first != up;
    if (others == 0)
        return TUTTI_OK;
    struct mpi_stage *stage = &plan->stages[plan->stage_count++];
    TRY(init_reduce_stage(stage, world, sends ? others : 0, sends ? 0 : others, plan->room));
    for (int i = first ? 1 : 0; i < (first ? world->here_count : 1); i++)
        TRY(sends ? plan_send(plan, stage, world, world->here[i], tag)
                  : plan_receive(plan, stage, world, world->here[i], tag));
    return TUTTI_OK;
}

static int index_of_rank(const int *ranks, int count, int rank)
{
    int n = 0;
    while (n < count && ranks[n] != rank)
        n++;
    return n < count ? n : -1;
}

enum tutti_err tt_mpi_fabric_init_plan(struct mpi_plan *plan, const struct mpi_world *world, size_t room, int tag)
{
    enum { MOST_STAGES = 2 + 32 };
    *plan = (struct mpi_plan){.room = room, .stages = calloc(MOST_STAGES, sizeof *plan->stages)};
    if (!plan->stages)
        return world->host->fail_memory();
    if (world->leader_count == 1 && !world->crowded)
        return add_reduce_rounds(plan, world, world->here, world->here_count, world->bell_of[world->rank], tag);
    TRY(add_host_round(plan, world, true, tag));
    int n = index_of_rank(world->leaders, world->leader_count, world->rank);
    if (n >= 0)
        TRY(add_reduce_rounds(plan, world, world->leaders, world->leader_count, n, tag + 2));
    return add_host_round(plan, world, false, tag + 1);
}

void tt_mpi_fabric_fini_plan(struct mpi_plan *plan)
{
    for (int s = 0; s < plan->stage_count; s++) {
        struct mpi_stage *stage = &plan->stages[s];
        bool gone = true;
        for (int i = 0; i < stage->to_count; i++)
            gone &= tt_mpi_fabric_cancel(&stage->sends[i], false);
        if (gone) /* else MPI may still read it */
            free(stage->out);
        gone = true;
        for (int i = 0; i < stage->from_count; i++)
            gone &= tt_mpi_fabric_cancel(&stage->receives[i], true);
        if (gone)
            free(stage->in);
        free(stage->to);
        free(stage->sends);
        free(stage->receives);
    }
    free(plan->stages);
}

static enum tutti_err run_reduce_stage(struct mpi_fabric *self, struct mpi_stage *stage, size_t room,
                                       enum tt_fabric_reduction reduction, double *values, size_t count)
{
    struct mpi_world *world = self->world;
    if (stage->from_count > 0)
        MPI_TRY(MPI_Startall(stage->from_count, stage->receives));
    if (stage->to_count > 0) {
        TRY(tt_mpi_fabric_wait(self, stage->to_count, stage->sends, false)); /* those of the time before */
        memcpy(stage->out, values, count * sizeof *values);
        MPI_TRY(MPI_Startall(stage->to_count, stage->sends));
        for (int i = 0; i < stage->to_count; i++)
            tt_mpi_world_ring(&world->bells, world->bell_of[stage->to[i]]);
    }
    if (stage->from_count > 0)
        TRY(tt_mpi_fabric_wait(self, stage->from_count, stage->receives, stage->local));
    for (int i = 0; i < stage->from_count; i++)
        world->host->combine(reduction, values, stage->in + (size_t)i * room, count);
    return TUTTI_OK;
}

enum tutti_err tt_mpi_fabric_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                                    size_t count)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    if (fabric->ranks == 1 || count == 0)
        return TUTTI_OK;
    TRY(tt_mpi_fabric_check_stop(self));
    struct mpi_plan *plan = &self->plans[count > self->plans[0].room];
    for (size_t done = 0; done < count; done += plan->room) {
        size_t part = count - done < plan->room ? count - done : plan->room;
        for (int s = 0; s < plan->stage_count; s++)
            TRY(run_reduce_stage(self, &plan->stages[s], plan->room, reduction, values + done, part));
    }
    return TUTTI_OK;
}
