/* SPDX-License-Identifier: MIT */
/* Elements that are added to documents: with the prefixes and in the order that these have. */
#include "test.h"

#include "ssp_helper.h"

#include "base/number.h"
#include "model/ssp/edit.h"
#include "model/ssp/uri.h"

static struct tt_tree *read_tree(const char *text)
{
    struct memory memory = {text, strlen(text), 0, SIZE_MAX};
    struct tt_byte_source reader = {memory_read, &memory};
    struct tt_tree *tree;
    assert_ok(tt_tree_read(&tree, "test.xml", &reader));
    return tree;
}

#define URI(name) "http://ssp-standard.org/SSP1/SystemStructure" name

/* What comes after the declaration. */
static void assert_document(const struct tt_tree *tree, const char *wanted)
{
    struct tt_text text = {0};
    tt_tree_write(tree, &text);
    assert_false(text.failed);
    assert_string_equal(strchr(text.text, '\n') + 1, wanted);
    tt_text_fini(&text);
}

static void test_new(void **state)
{
    (void)state;
    static const enum tt_tree_space spaces[] = {TUTTI_SPACE_SSD, TUTTI_SPACE_SSC};
    struct tt_editor maker = {.tree = tt_edit_new_tree("new.ssd")};
    assert_string_equal(maker.tree->file, "new.ssd");
    struct tt_tree_node *root = tt_edit_add_root(&maker, "SystemStructureDescription", spaces, 2);
    tt_edit_set_number(&maker, root, "a", (double)NAN);
    tt_edit_set_number(&maker, root, "b", -(double)INFINITY);
    tt_edit_set_number(&maker, root, "c", 0.1);
    tt_edit_add(&maker, tt_edit_add(&maker, root, TUTTI_SPACE_SSC, "Unit"), TUTTI_SPACE_SSV, "Set");
    assert_false(maker.failed);
    assert_document(maker.tree, "<ssd:SystemStructureDescription xmlns:ssd=\"" URI("Description") "\" xmlns:ssc=\"" URI(
                                    "Common") "\" a=\"NaN\" b=\"-INF\" c=\"0.1\">\n  <ssc:Unit>\n    <ssv:Set "
                                              "xmlns:ssv=\"" URI("ParameterValues") "\"/>\n  "
                                                                                    "</ssc:Unit>\n</"
                                                                                    "ssd:SystemStructureDescription>"
                                                                                    "\n");
    tt_tree_free(maker.tree);
}

/* A default namespace, a second prefix, and one that is redeclared for a different URI. */
static void test_prefixes(void **state)
{
    (void)state;
    struct tt_editor maker = {.tree = read_tree("<S xmlns='" URI("Description") "' xmlns:c='" URI(
                                  "Common") "'><System xmlns:c='urn:x'/></S>")};
    struct tt_tree_node *root = maker.tree->root, *system = root->first;
    struct tt_tree_node *unit =
        tt_edit_add(&maker, tt_edit_add(&maker, root, TUTTI_SPACE_SSD, "Units"), TUTTI_SPACE_SSC, "Unit");
    assert_string_equal(unit->name, "c:Unit");
    assert_string_equal(unit->parent->name, "Units");
    assert_int_equal(unit->space, TUTTI_SPACE_SSC);
    struct tt_tree_node *shadowed = tt_edit_add(&maker, system, TUTTI_SPACE_SSC, "Unit");
    assert_string_equal(shadowed->name, "ssc:Unit");
    assert_string_equal(tt_tree_find_attribute(shadowed, "xmlns:ssc"), URI("Common"));
    assert_int_equal(shadowed->space, TUTTI_SPACE_SSC);
    tt_tree_free(maker.tree);
}

static void test_order(void **state)
{
    (void)state;
    struct tt_editor maker = {.tree = read_tree("<s:S xmlns:s='" URI("Description") "'><s:GraphicalElements/></s:S>")};
    static const char *const names[] = {"Annotations",       "Elements",    "Connectors",
                                        "ParameterBindings", "Connections", "SystemGeometry",
                                        "ElementGeometry",   "MetaData",    "MetaData"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        tt_edit_set(&maker, tt_edit_add(&maker, maker.tree->root, TUTTI_SPACE_SSD, names[i]), "n", NUMBER((double)i));
    static const char *const wanted[] = {"Connectors",        "ElementGeometry", "ParameterBindings", "MetaData",
                                         "MetaData",          "Elements",        "Connections",       "SystemGeometry",
                                         "GraphicalElements", "Annotations"};
    const struct tt_tree_node *node = maker.tree->root->first, *last = NULL;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++, node = node->next) {
        assert_non_null(node);
        assert_string_equal(node->local, wanted[i]);
        assert_ptr_equal(node->parent, maker.tree->root);
        if (i == 3 || i == 4)
            assert_string_equal(tt_tree_find_attribute(node, "n"), i == 3 ? "7" : "8");
        last = node;
    }
    assert_null(node);
    assert_ptr_equal(maker.tree->root->last, last);
    assert_ptr_equal(tt_edit_add_once(&maker, maker.tree->root, TUTTI_SPACE_SSD, "Elements"),
                     maker.tree->root->first->next->next->next->next->next);
    tt_tree_free(maker.tree);
}

static void test_settings(void **state)
{
    (void)state;
    struct tt_editor maker = {
        .tree = read_tree("<s:S xmlns:s='" URI("Description") "' xmlns:c='" URI(
            "Common") "'><s:Annotations>"
                      "<c:Annotation type='org.tutti.other'><x/></c:Annotation></s:Annotations></s:S>")};
    struct tt_tree_node *settings = tt_edit_add_settings(&maker, maker.tree->root);
    assert_string_equal(settings->name, "tutti:Settings");
    assert_string_equal(tt_tree_find_attribute(settings->parent, "type"), "org.tutti");
    assert_string_equal(settings->parent->name, "c:Annotation");
    assert_ptr_equal(tt_edit_add_settings(&maker, maker.tree->root), settings);
    tt_tree_free(maker.tree);
}

static void test_can_say(void **state)
{
    (void)state;
    assert_true(tt_tree_is_encodable("a\t\n\r \xc3\xbc \xf0\x9f\x98\x80"));
    assert_true(tt_tree_is_encodable(""));
    static const char *const bad[] = {"\x01", "a\x1f", "\xff", "\xc3", "\xef\xbf\xbe"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_false(tt_tree_is_encodable(bad[i]));
}

/* Written text is read back. */
static void test_uri(void **state)
{
    (void)state;
    static const char *const paths[] = {"a/b.fmu", "a b", "100%", "x#y?z", "c:d", "\xc3\xbc", "[1]\"<>&'", "../up"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct tt_text text = {0};
        struct tt_uri uri;
        tt_uri_write(&text, paths[i]);
        assert_null(strpbrk(text.text, " #?:\"<>[]"));
        assert_ok(tt_uri_read(&uri, text.text));
        assert_string_equal(uri.path, paths[i]);
        assert_null(uri.fragment);
        tt_uri_fini(&uri);
        tt_text_fini(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_new),      cmocka_unit_test(test_prefixes), cmocka_unit_test(test_order),
        cmocka_unit_test(test_settings), cmocka_unit_test(test_can_say),  cmocka_unit_test(test_uri),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
