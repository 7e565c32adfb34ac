/* SPDX-License-Identifier: MIT */
#include "apps/pack/pack_description.h"

#include "scratch.h"

static void test_names(void **state)
{
    (void)state;
    static const char *const structured[] = {"a",        "_a1.b2",     "a.x[2,1]",  "a[1].b[2].c", "der(a.x)",
                                             "der(x,2)", "a.'b c'[3]", "'\\'der('", "der(a.'x ,')"};
    static const char *const others[] = {"",       "1a",       "a.",    ".a",       "a..b",    "a b",     "a[", "a[]",
                                         "a[1",    "a[x]",     "a[1,]", "der(a",    "der(a)b", "der(a,)", "''", "'a",
                                         "'a\\x'", "\xc3\xa4", "a\n",   "der(a,b)", "der(1)",  "a[1]b"};
    for (size_t i = 0; i < sizeof structured / sizeof *structured; i++)
        assert_true(tt_pack_description_is_structured(structured[i]));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(tt_pack_description_is_structured(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
