/* SPDX-License-Identifier: MIT */
/* instance.h - an instance of a packed system: a simulation (<tutti/simulation.h>) in the hands of an importer of FMI. fmi2.c and fmi3.c
 * give it the functions of both versions.
 *
 * PK1  What an importer sets before the start is kept, and given to the simulation when its values are first needed: in initialisation
 *     mode the importer may read, set and read again. What it sets after a reading makes the simulation start anew.
 * PK2  Between steps continuous inputs are handed over as those of a run that gets them from another unit; others, and tunable
 *     parameters, are events where units have event mode.
 * PK3  Outputs are read from the units at most once per point, with one call per unit and type. */
#ifndef TUTTI_PACKED_INSTANCE_H
#define TUTTI_PACKED_INSTANCE_H

#include "api/simulation.h"
#include "pack/table.h"

/* A variable of a unit that a packed variable stands for. */
struct tutti_packed_end {
    uint32_t component, variable;
    const struct tutti_conversion *conversion; /* NULL: none */
    struct tutti_pending_set *set;             /* NULL: not needed yet */
};

struct tutti_packed_variable {
    const struct tutti_packed_row *row;
    struct tutti_packed_end *ends; /* an input of the system may go to several */
    size_t end_count;
    size_t unit, slot; /* where the first end is read: in units[unit].signals */
    bool given;        /* PK1 */
    union tutti_packed_value value;
};

/* What is read of one unit. */
struct tutti_packed_unit {
    uint32_t component;
    uint32_t *variables;
    size_t count;
    struct tutti_signals signals;
    bool laid, fresh; /* laid: `signals` are; fresh: they have the values of this point */
};

enum tutti_packed_stage {
    TUTTI_PACKED_MADE,         /* instantiated */
    TUTTI_PACKED_INITIALISING, /* in initialisation mode */
    TUTTI_PACKED_RUNNING,
    TUTTI_PACKED_ENDED, /* terminated, or a step has failed: values can be read */
};

/* How far a step came. */
struct tutti_packed_step {
    double t;
    bool event; /* there was one, and the step ends there */
    bool ended; /* an FMU of the system ended the run */
};

struct tutti_packed {
    char *name;   /* of the instance */
    char *system; /* the folder */
    struct tutti_packed_table table;
    struct tutti_run_options *options;
    struct tutti_simulation *simulation; /* NULL: not open */
    struct tutti_packed_variable *variables;
    struct tutti_packed_unit *units;
    size_t unit_count;
    enum tutti_packed_stage stage;
    bool started;                            /* the simulation is, with all that was given (PK1) */
    bool has_start, has_stop, has_tolerance; /* the importer gave it */
    double start, stop, tolerance;
    struct tutti_parcel bytes; /* of the state `serialised`; NULL: of none */
    const void *serialised;
    bool ends_at_events; /* a step does, if the importer takes that */
    struct tutti_arena arena;
};

/* `resources` is the folder of the FMU's resources. `log` is copied. FORMAT if the token is another FMU's. */
TUTTI_CHECKED enum tutti_err tutti_packed_make(struct tutti_packed **out, const char *name, const char *token,
                                               const char *resources, const struct tutti_log *log);
void tutti_packed_free(struct tutti_packed *packed);

/* The life of an instance. STATE for a call out of order, naming it. */
TUTTI_CHECKED enum tutti_err tutti_packed_check(const struct tutti_packed *packed, unsigned stages, const char *call);
#define TUTTI_PACKED_IN(stage) (1u << (stage))
TUTTI_CHECKED enum tutti_err tutti_packed_initialise(struct tutti_packed *packed);
TUTTI_CHECKED enum tutti_err tutti_packed_begin(struct tutti_packed *packed);
TUTTI_CHECKED enum tutti_err tutti_packed_step(struct tutti_packed *packed, double t, double h,
                                               struct tutti_packed_step *step);
/* Crosses what was set since the last step as an event, now. */
TUTTI_CHECKED enum tutti_err tutti_packed_cross(struct tutti_packed *packed);
/* The time that units announce for their next event; INFINITY: none. */
double tutti_packed_next_event(const struct tutti_packed *packed);
void tutti_packed_reset(struct tutti_packed *packed);

/* Values (values.c). The variables have value references from 1 on. ARGUMENT for a reference that is none, or of another type. */
TUTTI_CHECKED enum tutti_err tutti_packed_get(struct tutti_packed *packed, uint32_t reference, enum tutti_type type,
                                              void *value);
TUTTI_CHECKED enum tutti_err tutti_packed_set(struct tutti_packed *packed, uint32_t reference, enum tutti_type type,
                                              const void *value);
/* After open; before the simulation is freed; when a point is reached. */
TUTTI_CHECKED enum tutti_err tutti_packed_bind(struct tutti_packed *packed);
void tutti_packed_unbind(struct tutti_packed *packed);
void tutti_packed_forget(struct tutti_packed *packed);
/* Gives the simulation, which is not started, what is kept (PK1). */
TUTTI_CHECKED enum tutti_err tutti_packed_hand_over(struct tutti_packed *packed);
/* The simulation is started, with everything that was set. */
TUTTI_CHECKED enum tutti_err tutti_packed_need(struct tutti_packed *packed);

/* Points (points.c): a state of FMI is a point of the simulation. */
TUTTI_CHECKED enum tutti_err tutti_packed_save(struct tutti_packed *packed, void **state);
TUTTI_CHECKED enum tutti_err tutti_packed_restore(struct tutti_packed *packed, const void *state);
void tutti_packed_drop(struct tutti_packed *packed, void *state);
TUTTI_CHECKED enum tutti_err tutti_packed_serialised_size(struct tutti_packed *packed, const void *state, size_t *size);
TUTTI_CHECKED enum tutti_err tutti_packed_serialise(struct tutti_packed *packed, const void *state, void *bytes,
                                                    size_t size);
TUTTI_CHECKED enum tutti_err tutti_packed_deserialise(struct tutti_packed *packed, struct tutti_bytes bytes,
                                                      void **state);

#endif
