/* SPDX-License-Identifier: MIT */
/* FMUs are opened, looked at, loaded and brought to life while each allocation and each call about files fails once: an error, or all is as it would
 * have been. */
#include "failing.h"

#include <stdlib.h>

#include "fmu/fmu.h"
#include "fmu/instance.h"
#include "own_scratch.h"

struct model {
    const char *path;
    enum tt_interface_kind kind;
    bool loads;
};

static enum tutti_err live(const struct model *model, struct tt_fmu *fmu)
{
    struct tt_instance *in = NULL;
    const struct tt_experiment_setup setup = {.has_stop = true, .stop = 1};
    TRY(tt_fmu_load(fmu, model->kind, NULL));
    enum tutti_err err = tt_instance_new(&in, fmu->libraries[model->kind], &(struct tt_instance_options){.name = "it"});
    assert_int_equal(err == TUTTI_OK, in != NULL);
    if (err == TUTTI_ERR_FMU &&
        strstr(tutti_err_message(), "returned NULL")) /* FMI 1.0 and 2.0 allocate by a callback */
        return tt_fail_memory();
    if (!err)
        err = tt_instance_enter_initialization(in, &setup);
    if (!err)
        err = tt_instance_exit_initialization(in);
    tt_instance_free(in);
    return err;
}

/* As `tutti check` does. */
static enum tutti_err check(struct tt_fmu *fmu)
{
    struct tt_findings flaws = {0};
    TRY(tt_fmu_check(fmu, false, &flaws, NULL));
    return TUTTI_OK;
}

static enum tutti_err use(void *context)
{
    const struct model *model = context;
    struct tt_fmu *fmu;
    enum tutti_err err = tt_fmu_open(&fmu, model->path, NULL);
    assert_int_equal(err == TUTTI_OK, fmu != NULL);
    if (!err)
        err = model->loads ? live(model, fmu) : check(fmu);
    assert_true(err || fmu->desc->var_count > 0);
    tt_fmu_free(fmu);
    return err;
}

static void test_folders(void **state)
{
    (void)state;
    static const struct model models[] = {{TUTTI_FOLDERS "/BouncingBall_fmi1cs", TUTTI_CS, true},
                                          {TUTTI_FOLDERS "/BouncingBall_fmi1me", TUTTI_ME, true},
                                          {TUTTI_FOLDERS "/BouncingBall_fmi2", TUTTI_CS, true},
                                          {TUTTI_FOLDERS "/Feedthrough_fmi3", TUTTI_CS, true}};
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        struct model model = models[i];
        assert_ok(use(&model)); /* what the loader does once is done */
        fail_each_call(FAILING_MEMORY, ENOMEM, use, &model);
        fail_each_call(FAILING_FILES, EIO, use, &model);
    }
}

static void test_archive(void **state)
{
    (void)state;
    struct model model = {TUTTI_FMUS "/Resource_fmi2.fmu", TUTTI_CS, true};
    assert_int_equal(setenv("TMPDIR", scratch.path, 1), 0);
    assert_ok(use(&model));
    fail_each(use, &model);
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

static void test_checks(void **state)
{
    (void)state;
    struct model model = {TUTTI_FOLDERS "/Feedthrough_fmi2", TUTTI_CS, false};
    fail_each_call(FAILING_MEMORY, ENOMEM, use, &model);
    fail_each_call(FAILING_FILES, EIO, use, &model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),
        cmocka_unit_test_setup_teardown(test_archive, set_up, tear_down),
        cmocka_unit_test(test_checks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
