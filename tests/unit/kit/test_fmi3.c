/* SPDX-License-Identifier: MIT */
/* The kit through FMI 3.0: all types, arrays, modes, event mode, early return, intermediate update. */
#include "harness.h"

static double get(struct fmi3 *f, fmi3Instance c, unsigned vr)
{
    double value = NAN;
    assert_int_equal(f->fmi3GetFloat64(c, &vr, 1, &value, 1), fmi3OK);
    return value;
}

/* The results of a do-step. */
struct step {
    bool event, terminate, early;
    double time;
};

static fmi3Status do_step(struct fmi3 *f, fmi3Instance c, double t, double h, struct step *step)
{
    return f->fmi3DoStep(c, t, h, true, &step->event, &step->terminate, &step->early, &step->time);
}

static fmi3Status update(struct fmi3 *f, fmi3Instance c, bool *again, bool *terminate, double *next)
{
    bool nominals, values, defined;
    fmi3Status status = f->fmi3UpdateDiscreteStates(c, again, terminate, &nominals, &values, &defined, next);
    if (!defined)
        *next = INFINITY;
    return status;
}

/* Sets an input of a type and looks for it at the output, in initialization mode where feed-through works at once. */
#define ECHO(type, in, ...)                                                                                            \
    do {                                                                                                               \
        const fmi3##type values[] = {__VA_ARGS__};                                                                     \
        enum { COUNT = sizeof values / sizeof *values };                                                               \
        fmi3##type back[COUNT];                                                                                        \
        const unsigned from = (in), to = from + 1;                                                                     \
        memset(back, 0, sizeof back);                                                                                  \
        assert_int_equal(f.fmi3Set##type(c, &from, 1, values, COUNT), fmi3OK);                                         \
        assert_int_equal(f.fmi3Get##type(c, &to, 1, back, COUNT), fmi3OK);                                             \
        assert_memory_equal(values, back, sizeof back);                                                                \
    } while (0)

static void all_types_come_back(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Feedthrough_fmi3);
    load3(&f, &library);
    fmi3Instance c =
        f.fmi3InstantiateCoSimulation("x", library.guid, NULL, false, true, false, false, NULL, 0, NULL, log3, NULL);
    assert_int_equal(f.fmi3EnterInitializationMode(c, false, 0, 0, false, 0), fmi3OK);
    ECHO(Float64, 1, 1.0 / 3);
    ECHO(Float32, 8, 1.0f / 3);
    ECHO(Int8, 10, INT8_MIN);
    ECHO(UInt8, 12, UINT8_MAX);
    ECHO(Int16, 14, INT16_MIN);
    ECHO(UInt16, 16, UINT16_MAX);
    ECHO(Int32, 18, INT32_MIN);
    ECHO(UInt32, 20, UINT32_MAX);
    ECHO(Int64, 22, INT64_MIN);
    ECHO(UInt64, 24, UINT64_MAX);
    ECHO(Boolean, 26, true);
    ECHO(Int64, 31, 3); /* Enumeration */
    ECHO(Float64, 35, 1, 2, 3, 4, 5, 6);
    ECHO(Int32, 37, -7, 8, -9);

    const unsigned string_in = 28, strings[] = {29, 40}, strings_in = 39, binary_in = 33, binary_out = 34;
    const char *text = "t\xc3\xa4xt", *pair[] = {"", "two"}, *back[3];
    assert_int_equal(f.fmi3SetString(c, &string_in, 1, &text, 1), fmi3OK);
    assert_int_equal(f.fmi3SetString(c, &strings_in, 1, pair, 2), fmi3OK);
    assert_int_equal(f.fmi3GetString(c, strings, 2, back, 3), fmi3OK);
    assert_string_equal(back[0], text);
    assert_string_equal(back[1], "");
    assert_string_equal(back[2], "two");
    size_t size = 4;
    const uint8_t bytes[] = {0, 1, 0, 255}, *out = bytes;
    assert_int_equal(f.fmi3SetBinary(c, &binary_in, 1, &size, &out, 1), fmi3OK);
    assert_int_equal(f.fmi3GetBinary(c, &binary_out, 1, &size, &out, 1), fmi3OK);
    assert_int_equal(size, 4);
    assert_memory_equal(out, bytes, 4);
    size = 0;
    assert_int_equal(f.fmi3SetBinary(c, &binary_in, 1, &size, &out, 1), fmi3OK);
    assert_int_equal(f.fmi3GetBinary(c, &binary_out, 1, &size, &out, 1), fmi3OK);
    assert_int_equal(size, 0);
    double six[6];
    const unsigned matrix = 36;
    assert_refused(f.fmi3GetFloat64(c, &matrix, 1, six, 5), "6 values");
    f.fmi3FreeInstance(c);
    library_close(&library);
}

static void start_values_and_states_of_all_types(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Feedthrough_fmi3);
    load3(&f, &library);
    fmi3Instance c = start3(&f, &library, false, false), d = start3(&f, &library, false, false);
    const unsigned vector = 38, text = 30, binary = 34;
    int32_t three[3];
    const char *value;
    size_t size;
    const uint8_t *bytes;
    fmi3FMUState saved = NULL, copy = NULL;
    assert_int_equal(f.fmi3GetInt32(c, &vector, 1, three, 3), fmi3OK);
    assert_true(three[0] == 1 && three[1] == 2 && three[2] == 3);
    assert_int_equal(f.fmi3GetString(c, &text, 1, &value, 1), fmi3OK);
    assert_string_equal(value, "a \"quoted\" <text> & \xc3\xbcml\xc3\xa4ut");
    assert_int_equal(f.fmi3SetInt32(c, (unsigned[]){37}, 1, (int32_t[]){4, 5, 6}, 3), fmi3OK);
    assert_int_equal(
        f.fmi3SetBinary(c, (unsigned[]){33}, 1, (size_t[]){2}, (const uint8_t *[]){(const uint8_t *)"hi"}, 1), fmi3OK);
    assert_int_equal(f.fmi3GetFMUState(c, &saved), fmi3OK);
    assert_int_equal(f.fmi3SerializedFMUStateSize(c, saved, &size), fmi3OK);
    uint8_t *block = malloc(size);
    assert_int_equal(f.fmi3SerializeFMUState(c, saved, block, size), fmi3OK);
    assert_int_equal(f.fmi3DeserializeFMUState(d, block, size, &copy), fmi3OK);
    assert_int_equal(f.fmi3SetFMUState(d, copy), fmi3OK);
    struct step step;
    assert_int_equal(do_step(&f, d, 0, 0.1, &step), fmi3OK);
    assert_int_equal(f.fmi3GetInt32(d, &vector, 1, three, 3), fmi3OK);
    assert_true(three[0] == 4 && three[1] == 5 && three[2] == 6);
    assert_int_equal(f.fmi3GetBinary(d, &binary, 1, &size, &bytes, 1), fmi3OK);
    assert_int_equal(size, 2);
    assert_memory_equal(bytes, "hi", 2);
    free(block);
    f.fmi3FreeFMUState(c, &saved);
    f.fmi3FreeFMUState(d, &copy);
    f.fmi3FreeInstance(c);
    f.fmi3FreeInstance(d);
    library_close(&library);
}

static void set_extents(struct fmi3 *f, fmi3Instance c, uint64_t m, uint64_t n, uint64_t r)
{
    assert_int_equal(f->fmi3EnterConfigurationMode(c), fmi3OK);
    assert_int_equal(f->fmi3SetUInt64(c, (unsigned[]){1, 2, 3}, 3, (uint64_t[]){m, n, r}, 3), fmi3OK);
    assert_int_equal(f->fmi3ExitConfigurationMode(c), fmi3OK);
}

static void arrays_change_their_size(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_StateSpace_fmi3);
    load3(&f, &library);
    fmi3Instance c =
        f.fmi3InstantiateCoSimulation("x", library.guid, NULL, false, true, false, false, NULL, 0, NULL, log3, NULL);
    const unsigned A = 4, B = 5, C = 6, D = 7, x0 = 8, u = 9, y = 10;
    set_extents(&f, c, 1, 1, 1);
    assert_int_equal(f.fmi3SetFloat64(c, (unsigned[]){A, B, C, D, x0, u}, 6, (double[]){-2, 1, 3, 0.5, 4, 0}, 6),
                     fmi3OK);
    assert_int_equal(f.fmi3EnterInitializationMode(c, false, 0, 0, false, 0), fmi3OK);
    assert_near(get(&f, c, y), 12, 0);
    assert_int_equal(f.fmi3ExitInitializationMode(c), fmi3OK);
    struct step step;
    assert_int_equal(do_step(&f, c, 0, 1, &step), fmi3OK);
    assert_near(get(&f, c, y), 12 * exp(-2), 1e-6);
    double sensitivity[2];
    assert_int_equal(f.fmi3GetDirectionalDerivative(c, (unsigned[]){12, y}, 2, (unsigned[]){11, u}, 2,
                                                    (double[]){1, 10}, 2, sensitivity, 2),
                     fmi3OK);
    assert_near(sensitivity[0], -2 + 10, 0);
    assert_near(sensitivity[1], 3 + 5, 0);
    assert_int_equal(f.fmi3GetAdjointDerivative(c, (unsigned[]){12, y}, 2, (unsigned[]){11, u}, 2, (double[]){1, 10}, 2,
                                                sensitivity, 2),
                     fmi3OK);
    assert_near(sensitivity[0], -2 + 30, 0);
    assert_near(sensitivity[1], 1 + 5, 0);

    /* while it runs: no states and no inputs are left, later all of them come back */
    fmi3FMUState saved = NULL;
    double before = get(&f, c, y);
    assert_int_equal(f.fmi3GetFMUState(c, &saved), fmi3OK);
    set_extents(&f, c, 0, 0, 2);
    assert_int_equal(do_step(&f, c, 1, 1, &step), fmi3OK);
    double two[2] = {1, 1};
    assert_int_equal(f.fmi3GetFloat64(c, &y, 1, two, 2), fmi3OK);
    assert_true(two[0] == 0 && two[1] == 0);
    assert_int_equal(f.fmi3GetFloat64(c, (unsigned[]){x0}, 1, two, 0), fmi3OK);
    assert_int_equal(f.fmi3SetFMUState(c, saved), fmi3OK);
    assert_near(get(&f, c, y), before, 0);
    f.fmi3FreeFMUState(c, &saved);
    assert_int_equal(f.fmi3EnterConfigurationMode(c), fmi3OK);
    assert_refused(f.fmi3SetUInt64(c, (unsigned[]){1}, 1, (uint64_t[]){101}, 1), "cannot be 101");
    f.fmi3FreeInstance(c);
    library_close(&library);
}

/* The times of the first bounces of a ball that falls from 1 m with e = 0.7. */
static double bounce_time(int n)
{
    double t = sqrt(2 / 9.81), v = 0.7 * sqrt(2 * 9.81);
    for (int i = 1; i < n; i++) {
        t += 2 * v / 9.81;
        v *= 0.7;
    }
    return t;
}

static void event_mode_shows_every_bounce(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_BouncingBall_fmi3);
    load3(&f, &library);
    fmi3Instance c = start3(&f, &library, true, true);
    bool again, terminate;
    double next, t = 0;
    assert_int_equal(update(&f, c, &again, &terminate, &next), fmi3OK);
    assert_int_equal(f.fmi3EnterStepMode(c), fmi3OK);
    int bounces = 0;
    while (t < 2) {
        struct step step;
        assert_int_equal(do_step(&f, c, t, 0.25, &step), fmi3OK);
        assert_true(step.early == step.event && !step.terminate);
        assert_true(step.event || step.time == t + 0.25);
        t = step.time;
        if (!step.event)
            continue;
        assert_near(t, bounce_time(++bounces), 1e-12);
        assert_true(get(&f, c, 3) < 0); /* not yet handled */
        assert_int_equal(f.fmi3EnterEventMode(c), fmi3OK);
        assert_int_equal(update(&f, c, &again, &terminate, &next), fmi3OK);
        assert_true(!again && get(&f, c, 3) > 0);
        assert_int_equal(f.fmi3EnterStepMode(c), fmi3OK);
    }
    assert_int_equal(bounces, 5);
    f.fmi3FreeInstance(c);
    library_close(&library);
}

static void without_event_mode_events_stay_inside(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_BouncingBall_fmi3);
    load3(&f, &library);
    fmi3Instance c = start3(&f, &library, false, true);
    struct step step;
    assert_int_equal(do_step(&f, c, 0, 2, &step), fmi3OK);
    assert_true(!step.event && !step.early && step.time == 2);
    int32_t bounces;
    assert_int_equal(f.fmi3GetInt32(c, (unsigned[]){8}, 1, &bounces, 1), fmi3OK);
    assert_int_equal(bounces, 4);
    f.fmi3FreeInstance(c);
    library_close(&library);
}

/* Feedthrough does not claim to return early: its events at the start of a step are handled inside. */
static void only_who_claims_it_returns_early(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Feedthrough_fmi3);
    load3(&f, &library);
    fmi3Instance c = start3(&f, &library, true, true);
    bool again, terminate;
    double next;
    struct step step;
    assert_int_equal(update(&f, c, &again, &terminate, &next), fmi3OK);
    assert_int_equal(f.fmi3EnterStepMode(c), fmi3OK);
    assert_int_equal(f.fmi3SetFloat64(c, (unsigned[]){1, 6}, 2, (double[]){3, 2}, 2), fmi3OK); /* tunable_gain */
    assert_int_equal(do_step(&f, c, 0, 1, &step), fmi3OK);
    assert_true(!step.event && !step.early && step.time == 1);
    assert_near(get(&f, c, 2), 6, 0);
    f.fmi3FreeInstance(c);
    library_close(&library);
}

static void time_events_are_announced_and_hit(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Stair_fmi3);
    load3(&f, &library);
    fmi3Instance c = start3(&f, &library, true, false);
    bool again, terminate = false;
    double next;
    struct step step;
    assert_int_equal(update(&f, c, &again, &terminate, &next), fmi3OK);
    for (int i = 1; i <= 10; i++) {
        assert_near(next, i, 0);
        assert_false(terminate);
        assert_int_equal(f.fmi3EnterStepMode(c), fmi3OK);
        assert_int_equal(do_step(&f, c, i - 1, 1, &step), fmi3OK);
        assert_true(step.event && !step.early && step.time == i);
        assert_int_equal(f.fmi3EnterEventMode(c), fmi3OK);
        assert_int_equal(update(&f, c, &again, &terminate, &next), fmi3OK);
    }
    assert_true(terminate);
    f.fmi3FreeInstance(c);

    c = start3(&f, &library, true, false); /* past an announced event, without early return */
    assert_int_equal(update(&f, c, &again, &terminate, &next), fmi3OK);
    assert_int_equal(f.fmi3EnterStepMode(c), fmi3OK);
    assert_refused(do_step(&f, c, 0, 1.5, &step), "announced event");
    f.fmi3FreeInstance(c);
    c = start3(&f, &library, false, false);
    assert_int_equal(do_step(&f, c, 0, 12, &step), fmi3OK);
    assert_true(step.terminate && !step.early && step.time == 10);
    f.fmi3FreeInstance(c);
    library_close(&library);
}

/* The arguments and results of the intermediate update. */
static struct {
    struct fmi3 *f;
    fmi3Instance c;
    int finished, tentative;
    double last, stop_at, return_at; /* NAN: at once */
} watch;

static double ramp(double t)
{
    return 2 * t;
}

static void intermediate(fmi3InstanceEnvironment environment, double t, bool set_requested, bool get_allowed,
                         bool step_finished, bool can_return_early, bool *return_requested, double *return_time)
{
    (void)environment;
    const unsigned u = 1, y = 4;
    double value = ramp(t);
    assert_true(t >= watch.last && set_requested);
    if (step_finished) {
        watch.finished++;
        watch.last = t;
        assert_true(get_allowed);
        assert_int_equal(watch.f->fmi3GetFloat64(watch.c, &y, 1, &(double){0}, 1), fmi3OK);
        if (t >= watch.stop_at && can_return_early) {
            *return_requested = true;
            *return_time = isnan(watch.return_at) ? t : watch.return_at;
        }
    } else {
        watch.tentative++;
    }
    assert_int_equal(watch.f->fmi3SetFloat64(watch.c, &u, 1, &value, 1), fmi3OK);
}

static fmi3Instance start_tracker(struct fmi3 *f, struct library *library)
{
    const unsigned required[] = {1, 4};
    fmi3Instance c = f->fmi3InstantiateCoSimulation("x", library->guid, NULL, false, true, false, true, required, 2,
                                                    NULL, log3, intermediate);
    assert_non_null(c);
    assert_int_equal(f->fmi3EnterInitializationMode(c, false, 0, 0, false, 0), fmi3OK);
    assert_int_equal(f->fmi3ExitInitializationMode(c), fmi3OK);
    watch.f = f;
    watch.c = c;
    watch.finished = watch.tentative = 0;
    watch.last = 0;
    watch.stop_at = INFINITY;
    watch.return_at = NAN;
    return c;
}

/* x' = (u - x) / 0.5 with u = 2 t: the importer supplies u at every stage, so the error is that of RK4. */
static void inputs_move_in_the_intermediate_update(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Tracker_fmi3);
    load3(&f, &library);
    fmi3Instance c = start_tracker(&f, &library);
    struct step step;
    assert_int_equal(do_step(&f, c, 0, 1, &step), fmi3OK);
    assert_near(get(&f, c, 4), 2 - 1 + exp(-2), 1e-7);
    assert_int_equal(watch.finished, 50); /* of 0.02 */
    assert_int_equal(watch.tentative, 150);
    double derivative;
    assert_int_equal(f.fmi3GetOutputDerivatives(c, (unsigned[]){4}, 1, (int32_t[]){1}, &derivative, 1), fmi3OK);
    assert_near(derivative, 2 * (1 - exp(-2)), 1e-6);
    watch.stop_at = 1.5;
    assert_int_equal(do_step(&f, c, 1, 1, &step), fmi3OK);
    assert_true(step.early && !step.event);
    assert_near(step.time, 1.5, 1e-12);
    double at = step.time;
    watch.stop_at = at + 0.5;
    watch.return_at = at; /* that is over: as soon as possible then */
    assert_int_equal(do_step(&f, c, at, 1, &step), fmi3OK);
    assert_true(step.early && step.time == watch.last);
    assert_near(step.time, 2, 1e-12);
    watch.return_at = step.time + 1; /* the end of the step is not early */
    at = step.time;
    assert_int_equal(do_step(&f, c, at, 1, &step), fmi3OK);
    assert_true(!step.early && step.time == at + 1);
    watch.return_at = 99;
    assert_refused(do_step(&f, c, step.time, 1, &step), "early return");
    f.fmi3FreeInstance(c);
    assert_null(f.fmi3InstantiateCoSimulation("x", library.guid, NULL, false, true, false, true, (unsigned[]){6}, 1,
                                              NULL, log3, intermediate));
    assert_non_null(strstr(last_message, "requiredIntermediateVariables"));
    assert_null(
        f.fmi3InstantiateCoSimulation("x", library.guid, NULL, false, true, true, true, NULL, 0, NULL, log3, NULL));
    library_close(&library);
}

static void one_tick_per_step(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Ticker_fmi3);
    load3(&f, &library);
    fmi3Instance c = start3(&f, &library, false, false);
    struct step step;
    assert_int_equal(do_step(&f, c, 0, 0.1, &step), fmi3OK);
    assert_int_equal(do_step(&f, c, 0.1, 5, &step), fmi3OK);
    assert_near(get(&f, c, 2), 1, 0);
    f.fmi3FreeInstance(c);
    assert_null(f.fmi3InstantiateModelExchange("x", library.guid, NULL, false, true, NULL, log3));
    assert_null(
        f.fmi3InstantiateScheduledExecution("x", library.guid, NULL, false, true, NULL, log3, NULL, NULL, NULL));
    library_close(&library);
}

/* A fresh instance for each forbidden call. */
#define FORBIDDEN(event_mode, call, words)                                                                             \
    do {                                                                                                               \
        fmi3Instance c = start3(&f, &library, event_mode, true);                                                       \
        assert_refused(call, words);                                                                                   \
        f.fmi3FreeInstance(c);                                                                                         \
    } while (0)

static void forbidden_calls_are_refused(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Feedthrough_fmi3);
    load3(&f, &library);
    double value = 1;
    size_t n;
    struct step step;
    const unsigned constant = 7, fixed = 5, discrete = 3, in = 1, out = 2;
    FORBIDDEN(false, f.fmi3SetFloat64(c, &constant, 1, &value, 1), "must not be set");
    FORBIDDEN(false, f.fmi3SetFloat64(c, &fixed, 1, &value, 1), "must not be set");
    FORBIDDEN(false, f.fmi3SetFloat64(c, &out, 1, &value, 1), "must not be set");
    FORBIDDEN(false, f.fmi3SetFloat64(c, (unsigned[]){0}, 1, &value, 1), "must not be set");
    FORBIDDEN(false, f.fmi3SetFloat32(c, &in, 1, &(float){1}, 1), "another type");
    FORBIDDEN(false, f.fmi3EnterEventMode(c), "without event mode");
    FORBIDDEN(false, f.fmi3EnterStepMode(c), "step mode");
    FORBIDDEN(false, f.fmi3EnterConfigurationMode(c), "structural");
    FORBIDDEN(false, f.fmi3ExitConfigurationMode(c), "step mode");
    FORBIDDEN(false, f.fmi3GetNumberOfContinuousStates(c, &n), "Model Exchange");
    FORBIDDEN(false, f.fmi3SetTime(c, 1), "step mode");
    FORBIDDEN(false, do_step(&f, c, 1, 1, &step), "communication point");
    FORBIDDEN(true, do_step(&f, c, 0, 1, &step), "event mode");
    FORBIDDEN(true, f.fmi3EnterStepMode(c), "UpdateDiscreteStates");
    FORBIDDEN(false, f.fmi3GetClock(c, &in, 1, &(bool){0}), "step mode");
    FORBIDDEN(true, f.fmi3GetClock(c, &in, 1, &(bool){0}), "no clock");
    FORBIDDEN(false, f.fmi3GetDirectionalDerivative(c, &out, 1, &in, 1, &value, 1, &value, 1), "not offer");

    fmi3Instance c = start3(&f, &library, false, false);
    assert_int_equal(f.fmi3SetFloat64(c, &in, 1, &value, 1), fmi3OK);
    assert_refused(f.fmi3GetFloat64(c, &out, 1, &value, 1), "do-step");
    f.fmi3FreeInstance(c);
    c = start3(&f, &library, true, true); /* with event mode, discrete inputs change there only */
    bool again, terminate;
    double next;
    assert_int_equal(f.fmi3SetFloat64(c, &discrete, 1, &value, 1), fmi3OK);
    assert_int_equal(update(&f, c, &again, &terminate, &next), fmi3OK);
    assert_int_equal(f.fmi3EnterStepMode(c), fmi3OK);
    assert_int_equal(f.fmi3SetFloat64(c, &discrete, 1, &value, 1), fmi3OK);
    value = 2;
    assert_refused(f.fmi3SetFloat64(c, &discrete, 1, &value, 1), "event mode only");
    f.fmi3FreeInstance(c);
    library_close(&library);
}

static void a_lacking_library_lacks(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Lacking_fmi3);
    load3(&f, &library);
    assert_true(!f.fmi3GetFMUState && !f.fmi3SerializeFMUState && !f.fmi3GetDirectionalDerivative);
    assert_true(!f.fmi3GetOutputDerivatives && f.fmi3DoStep && f.fmi3Reset);
    library_close(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_types_come_back),
        cmocka_unit_test(start_values_and_states_of_all_types),
        cmocka_unit_test(arrays_change_their_size),
        cmocka_unit_test(event_mode_shows_every_bounce),
        cmocka_unit_test(without_event_mode_events_stay_inside),
        cmocka_unit_test(only_who_claims_it_returns_early),
        cmocka_unit_test(time_events_are_announced_and_hit),
        cmocka_unit_test(inputs_move_in_the_intermediate_update),
        cmocka_unit_test(one_tick_per_step),
        cmocka_unit_test(forbidden_calls_are_refused),
        cmocka_unit_test(a_lacking_library_lacks),
    };
    return cmocka_run_group_tests_name("kit: FMI 3.0", tests, NULL, NULL);
}
