/* SPDX-License-Identifier: MIT */
/* Files with keys: made, read, refused; while each allocation and each call about files fails once. */
#include "run/key_files.h"

#include <stdlib.h>
#include <unistd.h>

#include "failing_zmq.h"
#include "own_scratch.h"

struct files {
    char path[200], public_path[210];
};

static struct files in_scratch(const char *name)
{
    struct files files;
    copy_text(files.path, sizeof files.path, scratch_path(&scratch, name));
    snprintf(files.public_path, sizeof files.public_path, "%s.pub", files.path);
    return files;
}

/* Both files are there, or none is. */
static enum tutti_err make(void *context)
{
    const struct files *files = context;
    struct tt_curve_keys made = {0};
    enum failing_kind kind = failing_pause();
    (void)unlink(files->path);
    (void)unlink(files->public_path);
    failing.kind = kind;
    enum tutti_err err = tt_key_files_create(files->path, &made);
    (void)failing_pause();
    assert_int_equal(access(files->path, F_OK) == 0, err == TUTTI_OK);
    assert_int_equal(access(files->public_path, F_OK) == 0, err == TUTTI_OK);
    return err;
}

static enum tutti_err use(void *context)
{
    const struct files *files = context;
    struct tt_curve_keys keys = {0};
    uint8_t public_key[TUTTI_KEY_SIZE];
    TRY(tt_key_files_read(files->path, &keys));
    TRY(tt_key_files_read_public(files->public_path, public_key));
    assert_memory_equal(keys.public_key, public_key, sizeof public_key);
    return TUTTI_OK;
}

static void test_files(void **state)
{
    (void)state;
    struct files files = in_scratch("key");
    static const int errors[] = {EIO, ENOSPC};
    for (size_t i = 0; i < 2; i++)
        fail_each_call(FAILING_FILES, errors[i], make, &files);
    assert_ok(make(&files));
    fail_each_call(FAILING_FILES, EIO, use, &files);
    struct tt_curve_keys keys;
    assert_fails(tt_key_files_create(files.path, &keys), TUTTI_ERR_IO, "is there already");
    (void)unlink(files.public_path);
    assert_fails(tt_key_files_create(files.path, &keys), TUTTI_ERR_IO, "key");
}

/* The user's own key: made once, not taken from others. (No call fails here: the key in the home folder would be used.) */
static void test_local(void **state)
{
    (void)state;
    char path[300];
    assert_int_equal(setenv("XDG_CACHE_HOME", scratch.path, 1), 0);
    struct tt_curve_keys keys = {0}, again = {0};
    assert_ok(tt_key_files_local(&keys));
    assert_ok(tt_key_files_local(&again));
    assert_memory_equal(&keys, &again, sizeof keys);
    copy_text(path, sizeof path, scratch_path(&scratch, "tutti/local.key"));
    assert_int_equal(access(path, F_OK), 0);
    (void)unlink(path);
    assert_int_equal(symlink("nowhere", path), 0);
    assert_fails(tt_key_files_local(&keys), TUTTI_ERR_IO, "is not a file of this user");
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
}

static void test_texts(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "0",
                                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdeg",
                                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd:f",
                                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd@f",
                                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd/f",
                                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcd`f",
                                      "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdGf"};
    uint8_t key[TUTTI_KEY_SIZE], same[TUTTI_KEY_SIZE];
    char shown[TUTTI_KEY_TEXT];
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_fails(tt_curve_auth_parse_key(bad[i], key), TUTTI_ERR_FORMAT, "64 hexadecimal digits");
    assert_ok(tt_curve_auth_parse_key("0123456789ABCDEF0123456789abcdef0123456789abcdef0123456789abcdef", key));
    tt_curve_auth_format_key(key, shown);
    assert_ok(tt_curve_auth_parse_key(shown, same));
    assert_memory_equal(key, same, sizeof key);
    const char *path = scratch_write(&scratch, "spaced", "  0 \r\n\t", 8);
    assert_fails(tt_key_files_read_public(path, key), TUTTI_ERR_FORMAT, "spaced: not a key");
    assert_fails(tt_key_files_read_public("/nowhere", key), TUTTI_ERR_IO, "cannot read the key /nowhere");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_local, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_texts, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
