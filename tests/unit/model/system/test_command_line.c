/* SPDX-License-Identifier: MIT */
/* Systems of the command line: files with names, connections, values; and names of variables back and forth. */
#include "system_test.h"

static enum tutti_err load_files(struct fixture *f, const char *first, const char *second)
{
    static char paths[2][300];
    const char *texts[] = {first, second}, *files[2];
    size_t count = 0;
    for (; count < 2 && texts[count]; count++) {
        /* "a=%" is "a=SCRATCH/" */
        const char *percent = strchr(texts[count], '%');
        if (percent)
            snprintf(paths[count], sizeof paths[count], "%.*s%s/%s", (int)(percent - texts[count]), texts[count],
                     f->scratch.path, percent + 1);
        files[count] = percent ? paths[count] : texts[count];
    }
    struct tt_system_source source = {.files = files,
                                      .file_count = count,
                                      .set = f->set,
                                      .set_count = count_texts(f->set),
                                      .connect = f->connect,
                                      .connect_count = count_texts(f->connect)};
    tt_system_free(f->system);
    return tt_system_load(&f->system, &source, &f->findings);
}

static void test_single(void **state)
{
    struct fixture *f = *state;
    f->set[0] = "p=2";
    f->set[1] = "m.p2=3";
    assert_ok(load_files(f, "%m.fmu", NULL));
    assert_true(f->system->single);
    assert_string_equal(f->system->name, "m");
    assert_string_equal(f->system->components[0].name, "m");
    assert_same_double(real_setting(f, "p"), 2);
    assert_same_double(real_setting(f, "m.p2"), 3);
    f->set[1] = NULL;
    assert_fails(load_files(f, TUTTI_FMUS "/BouncingBall_fmi2.fmu", NULL), TUTTI_ERR_ARGUMENT, "'p'");
    f->set[0] = NULL;
    assert_ok(load_files(f, TUTTI_FMUS "/BouncingBall_fmi2.fmu", NULL));
    assert_string_equal(f->system->components[0].name, "BouncingBall_fmi2");
    assert_true(f->system->experiment.has_stop); /* its own */
    assert_null(f->system->components[0].file);
    f->connect[0] = "y=u";
    assert_ok(load_files(f, "%m.fmu", NULL));
    assert_string_equal(connections(f), "y->u");
    assert_fails(load_files(f, "%none.fmu", NULL), TUTTI_ERR_IO, "none.fmu");
    assert_fails(load_files(f, NULL, NULL), TUTTI_ERR_ARGUMENT, "no file");
}

static void test_names(void **state)
{
    struct fixture *f = *state;
    f->connect[0] = "a.y=b.u";
    f->connect[1] = "b.ay[2]=a.u";
    assert_ok(load_files(f, "a=%m.fmu", "b=%m.fmu"));
    assert_false(f->system->single);
    assert_string_equal(f->system->name, "system");
    assert_string_equal(connections(f), "b.ay[2]->a.u a.y->b.u");
    assert_null(f->system->connections[0].file);
    f->connect[0] = "m.y_degC=BouncingBall_fmi3.h";
    f->connect[1] = NULL;
    assert_fails(load_files(f, "%m.fmu", TUTTI_FMUS "/BouncingBall_fmi3.fmu"), TUTTI_ERR_ARGUMENT,
                 "values come out of both");
    f->connect[0] = NULL;
    assert_fails(load_files(f, "%m.fmu", "%m.fmu"), TUTTI_ERR_ARGUMENT,
                 "two files are called 'm'; name them, for instance m1=");
    /* A file whose own name has a '='. */
    make_folder(f, "x=y.fmu");
    write_file(f, "x=y.fmu/modelDescription.xml", everything);
    assert_ok(load_files(f, "%x=y.fmu", "b=%x=y.fmu"));
    assert_string_equal(f->system->components[0].name, "x=y");
    assert_string_equal(f->system->components[1].name, "b");
    assert_int_equal(f->system->fmu_count, 1);
}

/* Other values of the same options, in a system that is loaded: all of them, or none. */
static void test_set_again(void **state)
{
    struct fixture *f = *state;
    const char *const first[] = {"p=2", "ip=3", "ap[1,2]=4", "ep=red"};
    memcpy(f->set, first, sizeof first);
    assert_ok(load_files(f, "%m.fmu", NULL));
    const char *good[] = {"p=20", "ip=-30", "ap[1,2]=40", "ep=blue"};
    assert_true(tt_start_values_replace(f->system, good, 4));
    assert_same_double(real_setting(f, "p"), 20);
    assert_int_equal(*(const int32_t *)setting(f, "ip")->values, -30);
    assert_same_double(*(const double *)f->system->given[2].setting->values, 40);
    assert_int_equal(*(const int64_t *)setting(f, "ep")->values, 4);
    const char *const wrong[][4] = {{"p=21", "ip=1.5", "ap[1,2]=41", "ep=red"},
                                    {"p=21", "ip=1", "ap[1,2]=41", "ep=pink"},
                                    {"p=21", "p2=1", "ap[1,2]=41", "ep=red"},
                                    {"p=21", "ip=1", "ap[2,2]=41", "ep=red"},
                                    {"p=", "ip=1", "ap[1,2]=41", "ep=red"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_false(tt_start_values_replace(f->system, wrong[i], 4));
        assert_same_double(real_setting(f, "p"), 20);
        assert_int_equal(*(const int32_t *)setting(f, "ip")->values, -30);
    }
    assert_false(tt_start_values_replace(f->system, good, 3));
    /* Options other than one number for one variable need a reload: texts, sizes, lists, the first of two for one
     * variable. */
    const char *const others[][2] = {{"sp=a", NULL}, {"n=3", NULL}, {"vp=1 2", NULL}, {"p=1", "p=2"}};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        memset(f->set, 0, sizeof f->set);
        memcpy(f->set, others[i], sizeof others[i]);
        assert_ok(load_files(f, "%m.fmu", NULL));
        assert_false(tt_start_values_replace(f->system, others[i], count_texts(f->set)));
    }
    memset(f->set, 0, sizeof f->set);
    f->set[0] = "a.p=1";
    assert_ok(load_files(f, "a=%m.fmu", "b=%m.fmu"));
    const char *const one[] = {"a.p=7"};
    assert_true(tt_start_values_replace(f->system, one, 1));
    assert_same_double(real_setting(f, "a.p"), 7);
}

static void test_connect(void **state)
{
    static const struct {
        const char *connect, *words;
    } wrong[] = {
        {"a.y", "connect takes A.y=B.u, not 'a.y'"},
        {"=b.u", "connect takes A.y=B.u"},
        {"a.y=", "connect takes A.y=B.u"},
        {"a.yy=b.u", "there is no variable named 'a.yy'; did you mean 'a.y'?"},
        {"a.y=b.uu", "there is no variable named 'b.uu'; did you mean 'b.u'?"},
        {"c.y=b.u", "there is no variable named 'c.y'"},
        {"a.time=b.u", "'a.time' is the time, which cannot be connected"},
        {"a.u=b.u", "connect a.u=b.u: 'a.u' (input) and 'b.u' (input) cannot be connected"},
        {"a.y=b.iu",
         "connect a.y=b.iu: 'a.y' to 'b.iu': Float64 cannot be handed to Int32, unless it is rounded: convert"},
        {"a.y_K=b.u_m", "connect a.y_K=b.u_m: 'a.y_K' to 'b.u_m': the units 'K' and 'm' measure different things"},
        {"a.y=b.p", "connect a.y=b.p: 'a.y' (output) cannot be connected to 'b.p' (parameter)"},
        {"a.ay=b.u", "connect a.ay=b.u: 'a.ay' (1 dimension, 3 values) does not fit 'b.u'"},
        {"a.y=b.au[4]", "'b.au[4]'"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f->connect[0] = wrong[i].connect;
        assert_fails(load_files(f, "a=%m.fmu", "b=%m.fmu"), TUTTI_ERR_ARGUMENT, wrong[i].words);
    }
    f->connect[0] = "a.y=b.u";
    f->connect[1] = "a.y2=b.u";
    assert_fails(load_files(f, "a=%m.fmu", "b=%m.fmu"), TUTTI_ERR_ARGUMENT,
                 "connect a.y2=b.u: 'b.u' has two sources, 'a.y2' and, from the command line, 'a.y'");
    /* Units are converted here, too; the direction is what the variables are. */
    f->connect[0] = "a.y_degC=b.u_K";
    f->connect[1] = "b.u=a.y";
    assert_ok(load_files(f, "a=%m.fmu", "b=%m.fmu"));
    assert_string_equal(connections(f), "a.y->b.u a.y_degC->b.u_K*1+273.15");
}

static void test_set(void **state)
{
    static const struct {
        const char *set, *words;
    } wrong[] = {
        {"a.p", "set takes NAME=VALUE, not 'a.p'"},
        {"a.pp=1", "there is no variable named 'a.pp'; did you mean 'a.p'?"},
        {"p=1", "there is no variable named 'p'"},
        {"a.p=x", "set a.p=x: 'a': 'p' takes a number, not 'x'"},
        {"a.p_K=-1", "set a.p_K=-1: 'a': 'p_K' takes values from 0 to inf"},
        {"a.q=1", "'q' cannot be set: it is a calculated parameter"},
    };
    struct fixture *f = *state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        f->set[0] = wrong[i].set;
        assert_fails(load_files(f, "a=%m.fmu", "b=%m.fmu"), TUTTI_ERR_ARGUMENT, wrong[i].words);
    }
    f->set[0] = "a.ap=1 2, 3 4";
    f->set[1] = "b.sp=x=y";
    f->set[2] = "b.ep=blue";
    f->set[3] = "a.ap[2,1]=9";
    assert_ok(load_files(f, "a=%m.fmu", "b=%m.fmu"));
    assert_int_equal(setting(f, "a.ap")->count, 4);
    assert_string_equal(*(const char *const *)setting(f, "b.sp")->values, "x=y");
    assert_int_equal(*(const int64_t *)setting(f, "b.ep")->values, 4);
    assert_same_double(real_setting(f, "a.ap[2,1]"), 9);
}

static void test_with_ssp(void **state)
{
    struct fixture *f = *state;
    write_ssd(f, "s.ssd",
              "<s n='s'><C><c n='in' k='input'/><c n='out' k='output'/></C><E><M n='a'><C><c n='u' k='input'/>"
              "<c n='y' k='output'/></C></M></E><X><x f='in' t='a.u'/><x f='a.y' t='out'/></X></s>");
    /* Added to the connections of a document. */
    f->connect[0] = "a.y=a.u2";
    assert_ok(load(f, "s.ssd"));
    assert_connections(f, "in->a.u a.y->a.u2 a.y->out");
    f->connect[0] = "a.y=a.u";
    assert_fails(load(f, "s.ssd"), TUTTI_ERR_ARGUMENT, "'a.u' has two sources, 'a.y' and, from ");
    /* A system among FMUs: its connectors are names, too. */
    f->connect[0] = "s.out=b.u";
    f->connect[1] = "b.y=s.in";
    assert_ok(load_files(f, "%s.ssd", "b=%m.fmu"));
    assert_string_equal(connections(f), "b.y->s.a.u s.a.y->b.u");
}

static void test_find(void **state)
{
    struct fixture *f = *state;
    uint32_t component, variable;
    struct tt_indices element;
    char text[40];
    assert_ok(load_text(f, "<s n='s'><E><M n='x'/><M n='x.sub'/><s n='t'><E><M n='a'/></E></s></E></s>"));
#define FIND(name) tt_system_find(f->system, name, "record", &component, &variable, &element)
    /* The longest component's name that has such a variable. */
    assert_ok(FIND("x.sub.x"));
    assert_int_equal(component, 0);
    assert_string_equal(f->system->components[component].fmu->desc->vars[variable].name, "sub.x");
    assert_ok(FIND("x.sub.y"));
    assert_int_equal(component, 1);
    assert_ok(FIND("t.a.ap[1,2]"));
    assert_int_equal(component, 2);
    assert_int_equal(element.count, 2);
    assert_string_equal(tt_system_name(f->system, &(struct tt_end){component, variable, element}, text, sizeof text),
                        "t.a.ap[1,2]");
    assert_string_equal(tt_system_name(f->system, &(struct tt_end){component, variable, element}, text, 6), "t.a.a");
    assert_fails(FIND("x.sub.yy"), TUTTI_ERR_ARGUMENT,
                 "record: there is no variable named 'x.sub.yy'; did you mean 'x.sub.y'?");
    assert_fails(FIND("t.aa.y"), TUTTI_ERR_ARGUMENT, "did you mean one of 't.a'?");
    assert_fails(FIND("nothing"), TUTTI_ERR_ARGUMENT,
                 "'nothing' is no variable of any component, written COMPONENT.VARIABLE");
    assert_ok(load_files(f, "%m.fmu", NULL));
    assert_ok(FIND("sub.x"));
    assert_ok(FIND("m.sub.x"));
    assert_ok(FIND("m.y"));
    assert_string_equal(tt_system_name(f->system, &(struct tt_end){component, variable, element}, text, sizeof text),
                        "y");
    assert_fails(FIND("yy"), TUTTI_ERR_ARGUMENT, "there is no variable named 'yy'; did you mean 'y'?");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_single, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_set_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_connect, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_set, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_with_ssp, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_find, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
