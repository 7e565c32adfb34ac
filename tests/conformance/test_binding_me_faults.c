/* SPDX-License-Identifier: MIT */
/* Model Exchange when things go wrong or are missing: what every FMI binding must make of it, run on the kit's FMUs of
 * one version. */
#include "test.h"

#include "binding_me.h"
#include "fmu/api1.h"
#include "fmu/api2.h"
#include "fmu/api3.h"
#include "fmu/fmi_call_instance.h"

#define GET_DERIVATIVES BY_VERSION("GetDerivatives", "GetDerivatives", "GetContinuousStateDerivatives")
#define PREFIX BY_VERSION("fmi", "fmi2", "fmi3")

enum { SET_TIME, SET_STATES, DERIVATIVES, INDICATORS, CALLS };

/* One of the calls that may be discarded. */
static enum tutti_err make(struct live *live, int call, double t, bool *discarded)
{
    double x[] = {0.5};
    switch (call) {
    case SET_TIME: return tt_instance_set_time(live->in, t, discarded);
    case SET_STATES: return tt_instance_set_states(live->in, x, 1, discarded);
    case DERIVATIVES: return tt_instance_get_derivatives(live->in, x, 1, discarded);
    default: return tt_instance_get_indicators(live->in, x, 1, discarded);
    }
}

static const char *name_of(int call)
{
    const char *names[CALLS] = {"SetTime", "SetContinuousStates", GET_DERIVATIVES, "GetEventIndicators"};
    return names[call];
}

/* Discard is an answer, not an error: nothing is logged above the level of information, and another point may be tried.
 * The fault waits for an FMU that stands at 0.5. */
static void test_discard(void **state)
{
    (void)state;
    for (int call = 0; call < CALLS; call++) {
        struct live live;
        char fault[64];
        bool discarded = false;
        snprintf(fault, sizeof fault, "discard %s 0.5", name_of(call));
        setenv("KIT_FAULT", fault, 1);
        me_start(&live, "Faulty");
        place(&live, 0.5, (double[]){0.25}, 1 - (call == SET_STATES));
        live.log.level = TUTTI_LOG_WARNING;
        assert_ok(make(&live, call, 0.75, &discarded));
        assert_true(discarded);
        assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_CONTINUOUS);
        assert_same_double(tt_instance_time(live.in), 0.5);
        assert_ok(make(&live, SET_TIME, 0.5, &discarded));
        assert_true(discarded); /* is never made false */
        double x[] = {0.25}, dx[1];
        slope(&live, 0.55, x, dx, 1);
        assert_near(dx[0], 0.75, 1e-15);
        assert_int_equal(live.messages.count, 0);
        assert_int_equal(tt_instance_warnings(live.in), 0);
        live_end(&live);
    }
}

/* Puts a function of ours in the place of the FMU's. */
static void replace(struct live *live, const char *name, void (*function)(void))
{
    struct tt_library *library = live->fmu->libraries[TUTTI_ME];
    unsigned found = 0;
    for (size_t i = 0; i < library->binding->symbol_count; i++)
        if (strcmp(library->binding->symbols[i].name + strlen(PREFIX), name) == 0) {
            /* Functions and objects are different things in C; the table holds them as dlsym gives them. */
            memcpy(&library->functions[i], &function, sizeof function);
            found++;
        }
    assert_int_equal(found, 1);
}

static int complain_and_discard(void *component, double *derivatives, size_t n)
{
    (void)component;
    (void)n;
    tt_fmu_callbacks_message(tt_fmi_call_current_instance(), TUTTI_STATUS_ERROR, "status",
                             "the root of a negative number");
    derivatives[0] = 7;
    return TUTTI_STATUS_DISCARD;
}

/* An FMU that calls it an error in its messages is not believed, either then or later. */
static void test_discard_is_silent(void **state)
{
    (void)state;
    struct live live;
    double dx[1];
    bool discarded = false;
    me_start(&live, "Faulty");
    replace(&live, GET_DERIVATIVES, (void (*)(void))complain_and_discard);
    assert_ok(tt_instance_get_derivatives(live.in, dx, 1, &discarded));
    assert_true(discarded);
    place(&live, 0.5, (double[]){0.25}, 1);
    assert_int_equal(live.messages.count, 0);
    live_end(&live);
}

/* Elsewhere Discard is one. */
static void test_discarded_input(void **state)
{
    (void)state;
    struct live live;
    setenv("KIT_FAULT", fmi == 3 ? "discard SetFloat64" : "discard SetReal", 1);
    me_start(&live, "Faulty");
    assert_fails(set_real(&live, "u", 2), TUTTI_ERR_FMU, "returned Discard");
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_CONTINUOUS);
    live_end(&live);
}

/* FMI 1.0: FMUs that do not identify their states work nevertheless. */
static void test_nameless_states(void **state)
{
    (void)state;
    struct live live;
    if (fmi != 1)
        skip(); /* the others say it in their description */
    uint32_t reference;
    setenv("KIT_FAULT", "discard GetStateValueReferences", 1);
    me_start(&live, "Faulty");
    assert_fails(tt_instance_get_state_references(live.in, &reference, 1), TUTTI_ERR_UNSUPPORTED, "does not tell");
    double x[] = {0.25}, dx[1];
    slope(&live, 0, x, dx, 1);
    assert_near(dx[0], 0.75, 1e-15);
    live_end(&live);
}

static void test_warning_is_no_error(void **state)
{
    (void)state;
    struct live live;
    char fault[64];
    double x[] = {0};
    snprintf(fault, sizeof fault, "warning %s", GET_DERIVATIVES);
    setenv("KIT_FAULT", fault, 1);
    me_start(&live, "Faulty");
    for (int n = 0; n < 10; n++)
        step(&live, 0.1 * n, 0.1, x, 1);
    assert_near(x[0], 1 - exp(-1), 1e-6);
    assert_int_equal(tt_instance_warnings(live.in), 40);
    assert_non_null(strstr(live.messages.text, "returned Warning"));
    live_end(&live);
}

/* Error and Fatal in a right-hand side: named, with function, time and the FMU's words. */
static void check_failure(const char *kind, enum tutti_err expected, const char *word)
{
    for (int call = 0; call < (expected == TUTTI_ERR_FATAL ? CALLS : DERIVATIVES); call++) {
        struct live live;
        char fault[64], message[96];
        bool discarded = false;
        snprintf(fault, sizeof fault, "%s %s 0.5", kind, name_of(call));
        setenv("KIT_FAULT", fault, 1);
        me_start(&live, "Faulty");
        place(&live, 0.5, (double[]){0.25}, 1 - (call == SET_STATES));
        snprintf(message, sizeof message, "%s%s %s at t = %s", PREFIX, name_of(call), word,
                 call == SET_TIME ? "0.75" : "0.5");
        assert_fails(make(&live, call, 0.75, &discarded), expected, message);
        assert_non_null(strstr(tutti_err_message(), "last messages: \""));
        assert_false(discarded);
        assert_int_equal(tt_instance_state(live.in),
                         expected == TUTTI_ERR_FATAL ? TUTTI_STATE_FATAL : TUTTI_STATE_ERROR);
        bool readable = fmi > 1 && expected != TUTTI_ERR_FATAL; /* for debugging */
        assert_int_equal(make(&live, DERIVATIVES, 0.75, &discarded), readable ? TUTTI_OK : TUTTI_ERR_STATE);
        assert_fails(make(&live, SET_TIME, 0.75, &discarded), TUTTI_ERR_STATE, "");
        assert_fails(tt_instance_terminate(live.in), TUTTI_ERR_STATE, "");
        live_end(&live);
    }
}

static void test_error(void **state)
{
    (void)state;
    check_failure("error", TUTTI_ERR_FMU, "returned Error");
}

/* Error of the calls that only ask counts as Discard; an FMU that means it says so in the next call. */
static void test_error_of_a_point(void **state)
{
    (void)state;
    for (int call = DERIVATIVES; call < CALLS; call++)
        for (int strict = 0; strict < 2; strict++) {
            struct live live;
            char fault[64], message[96];
            bool discarded = false, other = false;
            snprintf(fault, sizeof fault, "%s %s 0.5", strict ? "error" : "slip", name_of(call));
            setenv("KIT_FAULT", fault, 1);
            me_start(&live, "Faulty");
            place(&live, 0.5, (double[]){0.25}, 1);
            assert_ok(make(&live, call, 0.5, &discarded));
            assert_true(discarded && tt_instance_refused(live.in));
            snprintf(message, sizeof message, "%s%s returned Error at t = 0.5", PREFIX, name_of(call));
            assert_non_null(strstr(tt_instance_refusal(live.in), message));
            assert_non_null(strstr(tt_instance_refusal(live.in), "last messages: \""));
            assert_non_null(strstr(live.messages.text, "a point that was tried"));
            assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_CONTINUOUS);
            if (strict) {
                assert_fails(make(&live, SET_TIME, 0.45, &other), TUTTI_ERR_FMU, message);
                assert_non_null(strstr(tutti_err_message(), "cannot go on after an Error"));
                assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_ERROR);
            } else {
                assert_ok(make(&live, SET_TIME, 0.45, &other));
                assert_ok(make(&live, DERIVATIVES, 0.45, &other));
                assert_false(other || tt_instance_refused(live.in));
            }
            live_end(&live);
        }
}

static void test_fatal(void **state)
{
    (void)state;
    check_failure("fatal", TUTTI_ERR_FATAL, "returned Fatal");
}

/* NaN values are handled by the solver. */
static void test_not_a_number(void **state)
{
    (void)state;
    struct live live;
    char fault[64];
    double x[] = {0}, dx[1];
    snprintf(fault, sizeof fault, "nan %s", GET_DERIVATIVES);
    setenv("KIT_FAULT", fault, 1);
    me_start(&live, "Faulty");
    slope(&live, 0.5, x, dx, 1);
    assert_true(isnan(dx[0]));
    live_end(&live);
}

/* Failures of calls around events and steps name the call. */
static void test_other_errors(void **state)
{
    (void)state;
    static const char *const names[][3] = {
        {NULL, "EnterEventMode", "EnterEventMode"},
        {"EventUpdate", "NewDiscreteStates", "UpdateDiscreteStates"},
        {NULL, "EnterContinuousTimeMode", "EnterContinuousTimeMode"},
        {"CompletedIntegratorStep", "CompletedIntegratorStep", "CompletedIntegratorStep"},
        {"GetContinuousStates", "GetContinuousStates", "GetContinuousStates"},
        {"GetNominalContinuousStates", "GetNominalsOfContinuousStates", "GetNominalsOfContinuousStates"},
        {"Terminate", "Terminate", "Terminate"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct live live;
        struct tt_discrete_update discrete;
        char fault[64], message[96];
        double x[1];
        bool event, terminate;
        if (!names[i][fmi - 1])
            continue;
        snprintf(fault, sizeof fault, "error %s 0.5", names[i][fmi - 1]);
        snprintf(message, sizeof message, "%s%s returned Error at t = 0.5", PREFIX, names[i][fmi - 1]);
        setenv("KIT_FAULT", fault, 1);
        me_start(&live, "Faulty");
        place(&live, 0.5, (double[]){0.25}, 1);
        enum tutti_err err = tt_instance_get_states(live.in, x, 1);
        err = err ? err : tt_instance_get_nominals(live.in, x, 1);
        err = err ? err : tt_instance_completed_step(live.in, true, &event, &terminate);
        err = err ? err : tt_instance_enter_event(live.in);
        err = err ? err : tt_instance_update_discrete(live.in, &discrete);
        err = err ? err : tt_instance_enter_continuous(live.in);
        err = err ? err : tt_instance_terminate(live.in);
        assert_fails(err, TUTTI_ERR_FMU, message);
        assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_ERROR);
        live_end(&live);
    }
}

/* Which function failed in the initialisation, of which FMI 1.0 has two. */
static void test_failed_initialisation(void **state)
{
    (void)state;
    static const char *const names[][3] = {{"SetTime", "SetupExperiment", "EnterInitializationMode"},
                                           {"Initialize", "ExitInitializationMode", "ExitInitializationMode"}};
    for (int i = 0; i < 2; i++) {
        struct live live;
        struct tt_experiment_setup setup = {0};
        char fault[64], message[96];
        snprintf(fault, sizeof fault, "error %s", names[i][fmi - 1]);
        snprintf(message, sizeof message, "%s%s returned Error at t = 0", PREFIX, names[i][fmi - 1]);
        setenv("KIT_FAULT", fault, 1);
        me_load(&live, "Faulty");
        enum tutti_err err = tt_instance_enter_initialization(live.in, &setup);
        err = err ? err : tt_instance_exit_initialization(live.in);
        assert_fails(err, TUTTI_ERR_FMU, message);
        live_end(&live);
    }
}

static double tolerance_told; /* 0: none */

static fmiStatus note_tolerance1(fmiComponent component, fmiBoolean controlled, fmiReal tolerance, fmiEventInfo *info)
{
    (void)component, (void)info;
    tolerance_told = controlled ? tolerance : 0;
    return fmiOK;
}

static fmi2Status note_tolerance2(fmi2Component component, fmi2Boolean defined, fmi2Real tolerance, fmi2Real start,
                                  fmi2Boolean stop_defined, fmi2Real stop)
{
    (void)component, (void)start, (void)stop_defined, (void)stop;
    tolerance_told = defined ? tolerance : 0;
    return fmi2OK;
}

static fmi3Status note_tolerance3(fmi3Instance instance, fmi3Boolean defined, fmi3Float64 tolerance, fmi3Float64 start,
                                  fmi3Boolean stop_defined, fmi3Float64 stop)
{
    (void)instance, (void)start, (void)stop_defined, (void)stop;
    tolerance_told = defined ? tolerance : 0;
    return fmi3OK;
}

/* A tolerance is for equations that the FMU solves internally. FMI 2.0 sets it before initialisation, and some such
 * FMUs warn of it in Model Exchange; other versions receive it with the initialisation. */
static void test_tolerance(void **state)
{
    (void)state;
    struct live live;
    struct tt_experiment_setup setup = {.stop = 1, .has_stop = true, .tolerance = 1e-4, .has_tolerance = true};
    me_load(&live, "Faulty");
    replace(
        &live, BY_VERSION("Initialize", "SetupExperiment", "EnterInitializationMode"),
        BY_VERSION((void (*)(void))note_tolerance1, (void (*)(void))note_tolerance2, (void (*)(void))note_tolerance3));
    tolerance_told = -1;
    assert_ok(tt_instance_set_up(live.in, &setup));
    if (fmi != 2)
        assert_ok(tt_instance_enter_initialization(live.in, NULL));
    if (fmi == 1)
        assert_ok(tt_instance_exit_initialization(live.in));
    assert_true(tolerance_told == (fmi == 2 ? 0 : 1e-4));
    live_end(&live);
}

static void test_failed_instantiation(void **state)
{
    (void)state;
    struct live live;
    setenv("KIT_FAULT", "null Instantiate", 1);
    live_load_for(&live, TUTTI_ME, TUTTI_FMUS, "Faulty", VERSION);
    assert_fails(live_instantiate(&live), TUTTI_ERR_FMU,
                 BY_VERSION("fmiInstantiateModel returned NULL", "fmi2Instantiate returned NULL",
                            "fmi3InstantiateModelExchange returned NULL"));
    assert_null(live.in);
    tt_fmu_free(live.fmu);
}

/* Capabilities that the description declares and the library lacks are not used. */
static void test_missing_functions(void **state)
{
    (void)state;
    struct live live;
    struct tt_saved_state saved = {0};
    double x[1], sensitivity, seed = 1;
    uint32_t reference = 1;
    me_start(&live, "Claiming");
    if (fmi > 1)
        assert_non_null(strstr(live.messages.text, "Model Exchange claims "));
    assert_fails(tt_saved_state_save(live.in, &saved), TUTTI_ERR_UNSUPPORTED, "saved states");
    assert_fails(tt_instance_get_directional(live.in, &reference, 1, &reference, 1, &seed, 1, &sensitivity, 1),
                 TUTTI_ERR_UNSUPPORTED, "directional");
    assert_ok(tt_instance_get_states(live.in, x, 1));
    step(&live, 0, 0.1, x, 1);
    live_end(&live);
}

/* Numbers that the library does not report are taken from the description. */
static void test_missing_counts(void **state)
{
    (void)state;
    struct live live;
    size_t states = 99, indicators = 99;
    live_load_for(&live, TUTTI_ME, TUTTI_FMUS, "BouncingBall", VERSION);
    struct tt_library *library = live.fmu->libraries[TUTTI_ME];
    unsigned removed = 0;
    for (size_t i = 0; i < library->binding->symbol_count; i++)
        if (strstr(library->binding->symbols[i].name, "GetNumberOf")) {
            library->functions[i] = NULL;
            removed++;
        }
    assert_int_equal(removed, fmi == 3 ? 3 : 0); /* the third is about dependencies */
    assert_ok(live_instantiate(&live));
    assert_ok(tt_instance_count_states(live.in, &states, &indicators));
    assert_int_equal(states, 2);
    assert_int_equal(indicators, 1);
    live_end(&live);
}

/* The results of the next update of the discrete states, for FMI 1.0 and 2.0. */
static struct {
    fmiEventInfo one;
    fmi2EventInfo two;
} said;

static int update1(void *component, fmiBoolean intermediate_results, fmiEventInfo *info)
{
    (void)component;
    assert_false(intermediate_results);
    *info = said.one;
    return TUTTI_STATUS_OK;
}

static int update2(void *component, fmi2EventInfo *info)
{
    (void)component;
    *info = said.two;
    return TUTTI_STATUS_OK;
}

static struct tt_discrete_update update(struct live *live)
{
    struct tt_discrete_update discrete;
    assert_ok(tt_instance_update_discrete(live->in, &discrete));
    return discrete;
}

static void check_discrete(struct tt_discrete_update d, bool again, bool terminate, bool nominals, bool states,
                           bool next)
{
    assert_int_equal(d.again, again);
    assert_int_equal(d.terminate, terminate);
    assert_int_equal(d.nominals_changed, nominals);
    assert_int_equal(d.states_changed, states);
    assert_int_equal(d.has_next_event, next);
    if (next)
        assert_same_double(d.next_event, 0.125);
}

/* Every field of the event information separately. */
static void test_event_information(void **state)
{
    (void)state;
    struct live live;
    if (fmi == 3)
        skip(); /* has no such structure: its arguments go straight to the FMU */
    me_start(&live, "Faulty");
    assert_ok(tt_instance_enter_event(live.in));
    replace(&live, BY_VERSION("EventUpdate", "NewDiscreteStates", ""),
            fmi == 1 ? (void (*)(void))update1 : (void (*)(void))update2);
    said.one = (fmiEventInfo){.iterationConverged = fmiFalse};
    said.two = (fmi2EventInfo){.newDiscreteStatesNeeded = 2};
    check_discrete(update(&live), true, false, false, false, false);
    said.one = (fmiEventInfo){.iterationConverged = fmiTrue, .terminateSimulation = fmiTrue};
    said.two = (fmi2EventInfo){.terminateSimulation = 2};
    check_discrete(update(&live), false, true, false, false, false);
    said.one = (fmiEventInfo){.iterationConverged = fmiTrue, .stateValueReferencesChanged = fmiTrue};
    said.two = (fmi2EventInfo){.nominalsOfContinuousStatesChanged = 2};
    check_discrete(update(&live), false, false, true, fmi == 1, false);
    said.one = (fmiEventInfo){.iterationConverged = fmiTrue, .stateValuesChanged = fmiTrue};
    said.two = (fmi2EventInfo){.valuesOfContinuousStatesChanged = 2};
    check_discrete(update(&live), false, false, false, true, false);
    said.one = (fmiEventInfo){.iterationConverged = fmiTrue, .upcomingTimeEvent = fmiTrue, .nextEventTime = 0.125};
    said.two = (fmi2EventInfo){.nextEventTimeDefined = 2, .nextEventTime = 0.125};
    check_discrete(update(&live), false, false, false, false, true);
    live_end(&live);
}

static int end_after_step2(void *component, fmi2Boolean no_set_state_before, fmi2Boolean *event, fmi2Boolean *terminate)
{
    (void)component;
    assert_int_equal(no_set_state_before, fmi2True);
    *event = fmi2False;
    *terminate = 2;
    return TUTTI_STATUS_OK;
}

static int end_after_step3(void *component, bool no_set_state_before, bool *event, bool *terminate)
{
    (void)component;
    assert_true(no_set_state_before);
    *event = false;
    *terminate = true;
    return TUTTI_STATUS_OK;
}

static void test_end_after_step(void **state)
{
    (void)state;
    struct live live;
    bool event = true, terminate = false;
    if (fmi == 1)
        skip(); /* cannot say so */
    me_start(&live, "Faulty");
    replace(&live, "CompletedIntegratorStep",
            fmi == 2 ? (void (*)(void))end_after_step2 : (void (*)(void))end_after_step3);
    assert_ok(tt_instance_completed_step(live.in, true, &event, &terminate));
    assert_true(terminate && !event);
    live_end(&live);
}

static void set_extent(struct live *live, const char *name, uint64_t value)
{
    uint32_t reference = reference_of(live, name);
    assert_ok(tt_instance_enter_configuration(live->in));
    assert_ok(tt_instance_set(live->in, TUTTI_TYPE_UINT64, &reference, 1, &value, 1));
    assert_ok(tt_instance_exit_configuration(live->in));
}

/* Directional derivatives of arrays: as many values as elements. d der(x) = A dx. */
static void check_array_derivatives(struct live *live)
{
    uint32_t unknown = reference_of(live, "der(x)"), known = reference_of(live, "x"), A = reference_of(live, "A");
    double matrix[25], seed[] = {1, -2, 3, -4, 5}, sensitivity[5];
    assert_ok(tt_instance_get(live->in, TUTTI_TYPE_FLOAT64, &A, 1, matrix, 25));
    matrix[7] = 2.5; /* row 1, column 2 */
    assert_ok(tt_instance_enter_event(live->in));
    assert_ok(tt_instance_set(live->in, TUTTI_TYPE_FLOAT64, &A, 1, matrix, 25));
    iterate(live);
    assert_ok(tt_instance_get_directional(live->in, &unknown, 1, &known, 1, seed, 5, sensitivity, 5));
    for (int i = 0; i < 5; i++) {
        double sum = 0;
        for (int j = 0; j < 5; j++)
            sum += matrix[5 * i + j] * seed[j];
        assert_near(sensitivity[i], sum, 1e-14);
    }
    assert_true(fabs(sensitivity[1]) > 1);
}

/* Structural parameters change the number of states, before the initialisation and in event mode. */
static void test_configuration(void **state)
{
    (void)state;
    struct live live;
    size_t states, indicators;
    double x[5];
    if (fmi < 3)
        skip(); /* have no configuration mode */
    me_load(&live, "StateSpace");
    assert_ok(tt_instance_count_states(live.in, &states, &indicators));
    assert_int_equal(states, 3);
    set_extent(&live, "n", 5);
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_INSTANTIATED);
    assert_ok(tt_instance_count_states(live.in, &states, &indicators));
    assert_int_equal(states, 5);
    assert_int_equal(indicators, 0);
    me_initialise(&live, 0, 10);
    iterate(&live);
    assert_ok(tt_instance_get_states(live.in, x, 5));
    check_array_derivatives(&live);
    assert_fails(tt_instance_enter_configuration(live.in), TUTTI_ERR_STATE, "continuous-time mode");
    assert_ok(tt_instance_enter_event(live.in));
    set_extent(&live, "n", 1);
    assert_int_equal(tt_instance_state(live.in), TUTTI_STATE_EVENT);
    assert_ok(tt_instance_count_states(live.in, &states, &indicators));
    assert_int_equal(states, 1);
    iterate(&live);
    assert_ok(tt_instance_get_states(live.in, x, 1));
    live_end(&live);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 1, "VERSION");
    fmi = VERSION[0] - '0';
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_discard, clear_faults),
        cmocka_unit_test(test_discard_is_silent),
        cmocka_unit_test_teardown(test_discarded_input, clear_faults),
        cmocka_unit_test_teardown(test_warning_is_no_error, clear_faults),
        cmocka_unit_test_teardown(test_error, clear_faults),
        cmocka_unit_test(test_tolerance),
        cmocka_unit_test_teardown(test_error_of_a_point, clear_faults),
        cmocka_unit_test_teardown(test_fatal, clear_faults),
        cmocka_unit_test_teardown(test_not_a_number, clear_faults),
        cmocka_unit_test_teardown(test_other_errors, clear_faults),
        cmocka_unit_test_teardown(test_failed_initialisation, clear_faults),
        cmocka_unit_test_teardown(test_failed_instantiation, clear_faults),
        cmocka_unit_test(test_missing_functions),
        cmocka_unit_test(test_missing_counts),
        cmocka_unit_test(test_nameless_states),
        cmocka_unit_test(test_event_information),
        cmocka_unit_test(test_end_after_step),
        cmocka_unit_test(test_configuration),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
