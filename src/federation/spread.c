/* SPDX-License-Identifier: MIT */
/* Ranks have minima and maxima of doubles to agree by (fabric.h). A double holds six bytes as a whole number; who does not know them has 0. */
#include "federation/spread.h"

#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "rank/agree.h"

enum { BYTES = 6 };

static size_t numbers_of(size_t bytes)
{
    return (bytes + BYTES - 1) / BYTES;
}

static void put(const struct tutti_parcel *parcel, double *numbers)
{
    for (size_t i = 0; i < parcel->size; i += BYTES) {
        uint64_t whole = 0;
        for (size_t b = i; b < i + BYTES; b++)
            whole = whole << 8 | (b < parcel->size ? (uint8_t)parcel->bytes[b] : 0U);
        numbers[i / BYTES] = (double)whole;
    }
}

static enum tutti_err get(struct tutti_parcel *parcel, const double *numbers, size_t size)
{
    tutti_parcel_reset(parcel);
    char *bytes = tutti_parcel_extend(parcel, size);
    for (size_t i = 0; bytes && i < size; i++)
        bytes[i] = (char)((uint64_t)numbers[i / BYTES] >> 8 * (BYTES - 1 - i % BYTES));
    return parcel->failed ? tutti_fail_memory() : TUTTI_OK;
}

static enum tutti_err reserve(struct tutti_spread *spread, size_t count)
{
    return tutti_vector_reserve(&spread->numbers, &spread->room, count, sizeof *spread->numbers) ? TUTTI_OK
                                                                                                 : tutti_fail_memory();
}

/* Sizes first, then what all of them need. */
static enum tutti_err spread_all(struct tutti_spread *spread, struct tutti_rank *rank, struct tutti_parcel *parcels,
                                 const bool *mine, const size_t *sizes, size_t count)
{
    size_t total = 0, at = 0;
    for (size_t i = 0; i < count; i++)
        total += numbers_of(sizes[i]);
    TRY(reserve(spread, total + 1));
    memset(spread->numbers, 0, (total + 1) * sizeof *spread->numbers);
    for (size_t i = 0; i < count; at += numbers_of(sizes[i++]))
        if (mine[i])
            put(&parcels[i], spread->numbers + at);
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, spread->numbers, total));
    at = 0;
    for (size_t i = 0; i < count; at += numbers_of(sizes[i++]))
        if (!mine[i])
            TRY(get(&parcels[i], spread->numbers + at, sizes[i]));
    return TUTTI_OK;
}

enum tutti_err tutti_spread(struct tutti_spread *spread, struct tutti_rank *rank, struct tutti_parcel *parcels,
                            const bool *mine, size_t count)
{
    if (rank->fabric->ranks == 1 || count == 0)
        return TUTTI_OK;
    TRY(reserve(spread, count));
    for (size_t i = 0; i < count; i++)
        spread->numbers[i] = mine[i] ? (double)parcels[i].size : 0;
    TRY(tutti_reduce(rank, TUTTI_REDUCE_MAX, spread->numbers, count));
    size_t *sizes = calloc(count, sizeof *sizes);
    if (!sizes)
        return tutti_fail_memory();
    for (size_t i = 0; i < count; i++)
        sizes[i] = (size_t)spread->numbers[i];
    enum tutti_err err = spread_all(spread, rank, parcels, mine, sizes, count);
    free(sizes);
    return err;
}

void tutti_spread_fini(struct tutti_spread *spread)
{
    free(spread->numbers);
    *spread = (struct tutti_spread){0};
}
