/* SPDX-License-Identifier: MIT */
#include "results/mat_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"
#include "base/text.h"

/* --- the head of a matrix: five 32-bit integers and its name */

enum { TYPE, ROWS, COLUMNS, IMAGINARY, NAME_LENGTH, NUMBERS };
enum { TYPE_DOUBLE, TYPE_FLOAT, TYPE_INT32, TYPE_INT16, TYPE_UINT16, TYPE_UINT8, TYPES };
static const unsigned char sizes[TYPES] = {8, 4, 4, 2, 2, 1};
enum { OWN_ORDER = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? 1 : 0 };

/* Reads the integers in the byte order that the first of them has and tells; NULL, or what is wrong. */
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
