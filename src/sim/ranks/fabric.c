/* SPDX-License-Identifier: MIT */
/* The common part of all kinds. */
#include "sim/ranks/fabric.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

void tt_fabric_lower_stop(_Atomic uint64_t *stop_after, uint64_t step)
{
    uint64_t now = atomic_load(stop_after);
    while (step < now && !atomic_compare_exchange_weak(stop_after, &now, step))
        ;
}

enum tutti_err tt_fabric_fail_stopped(void)
{
    return tt_fail(TUTTI_ERR_STOPPED, "another rank ended the run");
}

/* -0 is less than 0: otherwise it would depend on the order which of them is left. */
static bool fabric_is_less(double a, double b)
{
    return a < b || (a == b && signbit(a) && !signbit(b));
}

void tt_fabric_combine(enum tt_fabric_reduction reduction, double *into, const double *from, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (isnan(into[i]) || isnan(from[i]))
            into[i] = NAN; /* of whichever rank, the same bits */
        else if (reduction == TUTTI_REDUCE_MIN ? fabric_is_less(from[i], into[i]) : fabric_is_less(into[i], from[i]))
            into[i] = from[i];
    }
}

/* The n-th text of a piece: where its bytes are, and how many. */
static const void *cargo_text_at(const struct tt_cargo_text *piece, const char *base, uint32_t n, uint64_t *length)
{
    if (piece->type == TUTTI_TYPE_STRING) {
        const char *text = ((const char *const *)(const void *)(base + piece->offset))[n];
        *length = text ? strlen(text) : 0;
        return text;
    }
    const struct tt_bytes *bytes = (const struct tt_bytes *)(const void *)(base + piece->offset) + n;
    *length = bytes->size;
    return bytes->data;
}

size_t tt_fabric_cargo_size(const struct tt_cargo *cargo, const char *base)
{
    size_t size = cargo->size;
    for (uint32_t i = 0; i < cargo->text_count; i++)
        for (uint32_t n = 0; n < cargo->texts[i].count; n++) {
            uint64_t length;
            cargo_text_at(&cargo->texts[i], base, n, &length);
            size += sizeof length + length;
        }
    return size;
}

static char *pack_cargo_texts(const struct tt_cargo_text *piece, const char *base, char *at)
{
    for (uint32_t n = 0; n < piece->count; n++) {
        uint64_t length;
        const void *text = cargo_text_at(piece, base, n, &length);
        memcpy(at, &length, sizeof length);
        at += sizeof length;
        if (length > 0)
            memcpy(at, text, length);
        at += length;
    }
    return at;
}

void tt_fabric_cargo_pack(const struct tt_cargo *cargo, const char *base, char *message)
{
    for (uint32_t i = 0; i < cargo->piece_count; i++) {
        memcpy(message, base + cargo->pieces[i].offset, cargo->pieces[i].size);
        message += cargo->pieces[i].size;
    }
    for (uint32_t i = 0; i < cargo->text_count; i++)
        message = pack_cargo_texts(&cargo->texts[i], base, message);
}

static enum tutti_err fail_cargo_truncated(void)
{
    return tt_fail(TUTTI_ERR_FORMAT, "a message between ranks has not the length that it must have");
}

static enum tutti_err unpack_cargo_texts(const struct tt_cargo_text *piece, char *base, const char **message,
                                         size_t *left)
{
    for (uint32_t n = 0; n < piece->count; n++) {
        uint64_t length;
        if (*left < sizeof length)
            return fail_cargo_truncated();
        memcpy(&length, *message, sizeof length);
        *message += sizeof length;
        *left -= sizeof length;
        if (length > *left)
            return fail_cargo_truncated();
        TRY(tt_signals_owned_put(tt_signals_owned_at(piece->owned, n), piece->type, *message, length,
                                 base + piece->offset + n * tt_type_size(piece->type)));
        *message += length;
        *left -= length;
    }
    return TUTTI_OK;
}

enum tutti_err tt_fabric_cargo_unpack(const struct tt_cargo *cargo, char *base, const char *message, size_t size)
{
    if (size < cargo->size || (cargo->text_count == 0 && size != cargo->size))
        return fail_cargo_truncated();
    for (uint32_t i = 0; i < cargo->piece_count; i++) {
        memcpy(base + cargo->pieces[i].offset, message, cargo->pieces[i].size);
        message += cargo->pieces[i].size;
    }
    size_t left = size - cargo->size;
    for (uint32_t i = 0; i < cargo->text_count; i++)
        TRY(unpack_cargo_texts(&cargo->texts[i], base, &message, &left));
    return left == 0 ? TUTTI_OK : fail_cargo_truncated();
}

/* One rank: everything that its units read, it has written itself. */

struct local_fabric {
    struct tt_fabric fabric;
    _Atomic uint64_t stop_after;
    struct tt_heartbeat where;
};

static enum tutti_err local_fabric_open_channel(struct tt_fabric *fabric, const struct tt_channel *channel)
{
    (void)fabric;
    (void)channel;
    return TUTTI_OK;
}

static enum tutti_err local_fabric_exchange(struct tt_fabric *fabric, uint32_t channel, char *base)
{
    (void)channel;
    (void)base;
    fabric->exchanges++;
    return TUTTI_OK;
}

static enum tutti_err local_fabric_reduce(struct tt_fabric *fabric, enum tt_fabric_reduction reduction, double *values,
                                          size_t count)
{
    (void)fabric;
    (void)reduction;
    (void)values;
    (void)count;
    return TUTTI_OK;
}

static enum tutti_err local_fabric_report(struct tt_fabric *fabric, const void *bytes, size_t size)
{
    (void)fabric;
    (void)bytes;
    (void)size;
    return TUTTI_OK; /* there is no second rank */
}

static void local_fabric_stop(struct tt_fabric *fabric, uint64_t step)
{
    tt_fabric_lower_stop(fabric->stop_after, step);
}

static void local_fabric_close(struct tt_fabric *fabric)
{
    free(fabric);
}

static const struct tt_fabric_kind local_fabric_kind = {
    .name = "local",
    .open = local_fabric_open_channel,
    .exchange = local_fabric_exchange,
    .reduce = local_fabric_reduce,
    .report = local_fabric_report,
    .stop = local_fabric_stop,
    .close = local_fabric_close,
};

enum tutti_err tt_fabric_new_local(struct tt_fabric **out)
{
    struct local_fabric *local = aligned_alloc(_Alignof(struct local_fabric), sizeof *local);
    *out = NULL;
    if (!local)
        return tt_fail_memory();
    *local = (struct local_fabric){
        .fabric = {.kind = &local_fabric_kind, .ranks = 1, .stop_after = &local->stop_after, .where = &local->where}};
    atomic_store(&local->stop_after, UINT64_MAX);
    *out = &local->fabric;
    return TUTTI_OK;
}

void tt_fabric_begin_report(struct tt_byte_writer *parcel)
{
    static const char header[TUTTI_REPORT_HEADER];
    tt_bytes_reset(parcel);
    tt_bytes_put_bytes(parcel, header, sizeof header);
}

enum tutti_err tt_fabric_send_report(struct tt_fabric *fabric, enum tt_report_kind kind, struct tt_byte_writer *parcel)
{
    if (parcel->failed)
        return tt_fail_memory();
    uint64_t header[2] = {htole64((uint64_t)kind), htole64(parcel->size - TUTTI_REPORT_HEADER)};
    memcpy(parcel->bytes, header, sizeof header);
    return fabric->kind->report(fabric, parcel->bytes, parcel->size);
}

enum tutti_err tt_fabric_find_report(const char *bytes, size_t count, enum tt_report_kind *kind, size_t *size,
                                     bool *whole)
{
    struct tt_byte_reader in = {.at = bytes, .end = bytes + count};
    uint64_t k = tt_bytes_get_u64(&in), n = tt_bytes_get_u64(&in);
    *whole = false;
    if (in.bad)
        return TUTTI_OK;
    if (k == 0 || k >= TUTTI_REPORT_KINDS || n > TUTTI_REPORT_MOST)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "invalid report from a rank (kind %llu, %llu bytes): an FMU in it may have "
                       "overwritten memory that is not its own",
                       (unsigned long long)k, (unsigned long long)n);
    *kind = (enum tt_report_kind)k;
    *size = (size_t)n;
    *whole = n <= count - TUTTI_REPORT_HEADER;
    return TUTTI_OK;
}
