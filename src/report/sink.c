/* SPDX-License-Identifier: MIT */
#include "report/sink.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/report.h"

struct tutti_sink_piece {
    const void *from;
    size_t size;  /* bytes to copy; 0: a text */
    uint8_t type; /* of a text */
};

/* --- the conductor */

static enum tutti_err tell_columns(struct tutti_sink *sink, const char *system, const struct tutti_column *columns,
                                   const struct tutti_column_place *places, size_t count)
{
    struct tutti_parcel *parcel = &sink->parcel;
    tutti_report_begin(parcel);
    tutti_parcel_put_text(parcel, system);
    tutti_parcel_put_u32(parcel, (uint32_t)count);
    for (size_t i = 0; i < count; i++) {
        tutti_parcel_put_u32(parcel, places[i].component);
        tutti_parcel_put_u32(parcel, places[i].place);
        tutti_parcel_put_text(parcel, columns[i].name);
        tutti_parcel_put_text(parcel, columns[i].unit);
        tutti_parcel_put_text(parcel, columns[i].description);
        tutti_parcel_put_u8(parcel, (uint8_t)columns[i].type);
        tutti_parcel_put_u8(parcel, columns[i].negated);
        tutti_parcel_put_u8(parcel, columns[i].fixed);
        tutti_parcel_put_u8(parcel, columns[i].held);
        tutti_parcel_put_u32(parcel, (uint32_t)columns[i].source);
    }
    return tutti_report_send(sink->fabric, TUTTI_REPORT_COLUMNS, parcel);
}

/* What lies one after the other is copied in one go. */
static enum tutti_err cut_pieces(struct tutti_sink *sink, const struct tutti_column *columns, size_t count)
{
    sink->pieces = calloc(count + 1, sizeof *sink->pieces);
    if (!sink->pieces)
        return tutti_fail_memory();
    bool texts = false;
    for (size_t i = 0; i < count; i++) {
        enum tutti_type type = columns[i].type;
        bool text = tutti_type_is_text(type);
        struct tutti_sink_piece *last = sink->piece_count ? &sink->pieces[sink->piece_count - 1] : NULL;
        if (!text && last && last->size > 0 && (const char *)last->from + last->size == columns[i].value)
            last->size += tutti_type_size(type);
        else
            sink->pieces[sink->piece_count++] =
                (struct tutti_sink_piece){columns[i].value, text ? 0 : tutti_type_size(type), (uint8_t)type};
        texts = texts || text;
        sink->fixed += tutti_type_size(type);
    }
    sink->fixed = texts ? 0 : sink->fixed;
    return TUTTI_OK;
}

enum tutti_err tutti_sink_open_report(struct tutti_sink *sink, struct tutti_fabric *fabric, const char *system,
                                      const struct tutti_column *columns, const struct tutti_column_place *places,
                                      size_t count, bool records)
{
    *sink = (struct tutti_sink){.fabric = fabric, .brings_rows = records && (count > 0 || fabric->rank == 0)};
    if (count > UINT32_MAX)
        return tutti_fail(TUTTI_ERR_LIMIT, "more than 2^32 columns");
    TRY(cut_pieces(sink, columns, count));
    return tell_columns(sink, system, columns, places, count);
}

static void put_text(struct tutti_parcel *parcel, const struct tutti_sink_piece *piece)
{
    if (piece->type == TUTTI_TYPE_STRING) {
        const char *text = *(const char *const *)piece->from;
        tutti_parcel_put_block(parcel, text, text ? strlen(text) : 0);
    } else {
        const struct tutti_bytes *bytes = piece->from;
        tutti_parcel_put_block(parcel, bytes->data, bytes->data ? bytes->size : 0);
    }
}

/* Nearly all rows are numbers, and most of these single doubles of units: no call for each. */
static void put_numbers(struct tutti_sink *sink)
{
    char *at = tutti_parcel_extend(&sink->parcel, sink->fixed);
    const struct tutti_sink_piece *piece = sink->pieces, *end = piece + sink->piece_count;
    for (; at && piece < end; piece++) {
        if (piece->size == sizeof(double))
            memcpy(at, piece->from, sizeof(double));
        else
            memcpy(at, piece->from, piece->size);
        at += piece->size;
    }
}

static void put_values(struct tutti_sink *sink)
{
    for (const struct tutti_sink_piece *piece = sink->pieces, *end = piece + sink->piece_count; piece < end; piece++)
        if (piece->size > 0)
            tutti_parcel_put_bytes(&sink->parcel, piece->from, piece->size);
        else
            put_text(&sink->parcel, piece);
}

static enum tutti_err tell_row(struct tutti_sink *sink, double t)
{
    tutti_report_begin(&sink->parcel);
    tutti_parcel_put_double(&sink->parcel, t);
    if (sink->fixed > 0)
        put_numbers(sink);
    else
        put_values(sink);
    return tutti_report_send(sink->fabric, TUTTI_REPORT_ROW, &sink->parcel);
}

/* --- either */

enum tutti_err tutti_sink_row(struct tutti_sink *sink, double t)
{
    if (!sink->fabric)
        return tutti_output_row(&sink->output, t);
    return sink->brings_rows ? tell_row(sink, t) : TUTTI_OK;
}

enum tutti_err tutti_sink_flush(struct tutti_sink *sink)
{
    return tutti_output_flush(&sink->output);
}

enum tutti_err tutti_sink_close(struct tutti_sink *sink)
{
    enum tutti_err err = tutti_output_close(&sink->output);
    tutti_parcel_fini(&sink->parcel);
    free(sink->pieces);
    *sink = (struct tutti_sink){0};
    return err;
}
