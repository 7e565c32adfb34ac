/* SPDX-License-Identifier: MIT */
/* Invariants:
 *  T1  Every cell was read and checked when the file was opened: sampling cannot fail.
 *  T2  values[column] holds `width` values per row, in the variable's own type.
 *  T3  The `row` of a source is the last one with time <= the last time sampled (or 0), so that a run reads a file once. */
#include "model/system/trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/number.h"
#include "base/text.h"
#include "base/expr/breaks.h"

/* Ascending times, and where a run is among them. */
struct row_instants {
    double *times;
    size_t count, next;
};

struct trajectory_source {
    const struct tt_csv_table *table;
    const double *times;
    size_t rows;
    size_t row; /* T3 */
};

struct tt_trajectory {
    const struct tt_trajectory_file *files;
    struct trajectory_source *sources; /* per file */
    size_t source_count;
    const struct tt_description *desc;
    size_t columns;
    struct tt_trajectory_input *inputs;
    const unsigned char **values;
    size_t *sizes;   /* of one value */
    double *ranges;  /* of continuous columns */
    double **slopes; /* of splines, at rows: one per value; NULL: not a spline */
    void **slots;
    struct tt_map columns_by_input;
    struct row_instants events, kinks;
    struct tt_breaks *breaks; /* per column; of tables unused */
    struct tt_arena arena;
};

static const char *trajectory_name_of(const struct tt_trajectory *tr, size_t column)
{
    if (tr->inputs[column].expression)
        return tr->desc->vars[tr->inputs[column].variable].name;
    return tt_csv_table_name(tr->sources[tr->inputs[column].file].table, tr->inputs[column].column);
}

const char *tt_trajectory_file(const struct tt_trajectory *tr, size_t column)
{
    if (tr->inputs[column].expression)
        return "--signal";
    return tr->files[tr->inputs[column].file].name;
}

static struct trajectory_source *trajectory_source_of(const struct tt_trajectory *tr, size_t column)
{
    return &tr->sources[tr->inputs[column].file];
}

static enum tutti_err fail_twice(const struct tt_trajectory *tr, size_t earlier, size_t column)
{
    const char *first = tt_trajectory_file(tr, earlier), *second = tt_trajectory_file(tr, column);
    bool formula = tr->inputs[earlier].expression || tr->inputs[column].expression;
    if (!formula && tr->inputs[earlier].file == tr->inputs[column].file)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: two columns, '%s' and '%s', for the same input", first,
                       trajectory_name_of(tr, earlier), trajectory_name_of(tr, column));
    return tt_fail(TUTTI_ERR_FORMAT, "%s and %s: columns '%s' and '%s' are for the same input; leave out one of them",
                   first, second, trajectory_name_of(tr, earlier), trajectory_name_of(tr, column));
}

/* Takes note of a column under a key; *earlier is the one that has it. */
static enum tutti_err trajectory_add_key(struct tt_trajectory *tr, const struct tt_text *key, size_t column,
                                         int64_t *earlier)
{
    const char *name = key->failed ? NULL : tt_arena_copy_text(&tr->arena, key->text, key->length);
    return name ? tt_map_add(&tr->columns_by_input, name, (int64_t)column, earlier) : tt_fail_memory();
}

/* Two columns for one input, by whatever names (the table refuses equal ones; an alias is another), or for an array and for an
 * element of it: "7" is variable 7, "7,2" an element, "7," any element. */
static enum tutti_err check_once(struct tt_trajectory *tr, size_t column)
{
    const struct tt_trajectory_input *input = &tr->inputs[column];
    struct tt_text key = {0};
    int64_t earlier = TUTTI_MAP_NONE;
    bool element = input->element.count > 0;
    tt_text_printf(&key, "%u%s", input->variable, element ? "" : ",");
    bool failed = key.failed;
    if (!failed)
        earlier = tt_map_find(&tr->columns_by_input, key.text);
    tt_text_fini(&key);
    if (failed)
        return tt_fail_memory();
    if (earlier != TUTTI_MAP_NONE)
        return fail_twice(tr, (size_t)earlier, column);
    tt_text_printf(&key, "%u%s", input->variable, element ? "," : "");
    enum tutti_err err = trajectory_add_key(tr, &key, column, &earlier);
    for (unsigned d = 0; d < input->element.count; d++)
        tt_text_printf(&key, "%s%llu", d ? "," : "", (unsigned long long)input->element.index[d]);
    if (!err && element)
        err = trajectory_add_key(tr, &key, column, &earlier);
    tt_text_fini(&key);
    TRY(err);
    return earlier == TUTTI_MAP_NONE ? TUTTI_OK : fail_twice(tr, (size_t)earlier, column);
}

/* Expressions are for what can move at all. */
static enum tutti_err check_expression(const struct tt_trajectory *tr, size_t column)
{
    const struct tt_trajectory_input *input = &tr->inputs[column];
    const struct tt_var *var = &tr->desc->vars[input->variable];
    if (!input->expression)
        return TUTTI_OK;
    if (!input->continuous)
        return tt_fail(
            TUTTI_ERR_ARGUMENT,
            "--signal: '%s' is no continuous Real input (type %s, causality %s); --input drives others, from a table",
            var->name, tt_type_name(var->type), tt_description_causality_name(var->causality));
    if (var->dimension_count > 0 && input->element.count == 0)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "--signal: '%s' is an array; give an expression per element, '%s[1]' and so on", var->name,
                       var->name);
    return TUTTI_OK;
}

static enum tutti_err trajectory_check_input(struct tt_trajectory *tr, size_t column, enum tt_trajectory_form form)
{
    struct tt_trajectory_input *input = &tr->inputs[column];
    const char *name = trajectory_name_of(tr, column), *file = tt_trajectory_file(tr, column);
    const struct tt_var *var = &tr->desc->vars[input->variable];
    bool tunable = var->causality == TUTTI_PARAMETER && var->variability == TUTTI_TUNABLE;
    if (var->causality != TUTTI_INPUT && !tunable)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %s'%s' is no input of the FMU but a variable of causality %s%s", file,
                       input->expression ? "" : "column ", name, tt_description_causality_name(var->causality),
                       var->causality == TUTTI_PARAMETER ? " that is not tunable" : "");
    bool held = form == TUTTI_TRAJECTORY_HELD && !input->expression;
    if (var->dimension_count > 0 && input->element.count == 0 && var->type == TUTTI_TYPE_STRING)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is an array; give one column per element, '%s[1]' and so on", file,
                       name, name);
    TRY(check_once(tr, column));
    input->continuous = tt_type_is_float(var->type) && var->variability == TUTTI_CONTINUOUS && !tunable && !held;
    input->curved = input->continuous && (input->expression || form == TUTTI_TRAJECTORY_CUBIC);
    tr->sizes[column] = tt_type_size(var->type);
    return check_expression(tr, column);
}

/* A value in the file has the type at the other end of the conversion. */
static enum tutti_err read_converted(struct tt_trajectory *tr, const struct tt_var *var,
                                     const struct tt_conversion *conversion, const char *cell, void *value)
{
    struct tt_var source = *var;
    source.type = (uint8_t)conversion->from;
    source.bounds = NULL;
    if (conversion->from != conversion->to)
        source.type_def = TUTTI_NONE;
    uint64_t read = 0;
    TRY(tt_setting_read_value(&tr->arena, tr->desc, &source, cell, strlen(cell), &read));
    return tt_conversion_apply(conversion, &read, value, 1);
}

static enum tutti_err trajectory_read_one(struct tt_trajectory *tr, const struct tt_trajectory_input *input,
                                          const char *cell, void *value)
{
    const struct tt_var *var = &tr->desc->vars[input->variable];
    bool copied = !input->conversion || tt_conversion_is_identity(input->conversion);
    if (copied)
        TRY(tt_setting_read_value(&tr->arena, tr->desc, var, cell, strlen(cell), value));
    else
        TRY(read_converted(tr, var, input->conversion, cell, value));
    if (var->negated)
        tt_type_negate(var->type, value);
    return TUTTI_OK;
}

static bool trajectory_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == ',' || c == ';';
}

/* Terminates the next value of a cell "1 2 3" and returns it; NULL at the end. */
static char *trajectory_next_word(char **rest)
{
    char *word = *rest;
    while (trajectory_is_blank(*word))
        word++;
    char *end = word;
    while (*end && !trajectory_is_blank(*end))
        end++;
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return *word ? word : NULL;
}

static size_t trajectory_count_words(const char *cell)
{
    size_t count = 0;
    for (size_t i = 0; cell[i]; i++)
        count += !trajectory_is_blank(cell[i]) && (i == 0 || trajectory_is_blank(cell[i - 1]));
    return count;
}

/* Reads the values of a row, `width` per cell. Decimal points and commas are distinguished where types are known. */
static enum tutti_err trajectory_read_cell(struct tt_trajectory *tr, size_t column, const char *cell,
                                           unsigned char *values)
{
    const struct tt_trajectory_input *input = &tr->inputs[column];
    const struct tt_var *var = &tr->desc->vars[input->variable];
    bool text = var->type == TUTTI_TYPE_STRING || var->type == TUTTI_TYPE_BINARY;
    bool array = var->dimension_count > 0 && input->element.count == 0;
    bool commas = !text && tt_csv_table_has_decimal_commas(trajectory_source_of(tr, column)->table);
    if (!array && !commas)
        return trajectory_read_one(tr, input, cell, values);
    char *copy = tt_arena_copy_text(&tr->arena, cell, strlen(cell));
    if (!copy)
        return tt_fail_memory();
    if (commas)
        tt_csv_table_decimal_point(copy);
    if (!array)
        return trajectory_read_one(tr, input, copy, values);
    if (trajectory_count_words(copy) != input->width)
        return tt_fail(TUTTI_ERR_FORMAT, "'%s': %zu values, and the first row has %zu", trajectory_name_of(tr, column),
                       trajectory_count_words(copy), input->width);
    for (size_t i = 0; i < input->width; i++)
        TRY(trajectory_read_one(tr, input, trajectory_next_word(&copy), values + i * tr->sizes[column]));
    return TUTTI_OK;
}

/* The first row determines the number of values in a cell. */
static enum tutti_err trajectory_find_width(struct tt_trajectory *tr, size_t column)
{
    struct tt_trajectory_input *input = &tr->inputs[column];
    const struct trajectory_source *source = trajectory_source_of(tr, column);
    input->width = 1;
    if (tr->desc->vars[input->variable].dimension_count == 0 || input->element.count > 0)
        return TUTTI_OK;
    struct tt_text first = {0};
    tt_text_append(&first, tt_csv_table_cell(source->table, 0, input->column));
    if (first.failed)
        return tt_fail_memory();
    if (first.text && tt_csv_table_has_decimal_commas(source->table))
        tt_csv_table_decimal_point(first.text);
    input->width = first.text ? trajectory_count_words(first.text) : 0;
    tt_text_fini(&first);
    return input->width > 0 ? TUTTI_OK
                            : tt_fail(TUTTI_ERR_FORMAT, "%s: column '%s' has no values for the array",
                                      tt_trajectory_file(tr, column), trajectory_name_of(tr, column));
}

static enum tutti_err trajectory_read_column(struct tt_trajectory *tr, size_t column)
{
    tr->inputs[column].width = 1;
    if (tr->inputs[column].expression)
        return TUTTI_OK;
    TRY(trajectory_find_width(tr, column));
    const struct trajectory_source *source = trajectory_source_of(tr, column);
    size_t size = tr->sizes[column] * tr->inputs[column].width;
    unsigned char *values = tt_arena_array(&tr->arena, source->rows, size);
    if (!values)
        return tt_fail_memory();
    tr->values[column] = values;
    for (size_t row = 0; row < source->rows; row++) {
        const char *cell = tt_csv_table_cell(source->table, row, tr->inputs[column].column);
        enum tutti_err err = trajectory_read_cell(tr, column, cell, values + row * size);
        if (err)
            return tt_fail_context(err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err, "%s:%u",
                                   tt_trajectory_file(tr, column), tt_csv_table_line(source->table, row));
    }
    return TUTTI_OK;
}

static const void *trajectory_value_at(const struct tt_trajectory *tr, size_t column, size_t row, size_t place)
{
    return tr->values[column] + (row * tr->inputs[column].width + place) * tr->sizes[column];
}

/* Returns true if the values of a column differ between two rows. Strings and bytes are compared by content. */
static bool trajectory_differs(const struct tt_trajectory *tr, size_t column, size_t a, size_t b)
{
    for (size_t place = 0; place < tr->inputs[column].width; place++) {
        const void *va = trajectory_value_at(tr, column, a, place), *vb = trajectory_value_at(tr, column, b, place);
        const struct tt_bytes *ba = va, *bb = vb;
        bool same = false;
        switch (tr->desc->vars[tr->inputs[column].variable].type) {
        case TUTTI_TYPE_STRING: same = strcmp(*(const char *const *)va, *(const char *const *)vb) == 0; break;
        case TUTTI_TYPE_BINARY: same = ba->size == bb->size && memcmp(ba->data, bb->data, ba->size) == 0; break;
        default: same = memcmp(va, vb, tr->sizes[column]) == 0;
        }
        if (!same)
            return true;
    }
    return false;
}

/* An event is where something is not continuous: a jump of any column, or a step of a held one. */
static bool trajectory_is_event(const struct tt_trajectory *tr, size_t file, size_t row)
{
    const double *times = tr->sources[file].times;
    if (row == 0)
        return false;
    bool jump = times[row - 1] == times[row];
    for (size_t column = 0; column < tr->columns; column++)
        if (!tr->inputs[column].expression && tr->inputs[column].file == file &&
            (jump || !tr->inputs[column].continuous) && trajectory_differs(tr, column, row - 1, row))
            return true;
    return false;
}

/* A value between two rows, or at one of them, to the bit. */
static double interpolate_linear(const struct tt_trajectory *tr, size_t column, size_t place, size_t left, size_t right,
                                 double way)
{
    const void *va = trajectory_value_at(tr, column, left, place), *vb = trajectory_value_at(tr, column, right, place);
    bool wide = tr->sizes[column] == sizeof(double);
    double a = wide ? *(const double *)va : (double)*(const float *)va;
    double b = wide ? *(const double *)vb : (double)*(const float *)vb;
    return way == 0 ? a : way == 1 ? b : a + way * (b - a);
}

static bool changes_slope(const struct tt_trajectory *tr, size_t column, size_t row)
{
    const double *times = trajectory_source_of(tr, column)->times;
    double before = times[row] - times[row - 1], after = times[row + 1] - times[row];
    for (size_t place = 0; place < tr->inputs[column].width; place++) {
        double a = interpolate_linear(tr, column, place, row - 1, row - 1, 0),
               b = interpolate_linear(tr, column, place, row, row, 0);
        double c = interpolate_linear(tr, column, place, row + 1, row + 1, 0), left = (b - a) / before,
               right = (c - b) / after;
        if (fabs(left - right) > 1e-12 * fmax(fabs(left), fabs(right)))
            return true;
    }
    return false;
}

/* A kink is where a straight line ends: the slopes on both sides differ by more than rounding. */
static bool trajectory_is_kink(const struct tt_trajectory *tr, size_t file, size_t row)
{
    const struct trajectory_source *source = &tr->sources[file];
    if (row == 0 || row + 1 >= source->rows || source->times[row - 1] == source->times[row] ||
        source->times[row] == source->times[row + 1])
        return true;
    for (size_t column = 0; column < tr->columns; column++)
        if (!tr->inputs[column].expression && tr->inputs[column].file == file && tr->inputs[column].continuous &&
            !tr->inputs[column].curved && changes_slope(tr, column, row))
            return true;
    return false;
}

static int trajectory_compare_times(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Of all files, in order, each once. */
static enum tutti_err find_instants(struct tt_trajectory *tr, struct row_instants *instants,
                                    bool (*is)(const struct tt_trajectory *, size_t, size_t))
{
    size_t most = 1, count = 0;
    for (size_t file = 0; file < tr->source_count; file++)
        most += tr->sources[file].rows;
    instants->times = tt_arena_array(&tr->arena, most, sizeof *instants->times);
    if (!instants->times)
        return tt_fail_memory();
    for (size_t file = 0; file < tr->source_count; file++)
        for (size_t row = 0; row < tr->sources[file].rows; row++)
            if (is(tr, file, row))
                instants->times[count++] = tr->sources[file].times[row];
    qsort(instants->times, count, sizeof *instants->times, trajectory_compare_times);
    for (size_t i = 0; i < count; i++)
        if (instants->count == 0 || instants->times[instants->count - 1] != instants->times[i])
            instants->times[instants->count++] = instants->times[i];
    return TUTTI_OK;
}

/* The slope at the end `end` (0 or count - 1) of a stretch of rows from `first` on: of the polynomial through up to four rows there (Fornberg,
 * Math. Comp. 51, 1988: Lagrange's formula, differentiated at a node). */
static double spline_end_slope(const struct tt_trajectory *tr, size_t column, size_t place, size_t first, size_t count,
                               size_t end)
{
    const double *times = trajectory_source_of(tr, column)->times + first;
    size_t points = count < 4 ? count : 4, from = end == 0 ? 0 : count - points;
    double slope = 0;
    for (size_t j = from; j < from + points; j++) {
        double weight = 0, product = 1;
        for (size_t k = from; k < from + points; k++) {
            if (k == j)
                continue;
            if (j == end)
                weight += 1 / (times[j] - times[k]);
            else if (k != end)
                product *= (times[end] - times[k]) / (times[j] - times[k]);
            else
                product /= times[j] - times[k];
        }
        slope += interpolate_linear(tr, column, place, first + j, first + j, 0) * (j == end ? weight : product);
    }
    return slope;
}

/* The slopes of the cubic spline through the rows of a stretch, with two continuous derivatives (de Boor, A Practical Guide to Splines, chapter IV):
 *     m_(i-1) / a + 2 (1/a + 1/b) m_i + m_(i+1) / b = 3 ((y_i - y_(i-1)) / a^2 + (y_(i+1) - y_i) / b^2),
 * a and b being the distances to the rows before and after, and with given slopes at both ends. By elimination (Thomas). */
static void spline_slopes(const struct tt_trajectory *tr, size_t column, size_t place, size_t first, size_t count,
                          double *pivots, double *slopes)
{
    const double *times = trajectory_source_of(tr, column)->times + first;
    size_t width = tr->inputs[column].width;
    double *m = slopes + first * width + place;
    if (count < 2) {
        m[0] = 0;
        return;
    }
    m[0] = spline_end_slope(tr, column, place, first, count, 0);
    pivots[0] = 0;
    for (size_t i = 1; i + 1 < count; i++) {
        double a = times[i] - times[i - 1], b = times[i + 1] - times[i];
        double before = interpolate_linear(tr, column, place, first + i - 1, first + i - 1, 0);
        double here = interpolate_linear(tr, column, place, first + i, first + i, 0);
        double after = interpolate_linear(tr, column, place, first + i + 1, first + i + 1, 0);
        double right = 3 * ((here - before) / (a * a) + (after - here) / (b * b));
        double pivot = 2 / a + 2 / b - pivots[i - 1] / a;
        pivots[i] = 1 / (b * pivot);
        m[i * width] = (right - m[(i - 1) * width] / a) / pivot;
    }
    m[(count - 1) * width] = spline_end_slope(tr, column, place, first, count, count - 1);
    for (size_t i = count - 1; i-- > 1;)
        m[i * width] -= pivots[i] * m[(i + 1) * width];
}

static enum tutti_err trajectory_make_spline(struct tt_trajectory *tr, size_t column)
{
    const struct trajectory_source *source = trajectory_source_of(tr, column);
    size_t width = tr->inputs[column].width;
    double *pivots = tt_arena_array(&tr->arena, source->rows, sizeof *pivots);
    tr->slopes[column] = tt_arena_array(&tr->arena, source->rows * width, sizeof(double));
    if (!pivots || !tr->slopes[column])
        return tt_fail_memory();
    for (size_t first = 0, next; first < source->rows; first = next) { /* stretch by stretch, between jumps */
        for (next = first + 1; next < source->rows && source->times[next] > source->times[next - 1];)
            next++;
        for (size_t place = 0; place < width; place++)
            spline_slopes(tr, column, place, first, next - first, pivots, tr->slopes[column]);
    }
    return TUTTI_OK;
}

static double trajectory_find_range(const struct tt_trajectory *tr, size_t column)
{
    if (tr->inputs[column].expression)
        return 0;
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < trajectory_source_of(tr, column)->rows; row++) {
        double value = interpolate_linear(tr, column, 0, row, row, 0);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return most - least;
}

/* Files without a column here have no rows that matter. */
static enum tutti_err open_sources(struct tt_trajectory *tr)
{
    tr->sources = tt_arena_array(&tr->arena, tr->source_count, sizeof *tr->sources);
    if (!tr->sources)
        return tt_fail_memory();
    for (size_t column = 0; column < tr->columns; column++) {
        if (tr->inputs[column].expression)
            continue;
        const struct tt_trajectory_file *file = &tr->files[tr->inputs[column].file];
        tr->sources[tr->inputs[column].file] = (struct trajectory_source){
            .table = file->table, .times = tt_csv_table_times(file->table), .rows = tt_csv_table_rows(file->table)};
        if (tt_csv_table_rows(file->table) == 0)
            return tt_fail(TUTTI_ERR_FORMAT, "%s: no rows under the header", file->name);
    }
    return TUTTI_OK;
}

static enum tutti_err make_trajectory(struct tt_trajectory *tr, const struct tt_trajectory_input *inputs,
                                      enum tt_trajectory_form form)
{
    tr->inputs = tt_arena_array(&tr->arena, tr->columns, sizeof *tr->inputs);
    tr->values = tt_arena_array(&tr->arena, tr->columns, sizeof *tr->values);
    tr->sizes = tt_arena_array(&tr->arena, tr->columns, sizeof *tr->sizes);
    tr->ranges = tt_arena_array(&tr->arena, tr->columns, sizeof *tr->ranges);
    tr->slots = tt_arena_array(&tr->arena, tr->columns, sizeof *tr->slots);
    tr->slopes = tt_arena_array(&tr->arena, tr->columns, sizeof *tr->slopes);
    tr->breaks = tt_arena_array(&tr->arena, tr->columns, sizeof *tr->breaks);
    if (!tr->inputs || !tr->values || !tr->sizes || !tr->ranges || !tr->slots || !tr->slopes || !tr->breaks)
        return tt_fail_memory();
    memcpy(tr->inputs, inputs, tr->columns * sizeof *inputs);
    TRY(open_sources(tr));
    for (size_t column = 0; column < tr->columns; column++) {
        TRY(trajectory_check_input(tr, column, form));
        TRY(trajectory_read_column(tr, column));
        if (tr->inputs[column].curved && !tr->inputs[column].expression)
            TRY(trajectory_make_spline(tr, column));
        tr->ranges[column] = tr->inputs[column].continuous ? trajectory_find_range(tr, column) : 0;
    }
    TRY(find_instants(tr, &tr->events, trajectory_is_event));
    return find_instants(tr, &tr->kinks, trajectory_is_kink);
}

enum tutti_err tt_trajectory_new(struct tt_trajectory **out, const struct tt_trajectory_file *files, size_t file_count,
                                 const struct tt_description *desc, const struct tt_trajectory_input *inputs,
                                 size_t count, enum tt_trajectory_form form)
{
    *out = NULL;
    struct tt_trajectory *tr = calloc(1, sizeof *tr);
    if (!tr)
        return tt_fail_memory();
    tr->files = files;
    tr->source_count = file_count;
    tr->desc = desc;
    tr->columns = count;
    enum tutti_err err = make_trajectory(tr, inputs, form);
    if (err) {
        tt_trajectory_free(tr);
        return err;
    }
    *out = tr;
    return TUTTI_OK;
}

void tt_trajectory_free(struct tt_trajectory *tr)
{
    if (!tr)
        return;
    for (size_t column = 0; tr->breaks && column < tr->columns; column++)
        tt_breaks_fini(&tr->breaks[column]);
    tt_map_fini(&tr->columns_by_input);
    tt_arena_fini(&tr->arena);
    free(tr);
}

void tt_trajectory_set_range(struct tt_trajectory *tr, double start, double stop)
{
    enum { SAMPLES = 1000 };
    for (size_t column = 0; column < tr->columns; column++) {
        if (!tr->inputs[column].expression)
            continue;
        tt_breaks_init(&tr->breaks[column], tr->inputs[column].expression, start, stop);
        double least = INFINITY, most = -INFINITY;
        for (int i = 0; i <= SAMPLES; i++) {
            double value = tt_trajectory_value(tr, column, 0, start + (stop - start) * i / SAMPLES, true);
            least = isfinite(value) ? fmin(least, value) : least;
            most = isfinite(value) ? fmax(most, value) : most;
        }
        tr->ranges[column] = fmax(most - least, 0);
    }
}

size_t tt_trajectory_count(const struct tt_trajectory *tr)
{
    return tr->columns;
}

const struct tt_trajectory_input *tt_trajectory_input(const struct tt_trajectory *tr, size_t column)
{
    return &tr->inputs[column];
}

void tt_trajectory_bind(struct tt_trajectory *tr, size_t column, void *slot)
{
    tr->slots[column] = slot;
}

/* The rows that t lies between, left <= right, and how far on the way it is. At a jump, or where a row begins: after it,
 * left is the last row at t; before it, right is the first row at t. */
static double trajectory_locate(struct trajectory_source *source, double t, bool after, size_t *left, size_t *right)
{
    /* T3: moves `row` to the last row with time <= t (0 before the first row). */
    while (source->row > 0 && source->times[source->row] > t)
        source->row--;
    while (source->row + 1 < source->rows && source->times[source->row + 1] <= t)
        source->row++;

    *left = source->row;
    *right = source->row;
    if (t < source->times[0])
        return 0;
    if (!after && source->times[source->row] == t) {
        while (*right > 0 && source->times[*right - 1] == t)
            --*right;
        *left = *right > 0 ? *right - 1 : 0;
        return 1;
    }
    if (source->row + 1 >= source->rows)
        return 0;
    *right = source->row + 1;
    return (t - source->times[*left]) / (source->times[*right] - source->times[*left]);
}

/* The value of an expression in the variable's own unit, or its derivative; on one side of t. */
static double evaluate_formula(const struct tt_trajectory *tr, size_t column, double t, bool after, int order)
{
    const struct tt_trajectory_input *input = &tr->inputs[column];
    const double one = 1;
    if (tr->breaks[column].expression && !tt_expression_is_smooth(input->expression))
        t = tt_breaks_offset_time(&tr->breaks[column], t, after);
    double slope = 0, value = order == 0 ? tt_expression_value(input->expression, &t)
                                         : tt_expression_slope(input->expression, &t, &one, &slope);
    double factor = 1, offset = 0;
    if (input->conversion && input->conversion->linear) {
        factor = input->conversion->factor;
        offset = input->conversion->offset;
    }
    double result = order == 0 ? offset + factor * value : factor * slope;
    return tr->desc->vars[input->variable].negated ? -result : result;
}

/* Hermite's polynomial between two rows; to the bit at both. */
static double interpolate_cubic(const struct tt_trajectory *tr, size_t column, size_t place, size_t left, size_t right,
                                double s, int order)
{
    const struct trajectory_source *source = trajectory_source_of(tr, column);
    size_t width = tr->inputs[column].width;
    double a = interpolate_linear(tr, column, place, left, left, 0),
           b = interpolate_linear(tr, column, place, right, right, 0);
    double h = source->times[right] - source->times[left];
    if (left == right || h == 0)
        return order == 0 ? a : 0;
    double ma = tr->slopes[column][left * width + place], mb = tr->slopes[column][right * width + place], r = 1 - s;
    if (order == 1)
        return 6 * s * r * (b - a) / h + r * (1 - 3 * s) * ma + s * (3 * s - 2) * mb;
    return s == 0 ? a : s == 1 ? b : a * (1 + 2 * s) * r * r + b * s * s * (3 - 2 * s) + h * s * r * (ma * r - mb * s);
}

void tt_trajectory_sample_column(struct tt_trajectory *tr, size_t column, double t, bool after)
{
    size_t left, right, width = tr->inputs[column].width;
    void *slot = tr->slots[column];
    if (!slot)
        return;
    if (!tr->inputs[column].continuous) {
        (void)trajectory_locate(trajectory_source_of(tr, column), t, after, &left, &right);
        memcpy(slot, trajectory_value_at(tr, column, left, 0), width * tr->sizes[column]);
        return;
    }
    for (size_t place = 0; place < width; place++) {
        double value = tt_trajectory_value(tr, column, place, t, after);
        if (tr->sizes[column] == sizeof(double))
            ((double *)slot)[place] = value;
        else
            ((float *)slot)[place] = (float)value;
    }
}

void tt_trajectory_sample(struct tt_trajectory *tr, double t, bool after)
{
    for (size_t column = 0; column < tr->columns; column++)
        tt_trajectory_sample_column(tr, column, t, after);
}

double tt_trajectory_value(struct tt_trajectory *tr, size_t column, size_t place, double t, bool after)
{
    size_t left, right;
    if (tr->inputs[column].expression)
        return evaluate_formula(tr, column, t, after, 0);
    double way = trajectory_locate(trajectory_source_of(tr, column), t, after, &left, &right);
    return tr->inputs[column].curved ? interpolate_cubic(tr, column, place, left, right, way, 0)
                                     : interpolate_linear(tr, column, place, left, right, way);
}

double tt_trajectory_slope(struct tt_trajectory *tr, size_t column, size_t place, double t, bool after)
{
    size_t left, right;
    if (tr->inputs[column].expression)
        return evaluate_formula(tr, column, t, after, 1);
    double way = trajectory_locate(trajectory_source_of(tr, column), t, after, &left, &right);
    if (tr->inputs[column].curved)
        return interpolate_cubic(tr, column, place, left, right, way, 1);
    double h = trajectory_source_of(tr, column)->times[right] - trajectory_source_of(tr, column)->times[left];
    return h > 0 ? (interpolate_linear(tr, column, place, right, right, 0) -
                    interpolate_linear(tr, column, place, left, left, 0)) /
                       h
                 : 0;
}

enum tutti_err tt_trajectory_check(const struct tt_trajectory *tr, double t)
{
    double value;
    for (size_t column = 0; column < tr->columns; column++)
        if (tr->inputs[column].expression && !isfinite(evaluate_formula(tr, column, t, true, 0))) {
            enum tutti_err err = tt_expression_check(tr->inputs[column].expression, &t, &value);
            return tt_fail_context(err ? err : tt_fail(TUTTI_ERR_ARGUMENT, "no finite number"),
                                   "--signal %s, at t = %s", trajectory_name_of(tr, column), NUMBER(t));
        }
    return TUTTI_OK;
}

static double next_instant(struct row_instants *instants, double t)
{
    while (instants->next > 0 && instants->times[instants->next - 1] > t)
        instants->next--;
    while (instants->next < instants->count && instants->times[instants->next] <= t)
        instants->next++;
    return instants->next < instants->count ? instants->times[instants->next] : INFINITY;
}

static double trajectory_next_break(struct tt_trajectory *tr, double t, bool jumps)
{
    double next = INFINITY;
    for (size_t column = 0; column < tr->columns; column++)
        if (tr->breaks[column].expression)
            next = fmin(next, tt_breaks_next(&tr->breaks[column], t, jumps));
    return next;
}

double tt_trajectory_next_event(struct tt_trajectory *tr, double t)
{
    return fmin(next_instant(&tr->events, t), trajectory_next_break(tr, t, true));
}

double tt_trajectory_next_kink(struct tt_trajectory *tr, double t)
{
    return fmin(next_instant(&tr->kinks, t), trajectory_next_break(tr, t, false));
}

double tt_trajectory_range(const struct tt_trajectory *tr, size_t column)
{
    return tr->ranges[column];
}

/* ---- steps that fit the rows ---- */

enum { MOST_STEPS = 1000000 };

static double trajectory_next_row(struct tt_trajectory *tr, double t, bool kinks)
{
    return kinks ? tt_trajectory_next_kink(tr, t) : tt_trajectory_next_event(tr, t);
}

/* Euclid's algorithm for lengths that are rounded: less than `noise` is nothing. */
static double trajectory_common_divisor(double a, double b, double noise)
{
    while (b > noise) {
        double rest = fabs(remainder(a, b));
        a = b;
        b = rest;
    }
    return a;
}

/* Finds the step near `guess` that divides the whole run and hits all rows; 0 if there is none. */
static double trajectory_fit_step(struct tt_trajectory *tr, double start, double stop, bool kinks, double guess)
{
    double span = stop - start, count = nearbyint(span / guess), step = span / count;
    if (!(count >= 1 && count <= MOST_STEPS))
        return 0;
    double t = trajectory_next_row(tr, start, kinks);
    while (t < stop) {
        if (fabs(t - start - step * nearbyint((t - start) / step)) > TUTTI_TRAJECTORY_SPLINTER * step)
            return 0;
        t = trajectory_next_row(tr, t, kinks);
    }
    return step;
}

double tt_trajectory_spacing(struct tt_trajectory *tr, double start, double stop, bool kinks, double *smallest)
{
    double span = stop - start, noise = span / MOST_STEPS / 100, divisor = span, before = start;
    *smallest = span;
    double t = trajectory_next_row(tr, start, kinks);
    for (int rows = 0; t < stop; rows++) {
        if (rows == MOST_STEPS)
            return 0;
        *smallest = fmin(*smallest, t - before);
        divisor = trajectory_common_divisor(divisor, t - start, noise);
        before = t;
        t = trajectory_next_row(tr, t, kinks);
    }
    if (before == start)
        return 0;
    double step = trajectory_fit_step(tr, start, stop, kinks,
                                      *smallest); /* rows at equal distances, however their times are rounded */
    return step > 0 ? step : trajectory_fit_step(tr, start, stop, kinks, divisor);
}
