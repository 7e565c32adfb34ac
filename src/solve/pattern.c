/* SPDX-License-Identifier: MIT */
#include "solve/pattern.h"

#include <stdlib.h>
#include <string.h>

/* Counts become places: starts[i + 1] holds the length of list i, and is to hold where list i + 1 begins. */
static void pattern_sum_counts(int32_t *starts, int32_t lists)
{
    for (int32_t i = 0; i < lists; i++)
        starts[i + 1] += starts[i];
}

static enum tutti_err check_places(int32_t rows, int32_t columns, const struct tt_pattern_place *places, size_t count)
{
    if (rows < 0 || columns < 0)
        return tt_fail(TUTTI_ERR_ARGUMENT, "a matrix of %d rows and %d columns", rows, columns);
    if (count > INT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "a sparse matrix of %zu entries; the limit is %d", count, INT32_MAX);
    for (size_t i = 0; i < count; i++)
        if (places[i].row < 0 || places[i].row >= rows || places[i].column < 0 || places[i].column >= columns)
            return tt_fail(TUTTI_ERR_ARGUMENT, "row %d, column %d is outside of a matrix of %d rows and %d columns",
                           places[i].row, places[i].column, rows, columns);
    return TUTTI_OK;
}

/* The columns of row r are columns[starts[r]] ... columns[starts[r + 1] - 1], in any order, repeated or not. */
struct row_lists {
    int32_t *starts, *columns;
};

static void row_lists_fini(struct row_lists *lists)
{
    free(lists->starts);
    free(lists->columns);
}

static bool row_lists_init(struct row_lists *lists, int32_t rows, const struct tt_pattern_place *places, size_t count)
{
    lists->starts = calloc((size_t)rows + 2, sizeof *lists->starts);
    lists->columns = malloc((count + 1) * sizeof *lists->columns);
    if (!lists->starts || !lists->columns) {
        row_lists_fini(lists);
        return false;
    }
    /* Counted one place too far, so that filling moves each start to where it belongs. */
    int32_t *next = lists->starts + 1;
    for (size_t i = 0; i < count; i++)
        next[places[i].row + 1]++;
    pattern_sum_counts(next, rows);
    for (size_t i = 0; i < count; i++)
        lists->columns[next[places[i].row]++] = places[i].column;
    return true;
}

/* Row after row, each entry is put at the end of its column: sorted without a comparison. An entry that is there
 * already is the last one. */
static void pattern_collect(struct tt_pattern *pattern, const struct row_lists *lists, int32_t *ends)
{
    memcpy(ends, pattern->starts, (size_t)pattern->column_count * sizeof *ends);
    for (int32_t row = 0; row < pattern->row_count; row++) {
        for (int32_t k = lists->starts[row]; k < lists->starts[row + 1]; k++) {
            int32_t column = lists->columns[k], end = ends[column];
            if (end == pattern->starts[column] || pattern->rows[end - 1] != row)
                pattern->rows[ends[column]++] = row;
        }
    }
}

static void pattern_close_gaps(struct tt_pattern *pattern, const int32_t *ends)
{
    int32_t count = 0;
    for (int32_t column = 0; column < pattern->column_count; column++) {
        int32_t start = pattern->starts[column], length = ends[column] - start;
        memmove(pattern->rows + count, pattern->rows + start, (size_t)length * sizeof *pattern->rows);
        pattern->starts[column] = count;
        count += length;
    }
    pattern->starts[pattern->column_count] = count;
}

static bool pattern_allocate(struct tt_pattern *pattern, int32_t rows, int32_t columns, size_t entries)
{
    *pattern = (struct tt_pattern){.row_count = rows, .column_count = columns};
    pattern->starts = calloc((size_t)columns + 1, sizeof *pattern->starts);
    pattern->rows = malloc((entries + 1) * sizeof *pattern->rows);
    if (pattern->starts && pattern->rows)
        return true;
    tt_pattern_fini(pattern);
    return false;
}

enum tutti_err tt_pattern_init(struct tt_pattern *pattern, int32_t rows, int32_t columns,
                               const struct tt_pattern_place *places, size_t count)
{
    *pattern = (struct tt_pattern){0};
    TRY(check_places(rows, columns, places, count));
    struct row_lists lists;
    if (!row_lists_init(&lists, rows, places, count))
        return tt_fail_memory();
    int32_t *ends = malloc(((size_t)columns + 1) * sizeof *ends);
    bool enough = ends && pattern_allocate(pattern, rows, columns, count);
    if (enough) {
        for (size_t i = 0; i < count; i++)
            pattern->starts[places[i].column + 1]++;
        pattern_sum_counts(pattern->starts, columns);
        pattern_collect(pattern, &lists, ends);
        pattern_close_gaps(pattern, ends);
    }
    free(ends);
    row_lists_fini(&lists);
    return enough ? TUTTI_OK : tt_fail_memory();
}

enum tutti_err tt_pattern_full(struct tt_pattern *pattern, int32_t rows, int32_t columns)
{
    *pattern = (struct tt_pattern){0};
    TRY(check_places(rows, columns, NULL, 0));
    if ((int64_t)rows * columns > INT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT,
                       "a full matrix of %d rows and %d columns is too large to be stored as a sparse one; the limit "
                       "is %d entries",
                       rows, columns, INT32_MAX);
    if (!pattern_allocate(pattern, rows, columns, (size_t)rows * (size_t)columns))
        return tt_fail_memory();
    for (int32_t column = 0; column < columns; column++) {
        for (int32_t row = 0; row < rows; row++)
            pattern->rows[column * rows + row] = row;
        pattern->starts[column + 1] = (column + 1) * rows;
    }
    return TUTTI_OK;
}

void tt_pattern_fini(struct tt_pattern *pattern)
{
    free(pattern->starts);
    free(pattern->rows);
    *pattern = (struct tt_pattern){0};
}

size_t tt_pattern_find(const struct tt_pattern *pattern, const struct tt_pattern_place *entry)
{
    int32_t low = pattern->starts[entry->column], high = pattern->starts[entry->column + 1] - 1;
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (pattern->rows[middle] < entry->row)
            low = middle + 1;
        else
            high = middle;
    }
    return (size_t)low;
}

bool tt_pattern_is_worth_sparse(const struct tt_pattern *pattern)
{
    /* Measured with a factorisation and ten solutions, KLU against the reference LAPACK: of 20 % full, banded matrices
     * gain 1.9 (n = 16) to 10 times (n = 800); random ones, which nearly fill up and which models hardly have, gain 2
     * times (n = 16) and lose 1.6 times (n = 800). Below that size it does not matter, and LAPACK pivots with more
     * care. */
    double places = (double)pattern->row_count * pattern->column_count;
    return pattern->column_count >= 16 && (double)tt_pattern_entries(pattern) <= 0.2 * places;
}

/* Copies a column, puts the diagonal in between if it is not there, and returns the next free place. */
static int32_t pattern_add_column(struct tt_shifted_pattern *shifted, const struct tt_pattern *pattern, int32_t column,
                                  int32_t to)
{
    int32_t k = pattern->starts[column], end = pattern->starts[column + 1], *rows = shifted->pattern.rows;
    for (; k < end && pattern->rows[k] < column; k++, to++) {
        shifted->places[k] = to;
        rows[to] = pattern->rows[k];
    }
    shifted->diagonal[column] = to;
    rows[to] = column;
    if (k < end && pattern->rows[k] == column)
        shifted->places[k++] = to;
    for (to++; k < end; k++, to++) {
        shifted->places[k] = to;
        rows[to] = pattern->rows[k];
    }
    return to;
}

enum tutti_err tt_pattern_shifted_init(struct tt_shifted_pattern *shifted, const struct tt_pattern *pattern)
{
    int32_t n = pattern->column_count, to = 0;
    size_t entries = tt_pattern_entries(pattern), most = entries + (size_t)n;
    *shifted = (struct tt_shifted_pattern){0};
    if (most > INT32_MAX)
        return tt_fail(TUTTI_ERR_LIMIT, "a sparse matrix of %zu entries; the limit is %d", most, INT32_MAX);
    shifted->places = malloc((entries + 1) * sizeof *shifted->places);
    shifted->diagonal = malloc(((size_t)n + 1) * sizeof *shifted->diagonal);
    if (!shifted->places || !shifted->diagonal || !pattern_allocate(&shifted->pattern, n, n, most)) {
        tt_pattern_shifted_fini(shifted);
        return tt_fail_memory();
    }
    for (int32_t column = 0; column < n; column++)
        shifted->pattern.starts[column + 1] = to = pattern_add_column(shifted, pattern, column, to);
    return TUTTI_OK;
}

void tt_pattern_shifted_fini(struct tt_shifted_pattern *shifted)
{
    tt_pattern_fini(&shifted->pattern);
    free(shifted->places);
    free(shifted->diagonal);
    *shifted = (struct tt_shifted_pattern){0};
}

/* Working data of the greedy colouring: a column must not have a colour that one of its rows already contains. */
struct palette {
    int32_t *colours;    /* of the columns */
    int32_t *order;      /* columns, those with many entries first */
    int32_t *row_starts; /* into seen */
    int32_t *row_ends;   /* so far */
    int32_t *seen;       /* colours that the rows have seen */
    int32_t *marks;      /* of a colour: the last column that must not have it, plus 1 */
};

static void palette_fini(struct palette *palette)
{
    free(palette->colours);
    free(palette->order);
    free(palette->row_starts);
    free(palette->row_ends);
    free(palette->seen);
    free(palette->marks);
}

static bool palette_init(struct palette *palette, const struct tt_pattern *pattern)
{
    size_t columns = (size_t)pattern->column_count, rows = (size_t)pattern->row_count;
    *palette = (struct palette){
        .colours = malloc((columns + 1) * sizeof(int32_t)),
        .order = malloc((columns + 1) * sizeof(int32_t)),
        .row_starts = calloc(rows + 1, sizeof(int32_t)),
        .row_ends = malloc((rows + 1) * sizeof(int32_t)),
        .seen = malloc((tt_pattern_entries(pattern) + 1) * sizeof(int32_t)),
        .marks = calloc(columns + 1, sizeof(int32_t)),
    };
    if (palette->colours && palette->order && palette->row_starts && palette->row_ends && palette->seen &&
        palette->marks)
        return true;
    palette_fini(palette);
    return false;
}

/* Sorts the columns by their number of entries, at most row_count, from large to small. Uses row_ends for counts. */
static void palette_order_columns(struct palette *palette, const struct tt_pattern *pattern)
{
    int32_t *places = palette->row_ends, rows = pattern->row_count;
    memset(places, 0, ((size_t)rows + 1) * sizeof *places);
    for (int32_t c = 0; c < pattern->column_count; c++)
        places[pattern->starts[c + 1] - pattern->starts[c]]++;
    int32_t place = 0;
    for (int32_t length = rows; length >= 0; length--) {
        int32_t many = places[length];
        places[length] = place;
        place += many;
    }
    for (int32_t c = 0; c < pattern->column_count; c++)
        palette->order[places[pattern->starts[c + 1] - pattern->starts[c]]++] = c;
}

/* The first of `count` colours, or a new one, that none of the column's rows has seen. A row that has seen all of them
 * settles it, which is what keeps nearly full matrices cheap. */
static int32_t pattern_first_free_colour(struct palette *palette, const struct tt_pattern *pattern, int32_t column,
                                         int32_t count)
{
    int32_t *marks = palette->marks, mark = column + 1, forbidden = 0;
    for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1] && forbidden < count; k++) {
        int32_t row = pattern->rows[k];
        for (int32_t i = palette->row_starts[row]; i < palette->row_ends[row]; i++) {
            forbidden += marks[palette->seen[i]] != mark;
            marks[palette->seen[i]] = mark;
        }
    }
    int32_t colour = forbidden < count ? 0 : count;
    while (colour < count && marks[colour] == mark)
        colour++;
    return colour;
}

/* Curtis, Powell, Reid, On the Estimation of Sparse Jacobian Matrices, J. Inst. Maths Applics 13 (1974); with the order
 * "largest first", each column in the first group where it fits. */
static int32_t palette_colour_columns(struct palette *palette, const struct tt_pattern *pattern)
{
    int32_t count = 0;
    for (int32_t i = 0; i < pattern->column_count; i++) {
        int32_t column = palette->order[i], colour = pattern_first_free_colour(palette, pattern, column, count);
        palette->colours[column] = colour;
        count = colour == count ? count + 1 : count;
        for (int32_t k = pattern->starts[column]; k < pattern->starts[column + 1]; k++)
            palette->seen[palette->row_ends[pattern->rows[k]]++] = colour;
    }
    return count;
}

/* Columns by colour, ascending within one. */
static void pattern_group_columns(struct tt_colouring *colouring, const int32_t *colours, int32_t columns)
{
    for (int32_t c = 0; c < columns; c++)
        colouring->starts[colours[c] + 1]++;
    pattern_sum_counts(colouring->starts, colouring->colour_count);
    for (int32_t c = 0; c < columns; c++)
        colouring->columns[colouring->starts[colours[c]]++] = c;
    for (int32_t colour = colouring->colour_count; colour > 0; colour--)
        colouring->starts[colour] = colouring->starts[colour - 1];
    colouring->starts[0] = 0;
}

enum tutti_err tt_pattern_colouring_init(struct tt_colouring *colouring, const struct tt_pattern *pattern,
                                         int32_t columns, bool together)
{
    columns = pattern ? pattern->column_count : columns;
    *colouring = (struct tt_colouring){0};
    colouring->starts = calloc((size_t)columns + 1, sizeof *colouring->starts);
    colouring->columns = malloc(((size_t)columns + 1) * sizeof *colouring->columns);
    if (!colouring->starts || !colouring->columns) {
        tt_pattern_colouring_fini(colouring);
        return tt_fail_memory();
    }
    if (!pattern || !together) {
        colouring->colour_count = columns;
        for (int32_t c = 0; c < columns; c++)
            colouring->columns[c] = colouring->starts[c] = c;
        colouring->starts[columns] = columns;
        return TUTTI_OK;
    }
    struct palette palette;
    if (!palette_init(&palette, pattern)) {
        tt_pattern_colouring_fini(colouring);
        return tt_fail_memory();
    }
    palette_order_columns(&palette, pattern);
    for (size_t k = 0; k < tt_pattern_entries(pattern); k++)
        palette.row_starts[pattern->rows[k] + 1]++;
    pattern_sum_counts(palette.row_starts, pattern->row_count);
    memcpy(palette.row_ends, palette.row_starts, (size_t)pattern->row_count * sizeof(int32_t));
    colouring->colour_count = palette_colour_columns(&palette, pattern);
    pattern_group_columns(colouring, palette.colours, columns);
    palette_fini(&palette);
    return TUTTI_OK;
}

void tt_pattern_colouring_fini(struct tt_colouring *colouring)
{
    free(colouring->starts);
    free(colouring->columns);
    *colouring = (struct tt_colouring){0};
}
