/* SPDX-License-Identifier: MIT */
/* packed.h - an instance of a packed system: a simulation (<tutti/simulation.h>) controlled by an importer of FMI.
 *
 * PK1  Values that an importer sets before the start are kept, and passed to the simulation when its values are
 *      first needed: in initialisation mode the importer may read, set and read again. Setting a value after a read
 *      restarts the simulation.
 * PK2  Between steps continuous inputs are passed as values from a connected unit; other inputs, and tunable
 *      parameters, are events where units have event mode.
 * PK3  Outputs are read from the units at most once per point, with one call per unit and type.
 * PK4  By Model Exchange there is no master that steps: the importer places all units at a point of its own solution
 *      (packed_equations.h).
 * PK5  Where the importer has event mode, a step ends at an event and leaves it: the importer reads the values
 *      before it, and in event mode those after. */
#ifndef TT_APPS_PACKED_PACKED_H
#define TT_APPS_PACKED_PACKED_H

#include "apps/api/simulation.h"
#include "apps/pack/packed_table.h"

/* A variable of a unit that a packed variable stands for. */
struct tt_packed_end {
    uint32_t component, variable;
    struct tt_indices element;  /* of an array; count 0: all of it */
    uint32_t connection;        /* by which the packed variable is connected; TUTTI_NONE: it is the variable itself */
    struct tt_pending_set *set; /* NULL: not needed yet */
};

struct tt_packed_variable {
    const struct tt_packed_row *row;
    size_t size;                /* values: 1, or those of an array */
    struct tt_packed_end *ends; /* an input of the system may go to several; of event indicators none */
    size_t end_count;
    size_t unit, slot; /* where the first end is read: in units[unit].signals. Indicators: `slot` is the first of all */
    const char *source;     /* its values there, once these are laid out */
    bool plain;             /* they are shown as the unit has them */
    bool given;             /* PK1 */
    void *values;           /* the values; NULL: of an output */
    struct tt_owned *owned; /* the values, if they are texts */
};

/* The values read from one unit. */
struct tt_packed_unit {
    uint32_t component;
    uint32_t *variables;
    size_t count;
    struct tt_signals signals;
    bool laid;           /* `signals` are */
    unsigned long point; /* they belong to this point of packed->points */
};

enum tt_packed_stage {
    TUTTI_PACKED_MADE,         /* instantiated */
    TUTTI_PACKED_INITIALISING, /* in initialisation mode */
    TUTTI_PACKED_RUNNING,
    TUTTI_PACKED_ENDED, /* terminated, or a step has failed: values can be read */
};

/* How far a step came. */
struct tt_packed_step {
    double t;
    bool event; /* it ends at an event, which is still to be handled (PK5) */
    bool early; /* it ends at an event, before the end that was asked for */
    bool ended; /* an FMU of the system ended the run */
};

struct tt_packed_equations;   /* packed_equations.h */
struct tt_packed_directional; /* packed_directional.h */

struct tt_packed {
    char *name;   /* of the instance */
    char *system; /* the folder */
    struct tt_packed_table table;
    struct tutti_run_options *options;
    struct tutti_simulation *simulation; /* NULL: not open */
    struct tt_packed_variable *variables;
    struct tt_packed_unit *units;
    size_t unit_count;
    enum tt_packed_stage stage;
    bool started;                            /* the simulation is, with all that was given (PK1) */
    bool sets;                               /* something was set since the last step */
    bool has_start, has_stop, has_tolerance; /* the importer gave it */
    double start, stop, tolerance;
    struct tt_byte_writer bytes; /* of the state `serialised`; NULL: of none */
    const void *serialised;
    bool ends_at_events; /* a step does, if the importer takes that */
    bool exchange;       /* it is one for Model Exchange */
    bool in_event_mode;
    struct tt_packed_equations *equations;     /* Model Exchange; NULL: not started */
    struct tt_packed_directional *directional; /* NULL: never asked for */
    unsigned long points;                      /* number of points left so far, from 1 */
    struct tt_arena arena;
};

/* The error for a call out of order. */
enum tutti_err tt_packed_instance_reject(const struct tt_packed *packed, const char *call);
/* STATE for one, naming it. */
#define TUTTI_PACKED_IN(stage) (1u << (stage))
TUTTI_CHECKED static inline enum tutti_err tt_packed_check(const struct tt_packed *packed, unsigned stages,
                                                           const char *call)
{
    return stages & TUTTI_PACKED_IN(packed->stage) ? TUTTI_OK : tt_packed_instance_reject(packed, call);
}
/* Invalidates the values read from units, which belong to a different point. */
static inline void tt_packed_invalidate(struct tt_packed *packed)
{
    packed->points++;
}

#endif
