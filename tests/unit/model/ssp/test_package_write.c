/* SPDX-License-Identifier: MIT */
/* Packages that are written: from memory, disk and other archives; whole or not at all. */
#include "test.h"

#include <zip.h>

#include "own_scratch.h"
#include "fmu/archive/zip.h"

static char *path_of(const char *name)
{
    char *path = strdup(scratch_path(&scratch, name));
    assert_non_null(path);
    return path;
}

static struct tt_zip_part text_part(const char *name, const char *text)
{
    return (struct tt_zip_part){.name = name, .data = text, .size = strlen(text)};
}

static void assert_entry(zip_t *zip, const char *name, const char *text, zip_uint16_t method, zip_uint32_t mode)
{
    zip_stat_t st;
    char data[2000] = "";
    zip_uint8_t system;
    zip_uint32_t attributes;
    zip_int64_t index = zip_name_locate(zip, name, 0);
    assert_true(index >= 0);
    assert_int_equal(zip_stat_index(zip, (zip_uint64_t)index, 0, &st), 0);
    assert_int_equal(st.size, strlen(text));
    assert_int_equal(st.comp_method, method);
    zip_file_t *file = zip_fopen_index(zip, (zip_uint64_t)index, 0);
    assert_non_null(file);
    assert_int_equal(zip_fread(file, data, sizeof data - 1), strlen(text));
    assert_string_equal(data, text);
    zip_fclose(file);
    assert_int_equal(zip_file_get_external_attributes(zip, (zip_uint64_t)index, 0, &system, &attributes), 0);
    assert_int_equal(system, ZIP_OPSYS_UNIX);
    assert_int_equal(attributes >> 16, mode);
}

static void test_sources(void **state)
{
    (void)state;
    char *out = path_of("out.ssp"), *copy = path_of("copy.ssp"), *file = path_of("file");
    char long_text[1001];
    memset(long_text, 'x', 1000);
    long_text[1000] = '\0';
    scratch_write(&scratch, "file", "from the disk", 13);
    assert_int_equal(chmod(file, 0700), 0);
    struct tt_zip_part parts[] = {
        text_part("SystemStructure.ssd", long_text),
        text_part("resources/\xc3\xbc.fmu", long_text),
        {.name = "bin/program", .path = file},
        text_part("empty", ""),
        {.name = "folder/"},
    };
    assert_ok(tt_zip_write(out, parts, 5));

    struct tt_archive *archive;
    struct tt_zip_part copies[5];
    assert_ok(tt_archive_open(&archive, out));
    assert_int_equal(tt_archive_count(archive), 5);
    for (size_t i = 0; i < 5; i++)
        copies[i] = (struct tt_zip_part){.name = tt_archive_name(archive, i), .archive = archive, .index = i};
    assert_ok(tt_zip_write(copy, copies, 5));
    tt_archive_free(archive);

    size_t n, m;
    char *first = slurp_file(out, &n), *second = slurp_file(copy, &m);
    assert_int_equal(n, m);
    assert_memory_equal(first, second, n);
    assert_int_equal(first[4], 20); /* version needed: 2.0 */
    free(first);
    free(second);

    zip_t *zip = zip_open(copy, ZIP_RDONLY, NULL);
    assert_non_null(zip);
    assert_entry(zip, "SystemStructure.ssd", long_text, ZIP_CM_DEFLATE, S_IFREG | 0644);
    assert_entry(zip, "resources/\xc3\xbc.fmu", long_text, ZIP_CM_STORE, S_IFREG | 0644);
    assert_entry(zip, "bin/program", "from the disk", ZIP_CM_DEFLATE, S_IFREG | 0755);
    assert_true(zip_name_locate(zip, "folder/", 0) >= 0);
    zip_discard(zip);
    free(out);
    free(copy);
    free(file);
}

static void test_failures(void **state)
{
    (void)state;
    char *out = path_of("out.ssp"), *missing = path_of("missing"), *nowhere = path_of("no/where.ssp");
    scratch_write(&scratch, "out.ssp", "old", 3);
    struct tt_zip_part parts[] = {text_part("a", "b"), {.name = "c", .path = missing}};
    assert_int_equal(tt_zip_write(out, parts, 2), TUTTI_ERR_IO);
    assert_non_null(strstr(tutti_err_message(), "out.ssp"));
    char *old = slurp_file(out, NULL);
    assert_string_equal(old, "old");
    free(old);
    assert_int_equal(tt_zip_write(nowhere, parts, 1), TUTTI_ERR_IO);
    assert_non_null(strstr(tutti_err_message(), "where.ssp"));
    struct tt_zip_part twice[] = {text_part("a", "b"), text_part("a", "c")};
    assert_int_equal(tt_zip_write(out, twice, 2), TUTTI_ERR_IO);
    assert_int_equal(unlink(out), 0);
    assert_int_equal(rmdir(scratch.path), 0); /* nothing else was left */
    assert_int_equal(mkdir(scratch.path, 0700), 0);
    free(out);
    free(missing);
    free(nowhere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_sources, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_failures, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
