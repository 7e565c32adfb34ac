/* SPDX-License-Identifier: MIT */
/* The whole file lies in memory once; cells are cut out of it in place and found again by their offsets. */
#include "record/table.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/str.h"

#define LARGEST ((size_t)1 << 31) /* so that an offset fits into 32 bits */
enum { COLUMNS_MOST = 1000000 };

struct tutti_table {
    char *text;
    uint32_t *names; /* offsets of the header's cells, `time` included */
    size_t width;    /* columns, `time` included */
    uint32_t *cells; /* offsets, row by row, without `time` */
    double *times;
    unsigned *lines;
    size_t rows, room;
};

struct parser {
    struct tutti_table *table;
    const char *file; /* for messages */
    char *at, *end;   /* *end is '\0' */
    unsigned line;    /* of `at` */
    bool row_ended;   /* the last cell was the last of its row */
};

/* Ends the cell at `cell_end`, where the text goes on at parser->at with a separator, a line end, or nothing. */
static void finish_cell(struct parser *parser, char *cell_end)
{
    char separator = *parser->at;
    parser->row_ended = separator != ',';
    if (separator == '\r' && parser->at[1] == '\n')
        parser->at++;
    if (parser->at < parser->end)
        parser->at++;
    if (separator == '\r' || separator == '\n')
        parser->line++;
    *cell_end = '\0';
}

static enum tutti_err quoted_cell(struct parser *parser, uint32_t *offset)
{
    unsigned first_line = parser->line;
    char *out = ++parser->at;
    *offset = (uint32_t)(out - parser->table->text);
    for (;; parser->at++) {
        char c = *parser->at;
        if (c == '\0')
            return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: a quote is opened here and never closed", parser->file,
                              first_line);
        if (c == '"' && *++parser->at != '"')
            break;
        if (c == '\n' || (c == '\r' && parser->at[1] != '\n'))
            parser->line++;
        *out++ = c;
    }
    if (*parser->at && !strchr(",\r\n", *parser->at))
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "%s:%u: '%c' behind a closing quote, where a comma or the end of the line must be; a quote "
                          "inside a quoted text is written twice",
                          parser->file, parser->line, *parser->at);
    finish_cell(parser, out);
    return TUTTI_OK;
}

static enum tutti_err next_cell(struct parser *parser, uint32_t *offset)
{
    if (*parser->at == '"')
        return quoted_cell(parser, offset);
    *offset = (uint32_t)(parser->at - parser->table->text);
    while (*parser->at != ',' && *parser->at != '\n' && *parser->at != '\r' && *parser->at)
        parser->at++;
    finish_cell(parser, parser->at);
    return TUTTI_OK;
}

static void skip_blank_lines(struct parser *parser)
{
    for (; *parser->at == '\n' || *parser->at == '\r'; parser->at++)
        if (*parser->at == '\n' || parser->at[1] != '\n')
            parser->line++;
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

struct named {
    const char *name;
    size_t column;
};

static int compare_named(const void *a, const void *b)
{
    const struct named *left = a, *right = b;
    int order = strcmp(left->name, right->name);
    return order ? order : (left->column > right->column) - (left->column < right->column);
}

static enum tutti_err check_names(const struct parser *parser, unsigned line)
{
    const struct tutti_table *table = parser->table;
    const char *first = table->text + table->names[0];
    if (strcasecmp(first, "time") != 0) {
        bool other = table->width == 1 && strpbrk(first, ";\t");
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: the first column must be 'time', and is '%s'%s", parser->file, line,
                          tutti_str_show(first).text, other ? "; columns are separated by commas" : "");
    }
    /* The first column is not looked at: a model may well have a variable of its own that is called `time`. */
    size_t n = table->width - 1;
    struct named *sorted = malloc((n + 1) * sizeof *sorted);
    if (!sorted)
        return tutti_fail_memory();
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct named){table->text + table->names[i + 1], i + 1};
    qsort(sorted, n, sizeof *sorted, compare_named);
    enum tutti_err err = TUTTI_OK;
    if (n > 0 && sorted[0].name[0] == '\0')
        err = tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: column %zu has no name", parser->file, line, sorted[0].column + 1);
    for (size_t i = 1; i < n && err == TUTTI_OK; i++)
        if (strcmp(sorted[i - 1].name, sorted[i].name) == 0)
            err = tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: columns %zu and %zu have the same name '%s'", parser->file, line,
                             sorted[i - 1].column + 1, sorted[i].column + 1, tutti_str_show(sorted[i].name).text);
    free(sorted);
    return err;
}

static enum tutti_err parse_header(struct parser *parser)
{
    struct tutti_table *table = parser->table;
    skip_blank_lines(parser);
    unsigned line = parser->line;
    if (parser->at == parser->end)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the file is empty; it must start with a line 'time,NAME,...'",
                          parser->file);
    for (size_t room = 0;;) {
        if (table->width == COLUMNS_MOST)
            return tutti_fail(TUTTI_ERR_LIMIT, "%s:%u: more than %d columns", parser->file, line, COLUMNS_MOST);
        if (table->width == room) {
            room = room ? 2 * room : 16;
            uint32_t *names = realloc(table->names, room * sizeof *names);
            if (!names)
                return tutti_fail_memory();
            table->names = names;
        }
        bool quoted = *parser->at == '"';
        uint32_t offset;
        TRY(next_cell(parser, &offset));
        table->names[table->width++] = quoted ? offset : trim(table->text, offset);
        if (parser->row_ended)
            return check_names(parser, line);
    }
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

static enum tutti_err fail_ragged(const struct parser *parser, unsigned line, size_t width)
{
    return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: %s%zu cells, and the header has %zu", parser->file, line,
                      width > parser->table->width ? "more than " : "",
                      width > parser->table->width ? width - 1 : width, parser->table->width);
}

static enum tutti_err add_time(const struct parser *parser, unsigned line, const char *cell)
{
    struct tutti_table *table = parser->table;
    double time;
    if (!tutti_number_read_double(cell, strlen(cell), &time) || !isfinite(time))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s:%u: the time '%s' is not a number", parser->file, line,
                          tutti_str_show(cell).text);
    if (table->rows > 0 && time < table->times[table->rows - 1]) {
        char before[TUTTI_NUMBER_MAX];
        size_t n = tutti_number_write_double(before, table->times[table->rows - 1]);
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "%s:%u: time runs backwards, from %.*s to %s; rows must be in order of time", parser->file,
                          line, (int)n, before, tutti_str_show(cell).text);
    }
    table->times[table->rows] = time;
    table->lines[table->rows] = line;
    return TUTTI_OK;
}

static enum tutti_err parse_row(struct parser *parser)
{
    struct tutti_table *table = parser->table;
    TRY(reserve_row(table));
    unsigned line = parser->line;
    uint32_t time, *cells = table->cells + table->rows * (table->width - 1);
    TRY(next_cell(parser, &time));
    size_t width = 1;
    for (; !parser->row_ended; width++) {
        if (width == table->width)
            return fail_ragged(parser, line, width + 1);
        TRY(next_cell(parser, &cells[width - 1]));
    }
    if (width < table->width)
        return fail_ragged(parser, line, width);
    TRY(add_time(parser, line, table->text + time));
    table->rows++;
    return TUTTI_OK;
}

/* --- the file */

/* Parses table->text[0..n), which has a NUL behind it. */
static enum tutti_err parse(struct tutti_table *table, const char *name, size_t n)
{
    struct parser parser = {.table = table, .file = name, .at = table->text, .end = table->text + n, .line = 1};
    if (n >= 2 && (memcmp(table->text, "\xff\xfe", 2) == 0 || memcmp(table->text, "\xfe\xff", 2) == 0))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: the file is UTF-16; save it as UTF-8", name);
    if (memchr(table->text, '\0', n))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: not a text file (there are zero bytes in it)", name);
    if (n >= 3 && memcmp(table->text, "\xef\xbb\xbf", 3) == 0)
        parser.at += 3;
    TRY(parse_header(&parser));
    for (skip_blank_lines(&parser); parser.at < parser.end; skip_blank_lines(&parser))
        TRY(parse_row(&parser));
    return TUTTI_OK;
}

static enum tutti_err fail_size(const char *name)
{
    return tutti_fail(TUTTI_ERR_LIMIT, "%s: the file is larger than 2 GiB; split it, or keep fewer columns or rows",
                      name);
}

/* Reads all of `fd`; *n does not count the NUL. */
static enum tutti_err slurp(struct tutti_table *table, const char *path, int fd, size_t *n)
{
    struct stat st;
    bool sized = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    if (sized && (size_t)st.st_size > LARGEST)
        return fail_size(path);
    size_t room = sized ? (size_t)st.st_size + 2 : 65536; /* one more than needed shows the end without growing */
    for (size_t length = 0;;) {
        if (!table->text || length + 1 == room) {
            room = table->text ? 2 * room : room;
            char *text = realloc(table->text, room);
            if (!text)
                return tutti_fail_memory();
            table->text = text;
        }
        ssize_t got = read(fd, table->text + length, room - length - 1);
        if (got < 0 && errno != EINTR)
            return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
        length += got > 0 ? (size_t)got : 0;
        if (length > LARGEST)
            return fail_size(path);
        if (got == 0) {
            table->text[length] = '\0';
            *n = length;
            return TUTTI_OK;
        }
    }
}

/* Hands out the table, or releases it. */
static enum tutti_err finish(struct tutti_table **out, struct tutti_table *table, enum tutti_err err)
{
    if (err == TUTTI_OK)
        *out = table;
    else
        tutti_table_free(table);
    return err;
}

enum tutti_err tutti_table_read(struct tutti_table **out, const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tutti_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    size_t n = 0;
    struct tutti_table *table = calloc(1, sizeof *table);
    enum tutti_err err = table ? slurp(table, path, fd, &n) : tutti_fail_memory();
    close(fd);
    return finish(out, table, err == TUTTI_OK ? parse(table, path, n) : err);
}

enum tutti_err tutti_table_parse(struct tutti_table **out, const char *name, const char *text, size_t n)
{
    if (n > LARGEST)
        return fail_size(name);
    struct tutti_table *table = calloc(1, sizeof *table);
    if (!table || !(table->text = malloc(n + 1)))
        return finish(out, table, tutti_fail_memory());
    if (n > 0)
        memcpy(table->text, text, n);
    table->text[n] = '\0';
    return finish(out, table, parse(table, name, n));
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
