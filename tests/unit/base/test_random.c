/* SPDX-License-Identifier: MIT */
#include "test.h"

#include "base/random.h"

static void tokens_are_digits_and_differ(void **state)
{
    (void)state;
    char first[33], second[33], longest[65];
    assert_ok(tt_random_token(first, sizeof first));
    assert_ok(tt_random_token(second, sizeof second));
    assert_ok(tt_random_token(longest, sizeof longest));
    assert_int_equal(strspn(first, "0123456789abcdef"), 32);
    assert_int_equal(strlen(first), 32);
    assert_int_equal(strlen(longest), 64);
    assert_string_not_equal(first, second);
}

static void bytes_fill_the_room_and_no_more(void **state)
{
    (void)state;
    unsigned char bytes[600] = {0}, used = 0;
    assert_ok(tt_random_bytes(bytes, 512)); /* more than the system gives in one piece without interruption */
    for (size_t i = 0; i < 512; i++)
        used |= bytes[i];
    for (size_t i = 512; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0);
    assert_int_not_equal(used, 0);
    assert_ok(tt_random_bytes(NULL, 0));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tokens_are_digits_and_differ),
        cmocka_unit_test(bytes_fill_the_room_and_no_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
