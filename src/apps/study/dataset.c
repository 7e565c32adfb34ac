/* SPDX-License-Identifier: MIT */
#include "apps/study/dataset.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tutti/result.h>

#include "base/number.h"
#include "base/text.h"
#include "fmu/description/unit_name.h"
#include "results/result.h"
#include "model/system/conversion.h"

static enum tutti_err dataset_list_variables(struct tt_dataset *data, struct tutti_result *result, const char *path)
{
    data->count = tutti_result_count(result);
    data->names = tt_arena_array(&data->arena, data->count + 1, sizeof *data->names);
    data->units = tt_arena_array(&data->arena, data->count + 1, sizeof *data->units);
    if (!data->names || !data->units)
        return tt_fail_memory();
    for (size_t i = 0; i < data->count; i++) {
        struct tutti_result_variable variable;
        (void)tutti_result_describe(result, i, &variable);
        data->names[i] = tt_arena_copy_text(&data->arena, variable.name, strlen(variable.name));
        data->units[i] = variable.unit ? tt_arena_copy_text(&data->arena, variable.unit, strlen(variable.unit)) : NULL;
        if (!data->names[i] || (variable.unit && !data->units[i]))
            return tt_fail_memory();
    }
    return data->count > 0 ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no column but the time", path);
}

/* columns[i][row] of the file, as far as its times are wanted. */
static enum tutti_err dataset_select_rows(struct tt_dataset *data, const double *times, size_t rows,
                                          double *const *columns, const char *path)
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
                return tt_fail(TUTTI_ERR_FORMAT, "%s: '%s' is infinite at t = %s", path, data->names[i],
                               NUMBER(times[r]));
        }
    }
    for (size_t i = 0; i < data->count; i++) {
        size_t present = 0;
        for (size_t r = 0; r < data->rows; r++)
            present += isnan(data->values[r * data->count + i]) ? 0 : 1;
        if (present == 0)
            return tt_fail(TUTTI_ERR_ARGUMENT, "%s: '%s' has no value that is a number in the time of the run", path,
                           data->names[i]);
        data->present += present;
    }
    return TUTTI_OK;
}

static enum tutti_err dataset_read_values(struct tt_dataset *data, struct tutti_result *result, const double *times,
                                          size_t first, size_t count, const char *path)
{
    size_t all = tutti_result_rows(result);
    double *memory = tt_arena_array(&data->arena, data->count * all + 1, sizeof *memory);
    double **columns = tt_arena_array(&data->arena, data->count + 1, sizeof *columns);
    size_t *which = tt_arena_array(&data->arena, data->count + 1, sizeof *which);
    data->times = calloc(count + 1, sizeof *data->times);
    data->values = calloc(count * data->count + 1, sizeof *data->values);
    if (!memory || !columns || !which || !data->times || !data->values)
        return tt_fail_memory();
    for (size_t i = 0; i < data->count; i++) {
        which[i] = i;
        columns[i] = memory + i * all;
    }
    TRY(tutti_result_read(result, which, data->count, columns));
    if (result->first_text.line > 0)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "%s:%zu: '%s' has the text '%s', expected a number; leave the cell empty where nothing was "
                       "measured",
                       path, result->first_text.line, data->names[result->first_text.variable],
                       tt_text_excerpt(result->first_text.text).text);
    for (size_t i = 0; i < data->count; i++)
        if (!result->variables[i].numeric) /* of a format without lines */
            return tt_fail(TUTTI_ERR_FORMAT, "%s: '%s' has texts, expected numbers", path, data->names[i]);
    for (size_t i = 0; i < data->count; i++)
        columns[i] += first;
    return dataset_select_rows(data, times, count, columns, path);
}

static enum tutti_err convert_times(struct tt_dataset *data, const struct tutti_result *result, const char *path,
                                    double **out)
{
    struct tt_unit_def from, seconds;
    double factor = 1, offset = 0;
    bool known = true;
    size_t rows = tutti_result_rows(result);
    const char *unit = result->time_unit;
    double *times = tt_arena_array(&data->arena, rows + 1, sizeof *times);
    if (!times)
        return tt_fail_memory();
    if (unit && (!tt_unit_name_read(unit, &from) || !tt_unit_name_read("s", &seconds) ||
                 tt_conversion_units(&from, &seconds, &factor, &offset, &known) != TUTTI_OK))
        return tt_fail(TUTTI_ERR_FORMAT, "%s: '%s' is not a unit of time; use s, ms, min, h or d", path,
                       tt_text_excerpt(unit).text);
    for (size_t r = 0; r < rows; r++)
        times[r] = factor * tutti_result_times(result)[r];
    *out = times;
    return TUTTI_OK;
}

static enum tutti_err read_result(struct tt_dataset *data, struct tutti_result *result, const char *path, double start,
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
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there are no rows", path);
    if (first == end)
        return tt_fail(TUTTI_ERR_ARGUMENT,
                       "%s: the data, from t = %s to %s, and the run, from %s to %s, have no time in common: see "
                       "--start and --stop",
                       path, NUMBER(times[0]), NUMBER(times[rows - 1]), NUMBER(start), NUMBER(stop));
    if (end - first < rows)
        tt_log(log, TUTTI_LOG_WARNING, NULL,
               "%s: %zu of %zu rows are outside of the run, from t = %s to %s, and are not used", path,
               rows - (end - first), rows, NUMBER(start), NUMBER(stop));
    TRY(dataset_list_variables(data, result, path));
    return dataset_read_values(data, result, times + first, first, end - first, path);
}

enum tutti_err tt_dataset_read(struct tt_dataset *data, const char *path, double start, double stop,
                               const struct tutti_log *log)
{
    struct tutti_result *result;
    *data = (struct tt_dataset){0};
    TRY(tutti_result_open(&result, path, log));
    enum tutti_err err = read_result(data, result, path, start, stop, log);
    tutti_result_free(result);
    if (err)
        tt_dataset_fini(data);
    return err;
}

/* ---- units ---- */

/* A unit of measure that a file names: as the FMU defines it, as a display unit of the FMU, or by its name. */
static bool dataset_find_unit(const struct tt_description *desc, const char *name, struct tt_unit_def *out)
{
    for (uint32_t u = 0; u < desc->unit_count; u++)
        if (desc->units[u].has_base && strcmp(desc->units[u].name, name) == 0) {
            *out = desc->units[u];
            return true;
        }
    for (uint32_t u = 0; u < desc->unit_count; u++)
        for (uint32_t d = 0; d < desc->units[u].displays; d++) {
            const struct tt_display_unit *display = &desc->displays[desc->units[u].first_display + d];
            if (!desc->units[u].has_base || display->inverse || display->factor == 0 ||
                strcmp(display->name, name) != 0)
                continue;
            *out = desc->units[u]; /* base = F v + O, shown = f v + o */
            out->name = display->name;
            out->factor /= display->factor;
            out->offset -= out->factor * display->offset;
            return true;
        }
    return tt_unit_name_read(name, out);
}

enum tutti_err tt_dataset_convert(struct tt_dataset *data, size_t i, const struct tt_description *desc,
                                  const struct tt_var *variable, const char *path)
{
    const char *name = data->units[i];
    const struct tt_unit_def *unit = variable->unit == TUTTI_NONE ? NULL : &desc->units[variable->unit];
    struct tt_unit_def from, to;
    double factor, offset;
    bool known;
    if (!name || (unit && strcmp(unit->name, name) == 0))
        return TUTTI_OK;
    const char *wanted = unit ? unit->name : "1";
    if (!dataset_find_unit(desc, name, &from))
        return tt_fail(TUTTI_ERR_FORMAT, "%s: '%s' is in '%s', which is an unknown unit; convert the column to '%s'",
                       path, data->names[i], tt_text_excerpt(name).text, wanted);
    if (!dataset_find_unit(desc, wanted, &to))
        return tt_fail(TUTTI_ERR_FORMAT,
                       "%s: '%s' is in '%s', and the FMU does not define its unit '%s'; convert the column", path,
                       data->names[i], tt_text_excerpt(name).text, wanted);
    if (tt_conversion_units(&from, &to, &factor, &offset, &known) != TUTTI_OK)
        return tt_fail(TUTTI_ERR_FORMAT,
                       "%s: '%s' is in '%s', and the variable in '%s', which measures something else; correct the "
                       "header",
                       path, data->names[i], tt_text_excerpt(name).text, wanted);
    for (size_t r = 0; r < data->rows; r++)
        data->values[r * data->count + i] = factor * data->values[r * data->count + i] + offset;
    return TUTTI_OK;
}

void tt_dataset_fini(struct tt_dataset *data)
{
    free(data->times);
    free(data->values);
    tt_arena_fini(&data->arena);
    *data = (struct tt_dataset){0};
}
