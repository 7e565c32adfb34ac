/* SPDX-License-Identifier: MIT */
/* A packed system by FMI 3.0: Co-Simulation with event mode and early return, Model Exchange. */
#include "fmi/api3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packed/directional.h"
#include "packed/outside.h"

#define EXPORT __attribute__((visibility("default")))
#define X(name, type, parameters, group) EXPORT type name parameters;
FMI3_FUNCTIONS(X)
#undef X

struct own {
    struct tutti_outside outside;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    bool event_mode_used;
};

static void tell(const struct tutti_outside *outside, enum tutti_outside_status status, const char *category,
                 const char *text)
{
    const struct own *own = (const struct own *)outside;
    if (own->log)
        own->log(own->environment, (fmi3Status)status, category, text);
}

static fmi3Status conclude(const struct own *own, enum tutti_err err)
{
    return (fmi3Status)tutti_outside_conclude(&own->outside, err);
}

static fmi3Status refuse(const struct own *own, const char *function)
{
    return (fmi3Status)tutti_outside_refuse(&own->outside, function);
}

/* ---- life ---- */

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

static void release(struct own *own)
{
    tutti_outside_close(&own->outside);
    free(own);
}

static struct own *instantiate(const struct own *given, fmi3String instance_name, fmi3String token,
                               fmi3String resource_path, bool exchange)
{
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    *own = *given;
    enum tutti_err err = tutti_outside_open(&own->outside, instance_name, token, resource_path, exchange);
    if (!err)
        return own;
    (void)conclude(own, err);
    release(own);
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
    const struct own given = {.outside = {.tell = tell, .logging = logging_on},
                              .environment = environment,
                              .log = log,
                              .event_mode_used = event_mode_used};
    struct own *own = instantiate(&given, instance_name, token, resource_path, false);
    if (own)
        own->outside.packed->ends_at_events = event_mode_used && early_return_allowed;
    return own;
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                          fmi3Boolean visible, fmi3Boolean logging_on,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)visible;
    const struct own given = {.outside = {.tell = tell, .logging = logging_on},
                              .environment = environment,
                              .log = log,
                              .event_mode_used = true};
    return instantiate(&given, instance_name, token, resource_path, true);
}

/* Importers look for all functions of FMI 3.0, whatever the description says. */
fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                               fmi3Boolean visible, fmi3Boolean logging_on,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback clock_update,
                                               fmi3LockPreemptionCallback lock_preemption,
                                               fmi3UnlockPreemptionCallback unlock_preemption)
{
    (void)instance_name, (void)token, (void)resource_path, (void)visible, (void)logging_on;
    (void)clock_update, (void)lock_preemption, (void)unlock_preemption;
    const struct own none = {.outside = {.name = "", .tell = tell}, .environment = environment, .log = log};
    (void)refuse(&none, "fmi3InstantiateScheduledExecution");
    return NULL;
}

void fmi3FreeInstance(fmi3Instance c)
{
    if (c)
        release(c);
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean logging_on, size_t n, const fmi3String categories[])
{
    (void)n, (void)categories;
    ((struct own *)c)->outside.logging = logging_on;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop)
{
    struct own *own = c;
    struct tutti_packed *packed = own->outside.packed;
    packed->has_start = true;
    packed->start = start;
    packed->has_stop = stop_defined;
    packed->stop = stop;
    packed->has_tolerance = tolerance_defined;
    packed->tolerance = tolerance;
    return conclude(own, tutti_packed_initialise(packed));
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    struct own *own = c;
    own->outside.packed->in_event_mode = own->event_mode_used;
    return conclude(own, tutti_packed_begin(own->outside.packed));
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
    struct own *own = c;
    return conclude(own, tutti_packed_end(own->outside.packed));
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    struct own *own = c;
    tutti_packed_reset(own->outside.packed);
    return fmi3OK;
}

/* ---- events ---- */

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
    struct own *own = c;
    struct tutti_packed *packed = own->outside.packed;
    if (packed->exchange)
        return conclude(own, tutti_outside_enter_event(&own->outside, "fmi3EnterEventMode"));
    if (!own->event_mode_used || packed->in_event_mode || packed->stage != TUTTI_PACKED_RUNNING)
        return refuse(own, "fmi3EnterEventMode, in this state");
    packed->in_event_mode = true;
    return fmi3OK;
}

/* By Co-Simulation. */
static enum tutti_err cross(struct tutti_packed *packed, struct tutti_equations_update *update)
{
    if (!packed->in_event_mode)
        return tutti_fail(TUTTI_ERR_STATE, "%s: fmi3UpdateDiscreteStates is not allowed outside of event mode",
                          packed->name);
    TRY(tutti_packed_cross(packed));
    update->terminate = packed->simulation->execution.rank.ended;
    return tutti_packed_next_event(packed, &update->next_event);
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *states_changed,
                                    fmi3Boolean *next_event_defined, fmi3Float64 *next_event)
{
    struct own *own = c;
    struct tutti_equations_update update = {.next_event = INFINITY};
    enum tutti_err err = own->outside.packed->exchange
                             ? tutti_outside_update(&own->outside, "fmi3UpdateDiscreteStates", &update)
                             : cross(own->outside.packed, &update);
    *again = update.again;
    *terminate = update.terminate;
    *nominals_changed = update.nominals_changed;
    *states_changed = update.states_changed;
    *next_event_defined = isfinite(update.next_event);
    *next_event = isfinite(update.next_event) ? update.next_event : 0;
    return conclude(own, err);
}

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    struct own *own = c;
    if (!own->outside.packed->in_event_mode || own->outside.packed->exchange)
        return refuse(own, "fmi3EnterStepMode outside of event mode");
    own->outside.packed->in_event_mode = false;
    return fmi3OK;
}

/* ---- Model Exchange ---- */

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
    struct own *own = c;
    return conclude(own, tutti_outside_leave_event(&own->outside, "fmi3EnterContinuousTimeMode"));
}

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state_before, fmi3Boolean *enter_event_mode,
                                       fmi3Boolean *terminate)
{
    (void)no_set_state_before;
    struct own *own = c;
    *enter_event_mode = *terminate = false;
    enum tutti_err err = tutti_outside_check_exchange(&own->outside, "fmi3CompletedIntegratorStep");
    return conclude(own, err ? err : tutti_equations_complete(own->outside.packed, enter_event_mode, terminate));
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t)
{
    struct own *own = c;
    enum tutti_err err = tutti_outside_check_exchange(&own->outside, "fmi3SetTime");
    return conclude(own, err ? err : tutti_equations_set_time(own->outside.packed, t));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t nx)
{
    struct own *own = c;
    enum tutti_err err = tutti_outside_check_exchange(&own->outside, "fmi3SetContinuousStates");
    return conclude(own, err ? err : tutti_equations_set_states(own->outside.packed, x, nx));
}

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t nx)
{
    struct own *own = c;
    enum tutti_err err = tutti_outside_check_exchange(&own->outside, "fmi3GetContinuousStateDerivatives");
    return conclude(own, err ? err : tutti_equations_derivatives(own->outside.packed, derivatives, nx));
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t ni)
{
    struct own *own = c;
    enum tutti_err err = tutti_outside_check_exchange(&own->outside, "fmi3GetEventIndicators");
    return conclude(own, err ? err : tutti_equations_indicators(own->outside.packed, indicators, 0, ni));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t nx)
{
    struct own *own = c;
    enum tutti_err err = tutti_outside_check_exchange(&own->outside, "fmi3GetContinuousStates");
    return conclude(own, err ? err : tutti_equations_states(own->outside.packed, x, nx));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t nx)
{
    struct own *own = c;
    enum tutti_err err = tutti_outside_check_exchange(&own->outside, "fmi3GetNominalsOfContinuousStates");
    return conclude(own, err ? err : tutti_equations_nominals(own->outside.packed, nominals, nx));
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *ni)
{
    const struct own *own = c;
    *ni = own->outside.packed->table.indicators;
    return fmi3OK;
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *nx)
{
    const struct own *own = c;
    *nx = own->outside.packed->table.states;
    return fmi3OK;
}

/* ---- steps ---- */

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state_before,
                      fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_time)
{
    (void)no_set_state_before;
    struct own *own = c;
    struct tutti_packed_step step = {0};
    if (own->outside.packed->in_event_mode)
        return refuse(own, "fmi3DoStep in event mode");
    enum tutti_err err = tutti_packed_step(own->outside.packed, t, h, &step);
    *event_needed = !err && step.event;
    *terminate = !err && step.ended;
    *early_return = !err && step.early;
    *last_time = err ? t : step.t;
    return conclude(own, err);
}

/* ---- values ---- */

#define VALUES(type, tag)                                                                                              \
    fmi3Status fmi3Get##type(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3##type values[],             \
                             size_t n_values)                                                                          \
    {                                                                                                                  \
        return get_all(c, vr, n, TUTTI_TYPE_##tag, values, sizeof *values, n_values);                                  \
    }                                                                                                                  \
    fmi3Status fmi3Set##type(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3##type values[],       \
                             size_t n_values)                                                                          \
    {                                                                                                                  \
        return set_all(c, vr, n, TUTTI_TYPE_##tag, values, sizeof *values, n_values);                                  \
    }

/* Do the values of this variable, from `at` on, fit? Of the last one: are they all? */
static enum tutti_err check_count(const struct own *own, size_t end, size_t n_values, bool last)
{
    return end < n_values + !last || (last && end == n_values)
               ? TUTTI_OK
               : tutti_fail(TUTTI_ERR_ARGUMENT, "%s: the variables have %zu values%s, and %zu are given",
                            own->outside.name, end, last ? "" : " or more", n_values);
}

static fmi3Status get_all(struct own *own, const fmi3ValueReference *vr, size_t n, enum tutti_type type, void *values,
                          size_t size, size_t n_values)
{
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0, at = 0, count; i < n && !err; i++, at += count) {
        count = tutti_packed_size(own->outside.packed, vr[i]);
        err = check_count(own, at + count, n_values, i + 1 == n);
        if (!err)
            err = tutti_packed_get(own->outside.packed, vr[i], type, (char *)values + at * size);
    }
    return conclude(own, err);
}

static fmi3Status set_all(struct own *own, const fmi3ValueReference *vr, size_t n, enum tutti_type type,
                          const void *values, size_t size, size_t n_values)
{
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0, at = 0, count; i < n && !err; i++, at += count) {
        count = tutti_packed_size(own->outside.packed, vr[i]);
        err = check_count(own, at + count, n_values, i + 1 == n);
        if (!err)
            err = tutti_packed_set(own->outside.packed, vr[i], type, (const char *)values + at * size);
    }
    return conclude(own, err);
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
    struct own *own = c;
    struct tutti_bytes *bytes = calloc(n_values + 1, sizeof *bytes);
    if (!bytes)
        return conclude(own, tutti_fail_memory());
    fmi3Status status = get_all(own, vr, n, TUTTI_TYPE_BINARY, bytes, sizeof *bytes, n_values);
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
    struct own *own = c;
    struct tutti_bytes *bytes = calloc(n_values + 1, sizeof *bytes);
    if (!bytes)
        return conclude(own, tutti_fail_memory());
    for (size_t i = 0; i < n_values; i++)
        bytes[i] = (struct tutti_bytes){.size = sizes[i], .data = values[i]};
    fmi3Status status = set_all(own, vr, n, TUTTI_TYPE_BINARY, bytes, sizeof *bytes, n_values);
    free(bytes);
    return status;
}

fmi3Status fmi3GetDirectionalDerivative(fmi3Instance c, const fmi3ValueReference unknowns[], size_t n_unknowns,
                                        const fmi3ValueReference knowns[], size_t n_knowns, const fmi3Float64 seed[],
                                        size_t n_seed, fmi3Float64 sensitivity[], size_t n_sensitivity)
{
    struct own *own = c;
    const struct tutti_directional_side of = {unknowns, n_unknowns, n_sensitivity}, by = {knowns, n_knowns, n_seed};
    return conclude(own, tutti_directional_get(own->outside.packed, &of, &by, seed, sensitivity));
}

/* ---- states ---- */

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    struct own *own = c;
    return conclude(own, tutti_packed_save(own->outside.packed, state));
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    struct own *own = c;
    return conclude(own, tutti_packed_restore(own->outside.packed, state));
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    struct own *own = c;
    tutti_packed_drop(own->outside.packed, *state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    struct own *own = c;
    return conclude(own, tutti_packed_serialised_size(own->outside.packed, state, size));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    struct own *own = c;
    return conclude(own, tutti_packed_serialise(own->outside.packed, state, bytes, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    struct own *own = c;
    struct tutti_bytes all = {.data = (const void *)bytes, .size = size};
    return conclude(own, tutti_packed_deserialise(own->outside.packed, all, state));
}

/* ---- what there is none of ---- */

#define REFUSED(function, parameters)                                                                                  \
    fmi3Status function parameters                                                                                     \
    {                                                                                                                  \
        return refuse(c, #function);                                                                                   \
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
