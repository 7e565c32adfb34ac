/* SPDX-License-Identifier: MIT */
/* filled.h - options with distinct values. */
#ifndef TUTTI_TESTS_FILLED_H
#define TUTTI_TESTS_FILLED_H

#include "base/options/options.h"
#include "test.h"

/* A text that the option takes, and that no other one has if it takes any. */
static inline const char *value_of(const struct tt_option *option, char text[32])
{
    size_t number = (size_t)(option - tt_options) + 1;
    switch (option->kind) {
    case TUTTI_OPTION_FLAG:
    case TUTTI_OPTION_UNITS: return "true";
    case TUTTI_OPTION_COUNT: snprintf(text, 32, "%zu", number < option->most ? number : option->most); break;
    case TUTTI_OPTION_STEP:
    case TUTTI_OPTION_NUMBER: snprintf(text, 32, "%zu", number); break;
    case TUTTI_OPTION_TIME: snprintf(text, 32, "-%zu.5", number); break;
    case TUTTI_OPTION_TEXT:
    case TUTTI_OPTION_CHOICE:
    case TUTTI_OPTION_TEXTS: snprintf(text, 32, "text %zu", number); break;
    }
    return option->words ? option->words[1].name : text;
}

static inline struct tutti_run_options *fill_options(void)
{
    struct tutti_run_options *options;
    char text[32];
    assert_ok(tutti_options_make(&options));
    for (const struct tt_option *option = tt_options; option->name; option++) {
        assert_ok(tutti_options_set(options, option->name, value_of(option, text)));
        for (int i = 0; option->length && i < 5; i++) {
            snprintf(text, sizeof text, "unit%d=%d.5", i, i + 1);
            assert_ok(tutti_options_set(options, option->name, text));
        }
    }
    return options;
}

/* To the bit, texts by their letters. */
static inline void assert_same_option(const struct tutti_run_options *a, const struct tutti_run_options *b,
                                      const struct tt_option *option)
{
    const char *left = (const char *)a, *right = (const char *)b;
    assert_int_equal(tt_options_is_given(a, option), tt_options_is_given(b, option));
    if (option->kind == TUTTI_OPTION_FLAG || option->kind == TUTTI_OPTION_UNITS || option->kind == TUTTI_OPTION_CHOICE)
        assert_int_equal(*(const bool *)(left + option->value), *(const bool *)(right + option->value));
    else if (option->kind == TUTTI_OPTION_COUNT)
        assert_memory_equal(left + option->value, right + option->value, sizeof(unsigned));
    else if (option->given)
        assert_memory_equal(left + option->value, right + option->value, sizeof(double));
    else if (option->kind == TUTTI_OPTION_TEXT && tt_options_is_given(a, option))
        assert_string_equal(*(const char *const *)(const void *)(left + option->value),
                            *(const char *const *)(const void *)(right + option->value));
    if (option->how) {
        const char *how = *(const char *const *)(const void *)(left + option->how);
        const char *other = *(const char *const *)(const void *)(right + option->how);
        assert_true(!how == !other && (!how || strcmp(how, other) == 0));
    }
    if (!option->length)
        return;
    size_t count = *(const size_t *)(const void *)(left + option->length);
    assert_int_equal(count, *(const size_t *)(const void *)(right + option->length));
    for (size_t i = 0; i < count; i++)
        assert_string_equal((*(const char *const *const *)(const void *)(left + option->list))[i],
                            (*(const char *const *const *)(const void *)(right + option->list))[i]);
}

#endif
