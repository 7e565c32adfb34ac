/* SPDX-License-Identifier: MIT */
#include "base/remembered.h"

#include "test.h"

static void pieces_come_back(void **state)
{
    (void)state;
    struct tutti_remembered remembered = {0};
    double number = 0.1, list[] = {1, 2, 3};
    char letter = 'a', bytes[100];
    assert_ok(tutti_remember(&remembered, &letter, sizeof letter)); /* what follows it lies at an odd place */
    assert_ok(tutti_remember(&remembered, &number, sizeof number));
    assert_ok(tutti_remember(&remembered, NULL, 0));
    assert_ok(tutti_remember(&remembered, list, sizeof list));
    assert_int_equal(remembered.size, 1 + sizeof number + sizeof list);
    tutti_remembered_save(&remembered, bytes);
    for (int again = 0; again < 2; again++) {
        number = list[0] = list[2] = 7;
        letter = 'b';
        tutti_remembered_restore(&remembered, bytes);
        assert_same_double(number, 0.1);
        assert_same_double(list[0], 1);
        assert_same_double(list[2], 3);
        assert_int_equal(letter, 'a');
    }
    tutti_remembered_fini(&remembered);
    assert_int_equal(remembered.size, 0);
}

static void many_pieces(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct tutti_remembered remembered = {0};
    int values[COUNT], bytes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i;
        assert_ok(tutti_remember(&remembered, &values[COUNT - 1 - i], sizeof *values));
    }
    tutti_remembered_save(&remembered, bytes);
    assert_int_equal(bytes[0], COUNT - 1);
    memset(values, 0, sizeof values);
    tutti_remembered_restore(&remembered, bytes);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], i);
    tutti_remembered_fini(&remembered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_back),
        cmocka_unit_test(many_pieces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
