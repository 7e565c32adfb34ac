/* SPDX-License-Identifier: MIT */
/* FMI 1.0 for binding.h: Co-Simulation (stand-alone) and Model Exchange, which share little more than values. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/text.h"
#include "fmu/api1.h"
#include "fmu/fmi_call_instance.h"
#include "fmu/fmi_convert.h"

struct fmi1_functions {
#define X(name, ret, params, group) ret(*name) params;
    FMI1_FUNCTIONS(X)
#undef X
};

static const struct tt_symbol symbols[] = {
#define X(name, ret, params, group) {#name, group},
    FMI1_FUNCTIONS(X)
#undef X
};

static const struct fmi1_functions *fmi1_functions(const struct tt_instance *in)
{
    return (const struct fmi1_functions *)in->functions;
}

static void fmi1_log_message(fmiComponent component, fmiString name, fmiStatus status, fmiString category,
                             fmiString format, ...) TUTTI_PRINTF(5, 6);

/* FMI 1.0 names no environment: the message is of the instance that this thread is calling. */
static void fmi1_log_message(fmiComponent component, fmiString name, fmiStatus status, fmiString category,
                             fmiString format, ...)
{
    (void)component;
    (void)name;
    va_list args;
    va_start(args, format);
    tt_fmu_callbacks_format_message(NULL, (enum tt_fmi_status)status, category, format, args);
    va_end(args);
}

static const char *fmi1_get_version(const struct tt_library *library)
{
    const struct fmi1_functions *f = (const struct fmi1_functions *)library->functions;
    return f->fmiGetVersion ? f->fmiGetVersion() : NULL;
}

static enum tt_fmi_status fmi1_set(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   const void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(fmi1_functions, in, fmiSetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(fmi1_functions, in, fmiSetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(fmi1_functions, in, fmiSetString, references, count, values);
    default: break;
    }

    bool boolean = type == TUTTI_TYPE_BOOLEAN;
    const void *own = boolean ? (void *)tt_fmi_convert_to_char(in, values, count)
                              : (void *)tt_fmi_convert_to_int(in, type, values, count);
    if (!own)
        return TUTTI_STATUS_MEMORY;
    return boolean ? CALL_FMU(fmi1_functions, in, fmiSetBoolean, references, count, own)
                   : CALL_FMU(fmi1_functions, in, fmiSetInteger, references, count, own);
}

static enum tt_fmi_status fmi1_get_converted(struct tt_instance *in, enum tt_type type, const uint32_t *references,
                                             size_t count, void *values)
{
    void *own = tt_instance_scratch(in, count * sizeof(int));
    if (!own)
        return TUTTI_STATUS_MEMORY;
    bool boolean = type == TUTTI_TYPE_BOOLEAN;
    enum tt_fmi_status status = boolean ? CALL_FMU(fmi1_functions, in, fmiGetBoolean, references, count, own)
                                        : CALL_FMU(fmi1_functions, in, fmiGetInteger, references, count, own);
    if (status <= TUTTI_STATUS_WARNING && boolean)
        tt_fmi_convert_from_char(own, values, count);
    else if (status <= TUTTI_STATUS_WARNING)
        tt_fmi_convert_from_int(type, own, values, count);
    return status;
}

static enum tt_fmi_status fmi1_get(struct tt_instance *in, enum tt_type type, const uint32_t *references, size_t count,
                                   void *values, size_t value_count)
{
    (void)value_count;
    switch (type) {
    case TUTTI_TYPE_FLOAT64: return CALL_FMU(fmi1_functions, in, fmiGetReal, references, count, values);
    case TUTTI_TYPE_INT32: return CALL_FMU(fmi1_functions, in, fmiGetInteger, references, count, values);
    case TUTTI_TYPE_STRING: return CALL_FMU(fmi1_functions, in, fmiGetString, references, count, values);
    default: return fmi1_get_converted(in, type, references, count, values);
    }
}

static const char *fmi1_type_word(enum tt_type type)
{
    return tt_fmi2_binding.type_word(type);
}

/* One call initialises an FMI 1.0 FMU; it stands at exit-initialisation, when all inputs are set. */
static enum tt_fmi_status fmi1_enter_initialization(struct tt_instance *in)
{
    (void)in;
    return TUTTI_STATUS_OK;
}

/* ---- Co-Simulation ---- */

/* fmuLocation is the folder that the archive was unpacked into: the parent of resources/. */
static void *fmi1_instantiate_slave(struct tt_instance *in)
{
    fmiCallbackFunctions callbacks = {fmi1_log_message, calloc, free, NULL};
    struct tt_text uri = {0};
    tt_fmi_convert_path_to_uri(&uri, in->library->folder);
    void *component = uri.failed
                          ? NULL
                          : fmi1_functions(in)->fmiInstantiateSlave(
                                in->options.name, in->library->desc->token ? in->library->desc->token : "", uri.text,
                                "application/x-fmu-sharedlibrary", 0, fmiFalse, fmiFalse, callbacks, in->logging_on);
    tt_text_fini(&uri);
    return component;
}

static void fmi1_free_slave(struct tt_instance *in)
{
    fmi1_functions(in)->fmiFreeSlaveInstance(in->component);
}

static enum tt_fmi_status fmi1_initialize_slave(struct tt_instance *in)
{
    return CALL_FMU(fmi1_functions, in, fmiInitializeSlave, in->setup.start, in->setup.has_stop, in->setup.stop);
}

static enum tt_fmi_status fmi1_set_input_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                     const int32_t *orders, const double *values)
{
    return CALL_FMU(fmi1_functions, in, fmiSetRealInputDerivatives, references, count, orders, values);
}

static enum tt_fmi_status fmi1_get_output_derivatives(struct tt_instance *in, const uint32_t *references, size_t count,
                                                      const int32_t *orders, double *values)
{
    return CALL_FMU(fmi1_functions, in, fmiGetRealOutputDerivatives, references, count, orders, values);
}

/* The FMU computes on its own thread, although it was not asked to: wait. */
static fmiStatus fmi1_wait_for_step(struct tt_instance *in)
{
    fmiStatus status = fmiPending;
    useconds_t delay = 0;
    while (status == fmiPending) {
        if (!fmi1_functions(in)->fmiGetStatus ||
            fmi1_functions(in)->fmiGetStatus(in->component, fmiDoStepStatus, &status) > fmiWarning)
            return fmiError;
        usleep(delay < 1000 ? delay++ : 1000);
    }
    return status;
}

static enum tt_fmi_status fmi1_do_step(struct tt_instance *in, double t, double h, bool no_going_back,
                                       struct tt_fmi_step *step)
{
    bool repeats = in->repeats;
    (void)step;
    (void)no_going_back;
    in->repeats = false;
    in->steps++;
    return (enum tt_fmi_status)fmi1_functions(in)->fmiDoStep(in->component, t, h, repeats ? fmiFalse : fmiTrue);
}

static enum tt_fmi_status fmi1_after_step(struct tt_instance *in, double t, enum tt_fmi_status status,
                                          struct tt_fmi_step *step)
{
    if (status == TUTTI_STATUS_PENDING)
        status = (enum tt_fmi_status)fmi1_wait_for_step(in);
    if (status != TUTTI_STATUS_DISCARD)
        return status;
    fmiReal reached = t;
    if (!fmi1_functions(in)->fmiGetRealStatus ||
        fmi1_functions(in)->fmiGetRealStatus(in->component, fmiLastSuccessfulTime, &reached) > fmiWarning)
        reached = t;
    step->reached = reached;
    return status;
}

static enum tt_fmi_status fmi1_terminate_slave(struct tt_instance *in)
{
    return CALL_FMU(fmi1_functions, in, fmiTerminateSlave);
}

static enum tt_fmi_status fmi1_reset_slave(struct tt_instance *in)
{
    return CALL_FMU(fmi1_functions, in, fmiResetSlave);
}

static const char *const slave_names[TUTTI_CALL_COUNT] = {
    [TUTTI_CALL_INSTANTIATE] = "fmiInstantiateSlave",
    [TUTTI_CALL_FREE] = "fmiFreeSlaveInstance",
    [TUTTI_CALL_ENTER_INITIALIZATION] = "fmiInitializeSlave",
    [TUTTI_CALL_EXIT_INITIALIZATION] = "fmiInitializeSlave",
    [TUTTI_CALL_SET] = "fmiSet",
    [TUTTI_CALL_GET] = "fmiGet",
    [TUTTI_CALL_SET_INPUT_DERIVATIVES] = "fmiSetRealInputDerivatives",
    [TUTTI_CALL_GET_OUTPUT_DERIVATIVES] = "fmiGetRealOutputDerivatives",
    [TUTTI_CALL_DO_STEP] = "fmiDoStep",
    [TUTTI_CALL_TERMINATE] = "fmiTerminateSlave",
    [TUTTI_CALL_RESET] = "fmiResetSlave",
};

static const struct tt_optional slave_optional[] = {
    {"canInterpolateInputs", TUTTI_CAN_INPUT_DERIVATIVES, FMI1_CS_INPUT_DERIVATIVES},
    {"maxOutputDerivativeOrder", TUTTI_CAN_OUTPUT_DERIVATIVES, FMI1_CS_OUTPUT_DERIVATIVES},
    {NULL, 0, 0},
};

/* ---- Model Exchange ---- */

static void *fmi1_instantiate_model(struct tt_instance *in)
{
    fmiModelCallbackFunctions callbacks = {fmi1_log_message, calloc, free};
    return fmi1_functions(in)->fmiInstantiateModel(
        in->options.name, in->library->desc->token ? in->library->desc->token : "", callbacks, in->logging_on);
}

static void fmi1_free_model(struct tt_instance *in)
{
    fmi1_functions(in)->fmiFreeModelInstance(in->component);
}

static enum tt_fmi_status fmi1_set_start_time(struct tt_instance *in)
{
    return CALL_FMU(fmi1_functions, in, fmiSetTime, in->setup.start);
}

/* New value references mean other states: their values and nominals are new with them. */
static struct tt_discrete_update fmi1_discrete_of(const fmiEventInfo *info)
{
    bool other_states = info->stateValueReferencesChanged != fmiFalse;
    return (struct tt_discrete_update){
        .again = info->iterationConverged == fmiFalse,
        .terminate = info->terminateSimulation != fmiFalse,
        .nominals_changed = other_states,
        .states_changed = other_states || info->stateValuesChanged != fmiFalse,
        .has_next_event = info->upcomingTimeEvent != fmiFalse,
        .next_event = info->nextEventTime,
    };
}

/* No FMU writes this into a Boolean. */
enum { UNTOLD = 0x55 };

static void fmi1_set_if_unreported(fmiBoolean *value, fmiBoolean instead)
{
    if (*value == UNTOLD)
        *value = instead;
}

/* The initialisation includes the first update of the discrete states; its result is kept for the first caller of an
 * update. If it is empty, as with some FMUs, the first update calls the FMU again. */
static enum tt_fmi_status fmi1_initialize_model(struct tt_instance *in)
{
    fmiEventInfo info = {UNTOLD, UNTOLD, UNTOLD, UNTOLD, UNTOLD, 0};
    enum tt_fmi_status status =
        CALL_FMU(fmi1_functions, in, fmiInitialize, in->setup.has_tolerance, in->setup.tolerance, &info);
    in->initial.outdated = info.iterationConverged == UNTOLD && info.upcomingTimeEvent == UNTOLD &&
                           info.stateValuesChanged == UNTOLD && info.terminateSimulation == UNTOLD;
    fmi1_set_if_unreported(&info.iterationConverged, fmiTrue);
    fmi1_set_if_unreported(&info.stateValueReferencesChanged, fmiFalse);
    fmi1_set_if_unreported(&info.stateValuesChanged, fmiFalse);
    fmi1_set_if_unreported(&info.terminateSimulation, fmiFalse);
    fmi1_set_if_unreported(&info.upcomingTimeEvent, fmiFalse);
    in->initial.discrete = fmi1_discrete_of(&info);
    in->initial.pending = true;
    return status;
}

static enum tt_fmi_status fmi1_set_in_model(struct tt_instance *in, enum tt_type type, const uint32_t *references,
                                            size_t count, const void *values, size_t value_count)
{
    in->initial.outdated = true;
    return fmi1_set(in, type, references, count, values, value_count);
}

/* FMI 1.0 has no modes. */
static enum tt_fmi_status fmi1_enter_event(struct tt_instance *in)
{
    (void)in;
    return TUTTI_STATUS_OK;
}

static enum tt_fmi_status fmi1_enter_continuous(struct tt_instance *in)
{
    in->initial.pending = false;
    return TUTTI_STATUS_OK;
}

/* The FMU iterates internally (no intermediate results): one call suffices. */
static enum tt_fmi_status fmi1_update_discrete(struct tt_instance *in, struct tt_discrete_update *discrete)
{
    bool pending = in->initial.pending;
    struct tt_discrete_update first = pending ? in->initial.discrete : *discrete;
    in->initial.pending = false;
    *discrete = first;
    if (pending && !in->initial.outdated)
        return TUTTI_STATUS_OK;
    fmiEventInfo info = {
        .iterationConverged = fmiTrue,
        .upcomingTimeEvent = first.has_next_event,
        .nextEventTime = first.next_event,
    };
    enum tt_fmi_status status = CALL_FMU(fmi1_functions, in, fmiEventUpdate, fmiFalse, &info);
    *discrete = fmi1_discrete_of(&info);
    discrete->terminate = discrete->terminate || first.terminate;
    discrete->nominals_changed = discrete->nominals_changed || first.nominals_changed;
    discrete->states_changed = discrete->states_changed || first.states_changed;
    return status;
}

static enum tt_fmi_status fmi1_completed_step(struct tt_instance *in, bool no_going_back, bool *event, bool *terminate)
{
    (void)no_going_back;
    (void)terminate;
    fmiBoolean event_update = fmiFalse;
    enum tt_fmi_status status = CALL_FMU(fmi1_functions, in, fmiCompletedIntegratorStep, &event_update);
    *event = event_update != fmiFalse;
    return status;
}

/* The functions of every right-hand side; no library comes this far without them. */
static enum tt_fmi_status fmi1_set_time(struct tt_instance *in, double t)
{
    return (enum tt_fmi_status)fmi1_functions(in)->fmiSetTime(in->component, t);
}

static enum tt_fmi_status fmi1_set_states(struct tt_instance *in, const double *states, size_t count)
{
    return (enum tt_fmi_status)fmi1_functions(in)->fmiSetContinuousStates(in->component, states, count);
}

static enum tt_fmi_status fmi1_get_derivatives(struct tt_instance *in, double *derivatives, size_t count)
{
    return (enum tt_fmi_status)fmi1_functions(in)->fmiGetDerivatives(in->component, derivatives, count);
}

static enum tt_fmi_status fmi1_get_indicators(struct tt_instance *in, double *indicators, size_t count)
{
    return (enum tt_fmi_status)fmi1_functions(in)->fmiGetEventIndicators(in->component, indicators, count);
}

static enum tt_fmi_status fmi1_get_states(struct tt_instance *in, double *states, size_t count)
{
    return CALL_FMU(fmi1_functions, in, fmiGetContinuousStates, states, count);
}

static enum tt_fmi_status fmi1_get_nominals(struct tt_instance *in, double *nominals, size_t count)
{
    return CALL_FMU(fmi1_functions, in, fmiGetNominalContinuousStates, nominals, count);
}

static enum tt_fmi_status fmi1_get_state_references(struct tt_instance *in, uint32_t *references, size_t count)
{
    return CALL_FMU(fmi1_functions, in, fmiGetStateValueReferences, references, count);
}

static enum tt_fmi_status fmi1_terminate_model(struct tt_instance *in)
{
    return CALL_FMU(fmi1_functions, in, fmiTerminate);
}

static const char *const model_names[TUTTI_CALL_COUNT] = {
    [TUTTI_CALL_INSTANTIATE] = "fmiInstantiateModel",
    [TUTTI_CALL_FREE] = "fmiFreeModelInstance",
    [TUTTI_CALL_SETUP_EXPERIMENT] = "fmiSetTime",
    [TUTTI_CALL_ENTER_INITIALIZATION] = "fmiInitialize",
    [TUTTI_CALL_EXIT_INITIALIZATION] = "fmiInitialize",
    [TUTTI_CALL_UPDATE_DISCRETE] = "fmiEventUpdate",
    [TUTTI_CALL_SET] = "fmiSet",
    [TUTTI_CALL_GET] = "fmiGet",
    [TUTTI_CALL_SET_TIME] = "fmiSetTime",
    [TUTTI_CALL_SET_STATES] = "fmiSetContinuousStates",
    [TUTTI_CALL_GET_STATES] = "fmiGetContinuousStates",
    [TUTTI_CALL_GET_DERIVATIVES] = "fmiGetDerivatives",
    [TUTTI_CALL_GET_INDICATORS] = "fmiGetEventIndicators",
    [TUTTI_CALL_GET_NOMINALS] = "fmiGetNominalContinuousStates",
    [TUTTI_CALL_GET_STATE_REFERENCES] = "fmiGetStateValueReferences",
    [TUTTI_CALL_COMPLETED_STEP] = "fmiCompletedIntegratorStep",
    [TUTTI_CALL_TERMINATE] = "fmiTerminate",
};

static const struct tt_optional model_optional[] = {{NULL, 0, 0}};

#define COMMON                                                                                                         \
    .fmi = 1, .version = "1.0", .symbols = symbols, .symbol_count = sizeof symbols / sizeof *symbols,                  \
    .prefixed = true, .type_word = fmi1_type_word,                                                                     \
    .types = 1u << TUTTI_TYPE_FLOAT64 | 1u << TUTTI_TYPE_INT32 | 1u << TUTTI_TYPE_BOOLEAN | 1u << TUTTI_TYPE_STRING |  \
             1u << TUTTI_TYPE_ENUMERATION,                                                                             \
    .get_version = fmi1_get_version, .enter_initialization = fmi1_enter_initialization, .get = fmi1_get

const struct tt_binding tt_fmi1_cs_binding = {
    COMMON,
    .required = {[TUTTI_CS] = FMI1_COMMON | FMI1_CS},
    .optional = slave_optional,
    .call_names = {[TUTTI_CS] = slave_names},
    .instantiate = fmi1_instantiate_slave,
    .free = fmi1_free_slave,
    .exit_initialization = fmi1_initialize_slave,
    .set = fmi1_set,
    .set_input_derivatives = fmi1_set_input_derivatives,
    .get_output_derivatives = fmi1_get_output_derivatives,
    .do_step = fmi1_do_step,
    .after_step = fmi1_after_step,
    .terminate = fmi1_terminate_slave,
    .reset = fmi1_reset_slave,
};

const struct tt_binding tt_fmi1_me_binding = {
    COMMON,
    .required = {[TUTTI_ME] = FMI1_COMMON | FMI1_ME},
    .optional = model_optional,
    .call_names = {[TUTTI_ME] = model_names},
    .instantiate = fmi1_instantiate_model,
    .free = fmi1_free_model,
    .setup_experiment = fmi1_set_start_time,
    .exit_initialization = fmi1_initialize_model,
    .set = fmi1_set_in_model,
    .enter_event = fmi1_enter_event,
    .update_discrete = fmi1_update_discrete,
    .terminate = fmi1_terminate_model,
    .set_time = fmi1_set_time,
    .set_states = fmi1_set_states,
    .get_states = fmi1_get_states,
    .get_derivatives = fmi1_get_derivatives,
    .get_indicators = fmi1_get_indicators,
    .get_nominals = fmi1_get_nominals,
    .get_state_references = fmi1_get_state_references,
    .completed_step = fmi1_completed_step,
    .enter_continuous = fmi1_enter_continuous,
};
