/* SPDX-License-Identifier: MIT */
#include "base/text.h"

#include <string.h>

#include "test.h"

static void test_distance(void **state)
{
    (void)state;
    static const struct {
        const char *a, *b;
        size_t distance;
    } cases[] = {
        {"", "", 0},
        {"abc", "", 3},
        {"abc", "abc", 0},
        {"abc", "ABC", 0},
        {"abc", "acb", 1},
        {"abc", "abd", 1},
        {"abc", "ab", 1},
        {"abc", "xabc", 1},
        {"ab", "ba", 1},
        {"abcd", "badc", 2},
        {"kitten", "sitting", 3},
        {"a", "b", 1},
        {"height", "hieght", 1},
        {"\xc3\xa4", "\xc3\xb6", 1},
        {"ca", "abc", 3},
        {"velocity", "veloctiy", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (size_t limit = 0; limit < 8; limit++) {
            size_t expected = cases[i].distance <= limit ? cases[i].distance : limit + 1;
            if (tt_text_distance(cases[i].a, cases[i].b, limit) != expected ||
                tt_text_distance(cases[i].b, cases[i].a, limit) != expected)
                fail_msg("'%s' and '%s' with limit %zu", cases[i].a, cases[i].b, limit);
        }
    char text[200];
    memset(text, 'a', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(tt_text_distance(text, text, 3), 4); /* too long to be looked at */
    text[128] = '\0';
    assert_int_equal(tt_text_distance(text, text, 3), 0);
}

static void test_nearest(void **state)
{
    (void)state;
    struct tt_text_nearest nearest = {.wanted = "hieght"};
    tt_text_nearest_offer(&nearest, "velocity");
    assert_null(nearest.best);
    tt_text_nearest_offer(&nearest, "weight");
    assert_string_equal(nearest.best, "weight");
    tt_text_nearest_offer(&nearest, "height");
    assert_string_equal(nearest.best, "height");
    tt_text_nearest_offer(&nearest, "weight");
    assert_string_equal(nearest.best, "height");
    tt_text_nearest_offer(&nearest, "Hieght");
    assert_string_equal(nearest.best, "Hieght");
    tt_text_nearest_offer(&nearest, "hieght"); /* not nearer than distance 0 */
    assert_string_equal(nearest.best, "Hieght");
    struct tt_text_nearest empty = {.wanted = ""};
    tt_text_nearest_offer(&empty, "");
    assert_string_equal(empty.best, "");
}

static void test_hint(void **state)
{
    (void)state;
    assert_string_equal(tt_text_suggest(NULL).text, "");
    assert_string_equal(tt_text_suggest("height").text, "; did you mean 'height'?");
    char name[300];
    memset(name, 'a', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const char *end = "...'?";
    struct tt_text_suggestion hint = tt_text_suggest(name); /* cut, but with its end */
    assert_string_equal(hint.text + strlen(hint.text) - strlen(end), end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_distance),
        cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_hint),
    };
    return cmocka_run_group_tests_name("base/nearest", tests, NULL, NULL);
}
