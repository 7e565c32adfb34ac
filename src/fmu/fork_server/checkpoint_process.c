/* SPDX-License-Identifier: MIT */
#include "fmu/fork_server/checkpoint_process.h"

#include <errno.h>
#include <math.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/text.h"
#include "fmu/binary/library.h"
#include "fmu/binding.h"
#include "fmu/fmi_call.h"
#include "fmu/fork_server/fork_safety.h"

void tt_checkpoint_process_register(struct tt_shared_area *area, uint32_t number, pid_t pid)
{
    atomic_store(&area->holders[number].pid, pid);
    atomic_store(&area->holders[number].state, TUTTI_HOLDER_ALIVE);
}

/* Ends with its keeper. */
static void checkpoint_process_init(const struct tt_checkpoint_process *self)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self->keeper) /* it has died before that */
        _exit(1);
    tt_checkpoint_process_register(self->area, self->number, getpid());
}

static void checkpoint_process_reply(struct tt_checkpoint_process *self, enum tt_fmi_status status)
{
    self->area->word = TUTTI_WORD_DONE;
    self->area->status = (int32_t)status;
    tt_shared_area_pass_turn(self->area, TUTTI_AREA_RANK);
}

/* Exit handlers of FMUs run only in the process that continues. */
static void checkpoint_process_quit(struct tt_checkpoint_process *self)
{
    atomic_store(&self->area->holders[self->number].state, TUTTI_HOLDER_LEAVING);
    checkpoint_process_reply(self, TUTTI_STATUS_OK);
    _exit(0);
}

/* ---- points ---- */

static void checkpoint_process_reject(struct tt_checkpoint_process *self, const char *why)
{
    tt_shared_area_put_text(self->area, why);
    checkpoint_process_reply(self, TUTTI_STATUS_UNFIT);
}

enum split {
    BEFORE,
    AFTER,
    NOT_AT_ALL
}; /* the outcome of the fork: this is the saved point, the process that continues, or the fork failed */

/* Forks; the turn is the child's then, which answers. */
static enum split checkpoint_process_fork(struct tt_checkpoint_process *self)
{
    uint32_t number = self->area->number;
    fflush(NULL); /* what the FMU has printed must neither be lost nor be printed twice */

    /* Uses the system call instead of fork(): the new process must be a child of the keeper. This process has one
     * thread, so it does not need the additional work of fork(). */
    pid_t pid = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL);
    if (pid > 0) {
        tt_checkpoint_process_register(self->area, number, pid);
        tt_shared_area_pass_turn(self->area, number);
        return BEFORE;
    }
    if (pid == 0) {
        self->number = number;
        checkpoint_process_init(self);
        (void)tt_shared_area_wait(self->area, self->number, INFINITY);
        checkpoint_process_reply(self, TUTTI_STATUS_OK);
        return AFTER;
    }
    char why[128];
    snprintf(why, sizeof why, "there cannot be one more process: %s", strerror(errno));
    checkpoint_process_reject(self, why);
    return NOT_AT_ALL;
}

/* Forks, and waits as a saved point. Returns in processes that continue from it, or if the fork failed. */
static void checkpoint_process_save(struct tt_checkpoint_process *self)
{
    char why[256];
    struct tt_fork_safety_positions positions;
    if (!tt_fork_safety_check(self->area, self->keeper, &positions, why, sizeof why)) {
        checkpoint_process_reject(self, why);
        return;
    }
    if ((self->points & (self->points - 1)) == 0) /* 0, 1, 2, 4, 8 ... */
        tt_fork_safety_use_large_pages();
    self->points++;
    if (checkpoint_process_fork(self) != BEFORE)
        return;
    while (tt_shared_area_wait(self->area, self->number, INFINITY)) {
        if (self->area->word == TUTTI_WORD_QUIT)
            checkpoint_process_quit(self);
        tt_fork_safety_restore_files(&positions); /* a saved point accepts no other request */
        if (checkpoint_process_fork(self) == AFTER)
            return;
    }
}

static void checkpoint_process_check(struct tt_checkpoint_process *self)
{
    char why[256];
    struct tt_fork_safety_positions positions;
    if (tt_fork_safety_check(self->area, self->keeper, &positions, why, sizeof why))
        checkpoint_process_reply(self, TUTTI_STATUS_OK);
    else
        checkpoint_process_reject(self, why);
}

/* ---- turns ---- */

/* Makes calls until the rank has answered the request (never, at the outermost level). */
static void checkpoint_process_serve(struct tt_checkpoint_process *self)
{
    while (tt_shared_area_wait(self->area, self->number, INFINITY)) {
        switch (self->area->word) {
        case TUTTI_WORD_ANSWERED: return;
        case TUTTI_WORD_QUIT: checkpoint_process_quit(self); break;
        case TUTTI_WORD_SAVE: checkpoint_process_save(self); break;
        case TUTTI_WORD_LOOK: checkpoint_process_check(self); break;
        default: checkpoint_process_reply(self, tt_checkpoint_process_serve(self)); break;
        }
    }
}

static void checkpoint_process_request(struct tt_checkpoint_process *self, enum tt_fork_request word, size_t frame)
{
    struct tt_shared_area *area = self->area;
    uint64_t outer = area->frame;
    area->frame = frame;
    area->word = word;
    tt_shared_area_pass_turn(area, TUTTI_AREA_RANK);
    checkpoint_process_serve(self);
    area->frame = outer;
}

void tt_checkpoint_process_run(struct tt_shared_area *area, pid_t keeper)
{
    struct tt_checkpoint_process self = {
        .area = area, .keeper = keeper, .number = TUTTI_AREA_FIRST, .tell = checkpoint_process_request};
    checkpoint_process_init(&self);
    for (;;)
        checkpoint_process_serve(&self);
}

/* The only instance of this process, for callbacks of FMUs, whose only context is the instance. */
static struct tt_checkpoint_process *here;

/* ---- callbacks of the FMU ---- */

static void serve_relay_message(struct tt_instance *in, enum tt_fmi_status status, const char *category,
                                const char *text)
{
    struct tt_shared_area *area = here->area;
    size_t frame = area->top;
    int32_t number = (int32_t)status;
    if (tt_fmi_call_current_instance() != in) /* a different thread, which must not exist in this process */
        return;
    if (tt_shared_area_put(area, &number, sizeof number) && tt_shared_area_put_text(area, category) &&
        tt_shared_area_put_text(area, text))
        here->tell(here, TUTTI_WORD_MESSAGE, frame);
    area->top = frame;
}

static void serve_relay_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct tt_shared_area *area = here->area;
    size_t frame = area->top;
    int32_t number = (int32_t)level;
    (void)context;
    (void)origin;
    if (tt_shared_area_put(area, &number, sizeof number) && tt_shared_area_put_text(area, text))
        here->tell(here, TUTTI_WORD_LOG, frame);
    area->top = frame;
}

static enum tutti_err serve_relay_update(void *context, struct tt_instance *in, struct tt_intermediate_update *update)
{
    struct tt_shared_area *area = here->area;
    size_t frame = area->top;
    (void)context;
    (void)in;
    struct tt_intermediate_update *told = tt_shared_area_put(area, update, sizeof *update);
    if (told) {
        here->tell(here, TUTTI_WORD_UPDATE, frame);
        *update = *told;
    }
    area->top = frame;
    return TUTTI_OK; /* the rank has the error message */
}

/* ---- the FMU ---- */

/* Reads the description of the library that the rank has sent (fmu/process/forked.c). */
static enum tutti_err serve_read_library(struct tt_checkpoint_process *self, struct tt_shared_area_cursor *values,
                                         bool *tells)
{
    struct tt_library *library = &self->library;
    const uint32_t *numbers = tt_shared_area_get(values, TUTTI_AREA_LIBRARY_NUMBERS * sizeof *numbers);
    const char *path = tt_shared_area_get_text(values), *folder = tt_shared_area_get_text(values);
    const char *resources = tt_shared_area_get_text(values), *identifier = tt_shared_area_get_text(values);
    const char *token = tt_shared_area_get_text(values), *file = tt_shared_area_get_text(values);
    if (values->bad || !path || !folder || !identifier || !file)
        return tt_fail(TUTTI_ERR_LOAD, "the keeper is of another version than the program");
    self->desc.fmi = (int)numbers[TUTTI_AREA_LIBRARY_FMI];
    self->desc.token = token ? tt_text_copy(token) : NULL;
    library->kind = (enum tt_interface_kind)numbers[TUTTI_AREA_LIBRARY_KIND];
    struct tt_interface *interface = &self->desc.interfaces[library->kind];
    interface->flags = numbers[TUTTI_AREA_LIBRARY_FLAGS];
    interface->max_output_derivative_order = numbers[TUTTI_AREA_LIBRARY_ORDER];
    interface->model_identifier = tt_text_copy(identifier);
    library->desc = &self->desc;
    library->interface = interface;
    library->path = tt_text_copy(path);
    library->folder = tt_text_copy(folder);
    library->has_resources = resources != NULL;
    library->resources = tt_text_copy(resources ? resources : "");
    library->file = tt_text_copy(file);
    *tells = numbers[TUTTI_AREA_LIBRARY_TELLS];
    return library->path && library->folder && library->resources && library->file && interface->model_identifier
               ? TUTTI_OK
               : tt_fail_memory();
}

static enum tutti_err serve_open_library(struct tt_checkpoint_process *self, struct tt_shared_area_cursor *values)
{
    static const struct tutti_log log = {TUTTI_LOG_WARNING, serve_relay_log, NULL};
    bool tells = false;
    TRY(serve_read_library(self, values, &tells));
    TRY(tt_library_bind(&self->library));
    TRY(tt_library_open(&self->library, tells ? &log : NULL));
    struct tt_instance *in = self->instance = calloc(1, sizeof *in);
    if (!in)
        return tt_fail_memory();
    in->library = &self->library;
    in->binding = in->library->binding;
    in->functions = in->library->functions;
    in->can = in->library->can;
    in->options.log = &log;
    in->relay = serve_relay_message;
    in->time = NAN;
    return TUTTI_OK;
}

static enum tt_fmi_status serve_load(struct tt_checkpoint_process *self, struct tt_shared_area_cursor *values)
{
    here = self;
    if (serve_open_library(self, values) == TUTTI_OK)
        return tt_shared_area_put(self->area, &self->library.can, sizeof self->library.can) ? TUTTI_STATUS_OK
                                                                                            : TUTTI_STATUS_MEMORY;
    tt_shared_area_put_text(self->area, tutti_err_message());
    return TUTTI_STATUS_ERROR;
}

static enum tt_fmi_status serve_instantiate(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    enum { LOGGING, EVENTS, EARLY_RETURN, UPDATES, FLAGS };
    in->options.name = tt_text_copy(tt_shared_area_get_text(values));
    const uint32_t *flags = tt_shared_area_get(values, FLAGS * sizeof *flags);
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *intermediate = tt_shared_area_get(values, count * sizeof *intermediate);
    uint32_t *kept = calloc(count + 1, sizeof *kept);
    if (values->bad || !in->options.name || !kept) {
        free(kept);
        return TUTTI_STATUS_MEMORY;
    }
    memcpy(kept, intermediate, count * sizeof *kept);
    in->logging_on = flags[LOGGING];
    in->event_mode = flags[EVENTS];
    in->options.early_return = flags[EARLY_RETURN];
    in->options.intermediate_update = flags[UPDATES] ? serve_relay_update : NULL;
    in->options.intermediate = kept;
    in->options.intermediate_count = count;
    in->component = in->binding->instantiate(in);
    return in->component ? TUTTI_STATUS_OK : TUTTI_STATUS_ERROR;
}

/* ---- values ---- */

static enum tt_fmi_status serve_set_debug_logging(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    bool on = TUTTI_AREA_TAKE(values, bool, false);
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const char **categories = calloc(count + 1, sizeof *categories);
    if (!categories)
        return TUTTI_STATUS_MEMORY;
    tt_shared_area_get_texts(values, TUTTI_TYPE_STRING, categories, count);
    enum tt_fmi_status status = in->binding->set_debug_logging(in, on, count, count ? categories : NULL);
    free(categories);
    return status;
}

/* Some FMUs keep pointers to texts that they are given until they get the next. */
static void *serve_room_for_texts(struct tt_checkpoint_process *self, enum tt_type type, size_t count)
{
    free(self->texts);
    self->texts = calloc(count + 1, tt_type_size(type));
    return self->texts;
}

static enum tt_fmi_status serve_set(struct tt_checkpoint_process *self, struct tt_shared_area_cursor *values)
{
    struct tt_instance *in = self->instance;
    enum tt_type type = in->call_type;
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t value_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tt_shared_area_get(values, count * sizeof *references);
    const void *all;
    if (tt_type_is_text(type)) {
        void *texts = serve_room_for_texts(self, type, value_count);
        if (!texts)
            return TUTTI_STATUS_MEMORY;
        tt_shared_area_get_texts(values, type, texts, value_count);
        all = texts;
    } else
        all = tt_shared_area_get(values, value_count * tt_type_size(type));
    return values->bad ? TUTTI_STATUS_MEMORY : in->binding->set(in, type, references, count, all, value_count);
}

static enum tt_fmi_status serve_get(struct tt_checkpoint_process *self, struct tt_shared_area_cursor *values)
{
    struct tt_instance *in = self->instance;
    enum tt_type type = in->call_type;
    bool texts = tt_type_is_text(type);
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t value_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tt_shared_area_get(values, count * sizeof *references);
    void *room = tt_shared_area_get(values, texts ? 0 : value_count * tt_type_size(type));
    if (texts)
        room = serve_room_for_texts(self, type, value_count);
    if (values->bad || !room)
        return TUTTI_STATUS_MEMORY;
    enum tt_fmi_status status = in->binding->get(in, type, references, count, room, value_count);
    if (texts && status <= TUTTI_STATUS_WARNING && !tt_shared_area_put_values(self->area, type, room, value_count))
        return TUTTI_STATUS_MEMORY;
    return status;
}

static enum tt_fmi_status serve_set_input_derivatives(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tt_shared_area_get(values, count * sizeof *references);
    const int32_t *orders = tt_shared_area_get(values, count * sizeof *orders);
    const double *all = tt_shared_area_get(values, count * sizeof *all);
    return in->binding->set_input_derivatives(in, references, count, orders, all);
}

static enum tt_fmi_status serve_get_output_derivatives(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tt_shared_area_get(values, count * sizeof *references);
    const int32_t *orders = tt_shared_area_get(values, count * sizeof *orders);
    double *room = tt_shared_area_get(values, count * sizeof *room);
    return in->binding->get_output_derivatives(in, references, count, orders, room);
}

static enum tt_fmi_status serve_get_directional(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    size_t unknown_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t known_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t seed_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t sensitivity_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *unknowns = tt_shared_area_get(values, unknown_count * sizeof *unknowns);
    const uint32_t *knowns = tt_shared_area_get(values, known_count * sizeof *knowns);
    const double *seed = tt_shared_area_get(values, seed_count * sizeof *seed);
    double *room = tt_shared_area_get(values, sensitivity_count * sizeof *room);
    return in->binding->get_directional(in, unknowns, unknown_count, knowns, known_count, seed, seed_count, room,
                                        sensitivity_count);
}

/* ---- steps ---- */

static enum tt_fmi_status serve_do_step(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    double t = TUTTI_AREA_TAKE(values, double, NAN), h = TUTTI_AREA_TAKE(values, double, NAN);
    bool no_going_back = TUTTI_AREA_TAKE(values, bool, false);
    struct tt_fmi_step *step = tt_shared_area_get(values, sizeof *step);
    in->callback_error = TUTTI_OK;
    return in->binding->do_step(in, t, h, no_going_back, step);
}

static enum tt_fmi_status serve_after_step(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    double t = TUTTI_AREA_TAKE(values, double, NAN);
    enum tt_fmi_status status = TUTTI_AREA_TAKE(values, enum tt_fmi_status, TUTTI_STATUS_ERROR);
    return in->binding->after_step(in, t, status, tt_shared_area_get(values, sizeof(struct tt_fmi_step)));
}

static enum tt_fmi_status serve_count_states(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    uint64_t *both = tt_shared_area_get(values, 2 * sizeof *both);
    size_t states = (size_t)both[0], indicators = (size_t)both[1];
    enum tt_fmi_status status = in->binding->count_states(in, &states, &indicators);
    both[0] = states;
    both[1] = indicators;
    return status;
}

static enum tt_fmi_status serve_completed_step(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    bool *flags = tt_shared_area_get(values, 3 * sizeof *flags);
    return in->binding->completed_step(in, flags[0], &flags[1], &flags[2]);
}

static enum tt_fmi_status serve_with_setup(struct tt_instance *in, struct tt_shared_area_cursor *values,
                                           enum tt_fmi_status (*slot)(struct tt_instance *in))
{
    const struct tt_experiment_setup *setup = tt_shared_area_get(values, sizeof *setup);
    in->setup = *setup;
    return slot(in);
}

static enum tt_fmi_status serve_set_states(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    return in->binding->set_states(in, tt_shared_area_get(values, count * sizeof(double)), count);
}

static enum tt_fmi_status serve_get_vector(struct tt_instance *in, struct tt_shared_area_cursor *values,
                                           enum tt_fmi_status (*slot)(struct tt_instance *in, double *values,
                                                                      size_t count))
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    return slot(in, tt_shared_area_get(values, count * sizeof(double)), count);
}

static enum tt_fmi_status serve_get_state_references(struct tt_instance *in, struct tt_shared_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    return in->binding->get_state_references(in, tt_shared_area_get(values, count * sizeof(uint32_t)), count);
}

/* ---- which ---- */

static enum tt_fmi_status serve_make_call(struct tt_checkpoint_process *self, struct tt_shared_area_cursor *values)
{
    struct tt_instance *in = self->instance;
    const struct tt_binding *binding = in->binding;
    switch (self->area->word) {
    case TUTTI_WORD_INSTANTIATE: return serve_instantiate(in, values);
    case TUTTI_WORD_FREE: binding->free(in); return TUTTI_STATUS_OK;
    case TUTTI_WORD_SET_DEBUG_LOGGING: return serve_set_debug_logging(in, values);
    case TUTTI_WORD_ENTER_CONFIGURATION: return binding->enter_configuration(in);
    case TUTTI_WORD_EXIT_CONFIGURATION: return binding->exit_configuration(in);
    case TUTTI_WORD_SETUP_EXPERIMENT: return serve_with_setup(in, values, binding->setup_experiment);
    case TUTTI_WORD_ENTER_INITIALIZATION: return serve_with_setup(in, values, binding->enter_initialization);
    case TUTTI_WORD_EXIT_INITIALIZATION: return binding->exit_initialization(in);
    case TUTTI_WORD_SET: return serve_set(self, values);
    case TUTTI_WORD_GET: return serve_get(self, values);
    case TUTTI_WORD_SET_INPUT_DERIVATIVES: return serve_set_input_derivatives(in, values);
    case TUTTI_WORD_GET_OUTPUT_DERIVATIVES: return serve_get_output_derivatives(in, values);
    case TUTTI_WORD_GET_DIRECTIONAL: return serve_get_directional(in, values);
    case TUTTI_WORD_DO_STEP: return serve_do_step(in, values);
    case TUTTI_WORD_AFTER_STEP: return serve_after_step(in, values);
    case TUTTI_WORD_ENTER_EVENT: return binding->enter_event(in);
    case TUTTI_WORD_UPDATE_DISCRETE:
        return binding->update_discrete(in, tt_shared_area_get(values, sizeof(struct tt_discrete_update)));
    case TUTTI_WORD_ENTER_STEP: return binding->enter_step(in);
    case TUTTI_WORD_TERMINATE: return binding->terminate(in);
    case TUTTI_WORD_RESET: return binding->reset(in);
    case TUTTI_WORD_COUNT_STATES: return serve_count_states(in, values);
    case TUTTI_WORD_SET_TIME: return binding->set_time(in, TUTTI_AREA_TAKE(values, double, NAN));
    case TUTTI_WORD_SET_STATES: return serve_set_states(in, values);
    case TUTTI_WORD_GET_STATES: return serve_get_vector(in, values, binding->get_states);
    case TUTTI_WORD_GET_DERIVATIVES: return serve_get_vector(in, values, binding->get_derivatives);
    case TUTTI_WORD_GET_INDICATORS: return serve_get_vector(in, values, binding->get_indicators);
    case TUTTI_WORD_GET_NOMINALS: return serve_get_vector(in, values, binding->get_nominals);
    case TUTTI_WORD_GET_STATE_REFERENCES: return serve_get_state_references(in, values);
    case TUTTI_WORD_COMPLETED_STEP: return serve_completed_step(in, values);
    case TUTTI_WORD_ENTER_CONTINUOUS: return binding->enter_continuous(in);
    default: return TUTTI_STATUS_ERROR;
    }
}

enum tt_fmi_status tt_checkpoint_process_serve(struct tt_checkpoint_process *self)
{
    struct tt_shared_area *area = self->area;
    struct tt_shared_area_cursor values = tt_shared_area_start_read(area);
    if (area->word == TUTTI_WORD_LOAD)
        return serve_load(self, &values);
    struct tt_instance *in = self->instance;
    in->call = (enum tt_fmi_call)area->call;
    in->call_type = (enum tt_type)area->type;
    in->time = area->time;
    struct tt_fmi_call_frame frame = tt_fmi_call_enter(in);
    enum tt_fmi_status status = serve_make_call(self, &values);
    tt_fmi_call_leave(frame);
    return status;
}
