/* SPDX-License-Identifier: MIT */
/* result_fuzz.h - any bytes as a result: opened, and all values read twice with the same outcome; or refused with a message. */
#ifndef TUTTI_FUZZ_RESULT_FUZZ_H
#define TUTTI_FUZZ_RESULT_FUZZ_H

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/fs.h"
#include "results/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_result(const struct tutti_result *result)
{
    for (size_t row = 0; row < result->rows; row++)
        if (!isfinite(result->times[row]) || (row > 0 && result->times[row] < result->times[row - 1]))
            abort();
    for (size_t i = 0; i < result->count; i++)
        if (!result->variables[i].name[0] || tutti_result_find(result, result->variables[i].name) != i)
            abort();
}

/* All at once, and one by one. */
static void check_values(struct tutti_result *result)
{
    size_t n = result->count, rows = result->rows;
    size_t *which = calloc(n + 1, sizeof *which);
    double *values = calloc(n * rows + 1, sizeof *values), *one = calloc(rows + 1, sizeof *one);
    double **columns = calloc(n + 1, sizeof *columns);
    if (!which || !values || !one || !columns)
        abort();
    for (size_t i = 0; i < n; i++) {
        which[i] = i;
        columns[i] = values + i * rows;
    }
    if (tutti_result_read(result, which, n, columns) != TUTTI_OK)
        abort();
    for (size_t i = 0; i < n && i < 4; i++)
        if (tutti_result_read(result, &which[i], 1, &one) != TUTTI_OK ||
            memcmp(one, columns[i], rows * sizeof *one) != 0)
            abort();
    free(columns);
    free(one);
    free(values);
    free(which);
}

/* Opens the bytes as a result and reads it; or it is refused with a message. */
static int fuzz_result(const uint8_t *data, size_t size)
{
    int fd = memfd_create("result", MFD_CLOEXEC);
    if (fd < 0 || tt_fs_write(fd, data, size, -1) != size)
        abort();
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    struct tutti_result *result = NULL;
    enum tutti_err err = tutti_result_open(&result, path, NULL);
    if ((err == TUTTI_OK) != (result != NULL) || (err != TUTTI_OK && !tutti_err_message()[0]))
        abort();
    if (result) {
        check_result(result);
        if (result->count * result->rows < 100000)
            check_values(result);
    }
    tutti_result_free(result);
    close(fd);
    return 0;
}

#endif
