/* SPDX-License-Identifier: MIT */
/* result.h - the formats of result files that <tutti/result.h> reads.
 *
 * A format is one file that exports one const struct; to add one: copy csv.c, list it in result.c. */
#ifndef TT_RESULTS_RESULT_H
#define TT_RESULTS_RESULT_H

#include <tutti/result.h>

#include "base/arena.h"
#include "base/fail.h"
#include "base/log.h"
#include "base/map.h"

struct tutti_result {
    const struct tt_result_format *format;
    const char *path;                        /* as it was given */
    struct tutti_result_variable *variables; /* the format's; their texts are in the arena */
    size_t count;                            /* of variables, `time` not among them */
    const char *const *types;                /* "Float64", "Boolean", ...; NULL: the format does not store types */
    double *times;                           /* on the heap; tutti_result_free releases it */
    size_t known;                            /* times that are there when it is opened (tt_result_reopen) */
    bool names_only;                         /* times are not wanted (tt_result_open_names) */
    size_t rows;           /* finite times that do not descend; equal ones are both sides of an event */
    const char *time_unit; /* NULL: not known */
    /* Of values that were read so far: where a text stands that is not a number, as far as the format has lines. */
    struct tt_result_text {
        size_t line; /* 0: none */
        size_t variable;
        char text[64];
    } first_text;
    struct tt_arena arena;
    struct tt_map names; /* result.c's */
    void *own;           /* the format's */
};

/* A cell: text[0..n), which lives during the call. */
typedef enum tutti_err tt_result_take_text(void *context, size_t row, const char *text, size_t n);

struct tt_result_format {
    const char *name; /* "csv" */
    /* Returns true if a file with this name and these first `size` (up to 512) bytes has this format. */
    bool (*fits)(const char *path, const unsigned char *head, size_t size);
    /* Reads everything except values into the zeroed `result`, whose path and format are set. The caller checks for
     * duplicate names. Anomalies that do not prevent reading go to `log` as warnings with the file's name. After a
     * failure close is called, too, if `own` is set. */
    enum tutti_err (*open)(struct tutti_result *result, const struct tutti_log *log);
    /* values[i][row] = variables[which[i]], for all rows, of which there is at least one; NaN where the file has no
     * number. `which` ascends. */
    enum tutti_err (*read)(struct tutti_result *result, const size_t *which, size_t count, double *const *values);
    /* As above for rows from `first` on; NULL: unsupported. A format that has it also uses times known when it is
     * opened: it reads the first and the last of these and, if they are unchanged, the following ones. */
    enum tutti_err (*read_from)(struct tutti_result *result, const size_t *which, size_t count, size_t first,
                                double *const *values);
    /* Calls `take` with the cell of each row as it stands in the file, without quotes; NULL: the format has numbers only. */
    enum tutti_err (*texts)(struct tutti_result *result, size_t which, tt_result_take_text *take, void *context);
    void (*close)(struct tutti_result *result); /* releases `own`; not called if that is NULL */
};

/* As tutti_result_open, for a file whose first `known` times are known already; takes `times`, which is on the heap. */
TUTTI_CHECKED enum tutti_err tt_result_reopen(struct tutti_result **out, const char *path, double *times, size_t known);
/* As tutti_result_open, for names and other descriptions of variables: it has no rows, and is as fast as without rows,
 * if the format permits that (HDF5). */
TUTTI_CHECKED enum tutti_err tt_result_open_names(struct tutti_result **out, const char *path);
/* The times of a result that is closed next; the caller's. */
double *tt_result_detach_times(struct tutti_result *result);

/* As tutti_result_read, for a result that has grown: the first `known` rows are there; formats may read them again. */
TUTTI_CHECKED enum tutti_err tt_result_read_more(struct tutti_result *result, const size_t *which, size_t count,
                                                 size_t known, double *const *values);

extern const struct tt_result_format tt_csv_result_format, tt_mat_reader_result_format, tt_hdf5_result_format,
    tt_jsonl_result_format, tt_csv_messages_format;

#endif
