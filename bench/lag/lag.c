/* SPDX-License-Identifier: MIT */
/* The least FMU: a first-order lag, x' = (u - x) / T, y = x, by Euler's method, as FMI 2.0 and 3.0. No kit around it: what
 * it costs to call is what a master has to be measured against. */
#include <stdlib.h>

#include "fmu/api2.h"
#include "fmu/api3.h"

#define EXPORT __attribute__((visibility("default")))

enum { U, Y, T, COUNT };

struct lag {
    double values[COUNT];
    double time;
    int running;
};

static struct lag *lag_new(void)
{
    struct lag *lag = calloc(1, sizeof *lag);
    if (lag) {
        lag->values[Y] = 1;
        lag->values[T] = 1;
    }
    return lag;
}

static int set(struct lag *lag, const unsigned *references, size_t count, const double *values)
{
    if (!lag)
        return fmi2Error;
    for (size_t i = 0; i < count; i++) {
        if (references[i] >= COUNT)
            return fmi2Error;
        lag->values[references[i]] = values[i];
    }
    return fmi2OK;
}

static int get(const struct lag *lag, const unsigned *references, size_t count, double *values)
{
    if (!lag)
        return fmi2Error;
    for (size_t i = 0; i < count; i++) {
        if (references[i] >= COUNT)
            return fmi2Error;
        values[i] = lag->values[references[i]];
    }
    return fmi2OK;
}

static int step(struct lag *lag, double t, double h)
{
    if (!lag || !lag->running || h <= 0)
        return fmi2Error;
    lag->values[Y] += h * (lag->values[U] - lag->values[Y]) / lag->values[T];
    lag->time = t + h;
    return fmi2OK;
}

static int run(struct lag *lag, int running)
{
    lag->running = running;
    return fmi2OK;
}

/* ---- FMI 2.0 ---- */

EXPORT const char *fmi2GetTypesPlatform(void)
{
    return "default";
}

EXPORT const char *fmi2GetVersion(void)
{
    return "2.0";
}

EXPORT fmi2Component fmi2Instantiate(fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
                                     const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logging)
{
    (void)name, (void)type, (void)guid, (void)resources, (void)functions, (void)visible, (void)logging;
    return lag_new();
}

EXPORT void fmi2FreeInstance(fmi2Component c)
{
    free(c);
}

EXPORT fmi2Status fmi2SetDebugLogging(fmi2Component c, fmi2Boolean on, size_t n, const fmi2String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi2OK;
}

EXPORT fmi2Status fmi2SetupExperiment(fmi2Component c, fmi2Boolean tolerance_defined, fmi2Real tolerance,
                                      fmi2Real start, fmi2Boolean stop_defined, fmi2Real stop)
{
    (void)tolerance_defined, (void)tolerance, (void)stop_defined, (void)stop;
    ((struct lag *)c)->time = start;
    return fmi2OK;
}

EXPORT fmi2Status fmi2EnterInitializationMode(fmi2Component c)
{
    return (fmi2Status)run(c, 0);
}

EXPORT fmi2Status fmi2ExitInitializationMode(fmi2Component c)
{
    return (fmi2Status)run(c, 1);
}

EXPORT fmi2Status fmi2Terminate(fmi2Component c)
{
    return (fmi2Status)run(c, 0);
}

EXPORT fmi2Status fmi2GetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, fmi2Real values[])
{
    return (fmi2Status)get(c, vr, n, values);
}

EXPORT fmi2Status fmi2SetReal(fmi2Component c, const fmi2ValueReference vr[], size_t n, const fmi2Real values[])
{
    return (fmi2Status)set(c, vr, n, values);
}

EXPORT fmi2Status fmi2DoStep(fmi2Component c, fmi2Real t, fmi2Real h, fmi2Boolean no_set_state_before)
{
    (void)no_set_state_before;
    return (fmi2Status)step(c, t, h);
}

/* ---- FMI 3.0 ---- */

EXPORT const char *fmi3GetVersion(void)
{
    return "3.0";
}

EXPORT fmi3Instance fmi3InstantiateCoSimulation(fmi3String name, fmi3String token, fmi3String resources,
                                                fmi3Boolean visible, fmi3Boolean logging, fmi3Boolean event_mode,
                                                fmi3Boolean early_return, const fmi3ValueReference required[],
                                                size_t required_count, fmi3InstanceEnvironment environment,
                                                fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback update)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging, (void)event_mode, (void)early_return;
    (void)required, (void)required_count, (void)environment, (void)log, (void)update;
    return lag_new();
}

EXPORT void fmi3FreeInstance(fmi3Instance c)
{
    free(c);
}

EXPORT fmi3Status fmi3SetDebugLogging(fmi3Instance c, fmi3Boolean on, size_t n, const fmi3String categories[])
{
    (void)c, (void)on, (void)n, (void)categories;
    return fmi3OK;
}

EXPORT fmi3Status fmi3EnterInitializationMode(fmi3Instance c, fmi3Boolean tolerance_defined, fmi3Float64 tolerance,
                                              fmi3Float64 start, fmi3Boolean stop_defined, fmi3Float64 stop)
{
    (void)tolerance_defined, (void)tolerance, (void)stop_defined, (void)stop;
    ((struct lag *)c)->time = start;
    return fmi3OK;
}

EXPORT fmi3Status fmi3ExitInitializationMode(fmi3Instance c)
{
    return (fmi3Status)run(c, 1);
}

EXPORT fmi3Status fmi3Terminate(fmi3Instance c)
{
    return (fmi3Status)run(c, 0);
}

EXPORT fmi3Status fmi3GetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, fmi3Float64 values[],
                                 size_t value_count)
{
    (void)value_count;
    return (fmi3Status)get(c, vr, n, values);
}

EXPORT fmi3Status fmi3SetFloat64(fmi3Instance c, const fmi3ValueReference vr[], size_t n, const fmi3Float64 values[],
                                 size_t value_count)
{
    (void)value_count;
    return (fmi3Status)set(c, vr, n, values);
}

EXPORT fmi3Status fmi3DoStep(fmi3Instance c, fmi3Float64 t, fmi3Float64 h, fmi3Boolean no_set_state_before,
                             fmi3Boolean *event_needed, fmi3Boolean *terminate, fmi3Boolean *early_return,
                             fmi3Float64 *last_time)
{
    (void)no_set_state_before;
    *event_needed = *terminate = *early_return = false;
    *last_time = t + h;
    return (fmi3Status)step(c, t, h);
}
