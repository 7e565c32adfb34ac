/* SPDX-License-Identifier: MIT */
/* Version 5 of the MAT format: what Matlab, Octave and SciPy read. matio writes it, and is loaded for that only: see
 * CMakeLists.txt. */
#include <dlfcn.h>
#include <errno.h>
#include <matio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "console.h"
#include "linear.h"
#include "output.h"
#include "solve/pattern.h"

static struct {
    __typeof__(&Mat_CreateVer) create;
    __typeof__(&Mat_Close) close;
    __typeof__(&Mat_VarCreate) new;
    __typeof__(&Mat_VarWrite) write;
    __typeof__(&Mat_VarFree) free;
} matio;

bool linear_can_write_mat(void)
{
    void *library = dlopen(TUTTI_MATIO, RTLD_NOW | RTLD_LOCAL);
    const struct {
        void *slot;
        const char *name;
    } functions[] = {
        {&matio.create, "Mat_CreateVer"}, {&matio.close, "Mat_Close"},  {&matio.new, "Mat_VarCreate"},
        {&matio.write, "Mat_VarWrite"},   {&matio.free, "Mat_VarFree"},
    };
    bool all = library;
    for (size_t i = 0; all && i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);
        memcpy(functions[i].slot, &function, sizeof function); /* C has no cast from data to functions */
        all = function;
    }
    if (!all)
        console_error("MAT files need the library " TUTTI_MATIO
                      " (Debian package libmatio11): install it, or write JSON");
    return all;
}

struct writer {
    mat_t *file;
    bool enough; /* memory so far */
    uint32_t count;
};

/* Takes `variable`. Disk errors are detected afterwards, because matio does not report them. */
static void put(struct writer *writer, matvar_t *variable)
{
    writer->enough = writer->enough && variable && matio.write(writer->file, variable, MAT_COMPRESSION_NONE) == 0;
    writer->count++;
    matio.free(variable);
}

/* A column, or a scalar. */
static void put_numbers(struct writer *writer, const char *name, const double *values, size_t count)
{
    size_t size[2] = {count, 1};
    put(writer, matio.new(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, (void *)values, 0));
}

static void put_full(struct writer *writer, const char *name, const struct tutti_matrix *matrix)
{
    size_t size[2] = {matrix->row_count, matrix->column_count};
    double *dense = calloc(size[0] * size[1] + 1, sizeof *dense);
    if (!dense) {
        writer->enough = false;
        return;
    }
    for (size_t c = 0; c < size[1]; c++)
        for (int k = matrix->starts[c]; k < matrix->starts[c + 1]; k++)
            dense[c * size[0] + (size_t)matrix->rows[k]] = matrix->values[k];
    put(writer, matio.new(name, MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, dense, 0));
    free(dense);
}

/* Sparse matrices of Matlab have no zeros among their entries. */
static void put_sparse(struct writer *writer, const char *name, const struct tutti_matrix *matrix)
{
    size_t size[2] = {matrix->row_count, matrix->column_count}, entries = (size_t)matrix->starts[size[1]];
    mat_uint32_t *rows = malloc((entries + 1) * sizeof *rows), *starts = calloc(size[1] + 1, sizeof *starts), count = 0;
    double *values = malloc((entries + 1) * sizeof *values);
    bool enough = rows && starts && values;
    for (size_t c = 0; enough && c < size[1]; c++) {
        for (int k = matrix->starts[c]; k < matrix->starts[c + 1]; k++)
            if (matrix->values[k] != 0) {
                rows[count] = (mat_uint32_t)matrix->rows[k];
                values[count++] = matrix->values[k];
            }
        starts[c + 1] = count;
    }
    if (enough) {
        mat_sparse_t sparse = {.nzmax = count,
                               .ir = rows,
                               .nir = count,
                               .jc = starts,
                               .njc = (mat_uint32_t)size[1] + 1,
                               .ndata = count,
                               .data = values};
        put(writer, matio.new(name, MAT_C_SPARSE, MAT_T_DOUBLE, 2, size, &sparse, 0));
    }
    writer->enough = writer->enough && enough;
    free(rows);
    free(starts);
    free(values);
}

static void put_matrix(struct writer *writer, const char *name, const struct tutti_matrix *matrix)
{
    const struct tt_pattern pattern = {(int32_t)matrix->row_count, (int32_t)matrix->column_count,
                                       (int32_t *)matrix->starts, (int32_t *)matrix->rows};
    if (tt_pattern_is_worth_sparse(&pattern) && tt_pattern_entries(&pattern) > 0)
        put_sparse(writer, name, matrix);
    else
        put_full(writer, name, matrix);
}

/* The next character of a valid UTF-8 text. */
static uint32_t take_character(const char **text)
{
    const unsigned char *bytes = (const unsigned char *)*text;
    size_t length = tt_text_utf8_length(*text);
    uint32_t character = length == 1 ? bytes[0] : bytes[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++)
        character = character << 6 | (bytes[i] & 0x3fu);
    *text += length ? length : 1;
    return character;
}

/* Matlab's characters are UTF-16. SciPy (1.10) cannot read a file with pairs of them, so what needs a pair becomes the
 * replacement character. NULL: no memory. */
static matvar_t *text(const char *name, const char *value)
{
    char *copy = tt_text_copy(value);
    mat_uint16_t *units = copy ? malloc((strlen(copy) + 1) * sizeof *units) : NULL;
    size_t size[2] = {1, 0};
    if (units) {
        tt_text_make_printable(copy);
        for (const char *rest = copy; *rest;) {
            uint32_t character = take_character(&rest);
            units[size[1]++] = character > 0xffff ? 0xfffd : (mat_uint16_t)character;
        }
    }
    matvar_t *variable = units ? matio.new(name, MAT_C_CHAR, MAT_T_UTF16, 2, size, units, 0) : NULL;
    free(copy);
    free(units);
    return variable;
}

static void put_names(struct writer *writer, const char *name, char **names, size_t count)
{
    size_t size[2] = {count, 1};
    matvar_t **cells = calloc(count + 1, sizeof *cells);
    bool enough = cells;
    for (size_t i = 0; enough && i < count; i++)
        enough = (cells[i] = text(NULL, names[i])) != NULL;
    if (enough) {
        put(writer, matio.new(name, MAT_C_CELL, MAT_T_CELL, 2, size, cells, 0)); /* takes the cells */
    } else {
        for (size_t i = 0; cells && i < count; i++)
            matio.free(cells[i]);
        writer->enough = false;
    }
    free(cells);
}

static void put_eigenvalues(struct writer *writer, const struct tutti_linearization *linearization)
{
    size_t size[2] = {linearization->eigenvalue_count, 1};
    mat_complex_split_t values = {linearization->eigenvalues_re, linearization->eigenvalues_im};
    put(writer, size[0] == 0 ? matio.new("eigenvalues", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, NULL, 0)
                             : matio.new("eigenvalues", MAT_C_DOUBLE, MAT_T_DOUBLE, 2, size, &values, MAT_F_COMPLEX));
}

static void write_all(struct writer *writer, const struct tutti_linearization *linearization, const char *fmu)
{
    put_matrix(writer, "A", &linearization->a);
    put_matrix(writer, "B", &linearization->b);
    put_matrix(writer, "C", &linearization->c);
    put_matrix(writer, "D", &linearization->d);
    put_numbers(writer, "t", &linearization->time, 1);
    put_numbers(writer, "x0", linearization->states, linearization->state_count);
    put_numbers(writer, "dx0", linearization->derivatives, linearization->state_count);
    put_numbers(writer, "u0", linearization->inputs, linearization->input_count);
    put_numbers(writer, "y0", linearization->outputs, linearization->output_count);
    put_names(writer, "hidden", linearization->hidden_names, linearization->hidden_count);
    put_names(writer, "state_names", linearization->state_names, linearization->state_count);
    put_names(writer, "input_names", linearization->input_names, linearization->input_count);
    put_names(writer, "output_names", linearization->output_names, linearization->output_count);
    put_eigenvalues(writer, linearization);
    put_numbers(writer, "margin", &linearization->margin, 1);
    put(writer, text("stability", tutti_stability_name(linearization->stability)));
    put(writer, text("fmu", fmu));
}

/* matio does not look whether its bytes reach the disk. The file is whole if, after the header of 128 bytes, each
 * variable begins with its length (the second word) and they fill it to the end. */
static bool is_whole(const char *path, uint32_t count)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1, place = 128;
    uint32_t head[2], found = 0;
    while (place < end && fseek(file, place, SEEK_SET) == 0 && fread(head, sizeof head, 1, file) == 1) {
        place += (long)sizeof head + (long)head[1];
        found++;
    }
    fclose(file);
    return place == end && found == count;
}

bool linear_write_mat(const struct tutti_linearization *linearization, const char *fmu, const char *path)
{
    char header[116];
    snprintf(header, sizeof header, "MATLAB 5.0 MAT-file, written by Tutti %s", tutti_version());
    errno = 0;
    struct writer writer = {.file = matio.create(path, header, MAT_FT_MAT5), .enough = true};
    if (!writer.file) {
        output_complain(path, errno);
        return false;
    }
    write_all(&writer, linearization, fmu);
    errno = 0;
    bool closed = matio.close(writer.file) == 0;
    int why = errno;
    if (!writer.enough)
        console_error("out of memory");
    else if (!closed || !is_whole(path, writer.count))
        output_complain(path, why);
    else
        return true;
    return false;
}
