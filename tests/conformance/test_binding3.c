/* SPDX-License-Identifier: MIT */
/* What only FMI 3.0 has: event mode, early return, intermediate update, structural parameters, arrays, all types. */
#include "test.h"

#include "conformance.h"
#include "instance.h"

/* From rest at h = 1 the ball hits the floor at sqrt(2 / g); then after 2 v / g again and again. */
static void test_events_and_early_return(void **state)
{
    (void)state;
    struct live live;
    live_start(&live, "BouncingBall", "3");
    assert_true(tt_instance_uses_events(live.in));
    double t = 0, bounce = sqrt(2 / 9.81), v = 9.81 * bounce;
    for (int bounces = 0; bounces < 5;) {
        struct tt_fmi_step step;
        assert_ok(do_step(&live, t, 0.1, &step));
        assert_true(step.reached >= t && step.reached <= t + 0.1 + 1e-12);
        t = step.reached;
        if (!step.event)
            continue;
        assert_true(step.early);
        assert_near(t, bounce, 1e-9 * bounce);
        assert_true(get_real(&live, "v") < 0);
        assert_ok(tt_instance_enter_event(live.in));
        settle(live.in);
        assert_near(get_real(&live, "v"), 0.7 * v, 1e-8);
        v *= 0.7;
        bounce += 2 * v / 9.81;
        bounces++;
    }
    live_end(&live);
}

static void test_without_event_mode(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "BouncingBall", "3");
    struct tt_instance_options options = {
        .name = "plain", .log = &live.log, .logging_on = true, .forked = conformance_forked};
    assert_ok(tt_instance_new(&live.in, live.fmu->libraries[TUTTI_CS], &options));
    live_initialise(&live, 0, 3);
    for (int n = 0; n < 30; n++) {
        struct tt_fmi_step step;
        assert_ok(do_step(&live, n * 0.1, 0.1, &step));
        assert_false(step.event || step.early);
    }
    assert_fails(tt_instance_enter_event(live.in), TUTTI_ERR_STATE, "enter event mode");
    live_end(&live);
}

struct ramp {
    struct live *live;
    uint32_t u, y;
    unsigned calls;
};

static enum tutti_err follow(void *context, struct tt_instance *in, struct tt_intermediate_update *update)
{
    struct ramp *ramp = context;
    ramp->calls++;
    assert_true(update->time >= 0 && update->time <= 1 + 1e-12);
    double y;
    if (update->get_allowed)
        TRY(tt_instance_get(in, TUTTI_TYPE_FLOAT64, &ramp->y, 1, &y, 1));
    struct tt_fmi_step step;
    /* Anything else than get and set is refused before the FMU sees it. */
    assert_int_equal(tt_instance_do_step(in, update->time, 0.1, true, &step, NULL), TUTTI_ERR_STATE);
    return update->set_requested ? tt_instance_set(in, TUTTI_TYPE_FLOAT64, &ramp->u, 1, &update->time, 1) : TUTTI_OK;
}

/* u = t, set at every micro step, gives the solution of a slope in FMI 2.0. */
static void test_intermediate_update(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "Tracker", "3");
    struct ramp ramp = {&live, reference_of(&live, "u"), reference_of(&live, "y"), 0};
    uint32_t required[] = {ramp.u, ramp.y};
    struct tt_instance_options options = {
        .name = "ramp",
        .log = &live.log,
        .logging_on = true,
        .early_return = true,
        .forked = conformance_forked,
        .intermediate = required,
        .intermediate_count = 2,
        .intermediate_update = follow,
        .intermediate_context = &ramp,
    };
    assert_ok(tt_instance_new(&live.in, live.fmu->libraries[TUTTI_CS], &options));
    live_initialise(&live, 0, 1);
    for (int n = 0; n < 10; n++) {
        struct tt_fmi_step step;
        assert_ok(set_real(&live, "u", 0.1 * n));
        assert_ok(do_step(&live, 0.1 * n, 0.1, &step));
    }
    assert_true(ramp.calls >= 10);
    assert_near(get_real(&live, "y"), 1 - 0.5 + 0.5 * exp(-2), 0.02);
    assert_int_equal(live.messages.count, 0);
    live_end(&live);
}

/* *context: refuse again */
static enum tutti_err refuse(void *context, struct tt_instance *in, struct tt_intermediate_update *update)
{
    (void)in;
    const bool *refusing = context;
    return *refusing ? tt_fail(TUTTI_ERR_ARGUMENT, "enough at %g", update->time) : TUTTI_OK;
}

static void test_failing_callback(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "Tracker", "3");
    uint32_t u = reference_of(&live, "u");
    bool refusing = true;
    struct tt_instance_options options = {.name = "ramp",
                                          .early_return = true,
                                          .forked = conformance_forked,
                                          .intermediate = &u,
                                          .intermediate_count = 1,
                                          .intermediate_update = refuse,
                                          .intermediate_context = &refusing};
    assert_ok(tt_instance_new(&live.in, live.fmu->libraries[TUTTI_CS], &options));
    live_initialise(&live, 0, 1);
    struct tt_fmi_step step;
    assert_fails(do_step(&live, 0, 0.1, &step), TUTTI_ERR_ARGUMENT, "enough");
    assert_fails(do_step(&live, 0, 0.1, &step), TUTTI_ERR_STATE, "");
    refusing = false;
    assert_ok(tt_instance_reset(live.in)); /* all is forgotten */
    live_initialise(&live, 0, 1);
    assert_ok(do_step(&live, 0, 0.1, &step));
    assert_same_double(step.reached, 0.1);
    live_end(&live);
}

static void get_array(struct live *live, const char *name, double *values, size_t n)
{
    uint32_t reference = reference_of(live, name);
    assert_ok(tt_instance_get(live->in, TUTTI_TYPE_FLOAT64, &reference, 1, values, n));
}

/* One structural parameter resizes several arrays; an extent may become 0. */
static void test_structural_parameters(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "StateSpace", "3");
    assert_ok(live_instantiate(&live));
    uint32_t n = reference_of(&live, "n"), m = reference_of(&live, "m");
    uint64_t two = 2, zero = 0;
    assert_fails(tt_instance_exit_configuration(live.in), TUTTI_ERR_STATE, "configuration");
    assert_ok(tt_instance_enter_configuration(live.in));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_UINT64, &n, 1, &two, 1));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_UINT64, &m, 1, &zero, 1));
    assert_ok(tt_instance_exit_configuration(live.in));
    uint32_t A = reference_of(&live, "A"), x0 = reference_of(&live, "x0");
    double values[4] = {-1, 0, 0, -2}, start[2] = {1, 1};
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_FLOAT64, &A, 1, values, 4));
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_FLOAT64, &x0, 1, start, 2));
    live_initialise(&live, 0, 1);
    for (int i = 0; i < 10; i++) {
        struct tt_fmi_step step;
        assert_ok(do_step(&live, 0.1 * i, 0.1, &step));
    }
    get_array(&live, "x", start, 2);
    assert_near(start[0], exp(-1), 1e-6);
    assert_near(start[1], exp(-2), 1e-6);
    live_end(&live);
}

#define ECHO(type, ctype, word, value)                                                                                 \
    do {                                                                                                               \
        ctype in_ = (value), out_ = 0;                                                                                 \
        uint32_t from_ = reference_of(&live, word "_in"), to_ = reference_of(&live, word "_out");                      \
        assert_ok(tt_instance_set(live.in, type, &from_, 1, &in_, 1));                                                 \
        assert_ok(tt_instance_get(live.in, type, &to_, 1, &out_, 1));                                                  \
        assert_true(in_ == out_);                                                                                      \
    } while (0)

/* In event mode outputs follow inputs at once. */
static void test_all_types(void **state)
{
    (void)state;
    struct live live;
    live_start(&live, "Feedthrough", "3");
    assert_ok(tt_instance_enter_event(live.in));
    ECHO(TUTTI_TYPE_FLOAT32, float, "float32", 0.1f);
    ECHO(TUTTI_TYPE_INT8, int8_t, "int8", INT8_MIN);
    ECHO(TUTTI_TYPE_UINT8, uint8_t, "uint8", UINT8_MAX);
    ECHO(TUTTI_TYPE_INT16, int16_t, "int16", INT16_MIN);
    ECHO(TUTTI_TYPE_UINT16, uint16_t, "uint16", UINT16_MAX);
    ECHO(TUTTI_TYPE_UINT32, uint32_t, "uint32", UINT32_MAX);
    ECHO(TUTTI_TYPE_INT64, int64_t, "int64", INT64_MIN);
    ECHO(TUTTI_TYPE_UINT64, uint64_t, "uint64", UINT64_MAX);
    ECHO(TUTTI_TYPE_BOOLEAN, bool, "boolean", true);
    ECHO(TUTTI_TYPE_ENUMERATION, int64_t, "color", 2);

    struct tt_bytes in = {4, (const uint8_t *)"\0\1\xff\n"}, out = {0};
    uint32_t from = reference_of(&live, "binary_in"), to = reference_of(&live, "binary_out");
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_BINARY, &from, 1, &in, 1));
    assert_ok(tt_instance_get(live.in, TUTTI_TYPE_BINARY, &to, 1, &out, 1));
    assert_int_equal(out.size, 4);
    assert_memory_equal(out.data, in.data, 4);

    /* Arrays and scalars in one call: values are row-major and one after another. */
    uint32_t inputs[] = {reference_of(&live, "float64_in"), reference_of(&live, "matrix_in")};
    uint32_t outputs[] = {reference_of(&live, "matrix_out"), reference_of(&live, "float64_out")};
    double values[7] = {7, 1, 2, 3, 4, 5, 6}, back[7] = {0};
    assert_ok(tt_instance_set(live.in, TUTTI_TYPE_FLOAT64, inputs, 2, values, 7));
    assert_ok(tt_instance_get(live.in, TUTTI_TYPE_FLOAT64, outputs, 2, back, 7));
    for (int i = 0; i < 6; i++)
        assert_same_double(back[i], i + 1);
    assert_same_double(back[6], 7);
    settle(live.in);
    live_end(&live);
}

/* Time events: announced, and a hard end for the next step. */
static void test_next_event_time(void **state)
{
    (void)state;
    struct live live;
    live_load(&live, "Stair", "3");
    assert_ok(live_instantiate(&live));
    struct tt_experiment_setup setup = {.stop = 20, .has_stop = true};
    assert_ok(tt_instance_enter_initialization(live.in, &setup));
    assert_ok(tt_instance_exit_initialization(live.in));
    struct tt_discrete_update discrete = settle(live.in);
    assert_true(discrete.has_next_event);
    assert_same_double(discrete.next_event, 1);
    struct tt_fmi_step step;
    assert_ok(do_step(&live, 0, 1, &step));
    assert_ok(tt_instance_enter_event(live.in));
    discrete = settle(live.in);
    assert_same_double(discrete.next_event, 2);
    live_end(&live);
}

int main(int argc, char **argv)
{
    conformance_begin(argc, argv, 0, "");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events_and_early_return), cmocka_unit_test(test_without_event_mode),
        cmocka_unit_test(test_intermediate_update),     cmocka_unit_test(test_failing_callback),
        cmocka_unit_test(test_structural_parameters),   cmocka_unit_test(test_all_types),
        cmocka_unit_test(test_next_event_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
