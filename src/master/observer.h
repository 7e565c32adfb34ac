/* SPDX-License-Identifier: MIT */
/* observer.h - which variables of a run are recorded, and a row of them at a time. */
#ifndef TUTTI_MASTER_OBSERVER_H
#define TUTTI_MASTER_OBSERVER_H

#include <tutti/run.h>

#include "base/arena.h"
#include "master/inputs.h"
#include "master/wires.h"
#include "record/recorder.h"
#include "system/system.h"
#include "unit/unit.h"

/* A unit that the observer may look at. */
struct tutti_observed {
    struct tutti_unit *unit;
    const struct tutti_inputs *inputs; /* values that a file drives are taken from there; NULL: none */
};

/* What is read from one unit for the record alone: outputs that others read are in the signals anyway. */
struct tutti_look {
    struct tutti_unit *unit;
    struct tutti_signals signals;
};

/* An output of the system itself: what a unit gives, converted. */
struct tutti_shown_port {
    const struct tutti_conversion *conversion;
    const void *from;
    void *to;
    size_t count;
};

struct tutti_observer {
    const struct tutti_record_format *format; /* NULL: nothing is recorded */
    struct tutti_recorder *recorder;
    struct tutti_look *looks;
    size_t look_count;
    struct tutti_shown_port *ports;
    size_t port_count;
    struct tutti_column *columns;
    size_t column_count;
    struct tutti_unit *extra_unit; /* whose extra outputs are recorded, too; NULL: none */
    const struct tutti_extra *extra;
    double *extra_values;
    unsigned long rows;
    bool warned_of_nan;
    const char *name; /* of the system, for messages */
    const struct tutti_log *log;
    struct tutti_arena arena;
};

/* Chooses the variables by the options (all outputs by default) and opens the result file `output` (NULL: none). `observed`
 * is per component; units are configured. ARGUMENT for a pattern that fits nothing. */
TUTTI_CHECKED enum tutti_err tutti_observer_open(struct tutti_observer *observer,
                                                 const struct tutti_run_options *options, const char *output,
                                                 const struct tutti_wires *wires,
                                                 const struct tutti_observed *observed);
/* Reads the variables from the units and writes a row. */
TUTTI_CHECKED enum tutti_err tutti_observer_row(struct tutti_observer *observer, double t);
/* Hands what was written so far to the operating system. */
TUTTI_CHECKED enum tutti_err tutti_observer_flush(struct tutti_observer *observer);
/* Closes the file; also after a failed open. */
TUTTI_CHECKED enum tutti_err tutti_observer_close(struct tutti_observer *observer);

#endif
