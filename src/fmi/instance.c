/* SPDX-License-Identifier: MIT */
#include "fmi/instance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/str.h"
#include "base/time.h"
#include "fmi/binding.h"

/* Which instance this thread is calling; initial-exec because it is written at every FMI call. */
static _Thread_local struct tutti_instance *current __attribute__((tls_model("initial-exec")));

/* Instances of FMUs that were Fatal; never freed. */
static _Atomic(struct tutti_instance *) dead;

struct tutti_instance *tutti_instance_current(void)
{
    return current;
}

/* The FMI function behind a call ("fmi3GetFloat64"). */
static void call_name(const struct tutti_instance *in, char *out, size_t size)
{
    const char *name = in->binding->call_names[in->call];
    const char *word = in->binding->type_word(in->call_type);
    if (in->call == TUTTI_CALL_SET || in->call == TUTTI_CALL_GET)
        snprintf(out, size, "%s%s", name, word ? word : "");
    else
        snprintf(out, size, "%s", name ? name : tutti_call_word(in->call));
}

/* " at t = 0.5", or nothing before the initialisation, when there is no time. */
struct when {
    char text[TUTTI_NUMBER_MAX + 16];
};

static struct when when(const struct tutti_instance *in)
{
    struct when when = {""};
    if (!isnan(in->time))
        snprintf(when.text, sizeof when.text, " at t = %s", NUMBER(in->time));
    return when;
}

static enum tutti_err forbidden(const struct tutti_instance *in, enum tutti_call call)
{
    return tutti_fail(TUTTI_ERR_STATE,
                      "%s: FMI %s does not allow to %s in the state \"%s\"%s; this is a fault in the program that "
                      "drives the FMU",
                      in->options.name, in->binding->version, tutti_call_word(call), tutti_state_name(in->state),
                      when(in).text);
}

static inline bool may(const struct tutti_instance *in, enum tutti_call call)
{
    return !in->library->fatal && tutti_state_allows(in->binding->fmi, call, in->state);
}

/* Before every call into the FMU: may it be made (I1 to I12), and which one is it. */
static inline enum tutti_err begin(struct tutti_instance *in, enum tutti_call call)
{
    if (__builtin_expect(!may(in, call), 0))
        return forbidden(in, call);
    in->call = call;
    return TUTTI_OK;
}

/* Around every call into the FMU: callbacks and crash reports learn whose call it is. */
static inline struct tutti_instance *enter(struct tutti_instance *in)
{
    struct tutti_instance *outer = current;
    current = in;
    return outer;
}

static inline void leave(struct tutti_instance *outer)
{
    current = outer;
}

/* The end of an error message: what the FMU said last. */
static void append_messages(struct tutti_instance *in, struct tutti_text *text)
{
    struct tutti_messages *messages = &in->messages;
    pthread_mutex_lock(&messages->lock);
    unsigned long first = messages->count > TUTTI_MESSAGES_KEPT ? messages->count - TUTTI_MESSAGES_KEPT : 0;
    tutti_text_append(text, messages->count ? ". The FMU's last messages: " : ". The FMU gave no message");
    for (unsigned long i = first; i < messages->count; i++)
        tutti_text_printf(text, "%s\"%s\"", i > first ? ", " : "", messages->text[i % TUTTI_MESSAGES_KEPT]);
    pthread_mutex_unlock(&messages->lock);
}

static enum tutti_err fail_call(struct tutti_instance *in, enum tutti_err err, const char *what)
{
    char name[64];
    call_name(in, name, sizeof name);
    struct tutti_text text = {0};
    append_messages(in, &text);
    in->messages.deferred = 0; /* they are in the message */
    tutti_fail(err, "%s (%s): %s %s%s%s", in->options.name, in->library->file, name, what, when(in).text,
               text.text ? text.text : "");
    tutti_text_fini(&text);
    return err;
}

static void warn_once(struct tutti_instance *in)
{
    if (in->warnings++ > 0)
        return;
    char name[64];
    call_name(in, name, sizeof name);
    tutti_log_printf(in->options.log, TUTTI_LOG_WARNING, in->options.name,
                     "%s returned Warning%s; going on (further warnings are counted, not shown)", name, when(in).text);
}

/* I2: after Fatal no function of the FMU is called any more, for any instance, and the library stays loaded. */
static void bury(struct tutti_instance *in)
{
    in->state = TUTTI_STATE_FATAL;
    in->library->fatal = true;
}

/* Every status that is not OK. */
static enum tutti_err conclude_unusual(struct tutti_instance *in, enum tutti_call call, enum tutti_status status)
{
    switch (status) {
    case TUTTI_STATUS_OK:
    case TUTTI_STATUS_WARNING:
        warn_once(in);
        tutti_instance_log_deferred(in);
        in->state = tutti_state_after(call, in->state, in->event_mode);
        return TUTTI_OK;
    case TUTTI_STATUS_DISCARD:
        return fail_call(in, TUTTI_ERR_FMU, "returned Discard: the FMU cannot compute these values");
    case TUTTI_STATUS_MEMORY: return tutti_fail_memory();
    case TUTTI_STATUS_PENDING:
        in->state = TUTTI_STATE_ERROR;
        return fail_call(in, TUTTI_ERR_FMU, "returned Pending, which only a do-step may");
    case TUTTI_STATUS_FATAL: bury(in); return fail_call(in, TUTTI_ERR_FATAL, "returned Fatal");
    case TUTTI_STATUS_ERROR:
    default:
        in->state = TUTTI_STATE_ERROR;
        return fail_call(in, TUTTI_ERR_FMU,
                         status == TUTTI_STATUS_ERROR ? "returned Error" : "returned an unknown status");
    }
}

static inline enum tutti_err conclude(struct tutti_instance *in, enum tutti_call call, enum tutti_status status)
{
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return conclude_unusual(in, call, status);
    if (__builtin_expect(in->messages.deferred != 0, 0))
        tutti_instance_log_deferred(in);
    in->state = tutti_state_after(call, in->state, in->event_mode);
    return TUTTI_OK;
}

/* Calls a slot of the binding, by the rules of the state machine. */
#define CALL(in, call, slot, ...)                                                                                      \
    do {                                                                                                               \
        TRY(begin(in, call));                                                                                          \
        struct tutti_instance *outer_ = enter(in);                                                                     \
        enum tutti_status status_ = (in)->binding->slot(__VA_ARGS__);                                                  \
        leave(outer_);                                                                                                 \
        TRY(conclude(in, call, status_));                                                                              \
    } while (0)

/* Once-per-process FMUs: counted per library, so that the second instance gets a sentence instead of a crash. */
static enum tutti_err claim(struct tutti_library *library, const char *name)
{
    int before = atomic_fetch_add(&library->instances, 1);
    if (before == 0 || !(library->interface->flags & TUTTI_ONCE_PER_PROCESS))
        return TUTTI_OK;
    atomic_fetch_sub(&library->instances, 1);
    return tutti_fail(TUTTI_ERR_UNSUPPORTED,
                      "%s: %s can be instantiated only once per process (canBeInstantiatedOnlyOncePerProcess), and "
                      "another instance of it is alive",
                      name, library->file);
}

/* Log categories that tell how a call went, "logStatusError" and the like. */
static bool tells_status(const char *category)
{
    static const char *const words[] = {"warning", "discard", "error", "fatal"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(category, words[i]))
            return true;
    return false;
}

static size_t status_categories(const struct tutti_desc *desc, const char **out)
{
    size_t count = 0;
    for (uint32_t i = 0; i < desc->log_category_count; i++)
        if (tells_status(desc->log_categories[i])) {
            if (out)
                out[count] = desc->log_categories[i];
            count++;
        }
    return count;
}

/* Why a call failed is always wanted; debug messages only on demand. FMI 3.0 has one switch for both, so it is on, and
 * where categories tell them apart, the others are switched off again. An FMU may refuse that without harm. */
static enum tutti_err choose_categories(struct tutti_instance *in)
{
    size_t count = status_categories(in->library->desc, NULL);
    if (in->options.logging_on || !in->logging_on || count == 0 || !in->binding->set_debug_logging)
        return TUTTI_OK;
    const char **categories = calloc(count, sizeof *categories);
    if (!categories)
        return tutti_fail_memory();
    status_categories(in->library->desc, categories);
    in->call = TUTTI_CALL_SET_DEBUG_LOGGING;
    struct tutti_instance *outer = enter(in);
    enum tutti_status status = in->binding->set_debug_logging(in, false, 0, NULL);
    if (status <= TUTTI_STATUS_WARNING)
        status = in->binding->set_debug_logging(in, true, count, categories);
    leave(outer);
    free(categories);
    return status == TUTTI_STATUS_FATAL ? conclude(in, TUTTI_CALL_SET_DEBUG_LOGGING, status) : TUTTI_OK;
}

static enum tutti_err instantiate(struct tutti_instance *in)
{
    TRY(begin(in, TUTTI_CALL_INSTANTIATE));
    struct tutti_instance *outer = enter(in);
    in->component = in->binding->instantiate(in);
    leave(outer);
    if (!in->component)
        return fail_call(in, TUTTI_ERR_FMU, "returned NULL: the FMU cannot be instantiated");
    in->state = TUTTI_STATE_INSTANTIATED;
    return choose_categories(in);
}

enum tutti_err tutti_instance_new(struct tutti_instance **out, struct tutti_library *library,
                                  const struct tutti_instance_options *options)
{
    *out = NULL;
    TRY(claim(library, options->name));
    struct tutti_instance *in = calloc(1, sizeof *in);
    char *name = tutti_str_copy(options->name);
    if (!in || !name) {
        free(in);
        free(name);
        atomic_fetch_sub(&library->instances, 1);
        return tutti_fail_memory();
    }
    in->binding = library->binding;
    in->library = library;
    in->functions = library->functions;
    in->options = *options;
    in->options.name = name;
    in->event_mode = options->event_mode && (library->can & TUTTI_CAN_EVENT_MODE);
    in->logging_on = options->logging_on || in->binding->fmi == 3 || status_categories(library->desc, NULL) > 0;
    in->time = NAN;
    pthread_mutex_init(&in->messages.lock, NULL);
    enum tutti_err err = instantiate(in);
    if (err) {
        tutti_instance_free(in);
        return err;
    }
    *out = in;
    return TUTTI_OK;
}

void tutti_instance_free(struct tutti_instance *in)
{
    if (!in)
        return;
    if (may(in, TUTTI_CALL_TERMINATE))
        if (tutti_instance_terminate(in) != TUTTI_OK)
            in->state = in->state == TUTTI_STATE_FATAL ? in->state : TUTTI_STATE_ERROR; /* nobody asked how it went */
    if (may(in, TUTTI_CALL_FREE)) {
        in->call = TUTTI_CALL_FREE;
        struct tutti_instance *outer = enter(in);
        in->binding->free(in);
        leave(outer);
    }
    atomic_fetch_sub(&in->library->instances, 1);
    if (in->library->fatal && in->component) {
        /* Threads of the FMU may still run and log: what they know of us stays. */
        in->next_dead = atomic_exchange(&dead, in);
        in->options.log = NULL;
        return;
    }
    pthread_mutex_destroy(&in->messages.lock);
    free((char *)in->options.name);
    free(in->scratch);
    free(in);
}

enum tutti_state tutti_instance_state(const struct tutti_instance *in)
{
    return in->state;
}

double tutti_instance_time(const struct tutti_instance *in)
{
    return in->time;
}

bool tutti_instance_uses_events(const struct tutti_instance *in)
{
    return in->event_mode;
}

unsigned long tutti_instance_warnings(const struct tutti_instance *in)
{
    return in->warnings;
}

unsigned long tutti_instance_dropped_messages(const struct tutti_instance *in)
{
    return in->messages.dropped;
}

enum tutti_err tutti_instance_enter_configuration(struct tutti_instance *in)
{
    CALL(in, TUTTI_CALL_ENTER_CONFIGURATION, enter_configuration, in);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_exit_configuration(struct tutti_instance *in)
{
    CALL(in, TUTTI_CALL_EXIT_CONFIGURATION, exit_configuration, in);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_enter_initialization(struct tutti_instance *in,
                                                   const struct tutti_experiment_setup *setup)
{
    in->setup = *setup;
    in->time = setup->start;
    if (in->binding->setup_experiment)
        CALL(in, TUTTI_CALL_SETUP_EXPERIMENT, setup_experiment, in);
    CALL(in, TUTTI_CALL_ENTER_INITIALIZATION, enter_initialization, in);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_exit_initialization(struct tutti_instance *in)
{
    CALL(in, TUTTI_CALL_EXIT_INITIALIZATION, exit_initialization, in);
    return TUTTI_OK;
}

static enum tutti_err lacks_type(const struct tutti_instance *in, enum tutti_call call, enum tutti_type type)
{
    return tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): FMI %s has no function to %s of type %s", in->options.name,
                      in->library->file, in->binding->version, tutti_call_word(call), tutti_type_name(type));
}

enum tutti_err tutti_instance_set(struct tutti_instance *in, enum tutti_type type, const uint32_t *references,
                                  size_t count, const void *values, size_t value_count)
{
    if (__builtin_expect(!(in->binding->types >> type & 1), 0))
        return lacks_type(in, TUTTI_CALL_SET, type);
    in->call_type = type;
    CALL(in, TUTTI_CALL_SET, set, in, type, references, count, values, value_count);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_get(struct tutti_instance *in, enum tutti_type type, const uint32_t *references,
                                  size_t count, void *values, size_t value_count)
{
    if (__builtin_expect(!(in->binding->types >> type & 1), 0))
        return lacks_type(in, TUTTI_CALL_GET, type);
    in->call_type = type;
    CALL(in, TUTTI_CALL_GET, get, in, type, references, count, values, value_count);
    return TUTTI_OK;
}

static enum tutti_err need(const struct tutti_instance *in, uint32_t can, const char *what)
{
    return in->library->can & can ? TUTTI_OK
                                  : tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): the FMU offers no %s", in->options.name,
                                               in->library->file, what);
}

enum tutti_err tutti_instance_set_input_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                                    const int32_t *orders, const double *values)
{
    TRY(need(in, TUTTI_CAN_INPUT_DERIVATIVES, "input derivatives (canInterpolateInputs)"));
    CALL(in, TUTTI_CALL_SET_INPUT_DERIVATIVES, set_input_derivatives, in, references, count, orders, values);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_get_output_derivatives(struct tutti_instance *in, const uint32_t *references,
                                                     size_t count, const int32_t *orders, double *values)
{
    if (in->library->interface->max_output_derivative_order == 0)
        return need(in, 0, "output derivatives (maxOutputDerivativeOrder is 0)");
    CALL(in, TUTTI_CALL_GET_OUTPUT_DERIVATIVES, get_output_derivatives, in, references, count, orders, values);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_get_directional(struct tutti_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                              const uint32_t *knowns, size_t known_count, const double *seed,
                                              double *sensitivity)
{
    TRY(need(in, TUTTI_CAN_DIRECTIONAL, "directional derivatives"));
    CALL(in, TUTTI_CALL_GET_DIRECTIONAL, get_directional, in, unknowns, unknown_count, knowns, known_count, seed,
         sensitivity);
    return TUTTI_OK;
}

/* A time that the FMU says it reached, within rounding of [t, end], is made to lie there; false if it is elsewhere. */
static bool clamp_reached(const struct tutti_instance *in, double t, double end, double *reached)
{
    double span = in->setup.stop - in->setup.start;
    if (tutti_time_same(*reached, t, span) || tutti_time_same(*reached, end, span))
        *reached = fmin(fmax(*reached, t), end);
    return *reached >= t && *reached <= end;
}

/* What a step says beyond OK: it ended early, at an event, or wants to be the last. Without any of these the
 * communication point is reached, however far the FMU's own clock is from it (a fixed internal step may not divide h).
 * FMUs that signal events nobody asked for are taken as they are. */
static enum tutti_err look_at_step(struct tutti_instance *in, double t, double end, struct tutti_step *step)
{
    step->event = step->event && in->event_mode;
    if (!step->early && !step->event && !step->terminate)
        step->reached = end;
    double said = step->reached;
    if (clamp_reached(in, t, end, &step->reached))
        return TUTTI_OK;
    in->state = TUTTI_STATE_ERROR;
    return tutti_fail(TUTTI_ERR_FMU, "%s (%s): the FMU says that its step from t = %s to %s came to %s",
                      in->options.name, in->library->file, NUMBER(t), NUMBER(end), NUMBER(said));
}

/* A do-step that did not return OK. A discarded one of FMI 3.0 stands where it stood; 1.0 and 2.0 need a saved state
 * (I10). */
static enum tutti_err conclude_step(struct tutti_instance *in, double t, double end, enum tutti_status status,
                                    struct tutti_step *step)
{
    if (in->binding->after_step) {
        struct tutti_instance *outer = enter(in);
        status = in->binding->after_step(in, t, status, step);
        leave(outer);
    }
    if (status != TUTTI_STATUS_DISCARD) {
        if (status > TUTTI_STATUS_WARNING)
            return conclude(in, TUTTI_CALL_DO_STEP, status);
        TRY(look_at_step(in, t, end, step));
        in->time = step->reached;
        return conclude(in, TUTTI_CALL_DO_STEP, status);
    }
    in->messages.deferred = 0;
    if (in->binding->fmi == 3) {
        *step = (struct tutti_step){.reached = t, .discarded = true, .can_retry = true};
        return TUTTI_OK;
    }
    step->discarded = true;
    if (!clamp_reached(in, t, end, &step->reached))
        step->reached = t; /* it gave up anyway */
    in->state = TUTTI_STATE_DISCARDED;
    in->time = step->reached;
    return TUTTI_OK;
}

/* I6: a step starts where the one before ended. */
static enum tutti_err wrong_start(const struct tutti_instance *in, double t)
{
    return tutti_fail(TUTTI_ERR_STATE,
                      "%s: a step from t = %s, but the FMU is at %s; this is a fault in the program that "
                      "drives the FMU",
                      in->options.name, NUMBER(t), NUMBER(in->time));
}

enum tutti_err tutti_instance_do_step(struct tutti_instance *in, double t, double h, bool no_going_back,
                                      struct tutti_step *step)
{
    TRY(begin(in, TUTTI_CALL_DO_STEP));
    if (__builtin_expect(t != in->time, 0) && !tutti_time_same(t, in->time, in->setup.stop - in->setup.start))
        return wrong_start(in, t);
    double end = t + h;
    in->time = t;
    in->callback_error = TUTTI_OK;
    *step = (struct tutti_step){.reached = end};
    struct tutti_instance *outer = enter(in);
    enum tutti_status status = in->binding->do_step(in, t, h, no_going_back, step);
    leave(outer);
    if (__builtin_expect(in->callback_error != TUTTI_OK, 0)) {
        in->state = in->state == TUTTI_STATE_FATAL ? in->state : TUTTI_STATE_ERROR;
        return in->callback_error;
    }
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return conclude_step(in, t, end, status, step);
    if (__builtin_expect(step->early || step->event || step->terminate, 0))
        TRY(look_at_step(in, t, end, step));
    else
        step->reached = end;
    if (__builtin_expect(in->messages.deferred != 0, 0))
        tutti_instance_log_deferred(in);
    in->state = TUTTI_STATE_STEP;
    in->time = step->reached;
    return TUTTI_OK;
}

enum tutti_err tutti_instance_enter_event(struct tutti_instance *in)
{
    if (!in->event_mode) /* I8 */
        return forbidden(in, TUTTI_CALL_ENTER_EVENT);
    CALL(in, TUTTI_CALL_ENTER_EVENT, enter_event, in);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_update_discrete(struct tutti_instance *in, struct tutti_discrete *discrete)
{
    *discrete = (struct tutti_discrete){0};
    CALL(in, TUTTI_CALL_UPDATE_DISCRETE, update_discrete, in, discrete);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_enter_step(struct tutti_instance *in)
{
    CALL(in, TUTTI_CALL_ENTER_STEP, enter_step, in);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_save(struct tutti_instance *in, struct tutti_saved *saved)
{
    TRY(need(in, TUTTI_CAN_STATE, "saved states (canGetAndSetFMUstate)"));
    CALL(in, TUTTI_CALL_GET_STATE, get_state, in, &saved->handle);
    saved->state = in->state;
    saved->time = in->time;
    return TUTTI_OK;
}

enum tutti_err tutti_instance_restore(struct tutti_instance *in, const struct tutti_saved *saved)
{
    TRY(need(in, TUTTI_CAN_STATE, "saved states (canGetAndSetFMUstate)"));
    CALL(in, TUTTI_CALL_SET_STATE, set_state, in, saved->handle);
    in->state = saved->state;
    in->time = saved->time;
    return TUTTI_OK;
}

void tutti_instance_discard_saved(struct tutti_instance *in, struct tutti_saved *saved)
{
    if (saved->handle && may(in, TUTTI_CALL_FREE_STATE)) {
        in->call = TUTTI_CALL_FREE_STATE;
        struct tutti_instance *outer = enter(in);
        enum tutti_status status = in->binding->free_state(in, &saved->handle);
        leave(outer);
        if (status == TUTTI_STATUS_FATAL) /* what else went wrong with a state that nobody needs is not worth a word */
            bury(in);
    }
    *saved = (struct tutti_saved){0};
}

/* Ahead of the FMU's own bytes. */
struct saved_header {
    int32_t state, fmi;
    double time;
};

enum tutti_err tutti_instance_serialize(struct tutti_instance *in, const struct tutti_saved *saved,
                                        unsigned char **bytes, size_t *size)
{
    *bytes = NULL;
    TRY(need(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    size_t own = 0;
    CALL(in, TUTTI_CALL_SERIALIZE, serialized_size, in, saved->handle, &own);
    struct saved_header header = {(int32_t)saved->state, in->binding->fmi, saved->time};
    unsigned char *all = own < SIZE_MAX / 2 ? malloc(sizeof header + own) : NULL;
    if (!all)
        return tutti_fail_memory();
    memcpy(all, &header, sizeof header);
    struct tutti_instance *outer = enter(in);
    enum tutti_status status = in->binding->serialize(in, saved->handle, all + sizeof header, own);
    leave(outer);
    enum tutti_err err = conclude(in, TUTTI_CALL_SERIALIZE, status);
    if (err) {
        free(all);
        return err;
    }
    *bytes = all;
    *size = sizeof header + own;
    return TUTTI_OK;
}

enum tutti_err tutti_instance_deserialize(struct tutti_instance *in, const unsigned char *bytes, size_t size,
                                          struct tutti_saved *saved)
{
    TRY(need(in, TUTTI_CAN_SERIALIZE, "serialised states (canSerializeFMUstate)"));
    struct saved_header header;
    if (size >= sizeof header)
        memcpy(&header, bytes, sizeof header);
    if (size < sizeof header || header.fmi != in->binding->fmi || header.state <= (int32_t)TUTTI_STATE_NONE ||
        header.state >= (int32_t)TUTTI_STATE_ERROR)
        return tutti_fail(TUTTI_ERR_FORMAT, "%s: these bytes are no saved state of an FMI %s FMU", in->options.name,
                          in->binding->version);
    CALL(in, TUTTI_CALL_SERIALIZE, deserialize, in, bytes + sizeof header, size - sizeof header, &saved->handle);
    saved->state = (enum tutti_state)header.state;
    saved->time = header.time;
    return TUTTI_OK;
}

enum tutti_err tutti_instance_terminate(struct tutti_instance *in)
{
    CALL(in, TUTTI_CALL_TERMINATE, terminate, in);
    return TUTTI_OK;
}

enum tutti_err tutti_instance_reset(struct tutti_instance *in)
{
    CALL(in, TUTTI_CALL_RESET, reset, in);
    return TUTTI_OK;
}

void *tutti_instance_scratch(struct tutti_instance *in, size_t size)
{
    if (size > in->scratch_size || !in->scratch) {
        void *larger = realloc(in->scratch, size + 1); /* nothing is also something to point to */
        if (!larger)
            return NULL;
        in->scratch = larger;
        in->scratch_size = size;
    }
    return in->scratch;
}

/* No printf here: the process may be dying. */
static size_t put(char *out, size_t size, size_t at, const char *text)
{
    while (*text && at + 1 < size)
        out[at++] = *text++;
    return at;
}

size_t tutti_instance_where(char *out, size_t size)
{
    const struct tutti_instance *in = current;
    size_t at = 0;
    if (in && size > 0) {
        const char *name = in->binding->call_names[in->call];
        bool typed = in->call == TUTTI_CALL_SET || in->call == TUTTI_CALL_GET;
        char number[TUTTI_NUMBER_MAX + 1];
        number[tutti_number_write_double(number, in->time)] = '\0';
        at = put(out, size, at, "instance ");
        at = put(out, size, at, in->options.name);
        at = put(out, size, at, " (");
        at = put(out, size, at, in->library->file);
        at = put(out, size, at, ") in ");
        at = put(out, size, at, name ? name : "a call");
        at = put(out, size, at, typed ? in->binding->type_word(in->call_type) : "");
        at = put(out, size, at, isnan(in->time) ? "" : " at t = ");
        at = put(out, size, at, isnan(in->time) ? "" : number);
    }
    if (size > 0)
        out[at] = '\0';
    return at;
}
