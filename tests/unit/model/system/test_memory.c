/* SPDX-License-Identifier: MIT */
/* Systems without enough memory: every allocation fails once while documents are loaded that have a bit of everything. */
#include "system_test.h"

#include "failing.h"

static void count(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text)
{
    (void)severity, (void)file, (void)line;
    *(size_t *)context += strlen(text) > 0;
}

/* What there is to compare in a system. */
struct extent {
    size_t connections, settings, probes, words, findings;
};

struct loading {
    const struct tt_system_source *source;
    struct extent expected;
};

static struct extent extent_of(const struct tt_system *system, size_t found)
{
    struct extent extent = {system->connection_count, 0, system->probe_count, system->word_count, found};
    for (uint32_t i = 0; i < system->component_count; i++) {
        extent.settings += system->components[i].setting_count;
        extent.words += system->components[i].word_count;
    }
    return extent;
}

/* Memory that is not enough is an error, or of no consequence (what only saves memory): the system is whole, and all is found. */
static enum tutti_err load_whole(void *context)
{
    const struct loading *loading = context;
    size_t found = 0;
    struct tt_findings findings = {.report = count, .context = &found};
    struct tt_system *system;
    enum tutti_err err = tt_system_load(&system, loading->source, &findings);
    assert_int_equal(err == TUTTI_OK, system != NULL);
    if (!err) {
        struct extent extent = extent_of(system, found);
        assert_memory_equal(&extent, &loading->expected, sizeof extent);
    }
    tt_system_free(system);
    return err;
}

static void survive(const struct tt_system_source *source, struct extent expected)
{
    fail_each_call(FAILING_MEMORY, ENOMEM, load_whole, &(struct loading){source, expected});
}

static int set_up_memory(void **state)
{
    (void)failing_pause(); /* after a test that failed */
    return set_up(state);
}

static void survive_ssd(struct fixture *f, const char *text, struct extent expected)
{
    static const char *const record[] = {"*"};
    write_ssd(f, "s.ssd", text);
    const char *file = scratch_path(&f->scratch, "s.ssd");
    const struct tt_system_source source = {.files = &file,
                                            .file_count = 1,
                                            .set = f->set,
                                            .set_count = count_texts(f->set),
                                            .connect = f->connect,
                                            .connect_count = count_texts(f->connect),
                                            .record = record,
                                            .record_count = 1};
    survive(&source, expected);
}

#define YU "<C><c n='y' k='output'/><c n='u' k='input'/></C>"
#define IO "<C><c n='in' k='input'/><c n='out' k='output'/></C>"

static void test_nested(void **state)
{
    struct fixture *f = *state;
    write_ssd(f, "gain.ssd",
              "<s n='g'>" IO "<E><M n='m'>" YU
              "</M></E><X><x f='in' t='m.u'><L factor='2'/></x><x f='m.y' t='out'/></X></s>");
    survive_ssd(
        f,
        "<s n='s'><C><c n='w' k='unspecified'/></C><E><P n='a' type='application/x-ssp-definition' "
        "source='gain.ssd'>" IO "</P><s n='one' id='i'>" IO "<E><M n='b'>" YU
        "</M></E><X><x f='in' t='b.u'/><x f='b.y' t='out'/></X></s>"
        "<P n='c' type='application/x-ssp-definition' source='#i'>" IO "</P></E>"
        "<X><x f='a.out' t='one.in'/><x f='one.out' t='c.in'/><x f='c.out' t='a.in'/><x f='c.out' t='w'/></X></s>",
        (struct extent){.connections = 4, .probes = 6});
}

#define DICTIONARY                                                                                                     \
    "<D><d n='bus'><S><e n='T'><ssc:Real unit='K'/></e><e n='z'><ssc:Real/></e><ssb:Units>"                            \
    "<ssc:Unit name='K'><ssc:BaseUnit K='1'/></ssc:Unit></ssb:Units></S></d></D>"

static void test_dictionaries(void **state)
{
    struct fixture *f = *state;
    survive_ssd(f,
                "<s n='s'><E><M n='a'><C><c n='y_degC' k='output'/><c n='y' k='output'/></C></M>"
                "<M n='b'><C><c n='u_degC' k='input'/><c n='u' k='input'/></C></M>"
                "<R n='in' dictionary='bus'><C><c n='T' k='input'/></C></R><R n='out' dictionary='bus'><C><c n='T' "
                "k='output'/></C></R><R n='no' dictionary='none'/>"
                "<s n='t'><E><M n='c'><C><c n='u' k='input'/></C></M><R n='r' dictionary='bus'><C><c n='z' "
                "k='inout'/></C></R></E><X><x f='r.z' t='c.u'/></X></s>"
                "<R n='r' dictionary='bus'><C><c n='z' k='inout'/></C></R></E>"
                "<X><x f='a.y_degC' t='in.T'/><x f='out.T' t='b.u_degC'/><x f='out.T' t='b.u'/><x f='a.y' "
                "t='r.z'/></X>" DICTIONARY "</s>",
                (struct extent){.connections = 3, .findings = 1});
}

static void test_bindings(void **state)
{
    struct fixture *f = *state;
    write_ssv(f, "one.ssv", "<v n='alpha'><r value='20' unit='degC'/></v><v n='p2'><r value='8'/></v>");
    write_ssm(f, "one.ssm", "<g source='alpha' target='p_K'/><g source='p2' target='none'/>");
    f->set[0] = "a.p=5";
    f->set[1] = "b.ap[1,2]=6";
    survive_ssd(f,
                "<s n='s'><C><c n='e' k='parameter'><ssc:Enumeration name='Paint'/></c><c n='x' k='parameter'/></C><E>"
                "<M n='a'><C><c n='ep' k='parameter'/><c n='sp' k='parameter'/></C><B><b source='one.ssv'>"
                "<ssd:ParameterMapping source='one.ssm'/></b><b><V><v n='ip'><ssv:Integer value='-5'/></v>"
                "<v n='b_u'><ssv:Boolean value='true'/></v><v n='sp'><ssv:String value='a b'/></v><v "
                "n='bp'><ssv:Binary value='00ff'/></v>"
                "<v n='au[2]'><r value='1'/></v><v n='ap'><r value='1 2 3 4'/><ssc:Dimension size='2'/><ssc:Dimension "
                "size='2'/></v>"
                "<v n='p'><ssv:String value='x'/></v><v n='q'><r value='1'/></v></V></b></B></M>"
                "<M n='b'><C><c n='p' k='parameter'/></C></M></E><X><x f='e' t='a.ep'>"
                "<ssc:EnumerationMappingTransformation><ssc:MapEntry source='gruen' target='blue'/><ssc:MapEntry "
                "source='rot' target='red'/>"
                "</ssc:EnumerationMappingTransformation></x><x f='x' t='b.p'><L factor='2' offset='1'/></x></X>"
                "<B><b><V><v n='e'><ssv:Enumeration value='gruen'/></v><v n='x'><r value='2'/></v><v n='b.p2'><r "
                "value='1'/></v></V></b></B></s>",
                (struct extent){.settings = 12, .probes = 1, .findings = 3});
}

static void test_errors(void **state)
{
    struct fixture *f = *state;
    survive_ssd(
        f,
        "<s n='s'><C><c n='in' k='input'/></C><E><M n='a'><C><c n='y' k='output'/><c n='y_mm' k='output'/><c n='none' "
        "k='output'/></C></M>"
        "<M n='b'><C><c n='u' k='input'/><c n='u_K' k='input'/><c n='su' k='input'/><c n='p' k='input'/></C></M>"
        "<P n='d' type='text/x-modelica' source='x.mo'/><P n='e'/></E>"
        "<X><x f='a.y' t='b.u'/><x f='in' t='b.u'/><x f='a.y_mm' t='b.u_K'/><x f='a.y' t='b.su'/><x f='a.zz' t='b.u'/>"
        "<x f='b.u' t='b.u_K'/><x f='a.y' startIndices='4' t='b.p'/></X></s>",
        (struct extent){.connections = 1, .findings = 10});
}

static void test_annotations(void **state)
{
    struct fixture *f = *state;
#define ANNOTATION(words)                                                                                              \
    "<ssd:Annotations><ssc:Annotation type='org.tutti'><tutti:settings xmlns:tutti='x' " words                         \
    "/></ssc:Annotation></ssd:Annotations>"
    f->connect[0] = "a.y*2+1=b.u";
    survive_ssd(f,
                "<s n='s'><E><M n='a'>" ANNOTATION("step='0.1'") "</M><M n='b'/></E>" ANNOTATION(
                    "coupling='jacobi' step='0.5'") "</s>",
                (struct extent){.connections = 1, .words = 3});
}

/* FMUs, lines and constraints of a command line. */
static void test_command_line(void **state)
{
    (void)state;
    static const char *const files[] = {"a=" TUTTI_FOLDERS "/ChainMass_fmi2", "b=" TUTTI_FOLDERS "/ChainMass_fmi3",
                                        "c=" TUTTI_FOLDERS "/Feedthrough_fmi3"};
    static const char *const connect[] = {"a.x=b.x_left", "a.v*2+1=b.v_left", "c.vector_out[2]=c.float64_in"};
    static const char *const set[] = {"a.x_left=0.1", "c.string_in=x", "c.matrix_in=1 2 3 4 5 6"};
    const struct tt_system_source source = {
        .files = files, .file_count = 3, .connect = connect, .connect_count = 3, .set = set, .set_count = 3};
    survive(&source, (struct extent){.connections = 3, .settings = 3});
}

/* A system of another tool, with a function and tables. */
static void test_foreign(void **state)
{
    struct fixture *f = *state;
    static const char osp[] =
        "<OspSystemStructure xmlns='http://opensimulationplatform.com/MSMI/OSPSystemStructure' version='0.1'>"
        "<StartTime>0</StartTime><BaseStepSize>0.01</BaseStepSize><Simulators>"
        "<Simulator name='a' source='m.fmu'><InitialValues><InitialValue variable='p'><Real "
        "value='3'/></InitialValue></InitialValues></Simulator>"
        "<Simulator name='b' source='m.fmu' stepSize='0.02'/></Simulators><Functions><Sum name='sum' inputCount='2'/>"
        "<LinearTransformation name='line' factor='2' offset='1'/></Functions><Connections>"
        "<VariableConnection><Variable simulator='a' name='y'/><Variable simulator='b' name='u'/></VariableConnection>"
        "<SignalConnection><Variable simulator='a' name='y'/><Signal function='sum' name='in[0]'/></SignalConnection>"
        "<SignalConnection><Variable simulator='a' name='y2'/><Signal function='sum' name='in[1]'/></SignalConnection>"
        "<SignalConnection><Signal function='sum' name='out'/><Variable simulator='b' name='u2'/></SignalConnection>"
        "<SignalConnection><Variable simulator='b' name='y'/><Signal function='line' name='in'/></SignalConnection>"
        "<SignalConnection><Signal function='line' name='out'/><Variable simulator='a' name='u'/></SignalConnection>"
        "</Connections></OspSystemStructure>";
    write_file(f, "OspSystemStructure.xml", osp);
    const char *file = scratch_path(&f->scratch, "OspSystemStructure.xml");
    survive(&(struct tt_system_source){.files = &file, .file_count = 1},
            (struct extent){.connections = 4, .settings = 1, .words = 6});
}

static void test_tables(void **state)
{
    struct fixture *f = *state;
    write_file(f, "t.csv", "time,x,z\n0,1,2\n1,2,3\n");
    survive_ssd(f,
                "<s n='s'><E><P n='t' type='text/csv' source='t.csv'><C><c n='x' k='output'/></C></P>"
                "<M n='a'><C><c n='u' k='input'/></C></M></E><X><x f='t.x' t='a.u'><L factor='2'/></x></X></s>",
                (struct extent){.connections = 1, .probes = 1});
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_nested, set_up_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_dictionaries, set_up_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_bindings, set_up_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_errors, set_up_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_annotations, set_up_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_command_line, set_up_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_foreign, set_up_memory, tear_down),
        cmocka_unit_test_setup_teardown(test_tables, set_up_memory, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
