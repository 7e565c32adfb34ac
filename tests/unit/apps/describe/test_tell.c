/* SPDX-License-Identifier: MIT */
#include <jansson.h>
#include <signal.h>
#include <tutti/tutti.h>

#include "own_scratch.h"

#define KIT(name) TUTTI_FMUS "/" name ".fmu"

/* ---- helpers ---- */

/* Pairs of names and values, ended by a NULL name. */
static struct tutti_run_options *options_of(const char *const *given)
{
    struct tutti_run_options *options;
    assert_ok(tutti_options_make(&options));
    for (; *given; given += 2)
        assert_ok(tutti_options_set(options, given[0], given[1]));
    return options;
}
#define OPTIONS(...) options_of((const char *const[]){__VA_ARGS__, NULL})

/* Takes the text. */
static json_t *parse(char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    if (!json)
        fail_msg("%s at %d:\n%s", error.text, error.position, text);
    tutti_tell_free(text);
    return json;
}

static const char *text_at(const json_t *json, const char *key)
{
    return json_string_value(json_object_get(json, key));
}

static long long number_at(const json_t *json, const char *key)
{
    return (long long)json_integer_value(json_object_get(json, key));
}

/* Takes the options. */
static json_t *check(struct tutti_run_options *options, unsigned how)
{
    char *text = NULL;
    assert_ok(tutti_tell_check(&text, options, how));
    tutti_options_free(options);
    return parse(text);
}

struct heard {
    unsigned errors, warnings;
    char last[300];
};

static void hear(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct heard *heard = context;
    (void)origin;
    heard->errors += level == TUTTI_LOG_ERROR;
    heard->warnings += level == TUTTI_LOG_WARNING;
    snprintf(heard->last, sizeof heard->last, "%s", text);
}

/* ---- info ---- */

static void test_info(void **state)
{
    (void)state;
    char *text = NULL;
    assert_ok(tutti_tell_info(&text, KIT("BouncingBall_fmi3")));
    json_t *json = parse(text);
    assert_string_equal(text_at(json, "modelName"), "BouncingBall");
    assert_string_equal(text_at(json_array_get(json_object_get(json, "variables"), 0), "name"), "time");
    json_decref(json);

    struct tutti_run_options *options = OPTIONS("file", "ball=" KIT("BouncingBall_fmi2"));
    assert_ok(tutti_save(scratch_path(&scratch, "ball.ssp"), options));
    tutti_options_free(options);
    assert_ok(tutti_tell_info(&text, scratch_path(&scratch, "ball.ssp")));
    json = parse(text);
    assert_string_equal(text_at(json_array_get(json_object_get(json, "components"), 0), "name"), "ball");
    assert_int_equal(number_at(json, "errors"), 0);
    json_decref(json);

    text = NULL;
    assert_fails(tutti_tell_info(&text, "nothing.fmu"), TUTTI_ERR_IO, "nothing.fmu");
    assert_fails(tutti_tell_info(&text, scratch_write(&scratch, "bad.ssp", "x", 1)), TUTTI_ERR_FORMAT, "bad.ssp");
    static const char osp[] = "<OspSystemStructure "
                              "xmlns=\"http://opensimulationplatform.com/MSMI/OSPSystemStructure\" version=\"0.1\"/>";
    assert_fails(tutti_tell_info(&text, scratch_write(&scratch, "OspSystemStructure.xml", osp, sizeof osp - 1)),
                 TUTTI_ERR_ARGUMENT, "`tutti new OUT.ssp FILE`");
    assert_null(text);
    tutti_tell_free(NULL);
}

/* ---- check ---- */

static void test_check(void **state)
{
    (void)state;
    json_t *json = check(OPTIONS("file", KIT("BouncingBall_fmi2")), TUTTI_CHECK_RUN);
    assert_int_equal(number_at(json, "errors"), 0);
    json_decref(json);

    /* A fault of a file that two units share is reported once, with both. */
    json = check(OPTIONS("file", "a=" KIT("Claiming_fmi2"), "file", "b=" KIT("Claiming_fmi2"), "file",
                         "c=" KIT("Dahlquist_fmi2")),
                 0);
    json_t *findings = json_object_get(json, "findings");
    assert_int_equal(number_at(json, "warnings"), 2);
    assert_int_equal(json_array_size(findings), 2);
    json_t *finding = json_array_get(findings, 0), *units = json_object_get(finding, "units");
    assert_string_equal(text_at(finding, "severity"), "warning");
    assert_string_equal(text_at(finding, "file"), KIT("Claiming_fmi2"));
    assert_non_null(strstr(text_at(finding, "text"), "the library lacks"));
    assert_int_equal(json_array_size(units), 2);
    assert_string_equal(json_string_value(json_array_get(units, 1)), "b");
    json_decref(json);
}

static void test_check_wrong(void **state)
{
    (void)state;
    json_t *json = check(OPTIONS("file", "nothing.fmu"), 0);
    assert_int_equal(number_at(json, "errors"), 1);
    json_t *finding = json_array_get(json_object_get(json, "findings"), 0);
    assert_non_null(strstr(text_at(finding, "text"), "nothing.fmu"));
    assert_true(json_is_null(json_object_get(finding, "file")) && json_is_null(json_object_get(finding, "line")));
    json_decref(json);

    json = check(OPTIONS("file", "a=" KIT("ChainMass_fmi2"), "file", "b=" KIT("ChainMass_fmi2"), "connect",
                         "a.nothing=b.x_left"),
                 0);
    assert_int_equal(number_at(json, "errors"), 1);
    finding = json_array_get(json_object_get(json, "findings"), 0);
    assert_non_null(strstr(text_at(finding, "text"), "nothing"));
    assert_int_equal(json_array_size(json_object_get(finding, "units")), 0);
    json_decref(json);

    char *text = NULL;
    struct tutti_run_options *none;
    assert_ok(tutti_options_make(&none));
    assert_fails(tutti_tell_check(&text, none, 0), TUTTI_ERR_ARGUMENT, "no file is named");
    tutti_options_free(none);
}

/* ---- graph ---- */

static struct tutti_run_options *masses(void)
{
    return OPTIONS("file", "a=" KIT("ChainMass_fmi2"), "file", "b=" KIT("ChainMass_fmi2"), "connect", "a.x=b.x_left",
                   "connect", "b.F=a.F_right");
}

static void test_graph(void **state)
{
    (void)state;
    char *text = NULL;
    struct tutti_run_options *options = masses();
    assert_ok(tutti_tell_graph(&text, options, "json", "run"));
    json_t *json = parse(text);
    assert_string_equal(text_at(json, "phase"), "run");
    assert_int_equal(json_array_size(json_object_get(json, "connections")), 2);
    json_decref(json);
    assert_ok(tutti_tell_graph(&text, options, "dot", "initial"));
    assert_int_equal(strncmp(text, "digraph", 7), 0);
    tutti_tell_free(text);
    text = NULL;
    assert_fails(tutti_tell_graph(&text, options, "png", "run"), TUTTI_ERR_ARGUMENT, "json, dot or svg, not 'png'");
    assert_fails(tutti_tell_graph(&text, options, "dot", "later"), TUTTI_ERR_ARGUMENT, "phase takes initial or run");
    tutti_options_free(options);
    options = OPTIONS("file", "nothing.ssp");
    assert_fails(tutti_tell_graph(&text, options, "dot", "run"), TUTTI_ERR_IO, "nothing.ssp");
    tutti_options_free(options);
    assert_null(text);
}

/* What cannot be drawn is said, and the rest is. */
static void test_graph_of_a_broken_system(void **state)
{
    (void)state;
    static const char ssd[] =
        "<ssd:SystemStructureDescription version='1.0' name='x' "
        "xmlns:ssd='http://ssp-standard.org/SSP1/SystemStructureDescription' "
        "xmlns:ssc='http://ssp-standard.org/SSP1/SystemStructureCommon'><ssd:System name='x'><ssd:Elements>"
        "<ssd:Component name='ball' source='" KIT("BouncingBall_fmi2") "'/></ssd:Elements><ssd:Connections>"
                                                                       "<ssd:Connection startElement='ball' "
                                                                       "startConnector='h' endElement='gone' "
                                                                       "endConnector='u'/></ssd:Connections>"
                                                                       "</ssd:System></ssd:SystemStructureDescription>";
    struct heard heard = {0};
    struct tutti_log log = {TUTTI_LOG_WARNING, hear, &heard};
    struct tutti_run_options *options =
        OPTIONS("file", scratch_write(&scratch, "SystemStructure.ssd", ssd, sizeof ssd - 1));
    char *text = NULL;
    tutti_options_set_log(options, &log);
    assert_ok(tutti_tell_graph(&text, options, "dot", "run"));
    assert_non_null(strstr(text, "ball"));
    assert_true(heard.errors > 0);
    assert_non_null(strstr(heard.last, "SystemStructure.ssd:1: "));
    tutti_tell_free(text);
    tutti_options_free(options);
}

/* A program of this name is what is found. */
static void put_program(const char *name, const char *script)
{
    scratch_write(&scratch, name, script, strlen(script));
    assert_int_equal(chmod(scratch.joined, 0700), 0);
    assert_int_equal(setenv("PATH", scratch.path, 1), 0);
}

static void test_drawing(void **state)
{
    (void)state;
    char *text = NULL, *path = getenv("PATH");
    char before[4096];
    struct tutti_run_options *options = masses();
    copy_text(before, sizeof before, path ? path : "");
    setenv("PATH", scratch.path, 1);
    assert_fails(tutti_tell_graph(&text, options, "svg", "run"), TUTTI_ERR_UNSUPPORTED,
                 "dot, which draws the pictures, is not installed (Debian package graphviz");
    put_program("dot", "#!/bin/sh\necho \"$1 $LC_ALL\"\nread first && echo \"$first\"\n");
    assert_ok(tutti_tell_graph(&text, options, "svg", "run"));
    assert_string_equal(text, "-Tsvg C.UTF-8\ndigraph system {\n");
    tutti_tell_free(text);
    void (*handler)(int) = signal(SIGCHLD, SIG_IGN); /* a program that does not want to know how others end */
    assert_ok(tutti_tell_graph(&text, options, "svg", "run"));
    tutti_tell_free(text);
    signal(SIGCHLD, handler);
    text = NULL;
    put_program("dot", "#!/bin/sh\necho half\necho 'Error: <stdin>: no room' >&2\necho more >&2\nexit 1\n");
    assert_fails(tutti_tell_graph(&text, options, "svg", "run"), TUTTI_ERR_IO, "failed: Error: <stdin>: no room");
    put_program("dot", "#!/bin/sh\nkill -9 $$\n");
    assert_fails(tutti_tell_graph(&text, options, "svg", "run"), TUTTI_ERR_IO, "failed");
    put_program("dot", "#!/bin/sh\n:\n");
    assert_fails(tutti_tell_graph(&text, options, "svg", "run"), TUTTI_ERR_IO, "has drawn nothing");
    assert_null(text);
    setenv("PATH", before, 1);
    tutti_options_free(options);
}

/* ---- analysis ---- */

static void test_analysis(void **state)
{
    (void)state;
    char *text = NULL;
    struct tutti_run_options *options = masses();
    assert_ok(tutti_tell_analysis(&text, options, 2));
    json_t *json = parse(text);
    assert_int_equal(number_at(json, "units"), 2);
    assert_true(json_is_true(json_object_get(json, "initialised")));
    assert_non_null(text_at(json_object_get(json_object_get(json, "choices"), "coupling"), "value"));
    assert_int_equal(json_array_size(json_object_get(json_object_get(json, "placement"), "ranks")), 2);
    json_decref(json);
    assert_fails(tutti_tell_analysis(&text, options, -1), TUTTI_ERR_ARGUMENT, "ranks takes a whole number from 1 to");
    assert_ok(tutti_options_set(options, "place", "nothing=1"));
    assert_fails(tutti_tell_analysis(&text, options, 2), TUTTI_ERR_ARGUMENT, "nothing");
    tutti_options_free(options);
    options = OPTIONS("file", "nothing.ssp");
    assert_fails(tutti_tell_analysis(&text, options, 0), TUTTI_ERR_IO, "nothing.ssp");
    tutti_options_free(options);
}

/* ---- comparison ---- */

static void test_comparison(void **state)
{
    (void)state;
    char a[200], b[200], *text = NULL;
    copy_text(a, sizeof a, scratch_write(&scratch, "a.csv", "time,x,y\n0,1,2\n1,2,2\n", 21));
    copy_text(b, sizeof b, scratch_write(&scratch, "b.csv", "time,x,y\n0,1,2\n1,3,2\n", 21));
    assert_ok(tutti_tell_comparison(&text, a, b, NULL, 0, NULL));
    json_t *json = parse(text);
    assert_true(json_is_false(json_object_get(json, "agree")));
    json_t *worst = json_array_get(json_object_get(json, "variables"), 0);
    assert_string_equal(text_at(worst, "name"), "x");
    assert_near(json_real_value(json_object_get(worst, "error")), 1, 1e-12);
    json_decref(json);
    const struct tutti_tell_option lenient[] = {
        {"rtol", "0.5"}, {"variable", "y"}, {"variable", "x"}, {"strict", "false"}};
    assert_ok(tutti_tell_comparison(&text, a, b, lenient, 4, NULL));
    json = parse(text);
    assert_true(json_is_true(json_object_get(json, "agree")));
    assert_int_equal(number_at(json, "compared"), 2);
    json_decref(json);
}

static void test_comparison_refused(void **state)
{
    (void)state;
    static const struct {
        struct tutti_tell_option option;
        const char *says;
    } wrong[] = {
        {{"rtoll", "1"}, "there is no option 'rtoll'; did you mean 'rtol'?"},
        {{"rtol", "x"}, "rtol takes a number, not 'x'"},
        {{"ttol", "-1"}, "ttol must not be negative"},
        {{"stop", "inf"}, "stop must be finite"},
        {{"strict", "yes"}, "strict takes true or false, not 'yes'"},
        {{"variable", "q*"}, "'q*'"},
    };
    char a[200], *text = NULL;
    copy_text(a, sizeof a, scratch_write(&scratch, "a.csv", "time,x\n0,1\n1,2\n", 15));
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(tutti_tell_comparison(&text, a, a, &wrong[i].option, 1, NULL), TUTTI_ERR_ARGUMENT, wrong[i].says);
    assert_fails(tutti_tell_comparison(&text, a, "nothing.csv", NULL, 0, NULL), TUTTI_ERR_IO, "nothing.csv");
    assert_fails(tutti_tell_comparison(&text, "-", "-", NULL, 0, NULL), TUTTI_ERR_ARGUMENT, "standard input");
    assert_null(text);
}

/* ---- plot ---- */

static void test_plot(void **state)
{
    (void)state;
    char path[200], *picture = NULL, before[4096];
    const char *const results[] = {path, path, path};
    const struct tutti_tell_option options[] = {
        {"variable", "x"}, {"variable", "y"}, {"title", "Two"}, {"size", "300x400"}};
    size_t size = 0;
    copy_text(path, sizeof path, scratch_write(&scratch, "a.csv", "time,x,y\n0,1,2\n1,2,2\n", 21));
    copy_text(before, sizeof before, getenv("PATH") ? getenv("PATH") : "");
    setenv("PATH", scratch.path, 1);
    assert_fails(tutti_tell_plot(&picture, &size, "svg", results, 1, NULL, 0, NULL), TUTTI_ERR_UNSUPPORTED,
                 "gnuplot, which draws the pictures, is not installed (Debian package gnuplot-nox)");
    put_program("gnuplot", "#!/bin/sh\nwhile read line; do echo \"$line\"; done\n");
    assert_ok(tutti_tell_plot(&picture, &size, "png", results, 2, options, 4, NULL));
    assert_int_equal(strlen(picture), size);
    assert_non_null(strstr(picture, "set terminal pngcairo"));
    assert_non_null(strstr(picture, "size 300,400"));
    tutti_tell_free(picture);
    picture = NULL;
    put_program("gnuplot", "#!/bin/sh\necho '  line 0: unknown or ambiguous terminal type' >&2; exit 1\n");
    assert_fails(tutti_tell_plot(&picture, &size, "pdf", results, 1, NULL, 0, NULL), TUTTI_ERR_UNSUPPORTED,
                 "any gnuplot can draw .svg");
    setenv("PATH", before, 1);
    assert_fails(tutti_tell_plot(&picture, &size, "bmp", results, 1, NULL, 0, NULL), TUTTI_ERR_ARGUMENT, "not 'bmp'");
    assert_fails(tutti_tell_plot(&picture, &size, "svg", results, 0, NULL, 0, NULL), TUTTI_ERR_ARGUMENT, "no result");
    assert_fails(tutti_tell_plot(&picture, &size, "svg", results, 3, NULL, 0, NULL), TUTTI_ERR_ARGUMENT,
                 "one or two results are drawn, not 3");
    static const struct {
        struct tutti_tell_option option;
        const char *says;
    } wrong[] = {
        {{"size", "3"}, "size takes WIDTHxHEIGHT"},   {{"size", "30x20"}, "too small for 2 panels"},
        {{"difference", "true"}, "needs two"},        {{"y_log", "true"}, "did you mean 'y-log'?"},
        {{"start", "2"}, "goes from 0 to 1"},         {{"xy", "x,z"}, "'z'"},
        {{"stop", "-inf"}, "start has to be before"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_fails(tutti_tell_plot(&picture, &size, "svg", results, 1, &wrong[i].option, 1, NULL), TUTTI_ERR_ARGUMENT,
                     wrong[i].says);
    assert_null(picture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_info, set_up, tear_down),
        cmocka_unit_test(test_check),
        cmocka_unit_test(test_check_wrong),
        cmocka_unit_test(test_graph),
        cmocka_unit_test_setup_teardown(test_graph_of_a_broken_system, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_drawing, set_up, tear_down),
        cmocka_unit_test(test_analysis),
        cmocka_unit_test_setup_teardown(test_comparison, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_comparison_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plot, set_up, tear_down),
    };
    return cmocka_run_group_tests_name("tell", tests, NULL, NULL);
}
