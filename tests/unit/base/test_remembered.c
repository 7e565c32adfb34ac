/* SPDX-License-Identifier: MIT */
#include "base/rollback_list.h"

#include "test.h"

static void pieces_come_back(void **state)
{
    (void)state;
    struct tt_rollback_list remembered = {0};
    double number = 0.1, list[] = {1, 2, 3};
    char letter = 'a', bytes[100];
    assert_ok(tt_rollback_list_add(&remembered, &letter, sizeof letter)); /* what follows it lies at an odd place */
    assert_ok(tt_rollback_list_add(&remembered, &number, sizeof number));
    assert_ok(tt_rollback_list_add(&remembered, NULL, 0));
    assert_ok(tt_rollback_list_add(&remembered, list, sizeof list));
    assert_int_equal(remembered.size, 1 + sizeof number + sizeof list);
    tt_rollback_list_save(&remembered, bytes);
    for (int again = 0; again < 2; again++) {
        number = list[0] = list[2] = 7;
        letter = 'b';
        tt_rollback_list_restore(&remembered, bytes);
        assert_same_double(number, 0.1);
        assert_same_double(list[0], 1);
        assert_same_double(list[2], 3);
        assert_int_equal(letter, 'a');
    }
    tt_rollback_list_fini(&remembered);
    assert_int_equal(remembered.size, 0);
}

static void many_pieces(void **state)
{
    (void)state;
    enum { COUNT = 1000 };
    struct tt_rollback_list remembered = {0};
    int values[COUNT], bytes[COUNT];
    for (int i = 0; i < COUNT; i++) {
        values[i] = i;
        assert_ok(tt_rollback_list_add(&remembered, &values[COUNT - 1 - i], sizeof *values));
    }
    tt_rollback_list_save(&remembered, bytes);
    assert_int_equal(bytes[0], COUNT - 1);
    memset(values, 0, sizeof values);
    tt_rollback_list_restore(&remembered, bytes);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(values[i], i);
    tt_rollback_list_fini(&remembered);
}

/* ---- for another process ---- */

/* One that knows three units, packed by whom pieces belong to; brought back in another order, in another process, say. */
static void pieces_of_units(void **state)
{
    (void)state;
    struct tt_rollback_list remembered = {0};
    struct tt_byte_writer parcel = {0};
    double all = 1, own = 2, units[3] = {3, 4, 5}, more[2] = {6, 7};
    assert_ok(tt_rollback_list_add(&remembered, &all, sizeof all));
    assert_ok(tt_rollback_list_add_of(&remembered, TUTTI_OF_RANK, &own, sizeof own));
    for (int i = 0; i < 3; i++)
        assert_ok(tt_rollback_list_add_of(&remembered, i, &units[i], sizeof units[i]));
    assert_ok(tt_rollback_list_add_of(&remembered, 1, more, sizeof more));
    assert_ok(tt_rollback_list_add_of(&remembered, 1, NULL, 0));
    tt_rollback_list_pack(&remembered, 1, &parcel);
    tt_rollback_list_pack(&remembered, 7, &parcel); /* of which nothing is remembered */
    tt_rollback_list_pack(&remembered, TUTTI_OF_ALL, &parcel);
    all = own = units[0] = units[1] = more[0] = more[1] = -1;
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&parcel));
    assert_ok(tt_rollback_list_unpack(&remembered, 1, &in));
    assert_same_double(units[1], 4);
    assert_same_double(more[0], 6);
    assert_same_double(more[1], 7);
    assert_same_double(all, -1);
    assert_ok(tt_rollback_list_unpack(&remembered, 7, &in));
    assert_ok(tt_rollback_list_unpack(&remembered, TUTTI_OF_ALL, &in));
    assert_same_double(all, 1);
    assert_same_double(own, -1);
    assert_same_double(units[0], -1);
    assert_ptr_equal(in.at, in.end);
    tt_bytes_fini(&parcel);
    tt_rollback_list_fini(&remembered);
}

/* What has another size is not taken, and nothing of it. */
static void pieces_of_others(void **state)
{
    (void)state;
    struct tt_rollback_list remembered = {0};
    struct tt_byte_writer parcel = {0};
    double values[2] = {1, 2};
    assert_ok(tt_rollback_list_add_of(&remembered, 0, &values[0], sizeof *values));
    tt_rollback_list_pack(&remembered, 0, &parcel);
    assert_ok(tt_rollback_list_add_of(&remembered, 0, &values[1], sizeof *values));
    values[0] = 3;
    struct tt_byte_reader in = tt_bytes_get_begin(tt_bytes_written(&parcel));
    assert_fails(tt_rollback_list_unpack(&remembered, 0, &in), TUTTI_ERR_FORMAT, "another size");
    for (size_t size = 0; size < parcel.size; size++) {
        in = (struct tt_byte_reader){.at = parcel.bytes, .end = parcel.bytes + size};
        assert_fails(tt_rollback_list_unpack(&remembered, 0, &in), TUTTI_ERR_FORMAT, "another size");
    }
    assert_same_double(values[0], 3);
    tt_bytes_fini(&parcel);
    tt_rollback_list_fini(&remembered);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_back),
        cmocka_unit_test(many_pieces),
        cmocka_unit_test(pieces_of_units),
        cmocka_unit_test(pieces_of_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
