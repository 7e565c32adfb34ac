/* SPDX-License-Identifier: MIT */
/* HDF5 results in the layout of hdf5.h, finished, still growing or left by a run that was killed. Values are read in pieces of
 * the file's chunks. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "results/hdf5.h"
#include "results/result.h"

struct hdf5_result {
    const struct tt_hdf5_module *module;
    struct tt_hdf5_reader *reader;
    struct tt_hdf5_content content;
};

static const unsigned char SIGNATURE[] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};

/* MATLAB's files of version 7.3 have the signature at 512, after a text; mat_result.c says what to do about them. */
static bool hdf5_result_fits(const char *path, const unsigned char *head, size_t size)
{
    const char *dot = strrchr(path, '.');
    bool named = dot && (strcasecmp(dot, ".h5") == 0 || strcasecmp(dot, ".hdf5") == 0);
    return named || (size >= sizeof SIGNATURE && memcmp(head, SIGNATURE, sizeof SIGNATURE) == 0);
}

/* --- opening */

static enum tutti_err hdf5_result_take_text(struct tutti_result *result, char *const *texts, size_t i,
                                            const char **text)
{
    *text = NULL;
    if (!texts || !texts[i][0])
        return TUTTI_OK;
    *text = tt_arena_copy_text(&result->arena, texts[i], strlen(texts[i]));
    return *text ? TUTTI_OK : tt_fail_memory();
}

static enum tutti_err hdf5_result_take_vars(struct tutti_result *result, struct hdf5_result *hdf5)
{
    const struct tt_hdf5_texts *texts = &hdf5->content.texts;
    result->count = texts->count;
    result->variables = tt_arena_array(&result->arena, texts->count + 1, sizeof *result->variables);
    if (!result->variables)
        return tt_fail_memory();
    result->types = (const char *const *)texts->types; /* they live as long as the reader */
    for (size_t i = 0; i < texts->count; i++) {
        struct tutti_result_variable *variable = &result->variables[i];
        TRY(hdf5_result_take_text(result, texts->names, i, &variable->name));
        TRY(hdf5_result_take_text(result, texts->units, i, &variable->unit));
        TRY(hdf5_result_take_text(result, texts->descriptions, i, &variable->description));
        if (!variable->name)
            return tt_fail(TUTTI_ERR_FORMAT, "%s: variable %zu has no name", result->path, i + 1);
        variable->numeric = true;
        variable->held = texts->variabilities
                             ? strcmp(texts->variabilities[i], "continuous") != 0
                             : texts->types && texts->types[i][0] && strncmp(texts->types[i], "Float", 5) != 0;
    }
    return hdf5_result_take_text(result, hdf5->content.time_unit ? &hdf5->content.time_unit : NULL, 0,
                                 &result->time_unit);
}

/* How many of the times that are there are those of the file: all, or none. */
static enum tutti_err count_known(const struct tutti_result *result, const struct hdf5_result *hdf5, size_t *known)
{
    double first, last;
    *known = 0;
    if (result->known == 0 || result->known > hdf5->content.rows)
        return TUTTI_OK;
    TRY(hdf5->module->read_times(hdf5->reader, 0, 1, &first));
    TRY(hdf5->module->read_times(hdf5->reader, result->known - 1, 1, &last));
    if (first == result->times[0] && last == result->times[result->known - 1])
        *known = result->known;
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_take_times(struct tutti_result *result, const struct hdf5_result *hdf5)
{
    size_t rows = hdf5->content.rows, known;
    TRY(count_known(result, hdf5, &known));
    double *times = rows < SIZE_MAX / sizeof(double) - 1 ? realloc(result->times, (rows + 1) * sizeof(double)) : NULL;
    if (!times)
        return tt_fail_memory();
    result->times = times;
    if (known < rows)
        TRY(hdf5->module->read_times(hdf5->reader, known, rows - known, times + known));
    for (size_t i = known; i < rows; i++) {
        if (!isfinite(result->times[i]))
            return tt_fail(TUTTI_ERR_FORMAT, "%s: the time of row %zu is not a finite number", result->path, i + 1);
        if (i > 0 && result->times[i] < result->times[i - 1])
            return tt_fail(TUTTI_ERR_FORMAT, "%s: time runs backwards from %s to %s at row %zu", result->path,
                           NUMBER(result->times[i - 1]), NUMBER(result->times[i]), i + 1);
    }
    result->rows = rows;
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_open(struct tutti_result *result, const struct tutti_log *log)
{
    (void)log;
    struct hdf5_result *hdf5 = calloc(1, sizeof *hdf5);
    result->own = hdf5;
    if (!hdf5)
        return tt_fail_memory();
    TRY(tt_fail_context(tt_hdf5_load(&hdf5->module), "cannot read %s", result->path));
    TRY(hdf5->module->open(&hdf5->reader, result->path, &hdf5->content));
    TRY(hdf5_result_take_vars(result, hdf5));
    return result->names_only ? TUTTI_OK : hdf5_result_take_times(result, hdf5);
}

static void hdf5_result_close(struct tutti_result *result)
{
    struct hdf5_result *hdf5 = result->own;
    if (hdf5->module)
        hdf5->module->close_reader(hdf5->reader);
    free(hdf5);
}

/* --- values */

/* What is read at once: some rows of neighbours that lie in the same chunks. */
struct chunk_piece {
    size_t begin, rows; /* the first row of all; rows of a piece */
    const size_t *which;
    size_t count, first, columns;
    double *values;
};

/* As many of `which` as lie in the chunk of the first one. */
static struct chunk_piece next_piece(const struct hdf5_result *hdf5, const size_t *which, size_t count)
{
    size_t width = hdf5->content.width ? hdf5->content.width : 64;
    struct chunk_piece piece = {.which = which, .count = 1, .first = which[0]};
    while (piece.count < count && which[piece.count] / width == which[0] / width)
        piece.count++;
    piece.columns = which[piece.count - 1] - which[0] + 1;
    return piece;
}

static enum tutti_err read_piece(const struct tutti_result *result, const struct chunk_piece *piece,
                                 double *const *values)
{
    const struct hdf5_result *hdf5 = result->own;
    for (size_t row = piece->begin; row < result->rows; row += piece->rows) {
        size_t rows = result->rows - row < piece->rows ? result->rows - row : piece->rows;
        TRY(hdf5->module->read(hdf5->reader, row, rows, piece->first, piece->columns, piece->values));
        for (size_t i = 0; i < piece->count; i++) {
            const double *from = piece->values + (piece->which[i] - piece->first);
            for (size_t r = 0; r < rows; r++)
                values[i][row + r] = from[r * piece->columns];
        }
    }
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_read_from(struct tutti_result *result, const size_t *which, size_t count,
                                            size_t first, double *const *values)
{
    enum { AT_ONCE = 1 << 16 }; /* numbers; more if a chunk has more */
    const struct hdf5_result *hdf5 = result->own;
    for (size_t done = 0; done < count;) {
        struct chunk_piece piece = next_piece(hdf5, which + done, count - done);
        size_t block = hdf5->content.block ? hdf5->content.block : 1, blocks = AT_ONCE / (block * piece.columns);
        piece.rows = block * (blocks ? blocks : 1);
        piece.begin = first;
        piece.values = malloc(piece.rows * piece.columns * sizeof(double));
        if (!piece.values)
            return tt_fail_memory();
        enum tutti_err err = read_piece(result, &piece, values + done);
        free(piece.values);
        TRY(err);
        done += piece.count;
    }
    return TUTTI_OK;
}

static enum tutti_err hdf5_result_read(struct tutti_result *result, const size_t *which, size_t count,
                                       double *const *values)
{
    return hdf5_result_read_from(result, which, count, 0, values);
}

const struct tt_result_format tt_hdf5_result_format = {
    .name = "hdf5",
    .fits = hdf5_result_fits,
    .open = hdf5_result_open,
    .read = hdf5_result_read,
    .read_from = hdf5_result_read_from,
    .close = hdf5_result_close,
};
