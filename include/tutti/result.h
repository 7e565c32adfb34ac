/* SPDX-License-Identifier: MIT */
/* result.h - reads result files of Tutti and other tools: names, units, times, and values variable by variable.
 *
 * The formats .csv, .mat, .h5 and .jsonl are recognised by content. Files are untrusted: reading any bytes ends with a
 * result or with an error that names the file and the fault. A truncated file (of an aborted or unfinished run) is read
 * up to its last complete row. */
#ifndef TUTTI_RESULT_H
#define TUTTI_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <tutti/err.h>
#include <tutti/log.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_result;

struct tutti_result_variable {
    const char *name;        /* "component.var", unique in its file */
    const char *unit;        /* NULL: not known */
    const char *description; /* NULL: none */
    /* These fields come from the file, or from the values once they were read. */
    bool numeric; /* false: some values are texts */
    bool held;    /* constant between rows: it is discrete, or all values are whole numbers and some repeat */
};

/* Opens a result. The format is recognised by content; standard input ("-") and pipes are CSV. `path` is copied;
 * anomalies that do not prevent reading are warnings to `log` (NULL: dropped). *out is set on success only. IO, FORMAT,
 * LIMIT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_result_open(struct tutti_result **out, const char *path,
                                                         const struct tutti_log *log);
TUTTI_API void tutti_result_free(struct tutti_result *result); /* NULL is allowed */

/* Number of variables without `time`. Texts belong to the result. */
TUTTI_API size_t tutti_result_count(const struct tutti_result *result);
TUTTI_API bool tutti_result_describe(const struct tutti_result *result, size_t variable,
                                     struct tutti_result_variable *out); /* false: there are fewer */
/* Returns the index of the variable `name`, or the count of variables if it does not exist. */
TUTTI_API size_t tutti_result_find(const struct tutti_result *result, const char *name);

/* Times are finite and do not descend; equal times are the two sides of an event. The array belongs to the result. */
TUTTI_API size_t tutti_result_rows(const struct tutti_result *result);
TUTTI_API const double *tutti_result_times(const struct tutti_result *result);
TUTTI_API const char *tutti_result_time_unit(const struct tutti_result *result); /* NULL: not known */

/* values[i][row] becomes the value of the variable which[i], for all rows; NaN where the file has no number. `which`
 * ascends. Reading many variables in one call is faster: a text file is parsed once per call. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_result_read(struct tutti_result *result, const size_t *which, size_t count,
                                                         double *const *values);

/* The type that the file names, "Float64", "Int64", "Boolean" ...; NULL: the file does not name a type, or the variable does not exist. */
TUTTI_API const char *tutti_result_type(const struct tutti_result *result, size_t variable);
/* Calls `take` with the text of each row, `length` bytes that are not terminated and valid during the call, until the
 * end or until `take` returns an error, which is returned. UNSUPPORTED if the format has numbers only (.mat, .h5). */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_result_read_texts(struct tutti_result *result, size_t variable,
                                                               enum tutti_err (*take)(void *context, size_t row,
                                                                                      const char *text, size_t length),
                                                               void *context);

#ifdef __cplusplus
}
#endif
#endif
