/* SPDX-License-Identifier: MIT */
/* A packed system by FMI 2.0. */
#include "fmu/api2.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "apps/packed/packed_directional.h"
#include "apps/packed/packed_equations.h"
#include "apps/packed/fmu_interface.h"
#include "model/ssp/uri.h"

#define EXPORT __attribute__((visibility("default")))
#define X(name, type, parameters, group) EXPORT type name parameters;
FMI2_FUNCTIONS(X)
#undef X

struct packed_fmi2_instance {
    struct tt_fmu_interface outside;
    const fmi2CallbackFunctions *functions;
    fmi2Real last_time; /* where the last step ended */
    bool terminated;
};

static void packed_fmi2_log(const struct tt_fmu_interface *outside, enum tt_fmu_interface_status status,
                            const char *category, const char *text)
{
    const fmi2CallbackFunctions *functions = ((const struct packed_fmi2_instance *)outside)->functions;
    if (functions && functions->logger)
        functions->logger(functions->componentEnvironment, outside->name, (fmi2Status)status, category, "%s", text);
}

static fmi2Status packed_fmi2_end_call(const struct packed_fmi2_instance *own, enum tutti_err err)
{
    return (fmi2Status)tt_fmu_interface_end_call(&own->outside, err);
}

static fmi2Status packed_fmi2_reject(const struct packed_fmi2_instance *own, const char *function)
{
    return (fmi2Status)tt_fmu_interface_reject(&own->outside, function);
}

/* ---- life ---- */

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

static void packed_fmi2_release(struct packed_fmi2_instance *own)
{
    tt_fmu_interface_close(&own->outside);
    free(own);
}

static enum tutti_err packed_fmi2_instantiate(struct packed_fmi2_instance *own, const char *name, fmi2Type type,
                                              const char *guid, const char *location)
{
    struct tt_uri uri = {0};
    if (location)
        TRY(tt_uri_read(&uri, location));
    enum tutti_err err =
        tt_fmu_interface_open(&own->outside, name, guid, location ? uri.path : NULL, type == fmi2ModelExchange);
    tt_uri_fini(&uri);
    return err;
}

fmi2Component fmi2Instantiate(fmi2String instance_name, fmi2Type type, fmi2String guid, fmi2String resource_location,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging_on)
{
    (void)visible;
    struct packed_fmi2_instance *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->functions = functions;
    own->outside.tell = packed_fmi2_log;
    own->outside.logging = logging_on != fmi2False;
    enum tutti_err err = packed_fmi2_instantiate(own, instance_name, type, guid, resource_location);
    if (!err)
        return own;
    (void)packed_fmi2_end_call(own, err);
    packed_fmi2_release(own);
    return NULL;
}

void fmi2FreeInstance(fmi2Component c)
{
    if (c)
        packed_fmi2_release(c);
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean logging_on, size_t n, const fmi2String categories[])
{
    (void)n, (void)categories;
    ((struct packed_fmi2_instance *)c)->outside.logging = logging_on != fmi2False;
    return fmi2OK;
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop)
{
    struct packed_fmi2_instance *own = c;
    struct tt_packed *packed = own->outside.packed;
    enum tutti_err err = tt_packed_check(packed, TUTTI_PACKED_IN(TUTTI_PACKED_MADE), "fmi2SetupExperiment");
    packed->has_start = true;
    packed->start = own->last_time = start;
    packed->has_stop = stop_defined != fmi2False;
    packed->stop = stop;
    packed->has_tolerance = tolerance_defined != fmi2False;
    packed->tolerance = tolerance;
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    struct packed_fmi2_instance *own = c;
    return packed_fmi2_end_call(own, tt_packed_initialise(own->outside.packed));
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    struct packed_fmi2_instance *own = c;
    own->outside.packed->in_event_mode = own->outside.packed->exchange;
    return packed_fmi2_end_call(own, tt_packed_start(own->outside.packed));
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    struct packed_fmi2_instance *own = c;
    return packed_fmi2_end_call(own, tt_packed_terminate(own->outside.packed));
}

fmi2Status fmi2Reset(fmi2Component c)
{
    struct packed_fmi2_instance *own = c;
    tt_packed_reset(own->outside.packed);
    own->terminated = false;
    return fmi2OK;
}

/* ---- steps ---- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state_before)
{
    (void)no_set_state_before;
    struct packed_fmi2_instance *own = c;
    struct tt_packed_step step;
    enum tutti_err err = tt_packed_step(own->outside.packed, t, h, &step);
    if (err)
        return packed_fmi2_end_call(own, err);
    own->last_time = step.t;
    own->terminated = step.ended;
    return step.ended ? fmi2Discard : fmi2OK;
}

fmi2Status fmi2CancelStep(fmi2Component c)
{
    return packed_fmi2_reject(c, "fmi2CancelStep");
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind, (void)value;
    return packed_fmi2_reject(c, "fmi2GetStatus: no step is ever pending");
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    const struct packed_fmi2_instance *own = c;
    if (kind != fmi2LastSuccessfulTime)
        return packed_fmi2_reject(own, "fmi2GetRealStatus of this kind");
    *value = own->last_time;
    return fmi2OK;
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind, (void)value;
    return packed_fmi2_reject(c, "fmi2GetIntegerStatus");
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    const struct packed_fmi2_instance *own = c;
    if (kind != fmi2Terminated)
        return packed_fmi2_reject(own, "fmi2GetBooleanStatus of this kind");
    *value = own->terminated;
    return fmi2OK;
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind, (void)value;
    return packed_fmi2_reject(c, "fmi2GetStringStatus");
}

/* ---- Model Exchange ---- */

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    struct packed_fmi2_instance *own = c;
    return packed_fmi2_end_call(own, tt_fmu_interface_enter_event(&own->outside, "fmi2EnterEventMode"));
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    struct packed_fmi2_instance *own = c;
    struct tt_equations_update update = {0};
    enum tutti_err err = tt_fmu_interface_update(&own->outside, "fmi2NewDiscreteStates", &update);
    *info = (fmi2EventInfo){.newDiscreteStatesNeeded = update.again,
                            .terminateSimulation = update.terminate,
                            .nominalsOfContinuousStatesChanged = update.nominals_changed,
                            .valuesOfContinuousStatesChanged = update.states_changed,
                            .nextEventTimeDefined = !err && isfinite(update.next_event),
                            .nextEventTime = !err && isfinite(update.next_event) ? update.next_event : 0};
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    struct packed_fmi2_instance *own = c;
    return packed_fmi2_end_call(own, tt_fmu_interface_leave_event(&own->outside, "fmi2EnterContinuousTimeMode"));
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state_before, fmi2Boolean *enter_event_mode,
                                       fmi2Boolean *terminate)
{
    (void)no_set_state_before;
    struct packed_fmi2_instance *own = c;
    bool event = false, ends = false;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi2CompletedIntegratorStep");
    if (!err)
        err = tt_packed_equations_complete_step(own->outside.packed, &event, &ends);
    *enter_event_mode = event;
    *terminate = ends;
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t)
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi2SetTime");
    return packed_fmi2_end_call(own, err ? err : tt_packed_equations_set_time(own->outside.packed, t));
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi2SetContinuousStates");
    return packed_fmi2_end_call(own, err ? err : tt_packed_equations_set_states(own->outside.packed, x, nx));
}

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi2GetDerivatives");
    return packed_fmi2_end_call(own, err ? err : tt_packed_equations_derivatives(own->outside.packed, derivatives, nx));
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t ni)
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi2GetEventIndicators");
    return packed_fmi2_end_call(own,
                                err ? err : tt_packed_equations_indicators(own->outside.packed, indicators, 0, ni));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi2GetContinuousStates");
    return packed_fmi2_end_call(own, err ? err : tt_packed_equations_states(own->outside.packed, x, nx));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t nx)
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = tt_fmu_interface_check_exchange(&own->outside, "fmi2GetNominalsOfContinuousStates");
    return packed_fmi2_end_call(own, err ? err : tt_packed_equations_nominals(own->outside.packed, nominals, nx));
}

/* ---- values ---- */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = tt_packed_values_get(own->outside.packed, vr[i], TUTTI_TYPE_FLOAT64, &values[i]);
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = tt_packed_values_get(own->outside.packed, vr[i], TUTTI_TYPE_INT32, &values[i]);
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++) {
        bool value = false;
        err = tt_packed_values_get(own->outside.packed, vr[i], TUTTI_TYPE_BOOLEAN, &value);
        values[i] = value ? fmi2True : fmi2False;
    }
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = tt_packed_values_get(own->outside.packed, vr[i], TUTTI_TYPE_STRING, &values[i]);
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = tt_packed_values_set(own->outside.packed, vr[i], TUTTI_TYPE_FLOAT64, &values[i]);
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = tt_packed_values_set(own->outside.packed, vr[i], TUTTI_TYPE_INT32, &values[i]);
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = tt_packed_values_set(own->outside.packed, vr[i], TUTTI_TYPE_BOOLEAN, &(bool){values[i] != fmi2False});
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String values[])
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = TUTTI_OK;
    for (size_t i = 0; i < n && !err; i++)
        err = values[i] ? tt_packed_values_set(own->outside.packed, vr[i], TUTTI_TYPE_STRING, &values[i])
                        : tt_fail(TUTTI_ERR_ARGUMENT, "%s: a text is NULL", own->outside.name);
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t n_unknowns,
                                        const fmi2ValueReference knowns[], size_t n_knowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    struct packed_fmi2_instance *own = c;
    const struct tt_directional_side of = {unknowns, n_unknowns, n_unknowns}, by = {knowns, n_knowns, n_knowns};
    return packed_fmi2_end_call(own, tt_packed_directional_compute(own->outside.packed, &of, &by, seed, sensitivity));
}

/* ---- states ---- */

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    struct packed_fmi2_instance *own = c;
    return packed_fmi2_end_call(own, tt_packed_save(own->outside.packed, state));
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    struct packed_fmi2_instance *own = c;
    enum tutti_err err = tt_packed_restore(own->outside.packed, state);
    if (!err)
        own->last_time = tt_packed_time(own->outside.packed);
    return packed_fmi2_end_call(own, err);
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    struct packed_fmi2_instance *own = c;
    tt_packed_free_state(own->outside.packed, *state);
    *state = NULL;
    return fmi2OK;
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    struct packed_fmi2_instance *own = c;
    return packed_fmi2_end_call(own, tt_packed_serialised_size(own->outside.packed, state, size));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    struct packed_fmi2_instance *own = c;
    return packed_fmi2_end_call(own, tt_packed_serialise(own->outside.packed, state, bytes, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    struct packed_fmi2_instance *own = c;
    struct tt_bytes all = {.data = (const void *)bytes, .size = size};
    return packed_fmi2_end_call(own, tt_packed_deserialise(own->outside.packed, all, state));
}

/* ---- unsupported functions ---- */

#define REFUSED(function, parameters)                                                                                  \
    fmi2Status function parameters                                                                                     \
    {                                                                                                                  \
        return packed_fmi2_reject(c, #function);                                                                       \
    }

#pragma GCC diagnostic ignored "-Wunused-parameter"
REFUSED(fmi2SetRealInputDerivatives,
        (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer orders[], const fmi2Real values[]))
REFUSED(fmi2GetRealOutputDerivatives,
        (fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer orders[], fmi2Real values[]))
