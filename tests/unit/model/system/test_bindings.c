/* SPDX-License-Identifier: MIT */
/* Parameter bindings: where values come from, what they apply to, which of several counts. */
#include "system_test.h"

#define SET(name, value) "<v n='" name "'><r value='" value "'/></v>"
#define INLINE(parameters) "<b><V>" parameters "</V></b>"

static void test_inline(void **state)
{
    struct fixture *f = *state;
    load_clean(f, "<s n='s'><E><M n='a'><B>" INLINE(SET("p", "2") SET("nothing", "3")) "</B></M><M n='b'/></E></s>");
    assert_same_double(real_setting(f, "a.p"), 2);
    assert_null(setting(f, "b.p"));
    assert_int_equal(f->system->components[0].setting_count, 1);
}

static void test_precedence(void **state)
{
    struct fixture *f = *state;
    /* At one level the later one wins; a higher level wins over a lower one. */
    load_clean(f, "<s n='s'><E><s n='t'><E><M n='a'><B>" INLINE(SET("p", "1") SET("p2", "1") SET("p_K", "1"))
                      INLINE(SET("p_K", "2")) "</B></M></E><B>" INLINE(
                          SET("a.p", "3") SET("a.p2", "3")) "</B></s></E><B>" INLINE(SET("t.a.p", "4")) "</B></s>");
    assert_same_double(real_setting(f, "t.a.p"), 4);
    assert_same_double(real_setting(f, "t.a.p2"), 3);
    assert_same_double(real_setting(f, "t.a.p_K"), 2);
    assert_int_equal(f->system->components[0].setting_count, 3);
    /* The command line is above all. */
    f->set[0] = "t.a.p=5";
    f->set[1] = "t.a.p=6";
    assert_ok(load(f, "s.ssd"));
    assert_same_double(real_setting(f, "t.a.p"), 6);
}

static void test_referenced_system(void **state)
{
    struct fixture *f = *state;
    write_ssd(f, "sub.ssd", "<s n='sub'><E><M n='a'/></E><B>" INLINE(SET("a.p", "1") SET("a.p2", "1")) "</B></s>");
    /* The component's bindings come after those of the system that it refers to. */
    load_clean(f, "<s n='s'><E><P n='t' type='application/x-ssp-definition' source='sub.ssd'><B>" INLINE(
                      SET("a.p", "2")) "</B></P></E></s>");
    assert_same_double(real_setting(f, "t.a.p"), 2);
    assert_same_double(real_setting(f, "t.a.p2"), 1);
}

static void test_sources(void **state)
{
    struct fixture *f = *state;
    write_ssv(f, "one.ssv", SET("p", "7") SET("p2", "8"));
    load_clean(f, "<s n='s'><E><M n='a'><B><b source='one.ssv'/></B></M></E></s>");
    assert_same_double(real_setting(f, "a.p"), 7);
    assert_same_double(real_setting(f, "a.p2"), 8);
    /* prefix */
    load_clean(f, "<s n='s'><E><M n='a'/><M n='b'/></E><B><b source='one.ssv' prefix='b.'/></B></s>");
    assert_null(setting(f, "a.p"));
    assert_same_double(real_setting(f, "b.p"), 7);
    /* In the FMU itself. */
    make_folder(f, "m.fmu/resources");
    write_ssv(f, "m.fmu/resources/in.ssv", SET("p", "9"));
    load_clean(f, "<s n='s'><E><M n='a'><B><b source='resources/in.ssv' sourceBase='component'/></B></M></E></s>");
    assert_same_double(real_setting(f, "a.p"), 9);
    /* In the package that a component refers to. */
    make_folder(f, "sub.ssp");
    write_ssd(f, "sub.ssp/SystemStructure.ssd", "<s n='sub'><C><c n='par' k='parameter'/></C></s>");
    write_ssv(f, "sub.ssp/deep.ssv", SET("par", "9"));
    load_clean(f, "<s n='s'><E><P n='t' type='application/x-ssp-package' source='sub.ssp'><B>"
                  "<b source='deep.ssv' sourceBase='component'/></B></P></E></s>");
    assert_fails(load_text(f, "<s n='s'><E><M n='a'><B>\n<b source='none.ssv'/></B></M></E></s>"), TUTTI_ERR_IO,
                 "s.ssd:2: parameter binding: cannot read");
    assert_fails(load_text(f, "<s n='s'><E><M n='a'><B>\n<b source='x.ssv' sourceBase='component'/></B></M></E></s>"),
                 TUTTI_ERR_IO, "s.ssd:2: parameter binding: there is no x.ssv in ");
    assert_ok(load_text(f, "<s n='s'><B>\n<b source='x.ssv' sourceBase='component'/></B></s>"));
    assert_found(f, 1, 0, "error s.ssd:2: sourceBase=\"component\" is for components that have a file; 's' is none");
}

static void test_mapping(void **state)
{
    struct fixture *f = *state;
    write_ssv(f, "one.ssv", SET("alpha", "7") SET("p2", "8"));
    write_ssm(f, "one.ssm",
              "<g source='alpha' target='p'/>\n<g source='beta' target='p_K'/>\n<g source='p2' target='none'/>");
    /* Only what is mapped applies. */
    assert_ok(load_text(
        f, "<s n='s'><E><M n='a'><B><b source='one.ssv'><ssd:ParameterMapping source='one.ssm'/></b></B></M></E></s>"));
    assert_found(f, 0, 2, "warning one.ssm:2: the mapping's source 'beta' is no parameter of the source of values");
    assert_found(f, 0, 2, "warning one.ssm:3: the mapping's target 'none' is nothing that could be set here");
    assert_same_double(real_setting(f, "a.p"), 7);
    assert_null(setting(f, "a.p2"));
    /* One parameter for two; a transformation; a prefix before the mapping. */
    load_clean(f, "<s n='s'><E><M n='a'/><M n='b'/></E><B><b source='one.ssv' prefix='X_'><G>"
                  "<g source='X_alpha' target='a.p'><L factor='2' offset='1'/></g><g source='X_alpha' "
                  "target='b.p'/></G></b></B></s>");
    assert_same_double(real_setting(f, "a.p"), 15);
    assert_same_double(real_setting(f, "b.p"), 7);
}

static void test_units(void **state)
{
    struct fixture *f = *state;
    write_ssv(f, "one.ssv", "<v n='T'><r value='20' unit='degC'/></v><v n='l'><r value='20' unit='mm'/></v>");
#define MAPPED(entry) "<s n='s'><E><M n='a'><B><b source='one.ssv'><G>" entry "</G></b></B></M></E></s>"
    load_clean(f, MAPPED("<g source='T' target='p_K'/>"));
    assert_same_double(real_setting(f, "a.p_K"), 293.15);
    load_clean(f, MAPPED("<g source='T' target='p_K'><L factor='2' offset='1'/></g>"));
    assert_same_double(real_setting(f, "a.p_K"), 587.3);
    load_clean(f, MAPPED("<g source='T' target='p_K' suppressUnitConversion='true'><L factor='2' offset='1'/></g>"));
    assert_same_double(real_setting(f, "a.p_K"), 41);
    load_clean(f, MAPPED("<g source='T' target='p'/>")); /* no unit there */
    assert_same_double(real_setting(f, "a.p"), 20);
    assert_ok(load_text(f, MAPPED("<g source='l' target='p_K'/>")));
    assert_found(f, 1, 0, "error one.ssv:1: parameter 'l': 'a.p_K': the units 'mm' and 'K' measure different things");
    /* A connector's unit is above the FMU's. */
    assert_ok(load_text(
        f, "<s n='s'><E><M n='a'><C><c n='p_K' k='parameter'><ssc:Real unit='degC'/></c></C><B><b source='one.ssv'><G>"
           "<g source='T' target='p_K'/></G></b></B></M></E></s>"));
    assert_same_double(real_setting(f, "a.p_K"), 20);
}

static void test_types(void **state)
{
    struct fixture *f = *state;
    load_clean(f,
               "<s n='s'><E><M n='a'><B>" INLINE(
                   "<v n='ip'><ssv:Integer value='-5'/></v><v n='p'><ssv:Integer value='3'/></v>"
                   "<v n='b_u'><ssv:Boolean value='true'/></v><v n='sp'><ssv:String value='a b &lt;c'/></v>"
                   "<v n='ep'><ssv:Enumeration value='blue'/></v><v n='bp'><ssv:Binary value='00ff1A'/></v>"
                   "<v n='u32'><ssv:Float32 value='0.5'/></v><v n='n'><ssv:UInt64 value='3'/></v>") "</B></M></E></s>");
    assert_int_equal(*(const int32_t *)setting(f, "a.ip")->values, -5);
    assert_same_double(real_setting(f, "a.p"), 3);
    assert_true(*(const bool *)setting(f, "a.b_u")->values);
    assert_string_equal(*(const char *const *)setting(f, "a.sp")->values, "a b <c");
    assert_int_equal(*(const int64_t *)setting(f, "a.ep")->values, 4);
    const struct tt_bytes *bytes = setting(f, "a.bp")->values;
    assert_int_equal(bytes->size, 3);
    assert_int_equal(bytes->data[2], 0x1a);
    assert_true(*(const float *)setting(f, "a.u32")->values == 0.5f);
    assert_int_equal(*(const uint64_t *)setting(f, "a.n")->values, 3);
    assert_ok(load_text(
        f,
        "<s n='s'><E><M n='a'><B>" INLINE("\n" SET("ip", "1") "\n<v n='ep'><ssv:Enumeration value='violet'/></v>\n" SET(
            "p_K", "-1") "\n<v n='b_u'><ssv:Integer value='1'/></v>\n<v n='i8u'><ssv:Integer "
                         "value='300'/></v>\n" SET("q", "1") "\n" SET("c", "1")) "</B></M></E></s>"));
    assert_found(f, 5, 2, "error s.ssd:2: parameter 'ip': 'a.ip': Float64 cannot be handed to Int32");
    assert_found(f, 5, 2, "error s.ssd:3: parameter 'ep': 'a.ep': ");
    assert_found(f, 5, 2, "red (1), green (2), blue (4), not 'violet'");
    assert_found(f, 5, 2, "error s.ssd:4: parameter 'p_K': 'a': 'p_K' takes values from 0 to inf, not '-1'");
    assert_found(f, 5, 2, "error s.ssd:5: parameter 'b_u': 'a.b_u': Int32 cannot be handed to Boolean");
    assert_found(f, 5, 2, "error s.ssd:6: parameter 'i8u': 'a.i8u': 300 does not fit into Int8");
    assert_found(f, 5, 2, "warning s.ssd:7: parameter 'q': 'a': 'q' cannot be set: it is a calculated parameter");
    assert_int_equal(f->system->components[0].setting_count, 0);
}

static void test_enumerations(void **state)
{
    struct fixture *f = *state;
#define ENUMERATION(value) INLINE("<v n='e'><ssv:Enumeration value='" value "'/></v>")
    /* By names, also along connections and through maps. */
    load_clean(f, "<s n='s'><C><c n='e' k='parameter'/></C><E><M n='a'><C><c n='ep' k='parameter'/></C></M></E><X><x "
                  "f='e' t='a.ep'/></X>"
                  "<B>" ENUMERATION("green") "</B></s>");
    assert_int_equal(*(const int64_t *)setting(f, "a.ep")->values, 2);
    load_clean(
        f, "<s n='s'><C><c n='e' k='parameter'><ssc:Enumeration name='Paint'/></c></C><E><M n='a'><C><c n='ep' "
           "k='parameter'/></C></M>"
           "</E><X><x f='e' t='a.ep'><ssc:EnumerationMappingTransformation><ssc:MapEntry source='gruen' target='blue'/>"
           "</ssc:EnumerationMappingTransformation></x></X><B>" ENUMERATION("gruen") "</B></s>");
    assert_int_equal(*(const int64_t *)setting(f, "a.ep")->values, 4);
    load_clean(
        f,
        "<s n='s'><E><M n='a'/></E><B><b><V><v n='e'><ssv:Enumeration value='rouge'/></v></V><G>"
        "<g source='e' target='a.ep'><ssc:EnumerationMappingTransformation><ssc:MapEntry source='rouge' target='red'/>"
        "</ssc:EnumerationMappingTransformation></g></G></b></B></s>");
    assert_int_equal(*(const int64_t *)setting(f, "a.ep")->values, 1);
}

static void test_arrays(void **state)
{
    struct fixture *f = *state;
    load_clean(f,
               "<s n='s'><E><M n='a'><B>" INLINE(
                   "<v n='ap'><r value='1 2 3 4'/><ssc:Dimension size='2'/><ssc:Dimension size='2'/></v>"
                   "<v n='au'><r value='5'/></v><v n='vp'><r value='1 2 3'/><ssc:Dimension size='3'/></v>") "</B></M></"
                                                                                                            "E></s>");
    const struct tt_setting *found = setting(f, "a.ap");
    assert_int_equal(found->count, 4);
    assert_same_double(((const double *)found->values)[3], 4);
    assert_int_equal(setting(f, "a.au")->count, 1);
    assert_int_equal(setting(f, "a.vp")->count, 3); /* a structural parameter may make it fit */
    assert_ok(load_text(f, "<s n='s'><E><M n='a'><B>" INLINE(
                               "\n<v n='ap'><r value='1 2 3 4'/><ssc:Dimension size='4'/></v>\n"
                               "<v n='p'><r value='1 2'/><ssc:Dimension size='2'/></v>") "</B></M></E></s>"));
    assert_found(f, 2, 0, "error s.ssd:2: parameter 'ap': 'a': it has 2 dimensions, the values have 1");
    assert_found(f, 2, 0, "error s.ssd:3: parameter 'p': 'a': it takes 1 value, not 2");
    /* An element is above all of the array, if its level is. */
    load_clean(
        f,
        "<s n='s'><E><M n='a'><B>" INLINE(
            "<v n='au'><r value='5'/></v><v n='au[1]'><r value='6'/></v>") "</B></M></E><B>" INLINE(SET("a.au[2]",
                                                                                                        "7")) "</B></"
                                                                                                              "s>");
    assert_int_equal(f->system->components[0].setting_count, 3);
    assert_int_equal(f->system->components[0].settings[0].element.count, 0);
    assert_same_double(real_setting(f, "a.au[2]"), 7);
    load_clean(
        f, "<s n='s'><E><M n='a'><B>" INLINE(SET("au[1]", "6")) "</B></M></E><B>" INLINE(SET("a.au", "7")) "</B></s>");
    assert_int_equal(f->system->components[0].setting_count, 1);
}

static void test_system_connectors(void **state)
{
    struct fixture *f = *state;
#define PASSED(root_bindings, sub_bindings, component_bindings)                                                        \
    "<s n='s'><C><c n='P' k='parameter'><ssc:Real unit='degC'/></c></C><E>"                                            \
    "<s n='t'><C><c n='Q' k='parameter'/></C><E><M n='a'><C><c n='p_K' k='parameter'/></C>" component_bindings         \
    "</M></E>"                                                                                                         \
    "<X><x f='Q' t='a.p_K'/></X>" sub_bindings "</s></E><X><x f='P' t='t.Q'/></X>" root_bindings "</s>"
    load_clean(f, PASSED("<B>" INLINE(SET("P", "20")) "</B>", "", ""));
    assert_same_double(real_setting(f, "t.a.p_K"), 293.15);
    assert_int_equal(f->system->connection_count, 0);
    /* What comes in from a higher level is above what is said below. */
    load_clean(f, PASSED("<B>" INLINE(SET("P", "20")) "</B>", "<B>" INLINE(SET("Q", "5")) "</B>",
                         "<B>" INLINE(SET("p_K", "6")) "</B>"));
    assert_same_double(real_setting(f, "t.a.p_K"), 293.15);
    load_clean(f, PASSED("", "<B>" INLINE(SET("Q", "5")) "</B>", "<B>" INLINE(SET("p_K", "6")) "</B>"));
    assert_same_double(real_setting(f, "t.a.p_K"), 5);
    load_clean(f, PASSED("", "", "<B>" INLINE(SET("p_K", "6")) "</B>"));
    assert_same_double(real_setting(f, "t.a.p_K"), 6);
    /* By hierarchical names from above; and on the command line, where numbers are in the connector's unit. */
    load_clean(f, PASSED("<B>" INLINE(SET("t.Q", "7")) "</B>", "", ""));
    assert_same_double(real_setting(f, "t.a.p_K"), 7);
    f->set[0] = "P=30";
    load_clean(f, PASSED("<B>" INLINE(SET("t.Q", "7")) "</B>", "", ""));
    assert_same_double(real_setting(f, "t.a.p_K"), 303.15);
    f->set[0] = "t.Q=8";
    load_clean(f, PASSED("<B>" INLINE(SET("P", "20")) "</B>", "", ""));
    assert_same_double(real_setting(f, "t.a.p_K"), 8);
    f->set[0] = "t.a.p_K=9";
    load_clean(f, PASSED("<B>" INLINE(SET("P", "20")) "</B>", "", ""));
    assert_same_double(real_setting(f, "t.a.p_K"), 9);
    f->set[0] = NULL;
    /* Inputs: a start value, and the connection stays. */
    load_clean(f, "<s n='s'><C><c n='in' k='input'/></C><E><M n='a'><C><c n='u' k='input'/></C></M></E><X><x f='in' "
                  "t='a.u'><L factor='2'/></x>"
                  "</X><B>" INLINE(SET("in", "4")) "</B></s>");
    assert_connections(f, "in->a.u*2+0");
    assert_same_double(real_setting(f, "a.u"), 8);
    /* Structural parameters, too. */
    load_clean(f, "<s n='s'><C><c n='N' k='structuralParameter'/></C><E><M n='a'><C><c n='n' "
                  "k='structuralParameter'/></C></M></E>"
                  "<X><x f='N' t='a.n'/></X><B>" INLINE("<v n='N'><ssv:Integer value='5'/></v>") "</B></s>");
    assert_int_equal(*(const uint64_t *)setting(f, "a.n")->values, 5);
}

static void test_outputs(void **state)
{
    struct fixture *f = *state;
    /* A system may have nothing inside that gives its output a value but a binding. */
    load_clean(f, "<s n='s'><E><s n='t'><C><c n='o' k='output'/></C><B>" INLINE(
                      SET("o", "4")) "</B></s>"
                                     "<M n='a'><C><c n='u' k='input'/></C></M></E><X><x f='t.o' t='a.u'/></X></s>");
    assert_same_double(real_setting(f, "a.u"), 4);
    assert_int_equal(f->system->connection_count, 0);
    assert_ok(load_text(f, "<s n='s'><C><c n='o' k='output'/></C><E><M n='a'><C><c n='y' k='output'/></C></M></E><X><x "
                           "f='a.y' t='o'/></X><B>" INLINE("\n" SET("o", "4")) "</B></s>"));
    assert_found(f, 0, 1, "warning s.ssd:2: parameter 'o': 'o' has its values from inside; the one given is not used");
}

static void test_names(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(f, "<s n='s'><E><s n='B'><E><M n='C'/></E></s>\n<M n='B.C'/><M n='x'/><s n='x.sub'><E><M "
                           "n='q'/></E></s></E><B>" INLINE(SET("B.C.p", "3") SET("x.sub.x", "4")) "</B></s>"));
    assert_found(f, 0, 1, "warning s.ssd:2: two components have the path 'B.C'");
    for (uint32_t i = 0; i < 2; i++) {
        assert_int_equal(f->system->components[i].setting_count, 1);
        assert_same_double(*(const double *)f->system->components[i].settings[0].values, 3);
    }
    assert_same_double(real_setting(f, "x.sub.x"), 4); /* the variable sub.x of x */
    /* Blanks, dots, '=' and other scripts. */
    f->set[0] = "W\xc3\xa4rme = 1.2.p=5";
    f->connect[0] = "W\xc3\xa4rme = 1.2.y=b=c.u";
    load_clean(f, "<s n='s'><E><M n='W\xc3\xa4rme = 1.2'/><M n='b=c'/></E></s>");
    assert_same_double(real_setting(f, "W\xc3\xa4rme = 1.2.p"), 5);
    assert_connections(f, "W\xc3\xa4rme = 1.2.y->b=c.u");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_inline, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_precedence, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_referenced_system, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mapping, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_enumerations, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arrays, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_system_connectors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_outputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
