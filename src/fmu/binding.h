/* SPDX-License-Identifier: MIT */
/* binding.h - what differs between FMI versions, as one vtable.
 *
 * A version is one file (fmi1.c, fmi2.c, fmi3.c) that exports one const struct for its interfaces, Co-Simulation (CS),
 * Model Exchange (ME) and Scheduled Execution (SE); FMI 1.0, whose interfaces are two standards, exports two. The
 * functions call the FMU once, convert types, and return the FMU's status; states, messages and errors are
 * instance.c's. A slot that the version or interface does not have is NULL; the state machine rejects such calls before
 * they reach the slot. */
#ifndef TT_FMU_BINDING_H
#define TT_FMU_BINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/log.h"
#include "fmu/description/description.h"
#include "fmu/fmi_state.h"

/* Arguments and results of the functions of an instance (instance.h, binding.h). */

struct tt_instance;

/* The data that an FMI 3.0 FMU passes and receives inside a do-step. */
struct tt_intermediate_update {
    double time;
    bool set_requested, get_allowed, step_finished, can_return_early;
    bool return_early; /* result: the step ends at return_at */
    double return_at;  /* result: the end of the step */
};

/* The next interval of a clock, or its shift, and the form in which it is requested and returned. */
struct tt_clock_timing {
    bool fraction; /* the clock has fractions, and they are used */
    double decimal;
    uint64_t counter, resolution;
    enum { TUTTI_TIMING_NOT_YET_KNOWN, TUTTI_TIMING_UNCHANGED, TUTTI_TIMING_CHANGED } qualifier;
};

struct tt_instance_options {
    const char *name;            /* copied */
    const struct tutti_log *log; /* borrowed for the instance's life; NULL: silent */
    bool logging_on;             /* ask the FMU for its debug messages */
    bool event_mode;             /* use event mode if the FMU has it (3.0 CS); Model Exchange always does */
    bool early_return;           /* allow it to return early (3.0) */
    /* it runs in a separate process, whose forks are its saved states (fmu/process/forked.h) */
    bool forked;
    bool
        rejects; /* FMI 1.0: goes back by rejecting its last step, if it can (canRejectSteps); saved states are marks */
    /* Variables of an intermediate update, and who is called (3.0); both borrowed for the instance's life. */
    const uint32_t *intermediate;
    size_t intermediate_count;
    enum tutti_err (*intermediate_update)(void *context, struct tt_instance *instance,
                                          struct tt_intermediate_update *update);
    void *intermediate_context;
    /* Scheduled Execution: the FMU is in clock update mode, inside a partition. An error here is the partition's. */
    enum tutti_err (*clock_update)(void *context, struct tt_instance *instance);
    void *clock_context;
};

struct tt_experiment_setup {
    double start, stop, tolerance;
    bool has_stop, has_tolerance;
};

/* How a do-step ended; a short step is a result, not an error. */
struct tt_fmi_step {
    double reached; /* the FMU's time now: t if it was discarded (3.0), the last successful time (1.0, 2.0) */
    bool discarded; /* the FMU rejected or abandoned the step */
    bool can_retry; /* its state is unchanged at t, so that a shorter step may be tried */
    bool early;     /* it came back before the end on its own account (3.0) */
    bool event;     /* event mode must be entered at `reached` (3.0) */
    bool terminate; /* the FMU asks for the end of the simulation */
};

/* The result of one update of the discrete states. */
struct tt_discrete_update {
    bool again, terminate, nominals_changed, states_changed, has_next_event;
    double next_event;
};

/* Data that processes of different platforms exchange (fmu/process/shared_area.h). */
_Static_assert(offsetof(struct tt_intermediate_update, return_at) == 16 &&
                   offsetof(struct tt_discrete_update, next_event) == 8 &&
                   offsetof(struct tt_experiment_setup, has_stop) == 24 && offsetof(struct tt_fmi_step, discarded) == 8,
               "the same for 32 and 64 bits");

/* A saved FMU state, with where the instance stood. Zeroed is none. */
struct tt_saved_state {
    void *handle;
    unsigned long steps; /* that were made by then, of an instance that rejects steps */
    enum tt_fmi_state state;
    double time;
};

struct tt_library;

/* As in FMI 1.0 and 2.0; 3.0 has no PENDING. */
enum tt_fmi_status {
    TUTTI_STATUS_OK,
    TUTTI_STATUS_WARNING,
    TUTTI_STATUS_DISCARD,
    TUTTI_STATUS_ERROR,
    TUTTI_STATUS_FATAL,
    TUTTI_STATUS_PENDING,
    /* Not the FMU's: */
    TUTTI_STATUS_MEMORY, /* a binding has no memory for a conversion */
    TUTTI_STATUS_LOST,   /* the process that the FMU lives in has ended in the call (forked/) */
    TUTTI_STATUS_UNFIT   /* the process has state that a fork does not restore */
};

/* One function of a version's list. */
struct tt_symbol {
    const char *name;
    unsigned group;
};

/* A capability and the functions that it takes. */
struct tt_optional {
    const char *name; /* the description's word for it; NULL ends the list */
    uint32_t can;
    unsigned group;
};

struct tt_binding {
    int fmi;
    const char *version;             /* "2.0" */
    const struct tt_symbol *symbols; /* in the order of library->functions */
    size_t symbol_count;
    bool prefixed; /* symbols carry the model identifier (1.0) */
    /* Groups of functions that the interface needs; those of each optional capability. */
    unsigned required[TUTTI_INTERFACE_COUNT];
    const struct tt_optional *optional;
    /* Names of the functions of each call, for messages; the type's word goes after those of SET and GET. */
    const char *const *call_names[TUTTI_INTERFACE_COUNT];
    /* Names of the functions of each call, for messages; the type is appended to those of SET and GET. */
    const char *(*type_word)(enum tt_type type);
    uint32_t types; /* bit t: it has type t */

    const char *(*get_version)(const struct tt_library *library); /* NULL slot or result: unknown */
    void *(*instantiate)(struct tt_instance *instance);
    void (*free)(struct tt_instance *instance);
    /* Switches categories (none given: all) on or off. NULL: the version has no categories. */
    enum tt_fmi_status (*set_debug_logging)(struct tt_instance *instance, bool on, size_t count,
                                            const char *const *categories);
    enum tt_fmi_status (*enter_configuration)(struct tt_instance *instance);
    enum tt_fmi_status (*exit_configuration)(struct tt_instance *instance);
    enum tt_fmi_status (*setup_experiment)(struct tt_instance *instance);
    enum tt_fmi_status (*enter_initialization)(struct tt_instance *instance);
    enum tt_fmi_status (*exit_initialization)(struct tt_instance *instance);
    enum tt_fmi_status (*set)(struct tt_instance *instance, enum tt_type type, const uint32_t *references, size_t count,
                              const void *values, size_t value_count);
    enum tt_fmi_status (*get)(struct tt_instance *instance, enum tt_type type, const uint32_t *references, size_t count,
                              void *values, size_t value_count);
    enum tt_fmi_status (*set_input_derivatives)(struct tt_instance *instance, const uint32_t *references, size_t count,
                                                const int32_t *orders, const double *values);
    enum tt_fmi_status (*get_output_derivatives)(struct tt_instance *instance, const uint32_t *references, size_t count,
                                                 const int32_t *orders, double *values);
    enum tt_fmi_status (*get_directional)(struct tt_instance *instance, const uint32_t *unknowns, size_t unknown_count,
                                          const uint32_t *knowns, size_t known_count, const double *seed,
                                          size_t seed_count, double *sensitivity, size_t sensitivity_count);
    /* As above for sensitivity = transposed d(unknowns)/d(knowns) * seed. NULL: unsupported by the version, or the FMU
     * is in a different process. */
    enum tt_fmi_status (*get_adjoint)(struct tt_instance *instance, const uint32_t *unknowns, size_t unknown_count,
                                      const uint32_t *knowns, size_t known_count, const double *seed, size_t seed_count,
                                      double *sensitivity, size_t sensitivity_count);
    /* Makes a step. `step` is preset for a step that ended at t + h; the call fills in deviations. Nothing may follow
     * the call into the FMU here, so that the compiler can make it a jump: see after_step. */
    enum tt_fmi_status (*do_step)(struct tt_instance *instance, double t, double h, bool no_going_back,
                                  struct tt_fmi_step *step);
    /* Called after a do-step that returned PENDING (waits for it) or DISCARD (queries how far it came); NULL: not
     * needed. */
    enum tt_fmi_status (*after_step)(struct tt_instance *instance, double t, enum tt_fmi_status status,
                                     struct tt_fmi_step *step);
    enum tt_fmi_status (*enter_event)(struct tt_instance *instance);
    /* *discrete contains the next event from the previous round, which stays unless this round replaces it; all other
     * fields are preset to false. */
    enum tt_fmi_status (*update_discrete)(struct tt_instance *instance, struct tt_discrete_update *discrete);
    enum tt_fmi_status (*enter_step)(struct tt_instance *instance);
    /* Clocks (3.0): one value per reference. An interval or shift is that of one clock; timing->fraction is its form. */
    enum tt_fmi_status (*set_clocks)(struct tt_instance *instance, const uint32_t *references, size_t count,
                                     const bool *values);
    enum tt_fmi_status (*get_clocks)(struct tt_instance *instance, const uint32_t *references, size_t count,
                                     bool *values);
    enum tt_fmi_status (*get_interval)(struct tt_instance *instance, uint32_t reference,
                                       struct tt_clock_timing *timing);
    enum tt_fmi_status (*get_shift)(struct tt_instance *instance, uint32_t reference, struct tt_clock_timing *timing);
    enum tt_fmi_status (*set_interval)(struct tt_instance *instance, uint32_t reference,
                                       const struct tt_clock_timing *timing);
    /* Scheduled Execution: the partition of an input clock. */
    enum tt_fmi_status (*activate)(struct tt_instance *instance, uint32_t reference, double t);
    enum tt_fmi_status (*get_state)(struct tt_instance *instance, void **handle);
    enum tt_fmi_status (*set_state)(struct tt_instance *instance, void *handle);
    enum tt_fmi_status (*free_state)(struct tt_instance *instance, void **handle);
    enum tt_fmi_status (*serialized_size)(struct tt_instance *instance, void *handle, size_t *size);
    enum tt_fmi_status (*serialize)(struct tt_instance *instance, void *handle, unsigned char *bytes, size_t size);
    enum tt_fmi_status (*deserialize)(struct tt_instance *instance, const unsigned char *bytes, size_t size,
                                      void **handle);
    enum tt_fmi_status (*terminate)(struct tt_instance *instance);
    enum tt_fmi_status (*reset)(struct tt_instance *instance);

    /* Model Exchange. Counts are never 0, except in count_states. */
    /* Replaces numbers from the description by those that the FMU reports. NULL: the version has no such calls. */
    enum tt_fmi_status (*count_states)(struct tt_instance *instance, size_t *states, size_t *indicators);
    enum tt_fmi_status (*set_time)(struct tt_instance *instance, double t);
    enum tt_fmi_status (*set_states)(struct tt_instance *instance, const double *states, size_t count);
    enum tt_fmi_status (*get_states)(struct tt_instance *instance, double *states, size_t count);
    enum tt_fmi_status (*get_derivatives)(struct tt_instance *instance, double *derivatives, size_t count);
    enum tt_fmi_status (*get_indicators)(struct tt_instance *instance, double *indicators, size_t count);
    enum tt_fmi_status (*get_nominals)(struct tt_instance *instance, double *nominals, size_t count);
    enum tt_fmi_status (*get_state_references)(struct tt_instance *instance, uint32_t *references, size_t count);
    /* *event and *terminate are false before. */
    enum tt_fmi_status (*completed_step)(struct tt_instance *instance, bool no_going_back, bool *event,
                                         bool *terminate);
    enum tt_fmi_status (*enter_continuous)(struct tt_instance *instance);
};

extern const struct tt_binding tt_fmi1_cs_binding, tt_fmi1_me_binding, tt_fmi2_binding, tt_fmi3_binding;

#endif
