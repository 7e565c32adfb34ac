/* SPDX-License-Identifier: MIT */
/* fmi2.c - FMI 2.0, Co-Simulation and Model Exchange, on the core.
 *
 * The modes in which a call is allowed are those of the tables in the standard's chapters 3.2.3 and 4.2.4, with one
 * addition: inputs may also be set before the initialization mode, as in FMI 3.0. A forbidden call is an Error. */
#include "layer.h"

#include "api2.h"

#include <math.h>
#include <stdlib.h>

#define DECLARE(name, result, parameters, group) KIT_EXPORT result name parameters;
FMI2_FUNCTIONS(DECLARE)

#define ENTER(call, modes) KIT_ENTER(fmi2Status, call, modes)
#define LEAVE(status) KIT_LEAVE(fmi2Status, status)

enum {
    INSTANTIATED = KIT_MODE(KIT_INSTANTIATED),
    INITIALISATION = KIT_MODE(KIT_INITIALISATION),
    EVENT = KIT_MODE(KIT_IN_EVENT),
    CONTINUOUS = KIT_MODE(KIT_CONTINUOUS_TIME),
    STEP = KIT_MODE(KIT_STEP),
    FAILED = KIT_MODE(KIT_STEP_FAILED),
    ENDED = KIT_MODE(KIT_TERMINATED) | KIT_MODE(KIT_IN_ERROR),
    GET = INITIALISATION | EVENT | CONTINUOUS | STEP | FAILED | ENDED,
    SET = INSTANTIATED | INITIALISATION | EVENT | CONTINUOUS | STEP,
    STATUS = STEP | FAILED | KIT_MODE(KIT_TERMINATED),
};

static void send_log(struct kit *k, enum kit_status status, const char *category, const char *text)
{
    ((fmi2CallbackLogger)k->logger)(k->environment, k->name, (fmi2Status)status, category, text);
}

const char *fmi2GetTypesPlatform(void)
{
    return fmi2TypesPlatform;
}

const char *fmi2GetVersion(void)
{
    return fmi2Version;
}

fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean logging_on, size_t n, const fmi2String categories[])
{
    ENTER("SetDebugLogging", KIT_ANY_MODE);
    if (kit_set_logging(k, logging_on, n, categories))
        LEAVE(KIT_OK);
    kit_log(k, KIT_WARNING, "SetDebugLogging: there is no such log category");
    LEAVE(KIT_WARNING);
}

fmi2Component fmi2Instantiate(fmi2String instance_name, fmi2Type type, fmi2String guid, fmi2String resource_location,
                              const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging_on)
{
    (void)visible;
    if (!functions || !functions->logger)
        return NULL;
    char *resources = resource_location ? kit_path_of_uri(resource_location) : NULL;
    struct kit *k = kit_new(&(struct kit_request){.version = 2,
                                                  .interface = type == fmi2CoSimulation ? KIT_CS : KIT_ME,
                                                  .name = instance_name,
                                                  .guid = guid,
                                                  .resources = resources,
                                                  .logging = logging_on,
                                                  .log = send_log,
                                                  .environment = functions->componentEnvironment,
                                                  .logger = (void (*)(void))functions->logger});
    free(resources);
    return k;
}

void fmi2FreeInstance(fmi2Component c)
{
    struct kit *k = c;
    if (k && k->mode == KIT_IN_FATAL)
        kit_refuse(k, "FreeInstance");
    if (k)
        (void)KIT_FAULT_CALL(k, "FreeInstance");
    kit_free(k);
}

fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance, fmi2Real start,
                               fmi2Boolean stop_defined, fmi2Real stop)
{
    ENTER("SetupExperiment", INSTANTIATED);
    (void)tolerance_defined;
    (void)tolerance;
    if (stop_defined && !(stop >= start))
        LEAVE(kit_fail(k, KIT_ERROR, "SetupExperiment: stop time %.17g is before start time %.17g", stop, start));
    enum kit_status status = KIT_FAULT_HABIT(k, "forget", "SetupExperiment") ? kit_reset(k) : KIT_OK;
    k->time = start;
    k->stop = stop_defined ? stop : INFINITY;
    k->set_up = true;
    LEAVE(status);
}

fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    ENTER("EnterInitializationMode", INSTANTIATED);
    if (!k->set_up)
        LEAVE(kit_fail(k, KIT_ERROR, "EnterInitializationMode needs a SetupExperiment before it"));
    k->mode = KIT_INITIALISATION;
    k->solved = KIT_FAULT_HABIT(k, "solve", "EnterInitializationMode");
    LEAVE(k->solved ? kit_refresh(k, KIT_STALE_START) : KIT_OK);
}

fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    ENTER("ExitInitializationMode", INITIALISATION);
    enum kit_status status = kit_exit_initialisation(k);
    if (status <= KIT_WARNING)
        k->mode = k->interface == KIT_CS ? KIT_STEP : KIT_IN_EVENT;
    LEAVE(status);
}

fmi2Status fmi2Terminate(fmi2Component c)
{
    ENTER("Terminate", EVENT | CONTINUOUS | STEP | FAILED);
    k->mode = KIT_TERMINATED;
    LEAVE(KIT_OK);
}

fmi2Status fmi2Reset(fmi2Component c)
{
    ENTER("Reset", KIT_ANY_MODE);
    LEAVE(kit_start_again(k));
}

/* ---- values ---- */

fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[])
{
    ENTER("GetReal", GET);
    enum kit_status status = kit_get(k, "GetReal", KIT_TYPE(KIT_FLOAT64), vr, n, values, n);
    KIT_FAULT_VALUES(k, "GetReal", values, n);
    LEAVE(status);
}

fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[])
{
    ENTER("SetReal", SET);
    LEAVE(kit_set(k, "SetReal", KIT_TYPE(KIT_FLOAT64), vr, n, values, n));
}

fmi2Status fmi2GetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Integer values[])
{
    ENTER("GetInteger", GET);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_get_integer(k, vr[i], &values[i]);
    LEAVE(status);
}

fmi2Status fmi2SetInteger(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Integer values[])
{
    ENTER("SetInteger", SET);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_set_integer(k, vr[i], values[i]);
    LEAVE(status);
}

fmi2Status fmi2GetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Boolean values[])
{
    ENTER("GetBoolean", GET);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++) {
        bool value = false;
        status = kit_get(k, "GetBoolean", KIT_TYPE(KIT_BOOLEAN), &vr[i], 1, &value, 1);
        values[i] = value;
    }
    LEAVE(status);
}

fmi2Status fmi2SetBoolean(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Boolean values[])
{
    ENTER("SetBoolean", SET);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++) {
        bool value = values[i] != fmi2False;
        status = kit_set(k, "SetBoolean", KIT_TYPE(KIT_BOOLEAN), &vr[i], 1, &value, 1);
    }
    LEAVE(status);
}

fmi2Status fmi2GetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2String values[])
{
    ENTER("GetString", GET);
    LEAVE(kit_get(k, "GetString", KIT_TYPE(KIT_STRING), vr, n, values, n));
}

fmi2Status fmi2SetString(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2String values[])
{
    ENTER("SetString", SET);
    LEAVE(kit_set(k, "SetString", KIT_TYPE(KIT_STRING), vr, n, values, n));
}

/* ---- Co-Simulation ---- */

fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state_before)
{
    struct kit *k = c;
    if (!k || k->mode != KIT_STEP)
        return k ? (fmi2Status)kit_refuse(k, "DoStep") : fmi2Error;
    if (kit_check_step(k, t, h) != KIT_OK)
        return fmi2Error;
    if (KIT_FAULT_STAYS(k, t + h, no_set_state_before))
        return fmi2OK;
    return (fmi2Status)kit_do_step_or_discard(k, t, h);
}

/* Nothing is ever pending. */
fmi2Status fmi2CancelStep(fmi2Component c)
{
    ENTER("CancelStep", 0u);
    LEAVE(KIT_ERROR);
}

fmi2Status fmi2GetStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    ENTER("GetStatus", STATUS);
    (void)kind;
    (void)value;
    LEAVE(KIT_DISCARD);
}

fmi2Status fmi2GetRealStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    ENTER("GetRealStatus", STATUS);
    if (kind != fmi2LastSuccessfulTime)
        LEAVE(KIT_DISCARD);
    *value = k->last_time;
    LEAVE(KIT_OK);
}

fmi2Status fmi2GetIntegerStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    ENTER("GetIntegerStatus", STATUS);
    (void)kind;
    (void)value;
    LEAVE(KIT_DISCARD);
}

fmi2Status fmi2GetBooleanStatus(fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    ENTER("GetBooleanStatus", STATUS);
    if (kind != fmi2Terminated)
        LEAVE(KIT_DISCARD);
    *value = k->terminated;
    LEAVE(KIT_OK);
}

fmi2Status fmi2GetStringStatus(fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    ENTER("GetStringStatus", STATUS);
    (void)kind;
    (void)value;
    LEAVE(KIT_DISCARD);
}

/* ---- Model Exchange ---- */

fmi2Status fmi2EnterEventMode(fmi2Component c)
{
    ENTER("EnterEventMode", EVENT | CONTINUOUS);
    kit_enter_event_mode(k);
    LEAVE(KIT_OK);
}

fmi2Status fmi2NewDiscreteStates(fmi2Component c, fmi2EventInfo *info)
{
    ENTER("NewDiscreteStates", EVENT);
    struct kit_event event;
    enum kit_status status = kit_event_once(k, &event);
    info->newDiscreteStatesNeeded = event.again;
    info->terminateSimulation = event.terminate;
    info->nominalsOfContinuousStatesChanged = event.nominals_changed;
    info->valuesOfContinuousStatesChanged = event.states_changed;
    if (k->rounds > 1 && KIT_FAULT_HABIT(k, "untold", "NewDiscreteStates"))
        LEAVE(status);
    info->nextEventTimeDefined = isfinite(event.next_time);
    info->nextEventTime = isfinite(event.next_time) ? event.next_time : 0;
    LEAVE(status);
}

fmi2Status fmi2EnterContinuousTimeMode(fmi2Component c)
{
    ENTER("EnterContinuousTimeMode", EVENT);
    if (k->update_needed)
        LEAVE(kit_fail(k, KIT_ERROR, "EnterContinuousTimeMode: NewDiscreteStates has to be called first"));
    k->mode = KIT_CONTINUOUS_TIME;
    LEAVE(KIT_OK);
}

fmi2Status fmi2CompletedIntegratorStep(fmi2Component c, fmi2Boolean no_set_state_before, fmi2Boolean *enter_event_mode,
                                       fmi2Boolean *terminate)
{
    ENTER("CompletedIntegratorStep", CONTINUOUS);
    (void)no_set_state_before;
    bool step_event;
    enum kit_status status = kit_completed_step(k, &step_event);
    *enter_event_mode = step_event;
    *terminate = fmi2False;
    LEAVE(status);
}

fmi2Status fmi2SetTime(fmi2Component c, fmi2Real t)
{
    ENTER("SetTime", EVENT | CONTINUOUS);
    if (k->mode == KIT_IN_EVENT && (k->nx > 0 || k->nz > 0 || k->update_needed))
        return (fmi2Status)kit_refuse(k, "SetTime");
    LEAVE(kit_set_time(k, t));
}

fmi2Status fmi2SetContinuousStates(fmi2Component c, const fmi2Real x[], size_t nx)
{
    ENTER("SetContinuousStates", CONTINUOUS);
    LEAVE(kit_set_states(k, x, nx));
}

#define ENTER_ME(call, modes)                                                                                          \
    ENTER(call, modes);                                                                                                \
    if (k->interface != KIT_ME)                                                                                        \
    return (fmi2Status)kit_fail(k, KIT_ERROR, call " belongs to Model Exchange")

fmi2Status fmi2GetDerivatives(fmi2Component c, fmi2Real derivatives[], size_t nx)
{
    ENTER_ME("GetDerivatives", GET);
    enum kit_status status = kit_get_derivatives(k, derivatives, nx);
    KIT_FAULT_VALUES(k, "GetDerivatives", derivatives, nx);
    LEAVE(status);
}

fmi2Status fmi2GetEventIndicators(fmi2Component c, fmi2Real indicators[], size_t ni)
{
    ENTER_ME("GetEventIndicators", GET);
    LEAVE(kit_get_indicators(k, indicators, ni));
}

fmi2Status fmi2GetContinuousStates(fmi2Component c, fmi2Real x[], size_t nx)
{
    ENTER_ME("GetContinuousStates", GET);
    LEAVE(kit_get_states(k, x, nx));
}

fmi2Status fmi2GetNominalsOfContinuousStates(fmi2Component c, fmi2Real nominals[], size_t nx)
{
    ENTER_ME("GetNominalsOfContinuousStates", GET | INSTANTIATED);
    LEAVE(kit_get_nominals(k, nominals, nx));
}

/* ---- optional functions ---- */

#ifndef KIT_LACKS_OPTIONAL

fmi2Status fmi2GetFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    ENTER("GetFMUstate", KIT_ANY_MODE);
    struct kit_state *own = *state;
    enum kit_status status = kit_offers(k, KIT_ROLLBACK) ? kit_state_get(k, &own) : KIT_ERROR;
    *state = own;
    LEAVE(status);
}

fmi2Status fmi2SetFMUstate(fmi2Component c, fmi2FMUstate state)
{
    ENTER("SetFMUstate", KIT_ANY_MODE);
    LEAVE(kit_offers(k, KIT_ROLLBACK) ? KIT_FAULT_SET_STATE(k, "SetFMUstate", state) : KIT_ERROR);
}

fmi2Status fmi2FreeFMUstate(fmi2Component c, fmi2FMUstate *state)
{
    ENTER("FreeFMUstate", KIT_ANY_MODE);
    kit_state_free(state ? *state : NULL);
    if (state)
        *state = NULL;
    LEAVE(KIT_OK);
}

fmi2Status fmi2SerializedFMUstateSize(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    ENTER("SerializedFMUstateSize", KIT_ANY_MODE);
    LEAVE(kit_state_size(k, state, size));
}

fmi2Status fmi2SerializeFMUstate(fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    ENTER("SerializeFMUstate", KIT_ANY_MODE);
    LEAVE(kit_state_serialise(k, state, bytes, size));
}

fmi2Status fmi2DeSerializeFMUstate(fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    ENTER("DeSerializeFMUstate", KIT_ANY_MODE);
    struct kit_state *own = NULL;
    enum kit_status status = kit_state_deserialise(k, bytes, size, &own);
    *state = own;
    LEAVE(status);
}

fmi2Status fmi2GetDirectionalDerivative(fmi2Component c, const fmi2ValueReference unknowns[], size_t n_unknowns,
                                        const fmi2ValueReference knowns[], size_t n_knowns, const fmi2Real seed[],
                                        fmi2Real sensitivity[])
{
    ENTER("GetDirectionalDerivative", GET);
    if (!kit_offers(k, KIT_DIRECTIONAL))
        return fmi2Error;
    LEAVE(kit_directional(k, false, unknowns, n_unknowns, knowns, n_knowns, seed, n_knowns, sensitivity, n_unknowns));
}

fmi2Status fmi2SetRealInputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                       const fmi2Integer orders[], const fmi2Real values[])
{
    ENTER("SetRealInputDerivatives", INSTANTIATED | INITIALISATION | STEP);
    enum kit_status status = kit_offers(k, KIT_INPUT_DERIVATIVES) ? KIT_OK : KIT_ERROR;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_set_input_derivative(k, vr[i], orders[i], values[i]);
    LEAVE(status);
}

fmi2Status fmi2GetRealOutputDerivatives(fmi2Component c, const fmi2ValueReference vr[], size_t n,
                                        const fmi2Integer orders[], fmi2Real values[])
{
    ENTER("GetRealOutputDerivatives", STEP | FAILED | ENDED);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_get_output_derivative(k, vr[i], orders[i], &values[i], 1);
    LEAVE(status);
}

#endif
