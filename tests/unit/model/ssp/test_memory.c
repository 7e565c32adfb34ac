/* SPDX-License-Identifier: MIT */
/* Documents without enough memory: every allocation fails once. And what each element of a document can be refused for. */
#include "ssp_helper.h"

#include "failing.h"
#include "scratch.h"
#include "model/ssp/package.h"

SSP_READER(ssd)

static const char document[] =
    "<ssd:SystemStructureDescription" SPACES " version='2.0' name='n'><ssd:System name='r' id='i'>"
    "<ssd:Connectors><ssd:Connector name='c' kind='input'><ssc:Real unit='m'/><ssc:Dimension size='2'/></ssd:Connector>"
    "</ssd:Connectors><ssd:ParameterBindings><ssd:ParameterBinding><ssd:ParameterValues>"
    "<ssv:ParameterSet version='2.0' name='n'><ssv:Parameters><ssv:Parameter name='p'><ssv:Real value='1 2'/>"
    "<ssc:Dimension size='2'/></ssv:Parameter><ssv:Parameter name='q'><ssv:String><ssv:Value value='s'/></ssv:String>"
    "</ssv:Parameter></ssv:Parameters></ssv:ParameterSet></ssd:ParameterValues><ssd:ParameterMapping>"
    "<ssm:ParameterMapping version='1.0'><ssm:MappingEntry source='p' target='q'><ssc:EnumerationMappingTransformation>"
    "<ssc:MapEntry source='a' target='b'/></ssc:EnumerationMappingTransformation></ssm:MappingEntry>"
    "</ssm:ParameterMapping></ssd:ParameterMapping></ssd:ParameterBinding></ssd:ParameterBindings>"
    "<ssd:Elements><ssd:Component name='a'/><ssd:SignalDictionaryReference name='z' "
    "dictionary='d'/></ssd:Elements><ssd:Connections>"
    "<ssd:Connection startConnector='c' endConnector='d' startIndices='1'><ssc:IntegerMappingTransformation>"
    "<ssc:MapEntry source='1' target='2'/></ssc:IntegerMappingTransformation></ssd:Connection></ssd:Connections>"
    "<ssd:SignalDictionaries><ssd:SignalDictionary name='d'><ssb:SignalDictionary version='1.0'>"
    "<ssb:DictionaryEntry name='e'><ssc:Real/></ssb:DictionaryEntry><ssb:Units><ssc:Unit name='K'><ssc:BaseUnit "
    "K='1'/></ssc:Unit></ssb:Units></ssb:SignalDictionary></ssd:SignalDictionary>"
    "</ssd:SignalDictionaries><ssd:Annotations><ssc:Annotation type='t'>text <x/></ssc:Annotation></ssd:Annotations>"
    "</ssd:System><ssd:Enumerations><ssc:Enumeration name='e'><ssc:Item name='i' value='1'/></ssc:Enumeration>"
    "</ssd:Enumerations><ssd:Units><ssc:Unit name='m'><ssc:BaseUnit m='1'/></ssc:Unit></ssd:Units>"
    "<ssd:DefaultExperiment startTime='0' stopTime='1'/></ssd:SystemStructureDescription>";

static enum tutti_err read_and_free(void *context)
{
    struct tt_ssd *ssd;
    enum tutti_err err = try_ssd(&ssd, context, strlen(context), SIZE_MAX);
    assert_int_equal(err == TUTTI_OK, ssd != NULL);
    tt_ssd_free(ssd);
    return err;
}

static void test_reading(void **state)
{
    (void)state;
    fail_each_call(FAILING_MEMORY, ENOMEM, read_and_free, (void *)document);
    expect_clean();
}

/* A copy of the document with an attribute in the n-th start tag; NULL: it has fewer. The caller's. */
static char *with_attribute(unsigned n, const char *attribute)
{
    const char *at = document;
    for (unsigned i = 0; at && i <= n; i++) {
        at = strchr(at + (i > 0), '<');
        while (at && at[1] == '/')
            at = strchr(at + 1, '<');
    }
    if (!at)
        return NULL;
    struct tt_text text = {0};
    at += strcspn(at, " />");
    tt_text_append_n(&text, document, (size_t)(at - document));
    tt_text_append(&text, attribute);
    tt_text_append(&text, at);
    assert_false(text.failed);
    return text.text;
}

/* An id that another element has is refused, unless the element has no such attribute; other words are not. */
static void test_each_element(void **state)
{
    (void)state;
    char *text;
    unsigned twice = 0, elements = 0;
    for (; (text = with_attribute(elements, elements == 1 ? "" : " id='i'")); elements++) {
        struct tt_ssd *ssd;
        enum tutti_err err = try_ssd(&ssd, text, strlen(text), SIZE_MAX);
        assert_int_equal(err == TUTTI_OK, ssd != NULL);
        assert_true(!err || err == TUTTI_ERR_FORMAT);
        twice += err && strstr(tutti_err_message(), "the id \"i\" is that of line 1, too");
        tt_ssd_free(ssd);
        free(text);
    }
    assert_true(elements > 40);
    assert_true(twice > elements / 2);
    for (unsigned i = 0; (text = with_attribute(i, " unheard='of'")); i++) {
        struct tt_ssd *ssd;
        assert_ok(try_ssd(&ssd, text, strlen(text), SIZE_MAX)); /* of a later version of SSP, perhaps */
        tt_ssd_free(ssd);
        free(text);
    }
}

struct writing {
    struct tt_tree *tree;
    void (*write)(const struct tt_tree *tree, struct tt_text *text);
    char *expected;
};

static enum tutti_err write_tree(void *context)
{
    const struct writing *writing = context;
    struct tt_text text = {0};
    writing->write(writing->tree, &text);
    enum failing_kind kind = failing_pause();
    bool failed = text.failed;
    /* Without memory for the comparison, everything is rewritten. */
    if (!failed && failing.now < failing.at)
        assert_string_equal(text.text, writing->expected);
    tt_text_fini(&text);
    failing.kind = kind;
    return failed ? tt_fail_memory() : TUTTI_OK;
}

static void survive_writing(struct tt_tree *tree, void (*write)(const struct tt_tree *, struct tt_text *))
{
    struct tt_text text = {0};
    write(tree, &text);
    fail_each_call(FAILING_MEMORY, ENOMEM, write_tree, &(struct writing){tree, write, text.text});
    tt_text_fini(&text);
}

static void test_writing(void **state)
{
    (void)state;
    struct tt_ssd *ssd = read_ssd(document);
    survive_writing(ssd->tree, tt_tree_write);
    struct tt_tree_node *system = ssd->tree->root->first;
    assert_true(tt_tree_set_attribute(ssd->tree, system, "name", "another"));
    assert_non_null(tt_tree_add_node(ssd->tree, system, "ssd:new"));
    survive_writing(ssd->tree, tt_edit_write_back);
    tt_ssd_free(ssd);
}

/* Elements and attributes beside those that were read. */
static enum tutti_err change(void *context)
{
    struct tt_tree *tree = context;
    struct tt_tree_node *node = tt_tree_add_node(tree, tree->root, "ssd:n");
    bool good = node != NULL;
    static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i"};
    for (size_t i = 0; i < sizeof names / sizeof *names && good; i++)
        good = tt_tree_set_attribute(tree, node, names[i], "1") && tt_tree_set_attribute(tree, node, names[i], "2");
    for (size_t i = 0; i < sizeof names / sizeof *names && good; i++)
        assert_string_equal(tt_tree_find_attribute(node, names[i]), "2");
    return good ? TUTTI_OK : tt_fail_memory();
}

static void test_changing(void **state)
{
    (void)state;
    struct tt_ssd *ssd = read_ssd(document);
    fail_each_call(FAILING_MEMORY, ENOMEM, change, ssd->tree);
    tt_ssd_free(ssd);
}

static char folder[64];

static enum tutti_err use_package(void *context)
{
    (void)context;
    struct tt_package *package;
    struct tt_package_place base = {0}, place = {0};
    struct tt_byte_source reader = {0};
    enum tutti_err err = tt_package_open(&package, folder, "shown");
    if (!err)
        err = tt_package_find_ssd(package, NULL, &base);
    if (!err)
        err = tt_package_resolve(package, &base, "resources/x%20y.ssp#V.ssd", &place);
    tt_package_place_fini(&place);
    if (!err)
        err = tt_package_resolve(package, &base, "#V.ssd", &place);
    if (!err)
        err = tt_package_open_file(&base, &reader);
    tt_package_close_file(&reader);
    tt_package_place_fini(&place);
    tt_package_place_fini(&base);
    tt_package_free(package);
    return err;
}

static void test_package(void **state)
{
    (void)state;
    struct scratch scratch;
    scratch_init(&scratch);
    copy_text(folder, sizeof folder, scratch.path);
    scratch_write(&scratch, "SystemStructure.ssd", document, sizeof document - 1);
    fail_each_call(FAILING_MEMORY, ENOMEM, use_package, NULL);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reading),  cmocka_unit_test(test_each_element), cmocka_unit_test(test_writing),
        cmocka_unit_test(test_changing), cmocka_unit_test(test_package),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
