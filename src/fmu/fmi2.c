/* SPDX-License-Identifier: MIT */
/* FMI 2.0 for the interface binding.h: Co-Simulation and Model Exchange. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "fmu/api2.h"
#include "fmu/fmi_call_instance.h"
#include "fmu/fmi_convert.h"

struct fmi2_functions {
#define X(name, ret, params, group) ret(*name) params;
    FMI2_FUNCTIONS(X)
#undef X
};

static const struct tt_symbol symbols[] = {
#define X(name, ret, params, group) {#name, group},
    FMI2_FUNCTIONS(X)
#undef X
};

static const struct fmi2_functions *fmi2_functions(const struct tt_instance *in)
{
    return (const struct fmi2_functions *)in->functions;
}

static void fmi2_log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                             fmi2String category, fmi2String format, ...) TUTTI_PRINTF(5, 6);

static void fmi2_log_message(fmi2ComponentEnvironment environment, fmi2String name, fmi2Status status,
                             fmi2String category, fmi2String format, ...)
{
    (void)name;
    va_list args;
    va_start(args, format);
    tt_fmu_callbacks_format_message(environment, (enum tt_fmi_status)status, category, format, args);
    va_end(args);
}

static const char *fmi2_get_version(const struct tt_library *library)
{
    const struct fmi2_functions *f = (const struct fmi2_functions *)library->functions;
    return f->fmi2GetVersion ? f->fmi2GetVersion() : NULL;
}

static void *fmi2_instantiate(struct tt_instance *in)
{
    fmi2CallbackFunctions callbacks = {fmi2_log_message, calloc, free, NULL, in};
    _Static_assert(sizeof callbacks <= sizeof in->callbacks, "the instance keeps the callbacks");
    memcpy(in->callbacks, &callbacks, sizeof callbacks);
    struct tt_text uri = {0};
    tt_fmi_convert_path_to_uri(&uri, in->library->resources);
    fmi2Type type = in->library->kind == TUTTI_ME ? fmi2ModelExchange : fmi2CoSimulation;
    void *component = uri.failed
                          ? NULL
                          : fmi2_functions(in)->fmi2Instantiate(
                                in->options.name, type, in->library->desc->token ? in->library->desc->token : "",
                                uri.text, (const fmi2CallbackFunctions *)in->callbacks, fmi2False, in->logging_on);
    tt_text_fini(&uri);
    return component;
}

static enum tt_fmi_status fmi2_set_debug_logging(struct tt_instance *in, bool on, size_t count,
                                                 const char *const *categories)
{
    /* One of the functions that FMUs do without. */
    return fmi2_functions(in)->fmi2SetDebugLogging
               ? CALL_FMU(fmi2_functions, in, fmi2SetDebugLogging, on, count, categories)
               : TUTTI_STATUS_OK;
}

static void fmi2_free_instance(struct tt_instance *in)
{
    fmi2_functions(in)->fmi2FreeInstance(in->component);
}

static enum tt_fmi_status fmi2_setup_experiment(struct tt_instance *in)
{
    const struct tt_experiment_setup *setup = &in->setup;
    /* A tolerance is for a solver inside; FMUs of a well-known tool warn of one in Model Exchange. */
    bool has_tolerance = setup->has_tolerance && in->library->kind == TUTTI_CS;
    return CALL_FMU(fmi2_functions, in, fmi2SetupExperiment, has_tolerance, has_tolerance ? setup->tolerance : 0,
                    setup->start, setup->has_stop, setup->stop);
}

static enum tt_fmi_status fmi2_enter_initialization(struct tt_instance *in)
{
    return CALL_FMU(fmi2_functions, in, fmi2EnterInitializationMode);
}

static enum tt_fmi_status fmi2_exit_initialization(struct tt_instance *in)
{
    return CALL_FMU(fmi2_functions, in, fmi2ExitInitializationMode);
}

static enum tt_fmi_status fmi2_set(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   const void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(fmi2_functions, in, fmi2SetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(fmi2_functions, in, fmi2SetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(fmi2_functions, in, fmi2SetString, references, count, values);
    default: break;
    }

    const int *wide = tt_fmi_convert_to_int(in, type, values, count);
    if (!wide)
        return TUTTI_STATUS_MEMORY;
    return type == TUTTI_TYPE_BOOLEAN ? CALL_FMU(fmi2_functions, in, fmi2SetBoolean, references, count, wide)
                                      : CALL_FMU(fmi2_functions, in, fmi2SetInteger, references, count, wide);
}

static enum tt_fmi_status fmi2_get_converted(struct tt_instance *in, enum tt_type type, const uint32_t *references,
                                             size_t count, void *values)
{
    int *wide = tt_instance_scratch(in, count * sizeof *wide);
    if (!wide)
        return TUTTI_STATUS_MEMORY;
    enum tt_fmi_status status = type == TUTTI_TYPE_BOOLEAN
                                    ? CALL_FMU(fmi2_functions, in, fmi2GetBoolean, references, count, wide)
                                    : CALL_FMU(fmi2_functions, in, fmi2GetInteger, references, count, wide);
    if (status <= TUTTI_STATUS_WARNING)
        tt_fmi_convert_from_int(type, wide, values, count);
    return status;
}

static enum tt_fmi_status fmi2_get(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(fmi2_functions, in, fmi2GetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(fmi2_functions, in, fmi2GetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(fmi2_functions, in, fmi2GetString, references, count, values);
    default: return fmi2_get_converted(in, type, references, count, values);
    }
}

static enum tt_fmi_status fmi2_set_input_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                     const int32_t *orders, const double *values)
{
    return CALL_FMU(fmi2_functions, in, fmi2SetRealInputDerivatives, references, count, orders, values);
}

static enum tt_fmi_status fmi2_get_output_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                      const int32_t *orders, double *values)
{
    return CALL_FMU(fmi2_functions, in, fmi2GetRealOutputDerivatives, references, count, orders, values);
}

static enum tt_fmi_status fmi2_get_directional(struct tt_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                               const uint32_t *knowns, size_t known_count, const double *seed,
                                               size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    (void)seed_count;
    (void)sensitivity_count;
    return CALL_FMU(fmi2_functions, in, fmi2GetDirectionalDerivative, unknowns, unknown_count, knowns, known_count,
                    seed, sensitivity);
}

/* The FMU computes on its own thread, although it was not asked to: wait. */
static fmi2Status fmi2_wait_for_step(struct tt_instance *in)
{
    fmi2Status status = fmi2Pending;
    useconds_t delay = 0;
    while (status == fmi2Pending) {
        if (!fmi2_functions(in)->fmi2GetStatus ||
            fmi2_functions(in)->fmi2GetStatus(in->component, fmi2DoStepStatus, &status) > fmi2Warning)
            return fmi2Error;
        usleep(delay < 1000 ? delay++ : 1000);
    }
    return status;
}

/* After Discard the FMU can report how far it came and whether it requests the end; it may refuse to. */
static void fmi2_query_discard(struct tt_instance *in, double t, struct tt_fmi_step *step)
{
    fmi2Real reached = t;
    fmi2Boolean terminated = fmi2False;
    if (!fmi2_functions(in)->fmi2GetRealStatus ||
        fmi2_functions(in)->fmi2GetRealStatus(in->component, fmi2LastSuccessfulTime, &reached) > fmi2Warning)
        reached = t;
    if (!fmi2_functions(in)->fmi2GetBooleanStatus ||
        fmi2_functions(in)->fmi2GetBooleanStatus(in->component, fmi2Terminated, &terminated) > fmi2Warning)
        terminated = fmi2False;
    step->reached = reached;
    step->terminate = terminated != fmi2False;
}

static enum tt_fmi_status fmi2_do_step(struct tt_instance *in, double t, double h, bool no_going_back,
                                       struct tt_fmi_step *step)
{
    (void)step;
    return (enum tt_fmi_status)fmi2_functions(in)->fmi2DoStep(in->component, t, h, no_going_back);
}

static enum tt_fmi_status fmi2_after_step(struct tt_instance *in, double t, enum tt_fmi_status status,
                                          struct tt_fmi_step *step)
{
    if (status == TUTTI_STATUS_PENDING)
        status = (enum tt_fmi_status)fmi2_wait_for_step(in);
    if (status == TUTTI_STATUS_DISCARD)
        fmi2_query_discard(in, t, step);
    return status;
}

static enum tt_fmi_status fmi2_get_state(struct tt_instance *in, void **handle)
{
    return CALL_FMU(fmi2_functions, in, fmi2GetFMUstate, handle);
}

static enum tt_fmi_status fmi2_set_state(struct tt_instance *in, void *handle)
{
    return CALL_FMU(fmi2_functions, in, fmi2SetFMUstate, handle);
}

static enum tt_fmi_status fmi2_free_state(struct tt_instance *in, void **handle)
{
    return CALL_FMU(fmi2_functions, in, fmi2FreeFMUstate, handle);
}

static enum tt_fmi_status fmi2_serialized_size(struct tt_instance *in, void *handle, size_t *size)
{
    return CALL_FMU(fmi2_functions, in, fmi2SerializedFMUstateSize, handle, size);
}

static enum tt_fmi_status fmi2_serialize(struct tt_instance *in, void *handle, unsigned char *bytes, size_t size)
{
    return CALL_FMU(fmi2_functions, in, fmi2SerializeFMUstate, handle, (fmi2Byte *)bytes, size);
}

static enum tt_fmi_status fmi2_deserialize(struct tt_instance *in, const unsigned char *bytes, size_t size,
                                           void **handle)
{
    return CALL_FMU(fmi2_functions, in, fmi2DeSerializeFMUstate, (const fmi2Byte *)bytes, size, handle);
}

static enum tt_fmi_status fmi2_terminate(struct tt_instance *in)
{
    return CALL_FMU(fmi2_functions, in, fmi2Terminate);
}

static enum tt_fmi_status fmi2_reset(struct tt_instance *in)
{
    return CALL_FMU(fmi2_functions, in, fmi2Reset);
}

/* ---- Model Exchange ---- */

static enum tt_fmi_status fmi2_enter_event(struct tt_instance *in)
{
    return CALL_FMU(fmi2_functions, in, fmi2EnterEventMode);
}

static enum tt_fmi_status fmi2_update_discrete(struct tt_instance *in, struct tt_discrete_update *discrete)
{
    fmi2EventInfo info = {.nextEventTimeDefined = discrete->has_next_event, .nextEventTime = discrete->next_event};
    enum tt_fmi_status status = CALL_FMU(fmi2_functions, in, fmi2NewDiscreteStates, &info);
    *discrete = (struct tt_discrete_update){
        .again = info.newDiscreteStatesNeeded != fmi2False,
        .terminate = info.terminateSimulation != fmi2False,
        .nominals_changed = info.nominalsOfContinuousStatesChanged != fmi2False,
        .states_changed = info.valuesOfContinuousStatesChanged != fmi2False,
        .has_next_event = info.nextEventTimeDefined != fmi2False,
        .next_event = info.nextEventTime,
    };
    return status;
}

static enum tt_fmi_status fmi2_enter_continuous(struct tt_instance *in)
{
    return CALL_FMU(fmi2_functions, in, fmi2EnterContinuousTimeMode);
}

static enum tt_fmi_status fmi2_completed_step(struct tt_instance *in, bool no_going_back, bool *event, bool *terminate)
{
    fmi2Boolean enter_event_mode = fmi2False, end = fmi2False;
    enum tt_fmi_status status =
        CALL_FMU(fmi2_functions, in, fmi2CompletedIntegratorStep, no_going_back, &enter_event_mode, &end);
    *event = enter_event_mode != fmi2False;
    *terminate = end != fmi2False;
    return status;
}

/* The functions of every right-hand side; no library comes this far without them. */
static enum tt_fmi_status fmi2_set_time(struct tt_instance *in, double t)
{
    return (enum tt_fmi_status)fmi2_functions(in)->fmi2SetTime(in->component, t);
}

static enum tt_fmi_status fmi2_set_states(struct tt_instance *in, const double *states, size_t count)
{
    return (enum tt_fmi_status)fmi2_functions(in)->fmi2SetContinuousStates(in->component, states, count);
}

static enum tt_fmi_status fmi2_get_derivatives(struct tt_instance *in, double *derivatives, size_t count)
{
    return (enum tt_fmi_status)fmi2_functions(in)->fmi2GetDerivatives(in->component, derivatives, count);
}

static enum tt_fmi_status fmi2_get_indicators(struct tt_instance *in, double *indicators, size_t count)
{
    return (enum tt_fmi_status)fmi2_functions(in)->fmi2GetEventIndicators(in->component, indicators, count);
}

static enum tt_fmi_status fmi2_get_states(struct tt_instance *in, double *states, size_t count)
{
    return CALL_FMU(fmi2_functions, in, fmi2GetContinuousStates, states, count);
}

static enum tt_fmi_status fmi2_get_nominals(struct tt_instance *in, double *nominals, size_t count)
{
    return CALL_FMU(fmi2_functions, in, fmi2GetNominalsOfContinuousStates, nominals, count);
}

static const char *fmi2_type_word(enum tt_type type)
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

static const struct tt_optional optional[] = {
    {"canGetAndSetFMUstate", TUTTI_CAN_STATE, FMI2_STATE},
    {"canSerializeFMUstate", TUTTI_CAN_SERIALIZE, FMI2_STATE | FMI2_SERIALISE},
    {"providesDirectionalDerivative", TUTTI_CAN_DIRECTIONAL, FMI2_DIRECTIONAL},
    {"canInterpolateInputs", TUTTI_CAN_INPUT_DERIVATIVES, FMI2_CS_INPUT_DERIVATIVES},
    {"maxOutputDerivativeOrder", TUTTI_CAN_OUTPUT_DERIVATIVES, FMI2_CS_OUTPUT_DERIVATIVES},
    {NULL, 0, 0},
};

const struct tt_binding tt_fmi2_binding = {
    .fmi = 2,
    .version = "2.0",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .required = {[TUTTI_CS] = FMI2_COMMON | FMI2_CS, [TUTTI_ME] = FMI2_COMMON | FMI2_ME},
    .optional = optional,
    .call_names = {[TUTTI_CS] = call_names, [TUTTI_ME] = call_names},
    .type_word = fmi2_type_word,
    .types = (1u << TUTTI_TYPE_FLOAT64 | 1u << TUTTI_TYPE_INT32 | 1u << TUTTI_TYPE_BOOLEAN | 1u << TUTTI_TYPE_STRING |
              1u << TUTTI_TYPE_ENUMERATION),
    .get_version = fmi2_get_version,
    .instantiate = fmi2_instantiate,
    .free = fmi2_free_instance,
    .set_debug_logging = fmi2_set_debug_logging,
    .setup_experiment = fmi2_setup_experiment,
    .enter_initialization = fmi2_enter_initialization,
    .exit_initialization = fmi2_exit_initialization,
    .set = fmi2_set,
    .get = fmi2_get,
    .set_input_derivatives = fmi2_set_input_derivatives,
    .get_output_derivatives = fmi2_get_output_derivatives,
    .get_directional = fmi2_get_directional,
    .do_step = fmi2_do_step,
    .after_step = fmi2_after_step,
    .enter_event = fmi2_enter_event,
    .update_discrete = fmi2_update_discrete,
    .get_state = fmi2_get_state,
    .set_state = fmi2_set_state,
    .free_state = fmi2_free_state,
    .serialized_size = fmi2_serialized_size,
    .serialize = fmi2_serialize,
    .deserialize = fmi2_deserialize,
    .terminate = fmi2_terminate,
    .reset = fmi2_reset,
    .set_time = fmi2_set_time,
    .set_states = fmi2_set_states,
    .get_states = fmi2_get_states,
    .get_derivatives = fmi2_get_derivatives,
    .get_indicators = fmi2_get_indicators,
    .get_nominals = fmi2_get_nominals,
    .completed_step = fmi2_completed_step,
    .enter_continuous = fmi2_enter_continuous,
};
