/* SPDX-License-Identifier: MIT */
/* Terminals that are joined as a whole: by each matching rule, with enough memory and without. (What runs make of it:
 * tests/system/test_terminals.py.) */
#include "system_test.h"

#include "failing.h"

#define VARIABLE(type, name, reference, rest) "<" type " name='" name "' valueReference='" reference "' " rest "/>"
#define BINARY(name, reference, mime, rest)                                                                            \
    "<Binary name='" name "' valueReference='" reference "' mimeType='" mime "' variability='discrete' " rest

/* A line per variable, and below per terminal. */
/* clang-format off */
/* Two inputs, two outputs, two parameters, binaries of two types. */
static const char variables[] =
    "<fmiModelDescription fmiVersion='3.0' modelName='m' instantiationToken='t'>"
    "<CoSimulation modelIdentifier='m'/><ModelVariables>"
    VARIABLE("Float64", "u", "1", "causality='input' start='0'")
    VARIABLE("Float64", "v", "2", "causality='input' start='0'")
    VARIABLE("Float64", "y", "3", "causality='output'")
    VARIABLE("Float64", "z", "4", "causality='output'")
    VARIABLE("Float64", "p", "5", "causality='parameter' variability='fixed' start='0'")
    VARIABLE("Float64", "q", "6", "causality='parameter' variability='fixed' start='0'")
    BINARY("tx", "7", "a/b", "causality='output'/>")
    BINARY("rx", "8", "a/b", "causality='input'><Start value=''/></Binary>")
    BINARY("other", "9", "a/c", "causality='input'><Start value=''/></Binary>")
    VARIABLE("Binary", "plain", "10", "variability='discrete' causality='output'")
    "</ModelVariables><ModelStructure/></fmiModelDescription>";

#define MEMBER(variable, name, kind)                                                                                   \
    "<TerminalMemberVariable variableName='" variable "' memberName='" name "' variableKind='" kind "'/>"
#define STREAMS(in, out)                                                                                               \
    "<TerminalStreamMemberVariable inStreamMemberName='s' outStreamMemberName='o' inStreamVariableName='" in           \
    "' outStreamVariableName='" out "'/>"
#define TERMINAL(name, rule, content) "<Terminal name='" name "' matchingRule='" rule "'>" content "</Terminal>"

static const char terminals[] =
    "<fmiTerminalsAndIcons fmiVersion='3.0'><Terminals>"
    /* A plug and its socket: a flow that both count inwards, a stream, a terminal inside. */
    TERMINAL("plug", "plug", MEMBER("y", "i", "inflow") TERMINAL("in", "plug", MEMBER("v", "m", "signal")))
    TERMINAL("socket", "plug", MEMBER("u", "i", "inflow") TERMINAL("in", "plug", MEMBER("z", "m", "signal")))
    TERMINAL("bare", "plug", MEMBER("u", "i", "outflow"))
    TERMINAL("signal", "plug", MEMBER("u", "i", "signal"))
    TERMINAL("gas", "plug", STREAMS("u", "y"))
    TERMINAL("named", "plug", MEMBER("u", "j", "inflow"))
    TERMINAL("more", "plug", MEMBER("u", "i", "inflow") MEMBER("v", "j", "inflow"))
    /* By their order. */
    TERMINAL("first", "sequence", MEMBER("y", "a", "signal") STREAMS("u", "z")
             TERMINAL("x", "sequence", MEMBER("v", "m", "signal")))
    TERMINAL("second", "sequence", MEMBER("v", "b", "signal") STREAMS("u", "z")
             TERMINAL("w", "sequence", MEMBER("y", "n", "signal")))
    TERMINAL("short", "sequence", MEMBER("v", "b", "signal"))
    TERMINAL("kindless", "sequence", MEMBER("v", "b", "inflow"))
    TERMINAL("lone", "sequence", MEMBER("y", "b", "signal"))
    /* What both have. */
    TERMINAL("bus", "bus", MEMBER("y", "a", "signal") MEMBER("z", "b", "signal")
             TERMINAL("in", "bus", MEMBER("z", "m", "signal")) TERMINAL("not", "bus", MEMBER("y", "m", "signal")))
    TERMINAL("rider", "bus", MEMBER("u", "a", "signal") MEMBER("y", "b", "signal")
             TERMINAL("in", "bus", MEMBER("v", "m", "signal")))
    TERMINAL("foreign", "bus", MEMBER("u", "c", "signal"))
    TERMINAL("like", "bus", MEMBER("y", "a", "signal"))
    /* Tx with Rx. */
    TERMINAL("can", "org.fmi-ls-bus.transceiver",
             MEMBER("tx", "Tx_Data", "signal") MEMBER("rx", "Rx_Data", "signal") MEMBER("p", "setting", "signal"))
    TERMINAL("odd", "org.fmi-ls-bus.transceiver",
             MEMBER("plain", "Tx_Data", "signal") MEMBER("rx", "Rx_Data", "signal") MEMBER("q", "setting", "signal"))
    TERMINAL("alien", "org.fmi-ls-bus.transceiver",
             MEMBER("tx", "Tx_Data", "signal") MEMBER("other", "Rx_Data", "signal") MEMBER("p", "setting", "signal"))
    /* Not to be joined. */
    TERMINAL("own", "org.x.rule", MEMBER("y", "a", "signal"))
    TERMINAL("none", "none", MEMBER("y", "a", "signal"))
    /* Joined for what is in them. */
    TERMINAL("hull", "none", TERMINAL("in", "plug", MEMBER("y", "i", "inflow")))
    TERMINAL("shell", "none", TERMINAL("in", "plug", MEMBER("u", "i", "outflow")))
    "<Terminal name='kind' matchingRule='plug' terminalKind='x'>" MEMBER("y", "i", "inflow") "</Terminal>"
    "<Terminal name='sort' matchingRule='plug' terminalKind='y'>" MEMBER("u", "i", "outflow") "</Terminal>"
    "</Terminals></fmiTerminalsAndIcons>";
/* clang-format on */

static int set_up_terminals(void **state)
{
    (void)failing_pause(); /* after a test that failed */
    set_up(state);
    struct fixture *f = *state;
    make_folder(f, "m.fmu/terminalsAndIcons");
    write_file(f, "m.fmu/modelDescription.xml", variables);
    write_file(f, "m.fmu/terminalsAndIcons/terminalsAndIcons.xml", terminals);
    return 0;
}

struct joining {
    const struct tt_system_source *source;
    struct fixture *fixture;
    const char *expected; /* connections, or the words of a refusal */
    bool joins;
};

/* Joins as expected, refuses as expected, or says that memory was not enough. */
static enum tutti_err join(void *context)
{
    const struct joining *joining = context;
    struct tt_findings none = {0};
    struct tt_system *system;
    enum tutti_err err = tt_system_load(&system, joining->source, &none);
    (void)failing_pause();
    if (!err) {
        assert_true(joining->joins);
        joining->fixture->system = system;
        assert_string_equal(connections(joining->fixture), joining->expected);
        joining->fixture->system = NULL;
    } else if (err == TUTTI_ERR_ARGUMENT) {
        assert_false(joining->joins);
        bool disturbed = failing.now >= failing.at; /* names are left out, then */
        if (!disturbed && !strstr(tutti_err_message(), joining->expected))
            fail_msg("'%s', expected '%s'", tutti_err_message(), joining->expected);
        err = TUTTI_OK; /* as it has to be */
    }
    tt_system_free(system);
    return err;
}

static void expect(struct fixture *f, const char *connect, const char *expected, bool joins, bool named)
{
    char a[300], b[300];
    snprintf(a, sizeof a, "%s%s", named ? "a=" : "", scratch_path(&f->scratch, "m.fmu"));
    snprintf(b, sizeof b, "b=%s", scratch_path(&f->scratch, "m.fmu"));
    const char *files[] = {a, b};
    const struct tt_system_source source = {
        .files = files, .file_count = named ? 2 : 1, .connect = &connect, .connect_count = 1};
    fail_each_call(FAILING_MEMORY, ENOMEM, join, &(struct joining){&source, f, expected, joins});
}

static void test_rules(void **state)
{
    static const struct {
        const char *connect, *made;
    } cases[] = {
        {"a.plug=b.socket", "b.z->a.v a.y->b.u*-1+0"},
        {"a.socket=b.plug", "b.y->a.u*-1+0 a.z->b.v"},
        {"a.gas=b.gas", "b.y->a.u a.y->b.u"},
        {"a.first=b.second", "b.z->a.u b.y->a.v a.z->b.u a.y->b.v"},
        {"a.bus=b.rider", "a.y->b.u a.z->b.v"},
        {"a.can=b.can", "b.tx->a.rx a.tx->b.rx"},
        {"a.hull=b.shell", "a.y->b.u"},
        {"a.hull.in=b.bare", "a.y->b.u"},
        {"a.kind=b.sort", "a.y->b.u"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(*state, cases[i].connect, cases[i].made, true, true);
    expect(*state, "plug=socket", "y->u*-1+0 z->v", true, false);
}

static void test_refusals(void **state)
{
    static const struct {
        const char *connect, *words;
    } cases[] = {
        {"a.plug=b.bare", "'b.bare' has no terminal 'in', which 'a.plug' has"},
        {"a.bare=b.plug", "'a.bare' has no terminal 'in', which 'b.plug' has"},
        {"a.kind=b.signal", "'a.y' is of kind inflow and 'b.u' of kind signal"},
        {"a.signal=b.kind", "'a.u' is of kind signal and 'b.y' of kind inflow"},
        {"a.kind=b.named", "the member 'j' of 'b.named' has none to match in 'a.kind'"},
        {"a.more=b.kind", "the member 'j' of 'a.more' has none to match in 'b.kind'"},
        {"a.gas=b.kind", "has none to match"},
        {"a.kind=b.gas", "has none to match"},
        {"a.kind=b.kind", "'a.y' (output) and 'b.y' (output) cannot be connected"},
        {"a.first=b.short", "'a.first' has 3 members and 'b.short' has 1"},
        {"a.short=b.kindless", "do not belong together"},
        {"a.short=b.first.x", "(input) cannot be connected"},
        {"a.bus=b.foreign", "'a.bus' and 'b.foreign' have no member in common"},
        {"a.like=b.like", "match, but none of their pairs is an output and an input"},
        {"a.can=b.odd", "'a.rx' holds a/b and 'b.plain' application/octet-stream"},
        {"a.can=b.alien", "'a.tx' holds a/b and 'b.other' a/c"},
        {"a.plug=b.bus", "has the matching rule 'plug' and 'b.bus' has 'bus'"},
        {"a.own=b.own", "the matching rule 'org.x.rule' of 'a.own' is not known"},
        {"a.none=b.none", "'a.none' has the matching rule 'none'"},
        {"a.hull=b.none", "the member 'a' of 'b.none' has none to match in 'a.hull'"},
        {"a.plug=a.plug", "'a.plug' is joined to itself"},
        {"a.lone=b.nothing", "there is no variable named 'a.lone'"},
        {"a.y=b.plug", "b.plug"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        expect(*state, cases[i].connect, cases[i].words, false, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rules, set_up_terminals, tear_down),
        cmocka_unit_test_setup_teardown(test_refusals, set_up_terminals, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
