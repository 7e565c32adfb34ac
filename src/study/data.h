/* SPDX-License-Identifier: MIT */
/* study/data.h - what was measured: values of variables at points of time, from a result file of any format. */
#ifndef TUTTI_STUDY_DATA_H
#define TUTTI_STUDY_DATA_H

#include "base/log.h"
#include "base/arena.h"
#include "base/err.h"

struct tutti_data {
    const char **names; /* of variables */
    size_t count;
    double *times; /* those with a value in [start, stop], ascending, each once */
    size_t rows;
    double *values; /* row after row; NaN: nothing was measured */
    size_t present; /* values that are there */
    struct tutti_arena arena;
};

/* Reads `path`. Times before `start` are left out, which is told; ARGUMENT if none is left, or a variable has no values. FORMAT, IO. */
TUTTI_CHECKED enum tutti_err tutti_data_read(struct tutti_data *data, const char *path, double start, double stop,
                                             const struct tutti_log *log);
void tutti_data_fini(struct tutti_data *data);

#endif
