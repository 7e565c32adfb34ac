/* SPDX-License-Identifier: MIT */
#include "exchange.h"

#include <float.h>

struct exchange me;
struct history seen;

void set_time(double t)
{
    CALL(fmiSetTime(me.c, t), fmi2SetTime(me.c, t), fmi3SetTime(me.c, t));
}

void set_states(const double x[])
{
    CALL(fmiSetContinuousStates(me.c, x, me.nx), fmi2SetContinuousStates(me.c, x, me.nx),
         fmi3SetContinuousStates(me.c, x, me.nx));
}

void get_states(double x[])
{
    CALL(fmiGetContinuousStates(me.c, x, me.nx), fmi2GetContinuousStates(me.c, x, me.nx),
         fmi3GetContinuousStates(me.c, x, me.nx));
}

void get_derivatives(double dx[])
{
    CALL(fmiGetDerivatives(me.c, dx, me.nx), fmi2GetDerivatives(me.c, dx, me.nx),
         fmi3GetContinuousStateDerivatives(me.c, dx, me.nx));
}

void get_nominals(double nominals[])
{
    CALL(fmiGetNominalContinuousStates(me.c, nominals, me.nx), fmi2GetNominalsOfContinuousStates(me.c, nominals, me.nx),
         fmi3GetNominalsOfContinuousStates(me.c, nominals, me.nx));
}

void get_indicators(double z[])
{
    CALL(fmiGetEventIndicators(me.c, z, me.nz), fmi2GetEventIndicators(me.c, z, me.nz),
         fmi3GetEventIndicators(me.c, z, me.nz));
}

double get(unsigned vr)
{
    double value = NAN;
    CALL(fmiGetReal(me.c, &vr, 1, &value), fmi2GetReal(me.c, &vr, 1, &value), fmi3GetFloat64(me.c, &vr, 1, &value, 1));
    return value;
}

int get_integer(unsigned vr)
{
    int value = -1;
    CALL(fmiGetInteger(me.c, &vr, 1, &value), fmi2GetInteger(me.c, &vr, 1, &value),
         fmi3GetInt32(me.c, &vr, 1, &value, 1));
    return value;
}

void set(unsigned vr, double value)
{
    CALL(fmiSetReal(me.c, &vr, 1, &value), fmi2SetReal(me.c, &vr, 1, &value), fmi3SetFloat64(me.c, &vr, 1, &value, 1));
}

struct event iterate(void)
{
    struct event event = {.next = INFINITY};
    bool again = true;
    while (again) {
        if (me.version == 1) {
            fmiEventInfo info;
            assert_int_equal(me.f1.fmiEventUpdate(me.c, fmiTrue, &info), fmiOK);
            again = !info.iterationConverged;
            event.states_changed |= info.stateValuesChanged;
            event.terminate |= info.terminateSimulation;
            event.next = info.upcomingTimeEvent ? info.nextEventTime : INFINITY;
        } else if (me.version == 2) {
            fmi2EventInfo info;
            assert_int_equal(me.f2.fmi2NewDiscreteStates(me.c, &info), fmi2OK);
            again = info.newDiscreteStatesNeeded;
            event.states_changed |= info.valuesOfContinuousStatesChanged;
            event.nominals_changed |= info.nominalsOfContinuousStatesChanged;
            event.terminate |= info.terminateSimulation;
            event.next = info.nextEventTimeDefined ? info.nextEventTime : INFINITY;
        } else {
            bool states, nominals, terminate, defined;
            double next;
            assert_int_equal(
                me.f3.fmi3UpdateDiscreteStates(me.c, &again, &terminate, &nominals, &states, &defined, &next), fmi3OK);
            event.states_changed |= states;
            event.nominals_changed |= nominals;
            event.terminate |= terminate;
            event.next = defined ? next : INFINITY;
        }
    }
    if (me.version > 1)
        CALL(fmiTerminate(me.c), fmi2EnterContinuousTimeMode(me.c), fmi3EnterContinuousTimeMode(me.c));
    return event;
}

struct event handle(void)
{
    if (me.version > 1)
        CALL(fmiTerminate(me.c), fmi2EnterEventMode(me.c), fmi3EnterEventMode(me.c));
    return iterate();
}

bool completed(void)
{
    char event1 = 1;
    int event2 = 1, terminate2 = 1;
    bool event3 = true, terminate3 = true;
    CALL(fmiCompletedIntegratorStep(me.c, &event1), fmi2CompletedIntegratorStep(me.c, fmi2True, &event2, &terminate2),
         fmi3CompletedIntegratorStep(me.c, true, &event3, &terminate3));
    assert_true(me.version == 1 || (me.version == 2 ? !terminate2 : !terminate3));
    return me.version == 1 ? event1 : me.version == 2 ? event2 : event3;
}

void open_model(int version, const char *path, const char *name, size_t nx, size_t nz)
{
    me.version = version;
    me.library = library_open(path);
    me.nx = nx;
    me.nz = nz;
    seen.count = 0;
    if (version == 1) {
        load1(&me.f1, &me.library, name);
        me.c = me.f1.fmiInstantiateModel("test", me.library.guid, (fmiModelCallbackFunctions){log1, calloc, free},
                                         fmiTrue);
    } else if (version == 2) {
        load2(&me.f2, &me.library);
        me.c =
            me.f2.fmi2Instantiate("test", fmi2ModelExchange, me.library.guid, NULL, &callbacks2, fmi2False, fmi2True);
    } else {
        load3(&me.f3, &me.library);
        me.c = me.f3.fmi3InstantiateModelExchange("test", me.library.guid, NULL, false, true, NULL, log3);
    }
    assert_non_null(me.c);
}

void close_model(void)
{
    if (me.version == 1)
        me.f1.fmiFreeModelInstance(me.c);
    else if (me.version == 2)
        me.f2.fmi2FreeInstance(me.c);
    else
        me.f3.fmi3FreeInstance(me.c);
    library_close(&me.library);
}

double initialise(double t)
{
    struct event event = {.next = INFINITY};
    if (me.version == 1) {
        fmiEventInfo info;
        set_time(t);
        assert_int_equal(me.f1.fmiInitialize(me.c, fmiFalse, 0, &info), fmiOK);
        assert_true(info.iterationConverged);
        return info.upcomingTimeEvent ? info.nextEventTime : INFINITY;
    }
    if (me.version == 2) {
        assert_int_equal(me.f2.fmi2SetupExperiment(me.c, fmi2False, 0, t, fmi2False, 0), fmi2OK);
        assert_int_equal(me.f2.fmi2EnterInitializationMode(me.c), fmi2OK);
        assert_int_equal(me.f2.fmi2ExitInitializationMode(me.c), fmi2OK);
    } else {
        size_t n;
        assert_int_equal(me.f3.fmi3EnterInitializationMode(me.c, false, 0, t, false, 0), fmi3OK);
        assert_int_equal(me.f3.fmi3ExitInitializationMode(me.c), fmi3OK);
        assert_int_equal(me.f3.fmi3GetNumberOfContinuousStates(me.c, &n), fmi3OK);
        assert_int_equal(n, me.nx);
        assert_int_equal(me.f3.fmi3GetNumberOfEventIndicators(me.c, &n), fmi3OK);
        assert_int_equal(n, me.nz);
    }
    event = iterate();
    return event.next;
}

/* ---- the solver ---- */

/* One step of RK4 from x0 at t0, to t; leaves time and states in the model. */
static void rk4(double t0, const double x0[], double t, double x[])
{
    double h = t - t0, k[4][MAX_STATES], at[MAX_STATES];
    const double part[] = {0, 0.5, 0.5, 1};
    for (int s = 0; s < 4; s++) {
        for (size_t i = 0; i < me.nx; i++)
            at[i] = x0[i] + (s > 0 ? part[s] * h * k[s - 1][i] : 0);
        set_time(s < 3 ? t0 + part[s] * h : t);
        set_states(at);
        get_derivatives(k[s]);
    }
    for (size_t i = 0; i < me.nx; i++)
        x[i] = x0[i] + h / 6 * (k[0][i] + 2 * k[1][i] + 2 * k[2][i] + k[3][i]);
    set_time(t);
    set_states(x);
}

static bool crossed(const double z0[], const double z[])
{
    for (size_t i = 0; i < me.nz; i++)
        if ((z0[i] > 0) != (z[i] > 0))
            return true;
    return false;
}

/* Halves the interval until the crossing is enclosed; ends just after it. */
static double locate(double t0, const double x0[], const double z0[], double t, double x[])
{
    double low = t0, z[MAX_STATES];
    while (t - low > 2 * DBL_EPSILON * t) {
        double middle = low + (t - low) / 2;
        rk4(t0, x0, middle, x);
        get_indicators(z);
        *(crossed(z0, z) ? &t : &low) = middle;
    }
    rk4(t0, x0, t, x);
    return t;
}

void simulate(double stop, double h)
{
    double t = 0, x[MAX_STATES], x0[MAX_STATES], z0[MAX_STATES], z[MAX_STATES];
    double next = initialise(0);
    bool terminate = false;
    get_states(x);
    while (t < stop && !terminate) {
        double t0 = t;
        memcpy(x0, x, sizeof x);
        get_indicators(z0);
        t = fmin(fmin(t0 + h, next), stop);
        rk4(t0, x0, t, x);
        get_indicators(z);
        bool event = crossed(z0, z);
        if (event)
            t = locate(t0, x0, z0, t, x);
        bool by_step = completed();
        if (!event && !by_step && t < next)
            continue;
        struct event answer = handle();
        assert_true(seen.count < MAX_EVENTS);
        seen.time[seen.count] = t;
        seen.states_changed[seen.count] = answer.states_changed;
        seen.nominals_changed[seen.count] = answer.nominals_changed;
        seen.by_step[seen.count++] = by_step;
        next = answer.next;
        terminate = answer.terminate;
        get_states(x);
        get_indicators(z);
        for (size_t i = 0; i < me.nz; i++)
            assert_true(z[i] != 0); /* FMI: an indicator is not zero after an event */
    }
    seen.end = t;
    memcpy(seen.x, x, sizeof x);
}
