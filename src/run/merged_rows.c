/* SPDX-License-Identifier: MIT */
#include "run/merged_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "unit/signals.h"

/* A column as its rank reported it, and the destination of its values. */
struct merged_cell {
    uint32_t component, place;
    uint32_t rank, order;    /* among those of its rank */
    struct tt_column column; /* its source is an index, too */
    size_t at;               /* among all columns */
    void *to;
    struct tt_owned *owned; /* String and Binary */
};

struct merged_source {
    bool told;  /* its columns */
    bool ended; /* provides no more rows */
    bool brings;
    bool is_here; /* has brought the row that is to be written next */
    struct merged_cell *cells;
    uint32_t count;
};

struct tt_merged_rows {
    struct tt_output_target target; /* its origin is reported by a rank */
    struct merged_source *sources;
    int ranks, untold;
    int missing;  /* sources that have not brought the next row */
    bool over;    /* no further row is written */
    double t;     /* time of the next row, which all must report to the bit */
    bool t_known; /* a rank has brought it */
    struct tt_column *columns;
    struct tt_owned *owned;
    size_t column_count;
    struct tt_output output;
    unsigned long count;
    struct tt_arena arena;
};

enum tutti_err tt_merged_rows_new(struct tt_merged_rows **out, int ranks, const struct tt_output_target *target)
{
    struct tt_merged_rows *rows = *out = calloc(1, sizeof *rows);
    if (!rows)
        return tt_fail_memory();
    *rows = (struct tt_merged_rows){
        .target = *target, .ranks = ranks, .untold = ranks, .over = !target->path && !target->watcher};
    rows->sources = tt_arena_array(&rows->arena, (size_t)ranks, sizeof *rows->sources);
    if (rows->sources)
        return TUTTI_OK;
    *out = NULL;
    free(rows);
    return tt_fail_memory();
}

void tt_merged_rows_resume(struct tt_merged_rows *rows, struct tt_bytes mark)
{
    rows->target.resume = mark;
}

static int merged_rows_compare_cells(const void *a, const void *b)
{
    const struct merged_cell *x = *(const struct merged_cell *const *)a, *y = *(const struct merged_cell *const *)b;
    const uint32_t keys[][2] = {
        {x->component, y->component}, {x->place, y->place}, {x->rank, y->rank}, {x->order, y->order}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Values lie in the order of the result, each with room for the largest type. */
static enum tutti_err merged_rows_set_layout(struct tt_merged_rows *rows, struct merged_cell **cells)
{
    enum { ROOM = sizeof(struct tt_bytes) };
    size_t n = 0;
    for (int r = 0; r < rows->ranks; r++)
        for (uint32_t i = 0; i < rows->sources[r].count; i++)
            cells[n++] = &rows->sources[r].cells[i];
    qsort(cells, n, sizeof(struct merged_cell *), merged_rows_compare_cells);
    rows->columns = tt_arena_array(&rows->arena, n, sizeof *rows->columns);
    rows->owned = tt_signals_owned_array(&rows->arena, n);
    char *values = tt_arena_array(&rows->arena, n, ROOM);
    if (!rows->columns || !rows->owned || !values)
        return tt_fail_memory();
    rows->column_count = n;
    for (size_t i = 0; i < n; i++) {
        cells[i]->to = values + i * ROOM;
        cells[i]->owned = tt_signals_owned_at(rows->owned, i);
        cells[i]->column.value = cells[i]->to;
        cells[i]->at = i;
    }
    for (size_t i = 0; i < n; i++) {
        rows->columns[i] = cells[i]->column;
        rows->columns[i].source = rows->sources[cells[i]->rank].cells[cells[i]->column.source].at;
    }
    return TUTTI_OK;
}

/* All ranks have reported their columns. */
static enum tutti_err merged_rows_open_result(struct tt_merged_rows *rows)
{
    size_t n = 0;
    for (int r = 0; r < rows->ranks; r++)
        n += rows->sources[r].count;
    struct merged_cell **cells = calloc(n + 1, sizeof(struct merged_cell *));
    if (!cells)
        return tt_fail_memory();
    enum tutti_err err = merged_rows_set_layout(rows, cells);
    free(cells);
    TRY(err);
    for (int r = 0; r < rows->ranks; r++) {
        struct merged_source *source = &rows->sources[r];
        source->brings = source->count > 0 || r == 0;
        rows->missing += source->brings;
        rows->over = rows->over || (source->brings && source->ended);
    }
    return tt_output_open(&rows->output, &rows->target, rows->columns, rows->column_count);
}

/* NULL stays NULL. */
static const char *merged_rows_copy_text(struct tt_merged_rows *rows, const char *text, bool *failed)
{
    const char *copy = text ? tt_arena_copy_text(&rows->arena, text, strlen(text)) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static enum tutti_err merged_rows_read_cell(struct tt_merged_rows *rows, struct tt_byte_reader *in,
                                            struct merged_cell *cell)
{
    bool failed = false;
    cell->component = tt_bytes_get_u32(in);
    cell->place = tt_bytes_get_u32(in);
    cell->column.name = merged_rows_copy_text(rows, tt_bytes_get_text(in), &failed);
    cell->column.unit = merged_rows_copy_text(rows, tt_bytes_get_text(in), &failed);
    cell->column.description = merged_rows_copy_text(rows, tt_bytes_get_text(in), &failed);
    uint8_t type = tt_bytes_get_u8(in);
    cell->column.negated = tt_bytes_get_u8(in) != 0;
    cell->column.fixed = tt_bytes_get_u8(in) != 0;
    cell->column.held = tt_bytes_get_u8(in) != 0;
    cell->column.source = tt_bytes_get_u32(in);
    in->bad = in->bad || type >= TUTTI_TYPE_COUNT || (!failed && !cell->column.name) ||
              cell->column.source > cell->order;
    cell->column.type = in->bad ? TUTTI_TYPE_FLOAT64 : (enum tt_type)type;
    return failed ? tt_fail_memory() : TUTTI_OK;
}

/* A rank's report contradicts the others. */
static enum tutti_err merged_rows_fail_malformed(const char *what, int rank)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s of rank %d are malformed", what, rank);
}

static enum tutti_err merged_rows_read_columns(struct tt_merged_rows *rows, int rank, struct tt_byte_reader *in)
{
    enum { LEAST = 3 * 4 + 3 * 8 + 3 }; /* bytes of a column: a number out of the air costs no memory */
    struct merged_source *source = &rows->sources[rank];
    bool failed = false;
    const char *system = tt_bytes_get_text(in);
    if (!rows->target.origin)
        rows->target.origin = merged_rows_copy_text(rows, system, &failed);
    uint32_t count = tt_bytes_get_u32(in);
    if (in->bad || count > (size_t)(in->end - in->at) / LEAST)
        return merged_rows_fail_malformed("the columns", rank);
    source->cells = tt_arena_array(&rows->arena, count, sizeof *source->cells);
    if (!source->cells || failed)
        return tt_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        source->cells[i] = (struct merged_cell){.rank = (uint32_t)rank, .order = i};
        TRY(merged_rows_read_cell(rows, in, &source->cells[i]));
    }
    source->count = count;
    return in->bad || in->at != in->end ? merged_rows_fail_malformed("the columns", rank) : TUTTI_OK;
}

enum tutti_err tt_merged_rows_receive_columns(struct tt_merged_rows *rows, int rank, struct tt_byte_reader *in)
{
    struct merged_source *source = &rows->sources[rank];
    if (source->told)
        return tt_fail(TUTTI_ERR_FORMAT, "rank %d tells its columns twice", rank);
    source->told = true;
    enum tutti_err err = merged_rows_read_columns(rows, rank, in);
    if (!err && --rows->untold == 0 && !rows->over)
        err = merged_rows_open_result(rows);
    rows->over = rows->over || err;
    return err;
}

bool tt_merged_rows_must_wait(const struct tt_merged_rows *rows, int rank)
{
    const struct merged_source *source = &rows->sources[rank];
    return source->told && !rows->over && (rows->untold > 0 || source->is_here);
}

static enum tutti_err merged_rows_read_value(const struct merged_cell *cell, struct tt_byte_reader *in)
{
    enum tt_type type = cell->column.type;
    if (tt_type_is_text(type)) {
        size_t size;
        const void *bytes = tt_bytes_get_block(in, &size);
        return tt_signals_owned_put(cell->owned, type, bytes, size, cell->to);
    }
    size_t size = tt_type_size(type);
    const void *bytes = tt_bytes_get(in, size);
    if (bytes && (type == TUTTI_TYPE_BOOLEAN || type == TUTTI_TYPE_CLOCK))
        *(bool *)cell->to = *(const uint8_t *)bytes != 0;
    else if (bytes)
        memcpy(cell->to, bytes, size);
    return TUTTI_OK;
}

/* All ranks have reported the row. */
static enum tutti_err write_merged_row(struct tt_merged_rows *rows)
{
    rows->missing = 0;
    for (int r = 0; r < rows->ranks; r++) {
        struct merged_source *source = &rows->sources[r];
        source->is_here = false;
        rows->missing += source->brings;
        rows->over = rows->over || (source->brings && source->ended);
    }
    rows->t_known = false;
    TRY(tt_output_row(&rows->output, rows->t));
    rows->count++;
    return TUTTI_OK;
}

static uint64_t merged_rows_bits(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static enum tutti_err add_rank_row(struct tt_merged_rows *rows, int rank, struct tt_byte_reader *in, double t)
{
    struct merged_source *source = &rows->sources[rank];
    if (rows->t_known && merged_rows_bits(t) != merged_rows_bits(rows->t))
        return tt_fail(
            TUTTI_ERR_FORMAT,
            "ranks disagree about the time of row %lu: %s, but %s on rank %d; code of an FMU may have written "
            "into memory that is not its own: try --processes with a rank per FMU, and report it if they "
            "disagree there, too",
            rows->count, NUMBER(rows->t), NUMBER(t), rank);
    rows->t = t;
    rows->t_known = true;
    for (const struct merged_cell *cell = source->cells, *end = cell + source->count; cell < end; cell++)
        TRY(merged_rows_read_value(cell, in));
    if (in->bad || in->at != in->end || !source->brings)
        return merged_rows_fail_malformed("the values", rank);
    source->is_here = true;
    return --rows->missing == 0 ? write_merged_row(rows) : TUTTI_OK;
}

enum tutti_err tt_merged_rows_receive_row(struct tt_merged_rows *rows, int rank, struct tt_byte_reader *in, double *t)
{
    *t = tt_bytes_get_double(in);
    if (!rows->sources[rank].told || in->bad)
        return merged_rows_fail_malformed("the values", rank);
    if (rows->over)
        return TUTTI_OK;
    enum tutti_err err = add_rank_row(rows, rank, in, *t);
    rows->over = rows->over || err;
    return err;
}

void tt_merged_rows_end_rank(struct tt_merged_rows *rows, int rank)
{
    struct merged_source *source = &rows->sources[rank];
    source->ended = true;
    /* Of its pending rows, the next one is still written once all other ranks have it. */
    rows->over = rows->over || !source->told || (rows->untold == 0 && source->brings && !source->is_here);
}

unsigned long tt_merged_rows_count(const struct tt_merged_rows *rows)
{
    return rows->count;
}

enum tutti_err tt_merged_rows_finish(const struct tt_merged_rows *rows)
{
    return tt_output_check_finite(&rows->output, rows->t);
}

enum tutti_err tt_merged_rows_flush(struct tt_merged_rows *rows)
{
    return tt_output_flush(&rows->output);
}

enum tutti_err tt_merged_rows_mark(struct tt_merged_rows *rows, struct tt_byte_writer *mark)
{
    return rows->columns ? tt_output_mark(&rows->output, mark) : TUTTI_OK;
}

enum tutti_err tt_merged_rows_sync(struct tt_merged_rows *rows)
{
    return tt_output_sync(&rows->output);
}

enum tutti_err tt_merged_rows_close(struct tt_merged_rows *rows)
{
    if (!rows)
        return TUTTI_OK;
    enum tutti_err err = tt_output_close(&rows->output);
    tt_signals_owned_fini(rows->owned, rows->column_count);
    tt_arena_fini(&rows->arena);
    free(rows);
    return err;
}
