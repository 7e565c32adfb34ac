/* SPDX-License-Identifier: MIT */
/* The table of a packed system's variables: read, refused, and values as text. */
#include "scratch.h"
#include "apps/pack/packed_table.h"

static enum tutti_err read_text(struct tt_packed_table *table, const char *text)
{
    struct scratch scratch;
    scratch_init(&scratch);
    const char *path = scratch_write(&scratch, TUTTI_PACKED_TABLE, text, strlen(text));
    *table = (struct tt_packed_table){0};
    enum tutti_err err = tt_packed_table_read(table, path);
    scratch_fini(&scratch);
    return err;
}

static void test_rows(void **state)
{
    (void)state;
    struct tt_packed_table table;
    assert_ok(read_text(
        &table,
        "{\"token\": \"t\", \"states\": 4, \"indicators\": 2, \"variables\": ["
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"input\", \"moves\": true},"
        "{\"name\": \"a.A\", \"type\": \"Float64\", \"role\": \"tunable\", \"moves\": false, \"target\": \"a.A\","
        " \"dimensions\": [2, 3]},"
        "{\"name\": \"a.z\", \"type\": \"Float64\", \"role\": \"indicator\", \"moves\": false, \"dimensions\": [2]},"
        "{\"name\": \"b\", \"type\": \"Binary\", \"role\": \"output\", \"moves\": false, \"target\": \"x.b\","
        " \"dimensions\": [0, 5]}]}"));
    assert_int_equal(table.count, 4);
    assert_true(table.exchange);
    assert_int_equal(table.states, 4);
    assert_int_equal(table.indicators, 2);
    assert_true(table.rows[0].moves && !table.rows[0].target);
    assert_int_equal(tt_packed_table_row_size(&table.rows[0]), 1);
    assert_int_equal(tt_packed_table_row_size(&table.rows[1]), 6);
    assert_int_equal(table.rows[2].role, TUTTI_PACKED_INDICATOR);
    assert_int_equal(tt_packed_table_row_size(&table.rows[3]), 0);
    tt_packed_table_fini(&table);
    assert_ok(read_text(&table, "{\"token\": \"\", \"variables\": []}"));
    assert_false(table.exchange);
    tt_packed_table_fini(&table);
}

static void test_refused(void **state)
{
    (void)state;
    static const char *const rows[] = {
        "{\"name\": \"u\", \"type\": \"Real\", \"role\": \"input\"}",
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"state\"}",
        "{\"type\": \"Float64\", \"role\": \"input\"}",
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"input\", \"target\": 3}",
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"input\", \"dimensions\": 3}",
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"input\", \"dimensions\": [-1]}",
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"input\", \"dimensions\": [4294967296, 2]}",
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"input\", \"dimensions\": [4294967296, 0, 4294967296]}",
        "{\"name\": \"u\", \"type\": \"Float64\", \"role\": \"input\", \"dimensions\": [1, 1, 1, 1, 1, 1, 1, 1, 1]}",
    };
    struct tt_packed_table table;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        snprintf(text, sizeof text, "{\"token\": \"t\", \"variables\": [%s]}", rows[i]);
        assert_fails(read_text(&table, text), TUTTI_ERR_FORMAT, "not the table of a packed system");
        tt_packed_table_fini(&table);
    }
    assert_fails(read_text(&table, "{\"token\": \"t\", \"states\": -1, \"variables\": []}"), TUTTI_ERR_FORMAT,
                 "pack it again");
    tt_packed_table_fini(&table);
    assert_fails(read_text(&table, "{\"token\": \"t\","), TUTTI_ERR_FORMAT, "was the FMU unpacked whole?");
    tt_packed_table_fini(&table);
}

static void assert_written(enum tt_type type, const void *value, const char *expected)
{
    struct tt_text text = {0};
    tt_text_append(&text, "");
    tt_packed_table_write_value(&text, type, value);
    assert_string_equal(text.text, expected);
    tt_text_fini(&text);
}

static void test_values(void **state)
{
    (void)state;
    const char *words = "two words";
    const struct tt_bytes bytes = {3, (const uint8_t *)"\x00\xffz"};
    assert_written(TUTTI_TYPE_FLOAT64, &(double){0.1}, "0.1");
    assert_written(TUTTI_TYPE_FLOAT32, &(float){0.1F}, "0.1");
    assert_written(TUTTI_TYPE_INT8, &(int8_t){-128}, "-128");
    assert_written(TUTTI_TYPE_UINT64, &(uint64_t){UINT64_MAX}, "18446744073709551615");
    assert_written(TUTTI_TYPE_ENUMERATION, &(int64_t){-3}, "-3");
    assert_written(TUTTI_TYPE_BOOLEAN, &(bool){true}, "true");
    assert_written(TUTTI_TYPE_STRING, &words, "two words");
    assert_written(TUTTI_TYPE_BINARY, &bytes, "00ff7a");
}

static void test_before_conversion(void **state)
{
    (void)state;
    const struct tt_conversion to_kelvin = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_FLOAT64, true, 1, 273.15, NULL, 0};
    const struct tt_conversion rounds = {TUTTI_TYPE_FLOAT64, TUTTI_TYPE_INT32, false, 1, 0, NULL, 0};
    assert_same_double(tt_packed_table_invert_conversion(&to_kelvin, (union tt_packed_value){.number = 273.15}).number,
                       0);
    assert_same_double(tt_packed_table_invert_conversion(&rounds, (union tt_packed_value){.bits = 7}).number, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_before_conversion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
