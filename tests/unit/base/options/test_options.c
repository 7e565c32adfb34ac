/* SPDX-License-Identifier: MIT */
/* Options by name: every kind, rejected values with their messages, and the descriptions for programs. */
#include "base/log.h"
#include "filled.h"

static void test_all_can_be_set(void **state)
{
    (void)state;
    struct tutti_run_options *options = fill_options();
    for (const struct tt_option *option = tt_options; option->name; option++)
        assert_true(tt_options_is_given(options, option));
    assert_int_equal(options->set_count, 6);
    assert_string_equal(options->sets[5], "unit4=5.5");
    assert_int_equal(options->unit_step_count, 5);
    assert_true(options->has_step && options->no_event_mode);
    assert_string_equal(options->unit_steps[0], "unit0=1.5");
    assert_string_equal(options->no_event_mode_units[4], "unit4=5.5");
    assert_ok(tutti_options_set(options, "h-max", "1000")); /* more than h-min */
    assert_ok(tt_options_check(options));
    for (const struct tt_option *option = tt_options; option->name; option++) { /* and taken back */
        assert_ok(tutti_options_set(options, option->name, NULL));
        assert_false(tt_options_is_given(options, option));
    }
    tutti_options_free(options);
    tutti_options_free(NULL);
}

static void test_texts_are_copied(void **state)
{
    (void)state;
    struct tutti_run_options *options;
    char file[] = "a.fmu", coupling[] = "seidel";
    assert_ok(tutti_options_make(&options));
    assert_ok(tutti_options_set(options, "file", file));
    assert_ok(tutti_options_set(options, "coupling", coupling));
    memset(file, 'x', sizeof file - 1);
    memset(coupling, 'x', sizeof coupling - 1);
    assert_string_equal(options->files[0], "a.fmu");
    assert_string_equal(options->coupling, "seidel");
    assert_ok(tutti_options_set(options, "coupling", "relax")); /* the last one counts */
    assert_string_equal(options->coupling, "relax");
    assert_ok(tutti_options_set_number(options, "stop", 0.1));
    assert_same_double(options->stop, 0.1);
    assert_ok(tutti_options_set(options, "correct", "true"));
    assert_ok(tutti_options_set(options, "correct", "solve"));
    assert_true(options->correct);
    assert_string_equal(options->correct_how, "solve");
    assert_ok(tutti_options_set(options, "correct", "")); /* nothing said: the first of its words */
    assert_true(options->correct && !options->correct_how);
    assert_ok(tutti_options_set(options, "correct", "linear"));
    assert_ok(tutti_options_set(options, "correct", "false"));
    assert_null(options->correct_how);
    assert_false(options->correct);
    tutti_options_free(options);
}

static void test_refused(void **state)
{
    (void)state;
    static const struct {
        const char *name, *value, *message;
    } wrong[] = {
        {"rtoll", "1", "there is no option 'rtoll'; did you mean 'rtol'?"},
        {"zzzzzzzz", "1", "there is no option 'zzzzzzzz'"},
        {"rtol", "a lot", "rtol takes a number, not 'a lot'"},
        {"rtol", "0", "rtol takes a number greater than 0, not '0'"},
        {"h-min", "inf", "h-min takes a number greater than 0, not 'inf'"},
        {"start", "", "start takes a number, not ''"},
        {"step", "x", "step takes a number"},
        {"threads", "0", "threads takes a whole number from 1 to 1024, not '0'"},
        {"threads", "1.5", "threads takes a whole number"},
        {"max-iterations", "1000001", "from 1 to 1000000"},
        {"correct", "maybe", "correct takes linear or solve, not 'maybe'"},
        {"coupling", "Jacobi", "coupling takes auto, jacobi, seidel, relax"},
        {"extrapolate", "4", "extrapolate takes auto, 0, 1, 2 or 3, not '4'"},
    };
    struct tutti_run_options *options;
    assert_ok(tutti_options_make(&options));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_fails(tutti_options_set(options, wrong[i].name, wrong[i].value), TUTTI_ERR_ARGUMENT, wrong[i].message);
        assert_null(strstr(tutti_err_message(), "--"));
    }
    for (const struct tt_option *option = tt_options; option->name; option++)
        assert_false(tt_options_is_given(options, option));
    assert_ok(tutti_options_set(options, "start", "-1e300"));
    assert_ok(tutti_options_set(options, "h-min", "2"));
    assert_ok(tutti_options_set(options, "h-max", "1"));
    assert_fails(tt_options_check(options), TUTTI_ERR_ARGUMENT, "h-min 2 is more than h-max 1");
    tutti_options_free(options);
}

/* Sets that were not read from texts: what came over a network, say. */
static void test_whole_sets_are_checked(void **state)
{
    (void)state;
    struct tutti_run_options good = {0}, number = {.has_atol = true, .atol = -1}, word = {.sweeps = "up"},
                             count = {.threads = 5000};
    assert_ok(tt_options_check(&good));
    assert_fails(tt_options_check(&number), TUTTI_ERR_ARGUMENT, "atol takes a number greater than 0, not '-1'");
    assert_fails(tt_options_check(&word), TUTTI_ERR_ARGUMENT, "sweeps takes seidel or jacobi, not 'up'");
    assert_fails(tt_options_check(&count), TUTTI_ERR_ARGUMENT, "threads takes a whole number");
}

static void remember(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    (void)level, (void)origin;
    snprintf(context, 100, "%s", text);
}

static void test_spelling(void **state)
{
    (void)state;
    char said[100];
    struct tutti_log log = {.level = TUTTI_LOG_INFO, .write = remember, .context = said};
    for (int dashes = 0; dashes < 2; dashes++) {
        tutti_options_name_with_dashes(dashes);
        tt_log(&log, TUTTI_LOG_INFO, NULL, "--step 'a--b' (--rtol) --1 -- '--set x' ---");
        assert_string_equal(said, dashes ? "--step 'a--b' (--rtol) --1 -- '--set x' ---"
                                         : "step 'a--b' (rtol) --1 -- 'set x' ---");
        assert_int_equal(tt_fail(TUTTI_ERR_ARGUMENT, "use --h-max"), TUTTI_ERR_ARGUMENT);
        assert_string_equal(tutti_err_message(), dashes ? "use --h-max" : "use h-max");
        assert_int_equal(tt_fail(TUTTI_ERR_ARGUMENT, "`tutti info --variables` lists them, not --set"),
                         TUTTI_ERR_ARGUMENT);
        assert_string_equal(tutti_err_message(), dashes ? "`tutti info --variables` lists them, not --set"
                                                        : "`tutti info --variables` lists them, not set");
    }
    tutti_options_name_with_dashes(false);
}

/* Help, completion and docs have something to say of each, and programs can list them. */
static void test_descriptions(void **state)
{
    (void)state;
    struct tutti_option_description described;
    size_t count = 0;
    for (const struct tt_option *option = tt_options; option->name; option++, count++) {
        bool takes_text = option->kind != TUTTI_OPTION_FLAG && option->kind != TUTTI_OPTION_UNITS;
        assert_true(tutti_options_describe(count, &described));
        assert_string_equal(described.name, option->name);
        assert_true(described.help && *described.help);
        assert_int_equal(described.repeatable, option->length > 0);
        assert_true(!option->commands == !option->group);
        assert_int_equal(option->argument != NULL, takes_text && strcmp(option->name, "file") != 0);
        assert_true(option->kind != TUTTI_OPTION_COUNT || option->most > 0);
        assert_ptr_equal(tt_options_find(option->name), option); /* no name is there twice */
    }
    assert_int_equal(count, TUTTI_OPTIONS_TOTAL);
    assert_false(tutti_options_describe(count, &described));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_can_be_set), cmocka_unit_test(test_texts_are_copied),
        cmocka_unit_test(test_refused),        cmocka_unit_test(test_whole_sets_are_checked),
        cmocka_unit_test(test_spelling),       cmocka_unit_test(test_descriptions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
