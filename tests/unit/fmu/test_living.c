/* SPDX-License-Identifier: MIT */
/* The environment that FMUs pass to a callback: the one they received, NULL, or an invalid pointer. */
#include "test.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "fmu/api2.h"
#include "fmu/api3.h"
#include "fmu/fmi_call.h"
#include "fmu/fmu_callbacks.h"

#define X(name, ret, params, group) ret(*name) params;
struct functions2 {
    FMI2_FUNCTIONS(X)
};
struct functions3 {
    FMI3_FUNCTIONS(X)
};
#undef X

static char heard[256]; /* "name: text" of the last message */
static unsigned updates;

static void note(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)context, (void)level;
    snprintf(heard, sizeof heard, "%s: %s", origin, text);
}

static const struct tutti_log log_of_all = {TUTTI_LOG_DEBUG, note, NULL};

static enum tutti_err update(void *context, struct tt_instance *in, struct tt_intermediate_update *intermediate)
{
    (void)context, (void)in, (void)intermediate;
    updates++;
    return TUTTI_OK;
}

/* The callbacks that the FMU received. */
static fmi2CallbackFunctions callbacks2;
static struct {
    fmi3LogMessageCallback log;
    fmi3IntermediateUpdateCallback update;
} callbacks3;
static void *environment3;

static fmi2Component instantiate2(fmi2String name, fmi2Type type, fmi2String token, fmi2String resources,
                                  const fmi2CallbackFunctions *callbacks, fmi2Boolean visible, fmi2Boolean logging_on)
{
    (void)name, (void)type, (void)token, (void)resources, (void)visible, (void)logging_on;
    memcpy(&callbacks2, callbacks, sizeof callbacks2); /* a copy: it outlives the instance */
    return &callbacks2;
}

static fmi3Instance instantiate3(fmi3String name, fmi3String token, fmi3String resources, fmi3Boolean visible,
                                 fmi3Boolean logging_on, fmi3Boolean event_mode, fmi3Boolean early_return,
                                 const fmi3ValueReference required[], size_t count, fmi3InstanceEnvironment environment,
                                 fmi3LogMessageCallback log, fmi3IntermediateUpdateCallback intermediate)
{
    (void)name, (void)token, (void)resources, (void)visible, (void)logging_on, (void)event_mode, (void)early_return;
    (void)required, (void)count;
    environment3 = environment;
    callbacks3.log = log;
    callbacks3.update = intermediate;
    return &callbacks3;
}

static struct tt_description desc;
static struct functions2 functions2 = {.fmi2Instantiate = instantiate2};
static struct functions3 functions3 = {.fmi3InstantiateCoSimulation = instantiate3};
static struct tt_library libraries[2] = {
    {.binding = &tt_fmi2_binding,
     .desc = &desc,
     .functions = (void **)&functions2,
     .kind = TUTTI_CS,
     .resources = (char *)"/"},
    {.binding = &tt_fmi3_binding,
     .desc = &desc,
     .functions = (void **)&functions3,
     .kind = TUTTI_CS,
     .can = TUTTI_CAN_INTERMEDIATE},
};

static struct tt_instance *make(int fmi, const char *name)
{
    struct tt_instance *in = calloc(1, sizeof *in);
    assert_non_null(in);
    in->library = &libraries[fmi - 2];
    in->binding = in->library->binding;
    in->functions = in->library->functions;
    in->options = (struct tt_instance_options){
        .name = name, .log = &log_of_all, .intermediate_update = update, .intermediate_count = 1};
    in->call = TUTTI_CALL_DO_STEP;
    pthread_mutex_init(&in->messages.lock, NULL);
    tt_fmu_callbacks_register(in);
    assert_non_null(in->binding->instantiate(in));
    return in;
}

static void end(struct tt_instance *in)
{
    tt_fmu_callbacks_unregister(in);
    pthread_mutex_destroy(&in->messages.lock);
    free(in->messages.texts);
    free(in->scratch);
    free(in);
}

struct call {
    int fmi;
    void *environment;
    struct tt_instance *current; /* whose call the thread is in */
};

static void *say(void *context)
{
    static unsigned said;
    const struct call *call = context;
    fmi3Boolean early = false;
    fmi3Float64 early_time = 0;
    char text[64];
    tt_fmi_call_current = call->current;
    snprintf(text, sizeof text, "%s message", said++ % 2 ? "an odd" : "an even"); /* not twice the same in a row */
    heard[0] = '\0';
    updates = 0;
    if (call->fmi == 2) {
        callbacks2.logger(call->environment, "it", fmi2OK, "status", "%s", text);
    } else {
        callbacks3.log(call->environment, fmi3OK, "status", text);
        callbacks3.update(call->environment, 0, false, true, true, false, &early, &early_time);
    }
    tt_fmi_call_current = NULL;
    return context;
}

/* From this thread or from one of the FMU's. Expected: the name of the instance that hears it; NULL: none. */
static void check(int fmi, void *environment, struct tt_instance *current, bool of_fmu, const char *expected)
{
    struct call call = {fmi, environment, current};
    pthread_t thread;
    if (of_fmu) {
        assert_int_equal(pthread_create(&thread, NULL, say, &call), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    } else {
        say(&call);
    }
    size_t length = expected ? strlen(expected) : 0;
    if (strncmp(heard, expected ? expected : "", length) != 0 || (heard[0] == '\0') != !expected)
        fail_msg("FMI %d, environment %p: heard '%s', not by %s", fmi, environment, heard,
                 expected ? expected : "none");
    assert_int_equal(updates, fmi == 3 && expected ? 1 : 0);
}

static void test_environments(void **state)
{
    (void)state;
    for (int fmi = 2; fmi <= 3; fmi++) {
        struct tt_instance *a = make(fmi, "a"), *b = make(fmi, "b"), *gone = make(fmi, "gone");
        int own = 0;
        void *odd[] = {(void *)1, (void *)2, (void *)0x1111222233334444, &own, "text", gone, NULL};
        end(gone);
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
            check(fmi, odd[i], a, false, "a"); /* whose call it is */
            check(fmi, odd[i], NULL, true, NULL);
        }
        check(fmi, a, a, false, "a");
        check(fmi, a, NULL, true, "a");
        check(fmi, b, a, false, "b");
        end(a);
        check(fmi, b, NULL, true, "b");
        check(fmi, a, NULL, true, NULL);
        end(b);
    }
}

/* An update is a part of a do-step: elsewhere it would change the state of a machine that is not in one. */
static void test_update_outside_of_a_step(void **state)
{
    (void)state;
    struct tt_instance *in = make(3, "a");
    in->call = TUTTI_CALL_GET;
    fmi3Boolean early = true;
    fmi3Float64 early_time = 0;
    updates = 0;
    callbacks3.update(in, 0, false, true, true, true, &early, &early_time);
    assert_int_equal(updates, 0);
    assert_false(early);
    end(in);
}

/* Many, in any order; those in one chain, too. */
static void test_many(void **state)
{
    (void)state;
    enum { MANY = 5000 };
    struct tt_instance *all = calloc(MANY, sizeof *all);
    assert_non_null(all);
    for (size_t i = 0; i < MANY; i++)
        tt_fmu_callbacks_register(&all[i]);
    for (size_t i = 0; i < MANY; i += 2)
        tt_fmu_callbacks_unregister(&all[i]);
    for (size_t i = 0; i < MANY; i++) {
        struct tt_fmu_callback called = tt_fmu_callbacks_enter(&all[i]);
        assert_ptr_equal(called.instance, i % 2 ? &all[i] : NULL);
        tt_fmu_callbacks_leave(called);
    }
    for (size_t i = 1; i < MANY; i += 2)
        tt_fmu_callbacks_unregister(&all[i]);
    assert_null(tt_fmu_callbacks_enter(&all[1]).instance);
    free(all);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environments),
        cmocka_unit_test(test_update_outside_of_a_step),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
