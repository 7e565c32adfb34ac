/* SPDX-License-Identifier: MIT */
/* CSV results of any tool. The file is gone through once at open, for the times, and once in every read: nothing of it is kept
 * in memory but what is asked for. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "base/text.h"
#include "base/vector.h"
#include "results/result.h"
#include "results/csv_parser.h"

struct csv_result {
    struct tt_csv_parser rows;
    size_t width;    /* cells of a row */
    size_t *columns; /* where a variable is in a row */
    size_t times_room;
};

/* What is not UTF-8 is told by a message of its own. */
static bool csv_result_fits(const char *path, const unsigned char *head, size_t size)
{
    (void)path;
    bool utf16 = size >= 2 && (head[0] ^ head[1]) == 1 && head[0] >= 0xfe;
    return utf16 || !memchr(head, '\0', size);
}

/* --- cells as numbers */

static bool csv_result_is_word(const char *text, size_t n, const char *word)
{
    return n == strlen(word) && strncasecmp(text, word, n) == 0;
}

/* How programs write what is not a finite number, beyond what base/number.h knows. */
static bool csv_result_read_word(const char *text, size_t n, double *value)
{
    static const struct {
        const char *word;
        double value;
    } words[] = {
        {"true", 1},      {"false", 0},    {"1.#INF", INFINITY},   {"1.#QNAN", NAN},
        {"1.#SNAN", NAN}, {"1.#IND", NAN}, {"-1.#IND", NAN},       {"n/a", NAN},
        {"na", NAN},      {"null", NAN},   {"-1.#INF", -INFINITY}, {"-1.#QNAN", NAN},
        {"", NAN},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (csv_result_is_word(text, n, words[i].word)) {
            *value = words[i].value;
            return true;
        }
    return false;
}

/* 1,5 where columns are separated by something else. */
static bool read_decimal_comma(const char *text, size_t n, double *value)
{
    char copy[TUTTI_NUMBER_MAX + 1];
    const char *comma = memchr(text, ',', n);
    if (!comma || n > sizeof copy)
        return false;
    memcpy(copy, text, n);
    copy[comma - text] = '.';
    return tt_number_read_double(copy, n, value);
}

/* False: it is a text. */
static bool csv_result_read_cell(const struct tt_csv_parser *rows, size_t column, double *value)
{
    const char *text = rows->cells[column].text;
    size_t n = rows->cells[column].n;
    if (tt_number_read_double(text, n, value))
        return true;
    while (n > 0 && text[0] == ' ')
        text++, n--;
    while (n > 0 && text[n - 1] == ' ')
        n--;
    return csv_result_read_word(text, n, value) || (rows->separator != ',' && read_decimal_comma(text, n, value));
}

/* --- the header */

static char *csv_result_trim(char *text)
{
    for (size_t n = strlen(text); n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'); n--)
        text[n - 1] = '\0';
    return text + strspn(text, " \t");
}

/* Cuts "name [unit]" in two; the blank tells it from an element of an array. */
static const char *split_name_unit(char *name)
{
    size_t n = strlen(name);
    char *bracket = n > 0 && name[n - 1] == ']' ? strrchr(name, '[') : NULL;
    if (!bracket || bracket == name || bracket[-1] != ' ')
        return NULL;
    name[n - 1] = '\0';
    *bracket = '\0';
    csv_result_trim(name);
    const char *unit = csv_result_trim(bracket + 1);
    return *unit ? unit : NULL;
}

static enum tutti_err csv_result_add_name(struct tutti_result *result, const struct tt_csv_cell *cell,
                                          const char **name, const char **unit)
{
    char *text = tt_arena_alloc(&result->arena, cell->n + 1);
    if (!text)
        return tt_fail_memory();
    tt_csv_parser_copy_cell(cell, text);
    if (!cell->quoted)
        text = csv_result_trim(text);
    *unit = split_name_unit(text);
    *name = text;
    return TUTTI_OK;
}

static enum tutti_err csv_result_read_header(struct tutti_result *result, struct csv_result *csv,
                                             const struct tutti_log *log)
{
    struct tt_csv_parser *rows = &csv->rows;
    TRY(tt_csv_parser_next(rows));
    if (rows->count == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the file is empty; a result starts with a line 'time,NAME,...'",
                       result->path);
    const char *first;
    TRY(csv_result_add_name(result, &rows->cells[0], &first, &result->time_unit));
    if (strcasecmp(first, "time") != 0 && strcmp(first, "t") != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the first column must be 'time', and is '%s'", result->path,
                       rows->line, tt_text_excerpt(first).text);
    csv->width = rows->count;
    result->variables = tt_arena_array(&result->arena, csv->width, sizeof *result->variables);
    csv->columns = tt_arena_array(&result->arena, csv->width, sizeof *csv->columns);
    if (!result->variables || !csv->columns)
        return tt_fail_memory();
    for (size_t column = 1; column < csv->width; column++) {
        struct tutti_result_variable *variable = &result->variables[result->count];
        variable->numeric = true;
        TRY(csv_result_add_name(result, &rows->cells[column], &variable->name, &variable->unit));
        if (variable->name[0])
            csv->columns[result->count++] = column;
        else
            tt_log(log, TUTTI_LOG_WARNING, NULL, "%s:%zu: column %zu has no name and is left out", result->path,
                   rows->line, column + 1);
    }
    return TUTTI_OK;
}

/* --- the rows */

/* Is this the beginning of a number, and no number yet? */
static bool is_truncated_number(const struct tt_csv_parser *rows)
{
    const struct tt_csv_cell *last = &rows->cells[rows->count - 1];
    double value;
    for (size_t i = 0; i < last->n; i++)
        if (!strchr("0123456789+-.eE", last->text[i]))
            return false;
    return last->n > 0 && !csv_result_read_cell(rows, rows->count - 1, &value);
}

static enum tutti_err csv_result_check_row(const struct tutti_result *result, const struct csv_result *csv,
                                           double *time)
{
    const struct tt_csv_parser *rows = &csv->rows;
    if (rows->count != csv->width)
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: %zu cells, and the header has %zu", result->path, rows->line,
                       rows->count, csv->width);
    if (!rows->ended && (rows->grows || is_truncated_number(rows)))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the last number is cut off", result->path, rows->line);
    char shown[TUTTI_NUMBER_MAX + 1];
    int n = (int)(rows->cells[0].n < sizeof shown ? rows->cells[0].n : sizeof shown - 1);
    memcpy(shown, rows->cells[0].text, (size_t)n);
    shown[n] = '\0';
    if (!csv_result_read_cell(rows, 0, time) || !isfinite(*time))
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: the time '%s' is not a number", result->path, rows->line,
                       tt_text_excerpt(shown).text);
    if (result->rows > 0 && *time < result->times[result->rows - 1])
        return tt_fail(TUTTI_ERR_FORMAT, "%s:%zu: time runs backwards, from %s to %s; rows must be in order of time",
                       result->path, rows->line, NUMBER(result->times[result->rows - 1]), NUMBER(*time));
    return TUTTI_OK;
}

static enum tutti_err csv_result_add_time(struct tutti_result *result, struct csv_result *csv, double time)
{
    if (!tt_vector_reserve(&result->times, &csv->times_room, result->rows + 1, sizeof *result->times))
        return tt_fail_memory();
    result->times[result->rows++] = time;
    return TUTTI_OK;
}

/* A file that ends too early ends with a row that is not whole. */
static enum tutti_err csv_result_read_times(struct tutti_result *result, struct csv_result *csv,
                                            const struct tutti_log *log)
{
    for (;;) {
        double time = 0;
        enum tutti_err err = tt_csv_parser_next(&csv->rows);
        bool at_end = csv->rows.cut, ragged = at_end;
        if (err == TUTTI_OK) {
            if (csv->rows.count == 0)
                return TUTTI_OK;
            err = csv_result_check_row(result, csv, &time);
            ragged = csv->rows.count != csv->width || !csv->rows.ended;
        }
        if (err == TUTTI_OK) {
            TRY(csv_result_add_time(result, csv, time));
            continue;
        }
        if (err != TUTTI_ERR_FORMAT || !ragged || !(at_end || tt_csv_parser_at_end(&csv->rows)))
            return err;
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "%s; it is the last row, of a run that was aborted or goes on, and is left out", tutti_err_message());
        return TUTTI_OK;
    }
}

static void csv_result_close(struct tutti_result *result)
{
    struct csv_result *csv = result->own;
    tt_csv_parser_fini(&csv->rows);
    free(csv);
}

static enum tutti_err csv_result_open(struct tutti_result *result, const struct tutti_log *log)
{
    struct csv_result *csv = calloc(1, sizeof *csv);
    if (!csv)
        return tt_fail_memory();
    result->own = csv;
    TRY(tt_csv_parser_open(&csv->rows, result->path));
    TRY(csv_result_read_header(result, csv, log));
    return csv_result_read_times(result, csv, log);
}

/* --- the values */

static void csv_result_warn_text(struct tutti_result *result, const struct csv_result *csv, size_t variable)
{
    const struct tt_csv_cell *cell = &csv->rows.cells[csv->columns[variable]];
    result->variables[variable].numeric = false;
    if (result->first_text.line > 0)
        return;
    result->first_text = (struct tt_result_text){.line = csv->rows.line, .variable = variable};
    size_t n = cell->n < sizeof result->first_text.text ? cell->n : sizeof result->first_text.text - 1;
    memcpy(result->first_text.text, cell->text, n);
}

static enum tutti_err csv_result_read(struct tutti_result *result, const size_t *which, size_t count,
                                      double *const *values)
{
    struct csv_result *csv = result->own;
    tt_csv_parser_rewind(&csv->rows);
    TRY(tt_csv_parser_next(&csv->rows));
    for (size_t row = 0; row < result->rows; row++) {
        TRY(tt_csv_parser_next(&csv->rows));
        if (csv->rows.count != csv->width)
            return tt_fail(TUTTI_ERR_IO, "%s: the file changed while it was read", result->path);
        for (size_t i = 0; i < count; i++) {
            values[i][row] = NAN;
            if (!csv_result_read_cell(&csv->rows, csv->columns[which[i]], &values[i][row]))
                csv_result_warn_text(result, csv, which[i]);
        }
    }
    return TUTTI_OK;
}

static enum tutti_err csv_result_read_texts(struct tutti_result *result, size_t which, tt_result_take_text *take,
                                            void *context)
{
    struct csv_result *csv = result->own;
    char *text = NULL;
    size_t room = 0;
    enum tutti_err err = TUTTI_OK;
    tt_csv_parser_rewind(&csv->rows);
    TRY(tt_csv_parser_next(&csv->rows));
    for (size_t row = 0; row < result->rows && !err; row++) {
        err = tt_csv_parser_next(&csv->rows);
        if (!err && csv->rows.count != csv->width)
            err = tt_fail(TUTTI_ERR_IO, "%s: the file changed while it was read", result->path);
        const struct tt_csv_cell *cell = err ? NULL : &csv->rows.cells[csv->columns[which]];
        if (cell && !tt_vector_reserve(&text, &room, cell->n + 1, 1))
            err = tt_fail_memory();
        if (!err)
            err = take(context, row, text, tt_csv_parser_copy_cell(cell, text));
    }
    free(text);
    return err;
}

const struct tt_result_format tt_csv_result_format = {
    .name = "csv",
    .fits = csv_result_fits,
    .open = csv_result_open,
    .read = csv_result_read,
    .texts = csv_result_read_texts,
    .close = csv_result_close,
};
