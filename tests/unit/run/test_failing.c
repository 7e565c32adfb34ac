/* SPDX-License-Identifier: MIT */
/* The cache of a node, keys and lists of nodes while each allocation and each call about files fails once: an error, or all is as it would have
 * been; what a cache has is what its name says. */
#include "failing.h"

#include <stdlib.h>

#include "run/content.h"
#include "run/key_files.h"
#include "run/launch/nodes_list.h"
#include "run/node/node_protocol.h"
#include "base/options/filled.h"
#include "own_scratch.h"

static const char text[] = "the bytes of an FMU";

static enum tutti_err bring(struct tt_content_cache *cache, const struct tt_content *content)
{
    struct tt_content_arrival *arrival;
    TRY(tt_content_arrival_new(&arrival, cache, content));
    enum tutti_err err = tt_content_arrival_write(arrival, text, 5);
    if (!err)
        err = tt_content_arrival_write(arrival, text + 5, sizeof text - 5);
    if (!err)
        return tt_content_arrival_finish(arrival);
    tt_content_arrival_free(arrival);
    return err;
}

static enum tutti_err lend(struct tt_content_cache *cache, const struct tt_content *content)
{
    char lent[4400];
    snprintf(lent, sizeof lent, "%s/0", tt_content_cache_work_folder(cache));
    TRY(tt_content_cache_copy_out(cache, content, lent));
    enum failing_kind kind = failing_pause();
    struct tt_content found;
    assert_ok(tt_content_of_file(&found, lent));
    assert_true(tt_content_equal(&found, content));
    failing.kind = kind;
    return TUTTI_OK;
}

static enum tutti_err use_cache(void *context)
{
    (void)context;
    struct tt_content_cache *cache;
    struct tt_content content;
    enum failing_kind kind = failing_pause();
    (void)tt_fs_remove_tree(scratch_path(&scratch, "cache"));
    tt_content_of_bytes(&content, text, sizeof text);
    failing.kind = kind;
    enum tutti_err err = tt_content_cache_open(&cache, scratch_path(&scratch, "cache"));
    assert_int_equal(err == TUTTI_OK, cache != NULL);
    if (!err)
        err = bring(cache, &content);
    if (!err)
        err = lend(cache, &content);
    tt_content_cache_free(cache);
    return err;
}

static void test_cache(void **state)
{
    (void)state;
    fail_each(use_cache, NULL);
}

static enum tutti_err use_keys(void *context)
{
    (void)context;
    struct tt_curve_keys made, read;
    uint8_t public[TUTTI_KEY_SIZE];
    char path[200], public_path[210];
    enum failing_kind kind = failing_pause();
    copy_text(path, sizeof path, scratch_path(&scratch, "key"));
    snprintf(public_path, sizeof public_path, "%s.pub", path);
    (void)remove(path);
    (void)remove(public_path);
    failing.kind = kind;
    TRY(tt_key_files_create(path, &made));
    TRY(tt_key_files_read(path, &read));
    TRY(tt_key_files_read_public(public_path, public));
    assert_memory_equal(&made, &read, sizeof made);
    assert_memory_equal(public, made.public_key, sizeof public);
    return TUTTI_OK;
}

static void test_keys(void **state)
{
    (void)state;
    fail_each_call(FAILING_FILES, EIO, use_keys, NULL);
    fail_each_call(FAILING_FILES, EINTR, use_keys, NULL);
    fail_each_call(FAILING_FILES, 0, use_keys, NULL);
}

static enum tutti_err read_list(void *context)
{
    struct tt_nodes_list list;
    enum tutti_err err = tt_nodes_list_read(&list, context);
    if (!err) {
        assert_int_equal(list.count, 2);
        assert_int_equal(list.ranks, 5);
    }
    tt_nodes_list_fini(&list);
    return err;
}

static void test_lists(void **state)
{
    (void)state;
    static const char file[] = "# all\na:1 ranks=3\nb:2 ranks=2 # more\n";
    char path[200];
    copy_text(path, sizeof path, scratch_write(&scratch, "hosts", file, sizeof file - 1));
    fail_each_call(FAILING_MEMORY, ENOMEM, read_list, path);
    fail_each_call(FAILING_MEMORY, ENOMEM, read_list, "a:1,b:2,a:1,b:2,a:1");
}

static enum tutti_err pack_job(void *context)
{
    const struct tt_node_name names[] = {{"a.fmu", 0, false}, {"dir/b.ssp", 1, true}};
    const int32_t place[] = {0, 1, 1};
    struct tt_byte_writer parcel = {0};
    struct tt_node_job job = {0};
    enum tutti_err err = tt_node_protocol_write_job(context, names, 2, place, 3, &parcel);
    if (!err)
        err = tt_node_protocol_read_job(&job, parcel.bytes, parcel.size, "/folder", 2);
    assert_true(err || (job.place_count == 3 && job.options.alias_count == 2));
    tt_node_protocol_free_job(&job);
    tt_bytes_fini(&parcel);
    return err;
}

static void test_jobs(void **state)
{
    (void)state;
    struct tutti_run_options *options = fill_options();
    fail_each_call(FAILING_MEMORY, ENOMEM, pack_job, options);
    tutti_options_free(options);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_cache, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_lists, set_up, tear_down),
        cmocka_unit_test(test_jobs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
