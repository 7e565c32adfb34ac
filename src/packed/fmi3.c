/* SPDX-License-Identifier: MIT */
/* A packed system by FMI 3.0, Co-Simulation, with event mode and early return. */
#include "fmi/api3.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "packed/instance.h"

#define EXPORT __attribute__((visibility("default")))
#define X(name, type, parameters, group) EXPORT type name parameters;
FMI3_FUNCTIONS(X)
#undef X

struct own {
    struct tutti_packed *packed;
    fmi3InstanceEnvironment environment;
    fmi3LogMessageCallback log;
    char *name;
    bool logging, event_mode_used;
    bool in_event_mode;
};

/* ---- messages ---- */

static void say(const struct own *own, fmi3Status status, const char *category, const char *text)
{
    if (own->log && (own->logging || status > fmi3Warning))
        own->log(own->environment, status, category, text);
}

static void write_log(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    const struct own *own = context;
    fmi3Status status = level == TUTTI_LOG_ERROR ? fmi3Error : level == TUTTI_LOG_WARNING ? fmi3Warning : fmi3OK;
    struct tutti_text whole = {0};
    tutti_text_printf(&whole, "%s%s%s", origin ? origin : "", origin ? ": " : "", text);
    say(own, status,
        status == fmi3OK        ? "logAll"
        : status == fmi3Warning ? "logStatusWarning"
                                : "logStatusError",
        whole.failed ? text : whole.text);
    tutti_text_fini(&whole);
}

static fmi3Status conclude(const struct own *own, enum tutti_err err)
{
    if (!err)
        return fmi3OK;
    say(own, fmi3Error, "logStatusError", tutti_err_message());
    return fmi3Error;
}

static fmi3Status refuse(const struct own *own, const char *function)
{
    return conclude(own, tutti_fail(TUTTI_ERR_UNSUPPORTED, "%s: a packed system does not offer it", function));
}

/* ---- life ---- */

const char *fmi3GetVersion(void)
{
    return fmi3Version;
}

static void release(struct own *own)
{
    tutti_packed_free(own->packed);
    free(own->name);
    free(own);
}

fmi3Instance fmi3InstantiateCoSimulation(fmi3String instance_name, fmi3String token, fmi3String resource_path,
                                         fmi3Boolean visible, fmi3Boolean logging_on, fmi3Boolean event_mode_used,
                                         fmi3Boolean early_return_allowed,
                                         const fmi3ValueReference required_intermediate[],
                                         size_t n_required_intermediate, fmi3InstanceEnvironment environment,
                                         fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback intermediate_update)
{
    (void)visible, (void)required_intermediate, (void)n_required_intermediate, (void)intermediate_update;
    struct own *own = calloc(1, sizeof *own);
    if (!own)
        return NULL;
    own->environment = environment;
    own->log = log;
    own->logging = logging_on;
    own->event_mode_used = event_mode_used;
    own->name = tutti_str_copy(instance_name ? instance_name : "");
    const struct tutti_log sink = {.level = TUTTI_LOG_WARNING, .write = write_log, .context = own};
    enum tutti_err err =
        !own->name       ? tutti_fail_memory()
        : !resource_path ? tutti_fail(TUTTI_ERR_ARGUMENT, "%s: the importer names no folder of resources", own->name)
                         : tutti_packed_make(&own->packed, own->name, token, resource_path, &sink);
    if (!err) {
        own->packed->ends_at_events = event_mode_used && early_return_allowed;
        return own;
    }
    (void)conclude(own, err);
    release(own);
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
    ((struct own *)c)->logging = logging_on;
    return fmi3OK;
}

fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                       fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop)
{
    struct own *own = c;
    struct tutti_packed *packed = own->packed;
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
    own->in_event_mode = own->event_mode_used;
    return conclude(own, tutti_packed_begin(own->packed));
}

fmi3Status fmi3Terminate(fmi3Instance c)
{
    struct own *own = c;
    own->packed->stage = TUTTI_PACKED_ENDED;
    return fmi3OK;
}

fmi3Status fmi3Reset(fmi3Instance c)
{
    struct own *own = c;
    tutti_packed_reset(own->packed);
    own->in_event_mode = false;
    return fmi3OK;
}

/* ---- events ---- */

fmi3Status fmi3EnterEventMode(fmi3Instance c)
{
    struct own *own = c;
    if (!own->event_mode_used || own->in_event_mode)
        return refuse(own, "fmi3EnterEventMode, in this state");
    own->in_event_mode = true;
    return fmi3OK;
}

fmi3Status fmi3UpdateDiscreteStates(fmi3Instance c, fmi3Boolean *again, fmi3Boolean *terminate,
                                    fmi3Boolean *nominals_changed, fmi3Boolean *states_changed,
                                    fmi3Boolean *next_event_defined, fmi3Float64 *next_event)
{
    struct own *own = c;
    if (!own->in_event_mode)
        return refuse(own, "fmi3UpdateDiscreteStates outside of event mode");
    enum tutti_err err = tutti_packed_cross(own->packed);
    if (err)
        return conclude(own, err);
    double next = tutti_packed_next_event(own->packed);
    *again = *nominals_changed = *states_changed = false;
    *terminate = own->packed->simulation->execution.rank.ended;
    *next_event_defined = isfinite(next);
    *next_event = isfinite(next) ? next : 0;
    return fmi3OK;
}

fmi3Status fmi3EnterStepMode(fmi3Instance c)
{
    struct own *own = c;
    if (!own->in_event_mode)
        return refuse(own, "fmi3EnterStepMode outside of event mode");
    own->in_event_mode = false;
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
    if (own->in_event_mode)
        return refuse(own, "fmi3DoStep in event mode");
    enum tutti_err err = tutti_packed_step(own->packed, t, h, &step);
    *event_needed = !err && step.event;
    *terminate = !err && step.ended;
    *early_return = !err && step.event;
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

/* All variables of a packed system are scalars. */
static enum tutti_err check_count(const struct own *own, size_t n, size_t n_values)
{
    return n == n_values ? TUTTI_OK
                         : tutti_fail(TUTTI_ERR_ARGUMENT, "%s: %zu variables, but %zu values", own->name, n, n_values);
}

static fmi3Status get_all(struct own *own, const fmi3ValueReference *vr, size_t n, enum tutti_type type, void *values,
                          size_t size, size_t n_values)
{
    enum tutti_err err = check_count(own, n, n_values);
    for (size_t i = 0; i < n && !err; i++)
        err = tutti_packed_get(own->packed, vr[i], type, (char *)values + i * size);
    return conclude(own, err);
}

static fmi3Status set_all(struct own *own, const fmi3ValueReference *vr, size_t n, enum tutti_type type,
                          const void *values, size_t size, size_t n_values)
{
    enum tutti_err err = check_count(own, n, n_values);
    for (size_t i = 0; i < n && !err; i++)
        err = tutti_packed_set(own->packed, vr[i], type, (const char *)values + i * size);
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

/* ---- states ---- */

fmi3Status fmi3GetFMUState(fmi3Instance c, fmi3FMUState *state)
{
    struct own *own = c;
    return conclude(own, tutti_packed_save(own->packed, state));
}

fmi3Status fmi3SetFMUState(fmi3Instance c, fmi3FMUState state)
{
    struct own *own = c;
    return conclude(own, tutti_packed_restore(own->packed, state));
}

fmi3Status fmi3FreeFMUState(fmi3Instance c, fmi3FMUState *state)
{
    struct own *own = c;
    tutti_packed_drop(own->packed, *state);
    *state = NULL;
    return fmi3OK;
}

fmi3Status fmi3SerializedFMUStateSize(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    struct own *own = c;
    return conclude(own, tutti_packed_serialised_size(own->packed, state, size));
}

fmi3Status fmi3SerializeFMUState(fmi3Instance c, fmi3FMUState state, fmi3Byte bytes[], size_t size)
{
    struct own *own = c;
    return conclude(own, tutti_packed_serialise(own->packed, state, bytes, size));
}

fmi3Status fmi3DeserializeFMUState(fmi3Instance c, const fmi3Byte bytes[], size_t size, fmi3FMUState *state)
{
    struct own *own = c;
    struct tutti_bytes all = {.data = (const void *)bytes, .size = size};
    return conclude(own, tutti_packed_deserialise(own->packed, all, state));
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
REFUSED(fmi3EnterContinuousTimeMode, (fmi3Instance c))
REFUSED(fmi3SetTime, (fmi3Instance c, fmi3Float64 t))
REFUSED(fmi3SetContinuousStates, (fmi3Instance c, const fmi3Float64 x[], size_t nx))
REFUSED(fmi3GetContinuousStateDerivatives, (fmi3Instance c, fmi3Float64 derivatives[], size_t nx))
REFUSED(fmi3GetEventIndicators, (fmi3Instance c, fmi3Float64 indicators[], size_t ni))
REFUSED(fmi3GetContinuousStates, (fmi3Instance c, fmi3Float64 x[], size_t nx))
REFUSED(fmi3GetNominalsOfContinuousStates, (fmi3Instance c, fmi3Float64 nominals[], size_t nx))
REFUSED(fmi3GetNumberOfEventIndicators, (fmi3Instance c, size_t *ni))
REFUSED(fmi3GetNumberOfContinuousStates, (fmi3Instance c, size_t *nx))
REFUSED(fmi3ActivateModelPartition, (fmi3Instance c, fmi3ValueReference clock, fmi3Float64 t))
