/* SPDX-License-Identifier: MIT */
/* Channels: a mailbox for each pair of ranks and each direction that has something to carry. The writer packs straight into a
 * slot, the reader unpacks straight from it. The writer may be SHARED_SLOTS messages ahead. */
#include <stdlib.h>
#include <string.h>

#include "fabric/shared_parts.h"

/* Memory of this rank's room, zeroed, at the start of a line. */
static void *allocate(struct shared_rank *self, size_t size)
{
    struct tutti_shared *area = self->area;
    size_t lines = (size + SHARED_LINE - 1) & ~(size_t)(SHARED_LINE - 1);
    if (lines < size || lines > area->room - self->used) {
        (void)tutti_fail(TUTTI_ERR_LIMIT,
                         "rank %d has no room for the signals that it sends: %zu of %zu bytes are taken, %zu more are "
                         "needed; use fewer ranks, or place units that exchange Strings or Binaries on one rank "
                         "(--place)",
                         self->fabric.rank, self->used, area->room, size);
        return NULL;
    }
    void *memory = area->rooms + (size_t)self->fabric.rank * area->room + self->used;
    self->used += lines;
    return memory;
}

/* Makes the mailbox of an outgoing link, and tells the peer where it is. */
static enum tutti_err make_mailbox(struct shared_rank *self, struct shared_end *end)
{
    const struct tutti_cargo *cargo = end->cargo;
    struct shared_mailbox *box = allocate(self, sizeof *box);
    if (!box)
        return TUTTI_ERR_LIMIT;
    box->room = cargo->text_count ? cargo->size + SHARED_TEXT_ROOM : cargo->size;
    for (int i = 0; i < SHARED_SLOTS; i++) {
        box->slots[i] = allocate(self, sizeof *box->slots[i] + box->room);
        if (!box->slots[i])
            return TUTTI_ERR_LIMIT;
    }
    struct shared_cell *cell = self->next_out[end->peer];
    self->next_out[end->peer] = &box->next;
    end->box = box;
    cell->box = box;
    tutti_shared_publish(&cell->made, 1, &cell->waiting);
    return TUTTI_OK;
}

/* Waits until the peer has made the mailbox of an incoming link. */
static enum tutti_err find_mailbox(struct shared_rank *self, struct shared_end *end)
{
    struct shared_cell *cell = self->next_in[end->peer];
    if (!atomic_load(&cell->made))
        TRY(tutti_shared_wait(self, &cell->made, 0, &cell->waiting, false));
    end->box = cell->box;
    self->next_in[end->peer] = &end->box->next;
    return TUTTI_OK;
}

enum tutti_err tutti_shared_open(struct tutti_fabric *fabric, const struct tutti_channel *channel)
{
    struct shared_rank *self = (struct shared_rank *)fabric;
    struct shared_channel *channels = realloc(self->channels, (self->channel_count + 1) * sizeof *channels);
    if (!channels)
        return tutti_fail_memory();
    self->channels = channels;
    struct shared_channel *opened = &channels[self->channel_count++];
    *opened = (struct shared_channel){.outs = calloc(channel->link_count + 1, sizeof *opened->outs),
                                      .ins = calloc(channel->link_count + 1, sizeof *opened->ins)};
    if (!opened->outs || !opened->ins)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < channel->link_count; i++) {
        const struct tutti_link *link = &channel->links[i];
        if (!tutti_cargo_is_empty(&link->out))
            opened->outs[opened->out_count++] = (struct shared_end){.cargo = &link->out, .peer = link->peer};
        if (!tutti_cargo_is_empty(&link->in))
            opened->ins[opened->in_count++] = (struct shared_end){.cargo = &link->in, .peer = link->peer};
    }
    for (uint32_t i = 0; i < opened->out_count; i++)
        TRY(make_mailbox(self, &opened->outs[i]));
    for (uint32_t i = 0; i < opened->in_count; i++)
        TRY(find_mailbox(self, &opened->ins[i]));
    return TUTTI_OK;
}

static enum tutti_err is_too_large(const struct shared_rank *self, const struct shared_end *end, size_t size)
{
    return tutti_fail(
        TUTTI_ERR_LIMIT,
        "what rank %d sends to rank %d in one exchange has %zu bytes, more than the %zu that there is room "
        "for; place the units that exchange such Strings or Binaries on one rank (--place)",
        self->fabric.rank, end->peer, size, end->box->room);
}

static inline enum tutti_err send(struct shared_rank *self, struct shared_end *end, const char *base)
{
    struct shared_mailbox *box = end->box;
    const struct tutti_cargo *cargo = end->cargo;
    struct shared_slot *slot = box->slots[end->count % SHARED_SLOTS];
    size_t size = cargo->size;
    if (end->count - end->taken == SHARED_SLOTS) {
        uint32_t full = end->count - SHARED_SLOTS;
        end->taken = atomic_load_explicit(&box->taken, memory_order_acquire);
        if (end->taken == full) {
            TRY(tutti_shared_wait(self, &box->taken, full, &box->writer_waiting, false));
            end->taken = atomic_load_explicit(&box->taken, memory_order_acquire);
        }
    }
    if (cargo->text_count) {
        size = tutti_cargo_size(cargo, base);
        if (size > box->room)
            return is_too_large(self, end, size);
    }
    slot->size = size;
    tutti_cargo_pack(cargo, base, slot->bytes);
    tutti_shared_publish(&slot->stamp, ++end->count, &box->reader_waiting);
    return TUTTI_OK;
}

static inline enum tutti_err receive(struct shared_rank *self, struct shared_end *end, char *base)
{
    struct shared_mailbox *box = end->box;
    struct shared_slot *slot = box->slots[end->count % SHARED_SLOTS];
    uint32_t stamp = ++end->count, before = atomic_load_explicit(&slot->stamp, memory_order_acquire);
    if (before != stamp)
        TRY(tutti_shared_wait(self, &slot->stamp, before, &box->reader_waiting, false));
    enum tutti_err err = tutti_cargo_unpack(end->cargo, base, slot->bytes, slot->size);
    tutti_shared_publish(&box->taken, stamp, &box->writer_waiting);
    return err;
}

enum tutti_err tutti_shared_exchange(struct tutti_fabric *fabric, uint32_t channel, char *base)
{
    struct shared_rank *self = (struct shared_rank *)fabric;
    if (fabric->ranks == 1) { /* who is alone need not even open channels */
        fabric->exchanges++;
        return TUTTI_OK;
    }
    struct shared_channel *open = &self->channels[channel];
    for (uint32_t i = 0; i < open->out_count; i++)
        TRY(send(self, &open->outs[i], base));
    for (uint32_t i = 0; i < open->in_count; i++)
        TRY(receive(self, &open->ins[i], base));
    fabric->exchanges++;
    return TUTTI_OK;
}
