/* SPDX-License-Identifier: MIT */
/* Invariants:
 *  T1  Every cell was read and checked when the file was opened: sampling cannot fail.
 *  T2  values[column] holds one value per row, in the variable's own type.
 *  T3  `row` is the last row with time <= the last time sampled (or 0), so that a run reads the file once. */
#include "system/trajectory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/map.h"
#include "base/str.h"

/* Ascending times, and where a run is among them. */
struct instants {
    double *times;
    size_t count, next;
};

struct tutti_trajectory {
    const char *file;
    const struct tutti_table *table;
    const struct tutti_desc *desc;
    const double *times;
    size_t rows, columns;
    struct tutti_trajectory_input *inputs;
    const unsigned char **values;
    size_t *sizes;  /* of one value */
    double *ranges; /* of continuous columns */
    void **slots;
    struct tutti_map columns_by_input;
    struct instants events, kinks;
    size_t row;
    struct tutti_arena arena;
};

/* Two columns for one input, by whatever names (the table refuses equal ones; an alias is another). */
static enum tutti_err check_once(struct tutti_trajectory *tr, size_t column)
{
    const struct tutti_trajectory_input *input = &tr->inputs[column];
    struct tutti_text key = {0};
    tutti_text_printf(&key, "%u", input->variable);
    for (unsigned d = 0; d < input->element.count; d++)
        tutti_text_printf(&key, ",%llu", (unsigned long long)input->element.index[d]);
    const char *name = key.failed ? NULL : tutti_arena_text(&tr->arena, key.text, key.length);
    tutti_text_fini(&key);
    if (!name)
        return tutti_fail_memory();
    int64_t earlier;
    TRY(tutti_map_add(&tr->columns_by_input, name, (int64_t)column, &earlier));
    return earlier == TUTTI_MAP_NONE
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_FORMAT, "%s: two columns, '%s' and '%s', for the same input", tr->file,
                            tutti_table_name(tr->table, tr->inputs[earlier].column),
                            tutti_table_name(tr->table, input->column));
}

static enum tutti_err check_input(struct tutti_trajectory *tr, size_t column)
{
    struct tutti_trajectory_input *input = &tr->inputs[column];
    const char *name = tutti_table_name(tr->table, input->column);
    const struct tutti_var *var = &tr->desc->vars[input->variable];
    if (var->causality != TUTTI_INPUT)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: column '%s' is no input of the FMU but a variable of causality %s",
                          tr->file, name, tutti_causality_name(var->causality));
    if (var->dimension_count > 0 && input->element.count == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' is an array; give one column per element, '%s[1]' and so on",
                          tr->file, name, name);
    TRY(check_once(tr, column));
    input->continuous = tutti_type_is_float(var->type) && var->variability == TUTTI_CONTINUOUS;
    tr->sizes[column] = tutti_type_size(var->type);
    return TUTTI_OK;
}

/* The file's value is one of the type at the other end of the conversion. */
static enum tutti_err read_converted(struct tutti_trajectory *tr, const struct tutti_var *var,
                                     const struct tutti_conversion *conversion, const char *cell, void *value)
{
    struct tutti_var source = *var;
    source.type = (uint8_t)conversion->from;
    source.bounds = NULL;
    if (conversion->from != conversion->to)
        source.type_def = TUTTI_NONE;
    uint64_t read = 0;
    TRY(tutti_setting_read_value(&tr->arena, tr->desc, &source, cell, strlen(cell), &read));
    return tutti_convert(conversion, &read, value, 1);
}

static enum tutti_err read_cell(struct tutti_trajectory *tr, const struct tutti_trajectory_input *input,
                                const char *cell, void *value)
{
    const struct tutti_var *var = &tr->desc->vars[input->variable];
    bool copied = !input->conversion || tutti_conversion_is_identity(input->conversion);
    if (copied)
        TRY(tutti_setting_read_value(&tr->arena, tr->desc, var, cell, strlen(cell), value));
    else
        TRY(read_converted(tr, var, input->conversion, cell, value));
    if (var->negated)
        tutti_type_negate(var->type, value);
    return TUTTI_OK;
}

static enum tutti_err read_column(struct tutti_trajectory *tr, size_t column)
{
    size_t size = tr->sizes[column];
    unsigned char *values = tutti_arena_array(&tr->arena, tr->rows, size);
    if (!values)
        return tutti_fail_memory();
    tr->values[column] = values;
    for (size_t row = 0; row < tr->rows; row++) {
        const char *cell = tutti_table_cell(tr->table, row, tr->inputs[column].column);
        enum tutti_err err = read_cell(tr, &tr->inputs[column], cell, values + row * size);
        if (err)
            return tutti_fail_context(err == TUTTI_ERR_ARGUMENT ? TUTTI_ERR_FORMAT : err, "%s:%u", tr->file,
                                      tutti_table_line(tr->table, row));
    }
    return TUTTI_OK;
}

/* Do the values of a column differ between two rows? Strings and bytes by content. */
static bool differs(const struct tutti_trajectory *tr, size_t column, size_t a, size_t b)
{
    size_t size = tr->sizes[column];
    const void *va = tr->values[column] + a * size, *vb = tr->values[column] + b * size;
    switch (tr->desc->vars[tr->inputs[column].variable].type) {
    case TUTTI_TYPE_STRING: return strcmp(*(const char *const *)va, *(const char *const *)vb) != 0;
    case TUTTI_TYPE_BINARY: {
        const struct tutti_bytes *ba = va, *bb = vb;
        return ba->size != bb->size || memcmp(ba->data, bb->data, ba->size) != 0;
    }
    default: return memcmp(va, vb, size) != 0;
    }
}

/* An event is where something is not continuous: a jump of any column, or a step of a held one. */
static bool is_event(const struct tutti_trajectory *tr, size_t row)
{
    bool jump = tr->times[row - 1] == tr->times[row];
    for (size_t column = 0; column < tr->columns; column++)
        if ((jump || !tr->inputs[column].continuous) && differs(tr, column, row - 1, row))
            return true;
    return false;
}

static double linear(const struct tutti_trajectory *tr, size_t column, size_t left, size_t right, double way);

/* A kink is where a straight line ends: the slopes on both sides differ by more than rounding. */
static bool is_kink(const struct tutti_trajectory *tr, size_t row)
{
    if (row + 1 >= tr->rows || tr->times[row - 1] == tr->times[row] || tr->times[row] == tr->times[row + 1])
        return true;
    double before = tr->times[row] - tr->times[row - 1], after = tr->times[row + 1] - tr->times[row];
    for (size_t column = 0; column < tr->columns; column++) {
        if (!tr->inputs[column].continuous)
            continue;
        double a = linear(tr, column, row - 1, row - 1, 0), b = linear(tr, column, row, row, 0);
        double c = linear(tr, column, row + 1, row + 1, 0), left = (b - a) / before, right = (c - b) / after;
        if (fabs(left - right) > 1e-12 * fmax(fabs(left), fabs(right)))
            return true;
    }
    return false;
}

static enum tutti_err find_instants(struct tutti_trajectory *tr, struct instants *instants,
                                    bool (*is)(const struct tutti_trajectory *, size_t))
{
    instants->times = tutti_arena_array(&tr->arena, tr->rows + 1, sizeof *instants->times);
    if (!instants->times)
        return tutti_fail_memory();
    for (size_t row = 0; row < tr->rows; row++)
        if ((row == 0 ? is == is_kink : is(tr, row)) &&
            (instants->count == 0 || instants->times[instants->count - 1] != tr->times[row]))
            instants->times[instants->count++] = tr->times[row];
    return TUTTI_OK;
}

static double find_range(const struct tutti_trajectory *tr, size_t column)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t row = 0; row < tr->rows; row++) {
        double value = linear(tr, column, row, row, 0);
        least = fmin(least, value);
        most = fmax(most, value);
    }
    return most - least;
}

static enum tutti_err make(struct tutti_trajectory *tr, const struct tutti_trajectory_input *inputs)
{
    tr->inputs = tutti_arena_array(&tr->arena, tr->columns, sizeof *tr->inputs);
    tr->values = tutti_arena_array(&tr->arena, tr->columns, sizeof *tr->values);
    tr->sizes = tutti_arena_array(&tr->arena, tr->columns, sizeof *tr->sizes);
    tr->ranges = tutti_arena_array(&tr->arena, tr->columns, sizeof *tr->ranges);
    tr->slots = tutti_arena_array(&tr->arena, tr->columns, sizeof *tr->slots);
    if (!tr->inputs || !tr->values || !tr->sizes || !tr->ranges || !tr->slots)
        return tutti_fail_memory();
    if (tr->rows == 0)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: no rows under the header", tr->file);
    for (size_t column = 0; column < tr->columns; column++) {
        tr->inputs[column] = inputs[column];
        TRY(check_input(tr, column));
        TRY(read_column(tr, column));
        tr->ranges[column] = tr->inputs[column].continuous ? find_range(tr, column) : 0;
    }
    TRY(find_instants(tr, &tr->events, is_event));
    return find_instants(tr, &tr->kinks, is_kink);
}

enum tutti_err tutti_trajectory_new(struct tutti_trajectory **out, const char *file, const struct tutti_table *table,
                                    const struct tutti_desc *desc, const struct tutti_trajectory_input *inputs,
                                    size_t count)
{
    *out = NULL;
    struct tutti_trajectory *tr = calloc(1, sizeof *tr);
    if (!tr)
        return tutti_fail_memory();
    tr->file = file;
    tr->table = table;
    tr->desc = desc;
    tr->times = tutti_table_times(table);
    tr->rows = tutti_table_rows(table);
    tr->columns = count;
    enum tutti_err err = make(tr, inputs);
    if (err) {
        tutti_trajectory_free(tr);
        return err;
    }
    *out = tr;
    return TUTTI_OK;
}

void tutti_trajectory_free(struct tutti_trajectory *tr)
{
    if (!tr)
        return;
    tutti_map_fini(&tr->columns_by_input);
    tutti_arena_fini(&tr->arena);
    free(tr);
}

size_t tutti_trajectory_count(const struct tutti_trajectory *tr)
{
    return tr->columns;
}

const struct tutti_trajectory_input *tutti_trajectory_input(const struct tutti_trajectory *tr, size_t column)
{
    return &tr->inputs[column];
}

void tutti_trajectory_bind(struct tutti_trajectory *tr, size_t column, void *slot)
{
    tr->slots[column] = slot;
}

/* T3: moves `row` to the last row with time <= t (0 if there is none). */
static void seek(struct tutti_trajectory *tr, double t)
{
    while (tr->row > 0 && tr->times[tr->row] > t)
        tr->row--;
    while (tr->row + 1 < tr->rows && tr->times[tr->row + 1] <= t)
        tr->row++;
}

/* The rows that t lies between, left <= right, and how far on the way it is. At a jump, or where a row begins: after it,
 * left is the last row at t; before it, right is the first row at t. */
static double between(struct tutti_trajectory *tr, double t, bool after, size_t *left, size_t *right)
{
    seek(tr, t);
    *left = tr->row;
    *right = tr->row;
    if (t < tr->times[0])
        return 0;
    if (!after && tr->times[tr->row] == t) {
        while (*right > 0 && tr->times[*right - 1] == t)
            --*right;
        *left = *right > 0 ? *right - 1 : 0;
        return 1;
    }
    if (tr->row + 1 >= tr->rows)
        return 0;
    *right = tr->row + 1;
    return (t - tr->times[*left]) / (tr->times[*right] - tr->times[*left]);
}

static double linear(const struct tutti_trajectory *tr, size_t column, size_t left, size_t right, double way)
{
    const void *values = tr->values[column];
    bool wide = tr->sizes[column] == sizeof(double);
    double a = wide ? ((const double *)values)[left] : (double)((const float *)values)[left];
    double b = wide ? ((const double *)values)[right] : (double)((const float *)values)[right];
    return way == 0 ? a : way == 1 ? b : a + way * (b - a); /* the rows' own values to the bit */
}

void tutti_trajectory_sample(struct tutti_trajectory *tr, double t, bool after)
{
    size_t left, right;
    double way = between(tr, t, after, &left, &right);
    for (size_t column = 0; column < tr->columns; column++) {
        void *slot = tr->slots[column];
        if (!slot)
            continue;
        if (!tr->inputs[column].continuous)
            memcpy(slot, tr->values[column] + left * tr->sizes[column], tr->sizes[column]);
        else if (tr->sizes[column] == sizeof(double))
            *(double *)slot = linear(tr, column, left, right, way);
        else
            *(float *)slot = (float)linear(tr, column, left, right, way);
    }
}

double tutti_trajectory_value(struct tutti_trajectory *tr, size_t column, double t, bool after)
{
    size_t left, right;
    double way = between(tr, t, after, &left, &right);
    return linear(tr, column, left, right, way);
}

static double next_instant(struct instants *instants, double t)
{
    while (instants->next > 0 && instants->times[instants->next - 1] > t)
        instants->next--;
    while (instants->next < instants->count && instants->times[instants->next] <= t)
        instants->next++;
    return instants->next < instants->count ? instants->times[instants->next] : INFINITY;
}

double tutti_trajectory_next_event(struct tutti_trajectory *tr, double t)
{
    return next_instant(&tr->events, t);
}

double tutti_trajectory_next_kink(struct tutti_trajectory *tr, double t)
{
    return next_instant(&tr->kinks, t);
}

double tutti_trajectory_range(const struct tutti_trajectory *tr, size_t column)
{
    return tr->ranges[column];
}

/* ---- steps that fit the rows ---- */

enum { MOST_STEPS = 1000000 };

static double next_row(struct tutti_trajectory *tr, double t, bool kinks)
{
    return fmin(next_instant(&tr->events, t), kinks ? next_instant(&tr->kinks, t) : INFINITY);
}

/* Euclid's algorithm for lengths that are rounded: less than `noise` is nothing. */
static double common_divisor(double a, double b, double noise)
{
    while (b > noise) {
        double rest = fabs(remainder(a, b));
        a = b;
        b = rest;
    }
    return a;
}

/* The step near `guess` that goes into the whole run and meets all rows; 0: there is none. */
static double fit(struct tutti_trajectory *tr, double start, double stop, bool kinks, double guess)
{
    double span = stop - start, count = nearbyint(span / guess), step = span / count;
    if (!(count >= 1 && count <= MOST_STEPS))
        return 0;
    for (double t = next_row(tr, start, kinks); t < stop; t = next_row(tr, t, kinks))
        if (fabs(t - start - step * nearbyint((t - start) / step)) > TUTTI_TRAJECTORY_SPLINTER * step)
            return 0;
    return step;
}

double tutti_trajectory_spacing(struct tutti_trajectory *tr, double start, double stop, bool kinks, double *smallest)
{
    double span = stop - start, noise = span / MOST_STEPS / 100, divisor = span, before = start;
    *smallest = span;
    for (double t = next_row(tr, start, kinks); t < stop; t = next_row(tr, t, kinks)) {
        *smallest = fmin(*smallest, t - before);
        divisor = common_divisor(divisor, t - start, noise);
        before = t;
    }
    if (before == start)
        return 0;
    double step = fit(tr, start, stop, kinks, *smallest); /* rows at equal distances, however their times are rounded */
    return step > 0 ? step : fit(tr, start, stop, kinks, divisor);
}
