/* SPDX-License-Identifier: MIT */
/* core.h - the instance that every version of FMI uses, the basis of fmi1.c, fmi2.c and fmi3*.c.
 *
 * The version layers check that a call is allowed in the instance's mode, translate arguments, and call the core.
 *
 * Invariants:
 * 1. slots[vr] exists for every vr <= model->variable_count; slots[0] is time. A variable that the version cannot
 *    express has type KIT_ABSENT.
 * 2. x[i], dx[i] and z[i] point at the fields of states, derivatives and indicators; they are rebuilt when an array
 *    is reallocated, and only then.
 * 3. A bit in `stale` marks fields that do not belong to the present time, states and inputs.
 * 4. A do-step allocates nothing, except once for the copy before its first event (FMI 3.0, to undo a discarded
 *    step).
 * 5. After KIT_ERROR the mode is ERROR, after KIT_FATAL it is FATAL; only saved states, reset and free lead out of
 *    ERROR. */
#ifndef KIT_CORE_H
#define KIT_CORE_H

#include "kit.h"

enum kit_interface { KIT_CS, KIT_ME, KIT_SE };

/* The union of the modes of all versions. FMI 1.0 ME is always in EVENT once initialised. */
enum kit_mode {
    KIT_INSTANTIATED,
    KIT_CONFIGURATION,
    KIT_INITIALISATION,
    KIT_IN_EVENT,
    KIT_CONTINUOUS_TIME,
    KIT_STEP,
    KIT_STEP_FAILED, /* FMI 1.0, 2.0: after a discarded step */
    KIT_INTERMEDIATE_UPDATE,
    KIT_RECONFIGURATION,
    KIT_CLOCK_ACTIVATION, /* Scheduled Execution */
    KIT_CLOCK_UPDATE,     /* inside the callback of a partition */
    KIT_TERMINATED,
    KIT_IN_ERROR,
    KIT_IN_FATAL
};
#define KIT_MODE(mode) (1u << (mode))

static inline enum kit_status kit_worse(enum kit_status a, enum kit_status b)
{
    return a > b ? a : b;
}

enum { KIT_ABSENT = 0xff, KIT_MAX_INPUT_ORDER = 5, KIT_GUID_SIZE = 39 };

/* Computations that are required before fields may be read. */
enum kit_stale {
    KIT_STALE_START = 1 << 0, /* initialise() */
    KIT_STALE_DERIVATIVES = 1 << 1,
    KIT_STALE_OUTPUTS = 1 << 2,
    KIT_STALE_INDICATORS = 1 << 3,
    KIT_STALE_POINT = KIT_STALE_DERIVATIVES | KIT_STALE_OUTPUTS | KIT_STALE_INDICATORS
};

/* A variable of the instance, found by its value reference. */
struct kit_slot {
    void *data;                /* the first element, in the model's struct or in `array` */
    void *array;               /* the elements of an array, owned; NULL for scalars */
    size_t count;              /* elements; 1 for scalars */
    const struct kit_var *var; /* NULL for time */
    unsigned char type;        /* enum kit_type or KIT_ABSENT */
    unsigned char needs;       /* bits of enum kit_stale: before a read */
    bool event_on_set;         /* discrete input or tunable parameter */
    unsigned *clocks;          /* references of the clocks that it belongs to, owned; 0 ends them; NULL: none */
    bool required;             /* FMI 3.0: named by the importer for the intermediate update */
    unsigned settable;         /* bits KIT_MODE(...): when the importer may set it */
};

/* A Float64 input that follows a polynomial during a do-step. */
struct kit_polynomial {
    double *field;
    double start;                               /* time at which the coefficients hold */
    double derivative[KIT_MAX_INPUT_ORDER + 1]; /* [0] is the value */
    bool fresh;                                 /* set since the last do-step */
};

struct kit_intermediate {
    double time;
    bool set_requested, get_allowed, step_finished, can_return_early;
    bool return_requested; /* the importer's answer */
    double return_time;
};

struct kit {
    const struct kit_model *model;
    void *self; /* the model's struct */
    enum kit_mode mode;
    unsigned stale;
    double time;
    struct kit_slot *slots;

    size_t nx, nz;
    double **x, **dx, **z;
    double *nominal;
    double *start, *x0, *k1, *sum, *z0, *z1, *z2, *z_end; /* work of the integrator, one block with `nominal` */
    double *work;

    struct kit_polynomial *polynomials;
    size_t polynomial_count;
    bool polynomials_active;

    double next_event;  /* INFINITY: none */
    double stop;        /* INFINITY: none given */
    double fixed_step;  /* KIT_FIXED_STEP: size of the first step, 0 before it */
    double last_time;   /* end of the last successful step */
    double last_event;  /* time of the last event mode, or of the start: SetTime does not go back before it */
    bool input_event;   /* a discrete input or tunable parameter was set since the last event */
    bool set_in_step;   /* a set call since the last do-step: no get is allowed (CS) */
    bool event_pending; /* the last do-step ended at an event that the importer has to handle */
    bool update_needed; /* event mode: event() has to be called (again) before it may be left */
    unsigned rounds;    /* event mode: how often event() was called */
    bool terminated;    /* the model requests the end of the simulation */
    bool set_up;        /* FMI 2.0: SetupExperiment was called */
    bool solved;        /* a habit: the initial values are final before the initialisation mode ends */

    /* The importer's choices at instantiation. */
    int version;
    enum kit_interface interface;
    bool event_mode, early_return;
    bool logging;
    bool get_closed; /* intermediate update: a set call was made, gets are over */
    bool intermediate_inputs;
    struct kit_intermediate *update;                                        /* while the intermediate update runs */
    void (*intermediate)(struct kit *kit, struct kit_intermediate *update); /* NULL: not used */

    char guid[KIT_GUID_SIZE];
    char *name;
    char *resources; /* native path with trailing separator, or NULL */
    char *path;      /* last result of kit_resource() */
    unsigned muted;  /* log categories that are off: bit per enum kit_category */

    /* For the version layer: where log messages go, as they are. */
    void (*log)(struct kit *kit, enum kit_status status, const char *category, const char *text);
    void *environment;
    void (*logger)(void); /* cast to the version's type */
    void (*update_callback)(void);

    /* Scheduled Execution. */
    void (*clock_update)(struct kit *kit);
    void (*clock_update_callback)(void);
    void (*lock)(void), (*unlock)(void);

    struct kit_state *undo; /* a state of this step, before anything but the continuous states changed */
    bool undo_valid;
    struct kit_state *previous; /* FMI 1.0: the state before the last step */
    bool rushed;                /* fault.h: the first step went to the stop time */
    void *faults;               /* fault.c */
};

/* Log categories; the names are those of the standard. */
enum kit_category {
    KIT_LOG_EVENTS,
    KIT_LOG_WARNING,
    KIT_LOG_DISCARD,
    KIT_LOG_ERROR,
    KIT_LOG_FATAL,
    KIT_LOG_CATEGORIES
};
extern const char *const kit_category_names[KIT_LOG_CATEGORIES];

/* ---- core.c: the instance ---- */

struct kit_request {
    int version;
    enum kit_interface interface;
    const char *name;
    const char *guid;
    const char *resources; /* native path or NULL; copied */
    bool logging;
    void (*log)(struct kit *kit, enum kit_status status, const char *category, const char *text);
    void *environment;
    void (*logger)(void);
};

/* Returns the model of instances with this token; NULL if there is none. Defined in model.c, unless a program makes
 * models as it runs (src/unit/program). */
const struct kit_model *kit_model_of(const char *token);

/* A new instance with start values, or NULL; the reason was logged. Freed with kit_free(). */
struct kit *kit_new(const struct kit_request *request);
void kit_free(struct kit *k);
/* Back to start values and mode INSTANTIATED. */
enum kit_status kit_reset(struct kit *k);
/* As above for the FMI function, with its faults. */
enum kit_status kit_start_again(struct kit *k);
/* Called when extents may have changed: reallocates all arrays with such an extent, with start values. If memory is
 * out, everything is reset, so that nothing points at arrays of a wrong size. */
enum kit_status kit_resize(struct kit *k);
/* Rebuilds the pointers into the arrays (invariant 2). */
enum kit_status kit_bind(struct kit *k);
/* Path of a file: URI ("file:///a%20b", "file:/a", "file://localhost/a"); the caller frees. NULL: not a file URI. */
char *kit_path_of_uri(const char *uri);

/* Logs and puts the instance into the mode that the status asks for; returns the status. */
enum kit_status kit_fail(struct kit *k, enum kit_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Whether the model offers a feature; if not, the call that needs it fails. */
bool kit_offers(struct kit *k, enum kit_features feature);
/* A call that the mode forbids. */
enum kit_status kit_refuse(struct kit *k, const char *call);
/* As kit_log(), with a category. Nothing if the category is off. */
void kit_log_as(struct kit *k, enum kit_status status, enum kit_category category, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Switches categories (all if `count` is 0). False: the category does not exist. */
bool kit_set_logging(struct kit *k, bool on, size_t count, const char *const categories[]);

/* ---- layout.c: facts about the model's tables ---- */

size_t kit_type_size(enum kit_type type);
const char *kit_var_name(const struct kit_var *var);
/* The variable's type: Int64 with an enumeration is an Enumeration. */
enum kit_type kit_var_type(const struct kit_var *var);
enum kit_variability kit_var_variability(const struct kit_var *var);
enum kit_initial kit_var_initial(const struct kit_var *var);
/* Value reference of the variable with this name; 0 is "time", SIZE_MAX: none. */
size_t kit_var_find(const struct kit_model *model, const char *name, size_t length);
/* Whether some state names it as its derivative; then *state is the state's value reference. */
bool kit_var_is_derivative(const struct kit_model *model, const struct kit_var *var, size_t *state);
/* Whether this version of FMI can express the variable. */
bool kit_var_exists_in(const struct kit_model *model, const struct kit_var *var, int version);
/* Splits at white space: *text moves to after the word. False at the end. */
bool kit_next_word(const char **text, const char **word, size_t *length);
/* Elements of the variable with the extents that `self` holds (its start values if NULL). SIZE_MAX: too many. */
size_t kit_var_count(const struct kit_model *model, const struct kit_var *var, const void *self);
/* Writes the start values of `count` elements. False: text that does not fit the type, or out of memory. */
bool kit_var_start(const struct kit_var *var, void *data, size_t count);
/* A number in the C locale; false if text is not one. */
bool kit_parse_double(const char *text, double *value);

/* "a/b", or a decimal number (resolution 0). */
bool kit_parse_fraction(const char *text, double *value, uint64_t *counter, uint64_t *resolution);
/* Returns true if a clock reports its timing as fractions. Only decimal numbers in the table prevent it. */
bool kit_has_fraction(const struct kit_var *var);

/* Computes the model's identity, "{8-4-4-4-12}": a hash of the whole description. */
void kit_guid(const struct kit_model *model, int version, char out[KIT_GUID_SIZE]);

/* ---- values.c ---- */

/* Set of types a call accepts. */
#define KIT_TYPE(type) (1u << (type))

/* Copies values as the fields hold them; n_values must be the sum of the elements. `call` is for messages. */
enum kit_status kit_get(struct kit *k, const char *call, unsigned types, const unsigned vr[], size_t n, void *values,
                        size_t n_values);
enum kit_status kit_set(struct kit *k, const char *call, unsigned types, const unsigned vr[], size_t n,
                        const void *values, size_t n_values);
enum kit_status kit_get_binary(struct kit *k, const unsigned vr[], size_t n, size_t sizes[], const uint8_t *values[],
                               size_t n_values);
enum kit_status kit_set_binaries(struct kit *k, const unsigned vr[], size_t n, const size_t sizes[],
                                 const uint8_t *const values[], size_t n_values);
/* FMI 1.0 and 2.0: Int32 and Enumeration through one pair of functions. */
enum kit_status kit_get_integer(struct kit *k, unsigned vr, int *value);
enum kit_status kit_set_integer(struct kit *k, unsigned vr, int value);
/* One slot, brought up to date for a read or checked for a write. NULL: refused, the status is in *status. */
struct kit_slot *kit_slot_to_get(struct kit *k, const char *call, unsigned types, unsigned vr, enum kit_status *status);
struct kit_slot *kit_slot_to_set(struct kit *k, const char *call, unsigned types, unsigned vr, enum kit_status *status);
/* To be called after the value of a slot was written. */
void kit_slot_written(struct kit *k, const struct kit_slot *slot);

/* ---- evaluate.c: computing at a point of time ---- */

/* Makes the fields that the bits `needs` stand for fresh. */
enum kit_status kit_refresh(struct kit *k, unsigned needs);
/* Event mode, with an event() to come before it may be left. */
void kit_enter_event_mode(struct kit *k);
/* Calls event() once, as in event mode. */
enum kit_status kit_event_once(struct kit *k, struct kit_event *event);
/* Calls event() until it is content, as Co-Simulation without event mode does. */
enum kit_status kit_event_all(struct kit *k);
/* Ends the initialisation: initialise() if needed, and without event mode all of event(). */
enum kit_status kit_exit_initialisation(struct kit *k);
/* Sets a derivative of a Float64 input; it holds for the next do-step. */
enum kit_status kit_set_input_derivative(struct kit *k, unsigned vr, int order, double value);
enum kit_status kit_get_output_derivative(struct kit *k, unsigned vr, int order, double *values, size_t count);
/* sensitivity = J seed (or J' seed if adjoint), J the partial derivatives of unknowns with respect to knowns. */
enum kit_status kit_directional(struct kit *k, bool adjoint, const unsigned unknowns[], size_t n_unknowns,
                                const unsigned knowns[], size_t n_knowns, const double seed[], size_t n_seed,
                                double sensitivity[], size_t n_sensitivity);

/* ---- clocks.c ---- */

bool kit_has_clocks(const struct kit_model *model);
/* Checks whether a clocked variable may be read, or set, now. */
enum kit_status kit_clocked_access(struct kit *k, const char *call, const struct kit_slot *slot, bool set);
/* Computes the partitions of clocks that tick and were not computed yet. */
enum kit_status kit_compute_partitions(struct kit *k);
/* Event mode begins, and nothing has ticked in it; its discrete states were updated, and no clock ticks any more. */
void kit_begin_ticks(struct kit *k);
void kit_end_ticks(struct kit *k);
/* Returns true if an output clock ticks. */
bool kit_output_clock_ticks(const struct kit *k);
enum kit_status kit_get_clocks(struct kit *k, const unsigned vr[], size_t n, bool values[]);
enum kit_status kit_set_clocks(struct kit *k, const unsigned vr[], size_t n, const bool values[]);
/* Checks a call for the interval or shift of a clock; NULL: rejected. */
struct kit_clock *kit_clock_to_get(struct kit *k, const char *call, unsigned vr, bool fraction, bool shift);
struct kit_clock *kit_clock_to_set(struct kit *k, const char *call, unsigned vr, bool fraction, bool shift);
/* Returns the qualifier to report, which is `unchanged` from then on. */
int kit_tell_qualifier(struct kit_clock *clock);
enum kit_status kit_activate(struct kit *k, unsigned vr, double t);

/* ---- exchange.c: what Model Exchange sees ---- */

enum kit_status kit_set_time(struct kit *k, double t);
enum kit_status kit_set_states(struct kit *k, const double x[], size_t n);
enum kit_status kit_get_states(struct kit *k, double x[], size_t n);
enum kit_status kit_get_derivatives(struct kit *k, double derivatives[], size_t n);
enum kit_status kit_get_indicators(struct kit *k, double indicators[], size_t n);
enum kit_status kit_get_nominals(struct kit *k, double nominals[], size_t n);
/* Model Exchange calls it after an accepted step of the importer's solver. */
enum kit_status kit_completed_step(struct kit *k, bool *step_event);

/* ---- integrate.c ---- */

struct kit_outcome {
    bool event;     /* ended at an event that the importer has to handle */
    bool terminate; /* the model requests the end */
    bool early;     /* ended before t + h although nothing went wrong */
};

/* Notes the indicators where a step or event ended: an input that jumps before the next step may change their sign. */
enum kit_status kit_note_indicators(struct kit *k);
/* How far times may be apart that are meant to be the same, in a step from t of size h. */
double kit_time_tolerance(double t, double h);
/* Whether a step from t to t + h may be asked for now. */
enum kit_status kit_check_step(struct kit *k, double t, double h);
/* Advances from t to t + h. k->time is the time reached. `limit` (INFINITY: none) ends the step early at that time.
 * DISCARD: FMI 3.0 is back at t; otherwise k->time is where it stopped. */
enum kit_status kit_do_step(struct kit *k, double t, double h, double limit, struct kit_outcome *outcome);
/* The same as FMI 1.0 and 2.0 have it: where the model ends the simulation, the step is discarded. */
enum kit_status kit_do_step_or_discard(struct kit *k, double t, double h);

/* ---- state.c ---- */

/* A copy of everything that the instance's future depends on; one block without pointers, so that it can be saved. */
struct kit_state {
    size_t size; /* of bytes[] that are used */
    size_t capacity;
    unsigned char bytes[];
};

/* Saves into *state, which may be an earlier copy and is reallocated if it is too small. */
enum kit_status kit_state_get(struct kit *k, struct kit_state **state);
/* Restores all, or all but the inputs (to repeat a step with new ones). */
enum kit_status kit_state_set(struct kit *k, const struct kit_state *state, bool keep_inputs);
void kit_state_free(struct kit_state *state);
/* To and from bytes, if the model offers it. A deserialised state is a new one; the old value of *state is ignored.
 * Bytes that were changed, or that another FMU wrote, are refused. */
enum kit_status kit_state_size(struct kit *k, const struct kit_state *state, size_t *size);
enum kit_status kit_state_serialise(struct kit *k, const struct kit_state *state, void *bytes, size_t size);
enum kit_status kit_state_deserialise(struct kit *k, const void *bytes, size_t size, struct kit_state **state);

#endif
