/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "description.h"
#include "failing.h"
#include "model/system/trajectory.h"

static const char text[] =
    "<?xml version=\"1.0\"?><fmiModelDescription fmiVersion=\"2.0\" modelName=\"m\" guid=\"g\">"
    "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>"
    "<ScalarVariable name=\"u\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>"
    "<ScalarVariable name=\"d\" valueReference=\"2\" causality=\"input\" variability=\"discrete\"><Real start=\"0\"/>"
    "</ScalarVariable>"
    "<ScalarVariable name=\"b\" valueReference=\"3\" causality=\"input\" variability=\"discrete\">"
    "<Boolean start=\"false\"/></ScalarVariable>"
    "<ScalarVariable name=\"s\" valueReference=\"4\" causality=\"input\" variability=\"discrete\">"
    "<String start=\"\"/></ScalarVariable>"
    "<ScalarVariable name=\"p\" valueReference=\"5\" causality=\"parameter\" variability=\"fixed\"><Real start=\"0\"/>"
    "</ScalarVariable>"
    "</ModelVariables><ModelStructure/></fmiModelDescription>";

struct fixture {
    struct tt_description *desc;
    struct tt_csv_table *table;
    struct tt_trajectory_file file;
    struct tt_trajectory *trajectory;
};

static int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){.desc = description(text)};
    *state = &fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    tt_trajectory_free(f->trajectory);
    tt_csv_table_free(f->table);
    tt_description_free(f->desc);
    return 0;
}

static enum tutti_err read_csv(struct fixture *f, const char *csv)
{
    tt_trajectory_free(f->trajectory);
    f->trajectory = NULL;
    tt_csv_table_free(f->table);
    f->table = NULL;
    assert_ok(tt_csv_table_parse(&f->table, "in.csv", csv, strlen(csv)));
    struct tt_trajectory_input inputs[16] = {0};
    size_t count = tt_csv_table_columns(f->table);
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++) {
        inputs[i].column = i;
        enum tutti_err err =
            tt_setting_find(f->desc, tt_csv_table_name(f->table, i), "in.csv", &inputs[i].variable, &inputs[i].element);
        if (err)
            return err;
    }
    f->file = (struct tt_trajectory_file){"in.csv", f->table};
    return tt_trajectory_new(&f->trajectory, &f->file, 1, f->desc, inputs, count, TUTTI_TRAJECTORY_LINEAR);
}

static void test_linear_and_held(void **state)
{
    struct fixture *f = *state;
    assert_ok(read_csv(f, "time,u,d,b,s\n1,10,1,0,a\n3,20,2,1,b\n4,20,2,1,b\n"));
    double u = -1, d = -1;
    bool b = true;
    const char *s = "";
    tt_trajectory_bind(f->trajectory, 0, &u);
    tt_trajectory_bind(f->trajectory, 1, &d);
    tt_trajectory_bind(f->trajectory, 2, &b);
    tt_trajectory_bind(f->trajectory, 3, &s);
    tt_trajectory_sample(f->trajectory, 0, true); /* before the file begins */
    assert_same_double(u, 10);
    assert_same_double(d, 1);
    tt_trajectory_sample(f->trajectory, 1.5, true);
    assert_same_double(u, 12.5);
    assert_same_double(d, 1);
    assert_false(b);
    assert_string_equal(s, "a");
    tt_trajectory_sample(f->trajectory, 3, false);
    assert_same_double(u, 20);
    assert_same_double(d, 1);
    tt_trajectory_sample(f->trajectory, 3, true);
    assert_same_double(u, 20);
    assert_same_double(d, 2);
    assert_true(b);
    assert_string_equal(s, "b");
    tt_trajectory_sample(f->trajectory, 99, true);
    assert_same_double(u, 20);
    tt_trajectory_sample(f->trajectory, 2, true); /* and back */
    assert_same_double(u, 15);
    assert_same_double(tt_trajectory_next_event(f->trajectory, 0), 3);
    assert_true(isinf(tt_trajectory_next_event(f->trajectory, 3)));
    assert_same_double(tt_trajectory_next_event(f->trajectory, 2.5), 3); /* a rejected step goes back */
}

static void test_jump(void **state)
{
    struct fixture *f = *state;
    assert_ok(read_csv(f, "time,u\n0,0\n1,1\n1,5\n1,7\n2,8\n2,8\n3,9\n"));
    double u;
    tt_trajectory_bind(f->trajectory, 0, &u);
    tt_trajectory_sample(f->trajectory, 1, false);
    assert_same_double(u, 1);
    tt_trajectory_sample(f->trajectory, 1, true);
    assert_same_double(u, 7);
    tt_trajectory_sample(f->trajectory, 1.5, false);
    assert_same_double(u, 7.5);
    tt_trajectory_sample(f->trajectory, 0.25, false);
    assert_same_double(u, 0.25);
    assert_same_double(tt_trajectory_value(f->trajectory, 0, 0, 1, false), 1);
    assert_same_double(tt_trajectory_value(f->trajectory, 0, 0, 1, true), 7);
    assert_same_double(tt_trajectory_next_event(f->trajectory, 0), 1);
    /* Equal rows at t = 2 are not a jump. */
    assert_true(isinf(tt_trajectory_next_event(f->trajectory, 1)));
}

static void test_jump_at_the_start(void **state)
{
    struct fixture *f = *state;
    assert_ok(read_csv(f, "time,u\n0,1\n0,5\n1,6\n"));
    double u;
    tt_trajectory_bind(f->trajectory, 0, &u);
    tt_trajectory_sample(f->trajectory, 0, false);
    assert_same_double(u, 1);
    tt_trajectory_sample(f->trajectory, 0, true);
    assert_same_double(u, 5);
}

/* Steps that meet all rows: at equal distances, at multiples of one, rounded, or none. */
static void test_spacing(void **state)
{
    struct fixture *f = *state;
    double smallest;
    assert_ok(read_csv(f, "time,u,b\n0,0,0\n0.2,1,1\n0.5,0,0\n0.9,0,1\n2,0,1\n"));
    assert_near(tt_trajectory_spacing(f->trajectory, 0, 2, false, &smallest), 0.1, 1e-15);
    assert_near(smallest, 0.2, 1e-15);
    assert_near(tt_trajectory_spacing(f->trajectory, 0.5, 0.9, false, &smallest), 0, 0); /* nothing in between */
    assert_ok(read_csv(f, "time,u\n0,0\n0.3333,1\n0.6667,0\n1,4\n2,0\n"));
    assert_near(tt_trajectory_spacing(f->trajectory, 0, 1, true, &smallest), 1.0 / 3, 1e-15);
    assert_near(tt_trajectory_spacing(f->trajectory, 0, 1, false, &smallest), 0, 0);
    assert_near(smallest, 1, 0);
    assert_ok(read_csv(f, "time,b\n0,0\n0.31830988618,1\n0.7390851332,0\n"));
    assert_near(tt_trajectory_spacing(f->trajectory, 0, 1, false, &smallest), 0, 0);
    assert_near(tt_trajectory_range(f->trajectory, 0), 0, 0);
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    assert_fails(read_csv(f, "time,v\n0,0\n"), TUTTI_ERR_ARGUMENT, "no variable named 'v'");
    assert_fails(read_csv(f, "time,p\n0,0\n"), TUTTI_ERR_ARGUMENT, "no input");
    assert_fails(read_csv(f, "time,u\n0,0\n1,x\n"), TUTTI_ERR_FORMAT, "in.csv:3");
    assert_fails(read_csv(f, "time,b\n0,0\n1,0.5\n"), TUTTI_ERR_FORMAT, "in.csv:3");
    assert_fails(read_csv(f, "time,u\n"), TUTTI_ERR_FORMAT, "no rows");
}

/* Two files with separate rows; an input in both is rejected, naming them. */
static void test_two_files(void **state)
{
    struct fixture *f = *state;
    static const char first[] = "time,u\n0,0\n1,10\n3,10\n", second[] = "time;d;b\n0,5;1,5;0\n2;2,5;1\n";
    struct tt_trajectory_file files[2] = {{"first.csv", NULL}, {"second.csv", NULL}};
    struct tt_trajectory_input inputs[3] = {{.file = 0}, {.file = 1}, {.file = 1, .column = 1}};
    static const char *const names[] = {"u", "d", "b"};
    assert_ok(tt_csv_table_parse(&files[0].table, "first.csv", first, sizeof first - 1));
    assert_ok(tt_csv_table_parse(&files[1].table, "second.csv", second, sizeof second - 1));
    for (int i = 0; i < 3; i++)
        assert_ok(tt_setting_find(f->desc, names[i], "", &inputs[i].variable, &inputs[i].element));
    assert_ok(tt_trajectory_new(&f->trajectory, files, 2, f->desc, inputs, 3, TUTTI_TRAJECTORY_LINEAR));
    double u = -1, d = -1;
    bool b = true;
    tt_trajectory_bind(f->trajectory, 0, &u);
    tt_trajectory_bind(f->trajectory, 1, &d);
    tt_trajectory_bind(f->trajectory, 2, &b);
    tt_trajectory_sample(f->trajectory, 0.75, true);
    assert_near(u, 7.5, 1e-15);
    assert_same_double(d, 1.5);
    assert_false(b);
    tt_trajectory_sample(f->trajectory, 2, true);
    assert_same_double(d, 2.5);
    assert_true(b);
    assert_same_double(tt_trajectory_next_event(f->trajectory, 0), 2);
    assert_same_double(tt_trajectory_next_kink(f->trajectory, 0), 0.5);
    assert_same_double(tt_trajectory_next_kink(f->trajectory, 0.5), 1);
    assert_string_equal(tt_trajectory_file(f->trajectory, 2), "second.csv");
    tt_trajectory_free(f->trajectory);
    assert_ok(tt_trajectory_new(&f->trajectory, files, 2, f->desc, inputs, 3, TUTTI_TRAJECTORY_HELD));
    assert_same_double(tt_trajectory_next_event(f->trajectory, 0), 1); /* what is held jumps */
    tt_trajectory_free(f->trajectory);
    inputs[1].variable = inputs[0].variable;
    assert_fails(tt_trajectory_new(&f->trajectory, files, 2, f->desc, inputs, 2, TUTTI_TRAJECTORY_LINEAR),
                 TUTTI_ERR_FORMAT, "first.csv and second.csv: columns 'u' and 'd' are for the same input");
    tt_csv_table_free(files[0].table);
    tt_csv_table_free(files[1].table);
}

/* The table refuses equal names; an alias is another name of the same input. */
static void test_alias_twice(void **state)
{
    struct fixture *f = *state;
    tt_description_free(f->desc);
    f->desc = description("<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
                          "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>"
                          "<Float64 name=\"u\" valueReference=\"1\" causality=\"input\" start=\"0\">"
                          "<Alias name=\"v\"/></Float64></ModelVariables><ModelStructure/></fmiModelDescription>");
    assert_ok(read_csv(f, "time,v\n0,3\n"));
    assert_fails(read_csv(f, "time,u,v\n0,0,0\n"), TUTTI_ERR_FORMAT, "two columns, 'u' and 'v'");
}

/* ---- all kinds of columns ---- */

#define DISCRETE "causality='input' variability='discrete'"

static const char all_kinds[] =
    "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='t'><CoSimulation modelIdentifier='m'/>"
    "<ModelVariables><Float64 name='x' valueReference='1' causality='input' start='0'/>"
    "<Float64 name='a' valueReference='2' causality='input' start='0 0'><Dimension start='2'/></Float64>"
    "<Float32 name='f' valueReference='3' causality='input' start='0'/>"
    "<Int32 name='i' valueReference='4' " DISCRETE " start='0'/>"
    "<String name='s' valueReference='5' " DISCRETE "><Dimension start='2'/><Start value=''/><Start value=''/></String>"
    "<Binary name='z' valueReference='6' " DISCRETE "><Start value='00'/></Binary>"
    "<Float64 name='k' valueReference='7' causality='parameter' variability='tunable' start='0'/>"
    "<Float64 name='p' valueReference='8' causality='parameter' variability='fixed' start='0'/>"
    "<Float64 name='y' valueReference='9' causality='output'/></ModelVariables><ModelStructure/></fmiModelDescription>";

enum { FEW_COLUMNS = 8 };

/* The parts of a table with formulas; a name per column, then one per formula. */
struct making {
    struct fixture *fixture;
    const char *csv, *names[FEW_COLUMNS], *formula;
    enum tt_trajectory_form form;
    const struct tt_conversion *conversions[FEW_COLUMNS];
    void (*look)(struct tt_trajectory *trajectory);
};

static enum tutti_err find_time(void *context, const char *name, size_t *place)
{
    (void)context;
    assert_string_equal(name, "t");
    *place = 0;
    return TUTTI_OK;
}

static enum tutti_err make_trajectory(void *context)
{
    const struct making *making = context;
    struct fixture *f = making->fixture;
    struct tt_trajectory_input inputs[FEW_COLUMNS] = {0};
    struct tt_expression *formula = NULL;
    size_t count = 0;
    enum failing_kind kind = failing_pause();
    assert_ok(tt_csv_table_parse(&f->table, "in.csv", making->csv, strlen(making->csv)));
    if (making->formula)
        assert_ok(tt_expression_new(&formula, making->formula, &(struct tt_expression_names){.find = find_time}, NULL));
    for (; making->names[count]; count++) {
        struct tt_trajectory_input *input = &inputs[count];
        input->column = count;
        input->conversion = making->conversions[count];
        input->expression = count < tt_csv_table_columns(f->table) ? NULL : formula;
        assert_ok(tt_setting_find(f->desc, making->names[count], "", &input->variable, &input->element));
    }
    failing.kind = kind;
    f->file = (struct tt_trajectory_file){"in.csv", f->table};
    enum tutti_err err = tt_trajectory_new(&f->trajectory, &f->file, 1, f->desc, inputs, count, making->form);
    (void)failing_pause();
    assert_int_equal(err == TUTTI_OK, f->trajectory != NULL);
    if (!err && making->look)
        making->look(f->trajectory);
    tt_trajectory_free(f->trajectory);
    tt_csv_table_free(f->table);
    tt_expression_free(formula);
    f->trajectory = NULL;
    f->table = NULL;
    return err;
}

static void describe(struct fixture *f, const char *description_text)
{
    tt_description_free(f->desc);
    f->desc = description(description_text);
}

/* A cubic spline has the values and slopes of a cubic polynomial, t^3: to the bit at rows. 0.5 is in the middle of the first ones. */
static void look_at_all(struct tt_trajectory *trajectory)
{
    double a[2] = {0}, k = 0;
    float f = 0;
    int32_t i = 0;
    const char *s = "";
    struct tt_bytes z = {0};
    void *slots[] = {a, &f, &i, &s, &z, &k};
    for (size_t column = 0; column < 6; column++)
        tt_trajectory_bind(trajectory, column, slots[column]);
    tt_trajectory_sample(trajectory, 0.5, true);
    assert_near(a[0], 0.125, 1e-14);
    assert_near(a[1], -0.125, 1e-14);
    assert_near(f, 1.25, 1e-6); /* 2 t^3 + 1 */
    assert_int_equal(i, 2);     /* 1.6, rounded */
    assert_string_equal(s, "one");
    assert_int_equal(z.size, 2);
    assert_same_double(k, 5);
    tt_trajectory_sample(trajectory, 2, true);
    assert_same_double(a[0], 8);
    assert_same_double(tt_trajectory_value(trajectory, 0, 1, 2, false), -8);
    assert_near(tt_trajectory_slope(trajectory, 0, 0, 2, true), 12, 1e-13);
    assert_near(tt_trajectory_slope(trajectory, 0, 0, 9, true), 0, 0);     /* after the last row */
    assert_near(tt_trajectory_slope(trajectory, 6, 0, 2, true), 4, 1e-14); /* the formula, t^2 */
    assert_near(tt_trajectory_value(trajectory, 6, 0, 3, true), 9, 0);
    assert_ok(tt_trajectory_check(trajectory, 1));
    assert_int_equal(tt_trajectory_count(trajectory), 7);
    assert_string_equal(tt_trajectory_file(trajectory, 6), "--signal");
    assert_same_double(tt_trajectory_range(trajectory, 0), 27);
    /* Of what is held: z changes at 1 and i at 2; nothing bends where all is curved. */
    assert_same_double(tt_trajectory_next_event(trajectory, 0), 1);
    assert_same_double(tt_trajectory_next_event(trajectory, 1), 2);
    assert_true(isinf(tt_trajectory_next_event(trajectory, 2)));
    assert_same_double(tt_trajectory_next_kink(trajectory, 0), 3);
}

static void test_all_kinds(void **state)
{
    struct fixture *f = *state;
    describe(f, all_kinds);
    static const struct tt_conversion twice = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_FLOAT32, true, 2, 1, NULL, 0};
    static const struct tt_conversion rounded = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_INT32, false, 1, 0, NULL, 0};
    static const struct tt_conversion same = {TUTTI_TYPE_STRING, TUTTI_TYPE_STRING, false, 1, 0, NULL, 0};
    const struct making making = {.fixture = f,
                                  .csv = "time,a,f,i,s,z,k\n0,0 0,0,1.6,one,00ff,5\n1,1 ;-1,1,1.6,one,00fe,5\n"
                                         "2,8\t-8,8,2.6,one,00fe,5\n3, 27 -27 ,27,2.6,one,00fe,5\n",
                                  .names = {"a", "f", "i", "s[2]", "z", "k", "x"},
                                  .formula = "t^2",
                                  .form = TUTTI_TRAJECTORY_CUBIC,
                                  .conversions = {NULL, &twice, &rounded, &same},
                                  .look = look_at_all};
    fail_each_call(FAILING_MEMORY, ENOMEM, make_trajectory, (void *)&making);
}

/* Points and commas, arrays and elements, stretches of one row between jumps. */
static void look_at_commas(struct tt_trajectory *trajectory)
{
    assert_same_double(tt_trajectory_value(trajectory, 0, 1, 0, true), 2.5);
    assert_same_double(tt_trajectory_value(trajectory, 1, 0, 0, true), 3.5);
    assert_same_double(tt_trajectory_slope(trajectory, 1, 0, 0.5, true), 1);
    assert_same_double(tt_trajectory_slope(trajectory, 1, 0, 1, false), 1);
    assert_same_double(tt_trajectory_slope(trajectory, 1, 0, 2, true), 0);
}

static void look_at_jumps(struct tt_trajectory *trajectory)
{
    assert_same_double(tt_trajectory_value(trajectory, 0, 0, 1, false), 1);
    assert_same_double(tt_trajectory_value(trajectory, 0, 0, 1, true), 7);
    assert_near(tt_trajectory_slope(trajectory, 0, 0, 0, true), 1, 1e-15);
    assert_near(tt_trajectory_slope(trajectory, 0, 0, 0, false), 0, 0); /* before the first row */
    assert_near(tt_trajectory_slope(trajectory, 0, 0, 1.5, true), -1, 1e-15);
}

static void test_forms(void **state)
{
    struct fixture *f = *state;
    describe(f, all_kinds);
    struct making making = {.fixture = f,
                            .csv = "time;a;x;z\n0,0;1,5 2,5;3,5;00\n1,0;2,5 3,5;4,5;00\n",
                            .names = {"a", "x", "z"},
                            .look = look_at_commas};
    fail_each_call(FAILING_MEMORY, ENOMEM, make_trajectory, &making);
    making = (struct making){.fixture = f,
                             .csv = "time,x\n0,0\n1,1\n1,5\n1,7\n2,6\n",
                             .names = {"x"},
                             .form = TUTTI_TRAJECTORY_CUBIC,
                             .look = look_at_jumps};
    assert_ok(make_trajectory(&making));
}

static void look_at_poles(struct tt_trajectory *trajectory)
{
    assert_ok(tt_trajectory_check(trajectory, 1));
    assert_fails(tt_trajectory_check(trajectory, 0), TUTTI_ERR_ARGUMENT, "signal x, at t = 0");
    assert_near(tt_trajectory_value(trajectory, 1, 0, 2, true), 3.5, 0); /* 5 / 2 + 1 */
    assert_near(tt_trajectory_slope(trajectory, 1, 0, 2, true), -1.25, 1e-15);
}

static void test_formulas(void **state)
{
    struct fixture *f = *state;
    describe(f, all_kinds);
    static const struct tt_conversion changed = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_FLOAT64, true, 5, 1, NULL, 0};
    struct making making = {.fixture = f,
                            .csv = "time,k\n0,1\n",
                            .names = {"k", "x"},
                            .formula = "1/t",
                            .conversions = {NULL, &changed},
                            .look = look_at_poles};
    assert_ok(make_trajectory(&making));
    making.conversions[1] = NULL;
    making.look = NULL;
    making.names[1] = "i";
    assert_fails(make_trajectory(&making), TUTTI_ERR_ARGUMENT, "'i' is no continuous Real input");
    making.names[1] = "a";
    assert_fails(make_trajectory(&making), TUTTI_ERR_ARGUMENT, "'a' is an array; give an expression per element");
    making.names[1] = "y";
    assert_fails(make_trajectory(&making), TUTTI_ERR_ARGUMENT, "signal: 'y' is no input");
    making.names[1] = "p";
    assert_fails(make_trajectory(&making), TUTTI_ERR_ARGUMENT, "causality parameter that is not tunable");
    making.names[1] = "k";
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "in.csv and signal: columns 'k' and 'k'");
}

static void test_arrays_that_are_wrong(void **state)
{
    struct fixture *f = *state;
    describe(f, all_kinds);
    struct making making = {.fixture = f, .csv = "time,s\n0,x\n", .names = {"s"}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_ARGUMENT, "in.csv: 's' is an array; give one column per element");
    making = (struct making){.fixture = f, .csv = "time,a\n0,1 2\n1,1\n", .names = {"a"}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "in.csv:3: 'a': 1 values, and the first row has 2");
    making = (struct making){.fixture = f, .csv = "time,a\n0,1 x\n", .names = {"a"}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "in.csv:2");
    making = (struct making){.fixture = f, .csv = "time,a\n0, \n", .names = {"a"}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "column 'a' has no values for the array");
    making = (struct making){.fixture = f, .csv = "time,a,b\n0,1 2,1\n", .names = {"a", "a[1]"}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "two columns, 'a' and 'b', for the same input");
    making = (struct making){.fixture = f, .csv = "time,a,b\n0,1,1 2\n", .names = {"a[2]", "a"}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "two columns, 'a' and 'b', for the same input");
    making = (struct making){.fixture = f, .csv = "time,a,b\n0,1,1\n", .names = {"a[2]", "a[2]"}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "two columns, 'a' and 'b', for the same input");
    static const struct tt_conversion rounded = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_INT32, false, 1, 0, NULL, 0};
    making = (struct making){.fixture = f, .csv = "time,i\n0,1e99\n", .names = {"i"}, .conversions = {&rounded}};
    assert_fails(make_trajectory(&making), TUTTI_ERR_LIMIT, "in.csv:2");
    making.csv = "time,i\n0,x\n";
    assert_fails(make_trajectory(&making), TUTTI_ERR_FORMAT, "in.csv:2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_linear_and_held, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_jump, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_jump_at_the_start, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_spacing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_alias_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_all_kinds, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_forms, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_formulas, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays_that_are_wrong, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
