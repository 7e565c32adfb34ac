/* SPDX-License-Identifier: MIT */
#include "fmi/forked/forked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fmi/forked/process.h"

_Static_assert(TUTTI_FORKED_FILE == TUTTI_AREA_SIZE, "the memory file is the area");

struct tutti_forked {
    struct tutti_binding binding;       /* that of the version, with the functions below */
    uint16_t allowed[TUTTI_CALL_COUNT]; /* FMI 1.0 has no saved states; this has */
    struct tutti_process process;
};

/* ---- a call ---- */

/* From begin() to done(): values are put, it is made, results are read. Everything that comes of it lies in the area until the
 * next call. */
struct call {
    struct tutti_instance *in;
    struct tutti_area *area; /* NULL: the process is lost */
    size_t base;
    bool full; /* there was no room */
    enum tutti_status status;
};

static struct call begin(struct tutti_instance *in)
{
    struct tutti_process *process = &in->forked->process;
    struct call call = {.in = in, .area = process->lost ? NULL : process->area, .status = TUTTI_STATUS_LOST};
    call.base = call.area ? call.area->top : 0;
    return call;
}

static void *put(struct call *call, const void *data, size_t size)
{
    void *place = call->area && !call->full ? tutti_area_put(call->area, data, size) : NULL;
    call->full = call->full || !place;
    return place;
}

static void put_count(struct call *call, size_t count)
{
    put(call, &(uint64_t){count}, sizeof(uint64_t));
}

static void put_text(struct call *call, const char *text)
{
    call->full = call->full || !call->area || !tutti_area_put_text(call->area, text);
}

/* What a holder tells or asks while it is in a call. */
static void hear(struct tutti_instance *in)
{
    struct tutti_area *area = in->forked->process.area;
    struct tutti_area_cursor cursor = tutti_area_read(area);
    if (area->word == TUTTI_WORD_MESSAGE) {
        int32_t status = TUTTI_AREA_TAKE(&cursor, int32_t, TUTTI_STATUS_OK);
        const char *category = tutti_area_take_text(&cursor), *text = tutti_area_take_text(&cursor);
        tutti_instance_message(in, (enum tutti_status)status, category, text);
    } else if (area->word == TUTTI_WORD_LOG) {
        int32_t level = TUTTI_AREA_TAKE(&cursor, int32_t, TUTTI_LOG_WARNING);
        const char *text = tutti_area_take_text(&cursor);
        if (level < TUTTI_LOG_ERROR || level > TUTTI_LOG_DEBUG)
            level = TUTTI_LOG_WARNING; /* the FMU has overwritten it */
        tutti_log_printf(in->options.log, (enum tutti_log_level)level, in->options.name, "%s", text ? text : "");
    } else {
        struct tutti_intermediate *update = tutti_area_take(&cursor, sizeof *update);
        if (update)
            tutti_instance_update_between(in, update);
    }
}

/* Makes the call, by a holder. `made`: one that it may come back from instead. */
static void make_by(struct call *call, enum tutti_word word, uint32_t holder, uint32_t made)
{
    struct tutti_instance *in = call->in;
    struct tutti_process *process = &in->forked->process;
    struct tutti_area *area = call->area;
    if (!area)
        return;
    call->status = TUTTI_STATUS_MEMORY;
    if (call->full)
        return;
    area->frame = call->base;
    area->call = (int32_t)in->call;
    area->time = in->time;
    for (area->word = word;; area->word = TUTTI_WORD_ANSWERED) {
        if (!tutti_process_turn(process, holder, made)) {
            call->status = TUTTI_STATUS_LOST;
            return;
        }
        if (area->word == TUTTI_WORD_DONE)
            break;
        hear(in);
    }
    call->status = (enum tutti_status)area->status;
}

static void make(struct call *call, enum tutti_word word)
{
    make_by(call, word, call->in->forked->process.live, 0);
}

static bool is_answered(const struct call *call)
{
    return call->status <= TUTTI_STATUS_WARNING;
}

static enum tutti_status done(const struct call *call)
{
    if (call->area)
        call->area->top = call->base;
    return call->status;
}

/* ---- slots of the binding ---- */

static enum tutti_status call_plain(struct tutti_instance *in, enum tutti_word word)
{
    struct call call = begin(in);
    make(&call, word);
    return done(&call);
}

#define PLAIN(slot, word)                                                                                              \
    static enum tutti_status slot(struct tutti_instance *in)                                                           \
    {                                                                                                                  \
        return call_plain(in, word);                                                                                   \
    }
PLAIN(enter_configuration, TUTTI_WORD_ENTER_CONFIGURATION)
PLAIN(exit_configuration, TUTTI_WORD_EXIT_CONFIGURATION)
PLAIN(exit_initialization, TUTTI_WORD_EXIT_INITIALIZATION)
PLAIN(enter_event, TUTTI_WORD_ENTER_EVENT)
PLAIN(enter_step, TUTTI_WORD_ENTER_STEP)
PLAIN(enter_continuous, TUTTI_WORD_ENTER_CONTINUOUS)
PLAIN(terminate, TUTTI_WORD_TERMINATE)
PLAIN(reset, TUTTI_WORD_RESET)

static void *instantiate(struct tutti_instance *in)
{
    const struct tutti_instance_options *options = &in->options;
    struct call call = begin(in);
    const uint32_t flags[] = {in->logging_on, in->event_mode, options->early_return,
                              options->intermediate_update != NULL};
    put_text(&call, options->name);
    put(&call, flags, sizeof flags);
    put_count(&call, options->intermediate_count);
    put(&call, options->intermediate, options->intermediate_count * sizeof *options->intermediate);
    make(&call, TUTTI_WORD_INSTANTIATE);
    return is_answered(&call) && done(&call) == TUTTI_STATUS_OK ? in->forked : NULL;
}

static void free_instance(struct tutti_instance *in)
{
    (void)call_plain(in, TUTTI_WORD_FREE);
}

static enum tutti_status set_debug_logging(struct tutti_instance *in, bool on, size_t count,
                                           const char *const *categories)
{
    struct call call = begin(in);
    put(&call, &on, sizeof on);
    put_count(&call, count);
    for (size_t i = 0; i < count; i++)
        put_text(&call, categories[i]);
    make(&call, TUTTI_WORD_SET_DEBUG_LOGGING);
    return done(&call);
}

static enum tutti_status call_with_setup(struct tutti_instance *in, enum tutti_word word)
{
    struct call call = begin(in);
    put(&call, &in->setup, sizeof in->setup);
    make(&call, word);
    return done(&call);
}

static enum tutti_status setup_experiment(struct tutti_instance *in)
{
    return call_with_setup(in, TUTTI_WORD_SETUP_EXPERIMENT);
}

static enum tutti_status enter_initialization(struct tutti_instance *in)
{
    return call_with_setup(in, TUTTI_WORD_ENTER_INITIALIZATION);
}

static enum tutti_status set(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             const void *values, size_t value_count)
{
    struct call call = begin(in);
    if (call.area)
        call.area->type = (int32_t)type;
    put_count(&call, count);
    put_count(&call, value_count);
    put(&call, references, count * sizeof *references);
    call.full = call.full || !call.area || !tutti_area_put_values(call.area, type, values, value_count);
    make(&call, TUTTI_WORD_SET);
    return done(&call);
}

/* Numbers are written in place: an FMU that leaves some alone leaves what the caller had. Texts follow the numbers. */
static enum tutti_status get(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             void *values, size_t value_count)
{
    struct call call = begin(in);
    bool texts = tutti_type_is_text(type);
    size_t size = texts ? 0 : value_count * tutti_type_size(type);
    if (call.area)
        call.area->type = (int32_t)type;
    put_count(&call, count);
    put_count(&call, value_count);
    put(&call, references, count * sizeof *references);
    const void *room = put(&call, values, size);
    struct tutti_area_cursor answer = {.area = call.area, .at = call.area ? call.area->top : 0};
    make(&call, TUTTI_WORD_GET);
    if (is_answered(&call) && texts)
        tutti_area_take_texts(&answer, type, values, value_count);
    else if (is_answered(&call))
        memcpy(values, room, size);
    return done(&call);
}

static void put_derivatives(struct call *call, const uint32_t *references, size_t count, const int32_t *orders)
{
    put_count(call, count);
    put(call, references, count * sizeof *references);
    put(call, orders, count * sizeof *orders);
}

static enum tutti_status set_input_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                               const int32_t *orders, const double *values)
{
    struct call call = begin(in);
    put_derivatives(&call, references, count, orders);
    put(&call, values, count * sizeof *values);
    make(&call, TUTTI_WORD_SET_INPUT_DERIVATIVES);
    return done(&call);
}

static enum tutti_status get_output_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                                const int32_t *orders, double *values)
{
    struct call call = begin(in);
    put_derivatives(&call, references, count, orders);
    const void *room = put(&call, values, count * sizeof *values);
    make(&call, TUTTI_WORD_GET_OUTPUT_DERIVATIVES);
    if (is_answered(&call))
        memcpy(values, room, count * sizeof *values);
    return done(&call);
}

static enum tutti_status get_directional(struct tutti_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                         const uint32_t *knowns, size_t known_count, const double *seed,
                                         size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    struct call call = begin(in);
    put_count(&call, unknown_count);
    put_count(&call, known_count);
    put_count(&call, seed_count);
    put_count(&call, sensitivity_count);
    put(&call, unknowns, unknown_count * sizeof *unknowns);
    put(&call, knowns, known_count * sizeof *knowns);
    put(&call, seed, seed_count * sizeof *seed);
    const void *room = put(&call, sensitivity, sensitivity_count * sizeof *sensitivity);
    make(&call, TUTTI_WORD_GET_DIRECTIONAL);
    if (is_answered(&call))
        memcpy(sensitivity, room, sensitivity_count * sizeof *sensitivity);
    return done(&call);
}

static enum tutti_status do_step(struct tutti_instance *in, double t, double h, bool no_going_back,
                                 struct tutti_step *step)
{
    struct call call = begin(in);
    put(&call, &t, sizeof t);
    put(&call, &h, sizeof h);
    put(&call, &no_going_back, sizeof no_going_back);
    const struct tutti_step *room = put(&call, step, sizeof *step);
    make(&call, TUTTI_WORD_DO_STEP);
    if (room && call.status < TUTTI_STATUS_MEMORY) /* a step that was discarded tells something, too */
        *step = *room;
    return done(&call);
}

static enum tutti_status after_step(struct tutti_instance *in, double t, enum tutti_status status,
                                    struct tutti_step *step)
{
    if (status >= TUTTI_STATUS_MEMORY) /* the FMU did not say this */
        return status;
    struct call call = begin(in);
    put(&call, &t, sizeof t);
    put(&call, &status, sizeof status);
    const struct tutti_step *room = put(&call, step, sizeof *step);
    make(&call, TUTTI_WORD_AFTER_STEP);
    if (room && call.status < TUTTI_STATUS_MEMORY)
        *step = *room;
    return done(&call);
}

static enum tutti_status update_discrete(struct tutti_instance *in, struct tutti_discrete *discrete)
{
    struct call call = begin(in);
    const struct tutti_discrete *room = put(&call, discrete, sizeof *discrete);
    make(&call, TUTTI_WORD_UPDATE_DISCRETE);
    if (is_answered(&call))
        *discrete = *room;
    return done(&call);
}

static enum tutti_status count_states(struct tutti_instance *in, size_t *states, size_t *indicators)
{
    struct call call = begin(in);
    const uint64_t both[] = {*states, *indicators}, *room = put(&call, both, sizeof both);
    make(&call, TUTTI_WORD_COUNT_STATES);
    if (is_answered(&call)) {
        *states = room[0];
        *indicators = room[1];
    }
    return done(&call);
}

static enum tutti_status set_time(struct tutti_instance *in, double t)
{
    struct call call = begin(in);
    put(&call, &t, sizeof t);
    make(&call, TUTTI_WORD_SET_TIME);
    return done(&call);
}

static enum tutti_status set_states(struct tutti_instance *in, const double *states, size_t count)
{
    struct call call = begin(in);
    put_count(&call, count);
    put(&call, states, count * sizeof *states);
    make(&call, TUTTI_WORD_SET_STATES);
    return done(&call);
}

static enum tutti_status get_vector(struct tutti_instance *in, enum tutti_word word, void *values, size_t count,
                                    size_t size)
{
    struct call call = begin(in);
    put_count(&call, count);
    const void *room = put(&call, values, count * size);
    make(&call, word);
    if (is_answered(&call))
        memcpy(values, room, count * size);
    return done(&call);
}

static enum tutti_status get_states(struct tutti_instance *in, double *states, size_t count)
{
    return get_vector(in, TUTTI_WORD_GET_STATES, states, count, sizeof *states);
}

static enum tutti_status get_derivatives(struct tutti_instance *in, double *derivatives, size_t count)
{
    return get_vector(in, TUTTI_WORD_GET_DERIVATIVES, derivatives, count, sizeof *derivatives);
}

static enum tutti_status get_indicators(struct tutti_instance *in, double *indicators, size_t count)
{
    return get_vector(in, TUTTI_WORD_GET_INDICATORS, indicators, count, sizeof *indicators);
}

static enum tutti_status get_nominals(struct tutti_instance *in, double *nominals, size_t count)
{
    return get_vector(in, TUTTI_WORD_GET_NOMINALS, nominals, count, sizeof *nominals);
}

static enum tutti_status get_state_references(struct tutti_instance *in, uint32_t *references, size_t count)
{
    return get_vector(in, TUTTI_WORD_GET_STATE_REFERENCES, references, count, sizeof *references);
}

static enum tutti_status completed_step(struct tutti_instance *in, bool no_going_back, bool *event, bool *terminate_run)
{
    struct call call = begin(in);
    const bool flags[] = {no_going_back, *event, *terminate_run}, *room = put(&call, flags, sizeof flags);
    make(&call, TUTTI_WORD_COMPLETED_STEP);
    if (is_answered(&call)) {
        *event = room[1];
        *terminate_run = room[2];
    }
    return done(&call);
}

/* ---- points ---- */

static void *handle_of(uint32_t number)
{
    return (void *)(uintptr_t)number; /* NOLINT(performance-no-int-to-ptr): callers take it for the FMU's */
}

static uint32_t number_of(const void *handle)
{
    return (uint32_t)(uintptr_t)handle;
}

/* A call that only tells of the process: UNFIT comes with words. */
static enum tutti_status call_process(struct tutti_instance *in, enum tutti_word word, uint32_t holder, uint32_t made)
{
    struct tutti_process *process = &in->forked->process;
    struct call call = begin(in);
    if (call.area)
        call.area->number = made;
    struct tutti_area_cursor answer = {.area = call.area, .at = call.base};
    make_by(&call, word, holder, made);
    if (call.status == TUTTI_STATUS_UNFIT) {
        const char *why = tutti_area_take_text(&answer);
        snprintf(process->trouble, sizeof process->trouble, "%s", why ? why : "it is not known why");
    }
    return done(&call);
}

static enum tutti_status quit(struct tutti_instance *in, uint32_t holder)
{
    return call_process(in, TUTTI_WORD_QUIT, holder, 0);
}

/* A fork, by the holder that goes on or by a point. */
static enum tutti_status split(struct tutti_instance *in, enum tutti_word word, uint32_t holder)
{
    struct tutti_process *process = &in->forked->process;
    if (process->lost)
        return TUTTI_STATUS_LOST;
    uint32_t made = tutti_process_free_number(process);
    if (made == 0) {
        snprintf(process->trouble, sizeof process->trouble, "there are %d points already", TUTTI_AREA_HOLDERS - 2);
        return TUTTI_STATUS_UNFIT;
    }
    enum tutti_status status = call_process(in, word, holder, made);
    if (status == TUTTI_STATUS_OK)
        process->live = made;
    return status;
}

static enum tutti_status free_state(struct tutti_instance *in, void **handle)
{
    enum tutti_status status = quit(in, number_of(*handle));
    *handle = NULL;
    return status;
}

static enum tutti_status get_state(struct tutti_instance *in, void **handle)
{
    uint32_t before = in->forked->process.live;
    enum tutti_status status = split(in, TUTTI_WORD_SAVE, before);
    if (status == TUTTI_STATUS_OK && *handle)
        status = free_state(in, handle);
    if (status == TUTTI_STATUS_OK)
        *handle = handle_of(before);
    return status;
}

static enum tutti_status set_state(struct tutti_instance *in, void *handle)
{
    enum tutti_status status = quit(in, in->forked->process.live);
    if (status == TUTTI_STATUS_OK)
        status = split(in, TUTTI_WORD_RESUME, number_of(handle));
    if (status != TUTTI_STATUS_OK)
        in->forked->process.lost = true; /* no process is left that could go on */
    return status;
}

/* ---- the binding ---- */

/* What a version does not have, this has not either; but saved states. */
static void fill(struct tutti_binding *binding)
{
#define TAKE_OVER(slot) binding->slot = binding->slot ? (slot) : NULL
    binding->instantiate = instantiate;
    binding->free = free_instance;
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
    binding->get_state = get_state;
    binding->set_state = set_state;
    binding->free_state = free_state;
    binding->serialized_size = NULL;
    binding->serialize = NULL;
    binding->deserialize = NULL;
}

/* What a keeper has to know of the library. */
static void put_library(struct call *call, const struct tutti_library *library, bool tells)
{
    const struct tutti_interface *interface = library->interface;
    const uint32_t numbers[TUTTI_AREA_LIBRARY_NUMBERS] = {
        [TUTTI_AREA_LIBRARY_FMI] = (uint32_t)library->desc->fmi,
        [TUTTI_AREA_LIBRARY_KIND] = (uint32_t)library->kind,
        [TUTTI_AREA_LIBRARY_FLAGS] = interface->flags,
        [TUTTI_AREA_LIBRARY_ORDER] = interface->max_output_derivative_order,
        [TUTTI_AREA_LIBRARY_TELLS] = tells,
    };
    put(call, numbers, sizeof numbers);
    put_text(call, library->path);
    put_text(call, library->folder);
    put_text(call, library->has_resources ? library->resources : NULL);
    put_text(call, interface->model_identifier);
    put_text(call, library->desc->token);
    put_text(call, library->file);
}

static enum tutti_err fail_load(const struct tutti_instance *in, const char *why)
{
    const struct tutti_library *library = in->library;
    if (library->keeper)
        return tutti_fail(TUTTI_ERR_LOAD,
                          "%s: %s, which runs libraries for another platform than this one, cannot load the FMU's: %s",
                          library->file, library->keeper, why);
    return tutti_fail(TUTTI_ERR_LOAD, "%s (%s): the library cannot be loaded once more, in a process of its own: %s",
                      in->options.name, library->file, why);
}

/* *can: what the description and the library both offer. */
static enum tutti_err load(struct tutti_instance *in, bool tells, uint32_t *can)
{
    struct call call = begin(in);
    put_library(&call, in->library, tells);
    struct tutti_area_cursor answer = {.area = call.area, .at = call.area ? call.area->top : 0};
    make(&call, TUTTI_WORD_LOAD);
    if (call.status == TUTTI_STATUS_OK)
        *can = TUTTI_AREA_TAKE(&answer, uint32_t, 0);
    else if (call.status == TUTTI_STATUS_LOST)
        tutti_fail(TUTTI_ERR_LOST, "%s (%s): the process of the FMU, which was loading its library, %s",
                   in->options.name, in->library->file, in->forked->process.trouble);
    else {
        const char *why = tutti_area_take_text(&answer);
        fail_load(in, why ? why : "it is not known why");
    }
    return done(&call) == TUTTI_STATUS_OK     ? TUTTI_OK
           : call.status == TUTTI_STATUS_LOST ? TUTTI_ERR_LOST
                                              : TUTTI_ERR_LOAD;
}

static enum tutti_err start(struct tutti_instance *in, bool tells, uint32_t *can)
{
    const char *keeper = in->library->keeper;
    in->forked = calloc(1, sizeof *in->forked);
    if (!in->forked)
        return tutti_fail_memory();
    TRY(tutti_process_start(&in->forked->process, keeper ? keeper : TUTTI_FORKED_PROGRAM));
    return load(in, tells, can);
}

/* States are saved by forking, whatever the FMU offers. */
static uint32_t with_forks(uint32_t can)
{
    return (can | TUTTI_CAN_STATE) & ~(uint32_t)TUTTI_CAN_SERIALIZE;
}

enum tutti_err tutti_forked_probe(struct tutti_library *library, const struct tutti_log *log)
{
    struct tutti_instance in = {
        .library = library, .binding = library->binding, .options = {.name = library->file, .log = log}, .time = NAN};
    uint32_t can = 0;
    enum tutti_err err = start(&in, true, &can);
    tutti_forked_close(&in);
    /* No clock, no thread and no adjoint derivative reaches into another process. */
    library->can = with_forks(can) & ~(uint32_t)(TUTTI_CAN_RUN_ASYNCHRONOUSLY | TUTTI_CAN_ADJOINT);
    return err;
}

enum tutti_err tutti_forked_open(struct tutti_instance *in)
{
    static const enum tutti_call about_states[] = {TUTTI_CALL_GET_STATE, TUTTI_CALL_SET_STATE, TUTTI_CALL_FREE_STATE};
    uint32_t can = 0;
    TRY(start(in, false, &can));
    struct tutti_forked *forked = in->forked;
    const uint16_t *allowed = in->allowed, *with_states = tutti_state_table(in->library->kind, 2);
    memcpy(forked->allowed, allowed, sizeof forked->allowed);
    for (size_t i = 0; i < sizeof about_states / sizeof *about_states; i++)
        forked->allowed[about_states[i]] |= with_states[about_states[i]];
    forked->binding = *in->binding;
    fill(&forked->binding);
    in->binding = &forked->binding;
    in->allowed = forked->allowed;
    in->can = with_forks(in->can);
    return TUTTI_OK;
}

void tutti_forked_close(struct tutti_instance *in)
{
    if (!in->forked)
        return;
    tutti_process_end(&in->forked->process);
    in->binding = in->library->binding;
    in->allowed = tutti_state_table(in->library->kind, in->binding->fmi);
    free(in->forked);
    in->forked = NULL;
}

enum tutti_err tutti_forked_look(struct tutti_instance *in)
{
    enum tutti_status status = call_process(in, TUTTI_WORD_LOOK, in->forked->process.live, 0);
    return status == TUTTI_STATUS_OK ? TUTTI_OK
                                     : tutti_fail(status == TUTTI_STATUS_LOST ? TUTTI_ERR_LOST : TUTTI_ERR_UNSUPPORTED,
                                                  "%s (%s): the FMU cannot be taken back by forking its process "
                                                  "(--rollback fork): %s",
                                                  in->options.name, in->library->file, tutti_forked_trouble(in));
}

bool tutti_forked_is_lost(const struct tutti_instance *in)
{
    return in->forked && in->forked->process.lost;
}

const char *tutti_forked_trouble(const struct tutti_instance *in)
{
    return in->forked ? in->forked->process.trouble : "";
}
