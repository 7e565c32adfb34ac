/* SPDX-License-Identifier: MIT */
/* fmi3.c - FMI 3.0, Co-Simulation, Model Exchange and Scheduled Execution, on the core: the modes. Values and clocks are in fmi3_values.c and
 * fmi3_clocks.c.
 *
 * The modes in which a call is allowed are those of the standard's chapters 2.3, 3.2, 4.2 and 5.2. A forbidden call is an
 * Error. With event mode:
 * - a do-step ends at the first event, if early return is allowed; if not, state events inside the step are handled
 *   inside, and a step past the announced time event is refused;
 * - after a do-step that asked for event handling, the next one needs an event mode in between. */
#include "fmi3.h"

#include <math.h>
#include <stdlib.h>

static void send_log(struct kit *k, enum kit_status status, const char *category, const char *text)
{
    ((fmi3LogMessageCallback)k->logger)(k->environment, (fmi3Status)status, category, text);
}

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean logging_on, size_t n, const fmi3String categories[])
{
    ENTER("SetDebugLogging", KIT_ANY_MODE);
    if (kit_set_logging(k, logging_on, n, categories))
        LEAVE(KIT_OK);
    kit_log(k, KIT_WARNING, "SetDebugLogging: there is no such log category");
    LEAVE(KIT_WARNING);
}

/* ---- instantiation ---- */

static struct kit *instantiate(enum kit_interface interface, fmi3String name, fmi3String token,
                               fmi3String resource_path, fmi3Boolean logging_on, fmi3InstanceEnvironment environment,
                               fmi3LogMessageCallback log)
{
    return kit_new(&(struct kit_request){.version = 3,
                                         .interface = interface,
                                         .name = name,
                                         .guid = token,
                                         .resources = resource_path,
                                         .logging = logging_on && log,
                                         .log = log ? send_log : NULL,
                                         .environment = environment,
                                         .logger = (void (*)(void))log});
}

fmi3Instance fmi3InstantiateModelExchange(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                          fmi3Boolean visible, fmi3Boolean logging_on,
                                          fmi3InstanceEnvironment environment, fmi3LogMessageCallback log)
{
    (void)visible;
    return instantiate(KIT_ME, instance_name, token, resource_path, logging_on, environment, log);
}

static void intermediate_update(struct kit *k, struct kit_intermediate *update)
{
    fmi3Boolean requested = fmi3False;
    fmi3Float64 when = update->time;
    ((fmi3IntermediateUpdateCallback)k->update_callback)(k->environment, update->time, update->set_requested,
                                                         update->get_allowed, update->step_finished,
                                                         update->can_return_early, &requested, &when);
    update->return_requested = requested;
    update->return_time = when;
}

/* Notes the variables for the intermediate update; false if one cannot take part. */
static bool take_required(struct kit *k, const fmi3ValueReference vr[], size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct kit_slot *slot = vr[i] <= k->model->variable_count ? &k->slots[vr[i]] : NULL;
        if (!slot || !slot->var || !slot->var->intermediate) {
            kit_log(k, KIT_ERROR, "value reference %u cannot be used in the intermediate update", vr[i]);
            return false;
        }
        slot->required = true;
        k->intermediate_inputs = k->intermediate_inputs || slot->var->causality == KIT_INPUT;
    }
    return true;
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                         fmi3Boolean visible, fmi3Boolean logging_on, fmi3Boolean event_mode_used,
                                         fmi3Boolean early_return_allowed,
                                         const fmi3ValueReference required_intermediate[],
                                         size_t n_required_intermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback intermediate)
{
    (void)visible;
    struct kit *k = instantiate(KIT_CS, instance_name, token, resource_path, logging_on, environment, log);
    if (!k)
        return NULL;
    k->event_mode = event_mode_used;
    k->early_return = early_return_allowed && k->model->features & KIT_EARLY_RETURN;
    bool offered = k->model->features & KIT_INTERMEDIATE;
    if (intermediate && offered) {
        k->update_callback = (void (*)(void))intermediate;
        k->intermediate = intermediate_update;
    }
    const char *problem = NULL;
    if (event_mode_used && !(k->model->features & KIT_EVENT_MODE))
        problem = "this FMU has no event mode";
    else if (!event_mode_used && kit_has_clocks(k->model))
        problem = "this FMU has clocks, and needs event mode";
    else if (n_required_intermediate > 0 && !k->intermediate)
        problem = offered ? "there is no callback for the intermediate update" : "this FMU has no intermediate update";
    else if (!take_required(k, required_intermediate, n_required_intermediate))
        problem = "wrong requiredIntermediateVariables";
    if (!problem)
        return k;
    k->logging = true;
    kit_log(k, KIT_ERROR, "cannot instantiate: %s", problem);
    kit_free(k);
    return NULL;
}

static void clock_update(struct kit *k)
{
    ((fmi3ClockUpdateCallback)k->clock_update_callback)(k->environment);
}

fmi3Instance fmi3InstantiateScheduledExecution(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                               fmi3Boolean visible, fmi3Boolean logging_on,
                                               fmi3InstanceEnvironment environment, fmi3LogMessageCallback log,
                                               fmi3ClockUpdateCallback update, fmi3LockPreemptionCallback lock,
                                               fmi3UnlockPreemptionCallback unlock)
{
    (void)visible;
    struct kit *k = instantiate(KIT_SE, instance_name, token, resource_path, logging_on, environment, log);
    if (!k)
        return NULL;
    if (k->model->features & (KIT_SCHEDULED | KIT_ONLY_SCHEDULED)) {
        k->clock_update = update ? clock_update : NULL;
        k->clock_update_callback = (void (*)(void))update;
        k->lock = lock;
        k->unlock = unlock;
        return k;
    }
    k->logging = true;
    kit_log(k, KIT_ERROR, "this FMU has no Scheduled Execution");
    kit_free(k);
    return NULL;
}

void fmi3FreeInstance(fmi3Instance c)
{
    struct kit *k = c;
    if (k && k->mode == KIT_IN_FATAL)
        kit_refuse(k, "FreeInstance");
    if (k)
        (void)KIT_FAULT_CALL(k, "FreeInstance");
    kit_free(k);
}

/* ---- modes ---- */

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop)
{
    ENTER("EnterInitializationMode", INSTANTIATED);
    (void)tolerance_defined;
    (void)tolerance;
    if (stop_defined && !(stop >= start))
        LEAVE(kit_fail(k, KIT_ERROR, "stop time %.17g is before start time %.17g", stop, start));
    k->time = start;
    k->stop = stop_defined ? stop : INFINITY;
    k->mode = KIT_INITIALISATION;
    k->solved = KIT_FAULT_HABIT(k, "solve", "EnterInitializationMode");
    LEAVE(k->solved ? kit_refresh(k, KIT_STALE_START) : KIT_OK);
}

fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    ENTER("ExitInitializationMode", INITIALISATION);
    enum kit_status status = kit_exit_initialisation(k);
    if (status <= KIT_WARNING)
        k->mode = k->interface == KIT_SE                    ? KIT_CLOCK_ACTIVATION
                  : k->interface == KIT_ME || k->event_mode ? KIT_IN_EVENT
                                                            : KIT_STEP;
    LEAVE(status);
}

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
    ENTER("EnterEventMode", CONTINUOUS | STEP);
    if (k->interface == KIT_CS && !k->event_mode)
        LEAVE(kit_fail(k, KIT_ERROR, "EnterEventMode: instantiated without event mode"));
    kit_enter_event_mode(k);
    k->set_in_step = false;
    LEAVE(KIT_OK);
}

fmi3Status fmi3EvaluateDiscreteStates(fmi3Instance c)
{
    ENTER("EvaluateDiscreteStates", EVENT);
    LEAVE(KIT_OK); /* not offered: to be ignored */
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *states_changed,
                                    fmi3Boolean *next_event_defined, fmi3Float64 *next_event)
{
    ENTER("UpdateDiscreteStates", EVENT);
    struct kit_event event;
    enum kit_status status = kit_event_once(k, &event);
    *again = event.again;
    *terminate = event.terminate;
    *nominals_changed = event.nominals_changed;
    *states_changed = event.states_changed;
    if (k->rounds > 1 && KIT_FAULT_HABIT(k, "untold", "UpdateDiscreteStates"))
        LEAVE(status);
    *next_event_defined = isfinite(event.next_time);
    *next_event = isfinite(event.next_time) ? event.next_time : 0;
    LEAVE(status);
}

/* Event mode ends only after event() was content. */
static enum kit_status leave_event_mode(struct kit *k, enum kit_interface interface, enum kit_mode mode)
{
    if (k->interface != interface)
        return kit_fail(k, KIT_ERROR, "a call of the other interface");
    if (k->update_needed)
        return kit_fail(k, KIT_ERROR, "UpdateDiscreteStates has to be called before event mode is left");
    k->mode = mode;
    return KIT_OK;
}

fmi3Status fmi3EnterContinuousTimeMode(fmi3Instance c)
{
    ENTER("EnterContinuousTimeMode", EVENT);
    LEAVE(leave_event_mode(k, KIT_ME, KIT_CONTINUOUS_TIME));
}

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    ENTER("EnterStepMode", EVENT);
    enum kit_status status = leave_event_mode(k, KIT_CS, KIT_STEP);
    LEAVE(status == KIT_OK ? kit_note_indicators(k) : status);
}

static bool has_structural(const struct kit *k, bool tunable)
{
    for (size_t i = 0; i < k->model->variable_count; i++) {
        const struct kit_var *var = &k->model->variables[i];
        if (var->causality == KIT_STRUCTURAL && (!tunable || kit_var_variability(var) == KIT_TUNABLE))
            return true;
    }
    return false;
}

fmi3Status fmi3EnterConfigurationMode(fmi3Instance c)
{
    ENTER("EnterConfigurationMode", INSTANTIATED | EVENT | STEP | ACTIVATION);
    bool running = k->mode != KIT_INSTANTIATED;
    if (k->mode == KIT_IN_EVENT && k->interface == KIT_CS)
        return (fmi3Status)kit_refuse(k, "EnterConfigurationMode");
    if (!has_structural(k, running))
        LEAVE(kit_fail(k, KIT_ERROR, "EnterConfigurationMode: there are no%s structural parameters",
                       running ? " tunable" : ""));
    k->mode = running ? KIT_RECONFIGURATION : KIT_CONFIGURATION;
    LEAVE(KIT_OK);
}

fmi3Status fmi3ExitConfigurationMode(fmi3Instance c)
{
    ENTER("ExitConfigurationMode", KIT_MODE(KIT_CONFIGURATION) | KIT_MODE(KIT_RECONFIGURATION));
    enum kit_status status = kit_resize(k);
    if (status <= KIT_WARNING && k->mode == KIT_CONFIGURATION)
        k->mode = KIT_INSTANTIATED;
    else if (status <= KIT_WARNING)
        k->mode = k->interface == KIT_SE ? KIT_CLOCK_ACTIVATION : k->interface == KIT_ME ? KIT_IN_EVENT : KIT_STEP;
    LEAVE(status);
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
    ENTER("Terminate", EVENT | CONTINUOUS | STEP | ACTIVATION | KIT_MODE(KIT_RECONFIGURATION));
    k->mode = KIT_TERMINATED;
    LEAVE(KIT_OK);
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    ENTER("Reset", KIT_ANY_MODE);
    LEAVE(kit_start_again(k));
}

/* ---- Co-Simulation ---- */

/* The rules for a step that only event mode has. */
static enum kit_status check_events(struct kit *k, double t, double h)
{
    if (k->event_pending)
        return kit_fail(k, KIT_ERROR, "DoStep: the event at t = %.17g has to be handled in event mode first", k->time);
    if (!k->early_return && t + h > k->next_event + kit_time_tolerance(t, h))
        return kit_fail(k, KIT_ERROR, "DoStep: the step to %.17g passes the announced event at %.17g", t + h,
                        k->next_event);
    return KIT_OK;
}

fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state_before,
                      fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                      fmi3Float64 *last_time)
{
    struct kit *k = c;
    if (!k || k->mode != KIT_STEP)
        return k ? (fmi3Status)kit_refuse(k, "DoStep") : fmi3Error;
    *event_needed = *terminate = *early_return = fmi3False;
    *last_time = k->time;
    if (kit_check_step(k, t, h) != KIT_OK || (k->event_mode && check_events(k, t, h) != KIT_OK))
        return fmi3Error;
    if (KIT_FAULT_STAYS(k, t + h, no_set_state_before)) {
        *last_time = k->time;
        return fmi3OK;
    }
    double limit = INFINITY;
    enum kit_status planned = KIT_OK, fault = KIT_FAULT_STEP(k, t, h, &limit, &planned);
    if (planned == KIT_DISCARD && fault <= KIT_WARNING)
        fault = kit_fail(k, KIT_DISCARD, "fault: DoStep is discarded at t = %.17g", t);
    if (fault > KIT_WARNING)
        return (fmi3Status)fault;
    struct kit_outcome outcome;
    enum kit_status status = kit_do_step(k, t, h, k->early_return ? limit : INFINITY, &outcome);
    *event_needed = outcome.event;
    *terminate = outcome.terminate;
    *early_return = outcome.early && k->early_return;
    *last_time = k->time;
    LEAVE(status);
}

/* ---- Scheduled Execution ---- */

fmi3Status fmi3ActivateModelPartition(fmi3Instance c, fmi3ValueReference clock, fmi3Float64 t)
{
    ENTER("ActivateModelPartition", ACTIVATION);
    LEAVE(kit_activate(k, clock, t));
}

/* ---- Model Exchange ---- */

fmi3Status fmi3CompletedIntegratorStep(fmi3Instance c, fmi3Boolean no_set_state_before, fmi3Boolean *enter_event_mode,
                                       fmi3Boolean *terminate)
{
    ENTER("CompletedIntegratorStep", CONTINUOUS);
    (void)no_set_state_before;
    *terminate = fmi3False;
    LEAVE(kit_completed_step(k, enter_event_mode));
}

fmi3Status fmi3SetTime(fmi3Instance c, fmi3Float64 t)
{
    ENTER("SetTime", CONTINUOUS);
    LEAVE(kit_set_time(k, t));
}

fmi3Status fmi3SetContinuousStates(fmi3Instance c, const fmi3Float64 x[], size_t nx)
{
    ENTER("SetContinuousStates", CONTINUOUS);
    LEAVE(kit_set_states(k, x, nx));
}

#define ENTER_ME(call, modes)                                                                                          \
    ENTER(call, modes);                                                                                                \
    if (k->interface != KIT_ME)                                                                                        \
    return (fmi3Status)kit_fail(k, KIT_ERROR, call " belongs to Model Exchange")

fmi3Status fmi3GetContinuousStateDerivatives(fmi3Instance c, fmi3Float64 derivatives[], size_t nx)
{
    ENTER_ME("GetContinuousStateDerivatives", COMPUTED);
    enum kit_status status = kit_get_derivatives(k, derivatives, nx);
    KIT_FAULT_VALUES(k, "GetContinuousStateDerivatives", derivatives, nx);
    LEAVE(status);
}

fmi3Status fmi3GetEventIndicators(fmi3Instance c, fmi3Float64 indicators[], size_t ni)
{
    ENTER_ME("GetEventIndicators", COMPUTED);
    LEAVE(kit_get_indicators(k, indicators, ni));
}

fmi3Status fmi3GetContinuousStates(fmi3Instance c, fmi3Float64 x[], size_t nx)
{
    ENTER_ME("GetContinuousStates", COMPUTED);
    LEAVE(kit_get_states(k, x, nx));
}

fmi3Status fmi3GetNominalsOfContinuousStates(fmi3Instance c, fmi3Float64 nominals[], size_t nx)
{
    ENTER_ME("GetNominalsOfContinuousStates", COMPUTED);
    LEAVE(kit_get_nominals(k, nominals, nx));
}

fmi3Status fmi3GetNumberOfEventIndicators(fmi3Instance c, size_t *ni)
{
    ENTER_ME("GetNumberOfEventIndicators", COMPUTED | INSTANTIATED);
    *ni = k->nz;
    LEAVE(KIT_OK);
}

fmi3Status fmi3GetNumberOfContinuousStates(fmi3Instance c, size_t *nx)
{
    ENTER_ME("GetNumberOfContinuousStates", COMPUTED | INSTANTIATED);
    *nx = k->nx;
    LEAVE(KIT_OK);
}
