/* SPDX-License-Identifier: MIT */
#include "study/record.h"

static const char *const words[] = {
#define X(name, word) word,
    TUTTI_RUN_STATUSES(X)
#undef X
};
enum { STATUSES = sizeof words / sizeof *words };

const char *tutti_run_status_word(enum tutti_run_status status)
{
    return words[status];
}

void tutti_run_record_put(struct tutti_parcel *parcel, const struct tutti_run_record *record)
{
    tutti_parcel_put_u64(parcel, record->run);
    tutti_parcel_put_u8(parcel, (uint8_t)record->status);
    tutti_parcel_put_text(parcel, record->message);
    tutti_parcel_put_block(parcel, record->values, record->value_count * sizeof(double));
    tutti_parcel_put_text(parcel, record->columns);
    tutti_parcel_put_u32(parcel, record->column_count);
    tutti_parcel_put_block(parcel, record->rows, record->row_count * (record->column_count + 1) * sizeof(double));
}

bool tutti_run_record_take(struct tutti_run_record *record, struct tutti_bytes bytes)
{
    struct tutti_unparcel in = tutti_unparcel_begin(bytes);
    size_t values = 0, rows = 0;
    record->run = tutti_unparcel_u64(&in);
    uint8_t status = tutti_unparcel_u8(&in);
    record->message = tutti_unparcel_text(&in);
    record->values = tutti_unparcel_block(&in, &values);
    record->columns = tutti_unparcel_text(&in);
    record->column_count = tutti_unparcel_u32(&in);
    record->rows = tutti_unparcel_block(&in, &rows);
    size_t width = ((size_t)record->column_count + 1) * sizeof(double);
    if (in.bad || in.at != in.end || status >= STATUSES || values % sizeof(double) != 0 || rows % width != 0)
        return false;
    record->status = (enum tutti_run_status)status;
    record->value_count = (uint32_t)(values / sizeof(double));
    record->row_count = rows / width;
    return true;
}
