/* SPDX-License-Identifier: MIT */
/* Any bytes as the mark of an interrupted run. The first says of which format, or that they are a mark of rows for a watcher; the file
 * is that of a run which the marks in the corpus were made with. Taken or refused, the file stays one that a run can write. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "results/output.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static double x;
static const char *text = "a \"text\"";
static const struct tt_column columns[] = {
    {.name = "x", .unit = "m", .type = TUTTI_TYPE_FLOAT64, .source = 0, .value = &x},
    {.name = "k", .type = TUTTI_TYPE_FLOAT64, .source = 1, .fixed = true, .value = &x},
    {.name = "s", .type = TUTTI_TYPE_STRING, .source = 2, .value = &text},
};
enum { COLUMNS = sizeof columns / sizeof *columns, ROWS = 4 };

static void check(bool good)
{
    if (!good)
        abort();
}

static void put_row(const struct tt_record_format *format, struct tt_recorder *recorder, int row)
{
    x = row;
    check(format->row(recorder, row) == TUTTI_OK);
}

static void resume_file(const struct tt_record_format *format, struct tt_byte_reader *mark)
{
    char path[40];
    struct tt_recorder *recorder = NULL;
    int fd = memfd_create("result", MFD_CLOEXEC);
    check(fd >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    check(format->open(&recorder, path, columns, COLUMNS) == TUTTI_OK);
    for (int row = 0; row < ROWS; row++)
        put_row(format, recorder, row);
    check(format->close(recorder) == TUTTI_OK);
    recorder = NULL;
    if (format->reopen(&recorder, path, columns, COLUMNS, mark) == TUTTI_OK) {
        put_row(format, recorder, ROWS);
        check(format->close(recorder) == TUTTI_OK);
    } else {
        check(!recorder && strstr(tutti_err_message(), path));
    }
    close(fd);
}

static enum tutti_err look(void *context, double t, const double *values)
{
    (void)context;
    check(t == ROWS && values[0] == ROWS);
    return TUTTI_OK;
}

static void resume_rows(const uint8_t *data, size_t size)
{
    const struct tutti_watcher watcher = {.row = look};
    const struct tt_output_target target = {.watcher = &watcher, .resume = {size, data}};
    struct tt_output output;
    x = ROWS;
    if (tt_output_open(&output, &target, columns, COLUMNS) == TUTTI_OK)
        check(tt_output_row(&output, ROWS) == TUTTI_OK);
    check(tt_output_close(&output) == TUTTI_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct tt_record_format *const formats[] = {&tt_csv_format, &tt_csv_units_format, &tt_jsonl_format,
                                                             &tt_mat_format};
    enum { FORMATS = sizeof formats / sizeof *formats };
    if (size == 0)
        return 0;
    char *copy = malloc(size); /* of the exact size, so that an overread is detected */
    check(copy != NULL);
    memcpy(copy, data + 1, size - 1);
    if (data[0] % (FORMATS + 1) == FORMATS)
        resume_rows((const uint8_t *)copy, size - 1);
    else
        resume_file(formats[data[0] % (FORMATS + 1)], &(struct tt_byte_reader){.at = copy, .end = copy + size - 1});
    free(copy);
    return 0;
}
