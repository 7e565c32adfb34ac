/* SPDX-License-Identifier: MIT */
/* FMI 3.0 for the interface binding.h: Co-Simulation, Model Exchange and Scheduled Execution. */
#include <stdlib.h>

#include "fmu/api3.h"
#include "fmu/instance_clocks_header.h"
#include "fmu/fmu_callbacks.h"

struct fmi3_functions {
#define X(name, ret, params, group) ret(*name) params;
    FMI3_FUNCTIONS(X)
#undef X
};

static const struct tt_symbol symbols[] = {
#define X(name, ret, params, group) {#name, group},
    FMI3_FUNCTIONS(X)
#undef X
};

static const struct fmi3_functions *fmi3_functions(const struct tt_instance *in)
{
    return (const struct fmi3_functions *)in->functions;
}

static void fmi3_log_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category,
                             fmi3String text)
{
    struct tt_fmu_callback called = tt_fmu_callbacks_enter(environment);
    tt_fmu_callbacks_message(called.instance, (enum tt_fmi_status)status, category, text);
    tt_fmu_callbacks_leave(called);
}

static void fmi3_intermediate_update(fmi3InstanceEnvironment environment, fmi3Float64 t, fmi3Boolean set_requested,
                                     fmi3Boolean get_allowed, fmi3Boolean step_finished, fmi3Boolean can_return_early,
                                     fmi3Boolean *early_return_requested, fmi3Float64 *early_return_time)
{
    struct tt_fmu_callback called = tt_fmu_callbacks_enter(environment);
    struct tt_intermediate_update update = {t, set_requested, get_allowed, step_finished, can_return_early, false, t};
    if (called.instance)
        tt_instance_intermediate(called.instance, &update);
    tt_fmu_callbacks_leave(called);
    if (early_return_requested)
        *early_return_requested = update.return_early && can_return_early;
    if (early_return_time)
        *early_return_time = update.return_at;
}

static const char *fmi3_get_version(const struct tt_library *library)
{
    const struct fmi3_functions *f = (const struct fmi3_functions *)library->functions;
    return f->fmi3GetVersion ? f->fmi3GetVersion() : NULL;
}

static void fmi3_clock_update(fmi3InstanceEnvironment environment)
{
    struct tt_fmu_callback called = tt_fmu_callbacks_enter(environment);
    tt_instance_clocks_update(called.instance);
    tt_fmu_callbacks_leave(called);
}

static void fmi3_lock_preemption(void)
{
    tt_instance_clocks_lock_preemption(true);
}

static void fmi3_unlock_preemption(void)
{
    tt_instance_clocks_lock_preemption(false);
}

static void *fmi3_instantiate(struct tt_instance *in)
{
    const char *token = in->library->desc->token ? in->library->desc->token : "";
    const char *resources = in->library->has_resources ? in->library->resources : NULL;
    if (in->library->kind == TUTTI_CS) {
        const struct tt_instance_options *options = &in->options;
        bool intermediate = options->intermediate_update && (in->library->can & TUTTI_CAN_INTERMEDIATE);
        return fmi3_functions(in)->fmi3InstantiateCoSimulation(
            options->name, token, resources, false, in->logging_on, in->event_mode, options->early_return,
            intermediate ? options->intermediate : NULL, intermediate ? options->intermediate_count : 0, in,
            fmi3_log_message, intermediate ? fmi3_intermediate_update : NULL);
    }
    if (in->library->kind == TUTTI_SE)
        return fmi3_functions(in)->fmi3InstantiateScheduledExecution(
            in->options.name, token, resources, false, in->logging_on, in, fmi3_log_message, fmi3_clock_update,
            fmi3_lock_preemption, fmi3_unlock_preemption);
    return fmi3_functions(in)->fmi3InstantiateModelExchange(in->options.name, token, resources, false, in->logging_on,
                                                            in, fmi3_log_message);
}

static enum tt_fmi_status fmi3_set_debug_logging(struct tt_instance *in, bool on, size_t count,
                                                 const char *const *categories)
{
    /* One of the functions that FMUs do without. */
    return fmi3_functions(in)->fmi3SetDebugLogging
               ? CALL_FMU(fmi3_functions, in, fmi3SetDebugLogging, on, count, categories)
               : TUTTI_STATUS_OK;
}

static void fmi3_free_instance(struct tt_instance *in)
{
    fmi3_functions(in)->fmi3FreeInstance(in->component);
}

static enum tt_fmi_status fmi3_enter_configuration(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3EnterConfigurationMode);
}

static enum tt_fmi_status fmi3_exit_configuration(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3ExitConfigurationMode);
}

static enum tt_fmi_status fmi3_enter_initialization(struct tt_instance *in)
{
    const struct tt_experiment_setup *setup = &in->setup;
    return CALL_FMU(fmi3_functions, in, fmi3EnterInitializationMode, setup->has_tolerance, setup->tolerance,
                    setup->start, setup->has_stop, setup->stop);
}

static enum tt_fmi_status fmi3_exit_initialization(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3ExitInitializationMode);
}

/* The types whose values have the memory layout of FMI 3.0. */
#define PLAIN_TYPES(X)                                                                                                 \
    X(FLOAT64, Float64)                                                                                                \
    X(FLOAT32, Float32)                                                                                                \
    X(INT8, Int8)                                                                                                      \
    X(UINT8, UInt8)                                                                                                    \
    X(INT16, Int16)                                                                                                    \
    X(UINT16, UInt16)                                                                                                  \
    X(INT32, Int32)                                                                                                    \
    X(UINT32, UInt32)                                                                                                  \
    X(INT64, Int64)                                                                                                    \
    X(UINT64, UInt64)                                                                                                  \
    X(BOOLEAN, Boolean)                                                                                                \
    X(STRING, String)                                                                                                  \
    X(ENUMERATION, Int64)

/* Binary values travel as two arrays, sizes and pointers. */
static bool fmi3_split_bytes(struct tt_instance *in, size_t n, size_t **sizes, fmi3Binary **data)
{
    *sizes = tt_instance_scratch(in, n * (sizeof **sizes + sizeof **data));
    *data = (fmi3Binary *)(*sizes + n);
    return *sizes != NULL;
}

/* Not inlined, nor that of get: set and get of all other types are jumps then. */
static __attribute__((noinline)) enum tt_fmi_status fmi3_set_binary(struct tt_instance *in, const uint32_t *references,
                                                                    size_t count, const struct tt_bytes *values,
                                                                    size_t n)
{
    size_t *sizes;
    fmi3Binary *data;
    if (!fmi3_split_bytes(in, n, &sizes, &data))
        return TUTTI_STATUS_MEMORY;
    for (size_t i = 0; i < n; i++) {
        sizes[i] = values[i].size;
        data[i] = values[i].data;
    }
    return CALL_FMU(fmi3_functions, in, fmi3SetBinary, references, count, sizes, data, n);
}

static __attribute__((noinline)) enum tt_fmi_status fmi3_get_binary(struct tt_instance *in, const uint32_t *references,
                                                                    size_t count, struct tt_bytes *values, size_t n)
{
    size_t *sizes;
    fmi3Binary *data;
    if (!fmi3_split_bytes(in, n, &sizes, &data))
        return TUTTI_STATUS_MEMORY;
    enum tt_fmi_status status = CALL_FMU(fmi3_functions, in, fmi3GetBinary, references, count, sizes, data, n);
    for (size_t i = 0; status <= TUTTI_STATUS_WARNING && i < n; i++)
        values[i] = (struct tt_bytes){sizes[i], data[i]};
    return status;
}

static enum tt_fmi_status fmi3_set(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   const void *values, size_t n)
{
    switch (type) {
#define X(name, word)                                                                                                  \
    case TUTTI_TYPE_##name: return CALL_FMU(fmi3_functions, in, fmi3Set##word, references, count, values, n);
        PLAIN_TYPES(X)
#undef X
    default: return fmi3_set_binary(in, references, count, values, n);
    }
}

static enum tt_fmi_status fmi3_get(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   void *values, size_t n)
{
    switch (type) {
#define X(name, word)                                                                                                  \
    case TUTTI_TYPE_##name: return CALL_FMU(fmi3_functions, in, fmi3Get##word, references, count, values, n);
        PLAIN_TYPES(X)
#undef X
    default: return fmi3_get_binary(in, references, count, values, n);
    }
}

static enum tt_fmi_status fmi3_get_output_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                      const int32_t *orders, double *values)
{
    return CALL_FMU(fmi3_functions, in, fmi3GetOutputDerivatives, references, count, orders, values, count);
}

static enum tt_fmi_status fmi3_get_directional(struct tt_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                               const uint32_t *knowns, size_t known_count, const double *seed,
                                               size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    return CALL_FMU(fmi3_functions, in, fmi3GetDirectionalDerivative, unknowns, unknown_count, knowns, known_count,
                    seed, seed_count, sensitivity, sensitivity_count);
}

static enum tt_fmi_status fmi3_get_adjoint(struct tt_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                           const uint32_t *knowns, size_t known_count, const double *seed,
                                           size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    return CALL_FMU(fmi3_functions, in, fmi3GetAdjointDerivative, unknowns, unknown_count, knowns, known_count, seed,
                    seed_count, sensitivity, sensitivity_count);
}

static enum tt_fmi_status fmi3_do_step(struct tt_instance *in, double t, double h, bool no_going_back,
                                       struct tt_fmi_step *step)
{
    return (enum tt_fmi_status)fmi3_functions(in)->fmi3DoStep(in->component, t, h, no_going_back, &step->event,
                                                              &step->terminate, &step->early, &step->reached);
}

static enum tt_fmi_status fmi3_enter_event(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3EnterEventMode);
}

static enum tt_fmi_status fmi3_update_discrete(struct tt_instance *in, struct tt_discrete_update *discrete)
{
    return CALL_FMU(fmi3_functions, in, fmi3UpdateDiscreteStates, &discrete->again, &discrete->terminate,
                    &discrete->nominals_changed, &discrete->states_changed, &discrete->has_next_event,
                    &discrete->next_event);
}

static enum tt_fmi_status fmi3_enter_step(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3EnterStepMode);
}

static enum tt_fmi_status fmi3_set_clocks(struct tt_instance *in, const uint32_t *references, size_t count,
                                          const bool *values)
{
    return CALL_FMU(fmi3_functions, in, fmi3SetClock, references, count, values);
}

static enum tt_fmi_status fmi3_get_clocks(struct tt_instance *in, const uint32_t *references, size_t count,
                                          bool *values)
{
    return CALL_FMU(fmi3_functions, in, fmi3GetClock, references, count, values);
}

static enum tt_fmi_status fmi3_get_interval(struct tt_instance *in, uint32_t reference, struct tt_clock_timing *timing)
{
    fmi3IntervalQualifier qualifier = fmi3IntervalNotYetKnown;
    enum tt_fmi_status status = timing->fraction ? CALL_FMU(fmi3_functions, in, fmi3GetIntervalFraction, &reference, 1,
                                                            &timing->counter, &timing->resolution, &qualifier)
                                                 : CALL_FMU(fmi3_functions, in, fmi3GetIntervalDecimal, &reference, 1,
                                                            &timing->decimal, &qualifier);
    timing->qualifier = qualifier == fmi3IntervalChanged     ? TUTTI_TIMING_CHANGED
                        : qualifier == fmi3IntervalUnchanged ? TUTTI_TIMING_UNCHANGED
                                                             : TUTTI_TIMING_NOT_YET_KNOWN;
    return status;
}

static enum tt_fmi_status fmi3_get_shift(struct tt_instance *in, uint32_t reference, struct tt_clock_timing *timing)
{
    return timing->fraction ? CALL_FMU(fmi3_functions, in, fmi3GetShiftFraction, &reference, 1, &timing->counter,
                                       &timing->resolution)
                            : CALL_FMU(fmi3_functions, in, fmi3GetShiftDecimal, &reference, 1, &timing->decimal);
}

static enum tt_fmi_status fmi3_set_interval(struct tt_instance *in, uint32_t reference,
                                            const struct tt_clock_timing *timing)
{
    return timing->fraction ? CALL_FMU(fmi3_functions, in, fmi3SetIntervalFraction, &reference, 1, &timing->counter,
                                       &timing->resolution)
                            : CALL_FMU(fmi3_functions, in, fmi3SetIntervalDecimal, &reference, 1, &timing->decimal);
}

static enum tt_fmi_status fmi3_activate(struct tt_instance *in, uint32_t reference, double t)
{
    return (enum tt_fmi_status)fmi3_functions(in)->fmi3ActivateModelPartition(in->component, reference, t);
}

static enum tt_fmi_status fmi3_get_state(struct tt_instance *in, void **handle)
{
    return CALL_FMU(fmi3_functions, in, fmi3GetFMUState, handle);
}

static enum tt_fmi_status fmi3_set_state(struct tt_instance *in, void *handle)
{
    return CALL_FMU(fmi3_functions, in, fmi3SetFMUState, handle);
}

static enum tt_fmi_status fmi3_free_state(struct tt_instance *in, void **handle)
{
    return CALL_FMU(fmi3_functions, in, fmi3FreeFMUState, handle);
}

static enum tt_fmi_status fmi3_serialized_size(struct tt_instance *in, void *handle, size_t *size)
{
    return CALL_FMU(fmi3_functions, in, fmi3SerializedFMUStateSize, handle, size);
}

static enum tt_fmi_status fmi3_serialize(struct tt_instance *in, void *handle, unsigned char *bytes, size_t size)
{
    return CALL_FMU(fmi3_functions, in, fmi3SerializeFMUState, handle, bytes, size);
}

static enum tt_fmi_status fmi3_deserialize(struct tt_instance *in, const unsigned char *bytes, size_t size,
                                           void **handle)
{
    return CALL_FMU(fmi3_functions, in, fmi3DeserializeFMUState, bytes, size, handle);
}

static enum tt_fmi_status fmi3_terminate(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3Terminate);
}

static enum tt_fmi_status fmi3_reset(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3Reset);
}

/* ---- Model Exchange ---- */

/* A library may lack both functions: then nothing can change the numbers of the description. */
static enum tt_fmi_status fmi3_count_states(struct tt_instance *in, size_t *states, size_t *indicators)
{
    const struct fmi3_functions *f = fmi3_functions(in);
    fmi3Status status = fmi3OK, other = fmi3OK;
    if (f->fmi3GetNumberOfContinuousStates)
        status = f->fmi3GetNumberOfContinuousStates(in->component, states);
    if (f->fmi3GetNumberOfEventIndicators && status <= fmi3Warning)
        other = f->fmi3GetNumberOfEventIndicators(in->component, indicators);
    return (enum tt_fmi_status)(other > status ? other : status);
}

static enum tt_fmi_status fmi3_enter_continuous(struct tt_instance *in)
{
    return CALL_FMU(fmi3_functions, in, fmi3EnterContinuousTimeMode);
}

static enum tt_fmi_status fmi3_completed_step(struct tt_instance *in, bool no_going_back, bool *event, bool *terminate)
{
    return CALL_FMU(fmi3_functions, in, fmi3CompletedIntegratorStep, no_going_back, event, terminate);
}

/* The functions of every right-hand side; no library comes this far without them. */
static enum tt_fmi_status fmi3_set_time(struct tt_instance *in, double t)
{
    return (enum tt_fmi_status)fmi3_functions(in)->fmi3SetTime(in->component, t);
}

static enum tt_fmi_status fmi3_set_states(struct tt_instance *in, const double *states, size_t count)
{
    return (enum tt_fmi_status)fmi3_functions(in)->fmi3SetContinuousStates(in->component, states, count);
}

static enum tt_fmi_status fmi3_get_derivatives(struct tt_instance *in, double *derivatives, size_t count)
{
    return (enum tt_fmi_status)fmi3_functions(in)->fmi3GetContinuousStateDerivatives(in->component, derivatives, count);
}

static enum tt_fmi_status fmi3_get_indicators(struct tt_instance *in, double *indicators, size_t count)
{
    return (enum tt_fmi_status)fmi3_functions(in)->fmi3GetEventIndicators(in->component, indicators, count);
}

static enum tt_fmi_status fmi3_get_states(struct tt_instance *in, double *states, size_t count)
{
    return CALL_FMU(fmi3_functions, in, fmi3GetContinuousStates, states, count);
}

static enum tt_fmi_status fmi3_get_nominals(struct tt_instance *in, double *nominals, size_t count)
{
    return CALL_FMU(fmi3_functions, in, fmi3GetNominalsOfContinuousStates, nominals, count);
}

static const char *fmi3_type_word(enum tt_type type)
{
    switch (type) {
    case TUTTI_TYPE_ENUMERATION: return "Int64";
    case TUTTI_TYPE_CLOCK: return NULL;
    default: return tt_type_name(type);
    }
}

/* One name differs between the interfaces. Those of intervals and shifts go without Decimal or Fraction. */
#define COMMON_NAMES                                                                                                   \
    [TUTTI_CALL_FREE] = "fmi3FreeInstance", [TUTTI_CALL_SET_DEBUG_LOGGING] = "fmi3SetDebugLogging",                    \
    [TUTTI_CALL_ENTER_CONFIGURATION] = "fmi3EnterConfigurationMode",                                                   \
    [TUTTI_CALL_EXIT_CONFIGURATION] = "fmi3ExitConfigurationMode",                                                     \
    [TUTTI_CALL_ENTER_INITIALIZATION] = "fmi3EnterInitializationMode",                                                 \
    [TUTTI_CALL_EXIT_INITIALIZATION] = "fmi3ExitInitializationMode", [TUTTI_CALL_ENTER_EVENT] = "fmi3EnterEventMode",  \
    [TUTTI_CALL_UPDATE_DISCRETE] = "fmi3UpdateDiscreteStates", [TUTTI_CALL_ENTER_STEP] = "fmi3EnterStepMode",          \
    [TUTTI_CALL_ENTER_CONTINUOUS] = "fmi3EnterContinuousTimeMode", [TUTTI_CALL_SET] = "fmi3Set",                       \
    [TUTTI_CALL_GET] = "fmi3Get", [TUTTI_CALL_GET_OUTPUT_DERIVATIVES] = "fmi3GetOutputDerivatives",                    \
    [TUTTI_CALL_GET_DIRECTIONAL] = "fmi3GetDirectionalDerivative",                                                     \
    [TUTTI_CALL_GET_ADJOINT] = "fmi3GetAdjointDerivative", [TUTTI_CALL_DO_STEP] = "fmi3DoStep",                        \
    [TUTTI_CALL_COUNT_STATES] = "fmi3GetNumberOfContinuousStates", [TUTTI_CALL_SET_TIME] = "fmi3SetTime",              \
    [TUTTI_CALL_SET_STATES] = "fmi3SetContinuousStates", [TUTTI_CALL_GET_STATES] = "fmi3GetContinuousStates",          \
    [TUTTI_CALL_GET_DERIVATIVES] = "fmi3GetContinuousStateDerivatives",                                                \
    [TUTTI_CALL_GET_INDICATORS] = "fmi3GetEventIndicators",                                                            \
    [TUTTI_CALL_GET_NOMINALS] = "fmi3GetNominalsOfContinuousStates",                                                   \
    [TUTTI_CALL_COMPLETED_STEP] = "fmi3CompletedIntegratorStep", [TUTTI_CALL_GET_STATE] = "fmi3GetFMUState",           \
    [TUTTI_CALL_SET_STATE] = "fmi3SetFMUState", [TUTTI_CALL_FREE_STATE] = "fmi3FreeFMUState",                          \
    [TUTTI_CALL_SERIALIZE] = "fmi3SerializeFMUState", [TUTTI_CALL_DESERIALIZE] = "fmi3DeserializeFMUState",            \
    [TUTTI_CALL_TERMINATE] = "fmi3Terminate", [TUTTI_CALL_RESET] = "fmi3Reset",                                        \
    [TUTTI_CALL_SET_CLOCKS] = "fmi3SetClock", [TUTTI_CALL_GET_CLOCKS] = "fmi3GetClock",                                \
    [TUTTI_CALL_SET_INTERVAL] = "fmi3SetInterval", [TUTTI_CALL_GET_INTERVAL] = "fmi3GetInterval",                      \
    [TUTTI_CALL_GET_SHIFT] = "fmi3GetShift", [TUTTI_CALL_ACTIVATE] = "fmi3ActivateModelPartition"

static const char *const cs_names[TUTTI_CALL_COUNT] = {
    COMMON_NAMES,
    [TUTTI_CALL_INSTANTIATE] = "fmi3InstantiateCoSimulation",
};

static const char *const me_names[TUTTI_CALL_COUNT] = {
    COMMON_NAMES,
    [TUTTI_CALL_INSTANTIATE] = "fmi3InstantiateModelExchange",
};

static const char *const se_names[TUTTI_CALL_COUNT] = {
    COMMON_NAMES,
    [TUTTI_CALL_INSTANTIATE] = "fmi3InstantiateScheduledExecution",
};

static const struct tt_optional optional[] = {
    {"canGetAndSetFMUState", TUTTI_CAN_STATE, FMI3_STATE},
    {"canSerializeFMUState", TUTTI_CAN_SERIALIZE, FMI3_STATE | FMI3_SERIALISE},
    {"providesDirectionalDerivatives", TUTTI_CAN_DIRECTIONAL, FMI3_DIRECTIONAL},
    {"providesAdjointDerivatives", TUTTI_CAN_ADJOINT, FMI3_ADJOINT},
    {"hasEventMode", TUTTI_CAN_EVENT_MODE, FMI3_EVENT | FMI3_CS_EVENT},
    {"maxOutputDerivativeOrder", TUTTI_CAN_OUTPUT_DERIVATIVES, FMI3_CS_OUTPUT_DERIVATIVES},
    {NULL, 0, 0},
};

const struct tt_binding tt_fmi3_binding = {
    .fmi = 3,
    .version = "3.0",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .required = {[TUTTI_CS] = FMI3_COMMON | FMI3_CS,
                 [TUTTI_ME] = FMI3_COMMON | FMI3_ME | FMI3_EVENT,
                 [TUTTI_SE] = FMI3_COMMON | FMI3_SE},
    .optional = optional,
    .call_names = {[TUTTI_CS] = cs_names, [TUTTI_ME] = me_names, [TUTTI_SE] = se_names},
    .type_word = fmi3_type_word,
    .types = ((1u << TUTTI_TYPE_COUNT) - 1) & ~(1u << TUTTI_TYPE_CLOCK),
    .get_version = fmi3_get_version,
    .instantiate = fmi3_instantiate,
    .free = fmi3_free_instance,
    .set_debug_logging = fmi3_set_debug_logging,
    .enter_configuration = fmi3_enter_configuration,
    .exit_configuration = fmi3_exit_configuration,
    .enter_initialization = fmi3_enter_initialization,
    .exit_initialization = fmi3_exit_initialization,
    .set = fmi3_set,
    .get = fmi3_get,
    .get_output_derivatives = fmi3_get_output_derivatives,
    .get_directional = fmi3_get_directional,
    .get_adjoint = fmi3_get_adjoint,
    .do_step = fmi3_do_step,
    .enter_event = fmi3_enter_event,
    .update_discrete = fmi3_update_discrete,
    .enter_step = fmi3_enter_step,
    .set_clocks = fmi3_set_clocks,
    .get_clocks = fmi3_get_clocks,
    .get_interval = fmi3_get_interval,
    .get_shift = fmi3_get_shift,
    .set_interval = fmi3_set_interval,
    .activate = fmi3_activate,
    .get_state = fmi3_get_state,
    .set_state = fmi3_set_state,
    .free_state = fmi3_free_state,
    .serialized_size = fmi3_serialized_size,
    .serialize = fmi3_serialize,
    .deserialize = fmi3_deserialize,
    .terminate = fmi3_terminate,
    .reset = fmi3_reset,
    .count_states = fmi3_count_states,
    .set_time = fmi3_set_time,
    .set_states = fmi3_set_states,
    .get_states = fmi3_get_states,
    .get_derivatives = fmi3_get_derivatives,
    .get_indicators = fmi3_get_indicators,
    .get_nominals = fmi3_get_nominals,
    .completed_step = fmi3_completed_step,
    .enter_continuous = fmi3_enter_continuous,
};
