/* SPDX-License-Identifier: MIT */
/* All cells are stored contiguously, each followed by a NUL; offsets locate them. */
#include "results/csv_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/number.h"
#include "base/text.h"
#include "results/csv_parser.h"

#define LARGEST ((size_t)1 << 31) /* so that an offset fits into 32 bits */

struct tt_csv_table {
    char *text;
    size_t length, text_room;
    uint32_t *names; /* offsets of the header's cells, `time` included */
    size_t width;    /* columns, `time` included */
    uint32_t *cells; /* offsets, row by row, without `time` */
    double *times;
    unsigned *lines;
    size_t rows, room;
    bool commas;                /* decimal ones */
    double multiplier, divisor; /* of times, to seconds */
};

static enum tutti_err fail_size(const char *name)
{
    return tt_fail(TUTTI_ERR_LIMIT, "%s: the file is larger than 2 GiB; split it, or keep fewer columns or rows", name);
}

/* Appends the cell's text to the table and returns its offset. */
static enum tutti_err csv_table_append_cell(struct tt_csv_table *table, const char *name,
                                            const struct tt_csv_cell *cell, uint32_t *offset)
{
    if (table->length + cell->n >= LARGEST)
        return fail_size(name);
    if (table->length + cell->n + 1 > table->text_room) {
        size_t room = 2 * table->text_room + cell->n + 4096;
        char *text = realloc(table->text, room);
        if (!text)
            return tt_fail_memory();
        table->text = text;
        table->text_room = room;
    }
    *offset = (uint32_t)table->length;
    table->length += tt_csv_parser_copy_cell(cell, table->text + table->length) + 1;
    return TUTTI_OK;
}

/* Cuts white space at both ends, which is never meant to be part of a name. */
static uint32_t csv_table_trim(char *text, uint32_t offset)
{
    while (text[offset] == ' ' || text[offset] == '\t')
        offset++;
    for (size_t n = strlen(text + offset); n > 0 && (text[offset + n - 1] == ' ' || text[offset + n - 1] == '\t'); n--)
        text[offset + n - 1] = '\0';
    return offset;
}

/* --- numbers with a comma */

static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

/* The comma of the number that text[0..n) is, if it is one; NULL: it has none, or is something else. */
static char *find_decimal_comma(char *text, size_t n)
{
    char *p = text + (*text == '-' || *text == '+');
    size_t before = count_digits(p);
    char *comma = p + before;
    if (*comma != ',')
        return NULL;
    size_t after = count_digits(comma + 1);
    p = comma + 1 + after;
    if (*p == 'e' || *p == 'E') {
        p += 1 + (p[1] == '-' || p[1] == '+');
        p += count_digits(p);
    }
    return before + after > 0 && p == text + n ? comma : NULL;
}

void tt_csv_table_decimal_point(char *text)
{
    while (*text) {
        text += strspn(text, " \t");
        size_t n = strcspn(text, " \t");
        char *comma = n > 0 ? find_decimal_comma(text, n) : NULL;
        if (comma)
            *comma = '.';
        text += n;
    }
}

/* --- the time */

struct time_unit {
    const char *name;
    double multiplier, divisor;
};

static const struct time_unit time_units[] = {{"s", 1, 1},    {"ms", 1, 1e3}, {"us", 1, 1e6}, {"ns", 1, 1e9},
                                              {"min", 60, 1}, {"h", 3600, 1}, {"d", 86400, 1}};
enum { TIME_UNIT_COUNT = sizeof time_units / sizeof *time_units };

/* The rest of "Time [h]" after the name: nothing, or a unit. */
static enum tutti_err read_time_unit(struct tt_csv_table *table, const struct tt_csv_parser *rows, const char *rest)
{
    size_t n = strlen(rest);
    table->multiplier = table->divisor = 1;
    if (n == 0)
        return TUTTI_OK;
    for (int i = 0; i < TIME_UNIT_COUNT; i++) {
        if (strlen(time_units[i].name) + 2 != n || strncmp(rest + 1, time_units[i].name, n - 2) != 0 ||
            rest[n - 1] != ']')
            continue;
        table->multiplier = time_units[i].multiplier;
        table->divisor = time_units[i].divisor;
        return TUTTI_OK;
    }
    return tt_fail(TUTTI_ERR_FORMAT,
                   "%s:%zu: the unit of time in '%s' is not known; it may be [s], [ms], [us], [ns], "
                   "[min], [h] or [d]",
                   rows->name, rows->line, tt_text_excerpt(table->text + table->names[0]).text);
}

static enum tutti_err csv_table_check_time(struct tt_csv_table *table, const struct tt_csv_parser *rows)
{
    const char *first = table->text + table->names[0];
    size_t n = strcspn(first, " \t[");
    const char *rest = first + n + strspn(first + n, " \t");
    bool named = (n == 4 && strncasecmp(first, "time", 4) == 0) || (n == 1 && strncasecmp(first, "t", 1) == 0);
    if (named && (*rest == '\0' || *rest == '['))
        return read_time_unit(table, rows, rest);
    return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the first column must be 'time', and is '%s'", rows->name, rows->line,
                   tt_text_excerpt(first).text);
}

static enum tutti_err csv_table_check_names(const struct tt_csv_table *table, const struct tt_csv_parser *rows,
                                            struct tt_map *names)
{
    /* The first column is not checked: a model may have a variable called `time`. */
    for (size_t i = 1; i < table->width; i++) {
        const char *name = table->text + table->names[i];
        int64_t earlier;
        if (!name[0])
            return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: column %zu has no name", rows->name, rows->line, i + 1);
        TRY(tt_map_add(names, name, (int64_t)i, &earlier));
        if (earlier != TUTTI_MAP_NONE)
            return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: columns %zu and %zu have the same name '%s'", rows->name,
                           rows->line, (size_t)earlier + 1, i + 1, tt_text_excerpt(name).text);
    }
    return TUTTI_OK;
}

static enum tutti_err csv_table_read_header(struct tt_csv_table *table, struct tt_csv_parser *rows)
{
    TRY(tt_csv_parser_next(rows));
    if (rows->count == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the file is empty; it must start with a line 'time,NAME,...'",
                       rows->name);
    table->width = rows->count;
    table->names = malloc(table->width * sizeof *table->names);
    if (!table->names)
        return tt_fail_memory();
    for (size_t i = 0; i < table->width; i++) {
        TRY(csv_table_append_cell(table, rows->name, &rows->cells[i], &table->names[i]));
        if (!rows->cells[i].quoted)
            table->names[i] = csv_table_trim(table->text, table->names[i]);
    }
    TRY(csv_table_check_time(table, rows));
    struct tt_map names = {0};
    enum tutti_err err = csv_table_check_names(table, rows, &names);
    tt_map_fini(&names);
    return err;
}

/* --- the rows */

static enum tutti_err reserve_row(struct tt_csv_table *table)
{
    if (table->rows < table->room)
        return TUTTI_OK;
    size_t room = table->room ? 2 * table->room : 64;
    double *times = realloc(table->times, room * sizeof *times);
    if (times)
        table->times = times;
    unsigned *lines = realloc(table->lines, room * sizeof *lines);
    if (lines)
        table->lines = lines;
    uint32_t *cells = realloc(table->cells, (room * (table->width - 1) + 1) * sizeof *cells);
    if (cells)
        table->cells = cells;
    if (!times || !lines || !cells)
        return tt_fail_memory();
    table->room = room;
    return TUTTI_OK;
}

static enum tutti_err csv_table_add_time(struct tt_csv_table *table, const struct tt_csv_parser *rows, char *cell)
{
    double time;
    if (table->commas)
        tt_csv_table_decimal_point(cell);
    if (!tt_number_read_double(cell, strlen(cell), &time) || !isfinite(time))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the time '%s' is not a number", rows->name, rows->line,
                       tt_text_excerpt(cell).text);
    time = time * table->multiplier / table->divisor;
    if (!isfinite(time))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the time '%s' is too large", rows->name, rows->line,
                       tt_text_excerpt(cell).text);
    if (table->rows > 0 && time < table->times[table->rows - 1])
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: time runs backwards, from %s to %s; rows must be in order of time",
                       rows->name, rows->line, NUMBER(table->times[table->rows - 1]), NUMBER(time));
    table->times[table->rows] = time;
    table->lines[table->rows] = (unsigned)rows->line;
    return TUTTI_OK;
}

static enum tutti_err csv_table_add_row(struct tt_csv_table *table, const struct tt_csv_parser *rows)
{
    if (rows->count != table->width)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: %zu cells, and the header has %zu", rows->name, rows->line,
                       rows->count, table->width);
    TRY(reserve_row(table));
    uint32_t time, *cells = table->cells + table->rows * (table->width - 1);
    TRY(csv_table_append_cell(table, rows->name, &rows->cells[0], &time));
    for (size_t i = 1; i < table->width; i++)
        TRY(csv_table_append_cell(table, rows->name, &rows->cells[i], &cells[i - 1]));
    TRY(csv_table_add_time(table, rows, table->text + time));
    table->rows++;
    return TUTTI_OK;
}

/* --- the file */

static enum tutti_err csv_table_read_all(struct tt_csv_table *table, struct tt_csv_parser *rows)
{
    if (rows->size > LARGEST)
        return fail_size(rows->name);
    TRY(csv_table_read_header(table, rows));
    table->commas = rows->separator != ',';
    for (;;) {
        TRY(tt_csv_parser_next(rows));
        if (rows->count == 0)
            return TUTTI_OK;
        TRY(csv_table_add_row(table, rows));
    }
}

/* Makes a table of the rows, which are released. */
static enum tutti_err csv_table_build(struct tt_csv_table **out, struct tt_csv_parser *rows)
{
    struct tt_csv_table *table = calloc(1, sizeof *table);
    enum tutti_err err = table ? csv_table_read_all(table, rows) : tt_fail_memory();
    tt_csv_parser_fini(rows);
    if (err == TUTTI_OK)
        *out = table;
    else
        tt_csv_table_free(table);
    return err;
}

enum tutti_err tt_csv_table_read(struct tt_csv_table **out, const char *path)
{
    return tt_csv_table_read_named(out, path, path);
}

enum tutti_err tt_csv_table_read_named(struct tt_csv_table **out, const char *path, const char *name)
{
    struct tt_csv_parser rows;
    TRY(tt_csv_parser_open(&rows, path));
    rows.name = name;
    return csv_table_build(out, &rows);
}

enum tutti_err tt_csv_table_parse(struct tt_csv_table **out, const char *name, const char *text, size_t n)
{
    struct tt_csv_parser rows;
    tt_csv_parser_open_text(&rows, name, text, n);
    return csv_table_build(out, &rows);
}

void tt_csv_table_free(struct tt_csv_table *table)
{
    if (!table)
        return;
    free(table->text);
    free(table->names);
    free(table->cells);
    free(table->times);
    free(table->lines);
    free(table);
}

size_t tt_csv_table_rows(const struct tt_csv_table *table)
{
    return table->rows;
}

size_t tt_csv_table_columns(const struct tt_csv_table *table)
{
    return table->width - 1;
}

const char *tt_csv_table_name(const struct tt_csv_table *table, size_t column)
{
    return table->text + table->names[column + 1];
}

size_t tt_csv_table_find(const struct tt_csv_table *table, const char *name)
{
    for (size_t column = 0; column < tt_csv_table_columns(table); column++)
        if (strcmp(tt_csv_table_name(table, column), name) == 0)
            return column;
    return SIZE_MAX;
}

bool tt_csv_table_has_decimal_commas(const struct tt_csv_table *table)
{
    return table->commas;
}

const double *tt_csv_table_times(const struct tt_csv_table *table)
{
    return table->times;
}

const char *tt_csv_table_cell(const struct tt_csv_table *table, size_t row, size_t column)
{
    return table->text + table->cells[row * (table->width - 1) + column];
}

unsigned tt_csv_table_line(const struct tt_csv_table *table, size_t row)
{
    return table->lines[row];
}
