/* SPDX-License-Identifier: MIT */
/* Rows are parsed in memory. If the data ends within a row, the row's beginning moves to the front of the buffer, more
 * data is read after it, and the row is parsed again: once per buffer, which is cheap. */
#include "results/csv_parser.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/vector.h"

enum { CELLS_MOST = 1000000, BUFFER = 1 << 20, ROW_MOST = 1 << 28 };
#define PIPE_MOST ((size_t)1 << 32)

/* Reads up to n bytes to `to`; *got is 0 at the end. */
static enum tutti_err csv_parser_read_some(struct tt_csv_parser *rows, int fd, char *to, size_t n, size_t *got)
{
    ssize_t result;
    if (rows->size > 0) {
        /* A file ends where it ended when it was opened: a file that grows faster than it is read would have no end. */
        size_t left = rows->size - (size_t)rows->offset;
        char next;
        rows->grows = rows->grows || (left == 0 && pread(fd, &next, 1, rows->offset) == 1);
        n = left < n ? left : n;
    }
    do {
        result = rows->size > 0 ? pread(fd, to, n, rows->offset) : read(fd, to, n);
    } while (result < 0 && errno == EINTR);
    if (result < 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", rows->name, strerror(errno));
    rows->offset += result;
    *got = (size_t)result;
    return TUTTI_OK;
}

static enum tutti_err csv_parser_grow(struct tt_csv_parser *rows, size_t most)
{
    if (rows->room >= most)
        return tt_fail(TUTTI_ERR_LIMIT, "%s:%zu: %s", rows->name, rows->next_line,
                       most == ROW_MOST ? "a row of more than 256 MiB"
                                        : "more than 4 GiB come through a pipe; write them to a file");
    size_t room = rows->room ? 2 * rows->room : BUFFER;
    char *buffer = realloc(rows->buffer, room);
    if (!buffer)
        return tt_fail_memory();
    rows->buffer = buffer;
    rows->room = room;
    return TUTTI_OK;
}

/* Gets more text after what has not been read yet, which moves. */
static enum tutti_err csv_parser_refill(struct tt_csv_parser *rows)
{
    size_t kept = (size_t)(rows->end - rows->at), got;
    if (kept > 0)
        memmove(rows->buffer, rows->at, kept);
    rows->at = rows->buffer;
    rows->end = rows->buffer + kept;
    if (kept == rows->room) {
        TRY(csv_parser_grow(rows, ROW_MOST));
        rows->at = rows->buffer;
    }
    TRY(csv_parser_read_some(rows, rows->fd, rows->buffer + kept, rows->room - kept, &got));
    rows->end = rows->buffer + kept + got;
    rows->all = got == 0;
    return TUTTI_OK;
}

static enum tutti_err fail_zero(const struct tt_csv_parser *rows, size_t line)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: not a text file (there are zero bytes in it)", rows->name, line);
}

/* A pipe cannot be gone through twice: all of it is kept. */
static enum tutti_err read_whole_pipe(struct tt_csv_parser *rows, int fd)
{
    for (size_t length = 0, got = 1; got > 0; length += got) {
        if (length == rows->room)
            TRY(csv_parser_grow(rows, PIPE_MOST));
        TRY(csv_parser_read_some(rows, fd, rows->buffer + length, rows->room - length, &got));
        if (memchr(rows->buffer + length, '\0', got)) /* before a device fills the memory with them */
            return fail_zero(rows, 1);
        rows->end = rows->buffer + length + got;
    }
    rows->text = rows->buffer;
    return TUTTI_OK;
}

/* --- scanning; *more: the text in memory ends too early, nothing has happened */

static enum tutti_err add_cell(struct tt_csv_parser *rows, const char *text, size_t n, bool quoted)
{
    if (rows->count == CELLS_MOST)
        return tt_fail(TUTTI_ERR_LIMIT, "%s:%zu: more than %d columns", rows->name, rows->line, CELLS_MOST);
    if (!tt_vector_reserve(&rows->cells, &rows->cells_room, rows->count + 1, sizeof *rows->cells))
        return tt_fail_memory();
    rows->cells[rows->count++] = (struct tt_csv_cell){text, n, quoted};
    return TUTTI_OK;
}

/* Length of the line end at `p`; 0 if a second character may follow that is not yet read. */
static size_t line_end_length(const struct tt_csv_parser *rows, const char *p)
{
    if (*p == '\n')
        return 1;
    if (p + 1 == rows->end)
        return rows->all;
    return p[1] == '\n' ? 2 : 1;
}

static bool is_line_end(char c)
{
    return c == '\n' || c == '\r';
}

/* Parses the quoted cell whose quote is at *at; leaves *at after the closing quote. */
static enum tutti_err scan_quoted(struct tt_csv_parser *rows, const char **at, size_t *line, bool *more)
{
    size_t first_line = *line;
    const char *p = *at + 1;
    for (size_t step; p < rows->end; p += step) {
        step = 1;
        if (*p == '\0')
            return fail_zero(rows, *line);
        if (is_line_end(*p)) {
            step = line_end_length(rows, p);
            *line += step > 0;
        } else if (*p == '"') {
            if (p + 1 == rows->end && !rows->all)
                break;
            if (p + 1 == rows->end || p[1] != '"') {
                TRY(add_cell(rows, *at + 1, (size_t)(p - *at - 1), true));
                *at = p + 1;
                return TUTTI_OK;
            }
            step = 2;
        }
        if (step == 0)
            break;
    }
    *more = !rows->all;
    rows->cut = rows->all && *line == first_line;
    return rows->all
               ? tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: a quote is opened here and never closed", rows->name, first_line)
               : TUTTI_OK;
}

/* Parses the end of the cell before `at`: the row continues (*at is after a separator), or it has ended. */
static enum tutti_err scan_separator(struct tt_csv_parser *rows, const char **at, size_t *line, bool *goes_on,
                                     bool *more)
{
    const char *p = *at;
    *goes_on = false;
    rows->ended = false;
    if (p == rows->end) {
        *more = !rows->all;
        return TUTTI_OK;
    }
    if (*p == rows->separator) {
        *goes_on = true;
        *at = p + 1;
    } else if (is_line_end(*p)) {
        size_t length = line_end_length(rows, p);
        *more = length == 0;
        *line += 1;
        *at = p + length;
        rows->ended = true;
    } else if (*p == '\0') {
        return fail_zero(rows, *line);
    } else {
        return tt_fail(
            TUTTI_ERR_FORMAT,
            "%s:%zu: '%c' after a closing quote, where a %s or the end of the line must be; a quote inside a "
            "quoted text is written twice",
            rows->name, *line, *p,
            rows->separator == ','   ? "comma"
            : rows->separator == ';' ? "semicolon"
                                     : "tab");
    }
    return TUTTI_OK;
}

static enum tutti_err scan_row(struct tt_csv_parser *rows, bool *more)
{
    const char *p = rows->at;
    size_t line = rows->next_line;
    rows->count = 0;
    rows->line = line;
    for (bool goes_on = true; goes_on;) {
        if (p < rows->end && *p == '"') {
            TRY(scan_quoted(rows, &p, &line, more));
        } else {
            const char *begin = p;
            while (p < rows->end && !rows->stops[(unsigned char)*p])
                p++;
            TRY(add_cell(rows, begin, (size_t)(p - begin), false));
        }
        if (!*more)
            TRY(scan_separator(rows, &p, &line, &goes_on, more));
        if (*more)
            return TUTTI_OK;
    }
    rows->at = p;
    rows->next_line = line;
    return TUTTI_OK;
}

/* Goes on to the first character of a row, or to the end. */
static enum tutti_err skip_blank_lines(struct tt_csv_parser *rows)
{
    for (;;) {
        size_t length = 0;
        for (; rows->at < rows->end && is_line_end(*rows->at); rows->at += length, rows->next_line++)
            if ((length = line_end_length(rows, rows->at)) == 0)
                break;
        bool knows = rows->at < rows->end && !is_line_end(*rows->at);
        if (knows || rows->all)
            return TUTTI_OK;
        TRY(csv_parser_refill(rows));
    }
}

/* At the very beginning: detects the kind of text. */
static enum tutti_err csv_parser_detect(struct tt_csv_parser *rows)
{
    while (rows->end - rows->at < 3 && !rows->all)
        TRY(csv_parser_refill(rows));
    size_t n = (size_t)(rows->end - rows->at);
    if (n >= 2 && (memcmp(rows->at, "\xff\xfe", 2) == 0 || memcmp(rows->at, "\xfe\xff", 2) == 0))
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the file is UTF-16; save it as UTF-8", rows->name);
    if (n >= 3 && memcmp(rows->at, "\xef\xbb\xbf", 3) == 0)
        rows->at += 3;
    rows->next_line = 1;
    TRY(skip_blank_lines(rows));

    bool quoted = false;
    for (const char *p = rows->at; rows->separator == 0 && p < rows->end && (quoted || !is_line_end(*p)); p++) {
        quoted ^= *p == '"';
        if (!quoted && (*p == ',' || *p == ';' || *p == '\t'))
            rows->separator = *p;
    }
    if (rows->separator == 0)
        rows->separator = ',';

    rows->stops[0] = rows->stops['\n'] = rows->stops['\r'] = rows->stops[(unsigned char)rows->separator] = true;
    return TUTTI_OK;
}

enum tutti_err tt_csv_parser_next(struct tt_csv_parser *rows)
{
    rows->count = 0;
    rows->cut = false;
    TRY(rows->next_line == 0 ? csv_parser_detect(rows) : skip_blank_lines(rows));
    while (rows->at < rows->end) {
        bool more = false;
        TRY(scan_row(rows, &more));
        if (!more)
            break;
        TRY(csv_parser_refill(rows));
    }
    return TUTTI_OK;
}

bool tt_csv_parser_at_end(struct tt_csv_parser *rows)
{
    return skip_blank_lines(rows) == TUTTI_OK && rows->at == rows->end;
}

/* --- open, close, rewind */

void tt_csv_parser_rewind(struct tt_csv_parser *rows)
{
    rows->next_line = 0;
    if (rows->fd < 0) {
        rows->at = rows->text;
    } else {
        rows->at = rows->end = rows->buffer;
        rows->offset = 0;
        rows->all = false;
    }
}

void tt_csv_parser_open_text(struct tt_csv_parser *rows, const char *name, const char *text, size_t n)
{
    *rows = (struct tt_csv_parser){.name = name, .size = n, .fd = -1, .all = true, .text = text ? text : ""};
    rows->end = rows->text + (text ? n : 0);
    tt_csv_parser_rewind(rows);
}

/* Of a file its first bytes are read when they are wanted, a pipe is read now. */
static enum tutti_err csv_parser_start_reading(struct tt_csv_parser *rows, int fd)
{
    struct stat st;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0) {
        rows->size = (size_t)st.st_size;
        rows->fd = fd;
        TRY(csv_parser_grow(rows, ROW_MOST));
    } else {
        TRY(read_whole_pipe(rows, fd));
        rows->all = true;
    }
    tt_csv_parser_rewind(rows);
    return TUTTI_OK;
}

enum tutti_err tt_csv_parser_open(struct tt_csv_parser *rows, const char *path)
{
    *rows = (struct tt_csv_parser){.name = path, .fd = -1};
    int fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    enum tutti_err err = csv_parser_start_reading(rows, fd);
    if (rows->fd != fd && fd != STDIN_FILENO)
        close(fd);
    if (err != TUTTI_OK)
        tt_csv_parser_fini(rows);
    return err;
}

void tt_csv_parser_fini(struct tt_csv_parser *rows)
{
    if (rows->fd > STDIN_FILENO)
        close(rows->fd);
    free(rows->buffer);
    free(rows->cells);
    *rows = (struct tt_csv_parser){.fd = -1};
}

size_t tt_csv_parser_copy_cell(const struct tt_csv_cell *cell, char *out)
{
    size_t length = 0;
    for (size_t i = 0; i < cell->n; i++) {
        out[length++] = cell->text[i];
        if (cell->quoted && cell->text[i] == '"')
            i++; /* skip the second of two characters */
    }
    out[length] = '\0';
    return length;
}
