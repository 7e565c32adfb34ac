/* SPDX-License-Identifier: MIT */
/* What FMI 3.0 forbids to do with clocks is an error of ours, with the clock's name, before the FMU is called (fmu/fmi_state.h, I16 to I19). */
#include "test.h"

#include "fmu/fmu.h"
#include "fmu/instance.h"

/* As in kit/models/Clocks.c. */
enum { CONSTANT = 1, TOLD = 3, TUNABLE = 5, CHANGING, COUNTDOWN, TRIGGERED, OUT, CONSTANT_COUNT, TRIGGERED_COUNT = 24 };

static const bool on = true, off = false;

struct live {
    struct tt_fmu *fmu;
    struct tt_instance *in;
};

static struct live begin(enum tt_interface_kind kind, bool leave)
{
    struct live live = {0};
    assert_ok(tt_fmu_open(&live.fmu, TUTTI_FMUS "/Clocks_fmi3.fmu", NULL));
    assert_ok(tt_fmu_load(live.fmu, kind, NULL));
    struct tt_instance_options options = {.name = "it", .event_mode = true};
    assert_ok(tt_instance_new(&live.in, live.fmu->libraries[kind], &options));
    assert_ok(tt_instance_enter_initialization(live.in, &(struct tt_experiment_setup){.stop = 1, .has_stop = true}));
    if (leave)
        assert_ok(tt_instance_exit_initialization(live.in));
    return live;
}

static void end(struct live *live)
{
    tt_instance_free(live->in);
    tt_fmu_free(live->fmu);
}

static void assert_named(enum tutti_err err, const char *words)
{
    assert_int_equal(err, TUTTI_ERR_STATE);
    if (!strstr(tutti_err_message(), words))
        fail_msg("\"%s\" does not hold \"%s\"", tutti_err_message(), words);
}

/* A fresh instance for each. */
#define FORBIDDEN(kind, leave, call, words)                                                                            \
    do {                                                                                                               \
        struct live it = begin(kind, leave);                                                                           \
        assert_named(call, words);                                                                                     \
        end(&it);                                                                                                      \
    } while (0)

static const uint32_t constant = CONSTANT, out = OUT, count = CONSTANT_COUNT;
static struct tt_clock_timing timing;

static void test_event_mode(void **state)
{
    (void)state;
    int32_t value;
    bool ticks;
    for (int kind = TUTTI_CS; kind <= TUTTI_ME; kind++) {
        enum tt_interface_kind of = (enum tt_interface_kind)kind;
        FORBIDDEN(of, true, tt_instance_clocks_set(it.in, &out, 1, &on), "no input clock ('out'");
        FORBIDDEN(of, true, tt_instance_clocks_set(it.in, &constant, 1, &off), "canBeDeactivated");
        FORBIDDEN(of, true, tt_instance_clocks_set(it.in, &count, 1, &on), "10 is no clock");
        FORBIDDEN(of, false, tt_instance_clocks_set(it.in, &constant, 1, &on), "initialisation mode");
        FORBIDDEN(of, false, tt_instance_clocks_get(it.in, &out, 1, &ticks), "initialisation mode");
        FORBIDDEN(of, true, tt_instance_get(it.in, TUTTI_TYPE_INT32, &count, 1, &value, 1),
                  "clocks do not tick ('constant_count'");
        FORBIDDEN(of, true, tt_instance_clocks_get_interval(it.in, CONSTANT, &timing), "('constant'");
        FORBIDDEN(of, true, tt_instance_clocks_get_interval(it.in, CHANGING, &timing), "('changing'");
        FORBIDDEN(of, true, tt_instance_clocks_get_interval(it.in, TRIGGERED, &timing), "('triggered'");
        FORBIDDEN(of, false, tt_instance_clocks_get_interval(it.in, TRIGGERED, &timing), "('triggered'");
        FORBIDDEN(of, false, tt_instance_clocks_get_shift(it.in, CHANGING, &timing), "not periodic ('changing'");
        FORBIDDEN(of, true, tt_instance_clocks_get_shift(it.in, CONSTANT, &timing), "event mode");
        FORBIDDEN(of, false, tt_instance_clocks_set_interval(it.in, CONSTANT, &timing), "('constant'");
        FORBIDDEN(of, true, tt_instance_clocks_activate(it.in, CONSTANT, 0), "activate a model partition");
    }
}

static void test_ticks_once(void **state)
{
    (void)state;
    struct live it = begin(TUTTI_CS, true);
    struct tt_discrete_update discrete;
    int32_t value = 0;
    assert_ok(tt_instance_clocks_set(it.in, &constant, 1, &on));
    assert_ok(tt_instance_get(it.in, TUTTI_TYPE_INT32, &count, 1, &value, 1));
    assert_int_equal(value, 1);
    assert_ok(tt_instance_update_discrete(it.in, &discrete));
    assert_named(tt_instance_get(it.in, TUTTI_TYPE_INT32, &count, 1, &value, 1), "do not tick");
    assert_named(tt_instance_clocks_set(it.in, &constant, 1, &on), "tick twice in one event mode");
    assert_ok(tt_instance_enter_step(it.in));
    assert_named(tt_instance_get(it.in, TUTTI_TYPE_INT32, &count, 1, &value, 1), "do not tick");
    assert_ok(tt_instance_enter_event(it.in));
    assert_ok(tt_instance_clocks_set(it.in, &constant, 1, &on));
    end(&it);
}

static void test_partitions(void **state)
{
    (void)state;
    const uint32_t other = TRIGGERED_COUNT;
    int32_t value = 0;
    bool ticks;
    struct live it = begin(TUTTI_SE, true);
    assert_ok(tt_instance_clocks_activate(it.in, CONSTANT, 0.5));
    assert_ok(tt_instance_get(it.in, TUTTI_TYPE_INT32, &count, 1, &value, 1));
    assert_int_equal(value, 1);
    assert_named(tt_instance_get(it.in, TUTTI_TYPE_INT32, &other, 1, &value, 1), "('triggered_count'");
    assert_named(tt_instance_clocks_activate(it.in, CONSTANT, 0.5), "twice at one time");
    assert_named(tt_instance_clocks_activate(it.in, TRIGGERED, 0.25), "before one ('triggered'");
    assert_named(tt_instance_clocks_activate(it.in, OUT, 1), "no input clock ('out'");
    assert_named(tt_instance_clocks_set(it.in, &constant, 1, &on),
                 "activate clocks in the state \"clock activation mode\"");
    assert_named(tt_instance_clocks_get(it.in, &out, 1, &ticks), "clock activation mode");
    assert_named(tt_instance_clocks_get_interval(it.in, COUNTDOWN, &timing), "('countdown'");
    assert_named(tt_instance_clocks_get_interval(it.in, TOLD, &timing), "('told'");
    assert_ok(tt_instance_clocks_activate(it.in, TRIGGERED, 0.5));
    end(&it);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_event_mode),
        cmocka_unit_test(test_ticks_once),
        cmocka_unit_test(test_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
