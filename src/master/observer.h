/* SPDX-License-Identifier: MIT */
/* observer.h - which variables of a run are recorded, and a row of them at a time. */
#ifndef TUTTI_MASTER_OBSERVER_H
#define TUTTI_MASTER_OBSERVER_H

#include <tutti/run.h>

#include "base/arena.h"
#include "master/inputs.h"
#include "record/recorder.h"
#include "unit/unit.h"

struct tutti_observer {
    const struct tutti_record_format *format; /* NULL: nothing is recorded */
    struct tutti_recorder *recorder;
    struct tutti_signals signals;
    struct tutti_column *columns;
    size_t column_count;
    const struct tutti_extra *extra; /* whose outputs are recorded, too; NULL: none */
    double *extra_values;
    unsigned long rows;
    bool warned_of_nan;
    const struct tutti_log *log;
    struct tutti_arena arena;
};

/* Chooses the variables by the options (all outputs by default) and opens the result file `output` (NULL: none).
 * `unit` is configured; values of inputs that a file drives are taken from `inputs`. ARGUMENT for a pattern that fits
 * nothing. */
TUTTI_CHECKED enum tutti_err tutti_observer_open(struct tutti_observer *observer,
                                                 const struct tutti_run_options *options, const char *output,
                                                 struct tutti_unit *unit, const struct tutti_inputs *inputs);
/* Reads the variables from the unit and writes a row. */
TUTTI_CHECKED enum tutti_err tutti_observer_row(struct tutti_observer *observer, struct tutti_unit *unit, double t);
/* Hands what was written so far to the operating system. */
TUTTI_CHECKED enum tutti_err tutti_observer_flush(struct tutti_observer *observer);
/* Closes the file; also after a failed open. */
TUTTI_CHECKED enum tutti_err tutti_observer_close(struct tutti_observer *observer);

#endif
