/* SPDX-License-Identifier: MIT */
/* Whole files: replaced and read. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fs.h"
#include "scratch.h"

static struct scratch scratch;

static int set_up(void **state)
{
    (void)state;
    scratch_init(&scratch);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    scratch_fini(&scratch);
    return 0;
}

static void assert_holds(const char *path, const char *bytes, size_t size)
{
    size_t found = 0;
    char *read = tt_fs_read_whole(path, &found);
    assert_non_null(read);
    assert_int_equal(found, size);
    assert_memory_equal(read, bytes, size);
    free(read);
}

static void test_replace(void **state)
{
    (void)state;
    char path[4300], beside[4400];
    struct stat status;
    copy_text(path, sizeof path, scratch_path(&scratch, "file"));
    snprintf(beside, sizeof beside, "%s.part", path);
    assert_true(tt_fs_replace(path, "a\0b", 3));
    assert_holds(path, "a\0b", 3);
    assert_true(tt_fs_replace(path, "", 0));
    assert_holds(path, "", 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_not_equal(access(beside, F_OK), 0);
}

/* What was there stays, and nothing is left beside it. */
static void test_replace_fails(void **state)
{
    (void)state;
    char folder[4300], beside[4400];
    copy_text(folder, sizeof folder, scratch_path(&scratch, "folder"));
    snprintf(beside, sizeof beside, "%s.part", folder);
    assert_int_equal(mkdir(folder, 0700), 0);
    assert_false(tt_fs_replace(folder, "x", 1));
    assert_int_equal(errno, EISDIR);
    assert_int_not_equal(access(beside, F_OK), 0);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(symlink("elsewhere", beside), 0);
    assert_false(tt_fs_replace(folder, "x", 1)); /* a link that another user may have put there is not followed */
    assert_false(tt_fs_replace(scratch_path(&scratch, "nowhere/file"), "x", 1));
    assert_int_equal(errno, ENOENT);
}

static void test_read_whole(void **state)
{
    (void)state;
    size_t size = 0;
    assert_null(tt_fs_read_whole(scratch_path(&scratch, "nothing"), &size));
    assert_int_equal(errno, ENOENT);
    assert_null(tt_fs_read_whole("/", &size));
    assert_int_equal(errno, EINVAL);
    assert_null(tt_fs_read_whole("/dev/zero", &size));
    assert_int_equal(errno, EINVAL);
    const char *pipe = scratch_path(&scratch, "pipe");
    assert_int_equal(mkfifo(pipe, 0600), 0);
    assert_null(tt_fs_read_whole(pipe, &size)); /* and does not wait for a writer */
    assert_int_equal(errno, EINVAL);
    assert_holds(scratch_write(&scratch, "text", "some text", 9), "some text", 9);
}

static void test_sync_folder(void **state)
{
    (void)state;
    assert_true(tt_fs_sync_folder(scratch_path(&scratch, "anything")));
    assert_true(tt_fs_sync_folder("here"));
    assert_true(tt_fs_sync_folder("/there"));
    assert_false(tt_fs_sync_folder(scratch_path(&scratch, "nowhere/file")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_replace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_replace_fails, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_read_whole, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_sync_folder, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
