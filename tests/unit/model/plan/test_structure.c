/* SPDX-License-Identifier: MIT */
#include "model/plan/structure.h"

#include "coupled.h"

static struct coupled coupled;
static struct tt_structure structure;

static int teardown(void **state)
{
    (void)state;
    tt_structure_fini(&structure);
    coupled_fini(&coupled);
    return 0;
}

static void analyse(enum tt_structure_phase phase)
{
    assert_ok(tt_structure_init(&structure, &coupled.system, phase));
}

/* The nodes that "c.name" needs, as text: "0.u1 0.u2". Sources end with "!" so that "1.y1!" is an output. */
static void expect_needs(uint32_t component, const char *name, bool output, const char *expected)
{
    uint32_t node = coupled_node(&coupled, &structure, component, name, output);
    if (node == TUTTI_NONE)
        fail_msg("%u.%s is no node", component, name);
    struct tt_text text = {0};
    for (uint32_t i = structure.graph.first[node]; i < structure.graph.first[node + 1]; i++) {
        const struct tt_structure_node *needed = &structure.nodes[structure.graph.needs[i]];
        tt_text_printf(&text, "%s%u.%s%s", text.length ? " " : "", needed->component,
                       coupled.system.components[needed->component].fmu->desc->vars[needed->variable].name,
                       needed->output ? "!" : "");
    }
    assert_string_equal(text.text ? text.text : "", expected);
    tt_text_fini(&text);
}

static void nodes_are_what_is_connected(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 3, "100 010 000"), b = coupled_add(&coupled, 2, "11 01");
    coupled_connect(&coupled, b, "y2", a, "u3");
    coupled_connect(&coupled, a, "y2", b, "u2");
    coupled_connect(&coupled, a, "y2", b, "u1");
    coupled_connect(&coupled, b, "y1", a, "u2");
    analyse(TUTTI_PHASE_RUN);
    assert_int_equal(structure.node_count, 7);
    const uint32_t first[] = {0, 3, 7};
    assert_memory_equal(structure.component_first, first, sizeof first);
    const char *names[] = {"u2", "u3", "y2", "u1", "u2", "y1", "y2"};
    for (uint32_t i = 0; i < 7; i++) {
        const struct tt_structure_node *node = &structure.nodes[i];
        assert_int_equal(node->component, i < 3 ? a : b);
        assert_string_equal(coupled.fmus[node->component].desc->vars[node->variable].name, names[i]);
        assert_int_equal(node->output, names[i][0] == 'y');
    }
    assert_int_equal(coupled_node(&coupled, &structure, a, "u1", false), TUTTI_NONE);
    assert_int_equal(coupled_node(&coupled, &structure, a, "y2", false), TUTTI_NONE);
    assert_int_equal(coupled_node(&coupled, &structure, b, "y2", true), 6);
    expect_needs(a, "y2", true, "0.u2");
    expect_needs(b, "y1", true, "1.u1 1.u2");
    expect_needs(b, "y2", true, "1.u2");
    expect_needs(b, "u1", false, "0.y2!");
    expect_needs(a, "u3", false, "1.y2!");
    assert_int_equal(structure.assumed_count, 0);
}

static void what_is_not_told_is_assumed(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 2, "00 00"), b = coupled_add(&coupled, 3, "010 *");
    uint32_t c = coupled_add(&coupled, 1, "*"), d = coupled_add(&coupled, 1, "*");
    coupled_connect(&coupled, a, "y1", b, "u1");
    coupled_connect(&coupled, a, "y2", b, "u2");
    coupled_connect(&coupled, b, "y1", c, "u1");
    coupled_connect(&coupled, b, "y2", a, "u1");
    coupled_connect(&coupled, d, "y1", a, "u2");
    analyse(TUTTI_PHASE_RUN);
    expect_needs(b, "y1", true, "1.u2");
    expect_needs(b, "y2", true, "1.u1 1.u2");
    expect_needs(d, "y1", true, "");
    /* c declares nothing, but no unit reads it; d declares nothing, but has no connected input. */
    assert_int_equal(structure.assumed_count, 1);
    assert_int_equal(structure.assumed[0], b);
}

/* The system's own ports are not nodes, nor are their exclusive partners. */
static void ports_of_the_system_are_no_nodes(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 2, "11 10"), b = coupled_add(&coupled, 1, "1");
    coupled_join(&coupled, TUTTI_NONE, 0, a, 0);
    coupled_connect(&coupled, a, "y1", b, "u1");
    coupled_join(&coupled, b, 1, TUTTI_NONE, 0);
    analyse(TUTTI_PHASE_INITIAL);
    assert_int_equal(structure.node_count, 2);
    expect_needs(a, "y1", true, "");
    expect_needs(b, "u1", false, "0.y1!");
}

static const char fmi1_text[] =
    "<fmiModelDescription fmiVersion=\"1.0\" modelName=\"M\" modelIdentifier=\"M\" guid=\"g\"\n"
    " numberOfContinuousStates=\"0\" numberOfEventIndicators=\"0\">\n<ModelVariables>\n"
    "<ScalarVariable name=\"u1\" valueReference=\"0\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"u2\" valueReference=\"1\" causality=\"input\"><Real start=\"0\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"y1\" valueReference=\"2\" causality=\"output\"><Real/>"
    "<DirectDependency><Name>u2</Name></DirectDependency></ScalarVariable>\n"
    "<ScalarVariable name=\"y2\" valueReference=\"3\" causality=\"output\"><Real start=\"1\"/></ScalarVariable>\n"
    "<ScalarVariable name=\"y3\" valueReference=\"4\" causality=\"output\"><Real/><DirectDependency/>"
    "</ScalarVariable>\n"
    "</ModelVariables></fmiModelDescription>\n";

static void fmi1_tells_by_direct_dependency(void **state)
{
    (void)state;
    for (enum tt_structure_phase phase = TUTTI_PHASE_INITIAL; phase <= TUTTI_PHASE_RUN; phase++) {
        uint32_t a = coupled_add_desc(&coupled, description(fmi1_text)), b = coupled_add(&coupled, 3, "100 010");
        coupled_connect(&coupled, b, "y1", a, "u1");
        coupled_connect(&coupled, b, "y2", a, "u2");
        coupled_connect(&coupled, a, "y1", b, "u1");
        coupled_connect(&coupled, a, "y2", b, "u2");
        coupled_connect(&coupled, a, "y3", b, "u3");
        analyse(phase);
        expect_needs(a, "y1", true, "0.u2");
        expect_needs(a, "y2", true, "0.u1 0.u2");
        expect_needs(a, "y3", true, "");
        assert_int_equal(structure.assumed_count, 1);
        assert_int_equal(structure.assumed[0], a);
        teardown(NULL);
    }
}

#define VARIABLE(name, reference, attributes, real)                                                                    \
    "<ScalarVariable name=\"" name "\" valueReference=\"" reference "\" " attributes "><Real " real                    \
    "/></ScalarVariable>\n"
#define MODEL(variables, lists)                                                                                        \
    "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><CoSimulation modelIdentifier=\"M\"/>\n"       \
    "<ModelVariables>\n" variables "</ModelVariables>\n<ModelStructure>" lists                                         \
    "</ModelStructure></fmiModelDescription>\n"

/* 1 u, 2 p, 3 q parameters, 4 x state, 5 der(x), 6 y = x, 7 c calculated, 8 k exact, 9 z */
static const char variables[] = VARIABLE("u", "1", "causality=\"input\"", "start=\"0\"")
    VARIABLE("p", "2", "causality=\"parameter\" variability=\"fixed\"", "start=\"0\"")
        VARIABLE("q", "3", "causality=\"parameter\" variability=\"fixed\"", "start=\"0\"") VARIABLE("x", "4", "", "")
            VARIABLE("der(x)", "5", "", "derivative=\"4\"") VARIABLE("y", "6", "causality=\"output\"", "")
                VARIABLE("c", "7", "causality=\"calculatedParameter\" variability=\"fixed\"", "")
                    VARIABLE("k", "8", "causality=\"output\" initial=\"exact\"", "start=\"1\"")
                        VARIABLE("z", "9", "causality=\"output\"", "");

static uint32_t add_start_model(const char *lists)
{
    struct tt_text text = {0};
    tt_text_printf(&text, MODEL("%s", "%s"), variables, lists);
    assert_false(text.failed);
    uint32_t component = coupled_add_desc(&coupled, description(text.text));
    tt_text_fini(&text);
    return component;
}

#define OUTPUTS                                                                                                        \
    "<Outputs><Unknown index=\"6\" dependencies=\"4\"/><Unknown index=\"8\" dependencies=\"1\"/>"                      \
    "<Unknown index=\"9\"/></Outputs><Derivatives><Unknown index=\"5\" dependencies=\"1 4\"/></Derivatives>"

/* All of `a` is connected: u, p and q get values, the rest give them. */
static uint32_t connect_start_model(const char *lists)
{
    uint32_t a = add_start_model(lists), b = coupled_add(&coupled, 6, "000000 000000 000000");
    coupled_connect(&coupled, b, "y1", a, "u");
    coupled_connect(&coupled, b, "y2", a, "p")->at_start_only = true;
    coupled_connect(&coupled, b, "y3", a, "q")->at_start_only = true;
    coupled_connect(&coupled, a, "x", b, "u1");
    coupled_connect(&coupled, a, "der(x)", b, "u2");
    coupled_connect(&coupled, a, "y", b, "u3");
    coupled_connect(&coupled, a, "c", b, "u4");
    coupled_connect(&coupled, a, "k", b, "u5");
    coupled_connect(&coupled, a, "z", b, "u6");
    return a;
}

static void a_start_has_its_own_dependencies(void **state)
{
    (void)state;
    uint32_t a = connect_start_model(
        OUTPUTS "<InitialUnknowns><Unknown index=\"4\" dependencies=\"2\"/><Unknown index=\"5\" dependencies=\"1 2\"/>"
                "<Unknown index=\"6\" dependencies=\"1 3\"/><Unknown index=\"7\" dependencies=\"3\"/>"
                "<Unknown index=\"9\" dependencies=\"\"/></InitialUnknowns>");
    analyse(TUTTI_PHASE_INITIAL);
    expect_needs(a, "x", true, "0.p");
    expect_needs(a, "der(x)", true, "0.u 0.p");
    expect_needs(a, "y", true, "0.u 0.q");
    expect_needs(a, "c", true, "0.q");
    expect_needs(a, "k", true, "");
    expect_needs(a, "z", true, "");
    assert_int_equal(structure.assumed_count, 0);
}

static void a_run_has_the_dependencies_of_outputs(void **state)
{
    (void)state;
    uint32_t a = connect_start_model(OUTPUTS "<InitialUnknowns><Unknown index=\"6\"/></InitialUnknowns>");
    analyse(TUTTI_PHASE_RUN);
    assert_int_equal(coupled_node(&coupled, &structure, a, "p", false), TUTTI_NONE);
    expect_needs(a, "x", true, "");
    expect_needs(a, "der(x)", true, "0.u");
    expect_needs(a, "y", true, "");
    expect_needs(a, "c", true, ""); /* fixed */
    expect_needs(a, "k", true, "0.u");
    expect_needs(a, "z", true, "0.u");
    assert_int_equal(structure.assumed_count, 1);
}

static void outputs_alone_say_nothing_of_parameters(void **state)
{
    (void)state;
    uint32_t a = connect_start_model(OUTPUTS);
    analyse(TUTTI_PHASE_INITIAL);
    expect_needs(a, "y", true, "0.p 0.q");
    expect_needs(a, "der(x)", true, "0.u 0.p 0.q");
    expect_needs(a, "k", true, "");
    expect_needs(a, "z", true, "0.u 0.p 0.q");
    expect_needs(a, "c", true, "0.u 0.p 0.q");
    assert_int_equal(structure.assumed_count, 1);
}

/* A parameter that gets its value from one component and hands it on to another. */
static void a_value_handed_on_needs_itself_only(void **state)
{
    (void)state;
    uint32_t a = connect_start_model(OUTPUTS), d = add_start_model(OUTPUTS);
    coupled_connect(&coupled, a, "p", d, "p")->at_start_only = true;
    analyse(TUTTI_PHASE_INITIAL);
    expect_needs(a, "p", true, "0.p");
    expect_needs(d, "p", false, "0.p!");
}

static void elements_of_an_array_are_one_node(void **state)
{
    (void)state;
    uint32_t a = coupled_add(&coupled, 1, "1 1"), b = coupled_add(&coupled, 1, "1");
    coupled_connect(&coupled, a, "y1", b, "u1")->to.element = (struct tt_indices){.count = 1, .index = {1}};
    coupled_connect(&coupled, a, "y2", b, "u1")->to.element = (struct tt_indices){.count = 1, .index = {2}};
    analyse(TUTTI_PHASE_RUN);
    assert_int_equal(structure.node_count, 3);
    expect_needs(b, "u1", false, "0.y1! 0.y2!");
}

/* 10,000 components of two FMUs, 30,000 connections: a ring in which u1 leads to y2 and u2 to y3. */
static void ten_thousand_components(void **state)
{
    (void)state;
    enum { MANY = 10000 };
    struct tt_fmu fmus[2] = {{.desc = feed_through(3, "000 100 010")}, {.desc = feed_through(3, "000 100 010")}};
    struct tt_system system = {.component_count = MANY, .connection_count = 3 * MANY};
    system.components = calloc(MANY, sizeof *system.components);
    system.connections = calloc((size_t)3 * MANY, sizeof *system.connections);
    assert_true(system.components && system.connections);
    for (uint32_t c = 0; c < MANY; c++) {
        system.components[c].fmu = &fmus[c % 2];
        for (uint32_t i = 0; i < 3; i++)
            system.connections[3 * c + i] = (struct tt_connection){
                .from = {.component = (c + MANY - 1) % MANY, .variable = 3 + i}, .to = {.component = c, .variable = i}};
    }
    assert_ok(tt_structure_init(&structure, &system, TUTTI_PHASE_INITIAL));
    assert_int_equal(structure.node_count, 6 * MANY);
    assert_int_equal(structure.graph.first[structure.node_count], 5 * MANY);
    assert_int_equal(structure.scc.count, 6 * MANY);
    struct tt_eval_order order;
    assert_ok(tt_eval_order_init(&order, &structure, true));
    check_order(&structure, &order, true);
    /* The first component gives y1, the second y1 and y2, all others everything at once; then the rest of those two. */
    assert_int_equal(order.evaluations, MANY + 2);
    tt_eval_order_fini(&order);
    free(system.components);
    free(system.connections);
    tt_description_free(fmus[0].desc);
    tt_description_free(fmus[1].desc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(nodes_are_what_is_connected, teardown),
        cmocka_unit_test_teardown(what_is_not_told_is_assumed, teardown),
        cmocka_unit_test_teardown(ports_of_the_system_are_no_nodes, teardown),
        cmocka_unit_test_teardown(fmi1_tells_by_direct_dependency, teardown),
        cmocka_unit_test_teardown(a_start_has_its_own_dependencies, teardown),
        cmocka_unit_test_teardown(a_run_has_the_dependencies_of_outputs, teardown),
        cmocka_unit_test_teardown(outputs_alone_say_nothing_of_parameters, teardown),
        cmocka_unit_test_teardown(a_value_handed_on_needs_itself_only, teardown),
        cmocka_unit_test_teardown(elements_of_an_array_are_one_node, teardown),
        cmocka_unit_test_teardown(ten_thousand_components, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
