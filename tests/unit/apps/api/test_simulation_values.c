/* SPDX-License-Identifier: MIT */
/* Variables of a simulation that a program steps: names, what is known of them, values read and set between steps. */
#include "stepped.h"

#include "fmu/archive/archive.h"
#include "scratch.h"

#define FEEDTHROUGH(version) ONE(TUTTI_FMUS "/Feedthrough_fmi" version ".fmu"), TIMES(0.1, 2)

static const char *text_of(struct tutti_simulation *simulation, const char *name)
{
    const char *text = NULL;
    assert_ok(tutti_simulation_get_text(simulation, number_of(simulation, name), &text));
    return text;
}

/* ---- names ---- */

static void test_find(void **state)
{
    (void)state;
    struct tutti_run_options options = {FEEDTHROUGH("3")};
    struct tutti_simulation *simulation = open_simulation(&options);
    size_t number = 77, again;
    assert_true(tutti_simulation_variable_count(simulation) > 40);
    assert_int_not_equal(number_of(simulation, "float64_in"), number_of(simulation, "float64_out"));
    assert_true(number_of(simulation, "float64_out") < tutti_simulation_variable_count(simulation));
    again = number_of(simulation, "matrix_in[2,3]");
    assert_int_equal(number_of(simulation, "matrix_in[2,3]"), again);
    assert_int_not_equal(number_of(simulation, "matrix_in[1,3]"), again);
    assert_fails(tutti_simulation_find(simulation, "float64_inn", &number), TUTTI_ERR_ARGUMENT,
                 "did you mean 'float64_in'?");
    assert_fails(tutti_simulation_find(simulation, "", &number), TUTTI_ERR_ARGUMENT, "no variable");
    assert_int_not_equal(tutti_simulation_find(simulation, "matrix_in[2]", &number), TUTTI_OK);
    assert_int_not_equal(tutti_simulation_find(simulation, "float64_in[1]", &number), TUTTI_OK);
    assert_int_equal(number, 77);
    assert_ok(tutti_simulation_start(simulation)); /* numbers stay */
    assert_int_equal(number_of(simulation, "matrix_in[2,3]"), again);
    assert_same_double(value_of(simulation, "float64_alias"), value_of(simulation, "float64_out"));
    finish_and_free(simulation);
}

static void test_find_in_a_system(void **state)
{
    (void)state;
    struct tutti_run_options options = {
        .files = LIST("a=" TUTTI_FMUS "/VanDerPol_fmi2.fmu", "a.b=" TUTTI_FMUS "/VanDerPol_fmi3.fmu"), .file_count = 2};
    struct tutti_simulation *simulation = open_simulation(&options);
    size_t number = 77;
    struct tutti_variable about;
    assert_ok(tutti_simulation_describe(simulation, number_of(simulation, "a.b.x0"), &about));
    assert_string_equal(about.name, "a.b.x0");
    assert_ok(tutti_simulation_describe(simulation, number_of(simulation, "a.x0"), &about));
    assert_string_equal(about.name, "a.x0");
    assert_fails(tutti_simulation_find(simulation, "a.b.x00", &number), TUTTI_ERR_ARGUMENT, "did you mean 'a.b.x0'?");
    assert_fails(tutti_simulation_find(simulation, "aa.x0", &number), TUTTI_ERR_ARGUMENT, "did you mean");
    assert_fails(tutti_simulation_find(simulation, "x0", &number), TUTTI_ERR_ARGUMENT, "COMPONENT.VARIABLE");
    /* Every number has a name, which leads back to it. */
    for (size_t i = 0; i < tutti_simulation_variable_count(simulation); i++) {
        assert_ok(tutti_simulation_describe(simulation, i, &about));
        assert_int_equal(number_of(simulation, about.name), i);
    }
    assert_fails(tutti_simulation_describe(simulation, tutti_simulation_variable_count(simulation), &about),
                 TUTTI_ERR_ARGUMENT, "no variable number");
    tutti_simulation_free(simulation);
}

static void test_describe(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/BouncingBall_fmi3.fmu")}, arrays = {FEEDTHROUGH("3")};
    struct tutti_simulation *simulation = open_simulation(&options);
    struct tutti_variable about, element;
    assert_ok(tutti_simulation_describe(simulation, number_of(simulation, "h"), &about));
    assert_string_equal(about.name, "h");
    assert_string_equal(about.unit, "m");
    assert_non_null(about.description);
    assert_string_equal(about.type, "Float64");
    assert_string_equal(about.causality, "output");
    assert_string_equal(about.variability, "continuous");
    assert_false(about.is_text);
    assert_int_equal(about.count, 1);
    /* Its texts stay, also where the start loads what was set. */
    assert_ok(tutti_simulation_set(simulation, "h=2"));
    assert_ok(tutti_simulation_start(simulation));
    assert_string_equal(about.name, "h");
    assert_string_equal(about.unit, "m");
    assert_true(strlen(about.description) > 3);
    assert_same_double(value_of(simulation, "h"), 2);
    finish_and_free(simulation);

    simulation = open_simulation(&arrays);
    size_t matrix = number_of(simulation, "matrix_in"), part = number_of(simulation, "matrix_in[2,3]");
    assert_ok(tutti_simulation_describe(simulation, matrix, &about));
    assert_int_equal(about.count, 0);
    assert_ok(tutti_simulation_describe(simulation, part, &element));
    assert_int_equal(element.count, 1);
    assert_string_equal(element.name, "matrix_in[2,3]");
    assert_ok(tutti_simulation_start(simulation));
    assert_ok(tutti_simulation_describe(simulation, matrix, &about));
    assert_int_equal(about.count, 6);
    assert_null(about.unit);
    assert_ok(tutti_simulation_describe(simulation, number_of(simulation, "string_in"), &about));
    assert_true(about.is_text);
    assert_string_equal(about.type, "String");
    assert_ok(tutti_simulation_describe(simulation, number_of(simulation, "tunable_gain"), &about));
    assert_string_equal(about.causality, "parameter");
    assert_string_equal(about.variability, "tunable");
    finish_and_free(simulation);
}

/* ---- before the start ---- */

static void test_set_before_start(void **state)
{
    (void)state;
    struct tutti_run_options options = {FEEDTHROUGH("3"), .sets = LIST("gain=7", "int8_in=1"), .set_count = 2};
    struct tutti_simulation *simulation = open_simulation(&options);
    assert_ok(tutti_simulation_set(simulation, "gain=3"));
    assert_ok(tutti_simulation_set(simulation, "gain=4")); /* the last word */
    assert_ok(tutti_simulation_set(simulation, "float64_in=2.5"));
    assert_ok(tutti_simulation_set(simulation, "string_in=a=b"));
    assert_ok(tutti_simulation_set(simulation, "color_in=green"));
    assert_ok(tutti_simulation_set(simulation, "binary_in=00ff"));
    assert_ok(tutti_simulation_set(simulation, "matrix_in=1 2 3 4 5 6"));
    assert_ok(tutti_simulation_set(simulation, "vector_in[2]=20"));
    /* Told at once. */
    assert_fails(tutti_simulation_set(simulation, "gain"), TUTTI_ERR_ARGUMENT, "NAME=VALUE");
    assert_fails(tutti_simulation_set(simulation, "gin=1"), TUTTI_ERR_ARGUMENT, "did you mean 'gain'?");
    assert_fails(tutti_simulation_set(simulation, "gin=1=2"), TUTTI_ERR_ARGUMENT, "did you mean 'gain'?");
    assert_fails(tutti_simulation_set(simulation, "gain=much"), TUTTI_ERR_ARGUMENT, "'gain' takes a number");
    assert_fails(tutti_simulation_set(simulation, "int8_in=300"), TUTTI_ERR_ARGUMENT, "int8_in");
    assert_fails(tutti_simulation_set(simulation, "int32_in=2000000000"), TUTTI_ERR_ARGUMENT, "1000000000");
    assert_fails(tutti_simulation_set(simulation, "constant=1"), TUTTI_ERR_ARGUMENT, "constant");
    assert_fails(tutti_simulation_set(simulation, "color_in=blue"), TUTTI_ERR_ARGUMENT, "one of red (1)");
    assert_ok(tutti_simulation_start(simulation));
    double matrix[6], vector[3];
    assert_same_double(value_of(simulation, "float64_out"), 10);
    assert_same_double(value_of(simulation, "int8_out"), 1);
    assert_same_double(value_of(simulation, "color_out"), 3);
    assert_string_equal(text_of(simulation, "string_out"), "a=b");
    assert_string_equal(text_of(simulation, "binary_out"), "00ff");
    assert_ok(tutti_simulation_get(simulation, number_of(simulation, "matrix_out"), matrix, 6));
    assert_ok(tutti_simulation_get(simulation, number_of(simulation, "vector_out"), vector, 3));
    for (int i = 0; i < 6; i++)
        assert_same_double(matrix[i], i + 1);
    assert_same_double(vector[0], 1);
    assert_same_double(vector[1], 20);
    assert_same_double(value_of(simulation, "matrix_out[2,1]"), 4);
    finish_and_free(simulation);
}

/* Extents follow. */
static void test_set_structural_parameters(void **state)
{
    (void)state;
    struct tutti_run_options options = {ONE(TUTTI_FMUS "/StateSpace_fmi3.fmu")};
    struct tutti_simulation *simulation = open_simulation(&options);
    struct tutti_variable about;
    double u[4];
    assert_ok(tutti_simulation_set(simulation, "m=4"));
    assert_ok(tutti_simulation_set(simulation, "u=5 6 7 8"));
    assert_ok(tutti_simulation_start(simulation));
    size_t number = number_of(simulation, "u");
    assert_ok(tutti_simulation_describe(simulation, number, &about));
    assert_int_equal(about.count, 4);
    assert_ok(tutti_simulation_get(simulation, number, u, 4));
    assert_same_double(u[3], 8);
    assert_fails(tutti_simulation_get(simulation, number, u, 3), TUTTI_ERR_ARGUMENT, "'u' has 4 values, not 3");
    assert_fails(tutti_simulation_get(simulation, number_of(simulation, "u[5]"), u, 1), TUTTI_ERR_ARGUMENT, "u");
    assert_fails(tutti_simulation_set(simulation, "m=3"), TUTTI_ERR_ARGUMENT, "structuralParameter");
    finish_and_free(simulation);
    simulation = open_simulation(&options); /* what is found only at the start */
    assert_ok(tutti_simulation_set(simulation, "u=1 2 3 4 5"));
    assert_fails(tutti_simulation_start(simulation), TUTTI_ERR_ARGUMENT, "u");
    tutti_simulation_free(simulation);
}

/* ---- reading ---- */

static void test_get_all_types(void **state)
{
    (void)state;
    static const struct {
        const char *set, *name;
        double value;
    } cases[] = {
        {"float64_in=1.25", "float64_out", 1.25},
        {"float32_in=0.1", "float32_out", (double)0.1f},
        {"int8_in=-128", "int8_out", -128},
        {"uint8_in=255", "uint8_out", 255},
        {"int16_in=-32768", "int16_out", -32768},
        {"uint16_in=65535", "uint16_out", 65535},
        {"int32_in=-1000000000", "int32_out", -1e9},
        {"uint32_in=4294967295", "uint32_out", 4294967295.0},
        {"int64_in=-9007199254740992", "int64_out", -0x1p53},
        {"uint64_in=9007199254740992", "uint64_out", 0x1p53},
        {"boolean_in=true", "boolean_out", 1},
        {"color_in=yellow", "color_out", 2},
    };
    struct tutti_run_options options = {FEEDTHROUGH("3")};
    struct tutti_simulation *simulation = open_simulation(&options);
    const char *text;
    double value;
    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_ok(tutti_simulation_set(simulation, cases[i].set));
    assert_ok(tutti_simulation_start(simulation));
    for (size_t i = 0; i < LENGTH(cases); i++)
        assert_same_double(value_of(simulation, cases[i].name), cases[i].value);
    assert_same_double(value_of(simulation, "constant"), 42);
    assert_string_equal(text_of(simulation, "string_out"), "Set me!");
    assert_string_equal(text_of(simulation, "binary_out"), "666f6f");
    assert_string_equal(text_of(simulation, "strings_out"), "first");
    assert_string_equal(text_of(simulation, "strings_out[2]"), "second");
    assert_fails(tutti_simulation_get(simulation, number_of(simulation, "string_out"), &value, 1), TUTTI_ERR_ARGUMENT,
                 "get_text");
    assert_fails(tutti_simulation_get_text(simulation, number_of(simulation, "int8_out"), &text), TUTTI_ERR_ARGUMENT,
                 "is no text");
    assert_fails(tutti_simulation_get(simulation, 9999, &value, 1), TUTTI_ERR_ARGUMENT, "no variable number 9999");
    finish_and_free(simulation);
}

/* ---- setting on the way ---- */

static void test_put_all_types(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
        double good, wrong;
    } cases[] = {
        {"float64_in", "float64_out", 1e300, NAN},
        {"float32_in", "float32_out", 0.5, 1e300},
        {"int8_in", "int8_out", -128, 128},
        {"uint8_in", "uint8_out", 255, -1},
        {"int16_in", "int16_out", -32768, 1.5},
        {"uint16_in", "uint16_out", 65535, 65536},
        {"int32_in", "int32_out", -1e9, 1000000001},
        {"uint32_in", "uint32_out", 4294967295.0, -1},
        {"int64_in", "int64_out", -0x1p63, 0x1p63},
        {"uint64_in", "uint64_out", 0x1p63, 0x1p64},
        {"boolean_in", "boolean_out", 1, 2},
        {"color_in", "color_out", 3, 4},
        {"int64_in", "int64_out", 5, INFINITY},
        {"int32_in", "int32_out", 5, NAN},
        {"float64_discrete_in", "float64_discrete_out", 4, NAN},
    };
    for (int me = 0; me < 2; me++) {
        struct tutti_run_options options = {FEEDTHROUGH("3"), .solver = me ? "rk4" : NULL};
        struct tutti_simulation *simulation = start_simulation(&options);
        for (size_t i = 0; i < LENGTH(cases); i++) {
            bool is_float = strncmp(cases[i].in, "float64", 7) == 0; /* which has room for everything */
            double before = value_of(simulation, cases[i].out);
            if (!is_float)
                assert_fails(put_value(simulation, cases[i].in, cases[i].wrong), TUTTI_ERR_ARGUMENT, cases[i].in);
            assert_ok(put_value(simulation, cases[i].in, cases[i].good));
            assert_same_double(value_of(simulation, cases[i].out), before); /* the next step takes it */
            assert_ok(tutti_simulation_step(simulation));
            assert_same_double(value_of(simulation, cases[i].out), cases[i].good);
        }
        assert_ok(tutti_simulation_set(simulation, "string_in=other"));
        assert_ok(tutti_simulation_set(simulation, "binary_in=cafe"));
        assert_ok(tutti_simulation_set(simulation, "color_in=red"));
        assert_fails(put_value(simulation, "string_in", 1), TUTTI_ERR_ARGUMENT, "tutti_simulation_set");
        assert_fails(tutti_simulation_set(simulation, "color_in=blue"), TUTTI_ERR_ARGUMENT, "one of red");
        assert_ok(tutti_simulation_step(simulation));
        assert_string_equal(text_of(simulation, "string_out"), "other");
        assert_string_equal(text_of(simulation, "binary_out"), "cafe");
        assert_same_double(value_of(simulation, "color_out"), 1);
        assert_ok(tutti_simulation_set(simulation, "string_in=")); /* a second time, shorter and longer */
        assert_ok(tutti_simulation_step(simulation));
        assert_string_equal(text_of(simulation, "string_out"), "");
        finish_and_free(simulation);
    }
}

static void test_put_tunable_parameters(void **state)
{
    (void)state;
    static const char *const fmus[] = {TUTTI_FMUS "/Feedthrough_fmi2.fmu", TUTTI_FMUS "/Feedthrough_fmi3.fmu"};
    for (size_t i = 0; i < LENGTH(fmus); i++) {
        struct tutti_run_options options = {ONE(fmus[i]), TIMES(0.1, 1), .sets = LIST("float64_in=3"), .set_count = 1};
        struct tutti_simulation *simulation = start_simulation(&options);
        assert_ok(put_value(simulation, "tunable_gain", 5));
        assert_fails(put_value(simulation, "gain", 5), TUTTI_ERR_ARGUMENT, "'gain' is a fixed parameter");
        assert_fails(tutti_simulation_set(simulation, "gain=5"), TUTTI_ERR_ARGUMENT, "'gain' is a fixed parameter");
        assert_fails(put_value(simulation, "float64_out", 5), TUTTI_ERR_ARGUMENT, "continuous output");
        assert_fails(put_value(simulation, "constant", 5), TUTTI_ERR_ARGUMENT, "constant");
        assert_ok(tutti_simulation_step(simulation));
        assert_same_double(value_of(simulation, "float64_out"), 15);
        finish_and_free(simulation);
    }
}

static void test_put_arrays(void **state)
{
    (void)state;
    struct tutti_run_options options = {FEEDTHROUGH("3")};
    struct tutti_simulation *simulation = start_simulation(&options);
    struct tutti_point *point = NULL;
    size_t in = number_of(simulation, "matrix_in"), out = number_of(simulation, "matrix_out");
    const double first[6] = {1, 2, 3, 4, 5, 6};
    double got[6];
    assert_ok(tutti_simulation_put(simulation, in, first, 6));
    assert_fails(tutti_simulation_put(simulation, in, first, 5), TUTTI_ERR_ARGUMENT, "has 6 values, not 5");
    assert_ok(tutti_simulation_step(simulation));
    assert_ok(tutti_simulation_save(simulation, &point));
    /* Elements, on top of what is put and not taken yet, too. */
    assert_ok(put_value(simulation, "matrix_in[1,2]", 20));
    assert_ok(tutti_simulation_set(simulation, "matrix_in[2,3]=60"));
    assert_ok(tutti_simulation_step(simulation));
    assert_ok(tutti_simulation_get(simulation, out, got, 6));
    assert_same_double(got[0], 1);
    assert_same_double(got[1], 20);
    assert_same_double(got[5], 60);
    assert_same_double(value_of(simulation, "matrix_out[2,3]"), 60);
    /* From another point the other elements are those of that point. */
    assert_ok(tutti_simulation_restore(simulation, point));
    assert_ok(put_value(simulation, "matrix_in[2,1]", 40));
    assert_ok(tutti_simulation_step(simulation));
    assert_ok(tutti_simulation_get(simulation, out, got, 6));
    assert_same_double(got[1], 2);
    assert_same_double(got[3], 40);
    assert_same_double(got[5], 6);
    /* All at once, by a list or a single value. */
    assert_ok(tutti_simulation_set(simulation, "vector_in=7 8 9"));
    assert_ok(tutti_simulation_set(simulation, "matrix_in=3"));
    assert_fails(tutti_simulation_set(simulation, "vector_in=7 8"), TUTTI_ERR_ARGUMENT,
                 "has 3 values, and 2 are given");
    assert_ok(tutti_simulation_set(simulation, "strings_in[2]=third"));
    assert_fails(put_value(simulation, "vector_in[4]", 1), TUTTI_ERR_ARGUMENT, "vector_in");
    assert_ok(tutti_simulation_step(simulation));
    assert_ok(tutti_simulation_get(simulation, out, got, 6));
    assert_same_double(got[4], 3);
    assert_same_double(value_of(simulation, "vector_out[3]"), 9);
    assert_string_equal(text_of(simulation, "strings_out"), "first");
    assert_string_equal(text_of(simulation, "strings_out[2]"), "third");
    finish_and_free(simulation);
}

/* Where a unit has event mode, what is put is an event: with a row before and one after. */
static void test_put_is_an_event(void **state)
{
    (void)state;
    static const struct {
        const char *fmu, *solver;
        bool event;
    } cases[] = {{"3", NULL, true}, {"3", "rk4", true}, {"2", "rk4", true}, {"2", NULL, false}, {"1cs", NULL, false}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        char fmu[256];
        struct rows rows = {0};
        struct tutti_watcher watcher = WATCHER(&rows);
        snprintf(fmu, sizeof fmu, "%s/Feedthrough_fmi%s.fmu", TUTTI_FMUS, cases[i].fmu);
        struct tutti_run_options options = {ONE(fmu),
                                            TIMES(0.1, 1),
                                            .solver = cases[i].solver,
                                            .watcher = &watcher,
                                            .records = LIST("float64_out"),
                                            .record_count = 1};
        struct tutti_simulation *simulation = start_simulation(&options);
        assert_ok(tutti_simulation_advance(simulation, 0.2));
        assert_ok(put_value(simulation, "float64_in", 3));
        assert_int_equal(rows.count, 3); /* 0, 0.1, 0.2 */
        assert_ok(tutti_simulation_step(simulation));
        if (cases[i].event) {
            assert_int_equal(rows.count, 5);
            assert_same_double(row_of(&rows, 2)[1], 0);
            assert_same_double(row_of(&rows, 3)[0], 0.2);
            assert_same_double(row_of(&rows, 3)[1], 3);
        } else
            assert_int_equal(rows.count, 4);
        assert_near(row_of(&rows, rows.count - 1)[0], 0.3, 1e-15);
        assert_same_double(row_of(&rows, rows.count - 1)[1], 3);
        finish_and_free(simulation);
        rows_fini(&rows);
    }
    /* Between two rows of an output step it has none yet. */
    struct rows rows = {0};
    struct tutti_watcher watcher = WATCHER(&rows);
    struct tutti_run_options options = {FEEDTHROUGH("3"),    .has_output_step = true,        .output_step = 0.5,
                                        .watcher = &watcher, .records = LIST("float64_out"), .record_count = 1};
    struct tutti_simulation *simulation = start_simulation(&options);
    assert_ok(tutti_simulation_advance(simulation, 0.2));
    assert_ok(put_value(simulation, "float64_in", 3));
    assert_ok(tutti_simulation_step(simulation));
    assert_int_equal(rows.count, 3); /* 0, 0.2, 0.2 */
    assert_same_double(row_of(&rows, 1)[0], 0.2);
    assert_same_double(row_of(&rows, 1)[1], 0);
    assert_same_double(row_of(&rows, 2)[1], 3);
    finish_and_free(simulation);
    rows_fini(&rows);
}

/* A step response, against the solution: x' = 1 + u of Switches. */
static void test_put_moves_a_model(void **state)
{
    (void)state;
    static const char *const solvers[] = {NULL, "rk4", "bdf", "cvode"};
    for (size_t s = 0; s < LENGTH(solvers); s++) {
        struct tutti_run_options options = {ONE(TEST_FMUS "/Switches_fmi3.fmu"), TIMES(0.1, 1), .solver = solvers[s]};
        struct tutti_simulation *simulation = start_simulation(&options);
        assert_ok(put_value(simulation, "u", 1)); /* at the very beginning */
        assert_ok(tutti_simulation_advance(simulation, 0.45));
        assert_near(value_of(simulation, "x"), 0.9, 1e-6);
        assert_ok(put_value(simulation, "u", 5));
        assert_ok(put_value(simulation, "u", -2)); /* the last word */
        assert_ok(tutti_simulation_advance(simulation, 1));
        assert_near(value_of(simulation, "x"), 0.35, 1e-6);
        finish_and_free(simulation);
    }
}

/* In systems, whatever steps them and takes steps back: a' = 1 + u, b' = 1 + a, with u = 3 from t = 0.5 on. */
static void test_put_into_a_system(void **state)
{
    (void)state;
    static const struct {
        const char *coupling, *control, *extrapolate, *events, *solver;
    } cases[] = {
        {"jacobi", "fixed", "0", "none", NULL},       {"seidel", "fixed", "0", "none", NULL},
        {"relax", "fixed", "0", "none", NULL},        {"jacobi", "fixed", "1", "early", NULL},
        {"jacobi", "richardson", "1", "none", NULL},  {"jacobi", "embedded", "1", "output", NULL},
        {"seidel", "fixed", "1", "output", "rk4"},    {"jacobi", "richardson", "1", "early", "bdf"},
        {"relax", "converge", "0", "early", "cvode"}, {NULL, NULL, NULL, NULL, NULL},
    };
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct rows rows = {0};
        struct tutti_watcher watcher = WATCHER(&rows);
        struct tutti_run_options options = {
            .files = LIST("a=" TEST_FMUS "/EarlySwitches_fmi3.fmu", "b=" TEST_FMUS "/EarlySwitches_fmi3.fmu"),
            .file_count = 2,
            .connects = LIST("a.x=b.u"),
            .connect_count = 1,
            .coupling = cases[i].coupling,
            .control = cases[i].control,
            .extrapolate = cases[i].extrapolate,
            .events = cases[i].events,
            .interface = cases[i].solver ? "me" : NULL,
            .solver = cases[i].solver,
            .has_step = true,
            .step = 0.005,
            .has_rtol = true,
            .rtol = 1e-5,
            .watcher = &watcher,
            .records = LIST("a.x"),
            .record_count = 1,
        };
        struct tutti_simulation *simulation = start_simulation(&options);
        assert_ok(tutti_simulation_advance(simulation, 0.5));
        assert_fails(put_value(simulation, "b.u", 3), TUTTI_ERR_ARGUMENT, "is connected");
        assert_ok(put_value(simulation, "a.u", 3));
        size_t before = rows.count;
        assert_ok(tutti_simulation_step(simulation));
        assert_same_double(row_of(&rows, before)[0], 0.5); /* an event, with a row after it */
        assert_ok(tutti_simulation_advance(simulation, 1));
        assert_near(value_of(simulation, "a.x"), 0.5 + 0.5 * 4, 1e-6);
        assert_near(value_of(simulation, "b.x"), 1 + 0.125 + 0.25 + 0.5, 0.02);
        finish_and_free(simulation);
        rows_fini(&rows);
    }
}

static void test_put_refuses_what_others_drive(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    static const char table[] = "time,u\n0,1\n1,1\n";
    const char *input = scratch_write(&scratch, "in.csv", table, sizeof table - 1);
    struct tutti_run_options connected = {ONE(EXAMPLE("quarter_car")), TIMES(0.1, 1)},
                             driven = {ONE(TEST_FMUS "/Switches_fmi3.fmu"), TIMES(0.1, 1), .inputs = &input,
                                       .input_count = 1};
    struct tutti_simulation *simulation = start_simulation(&connected);
    assert_fails(put_value(simulation, "chassis.x_wheel", 1), TUTTI_ERR_ARGUMENT, "'chassis.x_wheel' is connected");
    assert_fails(tutti_simulation_set(simulation, "chassis.x_wheel=1"), TUTTI_ERR_ARGUMENT, "is connected");
    assert_ok(tutti_simulation_step(simulation));
    finish_and_free(simulation);
    simulation = start_simulation(&driven);
    assert_fails(put_value(simulation, "u", 1), TUTTI_ERR_ARGUMENT, "in.csv");
    assert_ok(tutti_simulation_advance(simulation, 1));
    assert_near(value_of(simulation, "x"), 2, 1e-9);
    finish_and_free(simulation);
    scratch_fini(&scratch);
}

/* A unit with separate steps receives it with its next step. */
static void test_put_waits_for_a_unit(void **state)
{
    (void)state;
    struct tutti_run_options options = {
        .files = LIST("slow=" TEST_FMUS "/Switches_fmi2.fmu", "fast=" TEST_FMUS "/Switches_fmi2.fmu"),
        .file_count = 2,
        .unit_steps = LIST("slow=0.4"),
        .unit_step_count = 1,
        .coupling = "jacobi",
        TIMES(0.1, 2)};
    struct tutti_simulation *simulation = start_simulation(&options);
    assert_ok(tutti_simulation_advance(simulation, 0.1));
    assert_ok(put_value(simulation, "slow.u", 9));
    assert_ok(put_value(simulation, "fast.u", 9));
    assert_ok(tutti_simulation_advance(simulation, 0.8));
    assert_near(value_of(simulation, "fast.x"), 0.1 + 0.7 * 10, 1e-9);
    assert_near(value_of(simulation, "slow.x"), 0.4 + 0.4 * 10, 1e-9);
    finish_and_free(simulation);
}

/* ---- FMI 1.0's negated aliases ---- */

/* Feedthrough with an input that is minus float64_in, and has separate bounds. */
static const char *make_negated(struct tt_archive **archive)
{
    static char path[4200];
    const char *folder;
    size_t size;
    assert_ok(tt_archive_open(archive, TUTTI_FMUS "/Feedthrough_fmi1cs.fmu"));
    assert_ok(tt_archive_unpack(*archive, &folder));
    snprintf(path, sizeof path, "%s/modelDescription.xml", folder);
    char *xml = slurp_file(path, &size);
    char *name = strstr(xml, "name=\"float64_in\""), *end = strstr(xml, "</ModelVariables>");
    assert_true(name && end);
    unsigned long reference = strtoul(strstr(name, "valueReference=\"") + 16, NULL, 10);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file,
            "%.*s<ScalarVariable name=\"minus\" valueReference=\"%lu\" causality=\"input\" alias=\"negatedAlias\">"
            "<Real min=\"-1\" max=\"100\"/></ScalarVariable>%s",
            (int)(end - xml), xml, reference, end);
    assert_int_equal(fclose(file), 0);
    free(xml);
    snprintf(path, sizeof path, "%s", folder);
    return path;
}

static void test_negated_alias(void **state)
{
    (void)state;
    struct tt_archive *archive = NULL;
    const char *files[1] = {make_negated(&archive)};
    struct tutti_run_options options = {.files = files, .file_count = 1, TIMES(0.1, 1)};
    struct tutti_simulation *simulation = start_simulation(&options);
    assert_ok(put_value(simulation, "minus", 50));
    assert_fails(put_value(simulation, "minus", -2), TUTTI_ERR_ARGUMENT, "from -1 to 100");
    assert_ok(tutti_simulation_step(simulation));
    assert_same_double(value_of(simulation, "float64_out"), -50);
    assert_same_double(value_of(simulation, "minus"), 50);
    assert_ok(tutti_simulation_set(simulation, "minus=7"));
    assert_ok(tutti_simulation_step(simulation));
    assert_same_double(value_of(simulation, "float64_out"), -7);
    finish_and_free(simulation);
    simulation = open_simulation(&options);
    assert_ok(tutti_simulation_set(simulation, "minus=8"));
    assert_ok(tutti_simulation_start(simulation));
    assert_same_double(value_of(simulation, "float64_out"), -8);
    finish_and_free(simulation);
    tt_archive_free(archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_find),
        cmocka_unit_test(test_find_in_a_system),
        cmocka_unit_test(test_describe),
        cmocka_unit_test(test_set_before_start),
        cmocka_unit_test(test_set_structural_parameters),
        cmocka_unit_test(test_get_all_types),
        cmocka_unit_test(test_put_all_types),
        cmocka_unit_test(test_put_tunable_parameters),
        cmocka_unit_test(test_put_arrays),
        cmocka_unit_test(test_put_is_an_event),
        cmocka_unit_test(test_put_moves_a_model),
        cmocka_unit_test(test_put_into_a_system),
        cmocka_unit_test(test_put_refuses_what_others_drive),
        cmocka_unit_test(test_put_waits_for_a_unit),
        cmocka_unit_test(test_negated_alias),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
