/* SPDX-License-Identifier: MIT */
/* Names of files that strangers send. */
#include "scratch.h"

#include "apps/web/served_folder.h"

static void test_names(void **state)
{
    static const char *const bad[] = {"..",       "../x", "a/../../x", "/etc/passwd", "a//b", ".hidden",
                                      "a/.git/x", "a/",   "link",      "away/x",      "a\\b", "a\nb",
                                      "",         ".",    "./a/b",     "a/b/c"};
    struct scratch scratch;
    struct tt_served_folder folder;
    char *path;
    (void)state;
    scratch_init(&scratch);
    assert_int_equal(mkdir(scratch_path(&scratch, "a"), 0700), 0);
    assert_true(tt_fs_replace(scratch_path(&scratch, "a/b"), "x", 1));
    assert_int_equal(symlink("/etc/passwd", scratch_path(&scratch, "link")), 0);
    assert_int_equal(symlink("/etc", scratch_path(&scratch, "away")), 0);
    assert_ok(tt_served_folder_init(&folder, scratch.path));
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_not_equal(tt_served_folder_find(&folder, bad[i], TUTTI_WEB_FILE, &path), TUTTI_OK);
    assert_ok(tt_served_folder_find(&folder, "a/b", TUTTI_WEB_FILE, &path));
    assert_string_equal(strrchr(path, '/'), "/b");
    free(path);
    assert_int_equal(tt_served_folder_find(&folder, "a", TUTTI_WEB_FILE, &path), TUTTI_ERR_ARGUMENT);
    assert_int_equal(tt_served_folder_find(&folder, "a/b", TUTTI_WEB_FOLDER, &path), TUTTI_ERR_ARGUMENT);
    assert_int_equal(tt_served_folder_find(&folder, "a/c", TUTTI_WEB_FILE, &path), TUTTI_ERR_IO);
    assert_int_equal(tt_served_folder_find(&folder, "link", TUTTI_WEB_NEW_FILE, &path), TUTTI_ERR_IO);
    assert_ok(tt_served_folder_find(&folder, "a/c", TUTTI_WEB_NEW_FILE, &path));
    free(path);
    assert_ok(tt_served_folder_find(&folder, "", TUTTI_WEB_FOLDER, &path));
    free(path);
    tt_served_folder_fini(&folder);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
