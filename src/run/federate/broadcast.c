/* SPDX-License-Identifier: MIT */
/* Ranks have minima and maxima of doubles to agree by (fabric.h). A double holds six bytes as a whole number; who does not know them has 0. */
#include "run/federate/broadcast.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "sim/rank_agree.h"

enum { BYTES = 6 };

static size_t doubles_for_bytes(size_t bytes)
{
    return (bytes + BYTES - 1) / BYTES;
}

static void broadcast_pack(const struct tt_byte_writer *parcel, double *numbers)
{
    for (size_t i = 0; i < parcel->size; i += BYTES) {
        uint64_t whole = 0;
        for (size_t b = i; b < i + BYTES; b++)
            whole = whole << 8 | (b < parcel->size ? (uint8_t)parcel->bytes[b] : 0U);
        numbers[i / BYTES] = (double)whole;
    }
}

static enum tutti_err broadcast_unpack(struct tt_byte_writer *parcel, const double *numbers, size_t size)
{
    tt_bytes_reset(parcel);
    char *bytes = tt_bytes_extend(parcel, size);
    for (size_t i = 0; bytes && i < size; i++)
        bytes[i] = (char)((uint64_t)numbers[i / BYTES] >> 8 * (BYTES - 1 - i % BYTES));
    return parcel->failed ? tt_fail_memory() : TUTTI_OK;
}

static enum tutti_err broadcast_reserve(struct tt_broadcast_buffer *spread, size_t count)
{
    return tt_vector_reserve(&spread->numbers, &spread->room, count, sizeof *spread->numbers) ? TUTTI_OK
                                                                                              : tt_fail_memory();
}

/* Sizes first, then what all of them need. */
static enum tutti_err broadcast_values(struct tt_broadcast_buffer *spread, struct tt_rank *rank,
                                       struct tt_byte_writer *parcels, const bool *mine, const size_t *sizes,
                                       size_t count)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        total += doubles_for_bytes(sizes[i]);
    TRY(broadcast_reserve(spread, total + 1));
    memset(spread->numbers, 0, (total + 1) * sizeof *spread->numbers);
    for (size_t i = 0; i < count; at += doubles_for_bytes(sizes[i++]))
        if (mine[i])
            broadcast_pack(&parcels[i], spread->numbers + at);
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, spread->numbers, total));
    at = 0;
    for (size_t i = 0; i < count; at += doubles_for_bytes(sizes[i++]))
        if (!mine[i])
            TRY(broadcast_unpack(&parcels[i], spread->numbers + at, sizes[i]));
    return TUTTI_OK;
}

enum tutti_err tt_run_federate_broadcast(struct tt_broadcast_buffer *spread, struct tt_rank *rank,
                                         struct tt_byte_writer *parcels, const bool *mine, size_t count)
{
    if (rank->fabric->ranks == 1 || count == 0)
        return TUTTI_OK;
    TRY(broadcast_reserve(spread, count));
    for (size_t i = 0; i < count; i++)
        spread->numbers[i] = mine[i] ? (double)parcels[i].size : 0;
    TRY(tt_rank_reduce(rank, TUTTI_REDUCE_MAX, spread->numbers, count));
    size_t *sizes = calloc(count, sizeof *sizes);
    if (!sizes)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        sizes[i] = (size_t)spread->numbers[i];
    enum tutti_err err = broadcast_values(spread, rank, parcels, mine, sizes, count);
    free(sizes);
    return err;
}

void tt_run_federate_free_broadcast(struct tt_broadcast_buffer *spread)
{
    free(spread->numbers);
    *spread = (struct tt_broadcast_buffer){0};
}
