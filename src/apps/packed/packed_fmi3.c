/* SPDX-License-Identifier: MIT */
/* A packed system by FMI 3.0: Co-Simulation with event mode and early return, Model Exchange. */
#include "fmu/api3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/packed/packed_directional.h"
#include "apps/packed/fmu_interface.h"

#define EXPORT __attribute__((visibility("default")))
#define X(name, type, parameters, group) EXPORT type name parameters;
FMI3_FUNCTIONS(X)
#undef X

struct packed_fmi3_instance {
    struct tt_fmu_interface outside;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    bool event_mode_used;
};

static void packed_fmi3_log(const struct tt_fmu_interface *outside, enum tt_fmu_interface_status status,
                            const char *category, const char *text)
{
    const struct packed_fmi3_instance *own = (const struct packed_fmi3_instance *)outside;
    if (own->log)
        own->log(own->environment, (fmi3Status)status, category, text);
}

static fmi3Status packed_fmi3_end_call(const struct packed_fmi3_instance *own, enum tutti_err err)
{
    return (fmi3Status)tt_fmu_interface_end_call(&own->outside, err);
}

static fmi3Status packed_fmi3_reject(const struct packed_fmi3_instance *own, const char *function)
{
    return (fmi3Status)tt_fmu_interface_reject(&own->outside, function);
}

/* ---- life ---- */

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

static void packed_fmi3_release(struct packed_fmi3_instance *own)
{
    tt_fmu_interface_close(&own->outside);
    free(own);
}

static struct packed_fmi3_instance *packed_fmi3_instantiate(const struct packed_fmi3_instance *given,
                                                            fmi3String instance_name, fmi3String token,
                                                            fmi3String resource_path, bool exchange)
{
    struct packed_fmi3_instance *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    *own = *given;
    enum tutti_err err = tt_fmu_interface_open(&own->outside, instance_name, token, resource_path, exchange);
    if (!err)
        return own;
    (void)packed_fmi3_end_call(own, err);
    packed_fmi3_release(own);
    return NULL;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                         fmi3Boolean visible, fmi3Boolean logging_on, fmi3Boolean event_mode_used,
                                         fmi3Boolean early_return_allowed,
                                         const fmi3ValueReference required_intermediate[],
                                         size_t n_required_intermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback intermediate_update)
{
    (void)visible, (void)required_intermediate, (void)n_required_intermediate, (void)intermediate_update;
    const struct packed_fmi3_instance given = {.outside = {.tell = packed_fmi3_log, .logging = logging_on},
                                               .environment = environment,
                                               .log = log,
                                               .event_mode_used = event_mode_used};
    struct packed_fmi3_instance *own = packed_fmi3_instantiate(&given, instance_name, token, resource_path, false);
    if (own)
        own->outside.packed->ends_at_events = event_mode_used && early_return_allowed;
    return own;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                          fmi3Boolean visible, fmi3Boolean logging_on,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)visible;
    const struct packed_fmi3_instance given = {.outside = {.tell = packed_fmi3_log, .logging = logging_on},
                                               .environment = environment,
                                               .log = log,
                                               .event_mode_used = true};
    return packed_fmi3_instantiate(&given, instance_name, token, resource_path, true);
}

/* Importers require all functions of FMI 3.0, whatever the description declares. */
fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                               fmi3Boolean visible, fmi3Boolean logging_on,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback clock_update,
                                               fmi3LockPreemptionCallback lock_preemption,
                                               fmi3UnlockPreemptionCallback unlock_preemption)
{
    (void)instance_name, (void)token, (void)resource_path, (void)visible, (void)logging_on;
    (void)clock_update, (void)lock_preemption, (void)unlock_preemption;
    const struct packed_fmi3_instance none = {
        .outside = {.name = "", .tell = packed_fmi3_log}, .environment = environment, .log = log};
    (void)packed_fmi3_reject(&none, "fmi3InstantiateScheduledExecution");
    return NULL;
}

void fmi3FreeInstance(fmi3Instance c)
{
    if (c)
        packed_fmi3_release(c);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean logging_on, size_t n, const fmi3String categories[])
{
    (void)n, (void)categories;
    ((struct packed_fmi3_instance *)c)->outside.logging = logging_on;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop)
{
    struct packed_fmi3_instance *own = c;
    struct tt_packed *packed = own->outside.packed;
    packed->has_start = true;
    packed->start = start;
    packed->has_stop = stop_defined;
    packed->stop = stop;
    packed->has_tolerance = tolerance_defined;
    packed->tolerance = tolerance;
    return packed_fmi3_end_call(own, tt_packed_initialise(packed));
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    struct packed_fmi3_instance *own = c;
    own->outside.packed->in_event_mode = own->event_mode_used;
    return packed_fmi3_end_call(own, tt_packed_start(own->outside.packed));
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
    struct packed_fmi3_instance *own = c;
    return packed_fmi3_end_call(own, tt_packed_terminate(own->outside.packed));
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    struct packed_fmi3_instance *own = c;
    tt_packed_reset(own->outside.packed);
    return fmi3OK;
}

/* ---- events ---- */

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
    struct packed_fmi3_instance *own = c;
    struct tt_packed *packed = own->outside.packed;
    if (packed->exchange)
        return packed_fmi3_end_call(own, tt_fmu_interface_enter_event(&own->outside, "fmi3EnterEventMode"));
    if (!own->event_mode_used || packed->in_event_mode || packed->stage != TUTTI_PACKED_RUNNING)
        return packed_fmi3_reject(own, "fmi3EnterEventMode, in this state");
    packed->in_event_mode = true;
    return fmi3OK;
}

/* By Co-Simulation. */
static enum tutti_err packed_fmi3_handle_event(struct tt_packed *packed, struct tt_equations_update *update)
{
    if (!packed->in_event_mode)
        return tt_fail(TUTTI_ERR_STATE, "%s: fmi3UpdateDiscreteStates is not allowed outside of event mode",
                       packed->name);
    TRY(tt_packed_handle_event(packed));
    update->terminate = packed->simulation->execution.rank.ended;
    return tt_packed_next_event(packed, &update->next_event);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *states_changed,
                                    fmi3Boolean *next_event_defined, fmi3Float64 *next_event)
{
    struct packed_fmi3_instance *own = c;
    struct tt_equations_update update = {.next_event = INFINITY};
    enum tutti_err err = own->outside.packed->exchange
                             ? tt_fmu_interface_update(&own->outside, "fmi3UpdateDiscreteStates", &update)
                             : packed_fmi3_handle_event(own->outside.packed, &update);
    *again = update.again;
    *terminate = update.terminate;
    *nominals_changed = update.nominals_changed;
    *states_changed = update.states_changed;
    *next_event_defined = isfinite(update.next_event);
    *next_event = isfinite(update.next_event) ? update.next_event : 0;
    return packed_fmi3_end_call(own, err);
}

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    struct packed_fmi3_instance *own = c;
    if (!own->outside.packed->in_event_mode || own->outside.packed->exchange)
        return packed_fmi3_reject(own, "fmi3EnterStepMode outside of event mode");
    own->outside.packed->in_event_mode = false;
    return fmi3OK;
}

/* ---- Model Exchange ---- */

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
    struct packed_fmi3_instance *own = c;
    return packed_fmi3_end_call(own, tt_fmu_interface_leave_event(&own->outside, "fmi3EnterContinuousTimeMode"));
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state_before, fmi3Boolean *enter_event_mode,
                                       fmi3Boolean *terminate)
{
    (void)no_set_state_before;
    struct packed_fmi3_instance *own = c;
    *enter_event_mode = *terminate = false;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi3CompletedIntegratorStep");
    return packed_fmi3_end_call(
        own, err ? err : tt_packed_equations_complete_step(own->outside.packed, enter_event_mode, terminate));
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t)
{
    struct packed_fmi3_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi3SetTime");
    return packed_fmi3_end_call(own, err ? err : tt_packed_equations_set_time(own->outside.packed, t));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t nx)
{
    struct packed_fmi3_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi3SetContinuousStates");
    return packed_fmi3_end_call(own, err ? err : tt_packed_equations_set_states(own->outside.packed, x, nx));
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t nx)
{
    struct packed_fmi3_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi3GetContinuousStateDerivatives");
    return packed_fmi3_end_call(own, err ? err : tt_packed_equations_derivatives(own->outside.packed, derivatives, nx));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t ni)
{
    struct packed_fmi3_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi3GetEventIndicators");
    return packed_fmi3_end_call(own,
                                err ? err : tt_packed_equations_indicators(own->outside.packed, indicators, 0, ni));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t nx)
{
    struct packed_fmi3_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi3GetContinuousStates");
    return packed_fmi3_end_call(own, err ? err : tt_packed_equations_states(own->outside.packed, x, nx));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t nx)
{
    struct packed_fmi3_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi3GetNominalsOfContinuousStates");
    return packed_fmi3_end_call(own, err ? err : tt_packed_equations_nominals(own->outside.packed, nominals, nx));
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *ni)
{
    const struct packed_fmi3_instance *own = c;
    *ni = own->outside.packed->table.indicators;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *nx)
{
    const struct packed_fmi3_instance *own = c;
    *nx = own->outside.packed->table.states;
    return fmi3OK;
}

/* ---- steps ---- */

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state_before,
                      fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_time)
{
    (void)no_set_state_before;
    struct packed_fmi3_instance *own = c;
    struct tt_packed_step step = {0};
    if (own->outside.packed->in_event_mode)
        return packed_fmi3_reject(own, "fmi3DoStep in event mode");
    enum tutti_err err = tt_packed_step(own->outside.packed, t, h, &step);
    *event_needed = !err && step.event;
    *terminate = !err && step.ended;
    *early_return = !err && step.early;
    *last_time = err ? t : step.t;
    return packed_fmi3_end_call(own, err);
}

/* ---- values ---- */

#define VALUES(type, tag)                                                                                              \
    fmi3Status fmi3Get##type(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##type values[],             \
                             size_t n_values)                                                                          \
    {                                                                                                                  \
        return packed_fmi3_get_all(c, vr, n, TUTTI_TYPE_##tag, values, sizeof *values, n_values);                      \
    }                                                                                                                  \
    fmi3Status fmi3Set##type(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##type values[],       \
                             size_t n_values)                                                                          \
    {                                                                                                                  \
        return packed_fmi3_set_all(c, vr, n, TUTTI_TYPE_##tag, values, sizeof *values, n_values);                      \
    }

/* Checks that the variable's values fit from `at` on; for the last variable, that they are complete. */
static enum tutti_err packed_fmi3_check_count(const struct packed_fmi3_instance *own, size_t end, size_t n_values,
                                              bool last)
{
    return end < n_values + !last || (last && end == n_values)
               ? TUTTI_OK
               : tt_fail(TUTTI_ERR_ARGUMENT, "%s: the variables have %zu values%s, and %zu are given",
                         own->outside.name, end, last ? "" : " or more", n_values);
}

static fmi3Status packed_fmi3_get_all(struct packed_fmi3_instance *own, const fmi3ValueReference *vr, size_t n,
                                      enum tt_type type, void *values, size_t size, size_t n_values)
{
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0, at = 0, count; i < n && !err; i++, at += count) {
        count = tt_packed_values_size(own->outside.packed, vr[i]);
        err = packed_fmi3_check_count(own, at + count, n_values, i + 1 == n);
        if (!err)
            err = tt_packed_values_get(own->outside.packed, vr[i], type, (char *)values + at * size);
    }
    return packed_fmi3_end_call(own, err);
}

static fmi3Status packed_fmi3_set_all(struct packed_fmi3_instance *own, const fmi3ValueReference *vr, size_t n,
                                      enum tt_type type, const void *values, size_t size, size_t n_values)
{
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0, at = 0, count; i < n && !err; i++, at += count) {
        count = tt_packed_values_size(own->outside.packed, vr[i]);
        err = packed_fmi3_check_count(own, at + count, n_values, i + 1 == n);
        if (!err)
            err = tt_packed_values_set(own->outside.packed, vr[i], type, (const char *)values + at * size);
    }
    return packed_fmi3_end_call(own, err);
}

VALUES(Float32, FLOAT32)
VALUES(Float64, FLOAT64)
VALUES(Int8, INT8)
VALUES(UInt8, UINT8)
VALUES(Int16, INT16)
VALUES(UInt16, UINT16)
VALUES(Int32, INT32)
VALUES(UInt32, UINT32)
VALUES(Int64, INT64)
VALUES(UInt64, UINT64)
VALUES(Boolean, BOOLEAN)
VALUES(String, STRING)

/* Sizes and pointers lie apart. */
fmi3Status fmi3GetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, size_t sizes[], fmi3Binary values[],
                         size_t n_values)
{
    struct packed_fmi3_instance *own = c;
    struct tt_bytes *bytes = calloc(n_values + 1, sizeof *bytes);
    if (!bytes)
        return packed_fmi3_end_call(own, tt_fail_memory());
    fmi3Status status = packed_fmi3_get_all(own, vr, n, TUTTI_TYPE_BINARY, bytes, sizeof *bytes, n_values);
    for (size_t i = 0; i < n_values && status == fmi3OK; i++) {
        sizes[i] = bytes[i].size;
        values[i] = bytes[i].data;
    }
    free(bytes);
    return status;
}

fmi3Status fmi3SetBinary(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const size_t sizes[],
                         const fmi3Binary values[], size_t n_values)
{
    struct packed_fmi3_instance *own = c;
    struct tt_bytes *bytes = calloc(n_values + 1, sizeof *bytes);
    if (!bytes)
        return packed_fmi3_end_call(own, tt_fail_memory());
    for (size_t i = 0; i < n_values; i++)
        bytes[i] = (struct tt_bytes){.size = sizes[i], .data = values[i]};
    fmi3Status status = packed_fmi3_set_all(own, vr, n, TUTTI_TYPE_BINARY, bytes, sizeof *bytes, n_values);
    free(bytes);
    return status;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                        const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                        size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    struct packed_fmi3_instance *own = c;
    const struct tt_directional_side of = {unknowns, n_unknowns, n_sensitivity}, by = {knowns, n_knowns, n_seed};
    return packed_fmi3_end_call(own, tt_packed_directional_compute(own->outside.packed, &of, &by, seed, sensitivity));
}

/* ---- states ---- */

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    struct packed_fmi3_instance *own = c;
    return packed_fmi3_end_call(own, tt_packed_save(own->outside.packed, state));
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    struct packed_fmi3_instance *own = c;
    return packed_fmi3_end_call(own, tt_packed_restore(own->outside.packed, state));
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    struct packed_fmi3_instance *own = c;
    tt_packed_free_state(own->outside.packed, *state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    struct packed_fmi3_instance *own = c;
    return packed_fmi3_end_call(own, tt_packed_serialised_size(own->outside.packed, state, size));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    struct packed_fmi3_instance *own = c;
    return packed_fmi3_end_call(own, tt_packed_serialise(own->outside.packed, state, bytes, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    struct packed_fmi3_instance *own = c;
    struct tt_bytes all = {.data = (const void *)bytes, .size = size};
    return packed_fmi3_end_call(own, tt_packed_deserialise(own->outside.packed, all, state));
}

/* ---- unsupported functions ---- */

#define REFUSED(function, parameters)                                                                                  \
    fmi3Status function parameters                                                                                     \
    {                                                                                                                  \
        return packed_fmi3_reject(c, #function);                                                                       \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"
REFUSED(fmi3EnterConfigurationMode, (fmi3Instance c))
REFUSED(fmi3ExitConfigurationMode, (fmi3Instance c))
REFUSED(fmi3EvaluateDiscreteStates, (fmi3Instance c))
REFUSED(fmi3ActivateModelPartition, (fmi3Instance c, fmi3ValueReference clock, fmi3Float64 t))
REFUSED(fmi3GetClock, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Clock values[]))
REFUSED(fmi3SetClock, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Clock values[]))
REFUSED(fmi3GetNumberOfVariableDependencies, (fmi3Instance c, fmi3ValueReference vr, size_t *n_dependencies))
REFUSED(fmi3GetVariableDependencies,
        (fmi3Instance c, fmi3ValueReference dependent, size_t dependent_elements[], fmi3ValueReference independents[],
         size_t independent_elements[], fmi3DependencyKind kinds[], size_t n_dependencies))
REFUSED(fmi3GetAdjointDerivative,
        (fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns, const fmi3ValueReference knowns[],
         size_t n_knowns, const fmi3Float64 seed[], size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity))
REFUSED(fmi3GetIntervalDecimal, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 intervals[],
                                 fmi3IntervalQualifier qualifiers[]))
REFUSED(fmi3GetIntervalFraction, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[],
                                  fmi3UInt64 resolutions[], fmi3IntervalQualifier qualifiers[]))
REFUSED(fmi3GetShiftDecimal, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 shifts[]))
REFUSED(fmi3GetShiftFraction,
        (fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3UInt64 counters[], fmi3UInt64 resolutions[]))
REFUSED(fmi3SetIntervalDecimal,
        (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 intervals[]))
REFUSED(fmi3SetIntervalFraction, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[],
                                  const fmi3UInt64 resolutions[]))
REFUSED(fmi3SetShiftDecimal, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 shifts[]))
REFUSED(fmi3SetShiftFraction, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3UInt64 counters[],
                               const fmi3UInt64 resolutions[]))
REFUSED(fmi3GetOutputDerivatives, (fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Int32 orders[],
                                   fmi3Float64 values[], size_t n_values))
