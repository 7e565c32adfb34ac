/* SPDX-License-Identifier: MIT */
#include "test.h"

#include <stdlib.h>

#include "base/text.h"

static void test_text(void **state)
{
    (void)state;
    struct tt_text text = {0};
    tt_text_append(&text, "");
    assert_string_equal(text.text, "");
    tt_text_append_n(&text, NULL, 0);
    for (int i = 0; i < 1000; i++) {
        tt_text_append(&text, "ab");
        tt_text_append_n(&text, "cdef", 1);
        tt_text_printf(&text, "%d%s", i % 10, "");
    }
    assert_false(text.failed);
    assert_int_equal(text.length, 4000);
    assert_int_equal(strlen(text.text), 4000);
    assert_memory_equal(text.text + 3996, "abc9", 5);
    tt_text_append_n(&text, "x", SIZE_MAX / 2); /* fails before it reads */
    assert_true(text.failed);
    tt_text_append(&text, "dropped");
    tt_text_printf(&text, "dropped");
    assert_int_equal(text.length, 4000);
    tt_text_fini(&text);
    assert_null(text.text);
    assert_false(text.failed);
}

static void test_glob_in_text(void **state)
{
    (void)state;
    assert_true(tt_text_glob_n("a*=rest", 2, "abc"));
    assert_false(tt_text_glob_n("a*=rest", 1, "abc"));
    assert_false(tt_text_glob_n("abc", 2, "abc"));
    assert_true(tt_text_glob_n("a?***", 5, "ab"));
    assert_true(tt_text_glob_any("x;a*;y", "abc"));
    assert_true(tt_text_glob_any(";;abc", "abc"));
    assert_false(tt_text_glob_any("x;a;", "abc"));
    assert_false(tt_text_glob_any("", ""));
}

static void test_glob(void **state)
{
    (void)state;
    static const struct {
        const char *pattern, *name;
        bool match;
    } cases[] = {
        {"", "", true},
        {"", "a", false},
        {"a", "", false},
        {"*", "", true},
        {"**", "abc", true},
        {"?", "", false},
        {"?", "a", true},
        {"?", "ab", false},
        {"a*", "a", true},
        {"a*c", "abcbc", true},
        {"a*c", "abcb", false},
        {"*.y", "unit.y", true},
        {"*.y", "unit.yy", false},
        {"*a*b", "aabab", true},
        {"*a*b", "ba", false},
        {"x[1]", "x[1]", true}, /* brackets are themselves */
        {"x[1]", "x1", false},
        {"x[*,2]", "x[10,2]", true},
        {"x\\*", "x\\abc", true}, /* so are backslashes */
        {"A", "a", false},
        {"*?", "a", true},
        {"*?", "", false},
        {"?*?", "a", false},
        {"a?c",
         "a\xc3\xa4"
         "c",
         true}, /* one character, not one byte */
        {"??", "\xc3\xa4", false},
        {"*??", "\xc3\xa4", false},
        {"*??c",
         "\xc3\xa4\xc3\xa4"
         "c",
         true},
        {"a?c",
         "a\xff"
         "c",
         true}, /* a broken byte stands for itself */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (tt_text_glob(cases[i].pattern, cases[i].name) != cases[i].match)
            fail_msg("'%s' on '%s' should be %d", cases[i].pattern, cases[i].name, cases[i].match);
    char name[10001]; /* no exponential time */
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    assert_false(tt_text_glob("*a*a*a*a*a*a*a*a*a*a*a*b", name));
}

static void test_utf8(void **state)
{
    (void)state;
    assert_int_equal(tt_text_utf8_length("a"), 1);
    assert_int_equal(tt_text_utf8_length("\xc3\xa4"), 2);
    assert_int_equal(tt_text_utf8_length("\xe2\x82\xac"), 3);
    assert_int_equal(tt_text_utf8_length("\xf0\x9f\x98\x80"), 4);
    assert_int_equal(tt_text_utf8_length("\xed\x9f\xbf"), 3);     /* U+D7FF, the last before the surrogates */
    assert_int_equal(tt_text_utf8_length("\xf4\x8f\xbf\xbf"), 4); /* U+10FFFF, the last of all */
    static const char *const bad[] = {
        "\x80",
        "\xbf",
        "\xc0\x80",
        "\xc1\xbf",
        "\xc3",
        "\xc3(",
        "\xe2\x82",
        "\xe0\x80\x80",
        "\xe0\x9f\xbf",
        "\xed\xa0\x80",
        "\xed\xbf\xbf",
        "\xf0\x80\x80\x80",
        "\xf0\x9f\x98",
        "\xf0\x8f\xbf\xbf",
        "\xf4\x90\x80\x80",
        "\xf5\x80\x80\x80",
        "\xff",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *copy = tt_text_copy(bad[i]); /* on the heap, where reading too far shows */
        assert_non_null(copy);
        assert_int_equal(tt_text_utf8_length(copy), 0);
        free(copy);
    }
}

static void check_printable(const char *foreign, const char *expected)
{
    char *copy = tt_text_copy(foreign);
    assert_non_null(copy);
    tt_text_make_printable(copy);
    assert_string_equal(copy, expected);
    free(copy);
}

static void test_printable(void **state)
{
    (void)state;
    check_printable("", "");
    check_printable("plain", "plain");
    check_printable("line\r\nline\n", "line  line");
    check_printable(" \n\t", "");
    check_printable("\x1b]0;title\x07x", " ]0;title x");
    check_printable("a\x7f"
                    "b",
                    "a b");
    check_printable("a\xc2\x9b"
                    "31m",
                    "a  31m"); /* the one-character form of ESC [ */
    check_printable("\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80", "\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80");
    check_printable("\xff\xfe", "??");
    check_printable("\xe2\x82", "??");
    check_printable("\xed\xa0\x80", "???");
}

static void test_show(void **state)
{
    (void)state;
    assert_string_equal(tt_text_excerpt("short\n").text, "short");
    char text[301];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    struct tt_text_excerpt shown = tt_text_excerpt(text);
    assert_int_equal(strlen(shown.text), sizeof shown.text - 1);
    assert_string_equal(shown.text + sizeof shown.text - 5, "a...");
    text[sizeof shown.text - 4] = '\0'; /* the longest that fits */
    assert_string_equal(tt_text_excerpt(text).text, text);
    for (size_t shift = 0; shift < 5; shift++) { /* never cut in the middle of a character */
        char wide[301] = "aaaa";
        for (size_t i = shift; i + 4 < sizeof wide; i += 4)
            memcpy(wide + i, "\xf0\x9f\x98\x80", 5);
        shown = tt_text_excerpt(wide);
        assert_null(strchr(shown.text, '?'));
        assert_string_equal(shown.text + strlen(shown.text) - 3, "...");
    }
    memset(text, 0x80, 300); /* nothing but halves of characters */
    text[300] = '\0';
    assert_int_equal(tt_text_excerpt(text).text[0], '?');
}

static void test_copy(void **state)
{
    (void)state;
    char *copy = tt_text_copy("abc");
    assert_string_equal(copy, "abc");
    free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text), cmocka_unit_test(test_glob),      cmocka_unit_test(test_glob_in_text),
        cmocka_unit_test(test_utf8), cmocka_unit_test(test_printable), cmocka_unit_test(test_show),
        cmocka_unit_test(test_copy),
    };
    return cmocka_run_group_tests_name("base/str", tests, NULL, NULL);
}
