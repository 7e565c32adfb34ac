/* SPDX-License-Identifier: MIT */
/* result.h - a result file, of Tutti or another tool, to be read: names, units, times, and values variable by variable.
 *
 * .csv, .mat, .h5 and .jsonl are told apart by what is in them. Files are hostile: whatever their bytes are, reading ends with a result
 * or with an error that names the file and what is wrong. A file that ends too early (its run was aborted, or is still going on) is
 * read up to its last whole row. */
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
    const char *name;        /* "unit.var", unique in its file */
    const char *unit;        /* NULL: not known */
    const char *description; /* NULL: none */
    /* These two are what the file says, or what the values show once they were read. */
    bool numeric; /* false: there are texts among its values */
    bool held;    /* it does not move between rows: it is discrete, or all values are whole numbers and some repeat */
};

/* Opens a result: its format is found by what is in it; standard input ("-") and pipes are CSV. `path` is copied; what is odd but usable
 * goes to `log` (NULL: nowhere) as a warning. *out is set on success only. IO, FORMAT, LIMIT. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_result_open(struct tutti_result **out, const char *path,
                                                         const struct tutti_log *log);
TUTTI_API void tutti_result_free(struct tutti_result *result); /* NULL is fine */

/* Variables, `time` not among them. Texts are the result's. */
TUTTI_API size_t tutti_result_count(const struct tutti_result *result);
TUTTI_API bool tutti_result_describe(const struct tutti_result *result, size_t variable,
                                     struct tutti_result_variable *out); /* false: there are fewer */
/* Place of the variable of this name, or the count of variables if there is none. */
TUTTI_API size_t tutti_result_find(const struct tutti_result *result, const char *name);

/* Finite times that do not descend; equal ones are both sides of an event. The result's own. */
TUTTI_API size_t tutti_result_rows(const struct tutti_result *result);
TUTTI_API const double *tutti_result_times(const struct tutti_result *result);
TUTTI_API const char *tutti_result_time_unit(const struct tutti_result *result); /* NULL: not known */

/* values[i][row] becomes that of the variable which[i], for all rows; NaN where there is no number. `which` ascends. Reading many
 * at once is faster than one by one: a text file is gone through once per call. */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_result_read(struct tutti_result *result, const size_t *which, size_t count,
                                                         double *const *values);

/* The type that the file names, "Float64", "Int64", "Boolean" ...; NULL: the file does not name a type, or the variable does not exist. */
TUTTI_API const char *tutti_result_type(const struct tutti_result *result, size_t variable);
/* Calls `take` with what the file has for each row, `length` bytes of `text`, which is not terminated and good during the call, to the end or
 * until `take` returns an error, which is returned. UNSUPPORTED: the format has numbers only (.mat, .h5). */
TUTTI_API TUTTI_CHECKED enum tutti_err tutti_result_read_texts(struct tutti_result *result, size_t variable,
                                                               enum tutti_err (*take)(void *context, size_t row,
                                                                                      const char *text, size_t length),
                                                               void *context);

#ifdef __cplusplus
}
#endif
#endif
