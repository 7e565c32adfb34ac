/* SPDX-License-Identifier: MIT */
/* HDF5, results and sheets, while each allocation and each call about files of the library fails once. (Those of the module and of HDF5 do not.) */
#include "failing_formats.h"

#include "results/recorder.h"

static void test_results(void **state)
{
    (void)state;
    try_format("r.h5", CONTENT_ALIKE);
}

/* ---- a file of another run ---- */

static struct tt_byte_writer write_columns(const char *path, const struct tt_column *all, size_t count)
{
    struct tt_output output;
    struct tt_byte_writer mark = {0};
    assert_ok(tt_output_open(&output, &(struct tt_output_target){.path = path}, all, count));
    for (x = 0; x < 5; x++)
        assert_ok(tt_output_row(&output, x));
    assert_ok(tt_output_mark(&output, &mark));
    assert_ok(tt_output_close(&output));
    return mark;
}

/* A run resumes its file; one that differs in anything is left unchanged. */
static void test_another_file(void **state)
{
    (void)state;
    static const struct tt_column one = {.name = "x", .unit = "m", .description = "d", .value = &x};
    const struct tt_column others[] = {
        {.name = "y", .unit = "m", .description = "d", .value = &x},
        {.name = "x", .description = "d", .value = &x},
        {.name = "x", .unit = "m", .value = &x},
        {.name = "x", .unit = "m", .description = "d", .type = TUTTI_TYPE_INT32, .value = &(const int32_t){1}},
    };
    const struct tt_column two[] = {one, others[0]}, changed[] = {one};
    char path[200];
    copy_text(path, sizeof path, scratch_path(&scratch, "r.h5"));
    struct tt_byte_writer mark = write_columns(path, &one, 1);
    const struct tt_output_target target = {.path = path, .resume = tt_bytes_written(&mark)};
    struct tt_output output;
    for (size_t i = 0; i < 6; i++) {
        struct tt_byte_writer other = i < 4 ? write_columns(path, &others[i], 1)
                                      : i == 4
                                          ? write_columns(path, two, 2)
                                          : (scratch_write(&scratch, "r.h5", "no HDF5", 7), (struct tt_byte_writer){0});
        size_t size, size_after;
        char *before = slurp_file(path, &size);
        assert_fails(tt_output_open(&output, &target, changed, 1), TUTTI_ERR_FORMAT,
                     "it is not the file that the checkpoint was written with");
        (void)!tt_output_close(&output);
        char *after = slurp_file(path, &size_after);
        assert_int_equal(size, size_after);
        assert_memory_equal(before, after, size);
        free(before);
        free(after);
        tt_bytes_fini(&other);
    }
    tt_bytes_fini(&mark);
}

/* ---- sheets ---- */

static struct tt_bytes bytes;

static enum tutti_err put_sheet_row(struct tt_recorder *recorder, int i)
{
    static const char *const texts[] = {"", "one", NULL};
    static char letters[1 << 20];
    x = i;
    text = texts[i % 3];
    bytes = (struct tt_bytes){i % 2 ? (size_t)i : 0, (unsigned char *)letters};
    if (i == 2) /* larger than what is kept before it is written */
        bytes.size = sizeof letters;
    return tt_hdf5_table_format.row(recorder, i * 0.5);
}

static enum tutti_err write_sheet(void *context)
{
    static const struct tt_column sheet[] = {
        {.name = "x", .type = TUTTI_TYPE_FLOAT64, .value = &x},
        {.name = "s", .type = TUTTI_TYPE_STRING, .value = &text},
        {.name = "b", .type = TUTTI_TYPE_BINARY, .value = &bytes},
    };
    const struct tt_record_format *format = &tt_hdf5_table_format;
    struct tt_recorder *recorder = NULL;
    enum failing_kind kind = failing_pause();
    (void)remove(context);
    failing.kind = kind;
    enum tutti_err err = format->open(&recorder, context, sheet, 3);
    assert_int_equal(err == TUTTI_OK, recorder != NULL);
    TRY(err);
    for (int i = 0; i < 5 && !err; i++)
        err = put_sheet_row(recorder, i);
    if (!err)
        err = format->flush(recorder);
    if (!err)
        err = format->flush(recorder); /* nothing to write */
    enum tutti_err closing = format->close(recorder);
    return err ? err : closing;
}

static void test_sheets(void **state)
{
    (void)state;
    char path[200];
    copy_text(path, sizeof path, scratch_path(&scratch, "sheet.h5"));
    fail_each(write_sheet, path);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_true(st.st_size > 1000);
    struct tt_recorder *recorder = NULL;
    assert_int_equal(mkfifo(scratch_path(&scratch, "pipe.h5"), 0600), 0);
    assert_fails(tt_hdf5_table_format.open(&recorder, scratch.joined, columns, 1), TUTTI_ERR_IO, "pipe.h5");
    assert_null(recorder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_results, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_another_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sheets, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
