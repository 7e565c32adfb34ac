/* SPDX-License-Identifier: MIT */
/* binding.h - what differs between FMI versions, as one vtable.
 *
 * A version is one file (fmi1.c, fmi2.c, fmi3.c) that exports one const struct for its interfaces, Co-Simulation (CS),
 * Model Exchange (ME) and Scheduled Execution (SE); FMI 1.0, whose interfaces are two standards, exports two. The functions call the FMU once,
 * convert types, and return the FMU's status; states, messages and errors are instance.c's. A slot that the version or
 * interface does not have is NULL, and the state machine never lets a call come that far. */
#ifndef TUTTI_FMI_BINDING_H
#define TUTTI_FMI_BINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "description/desc.h"
#include "fmi/arguments.h"

struct tutti_library;

/* As in FMI 1.0 and 2.0; 3.0 has no PENDING. */
enum tutti_status {
    TUTTI_STATUS_OK,
    TUTTI_STATUS_WARNING,
    TUTTI_STATUS_DISCARD,
    TUTTI_STATUS_ERROR,
    TUTTI_STATUS_FATAL,
    TUTTI_STATUS_PENDING,
    /* Not the FMU's: */
    TUTTI_STATUS_MEMORY, /* a binding has no memory for a conversion */
    TUTTI_STATUS_LOST,   /* the process that the FMU lives in has ended in the call (forked/) */
    TUTTI_STATUS_UNFIT   /* ... has what a fork does not bring back */
};

/* One function of a version's list. */
struct tutti_symbol {
    const char *name;
    unsigned group;
};

/* A capability and the functions that it takes. */
struct tutti_optional {
    const char *name; /* the description's word for it; NULL ends the list */
    uint32_t can;
    unsigned group;
};

struct tutti_binding {
    int fmi;
    const char *version;                /* "2.0" */
    const struct tutti_symbol *symbols; /* in the order of library->functions */
    size_t symbol_count;
    bool prefixed; /* symbols carry the model identifier (1.0) */
    /* Groups of functions that the interface needs; those of each optional capability. */
    unsigned required[TUTTI_INTERFACE_COUNT];
    const struct tutti_optional *optional;
    /* Names of the functions of each call, for messages; the type's word goes after those of SET and GET. */
    const char *const *call_names[TUTTI_INTERFACE_COUNT];
    const char *(*type_word)(
        enum tutti_type type); /* in names of functions; NULL: the version does not have the type */
    uint32_t types;            /* bit t: it has type t */

    const char *(*get_version)(const struct tutti_library *library); /* NULL slot or result: unknown */
    void *(*instantiate)(struct tutti_instance *instance);
    void (*free)(struct tutti_instance *instance);
    /* Switches categories (none given: all) on or off. NULL: the version has no categories. */
    enum tutti_status (*set_debug_logging)(struct tutti_instance *instance, bool on, size_t count,
                                           const char *const *categories);
    enum tutti_status (*enter_configuration)(struct tutti_instance *instance);
    enum tutti_status (*exit_configuration)(struct tutti_instance *instance);
    enum tutti_status (*setup_experiment)(struct tutti_instance *instance);
    enum tutti_status (*enter_initialization)(struct tutti_instance *instance);
    enum tutti_status (*exit_initialization)(struct tutti_instance *instance);
    enum tutti_status (*set)(struct tutti_instance *instance, enum tutti_type type, const uint32_t *references,
                             size_t count, const void *values, size_t value_count);
    enum tutti_status (*get)(struct tutti_instance *instance, enum tutti_type type, const uint32_t *references,
                             size_t count, void *values, size_t value_count);
    enum tutti_status (*set_input_derivatives)(struct tutti_instance *instance, const uint32_t *references,
                                               size_t count, const int32_t *orders, const double *values);
    enum tutti_status (*get_output_derivatives)(struct tutti_instance *instance, const uint32_t *references,
                                                size_t count, const int32_t *orders, double *values);
    enum tutti_status (*get_directional)(struct tutti_instance *instance, const uint32_t *unknowns,
                                         size_t unknown_count, const uint32_t *knowns, size_t known_count,
                                         const double *seed, size_t seed_count, double *sensitivity,
                                         size_t sensitivity_count);
    /* The same for sensitivity = transposed d(unknowns)/d(knowns) * seed. NULL: the version has none, or the FMU is in another process. */
    enum tutti_status (*get_adjoint)(struct tutti_instance *instance, const uint32_t *unknowns, size_t unknown_count,
                                     const uint32_t *knowns, size_t known_count, const double *seed, size_t seed_count,
                                     double *sensitivity, size_t sensitivity_count);
    /* `step` is filled in for a step that ended at t + h; whatever else the call itself says goes there. Nothing may
     * follow the call into the FMU here (the compiler makes a jump of it): see after_step. */
    enum tutti_status (*do_step)(struct tutti_instance *instance, double t, double h, bool no_going_back,
                                 struct tutti_step *step);
    /* After a do-step that returned PENDING (waits for it) or DISCARD (asks how far it came); NULL: nothing to ask. */
    enum tutti_status (*after_step)(struct tutti_instance *instance, double t, enum tutti_status status,
                                    struct tutti_step *step);
    enum tutti_status (*enter_event)(struct tutti_instance *instance);
    /* *discrete holds the next event as the round before said it, which stays unless this one says otherwise; the rest
     * is false before. */
    enum tutti_status (*update_discrete)(struct tutti_instance *instance, struct tutti_discrete *discrete);
    enum tutti_status (*enter_step)(struct tutti_instance *instance);
    /* Clocks (3.0): one value per reference. An interval or shift is that of one clock; timing->fraction says how it is told. */
    enum tutti_status (*set_clocks)(struct tutti_instance *instance, const uint32_t *references, size_t count,
                                    const bool *values);
    enum tutti_status (*get_clocks)(struct tutti_instance *instance, const uint32_t *references, size_t count,
                                    bool *values);
    enum tutti_status (*get_interval)(struct tutti_instance *instance, uint32_t reference, struct tutti_timing *timing);
    enum tutti_status (*get_shift)(struct tutti_instance *instance, uint32_t reference, struct tutti_timing *timing);
    enum tutti_status (*set_interval)(struct tutti_instance *instance, uint32_t reference,
                                      const struct tutti_timing *timing);
    /* Scheduled Execution: the partition of an input clock. */
    enum tutti_status (*activate)(struct tutti_instance *instance, uint32_t reference, double t);
    enum tutti_status (*get_state)(struct tutti_instance *instance, void **handle);
    enum tutti_status (*set_state)(struct tutti_instance *instance, void *handle);
    enum tutti_status (*free_state)(struct tutti_instance *instance, void **handle);
    enum tutti_status (*serialized_size)(struct tutti_instance *instance, void *handle, size_t *size);
    enum tutti_status (*serialize)(struct tutti_instance *instance, void *handle, unsigned char *bytes, size_t size);
    enum tutti_status (*deserialize)(struct tutti_instance *instance, const unsigned char *bytes, size_t size,
                                     void **handle);
    enum tutti_status (*terminate)(struct tutti_instance *instance);
    enum tutti_status (*reset)(struct tutti_instance *instance);

    /* Model Exchange. Counts are never 0, except in count_states. */
    /* Overwrites numbers that come from the description with the FMU's own. NULL: there are no others. */
    enum tutti_status (*count_states)(struct tutti_instance *instance, size_t *states, size_t *indicators);
    enum tutti_status (*set_time)(struct tutti_instance *instance, double t);
    enum tutti_status (*set_states)(struct tutti_instance *instance, const double *states, size_t count);
    enum tutti_status (*get_states)(struct tutti_instance *instance, double *states, size_t count);
    enum tutti_status (*get_derivatives)(struct tutti_instance *instance, double *derivatives, size_t count);
    enum tutti_status (*get_indicators)(struct tutti_instance *instance, double *indicators, size_t count);
    enum tutti_status (*get_nominals)(struct tutti_instance *instance, double *nominals, size_t count);
    enum tutti_status (*get_state_references)(struct tutti_instance *instance, uint32_t *references, size_t count);
    /* *event and *terminate are false before. */
    enum tutti_status (*completed_step)(struct tutti_instance *instance, bool no_going_back, bool *event,
                                        bool *terminate);
    enum tutti_status (*enter_continuous)(struct tutti_instance *instance);
};

extern const struct tutti_binding tutti_binding_fmi1_cs, tutti_binding_fmi1_me, tutti_binding_fmi2, tutti_binding_fmi3;

#endif
