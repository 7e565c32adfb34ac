/* SPDX-License-Identifier: MIT */
/* The kit through FMI 1.0, Co-Simulation and Model Exchange. */
#include "harness.h"

static const fmiCallbackFunctions callbacks = {log1, calloc, free, NULL};

static fmiComponent start(struct fmi1 *f, const struct library *library)
{
    fmiComponent c = f->fmiInstantiateSlave("test", library->guid, "file:///tmp", "application/x-fmu-sharedlibrary", 0,
                                            fmiFalse, fmiFalse, callbacks, fmiTrue);
    assert_non_null(c);
    assert_int_equal(f->fmiInitializeSlave(c, 0, fmiFalse, 0), fmiOK);
    return c;
}

static double get(struct fmi1 *f, fmiComponent c, unsigned vr)
{
    double value = NAN;
    assert_int_equal(f->fmiGetReal(c, &vr, 1, &value), fmiOK);
    return value;
}

static void cosimulation_steps(void **state)
{
    (void)state;
    struct fmi1 f;
    struct library library = library_open(LIB_Dahlquist_fmi1cs);
    load1(&f, &library, "Dahlquist");
    assert_string_equal(f.fmiGetVersion(), "1.0");
    assert_string_equal(f.fmiGetTypesPlatform(), "standard32");
    assert_null(f.fmiInstantiateModel);
    fmiComponent c = f.fmiInstantiateSlave("test", library.guid, "", "", 0, fmiFalse, fmiFalse, callbacks, fmiTrue);
    assert_int_equal(f.fmiSetReal(c, (unsigned[]){3}, 1, (double[]){2}), fmiOK);
    assert_refused(f.fmiDoStep(c, 0, 0.1, fmiTrue), "instantiated");
    assert_int_equal(f.fmiResetSlave(c), fmiOK);
    assert_int_equal(f.fmiSetReal(c, (unsigned[]){3}, 1, (double[]){2}), fmiOK);
    assert_int_equal(f.fmiInitializeSlave(c, 0, fmiTrue, 1), fmiOK);
    for (int i = 0; i < 10; i++)
        assert_int_equal(f.fmiDoStep(c, i * 0.1, 0.1, fmiTrue), fmiOK);
    assert_near(get(&f, c, 1), exp(-2), 1e-5);
    assert_refused(f.fmiDoStep(c, 1, 0.1, fmiTrue), "stop time");
    assert_int_equal(f.fmiTerminateSlave(c), fmiOK);
    f.fmiFreeSlaveInstance(c);
    library_close(&library);
}

/* new_step = false takes the last step back, but keeps inputs that were set since. */
static void steps_can_be_repeated(void **state)
{
    (void)state;
    struct fmi1 f;
    struct library library = library_open(LIB_Tracker_fmi1cs);
    load1(&f, &library, "Tracker");
    fmiComponent a = start(&f, &library), b = start(&f, &library);
    const unsigned u = 1;
    assert_int_equal(f.fmiSetReal(a, &u, 1, (double[]){5}), fmiOK);
    assert_int_equal(f.fmiDoStep(a, 0, 0.5, fmiTrue), fmiOK);
    assert_int_equal(f.fmiSetReal(a, &u, 1, (double[]){1}), fmiOK);
    assert_int_equal(f.fmiDoStep(a, 0, 0.25, fmiFalse), fmiOK);
    assert_int_equal(f.fmiSetReal(b, &u, 1, (double[]){1}), fmiOK);
    assert_int_equal(f.fmiDoStep(b, 0, 0.25, fmiTrue), fmiOK);
    assert_true(get(&f, a, 4) == get(&f, b, 4));
    double derivative;
    assert_int_equal(f.fmiGetRealOutputDerivatives(b, (unsigned[]){4}, 1, (int[]){1}, &derivative), fmiOK);
    assert_near(derivative, (1 - get(&f, b, 4)) / 0.5, 1e-12);
    f.fmiFreeSlaveInstance(a);
    f.fmiFreeSlaveInstance(b);
    library_close(&library);
}

static void all_types_come_back(void **state)
{
    (void)state;
    struct fmi1 f;
    struct library library = library_open(LIB_Feedthrough_fmi1cs);
    load1(&f, &library, "Feedthrough");
    fmiComponent c = start(&f, &library);
    assert_int_equal(f.fmiSetReal(c, (unsigned[]){1}, 1, (double[]){0.25}), fmiOK);
    assert_int_equal(f.fmiSetInteger(c, (unsigned[]){18, 31}, 2, (int[]){-5, 2}), fmiOK);
    assert_int_equal(f.fmiSetBoolean(c, (unsigned[]){26}, 1, (char[]){1}), fmiOK);
    assert_int_equal(f.fmiSetString(c, (unsigned[]){28}, 1, (const char *[]){"text"}), fmiOK);
    assert_int_equal(f.fmiDoStep(c, 0, 1, fmiTrue), fmiOK);
    int integers[2];
    char boolean;
    const char *string;
    assert_near(get(&f, c, 2), 0.25, 0);
    assert_int_equal(f.fmiGetInteger(c, (unsigned[]){19, 32}, 2, integers), fmiOK);
    assert_int_equal(f.fmiGetBoolean(c, (unsigned[]){27}, 1, &boolean), fmiOK);
    assert_int_equal(f.fmiGetString(c, (unsigned[]){29}, 1, &string), fmiOK);
    assert_true(integers[0] == -5 && integers[1] == 2 && boolean == 1);
    assert_string_equal(string, "text");
    double value;
    assert_refused(f.fmiGetReal(c, (unsigned[]){8}, 1, &value), "no variable"); /* Float32 is of FMI 3.0 */
    f.fmiFreeSlaveInstance(c);
    library_close(&library);
}

static void the_stair_ends_itself(void **state)
{
    (void)state;
    struct fmi1 f;
    struct library library = library_open(LIB_Stair_fmi1cs);
    load1(&f, &library, "Stair");
    fmiComponent c = start(&f, &library);
    double time;
    assert_int_equal(f.fmiDoStep(c, 0, 12, fmiTrue), fmiDiscard);
    assert_int_equal(f.fmiGetRealStatus(c, fmiLastSuccessfulTime, &time), fmiOK);
    assert_near(time, 10, 0);
    f.fmiFreeSlaveInstance(c);
    library_close(&library);
}

static void model_exchange_bounces(void **state)
{
    (void)state;
    struct fmi1 f;
    struct library library = library_open(LIB_BouncingBall_fmi1me);
    load1(&f, &library, "BouncingBall");
    assert_string_equal(f.fmiGetModelTypesPlatform(), "standard32");
    assert_null(f.fmiDoStep);
    fmiModelCallbackFunctions functions = {log1, calloc, free};
    fmiComponent c = f.fmiInstantiateModel("test", library.guid, functions, fmiTrue);
    fmiEventInfo info;
    double x[2], z, dx[2];
    unsigned vr[2];
    assert_int_equal(f.fmiSetTime(c, 0), fmiOK);
    assert_int_equal(f.fmiInitialize(c, fmiFalse, 0, &info), fmiOK);
    assert_true(info.iterationConverged && !info.upcomingTimeEvent);
    assert_int_equal(f.fmiGetStateValueReferences(c, vr, 2), fmiOK);
    assert_true(vr[0] == 1 && vr[1] == 3);
    assert_int_equal(f.fmiGetContinuousStates(c, x, 2), fmiOK);
    assert_int_equal(f.fmiGetDerivatives(c, dx, 2), fmiOK);
    assert_true(x[0] == 1 && x[1] == 0 && dx[1] == -9.81);
    x[0] = -1e-12;
    x[1] = -4;
    char update;
    assert_int_equal(f.fmiSetTime(c, 0.45), fmiOK);
    assert_int_equal(f.fmiSetContinuousStates(c, x, 2), fmiOK);
    assert_int_equal(f.fmiCompletedIntegratorStep(c, &update), fmiOK);
    assert_int_equal(f.fmiGetEventIndicators(c, &z, 1), fmiOK);
    assert_true(z <= 0 && !update);
    assert_int_equal(f.fmiEventUpdate(c, fmiFalse, &info), fmiOK);
    assert_true(info.stateValuesChanged && info.iterationConverged);
    assert_int_equal(f.fmiGetContinuousStates(c, x, 2), fmiOK);
    assert_near(x[1], 2.8, 1e-15);
    assert_int_equal(f.fmiTerminate(c), fmiOK);
    f.fmiFreeModelInstance(c);
    library_close(&library);
}

static void bounces_are_where_they_belong(void **state)
{
    (void)state;
    struct fmi1 f;
    struct library library = library_open(LIB_BouncingBall_fmi1cs);
    load1(&f, &library, "BouncingBall");
    fmiComponent c = start(&f, &library);
    double t1 = sqrt(2 / 9.81), v = 0.7 * sqrt(2 * 9.81), dt = 0.6 - t1;
    assert_int_equal(f.fmiDoStep(c, 0, 0.6, fmiTrue), fmiOK);
    assert_near(get(&f, c, 1), v * dt - 9.81 / 2 * dt * dt, 1e-12);
    f.fmiFreeSlaveInstance(c);
    library_close(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cosimulation_steps),     cmocka_unit_test(steps_can_be_repeated),
        cmocka_unit_test(all_types_come_back),    cmocka_unit_test(the_stair_ends_itself),
        cmocka_unit_test(model_exchange_bounces), cmocka_unit_test(bounces_are_where_they_belong),
    };
    return cmocka_run_group_tests_name("kit: FMI 1.0", tests, NULL, NULL);
}
