/* SPDX-License-Identifier: MIT */
/* All cells lie in memory, one after the other, each with a NUL after it; they are found again by their offsets. */
#include "record/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/map.h"
#include "base/number.h"
#include "base/str.h"
#include "record/csv_reader.h"

#define LARGEST ((size_t)1 << 31) /* so that an offset fits into 32 bits */

struct tutti_table {
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
    return tutti_fail(TUTTI_ERR_LIMIT, "%s: the file is larger than 2 GiB; split it, or keep fewer columns or rows",
                      name);
}

/* Appends the cell's text to the table's and says where it is. */
static enum tutti_err keep(struct tutti_table *table, const char *name, const struct tutti_csv_cell *cell,
                           uint32_t *offset)
{
    if (table->length + cell->n >= LARGEST)
        return fail_size(name);
    if (table->length + cell->n + 1 > table->text_room) {
        size_t room = 2 * table->text_room + cell->n + 4096;
        char *text = realloc(table->text, room);
        if (!text)
            return tutti_fail_memory();
        table->text = text;
        table->text_room = room;
    }
    *offset = (uint32_t)table->length;
    table->length += tutti_csv_write_cell(cell, table->text + table->length) + 1;
    return TUTTI_OK;
}

/* --- the header */

/* Cuts white space at both ends, which is never meant to be part of a name. */
static uint32_t trim(char *text, uint32_t offset)
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
static char *find_comma(char *text, size_t n)
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

void tutti_table_point(char *text)
{
    while (*text) {
        text += strspn(text, " \t");
        size_t n = strcspn(text, " \t");
        char *comma = n > 0 ? find_comma(text, n) : NULL;
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
static enum tutti_err read_time_unit(struct tutti_table *table, const struct tutti_csv_reader *rows, const char *rest)
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
    return tutti_fail(TUTTI_ERR_FORMAT,
                      "%s:%zu: the unit of time in '%s' is not known; it may be [s], [ms], [us], [ns], "
                      "[min], [h] or [d]",
                      rows->name, rows->line, tutti_str_show(table->text + table->names[0]).text);
}

static enum tutti_err check_time(struct tutti_table *table, const struct tutti_csv_reader *rows)
{
    const char *first = table->text + table->names[0];
    size_t n = strcspn(first, " \t[");
    const char *rest = first + n + strspn(first + n, " \t");
    bool named = (n == 4 && strncasecmp(first, "time", 4) == 0) || (n == 1 && strncasecmp(first, "t", 1) == 0);
    if (named && (*rest == '\0' || *rest == '['))
        return read_time_unit(table, rows, rest);
    return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: the first column must be 'time', and is '%s'", rows->name, rows->line,
                      tutti_str_show(first).text);
}

static enum tutti_err check_names(const struct tutti_table *table, const struct tutti_csv_reader *rows,
                                  struct tutti_map *names)
{
    /* The first column is not looked at: a model may well have a variable of its own that is called `time`. */
    for (size_t i = 1; i < table->width; i++) {
        const char *name = table->text + table->names[i];
        int64_t earlier;
        if (!name[0])
            return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: column %zu has no name", rows->name, rows->line, i + 1);
        TRY(tutti_map_add(names, name, (int64_t)i, &earlier));
        if (earlier != TUTTI_MAP_NONE)
            return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: columns %zu and %zu have the same name '%s'", rows->name,
                              rows->line, (size_t)earlier + 1, i + 1, tutti_str_show(name).text);
    }
    return TUTTI_OK;
}

static enum tutti_err read_header(struct tutti_table *table, struct tutti_csv_reader *rows)
{
    TRY(tutti_csv_next(rows));
    if (rows->count == 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the file is empty; it must start with a line 'time,NAME,...'",
                          rows->name);
    table->width = rows->count;
    table->names = malloc(table->width * sizeof *table->names);
    if (!table->names)
        return tutti_fail_memory();
    for (size_t i = 0; i < table->width; i++) {
        TRY(keep(table, rows->name, &rows->cells[i], &table->names[i]));
        if (!rows->cells[i].quoted)
            table->names[i] = trim(table->text, table->names[i]);
    }
    TRY(check_time(table, rows));
    struct tutti_map names = {0};
    enum tutti_err err = check_names(table, rows, &names);
    tutti_map_fini(&names);
    return err;
}

/* --- the rows */

static enum tutti_err reserve_row(struct tutti_table *table)
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
        return tutti_fail_memory();
    table->room = room;
    return TUTTI_OK;
}

static enum tutti_err add_time(struct tutti_table *table, const struct tutti_csv_reader *rows, char *cell)
{
    double time;
    if (table->commas)
        tutti_table_point(cell);
    if (!tutti_number_read_double(cell, strlen(cell), &time) || !isfinite(time))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: the time '%s' is not a number", rows->name, rows->line,
                          tutti_str_show(cell).text);
    time = time * table->multiplier / table->divisor;
    if (!isfinite(time))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: the time '%s' is too large", rows->name, rows->line,
                          tutti_str_show(cell).text);
    if (table->rows > 0 && time < table->times[table->rows - 1])
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: time runs backwards, from %s to %s; rows must be in order of time",
                          rows->name, rows->line, NUMBER(table->times[table->rows - 1]), NUMBER(time));
    table->times[table->rows] = time;
    table->lines[table->rows] = (unsigned)rows->line;
    return TUTTI_OK;
}

static enum tutti_err add_row(struct tutti_table *table, const struct tutti_csv_reader *rows)
{
    if (rows->count != table->width)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%zu: %zu cells, and the header has %zu", rows->name, rows->line,
                          rows->count, table->width);
    TRY(reserve_row(table));
    uint32_t time, *cells = table->cells + table->rows * (table->width - 1);
    TRY(keep(table, rows->name, &rows->cells[0], &time));
    for (size_t i = 1; i < table->width; i++)
        TRY(keep(table, rows->name, &rows->cells[i], &cells[i - 1]));
    TRY(add_time(table, rows, table->text + time));
    table->rows++;
    return TUTTI_OK;
}

/* --- the file */

static enum tutti_err read_all(struct tutti_table *table, struct tutti_csv_reader *rows)
{
    if (rows->size > LARGEST)
        return fail_size(rows->name);
    TRY(read_header(table, rows));
    table->commas = rows->separator != ',';
    for (;;) {
        TRY(tutti_csv_next(rows));
        if (rows->count == 0)
            return TUTTI_OK;
        TRY(add_row(table, rows));
    }
}

/* Makes a table of the rows, which are released. */
static enum tutti_err make(struct tutti_table **out, struct tutti_csv_reader *rows)
{
    struct tutti_table *table = calloc(1, sizeof *table);
    enum tutti_err err = table ? read_all(table, rows) : tutti_fail_memory();
    tutti_csv_fini(rows);
    if (err == TUTTI_OK)
        *out = table;
    else
        tutti_table_free(table);
    return err;
}

enum tutti_err tutti_table_read(struct tutti_table **out, const char *path)
{
    return tutti_table_read_named(out, path, path);
}

enum tutti_err tutti_table_read_named(struct tutti_table **out, const char *path, const char *name)
{
    struct tutti_csv_reader rows;
    TRY(tutti_csv_open(&rows, path));
    rows.name = name;
    return make(out, &rows);
}

enum tutti_err tutti_table_parse(struct tutti_table **out, const char *name, const char *text, size_t n)
{
    struct tutti_csv_reader rows;
    tutti_csv_over(&rows, name, text, n);
    return make(out, &rows);
}

void tutti_table_free(struct tutti_table *table)
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

size_t tutti_table_rows(const struct tutti_table *table)
{
    return table->rows;
}

size_t tutti_table_columns(const struct tutti_table *table)
{
    return table->width - 1;
}

const char *tutti_table_name(const struct tutti_table *table, size_t column)
{
    return table->text + table->names[column + 1];
}

size_t tutti_table_find(const struct tutti_table *table, const char *name)
{
    for (size_t column = 0; column < tutti_table_columns(table); column++)
        if (strcmp(tutti_table_name(table, column), name) == 0)
            return column;
    return SIZE_MAX;
}

bool tutti_table_has_decimal_commas(const struct tutti_table *table)
{
    return table->commas;
}

const double *tutti_table_times(const struct tutti_table *table)
{
    return table->times;
}

const char *tutti_table_cell(const struct tutti_table *table, size_t row, size_t column)
{
    return table->text + table->cells[row * (table->width - 1) + column];
}

unsigned tutti_table_line(const struct tutti_table *table, size_t row)
{
    return table->lines[row];
}
