/* SPDX-License-Identifier: MIT */
#include "fmu/process/forked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmu/process/fork_control.h"

_Static_assert(TUTTI_FORKED_FILE == TUTTI_AREA_SIZE, "the memory file is the area");

struct tt_forked {
    struct tt_binding binding;          /* that of the version, with the functions below */
    uint16_t allowed[TUTTI_CALL_COUNT]; /* FMI 1.0 has no saved states; this has */
    struct tt_fork_control process;
};

/* ---- a call ---- */

/* From forked_start_call() to forked_is_done(): values are put, it is made, results are read. Results lie in the area
 * until the next call. */
struct forked_call {
    struct tt_instance *in;
    struct tt_shared_area *area; /* NULL: the process is lost */
    size_t base;
    bool full; /* the area is full */
    enum tt_fmi_status status;
};

static struct forked_call forked_start_call(struct tt_instance *in)
{
    struct tt_fork_control *process = &in->forked->process;
    struct forked_call call = {.in = in, .area = process->lost ? NULL : process->area, .status = TUTTI_STATUS_LOST};
    call.base = call.area ? call.area->top : 0;
    return call;
}

static void *forked_put(struct forked_call *call, const void *data, size_t size)
{
    void *place = call->area && !call->full ? tt_shared_area_put(call->area, data, size) : NULL;
    call->full = call->full || !place;
    return place;
}

static void forked_put_count(struct forked_call *call, size_t count)
{
    forked_put(call, &(uint64_t){count}, sizeof(uint64_t));
}

static void forked_put_text(struct forked_call *call, const char *text)
{
    call->full = call->full || !call->area || !tt_shared_area_put_text(call->area, text);
}

/* Handles a request that a holder makes during a call. */
static void forked_handle_request(struct tt_instance *in)
{
    struct tt_shared_area *area = in->forked->process.area;
    struct tt_shared_area_cursor cursor = tt_shared_area_start_read(area);
    if (area->word == TUTTI_WORD_MESSAGE) {
        int32_t status = TUTTI_AREA_TAKE(&cursor, int32_t, TUTTI_STATUS_OK);
        const char *category = tt_shared_area_get_text(&cursor), *text = tt_shared_area_get_text(&cursor);
        tt_fmu_callbacks_message(in, (enum tt_fmi_status)status, category, text);
    } else if (area->word == TUTTI_WORD_LOG) {
        int32_t level = TUTTI_AREA_TAKE(&cursor, int32_t, TUTTI_LOG_WARNING);
        const char *text = tt_shared_area_get_text(&cursor);
        if (level < TUTTI_LOG_ERROR || level > TUTTI_LOG_DEBUG)
            level = TUTTI_LOG_WARNING; /* the FMU has overwritten it */
        tt_log(in->options.log, (enum tutti_log_level)level, in->options.name, "%s", text ? text : "");
    } else {
        struct tt_intermediate_update *update = tt_shared_area_get(&cursor, sizeof *update);
        if (update)
            tt_instance_intermediate(in, update);
    }
}

/* Makes the call, by a holder. `made`: one that it may come back from instead. */
static void forked_call_by(struct forked_call *call, enum tt_fork_request word, uint32_t holder, uint32_t made)
{
    struct tt_instance *in = call->in;
    struct tt_fork_control *process = &in->forked->process;
    struct tt_shared_area *area = call->area;
    if (!area)
        return;
    call->status = TUTTI_STATUS_MEMORY;
    if (call->full)
        return;
    area->frame = call->base;
    area->call = (int32_t)in->call;
    area->time = in->time;
    for (area->word = word;; area->word = TUTTI_WORD_ANSWERED) {
        if (!tt_fork_control_pass_turn(process, holder, made)) {
            call->status = TUTTI_STATUS_LOST;
            return;
        }
        if (area->word == TUTTI_WORD_DONE)
            break;
        forked_handle_request(in);
    }
    call->status = (enum tt_fmi_status)area->status;
}

static void forked_call(struct forked_call *call, enum tt_fork_request word)
{
    forked_call_by(call, word, call->in->forked->process.live, 0);
}

static bool forked_is_answered(const struct forked_call *call)
{
    return call->status <= TUTTI_STATUS_WARNING;
}

static enum tt_fmi_status forked_is_done(const struct forked_call *call)
{
    if (call->area)
        call->area->top = call->base;
    return call->status;
}

/* ---- slots of the binding ---- */

static enum tt_fmi_status forked_call_plain(struct tt_instance *in, enum tt_fork_request word)
{
    struct forked_call call = forked_start_call(in);
    forked_call(&call, word);
    return forked_is_done(&call);
}

#define PLAIN(slot, word)                                                                                              \
    static enum tt_fmi_status slot(struct tt_instance *in)                                                             \
    {                                                                                                                  \
        return forked_call_plain(in, word);                                                                            \
    }
PLAIN(forked_enter_configuration, TUTTI_WORD_ENTER_CONFIGURATION)
PLAIN(forked_exit_configuration, TUTTI_WORD_EXIT_CONFIGURATION)
PLAIN(forked_exit_initialization, TUTTI_WORD_EXIT_INITIALIZATION)
PLAIN(forked_enter_event, TUTTI_WORD_ENTER_EVENT)
PLAIN(forked_enter_step, TUTTI_WORD_ENTER_STEP)
PLAIN(forked_enter_continuous, TUTTI_WORD_ENTER_CONTINUOUS)
PLAIN(forked_terminate, TUTTI_WORD_TERMINATE)
PLAIN(forked_reset, TUTTI_WORD_RESET)

static void *instantiate(struct tt_instance *in)
{
    const struct tt_instance_options *options = &in->options;
    struct forked_call call = forked_start_call(in);
    const uint32_t flags[] = {in->logging_on, in->event_mode, options->early_return,
                              options->intermediate_update != NULL};
    forked_put_text(&call, options->name);
    forked_put(&call, flags, sizeof flags);
    forked_put_count(&call, options->intermediate_count);
    forked_put(&call, options->intermediate, options->intermediate_count * sizeof *options->intermediate);
    forked_call(&call, TUTTI_WORD_INSTANTIATE);
    return forked_is_answered(&call) && forked_is_done(&call) == TUTTI_STATUS_OK ? in->forked : NULL;
}

static void forked_free_instance(struct tt_instance *in)
{
    (void)forked_call_plain(in, TUTTI_WORD_FREE);
}

static enum tt_fmi_status forked_set_debug_logging(struct tt_instance *in, bool on, size_t count,
                                                   const char *const *categories)
{
    struct forked_call call = forked_start_call(in);
    forked_put(&call, &on, sizeof on);
    forked_put_count(&call, count);
    for (size_t i = 0; i < count; i++)
        forked_put_text(&call, categories[i]);
    forked_call(&call, TUTTI_WORD_SET_DEBUG_LOGGING);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_call_with_setup(struct tt_instance *in, enum tt_fork_request word)
{
    struct forked_call call = forked_start_call(in);
    forked_put(&call, &in->setup, sizeof in->setup);
    forked_call(&call, word);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_setup_experiment(struct tt_instance *in)
{
    return forked_call_with_setup(in, TUTTI_WORD_SETUP_EXPERIMENT);
}

static enum tt_fmi_status forked_enter_initialization(struct tt_instance *in)
{
    return forked_call_with_setup(in, TUTTI_WORD_ENTER_INITIALIZATION);
}

static enum tt_fmi_status forked_set(struct tt_instance *in, enum tt_type type, const uint32_t *references,
                                     size_t count, const void *values, size_t value_count)
{
    struct forked_call call = forked_start_call(in);
    if (call.area)
        call.area->type = (int32_t)type;
    forked_put_count(&call, count);
    forked_put_count(&call, value_count);
    forked_put(&call, references, count * sizeof *references);
    call.full = call.full || !call.area || !tt_shared_area_put_values(call.area, type, values, value_count);
    forked_call(&call, TUTTI_WORD_SET);
    return forked_is_done(&call);
}

/* Numbers are written in place: an FMU that leaves some alone leaves what the caller had. Texts follow the numbers. */
static enum tt_fmi_status forked_get(struct tt_instance *in, enum tt_type type, const uint32_t *references,
                                     size_t count, void *values, size_t value_count)
{
    struct forked_call call = forked_start_call(in);
    bool texts = tt_type_is_text(type);
    size_t size = texts ? 0 : value_count * tt_type_size(type);
    if (call.area)
        call.area->type = (int32_t)type;
    forked_put_count(&call, count);
    forked_put_count(&call, value_count);
    forked_put(&call, references, count * sizeof *references);
    const void *room = forked_put(&call, values, size);
    struct tt_shared_area_cursor answer = {.area = call.area, .at = call.area ? call.area->top : 0};
    forked_call(&call, TUTTI_WORD_GET);
    if (forked_is_answered(&call) && texts)
        tt_shared_area_get_texts(&answer, type, values, value_count);
    else if (forked_is_answered(&call))
        memcpy(values, room, size);
    return forked_is_done(&call);
}

static void forked_put_derivatives(struct forked_call *call, const uint32_t *references, size_t count,
                                   const int32_t *orders)
{
    forked_put_count(call, count);
    forked_put(call, references, count * sizeof *references);
    forked_put(call, orders, count * sizeof *orders);
}

static enum tt_fmi_status forked_set_input_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                       const int32_t *orders, const double *values)
{
    struct forked_call call = forked_start_call(in);
    forked_put_derivatives(&call, references, count, orders);
    forked_put(&call, values, count * sizeof *values);
    forked_call(&call, TUTTI_WORD_SET_INPUT_DERIVATIVES);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_get_output_derivatives(struct tt_instance *in, const uint32_t *references,
                                                        size_t count, const int32_t *orders, double *values)
{
    struct forked_call call = forked_start_call(in);
    forked_put_derivatives(&call, references, count, orders);
    const void *room = forked_put(&call, values, count * sizeof *values);
    forked_call(&call, TUTTI_WORD_GET_OUTPUT_DERIVATIVES);
    if (forked_is_answered(&call))
        memcpy(values, room, count * sizeof *values);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_get_directional(struct tt_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                                 const uint32_t *knowns, size_t known_count, const double *seed,
                                                 size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    struct forked_call call = forked_start_call(in);
    forked_put_count(&call, unknown_count);
    forked_put_count(&call, known_count);
    forked_put_count(&call, seed_count);
    forked_put_count(&call, sensitivity_count);
    forked_put(&call, unknowns, unknown_count * sizeof *unknowns);
    forked_put(&call, knowns, known_count * sizeof *knowns);
    forked_put(&call, seed, seed_count * sizeof *seed);
    const void *room = forked_put(&call, sensitivity, sensitivity_count * sizeof *sensitivity);
    forked_call(&call, TUTTI_WORD_GET_DIRECTIONAL);
    if (forked_is_answered(&call))
        memcpy(sensitivity, room, sensitivity_count * sizeof *sensitivity);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_do_step(struct tt_instance *in, double t, double h, bool no_going_back,
                                         struct tt_fmi_step *step)
{
    struct forked_call call = forked_start_call(in);
    forked_put(&call, &t, sizeof t);
    forked_put(&call, &h, sizeof h);
    forked_put(&call, &no_going_back, sizeof no_going_back);
    const struct tt_fmi_step *room = forked_put(&call, step, sizeof *step);
    forked_call(&call, TUTTI_WORD_DO_STEP);
    if (room && call.status < TUTTI_STATUS_MEMORY) /* a discarded step has results, too */
        *step = *room;
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_after_step(struct tt_instance *in, double t, enum tt_fmi_status status,
                                            struct tt_fmi_step *step)
{
    if (status >= TUTTI_STATUS_MEMORY) /* the FMU did not say this */
        return status;
    struct forked_call call = forked_start_call(in);
    forked_put(&call, &t, sizeof t);
    forked_put(&call, &status, sizeof status);
    const struct tt_fmi_step *room = forked_put(&call, step, sizeof *step);
    forked_call(&call, TUTTI_WORD_AFTER_STEP);
    if (room && call.status < TUTTI_STATUS_MEMORY)
        *step = *room;
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_update_discrete(struct tt_instance *in, struct tt_discrete_update *discrete)
{
    struct forked_call call = forked_start_call(in);
    const struct tt_discrete_update *room = forked_put(&call, discrete, sizeof *discrete);
    forked_call(&call, TUTTI_WORD_UPDATE_DISCRETE);
    if (forked_is_answered(&call))
        *discrete = *room;
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_count_states(struct tt_instance *in, size_t *states, size_t *indicators)
{
    struct forked_call call = forked_start_call(in);
    const uint64_t both[] = {*states, *indicators}, *room = forked_put(&call, both, sizeof both);
    forked_call(&call, TUTTI_WORD_COUNT_STATES);
    if (forked_is_answered(&call)) {
        *states = room[0];
        *indicators = room[1];
    }
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_set_time(struct tt_instance *in, double t)
{
    struct forked_call call = forked_start_call(in);
    forked_put(&call, &t, sizeof t);
    forked_call(&call, TUTTI_WORD_SET_TIME);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_set_states(struct tt_instance *in, const double *states, size_t count)
{
    struct forked_call call = forked_start_call(in);
    forked_put_count(&call, count);
    forked_put(&call, states, count * sizeof *states);
    forked_call(&call, TUTTI_WORD_SET_STATES);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_get_vector(struct tt_instance *in, enum tt_fork_request word, void *values,
                                            size_t count, size_t size)
{
    struct forked_call call = forked_start_call(in);
    forked_put_count(&call, count);
    const void *room = forked_put(&call, values, count * size);
    forked_call(&call, word);
    if (forked_is_answered(&call))
        memcpy(values, room, count * size);
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_get_states(struct tt_instance *in, double *states, size_t count)
{
    return forked_get_vector(in, TUTTI_WORD_GET_STATES, states, count, sizeof *states);
}

static enum tt_fmi_status forked_get_derivatives(struct tt_instance *in, double *derivatives, size_t count)
{
    return forked_get_vector(in, TUTTI_WORD_GET_DERIVATIVES, derivatives, count, sizeof *derivatives);
}

static enum tt_fmi_status forked_get_indicators(struct tt_instance *in, double *indicators, size_t count)
{
    return forked_get_vector(in, TUTTI_WORD_GET_INDICATORS, indicators, count, sizeof *indicators);
}

static enum tt_fmi_status forked_get_nominals(struct tt_instance *in, double *nominals, size_t count)
{
    return forked_get_vector(in, TUTTI_WORD_GET_NOMINALS, nominals, count, sizeof *nominals);
}

static enum tt_fmi_status forked_get_state_references(struct tt_instance *in, uint32_t *references, size_t count)
{
    return forked_get_vector(in, TUTTI_WORD_GET_STATE_REFERENCES, references, count, sizeof *references);
}

static enum tt_fmi_status forked_completed_step(struct tt_instance *in, bool no_going_back, bool *event,
                                                bool *terminate_run)
{
    struct forked_call call = forked_start_call(in);
    const bool flags[] = {no_going_back, *event, *terminate_run}, *room = forked_put(&call, flags, sizeof flags);
    forked_call(&call, TUTTI_WORD_COMPLETED_STEP);
    if (forked_is_answered(&call)) {
        *event = room[1];
        *terminate_run = room[2];
    }
    return forked_is_done(&call);
}

/* ---- points ---- */

static void *forked_handle_of(uint32_t number)
{
    return (void *)(uintptr_t)number; /* NOLINT(performance-no-int-to-ptr): callers take it for the FMU's */
}

static uint32_t forked_number_of(const void *handle)
{
    return (uint32_t)(uintptr_t)handle;
}

/* A call about the process itself: UNFIT comes with a reason. */
static enum tt_fmi_status forked_call_process(struct tt_instance *in, enum tt_fork_request word, uint32_t holder,
                                              uint32_t made)
{
    struct tt_fork_control *process = &in->forked->process;
    struct forked_call call = forked_start_call(in);
    if (call.area)
        call.area->number = made;
    struct tt_shared_area_cursor answer = {.area = call.area, .at = call.base};
    forked_call_by(&call, word, holder, made);
    if (call.status == TUTTI_STATUS_UNFIT) {
        const char *why = tt_shared_area_get_text(&answer);
        snprintf(process->trouble, sizeof process->trouble, "%s", why ? why : "it is not known why");
    }
    return forked_is_done(&call);
}

static enum tt_fmi_status forked_quit(struct tt_instance *in, uint32_t holder)
{
    return forked_call_process(in, TUTTI_WORD_QUIT, holder, 0);
}

/* Requests a fork from the current holder or from a saved point. */
static enum tt_fmi_status forked_fork(struct tt_instance *in, enum tt_fork_request word, uint32_t holder)
{
    struct tt_fork_control *process = &in->forked->process;
    if (process->lost)
        return TUTTI_STATUS_LOST;
    uint32_t made = tt_fork_control_free_number(process);
    if (made == 0) {
        snprintf(process->trouble, sizeof process->trouble, "there are %d points already", TUTTI_AREA_HOLDERS - 2);
        return TUTTI_STATUS_UNFIT;
    }
    enum tt_fmi_status status = forked_call_process(in, word, holder, made);
    if (status == TUTTI_STATUS_OK)
        process->live = made;
    return status;
}

static enum tt_fmi_status forked_free_state(struct tt_instance *in, void **handle)
{
    enum tt_fmi_status status = forked_quit(in, forked_number_of(*handle));
    *handle = NULL;
    return status;
}

static enum tt_fmi_status forked_get_state(struct tt_instance *in, void **handle)
{
    uint32_t before = in->forked->process.live;
    enum tt_fmi_status status = forked_fork(in, TUTTI_WORD_SAVE, before);
    if (status == TUTTI_STATUS_OK && *handle)
        status = forked_free_state(in, handle);
    if (status == TUTTI_STATUS_OK)
        *handle = forked_handle_of(before);
    return status;
}

static enum tt_fmi_status forked_set_state(struct tt_instance *in, void *handle)
{
    enum tt_fmi_status status = forked_quit(in, in->forked->process.live);
    if (status == TUTTI_STATUS_OK)
        status = forked_fork(in, TUTTI_WORD_RESUME, forked_number_of(handle));
    if (status != TUTTI_STATUS_OK)
        in->forked->process.lost = true; /* no process is left that could continue */
    return status;
}

/* ---- the binding ---- */

/* Fills in the slots that the version has, and saved states in addition. */
static void forked_fill_binding(struct tt_binding *binding)
{
#define TAKE_OVER(slot) binding->slot = binding->slot ? forked_##slot : NULL
    binding->instantiate = instantiate;
    binding->free = forked_free_instance;
    TAKE_OVER(set_debug_logging);
    TAKE_OVER(enter_configuration);
    TAKE_OVER(exit_configuration);
    TAKE_OVER(setup_experiment);
    TAKE_OVER(enter_initialization);
    TAKE_OVER(exit_initialization);
    TAKE_OVER(set);
    TAKE_OVER(get);
    TAKE_OVER(set_input_derivatives);
    TAKE_OVER(get_output_derivatives);
    TAKE_OVER(get_directional);
    TAKE_OVER(do_step);
    TAKE_OVER(after_step);
    TAKE_OVER(enter_event);
    TAKE_OVER(update_discrete);
    TAKE_OVER(enter_step);
    TAKE_OVER(terminate);
    TAKE_OVER(reset);
    TAKE_OVER(count_states);
    TAKE_OVER(set_time);
    TAKE_OVER(set_states);
    TAKE_OVER(get_states);
    TAKE_OVER(get_derivatives);
    TAKE_OVER(get_indicators);
    TAKE_OVER(get_nominals);
    TAKE_OVER(get_state_references);
    TAKE_OVER(completed_step);
    TAKE_OVER(enter_continuous);
#undef TAKE_OVER
    binding->get_state = forked_get_state;
    binding->set_state = forked_set_state;
    binding->free_state = forked_free_state;
    binding->serialized_size = NULL;
    binding->serialize = NULL;
    binding->deserialize = NULL;
}

/* Sends the description of the library to the keeper. */
static void forked_put_library(struct forked_call *call, const struct tt_library *library, bool tells)
{
    const struct tt_interface *interface = library->interface;
    const uint32_t numbers[TUTTI_AREA_LIBRARY_NUMBERS] = {
        [TUTTI_AREA_LIBRARY_FMI] = (uint32_t)library->desc->fmi,
        [TUTTI_AREA_LIBRARY_KIND] = (uint32_t)library->kind,
        [TUTTI_AREA_LIBRARY_FLAGS] = interface->flags,
        [TUTTI_AREA_LIBRARY_ORDER] = interface->max_output_derivative_order,
        [TUTTI_AREA_LIBRARY_TELLS] = tells,
    };
    forked_put(call, numbers, sizeof numbers);
    forked_put_text(call, library->path);
    forked_put_text(call, library->folder);
    forked_put_text(call, library->has_resources ? library->resources : NULL);
    forked_put_text(call, interface->model_identifier);
    forked_put_text(call, library->desc->token);
    forked_put_text(call, library->file);
}

/* *can: what the description and the library both offer. */
static enum tutti_err forked_load(struct tt_instance *in, bool tells, uint32_t *can)
{
    struct forked_call call = forked_start_call(in);
    forked_put_library(&call, in->library, tells);
    struct tt_shared_area_cursor answer = {.area = call.area, .at = call.area ? call.area->top : 0};
    forked_call(&call, TUTTI_WORD_LOAD);
    if (call.status == TUTTI_STATUS_OK)
        *can = TUTTI_AREA_TAKE(&answer, uint32_t, 0);
    else if (call.status == TUTTI_STATUS_LOST)
        tt_fail(TUTTI_ERR_LOST, "%s (%s): the process of the FMU, which was loading its library, %s", in->options.name,
                in->library->file, in->forked->process.trouble);
    else {
        const char *why = tt_shared_area_get_text(&answer);
        why = why ? why : "it is not known why";
        if (in->library->keeper)
            tt_fail(TUTTI_ERR_LOAD,
                    "%s: %s, which runs libraries for another platform than this one, cannot load the FMU's: %s",
                    in->library->file, in->library->keeper, why);
        else
            tt_fail(TUTTI_ERR_LOAD, "%s (%s): the library cannot be loaded once more, in a process of its own: %s",
                    in->options.name, in->library->file, why);
    }
    return forked_is_done(&call) == TUTTI_STATUS_OK ? TUTTI_OK
           : call.status == TUTTI_STATUS_LOST       ? TUTTI_ERR_LOST
                                                    : TUTTI_ERR_LOAD;
}

static enum tutti_err forked_start(struct tt_instance *in, bool tells, uint32_t *can)
{
    const char *keeper = in->library->keeper;
    in->forked = calloc(1, sizeof *in->forked);
    if (!in->forked)
        return tt_fail_memory();
    TRY(tt_fork_control_start(&in->forked->process, keeper ? keeper : TUTTI_FORKED_PROGRAM));
    return forked_load(in, tells, can);
}

/* States are saved by forking, whatever the FMU offers. */
static uint32_t can_with_forks(uint32_t can)
{
    return (can | TUTTI_CAN_STATE) & ~(uint32_t)TUTTI_CAN_SERIALIZE;
}

enum tutti_err tt_forked_probe(struct tt_library *library, const struct tutti_log *log)
{
    struct tt_instance in = {
        .library = library, .binding = library->binding, .options = {.name = library->file, .log = log}, .time = NAN};
    uint32_t can = 0;
    enum tutti_err err = forked_start(&in, true, &can);
    tt_forked_close(&in);
    /* No clock, no thread and no adjoint derivative reaches into another process. */
    library->can = can_with_forks(can) & ~(uint32_t)(TUTTI_CAN_RUN_ASYNCHRONOUSLY | TUTTI_CAN_ADJOINT);
    return err;
}

enum tutti_err tt_forked_open(struct tt_instance *in)
{
    static const enum tt_fmi_call about_states[] = {TUTTI_CALL_GET_STATE, TUTTI_CALL_SET_STATE, TUTTI_CALL_FREE_STATE};
    uint32_t can = 0;
    TRY(forked_start(in, false, &can));
    struct tt_forked *forked = in->forked;
    const uint16_t *allowed = in->allowed, *with_states = tt_fmi_state_table(in->library->kind, 2);
    memcpy(forked->allowed, allowed, sizeof forked->allowed);
    for (size_t i = 0; i < sizeof about_states / sizeof *about_states; i++)
        forked->allowed[about_states[i]] |= with_states[about_states[i]];
    forked->binding = *in->binding;
    forked_fill_binding(&forked->binding);
    in->binding = &forked->binding;
    in->allowed = forked->allowed;
    in->can = can_with_forks(in->can);
    return TUTTI_OK;
}

void tt_forked_close(struct tt_instance *in)
{
    if (!in->forked)
        return;
    tt_fork_control_stop(&in->forked->process);
    in->binding = in->library->binding;
    in->allowed = tt_fmi_state_table(in->library->kind, in->binding->fmi);
    free(in->forked);
    in->forked = NULL;
}

enum tutti_err tt_forked_check(struct tt_instance *in)
{
    enum tt_fmi_status status = forked_call_process(in, TUTTI_WORD_LOOK, in->forked->process.live, 0);
    return status == TUTTI_STATUS_OK ? TUTTI_OK
                                     : tt_fail(status == TUTTI_STATUS_LOST ? TUTTI_ERR_LOST : TUTTI_ERR_UNSUPPORTED,
                                               "%s (%s): the FMU cannot be taken back by forking its process "
                                               "(--rollback fork): %s",
                                               in->options.name, in->library->file, tt_forked_failure(in));
}

bool tt_forked_is_lost(const struct tt_instance *in)
{
    return in->forked && in->forked->process.lost;
}

const char *tt_forked_failure(const struct tt_instance *in)
{
    return in->forked ? in->forked->process.trouble : "";
}
