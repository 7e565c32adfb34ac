/* SPDX-License-Identifier: MIT */
/* Packages are read while each allocation and each call about files fails once: an error, or all is as it would have been. */
#include "failing.h"

#include "own_scratch.h"
#include "model/ssp/package.h"
#include "fmu/archive/zip.h"

static const char document[] = "<a document/>";

static void write_package(const char *path)
{
    char file[200];
    copy_text(file, sizeof file, scratch_write(&scratch, "file", "on the disk", 11));
    const struct tt_zip_part parts[] = {
        {.name = "SystemStructure.ssd", .data = document, .size = sizeof document - 1},
        {.name = "resources/x y", .path = file},
        {.name = "Other.ssd", .data = document, .size = sizeof document - 1},
    };
    assert_ok(tt_zip_write(path, parts, 3));
}

/* All that is in a file. */
static enum tutti_err read_place(const struct tt_package_place *place, const char *expected)
{
    struct tt_byte_source reader = {0};
    char text[100];
    size_t n = 0, got = 0;
    enum tutti_err err = tt_package_open_file(place, &reader);
    do
        err = err ? err : reader.read(reader.context, text + n, sizeof text - n, &got);
    while (!err && (n += got) > 0 && got > 0);
    tt_package_close_file(&reader);
    assert_true(err || (n == strlen(expected) && memcmp(text, expected, n) == 0));
    return err;
}

static enum tutti_err read_parts(struct tt_package *package)
{
    struct tt_package_place ssd = {0}, other = {0}, file = {0};
    enum tutti_err err = tt_package_find_ssd(package, NULL, &ssd);
    if (!err)
        err = tt_package_find_ssd(package, "Other.ssd", &other);
    if (!err)
        err = tt_package_resolve(package, &ssd, "resources/x%20y", &file);
    if (!err)
        err = read_place(&ssd, document);
    if (!err)
        err = read_place(&file, "on the disk");
    tt_package_place_fini(&ssd);
    tt_package_place_fini(&other);
    tt_package_place_fini(&file);
    return err;
}

static enum tutti_err read_package(void *context)
{
    struct tt_package *package;
    enum tutti_err err = tt_package_open(&package, context, "shown");
    assert_int_equal(err == TUTTI_OK, package != NULL);
    if (!err) {
        assert_int_equal(tt_package_variant_count(package), 2);
        err = read_parts(package);
    }
    tt_package_free(package);
    return err;
}

static void test_package(void **state)
{
    (void)state;
    char path[200];
    assert_int_equal(mkdir(scratch_path(&scratch, "tmp"), 0700), 0);
    assert_int_equal(setenv("TMPDIR", scratch.joined, 1), 0);
    copy_text(path, sizeof path, scratch_path(&scratch, "p.ssp"));
    write_package(path);
    fail_each(read_package, path);
    assert_int_equal(unsetenv("TMPDIR"), 0);
}

/* A package that is not whole is not there. */
static enum tutti_err write_whole(void *context)
{
    const struct tt_zip_part parts[] = {
        {.name = "SystemStructure.ssd", .data = document, .size = sizeof document - 1},
        {.name = "resources/", .data = "", .size = 0},
        {.name = "resources/file", .path = context},
    };
    enum failing_kind kind = failing_pause();
    char path[200];
    copy_text(path, sizeof path, scratch_path(&scratch, "w.ssp"));
    (void)unlink(path);
    failing.kind = kind;
    enum tutti_err err = tt_zip_write(path, parts, 3);
    (void)failing_pause();
    struct tt_package *package;
    assert_int_equal(access(path, F_OK) == 0, err == TUTTI_OK);
    if (!err) {
        assert_ok(tt_package_open(&package, path, "w.ssp"));
        tt_package_free(package);
    }
    return err;
}

static void test_writing(void **state)
{
    (void)state;
    char file[200];
    copy_text(file, sizeof file, scratch_write(&scratch, "file", "on the disk", 11));
    fail_each_call(FAILING_MEMORY, ENOMEM, write_whole, file);
}

static void test_folder(void **state)
{
    (void)state;
    char path[200];
    copy_text(path, sizeof path, scratch_path(&scratch, "folder"));
    assert_int_equal(mkdir(path, 0700), 0);
    scratch_write(&scratch, "folder/SystemStructure.ssd", document, sizeof document - 1);
    scratch_write(&scratch, "folder/Other.ssd", document, sizeof document - 1);
    assert_int_equal(mkdir(scratch_path(&scratch, "folder/resources"), 0700), 0);
    scratch_write(&scratch, "folder/resources/x y", "on the disk", 11);
    fail_each(read_package, path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_package, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_writing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folder, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
