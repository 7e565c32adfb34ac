/* SPDX-License-Identifier: MIT */
#include "sim/report/record.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "sim/ranks/fabric.h"
#include "unit/unit.h"

bool tt_record_is_requested(const struct tutti_run_options *options, const char *output)
{
    return (output || options->watcher || options->live) && !tt_options_records_nothing(options);
}

enum tutti_err tt_record_open(struct tt_record *observer, const struct tutti_run_options *options, const char *output,
                              const struct tt_wires *wires, const struct tt_recorded_unit *observed,
                              const struct tutti_log *log, struct tt_fabric *fabric, struct tt_bytes resume)
{
    *observer = (struct tt_record){
        .log = log,
        .wires = wires,
        .name = wires->structure->system->name,
        .records = tt_record_is_requested(options, output),
        .asleep = options->live && strcmp(options->live, TUTTI_LIVE_WANTED_ROWS) == 0,
    };
    if (observer->records)
        TRY(tt_record_columns_choose(observer, options, wires, observed));
    if (fabric)
        return tt_record_open_sink(&observer->sink, fabric, observer->name, observer->columns, observer->places,
                                   observer->column_count, observer->records);
    const struct tt_output_target target = {.path = output,
                                            .watcher = options->watcher,
                                            .tells_digits = options->tells_digits,
                                            .room = options->room,
                                            .log = observer->log,
                                            .origin = observer->name,
                                            .by_thread = true,
                                            .resume = resume};
    return observer->records
               ? tt_output_open(&observer->sink.output, &target, observer->columns, observer->column_count)
               : TUTTI_OK;
}

bool tt_record_has_feedthrough(const struct tt_record *observer)
{
    for (size_t i = 0; i < observer->look_count; i++)
        if (observer->looks[i].follows)
            return true;
    return false;
}

/* A state that is not finite stays so, and all that follows from it; at the start it may still become finite. */
static enum tutti_err check_recorded_states(const struct tt_record *observer, double t)
{
    double sum = 0;
    for (size_t i = 0; i < observer->state_count; i++) {
        double value = *(const double *)observer->columns[observer->states[i]].value;
        sum += value - value;
    }
    if (__builtin_expect(sum == 0 || observer->rows == 0, 1))
        return TUTTI_OK;
    for (size_t i = 0; i < observer->state_count; i++) {
        const struct tt_column *column = &observer->columns[observer->states[i]];
        double value = *(const double *)column->value;
        if (isfinite(value))
            continue;
        tt_fail(
            TUTTI_ERR_SOLVER,
            "t = %s: the state '%s' is not finite (%s); rows before are kept; use a smaller --step, or --interface me, "
            "and check the parameters of its FMU",
            TIME(t), column->name, isnan(value) ? "NaN" : "infinite");
        return tt_fail_about(TUTTI_ERR_SOLVER, NULL, NULL, t);
    }
    return TUTTI_OK;
}

enum tutti_err tt_record_write_row(struct tt_record *observer, double t)
{
    if (!observer->records || observer->muted || observer->asleep)
        return TUTTI_OK;
    for (size_t i = 0; i < observer->look_count; i++) {
        struct tt_recorded_read *look = &observer->looks[i];
        TRY(look->follows && observer->renewed.read
                ? observer->renewed.read(observer->renewed.context, look->component, &look->signals)
                : tt_unit_get(look->unit, &look->signals));
    }
    for (size_t i = 0; i < observer->input_count; i++) {
        const struct tt_recorded_input *input = &observer->inputs[i];
        TRY(tt_wires_get_incoming(observer->wires, input->node, input->staged));
        for (uint32_t e = 0; input->floats && e < observer->wires->slots[input->node].count; e++)
            input->floats[e] = (float)((const double *)input->staged)[e];
    }
    for (size_t i = 0; i < observer->port_count; i++) {
        const struct tt_recorded_port *port = &observer->ports[i];
        TRY(tt_conversion_apply(port->conversion, port->from, port->to, port->count));
    }
    if (observer->extra)
        TRY(tt_me_extra_values(observer->extra_unit, observer->extra_values));
    TRY(check_recorded_states(observer, t));
    observer->rows++;
    observer->last_row = t;
    return tt_record_send_row(&observer->sink, t);
}

enum tutti_err tt_record_report_columns(const struct tt_record *observer)
{
    return tt_output_check_finite(&observer->sink.output, observer->last_row);
}

enum tutti_err tt_record_flush(struct tt_record *observer)
{
    return tt_record_flush_sink(&observer->sink);
}

enum tutti_err tt_record_close(struct tt_record *observer)
{
    enum tutti_err err = tt_record_close_sink(&observer->sink);
    for (size_t i = 0; i < observer->look_count; i++)
        tt_signals_fini(&observer->looks[i].signals);
    free(observer->columns);
    free(observer->places);
    free(observer->states);
    tt_arena_fini(&observer->arena);
    *observer = (struct tt_record){.rows = observer->rows};
    return err;
}

/* Returns true for recorded variables of a unit that has no outputs. */

static bool is_moving_local(const struct tt_var *var)
{
    return var->causality == TUTTI_LOCAL && var->type != TUTTI_TYPE_STRING && var->type != TUTTI_TYPE_BINARY &&
           var->type != TUTTI_TYPE_CLOCK &&
           (var->variability == TUTTI_CONTINUOUS || var->variability == TUTTI_DISCRETE);
}

/* Another name of a variable that is chosen already? */
static bool is_alias_of_chosen(const struct tt_description *desc, const struct tt_substitute_choice *choice,
                               const struct tt_var *var)
{
    for (size_t i = 0; i < choice->count; i++) {
        const struct tt_var *chosen = &desc->vars[choice->variables[i]];
        if (chosen->reference == var->reference && chosen->type == var->type)
            return true;
    }
    return false;
}

enum tutti_err tt_record_find_moving(const struct tt_description *desc, struct tt_substitute_choice *out)
{
    *out = (struct tt_substitute_choice){0};
    bool *marks = calloc((size_t)desc->var_count + 1, sizeof *marks);
    if (!marks)
        return tt_fail_memory();
    for (uint32_t i = 0; i < desc->derivatives.count; i++) {
        uint32_t state = desc->vars[desc->derivatives.items[i].variable].derivative_of;
        if (state != TUTTI_NONE)
            out->states = marks[state] = true;
    }
    for (uint32_t i = 0; i < desc->var_count && !out->states; i++)
        marks[i] = is_moving_local(&desc->vars[i]);
    uint64_t columns = 0;
    for (uint32_t i = 0; i < desc->var_count; i++) {
        if (!marks[i] || is_alias_of_chosen(desc, out, &desc->vars[i]))
            continue;
        out->found++;
        columns += tt_description_var_size(&desc->vars[i]);
        if (out->count + 1 == out->found && columns <= TUTTI_MOST_MOVING)
            out->variables[out->count++] = i;
    }
    free(marks);
    return TUTTI_OK;
}

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

/* Merges contiguous pieces, which are copied at once. */
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

struct seen_column {
    const struct tt_column_place *place;
    enum tt_type type;
    size_t column;
};

static int record_compare_numbers(size_t a, size_t b)
{
    return (a > b) - (a < b);
}

/* Aliases stand side by side, the first column first. */
static int record_compare(const void *a, const void *b)
{
    const struct seen_column *x = a, *y = b;
    const size_t keys[][2] = {{x->place->component, y->place->component},
                              {x->place->reference, y->place->reference},
                              {x->place->element, y->place->element},
                              {x->type, y->type}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return record_compare_numbers(keys[i][0], keys[i][1]);
    return record_compare_numbers(x->column, y->column);
}

static bool are_column_aliases(const struct seen_column *a, const struct seen_column *b)
{
    return a->place->component == b->place->component && a->place->reference == b->place->reference &&
           a->place->element == b->place->element && a->type == b->type && a->place->reference != TUTTI_NONE;
}

enum tutti_err tt_record_find_sources(struct tt_record *observer)
{
    size_t count = observer->column_count;
    struct seen_column *seen = malloc((count + 1) * sizeof *seen);
    if (!seen)
        return tt_fail_memory();
    for (size_t i = 0; i < count; i++)
        seen[i] = (struct seen_column){&observer->places[i], observer->columns[i].type, i};
    qsort(seen, count, sizeof *seen, record_compare);
    for (size_t i = 0; i < count; i++) {
        bool alias = i > 0 && are_column_aliases(&seen[i - 1], &seen[i]);
        observer->columns[seen[i].column].source = alias ? observer->columns[seen[i - 1].column].source
                                                         : seen[i].column;
    }
    free(seen);
    return TUTTI_OK;
}
