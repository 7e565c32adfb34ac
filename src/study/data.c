/* SPDX-License-Identifier: MIT */
#include "study/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>

#include "base/number.h"

static enum tutti_err list_variables(struct tutti_data *data, struct tutti_result *result, const char *path)
{
    data->count = tutti_result_count(result);
    data->names = tutti_arena_array(&data->arena, data->count + 1, sizeof *data->names);
    if (!data->names)
        return tutti_fail_memory();
    for (size_t i = 0; i < data->count; i++) {
        struct tutti_result_variable variable;
        (void)tutti_result_describe(result, i, &variable);
        data->names[i] = tutti_arena_text(&data->arena, variable.name, strlen(variable.name));
        if (!data->names[i])
            return tutti_fail_memory();
    }
    return data->count > 0 ? TUTTI_OK : tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there is no column but the time", path);
}

/* columns[i][row] of the file, as far as its times are wanted. */
static enum tutti_err keep_rows(struct tutti_data *data, const double *times, size_t rows, double *const *columns,
                                const char *path)
{
    for (size_t r = 0; r < rows; r++) {
        bool again = data->rows > 0 &&
                     times[r] == data->times[data->rows - 1]; /* both sides of an event: the later one counts */
        double *row = data->values + (data->rows - again) * data->count;
        data->times[data->rows - again] = times[r];
        data->rows += !again;
        for (size_t i = 0; i < data->count; i++) {
            row[i] = columns[i][r];
            if (isinf(row[i]))
                return tutti_fail(TUTTI_ERR_FORMAT, "%s: '%s' is infinite at t = %s", path, data->names[i],
                                  NUMBER(times[r]));
        }
    }
    for (size_t i = 0; i < data->count; i++) {
        size_t present = 0;
        for (size_t r = 0; r < data->rows; r++)
            present += isnan(data->values[r * data->count + i]) ? 0 : 1;
        if (present == 0)
            return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' has no value that is a number in the time of the run", path,
                              data->names[i]);
        data->present += present;
    }
    return TUTTI_OK;
}

static enum tutti_err read_values(struct tutti_data *data, struct tutti_result *result, size_t first, size_t count,
                                  const char *path)
{
    size_t all = tutti_result_rows(result);
    double *memory = tutti_arena_array(&data->arena, data->count * all + 1, sizeof *memory);
    double **columns = tutti_arena_array(&data->arena, data->count + 1, sizeof *columns);
    size_t *which = tutti_arena_array(&data->arena, data->count + 1, sizeof *which);
    data->times = calloc(count + 1, sizeof *data->times);
    data->values = calloc(count * data->count + 1, sizeof *data->values);
    if (!memory || !columns || !which || !data->times || !data->values)
        return tutti_fail_memory();
    for (size_t i = 0; i < data->count; i++) {
        which[i] = i;
        columns[i] = memory + i * all;
    }
    TRY(tutti_result_read(result, which, data->count, columns));
    for (size_t i = 0; i < data->count; i++)
        columns[i] += first;
    return keep_rows(data, tutti_result_times(result) + first, count, columns, path);
}

static enum tutti_err read_result(struct tutti_data *data, struct tutti_result *result, const char *path, double start,
                                  double stop, const struct tutti_log *log)
{
    const double *times = tutti_result_times(result);
    size_t rows = tutti_result_rows(result), first = 0, end = rows;
    while (first < rows && times[first] < start)
        first++;
    while (end > first && times[end - 1] > stop)
        end--;
    if (rows == 0)
        return tutti_fail(TUTTI_ERR_ARGUMENT, "%s: there are no rows", path);
    if (first == end)
        return tutti_fail(TUTTI_ERR_ARGUMENT,
                          "%s: the data, from t = %s to %s, and the run, from %s to %s, have no time in common: see "
                          "--start and --stop",
                          path, NUMBER(times[0]), NUMBER(times[rows - 1]), NUMBER(start), NUMBER(stop));
    if (end - first < rows)
        tutti_log_printf(log, TUTTI_LOG_WARNING, NULL,
                         "%s: %zu of %zu rows are outside of the run, from t = %s to %s, and are not used", path,
                         rows - (end - first), rows, NUMBER(start), NUMBER(stop));
    TRY(list_variables(data, result, path));
    return read_values(data, result, first, end - first, path);
}

enum tutti_err tutti_data_read(struct tutti_data *data, const char *path, double start, double stop,
                               const struct tutti_log *log)
{
    struct tutti_result *result;
    *data = (struct tutti_data){0};
    TRY(tutti_result_open(&result, path, log));
    enum tutti_err err = read_result(data, result, path, start, stop, log);
    tutti_result_free(result);
    if (err)
        tutti_data_fini(data);
    return err;
}

void tutti_data_fini(struct tutti_data *data)
{
    free(data->times);
    free(data->values);
    tutti_arena_fini(&data->arena);
    *data = (struct tutti_data){0};
}
