/* SPDX-License-Identifier: MIT */
/* record.h - which variables of a run are recorded, and a row of them at a time. */
#ifndef TT_SIM_REPORT_RECORD_H
#define TT_SIM_REPORT_RECORD_H

#include <tutti/run.h>

#include "base/arena.h"
#include "base/bytes.h"
#include "base/options/options.h"
#include "model/system/system.h"
#include "results/output.h"
#include "sim/ranks/fabric.h"
#include "sim/signals/inputs.h"
#include "sim/signals/wires.h"
#include "unit/unit.h"

/* The destination of a rank's rows: their receiver, or the conductor, which merges the rows of all ranks. */

/* The position of a column among those of all ranks: sorted by component, then place, then in the rank's order. */
struct tt_column_place {
    uint32_t component; /* TUTTI_NONE: not of a component, after all others */
    uint32_t place;
    /* The variable of its unit: columns that agree in these and in type are aliases. TUTTI_NONE: not shared. */
    uint32_t reference;
    size_t element;
};

struct tt_record_piece; /* what is copied in one go */

/* Zeroed: nothing is recorded. */
struct tt_record_sink {
    struct tt_output output;  /* without a conductor */
    struct tt_fabric *fabric; /* to the conductor; NULL: not */
    struct tt_byte_writer parcel;
    struct tt_record_piece *pieces;
    size_t piece_count;
    size_t fixed; /* bytes of a row's values; 0: some are texts */
    bool brings_rows;
};

/* Reports the columns to the conductor, in the name of the system. Rows then come from rank 0, which always reports the
 * time, and from ranks that have columns; from no rank unless `records`. */
TUTTI_CHECKED enum tutti_err tt_record_open_sink(struct tt_record_sink *sink, struct tt_fabric *fabric,
                                                 const char *system, const struct tt_column *columns,
                                                 const struct tt_column_place *places, size_t count, bool records);
TUTTI_CHECKED enum tutti_err tt_record_send_row(struct tt_record_sink *sink, double t);
/* Passes written rows to the operating system; a conductor does so automatically. */
TUTTI_CHECKED enum tutti_err tt_record_flush_sink(struct tt_record_sink *sink);
/* Also after a failed open. */
TUTTI_CHECKED enum tutti_err tt_record_close_sink(struct tt_record_sink *sink);

/* A unit that the observer may look at. */
struct tt_recorded_unit {
    struct tt_unit *unit;
    const struct tt_inputs *inputs; /* values that a file drives are taken from there; NULL: none */
    bool own;                       /* otherwise a different rank's: it has names and extents, but no values here */
    bool has_pending;               /* a program may set its inputs on the way */
    const struct tutti_log *log;    /* for messages about it */
};

/* Variables read from one unit for the record alone: outputs with readers are signals anyway. */
struct tt_recorded_read {
    struct tt_unit *unit;
    uint32_t component;
    bool follows; /* inputs at once, perhaps */
    struct tt_signals signals;
};

/* Reads variables with feed-through again, with the inputs of the row. */
struct tt_row_refresh {
    enum tutti_err (*read)(void *context, uint32_t component, struct tt_signals *signals);
    void *context;
};

/* A connected input: its column shows the value that the signals of the row give it, which a unit that holds its inputs
 * receives only with the next step. */
struct tt_recorded_input {
    uint32_t node; /* of the wires' structure */
    void *staged;  /* the gathered value */
    float *floats; /* the value of a Float32 as shown (W5); NULL: a different type */
};

/* A connector of a system: a unit's output or input, converted. */
struct tt_recorded_port {
    const struct tt_conversion *conversion;
    const void *from;
    void *to;
    size_t count;
};

struct tt_record {
    bool records; /* something is recorded, by this rank or others */
    bool muted;   /* rows are suppressed: a resumed run has not reached its checkpoint yet */
    bool asleep;  /* rows are for viewers, and there are none */
    struct tt_record_sink sink;
    struct tt_recorded_read *looks;
    size_t look_count;
    struct tt_row_refresh renewed; /* read NULL: such variables are read like all others */
    const struct tt_wires *wires;  /* borrowed */
    struct tt_recorded_input *inputs;
    size_t input_count;
    struct tt_recorded_port *ports;
    size_t port_count;
    struct tt_column *columns; /* of this rank's units */
    struct tt_column_place *places;
    size_t column_count;
    size_t *states; /* columns that are continuous states of Float64 */
    size_t state_count;
    struct tt_unit *extra_unit; /* the unit whose extra outputs are recorded, too; NULL: none */
    const struct tutti_extra *extra;
    double *extra_values;
    unsigned long rows;
    double last_row;  /* its time */
    const char *name; /* of the system, for messages */
    const struct tutti_log *log;
    struct tt_arena arena;
};

/* Returns true if anything is recorded, in the result file `output` (NULL: none) or for a watcher. */
bool tt_record_is_requested(const struct tutti_run_options *options, const char *output);
/* Chooses the variables by the options (all outputs by default). `observed` is per component; units are configured.
 * `log` receives messages about the whole. Without `fabric` opens the result file `output` (NULL: none) and notifies
 * the watcher; with `fabric` reports to its conductor, which receives the rows. `resume`: the file is resumed
 * (results/output.h); empty: a new file. ARGUMENT, on all ranks alike, for a pattern without any match. */
TUTTI_CHECKED enum tutti_err tt_record_open(struct tt_record *observer, const struct tutti_run_options *options,
                                            const char *output, const struct tt_wires *wires,
                                            const struct tt_recorded_unit *observed, const struct tutti_log *log,
                                            struct tt_fabric *fabric, struct tt_bytes resume);
/* Returns true if recorded variables of own units may depend on inputs directly. */
bool tt_record_has_feedthrough(const struct tt_record *observer);
/* Reads the variables from the units and writes a row. */
TUTTI_CHECKED enum tutti_err tt_record_write_row(struct tt_record *observer, double t);
/* Called after the last row: logs messages about the columns. */
TUTTI_CHECKED enum tutti_err tt_record_report_columns(const struct tt_record *observer);
/* Passes written data to the operating system. */
TUTTI_CHECKED enum tutti_err tt_record_flush(struct tt_record *observer);
/* Closes the file; also after a failed open. */
TUTTI_CHECKED enum tutti_err tt_record_close(struct tt_record *observer);

/* Makes the choice alone: columns, addresses and the reads that they need. */
TUTTI_CHECKED enum tutti_err tt_record_columns_choose(struct tt_record *observer,
                                                      const struct tutti_run_options *options,
                                                      const struct tt_wires *wires,
                                                      const struct tt_recorded_unit *observed);

/* The recorded variables of a unit without outputs, unless patterns select others: its continuous states if the
 * description names them, otherwise local variables that may change, without aliases; the first ones, of at most
 * TUTTI_MOST_MOVING values. */
enum { TUTTI_MOST_MOVING = 100 };
struct tt_substitute_choice {
    uint32_t variables[TUTTI_MOST_MOVING];
    size_t count;
    size_t found; /* with those that are too many */
    bool states;  /* else locals */
};
TUTTI_CHECKED enum tutti_err tt_record_find_moving(const struct tt_description *desc, struct tt_substitute_choice *out);

/* Which of the columns are aliases of earlier ones (column.source). */
TUTTI_CHECKED enum tutti_err tt_record_find_sources(struct tt_record *observer);

#endif
