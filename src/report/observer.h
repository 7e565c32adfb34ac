/* SPDX-License-Identifier: MIT */
/* observer.h - which variables of a run are recorded, and a row of them at a time. */
#ifndef TUTTI_REPORT_OBSERVER_H
#define TUTTI_REPORT_OBSERVER_H

#include <tutti/run.h>

#include "base/arena.h"
#include "options/options.h"
#include "signals/inputs.h"
#include "report/sink.h"
#include "signals/wires.h"
#include "system/system.h"
#include "unit/unit.h"

/* A unit that the observer may look at. */
struct tutti_observed {
    struct tutti_unit *unit;
    const struct tutti_inputs *inputs; /* values that a file drives are taken from there; NULL: none */
    bool own;                          /* else another rank's: it has names and extents, but no values here */
    bool has_pending;                  /* a program may set its inputs on the way */
    const struct tutti_log *log;       /* for what is to be said of it */
};

/* What is read from one unit for the record alone: outputs that others read are in the signals anyway. */
struct tutti_look {
    struct tutti_unit *unit;
    uint32_t component;
    bool follows; /* inputs at once, perhaps */
    struct tutti_signals signals;
};

/* Reads what follows inputs at once with the inputs that belong to the row. */
struct tutti_renewed_look {
    enum tutti_err (*read)(void *context, uint32_t component, struct tutti_signals *signals);
    void *context;
};

/* An input that a connection feeds: its column shows what the signals of the row bring to it, which a unit that holds its inputs gets
 * with the next step only. */
struct tutti_shown_input {
    uint32_t node; /* of the wires' structure */
    void *staged;  /* as it is staged ... */
    float *floats; /* ... of a Float32 (W5): as it is shown; NULL: of another type */
};

/* A connector of a system: what a unit gives, or was given, converted. */
struct tutti_shown_port {
    const struct tutti_conversion *conversion;
    const void *from;
    void *to;
    size_t count;
};

struct tutti_observer {
    bool records; /* something is recorded, by this rank or others */
    bool muted;   /* rows are not wanted: a run that goes on from a checkpoint is not there yet */
    bool asleep;  /* they are for those who watch, and nobody does */
    struct tutti_sink sink;
    struct tutti_look *looks;
    size_t look_count;
    struct tutti_renewed_look renewed; /* read NULL: such variables are read as all others are */
    const struct tutti_wires *wires;   /* borrowed */
    struct tutti_shown_input *inputs;
    size_t input_count;
    struct tutti_shown_port *ports;
    size_t port_count;
    struct tutti_column *columns; /* of this rank's units */
    struct tutti_column_place *places;
    size_t column_count;
    size_t *states; /* columns that are continuous states of Float64 */
    size_t state_count;
    struct tutti_unit *extra_unit; /* whose extra outputs are recorded, too; NULL: none */
    const struct tutti_extra *extra;
    double *extra_values;
    unsigned long rows;
    double last_row;  /* its time */
    const char *name; /* of the system, for messages */
    const struct tutti_log *log;
    struct tutti_arena arena;
};

/* Is anything to be recorded, in the result file `output` (NULL: none) or for a watcher? */
bool tutti_observer_is_wanted(const struct tutti_run_options *options, const char *output);
/* Chooses the variables by the options (all outputs by default). `observed` is per component; units are configured. `log`
 * is for what is said of the whole. Without `fabric` opens the result file `output` (NULL: none) and tells the watcher;
 * with it tells the conductor there, and rows go to it. `resume`: the file goes on (record/output.h); empty: it begins. ARGUMENT, on all ranks alike, for a pattern that fits no variable
 * of any rank. */
TUTTI_CHECKED enum tutti_err tutti_observer_open(struct tutti_observer *observer,
                                                 const struct tutti_run_options *options, const char *output,
                                                 const struct tutti_wires *wires, const struct tutti_observed *observed,
                                                 const struct tutti_log *log, struct tutti_fabric *fabric,
                                                 struct tutti_bytes resume);
/* Is something recorded of own units that may follow inputs at once? */
bool tutti_observer_follows(const struct tutti_observer *observer);
/* Reads the variables from the units and writes a row. */
TUTTI_CHECKED enum tutti_err tutti_observer_row(struct tutti_observer *observer, double t);
/* After the last row: what is to be said of the columns as they are at the end. */
TUTTI_CHECKED enum tutti_err tutti_observer_conclude(const struct tutti_observer *observer);
/* Hands what was written so far to the operating system. */
TUTTI_CHECKED enum tutti_err tutti_observer_flush(struct tutti_observer *observer);
/* Closes the file; also after a failed open. */
TUTTI_CHECKED enum tutti_err tutti_observer_close(struct tutti_observer *observer);

/* The choice by itself: columns, places and what has to be read for them. */
TUTTI_CHECKED enum tutti_err tutti_observer_choose(struct tutti_observer *observer,
                                                   const struct tutti_run_options *options,
                                                   const struct tutti_wires *wires,
                                                   const struct tutti_observed *observed);

/* What is recorded of a unit without outputs, unless patterns say otherwise: its continuous states if the description names
 * them, else local variables that may change, without aliases; the first ones, of TUTTI_MOST_MOVING values at most. */
enum { TUTTI_MOST_MOVING = 100 };
struct tutti_moving_choice {
    uint32_t variables[TUTTI_MOST_MOVING];
    size_t count;
    size_t found; /* with those that are too many */
    bool states;  /* else locals */
};
TUTTI_CHECKED enum tutti_err tutti_observer_find_moving(const struct tutti_desc *desc, struct tutti_moving_choice *out);

/* Which of the columns are aliases of earlier ones (column.source). */
TUTTI_CHECKED enum tutti_err tutti_observer_find_sources(struct tutti_observer *observer);

#endif
