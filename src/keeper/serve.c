/* SPDX-License-Identifier: MIT */
#include "keeper/serve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "fmi/call.h"
#include "fmi/library.h"

/* FMUs know no context but their instance, and there is one. */
static struct tutti_self *here;

/* ---- what the FMU tells and asks ---- */

static void relay_message(struct tutti_instance *in, enum tutti_status status, const char *category, const char *text)
{
    struct tutti_area *area = here->area;
    size_t frame = area->top;
    int32_t number = (int32_t)status;
    if (tutti_instance_current() != in) /* a thread of its own, which must not be here at all */
        return;
    if (tutti_area_put(area, &number, sizeof number) && tutti_area_put_text(area, category) &&
        tutti_area_put_text(area, text))
        here->tell(here, TUTTI_WORD_MESSAGE, frame);
    area->top = frame;
}

static void relay_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct tutti_area *area = here->area;
    size_t frame = area->top;
    int32_t number = (int32_t)level;
    (void)context;
    (void)origin;
    if (tutti_area_put(area, &number, sizeof number) && tutti_area_put_text(area, text))
        here->tell(here, TUTTI_WORD_LOG, frame);
    area->top = frame;
}

static enum tutti_err relay_update(void *context, struct tutti_instance *in, struct tutti_intermediate *update)
{
    struct tutti_area *area = here->area;
    size_t frame = area->top;
    (void)context;
    (void)in;
    struct tutti_intermediate *told = tutti_area_put(area, update, sizeof *update);
    if (told) {
        here->tell(here, TUTTI_WORD_UPDATE, frame);
        *update = *told;
    }
    area->top = frame;
    return TUTTI_OK; /* what went wrong, the rank knows */
}

/* ---- the FMU ---- */

/* What the rank says of the library (fmi/forked/forked.c). */
static enum tutti_err hear_library(struct tutti_self *self, struct tutti_area_cursor *values, bool *tells)
{
    struct tutti_library *library = &self->library;
    const uint32_t *numbers = tutti_area_take(values, TUTTI_AREA_LIBRARY_NUMBERS * sizeof *numbers);
    const char *path = tutti_area_take_text(values), *folder = tutti_area_take_text(values);
    const char *resources = tutti_area_take_text(values), *identifier = tutti_area_take_text(values);
    const char *token = tutti_area_take_text(values), *file = tutti_area_take_text(values);
    if (values->bad || !path || !folder || !identifier || !file)
        return tutti_fail(TUTTI_ERR_LOAD, "the keeper is of another version than the program");
    self->desc.fmi = (int)numbers[TUTTI_AREA_LIBRARY_FMI];
    self->desc.token = token ? tutti_str_copy(token) : NULL;
    library->kind = (enum tutti_interface_kind)numbers[TUTTI_AREA_LIBRARY_KIND];
    struct tutti_interface *interface = &self->desc.interfaces[library->kind];
    interface->flags = numbers[TUTTI_AREA_LIBRARY_FLAGS];
    interface->max_output_derivative_order = numbers[TUTTI_AREA_LIBRARY_ORDER];
    interface->model_identifier = tutti_str_copy(identifier);
    library->desc = &self->desc;
    library->interface = interface;
    library->path = tutti_str_copy(path);
    library->folder = tutti_str_copy(folder);
    library->has_resources = resources != NULL;
    library->resources = tutti_str_copy(resources ? resources : "");
    library->file = tutti_str_copy(file);
    *tells = numbers[TUTTI_AREA_LIBRARY_TELLS];
    return library->path && library->folder && library->resources && library->file && interface->model_identifier
               ? TUTTI_OK
               : tutti_fail_memory();
}

static enum tutti_err open_library(struct tutti_self *self, struct tutti_area_cursor *values)
{
    static const struct tutti_log log = {TUTTI_LOG_WARNING, relay_log, NULL};
    bool tells = false;
    TRY(hear_library(self, values, &tells));
    TRY(tutti_library_bind(&self->library));
    TRY(tutti_library_open(&self->library, tells ? &log : NULL));
    struct tutti_instance *in = self->instance = calloc(1, sizeof *in);
    if (!in)
        return tutti_fail_memory();
    in->library = &self->library;
    in->binding = in->library->binding;
    in->functions = in->library->functions;
    in->can = in->library->can;
    in->options.log = &log;
    in->relay = relay_message;
    in->time = NAN;
    return TUTTI_OK;
}

static enum tutti_status load(struct tutti_self *self, struct tutti_area_cursor *values)
{
    here = self;
    if (open_library(self, values) == TUTTI_OK)
        return tutti_area_put(self->area, &self->library.can, sizeof self->library.can) ? TUTTI_STATUS_OK
                                                                                        : TUTTI_STATUS_MEMORY;
    tutti_area_put_text(self->area, tutti_err_message());
    return TUTTI_STATUS_ERROR;
}

static enum tutti_status instantiate(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    enum { LOGGING, EVENTS, EARLY_RETURN, UPDATES, FLAGS };
    in->options.name = tutti_str_copy(tutti_area_take_text(values));
    const uint32_t *flags = tutti_area_take(values, FLAGS * sizeof *flags);
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *intermediate = tutti_area_take(values, count * sizeof *intermediate);
    uint32_t *kept = calloc(count + 1, sizeof *kept);
    if (values->bad || !in->options.name || !kept) {
        free(kept);
        return TUTTI_STATUS_MEMORY;
    }
    memcpy(kept, intermediate, count * sizeof *kept);
    in->logging_on = flags[LOGGING];
    in->event_mode = flags[EVENTS];
    in->options.early_return = flags[EARLY_RETURN];
    in->options.intermediate_update = flags[UPDATES] ? relay_update : NULL;
    in->options.intermediate = kept;
    in->options.intermediate_count = count;
    in->component = in->binding->instantiate(in);
    return in->component ? TUTTI_STATUS_OK : TUTTI_STATUS_ERROR;
}

/* ---- values ---- */

static enum tutti_status set_debug_logging(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    bool on = TUTTI_AREA_TAKE(values, bool, false);
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const char **categories = calloc(count + 1, sizeof *categories);
    if (!categories)
        return TUTTI_STATUS_MEMORY;
    tutti_area_take_texts(values, TUTTI_TYPE_STRING, categories, count);
    enum tutti_status status = in->binding->set_debug_logging(in, on, count, count ? categories : NULL);
    free(categories);
    return status;
}

/* Some FMUs keep pointers to texts that they are given until they get the next. */
static void *room_for_texts(struct tutti_self *self, enum tutti_type type, size_t count)
{
    free(self->texts);
    self->texts = calloc(count + 1, tutti_type_size(type));
    return self->texts;
}

static enum tutti_status set(struct tutti_self *self, struct tutti_area_cursor *values)
{
    struct tutti_instance *in = self->instance;
    enum tutti_type type = in->call_type;
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t value_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tutti_area_take(values, count * sizeof *references);
    const void *all;
    if (tutti_type_is_text(type)) {
        void *texts = room_for_texts(self, type, value_count);
        if (!texts)
            return TUTTI_STATUS_MEMORY;
        tutti_area_take_texts(values, type, texts, value_count);
        all = texts;
    } else
        all = tutti_area_take(values, value_count * tutti_type_size(type));
    return values->bad ? TUTTI_STATUS_MEMORY : in->binding->set(in, type, references, count, all, value_count);
}

static enum tutti_status get(struct tutti_self *self, struct tutti_area_cursor *values)
{
    struct tutti_instance *in = self->instance;
    enum tutti_type type = in->call_type;
    bool texts = tutti_type_is_text(type);
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t value_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tutti_area_take(values, count * sizeof *references);
    void *room = tutti_area_take(values, texts ? 0 : value_count * tutti_type_size(type));
    if (texts)
        room = room_for_texts(self, type, value_count);
    if (values->bad || !room)
        return TUTTI_STATUS_MEMORY;
    enum tutti_status status = in->binding->get(in, type, references, count, room, value_count);
    if (texts && status <= TUTTI_STATUS_WARNING && !tutti_area_put_values(self->area, type, room, value_count))
        return TUTTI_STATUS_MEMORY;
    return status;
}

static enum tutti_status set_input_derivatives(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tutti_area_take(values, count * sizeof *references);
    const int32_t *orders = tutti_area_take(values, count * sizeof *orders);
    const double *all = tutti_area_take(values, count * sizeof *all);
    return in->binding->set_input_derivatives(in, references, count, orders, all);
}

static enum tutti_status get_output_derivatives(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *references = tutti_area_take(values, count * sizeof *references);
    const int32_t *orders = tutti_area_take(values, count * sizeof *orders);
    double *room = tutti_area_take(values, count * sizeof *room);
    return in->binding->get_output_derivatives(in, references, count, orders, room);
}

static enum tutti_status get_directional(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    size_t unknown_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t known_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t seed_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    size_t sensitivity_count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    const uint32_t *unknowns = tutti_area_take(values, unknown_count * sizeof *unknowns);
    const uint32_t *knowns = tutti_area_take(values, known_count * sizeof *knowns);
    const double *seed = tutti_area_take(values, seed_count * sizeof *seed);
    double *room = tutti_area_take(values, sensitivity_count * sizeof *room);
    return in->binding->get_directional(in, unknowns, unknown_count, knowns, known_count, seed, seed_count, room,
                                        sensitivity_count);
}

/* ---- steps ---- */

static enum tutti_status do_step(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    double t = TUTTI_AREA_TAKE(values, double, NAN), h = TUTTI_AREA_TAKE(values, double, NAN);
    bool no_going_back = TUTTI_AREA_TAKE(values, bool, false);
    struct tutti_step *step = tutti_area_take(values, sizeof *step);
    in->callback_error = TUTTI_OK;
    return in->binding->do_step(in, t, h, no_going_back, step);
}

static enum tutti_status after_step(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    double t = TUTTI_AREA_TAKE(values, double, NAN);
    enum tutti_status status = TUTTI_AREA_TAKE(values, enum tutti_status, TUTTI_STATUS_ERROR);
    return in->binding->after_step(in, t, status, tutti_area_take(values, sizeof(struct tutti_step)));
}

static enum tutti_status count_states(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    uint64_t *both = tutti_area_take(values, 2 * sizeof *both);
    size_t states = (size_t)both[0], indicators = (size_t)both[1];
    enum tutti_status status = in->binding->count_states(in, &states, &indicators);
    both[0] = states;
    both[1] = indicators;
    return status;
}

static enum tutti_status completed_step(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    bool *flags = tutti_area_take(values, 3 * sizeof *flags);
    return in->binding->completed_step(in, flags[0], &flags[1], &flags[2]);
}

static enum tutti_status with_setup(struct tutti_instance *in, struct tutti_area_cursor *values,
                                    enum tutti_status (*slot)(struct tutti_instance *in))
{
    const struct tutti_experiment_setup *setup = tutti_area_take(values, sizeof *setup);
    in->setup = *setup;
    return slot(in);
}

static enum tutti_status set_states(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    return in->binding->set_states(in, tutti_area_take(values, count * sizeof(double)), count);
}

static enum tutti_status get_vector(struct tutti_instance *in, struct tutti_area_cursor *values,
                                    enum tutti_status (*slot)(struct tutti_instance *in, double *values, size_t count))
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    return slot(in, tutti_area_take(values, count * sizeof(double)), count);
}

static enum tutti_status get_state_references(struct tutti_instance *in, struct tutti_area_cursor *values)
{
    size_t count = (size_t)TUTTI_AREA_TAKE(values, uint64_t, 0);
    return in->binding->get_state_references(in, tutti_area_take(values, count * sizeof(uint32_t)), count);
}

static enum tutti_status free_instance(struct tutti_instance *in)
{
    in->binding->free(in);
    return TUTTI_STATUS_OK;
}

/* ---- which ---- */

static enum tutti_status make_call(struct tutti_self *self, struct tutti_area_cursor *values)
{
    struct tutti_instance *in = self->instance;
    const struct tutti_binding *binding = in->binding;
    switch (self->area->word) {
    case TUTTI_WORD_INSTANTIATE: return instantiate(in, values);
    case TUTTI_WORD_FREE: return free_instance(in);
    case TUTTI_WORD_SET_DEBUG_LOGGING: return set_debug_logging(in, values);
    case TUTTI_WORD_ENTER_CONFIGURATION: return binding->enter_configuration(in);
    case TUTTI_WORD_EXIT_CONFIGURATION: return binding->exit_configuration(in);
    case TUTTI_WORD_SETUP_EXPERIMENT: return with_setup(in, values, binding->setup_experiment);
    case TUTTI_WORD_ENTER_INITIALIZATION: return with_setup(in, values, binding->enter_initialization);
    case TUTTI_WORD_EXIT_INITIALIZATION: return binding->exit_initialization(in);
    case TUTTI_WORD_SET: return set(self, values);
    case TUTTI_WORD_GET: return get(self, values);
    case TUTTI_WORD_SET_INPUT_DERIVATIVES: return set_input_derivatives(in, values);
    case TUTTI_WORD_GET_OUTPUT_DERIVATIVES: return get_output_derivatives(in, values);
    case TUTTI_WORD_GET_DIRECTIONAL: return get_directional(in, values);
    case TUTTI_WORD_DO_STEP: return do_step(in, values);
    case TUTTI_WORD_AFTER_STEP: return after_step(in, values);
    case TUTTI_WORD_ENTER_EVENT: return binding->enter_event(in);
    case TUTTI_WORD_UPDATE_DISCRETE:
        return binding->update_discrete(in, tutti_area_take(values, sizeof(struct tutti_discrete)));
    case TUTTI_WORD_ENTER_STEP: return binding->enter_step(in);
    case TUTTI_WORD_TERMINATE: return binding->terminate(in);
    case TUTTI_WORD_RESET: return binding->reset(in);
    case TUTTI_WORD_COUNT_STATES: return count_states(in, values);
    case TUTTI_WORD_SET_TIME: return binding->set_time(in, TUTTI_AREA_TAKE(values, double, NAN));
    case TUTTI_WORD_SET_STATES: return set_states(in, values);
    case TUTTI_WORD_GET_STATES: return get_vector(in, values, binding->get_states);
    case TUTTI_WORD_GET_DERIVATIVES: return get_vector(in, values, binding->get_derivatives);
    case TUTTI_WORD_GET_INDICATORS: return get_vector(in, values, binding->get_indicators);
    case TUTTI_WORD_GET_NOMINALS: return get_vector(in, values, binding->get_nominals);
    case TUTTI_WORD_GET_STATE_REFERENCES: return get_state_references(in, values);
    case TUTTI_WORD_COMPLETED_STEP: return completed_step(in, values);
    case TUTTI_WORD_ENTER_CONTINUOUS: return binding->enter_continuous(in);
    default: return TUTTI_STATUS_ERROR;
    }
}

enum tutti_status tutti_serve(struct tutti_self *self)
{
    struct tutti_area *area = self->area;
    struct tutti_area_cursor values = tutti_area_read(area);
    if (area->word == TUTTI_WORD_LOAD)
        return load(self, &values);
    struct tutti_instance *in = self->instance;
    in->call = (enum tutti_call)area->call;
    in->call_type = (enum tutti_type)area->type;
    in->time = area->time;
    struct tutti_frame frame = tutti_call_enter(in);
    enum tutti_status status = make_call(self, &values);
    tutti_call_leave(frame);
    return status;
}
