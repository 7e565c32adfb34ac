/* SPDX-License-Identifier: MIT */
#include "fabric/report.h"

#include <endian.h>
#include <string.h>

void tutti_report_begin(struct tutti_parcel *parcel)
{
    static const char header[TUTTI_REPORT_HEADER];
    tutti_parcel_reset(parcel);
    tutti_parcel_put_bytes(parcel, header, sizeof header);
}

enum tutti_err tutti_report_send(struct tutti_fabric *fabric, enum tutti_report_kind kind, struct tutti_parcel *parcel)
{
    if (parcel->failed)
        return tutti_fail_memory();
    uint64_t header[2] = {htole64((uint64_t)kind), htole64(parcel->size - TUTTI_REPORT_HEADER)};
    memcpy(parcel->bytes, header, sizeof header);
    return fabric->kind->report(fabric, parcel->bytes, parcel->size);
}

enum tutti_err tutti_report_find(const char *bytes, size_t count, enum tutti_report_kind *kind, size_t *size,
                                 bool *whole)
{
    struct tutti_unparcel in = {.at = bytes, .end = bytes + count};
    uint64_t k = tutti_unparcel_u64(&in), n = tutti_unparcel_u64(&in);
    *whole = false;
    if (in.bad)
        return TUTTI_OK;
    if (k == 0 || k >= TUTTI_REPORT_KINDS || n > TUTTI_REPORT_MOST)
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "invalid report from a rank (kind %llu, %llu bytes): an FMU in it may have "
                          "overwritten memory that is not its own",
                          (unsigned long long)k, (unsigned long long)n);
    *kind = (enum tutti_report_kind)k;
    *size = (size_t)n;
    *whole = n <= count - TUTTI_REPORT_HEADER;
    return TUTTI_OK;
}
