/* SPDX-License-Identifier: MIT */
/* Systems in systems, in other files, by reference; dictionaries; what a component can be. */
#include "system_test.h"

#define YU "<C><c n='y' k='output'/><c n='u' k='input'/></C>"

static void test_nested(void **state)
{
    struct fixture *f = *state;
    /* Two levels down, and up again on the other side. */
    load_clean(f, "<s n='s'><E>"
                  "<s n='one'><C><c n='o' k='output'/></C><E><s n='two'><C><c n='o' k='output'/></C><E><M n='a'>" YU
                  "</M></E>"
                  "<X><x f='a.y' t='o'/></X></s></E><X><x f='two.o' t='o'/></X></s>"
                  "<s n='three'><C><c n='i' k='input'/></C><E><M n='b'>" YU "</M><M n='c'>" YU "</M></E>"
                  "<X><x f='i' t='b.u'/><x f='i' t='c.u'/></X></s></E><X>\n<x f='one.o' t='three.i'/></X></s>");
    assert_connections(f, "one.two.a.y->three.b.u one.two.a.y->three.c.u");
    assert_string_equal(f->system->components[0].name, "one.two.a");
    assert_int_equal(f->system->component_count, 3);
    assert_int_equal(f->system->fmu_count, 1); /* one file, opened once */
    assert_ptr_equal(f->system->components[0].fmu, f->system->components[2].fmu);
    assert_string_equal(f->system->name, "doc");
    assert_true(f->system->experiment.has_start && f->system->experiment.has_stop && !f->system->experiment.has_step);
    assert_same_double(f->system->experiment.start, 1);
    assert_same_double(f->system->experiment.stop, 5);
}

static void test_order(void **state)
{
    struct fixture *f = *state;
    /* As a reader meets them, however deep. */
    load_clean(f,
               "<s n='s'><E><s n='t'><E><M n='a'/><M n='b'/></E></s><M n='c'/><s n='v'><E><M n='d'/></E></s></E></s>");
    static const char *const names[] = {"t.a", "t.b", "c", "v.d"};
    for (uint32_t i = 0; i < 4; i++)
        assert_string_equal(f->system->components[i].name, names[i]);
}

#define GAIN                                                                                                           \
    "<s n='g'><C><c n='in' k='input'/><c n='out' k='output'/></C><E><M n='m'>" YU "</M></E>"                           \
    "<X><x f='in' t='m.u'/><x f='m.y' t='out'/></X></s>"
#define IO "<C><c n='in' k='input'/><c n='out' k='output'/></C>"

static void test_other_files(void **state)
{
    struct fixture *f = *state;
    write_ssd(f, "gain.ssd", GAIN);
    load_clean(f, "<s n='s'><E><P n='a' type='application/x-ssp-definition' source='gain.ssd'>" IO "</P>"
                  "<P n='b' type='application/x-ssp-definition' source='gain.ssd'>" IO "</P></E>"
                  "<X><x f='a.out' t='b.in'/></X></s>");
    assert_connections(f, "a.m.y->b.m.u");
    assert_int_equal(f->system->fmu_count, 1);
    /* A package in a folder, its default system and a variant. */
    make_folder(f, "sub.ssp");
    make_folder(f, "sub.ssp/m.fmu");
    write_file(f, "sub.ssp/m.fmu/modelDescription.xml", everything);
    write_ssd(f, "sub.ssp/SystemStructure.ssd", GAIN);
    write_ssd(f, "sub.ssp/Other.ssd",
              "<s n='o'><C><c n='z' k='output'/></C><E><M n='k'>" YU "</M></E><X><x f='k.y' t='z'/></X></s>");
    load_clean(
        f, "<s n='s'><E><P n='a' type='application/x-ssp-package' source='sub.ssp'>" IO "</P>"
           "<P n='o' type='application/x-ssp-package' source='sub.ssp#Other.ssd'><C><c n='z' k='output'/></C></P></E>"
           "<X><x f='o.z' t='a.in'/></X></s>");
    assert_connections(f, "o.k.y->a.m.u");
    assert_int_equal(f->system->package_count, 2);
    /* A package as the root, and a variant of it. */
    assert_ok(load(f, "sub.ssp"));
    assert_connections(f, "in->m.u m.y->out");
    assert_ok(load(f, "sub.ssp#Other.ssd"));
    assert_connections(f, "k.y->z");
    assert_fails(load(f, "sub.ssp#None.ssd"), TUTTI_ERR_ARGUMENT, "there is no variant \"None.ssd\"");
    /* The component says something else about the system than it does itself. */
    assert_ok(load_text(f, "<s n='s'><E><P n='a' type='application/x-ssp-definition' source='gain.ssd'><C>\n"
                           "<c n='in' k='output'/>\n<c n='inn' k='input'/></C></P></E></s>"));
    assert_found(f, 2, 0, "error s.ssd:2: the connector 'a.in' is of kind output, but of kind input at ");
    assert_found(f, 2, 0, "error s.ssd:3: the connector 'a.inn' is no connector of the system in ");
    /* Without a type it should be an FMU. */
    assert_ok(load_text(f, "<s n='s'><E>\n<P n='a' source='gain.ssd'/></E></s>"));
    assert_found(f, 0, 1, "warning s.ssd:2: the component 'a' has no type, and so should be an FMU");
    assert_int_equal(f->system->component_count, 1);
}

static void test_same_document(void **state)
{
    struct fixture *f = *state;
    load_clean(f, "<s n='s'><E><s n='first' id='gain'>" IO "<E><M n='m'>" YU
                  "</M></E><X><x f='in' t='m.u'/><x f='m.y' t='out'/></X>"
                  "</s><P n='second' type='application/x-ssp-definition' source='#gain'>" IO "</P></E>"
                  "<X><x f='first.out' t='second.in'/></X></s>");
    assert_connections(f, "first.m.y->second.m.u");
    assert_ok(load_text(f, "<s n='s'><E>\n<P n='a' type='application/x-ssp-definition' source='#none'/></E></s>"));
    assert_found(f, 1, 0,
                 "error s.ssd:2: component 'a': its source is \"#none\", but no system of this document has that id");
}

static void test_cycles(void **state)
{
    struct fixture *f = *state;
    assert_fails(load_text(f, "<s n='s'><E>\n<P n='a' type='application/x-ssp-definition' source='s.ssd'/></E></s>"),
                 TUTTI_ERR_FORMAT, "s.ssd:2: component 'a' holds itself without end: 'a' (");
    write_ssd(f, "t.ssd", "<s n='t'><E><P n='b' type='application/x-ssp-definition' source='s.ssd'/></E></s>");
    assert_fails(load_text(f, "<s n='s'><E><P n='a' type='application/x-ssp-definition' source='t.ssd'/></E></s>"),
                 TUTTI_ERR_FORMAT, "component 'b' holds itself without end: 'a.b' (");
    assert_contains(tutti_err_message(), "is in 'a' (");
    assert_contains(tutti_err_message(), "is in 'the root' (");
    assert_fails(
        load_text(f, "<s n='s'><E><s n='t' id='t'><E><P n='u' type='application/x-ssp-definition' source='#t'/></E>"
                     "</s></E></s>"),
        TUTTI_ERR_FORMAT, "component 'u' holds itself without end");
    /* Ten files that each hold the next one ten times. */
    for (int i = 0; i < 10; i++) {
        char name[20], text[2000];
        size_t n = (size_t)snprintf(text, sizeof text, "<s n='b'><E>");
        for (int k = 0; k < 10; k++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "<P n='c%d' type='application/x-ssp-definition' source='b%d.ssd'/>", k, i + 1);
        snprintf(text + n, sizeof text - n, "</E></s>");
        snprintf(name, sizeof name, "b%d.ssd", i);
        write_ssd(f, name, text);
    }
    write_ssd(f, "b10.ssd", "<s n='b'/>");
    assert_fails(load(f, "b0.ssd"), TUTTI_ERR_LIMIT, "more than 1000000 elements");
}

static void test_components(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(
        f, "<s n='s'><E>\n<P n='a'><C><c n='y' k='output'/></C></P>\n<P n='b' type='text/x-modelica' source='m.mo'/>\n"
           "<M n='c' implementation='ScheduledExecution'/>\n<M n='d' implementation='ModelExchange'/>\n"
           "<M n='e' implementation='CoSimulation'/><M n='f' implementation='any'/><M n='g'>" YU "</M></E>"
           "<X><x f='a.y' t='g.u'/></X></s>"));
    assert_found(f, 3, 1, "warning s.ssd:2: component 'a': it has no source, and so no implementation");
    assert_found(
        f, 3, 1,
        "error s.ssd:3: component 'b': its type \"text/x-modelica\" is not supported; what is: application/x-fmu");
    assert_found(f, 3, 1, "error s.ssd:4: component 'c': implementation=\"ScheduledExecution\" is not supported");
    assert_found(f, 3, 1,
                 "error s.ssd:5: component 'd': its FMU has no implementation ModelExchange; it has CoSimulation");
    assert_int_equal(f->system->component_count, 5);
    assert_string_equal(f->system->components[2].implementation, "CoSimulation");
    assert_null(f->system->components[3].implementation);
    assert_fails(load_text(f, "<s n='s'><E>\n<P n='a' source='none.fmu'/></E></s>"), TUTTI_ERR_IO,
                 "s.ssd:2: component 'a': cannot read ");
    assert_fails(load_text(f, "<s n='s'><E>\n<P n='a' source='http://x/y.fmu'/></E></s>"), TUTTI_ERR_FORMAT,
                 "s.ssd:2: component 'a': ");
}

#define DICTIONARY                                                                                                     \
    "<D><d n='bus'><S><e n='T'><ssc:Real unit='K'/></e><e n='z'><ssc:Real/></e><ssb:Units>"                            \
    "<ssc:Unit name='K'><ssc:BaseUnit K='1'/></ssc:Unit></ssb:Units></S></d></D>"

static void test_dictionaries(void **state)
{
    struct fixture *f = *state;
    /* From one system into the entry, out of it in a second one, each by a separate reference. */
    load_clean(f, "<s n='s'><E>"
                  "<s n='one'><E><M n='a'><C><c n='y' k='output'/></C></M><R n='r' dictionary='bus'><C><c n='z' "
                  "k='inout'/></C></R></E>"
                  "<X><x f='r.z' t='a.y'/></X></s>"
                  "<s n='two'><E><M n='b'><C><c n='u' k='input'/></C></M><R n='r' dictionary='bus'><C><c n='z' "
                  "k='inout'/></C></R></E>"
                  "<X><x f='b.u' t='r.z'/></X></s></E>" DICTIONARY "</s>");
    assert_connections(f, "one.a.y->two.b.u");
    /* With a unit: degC into K, and K into degC. */
    load_clean(f,
               "<s n='s'><E><M n='a'><C><c n='y_degC' k='output'/></C></M><M n='b'><C><c n='u_degC' k='input'/><c "
               "n='u' k='input'/></C></M>"
               "<R n='in' dictionary='bus'><C><c n='T' k='input'/></C></R><R n='out' dictionary='bus'><C><c n='T' "
               "k='output'/></C></R></E>"
               "<X><x f='a.y_degC' t='in.T'/><x f='out.T' t='b.u_degC'/><x f='out.T' t='b.u'/></X>" DICTIONARY "</s>");
    assert_connections(f, "a.y_degC->b.u*1+273.15 a.y_degC->b.u_degC");
    /* A reference's connector may have a different unit of measure. */
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='y' k='output'/></C></M><M n='b'><C><c n='u_K' k='input'/></C></M>"
                  "<R n='in' dictionary='bus'><C><c n='T' k='input'><ssc:Real unit='degC'/></c></C></R>"
                  "<R n='out' dictionary='bus'><C><c n='T' k='output'/></C></R></E>"
                  "<X><x f='a.y' t='in.T'/><x f='out.T' t='b.u_K'/></X>" DICTIONARY "</s>");
    assert_connections(f, "a.y->b.u_K*1+273.15");
    /* The innermost dictionary of a name counts. */
    load_clean(
        f,
        "<s n='s'><E><M n='a'><C><c n='y' k='output'/></C></M><R n='r' dictionary='bus'><C><c n='z' k='input'/></C></R>"
        "<s n='t'><E><M n='b'><C><c n='u' k='input'/></C></M><R n='r' dictionary='bus'><C><c n='z' "
        "k='output'/></C></R></E>"
        "<X><x f='r.z' t='b.u'/></X>" DICTIONARY "</s></E><X><x f='a.y' t='r.z'/></X>" DICTIONARY "</s>");
    assert_connections(f, "");
}

static void test_dictionary_files(void **state)
{
    struct fixture *f = *state;
    write_expanded(f, "bus.ssb", "",
                   "<ssb:SignalDictionary version='2.0'" NAMESPACES "><e n='z'><ssc:Real/></e></ssb:SignalDictionary>",
                   "");
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='y' k='output'/><c n='u' k='input'/></C></M>"
                  "<R n='r' dictionary='bus'><C><c n='z' k='inout'/></C></R></E>"
                  "<X><x f='a.y' t='r.z'/><x f='a.u' t='r.z'/></X><D><d n='bus' source='bus.ssb'/></D></s>");
    assert_connections(f, "a.y->a.u");
    assert_fails(load_text(f, "<s n='s'><E><R n='r' dictionary='bus'/></E>\n<D><d n='bus' source='none.ssb'/></D></s>"),
                 TUTTI_ERR_IO, "s.ssd:2: signal dictionary 'bus': cannot read");
    assert_ok(load_text(
        f,
        "<s n='s'><E>\n<R n='r' dictionary='buss'/>\n<R n='q' dictionary='bus'><C>\n<c n='zz' k='input'/></C></R></E>"
        "<D><d n='bus' source='bus.ssb'/></D></s>"));
    assert_found(
        f, 2, 0,
        "error s.ssd:2: 'r' refers to the signal dictionary 'buss', which neither its system nor one around it has");
    assert_found(f, 2, 0, "error s.ssd:4: the connector 'q.zz' is no entry of the signal dictionary 'bus'");
    /* Two writers. */
    assert_ok(
        load_text(f, "<s n='s'><E><M n='a'><C><c n='y' k='output'/><c n='y2' k='output'/></C></M>"
                     "<R n='r' dictionary='bus'><C><c n='z' k='inout'/></C></R></E>"
                     "<X>\n<x f='a.y' t='r.z'/>\n<x f='a.y2' t='r.z'/></X><D><d n='bus' source='bus.ssb'/></D></s>"));
    assert_found(f, 1, 0, "error s.ssd:3: 'bus.z' has two sources, 'a.y2' and, from ");
}

static void test_words(void **state)
{
    struct fixture *f = *state;
#define ANNOTATION(words)                                                                                              \
    "<ssd:Annotations><ssc:Annotation type='org.tutti'><tutti:settings xmlns:tutti='x' " words                         \
    "/></ssc:Annotation></ssd:Annotations>"
    load_clean(f, "<s n='s'><E><M n='a'>" ANNOTATION("step='0.1'") "</M><M n='b'/></E>" ANNOTATION(
                      "coupling='jacobi' step='0.5'") "</s>");
    assert_int_equal(f->system->word_count, 2);
    assert_string_equal(f->system->words[0].name, "coupling");
    assert_string_equal(f->system->words[0].value, "jacobi");
    assert_string_equal(f->system->words[1].value, "0.5");
    assert_int_equal(f->system->words[0].line, 1);
    assert_contains(f->system->words_file, "s.ssd");
    assert_int_equal(f->system->components[0].word_count, 1);
    assert_string_equal(f->system->components[0].words[0].name, "step");
    assert_int_equal(f->system->components[1].word_count, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nested, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_other_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_document, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cycles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_components, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dictionaries, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dictionary_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_words, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
