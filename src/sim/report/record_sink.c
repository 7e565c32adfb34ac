/* SPDX-License-Identifier: MIT */
#include "sim/report/record_sink.h"

#include <stdlib.h>
#include <string.h>

#include "sim/ranks/report_frame.h"

struct tt_record_piece {
    const void *from;
    size_t size;  /* bytes to copy; 0: a text */
    uint8_t type; /* of a text */
};

/* --- the conductor */

static enum tutti_err send_columns(struct tt_record_sink *sink, const char *system, const struct tt_column *columns,
                                   const struct tt_column_place *places, size_t count)
{
    struct tt_byte_writer *parcel = &sink->parcel;
    tt_fabric_begin_report(parcel);
    tt_bytes_put_text(parcel, system);
    tt_bytes_put_u32(parcel, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        tt_bytes_put_u32(parcel, places[i].component);
        tt_bytes_put_u32(parcel, places[i].place);
        tt_bytes_put_text(parcel, columns[i].name);
        tt_bytes_put_text(parcel, columns[i].unit);
        tt_bytes_put_text(parcel, columns[i].description);
        tt_bytes_put_u8(parcel, (uint8_t)columns[i].type);
        tt_bytes_put_u8(parcel, columns[i].negated);
        tt_bytes_put_u8(parcel, columns[i].fixed);
        tt_bytes_put_u8(parcel, columns[i].held);
        tt_bytes_put_u32(parcel, (uint32_t)columns[i].source);
    }
    return tt_fabric_send_report(sink->fabric, TUTTI_REPORT_COLUMNS, parcel);
}

/* What lies one after the other is copied in one go. */
static enum tutti_err merge_column_pieces(struct tt_record_sink *sink, const struct tt_column *columns, size_t count)
{
    sink->pieces = calloc(count + 1, sizeof *sink->pieces);
    if (!sink->pieces)
        return tt_fail_memory();
    bool texts = false;
    for (size_t i = 0; i < count; i++) {
        enum tt_type type = columns[i].type;
        bool text = tt_type_is_text(type);
        struct tt_record_piece *last = sink->piece_count ? &sink->pieces[sink->piece_count - 1] : NULL;
        if (!text && last && last->size > 0 && (const char *)last->from + last->size == columns[i].value)
            last->size += tt_type_size(type);
        else
            sink->pieces[sink->piece_count++] =
                (struct tt_record_piece){columns[i].value, text ? 0 : tt_type_size(type), (uint8_t)type};
        texts = texts || text;
        sink->fixed += tt_type_size(type);
    }
    sink->fixed = texts ? 0 : sink->fixed;
    return TUTTI_OK;
}

enum tutti_err tt_record_open_sink(struct tt_record_sink *sink, struct tt_fabric *fabric, const char *system,
                                   const struct tt_column *columns, const struct tt_column_place *places, size_t count,
                                   bool records)
{
    *sink = (struct tt_record_sink){.fabric = fabric, .brings_rows = records && (count > 0 || fabric->rank == 0)};
    if (count > UINT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "more than 2^32 columns");
    TRY(merge_column_pieces(sink, columns, count));
    return send_columns(sink, system, columns, places, count);
}

static void write_row_text(struct tt_byte_writer *parcel, const struct tt_record_piece *piece)
{
    if (piece->type == TUTTI_TYPE_STRING) {
        const char *text = *(const char *const *)piece->from;
        tt_bytes_put_block(parcel, text, text ? strlen(text) : 0);
    } else {
        const struct tt_bytes *bytes = piece->from;
        tt_bytes_put_block(parcel, bytes->data, bytes->data ? bytes->size : 0);
    }
}

/* Nearly all rows are numbers, and most of these single doubles of units: no call for each. */
static void write_row_numbers(struct tt_record_sink *sink)
{
    char *at = tt_bytes_extend(&sink->parcel, sink->fixed);
    const struct tt_record_piece *piece = sink->pieces, *end = piece + sink->piece_count;
    for (; at && piece < end; piece++) {
        if (piece->size == sizeof(double))
            memcpy(at, piece->from, sizeof(double));
        else
            memcpy(at, piece->from, piece->size);
        at += piece->size;
    }
}

static void write_row_values(struct tt_record_sink *sink)
{
    for (const struct tt_record_piece *piece = sink->pieces, *end = piece + sink->piece_count; piece < end; piece++)
        if (piece->size > 0)
            tt_bytes_put_bytes(&sink->parcel, piece->from, piece->size);
        else
            write_row_text(&sink->parcel, piece);
}

static enum tutti_err send_row(struct tt_record_sink *sink, double t)
{
    tt_fabric_begin_report(&sink->parcel);
    tt_bytes_put_double(&sink->parcel, t);
    if (sink->fixed > 0)
        write_row_numbers(sink);
    else
        write_row_values(sink);
    return tt_fabric_send_report(sink->fabric, TUTTI_REPORT_ROW, &sink->parcel);
}

/* --- either */

enum tutti_err tt_record_send_row(struct tt_record_sink *sink, double t)
{
    if (!sink->fabric)
        return tt_output_row(&sink->output, t);
    return sink->brings_rows ? send_row(sink, t) : TUTTI_OK;
}

enum tutti_err tt_record_flush_sink(struct tt_record_sink *sink)
{
    return tt_output_flush(&sink->output);
}

enum tutti_err tt_record_close_sink(struct tt_record_sink *sink)
{
    enum tutti_err err = tt_output_close(&sink->output);
    tt_bytes_fini(&sink->parcel);
    free(sink->pieces);
    *sink = (struct tt_record_sink){0};
    return err;
}
