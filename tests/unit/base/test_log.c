/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/log.h"
#include "base/text.h"

struct heard {
    int count;
    enum tutti_log_level level;
    char origin[32], text[5000];
};

static void hear(void *context, enum tutti_log_level level, const char *origin, const char *text)
{
    struct heard *heard = context;
    heard->count++;
    heard->level = level;
    snprintf(heard->origin, sizeof heard->origin, "%s", origin ? origin : "(none)");
    snprintf(heard->text, sizeof heard->text, "%s", text);
}

static void test_levels(void **state)
{
    (void)state;
    struct heard heard = {0};
    struct tutti_log log = {TUTTI_LOG_WARNING, hear, &heard};
    tt_log(&log, TUTTI_LOG_INFO, "u", "dropped");
    tt_log(&log, TUTTI_LOG_DEBUG, "u", "dropped");
    assert_int_equal(heard.count, 0);
    tt_log(&log, TUTTI_LOG_WARNING, "u", "at %d", 5);
    tt_log(&log, TUTTI_LOG_ERROR, NULL, "%s", "worse");
    assert_int_equal(heard.count, 2);
    assert_int_equal(heard.level, TUTTI_LOG_ERROR);
    assert_string_equal(heard.origin, "(none)");
    assert_string_equal(heard.text, "worse");
}

static void test_no_log(void **state)
{
    (void)state;
    struct tutti_log silent = {.level = TUTTI_LOG_DEBUG};
    tt_log(NULL, TUTTI_LOG_ERROR, "u", "nobody hears");
    tt_log(&silent, TUTTI_LOG_ERROR, "u", "nobody hears");
    assert_false(tt_log_accepts(NULL, TUTTI_LOG_ERROR));
    assert_false(tt_log_accepts(&silent, TUTTI_LOG_ERROR));
}

static void test_foreign_text(void **state)
{
    (void)state;
    struct heard heard = {0};
    struct tutti_log log = {TUTTI_LOG_DEBUG, hear, &heard};
    tt_log(&log, TUTTI_LOG_INFO, "u", "a\nb\x1b[31mc\xff\xc3 d\n\n");
    assert_string_equal(heard.text, "a b [31mc?? d");
    char flood[6000];
    memset(flood, 0xc3, sizeof flood); /* pairs of these and of 0xa4 are the letter a with two dots */
    for (size_t i = 1; i < sizeof flood; i += 2)
        flood[i] = (char)0xa4;
    flood[sizeof flood - 1] = '\0';
    tt_log(&log, TUTTI_LOG_INFO, "u", "x%s", flood);
    assert_int_equal(strlen(heard.text), 4095);
    for (const char *c = heard.text; *c; c += tt_text_utf8_length(c))
        assert_true(tt_text_utf8_length(c) > 0);
    tt_log(&log, TUTTI_LOG_INFO, "u", "y%s", flood + 1); /* cut in the middle of a letter */
    for (const char *c = heard.text; *c; c += tt_text_utf8_length(c))
        assert_true(tt_text_utf8_length(c) > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels),
        cmocka_unit_test(test_no_log),
        cmocka_unit_test(test_foreign_text),
    };
    return cmocka_run_group_tests_name("base/log", tests, NULL, NULL);
}
