/* SPDX-License-Identifier: MIT */
/* Documents as trees: namespaces, texts, and writing what was read. */
#include "ssp_helper.h"

static enum tutti_err try_tree(struct tt_tree **tree, const char *text, size_t size, size_t piece)
{
    struct memory memory = {text, size, 0, piece};
    struct tt_byte_source reader = {memory_read, &memory};
    return tt_tree_read(tree, "test.xml", &reader);
}

static struct tt_tree *read_tree(const char *text, size_t piece)
{
    struct tt_tree *tree;
    if (try_tree(&tree, text, strlen(text), piece) != TUTTI_OK)
        fail_msg("%s", tutti_err_message());
    return tree;
}

static void refuse_tree(const char *text, enum tutti_err wanted, const char *words)
{
    struct tt_tree *tree;
    assert_int_equal(try_tree(&tree, text, strlen(text), SIZE_MAX), wanted);
    assert_null(tree);
    if (!strstr(tutti_err_message(), words))
        fail_msg("\"%s\" is not in \"%s\"", words, tutti_err_message());
}

/* All but the lines. */
static void assert_same_nodes(const struct tt_tree_node *a, const struct tt_tree_node *b)
{
    assert_text(a->text, b->text);
    assert_text(a->name, b->name);
    assert_text(a->local, b->local);
    assert_int_equal(a->space, b->space);
    assert_int_equal(a->attribute_count, b->attribute_count);
    for (unsigned i = 0; i < a->attribute_count; i++) {
        assert_text(a->attributes[i].name, b->attributes[i].name);
        assert_text(a->attributes[i].value, b->attributes[i].value);
    }
    const struct tt_tree_node *left = a->first, *right = b->first, *last = NULL;
    for (; left && right; left = left->next, right = right->next) {
        assert_same_nodes(left, right);
        assert_ptr_equal(left->parent, a);
        last = left;
    }
    if (left || right)
        fail_msg("<%s> has another number of children", a->name);
    assert_ptr_equal(a->last, last);
}

/* The document, written; the caller's. Reading it again gives the same tree, and writing that the same text. */
static char *round_trip(const char *text)
{
    struct tt_tree *tree = read_tree(text, SIZE_MAX);
    struct tt_text first = {0}, second = {0};
    tt_tree_write(tree, &first);
    assert_false(first.failed);
    static const size_t pieces[] = {1, 7, SIZE_MAX};
    for (size_t i = 0; i < 3; i++) {
        struct tt_tree *again = read_tree(first.text, pieces[i]);
        assert_same_nodes(tree->root, again->root);
        second.length = 0;
        tt_tree_write(again, &second);
        assert_string_equal(first.text, second.text);
        tt_tree_free(again);
    }
    tt_text_fini(&second);
    tt_tree_free(tree);
    return first.text;
}

static void assert_written(const char *text, const char *wanted)
{
    char *written = round_trip(text);
    static const char declaration[] = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
    assert_int_equal(strncmp(written, declaration, sizeof declaration - 1), 0);
    assert_string_equal(written + sizeof declaration - 1, wanted);
    free(written);
}

static void test_nodes(void **state)
{
    (void)state;
    struct tt_tree *tree = read_tree("<a x='1' y='2'>\n <b/>\n\n <c>text</c><b\nz='3'/></a>", 1);
    struct tt_tree_node *root = tree->root;
    assert_string_equal(tree->file, "test.xml");
    assert_string_equal(root->name, "a");
    assert_int_equal(root->attribute_count, 2);
    assert_string_equal(tt_tree_find_attribute(root, "y"), "2");
    assert_null(tt_tree_find_attribute(root, "z"));
    struct tt_tree_node *b = tt_tree_find_child(root, TUTTI_SPACE_FOREIGN, "b");
    assert_ptr_equal(b, root->first);
    assert_int_equal(b->line, 2);
    assert_int_equal(b->next->line, 4);
    assert_string_equal(b->next->first->text, "text");
    struct tt_tree_node *second = tt_tree_find_next(b, TUTTI_SPACE_FOREIGN, "b");
    assert_ptr_equal(second, root->last);
    assert_null(tt_tree_find_next(second, TUTTI_SPACE_FOREIGN, "b"));
    assert_null(tt_tree_find_child(root, TUTTI_SPACE_SSD, "b"));
    tt_tree_free(tree);
    tt_tree_free(NULL);
}

#define SSD_URI "http://ssp-standard.org/SSP1/SystemStructureDescription"
#define SSC_URI "http://ssp-standard.org/SSP1/SystemStructureCommon"

/* The address counts, wherever it is declared and whatever its prefix. */
static void test_namespaces(void **state)
{
    (void)state;
    struct tt_tree *tree = read_tree("<a xmlns='" SSD_URI "' xmlns:q='" SSC_URI "'>"
                                     "<q:b xmlns:q='" SSD_URI "'><q:c/></q:b><q:d/>"
                                     "<e xmlns=''><f/></e><g xmlns='urn:x'/><h/>"
                                     "<ssd:i xmlns:ssd='urn:not-ours'/><xml:j/></a>",
                                     SIZE_MAX);
    static const struct {
        const char *local;
        enum tt_tree_space space;
    } wanted[] = {{"b", TUTTI_SPACE_SSD},     {"d", TUTTI_SPACE_SSC}, {"e", TUTTI_SPACE_FOREIGN},
                  {"g", TUTTI_SPACE_FOREIGN}, {"h", TUTTI_SPACE_SSD}, {"i", TUTTI_SPACE_FOREIGN},
                  {"j", TUTTI_SPACE_FOREIGN}};
    assert_int_equal(tree->root->space, TUTTI_SPACE_SSD);
    const struct tt_tree_node *node = tree->root->first;
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++, node = node->next) {
        assert_string_equal(node->local, wanted[i].local);
        assert_int_equal(node->space, wanted[i].space);
    }
    assert_null(node);
    assert_int_equal(tree->root->first->first->space, TUTTI_SPACE_SSD);
    assert_int_equal(tree->root->first->next->next->first->space, TUTTI_SPACE_FOREIGN);
    tt_tree_free(tree);
    refuse_tree("<a>\n<ssd:b/></a>", TUTTI_ERR_FORMAT, "test.xml:2: <ssd:b>: the prefix \"ssd\" is not declared");
    refuse_tree("<a><q:b xmlns:q='u'/>\n\n<q:c/></a>", TUTTI_ERR_FORMAT, "test.xml:3: <q:c>");
}

static void test_texts(void **state)
{
    (void)state;
    assert_written("<a>\n  <b/>\n</a>", "<a>\n  <b/>\n</a>\n");
    assert_written("<a>one <b>two</b> <c/> three</a>", "<a>one <b>two</b> <c/> three</a>\n");
    assert_written("<a>x<b>\n<c><d/></c>\n</b></a>", "<a>x<b><c><d/></c></b></a>\n");
    assert_written("<a><b> </b><c>\n</c></a>", "<a>\n  <b> </b>\n  <c>\n</c>\n</a>\n");
    assert_written("<a> x<!-- no -->y <?pi?></a>", "<a> xy </a>\n");
    assert_written("<a><![CDATA[<&>]]]]><![CDATA[>]]></a>", "<a>&lt;&amp;&gt;]]&gt;</a>\n");
    assert_written("<a>&#13;\n\t&quot;&#x20ac;</a>", "<a>&#13;\n\t\"\xe2\x82\xac</a>\n");
    assert_written("<a x='&#10;&#13;&#9; &lt;\"&apos;&amp;' y=' \n '/>",
                   "<a x=\"&#10;&#13;&#9; &lt;&quot;'&amp;\" y=\"   \"/>\n");
    assert_written("<a xml:space='preserve'> <b> <c/></b></a>", "<a xml:space=\"preserve\"> <b> <c/></b></a>\n");
    assert_written("<a xml:space='preserve'><b xml:space='default'> <c/> </b></a>",
                   "<a xml:space=\"preserve\"><b xml:space=\"default\"><c/></b></a>\n");
    /* In SSP's own elements white space is layout, in annotations it may be more. */
    assert_written("<s:a xmlns:s='" SSC_URI "'> <s:b> </s:b><s:Annotation> </s:Annotation></s:a>",
                   "<s:a xmlns:s=\"" SSC_URI "\">\n  <s:b/>\n  <s:Annotation/>\n</s:a>\n");
    assert_written("<Annotation xmlns='" SSC_URI "'><b> </b>x <i>y</i> <i>z</i></Annotation>",
                   "<Annotation xmlns=\"" SSC_URI "\"><b> </b>x <i>y</i> <i>z</i></Annotation>\n");
}

static void test_foreign_parts_survive(void **state)
{
    (void)state;
    char *written = round_trip(
        "<?xml version='1.0'?><!-- a comment -->\n"
        "<ssd:SystemStructureDescription" SPACES " version='1.0' name='&lt;&#x1F600;&gt;'>\n"
        "<ssd:System name='r'><ssd:ElementGeometry x1='0.10' y1='-1e3' x2='1' y2='2' iconSource='a%20b.png'/>\n"
        "<ssd:Annotations><ssc:Annotation type='com.example'>Say <v:b xmlns:v='urn:v' v:at='&#10;'>this</v:b> and\n"
        "<v:c xmlns:v='urn:w'><![CDATA[ <raw> ]]></v:c></ssc:Annotation>\n"
        "<ssc:Annotation type='org.other'><x xmlns='urn:x'><y> <z/> </y></x></ssc:Annotation></ssd:Annotations>\n"
        "</ssd:System></ssd:SystemStructureDescription>");
    static const char mixed[] = ">Say <v:b xmlns:v=\"urn:v\" v:at=\"&#10;\">this</v:b> and\n"
                                "<v:c xmlns:v=\"urn:w\"> &lt;raw&gt; </v:c></ssc:Annotation>";
    static const char geometry[] =
        "<ssd:ElementGeometry x1=\"0.10\" y1=\"-1e3\" x2=\"1\" y2=\"2\" iconSource=\"a%20b.png\"/>";
    const char *const kept[] = {"name=\"&lt;\xf0\x9f\x98\x80&gt;\"", geometry, mixed, "<x xmlns=\"urn:x\">"};
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i++)
        if (!strstr(written, kept[i]))
            fail_msg("'%s' is not in\n%s", kept[i], written);
    free(written);
}

static void test_changes(void **state)
{
    (void)state;
    struct tt_tree tree = {0};
    char name[] = "s:System", value[] = SSD_URI;
    struct tt_tree_node *root = tt_tree_add_node(&tree, NULL, name);
    assert_ptr_equal(tree.root, root);
    assert_int_equal(root->space, TUTTI_SPACE_FOREIGN);
    struct tt_tree_node *early = tt_tree_add_node(&tree, root, "s:Early");
    assert_true(tt_tree_set_attribute(&tree, root, "xmlns:s", value));
    memset(name, 'x', sizeof name - 1); /* copies are taken */
    memset(value, 'x', sizeof value - 1);
    assert_int_equal(root->space, TUTTI_SPACE_SSD);
    assert_int_equal(early->space, TUTTI_SPACE_SSD);
    assert_string_equal(root->local, "System");
    struct tt_tree_node *second = tt_tree_add_node(&tree, root, "s:B"), *third = tt_tree_add_node(&tree, root, "C");
    assert_int_equal(second->space, TUTTI_SPACE_SSD);
    assert_int_equal(third->space, TUTTI_SPACE_FOREIGN);
    for (int i = 0; i < 20; i++) {
        char number[8];
        snprintf(number, sizeof number, "a%d", i);
        assert_true(tt_tree_set_attribute(&tree, second, number, "old"));
        assert_true(tt_tree_set_attribute(&tree, second, number, number));
    }
    assert_int_equal(second->attribute_count, 20);
    assert_string_equal(tt_tree_find_attribute(second, "a17"), "a17");
    assert_true(tt_tree_set_attribute(&tree, third, "odd", "\x01\xff<\xef\xbf\xbe"));
    tt_tree_remove_node(early);
    assert_ptr_equal(root->first, second);
    assert_null(early->parent);
    tt_tree_remove_node(root); /* has no parent */
    struct tt_text text = {0};
    tt_tree_remove_node(second);
    tt_tree_write(&tree, &text);
    assert_string_equal(text.text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<s:System xmlns:s=\"" SSD_URI "\">\n"
                                   "  <C odd=\"\xef\xbf\xbd\xef\xbf\xbd&lt;\xef\xbf\xbd\"/>\n</s:System>\n");
    tt_tree_remove_node(third);
    assert_null(root->first);
    assert_null(root->last);
    tt_text_fini(&text);
    tt_arena_fini(&tree.arena);

    /* Attributes beside those that were read. */
    struct tt_tree *read = read_tree("<a b='1' c='2' d='3'/>", SIZE_MAX);
    for (int i = 0; i < 9; i++)
        assert_true(tt_tree_set_attribute(read, read->root, (char[]){(char)('c' + i), '\0'}, "new"));
    assert_int_equal(read->root->attribute_count, 10);
    assert_string_equal(tt_tree_find_attribute(read->root, "b"), "1");
    assert_string_equal(tt_tree_find_attribute(read->root, "d"), "new");
    assert_string_equal(tt_tree_find_attribute(read->root, "k"), "new");
    tt_tree_free(read);
}

static void assert_back(const struct tt_tree *tree, const char *expected)
{
    struct tt_text out = {0};
    tt_edit_write_back(tree, &out);
    assert_string_equal(out.text, expected);
    tt_text_fini(&out);
}

/* Comments, layout, quotes and references stay; a change touches nothing around it. */
static void test_written_back(void **state)
{
    static const char TEXT[] =
        "<?xml version='1.0'?>\n<!-- <a> -->\n<a  x='1'\n\ty = \"&#50;>\" >\n\t<b/><!-- b -->\n\t<c k='v'>\n\t\t<d/>"
        "\n\t\t<![CDATA[ ]]><e></e>\n\t</c>\n\n\t<f>t<!-- in --></f>\n</a>\n<!-- end -->";
    (void)state;
    struct tt_tree *tree = read_tree(TEXT, 3);
    struct tt_tree_node *root = tree->root, *c = tt_tree_find_child(root, TUTTI_SPACE_FOREIGN, "c");
    assert_back(tree, TEXT);
    assert_true(tt_tree_set_attribute(tree, root, "x", "<\"1\">"));
    assert_true(tt_tree_set_attribute(tree, root, "z", "3"));
    assert_back(tree, "<?xml version='1.0'?>\n<!-- <a> -->\n<a  x=\"&lt;&quot;1&quot;&gt;\"\n\ty = \"&#50;>\" z=\"3\" "
                      ">\n\t<b/><!-- b -->\n\t<c k='v'>\n\t\t<d/>"
                      "\n\t\t<![CDATA[ ]]><e></e>\n\t</c>\n\n\t<f>t<!-- in --></f>\n</a>\n<!-- end -->");
    tt_tree_remove_node(c);
    assert_non_null(tt_tree_add_node(tree, tt_tree_find_child(root, TUTTI_SPACE_FOREIGN, "b"), "n"));
    assert_non_null(tt_tree_add_node(tree, root, "m"));
    assert_back(tree, "<?xml version='1.0'?>\n<!-- <a> -->\n<a  x=\"&lt;&quot;1&quot;&gt;\"\n\ty = \"&#50;>\" z=\"3\" "
                      ">\n\t<b>\n    <n/>\n  </b><!-- b -->"
                      "\n\n\t<f>t<!-- in --></f>\n\t<m/>\n</a>\n<!-- end -->");
    tt_tree_free(tree);
    struct tt_tree made = {0};
    assert_non_null(tt_tree_add_node(&made, NULL, "a"));
    assert_back(&made, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a/>\n");
    tt_arena_fini(&made.arena);
    tree = read_tree("<?xml version='1.0' encoding='ISO-8859-1'?><a x='\xe4'/>", 7);
    assert_true(tt_tree_set_attribute(tree, tree->root, "y", "\xc3\xa4"));
    assert_back(tree, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<a x=\"\xc3\xa4\" y=\"\xc3\xa4\"/>\n");
    tt_tree_free(tree);
}

/* Many random changes of many random documents: what is written back says what the tree says. */
static unsigned random_of(uint32_t *seed, unsigned n)
{
    *seed = *seed * 1664525u + 1013904223u; /* Numerical Recipes, 7.1 */
    return (*seed >> 16) % n;
}

static void append_random_element(struct tt_text *text, uint32_t *seed, unsigned depth)
{
    static const char *const between[] = {"",    "\n", " ", "<!-- <a> -->", "<?p <b?>", "words", "<![CDATA[<c>]]>",
                                          "&lt;"};
    static const char *const attributes[] = {"", " x='1'", " x = \"2>\"", "\ny='&#9;'  z=''", " x='>' "};
    char name = (char)('a' + random_of(seed, 4));
    tt_text_printf(text, "<%c%s", name, attributes[random_of(seed, 5)]);
    unsigned children = depth == 0 ? 0 : random_of(seed, 4);
    if (children == 0 && random_of(seed, 2)) {
        tt_text_append(text, random_of(seed, 2) ? "/>" : " />");
        return;
    }
    tt_text_append(text, ">");
    for (unsigned i = 0; i < children; i++) {
        tt_text_append(text, between[random_of(seed, 8)]);
        append_random_element(text, seed, depth - 1);
    }
    tt_text_append(text, children ? between[random_of(seed, 8)] : "words"); /* white space alone would become layout */
    tt_text_printf(text, "</%c%s>", name, random_of(seed, 2) ? "" : " ");
}

/* An element of the tree, or its root. */
static struct tt_tree_node *random_node(struct tt_tree *tree, uint32_t *seed)
{
    struct tt_tree_node *node = tree->root;
    for (struct tt_tree_node *child; random_of(seed, 4) && (child = node->first); node = child) {
        for (unsigned n = random_of(seed, 4); n > 0 && child->next; n--)
            child = child->next;
        if (child->text)
            break;
    }
    return node;
}

static void test_random_changes(void **state)
{
    (void)state;
    static const char *const prologues[] = {"", "<?xml version='1.0'?>\n", "<!-- <r> -->", "<?p?>\n"};
    for (uint32_t round = 0; round < 400; round++) {
        uint32_t seed = round;
        struct tt_text text = {0};
        tt_text_append(&text, prologues[random_of(&seed, 4)]);
        append_random_element(&text, &seed, 4);
        struct tt_tree *tree = read_tree(text.text, 1 + random_of(&seed, 50));
        assert_back(tree, text.text);
        for (unsigned changes = 1 + random_of(&seed, 6); changes > 0; changes--) {
            struct tt_tree_node *node = random_node(tree, &seed);
            static const char *const names[] = {"x", "y", "new"}, *const values[] = {"1", "", "<&'\">", "words"};
            if (random_of(&seed, 3) == 0)
                assert_non_null(tt_tree_add_node(tree, node, "n"));
            else if (random_of(&seed, 3) == 0 && node != tree->root)
                tt_tree_remove_node(node);
            else
                assert_true(tt_tree_set_attribute(tree, node, names[random_of(&seed, 3)], values[random_of(&seed, 4)]));
        }
        struct tt_text out = {0}, plain = {0}, plain_again = {0};
        tt_edit_write_back(tree, &out);
        struct tt_tree *again = read_tree(out.text, SIZE_MAX);
        tt_tree_write(tree, &plain);
        tt_tree_write(again, &plain_again); /* texts side by side have become one */
        assert_string_equal(plain_again.text, plain.text);
        tt_text_fini(&plain);
        tt_text_fini(&plain_again);
        tt_tree_free(again);
        tt_tree_free(tree);
        tt_text_fini(&out);
        tt_text_fini(&text);
    }
}

/* If '<' and '>' are not plain characters, a document is rewritten. */
static void test_wide_characters(void **state)
{
    static const char *const documents[] = {"<a><b/></a>", "<a x='1'/>", "<a><!-- c --><b></b><?p?></a>", "<a>\r\n</a>",
                                            "<a><b/><![CDATA[ ]]></a>"};
    (void)state;
    for (size_t i = 0; i < 2 * sizeof documents / sizeof *documents; i++) {
        bool big = i % 2;
        char wide[200] = {big ? '\xfe' : '\xff', big ? '\xff' : '\xfe'};
        size_t n = strlen(documents[i / 2]);
        for (size_t c = 0; c < n; c++)
            wide[2 + 2 * c + big] = documents[i / 2][c];
        struct tt_tree *tree, *same = read_tree(documents[i / 2], SIZE_MAX);
        assert_int_equal(try_tree(&tree, wide, 2 + 2 * n, 3), TUTTI_OK);
        assert_same_nodes(tree->root, same->root);
        assert_true(tt_tree_set_attribute(tree, tree->root, "y", "2"));
        assert_true(tt_tree_set_attribute(same, same->root, "y", "2"));
        struct tt_text plain = {0};
        tt_tree_write(same, &plain);
        assert_back(tree, plain.text);
        tt_text_fini(&plain);
        tt_tree_free(tree);
        tt_tree_free(same);
    }
}

static void test_hostile(void **state)
{
    (void)state;
    refuse_tree("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", TUTTI_ERR_FORMAT, "DOCTYPE");
    refuse_tree("<a>&b;</a>", TUTTI_ERR_FORMAT, "test.xml:1: ");
    refuse_tree("<a><b></a>", TUTTI_ERR_FORMAT, "mismatched tag");
    refuse_tree("<a", TUTTI_ERR_FORMAT, "test.xml:1");
    refuse_tree("", TUTTI_ERR_FORMAT, "no element");
    refuse_tree("<a b='1' b='2'/>", TUTTI_ERR_FORMAT, "duplicate");
    refuse_tree("<a>\xff</a>", TUTTI_ERR_FORMAT, "test.xml:1");
    struct tt_text text = {0};
    for (int i = 0; i < 200; i++)
        tt_text_append(&text, "<a>");
    refuse_tree(text.text, TUTTI_ERR_LIMIT, "deep");
    text.length = 0;
    for (int i = 0; i < 100; i++)
        tt_text_printf(&text, "<a%s xmlns:b%d='c'>", i ? "" : " x='1'", i);
    refuse_tree(text.text, TUTTI_ERR_LIMIT, "more than 64 namespaces");
    tt_text_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written_back),
        cmocka_unit_test(test_random_changes),
        cmocka_unit_test(test_wide_characters),
        cmocka_unit_test(test_nodes),
        cmocka_unit_test(test_namespaces),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_foreign_parts_survive),
        cmocka_unit_test(test_changes),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
