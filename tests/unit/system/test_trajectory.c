/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "description.h"
#include "system/trajectory.h"

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
    struct tutti_desc *desc;
    struct tutti_table *table;
    struct tutti_trajectory_file file;
    struct tutti_trajectory *trajectory;
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
    tutti_trajectory_free(f->trajectory);
    tutti_table_free(f->table);
    tutti_desc_free(f->desc);
    return 0;
}

static enum tutti_err read(struct fixture *f, const char *csv)
{
    tutti_trajectory_free(f->trajectory);
    f->trajectory = NULL;
    tutti_table_free(f->table);
    f->table = NULL;
    assert_ok(tutti_table_parse(&f->table, "in.csv", csv, strlen(csv)));
    struct tutti_trajectory_input inputs[16] = {0};
    size_t count = tutti_table_columns(f->table);
    assert_true(count <= 16);
    for (size_t i = 0; i < count; i++) {
        inputs[i].column = i;
        enum tutti_err err = tutti_setting_find(f->desc, tutti_table_name(f->table, i), "in.csv", &inputs[i].variable,
                                                &inputs[i].element);
        if (err)
            return err;
    }
    f->file = (struct tutti_trajectory_file){"in.csv", f->table};
    return tutti_trajectory_new(&f->trajectory, &f->file, 1, f->desc, inputs, count, TUTTI_TRAJECTORY_LINEAR);
}

static void test_linear_and_held(void **state)
{
    struct fixture *f = *state;
    assert_ok(read(f, "time,u,d,b,s\n1,10,1,0,a\n3,20,2,1,b\n4,20,2,1,b\n"));
    double u = -1, d = -1;
    bool b = true;
    const char *s = "";
    tutti_trajectory_bind(f->trajectory, 0, &u);
    tutti_trajectory_bind(f->trajectory, 1, &d);
    tutti_trajectory_bind(f->trajectory, 2, &b);
    tutti_trajectory_bind(f->trajectory, 3, &s);
    tutti_trajectory_sample(f->trajectory, 0, true); /* before the file begins */
    assert_same_double(u, 10);
    assert_same_double(d, 1);
    tutti_trajectory_sample(f->trajectory, 1.5, true);
    assert_same_double(u, 12.5);
    assert_same_double(d, 1);
    assert_false(b);
    assert_string_equal(s, "a");
    tutti_trajectory_sample(f->trajectory, 3, false);
    assert_same_double(u, 20);
    assert_same_double(d, 1);
    tutti_trajectory_sample(f->trajectory, 3, true);
    assert_same_double(u, 20);
    assert_same_double(d, 2);
    assert_true(b);
    assert_string_equal(s, "b");
    tutti_trajectory_sample(f->trajectory, 99, true);
    assert_same_double(u, 20);
    tutti_trajectory_sample(f->trajectory, 2, true); /* and back */
    assert_same_double(u, 15);
    assert_same_double(tutti_trajectory_next_event(f->trajectory, 0), 3);
    assert_true(isinf(tutti_trajectory_next_event(f->trajectory, 3)));
    assert_same_double(tutti_trajectory_next_event(f->trajectory, 2.5), 3); /* a rejected step goes back */
}

static void test_jump(void **state)
{
    struct fixture *f = *state;
    assert_ok(read(f, "time,u\n0,0\n1,1\n1,5\n1,7\n2,8\n2,8\n3,9\n"));
    double u;
    tutti_trajectory_bind(f->trajectory, 0, &u);
    tutti_trajectory_sample(f->trajectory, 1, false);
    assert_same_double(u, 1);
    tutti_trajectory_sample(f->trajectory, 1, true);
    assert_same_double(u, 7);
    tutti_trajectory_sample(f->trajectory, 1.5, false);
    assert_same_double(u, 7.5);
    tutti_trajectory_sample(f->trajectory, 0.25, false);
    assert_same_double(u, 0.25);
    assert_same_double(tutti_trajectory_value(f->trajectory, 0, 0, 1, false), 1);
    assert_same_double(tutti_trajectory_value(f->trajectory, 0, 0, 1, true), 7);
    assert_same_double(tutti_trajectory_next_event(f->trajectory, 0), 1);
    /* Equal rows at t = 2 are no jump. */
    assert_true(isinf(tutti_trajectory_next_event(f->trajectory, 1)));
}

static void test_jump_at_the_start(void **state)
{
    struct fixture *f = *state;
    assert_ok(read(f, "time,u\n0,1\n0,5\n1,6\n"));
    double u;
    tutti_trajectory_bind(f->trajectory, 0, &u);
    tutti_trajectory_sample(f->trajectory, 0, false);
    assert_same_double(u, 1);
    tutti_trajectory_sample(f->trajectory, 0, true);
    assert_same_double(u, 5);
}

/* Steps that meet all rows: at equal distances, at multiples of one, rounded, or none. */
static void test_spacing(void **state)
{
    struct fixture *f = *state;
    double smallest;
    assert_ok(read(f, "time,u,b\n0,0,0\n0.2,1,1\n0.5,0,0\n0.9,0,1\n2,0,1\n"));
    assert_near(tutti_trajectory_spacing(f->trajectory, 0, 2, false, &smallest), 0.1, 1e-15);
    assert_near(smallest, 0.2, 1e-15);
    assert_near(tutti_trajectory_spacing(f->trajectory, 0.5, 0.9, false, &smallest), 0, 0); /* nothing in between */
    assert_ok(read(f, "time,u\n0,0\n0.3333,1\n0.6667,0\n1,4\n2,0\n"));
    assert_near(tutti_trajectory_spacing(f->trajectory, 0, 1, true, &smallest), 1.0 / 3, 1e-15);
    assert_near(tutti_trajectory_spacing(f->trajectory, 0, 1, false, &smallest), 0, 0);
    assert_near(smallest, 1, 0);
    assert_ok(read(f, "time,b\n0,0\n0.31830988618,1\n0.7390851332,0\n"));
    assert_near(tutti_trajectory_spacing(f->trajectory, 0, 1, false, &smallest), 0, 0);
    assert_near(tutti_trajectory_range(f->trajectory, 0), 0, 0);
}

static void test_refusals(void **state)
{
    struct fixture *f = *state;
    assert_fails(read(f, "time,v\n0,0\n"), TUTTI_ERR_ARGUMENT, "no variable named 'v'");
    assert_fails(read(f, "time,p\n0,0\n"), TUTTI_ERR_ARGUMENT, "no input");
    assert_fails(read(f, "time,u\n0,0\n1,x\n"), TUTTI_ERR_FORMAT, "in.csv:3");
    assert_fails(read(f, "time,b\n0,0\n1,0.5\n"), TUTTI_ERR_FORMAT, "in.csv:3");
    assert_fails(read(f, "time,u\n"), TUTTI_ERR_FORMAT, "no rows");
}

/* Two files with rows of their own; the same input in both is refused, naming them. */
static void test_two_files(void **state)
{
    struct fixture *f = *state;
    static const char first[] = "time,u\n0,0\n1,10\n3,10\n", second[] = "time;d;b\n0,5;1,5;0\n2;2,5;1\n";
    struct tutti_trajectory_file files[2] = {{"first.csv", NULL}, {"second.csv", NULL}};
    struct tutti_trajectory_input inputs[3] = {{.file = 0}, {.file = 1}, {.file = 1, .column = 1}};
    static const char *const names[] = {"u", "d", "b"};
    assert_ok(tutti_table_parse(&files[0].table, "first.csv", first, sizeof first - 1));
    assert_ok(tutti_table_parse(&files[1].table, "second.csv", second, sizeof second - 1));
    for (int i = 0; i < 3; i++)
        assert_ok(tutti_setting_find(f->desc, names[i], "", &inputs[i].variable, &inputs[i].element));
    assert_ok(tutti_trajectory_new(&f->trajectory, files, 2, f->desc, inputs, 3, TUTTI_TRAJECTORY_LINEAR));
    double u = -1, d = -1;
    bool b = true;
    tutti_trajectory_bind(f->trajectory, 0, &u);
    tutti_trajectory_bind(f->trajectory, 1, &d);
    tutti_trajectory_bind(f->trajectory, 2, &b);
    tutti_trajectory_sample(f->trajectory, 0.75, true);
    assert_near(u, 7.5, 1e-15);
    assert_same_double(d, 1.5);
    assert_false(b);
    tutti_trajectory_sample(f->trajectory, 2, true);
    assert_same_double(d, 2.5);
    assert_true(b);
    assert_same_double(tutti_trajectory_next_event(f->trajectory, 0), 2);
    assert_same_double(tutti_trajectory_next_kink(f->trajectory, 0), 0.5);
    assert_same_double(tutti_trajectory_next_kink(f->trajectory, 0.5), 1);
    assert_string_equal(tutti_trajectory_file(f->trajectory, 2), "second.csv");
    tutti_trajectory_free(f->trajectory);
    assert_ok(tutti_trajectory_new(&f->trajectory, files, 2, f->desc, inputs, 3, TUTTI_TRAJECTORY_HELD));
    assert_same_double(tutti_trajectory_next_event(f->trajectory, 0), 1); /* what is held jumps */
    tutti_trajectory_free(f->trajectory);
    inputs[1].variable = inputs[0].variable;
    assert_fails(tutti_trajectory_new(&f->trajectory, files, 2, f->desc, inputs, 2, TUTTI_TRAJECTORY_LINEAR),
                 TUTTI_ERR_FORMAT, "first.csv and second.csv: columns 'u' and 'd' are for the same input");
    tutti_table_free(files[0].table);
    tutti_table_free(files[1].table);
}

/* The table refuses equal names; an alias is another name of the same input. */
static void test_alias_twice(void **state)
{
    struct fixture *f = *state;
    tutti_desc_free(f->desc);
    f->desc = description("<fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
                          "<CoSimulation modelIdentifier=\"m\"/><ModelVariables>"
                          "<Float64 name=\"u\" valueReference=\"1\" causality=\"input\" start=\"0\">"
                          "<Alias name=\"v\"/></Float64></ModelVariables><ModelStructure/></fmiModelDescription>");
    assert_ok(read(f, "time,v\n0,3\n"));
    assert_fails(read(f, "time,u,v\n0,0,0\n"), TUTTI_ERR_FORMAT, "two columns, 'u' and 'v'");
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
