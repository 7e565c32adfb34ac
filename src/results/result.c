/* SPDX-License-Identifier: MIT */
#include "results/result.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"

/* The first that fits is taken; any text could be CSV, so that comes last. */
static const struct tt_result_format *const formats[] = {
    &tt_hdf5_result_format,  &tt_mat_reader_result_format, &tt_jsonl_result_format,
    &tt_csv_messages_format, &tt_csv_result_format,
};

/* Finds the format by the first bytes. Input that cannot be read twice (a pipe, standard input) is CSV. */
static enum tutti_err find_format(const struct tt_result_format **format, const char *path)
{
    struct stat st;
    *format = &tt_csv_result_format;
    if (strcmp(path, "-") == 0)
        return TUTTI_OK;
    int fd = -1;
    if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
        if (!S_ISDIR(st.st_mode))
            return TUTTI_OK;
        errno = EISDIR;
    } else {
        fd = open(path, O_RDONLY | O_CLOEXEC);
    }
    unsigned char head[512];
    ssize_t size = fd < 0 ? -1 : read(fd, head, sizeof head);
    int number = errno;
    if (fd >= 0)
        close(fd);
    if (size < 0)
        return tt_fail(TUTTI_ERR_IO, "cannot read %s: %s", path, strerror(number));
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        *format = formats[i];
        if (formats[i]->fits(path, head, (size_t)size))
            return TUTTI_OK;
    }
    struct tt_text names = {0};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        tt_text_printf(&names, "%s%s", i ? ", " : "", formats[i]->name);
    enum tutti_err err =
        names.failed ? tt_fail_memory()
                     : tt_fail(TUTTI_ERR_FORMAT, "%s: not a result in a format that is known (%s)", path, names.text);
    tt_text_fini(&names);
    return err;
}

static enum tutti_err result_open_format(struct tutti_result *result, const char *path, const struct tutti_log *log)
{
    TRY(find_format(&result->format, path));
    result->path = tt_arena_copy_text(&result->arena, path, strlen(path));
    if (!result->path)
        return tt_fail_memory();
    if (!result->format->read_from) { /* all are read again */
        free(result->times);
        result->times = NULL;
        result->known = 0;
    }
    TRY(result->format->open(result, log));

    TRY(tt_map_reserve(&result->names, result->count));
    for (size_t i = 0; i < result->count; i++) {
        int64_t earlier;
        TRY(tt_map_add(&result->names, result->variables[i].name, (int64_t)i, &earlier));
        if (earlier != TUTTI_MAP_NONE)
            return tt_fail(TUTTI_ERR_FORMAT, "%s: variables %zu and %zu (time not counted) have the same name '%s'",
                           result->path, (size_t)earlier + 1, i + 1, tt_text_excerpt(result->variables[i].name).text);
    }
    return TUTTI_OK;
}

/* `begun` has the known part of the result; its times are taken. */
static enum tutti_err open_new(struct tutti_result **out, const char *path, const struct tutti_log *log,
                               const struct tutti_result *begun)
{
    struct tutti_result *result = calloc(1, sizeof *result);
    if (!result) {
        free(begun->times);
        return tt_fail_memory();
    }
    *result = *begun;
    enum tutti_err err = result_open_format(result, path, log);
    if (err == TUTTI_OK)
        *out = result;
    else
        tutti_result_free(result);
    return err;
}

enum tutti_err tutti_result_open(struct tutti_result **out, const char *path, const struct tutti_log *log)
{
    return open_new(out, path, log, &(struct tutti_result){0});
}

enum tutti_err tt_result_reopen(struct tutti_result **out, const char *path, double *times, size_t known)
{
    return open_new(out, path, NULL, &(struct tutti_result){.times = times, .known = known});
}

enum tutti_err tt_result_open_names(struct tutti_result **out, const char *path)
{
    TRY(open_new(out, path, NULL, &(struct tutti_result){.names_only = true}));
    (*out)->rows = 0;
    return TUTTI_OK;
}

double *tt_result_detach_times(struct tutti_result *result)
{
    double *times = result->times;
    result->times = NULL;
    result->rows = 0;
    return times;
}

/* Returns true for whole numbers some of which stay constant from one time to a later one. */
static bool is_held_signal(const struct tutti_result *result, const double *values)
{
    bool rests = false;
    for (size_t i = 0; i < result->rows; i++) {
        if (!isnan(values[i]) && values[i] != trunc(values[i]))
            return false;
        rests = rests || (i > 0 && values[i] == values[i - 1] && result->times[i] > result->times[i - 1]);
    }
    return rests;
}

enum tutti_err tutti_result_read(struct tutti_result *result, const size_t *which, size_t count, double *const *values)
{
    return tt_result_read_more(result, which, count, 0, values);
}

enum tutti_err tt_result_read_more(struct tutti_result *result, const size_t *which, size_t count, size_t known,
                                   double *const *values)
{
    const struct tt_result_format *format = result->format;
    if (count == 0 || result->rows == 0)
        return TUTTI_OK;
    TRY(known > 0 && format->read_from ? format->read_from(result, which, count, known, values)
                                       : format->read(result, which, count, values));
    for (size_t i = 0; i < count; i++) {
        struct tutti_result_variable *variable = &result->variables[which[i]];
        variable->held = variable->held || is_held_signal(result, values[i]);
    }
    return TUTTI_OK;
}

size_t tutti_result_find(const struct tutti_result *result, const char *name)
{
    int64_t place = tt_map_find(&result->names, name);
    return place == TUTTI_MAP_NONE ? result->count : (size_t)place;
}

void tutti_result_free(struct tutti_result *result)
{
    if (!result)
        return;
    if (result->own)
        result->format->close(result);
    tt_map_fini(&result->names);
    tt_arena_fini(&result->arena);
    free(result->times);
    free(result);
}

size_t tutti_result_count(const struct tutti_result *result)
{
    return result->count;
}

bool tutti_result_describe(const struct tutti_result *result, size_t variable, struct tutti_result_variable *out)
{
    if (variable >= result->count)
        return false;
    *out = result->variables[variable];
    return true;
}

size_t tutti_result_rows(const struct tutti_result *result)
{
    return result->rows;
}

const double *tutti_result_times(const struct tutti_result *result)
{
    return result->times;
}

const char *tutti_result_time_unit(const struct tutti_result *result)
{
    return result->time_unit;
}

const char *tutti_result_type(const struct tutti_result *result, size_t variable)
{
    const char *type = result->types && variable < result->count ? result->types[variable] : NULL;
    return type && type[0] ? type : NULL;
}

enum tutti_err tutti_result_read_texts(struct tutti_result *result, size_t variable,
                                       enum tutti_err (*take)(void *context, size_t row, const char *text,
                                                              size_t length),
                                       void *context)
{
    if (variable >= result->count)
        return tt_fail(TUTTI_ERR_ARGUMENT, "%s: there is no variable number %zu", result->path, variable);
    if (!result->format->texts)
        return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: files of this format have numbers only", result->path);
    return result->rows > 0 ? result->format->texts(result, variable, take, context) : TUTTI_OK;
}
