/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "console.h"
#include "linear.h"
#include "output.h"
#include "apps/describe/json.h"

/* Matrices up to this many rows and columns are also written row by row. */
enum { MOST_DENSE = 100 };

/* One value after another, a line each: all at once would be one endless line, or one line per number. */
struct writer {
    FILE *file;
    bool memory, first; /* there was enough; nothing is written in this object yet */
    int depth;
};

static void begin_line(struct writer *writer, const char *key)
{
    fprintf(writer->file, "%s\n%*s", writer->first ? "" : ",", 2 * writer->depth, "");
    if (key)
        fprintf(writer->file, "\"%s\": ", key);
    writer->first = false;
}

/* Takes `value`. */
static void put(struct writer *writer, const char *key, json_t *value)
{
    begin_line(writer, key);
    writer->memory = value && writer->memory;
    if (value)
        json_dumpf(value, writer->file, JSON_REAL_PRECISION(17) | JSON_ENCODE_ANY);
    json_decref(value);
}

static void open_block(struct writer *writer, const char *key, char bracket)
{
    if (key)
        begin_line(writer, key);
    fputc(bracket, writer->file);
    writer->first = true;
    writer->depth++;
}

static void close_block(struct writer *writer, char bracket)
{
    writer->depth--;
    fprintf(writer->file, "\n%*s%c", 2 * writer->depth, "", bracket);
    writer->first = false;
}

/* JSON has no NaN and no infinity: they become null. (Matrices have neither.) */
static json_t *number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *numbers(const double *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, number(values[i]));
    return list;
}

static json_t *integers(const int *values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, json_integer(values[i]));
    return list;
}

static json_t *texts(char **values, size_t count)
{
    json_t *list = json_array();
    for (size_t i = 0; i < count; i++)
        json_array_append_new(list, tt_json_text(values[i]));
    return list;
}

static void put_dense(struct writer *writer, const struct tutti_matrix *matrix)
{
    size_t rows = matrix->row_count, columns = matrix->column_count;
    double *dense = calloc(rows * columns + 1, sizeof *dense);
    if (!dense) {
        writer->memory = false;
        return;
    }
    for (size_t c = 0; c < columns; c++)
        for (int k = matrix->starts[c]; k < matrix->starts[c + 1]; k++)
            dense[(size_t)matrix->rows[k] * columns + c] = matrix->values[k];
    open_block(writer, "dense", '[');
    for (size_t r = 0; r < rows; r++)
        put(writer, NULL, numbers(dense + r * columns, columns));
    close_block(writer, ']');
    free(dense);
}

static void put_matrix(struct writer *writer, const char *key, const struct tutti_matrix *matrix)
{
    size_t entries = (size_t)matrix->starts[matrix->column_count];
    open_block(writer, key, '{');
    put(writer, "rows", json_integer((json_int_t)matrix->row_count));
    put(writer, "columns", json_integer((json_int_t)matrix->column_count));
    put(writer, "starts", integers(matrix->starts, matrix->column_count + 1));
    put(writer, "row_indices", integers(matrix->rows, entries));
    put(writer, "values", numbers(matrix->values, entries));
    if (matrix->row_count <= MOST_DENSE && matrix->column_count <= MOST_DENSE)
        put_dense(writer, matrix);
    close_block(writer, '}');
}

static void put_eigenvalues(struct writer *writer, const struct tutti_linearization *linearization)
{
    if (!linearization->eigenvalues_re) {
        put(writer, "eigenvalues", json_null());
        return;
    }
    open_block(writer, "eigenvalues", '[');
    for (size_t i = 0; i < linearization->eigenvalue_count; i++)
        put(writer, NULL,
            json_pack("{s:f, s:f}", "re", linearization->eigenvalues_re[i], "im", linearization->eigenvalues_im[i]));
    close_block(writer, ']');
}

static void write_all(struct writer *writer, const struct tutti_linearization *linearization, const char *fmu)
{
    struct linear_speed speed = linear_speed_of(linearization);
    open_block(writer, NULL, '{');
    put(writer, "version", json_string(tutti_version()));
    put(writer, "fmu", tt_json_text(fmu));
    put(writer, "fmi", json_string(linearization->fmi));
    put(writer, "time", number(linearization->time));
    put(writer, "exact", json_boolean(linearization->exact));
    put(writer, "structure_known", json_boolean(linearization->structure_known));
    put(writer, "hidden", texts(linearization->hidden_names, linearization->hidden_count));
    put(writer, "state_names", texts(linearization->state_names, linearization->state_count));
    put(writer, "input_names", texts(linearization->input_names, linearization->input_count));
    put(writer, "output_names", texts(linearization->output_names, linearization->output_count));
    put(writer, "x0", numbers(linearization->states, linearization->state_count));
    put(writer, "dx0", numbers(linearization->derivatives, linearization->state_count));
    put(writer, "u0", numbers(linearization->inputs, linearization->input_count));
    put(writer, "y0", numbers(linearization->outputs, linearization->output_count));
    put_matrix(writer, "A", &linearization->a);
    put_matrix(writer, "B", &linearization->b);
    put_matrix(writer, "C", &linearization->c);
    put_matrix(writer, "D", &linearization->d);
    put_eigenvalues(writer, linearization);
    put(writer, "margin", number(linearization->margin));
    put(writer, "stability", json_string(tutti_stability_name(linearization->stability)));
    put(writer, "slowest_time_constant", speed.known ? json_real(speed.slowest) : json_null());
    put(writer, "fastest_time_constant", speed.known ? json_real(speed.fastest) : json_null());
    put(writer, "stiffness_ratio", speed.known ? json_real(speed.ratio) : json_null());
    close_block(writer, '}');
    fputc('\n', writer->file);
}

bool linear_write_json(const struct tutti_linearization *linearization, const char *fmu, const char *path)
{
    errno = 0;
    FILE *file = strcmp(path, "-") == 0 ? output_standard() : fopen(path, "we");
    struct writer writer = {.file = file, .memory = true, .first = true};
    if (file)
        write_all(&writer, linearization, fmu);
    bool done = file && !ferror(file);
    if (file && file != output_standard())
        done = fclose(file) == 0 && done;
    if (!done)
        output_complain(path, errno);
    else if (!writer.memory)
        console_error("out of memory");
    return done && writer.memory;
}
