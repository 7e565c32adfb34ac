/* SPDX-License-Identifier: MIT */
#include "apps/study/run_record.h"

static const char *const words[] = {
#define X(name, word) word,
    TUTTI_RUN_STATUSES(X)
#undef X
};
enum { STATUSES = sizeof words / sizeof *words };

const char *tt_sweep_worker_status_name(enum tt_run_status status)
{
    return words[status];
}

void tt_sweep_worker_write_record(struct tt_byte_writer *parcel, const struct tt_run_record *record)
{
    tt_bytes_put_u64(parcel, record->run);
    tt_bytes_put_u8(parcel, (uint8_t)record->status);
    tt_bytes_put_text(parcel, record->message);
    tt_bytes_put_block(parcel, record->values, record->value_count * sizeof(double));
    tt_bytes_put_text(parcel, record->columns);
    tt_bytes_put_u32(parcel, record->column_count);
    tt_bytes_put_block(parcel, record->rows, record->row_count * (record->column_count + 1) * sizeof(double));
}

bool tt_sweep_worker_read_record(struct tt_run_record *record, struct tt_bytes bytes)
{
    struct tt_byte_reader in = tt_bytes_get_begin(bytes);
    size_t values = 0, rows = 0;
    record->run = tt_bytes_get_u64(&in);
    uint8_t status = tt_bytes_get_u8(&in);
    record->message = tt_bytes_get_text(&in);
    record->values = tt_bytes_get_block(&in, &values);
    record->columns = tt_bytes_get_text(&in);
    record->column_count = tt_bytes_get_u32(&in);
    record->rows = tt_bytes_get_block(&in, &rows);
    size_t width = ((size_t)record->column_count + 1) * sizeof(double);
    if (in.bad || in.at != in.end || status >= STATUSES || values % sizeof(double) != 0 || rows % width != 0)
        return false;
    record->status = (enum tt_run_status)status;
    record->value_count = (uint32_t)(values / sizeof(double));
    record->row_count = rows / width;
    return true;
}
