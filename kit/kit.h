/* SPDX-License-Identifier: MIT */
/* kit.h - write an FMU in C: what a model author sees.
 *
 * A model is one C source with a struct that holds its values, a table that describes the variables in it, and a few
 * functions. The kit makes FMUs for FMI 1.0, 2.0 and 3.0 of it (see kit.cmake) and does everything else: the model
 * description, the C interface, storage, saving and restoring, and for Co-Simulation an integrator with event
 * location.
 *
 *     #include "kit.h"
 *
 *     struct decay { double x, der_x, k; };
 *     #define KIT_SELF struct decay
 *
 *     static const struct kit_var variables[] = {
 *         KIT_STATE(x, .start = "1", .derivative = "der_x", .causality = KIT_OUTPUT),
 *         KIT_DERIVATIVE(der_x, .depends = "x k"),
 *         KIT_PARAMETER(k, .start = "1"),
 *     };
 *
 *     static enum kit_status derivatives(struct kit *kit, void *self, double t)
 *     {
 *         struct decay *m = self;
 *         m->der_x = -m->k * m->x;
 *         return KIT_OK;
 *     }
 *
 *     const struct kit_model kit_model = {
 *         .name = "Decay", .size = sizeof(struct decay), KIT_VARIABLES(variables), .derivatives = derivatives,
 *     };
 *
 * docs/kit.md explains all of it. */
#ifndef KIT_H
#define KIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One instance of the FMU. Its content belongs to the kit. */
struct kit;

/* Status of the model's functions, with the meaning of FMI. DISCARD: this point cannot be computed (for example a
 * negative root), a smaller step may help. FATAL: this instance is lost. Explain any status other than OK with
 * kit_log(). */
enum kit_status { KIT_OK, KIT_WARNING, KIT_DISCARD, KIT_ERROR, KIT_FATAL };

/* ---- Variables ---- */

/* The type of a variable; the macros below find it from the field's C type. */
enum kit_type {
    KIT_FLOAT64, /* double */
    KIT_FLOAT32, /* float */
    KIT_INT8,    /* int8_t, and so on */
    KIT_UINT8,
    KIT_INT16,
    KIT_UINT16,
    KIT_INT32,
    KIT_UINT32,
    KIT_INT64,
    KIT_UINT64,
    KIT_BOOLEAN,     /* bool */
    KIT_STRING,      /* char *, owned by the kit: change it with kit_set_string() */
    KIT_BINARY,      /* struct kit_binary, owned by the kit: change it with kit_set_binary() */
    KIT_ENUMERATION, /* int64_t, and .enumeration names the items */
    KIT_CLOCK,       /* struct kit_clock */
};

struct kit_binary {
    size_t size;
    unsigned char *data;
};

/* The source of a clock's ticks (FMI 3.0, intervalVariability). KIT_TRIGGERED: for an input clock the importer's
 * connection, for an output clock the model; all others are time-based input clocks. */
enum kit_interval {
    KIT_NO_INTERVAL,
    KIT_INTERVAL_CONSTANT,
    KIT_INTERVAL_FIXED,
    KIT_INTERVAL_TUNABLE,
    KIT_INTERVAL_CHANGING,
    KIT_INTERVAL_COUNTDOWN,
    KIT_TRIGGERED,
};

/* A clock in the model's struct. `active`: it ticks now; tick() and event() make an output clock tick by setting it. `interval` and `shift`
 * are seconds, for the model to compute with; they change by kit_set_interval() and kit_set_shift(). The rest is the kit's. */
struct kit_clock {
    bool active;
    double interval, shift;
    uint64_t counter, resolution, shift_counter, shift_resolution; /* the fractions of both; resolution 0: none */
    unsigned char qualifier;                                       /* as FMI's fmi3IntervalQualifier */
    bool computed;                                                 /* its partition, for the present tick */
    bool ticked;                                                   /* in the present event mode */
    bool has_activation;
    bool readable;     /* Scheduled Execution: its partition was activated, and none since that cannot interrupt it */
    double activation; /* time of the last tick */
};

enum kit_causality { KIT_LOCAL, KIT_PARAMETER, KIT_CALCULATED, KIT_STRUCTURAL, KIT_INPUT, KIT_OUTPUT };

/* KIT_BY_DEFAULT: fixed for parameters, continuous for other floating-point variables, otherwise discrete. */
enum kit_variability { KIT_BY_DEFAULT, KIT_CONSTANT, KIT_FIXED, KIT_TUNABLE, KIT_DISCRETE, KIT_CONTINUOUS };

/* KIT_INITIAL_DEFAULT: exact with a start value, otherwise calculated. */
enum kit_initial { KIT_INITIAL_DEFAULT, KIT_EXACT, KIT_APPROX, KIT_INITIAL_CALCULATED };

/* Another name of a variable. */
struct kit_alias {
    const char *name;
    const char *description;
    const char *display_unit;
};

/* One variable. Texts that are not needed stay NULL. The value reference is the place in the table, counted from 1;
 * 0 is `time`, which the kit adds. Versions of FMI that cannot express a variable leave it out: arrays, Binary,
 * Float32 and all integers but Int32 exist in FMI 3.0 only. */
struct kit_var {
    const char *field; /* the field's name in the model's struct */
    const char *name;  /* the name people see; NULL: as the field */
    const char *description;
    enum kit_type type;
    size_t offset; /* of the field in the model's struct */

    enum kit_causality causality;
    enum kit_variability variability;
    enum kit_initial initial;

    /* The start value as text: "1.5", "true"; elements of arrays are separated by spaces ("1 2 3"), Strings by line
     * ends; Binary is hexadecimal. One element for a whole array is repeated; elements that are not given are zero. */
    const char *start;

    /* Makes it an array: its extents, each a number or the name of a structural UInt64 parameter: "3", "2 2", "n m".
     * The field is then a pointer (double *, char **, ...) to the elements, row by row, that the kit allocates. */
    const char *dims;

    const char *unit;         /* in the model's units */
    const char *display_unit; /* one of the unit's */
    const char *quantity;
    const char *declared_type; /* in the model's types */
    const char *enumeration;   /* in the model's enumerations; the field is an int64_t */
    const char *min, *max, *nominal;

    /* Of a state: the name of the variable that is its derivative. */
    const char *derivative;
    /* Of a state: event() may give it a new value. */
    bool reinit;
    /* This variable is an event indicator: an event happens where it changes between > 0 and <= 0. Float64, no
     * array. */
    bool indicator;
    /* Of an output, derivative, indicator or calculated parameter: names of the inputs, states and parameters (and
     * "time") that it depends on directly, each with ":constant", ":fixed", ":tunable" or ":discrete" if it enters with
     * such a factor. NULL: unknown, "": none. */
    const char *depends;
    /* FMI 3.0: may be got or set in the intermediate update. Continuous inputs and outputs only. */
    bool intermediate;
    const char *mime_type; /* of a Binary */

    /* Of a clock. The period and shift of a periodic one are fractions ("1/100") or decimal numbers ("0.01"); NULL: initialise() computes
     * them (fixed and tunable ones) and calls kit_set_interval(). A smaller priority goes first in Scheduled Execution. */
    enum kit_interval clock;
    const char *period, *shift;
    unsigned priority;
    bool can_be_deactivated;
    /* Of a variable that belongs to clocks: their names. It is set and read only while one of them ticks, and computed by tick(). */
    const char *clocks;

    const struct kit_alias *aliases; /* ends with a NULL name */
};

/* How a table entry is written. KIT_SELF is the model's struct type; further fields follow the name:
 * KIT_OUTPUT(y, .name = "flange.tau", .unit = "N.m"). */
#define KIT_VAR(field_, ...)                                                                                           \
    {                                                                                                                  \
        .field = #field_, .type = KIT_TYPE_OF(((KIT_SELF *)0)->field_), .offset = offsetof(KIT_SELF, field_),          \
        __VA_ARGS__                                                                                                    \
    }
#define KIT_STATE(field_, ...) KIT_VAR(field_, __VA_ARGS__) /* local, unless a .causality is given */
#define KIT_DERIVATIVE(field_, ...) KIT_VAR(field_, __VA_ARGS__)
#define KIT_INPUT(field_, ...) KIT_VAR(field_, .causality = KIT_INPUT, __VA_ARGS__)
#define KIT_OUTPUT(field_, ...) KIT_VAR(field_, .causality = KIT_OUTPUT, __VA_ARGS__)
#define KIT_PARAMETER(field_, ...) KIT_VAR(field_, .causality = KIT_PARAMETER, __VA_ARGS__)
#define KIT_CALCULATED(field_, ...) KIT_VAR(field_, .causality = KIT_CALCULATED, __VA_ARGS__)
#define KIT_STRUCTURAL(field_, ...) KIT_VAR(field_, .causality = KIT_STRUCTURAL, __VA_ARGS__)
#define KIT_INPUT_CLOCK(field_, kind_, ...) KIT_VAR(field_, .causality = KIT_INPUT, .clock = (kind_), __VA_ARGS__)
#define KIT_OUTPUT_CLOCK(field_, ...) KIT_VAR(field_, .causality = KIT_OUTPUT, .clock = KIT_TRIGGERED, __VA_ARGS__)
#define KIT_INDICATOR(field_, ...) KIT_VAR(field_, .indicator = true, __VA_ARGS__)

/* clang-format off */
#define KIT_TYPE_OF(x) _Generic((x), \
    double: KIT_FLOAT64, double *: KIT_FLOAT64, float: KIT_FLOAT32, float *: KIT_FLOAT32, \
    int8_t: KIT_INT8, int8_t *: KIT_INT8, uint8_t: KIT_UINT8, uint8_t *: KIT_UINT8, \
    int16_t: KIT_INT16, int16_t *: KIT_INT16, uint16_t: KIT_UINT16, uint16_t *: KIT_UINT16, \
    int32_t: KIT_INT32, int32_t *: KIT_INT32, uint32_t: KIT_UINT32, uint32_t *: KIT_UINT32, \
    int64_t: KIT_INT64, int64_t *: KIT_INT64, uint64_t: KIT_UINT64, uint64_t *: KIT_UINT64, \
    bool: KIT_BOOLEAN, bool *: KIT_BOOLEAN, char *: KIT_STRING, char **: KIT_STRING, \
    struct kit_binary: KIT_BINARY, struct kit_binary *: KIT_BINARY, struct kit_clock: KIT_CLOCK)
/* clang-format on */

/* ---- Units, enumerations and types that variables name ---- */

/* value in this unit = factor * value in the variable's unit + offset */
struct kit_display_unit {
    const char *name;
    double factor;
    double offset;
};

/* value in SI base units = factor * value + offset; a factor of 0 stands for 1 */
struct kit_unit {
    const char *name;
    int kg, m, s, A, K, mol, cd, rad; /* exponents */
    double factor, offset;
    struct kit_display_unit display[4]; /* up to four; the first without a name ends the list */
};

struct kit_item {
    const char *name;
    int64_t value; /* FMI 1.0 has no values: number the items 1, 2, 3, ... or omit FMI 1.0 */
    const char *description;
};

struct kit_enumeration {
    const char *name;
    const char *description;
    struct kit_item items[16]; /* the first without a name ends the list */
};

/* A named type for Float64 variables, from which variables inherit missing attributes. */
struct kit_float_type {
    const char *name;
    const char *description;
    const char *quantity;
    const char *unit;
    const char *display_unit;
    const char *min, *max, *nominal;
    bool relative_quantity; /* a difference: conversions leave the offset out */
};

/* ---- Terminals: groups of variables that are connected at once (FMI 3.0) ---- */

struct kit_member {
    const char *variable; /* its name; NULL ends the list */
    const char *name;     /* in the terminal; NULL: as the variable */
    const char *kind;     /* NULL: "signal"; or "inflow", "outflow" */
};

/* FMUs have them that are built with TERMINALS (kit.cmake). */
struct kit_terminal {
    const char *name;
    const char *rule; /* "plug", "bus", "sequence", "none", or a name of a layered standard */
    const char *kind, *description;
    const char *inside; /* the name of the enclosing terminal, which precedes it in the table; NULL: none */
    const struct kit_member *members;
};

/* ---- The model ---- */

/* Optional capabilities and behaviour of the FMU. */
enum kit_features {
    KIT_ROLLBACK = 1 << 0,                       /* its state can be got and set (FMI 1.0: steps can be rejected) */
    KIT_SERIALISE = 1 << 1,                      /* and serialised; needs KIT_ROLLBACK */
    KIT_DIRECTIONAL = 1 << 2,                    /* directional (FMI 3.0: also adjoint) derivatives; needs .partial */
    KIT_INPUT_DERIVATIVES = 1 << 3,              /* FMI 1.0, 2.0: inputs follow a polynomial inside a step */
    KIT_EARLY_RETURN = 1 << 4,                   /* FMI 3.0: a step may end early where the importer allows it */
    KIT_EVENT_MODE = 1 << 5,                     /* FMI 3.0 Co-Simulation with event mode */
    KIT_INTERMEDIATE = 1 << 6,                   /* FMI 3.0: intermediate update */
    KIT_ONCE_PER_PROCESS = 1 << 7,               /* a second instance is refused while the first lives */
    KIT_FIXED_STEP = 1 << 8,                     /* all communication steps must have one size */
    KIT_SCHEDULED = 1 << 9,                      /* FMI 3.0: Scheduled Execution, a partition per input clock */
    KIT_ONLY_SCHEDULED = 1 << 10,                /* and no other interface */
    KIT_FOR_FREE = KIT_ROLLBACK | KIT_SERIALISE, /* capabilities that every model has without further code */
};

/* The result of event(). All fields are false on entry; next_time is the pending time event, or INFINITY. */
struct kit_event {
    bool again;            /* call event() once more at this time */
    bool states_changed;   /* a continuous state has a new value */
    bool nominals_changed; /* kit_set_nominal() was called */
    bool terminate;        /* end the simulation */
    double next_time;      /* when to call event() next, if nothing happens before */
};

/* All functions get the instance, the model's struct and the time. All are optional except `derivatives` of a model
 * with states. They read and write only fields of the struct, and keep no other memory: the kit saves and restores the
 * struct. (Additional fields that are not variables are allowed; additional pointers are not.) */
struct kit_model {
    const char *name; /* a C identifier: modelIdentifier, and the name of library and archive */
    const char *description;
    const char *author;
    const char *version;
    size_t size; /* of the model's struct */

    const struct kit_var *variables;
    size_t variable_count;
    const struct kit_unit *units;
    size_t unit_count;
    const struct kit_enumeration *enumerations;
    size_t enumeration_count;
    const struct kit_float_type *types;
    size_t type_count;
    const struct kit_terminal *terminals;
    size_t terminal_count;

    struct {
        double start, stop, step, tolerance;
    } experiment; /* default experiment; values of 0 are omitted, except start */

    unsigned features;           /* of enum kit_features */
    unsigned output_derivatives; /* highest order of output derivatives; 0: none */
    double micro_step;           /* Co-Simulation: step of the integrator; 0: one step per communication step */

    /* Computes calculated parameters, and start values that follow from others. May be called several times while the
     * importer initialises: it must compute from the values that were set, not from its own last result. */
    enum kit_status (*initialise)(struct kit *kit, void *self, double t);
    /* Computes the derivatives from states, inputs and parameters. Must not change anything else. */
    enum kit_status (*derivatives)(struct kit *kit, void *self, double t);
    /* Computes outputs and local variables; the derivatives are up to date. */
    enum kit_status (*outputs)(struct kit *kit, void *self, double t);
    /* Computes the event indicators from states, inputs and parameters. */
    enum kit_status (*indicators)(struct kit *kit, void *self, double t);
    /* Called at a state, time or step event, after discrete inputs or tunable parameters changed, and once at the
     * end of the initialisation. At a state event the indicator has just changed its sign. */
    enum kit_status (*event)(struct kit *kit, void *self, double t, struct kit_event *event);
    /* The partition of an input clock: called once for every tick, before what it computes is read, with the clock's field as `clock`.
     * Clocked inputs have their values of this tick; clocked variables change here only. */
    enum kit_status (*tick)(struct kit *kit, void *self, double t, const struct kit_clock *clock);
    /* Called after every accepted integrator step. *step_event asks for event(). */
    enum kit_status (*completed_step)(struct kit *kit, void *self, double t, bool *step_event);
    /* The partial derivative of an output or derivative with respect to an input or state, named by the addresses of
     * their fields (elements, in arrays), e.g. unknown == &m->der_x && known == &m->u; known is NULL for time.
     * *value is 0 on entry. */
    enum kit_status (*partial)(struct kit *kit, void *self, double t, const double *unknown, const double *known,
                               double *value);
    /* The derivative of an output with respect to time, of order 1 ... output_derivatives. Without this function the
     * first order comes from `partial`, and of a state that is an output from its derivative. */
    enum kit_status (*output_derivative)(struct kit *kit, void *self, double t, const double *output, unsigned order,
                                         double *value);
    /* Instead of the integrator: advances the model from t to t + h. Makes the FMU Co-Simulation only. */
    enum kit_status (*advance)(struct kit *kit, void *self, double t, double h);
};

#define KIT_COUNT(table) (sizeof(table) / sizeof *(table))
#define KIT_VARIABLES(table) .variables = (table), .variable_count = KIT_COUNT(table)
#define KIT_UNITS(table) .units = (table), .unit_count = KIT_COUNT(table)
#define KIT_ENUMERATIONS(table) .enumerations = (table), .enumeration_count = KIT_COUNT(table)
#define KIT_TERMINALS(table) .terminals = (table), .terminal_count = KIT_COUNT(table)
#define KIT_TYPES(table) .types = (table), .type_count = KIT_COUNT(table)

/* The one thing that a model's source defines. */
extern const struct kit_model kit_model;

/* ---- Services of the kit ---- */

/* Sends a message to the importer, if logging is on. */
void kit_log(struct kit *kit, enum kit_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* The path of a file in the FMU's resources folder, or NULL if the importer named no folder (as always in FMI 1.0
 * ME). Valid until the next call. */
const char *kit_resource(struct kit *kit, const char *file);
/* Gives a clock its interval, counter / resolution seconds: of a changing one in tick(), until its next tick; of a countdown from now on; of
 * a fixed or tunable one whose table has no period in initialise(). KIT_ERROR: resolution 0. */
enum kit_status kit_set_interval(struct kit *kit, struct kit_clock *clock, uint64_t counter, uint64_t resolution);
enum kit_status kit_set_shift(struct kit *kit, struct kit_clock *clock, uint64_t counter, uint64_t resolution);
/* Encloses code of a partition that no other partition of the FMU may interrupt (Scheduled Execution; no effect
 * elsewhere). */
void kit_lock_preemption(struct kit *kit);
void kit_unlock_preemption(struct kit *kit);
/* Copies the text, or the bytes, into a String or Binary field (or element). KIT_ERROR: out of memory. */
enum kit_status kit_set_string(struct kit *kit, char **field, const char *text);
enum kit_status kit_set_binary(struct kit *kit, struct kit_binary *field, const void *data, size_t size);
/* Changes the nominal value of a state (an element of an array); call it in event(), which then sets nominals_changed.
 * KIT_ERROR: not a state, or not a positive number. */
enum kit_status kit_set_nominal(struct kit *kit, const double *state, double nominal);
/* The derivative of a Float64 input with respect to time as the importer gave it (0 if it gave none). */
double kit_input_derivative(const struct kit *kit, const double *input, unsigned order);

#endif
