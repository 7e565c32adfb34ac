/* SPDX-License-Identifier: MIT */
/* Clocks of the kit: which calls each kind permits, and when; partitions in event mode and in Scheduled Execution. */
#include "harness.h"

/* As in the table of kit/models/Clocks.c. */
enum {
    CONSTANT = 1,
    DECIMAL,
    TOLD,
    COMPUTED,
    TUNABLE,
    CHANGING,
    COUNTDOWN,
    TRIGGERED,
    OUT,
    CONSTANT_COUNT,
    TRIGGERED_COUNT = 24,
    ORDER = 27
};

static const bool on = true, off = false;

static fmi3Status update(struct fmi3 *f, fmi3Instance c, bool *again)
{
    bool terminate, nominals, values, defined;
    double next;
    return f->fmi3UpdateDiscreteStates(c, again, &terminate, &nominals, &values, &defined, &next);
}

static int32_t count_of(struct fmi3 *f, fmi3Instance c, unsigned vr)
{
    int32_t value = -1;
    assert_int_equal(f->fmi3GetInt32(c, &vr, 1, &value, 1), fmi3OK);
    return value;
}

static fmi3IntervalQualifier ask(struct fmi3 *f, fmi3Instance c, unsigned vr, uint64_t *counter, uint64_t *resolution)
{
    fmi3IntervalQualifier qualifier;
    assert_int_equal(f->fmi3GetIntervalFraction(c, &vr, 1, counter, resolution, &qualifier), fmi3OK);
    return qualifier;
}

static void a_tick_computes_its_partition(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Clocks_fmi3);
    load3(&f, &library);
    fmi3Instance c = start3(&f, &library, true, true);
    const unsigned clocks[] = {TRIGGERED}, out = OUT;
    bool ticks, again;
    assert_int_equal(f.fmi3GetClock(c, &out, 1, &ticks), fmi3OK);
    assert_false(ticks);
    for (int tick = 1; tick <= 4; tick++) {
        assert_int_equal(f.fmi3SetClock(c, clocks, 1, &on), fmi3OK);
        assert_int_equal(f.fmi3GetClock(c, &out, 1, &ticks), fmi3OK);
        assert_int_equal(ticks, tick % 2 == 0);
        assert_int_equal(count_of(&f, c, TRIGGERED_COUNT), tick);
        assert_int_equal(update(&f, c, &again), fmi3OK);
        assert_false(again);
        assert_int_equal(f.fmi3GetClock(c, &out, 1, &ticks), fmi3OK);
        assert_false(ticks);
    }
    f.fmi3FreeInstance(c);
    library_close(&library);
}

static void intervals_of_all_kinds(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Clocks_fmi3);
    load3(&f, &library);
    fmi3Instance c =
        f.fmi3InstantiateCoSimulation("x", library.guid, NULL, false, true, true, true, NULL, 0, NULL, log3, NULL);
    const unsigned told = TOLD, computed = COMPUTED, constant = CONSTANT, changing = CHANGING;
    uint64_t counter, resolution;
    bool again;
    assert_int_equal(f.fmi3EnterInitializationMode(c, false, 0, 0, false, 0), fmi3OK);
    assert_int_equal(f.fmi3SetIntervalFraction(c, &told, 1, &(uint64_t){1}, &(uint64_t){40}), fmi3OK);
    assert_int_equal(ask(&f, c, COMPUTED, &counter, &resolution), fmi3IntervalChanged);
    assert_int_equal(counter, 70);
    assert_int_equal(resolution, 1000);
    assert_int_equal(f.fmi3GetShiftFraction(c, &computed, 1, &counter, &resolution), fmi3OK);
    assert_int_equal(counter, 1);
    assert_int_equal(ask(&f, c, COUNTDOWN, &counter, &resolution), fmi3IntervalNotYetKnown);
    assert_int_equal(ask(&f, c, CHANGING, &counter, &resolution), fmi3IntervalChanged);
    assert_int_equal(f.fmi3ExitInitializationMode(c), fmi3OK);
    for (int tick = 1; tick <= 3; tick++) { /* the third one starts the countdown */
        if (tick > 1)
            assert_int_equal(f.fmi3EnterEventMode(c), fmi3OK);
        assert_int_equal(f.fmi3SetClock(c, &constant, 1, &on), fmi3OK);
        assert_int_equal(f.fmi3SetClock(c, &changing, 1, &on), fmi3OK);
        assert_int_equal(update(&f, c, &again), fmi3OK);
        assert_int_equal(ask(&f, c, COUNTDOWN, &counter, &resolution),
                         tick == 3 ? fmi3IntervalChanged : fmi3IntervalNotYetKnown);
        assert_int_equal(ask(&f, c, CHANGING, &counter, &resolution), fmi3IntervalChanged);
        assert_int_equal(counter, tick % 3 + 1);
        assert_int_equal(f.fmi3EnterStepMode(c), fmi3OK);
    }
    f.fmi3FreeInstance(c);
    library_close(&library);
}

/* A fresh instance in event mode for each forbidden call. */
#define FORBIDDEN(call, words)                                                                                         \
    do {                                                                                                               \
        fmi3Instance c = start3(&f, &library, true, true);                                                             \
        assert_refused(call, words);                                                                                   \
        f.fmi3FreeInstance(c);                                                                                         \
    } while (0)

static void forbidden_calls_are_refused(void **state)
{
    (void)state;
    struct fmi3 f;
    struct library library = library_open(LIB_Clocks_fmi3);
    load3(&f, &library);
    const unsigned constant = CONSTANT, out = OUT, count = CONSTANT_COUNT, changing = CHANGING, triggered = TRIGGERED,
                   decimal = DECIMAL;
    int32_t ticks;
    uint64_t counter = 1, resolution = 1;
    double interval;
    bool again;
    fmi3IntervalQualifier qualifier;
    FORBIDDEN(f.fmi3GetInt32(c, &count, 1, &ticks, 1), "does not tick");
    FORBIDDEN(f.fmi3SetClock(c, &out, 1, &on), "no input clock");
    FORBIDDEN(f.fmi3SetClock(c, &count, 1, &on), "no clock");
    FORBIDDEN(f.fmi3GetIntervalDecimal(c, &constant, 1, &interval, &qualifier), "not asked");
    FORBIDDEN(f.fmi3GetIntervalDecimal(c, &changing, 1, &interval, &qualifier), "not asked");
    FORBIDDEN(f.fmi3GetIntervalDecimal(c, &triggered, 1, &interval, &qualifier), "by no time");
    FORBIDDEN(f.fmi3GetIntervalFraction(c, &decimal, 1, &counter, &resolution, &qualifier), "no fractions");
    FORBIDDEN(f.fmi3SetIntervalFraction(c, &constant, 1, &counter, &resolution), "must not be told");
    FORBIDDEN(f.fmi3GetShiftDecimal(c, &constant, 1, &interval), "not allowed");
    FORBIDDEN(f.fmi3ActivateModelPartition(c, constant, 0), "not allowed");

    fmi3Instance c = start3(&f, &library, true, true);
    assert_int_equal(f.fmi3SetClock(c, &constant, 1, &on), fmi3OK);
    assert_refused(f.fmi3SetClock(c, &constant, 1, &off), "deactivated");
    f.fmi3FreeInstance(c);
    c = start3(&f, &library, true, true);
    assert_int_equal(f.fmi3SetClock(c, &constant, 1, &on), fmi3OK);
    assert_int_equal(update(&f, c, &again), fmi3OK);
    assert_refused(f.fmi3SetClock(c, &constant, 1, &on), "ticks twice");
    f.fmi3FreeInstance(c);
    assert_null(
        f.fmi3InstantiateCoSimulation("x", library.guid, NULL, false, true, false, true, NULL, 0, NULL, log3, NULL));
    assert_non_null(strstr(last_message, "event mode"));
    library_close(&library);
}

/* ---- Scheduled Execution ---- */

static struct fmi3 scheduled;
static fmi3Instance instance;
static int updates, locks;
static bool told;
static fmi3IntervalQualifier countdown;

static void clock_update(fmi3InstanceEnvironment environment)
{
    const unsigned out = OUT, down = COUNTDOWN;
    uint64_t counter, resolution;
    assert_ptr_equal(environment, &updates);
    updates++;
    assert_int_equal(scheduled.fmi3GetClock(instance, &out, 1, &told), fmi3OK);
    assert_int_equal(scheduled.fmi3GetIntervalFraction(instance, &down, 1, &counter, &resolution, &countdown), fmi3OK);
}

static void lock(void)
{
    locks++;
}

static fmi3Instance start_scheduled(const struct library *library)
{
    instance = scheduled.fmi3InstantiateScheduledExecution("x", library->guid, NULL, false, true, &updates, log3,
                                                           clock_update, lock, lock);
    assert_non_null(instance);
    assert_int_equal(scheduled.fmi3EnterInitializationMode(instance, false, 0, 0, false, 0), fmi3OK);
    assert_int_equal(scheduled.fmi3ExitInitializationMode(instance), fmi3OK);
    return instance;
}

static void partitions_are_activated(void **state)
{
    (void)state;
    struct library library = library_open(LIB_Clocks_fmi3);
    load3(&scheduled, &library);
    fmi3Instance c = start_scheduled(&library);
    updates = 0;
    for (int tick = 1; tick <= 4; tick++) {
        told = false;
        assert_int_equal(scheduled.fmi3ActivateModelPartition(c, TRIGGERED, tick), fmi3OK);
        assert_int_equal(told, tick % 2 == 0);
        assert_int_equal(count_of(&scheduled, c, TRIGGERED_COUNT), tick);
    }
    assert_int_equal(updates, 2);
    for (int tick = 5; tick <= 7; tick++)
        assert_int_equal(scheduled.fmi3ActivateModelPartition(c, CONSTANT, tick), fmi3OK);
    assert_int_equal(updates, 3);
    assert_int_equal(countdown, fmi3IntervalChanged);
    assert_int_equal(count_of(&scheduled, c, ORDER),
                     (((((((8 * 31) + 8) * 31 + 8) * 31 + 8) * 31 % 1000003 + 1) * 31 % 1000003 + 1) * 31 + 1) %
                         1000003);
    assert_int_equal(scheduled.fmi3Terminate(c), fmi3OK);
    scheduled.fmi3FreeInstance(c);

#define REFUSED(call, words)                                                                                           \
    do {                                                                                                               \
        c = start_scheduled(&library);                                                                                 \
        assert_int_equal(scheduled.fmi3ActivateModelPartition(c, CONSTANT, 1), fmi3OK);                                \
        assert_refused(call, words);                                                                                   \
        scheduled.fmi3FreeInstance(c);                                                                                 \
    } while (0)
    const unsigned count = TRIGGERED_COUNT, constant = CONSTANT, out = OUT;
    int32_t value;
    bool ticks;
    REFUSED(scheduled.fmi3ActivateModelPartition(c, CONSTANT, 1), "after 1");
    REFUSED(scheduled.fmi3ActivateModelPartition(c, TRIGGERED, 0.5), "lies before");
    REFUSED(scheduled.fmi3ActivateModelPartition(c, OUT, 2), "no input clock");
    REFUSED(scheduled.fmi3GetInt32(c, &count, 1, &value, 1), "not its own");
    REFUSED(scheduled.fmi3SetClock(c, &constant, 1, &on), "not allowed");
    REFUSED(scheduled.fmi3GetClock(c, &out, 1, &ticks), "not allowed");
    REFUSED(scheduled.fmi3EnterEventMode(c), "not allowed");
    library_close(&library);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tick_computes_its_partition),
        cmocka_unit_test(intervals_of_all_kinds),
        cmocka_unit_test(forbidden_calls_are_refused),
        cmocka_unit_test(partitions_are_activated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
