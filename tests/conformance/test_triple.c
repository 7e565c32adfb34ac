/* SPDX-License-Identifier: MIT */
/* Steps by call triples, in every version of FMI, beside the same steps by the functions of instance.h. */
#include "test.h"

#include "fmu/fmi_call_instance.h"
#include "fmu/batched_call.h"
#include "instance.h"

static const char *const versions[] = {"1cs", "2", "3"};
enum { VERSIONS = 3, STEPS = 16 };
#define H 0.125

/* An instance with a triple for its u and y. */
struct pair {
    struct live live;
    uint32_t u_reference, y_reference;
    double u, y, t;
    struct tt_batched_call triple;
};

static int clear_faults(void **state)
{
    (void)state;
    return unsetenv("KIT_FAULT");
}

static void start(struct pair *pair, const char *version)
{
    memset(pair, 0, sizeof *pair);
    live_start(&pair->live, "Faulty", version);
    pair->u_reference = reference_of(&pair->live, "u");
    pair->y_reference = reference_of(&pair->live, "y");
    const struct tt_batched_call_values in = {&pair->u_reference, &pair->u, 1, 1},
                                        out = {&pair->y_reference, &pair->y, 1, 1};
    assert_true(tt_batched_call_make(&pair->triple, pair->live.in, &in, &out));
    pair->triple.arrived = &pair->t;
    pair->triple.heartbeat = 7;
    pair->triple.quiet = 1000;
}

/* One step by the functions of instance.h. */
static enum tutti_err step_by_hand(struct pair *pair, double t, struct tt_fmi_step *step)
{
    struct tt_instance *in = pair->live.in;
    TRY(tt_instance_set(in, TUTTI_TYPE_FLOAT64, &pair->u_reference, 1, &pair->u, 1));
    TRY(tt_instance_do_step(in, t, H, true, step, NULL));
    return tt_instance_get(in, TUTTI_TYPE_FLOAT64, &pair->y_reference, 1, &pair->y, 1);
}

/* ... and by its triple; what the pass stops at is concluded, and what is left is done by hand. */
static enum tutti_err step_by_lane(struct pair *pair, double t, struct tt_fmi_step *step, enum tt_batched_call_stop *at)
{
    struct tt_instance *in = pair->live.in;
    _Atomic uint32_t heartbeat = 0;
    struct tt_batched_call_pass pass = {.heartbeat = &heartbeat};
    assert_true(tt_batched_call_aim(&pass, t, t + H, 100));
    *step = (struct tt_fmi_step){.reached = t + H};
    uint32_t reached = tt_batched_call_step(&pair->triple, 0, 1, &pass, false);
    *at = pass.at;
    assert_int_equal(reached, pass.at == TUTTI_TRIPLE_NOWHERE);
    assert_int_equal(heartbeat, pass.at == TUTTI_TRIPLE_BEFORE ? 0 : 7);
    if (pass.at == TUTTI_TRIPLE_NOWHERE)
        return TUTTI_OK;
    TRY(tt_batched_call_conclude(&pair->triple, &pass));
    if (pass.at == TUTTI_TRIPLE_SET)
        TRY(tt_instance_do_step(in, t, H, true, step, NULL));
    if (pass.at == TUTTI_TRIPLE_STEP)
        *step = pass.step;
    return pass.at == TUTTI_TRIPLE_GET ? TUTTI_OK
                                       : tt_instance_get(in, TUTTI_TYPE_FLOAT64, &pair->y_reference, 1, &pair->y, 1);
}

static void test_same_numbers(void **state)
{
    (void)state;
    for (int v = 0; v < VERSIONS; v++) {
        struct pair lane, hand;
        struct tt_fmi_step step;
        enum tt_batched_call_stop at;
        start(&lane, versions[v]);
        start(&hand, versions[v]);
        for (int k = 0; k < STEPS; k++) {
            lane.u = hand.u = k;
            assert_ok(step_by_hand(&hand, k * H, &step));
            assert_ok(step_by_lane(&lane, k * H, &step, &at));
            assert_int_equal(at, TUTTI_TRIPLE_NOWHERE);
            assert_true(lane.y == hand.y && lane.t == (k + 1) * H);
            assert_true(tt_instance_time(lane.live.in) == tt_instance_time(hand.live.in));
            assert_int_equal(tt_instance_state(lane.live.in), TUTTI_STATE_STEP);
        }
        assert_int_equal(lane.triple.quiet, 1000 - STEPS);
        live_end(&lane.live);
        live_end(&hand.live);
    }
}

/* Steps with a fault until one fails; whatever can be seen is the same. The last call that the lane stopped at. */
static enum tt_batched_call_stop compare(const char *version)
{
    struct pair lane, hand;
    enum tt_batched_call_stop at, last = TUTTI_TRIPLE_NOWHERE;
    enum tutti_err err = TUTTI_OK;
    start(&lane, version);
    start(&hand, version);
    double t = 0;
    for (int k = 0; k < STEPS && !err; k++) {
        struct tt_fmi_step step = {0}, other = {0};
        char message[4096];
        err = step_by_hand(&hand, t, &step);
        snprintf(message, sizeof message, "%s", err ? tutti_err_message() : "");
        assert_int_equal(step_by_lane(&lane, t, &other, &at), err);
        assert_string_equal(err ? tutti_err_message() : "", message);
        assert_string_equal(lane.live.messages.text, hand.live.messages.text);
        assert_int_equal(tt_instance_state(lane.live.in), tt_instance_state(hand.live.in));
        assert_true(tt_instance_time(lane.live.in) == tt_instance_time(hand.live.in));
        assert_true(err || (step.reached == other.reached && step.discarded == other.discarded &&
                            step.can_retry == other.can_retry && step.early == other.early));
        assert_true(lane.y == hand.y || err);
        last = at != TUTTI_TRIPLE_NOWHERE ? at : last;
        if (step.discarded || step.early)
            break;
        t += H;
    }
    assert_int_equal(tt_instance_warnings(lane.live.in), tt_instance_warnings(hand.live.in));
    live_end(&lane.live);
    live_end(&hand.live);
    return last;
}

static void test_faults(void **state)
{
    (void)state;
    static const char *const kinds[] = {"warning", "error", "fatal", "slip", "discard", "flood", "badlog"};
    static const char *const calls[] = {"SetReal|SetFloat64", "DoStep", "GetReal|GetFloat64"};
    static const enum tt_batched_call_stop stops[] = {TUTTI_TRIPLE_SET, TUTTI_TRIPLE_STEP, TUTTI_TRIPLE_GET};
    for (int v = 0; v < VERSIONS; v++)
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            for (int c = 0; c < 3; c++) {
                char fault[64];
                snprintf(fault, sizeof fault, "%s %s 0.5", kinds[k], calls[c]);
                setenv("KIT_FAULT", fault, 1);
                enum tt_batched_call_stop last = compare(versions[v]);
                bool says_so_only = k >= 5; /* messages: it stops where some are of errors */
                if (last != stops[c] && !(says_so_only && last == TUTTI_TRIPLE_NOWHERE))
                    fail_msg("FMI %s, %s: the lane stopped at %d, not %d", versions[v], fault, (int)last,
                             (int)stops[c]);
            }
}

static void test_early_return(void **state)
{
    (void)state;
    setenv("KIT_FAULT", "early DoStep 0.55", 1);
    assert_int_equal(compare("3"), TUTTI_TRIPLE_STEP);
}

/* A do-step of FMI 2.0 that logs an error, and returns OK. */
static int step_with_a_message(void *component, double t, double h, int no_going_back)
{
    (void)component, (void)t, (void)h, (void)no_going_back;
    tt_fmu_callbacks_message(tt_fmi_call_current_instance(), TUTTI_STATUS_ERROR, NULL, "that was close");
    return TUTTI_STATUS_OK;
}

/* It is reported after the call, before the next one. */
static void test_message_of_a_call_that_succeeds(void **state)
{
    (void)state;
    struct pair pair;
    _Atomic uint32_t heartbeat = 0;
    start(&pair, "2");
    pair.triple.step = (void (*)(void))step_with_a_message;
    struct tt_batched_call_pass pass = {.heartbeat = &heartbeat};
    assert_true(tt_batched_call_aim(&pass, 0, H, 100));
    assert_int_equal(tt_batched_call_step(&pair.triple, 0, 1, &pass, false), 0);
    assert_int_equal(pass.at, TUTTI_TRIPLE_STEP);
    assert_null(strstr(pair.live.messages.text, "that was close"));
    assert_ok(tt_batched_call_conclude(&pair.triple, &pass));
    assert_non_null(strstr(pair.live.messages.text, "that was close"));
    assert_true(pass.step.reached == H && tt_instance_time(pair.live.in) == H);
    assert_int_equal(tt_instance_state(pair.live.in), TUTTI_STATE_STEP);
    assert_null(tt_fmi_call_current_instance());
    live_end(&pair.live);
}

/* Calls that the state machine forbids are left to the general path, which reports them. */
static void test_not_in_step_mode(void **state)
{
    (void)state;
    for (int v = 0; v < VERSIONS; v++) {
        struct pair pair;
        struct tt_fmi_step step;
        enum tt_batched_call_stop at;
        start(&pair, versions[v]);
        pair.triple.quiet = 2;
        assert_ok(step_by_lane(&pair, 0, &step, &at));
        assert_int_equal(at, TUTTI_TRIPLE_NOWHERE);
        assert_ok(step_by_lane(&pair, H, &step, &at));
        assert_int_equal(at, TUTTI_TRIPLE_BEFORE);
        assert_int_equal(pair.triple.quiet, 0);
        assert_ok(tt_instance_terminate(pair.live.in));
        pair.triple.quiet = 10;
        assert_ok(step_by_lane(&pair, H, &step, &at));
        assert_int_equal(at, TUTTI_TRIPLE_BEFORE);
        struct tt_batched_call triple;
        assert_false(tt_batched_call_make(&triple, pair.live.in, &pair.triple.inputs, &pair.triple.outputs));
        live_end(&pair.live);
    }
}

/* ---- several, of several versions ---- */

/* Each reads the one before it, the first one the last. */
struct ring {
    struct pair pairs[VERSIONS];
    struct tt_batched_call triples[VERSIONS];
    uint32_t from[VERSIONS];
    double signals[VERSIONS], staged[VERSIONS];
};

static void start_ring(struct ring *ring)
{
    for (uint32_t v = 0; v < VERSIONS; v++) {
        start(&ring->pairs[v], versions[v]);
        ring->from[v] = (v + VERSIONS - 1) % VERSIONS;
        ring->signals[v] = v;
        ring->triples[v] = ring->pairs[v].triple;
        ring->triples[v].inputs.values = ring->triples[v].staged = &ring->staged[v];
        ring->triples[v].outputs.values = &ring->signals[v];
        ring->triples[v].from = &ring->from[v];
        ring->triples[v].gather_count = 1;
    }
}

static void end_ring(struct ring *ring)
{
    for (uint32_t v = 0; v < VERSIONS; v++)
        live_end(&ring->pairs[v].live);
}

/* The same by hand. */
static void step_ring(struct ring *ring, double t, bool one_by_one)
{
    struct tt_fmi_step step;
    double before[VERSIONS];
    memcpy(before, ring->signals, sizeof before);
    for (uint32_t v = 0; v < VERSIONS; v++) {
        ring->pairs[v].u = one_by_one ? ring->signals[ring->from[v]] : before[ring->from[v]];
        assert_ok(step_by_hand(&ring->pairs[v], t, &step));
        ring->signals[v] = ring->pairs[v].y;
    }
}

static void run_ring(bool one_by_one)
{
    struct ring lane, hand;
    _Atomic uint32_t heartbeat = 0;
    volatile sig_atomic_t interrupt = 0;
    struct tt_time_grid grid;
    start_ring(&lane);
    start_ring(&hand);
    tt_time_grid_init(&grid, 0, H, STEPS * H);
    struct tt_batched_call_pass pass = {.heartbeat = &heartbeat, .source = lane.signals};
    struct tt_batched_call_many many = {.grid = &grid,
                                        .span = STEPS * H,
                                        .most = 5,
                                        .interrupt = &interrupt,
                                        .from = lane.from,
                                        .staged = lane.staged,
                                        .gather_count = VERSIONS};
    assert_int_equal(tt_batched_call_run(lane.triples, VERSIONS, &pass, one_by_one, &many), VERSIONS);
    assert_int_equal(many.made, 5);
    assert_true(many.t == 5 * H && grid.next == 6 * H);

    interrupt = 1;
    tt_batched_call_run(lane.triples, VERSIONS, &pass, one_by_one, &many);
    assert_int_equal(many.made, 0);

    interrupt = 0;
    many.most = 1000;
    assert_int_equal(tt_batched_call_run(lane.triples, VERSIONS, &pass, one_by_one, &many), VERSIONS);
    assert_int_equal(many.made, STEPS - 5); /* that is the end */
    for (int k = 0; k < STEPS; k++)
        step_ring(&hand, k * H, one_by_one);
    assert_memory_equal(lane.signals, hand.signals, sizeof lane.signals);
    end_ring(&lane);
    end_ring(&hand);
}

static void test_all_at_once(void **state)
{
    (void)state;
    run_ring(false);
}

static void test_one_by_one(void **state)
{
    (void)state;
    run_ring(true);
}

/* Step by step, over passes that read the modes and those that do not. */
static void test_hops(void **state)
{
    (void)state;
    enum { HOPS = 2 * TUTTI_UNREAD_PASSES + TUTTI_FIRST_PASSES };
    struct ring lane, hand;
    _Atomic uint32_t heartbeat = 0;
    start_ring(&lane);
    start_ring(&hand);
    struct tt_batched_call_pass pass = {.heartbeat = &heartbeat, .source = lane.signals};
    for (int k = 0; k < HOPS; k++) {
        assert_true(tt_batched_call_aim(&pass, k * H, (k + 1) * H, HOPS * H));
        assert_int_equal(tt_batched_call_step_once(lane.triples, VERSIONS, &pass, true), VERSIONS);
        step_ring(&hand, k * H, true);
    }
    assert_memory_equal(lane.signals, hand.signals, sizeof lane.signals);
    lane.triples[1].quiet = 1;
    assert_true(tt_batched_call_aim(&pass, HOPS * H, (HOPS + 1) * H, HOPS * H));
    assert_int_equal(tt_batched_call_step_once(lane.triples, VERSIONS, &pass, true), 1);
    assert_int_equal(pass.at, TUTTI_TRIPLE_BEFORE);
    end_ring(&lane);
    end_ring(&hand);
}

/* One alone, along points without exact numbers: step by step, and all at once. */
static void run_alone(uint32_t v, unsigned long most, unsigned calls, struct ring *ring)
{
    _Atomic uint32_t heartbeat = 0;
    struct tt_time_grid grid;
    double arrived = 0;
    start_ring(ring);
    tt_time_grid_init(&grid, 0, 0.1, 9.97);
    struct tt_batched_call *triple = &ring->triples[v];
    triple->from = &v;
    triple->arrived = &arrived;
    triple->quiet = 1000;
    triple->heartbeat = 7;
    struct tt_batched_call_pass pass = {.heartbeat = &heartbeat, .source = ring->signals};
    struct tt_batched_call_many many = {.grid = &grid, .span = 10, .most = most};
    for (unsigned i = 0; i < calls; i++) {
        assert_int_equal(tt_batched_call_run(triple, 1, &pass, false, &many), 1);
        assert_int_equal(many.made, most < 100 ? 1 : 100);
        assert_true(arrived == many.t && tt_instance_time(ring->pairs[v].live.in) == many.t);
        assert_true(many.t == (i == 99 || most > 1 ? 9.97 : (i + 1) * 0.1));
    }
    assert_int_equal(triple->quiet, 900);
    assert_int_equal(heartbeat, 7);
    assert_int_equal(tt_batched_call_run(triple, 1, &pass, false, &many), 1);
    assert_int_equal(many.made, 0);
}

static void test_alone(void **state)
{
    (void)state;
    for (uint32_t v = 0; v < VERSIONS; v++) {
        struct ring single, whole;
        run_alone(v, 1, 100, &single);
        run_alone(v, 1000, 1, &whole);
        assert_memory_equal(single.signals, whole.signals, sizeof single.signals);
        end_ring(&single);
        end_ring(&whole);
    }
}

/* In the middle of a step, at a triple without functions, or one that must not be stepped. */
static void test_stop_in_a_step(void **state)
{
    (void)state;
    struct ring ring;
    _Atomic uint32_t heartbeat = 0;
    struct tt_time_grid grid;
    start_ring(&ring);
    tt_time_grid_init(&grid, 0, H, STEPS * H);
    struct tt_batched_call_pass pass = {.heartbeat = &heartbeat, .source = ring.signals};
    struct tt_batched_call_many many = {.grid = &grid, .span = STEPS * H, .most = 1000};
    ring.triples[1].quiet = 4;
    assert_int_equal(tt_batched_call_run(ring.triples, VERSIONS, &pass, true, &many), 1);
    assert_int_equal(pass.at, TUTTI_TRIPLE_BEFORE);
    assert_int_equal(many.made, 3);
    assert_true(many.t == 3 * H && grid.next == 4 * H && pass.aim.t == 3 * H && pass.aim.arrival == 4 * H);
    assert_true(tt_instance_time(ring.pairs[0].live.in) == 4 * H);
    assert_true(tt_instance_time(ring.pairs[1].live.in) == 3 * H);
    ring.triples[2].fmi = 0;
    assert_int_equal(tt_batched_call_step(ring.triples, 2, VERSIONS, &pass, true), 2);
    assert_int_equal(pass.at, TUTTI_TRIPLE_BEFORE);
    end_ring(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_same_numbers),
        cmocka_unit_test_teardown(test_faults, clear_faults),
        cmocka_unit_test_teardown(test_early_return, clear_faults),
        cmocka_unit_test(test_message_of_a_call_that_succeeds),
        cmocka_unit_test(test_not_in_step_mode),
        cmocka_unit_test(test_all_at_once),
        cmocka_unit_test(test_one_by_one),
        cmocka_unit_test(test_hops),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_stop_in_a_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
