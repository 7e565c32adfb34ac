/* SPDX-License-Identifier: MIT */
/* FMI 2.0 for the interface binding.h: Co-Simulation and Model Exchange. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/str.h"
#include "fmi/api2.h"
#include "fmi/component.h"
#include "fmi/convert.h"
#include "fmi/location.h"

struct functions {
#define X(name, ret, params, group) ret(*name) params;
    FMI2_FUNCTIONS(X)
#undef X
};

static const struct tutti_symbol symbols[] = {
#define X(name, ret, params, group) {#name, group},
    FMI2_FUNCTIONS(X)
#undef X
};

static const struct functions *fmu(const struct tutti_instance *in)
{
    return (const struct functions *)in->functions;
}

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String format, ...) TUTTI_PRINTF(5, 6);

static void log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status, fmi2String category,
                        fmi2String format, ...)
{
    (void)name;
    va_list args;
    va_start(args, format);
    tutti_instance_take_message(environment, (enum tutti_status)status, category, format, args);
    va_end(args);
}

static const char *get_version(const struct tutti_library *library)
{
    const struct functions *f = (const struct functions *)library->functions;
    return f->fmi2GetVersion ? f->fmi2GetVersion() : NULL;
}

static void *instantiate(struct tutti_instance *in)
{
    fmi2CallbackFunctions callbacks = {log_message, calloc, free, NULL, in};
    _Static_assert(sizeof callbacks <= sizeof in->callbacks, "the instance keeps the callbacks");
    memcpy(in->callbacks, &callbacks, sizeof callbacks);
    struct tutti_text uri = {0};
    tutti_location_uri(&uri, in->library->resources);
    fmi2Type type = in->library->kind == TUTTI_ME ? fmi2ModelExchange : fmi2CoSimulation;
    void *component = uri.failed ? NULL
                                 : fmu(in)->fmi2Instantiate(in->options.name, type,
                                                            in->library->desc->token ? in->library->desc->token : "",
                                                            uri.text, (const fmi2CallbackFunctions *)in->callbacks,
                                                            fmi2False, in->logging_on);
    tutti_text_fini(&uri);
    return component;
}

static enum tutti_status set_debug_logging(struct tutti_instance *in, bool on, size_t count,
                                           const char *const *categories)
{
    /* One of the functions that FMUs do without. */
    return fmu(in)->fmi2SetDebugLogging ? CALL_FMU(in, fmi2SetDebugLogging, on, count, categories) : TUTTI_STATUS_OK;
}

static void free_instance(struct tutti_instance *in)
{
    fmu(in)->fmi2FreeInstance(in->component);
}

static enum tutti_status setup_experiment(struct tutti_instance *in)
{
    const struct tutti_experiment_setup *setup = &in->setup;
    /* A tolerance is for a solver inside; FMUs of a well-known tool warn of one in Model Exchange. */
    bool has_tolerance = setup->has_tolerance && in->library->kind == TUTTI_CS;
    return CALL_FMU(in, fmi2SetupExperiment, has_tolerance, has_tolerance ? setup->tolerance : 0, setup->start,
                    setup->has_stop, setup->stop);
}

static enum tutti_status enter_initialization(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi2EnterInitializationMode);
}

static enum tutti_status exit_initialization(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi2ExitInitializationMode);
}

static enum tutti_status set_converted(struct tutti_instance *in, enum tutti_type type, const uint32_t *references,
                                       size_t count, const void *values)
{
    const int *wide = tutti_convert_to_int(in, type, values, count);
    if (!wide)
        return TUTTI_STATUS_MEMORY;
    return type == TUTTI_TYPE_BOOLEAN ? CALL_FMU(in, fmi2SetBoolean, references, count, wide)
                                      : CALL_FMU(in, fmi2SetInteger, references, count, wide);
}

static enum tutti_status set(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             const void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(in, fmi2SetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(in, fmi2SetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(in, fmi2SetString, references, count, values);
    default: return set_converted(in, type, references, count, values);
    }
}

static enum tutti_status get_converted(struct tutti_instance *in, enum tutti_type type, const uint32_t *references,
                                       size_t count, void *values)
{
    int *wide = tutti_instance_scratch(in, count * sizeof *wide);
    if (!wide)
        return TUTTI_STATUS_MEMORY;
    enum tutti_status status = type == TUTTI_TYPE_BOOLEAN ? CALL_FMU(in, fmi2GetBoolean, references, count, wide)
                                                          : CALL_FMU(in, fmi2GetInteger, references, count, wide);
    if (status <= TUTTI_STATUS_WARNING)
        tutti_convert_from_int(type, wide, values, count);
    return status;
}

static enum tutti_status get(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(in, fmi2GetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(in, fmi2GetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(in, fmi2GetString, references, count, values);
    default: return get_converted(in, type, references, count, values);
    }
}

static enum tutti_status set_input_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                               const int32_t *orders, const double *values)
{
    return CALL_FMU(in, fmi2SetRealInputDerivatives, references, count, orders, values);
}

static enum tutti_status get_output_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                                const int32_t *orders, double *values)
{
    return CALL_FMU(in, fmi2GetRealOutputDerivatives, references, count, orders, values);
}

static enum tutti_status get_directional(struct tutti_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                         const uint32_t *knowns, size_t known_count, const double *seed,
                                         size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    (void)seed_count;
    (void)sensitivity_count;
    return CALL_FMU(in, fmi2GetDirectionalDerivative, unknowns, unknown_count, knowns, known_count, seed, sensitivity);
}

/* The FMU computes on its own thread, although it was not asked to: wait. */
static fmi2Status wait_for_step(struct tutti_instance *in)
{
    fmi2Status status = fmi2Pending;
    useconds_t delay = 0;
    while (status == fmi2Pending) {
        if (!fmu(in)->fmi2GetStatus || fmu(in)->fmi2GetStatus(in->component, fmi2DoStepStatus, &status) > fmi2Warning)
            return fmi2Error;
        usleep(delay < 1000 ? delay++ : 1000);
    }
    return status;
}

/* After Discard the FMU knows how far it came and whether it wants to end; it need not answer. */
static void ask_about_discard(struct tutti_instance *in, double t, struct tutti_step *step)
{
    fmi2Real reached = t;
    fmi2Boolean terminated = fmi2False;
    if (!fmu(in)->fmi2GetRealStatus ||
        fmu(in)->fmi2GetRealStatus(in->component, fmi2LastSuccessfulTime, &reached) > fmi2Warning)
        reached = t;
    if (!fmu(in)->fmi2GetBooleanStatus ||
        fmu(in)->fmi2GetBooleanStatus(in->component, fmi2Terminated, &terminated) > fmi2Warning)
        terminated = fmi2False;
    step->reached = reached;
    step->terminate = terminated != fmi2False;
}

static enum tutti_status do_step(struct tutti_instance *in, double t, double h, bool no_going_back,
                                 struct tutti_step *step)
{
    (void)step;
    return (enum tutti_status)fmu(in)->fmi2DoStep(in->component, t, h, no_going_back);
}

static enum tutti_status after_step(struct tutti_instance *in, double t, enum tutti_status status,
                                    struct tutti_step *step)
{
    if (status == TUTTI_STATUS_PENDING)
        status = (enum tutti_status)wait_for_step(in);
    if (status == TUTTI_STATUS_DISCARD)
        ask_about_discard(in, t, step);
    return status;
}

static enum tutti_status get_state(struct tutti_instance *in, void **handle)
{
    return CALL_FMU(in, fmi2GetFMUstate, handle);
}

static enum tutti_status set_state(struct tutti_instance *in, void *handle)
{
    return CALL_FMU(in, fmi2SetFMUstate, handle);
}

static enum tutti_status free_state(struct tutti_instance *in, void **handle)
{
    return CALL_FMU(in, fmi2FreeFMUstate, handle);
}

static enum tutti_status serialized_size(struct tutti_instance *in, void *handle, size_t *size)
{
    return CALL_FMU(in, fmi2SerializedFMUstateSize, handle, size);
}

static enum tutti_status serialize(struct tutti_instance *in, void *handle, unsigned char *bytes, size_t size)
{
    return CALL_FMU(in, fmi2SerializeFMUstate, handle, (fmi2Byte *)bytes, size);
}

static enum tutti_status deserialize(struct tutti_instance *in, const unsigned char *bytes, size_t size, void **handle)
{
    return CALL_FMU(in, fmi2DeSerializeFMUstate, (const fmi2Byte *)bytes, size, handle);
}

static enum tutti_status terminate(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi2Terminate);
}

static enum tutti_status reset(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi2Reset);
}

/* ---- Model Exchange ---- */

static enum tutti_status enter_event(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi2EnterEventMode);
}

static enum tutti_status update_discrete(struct tutti_instance *in, struct tutti_discrete *discrete)
{
    fmi2EventInfo info = {.nextEventTimeDefined = discrete->has_next_event, .nextEventTime = discrete->next_event};
    enum tutti_status status = CALL_FMU(in, fmi2NewDiscreteStates, &info);
    *discrete = (struct tutti_discrete){
        .again = info.newDiscreteStatesNeeded != fmi2False,
        .terminate = info.terminateSimulation != fmi2False,
        .nominals_changed = info.nominalsOfContinuousStatesChanged != fmi2False,
        .states_changed = info.valuesOfContinuousStatesChanged != fmi2False,
        .has_next_event = info.nextEventTimeDefined != fmi2False,
        .next_event = info.nextEventTime,
    };
    return status;
}

static enum tutti_status enter_continuous(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi2EnterContinuousTimeMode);
}

static enum tutti_status completed_step(struct tutti_instance *in, bool no_going_back, bool *event, bool *terminate)
{
    fmi2Boolean enter_event_mode = fmi2False, end = fmi2False;
    enum tutti_status status = CALL_FMU(in, fmi2CompletedIntegratorStep, no_going_back, &enter_event_mode, &end);
    *event = enter_event_mode != fmi2False;
    *terminate = end != fmi2False;
    return status;
}

/* The functions of every right-hand side; no library comes this far without them. */
static enum tutti_status set_time(struct tutti_instance *in, double t)
{
    return (enum tutti_status)fmu(in)->fmi2SetTime(in->component, t);
}

static enum tutti_status set_states(struct tutti_instance *in, const double *states, size_t count)
{
    return (enum tutti_status)fmu(in)->fmi2SetContinuousStates(in->component, states, count);
}

static enum tutti_status get_derivatives(struct tutti_instance *in, double *derivatives, size_t count)
{
    return (enum tutti_status)fmu(in)->fmi2GetDerivatives(in->component, derivatives, count);
}

static enum tutti_status get_indicators(struct tutti_instance *in, double *indicators, size_t count)
{
    return (enum tutti_status)fmu(in)->fmi2GetEventIndicators(in->component, indicators, count);
}

static enum tutti_status get_states(struct tutti_instance *in, double *states, size_t count)
{
    return CALL_FMU(in, fmi2GetContinuousStates, states, count);
}

static enum tutti_status get_nominals(struct tutti_instance *in, double *nominals, size_t count)
{
    return CALL_FMU(in, fmi2GetNominalsOfContinuousStates, nominals, count);
}

static const char *type_word(enum tutti_type type)
{
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return "Real";
    case TUTTI_TYPE_INT32:
    case TUTTI_TYPE_ENUMERATION: return "Integer";
    case TUTTI_TYPE_BOOLEAN: return "Boolean";
    case TUTTI_TYPE_STRING: return "String";
    default: return NULL;
    }
}

static const char *const call_names[TUTTI_CALL_COUNT] = {
    [TUTTI_CALL_INSTANTIATE] = "fmi2Instantiate",
    [TUTTI_CALL_FREE] = "fmi2FreeInstance",
    [TUTTI_CALL_SET_DEBUG_LOGGING] = "fmi2SetDebugLogging",
    [TUTTI_CALL_SETUP_EXPERIMENT] = "fmi2SetupExperiment",
    [TUTTI_CALL_ENTER_INITIALIZATION] = "fmi2EnterInitializationMode",
    [TUTTI_CALL_EXIT_INITIALIZATION] = "fmi2ExitInitializationMode",
    [TUTTI_CALL_ENTER_EVENT] = "fmi2EnterEventMode",
    [TUTTI_CALL_UPDATE_DISCRETE] = "fmi2NewDiscreteStates",
    [TUTTI_CALL_ENTER_CONTINUOUS] = "fmi2EnterContinuousTimeMode",
    [TUTTI_CALL_SET] = "fmi2Set",
    [TUTTI_CALL_GET] = "fmi2Get",
    [TUTTI_CALL_SET_INPUT_DERIVATIVES] = "fmi2SetRealInputDerivatives",
    [TUTTI_CALL_GET_OUTPUT_DERIVATIVES] = "fmi2GetRealOutputDerivatives",
    [TUTTI_CALL_GET_DIRECTIONAL] = "fmi2GetDirectionalDerivative",
    [TUTTI_CALL_DO_STEP] = "fmi2DoStep",
    [TUTTI_CALL_SET_TIME] = "fmi2SetTime",
    [TUTTI_CALL_SET_STATES] = "fmi2SetContinuousStates",
    [TUTTI_CALL_GET_STATES] = "fmi2GetContinuousStates",
    [TUTTI_CALL_GET_DERIVATIVES] = "fmi2GetDerivatives",
    [TUTTI_CALL_GET_INDICATORS] = "fmi2GetEventIndicators",
    [TUTTI_CALL_GET_NOMINALS] = "fmi2GetNominalsOfContinuousStates",
    [TUTTI_CALL_COMPLETED_STEP] = "fmi2CompletedIntegratorStep",
    [TUTTI_CALL_GET_STATE] = "fmi2GetFMUstate",
    [TUTTI_CALL_SET_STATE] = "fmi2SetFMUstate",
    [TUTTI_CALL_FREE_STATE] = "fmi2FreeFMUstate",
    [TUTTI_CALL_SERIALIZE] = "fmi2SerializeFMUstate",
    [TUTTI_CALL_DESERIALIZE] = "fmi2DeSerializeFMUstate",
    [TUTTI_CALL_TERMINATE] = "fmi2Terminate",
    [TUTTI_CALL_RESET] = "fmi2Reset",
};

static const struct tutti_optional optional[] = {
    {"canGetAndSetFMUstate", TUTTI_CAN_STATE, FMI2_STATE},
    {"canSerializeFMUstate", TUTTI_CAN_SERIALIZE, FMI2_STATE | FMI2_SERIALISE},
    {"providesDirectionalDerivative", TUTTI_CAN_DIRECTIONAL, FMI2_DIRECTIONAL},
    {"canInterpolateInputs", TUTTI_CAN_INPUT_DERIVATIVES, FMI2_CS_INPUT_DERIVATIVES},
    {"maxOutputDerivativeOrder", TUTTI_CAN_OUTPUT_DERIVATIVES, FMI2_CS_OUTPUT_DERIVATIVES},
    {NULL, 0, 0},
};

const struct tutti_binding tutti_binding_fmi2 = {
    .fmi = 2,
    .version = "2.0",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .required = {[TUTTI_CS] = FMI2_COMMON | FMI2_CS, [TUTTI_ME] = FMI2_COMMON | FMI2_ME},
    .optional = optional,
    .call_names = {[TUTTI_CS] = call_names, [TUTTI_ME] = call_names},
    .type_word = type_word,
    .types = (1u << TUTTI_TYPE_FLOAT64 | 1u << TUTTI_TYPE_INT32 | 1u << TUTTI_TYPE_BOOLEAN | 1u << TUTTI_TYPE_STRING |
              1u << TUTTI_TYPE_ENUMERATION),
    .get_version = get_version,
    .instantiate = instantiate,
    .free = free_instance,
    .set_debug_logging = set_debug_logging,
    .setup_experiment = setup_experiment,
    .enter_initialization = enter_initialization,
    .exit_initialization = exit_initialization,
    .set = set,
    .get = get,
    .set_input_derivatives = set_input_derivatives,
    .get_output_derivatives = get_output_derivatives,
    .get_directional = get_directional,
    .do_step = do_step,
    .after_step = after_step,
    .enter_event = enter_event,
    .update_discrete = update_discrete,
    .get_state = get_state,
    .set_state = set_state,
    .free_state = free_state,
    .serialized_size = serialized_size,
    .serialize = serialize,
    .deserialize = deserialize,
    .terminate = terminate,
    .reset = reset,
    .set_time = set_time,
    .set_states = set_states,
    .get_states = get_states,
    .get_derivatives = get_derivatives,
    .get_indicators = get_indicators,
    .get_nominals = get_nominals,
    .completed_step = completed_step,
    .enter_continuous = enter_continuous,
};
