/* SPDX-License-Identifier: MIT */
/* What every FMI binding must do, run on the kit's FMUs of one version (VERSION, the argument: "1cs", "2" or "3"). */
#include "test.h"

#include "fmu/fmi_call_instance.h"
#include "conformance.h"
#include "instance.h"

#define VERSION conformance_arguments[1]
static int fmi;

static int clear_faults(void **state)
{
    (void)state;
    return unsetenv("KIT_FAULT");
}

static void test_life(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "Dahlquist", VERSION);
    assert_int_equal(live.fmu->desc->fmi, fmi);
    assert_ok(live_instantiate(&live));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_INSTANTIATED);
    live_initialise(&live, 0, 1);
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_STEP);
    assert_same_double(get_real(&live, "x"), 1);
    for (int n = 0; n < 1000; n++) {
        struct tt_fmi_step step;
        assert_ok(do_step(&live, n * 1e-3, 1e-3, &step));
        assert_same_double(step.reached, n * 1e-3 + 1e-3);
        assert_false(step.discarded || step.early || step.event || step.terminate);
    }
    assert_near(get_real(&live, "x"), exp(-1), 1e-10);
    assert_ok(tt_instance_terminate(live.in));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_TERMINATED);
    assert_near(get_real(&live, "x"), exp(-1), 1e-10);
    live_end(&live);
}

/* Forbidden calls never reach the FMU: the instance continues unaffected. */
static void test_forbidden_calls(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    live_load(&live, "Tracker", VERSION);
    assert_ok(live_instantiate(&live));
    assert_fails(do_step(&live, 0, 0.1, &step), TUTTI_ERR_STATE, "do a step in the state \"instantiated\"");
    assert_fails(tt_instance_exit_initialization(live.in), TUTTI_ERR_STATE, "exit initialisation");
    assert_fails(tt_instance_terminate(live.in), TUTTI_ERR_STATE, "terminate");
    live_initialise(&live, 0, 10);
    struct tt_experiment_setup setup = {0};
    assert_fails(tt_instance_enter_initialization(live.in, &setup), TUTTI_ERR_STATE, "");
    assert_ok(set_real(&live, "u", 1));
    uint32_t y = reference_of(&live, "y");
    double value;
    assert_fails(tt_instance_get(live.in, TUTTI_TYPE_FLOAT64, &y, 1, &value, 1), TUTTI_ERR_STATE,
                 "step mode with new inputs");
    assert_ok(do_step(&live, 0, 0.1, &step));
    assert_true(get_real(&live, "y") > 0);
    assert_int_equal(tt_instance_warnings(live.in), 0);
    assert_int_equal(live.messages.count, 0); /* the kit complains about every forbidden call that it sees */
    live_end(&live);
}

/* A step starts where the one before ended, up to rounding. */
static void test_step_from_elsewhere(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    live_start(&live, "Dahlquist", VERSION);
    assert_fails(do_step(&live, 0.5, 0.1, &step), TUTTI_ERR_STATE, "but the FMU is at 0;");
    assert_ok(do_step(&live, 0, 0.3, &step));
    assert_fails(do_step(&live, 0, 0.3, &step), TUTTI_ERR_STATE, "but the FMU is at 0.3");
    assert_fails(do_step(&live, 0.3 + 1e-9, 0.3, &step), TUTTI_ERR_STATE, "the FMU is at");
    assert_fails(do_step(&live, NAN, 0.3, &step), TUTTI_ERR_STATE, "the FMU is at");
    assert_ok(do_step(&live, 3 * 0.1, 0.3, &step)); /* an ulp beside */
    assert_near(get_real(&live, "x"), exp(-0.6), 1e-4);
    live_end(&live);
}

static void test_values(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "Feedthrough", VERSION);
    assert_ok(live_instantiate(&live));
    live_initialise(&live, 0, 10);
    uint32_t in[5] = {reference_of(&live, "float64_in"), reference_of(&live, "int32_in"),
                      reference_of(&live, "boolean_in"), reference_of(&live, "string_in"),
                      reference_of(&live, "color_in")};
    uint32_t out[5] = {reference_of(&live, "float64_out"), reference_of(&live, "int32_out"),
                       reference_of(&live, "boolean_out"), reference_of(&live, "string_out"),
                       reference_of(&live, "color_out")};
    double real = -1.25, real_out = 0;
    int32_t integer = INT32_C(-123456789), integer_out = 0;
    bool boolean = true, boolean_out = false;
    const char *string = "J\xc3\xbcrgen & Co", *string_out = NULL;
    int64_t color = 3, color_out = 0;
    if (tt_instance_uses_events(live.in))
        assert_ok(tt_instance_enter_event(live.in));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_FLOAT64, &in[0], 1, &real, 1));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_INT32, &in[1], 1, &integer, 1));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_BOOLEAN, &in[2], 1, &boolean, 1));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_STRING, &in[3], 1, &string, 1));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_ENUMERATION, &in[4], 1, &color, 1));
    if (tt_instance_uses_events(live.in))
        settle(live.in);
    struct tt_fmi_step step;
    assert_ok(do_step(&live, 0, 0.1, &step));
    assert_ok(tt_instance_get(live.in, TUTTI_TYPE_FLOAT64, &out[0], 1, &real_out, 1));
    assert_ok(tt_instance_get(live.in, TUTTI_TYPE_INT32, &out[1], 1, &integer_out, 1));
    assert_ok(tt_instance_get(live.in, TUTTI_TYPE_BOOLEAN, &out[2], 1, &boolean_out, 1));
    assert_ok(tt_instance_get(live.in, TUTTI_TYPE_STRING, &out[3], 1, &string_out, 1));
    assert_string_equal(string_out, string);
    assert_ok(tt_instance_get(live.in, TUTTI_TYPE_ENUMERATION, &out[4], 1, &color_out, 1));
    assert_same_double(real_out, real);
    assert_int_equal(integer_out, integer);
    assert_true(boolean_out);
    assert_int_equal(color_out, color);
    int8_t narrow = 0;
    if (fmi < 3)
        assert_fails(tt_instance_get(live.in, TUTTI_TYPE_INT8, &out[1], 1, &narrow, 1), TUTTI_ERR_UNSUPPORTED,
                     "of type Int8");
    live_end(&live);
}

/* Back to a saved point, and on from there to the same bits; also in another instance, from bytes. */
static void test_saved_states(void **state)
{
    (void)state;
    struct live live;
    struct tt_saved_state saved = {0};
    live_start(&live, "VanDerPol", VERSION);
    if (fmi == 1 && !conformance_forked) {
        assert_fails(tt_saved_state_save(live.in, &saved), TUTTI_ERR_UNSUPPORTED, "saved states");
        live_end(&live);
        return;
    }
    struct tt_fmi_step step;
    assert_ok(do_step(&live, 0, 0.5, &step));
    assert_ok(tt_saved_state_save(live.in, &saved));
    assert_ok(do_step(&live, 0.5, 0.5, &step));
    double first = get_real(&live, "x0");
    assert_ok(tt_saved_state_restore(live.in, &saved));
    assert_same_double(tt_instance_time(live.in), 0.5);
    assert_ok(do_step(&live, 0.5, 0.5, &step));
    assert_same_double(get_real(&live, "x0"), first);

    unsigned char *bytes;
    size_t size;
    if (conformance_forked) { /* a process cannot be serialised */
        assert_fails(tt_saved_state_serialize(live.in, &saved, &bytes, &size), TUTTI_ERR_UNSUPPORTED, "serialised");
        tt_saved_state_discard(live.in, &saved);
        live_end(&live);
        return;
    }
    assert_ok(tt_saved_state_serialize(live.in, &saved, &bytes, &size));
    tt_saved_state_discard(live.in, &saved);
    struct tt_instance *original = live.in;
    assert_ok(live_instantiate(&live));
    assert_fails(tt_saved_state_deserialize(live.in, bytes, 7, &saved), TUTTI_ERR_FORMAT, "no saved state");
    assert_ok(tt_saved_state_deserialize(live.in, bytes, size, &saved));
    free(bytes);
    assert_ok(tt_saved_state_restore(live.in, &saved));
    assert_ok(do_step(&live, 0.5, 0.5, &step));
    assert_same_double(get_real(&live, "x0"), first);
    tt_saved_state_discard(live.in, &saved);
    tt_instance_free(original);
    live_end(&live);
}

static void test_reset(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    live_start(&live, "Dahlquist", VERSION);
    assert_ok(do_step(&live, 0, 0.5, &step));
    double first = get_real(&live, "x");
    assert_ok(tt_instance_reset(live.in));
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_INSTANTIATED);
    live_initialise(&live, 0, 1);
    assert_ok(do_step(&live, 0, 0.5, &step));
    assert_same_double(get_real(&live, "x"), first);
    live_end(&live);
}

/* u = t as a slope: x' = (u - x) / T from x = 0 has the solution t - T + T exp(-t / T). */
static void test_input_derivatives(void **state)
{
    (void)state;
    struct live live;
    live_start(&live, "Tracker", VERSION);
    uint32_t u = reference_of(&live, "u");
    int32_t order = 1;
    double slope = 1;
    if (fmi == 3) {
        assert_fails(tt_instance_set_input_derivatives(live.in, &u, 1, &order, &slope), TUTTI_ERR_UNSUPPORTED,
                     "input derivatives");
        live_end(&live);
        return;
    }
    for (int n = 0; n < 10; n++) {
        struct tt_fmi_step step;
        assert_ok(set_real(&live, "u", 0.1 * n));
        assert_ok(tt_instance_set_input_derivatives(live.in, &u, 1, &order, &slope));
        assert_ok(do_step(&live, 0.1 * n, 0.1, &step));
    }
    assert_near(get_real(&live, "y"), 1 - 0.5 + 0.5 * exp(-2), 1e-7);
    live_end(&live);
}

static void test_output_derivatives(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    live_start(&live, "Tracker", VERSION);
    assert_ok(set_real(&live, "u", 1));
    assert_ok(do_step(&live, 0, 0.1, &step));
    uint32_t y = reference_of(&live, "y");
    int32_t order = 1;
    double slope = 0;
    assert_ok(tt_instance_get_output_derivatives(live.in, &y, 1, &order, &slope));
    assert_near(slope, (1 - get_real(&live, "y")) / 0.5, 1e-12);
    live_end(&live);
}

static void test_directional_derivatives(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    live_start(&live, "Tracker", VERSION);
    uint32_t unknown = reference_of(&live, "der(x)"), knowns[] = {reference_of(&live, "x"), reference_of(&live, "u")};
    double seed[] = {3, 1}, sensitivity = 0;
    assert_ok(do_step(&live, 0, 0.1, &step));
    if (fmi == 1) {
        assert_fails(tt_instance_get_directional(live.in, &unknown, 1, knowns, 2, seed, 2, &sensitivity, 1),
                     TUTTI_ERR_UNSUPPORTED, "directional");
    } else {
        assert_ok(tt_instance_get_directional(live.in, &unknown, 1, knowns, 2, seed, 2, &sensitivity, 1));
        assert_near(sensitivity, (-3 + 1) / 0.5, 1e-14);
    }
    live_end(&live);
}

static void test_warning_is_no_error(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    setenv("KIT_FAULT", "warning DoStep", 1);
    live_start(&live, "Faulty", VERSION);
    for (int n = 0; n < 50; n++)
        assert_ok(do_step(&live, 0.1 * n, 0.1, &step));
    assert_int_equal(tt_instance_warnings(live.in), 50);
    assert_true(live.messages.count < 10); /* said once, not fifty times */
    assert_non_null(strstr(live.messages.text, "returned Warning"));
    live_end(&live);
}

static void test_discard(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    setenv("KIT_FAULT", "discard DoStep 0.25", 1);
    live_start(&live, "Faulty", VERSION);
    assert_ok(do_step(&live, 0, 0.2, &step));
    assert_false(step.discarded);
    assert_ok(do_step(&live, 0.2, 0.2, &step));
    assert_true(step.discarded);
    if (fmi == 3) { /* stands where it stood, and may try again */
        assert_same_double(step.reached, 0.2);
        assert_ok(do_step(&live, 0.2, 0.01, &step));
        assert_false(step.discarded);
    } else {
        assert_true(step.reached >= 0.2 && step.reached < 0.4);
        assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_DISCARDED);
        assert_fails(do_step(&live, step.reached, 0.1, &step), TUTTI_ERR_STATE, "step discarded");
    }
    live_end(&live);
}

/* Error and Fatal at every call: named, with function, time and the FMU's words; nothing is called after Fatal. */
static void check_failure(const char *kind, enum tutti_err expected, const char *word)
{
    struct live live;
    struct tt_fmi_step step;
    char fault[64], function[64];
    snprintf(fault, sizeof fault, "%s DoStep 0.25", kind);
    setenv("KIT_FAULT", fault, 1);
    live_start(&live, "Faulty", VERSION);
    assert_ok(do_step(&live, 0, 0.2, &step));
    snprintf(function, sizeof function, "%s %s", fmi == 1 ? "fmiDoStep" : fmi == 2 ? "fmi2DoStep" : "fmi3DoStep", word);
    assert_fails(do_step(&live, 0.2, 0.2, &step), expected, function);
    assert_non_null(strstr(tutti_err_message(), "t = 0.2"));
    assert_non_null(strstr(tutti_err_message(), "last messages: \""));
    assert_int_equal(tt_instance_state(live.in), expected == TUTTI_ERR_FATAL ? TUTTI_STATE_FATAL : TUTTI_STATE_ERROR);
    assert_fails(do_step(&live, 0.2, 0.1, &step), TUTTI_ERR_STATE,
                 expected == TUTTI_ERR_FATAL ? "returned Fatal" : "error");
    assert_fails(tt_instance_terminate(live.in), TUTTI_ERR_STATE, "");
    live_end(&live);
}

static void test_error(void **state)
{
    (void)state;
    check_failure("error", TUTTI_ERR_FMU, "returned Error");
}

static void test_fatal(void **state)
{
    (void)state;
    check_failure("fatal", TUTTI_ERR_FATAL, "returned Fatal");
}

static void is_called(void)
{
    fail_msg("the FMU was called after Fatal");
}

/* Fatal is the end of the whole FMU: no function is called any more, for no instance. */
static void test_fatal_for_all_instances(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    struct tt_saved_state saved = {0};
    double y;
    setenv("KIT_FAULT", "fatal DoStep @bad", 1);
    live_load(&live, "Faulty", VERSION);
    struct tt_library *library = live.fmu->libraries[TUTTI_CS];
    struct tt_instance *instances[2];
    for (int i = 0; i < 2; i++) {
        struct tt_instance_options options = {
            .name = i == 0 ? "good" : "bad", .log = &live.log, .forked = conformance_forked};
        assert_ok(tt_instance_new(&live.in, library, &options));
        live_initialise(&live, 0, 1);
        instances[i] = live.in;
    }
    assert_ok(tt_instance_do_step(instances[0], 0, 0.1, true, &step, NULL));
    if (fmi > 1)
        assert_ok(tt_saved_state_save(instances[0], &saved));
    assert_fails(tt_instance_do_step(instances[1], 0, 0.1, true, &step, NULL), TUTTI_ERR_FATAL, "returned Fatal");

    /* Functions and objects are different things in C; the table holds them as dlsym gives them. */
    void (*function)(void) = (void (*)(void))is_called;
    for (size_t i = 0; i < library->binding->symbol_count; i++)
        memcpy(&library->functions[i], &function, sizeof function);
    uint32_t reference = reference_of(&live, "y");
    for (int i = 0; i < 2; i++) {
        struct tt_instance *in = instances[i];
        assert_int_equal(tt_instance_do_step(in, 0.1, 0.1, true, &step, NULL), TUTTI_ERR_STATE);
        assert_int_equal(tt_instance_get(in, TUTTI_TYPE_FLOAT64, &reference, 1, &y, 1), TUTTI_ERR_STATE);
        assert_int_equal(tt_instance_reset(in), TUTTI_ERR_STATE);
        assert_int_equal(tt_instance_terminate(in), TUTTI_ERR_STATE);
    }
    assert_int_equal(live_instantiate(&live), TUTTI_ERR_STATE);
    tt_saved_state_discard(instances[0], &saved);
    tt_instance_free(instances[0]);
    tt_instance_free(instances[1]);
    tt_fmu_free(live.fmu);
}

static void test_failed_initialisation(void **state)
{
    (void)state;
    struct live live;
    setenv("KIT_FAULT", fmi == 1 ? "error InitializeSlave" : "error EnterInitializationMode", 1);
    live_load(&live, "Faulty", VERSION);
    assert_ok(live_instantiate(&live));
    struct tt_experiment_setup setup = {0};
    enum tutti_err err = tt_instance_enter_initialization(live.in, &setup);
    if (fmi == 1)
        err = tt_instance_exit_initialization(live.in);
    assert_int_equal(err, TUTTI_ERR_FMU);
    assert_non_null(strstr(tutti_err_message(), "nitializ"));
    live_end(&live);
}

static void test_failed_instantiation(void **state)
{
    (void)state;
    struct live live;
    setenv("KIT_FAULT", "null Instantiate", 1);
    live_load(&live, "Faulty", VERSION);
    assert_fails(live_instantiate(&live), TUTTI_ERR_FMU, "returned NULL");
    assert_null(live.in);
    unsetenv("KIT_FAULT");
    assert_ok(live_instantiate(&live)); /* the library is as good as before */
    live_end(&live);
}

static void test_bad_messages(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    setenv("KIT_FAULT", "flood DoStep; badlog DoStep", 1);
    live_start(&live, "Faulty", VERSION);
    for (int n = 0; n < 3; n++)
        assert_ok(do_step(&live, 0.1 * n, 0.1, &step));
    assert_true(live.messages.count > 0 && live.messages.count <= 201);
    assert_true(tt_instance_dropped_messages(live.in) > 100);
    for (const char *c = live.messages.text; *c; c++)
        assert_true((unsigned char)*c >= 0x20 || *c == '\n');
    live_end(&live);
}

static void test_missing_functions(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    struct tt_saved_state saved = {0};
    live_start(&live, "Claiming", VERSION);
    if (fmi > 1) {
        assert_true(live.fmu->desc->interfaces[TUTTI_CS].flags & TUTTI_CAN_STATE);
        assert_non_null(strstr(live.messages.text, "but the library lacks"));
    }
    assert_false(live.fmu->libraries[TUTTI_CS]->can & TUTTI_CAN_STATE);
    if (!conformance_forked) /* which needs no functions of the FMU */
        assert_fails(tt_saved_state_save(live.in, &saved), TUTTI_ERR_UNSUPPORTED, "saved states");
    assert_ok(do_step(&live, 0, 0.1, &step));
    live_end(&live);
}

static void test_instances_are_independent(void **state)
{
    (void)state;
    struct live live;
    struct tt_fmi_step step;
    live_load(&live, "Dahlquist", VERSION);
    assert_ok(live_instantiate(&live));
    struct tt_instance *first = live.in;
    assert_ok(live_instantiate(&live));
    assert_ok(set_real(&live, "k", 2));
    live_initialise(&live, 0, 1);
    assert_ok(do_step(&live, 0, 0.1, &step));
    double x = get_real(&live, "x");
    struct tt_instance *second = live.in;
    live.in = first;
    live_initialise(&live, 0, 1);
    assert_same_double(get_real(&live, "x"), 1);
    live.in = second;
    assert_same_double(get_real(&live, "x"), x);
    tt_instance_free(first);
    live_end(&live);
}

static void test_once_per_process(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "Once", VERSION);
    assert_ok(live_instantiate(&live));
    struct tt_instance *first = live.in;
    assert_fails(live_instantiate(&live), TUTTI_ERR_UNSUPPORTED, "only once per process");
    tt_instance_free(first);
    assert_ok(live_instantiate(&live));
    live_end(&live);
}

static void test_resources(void **state)
{
    (void)state;
    struct live live;
    live_start(&live, "Resource", VERSION); /* fails to start if it does not find its file */
    live_end(&live);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "VERSION");
    fmi = VERSION[0] - '0';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_life),
        cmocka_unit_test(test_forbidden_calls),
        cmocka_unit_test(test_step_from_elsewhere),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_saved_states),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_input_derivatives),
        cmocka_unit_test(test_output_derivatives),
        cmocka_unit_test(test_directional_derivatives),
        cmocka_unit_test_teardown(test_warning_is_no_error, clear_faults),
        cmocka_unit_test_teardown(test_discard, clear_faults),
        cmocka_unit_test_teardown(test_error, clear_faults),
        cmocka_unit_test_teardown(test_fatal, clear_faults),
        cmocka_unit_test_teardown(test_fatal_for_all_instances, clear_faults),
        cmocka_unit_test_teardown(test_failed_initialisation, clear_faults),
        cmocka_unit_test_teardown(test_failed_instantiation, clear_faults),
        cmocka_unit_test_teardown(test_bad_messages, clear_faults),
        cmocka_unit_test(test_missing_functions),
        cmocka_unit_test(test_instances_are_independent),
        cmocka_unit_test(test_once_per_process),
        cmocka_unit_test(test_resources),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
