/* SPDX-License-Identifier: MIT */
#include "sim/signals/channels.h"

#include <stdlib.h>

/* A node on its way from the rank that has it to one that reads it. */
struct signal_trip {
    uint32_t node;
    int32_t from, to;
    size_t offset; /* of its values in the signals */
};

struct signal_trips {
    struct signal_trip *items;
    size_t count, room;
};

static enum tutti_err add_trip(struct signal_trips *trips, const struct tt_channels *channels, uint32_t node,
                               int32_t to)
{
    const char *values = channels->wires->slots[node].values;
    if (trips->count == trips->room) {
        size_t room = 2 * trips->room + 64;
        struct signal_trip *more = realloc(trips->items, room * sizeof *more);
        if (!more)
            return tt_fail_memory();
        trips->items = more;
        trips->room = room;
    }
    trips->items[trips->count++] =
        (struct signal_trip){node, channels->place[channels->wires->structure->nodes[node].component], to,
                             (size_t)(values - channels->wires->signals)};
    return TUTTI_OK;
}

/* By the pair of ranks, then in the order of the signals. */
static int compare_trips(const void *a, const void *b)
{
    const struct signal_trip *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    if (x->to != y->to)
        return x->to < y->to ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->node < y->node ? -1 : x->node > y->node; /* arrays without elements */
}

static void sort_trips(struct signal_trips *trips)
{
    size_t kept = 0;
    if (trips->count > 0)
        qsort(trips->items, trips->count, sizeof *trips->items, compare_trips);
    for (size_t i = 0; i < trips->count; i++)
        if (i == 0 || compare_trips(&trips->items[i], &trips->items[i - 1]) != 0)
            trips->items[kept++] = trips->items[i];
    trips->count = kept;
}

/* Along the connections. */
static enum tutti_err find_readers(const struct tt_channels *channels, bool start, struct signal_trips *trips)
{
    for (uint32_t c = 0; c < channels->wires->structure->system->connection_count; c++) {
        const struct tt_connection *connection = &channels->wires->structure->system->connections[c];
        const struct tt_end *from = &connection->from, *to = &connection->to;
        if (from->component == TUTTI_NONE || to->component == TUTTI_NONE || (connection->at_start_only && !start))
            continue;
        uint32_t node = tt_structure_find(channels->wires->structure, from->component, from->variable, true);
        if (channels->place[from->component] != channels->place[to->component])
            TRY(add_trip(trips, channels, node, channels->place[to->component]));
    }
    return TUTTI_OK;
}

static enum tutti_err channels_find_all(const struct tt_channels *channels, struct signal_trips *trips)
{
    for (uint32_t i = 0; i < channels->wires->real_count; i++) {
        const struct tt_real_signal *real = &channels->wires->reals[i];
        if (i > 0 && real->node == channels->wires->reals[i - 1].node)
            continue;
        for (int rank = 0; rank < channels->fabric->ranks; rank++)
            if (rank != channels->place[real->component])
                TRY(add_trip(trips, channels, real->node, rank));
    }
    return TUTTI_OK;
}

/* ---- from trips to links ---- */

static void channel_add_node(const struct tt_channels *channels, struct tt_cargo *cargo, uint32_t node, bool texts)
{
    const struct tt_slot *slot = &channels->wires->slots[node];
    size_t offset = (size_t)((const char *)slot->values - channels->wires->signals);
    if (slot->owned) {
        if (texts)
            cargo->texts[cargo->text_count++] = (struct tt_cargo_text){
                .offset = offset, .type = (enum tt_type)slot->type, .count = slot->count, .owned = slot->owned};
        return;
    }
    size_t size = slot->count * tt_type_size((enum tt_type)slot->type);
    uint32_t n = cargo->piece_count;
    cargo->size += size;
    if (n > 0 && cargo->pieces[n - 1].offset + cargo->pieces[n - 1].size == offset)
        cargo->pieces[n - 1].size += size;
    else
        cargo->pieces[cargo->piece_count++] = (struct tt_cargo_piece){offset, size};
}

struct channel_filter {
    const uint32_t *waves; /* per component; NULL: all */
    uint32_t wave;
    bool reals; /* Float64 only */
};

static bool channel_filter_accepts(const struct tt_channels *channels, const struct channel_filter *filter,
                                   uint32_t node)
{
    if (filter->waves && filter->waves[channels->wires->structure->nodes[node].component] != filter->wave)
        return false;
    return !filter->reals || channels->wires->slots[node].type == TUTTI_TYPE_FLOAT64;
}

static enum tutti_err channels_fill_cargo(struct tt_channels *channels, const struct signal_trips *trips,
                                          const struct channel_filter *filter, int32_t from, int32_t to,
                                          struct tt_cargo *cargo)
{
    size_t count = 0;
    *cargo = (struct tt_cargo){0};
    for (size_t i = 0; i < trips->count; i++)
        count += trips->items[i].from == from && trips->items[i].to == to &&
                 channel_filter_accepts(channels, filter, trips->items[i].node);
    if (count == 0)
        return TUTTI_OK;
    cargo->pieces = tt_arena_array(channels->arena, count, sizeof *cargo->pieces);
    cargo->texts = tt_arena_array(channels->arena, count, sizeof *cargo->texts);
    if (!cargo->pieces || !cargo->texts)
        return tt_fail_memory();
    for (size_t i = 0; i < trips->count; i++)
        if (trips->items[i].from == from && trips->items[i].to == to &&
            channel_filter_accepts(channels, filter, trips->items[i].node))
            channel_add_node(channels, cargo, trips->items[i].node, !filter->reals);
    return TUTTI_OK;
}

static enum tutti_err add_channel(struct tt_channels *channels, const struct signal_trips *trips,
                                  const struct channel_filter *filter)
{
    struct tt_channel *channel = &channels->channels[channels->count];
    int rank = channels->fabric->rank, ranks = channels->fabric->ranks;
    channel->links = tt_arena_array(channels->arena, (size_t)ranks, sizeof *channel->links);
    if (!channel->links)
        return tt_fail_memory();
    for (int peer = 0; peer < ranks; peer++) {
        struct tt_channel_link link = {.peer = peer};
        TRY(channels_fill_cargo(channels, trips, filter, rank, peer, &link.out));
        TRY(channels_fill_cargo(channels, trips, filter, peer, rank, &link.in));
        if (!tt_fabric_cargo_is_empty(&link.out) || !tt_fabric_cargo_is_empty(&link.in))
            channel->links[channel->link_count++] = link;
    }
    channels->count++;
    return channels->fabric->kind->open(channels->fabric, channel);
}

/* Returns true if any rank has data to send. Then all of them open the channel. */
static bool channel_is_used(const struct tt_channels *channels, const struct signal_trips *trips,
                            const struct channel_filter *filter)
{
    for (size_t i = 0; i < trips->count; i++)
        if (channel_filter_accepts(channels, filter, trips->items[i].node))
            return true;
    return false;
}

/* ---- opening ---- */

static enum tutti_err open_start_channel(struct tt_channels *channels, struct signal_trips *trips)
{
    TRY(find_readers(channels, true, trips));
    sort_trips(trips);
    /* A wave per unit at the most. */
    size_t most = TUTTI_CHANNEL_WAVES + (size_t)channels->wires->structure->system->component_count;
    channels->channels = tt_arena_array(channels->arena, most, sizeof *channels->channels);
    if (!channels->channels)
        return tt_fail_memory();
    return add_channel(channels, trips, &(struct channel_filter){0});
}

enum tutti_err tt_channels_open_start(struct tt_channels *channels)
{
    struct signal_trips trips = {0};
    if (channels->fabric->ranks == 1)
        return TUTTI_OK;
    enum tutti_err err = open_start_channel(channels, &trips);
    free(trips.items);
    return err;
}

static enum tutti_err open_wave_channels(struct tt_channels *channels, const struct signal_trips *trips,
                                         const struct tt_step_sequence *sequence)
{
    uint32_t *waves =
        tt_arena_array(channels->arena, channels->wires->structure->system->component_count, sizeof *waves);
    channels->of_wave = tt_arena_array(channels->arena, sequence->wave_count, sizeof *waves);
    if (!waves || !channels->of_wave)
        return tt_fail_memory();
    for (uint32_t w = 0; w < sequence->wave_count; w++)
        for (uint32_t i = sequence->wave_first[w]; i < sequence->wave_first[w + 1]; i++)
            waves[sequence->components[i]] = w;
    for (uint32_t w = 0; w < sequence->wave_count; w++) {
        struct channel_filter filter = {.waves = waves, .wave = w};
        bool used = channel_is_used(channels, trips, &filter);
        channels->of_wave[w] = used ? channels->count : TUTTI_NONE;
        if (used)
            TRY(add_channel(channels, trips, &filter));
    }
    return TUTTI_OK;
}

static enum tutti_err open_run_channel(struct tt_channels *channels, bool all, const struct tt_step_sequence *sequence,
                                       struct signal_trips *trips)
{
    TRY(find_readers(channels, false, trips));
    if (all)
        TRY(channels_find_all(channels, trips));
    sort_trips(trips);
    channels->texts = false;
    for (size_t i = 0; i < trips->count && !channels->texts; i++)
        channels->texts = channels->wires->slots[trips->items[i].node].owned;
    channels->rates = tt_arena_alloc(channels->arena, channels->wires->signal_size);
    if (!channels->rates)
        return tt_fail_memory();
    TRY(add_channel(channels, trips, &(struct channel_filter){0}));
    TRY(add_channel(channels, trips, &(struct channel_filter){.reals = true}));
    return sequence ? open_wave_channels(channels, trips, sequence) : TUTTI_OK;
}

enum tutti_err tt_channels_open(struct tt_channels *channels, bool all, const struct tt_step_sequence *sequence)
{
    struct signal_trips trips = {0};
    if (channels->fabric->ranks == 1)
        return TUTTI_OK;
    enum tutti_err err = open_run_channel(channels, all, sequence, &trips);
    free(trips.items);
    return err;
}

/* ---- exchanging ---- */

static enum tutti_err channels_exchange(struct tt_channels *channels, uint32_t channel, char *base)
{
    if (__builtin_expect(!channels->channels, 1)) { /* a single rank has no peers */
        channels->fabric->exchanges++;
        return TUTTI_OK;
    }
    return channel == TUTTI_NONE ? TUTTI_OK : channels->fabric->kind->exchange(channels->fabric, channel, base);
}

enum tutti_err tt_channels_exchange(struct tt_channels *channels)
{
    return channels_exchange(channels, TUTTI_CHANNEL_RUN, channels->wires->signals);
}

enum tutti_err tt_channels_exchange_at(struct tt_channels *channels, char *base)
{
    return channels->channels ? channels_exchange(channels, TUTTI_CHANNEL_RUN, base) : TUTTI_OK;
}

enum tutti_err tt_channels_exchange_start(struct tt_channels *channels)
{
    return channels_exchange(channels, TUTTI_CHANNEL_START, channels->wires->signals);
}

enum tutti_err tt_channels_exchange_wave(struct tt_channels *channels, uint32_t wave)
{
    return channels_exchange(channels, channels->of_wave ? channels->of_wave[wave] : TUTTI_CHANNEL_RUN,
                             channels->wires->signals);
}

enum tutti_err tt_channels_exchange_rates(struct tt_channels *channels, double *values)
{
    double *rates = (double *)(void *)channels->rates;
    if (channels->fabric->ranks == 1)
        return TUTTI_OK;
    for (uint32_t i = 0; i < channels->wires->real_count; i++)
        rates[channels->wires->reals[i].place] = values[i];
    TRY(channels_exchange(channels, TUTTI_CHANNEL_RATES, channels->rates));
    for (uint32_t i = 0; i < channels->wires->real_count; i++)
        values[i] = rates[channels->wires->reals[i].place];
    return TUTTI_OK;
}
