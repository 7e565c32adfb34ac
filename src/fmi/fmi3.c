/* SPDX-License-Identifier: MIT */
/* FMI 3.0 for the interface binding.h: Co-Simulation, Model Exchange and Scheduled Execution. */
#include <stdlib.h>

#include "fmi/api3.h"
#include "fmi/clocks.h"
#include "fmi/living.h"

struct functions {
#define X(name, ret, params, group) ret(*name) params;
    FMI3_FUNCTIONS(X)
#undef X
};

static const struct tutti_symbol symbols[] = {
#define X(name, ret, params, group) {#name, group},
    FMI3_FUNCTIONS(X)
#undef X
};

static const struct functions *fmu(const struct tutti_instance *in)
{
    return (const struct functions *)in->functions;
}

static void log_message(fmi3InstanceEnvironment environment, fmi3Status status, fmi3String category, fmi3String text)
{
    struct tutti_called_back called = tutti_living_enter(environment);
    tutti_instance_message(called.instance, (enum tutti_status)status, category, text);
    tutti_living_leave(called);
}

static void intermediate_update(fmi3InstanceEnvironment environment, fmi3Float64 t, fmi3Boolean set_requested,
                                fmi3Boolean get_allowed, fmi3Boolean step_finished, fmi3Boolean can_return_early,
                                fmi3Boolean *early_return_requested, fmi3Float64 *early_return_time)
{
    struct tutti_called_back called = tutti_living_enter(environment);
    struct tutti_intermediate update = {t, set_requested, get_allowed, step_finished, can_return_early, false, t};
    if (called.instance)
        tutti_instance_update_between(called.instance, &update);
    tutti_living_leave(called);
    if (early_return_requested)
        *early_return_requested = update.return_early && can_return_early;
    if (early_return_time)
        *early_return_time = update.return_at;
}

static const char *get_version(const struct tutti_library *library)
{
    const struct functions *f = (const struct functions *)library->functions;
    return f->fmi3GetVersion ? f->fmi3GetVersion() : NULL;
}

static void *instantiate_co_simulation(struct tutti_instance *in, const char *token, const char *resources)
{
    const struct tutti_instance_options *options = &in->options;
    bool intermediate = options->intermediate_update && (in->library->can & TUTTI_CAN_INTERMEDIATE);
    return fmu(in)->fmi3InstantiateCoSimulation(options->name, token, resources, false, in->logging_on, in->event_mode,
                                                options->early_return, intermediate ? options->intermediate : NULL,
                                                intermediate ? options->intermediate_count : 0, in, log_message,
                                                intermediate ? intermediate_update : NULL);
}

static void clock_update(fmi3InstanceEnvironment environment)
{
    struct tutti_called_back called = tutti_living_enter(environment);
    tutti_instance_clock_update(called.instance);
    tutti_living_leave(called);
}

static void lock_preemption(void)
{
    tutti_instance_lock_preemption(true);
}

static void unlock_preemption(void)
{
    tutti_instance_lock_preemption(false);
}

static void *instantiate(struct tutti_instance *in)
{
    const char *token = in->library->desc->token ? in->library->desc->token : "";
    const char *resources = in->library->has_resources ? in->library->resources : NULL;
    if (in->library->kind == TUTTI_CS)
        return instantiate_co_simulation(in, token, resources);
    if (in->library->kind == TUTTI_SE)
        return fmu(in)->fmi3InstantiateScheduledExecution(in->options.name, token, resources, false, in->logging_on, in,
                                                          log_message, clock_update, lock_preemption,
                                                          unlock_preemption);
    return fmu(in)->fmi3InstantiateModelExchange(in->options.name, token, resources, false, in->logging_on, in,
                                                 log_message);
}

static enum tutti_status set_debug_logging(struct tutti_instance *in, bool on, size_t count,
                                           const char *const *categories)
{
    /* One of the functions that FMUs do without. */
    return fmu(in)->fmi3SetDebugLogging ? CALL_FMU(in, fmi3SetDebugLogging, on, count, categories) : TUTTI_STATUS_OK;
}

static void free_instance(struct tutti_instance *in)
{
    fmu(in)->fmi3FreeInstance(in->component);
}

static enum tutti_status enter_configuration(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3EnterConfigurationMode);
}

static enum tutti_status exit_configuration(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3ExitConfigurationMode);
}

static enum tutti_status enter_initialization(struct tutti_instance *in)
{
    const struct tutti_experiment_setup *setup = &in->setup;
    return CALL_FMU(in, fmi3EnterInitializationMode, setup->has_tolerance, setup->tolerance, setup->start,
                    setup->has_stop, setup->stop);
}

static enum tutti_status exit_initialization(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3ExitInitializationMode);
}

/* The types whose values lie in memory just as FMI 3.0 has them. */
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
static bool split_bytes(struct tutti_instance *in, size_t n, size_t **sizes, fmi3Binary **data)
{
    *sizes = tutti_instance_scratch(in, n * (sizeof **sizes + sizeof **data));
    *data = (fmi3Binary *)(*sizes + n);
    return *sizes != NULL;
}

/* Not inlined, nor that of get: set and get of all other types are jumps then. */
static __attribute__((noinline)) enum tutti_status set_binary(struct tutti_instance *in, const uint32_t *references,
                                                              size_t count, const struct tutti_bytes *values, size_t n)
{
    size_t *sizes;
    fmi3Binary *data;
    if (!split_bytes(in, n, &sizes, &data))
        return TUTTI_STATUS_MEMORY;
    for (size_t i = 0; i < n; i++) {
        sizes[i] = values[i].size;
        data[i] = values[i].data;
    }
    return CALL_FMU(in, fmi3SetBinary, references, count, sizes, data, n);
}

static __attribute__((noinline)) enum tutti_status get_binary(struct tutti_instance *in, const uint32_t *references,
                                                              size_t count, struct tutti_bytes *values, size_t n)
{
    size_t *sizes;
    fmi3Binary *data;
    if (!split_bytes(in, n, &sizes, &data))
        return TUTTI_STATUS_MEMORY;
    enum tutti_status status = CALL_FMU(in, fmi3GetBinary, references, count, sizes, data, n);
    for (size_t i = 0; status <= TUTTI_STATUS_WARNING && i < n; i++)
        values[i] = (struct tutti_bytes){sizes[i], data[i]};
    return status;
}

static enum tutti_status set(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             const void *values, size_t n)
{
    switch (type) {
#define X(name, word)                                                                                                  \
    case TUTTI_TYPE_##name: return CALL_FMU(in, fmi3Set##word, references, count, values, n);
        PLAIN_TYPES(X)
#undef X
    default: return set_binary(in, references, count, values, n);
    }
}

static enum tutti_status get(struct tutti_instance *in, enum tutti_type type, const uint32_t *references, size_t count,
                             void *values, size_t n)
{
    switch (type) {
#define X(name, word)                                                                                                  \
    case TUTTI_TYPE_##name: return CALL_FMU(in, fmi3Get##word, references, count, values, n);
        PLAIN_TYPES(X)
#undef X
    default: return get_binary(in, references, count, values, n);
    }
}

static enum tutti_status get_output_derivatives(struct tutti_instance *in, const uint32_t *references, size_t count,
                                                const int32_t *orders, double *values)
{
    return CALL_FMU(in, fmi3GetOutputDerivatives, references, count, orders, values, count);
}

static enum tutti_status get_directional(struct tutti_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                         const uint32_t *knowns, size_t known_count, const double *seed,
                                         size_t seed_count, double *sensitivity, size_t sensitivity_count)
{
    return CALL_FMU(in, fmi3GetDirectionalDerivative, unknowns, unknown_count, knowns, known_count, seed, seed_count,
                    sensitivity, sensitivity_count);
}

static enum tutti_status get_adjoint(struct tutti_instance *in, const uint32_t *unknowns, size_t unknown_count,
                                     const uint32_t *knowns, size_t known_count, const double *seed, size_t seed_count,
                                     double *sensitivity, size_t sensitivity_count)
{
    return CALL_FMU(in, fmi3GetAdjointDerivative, unknowns, unknown_count, knowns, known_count, seed, seed_count,
                    sensitivity, sensitivity_count);
}

static enum tutti_status do_step(struct tutti_instance *in, double t, double h, bool no_going_back,
                                 struct tutti_step *step)
{
    return (enum tutti_status)fmu(in)->fmi3DoStep(in->component, t, h, no_going_back, &step->event, &step->terminate,
                                                  &step->early, &step->reached);
}

static enum tutti_status enter_event(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3EnterEventMode);
}

static enum tutti_status update_discrete(struct tutti_instance *in, struct tutti_discrete *discrete)
{
    return CALL_FMU(in, fmi3UpdateDiscreteStates, &discrete->again, &discrete->terminate, &discrete->nominals_changed,
                    &discrete->states_changed, &discrete->has_next_event, &discrete->next_event);
}

static enum tutti_status enter_step(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3EnterStepMode);
}

static enum tutti_status set_clocks(struct tutti_instance *in, const uint32_t *references, size_t count,
                                    const bool *values)
{
    return CALL_FMU(in, fmi3SetClock, references, count, values);
}

static enum tutti_status get_clocks(struct tutti_instance *in, const uint32_t *references, size_t count, bool *values)
{
    return CALL_FMU(in, fmi3GetClock, references, count, values);
}

static enum tutti_status get_interval(struct tutti_instance *in, uint32_t reference, struct tutti_timing *timing)
{
    fmi3IntervalQualifier qualifier = fmi3IntervalNotYetKnown;
    enum tutti_status status =
        timing->fraction
            ? CALL_FMU(in, fmi3GetIntervalFraction, &reference, 1, &timing->counter, &timing->resolution, &qualifier)
            : CALL_FMU(in, fmi3GetIntervalDecimal, &reference, 1, &timing->decimal, &qualifier);
    timing->qualifier = qualifier == fmi3IntervalChanged     ? TUTTI_TIMING_CHANGED
                        : qualifier == fmi3IntervalUnchanged ? TUTTI_TIMING_UNCHANGED
                                                             : TUTTI_TIMING_NOT_YET_KNOWN;
    return status;
}

static enum tutti_status get_shift(struct tutti_instance *in, uint32_t reference, struct tutti_timing *timing)
{
    return timing->fraction ? CALL_FMU(in, fmi3GetShiftFraction, &reference, 1, &timing->counter, &timing->resolution)
                            : CALL_FMU(in, fmi3GetShiftDecimal, &reference, 1, &timing->decimal);
}

static enum tutti_status set_interval(struct tutti_instance *in, uint32_t reference, const struct tutti_timing *timing)
{
    return timing->fraction
               ? CALL_FMU(in, fmi3SetIntervalFraction, &reference, 1, &timing->counter, &timing->resolution)
               : CALL_FMU(in, fmi3SetIntervalDecimal, &reference, 1, &timing->decimal);
}

static enum tutti_status activate(struct tutti_instance *in, uint32_t reference, double t)
{
    return (enum tutti_status)fmu(in)->fmi3ActivateModelPartition(in->component, reference, t);
}

static enum tutti_status get_state(struct tutti_instance *in, void **handle)
{
    return CALL_FMU(in, fmi3GetFMUState, handle);
}

static enum tutti_status set_state(struct tutti_instance *in, void *handle)
{
    return CALL_FMU(in, fmi3SetFMUState, handle);
}

static enum tutti_status free_state(struct tutti_instance *in, void **handle)
{
    return CALL_FMU(in, fmi3FreeFMUState, handle);
}

static enum tutti_status serialized_size(struct tutti_instance *in, void *handle, size_t *size)
{
    return CALL_FMU(in, fmi3SerializedFMUStateSize, handle, size);
}

static enum tutti_status serialize(struct tutti_instance *in, void *handle, unsigned char *bytes, size_t size)
{
    return CALL_FMU(in, fmi3SerializeFMUState, handle, bytes, size);
}

static enum tutti_status deserialize(struct tutti_instance *in, const unsigned char *bytes, size_t size, void **handle)
{
    return CALL_FMU(in, fmi3DeserializeFMUState, bytes, size, handle);
}

static enum tutti_status terminate(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3Terminate);
}

static enum tutti_status reset(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3Reset);
}

/* ---- Model Exchange ---- */

/* A library may lack both functions: then nothing can change the numbers of the description. */
static enum tutti_status count_states(struct tutti_instance *in, size_t *states, size_t *indicators)
{
    const struct functions *f = fmu(in);
    fmi3Status status = fmi3OK, other = fmi3OK;
    if (f->fmi3GetNumberOfContinuousStates)
        status = f->fmi3GetNumberOfContinuousStates(in->component, states);
    if (f->fmi3GetNumberOfEventIndicators && status <= fmi3Warning)
        other = f->fmi3GetNumberOfEventIndicators(in->component, indicators);
    return (enum tutti_status)(other > status ? other : status);
}

static enum tutti_status enter_continuous(struct tutti_instance *in)
{
    return CALL_FMU(in, fmi3EnterContinuousTimeMode);
}

static enum tutti_status completed_step(struct tutti_instance *in, bool no_going_back, bool *event, bool *terminate)
{
    return CALL_FMU(in, fmi3CompletedIntegratorStep, no_going_back, event, terminate);
}

/* The functions of every right-hand side; no library comes this far without them. */
static enum tutti_status set_time(struct tutti_instance *in, double t)
{
    return (enum tutti_status)fmu(in)->fmi3SetTime(in->component, t);
}

static enum tutti_status set_states(struct tutti_instance *in, const double *states, size_t count)
{
    return (enum tutti_status)fmu(in)->fmi3SetContinuousStates(in->component, states, count);
}

static enum tutti_status get_derivatives(struct tutti_instance *in, double *derivatives, size_t count)
{
    return (enum tutti_status)fmu(in)->fmi3GetContinuousStateDerivatives(in->component, derivatives, count);
}

static enum tutti_status get_indicators(struct tutti_instance *in, double *indicators, size_t count)
{
    return (enum tutti_status)fmu(in)->fmi3GetEventIndicators(in->component, indicators, count);
}

static enum tutti_status get_states(struct tutti_instance *in, double *states, size_t count)
{
    return CALL_FMU(in, fmi3GetContinuousStates, states, count);
}

static enum tutti_status get_nominals(struct tutti_instance *in, double *nominals, size_t count)
{
    return CALL_FMU(in, fmi3GetNominalsOfContinuousStates, nominals, count);
}

static const char *type_word(enum tutti_type type)
{
    switch (type) {
    case TUTTI_TYPE_ENUMERATION: return "Int64";
    case TUTTI_TYPE_CLOCK: return NULL;
    default: return tutti_type_name(type);
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

static const struct tutti_optional optional[] = {
    {"canGetAndSetFMUState", TUTTI_CAN_STATE, FMI3_STATE},
    {"canSerializeFMUState", TUTTI_CAN_SERIALIZE, FMI3_STATE | FMI3_SERIALISE},
    {"providesDirectionalDerivatives", TUTTI_CAN_DIRECTIONAL, FMI3_DIRECTIONAL},
    {"providesAdjointDerivatives", TUTTI_CAN_ADJOINT, FMI3_ADJOINT},
    {"hasEventMode", TUTTI_CAN_EVENT_MODE, FMI3_EVENT | FMI3_CS_EVENT},
    {"maxOutputDerivativeOrder", TUTTI_CAN_OUTPUT_DERIVATIVES, FMI3_CS_OUTPUT_DERIVATIVES},
    {NULL, 0, 0},
};

const struct tutti_binding tutti_binding_fmi3 = {
    .fmi = 3,
    .version = "3.0",
    .symbols = symbols,
    .symbol_count = sizeof symbols / sizeof *symbols,
    .required = {[TUTTI_CS] = FMI3_COMMON | FMI3_CS,
                 [TUTTI_ME] = FMI3_COMMON | FMI3_ME | FMI3_EVENT,
                 [TUTTI_SE] = FMI3_COMMON | FMI3_SE},
    .optional = optional,
    .call_names = {[TUTTI_CS] = cs_names, [TUTTI_ME] = me_names, [TUTTI_SE] = se_names},
    .type_word = type_word,
    .types = ((1u << TUTTI_TYPE_COUNT) - 1) & ~(1u << TUTTI_TYPE_CLOCK),
    .get_version = get_version,
    .instantiate = instantiate,
    .free = free_instance,
    .set_debug_logging = set_debug_logging,
    .enter_configuration = enter_configuration,
    .exit_configuration = exit_configuration,
    .enter_initialization = enter_initialization,
    .exit_initialization = exit_initialization,
    .set = set,
    .get = get,
    .get_output_derivatives = get_output_derivatives,
    .get_directional = get_directional,
    .get_adjoint = get_adjoint,
    .do_step = do_step,
    .enter_event = enter_event,
    .update_discrete = update_discrete,
    .enter_step = enter_step,
    .set_clocks = set_clocks,
    .get_clocks = get_clocks,
    .get_interval = get_interval,
    .get_shift = get_shift,
    .set_interval = set_interval,
    .activate = activate,
    .get_state = get_state,
    .set_state = set_state,
    .free_state = free_state,
    .serialized_size = serialized_size,
    .serialize = serialize,
    .deserialize = deserialize,
    .terminate = terminate,
    .reset = reset,
    .count_states = count_states,
    .set_time = set_time,
    .set_states = set_states,
    .get_states = get_states,
    .get_derivatives = get_derivatives,
    .get_indicators = get_indicators,
    .get_nominals = get_nominals,
    .completed_step = completed_step,
    .enter_continuous = enter_continuous,
};
