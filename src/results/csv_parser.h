/* SPDX-License-Identifier: MIT */
/* csv_parser.h - CSV text, row by row: RFC 4180 (quotes, doubled quotes, LF or CRLF), a byte order mark and blank lines
 * are skipped. A file may have any size: only the current row is in memory. A pipe is read completely. */
#ifndef TT_RESULTS_CSV_PARSER_H
#define TT_RESULTS_CSV_PARSER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/fail.h"

struct tt_csv_cell {
    const char *text; /* without its quotes */
    size_t n;
    bool quoted; /* quotes inside are still doubled */
};

struct tt_csv_parser {
    const char *name; /* of the file, for messages; borrowed */
    char separator;   /* may be set before the first row; 0: whichever of comma, semicolon and tab comes first */
    size_t size;      /* bytes; 0: not known */
    /* The current row, valid until the next call. */
    struct tt_csv_cell *cells;
    size_t count; /* 0: end of the text */
    size_t line;  /* where it begins, counted from 1 */
    bool ended;   /* a line end is after it, not the end of the text */
    bool grows;   /* the file is longer by now than it was when it was opened, which is where the text ends */
    bool cut;     /* next failed because the text ends in a quoted cell, on the line where that begins */

    /* The remaining fields are private to csv_parser.c. */
    size_t cells_room;
    size_t next_line;     /* where `at` is; 0: at the very beginning */
    const char *at, *end; /* unread data in memory */
    bool all;             /* nothing comes after `end` */
    bool stops[256];      /* characters at which a cell without quotes ends */
    int fd;               /* -1: all is in memory */
    off_t offset;         /* of the file, at `end` */
    char *buffer;         /* NULL: the text is the caller's */
    size_t room;
    const char *text; /* its beginning, if all is in memory */
};

/* Opens a file, or standard input ("-"). On failure nothing needs to be released. IO; for a pipe also FORMAT, LIMIT.
 * `path` is borrowed until fini. */
TUTTI_CHECKED enum tutti_err tt_csv_parser_open(struct tt_csv_parser *rows, const char *path);
/* As above for text[0..n), which is borrowed until fini, as is `name`. */
void tt_csv_parser_open_text(struct tt_csv_parser *rows, const char *name, const char *text, size_t n);
void tt_csv_parser_fini(struct tt_csv_parser *rows);

/* Goes on to the next row. FORMAT (UTF-16; with file and line: a quote that is never closed, text after a closing one, zero
 * bytes), IO, LIMIT (more than a million cells, 256 MiB), MEMORY; no call of next may follow then. */
TUTTI_CHECKED enum tutti_err tt_csv_parser_next(struct tt_csv_parser *rows);
/* Returns true if no further row exists; false also if that cannot be determined. Invalidates the current row. */
bool tt_csv_parser_at_end(struct tt_csv_parser *rows);
/* Back to the beginning: next gives the first row again. */
void tt_csv_parser_rewind(struct tt_csv_parser *rows);

/* Writes the cell's text and a NUL to `out`, with room for n + 1; quotes become single. Returns the length. */
size_t tt_csv_parser_copy_cell(const struct tt_csv_cell *cell, char *out);

#endif
