/* SPDX-License-Identifier: MIT */
/* system_test.h - systems from texts: a folder with an FMU of everything in it, documents written by the tests, and
 * what was found wrong with them. */
#ifndef TUTTI_SYSTEM_TEST_H
#define TUTTI_SYSTEM_TEST_H

#include "scratch.h"
#include "base/text.h"
#include "model/system/system.h"

#define FLOAT(name, reference, rest) "<Float64 name=\"" name "\" valueReference=\"" reference "\" " rest "/>"
#define IN "causality=\"input\" start=\"0\""
#define OUT "causality=\"output\""
#define PARAMETER(start) "causality=\"parameter\" variability=\"fixed\" start=\"" start "\""

/* Inputs u..., outputs y..., parameters p..., by unit and type. */
static const char everything[] =
    "<?xml version=\"1.0\"?><fmiModelDescription fmiVersion=\"3.0\" modelName=\"m\" instantiationToken=\"t\">"
    "<CoSimulation modelIdentifier=\"m\"/>"
    "<UnitDefinitions><Unit name=\"K\"><BaseUnit K=\"1\"/></Unit>"
    "<Unit name=\"degC\"><BaseUnit K=\"1\" offset=\"273.15\"/></Unit>"
    "<Unit name=\"m\"><BaseUnit m=\"1\"/></Unit><Unit name=\"mm\"><BaseUnit m=\"1\" factor=\"0.001\"/></Unit>"
    "<Unit name=\"odd\"/><Unit name=\"strange\"/></UnitDefinitions>"
    "<TypeDefinitions>"
    "<EnumerationType name=\"Color\"><Item name=\"red\" value=\"1\"/><Item name=\"green\" value=\"2\"/>"
    "<Item name=\"blue\" value=\"4\"/></EnumerationType>"
    "<EnumerationType name=\"Light\"><Item name=\"stop\" value=\"10\"/><Item name=\"go\" value=\"20\"/>"
    "</EnumerationType></TypeDefinitions>"
    "<ModelVariables>" FLOAT("time", "0", "causality=\"independent\" variability=\"continuous\"") FLOAT(
        "u", "1", IN) FLOAT("y", "2", OUT) FLOAT("u_K", "3", IN " unit=\"K\"") FLOAT("y_K", "4", OUT " unit=\"K\"")
        FLOAT("u_degC", "5", IN " unit=\"degC\"") FLOAT("y_degC", "6", OUT " unit=\"degC\"") FLOAT(
            "u_m", "7", IN " unit=\"m\"") FLOAT("y_mm", "8", OUT " unit=\"mm\"") FLOAT("u_odd", "9", IN " unit=\"odd\"")
            FLOAT("y_strange", "10", OUT " unit=\"strange\"") FLOAT("p", "11", PARAMETER("1")) FLOAT(
                "p_K", "12", PARAMETER("300") " unit=\"K\" min=\"0\"") FLOAT("p2", "13", PARAMETER("1"))
                FLOAT("q", "14", "causality=\"calculatedParameter\" variability=\"fixed\"") FLOAT(
                    "c", "15", OUT " variability=\"constant\" start=\"42\"") FLOAT("loc", "16", "causality=\"local\"")
                    FLOAT("u2", "17", IN) FLOAT("y2", "18", OUT) FLOAT(
                        "sub.x", "19",
                        PARAMETER(
                            "0")) "<Float32 name=\"u32\" valueReference=\"20\" " IN
                                  "/><Float32 name=\"y32\" valueReference=\"21\" " OUT "/>"
                                  "<Int32 name=\"iu\" valueReference=\"22\" " IN
                                  "/><Int32 name=\"iy\" valueReference=\"23\" " OUT "/>"
                                  "<Int32 name=\"ip\" valueReference=\"24\" " PARAMETER(
                                      "0") "/>"
                                           "<Int8 name=\"i8u\" valueReference=\"25\" " IN "/>"
                                           "<Boolean name=\"b_u\" valueReference=\"26\" causality=\"input\" "
                                           "start=\"false\"/>"
                                           "<Boolean name=\"b_y\" valueReference=\"27\" " OUT "/>"
                                           "<String name=\"su\" valueReference=\"28\" causality=\"input\"><Start "
                                           "value=\"\"/></String>"
                                           "<String name=\"sy\" valueReference=\"29\" " OUT "/>"
                                           "<String name=\"sp\" valueReference=\"30\" causality=\"parameter\" "
                                           "variability=\"fixed\"><Start value=\"\"/></String>"
                                           "<Enumeration name=\"eu\" valueReference=\"31\" declaredType=\"Color\" "
                                           "causality=\"input\" start=\"1\"/>"
                                           "<Enumeration name=\"ey\" valueReference=\"32\" declaredType=\"Color\" " OUT
                                           "/>"
                                           "<Enumeration name=\"lu\" valueReference=\"33\" declaredType=\"Light\" "
                                           "causality=\"input\" start=\"10\"/>"
                                           "<Enumeration name=\"ep\" valueReference=\"34\" "
                                           "declaredType=\"Color\" " PARAMETER(
                                               "1") "/>"
                                                    "<Binary name=\"bp\" valueReference=\"35\" causality=\"parameter\" "
                                                    "variability=\"fixed\"><Start value=\"00\"/></Binary>"
                                                    "<Float64 name=\"au\" valueReference=\"36\" causality=\"input\" "
                                                    "start=\"0 0 0\"><Dimension start=\"3\"/></Float64>"
                                                    "<Float64 name=\"ay\" valueReference=\"37\" " OUT
                                                    "><Dimension start=\"3\"/></Float64>"
                                                    "<Float64 name=\"ap\" valueReference=\"38\" " PARAMETER(
                                                        "0 0 0 0") "><Dimension start=\"2\"/><Dimension "
                                                                   "start=\"2\"/></Float64>"
                                                                   "<UInt64 name=\"n\" valueReference=\"39\" "
                                                                   "causality=\"structuralParameter\" "
                                                                   "variability=\"fixed\" start=\"2\"/>"
                                                                   "<Float64 name=\"vp\" "
                                                                   "valueReference=\"40\" " PARAMETER(
                                                                       "0 0") "><Dimension "
                                                                              "valueReference=\"39\"/></Float64>"
                                                                              "<Float64 name=\"a4y\" "
                                                                              "valueReference=\"41\" " OUT
                                                                              "><Dimension start=\"4\"/></Float64>"
                                                                              "</ModelVariables><ModelStructure/></"
                                                                              "fmiModelDescription>";

struct fixture {
    struct scratch scratch;
    struct tt_text found; /* "error file:line: words\n" */
    struct tt_findings findings;
    struct tt_system *system;
    const char *set[8], *connect[8]; /* for the next load */
};

static void note(void *context, enum tt_severity severity, const char *file, unsigned line, const char *text)
{
    const char *name = file ? strrchr(file, '/') : NULL;
    tt_text_printf(context, "%s %s:%u: %s\n", severity == TUTTI_FINDING_ERROR ? "error" : "warning",
                   name ? name + 1 : "-", line, text);
}

static inline void write_file(struct fixture *f, const char *name, const char *text)
{
    scratch_write(&f->scratch, name, text, strlen(text));
}

static inline void make_folder(struct fixture *f, const char *name)
{
    assert_int_equal(mkdir(scratch_path(&f->scratch, name), 0700), 0);
}

static inline int set_up(void **state)
{
    static struct fixture fixture;
    fixture = (struct fixture){0};
    fixture.findings = (struct tt_findings){.report = note, .context = &fixture.found};
    scratch_init(&fixture.scratch);
    make_folder(&fixture, "m.fmu");
    write_file(&fixture, "m.fmu/modelDescription.xml", everything);
    *state = &fixture;
    return 0;
}

static inline int tear_down(void **state)
{
    struct fixture *f = *state;
    tt_system_free(f->system);
    tt_text_fini(&f->found);
    scratch_fini(&f->scratch);
    return 0;
}

/* ---- documents in short ----
 *
 * Tests write tags and attributes by short names: <M n='a'><C><c n='y' k='output'/></C></M> is a component of the FMU
 * above with a connector, <x f='a.y' t='b.u'/> a connection of elements' connectors, or of the system's own without a
 * dot. */

static const struct {
    const char *tag, *begin, *end;
} shorthands[] = {
    {"s", "<ssd:System", "</ssd:System>"},
    {"E", "<ssd:Elements", "</ssd:Elements>"},
    {"M", "<ssd:Component source='m.fmu'", "</ssd:Component>"},
    {"P", "<ssd:Component", "</ssd:Component>"},
    {"C", "<ssd:Connectors", "</ssd:Connectors>"},
    {"c", "<ssd:Connector", "</ssd:Connector>"},
    {"X", "<ssd:Connections", "</ssd:Connections>"},
    {"x", "<ssd:Connection", "</ssd:Connection>"},
    {"B", "<ssd:ParameterBindings", "</ssd:ParameterBindings>"},
    {"b", "<ssd:ParameterBinding", "</ssd:ParameterBinding>"},
    {"V", "<ssd:ParameterValues><ssv:ParameterSet version='2.0' name='v'><ssv:Parameters",
     "</ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues>"},
    {"v", "<ssv:Parameter", "</ssv:Parameter>"},
    {"G", "<ssd:ParameterMapping><ssm:ParameterMapping version='2.0'",
     "</ssm:ParameterMapping></ssd:ParameterMapping>"},
    {"g", "<ssm:MappingEntry", "</ssm:MappingEntry>"},
    {"L", "<ssc:LinearTransformation", ""},
    {"D", "<ssd:SignalDictionaries", "</ssd:SignalDictionaries>"},
    {"d", "<ssd:SignalDictionary", "</ssd:SignalDictionary>"},
    {"S", "<ssb:SignalDictionary version='2.0'", "</ssb:SignalDictionary>"},
    {"e", "<ssb:DictionaryEntry", "</ssb:DictionaryEntry>"},
    {"R", "<ssd:SignalDictionaryReference", "</ssd:SignalDictionaryReference>"},
    {"r", "<ssv:Real", ""},
    {"real", "<ssc:Real", ""},
    {"int", "<ssc:Integer", ""},
};

#define NAMESPACES                                                                                                     \
    " xmlns:ssd='http://ssp-standard.org/SSP1/SystemStructureDescription'"                                             \
    " xmlns:ssc='http://ssp-standard.org/SSP1/SystemStructureCommon'"                                                  \
    " xmlns:ssv='http://ssp-standard.org/SSP1/SystemStructureParameterValues'"                                         \
    " xmlns:ssm='http://ssp-standard.org/SSP1/SystemStructureParameterMapping'"                                        \
    " xmlns:ssb='http://ssp-standard.org/SSP1/SystemStructureSignalDictionary'"

static const char units[] = "<ssc:Unit name='K'><ssc:BaseUnit K='1'/></ssc:Unit>"
                            "<ssc:Unit name='degC'><ssc:BaseUnit K='1' offset='273.15'/></ssc:Unit>"
                            "<ssc:Unit name='m'><ssc:BaseUnit m='1'/></ssc:Unit>"
                            "<ssc:Unit name='mm'><ssc:BaseUnit m='1' factor='0.001'/></ssc:Unit>";
static const char enumerations[] = "<ssc:Enumeration name='Paint'><ssc:Item name='rot' value='1'/>"
                                   "<ssc:Item name='gruen' value='3'/></ssc:Enumeration>";

static inline const char *expand_tag(struct tt_text *out, const char *at)
{
    bool end = at[1] == '/';
    const char *tag = at + 1 + end;
    size_t n = strcspn(tag, " />");
    for (size_t i = 0; i < sizeof shorthands / sizeof *shorthands; i++)
        if (strlen(shorthands[i].tag) == n && strncmp(shorthands[i].tag, tag, n) == 0) {
            tt_text_append(out, end ? shorthands[i].end : shorthands[i].begin);
            return tag + n + end; /* the end tag has its '>' */
        }
    tt_text_append_n(out, at, (size_t)(tag - at) + n);
    return tag + n;
}

/* f='a.y' */
static inline const char *expand_end(struct tt_text *out, const char *at)
{
    const char *side = at[1] == 'f' ? "start" : "end", *text = at + 4, *quote = strchr(text, '\''), *dot = text;
    while (dot < quote && *dot != '.')
        dot++;
    if (dot < quote)
        tt_text_printf(out, " %sElement='%.*s'", side, (int)(dot - text), text);
    const char *connector = dot < quote ? dot + 1 : text;
    tt_text_printf(out, " %sConnector='%.*s'", side, (int)(quote - connector), connector);
    return quote + 1;
}

static inline void expand(struct tt_text *out, const char *at)
{
    while (*at) {
        if (*at == '<') {
            at = expand_tag(out, at);
        } else if (strncmp(at, " f='", 4) == 0 || strncmp(at, " t='", 4) == 0) {
            at = expand_end(out, at);
        } else if (strncmp(at, " n='", 4) == 0) {
            tt_text_append(out, " name='");
            at += 4;
        } else if (strncmp(at, " k='", 4) == 0) {
            tt_text_append(out, " kind='");
            at += 4;
        } else {
            tt_text_append_n(out, at++, 1);
        }
    }
}

static inline void write_expanded(struct fixture *f, const char *name, const char *before, const char *content,
                                  const char *after)
{
    struct tt_text text = {0};
    tt_text_append(&text, "<?xml version='1.0' encoding='UTF-8'?>");
    tt_text_append(&text, before);
    expand(&text, content);
    tt_text_append(&text, after);
    assert_false(text.failed);
    write_file(f, name, text.text);
    tt_text_fini(&text);
}

/* `content` is the root system, and begins in line 1. */
static inline void write_ssd(struct fixture *f, const char *name, const char *content)
{
    struct tt_text after = {0};
    tt_text_printf(&after,
                   "<ssd:Enumerations>%s</ssd:Enumerations><ssd:Units>%s</ssd:Units>"
                   "<ssd:DefaultExperiment startTime='1' stopTime='5'/></ssd:SystemStructureDescription>",
                   enumerations, units);
    write_expanded(f, name, "<ssd:SystemStructureDescription version='2.0' name='doc'" NAMESPACES ">", content,
                   after.text);
    tt_text_fini(&after);
}

/* `content` is parameters. */
static inline void write_ssv(struct fixture *f, const char *name, const char *content)
{
    struct tt_text after = {0};
    tt_text_printf(&after, "</ssv:Parameters><ssv:Units>%s</ssv:Units></ssv:ParameterSet>", units);
    write_expanded(f, name, "<ssv:ParameterSet version='2.0' name='set'" NAMESPACES "><ssv:Parameters>", content,
                   after.text);
    tt_text_fini(&after);
}

/* `content` is mapping entries. */
static inline void write_ssm(struct fixture *f, const char *name, const char *content)
{
    write_expanded(f, name, "<ssm:ParameterMapping version='2.0'" NAMESPACES ">", content, "</ssm:ParameterMapping>");
}

/* ---- loading ---- */

static inline size_t count_texts(const char *const *texts)
{
    size_t n = 0;
    while (texts[n])
        n++;
    return n;
}

static inline enum tutti_err load(struct fixture *f, const char *name)
{
    const char *file = scratch_path(&f->scratch, name);
    struct tt_system_source source = {.files = &file,
                                      .file_count = 1,
                                      .set = f->set,
                                      .set_count = count_texts(f->set),
                                      .connect = f->connect,
                                      .connect_count = count_texts(f->connect)};
    tt_system_free(f->system);
    tt_text_fini(&f->found);
    f->findings.errors = f->findings.warnings = 0;
    return tt_system_load(&f->system, &source, &f->findings);
}

static inline enum tutti_err load_text(struct fixture *f, const char *text)
{
    write_ssd(f, "s.ssd", text);
    return load(f, "s.ssd");
}

/* Loads without any finding. */
static inline void load_clean(struct fixture *f, const char *text)
{
    assert_ok(load_text(f, text));
    if (f->findings.errors + f->findings.warnings > 0)
        fail_msg("found: %s", f->found.text);
}

/* "a.y->b.u" and so on, one per line, in the order of the system. */
static inline const char *connections(struct fixture *f)
{
    static char text[8192];
    char from[200], to[200];
    size_t n = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < f->system->connection_count; i++) {
        const struct tt_connection *connection = &f->system->connections[i];
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s->%s%s", i ? " " : "",
                              tt_system_name(f->system, &connection->from, from, sizeof from),
                              tt_system_name(f->system, &connection->to, to, sizeof to),
                              connection->at_start_only ? "!" : "");
        if (connection->conversion && connection->conversion->linear)
            n += (size_t)snprintf(text + n, sizeof text - n, "*%g%+g", connection->conversion->factor,
                                  connection->conversion->offset);
    }
    return text;
}

static inline void assert_connections(struct fixture *f, const char *expected)
{
    if (f->findings.errors > 0)
        fail_msg("found: %s", f->found.text);
    assert_string_equal(connections(f), expected);
}

/* There is a finding like this, and as many errors. */
static inline void assert_found(struct fixture *f, unsigned errors, unsigned warnings, const char *words)
{
    const char *text = f->found.text ? f->found.text : "";
    if (!strstr(text, words) || f->findings.errors != errors || f->findings.warnings != warnings)
        fail_msg("\"%s\" is not in what was found, or not %u and %u:\n%s", words, errors, warnings, text);
}

/* Returns the setting of "a.p" or "a.x[1]"; NULL if there is none. */
static inline const struct tt_setting *setting(struct fixture *f, const char *name)
{
    uint32_t component, variable;
    struct tt_indices element;
    assert_ok(tt_system_find(f->system, name, "test", &component, &variable, &element));
    const struct tt_component *owner = &f->system->components[component];
    for (size_t i = 0; i < owner->setting_count; i++)
        if (owner->settings[i].variable == variable && owner->settings[i].element.count == element.count &&
            memcmp(owner->settings[i].element.index, element.index, 8 * element.count) == 0)
            return &owner->settings[i];
    return NULL;
}

static inline double real_setting(struct fixture *f, const char *name)
{
    const struct tt_setting *found = setting(f, name);
    if (!found)
        fail_msg("'%s' is not set", name);
    return *(const double *)found->values;
}

#endif
