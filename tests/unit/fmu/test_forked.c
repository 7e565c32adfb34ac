/* SPDX-License-Identifier: MIT */
/* An FMU in a separate process that cannot be started, is lost, or receives more than fits. */
#include "failing_processes.h"

#include <stdlib.h>

#include "fmu/fmi_call_instance.h"
#include "fmu/fmu.h"
#include "fmu/instance.h"

static struct tt_fmu *open_fmu(const char *name, enum tt_interface_kind kind)
{
    struct tt_fmu *fmu;
    char path[512];
    snprintf(path, sizeof path, TUTTI_FOLDERS "/%s", name);
    assert_ok(tt_fmu_open(&fmu, path, NULL));
    assert_ok(tt_fmu_load(fmu, kind, NULL));
    return fmu;
}

static enum tutti_err make(struct tt_instance **out, struct tt_fmu *fmu, enum tt_interface_kind kind)
{
    return tt_instance_new(out, fmu->libraries[kind], &(struct tt_instance_options){.name = "it", .forked = true});
}

/* ---- the start ---- */

static enum tutti_err start(void *context)
{
    struct tt_instance *in = NULL;
    enum tutti_err err = make(&in, context, TUTTI_CS);
    assert_int_equal(err == TUTTI_OK, in != NULL);
    tt_instance_free(in);
    assert_true(spawned == 0 || kill(spawned, 0) != 0); /* none is left */
    return err;
}

static void test_start(void **state)
{
    (void)state;
    struct tt_fmu *fmu = open_fmu("Lacking_fmi2", TUTTI_CS);
    fail_each_call(FAILING_MEMORY, ENOMEM, start, fmu);
    fail_each_call(FAILING_FILES, EMFILE, start, fmu);
    fail_each_call(FAILING_FILES, EACCES, start, fmu);
    tt_fmu_free(fmu);
}

/* ---- every call of a binding ---- */

/* `status` is the answer to all of those with values (of which there are `count`), or, if `plain`, to all. */
static void ask_all(struct tt_instance *in, enum tt_fmi_status status, size_t count, bool plain)
{
    const struct tt_binding *b = in->binding;
    uint32_t reference[1] = {0};
    int32_t order[1] = {1};
    double value[2] = {0};
    const char *text[2] = {NULL};
    size_t states = 1, indicators = 1;
    bool event = false, terminate = false;
    struct tt_fmi_step step = {0};
    struct tt_discrete_update discrete = {0};
    void *handle = NULL;
#define ASK(slot, ...)                                                                                                 \
    if (b->slot)                                                                                                       \
    assert_int_equal(b->slot(in, ##__VA_ARGS__), status)
    ASK(set, TUTTI_TYPE_FLOAT64, reference, count, value, count);
    ASK(set, TUTTI_TYPE_FLOAT64, reference, 1, value, count);
    ASK(get, TUTTI_TYPE_FLOAT64, reference, count, value, count);
    ASK(get, TUTTI_TYPE_FLOAT64, reference, 1, value, count);
    if (b->types >> TUTTI_TYPE_STRING & 1)
        ASK(get, TUTTI_TYPE_STRING, reference, count, text, 1);
    ASK(set_input_derivatives, reference, count, order, value);
    ASK(get_output_derivatives, reference, count, order, value);
    ASK(get_directional, reference, count, reference, count, value, count, value, count);
    ASK(set_states, value, count);
    ASK(get_states, value, count);
    ASK(get_derivatives, value, count);
    ASK(get_indicators, value, count);
    ASK(get_nominals, value, count);
    ASK(get_state_references, reference, count);
    if (!plain)
        return;
    ASK(set_debug_logging, true, 2, text);
    ASK(enter_configuration);
    ASK(exit_configuration);
    ASK(setup_experiment);
    ASK(enter_initialization);
    ASK(exit_initialization);
    ASK(do_step, 0, 1, true, &step);
    ASK(after_step, 0, TUTTI_STATUS_DISCARD, &step);
    ASK(enter_event);
    ASK(update_discrete, &discrete);
    ASK(enter_step);
    ASK(terminate);
    ASK(reset);
    ASK(count_states, &states, &indicators);
    ASK(set_time, 0);
    ASK(completed_step, true, &event, &terminate);
    ASK(enter_continuous);
    ASK(get_state, &handle);
    ASK(set_state, handle);
    ASK(free_state, &handle);
    assert_null(b->instantiate(in));
    if (b->after_step) /* this is not what an FMU said */
        assert_int_equal(b->after_step(in, 0, TUTTI_STATUS_MEMORY, &step), TUTTI_STATUS_MEMORY);
}

/* More values than the memory that is shared has room for: refused, and the process lives on. Then it is lost. */
static void refuse_and_lose(const char *name, enum tt_interface_kind kind)
{
    struct tt_fmu *fmu = open_fmu(name, kind);
    struct tt_instance *in;
    struct tt_saved_state saved = {0};
    assert_ok(make(&in, fmu, kind));
    ask_all(in, TUTTI_STATUS_MEMORY, (size_t)1 << 40, false);
    assert_ok(tt_instance_enter_initialization(in, &(struct tt_experiment_setup){.stop = 1, .has_stop = true}));
    assert_ok(tt_instance_exit_initialization(in));
    assert_ok(tt_saved_state_save(in, &saved));
    assert_int_equal(kill(spawned, SIGKILL), 0);
    enum tutti_err err = TUTTI_OK;
    for (int i = 0; i < 100000 && !err; i++) /* processes that it kept end soon, and not at once */
        err = tt_saved_state_save(in, &saved);
    assert_fails(err, TUTTI_ERR_LOST, "ended by signal 9");
    ask_all(in, TUTTI_STATUS_LOST, 1, true);
    tt_saved_state_discard(in, &saved);
    tt_instance_free(in);
    tt_fmu_free(fmu);
}

static void test_calls(void **state)
{
    (void)state;
    refuse_and_lose("Lacking_fmi1cs", TUTTI_CS);
    refuse_and_lose("Lacking_fmi2", TUTTI_CS);
    refuse_and_lose("Lacking_fmi3", TUTTI_CS);
    refuse_and_lose("BouncingBall_fmi2", TUTTI_ME);
    refuse_and_lose("BouncingBall_fmi3", TUTTI_ME);
    refuse_and_lose("BouncingBall_fmi1me", TUTTI_ME);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_start),
        cmocka_unit_test(test_calls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
