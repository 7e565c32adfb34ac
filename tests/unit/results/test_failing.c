/* SPDX-License-Identifier: MIT */
/* Results, tables and comparisons while each allocation and each call about files fails once: an error, or all is as it would have been. */
#include "failing_formats.h"

#include "results/csv_table.h"

static void test_csv(void **state)
{
    (void)state;
    try_format("r.csv", ROWS_ALIKE);
}

static void test_csv_units(void **state)
{
    (void)state;
    try_format("r.units.csv", ROWS_ALIKE);
}

static void test_jsonl(void **state)
{
    (void)state;
    try_format("r.jsonl", ROWS_ALIKE);
}

static void test_mat(void **state)
{
    (void)state;
    try_format("r.mat", BYTES_ALIKE);
}

/* ---- what federates sent ---- */

static enum tutti_err read_sent(void *context)
{
    struct tutti_result *result = NULL;
    double values[2][3], *places[] = {values[0], values[1]};
    enum tutti_err err = tutti_result_open(&result, context, NULL);
    assert_int_equal(err == TUTTI_OK, result != NULL);
    if (!err)
        err = tutti_result_read(result, (const size_t[]){0, 1}, 2, places);
    if (!err) {
        static const double speed[] = {1.5, 1.5, 2.5};
        assert_int_equal(tutti_result_rows(result), 3);
        assert_int_equal(tutti_result_count(result), 2);
        assert_memory_equal(values[0], speed, sizeof speed);
        assert_true(isnan(values[1][0]) && values[1][1] == 7 && values[1][2] == 7);
    }
    tutti_result_free(result);
    return err;
}

static void test_sent(void **state)
{
    (void)state;
    static const char csv[] = "time,federation,federate,kind,name,member,stamp,value,bytes\n"
                              "0.1,f,a,attribute,car,speed,1,1.5,00\n0.2,g,b,parameter,\"a \"\"b\"\"\",x,2,7,00\n"
                              "0.3,f,a,attribute,car,name,3,NaN,00\n0.4,f,a,attribute,car,speed,3,2.5,00\n";
    char path[200];
    copy_text(path, sizeof path, scratch_write(&scratch, "sent.csv", csv, sizeof csv - 1));
    fail_each(read_sent, path);
}

/* ---- watchers ---- */

struct watching {
    int columns, rows, texts;
};

static enum tutti_err see_columns(void *context, const struct tutti_recorded *shown, size_t count)
{
    struct watching *watching = context;
    assert_int_equal(count, COLUMNS);
    assert_string_equal(shown[1].name, "minus x");
    watching->columns++;
    return TUTTI_OK;
}

static enum tutti_err see_row(void *context, double time, const double *values)
{
    struct watching *watching = context;
    assert_true(time == watching->rows && values[0] == time * 0.1 && values[1] == -values[0]);
    watching->rows++;
    return TUTTI_OK;
}

static enum tutti_err see_text(void *context, size_t column, const char *said)
{
    struct watching *watching = context;
    assert_int_equal(column, 3);
    assert_string_equal(said, text);
    watching->texts++;
    return TUTTI_OK;
}

static enum tutti_err watch(void *context)
{
    (void)context;
    struct watching watching = {0};
    const struct tutti_watcher watcher = {
        .context = &watching, .columns = see_columns, .row = see_row, .text = see_text};
    struct tt_output output;
    enum tutti_err err = tt_output_open(&output, &(struct tt_output_target){.watcher = &watcher}, columns, COLUMNS);
    if (!err)
        err = put_rows(&output, 0, ROWS);
    enum tutti_err closing = tt_output_close(&output);
    err = err ? err : closing;
    if (!err)
        assert_true(watching.columns == 1 && watching.rows == ROWS && watching.texts >= 3);
    return err;
}

static void test_watcher(void **state)
{
    (void)state;
    fail_each_call(FAILING_MEMORY, ENOMEM, watch, NULL);
}

/* ---- tables ---- */

static enum tutti_err read_table(void *context)
{
    struct tt_csv_table *table = NULL;
    enum tutti_err err = tt_csv_table_read(&table, context);
    if (!err) {
        assert_int_equal(tt_csv_table_rows(table), 3);
        assert_int_equal(tt_csv_table_find(table, "b"), 1);
        assert_int_equal(tt_csv_table_find(table, "c"), SIZE_MAX);
        assert_string_equal(tt_csv_table_cell(table, 1, 1), "two words");
    }
    tt_csv_table_free(table);
    return err;
}

static void test_table(void **state)
{
    (void)state;
    static const char csv[] = "Time [s],a,b\n0,1,x\n\n1, 2 ,\"two words\"\n2,3,\n";
    char path[200];
    copy_text(path, sizeof path, scratch_write(&scratch, "t.csv", csv, sizeof csv - 1));
    fail_each(read_table, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_csv, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_csv_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_jsonl, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_mat, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sent, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_watcher, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_table, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
