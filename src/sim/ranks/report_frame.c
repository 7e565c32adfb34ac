/* SPDX-License-Identifier: MIT */
#include "sim/ranks/report_frame.h"

#include <endian.h>
#include <string.h>

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
