/* SPDX-License-Identifier: MIT */
#include "conduct/rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/number.h"
#include "unit/signals.h"

/* A column as its rank told it, and where its values go. */
struct cell {
    uint32_t component, place;
    uint32_t rank, order;       /* among those of its rank */
    struct tutti_column column; /* whose source is an order, too */
    size_t at;                  /* among all columns */
    void *to;
    struct tutti_owned *owned; /* String and Binary */
};

struct source {
    bool told;  /* its columns */
    bool ended; /* brings no more */
    bool brings;
    bool is_here; /* has brought the row that is to be written next */
    struct cell *cells;
    uint32_t count;
};

struct tutti_rows {
    struct tutti_output_target target; /* whose origin a rank tells */
    struct source *sources;
    int ranks, untold;
    int missing;  /* sources that have not brought the next row */
    bool over;    /* no further row is written */
    double t;     /* of the next row, which all must tell to the bit */
    bool t_known; /* a rank has brought it */
    struct tutti_column *columns;
    struct tutti_owned *owned;
    size_t column_count;
    struct tutti_output output;
    unsigned long count;
    struct tutti_arena arena;
};

enum tutti_err tutti_rows_new(struct tutti_rows **out, int ranks, const struct tutti_output_target *target)
{
    struct tutti_rows *rows = *out = calloc(1, sizeof *rows);
    if (!rows)
        return tutti_fail_memory();
    *rows = (struct tutti_rows){
        .target = *target, .ranks = ranks, .untold = ranks, .over = !target->path && !target->watcher};
    rows->sources = tutti_arena_array(&rows->arena, (size_t)ranks, sizeof *rows->sources);
    if (rows->sources)
        return TUTTI_OK;
    *out = NULL;
    free(rows);
    return tutti_fail_memory();
}

void tutti_rows_resume(struct tutti_rows *rows, struct tutti_bytes mark)
{
    rows->target.resume = mark;
}

/* --- columns */

static int compare_cells(const void *a, const void *b)
{
    const struct cell *x = *(const struct cell *const *)a, *y = *(const struct cell *const *)b;
    const uint32_t keys[][2] = {
        {x->component, y->component}, {x->place, y->place}, {x->rank, y->rank}, {x->order, y->order}};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* Values lie in the order of the result, each with room for the largest type. */
static enum tutti_err lay_out(struct tutti_rows *rows, struct cell **cells)
{
    enum { ROOM = sizeof(struct tutti_bytes) };
    size_t n = 0;
    for (int r = 0; r < rows->ranks; r++)
        for (uint32_t i = 0; i < rows->sources[r].count; i++)
            cells[n++] = &rows->sources[r].cells[i];
    qsort(cells, n, sizeof(struct cell *), compare_cells);
    rows->columns = tutti_arena_array(&rows->arena, n, sizeof *rows->columns);
    rows->owned = tutti_owned_array(&rows->arena, n);
    char *values = tutti_arena_array(&rows->arena, n, ROOM);
    if (!rows->columns || !rows->owned || !values)
        return tutti_fail_memory();
    rows->column_count = n;
    for (size_t i = 0; i < n; i++) {
        cells[i]->to = values + i * ROOM;
        cells[i]->owned = tutti_owned_at(rows->owned, i);
        cells[i]->column.value = cells[i]->to;
        cells[i]->at = i;
    }
    for (size_t i = 0; i < n; i++) {
        rows->columns[i] = cells[i]->column;
        rows->columns[i].source = rows->sources[cells[i]->rank].cells[cells[i]->column.source].at;
    }
    return TUTTI_OK;
}

/* All have told. */
static enum tutti_err open_result(struct tutti_rows *rows)
{
    size_t n = 0;
    for (int r = 0; r < rows->ranks; r++)
        n += rows->sources[r].count;
    struct cell **cells = calloc(n + 1, sizeof(struct cell *));
    if (!cells)
        return tutti_fail_memory();
    enum tutti_err err = lay_out(rows, cells);
    free(cells);
    TRY(err);
    for (int r = 0; r < rows->ranks; r++) {
        struct source *source = &rows->sources[r];
        source->brings = source->count > 0 || r == 0;
        rows->missing += source->brings;
        rows->over = rows->over || (source->brings && source->ended);
    }
    return tutti_output_open(&rows->output, &rows->target, rows->columns, rows->column_count);
}

/* NULL stays NULL. */
static const char *keep(struct tutti_rows *rows, const char *text, bool *failed)
{
    const char *copy = text ? tutti_arena_text(&rows->arena, text, strlen(text)) : NULL;
    *failed = *failed || (text && !copy);
    return copy;
}

static enum tutti_err read_cell(struct tutti_rows *rows, struct tutti_unparcel *in, struct cell *cell)
{
    bool failed = false;
    cell->component = tutti_unparcel_u32(in);
    cell->place = tutti_unparcel_u32(in);
    cell->column.name = keep(rows, tutti_unparcel_text(in), &failed);
    cell->column.unit = keep(rows, tutti_unparcel_text(in), &failed);
    cell->column.description = keep(rows, tutti_unparcel_text(in), &failed);
    uint8_t type = tutti_unparcel_u8(in);
    cell->column.negated = tutti_unparcel_u8(in) != 0;
    cell->column.fixed = tutti_unparcel_u8(in) != 0;
    cell->column.held = tutti_unparcel_u8(in) != 0;
    cell->column.source = tutti_unparcel_u32(in);
    in->bad = in->bad || type >= TUTTI_TYPE_COUNT || (!failed && !cell->column.name) ||
              cell->column.source > cell->order;
    cell->column.type = in->bad ? TUTTI_TYPE_FLOAT64 : (enum tutti_type)type;
    return failed ? tutti_fail_memory() : TUTTI_OK;
}

/* Where a rank says something that no rank says. */
static enum tutti_err malformed(const char *what, int rank)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "%s of rank %d are malformed", what, rank);
}

static enum tutti_err read_columns(struct tutti_rows *rows, int rank, struct tutti_unparcel *in)
{
    enum { LEAST = 3 * 4 + 3 * 8 + 3 }; /* bytes of a column: a number out of the air costs no memory */
    struct source *source = &rows->sources[rank];
    bool failed = false;
    const char *system = tutti_unparcel_text(in);
    if (!rows->target.origin)
        rows->target.origin = keep(rows, system, &failed);
    uint32_t count = tutti_unparcel_u32(in);
    if (in->bad || count > (size_t)(in->end - in->at) / LEAST)
        return malformed("the columns", rank);
    source->cells = tutti_arena_array(&rows->arena, count, sizeof *source->cells);
    if (!source->cells || failed)
        return tutti_fail_memory();
    for (uint32_t i = 0; i < count; i++) {
        source->cells[i] = (struct cell){.rank = (uint32_t)rank, .order = i};
        TRY(read_cell(rows, in, &source->cells[i]));
    }
    source->count = count;
    return in->bad || in->at != in->end ? malformed("the columns", rank) : TUTTI_OK;
}

enum tutti_err tutti_rows_take_columns(struct tutti_rows *rows, int rank, struct tutti_unparcel *in)
{
    struct source *source = &rows->sources[rank];
    if (source->told)
        return tutti_fail(TUTTI_ERR_FORMAT, "rank %d tells its columns twice", rank);
    source->told = true;
    enum tutti_err err = read_columns(rows, rank, in);
    if (!err && --rows->untold == 0 && !rows->over)
        err = open_result(rows);
    rows->over = rows->over || err;
    return err;
}

/* --- rows */

bool tutti_rows_must_wait(const struct tutti_rows *rows, int rank)
{
    const struct source *source = &rows->sources[rank];
    return source->told && !rows->over && (rows->untold > 0 || source->is_here);
}

static enum tutti_err read_value(const struct cell *cell, struct tutti_unparcel *in)
{
    enum tutti_type type = cell->column.type;
    if (tutti_type_is_text(type)) {
        size_t size;
        const void *bytes = tutti_unparcel_block(in, &size);
        return tutti_owned_put(cell->owned, type, bytes, size, cell->to);
    }
    size_t size = tutti_type_size(type);
    const void *bytes = tutti_unparcel_bytes(in, size);
    if (bytes && (type == TUTTI_TYPE_BOOLEAN || type == TUTTI_TYPE_CLOCK))
        *(bool *)cell->to = *(const uint8_t *)bytes != 0;
    else if (bytes)
        memcpy(cell->to, bytes, size);
    return TUTTI_OK;
}

/* All have brought it. */
static enum tutti_err write_row(struct tutti_rows *rows)
{
    rows->missing = 0;
    for (int r = 0; r < rows->ranks; r++) {
        struct source *source = &rows->sources[r];
        source->is_here = false;
        rows->missing += source->brings;
        rows->over = rows->over || (source->brings && source->ended);
    }
    rows->t_known = false;
    TRY(tutti_output_row(&rows->output, rows->t));
    rows->count++;
    return TUTTI_OK;
}

static uint64_t bits_of(double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static enum tutti_err bring_row(struct tutti_rows *rows, int rank, struct tutti_unparcel *in, double t)
{
    struct source *source = &rows->sources[rank];
    if (rows->t_known && bits_of(t) != bits_of(rows->t))
        return tutti_fail(
            TUTTI_ERR_FORMAT,
            "ranks disagree about the time of row %lu: %s, but %s on rank %d; code of an FMU may have written "
            "into memory that is not its own: try --processes with a rank per FMU, and report it if they "
            "disagree there, too",
            rows->count, NUMBER(rows->t), NUMBER(t), rank);
    rows->t = t;
    rows->t_known = true;
    for (const struct cell *cell = source->cells, *end = cell + source->count; cell < end; cell++)
        TRY(read_value(cell, in));
    if (in->bad || in->at != in->end || !source->brings)
        return malformed("the values", rank);
    source->is_here = true;
    return --rows->missing == 0 ? write_row(rows) : TUTTI_OK;
}

enum tutti_err tutti_rows_take_row(struct tutti_rows *rows, int rank, struct tutti_unparcel *in, double *t)
{
    *t = tutti_unparcel_double(in);
    if (!rows->sources[rank].told || in->bad)
        return malformed("the values", rank);
    if (rows->over)
        return TUTTI_OK;
    enum tutti_err err = bring_row(rows, rank, in, *t);
    rows->over = rows->over || err;
    return err;
}

void tutti_rows_end(struct tutti_rows *rows, int rank)
{
    struct source *source = &rows->sources[rank];
    source->ended = true;
    /* Of what it has brought, the next row is still written once the others have it, too. */
    rows->over = rows->over || !source->told || (rows->untold == 0 && source->brings && !source->is_here);
}

unsigned long tutti_rows_count(const struct tutti_rows *rows)
{
    return rows->count;
}

enum tutti_err tutti_rows_conclude(const struct tutti_rows *rows)
{
    return tutti_output_conclude(&rows->output, rows->t);
}

enum tutti_err tutti_rows_flush(struct tutti_rows *rows)
{
    return tutti_output_flush(&rows->output);
}

enum tutti_err tutti_rows_mark(struct tutti_rows *rows, struct tutti_parcel *mark)
{
    return rows->columns ? tutti_output_mark(&rows->output, mark) : TUTTI_OK;
}

enum tutti_err tutti_rows_sync(struct tutti_rows *rows)
{
    return tutti_output_sync(&rows->output);
}

enum tutti_err tutti_rows_close(struct tutti_rows *rows)
{
    if (!rows)
        return TUTTI_OK;
    enum tutti_err err = tutti_output_close(&rows->output);
    tutti_owned_fini(rows->owned, rows->column_count);
    tutti_arena_fini(&rows->arena);
    free(rows);
    return err;
}
