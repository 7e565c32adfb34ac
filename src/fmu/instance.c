/* SPDX-License-Identifier: MIT */
#include "fmu/instance.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/child.h"
#include "base/crash.h"
#include "base/number.h"
#include "base/text.h"
#include "base/time.h"
#include "fmu/fmi_call.h"
#include "fmu/fmu_callbacks.h"
#include "fmu/instance_clocks_header.h"
#include "fmu/process/forked.h"

/* Instances of FMUs that were Fatal; never freed. */
static _Atomic(struct tt_instance *) dead;

/* Once-per-process FMUs: counted per library, so that the second instance gets a sentence instead of a crash. */
static enum tutti_err claim_single_instance(struct tt_library *library, const char *name)
{
    int before = atomic_fetch_add(&library->instances, 1);
    if (before == 0 || !(library->interface->flags & TUTTI_ONCE_PER_PROCESS))
        return TUTTI_OK;
    atomic_fetch_sub(&library->instances, 1);
    return tt_fail(TUTTI_ERR_UNSUPPORTED,
                   "%s: %s can be instantiated only once per process (canBeInstantiatedOnlyOncePerProcess), and "
                   "another instance of it is alive",
                   name, library->file);
}

/* Returns true for log categories about the outcome of calls, "logStatusError" and the like. */
static bool is_status_category(const char *category)
{
    static const char *const words[] = {"warning", "discard", "error", "fatal"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(category, words[i]))
            return true;
    return false;
}

static enum tutti_err instance_find_categories(struct tt_instance *in)
{
    const struct tt_description *desc = in->library->desc;
    in->categories = calloc((size_t)desc->log_category_count + 1, sizeof *in->categories);
    if (!in->categories)
        return tt_fail_memory();
    for (uint32_t i = 0; i < desc->log_category_count; i++)
        if (is_status_category(desc->log_categories[i]))
            in->categories[in->category_count++] = desc->log_categories[i];
    return TUTTI_OK;
}

/* Error messages are always needed; debug messages only on demand. FMI 3.0 has one switch for both, so it is on; where
 * categories distinguish them, the remaining categories are switched off. An FMU may reject that without harm. */
static enum tutti_err choose_categories(struct tt_instance *in)
{
    if (in->options.logging_on || !in->logging_on || in->category_count == 0 || !in->binding->set_debug_logging)
        return TUTTI_OK;
    in->call = TUTTI_CALL_SET_DEBUG_LOGGING;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->set_debug_logging(in, false, 0, NULL);
    if (status <= TUTTI_STATUS_WARNING)
        status = in->binding->set_debug_logging(in, true, in->category_count, in->categories);
    tt_fmi_call_leave(frame);
    return status == TUTTI_STATUS_FATAL ? tt_fmi_call_conclude(in, TUTTI_CALL_SET_DEBUG_LOGGING, status) : TUTTI_OK;
}

static enum tutti_err instance_call_instantiate(struct tt_instance *in)
{
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_INSTANTIATE));
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    in->component = in->binding->instantiate(in);
    tt_fmi_call_leave(frame);
    if (tt_forked_is_lost(in))
        return tt_fmi_call_handle_status(in, TUTTI_CALL_INSTANTIATE, TUTTI_STATUS_LOST);
    if (!in->component)
        return tt_fmi_call_fail(
            in, TUTTI_ERR_FMU,
            in->library->interface->flags & TUTTI_NEEDS_TOOL
                ? "returned NULL: the FMU cannot be instantiated. It needs another program, the tool "
                  "that made it (needsExecutionTool; FMI 1.0: tool coupling): see that this is "
                  "installed here, and licensed"
                : "returned NULL: the FMU cannot be instantiated");
    in->state = TUTTI_STATE_INSTANTIATED;
    return choose_categories(in);
}

static enum tutti_err instance_instantiate(struct tt_instance *in)
{
    if (!in->options.forked && !in->library->keeper)
        return instance_call_instantiate(in);
    TRY(tt_forked_open(in));
    TRY(instance_call_instantiate(in));
    enum tutti_err err = tt_forked_check(in);
    if (in->options.forked || err != TUTTI_ERR_UNSUPPORTED)
        return err;
    /* It lives there for its platform's sake. */
    in->can &= ~(uint32_t)TUTTI_CAN_STATE;
    return TUTTI_OK;
}

/* ---- idle instances ---- */

/* Of what is fixed at the instantiation, variables of intermediate updates are not kept. */
static bool options_are_equal(const struct tt_instance_options *a, const struct tt_instance_options *b)
{
    return strcmp(a->name, b->name) == 0 && a->logging_on == b->logging_on && a->event_mode == b->event_mode &&
           a->early_return == b->early_return && a->forked == b->forked && a->rejects == b->rejects &&
           a->intermediate_count == b->intermediate_count;
}

static bool can_be_reused(const struct tt_instance *in)
{
    const struct tt_library *library = in->library;
    return library->keeps && library->resets != TUTTI_RESETS_BADLY && in->state == TUTTI_STATE_TERMINATED &&
           tt_fmi_call_may(in, TUTTI_CALL_RESET) && !in->forked && in->options.intermediate_count == 0 &&
           !(library->interface->flags & TUTTI_ONCE_PER_PROCESS);
}

/* Finds an idle instance with equal arguments; NULL if there is none. */
static struct tt_instance *find_idle(struct tt_library *library, const struct tt_instance_options *options)
{
    struct tt_instance **link = &library->idle;
    if (!library->keeps && library->resets != TUTTI_RESETS_WELL)
        return NULL; /* they wait for their trial */
    while (*link && !options_are_equal(&(*link)->options, options))
        link = &(*link)->next;
    struct tt_instance *in = *link;
    if (in)
        *link = in->next;
    return in;
}

/* To where an instantiation leaves it. */
static enum tutti_err reuse_instance(struct tt_instance *in, const struct tt_instance_options *options)
{
    const char *name = in->options.name;
    in->options = *options;
    in->options.name = name;
    in->next = NULL;
    in->time = NAN;
    in->warnings = 0;
    in->modes_told = in->has_next_event = in->repeats = false;
    in->callback_error = TUTTI_OK;
    pthread_mutex_lock(&in->messages.lock);
    in->messages.count = in->messages.passed = in->messages.dropped = 0;
    pthread_mutex_unlock(&in->messages.lock);
    TRY(tt_instance_reset(in));
    return choose_categories(in);
}

/* An FMU whose reset fails is instantiated again, unless it was Fatal. *out stays NULL if no instance can be reused. */
static enum tutti_err try_reuse(struct tt_instance **out, struct tt_library *library,
                                const struct tt_instance_options *options)
{
    struct tt_instance *in = find_idle(library, options);
    if (!in)
        return TUTTI_OK;
    enum tutti_err err = reuse_instance(in, options);
    if (!err) {
        *out = in;
        return TUTTI_OK;
    }
    library->resets = TUTTI_RESETS_BADLY;
    struct tt_failure failure;
    tt_fail_save(&failure, err);
    tt_instance_free(in);
    return err == TUTTI_ERR_FATAL ? tt_fail_restore(&failure) : TUTTI_OK;
}

void tt_instance_free_idle(struct tt_library *library)
{
    library->keeps = false;
    while (library->idle) {
        struct tt_instance *in = library->idle;
        library->idle = in->next;
        tt_instance_free(in);
    }
}

enum tutti_err tt_instance_new(struct tt_instance **out, struct tt_library *library,
                               const struct tt_instance_options *options)
{
    *out = NULL;
    TRY(try_reuse(out, library, options));
    if (*out)
        return TUTTI_OK;
    TRY(claim_single_instance(library, options->name));
    struct tt_instance *in = calloc(1, sizeof *in);
    char *name = tt_text_copy(options->name);
    if (!in || !name) {
        free(in);
        free(name);
        atomic_fetch_sub(&library->instances, 1);
        return tt_fail_memory();
    }
    in->binding = library->binding;
    in->library = library;
    in->functions = library->functions;
    in->options = *options;
    in->options.name = name;
    in->allowed = tt_fmi_state_table(library->kind, in->binding->fmi);
    in->event_mode = library->kind == TUTTI_ME || (options->event_mode && (library->can & TUTTI_CAN_EVENT_MODE));
    in->time = NAN;
    in->can = library->can;
    in->options.rejects = options->rejects && (library->can & TUTTI_CAN_REJECT_STEPS);
    if (in->options.rejects)
        in->can |= TUTTI_CAN_STATE;
    in->narrow = library->narrow_count > 0;
    pthread_mutex_init(&in->messages.lock, NULL);
    tt_fmu_callbacks_register(in);
    enum tutti_err err = instance_find_categories(in);
    in->logging_on = options->logging_on || in->binding->fmi == 3 || in->category_count > 0;
    if (!err)
        err = tt_instance_clocks_new(&in->clocks, library->desc);
    if (!err)
        err = instance_instantiate(in);
    if (err) {
        tt_instance_free(in);
        return err;
    }
    *out = in;
    return TUTTI_OK;
}

/* The current instances of threads, for crash reports; threads beyond this number are not covered. */
static _Atomic(struct tt_instance **) shown_threads[TUTTI_SHOWN_THREADS];
/* Held while the call of another thread is looked at, and where instances end. */
static pthread_mutex_t shown_lives = PTHREAD_MUTEX_INITIALIZER;

static void call_free(void *context)
{
    struct tt_instance *in = context;
    in->binding->free(in);
}

/* Some FMUs free what they have freed before: the run is complete by then, and its result valid. */
static void free_component(struct tt_instance *in)
{
    in->call = TUTTI_CALL_FREE;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    bool whole = tt_crash_guard(call_free, in);
    tt_fmi_call_leave(frame);
    if (whole && !tt_forked_is_lost(in))
        return;
    if (!whole)
        tt_fmi_call_mark_fatal(in);
    tt_log(in->options.log, TUTTI_LOG_WARNING, in->options.name,
           "%s: the FMU crashed in %s, when its work was done: results are not concerned. Ask its author",
           in->library->file, in->binding->call_names[in->library->kind][TUTTI_CALL_FREE]);
}

void tt_instance_free(struct tt_instance *in)
{
    if (!in)
        return;
    if (tt_fmi_call_may(in, TUTTI_CALL_TERMINATE))
        if (tt_instance_terminate(in) != TUTTI_OK)
            /* the outcome is not reported */
            in->state = in->state == TUTTI_STATE_FATAL ? in->state : TUTTI_STATE_ERROR;
    if (can_be_reused(in)) {
        in->next = in->library->idle;
        in->library->idle = in;
        return;
    }
    if (tt_fmi_call_may(in, TUTTI_CALL_FREE))
        free_component(in);
    tt_forked_close(in);
    atomic_fetch_sub(&in->library->instances, 1);
    if (in->library->fatal && in->component) {
        /* Threads of the FMU may still run and log: what they know of us stays. */
        in->next = atomic_exchange(&dead, in);
        in->options.log = NULL;
        return;
    }
    tt_fmu_callbacks_unregister(in);
    tt_child_hold();
    pthread_mutex_lock(&shown_lives);
    pthread_mutex_destroy(&in->messages.lock);
    free(in->messages.texts);
    free((char *)in->options.name);
    tt_instance_clocks_free(in->clocks);
    free(in->refusal);
    free(in->categories);
    free(in->scratch);
    free(in);
    pthread_mutex_unlock(&shown_lives);
    tt_child_release();
}

void tt_instance_ignore_fatal(bool allowed)
{
    tt_fmi_call_ignores_fatal = allowed;
}

enum tt_fmi_state tt_instance_state(const struct tt_instance *in)
{
    return in->state;
}

double tt_instance_time(const struct tt_instance *in)
{
    return in->time;
}

bool tt_instance_uses_events(const struct tt_instance *in)
{
    return in->event_mode;
}

unsigned long tt_instance_warnings(const struct tt_instance *in)
{
    return in->warnings;
}

unsigned long tt_instance_dropped_messages(const struct tt_instance *in)
{
    return in->messages.dropped;
}

/* "must not be called if the FMU contains no structural parameter", nor, once it is initialised, no tunable one (FMI 3.0.2 section 2.3). */
static enum tutti_err check_configurable(const struct tt_instance *in)
{
    const struct tt_description *desc = in->library->desc;
    bool early = in->state == TUTTI_STATE_INSTANTIATED;
    for (uint32_t v = 0; v < desc->var_count; v++)
        if (desc->vars[v].causality == TUTTI_STRUCTURAL_PARAMETER &&
            (early || desc->vars[v].variability == TUTTI_TUNABLE))
            return TUTTI_OK;
    return tt_fail(TUTTI_ERR_STATE,
                   "%s: FMI %s does not allow to enter configuration mode of an FMU with no %sstructural parameter; "
                   "this is a fault in the program that drives the FMU",
                   in->options.name, in->binding->version, early ? "" : "tunable ");
}

enum tutti_err tt_instance_enter_configuration(struct tt_instance *in)
{
    if (tt_fmi_call_may(in, TUTTI_CALL_ENTER_CONFIGURATION))
        TRY(check_configurable(in));
    CALL(in, TUTTI_CALL_ENTER_CONFIGURATION, enter_configuration, in);
    return TUTTI_OK;
}

enum tutti_err tt_instance_exit_configuration(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_EXIT_CONFIGURATION, exit_configuration, in);
    return TUTTI_OK;
}

enum tutti_err tt_instance_set_up(struct tt_instance *in, const struct tt_experiment_setup *setup)
{
    if (in->state != TUTTI_STATE_INSTANTIATED) /* also where a version has no such call */
        return tt_fmi_call_fail_forbidden(in, TUTTI_CALL_SETUP_EXPERIMENT);
    in->setup = *setup;
    in->time = setup->start;
    if (in->binding->setup_experiment)
        CALL(in, TUTTI_CALL_SETUP_EXPERIMENT, setup_experiment, in);
    return TUTTI_OK;
}

enum tutti_err tt_instance_enter_initialization(struct tt_instance *in, const struct tt_experiment_setup *setup)
{
    if (setup)
        TRY(tt_instance_set_up(in, setup));
    CALL(in, TUTTI_CALL_ENTER_INITIALIZATION, enter_initialization, in);
    return TUTTI_OK;
}

enum tutti_err tt_instance_exit_initialization(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_EXIT_INITIALIZATION, exit_initialization, in);
    in->has_next_event = false;
    return TUTTI_OK;
}

static enum tutti_err lacks_type(const struct tt_instance *in, enum tt_fmi_call call, enum tt_type type)
{
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): FMI %s has no function to %s of type %s", in->options.name,
                   in->library->file, in->binding->version, tt_fmi_state_call_name(call), tt_type_name(type));
}

/* ---- Float32 variables, set and read as doubles ----
 *
 * All computations of a step (slopes, histories, errors) use doubles. To hide the second real type from the callers, a
 * call for Float64 may have references of Float32 variables (all or none); this section converts the values. */

static float *narrow_room(struct tt_instance *in, size_t value_count)
{
    return tt_instance_scratch(in, value_count * sizeof(float));
}

/* Arrays are named as a whole. */
static enum tutti_err fail_too_large(const struct tt_instance *in, uint32_t reference, double value)
{
    const struct tt_description *desc = in->library->desc;
    const char *name = "?";
    for (uint32_t v = desc->var_count; v-- > 0;)
        if (desc->vars[v].reference == reference)
            name = desc->vars[v].name;
    char text[TUTTI_NUMBER_MAX + 1] = {0};
    tt_number_write_double(text, value);
    return tt_fail(TUTTI_ERR_LIMIT, "%s: %s is more than '%s' can hold, which is a Float32", in->options.name, text,
                   name);
}

static enum tutti_err narrow_values(struct tt_instance *in, const uint32_t *references, size_t count,
                                    const double *values, size_t value_count, const float **narrow)
{
    float *to = narrow_room(in, value_count);
    if (!to)
        return tt_fail_memory();
    for (size_t i = 0; i < value_count; i++) {
        to[i] = (float)values[i];
        if (__builtin_expect(isinf(to[i]) && !isinf(values[i]), 0))
            return fail_too_large(in, references[count == value_count ? i : 0], values[i]);
    }
    *narrow = to;
    return TUTTI_OK;
}

static void widen_values(const float *narrow, size_t value_count, double *values)
{
    for (size_t i = 0; i < value_count; i++)
        values[i] = narrow[i];
}

/* Returns true if a call for doubles has references of Float32 variables. */
static bool is_narrow(const struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count)
{
    return type == TUTTI_TYPE_FLOAT64 && count > 0 && tt_library_is_narrow(in->library, references[0]);
}

static enum tutti_err set_narrow(struct tt_instance *in, const uint32_t *references, size_t count, const double *values,
                                 size_t value_count)
{
    const float *narrow = NULL;
    TRY(narrow_values(in, references, count, values, value_count, &narrow));
    return tt_instance_set(in, TUTTI_TYPE_FLOAT32, references, count, narrow, value_count);
}

enum tutti_err tt_instance_set(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                               const void *values, size_t value_count)
{
    if (__builtin_expect(in->narrow, 0) && is_narrow(in, type, references, count))
        return set_narrow(in, references, count, values, value_count);
    if (__builtin_expect(!(in->binding->types >> type & 1), 0))
        return lacks_type(in, TUTTI_CALL_SET, type);
    if (__builtin_expect(in->clocks != NULL, 0))
        TRY(tt_instance_clocks_check(in, TUTTI_CALL_SET, references, count));
    in->call_type = type;
    CALL(in, TUTTI_CALL_SET, set, in, type, references, count, values, value_count);
    return TUTTI_OK;
}

static enum tutti_err get_narrow(struct tt_instance *in, const uint32_t *references, size_t count, double *values,
                                 size_t value_count)
{
    float *narrow = narrow_room(in, value_count);
    if (!narrow)
        return tt_fail_memory();
    TRY(tt_instance_get(in, TUTTI_TYPE_FLOAT32, references, count, narrow, value_count));
    widen_values(narrow, value_count, values);
    return TUTTI_OK;
}

enum tutti_err tt_instance_get(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                               void *values, size_t value_count)
{
    if (__builtin_expect(in->narrow, 0) && is_narrow(in, type, references, count))
        return get_narrow(in, references, count, values, value_count);
    if (__builtin_expect(!(in->binding->types >> type & 1), 0))
        return lacks_type(in, TUTTI_CALL_GET, type);
    if (__builtin_expect(in->clocks != NULL, 0))
        TRY(tt_instance_clocks_check(in, TUTTI_CALL_GET, references, count));
    in->call_type = type;
    CALL(in, TUTTI_CALL_GET, get, in, type, references, count, values, value_count);
    return TUTTI_OK;
}

/* Handles the status of a call that an FMU may refuse. */
static enum tutti_err conclude_refusable(struct tt_instance *in, enum tt_fmi_call call, enum tt_fmi_status status,
                                         bool *refused)
{
    if (status != TUTTI_STATUS_ERROR && status != TUTTI_STATUS_DISCARD)
        return tt_fmi_call_conclude(in, call, status);
    in->deferred = 0; /* an answer, not an error, whatever the FMU calls it */
    *refused = true;
    return TUTTI_OK;
}

enum tutti_err tt_instance_try_set(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   const void *values, size_t value_count, bool *refused)
{
    const float *narrow = NULL;
    if (is_narrow(in, type, references, count)) {
        TRY(narrow_values(in, references, count, values, value_count, &narrow));
        return tt_instance_try_set(in, TUTTI_TYPE_FLOAT32, references, count, narrow, value_count, refused);
    }
    if (!(in->binding->types >> type & 1))
        return lacks_type(in, TUTTI_CALL_SET, type);
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_SET));
    in->call_type = type;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->set(in, type, references, count, values, value_count);
    tt_fmi_call_leave(frame);
    return conclude_refusable(in, TUTTI_CALL_SET, status, refused);
}

enum tutti_err tt_instance_try_get(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   void *values, size_t value_count, bool *refused)
{
    if (is_narrow(in, type, references, count)) {
        float *narrow = narrow_room(in, value_count);
        if (!narrow)
            return tt_fail_memory();
        TRY(tt_instance_try_get(in, TUTTI_TYPE_FLOAT32, references, count, narrow, value_count, refused));
        if (!*refused)
            widen_values(narrow, value_count, values);
        return TUTTI_OK;
    }
    if (!(in->binding->types >> type & 1))
        return lacks_type(in, TUTTI_CALL_GET, type);
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_GET));
    in->call_type = type;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->get(in, type, references, count, values, value_count);
    tt_fmi_call_leave(frame);
    return conclude_refusable(in, TUTTI_CALL_GET, status, refused);
}

enum tutti_err tt_instance_get_output_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                  const int32_t *orders, double *values)
{
    TRY(tt_fmi_call_require(in, TUTTI_CAN_OUTPUT_DERIVATIVES, "output derivatives (maxOutputDerivativeOrder)"));
    CALL(in, TUTTI_CALL_GET_OUTPUT_DERIVATIVES, get_output_derivatives, in, references, count, orders, values);
    return TUTTI_OK;
}

/* A function that nothing depends on, and that FMUs claim to have without ever having tried it. */
static enum tutti_err conclude_derivatives(struct tt_instance *in, enum tt_fmi_call call, enum tt_fmi_status status)
{
    if (status != TUTTI_STATUS_ERROR && status != TUTTI_STATUS_DISCARD)
        return tt_fmi_call_conclude(in, call, status);
    tt_fmi_call_set_refused(in, status == TUTTI_STATUS_ERROR ? "returned Error" : "returned Discard");
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): %s", in->options.name, in->library->file, tt_instance_refusal(in));
}

enum tutti_err tt_instance_set_input_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                 const int32_t *orders, const double *values)
{
    TRY(tt_fmi_call_require(in, TUTTI_CAN_INPUT_DERIVATIVES, "input derivatives (canInterpolateInputs)"));
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_SET_INPUT_DERIVATIVES));
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->set_input_derivatives(in, references, count, orders, values);
    tt_fmi_call_leave(frame);
    return conclude_derivatives(in, TUTTI_CALL_SET_INPUT_DERIVATIVES, status);
}

enum tutti_err tt_instance_get_directional(struct tt_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                           const uint32_t *knowns, size_t known_count, const double *seed,
                                           size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    TRY(tt_fmi_call_require(in, TUTTI_CAN_DIRECTIONAL, "directional derivatives"));
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_GET_DIRECTIONAL));
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->get_directional(in, unknowns, unknown_count, knowns, known_count, seed,
                                                             seed_count, sensitivity, sensitivity_count);
    tt_fmi_call_leave(frame);
    return conclude_derivatives(in, TUTTI_CALL_GET_DIRECTIONAL, status);
}

bool tt_instance_can_save(const struct tt_instance *in)
{
    return in->can & TUTTI_CAN_STATE;
}

bool tt_instance_has_adjoint(const struct tt_instance *in)
{
    return (in->can & TUTTI_CAN_ADJOINT) && in->binding->get_adjoint;
}

enum tutti_err tt_instance_get_adjoint(struct tt_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                       const uint32_t *knowns, size_t known_count, const double *seed,
                                       size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    TRY(tt_fmi_call_require(in, TUTTI_CAN_ADJOINT, "adjoint derivatives"));
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_GET_ADJOINT));
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->get_adjoint(in, unknowns, unknown_count, knowns, known_count, seed,
                                                         seed_count, sensitivity, sensitivity_count);
    tt_fmi_call_leave(frame);
    return conclude_derivatives(in, TUTTI_CALL_GET_ADJOINT, status);
}

enum tutti_err tt_instance_terminate(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_TERMINATE, terminate, in);
    return TUTTI_OK;
}

enum tutti_err tt_instance_reset(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_RESET, reset, in);
    tt_instance_clocks_reset(in);
    return TUTTI_OK;
}

bool tt_instance_refused(const struct tt_instance *in)
{
    return in->refused;
}

const char *tt_instance_refusal(const struct tt_instance *in)
{
    return in->refusal ? in->refusal : "";
}

/* No printf here: the process may be dying. */
static size_t instance_append_text(char *out, size_t size, size_t at, const char *text)
{
    while (*text && at + 1 < size)
        out[at++] = *text++;
    return at;
}

/* Where it is, after what is there already; returns the new length. */
static size_t append_location(const struct tt_instance *in, char *out, size_t size, size_t at)
{
    if (in && size > 0) {
        const char *name = tt_fmi_call_function_name(in);
        bool typed = in->call == TUTTI_CALL_SET || in->call == TUTTI_CALL_GET;
        at = instance_append_text(out, size, at, "instance ");
        at = instance_append_text(out, size, at, in->options.name);
        at = instance_append_text(out, size, at, " (");
        at = instance_append_text(out, size, at, in->library->file);
        at = instance_append_text(out, size, at, ") in ");
        at = instance_append_text(out, size, at, name ? name : "a call");
        at = instance_append_text(out, size, at, typed ? in->binding->type_word(in->call_type) : "");
        const char *partition = in->call == TUTTI_CALL_ACTIVATE ? tt_instance_clocks_current(in) : NULL;
        at = instance_append_text(out, size, at, partition ? " for the clock '" : "");
        at = instance_append_text(out, size, at, partition ? partition : "");
        at = instance_append_text(out, size, at, partition ? "'" : "");
        at = instance_append_text(out, size, at,
                                  tt_fmi_call_is_about_states(in) ? " (--rollback fork does without)" : "");
        at = instance_append_text(out, size, at, isnan(in->time) ? "" : " at t = ");
        at = instance_append_text(out, size, at, isnan(in->time) ? "" : TIME(in->time));
    }
    if (size > 0)
        out[at] = '\0';
    return at;
}

size_t tt_instance_describe_call(char *out, size_t size)
{
    return append_location(tt_fmi_call_current, out, size, 0);
}

void tt_instance_show_thread(bool shown)
{
    for (size_t i = 0; i < TUTTI_SHOWN_THREADS; i++) {
        struct tt_instance **before = shown ? NULL : &tt_fmi_call_current;
        if (atomic_compare_exchange_strong(&shown_threads[i], &before, shown ? &tt_fmi_call_current : NULL))
            return;
    }
}

size_t tt_instance_describe_calls(char *out, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < TUTTI_SHOWN_THREADS; i++) {
        struct tt_instance **thread = shown_threads[i];
        if (!thread || !*thread)
            continue;
        at = instance_append_text(out, size, at, at > 0 ? ", or " : "");
        at = append_location(*thread, out, size, at);
    }
    return at;
}

/* The thread writes on meanwhile: whatever is read differs from what was read before, unless it is in one call all the time. */
static __attribute__((no_sanitize("thread"))) struct tt_shown_call inspect_thread(struct tt_instance *const *thread)
{
    const struct tt_instance *in = thread ? *(struct tt_instance *const volatile *)thread : NULL;
    if (!in)
        return (struct tt_shown_call){0};
    return (struct tt_shown_call){in, in->calls, (uint32_t)in->call, in->time};
}

struct tt_shown_call tt_instance_inspect_thread(size_t thread)
{
    tt_child_hold();
    pthread_mutex_lock(&shown_lives);
    struct tt_shown_call call = inspect_thread(shown_threads[thread]);
    pthread_mutex_unlock(&shown_lives);
    tt_child_release();
    return call;
}

size_t tt_instance_describe_thread(size_t thread, char *out, size_t size)
{
    tt_child_hold();
    pthread_mutex_lock(&shown_lives);
    struct tt_instance **of = shown_threads[thread];
    size_t length = append_location(of ? *of : NULL, out, size, 0);
    pthread_mutex_unlock(&shown_lives);
    tt_child_release();
    return length;
}

bool tt_instance_is_mixed(void)
{
    return tt_fmi_call_current && tt_fmi_call_current->library->is_mixed;
}

void *tt_instance_scratch(struct tt_instance *in, size_t size)
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

/* ---- Co-Simulation: steps, and the events between them ---- */

/* Clamps the time that the FMU reports to have reached to [t, end] within rounding; false if it is elsewhere. */
static bool clamp_reached(const struct tt_instance *in, double t, double end, double *reached)
{
    double span = in->setup.stop - in->setup.start;
    if (tt_time_same(*reached, t, span) || tt_time_same(*reached, end, span))
        *reached = fmin(fmax(*reached, t), end);
    return *reached >= t && *reached <= end;
}

/* Handles the results of a step beyond OK: it ended early, at an event, or requests the end of the run. Without these
 * the communication point is reached, however far the FMU's internal clock is from it (a fixed internal step may not
 * divide h). Unrequested events are accepted. */
static enum tutti_err instance_check_step(struct tt_instance *in, double t, double end, struct tt_fmi_step *step)
{
    step->event = step->event && in->event_mode;
    if (!step->early && !step->event && !step->terminate)
        step->reached = end;
    double said = step->reached;
    if (clamp_reached(in, t, end, &step->reached))
        return TUTTI_OK;
    in->state = TUTTI_STATE_ERROR;
    tt_fail(TUTTI_ERR_FMU,
            "%s (%s): the FMU says that its step from t = %s to %s came to %s, which is not between; if it "
            "has steps of its own, use "
            "--step with a multiple of them",
            in->options.name, in->library->file, TIME(t), TIME(end), TIME(said));
    return tt_fail_about(TUTTI_ERR_FMU, in->options.name, NULL, t);
}

/* A do-step that did not return OK. A discarded one of FMI 3.0 stands where it stood; 1.0 and 2.0 need a saved state
 * (I10). */
static enum tutti_err instance_conclude_unusual_step(struct tt_instance *in, double t, double end,
                                                     enum tt_fmi_status status, struct tt_fmi_step *step)
{
    if (in->binding->after_step) {
        struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
        status = in->binding->after_step(in, t, status, step);
        tt_fmi_call_leave(frame);
    }
    if (status != TUTTI_STATUS_DISCARD) {
        if (status > TUTTI_STATUS_WARNING)
            return tt_fmi_call_conclude(in, TUTTI_CALL_DO_STEP, status);
        TRY(instance_check_step(in, t, end, step));
        in->time = step->reached;
        return tt_fmi_call_conclude(in, TUTTI_CALL_DO_STEP, status);
    }
    in->deferred = 0;
    if (in->binding->fmi == 3) {
        *step = (struct tt_fmi_step){.reached = t, .discarded = true, .can_retry = true};
        return TUTTI_OK;
    }
    step->discarded = true;
    if (!clamp_reached(in, t, end, &step->reached))
        step->reached = t; /* it gave up anyway */
    in->state = TUTTI_STATE_DISCARDED;
    in->time = step->reached;
    return TUTTI_OK;
}

enum tutti_err tt_instance_conclude_step(struct tt_instance *in, double t, double end, enum tt_fmi_status status,
                                         struct tt_fmi_step *step)
{
    if (__builtin_expect(in->callback_error != TUTTI_OK, 0)) {
        in->state = in->state == TUTTI_STATE_FATAL ? in->state : TUTTI_STATE_ERROR;
        return in->callback_error;
    }
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return instance_conclude_unusual_step(in, t, end, status, step);
    if (__builtin_expect(step->early || step->event || step->terminate, 0))
        TRY(instance_check_step(in, t, end, step));
    else
        step->reached = end;
    if (__builtin_expect(in->deferred != 0, 0))
        tt_fmu_callbacks_log_deferred(in);
    in->state = TUTTI_STATE_STEP;
    in->time = step->reached;
    return TUTTI_OK;
}

/* I6: a step starts where the one before ended. */
static enum tutti_err fail_wrong_start(const struct tt_instance *in, double t)
{
    return tt_fail(TUTTI_ERR_STATE,
                   "%s: a step from t = %s, but the FMU is at %s; this is a fault in the program that "
                   "drives the FMU",
                   in->options.name, NUMBER(t), NUMBER(in->time));
}

enum tutti_err tt_instance_do_step(struct tt_instance *in, double t, double h, bool no_going_back,
                                   struct tt_fmi_step *step, bool *pending)
{
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_DO_STEP));
    if (__builtin_expect(t != in->time, 0) && !tt_time_same(t, in->time, in->setup.stop - in->setup.start))
        return fail_wrong_start(in, t);
    in->time = t;
    in->callback_error = TUTTI_OK;
    *step = (struct tt_fmi_step){.reached = t + h};
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->do_step(in, t, h, no_going_back, step);
    tt_fmi_call_leave(frame);
    if (__builtin_expect(status == TUTTI_STATUS_PENDING, 0) && pending) {
        *pending = true;
        return TUTTI_OK;
    }
    return tt_instance_conclude_step(in, t, t + h, status, step);
}

enum tutti_err tt_instance_end_step(struct tt_instance *in, double t, double h, struct tt_fmi_step *step)
{
    in->call = TUTTI_CALL_DO_STEP;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in); /* read by a watchdog */
    enum tutti_err err = tt_instance_conclude_step(in, t, t + h, TUTTI_STATUS_PENDING, step);
    tt_fmi_call_leave(frame);
    return err;
}

void tt_instance_intermediate(struct tt_instance *in, struct tt_intermediate_update *update)
{
    if (in->call != TUTTI_CALL_DO_STEP || in->callback_error != TUTTI_OK || !in->options.intermediate_update)
        return;
    enum tt_fmi_state state = in->state;
    double time = in->time;
    in->state = TUTTI_STATE_INTERMEDIATE;
    in->time = update->time;
    in->callback_error = in->options.intermediate_update(in->options.intermediate_context, in, update);
    if (in->state == TUTTI_STATE_INTERMEDIATE) /* not if a call failed in it */
        in->state = state;
    in->time = time;
    in->call = TUTTI_CALL_DO_STEP;
    update->return_early = update->return_early || in->callback_error != TUTTI_OK;
}

enum tutti_err tt_instance_enter_event(struct tt_instance *in)
{
    if (!in->event_mode) /* I8 */
        return tt_fmi_call_fail_forbidden(in, TUTTI_CALL_ENTER_EVENT);
    CALL(in, TUTTI_CALL_ENTER_EVENT, enter_event, in);
    tt_instance_clocks_reset(in);
    in->has_next_event = false;
    return TUTTI_OK;
}

enum tutti_err tt_instance_update_discrete(struct tt_instance *in, struct tt_discrete_update *discrete)
{
    *discrete = (struct tt_discrete_update){.has_next_event = in->has_next_event, .next_event = in->next_event};
    CALL(in, TUTTI_CALL_UPDATE_DISCRETE, update_discrete, in, discrete);
    if (discrete->has_next_event && isnan(discrete->next_event))
        return tt_fmi_call_fail(in, TUTTI_ERR_FMU, "announces the next event for a time that is not a number (NaN)");
    tt_instance_clocks_clear_ticks(in);
    in->has_next_event = discrete->has_next_event;
    in->next_event = discrete->next_event;
    return TUTTI_OK;
}

enum tutti_err tt_instance_enter_step(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_ENTER_STEP, enter_step, in);
    return TUTTI_OK;
}

/* ---- Model Exchange: time, states and derivatives; a right-hand side calls as little as possible ---- */

static enum tutti_err instance_conclude_unusual_point(struct tt_instance *in, enum tt_fmi_call call,
                                                      enum tt_fmi_status status, bool *discarded)
{
    /* After Error, FMI allows an FMU only to be read and freed (I3); Discard marks a point at which it cannot be
     * evaluated. Many FMUs return Error for such a point, too (the square root of a state that the solver tried below
     * 0), and work at the next point. Error from a call that only reads is therefore handled as Discard; if the FMU
     * has failed, its next call returns Error again. */
    bool reads = call == TUTTI_CALL_GET_DERIVATIVES || call == TUTTI_CALL_GET_INDICATORS;
    bool refused = status == TUTTI_STATUS_ERROR && reads;
    if (status != TUTTI_STATUS_DISCARD && !refused)
        return tt_fmi_call_handle_status(in, call, status);
    if (refused && !in->refusal)
        tt_log(in->options.log, TUTTI_LOG_WARNING, in->options.name,
               "%s returned Error at t = %s, a point that was tried; others are tried instead",
               in->binding->call_names[TUTTI_ME][call], TIME(in->time));
    if (refused)
        tt_fmi_call_set_refused(in, "returned Error");
    in->deferred = 0; /* an answer, not an error, whatever the FMU calls it */
    *discarded = true;
    return TUTTI_OK;
}

/* The end of a call that may be refused for the point where the FMU was put. The instance's state does not change. */
static inline enum tutti_err instance_conclude_point(struct tt_instance *in, enum tt_fmi_call call,
                                                     enum tt_fmi_status status, bool *discarded)
{
    if (__builtin_expect(status != TUTTI_STATUS_OK, 0))
        return instance_conclude_unusual_point(in, call, status, discarded);
    if (__builtin_expect(in->deferred != 0 || in->refused, 0))
        tt_fmi_call_clear_refused(in);
    return TUTTI_OK;
}

/* As CALL of fmi_call.h, for vectors: an FMU whose vector is empty is not called. */
#define CALL_VECTOR(in, call, slot, values, count)                                                                     \
    do {                                                                                                               \
        if ((count) > 0)                                                                                               \
            CALL(in, call, slot, in, values, count);                                                                   \
        else                                                                                                           \
            TRY(tt_fmi_call_begin(in, call));                                                                          \
    } while (0)

/* As CALL_VECTOR, at a point that may be discarded. */
#define CALL_POINT(in, call, slot, values, count, discarded)                                                           \
    do {                                                                                                               \
        TRY(tt_fmi_call_begin(in, call));                                                                              \
        if (__builtin_expect((count) == 0, 0))                                                                         \
            return TUTTI_OK;                                                                                           \
        struct tt_fmi_call_frame frame_ = tt_fmi_call_enter(in);                                                       \
        enum tt_fmi_status status_ = (in)->binding->slot(in, values, count);                                           \
        tt_fmi_call_leave(frame_);                                                                                     \
        return instance_conclude_point(in, call, status_, discarded);                                                  \
    } while (0)

enum tutti_err tt_instance_count_states(struct tt_instance *in, size_t *states, size_t *indicators)
{
    *states = in->library->desc->state_count;
    *indicators = in->library->desc->event_indicator_count;
    if (in->binding->count_states)
        CALL(in, TUTTI_CALL_COUNT_STATES, count_states, in, states, indicators);
    else
        TRY(tt_fmi_call_begin(in, TUTTI_CALL_COUNT_STATES));
    return TUTTI_OK;
}

enum tutti_err tt_instance_set_time(struct tt_instance *in, double t, bool *discarded)
{
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_SET_TIME));
    double before = in->time;
    in->time = t;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->set_time(in, t);
    tt_fmi_call_leave(frame);
    if (__builtin_expect(status == TUTTI_STATUS_DISCARD, 0))
        in->time = before;
    return instance_conclude_point(in, TUTTI_CALL_SET_TIME, status, discarded);
}

enum tutti_err tt_instance_set_states(struct tt_instance *in, const double *states, size_t count, bool *discarded)
{
    CALL_POINT(in, TUTTI_CALL_SET_STATES, set_states, states, count, discarded);
}

enum tutti_err tt_instance_get_derivatives(struct tt_instance *in, double *derivatives, size_t count, bool *discarded)
{
    CALL_POINT(in, TUTTI_CALL_GET_DERIVATIVES, get_derivatives, derivatives, count, discarded);
}

enum tutti_err tt_instance_get_indicators(struct tt_instance *in, double *indicators, size_t count, bool *discarded)
{
    CALL_POINT(in, TUTTI_CALL_GET_INDICATORS, get_indicators, indicators, count, discarded);
}

enum tutti_err tt_instance_get_states(struct tt_instance *in, double *states, size_t count)
{
    CALL_VECTOR(in, TUTTI_CALL_GET_STATES, get_states, states, count);
    return TUTTI_OK;
}

enum tutti_err tt_instance_get_nominals(struct tt_instance *in, double *nominals, size_t count)
{
    CALL_VECTOR(in, TUTTI_CALL_GET_NOMINALS, get_nominals, nominals, count);
    return TUTTI_OK;
}

enum tutti_err tt_instance_get_state_references(struct tt_instance *in, uint32_t *references, size_t count)
{
    TRY(tt_fmi_call_begin(in, TUTTI_CALL_GET_STATE_REFERENCES));
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = in->binding->get_state_references(in, references, count);
    tt_fmi_call_leave(frame);
    if (status <= TUTTI_STATUS_WARNING || status == TUTTI_STATUS_FATAL || status == TUTTI_STATUS_MEMORY)
        return tt_fmi_call_conclude(in, TUTTI_CALL_GET_STATE_REFERENCES, status);
    in->deferred = 0; /* it does no harm */
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%s (%s): the FMU does not tell which variables its states are",
                   in->options.name, in->library->file);
}

enum tutti_err tt_instance_completed_step(struct tt_instance *in, bool no_going_back, bool *event, bool *terminate)
{
    *event = *terminate = false;
    CALL(in, TUTTI_CALL_COMPLETED_STEP, completed_step, in, no_going_back, event, terminate);
    return TUTTI_OK;
}

enum tutti_err tt_instance_enter_continuous(struct tt_instance *in)
{
    CALL(in, TUTTI_CALL_ENTER_CONTINUOUS, enter_continuous, in);
    return TUTTI_OK;
}
