/* SPDX-License-Identifier: MIT */
#include "study/data.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>

#include "base/number.h"
#include "base/str.h"
#include "description/unit_name.h"
#include "record/result.h"
#include "system/conversion.h"

static enum tutti_err list_variables(struct tutti_data *data, struct tutti_result *result, const char *path)
{
    data->count = tutti_result_count(result);
    data->names = tutti_arena_array(&data->arena, data->count + 1, sizeof *data->names);
    data->units = tutti_arena_array(&data->arena, data->count + 1, sizeof *data->units);
    if (!data->names || !data->units)
        return tutti_fail_memory();
    for (size_t i = 0; i < data->count; i++) {
        struct tutti_result_variable variable;
        (void)tutti_result_describe(result, i, &variable);
        data->names[i] = tutti_arena_text(&data->arena, variable.name, strlen(variable.name));
        data->units[i] = variable.unit ? tutti_arena_text(&data->arena, variable.unit, strlen(variable.unit)) : NULL;
        if (!data->names[i] || (variable.unit && !data->units[i]))
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

static enum tutti_err read_values(struct tutti_data *data, struct tutti_result *result, const double *times,
                                  size_t first, size_t count, const char *path)
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
    if (result->first_text.line > 0)
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "%s:%zu: '%s' has the text '%s', expected a number; leave the cell empty where nothing was "
                          "measured",
                          path, result->first_text.line, data->names[result->first_text.variable],
                          tutti_str_show(result->first_text.text).text);
    for (size_t i = 0; i < data->count; i++)
        if (!result->variables[i].numeric) /* of a format without lines */
            return tutti_fail(TUTTI_ERR_FORMAT, "%s: '%s' has texts, expected numbers", path, data->names[i]);
    for (size_t i = 0; i < data->count; i++)
        columns[i] += first;
    return keep_rows(data, times, count, columns, path);
}

/* The times in seconds; the caller's memory. */
static enum tutti_err convert_times(struct tutti_data *data, const struct tutti_result *result, const char *path,
                                    double **out)
{
    struct tutti_unit_def from, seconds;
    double factor = 1, offset = 0;
    bool known = true;
    size_t rows = tutti_result_rows(result);
    const char *unit = result->time_unit;
    double *times = tutti_arena_array(&data->arena, rows + 1, sizeof *times);
    if (!times)
        return tutti_fail_memory();
    if (unit && (!tutti_unit_name_read(unit, &from) || !tutti_unit_name_read("s", &seconds) ||
                 tutti_conversion_units(&from, &seconds, &factor, &offset, &known) != TUTTI_OK))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: '%s' is not a unit of time; use s, ms, min, h or d", path,
                          tutti_str_show(unit).text);
    for (size_t r = 0; r < rows; r++)
        times[r] = factor * tutti_result_times(result)[r];
    *out = times;
    return TUTTI_OK;
}

static enum tutti_err read_result(struct tutti_data *data, struct tutti_result *result, const char *path, double start,
                                  double stop, const struct tutti_log *log)
{
    double *times = NULL;
    size_t rows = tutti_result_rows(result), first = 0, end = rows;
    TRY(convert_times(data, result, path, &times));
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
    return read_values(data, result, times + first, first, end - first, path);
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

/* ---- units ---- */

/* A unit of measure that a file names: as the FMU defines it, as a display unit of the FMU, or by its name. */
static bool find_unit(const struct tutti_desc *desc, const char *name, struct tutti_unit_def *out)
{
    for (uint32_t u = 0; u < desc->unit_count; u++)
        if (desc->units[u].has_base && strcmp(desc->units[u].name, name) == 0) {
            *out = desc->units[u];
            return true;
        }
    for (uint32_t u = 0; u < desc->unit_count; u++)
        for (uint32_t d = 0; d < desc->units[u].displays; d++) {
            const struct tutti_display_unit *display = &desc->displays[desc->units[u].first_display + d];
            if (!desc->units[u].has_base || display->inverse || display->factor == 0 ||
                strcmp(display->name, name) != 0)
                continue;
            *out = desc->units[u]; /* base = F v + O, shown = f v + o */
            out->name = display->name;
            out->factor /= display->factor;
            out->offset -= out->factor * display->offset;
            return true;
        }
    return tutti_unit_name_read(name, out);
}

enum tutti_err tutti_data_convert(struct tutti_data *data, size_t i, const struct tutti_desc *desc,
                                  const struct tutti_var *variable, const char *path)
{
    const char *name = data->units[i];
    const struct tutti_unit_def *unit = variable->unit == TUTTI_NONE ? NULL : &desc->units[variable->unit];
    struct tutti_unit_def from, to;
    double factor, offset;
    bool known;
    if (!name || (unit && strcmp(unit->name, name) == 0))
        return TUTTI_OK;
    const char *wanted = unit ? unit->name : "1";
    if (!find_unit(desc, name, &from))
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: '%s' is in '%s', which is an unknown unit; convert the column to '%s'",
                          path, data->names[i], tutti_str_show(name).text, wanted);
    if (!find_unit(desc, wanted, &to))
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "%s: '%s' is in '%s', and the FMU does not define its unit '%s'; convert the column", path,
                          data->names[i], tutti_str_show(name).text, wanted);
    if (tutti_conversion_units(&from, &to, &factor, &offset, &known) != TUTTI_OK)
        return tutti_fail(TUTTI_ERR_FORMAT,
                          "%s: '%s' is in '%s', and the variable in '%s', which measures something else; correct the "
                          "header",
                          path, data->names[i], tutti_str_show(name).text, wanted);
    for (size_t r = 0; r < data->rows; r++)
        data->values[r * data->count + i] = factor * data->values[r * data->count + i] + offset;
    return TUTTI_OK;
}

void tutti_data_fini(struct tutti_data *data)
{
    free(data->times);
    free(data->values);
    tutti_arena_fini(&data->arena);
    *data = (struct tutti_data){0};
}
