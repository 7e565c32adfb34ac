/* SPDX-License-Identifier: MIT */
/* fmi1.c - FMI 1.0 on the core: Co-Simulation, or with KIT_FMI1_ME Model Exchange.
 *
 * FMI 1.0 puts the model's name before every function's name, so this file is compiled for every model, with its name
 * in KIT_MODEL_IDENTIFIER. Two libraries are made of it, as the standard wants. */
#include "layer.h"

#include "api1.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTE_AGAIN(model, name) model##_##name
#define PASTE(model, name) PASTE_AGAIN(model, name)
#define FMI(name) PASTE(KIT_MODEL_IDENTIFIER, name)
#define DECLARE(name, result, parameters, group) KIT_EXPORT result FMI(name) parameters;
FMI1_FUNCTIONS(DECLARE)

#define ENTER(call, modes) KIT_ENTER(fmiStatus, call, modes)
#define LEAVE(status) KIT_LEAVE(fmiStatus, status)

enum {
    INSTANTIATED = KIT_MODE(KIT_INSTANTIATED),
    RUNNING = KIT_MODE(KIT_STEP) | KIT_MODE(KIT_IN_EVENT),
    FAILED = KIT_MODE(KIT_STEP_FAILED),
    ENDED = KIT_MODE(KIT_TERMINATED) | KIT_MODE(KIT_IN_ERROR),
};

static void send_log(struct kit *k, enum kit_status status, const char *category, const char *text)
{
    ((fmiCallbackLogger)k->logger)(k, k->name, (fmiStatus)status, category, text);
}

const char *FMI(fmiGetVersion)(void)
{
    return fmiVersion;
}

fmiStatus FMI(fmiSetDebugLogging)(fmiComponent c, fmiBoolean logging_on)
{
    ENTER("SetDebugLogging", KIT_ANY_MODE);
    kit_set_logging(k, logging_on, 0, NULL);
    LEAVE(KIT_OK);
}

/* ---- values ---- */

#define GET (INSTANTIATED | RUNNING | FAILED | ENDED)
#define SET (INSTANTIATED | RUNNING | FAILED)

fmiStatus FMI(fmiGetReal)(fmiComponent c, const fmiValueReference vr[], size_t n, fmiReal values[])
{
    ENTER("GetReal", GET);
    enum kit_status status = kit_get(k, "GetReal", KIT_TYPE(KIT_FLOAT64), vr, n, values, n);
    KIT_FAULT_VALUES(k, "GetReal", values, n);
    LEAVE(status);
}

fmiStatus FMI(fmiSetReal)(fmiComponent c, const fmiValueReference vr[], size_t n, const fmiReal values[])
{
    ENTER("SetReal", SET);
    LEAVE(kit_set(k, "SetReal", KIT_TYPE(KIT_FLOAT64), vr, n, values, n));
}

fmiStatus FMI(fmiGetInteger)(fmiComponent c, const fmiValueReference vr[], size_t n, fmiInteger values[])
{
    ENTER("GetInteger", GET);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_get_integer(k, vr[i], &values[i]);
    LEAVE(status);
}

fmiStatus FMI(fmiSetInteger)(fmiComponent c, const fmiValueReference vr[], size_t n, const fmiInteger values[])
{
    ENTER("SetInteger", SET);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_set_integer(k, vr[i], values[i]);
    LEAVE(status);
}

fmiStatus FMI(fmiGetBoolean)(fmiComponent c, const fmiValueReference vr[], size_t n, fmiBoolean values[])
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

fmiStatus FMI(fmiSetBoolean)(fmiComponent c, const fmiValueReference vr[], size_t n, const fmiBoolean values[])
{
    ENTER("SetBoolean", SET);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++) {
        bool value = values[i] != fmiFalse;
        status = kit_set(k, "SetBoolean", KIT_TYPE(KIT_BOOLEAN), &vr[i], 1, &value, 1);
    }
    LEAVE(status);
}

fmiStatus FMI(fmiGetString)(fmiComponent c, const fmiValueReference vr[], size_t n, fmiString values[])
{
    ENTER("GetString", GET);
    LEAVE(kit_get(k, "GetString", KIT_TYPE(KIT_STRING), vr, n, values, n));
}

fmiStatus FMI(fmiSetString)(fmiComponent c, const fmiValueReference vr[], size_t n, const fmiString values[])
{
    ENTER("SetString", SET);
    LEAVE(kit_set(k, "SetString", KIT_TYPE(KIT_STRING), vr, n, values, n));
}

static void free_instance(struct kit *k)
{
    if (k && k->mode == KIT_IN_FATAL)
        kit_refuse(k, "FreeInstance");
    if (k)
        (void)KIT_FAULT_CALL(k, "FreeInstance");
    kit_free(k);
}

#ifndef KIT_FMI1_ME

/* ---- Co-Simulation ---- */

const char *FMI(fmiGetTypesPlatform)(void)
{
    return fmiPlatform;
}

/* The folder "resources" in the place where the FMU is unpacked; the caller frees. */
static char *resources_of(const char *location)
{
    char *path = location ? kit_path_of_uri(location) : NULL;
    size_t size = path ? strlen(path) + sizeof "/resources/" : 0;
    char *folder = path ? malloc(size) : NULL;
    if (folder)
        snprintf(folder, size, "%s/resources/", path);
    free(path);
    return folder;
}

fmiComponent FMI(fmiInstantiateSlave)(fmiString instance_name, fmiString guid, fmiString fmu_location,
                                      fmiString mime_type, fmiReal timeout, fmiBoolean visible, fmiBoolean interactive,
                                      fmiCallbackFunctions functions, fmiBoolean logging_on)
{
    (void)mime_type, (void)timeout, (void)visible, (void)interactive;
    if (!functions.logger)
        return NULL;
    char *resources = resources_of(fmu_location);
    struct kit *k = kit_new(&(struct kit_request){.version = 1,
                                                  .interface = KIT_CS,
                                                  .name = instance_name,
                                                  .guid = guid,
                                                  .resources = resources,
                                                  .logging = logging_on,
                                                  .log = send_log,
                                                  .logger = (void (*)(void))functions.logger});
    free(resources);
    return k;
}

fmiStatus FMI(fmiInitializeSlave)(fmiComponent c, fmiReal start, fmiBoolean stop_defined, fmiReal stop)
{
    ENTER("InitializeSlave", INSTANTIATED);
    if (stop_defined && !(stop >= start))
        LEAVE(kit_fail(k, KIT_ERROR, "InitializeSlave: stop time %.17g is before start time %.17g", stop, start));
    k->time = start;
    k->stop = stop_defined ? stop : INFINITY;
    k->mode = KIT_INITIALISATION;
    enum kit_status status = kit_exit_initialisation(k);
    if (status <= KIT_WARNING)
        k->mode = KIT_STEP;
    LEAVE(status);
}

/* Where steps can be rejected, the state before each step is kept; new_step = false goes back to it. */
static enum kit_status keep_or_go_back(struct kit *k, bool new_step)
{
    if (!(k->model->features & KIT_ROLLBACK))
        return new_step ? KIT_OK : kit_fail(k, KIT_ERROR, "DoStep: steps of this FMU cannot be repeated");
    if (!new_step && !k->previous)
        return kit_fail(k, KIT_ERROR, "DoStep: there is no step to repeat");
    if (!new_step)
        return kit_state_set(k, k->previous, true);
    k->mode = KIT_STEP;
    return kit_state_get(k, &k->previous);
}

fmiStatus FMI(fmiDoStep)(fmiComponent c, fmiReal t, fmiReal h, fmiBoolean new_step)
{
    struct kit *k = c;
    if (!k || (k->mode != KIT_STEP && k->mode != KIT_STEP_FAILED))
        return k ? (fmiStatus)kit_refuse(k, "DoStep") : fmiError;
    if (keep_or_go_back(k, new_step != fmiFalse) != KIT_OK || kit_check_step(k, t, h) != KIT_OK)
        return fmiError;
    k->mode = KIT_STEP;
    return (fmiStatus)kit_do_step_or_discard(k, t, h);
}

fmiStatus FMI(fmiTerminateSlave)(fmiComponent c)
{
    ENTER("TerminateSlave", RUNNING | FAILED | KIT_MODE(KIT_IN_ERROR));
    k->mode = KIT_TERMINATED;
    LEAVE(KIT_OK);
}

void FMI(fmiFreeSlaveInstance)(fmiComponent c)
{
    free_instance(c);
}

/* Nothing is ever pending. */
fmiStatus FMI(fmiCancelStep)(fmiComponent c)
{
    ENTER("CancelStep", 0u);
    LEAVE(KIT_ERROR);
}

fmiStatus FMI(fmiGetStatus)(fmiComponent c, const fmiStatusKind kind, fmiStatus *value)
{
    ENTER("GetStatus", RUNNING | FAILED);
    (void)kind, (void)value;
    LEAVE(KIT_DISCARD);
}

fmiStatus FMI(fmiGetRealStatus)(fmiComponent c, const fmiStatusKind kind, fmiReal *value)
{
    ENTER("GetRealStatus", RUNNING | FAILED);
    if (kind != fmiLastSuccessfulTime)
        LEAVE(KIT_DISCARD);
    *value = k->last_time;
    LEAVE(KIT_OK);
}

fmiStatus FMI(fmiGetIntegerStatus)(fmiComponent c, const fmiStatusKind kind, fmiInteger *value)
{
    ENTER("GetIntegerStatus", RUNNING | FAILED);
    (void)kind, (void)value;
    LEAVE(KIT_DISCARD);
}

fmiStatus FMI(fmiGetBooleanStatus)(fmiComponent c, const fmiStatusKind kind, fmiBoolean *value)
{
    ENTER("GetBooleanStatus", RUNNING | FAILED);
    (void)kind, (void)value;
    LEAVE(KIT_DISCARD);
}

fmiStatus FMI(fmiGetStringStatus)(fmiComponent c, const fmiStatusKind kind, fmiString *value)
{
    ENTER("GetStringStatus", RUNNING | FAILED);
    (void)kind, (void)value;
    LEAVE(KIT_DISCARD);
}

#ifndef KIT_LACKS_OPTIONAL

fmiStatus FMI(fmiResetSlave)(fmiComponent c)
{
    ENTER("ResetSlave", KIT_ANY_MODE);
    LEAVE(kit_start_again(k));
}

fmiStatus FMI(fmiSetRealInputDerivatives)(fmiComponent c, const fmiValueReference vr[], size_t n,
                                          const fmiInteger orders[], const fmiReal values[])
{
    ENTER("SetRealInputDerivatives", SET);
    enum kit_status status = kit_offers(k, KIT_INPUT_DERIVATIVES) ? KIT_OK : KIT_ERROR;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_set_input_derivative(k, vr[i], orders[i], values[i]);
    LEAVE(status);
}

fmiStatus FMI(fmiGetRealOutputDerivatives)(fmiComponent c, const fmiValueReference vr[], size_t n,
                                           const fmiInteger orders[], fmiReal values[])
{
    ENTER("GetRealOutputDerivatives", RUNNING | FAILED | ENDED);
    enum kit_status status = KIT_OK;
    for (size_t i = 0; i < n && status <= KIT_WARNING; i++)
        status = kit_get_output_derivative(k, vr[i], orders[i], &values[i], 1);
    LEAVE(status);
}

#endif

#else

/* ---- Model Exchange ---- */

const char *FMI(fmiGetModelTypesPlatform)(void)
{
    return fmiPlatform;
}

fmiComponent FMI(fmiInstantiateModel)(fmiString instance_name, fmiString guid, fmiModelCallbackFunctions functions,
                                      fmiBoolean logging_on)
{
    if (!functions.logger)
        return NULL;
    return kit_new(&(struct kit_request){.version = 1,
                                         .interface = KIT_ME,
                                         .name = instance_name,
                                         .guid = guid,
                                         .logging = logging_on,
                                         .log = send_log,
                                         .logger = (void (*)(void))functions.logger});
}

void FMI(fmiFreeModelInstance)(fmiComponent c)
{
    free_instance(c);
}

fmiStatus FMI(fmiSetTime)(fmiComponent c, fmiReal t)
{
    ENTER("SetTime", INSTANTIATED | RUNNING);
    LEAVE(kit_set_time(k, t));
}

fmiStatus FMI(fmiSetContinuousStates)(fmiComponent c, const fmiReal x[], size_t nx)
{
    ENTER("SetContinuousStates", RUNNING);
    LEAVE(kit_set_states(k, x, nx));
}

fmiStatus FMI(fmiCompletedIntegratorStep)(fmiComponent c, fmiBoolean *call_event_update)
{
    ENTER("CompletedIntegratorStep", RUNNING);
    bool step_event;
    enum kit_status status = kit_completed_step(k, &step_event);
    *call_event_update = step_event;
    LEAVE(status);
}

/* event() once, or until it is content. */
static enum kit_status update(struct kit *k, bool once, fmiEventInfo *info)
{
    struct kit_event event;
    enum kit_status status, worst = KIT_OK;
    *info = (fmiEventInfo){0};
    int calls = 0;
    do {
        status = kit_event_once(k, &event);
        worst = kit_worse(worst, status);
        info->stateValuesChanged = (fmiBoolean)(info->stateValuesChanged || event.states_changed);
        info->terminateSimulation = (fmiBoolean)(info->terminateSimulation || event.terminate);
        if (++calls > 1000)
            return kit_fail(k, KIT_ERROR, "event() asked %d times to be called again", calls);
    } while (!once && event.again && status <= KIT_WARNING);
    info->iterationConverged = !event.again;
    info->upcomingTimeEvent = isfinite(event.next_time) != 0;
    info->nextEventTime = isfinite(event.next_time) ? event.next_time : 0;
    return worst;
}

fmiStatus FMI(fmiInitialize)(fmiComponent c, fmiBoolean tolerance_controlled, fmiReal tolerance, fmiEventInfo *info)
{
    ENTER("Initialize", INSTANTIATED);
    (void)tolerance_controlled, (void)tolerance;
    k->mode = KIT_INITIALISATION;
    enum kit_status status = kit_exit_initialisation(k);
    if (status <= KIT_WARNING && !KIT_FAULT_HABIT(k, "untold", "Initialize"))
        status = kit_worse(status, update(k, false, info));
    if (status <= KIT_WARNING)
        k->mode = KIT_IN_EVENT;
    LEAVE(status);
}

fmiStatus FMI(fmiEventUpdate)(fmiComponent c, fmiBoolean intermediate_results, fmiEventInfo *info)
{
    ENTER("EventUpdate", RUNNING);
    LEAVE(update(k, intermediate_results != fmiFalse, info));
}

fmiStatus FMI(fmiGetDerivatives)(fmiComponent c, fmiReal derivatives[], size_t nx)
{
    ENTER("GetDerivatives", RUNNING);
    enum kit_status status = kit_get_derivatives(k, derivatives, nx);
    KIT_FAULT_VALUES(k, "GetDerivatives", derivatives, nx);
    LEAVE(status);
}

fmiStatus FMI(fmiGetEventIndicators)(fmiComponent c, fmiReal indicators[], size_t ni)
{
    ENTER("GetEventIndicators", RUNNING);
    LEAVE(kit_get_indicators(k, indicators, ni));
}

fmiStatus FMI(fmiGetContinuousStates)(fmiComponent c, fmiReal x[], size_t nx)
{
    ENTER("GetContinuousStates", RUNNING);
    LEAVE(kit_get_states(k, x, nx));
}

fmiStatus FMI(fmiGetNominalContinuousStates)(fmiComponent c, fmiReal nominals[], size_t nx)
{
    ENTER("GetNominalContinuousStates", RUNNING);
    LEAVE(kit_get_nominals(k, nominals, nx));
}

fmiStatus FMI(fmiGetStateValueReferences)(fmiComponent c, fmiValueReference vr[], size_t nx)
{
    ENTER("GetStateValueReferences", RUNNING);
#ifdef KIT_LACKS_OPTIONAL /* some real FMUs do not provide these values, and importers must still run them */
    (void)vr, (void)nx;
    LEAVE(KIT_ERROR);
#else
    size_t found = 0;
    for (size_t i = 1; i <= k->model->variable_count && found < nx; i++)
        if (k->slots[i].var->derivative)
            vr[found++] = (fmiValueReference)i;
    LEAVE(found == nx && nx == k->nx ? KIT_OK : kit_fail(k, KIT_ERROR, "there are %zu states, not %zu", k->nx, nx));
#endif
}

fmiStatus FMI(fmiTerminate)(fmiComponent c)
{
    ENTER("Terminate", RUNNING | KIT_MODE(KIT_IN_ERROR));
    k->mode = KIT_TERMINATED;
    LEAVE(KIT_OK);
}

#endif
