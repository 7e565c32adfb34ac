/* SPDX-License-Identifier: MIT */
/* Files by their content, keys on the disk, lists of nodes. */
#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run/content.h"
#include "run/key_files.h"
#include "run/launch/nodes_list.h"
#include "scratch.h"
#include "test.h"

/* ---- contents ---- */

static void test_hash(void **state)
{
    (void)state;
    /* FIPS 180-2, appendix B.1 */
    static const char abc[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct scratch scratch;
    struct tt_content content, file;
    char text[TUTTI_CONTENT_TEXT];
    tt_content_of_bytes(&content, "abc", 3);
    tt_content_format(&content, text);
    assert_string_equal(text, abc);
    assert_int_equal(content.size, 3);
    scratch_init(&scratch);
    scratch_write(&scratch, "file", "abc", 3);
    assert_ok(tt_content_of_file(&file, scratch_path(&scratch, "file")));
    assert_true(tt_content_equal(&content, &file));
    file.size++;
    assert_false(tt_content_equal(&content, &file));
    assert_fails(tt_content_of_file(&file, scratch.path), TUTTI_ERR_IO, scratch.path);
    assert_fails(tt_content_of_file(&file, scratch_path(&scratch, "missing")), TUTTI_ERR_IO, "missing");
    scratch_fini(&scratch);
}

static size_t count_entries(const char *path)
{
    size_t count = 0;
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void test_arrivals(void **state)
{
    (void)state;
    struct scratch scratch;
    struct tt_content_cache *cache;
    struct tt_content_arrival *arrival;
    struct tt_content content, empty;
    scratch_init(&scratch);
    char folder[4300];
    snprintf(folder, sizeof folder, "%s", scratch_path(&scratch, "deep/cache"));
    assert_ok(tt_content_cache_open(&cache, folder));
    tt_content_of_bytes(&content, "hello", 5);
    tt_content_of_bytes(&empty, "", 0);

    assert_ok(tt_content_arrival_new(&arrival, cache, &content));
    assert_ok(tt_content_arrival_write(arrival, "hel", 3));
    assert_int_equal(tt_content_arrival_size(arrival), 3);
    assert_false(tt_content_cache_has(cache, &content));
    assert_ok(tt_content_arrival_write(arrival, "lo", 2));
    assert_fails(tt_content_arrival_write(arrival, "!", 1), TUTTI_ERR_FORMAT, "more bytes");
    assert_ok(tt_content_arrival_finish(arrival));
    assert_true(tt_content_cache_has(cache, &content));

    assert_ok(tt_content_arrival_new(&arrival, cache, &empty));
    assert_ok(tt_content_arrival_finish(arrival));
    assert_true(tt_content_cache_has(cache, &empty));

    struct tt_content other = content; /* wrong bytes, too few bytes, given up: nothing is kept */
    other.hash[0] ^= 1;
    for (int i = 0; i < 3; i++) {
        assert_ok(tt_content_arrival_new(&arrival, cache, &other));
        assert_ok(tt_content_arrival_write(arrival, "hello", i == 1 ? 4 : 5));
        if (i == 2)
            tt_content_arrival_free(arrival);
        else
            assert_fails(tt_content_arrival_finish(arrival), TUTTI_ERR_FORMAT, "damaged");
        assert_false(tt_content_cache_has(cache, &other));
    }
    assert_int_equal(count_entries(tt_content_cache_work_folder(cache)), 0);

    char lent[4400];
    snprintf(lent, sizeof lent, "%s/0", tt_content_cache_work_folder(cache));
    assert_ok(tt_content_cache_copy_out(cache, &content, lent));
    struct tt_content back;
    assert_ok(tt_content_of_file(&back, lent));
    assert_true(tt_content_equal(&back, &content));
    assert_fails(tt_content_cache_copy_out(cache, &other, lent), TUTTI_ERR_IO, "cannot be used");
    tt_content_cache_free(cache);
    assert_int_equal(count_entries(folder), 2); /* the files, and no folder of a process */

    assert_ok(tt_content_cache_open(&cache, folder)); /* known again */
    assert_true(tt_content_cache_has(cache, &content));
    tt_content_cache_free(cache);
    scratch_write(&scratch, "file", "x", 1);
    assert_fails(tt_content_cache_open(&cache, scratch_path(&scratch, "file")), TUTTI_ERR_IO, "cache");
    scratch_fini(&scratch);
}

static void bring(struct tt_content_cache *cache, const char *text, struct tt_content *content)
{
    struct tt_content_arrival *arrival;
    tt_content_of_bytes(content, text, strlen(text));
    assert_ok(tt_content_arrival_new(&arrival, cache, content));
    assert_ok(tt_content_arrival_write(arrival, text, strlen(text)));
    assert_ok(tt_content_arrival_finish(arrival));
}

static void alter(const char *path)
{
    assert_int_equal(chmod(path, 0600), 0);
    FILE *file = fopen(path, "r+");
    assert_non_null(file);
    assert_int_equal(fputc('J', file), 'J');
    assert_int_equal(fclose(file), 0);
}

/* What code of an FMU does to a file that was lent to it touches that run's only; what it does to the cache itself is seen. */
static void test_altered(void **state)
{
    (void)state;
    struct scratch scratch;
    struct tt_content_cache *cache;
    struct tt_content content;
    char lent[4400], next[4400];
    scratch_init(&scratch);
    assert_ok(tt_content_cache_open(&cache, scratch_path(&scratch, "cache")));
    snprintf(lent, sizeof lent, "%s/0", tt_content_cache_work_folder(cache));
    snprintf(next, sizeof next, "%s/1", tt_content_cache_work_folder(cache));
    bring(cache, "hello", &content);
    assert_ok(tt_content_cache_copy_out(cache, &content, lent));
    alter(lent);
    assert_true(tt_content_cache_has(cache, &content));
    assert_ok(tt_content_cache_copy_out(cache, &content, next));
    struct tt_content found;
    assert_ok(tt_content_of_file(&found, next));
    assert_true(tt_content_equal(&found, &content));

    char *kept = tt_content_cache_path(cache, &content);
    assert_int_equal(unlink(next), 0);
    alter(kept);
    assert_fails(tt_content_cache_copy_out(cache, &content, next), TUTTI_ERR_IO, "altered");
    assert_int_not_equal(access(next, F_OK), 0);
    assert_false(tt_content_cache_has(cache, &content));
    bring(cache, "hello", &content);
    assert_true(tt_content_cache_has(cache, &content));
    alter(kept);
    assert_false(tt_content_cache_has(cache, &content));
    assert_int_not_equal(access(kept, F_OK), 0);
    free(kept);
    tt_content_cache_free(cache);
    scratch_fini(&scratch);
}

/* The least recently used go first, and none that is in use. */
static void test_clearing(void **state)
{
    (void)state;
    struct scratch scratch;
    struct tt_content_cache *cache;
    struct tt_content contents[4];
    static const char *const texts[4] = {"first", "second", "third", "fourth"};
    scratch_init(&scratch);
    assert_ok(tt_content_cache_open(&cache, scratch_path(&scratch, "cache")));
    scratch_write(&scratch, "cache/local.key", "none of its own", 15);
    for (int i = 0; i < 4; i++) {
        bring(cache, texts[i], &contents[i]);
        const struct timespec times[2] = {{.tv_sec = 1000 + i}, {.tv_sec = 1000 + i}};
        char *path = tt_content_cache_path(cache, &contents[i]);
        assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
        free(path);
    }
    const struct timespec late = {.tv_sec = 5000}, early = {.tv_sec = 1002};
    assert_true(tt_content_cache_has(cache, &contents[0])); /* it is used: now the last to go */
    tt_content_cache_evict(cache, 22, &late);               /* all of them */
    assert_true(tt_content_cache_has(cache, &contents[0]));
    char *second = tt_content_cache_path(cache, &contents[1]), *third = tt_content_cache_path(cache, &contents[2]);
    assert_int_equal(access(second, F_OK), 0);
    tt_content_cache_evict(cache, 21, &late);
    assert_int_not_equal(access(second, F_OK), 0);
    assert_int_equal(access(third, F_OK), 0);
    tt_content_cache_evict(cache, 0, &early); /* the others were used since */
    assert_int_equal(access(third, F_OK), 0);
    tt_content_cache_evict(cache, 5, &late);
    assert_int_not_equal(access(third, F_OK), 0);
    assert_false(tt_content_cache_has(cache, &contents[3]));
    assert_true(tt_content_cache_has(cache, &contents[0]));
    assert_int_equal(access(scratch_path(&scratch, "cache/local.key"), F_OK), 0);
    free(second);
    free(third);
    tt_content_cache_free(cache);
    scratch_fini(&scratch);
}

/* ---- keys ---- */

static void test_keys(void **state)
{
    (void)state;
    struct scratch scratch;
    struct tt_curve_keys made, read;
    uint8_t public_key[TUTTI_KEY_SIZE];
    char path[4200], public_path[4200];
    scratch_init(&scratch);
    snprintf(path, sizeof path, "%s", scratch_path(&scratch, "key"));
    snprintf(public_path, sizeof public_path, "%s", scratch_path(&scratch, "key.pub"));
    assert_ok(tt_key_files_create(path, &made));
    assert_ok(tt_key_files_read(path, &read));
    assert_memory_equal(&made, &read, sizeof made);
    assert_ok(tt_key_files_read_public(public_path, public_key));
    assert_memory_equal(public_key, made.public_key, sizeof public_key);
    assert_fails(tt_key_files_create(path, &read), TUTTI_ERR_IO, "there already");
    assert_int_equal(chmod(path, 0640), 0);
    assert_fails(tt_key_files_read(path, &read), TUTTI_ERR_ARGUMENT, "chmod 600");
    scratch_write(&scratch, "short", "abc\n", 4);
    assert_fails(tt_key_files_read_public(scratch_path(&scratch, "short"), public_key), TUTTI_ERR_FORMAT, "not a key");
    assert_fails(tt_key_files_read_public(scratch_path(&scratch, "none"), public_key), TUTTI_ERR_IO, "none");
    scratch_fini(&scratch);
}

/* ---- lists ---- */

#define KEY "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void test_lists(void **state)
{
    (void)state;
    struct tt_nodes_list list;
    assert_ok(tt_nodes_list_read(&list, "a:1,b:2,a:1,[::1]:3"));
    assert_int_equal(list.count, 3);
    assert_int_equal(list.ranks, 4);
    assert_int_equal(list.entries[0].rank_count, 2);
    assert_int_equal(list.entries[0].ranks[1], 2);
    assert_string_equal(list.entries[2].address.host, "::1");
    tt_nodes_list_fini(&list);

    static const char file[] = "# nodes\n\n  a:1 " KEY " ranks=2 # two\nb:2\t" KEY "\r\na:1\n";
    struct scratch scratch;
    scratch_init(&scratch);
    scratch_write(&scratch, "nodes", file, strlen(file));
    assert_ok(tt_nodes_list_read(&list, scratch_path(&scratch, "nodes")));
    assert_int_equal(list.count, 2);
    assert_int_equal(list.ranks, 4);
    assert_int_equal(list.entries[0].rank_count, 3);
    assert_int_equal(list.entries[0].ranks[2], 3);
    assert_true(list.entries[1].has_key);
    assert_int_equal(list.entries[1].key[1], 0x11);
    tt_nodes_list_fini(&list);

    static const char *const wrong[] = {"a",       "a:",    ":1",    "a:0",         "a:65536",         "a:1x",
                                        "a b:1:2", "::1:2", "a:1 x", "a:1 ranks=0", "a:1 ranks=99999", "a:1,,b:x",
                                        ",",       "*:1",   "[a:1",  "a]:1",        "[[a]]:1",         "[]:1"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        enum tutti_err err = tt_nodes_list_read(&list, wrong[i]);
        if (err != TUTTI_ERR_ARGUMENT)
            fail_msg("'%s' is taken", wrong[i]);
        tt_nodes_list_fini(&list);
    }

    char line[3000]; /* one, however long: its end is not a separate node */
    size_t n = (size_t)snprintf(line, sizeof line, "a:1 #%*s", 2000, "b:2\n");
    scratch_write(&scratch, "nodes", line, n);
    assert_ok(tt_nodes_list_read(&list, scratch_path(&scratch, "nodes")));
    assert_int_equal(list.ranks, 1);
    tt_nodes_list_fini(&list);
    assert_fails(tt_nodes_list_read(&list, scratch_path(&scratch, "")), TUTTI_ERR_ARGUMENT, "cannot read");
    tt_nodes_list_fini(&list);
    scratch_fini(&scratch);
}

/* A folder of another process, long ago. */
static void make_left(struct scratch *scratch, const char *name)
{
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(mkdir(scratch_path(scratch, name), 0700), 0);
    assert_int_equal(utimensat(AT_FDCWD, scratch->joined, long_ago, 0), 0);
}

/* What killed processes left goes while others work, and only that. */
static void test_sweep(void **state)
{
    (void)state;
    struct scratch scratch;
    struct tt_content_cache *cache, *other;
    struct stat st;
    scratch_init(&scratch);
    make_left(&scratch, "work-before");
    assert_ok(tt_content_cache_open(&cache, scratch.path));
    assert_ok(tt_content_cache_open(&other, scratch.path));
    make_left(&scratch, "work-killed");
    make_left(&scratch, "else");
    assert_int_equal(count_entries(scratch.path), 4);
    assert_int_equal(mkdir(scratch_path(&scratch, "work-young"), 0700), 0);
    const struct timespec long_ago[2] = {{.tv_sec = 1000}, {.tv_sec = 1000}};
    assert_int_equal(utimensat(AT_FDCWD, tt_content_cache_work_folder(cache), long_ago, 0), 0);
    assert_int_equal(utimensat(AT_FDCWD, tt_content_cache_work_folder(other), long_ago, 0), 0);
    tt_content_cache_clean_up(cache);
    assert_int_equal(count_entries(scratch.path), 4);
    assert_int_not_equal(stat(scratch_path(&scratch, "work-killed"), &st), 0);
    assert_int_equal(stat(tt_content_cache_work_folder(cache), &st), 0);
    assert_int_equal(stat(tt_content_cache_work_folder(other), &st), 0);
    tt_content_cache_free(cache);
    tt_content_cache_free(other);
    scratch_fini(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hash),     cmocka_unit_test(test_sweep), cmocka_unit_test(test_arrivals),
        cmocka_unit_test(test_keys),     cmocka_unit_test(test_lists), cmocka_unit_test(test_altered),
        cmocka_unit_test(test_clearing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
