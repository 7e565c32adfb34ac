/* SPDX-License-Identifier: MIT */
/* The kit through FMI 2.0: integrator, events, saved states, derivatives, forbidden calls. */
#include "harness.h"

static const double G = 9.81, E = 0.7;

static double get(struct fmi2 *f, fmi2Component c, unsigned vr)
{
    double value = NAN;
    assert_int_equal(f->fmi2GetReal(c, &vr, 1, &value), fmi2OK);
    return value;
}

static void set(struct fmi2 *f, fmi2Component c, unsigned vr, double value)
{
    assert_int_equal(f->fmi2SetReal(c, &vr, 1, &value), fmi2OK);
}

/* Error of x(1) with n steps. */
static double decay_error(struct fmi2 *f, const struct library *library, int n)
{
    fmi2Component c = start2(f, library, fmi2CoSimulation);
    for (int i = 0; i < n; i++)
        assert_int_equal(f->fmi2DoStep(c, (double)i / n, 1.0 / n, fmi2True), fmi2OK);
    double error = fabs(get(f, c, 1) - exp(-1));
    f->fmi2FreeInstance(c);
    return error;
}

static void rk4_has_order_4(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Dahlquist_fmi2);
    load2(&f, &library);
    for (int n = 8; n <= 32; n *= 2) {
        double order = log2(decay_error(&f, &library, n) / decay_error(&f, &library, 2 * n));
        assert_true(order > 3.9 && order < 4.1);
    }
    library_close(&library);
}

static void micro_steps_do_not_depend_on_the_step(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_VanDerPol_fmi2);
    load2(&f, &library);
    fmi2Component a = start2(&f, &library, fmi2CoSimulation), b = start2(&f, &library, fmi2CoSimulation);
    for (int i = 0; i < 16; i++)
        assert_int_equal(f.fmi2DoStep(a, i * 0.125, 0.125, fmi2True), fmi2OK);
    assert_int_equal(f.fmi2DoStep(b, 0, 2, fmi2True), fmi2OK);
    assert_near(get(&f, a, 1), get(&f, b, 1), 1e-7);
    assert_true(get(&f, a, 0) == 2.0 && get(&f, b, 0) == 2.0);
    f.fmi2FreeInstance(a);
    f.fmi2FreeInstance(b);
    library_close(&library);
}

/* Between two bounces the ball is on a parabola: the time of the last bounce follows from height and speed. */
static void bounces_are_where_they_belong(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_BouncingBall_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    double bounce = sqrt(2 / G), v = E * sqrt(2 * G);
    int count = 0, seen = 0;
    const unsigned vr = 8;
    for (int i = 0; i < 300; i++) {
        double t = (i + 1) * 0.01;
        assert_int_equal(f.fmi2DoStep(c, i * 0.01, 0.01, fmi2True), fmi2OK);
        assert_int_equal(f.fmi2GetInteger(c, &vr, 1, &seen), fmi2OK);
        if (seen > count && count > 0) {
            bounce += 2 * v / G;
            v *= E;
        }
        count = seen;
        if (count == 0 || v < 0.1)
            continue;
        double dt = t - bounce;
        assert_near(get(&f, c, 1), v * dt - G / 2 * dt * dt, 1e-12);
        assert_near(get(&f, c, 3), v - G * dt, 1e-11);
    }
    assert_int_equal(count, 11);
    assert_near(get(&f, c, 3), 0, 0);
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void a_restored_state_gives_the_same_bits(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_BouncingBall_fmi2);
    load2(&f, &library);
    fmi2Component a = start2(&f, &library, fmi2CoSimulation), b = start2(&f, &library, fmi2CoSimulation);
    assert_int_equal(f.fmi2DoStep(a, 0, 1, fmi2False), fmi2OK);
    fmi2FMUstate saved = NULL;
    assert_int_equal(f.fmi2GetFMUstate(a, &saved), fmi2OK);
    assert_int_equal(f.fmi2DoStep(a, 1, 1.5, fmi2False), fmi2OK);
    double x[2], y[2];
    const unsigned vr[2] = {1, 3};
    assert_int_equal(f.fmi2GetReal(a, vr, 2, x), fmi2OK);

    assert_int_equal(f.fmi2SetFMUstate(a, saved), fmi2OK);
    assert_int_equal(f.fmi2DoStep(a, 1, 1.5, fmi2False), fmi2OK);
    assert_int_equal(f.fmi2GetReal(a, vr, 2, y), fmi2OK);
    assert_memory_equal(x, y, sizeof x);

    size_t size = 0;
    assert_int_equal(f.fmi2SerializedFMUstateSize(a, saved, &size), fmi2OK);
    char *bytes = malloc(size);
    assert_int_equal(f.fmi2SerializeFMUstate(a, saved, bytes, size), fmi2OK);
    fmi2FMUstate copy = NULL;
    assert_int_equal(f.fmi2DeSerializeFMUstate(b, bytes, size, &copy), fmi2OK);
    assert_int_equal(f.fmi2SetFMUstate(b, copy), fmi2OK);
    assert_int_equal(f.fmi2DoStep(b, 1, 1.5, fmi2False), fmi2OK);
    assert_int_equal(f.fmi2GetReal(b, vr, 2, y), fmi2OK);
    assert_memory_equal(x, y, sizeof x);

    for (size_t i = 0; i < size; i++) { /* wherever a bit flips */
        fmi2FMUstate damaged = NULL;
        bytes[i] ^= 16;
        assert_refused(f.fmi2DeSerializeFMUstate(b, bytes, size, &damaged), "damaged");
        assert_null(damaged);
        bytes[i] ^= 16;
    }
    for (size_t i = 0; i < size; i++)
        assert_refused(f.fmi2DeSerializeFMUstate(b, bytes, i, &(fmi2FMUstate){NULL}), "damaged");
    assert_int_equal(f.fmi2SetFMUstate(b, copy), fmi2OK); /* leads out of the error */
    assert_int_equal(f.fmi2GetReal(b, vr, 2, y), fmi2OK);
    fmi2Component other = start2(&f, &library, fmi2ModelExchange);
    assert_refused(f.fmi2SetFMUstate(other, copy), "another interface");
    f.fmi2FreeInstance(other);
    f.fmi2FreeFMUstate(a, &saved);
    f.fmi2FreeFMUstate(b, &copy);
    assert_null(saved);
    free(bytes);
    f.fmi2FreeInstance(a);
    f.fmi2FreeInstance(b);
    library_close(&library);
}

static void strings_are_part_of_the_state(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Feedthrough_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    const unsigned in = 28, out = 29;
    const char *text = "before";
    fmi2FMUstate saved = NULL;
    assert_int_equal(f.fmi2SetString(c, &in, 1, &text), fmi2OK);
    assert_int_equal(f.fmi2GetFMUstate(c, &saved), fmi2OK);
    text = "a longer text, after";
    assert_int_equal(f.fmi2SetString(c, &in, 1, &text), fmi2OK);
    assert_int_equal(f.fmi2DoStep(c, 0, 0.1, fmi2False), fmi2OK);
    assert_int_equal(f.fmi2GetString(c, &out, 1, &text), fmi2OK);
    assert_string_equal(text, "a longer text, after");
    assert_int_equal(f.fmi2SetFMUstate(c, saved), fmi2OK);
    assert_int_equal(f.fmi2DoStep(c, 0, 0.1, fmi2False), fmi2OK);
    assert_int_equal(f.fmi2GetString(c, &out, 1, &text), fmi2OK);
    assert_string_equal(text, "before");
    f.fmi2FreeFMUstate(c, &saved);
    f.fmi2FreeInstance(c);
    library_close(&library);
}

/* x' = (u - x) / T with u = t^2 / 2 + t: with its derivatives the input is exact, so the error is that of RK4. */
static void inputs_follow_their_derivatives(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Tracker_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    const double T = 0.5, H = 0.1;
    const unsigned u[2] = {1, 1}, y[2] = {4, 4};
    const int orders[2] = {1, 2};
    double derivatives[2];
    for (int i = 0; i < 20; i++) {
        double t = i * H;
        set(&f, c, 1, t * t / 2 + t);
        assert_int_equal(f.fmi2SetRealInputDerivatives(c, u, 2, orders, (double[]){t + 1, 1}), fmi2OK);
        assert_int_equal(f.fmi2DoStep(c, t, H, fmi2True), fmi2OK);
        double s = t + H, a = 0.5, b = 1 - T, k = -T * b; /* x = a t^2 + b t + k (1 - exp(-t / T)) */
        double x = a * s * s + b * s + k * (1 - exp(-s / T));
        assert_near(get(&f, c, 4), x, 1e-8);
        assert_near(get(&f, c, 5), s * s / 2 + s - x, 1e-8);
        assert_int_equal(f.fmi2GetRealOutputDerivatives(c, y, 2, orders, derivatives), fmi2OK);
        double first = 2 * a * s + b + k / T * exp(-s / T), second = 2 * a - k / T / T * exp(-s / T);
        assert_near(derivatives[0], first, 1e-7);
        assert_near(derivatives[1], second, 1e-7);
    }
    assert_refused(f.fmi2GetRealOutputDerivatives(c, y, 1, (int[]){3}, derivatives), "order");
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void directional_derivatives_are_those_of_the_equations(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_VanDerPol_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    assert_int_equal(f.fmi2DoStep(c, 0, 1, fmi2True), fmi2OK);
    double x0 = get(&f, c, 1), x1 = get(&f, c, 3), sensitivity[3];
    const unsigned unknowns[] = {2, 4, 3}, knowns[] = {1, 3};
    const double seed[] = {2, 3};
    assert_int_equal(f.fmi2GetDirectionalDerivative(c, unknowns, 3, knowns, 2, seed, sensitivity), fmi2OK);
    assert_near(sensitivity[0], 3, 0);
    assert_near(sensitivity[1], 2 * (-2 * x0 * x1 - 1) + 3 * (1 - x0 * x0), 1e-14);
    assert_near(sensitivity[2], 3, 0);
    assert_refused(f.fmi2GetDirectionalDerivative(c, unknowns, 1, unknowns, 1, seed, sensitivity), "known");
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void the_stair_ends_itself(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Stair_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    const unsigned vr = 1;
    int counter = -1, terminated = 0;
    double time = 0;
    for (int i = 0; i < 99; i++) {
        assert_int_equal(f.fmi2DoStep(c, i * 0.1, 0.1, fmi2True), fmi2OK);
        assert_int_equal(f.fmi2GetInteger(c, &vr, 1, &counter), fmi2OK);
        assert_int_equal(counter, (int)floor(i * 0.1 + 0.1));
    }
    assert_int_equal(f.fmi2DoStep(c, 99 * 0.1, 0.2, fmi2True), fmi2Discard);
    assert_int_equal(f.fmi2GetBooleanStatus(c, fmi2Terminated, &terminated), fmi2OK);
    assert_int_equal(f.fmi2GetRealStatus(c, fmi2LastSuccessfulTime, &time), fmi2OK);
    assert_true(terminated && time == 10.0);
    assert_refused(f.fmi2DoStep(c, 10, 0.1, fmi2True), "step failed");
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void model_exchange_agrees_with_cosimulation(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Heater_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2ModelExchange);
    fmi2EventInfo info;
    assert_refused(f.fmi2EnterContinuousTimeMode(c), "NewDiscreteStates");
    f.fmi2FreeInstance(c);
    c = start2(&f, &library, fmi2ModelExchange);
    assert_int_equal(f.fmi2NewDiscreteStates(c, &info), fmi2OK);
    assert_int_equal(f.fmi2EnterContinuousTimeMode(c), fmi2OK);
    double x, dx, z, nominal;
    assert_int_equal(f.fmi2GetNominalsOfContinuousStates(c, &nominal, 1), fmi2OK);
    assert_near(nominal, 300, 0);
    /* heating up from 293.15 K to 294.65 K: T - T_end = (T_0 - T_end) exp(-t / (R C)) */
    double switching = -2000 * log((294.65 - 313.15) / (293.15 - 313.15));
    int n = 1000;
    assert_int_equal(f.fmi2GetContinuousStates(c, &x, 1), fmi2OK);
    for (int i = 1; i <= n; i++) {
        assert_int_equal(f.fmi2GetDerivatives(c, &dx, 1), fmi2OK);
        double h = switching / n, slope = dx - h / 2 * dx / 2000; /* two terms of the series are plenty here */
        x += h * slope;
        assert_int_equal(f.fmi2SetTime(c, i * h), fmi2OK);
        assert_int_equal(f.fmi2SetContinuousStates(c, &x, 1), fmi2OK);
        int event, end;
        assert_int_equal(f.fmi2CompletedIntegratorStep(c, fmi2True, &event, &end), fmi2OK);
        assert_int_equal(f.fmi2GetEventIndicators(c, &z, 1), fmi2OK);
    }
    assert_near(x, 294.65, 1e-6);
    x = 294.65 + 1e-9;
    assert_int_equal(f.fmi2SetContinuousStates(c, &x, 1), fmi2OK);
    assert_int_equal(f.fmi2GetEventIndicators(c, &z, 1), fmi2OK);
    assert_true(z <= 0);
    assert_int_equal(f.fmi2EnterEventMode(c), fmi2OK);
    assert_int_equal(f.fmi2NewDiscreteStates(c, &info), fmi2OK);
    assert_int_equal(f.fmi2EnterContinuousTimeMode(c), fmi2OK);
    assert_int_equal(f.fmi2GetDerivatives(c, &dx, 1), fmi2OK);
    assert_near(dx, -(294.65 - 273.15) / 2000, 1e-9);
    f.fmi2FreeInstance(c);
    library_close(&library);
}

/* A fresh instance in step mode for each forbidden call: an Error leaves the instance useless. */
#define FORBIDDEN(call, words)                                                                                         \
    do {                                                                                                               \
        fmi2Component c = start2(&f, &library, fmi2CoSimulation);                                                      \
        assert_refused(call, words);                                                                                   \
        assert_refused(f.fmi2DoStep(c, 0, 0.1, fmi2True), "error");                                                    \
        assert_int_equal(f.fmi2Reset(c), fmi2OK);                                                                      \
        f.fmi2FreeInstance(c);                                                                                         \
    } while (0)

static void forbidden_calls_are_refused(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_BouncingBall_fmi2);
    load2(&f, &library);
    double value = 1;
    const unsigned h = 1, constant = 7, g = 5, nothing = 99, integer = 8;
    FORBIDDEN(f.fmi2DoStep(c, 0.5, 0.1, fmi2True), "communication point");
    FORBIDDEN(f.fmi2DoStep(c, 0, 0, fmi2True), "positive");
    FORBIDDEN(f.fmi2DoStep(c, 0, -1, fmi2True), "positive");
    FORBIDDEN(f.fmi2DoStep(c, 0, NAN, fmi2True), "positive");
    FORBIDDEN(f.fmi2GetReal(c, &nothing, 1, &value), "no variable");
    FORBIDDEN(f.fmi2GetReal(c, &integer, 1, &value), "another type");
    FORBIDDEN(f.fmi2SetReal(c, &constant, 1, &value), "must not be set");
    FORBIDDEN(f.fmi2SetReal(c, &g, 1, &value), "must not be set");
    FORBIDDEN(f.fmi2SetReal(c, &h, 1, &value), "must not be set");
    FORBIDDEN(f.fmi2EnterInitializationMode(c), "step mode");
    FORBIDDEN(f.fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0), "step mode");
    FORBIDDEN(f.fmi2EnterEventMode(c), "step mode");
    FORBIDDEN(f.fmi2GetDerivatives(c, &value, 1), "Model Exchange");
    FORBIDDEN(f.fmi2CancelStep(c), "step mode");
    FORBIDDEN(f.fmi2SetRealInputDerivatives(c, &h, 1, (int[]){1}, &value), "not offer");
    library_close(&library);
}

static void get_after_set_needs_a_step(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Tracker_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    set(&f, c, 1, 1);
    assert_int_equal(f.fmi2DoStep(c, 0, 0.1, fmi2True), fmi2OK);
    get(&f, c, 4);
    set(&f, c, 1, 1);
    const unsigned y = 4;
    double value;
    assert_refused(f.fmi2GetReal(c, &y, 1, &value), "do-step");
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void steps_stop_at_the_stop_time(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Dahlquist_fmi2);
    load2(&f, &library);
    fmi2Component c = f.fmi2Instantiate("x", fmi2CoSimulation, library.guid, NULL, &callbacks2, fmi2False, fmi2True);
    assert_refused(f.fmi2EnterInitializationMode(c), "SetupExperiment");
    assert_int_equal(f.fmi2Reset(c), fmi2OK);
    assert_int_equal(f.fmi2SetupExperiment(c, fmi2False, 0, 2, fmi2True, 2.5), fmi2OK);
    assert_int_equal(f.fmi2EnterInitializationMode(c), fmi2OK);
    assert_int_equal(f.fmi2ExitInitializationMode(c), fmi2OK);
    assert_int_equal(f.fmi2DoStep(c, 2, 0.5, fmi2True), fmi2OK);
    assert_refused(f.fmi2DoStep(c, 2.5, 0.1, fmi2True), "stop time");
    f.fmi2FreeInstance(c);
    assert_null(f.fmi2Instantiate("x", fmi2CoSimulation, "{wrong}", NULL, &callbacks2, fmi2False, fmi2False));
    assert_non_null(strstr(last_message, "GUID"));
    library_close(&library);
}

static void one_instance_and_one_step_size(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Once_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    assert_null(f.fmi2Instantiate("x", fmi2CoSimulation, library.guid, NULL, &callbacks2, fmi2False, fmi2True));
    assert_int_equal(f.fmi2DoStep(c, 0, 0.1, fmi2True), fmi2OK);
    assert_refused(f.fmi2DoStep(c, 0.1, 0.05, fmi2True), "step size must stay");
    f.fmi2FreeInstance(c);
    c = start2(&f, &library, fmi2CoSimulation);
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void resources_are_found(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Resource_fmi2);
    load2(&f, &library);
    char uri[600];
    snprintf(uri, sizeof uri, "file://%s", library.resources);
    fmi2Component c = f.fmi2Instantiate("x", fmi2CoSimulation, library.guid, uri, &callbacks2, fmi2False, fmi2True);
    assert_int_equal(f.fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0), fmi2OK);
    assert_int_equal(f.fmi2EnterInitializationMode(c), fmi2OK);
    assert_near(get(&f, c, 1), 42.25, 0);
    f.fmi2FreeInstance(c);
    c = f.fmi2Instantiate("x", fmi2CoSimulation, library.guid, "file:///no%20where", &callbacks2, fmi2False, fmi2True);
    assert_int_equal(f.fmi2SetupExperiment(c, fmi2False, 0, 0, fmi2False, 0), fmi2OK);
    assert_int_equal(f.fmi2EnterInitializationMode(c), fmi2OK);
    assert_refused(f.fmi2ExitInitializationMode(c), "initialise()");
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void logging_can_be_switched(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_BouncingBall_fmi2);
    load2(&f, &library);
    fmi2Component c = start2(&f, &library, fmi2CoSimulation);
    const char *events = "logEvents", *unknown = "none";
    assert_int_equal(f.fmi2SetDebugLogging(c, fmi2False, 0, NULL), fmi2OK);
    message_count = 0;
    assert_int_equal(f.fmi2DoStep(c, 0, 0.5, fmi2True), fmi2OK);
    assert_int_equal(message_count, 0);
    assert_int_equal(f.fmi2SetDebugLogging(c, fmi2True, 1, &events), fmi2OK);
    assert_int_equal(f.fmi2DoStep(c, 0.5, 0.6, fmi2True), fmi2OK);
    assert_int_equal(message_count, 1);
    assert_int_equal(f.fmi2SetDebugLogging(c, fmi2True, 1, &unknown), fmi2Warning);
    f.fmi2FreeInstance(c);
    library_close(&library);
}

static void a_lacking_library_lacks(void **state)
{
    (void)state;
    struct fmi2 f;
    struct library library = library_open(LIB_Claiming_fmi2);
    load2(&f, &library);
    assert_true(!f.fmi2GetFMUstate && !f.fmi2DeSerializeFMUstate && !f.fmi2GetDirectionalDerivative);
    assert_true(!f.fmi2SetRealInputDerivatives && f.fmi2DoStep && f.fmi2Reset);
    library_close(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rk4_has_order_4),
        cmocka_unit_test(micro_steps_do_not_depend_on_the_step),
        cmocka_unit_test(bounces_are_where_they_belong),
        cmocka_unit_test(a_restored_state_gives_the_same_bits),
        cmocka_unit_test(strings_are_part_of_the_state),
        cmocka_unit_test(inputs_follow_their_derivatives),
        cmocka_unit_test(directional_derivatives_are_those_of_the_equations),
        cmocka_unit_test(the_stair_ends_itself),
        cmocka_unit_test(model_exchange_agrees_with_cosimulation),
        cmocka_unit_test(forbidden_calls_are_refused),
        cmocka_unit_test(get_after_set_needs_a_step),
        cmocka_unit_test(steps_stop_at_the_stop_time),
        cmocka_unit_test(one_instance_and_one_step_size),
        cmocka_unit_test(resources_are_found),
        cmocka_unit_test(logging_can_be_switched),
        cmocka_unit_test(a_lacking_library_lacks),
    };
    return cmocka_run_group_tests_name("kit: FMI 2.0", tests, NULL, NULL);
}
