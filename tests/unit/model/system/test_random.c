/* SPDX-License-Identifier: MIT */
/* Random documents, valid and invalid: rejections are reported, a valid one loads equally every time, and --set and
 * --connect have an equal effect when they are written into the document. */
#include "system_test.h"

#include "failing.h"

#include "model/ssp/package.h"
#include "model/system/write.h"

static struct tt_ssd *read_ssd(const char *path)
{
    struct tt_package_place place = {.path = (char *)path, .shown = (char *)path};
    struct tt_byte_source reader = {0};
    struct tt_ssd *ssd;
    assert_ok(tt_package_open_file(&place, &reader));
    assert_ok(tt_ssd_read(&ssd, "s.ssd", &reader, NULL));
    tt_package_close_file(&reader);
    return ssd;
}

enum { ROUNDS = 400 };

static uint32_t seed;

static unsigned below(unsigned n)
{
    seed = seed * 1664525u + 1013904223u; /* Numerical Recipes, 7.1 */
    return (seed >> 16) % n;
}

#define PICK(list) ((list)[below(sizeof(list) / sizeof *(list))])

static const char *const kinds[] = {
    "input",      "output", "inout", "parameter", "local", "calculatedParameter", "constant", "structuralParameter",
    "unspecified"};
static const char *const types[] = {"",
                                    "<real/>",
                                    "<real unit='K'/>",
                                    "<real unit='degC'/>",
                                    "<real unit='mm'/>",
                                    "<int/>",
                                    "<ssc:Boolean/>",
                                    "<ssc:String/>",
                                    "<ssc:Enumeration name='Paint'/>",
                                    "<ssc:Float32/>",
                                    "<ssc:Int8/>",
                                    "<real/><ssc:Dimension size='3'/>",
                                    "<real/><ssc:Dimension size='2'/><ssc:Dimension size='2'/>"};
static const char *const variables[][2] = {{"u", "input"},
                                           {"y", "output"},
                                           {"u_K", "input"},
                                           {"y_K", "output"},
                                           {"u_degC", "input"},
                                           {"y_degC", "output"},
                                           {"u_m", "input"},
                                           {"y_mm", "output"},
                                           {"u_odd", "input"},
                                           {"y_strange", "output"},
                                           {"p", "parameter"},
                                           {"p_K", "parameter"},
                                           {"q", "calculatedParameter"},
                                           {"c", "constant"},
                                           {"loc", "local"},
                                           {"iu", "input"},
                                           {"iy", "output"},
                                           {"ip", "parameter"},
                                           {"b_u", "input"},
                                           {"b_y", "output"},
                                           {"su", "input"},
                                           {"sy", "output"},
                                           {"sp", "parameter"},
                                           {"eu", "input"},
                                           {"ey", "output"},
                                           {"lu", "input"},
                                           {"ep", "parameter"},
                                           {"bp", "parameter"},
                                           {"au", "input"},
                                           {"ay", "output"},
                                           {"ap", "parameter"},
                                           {"n", "structuralParameter"},
                                           {"vp", "parameter"},
                                           {"a4y", "output"},
                                           {"u32", "input"},
                                           {"u2", "input"},
                                           {"y2", "output"},
                                           {"p2", "parameter"},
                                           {"y32", "output"},
                                           {"none", "input"}};
enum { VARIABLES = sizeof variables / sizeof *variables };
static const char *const transformations[] = {
    "",
    "",
    "",
    "<L factor='2' offset='1'/>",
    "<L factor='0'/>",
    "<ssc:BooleanMappingTransformation><ssc:MapEntry source='true' target='false'/>"
    "<ssc:MapEntry source='false' target='true'/></ssc:BooleanMappingTransformation>",
    "<ssc:IntegerMappingTransformation><ssc:MapEntry source='1' target='5'/></ssc:IntegerMappingTransformation>",
    "<ssc:EnumerationMappingTransformation><ssc:MapEntry source='rot' target='red'/><ssc:MapEntry source='gruen' "
    "target='blue'/></ssc:EnumerationMappingTransformation>"};
static const char *const values[] = {"<r value='3'/>",
                                     "<r value='20' unit='degC'/>",
                                     "<r value='1 2 3'/><ssc:Dimension size='3'/>",
                                     "<r value='1 2 3 4'/><ssc:Dimension size='2'/><ssc:Dimension size='2'/>",
                                     "<ssv:Integer value='-5'/>",
                                     "<ssv:Integer value='300'/>",
                                     "<ssv:Boolean value='true'/>",
                                     "<ssv:String value='words'/>",
                                     "<ssv:String value='7'/>",
                                     "<ssv:Enumeration value='gruen'/>",
                                     "<ssv:Enumeration value='blue'/>",
                                     "<ssv:Binary value='00ff'/>",
                                     "<ssv:UInt64 value='2'/>"};
static const char *const own[] = {"o1", "o2", "o3", "o4"};

static unsigned oddness; /* of the current document: one part in `oddness` is invalid; 0: none */

static bool is_odd(void)
{
    return oddness > 0 && below(oddness) == 0;
}

static void append_connectors(struct tt_text *text, bool component)
{
    static const char *const own_kinds[] = {"input", "output", "parameter", "local"};
    tt_text_append(text, "<C>");
    for (unsigned i = 0; i < (component ? VARIABLES - 1 : 4); i++) {
        const char *kind = is_odd() ? PICK(kinds) : component ? variables[i][1] : own_kinds[i];
        if (!is_odd())
            tt_text_printf(text, "<c n='%s' k='%s'>%s</c>", component ? variables[i][0] : own[i], kind,
                           is_odd() ? PICK(types) : "");
    }
    tt_text_append(text, "</C>");
}

/* 'a.y', or 'o1' of the system itself. */
static void append_end(struct tt_text *text, char side, const char *name)
{
    static const char *const elements[] = {"a", "a", "b", "b", "t", "r"};
    const char *element = below(4) == 0 ? NULL : PICK(elements);
    const char *connector = !element || *element == 't' ? PICK(own) : *element == 'r' ? "T" : PICK(variables)[0];
    if (is_odd())
        tt_text_printf(text, " %c='%s%s%s'", side, element ? element : "", element ? "." : "", connector);
    else
        tt_text_printf(text, " %c='%s'", side, name);
    if (is_odd())
        tt_text_printf(text, " %sIndices='%u'", side == 'f' ? "start" : "end", 1 + below(4));
}

/* One for each end. */
static void append_connections(struct tt_text *text, bool nested)
{
    static const char *const pairs[][2] = {
        {"a.y", "b.u"},     {"b.y", "a.u"},        {"o1", "a.u2"},      {"a.y_K", "b.u_degC"},  {"a.y_mm", "b.u_m"},
        {"b.y2", "o2"},     {"a.y_degC", "b.u_K"}, {"o3", "a.p"},       {"a.iy", "b.iu"},       {"b.b_y", "a.b_u"},
        {"a.sy", "b.su"},   {"b.ey", "a.eu"},      {"a.ay", "b.au"},    {"a.c", "b.p2"},        {"a.q", "b.p_K"},
        {"a.loc", "b.u32"}, {"b.y32", "r.T"},      {"t.o2", "b.u_odd"}, {"b.y_strange", "t.o1"}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        if (below(3) == 0 || (!nested && (pairs[i][0][0] == 't' || pairs[i][1][0] == 't')))
            continue;
        tt_text_append(text, "<x");
        append_end(text, 'f', pairs[i][0]);
        append_end(text, 't', pairs[i][1]);
        tt_text_printf(text, "%s>%s</x>", below(6) == 0 ? " suppressUnitConversion='true'" : "",
                       is_odd() ? PICK(transformations) : "");
    }
}

static void append_bindings(struct tt_text *text)
{
    static const char *const prefixes[] = {"", "", " prefix='a.'", " prefix='t.'"};
    tt_text_printf(text, "<B><b%s><V>", is_odd() ? PICK(prefixes) : "");
    for (unsigned i = 0; i < 5; i++) {
        static const char *const places[] = {"a.", "b.", "t.a.", ""},
                                 *const right[][2] = {
                                     {"p", "<r value='3'/>"},
                                     {"p_K", "<r value='20' unit='degC'/>"},
                                     {"ap", "<r value='1 2 3 4'/><ssc:Dimension size='2'/><ssc:Dimension size='2'/>"},
                                     {"ip", "<ssv:Integer value='-5'/>"},
                                     {"sp", "<ssv:String value='words'/>"},
                                     {"ep", "<ssv:Enumeration value='blue'/>"},
                                     {"bp", "<ssv:Binary value='00ff'/>"},
                                     {"n", "<ssv:UInt64 value='3'/>"}};
        const char *place = PICK(places), *const *good = PICK(right);
        if (!is_odd() && *place)
            tt_text_printf(text, "<v n='%s%s'>%s</v>", place, good[0], good[1]);
        if (is_odd())
            tt_text_printf(text, "<v n='%s%s'>%s</v>", place, *place ? PICK(variables)[0] : PICK(own), PICK(values));
    }
    tt_text_append(text, "</V>");
    if (is_odd())
        tt_text_printf(text, "<G><g source='%s' target='a.%s'>%s</g></G>", PICK(own), PICK(variables)[0],
                       PICK(transformations));
    tt_text_append(text, "</b></B>");
}

static void append_system(struct tt_text *text, const char *name, unsigned depth)
{
    tt_text_printf(text, "<s n='%s'>", name);
    append_connectors(text, false);
    append_bindings(text);
    tt_text_append(text, "<E><M n='a'>");
    append_connectors(text, true);
    tt_text_append(text, "</M><M n='b'>");
    append_connectors(text, true);
    tt_text_printf(text, "</M><R n='r' dictionary='bus'><C><c n='T' k='%s'/></C></R>",
                   is_odd() ? PICK(kinds) : "inout");
    if (depth > 0)
        append_system(text, "t", depth - 1);
    tt_text_append(text, "</E><X>");
    append_connections(text, depth > 0);
    tt_text_append(text, "</X><D><d n='bus'><S><e n='T'><ssc:Real unit='K'/></e></S></d></D></s>");
}

/* Every value that is set, as text. The caller's. */
static char *settings(const struct tt_system *system)
{
    struct tt_text text = {0};
    for (uint32_t c = 0; c < system->component_count; c++) {
        const struct tt_component *component = &system->components[c];
        const struct tt_description *desc = component->fmu->desc;
        for (size_t i = 0; i < component->setting_count; i++) {
            const struct tt_setting *one = &component->settings[i];
            const struct tt_var *var = &desc->vars[one->variable];
            tt_text_printf(&text, "%s.%s", component->name, var->name);
            for (unsigned d = 0; d < one->element.count; d++)
                tt_text_printf(&text, "[%u]", (unsigned)one->element.index[d]);
            for (size_t v = 0; v < one->count; v++) {
                tt_text_append(&text, " ");
                tt_setting_write(&text, desc, var, (const char *)one->values + v * tt_type_size(var->type));
            }
            tt_text_append(&text, "\n");
        }
    }
    tt_text_append(&text, "");
    assert_false(text.failed);
    return text.text ? text.text : strdup("");
}

/* What --set and --connect gave is in the document now, and means the same. */
static void write_into(struct fixture *f)
{
    struct tt_ssd *ssd = read_ssd(scratch_path(&f->scratch, "s.ssd"));
    const struct tt_ssd_writer_options write = {.system = f->system,
                                                .set = f->set,
                                                .set_count = count_texts(f->set),
                                                .connect = f->connect,
                                                .connect_count = count_texts(f->connect)};
    enum tutti_err err = tt_ssd_changes_apply(ssd, &write);
    if (err) {
        assert_true(*tutti_err_message());
    } else {
        struct tt_text text = {0};
        tt_edit_write_back(ssd->tree, &text);
        write_file(f, "s.ssd", text.text);
        char *before = strdup(connections(f)), *set_before = settings(f->system);
        f->set[0] = f->connect[0] = NULL;
        assert_ok(load(f, "s.ssd"));
        char *set_after = settings(f->system);
        if (f->findings.errors > 0)
            fail_msg("%s\n%s", text.text, f->found.text);
        assert_string_equal(connections(f), before);
        assert_string_equal(set_after, set_before);
        free(before);
        free(set_before);
        free(set_after);
        tt_text_fini(&text);
    }
    tt_ssd_free(ssd);
}

static void test_documents(void **state)
{
    struct fixture *f = *state;
    static const char *const set[] = {"a.p=5", "b.ap=1 2 3 4", "a.sp=x", "t.a.ip=-3", "o1=4", "a.ep=green", "b.vp=1 2"};
    static const char *const connect[] = {"a.y=b.u_degC", "b.y*2+1=a.u_m", "t.a.ay[2]=a.u_odd", "a.iy=b.i8u",
                                          "t.o2=a.u_K"};
    unsigned loaded = 0, clean = 0, refused = 0;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct tt_text text = {0};
        seed = round;
        oddness = (unsigned[]){0, 100, 20, 4}[round % 4];
        append_system(&text, "root", round / 4 % 3);
        f->set[0] = below(2) ? PICK(set) : NULL;
        f->connect[0] = below(2) ? PICK(connect) : NULL;
        enum tutti_err err = load_text(f, text.text);
        if (err) {
            assert_true(*tutti_err_message());
            refused++;
        } else {
            char *before = strdup(connections(f)), *found = strdup(f->found.text ? f->found.text : "");
            loaded++;
            assert_ok(load(f, "s.ssd"));
            assert_string_equal(connections(f), before);
            assert_string_equal(f->found.text ? f->found.text : "", found);
            free(before);
            free(found);
            if (f->findings.errors == 0) {
                clean++;
                write_into(f);
            }
        }
        tt_text_fini(&text);
    }
    printf("%u loaded, %u of them without an error, %u refused\n", loaded, clean, refused);
    assert_true(loaded > ROUNDS / 2);
}

/* Some allocations of many fail, in documents that are mostly right: an error, or all is as it would have been. */
static void test_memory(void **state)
{
    struct fixture *f = *state;
    static const char *const record[] = {"*"};
    enum { DOCUMENTS = 12, FARTHEST = 25 };
    for (unsigned document = 0; document < DOCUMENTS; document++) {
        struct tt_text text = {0};
        seed = document;
        oddness = document % 2 ? 12 : 0;
        append_system(&text, "root", document % 3);
        write_ssd(f, "s.ssd", text.text);
        tt_text_fini(&text);
        char path[300];
        copy_text(path, sizeof path, scratch_path(&f->scratch, "s.ssd"));
        const char *file = path;
        const struct tt_system_source source = {.files = &file, .file_count = 1, .record = record, .record_count = 1};
        assert_ok(load(f, "s.ssd"));
        char *before = strdup(connections(f));
        unsigned errors = f->findings.errors, warnings = f->findings.warnings;
        for (unsigned long at = 1; failing.at <= failing.now || at == 1; at += 1 + below(FARTHEST)) {
            struct tt_findings found = {0};
            tt_system_free(f->system);
            failing.at = at;
            failing.now = 0;
            failing.kind = FAILING_MEMORY;
            enum tutti_err err = tt_system_load(&f->system, &source, &found);
            (void)failing_pause();
            assert_true(err == TUTTI_OK || err == TUTTI_ERR_MEMORY);
            if (!err) {
                assert_string_equal(connections(f), before);
                assert_int_equal(found.errors, errors);
                assert_int_equal(found.warnings, warnings);
            }
        }
        free(before);
        failing.at = failing.now = 0;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup_teardown(test_documents, set_up, tear_down),
                                       cmocka_unit_test_setup_teardown(test_memory, set_up, tear_down)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
