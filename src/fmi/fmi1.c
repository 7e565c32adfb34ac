/* SPDX-License-Identifier: MIT */
/* FMI 1.0 for the interface binding.h: Co-Simulation (stand-alone) and Model Exchange, which share little more than
 * values. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/str.h"
#include "fmi/api1.h"
#include "fmi/component.h"
#include "fmi/convert.h"
#include "fmi/location.h"

struct functions {
#define X(name, ret, params, group) ret(*name) params;
    FMI1_FUNCTIONS(X)
#undef X
};

static const struct tutti_symbol symbols[] = {
#define X(name, ret, params, group) {#name, group},
    FMI1_FUNCTIONS(X)
#undef X
};

static const struct functions *fmu(const struct tutti_instance *in)
{
    return (const struct functions *)in->functions;
}

static void log_message(fmiComponent component, fmiString name, fmiStatus status, fmiString category, fmiString format,
                        ...) TUTTI_PRINTF(5, 6);

/* FMI 1.0 names no environment: the message is of the instance that this thread is calling. */
static void log_message(fmiComponent component, fmiString name, fmiStatus status, fmiString category, fmiString format,
                        ...)
{
    (void)component;
    (void)name;
    va_list args;
    va_start(args, format);
    tutti_instance_take_message(NULL, (enum tutti_status)status, category, format, args);
    va_end(args);
}

static const char *get_version(const struct tutti_library *library)
{
    const struct functions *f = (const struct functions *)library->functions;
    return f->fmiGetVersion ? f->fmiGetVersion() : NULL;
}

static enum tutti_status set_converted(struct tutti_instance *in, enum tutti_type type, const uint32_t *references,
                                       size_t count, const void *values)
{
    bool boolean = type == TUTTI_TYPE_BOOLEAN;
    const void *own = boolean ? (void *)tutti_convert_to_char(in, values, count)
                              : (void *)tutti_convert_to_int(in, type, values, count);
    if (!own)
        return TUTTI_STATUS_MEMORY;
    return boolean ? CALL_FMU(in, fmiSetBoolean, references, count, own)
                   : CALL_FMU(in, fmiSetInteger, references, count, own);
}

static enum tutti_status set(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             const void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(in, fmiSetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(in, fmiSetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(in, fmiSetString, references, count, values);
    default: return set_converted(in, type, references, count, values);
    }
}

static enum tutti_status get_converted(struct tutti_instance *in, enum tutti_type type, const uint32_t *references,
                                       size_t count, void *values)
{
    void *own = tutti_instance_scratch(in, count * sizeof(int));
    if (!own)
        return TUTTI_STATUS_MEMORY;
    bool boolean = type == TUTTI_TYPE_BOOLEAN;
    enum tutti_status status = boolean ? CALL_FMU(in, fmiGetBoolean, references, count, own)
                                       : CALL_FMU(in, fmiGetInteger, references, count, own);
    if (status <= TUTTI_STATUS_WARNING && boolean)
        tutti_convert_from_char(own, values, count);
    else if (status <= TUTTI_STATUS_WARNING)
        tutti_convert_from_int(type, own, values, count);
    return status;
}

static enum tutti_status get(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(in, fmiGetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(in, fmiGetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(in, fmiGetString, references, count, values);
    default: return get_converted(in, type, references, count, values);
    }
}

static const char *type_word(enum tutti_type type)
{
    return tutti_binding_fmi2.type_word(type);
}

/* One call initialises an FMI 1.0 FMU; it stands at exit-initialisation, when all inputs are set. */
static enum tutti_status enter_initialization(struct tutti_instance *in)
{
    (void)in;
    return TUTTI_STATUS_OK;
}

/* ---- Co-Simulation ---- */

/* fmuLocation is the folder that the archive was unpacked into: the parent of resources/. */
static void *instantiate_slave(struct tutti_instance *in)
{
    fmiCallbackFunctions callbacks = {log_message, calloc, free, NULL};
    struct tutti_text uri = {0};
    tutti_location_uri(&uri, in->library->folder);
    void *component = uri.failed
                          ? NULL
                          : fmu(in)->fmiInstantiateSlave(
                                in->options.name, in->library->desc->token ? in->library->desc->token : "", uri.text,
                                "application/x-fmu-sharedlibrary", 0, fmiFalse, fmiFalse, callbacks, in->logging_on);
    tutti_text_fini(&uri);
    return component;
}

static void free_slave(struct tutti_instance *in)
{
    fmu(in)->fmiFreeSlaveInstance(in->component);
}

static enum tutti_status initialize_slave(struct tutti_instance *in)
{
    return CALL_FMU(in, fmiInitializeSlave, in->setup.start, in->setup.has_stop, in->setup.stop);
}

static enum tutti_status set_input_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                               const int32_t *orders, const double *values)
{
    return CALL_FMU(in, fmiSetRealInputDerivatives, references, count, orders, values);
}

static enum tutti_status get_output_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                                const int32_t *orders, double *values)
{
    return CALL_FMU(in, fmiGetRealOutputDerivatives, references, count, orders, values);
}

/* The FMU computes on its own thread, although it was not asked to: wait. */
static fmiStatus wait_for_step(struct tutti_instance *in)
{
    fmiStatus status = fmiPending;
    useconds_t delay = 0;
    while (status == fmiPending) {
        if (!fmu(in)->fmiGetStatus || fmu(in)->fmiGetStatus(in->component, fmiDoStepStatus, &status) > fmiWarning)
            return fmiError;
        usleep(delay < 1000 ? delay++ : 1000);
    }
    return status;
}

static enum tutti_status do_step(struct tutti_instance *in, double t, double h, bool no_going_back,
                                 struct tutti_step *step)
{
    bool repeats = in->repeats;
    (void)step;
    (void)no_going_back;
    in->repeats = false;
    in->steps++;
    return (enum tutti_status)fmu(in)->fmiDoStep(in->component, t, h, repeats ? fmiFalse : fmiTrue);
}

static enum tutti_status after_step(struct tutti_instance *in, double t, enum tutti_status status,
                                    struct tutti_step *step)
{
    if (status == TUTTI_STATUS_PENDING)
        status = (enum tutti_status)wait_for_step(in);
    if (status != TUTTI_STATUS_DISCARD)
        return status;
    fmiReal reached = t;
    if (!fmu(in)->fmiGetRealStatus ||
        fmu(in)->fmiGetRealStatus(in->component, fmiLastSuccessfulTime, &reached) > fmiWarning)
        reached = t;
    step->reached = reached;
    return status;
}

static enum tutti_status terminate_slave(struct tutti_instance *in)
{
    return CALL_FMU(in, fmiTerminateSlave);
}

static enum tutti_status reset_slave(struct tutti_instance *in)
{
    return CALL_FMU(in, fmiResetSlave);
}

static const char *const slave_names[TUTTI_CALL_COUNT] = {
    [TUTTI_CALL_INSTANTIATE] = "fmiInstantiateSlave",
    [TUTTI_CALL_FREE] = "fmiFreeSlaveInstance",
    [TUTTI_CALL_ENTER_INITIALIZATION] = "fmiInitializeSlave",
    [TUTTI_CALL_EXIT_INITIALIZATION] = "fmiInitializeSlave",
    [TUTTI_CALL_SET] = "fmiSet",
    [TUTTI_CALL_GET] = "fmiGet",
    [TUTTI_CALL_SET_INPUT_DERIVATIVES] = "fmiSetRealInputDerivatives",
    [TUTTI_CALL_GET_OUTPUT_DERIVATIVES] = "fmiGetRealOutputDerivatives",
    [TUTTI_CALL_DO_STEP] = "fmiDoStep",
    [TUTTI_CALL_TERMINATE] = "fmiTerminateSlave",
    [TUTTI_CALL_RESET] = "fmiResetSlave",
};

static const struct tutti_optional slave_optional[] = {
    {"canInterpolateInputs", TUTTI_CAN_INPUT_DERIVATIVES, FMI1_CS_INPUT_DERIVATIVES},
    {"maxOutputDerivativeOrder", TUTTI_CAN_OUTPUT_DERIVATIVES, FMI1_CS_OUTPUT_DERIVATIVES},
    {NULL, 0, 0},
};

/* ---- Model Exchange ---- */

static void *instantiate_model(struct tutti_instance *in)
{
    fmiModelCallbackFunctions callbacks = {log_message, calloc, free};
    return fmu(in)->fmiInstantiateModel(in->options.name, in->library->desc->token ? in->library->desc->token : "",
                                        callbacks, in->logging_on);
}

static void free_model(struct tutti_instance *in)
{
    fmu(in)->fmiFreeModelInstance(in->component);
}

static enum tutti_status set_start_time(struct tutti_instance *in)
{
    return CALL_FMU(in, fmiSetTime, in->setup.start);
}

/* New value references mean other states: their values and nominals are new with them. */
static struct tutti_discrete discrete_of(const fmiEventInfo *info)
{
    bool other_states = info->stateValueReferencesChanged != fmiFalse;
    return (struct tutti_discrete){
        .again = info->iterationConverged == fmiFalse,
        .terminate = info->terminateSimulation != fmiFalse,
        .nominals_changed = other_states,
        .states_changed = other_states || info->stateValuesChanged != fmiFalse,
        .has_next_event = info->upcomingTimeEvent != fmiFalse,
        .next_event = info->nextEventTime,
    };
}

/* No FMU writes this into a Boolean. */
enum { UNTOLD = 0x55 };

static bool told(const fmiEventInfo *info)
{
    return info->iterationConverged != UNTOLD || info->upcomingTimeEvent != UNTOLD ||
           info->stateValuesChanged != UNTOLD || info->terminateSimulation != UNTOLD;
}

static void settle_untold(fmiBoolean *value, fmiBoolean instead)
{
    if (*value == UNTOLD)
        *value = instead;
}

/* The initialisation is the first update of the discrete states, too: what it says waits for the one who asks. If it says
 * nothing at all, as with some FMUs, the first update asks again. */
static enum tutti_status initialize_model(struct tutti_instance *in)
{
    fmiEventInfo info = {UNTOLD, UNTOLD, UNTOLD, UNTOLD, UNTOLD, 0};
    enum tutti_status status = CALL_FMU(in, fmiInitialize, in->setup.has_tolerance, in->setup.tolerance, &info);
    in->initial.outdated = !told(&info);
    settle_untold(&info.iterationConverged, fmiTrue);
    settle_untold(&info.stateValueReferencesChanged, fmiFalse);
    settle_untold(&info.stateValuesChanged, fmiFalse);
    settle_untold(&info.terminateSimulation, fmiFalse);
    settle_untold(&info.upcomingTimeEvent, fmiFalse);
    in->initial.discrete = discrete_of(&info);
    in->initial.pending = true;
    return status;
}

static enum tutti_status set_in_model(struct tutti_instance *in, enum tutti_type type, const uint32_t *references,
                                      size_t count, const void *values, size_t value_count)
{
    in->initial.outdated = true;
    return set(in, type, references, count, values, value_count);
}

/* FMI 1.0 has no modes. */
static enum tutti_status enter_event(struct tutti_instance *in)
{
    (void)in;
    return TUTTI_STATUS_OK;
}

static enum tutti_status enter_continuous(struct tutti_instance *in)
{
    in->initial.pending = false;
    return TUTTI_STATUS_OK;
}

/* The FMU iterates by itself (no intermediate results): one call settles it. */
static enum tutti_status update_discrete(struct tutti_instance *in, struct tutti_discrete *discrete)
{
    bool pending = in->initial.pending;
    struct tutti_discrete first = pending ? in->initial.discrete : *discrete;
    in->initial.pending = false;
    *discrete = first;
    if (pending && !in->initial.outdated)
        return TUTTI_STATUS_OK;
    fmiEventInfo info = {
        .iterationConverged = fmiTrue,
        .upcomingTimeEvent = first.has_next_event,
        .nextEventTime = first.next_event,
    };
    enum tutti_status status = CALL_FMU(in, fmiEventUpdate, fmiFalse, &info);
    *discrete = discrete_of(&info);
    discrete->terminate = discrete->terminate || first.terminate;
    discrete->nominals_changed = discrete->nominals_changed || first.nominals_changed;
    discrete->states_changed = discrete->states_changed || first.states_changed;
    return status;
}

static enum tutti_status completed_step(struct tutti_instance *in, bool no_going_back, bool *event, bool *terminate)
{
    (void)no_going_back;
    (void)terminate;
    fmiBoolean event_update = fmiFalse;
    enum tutti_status status = CALL_FMU(in, fmiCompletedIntegratorStep, &event_update);
    *event = event_update != fmiFalse;
    return status;
}

/* The functions of every right-hand side; no library comes this far without them. */
static enum tutti_status set_time(struct tutti_instance *in, double t)
{
    return (enum tutti_status)fmu(in)->fmiSetTime(in->component, t);
}

static enum tutti_status set_states(struct tutti_instance *in, const double *states, size_t count)
{
    return (enum tutti_status)fmu(in)->fmiSetContinuousStates(in->component, states, count);
}

static enum tutti_status get_derivatives(struct tutti_instance *in, double *derivatives, size_t count)
{
    return (enum tutti_status)fmu(in)->fmiGetDerivatives(in->component, derivatives, count);
}

static enum tutti_status get_indicators(struct tutti_instance *in, double *indicators, size_t count)
{
    return (enum tutti_status)fmu(in)->fmiGetEventIndicators(in->component, indicators, count);
}

static enum tutti_status get_states(struct tutti_instance *in, double *states, size_t count)
{
    return CALL_FMU(in, fmiGetContinuousStates, states, count);
}

static enum tutti_status get_nominals(struct tutti_instance *in, double *nominals, size_t count)
{
    return CALL_FMU(in, fmiGetNominalContinuousStates, nominals, count);
}

static enum tutti_status get_state_references(struct tutti_instance *in, uint32_t *references, size_t count)
{
    return CALL_FMU(in, fmiGetStateValueReferences, references, count);
}

static enum tutti_status terminate_model(struct tutti_instance *in)
{
    return CALL_FMU(in, fmiTerminate);
}

static const char *const model_names[TUTTI_CALL_COUNT] = {
    [TUTTI_CALL_INSTANTIATE] = "fmiInstantiateModel",
    [TUTTI_CALL_FREE] = "fmiFreeModelInstance",
    [TUTTI_CALL_SETUP_EXPERIMENT] = "fmiSetTime",
    [TUTTI_CALL_ENTER_INITIALIZATION] = "fmiInitialize",
    [TUTTI_CALL_EXIT_INITIALIZATION] = "fmiInitialize",
    [TUTTI_CALL_UPDATE_DISCRETE] = "fmiEventUpdate",
    [TUTTI_CALL_SET] = "fmiSet",
    [TUTTI_CALL_GET] = "fmiGet",
    [TUTTI_CALL_SET_TIME] = "fmiSetTime",
    [TUTTI_CALL_SET_STATES] = "fmiSetContinuousStates",
    [TUTTI_CALL_GET_STATES] = "fmiGetContinuousStates",
    [TUTTI_CALL_GET_DERIVATIVES] = "fmiGetDerivatives",
    [TUTTI_CALL_GET_INDICATORS] = "fmiGetEventIndicators",
    [TUTTI_CALL_GET_NOMINALS] = "fmiGetNominalContinuousStates",
    [TUTTI_CALL_GET_STATE_REFERENCES] = "fmiGetStateValueReferences",
    [TUTTI_CALL_COMPLETED_STEP] = "fmiCompletedIntegratorStep",
    [TUTTI_CALL_TERMINATE] = "fmiTerminate",
};

static const struct tutti_optional model_optional[] = {{NULL, 0, 0}};

/* What both bindings have. */
#define COMMON                                                                                                         \
    .fmi = 1, .version = "1.0", .symbols = symbols, .symbol_count = sizeof symbols / sizeof *symbols,                  \
    .prefixed = true, .type_word = type_word,                                                                          \
    .types = 1u << TUTTI_TYPE_FLOAT64 | 1u << TUTTI_TYPE_INT32 | 1u << TUTTI_TYPE_BOOLEAN | 1u << TUTTI_TYPE_STRING |  \
             1u << TUTTI_TYPE_ENUMERATION,                                                                             \
    .get_version = get_version, .enter_initialization = enter_initialization, .get = get

const struct tutti_binding tutti_binding_fmi1_cs = {
    COMMON,
    .required = {[TUTTI_CS] = FMI1_COMMON | FMI1_CS},
    .optional = slave_optional,
    .call_names = {[TUTTI_CS] = slave_names},
    .instantiate = instantiate_slave,
    .free = free_slave,
    .exit_initialization = initialize_slave,
    .set = set,
    .set_input_derivatives = set_input_derivatives,
    .get_output_derivatives = get_output_derivatives,
    .do_step = do_step,
    .after_step = after_step,
    .terminate = terminate_slave,
    .reset = reset_slave,
};

const struct tutti_binding tutti_binding_fmi1_me = {
    COMMON,
    .required = {[TUTTI_ME] = FMI1_COMMON | FMI1_ME},
    .optional = model_optional,
    .call_names = {[TUTTI_ME] = model_names},
    .instantiate = instantiate_model,
    .free = free_model,
    .setup_experiment = set_start_time,
    .exit_initialization = initialize_model,
    .set = set_in_model,
    .enter_event = enter_event,
    .update_discrete = update_discrete,
    .terminate = terminate_model,
    .set_time = set_time,
    .set_states = set_states,
    .get_states = get_states,
    .get_derivatives = get_derivatives,
    .get_indicators = get_indicators,
    .get_nominals = get_nominals,
    .get_state_references = get_state_references,
    .completed_step = completed_step,
    .enter_continuous = enter_continuous,
};
