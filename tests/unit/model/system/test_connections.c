/* SPDX-License-Identifier: MIT */
/* Which way connections go, which are allowed, and what is said about those that are not. */
#include "system_test.h"

#define Y "<M n='a'><C><c n='y' k='output'/></C></M>"
#define U "<M n='b'><C><c n='u' k='input'/></C></M>"

static void test_direction(void **state)
{
    struct fixture *f = *state;
    load_clean(f, "<s n='s'><E>" Y U "</E><X>\n<x f='a.y' t='b.u'/></X></s>");
    assert_connections(f, "a.y->b.u");
    assert_string_equal(strrchr(f->system->connections[0].file, '/'), "/s.ssd");
    assert_int_equal(f->system->connections[0].line, 2);
    /* start and end say nothing. */
    load_clean(f, "<s n='s'><E>" Y U "</E><X><x f='b.u' t='a.y'/></X></s>");
    assert_connections(f, "a.y->b.u");
    /* The system's own connectors are seen from inside. */
    load_clean(f, "<s n='s'><C><c n='in' k='input'/><c n='out' k='output'/></C><E>" Y U "</E>"
                  "<X><x f='b.u' t='in'/><x f='out' t='a.y'/></X></s>");
    assert_connections(f, "in->b.u a.y->out");
    assert_int_equal(f->system->input_count, 1);
    assert_string_equal(f->system->inputs[0].name, "in");
    assert_int_equal(f->system->inputs[0].type, TUTTI_TYPE_FLOAT64);
    assert_int_equal(f->system->output_count, 1);
    assert_string_equal(f->system->outputs[0].name, "out");
}

static void test_wild_cards(void **state)
{
    struct fixture *f = *state;
    /* An FMU's variable is what it is. */
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='y' k='unspecified'/></C></M><M n='b'><C><c n='u' k='unspecified'/></C>"
                  "</M></E><X><x f='b.u' t='a.y'/></X></s>");
    assert_connections(f, "a.y->b.u");
    /* Between systems the direction follows from what is connected further on. */
    load_clean(f, "<s n='s'><C><c n='w' k='unspecified'/><c n='v' k='unspecified'/></C><E>"
                  "<s n='t'><C><c n='w' k='unspecified'/><c n='v' k='unspecified'/></C><E>" Y U "</E>"
                  "<X><x f='w' t='b.u'/><x f='v' t='a.y'/></X></s></E><X><x f='t.w' t='w'/><x f='v' t='t.v'/></X></s>");
    assert_connections(f, "w->t.b.u t.a.y->v");
    /* They do not lead an output to a parameter. */
    assert_ok(load_text(f, "<s n='s'><E>" Y "<s n='t'><C><c n='w' k='unspecified'/></C><E><M n='b'><C>"
                           "<c n='p' k='parameter'/></C></M></E><X><x f='w' t='b.p'/></X></s></E>\n"
                           "<X><x f='a.y' t='t.w'/></X></s>"));
    assert_found(f, 1, 0, "'a.y' (output) leads to 't.b.p' (parameter), which cannot take it");
    /* Nothing says which way: it is left out. */
    assert_ok(load_text(f, "<s n='s'><C><c n='w' k='unspecified'/></C><E><s n='t'><C><c n='w' k='unspecified'/></C></s>"
                           "</E>\n<X><x f='w' t='t.w'/></X></s>"));
    assert_found(f, 0, 1, "warning s.ssd:2: the connection of 'w' and 't.w' goes either way");
    assert_int_equal(f->system->connection_count, 0);
}

/* The whole table of the standard: sources, then destinations; with the owner S(ystem) or E(lement). */
static void test_allowed(void **state)
{
    static const char *const kinds[] = {
        "input", "output", "inout", "parameter", "calculatedParameter", "structuralParameter", "constant", "local"};
    static const char *const allowed[] = {"SstructuralParameter>ScalculatedParameter",
                                          "SstructuralParameter>Soutput",
                                          "SstructuralParameter>Slocal",
                                          "Sparameter>ScalculatedParameter",
                                          "Sparameter>Soutput",
                                          "Sparameter>Slocal",
                                          "Sinput>Soutput",
                                          "Sinput>Slocal",
                                          "SstructuralParameter>EstructuralParameter",
                                          "SstructuralParameter>Eparameter",
                                          "SstructuralParameter>Einput",
                                          "SstructuralParameter>Einout",
                                          "Sparameter>Eparameter",
                                          "Sparameter>Einput",
                                          "Sparameter>Einout",
                                          "Sinput>Einput",
                                          "Sinput>Einout",
                                          "Econstant>EstructuralParameter",
                                          "Econstant>Eparameter",
                                          "Econstant>Einput",
                                          "Econstant>Einout",
                                          "EcalculatedParameter>Eparameter",
                                          "EcalculatedParameter>Einput",
                                          "EcalculatedParameter>Einout",
                                          "Eoutput>Einput",
                                          "Eoutput>Einout",
                                          "Elocal>Einput",
                                          "Elocal>Einout",
                                          "Einout>Einput",
                                          "Econstant>Sconstant",
                                          "Econstant>ScalculatedParameter",
                                          "Econstant>Soutput",
                                          "Econstant>Slocal",
                                          "EcalculatedParameter>ScalculatedParameter",
                                          "EcalculatedParameter>Soutput",
                                          "EcalculatedParameter>Slocal",
                                          "Eoutput>Soutput",
                                          "Eoutput>Slocal",
                                          "Elocal>Soutput",
                                          "Elocal>Slocal",
                                          "Einout>Soutput",
                                          "Einout>Slocal"};
    struct fixture *f = *state;
    /* Connectors of the root and of nested systems, and connections between them that the table has, or has not. An
     * element's inout is that of a dictionary reference. */
    size_t found = 0;
    for (size_t from = 0; from < 16; from++)
        for (size_t to = 0; to < 16; to++) {
            bool from_system = from < 8, to_system = to < 8;
            const char *source = kinds[from % 8], *target = kinds[to % 8];
            bool self = from_system && to_system && from == to;
            if (self || (from_system && strcmp(source, "inout") == 0) || (to_system && strcmp(target, "inout") == 0) ||
                (strcmp(source, "inout") == 0 && strcmp(target, "inout") == 0))
                continue;
            char pair[80], back[80], text[2000];
            snprintf(pair, sizeof pair, "%c%s>%c%s", from_system ? 'S' : 'E', source, to_system ? 'S' : 'E', target);
            snprintf(back, sizeof back, "%c%s>%c%s", to_system ? 'S' : 'E', target, from_system ? 'S' : 'E', source);
            bool expected = false, reverse = false;
            for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
                expected |= strcmp(allowed[i], pair) == 0;
                reverse |= strcmp(allowed[i], back) == 0;
            }
            found += expected;
            snprintf(text, sizeof text,
                     "<s n='s'><C><c n='p' k='%s'/><c n='q' k='%s'/></C><E><s n='a'><C><c n='x' k='%s'/></C></s>"
                     "<s n='b'><C><c n='x' k='%s'/></C></s><R n='ra' dictionary='d'><C><c n='x' k='inout'/></C></R></E>"
                     "<X><x f='%s' t='%s'/></X>"
                     "<D><d n='d'><S><e n='x'><real/></e></S></d></D></s>",
                     from_system ? source : "local", to_system ? target : "local", from_system ? "local" : source,
                     to_system ? "local" : target,
                     from_system                    ? "p"
                     : strcmp(source, "inout") == 0 ? "ra.x"
                                                    : "a.x",
                     to_system                      ? "q"
                     : strcmp(target, "inout") == 0 ? "ra.x"
                                                    : "b.x");
            assert_ok(load_text(f, text));
            if ((f->findings.errors == 0) != (expected || reverse))
                fail_msg("%s: %s", pair, f->found.text ? f->found.text : "nothing found");
        }
    assert_int_equal(found, sizeof allowed / sizeof *allowed);
}

static void test_not_allowed(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(f, "<s n='s'><E>" Y
                           "<M n='b'><C><c n='y' k='output'/></C></M></E>\n<X><x f='a.y' t='b.y'/></X></s>"));
    assert_found(f, 1, 0,
                 "error s.ssd:2: 'a.y' (output) and 'b.y' (output) cannot be connected: values come out of both");
    assert_ok(
        load_text(f, "<s n='s'><E>" U "<M n='a'><C><c n='u' k='input'/></C></M></E>\n<X><x f='a.u' t='b.u'/></X></s>"));
    assert_found(f, 1, 0, "error s.ssd:2: 'a.u' (input) and 'b.u' (input) cannot be connected: values go into both");
    assert_ok(load_text(f, "<s n='s'><C><c n='in' k='input'/></C><E><M n='b'><C><c n='p' k='parameter'/></C></M></E>\n"
                           "<X><x f='in' t='b.p'/></X></s>"));
    assert_found(f, 1, 0, "error s.ssd:2: 'in' (the system's input) cannot be connected to 'b.p' (parameter)");
    assert_int_equal(f->system->input_count, 0);
}

static void test_dangling(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(f, "<s n='s'><E>" Y U
                           "</E><X>\n<x f='c.y' t='b.u'/>\n<x f='a.yy' t='b.u'/>\n<x f='a.y2' t='b.u'/>\n"
                           "<x f='a.y' t='b.u'/></X></s>"));
    assert_found(f, 3, 0, "error s.ssd:2: a connection names the element 'c', which the system 's' does not have");
    assert_found(f, 3, 0,
                 "error s.ssd:3: a connection names the connector 'a.yy', which is not declared; did you mean 'y'?");
    assert_found(f, 3, 0,
                 "error s.ssd:4: a connection names 'a.y2', which is a variable of the FMU, but no connector; "
                 "add a Connector of kind \"output\"");
    /* Loading continues without them. */
    assert_string_equal(connections(f), "a.y->b.u");
}

static void test_connectors(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(f,
                        "<s n='s'><E><M n='a'><C>\n<c n='yy' k='output'/>\n<c n='u' k='output'/>\n<c n='iu' k='input'>"
                        "<real/></c>\n<c n='u32' k='input'><real/></c><c n='i8u' k='input'><int/></c>"
                        "<c n='au' k='input'><ssc:Dimension size='3'/><ssc:Dimension size='3'/></c>"
                        "<c n='c' k='constant'/><c n='loc' k='local'/><c n='q' k='calculatedParameter'/>"
                        "<c n='n' k='structuralParameter'/></C></M></E></s>"));
    assert_found(f, 4, 0, "error s.ssd:2: the connector 'a.yy' is no variable of its FMU");
    assert_found(f, 4, 0,
                 "error s.ssd:3: the connector 'a.u' is of kind output, but the FMU's variable is of kind input");
    assert_found(f, 4, 0,
                 "error s.ssd:4: the connector 'a.iu' is of type Real, but the FMU's variable is of type Int32");
    assert_found(f, 4, 0, "the connector 'a.au' has 2 dimensions, but the FMU's variable has 1");
}

static void test_two_sources(void **state)
{
    struct fixture *f = *state;
    assert_ok(load_text(f, "<s n='s'><E>" Y U "<M n='c'><C><c n='y' k='output'/></C></M></E><X>\n<x f='a.y' t='b.u'/>\n"
                           "<x f='c.y' t='b.u'/></X></s>"));
    assert_found(f, 1, 0, "error s.ssd:3: 'b.u' has two sources, 'c.y' and, from ");
    assert_found(f, 1, 0, "/s.ssd:2, 'a.y'; remove one");
    assert_string_equal(connections(f), "a.y->b.u");
    /* All of an array, and one element of it. */
    assert_ok(load_text(f, "<s n='s'><E><M n='a'><C><c n='ay' k='output'/><c n='y' k='output'/></C></M>"
                           "<M n='b'><C><c n='au' k='input'/></C></M></E><X>\n<x f='a.ay' t='b.au'/>\n"
                           "<x f='a.y' t='b.au' endIndices='2'/></X></s>"));
    assert_found(f, 1, 0, "error s.ssd:3: 'b.au[2]' has two sources, 'a.y' and");
    /* The same at a system's connector. */
    assert_ok(load_text(f, "<s n='s'><C><c n='out' k='output'/></C><E>" Y
                           "<M n='c'><C><c n='y' k='output'/></C></M></E><X>\n"
                           "<x f='a.y' t='out'/>\n<x f='c.y' t='out'/></X></s>"));
    assert_found(f, 1, 0, "error s.ssd:3: 'out' has two sources, 'c.y' and, from ");
    assert_string_equal(connections(f), "a.y->out");
}

static void test_elements(void **state)
{
    struct fixture *f = *state;
#define AY                                                                                                             \
    "<M n='a'><C><c n='ay' k='output'/><c n='y' k='output'/><c n='y2' k='output'/><c n='a4y' k='output'/></C></M>"
#define AU "<M n='b'><C><c n='au' k='input'/><c n='u' k='input'/></C></M>"
    load_clean(f,
               "<s n='s'><E>" AY AU "</E><X><x f='a.y' t='b.au' endIndices='2'/><x f='a.y2' t='b.au' endIndices='1'/>"
               "<x f='a.ay' startIndices='3' t='b.u'/></X></s>");
    assert_connections(f, "a.ay[3]->b.u a.y2->b.au[1] a.y->b.au[2]");
    /* Through the array connector of a system: put together, and taken apart. */
    load_clean(f, "<s n='s'><E>" AY AU "<s n='t'><C><c n='in' k='input'><ssc:Dimension size='3'/></c>"
                  "<c n='out' k='output'><ssc:Dimension size='3'/></c></C><X><x f='in' t='out'/></X></s></E><X>"
                  "<x f='a.y' t='t.in' endIndices='2'/><x f='a.y2' t='t.in' endIndices='1'/>"
                  "<x f='t.out' t='b.au'/><x f='t.out' startIndices='2' t='b.u'/></X></s>");
    assert_connections(f, "a.y->b.u a.y2->b.au[1] a.y->b.au[2]");
    load_clean(f, "<s n='s'><E>" AY AU "<s n='t'><C><c n='in' k='input'/><c n='out' k='output'/></C>"
                  "<X><x f='in' t='out'/></X></s></E><X>"
                  "<x f='a.ay' t='t.in'/><x f='t.out' t='b.au'/><x f='t.out' startIndices='2' t='b.u'/></X></s>");
    assert_connections(f, "a.ay[2]->b.u a.ay->b.au");
    assert_ok(load_text(
        f, "<s n='s'><E>" AY AU "</E><X>\n<x f='a.ay' startIndices='4' t='b.u'/>\n"
           "<x f='a.ay' startIndices='1 1' t='b.u'/>\n<x f='a.ay' t='b.u'/>\n<x f='a.a4y' t='b.au'/></X></s>"));
    assert_found(f, 4, 0, "error s.ssd:2: a connection gives indices for 'a.ay' that are of no element of it");
    assert_found(f, 4, 0, "error s.ssd:3: a connection gives indices for 'a.ay' that are of no element of it");
    assert_found(f, 4, 0, "error s.ssd:4: 'a.ay' (1 dimension, 3 values) does not fit 'b.u' (0 dimensions, 1 value)");
    assert_found(f, 4, 0, "error s.ssd:5: 'a.a4y' (1 dimension, 4 values) does not fit 'b.au' (1 dimension, 3 values)");
}

static void test_self(void **state)
{
    struct fixture *f = *state;
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='y' k='output'/><c n='u' k='input'/></C></M></E>"
                  "<X><x f='a.y' t='a.u'/></X></s>");
    assert_connections(f, "a.y->a.u");
    assert_ok(load_text(f, "<s n='s'><E>" U "</E>\n<X><x f='b.u' t='b.u'/></X></s>"));
    assert_found(f, 1, 0, "error s.ssd:2: 'b.u' is connected to itself");
    /* A system may hand an input on as an output. */
    load_clean(f,
               "<s n='s'><C><c n='in' k='input'><real/></c><c n='out' k='output'/></C><X><x f='in' t='out'/></X></s>");
    assert_connections(f, "in->out");
    /* Wires in a circle. */
    assert_ok(load_text(
        f, "<s n='s'><E><s n='t'><C><c n='i' k='input'/><c n='o' k='output'/></C><X>\n<x f='i' t='o'/></X></s>" U
           "</E><X>\n<x f='t.o' t='t.i'/><x f='t.o' t='b.u'/></X></s>"));
    assert_found(f, 1, 0, "connectors of systems are connected in a circle, and no FMU gives a value: 't.");
}

static void test_types(void **state)
{
    struct fixture *f = *state;
#define ALL_OUT                                                                                                        \
    "<M n='a'><C><c n='y' k='output'/><c n='y32' k='output'/><c n='iy' k='output'/><c n='b_y' k='output'/>"            \
    "<c n='sy' k='output'/><c n='ey' k='output'/></C></M>"
#define ALL_IN                                                                                                         \
    "<M n='b'><C><c n='u' k='input'/><c n='u32' k='input'/><c n='iu' k='input'/><c n='i8u' k='input'/>"                \
    "<c n='b_u' k='input'/><c n='su' k='input'/><c n='eu' k='input'/><c n='u2' k='input'/><c n='lu' "                  \
    "k='input'/></C></M>"
    load_clean(f, "<s n='s'><E>" ALL_OUT ALL_IN
                  "</E><X><x f='a.y' t='b.u32'/><x f='a.y32' t='b.u'/><x f='a.iy' t='b.i8u'/>"
                  "<x f='a.iy' t='b.u2'/><x f='a.b_y' t='b.b_u'/><x f='a.sy' t='b.su'/><x f='a.ey' t='b.iu'/>"
                  "<x f='a.iy' t='b.eu'/><x f='a.ey' t='b.lu'/></X></s>");
    assert_connections(
        f, "a.y32->b.u a.iy->b.u2 a.y->b.u32 a.ey->b.iu a.iy->b.i8u a.b_y->b.b_u a.sy->b.su a.iy->b.eu a.ey->b.lu");
    assert_int_equal(f->system->connections[0].conversion->from, TUTTI_TYPE_FLOAT32);
    assert_int_equal(f->system->connections[0].conversion->to, TUTTI_TYPE_FLOAT64);
    assert_null(f->system->connections[5].conversion); /* Boolean: copied */
    assert_null(f->system->connections[8].conversion); /* enumerations without a map: by value */
    assert_ok(load_text(f, "<s n='s'><E>" ALL_OUT ALL_IN "</E><X>\n<x f='a.y' t='b.iu'/>\n<x f='a.iy' t='b.b_u'/>\n"
                           "<x f='a.sy' t='b.u'/>\n<x f='a.b_y' t='b.u2'/></X></s>"));
    assert_found(f, 3, 0,
                 "error s.ssd:2: 'a.y' to 'b.iu': Float64 cannot be handed to Int32, unless it is rounded: convert");
    assert_found(f, 3, 0,
                 "error s.ssd:3: 'a.iy' to 'b.b_u': Int32 cannot be handed to Boolean, unless it is rounded: convert");
    assert_found(f, 3, 0, "error s.ssd:4: 'a.sy' to 'b.u': String cannot be handed to Float64");
    /* On the way, too. */
    assert_ok(load_text(f, "<s n='s'><C><c n='out' k='output'><int/></c></C><E>" ALL_OUT
                           "</E>\n<X><x f='a.y' t='out'/></X></s>"));
    assert_found(f, 1, 0,
                 "error s.ssd:2: 'a.y' to 'out': Float64 cannot be handed to Int32, unless it is rounded: convert");
}

static void test_parameters(void **state)
{
    struct fixture *f = *state;
    /* A calculated parameter is handed over in the initialisation; a constant is known before. */
    load_clean(f, "<s n='s'><E><M n='a'><C><c n='q' k='calculatedParameter'/><c n='c' k='constant'/></C></M>"
                  "<M n='b'><C><c n='p' k='parameter'/><c n='p_K' k='parameter'/><c n='u' k='input'/></C></M></E>"
                  "<X><x f='a.q' t='b.p'/><x f='a.c' t='b.p_K'/><x f='a.q' t='b.u'/></X></s>");
    assert_connections(f, "a.q->b.u! a.q->b.p!");
    assert_same_double(real_setting(f, "b.p_K"), 42);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_direction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_wild_cards, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_not_allowed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_dangling, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_connectors, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_two_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_elements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_self, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_parameters, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
