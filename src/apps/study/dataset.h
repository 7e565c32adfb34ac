/* SPDX-License-Identifier: MIT */
/* apps/study/dataset.h - what was measured: values of variables at points of time, from a result file of any format. */
#ifndef TT_APPS_STUDY_DATASET_H
#define TT_APPS_STUDY_DATASET_H

#include "base/log.h"
#include "base/arena.h"
#include "base/fail.h"
#include "fmu/description/description.h"

struct tt_dataset {
    const char **names; /* of variables */
    const char **units; /* of each; NULL: the file names none */
    size_t count;
    double *times; /* those with a value in [start, stop], ascending, each once */
    size_t rows;
    double *values; /* row after row; NaN: nothing was measured */
    size_t present; /* values that are there */
    struct tt_arena arena;
};

/* Reads `path`. Times become seconds, by the unit that the file names. Rows outside [start, stop] are left out with a warning; ARGUMENT if
 * none is left, or a variable has no values. FORMAT, with line and column, for a text among the values. IO. */
TUTTI_CHECKED enum tutti_err tt_dataset_read(struct tt_dataset *data, const char *path, double start, double stop,
                                             const struct tutti_log *log);
/* Converts the values of the variable `i` to the unit of `variable`, which `desc` describes. FORMAT if the file's unit is unknown or
 * measures something else. */
TUTTI_CHECKED enum tutti_err tt_dataset_convert(struct tt_dataset *data, size_t i, const struct tt_description *desc,
                                                const struct tt_var *variable, const char *path);
void tt_dataset_fini(struct tt_dataset *data);

#endif
