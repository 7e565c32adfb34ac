/* SPDX-License-Identifier: MIT */
/* Boundary signals: one persistent request per link, channel and direction. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "sim/ranks/mpi/mpi_fabric.h"

enum {
    SLACK = 256, /* bytes for texts in the fixed part, so that short ones need no second message */
    SMALL = 8192 /* what MPICH hands over at once between processes of a host; more takes turns of both sides */
};
static const uint64_t CREDIT = 32; /* messages of one direction per credit; two such runs may be under way */

/* ---- a channel ---- */

static enum tutti_err init_transfer(struct mpi_transfer *way, const struct mpi_world *world,
                                    const struct tt_cargo *cargo, int peer)
{
    *way = (struct mpi_transfer){.cargo = cargo, .peer = peer, .fixed_size = cargo->size};
    if (cargo->text_count > 0) {
        way->fixed_size += sizeof(uint64_t) + SLACK;
        for (uint32_t t = 0; t < cargo->text_count; t++)
            way->fixed_size += cargo->texts[t].count * sizeof(uint64_t);
    }
    if (way->fixed_size > INT_MAX)
        return world->host->fail(TUTTI_ERR_LIMIT,
                                 "rank %d and rank %d share more signals than fit into a message of MPI", world->rank,
                                 peer);
    way->fixed = calloc(1, way->fixed_size);
    return way->fixed ? TUTTI_OK : world->host->fail_memory();
}

static MPI_Request *new_mpi_requests(size_t count)
{
    MPI_Request *requests = malloc((count + 1) * sizeof *requests);
    for (size_t i = 0; requests && i < count; i++)
        requests[i] = MPI_REQUEST_NULL;
    return requests;
}

static enum tutti_err new_mpi_channel(struct mpi_channel **out, const struct mpi_world *world, size_t links)
{
    struct mpi_channel *channel = *out = calloc(1, sizeof *channel);
    if (!channel)
        return world->host->fail_memory();
    channel->out = calloc(links + 1, sizeof *channel->out);
    channel->in = calloc(links + 1, sizeof *channel->in);
    channel->credit_in = calloc(links + 1, sizeof *channel->credit_in);
    channel->credit_out = calloc(links + 1, sizeof *channel->credit_out);
    channel->sends = new_mpi_requests(links);
    channel->receives = new_mpi_requests(links);
    channel->tails = new_mpi_requests(2 * links);
    channel->credits_in = new_mpi_requests(links);
    channel->credits_out = new_mpi_requests(links);
    return channel->out && channel->in && channel->credit_in && channel->credit_out && channel->sends &&
                   channel->receives && channel->tails && channel->credits_in && channel->credits_out
               ? TUTTI_OK
               : world->host->fail_memory();
}

static enum tutti_err add_outgoing(struct mpi_channel *channel, const struct mpi_world *world,
                                   const struct tt_channel_link *link, int tag)
{
    int i = channel->out_count;
    TRY(init_transfer(&channel->out[i], world, &link->out, link->peer));
    channel->out_count++;
    MPI_TRY(MPI_Send_init(channel->out[i].fixed, (int)channel->out[i].fixed_size, MPI_BYTE, link->peer, tag,
                          world->data, &channel->sends[i]));
    if (!tt_fabric_cargo_is_empty(&link->in))
        return TUTTI_OK;
    channel->has_credits = true;
    MPI_TRY(MPI_Recv_init(NULL, 0, MPI_BYTE, link->peer, tag + 2, world->data, &channel->credits_in[i]));
    return tt_mpi_world_check(MPI_Start(&channel->credits_in[i]));
}

static enum tutti_err add_incoming(struct mpi_channel *channel, const struct mpi_world *world,
                                   const struct tt_channel_link *link, int tag)
{
    int i = channel->in_count;
    TRY(init_transfer(&channel->in[i], world, &link->in, link->peer));
    channel->in_count++;
    channel->local &= world->bell_of[link->peer] >= 0 && channel->in[i].fixed_size <= SMALL;
    MPI_TRY(MPI_Recv_init(channel->in[i].fixed, (int)channel->in[i].fixed_size, MPI_BYTE, link->peer, tag, world->data,
                          &channel->receives[i]));
    if (!tt_fabric_cargo_is_empty(&link->out))
        return TUTTI_OK;
    channel->has_credits = true;
    return tt_mpi_world_check(
        MPI_Send_init(NULL, 0, MPI_BYTE, link->peer, tag + 2, world->data, &channel->credits_out[i]));
}

enum tutti_err tt_mpi_exchange_open_channel(struct tt_fabric *fabric, const struct tt_channel *description)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    const struct mpi_world *world = self->world;
    struct mpi_channel **more = realloc(self->channels, (self->channel_count + 1) * sizeof *more), *channel;
    if (!more)
        return world->host->fail_memory();
    self->channels = more;
    enum tutti_err err = new_mpi_channel(&channel, world, description->link_count);
    if (channel)
        channel->local = true;
    int tag = TUTTI_MPI_TAG_FIRST_CHANNEL + 3 * (int)self->channel_count;
    for (uint32_t l = 0; err == TUTTI_OK && l < description->link_count; l++) {
        const struct tt_channel_link *link = &description->links[l];
        if (!tt_fabric_cargo_is_empty(&link->out))
            err = add_outgoing(channel, world, link, tag);
        if (err == TUTTI_OK && !tt_fabric_cargo_is_empty(&link->in))
            err = add_incoming(channel, world, link, tag);
        channel->has_texts |= link->out.text_count > 0 || link->in.text_count > 0;
    }
    if (err) {
        tt_mpi_exchange_free_channel(channel);
        return err;
    }
    self->channels[self->channel_count++] = channel;
    return TUTTI_OK;
}

/* Buffers that MPI may still read are kept at the end of a stopped run. */
static void fini_transfer(struct mpi_transfer *way, MPI_Request *request, MPI_Request *tail, bool is_receive)
{
    if (tt_mpi_fabric_cancel(request, is_receive))
        free(way->fixed);
    if (tt_mpi_fabric_cancel(tail, is_receive))
        free(way->whole);
}

void tt_mpi_exchange_free_channel(struct mpi_channel *channel)
{
    if (!channel)
        return;
    for (int i = 0; i < channel->out_count; i++) {
        fini_transfer(&channel->out[i], &channel->sends[i], &channel->tails[i], false);
        tt_mpi_fabric_cancel(&channel->credits_in[i], true);
    }
    for (int i = 0; i < channel->in_count; i++) {
        fini_transfer(&channel->in[i], &channel->receives[i], &channel->tails[channel->out_count + i], true);
        tt_mpi_fabric_cancel(&channel->credits_out[i], false);
    }
    free(channel->out);
    free(channel->in);
    free(channel->credit_in);
    free(channel->credit_out);
    free(channel->sends);
    free(channel->receives);
    free(channel->tails);
    free(channel->credits_in);
    free(channel->credits_out);
    free(channel);
}

/* ---- messages with texts ---- */

static enum tutti_err mpi_exchange_allocate(struct mpi_transfer *way, const struct mpi_world *world, uint64_t size)
{
    size_t head = way->fixed_size - sizeof size;
    if (size - head > INT_MAX)
        return world->host->fail(TUTTI_ERR_LIMIT, "texts of %llu bytes between two ranks: MPI takes at most %d",
                                 (unsigned long long)size, INT_MAX);
    if (size <= way->room)
        return TUTTI_OK;
    char *more = realloc(way->whole, size + size / 2);
    if (!more)
        return world->host->fail_memory();
    way->whole = more;
    way->room = size + size / 2;
    return TUTTI_OK;
}

static enum tutti_err mpi_exchange_pack_texts(struct mpi_transfer *way, const struct mpi_world *world, const char *base,
                                              int tag, MPI_Request *tail)
{
    uint64_t size = world->host->cargo_size(way->cargo, base);
    size_t head = way->fixed_size - sizeof size;
    memcpy(way->fixed, &size, sizeof size);
    if (size <= head) {
        world->host->cargo_pack(way->cargo, base, way->fixed + sizeof size);
        return TUTTI_OK;
    }
    TRY(mpi_exchange_allocate(way, world, size));
    world->host->cargo_pack(way->cargo, base, way->whole);
    memcpy(way->fixed + sizeof size, way->whole, head);
    return tt_mpi_world_check(
        MPI_Isend(way->whole + head, (int)(size - head), MPI_BYTE, way->peer, tag + 1, world->data, tail));
}

static enum tutti_err mpi_exchange_unpack(struct mpi_transfer *way, const struct mpi_world *world, char *base)
{
    if (way->cargo->text_count == 0)
        return world->host->cargo_unpack(way->cargo, base, way->fixed, way->fixed_size);
    uint64_t size;
    memcpy(&size, way->fixed, sizeof size);
    const char *message = size <= way->fixed_size - sizeof size ? way->fixed + sizeof size : way->whole;
    return world->host->cargo_unpack(way->cargo, base, message, size);
}

/* Receives the second messages, where the first ones announce them. */
static enum tutti_err receive_text_tails(struct mpi_fabric *self, struct mpi_channel *channel, int tag)
{
    const struct mpi_world *world = self->world;
    MPI_Request *tails = channel->tails + channel->out_count;
    for (int i = 0; i < channel->in_count; i++) {
        struct mpi_transfer *way = &channel->in[i];
        uint64_t size;
        if (way->cargo->text_count == 0)
            continue;
        memcpy(&size, way->fixed, sizeof size);
        size_t head = way->fixed_size - sizeof size;
        if (size <= head)
            continue;
        TRY(mpi_exchange_allocate(way, world, size));
        memcpy(way->whole, way->fixed + sizeof size, head);
        MPI_TRY(MPI_Irecv(way->whole + head, (int)(size - head), MPI_BYTE, way->peer, tag + 1, world->data, &tails[i]));
    }
    return tt_mpi_fabric_wait(self, channel->in_count, tails, false);
}

/* ---- credit ---- */

static enum tutti_err wait_for_credit(struct mpi_fabric *self, struct mpi_channel *channel)
{
    for (int i = 0; i < channel->out_count; i++) {
        struct mpi_credit *credit = &channel->credit_in[i];
        if (channel->credits_in[i] == MPI_REQUEST_NULL)
            continue;
        if (credit->messages++ - credit->known >= 2 * CREDIT) {
            TRY(tt_mpi_fabric_wait(self, 1, &channel->credits_in[i], self->world->bell_of[channel->out[i].peer] >= 0));
            credit->known += CREDIT;
            MPI_TRY(MPI_Start(&channel->credits_in[i]));
        }
    }
    return TUTTI_OK;
}

static enum tutti_err send_credit(struct mpi_fabric *self, struct mpi_channel *channel)
{
    for (int i = 0; i < channel->in_count; i++) {
        if (channel->credits_out[i] == MPI_REQUEST_NULL || ++channel->credit_out[i].messages % CREDIT != 0)
            continue;
        TRY(tt_mpi_fabric_wait(self, 1, &channel->credits_out[i], false));
        MPI_TRY(MPI_Start(&channel->credits_out[i]));
        tt_mpi_world_ring(&self->world->bells, self->world->bell_of[channel->in[i].peer]);
    }
    return TUTTI_OK;
}

/* ---- the exchange ---- */

enum tutti_err tt_mpi_exchange_finish_channel(struct mpi_fabric *self, struct mpi_channel *channel)
{
    TRY(tt_mpi_fabric_wait(self, channel->out_count, channel->sends, false));
    return channel->has_texts ? tt_mpi_fabric_wait(self, channel->out_count, channel->tails, false) : TUTTI_OK;
}

static enum tutti_err mpi_exchange_send_all(struct mpi_fabric *self, struct mpi_channel *channel, const char *base,
                                            int tag)
{
    struct mpi_world *world = self->world;
    TRY(tt_mpi_exchange_finish_channel(self, channel)); /* buffers of the time before */
    if (channel->has_credits)
        TRY(wait_for_credit(self, channel));
    for (int i = 0; i < channel->out_count; i++) {
        struct mpi_transfer *way = &channel->out[i];
        if (way->cargo->text_count > 0)
            TRY(mpi_exchange_pack_texts(way, world, base, tag, &channel->tails[i]));
        else
            world->host->cargo_pack(way->cargo, base, way->fixed);
        MPI_TRY(MPI_Start(&channel->sends[i]));
        tt_mpi_world_ring(&world->bells, world->bell_of[way->peer]);
    }
    return TUTTI_OK;
}

static enum tutti_err mpi_exchange_transfer(struct mpi_fabric *self, struct mpi_channel *channel, char *base, int tag)
{
    TRY(tt_mpi_fabric_check_stop(self));
    if (channel->in_count > 0)
        MPI_TRY(MPI_Startall(channel->in_count, channel->receives));
    if (channel->out_count > 0)
        TRY(mpi_exchange_send_all(self, channel, base, tag));
    if (channel->in_count > 0)
        TRY(tt_mpi_fabric_wait(self, channel->in_count, channel->receives, channel->local));
    if (channel->has_texts)
        TRY(receive_text_tails(self, channel, tag));
    for (int i = 0; i < channel->in_count; i++)
        TRY(mpi_exchange_unpack(&channel->in[i], self->world, base));
    return channel->has_credits ? send_credit(self, channel) : TUTTI_OK;
}

enum tutti_err tt_mpi_exchange_run(struct tt_fabric *fabric, uint32_t number, char *base)
{
    struct mpi_fabric *self = (struct mpi_fabric *)fabric;
    fabric->exchanges++;
    if (fabric->ranks == 1)
        return TUTTI_OK;
    struct mpi_channel *channel = self->channels[number];
    if (channel->broken)
        return self->world->host->stopped();
    enum tutti_err err = mpi_exchange_transfer(self, channel, base, TUTTI_MPI_TAG_FIRST_CHANNEL + 3 * (int)number);
    channel->broken = err != TUTTI_OK;
    return err;
}
