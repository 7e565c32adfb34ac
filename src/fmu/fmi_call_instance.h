/* SPDX-License-Identifier: MIT */
/* fmi_call_instance.h - the inside of an instance, for the files of src/fmu that call the FMU or receive its callbacks. */
#ifndef TT_FMU_FMI_CALL_INSTANCE_H
#define TT_FMU_FMI_CALL_INSTANCE_H

#include <pthread.h>
#include <stdarg.h>

#include "fmu/description/type.h"
#include "fmu/binding.h"
#include "fmu/binary/library.h"
#include "fmu/fmi_state.h"

enum { TUTTI_MESSAGES_KEPT = 6, TUTTI_MESSAGE_SIZE = 512 };

struct tt_message_texts {
    char kept[TUTTI_MESSAGES_KEPT][TUTTI_MESSAGE_SIZE]; /* a ring of the last ones */
    /* Errors reported during the present call, part of its message if it fails. Only the calling thread accesses them. */
    char deferred[TUTTI_MESSAGES_KEPT][TUTTI_MESSAGE_SIZE];
};

/* Messages of the FMU, written by any thread from which it makes callbacks. */
struct tt_messages {
    pthread_mutex_t lock;
    unsigned long count;            /* ever */
    unsigned long passed, dropped;  /* to the log, not to the log */
    struct tt_message_texts *texts; /* allocated for the first message: most of thousands of instances have none */
};

struct tt_instance_clocks; /* instance_clocks_header.h */

/* Fields that every call uses come first, so that many instances fit into the caches; rare data is elsewhere. */
struct tt_instance {
    struct tt_library *library;
    void *component; /* the FMU's own */
    double time;
    enum tt_fmi_state state;
    enum tt_fmi_call call; /* the last one made, for messages and crash reports */
    enum tt_type call_type;
    unsigned deferred; /* number of texts in messages.texts->deferred that are not yet reported */
    unsigned calls;    /* number of calls begun, except those that publish their time themselves (batched_call.h) */
    bool refused;      /* the last call ended with an Error that did not end all: `refusal` */
    bool narrow;       /* the FMU has Float32 variables (instance.c) */
    const struct tt_binding *binding;
    void *const *functions;  /* library->functions, one load nearer */
    const uint16_t *allowed; /* the state machine of version and interface (fmi_state.h) */
    struct tt_experiment_setup setup;
    struct tt_instance_options options; /* name points to a copy */
    bool event_mode;
    bool logging_on;         /* the logging state set in the FMU */
    const char **categories; /* the log categories about the outcome of calls; owned array */
    size_t category_count;
    bool modes_told;               /* that it leaves floating-point modes changed (fmi_call.h) */
    enum tutti_err callback_error; /* of an intermediate update; a do-step must not hide it */
    unsigned long warnings;
    /* The next event, from the rounds of the present event mode: some FMUs report it in the first round only. */
    bool has_next_event;
    double next_event;
    /* FMI 1.0, options.rejects: steps that were made and stand; the next one is the last one again. */
    unsigned long steps;
    bool repeats;
    char *refusal; /* the last Error that did not end all (tt_fmi_call_set_refused), as a sentence; owned */
    struct tt_messages messages;
    union {
        char callbacks[64]; /* FMI 2.0 keeps a pointer to its callback structure */
        struct {
            struct tt_discrete_update discrete; /* FMI 1.0 ME: the events that the initialisation reported */
            bool pending;                       /* `discrete` was not yet returned to the caller */
            bool outdated;                      /* values were set since */
        } initial;
    };
    struct tt_instance *next;     /* of those that are dead, or idle */
    struct tt_instance *in_chain; /* the next one there (fmu_callbacks.c) */
    uint32_t can; /* TUTTI_CAN_*: the library's, but for saved states of one that is taken back by forking */
    struct tt_instance_clocks *clocks; /* owned; NULL: it has none */
    struct tt_forked *forked;          /* the process in which the FMU runs (fmu/process/); NULL: this process */
    /* In that process: receives the FMU's messages instead of tt_fmu_callbacks_message. NULL elsewhere. */
    void (*relay)(struct tt_instance *instance, enum tt_fmi_status status, const char *category, const char *text);
    void *scratch; /* for types that a version lays out in its own way; grows, never shrinks */
    size_t scratch_size;
};

/* Returns the instance that this thread is calling, or NULL. For callbacks of FMI 1.0, which do not name an instance. */
struct tt_instance *tt_fmi_call_current_instance(void);

/* Takes a message of the FMU: keeps it for error reports, and hands it to the log unless it repeats itself or floods.
 * Any text may be NULL or broken. */
void tt_fmu_callbacks_message(struct tt_instance *instance, enum tt_fmi_status status, const char *category,
                              const char *text);

/* As above from the callback of FMI 1.0 and 2.0, for the instance of `environment` (fmu_callbacks.h). */
void tt_fmu_callbacks_format_message(const void *environment, enum tt_fmi_status status, const char *category,
                                     const char *format, va_list args) TUTTI_PRINTF(4, 0);

/* In a do-step: the FMU is in an intermediate update (3.0), and may set update->return_early. An error here is kept for
 * the end of the step, and the FMU is requested to return early. */
void tt_instance_intermediate(struct tt_instance *instance, struct tt_intermediate_update *update);

/* Says that the FMU's library lacks the function that is being called; ERROR. */
enum tt_fmi_status tt_fmu_callbacks_fail_missing(struct tt_instance *instance);

/* Calls a function of the table `functions(in)` on the component, or reports that the FMU lacks it. */
#define CALL_FMU(functions, in, function, ...)                                                                         \
    (functions(in)->function ? (enum tt_fmi_status)functions(in)->function((in)->component, ##__VA_ARGS__)             \
                             : tt_fmu_callbacks_fail_missing(in))

/* Logs the errors that were reported during a call that then succeeded. */
void tt_fmu_callbacks_log_deferred(struct tt_instance *instance);

/* At least `size` bytes of scratch, or NULL. */
void *tt_instance_scratch(struct tt_instance *instance, size_t size);

#endif
