/* SPDX-License-Identifier: MIT */
/* What comes as XML but means harm, and what is no XML. */
#include "fmu/description/desc_helper.h"
#include "base/xml.h"

#define ROOT "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\">"

static void not_xml(void **state)
{
    (void)state;
    refuse_text("", TUTTI_ERR_FORMAT, "test.xml:1: found no element found");
    refuse_text("hello", TUTTI_ERR_FORMAT, "test.xml:1: found syntax error at column 1, expected well-formed XML");
    refuse_text("PK\x03\x04", TUTTI_ERR_FORMAT, "test.xml:1:");
    refuse_text("<html>\n</html>", TUTTI_ERR_FORMAT, "test.xml:1: found <html>, expected <fmiModelDescription>");
    refuse_text("<!-- a -->\n\n<html/>", TUTTI_ERR_FORMAT, "test.xml:3: found <html>");
}

static void truncated(void **state)
{
    (void)state;
    const char *text = FMI2("<ScalarVariable name=\"x\" valueReference=\"0\"><Real/></ScalarVariable>\n", "");
    for (size_t n = 0; n + 2 < strlen(text); n++) {
        enum tutti_err err;
        struct tt_description *desc = read_pieces(text, n, SIZE_MAX, &err);
        assert_null(desc);
        assert_int_equal(err, TUTTI_ERR_FORMAT);
    }
    refuse_text(ROOT "\n<ModelVariables>\n</fmiModelDescription>", TUTTI_ERR_FORMAT,
                "test.xml:3: found mismatched tag");
}

static void entities(void **state)
{
    (void)state;
    refuse_text("<?xml version=\"1.0\"?>\n"
                "<!DOCTYPE lolz [\n<!ENTITY a \"aaaaaaaaaa\">\n<!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">\n"
                "<!ENTITY c \"&b;&b;&b;&b;&b;&b;&b;&b;\">\n]>\n" ROOT "&c;</fmiModelDescription>",
                TUTTI_ERR_FORMAT, "test.xml:2: found a document type declaration (<!DOCTYPE lolz>)");
    refuse_text("<!DOCTYPE x SYSTEM \"file:///etc/passwd\">\n" ROOT "</fmiModelDescription>", TUTTI_ERR_FORMAT,
                "expected none");
    refuse_text(ROOT "&nothing;</fmiModelDescription>", TUTTI_ERR_FORMAT, "undefined entity");
}

static void deep(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, ROOT "<VendorAnnotations><Tool name=\"t\">");
    for (int i = 0; i < 100000; i++)
        tt_text_append(&text, "<a>");
    assert_false(text.failed);
    refuse_text(text.text, TUTTI_ERR_LIMIT, "nested more than 128 elements deep");
    tt_text_fini(&text);

    /* The largest permitted input is read. */
    tt_text_append(&text, ROOT "<VendorAnnotations><Tool name=\"t\">");
    for (int i = 0; i < 125; i++)
        tt_text_append(&text, "<a>");
    for (int i = 0; i < 125; i++)
        tt_text_append(&text, "</a>");
    tt_text_append(&text, "</Tool></VendorAnnotations></fmiModelDescription>");
    struct tt_description *desc = read_text(text.text);
    assert_int_equal(desc->annotation_count, 1);
    tt_description_free(desc);
    tt_text_fini(&text);
}

static void many_attributes(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, ROOT "\n<CoSimulation");
    for (int i = 0; i < 257; i++)
        tt_text_printf(&text, " a%d=\"\"", i);
    tt_text_append(&text, "/></fmiModelDescription>");
    refuse_text(text.text, TUTTI_ERR_LIMIT, "test.xml:2: <CoSimulation> has more than 256 attributes");
    tt_text_fini(&text);
}

static void huge_attribute(void **state)
{
    (void)state;
    size_t size = (size_t)TUTTI_XML_TAG + 16 * 1024 * 1024;
    char *text = malloc(size);
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, "<a b=\"", 6);
    enum tutti_err err;
    assert_null(read_pieces(text, size, SIZE_MAX, &err));
    assert_int_equal(err, TUTTI_ERR_LIMIT);
    assert_non_null(strstr(tutti_err_message(), "larger than 32 MiB"));
    /* A few megabytes are fine. */
    static const char head[] = "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"", tail[] = "\"/>";
    size = 4 * 1024 * 1024;
    memset(text, 'x', size);
    memcpy(text, head, strlen(head));
    memcpy(text + size - strlen(tail), tail, strlen(tail));
    struct tt_description *desc = read_pieces(text, size, SIZE_MAX, &err);
    assert_int_equal(err, TUTTI_OK);
    assert_int_equal(strlen(desc->token), size - strlen(head) - strlen(tail));
    tt_description_free(desc);
    free(text);
}

static enum tutti_err take_any(void *context, struct tt_xml *xml, const char *name, const char **attributes)
{
    (void)context, (void)xml, (void)name, (void)attributes;
    return TUTTI_OK;
}

static enum tutti_err end_any(void *context, struct tt_xml *xml)
{
    (void)context, (void)xml;
    return TUTTI_OK;
}

/* An endless file: every element has a new name, which the parser has to store. */
static enum tutti_err read_names(void *context, void *buffer, size_t size, size_t *got)
{
    unsigned long *number = context;
    char *end = buffer;
    if (*number == 0)
        end = stpcpy(end, "<names>");
    while ((size_t)(end - (char *)buffer) + 32 < size)
        end += sprintf(end, "<a%lu/>", (*number)++);
    *got = (size_t)(end - (char *)buffer);
    return TUTTI_OK;
}

static void many_names(void **state)
{
    (void)state;
    unsigned long number = 0;
    struct tt_byte_source reader = {.read = read_names, .context = &number};
    const struct tt_xml_handlers handlers = {.start = take_any, .end = end_any, .heap = 8 * 1024 * 1024};
    assert_int_equal(tt_xml_read("test.xml", &reader, &handlers, NULL), TUTTI_ERR_LIMIT);
    assert_non_null(strstr(tutti_err_message(), "would take more than 8 MiB"));
    /* The parser's memory is given back, so that the next file starts afresh. */
    struct tt_description *desc = read_text(FMI2("", ""));
    tt_description_free(desc);
}

static void encodings(void **state)
{
    (void)state;
    struct tt_description *desc = read_text("<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?>"
                                            "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"\xb0\" guid=\"\"/>");
    assert_string_equal(desc->model_name, "\xc2\xb0");
    tt_description_free(desc);
    desc = read_text("<?xml version=\"1.0\" encoding=\"Windows-1252\"?>"
                     "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"\x80\" guid=\"\"/>");
    assert_string_equal(desc->model_name, "\xe2\x82\xac");
    tt_description_free(desc);
    desc = read_text("\xef\xbb\xbf<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"\"/>");
    tt_description_free(desc);
    refuse_text("<?xml version=\"1.0\" encoding=\"EBCDIC\"?>\n<a/>", TUTTI_ERR_FORMAT,
                "test.xml:1: found an unknown encoding, expected UTF-8");
    refuse_text(ROOT "\n\xb0</fmiModelDescription>", TUTTI_ERR_FORMAT, "test.xml:2: found not well-formed");
    refuse_text("<?xml version=\"1.0\" encoding=\"UTF-16\"?><a/>", TUTTI_ERR_FORMAT, "test.xml:1:");
}

/* Lines are counted by hand, across the borders of what one read gives. */
static void lines(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, ROOT "\n<ModelVariables>\n");
    for (int i = 0; i < 300; i++)
        tt_text_printf(&text,
                       "<ScalarVariable\n  name=\"v%d\"\n\n valueReference=\"%d\"><Real\n start=\"1\"/>\n"
                       "<!-- \n\n --></ScalarVariable>%s",
                       i, i, i % 3 ? "\n" : "");
    tt_text_append(&text, "</ModelVariables></fmiModelDescription>\n");
    assert_false(text.failed);
    struct tt_description *whole = read_text(text.text);
    assert_int_equal(whole->var_count, 300);
    unsigned line = 3;
    for (uint32_t i = 0; i < 300; i++) {
        assert_int_equal(whole->vars[i].line, line);
        line += i % 3 ? 8 : 7;
    }
    static const size_t pieces[] = {1, 2, 3, 7, 64, 1000, 4096};
    for (size_t p = 0; p < sizeof pieces / sizeof *pieces; p++) {
        enum tutti_err err;
        struct tt_description *desc = read_pieces(text.text, text.length, pieces[p], &err);
        assert_int_equal(err, TUTTI_OK);
        assert_int_equal(desc->var_count, 300);
        for (uint32_t i = 0; i < 300; i++)
            assert_int_equal(desc->vars[i].line, whole->vars[i].line);
        tt_description_free(desc);
    }
    tt_description_free(whole);
    tt_text_fini(&text);
}

static enum tutti_err fail_to_read(void *context, void *buffer, size_t size, size_t *got)
{
    (void)context, (void)buffer, (void)size;
    *got = 0;
    return tt_fail(TUTTI_ERR_IO, "the disk is gone");
}

static void reader_fails(void **state)
{
    (void)state;
    struct tt_byte_source reader = {fail_to_read, NULL};
    struct tt_description *desc;
    assert_int_equal(tt_description_read(&desc, "test.xml", &reader, NULL), TUTTI_ERR_IO);
    assert_null(desc);
    assert_string_equal(tutti_err_message(), "test.xml: the disk is gone");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(not_xml),      cmocka_unit_test(truncated),       cmocka_unit_test(entities),
        cmocka_unit_test(deep),         cmocka_unit_test(many_attributes), cmocka_unit_test(huge_attribute),
        cmocka_unit_test(many_names),   cmocka_unit_test(encodings),       cmocka_unit_test(lines),
        cmocka_unit_test(reader_fails),
    };
    return cmocka_run_group_tests_name("base/xml", tests, NULL, NULL);
}
