/* SPDX-License-Identifier: MIT */
/* binding.h - what differs between FMI versions, behind one vtable.
 *
 * A version is one file (fmi1.c, fmi2.c, fmi3.c) that exports one const struct for both interfaces, Co-Simulation (CS)
 * and Model Exchange (ME); FMI 1.0, whose interfaces are two standards, exports two. The functions call the FMU once,
 * convert types, and return the FMU's status; states, messages and errors are instance.c's. A slot that the version or
 * interface does not have is NULL, and the state machine never lets a call come that far. */
#ifndef TUTTI_FMI_BINDING_H
#define TUTTI_FMI_BINDING_H

#include <pthread.h>

#include "fmi/instance.h"
#include "fmi/state.h"

/* As in FMI 1.0 and 2.0; 3.0 has no PENDING. */
enum tutti_status {
    TUTTI_STATUS_OK,
    TUTTI_STATUS_WARNING,
    TUTTI_STATUS_DISCARD,
    TUTTI_STATUS_ERROR,
    TUTTI_STATUS_FATAL,
    TUTTI_STATUS_PENDING,
    TUTTI_STATUS_MEMORY /* not the FMU's: a binding has no memory for a conversion */
};

enum { TUTTI_MESSAGES_KEPT = 6, TUTTI_MESSAGE_SIZE = 512 };

struct tutti_message_texts {
    char kept[TUTTI_MESSAGES_KEPT][TUTTI_MESSAGE_SIZE]; /* a ring of the last ones */
    /* Errors told during the present call: they are part of its message if it fails. Only its own thread is here. */
    char deferred[TUTTI_MESSAGES_KEPT][TUTTI_MESSAGE_SIZE];
};

/* What the FMU said; written from whatever thread the FMU calls back on. */
struct tutti_messages {
    pthread_mutex_t lock;
    unsigned long count;               /* ever */
    unsigned long passed, dropped;     /* to the log, not to the log */
    struct tutti_message_texts *texts; /* made for the first message: of thousands of instances most say nothing */
};

/* What every call touches comes first, so that many instances fit into the caches; what few do is elsewhere. */
struct tutti_instance {
    const struct tutti_binding *binding;
    struct tutti_library *library;
    void *component;         /* the FMU's own */
    void *const *functions;  /* library->functions, one load nearer */
    const uint16_t *allowed; /* the state machine of version and interface (state.h) */
    enum tutti_state state;
    enum tutti_call call; /* the last one made, for messages and crash reports */
    enum tutti_type call_type;
    double time;
    unsigned deferred; /* messages.texts->deferred that are not told yet */
    struct tutti_experiment_setup setup;
    struct tutti_instance_options options; /* name points to a copy */
    bool event_mode;
    bool logging_on;               /* as the FMU was told */
    enum tutti_err callback_error; /* of an intermediate update; a do-step must not hide it */
    unsigned long warnings;
    /* The next event, as the rounds of the present event mode said it: some FMUs do so in the first one only. */
    bool has_next_event;
    double next_event;
    char *refusal; /* the last Error that did not end all (tutti_call_refused), as a sentence; owned */
    bool refused;  /* ... was the end of the last call */
    struct tutti_messages messages;
    union {
        char callbacks[64]; /* FMI 2.0 keeps a pointer to its callback structure */
        struct {
            struct tutti_discrete discrete; /* FMI 1.0 ME: what the initialisation said about events ... */
            bool pending;                   /* ... and nobody was told */
            bool outdated;                  /* values were set since */
        } initial;
    };
    struct tutti_instance *next_dead;
    void *scratch; /* for types that a version lays out in its own way; grows, never shrinks */
    size_t scratch_size;
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
    /* Groups of functions that the interface needs; those behind each optional capability. */
    unsigned required[TUTTI_INTERFACE_COUNT];
    const struct tutti_optional *optional;
    /* Names of the functions behind each call, for messages; the type's word goes behind those of SET and GET. */
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

/* The instance whose call this thread is in, or NULL. For callbacks of FMI 1.0, which name nobody. */
struct tutti_instance *tutti_instance_current(void);

/* Takes a message of the FMU: keeps it for error reports, and hands it to the log unless it repeats itself or floods.
 * Any text may be NULL or broken. */
void tutti_instance_message(struct tutti_instance *instance, enum tutti_status status, const char *category,
                            const char *text);

/* Says that the FMU's library lacks the function that is being called; ERROR. */
enum tutti_status tutti_instance_missing(struct tutti_instance *instance);

/* In a binding, with `fmu(in)` the table of functions: calls one of them on the component, or says that it is missing. */
#define CALL_FMU(in, function, ...)                                                                                    \
    (fmu(in)->function ? (enum tutti_status)fmu(in)->function((in)->component, ##__VA_ARGS__)                          \
                       : tutti_instance_missing(in))

/* Logs the errors that were told during a call which then succeeded. */
void tutti_instance_log_deferred(struct tutti_instance *instance);

/* At least `size` bytes of scratch, or NULL. */
void *tutti_instance_scratch(struct tutti_instance *instance, size_t size);

#endif
