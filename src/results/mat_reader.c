/* SPDX-License-Identifier: MIT */
#include "results/mat_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"
#include "results/result.h"

/* --- the head of a matrix: five 32-bit integers and its name */

enum { TYPE, ROWS, COLUMNS, IMAGINARY, NAME_LENGTH, NUMBERS };
enum { TYPE_DOUBLE, TYPE_FLOAT, TYPE_INT32, TYPE_INT16, TYPE_UINT16, TYPE_UINT8, TYPES };
static const unsigned char sizes[TYPES] = {8, 4, 4, 2, 2, 1};
enum { OWN_ORDER = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0 };

/* Decodes the header in the byte order that its first integer implies; returns NULL, or a description of the fault. */
static const char *mat_reader_decode_head(const unsigned char *head, int32_t numbers[NUMBERS],
                                          struct tt_mat_matrix *matrix)
{
    uint32_t words[NUMBERS];
    memcpy(words, head, sizeof words);
    matrix->swapped = words[TYPE] > 9999;
    for (int i = 0; i < NUMBERS; i++)
        numbers[i] = (int32_t)(matrix->swapped ? __builtin_bswap32(words[i]) : words[i]);
    int32_t type = numbers[TYPE], order = type / 1000;
    if (type < 0 || type > 4999 || type / 100 % 10 != 0 || type / 10 % 10 >= TYPES || type % 10 > 2)
        return "it is no matrix";
    if (order != (matrix->swapped ? 1 - OWN_ORDER : OWN_ORDER))
        return order > 1 ? "it has the numbers of a VAX or a Cray" : "its byte order is not the one it tells";
    if (numbers[ROWS] < 0 || numbers[COLUMNS] < 0 || numbers[IMAGINARY] < 0 || numbers[IMAGINARY] > 1 ||
        numbers[NAME_LENGTH] < 1)
        return "it is no matrix";
    matrix->type = (unsigned char)(type / 10 % 10);
    matrix->text = type % 10 == 1;
    matrix->sparse = type % 10 == 2;
    matrix->complex = numbers[IMAGINARY] == 1;
    matrix->rows = (size_t)numbers[ROWS];
    matrix->columns = (size_t)numbers[COLUMNS];
    matrix->size = sizes[matrix->type];
    return NULL;
}

bool tt_mat_reader_fits(const unsigned char *head, size_t size)
{
    int32_t numbers[NUMBERS];
    struct tt_mat_matrix matrix;
    if (size < TUTTI_MAT_HEAD + 2 || mat_reader_decode_head(head, numbers, &matrix) != NULL ||
        numbers[NAME_LENGTH] > 64)
        return false;
    unsigned char first = head[TUTTI_MAT_HEAD];
    return (first >= 'A' && first <= 'Z') || (first >= 'a' && first <= 'z');
}

/* --- a file */

enum tutti_err tt_mat_reader_open(struct tt_mat_file *file, const char *path)
{
    struct stat st;
    file->path = path;
    file->next = 0;
    file->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* of a pipe, too: it is refused below */
    if (file->fd < 0 || fstat(file->fd, &st) != 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: it is not a file", path);
    file->size = st.st_size;
    return TUTTI_OK;
}

void tt_mat_reader_close(struct tt_mat_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* All n bytes at `at`. */
static enum tutti_err mat_reader_read_bytes(const struct tt_mat_file *file, void *bytes, size_t n, off_t at)
{
    for (size_t done = 0; done < n;) {
        ssize_t got = pread(file->fd, (char *)bytes + done, n - done, at + (off_t)done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", file->path, strerror(errno));
        if (got == 0)
            return tt_fail(TUTTI_ERR_IO, "cannot read %s: it ends at byte %lld; did it change meanwhile?", file->path,
                           (long long)at + (long long)done);
        done += (size_t)got;
    }
    return TUTTI_OK;
}

enum tutti_err tt_mat_reader_next(struct tt_mat_file *file, struct tt_mat_matrix *matrix, bool *found)
{
    unsigned char head[TUTTI_MAT_HEAD];
    int32_t numbers[NUMBERS];
    long long at = file->next;
    *found = false;
    if (file->next >= file->size)
        return TUTTI_OK;
    if (file->size - file->next < TUTTI_MAT_HEAD + 1)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: ends within the head of a matrix, at byte %lld", file->path, at);
    TRY(mat_reader_read_bytes(file, head, sizeof head, file->next));
    const char *wrong = mat_reader_decode_head(head, numbers, matrix);
    if (wrong)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: at byte %lld a matrix should begin, but %s", file->path, at, wrong);
    size_t name = (size_t)numbers[NAME_LENGTH];
    matrix->at = file->next + TUTTI_MAT_HEAD + (off_t)name;
    if (matrix->at > file->size)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: ends within the name of a matrix, at byte %lld", file->path, at);
    if (name > sizeof matrix->name - 1)
        name = sizeof matrix->name - 1;
    TRY(mat_reader_read_bytes(file, matrix->name, name, file->next + TUTTI_MAT_HEAD));
    matrix->name[name] = '\0';
    uint64_t bytes;
    if (__builtin_mul_overflow((uint64_t)matrix->rows * matrix->columns, matrix->size * (matrix->complex ? 2U : 1U),
                               &bytes) ||
        bytes > (uint64_t)INT64_MAX - (uint64_t)matrix->at)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the matrix '%s' of %zu x %zu is larger than any file", file->path,
                       tt_text_excerpt(matrix->name).text, matrix->rows, matrix->columns);
    matrix->end = matrix->at + (off_t)bytes;
    file->next = matrix->end;
    *found = true;
    return TUTTI_OK;
}

/* --- elements */

static double mat_reader_number_at(const unsigned char *bytes, unsigned type, bool swapped)
{
    uint64_t word = 0;
    switch (type) {
    case TYPE_DOUBLE:
        memcpy(&word, bytes, 8);
        word = swapped ? __builtin_bswap64(word) : word;
        double number;
        memcpy(&number, &word, sizeof number);
        return number;
    case TYPE_FLOAT:
    case TYPE_INT32: {
        uint32_t half;
        memcpy(&half, bytes, sizeof half);
        half = swapped ? __builtin_bswap32(half) : half;
        float single;
        memcpy(&single, &half, sizeof single);
        return type == TYPE_FLOAT ? (double)single : (double)(int32_t)half;
    }
    case TYPE_INT16:
    case TYPE_UINT16: {
        uint16_t quarter;
        memcpy(&quarter, bytes, sizeof quarter);
        quarter = swapped ? __builtin_bswap16(quarter) : quarter;
        return type == TYPE_INT16 ? (double)(int16_t)quarter : (double)quarter;
    }
    default: return bytes[0];
    }
}

enum tutti_err tt_mat_reader_read(const struct tt_mat_file *file, const struct tt_mat_matrix *matrix, uint64_t first,
                                  size_t n, double *values)
{
    /* The bytes go to the end of `values`: what is not turned into a double yet is never overwritten. */
    unsigned char *bytes = (unsigned char *)(values + n) - n * matrix->size;
    TRY(mat_reader_read_bytes(file, bytes, n * matrix->size, matrix->at + (off_t)(first * matrix->size)));
    if (matrix->type == TYPE_DOUBLE && !matrix->swapped)
        return TUTTI_OK;
    for (size_t i = 0; i < n; i++)
        values[i] = mat_reader_number_at(bytes + i * matrix->size, matrix->type, matrix->swapped);
    return TUTTI_OK;
}

/* Trajectories of Modelica tools: the files that Dymola, OpenModelica and mat.c write, and Dymola's exported plots.
 * mat.c documents the matrices; in a "binNormal" file all of them are transposed except Aclass. Numbers stay in the
 * file and are read on request. */

enum { BLOCK = 128 * 1024, PAGE = 512 }; /* doubles */
static const size_t MOST_TEXT = (size_t)1 << 30, MOST_NAMES = (size_t)1 << 24;

struct mat_place {
    unsigned char matrix; /* 1, 2; 0: none that can be read */
    bool negated;
    size_t row; /* from 0, of the matrix as it is in a file that is "binTrans" */
};

struct mat_result {
    struct tt_mat_file file;
    bool transposed; /* "binTrans": data_2 is stored point by point */
    bool plotted;    /* what Dymola exports of a plot: `names` and `data` instead */
    struct tt_mat_matrix class, name, description, info, data[3]; /* no name: not in the file */
    /* number of bytes after data_2 that are not a matrix */
    off_t behind;
    size_t names;             /* the variables, and the time */
    struct mat_place *places; /* of variables */
    struct mat_place time;
    double *block;
};

static bool mat_reader_fits(const char *path, const unsigned char *head, size_t size)
{
    size_t n = strlen(path);
    bool named = n > 4 && strcasecmp(path + n - 4, ".mat") == 0;
    return tt_mat_reader_fits(head, size) || (size > 7 && memcmp(head, "MATLAB ", 7) == 0) ||
           (named && (size == 0 || memchr(head, '\0', size)));
}

/* --- the matrices */

static size_t mat_reader_matrix_rows(const struct mat_result *mat, const struct tt_mat_matrix *matrix)
{
    return mat->transposed ? matrix->rows : matrix->columns;
}

/* Names, or points. */
static size_t mat_reader_matrix_columns(const struct mat_result *mat, const struct tt_mat_matrix *matrix)
{
    return mat->transposed ? matrix->columns : matrix->rows;
}

/* Describes the reason why the matrix cannot be read as intended, or NULL. */
static const char *find_matrix_flaw(const struct mat_result *mat, const struct tt_mat_matrix *matrix, bool text)
{
    return !matrix->name[0]                                          ? "is missing"
           : matrix->sparse                                          ? "is sparse"
           : matrix->complex                                         ? "has imaginary numbers"
           : matrix->text != text                                    ? (text ? "is not text" : "is text")
           : matrix->end > mat->file.size && matrix != &mat->data[2] ? "is not whole: the file ends within it"
                                                                     : NULL;
}

static enum tutti_err fail_matrix(const struct mat_result *mat, const char *name, const char *what)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s: the matrix '%s' of a result %s", mat->file.path, name, what);
}

static void mat_reader_keep_matrix(struct mat_result *mat, const struct tt_mat_matrix *matrix)
{
    const struct {
        const char *name;
        struct tt_mat_matrix *place;
    } known[] = {{"Aclass", &mat->class},   {"name", &mat->name},
                 {"names", &mat->name},     {"description", &mat->description},
                 {"dataInfo", &mat->info},  {"data_1", &mat->data[1]},
                 {"data_2", &mat->data[2]}, {"data", &mat->data[2]}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(matrix->name, known[i].name) == 0 && !known[i].place->name[0])
            *known[i].place = *matrix;
}

/* Data after data_2 is ignored: points of an aborted run that were not counted any more. */
static enum tutti_err find_matrices(struct mat_result *mat)
{
    for (bool found = true; found;) {
        struct tt_mat_matrix matrix;
        off_t at = mat->file.next;
        enum tutti_err err = tt_mat_reader_next(&mat->file, &matrix, &found);
        if (err == TUTTI_ERR_FORMAT && mat->data[2].name[0]) {
            mat->behind = mat->file.size - at;
            return TUTTI_OK;
        }
        TRY(err);
        if (found)
            mat_reader_keep_matrix(mat, &matrix);
        if (found && matrix.end > mat->file.size && !mat->data[2].name[0])
            return tt_fail(TUTTI_ERR_FORMAT, "%s: the file ends within the matrix '%s', before there are any points",
                           mat->file.path, tt_text_excerpt(matrix.name).text);
    }
    return TUTTI_OK;
}

/* A line of Aclass, which is never transposed. */
static enum tutti_err mat_reader_read_class(const struct mat_result *mat, size_t line, char *text, size_t size)
{
    const struct tt_mat_matrix *class = &mat->class;
    size_t n = class->columns < size - 1 ? class->columns : size - 1;
    for (size_t i = 0; i < n; i++) {
        double letter;
        TRY(tt_mat_reader_read(&mat->file, class, i * class->rows + line, 1, &letter));
        text[i] = letter >= 1 && letter < 127 ? (char)letter : ' ';
    }
    text[n] = '\0';
    while (n > 0 && text[n - 1] == ' ')
        text[--n] = '\0';
    return TUTTI_OK;
}

static enum tutti_err mat_reader_read_form(struct mat_result *mat)
{
    char class[24], form[24];
    const char *flaw = find_matrix_flaw(mat, &mat->class, true);
    if (flaw)
        return fail_matrix(mat, "Aclass", flaw);
    if (mat->class.rows < 4)
        return fail_matrix(mat, "Aclass", "has less than 4 lines");
    TRY(mat_reader_read_class(mat, 0, class, sizeof class));
    TRY(mat_reader_read_class(mat, 3, form, sizeof form));
    if (strcmp(class, "Atrajectory") != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: it holds '%s'; the result of a simulation is an 'Atrajectory'",
                       mat->file.path, tt_text_excerpt(class).text);
    mat->transposed = strcmp(form, "binTrans") == 0;
    if (!mat->transposed && strcmp(form, "binNormal") != 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: its form is '%s'; 'binTrans' and 'binNormal' are known", mat->file.path,
                       tt_text_excerpt(form).text);
    mat->plotted = strcmp(mat->name.name, "names") == 0 && strcmp(mat->data[2].name, "data") == 0;
    return TUTTI_OK;
}

/* In the file of an aborted or unfinished run data_2 is truncated, or its header counts too few points: 0 in a file of
 * OpenModelica, which updates it at the end only. */
static enum tutti_err count_points(struct mat_result *mat, const struct tutti_log *log)
{
    struct tt_mat_matrix *data = &mat->data[2];
    const char *flaw = find_matrix_flaw(mat, data, false);
    if (flaw)
        return fail_matrix(mat, mat->plotted ? "data" : "data_2", flaw);
    if (mat_reader_matrix_rows(mat, data) == 0)
        return fail_matrix(mat, data->name, "has no row for the time");
    bool cut = data->end > mat->file.size;
    if (cut && !mat->transposed)
        return fail_matrix(mat, data->name, "is not whole: the file ends within it");
    if (!cut && !mat->behind)
        return TUTTI_OK;
    size_t told = mat_reader_matrix_columns(mat, data);
    size_t there = (size_t)(mat->file.size - data->at) / (mat_reader_matrix_rows(mat, data) * data->size);
    if (cut || (told == 0 && mat->transposed)) {
        data->columns = there;
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "%s: its head tells of %zu points, and there are %zu; the run was aborted, or goes on", mat->file.path,
               told, there);
    } else {
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "%s: %lld bytes after its %zu points are left out; the run was aborted, or goes on", mat->file.path,
               (long long)mat->behind, told);
    }
    return TUTTI_OK;
}

/* All of a text matrix: lines of `width` letters. *text is the caller's. */
static enum tutti_err load_text(const struct mat_result *mat, const struct tt_mat_matrix *matrix, char **text)
{
    size_t width = mat_reader_matrix_rows(mat, matrix), lines = mat_reader_matrix_columns(mat, matrix);
    uint64_t total = (uint64_t)matrix->rows * matrix->columns;
    if (total > MOST_TEXT)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: the matrix '%s' has %llu letters; the limit is %zu", mat->file.path,
                       matrix->name, (unsigned long long)total, MOST_TEXT);
    char *letters = malloc((size_t)total + 1);
    if (!letters)
        return tt_fail_memory();
    for (size_t first = 0, n; first < total; first += n) {
        n = total - first < BLOCK ? (size_t)total - first : BLOCK;
        enum tutti_err err = tt_mat_reader_read(&mat->file, matrix, first, n, mat->block);
        if (err != TUTTI_OK) {
            free(letters);
            return err;
        }
        for (size_t i = 0; i < n; i++) {
            double letter = mat->block[i];
            size_t at = mat->transposed ? first + i : (first + i) % lines * width + (first + i) / lines;
            letters[at] = letter >= 0 && letter < 256 ? (char)(unsigned char)letter : '?';
        }
    }
    *text = letters;
    return TUTTI_OK;
}

/* --- variables */

static enum tutti_err fail_place(const struct mat_result *mat, const char *name, const char *what)
{
    return tt_fail(TUTTI_ERR_FORMAT, "%s: dataInfo of '%s' %s", mat->file.path, tt_text_excerpt(name).text, what);
}

static enum tutti_err mat_reader_read_place(const struct mat_result *mat, size_t i, const char *name,
                                            struct mat_place *place, bool *is_time)
{
    double numbers[2] = {2, (double)i + 1};
    for (size_t k = 0; k < 2 && !mat->plotted; k++) {
        size_t at = mat->transposed ? i * mat->info.rows + k : k * mat->info.rows + i;
        TRY(tt_mat_reader_read(&mat->file, &mat->info, at, 1, &numbers[k]));
    }
    *is_time = numbers[0] == 0 || (mat->plotted && i == 0);
    place->matrix = numbers[0] == 0 || numbers[0] == 2 ? 2 : numbers[0] == 1 ? 1 : 0;
    place->negated = numbers[1] < 0;
    double row = fabs(numbers[1]);
    if (!(row <= INT32_MAX) || row != trunc(row) || numbers[0] != trunc(numbers[0]))
        return fail_place(mat, name, "is not whole numbers");
    if (place->matrix == 0)
        return TUTTI_OK;
    const struct tt_mat_matrix *data = &mat->data[place->matrix];
    const char *flaw = find_matrix_flaw(mat, data, false);
    if (flaw)
        return fail_matrix(mat, place->matrix == 1 ? "data_1" : "data_2", flaw);
    place->row = (size_t)row - 1;
    if (row < 1 || place->row >= mat_reader_matrix_rows(mat, data))
        return tt_fail(TUTTI_ERR_FORMAT, "%s: '%s' is row %s of %s, which has %zu", mat->file.path,
                       tt_text_excerpt(name).text, NUMBER(row), data->name, mat_reader_matrix_rows(mat, data));
    return TUTTI_OK;
}

struct mat_texts {
    char *names, *descriptions; /* the latter NULL: none */
};

/* Takes the variable or the time with the i-th name. */
static enum tutti_err mat_reader_add_variable(struct tutti_result *result, struct mat_result *mat,
                                              const struct mat_texts *texts, size_t i, const struct tutti_log *log)
{
    size_t width = mat_reader_matrix_rows(mat, &mat->name);
    struct tutti_result_variable variable = {.numeric = true};
    struct mat_place place;
    bool is_time;
    char *name = tt_mat_reader_text(&result->arena, texts->names + i * width, width);
    char *text = texts->descriptions
                     ? tt_mat_reader_text(&result->arena,
                                          texts->descriptions + i * mat_reader_matrix_rows(mat, &mat->description),
                                          mat_reader_matrix_rows(mat, &mat->description))
                     : NULL;
    if (!name || (texts->descriptions && !text))
        return tt_fail_memory();
    if (text)
        tt_mat_reader_split_unit(text, &variable.unit, &variable.description, &variable.held);
    variable.name = name;
    TRY(mat_reader_read_place(mat, i, name, &place, &is_time));
    if (mat->time.matrix == 0 && (is_time || strcasecmp(name, "time") == 0)) {
        if (place.matrix != 2)
            return fail_place(mat, name, "says that it does not change");
        mat->time = place;
        result->time_unit = variable.unit;
        return TUTTI_OK;
    }
    if (!*name || place.matrix == 0) {
        tt_log(log, TUTTI_LOG_WARNING, NULL, "%s: variable %zu%s%s%s is left out", result->path, i + 1,
               *name ? " ('" : " has no name and", *name ? name : "",
               *name ? "'), which is neither in data_1 nor in data_2," : "");
        return TUTTI_OK;
    }
    variable.held = variable.held || place.matrix == 1;
    mat->places[result->count] = place;
    result->variables[result->count++] = variable;
    return TUTTI_OK;
}

static enum tutti_err mat_reader_add_variables(struct tutti_result *result, struct mat_result *mat,
                                               struct mat_texts *texts, const struct tutti_log *log)
{
    TRY(load_text(mat, &mat->name, &texts->names));
    const char *flaw = find_matrix_flaw(mat, &mat->description, true);
    if (!flaw && mat_reader_matrix_columns(mat, &mat->description) == mat->names)
        TRY(load_text(mat, &mat->description, &texts->descriptions));
    else if (mat->description.name[0])
        tt_log(log, TUTTI_LOG_WARNING, NULL, "%s: the matrix 'description' %s: there are no units", result->path,
               flaw ? flaw : "does not describe all names");
    result->variables = tt_arena_array(&result->arena, mat->names, sizeof *result->variables);
    mat->places = tt_arena_array(&result->arena, mat->names, sizeof *mat->places);
    if (!result->variables || !mat->places)
        return tt_fail_memory();
    for (size_t i = 0; i < mat->names; i++)
        TRY(mat_reader_add_variable(result, mat, texts, i, log));
    if (mat->time.matrix == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: none of its %zu names is the time", result->path, mat->names);
    return TUTTI_OK;
}

static enum tutti_err read_variables(struct tutti_result *result, struct mat_result *mat, const struct tutti_log *log)
{
    const char *flaw = find_matrix_flaw(mat, &mat->name, true);
    if (flaw)
        return fail_matrix(mat, "name", flaw);
    mat->names = mat_reader_matrix_columns(mat, &mat->name);
    if (mat_reader_matrix_rows(mat, &mat->name) == 0)
        return fail_matrix(mat, mat->name.name, "has no letters");
    if (mat->names > MOST_NAMES)
        return tt_fail(TUTTI_ERR_LIMIT, "%s: it has %zu variables; the limit is %zu", result->path, mat->names,
                       MOST_NAMES);
    flaw = mat->plotted                                               ? NULL
           : find_matrix_flaw(mat, &mat->info, false)                 ? find_matrix_flaw(mat, &mat->info, false)
           : mat_reader_matrix_columns(mat, &mat->info) != mat->names ? "has not as many entries as there are names"
           : mat_reader_matrix_rows(mat, &mat->info) < 2              ? "has less than two numbers for a name"
                                                                      : NULL;
    if (flaw)
        return fail_matrix(mat, "dataInfo", flaw);
    struct mat_texts texts = {0};
    enum tutti_err err = mat_reader_add_variables(result, mat, &texts, log);
    free(texts.names);
    free(texts.descriptions);
    return err;
}

/* --- numbers */

/* A row of data_2 that is wanted, and where to. */
struct mat_request {
    const struct mat_place *place;
    double *values;
};

static double apply_sign(const struct mat_place *place, double value)
{
    return place->negated ? 0 - value : value; /* minus nothing is nothing, not -0 */
}

/* Point by point, each of them one element per row of data_2. */
static enum tutti_err read_points(const struct mat_result *mat, const struct mat_request *wanted, size_t count,
                                  size_t points)
{
    const struct tt_mat_matrix *data = &mat->data[2];
    size_t stride = data->rows, most = BLOCK / stride;
    for (size_t first = 0, n; first < points; first += n) {
        n = points - first < most ? points - first : most;
        TRY(tt_mat_reader_read(&mat->file, data, (uint64_t)first * stride, n * stride, mat->block));
        for (size_t i = 0; i < count; i++)
            for (size_t k = 0; k < n; k++)
                wanted[i].values[first + k] =
                    apply_sign(wanted[i].place, mat->block[k * stride + wanted[i].place->row]);
    }
    return TUTTI_OK;
}

/* The same for few of very many rows. */
static enum tutti_err pick_points(const struct mat_result *mat, const struct mat_request *wanted, size_t count,
                                  size_t points)
{
    for (size_t k = 0; k < points; k++)
        for (size_t i = 0; i < count; i++) {
            double value;
            TRY(tt_mat_reader_read(&mat->file, &mat->data[2], (uint64_t)k * mat->data[2].rows + wanted[i].place->row, 1,
                                   &value));
            wanted[i].values[k] = apply_sign(wanted[i].place, value);
        }
    return TUTTI_OK;
}

static enum tutti_err mat_reader_read_rows(const struct mat_result *mat, const struct mat_request *wanted, size_t count)
{
    size_t rows = mat->data[2].rows, points = mat_reader_matrix_columns(mat, &mat->data[2]);
    if (mat->transposed)
        return rows > BLOCK || count < rows / (4 * PAGE) ? pick_points(mat, wanted, count, points)
                                                         : read_points(mat, wanted, count, points);

    for (size_t i = 0; i < count; i++) {
        double *values = wanted[i].values;
        TRY(tt_mat_reader_read(&mat->file, &mat->data[2], (uint64_t)wanted[i].place->row * points, points, values));
        for (size_t k = 0; k < points && wanted[i].place->negated; k++)
            values[k] = apply_sign(wanted[i].place, values[k]);
    }
    return TUTTI_OK;
}

static enum tutti_err mat_reader_read_times(struct tutti_result *result, const struct mat_result *mat)
{
    size_t points = mat_reader_matrix_columns(mat, &mat->data[2]);
    result->times = malloc((points + 1) * sizeof *result->times);
    if (!result->times)
        return tt_fail_memory();
    TRY(mat_reader_read_rows(mat, &(struct mat_request){&mat->time, result->times}, 1));
    for (size_t i = 0; i < points; i++) {
        if (!isfinite(result->times[i]))
            return tt_fail(TUTTI_ERR_FORMAT, "%s: the time of point %zu is not a number (%s)", result->path, i + 1,
                           NUMBER(result->times[i]));
        if (i > 0 && result->times[i] < result->times[i - 1])
            return tt_fail(TUTTI_ERR_FORMAT, "%s: time runs backwards, from %s to %s at point %zu", result->path,
                           NUMBER(result->times[i - 1]), NUMBER(result->times[i]), i + 1);
    }
    result->rows = points;
    return TUTTI_OK;
}

static enum tutti_err mat_reader_read_all(struct tutti_result *result, const size_t *which, size_t count,
                                          double *const *values, struct mat_request *wanted)
{
    const struct mat_result *mat = result->own;
    size_t n = 0;
    for (size_t i = 0; i < count; i++) {
        const struct mat_place *place = &mat->places[which[i]];
        if (place->matrix != 1) {
            wanted[n++] = (struct mat_request){place, values[i]};
            continue;
        }
        const struct tt_mat_matrix *data = &mat->data[1];
        double value = NAN;
        if (mat_reader_matrix_columns(mat, data) > 0)
            TRY(tt_mat_reader_read(&mat->file, data, mat->transposed ? place->row : place->row * data->rows, 1,
                                   &value));
        for (size_t k = 0; k < result->rows; k++)
            values[i][k] = apply_sign(place, value);
    }
    return n > 0 ? mat_reader_read_rows(mat, wanted, n) : TUTTI_OK;
}

static enum tutti_err mat_reader_read_result(struct tutti_result *result, const size_t *which, size_t count,
                                             double *const *values)
{
    struct mat_request *wanted = calloc(count, sizeof *wanted);
    enum tutti_err err = wanted ? mat_reader_read_all(result, which, count, values, wanted) : tt_fail_memory();
    free(wanted);
    return err;
}

/* --- opening and closing */

static void mat_reader_close_result(struct tutti_result *result)
{
    struct mat_result *mat = result->own;
    tt_mat_reader_close(&mat->file);
    free(mat->block);
    free(mat);
}

static enum tutti_err mat_reader_open_result(struct tutti_result *result, const struct tutti_log *log)
{
    struct mat_result *mat = calloc(1, sizeof *mat);
    if (!mat)
        return tt_fail_memory();
    result->own = mat;
    mat->file.fd = -1;
    mat->block = malloc(BLOCK * sizeof *mat->block);
    if (!mat->block)
        return tt_fail_memory();
    TRY(tt_mat_reader_open(&mat->file, result->path));

    /* Other files that are called .mat. */
    char head[8] = {0};
    if (mat->file.size == 0)
        return tt_fail(TUTTI_ERR_FORMAT, "%s: the file is empty", mat->file.path);
    if (pread(mat->file.fd, head, 7, 0) == 7 && strcmp(head, "MATLAB ") == 0)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "%s: it is a MAT-file of a later level; results of Modelica tools are of level 4",
                       mat->file.path);

    TRY(find_matrices(mat));
    TRY(mat_reader_read_form(mat));
    TRY(count_points(mat, log));
    TRY(read_variables(result, mat, log));
    return mat_reader_read_times(result, mat);
}

const struct tt_result_format tt_mat_reader_result_format = {
    .name = "mat",
    .fits = mat_reader_fits,
    .open = mat_reader_open_result,
    .read = mat_reader_read_result,
    .close = mat_reader_close_result,
};

static bool mat_reader_is_utf8(const char *text, size_t n)
{
    char copy[5] = {0};
    for (size_t i = 0, length; i < n; i += length) {
        memcpy(copy, text + i, n - i < 4 ? n - i : 4);
        copy[n - i < 4 ? n - i : 4] = '\0';
        length = tt_text_utf8_length(copy);
        if (length == 0)
            return false;
    }
    return true;
}

char *tt_mat_reader_text(struct tt_arena *arena, const char *line, size_t width)
{
    size_t n = strnlen(line, width);
    while (n > 0 && line[n - 1] == ' ')
        n--;
    if (mat_reader_is_utf8(line, n)) {
        char *text = tt_arena_copy_text(arena, line, n);
        if (text)
            tt_text_make_printable(text);
        return text;
    }
    char *text = tt_arena_alloc(arena, 2 * n + 1), *at = text;
    for (size_t i = 0; text && i < n; i++) {
        unsigned char letter = (unsigned char)line[i];
        if (letter >= 0x80)
            *at++ = (char)(0xc0 | letter >> 6);
        *at++ = (char)(letter >= 0x80 ? 0x80 | (letter & 0x3f) : letter);
    }
    if (text)
        tt_text_make_printable(text);
    return text;
}

void tt_mat_reader_split_unit(char *text, const char **unit, const char **description, bool *discrete)
{
    size_t n = strlen(text);
    char *bracket = n > 0 && text[n - 1] == ']' ? strrchr(text, '[') : NULL;
    if (bracket && (bracket == text || bracket[-1] == ' ')) {
        text[n - 1] = '\0';
        *bracket = '\0';
        char *type = strstr(bracket + 1, ":#(type=");
        *discrete = type && strncmp(type, ":#(type=Real", 12) != 0;
        bracket[1 + strcspn(bracket + 1, "|;")] = '\0';
        if (type)
            *type = '\0';
        *unit = bracket[1] ? bracket + 1 : NULL;
        for (char *end = bracket; end > text && end[-1] == ' ';)
            *--end = '\0';
    }
    *description = *text ? text : NULL;
}
